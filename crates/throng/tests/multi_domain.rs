//! Many agents plan in real time: whole runs of the paper's scenarios, and what must hold of every run.

use throng::checkpoint::Checkpoint;
use throng::metrics::Metrics;
use throng::report::Report;
use throng::scenario::Overrides;
use throng::{Scenario, Simulation, builtin, expect};

fn open(name: &str, seed: u64) -> Scenario {
    let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    builtin::find(name).unwrap().open_with(&overrides).unwrap()
}

/// Runs a scenario to its end, looks at every step, and holds it against what it expects.
fn solve(scenario: &Scenario) -> Report {
    let mut simulation = Simulation::new(scenario).unwrap();
    let mut metrics = Metrics::default();
    while !simulation.is_done() {
        simulation.step();
        metrics.observe(&simulation);
    }
    let report = Report::new(&simulation, &metrics, std::time::Duration::from_secs(1));
    for outcome in expect::compare(&scenario.expect, &report) {
        assert!(outcome.holds(), "{}, seed {}: {outcome}", scenario.name, scenario.seed);
    }
    assert_eq!(metrics.collisions, 0, "{}, seed {}", scenario.name, scenario.seed);
    report
}

fn solves(name: &str) {
    for seed in [1, 2, 3] {
        solve(&open(name, seed));
    }
}

#[test]
fn oncoming_agents_pass_in_a_bay() {
    solves("multi-domain-oncoming");
}

#[test]
fn crossing_agents_take_turns() {
    solves("multi-domain-crossing");
}

#[test]
fn four_agents_get_through_a_crossing_for_one() {
    solves("multi-domain-intersection");
}

#[test]
fn who_would_meet_at_a_choke_point_changes_its_speed_and_not_its_way() {
    solves("multi-domain-choke");
}

#[test]
fn plans_are_mended_when_a_gate_closes() {
    solves("multi-domain-change");
}

const OPEN: &str =
    "format = 1\ndt = 0.1\nuntil = 40.0\n[pipeline]\nmacroscale = \"multi-domain\"\nmicroscale = \"orca\"\n";

#[test]
fn a_wide_body_that_is_parked_is_walked_around() {
    for radius in [1.0, 1.5, 3.0, 5.0] {
        let text = format!(
            "{OPEN}[[agents]]\nplace = {{ points = [[0, 0]] }}\ngoal = {{ point = [20, 0] }}\n\
             [[movers]]\nradius = {radius}\npath = [[0, 10, 0.1]]\n[expect]\narrived = 1\n"
        );
        solve(&Scenario::parse(&text, "parked.toml", None).unwrap());
    }
}

/// Two lanes, a cart that fills one of them far down, and one agent that wants to the end of that lane. What it cannot see from
/// where it begins it has to come back from.
#[test]
fn a_lane_that_a_cart_fills_is_left_for_the_other() {
    let shuttles: Vec<String> =
        (0..40).map(|turn| format!("[{}, {}, 1.5]", 8 * turn, 58 + 6 * (turn % 2))).collect();
    for (start, path) in [(3, "[0, 62, 1.5]"), (30, "[0, 62, 1.5]"), (3, &shuttles.join(", "))] {
        let text = format!(
            "{OPEN}[map]\nwalkable = \"POLYGON ((0 0, 76 0, 76 8, 0 8, 0 0))\"\n\
             obstacles = [[[8, 3], [68, 3], [68, 5], [8, 5]]]\n\
             [[agents]]\nplace = {{ points = [[{start}, 1.5]] }}\ngoal = {{ point = [73, 1.5] }}\n\
             [[movers]]\nradius = 1.2\npath = [{path}]\n[expect]\narrived = 1\n"
        );
        let text = text.replace("until = 40.0", "until = 240.0");
        solve(&Scenario::parse(&text, "cart.toml", None).unwrap());
    }
}

#[test]
fn who_has_no_way_is_told_of_whenever_one_asks() {
    let text = format!(
        "{OPEN}[map]\nwalkable = \"MULTIPOLYGON (((0 0, 9 0, 9 9, 0 9, 0 0)), ((20 0, 29 0, 29 9, 20 9, 20 0)))\"\n\
         [[agents]]\nplace = {{ points = [[2, 2], [4, 4], [6, 6]] }}\ngoal = {{ point = [25, 5] }}\n"
    );
    let mut simulation = Simulation::new(&Scenario::parse(&text, "apart.toml", None).unwrap()).unwrap();
    for step in 0..100 {
        simulation.step();
        assert_eq!(simulation.unreachable().len(), 3, "after step {step}");
    }
}

#[test]
fn bodies_that_are_vast_or_fly_away_hold_nobody_up() {
    let movers = [
        "radius = 1000\npath = [[0, 5000, 0]]",
        "radius = 0.5\npath = [[0, 5, 5], [10, 5, 5], [10.01, 100000, 100000]]",
    ];
    for mover in movers {
        let text = format!(
            "{OPEN}[[agents]]\nplace = {{ points = [[0, 0], [0, 2]] }}\ngoal = {{ point = [20, 0] }}\n\
             goal_radius = 2\n[[movers]]\n{mover}\n[expect]\narrived = 2\n"
        );
        solve(&Scenario::parse(&text, "vast.toml", None).unwrap());
    }
}

/// A hall with a wall across it that leaves a door at its far end.
const BAFFLE: &str = "[map]\nwalkable = \"POLYGON ((0 0, 26 0, 26 10, 0 10, 0 0))\"\n\
                      obstacles = [[[10, 0], [11, 0], [11, 9], [10, 9]]]\n";

/// One who wants to the other side of the baffle, with a link over it.
fn over_the_baffle(agent: &str) -> String {
    format!(
        "{OPEN}{BAFFLE}[[agents]]\nplace = {{ points = [[3, 2]] }}\ngoal = {{ point = [23, 2] }}\n{agent}\n\
         [[links]]\nfrom = [9.7, 2]\nto = [11.3, 2]\n[expect]\narrived = 1\nno_path = 0\n"
    )
}

#[test]
fn a_jump_is_taken_at_a_walking_pace() {
    for agent in
        ["", "preferred_speed = 0.6", "max_speed = 5", "microscale = \"none\"", "microscale = \"hybrid\""]
    {
        let report = solve(&Scenario::parse(&over_the_baffle(agent), "baffle.toml", None).unwrap());
        assert!(report.path_length_m < 20.2, "{agent}: {} m", report.path_length_m);
    }
}

#[test]
fn who_cannot_take_a_link_goes_round() {
    // Too wide to stand at its ends.
    let wide = over_the_baffle("radius = 0.4");
    let report = solve(&Scenario::parse(&wide, "wide.toml", None).unwrap());
    assert!(report.path_length_m > 24.0, "{} m", report.path_length_m);
    let on_feet = over_the_baffle("").replace("microscale", "motion = \"footsteps\"\nmicroscale");
    solve(&Scenario::parse(&on_feet, "feet.toml", None).unwrap());
}

/// Two floors with a gap between them, a link over it, and six who want to the other side.
fn over_a_gap(gap: f64, radius: f64) -> Scenario {
    let (far, end, landing) = (10.0 + gap, 20.0 + gap, 10.4 + gap);
    let text = format!(
        "{OPEN}[map]\nwalkable = \"MULTIPOLYGON (((0 0, 10 0, 10 10, 0 10, 0 0)), \
         (({far} 0, {end} 0, {end} 10, {far} 10, {far} 0)))\"\n\
         [[agents]]\ncount = 6\nradius = {radius}\nplace = {{ grid = {{ from = [2, 2], columns = 2, spacing = 1 }} }}\n\
         goal = {{ offset = [{far}, 0] }}\n[[links]]\nfrom = [9.6, 5]\nto = [{landing}, 5]\n"
    );
    Scenario::parse(&text, "gap.toml", None).unwrap()
}

#[test]
fn a_gap_is_jumped_over_one_after_another() {
    for gap in [0.2, 1.0, 3.0, 12.0] {
        let report = solve(&over_a_gap(gap, 0.25));
        assert_eq!((report.arrived, report.no_path), (6, 0), "{gap} m");
    }
    assert_eq!(solve(&over_a_gap(1.0, 0.45)).no_path, 6);
}

/// What happens to others, and obstacles elsewhere, do not put an agent that is in the air on the ground.
#[test]
fn events_leave_those_alone_who_jump() {
    let text = format!(
        "{OPEN}[map]\nwalkable = \"MULTIPOLYGON (((0 0, 9 0, 9 9, 0 9, 0 0)), ((13 0, 22 0, 22 9, 13 9, 13 0)))\"\n\
         [[links]]\nfrom = [8.5, 5]\nto = [13.5, 5]\n\
         [[agents]]\nplace = {{ points = [[2, 5]] }}\ngoal = {{ point = [20, 5] }}\n\
         [[agents]]\nname = \"other\"\nplace = {{ points = [[2, 8]] }}\ngoal = {{ point = [5, 8] }}\n\
         [expect]\narrived = 2\nno_path = 0\n"
    );
    let alone = solve(&Scenario::parse(&text, "jump.toml", None).unwrap());
    for at in [5.5, 6.5, 7.5] {
        for event in [
            "retarget = { cohort = \"other\", goal = { point = [5, 8] } }",
            "add_obstacle = { name = \"post\", polygon = [[1, 1], [2, 1], [2, 2], [1, 2]] }",
        ] {
            let text = format!("{text}[[events]]\nat = {at}\n{event}\n");
            let report = solve(&Scenario::parse(&text, "jump.toml", None).unwrap());
            assert_eq!(report.simulated_s, alone.simulated_s, "{event} at {at} s");
        }
    }
}

#[test]
fn a_narrow_area_along_a_wall_is_reached() {
    for width in [0.1, 0.15, 0.25, 0.3, 0.4, 1.0] {
        let west = 40.0 - width;
        let text = format!(
            "{OPEN}[map]\nwalkable = \"POLYGON ((0 0, 40 0, 40 30, 0 30, 0 0))\"\n\
             [[agents]]\ncount = 4\nplace = {{ grid = {{ from = [3, 13], columns = 2, spacing = 1.2 }} }}\n\
             goal = {{ polygon = [[{west}, 10], [40, 10], [40, 20], [{west}, 20]] }}\n\
             [expect]\narrived = 4\nno_path = 0\n"
        );
        solve(&Scenario::parse(&text, "strip.toml", None).unwrap());
    }
}

#[test]
fn a_run_goes_on_from_the_middle_of_a_jump() {
    let scenario = over_a_gap(3.0, 0.25);
    for before in [55, 65, 75, 85] {
        goes_on(&scenario, before);
    }
}

/// Ten who come in a block, five abreast.
const BLOCK: &str =
    "[[agents]]\ncount = 10\nplace = { grid = { from = [1.5, 3.5], columns = 2, spacing = 1 } }\n";

/// Runs agents without walls, and says when the last one had arrived.
fn until_all_arrive(agents: &str) -> f64 {
    let text = format!("{OPEN}{agents}").replace("until = 40.0", "until = 60.0");
    let scenario = Scenario::parse(&text, "shared.toml", None).unwrap();
    let report = solve(&scenario);
    assert_eq!(report.arrived, report.agents, "{agents}");
    report.simulated_s
}

#[test]
fn a_goal_that_ten_share_is_reached_by_all() {
    for radius in ["", "goal_radius = 0.5\n", "goal_radius = 1.0\n"] {
        until_all_arrive(&format!("{BLOCK}goal = {{ point = [20, 6] }}\n{radius}"));
    }
}

#[test]
fn a_goal_beside_a_wall_is_reached_by_all() {
    for count in [10, 15, 20, 25] {
        let text = format!(
            "{OPEN}[map]\nwalkable = \"POLYGON ((0 0, 40 0, 40 20, 0 20, 0 0))\"\n\
             obstacles = [[[10, 8], [12, 8], [12, 12], [10, 12]]]\n\
             [[agents]]\ncount = {count}\ngoal = {{ point = [39, 10] }}\ngoal_radius = 0.5\n\
             place = {{ grid = {{ from = [1, 5], columns = 5, spacing = 1.0 }} }}\n\
             [expect]\narrived = {count}\n"
        );
        let text = text.replace("until = 40.0", "until = 150.0");
        solve(&Scenario::parse(&text, "design.toml", None).unwrap());
    }
}

#[test]
fn those_who_change_sides_for_one_place_all_get_there() {
    let there = format!("{BLOCK}goal = {{ point = [20, 6] }}\n");
    let back = BLOCK.replace("[1.5, 3.5]", "[20, 3.5]");
    until_all_arrive(&format!("{there}{back}goal = {{ point = [1, 6] }}\n"));
}

/// A metre apart there is room for every agent, so none leaves its place for the next to come.
#[test]
fn those_with_places_of_their_own_stay_there() {
    let [all, alone] = [BLOCK.to_string(), BLOCK.replace("count = 10", "count = 1")]
        .map(|block| until_all_arrive(&format!("{block}goal = {{ offset = [18, 0] }}\n")));
    assert!(all < alone + 1.0, "{all} s, alone {alone} s");
}

#[test]
fn an_area_is_reached_about_as_soon_as_places_in_it() {
    let [area, places] = ["polygon = [[20, 0], [23, 0], [23, 10], [20, 10]]", "offset = [18, 0]"]
        .map(|goal| format!("{BLOCK}goal = {{ {goal} }}\n"));
    let [area, places] = [area, places].map(|agents| until_all_arrive(&agents));
    assert!(area < places + 4.0, "{area} s and {places} s");
}

#[test]
fn moving_planes_are_taken_in_time() {
    solves("multi-domain-goals");
}

#[test]
fn a_road_is_crossed_between_fast_cars() {
    solves("multi-domain-road");
}

#[test]
fn lanes_are_chosen() {
    solves("multi-domain-lanes");
}

/// Two blocks who change sides through a number of lanes, and how many of all go through one against most.
fn against(lanes: &[[f64; 2]], columns: u32, seed: u64) -> usize {
    let walls = std::iter::once(0.0).chain(lanes.iter().flatten().copied()).chain([12.4]).collect::<Vec<_>>();
    let wall = |ends: &[f64]| {
        let (low, high) = (ends[0], ends[1]);
        format!("[[12, {low}], [28, {low}], [28, {high}], [12, {high}]],\n")
    };
    let walls: String = walls.chunks(2).map(wall).collect();
    let measure = |[low, high]: &[f64; 2]| format!("[[measure]]\nline = [[20, {low}], [20, {high}]]\n");
    let measures: String = lanes.iter().map(measure).collect();
    let block = |x: f64, goal: f64| {
        format!(
            "[[agents]]\ncount = {}\non_arrival = \"leave\"\ngoal = {{ offset = [{goal}, 0] }}\ngoal_radius = 0.8\n\
             place = {{ grid = {{ from = [{x}, 3.5], columns = {columns}, spacing = 1.3 }}, jitter = 0.2 }}\n",
            5 * columns
        )
    };
    let text = format!(
        "{OPEN}[map]\nwalkable = \"POLYGON ((0 0, 40 0, 40 12.4, 0 12.4, 0 0))\"\nobstacles = [\n{walls}]\n{}{}{measures}\
         [expect]\narrived = {}\n",
        block(2.0, 34.0),
        block(38.0 - 1.3 * f64::from(columns - 1), -34.0),
        10 * columns
    );
    let text = text.replace("until = 40.0", &format!("until = 240.0\nseed = {seed}"));
    let report = solve(&Scenario::parse(&text, "lanes.toml", None).unwrap());
    report.measures.into_values().filter_map(|figures| figures.line()).map(|line| line.against).sum()
}

/// On other maps than the scenario's, and with more agents. Half of the few would be at random.
#[test]
fn lanes_carry_one_direction_each_on_any_map() {
    let two = [[3.0, 4.6], [7.4, 9.0]];
    let three = [[2.8, 4.4], [5.2, 6.8], [7.6, 9.2]];
    let four = [[2.8, 4.4], [4.8, 6.0], [6.4, 7.6], [8.0, 9.6]];
    for (lanes, columns) in [(&two[..], 2), (&three[..], 2), (&four[..], 3)] {
        let sum: usize = (1..=5).map(|seed| against(lanes, columns, seed)).sum();
        let share = sum as f64 / f64::from(5 * 10 * columns);
        assert!(share < 0.1, "{} lanes, {columns} columns: {share}", lanes.len());
    }
}

#[test]
fn a_hundred_cross_from_four_sides() {
    solves("multi-domain-four-way");
}

fn hash_after(mut simulation: Simulation, steps: usize) -> u64 {
    (0..steps).for_each(|_| simulation.step());
    simulation.state_hash()
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for name in ["multi-domain-lanes", "multi-domain-road"] {
        let scenario = open(name, 1);
        let hash = |threads| hash_after(Simulation::with_threads(&scenario, threads).unwrap(), 120);
        let alone = hash(1);
        assert_eq!([hash(2), hash(8)], [alone; 2], "{name}");
    }
}

#[test]
fn a_run_goes_on_from_the_middle_of_plans() {
    for (name, before) in
        [("multi-domain-lanes", 37), ("multi-domain-change", 61), ("multi-domain-oncoming", 83)]
    {
        goes_on(&open(name, 1), before);
    }
}

/// Saves a run after some steps, and holds how it goes on against how the saved one does.
fn goes_on(scenario: &Scenario, before: usize) {
    let mut simulation = Simulation::with_threads(scenario, 1).unwrap();
    (0..before).for_each(|_| simulation.step());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.throng");
    Checkpoint::of(&simulation, Metrics::default(), None).unwrap().save(&path).unwrap();
    // To explain an agent changes nothing.
    simulation.explain(0);
    let resumed = Checkpoint::load(&path).unwrap().resume(2).unwrap();
    assert_eq!(hash_after(resumed, 60), hash_after(simulation, 60), "{}, {before} steps", scenario.name);
}
