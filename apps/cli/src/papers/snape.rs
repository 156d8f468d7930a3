//! # Reciprocal collision avoidance and navigation for video games (Snape et al. 2012), section 4
//! Tables 1 to 3: HRVO and ORCA in three scenarios. Figures 5 and 6 (`figures/snape.rs`): their time on threads.
//!
//! The tables are run as the paper has it: without what this engine adds in dense crowds. What the
//! engine gives with it is held against the authors' own libraries, below.
//!
//! Deviation: the paper gives no sizes; the scenario files say what was chosen and why.

use super::{Reproduction, Row, as_the_paper_has_it};
use crate::findings::{Finding, Side};
use crate::statistics::mean;
use crate::watch;
use throng::metrics::Metrics;
use throng::scenario::Overrides;
use throng::{Scenario, Simulation};

pub const TITLE: &str = "Snape et al. 2012, Reciprocal collision avoidance and navigation for video games";

const CIRCLE: File =
    File { name: "snape-circle.toml", text: include_str!("../../../../scenarios/papers/snape-circle.toml") };
const FIXED_CIRCLE: File = File {
    name: "snape-circle-fixed.toml",
    text: include_str!("../../../../scenarios/papers/snape-circle-fixed.toml"),
};
const MOVING_OBSTACLE: File = File {
    name: "snape-moving-obstacle.toml",
    text: include_str!("../../../../scenarios/papers/snape-moving-obstacle.toml"),
};
const BLOCKS: File =
    File { name: "snape-blocks.toml", text: include_str!("../../../../scenarios/papers/snape-blocks.toml") };

const TABLE_1: &str = "Table 1: computation time in all, and collisions";
const TABLE_2: &str = "Table 2: computation time, circle whose circumference grows with N";
const TABLE_3: &str = "Table 3: collisions, circle of fixed circumference";

/// Circumference in proportion to N: the radius of the circle for each agent on it, m. RVO2's example has 250 agents at
/// 200 m.
const RADIUS_PER_AGENT: f64 = 0.8;
/// A run is given up after this many times the time that an undisturbed agent needs.
const PATIENCE: f64 = 5.0;
/// Two models take turns by this many steps, so that a busy machine slows both alike.
const TURN: usize = 40;

/// A figure for HRVO and one for ORCA.
type Pair = [f64; 2];
pub(super) const MODELS: [&str; 2] = ["hrvo", "orca"];
pub(super) const NAMES: [&str; 2] = ["HRVO", "ORCA"];
const RATIO: &str = "HRVO/ORCA";
const COMPUTATION: &str = "computation time";
const COLLISIONS: &str = "collisions";
const STEPS: &str = "steps";

/// Computation time in all, ms, and collisions per step. The paper has only "< 0.01" for HRVO and the moving obstacle.
const PAPER_1: [(&str, Pair, [Option<f64>; 2]); 3] = [
    ("Circle-100", [93.1, 29.3], [Some(0.18), Some(0.32)]),
    ("Moving Obstacle", [26.8, 17.6], [None, Some(0.01)]),
    ("Blocks", [458.9, 157.2], [Some(5.71), Some(9.65)]),
];

/// Steps of Circle-100, as they follow from the time in all and the time per step of Table 2. The paper does not say how long
/// a step is; ours is as in RVO2's example.
const PAPER_STEPS: Pair = [93.1e3 / 88.1, 29.3e3 / 31.6];

/// Agents and computation time per step, µs.
const PAPER_2: [(usize, Pair); 6] = [
    (100, [88.1, 31.6]),
    (200, [145.8, 51.4]),
    (300, [195.9, 78.1]),
    (400, [240.1, 97.3]),
    (500, [305.1, 118.5]),
    (1000, [558.5, 240.7]),
];

/// Agents and collisions per step.
const PAPER_3: [(usize, Pair); 6] = [
    (100, [0.18, 0.32]),
    (200, [0.93, 1.35]),
    (300, [1.93, 3.31]),
    (400, [3.05, 5.61]),
    (500, [4.36, 9.40]),
    (1000, [15.14, 28.4]),
];

/// What the authors' libraries do on a circle: HRVO 1.0.1 and RVO2, run with the parameters of `snape-circle.toml` and
/// measured as we measure ourselves. Agents, the circle's radius (m), time until all have arrived (s), collisions per step.
const LIBRARIES: [(usize, f64, Pair, Pair); 4] = [
    (250, 200.0, [507.0, 770.0], [70.0, 25.5]),
    (100, 80.0, [260.0, 373.0], [12.4, 6.0]),
    (500, 400.0, [1015.0, 1415.0], [174.0, 65.0]),
    (1000, 800.0, [1951.0, 2805.0], [489.0, 111.0]),
];
const LIBRARY_NAMES: [&str; 2] = ["the HRVO library", "RVO2"];
/// The share of a library's collisions that we allow ourselves.
const SHARE_OF_COLLISIONS: Pair = [0.1, 0.2];
/// A tenth of the sum of two radii, m.
const DEEPEST: f64 = 0.3;

/// The largest N of the short version, in Tables 2 and 3 and on circles beside the libraries.
const QUICK_LARGEST: usize = 200;

/// Runs all of it, or a short version.
pub fn reproduce(quick: bool) -> anyhow::Result<Reproduction> {
    let line = watch::Line::new();
    let largest = if quick { QUICK_LARGEST } else { usize::MAX };
    let mut rows = Vec::new();
    let mut findings = Vec::new();
    let (first, second) = tables_1_and_2(&line, largest)?;
    findings.extend(findings_of_table_1(&first));
    rows.extend(first);
    findings.push(faster(&second));
    rows.extend(second);
    let third = table_3(&line, largest)?;
    findings.push(fewer_collisions(&third));
    rows.extend(third);
    for library in LIBRARIES.iter().filter(|library| library.0 <= largest) {
        line.say(&format!("circle of {}, beside the libraries", library.0));
        findings.extend(beside_libraries(library)?);
    }
    Ok(Reproduction { paper: TITLE, notes: notes(quick), rows, findings })
}

fn notes(quick: bool) -> Vec<String> {
    let mut notes = vec![
        "Tables: one thread, stepping time only, without what the engine adds in dense crowds (preset `paper`).".into(),
        "The paper's machine: Intel Core i7-2600 at 3.4 GHz, one thread. Its ORCA is RVO2.".into(),
        "It counts \"< 0.01\" collisions for HRVO and the moving obstacle, which is no figure: -.".into(),
        "Beside the libraries: with these additions; their figures were measured with the same scenarios.".into(),
    ];
    if quick {
        notes.push(format!(
            "SHORT VERSION: no more than {QUICK_LARGEST} agents. Run without --quick for the whole."
        ));
    }
    notes
}

/// A scenario of the paper.
struct File {
    name: &'static str,
    text: &'static str,
}

/// What a run is measured by.
struct Measured {
    /// Simulated time until all had arrived, s; nothing where one never did.
    arrived_after: Option<f64>,
    collisions_per_step: f64,
    deepest: f64,
    steps: f64,
    /// All of them together, ms.
    total_ms: f64,
    /// A step, µs.
    step_us: f64,
}

impl File {
    /// Runs both models on one thread, in turns.
    fn run(&self, changes: &Overrides) -> anyhow::Result<[Measured; 2]> {
        let start = |model: &str| -> anyhow::Result<(Simulation, Metrics)> {
            let changes = Overrides { microscale: Some(model.into()), ..changes.clone() };
            let scenario = Scenario::parse_with(self.text, self.name, None, &changes)?;
            Ok((Simulation::with_threads(&scenario, 1)?, Metrics::default()))
        };
        let mut runs = [start(MODELS[0])?, start(MODELS[1])?];
        while runs.iter().any(|(simulation, _)| !simulation.is_done()) {
            runs.iter_mut().for_each(|(simulation, metrics)| take_turn(simulation, metrics));
        }
        Ok(runs.map(|(simulation, metrics)| Measured::of(&simulation, &metrics)))
    }
}

fn take_turn(simulation: &mut Simulation, metrics: &mut Metrics) {
    for _ in 0..TURN {
        if simulation.is_done() {
            return;
        }
        simulation.step();
        metrics.observe(simulation);
    }
}

impl Measured {
    fn of(simulation: &Simulation, metrics: &Metrics) -> Measured {
        let timings = simulation.timings();
        let all = simulation.arrived() == simulation.agents();
        Measured {
            arrived_after: all.then_some(simulation.frame().time),
            collisions_per_step: metrics.collisions_per_step(),
            deepest: f64::from(metrics.max_overlap),
            steps: timings.steps as f64,
            total_ms: timings.sum().as_secs_f64() * 1e3,
            step_us: timings.sum().as_secs_f64() * 1e6 / timings.steps.max(1) as f64,
        }
    }
}

/// A number of agents on a circle.
fn circle(agents: usize, radius: f64) -> Overrides {
    let set = |key: &str, value: String| (format!("agents.circle.{key}"), value);
    Overrides {
        until: Some(2.0 * radius * PATIENCE),
        set: vec![set("count", agents.to_string()), set("place.circle.radius", radius.to_string())],
        ..Overrides::default()
    }
}

/// The benchmark of Figures 5 and 6, as it begins: the circle of Table 2.
pub(super) fn benchmark(model: &str, agents: usize, threads: usize) -> anyhow::Result<Simulation> {
    let changes = as_the_paper_has_it(circle(agents, RADIUS_PER_AGENT * agents as f64));
    let changes = Overrides { microscale: Some(model.into()), ..changes };
    let scenario = Scenario::parse_with(CIRCLE.text, CIRCLE.name, None, &changes)?;
    Ok(Simulation::with_threads(&scenario, threads)?)
}

fn fixed_circle(agents: usize) -> Overrides {
    Overrides { set: vec![("agents.circle.count".into(), agents.to_string())], ..Overrides::default() }
}

/// The two tables share their Circle-100.
fn tables_1_and_2(line: &watch::Line, largest: usize) -> anyhow::Result<(Vec<Row>, Vec<Row>)> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for &(agents, paper) in PAPER_2.iter().filter(|row| row.0 <= largest) {
        line.say(&format!("Table 2: circle of {agents}"));
        let changes = as_the_paper_has_it(circle(agents, RADIUS_PER_AGENT * agents as f64));
        let measured = CIRCLE.run(&changes)?;
        if agents == 100 {
            first.extend(rows_of_table_1(0, &measured));
        }
        let table = |quantity, unit| Quantity { table: TABLE_2, row: agents.to_string(), quantity, unit };
        second.extend(
            table("time per step", "µs").rows(paper.map(Some), measured.each_ref().map(|run| run.step_us)),
        );
        second.extend(table("arrived after", "s").ours(measured.map(|run| run.arrived_after)));
    }
    for (index, file) in [(1, MOVING_OBSTACLE), (2, BLOCKS)] {
        line.say(&format!("Table 1: {}", PAPER_1[index].0));
        first.extend(rows_of_table_1(index, &file.run(&as_the_paper_has_it(Overrides::default()))?));
    }
    Ok((first, second))
}

fn rows_of_table_1(index: usize, measured: &[Measured; 2]) -> Vec<Row> {
    let (name, time, collisions) = PAPER_1[index];
    let table = |quantity, unit| Quantity { table: TABLE_1, row: name.into(), quantity, unit };
    let mut rows = table(COMPUTATION, "ms").rows(time.map(Some), measured.each_ref().map(|run| run.total_ms));
    let ours = measured.each_ref().map(|run| run.collisions_per_step);
    rows.extend(table(COLLISIONS, "per step").rows(collisions, ours));
    if index == 0 {
        rows.extend(table(STEPS, "").rows(PAPER_STEPS.map(Some), measured.each_ref().map(|run| run.steps)));
    }
    rows.extend(table("arrived after", "s").ours(measured.each_ref().map(|run| run.arrived_after)));
    rows
}

fn table_3(line: &watch::Line, largest: usize) -> anyhow::Result<Vec<Row>> {
    let mut table = Vec::new();
    for &(agents, paper) in PAPER_3.iter().filter(|row| row.0 <= largest) {
        line.say(&format!("Table 3: circle of {agents}"));
        let measured = FIXED_CIRCLE.run(&as_the_paper_has_it(fixed_circle(agents)))?;
        let ours = measured.each_ref().map(|run| run.collisions_per_step);
        let line = |quantity, unit| Quantity { table: TABLE_3, row: agents.to_string(), quantity, unit };
        table.extend(line(COLLISIONS, "per step").rows(paper.map(Some), ours));
        table.extend(line("arrived after", "s").ours(measured.map(|run| run.arrived_after)));
    }
    Ok(table)
}

/// What Table 1 says of HRVO beside ORCA where there is more than a circle, and how long the circle takes.
fn findings_of_table_1(first: &[Row]) -> Vec<Finding> {
    let of = |name: &str, series: &str, quantity: &str| {
        let metric = format!("{series}: {quantity}");
        first.iter().find(|row| row.row == name && row.metric == metric)
    };
    let mut findings = Vec::new();
    for (name, ..) in &PAPER_1[1..] {
        if let Some(row) = of(name, RATIO, COMPUTATION) {
            let claim = format!("{name}: {COMPUTATION}, HRVO over ORCA, as in the paper or more");
            findings.push(Finding::new(claim, row.ours, Side::AtLeast, row.paper.unwrap_or(1.0)));
        }
        if let Some(row) = of(name, RATIO, COLLISIONS) {
            // Of the moving obstacle the paper has "< 0.01" and 0.01.
            let (claim, bar) = (format!("{name}: collisions, HRVO over ORCA"), row.paper.unwrap_or(1.0));
            findings.push(match row.ours {
                Some(ratio) => Finding::new(claim, ratio, Side::AtMost, bar),
                None => Finding::skipped(claim, Side::AtMost, bar, "with ORCA no agent collides"),
            });
        }
    }
    for (model, paper) in NAMES.into_iter().zip(PAPER_STEPS) {
        let steps = of(PAPER_1[0].0, model, STEPS).and_then(|row| row.ours);
        let claim = format!("{}, {model}: steps, no more than the paper's", PAPER_1[0].0);
        findings.push(Finding::new(claim, steps, Side::AtMost, paper));
    }
    findings
}

/// What a line of a table is about.
struct Quantity {
    table: &'static str,
    row: String,
    quantity: &'static str,
    unit: &'static str,
}

impl Quantity {
    /// A figure for each model, and how they compare.
    fn rows(&self, paper: [Option<f64>; 2], ours: Pair) -> Vec<Row> {
        let figure = |model: usize| self.row(NAMES[model], self.unit, paper[model], Some(ours[model]));
        let ratio = |[hrvo, orca]: [Option<f64>; 2]| Some(hrvo? / orca?).filter(|ratio| ratio.is_finite());
        vec![figure(0), figure(1), self.row(RATIO, "", ratio(paper), ratio(ours.map(Some)))]
    }

    /// Figures that the paper does not have.
    fn ours(&self, ours: [Option<f64>; 2]) -> Vec<Row> {
        NAMES.iter().zip(ours).map(|(name, ours)| self.row(name, self.unit, None, ours)).collect()
    }

    fn row(&self, series: &str, unit: &'static str, paper: Option<f64>, ours: Option<f64>) -> Row {
        let metric = format!("{series}: {}", self.quantity);
        Row { table: self.table, row: self.row.clone(), metric, unit, paper, ours }
    }
}

/// Ours of every row, HRVO over ORCA.
fn ratios(table: &[Row]) -> Vec<f64> {
    let ratios = table.iter().filter(|row| row.metric.starts_with(RATIO));
    ratios.map(|row| row.ours.unwrap_or(f64::NAN)).collect()
}

fn faster(second: &[Row]) -> Finding {
    let name = "ORCA is at least twice as fast as HRVO (time per step, mean over Table 2)";
    Finding::new(name, mean(&ratios(second)), Side::AtLeast, 2.0)
}

fn fewer_collisions(third: &[Row]) -> Finding {
    let name = "HRVO has at most half of ORCA's collisions (mean over Table 3)";
    Finding::new(name, mean(&ratios(third)), Side::AtMost, 0.5)
}

/// With the engine's additions: no later, far fewer collisions, and never deep.
fn beside_libraries(library: &(usize, f64, Pair, Pair)) -> anyhow::Result<Vec<Finding>> {
    let &(agents, radius, times, collisions) = library;
    let measured = CIRCLE.run(&circle(agents, radius))?;
    let findings_of = |(model, run): (usize, &Measured)| {
        let (ours, theirs) = (NAMES[model], LIBRARY_NAMES[model]);
        let share = SHARE_OF_COLLISIONS[model];
        let part = if share == 0.1 { "a tenth" } else { "a fifth" };
        let name = |what: &str| format!("circle {agents}, {ours}: {what}");
        [
            Finding::new(
                name(&format!("arrives no later than {theirs} (s)")),
                run.arrived_after,
                Side::AtMost,
                times[model],
            ),
            Finding::new(
                name(&format!("at most {part} of {theirs}'s collisions (per step)")),
                run.collisions_per_step,
                Side::AtMost,
                share * collisions[model],
            ),
            Finding::new(name("never overlaps by more than 10 % (m)"), run.deepest, Side::AtMost, DEEPEST),
        ]
    };
    Ok(measured.iter().enumerate().flat_map(findings_of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&File; 4] = [&CIRCLE, &FIXED_CIRCLE, &MOVING_OBSTACLE, &BLOCKS];

    fn scenario(file: &File, changes: &Overrides) -> Scenario {
        Scenario::parse_with(file.text, file.name, None, changes).unwrap()
    }

    #[test]
    fn every_scenario_parses_for_every_model() {
        for (file, agents) in FILES.iter().zip([250, 500, 25, 100]) {
            for model in MODELS {
                let changes = Overrides { microscale: Some(model.into()), ..Overrides::default() };
                assert_eq!(scenario(file, &changes).agent_count(), agents, "{}", file.name);
            }
        }
    }

    #[test]
    fn the_additions_change_a_run() {
        let after = |changes: &Overrides| {
            let mut simulation = Simulation::with_threads(&scenario(&CIRCLE, changes), 1).unwrap();
            (0..400).for_each(|_| simulation.step());
            simulation.state_hash()
        };
        let circle = circle(100, 40.0);
        assert_ne!(after(&circle), after(&as_the_paper_has_it(circle.clone())));
    }

    #[test]
    fn the_fixed_circle_has_room_for_all() {
        let crowd = scenario(&FIXED_CIRCLE, &fixed_circle(1000));
        let simulation = Simulation::with_threads(&crowd, 1).unwrap();
        assert_eq!(simulation.overlaps().collisions, 0);
    }

    #[test]
    fn without_a_collision_there_is_no_ratio_of_them() {
        let line = Quantity {
            table: TABLE_1,
            row: "Moving Obstacle".into(),
            quantity: COLLISIONS,
            unit: "per step",
        };
        let findings = findings_of_table_1(&line.rows([None, Some(0.01)], [0.0, 0.0]));
        assert_eq!(findings[0].holds, None, "{findings:?}");
        let findings = findings_of_table_1(&line.rows([None, Some(0.01)], [0.2, 0.1]));
        assert_eq!(findings[0].holds, Some(false), "{findings:?}");
    }

    #[test]
    fn a_ratio_is_hrvo_over_orca() {
        let line = Quantity { table: TABLE_2, row: "100".into(), quantity: "time per step", unit: "µs" };
        let table = line.rows([Some(88.1), Some(31.6)], [90.0, 30.0]);
        assert_eq!(ratios(&table), [3.0]);
    }
}
