//! A number that each agent may draw for itself.

use crate::rng::{Purpose, Stream, stream};
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::fmt;

/// A number, or a distribution that each agent draws its own from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Draw {
    /// The same for everyone.
    Fixed(f64),
    /// Anything between two ends.
    Uniform {
        /// Lowest.
        low: f64,
        /// Highest.
        high: f64,
    },
    /// Normally distributed; what falls outside is drawn again.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
        /// Lowest.
        low: f64,
        /// Highest.
        high: f64,
    },
}

/// A draw that falls outside this often is cut to the nearer end, so that no input can hang a load.
const REDRAWS: usize = 100;

impl Draw {
    /// Nothing lower is drawn.
    pub fn low(&self) -> f64 {
        match *self {
            Draw::Fixed(number) => number,
            Draw::Uniform { low, .. } | Draw::Normal { low, .. } => low,
        }
    }

    /// Nothing higher is drawn.
    pub fn high(&self) -> f64 {
        match *self {
            Draw::Fixed(number) => number,
            Draw::Uniform { high, .. } | Draw::Normal { high, .. } => high,
        }
    }

    /// Draws. `stream` is only made where something is drawn.
    pub fn draw(&self, stream: impl FnOnce() -> Stream) -> f64 {
        match *self {
            Draw::Fixed(number) => number,
            Draw::Uniform { low, high } => stream().uniform(low, high),
            Draw::Normal { mean, deviation, low, high } => {
                let mut stream = stream();
                let mut number = stream.normal(mean, deviation);
                for _ in 0..REDRAWS {
                    if (low..=high).contains(&number) {
                        break;
                    }
                    number = stream.normal(mean, deviation);
                }
                number.clamp(low, high)
            }
        }
    }

    /// What an agent draws for a parameter, told apart from others by a number. The same whenever it is asked.
    #[inline]
    pub fn of(&self, seed: u64, agent: u32, parameter: u64) -> f32 {
        self.draw(|| stream(seed, agent, parameter, Purpose::Parameter)) as f32
    }
}

/// As a scenario file writes it.
impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Draw::Fixed(number) => number.fmt(f),
            Draw::Uniform { low, high } => write!(f, "{{ uniform = [{low}, {high}] }}"),
            Draw::Normal { mean, deviation, low, high } => {
                write!(f, "{{ normal = [{mean}, {deviation}], min = {low}, max = {high} }}")
            }
        }
    }
}

/// As a scenario file writes it.
impl Serialize for Draw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Draw::Fixed(number) => serializer.serialize_f64(*number),
            Draw::Uniform { low, high } => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("uniform", &[low, high])?;
                map.end()
            }
            Draw::Normal { mean, deviation, low, high } => {
                let mut map = serializer.serialize_map(Some(3))?;
                map.serialize_entry("normal", &[mean, deviation])?;
                map.serialize_entry("min", low)?;
                map.serialize_entry("max", high)?;
                map.end()
            }
        }
    }
}
