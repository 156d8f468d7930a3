//! Edits of destinations, and of agents that are sent there.

use super::checks::{check_area, check_number, check_place, checked_area};
use crate::crowd::agent::{AgentId, Destination, DestinationId};
use crate::crowd::edit::EditError;
use crate::crowd::{Crowd, local};
use glam::DVec2;
use throng_core::world;

impl Crowd {
    pub(super) fn create_destination(&mut self, added: Destination) -> Result<DestinationId, EditError> {
        check_number("goal_radius", added.goal_radius, 0.0)?;
        check_number("for_radius", added.for_radius, 0.0)?;
        check_area(&self.state.floor.map, added.area.is_some())?;
        let area = added.area.as_deref().map(checked_area).transpose()?;
        let number = u16::try_from(self.state.world.destinations.len() + 1);
        let number = number.map_err(|_| EditError::TooMany("65535 destinations"))?;
        area.iter().flatten().take(1).for_each(|&corner| self.choose_origin(corner));
        let origin = self.state.world.origin;
        let placed = |ring: Vec<DVec2>| {
            let wide = self.state.floor.placement(origin).widened(&ring, added.for_radius);
            wide.unwrap_or(ring).into_iter().map(|corner| local(corner, origin)).collect()
        };
        let area: Option<Vec<_>> = area.map(placed);
        area.iter().flatten().for_each(|&corner| self.state.world.extend_to(corner));
        let (goal_radius, ends) = (added.goal_radius as f32, added.ends);
        self.state.world.destinations.push(world::Destination { area, goal_radius, ends });
        Ok(DestinationId(number))
    }

    fn destination(&mut self, id: DestinationId) -> Result<&mut world::Destination, EditError> {
        let destinations = &mut self.state.world.destinations;
        let count = destinations.len();
        let found = usize::from(id.0).checked_sub(1).and_then(|index| destinations.get_mut(index));
        found.ok_or(EditError::UnknownDestination { count })
    }

    pub(super) fn change_ending(&mut self, destination: DestinationId, ends: bool) -> Result<(), EditError> {
        self.destination(destination)?.ends = ends;
        Ok(())
    }

    pub(super) fn dispatch(
        &mut self,
        agent: AgentId,
        destination: DestinationId,
        point: Option<DVec2>,
    ) -> Result<(), EditError> {
        let row = self.row(agent)?;
        if self.destination(destination)?.area.is_none() != point.is_some() {
            return Err(EditError::NoPoint);
        }
        if let Some(point) = point {
            check_place("goal", point)?;
            let goal = local(point, self.state.world.origin);
            let agents = &mut self.state.world.agents;
            (agents.goal_x[row], agents.goal_y[row]) = goal.into();
            self.state.world.extend_to(goal);
            self.state.pending.retargeted.push(agent.slot);
        }
        self.state.world.agents.destination[row] = destination.0;
        self.set_off(row);
        Ok(())
    }

    pub(super) fn release(&mut self, agent: AgentId) -> Result<(), EditError> {
        let row = self.row(agent)?;
        self.stages.forget(agent.slot);
        self.state.world.let_go(row);
        Ok(())
    }
}
