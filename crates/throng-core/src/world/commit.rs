//! The one write of a step, and the agents that it removes.

use super::{Bound, Cohort, Destination, Status, World};
use crate::handover::Moves;
use crate::memory::mix;
use crate::parallel::for_chunks;
use glam::Vec2;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

/// An agent that is no longer in the columns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Departure {
    /// Who.
    pub id: u32,
    /// The slot that it had, and how many had it before.
    pub slot: u32,
    /// See [`Slots::generation`](super::Slots::generation).
    pub generation: u32,
    /// Which cohort.
    pub cohort: u16,
    /// When it arrived, s; negative where it never did.
    pub arrival: f32,
    /// When it began to walk, s.
    pub start: f32,
    /// How far it walked, m.
    pub walked: f32,
    /// Why it is gone.
    pub cause: Cause,
}

/// Why an agent is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It arrived, and its cohort leaves on arrival.
    Arrived,
    /// The caller removed it.
    Despawned,
    /// Its numbers stopped making sense.
    NotFinite,
}

impl World {
    /// The one write of a step: every agent moves at once, arrivals are noted, time goes on, rows are sorted again.
    pub fn commit(&mut self, moves: &Moves) {
        self.step += 1;
        self.departures.clear();
        if !moves.feet.is_empty() {
            self.feet.take(&self.agents.slot, &self.agents.id, &moves.feet);
        }
        let any_gone = self.take_moves(moves);
        self.fold_rows();
        if any_gone {
            self.remove_gone();
        }
        self.sort_after_step(any_gone);
    }

    /// Writes moves into the columns. Returns whether any agent has to be removed.
    fn take_moves(&mut self, moves: &Moves) -> bool {
        let (cohorts, destinations) = (&self.cohorts, &self.destinations);
        let (steering, time) = (&self.steering, self.time() as f32);
        let agents = &mut self.agents;
        self.keep.resize(agents.id.len(), true);
        const C: usize = crate::CHUNK;
        let new = (&moves.x[..], &moves.y[..], &moves.vx[..], &moves.vy[..]);
        let old = (
            &mut agents.x[..],
            &mut agents.y[..],
            &mut agents.vx[..],
            &mut agents.vy[..],
            &mut agents.walked[..],
        );
        let fate = (
            (&agents.goal_x[..], &agents.goal_y[..], &agents.cohort[..], &agents.destination[..]),
            &agents.slot[..],
            &agents.start[..],
            &mut agents.arrival[..],
            &mut agents.status[..],
            &mut self.keep[..],
        );
        let any_gone = AtomicBool::new(false);
        let farthest = farthest_reached(cohorts, destinations);
        for_chunks(C, (new, old, fate), &|_, (new, old, fate)| {
            let ((goal_x, goal_y, cohort, destination), slot, start, arrival, status, keep) = fate;
            let mut all_stay = move_all(new, old, keep);
            for row in 0..keep.len() {
                if status[row] == Status::Waiting && time >= start[row] {
                    status[row] = Status::Walking;
                }
                let (to, goal) = (Vec2::new(new.0[row], new.1[row]), Vec2::new(goal_x[row], goal_y[row]));
                // What is not near, or not a number, is not there; most are not.
                if status[row] == Status::Walking && to.distance_squared(goal) <= farthest && keep[row] {
                    let bound = Bound::of(&cohorts[cohort[row] as usize], destinations, destination[row]);
                    let steered = !steering.is_empty() && steering.of(slot[row]).is_some();
                    if !steered && bound.reached(to, goal) {
                        status[row] = Status::Arrived;
                        if bound.arrives {
                            arrival[row] = time;
                        }
                        keep[row] = !bound.leaves;
                        all_stay &= keep[row];
                    }
                }
            }
            if !all_stay {
                any_gone.store(true, Ordering::Relaxed);
            }
        });
        any_gone.into_inner()
    }

    fn remove_gone(&mut self) {
        let keep = std::mem::take(&mut self.keep);
        let mut gone: Vec<usize> = (0..keep.len()).filter(|&row| !keep[row]).collect();
        gone.sort_unstable_by_key(|&row| self.agents.id[row]);
        for row in gone {
            let arrived = self.agents.status[row] == Status::Arrived && self.bound(row).leaves;
            self.note_departure(row, if arrived { Cause::Arrived } else { Cause::NotFinite });
        }
        self.agents.retain(&keep);
        self.keep = keep;
    }

    /// What a row walks to.
    pub fn bound(&self, row: usize) -> Bound<'_> {
        let cohort = &self.cohorts[self.agents.cohort[row] as usize];
        Bound::of(cohort, &self.destinations, self.agents.destination[row])
    }

    pub(super) fn note_departure(&mut self, row: usize, cause: Cause) {
        let agents = &self.agents;
        let slot = agents.slot[row];
        let departure = Departure {
            id: agents.id[row],
            slot,
            generation: self.slots.generation(slot).unwrap_or_default(),
            cohort: agents.cohort[row],
            arrival: agents.arrival[row],
            start: agents.start[row],
            walked: agents.walked[row],
            cause,
        };
        self.feet.forget(slot);
        self.steering.set(slot, None);
        self.slots.release(slot);
        self.departed_hash = self.departed_hash.wrapping_add(departure.hash());
        self.departures.push(departure);
    }

    /// Who has left since the last step began.
    pub fn departures(&self) -> &[Departure] {
        &self.departures
    }
}

/// As far from its goal (squared) as any agent can be that has reached it.
fn farthest_reached(cohorts: &[Cohort], destinations: &[Destination]) -> f32 {
    let cohorts = cohorts.iter().map(|cohort| (cohort.goal_radius, cohort.area.is_some()));
    let destinations = destinations.iter().map(|there| (there.goal_radius, there.area.is_some()));
    let squared = |(radius, is_area): (f32, bool)| if is_area { f32::INFINITY } else { radius * radius };
    cohorts.chain(destinations).map(squared).fold(0.0, f32::max)
}

type New<'a> = (&'a [f32], &'a [f32], &'a [f32], &'a [f32]);
type Old<'a> = (&'a mut [f32], &'a mut [f32], &'a mut [f32], &'a mut [f32], &'a mut [f32]);

/// Writes places, velocities and ways walked of those whose numbers make sense, and who they are. Returns whether all are.
fn move_all(
    (new_x, new_y, new_vx, new_vy): New<'_>,
    (x, y, vx, vy, walked): Old<'_>,
    keep: &mut [bool],
) -> bool {
    let mut all = true;
    for column in [new_x, new_y, new_vx, new_vy] {
        all &= column.iter().fold(true, |all, value| all & value.is_finite());
    }
    if !all {
        for row in 0..keep.len() {
            keep[row] = [new_x, new_y, new_vx, new_vy].iter().all(|column| column[row].is_finite());
            if keep[row] {
                walked[row] += Vec2::new(new_x[row], new_y[row]).distance(Vec2::new(x[row], y[row]));
                (x[row], y[row], vx[row], vy[row]) = (new_x[row], new_y[row], new_vx[row], new_vy[row]);
            }
        }
        return false;
    }
    keep.fill(true);
    let from = x.iter().zip(&*y);
    for ((walked, to), from) in walked.iter_mut().zip(new_x.iter().zip(new_y)).zip(from) {
        *walked += Vec2::new(*to.0, *to.1).distance(Vec2::new(*from.0, *from.1));
    }
    for (old, new) in [(x, new_x), (y, new_y), (vx, new_vx), (vy, new_vy)] {
        old.copy_from_slice(new);
    }
    true
}

impl Departure {
    fn hash(&self) -> u64 {
        let walked = (u64::from(self.arrival.to_bits()) << 32) | u64::from(self.walked.to_bits());
        mix(mix(u64::from(self.id)) ^ walked)
    }
}
