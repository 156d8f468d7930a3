//! What can go wrong with a recording, said once, with the file and the way out.

use std::io;
use std::path::{Path, PathBuf};

/// Why a run could not be recorded or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The name does not say which format.
    #[error(
        "cannot tell the format of `{path}` from its name: let it end in .sqlite, .db, .txt, .csv or .parquet"
    )]
    UnknownFormat {
        /// As given.
        path: PathBuf,
    },
    /// The build cannot write or read the format.
    #[error(
        "cannot open `{path}`: this build has no such files: build with `--features {feature}`, or use .csv"
    )]
    NotBuilt {
        /// As given.
        path: PathBuf,
        /// The feature that the build lacks.
        feature: &'static str,
    },
    /// A frame rate or a step that no file can have.
    #[error("cannot record `{path}`: {key} is {value}, and must be a finite number above 0")]
    BadRate {
        /// Which file.
        path: PathBuf,
        /// `fps` or `dt`.
        key: &'static str,
        /// As given.
        value: f64,
    },
    /// The file cannot be written.
    #[error("cannot write `{path}`: {reason}{hint}")]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        reason: String,
        /// What to do about it.
        hint: String,
    },
    /// The file cannot be continued from a position.
    #[error("cannot continue `{path}`: {reason}")]
    Resume {
        /// Which file.
        path: PathBuf,
        /// Why, and what to do about it.
        reason: String,
    },
    /// The file cannot be read.
    #[error("cannot read `{path}`: {reason}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why, with the line where there are lines.
        reason: String,
    },
}

/// What a format reports; the recorder adds the file.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The system refused.
    Io(io::Error),
    /// The content is at fault.
    Content(String),
}

impl Fault {
    pub(crate) fn content(reason: impl Into<String>) -> Fault {
        Fault::Content(reason.into())
    }

    pub(crate) fn on_write(self, path: &Path) -> RecordError {
        let hint = match &self {
            Fault::Io(error) => hint(error.kind(), path),
            Fault::Content(_) => String::new(),
        };
        RecordError::Write { path: path.to_owned(), reason: self.to_string(), hint }
    }

    pub(crate) fn on_read(self, path: &Path) -> RecordError {
        RecordError::Read { path: path.to_owned(), reason: self.to_string() }
    }

    pub(crate) fn on_resume(self, path: &Path) -> RecordError {
        RecordError::Resume { path: path.to_owned(), reason: self.to_string() }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Io(error) => match error.kind() {
                io::ErrorKind::NotFound => f.write_str("there is no such file or folder"),
                io::ErrorKind::StorageFull => f.write_str("the disk is full"),
                io::ErrorKind::PermissionDenied => f.write_str("permission denied"),
                _ => error.fmt(f),
            },
            Fault::Content(reason) => f.write_str(reason),
        }
    }
}

fn hint(kind: io::ErrorKind, path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match kind {
        io::ErrorKind::NotFound => format!("; create the folder `{}` first", folder.display()),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space, record to another disk, or write fewer frames a second (`--fps`)".to_owned()
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!(
                "; `{}` or the file in it is read-only: record to a place you may write to",
                folder.display()
            )
        }
        io::ErrorKind::IsADirectory => "; give the name of a file".to_owned(),
        _ => String::new(),
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Io(error)
    }
}
