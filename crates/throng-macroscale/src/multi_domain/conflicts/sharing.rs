//! Goals that many want to, and stay at: there is room for one to three within a usual radius. An agent that has been there goes
//! on to a place beside the ways of those who still come, as people do who get out of a lift. That is part of its plan, so it is
//! known before, to itself and to others, that the goal becomes free, and when. An agent that finds no such place stays, and
//! looks again.
//!
//! Weighed and left: only to ask agents that stand there to make room when another one comes (`yielding.rs`; it still happens, but
//! each has to lose its patience first, and ten people took more than a minute), and to leave the last metre to the local
//! model (its pushes tear up the plans of all who are near).

use crate::multi_domain::plan::deliberation::{Ego, Meter, Snapshot};
use crate::multi_domain::plan::direct::{Found, Others, Path};
use crate::multi_domain::plan::window::Ending;
use crate::multi_domain::plan::{Plan, Plans};
use crate::multi_domain::{Session, wide};
use glam::DVec2;
use std::sync::OnceLock;
use throng_core::geom::double::{distance_to_segment, length};
use throng_core::world::{Status, View};

/// What an agent that stays near a goal keeps free for those who still come.
#[derive(Default)]
pub(crate) struct Kept {
    lanes: Vec<Lane>,
    /// Where they want to, and how far around that, m.
    around: Option<(DVec2, f64)>,
}

/// The way of an agent that still comes.
struct Lane {
    /// From where it is.
    way: Vec<DVec2>,
    end: DVec2,
    /// As far beside it there is room for both, m.
    reach: f64,
    length: f64,
}

/// Paths that end as near to a goal are kept free too, m: an agent that makes room for one is not to stand in the way of another.
const NEARBY: f64 = 4.0;
/// Paths that are kept free, those of the first to come. All of a crowd from everywhere would leave no place at all.
const MOST_LANES: usize = 16;
/// As many who want to one place share the search for it, which leads there from everywhere: it takes as long as some others.
const SHARED: usize = 8;
/// What is left free beside a way, m: no agent walks on a line to the millimetre.
const BESIDE: f64 = 0.1;
/// Around a goal this many times the distance of two bodies is kept free: one comes while another one leaves.
const TO_PASS: f64 = 2.0;

impl Kept {
    /// Whether an agent that stands at a place is in no other's way.
    pub fn is_free(&self, at: DVec2) -> bool {
        self.lanes.iter().all(|lane| lane.is_beside(at))
            && self.around.is_none_or(|(goal, within)| goal.distance(at) >= within)
    }

    /// Only the goal, and not the ways to it.
    fn without_ways(&self) -> Kept {
        Kept { lanes: Vec::new(), around: self.around }
    }
}

impl Lane {
    fn is_beside(&self, at: DVec2) -> bool {
        self.way.windows(2).all(|pair| distance_to_segment(at, pair[0], pair[1]) >= self.reach)
    }
}

/// Where an agent wants to, as its plan has it.
fn wanted(view: View<'_>, row: usize, plan: &Plan) -> DVec2 {
    plan.way.last().copied().unwrap_or_else(|| wide(view.goal(row)))
}

/// Agents that walk, by where they wanted to at the beginning of the step. Listed when one asks: where all leave at their goals, no
/// agent does.
#[derive(Debug, Default)]
pub(crate) struct Destinations {
    /// Cells of [`NEARBY`], and the rows that belong there.
    rows: OnceLock<Vec<([i32; 2], u32)>>,
}

impl Destinations {
    fn list(view: View<'_>, plans: &Plans) -> Vec<([i32; 2], u32)> {
        let (agents, rows) = (view.agents, 0..view.agents.len());
        let walking = rows.filter(|&row| agents.status[row] == Status::Walking);
        let entry = |row: usize| (cell(wanted(view, row, plans.get(agents.slot[row]))), row as u32);
        let mut rows: Vec<([i32; 2], u32)> = walking.map(entry).collect();
        rows.sort_unstable();
        rows
    }

    /// Whether so many have a goal that they share the search for it.
    pub fn is_shared(&self, view: View<'_>, plans: &Plans, goal: DVec2) -> bool {
        self.near(view, plans, goal).filter(|&row| wide(view.goal(row)) == goal).nth(SHARED - 1).is_some()
    }

    /// The rows of all who want to a place or within [`NEARBY`] of it, and of some others.
    fn near(&self, view: View<'_>, plans: &Plans, place: DVec2) -> impl Iterator<Item = usize> {
        let [x, y] = cell(place);
        let rows = self.rows.get_or_init(|| Destinations::list(view, plans));
        (-1..=1).flat_map(move |column| {
            let x = x.saturating_add(column);
            let first = rows.partition_point(|entry| entry.0 < [x, y.saturating_sub(1)]);
            let entries = rows[first..].iter().take_while(move |entry| entry.0 <= [x, y.saturating_add(1)]);
            entries.map(|entry| entry.1 as usize)
        })
    }
}

fn cell(place: DVec2) -> [i32; 2] {
    let cell = (place / NEARBY).floor();
    [cell.x as i32, cell.y as i32]
}

impl Session<'_> {
    /// Whether an agent that has arrived stands where another one wants to, and shares its goal. One that has its own
    /// may stand at the rim of it.
    pub(crate) fn is_in_the_way(&self, view: View<'_>, row: usize) -> bool {
        let agents = view.agents;
        let goal = |row: usize| wanted(view, row, self.plan(agents.slot[row]));
        let (here, own) = (wide(view.position(row)), goal(row));
        self.known.destinations.near(view, self.plans, here).any(|other| {
            let reach = f64::from(agents.radius[row] + agents.radius[other] + self.params.margin) + BESIDE;
            let theirs = goal(other);
            theirs.distance(here) < TO_PASS * reach && theirs.distance(own) < reach
        })
    }
}

impl Snapshot<'_> {
    /// What others need that come to a goal; nothing where none does.
    fn kept(&self, ego: &Ego<'_>, goal: DVec2) -> Kept {
        let comes = |&row: &usize| {
            let plan = self.plan(self.view.agents.slot[row]);
            row != ego.row && wanted(self.view, row, plan).distance(goal) < NEARBY
        };
        let mut lanes: Vec<Lane> = self
            .destinations
            .near(self.view, self.plans, goal)
            .filter(comes)
            .map(|row| self.lane(ego, row))
            .collect();
        let shared = lanes.iter().filter(|lane| lane.end.distance(goal) < lane.reach);
        let nearest = shared.min_by(|a, b| a.end.distance(goal).total_cmp(&b.end.distance(goal)));
        let around = nearest.map(|lane| (lane.end, TO_PASS * lane.reach));
        // Ties go by row, and rows by where agents are.
        lanes.sort_by(|a, b| a.length.total_cmp(&b.length));
        lanes.truncate(MOST_LANES);
        if around.is_some() { Kept { lanes, around } } else { Kept::default() }
    }

    fn lane(&self, ego: &Ego<'_>, row: usize) -> Lane {
        let plan = self.plan(self.view.agents.slot[row]);
        let end = wanted(self.view, row, plan);
        let bends = plan.way.split_last().map_or(&[][..], |(_, bends)| bends);
        let here = std::iter::once(wide(self.view.position(row)));
        let way: Vec<DVec2> = here.chain(bends.iter().copied()).chain([end]).collect();
        let length = length(&way);
        let radii = ego.radius + f64::from(self.view.agents.radius[row]);
        Lane { way, end, reach: radii + f64::from(self.params.margin) + BESIDE, length }
    }

    /// A plan to a goal. Where others want to it as well it leads on from there, if there is somewhere to go. How to plan to an
    /// ending is given.
    pub fn visit(
        &self,
        ego: &Ego<'_>,
        ending: &Ending,
        others: Others<'_>,
        meter: &mut Meter,
        mut plan: impl FnMut(&Ending, &mut Meter) -> Option<Found>,
    ) -> Option<Found> {
        // No agent that walks on feet leaves its line: beside it there may be no ground.
        let may_leave = !ending.leaves && self.view.legs.is_none();
        let kept = if may_leave { self.kept(ego, ending.goal) } else { Kept::default() };
        if kept.around.is_none() {
            return plan(ending, meter);
        }
        let through = plan(&Ending { leaves: true, ..*ending }, meter);
        let visit = through.and_then(|found| self.go_on(ego, found, kept, others, meter));
        visit.or_else(|| plan(ending, meter))
    }

    /// A plan, and from the goal on to where one is not in the way, if it leads to the goal at all.
    fn go_on(
        &self,
        ego: &Ego<'_>,
        found: Found,
        kept: Kept,
        others: Others<'_>,
        meter: &mut Meter,
    ) -> Option<Found> {
        if !found.reaches {
            return Some(found);
        }
        let end = *found.path.last()?;
        // Those that have to make room for the path there do, and no others.
        let asked =
            self.marked(&self.met_by(&self.reservation(ego, found.path.clone(), false), others.ignored));
        let on = self.leave(ego, end, &kept, Others { ignored: &asked, ..others }, meter)?;
        let path: Path = found.path.iter().copied().chain(on.into_iter().skip(1)).collect();
        Some(Found { path, ..found })
    }

    /// From a place and time to where one is in no other's way; at least not at the goal.
    fn leave(
        &self,
        ego: &Ego<'_>,
        from: (f64, DVec2),
        kept: &Kept,
        others: Others<'_>,
        meter: &mut Meter,
    ) -> Option<Path> {
        let beside = self.refuge(ego, from, others, kept, meter);
        beside.or_else(|| self.refuge(ego, from, others, &kept.without_ways(), meter))
    }

    /// Whether an agent has arrived, and is not on feet, which have to be led.
    pub fn has_arrived(&self, row: usize) -> bool {
        self.view.agents.status[row] == Status::Arrived && self.view.legs.is_none()
    }

    /// What an agent does that has arrived: it makes room for those that come, or stays if none does. Those who stand around
    /// it let it out first.
    pub fn stay(&self, ego: &Ego<'_>, old: &Plan, meter: &mut Meter) -> Vec<(u32, Plan)> {
        let kept = self.kept(ego, ego.at);
        let from = (self.view.now, ego.at);
        let mut leave = |ignored: &[u32]| self.leave(ego, from, &kept, Others { ignored, new: &[] }, meter);
        if let Some(path) = leave(&[]) {
            return vec![(ego.slot, self.with(old, Found { path, ..Found::default() }))];
        }
        let walking = self.marked(&self.walking(ego));
        let let_out = leave(&walking).and_then(|path| {
            let plan = self.with(old, Found { path, ..Found::default() });
            self.with_room_made(ego, plan, true, &walking, meter)
        });
        let_out.unwrap_or_else(|| vec![(ego.slot, Plan { led: false, ..self.without(ego.row, old) })])
    }

    /// The rows of all others who walk, and can be asked to do something else: none that gets to its goal as it is.
    fn walking(&self, ego: &Ego<'_>) -> Vec<usize> {
        let agents = self.view.agents;
        let walks = |&row: &usize| {
            let plan = self.plan(agents.slot[row]);
            let is_on_floor = !self.maps.is_in_flight(self.view, row, plan);
            let gets_there = plan.valid && plan.reaches;
            agents.status[row] == Status::Walking && is_on_floor && !gets_there
        };
        let mut rows = self.rows_within_reach(ego);
        rows.retain(walks);
        rows
    }
}
