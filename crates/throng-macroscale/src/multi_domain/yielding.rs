//! How agents get out of one another's way. T(Σ3) leads around those who stand. Where there is no way on, the agent that is
//! nearest to its goal plans as if those who are further from theirs were not there, and these look for a place to let it by,
//! going back if need be. All of it is published at once, or nothing.

use super::deliberation::{Ego, Meter, Snapshot, improve};
use super::direct::{Found, Others, Path};
use super::plan::Plan;
use super::sharing::Kept;
use super::tasks::{Task, left};
use super::turn::Part;
use super::window::{Ending, REST};
use crate::domain::grid::Grid;
use crate::domain::occupancy::{Passage, Trajectory};
use crate::domain::space_time::APART;
use crate::hash::FastMap;
use crate::search::{Aim, AnytimeDynamicAstar, Domain, Settings};
use glam::DVec2;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use throng_core::geom::double::distance_to_segment;
use throng_core::world::Status;

/// Agents that can be asked to make room at a time.
const MOST_ASKED: usize = 8;
/// Cells that are looked at for a place to let another agent by.
const MOST_CELLS: u64 = 6_000;
/// Of them, between looks at the clock.
const CELLS_BETWEEN_LOOKS: u64 = 64;
/// As many cells count as one expansion of a search in space and time.
const CELLS_OF_AN_EXPANSION: u64 = 8;
/// Cells of a way around those who stand.
const MOST_STEPS: u64 = 4_000;
/// As far ahead those who stand are gone around, m; the first that is not among them.
pub(super) const AHEAD: [f64; 3] = [12.0, 20.0, 32.0];

impl Snapshot<'_> {
    /// T(Σ3): a way with its beginning, led around those who stand on it.
    pub fn line(&self, ego: &Ego<'_>, way: &[DVec2], meter: &mut Meter) -> Vec<DVec2> {
        let straight: Vec<DVec2> = std::iter::once(ego.at).chain(way.iter().copied()).collect();
        // The grid knows no way beside the floor.
        let walked = &way[..ego.map.walked(ego.at, way)];
        for ahead in AHEAD {
            let standing = self.standing_near(ego, &straight, ahead);
            if standing.is_empty() || walked.is_empty() {
                break;
            }
            let (to, bend) = beyond(ego.at, walked, ahead);
            // A line that would end among agents that stand looks further.
            if standing.iter().all(|&(at, reach)| at.distance(to) >= reach) {
                return self.around(ego, (to, &way[bend..]), &standing, meter).unwrap_or(straight);
            }
        }
        straight
    }

    /// Agents that stand for the whole horizon near the beginning of a line, and on it.
    fn standing_near(&self, ego: &Ego<'_>, line: &[DVec2], ahead: f64) -> Vec<(DVec2, f64)> {
        let view = self.view;
        let stands = |row: usize| {
            let plan = self.plan(view.agents.slot[row]);
            row != ego.row && plan.end() <= view.now + 1.0
        };
        let near = self.rows_near(ego.at, ahead);
        let standing: Vec<(DVec2, f64)> = near
            .into_iter()
            .filter(|&row| super::wide(view.position(row)).distance(ego.at) < ahead && stands(row))
            .map(|row| (super::wide(view.position(row)), f64::from(view.agents.radius[row]) + ego.radius))
            .chain(self.parked(ego))
            .collect();
        let is_hit = standing.iter().any(|&(at, reach)| {
            line.windows(2).any(|pair| distance_to_segment(at, pair[0], pair[1]) < reach)
        });
        if is_hit { standing } else { Vec::new() }
    }

    /// Scripted bodies that stand for the whole horizon, and how near to them one may be.
    fn parked(&self, ego: &Ego<'_>) -> impl Iterator<Item = (DVec2, f64)> {
        let (view, until) = (self.view, self.view.now + self.horizon());
        let reach = ego.radius + f64::from(self.params.margin) + 2.0 * APART;
        let in_the_way = view.scripts.iter().filter(|script| !script.carries);
        in_the_way.filter_map(move |script| {
            let stands = script.path.windows(2).all(|pair| pair[1].0 <= view.now || pair[0].0 >= until);
            let at = super::wide(script.state(view.now, view.tick).position);
            stands.then_some((at, f64::from(script.radius) + reach))
        })
    }

    fn around(
        &self,
        ego: &Ego<'_>,
        (to, rest): (DVec2, &[DVec2]),
        standing: &[(DVec2, f64)],
        meter: &mut Meter,
    ) -> Option<Vec<DVec2>> {
        let grid = ego.map.grid.as_ref()?;
        let domain = Around { grid, standing };
        let ends = [ego.at, to].map(|end| grid.nearest(end, 6.0 * grid.side()));
        let [Some(start), Some(goal)] = ends else { return None };
        let settings = Settings { inflation: 1.2, ..Settings::default() };
        let mut search =
            meter.resume().unwrap_or_else(|| AnytimeDynamicAstar::new(settings, Aim::At(start), &[goal]));
        let before = search.effort().expansions;
        improve(&mut search, &domain, MOST_STEPS - before.min(MOST_STEPS), meter);
        meter.see(Task::Grid, search.visited().map(|(cell, _)| grid.place(cell)));
        meter.spent += (search.effort().expansions - before) / CELLS_OF_AN_EXPANSION;
        if meter.is_cut() {
            meter.leave(search);
            return None;
        }
        let mut cells = Vec::new();
        search.path(&domain, &mut cells)?;
        let places: Vec<DVec2> = cells.iter().map(|&cell| grid.place(cell)).collect();
        let free = |from: DVec2, to: DVec2| {
            ego.map.sees(from, to)
                && standing.iter().all(|&(at, reach)| distance_to_segment(at, from, to) >= reach)
        };
        let mut line = vec![ego.at];
        pull(&mut line, &places, free);
        line.extend_from_slice(rest);
        Some(line)
    }

    /// Whether an agent can be asked to make room for another: one that has further to go, or that has arrived.
    fn gives_way(&self, row: usize, to: &Ego<'_>, to_left: f64) -> bool {
        let agents = self.view.agents;
        let plan = self.plan(agents.slot[row]);
        let own = left(self.view, row, plan);
        match agents.status[row] {
            _ if self.maps.is_in_flight(self.view, row, plan) => false,
            Status::Waiting => false,
            Status::Arrived => true,
            Status::Walking => (own, agents.id[row]) > (to_left, to.id),
        }
    }

    /// Plans as if those who have further to go were not there, and finds places for those who would be met. `None` where
    /// that does not work out.
    pub fn make_way(
        &self,
        ego: &Ego<'_>,
        plan: &Plan,
        ending: &Ending,
        meter: &mut Meter,
    ) -> Option<Vec<(u32, Plan)>> {
        let to_left = left(self.view, ego.row, plan);
        let mut rows = self.rows_within_reach(ego);
        rows.retain(|&row| self.gives_way(row, ego, to_left));
        let yielding = self.marked(&rows);
        let straight: Vec<DVec2> = std::iter::once(ego.at).chain(plan.way.iter().copied()).collect();
        let others = Others { ignored: &yielding, new: &[] };
        let through = |ending: &Ending, meter: &mut Meter| {
            let found = self.walk_line(ego, &straight, ending, others, meter);
            found.or_else(|| self.search(ego, &straight, ending, self.params.inflation, others, meter))
        };
        let found = self.visit(ego, ending, others, meter, through)?;
        let found = Found { path: ego.from_now(found.path), ..found };
        let stays = !(ending.leaves && found.reaches);
        self.with_room_made(ego, self.with(plan, found), stays, &yielding, meter)
    }

    /// A plan, and those of all who make room for it. `None` where one of them cannot.
    pub fn with_room_made(
        &self,
        ego: &Ego<'_>,
        plan: Plan,
        stays: bool,
        yielding: &[bool],
        meter: &mut Meter,
    ) -> Option<Vec<(u32, Plan)>> {
        let mut new = vec![(ego.body, self.reservation(ego, plan.path.clone(), stays))];
        let mut plans = vec![(ego.slot, plan)];
        let mut done = 0;
        while done < new.len() {
            for row in self.met_by(&new[done].1, yielding) {
                let slot = self.view.agents.slot[row];
                let body = self.reservations.body(slot);
                if new.iter().any(|(other, _)| *other == body) {
                    continue;
                }
                if new.len() > MOST_ASKED {
                    return None;
                }
                let other = self.ego_at(row, ego.begin)?;
                // A turn that goes on after a cut relies on what the other did when it was asked.
                if meter.part(Part::of("asked", &[], slot as usize), |_| other.at) != other.at {
                    return None;
                }
                let path = other.from_now(self.asked_aside(&other, yielding, &new, meter)?);
                new.push((body, self.reservation(&other, path.clone(), true)));
                plans.push((slot, self.with(self.plan(slot), Found { path, ..Found::default() })));
            }
            done += 1;
        }
        Some(plans)
    }

    /// Where an agent goes that is asked to make room: it troubles no other if it can help it.
    fn asked_aside(
        &self,
        ego: &Ego<'_>,
        yielding: &[bool],
        new: &[(u32, Trajectory)],
        meter: &mut Meter,
    ) -> Option<Path> {
        let mut refuge = |ignored: &[bool]| {
            let from = (ego.begin, ego.at);
            self.refuge(ego, from, Others { ignored, new }, &Kept::default(), meter)
        };
        refuge(&[]).or_else(|| refuge(yielding))
    }

    /// A path as it is reserved.
    pub fn reservation(&self, ego: &Ego<'_>, path: Path, stays: bool) -> Trajectory {
        Trajectory { radius: ego.radius + f64::from(self.params.margin), path, stays }
    }

    /// Some rows as marks of their bodies.
    pub fn marked(&self, rows: &[usize]) -> Vec<bool> {
        let mut marks = Vec::new();
        for &row in rows {
            let body = self.reservations.body(self.view.agents.slot[row]) as usize;
            marks.resize(marks.len().max(body + 1), false);
            marks[body] = true;
        }
        marks
    }

    pub fn with(&self, plan: &Plan, found: Found) -> Plan {
        Plan {
            valid: true,
            path: found.path,
            steps: found.steps,
            reaches: found.reaches,
            inflation: found.inflation,
            width: found.width,
            served: self.view.now,
            conflict: f64::INFINITY,
            blocked: f64::INFINITY,
            failures: 0,
            ..plan.clone()
        }
    }

    /// The rows of those among some whose published paths a new one meets.
    pub fn met_by(&self, new: &Trajectory, among: &[bool]) -> Vec<usize> {
        let meets = |other: &Trajectory| {
            let reach = new.radius + other.radius - f64::from(self.params.margin);
            let rest = new.path.last().filter(|_| new.stays).map(|&(begin, at)| Passage {
                from: at,
                to: at,
                begin,
                end: (self.view.now + self.horizon()).max(begin + REST),
            });
            let pieces = new.path.windows(2).map(|pair| Passage {
                from: pair[0].1,
                to: pair[1].1,
                begin: pair[0].0,
                end: pair[1].0,
            });
            pieces
                .chain(rest)
                .any(|passage| other.nearest(&passage) < reach + crate::domain::space_time::APART)
        };
        let bodies = (0..among.len() as u32).filter(|&body| among[body as usize]);
        let met = bodies.filter(|&body| self.reservations.published.get(body).is_some_and(meets));
        let mut rows: Vec<usize> = met
            .filter_map(|body| Some(self.rows[self.reservations.agent(body)? as usize] as usize))
            .collect();
        let rank = |row: &usize| {
            let (id, slot) = (self.view.agents.id[*row], self.view.agents.slot[*row]);
            (left(self.view, *row, self.plan(slot)), id)
        };
        rows.sort_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(std::cmp::Ordering::Equal));
        rows
    }

    /// The path from a place and time to the nearest place where one can stand and lets all others by and something free, as
    /// early as one can get there. An agent that flees is never better off later, so one time for each cell is enough.
    pub fn refuge(
        &self,
        ego: &Ego<'_>,
        from: (f64, DVec2),
        others: Others<'_>,
        kept: &Kept,
        meter: &mut Meter,
    ) -> Option<Path> {
        let grid = ego.map.grid.as_ref()?;
        meter.part(others.part("refuge", &[from.1, DVec2::splat(from.0)]), |meter| {
            let fugitive = Fugitive { snapshot: self, ego, from, others, grid };
            let mut flight = meter.resume().or_else(|| fugitive.set_out())?;
            let before = flight.looked;
            let refuge = fugitive.flee(&mut flight, kept, meter);
            meter.spent += (flight.looked - before) / CELLS_OF_AN_EXPANSION;
            if meter.is_cut() {
                meter.leave(flight);
            }
            refuge
        })
    }
}

/// An agent that looks for a place to let others by.
struct Fugitive<'a> {
    snapshot: &'a Snapshot<'a>,
    ego: &'a Ego<'a>,
    from: (f64, DVec2),
    others: Others<'a>,
    grid: &'a Grid,
}

/// How far it has looked. Times are whole steps of the simulation: integers compare without ties by rounding.
#[derive(Default)]
struct Flight {
    /// When one gets to a cell at best, and from which.
    reached: FastMap<u32, (u64, u32)>,
    open: BinaryHeap<Reverse<(u64, u32)>>,
    looked: u64,
}

impl Flight {
    fn reach(&mut self, cell: u32, step: u64, from: u32) {
        self.reached.insert(cell, (step, from));
        self.open.push(Reverse((step, cell)));
    }
}

impl Fugitive<'_> {
    fn time(&self, step: u64) -> f64 {
        self.from.0 + step as f64 * self.snapshot.view.tick
    }

    /// When one has gone as far who begins at a step.
    fn later(&self, step: u64, length: f64) -> u64 {
        let speed = self.ego.preferred.max(0.05);
        step + (length / speed / self.snapshot.view.tick - 1e-6).ceil().max(1.0) as u64
    }

    fn passes(&self, from: DVec2, to: DVec2, begin: f64, end: f64) -> bool {
        !self.snapshot.meets(self.ego, &Passage { from, to, begin, end }, self.others)
    }

    /// The cells that it can go to first.
    fn set_out(&self) -> Option<Flight> {
        let (begin, from) = self.from;
        let grid = self.grid;
        let start = grid.nearest(from, 4.0 * grid.side())?;
        let first = |cell: u32| self.later(0, from.distance(grid.place(cell)));
        let can_begin = |cell: u32| self.passes(from, grid.place(cell), begin, self.time(first(cell)));
        let mut edges = Vec::new();
        if can_begin(start) {
            edges.push((start, 0.0));
        } else {
            // The middle of its cell may be nearer to an agent that it touches.
            grid.successors(start, &mut edges);
            edges.retain(|edge| self.ego.map.sees(from, grid.place(edge.0)) && can_begin(edge.0));
        }
        let mut flight = Flight::default();
        edges.iter().for_each(|&(cell, _)| flight.reach(cell, first(cell), cell));
        Some(flight)
    }

    fn flee(&self, flight: &mut Flight, kept: &Kept, meter: &mut Meter) -> Option<Path> {
        let mut edges = Vec::new();
        let until = |time: f64| (self.ego.begin + self.snapshot.horizon()).max(time + REST);
        while flight.looked <= MOST_CELLS {
            if flight.looked % CELLS_BETWEEN_LOOKS == 0 && meter.is_over() {
                return None;
            }
            let Reverse((step, cell)) = flight.open.pop()?;
            if flight.reached.get(&cell).is_none_or(|&(best, _)| best < step) {
                continue;
            }
            flight.looked += 1;
            let (time, at) = (self.time(step), self.grid.place(cell));
            if kept.is_free(at) && self.passes(at, at, time, until(time)) {
                return Some(trace(self.grid, &flight.reached, cell, |step| self.time(step), self.from));
            }
            edges.clear();
            self.grid.successors(cell, &mut edges);
            for &(next, length) in &edges {
                let arrival = self.later(step, length.into());
                let sooner = flight.reached.get(&next).is_none_or(|&(best, _)| arrival < best);
                if sooner && self.passes(at, self.grid.place(next), time, self.time(arrival)) {
                    flight.reach(next, arrival, cell);
                }
            }
        }
        None
    }
}

/// The first place of a way as far ahead as given, or the bend that is, and from which bend on the way goes on.
fn beyond(from: DVec2, way: &[DVec2], ahead: f64) -> (DVec2, usize) {
    let bend = way.iter().position(|bend| bend.distance(from) > ahead).unwrap_or(way.len() - 1);
    let far = way[bend].distance(from);
    let to = if far > ahead && bend == 0 { from.lerp(way[0], ahead / far) } else { way[bend] };
    (to, bend)
}

/// The path to a cell.
fn trace(
    grid: &Grid,
    reached: &FastMap<u32, (u64, u32)>,
    mut cell: u32,
    time: impl Fn(u64) -> f64,
    start: (f64, DVec2),
) -> Path {
    let mut path = Vec::new();
    while let Some(&(step, before)) = reached.get(&cell) {
        path.push((time(step), grid.place(cell)));
        if before == cell {
            break;
        }
        cell = before;
    }
    path.push(start);
    path.reverse();
    path
}

/// Goes on from the end of a line over places, leaving out those that are not needed.
fn pull(line: &mut Vec<DVec2>, places: &[DVec2], free: impl Fn(DVec2, DVec2) -> bool) {
    let mut from = line[line.len() - 1];
    let mut index = 0;
    while index < places.len() {
        let next = (index..places.len()).rev().find(|&next| free(from, places[next])).unwrap_or(index);
        from = places[next];
        line.push(from);
        index = next + 1;
    }
}

/// The grid, with some who stand on it.
struct Around<'a> {
    grid: &'a Grid,
    /// Where, and as near as one can come.
    standing: &'a [(DVec2, f64)],
}

impl Around<'_> {
    fn is_free(&self, cell: u32) -> bool {
        let at = self.grid.place(cell);
        self.standing.iter().all(|&(other, reach)| other.distance_squared(at) >= reach * reach)
    }
}

impl Domain for Around<'_> {
    type State = u32;

    fn successors(&self, cell: u32, out: &mut Vec<(u32, f32)>) {
        let before = out.len();
        self.grid.successors(cell, out);
        let mut kept = before;
        for index in before..out.len() {
            if self.is_free(out[index].0) {
                out[kept] = out[index];
                kept += 1;
            }
        }
        out.truncate(kept);
    }

    fn predecessors(&self, cell: u32, out: &mut Vec<(u32, f32)>) {
        if self.is_free(cell) {
            self.grid.predecessors(cell, out);
        }
    }

    fn heuristic(&self, from: u32, to: u32) -> f32 {
        self.grid.heuristic(from, to)
    }
}
