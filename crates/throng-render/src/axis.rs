//! An axis with round numbers.

/// About this many numbers on an axis.
const TICKS: f64 = 6.0;

/// A range of numbers that ends on round ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    step: f64,
    /// Whether its numbers are exponents of ten.
    powers: bool,
}

impl Axis {
    /// From zero, or below it, to a round number beyond the highest.
    pub fn over(values: impl Iterator<Item = f64>) -> Axis {
        Axis::with_ticks(values, TICKS)
    }

    /// The same with about so many numbers.
    pub fn with_ticks(values: impl Iterator<Item = f64>, ticks: f64) -> Axis {
        let (low, high) =
            values.fold((0.0f64, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        let span = if high > low { high - low } else { 1.0 };
        let power = 10f64.powf((span / ticks).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| span / step <= ticks).unwrap_or(span);
        Axis {
            low: (low / step).floor() * step,
            high: ((low + span) / step).ceil() * step,
            step,
            powers: false,
        }
    }

    /// From one power of ten to another: what stands along it is placed by its logarithm.
    pub fn decades([low, high]: [i32; 2]) -> Axis {
        Axis { low: low.into(), high: high.into(), step: 1.0, powers: true }
    }

    /// The lowest number.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The highest number.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// The numbers that stand along it.
    pub fn ticks(&self) -> impl Iterator<Item = f64> + '_ {
        let count = ((self.high - self.low) / self.step).round() as usize;
        (0..=count).map(|tick| self.low + tick as f64 * self.step)
    }

    /// 0 at the low end, 1 at the high one.
    pub fn part(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    /// A number as it is written beside its tick.
    pub fn label(&self, value: f64) -> String {
        if self.powers {
            let digits = (-value).max(0.0) as usize;
            return format!("{:.digits$}", 10f64.powf(value));
        }
        let digits = (-self.step.log10().floor()).max(0.0) as usize;
        format!("{value:.digits$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_are_written_out() {
        let axis = Axis::decades([-1, 3]);
        let labels: Vec<String> = axis.ticks().map(|tick| axis.label(tick)).collect();
        assert_eq!(labels.join(" "), "0.1 1 10 100 1000");
    }

    #[test]
    fn axes_end_on_round_numbers() {
        let axis = Axis::over([0.3, 2.31].into_iter());
        assert_eq!((axis.low, axis.high, axis.step), (0.0, 2.5, 0.5));
        assert_eq!(
            axis.ticks().map(|tick| axis.label(tick)).collect::<Vec<_>>().join(" "),
            "0.0 0.5 1.0 1.5 2.0 2.5"
        );
    }
}
