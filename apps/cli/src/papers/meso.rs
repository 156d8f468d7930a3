//! # Meso-scale planning for multi-agent navigation (He, van den Berg 2013), section VI
//! Table I: how far individuals walk, and how long a frame takes, with and without perceived groups.
//!
//! Both columns are run as the paper has them, without what this engine adds in dense crowds; what that gives stands in a
//! table of its own.
//!
//! Deviation: the paper gives no sizes; the scenario files say what was chosen. Every scenario is run with a number of
//! seeds, which move all starts a little, because one run of ORCA through a crowd says little about another.

use super::{Reproduction, Row, as_the_paper_has_it, run_through, time_together};
use crate::findings::{Finding, Side};
use crate::statistics::{deviation, mean, median};
use crate::watch;
use throng::scenario::Overrides;
use throng::{Scenario, Simulation};

pub const TITLE: &str = "He, van den Berg 2013, Meso-scale planning for multi-agent navigation";

const TABLE: &str = "Table I: quantitative results";
const ADDED: &str = "Not in the paper: Table I with what the engine adds in dense crowds";
const SEEDS: u64 = 20;
const QUICK_SEEDS: u64 = 10;
/// Figures of the traditional way, and with the meso-scale.
type Pair = [f64; 2];
const NAMES: [&str; 2] = ["Traditional", "with Meso-Scale"];
/// A frame with it may take this many times a frame without.
const SLOWER: f64 = 1.15;
struct Case {
    name: &'static str,
    file: &'static str,
    text: &'static str,
    /// The paper's path lengths.
    length: Pair,
    /// The paper's run times, ms per frame.
    time: Pair,
    /// The ratio of path lengths that we ask of ourselves.
    shorter: f64,
}

const CASES: [Case; 3] = [
    Case {
        name: "A",
        file: "meso-a.toml",
        text: include_str!("../../../../scenarios/papers/meso-a.toml"),
        length: [37.7, 29.0],
        time: [4.89, 6.52],
        shorter: 0.77,
    },
    Case {
        name: "B",
        file: "meso-b.toml",
        text: include_str!("../../../../scenarios/papers/meso-b.toml"),
        length: [152.3, 137.2],
        time: [11.58, 14.21],
        shorter: 0.90,
    },
    Case {
        name: "C",
        file: "meso-c.toml",
        text: include_str!("../../../../scenarios/papers/meso-c.toml"),
        length: [128.6, 112.7],
        time: [7.69, 10.05],
        shorter: 0.88,
    },
];

/// Runs all of it, or a short version.
pub fn reproduce(quick: bool) -> anyhow::Result<Reproduction> {
    let line = watch::Line::new();
    let seeds = if quick { QUICK_SEEDS } else { SEEDS };
    let (mut rows, mut added, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    for case in &CASES {
        let (mut runs, mut with_additions) = (Vec::new(), Vec::new());
        for seed in 1..=seeds {
            line.say(&format!("scenario {}, seed {seed} of {seeds}", case.name));
            runs.push(case.run(seed)?);
            with_additions.push(case.walk(seed, Overrides::default())?);
        }
        let measured = Measured::of(&runs);
        let with_additions = Walked::mean(&with_additions);
        rows.extend(case.rows(&measured));
        added.extend(case.added_rows(&with_additions));
        findings.extend(case.findings(&measured));
        let claim =
            format!("{}: part of the runs with the engine's additions in which all arrive", case.name);
        findings.push(Finding::new(claim, with_additions.arrived, Side::AtLeast, 1.0));
    }
    rows.extend(added);
    line.say("crowds of 1000 and 10000");
    findings.extend(growth()?);
    Ok(Reproduction { paper: TITLE, notes: notes(seeds, quick), rows, findings })
}

fn notes(seeds: u64, quick: bool) -> Vec<String> {
    let mut notes = vec![
        format!(
            "Path lengths: all individuals together, mean over {seeds} seeds. Run times: one thread, median, the least of {TAKES} takes, over the \
             frames that the runs with and without have both."
        ),
        "The paper's machine: an Intel i7. Its ORCA is RVO2; ours is without what the engine adds in dense crowds (preset".into(),
        "`paper`), but for the last table.".into(),
        "The shortest path: the individuals' with no other agents there.".into(),
    ];
    if quick {
        notes.push(format!("SHORT VERSION: {QUICK_SEEDS} seeds. Run without --quick for the whole."));
    }
    notes
}

/// Time per agent and step as a crowd grows at the same density, with groups on: four streams in a wide place, and two
/// through one another, so dense that each of them is one group. There it is held against the time without groups, too.
fn growth() -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (name, dense) in [("four thin streams", false), ("two dense streams", true)] {
        let crowd = |agents, on| if dense { dense_streams(agents, on) } else { thin_streams(agents, on) };
        let sizes = [1_000, 10_000];
        let crowds = || {
            let [few, many] = sizes;
            [(few, true), (many, true), (few, false), (many, false)]
                .map(|(agents, on)| crowd(agents, on))
                .into_iter()
                .collect()
        };
        let [growth, slower @ ..] = compare(crowds)?;
        let claim = format!("{name}: time per agent-step of 10000 over 1000, with groups");
        findings.push(Finding::new(claim, growth, Side::AtMost, 1.3));
        for (agents, slower) in sizes.into_iter().zip(slower).filter(|_| dense) {
            let claim = format!("{name}: time per step of {agents}, with groups over without");
            findings.push(Finding::new(claim, slower, Side::AtMost, DENSE_SLOWER));
        }
    }
    Ok(findings)
}

/// In crowds, unlike in the paper's scenarios, every agent has groups around all of the time.
const DENSE_SLOWER: f64 = 1.5;

/// Of few and many with groups, and few and many without: time per agent of many over few with groups, and of few and of
/// many with groups over without. Medians over rounds, each the least of several takes of the same steps.
fn compare(crowds: impl Fn() -> anyhow::Result<Vec<Simulation>>) -> anyhow::Result<[f64; 3]> {
    let mut least = [[f64::INFINITY; 4]; ROUNDS];
    for _ in 0..TAKES {
        let mut crowds = crowds()?;
        // In turns: a busy machine is slow for all alike.
        for round in &mut least {
            for (least, crowd) in round.iter_mut().zip(&mut crowds) {
                *least = least.min(time_of_a_round(crowd));
            }
        }
    }
    let ratio = |of: fn(&[f64; 4]) -> f64| median(least.iter().map(of).collect());
    Ok([
        ratio(|[few, many, ..]| many / few),
        ratio(|[few, _, without, _]| few / without),
        ratio(|[_, many, _, without]| many / without),
    ])
}

/// Seconds per agent.
fn time_of_a_round(simulation: &mut Simulation) -> f64 {
    let before = simulation.timings().sum();
    simulation.on_threads(|simulation| (0..ROUND).for_each(|_| simulation.step()));
    (simulation.timings().sum() - before).as_secs_f64() / simulation.agents() as f64
}

/// Rounds, and steps in a round: as many as lie between two looks at groups.
const ROUNDS: usize = 15;
const ROUND: usize = 10;

type Crossing = (&'static str, [i32; 2]);
const WAYS: [Crossing; 4] = [("east", [1, 0]), ("west", [-1, 0]), ("north", [0, 1]), ("south", [0, -1])];

/// One person on every four square metres, anywhere.
fn thin_streams(agents: usize, with_groups: bool) -> anyhow::Result<Simulation> {
    let side = (agents as f64 / 0.25).sqrt();
    let count = agents / WAYS.len();
    let place = format!("polygon = [[0, 0], [{side}, 0], [{side}, {side}], [0, {side}]]");
    streams(&WAYS, count, with_groups, |_| format!("{{ {place} }}"))
}

/// One person on every square metre, on two lattices through one another.
fn dense_streams(agents: usize, with_groups: bool) -> anyhow::Result<Simulation> {
    let columns = (agents as f64 / 2.0).sqrt() as usize;
    let place = |way: usize| {
        let from = 0.7 * way as f64;
        let grid = format!("from = [{from}, {from}], columns = {columns}, spacing = 1.4");
        format!("{{ grid = {{ {grid} }}, jitter = 0.1 }}")
    };
    streams(&WAYS[..2], columns * columns, with_groups, place)
}

/// As many on every way.
fn streams(
    ways: &[Crossing],
    count: usize,
    with_groups: bool,
    place: impl Fn(usize) -> String,
) -> anyhow::Result<Simulation> {
    let mesoscale = if with_groups { "\"groups\"" } else { "" };
    let mut text = format!("format = 1\nuntil = 1000\n[pipeline]\nmesoscale = [{mesoscale}]\n");
    for (i, (name, way)) in ways.iter().enumerate() {
        let [x, y] = way.map(|way| f64::from(way) * 200.0);
        text +=
            &format!("[[agents]]\nname = \"{name}\"\ncount = {count}\ngoal = {{ offset = [{x}, {y}] }}\n");
        text += &format!("place = {}\n", place(i));
    }
    Ok(Simulation::with_threads(&Scenario::parse(&text, "streams.toml", None)?, 1)?)
}

/// How often the same steps are timed; the least counts: what a busy machine adds is not ours.
const TAKES: usize = 3;

/// One seed.
struct Run {
    walked: Walked,
    shortest: f64,
    /// µs per step.
    time: Pair,
}

/// How far individuals walked, m, and the part of the runs in which all arrived.
#[derive(Clone, Copy)]
struct Walked {
    length: Pair,
    arrived: f64,
}

impl Walked {
    fn of(both: &[Simulation; 2]) -> Walked {
        let all_arrived = both.iter().all(|simulation| simulation.arrived() == simulation.agents());
        Walked { length: both.each_ref().map(individuals), arrived: f64::from(u8::from(all_arrived)) }
    }

    fn mean(runs: &[Walked]) -> Walked {
        let column = |of: &dyn Fn(&Walked) -> f64| mean(&runs.iter().map(of).collect::<Vec<f64>>());
        Walked { length: [0, 1].map(|i| column(&|run| run.length[i])), arrived: column(&|run| run.arrived) }
    }
}

impl Case {
    fn simulation(&self, seed: u64, changes: Overrides) -> anyhow::Result<Simulation> {
        let changes = Overrides { seed: Some(seed), ..changes };
        let scenario = Scenario::parse_with(self.text, self.file, None, &changes)?;
        Ok(Simulation::with_threads(&scenario, 1)?)
    }

    /// Without groups and with them.
    fn pair(&self, seed: u64, changes: &Overrides) -> anyhow::Result<[Simulation; 2]> {
        let traditional = Overrides { mesoscale: Some(Vec::new()), ..changes.clone() };
        Ok([self.simulation(seed, traditional)?, self.simulation(seed, changes.clone())?])
    }

    fn walk(&self, seed: u64, changes: Overrides) -> anyhow::Result<Walked> {
        let mut both = self.pair(seed, &changes)?;
        both.iter_mut().for_each(run_through);
        Ok(Walked::of(&both))
    }

    fn run(&self, seed: u64) -> anyhow::Result<Run> {
        let plain = as_the_paper_has_it(Overrides::default());
        let free =
            Overrides { microscale: Some("none".into()), mesoscale: Some(Vec::new()), ..plain.clone() };
        let mut free = self.simulation(seed, free)?;
        run_through(&mut free);
        let mut both = self.pair(seed, &plain)?;
        let mut time = time_together(&mut both);
        both.iter_mut().for_each(run_through);
        for _ in 1..TAKES {
            let again = time_together(&mut self.pair(seed, &plain)?);
            time = [0, 1].map(|i| time[i].min(again[i]));
        }
        Ok(Run { walked: Walked::of(&both), shortest: individuals(&free), time })
    }

    /// What the paper does not have.
    fn added_rows(&self, walked: &Walked) -> Vec<Row> {
        let row = |series: &str, ours: f64| Row {
            table: ADDED,
            row: self.name.into(),
            metric: format!("{series}: path length"),
            unit: "m",
            paper: None,
            ours: Some(ours),
        };
        let [without, with] = walked.length;
        vec![row(NAMES[0], without), row(NAMES[1], with), row("ratio", with / without)]
    }

    fn rows(&self, measured: &Measured) -> Vec<Row> {
        let row = |series: &str, quantity, unit, paper, ours| Row {
            table: TABLE,
            row: self.name.into(),
            metric: format!("{series}: {quantity}"),
            unit,
            paper,
            ours: Some(ours),
        };
        let ratio = |[without, with]: Pair| with / without;
        let mut rows = Vec::new();
        for (i, name) in NAMES.into_iter().enumerate() {
            rows.push(row(name, "path length", "m", Some(self.length[i]), measured.walked.length[i]));
        }
        rows.push(row("ratio", "path length", "m", Some(ratio(self.length)), ratio(measured.walked.length)));
        rows.push(row("shortest", "path length", "m", None, measured.shortest));
        for (name, spread) in NAMES.into_iter().zip(measured.spread) {
            rows.push(row(name, "its spread", "m", None, spread));
        }
        for (i, name) in NAMES.into_iter().enumerate() {
            rows.push(row(name, "run time", "ms/frame", Some(self.time[i]), measured.time[i] / 1e3));
        }
        rows.push(row("ratio", "run time", "ms/frame", Some(ratio(self.time)), measured.slower));
        rows
    }

    fn findings(&self, measured: &Measured) -> Vec<Finding> {
        let [without, with] = measured.walked.length;
        let name = self.name;
        let claim = format!("{name}: path length of individuals, with over without");
        let length = Finding::new(claim, with / without, Side::AtMost, self.shorter);
        let claim = format!("{name}: time per frame, with over without");
        vec![
            length,
            Finding::new(claim, measured.slower, Side::AtMost, SLOWER),
            Finding::new(
                format!("{name}: part of the runs in which all arrive"),
                measured.walked.arrived,
                Side::AtLeast,
                1.0,
            ),
        ]
    }
}

/// All seeds together.
struct Measured {
    walked: Walked,
    spread: Pair,
    shortest: f64,
    time: Pair,
    /// A frame with it over a frame without. Of every seed by itself: both were run one after the other.
    slower: f64,
}

impl Measured {
    fn of(runs: &[Run]) -> Measured {
        let column = |of: &dyn Fn(&Run) -> f64| runs.iter().map(of).collect::<Vec<f64>>();
        let walked: Vec<Walked> = runs.iter().map(|run| run.walked).collect();
        Measured {
            walked: Walked::mean(&walked),
            spread: [0, 1].map(|i| deviation(&column(&|run| run.walked.length[i]))),
            shortest: mean(&column(&|run| run.shortest)),
            time: [0, 1].map(|i| median(column(&|run| run.time[i]))),
            slower: median(column(&|run| run.time[1] / run.time[0])),
        }
    }
}

fn individuals(simulation: &Simulation) -> f64 {
    let (_, by_cohort) = simulation.path_lengths();
    by_cohort.iter().filter(|(cohort, _)| cohort.starts_with("individual")).map(|(_, length)| length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenarios_have_the_papers_numbers_of_agents() {
        for (case, agents) in CASES.iter().zip([50, 51, 51]) {
            let scenario = Scenario::parse(case.text, case.file, None).unwrap();
            assert_eq!(scenario.agent_count(), agents, "{}", case.name);
            assert_eq!(scenario.pipeline.mesoscale, ["groups"], "{}", case.name);
        }
    }
}
