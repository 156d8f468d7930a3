//! A crowd that a program builds, changes and steps: the engine's façade.
//!
//! ```
//! use throng::prelude::*;
//!
//! let room = [[0.0, 0.0], [40.0, 0.0], [40.0, 20.0], [0.0, 20.0]];
//! let pillar = [[10.0, 8.0], [12.0, 8.0], [12.0, 12.0], [10.0, 12.0]];
//! let mut crowd = Crowd::builder()
//!     .dt(1.0 / 30.0)
//!     .walkable(&room)
//!     .obstacle("pillar", &pillar)
//!     .macroscale(Navmesh::default())
//!     .microscale(Orca { time_horizon: 2.0, ..Orca::default() })
//!     .build()?;
//! let walker = crowd.spawn(Agent::at([1.0, 10.0]).goal([39.0, 10.0]).radius(0.3))?;
//! while crowd.status(walker)? != Status::Arrived {
//!     crowd.step();
//! }
//! crowd.despawn(walker)?;
//! assert!(crowd.position(walker).is_err(), "a stale handle is an error");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agent;
mod apply;
mod builder;
mod edit;
mod floor;
mod placement;
mod query;
mod reason;
mod save;
mod timing;

pub use agent::{Agent, AgentId, Cohort, CohortId, Destination, DestinationId, Mover, MoverId};
pub use builder::{BuildError, Builder, settings};
pub use edit::{CohortGoal, Edit, EditError, EditLog, Made};
pub use query::{AgentRef, Columns, Path};
pub use save::LoadError;
pub use timing::{StageTimes, Timings};

#[cfg(feature = "scenario")]
pub(crate) use agent::default_max_speed;
pub(crate) use floor::{FARTHEST, is_within_reach};
#[cfg(feature = "scenario")]
pub(crate) use save::checksum;

use crate::frame::Frame;
use crate::map::{Map, Ring};
use crate::pipeline::{Models, Stages};
use apply::Pending;
use floor::Floor;
use glam::{DVec2, Vec2};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use throng_core::handover::{Commands, Intents, Moves};
use throng_core::world::World;

/// Agents on a map, and the models that move them.
pub struct Crowd {
    state: State,
    stages: Stages,
    handover: Handover,
    timings: Timings,
    /// Its own threads; those of all crowds where there are none.
    pool: Option<Arc<rayon_core::ThreadPool>>,
}

/// What lasts from step to step, and is saved together with what stages remember.
#[derive(Serialize, Deserialize)]
struct State {
    world: World,
    models: Models,
    floor: Floor,
    /// What the caller calls cohorts.
    cohort_names: Vec<String>,
    /// The numbers of movers, in the order of the world's; and the next one.
    movers: (Vec<u32>, u32),
    /// What edits have left to be done before the next step.
    pending: Pending,
    /// Ids of agents whose goals could not be reached in the last step. Kept, so that a loaded crowd knows it too.
    unreachable: Vec<u32>,
    /// Whether nothing has said yet where the crowd is going to be.
    free_origin: bool,
    /// Tells its handles from those of others.
    tag: u32,
    /// Length of a step where the caller gives none, s.
    dt: f64,
    log: Option<EditLog>,
}

#[derive(Default)]
struct Handover {
    intents: Intents,
    commands: Commands,
    moves: Moves,
    /// By row: whose intents they were in the last step. Rows have been sorted again since.
    decided: Vec<u32>,
}

impl Crowd {
    /// A crowd to be described, then built.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// One step, as long as the builder said.
    pub fn step(&mut self) {
        if self.state.world.dt() != self.state.dt {
            self.note(Edit::SetDt(self.state.dt));
            self.set_dt(self.state.dt);
        }
        self.advance();
    }

    /// One step of another length, s.
    pub fn step_by(&mut self, dt: f64) -> Result<(), EditError> {
        if dt != self.state.world.dt() {
            self.apply(Edit::SetDt(dt))?;
        }
        self.advance();
        Ok(())
    }

    /// The step: what edits have left, where to, among whom, which velocity, move.
    fn advance(&mut self) {
        self.on_threads(|crowd| {
            let mut clock = crowd.timings.start();
            crowd.prepare();
            let agents = crowd.state.world.agents.len();
            let Crowd { state: State { world, unreachable, .. }, stages, handover, timings, .. } = crowd;
            let view = world.view();
            handover.resize(view.agents.len());
            let Handover { intents, commands, moves, decided } = handover;
            clock.lap(timings, |times| &mut times.events);

            intents.footstep.clear();
            stages.macroscale.run(view, intents);
            unreachable.clear();
            unreachable.extend_from_slice(stages.macroscale.unreachable());
            world.steering().write(view, intents);
            clock.lap(timings, |times| &mut times.macroscale);

            let among = !stages.mesoscale.is_empty();
            for model in &mut stages.mesoscale {
                model.run(view, intents);
            }
            if let Some(field) = &stages.world_field {
                field.run(view, intents);
            }
            if among {
                world.steering().write(view, intents);
            }
            clock.lap(timings, |times| &mut times.mesoscale);

            stages.microscale.run(view, intents, commands);
            commands.pass_plans(intents);
            clock.lap(timings, |times| &mut times.microscale);

            stages.bodies.run(view, intents, commands, moves);
            clock.lap(timings, |times| &mut times.motion);

            decided.clone_from(&view.agents.slot);
            world.commit(moves);
            if let Some(jam) = intents.jam.take() {
                world.jam = jam;
            }
            world.departures().iter().for_each(|departure| stages.forget(departure.slot));
            clock.finish(timings, agents);
        });
    }

    /// Works out the free space for the bodies that are there, where the planner needs it. Else the first step does, which then
    /// takes as much longer.
    pub fn prepare_paths(&mut self) {
        self.on_threads(|crowd| crowd.stages.macroscale.prepare(crowd.state.world.view()));
    }

    /// Runs `work` on the crowd's own threads. Steps that are taken inside begin at once; those taken from outside
    /// first wake a thread, which for a thousand agents is a good part of a step.
    pub fn on_threads<R: Send>(&mut self, work: impl FnOnce(&mut Crowd) -> R + Send) -> R {
        match self.pool() {
            Some(pool) => pool.install(|| work(self)),
            None => work(self),
        }
    }

    /// Its own threads, where it has any.
    pub(crate) fn pool(&self) -> Option<Arc<rayon_core::ThreadPool>> {
        self.pool.clone()
    }

    /// Lets an agent come.
    pub fn spawn(&mut self, agent: Agent) -> Result<AgentId, EditError> {
        match self.apply(Edit::Spawn(agent))? {
            Made::Agent(agent) => Ok(agent),
            _ => Err(EditError::StaleHandle),
        }
    }

    /// Removes an agent. Its handle is stale from now on.
    pub fn despawn(&mut self, agent: AgentId) -> Result<(), EditError> {
        self.apply(Edit::Despawn(agent)).map(drop)
    }

    /// Gives an agent another goal, m. One that had arrived walks again.
    pub fn set_goal(&mut self, agent: AgentId, goal: impl Into<DVec2>) -> Result<(), EditError> {
        self.apply(Edit::SetGoal { agent, goal: goal.into() }).map(drop)
    }

    /// Steers an agent: it wants this velocity, m/s, until the caller says otherwise, and still avoids others. `None` gives
    /// it back to its planner.
    pub fn set_preferred_velocity(
        &mut self,
        agent: AgentId,
        velocity: Option<DVec2>,
    ) -> Result<(), EditError> {
        self.apply(Edit::SetPreferredVelocity { agent, velocity }).map(drop)
    }

    /// Puts an agent somewhere else, m.
    pub fn set_position(&mut self, agent: AgentId, position: impl Into<DVec2>) -> Result<(), EditError> {
        self.apply(Edit::SetPosition { agent, position: position.into() }).map(drop)
    }

    /// Gives an agent another velocity, m/s, from which it goes on.
    pub fn set_velocity(&mut self, agent: AgentId, velocity: impl Into<DVec2>) -> Result<(), EditError> {
        self.apply(Edit::SetVelocity { agent, velocity: velocity.into() }).map(drop)
    }

    /// Gives an agent another body, m.
    pub fn set_radius(&mut self, agent: AgentId, radius: f64) -> Result<(), EditError> {
        self.apply(Edit::SetRadius { agent, radius }).map(drop)
    }

    /// Gives an agent another preferred speed, m/s; the one that it cannot exceed is raised where it is lower.
    pub fn set_speed(&mut self, agent: AgentId, speed: f64) -> Result<(), EditError> {
        self.apply(Edit::SetSpeed { agent, speed }).map(drop)
    }

    /// Limits an agent's speed, m/s; its preferred one is lowered where it is higher.
    pub fn set_max_speed(&mut self, agent: AgentId, speed: f64) -> Result<(), EditError> {
        self.apply(Edit::SetMaxSpeed { agent, speed }).map(drop)
    }

    /// Adds a cohort: agents with a model, values, a goal area or an end of their own.
    pub fn add_cohort(&mut self, cohort: Cohort) -> Result<CohortId, EditError> {
        match self.apply(Edit::AddCohort(cohort))? {
            Made::Cohort(cohort) => Ok(cohort),
            _ => Err(EditError::TooMany("65535 cohorts")),
        }
    }

    /// Adds a destination: an exit, a waypoint, places in a line.
    pub fn add_destination(&mut self, destination: Destination) -> Result<DestinationId, EditError> {
        match self.apply(Edit::AddDestination(destination))? {
            Made::Destination(destination) => Ok(destination),
            _ => Err(EditError::TooMany("65535 destinations")),
        }
    }

    /// Sends an agent to a destination; to a point of its own, m, where the destination is not an area. It goes there
    /// until it is sent elsewhere, gets another goal or its cohort does.
    pub fn send(
        &mut self,
        agent: AgentId,
        destination: DestinationId,
        point: Option<DVec2>,
    ) -> Result<(), EditError> {
        self.apply(Edit::Send { agent, destination, point }).map(drop)
    }

    /// Lets agents leave at a destination, as at an exit that is open, or stand there until they are sent on.
    pub fn end_at(&mut self, destination: DestinationId, ends: bool) -> Result<(), EditError> {
        self.apply(Edit::EndAt { destination, ends }).map(drop)
    }

    /// Removes an agent as one that has arrived. Its handle is stale from now on.
    pub fn let_go(&mut self, agent: AgentId) -> Result<(), EditError> {
        self.apply(Edit::LetGo(agent)).map(drop)
    }

    /// Sends all members of a cohort to one place, m.
    pub fn retarget(&mut self, cohort: CohortId, goal: impl Into<DVec2>) -> Result<(), EditError> {
        self.apply(Edit::Retarget { cohort, goal: CohortGoal::Point(goal.into()) }).map(drop)
    }

    /// Moves the goals of all members of a cohort, points or the area that they share, by a vector, m.
    pub fn move_goals(&mut self, cohort: CohortId, by: impl Into<DVec2>) -> Result<(), EditError> {
        self.apply(Edit::Retarget { cohort, goal: CohortGoal::MovedBy(by.into()) }).map(drop)
    }

    /// Puts an obstacle on the map, its corners in either winding, m. Agents in it are put beside it.
    pub fn add_obstacle<R: Ring + ?Sized>(&mut self, name: &str, ring: &R) -> Result<(), EditError> {
        self.apply(Edit::AddObstacle { name: name.into(), ring: ring.corners() }).map(drop)
    }

    /// Takes an obstacle off the map.
    pub fn remove_obstacle(&mut self, name: &str) -> Result<(), EditError> {
        self.apply(Edit::RemoveObstacle { name: name.into() }).map(drop)
    }

    /// Lets a body come that avoids nobody and is avoided by all: one that the caller moves, or one with a script.
    pub fn spawn_mover(&mut self, mover: Mover) -> Result<MoverId, EditError> {
        match self.apply(Edit::SpawnMover(mover))? {
            Made::Mover(mover) => Ok(mover),
            _ => Err(EditError::UnknownMover),
        }
    }

    /// Says where a body is that the caller moves, m, and its velocity, m/s. It keeps that for ten seconds, and stands
    /// then, unless the caller says something else.
    pub fn set_mover(
        &mut self,
        mover: MoverId,
        position: impl Into<DVec2>,
        velocity: impl Into<DVec2>,
    ) -> Result<(), EditError> {
        let (position, velocity) = (position.into(), velocity.into());
        self.apply(Edit::SetMover { mover, position, velocity }).map(drop)
    }

    /// Removes a body that avoids nobody.
    pub fn despawn_mover(&mut self, mover: MoverId) -> Result<(), EditError> {
        self.apply(Edit::DespawnMover(mover)).map(drop)
    }

    /// The models that run, and their values.
    pub fn models(&self) -> &Models {
        &self.state.models
    }

    /// Puts other models, or the same with other values, in the place of those that run. A model that stays keeps what it remembers.
    pub fn set_models(&mut self, models: Models) -> Result<(), EditError> {
        self.apply(Edit::SetModels(Box::new(models))).map(drop)
    }

    /// Writes edits down from now on, or no longer.
    pub fn log_edits(&mut self, on: bool) {
        self.state.log = on.then(|| self.state.log.take().unwrap_or_default());
    }

    /// Hands out the edits that were written down so far, and goes on with an empty log.
    pub fn take_log(&mut self) -> EditLog {
        self.state.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Applies the edits of a log, each before the step that it was applied before, and steps up to `until`. On a crowd as it
    /// was when the log began, the result is the same, bit by bit. Handles in the log are taken as this crowd's.
    pub fn replay(&mut self, log: &EditLog, until: u64) -> Result<(), EditError> {
        for (step, edit) in &log.edits {
            let now = self.state.world.step;
            if *step < now {
                return Err(EditError::LateLog { edit: *step, now });
            }
            (now..*step).for_each(|_| self.advance());
            self.apply(edit.clone().of_crowd(self.state.tag))?;
        }
        (self.state.world.step..until).for_each(|_| self.advance());
        Ok(())
    }

    /// The crowd as it is now: columns for recorders and viewers.
    pub fn frame(&self) -> Frame<'_> {
        Frame::new(
            &self.state.world,
            &self.state.floor.map,
            self.state.floor.changes,
            self.state.floor.within,
        )
    }

    /// Where one can walk now, as bodies know it.
    pub fn map(&self) -> &Map {
        &self.state.floor.map
    }

    /// How often the map has changed.
    pub fn map_changes(&self) -> u64 {
        self.state.floor.changes
    }

    /// All state that lasts, as the engine holds it.
    pub fn world(&self) -> &World {
        &self.state.world
    }

    /// How long the stages took.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Threads that steps are spread over.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or_else(rayon_core::current_num_threads, |pool| pool.current_num_threads())
    }
}

impl Handover {
    fn resize(&mut self, agents: usize) {
        self.intents.resize(agents);
        self.commands.resize(agents);
        self.moves.resize(agents);
    }
}

/// A place in the world's coordinates.
pub(crate) fn local(place: DVec2, origin: DVec2) -> Vec2 {
    (place - origin).as_vec2()
}
