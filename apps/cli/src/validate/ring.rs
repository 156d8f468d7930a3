//! People who walk round and round in a ring: single file where it is narrow, a corridor without ends where it is wide.

use super::trial::Trials;
use crate::statistics::mean;
use glam::DVec2;
use std::f64::consts::TAU;
use throng::crowd::{Agent, AgentId, Crowd};
use throng::rng::{self, Purpose};

/// Sides of the polygons that stand for circles.
const SIDES: usize = 96;
/// Time until waves have formed or gone, s, and time that is measured, s.
const SETTLE: f64 = 30.0;
const MEASURED: f64 = 30.0;
/// Of every body, m.
pub const RADIUS: f64 = 0.2;

/// A ring.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    /// Along its middle, m.
    pub length: f64,
    /// m.
    pub width: f64,
    /// Mean and deviation, m/s.
    pub free_speed: [f64; 2],
}

impl Ring {
    /// Mean speed along the ring of some people, m/s.
    pub fn speed(&self, trials: &Trials, people: usize, seed: u64) -> anyhow::Result<f64> {
        let scenario = trials.scenario("recorded-corridor", seed, &[])?;
        let middle = self.length / TAU;
        let [inner, outer] = [middle - self.width / 2.0, middle + self.width / 2.0];
        let builder = Crowd::builder().dt(scenario.dt).seed(seed).threads(1).models(scenario.models());
        let mut crowd = builder.walkable(&circle(outer)).obstacle("middle", &circle(inner)).build()?;
        let mut walkers = Vec::new();
        for (index, place) in (0..).zip(self.places(people)) {
            let mut draws = rng::stream(seed, index, 0, Purpose::PreferredSpeed);
            let speed = draws.normal(self.free_speed[0], self.free_speed[1]).clamp(0.6, 2.1);
            let agent = Agent::at(place).goal(-place).radius(RADIUS).speed(speed);
            walkers.push((crowd.spawn(agent)?, speed));
        }
        let mut speeds = Vec::new();
        while crowd.time() < SETTLE + MEASURED {
            self.turn(&mut crowd, &walkers, middle)?;
            crowd.step();
            if crowd.time() > SETTLE {
                let forward = |agent: DVec2, velocity: DVec2| velocity.dot(agent.perp().normalize_or_zero());
                speeds.extend(crowd.agents().map(|agent| forward(agent.position(), agent.velocity())));
            }
        }
        Ok(mean(&speeds))
    }

    /// Everybody wants to go on along the ring, and back to its middle line in a metre or two.
    fn turn(&self, crowd: &mut Crowd, walkers: &[(AgentId, f64)], middle: f64) -> anyhow::Result<()> {
        for &(walker, speed) in walkers {
            let place = crowd.position(walker)?;
            let outward = place.normalize_or_zero();
            let free = (self.width / 2.0 - 1.5 * RADIUS).max(0.0);
            let off = place.length() - middle;
            let back = outward * (off.clamp(-free, free) - off);
            let way = (outward.perp() * 1.5 + back).normalize_or_zero();
            crowd.set_preferred_velocity(walker, Some(way * speed))?;
        }
        Ok(())
    }

    /// In rows across, evenly along.
    fn places(&self, people: usize) -> Vec<DVec2> {
        let room = (self.width * self.length / people as f64).sqrt();
        let across = ((self.width / room).round() as usize).max(1);
        let along = people.div_ceil(across);
        let place = |index: usize| {
            let (row, column) = (index % across, index / across);
            let free = self.width - 2.0 * RADIUS - 0.02;
            let off = if across == 1 { 0.0 } else { free * (row as f64 / (across - 1) as f64 - 0.5) };
            DVec2::from_angle(TAU * column as f64 / along as f64) * (self.length / TAU + off)
        };
        (0..people).map(place).collect()
    }
}

fn circle(radius: f64) -> Vec<DVec2> {
    (0..SIDES).map(|side| DVec2::from_angle(TAU * side as f64 / SIDES as f64) * radius).collect()
}
