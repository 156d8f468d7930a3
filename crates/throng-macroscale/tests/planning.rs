//! Planning spread over steps: a budget is kept, everyone is served, the same bits come of it, and nobody is lost meanwhile.

use crate::common::maps::blocks;
use crate::common::{Walker, block, length, obstacle, row, world};
use glam::Vec2;
use throng_core::handover::Intents;
use throng_core::space::{Wall, Walls};
use throng_core::world::{Status, World};
use throng_macroscale::{Macroscale, MacroscaleModel, Meanwhile, Navmesh};

const SIDE: usize = 8;

/// Walkers through blocks, the first of them with goals of their own, the others with one of two.
fn crossing(own: usize, sharing: usize) -> World {
    let far = SIDE as f32 * 4.0 + 1.0;
    let walker = |i: usize| {
        let along = -1.0 + (far + 2.0) * (i as f32 + 0.5) / (own + sharing) as f32;
        let shared = if i.is_multiple_of(2) { Vec2::new(far, 3.0) } else { Vec2::new(far, 20.0) };
        let to = if i < own { Vec2::new(far, far - along) } else { shared };
        Walker { from: Vec2::new(-1.5, along), to, radius: 0.2 }
    };
    world(blocks(SIDE), &(0..own + sharing).map(walker).collect::<Vec<_>>())
}

fn planner(params: Navmesh) -> Box<dyn Macroscale> {
    Navmesh::planner(params, vec![])
}

fn with(budget: usize) -> Navmesh {
    Navmesh { budget, ..Navmesh::default() }
}

fn run(model: &mut dyn Macroscale, world: &World) -> Intents {
    let mut intents = Intents::default();
    intents.resize(world.agents.len());
    model.run(world.view(), &mut intents);
    intents
}

/// A step in which all go where they want to.
fn step(model: &mut dyn Macroscale, world: &mut World) -> Intents {
    let intents = run(model, world);
    for row in 0..world.agents.len() {
        world.agents.x[row] += intents.vx[row] * world.dt() as f32;
        world.agents.y[row] += intents.vy[row] * world.dt() as f32;
    }
    intents
}

fn hash(model: &dyn Macroscale) -> u64 {
    model.memory().map_or(0, |memory| memory.state_hash())
}

fn with_block(low: [f32; 2], high: [f32; 2]) -> Walls {
    let walls: Vec<Wall> = blocks(SIDE).into_iter().chain(obstacle(&block(low, high))).collect();
    Walls::new(walls, 2.0)
}

#[test]
fn an_own_route_is_as_long_as_a_trees() {
    let alone = crossing(60, 0);
    let mut model = planner(with(0));
    run(&mut *model, &alone);
    for id in 0..60 {
        let row = row(&alone, id);
        let own = length(&model.route(alone.view(), row).unwrap());
        let mut shared = crossing(60, 0);
        let (x, y) = (alone.agents.goal_x[row], alone.agents.goal_y[row]);
        (shared.agents.goal_x, shared.agents.goal_y) = (vec![x; 60], vec![y; 60]);
        let mut trees = planner(with(0));
        run(&mut *trees, &shared);
        let tree = length(&trees.route(shared.view(), row).unwrap());
        assert!((own - tree).abs() < 1e-3, "{own} m, by a tree {tree}");
    }
}

#[test]
fn only_agents_with_goals_of_their_own_remember_routes() {
    let (mut alone, mut sharing) = (planner(with(0)), planner(with(0)));
    run(&mut *alone, &crossing(20, 0));
    run(&mut *sharing, &crossing(0, 20));
    assert!(alone.memory().is_some() && sharing.memory().is_none());
}

#[test]
fn those_who_follow_their_routes_walk_the_shortest_ways() {
    let mut world = crossing(30, 0);
    let mut model = planner(with(0));
    run(&mut *model, &world);
    let begin: Vec<(Vec2, f64)> = (0..30)
        .map(|row| {
            let route = model.route(world.view(), row).unwrap();
            (Vec2::new(world.agents.goal_x[row], world.agents.goal_y[row]), length(&route))
        })
        .collect();
    let mut walked = [0.0; 30];
    for _ in 0..700 {
        let intents = step(&mut *model, &mut world);
        for (row, walked) in walked.iter_mut().enumerate() {
            *walked += f64::from(Vec2::new(intents.vx[row], intents.vy[row]).length()) * world.dt();
        }
    }
    for (row, (goal, length)) in begin.into_iter().enumerate() {
        assert!(world.view().position(row).distance(goal) < 0.01, "agent {row} has not come to {goal}");
        assert!((walked[row] - length).abs() < 0.01 * length, "{} m walked of {length}", walked[row]);
    }
}

#[test]
fn one_that_is_pushed_away_gets_another_route_and_one_that_is_pushed_a_little_does_not() {
    let mut world = crossing(1, 0);
    let mut model = planner(with(0));
    run(&mut *model, &world);
    let before = hash(&*model);
    world.agents.y[0] += 0.05;
    run(&mut *model, &world);
    assert_eq!(hash(&*model), before);
    world.agents.y[0] -= 12.0;
    run(&mut *model, &world);
    assert_ne!(hash(&*model), before);
    let route = length(&model.route(world.view(), 0).unwrap());
    let mut fresh = planner(with(0));
    run(&mut *fresh, &world);
    assert_eq!(length(&fresh.route(world.view(), 0).unwrap()), route);
}

/// The steps after which all want what they want without a budget, as long as nobody moves.
fn steps_until_all_are_served(model: &mut dyn Macroscale, world: &World) -> usize {
    let all = run(&mut *planner(with(0)), world);
    let served = |_: &usize| run(model, world).aim == all.aim;
    (1..20_000).find(served).expect("nobody waits for ever")
}

#[test]
fn everyone_is_served_in_the_end_and_a_small_budget_takes_longer() {
    let world = crossing(60, 60);
    let steps = [20usize, 200, 2_000, 100_000_000]
        .map(|budget| steps_until_all_are_served(&mut *planner(with(budget)), &world));
    assert!(steps[0] > 4 * steps[1] && steps[1] > 4 * steps[2] && steps[3] == 1, "{steps:?}");
}

/// What is planned takes the same in all, however little of it is done in a step: so no step takes more than its budget, but
/// for what the next ones pay back.
#[test]
fn no_step_takes_more_than_its_budget() {
    for (own, sharing) in [(0, 120), (120, 0), (60, 60)] {
        let world = crossing(own, sharing);
        let needed = |budget: usize| budget * steps_until_all_are_served(&mut *planner(with(budget)), &world);
        let (fine, coarse) = (needed(50), needed(500));
        assert!(fine.abs_diff(coarse) <= 4 * 500, "{fine} and {coarse} expansions");
    }
}

#[test]
fn agents_without_paths_walk_straight_or_wait() {
    let mut world = crossing(60, 0);
    for (meanwhile, walks) in [(Meanwhile::Coarse, true), (Meanwhile::Wait, false)] {
        let mut model = planner(Navmesh { meanwhile, ..with(1) });
        let intents = run(&mut *model, &world);
        let unserved = (0..60).filter(|&row| {
            let goal = Vec2::new(world.agents.goal_x[row], world.agents.goal_y[row]);
            match walks {
                true => intents.aim[row] == goal,
                false => (intents.vx[row], intents.vy[row]) == (0.0, 0.0),
            }
        });
        assert!(unserved.count() >= 40);
        assert_eq!(model.unreachable(), []);
    }
    world.agents.status[0] = Status::Waiting;
    let intents = run(&mut *planner(with(1)), &world);
    assert_eq!((intents.vx[0], intents.vy[0]), (0.0, 0.0), "its time has not come");
}

/// After a change of the map agents go on to where they were heading, as long as that is in sight.
#[test]
fn a_change_of_the_map_leaves_agents_on_their_way() {
    let mut world = crossing(40, 40);
    let mut model = planner(Navmesh { meanwhile: Meanwhile::Wait, ..with(1_000_000) });
    let before = run(&mut *model, &world);
    // Out of everyone's way.
    world.set_walls(with_block([60.0, 60.0], [61.0, 61.0]));
    let mut kept = planner(Navmesh { meanwhile: Meanwhile::Wait, ..with(1) });
    kept.memory_mut().unwrap().load(&model.memory().unwrap().save()).unwrap();
    let after = run(&mut *kept, &world);
    assert_eq!((before.vx, before.vy), (after.vx, after.vy));
    assert_eq!(kept.unreachable(), []);
}

fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon_core::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Steps with an edit and other goals in the middle. Where `resumed`, everything but what is remembered is lost every few steps.
fn hashes(params: Navmesh, resumed: bool) -> Vec<u64> {
    let mut world = crossing(50, 50);
    let mut model = planner(params);
    let mut hashes = Vec::new();
    for number in 0..120 {
        match number {
            30 => world.set_walls(with_block([10.0, 4.2], [14.0, 5.0])),
            60 => {
                let slot = world.agents.slot[3];
                (world.agents.goal_x[3], world.agents.goal_y[3]) = (3.0, -1.5);
                model.memory_mut().unwrap().note(slot, throng_core::memory::Change::Retargeted);
            }
            90 => world.set_walls(Walls::new(blocks(SIDE), 2.0)),
            _ => {}
        }
        if resumed && number % 7 == 3 {
            let saved = model.memory().map(|memory| memory.save());
            model = planner(params);
            saved.iter().for_each(|bytes| model.memory_mut().unwrap().load(bytes).unwrap());
        }
        let intents = step(&mut *model, &mut world);
        let bits = |column: &[f32]| {
            column
                .iter()
                .fold(0u64, |hash, value| hash.wrapping_mul(31).wrapping_add(u64::from(value.to_bits())))
        };
        hashes.push(hash(&*model) ^ bits(&intents.vx) ^ bits(&intents.vy).rotate_left(7));
    }
    hashes
}

#[test]
fn the_same_bits_on_all_threads_and_after_every_resume() {
    for budget in [0, 7, 300, 5_000] {
        let one = on_threads(1, || hashes(with(budget), false));
        assert_eq!(on_threads(2, || hashes(with(budget), false)), one, "budget {budget}, 2 threads");
        assert_eq!(on_threads(8, || hashes(with(budget), false)), one, "budget {budget}, 8 threads");
        assert_eq!(on_threads(2, || hashes(with(budget), true)), one, "budget {budget}, resumed");
    }
}

#[test]
fn a_deadline_serves_someone_in_every_step() {
    let world = crossing(30, 30);
    let mut model = planner(Navmesh { deadline: 0.001, ..with(0) });
    assert!(!model.is_reproducible() && planner(with(5)).is_reproducible());
    steps_until_all_are_served(&mut *model, &world);
}
