//! Crossings of a line.

use super::{Measure, Person, Repeat, find, near};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use throng_core::geom::double::distance_to_segment;

/// Who ends a movement this close to the line is on it, and has not crossed it yet, m. As in PedPy.
const ON_LINE: f64 = 1e-5;

/// Who has crossed a line, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Crossings {
    line: [DVec2; 2],
    last: Option<(f64, Vec<Person>)>,
    crossed: BTreeSet<i64>,
    times: Vec<f64>,
    to_left: usize,
}

/// What came out for a line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LineFigures {
    /// How long the line is, m.
    pub length_m: f64,
    /// How many have crossed it. Each counts once, the first time.
    pub crossings: usize,
    /// Of those, to the left, seen along the line from its first point to its second.
    pub to_left: usize,
    /// And to the right.
    pub to_right: usize,
    /// How many have crossed it against the direction that most have.
    pub against: usize,
    /// The first crossing, s.
    pub first_s: Option<f64>,
    /// The last crossing, s.
    pub last_s: Option<f64>,
    /// Mean flow between the first and the last crossing, 1/s; nothing for fewer than two.
    pub flow: Option<f64>,
    /// The same per metre of the line, 1/m/s.
    pub specific_flow: Option<f64>,
    /// N(t).
    pub series: LineSeries,
}

/// N(t): one row for each crossing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LineSeries {
    /// When, s.
    pub t: Vec<f64>,
    /// How many have crossed by then.
    pub n: Vec<usize>,
}

impl Crossings {
    pub(super) fn over(line: [DVec2; 2]) -> Crossings {
        Crossings { line, last: None, crossed: BTreeSet::new(), times: Vec::new(), to_left: 0 }
    }

    pub(super) fn observe(&mut self, measure: &Measure, space: Repeat, time: f64, people: &[Person]) {
        let [a, b] = self.line;
        let now = near(people, space, [a.min(b), a.max(b)]);
        if let Some((before, last)) = self.last.take() {
            // By time, for N(t) to rise in order.
            let mut fresh: Vec<(f64, i64, bool)> = now
                .iter()
                .filter_map(|person| {
                    let crossing = crossed(self.line, space, [find(&last, person.id)?, person.position])?;
                    Some((before + (time - before) * crossing.at, person.id, crossing.to_left))
                })
                .filter(|&(at, id, _)| measure.is_on(at) && !self.crossed.contains(&id))
                .collect();
            fresh.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (at, id, to_left) in fresh {
                self.crossed.insert(id);
                self.times.push(at);
                self.to_left += usize::from(to_left);
            }
        }
        self.last = Some((time, now));
    }

    pub(super) fn figures(&self) -> LineFigures {
        let (length, crossings) = (self.line[0].distance(self.line[1]), self.times.len());
        let to_right = crossings - self.to_left;
        let flow = flow(&self.times);
        LineFigures {
            length_m: length,
            crossings,
            to_left: self.to_left,
            to_right,
            against: to_right.min(self.to_left),
            first_s: self.times.first().copied(),
            last_s: self.times.last().copied(),
            flow,
            specific_flow: flow.map(|flow| flow / length),
            series: LineSeries { t: self.times.clone(), n: (1..=crossings).collect() },
        }
    }
}

impl LineFigures {
    /// The times between which all but a share of the first and of the last have crossed, s; nothing for fewer than two.
    pub fn steady(&self, share: f64) -> Option<[f64; 2]> {
        let [first, last] = self.steady_rows(share)?;
        Some([self.series.t[first], self.series.t[last]])
    }

    /// Mean flow without the first and the last share of those who cross, 1/s: a queue has formed by then, and has not gone yet.
    pub fn steady_flow(&self, share: f64) -> Option<f64> {
        let [first, last] = self.steady_rows(share)?;
        flow(&self.series.t[first..=last])
    }

    fn steady_rows(&self, share: f64) -> Option<[usize; 2]> {
        let last = self.crossings.checked_sub(2)? + 1;
        let left_out = (self.crossings as f64 * share) as usize;
        (2 * left_out < last).then_some([left_out, last - left_out])
    }
}

/// Persons per second between the first and the last.
fn flow(times: &[f64]) -> Option<f64> {
    let (first, last) = (times.first()?, times.last()?);
    (last > first).then(|| (times.len() - 1) as f64 / (last - first))
}

struct Crossing {
    /// The part of the movement that lies before it.
    at: f64,
    to_left: bool,
}

/// Whether and where a movement leads over a line. Where space repeats, one across a seam is looked at on both sides of it.
fn crossed(line: [DVec2; 2], space: Repeat, [from, to]: [DVec2; 2]) -> Option<Crossing> {
    let movement = space.nearest(to - from);
    if space.is_none() || movement == to - from {
        return crossing(line, [from, to]);
    }
    crossing(line, [from, from + movement]).or_else(|| crossing(line, [to - movement, to]))
}

/// Whether and where a movement leads over a line.
fn crossing([a, b]: [DVec2; 2], [from, to]: [DVec2; 2]) -> Option<Crossing> {
    let side = |place: DVec2| (b - a).perp_dot(place - a);
    // Who stood on it, within rounding, goes over it now, on whichever side of it that was.
    let before = if distance_to_segment(from, a, b) < ON_LINE { 0.0 } else { side(from) };
    let after = side(to);
    // Along the line is not across it.
    if before * after > 0.0 || before == after || distance_to_segment(to, a, b) < ON_LINE {
        return None;
    }
    let at = before / (before - after);
    let place = from + (to - from) * at;
    let along = (place - a).dot(b - a);
    let hits = along >= 0.0 && along <= (b - a).length_squared();
    hits.then_some(Crossing { at, to_left: after > 0.0 })
}

#[cfg(test)]
mod tests {
    use super::super::{Figures, Floor, Measure, Observer};
    use super::*;

    /// Moments a second apart, with one person in each list of places.
    fn seen(measure: Measure, walks: &[&[[f64; 2]]]) -> LineFigures {
        let (mut observer, floor) = (Observer::new(measure), Floor::default());
        for moment in 0..walks[0].len() {
            let person = |(id, walk): (i64, &&[[f64; 2]])| Person { id, position: walk[moment].into() };
            let people: Vec<Person> = (0..).zip(walks).map(person).collect();
            observer.observe(moment as f64, &people, || &floor);
        }
        match observer.figures() {
            Figures::Line(figures) => figures,
            Figures::Area(_) => unreachable!("a line was asked for"),
        }
    }

    fn gate() -> Measure {
        Measure::line("gate", [0.0, 0.0], [0.0, 2.0])
    }

    #[test]
    fn each_counts_once_and_in_order() {
        let there_and_back = [[-1.0, 1.0], [1.0, 1.0], [-1.0, 1.0], [3.0, 1.0]];
        let beside = [[-1.0, 3.0], [1.0, 3.0], [2.0, 3.0], [3.0, 3.0]];
        let other_way = [[4.0, 1.0], [3.0, 1.0], [1.0, 1.0], [-1.0, 1.0]];
        let figures = seen(gate(), &[&there_and_back, &beside, &other_way]);
        assert_eq!((figures.crossings, figures.to_left, figures.to_right), (2, 1, 1));
        assert_eq!(figures.series.t, [0.5, 2.5]);
        assert_eq!((figures.flow, figures.specific_flow), (Some(0.5), Some(0.25)));
    }

    #[test]
    fn who_ends_on_the_line_crosses_with_the_next_movement() {
        let walk = [[-1.0, 1.0], [0.0, 1.0], [0.0, 1.5], [1.0, 1.0]];
        let figures = seen(gate(), &[&walk]);
        assert_eq!((figures.crossings, figures.first_s, figures.flow), (1, Some(2.0), None));
        let past_by_rounding = [[-1.0, 1.0], [2e-6, 1.0], [1.0, 1.0]];
        assert_eq!(seen(gate(), &[&past_by_rounding]).crossings, 1);
        let turned_back = [[-1.0, 1.0], [0.0, 1.0], [-1.0, 1.0]];
        // As in PedPy: a movement that begins on the line counts, whichever way it leads.
        assert_eq!(seen(gate(), &[&turned_back]).crossings, 1);
    }

    /// A ring of 10 m, and somebody who comes round from 9.9 to 0.1.
    #[test]
    fn to_come_round_crosses_only_what_lies_at_the_seam() {
        let crossings = |at: f64, walk: &[f64]| {
            let line = Measure::line("gate", [at, 0.0], [at, 2.0]);
            let (mut observer, floor) = (Observer::new(line).periodic([10.0, 0.0]), Floor::default());
            for (moment, &x) in walk.iter().enumerate() {
                let people = [Person { id: 7, position: DVec2::new(x, 1.0) }];
                observer.observe(moment as f64, &people, || &floor);
            }
            let figures = observer.figures().line().unwrap();
            (figures.to_left, figures.to_right)
        };
        for at in [9.95, 10.0, 0.0, 0.05] {
            assert_eq!(crossings(at, &[9.9, 0.1]), (0, 1), "at {at}");
            assert_eq!(crossings(at, &[0.1, 9.9]), (1, 0), "at {at}");
        }
        assert_eq!(crossings(5.0, &[9.9, 0.1]), (0, 0));
        assert_eq!(crossings(5.0, &[4.9, 5.1]), (0, 1));
    }

    #[test]
    fn only_the_time_asked_for_counts() {
        let walk = [[-1.0, 1.0], [1.0, 1.0], [1.0, 1.0]];
        let late = Measure { from: 0.6, ..gate() };
        assert_eq!(seen(late, &[&walk]).crossings, 0);
    }

    #[test]
    fn the_first_and_the_last_tenth_can_be_left_out() {
        let t: Vec<f64> = (0..20).map(|i| if i < 18 { f64::from(i) } else { 99.0 }).collect();
        let figures = LineFigures {
            crossings: 20,
            series: LineSeries { t, n: (1..=20).collect() },
            ..LineFigures::default()
        };
        assert_eq!((figures.steady(0.1), figures.steady_flow(0.1)), (Some([2.0, 17.0]), Some(1.0)));
        assert_eq!(LineFigures::default().steady_flow(0.1), None);
    }
}
