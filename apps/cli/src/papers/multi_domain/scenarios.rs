//! Sections 7.2 and 7.3: the paper's scenarios over many seeds, with ORCA alone beside them, and what a frame costs.

use super::super::{Reproduction, Row};
use crate::findings::{Finding, Side};
use crate::progress::Runs;
use crate::statistics::mean;
use anyhow::Context;
use glam::Vec2;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;
use throng::geom::segments_meet;
use throng::metrics::Metrics;
use throng::planning::TaskRecord;
use throng::scenario::Overrides;
use throng::{Scenario, Simulation, builtin};

const TABLE: &str = "Scenarios: runs in which all arrive in time and none collide";
const FRAMES: &str = "A frame with 100 agents, on one thread, with a deadline of 10 ms";
const SCALE: &str = "City blocks, 200 obstacles that stand and 50 that move, two threads";
const SEEDS: u64 = 20;
const QUICK_SEEDS: u64 = 2;
/// The paper's: what an agent's planners may take.
const MOST_BYTES: f64 = 45_000.0;

/// The scenarios.
const NAMES: [&str; 10] = [
    "oncoming",
    "crossing",
    "intersection",
    "choke",
    "change",
    "road",
    "lanes",
    "four-way",
    "goals",
    "stepping-stones",
];

/// How a run went.
struct Run {
    arrived: f64,
    collisions: u64,
    walls_crossed: u64,
    in_window: bool,
    /// Path length over the straight line.
    detour: f64,
    bytes: f64,
}

impl Run {
    fn solves(&self) -> bool {
        self.arrived == 1.0 && self.collisions == 0 && self.walls_crossed == 0 && self.in_window
    }
}

/// Runs all of it, or a short version. A picture of the time that tasks took goes to `picture`.
pub fn reproduce(quick: bool, picture: Option<&std::path::Path>) -> anyhow::Result<Reproduction> {
    let seeds = if quick { QUICK_SEEDS } else { SEEDS };
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    let progress = Runs::new("runs", NAMES.len() * seeds as usize * 2);
    let mut most_bytes: f64 = 0.0;
    for (index, name) in NAMES.into_iter().enumerate() {
        let both = [false, true].map(|alone| {
            let run = |seed: u64| {
                progress.at(index * seeds as usize * 2 + usize::from(alone) * seeds as usize + seed as usize);
                go(name, seed, alone)
            };
            (1..=seeds).map(run).collect::<anyhow::Result<Vec<Run>>>()
        });
        let [ours, alone] = both;
        let (ours, alone) = (ours?, alone?);
        most_bytes = ours.iter().map(|run| run.bytes).fold(most_bytes, f64::max);
        // A quantity's two figures side by side.
        let [ours_rows, alone_rows] =
            [("multi-domain", &ours), ("ORCA alone", &alone)].map(|(who, runs)| rows_of(name, who, runs));
        rows.extend(ours_rows.into_iter().zip(alone_rows).flat_map(|(ours, alone)| [ours, alone]));
        let solved = ours.iter().filter(|run| run.solves()).count();
        findings.push(Finding::new(
            format!("{name}: runs solved"),
            solved as f64,
            Side::AtLeast,
            seeds as f64,
        ));
        if name == "choke" {
            let detour = mean(&ours.iter().map(|run| run.detour).collect::<Vec<_>>());
            findings.push(Finding::new("choke: path length over straight", detour, Side::AtMost, 1.02));
        }
    }
    progress.clear();
    findings.push(Finding::new("planner state per agent, bytes", most_bytes, Side::AtMost, MOST_BYTES));
    frames(quick, picture, &mut rows, &mut findings)?;
    scale(quick, &mut rows, &mut findings)?;
    let mut notes = vec![
        format!(
            "{seeds} seeds for each scenario, which move the starts. Beside it: paths on the navigation mesh, and ORCA with a horizon of 3 s."
        ),
        "Times: this machine, with whatever else it does.".into(),
    ];
    if quick {
        notes.push(format!("SHORT VERSION: {QUICK_SEEDS} seeds. Run without --quick for the whole."));
    }
    Ok(Reproduction { paper: super::TITLE, notes, rows, findings })
}

fn open(name: &str, overrides: &Overrides) -> anyhow::Result<Scenario> {
    let name = format!("multi-domain-{name}");
    let builtin = builtin::find(&name).with_context(|| format!("no scenario `{name}`"))?;
    Ok(builtin.open_with(overrides)?)
}

fn go(name: &str, seed: u64, alone: bool) -> anyhow::Result<Run> {
    let mut overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    if alone {
        overrides.macroscale = Some("navmesh".into());
        let horizon = |key: &str, value: &str| (format!("params.orca.{key}"), value.to_owned());
        overrides.set = vec![
            horizon("time_horizon", "3"),
            horizon("time_horizon_obstacles", "1"),
            ("pipeline.motion".into(), "holonomic".into()),
        ];
    }
    let scenario = open(name, &overrides)?;
    let straight: f64 = scenario.cohorts.iter().map(straight_length).sum();
    let windows: usize = scenario
        .cohorts
        .iter()
        .filter(|cohort| cohort.arrive.is_some())
        .map(|cohort| cohort.agents.len())
        .sum();
    let mut simulation = Simulation::with_threads(&scenario, 2)?;
    let mut metrics = Metrics::default();
    let (mut bytes, mut walls_crossed) = (0, 0);
    // An agent that steps onto a platform crosses the edge of the floor.
    let has_platforms = simulation.world().movers().iter().any(|mover| mover.carries);
    while !simulation.is_done() {
        let before = places(&simulation);
        simulation.step();
        metrics.observe(&simulation);
        walls_crossed += if has_platforms { 0 } else { crossed(&before, &simulation) };
        bytes = bytes.max(simulation.planner_bytes());
    }
    Ok(Run {
        arrived: simulation.arrived() as f64 / simulation.agents().max(1) as f64,
        collisions: metrics.collisions,
        walls_crossed,
        in_window: simulation.in_window() == windows,
        detour: simulation.path_lengths().0 / straight,
        bytes: bytes as f64 / simulation.agents().max(1) as f64,
    })
}

fn places(simulation: &Simulation) -> BTreeMap<u32, Vec2> {
    let agents = &simulation.world().agents;
    (0..agents.len()).map(|row| (agents.id[row], Vec2::new(agents.x[row], agents.y[row]))).collect()
}

/// How many have gone through a wall since.
fn crossed(before: &BTreeMap<u32, Vec2>, simulation: &Simulation) -> u64 {
    let walls = simulation.world().view().walls.all();
    let now = places(simulation);
    let through = |id: &u32, to: Vec2| {
        before.get(id).is_some_and(|&from| walls.iter().any(|wall| segments_meet(from, to, wall.a, wall.b)))
    };
    now.iter().filter(|(id, to)| through(id, **to)).count() as u64
}

/// From every start to where its goal begins, m.
fn straight_length(cohort: &throng::scenario::Cohort) -> f64 {
    let length = |agent: &throng::scenario::AgentStart| match agent.goal {
        throng::scenario::Goal::Point(goal) => (agent.position.distance(goal) - cohort.goal_radius).max(0.0),
        throng::scenario::Goal::Area(_) | throng::scenario::Goal::Journey(_) => 0.0,
    };
    cohort.agents.iter().map(length).sum()
}

fn rows_of(name: &str, who: &str, runs: &[Run]) -> Vec<Row> {
    let row = |metric: &str, unit, ours: f64| Row {
        table: TABLE,
        row: name.into(),
        metric: format!("{who}: {metric}"),
        unit,
        paper: None,
        ours: Some(ours),
    };
    let share = |count: usize| count as f64 / runs.len().max(1) as f64;
    let average = |of: fn(&Run) -> f64| mean(&runs.iter().map(of).collect::<Vec<_>>());
    vec![
        row("solved", "1", share(runs.iter().filter(|run| run.solves()).count())),
        row("arrived", "1", average(|run| run.arrived)),
        row("collisions", "1", average(|run| run.collisions as f64)),
        row("walls crossed", "1", average(|run| run.walls_crossed as f64)),
    ]
}

/// What a frame's thinking costs with a deadline.
fn frames(
    quick: bool,
    picture: Option<&std::path::Path>,
    rows: &mut Vec<Row>,
    findings: &mut Vec<Finding>,
) -> anyhow::Result<()> {
    let overrides =
        Overrides { set: vec![("params.multi-domain.deadline".into(), "10".into())], ..Overrides::default() };
    let scenario = open("four-way", &overrides)?;
    let mut simulation = Simulation::with_threads(&scenario, 1)?;
    let mut times: Vec<f64> = Vec::new();
    let mut tasks: Vec<[f32; 5]> = Vec::new();
    let most = if quick { 150 } else { usize::MAX };
    while !simulation.is_done() && times.len() < most {
        let before = simulation.timings().total.macroscale;
        simulation.step();
        times.push((simulation.timings().total.macroscale - before).as_secs_f64() * 1e3);
        tasks.push(simulation.serviced().iter().fold([0.0; 5], add));
    }
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    let p99 = sorted[((sorted.len() as f64 * 0.99).ceil() as usize).clamp(1, sorted.len()) - 1];
    let row = |metric: &str, ours: f64| Row {
        table: FRAMES,
        row: "deliberation".into(),
        metric: metric.into(),
        unit: "ms",
        paper: None,
        ours: Some(ours),
    };
    rows.extend([row("mean", mean(&times)), row("p99", p99)]);
    findings.push(Finding::new("deliberation, p99, ms", p99, Side::AtMost, 11.0));
    if let Some(path) = picture {
        std::fs::write(path, plot(&times, &tasks))
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}

fn add(sum: [f32; 5], served: &TaskRecord) -> [f32; 5] {
    std::array::from_fn(|task| sum[task] + served.took[task])
}

/// The time of tasks in every frame, as the paper's figure 6: one line for each, and the whole on top.
fn plot(times: &[f64], tasks: &[[f32; 5]]) -> String {
    let (width, height, left, bottom) = (1200.0, 480.0, 60.0, 440.0);
    let high = times.iter().skip(1).copied().fold(12.0, f64::max);
    let x = |frame: usize| left + (width - left - 20.0) * frame as f64 / times.len().max(1) as f64;
    let y = |ms: f64| bottom - (bottom - 40.0) * ms.min(high) / high;
    let line = |of: &dyn Fn(usize) -> f64| {
        (0..times.len())
            .map(|frame| format!("{:.1},{:.1}", x(frame), y(of(frame))))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
         <text x=\"{left}\" y=\"24\" font-size=\"16\">Time of tasks per frame: 100 agents, deadline 10 ms</text>"
    );
    for ms in (0..=high as usize).step_by(2) {
        let at = y(ms as f64);
        let _ = write!(
            svg,
            "<line x1=\"{left}\" x2=\"{}\" y1=\"{at}\" y2=\"{at}\" stroke=\"#ddd\"/><text x=\"20\" y=\"{}\">{ms} ms</text>",
            width - 20.0,
            at + 4.0
        );
    }
    for frame in (0..times.len()).step_by(50) {
        let _ = write!(svg, "<text x=\"{:.1}\" y=\"{}\">{frame}</text>", x(frame), bottom + 20.0);
    }
    let _ = write!(svg, "<text x=\"{}\" y=\"{}\">frame</text>", width - 60.0, bottom + 36.0);
    let names = ["T(Σ1)", "T(Σ2)", "T(Σ3)", "T(Σ4)"];
    let colours = ["#4477aa", "#228833", "#ccbb44", "#ee6677"];
    let _ =
        write!(svg, "<polyline fill=\"none\" stroke=\"#bbb\" points=\"{}\"/>", line(&|frame| times[frame]));
    for (task, (name, colour)) in names.into_iter().zip(colours).enumerate() {
        let points = line(&|frame| f64::from(tasks[frame][task]) * 1e3);
        let at = 640.0 + 110.0 * task as f64;
        let _ = write!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" points=\"{points}\"/><text x=\"{at}\" y=\"24\" fill=\"{colour}\">{name}</text>"
        );
    }
    let _ = writeln!(svg, "<text x=\"1080\" y=\"24\" fill=\"#999\">all</text></svg>");
    svg
}

/// Steps per second as agents grow: on one map, where ten times as many meet ten times as often, and on maps that grow with them.
fn scale(quick: bool, rows: &mut Vec<Row>, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    let counts: &[usize] = if quick { &[100, 300] } else { &[100, 300, 1_000] };
    for (series, grows, name) in [
        ("one map", false, "city: time of a step per agent, of most over 100 agents, on one map"),
        ("maps that grow", true, "city: time of a step per agent, of most over 100 agents, at one density"),
    ] {
        let blocks = |count: usize| if grows { count as u32 / 5 } else { 200 };
        let times = counts.iter().map(|&count| city_step(count, blocks(count), quick));
        let times = times.collect::<anyhow::Result<Vec<Pace>>>()?;
        rows.extend(counts.iter().zip(&times).map(|(count, pace)| Row {
            table: SCALE,
            row: format!("{series}, {count} agents"),
            metric: "steps per second".into(),
            unit: "1/s",
            paper: None,
            ours: Some(1.0 / pace.step),
        }));
        let (first, last) = (&times[0], &times[times.len() - 1]);
        if !quick && !grows {
            let rate = 1.0 / last.step;
            findings.push(Finding::new(
                "1,000 agents in a city: steps per second",
                rate,
                Side::AtLeast,
                30.0,
            ));
        }
        findings.push(Finding::new(name, last.agent / first.agent, Side::AtMost, 1.2));
    }
    Ok(())
}

/// How long things take, s.
struct Pace {
    step: f64,
    /// A step, for each who is there: on a small map many have soon arrived.
    agent: f64,
}

/// After the first steps, which make the map and every agent's first plan. Over enough seeds that there are as many agents in
/// all: of a hundred, a handful search, and another handful in another city.
fn city_step(agents: usize, blocks: u32, quick: bool) -> anyhow::Result<Pace> {
    let (warm, steps, seeds) = if quick { (20, 30, 1) } else { (100, 200, 1_000 / agents) };
    let (mut took, mut present) = (0.0, 0);
    for seed in 1..=seeds {
        let scenario = Scenario::parse(&city(agents, blocks, seed), "city.toml", None)?;
        let mut simulation = Simulation::with_threads(&scenario, 2)?;
        (0..warm).for_each(|_| simulation.step());
        let begin = Instant::now();
        for _ in 0..steps {
            simulation.step();
            present += simulation.frame().len();
        }
        took += begin.elapsed().as_secs_f64();
    }
    Ok(Pace { step: took / (steps * seeds) as f64, agent: took / present.max(1) as f64 })
}

/// Streets between blocks, with a cart for every four of them.
fn city(agents: usize, blocks: u32, seed: usize) -> String {
    let (block, street) = (8.0, 6.0);
    let pitch = block + street;
    let lines = (f64::from(blocks) / 2.0).sqrt().round().max(1.0) as u32;
    let columns = blocks.div_ceil(lines);
    let (width, height) = (f64::from(columns) * pitch + street, f64::from(lines) * pitch + street);
    let mut text = format!(
        "format = 1\nname = \"city\"\nseed = {seed}\ndt = 0.1\nuntil = 600\n[pipeline]\nmacroscale = \"multi-domain\"\n\
         microscale = \"orca\"\n[params.orca]\ntime_horizon = 0.1\ntime_horizon_obstacles = 0.1\n[map]\n\
         walkable = \"POLYGON ((0 0, {width} 0, {width} {height}, 0 {height}, 0 0))\"\nobstacles = [\n"
    );
    for line in 0..lines {
        for column in 0..columns {
            let (x, y) = (street + f64::from(column) * pitch, street + f64::from(line) * pitch);
            let (right, top) = (x + block, y + block);
            let _ = writeln!(text, "[[{x}, {y}], [{right}, {y}], [{right}, {top}], [{x}, {top}]],");
        }
    }
    let area = format!("[[0, 0], [{width}, 0], [{width}, {height}], [0, {height}]]");
    let _ = write!(
        text,
        "]\n[[agents]]\nname = \"walkers\"\ncount = {agents}\nplace = {{ polygon = {area} }}\ngoal = {{ random = {area} }}\n\
         on_arrival = \"leave\"\n"
    );
    for cart in 0..blocks / 4 {
        let street_line = f64::from(cart % (lines + 1)) * pitch + street / 2.0;
        let speed = 1.0 + 0.05 * f64::from(cart % 7);
        let time = (width - 4.0) / speed;
        let begin = -f64::from(cart) * 7.0;
        let point = |turn: u32| {
            let x = if turn.is_multiple_of(2) { 2.0 } else { width - 2.0 };
            format!("[{:.3}, {x}, {street_line}]", begin + f64::from(turn) * time)
        };
        let path: Vec<String> = (0..8).map(point).collect();
        let _ =
            writeln!(text, "[[movers]]\nname = \"cart {cart}\"\nradius = 0.6\npath = [{}]", path.join(", "));
    }
    text
}
