//! A running simulation: the world and the stages that move it.

mod build;
mod timing;

pub use build::BuildError;
pub use timing::{StageTimes, Timings};

use crate::scenario::{Action, Event, FloorPlan, Goal};
use glam::{DVec2, Vec2};
use throng_core::frame::Frame;
use throng_core::handover::{Commands, Intents, Moves};
use throng_core::world::World;
use throng_macroscale::Macroscale;
use throng_microscale::{Microscale, Rows};
use throng_motion::Bodies;

/// A simulation of one scenario.
pub struct Simulation {
    world: World,
    stages: Stages,
    handover: Handover,
    plan: Plan,
    timings: Timings,
    pool: rayon::ThreadPool,
}

/// The models. They hold parameters and scratch memory; what lasts is in the world.
struct Stages {
    macroscale: Box<dyn Macroscale>,
    microscale: Vec<Local>,
    bodies: Bodies,
}

/// A local model and the cohorts that use it; all of them where there is no list.
struct Local {
    model: Box<dyn Microscale>,
    cohorts: Option<Vec<bool>>,
}

impl Local {
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

/// What the scenario says of the time to come.
struct Plan {
    until: f64,
    agents: usize,
    events: Vec<Event>,
    next_event: usize,
    map: FloorPlan,
    wall_range: f32,
}

impl Simulation {
    /// One step: where to, which velocity, move.
    pub fn step(&mut self) {
        let Simulation { world, stages, handover, plan, timings, pool } = self;
        pool.install(|| {
            let mut clock = timings.start();
            plan.raise_events(world);
            let view = world.view();
            handover.resize(view.agents.len());
            let Handover { intents, commands, moves } = handover;
            clock.lap(|times| &mut times.events);

            stages.macroscale.run(view, intents);
            clock.lap(|times| &mut times.macroscale);

            for local in &stages.microscale {
                local.model.run(view, local.rows(), intents, commands);
            }
            clock.lap(|times| &mut times.microscale);

            stages.bodies.run(view, commands, moves);
            clock.lap(|times| &mut times.motion);

            world.commit(moves, commands);
            clock.lap(|times| &mut times.commit);
        });
    }

    /// Whether the time is over or everybody has arrived.
    pub fn is_done(&self) -> bool {
        self.world.time() >= self.plan.until - 1e-9 || self.arrived() + self.put_aside() == self.agents()
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
        }
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
        self.world.state_hash()
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
    fn raise_events(&mut self, world: &mut World) {
        let now = world.time() + 1e-9;
        let mut map_changed = false;
        while let Some(event) = self.events.get(self.next_event).filter(|event| event.at <= now) {
            match &event.action {
                Action::AddObstacle { name, polygon } => {
                    self.map.obstacles.push((name.clone(), polygon.clone()));
                    map_changed = true;
                }
                Action::RemoveObstacle(name) => {
                    self.map.obstacles.retain(|(other, _)| other != name);
                    map_changed = true;
                }
                Action::Retarget { cohort, goals } => retarget(world, *cohort, goals),
            }
            self.next_event += 1;
        }
        if map_changed {
            world.walls = build::walls(&self.map, world.origin, self.wall_range);
        }
    }
}

fn retarget(_world: &mut World, _cohort: usize, _goals: &[Goal]) {}

/// A place in the world's coordinates.
fn local(place: DVec2, origin: DVec2) -> Vec2 {
    (place - origin).as_vec2()
}
