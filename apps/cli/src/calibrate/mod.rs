//! `throng calibrate`: fits values of a scenario to measured figures, on the machinery of `throng sweep`.
//!
//! The misfit of a point is the root mean square over figures of what their means over seeds are off by. All points are run
//! with the same seeds, so that two of them differ by their values and not by their luck.

mod picture;
mod runs;
mod search;
mod target;
mod trajectory;

use crate::changes::{Changes, key_value};
use crate::statistics::{deviation, mean};
use crate::summary::count;
use crate::sweep::grid::{self, Axis, Grid, Point, Seeds, Value, check_keys, plain, words};
use crate::sweep::row::{self, Column, Kind, Row};
use crate::sweep::store::{Origin, Store};
use crate::sweep::{columns_of, workers};
use crate::{files, findings, interrupt, opening, output};
use anyhow::bail;
use runs::Runs;
use search::Stop;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use target::{PlainText, Target, Targets};
use throng::Simulation;
use throng::scenario::Overrides;
use trajectory::Diagram;

const AFTER_HELP: &str = "\
DATA holds figures by their names in `throng run --report`, as .toml (`mean_travel_s = 31.2`, or `{ value = 31.2, error = 0.4 }`),
.json or .csv (`key,value,error`); or it is a recording, of which the speed by density and the flow of those who leave are
measured, as they are of the runs. Every point is run with all seeds. Runs are kept in OUT.runs.csv: called again, the command
goes on where it was broken off.

Examples:
  throng calibrate doorway --to measured.toml --vary params.orca.time_horizon=0.5..4 --seeds 1..5 -o fitted.toml
  throng calibrate corridor.toml --to uo-050-180-180.txt.gz --frame-rate 16 --cm --vary params.headway.time_gap=0.3..1.2";

/// Fit values of a scenario to measured figures or trajectories
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// A scenario file, or a built-in's name as `throng list scenarios` prints it
    file: PathBuf,
    /// Measured figures (.toml, .json, .csv), or a recording
    #[arg(long, value_name = "DATA")]
    to: PathBuf,
    /// Frames a second of a recorded text that does not say so itself (.txt, .txt.gz with lines of `id frame x y`)
    #[arg(long, value_name = "F", value_parser = target::frame_rate)]
    frame_rate: Option<f64>,
    /// Such a text is in centimetres
    #[arg(long, requires = "frame_rate")]
    cm: bool,
    /// A key and the range to look in: `params.orca.time_horizon=0.5..4`; may be repeated
    #[arg(long, value_name = "KEY=LOW..HIGH", value_parser = range, required = true)]
    vary: Vec<Range>,
    /// Fit to this figure of DATA and not to all; may be repeated
    #[arg(long, value_name = "FIGURE")]
    fit: Vec<String>,
    /// Seeds of every point: `1..10` is ten of them
    #[arg(long, value_name = "S", value_parser = grid::seeds, default_value = "1..5")]
    seeds: Seeds,
    /// At most this many points are tried
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    points: u32,
    /// Write the fitted values, as a part of a scenario: .toml
    #[arg(short, long, value_name = "OUT.toml")]
    output: Option<PathBuf>,
    /// Draw the misfit over each value, as .svg
    #[arg(long, value_name = "OUT.svg")]
    picture: Option<PathBuf>,
    /// Begin anew, and lose what OUT.runs.csv holds
    #[arg(long)]
    restart: bool,
    /// Runs at a time, 0 for as many as there are cores; nothing else changes with it
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    threads: u16,
    #[command(flatten)]
    changes: Changes,
}

/// A key and where its value is looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    key: String,
    low: f64,
    high: f64,
}

/// Values are told apart down to this part of their range.
const FINE: f64 = 1000.0;
/// To each side of the fitted place, as parts of the range: where slopes are measured.
const ASIDE: f64 = 0.05;

/// Reads `KEY=LOW..HIGH`.
fn range(text: &str) -> Result<Range, String> {
    const EXAMPLE: &str = "params.orca.time_horizon=0.5..4";
    let wrong = || format!("it must be KEY=LOW..HIGH, such as {EXAMPLE}");
    let (key, ends) = key_value(text).map_err(|_| wrong())?;
    grid::check_key(&key, EXAMPLE)?;
    let (low, high) = ends.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let (low, high) = number(low).zip(number(high)).ok_or_else(wrong)?;
    if low >= high {
        return Err(format!("`{ends}` is empty; the lower end comes first"));
    }
    Ok(Range { key, low, high })
}

impl Range {
    /// The value at a part of the range, with as many digits as are told apart.
    fn at(&self, part: f64) -> Value {
        let number = self.low + (self.high - self.low) * (part * FINE).round() / FINE;
        let digits = 10f64.powf((-((self.high - self.low) / FINE).log10()).ceil() + 1.0);
        Value::new(&plain((number * digits).round() / digits))
    }
}

/// A calibration that makes sense as far as the command line goes.
struct Plan {
    text: opening::Text,
    set: Overrides,
    /// The keys, without values, and the seeds.
    grid: Grid,
    ranges: Vec<Range>,
    targets: Targets,
    most_points: usize,
    threads: usize,
}

/// Fits, or goes on with it.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let plan = Plan::new(&args)?;
    let columns = plan.check()?;
    let (journal, there) = match plan.store(&args)? {
        Some(store) => store.begin(&columns).map(|(journal, there)| (Some(journal), there))?,
        None => (None, Vec::new()),
    };
    interrupt::listen();
    let mut runs = Runs::new(&plan, journal, there);
    let fit = match plan.fit(&mut runs) {
        Err(error) if error.downcast_ref() == Some(&Stop::Interrupted) => {
            let kept =
                runs.journal().map(|path| format!(": runs are in {path}, and the same command goes on"));
            output::note(&format!("interrupted{}", kept.unwrap_or_default()));
            return Ok(ExitCode::from(1));
        }
        fit => fit?,
    };
    let (points, made) = (runs.tried().len(), runs.count());
    runs.finish()?;
    let block = plan.block(&fit, &args);
    if let Some(out) = &args.output {
        files::replace(out, block.as_bytes())?;
    }
    if let Some(path) = &args.picture {
        files::replace(path, picture::svg(&plan.ranges, &fit).as_bytes())?;
    }
    let ended = if fit.ended { "" } else { "; more --points may find a better place" };
    let text =
        format!("{}{}, {}{ended}\n\n{block}", plan.table(&fit), count(points, "point"), count(made, "run"));
    output::show(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What was found.
struct Fit {
    /// As parts of the ranges.
    place: Vec<f64>,
    misfit: f64,
    /// The runs there, by seed.
    rows: Vec<Row>,
    /// Standard errors of the values; nothing with one seed, or where the figures do not determine them.
    errors: Option<Vec<f64>>,
    /// Whether the search came to an end by itself.
    ended: bool,
    /// All places, and their misfits.
    tried: Vec<(Vec<f64>, f64)>,
}

impl Plan {
    fn new(args: &Args) -> anyhow::Result<Plan> {
        let set = args.changes.overrides();
        check_keys("--vary", args.vary.iter().map(|range| range.key.as_str()), &set)?;
        opening::scenario(&args.file, &set)?;
        let text = args.frame_rate.map(|fps| PlainText { fps, scale: if args.cm { 0.01 } else { 1.0 } });
        let targets = Targets::read(&args.to, text, &args.fit)?;
        if targets.all.len() < args.vary.len() {
            let (values, figures) = (count(args.vary.len(), "value"), count(targets.all.len(), "figure"));
            bail!("{values} cannot be fitted to {figures}; give more figures or fewer --vary");
        }
        let axis = |range: &Range| Axis { key: range.key.clone(), values: Vec::new() };
        let axes = args.vary.iter().map(axis).collect();
        Ok(Plan {
            text: opening::Text::of(&args.file)?,
            set,
            grid: Grid { option: "--vary", axes, seeds: args.seeds.0.clone() },
            ranges: args.vary.clone(),
            targets,
            most_points: args.points as usize,
            threads: workers::threads(args.threads.into()),
        })
    }

    /// Makes sure that the ends of ranges can be run, and that runs have the figures.
    fn check(&self) -> anyhow::Result<Vec<Column>> {
        let middle = vec![0.5; self.ranges.len()];
        let mut places = vec![middle.clone()];
        for value in 0..self.ranges.len() {
            places.extend([0.0, 1.0].map(|end| {
                let mut place = middle.clone();
                place[value] = end;
                place
            }));
        }
        let mut reports = Vec::new();
        for place in places {
            let values = self.values(&place);
            let point = Point { values: values.iter().collect(), seed: self.grid.seeds[0] };
            let scenario = self.grid.scenario(&self.text, &point, &self.set)?;
            reports.push(columns_of(&Simulation::with_threads(&scenario, 1)?)?);
        }
        let mut columns = row::all_columns(&self.grid.axes, &reports)?;
        if self.targets.of_trajectories {
            let names = Diagram::default().figures().into_iter().map(|(name, _)| name);
            columns.extend(names.map(|name| Column { name, kind: Some(Kind::Number) }));
        }
        let is_number = |column: &&Column| matches!(column.kind, Some(Kind::Number | Kind::Whole));
        for Target { key, .. } in &self.targets.all {
            if !columns.iter().filter(is_number).any(|column| column.name == *key) {
                let known: Vec<&str> = columns.iter().filter(is_number).map(|column| &*column.name).collect();
                bail!("`{key}` is no figure of a run's report; there are: {}", known.join(", "));
            }
        }
        Ok(columns)
    }

    fn store(&self, args: &Args) -> anyhow::Result<Option<Store>> {
        let Some(out) = &args.output else { return Ok(None) };
        if out.extension().is_none_or(|ending| ending != "toml") {
            bail!("`{}` must end in .toml", out.display());
        }
        files::check_folder_of(out)?;
        args.picture.as_deref().map_or(Ok(()), files::check_folder_of)?;
        let mut journal = OsString::from(out);
        journal.push(".runs.csv");
        let given: [(&str, Option<&Path>); 4] = [
            ("the scenario", Some(&args.file)),
            ("--to", Some(&args.to)),
            ("-o", Some(out)),
            ("--picture", args.picture.as_deref()),
        ];
        files::check_different(&given)?;
        let base = opening::scenario(&args.file, &self.set)?;
        let keys = self.ranges.iter().map(|range| range.key.clone()).collect();
        Store::new(Path::new(&journal), Origin::new(&base, keys)?, args.restart).map(Some)
    }

    fn values(&self, place: &[f64]) -> Vec<Value> {
        self.ranges.iter().zip(place).map(|(range, &part)| range.at(part)).collect()
    }

    fn rows(&self, runs: &mut Runs<'_>, places: &[Vec<f64>]) -> anyhow::Result<Vec<Vec<Row>>> {
        runs.of(&places.iter().map(|place| self.values(place)).collect::<Vec<_>>())
    }

    /// By figure, what a run is off by.
    fn residuals(&self, row: &Row) -> Vec<f64> {
        self.targets.all.iter().map(|target| target.residual(row::number(row, &target.key))).collect()
    }

    /// The same of the mean over runs.
    fn mean_residuals(&self, rows: &[Row]) -> Vec<f64> {
        let all: Vec<Vec<f64>> = rows.iter().map(|row| self.residuals(row)).collect();
        let of = |figure: usize| mean(&all.iter().map(|residuals| residuals[figure]).collect::<Vec<f64>>());
        (0..self.targets.all.len()).map(of).collect()
    }

    fn misfit(&self, rows: &[Row]) -> f64 {
        let squares: Vec<f64> = self.mean_residuals(rows).iter().map(|residual| residual.powi(2)).collect();
        mean(&squares).sqrt()
    }

    fn fit(&self, runs: &mut Runs<'_>) -> anyhow::Result<Fit> {
        let mut tried: Vec<(Vec<f64>, f64)> = Vec::new();
        let ended = search::search(self.ranges.len(), |places| {
            let rows = self.rows(runs, places)?;
            let misfits: Vec<f64> = rows.iter().map(|rows| self.misfit(rows)).collect();
            tried.extend(places.iter().cloned().zip(misfits.iter().copied()));
            Ok(misfits)
        })?;
        let best = tried.iter().min_by(|a, b| a.1.total_cmp(&b.1)).cloned();
        let Some((place, misfit)) = best else {
            bail!("--points are fewer than the first look needs; give more");
        };
        let mut rows = self.rows(runs, std::slice::from_ref(&place))?;
        let errors = self.errors(runs, &place, &rows[0])?;
        Ok(Fit { place, misfit, rows: rows.remove(0), errors, ended, tried })
    }

    /// Standard errors of the values, from slopes around the place and the spread over seeds.
    fn errors(&self, runs: &mut Runs<'_>, place: &[f64], rows: &[Row]) -> anyhow::Result<Option<Vec<f64>>> {
        if rows.len() < 2 {
            return Ok(None);
        }
        let mut sides = Vec::new();
        for value in 0..place.len() {
            sides.extend([-ASIDE, ASIDE].map(|aside| {
                let mut place = place.to_vec();
                place[value] = (place[value] + aside).clamp(0.0, 1.0);
                place
            }));
        }
        runs.allow(sides.len());
        let around: Vec<Vec<f64>> =
            self.rows(runs, &sides)?.iter().map(|rows| self.mean_residuals(rows)).collect();
        let slope = |figure: usize, value: usize| {
            let (low, high) = (2 * value, 2 * value + 1);
            (around[high][figure] - around[low][figure]) / (sides[high][value] - sides[low][value])
        };
        let slopes: Vec<Vec<f64>> = (0..self.targets.all.len())
            .map(|figure| (0..place.len()).map(|value| slope(figure, value)).collect())
            .collect();
        let residuals: Vec<Vec<f64>> = rows.iter().map(|row| self.residuals(row)).collect();
        let given: Vec<bool> = self.targets.all.iter().map(|target| target.error.is_some()).collect();
        let errors = search::errors(&slopes, &residuals, &given);
        Ok(errors.map(|errors| {
            errors.iter().zip(&self.ranges).map(|(error, range)| error * (range.high - range.low)).collect()
        }))
    }

    fn table(&self, fit: &Fit) -> String {
        let error = |value: usize| findings::number(fit.errors.as_ref().map(|errors| errors[value]));
        let values = self.values(&fit.place);
        let value = |(i, (range, value)): (usize, (&Range, &Value))| {
            let ends = format!("{} .. {}", plain(range.low), plain(range.high));
            vec![range.key.clone(), value.cell.clone(), error(i), ends]
        };
        let values: Vec<Vec<String>> = self.ranges.iter().zip(&values).enumerate().map(value).collect();
        let figure = |target: &Target| {
            let figures: Vec<f64> = fit.rows.iter().filter_map(|row| row::number(row, &target.key)).collect();
            let found = (!figures.is_empty()).then(|| mean(&figures));
            let off = target.residual(found);
            let off = if target.error.is_some() {
                format!("{off:+.1} errors")
            } else {
                format!("{:+.1} %", 100.0 * off)
            };
            let spread = findings::number((figures.len() > 1).then(|| deviation(&figures)));
            vec![
                target.key.clone(),
                findings::number(Some(target.value)),
                findings::number(found),
                spread,
                off,
            ]
        };
        let figures: Vec<Vec<String>> = self.targets.all.iter().map(figure).collect();
        format!(
            "{}\n{}\nmisfit {:.4} over {}, ",
            findings::table(1, &["value", "fitted", "± error", "range"], &values),
            findings::table(1, &["figure", "target", "fitted", "± over seeds", "off by"], &figures),
            fit.misfit,
            count(self.grid.seeds.len(), "seed"),
        )
    }

    /// The fitted values as a part of a scenario.
    fn block(&self, fit: &Fit, args: &Args) -> String {
        let mut text = format!(
            "# Fitted by `throng calibrate {}` to {}: misfit {:.4} over {}.\n",
            args.file.display(),
            args.to.display(),
            fit.misfit,
            count(self.grid.seeds.len(), "seed")
        );
        let mut tables: Vec<(String, String)> = Vec::new();
        for (i, (range, value)) in self.ranges.iter().zip(self.values(&fit.place)).enumerate() {
            let steps = words(&range.key);
            let (name, table) = (steps[steps.len() - 1], steps[..steps.len() - 1].join("."));
            let error =
                fit.errors.as_ref().map(|errors| format!(" # ± {}", findings::number(Some(errors[i]))));
            let line = format!("{name} = {}{}\n", value.written, error.unwrap_or_default());
            // Only of these tables there is one.
            match steps[0] {
                "params" | "pipeline" | "map" if steps.len() > 1 => {
                    match tables.iter_mut().find(|(other, _)| *other == table) {
                        Some((_, lines)) => *lines += &line,
                        None => tables.push((table, line)),
                    }
                }
                _ if steps.len() == 1 => text += &line,
                _ => text += &format!("# in {table}: {line}"),
            }
        }
        tables.into_iter().for_each(|(table, lines)| text += &format!("[{table}]\n{lines}"));
        text
    }
}
