//! The hybrid model in whole runs: a field of perception for every agent, the flow ahead, groups that keep together.

use glam::DVec2;
use throng::checkpoint::Checkpoint;
use throng::metrics::Metrics;
use throng::params::{Draw, Value};
use throng::scenario::Overrides;
use throng::{Scenario, Simulation, builtin};

fn builtin(name: &str, set: &[(&str, &str)], threads: usize) -> Simulation {
    let set = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let changes = Overrides { set, ..Overrides::default() };
    let scenario = builtin::find(name).unwrap().open_with(&changes).unwrap_or_else(|error| panic!("{error}"));
    Simulation::with_threads(&scenario, threads).unwrap()
}

fn simulate(body: &str) -> Simulation {
    parse(&format!("format = 1\nuntil = 100\n[pipeline]\nmicroscale = \"hybrid\"\n{body}"))
}

fn parse(text: &str) -> Simulation {
    let scenario =
        Scenario::parse(text, "hybrid.toml", None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Simulation::with_threads(&scenario, 1).unwrap()
}

/// With routes of the map field.
fn routed(seed: u64, body: &str) -> Simulation {
    parse(&format!(
        "format = 1\nseed = {seed}\nuntil = 300\n[pipeline]\nmacroscale = \"map-field\"\nmicroscale = \"hybrid\"\n{body}"
    ))
}

fn run(simulation: &mut Simulation, steps: usize) {
    (0..steps).for_each(|_| simulation.step());
}

/// Mean distance between those of one cohort, until the first arrives.
fn within_groups(mut simulation: Simulation) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0);
    while simulation.arrived() == 0 {
        simulation.step();
        let frame = simulation.frame();
        for a in 0..frame.len() {
            for b in (a + 1..frame.len()).filter(|&b| frame.cohort[a] == frame.cohort[b]) {
                sum += frame.position(a).distance(frame.position(b));
                pairs += 1;
            }
        }
    }
    while !simulation.is_done() {
        simulation.step();
    }
    assert_eq!(simulation.arrived(), simulation.agents());
    sum / f64::from(pairs)
}

/// Figure 5.
#[test]
fn groups_keep_together() {
    let names = ["east", "northeast", "north", "northwest", "west", "southwest", "south", "southeast"];
    let keys = names.map(|name| format!("agents.{name}.together"));
    let apart: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), "false")).collect();
    let (with, without) = (builtin("hybrid-cohesive", &[], 1), builtin("hybrid-cohesive", &apart, 1));
    let (with, without) = (within_groups(with), within_groups(without));
    assert!(with <= 0.5 * without, "{with} m with cohesion, {without} m without");
}

#[test]
fn an_agent_that_is_ahead_of_its_group_waits_for_it() {
    let body = |together: bool| {
        format!(
            "[[agents]]\nname = \"all\"\nplace = {{ points = [[5, 0], [0, 0], [-0.8, 0.6], [-0.8, -0.6]] }}\n\
             goal = {{ offset = [60, 0] }}\ntogether = {together}\n"
        )
    };
    let lead = |together| {
        let mut simulation = simulate(&body(together));
        run(&mut simulation, 100);
        let frame = simulation.frame();
        let x = |id: u32| frame.position(frame.id.iter().position(|&other| other == id).unwrap()).x;
        x(0) - (x(1) + x(2) + x(3)) / 3.0
    };
    assert!(lead(false) > 5.0 && lead(true) < 2.5, "{} m and {} m ahead", lead(false), lead(true));
}

/// Collisions per step and 1000 agents, as densely as 20,000 on 1024 x 1024 cells.
fn collisions(preset: &str) -> f64 {
    let square = "[[0, 0], [162, 0], [162, 162], [0, 162]]";
    let (place, goal) = (format!("{{ polygon = {square} }}"), format!("{{ random = {square} }}"));
    let set = [
        ("preset", preset),
        ("agents.individuals.count", "2000"),
        ("agents.individuals.place", &place),
        ("agents.individuals.goal", &goal),
    ];
    let mut simulation = builtin("hybrid-crossing", &set, 2);
    let mut collisions = 0;
    for _ in 0..200 {
        simulation.step();
        collisions += simulation.overlaps().collisions;
    }
    collisions as f64 / 200.0 / 2.0
}

#[test]
fn hardly_anybody_collides_among_crossing_individuals() {
    let collisions = collisions("pedestrian");
    assert!(collisions <= 0.02, "{collisions} collisions per step and 1000 agents");
}

/// As the paper has it: it was the contacts of the motion stage that kept bodies apart.
#[test]
fn people_avoid_one_another_by_the_field_alone() {
    let collisions = collisions("paper");
    assert!(collisions <= 0.2, "{collisions} collisions per step and 1000 agents");
}

/// Four streams that cross in corridors of 4 m, or three at a junction.
fn streams(junction: bool, count: usize, seed: u64) -> Simulation {
    let arms = [[-1, 0], [1, 0], [0, -1], [0, 1]];
    let used = if junction { 3 } else { 4 };
    let walkable = if junction {
        "POLYGON ((-20 -2, -2 -2, -2 -20, 2 -20, 2 -2, 20 -2, 20 2, -20 2, -20 -2))"
    } else {
        "POLYGON ((-20 -2, -2 -2, -2 -20, 2 -20, 2 -2, 20 -2, 20 2, 2 2, 2 20, -2 20, -2 2, -20 2, -20 -2))"
    };
    let to = if junction { vec![1, 2, 0] } else { vec![1, 0, 3, 2] };
    let cohort = |arm: usize| {
        let ([x, y], [to_x, to_y]) = (arms[arm], arms[to[arm]]);
        let corner = |along: f64, across: f64| {
            let (x, y) = (f64::from(x), f64::from(y));
            [x * along + y * across, y * along + x * across]
        };
        let area = [corner(4.0, -1.5), corner(19.5, -1.5), corner(19.5, 1.5), corner(4.0, 1.5)];
        format!(
            "[[agents]]\ncount = {count}\nplace = {{ polygon = {area:?} }}\n\
             goal = {{ point = [{}, {}] }}\ngoal_radius = 2\non_arrival = \"leave\"\n",
            19 * to_x,
            19 * to_y
        )
    };
    let cohorts: String = (0..used).map(cohort).collect();
    routed(seed, &format!("[map]\nwalkable = \"{walkable}\"\n{cohorts}"))
}

#[test]
fn crossing_streams_and_junctions_clear() {
    for (junction, count, seed) in [(false, 50, 1), (false, 50, 2), (true, 40, 1), (true, 40, 2)] {
        let mut simulation = streams(junction, count, seed);
        while !simulation.is_done() {
            simulation.step();
        }
        assert_eq!(simulation.arrived(), simulation.agents(), "junction: {junction}, seed {seed}");
    }
}

#[test]
fn doors_clear_both_ways() {
    for (width, seed) in [(0.8, 1), (0.9, 2), (1.0, 3), (1.2, 4)] {
        let half = width / 2.0;
        let walls = format!(
            "[map]\nwalkable = \"POLYGON ((-10 -4, 10 -4, 10 4, -10 4, -10 -4))\"\n\
             obstacles = [[[-0.1, {half}], [0.1, {half}], [0.1, 5], [-0.1, 5]], [[-0.1, -5], [0.1, -5], [0.1, -{half}], [-0.1, -{half}]]]\n"
        );
        let cohorts = "[[agents]]\ncount = 20\nplace = { polygon = [[-9.5, -3.5], [-2, -3.5], [-2, 3.5], [-9.5, 3.5]] }\n\
             goal = { point = [8.5, 0] }\ngoal_radius = 2\non_arrival = \"leave\"\n\
             [[agents]]\ncount = 20\nplace = { polygon = [[9.5, -3.5], [2, -3.5], [2, 3.5], [9.5, 3.5]] }\n\
             goal = { point = [-8.5, 0] }\ngoal_radius = 2\non_arrival = \"leave\"\n";
        let mut simulation = routed(seed, &format!("{walls}{cohorts}"));
        while !simulation.is_done() {
            simulation.step();
        }
        assert_eq!(simulation.arrived(), 40, "a door of {width} m, seed {seed}");
    }
}

/// It stood for ever, in a ring of touching bodies none of which went first.
#[test]
fn an_exactly_symmetric_circle_of_forty_changes_places() {
    for radius in [5, 7, 10, 15] {
        let mut simulation = simulate(&format!(
            "[[agents]]\ncount = 40\nplace = {{ circle = {{ center = [0, 0], radius = {radius} }} }}\n\
             goal = {{ antipodal = [0, 0] }}\n"
        ));
        while !simulation.is_done() {
            simulation.step();
        }
        assert_eq!(simulation.arrived(), 40, "a circle of {radius} m");
    }
}

/// Every agent draws its own weights; threads and checkpoints change nothing of it.
#[test]
fn drawn_weights_threads_and_checkpoints() {
    let drawn = "{ uniform = [0.2, 4] }";
    let set = |weight| {
        [("agents.east.params.hybrid.discomfort", weight), ("params.hybrid.length", "{ normal = [1, 0.3] }")]
    };
    let hash = |threads, weight| {
        let mut simulation = builtin("hybrid-cohesive", &set(weight), threads);
        run(&mut simulation, 120);
        simulation.state_hash()
    };
    let whole = hash(1, drawn);
    assert!(hash(2, drawn) == whole && hash(3, drawn) == whole && hash(1, "1") != whole);
    let mut simulation = builtin("hybrid-cohesive", &set(drawn), 2);
    run(&mut simulation, 50);
    let mut resumed = Checkpoint::of(&simulation, Metrics::default(), None).unwrap().resume(1).unwrap();
    run(&mut resumed, 70);
    assert_eq!(resumed.state_hash(), whole);
}

#[test]
fn a_distribution_is_checked_and_kept() {
    let parse = |value: &str| {
        Scenario::parse(
            &format!(
                "format = 1\n[params.hybrid]\ntime = {value}\n[[agents]]\nplace = {{ points = [[0, 0]] }}\ngoal = {{ point = [1, 1] }}\n"
            ),
            "weights.toml",
            None,
        )
    };
    let kept = parse("{ uniform = [0.5, 2] }").unwrap().params["hybrid"]["time"];
    assert_eq!(kept, Value::Drawn(Draw::Uniform { low: 0.5, high: 2.0 }));
    for (value, complaint) in [
        ("{ uniform = [2, 0.5] }", "in order"),
        ("{ uniform = [-1, 0.5] }", "must be >= 0"),
        ("{ normal = [1, -1] }", "standard deviation"),
        ("{ even = [1, 2] }", "even"),
        ("\"much\"", "a number"),
        ("true", "a number"),
    ] {
        let error = parse(value).unwrap_err().to_string();
        assert!(error.contains(complaint) && error.contains("time"), "{value}: {error}");
    }
    let whole = "format = 1\n[params.hybrid]\nsteps = { uniform = [1, 4] }\n";
    let error = Scenario::parse(whole, "weights.toml", None).unwrap_err().to_string();
    assert!(error.contains("only some parameters can be drawn"), "{error}");
}

/// The field that is explained: it falls towards the goal, is dear where an agent comes, and closed behind a wall.
#[test]
fn the_field_of_an_agent_is_told() {
    let mut simulation = simulate(
        "[map]\nwalls = [[[-3, 1.2], [3, 1.2]]]\n\
         [[agents]]\nplace = { points = [[0, 0], [2.5, 0.1]] }\ngoal = { points = [[30, 0], [-30, 0]] }\n",
    );
    run(&mut simulation, 3);
    let explained = simulation.explain(0).unwrap();
    let field = explained.field.unwrap();
    assert_eq!((field.cost.len(), field.cost[0].len(), field.potential[15].len()), (16, 16, 16));
    let place = |line: usize, cell: usize| {
        let offset = field.across * cell as f32 + field.along * line as f32;
        DVec2::from(field.first) + offset.as_dvec2()
    };
    // In the middle of the field stands the agent.
    assert!(place(7, 7).midpoint(place(8, 8)).distance(DVec2::from(explained.position)) < 1e-3);
    let at = |line: usize, cell: usize| field.potential[line][cell].unwrap();
    assert!(at(14, 8) < at(8, 8) && at(8, 8) < at(2, 8), "{:?}", field.potential);
    let dearest = (0..256).max_by(|&a, &b| {
        let discomfort = |i: usize| field.discomfort[i / 16][i % 16];
        discomfort(a).total_cmp(&discomfort(b))
    });
    let dearest = dearest.map(|i| place(i / 16, i % 16)).unwrap();
    let other = DVec2::from(explained.neighbors[0].position);
    assert!(
        dearest.distance(other) < 3.0 && (dearest - other).x < 0.5,
        "{dearest} is not where {other} goes"
    );
    // Also where none was needed: no agent is uncomfortable then.
    let mut alone = simulate("[[agents]]\nplace = { points = [[0, 0]] }\ngoal = { point = [9, 0] }\n");
    run(&mut alone, 3);
    let field = alone.explain(0).unwrap().field.unwrap();
    assert!(field.discomfort.iter().flatten().all(|&discomfort| discomfort == 0.0));
    assert!(field.potential[12][8] < field.potential[8][8]);
}

/// Where the shortcut is taken the field finds about the same: lone walkers and pairs that pass one another. The more these mind
/// one another, the more depends on when they first do so: with the shortcut when one is in the other's straight way.
#[test]
fn the_shortcut_spares_time_and_nothing_else() {
    let end = |shortcut: bool, discomfort: f64| {
        let mut simulation = simulate(&format!(
            "[params.hybrid]\nshortcut = {shortcut}\ndiscomfort = {discomfort}\n[[agents]]\n\
             place = {{ points = [[0, 0], [3, 4], [-20, 7]] }}\ngoal = {{ points = [[40, 9], [30, -20], [10, 30]] }}\n"
        ));
        run(&mut simulation, 150);
        let frame = simulation.frame();
        let mut places: Vec<(u32, DVec2)> =
            (0..frame.len()).map(|row| (frame.id[row], frame.position(row))).collect();
        places.sort_by_key(|place| place.0);
        places
    };
    for (discomfort, bound) in [(0.5, 0.3), (6.0, 0.6)] {
        for ((id, with), (_, without)) in end(true, discomfort).into_iter().zip(end(false, discomfort)) {
            assert!(with.distance(without) < bound, "{discomfort}, agent {id}: {with} and {without}");
        }
    }
}

/// Those who mind others more take longer ways around them, and those who mind length more take shorter ones. By the field alone:
/// what else agents do in a dense crowd has ways of its own.
#[test]
fn weights_mean_what_they_say() {
    let walked = |weights: &str| {
        let mut simulation = simulate(&format!(
            "[params.headway]\non = false\n[params.contact]\non = false\n[[agents]]\ncount = 40\nplace = {{ circle = {{ center = [0, 0], radius = 10 }} }}\n\
             goal = {{ antipodal = [0, 0] }}\nparams.hybrid = {{ {weights} }}\n"
        ));
        while !simulation.is_done() {
            simulation.step();
        }
        assert_eq!(simulation.arrived(), 40, "{weights}");
        simulation.path_lengths().0
    };
    let (careless, shy, shy_and_lazy) =
        (walked("discomfort = 0.3"), walked("discomfort = 5"), walked("discomfort = 5, length = 20"));
    assert!(shy > 1.15 * careless && shy_and_lazy < 0.95 * shy, "{careless}, {shy} and {shy_and_lazy} m");
}

/// In doors those who come out and those who follow them must not press upon one another.
/// A row of people across the way, seen from afar or not.
fn aside_before_a_row(scope: f32) -> [f64; 2] {
    let row: Vec<String> = (-3..=3).map(|i| format!("[16, {:.2}]", 0.05 + 0.6 * f64::from(i))).collect();
    let mut simulation = simulate(&format!(
        "[params.hybrid]\nscope = {scope:?}\nneighbor_distance = 14\n\
         [[agents]]\nname = \"stands\"\nplace = {{ points = [{row}] }}\ngoal = {{ offset = [0, 0] }}\n\
         [[agents]]\nname = \"walks\"\nplace = {{ points = [[0, 0]] }}\ngoal = {{ point = [32, 0] }}\n",
        row = row.join(", ")
    ));
    let (mut early, mut late) = (0.0f64, 0.0f64);
    while !simulation.is_done() {
        simulation.step();
        let at = simulation.frame().position(7);
        let aside = at.y.abs();
        if at.x < 9.0 { early = early.max(aside) } else { late = late.max(aside) }
    }
    assert_eq!(simulation.arrived(), simulation.agents());
    [early, late]
}

#[test]
fn a_field_whose_scope_follows_the_free_space_turns_sooner() {
    let ([near, past], [far, around]) = (aside_before_a_row(1.0), aside_before_a_row(3.0));
    assert!(near < 0.1 && past > 1.5, "{near} m aside before it sees the row, {past} m beside it");
    assert!(far > 0.5 && around > 1.5, "{far} m aside before others would see the row, {around} m beside it");
}

#[test]
fn everybody_gets_out_of_the_rooms() {
    for seed in 1..=6 {
        let mut simulation = builtin("hybrid-evacuation", &[("seed", &format!("{seed}"))], 2);
        run(&mut simulation, 9000);
        assert_eq!(simulation.arrived(), 120, "seed {seed}, after {} s", simulation.world().time());
    }
}

/// A larger group takes more room than the four that the default was made for; and an agent that has arrived holds no other up.
#[test]
fn large_groups_and_those_who_part_arrive() {
    let block = |side: usize| {
        format!(
            "[[agents]]\ncount = {}\nplace = {{ grid = {{ from = [0, 0], columns = {side}, spacing = 1 }} }}\n\
             goal = {{ offset = [30, 0] }}\ntogether = true\n",
            side * side
        )
    };
    for side in [3, 4, 6] {
        let mut simulation = simulate(&block(side));
        run(&mut simulation, 600);
        assert_eq!(simulation.arrived(), side * side);
    }
    let mut simulation = simulate(
        "[[agents]]\nplace = { points = [[0, 0], [0, 1.5]] }\ngoal = { points = [[5, 0], [30, 1.5]] }\ntogether = true\n",
    );
    run(&mut simulation, 400);
    assert_eq!(simulation.arrived(), 2);
}

/// However much a group's nearness is worth, its goal is worth more.
#[test]
fn those_who_want_to_be_close_still_go_on() {
    for cohesion in [30, 1000] {
        let mut simulation = simulate(&format!(
            "[params.hybrid]\ncohesion = {cohesion}\n[[agents]]\ncount = 4\ntogether = true\n\
             place = {{ grid = {{ from = [0, 0], columns = 2, spacing = 0.8 }} }}\n\
             goal = {{ point = [25, 0] }}\ngoal_radius = 1.5\non_arrival = \"leave\"\n"
        ));
        run(&mut simulation, 600);
        assert_eq!(simulation.arrived(), 4, "cohesion {cohesion}");
    }
}

/// Also where no agent plans around walls: the field finds the way past one that is in sight.
#[test]
fn a_wall_across_the_straight_way_is_walked_around() {
    let mut simulation = simulate(
        "[map]\nwalls = [[[5, -1.5], [5, 1]]]\n\
         [[agents]]\nplace = { points = [[0, 0]] }\ngoal = { point = [10, 0] }\n",
    );
    run(&mut simulation, 150);
    assert_eq!(simulation.arrived(), 1);
}

/// What others' parameters say about walls is nothing to an agent.
#[test]
fn walls_are_seen_by_ones_own_horizon() {
    let place = |horizon: f32| {
        let mut simulation = simulate(&format!(
            "[map]\nwalls = [[[4, 0.4], [12, 0.4]], [[6, -3], [8, -0.6]]]\n\
             [[agents]]\nplace = {{ points = [[0, 0], [0.7, 0.2]] }}\ngoal = {{ point = [15, 0] }}\n\
             params.hybrid = {{ time_horizon_obstacles = 0.5 }}\n\
             [[agents]]\nplace = {{ points = [[100, 0]] }}\ngoal = {{ point = [115, 0] }}\n\
             params.hybrid = {{ time_horizon_obstacles = {horizon} }}\n"
        ));
        run(&mut simulation, 60);
        let frame = simulation.frame();
        (0..frame.len()).find(|&row| frame.id[row] == 0).map(|row| frame.position(row))
    };
    assert_eq!(place(0.5), place(6.0));
}
