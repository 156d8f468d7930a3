//! What edits have left to be done before the next step.

use crate::crowd::Crowd;
use crate::crowd::floor::Floor;
use crate::crowd::placement::Placement;
use crate::pipeline::Stages;
use glam::Vec2;
use serde::{Deserialize, Serialize};
use throng_core::memory::Change;
use throng_core::world::World;

/// What edits have left to be done before the next step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::crowd) struct Pending {
    /// The floor as it was when the last step began, where it has changed.
    pub(super) floor_before: Option<Box<Floor>>,
    /// Slots of agents that have come or were moved: they may stand in a wall.
    pub(super) moved: Vec<u32>,
    /// Slots of agents with other goals, on which no body may fit.
    pub(super) retargeted: Vec<u32>,
    /// Cohorts with other areas.
    pub(super) areas: Vec<u16>,
    /// Whether radii, speeds or models have changed, so that walls may be seen from further away.
    pub(super) reach: bool,
}

impl Crowd {
    /// Does what edits have left: no agent is in a wall, no goal where no body fits, rows are sorted.
    pub(crate) fn prepare(&mut self) {
        let pending = std::mem::take(&mut self.state.pending);
        if let Some(before) = &pending.floor_before {
            self.free_all(before);
        }
        self.free_some(&pending);
        if pending.floor_before.is_some() {
            self.state.world.set_walls(self.state.floor.walls(self.state.world.origin, self.wall_range()));
        } else if pending.reach {
            self.index_walls();
        }
        if !self.state.world.is_sorted() {
            self.state.world.sort_rows();
        }
        // The lists are used again.
        let Pending { mut moved, mut retargeted, mut areas, .. } = pending;
        moved.clear();
        retargeted.clear();
        areas.clear();
        (self.state.pending.moved, self.state.pending.retargeted, self.state.pending.areas) =
            (moved, retargeted, areas);
    }

    /// Lets walls be seen from as far away as they have to be now.
    fn index_walls(&mut self) {
        let (range, origin) = (self.wall_range(), self.state.world.origin);
        match self.state.floor.map.repeat().is_none() {
            true => self.state.world.reindex_walls(range),
            // Of a map that repeats, more of the same is seen from further away.
            false => self.state.world.replace_walls(self.state.floor.walls(origin, range)),
        }
    }

    /// After a change of the map: every goal, and every body that stood free before.
    fn free_all(&mut self, before: &Floor) {
        let origin = self.state.world.origin;
        let world = &mut self.state.world;
        let placement = self.state.floor.placement(origin);
        for row in 0..world.agents.len() {
            placement.free_goal(world, row);
            let at = Vec2::new(world.agents.x[row], world.agents.y[row]);
            if !placement.stands(at) && before.placement(origin).is_on_floor(at) {
                put_beside_walls(world, &mut self.stages, placement, row);
            }
        }
    }

    /// After other changes: those that they touched.
    fn free_some(&mut self, pending: &Pending) {
        if pending.moved.is_empty() && pending.retargeted.is_empty() && pending.areas.is_empty() {
            return;
        }
        let world = &mut self.state.world;
        let placement = self.state.floor.placement(world.origin);
        for &slot in &pending.retargeted {
            if let Some(row) = world.row(slot) {
                placement.free_goal(world, row);
            }
        }
        pending.areas.iter().for_each(|&cohort| placement.free_area(world, usize::from(cohort)));
        for &slot in &pending.moved {
            let Some(row) = world.row(slot) else { continue };
            if !placement.stands(Vec2::new(world.agents.x[row], world.agents.y[row])) {
                put_beside_walls(world, &mut self.stages, placement, row);
            }
        }
    }

    /// Works out what follows from how far models look.
    pub(in crate::crowd) fn learn_reach(&mut self) {
        let furthest = self.stages.reach().map(|reach| reach.neighbor_distance).fold(0.0, f32::max);
        self.state.world.furthest_look = if furthest > 0.0 { furthest } else { 2.0 };
        self.state.world.unsort();
        self.state.pending.reach = true;
    }

    /// From how far away a wall has to be seen, m.
    pub(in crate::crowd) fn wall_range(&self) -> f32 {
        let horizon = self.stages.reach().map(|reach| reach.time_horizon_obstacles);
        let horizon = horizon.fold(self.state.world.dt() as f32 * 2.0, f32::max);
        horizon * self.state.world.fastest + self.state.world.widest
    }
}

fn put_beside_walls(world: &mut World, stages: &mut Stages, placement: &Placement, row: usize) {
    if placement.put_beside_walls(world, row) {
        world.fold_row(row);
        let slot = world.agents.slot[row];
        world.feet.forget(slot);
        stages.note(slot, Change::PutAside);
        world.unsort();
    }
}
