//! The eikonal equation |∇φ| = C on a small square grid: how much it costs to get from each cell to where φ is given.
//!
//! First-order upwind differences, as fast marching solves them. The way to the solution is another: lines are swept from
//! the goal's side to the agent's, sixteen cells at a time, until nothing gets cheaper. Each update only lowers a value, and
//! the equations have one solution, so that both end at the same one.
//! - Fast marching takes a heap, and a branch for every cell: many times as long on so small a grid.
//! - Fast sweeping as it is known goes through cells one after another, because each needs the one before. Here a line needs
//!   only the line before; what comes along a line takes more sweeps, and two or four are enough mostly, because the goal lies
//!   ahead.
//! - A sweep mostly waits for a square root, from which the next line's begins. So two sweeps run at once, the second one a
//!   line behind the first. With a sweep back as the second one it took half as long again until nothing got cheaper: what
//!   leads back is rare.

use fearless_simd::{Simd, f32x16, prelude::*};
use std::f32::consts::FRAC_1_SQRT_2;
use throng_core::space::LANES;

/// Cells a side.
pub const SIDE: usize = LANES;
/// A cost or a potential as high as this is one of a place that cannot be entered or reached. Its square is still a number.
pub const BLOCKED: f32 = 1e15;
/// Double sweeps, at most: a way that turns back more often has no meaning within a few metres.
const MOST_SWEEPS: usize = 64;

/// A value in each cell, line by line: the first line lies lowest.
pub type Cells = [[f32; SIDE]; SIDE];

/// What is given around the grid: the potential in the cells just outside of it.
#[derive(Clone, Copy, Debug)]
pub struct Rim {
    /// Below the lowest line and above the highest.
    pub below: [f32; SIDE],
    pub above: [f32; SIDE],
    /// Before the first column and behind the last.
    pub before: [f32; SIDE],
    pub behind: [f32; SIDE],
}

impl Rim {
    /// One that cannot be crossed.
    pub const CLOSED: Rim = Rim {
        below: [BLOCKED; SIDE],
        above: [BLOCKED; SIDE],
        before: [BLOCKED; SIDE],
        behind: [BLOCKED; SIDE],
    };
}

/// What lies between cells: added to the potential of the neighbour beyond.
#[derive(Clone, Copy, Debug)]
pub struct Sills {
    /// To the right of each cell.
    pub right: Cells,
    /// To the left of the first column.
    pub before: [f32; SIDE],
    /// Below each line, and above the highest.
    pub below: [[f32; SIDE]; SIDE + 1],
}

impl Sills {
    /// Nothing between any two.
    pub const NONE: Sills =
        Sills { right: [[0.0; SIDE]; SIDE], before: [0.0; SIDE], below: [[0.0; SIDE]; SIDE + 1] };
}

/// The equation: what a cell costs and what lies between cells and around them.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// Of crossing each cell from side to side.
    pub cost: &'a Cells,
    pub sills: &'a Sills,
    pub rim: &'a Rim,
}

/// What of a solution is asked for. What is higher follows from what is lower and never the other way round, so that the
/// rest need not be settled.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Potentials of the four cells in the middle, up to this one.
    pub level: f32,
    /// What a cell costs at least: as much lower must a potential be, for each cell that it is further away, to be of use there.
    pub cost: f32,
    /// All that may lie below this line is not asked for.
    pub line: usize,
}

impl Asked {
    /// All of it.
    pub const WHOLE: Asked = Asked { level: BLOCKED, cost: 0.0, line: 0 };
}

/// How far each cell is at least from the four in the middle, in cells: along an octagon around them.
const AWAY: Cells = {
    let mut away = [[0.0; SIDE]; SIDE];
    let mut cell = 0;
    while cell < SIDE * SIDE {
        let (x, y) = (from_middle(cell % SIDE), from_middle(cell / SIDE));
        away[cell / SIDE][cell % SIDE] = x.max(y).max(FRAC_1_SQRT_2 * (x + y));
        cell += 1;
    }
    away
};

/// How far a line or a column is from the two in the middle.
const fn from_middle(index: usize) -> f32 {
    let (low, high) = (SIDE / 2 - 1, SIDE / 2);
    (if index < low { low - index } else { index.saturating_sub(high) }) as f32
}

/// Lowers `potential`, which holds what is given and [`BLOCKED`] elsewhere, to the solution, where that is asked for: `asked`
/// says it from the potentials found so far, and is first told of those that follow straight down to the line `first`. Ends
/// when a sweep lowers nothing of it by more than `tolerance`.
#[inline(always)]
pub fn solve<S: Simd>(
    simd: S,
    problem: Problem<'_>,
    (first, asked): (usize, impl Fn(&Cells) -> Asked),
    tolerance: f32,
    potential: &mut Cells,
) {
    fall(simd, problem, first, potential);
    for _ in 0..MOST_SWEEPS {
        let asked = asked(potential);
        if sweep(simd, problem, asked, potential) <= tolerance {
            break;
        }
    }
}

/// Straight down to a line: no more than sums, to begin with.
#[inline(always)]
fn fall<S: Simd>(simd: S, Problem { cost, sills, rim }: Problem<'_>, first: usize, potential: &mut Cells) {
    let load = |line: &[f32; SIDE]| f32x16::from_slice(simd, line);
    let mut above = load(&rim.above);
    for line in (first..SIDE).rev() {
        above = load(&potential[line]).min(above + load(&sills.below[line + 1]) + load(&cost[line]));
        above.store_slice(&mut potential[line]);
    }
}

/// Goes over the lines twice, downwards: the second time a line behind the first, and the machine has time for both. By how
/// much a potential that is asked for fell the second time, at most.
#[inline(always)]
fn sweep<S: Simd>(simd: S, problem: Problem<'_>, asked: Asked, potential: &mut Cells) -> f32 {
    let mut above = [f32x16::from_slice(simd, &problem.rim.above); 2];
    let mut fell = f32x16::splat(simd, 0.0);
    pass(simd, problem, asked, SIDE - 1, &mut above[0], potential);
    for line in (asked.line..SIDE).rev() {
        if line > asked.line {
            pass(simd, problem, asked, line - 1, &mut above[0], potential);
        }
        fell = fell.max(pass(simd, problem, asked, line, &mut above[1], potential));
    }
    fell.reduce_max()
}

/// Goes over a line, from what is above it to what it is then. By how much it fell where it is asked for.
#[inline(always)]
fn pass<S: Simd>(
    simd: S,
    problem: Problem<'_>,
    asked: Asked,
    line: usize,
    above: &mut f32x16<S>,
    potential: &mut Cells,
) -> f32x16<S> {
    let splat = |value: f32| f32x16::splat(simd, value);
    let load = |line: &[f32; SIDE]| f32x16::from_slice(simd, line);
    let below = match line {
        0 => load(&problem.rim.below),
        _ if line == asked.line => splat(BLOCKED),
        _ => load(&potential[line - 1]),
    };
    let old = load(&potential[line]);
    *above = lower(simd, problem, line, old, [below, *above]);
    above.store_slice(&mut potential[line]);
    let is_asked = (*above + splat(asked.cost) * load(&AWAY[line])).simd_le(splat(asked.level));
    is_asked.select(old - *above, splat(0.0))
}

/// A line after what can be learned from the lines below and above it, and along itself.
#[inline(always)]
fn lower<S: Simd>(
    simd: S,
    Problem { cost, sills, rim }: Problem<'_>,
    line: usize,
    value: f32x16<S>,
    [below, above]: [f32x16<S>; 2],
) -> f32x16<S> {
    let load = |line: &[f32; SIDE]| f32x16::from_slice(simd, line);
    let beside = [rim.before[line], rim.behind[line]].map(|value| f32x16::splat(simd, value));
    let across = (below + load(&sills.below[line])).min(above + load(&sills.below[line + 1]));
    let to_right = load(&sills.right[line]);
    let to_left = f32x16::splat(simd, sills.before[line]).slide::<{ SIDE - 1 }>(to_right);
    let cost = load(&cost[line]);
    // The neighbours on both sides: lanes move over by one, and what is given moves in.
    let left = beside[0].slide::<{ SIDE - 1 }>(value) + to_left;
    let right = value.slide::<1>(beside[1]) + to_right;
    value.min(update(simd, left.min(right), across, cost))
}

/// The upwind solution from the cheaper neighbour on each axis. Where they differ by more than the cell costs, only one counts.
#[inline(always)]
fn update<S: Simd>(simd: S, a: f32x16<S>, b: f32x16<S>, cost: f32x16<S>) -> f32x16<S> {
    let (half, two) = (f32x16::splat(simd, 0.5), f32x16::splat(simd, 2.0));
    let apart = (a - b).abs();
    // Not a number only where it does not count.
    let root = (two * cost * cost - apart * apart).sqrt();
    apart.simd_lt(cost).select(half * (a + b + root), a.min(b) + cost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    const OPEN: Cells = [[BLOCKED; SIDE]; SIDE];

    fn solved(cost: &Cells, sills: &Sills, rim: &Rim, given: &Cells) -> Cells {
        let mut potential = *given;
        let problem = Problem { cost, sills, rim };
        dispatch!(Level::new(), simd => solve(simd, problem, (0, |_: &Cells| Asked::WHOLE), 1e-5, &mut potential));
        potential
    }

    /// Around a cell: left, right, below, above.
    fn around(sills: &Sills, rim: &Rim, field: &Cells, (x, y): (usize, usize)) -> [f32; 4] {
        [
            if x > 0 { field[y][x - 1] + sills.right[y][x - 1] } else { rim.before[y] + sills.before[y] },
            if x + 1 < SIDE { field[y][x + 1] } else { rim.behind[y] } + sills.right[y][x],
            if y > 0 { field[y - 1][x] } else { rim.below[x] } + sills.below[y][x],
            if y + 1 < SIDE { field[y + 1][x] } else { rim.above[x] } + sills.below[y + 1][x],
        ]
    }

    /// Sethian's fast marching, in double precision: the cell with the least potential is final, one after another.
    fn fast_marching(cost: &Cells, sills: &Sills, rim: &Rim, given: &Cells) -> Cells {
        let mut field = *given;
        let mut settled = [[false; SIDE]; SIDE];
        let key = |value: f32| Reverse(value.to_bits());
        let all = || (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)));
        let mut heap = BinaryHeap::new();
        let lower = |field: &mut Cells, heap: &mut BinaryHeap<_>, at: (usize, usize)| {
            let [left, right, below, above] = around(sills, rim, field, at).map(f64::from);
            let (a, b, c) = (left.min(right), below.min(above), f64::from(cost[at.1][at.0]));
            let new = if (a - b).abs() >= c {
                a.min(b) + c
            } else {
                0.5 * (a + b + (2.0 * c * c - (a - b).powi(2)).sqrt())
            } as f32;
            if new < field[at.1][at.0] {
                field[at.1][at.0] = new;
                heap.push((key(new), at));
            }
        };
        all().filter(|&(x, y)| field[y][x] < BLOCKED).for_each(|at| heap.push((key(field[at.1][at.0]), at)));
        all().for_each(|at| lower(&mut field, &mut heap, at));
        while let Some((_, (x, y))) = heap.pop() {
            if std::mem::replace(&mut settled[y][x], true) {
                continue;
            }
            for (dx, dy) in [(-1i32, 0i32), (1, 0), (0, -1), (0, 1)] {
                let (x, y) = (x as i32 + dx, y as i32 + dy);
                if (0..SIDE as i32).contains(&x) && (0..SIDE as i32).contains(&y) {
                    lower(&mut field, &mut heap, (x as usize, y as usize));
                }
            }
        }
        field
    }

    fn line(value: impl Strategy<Value = f32> + Clone) -> impl Strategy<Value = [f32; SIDE]> {
        proptest::collection::vec(value, SIDE).prop_map(|line| line.try_into().unwrap())
    }

    fn costs() -> impl Strategy<Value = Cells> {
        let smooth = 0.1f32..3.0;
        let rough = prop_oneof![6 => 0.01f32..30.0, 2 => Just(BLOCKED)];
        let cells = |value: BoxedStrategy<f32>| {
            proptest::collection::vec(value, SIDE * SIDE)
                .prop_map(|all| std::array::from_fn(|y| std::array::from_fn(|x| all[y * SIDE + x])))
        };
        prop_oneof![cells(smooth.boxed()), cells(rough.boxed())]
    }

    proptest! {
        /// The stated bound: a thousandth of the fast-marching solution, wherever that can be reached.
        #[test]
        fn it_is_what_fast_marching_finds(
            cost in costs(),
            rim in (line(0.0f32..40.0), line(0.0f32..40.0), line(0.0f32..40.0), line(0.0f32..40.0)),
            closed in any::<bool>(),
            goal in (0..SIDE, 0..SIDE),
            walls in proptest::option::of(proptest::collection::vec(any::<bool>(), SIDE * (2 * SIDE + 2))),
        ) {
            let (below, above, before, behind) = rim;
            let rim = if closed { Rim::CLOSED } else { Rim { below, above, before, behind } };
            let mut given = OPEN;
            given[goal.1][goal.0] = 0.0;
            let sill = |place: usize| walls.as_ref().map_or(0.0, |walls| if walls[place] { BLOCKED } else { 0.0 });
            let line = |line: usize| std::array::from_fn(|x| sill(line * SIDE + x));
            let sills = Sills {
                right: std::array::from_fn(line),
                before: line(SIDE),
                below: std::array::from_fn(|y| line(SIDE + 1 + y)),
            };
            let ours = solved(&cost, &sills, &rim, &given);
            let reference = fast_marching(&cost, &sills, &rim, &given);
            for (x, y) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y))) {
                let (ours, reference) = (ours[y][x], reference[y][x]);
                prop_assert!(
                    reference > 1e6 && ours > 1e6 || (ours - reference).abs() <= 1e-3 * reference + 1e-4,
                    "{ours} instead of {reference} at {x}, {y}"
                );
            }
        }
    }

    proptest! {
        /// The four cells in the middle are what they are in the whole field, whatever else is left unsettled.
        #[test]
        fn what_is_asked_for_does_not_depend_on_the_rest(
            cost in costs(),
            above in line(0.0f32..40.0),
            beside in line(0.0f32..40.0),
        ) {
            let rim = Rim { above, before: beside, ..Rim::CLOSED };
            let four = |cells: &Cells| [cells[7][7], cells[7][8], cells[8][7], cells[8][8]];
            let least = cost.iter().flatten().copied().fold(BLOCKED, f32::min);
            let asked = |potential: &Cells| Asked {
                level: four(potential).into_iter().fold(0.0, f32::max),
                cost: least,
                line: 0,
            };
            let (whole, mut part) = (solved(&cost, &Sills::NONE, &rim, &OPEN), OPEN);
            let problem = Problem { cost: &cost, sills: &Sills::NONE, rim: &rim };
            dispatch!(Level::new(), simd => solve(simd, problem, (0, asked), 1e-5, &mut part));
            for (part, whole) in four(&part).into_iter().zip(four(&whole)) {
                prop_assert!((part - whole).abs() <= 1e-3 * whole + 1e-4, "{part} instead of {whole}");
            }
        }
    }

    /// A front that is straight, from any side: upwind differences are exact there.
    #[test]
    fn a_straight_front_is_exact() {
        let cost = [[1.0; SIDE]; SIDE];
        for degrees in (0..360).step_by(5) {
            let direction = glam::Vec2::from_angle((degrees as f32).to_radians());
            let exact = |x: f32, y: f32| 100.0 + direction.dot(glam::Vec2::new(x, y));
            let rim = Rim {
                below: std::array::from_fn(|x| exact(x as f32, -1.0)),
                above: std::array::from_fn(|x| exact(x as f32, SIDE as f32)),
                before: std::array::from_fn(|y| exact(-1.0, y as f32)),
                behind: std::array::from_fn(|y| exact(SIDE as f32, y as f32)),
            };
            let ours = solved(&cost, &Sills::NONE, &rim, &OPEN);
            for (y, line) in ours.iter().enumerate() {
                for (x, &ours) in line.iter().enumerate() {
                    let exact = exact(x as f32, y as f32);
                    assert!((ours - exact).abs() < 5e-3, "{ours} instead of {exact} at {degrees}°");
                }
            }
        }
    }

    /// Around a point the front is curved, and first-order differences find ways too long. The stated bound: 0.85 cells, over
    /// the whole grid.
    #[test]
    fn around_a_point_it_is_nearly_the_distance() {
        let cost = [[1.0; SIDE]; SIDE];
        for goal in [(0, 0), (7, 8), (15, 3)] {
            let mut given = OPEN;
            for (y, line) in given.iter_mut().enumerate() {
                for (x, value) in line.iter_mut().enumerate() {
                    let distance =
                        ((x as f32 - goal.0 as f32).powi(2) + (y as f32 - goal.1 as f32).powi(2)).sqrt();
                    if distance < 1.5 {
                        *value = distance;
                    }
                }
            }
            let ours = solved(&cost, &Sills::NONE, &Rim::CLOSED, &given);
            for (y, line) in ours.iter().enumerate() {
                for (x, &ours) in line.iter().enumerate() {
                    let exact =
                        ((x as f32 - goal.0 as f32).powi(2) + (y as f32 - goal.1 as f32).powi(2)).sqrt();
                    assert!((-1e-3..0.85).contains(&(ours - exact)), "{ours} instead of {exact} at {x}, {y}");
                }
            }
        }
    }
}
