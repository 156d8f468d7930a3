//! Figures 6 and 7 of Kapadia et al. 2013: the time of one agent's tasks, and trails beside those of an ordinary crowd.

use super::super::multi_domain::scenarios;
use super::{Figure, Job, Trail, rectangle, scenario, trails};
use glam::DVec2;
use std::collections::BTreeMap;
use throng::Simulation;
use throng::map::Map;
use throng::scenario::Overrides;
use throng_render::{Anchor, Axis, Colour, Picture, Sheet, Swatch};

/// In the order of the paper.
pub const ALL: &[Figure] = &[
    Figure {
        name: "multi-domain-figure-6",
        shows: "time of every task of one agent in each frame, with what happens to it",
        draw: times_of_tasks,
    },
    Figure {
        name: "multi-domain-figure-7",
        shows: "trails of multi-domain beside those of ORCA on a navigation mesh",
        draw: trails_beside_orca,
    },
];

/// The agent whose tasks are looked at.
const FOCUS: u32 = 0;
/// What happens in `focus.toml`, and in which frame.
const EVENTS: [(usize, &str); 4] =
    [(0, "start"), (40, "crate put down"), (120, "gate shut"), (400, "new goal")];
/// The cohort that blocks a gate, how many of them do, and where that is, m.
const CROWD: u16 = 3;
const MANY: usize = 6;
const GATE: [DVec2; 2] = [DVec2::new(41.5, 5.0), DVec2::new(44.5, 8.0)];
const TASKS: [&str; 5] = [
    "T(Σ1)  static mesh",
    "T(Σ2)  dynamic mesh",
    "T(Σ3)  grid",
    "T(Σ4)  space-time",
    "T0  steering and motion, one agent's share of the step",
];

/// What the agent's tasks took in a frame, Σ1 to Σ4 and T0, µs.
type Took = [f64; 5];

fn times_of_tasks(job: &Job) -> anyhow::Result<Picture> {
    job.say("60 s with a deadline");
    let run = Run::new(if job.quick { 15.0 } else { 60.0 })?;
    let longest = run.took.iter().map(|took| took.iter().sum()).fold(0.0, f64::max) / 1e3;
    let about = format!(
        "One agent in focus among {} others, frames of 0.1 s, a deadline of 10 ms in every frame for all of them. Logarithmic.\n\
         Dashed: what happens. All tasks of the agent together took at most {longest:.1} ms in a frame.",
        run.agents - 1
    );
    let mut sheet = Sheet::new([1200, 1120], "Time of tasks of one agent", &about);
    for (task, name) in TASKS.iter().enumerate() {
        run.draw(&mut sheet, task, name);
    }
    Ok(sheet.finish())
}

/// What became of the agent in focus.
struct Run {
    took: Vec<Took>,
    events: Vec<(usize, &'static str)>,
    agents: usize,
}

impl Run {
    fn new(until: f64) -> anyhow::Result<Run> {
        let scenario = scenario(include_str!("focus.toml"), "focus.toml")?;
        // One thread: the clock counts what this agent takes, and not who else is planned for at the same time.
        let mut simulation = Simulation::with_threads(&scenario, 1)?;
        let (mut took, mut blocked) = (Vec::new(), None);
        while !simulation.is_done() && simulation.time() < until - 1e-9 {
            took.push(step(&mut simulation));
            if blocked.is_none() && is_blocked(&simulation) {
                blocked = Some((took.len() - 1, "crowd blocks the next gate"));
            }
        }
        let events = EVENTS.into_iter().chain(blocked).filter(|(frame, _)| *frame < took.len()).collect();
        Ok(Run { took, events, agents: simulation.agents() })
    }

    /// A column for each frame.
    fn draw(&self, sheet: &mut Sheet, task: usize, name: &str) {
        const DECADES: [i32; 2] = [-1, 4];
        let took = || self.took.iter().map(|took| took[task]);
        let (busy, most) = (took().filter(|&took| took > 0.0).count(), took().fold(0.0, f64::max));
        let caption = format!("{name}: works in {busy} of {} frames, at most {most:.0} µs", self.took.len());
        let frames = Axis::with_ticks([self.took.len() as f64].into_iter(), 12.0);
        let x_name = if task + 1 == TASKS.len() { "frame" } else { "" };
        let frame = sheet.room().part([0, task], [1, TASKS.len()]);
        let mut chart = sheet.chart(frame, &caption, [(x_name, frames), ("µs", Axis::decades(DECADES))]);
        let [foot, top] = DECADES.map(f64::from);
        for &(frame, what) in &self.events {
            let x = frame as f64;
            chart.dashes([DVec2::new(x, foot), DVec2::new(x, top)], Colour::FAINT, 1.0);
            if task == 0 {
                chart.text(DVec2::new(x, top), [4.0, 11.0], Anchor::Start, Colour::FAINT, what);
            }
        }
        for (frame, took) in took().enumerate().filter(|(_, took)| *took > 0.0) {
            let ends = [foot, took.log10().max(foot)].map(|y| DVec2::new(frame as f64, y));
            chart.line(&ends, Colour::of_cohort(task), 1.6);
        }
    }
}

/// A step, and what of it was for the agent in focus.
fn step(simulation: &mut Simulation) -> Took {
    let before = simulation.timings().total;
    simulation.step();
    let after = simulation.timings().total;
    let mut sum = [0.0; 5];
    for record in simulation.serviced().iter().filter(|record| record.id == FOCUS) {
        sum.iter_mut().zip(record.took).take(4).for_each(|(sum, took)| *sum += f64::from(took) * 1e6);
    }
    let steering = (after.microscale - before.microscale) + (after.motion - before.motion);
    sum[4] = steering.as_secs_f64() * 1e6 / simulation.len().max(1) as f64;
    sum
}

fn is_blocked(simulation: &Simulation) -> bool {
    let frame = simulation.frame();
    let is_there = |row: usize| {
        let place = frame.position(row);
        frame.cohort[row] == CROWD && place.cmpgt(GATE[0]).all() && place.cmplt(GATE[1]).all()
    };
    (0..frame.len()).filter(|&row| is_there(row)).count() >= MANY
}

/// A place of figure 7.
struct Scene {
    name: &'static str,
    title: &'static str,
    /// What is shown, m.
    within: [DVec2; 2],
    cohorts: &'static [&'static str],
}

const SCENES: [Scene; 2] = [
    Scene {
        name: "choke",
        title: "Choke point",
        within: [DVec2::new(-11.0, -10.4), DVec2::new(11.0, 10.4)],
        cohorts: &["by agent"],
    },
    Scene {
        name: "four-way",
        title: "Four-way crossing",
        within: [DVec2::new(-22.5, -22.5), DVec2::new(22.5, 22.5)],
        cohorts: &["to the east", "to the west", "to the north", "to the south"],
    },
];

fn trails_beside_orca(job: &Job) -> anyhow::Result<Picture> {
    let about = "Left: plans in space and time (multi-domain). Right: an ordinary crowd, ORCA on paths of a navigation mesh.\n\
                 A line for every agent, a dot where it began. At the choke point every agent has a colour, at the crossing every side.";
    let mut sheet = Sheet::new([880, 990], "Trails of multi-domain beside those of an ordinary crowd", about);
    for (line, scene) in SCENES.iter().enumerate() {
        for (column, alone) in [false, true].into_iter().enumerate() {
            job.say(&format!("{}, {}", scene.name, if alone { "ORCA" } else { "multi-domain" }));
            draw_scene(&mut sheet, scene, [column, line], (alone, job.quick))?;
        }
    }
    let names = SCENES[1].cohorts.iter().enumerate();
    let legend: Vec<_> = names.map(|(place, &name)| (Swatch::Line(Colour::of_cohort(place)), name)).collect();
    sheet.legend(&legend);
    Ok(sheet.finish())
}

fn draw_scene(
    sheet: &mut Sheet,
    scene: &Scene,
    place: [usize; 2],
    (alone, quick): (bool, bool),
) -> anyhow::Result<()> {
    let overrides = Overrides { seed: Some(1), ..Overrides::default() };
    let overrides = if alone { scenarios::with_orca_alone(overrides) } else { overrides };
    let scenario = scenarios::open(scene.name, &overrides)?;
    let mut simulation = Simulation::with_threads(&scenario, 2)?;
    let trails = trails(&mut simulation, if quick { 15.0 } else { f64::INFINITY });
    let caption = format!("{}, {}", scene.title, told(&simulation, &trails, alone));
    let mut panel = sheet.map(sheet.room().part(place, [2, 2]), &caption, scene.within);
    panel.area(&rectangle(scene.within), if scenario.map.is_empty() { Colour::FLOOR } else { Colour::WALL });
    floor(&mut panel, &scenario.map);
    let is_one = scene.cohorts.len() == 1;
    let colour = |id: u32, trail: &Trail| match is_one {
        true => Colour::of_turn(id as f32 / trails.len() as f32),
        false => Colour::of_cohort(trail.cohort),
    };
    let width = if is_one { 2.0 } else { 1.25 };
    for (&id, trail) in &trails {
        panel.trail(&trail.places, colour(id, trail), width);
    }
    for (&id, trail) in &trails {
        panel.dot(trail.places[0], 2.6, colour(id, trail));
    }
    panel.scale_bar(scene.within[0] + DVec2::new(0.8, 0.8), 5.0);
    Ok(())
}

fn floor(panel: &mut throng_render::Panel<'_>, map: &Map) {
    if !map.is_empty() {
        panel.floor(map);
    }
}

/// Who walked, and how far.
fn told(simulation: &Simulation, trails: &BTreeMap<u32, Trail>, alone: bool) -> String {
    let who = if alone { "ORCA and navmesh" } else { "multi-domain" };
    let straight: f64 =
        trails.values().map(|trail| trail.places[0].distance(trail.places[trail.places.len() - 1])).sum();
    let walked: f64 = trails.values().map(Trail::length).sum();
    let detour = (walked / straight.max(1e-9) - 1.0) * 100.0;
    let (there, time) = (simulation.arrived(), simulation.time());
    let agents = trails.len();
    format!("{who}\n{there} of {agents} there after {time:.0} s; paths {detour:.1} % longer than straight")
}
