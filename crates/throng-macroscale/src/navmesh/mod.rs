//! # Static navigation mesh (Kapadia et al. 2013, Multi-domain real-time planning in dynamic environments, section 4.1)
//! The paper's domain Σ1: free space as polygons, found once for static geometry, with further connections such as jumps
//! at a cost of their own.
//!
//! - [`Terrain`] is a map that can change; it cuts the space that is free for bodies of one radius into convex polygons.
//! - [`Mesh`] is what comes out: flat arrays that searches read.
//! - [`Search`] finds the shortest path from one place to another, [`PathTree`] those from everywhere to one goal.
//! - [`Navmesh`] is the macroscale model: every agent heads for the next bend of its shortest path.
//!
//! Deviations:
//! - The paper walks from middle to middle of triangles and takes its mesh from Recast. Here a way is the shortest that
//!   there is, bending at corners only (Polyanya: Cui, Harabor & Grastien 2017).
//! - The paper's agent is a point. Here it has a radius, and a mesh is made for each class of radii: space is free where
//!   the middle of a body can be (`pieces.rs`). Then every search is one of a point, exact, and knows nothing of radii.
//!   Arcs around corners are the polygons of 22.5 degrees that the visibility graph has, so ways are at most 1.3 %
//!   longer than along the arc, and a gap must be wider than the body by what the polygons around its two ends need:
//!   nothing between walls, at most 4 % between two corners.

mod cone;
mod lookup;
pub(crate) mod mesh;
mod model;
mod path_tree;
mod pieces;
mod raster;
mod search;
mod terrain;
mod tiles;
mod triangulation;

pub use mesh::Mesh;
pub(crate) use model::{FreeSpace, path};
pub use model::{Navmesh, NavmeshPlanner};
pub use path_tree::{Heading, PathTree};
pub use search::{FoundPath, Search, Stop};
pub use terrain::{Geometry, ObstacleId, Polygon, Settings, Terrain};

use glam::DVec2;

/// Why there is no mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// A coordinate that is no number.
    #[error("a corner at ({x}, {y}): coordinates must be finite numbers")]
    NotFinite {
        /// As given.
        x: f64,
        /// As given.
        y: f64,
    },
    /// Too far from everything else.
    #[error("a corner at ({x}, {y}) is too far away: move the map's origin nearer to it")]
    TooFar {
        /// m.
        x: f64,
        /// m.
        y: f64,
    },
    /// A radius that no body has.
    #[error("a radius of {radius} m: it must be a number of at least 0")]
    Radius {
        /// m.
        radius: f64,
    },
    /// No place is walkable.
    #[error(
        "nothing is left to walk on: the walkable area is empty, or obstacles and the radius cover all of it"
    )]
    NoGround,
    /// The triangulation has refused its input.
    #[error("the free space cannot be triangulated: {reason}")]
    Triangulation {
        /// What was wrong.
        reason: String,
    },
    /// A polygon that is none.
    #[error("polygon {index} must be convex, counter-clockwise, and have three corners that exist")]
    Polygon {
        /// Its place in the list.
        index: usize,
    },
    /// An obstacle that is not there.
    #[error("there is no obstacle {number}: it was never added, or has been removed")]
    UnknownObstacle {
        /// The number of its id.
        number: u32,
    },
    /// A link that begins or ends nowhere.
    #[error("link {index} has an end at ({x}, {y}), where no agent can be")]
    Link {
        /// Its place in the list.
        index: usize,
        /// m.
        x: f64,
        /// m.
        y: f64,
    },
    /// A link that costs what nothing can cost.
    #[error("link {index} costs {cost}: it must be a number of at least 0")]
    LinkCost {
        /// Its place in the list.
        index: usize,
        /// m.
        cost: f64,
    },
}

/// A way that the mesh does not know of: a jump, a ladder, a lift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Where it begins.
    pub from: DVec2,
    /// Where it ends.
    pub to: DVec2,
    /// As many metres of walking it is worth. At least 0.
    pub cost: f64,
    /// Whether it leads back as well.
    pub both_ways: bool,
}
