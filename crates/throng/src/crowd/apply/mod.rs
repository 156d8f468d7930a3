//! The one place where a crowd is changed from outside: every edit, and the file that applies it.

mod agents;
mod checks;
mod cohorts;
mod destinations;
mod floor;
mod movers;
mod prepare;

pub(super) use checks::{check_area, check_cohort, check_number, check_periodic, check_settings};
pub(super) use prepare::Pending;

use super::Crowd;
use super::edit::{Edit, EditError, Made};

impl Crowd {
    /// Changes the crowd. All changes from outside go through here, and what is written down is what was applied.
    pub fn apply(&mut self, edit: Edit) -> Result<Made, EditError> {
        if self.state.log.is_none() {
            return self.change(edit);
        }
        let made = self.change(edit.clone())?;
        self.note(edit);
        Ok(made)
    }

    /// Writes an edit down that has been applied.
    pub(super) fn note(&mut self, edit: Edit) {
        let step = self.state.world.step;
        if let Some(log) = &mut self.state.log {
            log.edits.push((step, edit));
        }
    }

    fn change(&mut self, edit: Edit) -> Result<Made, EditError> {
        let done = |()| Made::Nothing;
        match edit {
            Edit::Spawn(agent) => self.create_agent(&agent).map(Made::Agent),
            Edit::Despawn(agent) => self.remove(agent).map(done),
            Edit::SetGoal { agent, goal } => self.change_goal(agent, goal).map(done),
            Edit::SetPreferredVelocity { agent, velocity } => self.steer(agent, velocity).map(done),
            Edit::SetPosition { agent, position } => self.teleport(agent, position).map(done),
            Edit::SetVelocity { agent, velocity } => self.change_velocity(agent, velocity).map(done),
            Edit::SetRadius { agent, radius } => self.change_radius(agent, radius).map(done),
            Edit::SetSpeed { agent, speed } => self.change_speed(agent, speed).map(done),
            Edit::SetMaxSpeed { agent, speed } => self.change_max_speed(agent, speed).map(done),
            Edit::AddCohort(cohort) => self.create_cohort(cohort).map(Made::Cohort),
            Edit::Retarget { cohort, goal } => self.change_goals(cohort, goal).map(done),
            Edit::AddDestination(destination) => self.create_destination(destination).map(Made::Destination),
            Edit::EndAt { destination, ends } => self.change_ending(destination, ends).map(done),
            Edit::Send { agent, destination, point } => self.dispatch(agent, destination, point).map(done),
            Edit::LetGo(agent) => self.release(agent).map(done),
            Edit::AddObstacle { name, ring } => self.create_obstacle(&name, ring).map(done),
            Edit::RemoveObstacle { name } => self.delete_obstacle(&name).map(done),
            Edit::SpawnMover(mover) => self.create_mover(&mover).map(Made::Mover),
            Edit::SetMover { mover, position, velocity } => self.drive(mover, position, velocity).map(done),
            Edit::DespawnMover(mover) => self.remove_mover(mover).map(done),
            Edit::SetModels(models) => self.change_models(*models).map(done),
            Edit::SetDt(dt) => self.change_dt(dt).map(done),
        }
    }
}

impl Edit {
    /// The same edit with handles of a crowd.
    pub(super) fn of_crowd(mut self, crowd: u32) -> Edit {
        match &mut self {
            Edit::Despawn(agent)
            | Edit::Send { agent, .. }
            | Edit::LetGo(agent)
            | Edit::SetGoal { agent, .. }
            | Edit::SetPreferredVelocity { agent, .. }
            | Edit::SetPosition { agent, .. }
            | Edit::SetVelocity { agent, .. }
            | Edit::SetRadius { agent, .. }
            | Edit::SetSpeed { agent, .. }
            | Edit::SetMaxSpeed { agent, .. } => agent.crowd = crowd,
            Edit::SetMover { mover, .. } | Edit::DespawnMover(mover) => mover.crowd = crowd,
            Edit::Spawn(_)
            | Edit::AddCohort(_)
            | Edit::AddDestination(_)
            | Edit::EndAt { .. }
            | Edit::Retarget { .. }
            | Edit::AddObstacle { .. }
            | Edit::RemoveObstacle { .. }
            | Edit::SpawnMover(_)
            | Edit::SetModels(_)
            | Edit::SetDt(_) => {}
        }
        self
    }
}
