//! What a step costs as agents become many: on one map, at one density, at worst, and where all want through one door.

use super::super::Row;
use crate::findings::{Finding, Side};
use std::collections::HashMap;
use std::fmt::Write;
use std::time::Instant;
use throng::planning::TaskRecord;
use throng::{Scenario, Simulation};

const CITY: &str = "City blocks, 200 obstacles that stand and 50 that move, two threads";
const DENSITY: &str = "City of districts with 100 agents, 20 blocks and 5 carts each, two threads";
const DOOR: &str = "A crowd through a door of 1.2 m, two threads";
const DEADLINE: &str = "City blocks with a deadline of 10 ms in every step, two threads";
const AGAINST: &str = "50 against 50 in a corridor of 4 m, with a deadline, two threads";
const THREADS: usize = 2;

/// Districts beside and above one another.
const DISTRICTS: [[u32; 2]; 3] = [[1, 1], [5, 2], [10, 5]];
const AGENTS_OF_A_DISTRICT: usize = 100;
/// Blocks of a district, beside and above one another.
const BLOCKS: [u32; 2] = [5, 4];
/// States that each hundred agents may expand in a step: never so few that any has to wait.
const BUDGET_OF_A_DISTRICT: usize = 100_000;
/// Timings of each size, of which the best counts: another program may have been in the way of the others.
const ROUNDS: usize = 3;
/// Runs with the fewest agents, of whom a handful searches.
const SEEDS_OF_ONE: usize = 5;

/// Width and distance of blocks, m.
const BLOCK: f64 = 8.0;
const STREET: f64 = 6.0;
const PITCH: f64 = BLOCK + STREET;

/// Runs all of it, or a short version.
pub fn reproduce(quick: bool, rows: &mut Vec<Row>, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    one_map(quick, rows, findings)?;
    one_density(quick, rows, findings)?;
    worst(quick, rows, findings)?;
    door(quick, rows, findings)?;
    deadline(quick, rows, findings)?;
    against(quick, rows, findings)
}

fn row(table: &'static str, row: String, metric: &str, unit: &'static str, ours: f64) -> Row {
    Row { table, row, metric: metric.into(), unit, paper: None, ours: Some(ours) }
}

/// How long steps take, s.
struct Pace {
    steps: Vec<f64>,
    /// Over all steps, how many agents there were and how many had a turn.
    present: usize,
    turns: usize,
}

impl Pace {
    /// After the first steps, which make the map and every agent's first plan.
    fn of(text: &str, warm: usize, steps: usize) -> anyhow::Result<Pace> {
        let scenario = Scenario::parse(text, "city.toml", None)?;
        let mut simulation = Simulation::with_threads(&scenario, THREADS)?;
        (0..warm).for_each(|_| simulation.step());
        let mut pace = Pace { steps: Vec::new(), present: 0, turns: 0 };
        for _ in 0..steps {
            let begin = Instant::now();
            simulation.step();
            pace.steps.push(begin.elapsed().as_secs_f64());
            pace.present += simulation.frame().len();
            pace.turns += simulation.serviced().len();
        }
        Ok(pace)
    }

    /// Several runs as one.
    fn of_all(paces: impl Iterator<Item = anyhow::Result<Pace>>) -> anyhow::Result<Pace> {
        let none = Pace { steps: Vec::new(), present: 0, turns: 0 };
        paces.into_iter().try_fold(none, |mut all, pace| {
            let pace = pace?;
            all.steps.extend(pace.steps);
            Ok(Pace { present: all.present + pace.present, turns: all.turns + pace.turns, ..all })
        })
    }

    fn sum(&self) -> f64 {
        self.steps.iter().sum()
    }

    fn mean(&self) -> f64 {
        self.sum() / self.steps.len().max(1) as f64
    }

    /// A step, for each who is there: on a small map many have soon arrived.
    fn of_an_agent(&self) -> f64 {
        self.sum() / self.present.max(1) as f64
    }

    fn turns_of_an_agent(&self) -> f64 {
        self.turns as f64 / self.present.max(1) as f64
    }

    /// As long as this part of all steps take at most.
    fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.steps.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[((sorted.len() as f64 * part).ceil() as usize).clamp(1, sorted.len()) - 1]
    }
}

/// Ten times as many meet ten times as often.
fn one_map(quick: bool, rows: &mut Vec<Row>, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    let counts: &[usize] = if quick { &[100, 300] } else { &[100, 300, 1_000] };
    for &agents in counts {
        let (warm, steps, seeds) = if quick { (20, 30, 1) } else { (100, 200, 1_000 / agents) };
        let runs = (1..=seeds).map(|seed| Pace::of(&city(agents, 200, seed), warm, steps));
        let rate = 1.0 / Pace::of_all(runs)?.mean();
        rows.push(row(CITY, format!("{agents} agents"), "steps per second", "1/s", rate));
        if !quick && agents == 1_000 {
            let name = "1,000 agents in a city: steps per second";
            findings.push(Finding::new(name, rate, Side::AtLeast, 30.0));
        }
    }
    Ok(())
}

/// The same trips for all, however large the city is, and a budget that nobody has to wait for.
fn one_density(quick: bool, rows: &mut Vec<Row>, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    let (warm, steps, rounds) = if quick { (20, 30, 1) } else { (100, 200, ROUNDS) };
    let sizes = if quick { &DISTRICTS[..2] } else { &DISTRICTS };
    let mut least = vec![f64::INFINITY; sizes.len()];
    let mut turns = vec![0.0; sizes.len()];
    for _ in 0..rounds {
        for (size, &districts) in sizes.iter().enumerate() {
            let seeds = if size == 0 && !quick { SEEDS_OF_ONE } else { 1 };
            let runs = (1..=seeds).map(|seed| Pace::of(&districts_of(districts, seed), warm, steps));
            let pace = Pace::of_all(runs)?;
            least[size] = least[size].min(pace.of_an_agent());
            turns[size] = pace.turns_of_an_agent();
        }
    }
    for (size, &[columns, lines]) in sizes.iter().enumerate() {
        let agents = (columns * lines) as usize * AGENTS_OF_A_DISTRICT;
        let name = format!("{agents} agents");
        rows.push(row(DENSITY, name.clone(), "time of a step per agent", "µs", least[size] * 1e6));
        rows.push(row(DENSITY, name, "turns per agent and step", "1", turns[size]));
        if size > 0 {
            let name = format!("{agents} agents at one density: time of a step per agent, of that with 100");
            findings.push(Finding::new(name, least[size] / least[0], Side::AtMost, 1.2));
        }
    }
    Ok(())
}

/// Steps in which much comes together.
fn worst(quick: bool, rows: &mut Vec<Row>, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    let (agents, warm, steps) = if quick { (300, 20, 60) } else { (1_000, 100, 400) };
    let pace = Pace::of(&city(agents, 200, 1), warm, steps)?;
    let (median, p99) = (pace.quantile(0.5), pace.quantile(0.99));
    let name = format!("{agents} agents");
    rows.push(row(CITY, name.clone(), "step, median", "ms", median * 1e3));
    rows.push(row(CITY, name.clone(), "step, p99", "ms", p99 * 1e3));
    // In a short run no plan is renewed.
    if !quick {
        let name = format!("{name} in a city: p99 of a step over its median");
        findings.push(Finding::new(name, p99 / median, Side::AtMost, 4.0));
    }
    Ok(())
}

/// A crowd before a door, and who is through it first.
fn door(quick: bool, rows: &mut Vec<Row>, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    let agents = if quick { 40 } else { 200 };
    let mut through = Vec::new();
    for (who, model) in [("multi-domain", "multi-domain"), ("ORCA alone", "navmesh")] {
        let scenario = Scenario::parse(&bottleneck(agents, model), "door.toml", None)?;
        let mut simulation = Simulation::with_threads(&scenario, THREADS)?;
        let (begin, mut steps) = (Instant::now(), 0);
        while !simulation.is_done() {
            simulation.step();
            steps += 1;
        }
        let step = begin.elapsed().as_secs_f64() / f64::from(steps) * 1e3;
        let done = simulation.arrived() == agents;
        let time = if done { f64::from(steps) * scenario.dt } else { f64::INFINITY };
        rows.push(row(DOOR, format!("{agents} agents"), &format!("{who}: step"), "ms", step));
        rows.push(row(DOOR, format!("{agents} agents"), &format!("{who}: all are through"), "s", time));
        if through.is_empty() {
            findings.push(Finding::new("bottleneck: step, ms", step, Side::AtMost, 5.0));
        }
        through.push(time);
    }
    findings.push(Finding::new(
        "bottleneck: time until all are through, of that with ORCA alone",
        through[0] / through[1],
        Side::AtMost,
        1.0,
    ));
    Ok(())
}

/// A deadline keeps steps short, and nobody waits for its turn for long.
fn deadline(quick: bool, rows: &mut Vec<Row>, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    let (agents, warm, steps) = if quick { (300, 5, 60) } else { (1_000, 5, 600) };
    let text = with_deadline(&city(agents, 200, 1), 10.0);
    let mut simulation = Simulation::with_threads(&Scenario::parse(&text, "city.toml", None)?, THREADS)?;
    let (mut pace, mut waits) = (Vec::new(), Waits::default());
    for step in 0..warm + steps {
        let begin = Instant::now();
        simulation.step();
        if step >= warm {
            pace.push(begin.elapsed().as_secs_f64() * 1e3);
        }
        waits.note(simulation.serviced());
    }
    pace.sort_by(f64::total_cmp);
    let p99 = pace[pace.len() * 99 / 100];
    let name = format!("{agents} agents");
    rows.push(row(DEADLINE, name.clone(), "step, median", "ms", pace[pace.len() / 2]));
    rows.push(row(DEADLINE, name.clone(), "step, p99", "ms", p99));
    rows.push(row(DEADLINE, name.clone(), "longest wait for a plan, simulated", "s", waits.longest));
    findings.push(Finding::new(
        format!("{name}, deadline of 10 ms: p99 of a step, ms"),
        p99,
        Side::AtMost,
        11.0,
    ));
    let claim = format!("{name}, deadline of 10 ms: longest wait for a plan, s");
    findings.push(Finding::new(claim, waits.longest, Side::AtMost, 1.0));
    Ok(())
}

/// How long agents wait for a plan: until a turn comes to an end, found or not.
#[derive(Default)]
struct Waits {
    /// By agent, over turns that were cut.
    so_far: HashMap<u32, f64>,
    longest: f64,
}

impl Waits {
    fn note(&mut self, turns: &[TaskRecord]) {
        for turn in turns {
            let waited = self.so_far.remove(&turn.id).unwrap_or(0.0) + f64::from(turn.waited);
            self.longest = self.longest.max(waited);
            if turn.searching {
                self.so_far.insert(turn.id, waited);
            }
        }
    }
}

/// Two streams that meet, with little time and with much.
fn against(quick: bool, rows: &mut Vec<Row>, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    let seeds = if quick { 2 } else { 20 };
    for deadline in [3.0, 10.0, 33.0] {
        let (mut ended, mut last) = (0, 0.0_f64);
        for seed in 1..=seeds {
            let text = with_deadline(&corridor(seed), deadline);
            let scenario = Scenario::parse(&text, "corridor.toml", None)?;
            let mut simulation = Simulation::with_threads(&scenario, THREADS)?;
            while !simulation.is_done() {
                simulation.step();
            }
            ended += usize::from(simulation.arrived() == simulation.agents());
            last = last.max(simulation.time());
        }
        rows.push(row(AGAINST, format!("{deadline} ms"), "latest end of a run", "s", last));
        let claim = format!("50 against 50, deadline of {deadline} ms: runs that end");
        findings.push(Finding::new(claim, ended as f64, Side::AtLeast, seeds as f64));
    }
    Ok(())
}

fn with_deadline(text: &str, deadline: f64) -> String {
    text.replace("[map]\n", &format!("[params.multi-domain]\ndeadline = {deadline:?}\n[map]\n"))
}

/// Two streams of fifty against one another.
fn corridor(seed: usize) -> String {
    let mut text = head(seed, [50.0, 4.0], "macroscale = \"multi-domain\"\n") + "]\n";
    for (name, from, to) in [("west", [1, 14], [40, 49]), ("east", [36, 49], [1, 10])] {
        let area = |[left, right]: [u32; 2]| {
            format!("[[{left}, 0.3], [{right}, 0.3], [{right}, 3.7], [{left}, 3.7]]")
        };
        let _ = write!(
            text,
            "[[agents]]\nname = \"{name}\"\ncount = 50\nradius = 0.2\nplace = {{ polygon = {} }}\n\
             goal = {{ random = {} }}\non_arrival = \"leave\"\n",
            area(from),
            area(to)
        );
    }
    text
}

/// What all of these scenarios begin with.
fn head(seed: usize, [width, height]: [f64; 2], planner: &str) -> String {
    format!(
        "format = 1\nname = \"city\"\nseed = {seed}\ndt = 0.1\nuntil = 600\n[pipeline]\n\
         microscale = \"orca\"\n{planner}[map]\n\
         walkable = \"POLYGON ((0 0, {width} 0, {width} {height}, 0 {height}, 0 0))\"\nobstacles = [\n"
    )
}

/// Local avoidance that leaves everything to the plans.
const PLANNED: &str =
    "macroscale = \"multi-domain\"\n[params.orca]\ntime_horizon = 0.1\ntime_horizon_obstacles = 0.1\n";

fn blocks(text: &mut String, [columns, lines]: [u32; 2]) {
    for line in 0..lines {
        for column in 0..columns {
            let (x, y) = (STREET + f64::from(column) * PITCH, STREET + f64::from(line) * PITCH);
            let (right, top) = (x + BLOCK, y + BLOCK);
            let _ = writeln!(text, "[[{x}, {y}], [{right}, {y}], [{right}, {top}], [{x}, {top}]],");
        }
    }
    text.push_str("]\n");
}

fn walkers(text: &mut String, name: &str, count: usize, [[x, y], [right, top]]: [[f64; 2]; 2]) {
    let area = format!("[[{x}, {y}], [{right}, {y}], [{right}, {top}], [{x}, {top}]]");
    let _ = write!(
        text,
        "[[agents]]\nname = \"{name}\"\ncount = {count}\nplace = {{ polygon = {area} }}\ngoal = {{ random = {area} }}\n\
         on_arrival = \"leave\"\n"
    );
}

/// A cart that goes to and fro along a street.
fn cart(text: &mut String, number: u32, [from, to]: [f64; 2], street: f64) {
    let time = (to - from) / (1.0 + 0.05 * f64::from(number % 7));
    let begin = -f64::from(number) * 7.0;
    let point = |turn: u32| {
        let x = if turn.is_multiple_of(2) { from } else { to };
        format!("[{:.3}, {x}, {street}]", begin + f64::from(turn) * time)
    };
    let path: Vec<String> = (0..8).map(point).collect();
    let _ =
        writeln!(text, "[[movers]]\nname = \"cart {number}\"\nradius = 0.6\npath = [{}]", path.join(", "));
}

/// Streets between blocks, with a cart for every four of them.
pub fn city(agents: usize, count: u32, seed: usize) -> String {
    let lines = (f64::from(count) / 2.0).sqrt().round().max(1.0) as u32;
    let columns = count.div_ceil(lines);
    let [width, height] = [columns, lines].map(|blocks| f64::from(blocks) * PITCH + STREET);
    let mut text = head(seed, [width, height], PLANNED);
    blocks(&mut text, [columns, lines]);
    walkers(&mut text, "walkers", agents, [[0.0, 0.0], [width, height]]);
    for number in 0..count / 4 {
        let street = f64::from(number % (lines + 1)) * PITCH + STREET / 2.0;
        cart(&mut text, number, [2.0, width - 2.0], street);
    }
    text
}

/// One city, in which everybody stays in a district.
fn districts_of([columns, lines]: [u32; 2], seed: usize) -> String {
    let size = BLOCKS.map(|blocks| f64::from(blocks) * PITCH);
    let all = [columns * BLOCKS[0], lines * BLOCKS[1]];
    let budget = BUDGET_OF_A_DISTRICT * (columns * lines) as usize;
    let planner = format!("{PLANNED}[params.multi-domain]\nbudget = {budget}\n");
    let mut text = head(seed, all.map(|blocks| f64::from(blocks) * PITCH + STREET), &planner);
    blocks(&mut text, all);
    for line in 0..lines {
        for column in 0..columns {
            let district = line * columns + column;
            let low = [f64::from(column) * size[0], f64::from(line) * size[1]];
            let high = [low[0] + size[0], low[1] + size[1]];
            walkers(&mut text, &format!("district {district}"), AGENTS_OF_A_DISTRICT, [low, high]);
            for number in 0..BLOCKS[0] * BLOCKS[1] / 4 {
                let street = low[1] + f64::from(number % BLOCKS[1]) * PITCH + STREET / 2.0;
                let number = district * BLOCKS[0] * BLOCKS[1] / 4 + number;
                cart(&mut text, number, [low[0] + 2.0, high[0] - 2.0], street);
            }
        }
    }
    text
}

/// Two rooms and a door between them, and all want from one to the other.
fn bottleneck(agents: usize, model: &str) -> String {
    let planner = match model {
        "navmesh" => {
            "macroscale = \"navmesh\"\n[params.orca]\ntime_horizon = 3\ntime_horizon_obstacles = 1\n"
        }
        _ => PLANNED,
    };
    let mut text = head(1, [40.0, 20.0], planner);
    text.push_str(
        "[[20, 0], [20.4, 0], [20.4, 9.4], [20, 9.4]],\n[[20, 10.6], [20.4, 10.6], [20.4, 20], [20, 20]],\n]\n",
    );
    let _ = write!(
        text,
        "[[agents]]\nname = \"walkers\"\ncount = {agents}\nplace = {{ polygon = [[1, 1], [18, 1], [18, 19], [1, 19]] }}\n\
         goal = {{ random = [[24, 2], [39, 2], [39, 18], [24, 18]] }}\non_arrival = \"leave\"\n"
    );
    text
}
