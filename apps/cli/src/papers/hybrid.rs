//! # Large scale crowd simulation using a hybrid agent model (Park, Cao, Quek 2012), section 5
//! Table 1 and figure 6: the time of a frame by agents and size of the grid. Figures 4 and 5 as numbers, and evacuation.
//!
//! Deviations: the paper gives neither sizes of cells, speeds nor weights; the scenario files say what was chosen. Its times
//! are of a graphics card of 2009, ours of as many processor cores as there are. Figure 6 shows curves without numbers.

use super::{Reproduction, Row, as_the_paper_has_it, run_through};
use crate::findings::{Finding, Side};
use crate::statistics::{mean, median};
use crate::watch;
use anyhow::Context;
use glam::DVec2;
use std::time::{Duration, Instant};
use throng::crowd::StageTimes;
use throng::scenario::Overrides;
use throng::{Scenario, Simulation, builtin};

pub const TITLE: &str = "Park, Cao, Quek 2012, Large scale crowd simulation using a hybrid agent model";

const TABLE_1: &str = "Table 1: time of a frame";
const FIGURE_6: &str =
    "Figure 6 as the paper: time of a frame, of it the fields of perception and of the world";
const FIGURE_6_EASED: &str = "Figure 6 as it comes";
const FIGURE_4: &str = "Figure 4: congestion avoidance";
const FIGURE_5: &str = "Figure 5: cohesive movement";
const EVACUATION: &str = "Evacuation";
/// Side of a world cell, m.
const CELL: f64 = 0.5;
/// Cells a side.
pub(super) const GRIDS: [u32; 3] = [1024, 2048, 4096];
/// Agents, and the paper's times on each grid, ms.
const TIMES: [(usize, [f64; 3]); 3] =
    [(5_000, [20.77, 28.87, 47.82]), (10_000, [38.83, 46.27, 63.14]), (15_000, [57.3, 65.68, 86.87])];
const SEEDS: u64 = 5;
/// Steps before those that are timed, and those.
const WARM: usize = 20;
const TIMED: usize = 30;
/// Steps over which collisions are counted.
const COUNTED: usize = 150;

/// Of `hybrid-congestion`: nobody minds the crowd.
pub(super) const ALL_SHORTEST: [(&str, &str); 1] = [("agents.wary.params.map-field.congestion", "0")];
/// Of `hybrid-cohesive`: nobody keeps together.
pub(super) const APART: [(&str, &str); 8] = [
    ("agents.east.together", "false"),
    ("agents.northeast.together", "false"),
    ("agents.north.together", "false"),
    ("agents.northwest.together", "false"),
    ("agents.west.together", "false"),
    ("agents.southwest.together", "false"),
    ("agents.south.together", "false"),
    ("agents.southeast.together", "false"),
];

/// Runs all of it, or a short version.
pub fn reproduce(quick: bool) -> anyhow::Result<Reproduction> {
    let line = watch::Line::new();
    let seeds = if quick { 1 } else { SEEDS };
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    crossing(quick, &line, &mut rows, &mut findings)?;
    line.say("growth");
    findings.extend(growth(quick)?);
    for how in HOW {
        line.say(&format!("collisions, {}", how.name()));
        findings.push(collisions(if quick { 2_000 } else { 20_000 }, how)?);
    }
    congestion(seeds, &line, &mut rows, &mut findings)?;
    cohesion(seeds, &line, &mut rows, &mut findings)?;
    evacuation(seeds, &line, &mut rows, &mut findings)?;
    Ok(Reproduction { paper: TITLE, notes: notes(seeds, quick), rows, findings })
}

fn notes(seeds: u64, quick: bool) -> Vec<String> {
    let mut notes = vec![
        "The paper's machine: an NVIDIA GTX 295. Ours: all cores of this processor. Cells of half a metre, medians.".into(),
        format!("Figures 4, 5 and evacuation: means over {seeds} seeds."),
        "As the paper: the field of every agent is solved, and nothing is added in dense crowds: people avoid one another by their".into(),
        "fields alone. Our world field is worked out where it is read, so both fields are timed together.".into(),
        "As it comes: where no agent is in the straight way the field is not solved, and the engine's additions are on.".into(),
    ];
    if quick {
        notes.push("SHORT VERSION: one seed, few sizes. Run without --quick for the whole.".into());
    }
    notes
}

/// With the engine's additions or without.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    AsThePaper,
    AsItComes,
}

const HOW: [How; 2] = [How::AsThePaper, How::AsItComes];

impl How {
    fn name(self) -> &'static str {
        match self {
            How::AsThePaper => "as the paper",
            How::AsItComes => "as it comes",
        }
    }
}

/// People with random goals on a flat square.
#[derive(Clone, Copy)]
pub(super) struct Crossing {
    agents: usize,
    /// m.
    side: f64,
    /// As the paper has it: the field of every agent is solved, and nothing is added.
    as_the_paper: bool,
    /// 0: all cores.
    threads: usize,
}

/// ms.
#[derive(Clone, Copy, Default)]
pub(super) struct Times {
    pub frame: f64,
    /// The fields of perception, and the world field, which is worked out where it is read.
    pub fields: f64,
    /// Where agents want to go, and moving them.
    pub rest: f64,
}

impl Crossing {
    /// The same on one thread: cores that others use as well hold no frame up.
    pub fn on_one_thread(self) -> Crossing {
        Crossing { threads: 1, ..self }
    }

    pub fn simulation(&self) -> anyhow::Result<Simulation> {
        let side = self.side;
        let square = format!("[[0, 0], [{side}, 0], [{side}, {side}], [0, {side}]]");
        let set = [
            ("agents.individuals.count", self.agents.to_string()),
            ("agents.individuals.place", format!("{{ polygon = {square} }}")),
            ("agents.individuals.goal", format!("{{ random = {square} }}")),
            ("params.hybrid.shortcut", (!self.as_the_paper).to_string()),
            ("until", "1e6".into()),
        ];
        let set = set.into_iter().map(|(key, value)| (key.into(), value)).collect();
        let changes = Overrides { set, ..Overrides::default() };
        let changes = if self.as_the_paper { as_the_paper_has_it(changes) } else { changes };
        let scenario = scenario("hybrid-crossing", &changes)?;
        Ok(Simulation::with_threads(&scenario, self.threads)?)
    }

    pub fn time(&self) -> anyhow::Result<Times> {
        let mut simulation = self.simulation()?;
        simulation.on_threads(|simulation| (0..WARM).for_each(|_| simulation.step()));
        let (mut fields, mut rest) = (Vec::new(), Vec::new());
        for _ in 0..TIMED {
            let before = simulation.timings().total;
            simulation.on_threads(Simulation::step);
            let after = simulation.timings().total;
            let sum = |times: StageTimes| times.named().iter().map(|(_, time)| *time).sum::<Duration>();
            let of_fields = |times: StageTimes| times.mesoscale + times.microscale;
            let [all, of_fields] = [sum(after) - sum(before), of_fields(after) - of_fields(before)]
                .map(|time| time.as_secs_f64() * 1e3);
            fields.push(of_fields);
            rest.push(all - of_fields);
        }
        let frame: Vec<f64> = fields.iter().zip(&rest).map(|(fields, rest)| fields + rest).collect();
        Ok(Times { frame: median(frame), fields: median(fields), rest: median(rest) })
    }

    /// How long one thread works on an agent's part of a step, s.
    fn work(self) -> anyhow::Result<f64> {
        let mut simulation = self.on_one_thread().simulation()?;
        let worked = simulation.on_threads(|simulation| {
            (0..WARM).for_each(|_| simulation.step());
            let (begin, before) = (Instant::now(), at_work());
            (0..TIMED).for_each(|_| simulation.step());
            at_work().zip(before).map_or(begin.elapsed(), |(after, before)| after - before)
        });
        Ok(worked.as_secs_f64() / (TIMED * self.agents) as f64)
    }
}

/// How long this thread has been at work so far, where the system tells: what others do on a busy machine is not in it.
fn at_work() -> Option<Duration> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    times.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

pub(super) fn on_grid(agents: usize, grid: u32) -> Crossing {
    Crossing { agents, side: f64::from(grid) * CELL, as_the_paper: true, threads: 0 }
}

fn row(
    table: &'static str,
    row: impl Into<String>,
    metric: impl Into<String>,
    unit: &'static str,
    figures: [Option<f64>; 2],
) -> Row {
    let [paper, ours] = figures;
    Row { table, row: row.into(), metric: metric.into(), unit, paper, ours }
}

/// Table 1, figure 6, and what follows from them.
fn crossing(
    quick: bool,
    line: &watch::Line,
    rows: &mut Vec<Row>,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    let grids: &[u32] = if quick { &[1024, 4096] } else { &GRIDS };
    let crowds: &[usize] = if quick { &[5_000] } else { &[1_000, 5_000, 10_000, 15_000, 20_000] };
    let (mut solved_rows, mut eased_rows) = (Vec::new(), Vec::new());
    let mut slowest = 0.0f64;
    for &agents in crowds {
        for &grid in grids {
            line.say(&format!("{agents} agents on {grid} x {grid} cells"));
            let as_it_comes = Crossing { as_the_paper: false, ..on_grid(agents, grid) }.time()?;
            let solved = on_grid(agents, grid).time()?;
            let name = format!("{agents} on {grid}²");
            let paper = GRIDS.iter().position(|&other| other == grid).and_then(|index| {
                TIMES.iter().find(|(count, _)| *count == agents).map(|(_, times)| times[index])
            });
            if let Some(paper) = paper {
                rows.push(row(TABLE_1, &name, "as the paper: time", "ms", [Some(paper), Some(solved.frame)]));
                rows.push(row(
                    TABLE_1,
                    &name,
                    "as it comes: time",
                    "ms",
                    [Some(paper), Some(as_it_comes.frame)],
                ));
                slowest = slowest.max(solved.frame / paper);
            }
            for (table, times, rows) in
                [(FIGURE_6, solved, &mut solved_rows), (FIGURE_6_EASED, as_it_comes, &mut eased_rows)]
            {
                let parts = [("frame", times.frame), ("fields", times.fields), ("all else", times.rest)];
                for (part, time) in parts {
                    rows.push(row(table, &name, format!("{part}: time"), "ms", [None, Some(time)]));
                }
            }
        }
    }
    rows.extend(solved_rows);
    rows.extend(eased_rows);
    let claim = "Table 1: time of a frame over the paper's, at most";
    findings.push(Finding::new(claim, slowest, Side::AtMost, 1.0));
    Ok(())
}

/// How the time grows with the area, and per agent with the crowd: on the paper's grids, and at one density as it comes.
fn growth(quick: bool) -> anyhow::Result<Vec<Finding>> {
    let [few, many] = if quick { [1_000, 4_000] } else { [5_000, 20_000] };
    let (small, large) = (GRIDS[0], GRIDS[2]);
    let mut findings = Vec::new();
    for agents in if quick { vec![few] } else { TIMES.map(|(agents, _)| agents).to_vec() } {
        let ratio = per_agent(on_grid(agents, large), on_grid(agents, small))?;
        let claim = format!("time of a frame of {agents} on {large}² over {small}² cells");
        findings.push(Finding::new(claim, ratio, Side::AtMost, 1.05));
    }
    let name = |how: &str| format!("time per agent of {many} over {few}, {how}");
    for grid in if quick { &GRIDS[..1] } else { &GRIDS } {
        let ratio = per_agent(on_grid(many, *grid), on_grid(few, *grid))?;
        findings.push(Finding::new(
            name(&format!("on {grid}² cells, as the paper")),
            ratio,
            Side::AtMost,
            1.15,
        ));
    }
    let thin =
        |agents| Crossing { agents, side: (agents as f64 / 0.02).sqrt(), as_the_paper: false, threads: 1 };
    let ratio = per_agent(thin(many), thin(few))?;
    findings.push(Finding::new(name("at one density, as it comes"), ratio, Side::AtMost, 1.15));
    Ok(findings)
}

/// The time per agent of one over that of another. In turns: a busy machine is slow for both alike.
fn per_agent(one: Crossing, other: Crossing) -> anyhow::Result<f64> {
    let ratios = (0..5).map(|_| Ok(one.work()? / other.work()?)).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(median(ratios))
}

fn collisions(agents: usize, how: How) -> anyhow::Result<Finding> {
    let side = 1024.0 * CELL * (agents as f64 / 20_000.0).sqrt();
    let as_the_paper = how == How::AsThePaper;
    let mut simulation = Crossing { agents, side, as_the_paper, threads: 0 }.simulation()?;
    let mut collisions = 0;
    for _ in 0..COUNTED {
        simulation.step();
        collisions += simulation.overlaps().collisions;
    }
    let per_thousand = collisions as f64 / COUNTED as f64 / (agents as f64 / 1000.0);
    let name = how.name();
    let claim = format!(
        "collisions per step and 1000 agents, {agents} crossing as densely as 20000 on 1024² cells, {name}"
    );
    Ok(Finding::new(claim, per_thousand, Side::AtMost, if as_the_paper { 0.5 } else { 0.02 }))
}

pub(super) fn open(name: &str, how: How, seed: u64, set: &[(&str, &str)]) -> anyhow::Result<Simulation> {
    let set = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let changes = Overrides { seed: Some(seed), set, ..Overrides::default() };
    let changes = if how == How::AsThePaper { as_the_paper_has_it(changes) } else { changes };
    Ok(Simulation::new(&scenario(name, &changes)?)?)
}

/// A figure with the engine's additions and without.
fn both(
    table: &'static str,
    name: &str,
    (metric, unit): (&str, &'static str),
    figures: [f64; 2],
) -> impl Iterator<Item = Row> {
    let one = move |(how, figure): (How, f64)| {
        row(table, name, format!("{}: {metric}", how.name()), unit, [None, Some(figure)])
    };
    HOW.into_iter().zip(figures).map(one).collect::<Vec<Row>>().into_iter()
}

/// A claim of the paper, held against what was found with the engine's additions and without.
fn claims(claim: &str, values: [f64; 2], side: Side, bar: f64) -> [Finding; 2] {
    let name = |how: How| format!("{claim}, {}", how.name());
    [(HOW[0], values[0]), (HOW[1], values[1])].map(|(how, value)| Finding::new(name(how), value, side, bar))
}

fn scenario(name: &str, changes: &Overrides) -> anyhow::Result<Scenario> {
    let builtin = builtin::find(name).with_context(|| format!("there is no scenario `{name}`"))?;
    Ok(builtin.open_with(changes)?)
}

/// Mean time from start to arrival of a cohort, s; who never arrives counts with the end.
fn travel(simulation: &Simulation, cohorts: &[u16]) -> f64 {
    let (world, end) = (simulation.world(), simulation.world().time());
    let agents = &world.agents;
    let present = (0..agents.len()).map(|row| (agents.cohort[row], agents.arrival[row], agents.start[row]));
    let all = simulation.departed().iter().map(|gone| (gone.cohort, gone.arrival, gone.start)).chain(present);
    let times = all
        .filter(|(cohort, ..)| cohorts.contains(cohort))
        .map(|(_, arrival, start)| if arrival >= 0.0 { f64::from(arrival - start) } else { end });
    mean(&times.collect::<Vec<f64>>())
}

/// Figure 4: who goes round, and when all are there.
fn congestion(
    seeds: u64,
    line: &watch::Line,
    rows: &mut Vec<Row>,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    let mut figures = Vec::new();
    for (name, set) in [("all shortest", &ALL_SHORTEST[..]), ("mixed", &[])] {
        let (mut round, mut time) = ([0.0; 2], [0.0; 2]);
        for (index, how) in HOW.into_iter().enumerate() {
            line.say(&format!("congestion, {name}, {}", how.name()));
            (round[index], time[index]) = walk_round(seeds, how, set)?;
        }
        rows.extend(both(FIGURE_4, name, ("part that goes round", ""), round));
        rows.extend(both(FIGURE_4, name, ("mean time to arrive", "s"), time));
        figures.push((round, time));
    }
    let [(none, surge), (some, mixed)] = figures[..] else { return Ok(()) };
    let claim = "Figure 4: part of all that goes round with mixed preferences, less that without";
    findings.extend(claims(claim, [some[0] - none[0], some[1] - none[1]], Side::AtLeast, 0.25));
    let claim = "Figure 4: mean time to arrive, mixed over all shortest";
    findings.extend(claims(claim, [mixed[0] / surge[0], mixed[1] / surge[1]], Side::AtMost, 1.0));
    Ok(())
}

/// The part of those who walk that goes round the block, and their mean time to arrive, s.
fn walk_round(seeds: u64, how: How, set: &[(&str, &str)]) -> anyhow::Result<(f64, f64)> {
    const WALKERS: [u16; 2] = [1, 2];
    let (mut round, mut time) = (Vec::new(), Vec::new());
    for seed in 1..=seeds {
        let mut simulation = open("hybrid-congestion", how, seed, set)?;
        let mut above = vec![false; simulation.agents()];
        while !simulation.is_done() {
            simulation.step();
            let frame = simulation.frame();
            for row in (0..frame.len()).filter(|&row| frame.position(row).y > 28.0) {
                above[frame.id[row] as usize] |= (20.0..40.0).contains(&frame.position(row).x);
            }
        }
        round.push(above.iter().filter(|&&above| above).count() as f64 / 48.0);
        time.push(travel(&simulation, &WALKERS));
    }
    Ok((mean(&round), mean(&time)))
}

/// Figure 5: how far members of a group are from one another while they walk.
fn cohesion(
    seeds: u64,
    line: &watch::Line,
    rows: &mut Vec<Row>,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    let mut figures = Vec::new();
    for (name, set) in [("without cohesion", &APART[..]), ("with cohesion", &[])] {
        let mut apart = [0.0; 2];
        for (index, how) in HOW.into_iter().enumerate() {
            line.say(&format!("{name}, {}", how.name()));
            apart[index] = distance_within_groups(seeds, how, set)?;
        }
        rows.extend(both(FIGURE_5, name, ("mean distance within groups", "m"), apart));
        figures.push(apart);
    }
    let claim = "Figure 5: mean distance within groups, with cohesion over without";
    let ratio = |index: usize| figures[1][index] / figures[0][index];
    findings.extend(claims(claim, [ratio(0), ratio(1)], Side::AtMost, 0.5));
    Ok(())
}

fn distance_within_groups(seeds: u64, how: How, set: &[(&str, &str)]) -> anyhow::Result<f64> {
    let mut distances = Vec::new();
    for seed in 1..=seeds {
        let mut simulation = open("hybrid-cohesive", how, seed, set)?;
        let mut pairs = Vec::new();
        // Before the first arrival: an agent that has left is near no other.
        while !simulation.is_done() && simulation.arrived() == 0 {
            simulation.step();
            pairs.extend(within_groups(&simulation));
        }
        run_through(&mut simulation);
        distances.push(mean(&pairs));
    }
    Ok(mean(&distances))
}

/// Between all who are of one cohort.
fn within_groups(simulation: &Simulation) -> Vec<f64> {
    let frame = simulation.frame();
    let place = |row: usize| -> DVec2 { frame.position(row) };
    let mut distances = Vec::new();
    for a in 0..frame.len() {
        let mates = (a + 1..frame.len()).filter(|&b| frame.cohort[a] == frame.cohort[b]);
        distances.extend(mates.map(|b| place(a).distance(place(b))));
    }
    distances
}

/// Those who know the exit, those that follow them, and those that have none to follow.
fn evacuation(
    seeds: u64,
    line: &watch::Line,
    rows: &mut Vec<Row>,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    let mut times = [[0.0; 2]; 3];
    for (index, how) in HOW.into_iter().enumerate() {
        line.say(&format!("evacuation, {}", how.name()));
        let found = leave(seeds, how)?;
        times.iter_mut().zip(found).for_each(|(times, time)| times[index] = time);
    }
    for (name, times) in ["who know", "who follow", "with nobody to follow"].into_iter().zip(times) {
        rows.extend(both(EVACUATION, name, ("mean time to leave", "s"), times));
    }
    let [staff, led, lost] = times;
    let claim = "Evacuation: those who follow over those who know";
    findings.extend(claims(claim, [led[0] / staff[0], led[1] / staff[1]], Side::AtMost, 1.5));
    let claim = "Evacuation: with nobody to follow over those who follow";
    findings.extend(claims(claim, [lost[0] / led[0], lost[1] / led[1]], Side::AtLeast, 1.0));
    Ok(())
}

/// Mean times to leave, s: of those who know the exit, of those who follow, and of these with nobody to follow.
fn leave(seeds: u64, how: How) -> anyhow::Result<[f64; 3]> {
    let nobody_knows = [("agents.staff.params.map-field.knows", "false")];
    let (mut staff, mut led, mut lost) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 1..=seeds {
        let mut simulation = open("hybrid-evacuation", how, seed, &[])?;
        run_through(&mut simulation);
        staff.push(travel(&simulation, &[0]));
        led.push(travel(&simulation, &[1]));
        let mut simulation = open("hybrid-evacuation", how, seed, &nobody_knows)?;
        run_through(&mut simulation);
        lost.push(travel(&simulation, &[1]));
    }
    Ok([staff, led, lost].map(|times| mean(&times)))
}
