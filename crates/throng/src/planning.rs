//! Planning for one agent on a scenario's map: the domains, the searches and what joins them, without a simulation.
//!
//! ```
//! use throng::planning::chain::{Atlas, Chain, Problem, Tuning, plan};
//! use throng::planning::{Place, bodies};
//! use throng::Scenario;
//!
//! let text = "format = 1\n[map]\nobstacles = [ [[4, -5], [6, -5], [6, 5], [4, 5]] ]";
//! let scenario = Scenario::parse(text, "block.toml", None)?;
//! let place = Place::of(&scenario, &[[0.0, 0.0].into(), [10.0, 0.0].into()]);
//! let chain: Chain = "navmesh>grid".parse()?;
//! let atlas = Atlas::new(place.site(0.25), &chain, Tuning::default())?;
//! let problem = Problem::between(place.local([0.0, 0.0].into()), place.local([10.0, 0.0].into()));
//! let outcomes = plan(&atlas, &bodies(&scenario, &place), &chain, &problem);
//! assert!(outcomes[0].length() > 14.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use throng_core::space::Wall;
pub use throng_macroscale::multi_domain::TaskRecord;
pub use throng_macroscale::{chain, domain, navmesh, search, tunnel, waypoints};

use crate::scenario::{Link, Scenario};
use chain::Site;
use domain::occupancy::{Occupancy, Trajectory};
use glam::DVec2;

/// A scenario's map as planners want it: around an origin of its own.
#[derive(Clone, Debug)]
pub struct Place {
    /// What must be added for the scenario's coordinates, m.
    pub origin: DVec2,
    /// m from the origin.
    walls: Vec<Wall>,
    links: Vec<navmesh::Link>,
    low: DVec2,
    high: DVec2,
}

/// Room around a map without an outline, m.
const MARGIN: f64 = 10.0;

impl Place {
    /// The map of a scenario, and some places that have to be on it.
    pub fn of(scenario: &Scenario, places: &[DVec2]) -> Place {
        let boundary = crate::map::boundary(&scenario.map.with_solid_gaps());
        let seen = || boundary.rings.iter().flatten().chain(boundary.walls.iter().flatten()).chain(places);
        let margin = if boundary.bounded { 0.0 } else { MARGIN };
        let low = seen().copied().fold(DVec2::MAX, DVec2::min) - margin;
        let high = seen().copied().fold(DVec2::MIN, DVec2::max) + margin;
        let origin = if low.cmple(high).all() { ((low + high) / 2.0).round() } else { DVec2::ZERO };
        let wall = |[a, b]: [DVec2; 2], two_sided| Wall {
            a: (a - origin).as_vec2(),
            b: (b - origin).as_vec2(),
            two_sided,
        };
        let link = |link: &Link| navmesh::Link {
            from: link.from - origin,
            to: link.to - origin,
            cost: link.cost,
            both_ways: link.both_ways,
        };
        let solid = boundary.edges().map(|edge| wall(edge, false));
        let walls = solid.chain(boundary.walls.iter().map(|&edge| wall(edge, true))).collect();
        let links = scenario.links.iter().map(link).collect();
        Place { origin, walls, links, low: low - origin, high: high - origin }
    }

    /// What an atlas is made of, for bodies of a radius, m.
    pub fn site(&self, radius: f64) -> Site<'_> {
        Site { walls: &self.walls, links: &self.links, low: self.low, high: self.high, radius }
    }

    /// From the scenario's coordinates.
    pub fn local(&self, place: DVec2) -> DVec2 {
        place - self.origin
    }
}

/// The scripted bodies of a scenario, where they will be.
pub fn bodies(scenario: &Scenario, place: &Place) -> Occupancy {
    let scripts = scenario.movers.iter().map(|mover| Trajectory {
        radius: mover.radius,
        path: mover.path.iter().map(|&(time, at)| (time, place.local(at))).collect(),
        stays: true,
    });
    Occupancy::new(scripts)
}

/// The same, and the agents: they stand where they begin, because it is not known yet where they will go.
pub fn bodies_and_agents(scenario: &Scenario, place: &Place) -> Occupancy {
    let mut published = bodies(scenario, place);
    let first = scenario.movers.len();
    let agents = scenario.cohorts.iter().flat_map(|cohort| &cohort.agents);
    for (index, agent) in agents.enumerate() {
        let stands = Trajectory::standing(agent.radius, place.local(agent.position));
        published.publish((first + index) as u32, stands);
    }
    published
}

#[cfg(test)]
mod tests {
    use super::chain::{Atlas, Chain, Problem, Tuning, plan};
    use super::*;

    const APART: &str = "format = 1\n[map]\n\
        walkable = 'MULTIPOLYGON (((0 0, 9 0, 9 9, 0 9, 0 0)), ((10 0, 19 0, 19 9, 10 9, 10 0)))'\n\
        [[links]]\nfrom = [8.5, 5]\nto = [10.5, 5]\n";

    /// Whether a body of a radius gets over, in the last domain of a chain.
    fn gets_over(chain: &str, radius: f64) -> bool {
        let scenario = Scenario::parse(APART, "apart.toml", None).unwrap();
        let ends = [DVec2::new(2.0, 5.0), DVec2::new(17.0, 5.0)];
        let place = Place::of(&scenario, &ends);
        let chain: Chain = chain.parse().unwrap();
        let atlas = Atlas::new(place.site(radius), &chain, Tuning::default()).unwrap();
        let [from, to] = ends.map(|end| place.local(end));
        let outcomes = plan(&atlas, &bodies(&scenario, &place), &chain, &Problem::between(from, to));
        outcomes.last().is_some_and(|last| last.level == chain.last() && last.is_found())
    }

    #[test]
    fn the_links_of_a_scenario_are_taken_by_whoever_fits() {
        for chain in ["navmesh", "dynamic-navmesh", "space-time", "navmesh>space-time"] {
            assert!(gets_over(chain, 0.25), "{chain}");
            assert!(!gets_over(chain, 0.7), "{chain}");
        }
    }
}
