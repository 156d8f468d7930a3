//! # Separation
use arrayvec::ArrayVec;
use fearless_simd::{Level, Simd, dispatch};
use glam::Vec2;
use rayon::prelude::*;
use throng_core::CHUNK;
use throng_core::handover::{Commands, Moves};
use throng_core::params::Params;
use throng_core::space::rows_within;
use throng_core::world::View;

throng_core::params! {
    /// Bodies that overlap are pushed apart.
    pub struct SeparationParams("separation") {
        /// Whether.
        on: bool = true, "", Limit::from(0.0);
        /// How often.
        iterations: usize = 8, "", Limit::from(1.0).up_to(100.0);
        /// gap
        gap: f32 = 0.0, "m", Limit::from(0.0);
        /// relax
        relax: f32 = 1.5, "", Limit::from(0.0);
        /// vel
        vel: bool = true, "", Limit::from(0.0);
    }
}

const MAX_CONTACTS: usize = 16;
type Contacts = ArrayVec<u32, MAX_CONTACTS>;

/// Pushes.
#[derive(Clone, Debug, Default)]
pub struct Separation {
    params: SeparationParams,
    active: Vec<u32>,
    contacts: Vec<Contacts>,
    corrected: Vec<Vec2>,
}

impl Separation {
    /// New.
    pub fn new(params: SeparationParams) -> Separation {
        Separation { params, ..Separation::default() }
    }

    /// Runs.
    pub fn run(&mut self, view: View<'_>, commands: &Commands, moves: &mut Moves) {
        if !self.params.on {
            return;
        }
        let agents = view.agents;
        let slack = 2.0 * view.fastest * view.dt + view.widest;
        self.active.clear();
        self.active.extend((0..agents.len() as u32).filter(|&row| commands.room[row as usize] < agents.radius[row as usize] + slack));
        if self.active.is_empty() {
            return;
        }
        self.contacts.resize(self.active.len(), Contacts::new());
        self.corrected.resize(self.active.len(), Vec2::ZERO);
        let level = Level::new();
        self.contacts.par_chunks_mut(CHUNK).zip(self.active.par_chunks(CHUNK)).for_each(|(contacts, active)| {
            dispatch!(level, simd => find(simd, view, moves, slack, active, contacts));
        });
        for _ in 0..self.params.iterations {
            let params = &self.params;
            let deepest = self
                .corrected
                .par_chunks_mut(CHUNK)
                .zip(self.active.par_chunks(CHUNK).zip(self.contacts.par_chunks(CHUNK)))
                .map(|(corrected, (active, contacts))| {
                    let mut deepest = 0.0f32;
                    for ((corrected, &row), contacts) in corrected.iter_mut().zip(active).zip(contacts) {
                        let (to, depth) = push(view, moves, params, row as usize, contacts);
                        *corrected = to;
                        deepest = deepest.max(depth);
                    }
                    deepest
                })
                .reduce(|| 0.0, f32::max);
            if deepest < 2e-4 {
                break;
            }
            for (&row, to) in self.active.iter().zip(&self.corrected) {
                (moves.x[row as usize], moves.y[row as usize]) = (*to).into();
            }
        }
        if self.params.vel {
            for &row in &self.active {
                let row = row as usize;
                let v = (Vec2::new(moves.x[row], moves.y[row]) - view.position(row)) / view.dt;
                let v = throng_core::geom::at_most(v, agents.max_speed[row]);
                (moves.vx[row], moves.vy[row]) = v.into();
            }
        }
    }
}

#[inline(always)]
fn find<S: Simd>(simd: S, view: View<'_>, moves: &Moves, slack: f32, active: &[u32], contacts: &mut [Contacts]) {
    let agents = view.agents;
    for (&row, contacts) in active.iter().zip(contacts) {
        let row = row as usize;
        contacts.clear();
        let to = Vec2::new(moves.x[row], moves.y[row]);
        rows_within(simd, view.cells, agents.x[row], agents.y[row], agents.radius[row] + slack, #[inline(always)] |other| {
            let reach = 1.1 * (agents.radius[row] + agents.radius[other]);
            if other != row && !contacts.is_full() && Vec2::new(moves.x[other], moves.y[other]).distance_squared(to) < reach * reach {
                contacts.push(other as u32);
            }
        });
    }
}

fn push(view: View<'_>, moves: &Moves, params: &SeparationParams, row: usize, contacts: &Contacts) -> (Vec2, f32) {
    let agents = view.agents;
    let at = Vec2::new(moves.x[row], moves.y[row]);
    let mut deepest = 0.0f32;
    let mut sum = Vec2::ZERO;
    let mut count = 0.0;
    for &other in contacts {
        let other = other as usize;
        let away = at - Vec2::new(moves.x[other], moves.y[other]);
        let distance = away.length();
        let depth = agents.radius[row] + agents.radius[other] + params.gap - distance;
        if depth <= 0.0 {
            continue;
        }
        deepest = deepest.max(depth - params.gap);
        let part = if agents.id[row] < agents.id[other] { 1.0 } else { -1.0 };
        let direction = if distance > 1e-6 { away / distance } else { Vec2::new(part, 0.0) };
        let total = agents.responsibility[row] + agents.responsibility[other];
        let share = if total > 0.0 { agents.responsibility[row] / total } else { 0.5 };
        sum += direction * (depth * share);
        count += 1.0;
    }
    for mover in view.movers {
        let away = at - (mover.position + mover.velocity * view.dt);
        let distance = away.length();
        let depth = agents.radius[row] + mover.radius - distance;
        if depth > 0.0 {
            deepest = deepest.max(depth);
            sum += away / distance.max(1e-6) * depth;
            count += 1.0;
        }
    }
    if count > params.relax {
        sum *= params.relax / count;
    }
    (at + sum, deepest)
}

impl Separation {
    #[allow(missing_docs)]
    pub fn block() -> &'static str { SeparationParams::BLOCK }
}
