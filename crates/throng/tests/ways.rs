//! Sources, exits, stages and journeys.

use throng::Simulation;
use throng::checkpoint::Checkpoint;
use throng::crowd::{Agent, Crowd, Destination};
use throng::metrics::Metrics;
use throng::scenario::Scenario;

const HALL: &str = "format = 1\nuntil = 200\n[pipeline]\nmacroscale = 'navmesh'\n[map]\n\
    walkable = 'POLYGON ((0 0, 20 0, 20 10, 0 10, 0 0))'\n\
    [[exits]]\nname = 'west'\narea = [[0, 4], [1, 4], [1, 6], [0, 6]]\n\
    [[exits]]\nname = 'east'\narea = [[19, 4], [20, 4], [20, 6], [19, 6]]\n";

fn people(count: usize, goal: &str) -> String {
    format!(
        "[[agents]]\ncount = {count}\nradius = 0.2\nplace = {{ polygon = [[2, 1], [9, 1], [9, 9], [2, 9]] }}\n{goal}\n"
    )
}

fn simulation(text: &str) -> Simulation {
    let scenario = Scenario::parse(text, "ways.toml", None).unwrap_or_else(|error| panic!("{error}"));
    Simulation::with_threads(&scenario, 1).unwrap()
}

fn run(text: &str) -> Simulation {
    let mut simulation = simulation(text);
    while !simulation.is_done() {
        simulation.step();
    }
    simulation
}

fn left(simulation: &Simulation) -> [usize; 2] {
    let exits = simulation.exits();
    [exits["west"], exits["east"]]
}

#[track_caller]
fn complains(text: &str, parts: &[&str]) {
    let error = Scenario::parse(text, "ways.toml", None).expect_err("accepted").to_string();
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in:\n{error}");
    }
}

#[test]
fn people_leave_by_the_exit_that_they_choose() {
    let nearest = run(&(HALL.to_owned() + &people(12, "goal = { exits = ['west', 'east'] }")));
    assert_eq!((left(&nearest), nearest.arrived()), ([12, 0], 12));
    assert!(nearest.is_empty(), "at an exit everyone leaves");
    let assigned = run(&(HALL.to_owned() + &people(6, "goal = { exit = 'east' }")));
    assert_eq!(left(&assigned), [0, 6]);
    let share = "goal = { exits = ['west', 'east'], choose = 'share', share = [0.25, 0.75] }";
    let [west, east] = left(&run(&(HALL.to_owned() + &people(40, share))));
    assert!(west + east == 40 && (4..=16).contains(&west), "{west} {east}");
}

/// It used to stand on the edge for ever, neither outside nor inside.
#[test]
fn who_walks_along_the_edge_of_an_exit_gets_out() {
    let text = "[[agents]]\nplace = { points = [[15, 6], [16, 4]] }\ngoal = { exit = 'east' }\n";
    for preset in ["pedestrian", "game", "paper"] {
        assert_eq!(left(&run(&format!("preset = '{preset}'\n{HALL}{text}"))), [0, 2], "{preset}");
    }
}

#[test]
fn a_closed_exit_is_given_up_for_another() {
    let close = "[[events]]\nat = 1\nclose_exit = 'west'\n";
    let one = run(&(HALL.to_owned() + &people(8, "goal = { exits = ['west', 'east'] }") + close));
    assert_eq!(left(&one), [0, 8]);
    let open = "[[events]]\nat = 30\nopen_exit = 'west'\n";
    let wait = run(&(HALL.to_owned() + &people(3, "goal = { exit = 'west' }") + close + open));
    assert_eq!(left(&wait), [3, 0]);
    assert!(wait.time() > 30.0 && wait.time() < 32.0, "{}", wait.time());
}

#[test]
fn a_long_line_makes_another_exit_quicker() {
    let narrow = HALL.replace("area = [[0, 4]", "capacity = 0.5\nmax_flow = 0.5\narea = [[0, 4]");
    let quickest = run(&(narrow + &people(40, "goal = { exits = ['west', 'east'], choose = 'quickest' }")));
    let [west, east] = left(&quickest);
    assert!(west + east == 40 && east > 15 && west > 3, "{west} {east}");
}

#[test]
fn a_familiar_exit_is_worth_a_detour() {
    let goal = |keys: &str| format!("goal = {{ exits = ['west', 'east'], {keys} }}");
    let exits = |keys: &str| left(&run(&(HALL.to_owned() + &people(12, &goal(keys)))));
    // The nearest of them has 2 m to the west, the furthest 9; to the east it is 10 to 17.
    assert_eq!(exits("familiar = ['west', 'east']"), [12, 0]);
    assert_eq!(exits("familiar = ['east'], unfamiliar = 20"), [0, 12]);
    let [west, east] = exits("familiar = ['east']");
    assert!(west > 0 && east > 0 && west + east == 12, "{west} {east}");
}

#[test]
fn people_go_by_what_others_do() {
    let others = "[[agents]]\nname = 'others'\nradius = 0.2\nplace = { points = [[10, 8], [11, 8], [12, 8]] }\n\
        goal = { exit = 'east' }\npreferred_speed = 0.5\n";
    let goal = |follow: f64| format!("start = 1\ngoal = {{ exits = ['west', 'east'], follow = {follow} }}");
    let exits = |follow: f64| left(&run(&(HALL.to_owned() + others + &people(6, &goal(follow)))));
    assert_eq!(exits(0.0), [6, 3]);
    assert_eq!(exits(1.0), [0, 9], "all who have set off go to the east");
    // Where nobody else is, there is nobody to follow.
    assert_eq!(left(&run(&(HALL.to_owned() + &people(1, &goal(1.0))))), [1, 0]);
}

#[test]
fn who_is_not_let_out_yet_waits_in_front_of_the_exit() {
    let capped = HALL.replace(
        "area = [[0, 4], [1, 4], [1, 6], [0, 6]]",
        "area = [[0, 4.5], [0.2, 4.5], [0.2, 5.5], [0, 5.5]]",
    );
    let capped = format!(
        "preset = 'pedestrian'\n{}",
        capped.replace("name = 'west'", "name = 'west'\nmax_flow = 0.5")
    );
    let mut simulation = simulation(&(capped + &people(20, "goal = { exit = 'west' }")));
    let mut deepest: f32 = 0.0;
    while !simulation.is_done() {
        simulation.step();
        deepest = deepest.max(simulation.overlaps().deepest);
    }
    assert_eq!(left(&simulation), [20, 0]);
    assert!(simulation.time() > 19.0 / 0.5, "{}", simulation.time());
    assert!(deepest < 0.02, "{deepest}");
}

#[test]
fn an_exit_lets_out_no_more_than_its_flow() {
    let capped = HALL.replace("name = 'west'", "name = 'west'\nmax_flow = 1.33");
    let mut simulation = simulation(&(capped + &people(30, "goal = { exit = 'west' }")));
    while !simulation.is_done() {
        simulation.step();
    }
    let mut times: Vec<f32> = simulation.departed().iter().map(|gone| gone.arrival).collect();
    times.sort_by(f32::total_cmp);
    assert_eq!(times.len(), 30);
    let flow = 29.0 / (times[29] - times[0]);
    assert!(flow <= 1.34 && flow > 1.2, "{flow}");
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] > 0.64));
}

const SOURCE: &str =
    "[[sources]]\nname = 'street'\narea = [[15, 1], [18, 1], [18, 4], [15, 4]]\nradius = 0.2\n";

#[test]
fn people_of_a_source_come_and_go() {
    let regular = format!("{HALL}{SOURCE}rate = 2\ncount = 20\nfrom = 3\ngoal = {{ exit = 'east' }}\n");
    let mut regular = simulation(&regular);
    let mut came = Vec::new();
    while !regular.is_done() {
        regular.step();
        came.push((regular.time(), regular.agents()));
    }
    assert_eq!((regular.agents(), left(&regular), regular.to_come()), (20, [0, 20], 0));
    assert!(came.iter().all(|&(time, agents)| time > 3.0 || agents == 0));
    let half = came.iter().find(|(_, agents)| *agents == 10).unwrap().0;
    assert!((half - 7.6).abs() < 0.2, "{half}");

    let random =
        format!("{HALL}{SOURCE}rate = 1\nspacing = 'random'\nuntil = 60\ngoal = {{ exit = 'east' }}\n");
    let random = run(&random);
    assert!((35..=85).contains(&random.agents()) && random.arrived() == random.agents());

    let listed = format!(
        "{HALL}[[sources]]\narrivals = [[1, 5, 5], [2, 5, 5], [2, 9, 9]]\npreferred_speed = [1, 1.2, 1.4]\n\
         velocity = [1, 0]\ngoal = {{ offset = [4, 0] }}\non_arrival = 'leave'\n"
    );
    assert_eq!(run(&listed).arrived(), 3);
}

#[test]
fn who_finds_no_room_waits_outside() {
    let text = format!("{HALL}{SOURCE}times = {:?}\nstart = 20\ngoal = {{ exit = 'east' }}\n", [0.0; 60]);
    let mut simulation = simulation(&text);
    (0..50).for_each(|_| simulation.step());
    let outside = simulation.waiting_outside();
    assert!(outside > 5 && outside + simulation.agents() == 60, "{outside}");
    assert_eq!(simulation.overlaps().collisions, 0);
    while !simulation.is_done() {
        simulation.step();
    }
    assert_eq!((simulation.arrived(), simulation.waiting_outside()), (60, 0));
}

const STAGES: &str = "[[stages]]\nname = 'kiosk'\nwaypoint = { point = [10, 8], distance = 1 }\n\
    [[stages]]\nname = 'a'\nqueue = { places = [[12, 1], [12, 1.8], [12, 2.6], [12, 3.4], [12, 4.2]], service = 2 }\n\
    [[stages]]\nname = 'b'\nqueue = { places = [[15, 1], [15, 1.8], [15, 2.6], [15, 3.4], [15, 4.2]], service = 2 }\n\
    [[stages]]\nname = 'lounge'\nwaiting = { area = [[13, 6], [18, 6], [18, 9], [13, 9]], until = 60 }\n\
    [[journeys]]\nname = 'trip'\n\
    stages = ['kiosk', { shortest_queue = ['a', 'b'] }, 'lounge', { exits = ['west', 'east'] }]\n";

#[test]
fn journeys_lead_through_lines_and_waiting_areas() {
    let mut trip = simulation(&(HALL.to_owned() + STAGES + &people(8, "journey = 'trip'")));
    while trip.time() < 59.0 {
        trip.step();
    }
    assert_eq!(trip.arrived(), 0);
    let waiting = trip.agents();
    assert_eq!(waiting, 8);
    for agent in trip.columns().x.iter().zip(&trip.columns().y) {
        let at = trip.columns().origin + glam::DVec2::new((*agent.0).into(), (*agent.1).into());
        assert!(at.x > 12.5 && at.y > 5.5, "all wait in the lounge, and someone is at {at}");
    }
    while !trip.is_done() {
        trip.step();
    }
    assert_eq!(left(&trip), [0, 8]);
}

#[test]
fn a_line_serves_one_after_the_other() {
    let line = "[[stages]]\nname = 'a'\nqueue = { places = [[15, 5], [14.2, 5], [13.4, 5], [12.6, 5], [11.8, 5]], service = 3 }\n\
        [[journeys]]\nname = 'trip'\nstages = ['a', 'east']\n";
    let trip = run(&(HALL.to_owned() + line + &people(5, "journey = 'trip'")));
    let mut times: Vec<f32> = trip.departed().iter().map(|gone| gone.arrival).collect();
    times.sort_by(f32::total_cmp);
    assert!(times.len() == 5 && times.windows(2).all(|pair| pair[1] - pair[0] > 2.4), "{times:?}");
}

#[test]
fn a_resumed_run_is_the_same_bit_by_bit() {
    let source = format!("{SOURCE}rate = 1\nspacing = 'random'\ncount = 15\njourney = 'trip'\n");
    let quick = "[[sources]]\narea = [[10, 1], [12, 1], [12, 3]]\nrate = 2\ncount = 40\n\
        goal = { exits = ['west', 'east'], choose = 'quickest' }\n";
    let source = source + quick;
    let goal = "goal = { exits = ['west', 'east'], choose = 'quickest' }";
    let close = "[[events]]\nat = 14\nclose_exit = 'west'\n";
    let text = HALL.replace("name = 'west'", "name = 'west'\nmax_flow = 1")
        + STAGES
        + &people(15, goal)
        + &source
        + close;
    let (mut whole, mut first) = (simulation(&text), simulation(&text));
    (0..123).for_each(|_| first.step());
    let file = tempfile::NamedTempFile::new().unwrap();
    Checkpoint::of(&first, Metrics::default(), None).unwrap().save(file.path()).unwrap();
    let mut second = Checkpoint::load(file.path()).unwrap().resume(2).unwrap();
    assert_eq!(second.state_hash(), first.state_hash());
    (0..700).for_each(|_| whole.step());
    (123..700).for_each(|_| second.step());
    assert_eq!(second.state_hash(), whole.state_hash());
    assert_eq!((second.exits(), second.arrived()), (whole.exits(), whole.arrived()));
}

#[test]
fn a_programs_crowd_has_destinations_too() {
    let mut crowd = Crowd::builder().build().unwrap();
    let door =
        crowd.add_destination(Destination::exit(&[[5.0, 0.0], [6.0, 0.0], [6.0, 2.0], [5.0, 2.0]])).unwrap();
    let spot = crowd.add_destination(Destination::points()).unwrap();
    let walker = crowd.spawn(Agent::at([0.0, 1.0])).unwrap();
    assert!(crowd.send(walker, spot, None).is_err(), "without a point");
    crowd.log_edits(true);
    let before = crowd.save().unwrap();
    crowd.send(walker, spot, Some([2.0, 1.0].into())).unwrap();
    (0..40).for_each(|_| crowd.step());
    assert!(crowd.position(walker).unwrap().x < 2.3, "it stands until it is sent on");
    crowd.send(walker, door, None).unwrap();
    (0..60).for_each(|_| crowd.step());
    assert!(!crowd.contains(walker));
    let mut again = Crowd::load(&before).unwrap();
    again.replay(&crowd.take_log(), crowd.steps()).unwrap();
    assert_eq!(again.state_hash(), crowd.state_hash());
}

#[test]
fn mistakes_are_named() {
    let with = |text: &str| HALL.to_owned() + text;
    complains(
        &with(&people(1, "goal = { exit = 'weast' }")),
        &["agents[0].goal.exit", "no exit `weast`", "did you mean"],
    );
    complains(&with(&people(1, "journey = 'x'")), &["agents[0].journey", "no journey `x`"]);
    complains(
        &with(&people(1, "goal = { exits = ['west', 'east'], choose = 'share', share = [1] }")),
        &["goal.share: lists 1 shares for 2 exits"],
    );
    let goal = |keys: &str| with(&people(1, &format!("goal = {{ exits = ['west', 'east'], {keys} }}")));
    complains(&goal("familiar = ['wset']"), &["goal.familiar[0]", "`wset`", "known: west, east"]);
    complains(&goal("unfamiliar = 2"), &["goal.unfamiliar = 2", "belongs to `familiar`"]);
    complains(&goal("familiar = ['west'], unfamiliar = 0.5"), &["goal.unfamiliar = 0.5 must be"]);
    complains(&goal("follow = 1.5"), &["goal.follow = 1.5 must be"]);
    complains(
        &goal("choose = 'share', share = [1, 1], follow = 1"),
        &["goal.follow", "does nothing where chance decides"],
    );
    complains(
        &with(&people(1, "goal = { exit = 'west', familiar = ['west'] }")),
        &["goal.familiar", "one exit leaves no choice"],
    );
    complains(
        &with(&people(1, "goal = { point = [1, 1], follow = 1 }")),
        &["goal.follow", "belongs to `exits`"],
    );
    complains(
        &with("[[journeys]]\nname = 'j'\nstages = [{ share = { s = 1 }, follow = 1 }, 'east']\n"),
        &["journeys[0].stages[0].follow", "at the end of a journey"],
    );
    complains(
        &with("[[journeys]]\nname = 'j'\nstages = ['west', 'east']\n"),
        &["journeys[0].stages[0]", "is an exit"],
    );
    complains(
        &with("[[journeys]]\nname = 'j'\nstages = ['here']\n"),
        &["journeys[0].stages[0]", "no exit `here`"],
    );
    complains(&with("[[stages]]\nname = 's'\n"), &["stages[0]", "exactly one of waypoint, queue, waiting"]);
    complains(
        &with("[[stages]]\nname = 's'\nqueue = { places = [[50, 50]], service = 1 }\n"),
        &["stages[0].queue.places[0]", "outside the walkable area"],
    );
    complains(
        &with(&format!("{SOURCE}goal = {{ exit = 'east' }}\n")),
        &["sources[0]", "exactly one of rate, times, arrivals"],
    );
    complains(
        &with(&format!("{SOURCE}times = [1, 2]\nstart = [1]\ngoal = {{ exit = 'east' }}\n")),
        &["sources[0].start: lists 1 numbers for 2 agents"],
    );
    complains(
        &with(&format!("{SOURCE}rate = -1\ngoal = {{ exit = 'east' }}\n")),
        &["sources[0].rate = -1 must be > 0"],
    );
    complains(&with("[[events]]\nat = 1\nclose_exit = 'no'\n"), &["events[0].close_exit", "no exit `no`"]);
    let far = HALL.replace("area = [[0, 4], [1, 4], [1, 6], [0, 6]]", "area = [[30, 4], [31, 4], [31, 6]]");
    complains(&far, &["exits[0].area", "no part of exit `west` is free"]);
}
