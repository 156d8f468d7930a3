//! A line on stderr that says what is being done, on a terminal.

use std::io::{IsTerminal, Write};

/// The line. It vanishes when this is dropped.
pub struct Line {
    watched: bool,
}

impl Line {
    /// A line, still empty.
    pub fn new() -> Line {
        Line { watched: std::io::stderr().is_terminal() }
    }

    /// Says something in place of what was said before.
    pub fn say(&self, what: &str) {
        if self.watched {
            // Nothing is lost where the terminal has gone away.
            let _ = write!(std::io::stderr(), "\r\x1b[K{what}").and_then(|()| std::io::stderr().flush());
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.say("");
    }
}
