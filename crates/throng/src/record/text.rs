//! Text as PedPy and the Jülich archive's tools read it: `id frame x y z` after lines that begin with `#`.

use super::error::Fault;
use super::read::Builder;
use super::{RecordPosition, Rows, RunInfo, Sink};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Marks the header line that holds a [`RunInfo`].
const INFO_MARK: &str = "# throng: ";

/// A text file being written.
pub(super) struct Text {
    lines: LineFile,
}

impl Text {
    pub(super) fn create(path: &Path, info: &RunInfo, fps: f64) -> Result<Text, Fault> {
        Ok(Text { lines: LineFile::create(path, &header(info, fps))? })
    }

    pub(super) fn resume(
        path: &Path,
        info: &RunInfo,
        fps: f64,
        position: &RecordPosition,
    ) -> Result<Text, Fault> {
        Ok(Text { lines: LineFile::resume(path, &header(info, fps), position)? })
    }
}

/// The rate comes first and the unit last, because PedPy believes the first rate and the last unit that it meets,
/// and a run's name may hold anything.
fn header(info: &RunInfo, fps: f64) -> String {
    let info = serde_json::to_string(info).unwrap_or_default();
    let rate = format!("{fps:.2}");
    let rate = if rate.parse() == Ok(fps) { rate } else { fps.to_string() };
    format!("# framerate: {rate}\n{INFO_MARK}{info}\n# id frame x/m y/m z/m\n")
}

impl Sink for Text {
    fn frame(&mut self, rows: &Rows<'_>) -> Result<(), Fault> {
        for row in rows.iter() {
            // 0.1 mm, at any distance from the origin.
            self.lines.line(format_args!("{} {} {:.4} {:.4} 0", row.id, rows.number, row.x, row.y))?;
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

/// How much is kept back before it goes to the file.
const PORTION: usize = 1 << 16;

/// A file of lines that grows at its end and can be cut: what text and csv share.
///
/// Only whole lines go out, so a process that dies leaves a file that other tools read.
pub(super) struct LineFile {
    file: File,
    pending: Vec<u8>,
    length: u64,
}

impl LineFile {
    pub(super) fn create(path: &Path, header: &str) -> Result<LineFile, Fault> {
        let pending = Vec::with_capacity(PORTION + header.len());
        let mut lines = LineFile { file: File::create(path)?, pending, length: 0 };
        lines.pending.extend_from_slice(header.as_bytes());
        lines.save()?;
        Ok(lines)
    }

    pub(super) fn resume(path: &Path, header: &str, position: &RecordPosition) -> Result<LineFile, Fault> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        let length = file.metadata()?.len();
        if length < position.bytes {
            return Err(Fault::Content(format!(
                "it has {length} bytes, and had {} at the checkpoint; give the file that belongs to it",
                position.bytes
            )));
        }
        let mut start = vec![0; header.len().min(length as usize)];
        file.read_exact(&mut start)?;
        if start != header.as_bytes() {
            return Err(Fault::content("its header tells of another run; give the checkpoint's own file"));
        }
        file.set_len(position.bytes)?;
        file.seek(SeekFrom::End(0))?;
        Ok(LineFile { file, pending: Vec::with_capacity(PORTION), length: position.bytes })
    }

    /// Adds a line.
    pub(super) fn line(&mut self, line: fmt::Arguments<'_>) -> Result<(), Fault> {
        self.pending.write_fmt(line)?;
        self.pending.push(b'\n');
        if self.pending.len() >= PORTION { self.save() } else { Ok(()) }
    }

    pub(super) fn save(&mut self) -> Result<(), Fault> {
        if let Err(error) = self.file.write_all(&self.pending) {
            // Half a line must not stay; where it cannot be cut off either, readers pass over it.
            let _ = self.file.set_len(self.length);
            return Err(error.into());
        }
        self.length += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Says how long the file is, once saved.
    pub(super) fn length(&self) -> u64 {
        self.length
    }
}

/// Lines with their numbers; bytes that are not UTF-8 are replaced, so that an old tool's header does not stop us.
///
/// A last line without an end that makes no sense is what a full disk leaves behind, and is passed over.
pub(super) fn for_each_line(
    path: &Path,
    mut take: impl FnMut(usize, &str) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path)?);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        let taken = take(number, text.strip_prefix('\u{feff}').unwrap_or(text));
        let cut_off = number > 1 && line.last() != Some(&b'\n');
        if taken.is_err() && !cut_off {
            return taken;
        }
    }
    Ok(())
}

pub(super) fn read(path: &Path, run: &mut Builder) -> Result<(), Fault> {
    let mut scale = None;
    for_each_line(path, |number, line| {
        if let Some(comment) = line.strip_prefix('#') {
            read_comment(line, comment, run, &mut scale);
            return Ok(());
        }
        let scale = scale.unwrap_or(1.0);
        match read_row(line) {
            Ok(None) => Ok(()),
            Ok(Some((id, frame, x, y))) => run.push(id, frame, x * scale, y * scale, 0),
            Err(reason) => Err(Fault::Content(format!("line {number}: {reason}"))),
        }
    })?;
    if run.fps.is_none() {
        return Err(Fault::content(
            "no header line says how many frames a second it has; add `# framerate: 25`",
        ));
    }
    Ok(())
}

fn read_comment(line: &str, comment: &str, run: &mut Builder, scale: &mut Option<f64>) {
    if let Some(info) = line.strip_prefix(INFO_MARK) {
        run.info_json(info);
        return;
    }
    if run.fps.is_none() && comment.contains("framerate") {
        run.fps = comment.split_whitespace().find_map(|word| word.parse().ok());
    }
    let comment = comment.to_ascii_lowercase();
    if comment.contains("x/cm") || comment.contains("in cm") {
        *scale = Some(0.01);
    } else if comment.contains("x/m") || comment.contains("in m") {
        *scale = Some(1.0);
    }
}

fn read_row(line: &str) -> Result<Option<(i64, i64, f64, f64)>, String> {
    let mut words = line.split_ascii_whitespace();
    let Some(id) = words.next() else { return Ok(None) };
    let mut next =
        |name: &str| words.next().ok_or_else(|| format!("`{name}` is missing; a line holds id frame x y z"));
    let (frame, x, y) = (next("frame")?, next("x")?, next("y")?);
    Ok(Some((integer("id", id)?, integer("frame", frame)?, number("x", x)?, number("y", y)?)))
}

pub(super) fn number(name: &str, text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("{name} is `{text}`, and must be a number"))
}

/// Whole numbers; some tools write them as `71.0`.
pub(super) fn integer(name: &str, text: &str) -> Result<i64, String> {
    if let Ok(integer) = text.parse() {
        return Ok(integer);
    }
    match text.parse::<f64>() {
        Ok(number) if number.fract() == 0.0 && number.abs() < 9e15 => Ok(number as i64),
        _ => Err(format!("{name} is `{text}`, and must be a whole number")),
    }
}
