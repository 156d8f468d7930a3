//! The one place where a crowd is changed from outside, and what is left to be done before the next step.

use super::agent::{Agent, AgentId, Cohort, CohortId, Mover, MoverId, MoverMotion};
use super::edit::{CohortGoal, Edit, EditError, Made};
use super::floor::{FARTHEST, Floor, is_within_reach};
use super::placement::Placement;
use super::{Crowd, local};
use crate::catalog;
use crate::map::without_repeats;
use crate::pipeline::{Models, Settings, Stages};
use glam::{DVec2, Vec2};
use serde::{Deserialize, Serialize};
use throng_core::memory::Change;
use throng_core::params;
use throng_core::world::{self, Status, World};

/// What edits have left to be done before the next step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Pending {
    /// The floor as it was when the last step began, where it has changed.
    floor_before: Option<Box<Floor>>,
    /// Slots of agents that have come or were moved: they may stand in a wall.
    moved: Vec<u32>,
    /// Slots of agents with other goals, on which no body may fit.
    retargeted: Vec<u32>,
    /// Cohorts with other areas.
    areas: Vec<u16>,
    /// Whether radii, speeds or models have changed, so that walls may be seen from further away.
    reach: bool,
}

/// A crowd without a map is kept relative to a multiple of this, m: single precision holds 30 µm half as far away.
const ORIGINS_APART: f64 = 1024.0;
/// A body that the caller moves keeps its velocity for so long, s.
const KEEPS_VELOCITY: f64 = 10.0;

impl Crowd {
    /// Changes the crowd. All changes from outside go through here, and what is written down is what was applied.
    pub fn apply(&mut self, edit: Edit) -> Result<Made, EditError> {
        if self.log.is_none() {
            return self.change(edit);
        }
        let made = self.change(edit.clone())?;
        self.note(edit);
        Ok(made)
    }

    /// Writes an edit down that has been applied.
    pub(super) fn note(&mut self, edit: Edit) {
        let step = self.world.step;
        if let Some(log) = &mut self.log {
            log.edits.push((step, edit));
        }
    }

    fn change(&mut self, edit: Edit) -> Result<Made, EditError> {
        let done = |()| Made::Nothing;
        match edit {
            Edit::Spawn(agent) => self.let_come(&agent).map(Made::Agent),
            Edit::Despawn(agent) => self.remove(agent).map(done),
            Edit::SetGoal { agent, goal } => self.change_goal(agent, goal).map(done),
            Edit::SetPreferredVelocity { agent, velocity } => self.steer(agent, velocity).map(done),
            Edit::SetPosition { agent, position } => self.teleport(agent, position).map(done),
            Edit::SetVelocity { agent, velocity } => self.change_velocity(agent, velocity).map(done),
            Edit::SetRadius { agent, radius } => self.change_radius(agent, radius).map(done),
            Edit::SetSpeed { agent, speed } => self.change_speed(agent, speed).map(done),
            Edit::SetMaxSpeed { agent, speed } => self.change_max_speed(agent, speed).map(done),
            Edit::AddCohort(cohort) => self.let_cohort_come(cohort).map(Made::Cohort),
            Edit::Retarget { cohort, goal } => self.change_goals(cohort, goal).map(done),
            Edit::AddObstacle { name, ring } => {
                let first = ring.first().copied();
                let floor = self.floor.with_obstacle(&name, ring)?;
                first.into_iter().for_each(|corner| self.choose_origin(corner));
                self.change_floor(floor);
                Ok(Made::Nothing)
            }
            Edit::RemoveObstacle { name } => {
                self.change_floor(self.floor.without_obstacle(&name)?);
                Ok(Made::Nothing)
            }
            Edit::SpawnMover(mover) => self.let_mover_come(&mover).map(Made::Mover),
            Edit::SetMover { mover, position, velocity } => self.drive(mover, position, velocity).map(done),
            Edit::DespawnMover(mover) => self.remove_mover(mover).map(done),
            Edit::SetModels(models) => self.change_models(*models).map(done),
            Edit::SetDt(dt) => self.change_dt(dt).map(done),
        }
    }
}

// Agents.
impl Crowd {
    /// The row of an agent; an error where the handle is stale or of another crowd.
    pub(super) fn row(&self, agent: AgentId) -> Result<usize, EditError> {
        if agent.crowd != self.tag {
            return Err(EditError::ForeignHandle);
        }
        if self.world.slots().generation(agent.slot) != Some(agent.generation) {
            return Err(EditError::StaleHandle);
        }
        self.world.row(agent.slot).ok_or(EditError::StaleHandle)
    }

    /// The handle of an agent that is present.
    pub(super) fn handle(&self, slot: u32) -> AgentId {
        let generation = self.world.slots().generation(slot).unwrap_or_default();
        AgentId { crowd: self.tag, slot, generation }
    }

    fn let_come(&mut self, agent: &Agent) -> Result<AgentId, EditError> {
        self.has_cohort(agent.cohort)?;
        check_figures(agent)?;
        self.floor.check_free("position", agent.position, self.world.origin)?;
        if let Some(goal) = agent.goal {
            check_place("goal", goal)?;
        }
        self.choose_origin(agent.position);
        self.join(agent)
    }

    /// Where nothing has said yet where the crowd is going to be: around the first place that anything has, and around zero
    /// where that is not far. Before anything is kept relative to it.
    fn choose_origin(&mut self, place: DVec2) {
        if std::mem::take(&mut self.free_origin) {
            self.world.origin = (place / ORIGINS_APART).round() * ORIGINS_APART;
        }
    }

    /// Takes in agents that were checked before.
    #[cfg(feature = "scenario")]
    pub(crate) fn populate(&mut self, agents: impl Iterator<Item = Agent>) -> Result<(), EditError> {
        for agent in agents {
            self.join(&agent)?;
        }
        self.world.classify_radii();
        Ok(())
    }

    fn join(&mut self, agent: &Agent) -> Result<AgentId, EditError> {
        let (now, origin) = (self.world.time(), self.world.origin);
        let goal = agent.goal.unwrap_or(agent.position);
        let joining = joining(agent, origin, now);
        let (fastest, widest) = (self.world.fastest, self.world.widest);
        let slot = self.world.spawn(joining).ok_or(EditError::TooMany("4294967295 agents, ever"))?;
        self.world.extend_to(local(agent.position, origin));
        self.world.extend_to(local(goal, origin));
        self.floor.draw_around(agent.position);
        self.floor.draw_around(goal);
        self.world.plan_for_radius(joining.radius);
        self.pending.reach |= self.world.fastest > fastest || self.world.widest > widest;
        self.pending.moved.push(slot);
        self.pending.retargeted.push(slot);
        Ok(self.handle(slot))
    }

    fn remove(&mut self, agent: AgentId) -> Result<(), EditError> {
        let row = self.row(agent)?;
        self.stages.forget(agent.slot);
        self.world.despawn(row);
        Ok(())
    }

    fn change_goal(&mut self, agent: AgentId, goal: DVec2) -> Result<(), EditError> {
        let row = self.row(agent)?;
        check_place("goal", goal)?;
        let goal = local(goal, self.world.origin);
        let agents = &mut self.world.agents;
        (agents.goal_x[row], agents.goal_y[row]) = goal.into();
        self.world.extend_to(goal);
        self.set_off(row);
        self.pending.retargeted.push(agent.slot);
        Ok(())
    }

    fn steer(&mut self, agent: AgentId, velocity: Option<DVec2>) -> Result<(), EditError> {
        let row = self.row(agent)?;
        if let Some(velocity) = velocity {
            check_velocity(velocity)?;
            // Whoever is steered neither waits nor has arrived.
            let agents = &mut self.world.agents;
            if agents.status[row] != Status::Walking {
                (agents.status[row], agents.arrival[row]) = (Status::Walking, -1.0);
                self.world.refresh(row);
            }
        }
        self.world.steer(row, velocity.map(|velocity| velocity.as_vec2()));
        Ok(())
    }

    fn teleport(&mut self, agent: AgentId, position: DVec2) -> Result<(), EditError> {
        let row = self.row(agent)?;
        let origin = self.world.origin;
        self.floor.check_free("position", position, origin)?;
        let position = local(position, origin);
        (self.world.agents.x[row], self.world.agents.y[row]) = position.into();
        self.world.extend_to(position);
        self.world.unsort();
        self.stages.note(agent.slot, Change::Moved);
        self.pending.moved.push(agent.slot);
        Ok(())
    }

    fn change_velocity(&mut self, agent: AgentId, velocity: DVec2) -> Result<(), EditError> {
        let row = self.row(agent)?;
        check_velocity(velocity)?;
        let velocity = velocity.as_vec2();
        (self.world.agents.vx[row], self.world.agents.vy[row]) = velocity.into();
        self.world.refresh(row);
        Ok(())
    }

    fn change_radius(&mut self, agent: AgentId, radius: f64) -> Result<(), EditError> {
        let row = self.row(agent)?;
        check_number("radius", radius, 0.0)?;
        let radius = radius as f32;
        self.world.agents.radius[row] = radius;
        self.pending.reach |= radius > self.world.widest;
        self.world.widest = self.world.widest.max(radius);
        self.world.plan_for_radius(radius);
        self.pending.moved.push(agent.slot);
        self.world.refresh(row);
        Ok(())
    }

    fn change_speed(&mut self, agent: AgentId, speed: f64) -> Result<(), EditError> {
        let row = self.row(agent)?;
        check_number("speed", speed, 0.0)?;
        self.world.agents.preferred_speed[row] = speed as f32;
        let max_speed = self.world.agents.max_speed[row].max(speed as f32);
        self.limit_speed(row, max_speed);
        Ok(())
    }

    fn change_max_speed(&mut self, agent: AgentId, speed: f64) -> Result<(), EditError> {
        let row = self.row(agent)?;
        check_number("max_speed", speed, 0.0)?;
        let preferred = &mut self.world.agents.preferred_speed[row];
        *preferred = preferred.min(speed as f32);
        self.limit_speed(row, speed as f32);
        Ok(())
    }

    fn limit_speed(&mut self, row: usize, max_speed: f32) {
        self.world.agents.max_speed[row] = max_speed;
        self.pending.reach |= max_speed > self.world.fastest;
        self.world.fastest = self.world.fastest.max(max_speed);
    }

    /// An agent with another goal forgets what it did for the one before, and walks again where it had arrived.
    fn set_off(&mut self, row: usize) {
        let agents = &mut self.world.agents;
        if agents.status[row] == Status::Arrived {
            (agents.status[row], agents.arrival[row]) = (Status::Walking, -1.0);
        }
        self.stages.note(agents.slot[row], Change::Retargeted);
        self.world.refresh(row);
    }
}

// Cohorts and models.
impl Crowd {
    fn has_cohort(&self, cohort: CohortId) -> Result<(), EditError> {
        let count = self.world.cohorts.len();
        if usize::from(cohort.0) < count { Ok(()) } else { Err(EditError::UnknownCohort { cohort, count }) }
    }

    fn let_cohort_come(&mut self, cohort: Cohort) -> Result<CohortId, EditError> {
        check_cohort(&cohort)?;
        if self.world.cohorts.len() >= usize::from(u16::MAX) {
            return Err(EditError::TooMany("65535 cohorts"));
        }
        let mut models = self.models.clone();
        models.cohorts.push(cohort.models.clone());
        self.replace_models(models)?;
        Ok(self.join_cohort(cohort))
    }

    /// Takes in a cohort that was checked, and whose models are there.
    pub(super) fn join_cohort(&mut self, cohort: Cohort) -> CohortId {
        cohort.area.iter().flatten().take(1).for_each(|&corner| self.choose_origin(corner));
        let (id, origin) = (self.world.cohorts.len() as u16, self.world.origin);
        let area = |ring: Vec<DVec2>| ring.into_iter().map(|corner| local(corner, origin)).collect();
        self.world.cohorts.push(world::Cohort {
            leaves: cohort.leaves,
            goal_radius: cohort.goal_radius as f32,
            together: cohort.together,
            area: cohort.area.map(area),
            arrive: cohort.arrive,
        });
        self.cohort_names.push(cohort.name);
        self.extend_to_area(id);
        self.pending.areas.push(id);
        CohortId(id)
    }

    fn change_goals(&mut self, cohort: CohortId, goal: CohortGoal) -> Result<(), EditError> {
        self.has_cohort(cohort)?;
        let origin = self.world.origin;
        match &goal {
            CohortGoal::Point(goal) => self.floor.check_free("goal", *goal, origin)?,
            CohortGoal::Points { points, .. } => {
                points.iter().try_for_each(|&goal| check_place("goal", goal))?;
            }
            CohortGoal::Area(ring) => drop(checked_area(ring)?),
            CohortGoal::MovedBy(by) => check_place("goals' move", *by)?,
        }
        let area = &mut self.world.cohorts[usize::from(cohort.0)].area;
        match &goal {
            CohortGoal::Point(_) | CohortGoal::Points { .. } => *area = None,
            CohortGoal::Area(ring) => {
                *area = Some(ring.iter().map(|&corner| local(corner, origin)).collect());
            }
            CohortGoal::MovedBy(by) => {
                area.iter_mut().flatten().for_each(|corner| *corner += by.as_vec2());
            }
        }
        for row in 0..self.world.agents.len() {
            if self.world.agents.cohort[row] == cohort.0 {
                self.send(row, &goal);
            }
        }
        self.extend_to_area(cohort.0);
        self.pending.areas.push(cohort.0);
        Ok(())
    }

    fn send(&mut self, row: usize, goal: &CohortGoal) {
        let (origin, agents) = (self.world.origin, &mut self.world.agents);
        let now = Vec2::new(agents.goal_x[row], agents.goal_y[row]);
        let next = match goal {
            CohortGoal::Point(goal) => local(*goal, origin),
            CohortGoal::Points { first_id, points } => {
                let member = agents.id[row].checked_sub(*first_id);
                member.and_then(|member| points.get(member as usize)).map_or(now, |&goal| local(goal, origin))
            }
            CohortGoal::Area(_) => now,
            CohortGoal::MovedBy(by) => now + by.as_vec2(),
        };
        (agents.goal_x[row], agents.goal_y[row]) = next.into();
        let slot = agents.slot[row];
        self.world.extend_to(next);
        self.set_off(row);
        self.pending.retargeted.push(slot);
    }

    /// Lets the outline of an endless plane hold a place.
    #[cfg(feature = "scenario")]
    pub(crate) fn draw_around(&mut self, place: DVec2) {
        self.floor.draw_around(place);
    }

    fn extend_to_area(&mut self, cohort: u16) {
        let area = self.world.cohorts[usize::from(cohort)].area.clone();
        area.into_iter().flatten().for_each(|corner| self.world.extend_to(corner));
    }

    fn change_models(&mut self, models: Models) -> Result<(), EditError> {
        let (given, count) = (models.cohorts.len(), self.models.cohorts.len());
        if given != count {
            return Err(EditError::OtherCohorts { given, count });
        }
        self.replace_models(models)
    }

    fn replace_models(&mut self, models: Models) -> Result<(), EditError> {
        check_settings(&models)?;
        let mut stages = Stages::new(&models)?;
        // Of the same types, so it can be read.
        let _ = stages.load_memories(self.stages.save_memories());
        let before = self.stages.bodies.legs();
        (self.stages, self.models) = (stages, models);
        let legs = self.stages.bodies.legs();
        if legs != before {
            self.change_floor(self.floor.for_feet(legs.is_some()));
            self.world.set_ground(legs, self.floor.gaps(self.world.origin));
        }
        self.learn_reach();
        Ok(())
    }

    fn change_dt(&mut self, dt: f64) -> Result<(), EditError> {
        check_number("dt", dt, 0.0)?;
        if dt > LONGEST_STEP {
            return Err(EditError::BadNumber { name: "dt", value: dt, expected: "at most 60" });
        }
        self.world.set_dt(dt);
        self.pending.reach = true;
        Ok(())
    }
}

const LONGEST_STEP: f64 = 60.0;

// Bodies that avoid nobody.
impl Crowd {
    fn let_mover_come(&mut self, mover: &Mover) -> Result<MoverId, EditError> {
        check_number("radius", mover.radius, 0.0)?;
        let path = match &mover.motion {
            MoverMotion::Driven(position, velocity) => self.driven(*position, *velocity)?,
            MoverMotion::Scripted(path) => {
                let rises = path.windows(2).all(|pair| pair[0].0 < pair[1].0);
                let is_sane = |(time, place): &(f64, DVec2)| time.is_finite() && is_within_reach(*place);
                if path.is_empty() || !rises || !path.iter().all(is_sane) {
                    return Err(EditError::BadPath);
                }
                self.choose_origin(path[0].1);
                path.iter().map(|&(time, place)| (time, local(place, self.world.origin))).collect()
            }
        };
        let (numbers, next) = &mut self.movers;
        let number = *next;
        *next = next.checked_add(1).ok_or(EditError::TooMany("4294967295 movers, ever"))?;
        numbers.push(number);
        let driven = matches!(mover.motion, MoverMotion::Driven(..));
        self.world.add_mover(world::Mover {
            radius: mover.radius as f32,
            path,
            carries: mover.carries,
            driven,
        });
        Ok(MoverId { crowd: self.tag, number })
    }

    /// Where a body that the caller moves will be.
    fn driven(&mut self, position: DVec2, velocity: DVec2) -> Result<Vec<(f64, Vec2)>, EditError> {
        check_place("position", position)?;
        check_velocity(velocity)?;
        self.choose_origin(position);
        let (now, place) = (self.world.time(), |at: DVec2| local(at, self.world.origin));
        let then = position + velocity * KEEPS_VELOCITY;
        Ok(vec![(now, place(position)), (now + KEEPS_VELOCITY, place(then))])
    }

    pub(super) fn mover_index(&self, mover: MoverId) -> Result<usize, EditError> {
        if mover.crowd != self.tag {
            return Err(EditError::ForeignHandle);
        }
        self.movers.0.iter().position(|&number| number == mover.number).ok_or(EditError::UnknownMover)
    }

    fn drive(&mut self, mover: MoverId, position: DVec2, velocity: DVec2) -> Result<(), EditError> {
        let index = self.mover_index(mover)?;
        if !self.world.movers()[index].driven {
            return Err(EditError::ScriptedMover);
        }
        let path = self.driven(position, velocity)?;
        self.world.set_mover_path(index, path);
        Ok(())
    }

    fn remove_mover(&mut self, mover: MoverId) -> Result<(), EditError> {
        let index = self.mover_index(mover)?;
        self.movers.0.remove(index);
        self.world.remove_mover(index);
        Ok(())
    }
}

// The floor, and what is left to be done before a step.
impl Crowd {
    fn change_floor(&mut self, floor: Floor) {
        let before = std::mem::replace(&mut self.floor, floor);
        self.pending.floor_before.get_or_insert_with(|| Box::new(before));
    }

    /// Does what edits have left: no agent is in a wall, no goal where no body fits, rows are sorted.
    pub(crate) fn prepare(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        if let Some(before) = &pending.floor_before {
            self.free_all(before);
        }
        self.free_some(&pending);
        if pending.floor_before.is_some() {
            self.world.set_walls(self.floor.walls(self.world.origin, self.wall_range()));
        } else if pending.reach {
            self.world.reindex_walls(self.wall_range());
        }
        if !self.world.is_sorted() {
            self.world.sort_rows();
        }
        // The lists are used again.
        let Pending { mut moved, mut retargeted, mut areas, .. } = pending;
        moved.clear();
        retargeted.clear();
        areas.clear();
        (self.pending.moved, self.pending.retargeted, self.pending.areas) = (moved, retargeted, areas);
    }

    /// After a change of the map: every goal, and every body that stood free before.
    fn free_all(&mut self, before: &Floor) {
        let origin = self.world.origin;
        let world = &mut self.world;
        let placement = self.floor.placement(origin);
        for row in 0..world.agents.len() {
            placement.free_goal(world, row);
            let at = Vec2::new(world.agents.x[row], world.agents.y[row]);
            if !placement.stands(at) && before.placement(origin).is_on_floor(at) {
                put_beside_walls(world, &mut self.stages, placement, row);
            }
        }
    }

    /// After other changes: those that they touched.
    fn free_some(&mut self, pending: &Pending) {
        if pending.moved.is_empty() && pending.retargeted.is_empty() && pending.areas.is_empty() {
            return;
        }
        let world = &mut self.world;
        let placement = self.floor.placement(world.origin);
        for &slot in &pending.retargeted {
            if let Some(row) = world.row(slot) {
                placement.free_goal(world, row);
            }
        }
        pending.areas.iter().for_each(|&cohort| placement.free_area(world, usize::from(cohort)));
        for &slot in &pending.moved {
            let Some(row) = world.row(slot) else { continue };
            if !placement.stands(Vec2::new(world.agents.x[row], world.agents.y[row])) {
                put_beside_walls(world, &mut self.stages, placement, row);
            }
        }
    }

    /// Works out what follows from how far models look.
    pub(super) fn learn_reach(&mut self) {
        let furthest = self.stages.reach().map(|reach| reach.neighbor_distance).fold(0.0, f32::max);
        self.world.furthest_look = if furthest > 0.0 { furthest } else { 2.0 };
        self.world.unsort();
        self.pending.reach = true;
    }

    /// From how far away a wall has to be seen, m.
    pub(super) fn wall_range(&self) -> f32 {
        let horizon = self.stages.reach().map(|reach| reach.time_horizon_obstacles);
        let horizon = horizon.fold(self.world.dt() as f32 * 2.0, f32::max);
        horizon * self.world.fastest + self.world.widest
    }
}

fn put_beside_walls(world: &mut World, stages: &mut Stages, placement: &Placement, row: usize) {
    if placement.put_beside_walls(world, row) {
        let slot = world.agents.slot[row];
        world.feet.forget(slot);
        stages.note(slot, Change::PutAside);
        world.unsort();
    }
}

impl Edit {
    /// The same edit with handles of a crowd.
    pub(super) fn of_crowd(mut self, crowd: u32) -> Edit {
        match &mut self {
            Edit::Despawn(agent)
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
        status: if agent.delay > 0.0 { Status::Waiting } else { Status::Walking },
    }
}

fn check_figures(agent: &Agent) -> Result<(), EditError> {
    check_number("radius", agent.radius, 0.0)?;
    check_number("speed", agent.preferred_speed, 0.0)?;
    check_number("max_speed", agent.top_speed(), 0.0)?;
    let share = agent.responsibility;
    if !(0.0..=1.0).contains(&share) {
        return Err(EditError::BadNumber { name: "responsibility", value: share, expected: "from 0 to 1" });
    }
    if !(agent.delay >= 0.0 && agent.delay <= FARTHEST) {
        return Err(EditError::BadNumber {
            name: "delay",
            value: agent.delay,
            expected: "0 or more, and finite",
        });
    }
    check_velocity(agent.velocity)
}

pub(super) fn check_cohort(cohort: &Cohort) -> Result<(), EditError> {
    check_number("goal_radius", cohort.goal_radius, 0.0)?;
    cohort.area.as_ref().map_or(Ok(()), |ring| checked_area(ring).map(drop))
}

pub(super) fn check_number(name: &'static str, value: f64, above: f64) -> Result<(), EditError> {
    // Not `<=` the other way round: that would let NaN through.
    if value > above && value <= FARTHEST {
        return Ok(());
    }
    Err(EditError::BadNumber { name, value, expected: "above 0 and finite" })
}

fn check_velocity(velocity: DVec2) -> Result<(), EditError> {
    match [velocity.x, velocity.y].into_iter().find(|part| part.is_nan() || part.abs() > FARTHEST) {
        Some(value) => Err(EditError::BadNumber { name: "velocity", value, expected: "finite" }),
        None => Ok(()),
    }
}

fn check_place(what: &'static str, place: DVec2) -> Result<(), EditError> {
    if is_within_reach(place) {
        return Ok(());
    }
    Err(EditError::NotFree { what, place, why: "not finite, or beyond 1e9 m".into() })
}

fn checked_area(ring: &[DVec2]) -> Result<Vec<DVec2>, EditError> {
    let ring = without_repeats(ring);
    let is_sane = ring.len() >= 3 && ring.iter().all(|&corner| is_within_reach(corner));
    if is_sane { Ok(ring) } else { Err(EditError::BadRing { what: "a goal area", corners: 3 }) }
}

/// Values of code are held to the same limits as those of files.
pub(super) fn check_settings(models: &Models) -> Result<(), EditError> {
    let all = std::iter::once(&models.params).chain(models.cohorts.iter().map(|cohort| &cohort.params));
    let blocks = catalog::blocks();
    for (name, values) in all.flat_map(Settings::iter) {
        let block = blocks.iter().find(|block| block.name == name);
        let (block, fields) = block.map_or(("", &[][..]), |block| (block.name, block.fields));
        if fields.is_empty() && !values.is_empty() {
            return Err(EditError::UnknownBlock(name.clone()));
        }
        for (key, &value) in values {
            params::check(block, fields, key, value)?;
        }
    }
    Ok(())
}
