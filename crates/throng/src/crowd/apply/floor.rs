//! Edits of the floor, and the origin that positions are relative to.

use crate::crowd::Crowd;
use crate::crowd::edit::EditError;
use crate::crowd::floor::Floor;
use glam::DVec2;

/// A crowd without a map is kept relative to a multiple of this, m: single precision holds 30 µm half as far away.
const ORIGINS_APART: f64 = 1024.0;

impl Crowd {
    /// Where nothing has said yet where the crowd is going to be: around the first place that anything has, and around zero
    /// where that is not far. Before anything is kept relative to it.
    pub(super) fn choose_origin(&mut self, place: DVec2) {
        if std::mem::take(&mut self.state.free_origin) {
            self.state.world.origin = (place / ORIGINS_APART).round() * ORIGINS_APART;
        }
    }

    pub(super) fn create_obstacle(&mut self, name: &str, ring: Vec<DVec2>) -> Result<(), EditError> {
        let first = ring.first().copied();
        let floor = self.state.floor.with_obstacle(name, ring)?;
        first.into_iter().for_each(|corner| self.choose_origin(corner));
        self.change_floor(floor);
        Ok(())
    }

    pub(super) fn delete_obstacle(&mut self, name: &str) -> Result<(), EditError> {
        self.change_floor(self.state.floor.without_obstacle(name)?);
        Ok(())
    }

    pub(super) fn change_floor(&mut self, floor: Floor) {
        let before = std::mem::replace(&mut self.state.floor, floor);
        self.state.pending.floor_before.get_or_insert_with(|| Box::new(before));
    }

    /// Lets the outline of an endless plane hold a place.
    #[cfg(feature = "scenario")]
    pub(crate) fn draw_around(&mut self, place: DVec2) {
        self.state.floor.draw_around(place);
    }
}
