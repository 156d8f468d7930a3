//! # Many agents plan in real time (Kapadia et al. 2013, sections 5, 6 and 7.2)
//! Every agent has a task for each domain, and one that executes: T(Σ1) finds a way on the static mesh, T(Σ2) one that
//! minds where others will be, T(Σ3) leads around those who stand on it, T(Σ4) plans in space and time around that, T(Σ5)
//! finds places for the feet of those who walk on such (`stepping.rs`), and T0 walks the plan. Events put tasks to work, priorities say whose turn it is (`tasks.rs`), and a frame's budget is
//! shared out until it is spent (`budget.rs`).
//!
//! One rule makes it safe: **at any time the published paths of all agents and movers keep apart for good**, because a path
//! counts beyond its end, where its owner stands, and a new one is held against all others before it is published. What
//! could not be foreseen (a new wall, a push) breaks the rule for those it touches; these stand until they have another plan,
//! and an agent that would run into them stands too (`guard.rs`).
//!
//! Deviations, and what the paper leaves open:
//! - **No search outlives its turn.** The paper keeps searches and mends them. Here a search begins anew whenever it is an
//!   agent's turn, in a tunnel a few metres wide and a horizon long; what stays is its result. So a checkpoint is plain data,
//!   a resumed run goes on bit by bit, and a plan with an ε above 1 is looked for again with a smaller one. A turn that a deadline
//!   cuts goes on in the next step (`turn.rs`).
//! - **Σ4 plans for a horizon and not to a waypoint.** A waypoint that an agent stands on makes a search run for ever; at a
//!   horizon there is always a best place to be, if only the one that the agent stands at. What is left of the way from
//!   there counts into the plan's cost.
//! - **The line itself is tried first**, at a few even speeds, after a moment, or a step aside where another agent would be met.
//!   Nothing is cheaper than to walk straight at the best speed, and how much dearer the others are is known, so these plans
//!   carry a bound like those of a search. Most meetings need no more.
//! - **A jump is a piece of the line** that is flown at the speed one walks. An agent that has taken off lands before it thinks
//!   again.
//! - **A goal that others want to as well is visited** (`sharing.rs`): a plan leads on to a place beside it.
//! - **Platforms are taken by timetable** (`crossing.rs`): their paths are known, and a search would try every place to wait at.
//! - **Σ1 is searched for each agent**, not once for each goal, and **Σ2 on the whole mesh**, without a tunnel around the
//!   static path: both are a small part of the time, and a way around a crowd may lead through other streets.
//! - **Paths are pulled taut in space and time**: steps in sixteen directions zigzag.
//! - **Every agent counts, whatever the direction** (the paper: a foveal angle). The rule above needs it, and an index of space
//!   and time makes it cheap.
//! - **An agent in the way of one that is nearer to its goal makes room** (`yielding.rs`), if need be by going back: the
//!   paper's agents in narrow passages cooperate, and it does not say how.
//! - **Σ3 leads around those who stand**, not around all where they are now: who walks is elsewhere when one gets there, and
//!   Σ4 knows where.
//! - **Σ2 is searched on events**: a new goal or map, or no way on. Densities change all the time, and a search for every
//!   change would be one for every agent in every frame. An agent that has no way on takes a passage for as much longer as
//!   it would wait for those who hold it up.

mod budget;
mod crossing;
mod crowding;
mod deliberation;
mod direct;
mod domain_map;
mod execution;
mod guard;
mod plan;
mod remaining;
mod reservations;
mod sharing;
mod stepping;
mod tasks;
mod turn;
mod window;
mod yielding;

pub use budget::TaskRecord;
pub use tasks::{Event, Task, TaskExplanation};

use crate::cached::Cached;
use crate::{Intent, Macroscale, MacroscaleModel, Tasks};
use budget::Frame;
use crowding::Crowding;
use deliberation::{Proposal, Snapshot};
use domain_map::DomainMaps;
use glam::{DVec2, Vec2};
use plan::{Plan, Plans};
use reservations::Reservations;
use sharing::Destinations;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;
use throng_core::handover::Intents;
use throng_core::memory::Remember;
use throng_core::parallel;
use throng_core::world::{Status, View};
use turn::{Root, Turn};

throng_core::params! {
    /// Plans in space and time against the published plans of all agents, over four domains from coarse to fine, within a budget for each step.
    pub struct MultiDomain("multi-domain") {
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
        /// Time that all agents together may think in a step of the simulation, in place of the budget. 0: the budget counts. A run with it is not reproducible.
        deadline: f32 = 0.0, "ms", Limit::from(0.0).up_to(60000.0);
        /// States that one agent may expand at a time; twice as many each time it has found no plan. The first agent of a step gets them even beyond the budget.
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
        crowding: f32 = 1.0, "m2", Limit::from(0.0).up_to(1000.0);
        /// What planned bodies keep between them.
        margin: f32 = 0.02, "m", Limit::from(0.0).up_to(10.0);
        /// An agent that is further from its plan has lost it.
        tolerance: f32 = 0.1, "m", Limit::above(0.0).up_to(10.0);
        /// How far ahead footsteps are planned, where the motion is `footsteps`.
        footing: f32 = 8.0, "s", Limit::from(1.0).up_to(60.0);
        /// How long an agent has no way on before others are asked to make room.
        patience: f32 = 1.0, "s", Limit::from(0.0).up_to(1e6);
    }
}

/// Plans in space and time. What lasts are the plans; all else follows from them and the world.
#[derive(Debug)]
pub struct MultiDomainPlanner {
    params: MultiDomain,
    plans: Plans,
    known: Cached<Known>,
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
    /// Turns that the clock has cut, by slot.
    turns: BTreeMap<u32, Turn>,
    /// Since when agents have been waiting for their turns to end, s, by slot. For figures only.
    waiting: BTreeMap<u32, f64>,
}

/// A step at work.
struct Session<'a> {
    params: &'a MultiDomain,
    /// As they were at the beginning of the step.
    plans: &'a Plans,
    known: &'a mut Known,
    /// What has changed in this step, by slot.
    drafts: BTreeMap<u32, Plan>,
}

impl MacroscaleModel for MultiDomain {
    fn planner(params: MultiDomain, _: Vec<MultiDomain>) -> Box<dyn Macroscale> {
        Box::new(MultiDomainPlanner {
            params,
            plans: Plans::default(),
            known: Cached::default(),
            serviced: Vec::new(),
            unreachable: Vec::new(),
        })
    }
}

impl Macroscale for MultiDomainPlanner {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        // The clock decides nothing unless a deadline was asked for.
        let begin = Instant::now();
        self.plans.note_map(view.map_version);
        let MultiDomainPlanner { params, plans, known, serviced, unreachable } = self;
        let mut session = Session::new(view, params, plans, known.get_mut());
        session.guard(view);
        session.deliberate(view, Frame::begin(params, begin), serviced);
        session.unreachable(view, unreachable);
        session.execute(view, out);
        session.hand_over_footsteps(view, out);
        let drafts = session.drafts;
        drafts.into_iter().for_each(|(slot, plan)| self.plans.set(slot, plan));
    }

    fn intent(&self, view: View<'_>, row: usize) -> Intent {
        let mut known = self.known.lock();
        known.maps.learn(view, &self.params);
        let session =
            Session { params: &self.params, plans: &self.plans, known: &mut known, drafts: BTreeMap::new() };
        Intent::new((session.velocity(view, row), session.aim(view, row)))
    }

    fn path(&self, view: View<'_>, from: Vec2, to: Vec2, radius: f32) -> Option<Vec<Vec2>> {
        let mut known = self.known.lock();
        known.maps.learn(view, &self.params);
        known.maps.path(view, [from, to], radius)
    }

    fn route(&self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        let plan = self.plans.of(view.agents.slot[row]);
        let from = view.position(row);
        let way = plan.way.iter().map(|place| place.as_vec2());
        (!plan.way.is_empty()).then(|| std::iter::once(from).chain(way).collect())
    }

    fn unreachable(&self) -> &[u32] {
        &self.unreachable
    }

    fn memory(&self) -> Option<&dyn Remember> {
        Some(&self.plans.0)
    }

    fn memory_mut(&mut self) -> Option<&mut dyn Remember> {
        Some(&mut self.plans.0)
    }

    fn tasks(&self) -> Option<&dyn Tasks> {
        Some(self)
    }
}

impl Tasks for MultiDomainPlanner {
    fn serviced(&self) -> &[TaskRecord] {
        &self.serviced
    }

    fn explain(&self, view: View<'_>, row: usize) -> Vec<TaskExplanation> {
        let mut known = self.known.lock();
        let session = Session::new(view, &self.params, &self.plans, &mut known);
        let plan = self.plans.of(view.agents.slot[row]);
        let share =
            Frame::uncounted(&self.params).share_out(std::iter::once(plan.failures), &self.params, false)[0];
        let seen = Snapshot::new(view, &session).seen(row, share);
        tasks::explain(&self.params, view, (row, plan), seen)
    }

    fn is_reproducible(&self) -> bool {
        self.params.deadline == 0.0
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
        self.destinations.update(view, plans);
    }
}

impl<'a> Session<'a> {
    fn new(view: View<'_>, params: &'a MultiDomain, plans: &'a Plans, known: &'a mut Known) -> Session<'a> {
        known.update(view, params, plans);
        Session { params, plans, known, drafts: BTreeMap::new() }
    }

    /// An agent's plan as it is after what has changed in this step.
    fn plan(&self, slot: u32) -> &Plan {
        self.drafts.get(&slot).unwrap_or_else(|| self.plans.of(slot))
    }

    /// Whether an agent is in the middle of a jump.
    fn is_in_flight(&self, view: View<'_>, row: usize) -> bool {
        self.known.maps.is_in_flight(view, row, self.plan(view.agents.slot[row]))
    }

    /// Takes a plan over: all that plan from now on know of it.
    fn publish(&mut self, view: View<'_>, slot: u32, plan: Plan) {
        let Known { maps, reservations, crowding, rows, .. } = &mut *self.known;
        let row = rows[slot as usize] as usize;
        let plan = Plan { serial: self.plans.of(slot).serial + 1, ..plan };
        reservations.publish(view, self.params, row, &plan);
        crowding.publish(view, maps, self.params, row, &plan);
        self.drafts.insert(slot, plan);
    }

    /// The ids of those who have no path to their goals, ascending.
    fn unreachable(&self, view: View<'_>, ids: &mut Vec<u32>) {
        let agents = view.agents;
        let is_unreachable =
            |&row: &usize| agents.status[row] == Status::Walking && self.plan(agents.slot[row]).unreachable;
        ids.clear();
        ids.extend((0..agents.len()).filter(is_unreachable).map(|row| agents.id[row]));
        ids.sort_unstable();
    }

    /// The motion takes steps over a step of the simulation after they were planned: those of the plans as they were.
    fn hand_over_footsteps(&self, view: View<'_>, out: &mut Intents) {
        out.footstep.clear();
        if view.legs.is_some() {
            let planned = |&slot: &u32| self.plans.of(slot).footstep(view.now);
            out.footstep.extend(view.agents.slot.iter().map(planned));
        }
    }

    /// Serves agents in the order of their priorities, a batch at a time, until the budget is spent.
    fn deliberate(&mut self, view: View<'_>, mut frame: Frame, serviced: &mut Vec<TaskRecord>) {
        serviced.clear();
        let mut waiting = self.requests(view);
        self.note_waiting(view, &waiting);
        if frame.has_deadline() {
            self.oldest_turns_first(&mut waiting);
        }
        waiting.reverse();
        while !waiting.is_empty() && !frame.is_spent() {
            let most = if frame.has_deadline() { parallel::threads() } else { tasks::BATCH };
            let batch = waiting.split_off(waiting.len() - tasks::batch(view, &waiting, most));
            let failures = batch.iter().rev().map(|request| request.failures);
            let shares = frame.share_out(failures, self.params, !waiting.is_empty());
            let work: Vec<_> = batch.iter().rev().zip(shares).collect();
            let turns: Vec<_> = work.iter().map(|item| Mutex::new(self.turn(view, item.0))).collect();
            let snapshot = Snapshot::new(view, self);
            let proposals = parallel::map(1, work.len(), &|i| {
                let turn = std::mem::take(&mut *turns[i].lock().unwrap_or_else(|broken| broken.into_inner()));
                snapshot.serve(work[i].0, work[i].1, turn)
            });
            for mut proposal in proposals {
                frame.spend(proposal.spent);
                if let Some(turn) = proposal.turn.take() {
                    self.known.turns.insert(proposal.request.slot, turn);
                    // Where nobody else has anything to do it goes on in this step.
                    waiting.insert(0, proposal.request);
                } else if self.accept(view, &proposal) {
                    let since = self.known.waiting.remove(&proposal.request.slot);
                    proposal.served.waited = since.map_or(0.0, |since| (view.now - since) as f32);
                } else if frame.may_try_again() {
                    // Another agent of the same batch was first: next round.
                    waiting.push(proposal.request);
                }
                serviced.push(proposal.served);
            }
        }
    }

    /// Notes who has begun to wait for its turn, and who does not any more. Turns of others are dropped: nothing asks for
    /// them.
    fn note_waiting(&mut self, view: View<'_>, requests: &[tasks::PlanRequest]) {
        let Known { turns, waiting, .. } = &mut *self.known;
        let before = std::mem::take(waiting);
        let since = |slot: u32| before.get(&slot).copied().unwrap_or(view.now);
        waiting.extend(requests.iter().map(|request| (request.slot, since(request.slot))));
        turns.retain(|slot, _| waiting.contains_key(slot));
    }

    /// Lets those go on first whose turns began first, one for each thread: they are the next to be done.
    fn oldest_turns_first(&self, waiting: &mut [tasks::PlanRequest]) {
        let began = |request: &tasks::PlanRequest| {
            let root = self.known.turns.get(&request.slot).and_then(|turn| turn.root);
            root.map_or(f64::INFINITY, |root| root.begun)
        };
        for first in 0..parallel::threads().min(waiting.len()) {
            let oldest =
                (first..waiting.len()).min_by(|&a, &b| began(&waiting[a]).total_cmp(&began(&waiting[b])));
            match oldest.filter(|&oldest| began(&waiting[oldest]) < f64::INFINITY) {
                Some(oldest) => waiting[first..=oldest].rotate_right(1),
                None => break,
            }
        }
    }

    /// The turn that an agent has begun, or another one from where it will be by then: twice as far ahead where the last one
    /// took too long or found nothing.
    fn turn(&mut self, view: View<'_>, request: &tasks::PlanRequest) -> Turn {
        if self.params.deadline == 0.0 {
            return Turn::default();
        }
        let begun = self.known.turns.remove(&request.slot);
        let snapshot = Snapshot::new(view, self);
        let known = begun.as_ref().and_then(|turn| turn.root);
        let is_current = |root: &Root| {
            let is_same = |now: Root| now.is_as(root);
            root.time > view.now + view.tick / 2.0
                && snapshot.root(request.row, root.time).is_some_and(is_same)
        };
        if known.is_some_and(|root| is_current(&root)) {
            return begun.unwrap_or_default();
        }
        let first = snapshot.step();
        let late = known.map_or(0.0, |root| 2.0 * root.lead());
        let tried = first * f64::from(1 << request.failures.min(8));
        let lead = tried.max(late).min((snapshot.horizon() / 4.0).max(first));
        Turn::from(snapshot.root(request.row, view.now + lead))
    }

    /// Publishes what was proposed, unless it meets what was published since.
    fn accept(&mut self, view: View<'_>, proposal: &Proposal) -> bool {
        // Another agent of the same batch has found a place for one that found nothing itself.
        let is_late = |(slot, plan): &(u32, Plan)| !plan.valid && self.plan(*slot).valid;
        if proposal.plans.iter().any(is_late) {
            return true;
        }
        let snapshot = Snapshot::new(view, self);
        let is_free = proposal.plans.iter().all(|(slot, plan)| {
            let others: Vec<u32> =
                proposal.plans.iter().map(|(other, _)| *other).filter(|other| other != slot).collect();
            let is_known = plan.path == self.plan(*slot).path;
            let holds = || snapshot.still_holds(*slot, plan, &others);
            let took_steps = self.params.deadline > 0.0 && view.legs.is_none();
            !plan.valid || is_known || holds() && (!took_steps || snapshot.can_walk(*slot, plan))
        });
        if is_free {
            for (slot, plan) in &proposal.plans {
                self.publish(view, *slot, plan.clone());
            }
        }
        is_free
    }
}

/// A place in double precision.
fn wide(place: Vec2) -> DVec2 {
    place.as_dvec2()
}
