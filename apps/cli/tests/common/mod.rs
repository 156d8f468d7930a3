//! Running the command as a person does.
#![allow(dead_code, reason = "every test file uses its own part")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// An empty folder to run the command in.
pub struct Desk(TempDir);

/// What a command answered.
pub struct Answer {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Desk {
    pub fn new() -> Desk {
        Desk(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
        command.current_dir(self.0.path()).args(line.split_whitespace()).stdin(Stdio::null());
        command
    }

    /// Runs a command line, whose words have no spaces in them.
    pub fn throng(&self, line: &str) -> Answer {
        Answer::of(self.command(line).output().unwrap())
    }

    /// Starts a command line.
    pub fn start(&self, line: &str) -> Child {
        self.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs something that must go well.
    pub fn works(&self, line: &str) -> Answer {
        let answer = self.throng(line);
        assert_eq!(answer.code, Some(0), "throng {line}\n{}{}", answer.out, answer.err);
        answer
    }

    /// Runs something that must be refused with one clear message.
    pub fn refuses(&self, line: &str, message: &str) {
        let answer = self.throng(line);
        assert_eq!(answer.code, Some(2), "throng {line}\n{}{}", answer.out, answer.err);
        assert!(answer.err.contains(message), "throng {line}: no `{message}` in\n{}", answer.err);
        assert_eq!(answer.err.matches("error:").count(), 1, "throng {line}\n{}", answer.err);
        assert!(!answer.err.contains("panicked"), "throng {line}\n{}", answer.err);
        assert_eq!(answer.out, "", "throng {line}");
    }

    /// Runs a scenario and returns its report.
    pub fn report(&self, line: &str) -> Value {
        self.works(&format!("{line} --report -")).json()
    }
}

impl Answer {
    pub fn of(output: Output) -> Answer {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Answer { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in\n{}", self.out))
    }
}

/// Sends a signal by its name.
pub fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
}

/// Everything in the tables of an SQLite recording that is part of the run.
pub fn rows(path: &Path) -> Vec<String> {
    let db = rusqlite::Connection::open(path).unwrap();
    let mut rows = Vec::new();
    for (table, columns) in [("trajectory_data", "frame, id"), ("frame_data", "frame"), ("geometry", "hash")]
    {
        let mut query = db.prepare(&format!("SELECT * FROM {table} ORDER BY {columns}")).unwrap();
        let width = query.column_count();
        let found = query.query_map([], |row| {
            (0..width).map(|column| Ok(format!("{:?}", row.get_ref(column)?))).collect::<Result<Vec<_>, _>>()
        });
        rows.extend(found.unwrap().map(|row| format!("{table} {}", row.unwrap().join(" "))));
    }
    rows
}
