//! # Groups are walked around (He, van den Berg 2013)
//! An agent perceives others who are close to one another and move alike as a group, and wants to go around the group as
//! a whole: its preferred velocity becomes the closest one outside all groups' velocity obstacles.
//!
//! What the paper says, and what it leaves open:
//! - Who belongs together is the same for all who judge alike, so it is worked out once a step and not once an agent
//!   (`cluster`). An agent perceives what of it lies within its own distance and is not hidden by a wall, and never
//!   itself; where only a part of a group is left, that part is clustered again (`sight`).
//! - Distance and thresholds are each agent's own where they are drawn. Clusters are then those of the widest thresholds that an
//!   agent of the cohort may have drawn, and are taken apart by the own ones of the agent that looks, which is what the paper's
//!   definition gives. Only whom an agent walks with goes by the widest.
//! - An agent does not walk around those it walks with. It walks with the group that it is linked to if it would like to
//!   go as the others in it go: a group that carries it along against its will is walked around.
//! - It stands among a group's members (they cover more than half a turn): the group is left to the microscale.
//! - A group counts when the preferred velocity would lead into it within `time_horizon`, and before the goal is reached.
//!   A group that moves along with the agent is never reached. One whose members stand around the goal when the agent
//!   gets there is no obstacle but a destination.
//! - How often groups are perceived: every `attention` seconds. In between an agent turns its preferred velocity as it
//!   did when it looked last, unless that has come to lead elsewhere, as it does behind a corner. People do not do more,
//!   and it costs a fraction.
//! - All velocities are covered: the furthest groups are left out until something is free.
//! - The agent remembers the side on which it passes and changes it only where the other is far better, or where a wall
//!   is in the way (`choice`). Where walls leave neither side, it goes on as it wanted to.
//! - Beyond the paper: cohorts that walk together (`together`) avoid as one.

mod choice;
mod cluster;
mod nearby_groups;
mod sight;
#[cfg(test)]
mod tests;
mod together;

use crate::{Mesoscale, MesoscaleModel, Perceived};
use cluster::{Clustering, Relation};
use glam::Vec2;
use nearby_groups::NearbyGroups;
use serde::{Deserialize, Serialize};
use sight::{Looker, Scene, Sight};
use std::cell::RefCell;
use throng_core::CHUNK;
use throng_core::geom::at_most;
use throng_core::handover::Intents;
use throng_core::memory::{Change, Memory, Remember, Remembered, mix};
use throng_core::parallel::for_chunks;
use throng_core::params::Draw;
use throng_core::world::{Status, View};
use together::Mates;

throng_core::params! {
    /// Others who move alike are perceived as groups and walked around.
    pub struct Groups("groups") {
        /// Others further away than this are not perceived; each agent may draw its own.
        neighbor_distance: Draw = Draw::Fixed(15.0), "m", Limit::above(0.0).up_to(1000.0);
        /// At most this many groups are perceived, the nearest ones.
        max_groups: usize = 12, "", Limit::from(1.0).up_to(64.0);
        /// Two who are closer than this to one another may belong together; each agent that looks may draw its own.
        member_distance: Draw = Draw::Fixed(2.0), "m", Limit::above(0.0).up_to(100.0);
        /// Two whose velocities differ by less than this may belong together; each agent that looks may draw its own.
        velocity_difference: Draw = Draw::Fixed(0.6), "m/s", Limit::above(0.0).up_to(100.0);
        /// How long an agent keeps to what it decided before it looks again.
        attention: f32 = 1.0, "s", Limit::from(0.0).up_to(60.0);
        /// Groups that are reached later than this do not count.
        time_horizon: f32 = 20.0, "s", Limit::above(0.0).up_to(1000.0);
    }
}

impl Groups {
    /// Whether agents look in this step.
    fn is_due(&self, view: View<'_>) -> bool {
        view.step.is_multiple_of((self.attention / view.dt).round().max(1.0) as u64)
    }

    /// By what its agents may find others to belong together: whatever one of them has drawn, it joins no others.
    fn widest(&self) -> Relation {
        let high = |draw: Draw| draw.high() as f32;
        Relation { distance: high(self.member_distance), velocity: high(self.velocity_difference) }
    }

    /// What an agent has drawn for itself.
    #[inline(always)]
    fn own(&self, view: View<'_>, row: usize) -> Own {
        let drawn = |draw: Draw, parameter| draw.of(view.seed, view.agents.id[row], parameter);
        Own {
            neighbor_distance: drawn(self.neighbor_distance, 5),
            relation: Relation {
                distance: drawn(self.member_distance, 6),
                velocity: drawn(self.velocity_difference, 7),
            },
        }
    }
}

/// The values of one agent: the paper's n and its two ε.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Own {
    neighbor_distance: f32,
    relation: Relation,
}

/// The model at work: who judges how, and what all share of it.
pub struct Perception {
    /// By cohort.
    params: Vec<Groups>,
    /// By cohort: which of the clusterings is its own.
    kind: Vec<usize>,
    clusterings: Vec<(Clustering, NearbyGroups)>,
    /// By cohort: whether it looks in this step.
    due: Vec<bool>,
    /// What every agent wanted before this stage.
    wanted: [Vec<f32>; 2],
    memory: Memory<Detour>,
}

/// How an agent goes round a group, from one look to the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detour {
    /// The direction of the preferred velocity that it was made for; zero where there is none.
    pub heading: Vec2,
    /// What its preferred velocity is multiplied with, as a complex number: turned by its angle, scaled by its length.
    pub turn: Vec2,
    /// On which side a group is passed: 1 left, -1 right, 0 while nothing is in the way.
    pub side: f32,
}

impl Default for Detour {
    fn default() -> Detour {
        Detour { heading: Vec2::ZERO, turn: Vec2::X, side: 0.0 }
    }
}

impl Remembered for Detour {
    fn state_hash(&self) -> Option<u64> {
        let Detour { heading, turn, side } = *self;
        let values = [heading.x, heading.y, turn.x, turn.y, side];
        let hash = || values.into_iter().fold(0, |hash, value| mix(hash ^ u64::from(value.to_bits())));
        (*self != Detour::default()).then(hash)
    }

    /// An agent that steps out of a wall is still on its way around the group.
    fn outlasts(change: Change) -> bool {
        change == Change::PutAside
    }
}

impl Perception {
    /// For cohorts with these parameters.
    pub fn new(params: Vec<Groups>) -> Perception {
        let mut relations: Vec<Relation> = Vec::new();
        let mut kind = Vec::new();
        for groups in &params {
            let place = relations.iter().position(|&relation| relation == groups.widest());
            kind.push(place.unwrap_or_else(|| {
                relations.push(groups.widest());
                relations.len() - 1
            }));
        }
        let clustering = |relation| (Clustering::new(relation), NearbyGroups::default());
        let clusterings = relations.into_iter().map(clustering).collect();
        let (wanted, memory) = (Default::default(), Memory::default());
        Perception { params, kind, clusterings, due: Vec::new(), wanted, memory }
    }

    /// Works out who belongs together, for those cohorts that look.
    fn cluster(&mut self, view: View<'_>) {
        for (index, (clustering, nearby_groups)) in self.clusterings.iter_mut().enumerate() {
            let looks = |&cohort: &usize| self.kind[cohort] == index && self.due[cohort];
            let ranges = (0..self.due.len())
                .filter(looks)
                .map(|cohort| self.params[cohort].neighbor_distance.high() as f32);
            if let Some(range) = ranges.reduce(f32::max) {
                // Mates look from their middle, which may be as far again from where the outermost of them are.
                let together = view.cohorts.iter().any(|cohort| cohort.together);
                clustering.run(view);
                nearby_groups.list(&clustering.groups, if together { 2.0 * range } else { range });
            }
        }
    }

    /// How far the model that looks furthest does, m.
    fn furthest(&self) -> f32 {
        self.params.iter().map(|params| params.neighbor_distance.high() as f32).fold(0.0, f32::max)
    }

    fn scene<'a>(&'a self, view: View<'a>, row: usize) -> Scene<'a> {
        let cohort = view.agents.cohort[row] as usize;
        let (clustering, nearby_groups) = &self.clusterings[self.kind[cohort]];
        let params = &self.params[cohort];
        Scene { view, clustering, nearby_groups, params, own: params.own(view, row), memory: &self.memory }
    }

    /// What one agent would make of what it wants now.
    fn adapted(&mut self, view: View<'_>, intents: &Intents, row: usize) -> Vec2 {
        let preferred = Vec2::new(intents.vx[row], intents.vy[row]);
        if !self.params[view.agents.cohort[row] as usize].is_due(view) {
            return keep_turning(&mut self.memory.get(view.agents.slot[row]).clone(), preferred);
        }
        self.wanted[0].clone_from(&intents.vx);
        self.wanted[1].clone_from(&intents.vy);
        let mut work = Work::default();
        work.mates.forget(self.furthest());
        self.decide(view, row, preferred, &mut work).0
    }

    /// The velocity that one agent would like to have, and what it remembers of the decision.
    fn decide(&self, view: View<'_>, row: usize, preferred: Vec2, work: &mut Work) -> (Vec2, Detour) {
        if preferred == Vec2::ZERO || view.agents.status[row] != Status::Walking {
            return (preferred, Detour::default());
        }
        let scene = self.scene(view, row);
        let (adapted, side) = if view.cohorts[view.agents.cohort[row] as usize].together {
            let [x, y] = &self.wanted;
            together::adapt(scene, row, [x, y], work)
        } else {
            adapt(scene, &alone(scene, &[row as u32], preferred), &mut work.sight)
        };
        // Close to its goal an agent prefers to be slow; what it does instead must not grow when it gets another one.
        let most = view.agents.max_speed[row] / view.agents.preferred_speed[row].max(preferred.length());
        let turn =
            if adapted == preferred { Vec2::X } else { at_most(ratio(adapted, preferred), most.max(1.0)) };
        (turn.rotate(preferred), Detour { heading: preferred.normalize_or_zero(), turn, side })
    }
}

/// The velocity and the side of an agent that looks.
fn adapt(scene: Scene<'_>, looker: &Looker<'_>, sight: &mut Sight) -> (Vec2, f32) {
    if scene.is_on_course(looker) { choice::choose(scene, looker, sight) } else { (looker.preferred, 0.0) }
}

/// An agent that looks for itself.
fn alone<'a>(scene: Scene<'_>, body: &'a [u32; 1], preferred: Vec2) -> Looker<'a> {
    let (agents, row) = (scene.view.agents, body[0] as usize);
    Looker {
        row,
        position: scene.view.position(row),
        radius: agents.radius[row],
        body,
        middle: scene.view.position(row),
        room: 0.0,
        preferred,
        goal: scene.view.goal(row),
        side: scene.memory.get(agents.slot[row]).side,
        with: scene.walks_with(row, preferred),
        mates: None,
    }
}

/// Up to here a preferred velocity may have turned since the agent looked: 45 degrees, as a cosine.
const SAME_WAY: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// As when the agent looked last, if it still wants to go where it wanted then.
#[inline(always)]
fn keep_turning(detour: &mut Detour, preferred: Vec2) -> Vec2 {
    if detour.turn != Vec2::X && detour.heading.dot(preferred) < SAME_WAY * preferred.length() {
        detour.turn = Vec2::X;
    }
    detour.turn.rotate(preferred)
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

impl MesoscaleModel for Groups {
    fn model(cohorts: Vec<Groups>) -> Box<dyn Mesoscale> {
        Box::new(Perception::new(cohorts))
    }
}

impl Mesoscale for Perception {
    fn run(&mut self, view: View<'_>, intents: &mut Intents) {
        self.due.clear();
        self.due.extend(self.params.iter().map(|params| params.is_due(view)));
        self.cluster(view);
        // Those who walk together read what their mates want, so it must not change meanwhile.
        if view.cohorts.iter().zip(&self.due).any(|(cohort, &due)| due && cohort.together) {
            self.wanted[0].clone_from(&intents.vx);
            self.wanted[1].clone_from(&intents.vy);
        }
        let mut detours = self.memory.lend_rows(&view.agents.slot);
        let model = &*self;
        let furthest = model.furthest();
        let columns = (&mut intents.vx[..], &mut intents.vy[..], &mut detours[..]);
        for_chunks(CHUNK, columns, &|chunk, (vx, vy, detours)| {
            WORK.with_borrow_mut(|work| {
                work.mates.forget(furthest);
                for i in 0..vx.len() {
                    let (row, preferred) = (chunk * CHUNK + i, Vec2::new(vx[i], vy[i]));
                    let adapted;
                    if model.due[view.agents.cohort[row] as usize] {
                        (adapted, detours[i]) = model.decide(view, row, preferred, work);
                    } else {
                        adapted = keep_turning(&mut detours[i], preferred);
                    }
                    (vx[i], vy[i]) = adapted.into();
                }
            });
        });
        self.memory.take_rows(&view.agents.slot, detours);
    }

    fn explain(&mut self, view: View<'_>, intents: &Intents, row: usize) -> Perceived {
        self.due.clear();
        self.due.resize(self.params.len(), true);
        self.cluster(view);
        let (scene, mut work) = (self.scene(view, row), Work::default());
        work.mates.forget(self.furthest());
        let own = [row as u32];
        let looker = if view.cohorts[view.agents.cohort[row] as usize].together {
            together::looker(scene, &own, [&intents.vx, &intents.vy], &mut work.mates)
        } else {
            alone(scene, &own, Vec2::new(intents.vx[row], intents.vy[row]))
        };
        work.sight.perceive_ahead(scene, &looker);
        work.sight.perceive_around(scene, &looker);
        let groups = work.sight.describe(view, scene.clustering);
        let adapted = self.adapted(view, intents, row);
        Perceived { groups, adapted, ..Perceived::default() }
    }

    fn memory(&self) -> Option<&dyn Remember> {
        Some(&self.memory)
    }

    fn memory_mut(&mut self) -> Option<&mut dyn Remember> {
        Some(&mut self.memory)
    }
}
