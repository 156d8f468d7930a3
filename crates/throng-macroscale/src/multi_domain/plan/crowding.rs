//! How dense it will be where: φ of Σ2, counted from every agent's plans and from where scripted bodies will be. Beyond its path an
//! agent is expected to follow its way at its preferred speed, as the paper has it.
//!
//! Deviation: a body counts with the direction it goes in. The paper's φ is a number, by which a lane that is full of those who
//! go one's own way is as bad as one that they come from; see [`Density::drift`].

use crate::domain::dynamic_navmesh::Dense;
use crate::hash::FastMap;
use crate::multi_domain::domain_map::{DomainMap, DomainMaps};
use crate::multi_domain::plan::{Plan, Plans};
use crate::multi_domain::{MultiDomain, wide};
use crate::navmesh::Terrain;
use glam::{DVec2, IVec2};
use std::cell::RefCell;
use throng_core::geom::double::{self, after_distance};
use throng_core::world::View;

/// Which agents will be in which polygon when, for each class of radii.
#[derive(Debug, Default)]
pub(crate) struct Crowding {
    version: u64,
    serials: Vec<Option<u32>>,
    classes: Vec<Counts>,
    /// The period and the version of the movers that these were counted for.
    moving: Option<(u32, u64)>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Who is where, by time and polygon.
    bodies: FastMap<Key, Flow>,
    /// The same of scripted bodies, from now on.
    movers: FastMap<Key, Flow>,
    /// Where and when an agent will be, and which way it goes there, by slot.
    visits: Vec<Vec<(Key, Flow)>>,
    /// Of every polygon: its middle, and its area, m².
    polygons: Vec<(DVec2, f64)>,
}

/// A period and a polygon.
type Key = (u32, u32);

/// Bodies and the sum of their directions, in whole parts: sums come out the same in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Flow {
    bodies: u32,
    direction: IVec2,
}

/// Parts of a direction.
const PARTS: f64 = 1024.0;

impl Flow {
    /// One body.
    fn of(direction: DVec2) -> Flow {
        Flow { bodies: 1, direction: (direction * PARTS).round().as_ivec2() }
    }

    fn and(self, other: Flow) -> Flow {
        Flow { bodies: self.bodies + other.bodies, direction: self.direction + other.direction }
    }

    fn without(self, other: Flow) -> Flow {
        Flow { bodies: self.bodies - other.bodies, direction: self.direction - other.direction }
    }

    /// The sum of directions.
    fn drift(self) -> DVec2 {
        self.direction.as_dvec2() / PARTS
    }
}

/// The agent that asks: where it is, how fast it gets on, and its slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    pub class: usize,
    pub from: DVec2,
    pub speed: f64,
    pub slot: u32,
}

/// Time is counted in periods of this length, s.
const PERIOD: f64 = 4.0;
/// As far ahead an agent is expected anywhere, s.
const AHEAD: f64 = 48.0;
/// Between looks at a way, m.
const LOOK: f64 = 2.0;
const MOST_LOOKS: f64 = 200.0;
/// The least area of a polygon, m²: a body fills more than a sliver.
const LEAST_AREA: f64 = 1.0;

impl Crowding {
    pub fn update(
        &mut self,
        view: View<'_>,
        maps: &DomainMaps,
        params: &MultiDomain,
        plans: &Plans,
        rows: &[u32],
    ) {
        if self.version != maps.version {
            let classes = maps.iter().map(Counts::on).collect();
            *self = Crowding { version: maps.version, serials: Vec::new(), classes, moving: None };
        }
        self.expect_movers(view, maps);
        self.serials.resize(self.serials.len().max(rows.len()), None);
        for slot in 0..self.serials.len() {
            let row = rows.get(slot).copied().filter(|&row| row != u32::MAX);
            let Some(row) = row else {
                if self.serials[slot].take().is_some() {
                    self.classes.iter_mut().for_each(|counts| counts.set(slot, Vec::new()));
                }
                continue;
            };
            let plan = plans.get(slot as u32);
            if self.serials[slot] != Some(plan.serial) {
                self.publish(view, maps, params, row as usize, plan);
            }
        }
    }

    /// Counts where scripted bodies will be, once in a period: all of their paths may be long.
    fn expect_movers(&mut self, view: View<'_>, maps: &DomainMaps) {
        let moving = Some((period(view.now), view.mover_version));
        if std::mem::replace(&mut self.moving, moving) == moving {
            return;
        }
        let times = (0..=(2.0 * AHEAD / PERIOD) as u32).map(|look| f64::from(look) * PERIOD / 2.0);
        let times: Vec<f64> = times.map(|later| (view.now / PERIOD).floor() * PERIOD + later).collect();
        for (counts, ground) in self.classes.iter_mut().zip(maps.iter()) {
            counts.movers.clear();
            for script in view.scripts.iter().filter(|script| !script.carries) {
                let place = |time: f64| (time, wide(script.state(time, view.tick).position));
                let expected: Vec<(f64, DVec2)> = times.iter().map(|&time| place(time)).collect();
                for (key, flow) in visits(ground, &expected) {
                    let all = counts.movers.entry(key).or_default();
                    *all = all.and(flow);
                }
            }
        }
    }

    /// An agent says where it will be.
    pub fn publish(
        &mut self,
        view: View<'_>,
        maps: &DomainMaps,
        params: &MultiDomain,
        row: usize,
        plan: &Plan,
    ) {
        let slot = view.agents.slot[row];
        self.serials[slot as usize] = Some(plan.serial);
        if params.crowding == 0.0 {
            return;
        }
        let expected = expected(view, row, plan);
        for (counts, ground) in self.classes.iter_mut().zip(maps.iter()) {
            counts.set(slot as usize, visits(ground, &expected));
        }
    }

    /// The densities that an agent meets.
    pub fn density(&self, view: View<'_>, asker: Asker) -> Option<Ahead<'_>> {
        let counts = self.classes.get(asker.class)?;
        Some(Ahead { counts, now: view.now, asker, known: RefCell::default() })
    }

    /// How many others one meets on a way, each when one gets there: who comes towards one counts twice, and who goes the same
    /// way not at all.
    pub fn met(&self, view: View<'_>, ground: &DomainMap, asker: Asker, way: &[DVec2]) -> f64 {
        let Some(mesh) = ground.fine.as_ref().map(Terrain::mesh) else { return 0.0 };
        let Some(counts) = self.classes.get(asker.class) else { return 0.0 };
        let between = LOOK.max(AHEAD * asker.speed / MOST_LOOKS);
        let looks = (AHEAD * asker.speed / between).min(length(asker.from, way) / between) as u32;
        let (mut met, mut last) = (0.0, None);
        for gone in (0..=looks).map(|look| f64::from(look) * between) {
            let at = after_distance(asker.from, way, gone);
            let Some(polygon) = mesh.locate(at) else { continue };
            let key = (period(view.now + gone / asker.speed), polygon as u32);
            if last.replace(key) != Some(key) {
                let direction = (after_distance(asker.from, way, gone + between) - at).normalize_or_zero();
                let others = counts.others(key, asker.slot);
                met += (f64::from(others.bodies) - direction.dot(others.drift())).max(0.0);
            }
        }
        met
    }

    /// The memory that it takes.
    pub fn bytes(&self) -> usize {
        let counts = |counts: &Counts| {
            (counts.bodies.capacity() + counts.movers.capacity()) * (1 + size_of::<(Key, Flow)>())
                + counts
                    .visits
                    .iter()
                    .map(|own| 24 + own.capacity() * size_of::<(Key, Flow)>())
                    .sum::<usize>()
        };
        self.classes.iter().map(counts).sum()
    }
}

/// The density in every polygon when an agent that goes straight gets there: worked out where a search looks, and no search
/// looks far on a large map.
#[derive(Debug)]
pub(crate) struct Ahead<'a> {
    counts: &'a Counts,
    now: f64,
    asker: Asker,
    /// Bodies, and the sum of the directions that they go in, per m².
    known: RefCell<FastMap<u32, (f64, DVec2)>>,
}

impl Ahead<'_> {
    fn count(&self, polygon: usize) -> (f64, DVec2) {
        let (centre, area) = self.counts.polygons[polygon];
        let time = self.now + centre.distance(self.asker.from) / self.asker.speed;
        let others = self.counts.others((period(time), polygon as u32), self.asker.slot);
        (f64::from(others.bodies) / area, others.drift() / area)
    }

    fn known(&self, polygon: usize) -> (f64, DVec2) {
        *self.known.borrow_mut().entry(polygon as u32).or_insert_with(|| self.count(polygon))
    }

    /// Makes a polygon as much denser, 1/m².
    pub fn add(&mut self, polygon: usize, more: f32) {
        let (phi, drift) = self.known(polygon);
        self.known.get_mut().insert(polygon as u32, (phi + f64::from(more), drift));
    }
}

impl Dense for Ahead<'_> {
    fn met(&self, polygon: usize, direction: DVec2) -> f64 {
        let (phi, drift) = self.known(polygon);
        (phi - direction.dot(drift)).max(0.0)
    }
}

impl Counts {
    /// No agent, on some mesh.
    fn on(ground: &DomainMap) -> Counts {
        let Some(mesh) = ground.fine.as_ref().map(Terrain::mesh) else { return Counts::default() };
        let polygon = |polygon: usize| {
            let (sum, corners) =
                mesh.corners(polygon).fold((DVec2::ZERO, 0.0), |(sum, count), at| (sum + at, count + 1.0));
            (sum / f64::max(corners, 1.0), mesh.area(polygon).max(LEAST_AREA))
        };
        Counts { polygons: (0..mesh.polygons()).map(polygon).collect(), ..Counts::default() }
    }

    /// Those who are there but one.
    fn others(&self, key: Key, slot: u32) -> Flow {
        let movers = self.movers.get(&key).copied().unwrap_or_default();
        let Some(&all) = self.bodies.get(&key) else { return movers };
        let own = self.visits.get(slot as usize).and_then(|own| own.iter().find(|visit| visit.0 == key));
        movers.and(own.map_or(all, |own| all.without(own.1)))
    }

    fn set(&mut self, slot: usize, visits: Vec<(Key, Flow)>) {
        if self.visits.len() <= slot {
            self.visits.resize(slot + 1, Vec::new());
        }
        for (key, flow) in std::mem::replace(&mut self.visits[slot], visits) {
            if let std::collections::hash_map::Entry::Occupied(mut all) = self.bodies.entry(key) {
                *all.get_mut() = all.get().without(flow);
                if all.get().bodies == 0 {
                    all.remove();
                }
            }
        }
        for &(key, flow) in &self.visits[slot] {
            let all = self.bodies.entry(key).or_default();
            *all = all.and(flow);
        }
    }
}

fn period(time: f64) -> u32 {
    (time / PERIOD) as u32
}

/// How long a way is, m.
fn length(from: DVec2, way: &[DVec2]) -> f64 {
    way.first().map_or(0.0, |first| from.distance(*first)) + double::length(way)
}

/// The polygons that a body is expected in, each once in a period, with the direction in which it comes.
fn visits(ground: &DomainMap, expected: &[(f64, DVec2)]) -> Vec<(Key, Flow)> {
    let Some(mesh) = ground.fine.as_ref().map(Terrain::mesh) else { return Vec::new() };
    let mut visits: Vec<(Key, Flow)> = Vec::new();
    for (look, &(time, at)) in expected.iter().enumerate() {
        let Some(polygon) = mesh.locate(at) else { continue };
        let next = expected.get(look + 1).map_or(at, |next| next.1);
        let key = (period(time), polygon as u32);
        if visits.iter().rev().take(2).all(|visit| visit.0 != key) {
            visits.push((key, Flow::of((next - at).normalize_or_zero())));
        }
    }
    visits
}

/// Where an agent is expected in the middle of every period and between. Nothing but its plan says so: a run that is resumed
/// must expect the same.
fn expected(view: View<'_>, row: usize, plan: &Plan) -> Vec<(f64, DVec2)> {
    let Some((&(begin, _), &(end, last))) = plan.path.first().zip(plan.path.last()) else {
        return Vec::new();
    };
    let looks = (2.0 * AHEAD / PERIOD) as u32;
    // One that stands for long is there as long as it has no other plan.
    let begin = begin.max(plan.served);
    let times = (0..looks).map(|look| begin + f64::from(look) * PERIOD / 2.0);
    let stands = plan.blocked < f64::INFINITY || plan.reaches;
    let rest = if stands { &[][..] } else { plan.bends_ahead(last) };
    let beyond =
        |time: f64| after_distance(last, rest, (time - end) * f64::from(view.agents.preferred_speed[row]));
    let place = |time: f64| plan.place(time).filter(|_| time <= end).unwrap_or_else(|| beyond(time));
    times.map(|time| (time, place(time))).collect()
}
