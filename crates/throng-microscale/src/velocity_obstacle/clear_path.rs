//! # ClearPath: the velocity closest to the preferred one outside a union of cones (Guy et al. 2009)
//! Walls are half-planes that bound every side, and their edges are walked too.
//! Deviation: where nothing is free, the furthest others are left out until something is; HRVO Library keeps the
//! velocity whose first conflict is with the furthest other, which is the same choice made later.

use super::{Planes, wall_planes};
use crate::around::{Around, Ego, MAX_WALLS, Others};
use fearless_simd::Simd;
use glam::Vec2;
use throng_core::few::Few;
use throng_core::geom::{Cone, Line, at_most, each_free};

/// The velocity that an agent chooses among walls that count for `horizon` s, and others that have a cone each.
#[inline(always)]
pub fn choose_outside<S: Simd>(
    simd: S,
    ego: &Ego,
    around: &mut Around,
    horizon: f32,
    cone: impl Fn(&Others, usize) -> Cone,
) -> Vec2 {
    around.planes.clear();
    wall_planes(ego, &around.walls, horizon, &mut around.planes);
    around.cones.clear();
    let others = &around.others;
    for other in 0..others.len {
        around.cones.push(cone(others, other));
    }
    clear_path(simd, &around.cones, &around.planes, ego.preferred, ego.max_speed)
}

/// The velocity closest to `preferred` that no cone and no wall forbids.
#[inline(always)]
fn clear_path<S: Simd>(simd: S, cones: &[Cone], walls: &Planes, preferred: Vec2, max_speed: f32) -> Vec2 {
    let preferred = at_most(preferred, max_speed);
    let line = |wall: usize| Line { point: walls.point(wall), direction: walls.direction(wall) };
    let walls: &Few<Line, MAX_WALLS> = &(0..walls.walls.min(MAX_WALLS)).map(line).collect();
    if let Some(best) = closest_free(simd, cones, walls, preferred, max_speed) {
        return best;
    }
    // Fewer cones leave more: the longest prefix that leaves something is found by bisection.
    let (mut works, mut fails) = (0, cones.len());
    let mut best = closest_free(simd, &[], walls, preferred, max_speed).unwrap_or(Vec2::ZERO);
    while fails - works > 1 {
        let middle = works.midpoint(fails);
        match closest_free(simd, &cones[..middle], walls, preferred, max_speed) {
            Some(free) => (works, best) = (middle, free),
            None => fails = middle,
        }
    }
    best
}

/// Not inlined: it is long, and three models call it in three places.
#[inline(never)]
fn closest_free<S: Simd>(
    simd: S,
    cones: &[Cone],
    walls: &[Line],
    preferred: Vec2,
    max_speed: f32,
) -> Option<Vec2> {
    let (mut best, mut least) = (None, f32::INFINITY);
    let take = |velocity: Vec2| {
        let distance = velocity.distance_squared(preferred);
        if distance < least {
            (best, least) = (Some(velocity), distance);
        }
        least
    };
    simd.vectorize(
        #[inline(always)]
        || each_free(simd, cones, walls, preferred, max_speed, take),
    );
    best
}

#[cfg(test)]
mod tests {
    use super::super::oracle::{Line, lines, meeting, on_circle, planes_of, unit};
    use super::*;
    use fearless_simd::{Level, dispatch};
    use glam::DVec2;
    use proptest::prelude::*;

    const MAX_SPEED: f32 = 2.0;
    const NEARLY: f32 = 2e-3;

    fn cone() -> impl Strategy<Value = Cone> {
        let part = prop_oneof![4 => 0.05f32..1.4, 1 => Just(std::f32::consts::FRAC_PI_2)];
        (-2.0f32..2.0, -2.0f32..2.0, 0.0f32..std::f32::consts::TAU, part).prop_map(|(x, y, towards, half)| {
            Cone { apex: Vec2::new(x, y), left: unit(towards + half), right: unit(towards - half) }
        })
    }

    fn sides(cones: &[Cone]) -> impl Iterator<Item = Line> {
        cones.iter().flat_map(|cone| {
            [cone.left, cone.right]
                .map(|side| Line { point: cone.apex.as_dvec2(), direction: side.as_dvec2().normalize() })
        })
    }

    /// The distance from `preferred` to the nearest velocity that is clearly free but for the sides it lies on:
    /// projections, intersections of any two lines, and intersections with the speed circle.
    fn brute_force(cones: &[Cone], walls: &[Line], preferred: Vec2) -> Option<f32> {
        let lines: Vec<Line> = sides(cones).chain(walls.iter().copied()).collect();
        let wanted = preferred.as_dvec2();
        // With each candidate the lines that it lies on.
        let mut candidates: Vec<(DVec2, [usize; 2])> = vec![(wanted, [usize::MAX; 2])];
        for (index, line) in lines.iter().enumerate() {
            let foot = line.point + line.direction * line.direction.dot(wanted - line.point);
            candidates.push((foot, [index; 2]));
            candidates.extend(on_circle(line, f64::from(MAX_SPEED)).map(|place| (place, [index; 2])));
            for (other, second) in lines[..index].iter().enumerate() {
                candidates.extend(meeting(line, second).map(|place| (place, [index, other])));
            }
        }
        let is_free = |(place, on): &(DVec2, [usize; 2])| {
            let velocity = place.as_vec2();
            let clear_of_cones = cones.iter().enumerate().all(|(index, cone)| {
                let own = on.iter().any(|&line| line / 2 == index);
                !cone.forbids(velocity, if own { 1e-5 } else { -NEARLY })
            });
            let clear_of_walls = walls.iter().enumerate().all(|(index, wall)| {
                let own = on.contains(&(2 * cones.len() + index));
                wall.violation(*place) <= if own { 1e-5 } else { -f64::from(NEARLY) }
            });
            clear_of_cones && clear_of_walls && place.length() <= f64::from(MAX_SPEED) + 1e-6
        };
        let free = candidates.into_iter().filter(is_free);
        free.map(|(place, _)| place.distance(wanted) as f32).min_by(f32::total_cmp)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn agrees_with_brute_force(
            cones in proptest::collection::vec(cone(), 0..7),
            walls in lines(0..3, 1.5),
            x in -3.0f32..3.0,
            y in -3.0f32..3.0,
        ) {
            let planes = planes_of(&walls, walls.len());
            let preferred = at_most(Vec2::new(x, y), MAX_SPEED);
            let found = dispatch!(Level::new(), simd => clear_path(simd, &cones, &planes, Vec2::new(x, y), MAX_SPEED));
            prop_assert!(found.length() <= MAX_SPEED * 1.001, "{found}");
            if let Some(least) = brute_force(&cones, &walls, preferred) {
                for cone in &cones {
                    prop_assert!(!cone.forbids(found, NEARLY), "{found} lies in {cone:?}");
                }
                for wall in &walls {
                    prop_assert!(wall.violation(found.as_dvec2()) < f64::from(NEARLY), "{found} lies behind {wall:?}");
                }
                let distance = found.distance(preferred);
                prop_assert!(distance <= least + NEARLY, "{distance}, and {least} is possible");
            }
        }
    }
}
