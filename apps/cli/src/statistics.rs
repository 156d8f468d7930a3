//! Figures of a sample.

/// Mean; not a number where there is nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation of a sample; 0 for a single value.
pub fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0).max(1.0)).sqrt()
}

/// The one in the middle; not a number where there is nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The one that a quarter is below; not a number where there is nothing.
pub fn lower_quartile(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 4).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_a_sample() {
        assert_eq!((mean(&[1.0, 3.0]), deviation(&[1.0, 3.0])), (2.0, 2f64.sqrt()));
        assert_eq!(deviation(&[5.0]), 0.0);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(lower_quartile(vec![4.0, 3.0, 1.0, 2.0]), 2.0);
    }
}
