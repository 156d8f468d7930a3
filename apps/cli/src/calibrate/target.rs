//! What a calibration is held against: figures by their names in the report, or a recording that is measured as runs are.

use super::trajectory;
use crate::output;
use crate::validate::data;
use anyhow::{Context, anyhow, bail};
use serde_json::Value;
use std::path::Path;
use throng::record::{open_run, split_csv};

/// A figure that runs are to have.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its name in the report, with dots between the steps.
    pub key: String,
    /// What was measured.
    pub value: f64,
    /// How well it is known, as a standard error; nothing where that is not said.
    pub error: Option<f64>,
}

impl Target {
    /// What a figure is off by, in standard errors, or in parts of the target where none is given. A figure that a run does
    /// not have counts as 0: wholly off.
    pub fn residual(&self, figure: Option<f64>) -> f64 {
        (figure.unwrap_or(0.0) - self.value) / self.scale()
    }

    /// A residual of 1.
    pub fn scale(&self) -> f64 {
        match self.error {
            Some(error) => error,
            None if self.value == 0.0 => 1.0,
            None => self.value.abs(),
        }
    }
}

/// How to read a text of positions that says nothing of itself.
#[derive(Clone, Copy, Debug)]
pub struct PlainText {
    /// Frames a second.
    pub fps: f64,
    /// Of its unit of length, m.
    pub scale: f64,
}

/// Reads a number of frames a second.
pub fn frame_rate(text: &str) -> Result<f64, String> {
    let fps = text.parse().ok().filter(|fps: &f64| fps.is_finite() && *fps > 0.0);
    fps.ok_or_else(|| "it must be a number > 0, such as 16".into())
}

/// All that a file asks for.
#[derive(Debug)]
pub struct Targets {
    /// By figure.
    pub all: Vec<Target>,
    /// Whether they are of trajectories, which runs must be measured by too.
    pub of_trajectories: bool,
}

impl Targets {
    /// Reads a file: figures (.toml, .json, or .csv with `key,value`), or a recording in any format that `throng run
    /// --record` writes, or as a text that says nothing of itself. `only` chooses among its figures, if it names any.
    pub fn read(path: &Path, plain: Option<PlainText>, only: &[String]) -> anyhow::Result<Targets> {
        let shown = path.display();
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let text = || {
            std::fs::read_to_string(path)
                .map_err(|error| anyhow!("cannot read `{shown}`: {}", output::reason(&error)))
        };
        let (found, of_trajectories) = match ending.as_str() {
            "toml" => {
                let tree = toml::from_str(&text()?).with_context(|| format!("in `{shown}`"));
                (flatten(tree.map_err(|error| anyhow!("{error:#}"))?), false)
            }
            "json" => {
                let tree =
                    serde_json::from_str(&text()?).map_err(|error| anyhow!("in `{shown}`: {error}"))?;
                (flatten(tree), false)
            }
            "csv" if text()?.lines().next().is_some_and(|header| header.starts_with("key,value")) => {
                (of_csv(&text()?).map_err(|error| anyhow!("in `{shown}`: {error}"))?, false)
            }
            "gz" if plain.is_none() => bail!(
                "`{shown}` does not say how many frames a second it has; say so with --frame-rate, and --cm where it is in centimetres"
            ),
            _ => match plain {
                Some(PlainText { fps, scale }) => {
                    (trajectory::of_rows(&data::positions(path, scale)?, fps), true)
                }
                None => (trajectory::of_recording(&open_run(path)?), true),
            },
        };
        let all = chosen(found, only).map_err(|error| anyhow!("in `{shown}`: {error}"))?;
        if all.is_empty() {
            bail!("`{shown}` has no figure to fit to");
        }
        Ok(Targets { all, of_trajectories })
    }
}

/// A figure as it stands in the file.
type Found = (String, Result<Target, String>);

/// Those that are asked for, or all.
fn chosen(found: Vec<Found>, only: &[String]) -> Result<Vec<Target>, String> {
    if let Some(missing) = only.iter().find(|key| !found.iter().any(|(name, _)| name == *key)) {
        let known: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        return Err(format!("there is no `{missing}` for --fit; there is: {}", known.join(", ")));
    }
    let is_asked = |(name, _): &Found| only.is_empty() || only.contains(name);
    found.into_iter().filter(is_asked).map(|(_, target)| target).collect()
}

/// The leaves of a tree.
fn flatten(tree: Value) -> Vec<Found> {
    let mut found = Vec::new();
    let Value::Object(entries) = tree else {
        return vec![(String::new(), Err("it must hold keys with numbers".into()))];
    };
    entries.into_iter().for_each(|(key, value)| leaves(key, value, &mut found));
    found
}

fn leaves(key: String, value: Value, found: &mut Vec<Found>) {
    match value {
        Value::Object(entries) if !entries.contains_key("value") => {
            entries.into_iter().for_each(|(step, value)| leaves(format!("{key}.{step}"), value, found));
        }
        value => {
            let target = of_leaf(&key, &value);
            found.push((key, target));
        }
    }
}

fn of_leaf(key: &str, leaf: &Value) -> Result<Target, String> {
    let wrong = || {
        format!(
            "`{key}` = {leaf} must be a number, or {{ value = 1.6, error = 0.1 }}; or choose among the figures with --fit"
        )
    };
    let (value, error) = match leaf {
        Value::Object(entries) if entries.keys().all(|key| key == "value" || key == "error") => {
            (entries.get("value").and_then(Value::as_f64), entries.get("error"))
        }
        other => (other.as_f64(), None),
    };
    let error = error.map(|error| error.as_f64().ok_or_else(wrong)).transpose()?;
    checked(key, value.ok_or_else(wrong)?, error)
}

fn checked(key: &str, value: f64, error: Option<f64>) -> Result<Target, String> {
    if !value.is_finite() {
        return Err(format!("`{key}` = {value} must be finite"));
    }
    if let Some(error) = error.filter(|error| !(error.is_finite() && *error > 0.0)) {
        return Err(format!(
            "the error {error} of `{key}` must be above 0; leave it out where it is not known"
        ));
    }
    Ok(Target { key: key.into(), value, error })
}

/// Lines of `key,value` or `key,value,error` below a header.
fn of_csv(text: &str) -> Result<Vec<Found>, String> {
    let (mut fields, mut found) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
        split_csv(line, &mut fields);
        let number = number + 1;
        let read =
            |text: &String| text.trim().parse().map_err(|_| format!("line {number}: `{text}` is no number"));
        let (key, value, error) = match &fields[..] {
            [key, value] => (key, read(value)?, None),
            [key, value, error] if error.trim().is_empty() => (key, read(value)?, None),
            [key, value, error] => (key, read(value)?, Some(read(error)?)),
            _ => return Err(format!("line {number} must be key,value or key,value,error")),
        };
        let key = key.trim();
        if found.iter().any(|(name, _)| name == key) {
            return Err(format!("line {number}: `{key}` stands twice; give it once"));
        }
        found.push((key.to_owned(), checked(key, value, error)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str, only: &[&str]) -> Result<Vec<Target>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let only: Vec<String> = only.iter().map(|&key| key.into()).collect();
        Targets::read(&path, None, &only).map(|targets| targets.all).map_err(|error| error.to_string())
    }

    #[test]
    fn a_text_that_says_nothing_of_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.txt");
        // Two people, 1 m apart at 1.5 m/s, of whom one leaves after 20 s and the other after 24.
        let line = |frame: i32| {
            let x = f64::from(frame) * 150.0 / 16.0;
            let one = if frame <= 320 { format!("1 {frame} {x} 0 170\n") } else { String::new() };
            let two = if frame <= 384 { format!("2 {frame} {x} 100 170\n") } else { String::new() };
            format!("{one}{two}3 {frame} 0 9000 170\n")
        };
        std::fs::write(&path, (0..=400).map(line).collect::<String>()).unwrap();
        let plain = PlainText { fps: 16.0, scale: 0.01 };
        let targets = Targets::read(&path, Some(plain), &[]).unwrap();
        let figure = |key: &str| targets.all.iter().find(|target| target.key == key).unwrap().value;
        assert!(targets.of_trajectories);
        assert!((figure("trajectory.outflow") - 0.25).abs() < 1e-9);
        // Alone at 0.14 per m², together at 0.28: both are in the first bin, with the one who stands.
        let speed = figure("trajectory.speed_at.0.25");
        assert!(speed > 0.8 && speed < 1.1, "{speed}");
        assert!(
            Targets::read(&folder.path().join("run.txt.gz"), None, &[])
                .unwrap_err()
                .to_string()
                .contains("--frame-rate")
        );
        assert!(frame_rate("0").is_err() && frame_rate("x").is_err() && frame_rate("16") == Ok(16.0));
    }

    fn target(key: &str, value: f64, error: Option<f64>) -> Target {
        Target { key: key.into(), value, error }
    }

    #[test]
    fn figures_are_written_as_toml_json_or_csv() {
        let both = vec![target("mean_travel_s", 31.2, None), target("measures.door.flow", 1.6, Some(0.1))];
        let toml = "mean_travel_s = 31.2\nmeasures.door.flow = { value = 1.6, error = 0.1 }\n";
        assert_eq!(read("a.toml", toml, &[]).unwrap(), both);
        let json = r#"{"mean_travel_s": 31.2, "measures": {"door": {"flow": {"value": 1.6, "error": 0.1}}}}"#;
        assert_eq!(read("a.json", json, &[]).unwrap(), both);
        assert_eq!(
            read("a.csv", "key,value,error\nmean_travel_s,31.2,\nmeasures.door.flow,1.6,0.1\n", &[]).unwrap(),
            both
        );
        assert_eq!(read("a.toml", toml, &["mean_travel_s"]).unwrap(), both[..1]);
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (name, text, only, part) in [
            ("a.toml", "a = 1\nb =", "", "line 2"),
            ("a.toml", "a = \"fast\"", "", "`a` = \"fast\" must be a number"),
            ("a.toml", "a = { value = 1, eror = 2 }", "", "must be a number, or {"),
            ("a.toml", "a = { value = 1, error = 0 }", "", "must be above 0"),
            ("a.toml", "a = nan", "", "must be"),
            ("a.toml", "", "", "no figure to fit to"),
            ("a.toml", "a = 1", "b", "there is no `b` for --fit; there is: a"),
            ("a.csv", "key,value\na,1\na,2\n", "", "line 3: `a` stands twice"),
            ("a.csv", "key,value\na,x\n", "", "line 2: `x` is no number"),
            ("a.csv", "key,value\na\n", "", "line 2 must be key,value"),
            ("a.json", "[1]", "", "must hold keys with numbers"),
        ] {
            let only: Vec<&str> = only.split(' ').filter(|key| !key.is_empty()).collect();
            let error = read(name, text, &only).unwrap_err();
            assert!(error.contains(part) && error.contains(name), "{text}: {error}");
        }
    }

    #[test]
    fn a_residual_is_in_parts_or_in_errors() {
        assert_eq!(target("a", 2.0, None).residual(Some(3.0)), 0.5);
        assert_eq!(target("a", 2.0, Some(0.5)).residual(Some(3.0)), 2.0);
        assert_eq!(target("a", 0.0, None).residual(Some(3.0)), 3.0);
        assert_eq!(target("a", 2.0, None).residual(None), -1.0);
    }
}
