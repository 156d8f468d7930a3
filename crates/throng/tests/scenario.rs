//! What scenario files mean, and what is said of those that mean nothing.

use glam::DVec2;
use proptest::prelude::*;
use std::path::Path;
use throng::Simulation;
use throng::checkpoint::Checkpoint;
use throng::metrics::Metrics;
use throng::params::Value;
use throng::report::Report;
use throng::scenario::{Action, Goal, Overrides, Scenario, ScenarioError};

/// The example of the format, each key of it used once.
const WHOLE: &str = r#"
format = 1
name = "two streams"
seed = 7
dt = 0.05
until = 120.0

[pipeline]
macroscale = "straight"
mesoscale  = []
microscale = "rvo"
motion     = "acceleration-limited"

[params.orca]
time_horizon = 3.5
max_neighbors = 12

[map]
walkable  = "POLYGON ((0 0, 40 0, 40 20, 0 20, 0 0))"
obstacles = [ [[10, 8], [12, 8], [12, 12], [10, 12]], { name = "gate", polygon = [[30, 0], [31, 0], [31, 4], [30, 4]] } ]
walls = [ [[5, 15], [6, 15], [6, 16]] ]

[[agents]]
name = "west"
count = 7
radius = 0.3
preferred_speed = 1.2
max_speed = 1.6
place = { grid = { from = [1, 5], columns = 5, spacing = 0.8 } }
goal  = { point = [39, 10] }
on_arrival = "leave"
goal_radius = 0.5
start = 2.5
responsibility = 0.25
microscale = "hrvo"
params.orca = { time_horizon = 2.0 }

[[agents]]
place = { points = [[20, 15], [21, 15]] }
goal = { points = [[1, 1], [2, 1]] }

[[movers]]
name = "car"
radius = 1.0
path = [ [0.0, 0.0, 5.0], [10.0, 40.0, 5.0] ]

[[events]]
at = 20.0
remove_obstacle = "barrier"

[[events]]
at = 12.0
add_obstacle = { name = "barrier", polygon = [[20, 0], [21, 0], [21, 10], [20, 10]] }

[[events]]
at = 15.0
retarget = { cohort = "west", goal = { offset = [1, 2] } }

[expect]
arrived = 25
"#;

fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse(text, "crowd.toml", None)
}

/// A scenario of one cohort with these keys besides the necessary ones.
fn cohort(keys: &str) -> String {
    let mut text = String::from("format = 1\n[[agents]]\n");
    for (key, default) in
        [("place = ", "place = { points = [[0, 0]] }"), ("goal = ", "goal = { point = [9, 0] }")]
    {
        if !keys.contains(key) {
            text += default;
            text += "\n";
        }
    }
    text + keys
}

fn complaint(text: &str) -> String {
    match parse(text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn complains(text: &str, parts: &[&str]) {
    let complaint = complaint(text);
    for part in parts {
        assert!(complaint.contains(part), "`{part}` is not in:\n{complaint}");
    }
}

#[test]
fn every_key_arrives() {
    let scenario = parse(WHOLE).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.seed), ("two streams", 7));
    assert_eq!((scenario.dt, scenario.until), (0.05, 120.0));
    assert_eq!(scenario.pipeline.microscale, "rvo");
    assert_eq!(scenario.pipeline.motion, "acceleration-limited");
    assert_eq!(scenario.params["orca"]["time_horizon"], Value::Number(3.5));
    assert_eq!(scenario.map.walkable.len(), 1);
    assert_eq!(scenario.map.obstacles[0].0, "obstacles[0]");
    assert_eq!(scenario.map.obstacles[1].0, "gate");
    assert_eq!(scenario.map.walls[0].len(), 3);
    assert_eq!(scenario.expect["arrived"], 25.0);
    assert_eq!(scenario.agent_count(), 9);

    let west = &scenario.cohorts[0];
    assert_eq!((west.name.as_str(), west.leaves), ("west", true));
    assert_eq!((west.goal_radius, west.responsibility), (0.5, 0.25));
    assert_eq!(west.microscale.as_deref(), Some("hrvo"));
    assert_eq!(west.params["orca"]["time_horizon"], Value::Number(2.0));
    let last = &west.agents[6];
    assert!(last.position.distance(DVec2::new(1.8, 5.8)) < 1e-12, "row-major, rows go up");
    assert_eq!(last.goal, Goal::Point(DVec2::new(39.0, 10.0)));
    assert_eq!((last.radius, last.preferred_speed, last.max_speed, last.start), (0.3, 1.2, 1.6, 2.5));

    assert_eq!(scenario.cohorts[1].name, "agents[1]");
    assert_eq!(scenario.cohorts[1].agents[1].goal, Goal::Point(DVec2::new(2.0, 1.0)));

    let mover = &scenario.movers[0];
    assert_eq!((mover.name.as_str(), mover.radius, mover.path.len()), ("car", 1.0, 2));
    assert_eq!(mover.path[1], (10.0, DVec2::new(40.0, 5.0)));

    let times: Vec<f64> = scenario.events.iter().map(|event| event.at).collect();
    assert_eq!(times, [12.0, 15.0, 20.0], "sorted by time");
    assert!(
        matches!(&scenario.events[0].action, Action::AddObstacle { name, polygon } if name == "barrier" && polygon.len() == 4)
    );
    assert!(matches!(&scenario.events[1].action, Action::Retarget { cohort: 0, goals }
        if goals.len() == 7 && goals[0] == Goal::Point(DVec2::new(2.0, 7.0))));
    assert_eq!(scenario.events[2].action, Action::RemoveObstacle("barrier".into()));
}

#[test]
fn defaults() {
    let scenario = parse(&cohort("")).unwrap();
    assert_eq!(
        (scenario.name.as_str(), scenario.seed, scenario.dt, scenario.until),
        ("crowd", 0, 0.1, 600.0)
    );
    let pipeline = &scenario.pipeline;
    assert_eq!((pipeline.macroscale.as_str(), pipeline.microscale.as_str()), ("straight", "orca"));
    assert_eq!((pipeline.motion.as_str(), pipeline.mesoscale.len()), ("holonomic", 0));
    let cohort = &scenario.cohorts[0];
    assert_eq!((cohort.leaves, cohort.goal_radius, cohort.responsibility), (false, 0.25, 0.5));
    let agent = &cohort.agents[0];
    assert_eq!(
        (agent.radius, agent.preferred_speed, agent.max_speed, agent.start),
        (0.25, 1.34, 1.34 * 1.35, 0.0)
    );
    assert!(scenario.map.walkable.is_empty());
}

#[test]
fn slow_walkers_can_still_hurry() {
    let scenario = parse(&cohort("preferred_speed = 0.5")).unwrap();
    assert_eq!(scenario.cohorts[0].agents[0].max_speed, 1.8);
}

#[test]
fn json_means_the_same() {
    let toml = parse(WHOLE).unwrap();
    let tree: serde_json::Value = toml::from_str(WHOLE).unwrap();
    let json = Scenario::parse(&tree.to_string(), "crowd.json", None).unwrap();
    assert_eq!(format!("{toml:?}"), format!("{json:?}"));
}

#[test]
fn the_source_makes_the_same_scenario_again() {
    let random = cohort(
        "count = 50\nradius = { uniform = [0.1, 0.3] }\npreferred_speed = { normal = [1.34, 0.26] }\n\
         place = { polygon = [[0.1, 0], [10, 0], [10, 10.3], [0, 10]] }",
    );
    let set =
        Overrides { seed: Some(u64::MAX), set: vec![("dt".into(), "0.3".into())], ..Overrides::default() };
    for text in [WHOLE, random.as_str()] {
        let first = Scenario::parse_with(text, "crowd.toml", None, &set).unwrap();
        let again = Scenario::parse(&first.source, "checkpoint.json", None).unwrap();
        assert_eq!(format!("{first:?}"), format!("{again:?}"));
        assert_eq!(again.dt, 0.3);
    }
}

#[test]
fn circles_and_antipodes() {
    let text = cohort(
        "count = 4\nplace = { circle = { center = [1, 2], radius = 10 } }\ngoal = { antipodal = [1, 2] }",
    );
    let agents = &parse(&text).unwrap().cohorts[0].agents;
    assert!(agents[0].position.distance(DVec2::new(11.0, 2.0)) < 1e-12);
    assert!(agents[1].position.distance(DVec2::new(1.0, 12.0)) < 1e-12);
    let Goal::Point(goal) = agents[1].goal else { panic!() };
    assert!(goal.distance(DVec2::new(1.0, -8.0)) < 1e-12);
    let turned = text.replace("radius = 10", "radius = 10, start_angle = 1.5707963267948966");
    let agents = &parse(&turned).unwrap().cohorts[0].agents;
    assert!(agents[0].position.distance(DVec2::new(1.0, 12.0)) < 1e-12);
}

#[test]
fn goal_areas_are_shared() {
    let text = cohort(
        "count = 3\nplace = { grid = { from = [0, 0], columns = 3, spacing = 1 } }\ngoal = { polygon = [[5, 5], [6, 5], [6, 6]] }",
    );
    let scenario = parse(&text).unwrap();
    assert_eq!(scenario.areas.len(), 1);
    assert!(scenario.cohorts[0].agents.iter().all(|agent| agent.goal == Goal::Area(0)));
}

#[test]
fn draws_depend_on_the_seed_and_on_nothing_else() {
    let text = |seed: u64| {
        format!("seed = {seed}\n")
            + &cohort(
                "count = 200\nradius = { uniform = [0.2, 0.3] }\nstart = { uniform = [10, 100] }\n\
                 preferred_speed = { normal = [1.34, 0.26], min = 0.5, max = 2.0 }\nmax_speed = 1.8\n\
                 place = { grid = { from = [0, 0], columns = 20, spacing = 2 }, jitter = 0.5 }",
            )
    };
    let agents = |seed| parse(&text(seed)).unwrap().cohorts[0].agents.clone();
    let one = agents(1);
    assert_eq!(one, agents(1));
    assert_ne!(one, agents(2));
    assert!(one.iter().all(|agent| (0.2..0.3).contains(&agent.radius)));
    assert!(one.iter().all(|agent| (10.0..100.0).contains(&agent.start)));
    assert!(one.iter().all(|agent| (0.5..=1.8).contains(&agent.preferred_speed)), "cut to max_speed");
    assert!(one.iter().any(|agent| agent.radius != one[0].radius));
    let off = |(index, agent): (usize, &throng::scenario::AgentStart)| {
        agent.position.distance(2.0 * DVec2::new((index % 20) as f64, (index / 20) as f64))
    };
    let offs: Vec<f64> = one.iter().enumerate().map(off).collect();
    assert!(offs.iter().all(|&off| off <= 0.5) && offs.iter().any(|&off| off > 0.3));
}

#[test]
fn a_polygon_is_filled_clear_of_everything() {
    let text = r#"
        format = 1
        [map]
        walkable = "POLYGON ((0 0, 20 0, 20 10, 0 10, 0 0))"
        obstacles = [[[4, 4], [6, 4], [6, 6], [4, 6]]]
        walls = [[[0, 2], [5, 2]]]
        [[agents]]
        name = "crowd"
        count = 150
        radius = { uniform = [0.2, 0.3] }
        place = { polygon = [[-1, -1], [8, -1], [8, 11], [-1, 11]] }
        goal = { point = [19, 5] }
        [[agents]]
        name = "one"
        place = { points = [[2, 8]] }
        goal = { point = [19, 5] }
    "#;
    let scenario = parse(text).unwrap();
    let agents: Vec<_> = scenario.cohorts.iter().flat_map(|cohort| &cohort.agents).collect();
    assert_eq!(agents.len(), 151);
    for (index, a) in agents.iter().enumerate() {
        assert!(a.position.x >= a.radius && a.position.x <= 8.0, "{}", a.position);
        let closest = a.position.clamp(DVec2::splat(4.0), DVec2::splat(6.0));
        assert!(a.position.distance(closest) >= a.radius);
        assert!(agents[..index].iter().all(|b| a.position.distance(b.position) >= a.radius + b.radius));
    }
}

#[test]
fn a_crowd_too_dense_for_chance_is_packed() {
    // 0.79 of the room is bodies: three in four.
    let text =
        cohort("count = 400\nradius = 0.25\nplace = { polygon = [[0, 0], [10, 0], [10, 10], [0, 10]] }");
    let dense = text.replace("count = 400", "count = 390");
    let agents = &parse(&dense).unwrap().cohorts[0].agents;
    for (index, a) in agents.iter().enumerate() {
        assert!(agents[..index].iter().all(|b| a.position.distance(b.position) >= 0.5));
    }
    complains(
        &text.replace("count = 400", "count = 4000"),
        &[
            "agents[0].place.polygon",
            "of the 4000 agents of cohort `agents[0]` fitted in",
            "enlarge the polygon",
        ],
    );
}

#[test]
fn a_million_agents_load_in_a_moment() {
    let ring = |x: f64| format!("[[{x}, -3], [{}, -3], [{}, -1], [{x}, -1]]", x + 1.0, x + 1.0);
    let obstacles: Vec<String> = (0..100).map(|index| ring(f64::from(index) * 3.0)).collect();
    let text = format!("format = 1\nmap.obstacles = [{}]\n", obstacles.join(", "))
        + "[[agents]]\ncount = 1_000_000\nplace = { grid = { from = [0, 0], columns = 1000, spacing = 1 } }\ngoal = { offset = [0, 1] }";
    let began = std::time::Instant::now();
    assert_eq!(parse(&text).unwrap().agent_count(), 1_000_000);
    // About 0.3 s in a release build; the rest is for machines that are busy.
    if !cfg!(debug_assertions) {
        assert!(began.elapsed().as_secs_f64() < 5.0, "{:?}", began.elapsed());
    }
}

// What is said of bad files.

#[test]
fn the_format_is_required_and_known() {
    complains("name = 'x'", &["crowd.toml", "key `format` is missing", "`format = 1`"]);
    complains("format = 2\nfuture = true", &["crowd.toml:1:10", "format 2 is not known", "`format = 1`"]);
    complains("format = 'one'", &["format = \"one\" must be a whole number"]);
    complains("format = 1\nseed = -3", &["crowd.toml:2:8", "seed = -3 must be a whole number >= 0"]);
}

#[test]
fn a_message_is_one_line_with_file_line_key_value_and_way_out() {
    assert_eq!(
        complaint(&cohort("radius = -1")),
        "crowd.toml:5:10: agents[0].radius = -1 must be > 0 and <= 1000000"
    );
}

#[test]
fn unknown_keys_are_errors() {
    complains("format = 1\nsed = 3", &["crowd.toml:2:", "unknown key `sed`", "did you mean `seed`?"]);
    complains(
        &cohort("radus = 3"),
        &["crowd.toml:5:", "unknown key `radus` in `agents[0]`", "did you mean `radius`?"],
    );
    complains("format = 1\n[map]\nwall = []", &["`map`", "unknown key `wall`", "did you mean `walls`?"]);
    complains(&cohort("place = { grd = 1 }"), &["agents[0].place", "unknown key `grd`"]);
    complains(&cohort("radius = { uniforn = [1, 2] }"), &["agents[0].radius", "did you mean `uniform`?"]);
    complains(
        &cohort("on_arrival = 'go'"),
        &["agents[0].on_arrival = \"go\" is unknown", "known: stay, leave"],
    );
}

#[test]
fn unknown_models_list_the_known_ones() {
    complains(
        "format = 1\npipeline.microscale = 'orka'",
        &[
            "crowd.toml:2:23",
            "pipeline.microscale",
            "unknown microscale model `orka`; known: ",
            "(did you mean `orca`?)",
        ],
    );
    complains("format = 1\npipeline.macroscale = 'x'", &["unknown macroscale model `x`; known: "]);
    complains("format = 1\npipeline.motion = 'x'", &["unknown motion model `x`; known: "]);
    complains(
        "format = 1\npipeline.mesoscale = ['x']",
        &["pipeline.mesoscale[0]", "unknown mesoscale model `x`"],
    );
    complains(&cohort("microscale = 'orka'"), &["agents[0].microscale", "did you mean `orca`?"]);
}

#[test]
fn parameters_are_checked_by_the_catalog() {
    complains(
        "format = 1\n[params.orka]\nx = 1",
        &["crowd.toml:2:9", "params.orka", "unknown block `orka`; known: "],
    );
    complains(
        "format = 1\nparams.orca.time_horizn = 1",
        &["unknown key `time_horizn`", "did you mean `time_horizon`?"],
    );
    complains(
        "format = 1\nparams.orca.time_horizon = -1",
        &["params.orca.time_horizon = -1 must be > 0", "(default 3)"],
    );
    complains("format = 1\nparams.orca.time_horizon = true", &["must be a number"]);
    complains("format = 1\nparams.orca.max_neighbors = 1.5", &["must be a whole number"]);
    complains(
        "format = 1\nparams.orca.time_horizon = '1'",
        &["params.orca.time_horizon = \"1\" must be a number"],
    );
    complains(
        &cohort("params.orca = { time_horizon = 0 }"),
        &["crowd.toml:5:", "agents[0].params.orca.time_horizon = 0"],
    );
}

#[test]
fn bad_numbers_are_named() {
    for (key, value) in [
        ("dt", "0"),
        ("dt", "1e-7"),
        ("dt", "-1"),
        ("dt", "nan"),
        ("dt", "inf"),
        ("until", "-1"),
        ("until", "inf"),
    ] {
        complains(
            &format!("format = 1\n{key} = {value}"),
            &["crowd.toml:2:", &format!("{key} = {value} must be ")],
        );
    }
    for (key, value) in [
        ("radius", "0"),
        ("radius", "nan"),
        ("preferred_speed", "-0.1"),
        ("max_speed", "-1"),
        ("goal_radius", "0"),
        ("start", "-1"),
        ("responsibility", "1.5"),
    ] {
        let parts = ["crowd.toml:5:", &format!("agents[0].{key} = {value} must be ")];
        complains(&cohort(&format!("{key} = {value}")), &parts);
    }
    complains(
        &cohort("max_speed = 1.0"),
        &["agents[0].max_speed = 1.0 must not be below preferred_speed (1.34)"],
    );
    complains(&cohort("radius = 'wide'"), &["agents[0].radius = \"wide\" must be a number, { uniform"]);
    complains(
        &cohort("radius = { uniform = [0.3, 0.2] }"),
        &["agents[0].radius.uniform = [0.3,0.2]", "[0.2, 0.3]"],
    );
    complains(&cohort("radius = { uniform = [-0.3, 0.2] }"), &["agents[0].radius.uniform", "must be > 0"]);
    complains(&cohort("radius = { normal = [0.25, 0.1] }"), &["radius.normal", "reaches -0.05", "`min`"]);
    complains(&cohort("radius = { uniform = [1, 2], min = 3 }"), &["radius.min", "belongs to `normal`"]);
    complains(&cohort("radius = { }"), &["agents[0].radius", "either `uniform"]);
    complains(&cohort("start = 1979-05-27"), &["agents[0].start", "in seconds"]);
}

/// Three agents in a row with these keys.
fn three(keys: &str) -> String {
    cohort(&format!("place = {{ points = [[0, 0], [1, 0], [2, 0]] }}\n{keys}"))
}

#[test]
fn lists_have_one_for_each_agent() {
    let text = three(
        "start = [0.0, 1.5, 3]\npreferred_speed = [1, 1.2, 1.4]\nradius = [0.2, 0.25, 0.3]\n\
         velocity = [[1, 0], [0, 1], [-1, -1]]",
    );
    let agents = &parse(&text).unwrap().cohorts[0].agents;
    let figures: Vec<_> =
        agents.iter().map(|agent| (agent.start, agent.preferred_speed, agent.radius)).collect();
    assert_eq!(figures, [(0.0, 1.0, 0.2), (1.5, 1.2, 0.25), (3.0, 1.4, 0.3)]);
    let velocities: Vec<_> = agents.iter().map(|agent| agent.velocity.to_array()).collect();
    assert_eq!(velocities, [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]);
    let all = &parse(&three("velocity = [1, 0.5]")).unwrap().cohorts[0].agents;
    assert!(all.iter().all(|agent| agent.velocity == DVec2::new(1.0, 0.5)));

    complains(&three("start = [0, 1]"), &["crowd.toml:5:", "agents[0].start: lists 2 numbers for 3 agents"]);
    complains(&three("velocity = [[0, 1]]"), &["agents[0].velocity: lists 1 velocities for 3 agents"]);
    complains(&three("start = [0, 1, -2]"), &["agents[0].start[2] = -2 must be >= 0"]);
    complains(&three("radius = []"), &["agents[0].radius = [] must have a number for each agent"]);
    complains(
        &three("velocity = [1, 2, 3]"),
        &["agents[0].velocity = [1,2,3] must be two numbers, [vx, vy]"],
    );
    complains(&three("velocity = [1, nan]"), &["agents[0].velocity[1]"]);
}

#[test]
fn a_log_normal_is_given_by_its_logarithm() {
    let text = cohort(
        "place = { grid = { from = [0, 0], columns = 40, spacing = 1 } }\ncount = 1000\nstart = { log_normal = [4.0, 0.3] }",
    );
    let agents = &parse(&text).unwrap().cohorts[0].agents;
    let mean = agents.iter().map(|agent| agent.start.ln()).sum::<f64>() / 1000.0;
    assert!((mean - 4.0).abs() < 0.03, "{mean}");
    complains(&cohort("start = { log_normal = [1, -1] }"), &["start.log_normal", "standard deviation >= 0"]);
    complains(
        &cohort("start = { log_normal = [1, 1], normal = [1, 1] }"),
        &["agents[0].start", "either `uniform"],
    );
    complains(
        &cohort("start = { log_normal = [1, 1], min = 9, max = 2 }"),
        &["start.min", "leaves nothing to draw"],
    );
}

#[test]
fn bad_places_are_named() {
    complains(&cohort("place = { points = [] }"), &["agents[0].place.points = [] must have one point"]);
    complains(&cohort("place = { points = [[1, 2, 3]] }"), &["agents[0].place.points[0]"]);
    complains(
        &cohort("place = { points = [[1]] }"),
        &["agents[0].place.points[0] = [1] must be two numbers, [x, y]"],
    );
    complains(
        &cohort("place = { points = [[1, 2e9]] }"),
        &["agents[0].place.points[0] = [1,2000000000.0] must not lie beyond"],
    );
    complains(&cohort("count = 3"), &["agents[0].count = 3 but place.points lists 1"]);
    complains(
        &cohort("place = { circle = { center = [0, 0], radius = 1 } }"),
        &["agents[0].count: is missing"],
    );
    complains(
        &cohort("place = { }"),
        &["agents[0].place: needs exactly one of grid, points, circle, polygon"],
    );
    let grid = "place = { grid = { from = [0, 0], columns = 5, spacing = 1.0 } }\n";
    complains(&cohort(&format!("{grid}count = 20_000_000")), &["agents[0].count = 20000000", "10000000"]);
    complains(&cohort(&format!("{grid}count = -1")), &["agents[0].count = -1 must be a whole number >= 0"]);
    complains(
        &cohort(&format!("{}count = 1", grid.replace("columns = 5", "columns = 0"))),
        &["grid.columns = 0 must be 1"],
    );
    complains(&cohort(&format!("{}count = 1", grid.replace("1.0", "0"))), &["grid.spacing = 0 must be > 0"]);
    complains(&cohort(&format!("{}count = 9_000_000", grid.replace("1.0", "1000"))), &["beyond 1e9 m"]);
    complains(
        &cohort("count = 2\nplace = { polygon = [[0, 0], [1, 1], [2, 2]] }"),
        &["place.polygon", "must have an area"],
    );
}

#[test]
fn bad_goals_are_named() {
    complains(
        &cohort("goal = { points = [[1, 1], [2, 2]] }"),
        &["agents[0].goal.points", "lists 2 points for 1 agents"],
    );
    complains(
        &cohort("goal = { point = [1, 1], offset = [1, 1] }"),
        &["agents[0].goal: needs exactly one of"],
    );
    complains(&cohort("goal = { polygon = [[0, 0], [1, 1]] }"), &["goal.polygon", "must have an area"]);
    complains(
        "format = 1\n[[agents]]\nplace = { points = [[0, 0]] }",
        &["crowd.toml:2:", "agents[0]: key `goal` is missing"],
    );
}

const ROOM: &str = "format = 1\n[map]\nwalkable = 'POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))'\n\
    obstacles = [{ name = 'pillar', polygon = [[4, 4], [4, 6], [6, 6], [6, 4]] }]\n";

#[test]
fn links_to_where_nobody_can_be_are_named() {
    let link = |from: &str, to: &str| format!("{ROOM}[[links]]\nfrom = {from}\nto = {to}");
    complains(&link("[5, 5]", "[9, 5]"), &["links[0].from", "(5, 5), inside obstacle `pillar`"]);
    complains(&link("[3, 5]", "[12, 5]"), &["links[0].to", "(12, 5), outside the walkable area"]);
}

#[test]
fn agents_inside_obstacles_are_named_with_the_obstacle() {
    let start = |x: f64, goal: f64| {
        format!(
            "{ROOM}[[agents]]\nname = 'west'\nplace = {{ points = [[1, 1], [{x}, 5]] }}\ngoal = {{ point = [{goal}, 5] }}"
        )
    };
    complains(
        &start(5.0, 9.0),
        &["crowd.toml:7:", "agent 1 of cohort `west` starts at (5, 5), inside obstacle `pillar`"],
    );
    complains(&start(-1.0, 9.0), &["agent 1 of cohort `west`", "outside the walkable area"]);
    complains(
        &start(1.0, 5.0),
        &["agents[0].goal.point", "the goal of cohort `west` is at (5, 5), inside obstacle `pillar`"],
    );
    complains(&start(1.0, 15.0), &["outside the walkable area"]);
    assert!(parse(&start(3.9, 10.0)).is_ok(), "a body may overlap a wall, and a goal may lie on one");
    let gone = "\n[[events]]\nat = 5\nremove_obstacle = 'pillar'";
    assert!(parse(&(start(1.0, 5.0) + gone)).is_ok(), "a goal may wait for its obstacle to go");
    let area = start(1.0, 5.0).replace("point = [5, 5]", "polygon = [[4.5, 4.5], [5, 4.5], [5, 5]]");
    complains(&area, &["agents[0].goal.polygon", "no part of the goal of cohort `west` is free"]);
}

#[test]
fn bad_maps_are_named() {
    complains(
        "format = 1\nmap.walkable = 'POLYGON ((0 0, 1 x))'",
        &["crowd.toml:2:", "map.walkable", "character 18"],
    );
    complains("format = 1\nmap.walkable = 'POLYGON ((0 0, 1 1, 2 2))'", &["map.walkable", "has no area"]);
    complains("format = 1\nmap.walkable = 'POLYGON ((0 0, 1e10 1, 2 2))'", &["map.walkable", "beyond"]);
    complains("format = 1\nmap.obstacles = [[]]", &["map.obstacles[0] = [] must have three points"]);
    complains("format = 1\nmap.obstacles = [3]", &["map.obstacles[0] = 3 must be a list of points or"]);
    complains(
        "format = 1\nmap.obstacles = [[[0, 0], [1]]]",
        &["map.obstacles[0][1] = [1] must be two numbers"],
    );
    complains("format = 1\nmap.walls = [[[0, 0]]]", &["map.walls[0]", "two different points"]);
    complains("format = 1\nmap.file = 'plan.wkt'", &["map.file", "no folder"]);
    let named = "{ name = 'a', polygon = [[0, 0], [1, 0], [1, 1]] }";
    complains(
        &format!("format = 1\nmap.obstacles = [{named}, {named}]"),
        &["map.obstacles[1]", "`a` already"],
    );
    let covering =
        ROOM.replace("[[4, 4], [4, 6], [6, 6], [6, 4]]", "[[-1, -1], [11, -1], [11, 11], [-1, 11]]");
    complains(&covering, &["crowd.toml:4:", "obstacle `pillar` covers the whole walkable area"]);
}

#[test]
fn what_is_hardly_meant_is_said() {
    let warned = |text: &str, words: &str| {
        let warnings = Scenario::parse(text, "crowd.toml", None).unwrap().warnings();
        assert!(warnings.iter().any(|warning| warning.contains(words)), "{warnings:?}");
    };
    let walled = "format = 1\nmap.walls = [[[5, -5], [5, 5]]]\n\
                  [[agents]]\nname = 'a'\nplace = { points = [[0, 0]] }\ngoal = { point = [9, 0] }";
    warned(walled, "walls are in the straight path of cohort `a`");
    let planned = format!("pipeline.macroscale = 'navmesh'\n{walled}");
    assert!(Scenario::parse(&planned, "crowd.toml", None).unwrap().warnings().is_empty());
    warned(
        "format = 1\nmap.terrain = [{ polygon = [[0, 0], [1, 0], [1, 1]], cost = 2 }]",
        "`terrain` does nothing without `map-field`",
    );
}

#[test]
fn bad_movers_and_events_are_named() {
    complains(
        &format!(
            "{ROOM}\n[[events]]\nat = 3\nadd_obstacle = {{ name = 'lid', polygon = [[-1, -1], [11, -1], [11, 11], [-1, 11]] }}"
        ),
        &["events[0].add_obstacle.polygon", "`lid` leaves nothing of the walkable area"],
    );
    complains(
        "format = 1\n[[movers]]\nradius = 0\npath = [[0, 0, 0]]",
        &["movers[0].radius = 0 must be > 0"],
    );
    complains("format = 1\n[[movers]]\nradius = 1\npath = []", &["movers[0].path", "one point or more"]);
    complains(
        "format = 1\n[[movers]]\nradius = 1\npath = [[1, 0, 0], [1, 2, 0]]",
        &["movers[0].path[1]", "times rise"],
    );
    complains("format = 1\n[[events]]\nat = 1", &["events[0]: an event needs exactly one of"]);
    complains(
        "format = 1\n[[events]]\nat = -1\nremove_obstacle = 'x'",
        &["events[0].at = -1 must be >= 0", "no obstacle `x`"],
    );
    let early = "[[events]]\nat = 1\nremove_obstacle = 'a'\n[[events]]\nat = 2\nadd_obstacle = { name = 'a', polygon = [[0, 0], [1, 0], [1, 1]] }";
    complains(
        &format!("format = 1\n{early}"),
        &["events[0].remove_obstacle", "no obstacle `a` at that time"],
    );
    let retarget = "\n[[events]]\nat = 1\nretarget = { cohort = 'wst', goal = { point = [1, 1] } }";
    complains(&(cohort("name = 'west'") + retarget), &["events[0].retarget.cohort", "did you mean `west`?"]);
}

#[test]
fn every_problem_is_reported_at_once() {
    let error = parse(&cohort("radius = -1\nresponsibility = 2\nmicroscale = 'x'")).unwrap_err();
    assert_eq!(error.problems().len(), 3);
    let lines: Vec<_> =
        error.problems().iter().filter_map(|problem| problem.line).map(|(line, _)| line).collect();
    assert_eq!(lines, [5, 6, 7]);
    assert_eq!(error.problems()[0].path.to_string(), "agents[0].radius");
    let many = parse(&cohort(&format!(
        "params.orca = {{ {} }}",
        (0..100).map(|i| format!("x{i} = 1")).collect::<Vec<_>>().join(", ")
    )));
    assert!(many.unwrap_err().problems().len() <= 20);
}

#[test]
fn miette_gets_the_source_and_a_label() {
    use miette::Diagnostic;
    let text = cohort("radius = -1");
    let error = parse(&text).unwrap_err();
    let label = error.labels().unwrap().next().unwrap();
    assert_eq!(&text[label.offset()..label.offset() + label.len()], "-1");
    assert!(error.source_code().is_some());
}

#[test]
fn json_errors_have_lines_too() {
    let json = |text: &str| Scenario::parse(text, "crowd.json", None).unwrap_err().to_string();
    assert!(
        json("{\n\"format\": 1,\n\"dt\": -1\n}").starts_with("crowd.json:3:7: dt = -1 must be >= 0.000001")
    );
    assert!(json("{\n\"format\": 1,\n").starts_with("crowd.json:3:"), "{}", json("{\n\"format\": 1,\n"));
    assert!(json("[]").contains("must be"), "{}", json("[]"));
    assert!(json("{\"format\": 1, \"dt\": 1e999}").starts_with("crowd.json:1:"));
}

// Overrides.

fn set(key: &str, value: &str) -> Result<Scenario, ScenarioError> {
    let overrides = Overrides { set: vec![(key.into(), value.into())], ..Overrides::default() };
    Scenario::parse_with(WHOLE, "crowd.toml", None, &overrides)
}

#[test]
fn overrides_change_the_file() {
    let overrides = Overrides {
        macroscale: Some("straight".into()),
        mesoscale: Some(vec![]),
        microscale: Some("none".into()),
        motion: Some("holonomic".into()),
        seed: Some(99),
        until: Some(3.0),
        set: vec![],
    };
    let scenario = Scenario::parse_with(WHOLE, "crowd.toml", None, &overrides).unwrap();
    assert_eq!(
        (scenario.pipeline.microscale.as_str(), scenario.pipeline.motion.as_str()),
        ("none", "holonomic")
    );
    assert_eq!((scenario.seed, scenario.until), (99, 3.0));
}

#[test]
fn set_reaches_every_key() {
    assert_eq!(set("dt", "0.2").unwrap().dt, 0.2);
    assert_eq!(
        set("params.orca.time_horizon", "2").unwrap().params["orca"]["time_horizon"],
        Value::Number(2.0)
    );
    assert_eq!(set("agents.0.count", "3").unwrap().cohorts[0].agents.len(), 3);
    assert_eq!(set("agents[0].count", "3").unwrap().cohorts[0].agents.len(), 3);
    assert_eq!(set("agents.west.count", "3").unwrap().cohorts[0].agents.len(), 3);
    assert_eq!(set("pipeline.microscale", "vo").unwrap().pipeline.microscale, "vo");
    assert_eq!(set("agents.1.params.orca.time_horizon", "9").unwrap().cohorts[1].params.len(), 1);
    assert!(set("agents.west.radius", "{ uniform = [0.2, 0.3] }").is_ok());
    assert_eq!(set("name", "other").unwrap().name, "other");
}

#[test]
fn bad_sets_name_the_option() {
    let complaint = |key, value| set(key, value).unwrap_err().to_string();
    assert_eq!(
        complaint("agents.0.radius", "-1"),
        "crowd.toml: agents[0].radius = -1 must be > 0 and <= 1000000 (from --set agents.0.radius=-1)"
    );
    for (key, value, part) in [
        ("dtt", "1", "unknown key `dtt`"),
        ("agents.0.cout", "1", "did you mean `count`?"),
        ("agents.7.count", "1", "a list of 2"),
        ("agents.nord.count", "1", "agents has no `nord`"),
        ("dt.x", "1", "dt has no `x`"),
        ("dt", "nan", "must be a finite number"),
        ("dt", "fast", "must be a number"),
        ("", "1", "must name a key"),
        ("params.orka.x", "1", "unknown block `orka`"),
    ] {
        let complaint = complaint(key, value);
        assert!(complaint.contains(part) && complaint.contains("--set"), "{complaint}");
    }
    let overrides = Overrides { microscale: Some("orka".into()), ..Overrides::default() };
    let error = Scenario::parse_with(WHOLE, "crowd.toml", None, &overrides).unwrap_err().to_string();
    assert!(error.contains("did you mean `orca`?") && error.contains("(from --microscale orka)"), "{error}");
}

// Files.

#[test]
fn files_are_opened_with_their_maps() {
    let folder = std::env::temp_dir().join(format!("throng-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("plan.wkt", "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))");
    write("plan.geojson", r#"{"type":"Polygon","coordinates":[[[0,0],[10,0],[10,10],[0,10],[0,0]]]}"#);
    write("bad.wkt", "CIRCLE (3)");
    let scenario = |map: &str| {
        write("crowd.toml", &format!("{}\n[map]\nfile = '{map}'", cohort("goal = { point = [9, 9] }")));
        Scenario::open(folder.join("crowd.toml"))
    };
    let wkt = scenario("plan.wkt").unwrap();
    assert_eq!(wkt.map, scenario("plan.geojson").unwrap().map);
    let elsewhere = Scenario::parse(&wkt.source, "a.json", None).unwrap();
    assert_eq!((elsewhere.map, elsewhere.name), (wkt.map, "crowd".into()));

    let complaint = |map: &str| scenario(map).unwrap_err().to_string();
    assert!(complaint("bad.wkt").contains("crowd.toml:6:"), "{}", complaint("bad.wkt"));
    assert!(complaint("bad.wkt").contains("map.file = \"bad.wkt\" is not valid: WKT needs one of POLYGON"));
    assert!(complaint("none.wkt").contains("cannot be read"));
    assert!(complaint("plan.pdf").contains("must be a .wkt, .geojson or .dxf file"));
    let missing = Scenario::open(folder.join("missing.toml")).unwrap_err();
    assert!(missing.to_string().contains("missing.toml: cannot be read"), "{missing}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn no_prefix_of_a_file_is_a_crash() {
    for end in (0..WHOLE.len()).filter(|&end| WHOLE.is_char_boundary(end)) {
        let _ = parse(&WHOLE[..end]);
    }
    let _ = Scenario::parse("", "", Some(Path::new("")));
}

/// Words that files are made of, and some that they should not be.
const TOKENS: &[&str] = &[
    "",
    "-1",
    "0",
    "1e308",
    "-1e308",
    "1e-308",
    "nan",
    "inf",
    "18446744073709551615",
    "99999999999999999999",
    "''",
    "'x'",
    "[]",
    "{}",
    "[[]]",
    "[0, 0]",
    "[[0, 0], [0, 0], [0, 0]]",
    "true",
    "=",
    "]",
    "}",
    "\n",
    "[[agents]]\n",
    "1979-05-27",
    "points",
    "polygon",
    "grid",
    "count = 99_999\n",
    "{ uniform = [0, 1] }",
    "{ normal = [0, 1e300] }",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_edit_of_a_file_is_a_crash(from in 0..WHOLE.len(), length in 0usize..12, token in prop::sample::select(TOKENS)) {
        let end = (from + length).min(WHOLE.len());
        let text = format!("{}{token}{}", &WHOLE[..from], &WHOLE[end..]);
        if let Err(error) = parse(&text) {
            prop_assert!(error.to_string().starts_with("crowd.toml"), "{error}");
            prop_assert!(!error.problems().is_empty());
        }
    }

    #[test]
    fn no_value_of_a_key_is_a_crash(index in 0..VALUES.len(), token in prop::sample::select(TOKENS)) {
        let overrides = Overrides { set: vec![(VALUES[index].into(), token.into())], ..Overrides::default() };
        if let Err(error) = Scenario::parse_with(WHOLE, "crowd.toml", None, &overrides) {
            prop_assert!(error.to_string().starts_with("crowd.toml"), "{error}");
        }
    }
}

const VALUES: &[&str] = &[
    "format",
    "name",
    "seed",
    "dt",
    "until",
    "pipeline",
    "pipeline.macroscale",
    "pipeline.mesoscale",
    "params",
    "params.orca",
    "params.orca.time_horizon",
    "map",
    "map.walkable",
    "map.file",
    "map.obstacles",
    "map.obstacles.0",
    "map.obstacles.1.polygon",
    "map.obstacles.0.0",
    "map.walls",
    "map.walls.0",
    "agents",
    "agents.0",
    "agents.0.count",
    "agents.0.radius",
    "agents.0.preferred_speed",
    "agents.0.max_speed",
    "agents.0.place",
    "agents.0.place.grid",
    "agents.0.place.grid.from",
    "agents.0.place.grid.columns",
    "agents.0.place.grid.spacing",
    "agents.0.place.jitter",
    "agents.0.goal",
    "agents.0.goal.point",
    "agents.0.start",
    "agents.0.params",
    "movers.0.path",
    "movers.0.radius",
    "events",
    "events.0.at",
    "events.1.add_obstacle.polygon",
    "events.2.retarget.goal",
    "expect",
    "expect.arrived",
];

/// Goals of an event were held against the map of the beginning: one inside an obstacle that had been put up was sound.
#[test]
fn new_goals_are_held_against_the_map_of_that_time() {
    let events = |events: &str| {
        let text = format!(
            "format = 1\n[[agents]]\nname = 'a'\nplace = {{ points = [[0, 0]] }}\ngoal = {{ point = [10, 0] }}\n{events}"
        );
        Scenario::parse(&text, "events.toml", None).map_err(|error| error.to_string())
    };
    let add = |at: f64| {
        format!(
            "[[events]]\nat = {at}\nadd_obstacle = {{ name = 'box', polygon = [[15, -3], [20, -3], [20, 3], [15, 3]] }}\n"
        )
    };
    let remove = |at: f64| format!("[[events]]\nat = {at}\nremove_obstacle = 'box'\n");
    let goal = |at: f64| {
        format!("[[events]]\nat = {at}\nretarget = {{ cohort = 'a', goal = {{ point = [17, 0] }} }}\n")
    };
    let error = events(&(add(2.0) + &goal(5.0))).unwrap_err();
    assert!(
        error.contains("events[1].retarget.goal.point") && error.contains("inside obstacle `box`"),
        "{error}"
    );
    // In the order of time, whatever the order in the file.
    assert!(events(&(goal(5.0) + &add(2.0))).is_err());
    // Before it is put up, after it was taken away, and behind a barrier that will go.
    assert!(events(&(goal(1.0) + &add(2.0))).is_ok());
    assert!(events(&(add(2.0) + &remove(3.0) + &goal(5.0))).is_ok());
    assert!(events(&(add(2.0) + &goal(5.0) + &remove(8.0))).is_ok());
    // Put up again, and for good.
    assert!(events(&(add(2.0) + &remove(3.0) + &add(4.0) + &goal(5.0))).is_err());
}

/// A preset is a base that single values change.
#[test]
fn values_count_more_than_their_preset() {
    let scenario = |text: &str| Scenario::parse(text, "preset.toml", None);
    let people = scenario("format = 1\npreset = 'pedestrian'\n[params.headway]\ntime_gap = 0.9\n").unwrap();
    let value = |block: &str, key: &str| people.params[block][key];
    assert_eq!(value("headway", "on"), Value::Flag(true));
    assert_eq!(value("headway", "time_gap"), Value::Number(0.9));
    assert_eq!(value("contact", "on"), Value::Flag(true));
    let error = scenario("format = 1\npreset = 'people'\n").unwrap_err().to_string();
    assert!(error.contains("unknown preset `people`; known: pedestrian, game, robot, paper"), "{error}");
}

const MEASURED: &str = "
    format = 1
    until = 20
    [map]
    walkable = \"POLYGON ((0 0, 12 0, 12 2, 0 2, 0 0))\"
    [[agents]]
    place = { points = [[1, 0.5], [1, 1.5], [3, 1]] }
    goal = { offset = [8, 0] }
    [[measure]]
    name = \"gate\"
    line = [[6, 0], [6, 2]]
    [[measure]]
    name = \"middle\"
    area = [[4, 0], [8, 0], [8, 2], [4, 2]]
    voronoi = true
";

#[test]
fn measures_stand_in_the_report_and_go_on_after_a_checkpoint() {
    let scenario = Scenario::parse(MEASURED, "measured.toml", None).unwrap();
    let run = |saved: bool| {
        let mut simulation = Simulation::with_threads(&scenario, 1).unwrap();
        while !simulation.is_done() {
            simulation.step();
            if saved && simulation.frame().step == 30 {
                let checkpoint = Checkpoint::of(&simulation, Metrics::default(), None).unwrap();
                simulation = checkpoint.resume(1).unwrap();
            }
        }
        Report::new(&simulation, &Metrics::default(), std::time::Duration::ZERO).measures
    };
    let measures = run(false);
    assert_eq!(measures, run(true));
    let gate = measures["gate"].clone().line().unwrap();
    assert_eq!((gate.crossings, gate.to_right, gate.series.n.len()), (3, 3, 3));
    let middle = measures["middle"].clone().area().unwrap();
    assert!((middle.speed_mean.unwrap() - 1.34).abs() < 0.05, "{:?}", middle.speed_mean);
    assert!(middle.voronoi_mean.is_some_and(|density| density > 0.05 && density < 0.5));
}

#[test]
fn bad_measures_are_refused_with_their_keys() {
    for (wrong, complaint) in [
        ("line = [[6, 0], [6, 0]]", "must lead from a point to another"),
        ("line = [[6, 0], [6, 2]]\narea = [[4, 0], [8, 0], [8, 2]]", "exactly one of line, area"),
        ("line = [[6, 0], [6, 2]]\nvoronoi = true", "is of areas"),
        ("area = [[4, 0], [8, 0]]", "must have an area"),
        ("area = [[4, 0], [8, 0], [8, 2]]\nevery = 0", "must be > 0"),
        ("area = [[4, 0], [8, 0], [8, 2]]\nfrom = 5\nuntil = 4", "must be > 5"),
        ("area = [[4, 0], [8, 0], [8, 2]]\nspeed = 4", "unknown"),
    ] {
        let text = format!("format = 1\n[[measure]]\n{wrong}\n");
        let error = Scenario::parse(&text, "bad.toml", None).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
}

#[test]
fn bodies_that_begin_inside_one_another_are_told_of() {
    let warnings = |places: &str, more: &str| {
        let text = format!(
            "format = 1\n{more}\n[[agents]]\nname = 'a'\nplace = {{ points = {places} }}\ngoal = {{ offset = [9, 0] }}\n\
             [[agents]]\nname = 'b'\nradius = 0.5\nplace = {{ points = [[5, 5]] }}\ngoal = {{ offset = [9, 0] }}\n"
        );
        Scenario::parse(&text, "crowd.toml", None).unwrap().warnings()
    };
    assert!(warnings("[[0, 0], [0.5, 0], [5, 4.25]]", "").is_empty(), "to touch is no overlap");
    let [one] = &warnings("[[0, 0], [0.4, 0], [9, 9]]", "")[..] else { panic!("one warning") };
    assert!(one.contains("agent 0 of cohort `a` and agent 1 of cohort `a` overlap by 0.100 m"), "{one}");
    let [one] = &warnings("[[0, 0], [0.4, 0], [5, 4.5]]", "")[..] else { panic!("one warning") };
    assert!(one.contains("agent 2 of cohort `a` and agent 0 of cohort `b` overlap by 0.250 m"), "{one}");
    assert!(one.contains("and 1 more pairs do"), "{one}");
}

#[test]
fn agents_that_look_at_nobody_are_told_of() {
    let warnings = |more: &str| {
        let text = format!(
            "format = 1\n{more}\n[[agents]]\nname = 'a'\nplace = {{ points = [[0, 0], [5, 0]] }}\ngoal = {{ offset = [9, 0] }}\n"
        );
        Scenario::parse(&text, "crowd.toml", None).unwrap().warnings().join("\n")
    };
    assert_eq!(warnings(""), "");
    let none = warnings("[pipeline]\nmicroscale = 'none'\n");
    assert!(none.contains("cohort `a` avoids nobody with `none`"), "{none}");
    let blind = warnings("[params.orca]\nmax_neighbors = 0\n");
    assert!(blind.contains("avoids nobody with params.orca.max_neighbors = 0"), "{blind}");
    let near = warnings("[params.orca]\nneighbor_distance = 0.4\n");
    assert!(
        near.contains("params.orca.neighbor_distance = 0.4") && near.contains("touch at 0.50 m"),
        "{near}"
    );
    // Another model's values do not count.
    assert_eq!(warnings("[params.hrvo]\nmax_neighbors = 0\n"), "");
}
