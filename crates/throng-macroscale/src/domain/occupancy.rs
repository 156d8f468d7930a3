//! Where bodies will be, as far as they have said so: the paths of agents and of scripted obstacles in space and time.
//!
//! An index lists for every second and every square of a few metres who passes there, so that a question about one step of
//! a plan asks a handful of bodies however many there are. It is never gone through, so what hashes to where changes no
//! answer.

use crate::hash::FastMap;
use glam::{DVec2, IVec2};
use std::collections::hash_map;
use throng_core::geom::between;
use throng_core::geom::double::distance_to_segment;

/// Where a body will be.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// m.
    pub radius: f64,
    /// Time (s) and place (m), rising in time; straight at an even speed in between. Before the first it stands there.
    pub path: Vec<(f64, DVec2)>,
    /// Whether it stands at its last place for ever, or vanishes there.
    pub stays: bool,
}

impl Trajectory {
    /// A body that stands.
    pub fn standing(radius: f64, at: DVec2) -> Trajectory {
        Trajectory { radius, path: vec![(0.0, at)], stays: true }
    }

    /// Where it is at a time; `None` once it has vanished.
    pub fn place(&self, time: f64) -> Option<DVec2> {
        let is_there = self.stays || self.path.last().is_some_and(|last| time <= last.0);
        between(&self.path, time).filter(|_| is_there).map(|(from, to, share)| from.lerp(to, share))
    }

    /// How near the middles of this body and of one that goes straight from one place to another come; infinite where this
    /// one is not there.
    pub fn nearest(&self, passage: &Passage) -> f64 {
        let Passage { begin, end, .. } = *passage;
        let first = self.path.partition_point(|&(t, _)| t <= begin);
        let bends = self.path[first..].iter().map(|bend| bend.0).take_while(|&t| t < end);
        let mut least = f64::INFINITY;
        let mut from = begin;
        for to in bends.chain([end]) {
            let (Some(a), Some(b)) = (self.place(from), self.place(to).or(self.last())) else { break };
            least = least.min(distance_to_segment(DVec2::ZERO, a - passage.at(from), b - passage.at(to)));
            from = to;
        }
        least
    }

    /// Its last place. An agent that vanishes within a step counts until the step's end.
    fn last(&self) -> Option<DVec2> {
        self.path.last().map(|last| last.1)
    }
}

/// A straight way at an even speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage {
    /// m.
    pub from: DVec2,
    /// m.
    pub to: DVec2,
    /// s.
    pub begin: f64,
    /// s.
    pub end: f64,
}

impl Passage {
    /// Where one is at a time.
    pub fn at(&self, time: f64) -> DVec2 {
        let length = self.end - self.begin;
        let share = if length > 0.0 { ((time - self.begin) / length).clamp(0.0, 1.0) } else { 0.0 };
        self.from.lerp(self.to, share)
    }
}

/// All published paths.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    bodies: Vec<Option<Trajectory>>,
    /// Who is in a square within a second, by [`key`].
    passing: FastMap<u64, Vec<Entry>>,
    /// Who stands in a square before or after its path.
    resting: FastMap<u64, Vec<Entry>>,
    /// Who would fill too many squares: few, and always asked.
    vast: Vec<u32>,
    /// Of the others, m.
    widest: f64,
}

/// An agent in a square, and a box around where it is meanwhile: most are told apart by that.
#[derive(Clone, Copy, Debug)]
struct Entry {
    body: u32,
    low: DVec2,
    high: DVec2,
}

/// Side of a square, m.
const SQUARE: f64 = 3.0;
/// Length of a slot, s.
const SLOT: f64 = 1.0;
/// What is later than this shares the last slot: slots are counted in 16 bits.
const LAST: u64 = 60_000;
/// An agent that is wider than this, m, or passes more squares within a slot, is asked always.
const VAST: f64 = 3.0 * SQUARE;
const MOST_SQUARES: f64 = 400.0;
/// The slot of those who rest.
const REST: u64 = u16::MAX as u64;

impl Occupancy {
    /// With these bodies, known by their places in the list.
    pub fn new(bodies: impl IntoIterator<Item = Trajectory>) -> Occupancy {
        let mut published = Occupancy::default();
        for (body, trajectory) in bodies.into_iter().enumerate() {
            published.publish(body as u32, trajectory);
        }
        published
    }

    /// A body says where it will be, instead of what it said before. One without a path is nowhere; points that are no
    /// numbers or do not rise in time are left out.
    pub fn publish(&mut self, body: u32, mut trajectory: Trajectory) {
        let mut last = f64::NEG_INFINITY;
        trajectory.path.retain(|&(time, at)| {
            let fine = time > last && time.is_finite() && at.is_finite();
            last = if fine { time } else { last };
            fine
        });
        self.withdraw(body);
        if self.bodies.len() <= body as usize {
            self.bodies.resize(body as usize + 1, None);
        }
        if trajectory.path.is_empty() {
            return;
        }
        if is_vast(&trajectory) {
            self.vast.push(body);
        } else {
            self.widest = self.widest.max(trajectory.radius);
            each_key(&trajectory, |key, rests, low, high| {
                let lists = if rests { &mut self.resting } else { &mut self.passing };
                let entry = Entry { body, low: low - trajectory.radius, high: high + trajectory.radius };
                lists.entry(key).or_default().push(entry);
            });
        }
        self.bodies[body as usize] = Some(trajectory);
    }

    /// A body is gone.
    pub fn withdraw(&mut self, body: u32) {
        let Some(trajectory) = self.bodies.get_mut(body as usize).and_then(Option::take) else { return };
        if is_vast(&trajectory) {
            return self.vast.retain(|&other| other != body);
        }
        each_key(&trajectory, |key, rests, _, _| {
            let lists = if rests { &mut self.resting } else { &mut self.passing };
            // Times pass and do not come back: empty lists would pile up.
            if let hash_map::Entry::Occupied(mut list) = lists.entry(key) {
                list.get_mut().retain(|entry| entry.body != body);
                if list.get().is_empty() {
                    list.remove();
                }
            }
        });
    }

    /// What a body has said.
    pub fn get(&self, body: u32) -> Option<&Trajectory> {
        self.bodies.get(body as usize)?.as_ref()
    }

    /// All published trajectories, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Trajectory)> {
        self.bodies
            .iter()
            .enumerate()
            .filter_map(|(body, trajectory)| Some((body as u32, trajectory.as_ref()?)))
    }

    /// Whether a body of a radius that passes meets any agent for whom `counts` holds. Touching is not meeting.
    pub fn meets(&self, passage: &Passage, radius: f64, counts: impl Fn(u32, &Trajectory) -> bool) -> bool {
        let low = passage.from.min(passage.to) - radius;
        let high = passage.from.max(passage.to) + radius;
        let meets = |body: u32| {
            self.get(body).is_some_and(|trajectory| {
                trajectory.nearest(passage) < radius + trajectory.radius && counts(body, trajectory)
            })
        };
        let hits =
            |entry: &Entry| entry.low.cmple(high).all() && entry.high.cmpge(low).all() && meets(entry.body);
        let (first, last) = (low - self.widest, high + self.widest);
        if count_squares(first, last) > MOST_SQUARES {
            return (0..self.bodies.len() as u32).any(meets);
        }
        let slots = slot(passage.begin)..=slot(passage.end);
        self.vast.iter().any(|&body| meets(body))
            || squares(first, last).any(|square| {
                let passing = |slot| self.passing.get(&key(slot, square));
                slots
                    .clone()
                    .filter_map(passing)
                    .chain(self.resting.get(&key(REST, square)))
                    .flatten()
                    .any(hits)
            })
    }
}

/// Whether a body would fill too many squares.
fn is_vast(trajectory: &Trajectory) -> bool {
    let far = |pair: &[(f64, DVec2)]| {
        let ((t0, from), (t1, to)) = (pair[0], pair[1]);
        // The first slot begins where the path does.
        let slots = if t0 < 0.0 { 1.0 } else { (t1 - t0) / SLOT };
        let part = (to - from).abs() / slots.max(1.0);
        count_squares(DVec2::ZERO, part) > MOST_SQUARES
    };
    trajectory.radius > VAST || trajectory.path.windows(2).any(far)
}

fn count_squares(low: DVec2, high: DVec2) -> f64 {
    ((high - low) / SQUARE + 1.0).element_product()
}

/// The keys of a trajectory, whether they are of a rest, and a box around the middle meanwhile.
fn each_key(trajectory: &Trajectory, mut found: impl FnMut(u64, bool, DVec2, DVec2)) {
    let path = &trajectory.path;
    for pair in path.windows(2) {
        let ((t0, from), (t1, to)) = (pair[0], pair[1]);
        for slot in slot(t0)..=slot(t1) {
            let (begin, end) = (slot as f64 * SLOT, (slot + 1) as f64 * SLOT);
            let at = |time: f64| from.lerp(to, ((time - t0) / (t1 - t0)).clamp(0.0, 1.0));
            // The first and the last slot have no end.
            let (a, b) = (if slot == 0 { from } else { at(begin) }, if slot == LAST { to } else { at(end) });
            let (low, high) = (a.min(b), a.max(b));
            squares(low, high).for_each(|square| found(key(slot, square), false, low, high));
        }
    }
    let ends = [path.first(), path.last().filter(|_| trajectory.stays)];
    for &(_, at) in ends.into_iter().flatten() {
        squares(at, at).for_each(|square| found(key(REST, square), true, at, at));
    }
}

fn slot(time: f64) -> u64 {
    (time / SLOT).clamp(0.0, LAST as f64) as u64
}

fn squares(low: DVec2, high: DVec2) -> impl Iterator<Item = IVec2> {
    let (low, high) = ((low / SQUARE).floor().as_ivec2(), (high / SQUARE).floor().as_ivec2());
    (low.y..=high.y).flat_map(move |y| (low.x..=high.x).map(move |x| IVec2::new(x, y)))
}

/// Squares far apart may share a key: they are told apart by distance.
fn key(slot: u64, square: IVec2) -> u64 {
    let narrow = |number: i32| u64::from(number as u32 & 0xff_ffff);
    slot << 48 | narrow(square.y) << 24 | narrow(square.x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn passage(from: [f64; 2], to: [f64; 2], begin: f64, end: f64) -> Passage {
        Passage { from: from.into(), to: to.into(), begin, end }
    }

    fn path(points: &[(f64, [f64; 2])]) -> Trajectory {
        Trajectory { radius: 0.5, path: points.iter().map(|&(t, at)| (t, at.into())).collect(), stays: true }
    }

    #[test]
    fn two_that_cross_meet_only_at_the_same_time() {
        let car = path(&[(0.0, [0.0, -10.0]), (10.0, [0.0, 10.0])]);
        assert!(car.nearest(&passage([-5.0, 0.0], [5.0, 0.0], 0.0, 10.0)) < 1e-9);
        let late = car.nearest(&passage([-5.0, 0.0], [5.0, 0.0], 10.0, 20.0));
        assert!(late > 9.9, "{late}");
    }

    #[test]
    fn a_bend_within_a_step_is_seen() {
        let swerves = path(&[(0.0, [0.0, 0.0]), (1.0, [2.0, 0.0]), (2.0, [0.0, 0.0])]);
        let near = swerves.nearest(&passage([2.0, 0.0], [2.0, 0.0], 0.0, 2.0));
        assert!(near < 1e-9);
    }

    #[test]
    fn who_vanishes_is_met_until_then() {
        let leaves = Trajectory { stays: false, ..path(&[(0.0, [0.0, 0.0]), (4.0, [4.0, 0.0])]) };
        let here = |begin| passage([4.0, 0.0], [4.0, 0.0], begin, begin + 1.0);
        let published = Occupancy::new([leaves]);
        let meets = |begin| published.meets(&here(begin), 0.25, |_, _| true);
        assert_eq!([meets(1.0), meets(3.0), meets(5.0)], [false, true, false]);
    }

    proptest! {
        #[test]
        fn the_index_finds_whom_a_look_at_everybody_finds(
            paths in prop::collection::vec(prop::collection::vec((0.2..5.0_f64, -20.0..20.0_f64, -20.0..20.0_f64), 1..6), 1..20),
            far in prop_oneof![Just(1.0), Just(300.0)],
            from in (-20.0..20.0_f64, -20.0..20.0_f64),
            step in (-3.0..3.0_f64, -3.0..3.0_f64),
            begin in 0.0..20.0_f64,
            again in any::<bool>(),
        ) {
            let bodies = paths.iter().map(|points| {
                let mut time = 0.0;
                let path = points.iter().map(|&(wait, x, y)| { time += wait; (time, DVec2::new(x, y * far)) }).collect();
                Trajectory { radius: 0.5, path, stays: points.len() % 2 == 0 }
            });
            let bodies: Vec<Trajectory> = bodies.collect();
            let mut published = Occupancy::new(bodies.clone());
            if again {
                published.publish(0, bodies[0].clone());
            }
            let from = DVec2::new(from.0, from.1);
            let passage = Passage { from, to: from + DVec2::new(step.0, step.1), begin, end: begin + 1.0 };
            let expected = bodies.iter().any(|body| body.nearest(&passage) < 0.75);
            prop_assert_eq!(published.meets(&passage, 0.25, |_, _| true), expected);
            published.withdraw(0);
            let expected = bodies[1..].iter().any(|body| body.nearest(&passage) < 0.75);
            prop_assert_eq!(published.meets(&passage, 0.25, |_, _| true), expected);
        }
    }
}
