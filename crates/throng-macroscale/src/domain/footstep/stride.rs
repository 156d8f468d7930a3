//! States of the footstep domain.

use std::hash::{Hash, Hasher};
use throng_core::world::Side;

/// A body at an exchange of feet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stride {
    /// In steps of the simulation, from the domain's beginning.
    pub time: u16,
    /// In lines of the lattice, from the domain's beginning.
    pub x: i32,
    /// In lines of the lattice, from the domain's beginning.
    pub y: i32,
    /// In sixteenths of a turn, counter-clockwise from the x axis.
    pub heading: u8,
    /// In steps of the walker's speeds; 0 stands on both feet.
    pub speed: u8,
    /// The foot that was put down last; the other one swings.
    pub support: Side,
    /// How it was reached, from which follows where its feet are.
    pub(super) came: Came,
}

/// How a state was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Came {
    /// It is where the plan begins, or one has waited there.
    Start,
    /// By one step from a start that moves.
    First { action: u8 },
    /// By shifting one's weight, having stood with a heading.
    Shift { heading: u8, stand: Stand, action: u8 },
    /// By a step with an earlier heading and speed.
    Step { heading: u8, speed: u8, action: u8 },
}

/// How an agent came to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stand {
    /// It stood when the plan began.
    Began,
    /// By a last step from a heading and a speed onto a foot.
    Stopped { heading: u8, speed: u8, support: Side, action: u8 },
}

impl Hash for Stride {
    /// Two numbers: each costs a round.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(u64::from(self.x as u32) << 32 | u64::from(self.y as u32));
        let (kind, heading, speed, action) = match self.came {
            Came::Start => (0, 0, 0, 0),
            Came::First { action } => (1, 0, 0, action),
            Came::Shift { heading, stand: Stand::Began, action } => (2, heading, 0, action),
            Came::Shift { heading, stand: Stand::Stopped { speed, action: stop, .. }, action } => {
                (3 + (stop & 1), heading, speed, action)
            }
            Came::Step { heading, speed, action } => (5, heading, speed, action),
        };
        let came =
            u64::from(kind) << 24 | u64::from(heading) << 16 | u64::from(speed) << 8 | u64::from(action);
        let now = u64::from(self.heading) << 9 | u64::from(self.speed) << 1 | self.support as u64;
        hasher.write_u64(came << 32 | now << 16 | u64::from(self.time));
    }
}
