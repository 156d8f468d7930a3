//! Which domains a plan goes through and how they are joined, and how that is written.

use std::fmt;
use std::str::FromStr;

/// A domain of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Σ1.
    Navmesh,
    /// Σ2.
    DynamicNavmesh,
    /// Σ3.
    Grid,
    /// Σ4.
    SpaceTime,
}

impl Level {
    /// From coarse to fine.
    pub const ALL: [Level; 4] = [Level::Navmesh, Level::DynamicNavmesh, Level::Grid, Level::SpaceTime];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Level::Navmesh => "navmesh",
            Level::DynamicNavmesh => "dynamic-navmesh",
            Level::Grid => "grid",
            Level::SpaceTime => "space-time",
        }
    }
}

/// How a domain uses the plan of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// It searches around the plan.
    Tunnel,
    /// It goes from waypoint to waypoint of the plan.
    Waypoints,
}

/// Domains from coarse to fine, and how they are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    pub(super) first: Level,
    pub(super) rest: Vec<(Joint, Level)>,
}

/// A text that is no chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// No such domain.
    #[error("unknown domain `{name}`; known: navmesh, dynamic-navmesh, grid, space-time")]
    Unknown {
        /// As written.
        name: String,
    },
    /// In another order.
    #[error(
        "`{after}` cannot follow `{before}`: a chain goes from coarse to fine (navmesh, dynamic-navmesh, grid, space-time)"
    )]
    Order {
        /// The one before.
        before: &'static str,
        /// The one that is no finer.
        after: &'static str,
    },
    /// Waypoints twice.
    #[error("`/` stands more than once: legs between waypoints are not cut again")]
    Waypoints,
}

impl FromStr for Chain {
    type Err = ChainError;

    /// `navmesh>grid`: the grid is searched around the mesh's way. `navmesh/grid`: from waypoint to waypoint of it.
    fn from_str(text: &str) -> Result<Chain, ChainError> {
        let level = |name: &str| {
            let name = name.trim();
            let known = Level::ALL.into_iter().find(|level| level.name() == name);
            known.ok_or_else(|| ChainError::Unknown { name: name.to_owned() })
        };
        let mut names = text.split_inclusive(['>', '/']);
        let first = names.next().unwrap_or_default();
        let mut joint = first.chars().last();
        let mut chain = Chain { first: level(first.trim_end_matches(['>', '/']))?, rest: Vec::new() };
        for name in names {
            let (before, after) = (chain.last(), level(name.trim_end_matches(['>', '/']))?);
            if after <= before {
                return Err(ChainError::Order { before: before.name(), after: after.name() });
            }
            let how = if joint == Some('/') { Joint::Waypoints } else { Joint::Tunnel };
            chain.rest.push((how, after));
            joint = name.chars().last();
        }
        if matches!(joint, Some('>' | '/')) {
            return Err(ChainError::Unknown { name: String::new() });
        }
        if chain.rest.iter().filter(|(how, _)| *how == Joint::Waypoints).count() > 1 {
            return Err(ChainError::Waypoints);
        }
        Ok(chain)
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.first.name())?;
        for (joint, level) in &self.rest {
            f.write_str(if *joint == Joint::Tunnel { ">" } else { "/" })?;
            f.write_str(level.name())?;
        }
        Ok(())
    }
}

impl From<Level> for Chain {
    fn from(first: Level) -> Chain {
        Chain { first, rest: Vec::new() }
    }
}

impl Chain {
    /// The finest domain.
    pub fn last(&self) -> Level {
        self.rest.last().map_or(self.first, |(_, level)| *level)
    }

    pub(super) fn levels(&self) -> impl Iterator<Item = Level> + '_ {
        std::iter::once(self.first).chain(self.rest.iter().map(|(_, level)| *level))
    }
}
