//! Where bodies will be, as far as they have said so: the paths of agents and of scripted obstacles in space and time.
//!
//! An index lists for every second and every square of a few metres who passes there (`flat_index.rs`), so that a question about one
//! step of a plan asks a handful of bodies however many there are, and most are told apart by a box before their paths are
//! touched. It is never gone through, so what hashes to where changes no answer, and neither does what was published before.

use super::flat_index::{Entry, Extent, FlatIndex, LAST_KEY};
use glam::{DVec2, IVec2};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use throng_core::geom::between;
use throng_core::geom::double::distance_to_segment;
use throng_core::memory::mix;

/// Where a body will be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

    /// From when on this body keeps a distance from a place; infinite where it never does.
    pub fn leaves(&self, place: DVec2, distance: f64) -> f64 {
        let is_near = |&(_, at): &(f64, DVec2)| at.distance(place) < distance;
        if self.stays && self.path.last().is_some_and(is_near) {
            return f64::INFINITY;
        }
        let near = |pair: &&[(f64, DVec2)]| distance_to_segment(place, pair[0].1, pair[1].1) < distance;
        self.path.windows(2).rev().find(near).map_or(f64::NEG_INFINITY, |pair| pair[1].0)
    }

    /// How near the middles of this body and of one that goes straight from one place to another come; infinite where this
    /// one is not there.
    pub fn nearest(&self, passage: &Passage) -> f64 {
        let Passage { begin, end, .. } = *passage;
        let mut next = self.path.partition_point(|&(t, _)| t <= begin);
        let Some(&(last, _)) = self.path.last() else { return f64::INFINITY };
        if !self.stays && begin > last {
            return f64::INFINITY;
        }
        let mut least = f64::INFINITY;
        let mut from = self.before_bend(next, begin) - passage.at(begin);
        loop {
            let bend = self.path.get(next).filter(|bend| bend.0 < end);
            let (time, at) = bend.copied().unwrap_or_else(|| (end, self.before_bend(next, end)));
            let to = at - passage.at(time);
            least = least.min(distance_to_segment(DVec2::ZERO, from, to));
            if bend.is_none() {
                return least;
            }
            (next, from) = (next + 1, to);
        }
    }

    /// Where it is at a time between a bend and the one before. One that vanishes within a step counts until the step's end.
    fn before_bend(&self, bend: usize, time: f64) -> DVec2 {
        match (bend.checked_sub(1).map(|before| self.path[before]), self.path.get(bend)) {
            (Some((t0, from)), Some(&(t1, to))) => from.lerp(to, (time - t0) / (t1 - t0)),
            (Some((_, end)), None) | (None, Some(&(_, end))) => end,
            (None, None) => DVec2::ZERO,
        }
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
#[derive(Clone, Debug)]
pub struct Occupancy {
    bodies: Vec<Option<Published>>,
    /// Who is in a square at some time, by [`key`].
    index: FlatIndex,
    /// Who would fill too many squares: few, and always asked.
    vast: Vec<u32>,
    /// The slots that the index covers.
    window: [u64; 2],
    /// Whose paths led out of the window when they were published.
    long: Vec<u32>,
}

impl Default for Occupancy {
    fn default() -> Occupancy {
        let (bodies, index, vast, long) = Default::default();
        Occupancy { bodies, index, vast, window: ALWAYS, long }
    }
}

/// What a body has said, and a box around all of it.
#[derive(Clone, Debug)]
struct Published {
    path: Arc<Trajectory>,
    extent: Extent,
    /// The slots in which it is in the index.
    indexed: [u64; 2],
}

/// Side of a square, m.
const SQUARE: f64 = 3.0;
/// Length of a slot, s.
const SLOT: f64 = 1.0;
/// What is later than this shares the last slot: slots are counted in 16 bits.
const LAST: u64 = 60_000;
/// Slots of a square that lie side by side in the index: a power of two.
const SIDE_BY_SIDE: u64 = 4;
/// An agent that is wider than this, m, or passes more squares within a slot, is asked always.
const VAST: f64 = 3.0 * SQUARE;
const MOST_SQUARES: f64 = 400.0;
/// Of so many squares one goes through all bodies instead.
const MOST_LOOKED_AT: f64 = 600.0;
/// All slots.
const ALWAYS: [u64; 2] = [0, LAST];
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
            let mut insert = |key, extent| self.index.insert(Entry { key, body, extent });
            each_rest(&trajectory, &mut insert);
            each_piece(&trajectory, self.window, &mut insert);
            let [begin, end] = [trajectory.path[0].0, last];
            if slot(begin) < self.window[0] || slot(end) > self.window[1] {
                self.long.push(body);
            }
        }
        let extent = extent(&trajectory);
        let indexed = self.window;
        self.bodies[body as usize] = Some(Published { path: Arc::new(trajectory), extent, indexed });
    }

    /// A body is gone.
    pub fn withdraw(&mut self, body: u32) {
        let Some(published) = self.bodies.get_mut(body as usize).and_then(Option::take) else { return };
        if is_vast(&published.path) {
            return self.vast.retain(|&other| other != body);
        }
        self.long.retain(|&other| other != body);
        let mut remove = |key, extent| self.index.remove(Entry { key, body, extent });
        each_rest(&published.path, &mut remove);
        each_piece(&published.path, published.indexed, &mut remove);
    }

    /// The index covers the time from one to another from now on. Answers are the same, but those about other times go through
    /// all whose paths lead out of the window. A script of an hour would fill more of the index than all agents.
    pub fn cover(&mut self, [begin, end]: [f64; 2]) {
        let window = [slot(begin), slot(end)];
        if std::mem::replace(&mut self.window, window) == window {
            return;
        }
        let Occupancy { bodies, index, long, .. } = self;
        for &body in &*long {
            let Some(Published { path, indexed, .. }) = &mut bodies[body as usize] else { continue };
            let before = std::mem::replace(indexed, window);
            for slots in outside(before, window) {
                each_piece(path, slots, &mut |key, extent| index.remove(Entry { key, body, extent }));
            }
            for slots in outside(window, before) {
                each_piece(path, slots, &mut |key, extent| index.insert(Entry { key, body, extent }));
            }
        }
    }

    /// What a body has said.
    pub fn get(&self, body: u32) -> Option<&Trajectory> {
        self.shared(body).map(|trajectory| &**trajectory)
    }

    /// The same, to be kept.
    pub fn shared(&self, body: u32) -> Option<&Arc<Trajectory>> {
        self.bodies.get(body as usize)?.as_ref().map(|published| &published.path)
    }

    /// All published trajectories, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Trajectory)> {
        (0..).zip(&self.bodies).filter_map(|(body, published)| Some((body, &*published.as_ref()?.path)))
    }

    /// Whether a body of a radius that passes meets any agent for whom `counts` holds. Touching is not meeting.
    pub fn meets(&self, passage: &Passage, radius: f64, counts: impl Fn(u32, &Trajectory) -> bool) -> bool {
        let extent = [passage.from.min(passage.to) - radius, passage.from.max(passage.to) + radius];
        let times = [passage.begin, passage.end];
        self.any_within(Extent::new(extent, times), extent, times, |body| {
            self.get(body).is_some_and(|trajectory| {
                trajectory.nearest(passage) < radius + trajectory.radius && counts(body, trajectory)
            })
        })
    }

    /// Bodies that may be in a box at some time between two, each once and by number, and some others.
    pub fn within(&self, low: DVec2, high: DVec2, times: [f64; 2]) -> Vec<u32> {
        self.some_within([low, high], times, |_| true)
    }

    /// Those of them for whom something holds.
    pub fn some_within(
        &self,
        extent: [DVec2; 2],
        times: [f64; 2],
        is_wanted: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let mut bodies = Vec::new();
        // Who has been there in the same second or before its path counts as well.
        let wanted = Extent::new(extent, [f64::NEG_INFINITY, f64::INFINITY]);
        self.any_within(wanted, extent, times, |body| {
            if is_wanted(body) {
                bodies.push(body);
            }
            false
        });
        bodies.sort_unstable();
        bodies.dedup();
        bodies
    }

    /// Whether something holds for a body that may be in a box at some time between two. Some are asked about more than once.
    fn any_within(
        &self,
        wanted: Extent,
        [low, high]: [DVec2; 2],
        [begin, end]: [f64; 2],
        mut holds: impl FnMut(u32) -> bool,
    ) -> bool {
        if count_squares(low, high) > MOST_LOOKED_AT {
            return (0..).zip(&self.bodies).any(|(body, published)| {
                published.as_ref().is_some_and(|it| it.extent.overlaps(&wanted)) && holds(body)
            });
        }
        let (first, last) = (slot(begin), slot(end));
        let [from, to] = self.window;
        if (first < from || last > to) && self.is_long_within(&wanted, [first, last], &mut holds) {
            return true;
        }
        let mut hits = |[from, to]: [u32; 2]| {
            let entries = self.index.range(from, to);
            entries.iter().any(|entry| entry.extent.overlaps(&wanted) && holds(entry.body))
        };
        // Not as iterators: this is the innermost loop of all planning.
        for square in squares(low, high) {
            let mut from = first;
            while from <= last {
                let to = (from | (SIDE_BY_SIDE - 1)).min(last);
                if hits([key(from, square), key(to, square)]) {
                    return true;
                }
                from = to + 1;
            }
            if hits([key(REST, square); 2]) {
                return true;
            }
        }
        self.vast.iter().any(|&body| holds(body))
    }

    /// Whether something holds for a body whose path leads out of the window, and that is in a box in some of these slots.
    fn is_long_within(&self, wanted: &Extent, slots: [u64; 2], holds: &mut impl FnMut(u32) -> bool) -> bool {
        self.long.iter().any(|&body| {
            let mut is_in = false;
            if let Some(path) = self.get(body) {
                each_piece(path, slots, &mut |_, extent| is_in |= extent.overlaps(wanted));
            }
            is_in && holds(body)
        })
    }

    /// The memory that it takes, roughly.
    pub fn bytes(&self) -> usize {
        let path =
            |path: &Trajectory| size_of::<Trajectory>() + path.path.capacity() * size_of::<(f64, DVec2)>();
        self.index.bytes()
            + self.bodies.capacity() * size_of::<Option<Published>>()
            + self.iter().map(|(_, trajectory)| path(trajectory)).sum::<usize>()
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

/// A box around all of a trajectory.
fn extent(trajectory: &Trajectory) -> Extent {
    let first = trajectory.path[0].1;
    let low = trajectory.path.iter().fold(first, |low, bend| low.min(bend.1)) - trajectory.radius;
    let high = trajectory.path.iter().fold(first, |high, bend| high.max(bend.1)) + trajectory.radius;
    let end = trajectory.path.last().map_or(0.0, |last| last.0);
    let until = if trajectory.stays { f64::INFINITY } else { end };
    Extent::new([low, high], [f64::NEG_INFINITY, until])
}

/// The keys of a path in some slots, and where the body is meanwhile.
fn each_piece(trajectory: &Trajectory, [first, last]: [u64; 2], found: &mut impl FnMut(u32, Extent)) {
    let path = &trajectory.path;
    let next = path.partition_point(|bend| slot(bend.0) < first);
    for pair in path[next.saturating_sub(1)..].windows(2) {
        let ((t0, from), (t1, to)) = (pair[0], pair[1]);
        if slot(t0) > last {
            break;
        }
        for slot in slot(t0).max(first)..=slot(t1).min(last) {
            // The first and the last slot have no end.
            let begin = if slot == 0 { t0 } else { t0.max(slot as f64 * SLOT) };
            let end = if slot == LAST { t1 } else { t1.min((slot + 1) as f64 * SLOT) };
            let at = |time: f64| from.lerp(to, ((time - t0) / (t1 - t0)).clamp(0.0, 1.0));
            let (a, b) = (at(begin), at(end));
            fill(slot, [a.min(b), a.max(b)], trajectory.radius, [begin, end], found);
        }
    }
}

/// The keys of where a body is before and after its path, and the places.
fn each_rest(trajectory: &Trajectory, found: &mut impl FnMut(u32, Extent)) {
    let (path, radius) = (&trajectory.path, trajectory.radius);
    let ((begin, from), (end, to)) = (path[0], path[path.len() - 1]);
    let until = if path.len() == 1 && trajectory.stays { f64::INFINITY } else { begin };
    fill(REST, [from; 2], radius, [f64::NEG_INFINITY, until], found);
    if path.len() > 1 && trajectory.stays {
        fill(REST, [to; 2], radius, [end, f64::INFINITY], found);
    }
}

/// The squares that a body is in within a slot.
fn fill(
    slot: u64,
    [low, high]: [DVec2; 2],
    radius: f64,
    times: [f64; 2],
    found: &mut impl FnMut(u32, Extent),
) {
    let (low, high) = (low - radius, high + radius);
    let extent = Extent::new([low, high], times);
    squares(low, high).for_each(|square| found(key(slot, square), extent));
}

/// The slots of one range before and after another one. Ranges that end before they begin are empty.
fn outside([first, last]: [u64; 2], [from, to]: [u64; 2]) -> [[u64; 2]; 2] {
    let before = from.checked_sub(1).map_or([1, 0], |before| [first, last.min(before)]);
    [before, [first.max(to + 1), last]]
}

fn slot(time: f64) -> u64 {
    (time / SLOT).clamp(0.0, LAST as f64) as u64
}

fn squares(low: DVec2, high: DVec2) -> impl Iterator<Item = IVec2> {
    let (low, high) = ((low / SQUARE).floor().as_ivec2(), (high / SQUARE).floor().as_ivec2());
    (low.y..=high.y).flat_map(move |y| (low.x..=high.x).map(move |x| IVec2::new(x, y)))
}

/// Slots that follow one another have keys that do, as far as they lie side by side. What is far apart may share a key: it is told
/// apart by its box.
fn key(slot: u64, square: IVec2) -> u32 {
    let narrow = |number: i32| u64::from(number as u32 & 0xff_ffff);
    let block = (slot / SIDE_BY_SIDE) << 48 | narrow(square.y) << 24 | narrow(square.x);
    let among = (SIDE_BY_SIDE - 1) as u32;
    (((mix(block) >> 32) as u32 & !among) | (slot as u32 & among)).min(LAST_KEY)
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

        #[test]
        fn who_is_near_depends_only_on_what_is_published(
            says in prop::collection::vec(
                (0..12_u32, prop::collection::vec((0.1..6.0_f64, -30.0..30.0_f64, -30.0..30.0_f64), 0..6), 0.1..1.5_f64, any::<bool>()),
                1..60,
            ),
            from in (-30.0..30.0_f64, -30.0..30.0_f64),
            size in (0.0..12.0_f64, 0.0..12.0_f64),
            times in (0.0..30.0_f64, 0.0..30.0_f64),
            first_covered in prop::option::of(0.0..20.0_f64),
            covered in prop::option::of(0.0..30.0_f64),
        ) {
            let mut published = Occupancy::default();
            if let Some(begin) = first_covered {
                published.cover([begin, begin + 8.0]);
            }
            for (body, points, radius, stays) in says {
                let mut time = 0.0;
                let path = points.iter().map(|&(wait, x, y)| { time += wait; (time, DVec2::new(x, y)) }).collect();
                published.publish(body, Trajectory { radius, path, stays });
            }
            let (low, times) = (DVec2::from(from), [times.0, times.0 + times.1]);
            if let Some(begin) = covered {
                published.cover([begin, begin + 5.0]);
            }
            let high = low + DVec2::from(size);
            let found = published.within(low, high, times);
            let anew = published.iter().fold(Occupancy::default(), |mut anew, (body, path)| {
                anew.publish(body, path.clone());
                anew
            });
            prop_assert_eq!(&found, &anew.within(low, high, times));
            // Looked at closely, and by everybody.
            let looks = (0..=200).map(|look| times[0] + (times[1] - times[0]) * f64::from(look) / 200.0);
            for (body, path) in published.iter() {
                let is_in = |time: f64| path.place(time).is_some_and(|at| {
                    (at - at.clamp(low, high)).abs().max_element() < path.radius
                });
                prop_assert!(!looks.clone().any(is_in) || found.contains(&body));
            }
            // A place between, for as long.
            let passage = Passage { from: low, to: high, begin: times[0], end: times[1] };
            let expected = published.iter().any(|(_, path)| path.nearest(&passage) < 0.3 + path.radius);
            prop_assert_eq!(published.meets(&passage, 0.3, |_, _| true), expected);
        }
    }
}
