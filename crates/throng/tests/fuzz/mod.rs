//! Fuzzing: scenario files, broken texts and raw states by the thousand. A case is a seed, and its seed replays it:
//!
//! ```text
//! THRONG_FUZZ_SEED=123 cargo test --release -p throng --all-features --test all -- --nocapture fuzz::replay
//! cargo test --release -p throng --all-features --test all -- --ignored --nocapture fuzz       # a million cases
//! ```

mod checks;
mod draws;
mod scenarios;
mod worlds;

use checks::Verdict;
use draws::Draws;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use throng::Scenario;

/// A case that takes longer is a hang. Most take a millisecond, but other processes may be using the machine: on a busy one
/// a case has waited for 10 s.
const DEADLINE: Duration = Duration::from_secs(60);
/// A case that takes as long is told of.
const SLOW: Duration = Duration::from_secs(5);
/// The hunt ends after this many bugs.
const ENOUGH: usize = 12;

/// The decisions of a seed. They are made among all models of the catalog, to which a test that may run meanwhile adds one: it is
/// there for every case, so that a seed stands for the same always.
fn drawn(seed: u64) -> Draws<'static> {
    crate::memory::register();
    Draws::seeded(seed)
}

/// What a seed stands for.
fn case(seed: u64) -> Verdict {
    let mut draws = drawn(seed);
    match seed % 4 {
        0 | 1 => {
            let text = scenarios::scenario(&mut draws);
            checks::text(&mut draws, &text, "case.toml")
        }
        2 => {
            let (text, name) = broken(&mut draws);
            if scenarios::asks_for_many(&text) { Ok(()) } else { checks::text(&mut draws, &text, name) }
        }
        _ => worlds::case(&mut draws),
    }
}

/// The file of a case, where it is one.
fn shown(seed: u64) -> Option<String> {
    let mut draws = drawn(seed);
    match seed % 4 {
        0 | 1 => Some(scenarios::scenario(&mut draws)),
        2 => Some(broken(&mut draws).0),
        _ => None,
    }
}

/// A good scenario as TOML or JSON, and what a slip of the hand makes of it.
fn broken(draws: &mut Draws<'_>) -> (String, &'static str) {
    let text = scenarios::scenario(draws);
    if draws.chance(0.5)
        && let Ok(scenario) = Scenario::parse(&text, "case.toml", None)
    {
        return (scenarios::mutated(draws, &scenario.source), "case.json");
    }
    (scenarios::mutated(draws, &text), "case.toml")
}

/// A case whose panics are verdicts too.
fn caught(seed: u64) -> Verdict {
    catch_unwind(AssertUnwindSafe(|| case(seed))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        Err(format!("panic: {}", text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("?")))
    })
}

/// The seeds of a run, spread over threads; a watch that notices hangs.
struct Run {
    next: AtomicU64,
    end: u64,
    /// What each thread is at: its seed and when it began, ms after `begin`.
    at: Vec<(AtomicU64, AtomicU64)>,
    begin: Instant,
    found: Mutex<Vec<String>>,
}

impl Run {
    fn new(seeds: std::ops::Range<u64>, threads: usize) -> Run {
        Run {
            next: AtomicU64::new(seeds.start),
            end: seeds.end,
            at: (0..threads).map(|_| (AtomicU64::new(0), AtomicU64::new(u64::MAX))).collect(),
            begin: Instant::now(),
            found: Mutex::new(Vec::new()),
        }
    }

    fn now(&self) -> u64 {
        self.begin.elapsed().as_millis() as u64
    }

    fn work(&self, thread: usize) {
        let (at, since) = &self.at[thread];
        loop {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            if seed >= self.end || self.found.lock().unwrap().len() >= ENOUGH {
                break since.store(u64::MAX, Ordering::Relaxed);
            }
            at.store(seed, Ordering::Relaxed);
            since.store(self.now(), Ordering::Relaxed);
            let fault = caught(seed).err();
            let took = self.now() - since.load(Ordering::Relaxed);
            if took > SLOW.as_millis() as u64 {
                eprintln!("THRONG_FUZZ_SEED={seed}: took {} s", took / 1000);
            }
            if let Some(fault) = fault {
                let found = format!("THRONG_FUZZ_SEED={seed}: {fault}");
                eprintln!("{found}");
                self.found.lock().unwrap().push(found);
            }
        }
    }

    /// Ends the process where a case hangs: its thread cannot be ended alone.
    fn watch(&self, progress: bool) {
        let mut reported = 0;
        while self.next.load(Ordering::Relaxed) < self.end + self.at.len() as u64 {
            std::thread::sleep(Duration::from_millis(50));
            let working = |at: &&(AtomicU64, AtomicU64)| at.1.load(Ordering::Relaxed) != u64::MAX;
            for (seed, since) in self.at.iter().filter(working) {
                let took = self.now().saturating_sub(since.load(Ordering::Relaxed));
                if took > DEADLINE.as_millis() as u64 && since.load(Ordering::Relaxed) != u64::MAX {
                    // Past what the harness captures: it will not get to show it.
                    let seed = seed.load(Ordering::Relaxed);
                    let shown = shown(seed).unwrap_or_default();
                    let hangs = format!("{shown}\nTHRONG_FUZZ_SEED={seed}: hangs\n");
                    let _ = std::io::stderr().write_all(hangs.as_bytes());
                    std::process::exit(101);
                }
            }
            if progress && self.now() / 10_000 > reported {
                reported = self.now() / 10_000;
                let found = self.found.lock().unwrap().len();
                eprintln!("{} s: {} cases, {found} bugs", reported * 10, self.next.load(Ordering::Relaxed));
            }
            if self.found.lock().unwrap().len() >= ENOUGH
                || self.at.iter().all(|at| !working(&at) && self.now() > 1000)
            {
                break;
            }
        }
    }
}

fn fuzz(seeds: std::ops::Range<u64>, threads: usize, progress: bool) {
    let (run, count) = (Run::new(seeds.clone(), threads), seeds.end - seeds.start);
    std::thread::scope(|scope| {
        (0..threads).for_each(|thread| {
            drop(scope.spawn({
                let run = &run;
                move || run.work(thread)
            }))
        });
        run.watch(progress);
    });
    let found = run.found.into_inner().unwrap();
    assert!(found.is_empty(), "{} bugs:\n{}", found.len(), found.join("\n"));
    eprintln!("{count} cases in {:.1} s, no bug", run.begin.elapsed().as_secs_f64());
}

#[test]
fn twenty_thousand_cases() {
    fuzz(0..20_000, 2, false);
}

#[test]
#[ignore = "takes a quarter of an hour"]
fn a_million_cases() {
    // A run that was interrupted goes on where its last line of progress says.
    let from = std::env::var("THRONG_FUZZ_FROM").ok().and_then(|from| from.parse().ok());
    fuzz(from.unwrap_or(20_000)..1_020_000, 2, true);
}

/// Runs the case of `THRONG_FUZZ_SEED` and shows it.
#[test]
fn replay() {
    let Some(seed) = std::env::var("THRONG_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()) else {
        return;
    };
    println!("{}", shown(seed).unwrap_or_default());
    case(seed).unwrap_or_else(|fault| panic!("{fault}"));
}

/// Most files of the generator are accepted: otherwise it tests nothing but the checker.
#[test]
fn many_generated_files_are_valid() {
    let accepted = |seed: &u64| {
        let text = scenarios::scenario(&mut drawn(*seed));
        Scenario::parse(&text, "case.toml", None).is_ok()
    };
    let share = (0..2000).filter(accepted).count() as f64 / 2000.0;
    eprintln!("{share} of the generated files are accepted");
    assert!((0.3..0.95).contains(&share), "{share} of the generated files are accepted");
}
