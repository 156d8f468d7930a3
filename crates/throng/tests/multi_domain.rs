//! Many agents plan in real time: whole runs of the paper's scenarios, and what must hold of every run.

use throng::checkpoint::Checkpoint;
use throng::metrics::{Metrics, Report};
use throng::scenario::Overrides;
use throng::{Scenario, Simulation, builtin, expect};

fn open(name: &str, seed: u64) -> Scenario {
    let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    builtin::find(name).unwrap().open_with(&overrides).unwrap()
}

/// Runs a scenario to its end, looks at every step, and holds it against what it expects.
fn solve(scenario: &Scenario) -> Report {
    let mut simulation = Simulation::new(scenario).unwrap();
    let mut metrics = Metrics::default();
    while !simulation.is_done() {
        simulation.step();
        metrics.observe(&simulation);
    }
    let report = Report::new(&mut simulation, &metrics, std::time::Duration::from_secs(1));
    for outcome in expect::compare(&scenario.expect, &report) {
        assert!(outcome.holds(), "{}, seed {}: {outcome}", scenario.name, scenario.seed);
    }
    assert_eq!(metrics.collisions, 0, "{}, seed {}", scenario.name, scenario.seed);
    report
}

fn solves(name: &str) {
    for seed in [1, 2, 3] {
        solve(&open(name, seed));
    }
}

#[test]
fn oncoming_agents_pass_in_a_bay() {
    solves("multi-domain-oncoming");
}

#[test]
fn crossing_agents_take_turns() {
    solves("multi-domain-crossing");
}

#[test]
fn four_agents_get_through_a_crossing_for_one() {
    solves("multi-domain-intersection");
}

#[test]
fn who_would_meet_at_a_choke_point_changes_its_speed_and_not_its_way() {
    solves("multi-domain-choke");
}

#[test]
fn plans_are_mended_when_a_gate_closes() {
    solves("multi-domain-change");
}

const OPEN: &str =
    "format = 1\ndt = 0.1\nuntil = 40.0\n[pipeline]\nmacroscale = \"multi-domain\"\nmicroscale = \"orca\"\n";

#[test]
fn a_wide_body_that_is_parked_is_walked_around() {
    for radius in [1.0, 1.5, 3.0, 5.0] {
        let text = format!(
            "{OPEN}[[agents]]\nplace = {{ points = [[0, 0]] }}\ngoal = {{ point = [20, 0] }}\n\
             [[movers]]\nradius = {radius}\npath = [[0, 10, 0.1]]\n[expect]\narrived = 1\n"
        );
        solve(&Scenario::parse(&text, "parked.toml", None).unwrap());
    }
}

#[test]
fn who_has_no_way_is_told_of_whenever_one_asks() {
    let text = format!(
        "{OPEN}[map]\nwalkable = \"MULTIPOLYGON (((0 0, 9 0, 9 9, 0 9, 0 0)), ((20 0, 29 0, 29 9, 20 9, 20 0)))\"\n\
         [[agents]]\nplace = {{ points = [[2, 2], [4, 4], [6, 6]] }}\ngoal = {{ point = [25, 5] }}\n"
    );
    let mut simulation = Simulation::new(&Scenario::parse(&text, "apart.toml", None).unwrap()).unwrap();
    for step in 0..100 {
        simulation.step();
        assert_eq!(simulation.stranded().len(), 3, "after step {step}");
    }
}

#[test]
fn bodies_that_are_vast_or_fly_away_hold_nobody_up() {
    let movers = [
        "radius = 1000\npath = [[0, 5000, 0]]",
        "radius = 0.5\npath = [[0, 5, 5], [10, 5, 5], [10.01, 100000, 100000]]",
    ];
    for mover in movers {
        let text = format!(
            "{OPEN}[[agents]]\nplace = {{ points = [[0, 0], [0, 2]] }}\ngoal = {{ point = [20, 0] }}\n\
             goal_radius = 2\n[[movers]]\n{mover}\n[expect]\narrived = 2\n"
        );
        solve(&Scenario::parse(&text, "vast.toml", None).unwrap());
    }
}

#[test]
fn moving_planes_are_taken_in_time() {
    solves("multi-domain-goals");
}

#[test]
fn a_road_is_crossed_between_fast_cars() {
    solves("multi-domain-road");
}

#[test]
fn lanes_are_chosen() {
    solves("multi-domain-lanes");
}

#[test]
fn a_hundred_cross_from_four_sides() {
    solves("multi-domain-four-way");
}

fn hash_after(mut simulation: Simulation, steps: usize) -> u64 {
    (0..steps).for_each(|_| simulation.step());
    simulation.state_hash()
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for name in ["multi-domain-lanes", "multi-domain-road"] {
        let scenario = open(name, 1);
        let hash = |threads| hash_after(Simulation::with_threads(&scenario, threads).unwrap(), 120);
        let alone = hash(1);
        assert_eq!([hash(2), hash(8)], [alone; 2], "{name}");
    }
}

#[test]
fn a_run_goes_on_from_the_middle_of_plans() {
    for (name, before) in
        [("multi-domain-lanes", 37), ("multi-domain-change", 61), ("multi-domain-oncoming", 83)]
    {
        let scenario = open(name, 1);
        let mut simulation = Simulation::with_threads(&scenario, 1).unwrap();
        (0..before).for_each(|_| simulation.step());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.throng");
        Checkpoint::of(&simulation, Metrics::default(), None).save(&path).unwrap();
        // A look at somebody changes nothing.
        simulation.explain(0);
        let resumed = Checkpoint::load(&path).unwrap().resume(2).unwrap();
        assert_eq!(hash_after(resumed, 60), hash_after(simulation, 60), "{name}");
    }
}
