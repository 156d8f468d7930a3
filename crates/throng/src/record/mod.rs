//! Recording a run to a file, and reading it back.
//!
//! | extension | for | survives `kill -9` | can be continued |
//! | --- | --- | --- | --- |
//! | `.sqlite`, `.db` | JuPedSim, PedPy | yes, up to the last second or so | yes |
//! | `.txt` | PedPy, the Jülich archive's tools | yes | yes |
//! | `.csv` | spreadsheets, scripts | yes | yes |
//! | `.parquet` | data frames | **no**: its index stands at the end | no |
//!
//! A recorder is called after every step and writes every `stride`th, so that a frame's time is exactly `frame / fps`.
//! Memory does not grow with the run: rows leave in bounded portions.

mod csv;
mod error;
mod geometry;
mod info;
#[cfg(feature = "parquet")]
mod parquet;
mod read;
#[cfg(feature = "sqlite")]
mod sqlite;
mod text;

pub use csv::{quoted as quoted_for_csv, split as split_csv};
pub use error::RecordError;
pub use geometry::{Geometry, Ring};
pub use info::{CohortInfo, MoverInfo, RunInfo};
pub use read::{FootprintRow, GeometrySpan, Run, Track, open_run};
pub use throng_core::world::{Mover, MoverState};

use crate::frame::Frame;
use crate::simulation::Simulation;
use error::Fault;
use read::Builder;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Frames a second where no other rate is asked for: enough for smooth trails, and PedPy's measures are stable there.
const DEFAULT_FPS: f64 = 10.0;

/// Rows are made safe on disk at the latest after this many ...
const ROWS_BETWEEN_SAVES: u64 = 100_000;

/// ... or after so long, whichever comes first: what a killed process can lose.
const TIME_BETWEEN_SAVES: Duration = Duration::from_secs(1);

/// How to record.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecordOptions {
    /// Frames a second. Rounded to a whole number of steps per frame; the file says the true rate.
    /// Default: the highest rate of at most 10 that divides the steps. Must be > 0.
    pub fps: Option<f64>,
}

/// Where a recording stands, for a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordPosition {
    /// Frames written.
    pub frames: u64,
    /// Rows written.
    pub rows: u64,
    /// Length of the file. A database's length says nothing about its rows, and is not looked at.
    pub bytes: u64,
    /// Steps per written frame.
    pub stride: u64,
    /// The last step that was written.
    pub last_step: Option<u64>,
    /// Geometries written.
    pub geometries: u64,
    /// Hash of the geometry that the next frame refers to.
    pub geometry_hash: i64,
    /// Footprints written.
    pub footprints: u64,
    /// The last step whose footprints were looked at.
    pub last_seen: Option<u64>,
    /// How often the map had changed when its geometry was last written; `None` before the first frame.
    pub map_changes: Option<u64>,
}

/// A finished recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Where it is.
    pub path: PathBuf,
    /// Frames written.
    pub frames: u64,
    /// Rows written.
    pub rows: u64,
    /// Size of the file.
    pub bytes: u64,
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} frames, {} rows, ", self.path.display(), self.frames, self.rows)?;
        match self.bytes {
            bytes @ 0..10_000 => write!(f, "{bytes} bytes"),
            bytes @ 10_000..1_000_000 => write!(f, "{:.1} kB", bytes as f64 / 1e3),
            bytes => write!(f, "{:.1} MB", bytes as f64 / 1e6),
        }
    }
}

/// Writes a run to a file, in the format that the file's name says.
///
/// A recorder that is dropped still completes its file as well as it can; [`Recorder::finish`] also says whether it could.
pub struct Recorder {
    path: PathBuf,
    sink: Box<dyn Sink>,
    fps: f64,
    position: RecordPosition,
    order: Vec<u32>,
    rows_unsaved: u64,
    last_save: Instant,
    /// Set when finished or failed: nothing more will be written.
    closed: bool,
}

/// One format, open for writing.
trait Sink: Send {
    /// Writes a frame.
    fn frame(&mut self, rows: &Rows<'_>) -> Result<(), Fault>;
    /// Writes feet that were put down. Only one format has a place for them.
    fn footprints(&mut self, _frame: &Frame<'_>) -> Result<(), Fault> {
        Ok(())
    }
    /// Lets the frames to come refer to another geometry. Formats that hold only one keep the first.
    fn geometry(&mut self, _wkt: &str) -> Result<(), Fault> {
        Ok(())
    }
    /// Brings everything to disk that the format can bring there before its end.
    fn save(&mut self) -> Result<(), Fault>;
    /// Fills in what only this format knows of its position.
    fn locate(&mut self, position: &mut RecordPosition) -> Result<(), Fault>;
    /// Completes the file.
    fn finish(&mut self) -> Result<(), Fault>;
}

/// The rows of one frame, by rising id.
struct Rows<'a> {
    /// Counts written frames.
    number: u64,
    frame: Frame<'a>,
    order: &'a [u32],
}

/// One agent at one moment.
struct Row {
    id: u32,
    x: f64,
    y: f64,
    vx: f32,
    vy: f32,
    cohort: u16,
}

impl Rows<'_> {
    fn iter(&self) -> impl Iterator<Item = Row> + '_ {
        self.order.iter().map(|&row| {
            let row = row as usize;
            let position = self.frame.position(row);
            Row {
                id: self.frame.id[row],
                x: position.x,
                y: position.y,
                vx: self.frame.vx[row],
                vy: self.frame.vy[row],
                cohort: self.frame.cohort[row],
            }
        })
    }
}

type Opened = Result<Box<dyn Sink>, Fault>;

/// What a file can be, and who writes, continues and reads it.
struct Format {
    extensions: &'static [&'static str],
    create: fn(&Path, &RunInfo, f64) -> Opened,
    resume: fn(&Path, &RunInfo, f64, &RecordPosition) -> Opened,
    read: fn(&Path, &mut Builder) -> Result<(), Fault>,
}

const FORMATS: &[Format] = &[
    #[cfg(feature = "sqlite")]
    Format {
        extensions: &["sqlite", "db"],
        create: |path, info, fps| Ok(Box::new(sqlite::Sqlite::create(path, info, fps)?)),
        resume: |path, info, _, position| Ok(Box::new(sqlite::Sqlite::resume(path, info, position)?)),
        read: sqlite::read,
    },
    Format {
        extensions: &["txt"],
        create: |path, info, fps| Ok(Box::new(text::Text::create(path, info, fps)?)),
        resume: |path, info, fps, position| Ok(Box::new(text::Text::resume(path, info, fps, position)?)),
        read: text::read,
    },
    Format {
        extensions: &["csv"],
        create: |path, info, _| Ok(Box::new(csv::Csv::create(path, info)?)),
        resume: |path, info, _, position| Ok(Box::new(csv::Csv::resume(path, info, position)?)),
        read: csv::read,
    },
    #[cfg(feature = "parquet")]
    Format {
        extensions: &["parquet"],
        create: |path, info, fps| Ok(Box::new(parquet::Parquet::create(path, info, fps)?)),
        resume: |_, _, _, _| Err(parquet::is_complete()),
        read: parquet::read,
    },
];

/// Extensions that need a feature of the build.
const FEATURES: [(&str, &str); 3] = [("sqlite", "sqlite"), ("db", "sqlite"), ("parquet", "parquet")];

impl Format {
    fn of(path: &Path) -> Result<&'static Format, RecordError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let extension = extension.to_ascii_lowercase();
        let found = FORMATS.iter().find(|format| format.extensions.contains(&extension.as_str()));
        found.ok_or_else(|| match FEATURES.iter().find(|(needs, _)| *needs == extension) {
            Some((_, feature)) => RecordError::NotBuilt { path: path.to_owned(), feature },
            None => RecordError::UnknownFormat { path: path.to_owned() },
        })
    }
}

impl Recorder {
    /// Records a simulation from where it stands. Creates a file, or empties the one that is there.
    pub fn create(path: impl AsRef<Path>, simulation: &Simulation) -> Result<Recorder, RecordError> {
        Recorder::create_with(path, simulation.info(), RecordOptions::default())
    }

    /// Creates a file, or empties the one that is there.
    pub fn create_with(
        path: impl AsRef<Path>,
        info: &RunInfo,
        options: RecordOptions,
    ) -> Result<Recorder, RecordError> {
        let path = path.as_ref();
        let format = Format::of(path)?;
        let stride = stride(path, info.dt, options)?;
        let fps = true_fps(info.dt, stride);
        let sink = (format.create)(path, info, fps).map_err(|fault| fault.on_write(path))?;
        let position = RecordPosition {
            frames: 0,
            rows: 0,
            bytes: 0,
            stride,
            last_step: None,
            geometries: 0,
            geometry_hash: 0,
            footprints: 0,
            last_seen: None,
            map_changes: None,
        };
        Ok(Recorder::over(path, sink, fps, position))
    }

    /// Reopens a file at a [`RecordPosition`], cuts off what was written after it, and goes on from there.
    ///
    /// `info` and `options` must be those that the file was created with.
    pub fn resume(
        path: impl AsRef<Path>,
        info: &RunInfo,
        options: RecordOptions,
        position: &RecordPosition,
    ) -> Result<Recorder, RecordError> {
        let path = path.as_ref();
        let format = Format::of(path)?;
        let stride = stride(path, info.dt, options)?;
        let fps = true_fps(info.dt, stride);
        let sink = check_stride(stride, position)
            .and_then(|()| (format.resume)(path, info, fps, position))
            .map_err(|fault| fault.on_resume(path))?;
        Ok(Recorder::over(path, sink, fps, position.clone()))
    }

    fn over(path: &Path, sink: Box<dyn Sink>, fps: f64, position: RecordPosition) -> Recorder {
        Recorder {
            path: path.to_owned(),
            sink,
            fps,
            position,
            order: Vec::new(),
            rows_unsaved: 0,
            last_save: Instant::now(),
            closed: false,
        }
    }

    /// Takes a moment of the run: call it for the start and after every step. Not every moment is written.
    ///
    /// A moment that is already in the file is passed over, so a resumed run may show its first one again.
    /// So is an agent whose position or velocity is not finite, because no format can hold it.
    pub fn frame(&mut self, frame: Frame<'_>) -> Result<(), RecordError> {
        self.footprints(&frame)?;
        let seen = self.position.last_step.is_some_and(|last| frame.step <= last);
        if self.closed || seen || !frame.step.is_multiple_of(self.position.stride) {
            return Ok(());
        }
        self.geometry_of(&frame)?;
        self.order_by_id(&frame);
        let rows = Rows { number: self.position.frames, frame, order: &self.order };
        let written = self.sink.frame(&rows);
        self.guard(written)?;
        self.position.frames += 1;
        self.position.rows += self.order.len() as u64;
        self.position.last_step = Some(frame.step);
        self.rows_unsaved += self.order.len() as u64;
        self.save_when_due()
    }

    /// Feet are put down between written frames too.
    fn footprints(&mut self, frame: &Frame<'_>) -> Result<(), RecordError> {
        let seen = self.position.last_seen.is_some_and(|last| frame.step <= last);
        if self.closed || seen || frame.planted.is_empty() {
            return Ok(());
        }
        self.position.last_seen = Some(frame.step);
        let written = self.sink.footprints(frame);
        self.guard(written)
    }

    /// Lets the frames to come refer to another geometry where the map has changed. Only sqlite files can hold more than one.
    fn geometry_of(&mut self, frame: &Frame<'_>) -> Result<(), RecordError> {
        let before = self.position.map_changes.replace(frame.map_changes);
        // The first frame is of the geometry that the file was created with, unless the map has changed before.
        if before.unwrap_or_default() == frame.map_changes {
            return Ok(());
        }
        self.geometry(&frame.walkable_wkt())
    }

    /// Lets the frames to come refer to another geometry, as WKT. [`Recorder::frame`] does that by itself.
    pub fn geometry(&mut self, wkt: &str) -> Result<(), RecordError> {
        let changed = self.sink.geometry(wkt);
        self.guard(changed)
    }

    /// Frames a second in the file, which need not be those that were asked for.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// Brings everything to disk and says where the file stands, for [`Recorder::resume`].
    pub fn position(&mut self) -> Result<RecordPosition, RecordError> {
        let located = self.sink.save().and_then(|()| self.sink.locate(&mut self.position));
        self.guard(located)?;
        Ok(self.position.clone())
    }

    /// Completes the file.
    pub fn finish(mut self) -> Result<Recording, RecordError> {
        let finished = self.sink.finish();
        self.guard(finished)?;
        self.closed = true;
        let bytes = fs::metadata(&self.path).map_err(|error| Fault::from(error).on_write(&self.path))?.len();
        Ok(Recording {
            path: std::mem::take(&mut self.path),
            frames: self.position.frames,
            rows: self.position.rows,
            bytes,
        })
    }

    fn order_by_id(&mut self, frame: &Frame<'_>) {
        let finite = |row: &u32| {
            let row = *row as usize;
            (frame.x[row] + frame.y[row] + frame.vx[row] + frame.vy[row]).is_finite()
        };
        self.order.clear();
        self.order.extend((0..frame.len() as u32).filter(finite));
        self.order.sort_unstable_by_key(|&row| frame.id[row as usize]);
    }

    fn save_when_due(&mut self) -> Result<(), RecordError> {
        if self.rows_unsaved < ROWS_BETWEEN_SAVES && self.last_save.elapsed() < TIME_BETWEEN_SAVES {
            return Ok(());
        }
        self.rows_unsaved = 0;
        self.last_save = Instant::now();
        let saved = self.sink.save();
        self.guard(saved)
    }

    /// Names the file in an error, and lets nothing follow it: half a frame must not be continued.
    fn guard(&mut self, result: Result<(), Fault>) -> Result<(), RecordError> {
        result.map_err(|fault| {
            self.closed = true;
            fault.on_write(&self.path)
        })
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if !self.closed {
            // There is no caller left to hear of an error here; `finish` is for those who want to.
            let _ = self.sink.finish();
        }
    }
}

/// How many steps lie between written frames.
fn stride(path: &Path, dt: f64, options: RecordOptions) -> Result<u64, RecordError> {
    let checked = |key, value: f64| {
        if value.is_finite() && value > 0.0 {
            return Ok(value);
        }
        Err(RecordError::BadRate { path: path.to_owned(), key, value })
    };
    let dt = checked("dt", dt)?;
    let steps = match options.fps {
        Some(fps) => (1.0 / (dt * checked("fps", fps)?)).round(),
        // A hair off the quotient, so that 0.1 s at 10 frames a second is one step and not two.
        None => (1.0 / (dt * DEFAULT_FPS) - 1e-6).ceil(),
    };
    Ok(steps.max(1.0) as u64)
}

/// The file's frames a second, a whole number where only rounding keeps it from one.
fn true_fps(dt: f64, stride: u64) -> f64 {
    tidy(1.0 / (dt * stride as f64))
}

/// The nearest whole number where it is very near.
fn tidy(fps: f64) -> f64 {
    if (fps - fps.round()).abs() < 1e-6 * fps { fps.round() } else { fps }
}

fn check_stride(stride: u64, position: &RecordPosition) -> Result<(), Fault> {
    if stride == position.stride {
        return Ok(());
    }
    Err(Fault::Content(format!(
        "it holds every {}. step, and now every {stride}. is asked for; keep `dt` and `fps` as they were",
        position.stride
    )))
}

#[cfg(all(test, feature = "parquet", feature = "sqlite"))]
mod tests;
