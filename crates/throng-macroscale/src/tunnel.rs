//! # Tunnels (Kapadia et al. 2013, section 6.3, after Gochev et al. 2011) and mappings between domains (section 6.1)
//! A plan in one domain guides the search in a finer one: it becomes a [`Line`] there (λ, equations 4 and 5), and the
//! search sees only states within the [`Width`] of it, those nearer to the line first (equation 6, h_t = h + d).
//!
//! - λ to a spatial domain is the line of places. λ to space-time gives every place the time at which it would be passed at
//!   an even speed.
//! - The width is inverse to the inflation ε: the first plan is looked for in a narrow tunnel, better ones in wider ones.
//! - Where a tunnel holds no plan it is widened, in the end without bounds, so that a plan is found if there is one.
//! - When the line or the width changes, the search is told which states came in and which went out, and goes on
//!   ([`Guided::set_line`]).
//!
//! Deviations:
//! - The temporal distance keeps states out and is not part of h_t: where a line bends, the nearest of its places jumps, and
//!   with it the time; a penalty that jumps would take every bound from the search.
//! - Near the end of the line the penalty is no more than what lies between a state and the goal's edge, so that it is
//!   zero wherever a plan may end, as bounds need.

use crate::domain::Placed;
use crate::search::{Aim, AnytimeDynamicAstar, Budget, Domain, Effort, Settings, Status};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::hash::Hash;
use throng_core::geom::double::length;

/// A plan of one domain as another one sees it: places, and when they would be passed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    points: Vec<DVec2>,
    /// s; none where the line has no time.
    times: Vec<f64>,
}

impl Line {
    /// λ to a spatial domain.
    pub fn through(points: impl IntoIterator<Item = DVec2>) -> Line {
        Line { points: straightened(points), times: Vec::new() }
    }

    /// λ to space-time (equation 5): passed from a time on at an even speed.
    pub fn timed(points: impl IntoIterator<Item = DVec2>, begin: f64, speed: f64) -> Line {
        let points = straightened(points);
        let mut time = begin;
        let mut times = vec![begin; points.len().min(1)];
        for pair in points.windows(2) {
            time += pair[0].distance(pair[1]) / speed;
            times.push(time);
        }
        Line { points, times }
    }

    /// λ from space-time, with the times that its plan has.
    pub fn passed(path: impl IntoIterator<Item = (f64, DVec2)>) -> Line {
        let mut line = Line::default();
        for (time, point) in path {
            // An agent that waits passes a place when it goes on.
            if line.points.last() == Some(&point) {
                line.times.pop();
            } else {
                line.points.push(point);
            }
            line.times.push(time);
        }
        line
    }

    /// How long it is, m.
    pub fn length(&self) -> f64 {
        length(&self.points)
    }

    /// When its end is passed, s.
    pub fn end_time(&self) -> Option<f64> {
        self.times.last().copied()
    }

    /// Its bends.
    pub fn points(&self) -> &[DVec2] {
        &self.points
    }

    /// How far a place is from it, m, and how far a time from when the nearest place is passed, s: 0 where one of both
    /// has none.
    pub fn distance(&self, place: DVec2, time: Option<f64>) -> (f64, f64) {
        let Some(&first) = self.points.first() else { return (0.0, 0.0) };
        let mut best = (first.distance_squared(place), self.times.first().copied());
        for (index, pair) in self.points.windows(2).enumerate() {
            let along = pair[1] - pair[0];
            let share = ((place - pair[0]).dot(along) / along.length_squared()).clamp(0.0, 1.0);
            let distance = (pair[0] + along * share).distance_squared(place);
            if distance < best.0 {
                let when = |index: usize| self.times.get(index).copied();
                let passed = when(index).zip(when(index + 1)).map(|(a, b)| a + (b - a) * share);
                best = (distance, passed);
            }
        }
        let late = time.zip(best.1).map_or(0.0, |(time, passed)| (time - passed).abs());
        (best.0.sqrt(), late)
    }
}

/// Without places that lie in a straight line between their neighbours: a path over cells has hundreds.
fn straightened(points: impl IntoIterator<Item = DVec2>) -> Vec<DVec2> {
    let mut bends: Vec<DVec2> = Vec::new();
    for point in points {
        if bends.last() == Some(&point) {
            continue;
        }
        if let [.., a, b] = bends[..] {
            let (into, out) = (b - a, point - b);
            let straight = into.perp_dot(out).abs() <= 1e-9 * into.length() * out.length();
            if straight && into.dot(out) > 0.0 {
                bends.pop();
            }
        }
        bends.push(point);
    }
    bends
}

/// How far states may be from a line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Width {
    /// m to either side.
    pub space: f64,
    /// s before and after.
    pub time: f64,
}

impl Width {
    /// No bounds.
    pub const OPEN: Width = Width { space: f64::INFINITY, time: f64::INFINITY };

    fn times(self, factor: f64) -> Width {
        Width { space: self.space * factor, time: self.time * factor }
    }
}

/// A line with a width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tunnel {
    /// Its middle.
    pub line: Line,
    /// How far states may be from it.
    pub width: Width,
    /// Plans may end within this distance of the line's end, m.
    pub goal_radius: f64,
}

impl Tunnel {
    /// Whether a place and time are inside.
    fn holds(&self, place: DVec2, time: Option<f64>) -> bool {
        let (aside, late) = self.line.distance(place, time);
        aside <= self.width.space && late <= self.width.time
    }

    /// The paper's d in h_t = h + d, m.
    fn aside(&self, place: DVec2) -> f64 {
        // A tunnel in which nothing was found, however wide, leads the wrong way.
        if self.width == Width::OPEN {
            return 0.0;
        }
        let to_end = self.line.points.last().map_or(0.0, |end| end.distance(place) - self.goal_radius);
        self.line.distance(place, None).0.min(to_end.max(0.0))
    }
}

/// A domain as it looks from inside a tunnel.
#[derive(Debug)]
pub struct Within<'a, D: ?Sized> {
    /// What is outside as well.
    pub domain: &'a D,
    /// What is inside.
    pub tunnel: &'a Tunnel,
}

impl<D: Placed + ?Sized> Within<'_, D> {
    fn holds(&self, state: D::State) -> bool {
        let Some(place) = self.domain.place_of(state) else { return true };
        self.tunnel.holds(place, self.domain.time_of(state))
    }

    fn keep(&self, state: D::State, before: usize, out: &mut Vec<(D::State, f32)>) {
        if !self.holds(state) {
            out.truncate(before);
        }
        let mut kept = before;
        for index in before..out.len() {
            if self.holds(out[index].0) {
                out[kept] = out[index];
                kept += 1;
            }
        }
        out.truncate(kept);
    }
}

impl<D: Placed + ?Sized> Domain for Within<'_, D> {
    type State = D::State;

    fn successors(&self, state: D::State, out: &mut Vec<(D::State, f32)>) {
        let before = out.len();
        self.domain.successors(state, out);
        self.keep(state, before, out);
    }

    fn predecessors(&self, state: D::State, out: &mut Vec<(D::State, f32)>) {
        let before = out.len();
        self.domain.predecessors(state, out);
        self.keep(state, before, out);
    }

    fn heuristic(&self, from: D::State, to: D::State) -> f32 {
        self.domain.heuristic(from, to)
    }

    fn is_end(&self, state: D::State) -> bool {
        self.domain.is_end(state)
    }

    fn to_end(&self, state: D::State) -> f32 {
        self.domain.to_end(state)
    }

    fn penalty(&self, state: D::State) -> f32 {
        let aside = self.domain.place_of(state).map_or(0.0, |place| self.tunnel.aside(place));
        self.domain.penalty(state) + aside as f32 * self.domain.cost_of_a_metre()
    }

    /// A metre aside is a metre gone, which costs at least as much as the penalty.
    fn looseness(&self) -> f32 {
        self.domain.looseness() + 1.0
    }

    fn is_reversed(&self) -> bool {
        self.domain.is_reversed()
    }
}

/// A search that a plan of another domain guides.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "S: Serialize", deserialize = "S: Deserialize<'de>"))]
pub struct Guided<S> {
    search: AnytimeDynamicAstar<S>,
    tunnel: Tunnel,
    settings: Settings,
    aim: Aim<S>,
    roots: Vec<S>,
    /// The width at the first inflation, and how many times as wide it has become because nothing was found.
    narrowest: Width,
    wider: f64,
    patience: u64,
    /// Expansions since the search began in this tunnel.
    since: u64,
    /// What searches have done that were given up.
    before: Effort,
    /// A better plan is looked for in a wider tunnel, as soon as it is asked for.
    outgrown: bool,
    /// A plan of a search that was given up.
    kept: Vec<S>,
}

/// A tunnel that was widened by this factor has no bounds any more.
const WIDEST: f64 = 8.0;
/// Expansions without a plan after which a tunnel of the first width is too narrow.
const PATIENCE: u64 = 500;

impl<S: Copy + Eq + Hash + Debug> Guided<S> {
    /// A search from roots towards an aim, in a tunnel. Its width is the one at the first inflation.
    pub fn new(settings: Settings, aim: Aim<S>, roots: &[S], tunnel: Tunnel) -> Guided<S> {
        let (search, narrowest) = (AnytimeDynamicAstar::new(settings, aim, roots), tunnel.width);
        Guided {
            search,
            tunnel,
            settings,
            aim,
            roots: roots.to_vec(),
            narrowest,
            wider: 1.0,
            patience: PATIENCE,
            since: 0,
            before: Effort::default(),
            outgrown: false,
            kept: Vec::new(),
        }
    }

    /// How many expansions without a plan make a tunnel of the first width too narrow; twice as wide it has twice as many.
    /// Default 500. In space-time a tunnel without a plan is hardly ever searched to its end: one can wait anywhere.
    pub fn with_patience(mut self, expansions: u64) -> Guided<S> {
        self.patience = expansions.max(1);
        self
    }

    /// Finds a plan, or a better one, and widens the tunnel where it holds none. Of bounds it is only said what holds for
    /// plans inside.
    pub fn improve(&mut self, domain: &dyn Placed<State = S>, budget: Budget) -> Status {
        let mut left = budget.count();
        if std::mem::take(&mut self.outgrown) {
            let next = self.next_inflation();
            self.change(domain, self.width_at(next), next);
        }
        loop {
            let is_open = self.tunnel.width == Width::OPEN;
            let patience = (self.patience as f64 * self.wider) as u64;
            let waits = is_open || self.search.cost().is_some() || !self.kept.is_empty();
            let slice = if waits { left } else { left.min(patience.saturating_sub(self.since)) };
            let before = self.search.effort().expansions;
            let within = Within { domain, tunnel: &self.tunnel };
            let status = self.search.improve(&within, Budget::expansions(slice));
            let spent = self.search.effort().expansions - before;
            (left, self.since) = (left - spent, self.since + spent);
            match status {
                Status::Unreachable if !is_open => self.widen(domain),
                Status::OutOfBudget { bound: None } if !waits && left > 0 => self.widen(domain),
                Status::Bounded(_) => {
                    self.outgrown = self.search.inflation() > 1.0;
                    return status;
                }
                _ => return status,
            }
        }
    }

    /// The states of the plan in the direction of travel, and its cost.
    pub fn path(&mut self, domain: &dyn Placed<State = S>, out: &mut Vec<S>) -> Option<f32> {
        let found = self.search.path(&Within { domain, tunnel: &self.tunnel }, out);
        if found.is_some() || self.kept.is_empty() {
            return found;
        }
        let cost = cost_of(domain, &self.kept)?;
        out.clone_from(&self.kept);
        Some(cost)
    }

    /// Another plan guides from now on. What is known of states that stay inside is kept, unless all has to be looked at
    /// again to find out.
    pub fn set_line(&mut self, domain: &dyn Placed<State = S>, line: Line) {
        let tunnel = Tunnel { line, ..self.tunnel.clone() };
        self.change(domain, tunnel, self.search.inflation());
    }

    /// The start moves, in a search against the direction of travel.
    pub fn move_start(&mut self, start: S) {
        if self.aim != Aim::At(start) {
            self.aim = Aim::At(start);
            self.kept.clear();
            self.search.move_start(start);
        }
    }

    /// Goes back to the first inflation and keeps what is known: a mended plan sooner, at a weaker bound.
    pub fn inflate(&mut self) {
        self.outgrown = false;
        self.search.inflate();
    }

    /// Forgets what is known, and goes back to the first inflation and width.
    pub fn begin_again(&mut self) {
        self.before = self.effort();
        self.before.restarts += 1;
        (self.wider, self.since, self.outgrown) = (1.0, 0, false);
        self.kept.clear();
        self.search = AnytimeDynamicAstar::new(self.settings, self.aim, &self.roots);
        self.tunnel = self.width_at(self.settings.inflation);
    }

    /// What it heads for.
    pub fn aim(&self) -> Aim<S> {
        self.aim
    }

    /// The tunnel as it is now.
    pub fn tunnel(&self) -> &Tunnel {
        &self.tunnel
    }

    /// Steps of states have changed. States are those with other outgoing edges.
    pub fn edges_changed(&mut self, domain: &dyn Placed<State = S>, states: &[S]) {
        self.search.edges_changed(&Within { domain, tunnel: &self.tunnel }, states);
    }

    /// The search.
    pub fn search(&self) -> &AnytimeDynamicAstar<S> {
        &self.search
    }

    /// What it has done since it was made.
    pub fn effort(&self) -> Effort {
        let (now, before) = (self.search.effort(), self.before);
        Effort {
            expansions: now.expansions + before.expansions,
            edges: now.edges + before.edges,
            reevaluations: now.reevaluations + before.reevaluations,
            restarts: now.restarts + before.restarts,
        }
    }

    /// The memory it holds.
    pub fn bytes(&self) -> usize {
        let line = (self.tunnel.line.points.capacity()) * size_of::<DVec2>()
            + self.tunnel.line.times.capacity() * size_of::<f64>();
        self.search.bytes() + line + (self.kept.capacity() + self.roots.capacity()) * size_of::<S>()
    }

    fn next_inflation(&self) -> f32 {
        (self.search.inflation() - self.settings.step).max(1.0)
    }

    /// The tunnel for an inflation: the smaller that is, the wider.
    fn width_at(&self, inflation: f32) -> Tunnel {
        let factor = self.wider * f64::from(self.settings.inflation.max(1.0) / inflation);
        let width = if self.wider > WIDEST { Width::OPEN } else { self.narrowest.times(factor) };
        Tunnel { width, ..self.tunnel.clone() }
    }

    fn widen(&mut self, domain: &dyn Placed<State = S>) {
        self.wider *= 2.0;
        self.since = 0;
        self.change(domain, self.width_at(self.search.inflation()), self.settings.inflation);
    }

    /// Hands a changed tunnel on: tells the search of states that came in or went out and of all that can step there, or
    /// begins anew at an inflation where that is cheaper.
    fn change(&mut self, domain: &dyn Placed<State = S>, tunnel: Tunnel, inflation: f32) {
        let before = std::mem::replace(&mut self.tunnel, tunnel);
        if before == self.tunnel {
            return;
        }
        let (was, is) = (Within { domain, tunnel: &before }, Within { domain, tunnel: &self.tunnel });
        let known = self.search.visited().map(|(state, _)| state);
        let suspects: Vec<S> = known.filter(|&state| !(is.is_deep(state) && was.is_deep(state))).collect();
        // Each suspect's neighbours have to ask theirs, and each that was expanded asked its own once.
        if suspects.len() as u64 > self.search.effort().expansions {
            return self.begin_anew(domain, &before, inflation);
        }
        let mut changed = Vec::new();
        let mut edges = Vec::new();
        for state in suspects {
            let moved = was.holds(state) != is.holds(state);
            if moved {
                changed.push(state);
            }
            edges.clear();
            domain.predecessors(state, &mut edges);
            let others = edges.iter().map(|edge| edge.0);
            changed.extend(others.filter(|&other| moved || was.holds(other) != is.holds(other)));
        }
        self.search.edges_changed(&is, &changed);
        self.search.heuristic_changed();
    }

    /// The plan that was found is kept until there is another.
    fn begin_anew(&mut self, domain: &dyn Placed<State = S>, before: &Tunnel, inflation: f32) {
        let mut plan = Vec::new();
        if self.search.path(&Within { domain, tunnel: before }, &mut plan).is_some() {
            self.kept = plan;
        }
        self.before = self.effort();
        self.before.restarts += 1;
        let settings = Settings { inflation, ..self.settings };
        self.search = AnytimeDynamicAstar::new(settings, self.aim, &self.roots);
    }
}

/// What a plan costs; `None` where it cannot be gone any more.
fn cost_of<D: Domain + ?Sized>(domain: &D, plan: &[D::State]) -> Option<f32> {
    let mut edges = Vec::new();
    let mut cost = 0.0;
    for pair in plan.windows(2) {
        let (from, to) = if domain.is_reversed() { (pair[1], pair[0]) } else { (pair[0], pair[1]) };
        edges.clear();
        domain.successors(from, &mut edges);
        let steps = edges.iter().filter(|edge| edge.0 == to).map(|edge| edge.1);
        cost += steps.min_by(f32::total_cmp)?;
    }
    Some(cost)
}

impl<D: Placed + ?Sized> Within<'_, D> {
    /// Whether no step leads out of the tunnel from here.
    fn is_deep(&self, state: D::State) -> bool {
        let Some(place) = self.domain.place_of(state) else { return false };
        let (step, length) = self.domain.longest_step();
        let (aside, late) = self.tunnel.line.distance(place, self.domain.time_of(state));
        // Where the line bends, a step aside may be one of twice its length along the line.
        aside + step <= self.tunnel.width.space && late + 3.0 * length <= self.tunnel.width.time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::grid::Grid;
    use proptest::prelude::*;

    #[test]
    fn a_line_has_bends_only_and_tells_distances() {
        let cells = (0..10).map(|x| DVec2::new(f64::from(x), 0.0));
        let up = (1..5).map(|y| DVec2::new(9.0, f64::from(y)));
        let line = Line::timed(cells.chain(up), 100.0, 2.0);
        assert_eq!(line.points(), [DVec2::ZERO, DVec2::new(9.0, 0.0), DVec2::new(9.0, 4.0)]);
        assert_eq!((line.length(), line.end_time()), (13.0, Some(106.5)));
        assert_eq!(line.distance(DVec2::new(4.0, -3.0), Some(103.0)), (3.0, 1.0));
        assert_eq!(line.distance(DVec2::new(9.0, 6.0), None), (2.0, 0.0));
        assert_eq!(Line::default().distance(DVec2::ONE, Some(1.0)), (0.0, 0.0));
    }

    fn tunnel(grid: &Grid, cells: &[u32], width: f64) -> Tunnel {
        let line = Line::through(cells.iter().map(|&cell| grid.place(cell)));
        Tunnel { line, width: Width { space: width, time: f64::INFINITY }, goal_radius: 0.0 }
    }

    #[test]
    fn a_tunnel_without_a_plan_is_widened_until_it_has_one() {
        // A wall across with a gap at the top, and a tunnel along the bottom.
        let grid = Grid::of_cells(21, 21, 1.0, |column, line| column != 10 || line == 20).unwrap();
        let (start, goal) = (0, 20);
        let mut search =
            Guided::new(Settings::default(), Aim::At(start), &[goal], tunnel(&grid, &[start, goal], 1.0));
        let status = search.improve(&grid, Budget::unlimited());
        assert!(matches!(status, Status::Bounded(_)), "{status:?}");
        let mut path = Vec::new();
        assert!(search.path(&grid, &mut path).is_some() && path.contains(&430));
        let closed = Grid::of_cells(21, 21, 1.0, |column, _| column != 10).unwrap();
        let mut search =
            Guided::new(Settings::default(), Aim::At(start), &[goal], tunnel(&closed, &[start, goal], 1.0));
        assert_eq!(search.improve(&closed, Budget::unlimited()), Status::Unreachable);
    }

    #[test]
    fn a_tunnel_spares_expansions_and_is_wider_at_a_smaller_inflation() {
        let grid = Grid::of_cells(60, 60, 1.0, |column, line| column != 30 || line > 50).unwrap();
        let (start, goal) = (10 * 60 + 5, 10 * 60 + 55);
        let corners = [start, 51 * 60 + 30, goal];
        let settings = Settings::default();
        let mut open = AnytimeDynamicAstar::new(settings, Aim::At(start), &[goal]);
        open.improve(&grid, Budget::unlimited());
        let mut guided = Guided::new(settings, Aim::At(start), &[goal], tunnel(&grid, &corners, 2.0));
        guided.improve(&grid, Budget::unlimited());
        let (with, without) = (guided.effort().expansions, open.effort().expansions);
        assert!(with * 3 < without, "{with} with a tunnel, {without} without");
        assert_eq!(guided.tunnel().width.space, 2.0);
        guided.improve(&grid, Budget::unlimited());
        assert!(guided.tunnel().width.space > 2.0);
    }

    proptest! {
        /// Random changes of the line: the plan is the one that a search finds that begins in the new tunnel.
        #[test]
        fn changes_of_the_tunnel_are_handed_on(
            blocked in prop::collection::vec(prop::bool::weighted(0.25), 144),
            lines in prop::collection::vec(prop::collection::vec(0..144_u32, 1..4), 1..6),
            width in 1.0..4.0_f64,
            ends in (0..144_u32, 0..144_u32),
        ) {
            let (start, goal) = ends;
            let grid = Grid::of_cells(12, 12, 1.0, |column, line| {
                let cell = line * 12 + column;
                cell == start || cell == goal || !blocked[cell as usize]
            }).unwrap();
            let settings = Settings { inflation: 1.0, anew_share: 1.0, ..Settings::default() };
            let middle = |cells: &[u32]| {
                let cells: Vec<u32> = [start].into_iter().chain(cells.iter().copied()).chain([goal]).collect();
                tunnel(&grid, &cells, width)
            };
            let mut guided = Guided::new(settings, Aim::At(start), &[goal], middle(&lines[0]));
            for cells in &lines {
                guided.set_line(&grid, middle(cells).line);
                let status = guided.improve(&grid, Budget::unlimited());
                let mut fresh = Guided::new(settings, Aim::At(start), &[goal], Tunnel { width: guided.tunnel().width, ..middle(cells) });
                let expected = fresh.improve(&grid, Budget::unlimited());
                prop_assert_eq!(matches!(status, Status::Unreachable), matches!(expected, Status::Unreachable));
                let cost = |search: &mut Guided<u32>| search.path(&grid, &mut Vec::new());
                let (ours, best) = (cost(&mut guided), cost(&mut fresh));
                // Both are within twice the best of the tunnel, and ties of keys may fall either way.
                if let (Some(ours), Some(best)) = (ours, best) {
                    prop_assert!(ours <= 2.0 * best + 1e-3 && best <= 2.0 * ours + 1e-3, "{ours} and {best}");
                }
                prop_assert_eq!(ours.is_some(), best.is_some());
            }
        }
    }
}
