//! Measuring: flow over a line, density and speed in an area, over time.
//!
//! An [`Observer`] is shown who is where, moment by moment, and does not ask where that comes from: a running simulation shows its
//! frames, [`of_run`] those of a recording, a program whatever it has. It remembers only what it needs, so that a long run costs
//! no more memory than its results.
//!
//! Quantities are those of PedPy (Schrödter et al., <https://pedpy.readthedocs.io>), which follow Steffen & Seyfried, "Methods for
//! measuring pedestrian density, flow, speed and direction with minimal scatter" (Physica A 389, 2010):
//!
//! | quantity | as in PedPy |
//! | --- | --- |
//! | crossings, N(t) | `compute_n_t`: the first crossing of each person counts; a movement that ends on the line has not crossed it |
//! | flow | (N - 1) over the time between the first and the last crossing; specific: per metre of the line |
//! | density | `compute_classic_density`: heads inside, over the area |
//! | Voronoi density | `compute_voronoi_density` of `compute_individual_voronoi_polygons`, cells clipped to the walkable area and, where asked for, a cut-off |
//! | speed | `compute_individual_speed` with `BORDER_ADAPTIVE`, averaged over those inside |
//!
//! Where space repeats ([`Observer::periodic`]), a movement is the shortest that leads from one place to an image of the other, so
//! that to come round is no jump back over all lines. Densities are those of what is drawn: nobody counts beyond a seam.
//!
//! Deviation: a crossing's time is interpolated between two moments, where PedPy has the number of the later frame.

mod area;
mod line;
mod live;
#[cfg(feature = "scenario")]
mod run;
mod voronoi;

pub use area::{AreaFigures, AreaSeries};
pub use line::{LineFigures, LineSeries};
pub use live::people;
#[cfg(feature = "scenario")]
pub use run::of_run;
pub use voronoi::{Cell, Floor, cells};

#[cfg(feature = "scenario")]
pub(crate) use live::Live;

use crate::map::Repeat;
use glam::DVec2;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Before and after a moment, s: the movement over this time is a person's speed. Heads sway once in a second or so, and less is
/// left of that over a longer time; people who stop take about half a second.
pub const SPEED_OVER: f64 = 0.4;

/// Those further than this from a line or an area are not looked at, m: they cannot be there in the next moment.
const REACH: f64 = 10.0;

/// Times that are closer than this are one, s.
const SAME_TIME: f64 = 1e-9;

/// What is measured where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// What to call it.
    pub name: String,
    /// Where.
    pub place: Place,
    /// Since when, s.
    pub from: f64,
    /// Until when, s.
    pub until: f64,
    /// Time between two samples of an area, s.
    pub every: f64,
    /// Whether the density in an area is also that of Voronoi cells.
    pub voronoi: bool,
    /// How far a Voronoi cell reaches at most, m; nothing for as far as the walkable area.
    pub cut_off: Option<f64>,
    /// Speeds in an area are along this; nothing for whichever way people go.
    pub direction: Option<DVec2>,
}

/// Where something is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Across a line.
    Line([DVec2; 2]),
    /// In an area: a ring.
    Area(Vec<DVec2>),
}

impl Measure {
    /// Crossings of a line, from the beginning to the end.
    pub fn line(name: impl Into<String>, from: impl Into<DVec2>, to: impl Into<DVec2>) -> Measure {
        Measure::new(name, Place::Line([from.into(), to.into()]))
    }

    /// Density and speed in an area, ten times a second, from the beginning to the end.
    pub fn area<R: crate::map::Ring + ?Sized>(name: impl Into<String>, ring: &R) -> Measure {
        Measure::new(name, Place::Area(ring.corners()))
    }

    fn new(name: impl Into<String>, place: Place) -> Measure {
        Measure {
            name: name.into(),
            place,
            from: 0.0,
            until: f64::MAX,
            every: 0.1,
            voronoi: false,
            cut_off: None,
            direction: None,
        }
    }

    fn is_on(&self, time: f64) -> bool {
        time >= self.from - SAME_TIME && time <= self.until + SAME_TIME
    }
}

/// Somebody, somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Person {
    /// Who.
    pub id: i64,
    /// Where, m.
    pub position: DVec2,
}

/// Those near a place, by id. Where space repeats, all are.
fn near(people: &[Person], space: Repeat, [low, high]: [DVec2; 2]) -> Vec<Person> {
    let is_near = |person: &&Person| {
        let is_beside = person.position.cmpge(low - REACH).all() && person.position.cmple(high + REACH).all();
        is_beside || !space.is_none()
    };
    let mut near: Vec<Person> = people.iter().filter(is_near).copied().collect();
    near.sort_unstable_by_key(|person| person.id);
    near
}

fn find(people: &[Person], id: i64) -> Option<DVec2> {
    people.binary_search_by_key(&id, |person| person.id).ok().map(|index| people[index].position)
}

/// Takes one measure, moment by moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observer {
    measure: Measure,
    seen: Seen,
    /// By which lengths space repeats along x and y, m; 0 where it does not.
    periodic: DVec2,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Seen {
    Line(line::Crossings),
    Area(area::Samples),
}

impl Observer {
    /// An observer that has seen nothing yet.
    pub fn new(measure: Measure) -> Observer {
        let seen = match &measure.place {
            Place::Line(line) => Seen::Line(line::Crossings::over(*line)),
            Place::Area(ring) => Seen::Area(area::Samples::of(ring)),
        };
        Observer { measure, seen, periodic: DVec2::ZERO }
    }

    /// Lets space repeat with these periods along x and y, m; 0 along an axis where it does not.
    pub fn periodic(self, period: impl Into<DVec2>) -> Observer {
        Observer { periodic: period.into(), ..self }
    }

    /// How space repeats. Where the cell begins does not matter for movements.
    fn space(&self) -> Repeat {
        Repeat { low: DVec2::ZERO, length: self.periodic }
    }

    /// What it measures.
    pub fn measure(&self) -> &Measure {
        &self.measure
    }

    /// Looks at a moment, which must be later than the one before. `floor` is asked for where Voronoi cells are drawn.
    pub fn observe<'a>(&mut self, time: f64, people: &[Person], floor: impl FnOnce() -> &'a Floor) {
        let space = self.space();
        match &mut self.seen {
            Seen::Line(crossings) => crossings.observe(&self.measure, space, time, people),
            Seen::Area(samples) => samples.observe(&self.measure, space, time, people, floor),
        }
    }

    /// What came out so far.
    pub fn figures(&self) -> Figures {
        match &self.seen {
            Seen::Line(crossings) => Figures::Line(crossings.figures()),
            Seen::Area(samples) => Figures::Area(samples.clone().figures(&self.measure, self.space())),
        }
    }
}

/// What came out of a measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Figures {
    /// Across a line.
    Line(LineFigures),
    /// In an area.
    Area(AreaFigures),
}

impl Figures {
    /// Those of a line.
    pub fn line(self) -> Option<LineFigures> {
        if let Figures::Line(figures) = self { Some(figures) } else { None }
    }

    /// Those of an area.
    pub fn area(self) -> Option<AreaFigures> {
        if let Figures::Area(figures) = self { Some(figures) } else { None }
    }
}

/// Figures by the names of their measures.
pub type Measures = BTreeMap<String, Figures>;

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
