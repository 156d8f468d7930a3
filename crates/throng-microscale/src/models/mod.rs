//! Local models: one paper, one room.

mod anticipation_velocity;
mod collision_free_speed;
mod hrvo;
mod hybrid;
mod none;
mod orca;
mod rvo;
mod social_force;
mod vo;

pub use anticipation_velocity::AnticipationVelocity;
pub use collision_free_speed::CollisionFreeSpeed;
pub use hrvo::Hrvo;
pub use hybrid::{Hybrid, Perception};
pub use none::Unaware;
pub use orca::Orca;
pub use rvo::Rvo;
pub use social_force::SocialForce;
pub use vo::Vo;

use crate::Headway;
use crate::stage::{Local, LocalModel, Microscale};

/// A model that can be had as a stage.
pub trait Staged: LocalModel {
    /// As a stage, for agents who are so patient.
    fn stage(self, headway: Headway) -> Box<dyn Microscale>;
}

/// Written out for each model, so that its code is made once, in this crate, and not wherever it is named.
macro_rules! staged {
    ($($model:ty),+) => {
        $(impl Staged for $model {
            fn stage(self, headway: Headway) -> Box<dyn Microscale> {
                Box::new(Local { model: self, headway })
            }
        })+
    };
}

staged!(AnticipationVelocity, CollisionFreeSpeed, Hrvo, Hybrid, Orca, Rvo, SocialForce, Unaware, Vo);
