//! Figures 5 and 6 of Snape et al. 2012: how the benchmark is shared among threads, and its time per step.

use super::super::snape::{MODELS, NAMES, benchmark};
use super::{Figure, Job};
use crate::bench::threads::{CORES, Parts, measured};
use glam::DVec2;
use std::time::Instant;
use throng::Simulation;
use throng_render::{Axis, Colour, Picture, Sheet, Swatch};

/// In the order of the paper.
pub const ALL: &[Figure] = &[
    Figure {
        name: "snape-figure-5",
        shows: "how a step of 1000 agents is shared among threads, for HRVO and ORCA",
        draw: shared_among_threads,
    },
    Figure {
        name: "snape-figure-6",
        shows: "time of a step by agents and threads, for HRVO and ORCA",
        draw: time_of_a_step,
    },
];

/// The crowds of Figure 6; Figure 5 has the largest.
const CROWDS: [usize; 4] = [50, 100, 500, 1_000];
const QUICK_CROWDS: [usize; 2] = [50, 100];
/// Threads beyond the machine's cores would only wait for one another.
const THREADS: [usize; 4] = [1, 2, 6, 12];
/// Steps of a round; rounds take turns, and the best of each counts: what else a machine does only adds.
const STEPS: usize = 5;
const ROUNDS: usize = 60;

fn crowds(job: &Job) -> &'static [usize] {
    if job.quick { &QUICK_CROWDS } else { &CROWDS }
}

fn shared_among_threads(job: &Job) -> anyhow::Result<Picture> {
    let agents = crowds(job).last().copied().unwrap_or_default();
    let about = format!(
        "The paper's screenshot shows 12 threads that are busy. Here: the circle of {agents} agents, measured on one thread; beyond, a model by the chunks that\n\
         passes over all agents come in. The dot is the step on two threads as it was measured."
    );
    let mut sheet = Sheet::new([1200, 560], "Figure 5: a step among threads", &about);
    for (column, model) in MODELS.into_iter().enumerate() {
        job.say(NAMES[column]);
        let shared = measured([benchmark(model, agents, 1)?, benchmark(model, agents, 2)?], job.quick);
        let most = shared.on.iter().map(Parts::us).chain(shared.step_us);
        let axes = [("cores", Axis::decades([0, 2])), ("µs", Axis::over(most))];
        let frame = sheet.room().part([column, 0], [2, 1]);
        let mut chart = sheet.chart(frame, NAMES[column], axes);
        let mut below: Vec<DVec2> = CORES.iter().map(|&cores| at_cores(cores, 0.0)).collect();
        for (part, (_, of)) in PARTS.into_iter().enumerate() {
            let above = below.iter().zip(&shared.on).map(|(at, parts)| *at + DVec2::Y * of(parts));
            let above: Vec<DVec2> = above.collect();
            let ring: Vec<DVec2> = below.iter().chain(above.iter().rev()).copied().collect();
            chart.area(&ring, Colour::of_cohort(part));
            below = above;
        }
        chart.dot(at_cores(2, shared.step_us[1]), 5.0, Colour::INK);
    }
    let area = |(part, (name, _))| (Swatch::Area(Colour::of_cohort(part)), name);
    sheet.legend(&PARTS.into_iter().enumerate().map(area).collect::<Vec<_>>());
    Ok(sheet.finish())
}

/// A part of a step: its name, and its time.
type Part = (&'static str, fn(&Parts) -> f64);

/// From below.
const PARTS: [Part; 4] = [
    ("passes that threads share", |parts| parts.shared),
    ("passes of one chunk", |parts| parts.single),
    ("the rest of a step", |parts| parts.serial),
    ("waking threads", |parts| parts.waking),
];

fn at_cores(cores: usize, us: f64) -> DVec2 {
    DVec2::new((cores as f64).log10(), us)
}

fn time_of_a_step(job: &Job) -> anyhow::Result<Picture> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads: Vec<usize> = THREADS.into_iter().filter(|&threads| threads <= cores).collect();
    let about = "The circle of the paper's benchmark, without what the engine adds in dense crowds. The best of 60 rounds of 5 steps that take turns.";
    let mut sheet = Sheet::new([1200, 520], "Figure 6: time of a step by agents and threads", about);
    for (column, model) in MODELS.into_iter().enumerate() {
        let mut lines: Vec<Vec<DVec2>> = vec![Vec::new(); threads.len()];
        for &agents in crowds(job) {
            job.say(&format!("{}, {agents} agents", NAMES[column]));
            for (line, us) in lines.iter_mut().zip(in_turns(model, agents, &threads)?) {
                line.push(DVec2::new(agents as f64, us));
            }
        }
        let all = || lines.iter().flatten();
        let axes = [("agents", Axis::over(all().map(|at| at.x))), ("µs", Axis::over(all().map(|at| at.y)))];
        let frame = sheet.room().part([column, 0], [2, 1]);
        let mut chart = sheet.chart(frame, NAMES[column], axes);
        for (place, line) in lines.iter().enumerate() {
            chart.line(line, Colour::of_cohort(place), 2.0);
            line.iter().for_each(|&at| chart.dot(at, 3.5, Colour::of_cohort(place)));
        }
    }
    let names: Vec<String> = threads
        .iter()
        .map(|&threads| match threads {
            1 => "1 thread".into(),
            threads => format!("{threads} threads"),
        })
        .collect();
    let legend =
        names.iter().enumerate().map(|(place, name)| (Swatch::Disc(Colour::of_cohort(place)), name.as_str()));
    sheet.legend(&legend.collect::<Vec<_>>());
    Ok(sheet.finish())
}

/// The best round of each number of threads, µs a step.
fn in_turns(model: &str, agents: usize, threads: &[usize]) -> anyhow::Result<Vec<f64>> {
    let begin = |&threads: &usize| benchmark(model, agents, threads);
    let mut crowds = threads.iter().map(begin).collect::<anyhow::Result<Vec<Simulation>>>()?;
    let mut best = vec![f64::INFINITY; crowds.len()];
    for _ in 0..ROUNDS {
        for (crowd, best) in crowds.iter_mut().zip(&mut best) {
            let seconds = crowd.on_threads(|crowd| {
                let begin = Instant::now();
                (0..STEPS).for_each(|_| crowd.step());
                begin.elapsed().as_secs_f64()
            });
            *best = best.min(seconds * 1e6 / STEPS as f64);
        }
    }
    Ok(best)
}
