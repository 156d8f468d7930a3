//! Bugs that were found once, each named after what went wrong. The fuzzer found these; they must not come back.

use throng::checkpoint::Checkpoint;
use throng::metrics::Metrics;
use throng::{Scenario, Simulation};

fn simulate(text: &str) -> Simulation {
    let scenario = Scenario::parse(text, "regression.toml", None).unwrap_or_else(|error| panic!("{error}"));
    Simulation::with_threads(&scenario, 1).unwrap()
}

fn speeds(simulation: &Simulation) -> Vec<f32> {
    let frame = simulation.frame();
    frame.vx.iter().zip(frame.vy).map(|(vx, vy)| vx.hypot(*vy)).collect()
}

/// The wall puts a body aside at once, and that became its speed: 2.4 m/s where 1.8 was its highest.
#[test]
fn a_body_that_starts_too_close_to_a_wall_is_not_too_fast() {
    let mut simulation = simulate(
        "format = 1\n[map]\nwalls = [[[-5, 0], [5, 0]]]\n\
         [[agents]]\nplace = { points = [[0, 0.01]] }\ngoal = { point = [4, 3] }\nmax_speed = 1.8\n",
    );
    for _ in 0..5 {
        simulation.step();
        assert!(speeds(&simulation)[0] <= 1.8001, "{:?}", speeds(&simulation));
    }
}

/// A wide mover appears and pushes every agent out of itself, further than the index of walls reaches.
#[test]
fn a_wide_mover_pushes_nobody_through_a_wall() {
    let mut simulation = simulate(
        "format = 1\n[map]\nwalkable = \"POLYGON ((-20 -20, 20 -20, 20 20, -20 20, -20 -20))\"\n\
         [[movers]]\nradius = 5000\npath = [[0, 9000, 0], [0.3, 9000, 0], [0.31, 1, 2]]\n\
         [[agents]]\ncount = 9\nplace = { grid = { from = [-4, -4], columns = 3, spacing = 4 } }\ngoal = { point = [10, 3] }\n",
    );
    for _ in 0..20 {
        simulation.step();
        let frame = simulation.frame();
        for row in 0..frame.len() {
            let place = frame.position(row);
            assert!(place.abs().max_element() < 20.0, "agent {} is at {place}", frame.id[row]);
        }
    }
}

/// A body wider than the room is pushed out of all of its walls one after the other, and so out of the room.
#[test]
fn a_body_wider_than_its_room_stays_in_it() {
    let mut simulation = simulate(
        "format = 1\n[map]\nwalkable = \"POLYGON ((-3 -2, 3 -2, 3 2, -3 2, -3 -2))\"\n\
         [[agents]]\nradius = 40\nplace = { points = [[0.3, 0.2], [-1, 1]] }\ngoal = { point = [1, 1] }\n",
    );
    for _ in 0..20 {
        simulation.step();
        let frame = simulation.frame();
        for row in 0..frame.len() {
            let place = frame.position(row).abs();
            assert!(place.x < 3.0 && place.y < 2.0, "agent {} is at {place}", frame.id[row]);
        }
    }
}

/// `none` looks no time ahead, and what agents did when held up divided by that time.
#[test]
fn a_model_without_walls_has_finite_planes_beside_one() {
    let mut simulation = simulate(
        "format = 1\n[pipeline]\nmicroscale = \"none\"\n[params.headway]\nmemory = 0.01\n\
         [map]\nwalls = [[[-5, 0], [5, 0.3]], [[2, -2], [2.1, 3]]]\n\
         [[agents]]\nplace = { points = [[0.1, 0.9], [0.4, 0.8], [1.1, 0.7]] }\ngoal = { point = [3, -4] }\n",
    );
    for _ in 0..100 {
        for id in 0..3 {
            let explained = simulation.explain(id).unwrap();
            let finite = explained
                .half_planes
                .iter()
                .all(|plane| plane.point.is_finite() && plane.direction.is_finite());
            assert!(finite && explained.wanted.is_finite(), "{explained:?}");
        }
        simulation.step();
    }
}

/// An agent that does not want to walk, but was held up before and overlaps a wall: 0 / 0.
#[test]
fn one_who_wants_to_stand_beside_a_wall_stays_finite() {
    let mut simulation = simulate(
        "format = 1\n[map]\nobstacles = [[[-4, -1], [4, -1], [4, 0], [-4, 0]]]\n[params.headway]\nmemory = 0.01\n\
         [[agents]]\nradius = 1\nplace = { points = [[0, 0.5], [0.3, 0.6], [-0.3, 0.7]] }\ngoal = { point = [0, 9] }\n\
         preferred_speed = 0\nmax_speed = 3\n",
    );
    for _ in 0..50 {
        simulation.step();
        assert!(speeds(&simulation).iter().all(|speed| speed.is_finite()));
    }
    assert_eq!(simulation.put_aside(), 0);
}

/// 1e-300 s is 0 in the engine's numbers, and every agent was put aside.
#[test]
fn a_step_too_short_to_be_one_is_refused() {
    for dt in ["1e-300", "5e-324", "1e-7"] {
        let error =
            Scenario::parse(&format!("format = 1\ndt = {dt}\n"), "regression.toml", None).unwrap_err();
        assert!(error.to_string().contains("dt"), "{error}");
    }
}

/// Contacts were added up in the order of the neighbour index, and that follows the size of its cells, which follows the
/// past: a resumed run had other bits.
#[test]
fn a_pile_has_the_same_bits_after_a_checkpoint() {
    let text = "format = 1\ndt = 0.1\nuntil = 60\n\
        [[agents]]\ncount = 60\nradius = { uniform = [0.2, 0.4] }\nplace = { circle = { center = [0, 0], radius = 8 } }\n\
        goal = { antipodal = [0, 0] }\n\
        [[agents]]\ncount = 40\nradius = 0.3\nplace = { grid = { from = [-2, -2], columns = 8, spacing = 0.5 } }\n\
        goal = { point = [0, 0] }\n";
    let scenario = Scenario::parse(text, "pile.toml", None).unwrap();
    for at in [1, 7, 23] {
        let mut straight = Simulation::with_threads(&scenario, 1).unwrap();
        (0..at).for_each(|_| straight.step());
        let mut resumed = Checkpoint::of(&straight, Metrics::default(), None).unwrap().resume(2).unwrap();
        for _ in 0..40 {
            straight.step();
            resumed.step();
        }
        assert_eq!(straight.state_hash(), resumed.state_hash(), "from step {at}");
    }
}
