//! Shared mathematics of velocity obstacles, written once.

mod clear_path;
mod clear_paths;
mod cone;
mod half_plane;
mod linear_program;
mod linear_programs;
#[cfg(test)]
mod oracle;
mod wall;

pub use clear_path::choose_outside;
pub use clear_paths::{ConeLanes, Pairs, choose_outside_together};
pub use cone::{Cones, cone_towards};
pub use half_plane::{Planes, peer_planes, peer_planes_together};
pub use linear_program::closest;
pub use linear_programs::closest_together;
pub use wall::wall_planes;
