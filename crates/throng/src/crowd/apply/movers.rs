//! Edits of movers.

use super::checks::{check_number, check_place, check_velocity};
use crate::crowd::agent::{Mover, MoverId, MoverMotion};
use crate::crowd::edit::EditError;
use crate::crowd::floor::is_within_reach;
use crate::crowd::{Crowd, local};
use glam::{DVec2, Vec2};
use throng_core::world;

/// A body that the caller moves keeps its velocity for so long, s.
const KEEPS_VELOCITY: f64 = 10.0;

impl Crowd {
    pub(super) fn create_mover(&mut self, mover: &Mover) -> Result<MoverId, EditError> {
        check_number("radius", mover.radius, 0.0)?;
        let path = match &mover.motion {
            MoverMotion::Driven(position, velocity) => self.driven(*position, *velocity)?,
            MoverMotion::Scripted(path) => {
                let rises = path.windows(2).all(|pair| pair[0].0 < pair[1].0);
                let is_sane = |(time, place): &(f64, DVec2)| time.is_finite() && is_within_reach(*place);
                if path.is_empty() || !rises || !path.iter().all(is_sane) {
                    return Err(EditError::BadPath);
                }
                self.choose_origin(path[0].1);
                path.iter().map(|&(time, place)| (time, local(place, self.state.world.origin))).collect()
            }
        };
        let (numbers, next) = &mut self.state.movers;
        let number = *next;
        *next = next.checked_add(1).ok_or(EditError::TooMany("4294967295 movers, ever"))?;
        numbers.push(number);
        let driven = matches!(mover.motion, MoverMotion::Driven(..));
        self.state.world.add_mover(world::Mover {
            radius: mover.radius as f32,
            path,
            carries: mover.carries,
            driven,
        });
        Ok(MoverId { crowd: self.state.tag, number })
    }

    /// Where a body that the caller moves will be.
    fn driven(&mut self, position: DVec2, velocity: DVec2) -> Result<Vec<(f64, Vec2)>, EditError> {
        check_place("position", position)?;
        check_velocity(velocity)?;
        self.choose_origin(position);
        let (now, place) = (self.state.world.time(), |at: DVec2| local(at, self.state.world.origin));
        let then = position + velocity * KEEPS_VELOCITY;
        Ok(vec![(now, place(position)), (now + KEEPS_VELOCITY, place(then))])
    }

    pub(in crate::crowd) fn mover_index(&self, mover: MoverId) -> Result<usize, EditError> {
        if mover.crowd != self.state.tag {
            return Err(EditError::ForeignHandle);
        }
        self.state.movers.0.iter().position(|&number| number == mover.number).ok_or(EditError::UnknownMover)
    }

    pub(super) fn drive(
        &mut self,
        mover: MoverId,
        position: DVec2,
        velocity: DVec2,
    ) -> Result<(), EditError> {
        let index = self.mover_index(mover)?;
        if !self.state.world.movers()[index].driven {
            return Err(EditError::ScriptedMover);
        }
        let path = self.driven(position, velocity)?;
        self.state.world.set_mover_path(index, path);
        Ok(())
    }

    pub(super) fn remove_mover(&mut self, mover: MoverId) -> Result<(), EditError> {
        let index = self.mover_index(mover)?;
        self.state.movers.0.remove(index);
        self.state.world.remove_mover(index);
        Ok(())
    }
}
