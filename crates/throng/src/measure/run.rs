//! Measures of a recording.

use super::{Figures, Floor, Measure, Observer, Person};
use crate::map::clean_polygons;
use crate::record::{Geometry, Run};
use glam::DVec2;

/// Takes a measure of a recorded run.
pub fn of_run(run: &Run, measure: Measure) -> Figures {
    let mut rows: Vec<(u32, Person)> = run
        .tracks()
        .flat_map(|track| {
            (0..track.frame.len()).map(move |row| {
                let place = DVec2::new(f64::from(track.x[row]), f64::from(track.y[row]));
                (track.frame[row], Person { id: track.id, position: run.origin + place })
            })
        })
        .collect();
    rows.sort_by_key(|(frame, person)| (*frame, person.id));
    let mut observer = Observer::new(measure).periodic(run.info.periodic);
    let mut floors = floors(run);
    let mut floor = Floor::default();
    let mut next = 0;
    let (first, last) = run.frames();
    // Also frames with nobody in them: there the density is 0.
    for frame in first..=last {
        while floors.last().is_some_and(|(from, _)| *from <= frame) {
            floor = floors.pop().unwrap_or_default().1;
        }
        let begin = next;
        next += rows[begin..].iter().take_while(|(at, _)| *at == frame).count();
        let people: Vec<Person> = rows[begin..next].iter().map(|(_, person)| *person).collect();
        observer.observe(f64::from(frame) / run.fps, &people, || &floor);
    }
    observer.figures()
}

/// Floors and since which frame they hold, the latest first.
fn floors(run: &Run) -> Vec<(u32, Floor)> {
    let floor = |wkt: &str| {
        let geometry = Geometry::parse(wkt).unwrap_or_default();
        let ring = |ring: &Vec<[f64; 2]>| ring.iter().map(|&corner| corner.into()).collect();
        let polygons: Vec<_> =
            geometry.polygons.iter().map(|rings| rings.iter().map(ring).collect()).collect();
        Floor::new(&clean_polygons(&polygons))
    };
    run.geometry.iter().rev().map(|span| (span.from_frame, floor(&span.wkt))).collect()
}
