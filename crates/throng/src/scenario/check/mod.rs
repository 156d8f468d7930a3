//! From what is written to what it means: every check of a scenario.
//!
//! Everything that can be checked on its own is checked first, and all of its problems are reported together; only a
//! file without such problems gets its agents, which are then checked against the map.

mod agents;
mod cohorts;
mod events;
mod floor;
mod measures;
mod sources;
mod values;
mod ways;

use super::document::Document;
use super::error::{Report, ScenarioError, known};
use super::file::*;
use super::number::complaint;
use super::path::KeyPath;
use super::{Journey, Link, Mover, Pipeline, Scenario, Settings};
use crate::catalog::{self, Stage};
use crate::expect;
use crate::map::Map;
use crate::measure::Measure;
use crate::preset::Preset;
use glam::DVec2;
use throng_core::params::{self, Draw, Limit, ParamError, Value};
use values::within_reach;

/// More agents than this are a slip of the keyboard.
const MOST_AGENTS: u64 = 10_000_000;
/// Coordinates beyond this have lost their millimetres, m.
const FARTHEST: f64 = 1e9;
/// A shorter step leads nowhere: positions have no room for it.
const SHORTEST_STEP: f64 = 1e-6;
const LONGEST_STEP: f64 = 60.0;
const LONGEST_TIME: f64 = 1e9;
const LARGEST: f64 = 1e6;
/// A body where nobody says how wide, m.
const USUAL_RADIUS: f64 = 0.25;

/// Checks a file and builds the scenario of it.
pub(super) fn check(document: &Document, file: &ScenarioFile) -> Result<Scenario, ScenarioError> {
    let mut checker = Checker { file, report: Report::new(document), journeys: Vec::new() };
    checker.clock();
    let pipeline = checker.pipeline();
    let mut params = checker.preset();
    for (block, values) in checker.params(&file.params, &KeyPath::top("params")) {
        params.entry(block).or_default().extend(values);
    }
    let map = checker.map();
    // No agent stands over a gap, whatever it walks on.
    let solid = map.with_solid_gaps();
    // A map with faults is no measure for anything.
    let is_sound = checker.report.is_empty();
    let lasting =
        if is_sound && file.has_ways() { checker.lasting(&solid) } else { checker.lasting(&Map::default()) };
    checker.names_of_ways();
    checker.journeys();
    let drafts = checker.cohorts();
    let inflows = checker.sources(&lasting);
    let radii = drafts.iter().map(|draft| &draft.people).chain(inflows.iter().map(|inflow| &inflow.people));
    let widest = radii.map(|people| people.radius.high()).fold(0.0, f64::max);
    let exits = checker.exits(&lasting);
    let stages = checker.stages(&lasting, if widest > 0.0 { widest } else { USUAL_RADIUS });
    let movers = checker.movers();
    let links = checker.links();
    let events = checker.events(&map);
    let measures = checker.measures();
    checker.expectations(&measures);
    if !checker.report.is_empty() {
        return Err(checker.report.into_error());
    }
    let mut areas = Vec::new();
    let mut cohorts = checker.place_agents(&solid, &drafts, &mut areas);
    checker.links_are_free(&links, &solid);
    let events = checker.resolve(events, &drafts, &cohorts, &solid, &mut areas);
    let sources = checker.fill_sources(&inflows, &lasting, &mut cohorts, &mut areas);
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
        sources,
        exits,
        stages,
        journeys: std::mem::take(&mut checker.journeys),
        movers,
        links,
        events,
        measures,
        expect: file.expect.clone(),
        source,
    };
    checker.report.finish(scenario)
}

struct Checker<'a> {
    file: &'a ScenarioFile,
    report: Report<'a>,
    /// Those with a name, then one for each goal of exits that was come across.
    journeys: Vec<Journey>,
}

// The parts of a file, one by one.
impl<'a> Checker<'a> {
    fn clock(&mut self) {
        self.number(&KeyPath::top("dt"), self.file.dt, Limit::from(SHORTEST_STEP).up_to(LONGEST_STEP));
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

    fn preset(&mut self) -> Settings {
        let Some(name) = &self.file.preset else { return Settings::new() };
        if let Some(preset) = Preset::named(name) {
            return preset.settings();
        }
        let names = Preset::ALL.map(Preset::name);
        self.report.say(&KeyPath::top("preset"), format!("unknown preset `{name}`; {}", known(name, names)));
        Settings::new()
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
        let blocks = catalog::blocks();
        for (name, values) in written {
            let path = path.then(name);
            let Some(block) = blocks.iter().find(|block| block.name == name) else {
                let names = blocks.iter().map(|block| block.name);
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
            ParamError::Limit { value, limit, default, .. } => {
                let reaches = match *value {
                    Value::Drawn(draw @ (Draw::Normal { .. } | Draw::LogNormal { .. })) => {
                        complaint(&draw, limit)
                    }
                    _ => format!("must be {limit}"),
                };
                self.report.value(path, format!("{reaches} (default {default})"));
            }
        }
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
            carries: mover.carries,
        }
    }

    fn links(&mut self) -> Vec<Link> {
        let links = self.file.links.iter().enumerate();
        let link = |(index, link): (usize, &LinkFile)| {
            let path = KeyPath::top("links").then(index);
            self.number(&path.then("cost"), link.cost, Limit::from(0.0).up_to(LARGEST));
            let (from, to) =
                (self.point(&path.then("from"), link.from), self.point(&path.then("to"), link.to));
            if from == to {
                self.report.value(&path.then("to"), "must be another place than `from`");
            }
            Link { from, to, cost: link.cost, both_ways: link.both_ways }
        };
        links.map(link).collect()
    }

    fn expectations(&mut self, measures: &[Measure]) {
        for (key, number) in &self.file.expect {
            let path = KeyPath::top("expect").then(key);
            self.number(&path, *number, Limit::from(f64::MIN));
            if !expect::is_known(key, measures) {
                let figures: Vec<String> = expect::figures(measures).collect();
                let figures = known(key, figures.iter().map(String::as_str));
                self.report.say(
                    &path,
                    format!("unknown key `{key}`; {figures}; each also with min_ or max_ before it"),
                );
            }
        }
    }
}
