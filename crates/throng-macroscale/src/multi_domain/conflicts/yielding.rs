//! How agents get out of one another's way. T(Σ3) leads around those who stand. Where there is no way on, the agent that is
//! nearest to its goal plans as if those who are further from theirs were not there, and these look for a place to let it by,
//! going back if need be. All of it is published at once, or nothing.

use crate::domain::grid::Grid;
use crate::domain::occupancy::{Passage, Trajectory};
use crate::domain::space_time::APART;
use crate::hash::FastMap;
use crate::multi_domain::conflicts::sharing::Kept;
use crate::multi_domain::plan::Plan;
use crate::multi_domain::plan::blocked::Blocked;
use crate::multi_domain::plan::deliberation::{Ego, Meter, Snapshot};
use crate::multi_domain::plan::direct::{Found, Others, Path};
use crate::multi_domain::plan::grid::{Around, CELLS_OF_AN_EXPANSION, MOST_STEPS};
use crate::multi_domain::plan::window::{Ending, REST};
use crate::multi_domain::schedule::tasks::{Task, left};
use crate::search::{Aim, AnytimeDynamicAstar, Budget, Domain, Settings};
use glam::DVec2;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use throng_core::geom::double::distance_to_segment;
use throng_core::world::Status;

/// As long one lets those go first who make room, s: who stands beside one cannot be gone when one sets off.
const PAUSES: [f64; 3] = [0.0, 1.5, 3.0];
/// Agents that can be asked to make room at a time.
const MOST_ASKED: usize = 8;
/// Cells that are looked at for a place to let another agent by.
const MOST_CELLS: u64 = 6_000;
/// As far ahead those who stand are gone around, m; the first that is not among them.
pub(crate) const AHEAD: [f64; 3] = [12.0, 20.0, 32.0];

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
            .filter(|&row| {
                crate::multi_domain::wide(view.position(row)).distance(ego.at) < ahead && stands(row)
            })
            .map(|row| {
                (
                    crate::multi_domain::wide(view.position(row)),
                    f64::from(view.agents.radius[row]) + ego.radius,
                )
            })
            .chain(self.parked(ego, ahead))
            .collect();
        let is_hit = standing.iter().any(|&(at, reach)| {
            line.windows(2).any(|pair| distance_to_segment(at, pair[0], pair[1]) < reach)
        });
        if is_hit { standing } else { Vec::new() }
    }

    /// Scripted bodies near an agent that stand for the whole horizon, and how near to them one may be.
    fn parked(&self, ego: &Ego<'_>, ahead: f64) -> impl Iterator<Item = (DVec2, f64)> {
        let (view, until) = (self.view, self.view.now + self.horizon());
        let reach = ego.radius + f64::from(self.params.margin) + 2.0 * APART;
        self.movers_near(ego.at, ahead).into_iter().filter_map(move |mover| {
            let script = &view.scripts[mover as usize];
            let stands = script.path.windows(2).all(|pair| pair[1].0 <= view.now || pair[0].0 >= until);
            let at = crate::multi_domain::wide(script.state(view.now, view.tick).position);
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
        let domain = Around { grid, standing: &Blocked::new(grid, standing), tunnel: None };
        let ends = [ego.at, to].map(|end| grid.nearest(end, 6.0 * grid.side()));
        let [Some(start), Some(goal)] = ends else { return None };
        let settings = Settings { inflation: 1.2, ..Settings::default() };
        let mut search = AnytimeDynamicAstar::new(settings, Aim::At(start), &[goal]);
        search.improve(&domain, Budget::expansions(MOST_STEPS));
        meter.see(Task::Grid, search.visited().map(|(cell, _)| grid.place(cell)));
        meter.charge(Task::Grid, search.effort().expansions, CELLS_OF_AN_EXPANSION);
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
            _ if self.maps.is_in_flight(self.view, row, plan) || plan.led => false,
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
        if rows.is_empty() {
            return None;
        }
        let yielding = self.marked(&rows);
        let straight: Vec<DVec2> = std::iter::once(ego.at).chain(plan.way.iter().copied()).collect();
        let others = Others { ignored: &yielding, new: &[] };
        let through = |ending: &Ending, meter: &mut Meter| {
            let found = self.walk_line(ego, &straight, ending, others, meter);
            let found = found.or_else(|| self.reach_waypoint(ego, &straight, ending, others, false, meter));
            let begins_anew = !self.keeps_searches(ego, ending);
            let inflation = self.params.inflation;
            found.or_else(|| {
                begins_anew.then(|| self.search(ego, &straight, ending, inflation, others, meter))?
            })
        };
        // The same plan, sooner or later.
        let mut known: [Option<Option<Found>>; 2] = Default::default();
        PAUSES.into_iter().find_map(|pause| {
            let later = |ending: &Ending, meter: &mut Meter| {
                let found = known[usize::from(ending.leaves)].get_or_insert_with(|| through(ending, meter));
                self.after(ego, found.clone()?, pause, ending.leaves, others)
            };
            let found = self.visit(ego, ending, others, meter, later)?;
            let stays = !(ending.leaves && found.reaches);
            self.with_room_made(ego, self.with(plan, found), stays, &yielding, meter)
        })
    }

    /// A plan that begins after a pause, if nobody is met then.
    fn after(
        &self,
        ego: &Ego<'_>,
        found: Found,
        pause: f64,
        leaves: bool,
        others: Others<'_>,
    ) -> Option<Found> {
        if pause == 0.0 {
            return Some(found);
        }
        let pause = (pause / self.view.tick).ceil() * self.view.tick;
        let later = found.path.iter().map(|&(time, at)| (time + pause, at));
        let path: Path = std::iter::once((self.view.now, ego.at)).chain(later).collect();
        let is_free = self.meeting(ego, &path, leaves && found.reaches, others).is_none();
        is_free.then_some(Found { path, ..found })
    }

    /// A plan, and those of all who make room for it. `None` where one of them cannot.
    pub fn with_room_made(
        &self,
        ego: &Ego<'_>,
        plan: Plan,
        stays: bool,
        yielding: &[u32],
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
                let other = self.ego(row)?;
                let path = self.asked_aside(&other, yielding, &new, meter)?;
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
        yielding: &[u32],
        new: &[(u32, Trajectory)],
        meter: &mut Meter,
    ) -> Option<Path> {
        let mut refuge = |ignored: &[u32]| {
            let from = (self.view.now, ego.at);
            self.refuge(ego, from, Others { ignored, new }, &Kept::default(), meter)
        };
        refuge(&[]).or_else(|| refuge(yielding))
    }

    /// A path as it is reserved.
    pub fn reservation(&self, ego: &Ego<'_>, path: Path, stays: bool) -> Trajectory {
        Trajectory { radius: ego.radius + f64::from(self.params.margin), path, stays }
    }

    /// The bodies of some rows, ascending.
    pub fn marked(&self, rows: &[usize]) -> Vec<u32> {
        let body = |&row: &usize| self.reservations.body(self.view.agents.slot[row]);
        let mut bodies: Vec<u32> = rows.iter().map(body).collect();
        bodies.sort_unstable();
        bodies
    }

    pub fn with(&self, plan: &Plan, found: Found) -> Plan {
        let way = found.path.first().map_or(&plan.way[..], |&(_, here)| plan.bends_ahead(here)).to_vec();
        Plan {
            way,
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
            led: false,
            heard: 0,
            ..plan.clone()
        }
    }

    /// The rows of those among some whose published paths a new one meets.
    pub fn met_by(&self, new: &Trajectory, among: &[u32]) -> Vec<usize> {
        let Some(&(begin, first)) = new.path.first().filter(|_| !among.is_empty()) else { return Vec::new() };
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
        let extent =
            new.path.iter().fold([first; 2], |[low, high], bend| [low.min(bend.1), high.max(bend.1)]);
        let reach = new.radius + crate::domain::space_time::APART;
        let until = new.path.last().map_or(begin, |last| (self.view.now + self.horizon()).max(last.0 + REST));
        let published = &self.reservations.published;
        let is_asked = |body: u32| among.binary_search(&body).is_ok();
        let near = published.some_within([extent[0] - reach, extent[1] + reach], [begin, until], is_asked);
        let met = near.into_iter().filter(|&body| published.get(body).is_some_and(meets));
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
        (begin, from): (f64, DVec2),
        others: Others<'_>,
        kept: &Kept,
        meter: &mut Meter,
    ) -> Option<Path> {
        let grid = ego.map.grid.as_ref()?;
        let start = grid.nearest(from, 4.0 * grid.side())?;
        let speed = ego.preferred.max(0.05);
        let tick = self.view.tick;
        let later = |time: f64, length: f64| {
            begin + ((time - begin + length / speed) / tick - 1e-6).ceil().max(1.0) * tick
        };
        let passes = |from: DVec2, to: DVec2, begin: f64, end: f64| {
            !self.meets(ego, &Passage { from, to, begin, end }, others)
        };
        let first = |cell: u32| later(begin, from.distance(grid.place(cell)));
        let can_begin = |cell: u32| passes(from, grid.place(cell), begin, first(cell));
        // Time in whole steps: integers compare without ties by rounding.
        let steps = |time: f64| ((time - begin) / tick).round() as u64;
        let mut reached: FastMap<u32, (u64, u32)> = FastMap::default();
        let mut open = BinaryHeap::new();
        let mut edges = Vec::new();
        if can_begin(start) {
            edges.push((start, 0.0));
        } else {
            // The middle of its cell may be nearer to an agent that it touches.
            grid.successors(start, &mut edges);
            edges.retain(|edge| ego.map.sees(from, grid.place(edge.0)) && can_begin(edge.0));
        }
        for &(cell, _) in &edges {
            reached.insert(cell, (steps(first(cell)), cell));
            open.push(Reverse((steps(first(cell)), cell)));
        }
        let mut looked = 0;
        while let Some(Reverse((step, cell))) = open.pop() {
            if reached.get(&cell).is_none_or(|&(best, _)| best < step) {
                continue;
            }
            looked += 1;
            let (time, at) = (begin + step as f64 * tick, grid.place(cell));
            let until = (self.view.now + self.horizon()).max(time + REST);
            if kept.is_free(at) && passes(at, at, time, until) {
                meter.charge(Task::Grid, looked, CELLS_OF_AN_EXPANSION);
                return Some(trace(grid, &reached, cell, |step| begin + step as f64 * tick, (begin, from)));
            }
            if looked > MOST_CELLS {
                break;
            }
            edges.clear();
            grid.successors(cell, &mut edges);
            for &(next, length) in &edges {
                let arrival = later(time, length.into());
                let sooner = reached.get(&next).is_none_or(|&(best, _)| steps(arrival) < best);
                if sooner && passes(at, grid.place(next), time, arrival) {
                    reached.insert(next, (steps(arrival), cell));
                    open.push(Reverse((steps(arrival), next)));
                }
            }
        }
        meter.charge(Task::Grid, looked, CELLS_OF_AN_EXPANSION);
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
