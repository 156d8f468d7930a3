//! Comma-separated values: `frame,t,id,x,y,vx,vy,cohort`.

use super::error::Fault;
use super::read::Builder;
use super::text::{LineFile, for_each_line, integer, number};
use super::{RecordPosition, Rows, RunInfo, Sink};
use std::path::Path;

const HEADER: &str = "frame,t,id,x,y,vx,vy,cohort\n";

/// A csv file being written.
pub(super) struct Csv {
    lines: LineFile,
    /// By cohort, already quoted where it must be.
    cohort: Vec<String>,
}

impl Csv {
    pub(super) fn create(path: &Path, info: &RunInfo) -> Result<Csv, Fault> {
        Ok(Csv { lines: LineFile::create(path, HEADER)?, cohort: quoted_names(info) })
    }

    pub(super) fn resume(path: &Path, info: &RunInfo, position: &RecordPosition) -> Result<Csv, Fault> {
        Ok(Csv { lines: LineFile::resume(path, HEADER, position)?, cohort: quoted_names(info) })
    }
}

fn quoted_names(info: &RunInfo) -> Vec<String> {
    info.cohorts.iter().map(|cohort| quoted(&cohort.name)).collect()
}

/// A field of a line. Line breaks become spaces, so that a line stays a row for simple readers too.
pub fn quoted(name: &str) -> String {
    let name = name.replace(['\n', '\r'], " ");
    if name.contains([',', '"', '#']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name }
}

impl Sink for Csv {
    fn frame(&mut self, rows: &Rows<'_>) -> Result<(), Fault> {
        // Microseconds, without the tail of digits that a multiple of 0.1 has.
        let time = (rows.frame.time * 1e6).round() / 1e6;
        for row in rows.iter() {
            let cohort = self.cohort.get(usize::from(row.cohort)).map_or("", String::as_str);
            self.lines.line(format_args!(
                "{},{time},{},{:.4},{:.4},{:.4},{:.4},{cohort}",
                rows.number, row.id, row.x, row.y, row.vx, row.vy
            ))?;
        }
        Ok(())
    }

    fn save(&mut self) -> Result<(), Fault> {
        self.lines.save()
    }

    fn locate(&mut self, position: &mut RecordPosition) -> Result<(), Fault> {
        position.bytes = self.lines.length();
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Fault> {
        self.save()
    }
}

/// Which field of a line holds which column.
struct Columns {
    frame: usize,
    id: usize,
    x: usize,
    y: usize,
    t: usize,
    cohort: Option<usize>,
}

impl Columns {
    fn of(header: &[String]) -> Result<Columns, String> {
        let find = |name: &str| header.iter().position(|column| column.trim() == name);
        let need = |name: &str| {
            find(name).ok_or_else(|| {
                format!(
                    "there is no column `{name}`; needed: frame, t, id, x, y; found: {}",
                    header.join(", ")
                )
            })
        };
        Ok(Columns {
            frame: need("frame")?,
            id: need("id")?,
            x: need("x")?,
            y: need("y")?,
            t: need("t")?,
            cohort: find("cohort"),
        })
    }
}

pub(super) fn read(path: &Path, run: &mut Builder) -> Result<(), Fault> {
    let mut columns = None;
    let mut fields = Vec::new();
    for_each_line(path, |line_number, line| {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let at_line = |reason| Fault::Content(format!("line {line_number}: {reason}"));
        split(line, &mut fields);
        match &columns {
            None => columns = Some(Columns::of(&fields).map_err(at_line)?),
            Some(columns) => read_row(columns, &fields, run).map_err(at_line)?,
        }
        Ok(())
    })?;
    if columns.is_none() {
        return Err(Fault::content("it is empty"));
    }
    Ok(())
}

fn read_row(columns: &Columns, fields: &[String], run: &mut Builder) -> Result<(), String> {
    let field = |name: &str, column: usize| {
        fields.get(column).map(|field| field.trim()).ok_or_else(|| format!("`{name}` is missing"))
    };
    let frame = integer("frame", field("frame", columns.frame)?)?;
    let time = number("t", field("t", columns.t)?)?;
    let id = integer("id", field("id", columns.id)?)?;
    let x = number("x", field("x", columns.x)?)?;
    let y = number("y", field("y", columns.y)?)?;
    let cohort = match columns.cohort {
        Some(column) => run.cohort(field("cohort", column)?),
        None => 0,
    };
    run.clock(frame, time);
    run.push(id, frame, x, y, cohort).map_err(|fault| fault.to_string())
}

/// Splits a line at commas outside quotes, into strings that are used again.
pub fn split(line: &str, fields: &mut Vec<String>) {
    let mut used = 0;
    let mut rest = line.chars().peekable();
    loop {
        if used == fields.len() {
            fields.push(String::new());
        }
        let field = &mut fields[used];
        field.clear();
        used += 1;
        let mut inside_quotes = false;
        loop {
            match rest.next() {
                Some('"') if inside_quotes && rest.peek() == Some(&'"') => {
                    rest.next();
                    field.push('"');
                }
                Some('"') => inside_quotes = !inside_quotes,
                Some(',') if !inside_quotes => break,
                Some(other) => field.push(other),
                None => {
                    fields.truncate(used);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_survives_a_round_trip() {
        let mut fields = Vec::new();
        for name in ["plain", "a, b", "say \"hi\"", "", "#1"] {
            split(&format!("1,{},", quoted(name)), &mut fields);
            assert_eq!(fields, ["1", name, ""]);
        }
    }
}
