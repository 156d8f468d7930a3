//! Cohorts as written, before their members have places.

use super::floor::POINTS_ONLY;
use super::{Checker, FARTHEST, LARGEST, LONGEST_TIME, MOST_AGENTS};
use crate::catalog::Stage;
use crate::scenario::Settings;
use crate::scenario::file::{
    CircleFile, CohortFile, GoalFile, GridFile, People, PlaceFile, Point, VelocityFile,
};
use crate::scenario::number::Figures;
use crate::scenario::path::KeyPath;
use crate::scenario::place::Arrangement;
use glam::DVec2;
use std::collections::BTreeSet;
use throng_core::params::Limit;

/// A checked cohort whose members have no place yet.
pub(super) struct Draft<'a> {
    pub file: &'a CohortFile,
    pub path: KeyPath,
    pub name: String,
    pub first_id: u32,
    pub count: usize,
    pub layout: Arrangement,
    pub people: Checked<'a>,
    pub goal: Target,
}

/// What was written of people, checked.
pub(super) struct Checked<'a> {
    pub file: People<'a>,
    pub radius: Figures,
    pub preferred_speed: Figures,
    pub max_speed: Option<Figures>,
    pub start: Figures,
    pub velocity: Velocities,
    pub params: Settings,
}

/// How people move at first, m/s.
pub(super) enum Velocities {
    All(DVec2),
    Each(Vec<DVec2>),
}

impl Velocities {
    pub fn of(&self, member: usize) -> DVec2 {
        match self {
            Velocities::All(velocity) => *velocity,
            Velocities::Each(velocities) => velocities.get(member).copied().unwrap_or_default(),
        }
    }
}

/// A checked goal of a cohort.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    Point(DVec2),
    Points(Vec<DVec2>),
    Antipodal(DVec2),
    Offset(DVec2),
    Random(Vec<DVec2>),
    Area(Vec<DVec2>),
    /// Out, perhaps by some stages: an index into the journeys.
    Journey(u32),
}

const ONE_GOAL: &str = "needs exactly one of point, points, antipodal, offset, random, polygon, exit, exits";

impl<'a> Checker<'a> {
    pub(super) fn cohort_name(&self, index: usize) -> String {
        let path = KeyPath::top("agents").then(index);
        self.file.agents[index].name.clone().unwrap_or_else(|| path.to_string())
    }

    pub(super) fn cohorts(&mut self) -> Vec<Draft<'a>> {
        let mut drafts: Vec<Draft<'a>> = Vec::new();
        let mut names = BTreeSet::new();
        let mut total = 0u64;
        for (index, cohort) in self.file.agents.iter().enumerate() {
            let path = KeyPath::top("agents").then(index);
            let Some(draft) = self.cohort(index, cohort, path.clone(), total) else { continue };
            self.is_new_cohort(&path, &draft.name, &mut names);
            total += draft.count as u64;
            drafts.push(draft);
        }
        for index in 0..self.file.sources.len() {
            let path = KeyPath::top("sources").then(index);
            self.is_new_cohort(&path, &self.source_name(index), &mut names);
        }
        drafts
    }

    fn is_new_cohort(&mut self, path: &KeyPath, name: &str, names: &mut BTreeSet<String>) {
        if !names.insert(name.to_owned()) {
            let complaint = format!("another cohort is called `{name}` already; choose another name");
            self.report.say(&path.then("name"), complaint);
        }
    }

    fn cohort(
        &mut self,
        index: usize,
        file: &'a CohortFile,
        path: KeyPath,
        before: u64,
    ) -> Option<Draft<'a>> {
        let people = self.people(&path, file.people());
        let layout = self.layout(&path.then("place"), &file.place);
        let goal = self.way(&path, file.people());
        let layout = layout?;
        let count = self.count(&path, file, &layout, before)?;
        let (goal, people) = (goal?, people?);
        self.one_goal_each(&path.then("goal"), &goal, count);
        self.one_figure_each(&path, &people, count);
        Some(Draft {
            file,
            name: self.cohort_name(index),
            first_id: before as u32,
            count,
            layout,
            people,
            goal,
            path,
        })
    }

    /// Where people go: to a goal, or on a journey.
    pub(super) fn way(&mut self, path: &KeyPath, file: People<'_>) -> Option<Target> {
        match (file.goal, file.journey) {
            (Some(goal), None) => self.target(&path.then("goal"), goal),
            (None, Some(journey)) => self.journey_named(&path.then("journey"), journey).map(Target::Journey),
            (None, None) => {
                self.report.say(path, "key `goal` is missing; or name a `journey`");
                None
            }
            (Some(_), Some(_)) => {
                self.report.value(&path.then("journey"), "and a goal cannot both be given; keep one");
                None
            }
        }
    }

    /// What people are like, but for where they stand and where they go.
    pub(super) fn people(&mut self, path: &KeyPath, file: People<'a>) -> Option<Checked<'a>> {
        let speed = Limit::from(0.0).up_to(LARGEST);
        let time = Limit::from(0.0).up_to(LONGEST_TIME);
        let radius = self.figures(&path.then("radius"), file.radius, Limit::above(0.0).up_to(LARGEST));
        let preferred_speed = self.figures(&path.then("preferred_speed"), file.preferred_speed, speed);
        let max_speed = file.max_speed.map(|max| self.figures(&path.then("max_speed"), max, speed));
        let start = self.figures(&path.then("start"), file.start, time);
        if let (Some(Some(max)), Some(preferred)) = (&max_speed, &preferred_speed) {
            self.speeds(&path.then("max_speed"), max, preferred);
        }
        if let Some(goal_radius) = file.goal_radius {
            self.number(&path.then("goal_radius"), goal_radius, Limit::above(0.0).up_to(LARGEST));
        }
        if let Some([from, to]) = file.arrive {
            let path = path.then("arrive");
            [from, to].into_iter().enumerate().for_each(|(end, at)| self.number(&path.then(end), at, time));
            if to <= from {
                self.report.value(&path, "must be two times, the earlier first");
            }
        }
        self.number(&path.then("responsibility"), file.responsibility, Limit::from(0.0).up_to(1.0));
        if let Some(model) = file.microscale {
            self.model(&path.then("microscale"), Stage::Microscale, model);
        }
        let params = self.params(file.params, &path.then("params"));
        Some(Checked {
            file,
            radius: radius?,
            preferred_speed: preferred_speed?,
            max_speed: max_speed.flatten(),
            start: start?,
            velocity: self.velocities(&path.then("velocity"), file.velocity),
            params,
        })
    }

    fn velocities(&mut self, path: &KeyPath, velocity: Option<&VelocityFile>) -> Velocities {
        match velocity {
            None => Velocities::All(DVec2::ZERO),
            Some(VelocityFile::All(velocity)) => Velocities::All(self.velocity(path, *velocity)),
            Some(VelocityFile::Each(velocities)) => {
                let each = velocities.iter().enumerate();
                Velocities::Each(each.map(|(index, one)| self.velocity(&path.then(index), *one)).collect())
            }
        }
    }

    fn velocity(&mut self, path: &KeyPath, velocity: Point) -> DVec2 {
        let part = Limit::from(-LARGEST).up_to(LARGEST);
        velocity.into_iter().enumerate().for_each(|(axis, speed)| self.number(&path.then(axis), speed, part));
        velocity.into()
    }

    /// Lists have one item for each agent.
    pub(super) fn one_figure_each(&mut self, path: &KeyPath, people: &Checked<'_>, count: usize) {
        let figures = [
            ("radius", people.radius.listed()),
            ("preferred_speed", people.preferred_speed.listed()),
            ("max_speed", people.max_speed.as_ref().and_then(Figures::listed)),
            ("start", people.start.listed()),
        ];
        for (key, listed) in figures {
            self.one_each(&path.then(key), listed, "numbers", count);
        }
        let listed = if let Velocities::Each(each) = &people.velocity { Some(each.len()) } else { None };
        self.one_each(&path.then("velocity"), listed, "velocities", count);
    }

    /// Drawn preferred speeds are cut to the highest; that all of them would be cut is a mistake.
    fn speeds(&mut self, path: &KeyPath, max: &Figures, preferred: &Figures) {
        if max.high() < preferred.low() {
            let complaint = format!("must not be below preferred_speed ({})", preferred.low());
            self.report.value(path, complaint);
        }
    }

    fn layout(&mut self, path: &KeyPath, place: &PlaceFile) -> Option<Arrangement> {
        self.number(&path.then("jitter"), place.jitter, Limit::from(0.0).up_to(LARGEST));
        match (&place.grid, &place.points, &place.circle, &place.polygon) {
            (Some(grid), None, None, None) => self.grid(&path.then("grid"), grid),
            (None, Some(points), None, None) => {
                Some(Arrangement::Points(self.some_points(&path.then("points"), points)))
            }
            (None, None, Some(circle), None) => Some(self.circle(&path.then("circle"), circle)),
            (None, None, None, Some(polygon)) => {
                if place.jitter != 0.0 {
                    self.report.value(
                        &path.then("jitter"),
                        "means nothing in a polygon, where chance decides anyway",
                    );
                }
                Some(Arrangement::Area(self.area(&path.then("polygon"), polygon)?))
            }
            _ => {
                self.report.say(path, "needs exactly one of grid, points, circle, polygon");
                None
            }
        }
    }

    fn grid(&mut self, path: &KeyPath, grid: &GridFile) -> Option<Arrangement> {
        self.number(&path.then("spacing"), grid.spacing, Limit::above(0.0).up_to(LARGEST));
        let from = self.point(&path.then("from"), grid.from);
        if grid.columns == 0 {
            self.report.value(&path.then("columns"), "must be 1 or more");
            return None;
        }
        let columns = usize::try_from(grid.columns).unwrap_or(usize::MAX);
        Some(Arrangement::Grid { from, columns, spacing: grid.spacing })
    }

    fn circle(&mut self, path: &KeyPath, circle: &CircleFile) -> Arrangement {
        self.number(&path.then("radius"), circle.radius, Limit::from(0.0).up_to(FARTHEST));
        self.number(&path.then("start_angle"), circle.start_angle, Limit::from(-LARGEST).up_to(LARGEST));
        let center = self.point(&path.then("center"), circle.center);
        Arrangement::Circle { center, radius: circle.radius, start_angle: circle.start_angle }
    }

    fn count(
        &mut self,
        path: &KeyPath,
        file: &CohortFile,
        layout: &Arrangement,
        before: u64,
    ) -> Option<usize> {
        let path = path.then("count");
        let listed = if let Arrangement::Points(points) = layout { Some(points.len() as u64) } else { None };
        let count = match (file.count, listed) {
            (Some(count), Some(listed)) if count != listed => {
                self.report.value(
                    &path,
                    format!("but place.points lists {listed}; leave count out or make them equal"),
                );
                return None;
            }
            (Some(count), _) | (None, Some(count)) => count,
            (None, None) => {
                self.report.say(&path, "is missing; only place.points can do without it");
                return None;
            }
        };
        if count.saturating_add(before) > MOST_AGENTS {
            let complaint = format!("makes more than {MOST_AGENTS} agents in all, which is the most");
            self.report.value(&path, complaint);
            return None;
        }
        usize::try_from(count).ok()
    }

    pub(super) fn target(&mut self, path: &KeyPath, goal: &GoalFile) -> Option<Target> {
        let GoalFile { point, points, antipodal, offset, random, polygon, exit, exits, .. } = goal;
        let is_way_out = exit.is_some() != exits.is_some();
        let elsewhere = [point, antipodal, offset].iter().any(|key| key.is_some())
            || [points, random, polygon].iter().any(|key| key.is_some());
        if is_way_out && !elsewhere {
            return self.way_out(path, goal).map(Target::Journey);
        }
        for key in goal.keys_of_exits() {
            self.report.value(&path.then(key), "belongs to `exits`");
        }
        if exit.is_some() || exits.is_some() {
            self.report.say(path, ONE_GOAL);
            return None;
        }
        match (point, points, antipodal, offset, random, polygon) {
            (Some(point), None, None, None, None, None) => {
                Some(Target::Point(self.point(&path.then("point"), *point)))
            }
            (None, Some(points), None, None, None, None) => {
                Some(Target::Points(self.some_points(&path.then("points"), points)))
            }
            (None, None, Some(center), None, None, None) => {
                Some(Target::Antipodal(self.point(&path.then("antipodal"), *center)))
            }
            (None, None, None, Some(offset), None, None) => {
                Some(Target::Offset(self.point(&path.then("offset"), *offset)))
            }
            (None, None, None, None, Some(area), None) => {
                Some(Target::Random(self.area(&path.then("random"), area)?))
            }
            (None, None, None, None, None, Some(polygon)) => {
                let path = path.then("polygon");
                if self.file.map.periodic.is_some_and(|period| period != [0.0; 2]) {
                    self.report.say(&path, format!("a periodic map takes no goal areas; {POINTS_ONLY}"));
                }
                Some(Target::Area(self.area(&path, polygon)?))
            }
            _ => {
                self.report.say(path, ONE_GOAL);
                None
            }
        }
    }

    pub(super) fn one_goal_each(&mut self, path: &KeyPath, goal: &Target, count: usize) {
        let listed = if let Target::Points(points) = goal { Some(points.len()) } else { None };
        self.one_each(&path.then("points"), listed, "points", count);
    }
}
