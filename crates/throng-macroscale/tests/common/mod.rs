//! Worlds that hold nothing but walls and walkers.

#![allow(dead_code, reason = "every test file uses a part of it")]

pub mod area;
pub mod maps;
pub mod oracle;
pub mod peer;

use glam::{DVec2, Vec2};
use throng_core::space::{Wall, Walls};
use throng_core::world::{Agent, Cohort, Status, WIDEST_CLASS, World, radius_classes};
use throng_macroscale::{Macroscale, MacroscaleModel};

/// An agent that walks from one place to another.
#[derive(Clone, Copy, Debug)]
pub struct Walker {
    pub from: Vec2,
    pub to: Vec2,
    pub radius: f32,
}

/// A world with walls and walkers; a walker's id is its place in the list.
pub fn world(walls: Vec<Wall>, walkers: &[Walker]) -> World {
    let mut world = World::new(DVec2::ZERO, 0.1);
    world.cohorts.push(Cohort { goal_radius: 0.1, ..Cohort::default() });
    for (id, walker) in walkers.iter().enumerate() {
        world.agents.push(Agent {
            id: id as u32,
            slot: id as u32,
            x: walker.from.x,
            y: walker.from.y,
            vx: 0.0,
            vy: 0.0,
            goal_x: walker.to.x,
            goal_y: walker.to.y,
            radius: walker.radius,
            preferred_speed: 1.0,
            max_speed: 2.0,
            responsibility: 0.5,
            start: 0.0,
            arrival: -1.0,
            walked: 0.0,
            cohort: 0,
            destination: 0,
            status: Status::Walking,
        });
    }
    world.radius_classes = radius_classes(&world.agents.radius, WIDEST_CLASS);
    world.set_walls(Walls::new(walls, 2.0));
    world.sort_rows();
    world
}

/// The row of an id.
pub fn row(world: &World, id: usize) -> usize {
    world.agents.id.iter().position(|&other| other == id as u32).unwrap()
}

/// A planner with the parameters as they are where they are not set.
pub fn planner<M: MacroscaleModel>() -> Box<dyn Macroscale> {
    M::planner(M::default(), vec![M::default()])
}

/// The ways of all walkers, by id.
pub fn routes<M: MacroscaleModel>(world: &World) -> Vec<Option<Vec<Vec2>>> {
    let model = planner::<M>();
    (0..world.agents.len()).map(|id| model.route(world.view(), row(world, id))).collect()
}

/// How long a way is, m.
pub fn length(route: &[Vec2]) -> f64 {
    route.windows(2).map(|pair| pair[0].as_dvec2().distance(pair[1].as_dvec2())).sum()
}

/// The walls of a ring with free space outside of it, whichever way it winds.
pub fn obstacle(ring: &[Vec2]) -> Vec<Wall> {
    ring_walls(ring, false)
}

/// The walls of a ring with free space inside of it, whichever way it winds.
pub fn outline(ring: &[Vec2]) -> Vec<Wall> {
    ring_walls(ring, true)
}

fn ring_walls(ring: &[Vec2], free_inside: bool) -> Vec<Wall> {
    let edges = || (0..ring.len()).map(|index| (ring[index], ring[(index + 1) % ring.len()]));
    let area: f32 = edges().map(|(a, b)| a.perp_dot(b)).sum();
    let forward = (area > 0.0) == free_inside;
    let wall = |(a, b)| if forward { (a, b) } else { (b, a) };
    edges().map(wall).map(|(a, b)| Wall { a, b, two_sided: false }).collect()
}

/// A rectangle between two corners.
pub fn block(low: [f32; 2], high: [f32; 2]) -> Vec<Vec2> {
    vec![low.into(), Vec2::new(high[0], low[1]), high.into(), Vec2::new(low[0], high[1])]
}
