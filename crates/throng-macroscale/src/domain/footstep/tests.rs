use super::*;
use crate::domain::occupancy::Trajectory;
use crate::search::{Aim, Astar, Blind, Budget, Reversed, Settings, Status};
use crate::tunnel::{Guided, Line, Tunnel, Width};
use proptest::prelude::*;
use throng_core::space::Wall;

const LEGS: Legs =
    Legs { length: 0.9, width: 0.18, longest: 0.9, period: 0.5, foot_length: 0.26, foot_width: 0.1 };
const WALKER: Walker =
    Walker { preferred: 1.34, max_speed: 1.8, per_second: 2.23, per_change_squared: 0.5, tick: 0.1 };

/// What a test plans in.
struct Place {
    gaps: Gaps,
    clearance: Clearance,
    published: Occupancy,
}

impl Place {
    fn new(gaps: Vec<Vec<DVec2>>, walls: &[Wall], bodies: Vec<Trajectory>) -> Place {
        let clearance = Clearance::new(walls, 0.25);
        Place { gaps: Gaps::new(gaps), clearance, published: Occupancy::new(bodies) }
    }

    fn open() -> Place {
        Place::new(Vec::new(), &[], Vec::new())
    }

    fn surroundings(&self) -> Surroundings<'_> {
        let exceptions = Exceptions::default();
        let (gaps, clearance, published) = (&self.gaps, &self.clearance, &self.published);
        Surroundings { legs: &LEGS, gaps, clearance, published, own: None, exceptions }
    }
}

fn standing(at: DVec2, along: DVec2) -> Start {
    Start::standing(0.0, at, &Gait::standing(&LEGS, at, along, 0.0))
}

fn rectangle(low: [f64; 2], high: [f64; 2]) -> Vec<DVec2> {
    [[low[0], low[1]], [high[0], low[1]], high, [low[0], high[1]]].map(DVec2::from).to_vec()
}

/// A plan from standing at zero to a goal, as the planner looks for it.
fn plan(place: &Place, goal: DVec2, horizon: f64) -> Option<(Replayed, u64)> {
    let left = |at: DVec2| (at.distance(goal) - 0.3).max(0.0);
    let errand = Errand { goal, radius: 0.3, leaves: false, horizon, rest_until: 20.0, left: &left };
    let domain = Footstepping::new(place.surroundings(), WALKER, standing(DVec2::ZERO, DVec2::X), errand);
    let line = Line::timed([DVec2::ZERO, goal], 0.0, WALKER.preferred);
    let tunnel = Tunnel { line, width: Width { space: 2.5, time: 20.0 }, goal_radius: 0.3 };
    let settings = Settings { inflation: 2.0, ..Settings::default() };
    let mut search = Guided::new(settings, Aim::Ends, &[domain.root()], tunnel);
    let mut left = 4000;
    while left > 0
        && matches!(search.improve(&Reversed(&domain), Budget::expansions(left)), Status::OutOfBudget { .. })
    {
        left = 4000_u64.saturating_sub(search.effort().expansions);
    }
    let mut states = Vec::new();
    search.path(&Reversed(&domain), &mut states)?;
    let replayed = domain.replay(&states)?;
    for (state, at) in states.iter().zip(places(&replayed, &states, &domain)) {
        assert!(domain.at(*state).distance(at) < 0.002, "{state:?} {at}");
    }
    Some((replayed, search.effort().expansions))
}

fn places(replayed: &Replayed, states: &[Stride], domain: &Footstepping<'_>) -> Vec<DVec2> {
    let at = |state: &Stride| {
        let time = domain.seconds(state.time);
        let after = replayed.path.partition_point(|point| point.0 < time - 1e-6);
        replayed.path[after.min(replayed.path.len() - 1)].1
    };
    states.iter().map(at).collect()
}

/// Steps follow from one another, are within reach, on ground, and end standing.
fn check(replayed: &Replayed, place: &Place) {
    let mut gait = Gait::standing(&LEGS, replayed.path[0].1, DVec2::X, 0.0);
    let mut before: Option<Footstep> = None;
    for step in &replayed.steps {
        if let Some(before) = before.filter(|before| before.close.is_none()) {
            assert!((step.begin - before.end).abs() < 1e-9 && step.support == before.support.other());
            assert!(step.velocity.distance(before.leaves) < 1e-12);
            assert!(step.from.distance(before.at(&LEGS, before.end).0) < 1e-12);
        } else {
            assert!(step.plant.is_none() && LEGS.hold(&gait.feet, step.pivot), "{step:?}");
        }
        if let Some(plant) = step.plant {
            assert!(LEGS.reach(&plant, gait.foot(plant.side.other())), "{plant:?}");
            assert!(plant.at == step.pivot && plant.side == step.support);
        }
        for foot in step.plant.iter().chain(&step.close) {
            assert!(LEGS.has_ground(foot, &place.gaps, 0.0), "{foot:?}");
        }
        let (_, end) = LEGS.pendulum().after(step.pivot, step.from, step.velocity, step.end - step.begin);
        assert!(end.distance(step.leaves) < 1e-9);
        gait.take(*step);
        gait.finish(step.end);
        before = Some(*step);
    }
    assert!(before.is_none_or(|last| last.close.is_some() && last.leaves == DVec2::ZERO));
    assert!(replayed.path.windows(2).all(|pair| pair[1].0 > pair[0].0));
}

#[test]
fn about_thirty_five_steps_are_tried_from_each_state() {
    let (place, left) = (Place::open(), |_: DVec2| 1.0);
    let goal = DVec2::new(9.0, 0.0);
    let errand = Errand { goal, radius: 0.3, leaves: false, horizon: 8.0, rest_until: 20.0, left: &left };
    let domain = Footstepping::new(place.surroundings(), WALKER, standing(DVec2::ZERO, DVec2::X), errand);
    let mut state = domain.root();
    let mut made = Vec::new();
    for _ in 0..4 {
        let from = (state.heading, state.speed);
        let next = if state.speed == 0 { Side::Right } else { state.support.other() };
        let actions = domain.actions(state);
        let tried = actions
            .iter()
            .filter(|&&action| domain.made(domain.velocity(state), from, next, action).is_some());
        let tried = tried.count();
        assert!((25..=45).contains(&tried), "{tried} from {state:?}");
        let mut edges = Vec::new();
        domain.successors(state, &mut edges);
        made.push(edges.len());
        state = edges.iter().map(|edge| edge.0).max_by_key(|next| (next.speed, next.x)).unwrap();
    }
    assert!(made.iter().all(|&edges| edges >= 8), "{made:?}");
}

#[test]
fn one_walks_straight_on_and_stands_at_the_goal() {
    let place = Place::open();
    let (replayed, expansions) = plan(&place, DVec2::new(6.0, 0.0), 20.0).unwrap();
    check(&replayed, &place);
    let &(time, end) = replayed.path.last().unwrap();
    assert!(end.distance(DVec2::new(6.0, 0.0)) <= 0.301 && time < 8.0, "{end} at {time}");
    assert!(expansions < 400, "{expansions}");
    let first = replayed.steps.iter().find_map(|step| step.plant).unwrap();
    assert_eq!(first.side, Side::Left);
}

#[test]
fn stones_too_small_for_a_body_are_walked_over() {
    let mut gaps = vec![rectangle([2.0, -20.0], [5.0, -0.3]), rectangle([2.0, 0.3], [5.0, 20.0])];
    // Stones of 0.4 m, 0.25 m apart.
    gaps.extend(
        (0..5).map(|stone| 2.0 + 0.65 * f64::from(stone)).map(|x| rectangle([x, -0.3], [x + 0.25, 0.3])),
    );
    let place = Place::new(gaps, &[], Vec::new());
    let (replayed, expansions) = plan(&place, DVec2::new(8.0, 0.0), 20.0).unwrap();
    check(&replayed, &place);
    assert!(expansions < 1000, "{expansions}");
    assert!(replayed.path.last().unwrap().1.x > 7.6);
    // Without stones no agent gets across, and whatever is planned ends before it.
    let place = Place::new(vec![rectangle([2.0, -50.0], [5.0, 50.0])], &[], Vec::new());
    if let Some((replayed, _)) = plan(&place, DVec2::new(8.0, 0.0), 6.0) {
        check(&replayed, &place);
        assert!(replayed.path.iter().all(|point| point.1.x < 2.5));
    }
    // For the next two seconds there is always a plan: to come nearer, and to stand.
    let (replayed, _) = plan(&place, DVec2::new(8.0, 0.0), 2.0).unwrap();
    check(&replayed, &place);
    assert!(replayed.path.last().unwrap().1.x < 0.8);
}

#[test]
fn one_lets_somebody_by_and_keeps_off_walls() {
    let crossing = Trajectory {
        radius: 0.25,
        path: vec![(0.0, DVec2::new(3.0, -4.0)), (6.0, DVec2::new(3.0, 4.0))],
        stays: true,
    };
    let wall = |y: f32| Wall { a: [-5.0, y].into(), b: [20.0, y].into(), two_sided: true };
    let place = Place::new(Vec::new(), &[wall(0.35), wall(-0.35)], vec![crossing.clone()]);
    let (replayed, _) = plan(&place, DVec2::new(7.0, 0.0), 20.0).unwrap();
    check(&replayed, &place);
    for pair in replayed.path.windows(2) {
        let ((begin, from), (end, to)) = (pair[0], pair[1]);
        assert!(crossing.nearest(&Passage { from, to, begin, end }) >= 0.5);
        assert!(to.y.abs() <= 0.1 + 1e-3, "{to}");
    }
}

/// A state after some steps on open ground.
fn wander(domain: &Footstepping<'_>, choices: &[u16]) -> Vec<Stride> {
    let mut states = vec![domain.root()];
    let mut edges = Vec::new();
    for &choice in choices {
        edges.clear();
        domain.successors(states[states.len() - 1], &mut edges);
        if edges.is_empty() {
            break;
        }
        states.push(edges[choice as usize % edges.len()].0);
    }
    states
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn steps_are_the_same_there_and_back(choices in prop::collection::vec(any::<u16>(), 1..8), turn in 0..16_u8) {
        let (place, left) = (Place::open(), |at: DVec2| at.distance(DVec2::new(9.0, 0.0)));
        let errand = Errand {
            goal: DVec2::new(9.0, 0.0), radius: 0.3, leaves: false, horizon: 2.0, rest_until: 20.0, left: &left,
        };
        let start = standing(DVec2::new(1.0, 2.0), direction(turn));
        let domain = Footstepping::new(place.surroundings(), WALKER, start, errand);
        let states = wander(&domain, &choices);
        for pair in states.windows(2) {
            let (mut there, mut back) = (Vec::new(), Vec::new());
            domain.successors(pair[0], &mut there);
            domain.predecessors(pair[1], &mut back);
            let cost = there.iter().find(|edge| edge.0 == pair[1]).unwrap().1;
            prop_assert!(back.contains(&(pair[0], cost)), "{pair:?}");
            for (before, cost) in back {
                there.clear();
                domain.successors(before, &mut there);
                prop_assert!(there.contains(&(pair[1], cost)), "{before:?} {:?}", pair[1]);
            }
        }
        prop_assert!(domain.replay(&states).is_some());
    }

    #[test]
    fn no_step_is_cheaper_than_the_heuristic_says(choices in prop::collection::vec(any::<u16>(), 1..9)) {
        let goal = DVec2::new(4.0, 1.0);
        let (place, left) = (Place::open(), |at: DVec2| (at.distance(goal) - 0.3).max(0.0));
        let errand = Errand { goal, radius: 0.3, leaves: false, horizon: 3.0, rest_until: 20.0, left: &left };
        let domain = Footstepping::new(place.surroundings(), WALKER, standing(DVec2::ZERO, DVec2::X), errand);
        for &state in &wander(&domain, &choices) {
            let mut edges = Vec::new();
            domain.successors(state, &mut edges);
            for (next, cost) in edges {
                prop_assert!(domain.to_end(state) <= cost + domain.to_end(next) + 1e-4, "{state:?} {next:?}");
                prop_assert!(domain.heuristic(state, next) <= cost + 1e-5);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn the_heuristic_is_never_above_the_true_cost(x in 0.2..0.75_f64, y in -0.3..0.3_f64, turn in 0..16_u8) {
        let goal = DVec2::new(x, y);
        let (place, left) = (Place::open(), |at: DVec2| (at.distance(goal) - 0.2).max(0.0));
        let errand = Errand { goal, radius: 0.2, leaves: true, horizon: 90.0, rest_until: 20.0, left: &left };
        let domain = Footstepping::new(place.surroundings(), WALKER, standing(DVec2::ZERO, direction(turn)), errand);
        let mut search = Astar::default();
        let status = search.find(&Blind(&domain), domain.root(), Aim::Ends, Budget::expansions(200_000));
        prop_assume!(status == Status::Optimal);
        let cost = search.cost().unwrap();
        prop_assert!(domain.to_end(domain.root()) <= cost, "{} above {cost}", domain.to_end(domain.root()));
        let mut guided = Astar::default();
        guided.find(&domain, domain.root(), Aim::Ends, Budget::expansions(200_000));
        prop_assert!((guided.cost().unwrap() - cost).abs() < 1e-3);
    }
}
