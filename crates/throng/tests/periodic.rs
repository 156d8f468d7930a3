//! Maps that repeat: whoever crosses a seam walks on as if there were none.

use throng::checkpoint::Checkpoint;
use throng::metrics::Metrics;
use throng::prelude::*;
use throng::rng::{self, Purpose};
use throng::{Scenario, Simulation};

const LENGTH: f64 = 26.0;

fn corridor(low: f64, width: f64) -> [[f64; 2]; 4] {
    [[low, 0.0], [low + LENGTH, 0.0], [low + LENGTH, width], [low, width]]
}

fn ring(preset: Preset, width: f64) -> throng::crowd::Builder {
    Crowd::builder().dt(0.1).walkable(&corridor(0.0, width)).periodic([LENGTH, 0.0]).preset(preset)
}

/// Agents in rows, every second one the other way where `both`, all moved along by a distance.
fn fill(crowd: &mut Crowd, people: usize, width: f64, both: bool, shift: f64) -> Vec<AgentId> {
    let across = (width / 0.8).floor().max(1.0) as usize;
    let along = LENGTH / people.div_ceil(across) as f64;
    let mut spawn = |index: usize| {
        let mut draws = rng::stream(3, index as u32, 0, Purpose::Place);
        let x = along * ((index / across) as f64 + draws.uniform(0.0, 0.2)) + shift;
        let y = width * ((index % across) as f64 + 0.5) / across as f64;
        let way = if both && index % 2 == 1 { -1000.0 } else { 1000.0 };
        let agent = Agent::at([x, y]).goal([x + way, y]).radius(0.2).speed(draws.uniform(1.0, 1.5));
        crowd.spawn(agent).unwrap()
    };
    (0..people).map(&mut spawn).collect()
}

fn is_at(crowd: &Crowd, agent: AgentId, place: [f64; 2], tolerance: f64) -> bool {
    let mut away = crowd.position(agent).unwrap() - DVec2::from(place);
    away.x -= LENGTH * (away.x / LENGTH).round();
    away.length() < tolerance
}

#[test]
fn a_lone_agent_walks_a_thousand_metres() {
    for walled in [false, true] {
        let builder = Crowd::builder().dt(0.5).periodic([LENGTH, 0.0]);
        let builder = if walled { builder.walkable(&corridor(0.0, 2.0)) } else { builder };
        let mut crowd = builder.build().unwrap();
        let agent = crowd.spawn(Agent::at([3.0, 1.0]).goal([1003.0, 1.0]).radius(0.2).speed(1.25)).unwrap();
        while crowd.status(agent).unwrap() != Status::Arrived {
            crowd.step();
            let (at, velocity) = (crowd.position(agent).unwrap(), crowd.velocity(agent).unwrap());
            assert!((0.0..LENGTH).contains(&at.x) && (at.y - 1.0).abs() < 1e-3, "{at}");
            assert!(velocity.x > 1.2 || crowd.time() > 790.0, "{velocity} at {at}");
            assert!(crowd.time() < 801.0);
        }
        let walked = crowd.columns().walked[0];
        assert!((walked - 1000.0).abs() < 1.0, "{walked} m in {} s", crowd.time());
    }
}

/// Along y, and along both at once: straight on, over the corner of the cell.
#[test]
fn both_axes_can_repeat() {
    let mut crowd = Crowd::builder().periodic([8.0, 6.0]).build().unwrap();
    let agent = crowd.spawn(Agent::at([7.5, 5.5]).goal([37.5, 35.5]).speed(1.0)).unwrap();
    (0..20).for_each(|_| crowd.step());
    let at = crowd.position(agent).unwrap();
    assert!(at.distance(DVec2::new(7.5 + 2f64.sqrt() - 8.0, 5.5 + 2f64.sqrt() - 6.0)) < 1e-3, "{at}");
}

/// A crowd moved by half a period does the same, half a period further: where the seam is makes no difference.
#[test]
fn the_seam_is_nowhere() {
    for preset in Preset::ALL {
        for (width, people, both) in [(0.8, 30, false), (2.4, 24, true)] {
            let run = |shift: f64| {
                let mut crowd = ring(preset, width).build().unwrap();
                let agents = fill(&mut crowd, people, width, both, shift);
                (0..80).for_each(|_| crowd.step());
                (crowd, agents)
            };
            let ((here, agents), (there, others)) = (run(0.0), run(LENGTH / 2.0));
            for (&agent, &other) in agents.iter().zip(&others) {
                let at = here.position(agent).unwrap();
                let moved = [at.x + LENGTH / 2.0, at.y];
                assert!(
                    is_at(&there, other, moved, 5e-3),
                    "{preset:?}, {width} m: {at} and {}",
                    there.position(other).unwrap()
                );
            }
        }
    }
}

/// The same for every local model, with two who meet head-on.
#[test]
fn two_meet_at_the_seam_as_anywhere() {
    for model in throng::catalog::names(throng::catalog::Stage::Microscale) {
        for width in [2.0, 20.0] {
            let run = |x: f64| {
                let builder = ring(Preset::Paper, width).microscale_named(model, Default::default());
                let mut crowd = builder.build().unwrap();
                let y = width / 2.0;
                let mut spawn = |x: f64, y: f64, way: f64| {
                    crowd.spawn(Agent::at([x, y]).goal([x + way, y]).radius(0.25)).unwrap()
                };
                let pair = [spawn(x - 2.5, y, 500.0), spawn(x + 2.5, y + 0.1, -500.0)];
                let mut nearest = f64::MAX;
                for _ in 0..40 {
                    crowd.step();
                    let seen = crowd.explain(pair[0]).unwrap();
                    if let Some(other) = seen.neighbors.first() {
                        let [a, b] = [seen.position, other.position].map(DVec2::from);
                        nearest = nearest.min(a.distance(b));
                    }
                }
                (pair.map(|agent| crowd.position(agent).unwrap() - DVec2::new(x, 0.0)), nearest)
            };
            let ((middle, gap), (seam, gap_there)) = (run(13.0), run(26.0));
            for (at, there) in middle.iter().zip(&seam) {
                let mut away = *at - *there;
                away.x -= LENGTH * (away.x / LENGTH).round();
                assert!(away.length() < 2e-3, "{model}, {width} m: {at} and {there}");
            }
            assert!((gap - gap_there).abs() < 2e-3, "{model}: {gap} and {gap_there}");
            // Who looks at nobody is asked about nobody.
            assert!(gap < 3.0 || model == "none", "{model} saw nobody nearer than {gap}");
        }
    }
}

/// Rings as short as what an agent sees, and shorter.
#[test]
fn a_short_ring_is_a_ring() {
    for length in [8.0, 3.0] {
        let walkable = [[0.0, 0.0], [length, 0.0], [length, 0.8], [0.0, 0.8]];
        let builder = Crowd::builder().walkable(&walkable).periodic([length, 0.0]).preset(Preset::Pedestrian);
        let mut crowd = builder.build().unwrap();
        let people = (length / 0.75) as usize;
        for index in 0..people {
            let x = length * index as f64 / people as f64;
            crowd.spawn(Agent::at([x, 0.4]).goal([x + 900.0, 0.4]).radius(0.2)).unwrap();
        }
        (0..300).for_each(|_| crowd.step());
        assert!(crowd.overlaps().deepest < 0.01, "{} m: {:?}", length, crowd.overlaps());
        let speed = crowd.agents().map(|agent| agent.velocity().x).sum::<f64>() / people as f64;
        assert!((0.02..1.0).contains(&speed), "{length} m: {speed} m/s");
        // Everybody has kept its place in the file: nobody went through another.
        let mut order: Vec<(f64, u32)> =
            crowd.agents().map(|agent| (agent.position().x, agent.number())).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let first = order.iter().position(|&(_, id)| id == 0).unwrap();
        order.rotate_left(first);
        assert!(order.iter().map(|&(_, id)| id).eq(0..people as u32), "{order:?}");
    }
}

#[test]
fn questions_reach_across_the_seam() {
    let across = [[25.0, 1.5], [27.0, 1.5], [27.0, 2.0], [25.0, 2.0]];
    let mut crowd = ring(Preset::Game, 2.0).obstacle("crate", &across).build().unwrap();
    let agent = crowd.spawn(Agent::at([25.8, 0.5]).goal([60.0, 0.5])).unwrap();
    for _ in 0..2 {
        assert_eq!(crowd.neighbors([0.3, 0.5], 1.0), [agent]);
        assert_eq!(crowd.neighbors([26.3, 0.5], 1.0), [agent]);
        assert!(!crowd.is_clear([0.1, 0.5], 0.25) && crowd.is_clear([1.0, 0.5], 0.25));
        crowd.step();
    }
    assert!(
        !crowd.is_walkable([0.5, 1.7]) && !crowd.is_walkable([25.5, 1.7]) && crowd.is_walkable([1.5, 1.7])
    );
    // Put beyond the cell, it is in the cell, and has as far to go.
    crowd.set_position(agent, [29.0, 0.5]).unwrap();
    assert!(crowd.position(agent).unwrap().distance(DVec2::new(3.0, 0.5)) < 1e-4);
    let seen = crowd.explain(agent).unwrap();
    assert!(
        seen.walls.iter().all(|[a, b]| (a[0] - b[0]).abs() > 0.1 || (a[0] - 1.0).abs() < 1e-3),
        "an end is walled up"
    );
}

#[test]
fn threads_and_saves_make_no_difference() {
    let run = |threads: usize, save_at: Option<usize>| {
        let mut crowd = ring(Preset::Pedestrian, 2.4).threads(threads).build().unwrap();
        fill(&mut crowd, 70, 2.4, true, 0.0);
        for step in 0..120 {
            if save_at == Some(step) {
                crowd = Crowd::load(&crowd.save().unwrap()).unwrap();
            }
            crowd.step();
        }
        crowd.state_hash()
    };
    let hash = run(1, None);
    assert_eq!([run(2, None), run(8, None), run(1, Some(60))], [hash; 3]);
}

fn scenario(text: &str) -> Result<Scenario, String> {
    Scenario::parse(&format!("format = 1\n{text}"), "ring.toml", None).map_err(|error| error.to_string())
}

const RING: &str = r#"
    until = 60
    [map]
    walkable = "POLYGON ((0 0, 26 0, 26 2, 0 2, 0 0))"
    periodic = [26, 0]
    [[agents]]
    count = 30
    radius = 0.2
    place = { polygon = [[0, 0], [26, 0], [26, 2], [0, 2]] }
    goal = { offset = [1000, 0] }
    [[measure]]
    name = "gate"
    line = [[13, 0], [13, 2]]
    [[measure]]
    name = "here"
    area = [[0, 0], [4, 0], [4, 2], [0, 2]]
    direction = [1, 0]
"#;

#[test]
fn a_scenario_runs_and_goes_on_from_a_checkpoint() {
    let scenario = scenario(RING).unwrap();
    assert_eq!(scenario.warnings(), Vec::<String>::new());
    let mut simulation = Simulation::with_threads(&scenario, 1).unwrap();
    let folder = std::env::temp_dir().join(format!("throng-periodic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("half.checkpoint");
    while !simulation.is_done() {
        simulation.step();
        if simulation.steps() == 300 {
            Checkpoint::of(&simulation, Metrics::default(), None).unwrap().save(&path).unwrap();
        }
    }
    let mut resumed = Checkpoint::load(&path).unwrap().resume(1).unwrap();
    while !resumed.is_done() {
        resumed.step();
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(resumed.state_hash(), simulation.state_hash());
    assert_eq!(resumed.measures(), simulation.measures());
    let gate = simulation.measures()["gate"].clone().line().unwrap();
    assert_eq!((gate.crossings, gate.to_left), (30, 0), "all pass the gate, none by a leap back over it");
    let here = simulation.measures()["here"].clone().area().unwrap();
    assert!((0.4..1.4).contains(&here.speed_mean.unwrap()), "{:?}", here.speed_mean);
    assert!((here.density_mean.unwrap() - 30.0 / 52.0).abs() < 0.2, "{:?}", here.density_mean);
    let (walked, _) = simulation.path_lengths();
    assert!((20.0..90.0).contains(&(walked / 30.0)), "{walked}");
}

/// A recording knows its period: measured again it says the same, and trails are drawn round by round.
#[test]
fn recordings_come_round() {
    let scenario = scenario(RING).unwrap();
    let mut simulation = Simulation::with_threads(&scenario, 1).unwrap();
    let path = std::env::temp_dir().join(format!("throng-periodic-{}.sqlite", std::process::id()));
    let options = throng::record::RecordOptions { fps: Some(10.0) };
    let mut recorder = throng::Recorder::create_with(&path, simulation.info(), options).unwrap();
    recorder.frame(simulation.frame()).unwrap();
    while !simulation.is_done() {
        simulation.step();
        recorder.frame(simulation.frame()).unwrap();
    }
    recorder.finish().unwrap();
    let run = throng::record::open_run(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(run.info.periodic, [LENGTH, 0.0]);
    let mut rounds = 0;
    for track in run.tracks() {
        let parts: Vec<_> = track.rounds().collect();
        assert_eq!(parts.iter().map(ExactSizeIterator::len).sum::<usize>(), track.frame.len());
        for rows in &parts {
            let leaps = rows.clone().skip(1).filter(|&row| (track.x[row] - track.x[row - 1]).abs() > 1.0);
            assert_eq!(leaps.count(), 0);
        }
        rounds += parts.len() - 1;
    }
    assert!(rounds > 30, "{rounds}");
    let gate = throng::measure::of_run(&run, scenario.measures[0].clone()).line().unwrap();
    assert_eq!((gate.crossings, gate.to_left), (30, 0));
}

#[test]
fn mistakes_are_told_with_the_way_out() {
    let with = |from: &str, to: &str| {
        assert!(RING.contains(from));
        scenario(&RING.replace(from, to)).unwrap_err()
    };
    for (from, to, said) in [
        ("[26, 0]", "[20, 0]", "map.periodic: the walkable area is 26 m wide along x and the period is 20 m"),
        ("[26, 0]", "[30, 0]", "the walkable area is 26 m wide along x and the period is 30 m"),
        ("[26, 0]", "[-26, 0]", "periodic = -26 along x must be 0"),
        ("[26, 0]", "[0.1, 0]", "from 1 to 1e9 m"),
        (
            "until = 60",
            "pipeline.macroscale = \"navmesh\"",
            "the macroscale model `navmesh` does not work on a periodic map; `straight` does",
        ),
        (
            "until = 60",
            "pipeline.mesoscale = [\"density\"]",
            "the mesoscale model `density` does not work on a periodic map; leave pipeline.mesoscale empty",
        ),
        (
            "until = 60",
            "pipeline.motion = \"footsteps\"",
            "the motion model `footsteps` does not work on a periodic map; `holonomic` and `acceleration-limited` do",
        ),
        (
            "{ offset = [1000, 0] }",
            "{ polygon = [[1, 1], [2, 1], [2, 2]] }",
            "a periodic map takes no goal areas; let agents walk to points",
        ),
        (
            "[[measure]]\n    name = \"gate\"",
            "[[exits]]\n name = \"out\"\n area = [[1, 1], [2, 1], [2, 2]]\n [[measure]]\n    name = \"gate\"",
            "a periodic map takes no exits",
        ),
        ("[1000, 0]", "[1000, 9]", "outside the walkable area"),
    ] {
        let error = with(from, to);
        assert!(error.contains(said), "{error}");
    }
    let error = Crowd::builder().periodic([5.0, 0.0]).macroscale(Navmesh::default()).build().err().unwrap();
    assert!(error.to_string().contains("`straight` does"), "{error}");
    let mut crowd = Crowd::builder().periodic([5.0, 0.0]).build().unwrap();
    let mut models = crowd.models().clone();
    models.pipeline.mesoscale.push("groups".into());
    assert!(crowd.set_models(models).unwrap_err().to_string().contains("leave pipeline.mesoscale empty"));
}

/// A mover that comes towards the seam is avoided before it is there.
#[test]
fn movers_are_seen_across_the_seam() {
    let run = |x: f64| {
        let mut crowd = ring(Preset::Game, 20.0).build().unwrap();
        let agent = crowd.spawn(Agent::at([x - 4.0, 10.0]).goal([x + 40.0, 10.0])).unwrap();
        crowd
            .spawn_mover(
                Mover::along([(0.0, DVec2::new(x + 4.0, 10.2)), (8.0, DVec2::new(x - 8.0, 10.2))])
                    .radius(0.8),
            )
            .unwrap();
        (0..60).for_each(|_| crowd.step());
        (crowd.position(agent).unwrap().y, crowd.overlaps().deepest)
    };
    let (middle, seam) = (run(13.0), run(26.0));
    assert!((middle.0 - seam.0).abs() < 1e-2, "{middle:?} {seam:?}");
    assert!((middle.0 - 10.0).abs() > 0.3, "{middle:?}");
}
