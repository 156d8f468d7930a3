//! The one write of a step, and the agents that it removes.

use super::{Bound, Status, World};
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
        const C: usize = crate::CHUNK * 4;
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
        for_chunks(C, (new, old, fate), &|_, (new, old, fate)| {
            let (x, y, vx, vy, walked) = old;
            let ((goal_x, goal_y, cohort, destination), slot, start, arrival, status, keep) = fate;
            let mut all_stay = true;
            for row in 0..x.len() {
                let to = Vec2::new(new.0[row], new.1[row]);
                let sane = to.is_finite() && new.2[row].is_finite() && new.3[row].is_finite();
                keep[row] = sane;
                all_stay &= sane;
                if !sane {
                    continue;
                }
                walked[row] += to.distance(Vec2::new(x[row], y[row]));
                (x[row], y[row], vx[row], vy[row]) = (to.x, to.y, new.2[row], new.3[row]);
                let bound = Bound::of(&cohorts[cohort[row] as usize], destinations, destination[row]);
                if status[row] == Status::Waiting && time >= start[row] {
                    status[row] = Status::Walking;
                }
                if status[row] == Status::Walking
                    && (steering.is_empty() || steering.of(slot[row]).is_none())
                    && bound.reached(to, Vec2::new(goal_x[row], goal_y[row]))
                {
                    status[row] = Status::Arrived;
                    if bound.arrives {
                        arrival[row] = time;
                    }
                    keep[row] = !bound.leaves;
                    all_stay &= keep[row];
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

impl Departure {
    fn hash(&self) -> u64 {
        let walked = (u64::from(self.arrival.to_bits()) << 32) | u64::from(self.walked.to_bits());
        mix(mix(u64::from(self.id)) ^ walked)
    }
}
