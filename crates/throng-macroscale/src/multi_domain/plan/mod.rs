//! What an agent plans to do. Beside the search that found it (`kept.rs`), this is all that outlives a step.

pub(crate) mod blocked;
pub(crate) mod crossing;
pub(crate) mod crowding;
pub(crate) mod deliberation;
pub(crate) mod direct;
pub(crate) mod footsteps;
pub(crate) mod grid;
pub(crate) mod kept;
pub(crate) mod remaining;
pub(crate) mod window;

use glam::DVec2;
use serde::{Deserialize, Serialize};
use throng_core::geom::between;
use throng_core::geom::double::distance_to_segment;
use throng_core::memory::{Change, Memory, Remembered, mix};
use throng_core::world::{Footstep, ON_TIME};

/// Who is as near to a part of its way is on it, m.
const ON_WAY: f64 = 0.1;

/// What an agent plans to do, in every domain that it has planned in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Counts the changes of this plan, so that copies of it know whether they still hold.
    pub serial: u32,
    /// Whether the path can be walked, as far as is known.
    pub valid: bool,
    /// Time (s) and place (m from the world's origin), rising in time; straight at an even speed in between. The agent
    /// stands at its last place. Empty before the first plan.
    pub path: Vec<(f64, DVec2)>,
    /// The steps that make the path, where agents walk by footsteps: one after another, rising in time.
    pub steps: Vec<Footstep>,
    /// Whether the path ends at the goal.
    pub reaches: bool,
    /// The way to the goal on the mesh that the path follows, m from the world's origin.
    pub way: Vec<DVec2>,
    /// What the last search was guided by: the way, or one around agents that stand on it.
    pub line: Vec<DVec2>,
    /// How far from the line the last search looked, m.
    pub width: f32,
    /// The goal that the way leads to.
    pub goal: DVec2,
    /// The path costs at most this many times the optimum, as far as the search could tell.
    pub inflation: f32,
    /// When it was last thought about, s.
    pub served: f64,
    /// When an agent will be in the way that was not expected there, s; infinite where none is known.
    pub conflict: f64,
    /// Since when there has been no way on, s; infinite where there is one.
    pub blocked: f64,
    /// How many others were met on the way when it was last looked at (`crowding.rs`).
    pub met: f64,
    /// The least that was left of this way, m: who goes back and forth before a closed passage gets no nearer.
    pub nearest: f64,
    /// How often in a row there was no plan.
    pub failures: u32,
    /// Whether the local model leads it along its way, through a crowd in which planning is pointless.
    pub led: bool,
    /// How many paths there have been: those around know by it whether an agent says anything else than before.
    pub said: u32,
    /// What those around had said when there was no way on, with room made or without; 0 where that is not so.
    pub heard: u64,
    /// Whether the map has changed since the path was held against it.
    pub needs_validation: bool,
    /// Whether there was no path to the goal on the map when it was last looked for.
    pub unreachable: bool,
    /// Whether a search was cut that goes on at the next turn.
    pub searching: bool,
    /// Whether the search that found the path may find a better one.
    pub improvable: bool,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            serial: 0,
            valid: false,
            path: Vec::new(),
            steps: Vec::new(),
            reaches: false,
            way: Vec::new(),
            line: Vec::new(),
            width: 0.0,
            goal: DVec2::ZERO,
            inflation: 1.0,
            served: f64::NEG_INFINITY,
            conflict: f64::INFINITY,
            blocked: f64::INFINITY,
            met: 0.0,
            nearest: f64::INFINITY,
            failures: 0,
            led: false,
            said: 0,
            heard: 0,
            needs_validation: false,
            unreachable: false,
            searching: false,
            improvable: false,
        }
    }
}

impl Plan {
    /// Where the agent will be at a time; `None` where nothing is planned.
    pub fn place(&self, time: f64) -> Option<DVec2> {
        between(&self.path, time).map(|(from, to, share)| from.lerp(to, share))
    }

    /// When the path ends, s.
    pub fn end(&self) -> f64 {
        self.path.last().map_or(f64::NEG_INFINITY, |last| last.0)
    }

    /// The bends of the way that are ahead of a place on it. Those behind are kept until the agent's next turn.
    pub fn bends_ahead(&self, at: DVec2) -> &[DVec2] {
        let begin = self.path.first().map_or(at, |first| first.1);
        let off = |to: usize| {
            let from = to.checked_sub(1).map_or(begin, |from| self.way[from]);
            distance_to_segment(at, from, self.way[to])
        };
        let least = (0..self.way.len()).map(off).fold(f64::INFINITY, f64::min);
        // Where a way comes back to itself, one is as far on as one can be.
        let next = (0..self.way.len()).rev().find(|&to| off(to) <= least + ON_WAY);
        &self.way[next.unwrap_or(0)..]
    }

    /// The footstep that begins now, where one does and the plan holds.
    pub fn footstep(&self, now: f64) -> Option<Footstep> {
        let next = self.steps.partition_point(|step| step.begin < now - ON_TIME);
        let step = self.steps.get(next).filter(|step| step.begin <= now + ON_TIME)?;
        self.valid.then_some(*step)
    }

    fn hash(&self) -> u64 {
        let word = |hash: u64, value: f64| mix(hash ^ value.to_bits());
        let place = |hash: u64, at: &DVec2| word(word(hash, at.x), at.y);
        let flags = u64::from(self.valid)
            | u64::from(self.reaches) << 1
            | u64::from(self.needs_validation) << 2
            | u64::from(self.unreachable) << 3
            | u64::from(self.searching) << 4
            | u64::from(self.improvable) << 5
            | u64::from(self.led) << 6;
        let hash = mix(u64::from(self.serial) << 32 | u64::from(self.failures) << 8 | flags);
        let hash = mix(mix(hash ^ u64::from(self.said)) ^ self.heard);
        let hash =
            [self.served, self.conflict, self.blocked, self.nearest, self.met].into_iter().fold(hash, word);
        let hash = word(word(hash, self.inflation.into()), self.width.into());
        let hash = self.path.iter().fold(place(hash, &self.goal), |hash, (t, at)| word(place(hash, at), *t));
        let hash = self.steps.iter().fold(hash, |hash, step| step.hash(hash));
        self.way.iter().chain(&self.line).fold(hash, place)
    }
}

impl Remembered for Plan {
    fn state_hash(&self) -> Option<u64> {
        (self.serial > 0).then(|| self.hash())
    }

    fn heap_bytes(&self) -> usize {
        self.path.capacity() * size_of::<(f64, DVec2)>()
            + self.steps.capacity() * size_of::<Footstep>()
            + (self.way.capacity() + self.line.capacity()) * size_of::<DVec2>()
    }

    /// A plan says what goal it is for. Until there is another one its path is walked: others rely on it.
    fn outlasts(change: Change) -> bool {
        change == Change::Retargeted
    }
}

/// The plans of all agents.
pub(crate) type Plans = Memory<Plan>;

/// Lets every path be held against the map where that is another one than it was found on, and says whether it is.
pub(crate) fn hold_against_map(plans: &mut Plans, map_version: u64) -> bool {
    let is_other = plans.note_map(map_version);
    if is_other {
        let made = plans.iter_mut().filter(|(_, plan)| plan.serial > 0);
        made.for_each(|(_, plan)| plan.needs_validation = true);
    }
    is_other
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::memory::Remember;
    use throng_core::world::Side;

    fn walks() -> Plan {
        let path = vec![(1.0, DVec2::ZERO), (3.0, DVec2::new(4.0, 0.0))];
        Plan { serial: 1, valid: true, path, ..Plan::default() }
    }

    #[test]
    fn stands_before_and_after_its_path() {
        let place = |time| walks().place(time).map(|at| at.x);
        assert_eq!([place(0.0), place(2.0), place(9.0)], [Some(0.0), Some(2.0), Some(4.0)]);
        assert_eq!((walks().end(), Plan::default().place(1.0)), (3.0, None));
    }

    #[test]
    fn bends_that_one_has_come_past_are_behind() {
        let way = [[4.0, 0.0], [4.0, 6.0], [9.0, 6.0]].map(DVec2::from).to_vec();
        let plan = Plan { way, ..walks() };
        let ahead = |x, y| plan.bends_ahead(DVec2::new(x, y)).len();
        assert_eq!([ahead(0.0, 0.2), ahead(3.0, 0.0), ahead(4.0, 0.0), ahead(4.0, 2.0)], [3, 3, 2, 2]);
        assert_eq!([ahead(4.3, 5.0), ahead(7.0, 6.0), ahead(9.0, 6.0), ahead(20.0, 6.0)], [2, 1, 1, 1]);
        assert!(walks().bends_ahead(DVec2::ZERO).is_empty());
    }

    #[test]
    fn every_change_is_seen_by_the_hash_and_a_longer_list_is_not() {
        let mut plans = Plans::default();
        let mut hashes = vec![plans.state_hash()];
        let (from, velocity, leaves, pivot) = (DVec2::ZERO, DVec2::X, DVec2::X, DVec2::Y);
        let (plant, close, support) = (None, None, Side::Left);
        let step = Footstep { begin: 1.0, end: 1.5, from, velocity, leaves, pivot, plant, close, support };
        let changed = [
            walks(),
            Plan { serial: 2, ..walks() },
            Plan { valid: false, ..walks() },
            Plan { reaches: true, ..walks() },
            Plan { way: vec![DVec2::X], ..walks() },
            Plan { goal: DVec2::Y, ..walks() },
            Plan { steps: vec![step], ..walks() },
            Plan { steps: vec![Footstep { end: 1.7, ..step }], ..walks() },
            Plan { conflict: 4.0, ..walks() },
            Plan { blocked: 4.0, ..walks() },
            Plan { nearest: 4.0, ..walks() },
            Plan { met: 4.0, ..walks() },
            Plan { served: 4.0, ..walks() },
            Plan { inflation: 2.0, ..walks() },
            Plan { failures: 1, ..walks() },
            Plan { led: true, ..walks() },
            Plan { said: 1, ..walks() },
            Plan { heard: 1, ..walks() },
            Plan { needs_validation: true, ..walks() },
            Plan { unreachable: true, ..walks() },
            Plan { searching: true, ..walks() },
            Plan { improvable: true, ..walks() },
        ];
        for to in changed {
            *plans.get_mut(7) = to;
            assert!(!hashes.contains(&plans.state_hash()));
            hashes.push(plans.state_hash());
        }
        plans.get_mut(50);
        assert_eq!(plans.state_hash(), hashes[hashes.len() - 1]);
        plans.forget(7);
        assert_eq!(plans.state_hash(), hashes[0]);
    }

    #[test]
    fn a_changed_map_has_every_plan_validated() {
        let mut plans = Plans::default();
        *plans.get_mut(2) = walks();
        assert!(hold_against_map(&mut plans, 1) && !hold_against_map(&mut plans, 1));
        assert!(plans.get(2).needs_validation && !plans.get(1).needs_validation);
        // Nor does another goal: agents around it rely on its path.
        plans.note(2, Change::Retargeted);
        assert_eq!(plans.get(2).path, walks().path);
    }
}
