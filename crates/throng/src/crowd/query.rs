//! Questions to a crowd. None of them changes anything, and none runs a stage.

use super::agent::{AgentId, CohortId, MoverId};
use super::apply::check_number;
use super::edit::EditError;
use super::floor::is_within_reach;
use super::{Crowd, local};
use crate::metrics::{self, Overlaps};
use glam::{DVec2, Vec2};
use std::any::Any;
use std::ops::Deref;
use throng_core::memory::{Memory, Remembered};
use throng_core::world::{Agents, Departure, Status};
use throng_macroscale::multi_domain::TaskRecord;

/// One agent of a crowd, to be looked at.
#[derive(Clone, Copy)]
pub struct AgentRef<'a> {
    crowd: &'a Crowd,
    row: usize,
}

/// Everything of all agents as slices, in one order of rows; see [`Agents`] for what there is. Positions and goals are m from
/// `origin`.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// What must be added for the caller's coordinates.
    pub origin: DVec2,
    agents: &'a Agents,
}

impl Deref for Columns<'_> {
    type Target = Agents;

    fn deref(&self) -> &Agents {
        self.agents
    }
}

/// A path between two places, both ends included. Without points where there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path(Vec<DVec2>);

impl Path {
    /// Whether there is a path.
    pub fn is_found(&self) -> bool {
        !self.0.is_empty()
    }

    /// Its length, m.
    pub fn length(&self) -> f64 {
        self.0.windows(2).map(|pair| pair[0].distance(pair[1])).sum()
    }
}

impl Deref for Path {
    type Target = [DVec2];

    fn deref(&self) -> &[DVec2] {
        &self.0
    }
}

impl Crowd {
    /// How many agents are present.
    pub fn len(&self) -> usize {
        self.state.world.agents.len()
    }

    /// Whether no agent is present.
    pub fn is_empty(&self) -> bool {
        self.state.world.agents.is_empty()
    }

    /// Every agent that is present, in the engine's order.
    pub fn agents(&self) -> impl ExactSizeIterator<Item = AgentRef<'_>> {
        (0..self.len()).map(|row| AgentRef { crowd: self, row })
    }

    /// One agent.
    pub fn agent(&self, agent: AgentId) -> Result<AgentRef<'_>, EditError> {
        Ok(AgentRef { crowd: self, row: self.row(agent)? })
    }

    /// Whether the agent of a handle is present.
    pub fn contains(&self, agent: AgentId) -> bool {
        self.row(agent).is_ok()
    }

    /// Where an agent is, m.
    pub fn position(&self, agent: AgentId) -> Result<DVec2, EditError> {
        Ok(self.agent(agent)?.position())
    }

    /// An agent's velocity, m/s.
    pub fn velocity(&self, agent: AgentId) -> Result<DVec2, EditError> {
        Ok(self.agent(agent)?.velocity())
    }

    /// Where an agent looks, as a unit vector.
    pub fn heading(&self, agent: AgentId) -> Result<DVec2, EditError> {
        Ok(self.agent(agent)?.heading())
    }

    /// What an agent is doing.
    pub fn status(&self, agent: AgentId) -> Result<Status, EditError> {
        Ok(self.agent(agent)?.status())
    }

    /// Where an agent wants to be, m.
    pub fn goal(&self, agent: AgentId) -> Result<DVec2, EditError> {
        Ok(self.agent(agent)?.goal())
    }

    /// Everything of all agents as slices, for copies in one go.
    pub fn columns(&self) -> Columns<'_> {
        Columns { origin: self.state.world.origin, agents: &self.state.world.agents }
    }

    /// The agents whose middles are within a radius of a place, m, nearest first.
    pub fn neighbors(&self, place: impl Into<DVec2>, radius: f64) -> Vec<AgentId> {
        let (place, radius) = (local(place.into(), self.state.world.origin), radius as f32);
        let mut found: Vec<(f32, u32, u32)> = Vec::new();
        let (agents, period) = (&self.state.world.agents, self.state.world.period());
        // Nothing is near a place that is no number, and all are within a radius that is endless.
        let radius = if place.is_finite() { radius.clamp(0.0, f32::MAX) } else { return Vec::new() };
        self.state.world.rows_near(place, radius, |row| {
            let other = Vec2::new(agents.x[row], agents.y[row]);
            let distance = period.nearest(other - place).length_squared();
            if distance <= radius * radius {
                found.push((distance, agents.id[row], agents.slot[row]));
            }
        });
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|(_, _, slot)| self.handle(slot)).collect()
    }

    /// Whether a place is free: within the walkable area, and in no obstacle.
    pub fn is_walkable(&self, place: impl Into<DVec2>) -> bool {
        let place = place.into();
        is_within_reach(place) && self.state.floor.placement(self.state.world.origin).is_free(place)
    }

    /// Whether a body of a radius, m, would touch no wall.
    pub fn is_clear_of_walls(&self, place: impl Into<DVec2>, radius: f64) -> bool {
        let place = place.into();
        is_within_reach(place) && self.state.floor.placement(self.state.world.origin).has_room(place, radius)
    }

    /// Whether a body of a radius, m, would touch no agent and no scripted body.
    pub fn is_clear(&self, place: impl Into<DVec2>, radius: f64) -> bool {
        let (place, radius) = (local(place.into(), self.state.world.origin), radius as f32);
        let world = &self.state.world;
        let apart = |other: Vec2| world.period().nearest(other - place).length();
        let mut clear =
            world.view().movers.iter().all(|mover| apart(mover.position) >= radius + mover.radius);
        world.rows_near(place, radius + world.widest, |row| {
            let other = Vec2::new(world.agents.x[row], world.agents.y[row]);
            clear &= apart(other) >= radius + world.agents.radius[row];
        });
        clear
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.state.world.time()
    }

    /// How many steps have been taken.
    pub fn steps(&self) -> u64 {
        self.state.world.step
    }

    /// The agents that have left since the last step began: arrived and gone, or despawned.
    pub fn departures(&self) -> &[Departure] {
        self.state.world.departures()
    }

    /// Where a body that avoids nobody is, m.
    pub fn mover_position(&self, mover: MoverId) -> Result<DVec2, EditError> {
        let state =
            self.state.world.movers()[self.mover_index(mover)?].state(self.time(), self.state.world.dt());
        let state = state.folded(self.state.world.period());
        Ok(self.state.world.origin + state.position.as_dvec2())
    }

    /// What a cohort is called.
    pub fn cohort_name(&self, cohort: CohortId) -> Option<&str> {
        self.state.cohort_names.get(usize::from(cohort.0)).map(String::as_str)
    }

    /// What cohorts are called.
    pub fn cohort_names(&self) -> &[String] {
        &self.state.cohort_names
    }

    /// The numbers of agents that had no path to their goals in the last step, ascending.
    pub fn unreachable(&self) -> &[u32] {
        &self.state.unreachable
    }

    /// The shortest path between two places for a body of 0.25 m, as the planner finds it: the straight line where it plans
    /// none.
    pub fn path(&self, from: impl Into<DVec2>, to: impl Into<DVec2>) -> Result<Path, EditError> {
        self.path_for(from, to, 0.25)
    }

    /// The same for a body of a radius, m.
    pub fn path_for(
        &self,
        from: impl Into<DVec2>,
        to: impl Into<DVec2>,
        radius: f64,
    ) -> Result<Path, EditError> {
        let (from, to, origin) = (from.into(), to.into(), self.state.world.origin);
        self.state.floor.check_free("start of a path", from, origin)?;
        self.state.floor.check_free("end of a path", to, origin)?;
        check_number("radius", radius, 0.0)?;
        let (local_from, local_to) = (local(from, origin), local(to, origin));
        let path = self.stages.macroscale.path(self.state.world.view(), local_from, local_to, radius as f32);
        let Some(path) = path else { return Ok(Path::default()) };
        let mut points: Vec<DVec2> = path.iter().map(|place| origin + place.as_dvec2()).collect();
        // As the caller gave them, without what single precision took.
        if let [first, .., last] = &mut points[..] {
            (*first, *last) = (from, to);
        }
        Ok(Path(points))
    }

    /// Whether the same edits always give the same run: not where time on the clock decides what is planned.
    pub fn is_reproducible(&self) -> bool {
        self.stages.macroscale.is_reproducible()
    }

    /// Which agents were planned for in the last step, in order, where the planner shares out its time.
    pub fn serviced(&self) -> &[TaskRecord] {
        self.stages.macroscale.tasks().map_or(&[], |tasks| tasks.serviced())
    }

    /// What plans take of the memory, bytes.
    pub fn planner_bytes(&self) -> usize {
        let macroscale = &self.stages.macroscale;
        let remembered = macroscale.memory().map_or(0, |memory| memory.bytes());
        remembered + macroscale.tasks().map_or(0, |tasks| tasks.bytes())
    }

    /// Pairs that overlap now.
    pub fn overlaps(&self) -> Overlaps {
        let count = || match self.state.world.is_sorted() {
            true => metrics::overlaps(self.state.world.view()),
            // Between a change and the next step the index is not up to date.
            false => {
                let mut world = self.state.world.clone();
                world.sort_rows();
                metrics::overlaps(world.view())
            }
        };
        self.pool.as_ref().map_or_else(count, |pool| pool.install(count))
    }

    /// A number that differs whenever the state differs in a bit.
    pub fn state_hash(&self) -> u64 {
        self.state.world.state_hash(self.stages.memory_hash())
    }
}

impl<'a> AgentRef<'a> {
    /// Its handle.
    pub fn id(&self) -> AgentId {
        self.crowd.handle(self.agents().slot[self.row])
    }

    /// Its number in recordings: counts up from 0 in the order of coming, and is never used again.
    pub fn number(&self) -> u32 {
        self.agents().id[self.row]
    }

    /// Where it is, m.
    pub fn position(&self) -> DVec2 {
        let place = Vec2::new(self.agents().x[self.row], self.agents().y[self.row]);
        self.crowd.state.world.origin + place.as_dvec2()
    }

    /// Its velocity, m/s.
    pub fn velocity(&self) -> DVec2 {
        Vec2::new(self.agents().vx[self.row], self.agents().vy[self.row]).as_dvec2()
    }

    /// Where it looks, as a unit vector: where it walks to, or, while it stands, towards its goal.
    pub fn heading(&self) -> DVec2 {
        let velocity = self.velocity();
        let walks = velocity.length() > 0.05 * f64::from(self.agents().preferred_speed[self.row]);
        let towards = if walks { velocity } else { self.goal() - self.position() };
        towards.normalize_or(DVec2::X)
    }

    /// Where it wants to be, m; of an area, the point of its edge that is closest.
    pub fn goal(&self) -> DVec2 {
        self.crowd.state.world.origin + self.crowd.state.world.view().goal(self.row).as_dvec2()
    }

    /// Its body, m.
    pub fn radius(&self) -> f64 {
        self.agents().radius[self.row].into()
    }

    /// The speed at which it walks freely, m/s.
    pub fn speed(&self) -> f64 {
        self.agents().preferred_speed[self.row].into()
    }

    /// What it is doing.
    pub fn status(&self) -> Status {
        self.agents().status[self.row]
    }

    /// The cohort that it belongs to.
    pub fn cohort(&self) -> CohortId {
        CohortId(self.agents().cohort[self.row])
    }

    /// The velocity that the caller prefers for it, m/s, where it is steered.
    pub fn preferred_velocity(&self) -> Option<DVec2> {
        self.crowd.state.world.steering().of(self.agents().slot[self.row]).map(|velocity| velocity.as_dvec2())
    }

    fn agents(&self) -> &Agents {
        &self.crowd.state.world.agents
    }

    /// What a model of that name remembers of it; `headway` remembers for all local models. `None` where there is no such
    /// model, or where it remembers something else.
    pub fn remembered<T: Remembered>(&self, model: &str) -> Option<&'a T> {
        let (_, memory) = self.crowd.stages.memories().find(|&(name, _)| name == model)?;
        let memory: &Memory<T> = (memory as &dyn Any).downcast_ref()?;
        Some(memory.get(self.agents().slot[self.row]))
    }
}
