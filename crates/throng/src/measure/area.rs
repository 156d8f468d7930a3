//! Density and speed in an area.

use super::{Measure, Person, Repeat, SAME_TIME, SPEED_OVER, find, mean, near, voronoi};
use crate::map::{bounds, signed_area, winds_around};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

/// Samples of an area. Speeds are known only a little later, when it has been seen where people went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Samples {
    ring: Vec<DVec2>,
    /// How many samples have been taken: the next is due this many intervals after the beginning.
    taken: u64,
    /// Moments as far back as a speed looks, the latest last.
    moments: VecDeque<Moment>,
    /// Samples whose speeds are not known yet.
    waiting: VecDeque<Sample>,
    done: Vec<Sample>,
    people: BTreeSet<i64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Moment {
    time: f64,
    people: Vec<Person>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Sample {
    time: f64,
    count: usize,
    voronoi: Option<f64>,
    speed: Option<f64>,
}

/// What came out for an area.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AreaFigures {
    /// m².
    pub area_m2: f64,
    /// How many have been inside at a sample. Each counts once; in a part of the time as in the whole.
    pub people: usize,
    /// Mean over all samples, 1/m².
    pub density_mean: Option<f64>,
    /// The most, 1/m².
    pub density_max: Option<f64>,
    /// The same of Voronoi cells, 1/m²; nothing where it was not asked for.
    pub voronoi_mean: Option<f64>,
    /// Mean over the samples in which somebody was there, m/s.
    pub speed_mean: Option<f64>,
    /// Mean of density times speed over all samples, 1/m/s; nobody walks where nobody is.
    pub specific_flow: Option<f64>,
    /// Over time.
    pub series: AreaSeries,
}

/// One row for each sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AreaSeries {
    /// When, s.
    pub t: Vec<f64>,
    /// Heads inside.
    pub count: Vec<usize>,
    /// Heads over the area, 1/m².
    pub density: Vec<f64>,
    /// Voronoi density, 1/m²; empty where it was not asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub voronoi: Vec<f64>,
    /// Mean speed of those inside, m/s; nothing where nobody was, or only people who had just come.
    pub speed: Vec<Option<f64>>,
}

impl Samples {
    pub(super) fn of(ring: &[DVec2]) -> Samples {
        Samples {
            ring: ring.to_vec(),
            taken: 0,
            moments: VecDeque::new(),
            waiting: VecDeque::new(),
            done: Vec::new(),
            people: BTreeSet::new(),
        }
    }

    pub(super) fn observe<'a>(
        &mut self,
        measure: &Measure,
        space: Repeat,
        time: f64,
        people: &[Person],
        floor: impl FnOnce() -> &'a voronoi::Floor,
    ) {
        let (low, high) = bounds(&self.ring);
        self.moments.push_back(Moment { time, people: near(people, space, [low, high]) });
        if measure.is_on(time) && time >= measure.from + self.taken as f64 * measure.every - SAME_TIME {
            // Past all that are due: a sample that was missed is not made up for.
            self.taken = ((time - measure.from + SAME_TIME) / measure.every) as u64 + 1;
            let voronoi =
                measure.voronoi.then(|| voronoi::density(people, floor(), &self.ring, measure.cut_off));
            let inside: Vec<i64> = self.inside().map(|person| person.id).collect();
            self.waiting.push_back(Sample { time, count: inside.len(), voronoi, speed: None });
            self.people.extend(inside);
        }
        while self.waiting.front().is_some_and(|sample| sample.time + SPEED_OVER <= time + SAME_TIME) {
            self.complete(measure, space);
        }
        let oldest = self.waiting.front().map_or(time, |sample| sample.time) - SPEED_OVER - SAME_TIME;
        while self.moments.front().is_some_and(|moment| moment.time < oldest) {
            self.moments.pop_front();
        }
    }

    /// Those inside now.
    fn inside(&self) -> impl Iterator<Item = &Person> {
        let people = self.moments.back().into_iter().flat_map(|moment| &moment.people);
        people.filter(|person| winds_around(&self.ring, person.position))
    }

    /// Gives the sample that waits longest its speed.
    fn complete(&mut self, measure: &Measure, space: Repeat) {
        let Some(mut sample) = self.waiting.pop_front() else { return };
        if let Some(index) = self.moments.iter().position(|moment| moment.time == sample.time) {
            let inside = self.moments[index].people.iter();
            let inside = inside.filter(|person| winds_around(&self.ring, person.position));
            let speed = |person: &Person| self.speed(index, person.id, measure.direction, space);
            sample.speed = mean(inside.filter_map(speed));
        }
        self.done.push(sample);
    }

    /// The movement of one from before a moment to after it, over that time; less time where it came or went meanwhile.
    fn speed(&self, index: usize, id: i64, direction: Option<DVec2>, space: Repeat) -> Option<f64> {
        let now = self.moments[index].time;
        let within = |moment: &Moment| (moment.time - now).abs() <= SPEED_OVER + SAME_TIME;
        let widest = index.min(self.moments.len() - 1 - index);
        (1..=widest).rev().find_map(|step| {
            let [before, after] = [&self.moments[index - step], &self.moments[index + step]];
            if !within(before) || !within(after) {
                return None;
            }
            let movement = space.nearest(find(&after.people, id)? - find(&before.people, id)?);
            let distance = direction
                .map_or_else(|| movement.length(), |direction| movement.dot(direction.normalize_or_zero()));
            Some(distance / (after.time - before.time))
        })
    }

    pub(super) fn figures(mut self, measure: &Measure, space: Repeat) -> AreaFigures {
        while !self.waiting.is_empty() {
            self.complete(measure, space);
        }
        let area = signed_area(&self.ring).abs();
        let done = &self.done;
        let density = |sample: &Sample| sample.count as f64 / area;
        AreaFigures {
            area_m2: area,
            people: self.people.len(),
            density_mean: mean(done.iter().map(density)),
            density_max: done.iter().map(density).reduce(f64::max),
            voronoi_mean: mean(done.iter().filter_map(|sample| sample.voronoi)),
            speed_mean: mean(done.iter().filter_map(|sample| sample.speed)),
            specific_flow: mean(done.iter().map(|sample| density(sample) * sample.speed.unwrap_or(0.0))),
            series: AreaSeries {
                t: done.iter().map(|sample| sample.time).collect(),
                count: done.iter().map(|sample| sample.count).collect(),
                density: done.iter().map(density).collect(),
                voronoi: done.iter().filter_map(|sample| sample.voronoi).collect(),
                speed: done.iter().map(|sample| sample.speed).collect(),
            },
        }
    }
}

impl AreaFigures {
    /// The fundamental diagram: density, 1/m² (of Voronoi cells where they were asked for), and speed, m/s, of each sample with
    /// both.
    pub fn pairs(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        let AreaSeries { density, voronoi, speed, .. } = &self.series;
        let density = if voronoi.is_empty() { density } else { voronoi };
        density.iter().zip(speed).filter_map(|(&density, &speed)| Some([density, speed?]))
    }

    /// The same figures of the samples from one time to another, s.
    pub fn between(&self, [from, until]: [f64; 2]) -> AreaFigures {
        let AreaSeries { t, count, density, voronoi, speed } = &self.series;
        let rows: Vec<usize> = (0..t.len()).filter(|&row| t[row] >= from && t[row] <= until).collect();
        let density_of = |&row: &usize| density[row];
        AreaFigures {
            area_m2: self.area_m2,
            people: self.people,
            density_mean: mean(rows.iter().map(density_of)),
            density_max: rows.iter().map(density_of).reduce(f64::max),
            voronoi_mean: mean(rows.iter().filter_map(|&row| voronoi.get(row).copied())),
            speed_mean: mean(rows.iter().filter_map(|&row| speed[row])),
            specific_flow: mean(rows.iter().map(|&row| density[row] * speed[row].unwrap_or(0.0))),
            series: AreaSeries {
                t: rows.iter().map(|&row| t[row]).collect(),
                count: rows.iter().map(|&row| count[row]).collect(),
                density: rows.iter().map(density_of).collect(),
                voronoi: rows.iter().filter_map(|&row| voronoi.get(row).copied()).collect(),
                speed: rows.iter().map(|&row| speed[row]).collect(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Figures, Floor, Measure, Observer};
    use super::*;

    /// One who walks at 2 m/s along x from zero, seen ten times a second, beside one who stands.
    fn walked(measure: Measure, seconds: u32) -> AreaFigures {
        let (mut observer, floor) = (Observer::new(measure), Floor::default());
        for moment in 0..=10 * seconds {
            let time = f64::from(moment) / 10.0;
            let walker = Person { id: 7, position: DVec2::new(2.0 * time, 0.5) };
            let stands = Person { id: 3, position: DVec2::new(3.0, 0.2) };
            observer.observe(time, &[walker, stands], || &floor);
        }
        match observer.figures() {
            Figures::Area(figures) => figures,
            Figures::Line(_) => unreachable!("an area was asked for"),
        }
    }

    fn square() -> Measure {
        Measure::area("square", &[[2.5, 0.0], [4.5, 0.0], [4.5, 1.0], [2.5, 1.0]])
    }

    #[test]
    fn heads_over_the_area_and_movement_over_time() {
        let figures = walked(square(), 4);
        let at = |time: f64| figures.series.t.iter().position(|t| (t - time).abs() < 1e-9).unwrap();
        assert_eq!((figures.area_m2, figures.people, figures.series.t.len()), (2.0, 2, 41));
        assert_eq!((figures.series.count[at(1.0)], figures.series.count[at(1.5)]), (1, 2));
        assert_eq!((figures.series.density[at(1.5)], figures.density_max), (1.0, Some(1.0)));
        assert_eq!(figures.series.speed[at(1.0)], Some(0.0));
        assert!((figures.series.speed[at(1.5)].unwrap() - 1.0).abs() < 1e-9);
        // At the very beginning and the very end there is no movement to see.
        assert_eq!((figures.series.speed[at(0.0)], figures.series.speed[at(4.0)]), (None, None));
        assert!(figures.series.speed[at(3.9)].is_some());
    }

    #[test]
    fn along_a_direction_backwards_is_negative() {
        let back = Measure { direction: Some(DVec2::new(-3.0, 0.0)), ..square() };
        let figures = walked(back, 4);
        assert!((figures.series.speed[15].unwrap() + 1.0).abs() < 1e-9);
    }

    #[test]
    fn samples_are_as_far_apart_as_asked_for() {
        let sparse = Measure { from: 1.0, until: 3.0, every: 0.5, ..square() };
        let figures = walked(sparse, 4);
        let expected = [1.0, 1.5, 2.0, 2.5, 3.0];
        assert_eq!(figures.series.t.len(), expected.len());
        assert!(figures.series.t.iter().zip(expected).all(|(t, expected)| (t - expected).abs() < 1e-9));
        assert!((figures.series.speed[1].unwrap() - 1.0).abs() < 1e-9);
        let part = figures.between([1.4, 2.1]);
        assert_eq!((part.series.count, part.density_mean), (vec![2, 2], Some(1.0)));
    }
}
