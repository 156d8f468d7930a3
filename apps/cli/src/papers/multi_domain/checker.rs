//! Whether a trajectory is free of collisions, found without any of the planners' code: it is followed in small steps, and
//! at each of them the distance to everything is measured.

use super::maps::{Map, Mover, RADIUS, SIZE};
use glam::DVec2;

/// Between looks, s: no agent comes nearer by more than 0.2 mm in between.
const LOOK: f64 = 0.01;
/// Bodies may overlap by so much, m, as in the report of a run.
const ALLOWED: f64 = 1e-3;
/// As near to the goal one has arrived, m.
pub const GOAL_RADIUS: f64 = 0.5;
/// No agent is faster, m/s.
const FASTEST: f64 = 1.8;

/// What is wrong with a trajectory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// It does not begin at the start, or not at the beginning.
    Start,
    /// It does not end at the goal.
    Goal,
    /// It goes back in time, or faster than agents walk.
    Speed,
    /// It touches something that stands.
    Wall,
    /// It touches a mover.
    Mover,
}

/// The first fault of a trajectory of times and places.
pub fn fault(map: &Map, trajectory: &[(f64, DVec2)]) -> Option<Fault> {
    let (Some(first), Some(last)) = (trajectory.first(), trajectory.last()) else {
        return Some(Fault::Start);
    };
    if first.0.abs() > 1e-9 || first.1.distance(map.start) > 1e-6 {
        return Some(Fault::Start);
    }
    if last.1.distance(map.goal) > GOAL_RADIUS + 1e-6 {
        return Some(Fault::Goal);
    }
    trajectory.windows(2).find_map(|pair| {
        let ((begin, from), (end, to)) = (pair[0], pair[1]);
        let rises = end > begin || (end == begin && from == to);
        if !rises || from.distance(to) > FASTEST * (end - begin) + 1e-6 {
            return Some(Fault::Speed);
        }
        let looks = ((end - begin) / LOOK).ceil().max(1.0) as usize;
        (0..=looks).find_map(|look| {
            let share = look as f64 / looks as f64;
            touched(map, begin + (end - begin) * share, from + (to - from) * share)
        })
    })
}

fn touched(map: &Map, time: f64, at: DVec2) -> Option<Fault> {
    let least = RADIUS - ALLOWED;
    let outside = at.min_element() < least || at.max_element() > SIZE - least;
    if outside || map.blocks.iter().any(|block| is_in(block, at) || to_block(block, at) < least) {
        return Some(Fault::Wall);
    }
    let near = |mover: &Mover| position(mover, time).distance(at) < mover.radius + RADIUS - ALLOWED;
    map.movers.iter().any(near).then_some(Fault::Mover)
}

fn is_in(block: &[DVec2; 4], at: DVec2) -> bool {
    (0..4).all(|i| (block[(i + 1) % 4] - block[i]).perp_dot(at - block[i]) >= 0.0)
}

fn to_block(block: &[DVec2; 4], at: DVec2) -> f64 {
    let to_side = |i: usize| {
        let (a, b) = (block[i], block[(i + 1) % 4]);
        let share = (at - a).dot(b - a) / (b - a).dot(b - a);
        at.distance(a + (b - a) * share.clamp(0.0, 1.0))
    };
    (0..4).map(to_side).fold(f64::INFINITY, f64::min)
}

fn position(mover: &Mover, time: f64) -> DVec2 {
    let after = mover.path.iter().position(|point| point.0 > time);
    match after {
        Some(0) => mover.path[0].1,
        Some(next) => {
            let ((t0, a), (t1, b)) = (mover.path[next - 1], mover.path[next]);
            a + (b - a) * ((time - t0) / (t1 - t0))
        }
        None => mover.path[mover.path.len() - 1].1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> Map {
        let block = [[40.0, 40.0], [60.0, 40.0], [60.0, 60.0], [40.0, 60.0]].map(DVec2::from);
        let path = vec![(0.0, DVec2::new(50.0, 10.0)), (20.0, DVec2::new(50.0, 30.0))];
        let (start, goal) = (DVec2::new(30.0, 20.0), DVec2::new(70.0, 20.0));
        Map { blocks: vec![block], movers: vec![Mover { radius: 0.5, path }], start, goal }
    }

    fn walk(points: &[(f64, [f64; 2])]) -> Option<Fault> {
        let points: Vec<(f64, DVec2)> = points.iter().map(|&(time, at)| (time, at.into())).collect();
        fault(&map(), &points)
    }

    #[test]
    fn faults_are_found() {
        let (start, goal) = ([30.0, 20.0], [70.0, 20.0]);
        // In the middle after 20 s, when the mover has gone by.
        assert_eq!(walk(&[(0.0, start), (40.0, goal)]), None);
        // In the middle after 10 s, as the mover is.
        assert_eq!(walk(&[(0.0, start), (12.0, [49.0, 20.0]), (24.0, goal)]), None);
        assert_eq!(walk(&[(0.0, start), (11.2, [50.0, 20.8]), (25.0, goal)]), Some(Fault::Mover));
        assert_eq!(walk(&[(0.0, start), (18.0, [50.0, 39.8]), (38.0, goal)]), Some(Fault::Wall));
        assert_eq!(walk(&[(0.0, start), (30.0, [50.0, 50.0]), (60.0, goal)]), Some(Fault::Wall));
        assert_eq!(walk(&[(0.0, start), (10.0, goal)]), Some(Fault::Speed));
        assert_eq!(walk(&[(0.0, goal), (10.0, goal)]), Some(Fault::Start));
        assert_eq!(walk(&[(0.0, start), (10.0, start)]), Some(Fault::Goal));
        assert_eq!(walk(&[]), Some(Fault::Start));
    }
}
