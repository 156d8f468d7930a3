//! What lasts of planning: the routes of single agents, and, where a budget spreads it over steps, how far it has come.

use super::own_route::OwnRoute;
use crate::Meanwhile;
use crate::goal_cache::Key;
use crate::heading::GoalKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use throng_core::memory::{Memory, Remembered, Whole, mix};

/// How paths are planned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planning {
    /// Expansions in a step; 0: as many as it takes.
    pub budget: usize,
    /// ms in the place of the budget, where it is not 0.
    pub deadline: f32,
    pub meanwhile: Meanwhile,
    /// How much longer an agent may make the leg that it is on before its route is searched for anew, m.
    pub spare: f32,
}

impl Planning {
    /// Whether work may be left for later steps.
    pub fn is_spread(&self) -> bool {
        self.budget > 0 || self.deadline > 0.0
    }
}

/// The part of a deadline after which nothing begins: what has begun comes to its end.
const IN_TIME: f64 = 0.95;
/// The part of a deadline that is left to plan, however long it took to learn what has changed.
const AT_LEAST: f64 = 0.5;
/// Expansions between two looks at the clock.
const BETWEEN_LOOKS: u64 = 4096;

/// What may be done in a step.
pub(super) struct Allowance {
    /// Expansions; less than none where the last one took more than was left.
    left: i64,
    deadline: Option<Instant>,
    /// Whether nothing was done yet: before a deadline something always is.
    is_new: bool,
}

impl Allowance {
    /// That of a step that began at a time, less what the steps before have taken too much.
    pub fn begin(planning: &Planning, debt: u64, begin: Instant) -> Allowance {
        let part = |part: f64| Duration::from_secs_f64(part * f64::from(planning.deadline) / 1000.0);
        let deadline =
            (planning.deadline > 0.0).then(|| (begin + part(IN_TIME)).max(Instant::now() + part(AT_LEAST)));
        let counts = planning.budget > 0 && deadline.is_none();
        let left = if counts { planning.budget as i64 - debt as i64 } else { i64::MAX };
        Allowance { left, deadline, is_new: true }
    }

    pub fn is_spent(&self) -> bool {
        self.left <= 0 || !self.is_new && self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// What each of some may do before the next look at what is left.
    pub fn share(&self, among: usize) -> u64 {
        let most = if self.deadline.is_some() { BETWEEN_LOOKS } else { u64::MAX };
        (self.left.max(0) as u64 / among.max(1) as u64).clamp(1, most)
    }

    pub fn spend(&mut self, expansions: u64) {
        self.is_new = false;
        if self.deadline.is_none() && self.left < i64::MAX {
            self.left -= expansions as i64;
        }
    }

    /// What was taken too much.
    pub fn debt(&self) -> u64 {
        self.left.min(0).unsigned_abs()
    }
}

/// What lasts of planning: the routes of agents, by slot, and how far it has come.
pub(crate) type Planned = (Memory<OwnRoute>, Whole<Agenda>);

/// How far planning has come that is spread over steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Agenda {
    /// Trees that were begun, by goal: its shape, and the expansions so far.
    pub trees: BTreeMap<Key, (u64, u64)>,
    /// Expansions that steps have taken too much.
    pub debt: u64,
    /// The id whose turn it is, or the next one that there is.
    pub turn: u32,
}

impl Remembered for Agenda {
    fn state_hash(&self) -> Option<u64> {
        let goal = |key: &Key| match key.goal {
            GoalKey::Point(x, y) => mix(u64::from(x) << 32 | u64::from(y)),
            GoalKey::Area(cohort) => 1 << 32 | u64::from(cohort),
            GoalKey::Destination(number) => 2 << 32 | u64::from(number),
        };
        let tree = |hash: u64, (key, &(shape, spent)): (&Key, &(u64, u64))| {
            [goal(key), key.radius.into(), shape, spent].into_iter().fold(hash, |hash, word| mix(hash ^ word))
        };
        let begin = mix(self.debt) ^ u64::from(self.turn);
        (*self != Agenda::default()).then(|| self.trees.iter().fold(begin, tree))
    }

    fn heap_bytes(&self) -> usize {
        self.trees.len() * size_of::<(Key, (u64, u64))>()
    }
}
