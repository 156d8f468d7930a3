//! Groups in whole runs: with every other model, on any number of threads, without zig-zag, and together.

use glam::DVec2;
use throng::catalog::{self, Stage};
use throng::scenario::Overrides;
use throng::{Scenario, Simulation, builtin};

fn simulate(text: &str, changes: &Overrides, threads: usize) -> Simulation {
    let scenario = Scenario::parse_with(text, "groups.toml", None, changes).expect("a sound scenario");
    Simulation::with_threads(&scenario, threads).expect("a simulation")
}

fn run(simulation: &mut Simulation) {
    while !simulation.is_done() {
        simulation.step();
    }
}

/// Where the members of a cohort are.
fn places(simulation: &Simulation, cohort: u16) -> Vec<DVec2> {
    let frame = simulation.frame();
    (0..frame.len()).filter(|&row| frame.cohort[row] == cohort).map(|row| frame.position(row)).collect()
}

/// One who walks against a group of nine, past an obstacle.
const SMALL: &str = "format = 1\nuntil = 90\n[pipeline]\nmesoscale = ['groups']\n\
    [map]\nobstacles = [[[-1, 5], [1, 5], [1, 7], [-1, 7]]]\n\
    [[agents]]\nname = 'one'\nplace = { points = [[-9, 0.2]] }\ngoal = { point = [9, 0] }\n\
    [[agents]]\nname = 'group'\ncount = 9\nplace = { grid = { from = [7, -1], columns = 3, spacing = 1.0 } }\n\
    goal = { offset = [-16, 0] }\n";

#[test]
fn groups_combine_with_every_macroscale_and_microscale() {
    for macroscale in catalog::names(Stage::Macroscale) {
        for microscale in catalog::names(Stage::Microscale) {
            let changes = Overrides {
                macroscale: Some(macroscale.into()),
                microscale: Some(microscale.into()),
                ..Overrides::default()
            };
            let mut simulation = simulate(SMALL, &changes, 1);
            run(&mut simulation);
            assert_eq!(simulation.arrived(), 10, "{macroscale}, {microscale}");
            let (_, lengths) = simulation.path_lengths();
            assert!(lengths["one"] < 1.1 * 18.0, "{macroscale}, {microscale}: {} m", lengths["one"]);
        }
    }
}

#[test]
fn every_thread_count_gives_the_same_bits() {
    for name in ["meso-b", "meso-c"] {
        let text = builtin::find(name).unwrap().text;
        let hash = |threads| {
            let mut simulation = simulate(text, &Overrides::default(), threads);
            (0..150).for_each(|_| simulation.step());
            simulation.state_hash()
        };
        assert_eq!(hash(1), hash(2), "{name}");
        assert_eq!(hash(1), hash(3), "{name}");
    }
}

/// Scenario A: the individual chooses a side and keeps to it.
#[test]
fn nobody_zig_zags_around_a_group() {
    for seed in 1..=5 {
        let changes = Overrides { seed: Some(seed), ..Overrides::default() };
        let mut simulation = simulate(builtin::find("meso-a").unwrap().text, &changes, 1);
        let (mut sides, mut furthest) = (Vec::new(), 0f64);
        while !simulation.is_done() {
            simulation.step();
            let agents = &simulation.world().agents;
            let row = agents.id.iter().position(|&id| id == 0).unwrap();
            let side = agents.detour[row].side;
            if side != 0.0 && sides.last() != Some(&side) {
                sides.push(side);
            }
            furthest = furthest.max(places(&simulation, 0)[0].y.abs());
        }
        assert_eq!(sides.len(), 1, "seed {seed}: {sides:?}");
        assert!(furthest > 3.0 && furthest < 6.0, "seed {seed}: {furthest} m beside the line");
    }
}

#[test]
fn an_agent_tells_which_groups_it_perceives() {
    let mut simulation = simulate(SMALL, &Overrides::default(), 1);
    (0..30).for_each(|_| simulation.step());
    let told = simulation.explain(0).unwrap();
    assert_eq!(told.groups.len(), 1);
    assert_eq!(told.groups[0].members, (1..10).collect::<Vec<u32>>());
    assert!(told.adapted.distance(told.preferred) > 0.05, "{told:?}");
    assert!(told.groups[0].cone.is_some());
}

/// Two groups walk against each other; how far the first one's members get from their middle, and on how many sides of the
/// other's middle they pass.
fn meeting(columns: usize, lines: usize, together: bool) -> (f64, usize) {
    let count = columns * lines;
    let (half, start) = ((lines as f64 - 1.0) / 2.0, 12.0 + columns as f64);
    let group = |name: &str, x: f64, offset: f64, shift: f64| {
        format!(
            "[[agents]]\nname = '{name}'\ncount = {count}\ntogether = {together}\n\
             place = {{ grid = {{ from = [{x}, {}], columns = {columns}, spacing = 1.0 }}, jitter = 0.05 }}\n\
             goal = {{ offset = [{offset}, 0] }}\n",
            shift - half
        )
    };
    let (from, to) = (-start, start - columns as f64 + 1.0);
    let text = format!(
        "format = 1\nuntil = 150\n[pipeline]\nmesoscale = ['groups']\n{}{}",
        group("east", from, 2.0 * start, 0.15),
        group("west", to, -2.0 * start, 0.0),
    );
    let mut simulation = simulate(&text, &Overrides::default(), 1);
    let (mut widest, mut sides) = (0f64, [false; 2]);
    while !simulation.is_done() {
        simulation.step();
        let [east, west] = [0, 1].map(|cohort| places(&simulation, cohort));
        let mean = |all: &[DVec2]| all.iter().sum::<DVec2>() / all.len() as f64;
        let (middle, other) = (mean(&east), mean(&west));
        widest = east.iter().map(|place| place.distance(middle)).fold(widest, f64::max);
        if (middle.x - other.x).abs() < 0.5 {
            east.iter().for_each(|place| sides[usize::from(place.y < other.y)] = true);
        }
    }
    assert_eq!(simulation.arrived(), 2 * count, "{columns} by {lines}, together: {together}");
    (widest, sides.into_iter().filter(|&side| side).count())
}

#[test]
fn those_who_walk_together_pass_another_group_as_one() {
    // A pair, a family, a block of 49.
    for (columns, lines) in [(1, 2), (2, 2), (7, 7)] {
        let (apart, _) = meeting(columns, lines, false);
        let (widest, sides) = meeting(columns, lines, true);
        let at_first = DVec2::new(columns as f64 - 1.0, lines as f64 - 1.0).length() / 2.0;
        println!(
            "{columns} by {lines}: {at_first:.1} m at first, {widest:.1} m together, {apart:.1} m otherwise"
        );
        assert_eq!(sides, 1, "{columns} by {lines}: all pass on one side");
        assert!(widest < 1.3 * at_first + 1.0, "{columns} by {lines}: {widest} m from {at_first} m");
    }
}
