//! The exponential function, the same in every bit on every machine: that of the standard library is the platform's, and differs
//! in the last bit.

use std::f32::consts::LOG2_E;

/// ln 2 in two parts: whole multiples of the first are exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// Beyond these the result is no longer a normal number.
const LOWEST: f32 = -87.0;
const HIGHEST: f32 = 88.0;

/// e to the power of `x`, within 3e-7 of it. Further out than -87 and 88 the value is the one there: never 0 and never infinite.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let x = x.clamp(LOWEST, HIGHEST);
    let halvings = (x * LOG2_E).round();
    let rest = (x - halvings * LN_2[0]) - halvings * LN_2[1];
    // The series up to the sixth power: `rest` is at most ln 2 / 2.
    let series = 1.0 / 6.0 + rest * (1.0 / 24.0 + rest * (1.0 / 120.0 + rest * (1.0 / 720.0)));
    let of_rest = 1.0 + rest * (1.0 + rest * (0.5 + rest * series));
    of_rest * f32::from_bits(((halvings as i32 + 127) as u32) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_double_precision() {
        for i in -8700..=8800 {
            let x = 0.01 * i as f32;
            let exact = f64::from(x).exp();
            let off = (f64::from(exp(x)) / exact - 1.0).abs();
            assert!(off < 3e-7, "{x}: {} instead of {exact}, {off}", exp(x));
        }
        assert_eq!(exp(0.0), 1.0);
    }

    #[test]
    fn it_is_finite_wherever_it_is_asked() {
        assert_eq!(exp(f32::INFINITY), exp(88.0));
        assert_eq!(exp(f32::NEG_INFINITY), exp(-87.0));
        assert!(exp(88.0).is_normal() && exp(-87.0).is_normal() && exp(f32::NAN).is_nan());
    }
}
