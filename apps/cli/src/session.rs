//! A run in progress: the simulation, and everything that watches it.

use crate::interrupt;
use anyhow::anyhow;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;
use throng::Simulation;
use throng::checkpoint::{Checkpoint, CheckpointError};
use throng::metrics::Metrics;
use throng::record::{RecordError, Recorder, Recording};
use throng::report::Report;
use throng::simulation::Unreachable;

/// A run in progress.
pub struct Session {
    /// What runs.
    pub simulation: Simulation,
    metrics: Metrics,
    recorder: Option<Recorder>,
    checkpoints: Option<Checkpoints>,
    begin: Instant,
}

/// Where and how often the state is saved.
pub struct Checkpoints {
    /// The file.
    pub path: PathBuf,
    /// Simulated time between two, s.
    pub every: f64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// All arrived.
    Arrived,
    /// The time was over.
    Until,
    /// Ctrl-C was pressed.
    Interrupted,
}

impl Ended {
    /// Why a run ended that goes no further.
    pub fn of(simulation: &Simulation) -> Ended {
        match simulation.is_done() {
            false => Ended::Interrupted,
            true if simulation.arrived() == simulation.agents() && simulation.to_come() == 0 => {
                Ended::Arrived
            }
            true => Ended::Until,
        }
    }
}

/// What is left of a run.
pub struct Outcome {
    /// Why it ended.
    pub ended: Ended,
    /// Its figures.
    pub report: Report,
    /// The first of those who have no path to their goals.
    pub first_unreachable: Option<Unreachable>,
    /// The file that it was recorded to.
    pub recording: Option<Recording>,
}

impl Session {
    /// A session that begins, or goes on with what was measured so far.
    pub fn new(simulation: Simulation, metrics: Metrics) -> Session {
        Session { simulation, metrics, recorder: None, checkpoints: None, begin: Instant::now() }
    }

    /// Records it.
    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Saves its state from time to time.
    pub fn save(&mut self, checkpoints: Checkpoints) {
        self.checkpoints = Some(checkpoints);
    }

    /// Runs to the end, and shows every step to `watch`.
    pub fn run(mut self, mut watch: impl FnMut(&Simulation)) -> anyhow::Result<Outcome> {
        let ended = self.steps(&mut watch).map_err(|error| self.stopped(error))?;
        let finished = self.recorder.take().map(Recorder::finish).transpose();
        let recording = finished.map_err(|error| self.stopped(error.into()))?;
        let report = Report::new(&self.simulation, &self.metrics, self.begin.elapsed());
        let unreachable = if report.no_path > 0 { self.simulation.unreachable() } else { Vec::new() };
        let first_unreachable = unreachable.into_iter().next();
        Ok(Outcome { ended, report, first_unreachable, recording })
    }

    fn steps(&mut self, watch: &mut impl FnMut(&Simulation)) -> Result<Ended, Trouble> {
        self.record_frame()?;
        while !self.simulation.is_done() && !interrupt::requested() {
            self.simulation.step();
            self.metrics.observe(&self.simulation);
            self.record_frame()?;
            if self.is_checkpoint_due() {
                self.checkpoint()?;
            }
            watch(&self.simulation);
        }
        // Also at the end: an interrupted run can go on, and a finished one can be given more time.
        self.checkpoint()?;
        Ok(Ended::of(&self.simulation))
    }

    fn record_frame(&mut self) -> Result<(), Trouble> {
        let Some(recorder) = &mut self.recorder else { return Ok(()) };
        Ok(recorder.frame(self.simulation.frame())?)
    }

    /// Whether the last step led past a multiple of the interval: the same moments in a resumed run as in a whole one.
    fn is_checkpoint_due(&self) -> bool {
        let frame = self.simulation.frame();
        let dt = self.simulation.info().dt;
        self.checkpoints.as_ref().is_some_and(|checkpoints| {
            let intervals = |time: f64| (time / checkpoints.every + 1e-9).floor();
            intervals(frame.time) > intervals(frame.time - dt)
        })
    }

    fn checkpoint(&mut self) -> Result<(), Trouble> {
        let Some(Checkpoints { path, .. }) = &self.checkpoints else { return Ok(()) };
        let position = self.recorder.as_mut().map(Recorder::position).transpose()?;
        Ok(Checkpoint::of(&self.simulation, self.metrics, position)?.save(path)?)
    }

    fn stopped(&self, trouble: Trouble) -> anyhow::Error {
        let trouble = match trouble {
            Trouble::Record(error) => error.to_string(),
            Trouble::Checkpoint(error) => format!("cannot save a checkpoint: {error}"),
        };
        anyhow!("{trouble}; the run stopped at t = {:.1} s", self.simulation.frame().time)
    }
}

/// What can go wrong on the way.
enum Trouble {
    Record(RecordError),
    Checkpoint(CheckpointError),
}

impl From<RecordError> for Trouble {
    fn from(error: RecordError) -> Trouble {
        Trouble::Record(error)
    }
}

impl From<CheckpointError> for Trouble {
    fn from(error: CheckpointError) -> Trouble {
        Trouble::Checkpoint(error)
    }
}
