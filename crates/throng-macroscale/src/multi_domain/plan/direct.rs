//! Plans that need no search: along the line at an even speed. And what all plans need: to be held against what others have
//! said, and to be pulled taut.

use crate::domain::occupancy::{Passage, Trajectory};
use crate::domain::space_time::{APART, Exceptions};
use crate::multi_domain::plan::deliberation::{Ego, Meter, Snapshot};
use crate::multi_domain::plan::window::{Ending, REST};
use glam::DVec2;
use std::sync::LazyLock;
use throng_core::geom::double;
use throng_core::world::Footstep;

/// A path in space and time.
pub(crate) type Path = Vec<(f64, DVec2)>;

/// A plan for the next while.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub path: Path,
    /// What makes the path, for those who walk on feet.
    pub steps: Vec<Footstep>,
    pub reaches: bool,
    /// It costs at most this many times the optimum.
    pub inflation: f32,
    pub width: f32,
}

impl Default for Found {
    fn default() -> Found {
        Found { path: Vec::new(), steps: Vec::new(), reaches: false, inflation: 1.0, width: 0.0 }
    }
}

/// Bodies that do not count while a plan is made, and those whose plan is a new one that is not published yet.
#[derive(Clone, Copy, Default)]
pub(crate) struct Others<'a> {
    /// Ascending.
    pub ignored: &'a [u32],
    pub new: &'a [(u32, Trajectory)],
}

impl Others<'_> {
    /// Whether a body does not count.
    pub fn ignores(&self, body: u32) -> bool {
        self.ignored.binary_search(&body).is_ok()
    }
}

/// How to walk a line: at a share of the best speed, after a while (s), and as far beside it (m) where another agent would be
/// met.
#[derive(Clone, Copy)]
struct Gait {
    speed: f64,
    wait: f64,
    aside: f64,
}

/// What is tried, the cheapest first on a way of ten metres: most meetings need no more than a little patience, or a step aside.
static GAITS: LazyLock<Vec<Gait>> = LazyLock::new(|| {
    let asides = [0.0, 0.35, -0.35, 0.7, -0.7, 1.2, -1.2, 1.8, -1.8];
    let speeds = [1.0, 0.9, 1.1, 0.8, 1.2, 0.7];
    let waits = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0];
    let pairs = waits.into_iter().flat_map(|wait| speeds.map(|speed| (wait, speed)));
    let all = pairs.flat_map(|(wait, speed)| asides.map(|aside| Gait { speed, wait, aside }));
    let cost = |gait: &Gait| {
        let away = 2.0 * ((AWAY * AWAY + gait.aside * gait.aside).sqrt() - AWAY);
        (gait.speed + 1.0 / gait.speed) / 2.0 + (away + gait.wait * 0.67) / 10.0
    };
    let mut all: Vec<Gait> = all.collect();
    all.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    all.truncate(MOST_GAITS);
    all
});
/// A search is cheaper than more of them.
const MOST_GAITS: usize = 80;
/// An agent that steps aside is beside the line from so far before it would meet another until so far after, m.
const ASIDE: [f64; 2] = [1.0, 2.5];
/// To get there and back takes as far each, m.
const AWAY: f64 = 1.5;
/// No agent walks slower than this along a line, m/s.
const SLOWEST: f64 = 1e-3;
/// As near to where a line is closed somebody closes it, m.
const CLOSED: f64 = 2.0;
/// As far before those who are in the way one looks for a place to stand, m.
const UP_TO: [f64; 8] = [0.0, 0.25, 0.5, 0.8, 1.2, 1.6, 2.2, 3.0];
/// Pieces of paths that are looked at at a time, s: long ones would look through many squares.
const PIECE: f64 = 1.0;
/// Steps that one straight piece may take the place of, the most first.
const SPANS: [usize; 6] = [32, 16, 8, 4, 2, 1];

impl Snapshot<'_> {
    /// Along a line in the first way in which no other agent is met.
    pub fn walk_line(
        &self,
        ego: &Ego<'_>,
        line: &[DVec2],
        ending: &Ending,
        others: Others<'_>,
        meter: &mut Meter,
    ) -> Option<Found> {
        let length = double::length(line);
        let best = self.best_speed(ego, (self.view.now, length), ending);
        if !self.is_open(ego, line) {
            return None;
        }
        // Where an agent is met that does as it likes best.
        let mut met = 0.0;
        GAITS.iter().find_map(|gait| {
            let speed = best * gait.speed;
            let is_able = speed > SLOWEST && speed <= ego.max_speed * (1.0 + 1e-6);
            let beside = if gait.aside == 0.0 { line.to_vec() } else { aside(line, gait.aside, met)? };
            let longer = double::length(&beside);
            // Beside the line there may be no ground for feet.
            let is_able = is_able && (gait.aside == 0.0 || self.view.legs.is_none());
            let is_able = is_able && gait.wait < self.horizon() / 2.0;
            if !is_able || !self.is_in_time(longer + speed * gait.wait, speed, ending) {
                return None;
            }
            // A try costs about as much as a state.
            meter.spent += 1;
            let (path, reaches) = self.along(ego, &beside, speed, gait.wait);
            if let Some(time) = self.meeting(ego, &path, reaches && ending.leaves, others) {
                if gait.speed == 1.0 && gait.wait == 0.0 && gait.aside == 0.0 {
                    met = (time - self.view.now) * speed;
                }
                return None;
            }
            // A mesh may reach a little into walls, which its own ways keep off.
            let lets = |a, b| ego.map.is_jump(a, b) || ego.map.clearance.is_clear(a, b);
            let is_clear = || beside.windows(2).all(|pair| lets(pair[0], pair[1]));
            if gait.aside != 0.0 && !(self.is_open(ego, &beside) && is_clear()) {
                return None;
            }
            // Nothing is cheaper than straight at the best speed.
            let ratio = longer / length.max(1e-9) * (best / speed + speed / best) / 2.0;
            let inflation = (ratio + gait.wait * best / (2.0 * length.max(1e-9))) as f32;
            Some(Found { path, steps: Vec::new(), reaches, inflation, width: 0.0 })
        })
    }

    /// Along a line as far as the way is free and one can stand: up to those who are in the way.
    pub fn advance(&self, ego: &Ego<'_>, line: &[DVec2], meter: &mut Meter) -> Option<Found> {
        if !self.is_open(ego, line) || self.view.legs.is_some() || ego.map.leaves_the_floor() {
            return None;
        }
        let others = Others::default();
        let (path, _) = self.along(ego, line, ego.preferred, 0.0);
        let met = self.meeting(ego, &path, true, others)?;
        if self.is_opposed(ego, line, (met - self.view.now) * ego.preferred) {
            return None;
        }
        let gone = (met - self.view.now) * ego.preferred + ego.preferred * PIECE;
        UP_TO.iter().map(|back| gone - back).filter(|&gone| gone > 0.0).find_map(|gone| {
            meter.spent += 1;
            let (path, _) = self.along(ego, &double::cut(line, gone), ego.preferred, 0.0);
            let is_free = self.meeting(ego, &path, false, others).is_none();
            is_free.then_some(Found { path, inflation: 1.0, ..Found::default() })
        })
    }

    /// Whether somebody near where a line is closed wants to come to where an agent is: who walks up to it leaves neither room.
    fn is_opposed(&self, ego: &Ego<'_>, line: &[DVec2], gone: f64) -> bool {
        let closed = double::after_distance(line[0], &line[1..], gone);
        self.rows_near(closed, CLOSED).into_iter().filter(|&row| row != ego.row).any(|row| {
            let known = &self.plan(self.view.agents.slot[row]).way;
            let [here, goal] = [self.view.position(row), self.view.goal(row)].map(crate::multi_domain::wide);
            let way = if known.is_empty() { &[goal][..] } else { known };
            let reach = ego.radius + f64::from(self.view.agents.radius[row]);
            let places = std::iter::once(&here).chain(way);
            places.zip(way).any(|(&from, &to)| double::distance_to_segment(ego.at, from, to) < reach)
        })
    }

    /// Whether a line lies on the floor but for jumps, as far as one gets within the horizon.
    fn is_open(&self, ego: &Ego<'_>, line: &[DVec2]) -> bool {
        let mut left = ego.max_speed * self.horizon();
        line.windows(2).all(|pair| {
            let length = pair[0].distance(pair[1]);
            let near = if length > left { pair[0].lerp(pair[1], left / length) } else { pair[1] };
            if left <= 0.0 || ego.map.is_jump(pair[0], pair[1]) {
                return true;
            }
            left = (left - length).max(0.0);
            ego.map.is_floor(pair[0], near)
        })
    }

    /// As fast as is cheapest, or as it takes to be there in time for one who begins at some time.
    pub fn best_speed(&self, ego: &Ego<'_>, (begin, length): (f64, f64), ending: &Ending) -> f64 {
        let Some((from, to)) = ending.within_window() else { return ego.preferred };
        let inside = length - ending.goal_radius;
        let [slowest, fastest] = [to, from].map(|time| inside / (time - begin).max(self.view.tick));
        ego.preferred.clamp(slowest.max(0.0), fastest.max(slowest).max(0.0)).min(ego.max_speed)
    }

    /// A line at an even speed, after a while, as far as the horizon, and whether that is all of it. Bends come at whole steps of the
    /// simulation, or bodies would cut them. A jump that has begun ends, whenever that is, and one goes on from there.
    fn along(&self, ego: &Ego<'_>, line: &[DVec2], speed: f64, wait: f64) -> (Path, bool) {
        let (begin, tick) = (self.view.now, self.view.tick);
        let mut end = begin + self.horizon();
        let mut path = vec![(begin, line[0])];
        let mut time = begin + (wait / tick).round() * tick;
        if time > begin {
            path.push((time, line[0]));
        }
        for pair in line.windows(2) {
            let length = pair[0].distance(pair[1]);
            if length <= 0.0 || speed <= 0.0 {
                continue;
            }
            let there = time + length / speed;
            let is_jump = ego.map.is_jump(pair[0], pair[1]);
            if there > end && !is_jump {
                path.push((end, pair[0].lerp(pair[1], (end - time) / (there - time))));
                return (path, false);
            }
            let next = begin + ((there - begin) / tick - 1e-6).ceil() * tick;
            path.push((next, pair[1]));
            time = next;
            if is_jump {
                // Where one lands others want to land too.
                end = end.max(time + REST);
            }
        }
        (path, true)
    }

    /// When a path meets another agent first, its end included, unless it vanishes there.
    pub fn meeting(
        &self,
        ego: &Ego<'_>,
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
        pieces.chain(rest).find(|passage| self.meets(ego, passage, others)).map(|passage| passage.begin)
    }

    /// Whether another agent is met on a straight piece.
    pub fn meets(&self, ego: &Ego<'_>, passage: &Passage, others: Others<'_>) -> bool {
        let exceptions = Exceptions { ignored: others.ignored, touched: &ego.touched };
        // A body that does not count where it was counts where it will be.
        let anew_counts = Exceptions { ignored: &[], touched: &ego.touched };
        let reach = ego.radius + APART;
        let anew = |body: u32| others.new.iter().any(|(other, _)| *other == body);
        self.reservations.published.meets(passage, reach, |body, path| {
            body != ego.body && !anew(body) && exceptions.count(body, path, passage)
        }) || others.new.iter().any(|(body, path)| {
            *body != ego.body
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
    pub fn taut(&self, ego: &Ego<'_>, path: &[(f64, DVec2)], others: Others<'_>) -> Path {
        let mut taut: Path = path.first().copied().into_iter().collect();
        let mut index = 0;
        while index + 1 < path.len() {
            let span = SPANS.into_iter().filter(|span| index + span < path.len());
            let span = span
                .into_iter()
                .find(|&span| span == 1 || self.is_walkable(ego, path[index], path[index + span], others));
            index += span.unwrap_or(1);
            taut.push(path[index]);
        }
        taut
    }

    fn is_walkable(&self, ego: &Ego<'_>, from: (f64, DVec2), to: (f64, DVec2), others: Others<'_>) -> bool {
        let is_floor = ego.map.clearance.is_clear(from.1, to.1) && ego.map.is_floor(from.1, to.1);
        is_floor && self.meeting(ego, &[from, to], true, others).is_none()
    }
}

/// A line that leaves another one for a while. `None` where there is no room for that before or after.
fn aside(line: &[DVec2], by: f64, met: f64) -> Option<Vec<DVec2>> {
    let from = (met - ASIDE[0]).max(AWAY);
    let marks = [(from - AWAY, 0.0), (from, by), (met + ASIDE[1], by), (met + ASIDE[1] + AWAY, 0.0)];
    let mut beside = vec![line[0]];
    let mut gone = 0.0;
    for pair in line.windows(2) {
        let length = pair[0].distance(pair[1]);
        let along = (pair[1] - pair[0]).normalize_or_zero();
        for (mark, shift) in marks.into_iter().filter(|mark| mark.0 > gone && mark.0 <= gone + length) {
            beside.push(pair[0] + along * (mark - gone) + along.perp() * shift);
        }
        gone += length;
        // Bends meanwhile are passed as far beside.
        let is_beside = gone > marks[1].0 && gone < marks[2].0;
        beside.push(pair[1] + along.perp() * if is_beside { by } else { 0.0 });
    }
    (gone > marks[3].0).then_some(beside)
}
