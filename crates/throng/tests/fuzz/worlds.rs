//! Random states of the world itself, past every check of a scenario file: what a caller of the core crates can do.

use super::checks::Verdict;
use super::draws::Draws;
use glam::{DVec2, Vec2};
use throng_core::handover::{Commands, Intents, Moves};
use throng_core::params::Params;
use throng_core::space::{Wall, Walls};
use throng_core::world::{Agent, Cohort, Mover, Status, World};
use throng_macroscale::straight::StraightPlanner;
use throng_macroscale::visibility_graph::VisibilityGraphPlanner;
use throng_macroscale::{Macroscale, MacroscaleModel, MapField};
use throng_microscale::{
    Headway, HeldUp, Hrvo, Hybrid, LocalModels, Microscale, Orca, Rvo, Staged, Unaware, Vo,
};
use throng_motion::{AccelerationLimited, Bodies, Contact, Holonomic, Motion};

/// Numbers of every size that the engine promises to stand: up to 1e6 m and 1e6 m/s.
fn number(draws: &mut Draws<'_>) -> f32 {
    let sign = draws.pick(&[1.0, -1.0]);
    let size = match draws.below(8) {
        0 => 0.0,
        1 => draws.pick(&[1e-38, f64::from(f32::MIN_POSITIVE) / 8.0, 1e-20, 1.0, 1e6]),
        2 => draws.magnitude(1e-9, 1e6),
        _ => draws.uniform(0.0, 10.0),
    };
    (sign * size) as f32
}

fn vector(draws: &mut Draws<'_>) -> Vec2 {
    Vec2::new(number(draws), number(draws))
}

/// And how much it is held up.
fn agent(draws: &mut Draws<'_>, id: u32, cohorts: usize) -> (Agent, HeldUp) {
    let max_speed = number(draws).abs();
    let velocity = vector(draws);
    let (position, goal) = (vector(draws), vector(draws));
    // A caller may set any velocity; the speed that a body has is at most its highest.
    let velocity = if draws.chance(0.9) { velocity.clamp_length_max(max_speed) } else { velocity };
    let agent = Agent {
        id,
        slot: id,
        x: position.x,
        y: position.y,
        vx: velocity.x,
        vy: velocity.y,
        goal_x: goal.x,
        goal_y: goal.y,
        radius: number(draws).abs().max(1e-6),
        preferred_speed: number(draws).abs().min(max_speed),
        max_speed,
        responsibility: draws.pick(&[0.0, 0.25, 0.5, 1.0, 1e-30]),
        start: 0.0,
        arrival: -1.0,
        walked: 0.0,
        cohort: draws.below(cohorts) as u16,
        destination: 0,
        status: draws.pick(&[Status::Walking, Status::Walking, Status::Waiting, Status::Arrived]),
    };
    let held_up = HeldUp { waited: draws.uniform(0.0, 1.0) as f32, opposed: draws.uniform(-0.5, 1.0) as f32 };
    (agent, held_up)
}

/// A world, and how much its agents are held up.
fn world(draws: &mut Draws<'_>) -> (World, Vec<HeldUp>) {
    let dt = draws.pick(&[1e-6, 1e-3, 0.05, 0.1, 0.1, 1.0, 60.0]);
    let mut world = World::new(DVec2::ZERO, dt);
    let ring = || Some(vec![Vec2::ZERO, Vec2::X, Vec2::ONE]);
    for area in [None, ring(), Some(Vec::new())] {
        world.cohorts.push(Cohort {
            leaves: draws.chance(0.3),
            together: draws.chance(0.3),
            goal_radius: 0.3,
            area,
            arrive: None,
        });
    }
    let mut held_up = Vec::new();
    for id in 0..draws.below(25) as u32 {
        let (mut agent, frustration) = agent(draws, id, 3);
        held_up.push(frustration);
        if id > 0 && draws.chance(0.2) {
            let other = world.agents.row(draws.below(id as usize));
            (agent.x, agent.y) = (other.x, other.y);
        }
        world.agents.push(agent);
    }
    for _ in 0..draws.pick(&[0, 0, 1, 3, 20]) {
        let path = vec![(0.0, vector(draws)), (draws.pick(&[1e-9, 0.1, 2.0]), vector(draws))];
        world.add_mover(Mover { radius: number(draws).abs(), path, carries: false, driven: false });
    }
    world.furthest_look = draws.pick(&[0.1, 2.5, 500.0]);
    world.fastest = world.agents.max_speed.iter().copied().fold(0.0, f32::max);
    world.widest = world.agents.radius.iter().copied().fold(0.0, f32::max);
    let walls = (0..draws.pick(&[0, 0, 1, 4, 30]))
        .map(|_| Wall { a: vector(draws), b: vector(draws), two_sided: draws.chance(0.5) })
        .collect();
    world.set_walls(Walls::new(walls, world.fastest * (2.0 * dt as f32).max(1.0) + world.widest));
    world.sort_rows();
    (world, held_up)
}

/// Any value within a parameter's limits.
fn params<P: Params>(draws: &mut Draws<'_>) -> P {
    use throng_core::params::{Kind, Value};
    let mut params = P::default();
    for field in P::fields() {
        if draws.chance(0.7) {
            continue;
        }
        let (low, high) = (field.limit.low, field.limit.high.min(1e6));
        let value = match field.kind {
            Kind::Choice(names) => Value::Word(draws.pick(names).into()),
            Kind::Flag => Value::Flag(draws.chance(0.5)),
            Kind::Whole => Value::Number(draws.pick(&[low, high, 1.0f64.max(low)])),
            Kind::Real | Kind::Drawn => {
                Value::Number(draws.magnitude(low.max(1e-6), high.max(1e-6)).clamp(low, high))
            }
        };
        let _ = params.set(field.name, value);
    }
    params
}

fn local(draws: &mut Draws<'_>) -> Box<dyn Microscale> {
    let headway: Headway = params(draws);
    match draws.below(6) {
        0 => params::<Vo>(draws).stage(headway),
        1 => params::<Rvo>(draws).stage(headway),
        2 => params::<Hrvo>(draws).stage(headway),
        3 => params::<Orca>(draws).stage(headway),
        4 => params::<Hybrid>(draws).stage(headway),
        _ => params::<Unaware>(draws).stage(headway),
    }
}

/// One case: a few steps of a random world. Everything that comes out is finite.
pub fn case(draws: &mut Draws<'_>) -> Verdict {
    let (mut world, held_up) = world(draws);
    let mut local = LocalModels::new(vec![(local(draws), None)], false);
    (0u32..).zip(held_up).for_each(|(slot, frustration)| *local.memory.get_mut(slot) = frustration);
    let motion: Box<dyn Motion> = if draws.chance(0.5) {
        Box::new(params::<Holonomic>(draws))
    } else {
        Box::new(params::<AccelerationLimited>(draws))
    };
    let mut bodies = Bodies::new(motion, params::<Contact>(draws));
    let mut ways = VisibilityGraphPlanner::default();
    // To map random walls takes a hundred times as long as the rest of a case.
    let mapped = draws.chance(0.1);
    let mut field = MapField::planner(params(draws), world.cohorts.iter().map(|_| params(draws)).collect());
    let (mut intents, mut commands, mut moves) = (Intents::default(), Commands::default(), Moves::default());
    for step in 0..3 {
        let agents = world.agents.len();
        intents.resize(agents);
        commands.resize(agents);
        moves.resize(agents);
        ways.run(world.view(), &mut intents);
        if let Some(row) = (0..agents).find(|&row| !(intents.vx[row] + intents.vy[row]).is_finite()) {
            return Err(format!("in step {step}: no way for {:?}", world.agents.row(row)));
        }
        if mapped {
            field.run(world.view(), &mut intents);
            if let Some(row) = (0..agents).find(|&row| !(intents.vx[row] + intents.vy[row]).is_finite()) {
                return Err(format!(
                    "in step {step}: nowhere on the map field for {:?}",
                    world.agents.row(row)
                ));
            }
        }
        StraightPlanner.run(world.view(), &mut intents);
        local.run(world.view(), &intents, &mut commands);
        bodies.run(world.view(), &intents, &commands, &mut moves);
        let held_up: Vec<f32> = world
            .agents
            .slot
            .iter()
            .map(|&slot| {
                let held_up = local.memory.get(slot);
                held_up.waited + held_up.opposed
            })
            .collect();
        let columns = [&commands.vx, &commands.vy, &held_up, &moves.x, &moves.y, &moves.vx, &moves.vy];
        for (name, column) in ["vx", "vy", "held up", "x", "y", "moved vx", "moved vy"].iter().zip(columns) {
            if let Some(row) = column.iter().position(|value| !value.is_finite()) {
                return Err(format!(
                    "in step {step}: {name} is {} for {:?}",
                    column[row],
                    world.agents.row(row)
                ));
            }
        }
        world.commit(&moves);
    }
    Ok(())
}
