//! What is measured.

use super::{Checker, LARGEST, LONGEST_TIME};
use crate::measure::{Measure, Place};
use crate::scenario::file::MeasureFile;
use crate::scenario::path::KeyPath;
use glam::DVec2;
use std::collections::BTreeSet;
use throng_core::params::Limit;

/// Samples of an area come this far apart where nothing is said, s.
const EVERY: f64 = 0.1;

impl Checker<'_> {
    pub(super) fn measures(&mut self) -> Vec<Measure> {
        let mut names = BTreeSet::new();
        let measures = self.file.measure.iter().enumerate();
        measures.filter_map(|(index, measure)| self.measure(index, measure, &mut names)).collect()
    }

    fn measure(
        &mut self,
        index: usize,
        measure: &MeasureFile,
        names: &mut BTreeSet<String>,
    ) -> Option<Measure> {
        let path = KeyPath::top("measure").then(index);
        let name = measure.name.clone().unwrap_or_else(|| path.to_string());
        if !names.insert(name.clone()) {
            let complaint = format!("another measure is called `{name}` already; choose another name");
            self.report.say(&path.then("name"), complaint);
        }
        self.number(&path.then("from"), measure.from, Limit::from(0.0).up_to(LONGEST_TIME));
        if let Some(until) = measure.until {
            self.number(&path.then("until"), until, Limit::above(measure.from).up_to(LONGEST_TIME));
        }
        for (key, number) in [("every", measure.every), ("cut_off", measure.cut_off)] {
            if let Some(number) = number {
                self.number(&path.then(key), number, Limit::above(0.0).up_to(LARGEST));
            }
        }
        let direction = measure.direction.map(|direction| self.direction(&path, direction));
        self.only_of_areas(&path, measure);
        Some(Measure {
            name,
            place: self.measured_place(&path, measure)?,
            from: measure.from,
            until: measure.until.unwrap_or(f64::MAX),
            every: measure.every.unwrap_or(EVERY).max(self.file.dt),
            voronoi: measure.voronoi,
            cut_off: measure.cut_off,
            direction,
        })
    }

    fn measured_place(&mut self, path: &KeyPath, measure: &MeasureFile) -> Option<Place> {
        match (&measure.line, &measure.area) {
            (Some(line), None) => {
                let path = path.then("line");
                let line = line.map(|point| self.point(&path, point));
                if line[0] == line[1] {
                    self.report.value(&path, "must lead from a point to another");
                }
                Some(Place::Line(line))
            }
            (None, Some(ring)) => self.area(&path.then("area"), ring).map(Place::Area),
            _ => {
                self.report.say(path, "a measure needs exactly one of line, area");
                None
            }
        }
    }

    fn direction(&mut self, path: &KeyPath, direction: [f64; 2]) -> DVec2 {
        let path = path.then("direction");
        let direction = self.point(&path, direction);
        if direction == DVec2::ZERO {
            self.report.value(&path, "must not be zero");
        }
        direction
    }

    /// A line is looked at in every step, and nothing but crossings is counted there.
    fn only_of_areas(&mut self, path: &KeyPath, measure: &MeasureFile) {
        let written = [
            ("every", measure.every.is_some()),
            ("voronoi", measure.voronoi),
            ("cut_off", measure.cut_off.is_some()),
            ("direction", measure.direction.is_some()),
        ];
        if measure.line.is_some()
            && measure.area.is_none()
            && let Some((key, _)) = written.into_iter().find(|(_, written)| *written)
        {
            self.report.value(&path.then(key), "is of areas, and this is a line; leave it out");
        }
    }
}
