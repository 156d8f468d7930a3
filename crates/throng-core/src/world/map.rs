//! What follows from a map, and what changes it.

use super::{Gaps, Legs, Terrain, World};
use crate::space::Walls;

/// What follows from a map, for [`World::restore_map`].
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// What is in the way.
    pub walls: Walls,
    /// Ground that is harder to walk on than the rest.
    pub terrain: Vec<Terrain>,
    /// Legs, where bodies move on such.
    pub legs: Option<Legs>,
    /// Where there is no ground for feet.
    pub gaps: Gaps,
}

impl World {
    /// Puts other walls in the place of those that are there: the map has changed.
    pub fn set_walls(&mut self, walls: Walls) {
        self.map.walls = walls;
        self.map_version += 1;
    }

    /// Lets walls be seen from another distance, m. The map stays what it is.
    pub fn reindex_walls(&mut self, range: f32) {
        if range != self.map.walls.range() {
            let walls = std::mem::take(&mut self.map.walls).into_walls();
            self.map.walls = Walls::new(walls, range);
        }
    }

    /// The same walls, as they are seen from another distance. The map stays what it is.
    pub fn replace_walls(&mut self, walls: Walls) {
        self.map.walls = walls;
    }

    /// Puts other costly ground in the place of what is there: the map has changed.
    pub fn set_terrain(&mut self, terrain: Vec<Terrain>) {
        self.map.terrain = terrain;
        self.map_version += 1;
    }

    /// Says on what legs bodies walk, and where there is no ground for them: the map has changed.
    pub fn set_ground(&mut self, legs: Option<Legs>, gaps: Gaps) {
        (self.map.legs, self.map.gaps) = (legs, gaps);
        self.map_version += 1;
    }

    /// Puts in place what follows from a map that is still the same: of a world that was read from a checkpoint, or where walls
    /// must be found further away than before. What stages remember of the map stays valid.
    pub fn restore_map(&mut self, map: Map) {
        self.map = map;
    }
}
