//! Slow and plain answers to hold the fast ones against, in `f64`.

use super::Planes;
use fearless_simd::{Level, Simd};
use glam::{DVec2, Vec2};
use proptest::prelude::*;

/// A line; permitted is what lies to its left.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub point: DVec2,
    pub direction: DVec2,
}

impl Line {
    /// How far a velocity lies on the forbidden side.
    pub fn violation(&self, velocity: DVec2) -> f64 {
        self.direction.perp_dot(self.point - velocity)
    }

    /// The line moved so that `by` more is permitted.
    fn widened(&self, by: f64) -> Line {
        Line { point: self.point - by * self.direction.perp(), ..*self }
    }
}

pub fn unit(angle: f32) -> Vec2 {
    Vec2::from_angle(angle)
}

/// Random lines that pass zero within a distance.
pub fn lines(count: std::ops::Range<usize>, within: f32) -> impl Strategy<Value = Vec<Line>> {
    let line =
        (-within..within, 0.0f32..std::f32::consts::TAU, -2.0f32..2.0).prop_map(|(aside, angle, along)| {
            let direction = unit(angle);
            // Rounded as the engine stores it, so that both see the same numbers, but of unit length for `f64`.
            let point = direction * along + direction.perp() * aside;
            Line { point: point.as_dvec2(), direction: direction.as_dvec2().normalize() }
        });
    proptest::collection::vec(line, count)
}

pub fn planes_of(lines: &[Line], walls: usize) -> Planes {
    let mut planes = Planes::default();
    for line in lines {
        planes.push(line.point.as_vec2(), line.direction.as_vec2());
    }
    planes.walls = walls.min(lines.len());
    planes
}

/// How far from `wanted` the nearest velocity is that all lines permit, once each permits `slack` more: every
/// projection and every intersection is tried. `None` where nothing is permitted.
pub fn nearest_permitted(lines: &[Line], wanted: DVec2, max_speed: f64, slack: f64) -> Option<f64> {
    let lines: Vec<Line> = lines.iter().map(|line| line.widened(slack)).collect();
    let mut candidates = vec![wanted.clamp_length_max(max_speed)];
    for (index, line) in lines.iter().enumerate() {
        candidates.push(line.point + line.direction * line.direction.dot(wanted - line.point));
        candidates.extend(on_circle(line, max_speed));
        candidates.extend(lines[..index].iter().filter_map(|other| meeting(line, other)));
    }
    let permitted = |candidate: &DVec2| {
        candidate.length() <= max_speed + 1e-7 && lines.iter().all(|line| line.violation(*candidate) <= 1e-7)
    };
    candidates
        .into_iter()
        .filter(permitted)
        .map(|candidate| candidate.distance(wanted))
        .min_by(f64::total_cmp)
}

pub fn on_circle(line: &Line, radius: f64) -> impl Iterator<Item = DVec2> + use<> {
    let along = line.point.dot(line.direction);
    let discriminant = along * along + radius * radius - line.point.length_squared();
    let (line, root) = (*line, discriminant.sqrt());
    [-along - root, -along + root]
        .into_iter()
        .filter(|t| t.is_finite())
        .map(move |t| line.point + t * line.direction)
}

pub fn meeting(a: &Line, b: &Line) -> Option<DVec2> {
    let cross = a.direction.perp_dot(b.direction);
    (cross.abs() > 1e-12).then(|| a.point + a.direction * (b.direction.perp_dot(a.point - b.point) / cross))
}

/// Every SIMD level that this machine has.
pub fn levels() -> Vec<Level> {
    let best = Level::new();
    #[allow(unused_mut, reason = "other machines have one level only")]
    let mut levels = vec![best, Level::baseline()];
    #[cfg(target_arch = "x86_64")]
    {
        levels.extend(best.as_sse2().map(Simd::level));
        levels.extend(best.as_sse4_2().map(Simd::level));
        levels.extend(best.as_avx2().map(Simd::level));
        levels.extend(best.as_avx512().map(Simd::level));
    }
    levels
}
