//! Where to look for the least misfit, in a box whose sides are all 1, and how sure the place is.
//!
//! First points that fill the box evenly, all side by side, so that a search does not begin in the wrong valley; then the
//! simplex of Nelder and Mead (1965) from the best of them. It needs no derivatives, which noisy figures do not have, and fewer
//! runs than an evolution strategy where values are few. Both are the same in every call, so that a search that was broken off
//! comes by the points of its journal again and goes on behind them.

use argmin::core::{CostFunction, Executor};
use argmin::solver::neldermead::NelderMead;
use std::cell::RefCell;
use std::fmt;

/// Points for each value that is fitted, before the simplex.
const SCANNED: usize = 6;
/// What a point costs outside of the box, for each side of it, beside what the nearest one inside does.
const OUTSIDE: f64 = 10.0;
/// Simplices whose corners all have one misfit have shrunk onto one point.
const SAME: f64 = 1e-12;
/// Rounds of the simplex, many more than it needs.
const ROUNDS: u64 = 1000;

/// Why a search ends before it has found its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Ctrl-C was pressed.
    Interrupted,
    /// As many points as were allowed have been tried.
    Enough,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Interrupted => "interrupted",
            Stop::Enough => "enough points",
        })
    }
}

impl std::error::Error for Stop {}

/// Looks for the least cost; `costs` is told points side by side and remembers them. Whether it came to an end by itself.
pub fn search(
    values: usize,
    costs: impl FnMut(&[Vec<f64>]) -> anyhow::Result<Vec<f64>>,
) -> anyhow::Result<bool> {
    match try_search(values, costs) {
        Ok(()) => Ok(true),
        Err(error) if error.downcast_ref() == Some(&Stop::Enough) => Ok(false),
        Err(error) => Err(error),
    }
}

fn try_search(
    values: usize,
    mut costs: impl FnMut(&[Vec<f64>]) -> anyhow::Result<Vec<f64>>,
) -> anyhow::Result<()> {
    let scan = evenly(values, SCANNED * values);
    let misfits = costs(&scan)?;
    let Some(best) = (0..scan.len()).min_by(|&a, &b| misfits[a].total_cmp(&misfits[b])) else {
        return Ok(());
    };
    let simplex = simplex(&scan[best], 0.5 * (scan.len() as f64).powf(-1.0 / values as f64));
    let problem = Problem(RefCell::new(costs));
    let solver = NelderMead::new(simplex).with_sd_tolerance(SAME)?;
    Executor::new(problem, solver).configure(|state| state.max_iters(ROUNDS)).run()?;
    Ok(())
}

/// What the simplex sees.
struct Problem<F>(RefCell<F>);

impl<F: FnMut(&[Vec<f64>]) -> anyhow::Result<Vec<f64>>> CostFunction for Problem<F> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, at: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        let inside: Vec<f64> = at.iter().map(|at| at.clamp(0.0, 1.0)).collect();
        let outside: f64 = at.iter().zip(&inside).map(|(at, inside)| (at - inside).abs()).sum();
        let cost = self.0.borrow_mut()(&[inside])?;
        Ok(cost[0] + OUTSIDE * outside)
    }
}

/// Points that fill a box evenly, however many are taken (the additive recurrence of the generalised golden ratio).
fn evenly(values: usize, count: usize) -> Vec<Vec<f64>> {
    // The root of x^(values + 1) = x + 1.
    let ratio = (0..60).fold(2.0_f64, |x, _| (1.0 + x).powf(1.0 / (values as f64 + 1.0)));
    let at = |point: usize, value: usize| (0.5 + point as f64 * ratio.powi(-(value as i32 + 1))).fract();
    (0..count).map(|point| (0..values).map(|value| at(point, value)).collect()).collect()
}

/// A point and, for each value, one that is `size` further to the middle of the box.
fn simplex(from: &[f64], size: f64) -> Vec<Vec<f64>> {
    let corner = |value: usize| {
        let mut corner = from.to_vec();
        corner[value] += if from[value] > 0.5 { -size } else { size };
        corner
    };
    std::iter::once(from.to_vec()).chain((0..from.len()).map(corner)).collect()
}

/// How far a fitted place may be off, as a standard error of each value: residuals are taken as linear around it (`slopes`, by
/// residual and value), and what least squares make of their spread over seeds is spread of the place. `given` says which
/// residuals are in standard errors of the target, which adds to it. Nothing where the residuals do not determine the place.
pub fn errors(slopes: &[Vec<f64>], residuals: &[Vec<f64>], given: &[bool]) -> Option<Vec<f64>> {
    let (values, seeds) = (slopes.first()?.len(), residuals.len() as f64);
    let product = |a: usize, b: usize| slopes.iter().map(|slope| slope[a] * slope[b]).sum::<f64>();
    let normal: Vec<Vec<f64>> = (0..values).map(|a| (0..values).map(|b| product(a, b)).collect()).collect();
    // By residual: how the place moves with it.
    let moves: Vec<Vec<f64>> =
        slopes.iter().map(|slope| solve(normal.clone(), slope.clone())).collect::<Option<_>>()?;
    let error = |value: usize| {
        let shift = |seed: &Vec<f64>| -> f64 {
            seed.iter().zip(&moves).map(|(residual, moves)| residual * moves[value]).sum()
        };
        let shifts: Vec<f64> = residuals.iter().map(shift).collect();
        let of_seeds = crate::statistics::deviation(&shifts).powi(2) / seeds;
        let of_targets: f64 =
            moves.iter().zip(given).filter(|(_, given)| **given).map(|(moves, _)| moves[value].powi(2)).sum();
        (of_seeds + of_targets).sqrt()
    };
    Some((0..values).map(error).collect())
}

/// Less of the largest number of a row than this is rounding.
const NOTHING: f64 = 1e-9;

/// Linear equations, by elimination; nothing where they have no single answer.
fn solve(mut rows: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let count = right.len();
    let largest = rows.iter().flatten().fold(0.0_f64, |most, number| most.max(number.abs()));
    for column in 0..count {
        let pivot =
            (column..count).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        if rows[pivot][column].abs() <= NOTHING * largest {
            return None;
        }
        rows.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..count {
            let times = rows[row][column] / rows[column][column];
            let (above, below) = rows.split_at_mut(row);
            below[0].iter_mut().zip(&above[column]).for_each(|(number, other)| *number -= times * other);
            right[row] -= times * right[column];
        }
    }
    for column in (0..count).rev() {
        let known: f64 = (column + 1..count).map(|later| rows[column][later] * right[later]).sum();
        right[column] = (right[column] - known) / rows[column][column];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curved valley with its bottom at (0.3, 0.8), in steps as figures of runs are.
    fn misfit(at: &[f64]) -> f64 {
        let [x, y] = [at[0], at[1]].map(|at| (at * 1000.0).round() / 1000.0);
        ((x - 0.3).powi(2) + 4.0 * (y - 0.8 - (x - 0.3).powi(2)).powi(2)).sqrt()
    }

    fn found(mut misfit: impl FnMut(&[f64]) -> f64, values: usize, most: usize) -> (Vec<f64>, usize, bool) {
        let (mut best, mut tried) = ((f64::INFINITY, Vec::new()), 0);
        let ended = search(values, |points| {
            tried += points.len();
            let all: Vec<f64> = points.iter().map(|point| misfit(point)).collect();
            for (misfit, point) in all.iter().zip(points) {
                assert!(point.iter().all(|at| (0.0..=1.0).contains(at)), "{point:?}");
                if *misfit < best.0 {
                    best = (*misfit, point.clone());
                }
            }
            if tried > most { Err(Stop::Enough.into()) } else { Ok(all) }
        });
        (best.1, tried, ended.unwrap())
    }

    #[test]
    fn the_bottom_is_found_inside_and_at_the_edge() {
        let (place, tried, ended) = found(misfit, 2, 400);
        assert!(
            ended && (place[0] - 0.3).abs() < 0.003 && (place[1] - 0.8).abs() < 0.003,
            "{place:?}, {tried}"
        );
        let (place, tried, ended) = found(|at| (at[0] - 1.2).abs(), 1, 200);
        assert!(ended && place[0] > 0.998, "{place:?} after {tried}");
    }

    #[test]
    fn a_search_has_an_end_and_gives_errors_on() {
        let (_, tried, ended) = found(misfit, 2, 15);
        assert!(!ended && tried == 16);
        let broken = search(1, |_| Err(Stop::Interrupted.into())).unwrap_err();
        assert_eq!(broken.downcast_ref(), Some(&Stop::Interrupted));
    }

    #[test]
    fn points_fill_the_box() {
        for values in 1..4 {
            let points = evenly(values, 64);
            for value in 0..values {
                for part in 0..8 {
                    let low = f64::from(part) / 8.0;
                    let there =
                        points.iter().filter(|point| (low..low + 0.125).contains(&point[value])).count();
                    assert!((5..=11).contains(&there), "{there} of 64 in an eighth");
                }
            }
        }
    }

    #[test]
    fn errors_follow_from_slopes_and_spread() {
        // One value, one figure: what the figure is off by over the slope.
        let one = errors(&[vec![2.0]], &[vec![0.1], vec![-0.1]], &[false]).unwrap();
        assert!((one[0] - 0.1 * 2f64.sqrt() / 2f64.sqrt() / 2.0).abs() < 1e-12, "{one:?}");
        // The target's own error counts beside it.
        let given = errors(&[vec![2.0]], &[vec![0.0], vec![0.0]], &[true]).unwrap();
        assert!((given[0] - 0.5).abs() < 1e-12, "{given:?}");
        // Two values that only count as a sum cannot be told apart.
        assert_eq!(
            errors(&[vec![1.0, 1.0], vec![2.0, 2.0]], &[vec![0.1; 2], vec![0.2; 2]], &[false; 2]),
            None
        );
    }

    #[test]
    fn equations_are_solved() {
        let solution = solve(vec![vec![0.0, 2.0], vec![3.0, 1.0]], vec![4.0, 5.0]).unwrap();
        assert!((solution[0] - 1.0).abs() < 1e-12 && (solution[1] - 2.0).abs() < 1e-12, "{solution:?}");
    }
}
