//! # Cohorts that walk together (the paper's future work)
//! Members avoid other groups as one and keep close, each from what it sees: it looks for the mates around it, takes
//! their middle for the group's place and their outline for its body, and turns what it wants itself as the group as a
//! whole has to turn. All see nearly the same, so all turn alike; nobody tells anybody anything.

use super::cluster::mean;
use super::sight::{Looker, is_hidden};
use super::{Perception, Work, choice, ratio, sight};
use fearless_simd::{Level, dispatch};
use glam::Vec2;
use throng_core::geom::at_most;
use throng_core::space::{Crowd, rows_within};
use throng_core::world::{Status, View};

/// How much room a group of discs takes: as many radii, times the root of their number, from the middle to the edge.
const ROOMY: f32 = 2.6;
/// How fast somebody comes back who is further out than that, 1/s.
const PULL: f32 = 0.5;
/// The most that this changes a velocity, as a part of the preferred speed.
const MOST_PULL: f32 = 0.5;

/// The mates that one member sees, itself included.
#[derive(Default)]
pub struct Mates {
    crowd: Box<Crowd>,
    rows: Vec<u32>,
}

/// What they are as a whole.
struct Body {
    center: Vec2,
    preferred: Vec2,
    spread: f32,
    radius: f32,
    count: usize,
}

impl Mates {
    /// Must be called when the neighbour index has changed.
    pub fn forget(&mut self) {
        self.crowd.forget();
    }

    fn find(&mut self, view: View<'_>, row: usize, range: f32, most: f32) {
        let (cohort, at) = (view.agents.cohort[row], view.position(row));
        self.rows.clear();
        let rows = &mut self.rows;
        let mut look_at = |other: usize| {
            let walks = view.agents.status[other] == Status::Walking && view.agents.cohort[other] == cohort;
            if walks && (other == row || !is_hidden(view, at, view.position(other))) {
                rows.push(other as u32);
            }
        };
        dispatch!(Level::new(), simd => rows_within(simd, view.cells, row, [range, most], &mut self.crowd, &mut look_at));
        // Sums have other bits in another order.
        self.rows.sort_unstable_by_key(|&row| view.agents.id[row as usize]);
    }

    fn body(&self, view: View<'_>, (vx, vy): &(Vec<f32>, Vec<f32>)) -> Body {
        let center = mean(&self.rows, |row| view.position(row));
        let preferred = mean(&self.rows, |row| Vec2::new(vx[row], vy[row]));
        let (mut spread, mut radius) = (0.0f32, 0.0f32);
        for row in self.rows.iter().map(|&row| row as usize) {
            spread = spread.max(center.distance(view.position(row)) + view.agents.radius[row]);
            radius = radius.max(view.agents.radius[row]);
        }
        Body { center, preferred, spread, radius, count: self.rows.len() }
    }
}

impl Perception {
    /// The preferred velocity and the side of somebody who walks with mates.
    pub(super) fn adapt_together(
        &self,
        view: View<'_>,
        row: usize,
        wanted: &(Vec<f32>, Vec<f32>),
        work: &mut Work,
    ) -> (Vec2, f32) {
        let preferred = Vec2::new(wanted.0[row], wanted.1[row]);
        let cohort = view.agents.cohort[row] as usize;
        let (params, (clustering, lookout)) = (&self.params[cohort], &self.clusterings[self.kind[cohort]]);
        if preferred == Vec2::ZERO || view.agents.status[row] != Status::Walking {
            return (preferred, 0.0);
        }
        let most = self.params.iter().map(|params| params.neighbor_distance).fold(0.0, f32::max);
        work.mates.find(view, row, params.neighbor_distance, most);
        let body = work.mates.body(view, wanted);
        let looker = Looker {
            row,
            position: body.center,
            radius: body.spread,
            own: clustering.group_of[row],
            mates: Some(view.agents.cohort[row]),
        };
        let (turned, side) = if body.preferred != Vec2::ZERO
            && sight::is_on_course(clustering, lookout, params, &looker, body.preferred)
        {
            work.sight.look(view, clustering, lookout, params, &looker);
            let (adapted, side) =
                choice::choose(view, params, clustering, &looker, body.preferred, &mut work.sight);
            (ratio(adapted, body.preferred).rotate(preferred), side)
        } else {
            (preferred, 0.0)
        };
        (turned + pull(view, row, &body, preferred.length()), side)
    }
}

/// Back to the others, for those who are further out than a group needs to be.
fn pull(view: View<'_>, row: usize, body: &Body, speed: f32) -> Vec2 {
    let to_center = body.center - view.position(row);
    let room = ROOMY * body.radius * (body.count as f32).sqrt();
    let distance = to_center.length();
    if body.count < 2 || distance <= room {
        return Vec2::ZERO;
    }
    at_most(to_center * (PULL * (distance - room) / distance), MOST_PULL * speed)
}
