//! Where a value stands in a scenario file: `agents[1].radius`.

use std::fmt;

/// One step down into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into a table.
    Key(String),
    /// Into a list.
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Step {
        Step::Key(key.to_owned())
    }
}

impl From<&String> for Step {
    fn from(key: &String) -> Step {
        Step::Key(key.clone())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Step {
        Step::Index(index)
    }
}

/// The way to a value, from the top of the document. Shown as `agents[1].radius`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPath(pub Vec<Step>);

impl KeyPath {
    /// A key at the top.
    pub fn top(key: &str) -> KeyPath {
        KeyPath::default().then(key)
    }

    /// One step further down.
    pub fn then(&self, step: impl Into<Step>) -> KeyPath {
        let mut steps = self.0.clone();
        steps.push(step.into());
        KeyPath(steps)
    }

    /// Whether this path leads to `other` or to something inside it.
    pub fn is_within(&self, other: &KeyPath) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The value that it leads to.
    pub fn value<'a>(&self, root: &'a serde_json::Value) -> Option<&'a serde_json::Value> {
        self.0.iter().try_fold(root, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => value.get(index),
        })
    }
}

impl From<&serde_path_to_error::Path> for KeyPath {
    fn from(path: &serde_path_to_error::Path) -> KeyPath {
        use serde_path_to_error::Segment;
        let step = |segment: &Segment| match segment {
            Segment::Seq { index } => Some(Step::Index(*index)),
            Segment::Map { key } => Some(Step::Key(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => None,
        };
        KeyPath(path.iter().map_while(step).collect())
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if depth == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}
