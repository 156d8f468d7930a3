//! Checkpoints: a running simulation as one file, from which it goes on bit by bit.
//!
//! A file is written beside its final name, brought to disk, and only then renamed: a crash in the middle
//! keeps the one before.

use crate::crowd::{Crowd, LoadError, checksum};
use crate::measure::Observer;
use crate::metrics::Metrics;
use crate::record::RecordPosition;
use crate::scenario::{Scenario, ScenarioError};
use crate::simulation::{Progress, Simulation};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use throng_core::world::Departure;

const MAGIC: &[u8; 8] = b"throngCb";

/// How the checkpoints of all versions begin; the next byte tells them apart.
const FAMILY: &[u8; 7] = b"throngC";

/// A moment of a run, complete.
#[derive(Serialize, Deserialize)]
pub struct Checkpoint {
    /// The scenario, as JSON: its timetable goes on.
    pub scenario: String,
    /// The crowd, with all that was done to it.
    crowd: Vec<u8>,
    /// How far its timetable is.
    progress: Progress,
    /// Who has left.
    departed: Vec<Departure>,
    /// What the scenario's measures have seen so far.
    observers: Vec<Observer>,
    /// What has been counted so far.
    pub metrics: Metrics,
    /// Where the recording stood.
    pub recording: Option<RecordPosition>,
}

/// Why a checkpoint cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The system refused.
    #[error("{path}: {reason}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// The file does not hold what a checkpoint must.
    #[error("{path}: not a whole checkpoint ({reason}); use an older one, or start the run again", path = path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It is one, but not as this version writes them.
    #[error(
        "{path}: a checkpoint of another version of throng (its format is {found}, this one reads {known}); go on with \
         the version that wrote it, or start the run again",
        path = path.display(), known = char::from(MAGIC[FAMILY.len()])
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// How its format is numbered.
        found: char,
    },
    /// Its scenario cannot be read by this version.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Its crowd cannot be made again.
    #[error(transparent)]
    Crowd(#[from] LoadError),
}

impl Checkpoint {
    /// The moment that a simulation is at.
    pub fn of(
        simulation: &Simulation,
        metrics: Metrics,
        recording: Option<RecordPosition>,
    ) -> Result<Checkpoint, CheckpointError> {
        Ok(Checkpoint {
            scenario: simulation.source().into(),
            crowd: simulation.save()?,
            progress: simulation.progress(),
            departed: simulation.departed().to_vec(),
            observers: simulation.observers().to_vec(),
            metrics,
            recording,
        })
    }

    /// Writes it, so that the file holds either this or what it held before.
    pub fn save(&self, path: &Path) -> Result<(), CheckpointError> {
        let failed = |reason: std::io::Error| CheckpointError::Io { path: path.into(), reason };
        let body = postcard::to_stdvec(self).map_err(|error| failed(std::io::Error::other(error)))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        for part in [MAGIC.as_slice(), &checksum(&body).to_le_bytes(), &body] {
            file.write_all(part).map_err(failed)?;
        }
        file.as_file().sync_all().map_err(failed)?;
        file.persist(path).map_err(|error| failed(error.error))?;
        // The rename itself must be on disk too. Not every system can say so of a folder, and then it does not matter.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// Reads one.
    pub fn load(path: &Path) -> Result<Checkpoint, CheckpointError> {
        let bytes =
            std::fs::read(path).map_err(|reason| CheckpointError::Io { path: path.into(), reason })?;
        let broken = |reason: &str| CheckpointError::Broken { path: path.into(), reason: reason.into() };
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| match bytes.strip_prefix(FAMILY) {
            Some([version, ..]) if version.is_ascii_alphanumeric() => {
                CheckpointError::OtherVersion { path: path.into(), found: char::from(*version) }
            }
            _ => broken("it does not begin like one"),
        })?;
        let (sum, body) = rest.split_first_chunk::<8>().ok_or_else(|| broken("it is cut off"))?;
        if u64::from_le_bytes(*sum) != checksum(body) {
            return Err(broken("its checksum is wrong"));
        }
        postcard::from_bytes(body).map_err(|error| broken(&error.to_string()))
    }

    /// The simulation as it was, on a number of threads (0: all cores).
    pub fn resume(self, threads: usize) -> Result<Simulation, CheckpointError> {
        let scenario = Scenario::parse(&self.scenario, "checkpoint.json", None)?;
        let crowd = Crowd::load_on(&self.crowd, Some(threads))?;
        Ok(Simulation::resumed(&scenario, crowd, self.progress, self.departed, self.observers))
    }
}
