//! What happens on the way: obstacles that come and go, and goals that change.

use throng::{Scenario, Simulation};

fn simulate(text: &str) -> Simulation {
    let scenario = Scenario::parse(text, "events.toml", None).unwrap_or_else(|error| panic!("{error}"));
    Simulation::with_threads(&scenario, 1).unwrap()
}

fn step_until(simulation: &mut Simulation, time: f64) {
    while simulation.frame().time < time - 1e-9 {
        simulation.step();
    }
}

const BARRIER: &str = "
    [[events]]
    at = 2
    add_obstacle = { name = 'barrier', polygon = [[4, -1], [5, -1], [5, 1], [4, 1]] }
    [[events]]
    at = 4
    remove_obstacle = 'barrier'
";

#[test]
fn geometry_is_the_first_again_once_an_obstacle_has_come_and_gone() {
    let plane = "[[agents]]\nplace = { points = [[0, 3], [0, 4]] }\ngoal = { offset = [20, 0] }";
    let room = format!("[map]\nwalkable = 'POLYGON ((-1 -2, 30 -2, 30 6, -1 6, -1 -2))'\n{plane}");
    for text in [plane, &room] {
        let mut simulation = simulate(&format!("format = 1\nuntil = 60\n{text}\n{BARRIER}"));
        assert_eq!(simulation.frame().map_changes, 0);
        step_until(&mut simulation, 3.0);
        let barred = simulation.frame().walkable_wkt();
        assert_ne!(barred, simulation.info().geometry_wkt);
        step_until(&mut simulation, 6.0);
        assert_eq!(simulation.map_changes(), 2);
        assert_eq!(simulation.frame().walkable_wkt(), simulation.info().geometry_wkt);
    }
}

#[test]
fn geometry_holds_everybody_when_an_obstacle_cuts_a_room_in_two() {
    let text = "
        format = 1
        [map]
        walkable = 'POLYGON ((0 0, 20 0, 20 4, 0 4, 0 0))'
        [[agents]]
        place = { points = [[1, 2]] }
        goal = { point = [19, 2] }
        [[events]]
        at = 11
        add_obstacle = { name = 'wall', polygon = [[8, -1], [9, -1], [9, 5], [8, 5]] }
    ";
    let mut simulation = simulate(text);
    step_until(&mut simulation, 11.5);
    assert!(simulation.frame().position(0).x > 10.0);
    // The agent stands in the part where it did not start.
    assert_eq!(simulation.frame().walkable_wkt(), "POLYGON ((9 0, 20 0, 20 4, 9 4, 9 0))");
}

fn walk_and_turn(on_arrival: &str, retarget_at: f64, until: f64) -> Simulation {
    simulate(&format!(
        "format = 1\nuntil = {until}\n\
         [[agents]]\nname = 'west'\nplace = {{ points = [[0, 0]] }}\ngoal = {{ point = [3, 0] }}\non_arrival = '{on_arrival}'\n\
         [[events]]\nat = {retarget_at}\nretarget = {{ cohort = 'west', goal = {{ point = [0, 0] }} }}"
    ))
}

fn run(simulation: &mut Simulation) -> f64 {
    while !simulation.is_done() {
        simulation.step();
    }
    simulation.frame().time
}

#[test]
fn a_run_waits_for_a_retarget_that_lies_ahead() {
    let mut simulation = walk_and_turn("stay", 20.0, 100.0);
    step_until(&mut simulation, 10.0);
    assert_eq!(simulation.arrived(), 1);
    assert!(!simulation.is_done());
    let end = run(&mut simulation);
    assert!((21.0..30.0).contains(&end), "{end}");
    assert!(simulation.frame().position(0).x < 0.6);
}

#[test]
fn a_run_does_not_wait_for_a_retarget_of_nobody_or_after_its_end() {
    for (on_arrival, retarget_at) in [("leave", 20.0), ("stay", 100.0), ("stay", 200.0)] {
        let end = run(&mut walk_and_turn(on_arrival, retarget_at, 100.0));
        assert!(end < 5.0, "{on_arrival}, {retarget_at}: {end}");
    }
}

/// An obstacle comes down on a crowd: an agent that is under it is put beside it, and all get where they want.
#[test]
fn nobody_is_caught_under_what_comes_down() {
    for planner in ["visibility-graph", "navmesh", "map-field"] {
        let text = format!(
            "format = 1\nuntil = 120\n[pipeline]\nmacroscale = '{planner}'\n\
             [map]\nwalkable = 'POLYGON ((0 0, 40 0, 40 20, 0 20, 0 0))'\nobstacles = [[[10, 8], [12, 8], [12, 12], [10, 12]]]\n\
             [[agents]]\ncount = 25\nplace = {{ grid = {{ from = [1, 5], columns = 5, spacing = 1.0 }} }}\n\
             goal = {{ point = [39, 10] }}\ngoal_radius = 0.5\n\
             [[events]]\nat = 12\nadd_obstacle = {{ name = 'barrier', polygon = [[16, 0], [19, 0], [19, 11], [16, 11]] }}\n"
        );
        let mut simulation = simulate(&text);
        step_until(&mut simulation, 12.0);
        let under = |simulation: &Simulation| {
            let frame = simulation.frame();
            let caught = |at: &glam::DVec2| at.x > 16.0 && at.x < 19.0 && at.y < 11.0;
            (0..frame.len()).map(|row| frame.position(row)).filter(caught).count()
        };
        assert!(under(&simulation) > 3, "{planner}: nobody is there to be caught");
        simulation.step();
        assert_eq!(under(&simulation), 0, "{planner}");
        run(&mut simulation);
        assert_eq!(simulation.arrived(), 25, "{planner}");
    }
}
