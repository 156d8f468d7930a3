//! What every model of the catalog promises. The tests go through the catalog, so a new model is covered by itself.

use glam::{DVec2, Vec2};
use throng::catalog::{self, Stage};
use throng::checkpoint::Checkpoint;
use throng::metrics::Metrics;
use throng::params::{Draw, Kind, Params, Value};
use throng::scenario::Goal;
use throng::{Scenario, Simulation};

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "contract.toml", None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn simulate(text: &str) -> Simulation {
    Simulation::with_threads(&scenario(text), 1).unwrap()
}

fn pipeline(macroscale: &str, microscale: &str, motion: &str) -> String {
    format!(
        "format = 1\n[pipeline]\nmacroscale = \"{macroscale}\"\nmicroscale = \"{microscale}\"\nmotion = \"{motion}\"\n"
    )
}

/// Every combination of models, as the beginning of a scenario file.
fn pipelines() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for macroscale in catalog::names(Stage::Macroscale) {
        for microscale in catalog::names(Stage::Microscale) {
            for motion in catalog::names(Stage::Motion) {
                let name = format!("{macroscale}, {microscale}, {motion}");
                all.push((name, pipeline(macroscale, microscale, motion)));
            }
        }
    }
    all
}

/// As few of them as show every two models together, for tests that take long; all of them where THRONG_LONG is 1.
fn pairs() -> Vec<(String, String)> {
    if std::env::var_os("THRONG_LONG").is_some_and(|long| long == "1") {
        return pipelines();
    }
    let motions = catalog::names(Stage::Motion);
    let mut all = Vec::new();
    for (i, macroscale) in catalog::names(Stage::Macroscale).into_iter().enumerate() {
        for (k, microscale) in catalog::names(Stage::Microscale).into_iter().enumerate() {
            let motion = motions[(i + k) % motions.len()];
            let name = format!("{macroscale}, {microscale}, {motion}");
            all.push((name, pipeline(macroscale, microscale, motion)));
        }
    }
    all
}

/// Every agent that is present: id, position and velocity, by id.
fn crowd(simulation: &Simulation) -> Vec<(u32, DVec2, Vec2)> {
    let frame = simulation.frame();
    let mut all: Vec<_> = (0..frame.len())
        .map(|row| (frame.id[row], frame.position(row), Vec2::new(frame.vx[row], frame.vy[row])))
        .collect();
    all.sort_by_key(|agent| agent.0);
    all
}

/// Everything that can stand in a scenario at once: walls of all kinds, movers, own models and values of cohorts, all
/// shares of responsibility, late starts, areas as goals, agents that leave and agents that stay.
fn busy(begin: &str) -> String {
    let mut text = begin.to_owned();
    text += "[map]\nwalkable = \"POLYGON ((-15 -12, 15 -12, 15 12, -15 12, -15 -12))\"\n\
             obstacles = [[[-1, -1.3], [1.2, -1], [0.9, 1], [-1.1, 0.8]]]\nwalls = [[[4, -6], [4.5, -2], [7, -1.5]]]\n\
             [[movers]]\nname = \"cart\"\nradius = 0.6\npath = [[0, -9, 3.3], [8, 9, 2.9], [8.3, 9, -8], [14, -9, -8]]\n";
    let models = catalog::names(Stage::Microscale);
    for (index, responsibility) in [0.0, 0.25, 0.75, 1.0, 0.5].into_iter().enumerate() {
        let y = -8.0 + 3.3 * index as f64;
        let (model, leaves) = (models[index % models.len()], if index % 2 == 0 { "leave" } else { "stay" });
        let own = if index % 2 == 0 { format!("microscale = \"{model}\"\n") } else { String::new() };
        let goal = if index == 3 {
            "{ polygon = [[10, -9], [14, -9], [14, -6], [10, -6]] }".into()
        } else {
            format!("{{ point = [{}, {}] }}", 10.0 - 0.37 * index as f64, -y * 0.83)
        };
        text += &format!(
            "[[agents]]\nname = \"cohort {index}\"\ncount = 8\nresponsibility = {responsibility}\n{own}\
             radius = {{ uniform = [0.15, 0.35] }}\npreferred_speed = {{ normal = [1.3, 0.3], min = 0.5, max = 2.0 }}\n\
             place = {{ grid = {{ from = [-13.03, {y}], columns = 4, spacing = 0.83 }}, jitter = 0.1 }}\n\
             goal = {goal}\nstart = {}\non_arrival = \"{leaves}\"\nparams.orca = {{ time_horizon = {} }}\n\
             params.headway = {{ memory = {} }}\n",
            index as f64 * 0.7,
            1.0 + index as f64,
            0.3 + 0.2 * index as f64,
        );
    }
    text + "[[events]]\nat = 1.5\nadd_obstacle = { name = \"barrier\", polygon = [[-6, -3], [-5.5, -3], [-5.5, 5], [-6, 5]] }\n\
            [[events]]\nat = 3.1\nremove_obstacle = \"barrier\"\n\
            [[events]]\nat = 4.0\nretarget = { cohort = \"cohort 1\", goal = { point = [-12, 9] } }\n"
}

#[test]
fn alone_in_the_open_an_agent_takes_its_preferred_velocity() {
    for (name, begin) in pipelines() {
        let text = begin
            + "[[agents]]\nplace = { points = [[3.3, -2.1]] }\ngoal = { point = [60, 31] }\npreferred_speed = 1.3\n";
        let mut simulation = simulate(&text);
        // Some motions, and models of forces, need a while to get up to speed.
        (0..100).for_each(|_| simulation.step());
        if name.ends_with(" footsteps") {
            walks_on_average(&name, &mut simulation);
            continue;
        }
        let (id, position, velocity) = crowd(&simulation)[0];
        let preferred = (DVec2::new(60.0, 31.0) - position).normalize().as_vec2() * 1.3;
        assert!(velocity.distance(preferred) < 1e-4, "{name}: {velocity} instead of {preferred}");
        let explained = simulation.explain(id).unwrap();
        assert!(
            explained.preferred.distance(preferred) < 1e-4 && explained.wanted == explained.preferred,
            "{name}: {explained:?}"
        );
        assert!(
            explained.chosen.distance(explained.preferred) < 1e-4 && explained.neighbors.is_empty(),
            "{name}: {explained:?}"
        );
    }
}

/// Bodies on feet sway, and are faster at one time of a step than at another: what holds holds of whole steps. Plans
/// in sixteen headings are a little longer than the straight way.
fn walks_on_average(name: &str, simulation: &mut Simulation) {
    (0..20).for_each(|_| simulation.step());
    let before = crowd(simulation)[0].1;
    (0..40).for_each(|_| simulation.step());
    let mean = (crowd(simulation)[0].1 - before) / 4.0;
    let preferred = (DVec2::new(60.0, 31.0) - before).normalize() * 1.3;
    // Forces add to the velocity that a body has, and on feet that sways: a known shortfall, a seventh too fast.
    let most = match name.contains("social-force") {
        true => 0.35,
        false if name.starts_with("multi-domain") => 0.15,
        false => 0.01,
    };
    assert!(mean.distance(preferred) < most, "{name}: {mean} instead of {preferred}");
}

#[test]
fn results_are_finite_and_nobody_is_faster_than_its_highest_speed() {
    for (name, begin) in pairs() {
        let scenario = scenario(&busy(&begin));
        let most: Vec<f64> =
            scenario.cohorts.iter().flat_map(|cohort| &cohort.agents).map(|agent| agent.max_speed).collect();
        let mut simulation = Simulation::with_threads(&scenario, 1).unwrap();
        for step in 0..150 {
            simulation.step();
            for (id, position, velocity) in crowd(&simulation) {
                assert!(position.is_finite() && velocity.is_finite(), "{name}: agent {id} in step {step}");
                let (speed, most) = (f64::from(velocity.length()), most[id as usize]);
                assert!(
                    speed <= most * 1.0001,
                    "{name}: agent {id} has {speed} of {most} m/s in step {step}"
                );
            }
        }
        assert_eq!(simulation.put_aside(), 0, "{name}");
    }
}

/// Ids break ties, so the crowd has no symmetry, and agents are told apart by where they begin.
#[test]
fn neither_the_order_of_agents_nor_their_cohorts_matter() {
    let places: Vec<DVec2> = (0..18)
        .map(|i| {
            let i = f64::from(i);
            DVec2::from_angle(i * 0.349 + 0.03 * (i * 1.7).sin()) * (4.0 + 0.41 * (i * 2.3).cos())
        })
        .collect();
    let goal = |place: DVec2| -place + 0.3 * DVec2::new((place.x * 3.1).sin(), (place.y * 2.7).cos());
    let cohort = |name: &str, members: &[DVec2]| {
        let list = |points: Vec<DVec2>| {
            points.iter().map(|p| format!("[{:?}, {:?}]", p.x, p.y)).collect::<Vec<_>>().join(", ")
        };
        let goals = list(members.iter().map(|&place| goal(place)).collect());
        format!(
            "[[agents]]\nname = \"{name}\"\nplace = {{ points = [{}] }}\ngoal = {{ points = [{goals}] }}\n",
            list(members.to_vec())
        )
    };
    let paths = |text: &str| {
        let scenario = scenario(text);
        let starts: Vec<DVec2> =
            scenario.cohorts.iter().flat_map(|cohort| &cohort.agents).map(|agent| agent.position).collect();
        let mut simulation = Simulation::with_threads(&scenario, 1).unwrap();
        let mut paths = vec![Vec::new(); starts.len()];
        for _ in 0..50 {
            simulation.step();
            for (id, position, _) in crowd(&simulation) {
                let place =
                    places.iter().position(|place| place.distance(starts[id as usize]) < 1e-9).unwrap();
                paths[place].push(position);
            }
        }
        paths
    };
    for (name, begin) in pipelines() {
        let forwards = paths(&(begin.clone() + &cohort("all", &places)));
        let backwards: Vec<DVec2> = places.iter().rev().copied().collect();
        let (some, others) = backwards.split_at(7);
        let apart = paths(&(begin + &cohort("some", some) + &cohort("others", others)));
        for (place, (a, b)) in forwards.iter().zip(&apart).enumerate() {
            let off = a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            // Over a foot whatever differs in the last bit grows fivefold with every step, until the next foot makes up for it.
            let most = if name.ends_with(" footsteps") { 1e-3 } else { 1e-4 };
            assert!(a.len() == b.len() && off < most, "{name}: agent {place} is {off} m off");
        }
    }
}

fn keeps_its_values<P: Params>(checked: &mut Vec<&'static str>) {
    checked.push(P::BLOCK);
    let defaults = P::default();
    for field in P::fields() {
        let place = format!("{}.{}", P::BLOCK, field.name);
        assert_eq!(defaults.get(field.name), Some(field.default), "{place}");
        assert!(!field.doc.is_empty(), "{place} does not say what it is");
        let mut params = P::default();
        assert!(params.set(field.name, field.default).is_ok(), "{place}: its default is not allowed");
        assert_eq!(params, defaults, "{place}");
        for value in values_of(field) {
            let mut params = P::default();
            params.set(field.name, value).unwrap_or_else(|error| panic!("{place}: {error}"));
            assert_eq!(params.get(field.name), Some(value), "{place}");
            params.put(field.name, field.default);
            assert_eq!(params, defaults, "{place}: another field has changed with it");
        }
    }
}

/// Some values that a field must take and give back.
fn values_of(field: &throng::params::Field) -> Vec<Value> {
    let limit = field.limit;
    match field.kind {
        Kind::Choice(names) => names.iter().map(|&name| Value::Word(name.into())).collect(),
        Kind::Flag => vec![Value::Flag(true), Value::Flag(false)],
        Kind::Whole => vec![Value::Number(limit.low.max(1.0)), Value::Number(limit.high.min(1e6))],
        Kind::Real | Kind::Drawn => {
            let high = limit.high.min(1e6);
            let low = if limit.low_included { limit.low } else { limit.low + 0.125 };
            let mut values = vec![Value::Number(low), Value::Number(high)];
            if field.kind == Kind::Drawn {
                values.push(Value::Drawn(Draw::Uniform { low, high }));
                values.push(Value::Drawn(Draw::Normal { mean: low, deviation: 0.5, low, high }));
            }
            values
        }
    }
}

#[test]
fn every_parameter_keeps_its_value_and_its_default_is_allowed() {
    let mut checked = Vec::new();
    keeps_its_values::<throng_macroscale::Navmesh>(&mut checked);
    keeps_its_values::<throng_macroscale::DynamicNavmesh>(&mut checked);
    keeps_its_values::<throng_macroscale::MapField>(&mut checked);
    keeps_its_values::<throng_macroscale::MultiDomain>(&mut checked);
    keeps_its_values::<throng_mesoscale::Groups>(&mut checked);
    keeps_its_values::<throng_mesoscale::Density>(&mut checked);
    keeps_its_values::<throng_microscale::Vo>(&mut checked);
    keeps_its_values::<throng_microscale::Rvo>(&mut checked);
    keeps_its_values::<throng_microscale::Hrvo>(&mut checked);
    keeps_its_values::<throng_microscale::Orca>(&mut checked);
    keeps_its_values::<throng_microscale::Hybrid>(&mut checked);
    keeps_its_values::<throng_microscale::CollisionFreeSpeed>(&mut checked);
    keeps_its_values::<throng_microscale::AnticipationVelocity>(&mut checked);
    keeps_its_values::<throng_microscale::SocialForce>(&mut checked);
    keeps_its_values::<throng_mesoscale::WorldField>(&mut checked);
    keeps_its_values::<throng_microscale::Headway>(&mut checked);
    keeps_its_values::<throng_motion::AccelerationLimited>(&mut checked);
    keeps_its_values::<throng_motion::Footsteps>(&mut checked);
    keeps_its_values::<throng_motion::Contact>(&mut checked);
    for block in catalog::blocks() {
        assert!(checked.contains(&block.name), "this test has to list the parameters of `{}`", block.name);
    }
}

/// The same through a scenario file, for the scenario and for a cohort: nothing here names a block.
#[test]
fn a_scenario_takes_every_parameter_at_its_default_and_at_its_limits() {
    for block in catalog::blocks() {
        for field in block.fields {
            for value in values_of(field).into_iter().chain([field.default]) {
                let written = match value {
                    Value::Word(word) => format!("{:?}", word.as_str()),
                    _ => value.to_string(),
                };
                let setting = format!("{} = {{ {} = {written} }}\n", block.name, field.name);
                let text = format!(
                    "format = 1\n[params]\n{setting}[[agents]]\nplace = {{ points = [[0, 0], [1, 0.2]] }}\n\
                     goal = {{ point = [9, 1] }}\nparams.{setting}"
                );
                let scenario = scenario(&text);
                assert_eq!(scenario.params[block.name][field.name], value);
                assert_eq!(scenario.cohorts[0].params[block.name][field.name], value);
                let again = Scenario::parse(&scenario.source, "again.json", None).unwrap();
                assert_eq!(again.params, scenario.params, "{setting}");
                let mut simulation = Simulation::with_threads(&scenario, 1).unwrap();
                (0..3).for_each(|_| simulation.step());
                assert_eq!((simulation.frame().len(), simulation.put_aside()), (2, 0), "{setting}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for (name, begin) in pairs() {
        let more = "[[agents]]\nname = \"many\"\ncount = 700\nplace = { polygon = [[-14, 4], [14, 4], [14, 11.5], [-14, 11.5]] }\n\
                    radius = 0.12\ngoal = { antipodal = [0, 3] }\n";
        // Goals across the middle may lie in the obstacle of the busy place.
        let text =
            busy(&begin).replace("obstacles = [[[-1, -1.3], [1.2, -1], [0.9, 1], [-1.1, 0.8]]]\n", "") + more;
        let scenario = scenario(&text);
        let hashes = [1, 2, 8].map(|threads| {
            let mut simulation = Simulation::with_threads(&scenario, threads).unwrap();
            (0..25).for_each(|_| simulation.step());
            simulation.state_hash()
        });
        assert!(hashes.iter().all(|&hash| hash == hashes[0]), "{name}: {hashes:x?}");
    }
}

#[test]
fn a_checkpoint_in_the_middle_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("middle.checkpoint");
    for (name, begin) in pairs() {
        let scenario = scenario(&busy(&begin));
        let mut straight = Simulation::with_threads(&scenario, 1).unwrap();
        // Before, between and after the events, and while agents leave.
        for at in [0, 10, 17, 35, 110] {
            while straight.frame().step < at {
                straight.step();
            }
            Checkpoint::of(&straight, Metrics::default(), None).unwrap().save(&path).unwrap();
            let mut resumed = Checkpoint::load(&path).unwrap().resume(2).unwrap();
            assert_eq!(resumed.state_hash(), straight.state_hash(), "{name}: at step {at}");
            let mut whole = Simulation::with_threads(&scenario, 1).unwrap();
            (0..at + 20).for_each(|_| whole.step());
            (0..20).for_each(|_| resumed.step());
            assert_eq!(resumed.state_hash(), whole.state_hash(), "{name}: 20 steps after step {at}");
            assert_eq!(resumed.arrived(), whole.arrived(), "{name}");
        }
    }
}

#[test]
fn what_is_explained_is_what_is_done() {
    for model in catalog::names(Stage::Microscale) {
        let mut text = pipeline("straight", model, "holonomic");
        text +=
            "[params.contact]\non = false\n[[movers]]\nradius = 0.7\npath = [[0, -5, 0.4], [9, 6, -0.3]]\n";
        for (index, responsibility) in [0.0, 0.25, 0.75, 1.0].into_iter().enumerate() {
            text += &format!(
                "[[agents]]\nname = \"{index}\"\ncount = 9\nresponsibility = {responsibility}\n\
                 place = {{ circle = {{ center = [{}, 0.2], radius = {} }}, jitter = 0.3 }}\ngoal = {{ antipodal = [0.1, 0] }}\n",
                0.2 * index as f64,
                2.5 + 0.9 * index as f64
            );
        }
        let mut simulation = simulate(&text);
        for step in 0..80 {
            let explained: Vec<_> = crowd(&simulation)
                .into_iter()
                .map(|(id, position, velocity)| {
                    let explained = simulation.explain(id).unwrap();
                    assert_eq!((explained.id, explained.velocity), (id, velocity));
                    assert!(DVec2::from(explained.position).distance(position) < 1e-9);
                    explained.chosen
                })
                .collect();
            simulation.step();
            for ((id, _, velocity), chosen) in crowd(&simulation).into_iter().zip(explained) {
                let off = velocity.distance(chosen);
                assert!(off < 1e-5, "{model}: agent {id} in step {step} chose {chosen} and has {velocity}");
            }
        }
    }
}

/// Two who meet, not quite head on. Returns how far each has left its straight way at most, m.
fn meet(model: &str, responsibility: [f64; 2]) -> [f64; 2] {
    let mut text = pipeline("straight", model, "holonomic");
    text += &format!("[params.{model}]\nneighbor_distance = 8\n");
    text += "[params.headway]\non = false\n";
    for (index, responsibility) in responsibility.into_iter().enumerate() {
        let (x, y) = if index == 0 { (-12, -0.04) } else { (12, 0.04) };
        text += &format!(
            "[[agents]]\nname = \"{index}\"\nradius = 0.4\npreferred_speed = 1.2\nresponsibility = {responsibility}\n\
             place = {{ points = [[{x}, {y}]] }}\ngoal = {{ points = [[{}, {y}]] }}\n",
            -10 * x
        );
    }
    let mut simulation = simulate(&text);
    let mut most = [0.0f64; 2];
    let mut deepest = 0.0f32;
    for _ in 0..140 {
        simulation.step();
        deepest = deepest.max(simulation.overlaps().deepest);
        for (id, position, _) in crowd(&simulation) {
            let way = if id == 0 { -0.04 } else { 0.04 };
            most[id as usize] = most[id as usize].max((position.y - way).abs());
        }
    }
    let [first, second] = [crowd(&simulation)[0].1, crowd(&simulation)[1].1];
    assert!(first.x > 3.0 && second.x < -3.0, "{model}: they have not passed: {first} {second}");
    assert!(deepest < 1e-2, "{model}: {deepest} m deep");
    most
}

#[test]
fn rvo_shares_an_avoidance_by_responsibility() {
    let [much, little] = meet("rvo", [0.75, 0.25]);
    let ratio = much / little;
    assert!((2.0..4.5).contains(&ratio), "{much} m and {little} m: {ratio}");
    let [one, other] = meet("rvo", [0.5, 0.5]);
    assert!((0.8..1.25).contains(&(one / other)), "{one} m and {other} m");
}

#[test]
fn one_without_responsibility_keeps_its_way_and_the_other_does_all() {
    for model in ["rvo", "hrvo", "orca"] {
        for (responsibility, keeps) in [([0.0, 1.0], 0), ([0.5, 0.0], 1)] {
            let most = meet(model, responsibility);
            assert!(
                most[keeps] < 1e-3,
                "{model}: the one without responsibility left its way by {} m",
                most[keeps]
            );
            assert!(most[1 - keeps] > 0.5, "{model}: the other left its way by {} m only", most[1 - keeps]);
        }
    }
}

#[test]
fn goals_are_where_the_scenario_says() {
    // The helper crowd of this file is only worth something if its goals are real.
    let scenario = scenario(&busy(&pipeline("straight", "orca", "holonomic")));
    let areas = scenario.cohorts.iter().flat_map(|cohort| &cohort.agents);
    assert_eq!(areas.filter(|agent| matches!(agent.goal, Goal::Area(_))).count(), 8);
}
