//! Finds the place of a key in a JSON text that is known to be valid.

use super::path::{KeyPath, Step};
use std::ops::Range;

/// The bytes of the value at `path`, or of the innermost value around it.
pub(super) fn locate(text: &str, path: &KeyPath) -> Option<Range<usize>> {
    let mut cursor = Cursor { text: text.as_bytes(), at: 0 };
    for (depth, step) in path.0.iter().enumerate() {
        cursor.skip_space();
        let start = cursor.at;
        if cursor.enter(step).is_none() {
            cursor.at = start;
            return (depth > 0).then(|| cursor.value_span());
        }
    }
    Some(cursor.value_span())
}

/// The place that `serde_json` means by a line and a column.
pub(super) fn offset(text: &str, line: usize, column: usize) -> Range<usize> {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = (start + column.saturating_sub(1)).min(text.len());
    at..at
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace() || byte == b',' || byte == b':') {
            self.at += 1;
        }
    }

    /// Moves to the start of the value that a step leads to.
    fn enter(&mut self, step: &Step) -> Option<()> {
        let open = if matches!(step, Step::Key(_)) { b'{' } else { b'[' };
        if self.peek()? != open {
            return None;
        }
        self.at += 1;
        let mut index = 0;
        loop {
            self.skip_space();
            if matches!(self.peek()?, b'}' | b']') {
                return None;
            }
            let found = match step {
                Step::Key(key) => {
                    serde_json::from_slice::<String>(&self.text[self.value_span()]).ok()? == *key
                }
                Step::Index(wanted) => index == *wanted,
            };
            if let Step::Key(_) = step {
                self.skip_value();
                self.skip_space();
            }
            if found {
                return Some(());
            }
            self.skip_value();
            index += 1;
        }
    }

    fn value_span(&mut self) -> Range<usize> {
        self.skip_space();
        let start = self.at;
        self.skip_value();
        let end = std::mem::replace(&mut self.at, start);
        start..end
    }

    fn skip_value(&mut self) {
        let mut depth = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.skip_string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                _ if depth > 0 => self.at += 1,
                _ => self.skip_word(),
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_word(&mut self) {
        while self.peek().is_some_and(|byte| !byte.is_ascii_whitespace() && !b",:]}".contains(&byte)) {
            self.at += 1;
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_values() {
        let text = r#"{ "a": [1, {"b\"": "x]", "c": [true, 2.5]}], "d": {} }"#;
        let find = |steps: &[Step]| locate(text, &KeyPath(steps.to_vec())).map(|span| &text[span]);
        assert_eq!(find(&["a".into(), 0.into()]), Some("1"));
        assert_eq!(find(&["a".into(), 1.into(), "c".into(), 1.into()]), Some("2.5"));
        assert_eq!(find(&["a".into(), 1.into(), "b\"".into()]), Some("\"x]\""));
        assert_eq!(find(&["d".into()]), Some("{}"));
        assert_eq!(find(&["d".into(), "missing".into()]), Some("{}"));
        assert_eq!(find(&["missing".into()]), None);
    }
}
