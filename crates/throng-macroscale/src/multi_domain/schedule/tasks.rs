//! Tasks, the events that put them to work, and whose turn it is (equations 2 and 3 of the paper).

use crate::multi_domain::plan::Plan;
use crate::multi_domain::plan::deliberation::Snapshot;
use crate::multi_domain::{MultiDomain, Session, wide};
use glam::DVec2;
use throng_core::CHUNK;
use throng_core::geom::double::length;
use throng_core::parallel;
use throng_core::world::{Footprint, Status, View};

/// A task of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// T(Σ1): a way on the static mesh.
    Navmesh,
    /// T(Σ2): one that minds where others will be.
    DynamicNavmesh,
    /// T(Σ3): around those who stand on it.
    Grid,
    /// T(Σ4): in space and time.
    SpaceTime,
    /// T(Σ5): where feet are put down. Only where bodies walk on such.
    Footsteps,
}

impl Task {
    /// From coarse to fine.
    pub const ALL: [Task; 5] =
        [Task::Navmesh, Task::DynamicNavmesh, Task::Grid, Task::SpaceTime, Task::Footsteps];

    /// As it is written.
    pub fn name(self) -> &'static str {
        ["navmesh", "dynamic-navmesh", "grid", "space-time", "footsteps"][self as usize]
    }

    /// The chain of tasks of those who walk on feet, or of others.
    pub fn chain(on_feet: bool) -> &'static [Task] {
        if on_feet { &Task::ALL } else { &Task::ALL[..4] }
    }

    /// μ: how many edges of a chain of tasks lead from it to T0.
    pub fn distance(self, chain: &[Task]) -> u32 {
        (chain.len() as u32).saturating_sub(self as u32)
    }
}

/// What puts an agent's tasks to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// It has no plan that it can walk: it begins, it was pushed, its goal is another one, or a wall is in the way.
    Invalid,
    /// Another agent will be in its way that was not expected there.
    Agent,
    /// Its plan ends soon and not at the goal.
    Ending,
    /// It has arrived, and stands where others want to.
    InTheWay,
    /// Others will be on its way than when it last looked: there may be a better one.
    Crowded,
    /// There may be a better plan.
    Improve,
}

impl Event {
    /// p = μ · Ω of the most urgent task that it puts to work, which is the last of the chain: an edge from T0, whichever it is.
    /// Ω is 1 where that has no plan that leads on, and ε where it has. Who is in another's way is an edge further from that one's
    /// T0.
    fn priority(self, inflation: f32) -> f32 {
        let (edges, omega) = match self {
            Event::Invalid | Event::Agent | Event::Ending => (1.0, 1.0),
            Event::InTheWay => (2.0, 1.0),
            // The way of T(Σ2) is not what it was; the path holds.
            Event::Crowded => (3.0, 1.0),
            Event::Improve => (1.0, inflation.max(1.0)),
        };
        edges * omega
    }
}

/// An agent that wants to plan, and why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanRequest {
    pub row: usize,
    pub id: u32,
    pub slot: u32,
    pub event: Event,
    /// How often in a row there was no plan.
    pub failures: u32,
    /// p = μ · Ω of its most urgent task; the smallest first.
    pub priority: f32,
    /// When it must have a plan, s.
    due: f64,
    /// Since when it has wanted a plan that it does not have, s; now where it has one.
    pub since: f64,
    /// What is left of its way, in steps of [`ABREAST`].
    left: f64,
    /// How far ahead it is of others who want to go the same way, m.
    ahead: f64,
}

/// A plan that costs at most this many times the optimum is not worth a search.
pub(crate) const GOOD_ENOUGH: f32 = 1.1;
/// Time between searches for a better plan, s.
const REPLAN_INTERVAL: f64 = 1.0;
/// Multiples of it fall evenly between whole numbers.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// An agent that found no plan waits so long before the next try, s, and each time twice as long.
const RETRY: f64 = 0.1;
const MOST_RETRY: f64 = 2.0;
/// As long it waits where nobody near says anything else meanwhile, s: others may leave more room further ahead.
const MOST_QUIET: f64 = 4.0;
/// Whose ways differ by less have as far to go, m: rounding decides nothing.
const ABREAST: f64 = 0.1;
/// Plans that are made at a time, on as many threads as there are: not more, because those of one batch do not know of one
/// another and the later ones may have to be made again. Fixed, so that no result depends on the number of threads.
const BATCH: usize = 16;
/// Who meets fewer on its way has no use for another.
pub(crate) const WORTH_A_SEARCH: f64 = 0.5;
/// An agent that is as near to another without a plan waits for it, m.
const CLOSE: f32 = 3.0;

impl Session<'_> {
    /// All requests, the most urgent first: by priority, then by when a plan is due. Ties go to who is nearest to its goal, then
    /// to who is ahead: an agent that comes behind would go around those who have no plan yet. No agent's number or row decides
    /// before what it does.
    pub(crate) fn requests(&self, view: View<'_>) -> Vec<PlanRequest> {
        let request = |row: usize| self.request(view, row);
        let mut requests = parallel::filter_map(CHUNK, view.agents.len(), request);
        requests.sort_by(|a, b| {
            let order = a.priority.total_cmp(&b.priority).then(a.due.total_cmp(&b.due));
            let nearest = a.left.total_cmp(&b.left).then(b.ahead.total_cmp(&a.ahead));
            order.then(nearest).then(a.id.cmp(&b.id))
        });
        self.spread(view, requests)
    }

    /// Leaves for later who can wait. All who began together want to plan again together: each asks for one part of a turn in
    /// every step that it has left, and the most urgent get the turns that come together.
    fn spread(&self, view: View<'_>, mut requests: Vec<PlanRequest>) -> Vec<PlanRequest> {
        let spare = f64::from(self.params.renew) / 2.0;
        let mut turns = [0.0; 2];
        let kind = |event: Event| match event {
            Event::Ending => Some(0),
            Event::Improve => Some(1),
            Event::Invalid | Event::Agent | Event::InTheWay | Event::Crowded => None,
        };
        for request in &requests {
            if let Some(kind) = kind(request.event) {
                turns[kind] += 1.0 / ((request.due - view.now - spare) / view.tick).max(1.0);
            }
        }
        requests.retain(|request| {
            kind(request.event).is_none_or(|kind| {
                turns[kind] -= 1.0;
                turns[kind] > -1.0
            })
        });
        requests
    }

    fn request(&self, view: View<'_>, row: usize) -> Option<PlanRequest> {
        let (id, slot) = (view.agents.id[row], view.agents.slot[row]);
        let plan = self.plan(slot);
        if self.is_in_flight(view, row) {
            return None;
        }
        let event = match view.agents.status[row] {
            Status::Waiting => None,
            Status::Walking if plan.led => self.is_done_with_crowd(view, row, plan).then_some(Event::Invalid),
            Status::Walking => {
                let event = event(self.params, view, row, plan);
                event.or_else(|| self.is_crowded(view, row, plan).then_some(Event::Crowded))
            }
            Status::Arrived if !plan.valid => event(self.params, view, row, plan),
            Status::Arrived => self.makes_room(view, row, plan).then_some(Event::InTheWay),
        }?;
        if event != Event::InTheWay && !plan.led && self.would_fail_again(view, row, plan) {
            return None;
        }
        let due = match event {
            Event::Invalid => view.now,
            Event::Agent => plan.conflict,
            Event::Ending | Event::InTheWay | Event::Crowded | Event::Improve => plan.end(),
        };
        let since = match event {
            Event::Invalid | Event::Ending => wanted_since(view, plan),
            Event::Agent | Event::InTheWay | Event::Crowded | Event::Improve => view.now,
        };
        let here = wide(view.position(row));
        let ahead = (wide(view.goal(row)) - here).normalize_or_zero().dot(here);
        let left = (left(view, row, plan) / ABREAST).round();
        let (failures, priority) = (plan.failures, event.priority(plan.inflation));
        Some(PlanRequest { row, id, slot, event, failures, priority, due, since, left, ahead })
    }

    /// Whether more or fewer others will be where an agent wants to go than when it last looked, once in an interval: a part of all
    /// agents in every step.
    fn is_crowded(&self, view: View<'_>, row: usize, plan: &Plan) -> bool {
        let intervals =
            |time: f64| ((time + 1e-9) / REPLAN_INTERVAL + GOLDEN * f64::from(view.agents.id[row])).floor();
        plan.valid
            && intervals(view.now) > intervals(view.now - view.tick)
            && (Snapshot::new(view, self).met(row, &plan.way) - plan.met).abs() >= WORTH_A_SEARCH
    }

    /// Whether one who is led by the local model looks for a plan again: where it has room, or was pushed from its way, and now and
    /// then in any case.
    fn is_done_with_crowd(&self, view: View<'_>, row: usize, plan: &Plan) -> bool {
        let waited = view.now - plan.served + 1e-9;
        let same_goal = has_goal(view, row, plan);
        let is_on_way = || self.next_bend(view, row, plan).is_some();
        let is_in_knot = || Snapshot::new(view, self).is_in_knot(row);
        !same_goal || waited >= MOST_QUIET || waited >= REPLAN_INTERVAL && !(is_on_way() && is_in_knot())
    }

    /// Whether an agent has found no way on, with room made or without, and nobody near says anything else since: in a queue it is
    /// pointless to plan until those in front move.
    fn would_fail_again(&self, view: View<'_>, row: usize, plan: &Plan) -> bool {
        let is_quiet =
            plan.heard != 0 && has_goal(view, row, plan) && view.now - plan.served < MOST_QUIET - 1e-9;
        is_quiet && Snapshot::new(view, self).said_around(row) == plan.heard
    }

    /// Whether it is time for an agent that has arrived to look for another place.
    fn makes_room(&self, view: View<'_>, row: usize, plan: &Plan) -> bool {
        let stands = plan.end() <= view.now && view.now - plan.served >= REPLAN_INTERVAL - 1e-9;
        stands && view.legs.is_none() && self.is_in_the_way(view, row)
    }
}

/// How many of those who wait, from the end, think at the same time. An agent that is close to another without a plan would
/// take it for one that stands, and go around it.
pub(crate) fn batch(view: View<'_>, waiting: &[PlanRequest]) -> usize {
    let is_close = |a: &PlanRequest, b: &PlanRequest| {
        b.event == Event::Invalid && view.position(a.row).distance(view.position(b.row)) < CLOSE
    };
    let next = || waiting.iter().rev().take(BATCH);
    next()
        .enumerate()
        .position(|(n, request)| next().take(n).any(|first| is_close(request, first)))
        .unwrap_or(next().count())
}

/// What is left of an agent's way, m.
pub(crate) fn left(view: View<'_>, row: usize, plan: &Plan) -> f64 {
    let from = wide(view.position(row));
    let ahead = plan.bends_ahead(from);
    let first = ahead.first().map_or(from.distance(wide(view.goal(row))), |bend| bend.distance(from));
    first + length(ahead)
}

/// As long an agent waits at least that has found no plan before it looks for one again, s.
fn pause(plan: &Plan) -> f64 {
    match plan.failures {
        0 => 0.0,
        _ if plan.searching => 0.0,
        failures => (RETRY * f64::from(1 << failures.min(8))).min(MOST_RETRY),
    }
}

/// Since when an agent has wanted a plan that it does not have, s: it stands where it is, or at the end of its path.
fn wanted_since(view: View<'_>, plan: &Plan) -> f64 {
    let (stands_since, least) = match plan.path.first() {
        Some(_) if plan.valid => (plan.end(), REPLAN_INTERVAL),
        Some(first) => (first.0, 0.0),
        None => (view.now, 0.0),
    };
    let pause = if plan.heard == 0 { pause(plan).max(least) } else { MOST_QUIET };
    stands_since.max(plan.served + pause).min(view.now)
}

/// What puts an agent's tasks to work now, if anything does.
fn event(params: &MultiDomain, view: View<'_>, row: usize, plan: &Plan) -> Option<Event> {
    let waited = view.now - plan.served;
    if waited < pause(plan) - 1e-9 {
        return None;
    }
    if !plan.valid || !has_goal(view, row, plan) {
        return Some(Event::Invalid);
    }
    if plan.conflict < f64::INFINITY {
        return Some(Event::Agent);
    }
    let renew = if view.legs.is_some() { params.renew.min(params.footing / 2.0) } else { params.renew };
    // Those who could not plan as far as that would think about it all the time.
    if !plan.reaches
        && plan.end() - view.now < f64::from(renew)
        && (plan.searching || waited >= REPLAN_INTERVAL - 1e-9)
    {
        return Some(Event::Ending);
    }
    if plan.reaches && plan.end() <= view.now && view.agents.status[row] == Status::Walking {
        return Some(Event::Ending);
    }
    let may_improve = plan.improvable && waited >= REPLAN_INTERVAL - 1e-9 && plan.end() > view.now;
    may_improve.then_some(Event::Improve)
}

/// Whether a plan is for an agent's goal.
fn has_goal(view: View<'_>, row: usize, plan: &Plan) -> bool {
    plan.goal == wide(view.goal(row)) || has_area(view, row)
}

/// Whether a row's goal is an area: its nearest place changes as one walks.
pub(crate) fn has_area(view: View<'_>, row: usize) -> bool {
    view.bound(row).area.is_some()
}

/// A task as the page shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskExplanation {
    /// Which.
    pub task: Task,
    /// Whether it has something to do, and why.
    pub event: Option<Event>,
    /// p = μ · Ω; `None` where that is infinite, because nothing can become better.
    pub priority: Option<f32>,
    /// ε of its plan.
    pub inflation: f32,
    /// Places, m from the world's origin; with times in space-time, s.
    pub plan: Vec<(Option<f64>, DVec2)>,
    /// Half the width of the tunnel that it was found in, m.
    pub tunnel: Option<f32>,
    /// Where a search looks that plans now; nowhere where none is needed.
    pub seen: Vec<DVec2>,
    /// The feet that it puts down, in order.
    pub prints: Vec<Footprint>,
}

/// An agent's tasks.
pub(crate) fn explain(
    params: &MultiDomain,
    view: View<'_>,
    (row, plan): (usize, &Plan),
    mut seen: [Vec<DVec2>; 5],
) -> Vec<TaskExplanation> {
    let from = wide(view.position(row));
    let event = event(params, view, row, plan);
    let line = |places: &[DVec2]| -> Vec<(Option<f64>, DVec2)> {
        let places = places.iter().map(|&at| (None, at));
        std::iter::once((None, from)).chain(places).collect()
    };
    let chain = Task::chain(view.legs.is_some());
    let mut explained = |&task: &Task| {
        let is_last = chain.last() == Some(&task);
        let inflation = if is_last { plan.inflation } else { 1.0 };
        let is_invalid = is_last && !plan.valid || plan.way.is_empty();
        let omega = if is_invalid { Some(1.0) } else { (inflation > 1.0).then_some(inflation) };
        TaskExplanation {
            task,
            event: event.filter(|_| is_last || plan.way.is_empty()),
            priority: omega.map(|omega| omega * task.distance(chain) as f32),
            inflation,
            plan: match task {
                Task::Navmesh | Task::DynamicNavmesh => line(&plan.way),
                Task::Grid => line(plan.line.get(1..).unwrap_or_default()),
                Task::SpaceTime => plan.path.iter().map(|&(time, at)| (Some(time), at)).collect(),
                Task::Footsteps => prints(plan).map(|foot| (Some(foot.since), foot.at)).collect(),
            },
            tunnel: (is_last && plan.width > 0.0).then_some(plan.width),
            seen: std::mem::take(&mut seen[task as usize]),
            prints: if task == Task::Footsteps { prints(plan).copied().collect() } else { Vec::new() },
        }
    };
    chain.iter().map(&mut explained).collect()
}

/// The feet that a plan puts down, in order.
fn prints(plan: &Plan) -> impl Iterator<Item = &Footprint> {
    plan.steps.iter().flat_map(|step| step.plant.iter().chain(&step.close))
}
