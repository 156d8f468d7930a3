//! How a step is shared among threads, and what many cores would make of it: a measured model.
//!
//! On one thread every pass that threads could share is timed, with the number of chunks that it comes in; all other time of a step
//! is serial. On n cores a pass of c chunks takes ⌈c / n⌉ / c of its time, which is Amdahl's law with chunks that cannot be cut.
//! Until another thread has begun with its half of a pass, half of that time is lost, and work is halved log2 n times; but no pass
//! takes longer than one thread would. What the model leaves out is memory that all cores share. The run on two threads is measured
//! beside it.

use super::case;
use super::ours::Ours;
use super::workload::{RandomCrossing, Walls, Workload};
use crate::findings;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use throng::Simulation;
use throng::core::parallel::{Pass, for_chunks, watched};

/// Numbers of cores that the model is asked about.
pub const CORES: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Steps of a turn, and how often it is everyone's turn. Of all steps the fastest counts: what else a machine does only adds.
const STEPS: usize = 5;
const ROUNDS: usize = 12;
const QUICK_ROUNDS: usize = 4;

/// A step on one and on two threads, and on more as the model has it.
#[derive(Clone, Debug, Serialize)]
pub struct Shared {
    pub agents: usize,
    /// A step on one and on two threads, µs.
    pub step_us: [f64; 2],
    /// By stage.
    pub stages: Vec<Stage>,
    /// Of the longest pass: its chunks, and the time of one of them, µs.
    pub longest: [f64; 2],
    /// Until a second thread begins with its half of a pass.
    pub waking: Waking,
    /// On each of [`CORES`].
    pub on: Vec<Parts>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Stage {
    pub name: &'static str,
    /// On one and on two threads, µs.
    pub us: [f64; 2],
}

/// What a step is made of, µs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parts {
    pub cores: usize,
    /// Passes that threads share.
    pub shared: f64,
    /// Passes of a single chunk: one thread's work, too.
    pub single: f64,
    /// What is in no pass.
    pub serial: f64,
    /// Until threads are there.
    pub waking: f64,
}

impl Parts {
    pub fn us(&self) -> f64 {
        self.shared + self.single + self.serial + self.waking
    }
}

/// A step on a number of threads, as it went.
#[derive(Clone, Debug, Default)]
struct Step {
    us: f64,
    passes: Vec<Pass>,
    stages: Vec<(&'static str, f64)>,
}

/// Measures a crowd of ORCA's.
pub fn shared(agents: usize, quick: bool) -> anyhow::Result<Shared> {
    let (crowd, usual) = (RandomCrossing::new(Workload::of(agents)), case::usual(Walls::None));
    let on = |threads| anyhow::Ok(Ours::new(&crowd, &usual, threads)?.simulation);
    Ok(measured([on(1)?, on(2)?], quick))
}

/// The same crowd on one thread and on two, which take turns.
pub fn measured(mut both: [Simulation; 2], quick: bool) -> Shared {
    let mut best = [None, None];
    // The first round only warms up.
    for round in 0..=if quick { QUICK_ROUNDS } else { ROUNDS } {
        for (simulation, best) in both.iter_mut().zip(&mut best) {
            let now = Step::fastest(simulation);
            if round == 1 || best.as_ref().is_none_or(|best: &Step| now.us < best.us) {
                *best = Some(now);
            }
        }
    }
    let waking = waking(&mut both[1]);
    Shared::of(both[0].agents(), best.map(Option::unwrap_or_default), waking)
}

/// What it takes that a second thread works too.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Waking {
    /// µs. Of the trials in which one came at all a tenth is faster: a core that others use is no matter of ours.
    us: f64,
    /// The share of trials in which none came, because the machine was busy.
    missed: f64,
}

fn waking(on_two: &mut Simulation) -> Waking {
    const TRIALS: usize = 500;
    const PATIENCE: Duration = Duration::from_micros(200);
    /// What lies between two passes of a step.
    const BETWEEN: Duration = Duration::from_micros(20);
    let trial = || {
        let (begin, begun, last) = (Instant::now(), AtomicUsize::new(0), AtomicU64::new(0));
        for_chunks(1, 0..2usize, &|_, _| {
            last.fetch_max(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
            begun.fetch_add(1, Ordering::Relaxed);
            while begun.load(Ordering::Relaxed) < 2 && begin.elapsed() < PATIENCE {
                std::hint::spin_loop();
            }
        });
        let end = Instant::now();
        while end.elapsed() < BETWEEN {
            std::hint::spin_loop();
        }
        Duration::from_nanos(last.into_inner())
    };
    let mut times: Vec<Duration> = on_two.on_threads(|_| (0..TRIALS).map(|_| trial()).collect());
    times.retain(|&time| time < PATIENCE);
    times.sort();
    let us = times.get(times.len() / 10).unwrap_or(&PATIENCE).as_secs_f64() * 1e6;
    Waking { us, missed: 1.0 - times.len() as f64 / TRIALS as f64 }
}

impl Step {
    /// The fastest of a turn.
    fn fastest(simulation: &mut Simulation) -> Step {
        let steps = |simulation: &mut Simulation| (0..STEPS).map(|_| Step::take(simulation)).collect();
        let steps: Vec<Step> = simulation.on_threads(steps);
        steps.into_iter().min_by(|a, b| a.us.total_cmp(&b.us)).unwrap_or_default()
    }

    fn take(simulation: &mut Simulation) -> Step {
        let before = simulation.timings().total.named();
        let begin = Instant::now();
        let ((), passes) = watched(|| simulation.step());
        let us = begin.elapsed().as_secs_f64() * 1e6;
        let after = simulation.timings().total.named().into_iter().zip(before);
        let stages = after
            .map(|((name, after), (_, before))| (name, after.saturating_sub(before).as_secs_f64() * 1e6));
        Step { us, passes, stages: stages.collect() }
    }

    /// What a step of one thread would be on a number of cores, if waking a thread took nothing.
    fn ideal(&self, cores: usize) -> Parts {
        let sum = |of: &dyn Fn(&Pass) -> f64| self.passes.iter().map(of).sum::<f64>();
        let single = sum(&|pass| if is_shared(pass) { 0.0 } else { us(pass) });
        Parts {
            cores,
            shared: sum(&|pass| if is_shared(pass) { us(pass) * share(pass, cores) } else { 0.0 }),
            single,
            serial: (self.us - sum(&us)).max(0.0),
            waking: 0.0,
        }
    }
}

/// A pass, µs.
fn us(pass: &Pass) -> f64 {
    pass.took.as_secs_f64() * 1e6
}

fn is_shared(pass: &Pass) -> bool {
    pass.chunks != Some(1)
}

/// What is left of a pass on a number of cores.
fn share(pass: &Pass, cores: usize) -> f64 {
    match pass.chunks {
        Some(chunks) => chunks.div_ceil(cores) as f64 / chunks as f64,
        None => 1.0 / cores as f64,
    }
}

impl Shared {
    fn of(agents: usize, [one, two]: [Step; 2], waking: Waking) -> Shared {
        let lost = |pass: &Pass, cores: usize| {
            let halvings = (cores as f64).log2();
            // One thread that is left alone does all of it.
            (waking.us / 2.0 * halvings).min(us(pass) * (1.0 - share(pass, cores)))
        };
        let on = |cores: usize| {
            let lost = one.passes.iter().map(|pass| lost(pass, cores)).sum();
            Parts { waking: lost, ..one.ideal(cores) }
        };
        let longest = one.passes.iter().max_by(|a, b| a.took.cmp(&b.took));
        let chunk = |pass: &Pass| pass.chunks.map_or([1.0, us(pass)], |c| [c as f64, us(pass) / c as f64]);
        let stages = one.stages.iter().zip(&two.stages);
        Shared {
            agents,
            step_us: [one.us, two.us],
            stages: stages.map(|(&(name, one), &(_, two))| Stage { name, us: [one, two] }).collect(),
            longest: longest.map_or([0.0, 0.0], chunk),
            waking,
            on: CORES.map(on).to_vec(),
        }
    }

    /// Times the speed of one thread, by the model.
    pub fn speed_up(&self) -> impl Iterator<Item = f64> {
        self.on.iter().map(|parts| self.step_us[0] / parts.us())
    }

    /// The parts of a step on one thread that are its alone however many there are: in no pass, and in passes of one chunk.
    pub fn alone(&self) -> [f64; 2] {
        [self.on[0].serial, self.on[0].single].map(|us| us / self.step_us[0])
    }

    /// The same, together.
    pub fn serial_share(&self) -> f64 {
        self.alone().iter().sum()
    }

    /// The serial share that one and two threads would have by Amdahl's law.
    fn amdahl(&self) -> f64 {
        2.0 * self.step_us[1] / self.step_us[0] - 1.0
    }

    /// The model's cells of a table, with their titles.
    pub fn cells(&self) -> Vec<(String, String)> {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let [one, two] = self.step_us;
        let [serial, single] = self.alone();
        let mut cells = vec![
            ("agents".into(), self.agents.to_string()),
            ("1 thread, µs".into(), format!("{one:.0}")),
            ("2 threads, µs".into(), format!("{two:.0}")),
            ("serial".into(), percent(serial)),
            ("one chunk".into(), percent(single)),
            ("by Amdahl".into(), percent(self.amdahl())),
            ("longest pass".into(), format!("{:.0} × {:.1} µs", self.longest[0], self.longest[1])),
            ("waking, µs".into(), format!("{:.1}", self.waking.us)),
            ("2 threads, measured".into(), format!("{:.2}", one / two)),
        ];
        let more = CORES.iter().zip(self.speed_up()).skip(1);
        cells.extend(more.map(|(cores, times)| (format!("{cores} cores"), format!("{times:.1}"))));
        cells
    }

    /// The same of stages.
    pub fn stage_cells(&self) -> Vec<(String, String)> {
        let cell = |stage: &Stage| (stage.name.into(), format!("{:.0} / {:.0}", stage.us[0], stage.us[1]));
        let agents = ("agents".into(), self.agents.to_string());
        std::iter::once(agents).chain(self.stages.iter().map(cell)).collect()
    }
}

/// What is to be said of the tables.
pub fn note(all: &[Shared]) -> &'static str {
    match all.iter().any(|shared| shared.waking.missed > 0.2) {
        true => {
            "A second core was often busy with something else: figures of threads are not to be believed.\n"
        }
        false => "",
    }
}

/// Titles and lines of a table.
pub fn lines(cells: &[Vec<(String, String)>]) -> (Vec<&str>, Vec<Vec<String>>) {
    let titles = cells.first().into_iter().flatten().map(|(title, _)| title.as_str());
    let line = |cells: &Vec<(String, String)>| cells.iter().map(|(_, cell)| cell.clone()).collect();
    (titles.collect(), cells.iter().map(line).collect())
}

/// Tables as text.
pub fn text(all: &[Shared]) -> String {
    let cells: Vec<_> = all.iter().map(Shared::cells).collect();
    let stages: Vec<_> = all.iter().map(Shared::stage_cells).collect();
    let table = |cells: &[Vec<(String, String)>]| {
        let (titles, lines) = lines(cells);
        findings::table(0, &titles, &lines)
    };
    format!(
        "A step of ORCA on threads: what one does alone, and times the speed of one thread on more cores, as a model has it.\n{}{}\n\
         Its stages, µs on one and on two threads.\n{}",
        note(all),
        table(&cells),
        table(&stages)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(us: f64, passes: &[(Option<usize>, u64)]) -> Step {
        let pass = |&(chunks, us)| Pass { chunks, took: Duration::from_micros(us) };
        Step { us, passes: passes.iter().map(pass).collect(), stages: Vec::new() }
    }

    fn woken_in(us: f64) -> Waking {
        Waking { us, missed: 0.0 }
    }

    #[test]
    fn a_step_that_is_all_shared_and_finely_cut_is_as_many_times_faster_as_there_are_cores() {
        let shared = Shared::of(1, [step(6400.0, &[(Some(6400), 6400)]), step(3200.0, &[])], woken_in(0.0));
        for (cores, speed_up) in CORES.iter().zip(shared.speed_up()) {
            assert!((speed_up - *cores as f64).abs() < 1e-6, "{speed_up} on {cores}");
        }
        assert_eq!((shared.serial_share(), shared.on[6].waking), (0.0, 0.0));
    }

    #[test]
    fn what_is_serial_or_of_one_chunk_does_not_shrink_and_four_chunks_serve_four_cores() {
        let passes = [(Some(4), 80), (Some(1), 10)];
        let shared = Shared::of(1, [step(100.0, &passes), step(60.0, &[])], woken_in(0.0));
        assert!(shared.alone().iter().all(|share| (share - 0.1).abs() < 1e-9));
        let speed_up: Vec<f64> = shared.speed_up().collect();
        assert!(speed_up[2..].iter().all(|times| (times - 2.5).abs() < 1e-9), "{speed_up:?}");
    }

    #[test]
    fn no_pass_takes_longer_than_by_one_thread() {
        let shared =
            Shared::of(1, [step(100.0, &[(None, 40), (Some(8), 50)]), step(100.0, &[])], woken_in(1e6));
        assert!(shared.speed_up().all(|times| (times - 1.0).abs() < 1e-9));
    }

    #[test]
    fn half_of_the_time_until_a_thread_is_awake_is_lost_in_each_halving() {
        let shared = Shared::of(1, [step(100.0, &[(None, 100)]), step(57.0, &[])], woken_in(14.0));
        assert!((shared.on[1].us() - 57.0).abs() < 1e-9);
        assert!((shared.on[2].us() - (25.0 + 14.0)).abs() < 1e-9);
    }
}
