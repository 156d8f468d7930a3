//! What happens on the way.

use super::agents::{Chance, Lasting, goals};
use super::cohorts::{Draft, Target};
use super::{Checker, LONGEST_TIME};
use crate::map::bounds;
use crate::map::{self, Map};
use crate::scenario::error::known;
use crate::scenario::file::{EventFile, NamedObstacle, RetargetFile};
use crate::scenario::path::KeyPath;
use crate::scenario::{Action, Cohort, Event};
use glam::DVec2;
use std::collections::BTreeSet;
use throng_core::params::Limit;

/// A checked event whose goals have no agents yet.
pub(super) enum Unplaced {
    Ready(Action),
    Retarget { path: KeyPath, cohort: usize, goal: Target },
}

impl Unplaced {
    /// The obstacle that it takes away.
    fn removes(&self) -> Option<String> {
        match self {
            Unplaced::Ready(Action::RemoveObstacle(name)) => Some(name.clone()),
            _ => None,
        }
    }
}

impl Checker<'_> {
    /// Sorted by time; obstacles must be there when they are removed.
    pub(super) fn events(&mut self, map: &Map) -> Vec<(f64, Unplaced)> {
        let mut order: Vec<(usize, &EventFile)> = self.file.events.iter().enumerate().collect();
        order.sort_by(|(_, a), (_, b)| a.at.total_cmp(&b.at));
        let mut present: BTreeSet<String> = map.obstacles.iter().map(|(name, _)| name.clone()).collect();
        let mut now = map.clone();
        let plan = |(index, event): (usize, &EventFile)| {
            let path = KeyPath::top("events").then(index);
            self.number(&path.then("at"), event.at, Limit::from(0.0).up_to(LONGEST_TIME));
            let plan = self.event(&path, event, &mut present)?;
            if let Unplaced::Ready(action) = &plan {
                action.change(&mut now);
                self.leaves_room(&path, &now, action);
            }
            Some((event.at, plan))
        };
        order.into_iter().filter_map(plan).collect()
    }

    fn event(
        &mut self,
        path: &KeyPath,
        event: &EventFile,
        present: &mut BTreeSet<String>,
    ) -> Option<Unplaced> {
        let EventFile { at: _, add_obstacle, remove_obstacle, retarget, close_exit, open_exit, release } =
            event;
        let names = [remove_obstacle, close_exit, open_exit, release];
        let written = names.iter().filter(|name| name.is_some()).count()
            + usize::from(add_obstacle.is_some())
            + usize::from(retarget.is_some());
        if written != 1 {
            self.report.say(
                path,
                "an event needs exactly one of add_obstacle, remove_obstacle, retarget, close_exit, open_exit, release",
            );
            return None;
        }
        if let Some(obstacle) = add_obstacle {
            return self.addition(&path.then("add_obstacle"), obstacle, present);
        }
        if let Some(name) = remove_obstacle {
            return self.removal(&path.then("remove_obstacle"), name, present);
        }
        for (key, name, open) in [("close_exit", close_exit, false), ("open_exit", open_exit, true)] {
            if let Some(name) = name {
                let exit = self.exit_named(&path.then(key), name)?;
                return Some(Unplaced::Ready(Action::SetExit { exit, open }));
            }
        }
        if let Some(name) = release {
            return self.waiting_named(&path.then("release"), name).map(Action::Release).map(Unplaced::Ready);
        }
        self.retarget(&path.then("retarget"), retarget.as_ref()?)
    }

    fn addition(
        &mut self,
        path: &KeyPath,
        obstacle: &NamedObstacle,
        present: &mut BTreeSet<String>,
    ) -> Option<Unplaced> {
        let polygon = self.ring(&path.then("polygon"), &obstacle.polygon);
        if !present.insert(obstacle.name.clone()) {
            let complaint = format!("an obstacle `{}` is there already; choose another name", obstacle.name);
            self.report.say(&path.then("name"), complaint);
        }
        Some(Unplaced::Ready(Action::AddObstacle { name: obstacle.name.clone(), polygon }))
    }

    /// An obstacle must not cover all that is left of a walkable area.
    fn leaves_room(&mut self, path: &KeyPath, now: &Map, action: &Action) {
        let Action::AddObstacle { name, .. } = action else { return };
        // Joining polygons takes long on a large map, and only those that reach all around can cover it.
        let (low, high) = bounds(now.walkable.iter().flatten().flatten());
        let (lowest, highest) = bounds(now.obstacles.iter().flat_map(|(_, ring)| ring));
        if !now.walkable.is_empty()
            && lowest.cmple(low).all()
            && highest.cmpge(high).all()
            && map::boundary(now).is_blocked()
        {
            let complaint =
                format!("obstacle `{name}` leaves nothing of the walkable area; leave somewhere to walk");
            self.report.say(&path.then("add_obstacle").then("polygon"), complaint);
        }
    }

    fn removal(&mut self, path: &KeyPath, name: &str, present: &mut BTreeSet<String>) -> Option<Unplaced> {
        if !present.remove(name) {
            let names = known(name, present.iter().map(String::as_str));
            self.report.say(path, format!("there is no obstacle `{name}` at that time; {names}"));
        }
        Some(Unplaced::Ready(Action::RemoveObstacle(name.to_owned())))
    }

    fn retarget(&mut self, path: &KeyPath, retarget: &RetargetFile) -> Option<Unplaced> {
        let names: Vec<String> = (0..self.file.agents.len()).map(|index| self.cohort_name(index)).collect();
        if (0..self.file.sources.len()).any(|index| self.source_name(index) == retarget.cohort) {
            let complaint = "the people of a source keep their goal; give them exits, and close one of them";
            self.report.value(&path.then("cohort"), complaint);
            return None;
        }
        let cohort = names.iter().position(|name| *name == retarget.cohort);
        if cohort.is_none() {
            let complaint = format!(
                "there is no cohort `{}`; {}",
                retarget.cohort,
                known(&retarget.cohort, names.iter().map(String::as_str))
            );
            self.report.say(&path.then("cohort"), complaint);
        }
        let path = path.then("goal");
        let goal = self.target(&path, &retarget.goal);
        let cohort = cohort?;
        let goal = goal?;
        let count = self.file.agents[cohort].count;
        let count =
            count.or(self.file.agents[cohort].place.points.as_ref().map(|points| points.len() as u64));
        self.one_goal_each(&path, &goal, count.unwrap_or(0) as usize);
        Some(Unplaced::Retarget { path, cohort, goal })
    }

    /// Gives the members of retargeted cohorts their new goals, and holds these against the map of that time.
    pub(super) fn resolve(
        &mut self,
        plans: Vec<(f64, Unplaced)>,
        drafts: &[Draft<'_>],
        cohorts: &[Cohort],
        map: &Map,
        areas: &mut Vec<Vec<DVec2>>,
    ) -> Vec<Event> {
        if !self.report.is_empty() {
            return Vec::new();
        }
        let removed: Vec<Option<String>> = plans.iter().map(|(_, plan)| plan.removes()).collect();
        let mut now = map.clone();
        let mut events = Vec::new();
        for (index, (at, plan)) in plans.into_iter().enumerate() {
            let action = match plan {
                Unplaced::Ready(action) => action,
                Unplaced::Retarget { path, cohort, goal } => {
                    let starts: Vec<DVec2> =
                        cohorts[cohort].agents.iter().map(|agent| agent.position).collect();
                    let lasting = Lasting::new(&now, removed[index..].iter().flatten().map(String::as_str));
                    let (first_id, region) = (drafts[cohort].first_id, &lasting.region);
                    let chance = Chance { seed: self.file.seed, first_id, goal: index as u64 + 1, region };
                    let goals = goals(&goal, &starts, areas, chance);
                    self.goals_are_free(&path, &drafts[cohort].name, &goal, &goals, &lasting);
                    Action::Retarget { cohort, goals }
                }
            };
            action.change(&mut now);
            events.push(Event { at, action });
        }
        events
    }
}
