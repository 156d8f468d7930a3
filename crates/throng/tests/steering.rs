//! Steering a running simulation: what is asked for happens, what cannot be is refused, and bits stay the same.

use glam::DVec2;
use throng::checkpoint::Checkpoint;
use throng::crowd::{CohortId, EditError};
use throng::metrics::Metrics;
use throng::scenario::{AgentStart, Goal, Overrides};
use throng::{Scenario, Simulation, builtin};

fn scenario() -> Scenario {
    let text = r#"
        format = 1
        until = 60
        [pipeline]
        macroscale = "visibility-graph"
        microscale = "orca"
        [[agents]]
        name = "east"
        place = { grid = { from = [0, 0], columns = 3, spacing = 1.0 } }
        count = 9
        goal = { offset = [20, 0] }
        [[agents]]
        name = "crowd"
        place = { points = [[10, 12]] }
        goal = { polygon = [[8, -9], [12, -9], [12, -7], [8, -7]] }
    "#;
    Scenario::parse(text, "steered.toml", None).unwrap()
}

const WEST: CohortId = CohortId(0);
const CROWD: CohortId = CohortId(1);

fn square(middle: [f64; 2], half: f64) -> Vec<DVec2> {
    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
        .map(|[x, y]| DVec2::new(middle[0] + half * x, middle[1] + half * y))
        .to_vec()
}

fn steps(simulation: &mut Simulation, count: usize) {
    (0..count).for_each(|_| simulation.step());
}

fn positions(simulation: &Simulation, cohort: u16) -> Vec<DVec2> {
    let frame = simulation.frame();
    (0..frame.len()).filter(|&row| frame.cohort[row] == cohort).map(|row| frame.position(row)).collect()
}

#[test]
fn an_obstacle_that_comes_is_walked_around_and_one_that_goes_is_not() {
    let mut simulation = Simulation::new(&scenario()).unwrap();
    steps(&mut simulation, 20);
    let wall = square([10.0, 1.0], 3.0);
    simulation.add_obstacle("wall", &wall).unwrap();
    assert_eq!(simulation.map_changes(), 1);
    let wkt = simulation.frame().walkable_wkt();
    assert!(wkt.contains("13 4"), "{wkt}");
    let inside = |place: &DVec2| (place.x - 10.0).abs() < 3.0 && (place.y - 1.0).abs() < 3.0;
    for _ in 0..250 {
        simulation.step();
        assert!(!positions(&simulation, 0).iter().any(inside));
    }
    assert_eq!(simulation.arrived(), 10);
    simulation.remove_obstacle("wall").unwrap();
    assert!(simulation.map().obstacles.is_empty());
}

#[test]
fn goals_move_and_those_who_had_arrived_walk_again() {
    let mut simulation = Simulation::new(&scenario()).unwrap();
    steps(&mut simulation, 250);
    assert!(simulation.is_done());
    simulation.retarget(WEST, DVec2::new(0.0, 30.0)).unwrap();
    simulation.move_goals(CROWD, DVec2::new(0.0, -10.0)).unwrap();
    assert!(!simulation.is_done());
    steps(&mut simulation, 350);
    assert!(positions(&simulation, 0).iter().all(|place| place.distance(DVec2::new(0.0, 30.0)) < 5.0));
    assert!(positions(&simulation, 1).iter().all(|place| place.y < -16.9));
}

#[test]
fn agents_join_with_ids_of_their_own() {
    let scenario = scenario();
    let mut simulation = Simulation::new(&scenario).unwrap();
    steps(&mut simulation, 10);
    let like = &scenario.cohorts[0].agents[0];
    let joins = |x: f64| AgentStart {
        position: DVec2::new(x, -3.0),
        goal: Goal::Point(DVec2::new(x, 8.0)),
        radius: 0.4,
        ..like.clone()
    };
    let agents = [(WEST, 3.0), (WEST, 5.0), (CROWD, 7.0)]
        .map(|(cohort, x)| simulation.spawn(joins(x).agent(cohort, 0.5)).unwrap());
    assert_eq!(agents.map(|agent| simulation.agent(agent).unwrap().number()), [10, 11, 12]);
    assert_eq!((simulation.agents(), simulation.frame().len()), (13, 13));
    while !simulation.is_done() {
        simulation.step();
    }
    assert_eq!((simulation.arrived(), simulation.put_aside()), (13, 0));
    let frame = simulation.frame();
    let row = frame.id.iter().position(|&id| id == 12).unwrap();
    assert!(frame.position(row).y < -6.5, "it went where its cohort goes");
}

#[test]
fn models_change_on_the_way() {
    let scenario = scenario();
    let with = |microscale: &str, horizon: &str| {
        let overrides = Overrides {
            microscale: Some(microscale.into()),
            mesoscale: Some(vec!["groups".into()]),
            set: vec![("params.orca.time_horizon".into(), horizon.into())],
            ..Overrides::default()
        };
        Scenario::parse_with(&scenario.source, "now.json", None, &overrides).unwrap()
    };
    let mut simulation = Simulation::new(&scenario).unwrap();
    steps(&mut simulation, 5);
    assert!(!simulation.explain(4).unwrap().half_planes.is_empty());
    simulation.set_models(with("hrvo", "2").models()).unwrap();
    assert!(!simulation.explain(4).unwrap().cones.is_empty());
    steps(&mut simulation, 5);
    simulation.set_models(with("orca", "0.5").models()).unwrap();
    steps(&mut simulation, 300);
    assert_eq!(simulation.arrived(), 10);
    let other = builtin::find("circle").unwrap().open_with(&Overrides::default()).unwrap();
    assert_eq!(simulation.set_models(other.models()), Err(EditError::OtherCohorts { given: 1, count: 2 }));
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let scenario = scenario();
    let mut simulation = Simulation::new(&scenario).unwrap();
    let untouched = simulation.state_hash();
    let like = scenario.cohorts[0].agents[0].clone();
    simulation.add_obstacle("block", &square([50.0, 0.0], 1.0)).unwrap();
    let nan = DVec2::new(f64::NAN, 0.0);
    assert_eq!(
        simulation.add_obstacle("block", &square([9.0, 9.0], 1.0)),
        Err(EditError::NameTaken("block".into()))
    );
    for ring in
        [vec![], vec![DVec2::ONE], vec![DVec2::ONE; 4], vec![nan, DVec2::ONE], vec![DVec2::MAX, DVec2::ONE]]
    {
        assert_eq!(
            simulation.add_obstacle("other", &ring),
            Err(EditError::BadRing { what: "an obstacle", corners: 2 })
        );
    }
    assert_eq!(
        simulation.remove_obstacle("rock"),
        Err(EditError::UnknownObstacle { name: "rock".into(), known: vec!["block".into()] })
    );
    let missing = CohortId(2);
    let unknown = EditError::UnknownCohort { cohort: missing, count: 2 };
    assert_eq!(simulation.retarget(missing, DVec2::ZERO), Err(unknown));
    let inside = DVec2::new(50.0, 0.0);
    assert_eq!(
        simulation.retarget(WEST, inside).unwrap_err().to_string(),
        "the goal (50, 0) is inside obstacle `block`"
    );
    assert!(simulation.retarget(WEST, nan).is_err() && simulation.move_goals(WEST, nan).is_err());
    for wrong in [
        AgentStart { position: inside, ..like.clone() },
        AgentStart { radius: 0.0, ..like.clone() },
        AgentStart { max_speed: f64::INFINITY, ..like },
    ] {
        assert!(simulation.spawn(wrong.agent(WEST, 0.5)).is_err());
    }
    assert_eq!(simulation.state_hash(), untouched);
    assert_eq!((simulation.agents(), simulation.map_changes()), (10, 1));
}

#[test]
fn the_same_steering_gives_the_same_bits_on_any_number_of_threads() {
    let run = |threads: usize| {
        let scenario = scenario();
        let mut simulation = Simulation::with_threads(&scenario, threads).unwrap();
        steps(&mut simulation, 30);
        simulation.add_obstacle("wall", &square([12.0, 1.0], 2.0)).unwrap();
        let like = AgentStart { position: DVec2::new(2.0, 6.0), ..scenario.cohorts[0].agents[0].clone() };
        simulation.spawn(like.agent(WEST, 0.5)).unwrap();
        steps(&mut simulation, 40);
        simulation.move_goals(WEST, DVec2::new(3.0, 3.0)).unwrap();
        steps(&mut simulation, 60);
        simulation.state_hash()
    };
    let alone = run(1);
    assert_eq!([run(2), run(7)], [alone, alone]);
}

#[test]
fn a_steered_simulation_goes_on_from_a_checkpoint_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("now.ck");
    let mut simulation = Simulation::new(&scenario()).unwrap();
    steps(&mut simulation, 20);
    simulation.add_obstacle("wall", &square([10.0, 1.0], 3.0)).unwrap();
    simulation.move_goals(WEST, DVec2::X).unwrap();
    // Once with edits that no step has seen yet, once some steps later.
    for _ in 0..2 {
        Checkpoint::of(&simulation, Metrics::default(), None).unwrap().save(&path).unwrap();
        let mut resumed = Checkpoint::load(&path).unwrap().resume(2).unwrap();
        assert_eq!(resumed.map().obstacles.len(), 1);
        steps(&mut simulation, 50);
        steps(&mut resumed, 50);
        assert_eq!(resumed.state_hash(), simulation.state_hash());
    }
}

/// A hall with a wall across that has two doors, and one who walks through the southern one.
fn hall(macroscale: &str) -> Scenario {
    let text = format!(
        r#"
        format = 1
        until = 120
        [pipeline]
        macroscale = "{macroscale}"
        [map]
        walkable = 'POLYGON ((0 0, 30 0, 30 20, 0 20, 0 0), (14 4, 16 4, 16 16, 14 16, 14 4))'
        [[agents]]
        name = "one"
        place = {{ points = [[3, 6]] }}
        goal = {{ point = [27, 6] }}
        "#
    );
    Scenario::parse(&text, "hall.toml", None).unwrap()
}

/// What was planned is not walked on with: obstacles that were steered in left routes and plans as they were.
#[test]
fn an_obstacle_that_is_added_voids_what_was_planned() {
    for macroscale in ["map-field", "dynamic-navmesh", "multi-domain"] {
        let mut simulation = Simulation::new(&hall(macroscale)).unwrap();
        steps(&mut simulation, 20);
        let by_south = |simulation: &mut Simulation| {
            let route = simulation.explain(0).unwrap().route.unwrap();
            route.iter().any(|stop| stop[0] > 10.0 && stop[0] < 20.0 && stop[1] < 5.0)
        };
        assert!(by_south(&mut simulation), "{macroscale}");
        simulation.add_obstacle("door", &square([15.0, 2.0], 3.0)).unwrap();
        simulation.step();
        assert!(!by_south(&mut simulation), "{macroscale}");
        steps(&mut simulation, 700);
        assert_eq!(simulation.arrived(), 1, "{macroscale}");
        assert!(simulation.unreachable().is_empty());
    }
}

/// The crowd grows and models change, and no agent plans anew because of that.
#[test]
fn what_was_planned_outlives_agents_who_join_and_other_local_models() {
    for macroscale in ["map-field", "multi-domain"] {
        let scenario = hall(macroscale);
        let mut simulation = Simulation::new(&scenario).unwrap();
        steps(&mut simulation, 20);
        let route = |simulation: &mut Simulation| simulation.explain(0).unwrap().route.unwrap()[1..].to_vec();
        let before = route(&mut simulation);
        let like = AgentStart { position: DVec2::new(3.0, 14.0), ..scenario.cohorts[0].agents[0].clone() };
        simulation.spawn(like.agent(WEST, 0.5)).unwrap();
        assert_eq!(route(&mut simulation), before, "{macroscale}");
        let overrides = Overrides { microscale: Some("hrvo".into()), ..Overrides::default() };
        let other = Scenario::parse_with(&scenario.source, "now.json", None, &overrides).unwrap();
        simulation.set_models(other.models()).unwrap();
        assert_eq!(route(&mut simulation), before, "{macroscale}");
    }
}
