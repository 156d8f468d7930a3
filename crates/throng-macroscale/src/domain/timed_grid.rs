//! # Space-time over the cells of the grid (Σ4 of Kapadia et al. 2013, as crowds use it)
//! A state is a cell and a time, and bodies are where they will be. What [`space_time`](super::space_time) has and this has
//! not are headings and speeds: an agent walks at the speed it likes or waits. In return goals can be listed, one cell at any
//! time from some moment on, so a search goes against the direction of travel, and what it knows stays true while the agent
//! walks, waits or is late ([`AnytimeDynamicAstar::move_start`](crate::search::AnytimeDynamicAstar::move_start)).
//!
//! Time is counted in units of half of what a straight step takes. A diagonal step takes three, 6 % more than it should:
//! whole numbers let ways of different shape meet in the same states.

use super::Placed;
use super::grid::Grid;
use super::occupancy::{Occupancy, Passage, Trajectory};
use super::space_time::{APART, Exceptions};
use crate::search::Domain;
use glam::DVec2;
use serde::{Deserialize, Serialize};

/// Somewhere at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Timed {
    /// Of the grid.
    pub cell: u32,
    /// Time, in units of the domain.
    pub unit: u32,
}

impl Timed {
    /// The end of every plan, from which a search grows.
    pub const END: Timed = Timed { cell: u32::MAX, unit: u32::MAX };
}

/// Units of a straight step, of a diagonal one, and of standing for as long as a step.
const STRAIGHT: u32 = 2;
const DIAGONAL: u32 = 3;
/// What the last step into [`Timed::END`] costs: next to nothing, but no step is free.
const LAST_STEP: f32 = 1e-3;

/// Where a plan ends: a cell, from when on one can stand there, and when at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Of the grid.
    pub cell: u32,
    /// Units.
    pub from: u32,
    /// Units.
    pub until: u32,
}

impl Stop {
    /// Whether there is any such time.
    pub fn is_possible(&self) -> bool {
        self.from <= self.until
    }
}

/// How an agent walks: its time unit, and what a unit of standing costs. Walking costs twice as much, as at the preferred speed in
/// [`Walk`](super::space_time::Walk).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tempo {
    /// s.
    pub unit: f64,
    /// Cost.
    pub per_unit: f32,
}

impl Tempo {
    /// For a speed, m/s, and a cost of standing, 1/s.
    pub fn new(grid: &Grid, speed: f64, per_second: f64) -> Tempo {
        let unit = grid.side() / speed / f64::from(STRAIGHT);
        Tempo { unit, per_unit: (per_second * unit) as f32 }
    }

    /// The unit that a time is in.
    pub fn at(&self, time: f64) -> u32 {
        (time / self.unit).clamp(0.0, f64::from(u32::MAX - 1)) as u32
    }

    /// When a unit begins, s.
    pub fn time(&self, unit: u32) -> f64 {
        f64::from(unit) * self.unit
    }
}

/// Cells and times among bodies that have said where they will be.
#[derive(Clone, Copy, Debug)]
pub struct TimedGrid<'a> {
    /// Σ3, for walls.
    pub grid: &'a Grid,
    /// Others.
    pub published: &'a Occupancy,
    /// Who plans.
    pub own: u32,
    /// As wide as that, m.
    pub radius: f64,
    /// Others who count less.
    pub exceptions: Exceptions<'a>,
    /// How it walks.
    pub tempo: Tempo,
    /// Where to.
    pub stop: Stop,
    /// What is earlier is past, in units: no plan leads there, so a search that is mended need not know what has become of it.
    pub since: u32,
}

impl TimedGrid<'_> {
    /// From one state to another, straight and at an even speed.
    pub fn passage(&self, from: Timed, to: Timed) -> Passage {
        let [(a, begin), (b, end)] =
            [from, to].map(|state| (self.grid.place(state.cell), self.tempo.time(state.unit)));
        Passage { from: a, to: b, begin, end }
    }

    /// Whether a body is met on a passage.
    pub fn is_met(&self, body: u32, path: &Trajectory, passage: &Passage) -> bool {
        body != self.own
            && path.nearest(passage) < self.radius + APART + path.radius
            && self.exceptions.count(body, path, passage)
    }

    fn is_free(&self, from: Timed, to: Timed) -> bool {
        let passage = self.passage(from, to);
        !self.published.meets(&passage, self.radius + APART, |body, path| {
            body != self.own && self.exceptions.count(body, path, &passage)
        })
    }

    /// What walls let one come from, and with what cost: by walking, or by standing.
    pub fn steps_into(&self, state: Timed, scratch: &mut Vec<(u32, f32)>, mut found: impl FnMut(Timed, f32)) {
        if state == Timed::END {
            let units = self.stop.from..=self.stop.until;
            return units.for_each(|unit| found(Timed { cell: self.stop.cell, unit }, LAST_STEP));
        }
        scratch.clear();
        self.grid.predecessors(state.cell, scratch);
        self.each_step(state.cell, scratch, |cell, units, cost| {
            if let Some(unit) = state.unit.checked_sub(units).filter(|&unit| unit >= self.since) {
                found(Timed { cell, unit }, cost);
            }
        });
    }

    /// Steps to or from neighbours, and the one that stays: cell, units, cost.
    fn each_step(&self, here: u32, near: &[(u32, f32)], mut found: impl FnMut(u32, u32, f32)) {
        for &(cell, length) in near {
            let units = if f64::from(length) > 1.2 * self.grid.side() { DIAGONAL } else { STRAIGHT };
            found(cell, units, 2.0 * units as f32 * self.tempo.per_unit);
        }
        found(here, STRAIGHT, STRAIGHT as f32 * self.tempo.per_unit);
    }
}

/// The least units that walking from one cell to another takes.
pub fn units_between(grid: &Grid, from: u32, to: u32) -> u32 {
    let columns = grid.columns();
    let across = (from % columns).abs_diff(to % columns);
    let along = (from / columns).abs_diff(to / columns);
    STRAIGHT * across.max(along) + (DIAGONAL - STRAIGHT) * across.min(along)
}

impl Domain for TimedGrid<'_> {
    type State = Timed;

    fn successors(&self, state: Timed, out: &mut Vec<(Timed, f32)>) {
        if state == Timed::END || state.unit < self.since {
            return;
        }
        let mut near = Vec::with_capacity(8);
        self.grid.successors(state.cell, &mut near);
        self.each_step(state.cell, &near, |cell, units, cost| {
            let next = Timed { cell, unit: state.unit.saturating_add(units) };
            if self.is_free(state, next) {
                out.push((next, cost));
            }
        });
        let stops = state.cell == self.stop.cell && (self.stop.from..=self.stop.until).contains(&state.unit);
        out.extend(stops.then_some((Timed::END, LAST_STEP)));
    }

    fn predecessors(&self, state: Timed, out: &mut Vec<(Timed, f32)>) {
        self.steps_into(state, &mut Vec::with_capacity(8), |before, cost| {
            if state == Timed::END || self.is_free(before, state) {
                out.push((before, cost));
            }
        });
    }

    /// All the time between costs as much as standing, and what is walked as much again.
    fn heuristic(&self, from: Timed, to: Timed) -> f32 {
        if from == to || from == Timed::END {
            return 0.0;
        }
        if to == Timed::END {
            let walked = units_between(self.grid, from.cell, self.stop.cell);
            let between = walked.max(self.stop.from.saturating_sub(from.unit));
            return (walked + between) as f32 * self.tempo.per_unit;
        }
        let walked = units_between(self.grid, from.cell, to.cell);
        match to.unit.checked_sub(from.unit) {
            Some(between) if between >= walked => (walked + between) as f32 * self.tempo.per_unit,
            _ => f32::INFINITY,
        }
    }
}

impl Placed for TimedGrid<'_> {
    fn place_of(&self, state: Timed) -> Option<DVec2> {
        (state != Timed::END).then(|| self.grid.place(state.cell))
    }

    fn time_of(&self, state: Timed) -> Option<f64> {
        (state != Timed::END).then(|| self.tempo.time(state.unit))
    }

    fn cost_of_a_metre(&self) -> f32 {
        2.0 * STRAIGHT as f32 * self.tempo.per_unit / self.grid.side() as f32
    }

    fn longest_step(&self) -> (f64, f64) {
        (self.grid.side() * std::f64::consts::SQRT_2, f64::from(DIAGONAL) * self.tempo.unit)
    }
}
