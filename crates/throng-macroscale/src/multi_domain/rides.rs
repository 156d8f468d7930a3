//! Plans that need no search: along the line at an even speed. And what all plans need: to be held against what others have
//! said, and to be pulled taut.

use super::deliberation::{Thinker, Who};
use super::window::{Ending, REST};
use crate::domain::published::{Passage, Trajectory};
use crate::domain::space_time::{APART, Exceptions};
use glam::DVec2;
use throng_core::world::Footstep;

/// A path in space and time.
pub(super) type Path = Vec<(f64, DVec2)>;

/// A plan for the next while.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub path: Path,
    /// What makes the path, for those who walk on feet.
    pub steps: Vec<Footstep>,
    pub reaches: bool,
    /// It costs at most so many times the cheapest.
    pub inflation: f32,
    pub width: f32,
}

/// Who does not count while a plan is made, and whose plan is a new one that is not published yet.
#[derive(Clone, Copy, Default)]
pub(super) struct Others<'a> {
    /// By body.
    pub ignored: &'a [bool],
    pub new: &'a [(u32, Trajectory)],
}

/// Even speeds that are tried, as shares of the preferred one, the cheapest first. At 0.7 the same way costs 6 % more.
const SPEEDS: [f64; 6] = [1.0, 0.9, 1.1, 0.8, 1.2, 0.7];
/// Nobody walks slower than this along a line, m/s.
const SLOWEST: f64 = 1e-3;
/// Pieces of paths that are looked at at a time, s: long ones would look through many squares.
const PIECE: f64 = 1.0;
/// Steps that one straight piece may take the place of, the most first.
const SPANS: [usize; 6] = [32, 16, 8, 4, 2, 1];

impl Thinker<'_> {
    /// Along a line at the first even speed at which nobody is met.
    pub fn ride(&self, who: &Who<'_>, line: &[DVec2], ending: &Ending, others: Others<'_>) -> Option<Found> {
        let length: f64 = line.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
        let best = self.best_speed(who, length, ending);
        let speeds = SPEEDS.iter().map(|share| best * share);
        let able = speeds.filter(|&speed| speed > SLOWEST && speed <= who.max_speed * (1.0 + 1e-6));
        able.filter(|&speed| self.is_in_time(length, speed, ending)).find_map(|speed| {
            let (path, reaches) = self.along(line, speed);
            let ratio = (best / speed + speed / best) / 2.0;
            let found = Found { path, steps: Vec::new(), reaches, inflation: ratio as f32, width: 0.0 };
            let is_floor = found.path.windows(2).all(|pair| who.ground.is_floor(pair[0].1, pair[1].1));
            let is_free =
                is_floor && self.meeting(who, &found.path, reaches && ending.leaves, others).is_none();
            is_free.then_some(found)
        })
    }

    /// As fast as is cheapest, or as it takes to be there in time.
    pub fn best_speed(&self, who: &Who<'_>, length: f64, ending: &Ending) -> f64 {
        let Some((from, to)) = ending.window else { return who.preferred };
        let inside = length - ending.goal_radius;
        let [slowest, fastest] = [to, from].map(|time| inside / (time - self.view.now).max(self.view.tick));
        who.preferred.clamp(slowest.max(0.0), fastest.max(slowest).max(0.0)).min(who.max_speed)
    }

    /// A line at an even speed as far as the horizon, and whether that is all of it. Bends come at whole steps of the
    /// simulation, or bodies would cut them.
    fn along(&self, line: &[DVec2], speed: f64) -> (Path, bool) {
        let (begin, tick) = (self.view.now, self.view.tick);
        let end = begin + self.horizon();
        let mut path = vec![(begin, line[0])];
        let mut time = begin;
        for pair in line.windows(2) {
            let length = pair[0].distance(pair[1]);
            if length <= 0.0 || speed <= 0.0 {
                continue;
            }
            let next = begin + ((time + length / speed - begin) / tick - 1e-6).ceil() * tick;
            if next > end {
                path.push((end, pair[0].lerp(pair[1], (end - time) / (next - time))));
                return (path, false);
            }
            path.push((next, pair[1]));
            time = next;
        }
        (path, true)
    }

    /// When a path meets somebody first, its end included; nobody if it vanishes there.
    pub fn meeting(
        &self,
        who: &Who<'_>,
        path: &[(f64, DVec2)],
        vanishes: bool,
        others: Others<'_>,
    ) -> Option<f64> {
        let pieces = path.windows(2).flat_map(|pair| {
            let ((t0, from), (t1, to)) = (pair[0], pair[1]);
            let count = ((t1 - t0) / PIECE).ceil().max(1.0);
            let at = move |piece: f64| from.lerp(to, piece / count);
            let when = move |piece: f64| t0 + (t1 - t0) * (piece / count);
            (0..count as u32).map(move |piece| {
                let (a, b) = (f64::from(piece), f64::from(piece) + 1.0);
                Passage { from: at(a), to: at(b), begin: when(a), end: when(b) }
            })
        });
        let last = path.last().filter(|_| !vanishes);
        let rest = last.map(|&(begin, at)| {
            let end = (self.view.now + self.horizon()).max(begin + REST);
            Passage { from: at, to: at, begin, end }
        });
        pieces.chain(rest).find(|passage| self.meets(who, passage, others)).map(|passage| passage.begin)
    }

    /// Whether somebody is met on a straight piece.
    pub fn meets(&self, who: &Who<'_>, passage: &Passage, others: Others<'_>) -> bool {
        let exceptions = Exceptions { ignored: others.ignored, touched: &who.touched };
        // Who does not count where it was counts where it will be.
        let anew_counts = Exceptions { ignored: &[], touched: &who.touched };
        let reach = who.radius + APART;
        let anew = |body: u32| others.new.iter().any(|(other, _)| *other == body);
        self.board.published.meets(passage, reach, |body, path| {
            body != who.body && !anew(body) && exceptions.count(body, path, passage)
        }) || others.new.iter().any(|(body, path)| {
            *body != who.body
                && path.nearest(passage) < reach + path.radius
                && anew_counts.count(*body, path, passage)
        })
    }

    /// Whether one gets there within the window, if there is one. Arrived is who is near.
    fn is_in_time(&self, length: f64, speed: f64, ending: &Ending) -> bool {
        let arrival = self.view.now + (length - ending.goal_radius) / speed;
        ending.window.is_none_or(|(from, to)| arrival >= from - 1e-6 && arrival <= to + 1e-6)
    }

    /// A path with as few bends as it needs. Straight and even is never dearer.
    pub fn taut(&self, who: &Who<'_>, path: &[(f64, DVec2)], others: Others<'_>) -> Path {
        let mut taut: Path = path.first().copied().into_iter().collect();
        let mut index = 0;
        while index + 1 < path.len() {
            let span = SPANS.into_iter().filter(|span| index + span < path.len());
            let span = span
                .into_iter()
                .find(|&span| span == 1 || self.is_walkable(who, path[index], path[index + span], others));
            index += span.unwrap_or(1);
            taut.push(path[index]);
        }
        taut
    }

    fn is_walkable(&self, who: &Who<'_>, from: (f64, DVec2), to: (f64, DVec2), others: Others<'_>) -> bool {
        let is_floor = who.ground.clearance.is_clear(from.1, to.1) && who.ground.is_floor(from.1, to.1);
        is_floor && self.meeting(who, &[from, to], true, others).is_none()
    }
}
