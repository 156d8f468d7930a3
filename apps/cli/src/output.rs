//! What a person reads: answers on stdout, complaints on stderr.

use anyhow::anyhow;
use std::io::{self, Write};

/// Writes an answer. A reader that has seen enough, such as `head`, is no trouble.
pub fn show(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow!("cannot write to standard output: {}", reason(&error)))
        }
        _ => Ok(()),
    }
}

/// Writes a line that is not part of the answer. Where the stream is closed, it is dropped.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Says what is hardly meant, and does not hold anything up.
pub fn warn(text: &str) {
    note(&format!("warning: {text}"));
}

/// Says what went wrong. Messages name the file and the way out themselves, so what lies behind them is not repeated.
pub fn complain(error: &anyhow::Error) {
    note(&format!("error: {}", error.to_string().replace('\n', "\n       ")));
}

/// What the system says, in words.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a folder".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only".into(),
        _ => error.to_string(),
    }
}

/// Rows as a table: columns aligned by their widest cell, two spaces between them, nothing at the end of a line.
pub fn table<const N: usize>(indent: usize, rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        text += &format!("{:indent$}{}\n", "", line.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned_and_end_clean() {
        let rows = [["a", "long", ""], ["bbb", "é", "end"]].map(|row| row.map(String::from));
        assert_eq!(table(1, &rows), " a    long\n bbb  é     end\n");
    }
}
