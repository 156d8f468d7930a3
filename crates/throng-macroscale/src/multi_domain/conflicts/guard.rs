//! What could not be foreseen: walls that were not there, agents who are not where they wanted to be. An agent that is touched
//! stands, and one that would run into it soon stands too; one that would later has time to plan again.

use crate::domain::occupancy::Passage;
use crate::multi_domain::plan::Plan;
use crate::multi_domain::{Known, Session, wide};
use glam::DVec2;
use throng_core::CHUNK;
use throng_core::parallel;
use throng_core::world::{Status, View};

/// An agent that will meet another within this time stands at once, s.
const AT_ONCE: f64 = 1.0;

/// Why an agent cannot go on as if nothing had been.
enum Fault {
    /// It has never had a plan.
    New,
    /// It cannot go on as planned.
    Lost,
    /// The map is another one, and its path is still free.
    Unsure,
}

impl Session<'_> {
    /// Finds whose plans do not hold any more, and stops those who must stop.
    pub(crate) fn guard(&mut self, view: View<'_>) {
        let fault = |row: usize| Some((row, self.fault(view, row)?));
        let faults = parallel::filter_map(CHUNK, view.agents.len(), fault);
        let mut stopped = Vec::new();
        for (row, fault) in faults {
            let slot = view.agents.slot[row];
            let plan = self.plans.get(slot).clone();
            match fault {
                Fault::New => self.stop(view, row, plan),
                Fault::Lost => {
                    self.stop(view, row, plan);
                    stopped.push(row);
                }
                // The way is looked for again, the path stays as long as no wall is in it.
                Fault::Unsure => {
                    let validated = Plan { needs_validation: false, heard: 0, way: Vec::new(), ..plan };
                    self.publish(view, slot, validated);
                }
            }
        }
        while let Some(row) = stopped.pop() {
            stopped.extend(self.warn_others(view, row));
        }
    }

    /// What is wrong with an agent's plan, if anything is.
    fn fault(&self, view: View<'_>, row: usize) -> Option<Fault> {
        let plan = self.plans.get(view.agents.slot[row]);
        // What has changed meanwhile is seen when it has landed.
        if self.is_in_flight(view, row) {
            return None;
        }
        if plan.serial == 0 {
            return Some(Fault::New);
        }
        let lost = self.is_lost(view, row, plan).then_some(Fault::Lost);
        lost.or(plan.needs_validation.then_some(Fault::Unsure))
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
        let here = wide(view.position(row));
        let stands = Plan {
            valid: false,
            path: vec![(view.now, here)],
            steps: Vec::new(),
            reaches: false,
            conflict: f64::INFINITY,
            heard: 0,
            needs_validation: false,
            way: if plan.needs_validation { Vec::new() } else { plan.bends_ahead(here).to_vec() },
            ..plan
        };
        self.publish(view, view.agents.slot[row], stands);
    }

    /// Tells those that would run into one that has stopped, and stops those who would at once. Their rows.
    fn warn_others(&mut self, view: View<'_>, row: usize) -> Vec<usize> {
        let (at, radius) = (wide(view.position(row)), f64::from(view.agents.radius[row]));
        let mut stopped = Vec::new();
        for other in self.rows_that_pass(view, at, radius) {
            let slot = view.agents.slot[other];
            let plan = self.plan(slot);
            let met = (other != row).then(|| first_meeting(view, other, plan, at, radius)).flatten();
            let Some(time) = met else {
                continue;
            };
            if time < view.now + AT_ONCE && !self.is_in_flight(view, other) {
                let plan = plan.clone();
                self.stop(view, other, plan);
                stopped.push(other);
            } else if time < plan.conflict {
                let warned = Plan { conflict: time, heard: 0, ..plan.clone() };
                self.publish(view, slot, warned);
            }
        }
        stopped
    }

    /// The rows of all who may come within a distance of a place from now on, ascending, and of some others.
    fn rows_that_pass(&self, view: View<'_>, at: DVec2, distance: f64) -> Vec<usize> {
        let Known { reservations, rows, .. } = &*self.known;
        let is_agent = |body: u32| reservations.agent(body).is_some();
        let times = [view.now, reservations.latest.max(view.now)];
        let near = reservations.published.some_within([at - distance, at + distance], times, is_agent);
        let slots = near.into_iter().filter_map(|body| reservations.agent(body));
        let mut rows: Vec<usize> = slots.map(|slot| rows[slot as usize] as usize).collect();
        rows.sort_unstable();
        rows
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
