//! What could not be foreseen: walls that were not there, agents who are not where they wanted to be. An agent that is touched
//! stands, and one that would run into it soon stands too; one that would later has time to plan again.

use super::plan::Plan;
use super::{Session, wide};
use crate::domain::occupancy::Passage;
use glam::DVec2;
use throng_core::world::{Status, View};

/// An agent that will meet another within this time stands at once, s.
const AT_ONCE: f64 = 1.0;

impl Session<'_> {
    /// Finds whose plans do not hold any more, and stops those who must stop.
    pub(super) fn guard(&mut self, view: View<'_>) {
        let mut stopped = Vec::new();
        for row in 0..view.agents.len() {
            let slot = view.agents.slot[row];
            let plan = self.plans.of(slot);
            // What has changed meanwhile is seen when it has landed.
            if self.is_in_flight(view, row) {
                continue;
            }
            if plan.serial == 0 {
                self.stop(view, row, plan.clone());
            } else if self.is_lost(view, row, plan) {
                self.stop(view, row, plan.clone());
                stopped.push(row);
            } else if plan.needs_validation {
                // The way is looked for again, the path stays as long as no wall is in it.
                let validated = Plan { needs_validation: false, way: Vec::new(), ..plan.clone() };
                self.publish(view, slot, validated);
            }
        }
        while let Some(row) = stopped.pop() {
            stopped.extend(self.warn_others(view, row));
        }
    }

    /// Whether an agent cannot go on as planned.
    fn is_lost(&self, view: View<'_>, row: usize, plan: &Plan) -> bool {
        let here = wide(view.position(row));
        let expected = plan.place(view.now).unwrap_or(here);
        let walks = plan.end() > view.now;
        let soon = walks && plan.conflict < view.now + AT_ONCE;
        expected.distance(here) > f64::from(self.params.tolerance)
            || soon
            || plan.needs_validation && self.is_walled(view, row, plan)
    }

    /// Whether a wall is in the rest of a path.
    fn is_walled(&self, view: View<'_>, row: usize, plan: &Plan) -> bool {
        let Some(ground) = self.known.maps.of(view, row) else { return false };
        let ahead = plan.path.iter().filter(|point| point.0 > view.now).map(|point| point.1);
        let places: Vec<DVec2> = std::iter::once(wide(view.position(row))).chain(ahead).collect();
        places.windows(2).any(|pair| !ground.sees(pair[0], pair[1]))
    }

    /// An agent stands from now on, and is served first.
    fn stop(&mut self, view: View<'_>, row: usize, plan: Plan) {
        let stands = Plan {
            valid: false,
            path: vec![(view.now, wide(view.position(row)))],
            steps: Vec::new(),
            reaches: false,
            conflict: f64::INFINITY,
            needs_validation: false,
            way: if plan.needs_validation { Vec::new() } else { plan.way.clone() },
            ..plan
        };
        self.publish(view, view.agents.slot[row], stands);
    }

    /// Tells those that would run into one that has stopped, and stops those who would at once. Their rows.
    fn warn_others(&mut self, view: View<'_>, row: usize) -> Vec<usize> {
        let at = wide(view.position(row));
        let mut stopped = Vec::new();
        for other in (0..view.agents.len()).filter(|&other| other != row) {
            let slot = view.agents.slot[other];
            let plan = self.plan(slot);
            let Some(time) = first_meeting(view, other, plan, at, f64::from(view.agents.radius[row])) else {
                continue;
            };
            if time < view.now + AT_ONCE && !self.is_in_flight(view, other) {
                let plan = plan.clone();
                self.stop(view, other, plan);
                stopped.push(other);
            } else if time < plan.conflict {
                let warned = Plan { conflict: time, ..plan.clone() };
                self.publish(view, slot, warned);
            }
        }
        stopped
    }
}

/// When a planned path comes too near to an agent that stands.
fn first_meeting(view: View<'_>, row: usize, plan: &Plan, at: DVec2, radius: f64) -> Option<f64> {
    if plan.end() <= view.now || view.agents.status[row] == Status::Waiting {
        return None;
    }
    let reach = radius + f64::from(view.agents.radius[row]);
    let near = wide(view.position(row)).distance(at);
    let ahead = plan.path.windows(2).filter(|pair| pair[1].0 > view.now);
    let passages =
        ahead.map(|pair| Passage { from: pair[0].1, to: pair[1].1, begin: pair[0].0, end: pair[1].0 });
    passages.into_iter().find_map(|passage| {
        let begin = passage.begin.max(view.now);
        let from = passage.at(begin);
        let along = passage.to - from;
        let length = along.length();
        let share =
            if length > 0.0 { ((at - from).dot(along) / (length * length)).clamp(0.0, 1.0) } else { 0.0 };
        // An agent that touches already may go away.
        let meets = (from + along * share).distance(at) < reach.min(near - 1e-6);
        let time = passage.end - begin;
        let before = if length > 0.0 { reach * time / length } else { 0.0 };
        meets.then(|| begin + (share * time - before).max(0.0))
    })
}
