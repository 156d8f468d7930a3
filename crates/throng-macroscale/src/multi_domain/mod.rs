//! # Many agents plan in real time (Kapadia et al. 2013, sections 5, 6 and 7.2)
//! Every agent has a task for each domain, and one that executes: T(Σ1) finds a way on the static mesh, T(Σ2) one that minds where
//! others will be, T(Σ3) leads around those who stand on it, T(Σ4) plans in space and time around that, T(Σ5) finds places for the
//! feet of those who walk on such, and T0 walks the plan. Searches of T(Σ3) and T(Σ4) are kept and mended.
//!
//! - `schedule/`: events put tasks to work, priorities say whose turn it is, and a frame's budget is shared out until it is spent.
//! - `plan/`: a turn, from coarse to fine, and the plan that comes of it.
//! - `reservations.rs`: where everybody will be, as published.
//! - `conflicts/`: who must stop, who makes way, and what those do who want to one place.
//! - `execution.rs`: T0.
//!
//! One rule makes it safe: **at any time the published paths of all agents and movers keep apart for good**, because a path
//! counts beyond its end, where its owner stands, and a new one is held against all others before it is published. What
//! could not be foreseen (a new wall, a push) breaks the rule for those it touches; these stand until they have another plan,
//! and an agent that would run into them stands too (`conflicts/guard.rs`).
//!
//! Deviations, and what the paper leaves open:
//! - **How Σ4 is guided can be chosen** ([`Relation`]). From waypoint to waypoint a search goes back from where one can stand, and
//!   is told of all that changes (`plan/kept.rs`): what others say, the tunnel, where the agent has got to. A waypoint on which
//!   somebody stands for good is no waypoint, and where those who come to rest leave no way (T(Σ3)) none is looked for.
//! - **What has speeds, windows of time, jumps or platforms begins anew** in each turn, for a horizon: a search back from a goal
//!   would have to begin at every time at which one may be there.
//! - **T(Σ1) and T(Σ2) are not kept**: those who share a goal share T(Σ1), and a way on Σ2 takes some dozen expansions, less than to
//!   tell a search which of all densities have changed. Σ2 is searched on the whole mesh, because a way around a crowd may lead
//!   through other streets.
//! - **The line itself is tried first**, at a few even speeds, after a moment, or a step aside where another agent would be met.
//!   Nothing is cheaper than to walk straight at the best speed, and how much dearer the others are is known, so these plans
//!   carry a bound like those of a search. Most meetings need no more.
//! - **A jump is a piece of the line** that is flown at the speed one walks. An agent that has taken off lands before it thinks
//!   again.
//! - **A goal that others want to as well is visited** (`conflicts/sharing.rs`): a plan leads on to a place beside it.
//! - **Platforms are taken by timetable** (`plan/crossing.rs`), also from one to another where they meet: their paths are known, and a
//!   search would try every place to wait at. A way over platforms that cannot be taken in time is chosen again, as the paper
//!   has it: the space-time domain has plans of earlier domains modified.
//! - **Paths are pulled taut in space and time**: steps in sixteen directions zigzag.
//! - **Every agent counts, whatever the direction** (the paper: a foveal angle). The rule above needs it, and an index of space
//!   and time makes it cheap.
//! - **An agent in the way of one that is nearer to its goal makes room** (`conflicts/yielding.rs`), if need be by going back: the
//!   paper's agents in narrow passages cooperate, and it does not say how.
//! - **Σ3 leads around those who stand**, not around all where they are now: who walks is elsewhere when one gets there, and
//!   Σ4 knows where.
//! - **Σ2 is searched when an agent thinks and meets others on its way**, and once a second. Densities change all the time, and a search for every
//!   change would be one for every agent in every frame. To one that has no way on, the passages ahead count as as much longer
//!   as it would wait for those who hold them up.
//! - **φ knows which way bodies go** (`plan/crowding.rs`): those who come towards one count twice, those who go the same way not at
//!   all. So those who go one way share lanes. Ways that were chosen in the same batch are held against one another: who
//!   meets more than it knew of chooses again.
//! - **In a knot planning is pointless** (`plan/deliberation.rs`): who has found no way on, also not with room made, plans no more until
//!   those beside it say something else; where these have no plans either the local model leads all of them along their ways.
//! - **A deadline lets no turn begin**, and cuts none: those whose searches are cut by the clock find nothing time and again.
//! - **Who can wait does** (`schedule/tasks.rs`): plans that are renewed are spread over the steps that they have left. The paper serves all
//!   that its budget lasts for, and those who began together come back together.

mod conflicts;
mod domain_map;
mod drafts;
mod execution;
mod plan;
mod reservations;
mod schedule;

pub use schedule::budget::{Comparison, TaskRecord};
pub use schedule::tasks::{Event, Task, TaskExplanation};

use crate::cached::Cached;
use crate::{Intent, Macroscale, MacroscaleModel, Tasks};
use conflicts::sharing::Destinations;
use domain_map::DomainMaps;
use drafts::Drafts;
use glam::{DVec2, Vec2};
use plan::crowding::Crowding;
use plan::deliberation::Snapshot;
use plan::kept::LiveSearch;
use plan::{Plan, Plans, hold_against_map};
use reservations::Reservations;
use schedule::budget::Share;
use std::time::Instant;
use throng_core::CHUNK;
use throng_core::handover::Intents;
use throng_core::memory::{Memory, Remember};
use throng_core::parallel;
use throng_core::world::{Status, View};

throng_core::choice! {
    /// How a plan of the coarse domains guides T(Σ4).
    pub enum Relation {
        /// From waypoint to waypoint, each a search of its own that is kept and mended (figure 4b).
        Waypoints = "waypoints",
        /// One search to the goal, in a tunnel all the way there (figure 4a).
        Tunnels = "tunnels",
        /// For a horizon, to wherever it is best to be by then; begun anew in each turn.
        Horizon = "horizon",
    }
}

throng_core::params! {
    /// Plans in space and time against the published plans of all agents, over four domains from coarse to fine, within a budget for each step.
    pub struct MultiDomain("multi-domain") {
        /// How coarse plans guide those in space and time: `waypoints` (figure 4b of the paper), `tunnels` (4a), or `horizon`.
        relation: Relation = Relation::Waypoints, "", Limit::from(0.0);
        /// How far ahead agents plan. One for all, as everything here: a cohort's own value does nothing.
        horizon: f32 = 16.0, "s", Limit::above(0.0).up_to(120.0);
        /// A plan is made anew when less than this is left of it.
        renew: f32 = 8.0, "s", Limit::from(0.0).up_to(120.0);
        /// Length of a step of plans, rounded to whole steps of the simulation.
        step: f32 = 0.5, "s", Limit::above(0.0).up_to(10.0);
        /// Between the lines that plans begin and end steps on.
        lattice: f32 = 0.1, "m", Limit::from(0.01).up_to(10.0);
        /// States that all agents together may expand in a step of the simulation.
        budget: usize = 1500, "", Limit::from(1.0).up_to(1e9);
        /// After as much time of a step no agent begins to think any more, in place of the budget; half of it is left for that at least. 0: the budget counts. A run with it is not reproducible.
        deadline: f32 = 0.0, "ms", Limit::from(0.0).up_to(60000.0);
        /// States that one agent may expand at a time, the fewer the less urgent it is, and up to four times as many where few ask for the budget or it has found no plan. The first agent of a step gets them even beyond the budget.
        share: usize = 400, "", Limit::from(1.0).up_to(1e9);
        /// How many times the optimum a first plan may cost.
        inflation: f32 = 2.0, "", Limit::from(1.0).up_to(100.0);
        /// Half the width of a tunnel at first.
        width: f32 = 2.5, "m", Limit::above(0.0).up_to(1000.0);
        /// Side of the grid's cells.
        cell: f32 = 0.25, "m", Limit::from(0.05).up_to(10.0);
        /// No polygon of the dynamic mesh is wider.
        polygon: f32 = 5.0, "m", Limit::from(0.5).up_to(1000.0);
        /// As how many metres more a metre counts for each body per square metre that will be there.
        crowding: f32 = 4.0, "m2", Limit::from(0.0).up_to(1000.0);
        /// What planned bodies keep between them.
        margin: f32 = 0.02, "m", Limit::from(0.0).up_to(10.0);
        /// An agent that is further from its plan has lost it.
        tolerance: f32 = 0.1, "m", Limit::above(0.0).up_to(10.0);
        /// How far ahead footsteps are planned, where the motion is `footsteps`.
        footing: f32 = 8.0, "s", Limit::from(1.0).up_to(60.0);
        /// How long an agent has no way on before others are asked to make room.
        patience: f32 = 1.0, "s", Limit::from(0.0).up_to(1e6);
        /// An agent that has no way on plans no more where as many beside it have none either: the local model leads it along its way until it has room.
        knot: usize = 2, "", Limit::from(1.0).up_to(1e9);
        /// What searches that are kept may take for each agent, on average. Where it is too little, those go first that are needed least.
        memory: f32 = 10.0, "kB", Limit::from(0.0).up_to(1e6);
        /// Whether searches are kept and mended. Off: each turn plans anew.
        repair: bool = true, "", Limit::from(0.0);
        /// Whether each turn that mends also plans anew, only to tell what that would have taken.
        compare: bool = false, "", Limit::from(0.0);
    }
}

/// Plans in space and time. What lasts are plans and the searches that are kept; all else follows from them and the world.
#[derive(Debug)]
pub struct MultiDomainPlanner {
    params: MultiDomain,
    memory: (Plans, Memory<LiveSearch>),
    known: Cached<Known>,
    drafts: Drafts,
    serviced: Vec<TaskRecord>,
    unreachable: Vec<u32>,
}

/// What follows from the world and the plans.
#[derive(Debug, Default)]
struct Known {
    maps: DomainMaps,
    reservations: Reservations,
    crowding: Crowding,
    destinations: Destinations,
    /// By slot, where an agent is in the columns.
    rows: Vec<u32>,
}

/// A step at work.
struct Session<'a> {
    params: &'a MultiDomain,
    /// As they were at the beginning of the step.
    plans: &'a Plans,
    known: &'a mut Known,
    /// What has changed in this step, by slot.
    drafts: Drafts,
}

impl MacroscaleModel for MultiDomain {
    fn planner(params: MultiDomain, _: Vec<MultiDomain>) -> Box<dyn Macroscale> {
        Box::new(MultiDomainPlanner {
            params,
            memory: Default::default(),
            known: Cached::default(),
            drafts: Drafts::default(),
            serviced: Vec::new(),
            unreachable: Vec::new(),
        })
    }
}

impl Macroscale for MultiDomainPlanner {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        // The clock decides nothing unless a deadline was asked for.
        let begin = Instant::now();
        let MultiDomainPlanner { params, memory: (plans, searches), known, drafts, serviced, unreachable } =
            self;
        if hold_against_map(plans, view.map_version) {
            searches.clear();
        }
        let mut session = Session::new(view, params, plans, known.get_mut());
        session.drafts = std::mem::take(drafts);
        session.guard(view);
        session.deliberate(view, begin, searches, serviced);
        session.unreachable(view, unreachable);
        session.execute(view, out);
        session.hand_over_footsteps(view, out);
        let mut drafts = session.drafts;
        drafts.drain().for_each(|(slot, plan)| *plans.get_mut(slot) = plan);
        self.drafts = drafts;
    }

    fn intent(&self, view: View<'_>, row: usize) -> Intent {
        let mut known = self.known.lock();
        known.maps.learn(view, &self.params);
        let session = Session {
            params: &self.params,
            plans: &self.memory.0,
            known: &mut known,
            drafts: Drafts::default(),
        };
        Intent::new((session.velocity(view, row), session.aim(view, row)))
    }

    fn path(&self, view: View<'_>, from: Vec2, to: Vec2, radius: f32) -> Option<Vec<Vec2>> {
        let mut known = self.known.lock();
        known.maps.learn(view, &self.params);
        known.maps.path(view, [from, to], radius)
    }

    fn route(&self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        let plan = self.memory.0.get(view.agents.slot[row]);
        let from = view.position(row);
        let way = plan.way.iter().map(|place| place.as_vec2());
        (!plan.way.is_empty()).then(|| std::iter::once(from).chain(way).collect())
    }

    fn unreachable(&self) -> &[u32] {
        &self.unreachable
    }

    fn memory(&self) -> Option<&dyn Remember> {
        Some(&self.memory)
    }

    fn memory_mut(&mut self) -> Option<&mut dyn Remember> {
        Some(&mut self.memory)
    }

    fn tasks(&self) -> Option<&dyn Tasks> {
        Some(self)
    }

    fn is_reproducible(&self) -> bool {
        self.params.deadline == 0.0
    }
}

impl Tasks for MultiDomainPlanner {
    fn serviced(&self) -> &[TaskRecord] {
        &self.serviced
    }

    fn explain(&self, view: View<'_>, row: usize) -> Vec<TaskExplanation> {
        let mut known = self.known.lock();
        let session = Session::new(view, &self.params, &self.memory.0, &mut known);
        let plan = self.memory.0.get(view.agents.slot[row]);
        let share = Share::counted(self.params.share as u64);
        let seen = Snapshot::new(view, &session).seen(row, share);
        schedule::tasks::explain(&self.params, view, (row, plan), seen)
    }

    fn keeps_clear(&self) -> bool {
        true
    }

    fn bytes(&self) -> usize {
        let known = self.known.lock();
        known.reservations.bytes() + known.crowding.bytes()
    }
}

impl Known {
    /// Brings copies up to date: the map, where agents are, and what they have published.
    fn update(&mut self, view: View<'_>, params: &MultiDomain, plans: &Plans) {
        self.maps.learn(view, params);
        self.rows.clear();
        for (row, &slot) in view.agents.slot.iter().enumerate() {
            if self.rows.len() <= slot as usize {
                self.rows.resize(slot as usize + 1, u32::MAX);
            }
            self.rows[slot as usize] = row as u32;
        }
        self.reservations.update(view, params, plans, &self.rows);
        self.crowding.update(view, &self.maps, params, plans, &self.rows);
        self.destinations = Destinations::default();
    }
}

impl<'a> Session<'a> {
    fn new(view: View<'_>, params: &'a MultiDomain, plans: &'a Plans, known: &'a mut Known) -> Session<'a> {
        known.update(view, params, plans);
        Session { params, plans, known, drafts: Drafts::default() }
    }

    /// An agent's plan as it is after what has changed in this step.
    fn plan(&self, slot: u32) -> &Plan {
        self.drafts.get(slot).unwrap_or_else(|| self.plans.get(slot))
    }

    /// Whether an agent is in the middle of a jump.
    fn is_in_flight(&self, view: View<'_>, row: usize) -> bool {
        self.known.maps.is_in_flight(view, row, self.plan(view.agents.slot[row]))
    }

    /// The first bend of an agent's way that is still ahead, if it sees that.
    fn next_bend(&self, view: View<'_>, row: usize, plan: &Plan) -> Option<DVec2> {
        let map = self.known.maps.of(view, row)?;
        Some(plan.way[map.next_bend(wide(view.position(row)), &plan.way)?])
    }

    /// Takes a plan over: all that plan from now on know of it.
    fn publish(&mut self, view: View<'_>, slot: u32, plan: Plan) {
        let row = self.known.rows[slot as usize] as usize;
        let before = self.plan(slot);
        let said = before.said + u32::from(plan.path != before.path);
        let Known { maps, reservations, crowding, .. } = &mut *self.known;
        let plan = Plan { serial: self.plans.get(slot).serial + 1, said, ..plan };
        reservations.publish(view, self.params, row, &plan);
        crowding.publish(view, maps, self.params, row, &plan);
        self.drafts.insert(slot, plan);
    }

    /// The ids of those who have no path to their goals, ascending.
    fn unreachable(&self, view: View<'_>, ids: &mut Vec<u32>) {
        let agents = view.agents;
        let unreachable = |row: usize| {
            let plan = self.plan(agents.slot[row]);
            (plan.unreachable && agents.status[row] == Status::Walking).then_some(agents.id[row])
        };
        *ids = parallel::filter_map(CHUNK, agents.len(), unreachable);
        ids.sort_unstable();
    }

    /// The motion takes steps over a step of the simulation after they were planned: those of the plans as they were.
    fn hand_over_footsteps(&self, view: View<'_>, out: &mut Intents) {
        out.footstep.clear();
        if view.legs.is_some() {
            let planned = |&slot: &u32| self.plans.get(slot).footstep(view.now);
            out.footstep.extend(view.agents.slot.iter().map(planned));
        }
    }
}

/// A place in double precision.
fn wide(place: Vec2) -> DVec2 {
    place.as_dvec2()
}
