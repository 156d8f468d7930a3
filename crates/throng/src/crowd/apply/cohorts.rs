//! Edits of cohorts, of models and of the length of a step.

use super::super::builder::check_dt;
use super::checks::{check_area, check_cohort, check_periodic, check_place, check_settings, checked_area};
use crate::crowd::agent::{Cohort, CohortId};
use crate::crowd::edit::{CohortGoal, EditError};
use crate::crowd::{Crowd, local};
use crate::pipeline::{Models, Stages};
use glam::{DVec2, Vec2};
use throng_core::world;

impl Crowd {
    pub(super) fn has_cohort(&self, cohort: CohortId) -> Result<(), EditError> {
        let count = self.state.world.cohorts.len();
        if usize::from(cohort.0) < count { Ok(()) } else { Err(EditError::UnknownCohort { cohort, count }) }
    }

    pub(super) fn create_cohort(&mut self, cohort: Cohort) -> Result<CohortId, EditError> {
        check_cohort(&cohort)?;
        check_area(&self.state.floor.map, cohort.area.is_some())?;
        if self.state.world.cohorts.len() >= usize::from(u16::MAX) {
            return Err(EditError::TooMany("65535 cohorts"));
        }
        let mut models = self.state.models.clone();
        models.cohorts.push(cohort.models.clone());
        self.replace_models(models)?;
        Ok(self.join_cohort(cohort))
    }

    /// Takes in a cohort that was checked, and whose models are there.
    pub(in crate::crowd) fn join_cohort(&mut self, cohort: Cohort) -> CohortId {
        cohort.area.iter().flatten().take(1).for_each(|&corner| self.choose_origin(corner));
        let (id, origin) = (self.state.world.cohorts.len() as u16, self.state.world.origin);
        let area = |ring: Vec<DVec2>| ring.into_iter().map(|corner| local(corner, origin)).collect();
        self.state.world.cohorts.push(world::Cohort {
            leaves: cohort.leaves,
            goal_radius: cohort.goal_radius as f32,
            together: cohort.together,
            area: cohort.area.map(area),
            arrive: cohort.arrive,
        });
        self.state.cohort_names.push(cohort.name);
        self.extend_to_area(id);
        self.state.pending.areas.push(id);
        CohortId(id)
    }

    pub(super) fn change_goals(&mut self, cohort: CohortId, goal: CohortGoal) -> Result<(), EditError> {
        self.has_cohort(cohort)?;
        match &goal {
            CohortGoal::Point(goal) => {
                self.state.floor.check_free("goal", *goal, self.state.world.origin)?;
            }
            CohortGoal::Points { points, .. } => {
                points.iter().try_for_each(|&goal| check_place("goal", goal))?;
            }
            CohortGoal::Area(ring) => {
                check_area(&self.state.floor.map, true)?;
                checked_area(ring)?;
            }
            CohortGoal::MovedBy(by) => check_place("goals' move", *by)?,
        }
        if let CohortGoal::Area(ring) = &goal {
            self.choose_origin(ring[0]);
        }
        let origin = self.state.world.origin;
        let area = &mut self.state.world.cohorts[usize::from(cohort.0)].area;
        match &goal {
            CohortGoal::Point(_) | CohortGoal::Points { .. } => *area = None,
            CohortGoal::Area(ring) => {
                *area = Some(ring.iter().map(|&corner| local(corner, origin)).collect());
            }
            CohortGoal::MovedBy(by) => {
                area.iter_mut().flatten().for_each(|corner| *corner += by.as_vec2());
            }
        }
        let moves = matches!(goal, CohortGoal::MovedBy(_));
        for row in 0..self.state.world.agents.len() {
            let agents = &self.state.world.agents;
            // A destination stays where it is, and those who walk there go on.
            if agents.cohort[row] == cohort.0 && !(moves && agents.destination[row] > 0) {
                self.redirect(row, &goal);
            }
        }
        self.extend_to_area(cohort.0);
        self.state.pending.areas.push(cohort.0);
        Ok(())
    }

    fn redirect(&mut self, row: usize, goal: &CohortGoal) {
        let (origin, agents) = (self.state.world.origin, &mut self.state.world.agents);
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
        agents.destination[row] = 0;
        let slot = agents.slot[row];
        self.state.world.extend_to(next);
        self.set_off(row);
        self.state.pending.retargeted.push(slot);
    }

    fn extend_to_area(&mut self, cohort: u16) {
        let area = self.state.world.cohorts[usize::from(cohort)].area.clone();
        area.into_iter().flatten().for_each(|corner| self.state.world.extend_to(corner));
    }

    pub(super) fn change_models(&mut self, models: Models) -> Result<(), EditError> {
        let (given, count) = (models.cohorts.len(), self.state.models.cohorts.len());
        if given != count {
            return Err(EditError::OtherCohorts { given, count });
        }
        self.replace_models(models)
    }

    fn replace_models(&mut self, models: Models) -> Result<(), EditError> {
        check_settings(&models)?;
        check_periodic(&self.state.floor.map, &models)?;
        let mut stages = Stages::new(&models)?;
        // Of the same types, so it can be read.
        let _ = stages.load_memories(self.stages.save_memories());
        let before = self.stages.bodies.legs();
        (self.stages, self.state.models) = (stages, models);
        let legs = self.stages.bodies.legs();
        if legs != before {
            self.change_floor(self.state.floor.for_feet(legs.is_some()));
            self.state.world.set_ground(legs, self.state.floor.gaps(self.state.world.origin));
        }
        self.learn_reach();
        Ok(())
    }

    pub(super) fn change_dt(&mut self, dt: f64) -> Result<(), EditError> {
        check_dt(dt)?;
        self.set_dt(dt);
        Ok(())
    }

    /// How far away walls have to be seen depends on how long steps are.
    pub(in crate::crowd) fn set_dt(&mut self, dt: f64) {
        self.state.world.set_dt(dt);
        self.state.pending.reach = true;
    }
}
