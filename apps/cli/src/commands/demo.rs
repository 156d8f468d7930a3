//! `throng` alone: a first look.

use crate::files::Promised;
use crate::progress::Progress;
use crate::session::{Ended, Session};
use crate::{interrupt, output, summary};
use anyhow::{Context, anyhow};
use std::path::Path;
use std::process::ExitCode;
use throng::metrics::Metrics;
use throng::scenario::Overrides;
use throng::{Recorder, Simulation, builtin, record};
use throng_render::{PictureOptions, picture};

const SCENARIO: &str = "circle";
const PICTURE: &str = "throng-demo.png";

const NEXT: &str = "
Try next:
  throng list scenarios                           what else is ready to run
  throng list models                              models and their parameters
  throng run crossing --record crossing.sqlite    run one and keep the trajectories
  throng render crossing.sqlite -o crossing.png   draw them
  throng help                                     all commands
";

/// Runs a built-in scenario and draws it.
pub fn run() -> anyhow::Result<ExitCode> {
    let file = Promised::new(Path::new(PICTURE))?;
    let scenario = builtin::find(SCENARIO).context("the demo is missing")?.open_with(&Overrides::default())?;
    let folder = tempfile::tempdir().map_err(|error| anyhow!("cannot make a temporary folder: {error}"))?;
    let recording = folder.path().join("demo.sqlite");

    interrupt::listen();
    let mut session = Session::new(Simulation::new(&scenario)?, Metrics::default());
    session.record(Recorder::create(&recording, &session.simulation)?);
    let mut progress = Progress::new(&session.simulation, scenario.until);
    let outcome = session.run(|simulation| progress.at(simulation));
    progress.clear();
    let mut outcome = outcome?;

    // It goes with the folder, so there is nothing to tell of it.
    outcome.recording = None;
    let look = PictureOptions { dark: true, ..PictureOptions::default() };
    file.write(&picture(&record::open_run(&recording)?, &look).to_png())?;
    output::show(&format!("{}picture   {PICTURE}\n{NEXT}", summary::of(&scenario, &outcome)))?;
    Ok(if outcome.ended == Ended::Interrupted { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
