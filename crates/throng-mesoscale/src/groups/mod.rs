//! # Groups are walked around (He, van den Berg 2013)
//! An agent perceives others who are close to one another and move alike as a group, and wants to go around the group as
//! a whole: its preferred velocity becomes the closest one outside all groups' velocity obstacles.
//!
//! What the paper says, and what it leaves open:
//! - Who belongs together is the same for all who judge alike, so it is worked out once a step and not once an agent
//!   (`cluster`). An agent perceives what of it lies within its own distance and is not hidden by a wall; where only a
//!   part of a group does, that part is clustered again.
//! - An agent never walks around those it walks with: the group that it belongs to itself is left out.
//! - It stands among a group's members (they cover half a turn or more): the group is left to the microscale.
//! - A group counts when the preferred velocity would lead into it within `time_horizon`, and before the goal is reached.
//!   A group that moves along with the agent is never reached. One whose members stand around the goal when the agent
//!   gets there is no obstacle but a destination.
//! - How often groups are perceived: every `attention` seconds. In between an agent turns its preferred velocity as it
//!   did when it looked last. People do not do more, and it costs a fraction.
//! - All velocities are covered: the furthest groups are left out until something is free.
//! - The agent remembers the side on which it passes and changes it only where the other is far better, or where a wall
//!   is in the way (`choice`). Where walls leave neither side, it goes on as it wanted to.
//! - Beyond the paper: cohorts that walk together (`together`) avoid as one.

mod choice;
mod cluster;
mod lookout;
mod sight;
#[cfg(test)]
mod tests;
mod together;

use crate::{Mesoscale, Perceived};
use cluster::{Clustering, Relation};
use glam::Vec2;
use lookout::Lookout;
use rayon::prelude::*;
use sight::{Looker, Sight};
use std::cell::RefCell;
use throng_core::CHUNK;
use throng_core::handover::Intents;
use throng_core::world::{Detour, Status, View};
use together::Mates;

throng_core::params! {
    /// Others who move alike are perceived as groups and walked around.
    pub struct Groups("groups") {
        /// Others further away than this are not perceived.
        neighbor_distance: f32 = 15.0, "m", Limit::above(0.0).up_to(1000.0);
        /// At most this many groups are perceived, the nearest ones.
        max_groups: usize = 12, "", Limit::from(1.0).up_to(64.0);
        /// Two who are closer than this to one another may belong together.
        member_distance: f32 = 2.0, "m", Limit::above(0.0).up_to(100.0);
        /// Two whose velocities differ by less than this may belong together.
        velocity_difference: f32 = 0.6, "m/s", Limit::above(0.0).up_to(100.0);
        /// How long an agent keeps to what it decided before it looks again.
        attention: f32 = 1.0, "s", Limit::from(0.0).up_to(60.0);
        /// Groups that are reached later than this do not count.
        time_horizon: f32 = 20.0, "s", Limit::above(0.0).up_to(1000.0);
    }
}

impl Groups {
    fn relation(&self) -> Relation {
        Relation { distance: self.member_distance, velocity: self.velocity_difference }
    }
}

/// The model at work: who judges how, and what all share of it.
pub struct Perception {
    /// By cohort.
    params: Vec<Groups>,
    /// By cohort: which of the clusterings is its own.
    kind: Vec<usize>,
    clusterings: Vec<(Clustering, Lookout)>,
    /// What everybody wanted before this stage.
    wanted: (Vec<f32>, Vec<f32>),
}

impl Perception {
    /// For cohorts with these parameters.
    pub fn new(params: Vec<Groups>) -> Perception {
        let mut relations: Vec<Relation> = Vec::new();
        let mut kind = Vec::new();
        for groups in &params {
            let place = relations.iter().position(|&relation| relation == groups.relation());
            kind.push(place.unwrap_or_else(|| {
                relations.push(groups.relation());
                relations.len() - 1
            }));
        }
        let clustering = |relation| (Clustering::new(relation), Lookout::default());
        let clusterings = relations.into_iter().map(clustering).collect();
        Perception { params, kind, clusterings, wanted: Default::default() }
    }

    /// In every how many-th step groups are perceived: as often as the most attentive asks for.
    fn every(&self, dt: f32) -> u64 {
        let attention = self.params.iter().map(|params| params.attention).fold(f32::INFINITY, f32::min);
        if attention.is_finite() { (attention / dt).round().max(1.0) as u64 } else { 1 }
    }

    fn cluster(&mut self, view: View<'_>) {
        for (index, (clustering, lookout)) in self.clusterings.iter_mut().enumerate() {
            let own = self.params.iter().zip(&self.kind).filter(|&(_, &kind)| kind == index);
            let range = own.map(|(params, _)| params.neighbor_distance).fold(0.0, f32::max);
            clustering.run(view);
            lookout.list(&clustering.groups, range);
        }
    }

    /// The preferred velocity and the side of one agent.
    fn adapt(&self, view: View<'_>, row: usize, preferred: Vec2, work: &mut Work) -> (Vec2, f32) {
        let agents = view.agents;
        let cohort = agents.cohort[row] as usize;
        let (params, (clustering, lookout)) = (&self.params[cohort], &self.clusterings[self.kind[cohort]]);
        if preferred == Vec2::ZERO || agents.status[row] != Status::Walking {
            return (preferred, 0.0);
        }
        let looker = alone(view, row, clustering);
        if !sight::is_on_course(clustering, lookout, params, &looker, preferred) {
            return (preferred, 0.0);
        }
        work.sight.look(view, clustering, lookout, params, &looker);
        choice::choose(view, params, clustering, &looker, preferred, &mut work.sight)
    }
}

/// Somebody who looks for itself.
fn alone(view: View<'_>, row: usize, clustering: &Clustering) -> Looker {
    let (position, radius) = (view.position(row), view.agents.radius[row]);
    Looker { row, position, radius, own: clustering.group_of[row], mates: None }
}

/// As when the agents looked last.
fn keep_turning(intents: &mut Intents) {
    let columns = (
        intents.vx.par_chunks_mut(CHUNK),
        intents.vy.par_chunks_mut(CHUNK),
        intents.detour.par_chunks(CHUNK),
    );
    columns.into_par_iter().for_each(|(vx, vy, detour)| {
        for ((vx, vy), detour) in vx.iter_mut().zip(vy).zip(detour) {
            (*vx, *vy) = detour.turn.rotate(Vec2::new(*vx, *vy)).into();
        }
    });
}

/// What `from` has to be multiplied with, as a complex number, to become `to`.
fn ratio(to: Vec2, from: Vec2) -> Vec2 {
    let squared = from.length_squared();
    if squared > 0.0 { Vec2::new(from.dot(to), from.perp_dot(to)) / squared } else { Vec2::X }
}

/// Scratch memory of one thread.
#[derive(Default)]
struct Work {
    sight: Sight,
    mates: Mates,
}

thread_local! {
    static WORK: RefCell<Work> = RefCell::default();
}

impl Mesoscale for Perception {
    fn run(&mut self, view: View<'_>, intents: &mut Intents) {
        if !view.step.is_multiple_of(self.every(view.dt)) {
            return keep_turning(intents);
        }
        self.cluster(view);
        let together = view.cohorts.iter().any(|cohort| cohort.together);
        // Those who walk together read what their mates want, so it must not change meanwhile.
        if together {
            self.wanted.0.clone_from(&intents.vx);
            self.wanted.1.clone_from(&intents.vy);
        }
        let model = &*self;
        let columns = (
            intents.vx.par_chunks_mut(CHUNK),
            intents.vy.par_chunks_mut(CHUNK),
            intents.detour.par_chunks_mut(CHUNK),
        );
        columns.into_par_iter().enumerate().for_each(|(chunk, (vx, vy, detour))| {
            WORK.with_borrow_mut(|work| {
                work.mates.forget();
                for i in 0..vx.len() {
                    let (row, preferred) = (chunk * CHUNK + i, Vec2::new(vx[i], vy[i]));
                    let together = together && view.cohorts[view.agents.cohort[row] as usize].together;
                    let adapted = if together {
                        model.adapt_together(view, row, &model.wanted, work)
                    } else {
                        model.adapt(view, row, preferred, work)
                    };
                    detour[i] = Detour { turn: ratio(adapted.0, preferred), side: adapted.1, ..detour[i] };
                    (vx[i], vy[i]) = detour[i].turn.rotate(preferred).into();
                }
            });
        });
    }

    fn explain(&mut self, view: View<'_>, _: &Intents, row: usize) -> Perceived {
        self.cluster(view);
        let cohort = view.agents.cohort[row] as usize;
        let (clustering, lookout) = &self.clusterings[self.kind[cohort]];
        let looker = alone(view, row, clustering);
        let mut sight = Sight::default();
        sight.look(view, clustering, lookout, &self.params[cohort], &looker);
        Perceived { groups: sight.tell(view, clustering), ..Perceived::default() }
    }
}
