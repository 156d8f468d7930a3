//! The dynamic navigation mesh: who looks ahead walks around crowds, now and later.

use crate::common::{Walker, block, length, obstacle, outline, row, world};
use glam::Vec2;
use throng_core::handover::Intents;
use throng_core::space::{Wall, Walls};
use throng_core::world::World;
use throng_macroscale::Meanwhile;
use throng_macroscale::{DynamicNavmesh, Macroscale, MacroscaleModel, Navmesh};

/// A hall of 40 m × 30 m with a wall across that has two doors of 4 m, at y = 5 and at y = 19.
fn hall() -> Vec<Wall> {
    let mut walls = outline(&block([0.0, 0.0], [40.0, 30.0]));
    for (low, high) in [(-1.0, 3.0), (7.0, 17.0), (21.0, 31.0)] {
        walls.extend(obstacle(&block([19.5, low], [20.5, high])));
    }
    walls
}

fn walker(from: [f32; 2], to: [f32; 2]) -> Walker {
    Walker { from: from.into(), to: to.into(), radius: 0.25 }
}

fn planner(density_weight: f32) -> Box<dyn Macroscale> {
    let params = DynamicNavmesh { density_weight, ..DynamicNavmesh::default() };
    DynamicNavmesh::planner(params, vec![params])
}

/// Where a way goes through the wall.
fn door(route: &[Vec2]) -> f32 {
    let pair = route.windows(2).find(|pair| (pair[0].x - 20.0) * (pair[1].x - 20.0) <= 0.0).unwrap();
    pair[0].lerp(pair[1], (20.0 - pair[0].x) / (pair[1].x - pair[0].x)).y
}

fn step(world: &World, planner: &mut dyn Macroscale) -> Intents {
    let mut intents = Intents::default();
    intents.resize(world.agents.len());
    planner.run(world.view(), &mut intents);
    intents
}

#[test]
fn without_a_crowd_ways_are_nearly_the_shortest() {
    let world = world(hall(), &[walker([5.0, 11.0], [35.0, 9.0]), walker([5.0, 28.0], [35.0, 28.0])]);
    for id in 0..2 {
        let ours = planner(4.0).route(world.view(), row(&world, id)).unwrap();
        let best = crate::common::planner::<Navmesh>().route(world.view(), row(&world, id)).unwrap();
        assert!(length(&ours) <= 1.03 * length(&best) && length(&ours) >= length(&best) - 1e-3);
        assert!((door(&ours) - door(&best)).abs() < 4.0);
    }
}

#[test]
fn a_crowd_in_the_door_is_walked_around_by_those_who_mind() {
    let mut walkers = vec![walker([5.0, 9.0], [35.0, 9.0])];
    // Sixteen who stand in the near door and want nowhere else.
    walkers.extend((0..16).map(|i| {
        let at = [18.5 + (i % 4) as f32 * 0.8, 3.6 + (i / 4) as f32 * 0.8];
        walker(at, at)
    }));
    let world = world(hall(), &walkers);
    let through = |weight| door(&planner(weight).route(world.view(), row(&world, 0)).unwrap());
    assert!((3.0..=7.0).contains(&through(0.0)));
    assert!((17.0..=21.0).contains(&through(4.0)), "{}", through(4.0));
}

#[test]
fn a_crowd_that_will_be_in_the_door_is_seen_before_it_is_there() {
    // Forty come from the other side, as far from the near door and filling all of it, and no agent is in it now.
    let mut walkers = vec![walker([5.0, 9.0], [35.0, 9.0])];
    walkers.extend((0..40).map(|i| {
        let (dx, dy) = ((i % 8) as f32 * 0.7, (i / 8) as f32 * 1.6);
        walker([32.0 + dx, 2.0 + dy], [2.0 + dx, 2.0 + dy])
    }));
    let world = world(hall(), &walkers);
    // Before any agent has published, the near door is free.
    let first = planner(8.0).route(world.view(), row(&world, 0)).unwrap();
    assert!((3.0..=7.0).contains(&door(&first)), "{}", door(&first));
    let mut published = planner(0.0);
    step(&world, published.as_mut());
    let mut knowing = planner(8.0);
    let memory = knowing.memory_mut().unwrap();
    memory.load(&published.memory().unwrap().save()).unwrap();
    memory.forget(world.agents.slot[row(&world, 0)]);
    let then = knowing.route(world.view(), row(&world, 0)).unwrap();
    assert!((17.0..=21.0).contains(&door(&then)), "{}", door(&then));
}

#[test]
fn routes_are_followed_and_changed_with_the_map() {
    let mut world = world(hall(), &[walker([5.0, 5.0], [35.0, 5.0])]);
    let mut model = planner(4.0);
    let intents = step(&world, model.as_mut());
    assert!(intents.vx[0] > 0.9 && intents.vy[0].abs() < 0.2 && model.unreachable().is_empty());
    // The near door is shut: the way leads to the other one, and with that shut too, nowhere.
    let mut walls = hall();
    walls.extend(obstacle(&block([19.0, 2.0], [21.0, 8.0])));
    world.set_walls(Walls::new(walls.clone(), 2.0));
    world.sort_rows();
    let intents = step(&world, model.as_mut());
    assert!(intents.vy[0] > 0.3 && model.unreachable().is_empty());
    walls.extend(obstacle(&block([19.0, 16.0], [21.0, 22.0])));
    world.set_walls(Walls::new(walls, 2.0));
    world.sort_rows();
    let intents = step(&world, model.as_mut());
    assert_eq!((intents.vx[0], intents.vy[0], model.unreachable()), (0.0, 0.0, &[0][..]));
    assert_eq!(planner(4.0).route(world.view(), 0), None);
}

/// Forty who want through the wall, a budget that is spent as soon as some have looked, and what those do who have no route yet.
fn forty(meanwhile: Meanwhile) -> (World, Box<dyn Macroscale>) {
    let walkers: Vec<Walker> = (0..40)
        .map(|i| {
            let (x, y) = ((i % 8) as f32 * 1.5, (i / 8) as f32 * 4.0);
            walker([2.0 + x, 5.0 + y], [25.0 + x, 5.0 + y])
        })
        .collect();
    let params = DynamicNavmesh { budget: 1, meanwhile, ..DynamicNavmesh::default() };
    (world(hall(), &walkers), DynamicNavmesh::planner(params, vec![params]))
}

/// How many walk after a step.
fn walking(world: &mut World, planner: &mut dyn Macroscale) -> usize {
    let intents = step(world, planner);
    world.step += 1;
    intents.vx.iter().zip(&intents.vy).filter(|&(&vx, &vy)| vx.hypot(vy) > 0.9).count()
}

#[test]
fn a_budget_spreads_searches_over_steps_and_leaves_nobody_out() {
    for meanwhile in [Meanwhile::Wait, Meanwhile::Coarse] {
        let (mut world, mut model) = forty(meanwhile);
        let walking: Vec<usize> = (0..4).map(|_| walking(&mut world, model.as_mut())).collect();
        assert!(walking[0] > 0 && walking[0] < 40 && walking.is_sorted() && walking[3] == 40, "{walking:?}");
        let routes: Vec<_> = (0..40).map(|id| model.route(world.view(), row(&world, id))).collect();
        let mut unlimited = planner(4.0);
        assert_eq!(self::walking(&mut world, unlimited.as_mut()), 40);
        if meanwhile == Meanwhile::Wait {
            // All have looked before any has published anything.
            let unlimited: Vec<_> =
                (0..40).map(|id| unlimited.route(world.view(), row(&world, id))).collect();
            assert_eq!(routes[..16], unlimited[..16]);
        }
    }
}

#[test]
fn on_another_map_those_walk_on_who_have_not_looked_yet() {
    let (mut world, mut model) = forty(Meanwhile::Wait);
    assert!((0..4).any(|_| walking(&mut world, model.as_mut()) == 40));
    let mut walls = hall();
    walls.extend(obstacle(&block([19.0, 2.0], [21.0, 8.0])));
    world.set_walls(Walls::new(walls, 2.0));
    world.sort_rows();
    for _ in 0..4 {
        assert_eq!(walking(&mut world, model.as_mut()), 40);
    }
    // By now all know of the door that is shut.
    let knows = |id| door(&model.route(world.view(), row(&world, id)).unwrap()) > 17.0;
    assert!((0..40).all(knows));
}

#[test]
fn what_is_remembered_is_all_that_counts() {
    let (mut world, mut model) = forty(Meanwhile::Coarse);
    let mut resumed = forty(Meanwhile::Coarse).1;
    for _ in 0..60 {
        resumed.memory_mut().unwrap().load(&model.memory().unwrap().save()).unwrap();
        let expected = step(&world, model.as_mut());
        let mut fresh = forty(Meanwhile::Coarse).1;
        fresh.memory_mut().unwrap().load(&resumed.memory().unwrap().save()).unwrap();
        for planner in [&mut resumed, &mut fresh] {
            let intents = step(&world, planner.as_mut());
            assert_eq!((&intents.vx, &intents.vy), (&expected.vx, &expected.vy));
            assert_eq!(planner.memory().unwrap().state_hash(), model.memory().unwrap().state_hash());
        }
        for row in 0..world.agents.len() {
            world.agents.x[row] += 0.1 * expected.vx[row];
            world.agents.y[row] += 0.1 * expected.vy[row];
        }
        world.step += 1;
        world.sort_rows();
    }
}
