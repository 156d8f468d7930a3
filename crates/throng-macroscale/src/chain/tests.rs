use super::*;
use crate::domain::occupancy::Trajectory;
use throng_core::space::Wall;

fn wall(a: [f32; 2], b: [f32; 2]) -> Wall {
    Wall { a: a.into(), b: b.into(), two_sided: true }
}

fn problem(from: [f64; 2], to: [f64; 2]) -> Problem {
    let (from, to) = (from.into(), to.into());
    Problem { from, velocity: DVec2::ZERO, to, begin: 0.0, arrive: None, own: None }
}

/// A hall of 40 m with a wall across that has a door in the middle.
fn hall() -> Vec<Wall> {
    let corners = [[0.0, 0.0], [40.0, 0.0], [40.0, 20.0], [0.0, 20.0]];
    let mut walls: Vec<Wall> = (0..4).map(|i| wall(corners[i], corners[(i + 1) % 4])).collect();
    walls.extend([wall([20.0, 0.0], [20.0, 9.0]), wall([20.0, 11.0], [20.0, 20.0])]);
    walls
}

fn plan_between(walls: &[Wall], chain: &str, published: &Occupancy, problem: &Problem) -> Vec<Outcome> {
    let chain = chain.parse().unwrap();
    let (low, high) = (DVec2::ZERO, DVec2::new(40.0, 20.0));
    let site = Site { walls, links: &[], low, high, radius: 0.25 };
    let atlas = Atlas::new(site, &chain, Tuning::default()).unwrap();
    plan(&atlas, published, &chain, problem)
}

fn plan_in_hall(chain: &str, published: &Occupancy, problem: &Problem) -> Vec<Outcome> {
    plan_between(&hall(), chain, published, problem)
}

#[test]
fn a_chain_is_read_and_written() {
    for text in ["navmesh", "navmesh>dynamic-navmesh>grid>space-time", "dynamic-navmesh/grid>space-time"] {
        assert_eq!(text.parse::<Chain>().unwrap().to_string(), text);
    }
    let error = |text: &str| text.parse::<Chain>().unwrap_err().to_string();
    assert!(error("navmesh>gird").contains("unknown domain `gird`; known: navmesh"));
    assert!(error("grid>navmesh").contains("`navmesh` cannot follow `grid`"));
    assert!(error("navmesh/grid/space-time").contains("more than once"));
    assert!(error("navmesh>").contains("unknown domain ``"));
    assert!(error("").contains("unknown domain ``"));
}

#[test]
fn every_chain_leads_through_the_door() {
    let chains = [
        "navmesh",
        "dynamic-navmesh",
        "grid",
        "space-time",
        "navmesh>dynamic-navmesh",
        "navmesh>grid",
        "grid>space-time",
        "navmesh>dynamic-navmesh>grid>space-time",
        "navmesh>dynamic-navmesh/grid>space-time",
        "navmesh/space-time",
    ];
    for chain in chains {
        let outcomes = plan_in_hall(chain, &Occupancy::default(), &problem([5.0, 3.0], [35.0, 17.0]));
        let last = outcomes.last().unwrap();
        assert!(last.is_found(), "{chain}: {:?}", last.status);
        // Straight it is 33.1 m, and the door is on the line.
        assert!((32.0..42.0).contains(&last.length()), "{chain}: {} m", last.length());
        let points: Vec<_> = last.trajectory.windows(2).collect();
        let through = |pair: &&[(f64, DVec2)]| pair[0].1.x <= 20.0 && pair[1].1.x > 20.0;
        let pair = points.iter().find(|pair| through(pair)).unwrap();
        let share = (20.0 - pair[0].1.x) / (pair[1].1.x - pair[0].1.x);
        let y = pair[0].1.y + (pair[1].1.y - pair[0].1.y) * share;
        assert!((9.2..=10.8).contains(&y), "{chain}: through the wall at {y}");
    }
}

#[test]
fn a_closed_room_has_no_plan_in_any_chain() {
    let mut walls = hall();
    walls.push(wall([20.0, 8.0], [20.0, 12.0]));
    for chain in ["navmesh", "dynamic-navmesh", "grid", "navmesh>grid", "navmesh/space-time"] {
        let outcomes = plan_between(&walls, chain, &Occupancy::default(), &problem([5.0, 3.0], [35.0, 17.0]));
        assert!(!outcomes.last().unwrap().is_found(), "{chain}");
    }
}

#[test]
fn who_comes_through_the_door_is_let_by_in_space_time_only() {
    let cart = Trajectory {
        radius: 0.7,
        path: vec![(0.0, DVec2::new(38.0, 10.0)), (26.0, DVec2::new(2.0, 10.0))],
        stays: true,
    };
    let published = Occupancy::new([cart.clone()]);
    let gap = |chain: &str| {
        let outcomes = plan_in_hall(chain, &published, &problem([5.0, 10.0], [35.0, 10.0]));
        let trajectory = outcomes.last().unwrap().trajectory.clone();
        assert!(!trajectory.is_empty(), "{chain}");
        let passages = trajectory.windows(2).map(|pair| crate::domain::occupancy::Passage {
            from: pair[0].1,
            to: pair[1].1,
            begin: pair[0].0,
            end: pair[1].0,
        });
        passages.map(|passage| cart.nearest(&passage)).fold(f64::INFINITY, f64::min)
    };
    assert!(gap("navmesh") < 0.95);
    assert!(gap("navmesh>grid>space-time") >= 0.95);
    assert!(gap("navmesh/grid>space-time") >= 0.95);
}

#[test]
fn a_long_way_round_within_a_leg_is_no_deep_search() {
    // A second door at the top, and a body in the first one, which the static mesh does not know of.
    let mut walls = hall();
    walls.truncate(5);
    walls.push(wall([20.0, 11.0], [20.0, 17.0]));
    let published = Occupancy::new([Trajectory::standing(0.9, DVec2::new(20.0, 10.0))]);
    let outcomes =
        plan_between(&walls, "navmesh/grid>space-time", &published, &problem([15.0, 10.0], [25.0, 10.0]));
    let last = outcomes.last().unwrap();
    assert!((18.0..30.0).contains(&last.length()), "{} m", last.length());
    assert!(last.searches > 1, "{} searches", last.searches);
    assert!(last.effort.expansions < 30 * last.searches as u64, "{:?}", last.effort);
}

#[test]
fn a_window_is_met_through_a_chain() {
    let mut problem = problem([5.0, 3.0], [35.0, 17.0]);
    problem.arrive = Some((39.0, 41.0));
    for chain in ["grid>space-time", "navmesh/grid>space-time"] {
        let outcomes = plan_in_hall(chain, &Occupancy::default(), &problem);
        let end = outcomes.last().unwrap().trajectory.last().map(|last| last.0);
        assert!(end.is_some_and(|end| (39.0..=41.0).contains(&end)), "{chain}: {end:?}");
    }
}
