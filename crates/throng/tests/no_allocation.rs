//! A step allocates nothing per agent. Counted, not trusted: every allocation of this process goes through a counter.

#![allow(
    unsafe_code,
    reason = "a global allocator can only be written with unsafe; it hands everything to the system's"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use throng::catalog::{self, Stage};
use throng::{Scenario, Simulation};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged to the system's allocator; the counter touches no memory of its callers.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: `place` came from `System` with this layout.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: `place` came from `System` with this layout.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const STEPS: usize = 50;
/// Enough for every list to have found its size.
const WARM_UP: usize = 10;
/// What rayon may take for its queues, in a step, however many agents there are.
const MOST_PER_STEP: f64 = 8.0;

/// A crowd with a little room, on its way past a block and a cart.
fn simulation(microscale: &str, motion: &str, agents: usize, threads: usize) -> Simulation {
    let side = (agents as f64).sqrt().ceil();
    let text = format!(
        "format = 1\n[pipeline]\nmicroscale = \"{microscale}\"\nmotion = \"{motion}\"\n\
         [map]\nobstacles = [[[-9, -9], [-4, -9], [-4, -4], [-9, -4]]]\n\
         [[movers]]\nradius = 1\npath = [[0, 0, -5], [100, {side}, 5]]\n\
         [[agents]]\nname = \"a\"\ncount = {}\nplace = {{ grid = {{ from = [0, 0], columns = {side}, spacing = 3 }}, jitter = 0.2 }}\n\
         goal = {{ offset = [200, 3] }}\n\
         [[agents]]\nname = \"b\"\ncount = {}\nplace = {{ grid = {{ from = [1.5, 1.5], columns = {side}, spacing = 3 }}, jitter = 0.2 }}\n\
         goal = {{ offset = [-200, 300] }}\nparams.headway = {{ memory = 0.7 }}\n",
        agents / 2,
        agents / 2
    );
    let scenario = Scenario::parse(&text, "crowd.toml", None).unwrap_or_else(|error| panic!("{error}"));
    Simulation::with_threads(&scenario, threads).unwrap()
}

fn allocations_per_step(mut simulation: Simulation) -> f64 {
    (0..WARM_UP).for_each(|_| simulation.step());
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    (0..STEPS).for_each(|_| simulation.step());
    (ALLOCATIONS.load(Ordering::Relaxed) - before) as f64 / STEPS as f64
}

/// A crowd with one goal and two radii in front of blocks that hide it.
fn among_blocks(macroscale: &str, agents: usize, threads: usize) -> Simulation {
    let side = (agents as f64 / 2.0).sqrt().ceil();
    let blocks: Vec<String> = (0..10)
        .map(|i| {
            let (x, y) = (-40.0 - 4.0 * f64::from(i % 2), 12.0 * f64::from(i) - 10.0);
            format!("[[{x}, {y}], [{}, {y}], [{}, {}], [{x}, {}]]", x + 2.0, x + 2.0, y + 10.0, y + 10.0)
        })
        .collect();
    let mut text = format!(
        "format = 1\n[pipeline]\nmacroscale = \"{macroscale}\"\nmicroscale = \"none\"\n[map]\nobstacles = [{}]\n",
        blocks.join(", ")
    );
    for (cohort, from, radius) in [("a", 0.0, 0.2), ("b", 1.5, 0.3)] {
        text += &format!(
            "[[agents]]\nname = \"{cohort}\"\ncount = {}\nradius = {radius}\n\
             place = {{ grid = {{ from = [{from}, {from}], columns = {side}, spacing = 3 }}, jitter = 0.2 }}\n\
             goal = {{ point = [-60, 45.5] }}\n",
            agents / 2
        );
    }
    let scenario = Scenario::parse(&text, "blocks.toml", None).unwrap_or_else(|error| panic!("{error}"));
    Simulation::with_threads(&scenario, threads).unwrap()
}

/// Two streams of people who perceive each other as groups, and a block that walks together, past an obstacle.
fn with_groups(agents: usize, threads: usize) -> Simulation {
    let side = (agents as f64 / 2.0).sqrt().ceil();
    let count = agents / 2;
    let text = format!(
        "format = 1\n[pipeline]\nmesoscale = [\"groups\"]\n\
         [params.groups]\nattention = 0\n\
         [map]\nobstacles = [[[-9, -9], [-4, -9], [-4, -4], [-9, -4]]]\n\
         [[agents]]\nname = \"a\"\ncount = {count}\ngoal = {{ offset = [200, 3] }}\n\
         place = {{ grid = {{ from = [0, 0], columns = {side}, spacing = 1.6 }}, jitter = 0.2 }}\n\
         [[agents]]\nname = \"b\"\ncount = {count}\ngoal = {{ offset = [-200, 3] }}\n\
         place = {{ grid = {{ from = [0.8, 0.8], columns = {side}, spacing = 1.6 }}, jitter = 0.2 }}\n\
         [[agents]]\nname = \"together\"\ncount = 49\ntogether = true\ngoal = {{ offset = [200, 0] }}\n\
         place = {{ grid = {{ from = [-20, 0], columns = 7, spacing = 1 }}, jitter = 0.1 }}\n"
    );
    let scenario = Scenario::parse(&text, "groups.toml", None).unwrap_or_else(|error| panic!("{error}"));
    Simulation::with_threads(&scenario, threads).unwrap()
}

/// One test only: another one on another thread would be counted too.
#[test]
fn a_step_allocates_nothing_per_agent() {
    let motions = catalog::names(Stage::Motion);
    for microscale in catalog::names(Stage::Microscale) {
        // Motions do not know of one another's models: all of them with the fastest one are enough.
        for motion in if microscale == "none" { &motions[..] } else { &motions[..1] } {
            for threads in [1, 2] {
                check(&format!("{microscale}, {motion}"), threads, |agents| {
                    simulation(microscale, motion, agents, threads)
                });
            }
        }
    }
    for threads in [1, 2] {
        for macroscale in ["visibility-graph", "map-field"] {
            check(macroscale, threads, |agents| among_blocks(macroscale, agents, threads));
        }
        check("groups", threads, |agents| with_groups(agents, threads));
    }
}

fn check(what: &str, threads: usize, simulation: impl Fn(usize) -> Simulation) {
    let few = allocations_per_step(simulation(1_000));
    let many = allocations_per_step(simulation(10_000));
    let what = format!("{what}, {threads} threads: {few} and {many} allocations a step");
    println!("{what}");
    assert!(few <= MOST_PER_STEP && many <= MOST_PER_STEP, "{what}");
}
