//! What is the visibility graph's own: what it remembers, whom it cannot help, and jams. Its ways are in `ways.rs`.

use crate::common::maps::{blocks, map, place, two_doors, walls};
use crate::common::{Walker, block, length, obstacle, outline, routes, row, world};
use glam::{IVec2, Vec2};
use proptest::prelude::*;
use std::time::Instant;
use throng_core::handover::Intents;
use throng_core::space::Walls;
use throng_core::world::{Jam, World};
use throng_macroscale::visibility_graph::VisibilityGraphPlanner;
use throng_macroscale::{Macroscale, VisibilityGraph};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Alone an agent gets a narrow tree, in company a whole one; what is remembered of the way so far is another one.
    #[test]
    fn an_answer_does_not_depend_on_the_tree_that_gives_it(
        map in map(), from in place(), to in place(), radius in 0.05..0.5f32, push in place(),
    ) {
        let walker = Walker { from, to, radius };
        let mut alone = world(walls(&map), &[walker]);
        let mut company = world(walls(&map), &[walker; 6]);
        let (mut narrow, mut whole) = (VisibilityGraphPlanner::default(), VisibilityGraphPlanner::default());
        for step in 0..60 {
            let row = row(&company, 0);
            let here = Vec2::new(alone.agents.x[0], alone.agents.y[0]);
            (company.agents.x[row], company.agents.y[row]) = here.into();
            let answer = look(&mut narrow, &alone)[0];
            prop_assert_eq!(answer, look(&mut whole, &company)[row], "at {}", here);
            prop_assert_eq!(answer, look(&mut VisibilityGraphPlanner::remembering(0), &alone)[0], "at {}", here);
            let aside = if step % 7 == 0 { (push - from) * 0.03 } else { Vec2::ZERO };
            (alone.agents.x[0], alone.agents.y[0]) = (here + answer * 0.3 + aside).into();
        }
    }
}

/// What a model says to all rows.
fn look(model: &mut VisibilityGraphPlanner, world: &World) -> Vec<Vec2> {
    let mut intents = Intents::default();
    intents.resize(world.agents.len());
    model.run(world.view(), &mut intents);
    intents.vx.iter().zip(&intents.vy).map(|(&vx, &vy)| Vec2::new(vx, vy)).collect()
}

/// Between what ways keep away from walls and what counts as a tangent no agent had a way.
#[test]
fn an_agent_that_is_a_hair_too_near_to_a_wall_has_a_way() {
    let mut walls = outline(&block([-10.0, -10.0], [10.0, 10.0]));
    walls.extend(obstacle(&block([0.0, -10.0], [1.0, 5.0])));
    let radius = 0.3;
    for share in (0..40).map(|i| 0.985 + 0.0005 * i as f32) {
        let beside = Vec2::new(-share * radius, -3.0);
        let (there, back) = (Walker { from: beside, to: Vec2::new(5.0, -3.0), radius }, Vec2::new(5.0, -3.0));
        let back = Walker { from: back, to: beside, radius };
        for (way, route) in
            ["there", "back"].iter().zip(routes::<VisibilityGraph>(&world(walls.clone(), &[there, back])))
        {
            let found = route.as_deref().map_or(f64::INFINITY, length);
            assert!((18.0..19.5).contains(&found), "{share} radii away, {way}: {found} m");
        }
    }
}

/// A crowd in front of a field of blocks, every agent with a goal of its own behind it.
fn goals_of_their_own(side: usize, walkers: usize) -> World {
    let across = side as f32 * 4.0 + 4.0;
    let walker = |i: usize| {
        let from = Vec2::new(-3.0 - 1.4 * (i % 15) as f32, 1.4 * (i / 15) as f32);
        Walker { from, to: Vec2::new(across + 1.4 * (i % 15) as f32, across - from.y), radius: 0.25 }
    };
    world(blocks(side), &(0..walkers).map(walker).collect::<Vec<_>>())
}

fn walk_on(world: &mut World, velocities: &[Vec2]) {
    for (row, velocity) in velocities.iter().enumerate() {
        world.agents.x[row] += 0.2 * velocity.x;
        world.agents.y[row] += 0.2 * velocity.y;
    }
}

#[test]
fn ways_that_are_not_remembered_are_the_same() {
    let mut world = goals_of_their_own(6, 60);
    let mut models = [0, 50_000, usize::MAX].map(VisibilityGraphPlanner::remembering);
    for step in 0..40 {
        let [nothing, little, everything] = models.each_mut().map(|model| look(model, &world));
        assert_eq!(nothing, everything, "step {step}");
        assert_eq!(little, everything, "step {step}");
        walk_on(&mut world, &everything);
    }
}

/// It was forgotten in every step that more than 300 had goals of their own here, and all ways were worked out anew.
#[test]
fn many_goals_do_not_make_every_step_as_slow_as_the_first() {
    let mut world = goals_of_their_own(22, 400);
    let mut model = VisibilityGraphPlanner::default();
    let mut step = || {
        let began = Instant::now();
        let velocities = look(&mut model, &world);
        let took = began.elapsed();
        walk_on(&mut world, &velocities);
        took
    };
    let first = step();
    let later = (0..5).map(|_| step()).min().unwrap();
    assert!(later < first / 8, "{first:?}, then {later:?}");
}

#[test]
fn an_agent_that_has_no_way_is_named() {
    let mut walls = two_doors();
    walls.extend(obstacle(&block([3.0, 3.0], [6.0, 6.0])));
    walls.extend(outline(&block([4.0, 4.0], [5.0, 5.0])));
    let (from, inside, outside) = (Vec2::new(-5.0, 0.0), Vec2::splat(4.5), Vec2::new(8.0, 0.0));
    let goals = [outside, inside, outside, inside, from];
    let mut world = world(walls, &goals.map(|to| Walker { from, to, radius: 0.2 }));
    let mut model = VisibilityGraphPlanner::default();
    let mut unreachable = |world: &World| {
        look(&mut model, world);
        model.unreachable().to_vec()
    };
    assert_eq!(unreachable(&world), [1, 3]);
    // From what is remembered too.
    assert_eq!(unreachable(&world), [1, 3]);
    world.set_walls(Walls::new(two_doors(), 2.0));
    assert!(unreachable(&world).is_empty());
}

#[test]
fn a_jam_between_two_corners_sends_the_way_around_the_other_side() {
    let walker = Walker { from: Vec2::new(-10.0, 1.0), to: Vec2::new(50.0, 1.0), radius: 0.3 };
    let mut world = world(obstacle(&block([0.0, -5.0], [40.0, 5.0])), &[walker]);
    let goes_north =
        |world: &World| routes::<VisibilityGraph>(world)[0].as_ref().unwrap().iter().any(|stop| stop.y > 5.0);
    assert!(goes_north(&world));
    // Along the northern side, far from both corners: neither the first nor the last part of the way.
    let jam = |version, hold: f32| {
        Jam::new(version, 5.0, (2..6).map(|x| (IVec2::new(x, 1), Vec2::new(hold, 0.0))).collect())
    };
    world.jam = jam(1, 9.0);
    assert!(!goes_north(&world));
    // Those who come the other way are held up, and not who walks along.
    world.jam = jam(2, -9.0);
    assert!(goes_north(&world));
}
