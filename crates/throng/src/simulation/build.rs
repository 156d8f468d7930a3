//! From a checked scenario to a simulation.

use super::room::Whose;
use super::{Handover, Local, Plan, Simulation, Stages, Timings, local};
use crate::catalog;
use crate::record::RunInfo;
use crate::scenario::{self, Action, Cohort, FloorPlan, Goal, Scenario, Settings};
use glam::{DVec2, Vec2};
use std::sync::Arc;
use throng_core::space::{Wall, Walls};
use throng_core::world::{self, Agent, Detour, Gaps, Link, Map, Mover, SETTING_OFF, Status, Terrain, World};
use throng_mesoscale::Mesoscale;
use throng_motion::Bodies;

/// Why a scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The catalog has no such model.
    #[error("unknown {stage} model `{name}`; known: {known}")]
    UnknownModel {
        /// The stage.
        stage: &'static str,
        /// The name as written.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The operating system refused.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// Why not.
        reason: String,
    },
}

impl Simulation {
    /// A simulation on all cores.
    pub fn new(scenario: &Scenario) -> Result<Simulation, BuildError> {
        Simulation::with_threads(scenario, 0)
    }

    /// A simulation on a number of threads; 0 means all cores. The result is the same on any number.
    pub fn with_threads(scenario: &Scenario, threads: usize) -> Result<Simulation, BuildError> {
        let world = World::new(origin(scenario), scenario.dt);
        let mut simulation = Simulation::around(scenario, threads, world)?;
        populate(&mut simulation.world, scenario);
        let cohorts: Vec<usize> = (0..scenario.cohorts.len()).collect();
        simulation.make_room(&cohorts, Whose::All);
        simulation.settle();
        Ok(simulation)
    }

    /// A simulation that goes on from a saved world.
    pub(crate) fn resumed(
        scenario: &Scenario,
        threads: usize,
        world: World,
        events: usize,
    ) -> Result<Simulation, BuildError> {
        let mut simulation = Simulation::around(scenario, threads, world)?;
        simulation.plan.replay_map(events);
        simulation.settle();
        Ok(simulation)
    }

    fn around(scenario: &Scenario, threads: usize, world: World) -> Result<Simulation, BuildError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| BuildError::Threads { threads, reason: error.to_string() })?;
        Ok(Simulation {
            world,
            stages: stages(scenario)?,
            handover: Handover::default(),
            plan: plan(scenario),
            timings: Timings::default(),
            pool: Arc::new(pool),
        })
    }

    /// Lets nobody be in a wall, or want to where no body fits.
    pub(super) fn make_room(&mut self, sent: &[usize], whose: Whose<'_>) {
        let Simulation { world, stages, plan, pool, .. } = self;
        let planner = stages.macroscale.as_mut();
        pool.install(|| plan.make_room(world, planner, sent, whose));
    }

    /// Works out what follows from who is there and from how far models look.
    pub(super) fn settle(&mut self) {
        let world = &mut self.world;
        let reach = self.stages.microscale.iter().map(|local| local.model.looks());
        let furthest = reach.clone().map(|reach| reach.neighbor_distance).fold(0.0, f32::max);
        world.furthest_look = if furthest > 0.0 { furthest } else { 2.0 };
        world.fastest = world.agents.max_speed.iter().copied().fold(world.fastest, f32::max);
        world.widest = world.agents.radius.iter().copied().fold(world.widest, f32::max);
        let horizon = reach.map(|reach| reach.time_horizon_obstacles).fold(world.dt as f32 * 2.0, f32::max);
        self.plan.wall_range = horizon * world.fastest + world.widest;
        let gaps =
            self.plan.gaps.iter().map(|ring| ring.iter().map(|&corner| corner - world.origin).collect());
        world.restore_map(Map {
            walls: walls(&self.plan.map, world.origin, self.plan.wall_range),
            terrain: terrain(&self.plan.map, world.origin),
            legs: self.stages.bodies.legs(),
            gaps: Gaps::new(gaps.collect::<Vec<_>>()),
        });
        self.pool.install(|| world.settle());
    }
}

fn plan(scenario: &Scenario) -> Plan {
    let first_id = scenario.cohorts.iter().scan(0, |next, cohort| {
        let first = *next;
        *next += cohort.agents.len() as u32;
        Some(first)
    });
    let changes_map = scenario.events.iter().any(|event| !matches!(event.action, Action::Retarget { .. }));
    Plan {
        name: scenario.name.clone(),
        seed: scenario.seed,
        source: scenario.source.clone(),
        until: scenario.until,
        agents: scenario.agent_count(),
        cohorts: scenario.cohorts.iter().map(|cohort| cohort.name.clone()).collect(),
        first_id: first_id.collect(),
        areas: scenario.areas.clone(),
        info: RunInfo::of(scenario),
        events: scenario.events.clone(),
        next_event: 0,
        map: scenario.map_for_bodies(),
        gaps: scenario.map.gaps.clone(),
        map_changes: 0,
        room: None,
        starts: if changes_map { scenario.starts() } else { Vec::new() },
        destinations: if changes_map { scenario.destinations() } else { Vec::new() },
        wall_range: 0.0,
        responsibility: scenario.cohorts.iter().map(|cohort| cohort.responsibility as f32).collect(),
        steered: false,
    }
}

pub(super) fn stages(scenario: &Scenario) -> Result<Stages, BuildError> {
    let pipeline = &scenario.pipeline;
    let unknown = |stage: catalog::Stage, title, name: &str| BuildError::UnknownModel {
        stage: title,
        name: name.into(),
        known: catalog::names(stage).join(", "),
    };
    let motion = catalog::motion(&pipeline.motion, &[&scenario.params])
        .ok_or_else(|| unknown(catalog::Stage::Motion, "motion", &pipeline.motion))?;
    let microscale = locals(scenario)?;
    let reads_flow = microscale.iter().any(|local| local.model.reads_flow());
    let macroscale = catalog::macroscale(&pipeline.macroscale, &scenario.params, &cohort_settings(scenario))
        .ok_or_else(|| unknown(catalog::Stage::Macroscale, "macroscale", &pipeline.macroscale))?;
    let mesoscale = mesoscale(scenario)?;
    Ok(Stages {
        // Whoever is turned from a plan that keeps clear of everybody has none.
        mesoscale: if macroscale.tasks().is_some_and(|tasks| tasks.keeps_clear()) {
            Vec::new()
        } else {
            mesoscale
        },
        macroscale,
        macroscale_name: pipeline.macroscale.clone(),
        world_field: reads_flow.then(|| catalog::with_settings(&[&scenario.params])),
        microscale,
        bodies: Bodies::new(motion, catalog::with_settings(&[&scenario.params])),
    })
}

fn mesoscale(scenario: &Scenario) -> Result<Vec<Box<dyn Mesoscale>>, BuildError> {
    let cohorts = cohort_settings(scenario);
    let model = |name: &String| {
        catalog::mesoscale(name, &scenario.params, &cohorts).ok_or_else(|| BuildError::UnknownModel {
            stage: "mesoscale",
            name: name.clone(),
            known: catalog::names(catalog::Stage::Mesoscale).join(", "),
        })
    };
    scenario.pipeline.mesoscale.iter().map(model).collect()
}

fn cohort_settings(scenario: &Scenario) -> Vec<&Settings> {
    scenario.cohorts.iter().map(|cohort| &cohort.params).collect()
}

/// One local model for all cohorts that share its name and its values.
fn locals(scenario: &Scenario) -> Result<Vec<Local>, BuildError> {
    let mut kinds: Vec<(&str, &Settings)> = Vec::new();
    let mut marked: Vec<Vec<bool>> = Vec::new();
    for (index, cohort) in scenario.cohorts.iter().enumerate() {
        let name = cohort.microscale.as_deref().unwrap_or(&scenario.pipeline.microscale);
        let kind = (name, &cohort.params);
        let place = kinds.iter().position(|&other| other == kind).unwrap_or_else(|| {
            kinds.push(kind);
            marked.push(vec![false; scenario.cohorts.len()]);
            kinds.len() - 1
        });
        marked[place][index] = true;
    }
    let alone = kinds.len() == 1;
    let mut locals = Vec::new();
    for ((name, settings), marked) in kinds.into_iter().zip(marked) {
        let model = catalog::microscale(name, &[&scenario.params, settings]).ok_or_else(|| {
            let known = catalog::names(catalog::Stage::Microscale).join(", ");
            BuildError::UnknownModel { stage: "microscale", name: name.into(), known }
        })?;
        locals.push(Local { model, cohorts: (!alone).then_some(marked) });
    }
    Ok(locals)
}

/// The middle of everything, so that positions are small numbers wherever the map lies.
fn origin(scenario: &Scenario) -> DVec2 {
    let (mut low, mut high) = (DVec2::MAX, DVec2::MIN);
    let mut see = |place: DVec2| (low, high) = (low.min(place), high.max(place));
    for agent in scenario.cohorts.iter().flat_map(|cohort| &cohort.agents) {
        see(agent.position);
    }
    let rings =
        scenario.map.obstacles.iter().map(|(_, ring)| ring).chain(scenario.map.walkable.iter().flatten());
    rings.chain(&scenario.map.gaps).chain(&scenario.map.walls).flatten().for_each(|&place| see(place));
    if low.cmple(high).all() { (low + high) / 2.0 } else { DVec2::ZERO }
}

fn populate(world: &mut World, scenario: &Scenario) {
    let origin = world.origin;
    world.seed = scenario.seed;
    for (index, cohort) in scenario.cohorts.iter().enumerate() {
        world.cohorts.push(shared(cohort, scenario, origin));
        for agent in &cohort.agents {
            let position = local(agent.position, origin);
            let goal = match agent.goal {
                Goal::Point(goal) => local(goal, origin),
                Goal::Area(_) => position,
            };
            world.agents.push(Agent {
                id: world.agents.len() as u32,
                slot: world.agents.len() as u32,
                x: position.x,
                y: position.y,
                vx: 0.0,
                vy: 0.0,
                goal_x: goal.x,
                goal_y: goal.y,
                radius: agent.radius as f32,
                preferred_speed: agent.preferred_speed as f32,
                max_speed: agent.max_speed as f32,
                responsibility: cohort.responsibility as f32,
                start: agent.start as f32,
                arrival: -1.0,
                walked: 0.0,
                frustration: SETTING_OFF,
                detour: Detour::default(),
                cohort: index as u16,
                status: if agent.start > 0.0 { Status::Waiting } else { Status::Walking },
            });
        }
    }
    world.radius_classes = world::radius_classes(&world.agents.radius, world::WIDEST_CLASS);
    for row in 0..world.agents.len() {
        world.extend_to(world.view().position(row));
    }
    extend_to_goals(world);
    world.movers = scenario
        .movers
        .iter()
        .map(|mover| Mover {
            radius: mover.radius as f32,
            path: mover.path.iter().map(|&(t, place)| (t, local(place, origin))).collect(),
            carries: mover.carries,
        })
        .collect();
    let link = |link: &scenario::Link| Link {
        from: local(link.from, origin),
        to: local(link.to, origin),
        cost: link.cost as f32,
        both_ways: link.both_ways,
    };
    world.links = scenario.links.iter().map(link).collect();
}

/// Lets the world's extent hold where everybody wants to be.
pub(super) fn extend_to_goals(world: &mut World) {
    for row in 0..world.agents.len() {
        world.extend_to(Vec2::new(world.agents.goal_x[row], world.agents.goal_y[row]));
    }
    let corners: Vec<Vec2> =
        world.cohorts.iter().filter_map(|cohort| cohort.area.clone()).flatten().collect();
    corners.into_iter().for_each(|corner| world.extend_to(corner));
}

fn shared(cohort: &Cohort, scenario: &Scenario, origin: DVec2) -> world::Cohort {
    world::Cohort {
        leaves: cohort.leaves,
        together: cohort.together,
        goal_radius: cohort.goal_radius as f32,
        arrive: cohort.arrive,
        area: cohort.agents.first().and_then(|agent| area(&scenario.areas, agent.goal, origin)),
    }
}

pub(super) fn area(areas: &[Vec<DVec2>], goal: Goal, origin: DVec2) -> Option<Vec<Vec2>> {
    match goal {
        Goal::Point(_) => None,
        Goal::Area(area) => {
            Some(areas.get(area as usize)?.iter().map(|&place| local(place, origin)).collect())
        }
    }
}

/// What bounds free space, as walls of the world.
pub(super) fn walls(map: &FloorPlan, origin: DVec2, range: f32) -> Walls {
    let boundary = scenario::boundary(map);
    let wall = |[a, b]: [DVec2; 2], two_sided| Wall { a: local(a, origin), b: local(b, origin), two_sided };
    let solid = boundary.edges().map(|edge| wall(edge, false));
    let open = boundary.walls.iter().map(|&edge| wall(edge, true));
    Walls::new(solid.chain(open).collect(), range)
}

/// Costly ground of the world.
fn terrain(map: &FloorPlan, origin: DVec2) -> Vec<Terrain> {
    let piece = |(ring, cost): &(Vec<DVec2>, f64)| Terrain {
        ring: ring.iter().map(|&corner| local(corner, origin)).collect(),
        cost: *cost as f32,
    };
    map.terrain.iter().map(piece).collect()
}
