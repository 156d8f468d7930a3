//! Edits of agents.

use super::checks::{check_figures, check_number, check_place, check_velocity};
use crate::crowd::agent::{Agent, AgentId};
use crate::crowd::edit::EditError;
use crate::crowd::{Crowd, local};
use glam::DVec2;
use throng_core::memory::Change;
use throng_core::world::{self, Status};

impl Crowd {
    /// The row of an agent; an error where the handle is stale or of another crowd.
    pub(in crate::crowd) fn row(&self, agent: AgentId) -> Result<usize, EditError> {
        if agent.crowd != self.state.tag {
            return Err(EditError::ForeignHandle);
        }
        if self.state.world.slots().generation(agent.slot) != Some(agent.generation) {
            return Err(EditError::StaleHandle);
        }
        self.state.world.row(agent.slot).ok_or(EditError::StaleHandle)
    }

    /// The handle of an agent that is present.
    pub(crate) fn handle(&self, slot: u32) -> AgentId {
        let generation = self.state.world.slots().generation(slot).unwrap_or_default();
        AgentId { crowd: self.state.tag, slot, generation }
    }

    pub(super) fn create_agent(&mut self, agent: &Agent) -> Result<AgentId, EditError> {
        self.has_cohort(agent.cohort)?;
        check_figures(agent)?;
        self.state.floor.check_free("position", agent.position, self.state.world.origin)?;
        if let Some(goal) = agent.goal {
            check_place("goal", goal)?;
        }
        self.choose_origin(agent.position);
        self.join(agent)
    }

    /// Takes in agents that were checked before.
    #[cfg(feature = "scenario")]
    pub(crate) fn populate(&mut self, agents: impl Iterator<Item = Agent>) -> Result<(), EditError> {
        for agent in agents {
            self.join(&agent)?;
        }
        self.state.world.classify_radii();
        Ok(())
    }

    fn join(&mut self, agent: &Agent) -> Result<AgentId, EditError> {
        let (now, origin) = (self.state.world.time(), self.state.world.origin);
        let goal = agent.goal.unwrap_or(agent.position);
        let joining = joining(agent, origin, now);
        let (fastest, widest) = (self.state.world.fastest, self.state.world.widest);
        let slot = self.state.world.spawn(joining).ok_or(EditError::TooMany("4294967295 agents, ever"))?;
        self.state.world.extend_to(local(agent.position, origin));
        self.state.world.extend_to(local(goal, origin));
        self.state.floor.draw_around(agent.position);
        self.state.floor.draw_around(goal);
        self.state.world.plan_for_radius(joining.radius);
        self.state.pending.reach |= self.state.world.fastest > fastest || self.state.world.widest > widest;
        self.state.pending.moved.push(slot);
        self.state.pending.retargeted.push(slot);
        Ok(self.handle(slot))
    }

    pub(super) fn remove(&mut self, agent: AgentId) -> Result<(), EditError> {
        let row = self.row(agent)?;
        self.stages.forget(agent.slot);
        self.state.world.despawn(row);
        Ok(())
    }

    pub(super) fn change_goal(&mut self, agent: AgentId, goal: DVec2) -> Result<(), EditError> {
        let row = self.row(agent)?;
        check_place("goal", goal)?;
        let goal = local(goal, self.state.world.origin);
        let agents = &mut self.state.world.agents;
        (agents.goal_x[row], agents.goal_y[row]) = goal.into();
        agents.destination[row] = 0;
        self.state.world.extend_to(goal);
        self.set_off(row);
        self.state.pending.retargeted.push(agent.slot);
        Ok(())
    }

    pub(super) fn steer(&mut self, agent: AgentId, velocity: Option<DVec2>) -> Result<(), EditError> {
        let row = self.row(agent)?;
        if let Some(velocity) = velocity {
            check_velocity(velocity)?;
            // A steered agent neither waits nor has arrived.
            let agents = &mut self.state.world.agents;
            if agents.status[row] != Status::Walking {
                (agents.status[row], agents.arrival[row]) = (Status::Walking, -1.0);
                self.state.world.refresh(row);
            }
        }
        self.state.world.steer(row, velocity.map(|velocity| velocity.as_vec2()));
        Ok(())
    }

    pub(super) fn teleport(&mut self, agent: AgentId, position: DVec2) -> Result<(), EditError> {
        let row = self.row(agent)?;
        let origin = self.state.world.origin;
        self.state.floor.check_free("position", position, origin)?;
        let position = local(position, origin);
        (self.state.world.agents.x[row], self.state.world.agents.y[row]) = position.into();
        self.state.world.fold_row(row);
        self.state.world.extend_to(position);
        self.state.world.unsort();
        self.stages.note(agent.slot, Change::Moved);
        self.state.pending.moved.push(agent.slot);
        Ok(())
    }

    pub(super) fn change_velocity(&mut self, agent: AgentId, velocity: DVec2) -> Result<(), EditError> {
        let row = self.row(agent)?;
        check_velocity(velocity)?;
        let velocity = velocity.as_vec2();
        (self.state.world.agents.vx[row], self.state.world.agents.vy[row]) = velocity.into();
        self.state.world.refresh(row);
        Ok(())
    }

    pub(super) fn change_radius(&mut self, agent: AgentId, radius: f64) -> Result<(), EditError> {
        let row = self.row(agent)?;
        check_number("radius", radius, 0.0)?;
        let radius = radius as f32;
        self.state.world.agents.radius[row] = radius;
        self.state.pending.reach |= radius > self.state.world.widest;
        self.state.world.widest = self.state.world.widest.max(radius);
        self.state.world.plan_for_radius(radius);
        self.state.pending.moved.push(agent.slot);
        self.state.world.refresh(row);
        Ok(())
    }

    pub(super) fn change_speed(&mut self, agent: AgentId, speed: f64) -> Result<(), EditError> {
        let row = self.row(agent)?;
        check_number("speed", speed, 0.0)?;
        self.state.world.agents.preferred_speed[row] = speed as f32;
        let max_speed = self.state.world.agents.max_speed[row].max(speed as f32);
        self.limit_speed(row, max_speed);
        Ok(())
    }

    pub(super) fn change_max_speed(&mut self, agent: AgentId, speed: f64) -> Result<(), EditError> {
        let row = self.row(agent)?;
        check_number("max_speed", speed, 0.0)?;
        let preferred = &mut self.state.world.agents.preferred_speed[row];
        *preferred = preferred.min(speed as f32);
        self.limit_speed(row, speed as f32);
        Ok(())
    }

    fn limit_speed(&mut self, row: usize, max_speed: f32) {
        self.state.world.agents.max_speed[row] = max_speed;
        self.state.pending.reach |= max_speed > self.state.world.fastest;
        self.state.world.fastest = self.state.world.fastest.max(max_speed);
    }

    /// An agent with another goal forgets what it did for the one before, and walks again where it had arrived.
    pub(super) fn set_off(&mut self, row: usize) {
        let agents = &mut self.state.world.agents;
        if agents.status[row] == Status::Arrived {
            (agents.status[row], agents.arrival[row]) = (Status::Walking, -1.0);
        }
        self.stages.note(agents.slot[row], Change::Retargeted);
        self.state.world.refresh(row);
    }
}

/// An agent as the world has it.
fn joining(agent: &Agent, origin: DVec2, now: f64) -> world::Agent {
    let (position, velocity) = (local(agent.position, origin), agent.velocity.as_vec2());
    let goal = local(agent.goal.unwrap_or(agent.position), origin);
    let max_speed = agent.top_speed() as f32;
    world::Agent {
        id: 0,
        slot: 0,
        x: position.x,
        y: position.y,
        vx: velocity.x,
        vy: velocity.y,
        goal_x: goal.x,
        goal_y: goal.y,
        radius: agent.radius as f32,
        preferred_speed: (agent.preferred_speed as f32).min(max_speed),
        max_speed,
        responsibility: agent.responsibility as f32,
        start: (now + agent.delay) as f32,
        arrival: -1.0,
        walked: 0.0,
        cohort: agent.cohort.0,
        destination: 0,
        status: if agent.delay > 0.0 { Status::Waiting } else { Status::Walking },
    }
}
