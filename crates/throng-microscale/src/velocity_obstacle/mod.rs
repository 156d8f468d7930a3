//! Shared mathematics of velocity obstacles, written once.

mod clear_path;
mod cone;
mod half_plane;
mod linear_program;
#[cfg(test)]
mod oracle;
mod wall;

pub use clear_path::choose_outside;
pub use cone::{Cones, cone_towards};
pub use half_plane::{Planes, peer_planes};
pub use linear_program::closest;
pub use wall::wall_planes;
