//! Steering a simulation while it runs: what a viewer or a game does to it from outside, between two steps.
//!
//! A simulation that is steered is no longer the run of its scenario, and so cannot be saved to a checkpoint; one that is not
//! steered is untouched by all this. The same steering between the same steps gives the same bits.

use super::room::Whose;
use super::{Simulation, build, local};
use crate::scenario::{AgentStart, FloorPlan, Goal, Region, Scenario, boundary};
use glam::DVec2;
use throng_core::world::{self, Agent, Detour, SETTING_OFF, Status};

/// Why a simulation cannot be steered that way.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SteerError {
    /// No such cohort.
    #[error("there is no cohort {cohort}; there are {count}, counted from 0")]
    UnknownCohort {
        /// As given.
        cohort: usize,
        /// How many there are.
        count: usize,
    },
    /// An obstacle of that name stands already.
    #[error("an obstacle `{0}` is there already; choose another name")]
    NameTaken(String),
    /// No obstacle of that name stands.
    #[error("there is no obstacle `{0}`")]
    UnknownObstacle(String),
    /// A ring that is none.
    #[error("an obstacle needs two different corners or more, all of them within 1e9 m")]
    BadRing,
    /// An obstacle over all that was free.
    #[error("obstacle `{0}` covers the whole walkable area; leave somewhere to walk")]
    NothingLeft(String),
    /// A place where nobody can be.
    #[error("({}, {}) is not free", .0.x, .0.y)]
    NotFree(DVec2),
    /// A figure that no body can have.
    #[error("an agent's {name} must be above 0 and finite, and is {value}")]
    BadFigure {
        /// Which.
        name: &'static str,
        /// As given.
        value: f64,
    },
    /// Ids are used up.
    #[error("there cannot be more than {} agents", u32::MAX)]
    TooMany,
    /// The scenario is another one.
    #[error("only models and parameters can be changed on the way; this scenario has other cohorts")]
    OtherScenario,
    /// A model that cannot be made.
    #[error("{0}")]
    Build(String),
}

/// Coordinates beyond this are a mistake, as in scenario files, m.
const FARTHEST: f64 = 1e9;

impl Simulation {
    /// Whether it has been steered.
    pub fn is_steered(&self) -> bool {
        self.plan.steered
    }

    /// Puts an obstacle on the map.
    pub fn add_obstacle(&mut self, name: &str, ring: &[DVec2]) -> Result<(), SteerError> {
        if self.plan.map.obstacles.iter().any(|(other, _)| other == name) {
            return Err(SteerError::NameTaken(name.into()));
        }
        if !ring.iter().all(|&corner| within_reach(corner)) || ring.iter().all(|&corner| corner == ring[0]) {
            return Err(SteerError::BadRing);
        }
        let mut map = self.plan.map.clone();
        map.obstacles.push((name.into(), ring.to_vec()));
        if boundary(&map).is_blocked() {
            return Err(SteerError::NothingLeft(name.into()));
        }
        self.change_map(map);
        Ok(())
    }

    /// Takes an obstacle off the map.
    pub fn remove_obstacle(&mut self, name: &str) -> Result<(), SteerError> {
        let Some(place) = self.plan.map.obstacles.iter().position(|(other, _)| other == name) else {
            return Err(SteerError::UnknownObstacle(name.into()));
        };
        let mut map = self.plan.map.clone();
        map.obstacles.remove(place);
        self.change_map(map);
        Ok(())
    }

    /// Sends every member of a cohort to one place.
    pub fn retarget(&mut self, cohort: usize, goal: DVec2) -> Result<(), SteerError> {
        self.check_cohort(cohort)?;
        self.check_free(&[goal])?;
        let goal = local(goal, self.world.origin);
        self.world.cohorts[cohort].area = None;
        let agents = &mut self.world.agents;
        for row in (0..agents.len()).filter(|&row| usize::from(agents.cohort[row]) == cohort) {
            (agents.goal_x[row], agents.goal_y[row]) = goal.into();
        }
        self.make_room(&[cohort], Whose::Nobody);
        self.set_off(cohort);
        Ok(())
    }

    /// Moves the goals of every member of a cohort, points or the area that they share.
    pub fn move_goals(&mut self, cohort: usize, by: DVec2) -> Result<(), SteerError> {
        self.check_cohort(cohort)?;
        if !within_reach(by) {
            return Err(SteerError::NotFree(by));
        }
        let by = by.as_vec2();
        for corner in self.world.cohorts[cohort].area.iter_mut().flatten() {
            *corner += by;
        }
        let agents = &mut self.world.agents;
        for row in (0..agents.len()).filter(|&row| usize::from(agents.cohort[row]) == cohort) {
            agents.goal_x[row] += by.x;
            agents.goal_y[row] += by.y;
        }
        self.make_room(&[cohort], Whose::Nobody);
        self.set_off(cohort);
        Ok(())
    }

    /// Adds members to a cohort, who begin to walk now or at their start if that is later. Where the cohort goes to an area,
    /// they go there too. Returns the first one's id; the others' follow.
    pub fn add_agents(&mut self, cohort: usize, agents: &[AgentStart]) -> Result<u32, SteerError> {
        self.check_cohort(cohort)?;
        agents.iter().try_for_each(check_figures)?;
        let places: Vec<DVec2> = agents.iter().map(|agent| agent.position).collect();
        self.check_free(&places)?;
        let first = u32::try_from(self.plan.agents).map_err(|_| SteerError::TooMany)?;
        if self.plan.agents + agents.len() > u32::MAX as usize {
            return Err(SteerError::TooMany);
        }
        let responsibility = self.plan.responsibility[cohort];
        for (id, agent) in (first..).zip(agents) {
            let agent = self.joining(id, cohort, agent, responsibility);
            self.world.agents.push(agent);
        }
        self.plan.agents += agents.len();
        self.plan.steered = true;
        let radii: Vec<f32> =
            self.world.radius_classes.iter().chain(&self.world.agents.radius).copied().collect();
        self.world.radius_classes = world::radius_classes(&radii, world::WIDEST_CLASS);
        self.make_room(&[], Whose::Since(first));
        self.settle();
        Ok(first)
    }

    /// Puts other models, or the same with other parameters, in the place of those that run: the pipeline, `params` and
    /// cohorts' own models of a scenario that is otherwise that of the simulation.
    pub fn change_models(&mut self, scenario: &Scenario) -> Result<(), SteerError> {
        if scenario.cohorts.len() != self.plan.cohorts.len() {
            return Err(SteerError::OtherScenario);
        }
        let mut stages = build::stages(scenario).map_err(|error| SteerError::Build(error.to_string()))?;
        if stages.macroscale_name == self.stages.macroscale_name
            && let Some((old, new)) = self.stages.macroscale.memory().zip(stages.macroscale.memory_mut())
        {
            new.load(&old.save()).map_err(|error| SteerError::Build(error.to_string()))?;
        }
        self.stages = stages;
        self.plan.steered = true;
        self.settle();
        Ok(())
    }

    fn joining(&self, id: u32, cohort: usize, agent: &AgentStart, responsibility: f32) -> Agent {
        let (origin, now) = (self.world.origin, self.world.time());
        let position = local(agent.position, origin);
        let goal = match agent.goal {
            Goal::Point(goal) => local(goal, origin),
            Goal::Area(_) => position,
        };
        Agent {
            id,
            slot: id,
            x: position.x,
            y: position.y,
            vx: 0.0,
            vy: 0.0,
            goal_x: goal.x,
            goal_y: goal.y,
            radius: agent.radius as f32,
            preferred_speed: agent.preferred_speed as f32,
            max_speed: agent.max_speed as f32,
            responsibility,
            start: agent.start.max(now) as f32,
            arrival: -1.0,
            walked: 0.0,
            frustration: SETTING_OFF,
            detour: Detour::default(),
            cohort: cohort as u16,
            status: if agent.start > now { Status::Waiting } else { Status::Walking },
        }
    }

    fn check_cohort(&self, cohort: usize) -> Result<(), SteerError> {
        let count = self.plan.cohorts.len();
        if cohort < count { Ok(()) } else { Err(SteerError::UnknownCohort { cohort, count }) }
    }

    fn check_free(&self, places: &[DVec2]) -> Result<(), SteerError> {
        let region = Region::new(&boundary(&self.plan.map));
        let taken = places.iter().find(|&&place| !within_reach(place) || !region.is_free(place));
        taken.map_or(Ok(()), |&place| Err(SteerError::NotFree(place)))
    }

    /// Members of a cohort forget how they went round what was in their way and where they were led, and those who had arrived
    /// walk again.
    fn set_off(&mut self, cohort: usize) {
        self.plan.steered = true;
        let agents = &mut self.world.agents;
        for row in (0..agents.len()).filter(|&row| usize::from(agents.cohort[row]) == cohort) {
            agents.detour[row] = Detour::default();
            self.stages
                .macroscale
                .memory_mut()
                .into_iter()
                .for_each(|memory| memory.retarget(agents.slot[row]));
            if agents.status[row] == Status::Arrived {
                (agents.status[row], agents.arrival[row]) = (Status::Walking, -1.0);
            }
        }
    }

    fn change_map(&mut self, map: FloorPlan) {
        // An endless plane is drawn around somebody: where the scenario was not going to change its map, nobody was noted.
        if self.plan.starts.is_empty() {
            let frame = self.frame();
            self.plan.starts = (0..frame.len()).map(|row| frame.position(row)).collect();
        }
        let before = std::mem::replace(&mut self.plan.map, map);
        self.plan.steered = true;
        self.plan.map_changes += 1;
        self.make_room(&[], Whose::FreeOn(&before));
        self.world.set_walls(build::walls(&self.plan.map, self.world.origin, self.plan.wall_range));
    }
}

fn check_figures(agent: &AgentStart) -> Result<(), SteerError> {
    let figures = [
        ("radius", agent.radius),
        ("preferred speed", agent.preferred_speed),
        ("max speed", agent.max_speed),
    ];
    let sane = |value: f64| value.is_finite() && value > 0.0 && value <= FARTHEST;
    match figures.into_iter().find(|&(_, value)| !sane(value)) {
        Some((name, value)) => Err(SteerError::BadFigure { name, value }),
        None => Ok(()),
    }
}

fn within_reach(place: DVec2) -> bool {
    // False for NaN too.
    place.x.abs() <= FARTHEST && place.y.abs() <= FARTHEST
}
