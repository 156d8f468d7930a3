//! Groups in whole runs: with every other model, on any number of threads, without zig-zag, and together.

use glam::DVec2;
use throng::catalog::{self, Stage};
use throng::checkpoint::Checkpoint;
use throng::metrics::Metrics;
use throng::scenario::Overrides;
use throng::{Crowd, Scenario, Simulation, builtin};
use throng_mesoscale::groups::Detour;

fn simulate(text: &str, changes: &Overrides, threads: usize) -> Simulation {
    let scenario = Scenario::parse_with(text, "groups.toml", None, changes).expect("a sound scenario");
    Simulation::with_threads(&scenario, threads).expect("a simulation")
}

fn run(simulation: &mut Simulation) {
    while !simulation.is_done() {
        simulation.step();
    }
}

/// Where the members of a cohort are.
fn places(simulation: &Simulation, cohort: u16) -> Vec<DVec2> {
    let frame = simulation.frame();
    (0..frame.len()).filter(|&row| frame.cohort[row] == cohort).map(|row| frame.position(row)).collect()
}

/// One who walks against a group of nine, past an obstacle.
const SMALL: &str = "format = 1\nuntil = 90\n[pipeline]\nmesoscale = ['groups']\n\
    [map]\nobstacles = [[[-1, 5], [1, 5], [1, 7], [-1, 7]]]\n\
    [[agents]]\nname = 'one'\nplace = { points = [[-9, 0.2]] }\ngoal = { point = [9, 0] }\n\
    [[agents]]\nname = 'group'\ncount = 9\nplace = { grid = { from = [7, -1], columns = 3, spacing = 1.0 } }\n\
    goal = { offset = [-16, 0] }\n";

#[test]
fn groups_combine_with_every_macroscale_and_microscale() {
    for macroscale in catalog::names(Stage::Macroscale) {
        for microscale in catalog::names(Stage::Microscale) {
            let changes = Overrides {
                macroscale: Some(macroscale.into()),
                microscale: Some(microscale.into()),
                ..Overrides::default()
            };
            let from = |y: f64| {
                let text = SMALL.replace("[-9, 0.2]", &format!("[-9, {y}]"));
                let mut simulation = simulate(&text, &changes, 1);
                run(&mut simulation);
                assert_eq!(simulation.arrived(), 10, "{macroscale}, {microscale}, from {y}");
                simulation.path_lengths().1["one"]
            };
            // A hair more to one side, and it passes the nine on the other: what holds is the mean.
            let walked = [-0.2, 0.0, 0.2].map(from);
            // Routes around crowds are a detour of their own.
            let most = if macroscale == "dynamic-navmesh" { 1.2 } else { 1.1 };
            let mean = walked.iter().sum::<f64>() / 3.0;
            assert!(mean < most * 18.0, "{macroscale}, {microscale}: {walked:.2?} m");
        }
    }
}

#[test]
fn every_thread_count_gives_the_same_bits() {
    for name in ["meso-b", "meso-c"] {
        let text = builtin::find(name).unwrap().text;
        let hash = |threads| {
            let mut simulation = simulate(text, &Overrides::default(), threads);
            (0..150).for_each(|_| simulation.step());
            simulation.state_hash()
        };
        assert_eq!(hash(1), hash(2), "{name}");
        assert_eq!(hash(1), hash(3), "{name}");
    }
}

/// Scenario A: the individual chooses a side and keeps to it.
#[test]
fn nobody_zig_zags_around_a_group() {
    for seed in 1..=5 {
        let changes = Overrides { seed: Some(seed), ..Overrides::default() };
        let mut simulation = simulate(builtin::find("meso-a").unwrap().text, &changes, 1);
        let (mut sides, mut furthest) = (Vec::new(), 0f64);
        while !simulation.is_done() {
            simulation.step();
            let individual = Crowd::agents(&simulation).find(|agent| agent.number() == 0).unwrap();
            let Detour { side, .. } = *individual.remembered("groups").unwrap();
            if side != 0.0 && sides.last() != Some(&side) {
                sides.push(side);
            }
            furthest = furthest.max(places(&simulation, 0)[0].y.abs());
        }
        assert_eq!(sides.len(), 1, "seed {seed}: {sides:?}");
        assert!(furthest > 3.0 && furthest < 6.0, "seed {seed}: {furthest} m beside the line");
    }
}

#[test]
fn an_agent_tells_which_groups_it_perceives() {
    let mut simulation = simulate(SMALL, &Overrides::default(), 1);
    (0..30).for_each(|_| simulation.step());
    let explained = simulation.explain(0).unwrap();
    assert_eq!(explained.groups.len(), 1);
    assert_eq!(explained.groups[0].members, (1..10).collect::<Vec<u32>>());
    assert!(explained.adapted.distance(explained.preferred) > 0.05, "{explained:?}");
    assert!(explained.groups[0].cone.is_some());
}

/// Two blocks that walk together and a stream that does not, around walls that come, with goals that change.
const BUSY: &str = "format = 1\nuntil = 60\nseed = 3\n[pipeline]\nmesoscale = ['groups']\n\
    [map]\nobstacles = [[[-1, 5], [1, 5], [1, 7], [-1, 7]]]\n\
    [[agents]]\nname = 'east'\ncount = 12\ntogether = true\ngoal = { offset = [26, 0] }\n\
    place = { grid = { from = [-14, -1], columns = 4, spacing = 1.0 }, jitter = 0.05 }\n\
    [[agents]]\nname = 'west'\ncount = 12\ntogether = true\ngoal = { offset = [-26, 0] }\n\
    params.groups = { attention = 0.5 }\n\
    place = { grid = { from = [10, -1], columns = 4, spacing = 1.0 }, jitter = 0.05 }\n\
    [[agents]]\nname = 'stream'\ncount = 200\ngoal = { offset = [0, -30] }\n\
    place = { grid = { from = [-7, 10], columns = 14, spacing = 1.1 }, jitter = 0.1 }\n\
    [[events]]\nat = 4.25\nadd_obstacle = { name = 'box', polygon = [[-4, -6], [-2, -6], [-2, -4], [-4, -4]] }\n\
    [[events]]\nat = 7.15\nretarget = { cohort = 'east', goal = { point = [0, -12] } }\n\
    [[events]]\nat = 9\nremove_obstacle = 'box'\n";

#[test]
fn threads_and_checkpoints_change_nothing_with_events_and_mates() {
    let run = |threads: usize, breaks: &[u64]| {
        let mut simulation = simulate(BUSY, &Overrides::default(), threads);
        (0..180)
            .map(|step| {
                if breaks.contains(&step) {
                    simulation = Checkpoint::of(&simulation, Metrics::default(), None)
                        .unwrap()
                        .resume(threads)
                        .unwrap();
                }
                simulation.step();
                simulation.state_hash()
            })
            .collect::<Vec<u64>>()
    };
    let straight = run(1, &[]);
    assert!(straight == run(2, &[]), "two threads");
    assert!(straight == run(3, &[33, 47, 72, 95]), "three threads and four breaks");
}

/// A turn that was made for the way to one goal was applied to the way to the next.
#[test]
fn another_goal_ends_a_detour() {
    let text = format!(
        "{BUSY}[[events]]\nat = 5.05\nretarget = {{ cohort = 'west', goal = {{ point = [20, 0] }} }}\n"
    );
    let mut simulation = simulate(&text, &Overrides::default(), 1);
    let detours = |simulation: &Simulation| {
        let west = Crowd::agents(simulation).filter(|agent| agent.cohort().0 == 1);
        west.filter(|agent| agent.remembered::<Detour>("groups").unwrap().turn != glam::Vec2::X).count()
    };
    (0..51).for_each(|_| simulation.step());
    assert!(detours(&simulation) > 0);
    simulation.step();
    assert_eq!(detours(&simulation), 0);
}

/// Mates look from their common middle, and that is what they tell.
#[test]
fn mates_tell_what_they_perceive_together() {
    let mut simulation = simulate(BUSY, &Overrides::default(), 1);
    (0..45).for_each(|_| simulation.step());
    let first = simulation.explain(0).unwrap();
    let others = first.groups.iter().find(|group| group.members == (12..24).collect::<Vec<u32>>());
    let cone = others.expect("the block that comes").cone.as_ref().expect("in front");
    for mate in 1..12 {
        let explained = simulation.explain(mate).unwrap();
        assert_eq!(format!("{:?}", explained.groups), format!("{:?}", first.groups), "mate {mate}");
    }
    // It is grown by a whole group, and wider than it would be for one of them alone.
    assert!(cone.left.y > 0.2 && cone.right.y < -0.2, "{cone:?}");
    assert!(first.adapted.distance(first.preferred) > 0.05);
}

/// Two groups walk against each other; how far the members of either get from their middle, but for one in twenty, whom the
/// others may drag along for a while, and on how many sides of the other's middle the first one's pass.
fn meeting(columns: usize, lines: usize, together: bool, shift: f64, seed: u64) -> (f64, usize) {
    let count = columns * lines;
    let (half, start) = ((lines as f64 - 1.0) / 2.0, 12.0 + columns as f64);
    let group = |name: &str, x: f64, offset: f64, shift: f64| {
        format!(
            "[[agents]]\nname = '{name}'\ncount = {count}\ntogether = {together}\n\
             place = {{ grid = {{ from = [{x}, {}], columns = {columns}, spacing = 1.0 }}, jitter = 0.05 }}\n\
             goal = {{ offset = [{offset}, 0] }}\n",
            shift - half
        )
    };
    let (from, to) = (-start, start - columns as f64 + 1.0);
    let text = format!(
        "format = 1\nuntil = 150\n[pipeline]\nmesoscale = ['groups']\n{}{}",
        group("east", from, 2.0 * start, shift),
        group("west", to, -2.0 * start, 0.0),
    );
    let mut simulation = simulate(&text, &Overrides { seed: Some(seed), ..Overrides::default() }, 1);
    let (mut widest, mut sides) = (0f64, [false; 2]);
    while !simulation.is_done() {
        simulation.step();
        let both = [0, 1].map(|cohort| places(&simulation, cohort));
        let [middle, other] = both.each_ref().map(|all| all.iter().sum::<DVec2>() / all.len() as f64);
        for (all, middle) in both.iter().zip([middle, other]) {
            let mut distances: Vec<f64> = all.iter().map(|place| place.distance(middle)).collect();
            distances.sort_by(f64::total_cmp);
            widest = widest.max(distances[count - 1 - count / 20]);
        }
        if (middle.x - other.x).abs() < 0.5 {
            both[0].iter().for_each(|place| sides[usize::from(place.y < other.y)] = true);
        }
    }
    assert_eq!(simulation.arrived(), 2 * count, "{columns} by {lines}, together: {together}");
    (widest, sides.into_iter().filter(|&side| side).count())
}

#[test]
fn those_who_walk_together_pass_another_group_as_one() {
    // A pair, a family, a block of 49: straight at each other, and a little beside.
    for (columns, lines) in [(1, 2), (2, 2), (7, 7)] {
        let at_first = DVec2::new(columns as f64 - 1.0, lines as f64 - 1.0).length() / 2.0;
        for shift in [0.0, 0.15] {
            for seed in 0..10 {
                let (widest, sides) = meeting(columns, lines, true, shift, seed);
                let what = format!("{columns} by {lines}, shift {shift}, seed {seed}");
                assert_eq!(sides, 1, "{what}: all pass on one side");
                assert!(widest < 1.3 * at_first + 1.0, "{what}: {widest} m from {at_first} m");
            }
        }
    }
}

#[test]
fn those_who_do_not_walk_together_are_driven_apart() {
    let (apart, sides) = meeting(7, 7, false, 0.15, 0);
    assert!(apart > 8.0 && sides == 2, "{apart} m");
}

/// NIST 2.9: four at 1.25 m/s and one at 0.5 m/s.
const MIXED: &str = "format = 1\nuntil = 120\n[[agents]]\nradius = 0.2\ntogether = true\n\
    preferred_speed = [1.25, 1.25, 1.25, 1.25, 0.5]\n\
    place = { points = [[0, 0], [0, 1], [0, 2], [1, 0.5], [1, 1.5]] }\ngoal = { offset = [30, 0] }\n";

#[test]
fn the_fast_wait_for_the_slow_who_are_not_hurried() {
    for preset in ["game", "pedestrian", "paper"] {
        for pipeline in ["mesoscale = ['groups']", "microscale = 'hybrid'"] {
            let text = format!("preset = '{preset}'\n{MIXED}[pipeline]\n{pipeline}\n");
            let mut simulation = simulate(&text, &Overrides::default(), 1);
            let (mut fastest, mut furthest) = (0.0f32, 0.0f64);
            while !simulation.is_done() && simulation.arrived() == 0 {
                simulation.step();
                let columns = simulation.columns();
                for (row, &speed) in columns.preferred_speed.iter().enumerate() {
                    fastest = fastest.max(columns.vx[row].hypot(columns.vy[row]) / speed);
                }
                let places = places(&simulation, 0);
                let (low, high) = places
                    .iter()
                    .fold((f64::MAX, f64::MIN), |(low, high), place| (low.min(place.x), high.max(place.x)));
                furthest = furthest.max(high - low);
            }
            assert!(fastest < 1.05, "{preset}, {pipeline}: someone walks at {fastest} of its speed");
            assert!(furthest < 5.0, "{preset}, {pipeline}: {furthest} m from the first to the last");
            let first = simulation.time();
            run(&mut simulation);
            let between = simulation.time() - first;
            assert!(simulation.arrived() == 5 && between < 10.0, "{preset}, {pipeline}: {between} s");
        }
    }
}
