//! Where agents have said that they will be: what a planner in space and time remembers from step to step.
//!
//! Searches live no longer than the step in which they run; what they found is here, so that a checkpoint holds all of it.

use super::Footstep;
use crate::memory::mix;
use glam::DVec2;
use serde::{Deserialize, Serialize};

/// What an agent plans to do, in every domain that it has planned in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Counts the changes of this plan, so that whoever has copied it knows whether it still holds.
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
    /// What the last search was guided by: the way, or one around those who stand on it.
    pub line: Vec<DVec2>,
    /// How far from the line the last search looked, m.
    pub width: f32,
    /// The goal that the way leads to.
    pub goal: DVec2,
    /// The path costs at most so many times the cheapest, as far as the search could tell.
    pub inflation: f32,
    /// When it was last thought about, s.
    pub served: f64,
    /// When somebody will be in the way who was not expected there, s; infinite where nobody is known.
    pub conflict: f64,
    /// Since when there has been no way on, s; infinite where there is one.
    pub blocked: f64,
    /// How often in a row there was no plan.
    pub failures: u32,
    /// Whether the map has changed since the path was held against it.
    pub doubted: bool,
    /// Whether there was no way to the goal on the map when it was last looked for.
    pub stranded: bool,
}

impl Default for Plan {
    fn default() -> Plan {
        NOTHING
    }
}

const NOTHING: Plan = Plan {
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
    failures: 0,
    doubted: false,
    stranded: false,
};

impl Plan {
    /// Where the agent will be at a time; `None` where nothing is planned.
    pub fn place(&self, time: f64) -> Option<DVec2> {
        let after = self.path.partition_point(|&(t, _)| t <= time);
        match (after.checked_sub(1).map(|before| self.path[before]), self.path.get(after)) {
            (Some((t0, from)), Some(&(t1, to))) => Some(from.lerp(to, (time - t0) / (t1 - t0))),
            (Some((_, last)), None) => Some(last),
            (None, first) => first.map(|first| first.1),
        }
    }

    /// When the path ends, s.
    pub fn end(&self) -> f64 {
        self.path.last().map_or(f64::NEG_INFINITY, |last| last.0)
    }

    /// The memory that it takes.
    pub fn bytes(&self) -> usize {
        size_of::<Plan>()
            + self.path.capacity() * size_of::<(f64, DVec2)>()
            + self.steps.capacity() * size_of::<Footstep>()
            + (self.way.capacity() + self.line.capacity()) * size_of::<DVec2>()
    }

    fn hash(&self) -> u64 {
        let word = |hash: u64, value: f64| mix(hash ^ value.to_bits());
        let place = |hash: u64, at: &DVec2| word(word(hash, at.x), at.y);
        let flags = u64::from(self.valid)
            | u64::from(self.reaches) << 1
            | u64::from(self.doubted) << 2
            | u64::from(self.stranded) << 3;
        let hash = mix(u64::from(self.serial) << 32 | u64::from(self.failures) << 8 | flags);
        let hash = [self.served, self.conflict, self.blocked].into_iter().fold(hash, word);
        let hash = word(word(hash, self.inflation.into()), self.width.into());
        let hash = self.path.iter().fold(place(hash, &self.goal), |hash, (t, at)| word(place(hash, at), *t));
        let hash = self.steps.iter().fold(hash, |hash, step| step.hash(hash));
        self.way.iter().chain(&self.line).fold(hash, place)
    }
}

/// A plan that changes.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanChange {
    /// Whose.
    pub id: u32,
    /// What becomes of it.
    pub to: Plan,
}

/// Everybody's plan, by id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plans(Vec<Plan>);

static NONE: Plan = NOTHING;

impl Plans {
    /// An agent's plan.
    #[inline]
    pub fn of(&self, id: u32) -> &Plan {
        self.0.get(id as usize).unwrap_or(&NONE)
    }

    /// Takes changes over and leaves their list empty.
    pub(super) fn take(&mut self, changes: &mut Vec<PlanChange>) {
        for PlanChange { id, to } in changes.drain(..) {
            let id = id as usize;
            if id >= self.0.len() {
                self.0.resize(id + 1, Plan::default());
            }
            self.0[id] = to;
        }
    }

    /// An agent has none any more.
    pub fn forget(&mut self, id: u32) {
        if let Some(plan) = self.0.get_mut(id as usize) {
            *plan = Plan::default();
        }
    }

    /// The map has changed: every path has to be held against it.
    pub fn doubt(&mut self) {
        for plan in self.0.iter_mut().filter(|plan| plan.serial > 0) {
            plan.doubted = true;
        }
    }

    /// The memory that all of them take.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(Plan::bytes).sum()
    }

    /// A number that differs whenever a plan differs in a bit. Who has none does not count: a list may be longer or not.
    pub(super) fn hash(&self) -> u64 {
        let planned = self.0.iter().enumerate().filter(|(_, plan)| plan.serial > 0);
        planned.map(|(id, plan)| mix(mix(id as u64) ^ plan.hash())).fold(0, u64::wrapping_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Side;

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
    fn every_change_is_seen_by_the_hash_and_a_longer_list_is_not() {
        let mut plans = Plans::default();
        let mut hashes = vec![plans.hash()];
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
            Plan { served: 4.0, ..walks() },
            Plan { inflation: 2.0, ..walks() },
            Plan { failures: 1, ..walks() },
            Plan { doubted: true, ..walks() },
        ];
        for to in changed {
            plans.take(&mut vec![PlanChange { id: 7, to }]);
            assert!(!hashes.contains(&plans.hash()));
            hashes.push(plans.hash());
        }
        plans.take(&mut vec![PlanChange { id: 50, to: Plan::default() }]);
        assert_eq!(plans.hash(), hashes[hashes.len() - 1]);
        plans.forget(7);
        assert_eq!(plans.hash(), hashes[0]);
    }

    #[test]
    fn a_changed_map_puts_every_plan_in_doubt() {
        let mut plans = Plans::default();
        plans.take(&mut vec![PlanChange { id: 2, to: walks() }]);
        plans.doubt();
        assert!(plans.of(2).doubted && !plans.of(1).doubted);
    }
}
