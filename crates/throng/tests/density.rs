//! Density in whole runs: alone, with every other model, beside walls, on any number of threads.

use glam::DVec2;
use throng::catalog::{self, Stage};
use throng::checkpoint::Checkpoint;
use throng::metrics::Metrics;
use throng::scenario::Overrides;
use throng::{Scenario, Simulation, builtin};

fn simulate(text: &str, changes: &Overrides, threads: usize) -> Simulation {
    let scenario = Scenario::parse_with(text, "density.toml", None, changes).expect("a sound scenario");
    Simulation::with_threads(&scenario, threads).expect("a simulation")
}

fn run(simulation: &mut Simulation) {
    while !simulation.is_done() {
        simulation.step();
    }
}

#[test]
fn one_alone_walks_the_straight_line() {
    // Its own projection would be a crowd to it if it counted: 1 is above the threshold.
    let text = "format = 1\nuntil = 90\n[pipeline]\nmesoscale = ['density']\n[params.density]\nthreshold = 0.5\n\
        [[agents]]\nname = 'one'\nplace = { points = [[-31, 7]] }\ngoal = { point = [40, -23] }\n";
    let mut simulation = simulate(text, &Overrides::default(), 1);
    let (from, to) = (DVec2::new(-31.0, 7.0), DVec2::new(40.0, -23.0));
    while !simulation.is_done() {
        simulation.step();
        let aside = (to - from).normalize().perp_dot(simulation.frame().position(0) - from);
        assert!(aside.abs() < 1e-3, "{aside} m beside the line");
    }
    assert_eq!(simulation.arrived(), 1);
}

/// A hundred stand in the way of one.
const JAM: &str = "format = 1\nuntil = 120\n[pipeline]\nmesoscale = ['density']\n\
    [[agents]]\nname = 'one'\nplace = { points = [[-40, 0.5]] }\ngoal = { point = [40, 0] }\n\
    [[agents]]\nname = 'jam'\ncount = 100\nplace = { grid = { from = [-4.5, -4.5], columns = 10, spacing = 1.0 } }\n\
    goal = { offset = [0, 0] }\n";

#[test]
fn a_jam_is_left_before_one_is_in_it() {
    let mut simulation = simulate(JAM, &Overrides::default(), 1);
    let mut nearest = f64::INFINITY;
    while simulation.arrived() < 101 && !simulation.is_done() {
        simulation.step();
        let frame = simulation.frame();
        let one = frame.id.iter().position(|&id| id == 0).unwrap();
        nearest = nearest.min(frame.position(one).length());
    }
    assert_eq!(simulation.arrived(), 101);
    // ORCA alone walks along the edge of the block, which reaches 4.5 m.
    assert!(nearest > 8.0, "{nearest} m from the middle of the jam");
}

#[test]
fn the_threshold_can_be_a_density_whatever_the_cells() {
    let way = |cell: f64, persons: f64| {
        let set = vec![
            ("params.density.cell".into(), cell.to_string()),
            ("params.density.persons_per_m2".into(), persons.to_string()),
        ];
        let mut simulation = simulate(JAM, &Overrides { set, ..Overrides::default() }, 1);
        run(&mut simulation);
        simulation.path_lengths().1["one"]
    };
    for cell in [2.0, 5.0] {
        // One person in a square metre: a fifth of that is less, three times that is more.
        let (turns, does_not) = (way(cell, 0.2), way(cell, 3.0));
        assert!(turns > does_not + 1.0, "cells of {cell} m: {turns} m and {does_not} m");
    }
}

#[test]
fn it_combines_with_groups_and_with_every_other_model() {
    for mesoscale in [&["density"][..], &["groups", "density"], &["density", "groups"]] {
        for macroscale in catalog::names(Stage::Macroscale) {
            for microscale in catalog::names(Stage::Microscale) {
                let changes = Overrides {
                    macroscale: Some(macroscale.into()),
                    mesoscale: Some(mesoscale.iter().map(|&name| name.into()).collect()),
                    microscale: Some(microscale.into()),
                    ..Overrides::default()
                };
                let mut simulation = simulate(JAM, &changes, 1);
                run(&mut simulation);
                assert_eq!(simulation.arrived(), 101, "{macroscale}, {mesoscale:?}, {microscale}");
            }
        }
    }
}

#[test]
fn nobody_turns_into_a_wall() {
    // A crowd stands in a corridor that is 6 m wide: to turn by 45° would lead into its walls after 4 m.
    let text = "format = 1\nuntil = 100\n[pipeline]\nmesoscale = ['density']\n\
        [map]\nwalkable = 'POLYGON ((-60 -3, 60 -3, 60 3, -60 3, -60 -3))'\n\
        [[agents]]\nname = 'one'\nplace = { points = [[-50, 0]] }\ngoal = { point = [50, 0] }\n\
        [[agents]]\nname = 'jam'\ncount = 10\nplace = { grid = { from = [-2, -2], columns = 5, spacing = 1.0 } }\n\
        goal = { offset = [0, 0] }\n";
    let mut simulation = simulate(text, &Overrides::default(), 1);
    let mut turned = 0;
    while !simulation.is_done() {
        let seen = simulation.explain(0).expect("it is there");
        let x = seen.position[0];
        if x < -8.0 {
            turned += u32::from(seen.looks[0].density >= seen.looks[0].threshold);
            assert_eq!(seen.adapted, seen.preferred, "turned at {x} m: {:?}", seen.looks);
        }
        simulation.step();
    }
    assert!(turned > 0, "the jam was never seen, so nothing was tested");
    assert_eq!(simulation.arrived(), 11);
}

#[test]
fn a_side_is_remembered() {
    // Crowded ahead and to the right: it goes left, and looks to the left first from then on.
    let text = "format = 1\nuntil = 60\n[pipeline]\nmesoscale = ['density']\n\
        [[agents]]\nname = 'one'\nplace = { points = [[-30, 2.5]] }\ngoal = { point = [60, 2.5] }\n\
        [[agents]]\nname = 'jam'\ncount = 200\nplace = { grid = { from = [-10, -24], columns = 10, spacing = 1.5 } }\n\
        goal = { offset = [0, 0] }\n";
    let mut simulation = simulate(text, &Overrides::default(), 1);
    let mut went_left = false;
    while !simulation.is_done() && !went_left {
        let seen = simulation.explain(0).expect("it is there");
        went_left = seen.adapted.y > 0.5 * seen.preferred.length();
        if went_left {
            let [ahead, first, other] = &seen.looks[..] else { panic!("three looks: {:?}", seen.looks) };
            assert!(ahead.density >= ahead.threshold && first.density >= first.threshold, "{:?}", seen.looks);
            assert!(other.place[1] > first.place[1], "the right comes first");
        }
        simulation.step();
    }
    assert!(went_left);
    let looks = simulation.explain(0).expect("it is there").looks;
    assert!(looks[1].place[1] > looks[2].place[1], "the left comes first now: {looks:?}");
}

#[test]
fn every_thread_count_gives_the_same_bits() {
    for name in ["density-4-way-2000", "density-crossing-600"] {
        let text = builtin::find(name).unwrap().text;
        let hash = |threads| {
            let mut simulation = simulate(text, &Overrides::default(), threads);
            (0..200).for_each(|_| simulation.step());
            simulation.state_hash()
        };
        assert_eq!(hash(1), hash(2), "{name}");
        assert_eq!(hash(1), hash(5), "{name}");
    }
}

/// A hundred in a room with a narrow door straight ahead and a wide one further off.
const TWO_DOORS: &str = "format = 1\nuntil = 300\n[pipeline]\nmacroscale = 'visibility-graph'\nmesoscale = ['density']\n\
    [map]\nwalkable = 'POLYGON ((-30 -20, 30 -20, 30 20, -30 20, -30 -20))'\n\
    obstacles = [[[-0.2, -20], [0.2, -20], [0.2, -0.45], [-0.2, -0.45]], [[-0.2, 0.45], [0.2, 0.45], [0.2, 10], [-0.2, 10]],\
    [[-0.2, 14], [0.2, 14], [0.2, 20], [-0.2, 20]]]\n\
    [[agents]]\nname = 'all'\ncount = 100\non_arrival = 'leave'\n\
    place = { grid = { from = [-18, -5], columns = 10, spacing = 1.0 } }\ngoal = { point = [20, 0] }\n";

/// How long it took them, s, and how many went through the wide door.
fn through_doors(changes: &Overrides) -> (f64, usize) {
    let mut simulation = simulate(TWO_DOORS, changes, 1);
    let mut wide = std::collections::BTreeSet::new();
    while !simulation.is_done() {
        simulation.step();
        let frame = simulation.frame();
        let at_door = |&row: &usize| frame.position(row).x.abs() < 0.5 && frame.position(row).y > 8.0;
        wide.extend((0..frame.len()).filter(at_door).map(|row| frame.id[row]));
    }
    assert_eq!(simulation.arrived(), 100);
    (simulation.mean_travel().unwrap(), wide.len())
}

#[test]
fn a_jammed_door_is_left_for_another_where_that_is_worth_it() {
    let without = Overrides { mesoscale: Some(Vec::new()), ..Overrides::default() };
    let (alone, _) = through_doors(&without);
    let (diverted, wide) = through_doors(&Overrides::default());
    assert!(wide >= 10, "{wide} took the wide door");
    assert!(diverted < 0.8 * alone, "{diverted} s, and {alone} s without");
    let set = vec![("params.density.divert".into(), "false".into())];
    let (_, wide) = through_doors(&Overrides { set, ..Overrides::default() });
    assert!(wide < 10, "{wide} took the wide door, though nobody was to be diverted");
}

#[test]
fn a_checkpoint_in_a_jam_goes_on_with_the_same_bits() {
    let mut simulation = simulate(TWO_DOORS, &Overrides::default(), 1);
    (0..277).for_each(|_| simulation.step());
    assert!(!simulation.world().jam.is_empty(), "there is a jam to be saved");
    let path = std::env::temp_dir().join(format!("throng-jam-{}.checkpoint", std::process::id()));
    Checkpoint::of(&simulation, Metrics::default(), None).unwrap().save(&path).unwrap();
    let mut resumed = Checkpoint::load(&path).unwrap().resume(2).unwrap();
    std::fs::remove_file(&path).unwrap();
    for _ in 0..100 {
        simulation.step();
        resumed.step();
    }
    assert_eq!(simulation.state_hash(), resumed.state_hash());
}
