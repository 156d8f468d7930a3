//! A frame's time to think, shared out: counted in expansions, or until a deadline.

use crate::multi_domain::MultiDomain;
use crate::multi_domain::schedule::tasks::PlanRequest;
use std::time::{Duration, Instant};

/// What all agents together may do in a step.
pub(crate) struct Frame {
    left: u64,
    deadline: Option<Instant>,
    again: u32,
    is_new: bool,
}

/// What one agent may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Expansions.
    pub expansions: u64,
    /// When it is too late to begin.
    deadline: Option<Instant>,
}

/// The part of a deadline after which no turn begins: one that has begun comes to its end.
const IN_TIME: f64 = 0.95;
/// The part of a deadline that is left to think, however long it took to learn what has changed: else a large crowd would never.
const AT_LEAST: f64 = 0.5;
/// A share is doubled at most this many times: a turn must not be a hitch.
const DOUBLINGS: u32 = 2;
/// Plans that may be made again within a step because another agent was first.
const MOST_AGAIN: u32 = 200;

impl Frame {
    /// A frame that began at a time.
    pub fn begin(params: &MultiDomain, begin: Instant) -> Frame {
        let part = |part: f64| Duration::from_secs_f64(part * f64::from(params.deadline) / 1000.0);
        let deadline = || (begin + part(IN_TIME)).max(Instant::now() + part(AT_LEAST));
        let deadline = (params.deadline > 0.0).then(deadline);
        Frame { left: params.budget as u64, deadline, again: MOST_AGAIN, is_new: true }
    }

    pub fn is_spent(&self) -> bool {
        match self.deadline {
            _ if self.is_new => false,
            Some(deadline) => Instant::now() >= deadline,
            None => self.left == 0,
        }
    }

    /// What each of a batch may do, of some who wait for a turn: the less, the higher the number of its priority; more than its share
    /// where few wait for a budget, or where it has found nothing, since not all searches are kept and go on at the next turn.
    /// Those who are served first come first, and the last of them may get little.
    /// The very first gets what it wants, also when time is up: a budget may be smaller than the one search that finds a way.
    pub fn share_out(&mut self, batch: &[PlanRequest], waiting: usize, params: &MultiDomain) -> Vec<Share> {
        let is_counted = self.deadline.is_none();
        let mut left = if is_counted { self.left } else { u64::MAX };
        let even = if is_counted { left / (waiting as u64).max(1) } else { 0 };
        let share = params.share as u64;
        let share = |request: &PlanRequest| {
            let is_first = std::mem::replace(&mut self.is_new, false);
            // Before a deadline turns are short, but for one that may need more.
            let doublings = if is_counted || is_first { request.failures.min(DOUBLINGS) } else { 0 };
            let whole = even.max(share << doublings).min(share << DOUBLINGS);
            let wanted = (whole as f32 / request.priority).ceil() as u64;
            let expansions = if is_first { wanted } else { wanted.min(left) };
            left = left.saturating_sub(expansions);
            Share { expansions, deadline: self.deadline.filter(|_| !is_first) }
        };
        batch.iter().map(share).take_while(|share| share.expansions > 0).collect()
    }

    pub fn spend(&mut self, expansions: u64) {
        // To look at an agent costs something, also where nothing was searched.
        self.left = self.left.saturating_sub(expansions.max(1));
    }

    /// Whether a plan that came too late may be made again in this step.
    pub fn may_try_again(&mut self) -> bool {
        self.again = self.again.saturating_sub(1);
        self.again > 0
    }
}

impl Share {
    /// For one who is looked at: no clock, whatever the parameters say.
    pub fn counted(expansions: u64) -> Share {
        Share { expansions, deadline: None }
    }

    /// Whether time is up: no turn begins any more. One that has begun is counted and comes to its end, or those who are cut off
    /// would find nothing time and again.
    pub fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// What is left.
    pub fn left(&self, spent: u64) -> u64 {
        self.expansions.saturating_sub(spent)
    }
}

/// How long tasks took, for pictures and never for decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskRecord {
    /// The id of the agent.
    pub id: u32,
    /// s, by domain: Σ1 to Σ5.
    pub took: [f32; 5],
    /// As long it had waited for this turn since it has wanted a plan that it does not have, s of simulated time.
    pub waited: f32,
    /// Whether the turn was cut and goes on later.
    pub searching: bool,
    /// What it was charged: expansions in Σ4 and Σ5, and what else counts like them.
    pub expansions: u64,
    /// States that searches expanded, by domain.
    pub searched: [u64; 5],
    /// Where it was asked for: what a search that was kept took in this turn, and one that plans anew.
    pub compared: Option<Comparison>,
}

/// A search that was kept beside one that begins anew, for a plan with the same bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Comparison {
    /// States that the one that was kept has looked at since its last plan, and the new one.
    pub expansions: [u64; 2],
    /// What their plans cost, where both have one.
    pub costs: Option<[f32; 2]>,
}
