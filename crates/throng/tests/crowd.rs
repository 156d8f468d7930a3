//! The façade: agents come, go and are changed while a crowd runs; handles, edits, replays and saves keep their word.

use std::time::Instant;
use throng::prelude::*;
use throng::rng::{self, Purpose};
use throng::{Scenario, Simulation};

const ROOM: [[f64; 2]; 4] = [[-200.0, -200.0], [200.0, -200.0], [200.0, 200.0], [-200.0, 200.0]];

fn square(x: f64, y: f64, half: f64) -> [[f64; 2]; 4] {
    [[x - half, y - half], [x + half, y - half], [x + half, y + half], [x - half, y + half]]
}

/// What a game does to a crowd of ten thousand, step by step, drawn from the step's number alone.
struct Game {
    crowd: Crowd,
    agents: Vec<AgentId>,
    crates: usize,
    /// Time spent in calls of `spawn` and `despawn`, s, and how many there were.
    churn: (f64, u32),
}

impl Game {
    fn new(threads: usize) -> Game {
        let crowd = Crowd::builder().walkable(&ROOM).threads(threads).seed(5).build().unwrap();
        Game { crowd, agents: Vec::new(), crates: 0, churn: (0.0, 0) }
    }

    fn place(draws: &mut rng::Stream) -> DVec2 {
        DVec2::new(draws.uniform(-190.0, 190.0), draws.uniform(-190.0, 190.0))
    }

    fn spawn(&mut self, draws: &mut rng::Stream, count: usize) {
        for _ in 0..count {
            let radius = draws.uniform(0.2, 0.3);
            let agent = Agent::at(Game::place(draws)).goal(Game::place(draws)).radius(radius);
            // Where a crate stands no agent can come.
            self.agents.extend(self.crowd.spawn(agent));
        }
    }

    fn step(&mut self, step: u64, agents: usize, edits: usize) {
        let mut draws = rng::stream(9, 0, step, Purpose::Goal);
        let begin = Instant::now();
        for _ in 0..edits.min(self.agents.len()) {
            let leaves = self.agents.swap_remove(draws.below(self.agents.len()));
            self.crowd.despawn(leaves).unwrap();
        }
        let missing = agents - self.agents.len();
        self.spawn(&mut draws, missing);
        if step > 0 {
            self.churn.0 += begin.elapsed().as_secs_f64();
            self.churn.1 += (edits + missing) as u32;
        }
        for _ in 0..edits {
            let goes = self.agents[draws.below(self.agents.len())];
            self.crowd.set_goal(goes, Game::place(&mut draws)).unwrap();
        }
        for turn in 0..edits / 10 {
            let steered = self.agents[draws.below(self.agents.len())];
            let velocity = DVec2::from_angle(draws.uniform(0.0, 6.0));
            self.crowd.set_preferred_velocity(steered, (turn % 2 == 0).then_some(velocity)).unwrap();
        }
        if step % 50 == 49 {
            let name = format!("crate {}", self.crates / 2);
            if self.crates.is_multiple_of(2) {
                let at = Game::place(&mut draws);
                self.crowd.add_obstacle(&name, &square(at.x, at.y, 3.0)).unwrap();
            } else {
                self.crowd.remove_obstacle(&name).unwrap();
            }
            self.crates += 1;
        }
        self.crowd.step();
    }
}

fn memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn churn(agents: usize, edits: usize, steps: u64) {
    let mut hashes = Vec::new();
    for threads in [1, 2, 8] {
        let mut game = Game::new(threads);
        let begin = game.crowd.save().unwrap();
        let logged = threads == 8;
        game.crowd.log_edits(logged);
        let (mut memory, mut bytes) = (0.0, usize::MAX);
        for step in 0..steps {
            game.step(step, agents, edits);
            if step == steps / 10 {
                // Saved first: what the allocator keeps of the bytes is there at the end too.
                bytes = game.crowd.save().unwrap().len();
                memory = memory_mb();
            }
        }
        let hash = game.crowd.state_hash();
        hashes.push(hash);
        let (seconds, count) = game.churn;
        println!(
            "{threads} threads: {hash:016x}, {:.0} ns a spawn or despawn, {memory:.1} MB, then {:.1} MB",
            1e9 * seconds / f64::from(count),
            memory_mb()
        );
        // What all tests of a process take says nothing of one crowd; all that lasts of it is in its bytes.
        let now = game.crowd.save().unwrap().len();
        if !logged {
            assert!(now as f64 <= 1.1 * bytes as f64, "{now} bytes after {bytes}");
        }
        if logged {
            let log = EditLog::from_bytes(&game.crowd.take_log().to_bytes()).unwrap();
            let mut again = Crowd::load_on(&begin, Some(2)).unwrap();
            again.replay(&log, steps).unwrap();
            assert_eq!(again.state_hash(), hash, "a replay of {} edits", log.edits.len());
        }
    }
    assert!(hashes.iter().all(|&hash| hash == hashes[0]), "{hashes:x?}");
}

#[test]
fn coming_and_going_gives_the_same_bits_on_any_number_of_threads_and_in_a_replay() {
    churn(2_000, 100, 160);
}

#[test]
#[ignore = "long: ten thousand agents, two thousand steps, four runs"]
fn ten_thousand_come_and_go_for_two_thousand_steps() {
    churn(10_000, 100, 2_000);
}

#[test]
fn a_stale_or_foreign_handle_is_an_error_and_never_another_agent() {
    let mut crowd = Crowd::builder().build().unwrap();
    let mut other = Crowd::builder().build().unwrap();
    let first = crowd.spawn(Agent::at([0.0, 0.0])).unwrap();
    let foreign = other.spawn(Agent::at([5.0, 5.0])).unwrap();
    assert_eq!(crowd.position(foreign), Err(EditError::ForeignHandle));
    crowd.despawn(first).unwrap();
    assert!(!crowd.contains(first));
    // The slot is used again, the handle is not.
    let second = crowd.spawn(Agent::at([9.0, 0.0]).goal([20.0, 0.0])).unwrap();
    assert_eq!(crowd.position(first), Err(EditError::StaleHandle));
    assert_eq!(crowd.despawn(first), Err(EditError::StaleHandle));
    assert_eq!(crowd.set_goal(first, [1.0, 1.0]), Err(EditError::StaleHandle));
    assert!(crowd.explain(first).is_err() && crowd.set_preferred_velocity(first, None).is_err());
    crowd.step();
    assert!(crowd.position(second).unwrap().x > 9.0);
    // An agent that leaves on arrival takes its handle with it.
    let leaves = crowd.add_cohort(Cohort::named("guests").leaves_on_arrival()).unwrap();
    let guest = crowd.spawn(Agent::at([0.0, 3.0]).goal([1.0, 3.0]).cohort(leaves)).unwrap();
    while crowd.contains(guest) {
        assert!(crowd.departures().is_empty() && crowd.time() < 5.0);
        crowd.step();
    }
    assert_eq!(crowd.departures().len(), 1);
    assert_eq!(crowd.status(guest), Err(EditError::StaleHandle));
    let mover = other.spawn_mover(Mover::at([0.0, 0.0])).unwrap();
    assert_eq!(crowd.set_mover(mover, [1.0, 0.0], [0.0, 0.0]), Err(EditError::ForeignHandle));
    other.despawn_mover(mover).unwrap();
    assert_eq!(other.despawn_mover(mover), Err(EditError::UnknownMover));
}

#[test]
fn a_crowd_built_in_code_walks_like_the_same_scenario() {
    let text = r#"
        format = 1
        seed = 3
        [pipeline]
        macroscale = "navmesh"
        microscale = "orca"
        [params.orca]
        time_horizon = 2.0
        [map]
        walkable = "POLYGON ((0 0, 40 0, 40 20, 0 20, 0 0))"
        obstacles = [ { name = "pillar", polygon = [[10, 8], [12, 8], [12, 12], [10, 12]] } ]
        [[agents]]
        place = { grid = { from = [1, 5], columns = 5, spacing = 1.0 } }
        count = 50
        goal = { point = [38, 10] }
        goal_radius = 0.5
    "#;
    let scenario = Scenario::parse(text, "code.toml", None).unwrap();
    let mut simulation = Simulation::new(&scenario).unwrap();
    let mut crowd = Crowd::builder()
        .seed(3)
        .walkable(&[[0.0, 0.0], [40.0, 0.0], [40.0, 20.0], [0.0, 20.0]])
        .obstacle("pillar", &[[10.0, 8.0], [12.0, 8.0], [12.0, 12.0], [10.0, 12.0]])
        .macroscale(Navmesh::default())
        .microscale(Orca { time_horizon: 2.0, ..Orca::default() })
        .cohort(Cohort::default().goal_radius(0.5))
        .build()
        .unwrap();
    for index in 0..50 {
        let place = [1.0 + f64::from(index % 5), 5.0 + f64::from(index / 5)];
        crowd.spawn(Agent::at(place).goal([38.0, 10.0])).unwrap();
    }
    for step in 0..300 {
        assert_eq!(crowd.state_hash(), simulation.state_hash(), "after {step} steps");
        crowd.step();
        simulation.step();
    }
}

#[test]
fn a_steered_agent_does_what_the_caller_wants_and_still_avoids_others() {
    let mut crowd = Crowd::builder().dt(0.1).build().unwrap();
    let steered = crowd.spawn(Agent::at([0.0, 0.0])).unwrap();
    let stands = crowd.spawn(Agent::at([5.0, 0.05])).unwrap();
    crowd.set_preferred_velocity(steered, Some([1.0, 0.0].into())).unwrap();
    for _ in 0..90 {
        crowd.step();
        assert!(crowd.position(steered).unwrap().distance(crowd.position(stands).unwrap()) > 0.49);
    }
    assert!(crowd.position(steered).unwrap().x > 7.0, "{}", crowd.position(steered).unwrap());
    assert_eq!(crowd.status(steered), Ok(Status::Walking));
    crowd.set_goal(steered, [0.0, 0.0]).unwrap();
    crowd.step();
    assert!(crowd.velocity(steered).unwrap().x > 0.0, "the caller's word counts more than a goal");
    crowd.set_preferred_velocity(steered, None).unwrap();
    (0..100).for_each(|_| crowd.step());
    assert_eq!(crowd.status(steered), Ok(Status::Arrived));
}

#[test]
fn a_body_that_only_the_caller_moves_is_avoided() {
    let mut crowd = Crowd::builder().dt(0.1).build().unwrap();
    let agents: Vec<AgentId> = (0..8)
        .map(|i| {
            crowd.spawn(Agent::at([10.0, f64::from(i) - 3.5]).goal([-10.0, f64::from(i) - 3.5])).unwrap()
        })
        .collect();
    let player = crowd.spawn_mover(Mover::at([-10.0, 0.0]).radius(0.6)).unwrap();
    for step in 0..160 {
        let x = -10.0 + 0.1 * f64::from(step);
        crowd.set_mover(player, [x, 0.0], [1.0, 0.0]).unwrap();
        crowd.step();
        let here = crowd.mover_position(player).unwrap();
        assert!((here.x - (x + 0.1)).abs() < 1e-4, "{here}");
        for &agent in &agents {
            let gap = crowd.position(agent).unwrap().distance(here);
            assert!(gap > 0.8, "{gap} m from the player's middle");
        }
    }
    assert!(agents.iter().all(|&agent| crowd.status(agent) == Ok(Status::Arrived)));
}

#[test]
fn cohorts_have_models_areas_and_values_of_their_own() {
    let mut crowd = Crowd::builder().microscale(Orca::default()).build().unwrap();
    let hall = [[18.0, -5.0], [24.0, -5.0], [24.0, 5.0], [18.0, 5.0]];
    let guests = Cohort::named("guests")
        .microscale(Hrvo { max_neighbors: 6, ..Hrvo::default() })
        .params(Headway { on: false, ..Headway::default() })
        .goal_area(&hall)
        .together();
    let guests = crowd.add_cohort(guests).unwrap();
    let guest = crowd.spawn(Agent::at([0.0, 0.0]).cohort(guests)).unwrap();
    let other = crowd.spawn(Agent::at([20.0, 0.5]).goal([0.0, 0.5])).unwrap();
    (0..5).for_each(|_| crowd.step());
    assert!(crowd.explain(guest).unwrap().half_planes.is_empty(), "its cohort has no half-planes");
    (0..60).for_each(|_| crowd.step());
    assert!(
        !crowd.explain(guest).unwrap().cones.is_empty()
            && !crowd.explain(other).unwrap().half_planes.is_empty()
    );
    let mut same = Crowd::load(&crowd.save().unwrap()).unwrap();
    for _ in 0..150 {
        crowd.step();
        same.step();
    }
    assert_eq!(same.state_hash(), crowd.state_hash());
    assert_eq!(same.status(guest), Ok(Status::Arrived));
    assert_eq!(same.cohort_name(guests), Some("guests"));
}

#[test]
fn a_builder_keeps_every_cohort_that_it_is_told_of() {
    let hosts = || Cohort::named("hosts").goal_radius(0.5);
    let guests = || Cohort::named("guests").leaves_on_arrival();
    let mut built = Crowd::builder().cohort(hosts()).cohort(guests()).build().unwrap();
    assert_eq!(built.cohort_names(), ["hosts", "guests"]);
    let mut added = Crowd::builder().cohort(hosts()).build().unwrap();
    assert_eq!(added.add_cohort(guests()), Ok(CohortId(1)));
    for crowd in [&mut built, &mut added] {
        crowd.spawn(Agent::at([0.0, 0.0]).goal([2.0, 0.0])).unwrap();
        crowd.spawn(Agent::at([0.0, 3.0]).goal([2.0, 3.0]).cohort(CohortId(1))).unwrap();
        (0..40).for_each(|_| crowd.step());
        assert_eq!(crowd.agents().map(|agent| agent.cohort()).collect::<Vec<_>>(), [CohortId::FIRST]);
    }
    assert_eq!(built.state_hash(), added.state_hash());
    // One that cannot be is told wherever it stands, and without any call there is one cohort.
    let broken = Cohort::default().goal_radius(f64::NAN);
    assert!(Crowd::builder().cohort(hosts()).cohort(broken).build().is_err());
    assert_eq!(Crowd::builder().build().unwrap().cohort_names().len(), 1);
}

#[test]
fn an_obstacle_voids_what_planners_remember() {
    let room = [[0.0, 0.0], [30.0, 0.0], [30.0, 12.0], [0.0, 12.0]];
    let bar = [[14.0, -1.0], [15.0, -1.0], [15.0, 9.0], [14.0, 9.0]];
    let builders = [
        Crowd::builder().macroscale(VisibilityGraph::default()),
        Crowd::builder().macroscale(Navmesh::default()),
        Crowd::builder().macroscale(DynamicNavmesh::default()),
        Crowd::builder().macroscale(MapField::default()),
        Crowd::builder().macroscale(MultiDomain::default()),
    ];
    for builder in builders {
        let mut crowd = builder.walkable(&room).build().unwrap();
        let name = crowd.models().pipeline.macroscale.clone();
        let walker = crowd.spawn(Agent::at([2.0, 3.0]).goal([28.0, 3.0])).unwrap();
        (0..50).for_each(|_| crowd.step());
        let straight = crowd.path([2.0, 3.0], [28.0, 3.0]).unwrap();
        crowd.add_obstacle("bar", &bar).unwrap();
        crowd.step();
        let around = crowd.path([2.0, 3.0], [28.0, 3.0]).unwrap();
        assert!(around.length() > straight.length() + 2.0, "{name}: {straight:?} {around:?}");
        for _ in 0..350 {
            crowd.step();
            let here = crowd.position(walker).unwrap();
            assert!(crowd.is_walkable(here), "{name}: {here}");
        }
        assert_eq!(crowd.status(walker), Ok(Status::Arrived), "{name}: {}", crowd.position(walker).unwrap());
        crowd.add_obstacle("lid", &[[14.0, 8.0], [15.0, 8.0], [15.0, 13.0], [14.0, 13.0]]).unwrap();
        crowd.step();
        assert!(!crowd.path([2.0, 3.0], [28.0, 3.0]).unwrap().is_found(), "{name}");
    }
}

#[test]
fn questions_about_places_are_answered_before_and_after_steps() {
    let mut crowd = Crowd::builder()
        .walkable(&ROOM)
        .obstacle("block", &square(50.0, 50.0, 5.0))
        .macroscale(Navmesh::default())
        .build()
        .unwrap();
    let mut agents = Vec::new();
    for i in 0..400 {
        let (x, y) = (f64::from(i % 20), f64::from(i / 20));
        agents.push(crowd.spawn(Agent::at([x, y]).goal([x + 50.0, y])).unwrap());
    }
    for _ in 0..3 {
        let middle = DVec2::new(9.3, 9.4);
        let near = crowd.neighbors(middle, 3.0);
        let mut expected: Vec<(f64, AgentId)> = agents
            .iter()
            .map(|&agent| (crowd.position(agent).unwrap().distance(middle), agent))
            .filter(|(distance, _)| *distance <= 3.0)
            .collect();
        expected.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(near.len() > 20 && near.len() == expected.len());
        assert!(expected.iter().all(|(_, agent)| near.contains(agent)));
        crowd.step();
    }
    assert!(
        crowd.is_walkable([0.0, 0.0]) && !crowd.is_walkable([50.0, 50.0]) && !crowd.is_walkable([201.0, 0.0])
    );
    assert!(!crowd.is_walkable([f64::NAN, 0.0]) && crowd.neighbors([f64::NAN, 0.0], 5.0).is_empty());
    assert!(crowd.path([0.0, 0.0], [50.0, 50.0]).is_err());
    let path = crowd.path([40.0, 50.0], [60.0, 50.0]).unwrap();
    assert_eq!((path[0], path[path.len() - 1]), (DVec2::new(40.0, 50.0), DVec2::new(60.0, 50.0)));
    assert!(path.length() > 20.0 && path.length() < 25.0);
    let columns = crowd.columns();
    assert_eq!((columns.x.len(), columns.radius.len()), (400, 400));
}

#[test]
fn bad_input_is_refused_by_name_and_changes_nothing() {
    let mut crowd =
        Crowd::builder().walkable(&ROOM).obstacle("block", &square(50.0, 50.0, 5.0)).build().unwrap();
    let agent = crowd.spawn(Agent::at([0.0, 0.0])).unwrap();
    let untouched = crowd.state_hash();
    let message_of = |error: EditError| error.to_string();
    let at = || Agent::at([1.0, 1.0]);
    for (wrong, words) in [
        (Agent::at([50.0, 50.0]), "inside obstacle `block`"),
        (Agent::at([500.0, 0.0]), "outside the walkable area"),
        (Agent::at([f64::NAN, 0.0]), "not finite"),
        (at().radius(0.0), "radius = 0 must be above 0"),
        (at().radius(f64::NAN), "radius = NaN"),
        (at().speed(-1.0), "speed = -1"),
        (at().max_speed(f64::INFINITY), "max_speed = inf"),
        (at().goal([f64::INFINITY, 0.0]), "goal"),
        (at().delay(-1.0), "delay"),
        (at().responsibility(2.0), "responsibility"),
        (at().velocity([f64::NAN, 0.0]), "velocity"),
        (at().cohort(CohortId(7)), "no cohort 7"),
    ] {
        let message = message_of(crowd.spawn(wrong).unwrap_err());
        assert!(message.contains(words), "{message}");
    }
    assert!(message_of(crowd.set_position(agent, [50.0, 50.0]).unwrap_err()).contains("`block`"));
    assert!(crowd.step_by(0.0).is_err() && crowd.step_by(f64::NAN).is_err() && crowd.step_by(-0.1).is_err());
    assert!(message_of(crowd.remove_obstacle("rock").unwrap_err()).contains("known: block"));
    assert!(crowd.spawn_mover(Mover::along([(1.0, [0.0, 0.0]), (1.0, [1.0, 0.0])])).is_err());
    assert!(crowd.spawn_mover(Mover::at([0.0, 0.0]).radius(-1.0)).is_err());
    assert_eq!(crowd.state_hash(), untouched);
    assert!(Crowd::load(&[1, 2, 3]).is_err());
    let mut bytes = crowd.save().unwrap();
    bytes[40] ^= 1;
    assert!(Crowd::load(&bytes).is_err());

    let failed = |builder: Builder| builder.build().err().map(|error| error.to_string()).unwrap_or_default();
    assert!(failed(Crowd::builder().dt(0.0)).contains("dt = 0"));
    assert!(
        failed(Crowd::builder().microscale_named("orka", settings([])))
            .contains("known: vo, rvo, hrvo, orca")
    );
    assert!(
        failed(Crowd::builder().microscale(Orca { time_horizon: -1.0, ..Orca::default() }))
            .contains("time_horizon")
    );
    assert!(
        failed(Crowd::builder().microscale_named("orca", settings([("horizon", 1.0)])))
            .contains("unknown key `horizon`")
    );
    assert!(failed(Crowd::builder().walkable(&[[0.0, 0.0], [1.0, 0.0]])).contains("walkable area"));
    let covered = Crowd::builder().walkable(&square(0.0, 0.0, 1.0)).obstacle("lid", &square(0.0, 0.0, 2.0));
    assert!(failed(covered).contains("cover"));
}

#[test]
fn steps_of_another_length_are_replayed_and_time_adds_up() {
    let mut crowd = Crowd::builder().dt(0.1).build().unwrap();
    let begin = crowd.save().unwrap();
    crowd.log_edits(true);
    let agent = crowd.spawn(Agent::at([0.0, 0.0]).goal([100.0, 0.0])).unwrap();
    for step in 0..60 {
        match step % 3 {
            0 => crowd.step(),
            1 => crowd.step_by(0.05).unwrap(),
            _ => crowd.step_by(1.0 / 60.0).unwrap(),
        }
    }
    let time = 20.0 * (0.1 + 0.05 + 1.0 / 60.0);
    assert!((crowd.time() - time).abs() < 1e-9, "{}", crowd.time());
    assert!((crowd.position(agent).unwrap().x - 1.34 * time).abs() < 1e-3);
    let mut again = Crowd::load(&begin).unwrap();
    again.replay(&crowd.take_log(), 60).unwrap();
    assert_eq!((again.state_hash(), again.time()), (crowd.state_hash(), crowd.time()));
}

#[test]
fn a_crowd_far_from_zero_walks_like_one_at_zero() {
    let walk = |offset: f64| {
        let mut crowd = Crowd::builder().build().unwrap();
        let agent = crowd.spawn(Agent::at([offset, -offset]).goal([offset + 20.0, -offset])).unwrap();
        (0..100).for_each(|_| crowd.step());
        crowd.position(agent).unwrap().x - offset
    };
    assert!((walk(1e6) - walk(0.0)).abs() < 0.01 && (walk(1e8) - walk(0.0)).abs() < 0.01);
}

/// The first place chooses the origin of a crowd without a map. What came before the first agent was kept relative to another
/// origin than all that came later, and so was elsewhere.
#[test]
fn what_comes_before_the_first_agent_of_a_far_crowd_stays_where_it_was_put() {
    /// Returns the cohort of the agent that comes later.
    type First = fn(&mut Crowd, f64) -> CohortId;
    let walk = |first: First, at: f64| {
        let mut crowd = Crowd::builder().macroscale(VisibilityGraph::default()).build().unwrap();
        let cohort = first(&mut crowd, at);
        let agent = crowd.spawn(Agent::at([at, at]).goal([at + 20.0, at]).cohort(cohort)).unwrap();
        (0..80).for_each(|_| crowd.step());
        crowd.position(agent).unwrap() - DVec2::splat(at)
    };
    let alone = walk(|_, _| CohortId::FIRST, 0.0);
    let firsts: [First; 5] = [
        |crowd, at| {
            crowd.add_obstacle("crate", &square(at + 6.0, at + 0.5, 2.0)).unwrap();
            CohortId::FIRST
        },
        |crowd, at| {
            let hall = square(at + 12.0, at + 9.0, 2.0);
            crowd.add_cohort(Cohort::named("guests").goal_area(&hall)).unwrap()
        },
        |crowd, at| {
            let hall = square(at + 12.0, at + 9.0, 2.0).map(DVec2::from);
            let retarget = Edit::Retarget { cohort: CohortId::FIRST, goal: CohortGoal::Area(hall.to_vec()) };
            crowd.apply(retarget).unwrap();
            CohortId::FIRST
        },
        |crowd, at| {
            crowd.spawn_mover(Mover::at([at + 6.0, at + 0.2]).radius(1.0)).unwrap();
            CohortId::FIRST
        },
        |crowd, at| {
            let script = [(0.0, [at + 9.0, at]), (9.0, [at + 5.0, at])];
            crowd.spawn_mover(Mover::along(script).radius(1.0)).unwrap();
            CohortId::FIRST
        },
    ];
    for (index, first) in firsts.into_iter().enumerate() {
        let (near, far) = (walk(first, 0.0), walk(first, 1e6));
        assert!(near.distance(alone) > 0.1, "{index} is in the way: {near}");
        assert!(near.distance(far) < 0.02, "{index}: {far} instead of {near}");
    }
}

/// `step` after `step_by` kept walls as near as the short step needed, and a replay did not.
#[test]
fn a_step_after_a_short_one_is_replayed_alike() {
    let build = || {
        let builder = Crowd::builder().dt(1.0).microscale(Unaware::default());
        let mut crowd = builder.obstacle("far", &[[20.0, 0.0], [21.0, 0.0], [21.0, 1.0]]).build().unwrap();
        let walker = crowd.spawn(Agent::at([0.0, 0.0]).goal([10.0, 0.0])).unwrap();
        (crowd, walker)
    };
    let (mut crowd, walker) = build();
    crowd.log_edits(true);
    crowd.step_by(0.01).unwrap();
    crowd.step();
    assert!((crowd.position(walker).unwrap().x - 1.34 * 1.01).abs() < 1e-3);
    let log = crowd.take_log();
    let (mut again, _) = build();
    again.replay(&log, crowd.steps()).unwrap();
    assert_eq!(again.state_hash(), crowd.state_hash());
    for dt in [0.0, 1e-50, 61.0, f64::NAN] {
        assert!(crowd.step_by(dt).is_err(), "{dt}");
    }
}
