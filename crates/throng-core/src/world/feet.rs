//! Feet: where those who walk on them have put them down, and the step that they are in.
//!
//! A walker is an inverted pendulum over the foot that it stands on ([`Pendulum`]). From one exchange of feet to the next its
//! way is known in closed form, so a step is a handful of numbers, and the planner of steps and the motion that walks them
//! agree on every place in between.

use super::Gaps;
use crate::geom::Pendulum;
use crate::memory::mix;
use glam::DVec2;
use serde::{Deserialize, Serialize};

/// Which foot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Side {
    /// To the left of where one looks.
    Left,
    /// To the right.
    Right,
}

impl Side {
    /// The other foot.
    pub fn other(self) -> Side {
        if self == Side::Left { Side::Right } else { Side::Left }
    }

    /// 1 left, -1 right.
    pub fn sign(self) -> f64 {
        if self == Side::Left { 1.0 } else { -1.0 }
    }
}

/// What all walkers' legs can do. Lengths are m, times s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Legs {
    /// Of the pendulum.
    pub length: f64,
    /// From the left foot to the right one, across the way, walking straight on.
    pub width: f64,
    /// From one foot to the other at most.
    pub longest: f64,
    /// How long a step usually takes.
    pub period: f64,
    /// Heel to toe.
    pub foot_length: f64,
    /// Across a foot.
    pub foot_width: f64,
}

/// Step times to choose from, as factors of the usual one.
pub const PERIODS: [f64; 3] = [1.0, 0.8, 1.2];
/// Feet come no nearer to one another across the way than this share of the width, and no further apart than that.
const ACROSS: (f64, f64) = (0.5, 2.5);
/// Cosine of the most that a foot is turned against the other: 3/16 of a turn, from square roots.
const MOST_TURNED: f64 = 0.382_683_432_365_089_8;
/// What rounding may do to a limit.
const SLACK: f64 = 1e-9;

/// A foot on the ground.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Footprint {
    /// Its middle, m from the world's origin.
    pub at: DVec2,
    /// Unit vector from heel to toe.
    pub along: DVec2,
    /// Which.
    pub side: Side,
    /// Since when, s.
    pub since: f64,
}

impl Footprint {
    /// The foot's corners, counter-clockwise, grown by a margin, m.
    pub fn outline(&self, legs: &Legs, margin: f64) -> [DVec2; 4] {
        let ahead = self.along * (legs.foot_length / 2.0 + margin);
        let left = self.along.perp() * (legs.foot_width / 2.0 + margin);
        [self.at - ahead - left, self.at + ahead - left, self.at + ahead + left, self.at - ahead + left]
    }

    /// The other foot beside it.
    pub fn beside(&self, legs: &Legs, since: f64) -> Footprint {
        let at = self.at - self.along.perp() * (self.side.sign() * legs.width);
        Footprint { at, side: self.side.other(), since, ..*self }
    }
}

impl Legs {
    /// The pendulum that they make.
    pub fn pendulum(&self) -> Pendulum {
        Pendulum::new(self.length)
    }

    /// A time as whole steps of the simulation, s.
    pub fn whole(&self, time: f64, tick: f64) -> f64 {
        (time / tick).round().max(1.0) * tick
    }

    /// How much faster than on average one is when feet are exchanged.
    pub fn exchange_ratio(&self) -> f64 {
        let pendulum = self.pendulum();
        let half = pendulum.omega * self.period / 2.0;
        half / pendulum.tanh(self.period / 2.0)
    }

    /// The velocity at the end of a step on a foot for a mean velocity: the body sways to the other side.
    pub fn exchange(&self, velocity: DVec2, along: DVec2, support: Side) -> DVec2 {
        let pendulum = self.pendulum();
        let sway = pendulum.omega * self.width / 2.0 * pendulum.tanh(self.period / 2.0);
        velocity * self.exchange_ratio() - along.perp() * (support.sign() * sway)
    }

    /// How far apart feet are across the way at least and at most.
    pub fn across(&self) -> (f64, f64) {
        (ACROSS.0 * self.width, ACROSS.1 * self.width)
    }

    /// Whether a foot can be put down while the other one is where it is.
    pub fn reach(&self, plant: &Footprint, other: &Footprint) -> bool {
        let apart = plant.at - other.at;
        let along = (plant.along + other.along).normalize_or(plant.along);
        let across = along.perp().dot(apart) * plant.side.sign();
        plant.along.dot(other.along) >= MOST_TURNED - SLACK
            && apart.length() <= self.longest + SLACK
            && across >= self.across().0 - SLACK
            && across <= self.across().1 + SLACK
    }

    /// A direction, turned towards where a foot may point beside the other one.
    pub fn pointed(&self, along: DVec2, other: DVec2) -> DVec2 {
        if along.dot(other) >= MOST_TURNED {
            return along;
        }
        let side = if other.perp_dot(along) >= 0.0 { 1.0 } else { -1.0 };
        let sine = (1.0 - MOST_TURNED * MOST_TURNED).sqrt();
        other * MOST_TURNED + other.perp() * (side * sine)
    }

    /// Whether both feet hold a body whose pivot is at a place.
    pub fn hold(&self, feet: &[Footprint; 2], pivot: DVec2) -> bool {
        let along = (feet[0].along + feet[1].along).normalize_or(feet[0].along);
        let local = |at: DVec2| DVec2::new(along.dot(at), along.perp().dot(at));
        let [left, right, pivot] = [feet[0].at, feet[1].at, pivot].map(local);
        let ahead = (left.x.min(right.x), left.x.max(right.x));
        let across = (left.y.min(right.y), left.y.max(right.y));
        let (toe, rim) = (self.foot_length / 2.0, self.foot_width / 2.0);
        pivot.x >= ahead.0 - toe
            && pivot.x <= ahead.1 + toe
            && pivot.y >= across.0 - rim
            && pivot.y <= across.1 + rim
    }

    /// Whether a foot has ground under all of it, and a margin around, m.
    pub fn has_ground(&self, foot: &Footprint, gaps: &Gaps, margin: f64) -> bool {
        gaps.is_empty() || !gaps.touch(&foot.outline(self, margin))
    }
}

/// From one exchange of feet to the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Footstep {
    /// s.
    pub begin: f64,
    /// s.
    pub end: f64,
    /// Where the body is at the beginning, m from the world's origin.
    pub from: DVec2,
    /// At the beginning, m/s.
    pub velocity: DVec2,
    /// At the end, m/s.
    pub leaves: DVec2,
    /// What the body turns over: the foot, or a place between both.
    pub pivot: DVec2,
    /// The foot that is put down at the beginning; none where weight only shifts over both feet.
    pub plant: Option<Footprint>,
    /// The foot that is put down beside the other at the end, after which one stands.
    pub close: Option<Footprint>,
    /// The foot that carries the body, or carries more of it.
    pub support: Side,
}

impl Footstep {
    /// Place and velocity at a time of the step.
    pub fn at(&self, legs: &Legs, time: f64) -> (DVec2, DVec2) {
        let pendulum = legs.pendulum();
        if time >= self.end - ON_TIME {
            return (
                self.from + pendulum.way(self.velocity, self.leaves, self.end - self.begin),
                self.leaves,
            );
        }
        pendulum.after(self.pivot, self.from, self.velocity, (time - self.begin).max(0.0))
    }
}

/// Times closer than this are the same, s.
pub const ON_TIME: f64 = 1e-6;

/// What a walker's feet do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gait {
    /// Left and right, each where it was last put down.
    pub feet: [Footprint; 2],
    /// The step that it is in; none where it stands on both.
    pub step: Option<Footstep>,
}

impl Gait {
    /// A body that stands and faces along a unit vector.
    pub fn standing(legs: &Legs, at: DVec2, along: DVec2, since: f64) -> Gait {
        let foot = |side: Side| Footprint {
            at: at + along.perp() * (side.sign() * legs.width / 2.0),
            along,
            side,
            since,
        };
        Gait { feet: [foot(Side::Left), foot(Side::Right)], step: None }
    }

    /// A foot.
    pub fn foot(&self, side: Side) -> &Footprint {
        &self.feet[side as usize]
    }

    /// Where it looks.
    pub fn along(&self) -> DVec2 {
        (self.feet[0].along + self.feet[1].along).normalize_or(self.feet[0].along)
    }

    /// Takes a step.
    pub fn take(&mut self, step: Footstep) {
        if let Some(plant) = step.plant {
            self.feet[plant.side as usize] = plant;
        }
        self.step = Some(step);
    }

    /// The step that has come to its end by a time, if it has. An agent that closes its feet stands then.
    pub fn finish(&mut self, now: f64) -> Option<Footstep> {
        let step = self.step.filter(|step| step.end <= now + ON_TIME)?;
        self.step = None;
        if let Some(close) = step.close {
            self.feet[close.side as usize] = close;
            return None;
        }
        Some(step)
    }
}

/// A foot that was put down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planted {
    /// Whose.
    pub id: u32,
    /// Where and when.
    pub foot: Footprint,
}

/// The feet of all agents, by slot. Nothing where bodies move without.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Feet {
    gaits: Vec<Option<Gait>>,
    /// What was put down in the last step, by id.
    planted: Vec<Planted>,
}

impl Feet {
    /// An agent's feet.
    #[inline]
    pub fn of(&self, slot: u32) -> Option<&Gait> {
        self.gaits.get(slot as usize)?.as_ref()
    }

    /// What was put down in the last step, by id, the left foot first.
    pub fn planted(&self) -> &[Planted] {
        &self.planted
    }

    /// Takes over what feet do now, row by row.
    pub(super) fn take(&mut self, slots: &[u32], ids: &[u32], gaits: &[Option<Gait>]) {
        self.planted.clear();
        for ((&slot, &id), gait) in slots.iter().zip(ids).zip(gaits) {
            if slot as usize >= self.gaits.len() {
                self.gaits.resize(slot as usize + 1, None);
            }
            let before = std::mem::replace(&mut self.gaits[slot as usize], *gait);
            for (side, foot) in gait.iter().flat_map(|gait| gait.feet.iter().enumerate()) {
                if before.is_none_or(|before| before.feet[side] != *foot) {
                    self.planted.push(Planted { id, foot: *foot });
                }
            }
        }
        self.planted.sort_unstable_by_key(|planted| (planted.id, planted.foot.side));
    }

    /// An agent has none any more.
    pub fn forget(&mut self, slot: u32) {
        if let Some(gait) = self.gaits.get_mut(slot as usize) {
            *gait = None;
        }
    }

    /// A number that differs whenever a foot differs in a bit; 0 where there are none.
    pub(super) fn hash(&self) -> u64 {
        let shod = self.gaits.iter().enumerate().filter_map(|(slot, gait)| Some((slot, gait.as_ref()?)));
        shod.map(|(slot, gait)| gait.hash(mix(slot as u64 ^ 0x6665_6574))).fold(0, u64::wrapping_add)
    }
}

impl Footprint {
    pub(super) fn hash(&self, hash: u64) -> u64 {
        let numbers = [self.at.x, self.at.y, self.along.x, self.along.y, self.since];
        let hash = numbers.iter().fold(hash, |hash, number| mix(hash ^ number.to_bits()));
        mix(hash ^ self.side as u64)
    }
}

impl Footstep {
    /// A hash that goes on with this step.
    pub fn hash(&self, hash: u64) -> u64 {
        let vectors = [self.from, self.velocity, self.leaves, self.pivot];
        let numbers = vectors.iter().flat_map(|vector| vector.to_array()).chain([self.begin, self.end]);
        let hash = numbers.fold(hash, |hash, number| mix(hash ^ number.to_bits()));
        let feet = [self.plant, self.close];
        let hash = feet.iter().fold(hash, |hash, foot| foot.map_or(mix(hash), |foot| foot.hash(hash)));
        mix(hash ^ self.support as u64)
    }
}

impl Gait {
    fn hash(&self, hash: u64) -> u64 {
        let hash = self.feet.iter().fold(hash, |hash, foot| foot.hash(hash));
        self.step.map_or(hash, |step| step.hash(hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) const LEGS: Legs =
        Legs { length: 0.9, width: 0.18, longest: 0.9, period: 0.5, foot_length: 0.26, foot_width: 0.1 };

    fn print(x: f64, y: f64, side: Side) -> Footprint {
        Footprint { at: DVec2::new(x, y), along: DVec2::X, side, since: 0.0 }
    }

    #[test]
    fn walking_straight_on_brings_back_the_same_velocity_and_advances_by_the_mean() {
        let pendulum = LEGS.pendulum();
        let begin = LEGS.exchange(DVec2::new(1.3, 0.0), DVec2::X, Side::Right);
        let end = LEGS.exchange(DVec2::new(1.3, 0.0), DVec2::X, Side::Left);
        let way = pendulum.way(begin, end, LEGS.period);
        assert!(way.distance(DVec2::new(1.3 * LEGS.period, 0.0)) < 1e-12, "{way}");
        let pivot = pendulum.pivot(DVec2::ZERO, begin, end, LEGS.period);
        assert!(pivot.distance(DVec2::new(way.x / 2.0, LEGS.width / 2.0)) < 1e-12, "{pivot}");
    }

    #[test]
    fn a_foot_stays_on_its_side_and_within_reach() {
        let left = print(0.0, 0.09, Side::Left);
        let reach = |x: f64, y: f64| LEGS.reach(&print(x, y, Side::Right), &left);
        assert!(reach(0.6, -0.09) && reach(-0.2, -0.2) && reach(0.0, -0.09));
        assert!(!reach(0.95, -0.09), "too far");
        assert!(!reach(0.4, 0.05) && !reach(0.4, 0.2), "across the other foot");
        assert!(!reach(0.2, -0.5), "too wide");
        let turned = Footprint { along: DVec2::Y, ..print(0.3, -0.2, Side::Right) };
        assert!(!LEGS.reach(&turned, &left));
    }

    #[test]
    fn one_stands_between_its_feet() {
        let gait = Gait::standing(&LEGS, DVec2::new(3.0, 1.0), DVec2::Y, 0.0);
        assert!(gait.feet[0].at.x < 3.0 && gait.feet[1].at.x > 3.0);
        let holds = |x: f64, y: f64| LEGS.hold(&gait.feet, DVec2::new(x, y));
        assert!(holds(3.0, 1.0) && holds(3.1, 1.1) && !holds(3.2, 1.0) && !holds(3.0, 1.2));
        let beside = gait.feet[0].beside(&LEGS, 0.0);
        assert!(beside.at.distance(gait.feet[1].at) < 1e-12 && beside.side == Side::Right);
    }

    #[test]
    fn what_is_put_down_is_told_once_and_every_change_is_seen_by_the_hash() {
        let mut feet = Feet::default();
        let mut gait = Gait::standing(&LEGS, DVec2::ZERO, DVec2::X, 0.0);
        assert_eq!(feet.hash(), 0);
        feet.take(&[4], &[9], &[Some(gait)]);
        assert_eq!(feet.planted().len(), 2);
        let before = feet.hash();
        feet.take(&[4], &[9], &[Some(gait)]);
        assert!(feet.planted().is_empty() && feet.hash() == before);
        let plant = print(0.3, 0.09, Side::Left);
        let (from, velocity, leaves, pivot) = (DVec2::ZERO, DVec2::X, DVec2::X, plant.at);
        let (plant, support) = (Some(plant), Side::Left);
        gait.take(Footstep {
            begin: 1.0,
            end: 1.5,
            from,
            velocity,
            leaves,
            pivot,
            plant,
            close: None,
            support,
        });
        feet.take(&[4], &[9], &[Some(gait)]);
        assert!(feet.planted().len() == 1 && feet.hash() != before);
        feet.forget(4);
        assert!(feet.of(4).is_none() && feet.hash() == 0);
    }
}
