//! Single values.

use super::{Checker, FARTHEST};
use crate::scenario::file::Point;
use crate::scenario::map;
use crate::scenario::number::{Figures, Number, Wrong};
use crate::scenario::path::KeyPath;
use glam::DVec2;
use throng_core::params::Limit;

impl Checker<'_> {
    pub(super) fn number(&mut self, path: &KeyPath, number: f64, limit: Limit) {
        if !limit.holds(number) {
            self.report.value(path, format!("must be {limit}"));
        }
    }

    pub(super) fn figures(&mut self, path: &KeyPath, number: &Number, limit: Limit) -> Option<Figures> {
        number.check(limit).map_err(|wrong| self.wrong(path, wrong)).ok()
    }

    pub(super) fn wrong(&mut self, path: &KeyPath, wrong: Wrong) {
        match wrong {
            Wrong::Number(complaint) => self.report.value(path, complaint),
            Wrong::Key(key, complaint) => self.report.value(&path.then(key), complaint),
            Wrong::Item(index, complaint) => self.report.value(&path.then(index), complaint),
        }
    }

    /// A list has as many items as there are agents.
    pub(super) fn one_each(&mut self, path: &KeyPath, listed: Option<usize>, what: &str, agents: usize) {
        if let Some(listed) = listed
            && listed != agents
        {
            self.report.say(path, format!("lists {listed} {what} for {agents} agents; give each agent one"));
        }
    }

    pub(super) fn point(&mut self, path: &KeyPath, point: Point) -> DVec2 {
        let point = DVec2::from(point);
        if !within_reach(point) {
            self.report.value(path, format!("must not lie beyond {FARTHEST:e} m"));
        }
        point
    }

    pub(super) fn points(&mut self, path: &KeyPath, points: &[Point]) -> Vec<DVec2> {
        if let Some(index) = points.iter().position(|&point| !within_reach(point.into())) {
            self.point(&path.then(index), points[index]);
        }
        points.iter().map(|&point| point.into()).collect()
    }

    pub(super) fn some_points(&mut self, path: &KeyPath, points: &[Point]) -> Vec<DVec2> {
        if points.is_empty() {
            self.report.value(path, "must have one point or more");
        }
        self.points(path, points)
    }

    /// A ring with two different corners or more: with two it is a wall.
    pub(super) fn ring(&mut self, path: &KeyPath, points: &[Point]) -> Vec<DVec2> {
        let ring = map::without_repeats(&self.points(path, points));
        if points.is_empty() {
            self.report.value(path, "must have three points or more");
        }
        ring
    }

    /// A ring with an area.
    pub(super) fn area(&mut self, path: &KeyPath, points: &[Point]) -> Option<Vec<DVec2>> {
        let ring = self.ring(path, points);
        if points.is_empty() || !ring.iter().all(|&point| within_reach(point)) {
            return None;
        }
        if map::clean_polygons(&[vec![ring.clone()]]).is_empty() {
            self.report.value(path, "must have an area: three points or more that are not in a line");
            return None;
        }
        Some(ring)
    }
}

pub(super) fn within_reach(point: DVec2) -> bool {
    // False for NaN too.
    point.x.abs() <= FARTHEST && point.y.abs() <= FARTHEST
}

pub(super) fn show(point: DVec2) -> String {
    format!("({}, {})", point.x, point.y)
}
