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
    /// When to stop whatever is left.
    deadline: Option<Instant>,
}

/// Expansions between looks at the clock: a quarter of a millisecond or so.
const SLICE: u64 = 16;
/// The part of a deadline after which no agent begins anything: what is begun has to be finished.
const IN_TIME: f64 = 0.95;
/// A share is doubled at most this many times.
const MOST_DOUBLINGS: u32 = 5;
/// Plans that may be made again within a step because another agent was first.
const MOST_AGAIN: u32 = 200;

impl Frame {
    pub fn begin(params: &MultiDomain, begin: Instant) -> Frame {
        let deadline = (params.deadline > 0.0)
            .then(|| begin + Duration::from_secs_f64(IN_TIME * f64::from(params.deadline) / 1000.0));
        Frame { left: params.budget as u64, deadline, again: MOST_AGAIN, is_new: true }
    }

    pub fn is_spent(&self) -> bool {
        match self.deadline {
            Some(deadline) => Instant::now() >= deadline,
            None => self.left == 0,
        }
    }

    /// What each of a batch may do: the less, the higher the number of its priority, and twice as much each time it found
    /// nothing. Those who are served first come first, and the last of them may get little.
    /// The very first gets what it wants: a budget may be smaller than the one search that finds a way.
    pub fn share_out(&mut self, batch: &[PlanRequest], params: &MultiDomain) -> Vec<Share> {
        let mut left = if self.deadline.is_some() { u64::MAX } else { self.left };
        let share = |request: &PlanRequest| {
            let whole = (params.share << request.failures.min(MOST_DOUBLINGS)) as f32;
            let wanted = (whole / request.priority).ceil() as u64;
            let is_first = std::mem::replace(&mut self.is_new, false);
            let expansions = if is_first { wanted } else { wanted.min(left) };
            left = left.saturating_sub(expansions);
            Share { expansions, deadline: self.deadline }
        };
        batch.iter().map(share).collect()
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

    /// Whether time is up. Never where expansions count: the last agent may get none, but is looked at.
    pub fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The next part of what is left, and nothing once time is up.
    pub fn slice(&self, spent: u64) -> u64 {
        let left = self.expansions.saturating_sub(spent);
        match self.deadline {
            Some(_) if self.is_over() => 0,
            Some(_) => left.min(SLICE),
            None => left,
        }
    }
}

/// How long tasks took, for pictures and never for decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskRecord {
    /// The id of the agent.
    pub id: u32,
    /// s, by domain: Σ1 to Σ5.
    pub took: [f32; 5],
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
