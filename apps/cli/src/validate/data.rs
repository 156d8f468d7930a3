//! Readers of recorded experiments, and where they are.

use crate::output;
use anyhow::{Context, anyhow, bail};
use flate2::read::GzDecoder;
use glam::DVec2;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Where the data are looked for when no other place is given.
const USUAL: &str = "../shared/data";

/// Someone's place in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Who.
    pub id: i64,
    /// Which frame.
    pub frame: u32,
    /// m.
    pub place: DVec2,
}

/// The folder with the recorded experiments.
#[derive(Clone, Debug)]
pub struct Data {
    folder: PathBuf,
}

impl Data {
    /// The folder that was given, or the usual one.
    pub fn find(given: Option<&Path>) -> anyhow::Result<Data> {
        let folder = given.unwrap_or(Path::new(USUAL));
        if folder.is_dir() {
            return Ok(Data { folder: folder.to_owned() });
        }
        let folder = folder.display();
        match given {
            Some(_) => bail!("--data {folder}: there is no such folder"),
            None => bail!(
                "there are no recorded experiments in `{folder}`; say with --data where they are (folders hermes, pedpy and rimea)"
            ),
        }
    }

    /// Corridor experiments of the Jülich archive: gzipped lines of `id frame x y z`, cm.
    pub fn hermes(&self, name: &str) -> anyhow::Result<Vec<Row>> {
        positions(&self.folder.join("hermes").join(format!("{name}.txt.gz")), 0.01)
    }

    /// A text as PedPy reads it: lines of `id frame x y z`, m, and comments.
    pub fn pedpy_text(&self, name: &str) -> anyhow::Result<Vec<Row>> {
        let path = self.folder.join("pedpy").join(name);
        rows(BufReader::new(open(&path)?), &path, 1.0, |line| words(line, char::is_whitespace))
    }

    /// Speed over density in single file: density, 1/m, and the speeds that 10, 50 and 90 in 100 do not exceed, m/s. Numbers have
    /// decimal commas.
    pub fn rimea_bands(&self) -> anyhow::Result<Vec<[f64; 4]>> {
        let path = self.folder.join("rimea").join("rimea16_percentile_reference.csv");
        let mut text = String::new();
        open(&path)?.read_to_string(&mut text).with_context(|| cannot_read(&path, "it is no text"))?;
        let row = |line: &str| {
            let numbers: Option<Vec<f64>> =
                line.split(';').map(|word| word.trim().replace(',', ".").parse().ok()).collect();
            numbers.and_then(|numbers| <[f64; 4]>::try_from(numbers).ok())
        };
        let rows: Vec<[f64; 4]> = text.lines().filter_map(row).collect();
        if rows.is_empty() {
            bail!("{}", cannot_read(&path, "it has no line of four numbers"))
        }
        Ok(rows)
    }
}

/// A text of lines of `id frame x y`, gzipped or not, whose unit of length is so many metres.
pub fn positions(path: &Path, scale: f64) -> anyhow::Result<Vec<Row>> {
    let file = open(path)?;
    let read = |line: &str| words(line, char::is_whitespace);
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) {
        return rows(BufReader::new(GzDecoder::new(file)), path, scale, read);
    }
    rows(BufReader::new(file), path, scale, read)
}

fn open(path: &Path) -> anyhow::Result<File> {
    File::open(path).map_err(|error| anyhow!("{}", cannot_read(path, &output::reason(&error))))
}

fn cannot_read(path: &Path, why: &str) -> String {
    format!("cannot read `{}`: {why}", path.display())
}

/// The first four numbers of a line.
fn words(line: &str, separator: fn(char) -> bool) -> Option<[f64; 4]> {
    let mut numbers = line.split(separator).filter(|word| !word.is_empty()).map(|word| word.parse().ok());
    let mut next = || numbers.next().flatten();
    Some([next()?, next()?, next()?, next()?])
}

fn rows(
    lines: impl BufRead,
    path: &Path,
    scale: f64,
    read: impl Fn(&str) -> Option<[f64; 4]>,
) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(lines.lines()) {
        let line = line.with_context(|| cannot_read(path, &format!("line {number} is damaged")))?;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some([id, frame, x, y]) = read(line) else {
            bail!("{}", cannot_read(path, &format!("line {number} is not `id frame x y z`: `{line}`")));
        };
        rows.push(Row { id: id as i64, frame: frame as u32, place: DVec2::new(x, y) * scale });
    }
    if rows.is_empty() {
        bail!("{}", cannot_read(path, "it holds no positions"))
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_gzipped_text_in_centimetres() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("hermes")).unwrap();
        let file = File::create(folder.path().join("hermes/run.txt.gz")).unwrap();
        let mut file = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        file.write_all(b"1 71 108.5 674.25 173.6\n1 72 103.0 664 173.6\n").unwrap();
        file.finish().unwrap();
        let data = Data::find(Some(folder.path())).unwrap();
        let rows = data.hermes("run").unwrap();
        assert_eq!(rows[0], Row { id: 1, frame: 71, place: DVec2::new(1.085, 6.7425) });
        assert!(data.hermes("walk").unwrap_err().to_string().contains("there is no such file"));
    }

    #[test]
    fn comments_are_passed_over_and_other_lines_are_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("pedpy")).unwrap();
        let data = Data::find(Some(folder.path())).unwrap();
        std::fs::write(folder.path().join("pedpy/a.txt"), "# framerate: 25\n3\t0\t2.5\t-1\t1.7\n").unwrap();
        assert_eq!(data.pedpy_text("a.txt").unwrap().len(), 1);
        std::fs::write(folder.path().join("pedpy/b.txt"), "3 0 2.5\n").unwrap();
        assert!(data.pedpy_text("b.txt").unwrap_err().to_string().contains("line 1 is not `id frame x y z`"));
    }

    #[test]
    fn decimal_commas() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("rimea")).unwrap();
        let text = "Density ;v 10%\n0,0989 ;0,9607 ;1,1857 ;1,483 \n";
        std::fs::write(folder.path().join("rimea/rimea16_percentile_reference.csv"), text).unwrap();
        let data = Data::find(Some(folder.path())).unwrap();
        assert_eq!(data.rimea_bands().unwrap(), [[0.0989, 0.9607, 1.1857, 1.483]]);
    }
}
