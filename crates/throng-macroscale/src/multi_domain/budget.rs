//! A frame's time to think, shared out: counted in expansions, or until a deadline.

use super::MultiDomain;
use super::tasks::Event;
use std::time::{Duration, Instant};

/// What all agents together may do in a step.
pub(super) struct Frame {
    left: u64,
    deadline: Option<Instant>,
    again: u32,
    is_new: bool,
}

/// What one agent may do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// Expansions.
    pub expansions: u64,
    /// When to stop whatever is left.
    deadline: Option<Instant>,
}

/// Expansions between looks at the clock: a quarter of a millisecond or so.
const SLICE: u64 = 16;
/// At least so long one may think at a time: what is shorter goes into taking a turn up again.
const LEAST: Duration = Duration::from_micros(250);
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

    /// For one who is looked at: no clock, whatever the parameters say.
    pub fn uncounted(params: &MultiDomain) -> Frame {
        Frame { left: params.budget as u64, deadline: None, again: 0, is_new: true }
    }

    /// Whether turns are cut by the clock.
    pub fn has_deadline(&self) -> bool {
        self.deadline.is_some()
    }

    pub fn is_spent(&self) -> bool {
        match self.deadline {
            Some(deadline) => Instant::now() >= deadline,
            None => self.left == 0,
        }
    }

    /// What each of a batch may do, by how often it found nothing. Those who are served first come first, and the last of
    /// them may get little.
    /// The very first gets what it wants: a budget may be smaller than the one search that finds a way.
    /// Where the clock counts, nobody gets more than one share while others wait.
    pub fn share_out(
        &mut self,
        failures: impl Iterator<Item = u32>,
        params: &MultiDomain,
        others_wait: bool,
    ) -> Vec<Share> {
        let most_doublings = if self.deadline.is_some() && others_wait { 0 } else { MOST_DOUBLINGS };
        let mut left = if self.deadline.is_some() { u64::MAX } else { self.left };
        let deadline = self.half_of_the_rest();
        let share = |failures: u32| {
            let wanted = (params.share as u64) << failures.min(most_doublings);
            let is_first = std::mem::replace(&mut self.is_new, false);
            let expansions = if is_first { wanted } else { wanted.min(left) };
            left = left.saturating_sub(expansions);
            Share { expansions, deadline }
        };
        failures.map(share).collect()
    }

    /// When those who are next have to stop. They get half of what is left: the first ones the most, and one that needs many
    /// frames leaves some of each to those behind it, most of whom need little.
    fn half_of_the_rest(&self) -> Option<Instant> {
        let (now, deadline) = (Instant::now(), self.deadline?);
        let half = deadline.saturating_duration_since(now) / 2;
        Some((now + half.max(LEAST)).min(deadline))
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
    /// Whether the clock counts, and not expansions.
    pub fn has_deadline(&self) -> bool {
        self.deadline.is_some()
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
    /// Of these, expansions of searches in Σ4 and Σ5.
    pub searched: u64,
    /// Why it was its turn.
    pub event: Option<Event>,
    /// How long it has waited for this turn to end, s; 0 where it has not ended.
    pub waited: f32,
}
