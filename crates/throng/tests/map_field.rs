//! The map field in whole runs: the paper's congestion and evacuation, events, checkpoints and threads.

use glam::DVec2;
use std::collections::BTreeMap;
use std::path::Path;
use throng::checkpoint::Checkpoint;
use throng::metrics::Metrics;
use throng::scenario::Overrides;
use throng::{Scenario, Simulation, builtin};
use throng_core::geom::segments_meet;
use throng_macroscale::Guide;

fn parse(text: &str) -> Scenario {
    Scenario::parse(text, "field.toml", None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn scenario(body: &str) -> Scenario {
    parse(&format!(
        "format = 1\nuntil = 200\n[pipeline]\nmacroscale = \"map-field\"\nmicroscale = \"orca\"\n{body}"
    ))
}

fn simulate(body: &str) -> Simulation {
    Simulation::with_threads(&scenario(body), 1).unwrap()
}

/// A scenario of the papers with changes to its text.
fn changed(name: &str, changes: &[(&str, &str)]) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/papers");
    let mut text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{name} has no `{from}`");
        text = text.replace(from, to);
    }
    parse(&text)
}

/// Mean time from start to arrival and the number of arrivals, by cohort. An agent that has not arrived counts with the end.
fn travel(simulation: &Simulation, end: f64) -> BTreeMap<u16, (f64, usize)> {
    let world = simulation.world();
    let mut sums: BTreeMap<u16, (f64, usize, usize)> = BTreeMap::new();
    let mut add = |cohort: u16, arrival: f32, start: f32| {
        let sum = sums.entry(cohort).or_default();
        sum.0 += if arrival >= 0.0 { f64::from(arrival - start) } else { end };
        sum.1 += usize::from(arrival >= 0.0);
        sum.2 += 1;
    };
    simulation.departed().iter().for_each(|gone| add(gone.cohort, gone.arrival, gone.start));
    let agents = &world.agents;
    (0..agents.len()).for_each(|row| add(agents.cohort[row], agents.arrival[row], agents.start[row]));
    sums.into_iter().map(|(cohort, (sum, arrived, count))| (cohort, (sum / count as f64, arrived))).collect()
}

struct Congestion {
    went_round: usize,
    mean: f64,
    arrived: usize,
}

/// Runs figure 4; those who pass above the block go round.
fn congestion(changes: &[(&str, &str)]) -> Congestion {
    let scenario = changed("hybrid-congestion", changes);
    let mut simulation = Simulation::with_threads(&scenario, 2).unwrap();
    let mut above = vec![false; simulation.agents()];
    while !simulation.is_done() {
        simulation.step();
        let frame = simulation.frame();
        for row in 0..frame.len() {
            let place = frame.position(row);
            above[frame.id[row] as usize] |= place.y > 28.0 && (20.0..40.0).contains(&place.x);
        }
    }
    let travel = travel(&simulation, 240.0);
    let walkers = [travel[&1], travel[&2]];
    Congestion {
        went_round: above.iter().filter(|&&above| above).count(),
        mean: walkers.iter().map(|(mean, _)| mean).sum::<f64>() / 2.0,
        arrived: walkers.iter().map(|(_, arrived)| arrived).sum(),
    }
}

/// Figure 4: of mixed preferences about half go round, and all are there sooner than if every agent surges ahead.
#[test]
fn those_who_mind_crowds_go_round_and_all_are_there_sooner() {
    let mixed = congestion(&[]);
    let surge = congestion(&[("congestion = 2.0", "congestion = 0.0")]);
    println!(
        "mixed: {} of 48 go round, {:.1} s, {} arrived; all-shortest: {}, {:.1} s, {}",
        mixed.went_round, mixed.mean, mixed.arrived, surge.went_round, surge.mean, surge.arrived
    );
    assert_eq!((mixed.arrived, surge.arrived), (48, 48));
    assert_eq!(surge.went_round, 0);
    assert!((20..=24).contains(&mixed.went_round), "{} go round", mixed.went_round);
    assert!(mixed.mean < surge.mean, "{} s and {} s", mixed.mean, surge.mean);
}

/// Evacuation: those who follow leave at most 1.5 times later, and with no agent to follow they do worse.
#[test]
fn those_who_follow_leave_hardly_later_and_with_nobody_to_follow_they_do_worse() {
    let run = |changes: &[(&str, &str)]| {
        let scenario = changed("hybrid-evacuation", changes);
        let mut simulation = Simulation::with_threads(&scenario, 2).unwrap();
        while !simulation.is_done() {
            simulation.step();
        }
        travel(&simulation, 900.0)
    };
    let led = run(&[]);
    let lost = run(&[("name = \"staff\"", "name = \"staff\"\nparams.map-field = { knows = false }")]);
    println!("led: {led:.1?}; nobody knows: {lost:.1?}");
    let ((staff, _), (visitors, left)) = (led[&0], led[&1]);
    assert_eq!(left, 90);
    assert!(visitors <= 1.5 * staff, "visitors {visitors} s, staff {staff} s");
    assert!(lost[&1].0 > 1.2 * visitors, "{} s with nobody to follow, {visitors} s with staff", lost[&1].0);
}

/// A hall with walls, doors and a pillar, every agent in it: knowing, wary and naive, thin and broad.
const BUSY: &str = "[map]\nwalkable = \"POLYGON ((0 0, 40 0, 40 24, 0 24, 0 0), (30 10, 33 10, 33 14, 30 14, 30 10))\"\n\
    obstacles = [[[12, 4], [13, 4], [13, 24], [12, 24]], [[18, 0], [24, 0], [24, 9], [21, 12], [18, 9]]]\n\
    walls = [[[17, 14], [26, 14], [26, 20]]]\nterrain = [{ polygon = [[26, 2], [34, 2], [34, 8], [26, 8]], cost = 3 }]\n\
    [[agents]]\nname = \"thin\"\ncount = 40\nradius = 0.2\n\
    place = { grid = { from = [2, 12], columns = 8, spacing = 1 }, jitter = 0.1 }\n\
    goal = { point = [37, 12] }\ngoal_radius = 1.5\non_arrival = \"leave\"\nparams.map-field = { congestion = 3, attention = 0.7 }\n\
    [[agents]]\nname = \"broad\"\ncount = 20\nradius = { uniform = [0.25, 0.4] }\n\
    place = { grid = { from = [2, 18], columns = 8, spacing = 1.1 } }\n\
    goal = { polygon = [[28, 20], [32, 20], [32, 23], [28, 23]] }\non_arrival = \"leave\"\n\
    [[agents]]\nname = \"naive\"\ncount = 20\nradius = 0.22\n\
    place = { grid = { from = [2, 2], columns = 8, spacing = 1 } }\n\
    goal = { point = [36, 13] }\ngoal_radius = 1.5\non_arrival = \"leave\"\nparams.map-field = { knows = false }\n";

const EVENTS: &str = "[[events]]\nat = 4\nadd_obstacle = { name = \"bar\", polygon = [[12, 2], [13, 2], [13, 4], [12, 4]] }\n\
     [[events]]\nat = 9\nretarget = { cohort = \"broad\", goal = { polygon = [[2, 2], [5, 2], [5, 5], [2, 5]] } }\n\
     [[events]]\nat = 12\nremove_obstacle = \"bar\"\n";

/// Position of every agent, by id.
fn places(simulation: &Simulation) -> Vec<Option<DVec2>> {
    let frame = simulation.frame();
    let mut places = vec![None; simulation.agents()];
    (0..frame.len()).for_each(|row| places[frame.id[row] as usize] = Some(frame.position(row)));
    places
}

#[test]
fn a_crowd_finds_its_way_around_everything_and_crosses_no_wall() {
    let mut simulation = simulate(BUSY);
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
    assert!(simulation.arrived() >= 78, "{} after {} s", simulation.arrived(), simulation.world().time());
}

#[test]
fn threads_and_checkpoints_change_nothing() {
    let scenario = scenario(&format!("{BUSY}{EVENTS}"));
    let mut whole = Simulation::with_threads(&scenario, 1).unwrap();
    let mut others = [2, 3].map(|threads| Simulation::with_threads(&scenario, threads).unwrap());
    for step in 0..200 {
        whole.step();
        for (index, other) in others.iter_mut().enumerate() {
            // Also right before and right after the events.
            if step % 37 == 20 + index || [39, 40, 41, 89, 90, 91, 120].contains(&step) {
                *other =
                    Checkpoint::of(other, Metrics::default(), None).unwrap().resume(1 + step % 3).unwrap();
            }
            other.step();
            assert_eq!(whole.state_hash(), other.state_hash(), "step {step}");
        }
        // A look changes nothing.
        if step % 10 == 3 {
            let _ = (others[0].explain(step as u32 % 80), others[1].unreachable());
        }
    }
}

fn length(route: &[[f64; 2]]) -> f64 {
    route.windows(2).map(|pair| DVec2::from(pair[0]).distance(pair[1].into())).sum()
}

#[test]
fn an_obstacle_on_the_way_and_a_new_goal_change_the_route() {
    let mut simulation = simulate(
        "[map]\nwalkable = \"POLYGON ((1000 0, 1020 0, 1020 20, 1000 20, 1000 0))\"\n\
         obstacles = [[[1009, 2], [1011, 2], [1011, 16], [1009, 16]]]\n\
         [[agents]]\nname = \"one\"\nplace = { points = [[1002, 2]] }\ngoal = { point = [1018, 2] }\nradius = 0.3\n\
         [[events]]\nat = 1\nadd_obstacle = { name = \"gate\", polygon = [[1009, 0], [1011, 0], [1011, 3], [1009, 3]] }\n\
         [[events]]\nat = 3\nremove_obstacle = \"gate\"\n\
         [[events]]\nat = 5\nretarget = { cohort = \"one\", goal = { point = [1018, 18] } }\n",
    );
    let mut way_at = |time: f64, goal: [f64; 2]| {
        while simulation.world().time() < time {
            simulation.step();
        }
        let explained = simulation.explain(0).unwrap();
        let route = explained.route.unwrap();
        assert_eq!((route[0], route.last()), (explained.position, Some(&goal)));
        assert_eq!(explained.guide, Guide::Stops);
        length(&route)
    };
    let (open, closed, again) =
        (way_at(0.5, [1018.0, 2.0]), way_at(2.0, [1018.0, 2.0]), way_at(4.0, [1018.0, 2.0]));
    assert!(open < 18.0 && closed > 29.0 && again < 18.0, "{open} m, {closed} m, {again} m");
    assert!(way_at(5.5, [1018.0, 18.0]) > 18.0);
    while !simulation.is_done() {
        simulation.step();
    }
    assert_eq!(simulation.arrived(), 1);
}

#[test]
fn an_agent_that_cannot_reach_its_goal_stands_still_and_says_so() {
    let mut simulation = simulate(
        "[map]\nwalkable = \"POLYGON ((0 0, 20 0, 20 10, 0 10, 0 0))\"\n\
         obstacles = [[[9, -1], [10, -1], [10, 11], [9, 11]]]\n\
         [[agents]]\nplace = { points = [[4, 5]] }\ngoal = { point = [15, 5] }\n",
    );
    (0..30).for_each(|_| simulation.step());
    let explained = simulation.explain(0).unwrap();
    assert_eq!((explained.position, explained.route, explained.guide), ([4.0, 5.0], None, Guide::Nothing));
    assert!(explained.no_path && simulation.unreachable().len() == 1);
}

#[test]
fn the_naive_say_whom_they_follow() {
    let mut simulation = simulate(
        "[map]\nwalls = [[[10, -20], [10, 5]]]\n\
         [[agents]]\nname = \"knows\"\nplace = { points = [[4, 0]] }\ngoal = { point = [18, -3] }\n\
         [[agents]]\nname = \"follows\"\nplace = { points = [[1, 0]] }\ngoal = { point = [18, -5] }\n\
         params.map-field = { knows = false }\n\
         [[agents]]\nname = \"alone\"\nplace = { points = [[-80, 0]] }\ngoal = { point = [18, -7] }\n\
         params.map-field = { knows = false }\n",
    );
    simulation.step();
    let explained: Vec<_> = (0..3).map(|id| simulation.explain(id).unwrap()).collect();
    assert_eq!(
        (explained[0].guide, explained[1].guide, explained[2].guide),
        (Guide::Stops, Guide::Leader, Guide::Chance)
    );
    assert_eq!((explained[1].leader, explained[2].leader), (Some(0), None));
    while !simulation.is_done() && simulation.arrived() < 2 {
        simulation.step();
    }
    assert!(simulation.world().time() < 60.0, "{} s", simulation.world().time());
}

#[test]
fn terrain_is_checked_and_written_down() {
    let text = |terrain: &str| {
        format!(
            "format = 1\n[map]\nterrain = [{terrain}]\n[[agents]]\nplace = {{ points = [[0, 0]] }}\ngoal = {{ point = [9, 0] }}\n"
        )
    };
    let ring = "polygon = [[1, 1], [3, 1], [3, 3]]";
    for (terrain, complaint) in [
        (format!("{{ {ring}, cost = 0.5 }}"), "map.terrain[0].cost = 0.5 must be >= 1 and <= 1000"),
        (format!("{{ {ring}, cost = nan }}"), "must be a finite number"),
        (format!("{{ {ring} }}"), "cost"),
        (format!("{{ {ring}, cost = 2, name = 3 }}"), "name"),
        ("{ polygon = [[1, 1], [3, 1]], cost = 2 }".into(), "map.terrain[0].polygon"),
        ("{ polygon = [[1, 1], [3, 1], [3, 1e12]], cost = 2 }".into(), "must not lie beyond"),
    ] {
        let error = Scenario::parse(&text(&terrain), "mud.toml", None).unwrap_err().to_string();
        assert!(error.contains(complaint), "{terrain}: {error}");
    }
    let scenario = parse(&text(&format!("{{ {ring}, cost = 2 }}")));
    assert_eq!(scenario.map.terrain[0].1, 2.0);
    let again = Scenario::parse(&scenario.source, "again.json", None).unwrap();
    assert_eq!(again.map, scenario.map);
}

#[test]
fn odd_input_breaks_nothing() {
    for body in [
        // Nothing in the way.
        "[[agents]]\nplace = { points = [[0, 0]] }\ngoal = { point = [9, 0] }\nparams.map-field = { congestion = 5 }\n",
        // Far away.
        "[map]\nobstacles = [[[3, -2], [5, -2], [5, 2], [3, 2]]]\n[[agents]]\nplace = { points = [[0, 0], [1000000, 3]] }\n\
         goal = { points = [[9, 0], [-1000000, 0]] }\nparams.map-field = { congestion = 5, knows = false }\n",
        // Huge.
        "[map]\nwalkable = \"POLYGON ((-1e6 -1e6, 1e6 -1e6, 1e6 1e6, -1e6 1e6, -1e6 -1e6))\"\nwalls = [[[0, -9e5], [0, 9e5]]]\n\
         terrain = [{ polygon = [[-9e5, 0], [9e5, 1], [2, 8e5]], cost = 7 }]\n\
         [[agents]]\nplace = { points = [[-5, 0], [-5e5, 3]] }\ngoal = { points = [[5, 0], [8e5, 0]] }\n",
        // Tiny cells, large bodies.
        "[params.map-field]\ncell = 0.25\nattention = 0\n[map]\nobstacles = [[[3, -2], [5, -2], [5, 2], [3, 2]]]\n\
         [[agents]]\nradius = 1.5\nplace = { points = [[0, 0]] }\ngoal = { point = [9, 0] }\nparams.map-field = { congestion = 1 }\n",
    ] {
        let mut simulation = simulate(body);
        (0..50).for_each(|_| simulation.step());
        assert_eq!(simulation.put_aside(), 0, "{body}");
        assert!(simulation.explain(0).is_some());
    }
}

#[test]
fn scenarios_of_the_paper_hold_what_they_expect_at_other_seeds() {
    for seed in [2, 3] {
        let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
        let scenario = builtin::find("hybrid-evacuation").unwrap().open_with(&overrides).unwrap();
        let mut simulation = Simulation::with_threads(&scenario, 2).unwrap();
        while !simulation.is_done() {
            simulation.step();
        }
        assert!(simulation.arrived() >= 118, "seed {seed}: {}", simulation.arrived());
    }
}

/// Those who have left count too: grids are made for all radii there have ever been.
#[test]
fn who_has_left_is_missed_by_no_resumed_run() {
    let scenario = Scenario::parse(
        r#"
format = 1
seed = 3
[pipeline]
macroscale = "map-field"
[map]
obstacles = [[[8, -20], [10, -20], [10, 20], [8, 20]], [[14, -3], [15, -3], [15, 60], [14, 60]]]
[[agents]]
count = 30
radius = { uniform = [0.15, 0.2] }
place = { grid = { from = [-20, 0], columns = 6, spacing = 1.0 } }
goal = { point = [-10, 2] }
goal_radius = 4
on_arrival = "leave"
[[agents]]
count = 40
radius = { uniform = [0.19, 0.45] }
start = 30
place = { grid = { from = [0, -4], columns = 5, spacing = 1.2 } }
goal = { point = [25, 2] }
goal_radius = 2
"#,
        "radii.toml",
        None,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let mut whole = Simulation::with_threads(&scenario, 1).unwrap();
    (0..250).for_each(|_| whole.step());
    let mut resumed = Checkpoint::of(&whole, Metrics::default(), None).unwrap().resume(1).unwrap();
    for _ in 0..350 {
        whole.step();
        resumed.step();
    }
    assert_eq!(resumed.state_hash(), whole.state_hash());
}

/// Two lanes beside one another between two halls, twenty who want from one hall to the other, and what is in their way.
fn lanes(planner: &str, model: &str, width: f64, others: &str) -> Simulation {
    let (top, middle) = (2.0 * width + 0.2, width / 2.0);
    Simulation::with_threads(
        &parse(&format!(
            "format = 1\nuntil = 240\n[pipeline]\nmacroscale = \"{planner}\"\nmicroscale = \"{model}\"\n\
             [map]\nwalkable = \"POLYGON ((0 0, 40 0, 40 {top}, 0 {top}, 0 0))\"\n\
             obstacles = [[[10, {width}], [30, {width}], [30, {above}], [10, {above}]]]\n\
             [[agents]]\ncount = 20\nplace = {{ polygon = [[1, 0.5], [6, 0.5], [6, {end}], [1, {end}]] }}\n\
             goal = {{ point = [38, {middle}] }}\ngoal_radius = 1\non_arrival = \"leave\"\n\
             {others}\n",
            above = width + 0.2,
            end = top - 0.5,
        )),
        2,
    )
    .unwrap()
}

/// It was walked up to, and nobody arrived: the map field looked at the map alone.
#[test]
fn what_fills_one_of_two_lanes_sends_everybody_through_the_other() {
    for (planner, model, width) in [
        ("map-field", "hybrid", 1.6),
        ("map-field", "orca", 2.0),
        ("dynamic-navmesh", "hybrid", 2.0),
        ("dynamic-navmesh", "orca", 1.6),
    ] {
        let middle = width / 2.0;
        let cart = |path: &str| format!("[[movers]]\nradius = 0.6\npath = {path}");
        let standing = format!(
            "[[agents]]\nradius = {}\nplace = {{ points = [[20, {middle}]] }}\ngoal = {{ offset = [0, 0] }}",
            width / 2.0 - 0.1
        );
        let turns: Vec<String> =
            (0..18).map(|turn| format!("[{}, {}, {middle}]", turn * 15, 11 + turn % 2 * 18)).collect();
        let parked = cart(&format!("[[0, 20, {middle}]]"));
        for others in [parked, cart(&format!("[{}]", turns.join(", "))), standing] {
            let mut simulation = lanes(planner, model, width, &others);
            while !simulation.is_done() {
                simulation.step();
                let frame = simulation.frame();
                let in_lane = |at: DVec2| at.y < width && (12.0..28.0).contains(&at.x);
                let walkers = (0..frame.len()).filter(|&row| frame.id[row] < 20);
                assert!(!walkers.map(|row| frame.position(row)).any(in_lane), "{planner}, {model}, {others}");
            }
            assert_eq!(simulation.arrived(), simulation.agents(), "{planner}, {model}, {others}");
        }
    }
}

/// Where there is no other way they wait behind the cart, and go on when it has gone.
#[test]
fn a_cart_in_the_only_way_is_waited_for() {
    let mut simulation = simulate(
        "[map]\nwalkable = \"POLYGON ((0 0, 30 0, 30 1.6, 0 1.6, 0 0))\"\n\
         [[agents]]\ncount = 3\nplace = { grid = { from = [1, 0.8], columns = 3, spacing = 1 } }\n\
         goal = { point = [20, 0.8] }\ngoal_radius = 1\non_arrival = \"leave\"\n\
         [[movers]]\nradius = 0.6\npath = [[0, 12, 0.8], [30, 12, 0.8], [40, 29, 0.8]]\n",
    );
    while !simulation.is_done() {
        simulation.step();
    }
    assert_eq!(simulation.arrived(), 3);
}
