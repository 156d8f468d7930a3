//! What a program needs that builds a crowd: `use throng::prelude::*;`.

pub use crate::catalog::{register_macroscale, register_mesoscale, register_microscale, register_motion};
pub use crate::crowd::{
    Agent, AgentId, AgentRef, BuildError, Builder, Cohort, CohortGoal, CohortId, Crowd, Edit, EditError,
    EditLog, LoadError, Made, Mover, MoverId, Path, settings,
};
pub use crate::map::{Link, Map, MapError, Ring};
pub use crate::pipeline::{Models, Pipeline};
pub use crate::preset::Preset;
pub use glam::{DVec2, Vec2};
pub use throng_core::params::{Draw, Params, Value};
pub use throng_core::world::Status;
pub use throng_macroscale::{DynamicNavmesh, MapField, MultiDomain, Navmesh, Straight, VisibilityGraph};
pub use throng_mesoscale::{Density, Groups};
pub use throng_microscale::{
    AnticipationVelocity, CollisionFreeSpeed, Headway, Hrvo, Hybrid, Orca, Rvo, SocialForce, Unaware, Vo,
};
pub use throng_motion::{AccelerationLimited, Contact, Footsteps, Holonomic};
