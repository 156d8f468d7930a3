//! From what is written to what it means: every check of a scenario, in one walk through the file.

use super::document::Document;
use super::drawing::{self, Drawing};
use super::error::{Report, ScenarioError, known};
use super::file::*;
use super::map;
use super::number::{Draw, Number};
use super::path::KeyPath;
use super::place::{Layout, Scatter, Standing, jittered};
use super::region::Region;
use super::{Action, AgentStart, Cohort, Event, FloorPlan, Goal, Mover, Pipeline, Scenario, Settings, wkt};
use crate::catalog::{self, Stage};
use glam::DVec2;
use std::collections::BTreeSet;
use std::path::Path;
use throng_core::params::{self, Limit, ParamError};
use throng_core::rng::{self, Purpose};

/// More agents than this are a slip of the keyboard.
const MOST_AGENTS: u64 = 10_000_000;
/// Coordinates beyond this have lost their millimetres, m.
const FARTHEST: f64 = 1e9;
const LONGEST_STEP: f64 = 60.0;
const LONGEST_TIME: f64 = 1e9;
const LARGEST: f64 = 1e6;

/// Reads the tree into the file's types.
pub(super) fn decode(document: &Document) -> Result<ScenarioFile, ScenarioError> {
    // An old program should say that a file is too new before it stumbles over its new keys.
    let format = document.tree().get("format");
    if let Some(number) = format.and_then(serde_json::Value::as_u64).filter(|&number| number != 1) {
        let mut report = Report::new(document);
        report.say(
            &KeyPath::top("format"),
            format!("format {number} is not known; this version reads `format = 1`"),
        );
        return Err(report.into_error());
    }
    serde_path_to_error::deserialize(document.tree()).map_err(|error| {
        let path = KeyPath::from(error.path());
        let mut report = Report::new(document);
        explain(&mut report, &path, &error.into_inner().to_string());
        report.into_error()
    })
}

/// Turns a message of serde into one for people.
fn explain(report: &mut Report<'_>, path: &KeyPath, message: &str) {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if message.starts_with("unknown field") {
        let (key, names) = quoted.split_first().unwrap_or((&"", &[]));
        let table = KeyPath(path.0[..path.0.len().saturating_sub(1)].to_vec());
        let place = if table.0.is_empty() { String::new() } else { format!(" in `{table}`") };
        report.say(path, format!("unknown key `{key}`{place}; {}", known(key, names.iter().copied())));
    } else if message.starts_with("missing field") {
        let key = quoted.first().unwrap_or(&"");
        let hint = if *key == "format" { "; begin the file with `format = 1`" } else { "" };
        report.say(path, format!("key `{key}` is missing{hint}"));
    } else if message.starts_with("unknown variant") {
        report.value(path, format!("is unknown; {}", known(quoted[0], quoted[1..].iter().copied())));
    } else if let Some((_, expected)) = message.rsplit_once("expected ") {
        report.value(path, format!("must be {}", plain(expected)));
    } else {
        report.value(path, format!("is not valid: {message}"));
    }
}

fn plain(expected: &str) -> &str {
    match expected {
        "f64" => "a number",
        "u64" => "a whole number >= 0",
        "a sequence" => "a list",
        "a map" => "a table",
        "an array of length 2" => "two numbers, [x, y]",
        "an array of length 3" => "three numbers, [t, x, y]",
        _ if expected.starts_with("struct ") => "a table",
        _ => expected,
    }
}

/// Works the map file and the name into the file, so that it stands for itself.
pub(super) fn embed(
    document: &Document,
    file: &mut ScenarioFile,
    folder: Option<&Path>,
) -> Result<(), ScenarioError> {
    file.name.get_or_insert_with(|| stem(document.name()));
    let Some(name) = file.map.file.take() else { return Ok(()) };
    let path = KeyPath::top("map").then("file");
    let mut report = Report::new(document);
    if file.map.walkable.is_some() {
        report.value(&path, "and map.walkable cannot both be given; keep one");
        return Err(report.into_error());
    }
    let Some(folder) = folder else {
        report.value(&path, "cannot be found: this scenario has no folder; give the plan as map.walkable");
        return Err(report.into_error());
    };
    match drawing::load(&folder.join(&name)) {
        Ok(drawing) if drawing.polygons.is_empty() && drawing.lines.is_empty() => {
            report.value(&path, "holds neither a polygon nor a line");
        }
        Ok(drawing) => take_in(&mut file.map, drawing),
        Err(complaint) => report.value(&path, complaint),
    }
    report.finish(())
}

fn stem(name: &str) -> String {
    let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| "scenario".into())
}

fn take_in(map: &mut MapFile, drawing: Drawing) {
    map.walkable = (!drawing.polygons.is_empty()).then(|| wkt::write(&drawing.polygons));
    map.walls.extend(drawing.lines.into_iter().map(|line| line.into_iter().map(Point::from).collect()));
}

/// Checks a file and builds the scenario of it.
pub(super) fn check(document: &Document, file: &ScenarioFile) -> Result<Scenario, ScenarioError> {
    let mut checker = Checker { file, report: Report::new(document) };
    checker.clock();
    let pipeline = checker.pipeline();
    let params = checker.params(&file.params, &KeyPath::top("params"));
    let map = checker.map();
    let drafts = checker.cohorts();
    let movers = checker.movers();
    let events = checker.events(&map);
    checker.expectations();
    if !checker.report.is_empty() {
        return Err(checker.report.into_error());
    }
    let mut areas = Vec::new();
    let cohorts = checker.settle(&map, &drafts, &mut areas);
    let events = checker.resolve(events, &drafts, &cohorts, &map, &mut areas);
    let source = serde_json::to_string(file).unwrap_or_default();
    let scenario = Scenario {
        name: file.name.clone().unwrap_or_default(),
        seed: file.seed,
        dt: file.dt,
        until: file.until,
        pipeline,
        params,
        map,
        cohorts,
        areas,
        movers,
        events,
        expect: file.expect.clone(),
        source,
    };
    checker.report.finish(scenario)
}

struct Checker<'a> {
    file: &'a ScenarioFile,
    report: Report<'a>,
}

/// A checked cohort whose members have no place yet.
struct Draft<'a> {
    file: &'a CohortFile,
    path: KeyPath,
    name: String,
    first_id: u32,
    count: usize,
    layout: Layout,
    radius: Draw,
    preferred_speed: Draw,
    max_speed: Option<Draw>,
    start: Draw,
    goal: Target,
    params: Settings,
}

/// A checked goal of a cohort.
#[derive(Clone, Debug, PartialEq)]
enum Target {
    Point(DVec2),
    Points(Vec<DVec2>),
    Antipodal(DVec2),
    Offset(DVec2),
    Area(Vec<DVec2>),
}

/// A checked event whose goals have no agents yet.
enum Plan {
    Ready(Action),
    Retarget { path: KeyPath, cohort: usize, goal: Target },
}

// The parts of a file, one by one.
impl<'a> Checker<'a> {
    fn clock(&mut self) {
        self.number(&KeyPath::top("dt"), self.file.dt, Limit::above(0.0).up_to(LONGEST_STEP));
        self.number(&KeyPath::top("until"), self.file.until, Limit::from(0.0).up_to(LONGEST_TIME));
    }

    fn pipeline(&mut self) -> Pipeline {
        let PipelineFile { macroscale, mesoscale, microscale, motion } = &self.file.pipeline;
        let path = KeyPath::top("pipeline");
        self.model(&path.then("macroscale"), Stage::Macroscale, macroscale);
        self.model(&path.then("microscale"), Stage::Microscale, microscale);
        self.model(&path.then("motion"), Stage::Motion, motion);
        let path = path.then("mesoscale");
        for (index, model) in mesoscale.iter().enumerate() {
            self.model(&path.then(index), Stage::Mesoscale, model);
            if mesoscale[..index].contains(model) {
                self.report.value(&path.then(index), "stands there twice");
            }
        }
        Pipeline {
            macroscale: macroscale.clone(),
            mesoscale: mesoscale.clone(),
            microscale: microscale.clone(),
            motion: motion.clone(),
        }
    }

    fn model(&mut self, path: &KeyPath, stage: Stage, name: &str) {
        let names = catalog::names(stage);
        if !names.contains(&name) {
            let stage = format!("{stage:?}").to_lowercase();
            self.report.say(path, format!("unknown {stage} model `{name}`; {}", known(name, names)));
        }
    }

    fn params(&mut self, written: &ParamsFile, path: &KeyPath) -> Settings {
        let mut settings = Settings::new();
        for (name, values) in written {
            let path = path.then(name);
            let Some(block) = catalog::blocks().iter().find(|block| block.name == name) else {
                let names = catalog::blocks().iter().map(|block| block.name);
                self.report.say(&path, format!("unknown block `{name}`; {}", known(name, names)));
                continue;
            };
            for (key, value) in values {
                if let Err(error) = params::check(block.name, block.fields, key, value.0) {
                    self.param(&path.then(key), key, block, error);
                }
            }
            let values = values.iter().map(|(key, value)| (key.clone(), value.0)).collect();
            settings.insert(name.clone(), values);
        }
        settings
    }

    fn param(&mut self, path: &KeyPath, key: &str, block: &catalog::Block, error: ParamError) {
        match error {
            ParamError::Unknown { .. } => {
                let names = block.fields.iter().map(|field| field.name);
                self.report.say(path, format!("unknown key `{key}`; {}", known(key, names)));
            }
            ParamError::Kind { expected, .. } => self.report.value(path, format!("must be {expected}")),
            ParamError::Limit { limit, default, .. } => {
                self.report.value(path, format!("must be {limit} (default {default})"));
            }
        }
    }

    fn map(&mut self) -> FloorPlan {
        let path = KeyPath::top("map");
        let (walkable, lines) = self.walkable(&path.then("walkable"));
        let obstacles = self.obstacles(&path.then("obstacles"));
        let mut walls = lines;
        for (index, line) in self.file.map.walls.iter().enumerate() {
            let path = path.then("walls").then(index);
            let line = map::without_repeats_open(&self.points(&path, line));
            if line.len() < 2 {
                self.report.value(&path, "must have two different points or more");
            }
            walls.push(line);
        }
        let plan = FloorPlan { walkable, obstacles, walls };
        if self.report.is_empty() {
            self.not_blocked(&plan);
        }
        plan
    }

    fn walkable(&mut self, path: &KeyPath) -> (Vec<map::Polygon>, Vec<Vec<DVec2>>) {
        let Some(text) = &self.file.map.walkable else { return Default::default() };
        // The text may come from `map.file`.
        let path =
            if path.value(self.report.tree()).is_some() { path } else { &KeyPath::top("map").then("file") };
        let drawing = match wkt::parse(text) {
            Ok(drawing) => drawing,
            Err(complaint) => {
                self.report.say(path, complaint);
                return Default::default();
            }
        };
        let rings = drawing.polygons.iter().flatten().chain(&drawing.lines);
        if let Some(far) = rings.flatten().find(|point| !within_reach(**point)) {
            self.report.say(path, format!("the point {} lies beyond {FARTHEST:e} m", show(*far)));
            return Default::default();
        }
        let cleaned = map::clean_polygons(&drawing.polygons);
        if cleaned.is_empty() {
            self.report.say(
                path,
                "the walkable area has no area; draw a polygon, or leave it out for the whole plane",
            );
        }
        (cleaned, drawing.lines)
    }

    fn obstacles(&mut self, path: &KeyPath) -> Vec<(String, Vec<DVec2>)> {
        let mut obstacles: Vec<(String, Vec<DVec2>)> = Vec::new();
        for (index, obstacle) in self.file.map.obstacles.iter().enumerate() {
            let path = path.then(index);
            let (name, ring) = match obstacle {
                ObstacleFile::Ring(ring) => (format!("obstacles[{index}]"), self.ring(&path, ring)),
                ObstacleFile::Named(named) => {
                    (named.name.clone(), self.ring(&path.then("polygon"), &named.polygon))
                }
            };
            if obstacles.iter().any(|(other, _)| *other == name) {
                self.report
                    .say(&path, format!("another obstacle is called `{name}` already; choose another name"));
            }
            obstacles.push((name, ring));
        }
        obstacles
    }

    fn not_blocked(&mut self, plan: &FloorPlan) {
        if !map::boundary(plan).is_blocked() {
            return;
        }
        let alone = |(name, ring): &&(String, Vec<DVec2>)| {
            let obstacles = vec![(name.clone(), ring.clone())];
            map::boundary(&FloorPlan { obstacles, ..plan.clone() }).is_blocked()
        };
        let who = match plan.obstacles.iter().find(alone) {
            Some((name, _)) => format!("obstacle `{name}` covers"),
            None => {
                let names: Vec<&str> =
                    plan.obstacles.iter().take(10).map(|(name, _)| name.as_str()).collect();
                format!("the obstacles ({}) together cover", names.join(", "))
            }
        };
        let path = KeyPath::top("map").then("obstacles");
        self.report.say(&path, format!("{who} the whole walkable area; leave somewhere to walk"));
    }

    fn movers(&mut self) -> Vec<Mover> {
        let movers = self.file.movers.iter().enumerate();
        movers.map(|(index, mover)| self.mover(index, mover)).collect()
    }

    fn mover(&mut self, index: usize, mover: &MoverFile) -> Mover {
        let top = KeyPath::top("movers").then(index);
        self.number(&top.then("radius"), mover.radius, Limit::above(0.0).up_to(LARGEST));
        let path = top.then("path");
        if mover.path.is_empty() {
            self.report.value(&path, "must have one point or more, each [t, x, y]");
        }
        let mut last = f64::NEG_INFINITY;
        for (index, &[t, x, y]) in mover.path.iter().enumerate() {
            if !t.is_finite() || t <= last {
                self.report
                    .value(&path.then(index), "must come after the one before it; times rise, in [t, x, y]");
            }
            last = t;
            if !within_reach(DVec2::new(x, y)) {
                self.report.value(&path.then(index), format!("must not lie beyond {FARTHEST:e} m"));
            }
        }
        Mover {
            name: mover.name.clone().unwrap_or_else(|| top.to_string()),
            radius: mover.radius,
            path: mover.path.iter().map(|&[t, x, y]| (t, DVec2::new(x, y))).collect(),
        }
    }

    fn expectations(&mut self) {
        for (key, number) in &self.file.expect {
            self.number(&KeyPath::top("expect").then(key), *number, Limit::from(f64::MIN));
        }
    }
}

// Events.
impl<'a> Checker<'a> {
    /// Sorted by time; obstacles must be there when they are removed.
    fn events(&mut self, map: &FloorPlan) -> Vec<(f64, Plan)> {
        let mut order: Vec<(usize, &EventFile)> = self.file.events.iter().enumerate().collect();
        order.sort_by(|(_, a), (_, b)| a.at.total_cmp(&b.at));
        let mut present: BTreeSet<String> = map.obstacles.iter().map(|(name, _)| name.clone()).collect();
        let plan = |(index, event): (usize, &EventFile)| {
            let path = KeyPath::top("events").then(index);
            self.number(&path.then("at"), event.at, Limit::from(0.0).up_to(LONGEST_TIME));
            Some((event.at, self.event(&path, event, &mut present)?))
        };
        order.into_iter().filter_map(plan).collect()
    }

    fn event(&mut self, path: &KeyPath, event: &EventFile, present: &mut BTreeSet<String>) -> Option<Plan> {
        match (&event.add_obstacle, &event.remove_obstacle, &event.retarget) {
            (Some(obstacle), None, None) => self.addition(&path.then("add_obstacle"), obstacle, present),
            (None, Some(name), None) => self.removal(&path.then("remove_obstacle"), name, present),
            (None, None, Some(retarget)) => self.retarget(&path.then("retarget"), retarget),
            _ => {
                self.report
                    .say(path, "an event needs exactly one of add_obstacle, remove_obstacle, retarget");
                None
            }
        }
    }

    fn addition(
        &mut self,
        path: &KeyPath,
        obstacle: &NamedObstacle,
        present: &mut BTreeSet<String>,
    ) -> Option<Plan> {
        let polygon = self.ring(&path.then("polygon"), &obstacle.polygon);
        if !present.insert(obstacle.name.clone()) {
            let complaint = format!("an obstacle `{}` is there already; choose another name", obstacle.name);
            self.report.say(&path.then("name"), complaint);
        }
        Some(Plan::Ready(Action::AddObstacle { name: obstacle.name.clone(), polygon }))
    }

    fn removal(&mut self, path: &KeyPath, name: &str, present: &mut BTreeSet<String>) -> Option<Plan> {
        if !present.remove(name) {
            let names = known(name, present.iter().map(String::as_str));
            self.report.say(path, format!("there is no obstacle `{name}` at that time; {names}"));
        }
        Some(Plan::Ready(Action::RemoveObstacle(name.to_owned())))
    }

    fn retarget(&mut self, path: &KeyPath, retarget: &RetargetFile) -> Option<Plan> {
        let names: Vec<String> = (0..self.file.agents.len()).map(|index| self.cohort_name(index)).collect();
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
        Some(Plan::Retarget { path, cohort, goal })
    }

    /// Gives the members of retargeted cohorts their new goals.
    fn resolve(
        &mut self,
        plans: Vec<(f64, Plan)>,
        drafts: &[Draft<'_>],
        cohorts: &[Cohort],
        map: &FloorPlan,
        areas: &mut Vec<Vec<DVec2>>,
    ) -> Vec<Event> {
        if !self.report.is_empty() {
            return Vec::new();
        }
        let lasting = self.lasting(map);
        let mut events = Vec::new();
        for (at, plan) in plans {
            let action = match plan {
                Plan::Ready(action) => action,
                Plan::Retarget { path, cohort, goal } => {
                    let starts: Vec<DVec2> =
                        cohorts[cohort].agents.iter().map(|agent| agent.position).collect();
                    let goals = goals(&goal, &starts, areas);
                    self.goals_are_free(&path, &drafts[cohort].name, &goal, &goals, &lasting);
                    Action::Retarget { cohort, goals }
                }
            };
            events.push(Event { at, action });
        }
        events
    }
}

// Cohorts.
impl<'a> Checker<'a> {
    fn cohort_name(&self, index: usize) -> String {
        let path = KeyPath::top("agents").then(index);
        self.file.agents[index].name.clone().unwrap_or_else(|| path.to_string())
    }

    fn cohorts(&mut self) -> Vec<Draft<'a>> {
        let mut drafts: Vec<Draft<'a>> = Vec::new();
        let mut total = 0u64;
        for (index, cohort) in self.file.agents.iter().enumerate() {
            let path = KeyPath::top("agents").then(index);
            let Some(draft) = self.cohort(index, cohort, path.clone(), total) else { continue };
            if drafts.iter().any(|other| other.name == draft.name) {
                let complaint =
                    format!("another cohort is called `{}` already; choose another name", draft.name);
                self.report.say(&path.then("name"), complaint);
            }
            total += draft.count as u64;
            drafts.push(draft);
        }
        drafts
    }

    fn cohort(
        &mut self,
        index: usize,
        file: &'a CohortFile,
        path: KeyPath,
        before: u64,
    ) -> Option<Draft<'a>> {
        let speed = Limit::from(0.0).up_to(LARGEST);
        let time = Limit::from(0.0).up_to(LONGEST_TIME);
        let radius = self.drawn(&path.then("radius"), &file.radius, Limit::above(0.0).up_to(LARGEST));
        let preferred_speed = self.drawn(&path.then("preferred_speed"), &file.preferred_speed, speed);
        let max_speed = file.max_speed.as_ref().map(|max| self.drawn(&path.then("max_speed"), max, speed));
        let start = self.drawn(&path.then("start"), &file.start, time);
        if let (Some(Some(max)), Some(preferred)) = (max_speed, preferred_speed) {
            self.speeds(&path.then("max_speed"), max, preferred);
        }
        if let Some(goal_radius) = file.goal_radius {
            self.number(&path.then("goal_radius"), goal_radius, Limit::above(0.0).up_to(LARGEST));
        }
        self.number(&path.then("responsibility"), file.responsibility, Limit::from(0.0).up_to(1.0));
        if let Some(model) = &file.microscale {
            self.model(&path.then("microscale"), Stage::Microscale, model);
        }
        let params = self.params(&file.params, &path.then("params"));
        let layout = self.layout(&path.then("place"), &file.place);
        let goal = self.target(&path.then("goal"), &file.goal);
        let layout = layout?;
        let count = self.count(&path, file, &layout, before)?;
        let goal = goal?;
        self.one_goal_each(&path.then("goal"), &goal, count);
        Some(Draft {
            file,
            name: self.cohort_name(index),
            first_id: before as u32,
            count,
            layout,
            radius: radius?,
            preferred_speed: preferred_speed?,
            max_speed: max_speed.flatten(),
            start: start?,
            goal,
            params,
            path,
        })
    }

    /// Drawn preferred speeds are cut to the highest; that all of them would be cut is a mistake.
    fn speeds(&mut self, path: &KeyPath, max: Draw, preferred: Draw) {
        if max.high() < preferred.low() {
            let complaint = format!("must not be below preferred_speed ({})", preferred.low());
            self.report.value(path, complaint);
        }
    }

    fn layout(&mut self, path: &KeyPath, place: &PlaceFile) -> Option<Layout> {
        self.number(&path.then("jitter"), place.jitter, Limit::from(0.0).up_to(LARGEST));
        match (&place.grid, &place.points, &place.circle, &place.polygon) {
            (Some(grid), None, None, None) => {
                let path = path.then("grid");
                self.number(&path.then("spacing"), grid.spacing, Limit::above(0.0).up_to(LARGEST));
                if grid.columns == 0 {
                    self.report.value(&path.then("columns"), "must be 1 or more");
                    return None;
                }
                let from = self.point(&path.then("from"), grid.from);
                let columns = usize::try_from(grid.columns).unwrap_or(usize::MAX);
                Some(Layout::Grid { from, columns, spacing: grid.spacing })
            }
            (None, Some(points), None, None) => {
                let path = path.then("points");
                if points.is_empty() {
                    self.report.value(&path, "must have one point or more");
                }
                Some(Layout::Points(self.points(&path, points)))
            }
            (None, None, Some(circle), None) => {
                let path = path.then("circle");
                self.number(&path.then("radius"), circle.radius, Limit::from(0.0).up_to(FARTHEST));
                self.number(
                    &path.then("start_angle"),
                    circle.start_angle,
                    Limit::from(-LARGEST).up_to(LARGEST),
                );
                let center = self.point(&path.then("center"), circle.center);
                Some(Layout::Circle { center, radius: circle.radius, start_angle: circle.start_angle })
            }
            (None, None, None, Some(polygon)) => {
                if place.jitter != 0.0 {
                    self.report.value(
                        &path.then("jitter"),
                        "means nothing in a polygon, where chance decides anyway",
                    );
                }
                Some(Layout::Area(self.area(&path.then("polygon"), polygon)?))
            }
            _ => {
                self.report.say(path, "needs exactly one of grid, points, circle, polygon");
                None
            }
        }
    }

    fn count(&mut self, path: &KeyPath, file: &CohortFile, layout: &Layout, before: u64) -> Option<usize> {
        let path = path.then("count");
        let listed = if let Layout::Points(points) = layout { Some(points.len() as u64) } else { None };
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

    fn target(&mut self, path: &KeyPath, goal: &GoalFile) -> Option<Target> {
        let GoalFile { point, points, antipodal, offset, polygon } = goal;
        match (point, points, antipodal, offset, polygon) {
            (Some(point), None, None, None, None) => {
                Some(Target::Point(self.point(&path.then("point"), *point)))
            }
            (None, Some(points), None, None, None) => {
                let path = path.then("points");
                if points.is_empty() {
                    self.report.value(&path, "must have one point or more");
                }
                Some(Target::Points(self.points(&path, points)))
            }
            (None, None, Some(center), None, None) => {
                Some(Target::Antipodal(self.point(&path.then("antipodal"), *center)))
            }
            (None, None, None, Some(offset), None) => {
                Some(Target::Offset(self.point(&path.then("offset"), *offset)))
            }
            (None, None, None, None, Some(polygon)) => {
                Some(Target::Area(self.area(&path.then("polygon"), polygon)?))
            }
            _ => {
                self.report.say(path, "needs exactly one of point, points, antipodal, offset, polygon");
                None
            }
        }
    }

    fn one_goal_each(&mut self, path: &KeyPath, goal: &Target, count: usize) {
        if let Target::Points(points) = goal
            && points.len() != count
        {
            let listed = points.len();
            let complaint = format!("lists {listed} points for {count} agents; give each agent one");
            self.report.say(&path.then("points"), complaint);
        }
    }

    /// Gives every agent its place, its goal and its figures.
    fn settle(&mut self, map: &FloorPlan, drafts: &[Draft<'_>], areas: &mut Vec<Vec<DVec2>>) -> Vec<Cohort> {
        let boundary = map::boundary(map);
        let region = Region::new(&boundary);
        let radii: Vec<Vec<f64>> = drafts.iter().map(|draft| self.radii(draft)).collect();
        let places = self.places(map, &region, drafts, &radii);
        let lasting = self.lasting(map);
        let mut cohorts = Vec::new();
        for ((draft, radii), places) in drafts.iter().zip(radii).zip(places) {
            let goals = goals(&draft.goal, &places, areas);
            self.goals_are_free(&draft.path.then("goal"), &draft.name, &draft.goal, &goals, &lasting);
            let goal_radius =
                draft.file.goal_radius.unwrap_or_else(|| radii.iter().copied().fold(0.0, f64::max));
            cohorts.push(Cohort {
                name: draft.name.clone(),
                agents: self.agents(draft, &places, &radii, &goals),
                leaves: draft.file.on_arrival == OnArrival::Leave,
                // An empty cohort has no largest radius.
                goal_radius: if goal_radius > 0.0 { goal_radius } else { draft.radius.high() },
                responsibility: draft.file.responsibility,
                microscale: draft.file.microscale.clone(),
                params: draft.params.clone(),
            });
        }
        cohorts
    }

    fn radii(&self, draft: &Draft<'_>) -> Vec<f64> {
        let seed = self.file.seed;
        let ids = (draft.first_id..).take(draft.count);
        ids.map(|id| draft.radius.draw(|| rng::stream(seed, id, 0, Purpose::Radius))).collect()
    }

    fn agents(&self, draft: &Draft<'_>, places: &[DVec2], radii: &[f64], goals: &[Goal]) -> Vec<AgentStart> {
        let seed = self.file.seed;
        let agent = |(((id, &position), &radius), &goal): (((u32, &DVec2), &f64), &Goal)| {
            let stream = |purpose| move || rng::stream(seed, id, 0, purpose);
            let preferred_speed = draft.preferred_speed.draw(stream(Purpose::PreferredSpeed));
            let max_speed = match draft.max_speed {
                Some(max) => max.draw(stream(Purpose::MaxSpeed)),
                None => default_max_speed(preferred_speed),
            };
            AgentStart {
                position,
                goal,
                radius,
                preferred_speed: preferred_speed.min(max_speed),
                max_speed,
                start: draft.start.draw(stream(Purpose::Start)),
            }
        };
        (draft.first_id..).zip(places).zip(radii).zip(goals).map(agent).collect()
    }

    /// Listed places first, so that those who are scattered can keep clear of everyone.
    fn places(
        &mut self,
        map: &FloorPlan,
        region: &Region,
        drafts: &[Draft<'_>],
        radii: &[Vec<f64>],
    ) -> Vec<Vec<DVec2>> {
        let mut places: Vec<Vec<DVec2>> = vec![Vec::new(); drafts.len()];
        for (index, draft) in drafts.iter().enumerate() {
            let Some(fixed) = draft.layout.fixed(draft.count) else { continue };
            places[index] = self.jitter(draft, fixed, region);
            self.starts_are_free(draft, &places[index], map, region);
        }
        if drafts.iter().all(|draft| !matches!(draft.layout, Layout::Area(_))) || !self.report.is_empty() {
            return places;
        }
        let mut standing = Standing::new(radii.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max));
        for (place, radius) in places.iter().flatten().zip(radii_of_placed(drafts, radii)) {
            standing.add(*place, radius);
        }
        for (index, draft) in drafts.iter().enumerate() {
            let Layout::Area(area) = &draft.layout else { continue };
            let (first_id, seed) = (draft.first_id, self.file.seed);
            let scatter = Scatter { area, radii: &radii[index], first_id, seed };
            match scatter.place(region, &mut standing) {
                Ok(scattered) => places[index] = scattered,
                Err(full) => self.too_full(draft, full.fitted),
            }
        }
        places
    }

    fn too_full(&mut self, draft: &Draft<'_>, fitted: usize) {
        let (name, count) = (&draft.name, draft.count);
        let complaint = format!(
            "only {fitted} of the {count} agents of cohort `{name}` fitted in, clear of one another and of walls; \
             enlarge the polygon, or lower count or radius"
        );
        self.report.say(&draft.path.then("place").then("polygon"), complaint);
    }

    fn jitter(&self, draft: &Draft<'_>, mut places: Vec<DVec2>, region: &Region) -> Vec<DVec2> {
        let reach = draft.file.place.jitter;
        if reach > 0.0 {
            for (id, place) in (draft.first_id..).zip(&mut places) {
                *place = jittered(*place, reach, region, rng::stream(self.file.seed, id, 0, Purpose::Jitter));
            }
        }
        places
    }
}

// Agents on the map.
impl Checker<'_> {
    fn starts_are_free(&mut self, draft: &Draft<'_>, places: &[DVec2], map: &FloorPlan, region: &Region) {
        for (index, &place) in places.iter().enumerate() {
            let Some(complaint) = trouble(place, map, region) else { continue };
            let path = draft.path.then("place");
            let path = match draft.layout {
                Layout::Points(_) => path.then("points").then(index),
                _ => path,
            };
            let who = format!("agent {index} of cohort `{}` starts at {}", draft.name, show(place));
            self.report.say(&path, format!("{who}, {complaint}; move it"));
            if self.report.is_full() {
                return;
            }
        }
    }

    fn goals_are_free(
        &mut self,
        path: &KeyPath,
        cohort: &str,
        target: &Target,
        goals: &[Goal],
        lasting: &Lasting,
    ) {
        if let Target::Area(area) = target {
            if map::free_area(&lasting.map, area) < SMALLEST_GOAL {
                let complaint = format!("no part of the goal of cohort `{cohort}` is free; move it");
                self.report.say(&path.then("polygon"), complaint);
            }
            return;
        }
        // A goal that everyone shares is looked at once.
        let looked_at = if matches!(target, Target::Point(_)) { goals.len().min(1) } else { goals.len() };
        for (index, goal) in goals[..looked_at].iter().enumerate() {
            let Goal::Point(goal) = *goal else { continue };
            let Some(complaint) = trouble(goal, &lasting.map, &lasting.region) else { continue };
            let (path, who) = match target {
                Target::Point(_) => (path.then("point"), "the goal".into()),
                Target::Points(_) => (path.then("points").then(index), format!("goal {index}")),
                _ => (path.clone(), format!("the goal of agent {index}")),
            };
            let complaint = format!("{who} of cohort `{cohort}` is at {}, {complaint}; move it", show(goal));
            self.report.say(&path, complaint);
            if self.report.is_full() {
                return;
            }
        }
    }

    /// The map without the obstacles that an event takes away: a goal may wait behind a barrier.
    fn lasting(&self, map: &FloorPlan) -> Lasting {
        let removed: BTreeSet<&str> =
            self.file.events.iter().filter_map(|event| event.remove_obstacle.as_deref()).collect();
        let mut map = map.clone();
        map.obstacles.retain(|(name, _)| !removed.contains(name.as_str()));
        let region = Region::new(&map::boundary(&map));
        Lasting { map, region }
    }
}

/// What stays on the map for good.
struct Lasting {
    map: FloorPlan,
    region: Region,
}

/// A goal with less free area than this cannot be reached, m².
const SMALLEST_GOAL: f64 = 1e-6;

/// Why nobody can be at a point.
fn trouble(place: DVec2, map: &FloorPlan, region: &Region) -> Option<String> {
    if !within_reach(place) {
        return Some(format!("beyond {FARTHEST:e} m"));
    }
    if region.is_free(place) {
        return None;
    }
    match map.obstacles.iter().find(|(_, ring)| map::winds_around(ring, place)) {
        Some((name, _)) => Some(format!("inside obstacle `{name}`")),
        None => Some("outside the walkable area".into()),
    }
}

fn radii_of_placed<'r>(drafts: &'r [Draft<'_>], radii: &'r [Vec<f64>]) -> impl Iterator<Item = f64> + 'r {
    let placed = drafts.iter().zip(radii).filter(|(draft, _)| !matches!(draft.layout, Layout::Area(_)));
    placed.flat_map(|(_, radii)| radii.iter().copied())
}

fn goals(target: &Target, starts: &[DVec2], areas: &mut Vec<Vec<DVec2>>) -> Vec<Goal> {
    match target {
        Target::Point(point) => vec![Goal::Point(*point); starts.len()],
        Target::Points(points) => points.iter().copied().map(Goal::Point).collect(),
        Target::Antipodal(center) => starts.iter().map(|&start| Goal::Point(2.0 * *center - start)).collect(),
        Target::Offset(offset) => starts.iter().map(|&start| Goal::Point(start + *offset)).collect(),
        Target::Area(area) => {
            areas.push(area.clone());
            vec![Goal::Area(areas.len() as u32 - 1); starts.len()]
        }
    }
}

/// People who like to walk fast can walk faster; everyone can hurry a little.
fn default_max_speed(preferred_speed: f64) -> f64 {
    (1.35 * preferred_speed).max(1.8)
}

// Single values.
impl Checker<'_> {
    fn number(&mut self, path: &KeyPath, number: f64, limit: Limit) {
        if !limit.holds(number) {
            self.report.value(path, format!("must be {limit}"));
        }
    }

    fn drawn(&mut self, path: &KeyPath, number: &Number, limit: Limit) -> Option<Draw> {
        number
            .check(limit)
            .map_err(|(key, complaint)| {
                let path = if key.is_empty() { path.clone() } else { path.then(key) };
                self.report.value(&path, complaint);
            })
            .ok()
    }

    fn point(&mut self, path: &KeyPath, point: Point) -> DVec2 {
        let point = DVec2::from(point);
        if !within_reach(point) {
            self.report.value(path, format!("must not lie beyond {FARTHEST:e} m"));
        }
        point
    }

    fn points(&mut self, path: &KeyPath, points: &[Point]) -> Vec<DVec2> {
        if let Some(index) = points.iter().position(|&point| !within_reach(point.into())) {
            self.point(&path.then(index), points[index]);
        }
        points.iter().map(|&point| point.into()).collect()
    }

    /// A ring with two different corners or more: with two it is a wall.
    fn ring(&mut self, path: &KeyPath, points: &[Point]) -> Vec<DVec2> {
        let ring = map::without_repeats(&self.points(path, points));
        if points.is_empty() {
            self.report.value(path, "must have three points or more");
        }
        ring
    }

    /// A ring with an area.
    fn area(&mut self, path: &KeyPath, points: &[Point]) -> Option<Vec<DVec2>> {
        let ring = self.ring(path, points);
        if points.is_empty() || !ring.iter().all(|&point| within_reach(point)) {
            return None;
        }
        if map::clean_polygons(&[vec![ring.clone()]]).is_empty() {
            self.report.value(path, "must have an area: three points or more that are not in a line");
            return None;
        }
        Some(ring)
    }
}

fn within_reach(point: DVec2) -> bool {
    // False for NaN too.
    point.x.abs() <= FARTHEST && point.y.abs() <= FARTHEST
}

fn show(point: DVec2) -> String {
    format!("({}, {})", point.x, point.y)
}
