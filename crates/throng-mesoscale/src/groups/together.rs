//! # Cohorts that walk together (the paper's future work)
//! Members avoid other groups as one and keep close, each from what it sees: it looks for the mates around it, takes
//! their middle for the group's place and their outline for its body, and turns what it wants itself as the group as a
//! whole has to turn. All see nearly the same, so all turn alike; no agent tells another anything.
//!
//! Who is ahead waits for who is behind, and no agent walks faster than it likes to: a group is as fast as its slowest.

use super::cluster::mean;
use super::sight::{Looker, Scene, is_hidden};
use super::{Work, ratio};
use fearless_simd::Level;
use glam::Vec2;
use throng_core::dispatch;
use throng_core::geom::{at_most, det};
use throng_core::space::{Candidates, rows_within};
use throng_core::world::{Status, View};

/// How much room a group of discs takes: as many radii, times the root of their number, from the middle to the edge.
const ROOMY: f32 = 2.6;
/// A member that is this many times as far out has strayed.
const STRAY: f32 = 1.5;
/// How fast an agent comes back that is further out than that, 1/s.
const PULL: f32 = 0.5;
/// The most that this changes a velocity, as a part of the preferred speed.
const MOST_PULL: f32 = 0.5;
/// The part of its speed with which an agent goes on that waits: two who each take the other for the last would stand for ever.
const CREEP: f32 = 0.15;
/// Mates agree on where to go if what they want together is at least this part of what one of them wants.
const AGREED: f32 = 0.5;
/// As much room is left between groups that pass, beside what bodies need, m.
const ROOM: f32 = 1.0;
/// Mates keep to a side if they move to it with at least this part of their preferred speed.
const ASIDE: f32 = 0.1;

/// The mates that one member sees, itself included.
#[derive(Default)]
pub struct Mates {
    candidates: Box<Candidates>,
    /// How far agents look for mates at the most, m.
    furthest: f32,
    rows: Vec<u32>,
    /// Those whom walls hide too: one knows who one's mates are.
    near: Vec<u32>,
}

/// What they are as a whole.
struct Body {
    center: Vec2,
    preferred: Vec2,
    velocity: Vec2,
    goal: Vec2,
    spread: f32,
    radius: f32,
    count: usize,
}

impl Body {
    /// How far out its members need to be, m.
    fn room(&self) -> f32 {
        ROOMY * self.radius * (self.count as f32).sqrt()
    }
}

/// What every agent wants, by row, m/s.
type Wanted<'a> = [&'a [f32]; 2];

impl Mates {
    /// Must be called when the neighbour index has changed. `furthest` is how far agents will look.
    pub fn forget(&mut self, furthest: f32) {
        self.candidates.forget();
        self.furthest = furthest;
    }

    fn find(&mut self, view: View<'_>, row: usize, range: f32) {
        let (cohort, at) = (view.agents.cohort[row], view.position(row));
        self.rows.clear();
        self.near.clear();
        let (rows, near) = (&mut self.rows, &mut self.near);
        let mut look_at = |other: usize| {
            let walks = view.agents.status[other] == Status::Walking && view.agents.cohort[other] == cohort;
            if walks {
                near.push(other as u32);
                if other == row || !is_hidden(view, at, view.position(other)) {
                    rows.push(other as u32);
                }
            }
        };
        dispatch!(Level::new(), simd => rows_within(simd, view.cells, row, [range, self.furthest], &mut self.candidates, &mut look_at));
        // Sums have other bits in another order.
        self.rows.sort_unstable_by_key(|&row| view.agents.id[row as usize]);
    }

    /// How far a row is ahead of the last of its mates that want to go where it does, m.
    fn lead(&self, view: View<'_>, row: usize, wanted: Wanted<'_>) -> f32 {
        let (at, ahead) = (view.position(row), wants(wanted, row).normalize_or_zero());
        let behind = |&mate: &u32| {
            let mate = mate as usize;
            let agrees = wants(wanted, mate).dot(ahead) > 0.0;
            if agrees { (at - view.position(mate)).dot(ahead) } else { 0.0 }
        };
        self.near.iter().map(behind).fold(0.0, f32::max)
    }

    fn body(&self, view: View<'_>, wanted: Wanted<'_>) -> Body {
        let center = mean(&self.rows, |row| view.position(row));
        let (mut spread, mut radius) = (0.0f32, 0.0f32);
        for row in self.rows.iter().map(|&row| row as usize) {
            spread = spread.max(center.distance(view.position(row)) + view.agents.radius[row]);
            radius = radius.max(view.agents.radius[row]);
        }
        Body {
            center,
            preferred: mean(&self.rows, |row| wants(wanted, row)),
            velocity: mean(&self.rows, |row| view.velocity(row)),
            goal: mean(&self.rows, |row| view.goal(row)),
            spread,
            radius,
            count: self.rows.len(),
        }
    }
}

fn wants([x, y]: Wanted<'_>, row: usize) -> Vec2 {
    Vec2::new(x[row], y[row])
}

/// An agent that looks with the eyes of all its mates.
pub fn looker<'a>(
    scene: Scene<'_>,
    row: &'a [u32; 1],
    wanted: Wanted<'_>,
    mates: &'a mut Mates,
) -> Looker<'a> {
    mates.find(scene.view, row[0] as usize, scene.own.neighbor_distance);
    as_one(scene, row, wanted, mates, &mates.body(scene.view, wanted))
}

/// Mates who do not agree on where to go are no body, and who has strayed is none of it: each looks for itself.
fn as_one<'a>(
    scene: Scene<'_>,
    own: &'a [u32; 1],
    wanted: Wanted<'_>,
    Mates { rows, .. }: &'a Mates,
    body: &Body,
) -> Looker<'a> {
    let row = own[0] as usize;
    let preferred = wants(wanted, row);
    let mates = Some(scene.view.agents.cohort[row]);
    let stray = scene.view.position(row).distance(body.center) > STRAY * body.room();
    if stray || body.preferred.length() < AGREED * preferred.length() {
        return Looker { mates, ..super::alone(scene, own, preferred) };
    }
    Looker {
        row,
        position: body.center,
        radius: body.spread,
        body: rows,
        middle: body.center,
        room: ROOM,
        preferred: body.preferred,
        goal: body.goal,
        side: kept_side(body),
        with: scene.walks_with(row, body.preferred),
        mates,
    }
}

/// The side that the group keeps to, which all can see, and so all take the same for it.
fn kept_side(body: &Body) -> f32 {
    let aside = det(body.preferred, body.velocity);
    if aside.abs() < ASIDE * body.preferred.length_squared() { 0.0 } else { aside.signum() }
}

/// The preferred velocity and the side of an agent that walks with mates.
pub fn adapt(scene: Scene<'_>, row: usize, wanted: Wanted<'_>, work: &mut Work) -> (Vec2, f32) {
    let preferred = wants(wanted, row);
    work.mates.find(scene.view, row, scene.own.neighbor_distance);
    let body = work.mates.body(scene.view, wanted);
    let own = [row as u32];
    let looker = as_one(scene, &own, wanted, &work.mates, &body);
    let (adapted, side) = super::adapt(scene, &looker, &mut work.sight);
    // No agent runs because the others do, nor to get back to them: they wait.
    let speed = preferred.length();
    let turned = at_most(ratio(adapted, looker.preferred).rotate(preferred), speed);
    let waits = patience(work.mates.lead(scene.view, row, wanted), body.room());
    (at_most(turned * waits + pull(scene.view, row, &body, speed), speed), side)
}

/// The part of its speed with which an agent goes on that is so far ahead of the last of its mates: all of it while that is no
/// more than a group is long.
fn patience(lead: f32, room: f32) -> f32 {
    (1.0 - (lead - 2.0 * room) / (1.5 * room)).clamp(CREEP, 1.0)
}

/// Back to the others, for those who are further out than a group needs to be.
fn pull(view: View<'_>, row: usize, body: &Body, speed: f32) -> Vec2 {
    let to_center = body.center - view.position(row);
    let room = body.room();
    let distance = to_center.length();
    if body.count < 2 || distance <= room {
        return Vec2::ZERO;
    }
    at_most(to_center * (PULL * (distance - room) / distance), MOST_PULL * speed)
}
