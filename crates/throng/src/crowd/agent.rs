//! What a caller says of an agent, a cohort or a body of its own, and the handles that it gets for them.

use crate::map::Ring;
use crate::pipeline::{CohortModels, settings_of};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use throng_core::params::Params;
use throng_microscale::LocalModel;

/// An agent of a crowd. Once the agent is gone the handle is stale, and never means another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AgentId {
    pub(super) crowd: u32,
    pub(super) slot: u32,
    pub(super) generation: u32,
}

#[cfg(feature = "scenario")]
impl AgentId {
    pub(crate) fn slot(self) -> u32 {
        self.slot
    }
}

/// A cohort of a crowd, counted from 0. Cohort 0 is there from the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CohortId(pub u16);

/// A body that only the caller moves, or that follows a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MoverId {
    pub(super) crowd: u32,
    /// Counts up, and is never used again.
    pub(super) number: u32,
}

/// An agent to come. Lengths are m, speeds m/s, times s; coordinates are the caller's.
///
/// ```
/// use throng::prelude::*;
/// let walker = Agent::at([0.0, 0.0]).goal([30.0, 4.0]).radius(0.3).speed(1.2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    pub(crate) position: DVec2,
    pub(crate) velocity: DVec2,
    pub(crate) goal: Option<DVec2>,
    pub(crate) radius: f64,
    pub(crate) preferred_speed: f64,
    pub(crate) max_speed: Option<f64>,
    pub(crate) responsibility: f64,
    pub(crate) delay: f64,
    pub(crate) cohort: CohortId,
}

impl Agent {
    /// An agent that stands at a place and wants nothing else: radius 0.25 m, 1.34 m/s, no goal.
    pub fn at(position: impl Into<DVec2>) -> Agent {
        Agent {
            position: position.into(),
            velocity: DVec2::ZERO,
            goal: None,
            radius: 0.25,
            preferred_speed: 1.34,
            max_speed: None,
            responsibility: 0.5,
            delay: 0.0,
            cohort: CohortId::default(),
        }
    }

    /// Where it wants to be. Members of a cohort with a goal area go there instead.
    pub fn goal(self, goal: impl Into<DVec2>) -> Agent {
        Agent { goal: Some(goal.into()), ..self }
    }

    /// Its body, m. Default 0.25.
    pub fn radius(self, radius: f64) -> Agent {
        Agent { radius, ..self }
    }

    /// The speed at which it walks freely, m/s. Default 1.34.
    pub fn speed(self, preferred_speed: f64) -> Agent {
        Agent { preferred_speed, ..self }
    }

    /// The speed that it cannot exceed, m/s. Default: 1.35 times the preferred one, and 1.8 at least.
    pub fn max_speed(self, max_speed: f64) -> Agent {
        Agent { max_speed: Some(max_speed), ..self }
    }

    /// The velocity that it comes with, m/s. Default 0.
    pub fn velocity(self, velocity: impl Into<DVec2>) -> Agent {
        Agent { velocity: velocity.into(), ..self }
    }

    /// Its share of an avoidance, weighed against the other's: 0 takes none, 0.5 as much as most.
    pub fn responsibility(self, responsibility: f64) -> Agent {
        Agent { responsibility, ..self }
    }

    /// How long it stands before it begins to walk, s.
    pub fn delay(self, delay: f64) -> Agent {
        Agent { delay, ..self }
    }

    /// The cohort that it belongs to. Default: cohort 0.
    pub fn cohort(self, cohort: CohortId) -> Agent {
        Agent { cohort, ..self }
    }

    /// The same somewhere else.
    #[cfg(feature = "scenario")]
    pub(crate) fn placed(self, position: DVec2) -> Agent {
        Agent { position, ..self }
    }

    pub(super) fn top_speed(&self) -> f64 {
        self.max_speed.unwrap_or_else(|| default_max_speed(self.preferred_speed))
    }
}

/// Those who like to walk fast can walk faster; every agent can hurry a little.
pub(crate) fn default_max_speed(preferred_speed: f64) -> f64 {
    (1.35 * preferred_speed).max(1.8)
}

/// Agents that have most things in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cohort {
    pub(crate) name: String,
    pub(crate) leaves: bool,
    pub(crate) goal_radius: f64,
    pub(crate) together: bool,
    pub(crate) area: Option<Vec<DVec2>>,
    pub(crate) arrive: Option<[f64; 2]>,
    pub(crate) models: CohortModels,
}

impl Cohort {
    /// A cohort of a name, with nothing of its own.
    pub fn named(name: impl Into<String>) -> Cohort {
        Cohort {
            name: name.into(),
            leaves: false,
            goal_radius: 0.25,
            together: false,
            area: None,
            arrive: None,
            models: CohortModels::default(),
        }
    }

    /// Lets members vanish when they arrive. Without, they stay.
    pub fn leaves_on_arrival(self) -> Cohort {
        Cohort { leaves: true, ..self }
    }

    /// How close to its goal an agent has arrived, m. Default 0.25.
    pub fn goal_radius(self, goal_radius: f64) -> Cohort {
        Cohort { goal_radius, ..self }
    }

    /// Sends members to anywhere in an area, whatever goals they have.
    pub fn goal_area<R: Ring + ?Sized>(self, area: &R) -> Cohort {
        Cohort { area: Some(area.corners()), ..self }
    }

    /// Lets members walk together, where a model looks at it.
    pub fn together(self) -> Cohort {
        Cohort { together: true, ..self }
    }

    /// From when to when members should arrive, s, where a planner looks at it.
    pub fn arrive(self, from: f64, to: f64) -> Cohort {
        Cohort { arrive: Some([from, to]), ..self }
    }

    /// A local model of its own.
    pub fn microscale<M: LocalModel>(mut self, model: M) -> Cohort {
        self.models.microscale = Some(M::BLOCK.into());
        self.params(model)
    }

    /// Values of its own, of any block.
    pub fn params<P: Params>(mut self, params: P) -> Cohort {
        self.models.params.insert(P::BLOCK.into(), settings_of(&params));
        self
    }
}

impl Default for Cohort {
    fn default() -> Cohort {
        Cohort::named("agents")
    }
}

/// A destination of a crowd, in the order of their coming.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DestinationId(pub(crate) u16);

/// Where agents can be sent one by one, whatever cohorts they belong to: an exit, a waypoint, a place in a line.
///
/// ```
/// use throng::prelude::*;
/// use throng::crowd::Destination;
/// let mut crowd = Crowd::builder().build()?;
/// let door = crowd.add_destination(Destination::exit(&[[9.0, 0.0], [10.0, 0.0], [10.0, 2.0], [9.0, 2.0]]))?;
/// let walker = crowd.spawn(Agent::at([0.0, 1.0]))?;
/// crowd.send(walker, door, None)?;
/// while crowd.contains(walker) {
///     crowd.step();
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Destination {
    pub(crate) area: Option<Vec<DVec2>>,
    pub(crate) goal_radius: f64,
    pub(crate) ends: bool,
    pub(crate) for_radius: f64,
}

impl Destination {
    /// An area where agents arrive, and leave the crowd.
    pub fn exit<R: Ring + ?Sized>(area: &R) -> Destination {
        Destination { ends: true, ..Destination::area(area) }
    }

    /// An area in which agents stand until they are sent on.
    pub fn area<R: Ring + ?Sized>(area: &R) -> Destination {
        Destination { area: Some(area.corners()), ..Destination::points() }
    }

    /// Points, one for each agent that is sent there, where it stands until it is sent on.
    pub fn points() -> Destination {
        Destination { area: None, goal_radius: 0.25, ends: false, for_radius: 0.25 }
    }

    /// How close to its point an agent is there, m. Default 0.25.
    pub fn goal_radius(self, goal_radius: f64) -> Destination {
        Destination { goal_radius, ..self }
    }

    /// The radius of the widest body that is sent there, m: where it does not fit into the area, it need only touch it.
    /// Default 0.25.
    pub fn for_radius(self, for_radius: f64) -> Destination {
        Destination { for_radius, ..self }
    }
}

/// A body that avoids nobody: one that the caller moves (a player, a vehicle), or one that follows a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mover {
    pub(crate) radius: f64,
    pub(crate) carries: bool,
    pub(crate) motion: MoverMotion,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum MoverMotion {
    /// Place and velocity now.
    Driven(DVec2, DVec2),
    /// Time, s, and place.
    Scripted(Vec<(f64, DVec2)>),
}

impl Mover {
    /// A body that stands at a place until the caller says otherwise ([`Crowd::set_mover`](super::Crowd::set_mover)).
    pub fn at(position: impl Into<DVec2>) -> Mover {
        Mover { radius: 0.25, carries: false, motion: MoverMotion::Driven(position.into(), DVec2::ZERO) }
    }

    /// A body that follows a path of times, s, and places, and stands before and after it.
    pub fn along<P: Into<DVec2>>(path: impl IntoIterator<Item = (f64, P)>) -> Mover {
        let path = path.into_iter().map(|(time, place)| (time, place.into())).collect();
        Mover { radius: 0.25, carries: false, motion: MoverMotion::Scripted(path) }
    }

    /// Its body, m. Default 0.25.
    pub fn radius(self, radius: f64) -> Mover {
        Mover { radius, ..self }
    }

    /// Makes it a platform: agents stand on it, and it is in no agent's way.
    pub fn carries(self) -> Mover {
        Mover { carries: true, ..self }
    }
}
