//! A scenario's text as a tree of values, and the way back from a key to its place in the text.
//!
//! TOML and JSON both become a `serde_json::Value`, so that everything after this sees one form. A tree cannot hold
//! NaN or infinity, and no key of a scenario may be either: they are refused here, with the key's name.

use super::error::{Report, ScenarioError};
use super::json_span;
use super::path::{KeyPath, Step};
use serde_json::{Map, Value};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// A parsed text.
#[derive(Debug)]
pub(super) struct Document {
    name: String,
    text: String,
    syntax: Syntax,
    tree: Value,
    /// What the command line changed: the key and the option as written.
    set: Vec<(KeyPath, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Syntax {
    Toml,
    Json,
}

impl Document {
    /// Parses TOML, or JSON where the name ends in `.json`.
    pub fn parse(text: &str, name: &str) -> Result<Document, ScenarioError> {
        let syntax = if name.to_ascii_lowercase().ends_with(".json") { Syntax::Json } else { Syntax::Toml };
        // Editors on some systems put a byte-order mark in front.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
        let mut document =
            Document { name: name.to_owned(), text, syntax, tree: Value::Null, set: Vec::new() };
        document.tree = match syntax {
            Syntax::Toml => document.parse_toml()?,
            Syntax::Json => document.parse_json()?,
        };
        Ok(document)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn tree(&self) -> &Value {
        &self.tree
    }

    pub fn tree_mut(&mut self) -> &mut Value {
        &mut self.tree
    }

    /// Remembers that an option wrote the value at `path`.
    pub fn mark_set(&mut self, path: KeyPath, option: String) {
        self.set.push((path, option));
    }

    /// The option that wrote the value at `path`, if one did.
    pub fn set_by(&self, path: &KeyPath) -> Option<&str> {
        self.set.iter().rev().find(|(set, _)| path.is_within(set)).map(|(_, option)| option.as_str())
    }

    /// Where the value at `path` stands in the text; where it is missing, the innermost table around it.
    pub fn locate(&self, path: &KeyPath) -> Option<Range<usize>> {
        if path.0.is_empty() {
            return None;
        }
        match self.syntax {
            Syntax::Toml => locate_toml(&self.text, path),
            Syntax::Json => json_span::locate(&self.text, path),
        }
    }

    fn parse_json(&self) -> Result<Value, ScenarioError> {
        serde_json::from_str(&self.text).map_err(|error| {
            let span = json_span::offset(&self.text, error.line(), error.column());
            self.syntax_error(Some(span), error.to_string())
        })
    }

    fn parse_toml(&self) -> Result<Value, ScenarioError> {
        let table = DeTable::parse(&self.text)
            .map_err(|error| self.syntax_error(error.span(), error.message().to_owned()))?;
        table_to_json(table.get_ref(), &KeyPath::default()).map_err(|(span, complaint)| {
            let mut report = Report::new(self);
            report.at(Some(span), complaint);
            report.into_error()
        })
    }

    fn syntax_error(&self, span: Option<Range<usize>>, message: String) -> ScenarioError {
        let syntax = if self.syntax == Syntax::Toml { "TOML" } else { "JSON" };
        let mut report = Report::new(self);
        report.at(span, format!("not valid {syntax}: {}", message.replace('\n', ", ")));
        report.into_error()
    }
}

type Refused = (Range<usize>, String);

fn table_to_json(table: &DeTable<'_>, path: &KeyPath) -> Result<Value, Refused> {
    let entry = |(key, value): (&toml::Spanned<std::borrow::Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| {
        let key = key.get_ref().to_string();
        let value = to_json(value, &path.then(&key))?;
        Ok((key, value))
    };
    table.iter().map(entry).collect::<Result<Map<_, _>, _>>().map(Value::Object)
}

fn to_json(value: &toml::Spanned<DeValue<'_>>, path: &KeyPath) -> Result<Value, Refused> {
    let refuse = |complaint: String| Err((value.span(), complaint));
    match value.get_ref() {
        DeValue::String(text) => Ok(Value::String(text.to_string())),
        DeValue::Boolean(flag) => Ok(Value::Bool(*flag)),
        DeValue::Integer(number) => {
            let digits = number.as_str();
            match i64::from_str_radix(digits, number.radix()) {
                Ok(number) => Ok(number.into()),
                // A seed may use all 64 bits, though TOML only promises 63.
                Err(_) => match u64::from_str_radix(digits, number.radix()) {
                    Ok(number) => Ok(number.into()),
                    Err(_) => refuse(format!("{path} = {digits} must be smaller than 2^64")),
                },
            }
        }
        DeValue::Float(number) => {
            let number = number.as_str();
            match number.parse().ok().and_then(serde_json::Number::from_f64) {
                Some(number) => Ok(Value::Number(number)),
                None => refuse(format!("{path} = {number} must be a finite number")),
            }
        }
        DeValue::Datetime(_) => refuse(format!("{path} must not be a date; times are numbers, in seconds")),
        DeValue::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(index, item)| to_json(item, &path.then(index)))
                .collect::<Result<_, _>>()
                .map(Value::Array)
        }
        DeValue::Table(table) => table_to_json(table, path),
    }
}

/// A value as `--set` writes it: TOML where it is TOML, else a word.
pub(super) fn parse_value(text: &str, path: &KeyPath) -> Result<Value, String> {
    match DeValue::parse(text) {
        Ok(value) => to_json(&value, path).map_err(|(_, complaint)| complaint),
        Err(_) => Ok(Value::String(text.to_owned())),
    }
}

fn locate_toml(text: &str, path: &KeyPath) -> Option<Range<usize>> {
    let root = DeTable::parse(text).ok()?;
    let mut found = None;
    let mut here = DeValue::Table(root.into_inner());
    for step in &path.0 {
        let next = match (step, here) {
            (Step::Key(key), DeValue::Table(table)) => {
                table.into_iter().find(|(name, _)| name.get_ref() == key).map(|(name, value)| {
                    // A table's own span may be as long as the file: its name says more.
                    let span = if value.get_ref().is_table() { name.span() } else { value.span() };
                    (span, value)
                })
            }
            (Step::Index(index), DeValue::Array(items)) => {
                items.into_iter().nth(*index).map(|value| (value.span(), value))
            }
            _ => None,
        };
        let Some((span, value)) = next else { break };
        found = Some(span);
        here = value.into_inner();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(steps: &[Step]) -> KeyPath {
        KeyPath(steps.to_vec())
    }

    #[test]
    fn a_key_leads_back_to_its_text() {
        let text = "format = 1\n[params.orca]\ntime_horizon = 3.0\n[[agents]]\nradius = 1\n[[agents]]\nradius = -2\n";
        let document = Document::parse(text, "a.toml").unwrap();
        let locate = |steps: &[Step]| document.locate(&path(steps)).map(|span| &text[span]);
        assert_eq!(locate(&["agents".into(), 1.into(), "radius".into()]), Some("-2"));
        assert_eq!(locate(&["params".into(), "orca".into(), "time_horizon".into()]), Some("3.0"));
        assert_eq!(locate(&["params".into(), "orca".into()]), Some("orca"));
        let missing = document.locate(&path(&["agents".into(), 1.into(), "place".into()])).unwrap();
        assert!(text[missing.start..].starts_with("[[agents]]\nradius = -2"), "{missing:?}");
    }

    #[test]
    fn infinities_are_named() {
        let error = Document::parse("a = 1\n[b]\nc = [1.0, nan]", "a.toml").unwrap_err().to_string();
        assert_eq!(error, "a.toml:3:11: b.c[1] = nan must be a finite number");
        assert!(Document::parse("a = -inf", "a.toml").is_err());
    }

    #[test]
    fn syntax_errors_have_lines() {
        let error = Document::parse("a = 1\nb = = 2", "a.toml").unwrap_err().to_string();
        assert!(error.starts_with("a.toml:2:"), "{error}");
        let error = Document::parse("{\n \"a\": 1,\n}", "a.json").unwrap_err().to_string();
        assert!(error.starts_with("a.json:3:"), "{error}");
    }

    #[test]
    fn deep_nesting_is_refused_and_not_a_crash() {
        let deep = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(Document::parse(&deep, "a.toml").is_err());
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(Document::parse(&deep, "a.json").is_err());
    }
}
