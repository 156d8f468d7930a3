//! What a crowd is built from.

use super::agent::{Cohort, CohortId};
use super::apply::{Pending, check_area, check_cohort, check_periodic, check_settings};
use super::edit::EditError;
use super::floor::{Floor, is_within_reach};
use super::{Crowd, Handover, State, Timings, local};
use crate::map::{Link, Map, MapError, Ring, bounds};
use crate::pipeline::{Models, Stages, UnknownModel, settings_of};
use crate::preset::Preset;
use glam::DVec2;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use throng_core::params::{ParamError, Params, Value};
use throng_core::world::{self, World};
use throng_macroscale::MacroscaleModel;
use throng_mesoscale::MesoscaleModel;
use throng_microscale::LocalModel;
use throng_motion::Motion;

/// A crowd to be built. Every setting has a default: straight to the goal, ORCA, on an endless plane, steps of 0.1 s.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct Builder {
    dt: f64,
    seed: u64,
    threads: Option<usize>,
    origin: Option<DVec2>,
    map: Map,
    links: Vec<Link>,
    models: Models,
    /// In the order in which they were said; where there are none, the first is as cohorts are by default.
    cohorts: Vec<Cohort>,
    /// The first thing that was wrong; told when the crowd is built.
    error: Option<BuildError>,
}

/// Why a crowd cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A map that is none.
    #[error(transparent)]
    Map(#[from] MapError),
    /// A model that the catalog does not know.
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    /// A parameter that is not allowed.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Something that no crowd takes, at the beginning or later.
    #[error(transparent)]
    Edit(EditError),
    /// The operating system refused.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// Why not.
        reason: String,
    },
}

impl From<EditError> for BuildError {
    fn from(error: EditError) -> BuildError {
        match error {
            EditError::UnknownModel(error) => BuildError::UnknownModel(error),
            EditError::Param(error) => BuildError::Param(error),
            error => BuildError::Edit(error),
        }
    }
}

impl Default for Builder {
    fn default() -> Builder {
        Builder {
            dt: 0.1,
            seed: 0,
            threads: None,
            origin: None,
            map: Map::default(),
            links: Vec::new(),
            models: Models::default(),
            cohorts: Vec::new(),
            error: None,
        }
    }
}

impl Builder {
    /// Length of a step, s. Default 0.1.
    pub fn dt(self, dt: f64) -> Builder {
        Builder { dt, ..self }
    }

    /// Key of everything that agents draw. Default 0.
    pub fn seed(self, seed: u64) -> Builder {
        Builder { seed, ..self }
    }

    /// Threads of its own that steps are spread over; 0 means all cores. Without, all crowds of a program share theirs. The
    /// result is the same on any number.
    pub fn threads(self, threads: usize) -> Builder {
        Builder { threads: Some(threads), ..self }
    }

    /// The place that positions are kept relative to. Default: the middle of the map; without one, near the first agent.
    pub fn origin(self, origin: impl Into<DVec2>) -> Builder {
        Builder { origin: Some(origin.into()), ..self }
    }

    /// The map: all of it, in the place of what was said before.
    pub fn map(self, map: Map) -> Builder {
        Builder { map, ..self }
    }

    /// The outline of where agents can walk, m. Several are joined. Without any, the whole plane is walkable.
    pub fn walkable<R: Ring + ?Sized>(self, outline: &R) -> Builder {
        let outline = vec![outline.corners()];
        self.change_map(|map| map.add_walkable(outline))
    }

    /// An obstacle, its corners in either winding, m.
    pub fn obstacle<R: Ring + ?Sized>(self, name: impl Into<String>, ring: &R) -> Builder {
        let ring = ring.corners();
        self.change_map(|map| map.add_obstacle(name, ring))
    }

    /// A wall without an inside: a line of two points or more, m, seen from both sides.
    pub fn wall<R: Ring + ?Sized>(self, line: &R) -> Builder {
        let line = line.corners();
        self.change_map(|map| map.add_wall(line))
    }

    /// Lets space repeat with these periods along x and y, m; 0 along an axis where it does not. Who leaves the cell at one side
    /// comes in at the other, and its goal comes along: one that is 1000 m ahead is reached after 1000 m. The cell begins at the
    /// least coordinate of the walkable area, which must be as wide as the period, or at 0 where there is none. Of another agent
    /// only the nearest image counts.
    pub fn periodic(mut self, period: impl Into<DVec2>) -> Builder {
        self.map.periodic = period.into();
        self
    }

    /// A jump over what cannot be walked on, for planners that take such.
    pub fn link(mut self, link: Link) -> Builder {
        self.links.push(link);
        self
    }

    /// Where to: the planner.
    pub fn macroscale<M: MacroscaleModel>(mut self, model: M) -> Builder {
        self.models.pipeline.macroscale = M::BLOCK.into();
        self.params(model)
    }

    /// Among whom: a model that adapts what the planner wants, after those that were added before.
    pub fn mesoscale<M: MesoscaleModel>(mut self, model: M) -> Builder {
        self.models.pipeline.mesoscale.push(M::BLOCK.into());
        self.params(model)
    }

    /// Which velocity now: the local model.
    pub fn microscale<M: LocalModel>(mut self, model: M) -> Builder {
        self.models.pipeline.microscale = M::BLOCK.into();
        self.params(model)
    }

    /// How bodies move.
    pub fn motion<M: Params + Motion>(mut self, model: M) -> Builder {
        self.models.pipeline.motion = M::BLOCK.into();
        self.params(model)
    }

    /// The planner by its name in the catalog, with values by their keys.
    pub fn macroscale_named(mut self, name: &str, params: BTreeMap<String, Value>) -> Builder {
        self.models.pipeline.macroscale = name.into();
        self.params_named(name, params)
    }

    /// A mesoscale model by its name in the catalog, with values by their keys.
    pub fn mesoscale_named(mut self, name: &str, params: BTreeMap<String, Value>) -> Builder {
        self.models.pipeline.mesoscale.push(name.into());
        self.params_named(name, params)
    }

    /// The local model by its name in the catalog, with values by their keys.
    pub fn microscale_named(mut self, name: &str, params: BTreeMap<String, Value>) -> Builder {
        self.models.pipeline.microscale = name.into();
        self.params_named(name, params)
    }

    /// The motion by its name in the catalog, with values by their keys.
    pub fn motion_named(mut self, name: &str, params: BTreeMap<String, Value>) -> Builder {
        self.models.pipeline.motion = name.into();
        self.params_named(name, params)
    }

    /// What agents do in a dense crowd. A block that is given later takes the place of the preset's whole block: say
    /// `Headway { on: true, time_gap: 0.8, ..Headway::default() }`.
    pub fn preset(mut self, preset: Preset) -> Builder {
        for (block, values) in preset.settings() {
            self.models.params.entry(block).or_default().extend(values);
        }
        self
    }

    /// Values of any block, such as `Headway` or `Contact`.
    pub fn params<P: Params>(self, params: P) -> Builder {
        self.params_named(P::BLOCK, settings_of(&params))
    }

    /// Values of a block by its name.
    pub fn params_named(mut self, block: &str, params: BTreeMap<String, Value>) -> Builder {
        self.models.params.insert(block.into(), params);
        self
    }

    /// All models and values, in the place of what was said before. What it says of cohorts does not count.
    pub fn models(self, models: Models) -> Builder {
        Builder { models, ..self }
    }

    /// What a cohort is like. The first call describes cohort 0, which is there anyway and to which agents belong that name no
    /// other; every further call adds one: cohort 1, 2 and so on, as [`Crowd::add_cohort`] does later.
    pub fn cohort(mut self, cohort: Cohort) -> Builder {
        self.cohorts.push(cohort);
        self
    }

    /// Builds the crowd, or says what is wrong.
    pub fn build(mut self) -> Result<Crowd, BuildError> {
        if self.cohorts.is_empty() {
            self.cohorts.push(Cohort::default());
        }
        let cohorts = std::mem::take(&mut self.cohorts);
        self.build_with(cohorts)
    }

    /// The same with other cohorts.
    pub(crate) fn build_with(mut self, cohorts: Vec<Cohort>) -> Result<Crowd, BuildError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        check_dt(self.dt)?;
        if cohorts.len() > usize::from(u16::MAX) {
            return Err(EditError::TooMany("65535 cohorts").into());
        }
        cohorts.iter().try_for_each(check_cohort)?;
        self.models.cohorts = cohorts.iter().map(|cohort| cohort.models.clone()).collect();
        check_settings(&self.models)?;
        self.map.check_period()?;
        check_periodic(&self.map, &self.models)?;
        cohorts.iter().try_for_each(|cohort| check_area(&self.map, cohort.area.is_some()))?;
        let free_origin = self.origin.is_none()
            && self.map.is_empty()
            && self.map.repeat().is_none()
            && self.links.is_empty();
        let origin = self.origin.unwrap_or_else(|| middle(&self.map));
        let mut world = World::new(origin, self.dt);
        world.seed = self.seed;
        for link in &self.links {
            world.links.push(checked_link(link, origin)?);
        }
        let pool = self.threads.map(pool).transpose()?;
        let stages = Stages::new(&self.models)?;
        let floor = Floor::new(self.map, stages.bodies.legs().is_some());
        if floor.boundary().is_blocked() {
            return Err(EditError::NothingLeft("all of them together".into()).into());
        }
        let mut crowd = Crowd::around(State::new(world, self.models, floor, free_origin), stages, pool);
        for cohort in cohorts {
            crowd.join_cohort(cohort);
        }
        Ok(crowd)
    }

    fn change_map(mut self, change: impl FnOnce(&mut Map) -> Result<(), MapError>) -> Builder {
        let changed = change(&mut self.map);
        self.error = self.error.or(changed.err().map(BuildError::Map));
        self
    }
}

impl Crowd {
    /// Models at work on a world.
    pub(super) fn around(state: State, stages: Stages, pool: Option<Arc<rayon_core::ThreadPool>>) -> Crowd {
        let origin = state.world.origin;
        let (handover, timings) = (Handover::default(), Timings::default());
        let mut crowd = Crowd { state, stages, handover, timings, pool };
        crowd.state.world.repeat(crowd.state.floor.period(origin));
        // Not as a change of the map: what a saved crowd remembers of it stays valid.
        crowd.state.world.restore_map(world::Map {
            walls: crowd.state.floor.walls(origin, crowd.wall_range()),
            terrain: crowd.state.floor.terrain(origin),
            legs: crowd.stages.bodies.legs(),
            gaps: crowd.state.floor.gaps(origin),
        });
        crowd.learn_reach();
        crowd
    }
}

impl State {
    fn new(world: World, models: Models, floor: Floor, free_origin: bool) -> State {
        let dt = world.dt();
        State {
            world,
            models,
            floor,
            cohort_names: Vec::new(),
            movers: (Vec::new(), 0),
            pending: Pending::default(),
            unreachable: Vec::new(),
            free_origin,
            // A number of no meaning: handles of two crowds are told apart by it.
            tag: RandomState::new().hash_one(0) as u32,
            dt,
            log: None,
        }
    }
}

pub(super) fn pool(threads: usize) -> Result<Arc<rayon_core::ThreadPool>, BuildError> {
    let pool = rayon_core::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Arc::new).map_err(|error| BuildError::Threads { threads, reason: error.to_string() })
}

fn checked_link(link: &Link, origin: DVec2) -> Result<world::Link, EditError> {
    let is_sane = (0.0..=super::FARTHEST).contains(&link.cost);
    if !(is_sane && is_within_reach(link.from) && is_within_reach(link.to)) {
        let expected = "0 or more, between places within 1e9 m";
        return Err(EditError::BadNumber { name: "a link's cost", value: link.cost, expected });
    }
    let (from, to) = (local(link.from, origin), local(link.to, origin));
    Ok(world::Link { from, to, cost: link.cost as f32, both_ways: link.both_ways })
}

pub(super) fn check_dt(dt: f64) -> Result<(), EditError> {
    let is_sane = (1e-6..=60.0).contains(&dt);
    if is_sane {
        Ok(())
    } else {
        Err(EditError::BadNumber { name: "dt", value: dt, expected: "from 1e-6 to 60 s" })
    }
}

/// The middle of what is drawn, so that positions are small numbers wherever the map lies.
fn middle(map: &Map) -> DVec2 {
    let (low, high) = bounds(map.points());
    map.repeat().middle_or(if low.cmple(high).all() { (low + high) / 2.0 } else { DVec2::ZERO })
}

impl CohortId {
    /// The cohort that is there from the beginning.
    pub const FIRST: CohortId = CohortId(0);
}

/// Settings for a builder from names: `settings([("time_horizon", 2.0)])`.
pub fn settings<const N: usize>(values: [(&str, f64); N]) -> BTreeMap<String, Value> {
    values.into_iter().map(|(key, value)| (key.to_owned(), Value::Number(value))).collect()
}
