//! What is wrong with a scenario, where, and the way out.

use super::document::Document;
use super::path::KeyPath;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

/// Why there is no scenario.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {reason}", path.display())]
    #[diagnostic(code(throng::scenario::unreadable))]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        reason: std::io::Error,
    },
    /// The text is not a valid scenario.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Invalid(#[from] Box<Invalid>),
}

impl ScenarioError {
    /// Every problem found; empty where the file could not even be read.
    pub fn problems(&self) -> &[Problem] {
        match self {
            ScenarioError::Unreadable { .. } => &[],
            ScenarioError::Invalid(invalid) => &invalid.problems,
        }
    }
}

/// A text that is not a valid scenario, with every problem found in it.
#[derive(Debug)]
pub struct Invalid {
    source: NamedSource<String>,
    problems: Vec<Problem>,
}

/// One problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The key, empty where the text itself cannot be parsed.
    pub path: KeyPath,
    /// Where in the text, in bytes, where that is known.
    pub span: Option<Range<usize>>,
    /// Line and column, from 1.
    pub line: Option<(usize, usize)>,
    /// Key, value, what is wrong and the way out, in a line.
    pub message: String,
}

impl fmt::Display for Invalid {
    /// One line per problem: `crowd.toml:14:10: agents[0].radius = -1 must be > 0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            f.write_str(self.source.name())?;
            if let Some((line, column)) = problem.line {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": {}", problem.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}

impl Diagnostic for Invalid {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new("throng::scenario::invalid"))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = |problem: &Problem| {
            let span = problem.span.clone()?;
            Some(LabeledSpan::new_with_span(Some(problem.message.clone()), span))
        };
        Some(Box::new(self.problems.iter().filter_map(label)))
    }
}

/// Collects the problems of a document.
pub(super) struct Report<'a> {
    document: &'a Document,
    problems: Vec<Problem>,
}

/// More than this helps no reader, and a million bad points would fill the memory with messages.
const MOST_PROBLEMS: usize = 20;
const MOST_NAMES: usize = 40;
const LONGEST_VALUE: usize = 60;

impl<'a> Report<'a> {
    pub fn new(document: &'a Document) -> Report<'a> {
        Report { document, problems: Vec::new() }
    }

    pub fn tree(&self) -> &'a serde_json::Value {
        self.document.tree()
    }

    /// Whether further problems would not be shown.
    pub fn is_full(&self) -> bool {
        self.problems.len() >= MOST_PROBLEMS
    }

    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// The value at `path` is bad: `agents[0].radius = -1 must be > 0`.
    pub fn value(&mut self, path: &KeyPath, complaint: impl fmt::Display) {
        let shown =
            path.value(self.document.tree()).map(|value| format!(" = {}", shorten(&value.to_string())));
        self.add(path, format!("{path}{} {complaint}", shown.unwrap_or_default()));
    }

    /// Something at `path` is bad: `pipeline.microscale: unknown model`.
    pub fn say(&mut self, path: &KeyPath, complaint: impl fmt::Display) {
        let colon = if path.0.is_empty() { "" } else { ": " };
        self.add(path, format!("{path}{colon}{complaint}"));
    }

    fn add(&mut self, path: &KeyPath, message: String) {
        if self.is_full() {
            return;
        }
        let problem = match self.document.set_by(path) {
            Some(set) => {
                let message = format!("{message} (from {set})");
                Problem { path: path.clone(), span: None, line: None, message }
            }
            None => {
                let span = self.document.locate(path);
                let line = span.as_ref().map(|span| line_and_column(self.document.text(), span.start));
                Problem { path: path.clone(), span, line, message }
            }
        };
        self.problems.push(problem);
    }

    /// A problem at a known place in the text.
    pub fn at(&mut self, span: Option<Range<usize>>, message: String) {
        let line = span.as_ref().map(|span| line_and_column(self.document.text(), span.start));
        self.problems.push(Problem { path: KeyPath::default(), span, line, message });
    }

    /// `value` where nothing was wrong.
    pub fn finish<T>(self, value: T) -> Result<T, ScenarioError> {
        if self.problems.is_empty() { Ok(value) } else { Err(self.into_error()) }
    }

    pub fn into_error(self) -> ScenarioError {
        let source = NamedSource::new(self.document.name(), self.document.text().to_owned());
        ScenarioError::Invalid(Box::new(Invalid { source, problems: self.problems }))
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}

/// `known: a, b, c (did you mean `b`?)`
pub(super) fn known<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let mut list =
        if names.is_empty() { "nothing".to_owned() } else { names[..names.len().min(MOST_NAMES)].join(", ") };
    if names.len() > MOST_NAMES {
        list += &format!(" and {} more", names.len() - MOST_NAMES);
    }
    match closest(written, &names) {
        Some(name) => format!("known: {list} (did you mean `{name}`?)"),
        None => format!("known: {list}"),
    }
}

/// The name that was probably meant.
pub(crate) fn closest<'a>(written: &str, names: &[&'a str]) -> Option<&'a str> {
    let (distance, name) = names.iter().map(|name| (edit_distance(written, name), *name)).min()?;
    let limit = (name.chars().count() / 3).max(1);
    (distance <= limit).then_some(name)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // A page of text is not `orca` misspelt.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distances() {
        assert_eq!(edit_distance("orka", "orca"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn suggests_only_what_is_close() {
        assert!(known("orka", ["vo", "orca"]).contains("did you mean `orca`"));
        assert!(!known("banana", ["vo", "orca"]).contains("did you mean"));
    }

    #[test]
    fn lines_and_columns_count_from_one() {
        assert_eq!(line_and_column("a\nbc\nd", 0), (1, 1));
        assert_eq!(line_and_column("a\nbc\nd", 3), (2, 2));
        assert_eq!(line_and_column("a\nbc\nd", 99), (3, 2));
        assert_eq!(line_and_column("ä = 1", 3), (1, 3));
    }
}
