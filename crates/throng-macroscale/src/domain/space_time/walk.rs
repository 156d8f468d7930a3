//! How an agent can move, whom it minds, and where it has to be: what a space-time domain is made from, and its limits.

use glam::DVec2;

/// How an agent can move, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk {
    /// Length of a step, s. Above 0.
    pub step: f64,
    /// Between lines of the lattice, m. Above 0.
    pub lattice: f64,
    /// By how much the speed can change in a step, m/s. Above 0.
    pub speed_step: f64,
    /// m/s. At least the speed step.
    pub max_speed: f64,
    /// What a second costs, J/kg. Above 0. 2.23 is what standing takes (Whittle 2007).
    pub per_second: f64,
    /// What a second at 1 m/s costs beyond that, J/kg. Above 0. With 1.26 people are cheapest at 1.33 m/s.
    pub per_speed_squared: f64,
    /// What a change of velocity by 1 m/s costs, J/kg. At least 0.
    pub per_change_squared: f64,
}

impl Default for Walk {
    fn default() -> Walk {
        Walk {
            step: 1.0,
            lattice: 0.125,
            speed_step: 0.45,
            max_speed: 1.8,
            per_second: 2.23,
            per_speed_squared: 1.26,
            per_change_squared: 0.5,
        }
    }
}

/// Who is in sight: only these can be collided with in a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fovea {
    /// Whole angle around the heading, rad.
    pub angle: f64,
    /// Agents further away do not count, m.
    pub reach: f64,
    /// Within this, every agent counts, whatever the angle, m.
    pub near: f64,
}

impl Default for Fovea {
    fn default() -> Fovea {
        // Who is further away cannot be met within a second, whatever its direction.
        Fovea { angle: std::f64::consts::PI, reach: 12.0, near: 5.0 }
    }
}

/// A transition over what cannot be walked on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// m.
    pub from: DVec2,
    /// m.
    pub to: DVec2,
    /// J/kg, beside the price of its time.
    pub cost: f64,
    /// As near to its beginning one can take off, m.
    pub reach: f64,
}

/// Where a plan must end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// m.
    pub at: DVec2,
    /// As near to it one has arrived, m.
    pub radius: f64,
    /// From when to when one can arrive, s.
    pub window: (f64, f64),
}

/// Why there is no such domain.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpaceTimeError {
    /// A number that is none, or out of bounds.
    #[error("{name} = {value}: it must be a finite number {limit}")]
    Number {
        /// Whose.
        name: &'static str,
        /// As given.
        value: f64,
        /// What is allowed.
        limit: &'static str,
    },
    /// More speeds than bits.
    #[error(
        "{count} speeds are too many: at most {MOST_SPEEDS}; take a larger speed step or a smaller highest speed"
    )]
    Speeds {
        /// How many.
        count: f64,
    },
}

pub(super) const MOST_SPEEDS: usize = 16;

pub(super) fn check(walk: &Walk, begin: (f64, DVec2), goal: &Goal) -> Result<(), SpaceTimeError> {
    let positive = [
        ("step", walk.step),
        ("lattice", walk.lattice),
        ("speed_step", walk.speed_step),
        ("per_second", walk.per_second),
        ("per_speed_squared", walk.per_speed_squared),
    ];
    let other = [
        ("per_change_squared", walk.per_change_squared, 0.0, "of at least 0"),
        ("max_speed", walk.max_speed, walk.speed_step, "of at least the speed step"),
        ("goal radius", goal.radius, 0.0, "of at least 0"),
        ("begin", begin.0, f64::MIN, ""),
        ("x", begin.1.x, f64::MIN, ""),
        ("y", begin.1.y, f64::MIN, ""),
        ("goal x", goal.at.x, f64::MIN, ""),
        ("goal y", goal.at.y, f64::MIN, ""),
        ("window's begin", goal.window.0, f64::MIN, ""),
    ];
    let limits = positive.into_iter().map(|(name, value)| (name, value, f64::MIN_POSITIVE, "above 0"));
    for (name, value, least, limit) in limits.chain(other) {
        if !(value.is_finite() && value >= least) {
            return Err(SpaceTimeError::Number { name, value, limit });
        }
    }
    if goal.window.1.is_nan() || goal.window.1 < goal.window.0 {
        let (name, limit) = ("window's end", "of at least its begin");
        return Err(SpaceTimeError::Number { name, value: goal.window.1, limit });
    }
    Ok(())
}
