//! The file of a sweep: rows that are safe once they are written, and what they come from.
//!
//! | file | holds |
//! | --- | --- |
//! | `OUT.csv` | the rows, each added as its run ends, put in grid order when all are there |
//! | `OUT.parquet` | the same, written at the end: a parquet file has its index at its end and cannot grow |
//! | `OUT.parquet.sweep.csv` | until then, the rows |
//! | `OUT.csv.sweep.json`, `OUT.parquet.sweep.json` | where the rows come from: scenario with all changes, and keys |
//!
//! Where rows come from stands in a file of its own and not in a comment of the csv: pandas and polars read comments
//! only if they are told to. It holds the scenario itself, so that a message can say what has changed, and two sweeps at a
//! time into one file are found by a lock on it. Values and seeds are not part of it: a sweep may grow.

use super::parquet;
use super::row::{Column, Row};
use crate::files::{cannot_write, check_folder_of, replace};
use crate::output;
use anyhow::{anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use throng::record::{quoted_for_csv, split_csv};
use throng::scenario::Scenario;

/// What rows come from.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Version of the engine: results may differ in another.
    throng: String,
    /// The swept keys.
    keys: Vec<String>,
    /// The scenario with everything that the command line sets for all runs, without its seed.
    scenario: Value,
}

impl Origin {
    /// What the rows of a sweep come from.
    pub fn new(base: &Scenario, keys: Vec<String>) -> anyhow::Result<Origin> {
        let mut scenario: Value = serde_json::from_str(&base.source)?;
        scenario.as_object_mut().map(|scenario| scenario.remove("seed"));
        Ok(Origin { throng: env!("CARGO_PKG_VERSION").into(), keys, scenario })
    }

    /// What is different now, if anything.
    fn difference(&self, now: &Origin) -> Option<String> {
        if self.throng != now.throng {
            return Some(format!("throng {} made it, and this is {}", self.throng, now.throng));
        }
        if self.keys != now.keys {
            let list = |keys: &[String]| if keys.is_empty() { "none".into() } else { keys.join(", ") };
            return Some(format!("its keys are {}, and now {}", list(&self.keys), list(&now.keys)));
        }
        difference("", &self.scenario, &now.scenario)
    }
}

/// The first key at which two scenarios differ.
fn difference(path: &str, then: &Value, now: &Value) -> Option<String> {
    let within = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            let keys = then.keys().chain(now.keys().filter(|key| !then.contains_key(*key)));
            let value =
                |table: &serde_json::Map<String, Value>, key| table.get(key).cloned().unwrap_or_default();
            keys.into_iter().find_map(|key| difference(&within(key), &value(then, key), &value(now, key)))
        }
        (Value::Array(then), Value::Array(now)) if then.len() == now.len() => {
            let pairs = then.iter().zip(now).enumerate();
            pairs
                .into_iter()
                .find_map(|(index, (then, now))| difference(&within(&index.to_string()), then, now))
        }
        _ if then == now => None,
        _ => Some(format!("its scenario had {path} = {}, and now {}", short(then), short(now))),
    }
}

fn short(value: &Value) -> String {
    let text = if value.is_null() { "nothing".into() } else { value.to_string() };
    if text.chars().count() <= 40 { text } else { text.chars().take(40).chain("...".chars()).collect() }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Csv,
    Parquet,
}

/// The files of a sweep.
#[derive(Debug)]
pub struct Store {
    out: PathBuf,
    format: Format,
    origin: Origin,
    restart: bool,
}

impl Store {
    /// The files around `out`. Nothing is written yet.
    pub fn new(out: &Path, origin: Origin, restart: bool) -> anyhow::Result<Store> {
        let ending = out.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let format = match ending.as_str() {
            "csv" => Format::Csv,
            "parquet" => Format::Parquet,
            _ => bail!(
                "cannot tell the format of `{}` from its name: let it end in .csv or .parquet",
                out.display()
            ),
        };
        check_folder_of(out)?;
        if out.exists() && !out.is_file() {
            bail!(
                "cannot write `{}`: it is no ordinary file, and a sweep goes on from what its file holds; give \
                 another -o",
                out.display()
            );
        }
        Ok(Store { out: out.to_owned(), format, origin, restart })
    }

    /// All files that the sweep may write.
    pub fn files(&self) -> [PathBuf; 3] {
        [self.out.clone(), self.origin_path(), self.journal_path()]
    }

    fn origin_path(&self) -> PathBuf {
        with_ending(&self.out, ".sweep.json")
    }

    /// Where rows are added.
    fn journal_path(&self) -> PathBuf {
        match self.format {
            Format::Csv => self.out.clone(),
            Format::Parquet => with_ending(&self.out, ".sweep.csv"),
        }
    }

    /// The rows that are there already, if they come from the same.
    pub fn rows(&self) -> anyhow::Result<Vec<Row>> {
        let journal = self.journal_path();
        let is_there = |path: &Path| std::fs::metadata(path).is_ok_and(|file| file.len() > 0);
        if self.restart || !(is_there(&self.out) || is_there(&journal)) {
            return Ok(Vec::new());
        }
        self.check_origin()?;
        let (path, rows) = match self.format {
            Format::Parquet if !is_there(&journal) => (&self.out, parquet::read(&self.out)),
            _ => (&journal, read_csv(&journal)),
        };
        rows.map_err(|reason| anyhow!("cannot go on with `{}`: {reason}; {WAY_OUT}", path.display()))
    }

    fn check_origin(&self) -> anyhow::Result<()> {
        let (out, path) = (self.out.display(), self.origin_path());
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => bail!(
                "`{out}` is there already, and nothing beside it says that a sweep made it (there is no `{}`); {WAY_OUT}",
                path.display()
            ),
            Err(error) => bail!("cannot read `{}`: {}; {WAY_OUT}", path.display(), output::reason(&error)),
        };
        let Ok(origin) = serde_json::from_str::<Origin>(&text) else {
            bail!("`{}` does not say where `{out}` comes from; {WAY_OUT}", path.display());
        };
        match origin.difference(&self.origin) {
            Some(difference) => bail!("`{out}` is of another sweep: {difference}; {WAY_OUT}"),
            None => Ok(()),
        }
    }

    /// Opens the files for more rows, with those that are there in front; `columns` are those of the rows to come.
    /// From here on no other process can write them.
    pub fn begin(self, columns: &[Column]) -> anyhow::Result<(Journal, Vec<Row>)> {
        let path = self.origin_path();
        let failed = |error: &std::io::Error| cannot_write(&path, error);
        let mut lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| failed(&error))?;
        // Where a disk knows no locks, two sweeps at a time are the user's care.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            bail!(
                "another sweep is writing `{}` just now; wait for it, or give another -o",
                self.out.display()
            );
        }
        // Only now: another sweep may have written meanwhile.
        let rows = self.rows()?;
        let columns = with_those_of(columns, &rows);
        if rows.is_empty() {
            let origin = serde_json::to_string_pretty(&self.origin)? + "\n";
            lock.set_len(0)
                .and_then(|()| lock.write_all(origin.as_bytes()))
                .map_err(|error| failed(&error))?;
        }
        // A line that was cut off goes, and so does what --restart leaves behind.
        let journal = self.journal_path();
        replace(&journal, csv(&columns, &rows).as_bytes())?;
        let mut file =
            OpenOptions::new().write(true).open(&journal).map_err(|error| cannot_write(&journal, &error))?;
        let length = file.seek(SeekFrom::End(0)).map_err(|error| cannot_write(&journal, &error))?;
        Ok((Journal { store: self, _lock: lock, path: journal, file, length, columns }, rows))
    }
}

const WAY_OUT: &str = "give another -o, or --restart to begin anew and lose what it holds";

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// Columns, and those that only rows of an earlier grid have.
fn with_those_of(columns: &[Column], rows: &[Row]) -> Vec<Column> {
    let mut columns = columns.to_vec();
    for name in rows.iter().flat_map(Row::keys) {
        if !columns.iter().any(|column| column.name == *name) {
            columns.push(Column { name: name.clone(), kind: None });
        }
    }
    columns
}

/// Files that rows are added to.
#[derive(Debug)]
pub struct Journal {
    store: Store,
    /// Held as long as this is.
    _lock: File,
    path: PathBuf,
    file: File,
    length: u64,
    columns: Vec<Column>,
}

impl Journal {
    /// Adds a row. It is in the file when this returns.
    pub fn add(&mut self, row: &Row) -> anyhow::Result<()> {
        let line = line(&self.columns, row);
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // Half a line must not stay; where it cannot be cut off either, it is passed over later.
            let _ = self.file.set_len(self.length);
            return Err(cannot_write(&self.path, &error));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Where the rows are until the end.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all rows in this order, for good.
    pub fn finish(self, rows: &[Row]) -> anyhow::Result<()> {
        let out = &self.store.out;
        match self.store.format {
            Format::Csv => replace(out, csv(&self.columns, rows).as_bytes()),
            Format::Parquet => {
                let bytes = parquet::write(&self.columns, rows)
                    .map_err(|error| anyhow!("cannot write `{}`: {error}", out.display()))?;
                replace(out, &bytes)?;
                std::fs::remove_file(&self.path).map_err(|error| cannot_write(&self.path, &error))
            }
        }
    }
}

fn csv(columns: &[Column], rows: &[Row]) -> String {
    let names = columns.iter().map(|column| quoted_for_csv(&column.name));
    let header = names.collect::<Vec<_>>().join(",") + "\n";
    header + &rows.iter().map(|row| line(columns, row)).collect::<String>()
}

fn line(columns: &[Column], row: &Row) -> String {
    let cell = |column: &Column| row.get(&column.name).map(|cell| quoted_for_csv(cell)).unwrap_or_default();
    columns.iter().map(cell).collect::<Vec<_>>().join(",") + "\n"
}

/// Reads rows. A last line without an end is what a killed process leaves behind: its run is made again.
fn read_csv(path: &Path) -> Result<Vec<Row>, String> {
    let bytes = std::fs::read(path).map_err(|error| output::reason(&error))?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let text = std::str::from_utf8(&bytes[..whole]).map_err(|_| "it is not text")?;
    let mut lines = text.lines().enumerate();
    let mut names = Vec::new();
    if let Some((_, header)) = lines.next() {
        split_csv(header, &mut names);
    }
    let mut fields = Vec::new();
    let mut rows = Vec::new();
    for (number, line) in lines {
        split_csv(line, &mut fields);
        if fields.len() != names.len() {
            let (found, wanted) = (fields.len(), names.len());
            return Err(format!("line {} has {found} fields, and the first has {wanted}", number + 1));
        }
        rows.push(names.iter().cloned().zip(fields.iter().cloned()).collect());
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::row::Kind;
    use serde_json::json;

    fn columns() -> Vec<Column> {
        let column = |name: &str, kind| Column { name: name.into(), kind };
        vec![
            column("pipeline.mesoscale", None),
            column("seed", Some(Kind::Whole)),
            column("finished", Some(Kind::Flag)),
            column("mean_travel_s", Some(Kind::Number)),
        ]
    }

    fn row(cells: [&str; 4]) -> Row {
        columns().into_iter().map(|column| column.name).zip(cells.map(String::from)).collect()
    }

    fn rows() -> Vec<Row> {
        vec![row(["[\"groups\", \"density\"]", "1", "true", "12"]), row(["[]", "2", "false", ""])]
    }

    fn store(out: &Path, until: f64, restart: bool) -> Store {
        let scenario = json!({ "until": until, "agents": [{ "count": 4 }] });
        let origin = Origin { throng: "1".into(), keys: vec!["pipeline.mesoscale".into()], scenario };
        Store::new(out, origin, restart).unwrap()
    }

    #[test]
    fn rows_come_back_from_both_formats_at_any_time() {
        for name in ["a.csv", "a.parquet"] {
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path().join(name);
            let (mut journal, none) = store(&out, 1.0, false).begin(&columns()).unwrap();
            assert!(none.is_empty());
            for row in rows() {
                journal.add(&row).unwrap();
            }
            drop(journal);
            let (journal, half) = store(&out, 1.0, false).begin(&columns()).unwrap();
            assert_eq!(half, rows(), "{name}: before the end");
            journal.finish(&half).unwrap();
            assert_eq!(store(&out, 1.0, false).rows().unwrap(), rows(), "{name}: after the end");
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "{name}: the file and its origin");
            assert!(store(&out, 1.0, true).rows().unwrap().is_empty(), "{name}: from the start");
        }
    }

    #[test]
    fn a_line_that_was_cut_off_is_passed_over_wherever_it_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a.csv");
        let (journal, _) = store(&out, 1.0, false).begin(&columns()).unwrap();
        journal.finish(&rows()).unwrap();
        let whole = std::fs::read(&out).unwrap();
        let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').collect();
        for length in 1..=whole.len() {
            std::fs::write(&out, &whole[..length]).unwrap();
            let lines = ends.iter().filter(|&&end| end < length).count();
            let (_, found) = store(&out, 1.0, false).begin(&columns()).unwrap();
            assert_eq!(found, rows()[..lines.saturating_sub(1)], "{length} bytes");
        }
    }

    #[test]
    fn rows_of_another_sweep_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a.csv");
        std::fs::write(&out, "x\n1\n").unwrap();
        let refused = |store: &Store| store.rows().unwrap_err().to_string();
        let strange = refused(&store(&out, 1.0, false));
        assert!(strange.contains("nothing beside it says") && strange.contains("--restart"), "{strange}");

        let (journal, _) = store(&out, 1.0, true).begin(&columns()).unwrap();
        journal.finish(&rows()).unwrap();
        let other = refused(&store(&out, 2.0, false));
        assert!(
            other.contains("its scenario had until = 1.0, and now 2.0; give another -o, or --restart"),
            "{other}"
        );
        let mut keys = store(&out, 1.0, false);
        keys.origin.keys = vec!["until".into()];
        assert!(refused(&keys).contains("its keys are pipeline.mesoscale, and now until"));
        let mut version = store(&out, 1.0, false);
        version.origin.throng = "2".into();
        assert!(refused(&version).contains("throng 1 made it, and this is 2"));
        let mut agents = store(&out, 1.0, false);
        agents.origin.scenario["agents"][0]["count"] = 5.into();
        assert!(refused(&agents).contains("agents.0.count = 4, and now 5"));
    }

    #[test]
    fn two_sweeps_at_a_time_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a.csv");
        let (_journal, _) = store(&out, 1.0, false).begin(&columns()).unwrap();
        let error = store(&out, 1.0, false).begin(&columns()).unwrap_err().to_string();
        assert!(error.contains("another sweep is writing"), "{error}");
    }

    #[test]
    fn a_damaged_middle_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a.csv");
        let (journal, _) = store(&out, 1.0, false).begin(&columns()).unwrap();
        journal.finish(&rows()).unwrap();
        std::fs::write(&out, "a,b\n1,2\n1\n1,2\n").unwrap();
        let error = store(&out, 1.0, false).rows().unwrap_err().to_string();
        assert!(error.contains("line 3 has 1 fields, and the first has 2; give another -o"), "{error}");
    }
}
