//! Where all bodies will be, by what they have published: kept from step to step, and all of it follows from the world and from what
//! is remembered.

use super::course::{Course, Courses};
use super::{SLOWEST, leads_to_goal};
use crate::domain::forecast::Forecast;
use crate::domain::occupancy::Trajectory;
use crate::navmesh::Mesh;
use glam::Vec2;
use throng_core::world::{Status, View};

/// Scripted bodies go on as they do now for so long, s: their scripts are not known.
const GOES_ON: f64 = 10.0;

/// A forecast of all bodies on one mesh, and what each had said when it was counted: movers first, then agents by slot.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    forecast: Option<Forecast>,
    said: Vec<Said>,
    movers: usize,
}

/// What a body says of where it will be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Said {
    #[default]
    Nothing,
    Stands(Vec2),
    /// Since when it walks along its route, from where, and how fast.
    Walks(f64, Vec2, f32),
    /// For now, from where and how.
    Drifts(f64, Vec2, Vec2),
}

impl Crowd {
    /// The number of an agent among all bodies.
    pub fn body(view: View<'_>, row: usize) -> u32 {
        view.movers.len() as u32 + view.agents.slot[row]
    }

    /// Counts again those who say something else than before.
    pub fn update(&mut self, view: View<'_>, courses: &Courses, mesh: &Mesh) {
        if self.movers != view.movers.len() {
            *self = Crowd { movers: view.movers.len(), ..Crowd::default() };
        }
        let forecast = self.forecast.get_or_insert_with(|| Forecast::new(mesh, 0.0));
        forecast.advance(mesh, view.now);
        let drifts = view.movers.iter().map(|mover| Said::Drifts(view.now, mover.position, mover.velocity));
        let mut said: Vec<Said> = drifts.collect();
        let slots = view.agents.slot.iter().max().map_or(0, |&slot| slot as usize + 1);
        said.resize(self.said.len().max(self.movers + slots), Said::Nothing);
        for row in 0..view.agents.len() {
            said[Crowd::body(view, row) as usize] = says(view, row, courses.of(view.agents.slot[row]));
        }
        self.said.resize(said.len(), Said::Nothing);
        let courses = |body: usize| courses.of((body - self.movers) as u32);
        let pairs = self.said.iter().zip(&said).enumerate();
        let changed = pairs.filter(|(_, (before, now))| before != now);
        let changed = changed.map(|(body, (_, &now))| (body, now.path(|| courses(body))));
        forecast.expect(mesh, changed.collect());
        self.said = said;
    }

    /// What [`Crowd::update`] has counted last.
    pub fn forecast(&self) -> Option<&Forecast> {
        self.forecast.as_ref()
    }
}

/// What an agent says: its route, or where it is as long as it has none.
fn says(view: View<'_>, row: usize, course: &Course) -> Said {
    let walks = view.agents.status[row] == Status::Walking && leads_to_goal(view, row, &course.route);
    if walks {
        Said::Walks(course.since, course.from, view.agents.preferred_speed[row])
    } else {
        Said::Stands(view.position(row))
    }
}

impl Said {
    fn path<'c>(self, course: impl FnOnce() -> &'c Course) -> Option<Trajectory> {
        match self {
            Said::Nothing => None,
            Said::Stands(at) => Some(Trajectory::standing(0.0, at.as_dvec2())),
            Said::Walks(.., speed) => Some(course().published(f64::from(speed).max(SLOWEST))),
            Said::Drifts(now, at, velocity) => {
                let (at, then) = (at.as_dvec2(), (at + velocity * GOES_ON as f32).as_dvec2());
                Some(Trajectory { radius: 0.0, path: vec![(now, at), (now + GOES_ON, then)], stays: true })
            }
        }
    }
}
