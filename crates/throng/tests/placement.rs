//! Starts and goals where no body fits: on walls, in corners, in strips that are narrower than a body.

use throng::catalog::{self, Stage};
use throng::{Scenario, Simulation};

fn arrived(planner: &str, agents: &str) -> (usize, Simulation) {
    let text = format!(
        "format = 1\nuntil = 60\n[pipeline]\nmacroscale = \"{planner}\"\n\
         [map]\nwalkable = \"POLYGON ((0 0, 20 0, 20 6, 0 6, 0 0))\"\n\
         obstacles = [[[9, 0], [10, 0], [10, 2], [9, 2]]]\n[[agents]]\n{agents}\n"
    );
    let scenario = Scenario::parse(&text, "room.toml", None).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::with_threads(&scenario, 1).unwrap();
    while !simulation.is_done() {
        simulation.step();
    }
    (simulation.arrived(), simulation)
}

/// On the outline, in its corner, and on an obstacle's edge.
#[test]
fn an_agent_that_starts_in_a_wall_walks() {
    for planner in catalog::names(Stage::Macroscale) {
        for place in ["[0, 3]", "[0, 0]", "[9, 1]"] {
            let agents = format!("place = {{ points = [{place}] }}\ngoal = {{ point = [18, 4] }}");
            assert_eq!(arrived(planner, &agents).0, 1, "{planner}, from {place}");
        }
    }
}

#[test]
fn goals_in_walls_are_reached_beside_them() {
    for planner in catalog::names(Stage::Macroscale) {
        for goal in ["[20, 3]", "[20, 6]", "[9, 1]"] {
            let agents = format!("place = {{ points = [[1, 4]] }}\ngoal = {{ point = {goal} }}");
            assert_eq!(arrived(planner, &agents).0, 1, "{planner}, to {goal}");
        }
    }
}

#[test]
fn a_strip_along_a_wall_is_reached_by_touching_it() {
    for planner in catalog::names(Stage::Macroscale) {
        let agents =
            "place = { points = [[1, 4]] }\ngoal = { polygon = [[19.8, 0], [20, 0], [20, 6], [19.8, 6]] }";
        let (arrived, simulation) = arrived(planner, agents);
        assert_eq!(arrived, 1, "{planner}");
        let at = simulation.frame().position(0);
        assert!(at.x > 19.0, "{planner}: {at}");
    }
}
