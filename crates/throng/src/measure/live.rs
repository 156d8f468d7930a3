//! Measures of a running crowd.

use super::{Floor, Measure, Measures, Observer, Person};
use crate::frame::Frame;
use crate::map;
use glam::DVec2;

/// Observers of one crowd, and what they share.
#[derive(Default)]
pub(crate) struct Live {
    observers: Vec<Observer>,
    people: Vec<Person>,
    /// The floor, and how often the map had changed when it was made.
    floor: Option<(u64, Floor)>,
}

impl Live {
    /// Observers that have seen nothing yet.
    pub(crate) fn new(measures: &[Measure], periodic: DVec2) -> Live {
        let observer = |measure: &Measure| Observer::new(measure.clone()).periodic(periodic);
        Live::resumed(measures.iter().map(observer).collect())
    }

    /// Observers that go on.
    pub(crate) fn resumed(observers: Vec<Observer>) -> Live {
        Live { observers, ..Live::default() }
    }

    /// Looks at a moment.
    pub(crate) fn observe(&mut self, frame: &Frame<'_>) {
        if self.observers.is_empty() {
            return;
        }
        self.people.clear();
        self.people.extend(people(frame));
        for observer in &mut self.observers {
            observer.observe(frame.time, &self.people, || floor_of(&mut self.floor, frame));
        }
    }

    /// For a checkpoint.
    pub(crate) fn observers(&self) -> &[Observer] {
        &self.observers
    }

    /// What came out so far.
    pub(crate) fn figures(&self) -> Measures {
        let figures = |observer: &Observer| (observer.measure().name.clone(), observer.figures());
        self.observers.iter().map(figures).collect()
    }
}

/// Who is where in a frame. Who has no place that can be calculated with is left out.
pub fn people<'a>(frame: &'a Frame<'a>) -> impl Iterator<Item = Person> + 'a {
    let person = |row: usize| Person { id: i64::from(frame.id[row]), position: frame.position(row) };
    (0..frame.len()).map(person).filter(|person| person.position.is_finite())
}

fn floor_of<'a>(made: &'a mut Option<(u64, Floor)>, frame: &Frame<'_>) -> &'a Floor {
    if made.as_ref().is_none_or(|(changes, _)| *changes != frame.map_changes) {
        *made = None;
    }
    let make = || {
        let map = frame.map.cloned().unwrap_or_default();
        (frame.map_changes, Floor::new(&map::free_around(&map, frame.within)))
    };
    &made.get_or_insert_with(make).1
}
