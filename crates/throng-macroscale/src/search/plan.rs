//! The way that a search has found, kept apart from its nodes: it outlives changes and new beginnings, until a look shows
//! that it cannot be gone any more.

use super::{Domain, edge_cost};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::hash::Hash;

/// States from the aim to a root, each with the cost that lies ahead.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Solution<S> {
    steps: Vec<(S, f32)>,
    /// The optimum is at least this.
    least: f32,
    /// Edges have changed since costs were worked out.
    outdated: bool,
    /// The search has forgotten the nodes that it came from, and would not notice where edges along it change.
    orphan: bool,
}

impl<S: Copy + Eq + Hash + Debug> Solution<S> {
    pub fn none() -> Solution<S> {
        Solution { steps: Vec::new(), least: 0.0, outdated: false, orphan: false }
    }

    pub fn clear(&mut self) {
        *self = Solution { steps: std::mem::take(&mut self.steps), ..Solution::none() };
        self.steps.clear();
    }

    /// The cost of the way, where there is one.
    pub fn cost(&self) -> Option<f32> {
        self.steps.first().map(|step| step.1)
    }

    /// How many times the optimum it may cost, where there is a path.
    pub fn bound(&self) -> Option<f32> {
        let cost = self.cost()?;
        let bound = if self.least > 0.0 { (cost / self.least).max(1.0) } else { f32::INFINITY };
        // The aim is a root: no way is cheaper than none.
        Some(if cost == 0.0 { 1.0 } else { bound })
    }

    pub fn states(&self) -> impl DoubleEndedIterator<Item = S> {
        self.steps.iter().map(|step| step.0)
    }

    /// Takes another path, and says whether it can be gone.
    pub fn replace(
        &mut self,
        domain: &dyn Domain<State = S>,
        states: impl Iterator<Item = S>,
        scratch: &mut Vec<(S, f32)>,
    ) -> bool {
        self.clear();
        self.steps.extend(states.map(|state| (state, 0.0)));
        self.price(domain, scratch)
    }

    /// Notes what is known of the optimum.
    pub fn set_least(&mut self, least: f32) {
        self.least = least;
    }

    /// Edges have changed: costs and the bound are no longer known.
    pub fn invalidate(&mut self) {
        self.least = 0.0;
        self.outdated = true;
    }

    /// The search forgets its nodes: from now on the way is outdated whenever it is asked for.
    pub fn outlive_nodes(&mut self) {
        self.orphan = true;
    }

    /// Looks again whether an outdated way can be gone, and forgets it where it cannot.
    pub fn check(&mut self, domain: &dyn Domain<State = S>, scratch: &mut Vec<(S, f32)>) {
        if self.outdated || self.orphan {
            self.outdated = false;
            self.price(domain, scratch);
        }
    }

    /// Works out the costs ahead, from the root as the search does, so that they round alike. Forgets the way and says so
    /// where a step is not possible.
    fn price(&mut self, domain: &dyn Domain<State = S>, scratch: &mut Vec<(S, f32)>) -> bool {
        for step in (0..self.steps.len().saturating_sub(1)).rev() {
            let (next, ahead) = self.steps[step + 1];
            let Some(cost) = edge_cost(domain, self.steps[step].0, next, scratch) else {
                self.clear();
                return false;
            };
            self.steps[step].1 = cost + ahead;
        }
        !self.steps.is_empty()
    }

    /// The aim has moved: what lies behind is dropped, and all where it has left the way. Says whether it is on the way.
    ///
    /// The optimum from here is at least what it was less what was gone, or the way before would have been better than
    /// the best.
    pub fn advance(&mut self, aim: S) -> bool {
        let Some(passed) = self.steps.iter().position(|step| step.0 == aim) else {
            self.clear();
            return false;
        };
        let gone = self.steps[0].1 - self.steps[passed].1;
        self.least = (self.least - gone).max(0.0);
        self.steps.drain(..passed);
        true
    }

    /// The memory it holds.
    pub fn bytes(&self) -> usize {
        self.steps.capacity() * size_of::<(S, f32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 to 4 in a row, each step at 1.5, without those that are blocked.
    struct Row(Vec<u32>);

    impl Domain for Row {
        type State = u32;

        fn successors(&self, state: u32, out: &mut Vec<(u32, f32)>) {
            out.extend((state < 4 && !self.0.contains(&(state + 1))).then_some((state + 1, 1.5)));
        }

        fn predecessors(&self, _: u32, _: &mut Vec<(u32, f32)>) {}

        fn heuristic(&self, _: u32, _: u32) -> f32 {
            0.0
        }
    }

    #[test]
    fn a_way_that_is_gone_along_keeps_an_honest_bound() {
        let mut plan = Solution::none();
        assert!(plan.replace(&Row(vec![]), 0..5, &mut Vec::new()));
        assert_eq!((plan.cost(), plan.bound()), (Some(6.0), Some(f32::INFINITY)));
        plan.set_least(4.0);
        assert_eq!(plan.bound(), Some(1.5));
        // 1.5 is gone. The optimum was 4 at least, and so 2.5 at least are left.
        assert!(plan.advance(1));
        assert_eq!((plan.cost(), plan.bound()), (Some(4.5), Some(1.8)));
        assert!(!plan.advance(0));
        assert_eq!((plan.cost(), plan.bound()), (None, None));
    }

    #[test]
    fn a_way_that_was_cut_is_forgotten_and_one_that_was_not_stays_without_a_bound() {
        let mut plan = Solution::none();
        plan.replace(&Row(vec![]), 1..4, &mut Vec::new());
        plan.set_least(3.0);
        plan.invalidate();
        plan.check(&Row(vec![4]), &mut Vec::new());
        assert_eq!((plan.cost(), plan.bound()), (Some(3.0), Some(f32::INFINITY)));
        plan.invalidate();
        plan.check(&Row(vec![2]), &mut Vec::new());
        assert_eq!((plan.cost(), plan.bound()), (None, None));
    }
}
