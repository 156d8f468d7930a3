//! What agents know of one another in a dense crowd, worked out once for all who look.

use super::{HeldUp, TOLERANCE};
use glam::Vec2;
use throng_core::CHUNK;
use throng_core::handover::Intents;
use throng_core::parallel::for_chunks;
use throng_core::world::{Status, View};

/// What an agent wants, and how it fares: half a cache line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish {
    /// The velocity that it would like to have, m/s; none where it waits or has arrived.
    pub(super) velocity: Vec2,
    /// Its direction, if any.
    pub(super) direction: Vec2,
    pub(super) held_up: HeldUp,
    /// The part of its speed that it does not make now, beyond what is tolerated.
    pub(super) late: f32,
    pub(super) has_arrived: bool,
}

impl Wish {
    #[inline(always)]
    fn of(view: View<'_>, intents: &Intents, row: usize, held_up: HeldUp) -> Wish {
        let status = view.agents.status[row];
        let velocity = match status {
            // As fast as legs can, whatever a caller wants.
            Status::Walking => intents.velocity(row).clamp_length_max(view.agents.max_speed[row]),
            _ => Vec2::ZERO,
        };
        let late = 1.0 - view.velocity(row).dot(velocity) / velocity.length_squared().max(1e-6);
        Wish {
            velocity,
            direction: velocity.normalize_or_zero(),
            held_up,
            late: ((late - TOLERANCE) / (1.0 - TOLERANCE)).clamp(0.0, 1.0),
            has_arrived: status == Status::Arrived,
        }
    }
}

/// The wishes of all rows, of which each remembers something.
pub fn find_wishes(view: View<'_>, intents: &Intents, remembered: &[HeldUp], wishes: &mut Vec<Wish>) {
    wishes.resize(remembered.len(), Wish::default());
    for_chunks(CHUNK, (&mut wishes[..], remembered), &|chunk, (wishes, remembered)| {
        for (i, (wish, held_up)) in wishes.iter_mut().zip(remembered).enumerate() {
            *wish = Wish::of(view, intents, chunk * CHUNK + i, *held_up);
        }
    });
}
