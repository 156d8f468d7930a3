//! # Collision avoidance using density information (Long, Aranha, Kanoh), section 4
//! Table 2: how soon all have arrived on 4-way-2000, by size of cells and threshold. Table 3: with and without the
//! look-ahead on three scenarios. Figure 8: the time of a frame as the circle grows.
//!
//! All of it is run as the paper has it, both columns without what this engine adds in dense crowds; what that gives stands
//! in a table of its own.
//!
//! Deviations: the paper gives neither preferred speed, widths nor where exactly goals are; the scenario files say what
//! was chosen. Its times cannot be simulated seconds (Circle-300 would have to be crossed at 10 m/s, where 2 m/s is the
//! highest speed), so that only ratios compare.

use super::{Reproduction, Row, as_the_paper_has_it, run_through, time_together};
use crate::findings::{Finding, Side};
use crate::statistics::{deviation, mean, median};
use crate::watch;
use throng::scenario::Overrides;
use throng::{Simulation, builtin};

pub const TITLE: &str =
    "Long, Aranha, Kanoh, Collision avoidance algorithm for crowd simulation using density information";

const TABLE_2: &str =
    "Table 2: time until all have arrived on 4-way-2000, s (nothing: not in every run within 2500 s)";
const TABLE_3: &str = "Table 3: with and without density";
const FIGURE_8: &str = "Figure 8: time of a frame on circles";
const ADDED: &str = "Not in the paper: Table 3 with what the engine adds in dense crowds";
const SEEDS: u64 = 10;
/// Without and with.
type Pair = [f64; 2];
const NAMES: [&str; 2] = ["ORCA", "with density"];
/// Steps that are timed of a circle.
const TIMED: u64 = 400;

struct Case {
    name: &'static str,
    file: &'static str,
    /// The paper's times, s.
    time: Pair,
    /// The paper's times of a frame, ms.
    frame: Pair,
    /// How many times sooner all are to arrive.
    sooner: f64,
    /// Whether a frame must not take longer with it.
    timed: bool,
}

const CASES: [Case; 3] = [
    Case {
        name: "Circle-300",
        file: "density-circle-300",
        time: [50.0, 30.0],
        frame: [0.35, 0.29],
        sooner: 1.7,
        timed: false,
    },
    Case {
        name: "Crossing-600",
        file: "density-crossing-600",
        time: [121.5, 81.3],
        frame: [2.4, 1.2],
        sooner: 1.5,
        timed: true,
    },
    Case {
        name: "4-way-2000",
        file: "density-4-way-2000",
        time: [349.4, 95.8],
        frame: [5.1, 2.4],
        sooner: 3.6,
        timed: true,
    },
];

/// A column of Table 2.
struct Cell {
    /// m.
    side: f64,
    threshold: f64,
    /// The paper's time, s; it never ended where there is none.
    time: Option<f64>,
}

const SWEEP: [Cell; 10] = [
    Cell { side: 5.0, threshold: 5.0, time: Some(100.8) },
    Cell { side: 5.0, threshold: 10.0, time: Some(146.8) },
    Cell { side: 5.0, threshold: 15.0, time: Some(156.9) },
    Cell { side: 5.0, threshold: 20.0, time: Some(189.5) },
    Cell { side: 5.0, threshold: 30.0, time: Some(288.5) },
    Cell { side: 10.0, threshold: 5.0, time: None },
    Cell { side: 10.0, threshold: 10.0, time: None },
    Cell { side: 10.0, threshold: 15.0, time: Some(250.1) },
    Cell { side: 10.0, threshold: 20.0, time: Some(154.0) },
    Cell { side: 10.0, threshold: 30.0, time: Some(109.2) },
];

const CIRCLES: [(&str, &str); 4] = [
    ("500", "density-circle-500"),
    ("1000", "density-circle-1000"),
    ("2000", "density-circle-2000"),
    ("3000", "density-circle-3000"),
];

/// Runs all of it, or a short version.
pub fn reproduce(quick: bool) -> anyhow::Result<Reproduction> {
    let line = watch::Line::new();
    let seeds = if quick { 1 } else { SEEDS };
    let (mut table_3, mut added, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    for case in &CASES {
        let [plain, with_additions] = case.measure(seeds, &line)?;
        table_3.extend(case.rows(&plain));
        added.extend(case.added_rows(&with_additions));
        findings.extend(case.findings(&plain));
        let claim =
            format!("{}: part of the runs with density and the engine's additions that end", case.name);
        findings.push(Finding::new(claim, with_additions.ended[1], Side::AtLeast, 1.0));
    }
    let mut rows = Vec::new();
    let mut swept = Vec::new();
    for cell in SWEEP.iter().take(if quick { 1 } else { SWEEP.len() }) {
        line.say(&format!("4-way-2000, {}", cell.name()));
        swept.push(cell.times(seeds)?);
        rows.extend(cell.rows(&swept[swept.len() - 1]));
    }
    findings.extend(findings_of_table_2(&swept));
    rows.extend(table_3);
    for &(name, file) in CIRCLES.iter().take(if quick { 1 } else { CIRCLES.len() }) {
        line.say(&format!("circle of {name}"));
        rows.extend(circle_rows(name, file)?);
    }
    rows.extend(added);
    Ok(Reproduction { paper: TITLE, notes: notes(seeds, quick), rows, findings })
}

fn notes(seeds: u64, quick: bool) -> Vec<String> {
    let mut notes = vec![
        format!(
            "Times until all have arrived: simulated, mean and spread over {seeds} seeds. The paper's are not:"
        ),
        "at its highest speed Circle-300 takes 150 s. Compare the ratios.".into(),
        "Both columns without what the engine adds in dense crowds (preset `paper`), but for the last table.".into(),
        "Frames: one thread, median, over the steps that the runs with and without have both.".into(),
        "A run that never ends (1500 s, 4-way-2000 2500 s) counts as ended then, which makes its ratio too small.".into(),
    ];
    if quick {
        notes.push(
            "SHORT VERSION: one seed, one cell of Table 2, one circle. Run without --quick for the whole."
                .into(),
        );
    }
    notes
}

fn simulation(file: &str, changes: &Overrides) -> anyhow::Result<Simulation> {
    let builtin = builtin::find(file).ok_or_else(|| anyhow::anyhow!("no built-in scenario `{file}`"))?;
    Ok(Simulation::with_threads(&builtin.open_with(changes)?, 1)?)
}

/// The same without and with density.
fn both(file: &str, with: Overrides) -> anyhow::Result<[Simulation; 2]> {
    let without = Overrides { mesoscale: Some(Vec::new()), ..with.clone() };
    Ok([simulation(file, &without)?, simulation(file, &with)?])
}

fn all_arrived(simulation: &Simulation) -> bool {
    simulation.arrived() == simulation.agents()
}

/// One seed.
struct Run {
    /// s.
    time: Pair,
    /// Whether all arrived.
    ended: [bool; 2],
    /// µs per step.
    frame: Pair,
}

impl Case {
    /// As the paper has it, and with the engine's additions.
    fn measure(&self, seeds: u64, line: &watch::Line) -> anyhow::Result<[Measured; 2]> {
        let (mut plain, mut with_additions) = (Vec::new(), Vec::new());
        for seed in 1..=seeds {
            line.say(&format!("{}, seed {seed} of {seeds}", self.name));
            let changes = Overrides { seed: Some(seed), ..Overrides::default() };
            plain.push(self.run(as_the_paper_has_it(changes.clone()))?);
            with_additions.push(self.run(changes)?);
        }
        Ok([Measured::of(&plain), Measured::of(&with_additions)])
    }

    fn run(&self, changes: Overrides) -> anyhow::Result<Run> {
        let mut both = both(self.file, changes)?;
        let frame = time_together(&mut both);
        both.iter_mut().for_each(run_through);
        Ok(Run {
            time: both.each_ref().map(|simulation| simulation.world().time()),
            ended: both.each_ref().map(all_arrived),
            frame,
        })
    }

    fn rows(&self, measured: &Measured) -> Vec<Row> {
        let ratio = |[without, with]: Pair| without / with;
        let mut rows = Vec::new();
        for (i, name) in NAMES.into_iter().enumerate() {
            rows.push(self.row(TABLE_3, name, ARRIVED, "s", [Some(self.time[i]), Some(measured.time[i])]));
        }
        rows.push(self.row(TABLE_3, "ratio", ARRIVED, "s", [Some(ratio(self.time)), Some(measured.sooner)]));
        rows.extend(self.spread_and_ends(TABLE_3, measured));
        for (i, name) in NAMES.into_iter().enumerate() {
            let ours = measured.frame[i] / 1e3;
            rows.push(self.row(TABLE_3, name, FRAME, "ms", [Some(self.frame[i]), Some(ours)]));
        }
        let frames = [Some(ratio(self.frame)), Some(1.0 / measured.slower)];
        rows.push(self.row(TABLE_3, "ratio", FRAME, "ms", frames));
        rows
    }

    /// What the paper does not have.
    fn added_rows(&self, measured: &Measured) -> Vec<Row> {
        let mut rows = Vec::new();
        for (name, time) in NAMES.into_iter().zip(measured.time) {
            rows.push(self.row(ADDED, name, ARRIVED, "s", [None, Some(time)]));
        }
        rows.push(self.row(ADDED, "ratio", ARRIVED, "s", [None, Some(measured.sooner)]));
        rows.extend(self.spread_and_ends(ADDED, measured));
        rows
    }

    fn spread_and_ends(&self, table: &'static str, measured: &Measured) -> Vec<Row> {
        let spread = NAMES.into_iter().zip(measured.spread);
        let ended = NAMES.into_iter().zip(measured.ended);
        let spread = spread.map(|(name, s)| self.row(table, name, "its spread", "s", [None, Some(s)]));
        let ended = ended.map(|(name, part)| self.row(table, name, "runs that end", "", [None, Some(part)]));
        spread.chain(ended).collect()
    }

    fn row(
        &self,
        table: &'static str,
        series: &str,
        quantity: &str,
        unit: &'static str,
        [paper, ours]: [Option<f64>; 2],
    ) -> Row {
        Row { table, row: self.name.into(), metric: format!("{series}: {quantity}"), unit, paper, ours }
    }

    fn findings(&self, measured: &Measured) -> Vec<Finding> {
        let name = self.name;
        let mut findings = vec![Finding::new(
            format!("{name}: time to arrive, ORCA over ORCA with density"),
            measured.sooner,
            Side::AtLeast,
            self.sooner,
        )];
        if self.timed {
            let claim = format!("{name}: time of a frame, with over without");
            findings.push(Finding::new(claim, measured.slower, Side::AtMost, 1.0));
        }
        findings
    }
}

const ARRIVED: &str = "all arrived after";
const FRAME: &str = "time of a frame";

/// All seeds together.
struct Measured {
    time: Pair,
    spread: Pair,
    /// Part of the runs that end.
    ended: Pair,
    /// µs.
    frame: Pair,
    /// The time without over that with density.
    sooner: f64,
    /// A frame with it over a frame without; of every seed by itself.
    slower: f64,
}

impl Measured {
    fn of(runs: &[Run]) -> Measured {
        let column = |of: &dyn Fn(&Run) -> f64| runs.iter().map(of).collect::<Vec<f64>>();
        let times = [0, 1].map(|i| column(&|run| run.time[i]));
        let time = times.each_ref().map(|times| mean(times));
        Measured {
            time,
            spread: times.each_ref().map(|times| deviation(times)),
            ended: [0, 1].map(|i| mean(&column(&|run| f64::from(u8::from(run.ended[i]))))),
            frame: [0, 1].map(|i| median(column(&|run| run.frame[i]))),
            sooner: time[0] / time[1],
            slower: median(column(&|run| run.frame[1] / run.frame[0])),
        }
    }
}

/// Times of every seed, s; nothing where a run never ended.
type Times = Vec<Option<f64>>;

impl Cell {
    fn name(&self) -> String {
        format!("cells of {} m, threshold {}", self.side, self.threshold)
    }

    fn times(&self, seeds: u64) -> anyhow::Result<Times> {
        let time = |seed| {
            let set = |key: &str, value: f64| (format!("params.density.{key}"), value.to_string());
            let set = vec![set("cell", self.side), set("threshold", self.threshold)];
            let changes = Overrides { seed: Some(seed), set, ..Overrides::default() };
            let mut simulation = simulation("density-4-way-2000", &as_the_paper_has_it(changes))?;
            run_through(&mut simulation);
            Ok(all_arrived(&simulation).then(|| simulation.world().time()))
        };
        (1..=seeds).map(time).collect()
    }

    fn rows(&self, times: &Times) -> [Row; 2] {
        let row = |quantity: &str, unit, paper, ours| Row {
            table: TABLE_2,
            row: self.name(),
            metric: format!("{}: {quantity}", NAMES[1]),
            unit,
            paper,
            ours,
        };
        [row(ARRIVED, "s", self.time, mean_time(times)), row("runs that end", "", None, Some(ended(times)))]
    }
}

/// Nothing where a run never ended.
fn mean_time(times: &Times) -> Option<f64> {
    times.iter().copied().collect::<Option<Vec<f64>>>().map(|times| mean(&times))
}

fn ended(times: &Times) -> f64 {
    times.iter().flatten().count() as f64 / times.len() as f64
}

/// The paper's best cell is the first, and two never end.
fn findings_of_table_2(swept: &[Times]) -> Vec<Finding> {
    let best = "Table 2: time with cells of 5 m and threshold 5 over the best of the others";
    let never = SWEEP.iter().enumerate().filter(|(_, cell)| cell.time.is_none());
    let never =
        never.map(|(i, cell)| (i, format!("Table 2: part of the runs that never end, {}", cell.name())));
    if swept.len() < SWEEP.len() {
        let reason = "needs all of Table 2; run without --quick";
        let never = never.map(|(_, claim)| Finding::skipped(claim, Side::AtLeast, 1.0, reason));
        return [Finding::skipped(best, Side::AtMost, 1.0, reason)].into_iter().chain(never).collect();
    }
    let others = swept[1..].iter().filter_map(mean_time).reduce(f64::min);
    let ratio = mean_time(&swept[0]).zip(others).map(|(first, others)| first / others);
    let never = never.map(|(i, claim)| Finding::new(claim, 1.0 - ended(&swept[i]), Side::AtLeast, 1.0));
    [Finding::new(best, ratio, Side::AtMost, 1.0)].into_iter().chain(never).collect()
}

fn circle_rows(name: &str, file: &str) -> anyhow::Result<Vec<Row>> {
    // The paper's figure has no numbers to read. Timed is when they meet: before that no two are near.
    let mut both = both(file, as_the_paper_has_it(Overrides::default()))?;
    let mut us = [0.0; 2];
    for (simulation, us) in both.iter_mut().zip(&mut us) {
        // The radius is half a metre for each, a step a quarter of a metre.
        let meet = 2 * simulation.agents() as u64 - TIMED / 2;
        simulation.on_threads(|simulation| (0..meet).for_each(|_| simulation.step()));
        let before = simulation.timings().sum();
        simulation.on_threads(|simulation| (0..TIMED).for_each(|_| simulation.step()));
        *us = (simulation.timings().sum() - before).as_secs_f64() * 1e6 / TIMED as f64;
    }
    let row = |series: &str, us: f64| Row {
        table: FIGURE_8,
        row: format!("{name} agents"),
        metric: format!("{series}: {FRAME}"),
        unit: "ms",
        paper: None,
        ours: Some(us / 1e3),
    };
    Ok(vec![row(NAMES[0], us[0]), row(NAMES[1], us[1])])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_cell_and_those_that_never_end() {
        let mut swept: Vec<Times> = SWEEP.iter().map(|cell| vec![cell.time; 2]).collect();
        let holds = |swept: &[Times]| {
            findings_of_table_2(swept).iter().map(|finding| finding.holds).collect::<Vec<_>>()
        };
        assert_eq!(holds(&swept), [Some(true); 3], "the paper's own figures");
        swept[5][0] = Some(90.0);
        swept[9] = vec![Some(50.0), Some(60.0)];
        assert_eq!(holds(&swept), [Some(false), Some(false), Some(true)]);
        // A cell in which a run never ends is none of the best.
        swept[9][0] = None;
        assert_eq!(holds(&swept)[0], Some(true));
        assert_eq!(holds(&swept[..1]), [None; 3]);
    }
}
