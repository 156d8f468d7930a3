//! # World field (Park, Cao, Quek 2012, section 3.2)
//! How dense the crowd is and how it flows, on a fine grid: every agent counts in the four cells closest to it, as a Gaussian.
//! Local models read it in the same step. It is worked out where it is read ([`Flow`]), so that an empty square kilometre costs
//! nothing; in the paper this field takes up to half of the time, and all of what a larger map costs.
//!
//! Beside it stands where those who walk together have their middle.

use glam::{DVec2, Vec2};
use throng_core::handover::{Intents, Mates};
use throng_core::space::Blob;
use throng_core::world::{Flow, Status, View};

throng_core::params! {
    /// The crowd as density and flow, for models that read it.
    pub struct WorldField("world-field") {
        /// Side of a cell.
        cell: f32 = 0.5, "m", Limit::from(0.05).up_to(100.0);
        /// What an agent adds to a cell in whose middle it stands (K).
        amplitude: f32 = 1.8, "1/m2", Limit::above(0.0).up_to(100.0);
        /// How far that reaches to the sides: standard deviation along x.
        spread_x: f32 = 0.35, "m", Limit::from(0.01).up_to(100.0);
        /// And along y.
        spread_y: f32 = 0.35, "m", Limit::from(0.01).up_to(100.0);
    }
}

impl WorldField {
    /// Writes the field and the middles.
    pub fn run(&self, view: View<'_>, intents: &mut Intents) {
        let blob = Blob::new(self.amplitude, Vec2::new(self.spread_x, self.spread_y), self.cell);
        intents.flow = Some(Flow::new(self.cell, blob));
        find_mates(view, intents);
    }
}

/// Mates agree on where to go if what they want together is at least this part of what each of them wants.
const AGREED: f64 = 0.5;

/// What those of a cohort add up to, who are on their way.
#[derive(Clone, Copy, Default)]
struct Sum {
    /// Where the first of them is, m.
    first: Option<Vec2>,
    count: u32,
    place: DVec2,
    wanted: DVec2,
    speed: f64,
    /// How far behind the world's origin the last one is along what all want, m, and where.
    last: Option<(f64, Vec2)>,
}

/// By cohort: those who walk together, if they do. An agent that has arrived or not yet begun holds no other up.
fn find_mates(view: View<'_>, intents: &mut Intents) {
    let mates = &mut intents.mates;
    mates.clear();
    mates.resize(view.cohorts.len(), None);
    if !view.cohorts.iter().any(|cohort| cohort.together) {
        return;
    }
    // Rows have one order on any number of threads.
    let walking = || (0..view.agents.len()).filter(|&row| view.agents.status[row] == Status::Walking);
    let mut sums = vec![Sum::default(); view.cohorts.len()];
    for row in walking() {
        let sum = &mut sums[view.agents.cohort[row] as usize];
        let wanted = Vec2::new(intents.vx[row], intents.vy[row]).as_dvec2();
        sum.count += 1;
        // Around the first of them: where space repeats, they may be on both sides of a seam.
        let first = *sum.first.get_or_insert(view.position(row));
        sum.place += view.image(first, view.position(row)).as_dvec2();
        sum.wanted += wanted;
        sum.speed += wanted.length();
    }
    for row in walking() {
        let sum = &mut sums[view.agents.cohort[row] as usize];
        let place = sum.first.map_or(view.position(row), |first| view.image(first, view.position(row)));
        let behind = -place.as_dvec2().dot(sum.wanted);
        if sum.last.is_none_or(|(most, _)| behind > most) {
            sum.last = Some((behind, place));
        }
    }
    for ((mates, sum), cohort) in mates.iter_mut().zip(sums).zip(view.cohorts) {
        let middle = (sum.place / f64::from(sum.count)).as_vec2();
        let agreed = sum.wanted.length() > AGREED * sum.speed;
        let last = sum.last.filter(|_| agreed).map_or(middle, |(_, place)| place);
        *mates = (cohort.together && sum.count > 1).then_some(Mates { middle, count: sum.count, last });
    }
}
