//! # Collision avoidance using density information (Long, Aranha, Kanoh), section 4
//! Table 2: how soon all have arrived on 4-way-2000, by size of cells and threshold. Table 3: with and without the
//! look-ahead on three scenarios. Figure 8: the time of a frame as the circle grows.
//!
//! Deviations: the paper gives neither preferred speed, widths nor where exactly goals are; the scenario files say what
//! was chosen. Its times cannot be simulated seconds (Circle-300 would have to be crossed at 10 m/s, where 2 m/s is the
//! highest speed), so that only ratios compare. ORCA is the engine as it comes, and once more as RVO2 has it (without
//! patience and separation), which is what the paper compares with.

use super::{Reproduction, Row, run_through, time_together};
use crate::findings::{Finding, Side};
use crate::statistics::{deviation, mean, median};
use crate::watch;
use throng::scenario::Overrides;
use throng::{Simulation, builtin};

pub const TITLE: &str =
    "Long, Aranha, Kanoh, Collision avoidance algorithm for crowd simulation using density information";

const TABLE_2: &str = "Table 2: time until all have arrived on 4-way-2000, s (nothing: never within 2500 s)";
const TABLE_3: &str = "Table 3: with and without density";
const FIGURE_8: &str = "Figure 8: time of a frame on circles";
const SEEDS: u64 = 10;
const NAMES: [&str; 3] = ["ORCA as RVO2", "ORCA", "with density"];
/// Where there is no room for the paper's gain: this many times the time that it takes with no agent in the way.
const OVER_FREE: f64 = 1.3;
/// Steps that are timed of a circle.
const TIMED: u64 = 400;

struct Case {
    name: &'static str,
    file: &'static str,
    /// The paper's times, s: without and with.
    time: [f64; 2],
    /// The paper's times of a frame, ms.
    frame: [f64; 2],
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

/// The paper's Table 2: side of a cell, threshold, time in s; never where there is none.
const SWEEP: [(f64, f64, Option<f64>); 10] = [
    (5.0, 5.0, Some(100.8)),
    (5.0, 10.0, Some(146.8)),
    (5.0, 15.0, Some(156.9)),
    (5.0, 20.0, Some(189.5)),
    (5.0, 30.0, Some(288.5)),
    (10.0, 5.0, None),
    (10.0, 10.0, None),
    (10.0, 15.0, Some(250.1)),
    (10.0, 20.0, Some(154.0)),
    (10.0, 30.0, Some(109.2)),
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
    let (mut table_3, mut findings) = (Vec::new(), Vec::new());
    for case in &CASES {
        let mut runs = Vec::new();
        for seed in 1..=seeds {
            line.say(&format!("{}, seed {seed} of {seeds}", case.name));
            runs.push(case.run(seed)?);
        }
        let measured = Measured::of(&runs);
        table_3.extend(case.rows(&measured));
        findings.extend(case.findings(&measured));
    }
    let mut rows = Vec::new();
    for &(cell, threshold, paper) in SWEEP.iter().take(if quick { 1 } else { SWEEP.len() }) {
        line.say(&format!("4-way-2000, cells of {cell} m, threshold {threshold}"));
        rows.push(sweep_row(cell, threshold, paper)?);
    }
    rows.extend(table_3);
    for &(name, file) in CIRCLES.iter().take(if quick { 1 } else { CIRCLES.len() }) {
        line.say(&format!("circle of {name}"));
        rows.extend(circle_rows(name, file)?);
    }
    Ok(Reproduction { paper: TITLE, notes: notes(seeds, quick), rows, findings })
}

fn notes(seeds: u64, quick: bool) -> Vec<String> {
    let mut notes = vec![
        format!(
            "Times until all have arrived: simulated, mean and spread over {seeds} seeds. The paper's are not:"
        ),
        "at its highest speed Circle-300 takes 150 s. Compare the ratios.".into(),
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

fn without() -> Overrides {
    Overrides { mesoscale: Some(Vec::new()), ..Overrides::default() }
}

/// One seed.
struct Run {
    /// With no other agent in the way, s.
    free: f64,
    /// As RVO2, as it comes, with density: s.
    time: [f64; 3],
    /// Whether all arrived.
    ended: [bool; 3],
    /// µs per step, without and with.
    frame: [f64; 2],
}

impl Case {
    fn run(&self, seed: u64) -> anyhow::Result<Run> {
        let seed = Some(seed);
        let set = |key: &str, value: &str| (key.to_string(), value.to_string());
        let plain = Overrides {
            seed,
            set: vec![set("params.patience.on", "false"), set("params.separation.on", "false")],
            ..without()
        };
        let free = Overrides { seed, microscale: Some("none".into()), ..without() };
        let mut free = simulation(self.file, &free)?;
        run_through(&mut free);
        let mut plain = simulation(self.file, &plain)?;
        run_through(&mut plain);
        let mut both = [
            simulation(self.file, &Overrides { seed, ..without() })?,
            simulation(self.file, &Overrides { seed, ..Overrides::default() })?,
        ];
        let frame = time_together(&mut both);
        both.iter_mut().for_each(run_through);
        let [orca, density] = both;
        let all = [plain, orca, density];
        Ok(Run {
            free: free.world().time(),
            time: all.each_ref().map(|simulation| simulation.world().time()),
            ended: all.each_ref().map(|simulation| simulation.arrived() == simulation.agents()),
            frame,
        })
    }

    fn rows(&self, measured: &Measured) -> Vec<Row> {
        let row = |series: &str, quantity: &str, unit, paper, ours| Row {
            table: TABLE_3,
            row: self.name.into(),
            metric: format!("{series}: {quantity}"),
            unit,
            paper,
            ours,
        };
        let ratio = |[without, with]: [f64; 2]| without / with;
        let paper = [Some(self.time[0]), None, Some(self.time[1])];
        let mut rows = Vec::new();
        for (i, name) in NAMES.into_iter().enumerate() {
            rows.push(row(name, "all arrived after", "s", paper[i], Some(measured.time[i])));
        }
        rows.push(row("ratio", "all arrived after", "", Some(ratio(self.time)), Some(measured.sooner)));
        for (i, name) in NAMES.into_iter().enumerate() {
            rows.push(row(name, "its spread", "s", None, Some(measured.spread[i])));
        }
        for (i, name) in NAMES.into_iter().enumerate() {
            rows.push(row(name, "runs that end", "", None, Some(measured.ended[i])));
        }
        let frame = [None, Some(self.frame[0]), Some(self.frame[1])];
        let ours = [None, Some(measured.frame[0] / 1e3), Some(measured.frame[1] / 1e3)];
        for (i, name) in NAMES.into_iter().enumerate() {
            rows.push(row(name, "time of a frame", "ms", frame[i], ours[i]));
        }
        rows.push(row(
            "ratio",
            "time of a frame",
            "ms",
            Some(ratio(self.frame)),
            Some(1.0 / measured.slower),
        ));
        rows
    }

    fn findings(&self, measured: &Measured) -> Vec<Finding> {
        let name = self.name;
        let [_, orca, density] = measured.time;
        // The paper's gain would ask for less than the path takes with no other agent on it, or nearly.
        let arrival = if orca / self.sooner >= OVER_FREE * measured.free {
            Finding::new(
                format!("{name}: time to arrive, ORCA over ORCA with density"),
                measured.sooner,
                Side::AtLeast,
                self.sooner,
            )
        } else {
            let claim = format!("{name}: time to arrive with density over the time with nobody in the way");
            Finding::new(claim, density / measured.free, Side::AtMost, OVER_FREE)
        };
        let mut findings = vec![
            arrival,
            Finding::new(
                format!("{name}: part of the runs with density that end"),
                measured.ended[2],
                Side::AtLeast,
                1.0,
            ),
        ];
        if self.timed {
            let claim = format!("{name}: time of a frame, with over without");
            findings.push(Finding::new(claim, measured.slower, Side::AtMost, 1.0));
        }
        findings
    }
}

/// All seeds together.
struct Measured {
    free: f64,
    time: [f64; 3],
    spread: [f64; 3],
    ended: [f64; 3],
    frame: [f64; 2],
    /// ORCA's time over that with density.
    sooner: f64,
    /// A frame with it over a frame without; of every seed by itself.
    slower: f64,
}

impl Measured {
    fn of(runs: &[Run]) -> Measured {
        let column = |of: &dyn Fn(&Run) -> f64| runs.iter().map(of).collect::<Vec<f64>>();
        let times = [0, 1, 2].map(|i| column(&|run| run.time[i]));
        let time = times.each_ref().map(|times| mean(times));
        Measured {
            free: mean(&column(&|run| run.free)),
            time,
            spread: times.each_ref().map(|times| deviation(times)),
            ended: [0, 1, 2].map(|i| mean(&column(&|run| f64::from(u8::from(run.ended[i]))))),
            frame: [0, 1].map(|i| median(column(&|run| run.frame[i]))),
            sooner: time[1] / time[2],
            slower: median(column(&|run| run.frame[1] / run.frame[0])),
        }
    }
}

fn sweep_row(cell: f64, threshold: f64, paper: Option<f64>) -> anyhow::Result<Row> {
    let set = |key: &str, value: f64| (format!("params.density.{key}"), value.to_string());
    let changes =
        Overrides { set: vec![set("cell", cell), set("threshold", threshold)], ..Overrides::default() };
    let mut simulation = simulation("density-4-way-2000", &changes)?;
    run_through(&mut simulation);
    Ok(Row {
        table: TABLE_2,
        row: format!("cells of {cell} m, threshold {threshold}"),
        metric: "with density: all arrived after".into(),
        unit: "s",
        paper,
        ours: (simulation.arrived() == simulation.agents()).then(|| simulation.world().time()),
    })
}

fn circle_rows(name: &str, file: &str) -> anyhow::Result<Vec<Row>> {
    // The paper's figure has no numbers to read. Timed is when they meet: before that no two are near.
    let mut both = [simulation(file, &without())?, simulation(file, &Overrides::default())?];
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
        metric: format!("{series}: time of a frame"),
        unit: "ms",
        paper: None,
        ours: Some(us / 1e3),
    };
    Ok(vec![row(NAMES[1], us[0]), row(NAMES[2], us[1])])
}
