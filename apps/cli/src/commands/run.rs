//! `throng run`.

use crate::changes::{self, Changes};
use crate::files::{self, Promised};
use crate::progress::Progress;
use crate::session::{Checkpoints, Ended, Outcome, Session};
use crate::{interrupt, opening, output, summary};
use anyhow::{Context, anyhow, bail};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use throng::checkpoint::{Checkpoint, CheckpointError};
use throng::expect;
use throng::metrics::Metrics;
use throng::record::{RecordOptions, RecordPosition};
use throng::report::Report;
use throng::scenario::{Overrides, Scenario};
use throng::{Recorder, Simulation};

/// Run a scenario
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A scenario file, or a built-in's name as `throng list scenarios` prints it; may be left out with --resume
    #[arg(required_unless_present = "resume")]
    file: Option<PathBuf>,
    /// Threads to spread the steps over, 0 for all cores; the result is the same on any number
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..=1024), allow_negative_numbers = true)]
    threads: i64,
    /// Record trajectories; the ending says the format: .sqlite (JuPedSim, PedPy), .txt (PedPy), .csv or .parquet
    #[arg(long, value_name = "OUT")]
    record: Option<PathBuf>,
    /// Recorded frames a second [default: 10, or one a step where steps are longer]
    #[arg(long, value_name = "F", requires = "record", allow_negative_numbers = true)]
    fps: Option<f64>,
    /// Write the report as JSON; `-` prints it instead of the summary
    #[arg(long, value_name = "OUT")]
    report: Option<PathBuf>,
    /// Save the state to this file on the way and at the end, so that the run can go on with --resume
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Simulated seconds between two checkpoints
    #[arg(long, value_name = "T", default_value_t = 60.0, value_parser = super::positive, requires = "checkpoint", allow_negative_numbers = true)]
    every: f64,
    /// Go on from a checkpoint; it carries its scenario, and its recording goes on with --record
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    /// Key of all random draws
    #[arg(long, value_name = "S", allow_negative_numbers = true, help_heading = changes::HEADING)]
    seed: Option<u64>,
}

/// Runs a scenario.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    args.check_paths()?;
    let (scenario, start) = args.start()?;
    scenario.warnings().iter().for_each(|warning| output::warn(warning));
    let report = args.report_file()?;
    let session = args.session(start)?;

    interrupt::listen();
    let mut progress = Progress::new(&session.simulation, scenario.until);
    let outcome = session.run(|simulation| progress.at(simulation));
    progress.clear();
    let outcome = outcome?;

    args.tell(&scenario, &outcome, report)?;
    Ok(args.verdict(&scenario, &outcome))
}

/// Where a run begins.
struct Start {
    simulation: Simulation,
    metrics: Metrics,
    recording: Option<RecordPosition>,
}

impl Args {
    fn overrides(&self) -> Overrides {
        Overrides { seed: self.seed, ..self.changes.overrides() }
    }

    fn check_paths(&self) -> anyhow::Result<()> {
        files::check_different(&[
            ("the scenario", self.file.as_deref()),
            ("--record", self.record.as_deref()),
            ("--report", self.report.as_deref()),
            ("--checkpoint", self.checkpoint.as_deref()),
            // A run may go on saving where it was saved.
            ("--resume", self.resume.as_deref().filter(|&path| self.checkpoint.as_deref() != Some(path))),
        ])?;
        let Some(checkpoint) = self.checkpoint.as_deref() else { return Ok(()) };
        if self
            .record
            .as_deref()
            .and_then(Path::extension)
            .is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
        {
            bail!(
                "a .parquet recording cannot go on after a checkpoint; record to .sqlite, .csv or .txt instead"
            );
        }
        files::check_folder_of(checkpoint)
    }

    /// The scenario and its beginning, or the moment of a checkpoint.
    fn start(&self) -> anyhow::Result<(Scenario, Start)> {
        if let Some(path) = &self.resume {
            return self.resumed(path);
        }
        let file = self.file.as_deref().context("a scenario file is needed")?;
        let scenario = opening::scenario(file, &self.overrides())?;
        let simulation = Simulation::with_threads(&scenario, self.threads as usize)?;
        Ok((scenario, Start { simulation, metrics: Metrics::default(), recording: None }))
    }

    /// A checkpoint's scenario may get another end, and nothing else.
    fn resumed(&self, path: &Path) -> anyhow::Result<(Scenario, Start)> {
        let mut checkpoint = Checkpoint::load(path).map_err(|error| cannot_resume(path, error))?;
        let overrides = self.overrides();
        let only_end = Overrides { until: overrides.until, ..Overrides::default() };
        let of_checkpoint = |overrides: &Overrides| {
            Scenario::parse_with(&checkpoint.scenario, "checkpoint.json", None, overrides)
        };
        let scenario = of_checkpoint(&only_end)?;
        let asked = match &self.file {
            Some(file) => opening::scenario(file, &overrides)?,
            None => of_checkpoint(&overrides)?,
        };
        if asked.source != scenario.source {
            bail!(
                "`{}` was saved by a run of another scenario than this command line gives; leave out the scenario \
                 file and the options that change it (only --until may differ), or start a new run without --resume",
                path.display()
            );
        }
        checkpoint.scenario.clone_from(&scenario.source);
        let (metrics, recording) = (checkpoint.metrics, checkpoint.recording.take());
        let simulation = checkpoint.resume(self.threads as usize)?;
        Ok((scenario, Start { simulation, metrics, recording }))
    }

    fn prints_report(&self) -> bool {
        self.report.as_deref() == Some(Path::new("-"))
    }

    fn report_file(&self) -> anyhow::Result<Option<Promised>> {
        let path = self.report.as_deref().filter(|_| !self.prints_report());
        path.map(Promised::new).transpose()
    }

    fn session(&self, start: Start) -> anyhow::Result<Session> {
        if !start.simulation.is_reproducible() {
            output::warn(
                "plans are made until a deadline, so this run is not reproducible: without `deadline` it would be",
            );
        }
        let recorder = self.recorder(&start)?;
        let mut session = Session::new(start.simulation, start.metrics);
        if let Some(recorder) = recorder {
            session.record(recorder);
        }
        if let Some(path) = self.checkpoint.clone() {
            session.save(Checkpoints { path, every: self.every });
        }
        Ok(session)
    }

    fn recorder(&self, start: &Start) -> anyhow::Result<Option<Recorder>> {
        let Some(path) = &self.record else { return Ok(None) };
        let info = start.simulation.info();
        let recorder = match &start.recording {
            None => Recorder::create_with(path, info, RecordOptions { fps: self.fps }),
            Some(position) => {
                let fps = self.fps.unwrap_or(1.0 / (info.dt * position.stride as f64));
                Recorder::resume(path, info, RecordOptions { fps: Some(fps) }, position)
            }
        };
        let recorder = recorder?;
        if let Some(asked) = self.fps.filter(|asked| (asked - recorder.fps()).abs() > 1e-6) {
            output::warn(&format!(
                "recording {:.6} frames a second instead of {asked}: a frame is a whole number of steps of {} s",
                recorder.fps(),
                info.dt
            ));
        }
        Ok(Some(recorder))
    }

    /// Prints the summary, or writes the report, or both.
    fn tell(&self, scenario: &Scenario, outcome: &Outcome, report: Option<Promised>) -> anyhow::Result<()> {
        let json = format!("{}\n", serde_json::to_string_pretty(&FullReport::of(outcome))?);
        if let Some(report) = report {
            report.write(json.as_bytes())?;
        }
        if self.prints_report() {
            return output::show(&json);
        }
        let mut text = summary::of(scenario, outcome);
        if let Some(path) = &self.report {
            text += &format!("report    {}\n", path.display());
        }
        if let Some(path) = &self.checkpoint {
            text += &format!("saved     {}: go on with `throng run --resume {0}`\n", path.display());
        }
        output::show(&text)
    }

    /// Whether the run did what its scenario expects. Of a run that was broken off, nothing can be said.
    fn verdict(&self, scenario: &Scenario, outcome: &Outcome) -> ExitCode {
        if outcome.ended == Ended::Interrupted {
            if self.prints_report() {
                output::note(&format!("interrupted at t = {:.1} s", outcome.report.simulated_s));
            }
            return ExitCode::from(1);
        }
        let mut code = ExitCode::SUCCESS;
        for expectation in expect::compare(&scenario.expect, &outcome.report) {
            if !expectation.holds() {
                output::note(&format!("not as expected: {expectation}"));
                code = ExitCode::from(1);
            }
        }
        code
    }
}

fn cannot_resume(path: &Path, error: CheckpointError) -> anyhow::Error {
    match error {
        CheckpointError::Io { reason, .. } => {
            anyhow!("cannot read the checkpoint `{}`: {}", path.display(), output::reason(&reason))
        }
        error => error.into(),
    }
}

/// The engine's report, and how the run ended.
#[derive(Serialize)]
struct FullReport<'a> {
    #[serde(flatten)]
    report: &'a Report,
    ended: Ended,
}

impl FullReport<'_> {
    fn of(outcome: &Outcome) -> FullReport<'_> {
        FullReport { report: &outcome.report, ended: outcome.ended }
    }
}
