//! # ClearPath: the velocity closest to the preferred one outside a union of cones (Guy et al. 2009)
//! The closest velocity is the preferred one itself, its projection on a cone's side, or an intersection of two
//! sides. Instead of listing all intersections and testing each against all cones, a side is walked outwards from
//! the projection, from shadow to shadow, until it is free: the same velocities, without the list.
//!
//! Walls are half-planes that bound every side, and their edges are walked too.
//! Deviation: where nothing is free, the furthest others are left out until something is; HRVO Library keeps the
//! velocity whose first conflict is with the furthest other, which is the same choice made later.

use super::{Cone, Planes};
use glam::Vec2;
use throng_core::geom::at_most;

/// A velocity this close to a side, in m/s, counts as outside.
const SLACK: f32 = 1e-4;

/// The velocity closest to `preferred` that no cone and no wall forbids.
pub fn clear_path(cones: &[Cone], walls: &Planes, preferred: Vec2, max_speed: f32) -> Vec2 {
    let preferred = at_most(preferred, max_speed);
    if let Some(best) = closest_free(cones, walls, preferred, max_speed) {
        return best;
    }
    // Fewer cones leave more: the longest prefix that leaves something is found by bisection.
    let (mut works, mut fails) = (0, cones.len());
    let mut best = closest_free(&[], walls, preferred, max_speed).unwrap_or(Vec2::ZERO);
    while fails - works > 1 {
        let middle = works.midpoint(fails);
        match closest_free(&cones[..middle], walls, preferred, max_speed) {
            Some(free) => (works, best) = (middle, free),
            None => fails = middle,
        }
    }
    best
}

fn closest_free(cones: &[Cone], walls: &Planes, preferred: Vec2, max_speed: f32) -> Option<Vec2> {
    let walled = (0..walls.walls).any(|wall| walls.violation(wall, preferred) > SLACK);
    if !walled && !cones.iter().any(|cone| cone.forbids(preferred, SLACK)) {
        return Some(preferred);
    }
    let mut search = Search { cones, walls, preferred, max_speed, best: None, distance: f32::INFINITY };
    for cone in cones {
        search.walk(cone.apex, cone.left, 0.0);
        search.walk(cone.apex, cone.right, 0.0);
    }
    for wall in 0..walls.walls {
        search.walk(walls.point(wall), walls.direction(wall), f32::NEG_INFINITY);
    }
    search.best
}

struct Search<'a> {
    cones: &'a [Cone],
    walls: &'a Planes,
    preferred: Vec2,
    max_speed: f32,
    best: Option<Vec2>,
    distance: f32,
}

impl Search<'_> {
    /// Takes the free velocity on `point + t direction`, `t >= from`, that is closest to the preferred one.
    fn walk(&mut self, point: Vec2, direction: Vec2, from: f32) {
        let projection = (self.preferred - point).dot(direction);
        let aside = point + projection * direction - self.preferred;
        if aside.length_squared() >= self.distance {
            return;
        }
        let Some((low, high)) = self.bounds(point, direction, from) else { return };
        let start = projection.clamp(low, high);
        for up in [true, false] {
            if let Some(t) = self.free_from(point, direction, start, up).filter(|t| (low..=high).contains(t))
            {
                self.take(point + t * direction);
            }
        }
    }

    /// The part of a line within the speed disc and on the permitted side of walls.
    fn bounds(&self, point: Vec2, direction: Vec2, from: f32) -> Option<(f32, f32)> {
        let along = point.dot(direction);
        let discriminant = along * along + self.max_speed * self.max_speed - point.length_squared();
        if discriminant < 0.0 {
            return None;
        }
        let root = discriminant.sqrt();
        let (mut low, mut high) = ((-along - root).max(from), -along + root);
        for wall in 0..self.walls.walls {
            let start = self.walls.violation(wall, point);
            let slope = self.walls.violation(wall, point + direction) - start;
            if slope.abs() < 1e-6 {
                if start > SLACK {
                    return None;
                }
            } else if slope > 0.0 {
                high = high.min(-start / slope);
            } else {
                low = low.max(-start / slope);
            }
        }
        (low <= high).then_some((low, high))
    }

    /// Steps out of shadow after shadow in one direction. Ends, because every step passes another cone.
    fn free_from(&self, point: Vec2, direction: Vec2, start: f32, up: bool) -> Option<f32> {
        let mut t = start;
        for _ in 0..=self.cones.len() {
            let before = t;
            for cone in self.cones {
                let (low, high) = cone.shadow(point, direction);
                if low + SLACK < t && t < high - SLACK {
                    t = if up { high } else { low };
                }
            }
            if !t.is_finite() {
                return None;
            }
            if t == before {
                return Some(t);
            }
        }
        None
    }

    fn take(&mut self, velocity: Vec2) {
        let distance = velocity.distance_squared(self.preferred);
        if distance < self.distance {
            (self.best, self.distance) = (Some(velocity), distance);
        }
    }
}
