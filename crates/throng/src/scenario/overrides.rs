//! What the command line changes in a scenario, before it is checked.

use super::document::{Document, parse_value};
use super::error::{Report, ScenarioError};
use super::path::{KeyPath, Step};
use serde_json::{Map, Value};

/// Changes to a scenario file. They get the same checks as if they stood in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// `pipeline.macroscale`.
    pub macroscale: Option<String>,
    /// `pipeline.mesoscale`.
    pub mesoscale: Option<Vec<String>>,
    /// `pipeline.microscale`. A cohort that names its own model keeps it.
    pub microscale: Option<String>,
    /// `pipeline.motion`.
    pub motion: Option<String>,
    /// `seed`.
    pub seed: Option<u64>,
    /// `until`, s.
    pub until: Option<f64>,
    /// Keys and values: `params.orca.time_horizon` and `2`, `agents.0.count` and `50`, `agents.west.radius` and
    /// `{ uniform = [0.2, 0.3] }`. A value that is not TOML is taken as a word.
    pub set: Vec<(String, String)>,
}

impl Overrides {
    pub(super) fn apply(&self, document: &mut Document) -> Result<(), ScenarioError> {
        let words =
            [("macroscale", &self.macroscale), ("microscale", &self.microscale), ("motion", &self.motion)];
        for (stage, word) in words {
            if let Some(word) = word {
                change(document, &["pipeline", stage], word.clone().into(), format!("--{stage} {word}"))?;
            }
        }
        if let Some(models) = &self.mesoscale {
            let option = format!("--mesoscale {}", models.join(","));
            change(document, &["pipeline", "mesoscale"], models.clone().into(), option)?;
        }
        if let Some(seed) = self.seed {
            change(document, &["seed"], seed.into(), format!("--seed {seed}"))?;
        }
        if let Some(until) = self.until {
            change(document, &["until"], finite(document, until)?, format!("--until {until}"))?;
        }
        self.set.iter().try_for_each(|(key, value)| set(document, key, value))
    }
}

fn finite(document: &Document, until: f64) -> Result<Value, ScenarioError> {
    let refuse = || refusal(document, format!("--until {until} must be a finite number"));
    serde_json::Number::from_f64(until).map(Value::Number).ok_or_else(refuse)
}

fn set(document: &mut Document, key: &str, value: &str) -> Result<(), ScenarioError> {
    let option = format!("--set {key}={value}");
    // `agents[0].count` is how messages write a key: accept it too.
    let words: Vec<&str> = key.split(['.', '[']).map(|word| word.trim_end_matches(']').trim()).collect();
    if words.iter().any(|word| word.is_empty()) {
        let complaint = format!("`{option}` must name a key, such as `--set params.orca.time_horizon=2`");
        return Err(refusal(document, complaint));
    }
    let path = KeyPath(words.iter().map(|&word| Step::from(word)).collect());
    match parse_value(value, &path) {
        Ok(value) => change(document, &words, value, option),
        Err(complaint) => Err(refusal(document, format!("{complaint} (from {option})"))),
    }
}

fn change(
    document: &mut Document,
    words: &[&str],
    value: Value,
    option: String,
) -> Result<(), ScenarioError> {
    match put(document.tree_mut(), words, value) {
        Ok(path) => {
            document.mark_set(path, option);
            Ok(())
        }
        Err(complaint) => Err(refusal(document, format!("{complaint} (from {option})"))),
    }
}

/// Writes a value, with the tables on the way to it where they are missing. Returns the outermost key that is new or
/// changed: what is wrong from there on down is the option's doing.
fn put(root: &mut Value, words: &[&str], value: Value) -> Result<KeyPath, String> {
    let mut path = KeyPath::default();
    let mut changed = None;
    let mut here = root;
    for word in words {
        if here.is_null() {
            *here = Value::Object(Map::new());
            changed.get_or_insert(path.clone());
        }
        (path, here) = match here {
            Value::Object(table) => (path.then(*word), table.entry(*word).or_insert(Value::Null)),
            Value::Array(items) => {
                let count = items.len();
                let index = index_of(items, word);
                match index.and_then(|index| Some((index, items.get_mut(index)?))) {
                    Some((index, item)) => (path.then(index), item),
                    None => {
                        return Err(format!(
                            "{path} has no `{word}`: it is a list of {count}, counted from 0"
                        ));
                    }
                }
            }
            _ => return Err(format!("{path} has no `{word}`: it is a single value")),
        };
    }
    *here = value;
    Ok(changed.unwrap_or(path))
}

/// An item's number, or the number of the item with that name.
fn index_of(items: &[Value], word: &str) -> Option<usize> {
    let named = |item: &Value| item.get("name").and_then(Value::as_str) == Some(word);
    word.parse().ok().or_else(|| items.iter().position(named))
}

fn refusal(document: &Document, complaint: String) -> ScenarioError {
    let mut report = Report::new(document);
    report.at(None, complaint);
    report.into_error()
}
