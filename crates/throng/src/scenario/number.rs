//! A number, or a distribution that each agent draws its own from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use throng_core::params::{Draw, Limit};

/// A number, `{ uniform = [low, high] }`, or `{ normal = [mean, sd], min = , max = }`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Number {
    /// The same for everyone.
    Fixed(f64),
    /// Each agent draws its own.
    Drawn(Distribution),
}

/// A distribution: exactly one of `uniform`, `normal`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Distribution {
    /// Lowest and highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uniform: Option<[f64; 2]>,
    /// Mean and standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f64; 2]>,
    /// Lower end of `normal`. Default: 3 standard deviations below the mean. What falls outside is drawn again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Upper end of `normal`. Default: 3 standard deviations above the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

impl Number {
    /// What to draw from, or what is wrong: the key inside (empty for the number itself) and the complaint.
    pub(super) fn check(&self, limit: Limit) -> Result<Draw, (&'static str, String)> {
        let draw = match self {
            Number::Fixed(number) => Draw::Fixed(*number),
            Number::Drawn(distribution) => distribution.check()?,
        };
        let key = match draw {
            Draw::Fixed(_) => "",
            Draw::Uniform { .. } => "uniform",
            Draw::Normal { .. } => "normal",
        };
        if [draw.low(), draw.high()].iter().all(|&end| limit.holds(end)) {
            Ok(draw)
        } else {
            Err((key, complaint(&draw, limit)))
        }
    }
}

/// What is wrong with numbers that are not all within a limit.
pub(super) fn complaint(draw: &Draw, limit: Limit) -> String {
    let end = if limit.holds(draw.low()) { draw.high() } else { draw.low() };
    match draw {
        Draw::Normal { .. } => format!("reaches {end} but must be {limit}; give it a `min` and a `max`"),
        _ => format!("must be {limit}"),
    }
}

impl Distribution {
    /// What to draw from, or what is wrong: the key inside and the complaint.
    pub(super) fn check(&self) -> Result<Draw, (&'static str, String)> {
        match (self.uniform, self.normal) {
            (Some(uniform), None) => self.check_uniform(uniform),
            (None, Some(normal)) => self.check_normal(normal),
            _ => Err(("", "must have either `uniform = [low, high]` or `normal = [mean, sd]`".into())),
        }
    }

    fn check_uniform(&self, [low, high]: [f64; 2]) -> Result<Draw, (&'static str, String)> {
        let key = if self.min.is_some() { "min" } else { "max" };
        if self.min.or(self.max).is_some() {
            return Err((key, "belongs to `normal`; `uniform` has its ends already".into()));
        }
        if low > high {
            return Err(("uniform", format!("must have its ends in order: [{high}, {low}]")));
        }
        Ok(Draw::Uniform { low, high })
    }

    fn check_normal(&self, [mean, deviation]: [f64; 2]) -> Result<Draw, (&'static str, String)> {
        if !Limit::from(0.0).holds(deviation) {
            return Err(("normal", "must have a standard deviation >= 0".into()));
        }
        let low = self.min.unwrap_or(mean - 3.0 * deviation);
        let high = self.max.unwrap_or(mean + 3.0 * deviation);
        if low > high {
            let key = if self.min.is_some() { "min" } else { "max" };
            return Err((key, format!("leaves nothing to draw: from {low} to {high}")));
        }
        Ok(Draw::Normal { mean, deviation, low, high })
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Number;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, { uniform = [low, high] } or { normal = [mean, sd] }")
            }

            fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
                Ok(Number::Fixed(number as f64))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
                Ok(Number::Fixed(number as f64))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
                Ok(Number::Fixed(number))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Number, A::Error> {
                let deserializer = serde::de::value::MapAccessDeserializer::new(map);
                Distribution::deserialize(deserializer).map(Number::Drawn)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::rng::{Purpose, stream};

    fn normal(normal: [f64; 2], min: Option<f64>, max: Option<f64>) -> Number {
        Number::Drawn(Distribution { normal: Some(normal), min, max, ..Distribution::default() })
    }

    #[test]
    fn draws_stay_between_the_ends() {
        let draw = normal([1.34, 0.26], Some(1.0), Some(1.5)).check(Limit::from(0.0)).unwrap();
        let drawn: Vec<f64> =
            (0..1000).map(|agent| draw.draw(|| stream(0, agent, 0, Purpose::PreferredSpeed))).collect();
        assert!(drawn.iter().all(|speed| (1.0..=1.5).contains(speed)));
        let at_an_end = drawn.iter().filter(|&&speed| speed == 1.0 || speed == 1.5).count();
        assert_eq!(at_an_end, 0, "what falls outside is drawn again, not cut");
    }

    #[test]
    fn ends_far_from_the_mean_do_not_hang() {
        let draw = normal([0.0, 1.0], Some(1e6), Some(2e6)).check(Limit::from(0.0)).unwrap();
        assert_eq!(draw.draw(|| stream(0, 0, 0, Purpose::Radius)), 1e6);
    }

    #[test]
    fn a_normal_that_reaches_below_its_limit_is_refused() {
        let (key, complaint) = normal([0.25, 0.1], None, None).check(Limit::above(0.0)).unwrap_err();
        assert_eq!(key, "normal");
        assert!(complaint.contains("must be > 0") && complaint.contains("`min`"), "{complaint}");
    }
}
