//! Where walkers get on slowly, for planners to divert around it. Beyond the paper.
//!
//! What counts is how walkers get on and not how dense they are: a dense crowd that flows is no reason to take another path.
//! A jam that has gone is not forgotten at once, and a new one not believed at once: otherwise every agent would change its
//! mind with all others.

use glam::{IVec2, Vec2};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};
use throng_core::handover::Intents;
use throng_core::space::RowGrid;
use throng_core::world::{Jam, Status, View};

/// How often is looked, s: to plan all ways anew takes a while, and agents do not think of it all the time.
const EVERY: f32 = 5.0;
/// Fewer walkers than this in a cell are no jam.
const FEW: u32 = 3;
/// Parts of the preferred speed that progress is counted in, so that sums are of whole numbers.
const PARTS: f32 = 256.0;
/// A metre counts as at most this many more.
const SLOWEST: f32 = 9.0;
/// What counts as less than this more is no jam.
const SLOW: f32 = 0.5;
/// How long it takes an agent to set off, s.
const SETS_OFF: f32 = 3.0;

/// Walkers in a cell, how they get on, and where they want to.
#[derive(Debug, Default)]
struct Progress {
    walkers: AtomicU32,
    gone: AtomicU32,
    x: AtomicI32,
    y: AtomicI32,
}

/// Looks for jams.
#[derive(Debug)]
pub struct Slow(RowGrid<Progress>);

impl Slow {
    /// In cells of a side, m.
    pub fn new(side: f32) -> Slow {
        Slow(RowGrid::new(side))
    }

    /// Whether it is time to look.
    pub fn is_due(view: View<'_>) -> bool {
        let steps = (EVERY / view.dt).round().max(1.0) as u64;
        view.step.is_multiple_of(steps)
    }

    /// The jam as it is now; `None` where nothing has changed.
    pub fn measure(&mut self, view: View<'_>, intents: &Intents) -> Option<Jam> {
        self.0.lay_out(
            view.agents.len(),
            |row| view.position(row),
            |row, progress| {
                // An agent that has just set off is slow and not held up.
                let walks = view.agents.status[row] == Status::Walking
                    && view.time - view.agents.start[row] >= SETS_OFF;
                if walks {
                    let preferred = Vec2::new(intents.vx[row], intents.vy[row]);
                    let towards = (preferred.normalize_or_zero() * PARTS).as_ivec2();
                    progress.walkers.fetch_add(1, Relaxed);
                    progress.gone.fetch_add((PARTS * gets_on(view.velocity(row), preferred)) as u32, Relaxed);
                    progress.x.fetch_add(towards.x, Relaxed);
                    progress.y.fetch_add(towards.y, Relaxed);
                }
            },
        );
        let mut cells: Vec<IVec2> = view.jam.cells().iter().map(|&(cell, _)| cell).collect();
        cells.extend(&self.0.cells);
        cells.sort_unstable_by_key(|cell| (cell.y, cell.x));
        cells.dedup();
        let slow = |cell: IVec2| {
            let hold = (self.now(cell) + view.jam.hold(cell)) / 2.0;
            (hold.length_squared() >= SLOW * SLOW).then_some((cell, hold))
        };
        let slow: Vec<(IVec2, Vec2)> = cells.into_iter().filter_map(slow).collect();
        let jam = Jam::new(view.step + 1, self.0.side(), slow);
        (jam.cells() != view.jam.cells()).then_some(jam)
    }

    /// What holds walkers up in a cell now: along what they want, as much as a metre counts more.
    fn now(&self, cell: IVec2) -> Vec2 {
        let Some(progress) = self.0.grid.get(cell) else { return Vec2::ZERO };
        let walkers = progress.walkers.load(Relaxed);
        if walkers < FEW {
            return Vec2::ZERO;
        }
        let whole = walkers as f32 * PARTS;
        let more = (whole / (progress.gone.load(Relaxed) as f32).max(1.0) - 1.0).clamp(0.0, SLOWEST);
        Vec2::new(progress.x.load(Relaxed) as f32, progress.y.load(Relaxed) as f32) * (more / whole)
    }
}

/// The part of its preferred speed that an agent has along what it prefers.
fn gets_on(velocity: Vec2, preferred: Vec2) -> f32 {
    let squared = preferred.length_squared();
    // Who wants to stand is not held up.
    if squared > 0.0 { (velocity.dot(preferred) / squared).clamp(0.0, 1.0) } else { 1.0 }
}
