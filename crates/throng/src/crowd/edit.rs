//! Edits: every change of a running crowd from outside. Events of a scenario, steering from a page and calls of a program
//! all become edits and are applied in one place, so the same edits at the same steps give the same bits.

use super::agent::{Agent, AgentId, Cohort, CohortId, Destination, DestinationId, Mover, MoverId};
use crate::pipeline::{Models, UnknownModel};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use throng_core::params::ParamError;

/// A change of a running crowd.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Edit {
    /// Lets an agent come.
    Spawn(Agent),
    /// Removes an agent.
    Despawn(AgentId),
    /// Gives an agent another goal.
    SetGoal {
        /// Whose.
        agent: AgentId,
        /// Where to.
        goal: DVec2,
    },
    /// Steers an agent, or gives it back to its planner.
    SetPreferredVelocity {
        /// Whose.
        agent: AgentId,
        /// m/s.
        velocity: Option<DVec2>,
    },
    /// Puts an agent somewhere else.
    SetPosition {
        /// Whose.
        agent: AgentId,
        /// Where.
        position: DVec2,
    },
    /// Gives an agent another velocity, from which it goes on.
    SetVelocity {
        /// Whose.
        agent: AgentId,
        /// m/s.
        velocity: DVec2,
    },
    /// Gives an agent another body.
    SetRadius {
        /// Whose.
        agent: AgentId,
        /// m.
        radius: f64,
    },
    /// Gives an agent another preferred speed; the one that it cannot exceed is raised where it is lower.
    SetSpeed {
        /// Whose.
        agent: AgentId,
        /// m/s.
        speed: f64,
    },
    /// Limits an agent's speed; its preferred one is lowered where it is higher.
    SetMaxSpeed {
        /// Whose.
        agent: AgentId,
        /// m/s.
        speed: f64,
    },
    /// Adds a cohort.
    AddCohort(Cohort),
    /// Gives all members of a cohort other goals.
    Retarget {
        /// Whose.
        cohort: CohortId,
        /// Where to.
        goal: CohortGoal,
    },
    /// Adds a destination.
    AddDestination(Destination),
    /// Lets agents leave at a destination, or stand there until they are sent on.
    EndAt {
        /// Which.
        destination: DestinationId,
        /// Whether they leave.
        ends: bool,
    },
    /// Sends an agent to a destination.
    Send {
        /// Whom.
        agent: AgentId,
        /// Where to.
        destination: DestinationId,
        /// Its own point there, where the destination is not an area.
        point: Option<DVec2>,
    },
    /// Lets an agent leave the crowd as one that has arrived.
    LetGo(AgentId),
    /// Puts an obstacle on the map.
    AddObstacle {
        /// What to call it.
        name: String,
        /// Its corners, either winding.
        ring: Vec<DVec2>,
    },
    /// Takes an obstacle off the map.
    RemoveObstacle {
        /// What it is called.
        name: String,
    },
    /// Lets a body come that avoids nobody.
    SpawnMover(Mover),
    /// Moves a body that the caller drives.
    SetMover {
        /// Which.
        mover: MoverId,
        /// Where it is.
        position: DVec2,
        /// m/s.
        velocity: DVec2,
    },
    /// Removes a body.
    DespawnMover(MoverId),
    /// Puts other models, or the same with other values, in the place of those that run.
    SetModels(Box<Models>),
    /// Lets steps be of another length, s: those by `step_by` and of a replay. `step` goes back to the builder's.
    SetDt(f64),
}

/// Where members of a cohort want to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CohortGoal {
    /// All at one point.
    Point(DVec2),
    /// Each at its own: the first is for the agent with this id, the others follow.
    Points {
        /// The id of the agent that the first point is for.
        first_id: u32,
        /// Where to.
        points: Vec<DVec2>,
    },
    /// Anywhere in an area.
    Area(Vec<DVec2>),
    /// Where they wanted to be, moved by a vector.
    MovedBy(DVec2),
}

/// What an edit made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// Nothing new.
    Nothing,
    /// An agent.
    Agent(AgentId),
    /// A cohort.
    Cohort(CohortId),
    /// A destination.
    Destination(DestinationId),
    /// A body that avoids nobody.
    Mover(MoverId),
}

/// Edits, and the steps before which they were applied: with the crowd that they began on, all that a run is made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EditLog {
    /// By rising step.
    pub edits: Vec<(u64, Edit)>,
}

impl EditLog {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Into a Vec, and of plain data: neither can fail.
        postcard::to_stdvec(self).unwrap_or_default()
    }

    /// From bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<EditLog, EditError> {
        postcard::from_bytes(bytes).map_err(|error| EditError::BadLog(error.to_string()))
    }
}

/// Why a crowd cannot be changed, or asked, that way.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The agent is gone.
    #[error("the handle is stale: its agent has left the crowd")]
    StaleHandle,
    /// The handle was given out by another crowd.
    #[error("the handle is of another crowd")]
    ForeignHandle,
    /// The body is gone, or never was.
    #[error("there is no such mover: it has been removed")]
    UnknownMover,
    /// A scripted body cannot be driven.
    #[error("this mover follows a script; only one made by `Mover::at` can be moved by the caller")]
    ScriptedMover,
    /// No such cohort.
    #[error("there is no cohort {}; there are {count}, counted from 0", cohort.0)]
    UnknownCohort {
        /// As given.
        cohort: CohortId,
        /// How many there are.
        count: usize,
    },
    /// No such destination.
    #[error("there is no such destination; there are {count}")]
    UnknownDestination {
        /// How many there are.
        count: usize,
    },
    /// Sent to a point without one, or to an area with one.
    #[error("a destination of points needs a point for each agent, and an area takes none")]
    NoPoint,
    /// An obstacle of that name stands already.
    #[error("an obstacle `{0}` is there already; choose another name")]
    NameTaken(String),
    /// No obstacle of that name stands.
    #[error("there is no obstacle `{name}`{}", listed(known))]
    UnknownObstacle {
        /// As given.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A ring that is none.
    #[error("{what} needs {corners} different corners or more, all of them within 1e9 m")]
    BadRing {
        /// Of what.
        what: &'static str,
        /// How many.
        corners: usize,
    },
    /// An obstacle over all that was free.
    #[error("obstacle `{0}` covers the whole walkable area; leave somewhere to walk")]
    NothingLeft(String),
    /// A place where no agent can be.
    #[error("the {what} ({}, {}) is {why}", place.x, place.y)]
    NotFree {
        /// Which place.
        what: &'static str,
        /// As given.
        place: DVec2,
        /// What is there.
        why: String,
    },
    /// An area as a goal on a map that repeats.
    #[error(
        "a periodic map takes no goal areas and no exits; give each agent a point, which may lie many periods away"
    )]
    PeriodicArea,
    /// A model that does not work on a map that repeats.
    #[error("{0}")]
    NotPeriodic(String),
    /// A number that makes no sense.
    #[error("{name} = {value} must be {expected}")]
    BadNumber {
        /// Of what.
        name: &'static str,
        /// As given.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// A path that does not rise in time.
    #[error("a mover's path needs one point or more, with times that rise, all of them within 1e9 m")]
    BadPath,
    /// Ids or cohorts are used up.
    #[error("there cannot be more than {0}")]
    TooMany(&'static str),
    /// Models for another number of cohorts.
    #[error("models for {given} cohorts were given, and there are {count}")]
    OtherCohorts {
        /// As given.
        given: usize,
        /// How many there are.
        count: usize,
    },
    /// A model that the catalog does not know.
    #[error(transparent)]
    UnknownModel(#[from] UnknownModel),
    /// Values of a block that the catalog does not know.
    #[error("there is no block of parameters `{0}`; `throng::catalog::blocks` lists them")]
    UnknownBlock(String),
    /// A parameter that is not allowed.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Bytes that hold no log.
    #[error("not an edit log: {0}")]
    BadLog(String),
    /// A log whose edits lie in the past.
    #[error(
        "the log has an edit before step {edit}, and the crowd is at step {now}; replay it on the crowd that it began on"
    )]
    LateLog {
        /// The edit's step.
        edit: u64,
        /// The crowd's.
        now: u64,
    },
}

fn listed(known: &[String]) -> String {
    match known {
        [] => "; there are none".into(),
        names => format!("; known: {}", names.join(", ")),
    }
}
