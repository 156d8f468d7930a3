//! Local models: one paper, one room.

mod hrvo;
mod hybrid;
mod none;
mod orca;
mod rvo;
mod vo;

pub use hrvo::Hrvo;
pub use hybrid::{Hybrid, Perception};
pub use none::Unaware;
pub use orca::Orca;
pub use rvo::Rvo;
pub use vo::Vo;
