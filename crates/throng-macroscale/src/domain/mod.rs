//! # Planning domains (Kapadia et al. 2013, Multi-domain real-time planning in dynamic environments, section 4)
//! What can be planned in, from coarse to fine. Each is a [`Domain`] that any search goes over,
//! and says where its states are ([`Placed`]), so that a plan in one can guide a search in another.
//!
//! - Σ1, the static navigation mesh, stands in [`crate::navmesh`]: its searches are of their own kind.
//! - [`dynamic_navmesh`]: Σ2, a finer mesh with the density of bodies in its polygons.
//! - [`directed_navmesh`]: the same for those who search it time and again, and [`forecast`]: who will be where in it.
//! - [`grid`]: Σ3, cells with eight neighbours, and bodies where they are now.
//! - [`space_time`]: Σ4, places, velocities and times, and bodies where they will be.
//! - [`timed_grid`]: Σ4 without velocities, whose searches outlive a step.
//! - [`footstep`]: Σ5, bodies over their feet, and where feet can be put down.
//!
//! [`occupancy`] holds where bodies will be, as far as they have said so.

pub mod directed_navmesh;
pub mod dynamic_navmesh;
mod flat_index;
pub mod footstep;
pub mod forecast;
pub mod grid;
pub mod occupancy;
pub mod space_time;
pub mod timed_grid;

use crate::search::{Domain, Reversed};
use glam::DVec2;

/// A domain whose states are somewhere, and maybe at some time.
pub trait Placed: Domain {
    /// Where a state is, m; `None` for a state that stands for many places.
    fn place_of(&self, state: Self::State) -> Option<DVec2>;

    /// When, s. `None` where the domain knows no time.
    fn time_of(&self, _state: Self::State) -> Option<f64> {
        None
    }

    /// What a metre costs at least.
    fn cost_of_a_metre(&self) -> f32 {
        1.0
    }

    /// As far as one step leads at most, m, and as long as it takes, s.
    fn longest_step(&self) -> (f64, f64);
}

impl<D: Placed> Placed for Reversed<'_, D> {
    fn place_of(&self, state: D::State) -> Option<DVec2> {
        self.0.place_of(state)
    }

    fn time_of(&self, state: D::State) -> Option<f64> {
        self.0.time_of(state)
    }

    fn cost_of_a_metre(&self) -> f32 {
        self.0.cost_of_a_metre()
    }

    fn longest_step(&self) -> (f64, f64) {
        self.0.longest_step()
    }
}
