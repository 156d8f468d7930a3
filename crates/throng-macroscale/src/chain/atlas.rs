//! A map as all domains of a chain see it.

use super::Tuning;
use super::order::{Chain, Level};
use crate::domain::grid::{self, Grid, GridError};
use crate::domain::space_time::{Clearance, Jump};
use crate::navmesh::{self, Mesh, MeshError, PathTree, Terrain};
use glam::DVec2;
use throng_core::space::Wall;

/// A map as all domains see it, for bodies of one radius.
#[derive(Debug)]
pub struct Atlas {
    coarse: Option<Terrain>,
    pub(super) fine: Option<Terrain>,
    pub(super) grid: Option<Grid>,
    pub(super) clearance: Clearance,
    pub(super) jumps: Vec<Jump>,
    pub(super) tuning: Tuning,
}

/// Why a map has no atlas.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AtlasError {
    /// No mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// No grid.
    #[error(transparent)]
    Grid(#[from] GridError),
}

/// A jump takes off as near to a link's beginning as this, m.
const TAKE_OFF: f64 = 0.4;

/// What an atlas is made of.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Walls.
    pub walls: &'a [Wall],
    /// Jumps and the like. Those that begin or end where bodies have no room are left out.
    pub links: &'a [navmesh::Link],
    /// The corners of what a grid covers, m.
    pub low: DVec2,
    /// m.
    pub high: DVec2,
    /// Radius of the agent that plans, m.
    pub radius: f64,
}

impl Atlas {
    /// Works out what the domains of a chain need.
    pub fn new(site: Site<'_>, chain: &Chain, tuning: Tuning) -> Result<Atlas, AtlasError> {
        let Site { walls, links, low, high, radius } = site;
        let needs = |level| chain.levels().any(|other| other == level);
        let terrain = |widest: f64| {
            let mut terrain =
                Terrain::between_with(walls, navmesh::Settings { radius, widest, ..Default::default() })?;
            terrain.set_links(&terrain.mesh().sound(links))?;
            Ok::<_, MeshError>(terrain)
        };
        let clearance = Clearance::new(walls, radius as f32);
        let fits = |link: &&navmesh::Link| clearance.has_room(link.from) && clearance.has_room(link.to);
        let spec = grid::GridSpec { low, high, side: tuning.cell, radius };
        Ok(Atlas {
            coarse: needs(Level::Navmesh).then(|| terrain(f64::INFINITY)).transpose()?,
            fine: needs(Level::DynamicNavmesh).then(|| terrain(tuning.widest_polygon)).transpose()?,
            grid: needs(Level::Grid).then(|| Grid::between(walls, spec)).transpose()?,
            jumps: links.iter().filter(fits).flat_map(jumps).collect(),
            clearance,
            tuning,
        })
    }

    /// Whether a body has room at a place: between walls, and in the mesh where there is one.
    pub fn has_room(&self, at: DVec2) -> bool {
        let meshes = [&self.coarse, &self.fine].into_iter().flatten();
        self.clearance.has_room(at) && meshes.into_iter().all(|terrain| terrain.mesh().locate(at).is_some())
    }

    /// The shortest paths to a goal, where a chain leads from the static mesh to space-time: what the one knows of distances
    /// guides the other.
    pub(super) fn ways(&self, chain: &Chain, goal: DVec2) -> Option<PathTree> {
        let guides = chain.first == Level::Navmesh && chain.last() == Level::SpaceTime;
        let mesh = self.mesh().filter(|_| guides && self.jumps.is_empty())?;
        Some(PathTree::new(mesh, &[goal]))
    }

    /// The static mesh, where the chain has one.
    pub fn mesh(&self) -> Option<&Mesh> {
        self.coarse.as_ref().map(Terrain::mesh)
    }
}

/// A link as Σ4 has it: what it costs more than to stand for as long.
fn jumps(link: &navmesh::Link) -> impl Iterator<Item = Jump> + use<> {
    let there = Jump { from: link.from, to: link.to, cost: link.cost, reach: TAKE_OFF };
    let back = Jump { from: link.to, to: link.from, ..there };
    std::iter::once(there).chain(link.both_ways.then_some(back))
}
