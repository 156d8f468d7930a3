//! # Density look-ahead (Long, Aranha, Kanoh)
//! Every agent is expected to be a little ahead of itself; one that finds that it will be crowded there turns aside before it
//! is in the jam.
//!
//! What the paper says, and what it leaves open:
//! - The crowd is counted in the cells of a grid, every agent where it will be after `look` metres along its heading
//!   (`field`, figure 3). No agent is expected beyond its goal, or behind a wall; those who stand count where they stand. One
//!   who sets off heads where it wants to.
//! - An agent does not count itself.
//! - Ahead is where the agent would like to go. Section 3.2 reads along the present heading, which `along_heading` does; the
//!   turned looks are along the turned preferred velocity either way, as in figure 4. Over 10 seeds and without
//!   additions Circle-300 takes 376 s along the wish and 398 s along the heading, 4-way-2000 578 s and 609 s; on Crossing-600 one
//!   run in ten does not end along the wish. The wish is the default: one who has turned sees the crowd that it left, and does not
//!   turn back into it.
//! - Crowded ahead: turn by 45° to the preferred side. Crowded there too: by 45° to the other side, which is preferred
//!   from then on (figure 4). Figure 5's loop never ends where all is crowded, and what it leaves behind is another side in
//!   every step; here the emptier of the two is taken then, and the present one where both are as full.
//! - Where an agent is nearer to its goal than three looks, it does not turn. To look one length ahead is not enough: a
//!   block of people that assembles is a crowd to each of its members, and they would circle around it.
//! - No agent turns into a wall, nor so far that it loses the next stop of its route from sight.
//! - Beyond the paper: where walkers do not get on is told to the macroscale of the next step (`slow`). One that plans
//!   routes then leaves a jammed corridor for another where the detour is worth it.
//! - The threshold is a count and depends on the size of cells. `persons_per_m2` says the same for all sizes.
//!
//! Weighed and left: not to count those who walk along (crowds do not spread before they meet, and four blocks take half as
//! long again), the least crowded of five directions (no sooner, and they turn back), turning to one side only.

mod field;
mod slow;

use crate::{Mesoscale, MesoscaleModel, Perceived, is_open};
use field::Field;
use glam::Vec2;
use serde::{Deserialize, Serialize};
use slow::Slow;
use std::f32::consts::FRAC_1_SQRT_2;
use throng_core::CHUNK;
use throng_core::geom::unit_or;
use throng_core::handover::Intents;
use throng_core::memory::{Change, Memory, Remember, Remembered, mix};
use throng_core::parallel::for_chunks;
use throng_core::world::{Status, View};

throng_core::params! {
    /// Agents turn aside from where it will be crowded ahead, before they are in the jam. It does nothing within three looks
    /// of a goal, which is 24 m by default.
    pub struct Density("density") {
        /// Side of the cells that the crowd is counted in.
        cell: f32 = 5.0, "m", Limit::from(0.25).up_to(1000.0);
        /// How far ahead every agent is expected to be, and looks.
        look: f32 = 8.0, "m", Limit::above(0.0).up_to(1000.0);
        /// From this count on a place is crowded: those in its cell as one, those in the eight around it as a half.
        threshold: f32 = 5.0, "", Limit::above(0.0).up_to(1e6);
        /// The same as a density, whatever the size of cells; the count is not used where this is above 0.
        persons_per_m2: f32 = 0.0, "1/m2", Limit::from(0.0).up_to(100.0);
        /// Whether an agent looks along its present heading, as the paper has it, and not along where it would like to go.
        along_heading: bool = false, "", Limit::from(0.0);
        /// Whether jams are told to the macroscale, which then may choose another path. One cohort that says so is enough.
        divert: bool = true, "", Limit::from(0.0);
    }
}

/// Nearer to the goal than this many looks no agent turns away from it.
const NEAR: f32 = 3.0;
/// Slower than this part of its preferred speed no agent has a heading, only a wish.
const STANDS: f32 = 0.1;

/// The model at work: who judges how, and what all share of it.
pub struct LookAhead {
    /// By cohort.
    params: Vec<Density>,
    /// By cohort: which field it reads.
    kind: Vec<usize>,
    fields: Vec<Field>,
    /// Where an agent wants to be diverted.
    slow: Option<Slow>,
    memory: Memory<Lean>,
}

/// To which side an agent turns from crowds: 1 left, -1 right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lean(pub f32);

impl Default for Lean {
    fn default() -> Lean {
        Lean(-1.0)
    }
}

impl Remembered for Lean {
    fn state_hash(&self) -> Option<u64> {
        (*self != Lean::default()).then(|| mix(self.0.to_bits().into()))
    }

    /// An agent that steps out of a wall is among the same crowd as before.
    fn outlasts(change: Change) -> bool {
        change == Change::PutAside
    }
}

/// A look in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// The place that was looked at, m from the world's origin.
    pub place: Vec2,
    /// What was read there.
    pub reading: f32,
    /// From which reading on it is crowded.
    pub threshold: f32,
    /// Whether a wall is in the way, or the route would be lost from sight.
    pub barred: bool,
}

impl Probe {
    fn is_free(&self) -> bool {
        self.reading < self.threshold && !self.barred
    }
}

impl LookAhead {
    /// For cohorts with these parameters.
    pub fn new(params: Vec<Density>) -> LookAhead {
        let mut fields: Vec<Field> = Vec::new();
        let mut kind = Vec::new();
        for density in &params {
            let place = fields.iter().position(|field| field.side() == density.cell);
            kind.push(place.unwrap_or_else(|| {
                fields.push(Field::new(density.cell));
                fields.len() - 1
            }));
        }
        let diverted = params.iter().filter(|density| density.divert);
        let slow = diverted.map(|density| density.cell).reduce(f32::max).map(Slow::new);
        LookAhead { params, kind, fields, slow, memory: Memory::default() }
    }

    fn count(&mut self, view: View<'_>, intents: &Intents) {
        let params = &self.params;
        let will_be = |row: usize| {
            let look = params[view.agents.cohort[row] as usize].look;
            will_be(view, row, Vec2::new(intents.vx[row], intents.vy[row]), look)
        };
        for field in &mut self.fields {
            field.count(view.agents.len(), will_be);
        }
    }

    /// The velocity of one agent, and the side that it prefers from now on.
    #[inline(always)]
    fn adapt(&self, view: View<'_>, row: usize, preferred: Vec2, aim: Vec2, lean: f32) -> (Vec2, f32) {
        let look = self.params[view.agents.cohort[row] as usize].look;
        if preferred == Vec2::ZERO
            || view.agents.status[row] != Status::Walking
            || view.goal(row).distance_squared(view.position(row)) < (NEAR * look).powi(2)
        {
            return (preferred, lean);
        }
        let [ahead, first, other] = self.directions(view, row, preferred, lean);
        let probe = |towards: Vec2, turned| self.probe(view, row, towards, aim, turned);
        if probe(ahead, false).is_free() {
            return (preferred, lean);
        }
        let present = probe(first, true);
        if present.is_free() {
            return (first, lean);
        }
        match emptier(&present, &probe(other, true)) {
            Some(Side::Present) => (first, lean),
            Some(Side::Other) => (other, -lean),
            None => (preferred, lean),
        }
    }

    /// Where an agent looks: ahead, and by 45° to the side that it prefers and to the other.
    #[inline(always)]
    fn directions(&self, view: View<'_>, row: usize, preferred: Vec2, lean: f32) -> [Vec2; 3] {
        let along_heading = self.params[view.agents.cohort[row] as usize].along_heading;
        let ahead = if along_heading { heading(view, row, preferred) } else { preferred };
        let side = FRAC_1_SQRT_2 * lean;
        let [first, other] = [side, -side].map(|side| Vec2::new(FRAC_1_SQRT_2, side).rotate(preferred));
        [ahead, first, other]
    }

    /// Looks in a direction.
    #[inline(always)]
    fn probe(&self, view: View<'_>, row: usize, towards: Vec2, aim: Vec2, turned: bool) -> Probe {
        let cohort = view.agents.cohort[row] as usize;
        let (params, field) = (&self.params[cohort], &self.fields[self.kind[cohort]]);
        let from = view.position(row);
        let place = from + unit_or(towards, Vec2::ZERO) * params.look;
        let threshold = if params.persons_per_m2 > 0.0 {
            field.reading_of(params.persons_per_m2)
        } else {
            params.threshold
        };
        let barred = turned && is_barred(view, row, place, aim);
        Probe { place, reading: field.read(row, place), threshold, barred }
    }
}

/// One of the two sides that an agent can turn to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    /// The one that it prefers now.
    Present,
    Other,
}

/// The side that is less crowded, the present one where both are as full; none where walls bar both.
fn emptier(present: &Probe, other: &Probe) -> Option<Side> {
    match (present.barred, other.barred) {
        (true, true) => None,
        (false, true) => Some(Side::Present),
        (true, false) => Some(Side::Other),
        (false, false) if other.reading < present.reading => Some(Side::Other),
        (false, false) => Some(Side::Present),
    }
}

/// Where a row is going, as a unit vector: one that stands has no heading, only a wish.
#[inline(always)]
fn heading(view: View<'_>, row: usize, preferred: Vec2) -> Vec2 {
    let velocity = view.velocity(row);
    let stands = velocity.length_squared() < (STANDS * view.agents.preferred_speed[row]).powi(2);
    unit_or(if stands { preferred } else { velocity }, Vec2::ZERO)
}

/// Where a row will be soon.
#[inline(always)]
fn will_be(view: View<'_>, row: usize, preferred: Vec2, look: f32) -> Vec2 {
    let (place, agents) = (view.position(row), view.agents);
    if agents.status[row] != Status::Walking {
        return place;
    }
    let ahead = place + heading(view, row, preferred) * look.min(view.goal(row).distance(place));
    // No agent walks through a wall; one that heads for one will be near it.
    if !view.walls.all().is_empty() && view.walls.block_far(place, ahead) { place } else { ahead }
}

/// Whether a wall is in the way to a place, or between it and the next stop of the route where that is seen now.
fn is_barred(view: View<'_>, row: usize, place: Vec2, aim: Vec2) -> bool {
    if view.walls.all().is_empty() {
        return false;
    }
    let from = view.position(row);
    !is_open(view, from, place - from, view.agents.radius[row])
        || !view.walls.block_far(from, aim) && view.walls.block_far(place, aim)
}

impl MesoscaleModel for Density {
    fn model(cohorts: Vec<Density>) -> Box<dyn Mesoscale> {
        Box::new(LookAhead::new(cohorts))
    }
}

impl Mesoscale for LookAhead {
    fn run(&mut self, view: View<'_>, intents: &mut Intents) {
        if let Some(slow) = self.slow.as_mut().filter(|_| Slow::is_due(view)) {
            intents.jam = slow.measure(view, intents);
        }
        self.count(view, intents);
        let mut leans = self.memory.lend_rows(&view.agents.slot);
        let model = &*self;
        let columns = (&mut intents.vx[..], &mut intents.vy[..], &intents.aim[..], &mut leans[..]);
        for_chunks(CHUNK, columns, &|chunk, (vx, vy, aim, leans)| {
            for (i, Lean(lean)) in leans.iter_mut().enumerate() {
                let (row, preferred) = (chunk * CHUNK + i, Vec2::new(vx[i], vy[i]));
                let velocity;
                (velocity, *lean) = model.adapt(view, row, preferred, aim[i], *lean);
                (vx[i], vy[i]) = velocity.into();
            }
        });
        self.memory.take_rows(&view.agents.slot, leans);
    }

    fn explain(&mut self, view: View<'_>, intents: &Intents, row: usize) -> Perceived {
        self.count(view, intents);
        let preferred = Vec2::new(intents.vx[row], intents.vy[row]);
        let Lean(lean) = *self.memory.get(view.agents.slot[row]);
        let mut turned = false;
        let looks = self.directions(view, row, preferred, lean).map(|towards| {
            self.probe(view, row, towards, intents.aim[row], std::mem::replace(&mut turned, true))
        });
        let (adapted, _) = self.adapt(view, row, preferred, intents.aim[row], lean);
        Perceived { looks: looks.to_vec(), adapted, ..Perceived::default() }
    }

    fn memory(&self) -> Option<&dyn Remember> {
        Some(&self.memory)
    }

    fn memory_mut(&mut self) -> Option<&mut dyn Remember> {
        Some(&mut self.memory)
    }
}
