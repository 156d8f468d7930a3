//! Reservations of space and time: the published paths of all bodies, in an index. A copy of plans that is kept up to date.

use crate::domain::occupancy::{Occupancy, Trajectory};
use crate::multi_domain::plan::window::REST;
use crate::multi_domain::plan::{Plan, Plans};
use crate::multi_domain::{MultiDomain, wide};
use throng_core::world::View;

/// As long as the unit of time of most domains, s; with longer ones it takes longer to look further back.
const EARLIER: f64 = 1.0;

/// The published paths of all bodies. Movers come first, then agents by slot.
#[derive(Debug, Default)]
pub(crate) struct Reservations {
    pub published: Occupancy,
    /// By slot: the serial of the plan that is published, where there is one.
    serials: Vec<Option<u32>>,
    movers: usize,
    /// When the last of all paths of agents ends at the latest, s.
    pub latest: f64,
    /// The version of the movers that they are of.
    mover_version: Option<u64>,
}

impl Reservations {
    /// The number of an agent among all bodies.
    pub fn body(&self, slot: u32) -> u32 {
        self.movers as u32 + slot
    }

    /// The slot of the agent that a body is.
    pub fn agent(&self, body: u32) -> Option<u32> {
        body.checked_sub(self.movers as u32)
    }

    /// Publishes what has changed since the last update, and withdraws agents that have left.
    pub fn update(&mut self, view: View<'_>, params: &MultiDomain, plans: &Plans, rows: &[u32]) {
        // Nearly all questions are about a plan, from the unit of its domain that began a little earlier, and a rest after it.
        let window = [view.now - EARLIER, view.now + 2.0 * f64::from(params.horizon) + 2.0 * REST];
        if self.mover_version != Some(view.mover_version) {
            let (movers, mover_version) = (view.scripts.len(), Some(view.mover_version));
            *self = Reservations { movers, mover_version, ..Reservations::default() };
            self.published.cover(window);
            let in_the_way = view.scripts.iter().enumerate().filter(|(_, script)| !script.carries);
            for (mover, script) in in_the_way {
                let path = script.path.iter().map(|&(time, at)| (time, wide(at))).collect();
                let radius = f64::from(script.radius + params.margin);
                self.published.publish(mover as u32, Trajectory { radius, path, stays: true });
            }
        }
        self.published.cover(window);
        self.serials.resize(self.serials.len().max(rows.len()), None);
        for slot in 0..self.serials.len() {
            let row = rows.get(slot).copied().filter(|&row| row != u32::MAX);
            let Some(row) = row else {
                if self.serials[slot].take().is_some() {
                    self.published.withdraw(self.body(slot as u32));
                }
                continue;
            };
            let plan = plans.get(slot as u32);
            if self.serials[slot] != Some(plan.serial) {
                self.publish(view, params, row as usize, plan);
            }
        }
    }

    /// Reserves an agent's path. An agent without a plan stands.
    pub fn publish(&mut self, view: View<'_>, params: &MultiDomain, row: usize, plan: &Plan) {
        let slot = view.agents.slot[row];
        self.latest = self.latest.max(plan.end());
        let radius = f64::from(view.agents.radius[row] + params.margin);
        let trajectory = if plan.path.is_empty() {
            Trajectory::standing(radius, wide(view.position(row)))
        } else {
            let leaves = view.bound(row).leaves;
            Trajectory { radius, path: plan.path.clone(), stays: !(leaves && plan.reaches) }
        };
        self.published.publish(self.body(slot), trajectory);
        self.serials[slot as usize] = Some(plan.serial);
    }

    /// The memory that it takes, roughly.
    pub fn bytes(&self) -> usize {
        self.published.bytes()
    }
}
