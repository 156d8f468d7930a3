//! A running simulation: the world and the stages that move it.

mod build;
mod room;
mod steer;
mod timing;

pub use build::BuildError;
pub use steer::SteerError;
pub use timing::{StageTimes, Timings};

use crate::explain::{Explanation, Wants};
use crate::metrics::{self, Overlaps};
use crate::record::RunInfo;
use crate::scenario::{self, Action, Event, FloorPlan, Goal};
use glam::{DVec2, Vec2};
use room::{Room, Whose};
use std::collections::BTreeMap;
use std::sync::Arc;
use throng_core::frame::Frame;
use throng_core::handover::{Commands, Intents, Moves};
use throng_core::memory::MemoryError;
use throng_core::world::{Detour, Gone, Status, View, World};
use throng_macroscale::Macroscale;
pub use throng_macroscale::multi_domain::TaskRecord;
use throng_mesoscale::{Mesoscale, Perceived, WorldField};
use throng_microscale::{Microscale, Rows};
use throng_motion::Bodies;

/// A simulation of one scenario.
pub struct Simulation {
    world: World,
    stages: Stages,
    handover: Handover,
    plan: Plan,
    timings: Timings,
    pool: Arc<rayon::ThreadPool>,
}

/// Somebody who has no way to its goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Stranded {
    /// Who.
    pub id: u32,
    /// What its cohort is called.
    pub cohort: String,
    /// Where it is, m in the scenario's coordinates.
    pub position: [f64; 2],
}

/// The models. They hold parameters and scratch memory; what lasts is in the world, and in what they remember of agents.
struct Stages {
    macroscale: Box<dyn Macroscale>,
    macroscale_name: String,
    mesoscale: Vec<Box<dyn Mesoscale>>,
    /// Where a local model reads it.
    world_field: Option<WorldField>,
    microscale: Vec<Local>,
    bodies: Bodies,
}

/// A local model and the cohorts that use it; all of them where there is no list.
struct Local {
    model: Box<dyn Microscale>,
    cohorts: Option<Vec<bool>>,
}

impl Local {
    fn has(&self, cohort: usize) -> bool {
        self.cohorts.as_ref().is_none_or(|marked| marked[cohort])
    }

    fn rows(&self) -> Rows<'_> {
        self.cohorts.as_deref().map_or(Rows::All, Rows::Cohorts)
    }
}

#[derive(Default)]
struct Handover {
    intents: Intents,
    commands: Commands,
    moves: Moves,
}

/// What the scenario says, of the time to come and for reports.
struct Plan {
    name: String,
    seed: u64,
    source: String,
    until: f64,
    agents: usize,
    cohorts: Vec<String>,
    first_id: Vec<u32>,
    areas: Vec<Vec<DVec2>>,
    info: RunInfo,
    events: Vec<Event>,
    next_event: usize,
    /// As bodies know it.
    map: FloorPlan,
    gaps: Vec<Vec<DVec2>>,
    map_changes: usize,
    /// Where one can be on the map as it was after so many changes.
    room: Option<(usize, Room)>,
    /// What the outline of an endless plane is drawn around; empty where the map never changes.
    starts: Vec<DVec2>,
    destinations: Vec<DVec2>,
    wall_range: f32,
    /// By cohort, for those who join later.
    responsibility: Vec<f32>,
    /// Whether somebody interfered.
    steered: bool,
}

impl Simulation {
    /// One step: where to, which velocity, move.
    pub fn step(&mut self) {
        let Simulation { world, stages, handover, plan, timings, pool } = self;
        pool.install(|| {
            let mut clock = timings.start(world.agents.len());
            plan.raise_events(world, stages.macroscale.as_mut());
            let view = world.view();
            handover.resize(view.agents.len());
            let Handover { intents, commands, moves } = handover;
            clock.lap(|times| &mut times.events);

            intents.footstep.clear();
            stages.macroscale.run(view, intents);
            clock.lap(|times| &mut times.macroscale);

            let among = !stages.mesoscale.is_empty();
            if among {
                intents.detour.copy_from_slice(&view.agents.detour);
            }
            for model in &mut stages.mesoscale {
                model.run(view, intents);
            }
            if let Some(field) = &stages.world_field {
                field.run(view, intents);
            }
            clock.lap(|times| &mut times.mesoscale);

            for local in &stages.microscale {
                local.model.run(view, local.rows(), intents, commands);
            }
            commands.pass_plans(intents);
            clock.lap(|times| &mut times.microscale);

            stages.bodies.run(view, commands, moves);
            clock.lap(|times| &mut times.motion);

            world.commit(among.then_some(intents), commands, moves);
            if let Some(memory) = stages.macroscale.memory_mut() {
                world.left().iter().for_each(|&slot| memory.forget(slot));
            }
            clock.lap(|times| &mut times.commit);
        });
    }

    /// Runs `work` on the simulation's own threads. Steps that are taken inside begin at once; those taken from outside
    /// first wake a thread, which for a thousand agents is a good part of a step.
    pub fn on_threads<R: Send>(&mut self, work: impl FnOnce(&mut Simulation) -> R + Send) -> R {
        Arc::clone(&self.pool).install(|| work(self))
    }

    /// Whether the time is over, or everybody has arrived and nobody will get another goal.
    pub fn is_done(&self) -> bool {
        let all_arrived = self.arrived() + self.put_aside() == self.agents();
        self.world.time() >= self.plan.until - 1e-9 || (all_arrived && !self.plan.will_retarget(&self.world))
    }

    /// The crowd as it is now.
    pub fn frame(&self) -> Frame<'_> {
        let agents = &self.world.agents;
        Frame {
            step: self.world.step,
            time: self.world.time(),
            origin: self.world.origin,
            id: &agents.id,
            x: &agents.x,
            y: &agents.y,
            vx: &agents.vx,
            vy: &agents.vy,
            cohort: &agents.cohort,
            planted: self.world.feet.planted(),
        }
    }

    /// What the scenario is called.
    pub fn name(&self) -> &str {
        &self.plan.name
    }

    /// Key of every random stream.
    pub fn seed(&self) -> u64 {
        self.plan.seed
    }

    /// The whole scenario, as JSON.
    pub fn source(&self) -> &str {
        &self.plan.source
    }

    /// Threads that steps are spread over.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// What a recording should know of the run.
    pub fn info(&self) -> &RunInfo {
        &self.plan.info
    }

    /// The walkable area now, as WKT, where it has changed since the start.
    pub fn changed_geometry(&self) -> Option<String> {
        let Plan { map, map_changes, starts, destinations, .. } = &self.plan;
        let frame = self.frame();
        let present = || (0..frame.len()).map(|row| frame.position(row)).collect::<Vec<DVec2>>();
        (*map_changes > 0).then(|| scenario::to_wkt_with(map, starts, destinations, &present()))
    }

    /// Where one can walk now.
    pub fn floor_plan(&self) -> &FloorPlan {
        &self.plan.map
    }

    /// How often the map has changed.
    pub fn map_changes(&self) -> usize {
        self.plan.map_changes
    }

    /// How many events have been raised.
    pub(crate) fn events_raised(&self) -> usize {
        self.plan.next_event
    }

    /// Pairs that overlap now.
    pub fn overlaps(&self) -> Overlaps {
        self.pool.install(|| metrics::overlaps(self.world.view()))
    }

    /// What an agent sees and chooses now; `None` where it is not present.
    pub fn explain(&mut self, id: u32) -> Option<Explanation> {
        let view = self.world.view();
        let row = view.agents.id.iter().position(|&other| other == id)?;
        let cohort = view.agents.cohort[row] as usize;
        let local = self.stages.microscale.iter().find(|local| local.has(cohort))?;
        let intents = &mut self.handover.intents;
        intents.resize(view.agents.len());
        let macroscale = self.stages.macroscale.as_ref();
        let (intent, route, tasks) = self.pool.install(|| {
            want(macroscale, view, intents);
            let tasks = macroscale.tasks().map_or(Vec::new(), |tasks| tasks.explain(view, row));
            (macroscale.intent(view, row), macroscale.route(view, row), tasks)
        });
        let no_way = macroscale.unreachable().binary_search(&id).is_ok();
        let guided = (intent.guide, intent.leader);
        intents.detour.copy_from_slice(&view.agents.detour);
        let preferred = Vec2::new(intents.vx[row], intents.vy[row]);
        let mut perceived = Perceived::default();
        let mesoscale = &mut self.stages.mesoscale;
        self.pool.install(|| {
            for model in mesoscale {
                let more = model.explain(view, intents, row);
                perceived.groups.extend(more.groups);
                perceived.looks.extend(more.looks);
                model.run(view, intents);
            }
            if let Some(field) = &self.stages.world_field {
                field.run(view, intents);
            }
        });
        let adapted = Vec2::new(intents.vx[row], intents.vy[row]);
        let wants = Wants { preferred, route, no_way, tasks, guided, perceived, adapted };
        let seen = local.model.explain(view, intents, row);
        Some(Explanation::new(view, self.world.origin, wants, &seen))
    }

    /// Whether the same scenario and seed give the same run: not where time on the clock decides what is planned.
    pub fn is_reproducible(&self) -> bool {
        self.stages.macroscale.tasks().is_none_or(|tasks| tasks.is_reproducible())
    }

    /// Who was thought about in the last step, in order, where the macroscale takes turns.
    pub fn served(&self) -> &[TaskRecord] {
        self.stages.macroscale.tasks().map_or(&[], |tasks| tasks.serviced())
    }

    /// What plans take of the memory, bytes.
    pub fn planner_bytes(&self) -> usize {
        let macroscale = &self.stages.macroscale;
        let remembered = macroscale.memory().map_or(0, |memory| memory.bytes());
        remembered + macroscale.tasks().map_or(0, |tasks| tasks.bytes())
    }

    /// How many agents the scenario has.
    pub fn agents(&self) -> usize {
        self.plan.agents
    }

    /// How many have been at their goals.
    pub fn arrived(&self) -> usize {
        let here = self.world.agents.arrival.iter().filter(|&&arrival| arrival >= 0.0).count();
        here + self.world.gone.iter().filter(|gone| gone.arrival >= 0.0).count()
    }

    /// How many were put aside because their numbers stopped making sense.
    pub fn put_aside(&self) -> usize {
        self.world.gone.iter().filter(|gone| gone.arrival < 0.0).count()
    }

    /// Who walks and had no way to its goal in the last step, by id. Nobody where the macroscale does not think in ways.
    pub fn stranded(&self) -> Vec<Stranded> {
        let view = self.world.view();
        let agents = view.agents;
        let unreachable = self.stages.macroscale.unreachable();
        let is_unreachable = |row: &usize| unreachable.binary_search(&agents.id[*row]).is_ok();
        let rows = (0..agents.len()).filter(|_| !unreachable.is_empty()).filter(is_unreachable);
        let told = |row: usize| Stranded {
            id: agents.id[row],
            cohort: self.plan.cohorts[agents.cohort[row] as usize].clone(),
            position: (self.world.origin + view.position(row).as_dvec2()).to_array(),
        };
        let walks = |row: &usize| agents.status[*row] == Status::Walking;
        let mut stranded: Vec<Stranded> = rows.filter(walks).map(told).collect();
        stranded.sort_unstable_by_key(|stranded| stranded.id);
        stranded
    }

    /// How many have arrived within the window of their cohort, where it has one.
    pub fn in_window(&self) -> usize {
        let in_time = |fate: &Gone| {
            let window = self.world.cohorts[fate.cohort as usize].arrive;
            let arrival = f64::from(fate.arrival);
            // Times of arrival are kept in single precision.
            window.is_some_and(|[from, to]| arrival >= from - 1e-3 && arrival <= to + 1e-3)
        };
        self.fates().filter(in_time).count()
    }

    /// Mean time from start to arrival, s, over those that arrived.
    pub fn mean_travel(&self) -> Option<f64> {
        let travels = self.fates().filter(|fate| fate.arrival >= 0.0);
        let (sum, count) = travels.fold((0.0, 0u32), |(sum, count), fate| {
            (sum + f64::from(fate.arrival) - f64::from(fate.start), count + 1)
        });
        (count > 0).then(|| sum / f64::from(count))
    }

    /// How far everybody has walked, m: in all, and by cohort.
    pub fn path_lengths(&self) -> (f64, BTreeMap<String, f64>) {
        let mut walked = vec![0.0; self.plan.cohorts.len()];
        for fate in self.fates() {
            walked[fate.cohort as usize] += f64::from(fate.walked);
        }
        // From zero: a sum over nothing would be -0.
        (
            walked.iter().fold(0.0, |sum, length| sum + length),
            self.plan.cohorts.iter().cloned().zip(walked).collect(),
        )
    }

    /// What became of everybody, present or gone, by id: sums over it are the same in any order of rows.
    fn fates(&self) -> impl Iterator<Item = Gone> {
        let agents = &self.world.agents;
        let mut fates = self.world.gone.clone();
        fates.extend((0..agents.len()).map(|row| Gone {
            id: agents.id[row],
            cohort: agents.cohort[row],
            arrival: agents.arrival[row],
            start: agents.start[row],
            walked: agents.walked[row],
            put_aside: false,
        }));
        fates.sort_unstable_by_key(|fate| fate.id);
        fates.into_iter()
    }

    /// All state that lasts.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// How long the stages took.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// A number that differs whenever the state differs in a bit.
    pub fn state_hash(&self) -> u64 {
        let remembered = self.stages.macroscale.memory().map_or(0, |memory| memory.state_hash());
        self.world.state_hash(remembered)
    }

    /// What the macroscale remembers of agents, as bytes.
    pub(crate) fn remembered(&self) -> Vec<u8> {
        self.stages.macroscale.memory().map_or(Vec::new(), |memory| memory.save())
    }

    /// Lets the macroscale go on with what it remembered.
    pub(crate) fn remember(&mut self, bytes: &[u8]) -> Result<(), MemoryError> {
        self.stages.macroscale.memory_mut().map_or(Ok(()), |memory| memory.load(bytes))
    }
}

/// Writes what every agent wants by what is planned for it.
fn want(macroscale: &dyn Macroscale, view: View<'_>, intents: &mut Intents) {
    for row in 0..view.agents.len() {
        let intent = macroscale.intent(view, row);
        (intents.vx[row], intents.vy[row], intents.aim[row]) =
            (intent.velocity.x, intent.velocity.y, intent.aim);
    }
}

impl Handover {
    fn resize(&mut self, agents: usize) {
        self.intents.resize(agents);
        self.commands.resize(agents);
        self.moves.resize(agents);
    }
}

impl Plan {
    /// Does what is due. An event at time t is seen by the first step that begins at t or later.
    fn raise_events(&mut self, world: &mut World, planner: &mut dyn Macroscale) {
        let now = world.time() + 1e-9;
        let (changes, first) = (self.map_changes, self.next_event);
        if self.events.get(first).is_none_or(|event| event.at > now) {
            return;
        }
        let before = self.map.clone();
        while let Some(event) = self.events.get(self.next_event).filter(|event| event.at <= now) {
            if let Action::Retarget { cohort, goals } = &event.action {
                self.retarget(world, planner, *cohort, goals);
            }
            self.next_event += 1;
            self.change_map(self.next_event - 1);
        }
        let sent = |event: &Event| match event.action {
            Action::Retarget { cohort, .. } => Some(cohort),
            _ => None,
        };
        let sent: Vec<usize> = self.events[first..self.next_event].iter().filter_map(sent).collect();
        let is_changed = self.map_changes != changes;
        let whose = if is_changed { Whose::FreeOn(&before) } else { Whose::Nobody };
        self.make_room(world, planner, &sent, whose);
        if is_changed {
            world.set_walls(build::walls(&self.map, world.origin, self.wall_range));
        }
    }

    /// Lets nobody be in a wall, and nobody want to be in one; of cohorts that were sent somewhere, into an area where no body
    /// fits either. Where nobody can have come into a wall, only these cohorts are looked at.
    fn make_room(
        &mut self,
        world: &mut World,
        planner: &mut dyn Macroscale,
        sent: &[usize],
        whose: Whose<'_>,
    ) {
        let known = self.room.take().filter(|(changes, _)| *changes == self.map_changes);
        let room = known.map_or_else(|| Room::new(&self.map, &self.gaps, world.origin), |(_, room)| room);
        room.free_goals(world, |cohort| !matches!(whose, Whose::Nobody) || sent.contains(&cohort));
        sent.iter().for_each(|&cohort| room.free_area(world, cohort));
        if room.free_bodies(world, planner, whose) {
            world.settle();
        }
        self.room = Some((self.map_changes, room));
    }

    /// Whether somebody who is present gets another goal before the end.
    fn will_retarget(&self, world: &World) -> bool {
        let mut ahead = self.events[self.next_event..].iter().filter(|event| event.at < self.until);
        ahead.any(|event| match event.action {
            Action::Retarget { cohort, .. } => world.agents.cohort.contains(&(cohort as u16)),
            Action::AddObstacle { .. } | Action::RemoveObstacle(_) => false,
        })
    }

    /// Brings the map to where it was after a number of events.
    fn replay_map(&mut self, events: usize) {
        self.next_event = events.min(self.events.len());
        (0..self.next_event).for_each(|event| self.change_map(event));
    }

    fn change_map(&mut self, event: usize) {
        self.map_changes += usize::from(self.map.change(&self.events[event].action));
    }

    fn retarget(&self, world: &mut World, planner: &mut dyn Macroscale, cohort: usize, goals: &[Goal]) {
        world.cohorts[cohort].area =
            goals.first().and_then(|&goal| build::area(&self.areas, goal, world.origin));
        let agents = &mut world.agents;
        for row in (0..agents.id.len()).filter(|&row| agents.cohort[row] as usize == cohort) {
            let member = (agents.id[row] - self.first_id[cohort]) as usize;
            if let Some(Goal::Point(goal)) = goals.get(member) {
                (agents.goal_x[row], agents.goal_y[row]) = local(*goal, world.origin).into();
            }
            agents.detour[row] = Detour::default();
            planner.memory_mut().into_iter().for_each(|memory| memory.retarget(agents.slot[row]));
            if agents.status[row] == Status::Arrived {
                (agents.status[row], agents.arrival[row]) = (Status::Walking, -1.0);
            }
        }
        build::extend_to_goals(world);
    }
}

/// A place in the world's coordinates.
fn local(place: DVec2, origin: DVec2) -> Vec2 {
    (place - origin).as_vec2()
}
