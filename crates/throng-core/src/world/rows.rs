//! Rows: who is in which, and who is near a place.

use super::commit::Cause;
use super::{Agent, Agents, Slots, World};
use crate::space::{Cells, Period};
use glam::Vec2;
use std::sync::OnceLock;

/// What is known of the order of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// The neighbour index.
    pub(super) cells: Cells,
    /// Rows by slot, where they were asked for since rows were last sorted.
    by_slot: OnceLock<Vec<u32>>,
    /// Whether rows are in the order of the neighbour index.
    sorted: bool,
    /// Whether agents have come, gone or been moved from outside since the last commit.
    edited: bool,
    /// An index of rows that are not sorted, where a query needed one since they were last changed.
    unsorted: OnceLock<(Cells, Vec<u32>)>,
    order: Vec<u32>,
    /// What rows were before they were last sorted, kept for its memory.
    spare: Agents,
}

impl World {
    /// Lets an agent come; its id and its slot are given here. Rows are no longer sorted. `None` where ids are used up.
    pub fn spawn(&mut self, agent: Agent) -> Option<u32> {
        let next = self.next_id.checked_add(1)?;
        let (id, slot) = (self.next_id, self.slots.take());
        self.next_id = next;
        let row = self.agents.len() as u32;
        if let Some(rows) = self.index.by_slot.get_mut() {
            if slot as usize >= rows.len() {
                rows.resize(slot as usize + 1, u32::MAX);
            }
            rows[slot as usize] = row;
        }
        self.fastest = self.fastest.max(agent.max_speed);
        self.widest = self.widest.max(agent.radius);
        self.agents.push(Agent { id, slot, ..agent });
        self.fold_row(row as usize);
        self.unsort();
        Some(slot)
    }

    /// Removes an agent. Rows are no longer sorted.
    pub fn despawn(&mut self, row: usize) {
        self.remove(row, Cause::Despawned);
    }

    /// Lets an agent go as one that has arrived now. Rows are no longer sorted.
    pub fn let_go(&mut self, row: usize) {
        self.agents.arrival[row] = self.time() as f32;
        self.remove(row, Cause::Arrived);
    }

    fn remove(&mut self, row: usize, cause: Cause) {
        self.note_departure(row, cause);
        let slot = self.agents.slot[row];
        self.agents.swap_remove(row);
        let moved = self.agents.slot.get(row).copied();
        if let Some(rows) = self.index.by_slot.get_mut() {
            rows[slot as usize] = u32::MAX;
            if let Some(moved) = moved {
                rows[moved as usize] = row as u32;
            }
        }
        self.unsort();
    }

    /// The row of the agent that has a slot. The first question after a step costs a pass over all agents.
    pub fn row(&self, slot: u32) -> Option<usize> {
        let rows = self.index.by_slot.get_or_init(|| {
            let mut rows = vec![u32::MAX; self.slots.len()];
            for (row, &slot) in (0u32..).zip(&self.agents.slot) {
                rows[slot as usize] = row;
            }
            rows
        });
        rows.get(slot as usize).filter(|&&row| row != u32::MAX).map(|&row| row as usize)
    }

    /// Whose slots are whose.
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// How many agents have ever come: ids are below this.
    pub fn agents_ever(&self) -> usize {
        self.next_id as usize
    }

    /// Whether rows are in the order of the neighbour index: not between a change from outside and the next step.
    pub fn is_sorted(&self) -> bool {
        self.index.sorted
    }

    /// Calls `visit` with all rows within a radius of a place, m, and others.
    pub fn rows_near(&self, place: Vec2, radius: f32, mut visit: impl FnMut(usize)) {
        let (place, _) = self.period.fold(place);
        if self.index.sorted {
            self.index.cells.runs(place.x, place.y, radius, |from, to| {
                (from..to).for_each(&mut visit);
                radius
            });
            return;
        }
        let (cells, order) = self.index.unsorted.get_or_init(|| {
            let (mut cells, mut order) = (Cells::default(), Vec::new());
            cells.repeat(self.period);
            let size = if self.cell_size > 0.0 { self.cell_size } else { self.furthest_look };
            cells.sort(&self.agents.x, &self.agents.y, &self.agents.id, size, &mut order);
            (cells, order)
        });
        cells.runs(place.x, place.y, radius, |from, to| {
            order[from..to].iter().for_each(|&row| visit(row as usize));
            radius
        });
    }

    /// How space repeats.
    pub fn period(&self) -> Period {
        self.period
    }

    /// Lets space repeat. Agents that are there are put into the cell; so is all that comes or moves from now on.
    pub fn repeat(&mut self, period: Period) {
        self.period = period;
        self.fold_rows();
        self.place_movers();
        self.unsort();
    }

    /// Lets agents that have left the cell come in at its other side. Their goals come along, so that nothing changes between
    /// an agent and what it walks to.
    pub(super) fn fold_rows(&mut self) {
        if self.period.repeats() {
            (0..self.agents.len()).for_each(|row| self.fold_row(row));
        }
    }

    /// The same for one that was put somewhere from outside.
    pub fn fold_row(&mut self, row: usize) {
        let agents = &mut self.agents;
        let (place, added) = self.period.fold(Vec2::new(agents.x[row], agents.y[row]));
        if added != Vec2::ZERO {
            (agents.goal_x[row], agents.goal_y[row]) =
                (agents.goal_x[row] + added.x, agents.goal_y[row] + added.y);
        }
        (agents.x[row], agents.y[row]) = place.into();
    }

    /// Says that agents were moved from outside, so that rows are no longer sorted.
    pub fn unsort(&mut self) {
        self.index.edited = true;
        self.lose_order();
    }

    /// Brings what others see of a row up to date, after a change from outside that left it where it is.
    pub fn refresh(&mut self, row: usize) {
        if self.index.sorted {
            self.index.cells.refresh(&self.agents, row);
        }
    }

    fn lose_order(&mut self) {
        self.index.sorted = false;
        self.index.unsorted.take();
    }

    /// Sorts rows in space and brings what is derived from the state up to date.
    pub fn sort_rows(&mut self) {
        self.index.by_slot.take();
        self.index.unsorted.take();
        self.index.sorted = true;
        self.choose_cell_size();
        let Index { cells, order, spare, .. } = &mut self.index;
        let agents = &mut self.agents;
        cells.repeat(self.period);
        cells.sort(&agents.x, &agents.y, &agents.id, self.cell_size, order);
        agents.reorder(order, spare);
        cells.take(agents);
        self.place_movers();
    }

    /// Where agents have come or gone before the step, rows are left as they are: more will come and go before the next one,
    /// which sorts them first, and once is enough.
    pub(super) fn sort_after_step(&mut self, any_gone: bool) {
        if any_gone {
            self.index.by_slot.take();
        }
        if std::mem::take(&mut self.index.edited) {
            self.place_movers();
            self.lose_order();
        } else {
            self.sort_rows();
        }
    }

    /// Cells as wide as models look where the crowd is thin, so that many share one look around; narrower ones where
    /// it is dense, so that a look around is not too long. A little more than the look, whatever the rounding.
    fn choose_cell_size(&mut self) {
        let widest = self.furthest_look * 1.0002;
        let narrowest = widest / 8.0;
        let company = self.index.cells.company();
        if !(narrowest..=widest).contains(&self.cell_size) {
            self.cell_size = widest;
        } else if company > 16.0 && self.cell_size > narrowest * 1.5 {
            self.cell_size /= 2.0;
        } else if company < 2.0 && self.cell_size < widest / 1.5 {
            self.cell_size *= 2.0;
        }
    }
}
