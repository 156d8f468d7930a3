//! A number, a distribution that each agent draws its own from, or a list with one for each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use throng_core::params::{Draw, Limit};
use throng_core::rng::Stream;

/// A number, `{ uniform = [low, high] }`, `{ normal = [mean, sd], min = , max = }`,
/// `{ log_normal = [mu, sigma], min = , max = }`, or a list with a number for each agent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Number {
    /// The same for everyone.
    Fixed(f64),
    /// Each agent draws its own.
    Drawn(Distribution),
    /// One for each agent, in the order of their places.
    Listed(Vec<f64>),
}

/// A distribution: exactly one of `uniform`, `normal`, `log_normal`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Distribution {
    /// Lowest and highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uniform: Option<[f64; 2]>,
    /// Mean and standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f64; 2]>,
    /// Mean and standard deviation of the natural logarithm, as ISO 20414 and NIST TN 1822 give them: the median is e^mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_normal: Option<[f64; 2]>,
    /// Lower end of `normal` and `log_normal`. Default: 3 standard deviations below the mean (of the logarithm). What falls
    /// outside is drawn again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Upper end of `normal` and `log_normal`. Default: 3 standard deviations above the mean (of the logarithm).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

/// Checked numbers of agents.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Figures {
    Drawn(Draw),
    Listed(Vec<f64>),
}

impl Figures {
    /// That of an agent, by its place among those who share them.
    pub fn of(&self, member: usize, stream: impl FnOnce() -> Stream) -> f64 {
        match self {
            Figures::Drawn(draw) => draw.draw(stream),
            // The length of a list was held against the number of agents.
            Figures::Listed(numbers) => numbers.get(member).copied().unwrap_or_default(),
        }
    }

    pub fn low(&self) -> f64 {
        match self {
            Figures::Drawn(draw) => draw.low(),
            Figures::Listed(numbers) => numbers.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }

    pub fn high(&self) -> f64 {
        match self {
            Figures::Drawn(draw) => draw.high(),
            Figures::Listed(numbers) => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// How many are listed, where they are.
    pub fn listed(&self) -> Option<usize> {
        if let Figures::Listed(numbers) = self { Some(numbers.len()) } else { None }
    }
}

/// What is wrong with a number.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wrong {
    /// The number itself.
    Number(String),
    /// A key of its distribution.
    Key(&'static str, String),
    /// One of a list.
    Item(usize, String),
}

impl Number {
    /// What agents get, or what is wrong.
    pub(super) fn check(&self, limit: Limit) -> Result<Figures, Wrong> {
        if let Number::Listed(numbers) = self {
            return match numbers.iter().position(|&number| !limit.holds(number)) {
                Some(index) => Err(Wrong::Item(index, format!("must be {limit}"))),
                None if numbers.is_empty() => Err(Wrong::Number("must have a number for each agent".into())),
                None => Ok(Figures::Listed(numbers.clone())),
            };
        }
        self.draw(limit).map(Figures::Drawn)
    }

    /// What to draw from, or what is wrong.
    pub(super) fn draw(&self, limit: Limit) -> Result<Draw, Wrong> {
        let draw = match self {
            Number::Fixed(number) => Draw::Fixed(*number),
            Number::Drawn(distribution) => distribution.check()?,
            Number::Listed(_) => {
                return Err(Wrong::Number(
                    "must be a number or a distribution; a list has no meaning here".into(),
                ));
            }
        };
        let key = match draw {
            Draw::Fixed(_) => None,
            Draw::Uniform { .. } => Some("uniform"),
            Draw::Normal { .. } => Some("normal"),
            Draw::LogNormal { .. } => Some("log_normal"),
        };
        if [draw.low(), draw.high()].iter().all(|&end| limit.holds(end)) {
            return Ok(draw);
        }
        let complaint = complaint(&draw, limit);
        Err(key.map_or(Wrong::Number(complaint.clone()), |key| Wrong::Key(key, complaint)))
    }
}

/// What is wrong with numbers that are not all within a limit.
pub(super) fn complaint(draw: &Draw, limit: Limit) -> String {
    let end = if limit.holds(draw.low()) { draw.high() } else { draw.low() };
    match draw {
        Draw::Normal { .. } | Draw::LogNormal { .. } => {
            format!("reaches {end} but must be {limit}; give it a `min` and a `max`")
        }
        _ => format!("must be {limit}"),
    }
}

impl Distribution {
    /// What to draw from, or what is wrong.
    pub(super) fn check(&self) -> Result<Draw, Wrong> {
        match (self.uniform, self.normal, self.log_normal) {
            (Some(uniform), None, None) => self.check_uniform(uniform),
            (None, Some([mean, deviation]), None) => {
                let [low, high] = self.ends("normal", [mean, deviation], |number| number)?;
                Ok(Draw::Normal { mean, deviation, low, high })
            }
            (None, None, Some([mu, sigma])) => {
                let [low, high] = self.ends("log_normal", [mu, sigma], f64::exp)?;
                Ok(Draw::LogNormal { mu, sigma, low, high })
            }
            _ => Err(Wrong::Number(
                "must have either `uniform = [low, high]`, `normal = [mean, sd]` or `log_normal = [mu, sigma]`"
                    .into(),
            )),
        }
    }

    fn check_uniform(&self, [low, high]: [f64; 2]) -> Result<Draw, Wrong> {
        let key = if self.min.is_some() { "min" } else { "max" };
        if self.min.or(self.max).is_some() {
            let complaint = "belongs to `normal` and `log_normal`; `uniform` has its ends already";
            return Err(Wrong::Key(key, complaint.into()));
        }
        if low > high {
            return Err(Wrong::Key("uniform", format!("must have its ends in order: [{high}, {low}]")));
        }
        Ok(Draw::Uniform { low, high })
    }

    /// From where to where a bell reaches that is drawn on a scale of its own.
    fn ends(
        &self,
        kind: &'static str,
        [mean, deviation]: [f64; 2],
        scale: impl Fn(f64) -> f64,
    ) -> Result<[f64; 2], Wrong> {
        if !(mean.is_finite() && Limit::from(0.0).holds(deviation)) {
            return Err(Wrong::Key(kind, "must have a finite mean and a standard deviation >= 0".into()));
        }
        let low = self.min.unwrap_or_else(|| scale(mean - 3.0 * deviation));
        let high = self.max.unwrap_or_else(|| scale(mean + 3.0 * deviation));
        if low > high {
            let key = if self.min.is_some() { "min" } else { "max" };
            return Err(Wrong::Key(key, format!("leaves nothing to draw: from {low} to {high}")));
        }
        Ok([low, high])
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Number;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(
                    "a number, { uniform = [low, high] }, { normal = [mean, sd] }, { log_normal = [mu, sigma] } \
                     or a list of numbers",
                )
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

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<Number, A::Error> {
                let deserializer = serde::de::value::SeqAccessDeserializer::new(seq);
                Vec::deserialize(deserializer).map(Number::Listed)
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

    fn log_normal([mu, sigma]: [f64; 2], min: Option<f64>, max: Option<f64>) -> Number {
        Number::Drawn(Distribution { log_normal: Some([mu, sigma]), min, max, ..Distribution::default() })
    }

    fn drawn(number: &Number) -> Vec<f64> {
        let figures = number.check(Limit::from(0.0)).unwrap();
        (0..1000).map(|agent| figures.of(0, || stream(0, agent, 0, Purpose::Start))).collect()
    }

    #[test]
    fn the_logarithm_of_a_log_normal_has_the_mean_and_the_deviation() {
        let logarithms: Vec<f64> =
            drawn(&log_normal([4.0, 0.5], None, None)).iter().map(|t| t.ln()).collect();
        let mean = logarithms.iter().sum::<f64>() / 1000.0;
        let variance = logarithms.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1000.0;
        assert!((mean - 4.0).abs() < 0.05 && (variance.sqrt() - 0.5).abs() < 0.03, "{mean} {variance}");
        assert!(drawn(&log_normal([0.0, 1.0], Some(0.5), Some(2.0))).iter().all(|t| (0.5..=2.0).contains(t)));
    }

    #[test]
    fn lists_give_each_agent_its_own() {
        let listed = Number::Listed(vec![0.0, 1.5, 2.0]).check(Limit::from(0.0)).unwrap();
        assert_eq!(listed.of(1, || stream(0, 7, 0, Purpose::Start)), 1.5);
        assert_eq!((listed.low(), listed.high(), listed.listed()), (0.0, 2.0, Some(3)));
        let wrong = Number::Listed(vec![0.0, -1.0]).check(Limit::from(0.0)).unwrap_err();
        assert_eq!(wrong, Wrong::Item(1, "must be >= 0".into()));
    }

    #[test]
    fn draws_stay_between_the_ends() {
        let drawn = drawn(&normal([1.34, 0.26], Some(1.0), Some(1.5)));
        assert!(drawn.iter().all(|speed| (1.0..=1.5).contains(speed)));
        let at_an_end = drawn.iter().filter(|&&speed| speed == 1.0 || speed == 1.5).count();
        assert_eq!(at_an_end, 0, "what falls outside is drawn again, not cut");
    }

    #[test]
    fn ends_far_from_the_mean_do_not_hang() {
        let draw = normal([0.0, 1.0], Some(1e6), Some(2e6)).check(Limit::from(0.0)).unwrap();
        assert_eq!(draw.of(0, || stream(0, 0, 0, Purpose::Radius)), 1e6);
    }

    #[test]
    fn a_normal_that_reaches_below_its_limit_is_refused() {
        let wrong = normal([0.25, 0.1], None, None).check(Limit::above(0.0)).unwrap_err();
        let Wrong::Key("normal", complaint) = wrong else { panic!("{wrong:?}") };
        assert!(complaint.contains("must be > 0") && complaint.contains("`min`"), "{complaint}");
    }
}
