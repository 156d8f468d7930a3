//! Who will be in which polygon of a mesh, and when: what the densities φ ahead are made of (Kapadia et al. 2013, section 4.1).
//!
//! Bodies are looked for once a second. What was counted stays from step to step: a body is followed along its path when it
//! says something else, and all of them only to where the future has come a look nearer. How dense a polygon will be is
//! worked out when a search asks for it.

use super::dynamic_navmesh::{Dense, Traveller, centre, polygon_at, share};
use super::occupancy::Trajectory;
use crate::navmesh::Mesh;
use crate::navmesh::mesh::NONE;
use glam::DVec2;
use throng_core::parallel;

/// So long before and after it gets there, bodies count, s.
pub(crate) const AROUND: f64 = 2.0;
/// Between sightings at a path, s.
const LOOK: f64 = 1.0;
/// Bodies are looked for so far into the future, s.
const HORIZON: f64 = 120.0;
/// Looks into the future.
const LOOKS: usize = (HORIZON / LOOK) as usize;
/// The density of a polygon that is closed, 1/m²: dearer than any way around.
const CLOSED: f32 = 1e5;
/// Bodies that a thread follows in one go.
const BODIES_AT_A_TIME: usize = 32;

/// Who will be where on a mesh, as far as bodies have said so.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    /// When the look with number 0 is, s.
    origin: f64,
    /// The number of the first look that is not past.
    first: u64,
    /// How many are seen in a polygon at a look, by polygon, then by the look's number modulo [`LOOKS`].
    count: Vec<u32>,
    /// Who has said something, by number.
    bodies: Vec<Option<Body>>,
    /// The middle of every polygon, m, and what one sighting adds to its density, 1/m².
    polygons: Vec<(DVec2, f32)>,
}

#[derive(Clone, Debug)]
struct Body {
    path: Trajectory,
    /// The polygon that it is in at every look, by the look's number modulo [`LOOKS`]; `NONE` outside of the mesh.
    seen: Vec<u32>,
}

impl Forecast {
    /// Of no bodies yet, with looks at a time and every second after it.
    pub fn new(mesh: &Mesh, origin: f64) -> Forecast {
        let sightings = (2.0 * AROUND / LOOK).round() + 1.0;
        let polygon = |polygon| (centre(mesh, polygon), share(mesh, polygon, 1.0 / sightings));
        Forecast {
            origin,
            first: 0,
            count: vec![0; mesh.polygons() * LOOKS],
            bodies: Vec::new(),
            polygons: (0..mesh.polygons()).map(polygon).collect(),
        }
    }

    /// Forgets the looks before a time, and looks as much further ahead.
    pub fn advance(&mut self, mesh: &Mesh, now: f64) {
        let first = ((now - self.origin) / LOOK).ceil().max(0.0) as u64;
        let before = std::mem::replace(&mut self.first, first);
        // Time goes back where the world is another one.
        let known = if first < before { first } else { before + LOOKS as u64 };
        let new = known.max(first)..first + LOOKS as u64;
        if new.is_empty() {
            return;
        }
        for look in new.clone() {
            self.count.iter_mut().skip(column(look)).step_by(LOOKS).for_each(|count| *count = 0);
        }
        let bodies = &self.bodies;
        let follow =
            |body: usize| bodies[body].as_ref().map(|body| self.sightings(mesh, &body.path, new.clone()));
        let seen = parallel::map(BODIES_AT_A_TIME, bodies.len(), &follow);
        for (body, seen) in self.bodies.iter_mut().zip(seen) {
            let Some((body, seen)) = body.as_mut().zip(seen) else { continue };
            for (look, polygon) in new.clone().zip(seen) {
                body.seen[column(look)] = polygon;
                note(&mut self.count, polygon, look, 1);
            }
        }
    }

    /// Bodies, by number, say where they will be in the place of what they said before; `None` where one is gone. A path counts
    /// from now on.
    pub fn expect(&mut self, mesh: &Mesh, said: Vec<(usize, Option<Trajectory>)>) {
        let looks = self.first..self.first + LOOKS as u64;
        let follow = |index: usize| {
            let path = said[index].1.as_ref();
            path.map_or(Vec::new(), |path| self.sightings(mesh, path, looks.clone()))
        };
        let seen = parallel::map(BODIES_AT_A_TIME, said.len(), &follow);
        for ((number, path), seen) in said.into_iter().zip(seen) {
            if self.bodies.len() <= number {
                self.bodies.resize(number + 1, None);
            }
            let mut ring = match self.bodies[number].take() {
                Some(body) => {
                    looks.clone().for_each(|look| note(&mut self.count, body.seen[column(look)], look, -1));
                    body.seen
                }
                None => vec![NONE; LOOKS],
            };
            let Some(path) = path else { continue };
            for (look, polygon) in looks.clone().zip(seen) {
                ring[column(look)] = polygon;
                note(&mut self.count, polygon, look, 1);
            }
            self.bodies[number] = Some(Body { path, seen: ring });
        }
    }

    /// The polygons that a body is in at some looks; `NONE` outside of the mesh, and once it has vanished.
    fn sightings(&self, mesh: &Mesh, path: &Trajectory, looks: std::ops::Range<u64>) -> Vec<u32> {
        let mut last = None;
        let sighting = |look: u64| {
            let at = path.place(self.origin + look as f64 * LOOK)?;
            // Who has arrived stands.
            let known = last.filter(|(before, _)| *before == at);
            let polygon = known.map_or_else(|| polygon_at(mesh, at), |(_, polygon)| polygon);
            last = Some((at, polygon));
            polygon
        };
        looks.map(sighting).map(|polygon| polygon.map_or(NONE, |polygon| polygon as u32)).collect()
    }

    /// The densities that a traveller meets, each when it would be in the middle of the polygon if it went straight there. Some
    /// polygons, ascending, are closed: nobody gets past what is there.
    pub fn for_traveller<'a>(&'a self, traveller: Traveller, closed: &'a [u32]) -> Expected<'a> {
        let own = traveller.own.and_then(|own| self.bodies.get(own as usize)?.as_ref());
        Expected { forecast: self, traveller, own: own.map_or(&[], |own| &own.seen), closed }
    }
}

/// Where a look's sightings are.
fn column(look: u64) -> usize {
    (look % LOOKS as u64) as usize
}

fn note(count: &mut [u32], polygon: u32, look: u64, bodies: i32) {
    if polygon != NONE {
        let count = &mut count[polygon as usize * LOOKS + column(look)];
        *count = count.wrapping_add_signed(bodies);
    }
}

/// The densities that one traveller meets.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    forecast: &'a Forecast,
    traveller: Traveller,
    /// The polygon that the traveller itself is in at every look.
    own: &'a [u32],
    closed: &'a [u32],
}

impl Expected<'_> {
    /// How dense it will be in a polygon, 1/m².
    pub fn phi(&self, polygon: usize) -> f32 {
        if self.closed.binary_search(&(polygon as u32)).is_ok() {
            return CLOSED;
        }
        let Forecast { origin, first, ref count, ref polygons, .. } = *self.forecast;
        let (middle, share) = polygons[polygon];
        let there = middle.distance(self.traveller.from) / self.traveller.speed;
        let later = self.traveller.begin - origin + there;
        let soonest = (((later - AROUND) / LOOK).ceil().max(0.0) as u64).max(first);
        let latest = (((later + AROUND) / LOOK).floor() as u64).min(first + LOOKS as u64 - 1);
        let count = &count[polygon * LOOKS..(polygon + 1) * LOOKS];
        let others = (soonest..=latest).map(|look| {
            let is_own = self.own.get(column(look)).is_some_and(|&own| own as usize == polygon);
            count[column(look)] - u32::from(is_own)
        });
        others.sum::<u32>() as f32 * share
    }
}

impl Dense for Expected<'_> {
    fn met(&self, polygon: usize, _: DVec2) -> f64 {
        f64::from(self.phi(polygon))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navmesh::{Geometry, Settings, Terrain};
    use proptest::prelude::*;

    fn hall() -> Terrain {
        let square = |low: f64, high: f64| {
            vec![DVec2::splat(low), DVec2::new(high, low), DVec2::splat(high), DVec2::new(low, high)]
        };
        let geometry = Geometry {
            walkable: vec![vec![square(0.0, 20.0)]],
            obstacles: vec![square(8.0, 11.0)],
            walls: vec![],
        };
        Terrain::new(&geometry, Settings { widest: 2.5, ..Settings::default() }).unwrap()
    }

    fn path(&[x, y, to_x, to_y, begin, lasts]: &[f64; 6], stays: bool) -> Trajectory {
        let path = vec![(begin, DVec2::new(x, y)), (begin + lasts, DVec2::new(to_x, to_y))];
        Trajectory { radius: 0.3, path, stays }
    }

    fn bodies() -> impl Strategy<Value = Vec<[f64; 6]>> {
        let at = || 0.1..19.9_f64;
        let body = (at(), at(), at(), at(), -9.0..9.0_f64, 1.0..40.0_f64);
        prop::collection::vec(body.prop_map(|(a, b, c, d, e, f)| [a, b, c, d, e, f]), 1..12)
    }

    proptest! {
        /// Each body counts where it is at each of the looks within two seconds of when the traveller would be there.
        #[test]
        fn densities_are_those_of_every_body_at_every_look(
            bodies in bodies(), from in (0.1..19.9_f64, 0.1..19.9_f64), speed in 0.2..2.0_f64, own in 0u32..12, begin in 0.0..5.0_f64,
        ) {
            let terrain = hall();
            let mesh = terrain.mesh();
            let said: Vec<Trajectory> = bodies.iter().zip(0..).map(|(body, id)| path(body, id % 3 > 0)).collect();
            let mut forecast = Forecast::new(mesh, begin);
            forecast.advance(mesh, begin);
            forecast.expect(mesh, said.iter().cloned().map(Some).enumerate().collect());
            let traveller = Traveller { from: from.into(), begin, speed, own: Some(own) };
            let expected = forecast.for_traveller(traveller, &[]);
            let mut phi = vec![0.0; mesh.polygons()];
            for (look, (_, path)) in (0..120).flat_map(|look| said.iter().enumerate().filter(|body| body.0 as u32 != own).map(move |body| (look, body))) {
                let Some(polygon) = path.place(begin + f64::from(look)).and_then(|at| polygon_at(mesh, at)) else { continue };
                let there = centre(mesh, polygon).distance(traveller.from) / speed;
                if (there - f64::from(look)).abs() <= AROUND {
                    phi[polygon] += f64::from(share(mesh, polygon, 0.2));
                }
            }
            for (polygon, phi) in phi.into_iter().enumerate() {
                prop_assert!((f64::from(expected.phi(polygon)) - phi).abs() < 1e-5);
            }
        }

        /// Nothing depends on what was said before, when time went on and how often.
        #[test]
        fn what_stays_from_step_to_step_is_what_is_counted_anew(
            bodies in bodies(), others in bodies(), steps in prop::collection::vec(0.0..50.0_f64, 1..6), gone in 0usize..12,
        ) {
            let terrain = hall();
            let mesh = terrain.mesh();
            let said = |bodies: &[[f64; 6]], gone: usize| -> Vec<(usize, Option<Trajectory>)> {
                let said = bodies.iter().enumerate();
                said.map(|(number, body)| (number, (number != gone).then(|| path(body, number % 3 > 0)))).collect()
            };
            let mut kept = Forecast::new(mesh, 0.0);
            kept.expect(mesh, said(&others, usize::MAX));
            let mut now = 0.0;
            for step in steps {
                now += step;
                kept.advance(mesh, now);
                kept.expect(mesh, said(&bodies, gone));
                kept.expect(mesh, (bodies.len()..others.len()).map(|number| (number, None)).collect());
            }
            let mut anew = Forecast::new(mesh, 0.0);
            anew.advance(mesh, now);
            anew.expect(mesh, said(&bodies, gone));
            prop_assert_eq!(kept.count, anew.count);
        }
    }
}
