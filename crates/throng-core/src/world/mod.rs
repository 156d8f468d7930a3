//! The world: all state that lasts from step to step. Stages see it through a frozen [`View`]; the one write is
//! [`World::commit`].

mod agents;
mod cohort;
mod commit;
mod feet;
mod flow;
mod gaps;
mod hash;
mod jam;
mod map;
mod movers;
mod radii;
mod rows;
mod slots;
mod steering;
mod terrain;
mod view;

pub use agents::{Agent, Agents, Status};
pub use cohort::{Bound, Cohort, Destination};
pub use commit::{Cause, Departure};
pub use feet::{Feet, Footprint, Footstep, Gait, Legs, ON_TIME, PERIODS, Planted, Side};
pub use flow::{Flow, Stream};
pub use gaps::Gaps;
pub use jam::Jam;
pub use map::Map;
pub use movers::{Link, Mover, MoverState};
pub use radii::{WIDEST_CLASS, radius_classes};
pub use slots::Slots;
pub use steering::Steering;
pub use terrain::Terrain;
pub use view::View;

use crate::space::Period;
use glam::{DVec2, Vec2};
use rows::Index;
use serde::{Deserialize, Serialize};

/// All state that lasts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct World {
    /// What must be added to positions for the scenario's coordinates.
    pub origin: DVec2,
    /// Key of everything that agents draw.
    pub seed: u64,
    /// Step, s.
    dt: f64,
    /// Steps taken.
    pub step: u64,
    /// The step and the time, s, from which on steps have been as long as they are now.
    epoch: (u64, f64),
    /// Who is present.
    pub agents: Agents,
    /// Whose slots are whose.
    slots: Slots,
    /// The id of the next agent that comes.
    next_id: u32,
    /// Sum over all departures, so that the state hash knows of them.
    departed_hash: u64,
    /// Preferred velocities that come from outside.
    steering: Steering,
    /// What cohorts have in common.
    pub cohorts: Vec<Cohort>,
    /// Where agents can be sent one by one.
    pub destinations: Vec<Destination>,
    /// Scripted bodies.
    movers: Vec<Mover>,
    /// Differs from what it was before whenever anything but time has changed them.
    mover_version: u64,
    /// Jumps, for planners that take them.
    pub links: Vec<Link>,
    /// How far the model that looks furthest does, m.
    pub furthest_look: f32,
    /// Side of the neighbour index's cells, m.
    cell_size: f32,
    /// The highest speed that any agent can have, m/s.
    pub fastest: f32,
    /// The largest radius, m.
    pub widest: f32,
    /// The radii that paths are planned for, ascending, see [`radius_classes`]. Saved, because agents that have left count too.
    pub radius_classes: Vec<f32>,
    /// Where walkers get on slowly.
    pub jam: Jam,
    /// Where feet are, as far as bodies move on such.
    pub feet: Feet,
    /// What all starts and goals so far lie within, m from the world's origin; `None` where there are none. Saved, because
    /// agents that have left count too.
    pub extent: Option<[Vec2; 2]>,
    /// Counts the changes of the map. Saved, because what stages remember was worked out for one of its versions.
    map_version: u64,
    /// Rebuilt from the map and the motion, never saved.
    #[serde(skip)]
    map: Map,
    /// How space repeats. It follows from the map, and is never saved.
    #[serde(skip)]
    period: Period,
    /// Rebuilt from the columns, never saved.
    #[serde(skip)]
    index: Index,
    #[serde(skip)]
    mover_states: Vec<MoverState>,
    /// Who has left since the last step began, by id within a step.
    #[serde(skip)]
    departures: Vec<Departure>,
    /// By row, within a commit: whether the agent stays.
    #[serde(skip)]
    keep: Vec<bool>,
}

impl World {
    /// An empty world.
    pub fn new(origin: DVec2, dt: f64) -> World {
        World {
            origin,
            seed: 0,
            dt,
            step: 0,
            epoch: (0, 0.0),
            agents: Agents::default(),
            slots: Slots::default(),
            next_id: 0,
            departed_hash: 0,
            steering: Steering::default(),
            cohorts: Vec::new(),
            destinations: Vec::new(),
            movers: Vec::new(),
            mover_version: 0,
            links: Vec::new(),
            furthest_look: 1.0,
            cell_size: 0.0,
            fastest: 0.0,
            widest: 0.0,
            radius_classes: Vec::new(),
            jam: Jam::default(),
            feet: Feet::default(),
            extent: None,
            map_version: 0,
            map: Map::default(),
            period: Period::default(),
            index: Index::default(),
            mover_states: Vec::new(),
            departures: Vec::new(),
            keep: Vec::new(),
        }
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        let (step, time) = self.epoch;
        time + (self.step - step) as f64 * self.dt
    }

    /// Length of a step, s.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Lets steps from now on be of another length, s.
    pub fn set_dt(&mut self, dt: f64) {
        if dt != self.dt {
            self.epoch = (self.step, self.time());
            self.dt = dt;
            self.place_movers();
        }
    }

    /// Lets [`World::extent`] hold a place.
    pub fn extend_to(&mut self, place: Vec2) {
        let [low, high] = self.extent.unwrap_or([place; 2]);
        self.extent = Some([low.min(place), high.max(place)]);
    }
}
