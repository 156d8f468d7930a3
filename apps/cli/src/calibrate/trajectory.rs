//! What is measured of trajectories, the same way of recorded and of simulated ones: how fast people walk by how dense it is
//! around them, and how many leave in a second.
//!
//! Density is counted within [`AROUND`] of everybody, themselves included, and walls are not taken off: near walls it reads too
//! low, in both alike where the scenario has the recording's geometry.

use super::target::Target;
use crate::validate::data::Row;
use glam::DVec2;
use std::collections::BTreeMap;
use throng::Simulation;
use throng::record::Run;

/// Time between two looks, s: within a step of a person speeds would be of the swaying body.
const EVERY: f64 = 0.5;
/// m.
const AROUND: f64 = 1.5;
/// Width of a bin, 1/m², and how many there are.
const BIN: f64 = 0.5;
const BINS: usize = 12;
/// A bin of fewer looks at people is left out of a recording's figures.
const FEW: usize = 50;

/// Adds up what is seen of trajectories.
#[derive(Debug, Default)]
pub struct Diagram {
    /// When and where people were at the last look, by id.
    last: Option<(f64, Vec<(i64, DVec2)>)>,
    speeds: [Vec<f64>; BINS],
    /// When people were found to have left, s.
    left: Vec<f64>,
}

impl Diagram {
    /// Looks at a simulation, where it is time to.
    pub fn watch(&mut self, simulation: &Simulation) {
        let (frame, dt) = (simulation.frame(), simulation.info().dt);
        if frame.step.is_multiple_of((EVERY / dt).round().max(1.0) as u64) {
            let people = (0..frame.len()).map(|row| (i64::from(frame.id[row]), frame.position(row)));
            self.look(frame.time, people.collect());
        }
    }

    fn look(&mut self, time: f64, mut people: Vec<(i64, DVec2)>) {
        people.sort_unstable_by_key(|&(id, _)| id);
        if let Some((before, last)) = &self.last {
            let density = densities(&people);
            for &(id, was) in last {
                match people.binary_search_by_key(&id, |&(id, _)| id) {
                    Ok(index) => {
                        let bin = (density[index] / BIN) as usize;
                        if let Some(speeds) = self.speeds.get_mut(bin) {
                            speeds.push(was.distance(people[index].1) / (time - before));
                        }
                    }
                    Err(_) => self.left.push(time),
                }
            }
        }
        self.last = Some((time, people));
    }

    /// All figures by name, in the same order always; nothing where there was nothing to measure.
    pub fn figures(&self) -> Vec<(String, Option<f64>)> {
        let mean = |speeds: &Vec<f64>| (!speeds.is_empty()).then(|| crate::statistics::mean(speeds));
        let speeds = self.speeds.iter().enumerate().map(|(bin, speeds)| (speed_in(bin), mean(speeds)));
        speeds.chain([("trajectory.outflow".into(), self.outflow())]).collect()
    }

    /// Persons per second, from the first to the last who leaves.
    fn outflow(&self) -> Option<f64> {
        let (first, last) = (self.left.first()?, self.left.last()?);
        (last > first).then(|| (self.left.len() - 1) as f64 / (last - first))
    }
}

/// `trajectory.speed_at.0.75`: m/s at as many persons per square metre.
fn speed_in(bin: usize) -> String {
    format!("trajectory.speed_at.{}", (bin as f64 + 0.5) * BIN)
}

/// Persons per square metre around each.
fn densities(people: &[(i64, DVec2)]) -> Vec<f64> {
    // Along x, so that only those of a strip are compared.
    let mut order: Vec<usize> = (0..people.len()).collect();
    order.sort_unstable_by(|&a, &b| people[a].1.x.total_cmp(&people[b].1.x));
    let mut count = vec![1_u32; people.len()];
    for (place, &a) in order.iter().enumerate() {
        for &b in order[place + 1..].iter().take_while(|&&b| people[b].1.x - people[a].1.x < AROUND) {
            if people[a].1.distance(people[b].1) < AROUND {
                count[a] += 1;
                count[b] += 1;
            }
        }
    }
    let area = std::f64::consts::PI * AROUND * AROUND;
    count.into_iter().map(|count| f64::from(count) / area).collect()
}

/// The figures of a recording that has enough of them.
pub fn of_recording(run: &Run) -> Vec<(String, Result<Target, String>)> {
    figures_of(&looked_at(run))
}

/// The same of positions in any order, so many frames a second.
pub fn of_rows(rows: &[Row], fps: f64) -> Vec<(String, Result<Target, String>)> {
    let step = ((EVERY * fps).round() as u32).max(1);
    let mut looks: BTreeMap<u32, Vec<(i64, DVec2)>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.frame.is_multiple_of(step)) {
        looks.entry(row.frame).or_default().push((row.id, row.place));
    }
    let mut diagram = Diagram::default();
    looks.into_iter().for_each(|(frame, people)| diagram.look(f64::from(frame) / fps, people));
    figures_of(&diagram)
}

fn figures_of(diagram: &Diagram) -> Vec<(String, Result<Target, String>)> {
    let enough = |name: &str| {
        diagram.speeds.iter().enumerate().all(|(bin, speeds)| speed_in(bin) != name || speeds.len() >= FEW)
    };
    let figures = diagram.figures().into_iter().filter(|(name, _)| enough(name));
    let target = |(key, value): (String, Option<f64>)| {
        Some((key.clone(), Ok(Target { key, value: value?, error: None })))
    };
    figures.filter_map(target).collect()
}

fn looked_at(run: &Run) -> Diagram {
    let mut diagram = Diagram::default();
    let (first, last) = run.frames();
    let step = ((EVERY * run.fps).round() as u32).max(1);
    for frame in (first..=last).step_by(step as usize) {
        let at = |track: throng::record::Track<'_>| {
            let index = track.frame.binary_search(&frame).ok()?;
            Some((track.id, DVec2::new(track.x[index].into(), track.y[index].into())))
        };
        diagram.look(f64::from(frame) / run.fps, run.tracks().filter_map(at).collect());
    }
    diagram
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_by_density_and_who_leaves() {
        let mut diagram = Diagram::default();
        // Two who walk 1 m apart at 1 m/s, one far away who stands; they leave one after the other.
        for look in 0..=6 {
            let time = 0.5 * f64::from(look);
            let mut people = vec![(9, DVec2::new(50.0, 0.0))];
            people.extend((look <= 3).then_some((1, DVec2::new(time, 0.0))));
            people.extend((look <= 5).then_some((2, DVec2::new(time, 1.0))));
            diagram.look(time, people);
        }
        let figures = diagram.figures();
        let figure = |name: &str| figures.iter().find(|(other, _)| other == name).unwrap().1;
        // Alone it is 0.14, with another 0.28 persons per square metre: one bin. Standing 6 times, walking 3 + 5 times.
        let speed = figure("trajectory.speed_at.0.25").unwrap();
        assert!((speed - 8.0 / 14.0).abs() < 1e-9, "{speed}");
        assert_eq!(figure("trajectory.speed_at.0.75"), None);
        // At 2 s and at 3 s.
        assert_eq!(figure("trajectory.outflow"), Some(1.0));
    }

    #[test]
    fn densities_do_not_depend_on_the_order() {
        let people: Vec<(i64, DVec2)> =
            (0..40_i64).map(|i| (i, DVec2::new(((i * 7) % 11) as f64, ((i * 5) % 9) as f64) * 0.6)).collect();
        let area = std::f64::consts::PI * AROUND * AROUND;
        for (density, (_, at)) in densities(&people).iter().zip(&people) {
            let near = people.iter().filter(|(_, other)| at.distance(*other) < AROUND).count();
            assert_eq!(*density, near as f64 / area);
        }
    }
}
