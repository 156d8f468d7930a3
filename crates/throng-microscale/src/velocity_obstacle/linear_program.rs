//! # The permitted velocity closest to the preferred one (van den Berg et al. 2011, section 5)
//! The incremental linear program of de Berg et al., chapter 4, in two dimensions, and the three-dimensional one
//! for dense crowds, where the forbidden sides give way equally.
//!
//! Deviation: planes are added nearest first instead of in random order. When nothing is permitted the late planes
//! give way, and those of far agents matter least; and a fixed order keeps runs the same.

use super::Planes;
use fearless_simd::{Simd, f32x16, mask32x16, prelude::*};
use glam::Vec2;
use throng_core::geom::{at_most, det, left};
use throng_core::space::{LANES, lanes_below};

/// Lines closer to parallel than this have no useful intersection.
pub(super) const PARALLEL: f32 = 1e-5;

/// What a program looks for within the speed disc.
#[derive(Clone, Copy)]
enum Aim {
    /// The velocity closest to this one.
    Closest(Vec2),
    /// The velocity furthest along this unit vector.
    Furthest(Vec2),
}

/// The permitted velocity closest to `preferred`; where there is none, the one that violates others' planes least.
#[inline(always)]
pub fn closest<S: Simd>(
    simd: S,
    planes: &Planes,
    projected: &mut Planes,
    preferred: Vec2,
    max_speed: f32,
) -> Vec2 {
    match plane_program(simd, planes, max_speed, Aim::Closest(preferred)) {
        Ok(best) => best,
        // Not inlined: it is long and, outside of dense crowds, rarely needed.
        Err((failed, best)) => simd.vectorize(
            #[inline(always)]
            || space_program(simd, planes, projected, max_speed, failed, best),
        ),
    }
}

/// Adds plane after plane; only one that forbids the best so far changes it. `Err` has the plane that left nothing.
#[inline(always)]
fn plane_program<S: Simd>(simd: S, planes: &Planes, max_speed: f32, aim: Aim) -> Result<Vec2, (usize, Vec2)> {
    let mut best = match aim {
        Aim::Closest(preferred) => at_most(preferred, max_speed),
        Aim::Furthest(direction) => direction * max_speed,
    };
    let mut from = 0;
    while let Some(plane) = first_violated(simd, planes, from, best) {
        best = on_line(simd, planes, plane, max_speed, aim).ok_or((plane, best))?;
        from = plane + 1;
    }
    Ok(best)
}

#[inline(always)]
fn first_violated<S: Simd>(simd: S, planes: &Planes, from: usize, velocity: Vec2) -> Option<usize> {
    let (vx, vy) = (f32x16::splat(simd, velocity.x), f32x16::splat(simd, velocity.y));
    let mut wanted = !0u64 << (from % LANES);
    for block in (from - from % LANES..planes.len).step_by(LANES) {
        let (px, py, dx, dy) = load(simd, planes, block);
        let violation = dx * (py - vy) - dy * (px - vx);
        let violated = violation.simd_gt(f32x16::splat(simd, 0.0)).to_bitmask()
            & wanted
            & lanes_below(planes.len - block);
        if violated != 0 {
            return Some(block + violated.trailing_zeros() as usize);
        }
        wanted = !0;
    }
    None
}

/// The best on one plane's line, within the speed disc and the planes before it.
#[inline(always)]
fn on_line<S: Simd>(simd: S, planes: &Planes, plane: usize, max_speed: f32, aim: Aim) -> Option<Vec2> {
    let (point, direction) = (planes.point(plane), planes.direction(plane));
    let along = point.dot(direction);
    let discriminant = along * along + max_speed * max_speed - point.length_squared();
    if discriminant < 0.0 {
        return None;
    }
    let root = discriminant.sqrt();
    let (low, high) = interval(simd, planes, plane, -along - root, -along + root)?;
    let t = match aim {
        Aim::Furthest(wish) => {
            if wish.dot(direction) > 0.0 {
                high
            } else {
                low
            }
        }
        Aim::Closest(wish) => direction.dot(wish - point).max(low).min(high),
    };
    Some(point + t * direction)
}

/// What the planes before `plane` leave of its line.
#[inline(always)]
fn interval<S: Simd>(simd: S, planes: &Planes, plane: usize, low: f32, high: f32) -> Option<(f32, f32)> {
    let splat = |value: f32| f32x16::splat(simd, value);
    let (point, direction) = (planes.point(plane), planes.direction(plane));
    let (x, y, along_x, along_y) = (splat(point.x), splat(point.y), splat(direction.x), splat(direction.y));
    let (mut lows, mut highs) = (splat(low), splat(high));
    let zero = splat(0.0);
    for block in (0..plane).step_by(LANES) {
        let (px, py, dx, dy) = load(simd, planes, block);
        let counts = lanes_below(plane - block);
        let cross = along_x * dy - along_y * dx;
        let offset = dx * (y - py) - dy * (x - px);
        let parallel = cross.abs().simd_le(splat(PARALLEL));
        if (parallel & offset.simd_lt(zero)).to_bitmask() & counts != 0 {
            return None;
        }
        let meets = (!parallel).to_bitmask() & counts;
        let t = offset / parallel.select(splat(1.0), cross);
        let limits_high = mask32x16::from_bitmask(simd, cross.simd_gt(zero).to_bitmask() & meets);
        let limits_low = mask32x16::from_bitmask(simd, cross.simd_lt(zero).to_bitmask() & meets);
        highs = limits_high.select(highs.min(t), highs);
        lows = limits_low.select(lows.max(t), lows);
    }
    let (low, high) = (lows.reduce_max(), highs.reduce_min());
    (low <= high).then_some((low, high))
}

/// Lets others' planes give way equally until something is permitted; walls stay where they are.
#[inline(always)]
fn space_program<S: Simd>(
    simd: S,
    planes: &Planes,
    projected: &mut Planes,
    max_speed: f32,
    first: usize,
    mut best: Vec2,
) -> Vec2 {
    let mut deepest = 0.0;
    for plane in first..planes.len {
        if planes.violation(plane, best) <= deepest {
            continue;
        }
        project(planes, plane, projected);
        // Up the slope of this plane's violation. It cannot fail but by rounding, and then the best stands.
        let uphill = left(planes.direction(plane));
        if let Ok(better) = plane_program(simd, projected, max_speed, Aim::Furthest(uphill)) {
            best = better;
        }
        deepest = planes.violation(plane, best);
    }
    best
}

/// Where earlier planes are violated as much as `plane`: lines in the plane of velocities.
fn project(planes: &Planes, plane: usize, projected: &mut Planes) {
    let (point, direction) = (planes.point(plane), planes.direction(plane));
    projected.clear();
    for wall in 0..planes.walls {
        projected.push(planes.point(wall), planes.direction(wall));
    }
    for earlier in planes.walls..plane {
        let (other_point, other_direction) = (planes.point(earlier), planes.direction(earlier));
        let cross = det(direction, other_direction);
        let meeting = if cross.abs() > PARALLEL {
            point + direction * (det(other_direction, point - other_point) / cross)
        } else if direction.dot(other_direction) > 0.0 {
            continue;
        } else {
            0.5 * (point + other_point)
        };
        let between = (other_direction - direction).normalize_or_zero();
        // Lines that are nearly parallel meet far away, where rounding is as large as a speed: rather the line's point
        // closest to zero.
        projected.push(left(between) * det(between, meeting), between);
    }
}

#[inline(always)]
fn load<S: Simd>(simd: S, planes: &Planes, block: usize) -> (f32x16<S>, f32x16<S>, f32x16<S>, f32x16<S>) {
    let column = |column: &[f32]| f32x16::from_slice(simd, &column[block..block + LANES]);
    (column(&planes.px), column(&planes.py), column(&planes.dx), column(&planes.dy))
}

#[cfg(test)]
mod tests {
    use super::super::oracle::{Line, levels, lines, nearest_permitted, planes_of, unit};
    use super::*;
    use fearless_simd::{Level, dispatch};
    use glam::DVec2;
    use proptest::prelude::*;

    const MAX_SPEED: f32 = 2.0;
    /// Rounding of `f32` where lines are nearly parallel, m/s.
    const NEARLY: f64 = 2e-3;

    fn solve(level: Level, planes: &Planes, preferred: Vec2) -> Vec2 {
        let mut projected = Planes::default();
        dispatch!(level, simd => closest(simd, planes, &mut projected, preferred, MAX_SPEED))
    }

    fn deepest(lines: &[Line], velocity: DVec2) -> f64 {
        lines.iter().map(|line| line.violation(velocity)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The second and the third line meet far away, and the answer was beyond the highest speed.
    #[test]
    fn nearly_parallel_planes_do_not_lead_beyond_the_highest_speed() {
        let mut planes = Planes::default();
        planes.push(Vec2::new(-1.149_055_6, -0.294_747_92), Vec2::new(-0.248_468_9, 0.968_639_85));
        planes.push(Vec2::ZERO, Vec2::new(0.246_504_32, -0.969_141_66));
        planes.push(Vec2::ZERO, Vec2::new(-0.279_800_24, -0.960_058_3));
        let found = solve(Level::new(), &planes, Vec2::ZERO);
        assert!(found.length() <= MAX_SPEED + 1e-3, "{found}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// The truth lies between the answers for planes that are a little wider and a little narrower.
        #[test]
        fn agrees_with_brute_force(all in lines(0..12, 2.5), walls in 0usize..4, x in -3.0f32..3.0, y in -3.0f32..3.0) {
            let planes = planes_of(&all, walls);
            let preferred = Vec2::new(x, y);
            let wanted = preferred.as_dvec2();
            if let Some(at_most) = nearest_permitted(&all, wanted, f64::from(MAX_SPEED), -NEARLY) {
                let found = solve(Level::new(), &planes, preferred).as_dvec2();
                prop_assert!(deepest(&all, found) < NEARLY, "{found} is forbidden by {}", deepest(&all, found));
                let at_least = nearest_permitted(&all, wanted, f64::from(MAX_SPEED), NEARLY).unwrap_or(0.0);
                let distance = found.distance(wanted);
                prop_assert!(
                    distance < at_most + NEARLY && distance > at_least - NEARLY,
                    "{distance} is not between {at_least} and {at_most}"
                );
            }
        }

        /// Where others leave nothing, walls still hold, and no sample is violated less.
        #[test]
        fn a_dense_crowd_gives_way_equally_and_walls_never(
            walls in lines(0..3, 1.5), others in lines(3..10, 1.2), x in -2.0f32..2.0, y in -2.0f32..2.0,
        ) {
            let speed = f64::from(MAX_SPEED);
            let all: Vec<Line> = walls.iter().chain(&others).copied().collect();
            let wanted = at_most(Vec2::new(x, y), MAX_SPEED).as_dvec2();
            prop_assume!(nearest_permitted(&walls, wanted, speed, -0.02).is_some());
            prop_assume!(nearest_permitted(&all, wanted, speed, 0.02).is_none());
            let found = solve(Level::new(), &planes_of(&all, walls.len()), Vec2::new(x, y));
            prop_assert!(found.length() <= MAX_SPEED + 0.01, "{found}");
            let found = found.as_dvec2();
            prop_assert!(deepest(&walls, found) < NEARLY, "a wall is violated by {}", deepest(&walls, found));
            let samples = (0..60 * 60).map(|i| {
                let (x, y) = (f64::from(i % 60) + 0.5, f64::from(i / 60) + 0.5);
                (DVec2::new(x, y) / 30.0 - 1.0) * speed
            });
            let least = samples
                .filter(|&sample| sample.length() <= speed && deepest(&walls, sample) <= 0.0)
                .map(|sample| deepest(&others, sample))
                .fold(f64::INFINITY, f64::min);
            prop_assert!(deepest(&others, found) <= least + 0.05, "{} where {least} is possible", deepest(&others, found));
        }

        #[test]
        fn every_simd_level_gives_the_same_bits(all in lines(0..30, 1.5), walls in 0usize..4, x in -3.0f32..3.0, turn in 0.0f32..6.3) {
            let planes = planes_of(&all, walls);
            let preferred = x * unit(turn);
            let answers: Vec<[u32; 2]> = levels()
                .into_iter()
                .map(|level| solve(level, &planes, preferred).to_array().map(f32::to_bits))
                .collect();
            prop_assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:x?}");
        }
    }
}
