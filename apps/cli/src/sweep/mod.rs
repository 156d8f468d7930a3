//! `throng sweep`: a scenario over a grid of values and seeds, a row for each run.
//!
//! Runs go side by side, and each on one thread: many short runs make better use of cores than one run on all of them,
//! and a step of a small crowd is over before a second thread has woken.

mod grid;
mod parquet;
mod row;
mod store;
mod table;
pub mod workers;

use crate::changes::Changes;
use crate::progress::Runs;
use crate::session::Ended;
use crate::summary::count;
use crate::{files, interrupt, opening, output};
use anyhow::{anyhow, bail};
use grid::{Axis, Grid, Point, Seeds};
use row::{Column, Row};
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::{Journal, Origin, Store};
use throng::Simulation;
use throng::metrics::Metrics;
use throng::report::Report;
use throng::scenario::{Overrides, Scenario};

const AFTER_HELP: &str = "\
Every value of a key with every value of the others and every seed is one run and one row: the keys, `seed`, `finished`
(whether all arrived before `until`), then the figures of `throng run --report`. Called again, the command goes on
where it was broken off, and it may be given more values and seeds. OUT.sweep.json says what the rows come from.
Times in the rows (wall_s, step_us_mean ..) are of runs side by side; for times that count, use --threads 1.

Example:
  throng sweep crossing --over pipeline.microscale=orca,hrvo --over agents.0.count=20,40 --seeds 1..5 -o crossing.csv
  throng sweep meso-b --over 'pipeline.mesoscale=[],[\"groups\"]' --seeds 1..10 -o groups.parquet";

/// Run a scenario over a grid of values and seeds, and write a row for each run
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// A scenario file, or a built-in's name as `throng list scenarios` prints it
    file: PathBuf,
    /// A key and its values, as --set takes them: `pipeline.microscale=orca,hrvo`, `params.orca.time_horizon=2,3`; may be
    /// repeated
    #[arg(long, value_name = "KEY=V1,V2,..", value_parser = grid::axis, required_unless_present = "seeds")]
    over: Vec<Axis>,
    /// Seeds: `1..10` is ten of them, `1,2,5` three [default: the scenario's own]
    #[arg(long, value_name = "S", value_parser = grid::seeds, allow_hyphen_values = true)]
    seeds: Option<Seeds>,
    /// The file of rows; the ending says the format: .csv or .parquet
    #[arg(short, long, value_name = "OUT", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Begin anew, and lose what OUT holds
    #[arg(long)]
    restart: bool,
    /// Check everything, list the combinations, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// Runs at a time, 0 for as many as there are cores; rows are the same on any number
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..=1024), allow_negative_numbers = true)]
    threads: i64,
    #[command(flatten)]
    changes: Changes,
}

/// Makes all runs that are not there yet.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let sweep = Sweep::new(&args)?;
    let store = args.output.as_ref().map(|out| sweep.store(out, &args)).transpose()?;
    let there = store.as_ref().map(Store::rows).transpose()?.unwrap_or_default();

    interrupt::listen();
    let Some(checked) = sweep.check()? else {
        return Ok(interrupted("before the first run"));
    };
    let (Some(store), Some(out), false) = (store, &args.output, args.dry_run) else {
        output::show(&sweep.plan(&sweep.sort(there)))?;
        return Ok(ExitCode::SUCCESS);
    };
    let (mut journal, there) = store.begin(&checked.columns)?;
    let mut rows = sweep.sort(there);
    sweep.make(&checked, &mut rows, &mut journal)?;

    let Some(of_grid) = rows.of_grid.iter().cloned().collect::<Option<Vec<Row>>>() else {
        let (made, all) = (rows.of_grid.iter().flatten().count(), sweep.grid.len());
        let path = journal.path().display();
        return Ok(interrupted(&format!("{made} of {all} runs are in {path}, and the same command goes on")));
    };
    journal.finish(&[&of_grid[..], &rows.others].concat())?;
    let mut text = format!("{}\n{}", table::text(&sweep.grid, &of_grid), count(of_grid.len(), "run"));
    text += &format!(" in {}", out.display());
    if !rows.others.is_empty() {
        text += &format!(", and {} of an earlier grid", rows.others.len());
    }
    output::show(&(text + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn interrupted(how_far: &str) -> ExitCode {
    output::note(&format!("interrupted: {how_far}"));
    ExitCode::from(1)
}

/// A sweep that makes sense as far as the command line goes.
struct Sweep {
    text: opening::Text,
    /// The scenario without the grid.
    base: Scenario,
    /// What is changed in all runs.
    set: Overrides,
    grid: Grid,
    threads: usize,
}

/// What is known of all runs before the first.
struct Checked {
    columns: Vec<Column>,
    /// By run, a hash of all that its scenario holds.
    scenario: Vec<u64>,
}

/// Rows that are there.
struct Rows {
    /// By run.
    of_grid: Vec<Option<Row>>,
    /// Of values and seeds that the grid does not have: they may still be wanted.
    others: Vec<Row>,
}

impl Sweep {
    fn new(args: &Args) -> anyhow::Result<Sweep> {
        let set = args.changes.overrides();
        if args.seeds.is_some() && set.set.iter().any(|(key, _)| key == "seed") {
            bail!("`--set seed` and --seeds contradict each other; leave one of them out");
        }
        let base = opening::scenario(&args.file, &set)?;
        let seeds = args.seeds.as_ref().map_or(vec![base.seed], |seeds| seeds.0.clone());
        Ok(Sweep {
            text: opening::Text::of(&args.file)?,
            grid: Grid::new(args.over.clone(), seeds, &set)?,
            threads: workers::threads(args.threads as usize),
            base,
            set,
        })
    }

    fn store(&self, out: &Path, args: &Args) -> anyhow::Result<Store> {
        let keys = self.grid.axes.iter().map(|axis| axis.key.clone()).collect();
        let store = Store::new(out, Origin::new(&self.base, keys)?, args.restart)?;
        for path in store.files() {
            files::check_different(&[("the scenario", Some(&args.file)), ("-o", Some(&path))])?;
        }
        Ok(store)
    }

    /// Checks every run; nothing after Ctrl-C.
    fn check(&self) -> anyhow::Result<Option<Checked>> {
        let runs: Vec<usize> = (0..self.grid.len()).collect();
        let mut scenario = vec![0; runs.len()];
        // Different reports, by the first run that has them, and the first mistake: the same on any number of threads.
        let mut reports: Vec<(usize, Vec<Column>)> = Vec::new();
        let mut mistake: Option<(usize, anyhow::Error)> = None;
        let (mut done, progress) = (0, Runs::new("runs checked", runs.len()));
        let take = |run: usize, result: anyhow::Result<(u64, Vec<Column>)>| {
            done += 1;
            progress.at(done);
            match result {
                Ok((hash, columns)) => {
                    scenario[run] = hash;
                    match reports.iter_mut().find(|(_, other)| *other == columns) {
                        Some((first, _)) => *first = run.min(*first),
                        None => reports.push((run, columns)),
                    }
                }
                Err(error) if mistake.as_ref().is_none_or(|(first, _)| run < *first) => {
                    mistake = Some((run, error));
                }
                Err(_) => {}
            }
            mistake.is_none() && !interrupt::requested()
        };
        workers::spread(&runs, self.threads, |run, _| self.check_run(run), take, || {})?;
        progress.clear();
        if let Some((_, error)) = mistake {
            return Err(error);
        }
        reports.sort_by_key(|(first, _)| *first);
        let reports: Vec<Vec<Column>> = reports.into_iter().map(|(_, columns)| columns).collect();
        let columns = row::all_columns(&self.grid.axes, &reports)?;
        Ok((done == runs.len()).then_some(Checked { columns, scenario }))
    }

    /// Builds a run and looks at the report it would give.
    fn check_run(&self, run: usize) -> anyhow::Result<(u64, Vec<Column>)> {
        let scenario = self.scenario(&self.grid.point(run))?;
        let simulation = Simulation::with_threads(&scenario, 1)?;
        let report = Report::new(&simulation, &Metrics::default(), Duration::ZERO);
        Ok((hash(&scenario), row::columns(&report)?))
    }

    fn scenario(&self, point: &Point<'_>) -> anyhow::Result<Scenario> {
        self.text.scenario(&self.grid.overrides(point, &self.set)).map_err(|error| {
            let values = self.grid.axes.iter().zip(&point.values);
            // The engine knows of no other way to set a key.
            let error = values.fold(error.to_string(), |error, (Axis { key, .. }, value)| {
                let written = &value.written;
                error.replace(&format!("--set {key}={written}"), &format!("--over {key}={written}"))
            });
            anyhow!("{error}\nin the run with {}", self.grid.describe(point))
        })
    }

    /// Rows by run.
    fn sort(&self, rows: Vec<Row>) -> Rows {
        let place: HashMap<Vec<String>, usize> =
            (0..self.grid.len()).map(|run| (row::id_of(&self.grid.point(run)), run)).collect();
        let mut sorted = Rows { of_grid: vec![None; self.grid.len()], others: Vec::new() };
        for row in rows {
            match place.get(&row::id(&row, &self.grid.axes)) {
                Some(&run) => sorted.of_grid[run] = Some(row),
                None => sorted.others.push(row),
            }
        }
        sorted
    }

    /// Makes the runs that are missing, until all are there, or until Ctrl-C.
    fn make(&self, checked: &Checked, rows: &mut Rows, journal: &mut Journal) -> anyhow::Result<()> {
        let missing: Vec<usize> = (0..self.grid.len()).filter(|&run| rows.of_grid[run].is_none()).collect();
        let progress = Runs::new("runs", missing.len());
        let done = Cell::new(0);
        let mut trouble = None;
        let take = |run: usize, result: anyhow::Result<Option<Row>>| {
            match result.and_then(|row| row.map(|row| journal.add(&row).map(|()| row)).transpose()) {
                Ok(row) => rows.of_grid[run] = row,
                Err(error) => trouble = trouble.take().or(Some(error)),
            }
            done.set(done.get() + 1);
            progress.at(done.get());
            trouble.is_none() && !interrupt::requested()
        };
        let work = |run, stop: &AtomicBool| self.make_run(run, checked.scenario[run], stop);
        let spread = workers::spread(&missing, self.threads, work, take, || progress.at(done.get()));
        progress.clear();
        spread?;
        trouble.map_or(Ok(()), Err)
    }

    /// A run from its beginning to its end; nothing if it was broken off.
    fn make_run(&self, run: usize, checked: u64, stop: &AtomicBool) -> anyhow::Result<Option<Row>> {
        let point = self.grid.point(run);
        let scenario = self.scenario(&point)?;
        if hash(&scenario) != checked {
            bail!(
                "a map of the scenario has changed since the sweep began; put it back, or begin anew with --restart"
            );
        }
        let mut simulation = Simulation::with_threads(&scenario, 1)?;
        let (begin, mut metrics) = (Instant::now(), Metrics::default());
        simulation.on_threads(|simulation| {
            while !simulation.is_done() && !interrupt::requested() && !stop.load(Ordering::Relaxed) {
                simulation.step();
                metrics.observe(simulation);
            }
        });
        let report = Report::new(&simulation, &metrics, begin.elapsed());
        match Ended::of(&simulation) {
            Ended::Interrupted => Ok(None),
            ended => row::row(&self.grid, &point, ended == Ended::Arrived, &report).map(Some),
        }
    }

    /// What would be run.
    fn plan(&self, rows: &Rows) -> String {
        let seeds = self.grid.seeds.len();
        let there = |rows: &[Option<Row>]| rows.iter().flatten().count();
        let cells: Vec<String> = rows
            .of_grid
            .chunks(seeds)
            .map(|rows| match there(rows) {
                0 => count(seeds, "run"),
                there => format!("{}, {there} there already", count(seeds, "run")),
            })
            .collect();
        let (all, combinations) = (self.grid.len(), self.grid.combinations());
        format!(
            "{}\n{}: {} with {}; {} to do\n",
            table::list(&self.grid, &cells),
            count(all, "run"),
            count(combinations, "combination"),
            count(seeds, "seed"),
            all - there(&rows.of_grid)
        )
    }
}

/// Tells one scenario from another within this process.
fn hash(scenario: &Scenario) -> u64 {
    let mut hasher = DefaultHasher::new();
    scenario.source.hash(&mut hasher);
    hasher.finish()
}
