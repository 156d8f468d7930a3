//! How dense it will be where: φ of Σ2, counted from every agent's plans and from where scripted bodies will be. Beyond its path an
//! agent is expected to follow its way at its preferred speed, as the paper has it.

use super::domain_map::{DomainMap, DomainMaps};
use super::plan::{Plan, Plans};
use super::{MultiDomain, wide};
use crate::domain::dynamic_navmesh::Density;
use crate::hash::FastMap;
use crate::navmesh::Terrain;
use glam::DVec2;
use throng_core::geom::double::after_distance;
use throng_core::world::View;

/// Which agents will be in which polygon when, for each class of radii.
#[derive(Debug, Default)]
pub(super) struct Crowding {
    version: u64,
    serials: Vec<Option<u32>>,
    classes: Vec<Counts>,
    /// The period and the version of the movers that these were counted for.
    moving: Option<(u32, u64)>,
}

#[derive(Debug, Default)]
struct Counts {
    /// How many, by time and polygon.
    bodies: FastMap<(u32, u32), u32>,
    /// The same of scripted bodies, from now on.
    movers: FastMap<(u32, u32), u32>,
    /// Where and when an agent will be, by slot.
    keys: Vec<Vec<(u32, u32)>>,
    /// Of every polygon: its middle, and its area, m².
    polygons: Vec<(DVec2, f64)>,
}

/// The agent that asks: where it is, how fast it gets on, and its slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker {
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
            let plan = plans.of(slot as u32);
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
                keys(ground, &expected)
                    .into_iter()
                    .for_each(|key| *counts.movers.entry(key).or_default() += 1);
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
            counts.set(slot as usize, keys(ground, &expected));
        }
    }

    /// The density in every polygon when an agent that goes straight gets there.
    pub fn density(&self, view: View<'_>, asker: Asker) -> Option<Density> {
        let counts = self.classes.get(asker.class)?;
        let phi = |(polygon, &(centre, area)): (usize, &(DVec2, f64))| {
            let time = view.now + centre.distance(asker.from) / asker.speed;
            let others = counts.others((period(time), polygon as u32), asker.slot);
            (f64::from(others) / area) as f32
        };
        Some(Density { phi: counts.polygons.iter().enumerate().map(phi).collect() })
    }

    /// Whether another agent will be on a path when one gets there.
    pub fn is_on(&self, view: View<'_>, ground: &DomainMap, asker: Asker, way: &[DVec2]) -> bool {
        let Some(mesh) = ground.fine.as_ref().map(Terrain::mesh) else { return false };
        let Some(counts) = self.classes.get(asker.class) else { return false };
        let between = LOOK.max(AHEAD * asker.speed / MOST_LOOKS);
        let looks = (AHEAD * asker.speed / between) as u32;
        (0..looks).map(|look| f64::from(look) * between).any(|gone| {
            let polygon = mesh.locate(after_distance(asker.from, way, gone));
            polygon.is_some_and(|polygon| {
                counts.others((period(view.now + gone / asker.speed), polygon as u32), asker.slot) > 0
            })
        })
    }

    /// The memory that it takes.
    pub fn bytes(&self) -> usize {
        let counts = |counts: &Counts| {
            (counts.bodies.capacity() + counts.movers.capacity()) * 13
                + counts.keys.iter().map(|keys| 24 + keys.capacity() * 8).sum::<usize>()
        };
        self.classes.iter().map(counts).sum()
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

    /// How many there are but one.
    fn others(&self, key: (u32, u32), slot: u32) -> u32 {
        let all = self.bodies.get(&key).copied().unwrap_or(0);
        let is_own = || self.keys.get(slot as usize).is_some_and(|keys| keys.contains(&key));
        let movers = self.movers.get(&key).copied().unwrap_or(0);
        movers + all - u32::from(all > 0 && is_own())
    }

    fn set(&mut self, slot: usize, keys: Vec<(u32, u32)>) {
        if self.keys.len() <= slot {
            self.keys.resize(slot + 1, Vec::new());
        }
        for key in std::mem::replace(&mut self.keys[slot], keys) {
            if let std::collections::hash_map::Entry::Occupied(mut count) = self.bodies.entry(key) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        }
        for &key in &self.keys[slot] {
            *self.bodies.entry(key).or_default() += 1;
        }
    }
}

fn period(time: f64) -> u32 {
    (time / PERIOD) as u32
}

fn keys(ground: &DomainMap, expected: &[(f64, DVec2)]) -> Vec<(u32, u32)> {
    let Some(mesh) = ground.fine.as_ref().map(Terrain::mesh) else { return Vec::new() };
    let there = expected.iter().filter_map(|&(time, at)| Some((period(time), mesh.locate(at)? as u32)));
    let mut keys: Vec<(u32, u32)> = there.collect();
    keys.dedup();
    keys
}

/// Where an agent is expected in the middle of every period and between. Nothing but its plan says so: a run that is resumed
/// must expect the same.
fn expected(view: View<'_>, row: usize, plan: &Plan) -> Vec<(f64, DVec2)> {
    let Some((&(begin, _), &(end, last))) = plan.path.first().zip(plan.path.last()) else {
        return Vec::new();
    };
    let looks = (2.0 * AHEAD / PERIOD) as u32;
    let times = (0..looks).map(|look| begin + f64::from(look) * PERIOD / 2.0);
    let stands = plan.blocked < f64::INFINITY || plan.reaches;
    let rest = if stands { &[][..] } else { rest_of(&plan.way, last) };
    let beyond =
        |time: f64| after_distance(last, rest, (time - end) * f64::from(view.agents.preferred_speed[row]));
    let place = |time: f64| plan.place(time).filter(|_| time <= end).unwrap_or_else(|| beyond(time));
    times.map(|time| (time, place(time))).collect()
}

/// What is left of a way from a place near it.
fn rest_of(way: &[DVec2], at: DVec2) -> &[DVec2] {
    let nearest =
        (0..way.len()).min_by(|&a, &b| way[a].distance_squared(at).total_cmp(&way[b].distance_squared(at)));
    &way[nearest.unwrap_or(0).min(way.len())..]
}
