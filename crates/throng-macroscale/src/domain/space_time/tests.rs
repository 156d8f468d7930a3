use super::*;
use crate::search::{Aim, AnytimeDynamicAstar, Astar, Budget, Reversed, Settings, Status};
use glam::Vec2;
use proptest::prelude::*;
use throng_core::space::Wall;

fn wall(a: [f32; 2], b: [f32; 2]) -> Wall {
    Wall { a: a.into(), b: b.into(), two_sided: true }
}

fn goal(x: f64, y: f64) -> Goal {
    Goal { at: DVec2::new(x, y), radius: 0.5, window: (0.0, 100.0) }
}

fn moves(radius: f64, path: &[(f64, [f64; 2])]) -> Trajectory {
    Trajectory { radius, path: path.iter().map(|&(time, at)| (time, at.into())).collect(), stays: true }
}

fn domain<'a>(clearance: &'a Clearance, published: &'a Occupancy, goal: Goal) -> SpaceTime<'a> {
    let around = Surroundings { clearance, published, own: None };
    SpaceTime::new(Walk::default(), around, (0.0, DVec2::ZERO), goal).unwrap()
}

/// The trajectory of the plan from a standing start, if there is one.
fn plan(domain: &SpaceTime<'_>, budget: u64) -> Option<(Vec<(f64, DVec2)>, f32)> {
    let start = domain.moment(0.0, DVec2::ZERO, DVec2::ZERO);
    let mut search = AnytimeDynamicAstar::new(Settings::default(), Aim::Ends, &[start]);
    search.improve(&Reversed(domain), Budget::expansions(budget));
    let (mut states, mut points) = (Vec::new(), Vec::new());
    let cost = search.path(&Reversed(domain), &mut states)?;
    assert!(states[0] == start && domain.is_end(states[states.len() - 1]));
    domain.trajectory(&states, &mut points);
    Some((points, cost))
}

/// How near a trajectory comes to a body, sampled: written without the planner's own geometry.
fn nearest(points: &[(f64, DVec2)], body: &Trajectory) -> f64 {
    let gap = |pair: &[(f64, DVec2)], share: f64| {
        let time = pair[0].0 + (pair[1].0 - pair[0].0) * share;
        let here = pair[0].1 + (pair[1].1 - pair[0].1) * share;
        body.place(time).map_or(f64::INFINITY, |there| here.distance(there))
    };
    let gaps = points.windows(2).flat_map(|pair| (0..=50).map(move |i| gap(pair, f64::from(i) / 50.0)));
    gaps.fold(f64::INFINITY, f64::min)
}

#[test]
fn a_node_is_small() {
    assert_eq!(size_of::<Moment>(), 8);
}

#[test]
fn alone_it_walks_straight_at_the_cheapest_speed() {
    let (clearance, published) = (Clearance::new(&[], 0.25), Occupancy::default());
    let (points, cost) = plan(&domain(&clearance, &published, goal(20.0, 0.0)), 10_000).unwrap();
    let (end, at) = points[points.len() - 1];
    assert!((12.0..=18.0).contains(&end), "{end} s");
    assert!(at.distance(DVec2::new(20.0, 0.0)) <= 0.5);
    assert!(cost < 1.1 * 3.36 * 20.0, "{cost}");
}

#[test]
fn who_crosses_the_way_is_let_by() {
    let clearance = Clearance::new(&[wall([-2.0, 0.6], [30.0, 0.6]), wall([-2.0, -0.6], [30.0, -0.6])], 0.25);
    // Fills the corridor, and comes at the moment at which one would be there.
    let bus = moves(1.5, &[(0.0, [10.0, -12.0]), (16.0, [10.0, 12.0])]);
    let published = Occupancy::new([bus.clone()]);
    let (points, _) = plan(&domain(&clearance, &published, goal(20.0, 0.0)), 20_000).unwrap();
    assert!(nearest(&points, &bus) >= 1.75);
    assert!(points.iter().all(|point| point.1.y.abs() <= 0.35 + 1e-9));
}

#[test]
fn a_window_is_met_and_a_missed_one_has_no_plan() {
    let (clearance, published) = (Clearance::new(&[], 0.25), Occupancy::default());
    let window = |from, to| Goal { window: (from, to), ..goal(20.0, 0.0) };
    let (points, _) = plan(&domain(&clearance, &published, window(39.0, 41.0)), 50_000).unwrap();
    assert!((39.0..=41.0).contains(&points[points.len() - 1].0));
    assert_eq!(plan(&domain(&clearance, &published, window(0.0, 8.0)), 50_000), None);
}

#[test]
fn a_jump_leads_over_a_gap_and_is_dear() {
    // Two rooms, and nothing but a jump between them.
    let ring = |x: f32| {
        let corners = [[x, -3.0], [x + 6.0, -3.0], [x + 6.0, 3.0], [x, 3.0]].map(Vec2::from);
        (0..4).map(move |i| Wall { a: corners[i], b: corners[(i + 1) % 4], two_sided: false })
    };
    let walls: Vec<Wall> = ring(-3.0).chain(ring(4.5)).collect();
    let (clearance, published) = (Clearance::new(&walls, 0.25), Occupancy::default());
    let without = domain(&clearance, &published, goal(8.0, 0.0));
    assert_eq!(plan(&without, 20_000), None);
    let jump = Jump { from: DVec2::new(2.2, 0.0), to: DVec2::new(5.2, 0.0), cost: 8.0, reach: 0.4 };
    let with = domain(&clearance, &published, goal(8.0, 0.0)).with_jumps(&[jump]);
    let (points, cost) = plan(&with, 20_000).unwrap();
    assert!(cost > 8.0 + 3.3 * 7.0 && points.windows(2).any(|pair| pair[1].1.x - pair[0].1.x > 2.5));
    // To land on another agent is no path.
    let occupied = Occupancy::new([Trajectory::standing(0.8, DVec2::new(5.2, 0.0))]);
    let with = domain(&clearance, &occupied, goal(8.0, 0.0)).with_jumps(&[jump]);
    assert_eq!(plan(&with, 20_000), None);
}

#[test]
fn whom_it_cannot_see_it_does_not_avoid() {
    let clearance = Clearance::new(&[], 0.25);
    let blind = Fovea { angle: 1.0, reach: 20.0, near: 0.0 };
    let behind = moves(0.5, &[(0.0, [-8.0, 0.0]), (12.0, [28.0, 0.0])]);
    let published = Occupancy::new([behind.clone()]);
    let sees = |fovea| domain(&clearance, &published, goal(20.0, 0.0)).with_fovea(fovea);
    let gap = |fovea| nearest(&plan(&sees(fovea), 50_000).unwrap().0, &behind);
    assert!(gap(Some(blind)) < 0.75);
    assert!(gap(None) >= 0.75);
}

#[test]
fn bad_numbers_get_an_error() {
    let (clearance, published) = (Clearance::new(&[], 0.25), Occupancy::default());
    let around = Surroundings { clearance: &clearance, published: &published, own: None };
    let make = |walk, goal| SpaceTime::new(walk, around, (0.0, DVec2::ZERO), goal).map(|_| ());
    let slow = Walk { step: 0.0, ..Walk::default() };
    assert!(matches!(make(slow, goal(1.0, 0.0)), Err(SpaceTimeError::Number { name: "step", .. })));
    let many = Walk { speed_step: 0.01, ..Walk::default() };
    assert!(matches!(make(many, goal(1.0, 0.0)), Err(SpaceTimeError::Speeds { .. })));
    let never = Goal { window: (3.0, 2.0), ..goal(1.0, 0.0) };
    assert!(matches!(make(Walk::default(), never), Err(SpaceTimeError::Number { .. })));
    assert!(matches!(make(Walk::default(), goal(f64::NAN, 0.0)), Err(SpaceTimeError::Number { .. })));
}

fn moment() -> impl Strategy<Value = Moment> {
    (0..20_u16, -60..60_i16, -60..60_i16, 0..16_u8, 0..5_u8).prop_map(|(time, x, y, heading, speed)| Moment {
        time,
        x,
        y,
        heading,
        speed,
    })
}

proptest! {
    #[test]
    fn steps_are_the_same_there_and_back_and_the_heuristic_is_consistent(
        moment in moment(),
        to in (-6.0..6.0_f64, -6.0..6.0_f64),
        window in (0.0..20.0_f64, 0.0..10.0_f64),
    ) {
        let clearance = Clearance::new(&[wall([1.0, -2.0], [1.0, 2.0])], 0.25);
        let published = Occupancy::new([moves(0.6, &[(0.0, [-4.0, 2.0]), (20.0, [4.0, -2.0])])]);
        let goal = Goal { window: (window.0, window.0 + window.1), ..goal(to.0, to.1) };
        let jump = Jump { from: DVec2::new(0.4, 0.0), to: DVec2::new(1.9, 0.3), cost: 5.0, reach: 0.3 };
        let domain = domain(&clearance, &published, goal).with_jumps(&[jump]).backward();
        let (mut there, mut back) = (Vec::new(), Vec::new());
        domain.successors(moment, &mut there);
        let ahead = domain.heuristic(moment, Moment::THERE);
        for &(next, cost) in &there {
            back.clear();
            domain.predecessors(next, &mut back);
            prop_assert!(back.contains(&(moment, cost)), "{moment:?} to {next:?}");
            let further = domain.heuristic(next, Moment::THERE);
            prop_assert!(ahead <= cost + further + 1e-3, "{ahead} > {cost} + {further}");
        }
        back.clear();
        domain.predecessors(moment, &mut back);
        for &(before, cost) in &back {
            there.clear();
            domain.successors(before, &mut there);
            prop_assert!(there.contains(&(moment, cost)), "{before:?} to {moment:?}");
        }
    }

    #[test]
    fn a_plan_at_the_end_of_inflation_is_as_cheap_as_astar_finds(to in (2.0..5.0_f64, -2.0..2.0_f64), phase in 0.0..6.0_f64) {
        let clearance = Clearance::new(&[wall([2.0, -1.0], [2.0, 0.5])], 0.25);
        let published = Occupancy::new([moves(0.6, &[(phase, [3.0, -3.0]), (phase + 5.0, [1.0, 3.0])])]);
        let walk = Walk { lattice: 0.25, speed_step: 0.75, max_speed: 1.5, ..Walk::default() };
        let around = Surroundings { clearance: &clearance, published: &published, own: None };
        let domain = SpaceTime::new(walk, around, (0.0, DVec2::ZERO), goal(to.0, to.1)).unwrap();
        let start = domain.moment(0.0, DVec2::ZERO, DVec2::ZERO);
        let mut astar = Astar::default();
        let found = astar.find(&domain, start, Aim::Ends, Budget::unlimited());
        let mut search = AnytimeDynamicAstar::new(Settings::default(), Aim::Ends, &[start]);
        prop_assert_eq!(search.solve(&Reversed(&domain), Budget::unlimited()), found);
        prop_assert_eq!(found, Status::Optimal);
        let (best, ours) = (astar.cost().unwrap(), search.cost().unwrap());
        prop_assert!((best - ours).abs() <= 1e-4 * best, "{ours}, A* {best}");
    }
}
