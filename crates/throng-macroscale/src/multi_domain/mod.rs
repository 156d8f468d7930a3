//! # Many agents plan in real time (Kapadia et al. 2013, sections 5, 6 and 7.2)
//! Every agent has a task for each domain, and one that executes: T(Σ1) finds a way on the static mesh, T(Σ2) one that
//! minds where others will be, T(Σ3) leads around those who stand on it, T(Σ4) plans in space and time around that, T(Σ5)
//! finds places for the feet of those who walk on such (`stepping.rs`), and T0 walks the plan. Events put tasks to work, priorities say whose turn it is (`tasks.rs`), and a frame's budget is
//! shared out until it is spent (`budget.rs`).
//!
//! One rule makes it safe: **at any time the published paths of all agents and movers keep apart for good**, because a path
//! counts beyond its end, where its owner stands, and whoever publishes another one is held against all others first. What
//! nobody could foresee (a new wall, a push) breaks the rule for those it touches; these stand until they have another plan,
//! and whoever would run into them stands too (`guard.rs`).
//!
//! Deviations, and what the paper leaves open:
//! - **No search outlives its step.** The paper keeps searches and mends them. Here a search begins anew whenever it is an
//!   agent's turn, in a tunnel a few metres wide and a horizon long; what stays is its result. So a checkpoint is plain data,
//!   a resumed run goes on bit by bit, and a plan with an ε above 1 is looked for again with a smaller one.
//! - **Σ4 plans for a horizon and not to a waypoint.** A waypoint that somebody stands on makes a search run for ever; at a
//!   horizon there is always a best place to be, if only the one that the agent stands at. What is left of the way from
//!   there counts into the plan's cost.
//! - **The line itself is tried first**, at a few even speeds, after a moment, or a step aside where somebody would be met.
//!   Nothing is cheaper than to walk straight at the best speed, and how much dearer the others are is known, so these plans
//!   carry a bound like those of a search. Most meetings need no more.
//! - **A jump is a piece of the line** that is flown at the speed one walks. Whoever has taken off lands before it thinks again.
//! - **A goal that others want to as well is visited** (`sharing.rs`): a plan leads on to a place beside it.
//! - **Platforms are taken by timetable** (`crossing.rs`): their paths are known, and a search would try every place to wait at.
//! - **Σ1 is searched for each agent**, not once for each goal, and **Σ2 on the whole mesh**, without a tunnel around the
//!   static way: both are a small part of the time, and a way around a crowd may lead through other streets.
//! - **Paths are pulled taut in space and time**: steps in sixteen directions zigzag.
//! - **Everybody counts, whatever the direction** (the paper: a foveal angle). The rule above needs it, and an index of space
//!   and time makes it cheap.
//! - **Who is in the way of one who is nearer to its goal makes room** (`yielding.rs`), if need be by going back: the
//!   paper's agents in narrow passages cooperate, and it does not say how.
//! - **Σ3 leads around those who stand**, not around all where they are now: who walks is elsewhere when one gets there, and
//!   Σ4 knows where.
//! - **Σ2 is searched on events**: a new goal or map, or no way on. Densities change all the time, and a search for every
//!   change would be one for every agent in every frame.

mod board;
mod budget;
mod crossing;
mod crowding;
mod deliberation;
mod execution;
mod ground;
mod guard;
mod lead;
mod rides;
mod sharing;
mod stepping;
mod tasks;
mod window;
mod yielding;

pub use budget::Served;
pub use tasks::{Event, Explained, Task};

use crate::Macroscale;
use board::Board;
use budget::Frame;
use crowding::Crowding;
use deliberation::{Proposal, Thinker};
use glam::{DVec2, Vec2};
use ground::Grounds;
use rayon::prelude::*;
use sharing::Destinations;
use std::collections::BTreeMap;
use std::time::Instant;
use throng_core::handover::Intents;
use throng_core::world::{Plan, PlanChange, Status, View};

throng_core::params! {
    /// Plans in space and time against everybody's published plans, over four domains from coarse to fine, within a budget for each step.
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
        /// States that one agent may expand at a time; twice as many each time it has found no plan. Whoever is first in a step gets them even beyond the budget.
        share: usize = 400, "", Limit::from(1.0).up_to(1e9);
        /// How many times the cheapest a first plan may cost.
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
        /// Whoever is further from its plan has lost it.
        tolerance: f32 = 0.1, "m", Limit::above(0.0).up_to(10.0);
        /// How far ahead footsteps are planned, where the motion is `footsteps`.
        footing: f32 = 8.0, "s", Limit::from(1.0).up_to(60.0);
        /// How long somebody has no way on before others are asked to make room.
        patience: f32 = 1.0, "s", Limit::from(0.0).up_to(1e6);
    }
}

/// The model at work. What lasts is in the world: here are copies and what follows from them.
#[derive(Debug)]
pub struct Planner {
    params: MultiDomain,
    grounds: Grounds,
    board: Board,
    crowding: Crowding,
    destinations: Destinations,
    /// What has changed in this step, by id.
    drafts: BTreeMap<u32, Plan>,
    /// By id, where it is in the columns.
    rows: Vec<u32>,
    served: Vec<Served>,
    stranded: Vec<u32>,
}

impl From<(MultiDomain, Vec<MultiDomain>)> for Planner {
    fn from((params, _): (MultiDomain, Vec<MultiDomain>)) -> Planner {
        Planner {
            params,
            grounds: Grounds::default(),
            board: Board::default(),
            crowding: Crowding::default(),
            destinations: Destinations::default(),
            drafts: BTreeMap::new(),
            rows: Vec::new(),
            served: Vec::new(),
            stranded: Vec::new(),
        }
    }
}

impl Macroscale for Planner {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        // The clock decides nothing unless a deadline was asked for.
        let begin = Instant::now();
        self.look(view);
        self.guard(view);
        self.deliberate(view, Frame::begin(&self.params, begin));
        self.execute(view, out);
        let changes = std::mem::take(&mut self.drafts).into_iter();
        out.plans.clear();
        out.plans.extend(changes.map(|(id, to)| PlanChange { id, to }));
    }

    fn stranded(&self) -> &[u32] {
        &self.stranded
    }

    fn route(&mut self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        let plan = view.plans.of(view.agents.id[row]);
        let from = view.position(row);
        let way = plan.way.iter().map(|place| place.as_vec2());
        (!plan.way.is_empty()).then(|| std::iter::once(from).chain(way).collect())
    }

    fn is_reproducible(&self) -> bool {
        self.params.deadline == 0.0
    }

    fn keeps_clear(&self) -> bool {
        true
    }

    fn served(&self) -> &[Served] {
        &self.served
    }

    fn bytes(&self) -> usize {
        self.board.bytes() + self.crowding.bytes()
    }

    fn explain(&mut self, view: View<'_>, row: usize) -> Option<Vec<Explained>> {
        self.look(view);
        let failures = view.plans.of(view.agents.id[row]).failures;
        let share = Frame::uncounted(&self.params).share_out(std::iter::once(failures), &self.params)[0];
        let seen = Thinker::new(view, self).seen(row, share);
        Some(tasks::explain(&self.params, view, row, seen))
    }
}

impl Planner {
    /// Brings copies up to date: the map, who is where, and what everybody has said.
    fn look(&mut self, view: View<'_>) {
        self.drafts.clear();
        self.grounds.learn(view, &self.params);
        self.rows.clear();
        for (row, &id) in view.agents.id.iter().enumerate() {
            if self.rows.len() <= id as usize {
                self.rows.resize(id as usize + 1, u32::MAX);
            }
            self.rows[id as usize] = row as u32;
        }
        self.board.look(view, &self.params, &self.rows);
        self.crowding.look(view, &self.grounds, &self.params, &self.rows);
        self.destinations.look(view);
    }

    /// An agent's plan as it is after what has changed in this step.
    fn plan<'a>(&'a self, view: View<'a>, id: u32) -> &'a Plan {
        self.drafts.get(&id).unwrap_or_else(|| view.plans.of(id))
    }

    /// Whether somebody is in the middle of a jump.
    fn is_in_flight(&self, view: View<'_>, row: usize) -> bool {
        self.grounds.is_in_flight(view, row, self.plan(view, view.agents.id[row]))
    }

    /// Takes a plan over: whoever plans from now on knows of it.
    fn publish(&mut self, view: View<'_>, id: u32, plan: Plan) {
        let row = self.rows[id as usize] as usize;
        let plan = Plan { serial: view.plans.of(id).serial + 1, ..plan };
        self.board.publish(view, &self.params, row, &plan);
        self.crowding.publish(view, &self.grounds, &self.params, row, &plan);
        self.drafts.insert(id, plan);
    }

    /// Serves agents in the order of their priorities, a batch at a time, until the budget is spent.
    fn deliberate(&mut self, view: View<'_>, mut frame: Frame) {
        self.served.clear();
        let mut waiting = self.asks(view);
        waiting.reverse();
        while !waiting.is_empty() && !frame.is_spent() {
            let batch = waiting.split_off(waiting.len() - tasks::batch(view, &waiting));
            let shares = frame.share_out(batch.iter().rev().map(|ask| ask.failures), &self.params);
            let thinker = Thinker::new(view, self);
            let work: Vec<_> = batch.iter().rev().zip(shares).collect();
            let proposals: Vec<Proposal> =
                work.into_par_iter().map(|(ask, share)| thinker.serve(ask, share)).collect();
            for proposal in proposals {
                frame.spend(proposal.spent);
                self.served.push(proposal.served);
                if !self.accept(view, &proposal) && frame.may_try_again() {
                    // Somebody of the same batch was first: next round.
                    waiting.push(proposal.ask);
                }
            }
        }
        let stranded = (0..view.agents.len()).filter(|&row| {
            view.agents.status[row] == Status::Walking && self.plan(view, view.agents.id[row]).stranded
        });
        self.stranded = stranded.map(|row| row as u32).collect();
    }

    /// Publishes what was proposed, unless it meets what was published since.
    fn accept(&mut self, view: View<'_>, proposal: &Proposal) -> bool {
        // Somebody of the same batch has found a place for whoever found nothing itself.
        let is_late = |(id, plan): &(u32, Plan)| !plan.valid && self.plan(view, *id).valid;
        if proposal.plans.iter().any(is_late) {
            return true;
        }
        let thinker = Thinker::new(view, self);
        let is_free = proposal.plans.iter().all(|(id, plan)| {
            let others: Vec<u32> =
                proposal.plans.iter().map(|(other, _)| *other).filter(|o| o != id).collect();
            let is_known = plan.path == self.plan(view, *id).path;
            !plan.valid || is_known || thinker.still_holds(*id, plan, &others)
        });
        if is_free {
            for (id, plan) in &proposal.plans {
                self.publish(view, *id, plan.clone());
            }
        }
        is_free
    }
}

/// A place in double precision.
fn wide(place: Vec2) -> DVec2 {
    place.as_dvec2()
}
