//! The visibility graph in whole runs: around obstacles, through events, checkpoints and threads.

use glam::{DVec2, Vec2};
use throng::checkpoint::Checkpoint;
use throng::metrics::Metrics;
use throng::{Scenario, Simulation};
use throng_core::geom::segments_meet;

fn scenario(body: &str) -> Scenario {
    let text = format!(
        "format = 1\nuntil = 120\n[pipeline]\nmacroscale = \"visibility-graph\"\nmicroscale = \"orca\"\n{body}"
    );
    Scenario::parse(&text, "ways.toml", None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn simulate(body: &str) -> Simulation {
    Simulation::with_threads(&scenario(body), 1).unwrap()
}

/// A hall with a wall across, a block, an open wall and a pillar in a hole of the outline.
const HALL: &str = "[map]\nwalkable = \"POLYGON ((0 0, 40 0, 40 24, 0 24, 0 0), (30 10, 33 10, 33 14, 30 14, 30 10))\"\n\
    obstacles = [[[12, 4], [13, 4], [13, 24], [12, 24]], [[18, 0], [24, 0], [24, 9], [21, 12], [18, 9]]]\n\
    walls = [[[17, 14], [26, 14], [26, 20]]]\n";

const CROWD: &str = "[[agents]]\nname = \"thin\"\ncount = 40\nradius = 0.2\n\
    place = { grid = { from = [2, 12], columns = 8, spacing = 1 }, jitter = 0.1 }\n\
    goal = { point = [37, 12] }\ngoal_radius = 1.5\non_arrival = \"leave\"\n\
    [[agents]]\nname = \"broad\"\ncount = 20\nradius = { uniform = [0.25, 0.4] }\n\
    place = { grid = { from = [2, 18], columns = 8, spacing = 1.1 } }\n\
    goal = { polygon = [[28, 20], [32, 20], [32, 23], [28, 23]] }\non_arrival = \"leave\"\n";

/// Position of every agent, by id.
fn places(simulation: &Simulation) -> Vec<Option<DVec2>> {
    let frame = simulation.frame();
    let mut places = vec![None; simulation.agents()];
    (0..frame.len()).for_each(|row| places[frame.id[row] as usize] = Some(frame.position(row)));
    places
}

#[test]
fn a_crowd_finds_its_way_around_everything_and_crosses_no_wall() {
    let mut simulation = simulate(&format!("{HALL}{CROWD}"));
    let origin = simulation.world().origin;
    let local = |place: DVec2| (place - origin).as_vec2();
    let walls: Vec<_> = simulation.world().view().walls.all().to_vec();
    while !simulation.is_done() {
        let before = places(&simulation);
        simulation.step();
        for (from, to) in before.iter().zip(places(&simulation)) {
            let (Some(from), Some(to)) = (from, to) else { continue };
            let crossed = walls.iter().find(|wall| segments_meet(local(*from), local(to), wall.a, wall.b));
            assert_eq!(crossed, None, "between {from} and {to}");
        }
    }
    assert_eq!(simulation.arrived(), 60, "after {} s", simulation.world().time());
}

#[test]
fn threads_and_checkpoints_change_nothing() {
    let body = format!(
        "{HALL}{CROWD}[[events]]\nat = 4\nadd_obstacle = {{ name = \"bar\", polygon = [[12, 2], [13, 2], [13, 4], [12, 4]] }}\n\
         [[events]]\nat = 9\nretarget = {{ cohort = \"broad\", goal = {{ polygon = [[2, 2], [5, 2], [5, 5], [2, 5]] }} }}\n"
    );
    let scenario = scenario(&body);
    let mut whole = Simulation::with_threads(&scenario, 1).unwrap();
    let mut other = Simulation::with_threads(&scenario, 2).unwrap();
    for step in 0..200 {
        if step % 37 == 20 {
            let saved = Checkpoint::of(&other, Metrics::default(), None).unwrap();
            other = saved.resume(1 + step % 2).unwrap();
        }
        whole.step();
        other.step();
        assert_eq!(whole.state_hash(), other.state_hash(), "step {step}");
    }
}

fn length(route: &[[f64; 2]]) -> f64 {
    route.windows(2).map(|pair| DVec2::from(pair[0]).distance(pair[1].into())).sum()
}

#[test]
fn an_obstacle_that_closes_a_way_changes_the_route() {
    let mut simulation = simulate(
        "[map]\nwalkable = \"POLYGON ((1000 0, 1020 0, 1020 20, 1000 20, 1000 0))\"\n\
         obstacles = [[[1009, 2], [1011, 2], [1011, 16], [1009, 16]]]\n\
         [[agents]]\nplace = { points = [[1002, 2]] }\ngoal = { point = [1018, 2] }\nradius = 0.3\n\
         [[events]]\nat = 1\nadd_obstacle = { name = \"gate\", polygon = [[1009, 0], [1011, 0], [1011, 3], [1009, 3]] }\n\
         [[events]]\nat = 3\nremove_obstacle = \"gate\"\n",
    );
    let mut way_at = |time: f64| {
        while simulation.world().time() < time {
            simulation.step();
        }
        let explained = simulation.explain(0).unwrap();
        let route = explained.route.unwrap();
        assert_eq!(route[0], explained.position);
        assert_eq!(route.last(), Some(&[1018.0, 2.0]));
        length(&route)
    };
    let (open, closed, again) = (way_at(0.5), way_at(2.0), way_at(4.0));
    assert!(open < 17.0 && closed > 30.0 && again < 17.0, "{open} m, {closed} m, {again} m");
}

#[test]
fn an_agent_that_cannot_reach_its_goal_stands_still() {
    let mut simulation = simulate(
        "[map]\nwalkable = \"POLYGON ((0 0, 20 0, 20 10, 0 10, 0 0))\"\n\
         obstacles = [[[9, -1], [10, -1], [10, 11], [9, 11]]]\n\
         [[agents]]\nplace = { points = [[4, 5]] }\ngoal = { point = [15, 5] }\n",
    );
    (0..30).for_each(|_| simulation.step());
    let explained = simulation.explain(0).unwrap();
    assert_eq!((explained.position, explained.route, explained.preferred), ([4.0, 5.0], None, Vec2::ZERO));
    assert!(explained.no_path);
    let unreachable = simulation.unreachable();
    assert_eq!((unreachable.len(), unreachable[0].id, unreachable[0].position), (1, 0, [4.0, 5.0]));
}

#[test]
fn no_way_is_not_the_same_as_not_thinking_in_ways() {
    let body = "[map]\nobstacles = [[[9, -1], [10, -1], [10, 11], [9, 11]]]\n\
                [[agents]]\nplace = { points = [[4, 5]] }\ngoal = { point = [15, 5] }\n";
    let mut ways = simulate(body);
    let explained = ways.explain(0).unwrap();
    assert!(explained.route.is_some() && !explained.no_path && ways.unreachable().is_empty());
    let text = format!("format = 1\n[pipeline]\nmacroscale = \"straight\"\n{body}");
    let scenario = Scenario::parse(&text, "straight.toml", None).unwrap();
    let mut straight = Simulation::with_threads(&scenario, 1).unwrap();
    let explained = straight.explain(0).unwrap();
    assert!(explained.route.is_none() && !explained.no_path && straight.unreachable().is_empty());
}

/// More than eight radii were put into eight classes with as many radii in each, and people shared one with the robot:
/// planned for a radius of 1 m, they had no path through the door.
#[test]
fn a_robot_does_not_keep_people_from_a_door() {
    let mut simulation = simulate(
        "[map]\nwalkable = \"POLYGON ((0 0, 40 0, 40 20, 0 20, 0 0))\"\n\
         obstacles = [[[18, 0], [22, 0], [22, 9], [18, 9]], [[18, 10.5], [22, 10.5], [22, 20], [18, 20]]]\n\
         [[agents]]\nname = \"people\"\nradius = { uniform = [0.2, 0.3] }\ncount = 100\n\
         place = { grid = { from = [2, 2], columns = 10, spacing = 1 } }\n\
         goal = { polygon = [[30, 2], [38, 2], [38, 18], [30, 18]] }\non_arrival = \"leave\"\n\
         [[agents]]\nname = \"robot\"\nradius = 1.0\nplace = { points = [[35, 10]] }\ngoal = { point = [36, 10] }\n",
    );
    assert!(simulation.unreachable().is_empty(), "{:?}", simulation.unreachable());
    while !simulation.is_done() {
        simulation.step();
    }
    assert_eq!(simulation.arrived(), 101);
}

/// The corner between the outline and a block; the goal is on the other side of the block.
#[test]
fn an_agent_that_starts_in_a_corner_gets_out() {
    let mut simulation = simulate(
        "[map]\nwalkable = \"POLYGON ((0 0, 20 0, 20 20, 0 20, 0 0))\"\n\
         obstacles = [[[0, 8], [15, 8], [15, 12], [0, 12]]]\n\
         [[agents]]\nplace = { points = [[0.05, 12.05], [0.35, 12.9], [0.9, 12.3]] }\ngoal = { point = [1, 2] }\n\
         radius = 0.3\ngoal_radius = 1.2\n",
    );
    while !simulation.is_done() {
        simulation.step();
    }
    assert_eq!(simulation.arrived(), 3);
}
