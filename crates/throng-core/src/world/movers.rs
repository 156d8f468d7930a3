//! Movers: they follow their path and avoid nobody.

use super::World;
use crate::geom::between;
use crate::space::Period;
use glam::Vec2;
use serde::{Deserialize, Serialize};

/// A scripted body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mover {
    /// m.
    pub radius: f32,
    /// Time (s) and place (m from the world's origin), rising in time. It stands before the first and after the last.
    pub path: Vec<(f64, Vec2)>,
    /// Whether it is a platform: agents stand on it, and it is in no agent's way.
    pub carries: bool,
    /// Whether a caller moves it, and its path is only where it is expected to go.
    pub driven: bool,
}

/// A jump, for planners: over what cannot be walked on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// m from the world's origin.
    pub from: Vec2,
    /// m from the world's origin.
    pub to: Vec2,
    /// As how many metres of walking it counts when paths are planned.
    pub cost: f32,
    /// Whether it leads back too.
    pub both_ways: bool,
}

/// Where a scripted body is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoverState {
    /// m from the world's origin.
    pub position: Vec2,
    /// m/s, so that one step leads exactly to its next place.
    pub velocity: Vec2,
    /// m.
    pub radius: f32,
}

impl MoverState {
    /// The same body in the cell of space that repeats.
    pub fn folded(self, period: Period) -> MoverState {
        MoverState { position: period.fold(self.position).0, ..self }
    }
}

impl Mover {
    /// Where it is, and the velocity that leads to where it will be a step later.
    pub fn state(&self, time: f64, dt: f64) -> MoverState {
        let position = self.place(time);
        let velocity = (self.place(time + dt) - position) / dt as f32;
        MoverState { position, velocity, radius: self.radius }
    }

    fn place(&self, time: f64) -> Vec2 {
        between(&self.path, time).map_or(Vec2::ZERO, |(from, to, share)| from.lerp(to, share as f32))
    }
}

impl World {
    /// Scripted bodies, and those that a caller moves.
    pub fn movers(&self) -> &[Mover] {
        &self.movers
    }

    /// Lets a scripted body come.
    pub fn add_mover(&mut self, mover: Mover) {
        self.movers.push(mover);
        self.movers_changed();
    }

    /// Removes one.
    pub fn remove_mover(&mut self, index: usize) {
        self.movers.remove(index);
        self.movers_changed();
    }

    /// Gives one another path.
    pub fn set_mover_path(&mut self, index: usize, path: Vec<(f64, Vec2)>) {
        self.movers[index].path = path;
        self.movers_changed();
    }

    fn movers_changed(&mut self) {
        self.mover_version += 1;
        self.place_movers();
    }

    pub(super) fn place_movers(&mut self) {
        let (time, dt) = (self.time(), self.dt);
        self.mover_states.clear();
        let in_the_way = self.movers.iter().filter(|mover| !mover.carries);
        let state = |mover: &Mover| mover.state(time, dt).folded(self.period);
        self.mover_states.extend(in_the_way.map(state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stands_before_and_after_its_path() {
        let path = vec![(1.0, Vec2::ZERO), (3.0, Vec2::new(4.0, 0.0))];
        let car = Mover { radius: 1.0, path, carries: false, driven: false };
        assert_eq!(car.state(0.0, 0.5).velocity, Vec2::ZERO);
        assert_eq!(
            car.state(2.0, 0.5),
            MoverState { position: Vec2::new(2.0, 0.0), velocity: Vec2::new(2.0, 0.0), radius: 1.0 }
        );
        assert_eq!(car.state(9.0, 0.5).position, Vec2::new(4.0, 0.0));
    }
}
