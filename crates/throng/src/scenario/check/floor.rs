//! The map.

use super::values::{show, within_reach};
use super::{Checker, FARTHEST};
use crate::catalog::{self, Stage};
use crate::map;
use crate::map::Map;
use crate::map::wkt;
use crate::scenario::file::{ObstacleFile, PipelineFile};
use crate::scenario::path::KeyPath;
use glam::DVec2;
use std::collections::BTreeSet;
use throng_core::params::Limit;

/// Ground that costs more is an obstacle.
const DEAREST_GROUND: f64 = 1000.0;
/// How agents walk on a map that repeats.
pub(super) const POINTS_ONLY: &str =
    "let agents walk to points, such as `goal = { offset = [1000, 0] }` with `on_arrival = \"leave\"`";

impl Checker<'_> {
    pub(super) fn map(&mut self) -> Map {
        let path = KeyPath::top("map");
        let (walkable, lines) = self.walkable(&path.then("walkable"));
        let obstacles = self.obstacles(&path.then("obstacles"));
        let gaps = self.gaps(&path.then("gaps"));
        let mut walls = lines;
        for (index, line) in self.file.map.walls.iter().enumerate() {
            let path = path.then("walls").then(index);
            let line = map::without_repeats_open(&self.points(&path, line));
            if line.len() < 2 {
                self.report.value(&path, "must have two different points or more");
            }
            walls.push(line);
        }
        let terrain = self.terrain(&path.then("terrain"));
        let plan = Map { walkable, obstacles, gaps, walls, terrain, periodic: DVec2::ZERO };
        let plan = self.periodic(&path.then("periodic"), plan);
        if self.report.is_empty() {
            self.not_blocked(&plan.with_solid_gaps());
        }
        plan
    }

    /// Lets a map repeat, where that is asked for and everything else of the scenario can.
    fn periodic(&mut self, path: &KeyPath, plan: Map) -> Map {
        let Some(period) = self.file.map.periodic else { return plan };
        let plan = Map { periodic: period.into(), ..plan };
        if plan.repeat().is_none() {
            return plan;
        }
        self.all_can_repeat();
        match plan.check_period() {
            Ok(()) => plan,
            Err(error) => {
                self.report.say(path, error.to_string());
                Map { periodic: DVec2::ZERO, ..plan }
            }
        }
    }

    /// Models and ways out that know nothing of seams.
    fn all_can_repeat(&mut self) {
        let pipeline = KeyPath::top("pipeline");
        let PipelineFile { macroscale, mesoscale, motion, .. } = &self.file.pipeline;
        let among = mesoscale.iter().enumerate();
        let among =
            among.map(|(index, name)| (pipeline.then("mesoscale").then(index), Stage::Mesoscale, name));
        let others = [
            (pipeline.then("macroscale"), Stage::Macroscale, macroscale),
            (pipeline.then("motion"), Stage::Motion, motion),
        ];
        for (path, stage, name) in others.into_iter().chain(among) {
            // One that there is not is told of already.
            if catalog::names(stage).contains(&name.as_str()) && !catalog::is_periodic(stage, name) {
                self.report.say(&path, catalog::not_periodic(stage, name));
            }
        }
        let ways = [
            ("exits", self.file.exits.is_empty()),
            ("stages", self.file.stages.is_empty()),
            ("journeys", self.file.journeys.is_empty()),
        ];
        for (key, _) in ways.into_iter().filter(|(_, is_empty)| !is_empty) {
            self.report.say(&KeyPath::top(key), format!("a periodic map takes no {key}; {POINTS_ONLY}"));
        }
    }

    fn gaps(&mut self, path: &KeyPath) -> Vec<Vec<DVec2>> {
        let rings = self.file.map.gaps.iter().enumerate();
        rings.filter_map(|(index, ring)| self.area(&path.then(index), ring)).collect()
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
        let mut obstacles = Vec::new();
        let mut names = BTreeSet::new();
        for (index, obstacle) in self.file.map.obstacles.iter().enumerate() {
            let path = path.then(index);
            let (name, ring) = match obstacle {
                ObstacleFile::Ring(ring) => (format!("obstacles[{index}]"), self.ring(&path, ring)),
                ObstacleFile::Named(named) => {
                    (named.name.clone(), self.ring(&path.then("polygon"), &named.polygon))
                }
            };
            if !names.insert(name.clone()) {
                self.report
                    .say(&path, format!("another obstacle is called `{name}` already; choose another name"));
            }
            obstacles.push((name, ring));
        }
        obstacles
    }

    fn terrain(&mut self, path: &KeyPath) -> Vec<(Vec<DVec2>, f64)> {
        let mut terrain = Vec::new();
        for (index, piece) in self.file.map.terrain.iter().enumerate() {
            let path = path.then(index);
            self.number(&path.then("cost"), piece.cost, Limit::from(1.0).up_to(DEAREST_GROUND));
            terrain.extend(self.area(&path.then("polygon"), &piece.polygon).map(|ring| (ring, piece.cost)));
        }
        terrain
    }

    fn not_blocked(&mut self, plan: &Map) {
        if !map::boundary(plan).is_blocked() {
            return;
        }
        let alone = |(name, ring): &&(String, Vec<DVec2>)| {
            let obstacles = vec![(name.clone(), ring.clone())];
            map::boundary(&Map { obstacles, ..plan.clone() }).is_blocked()
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
}
