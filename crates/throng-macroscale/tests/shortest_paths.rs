//! Shortest paths of every model that finds them, against brute force and in places where paths go wrong.

use crate::common::maps::{blocks, free, map, place, two_doors, walls};
use crate::common::oracle::route_clearance;
use crate::common::{Walker, block, length, obstacle, outline, planner, routes, row, world};
use glam::Vec2;
use proptest::prelude::*;
use std::time::Instant;
use throng_core::handover::Intents;
use throng_core::space::{Wall, Walls};
use throng_core::world::World;
use throng_macroscale::{MacroscaleModel, Navmesh, VisibilityGraph};

/// Walks where the model says until the goal. The length of the path, or where it ended.
fn walk<M: MacroscaleModel>(world: &mut World, walls: &[Wall], keep: f64, goal: Vec2) -> Result<f64, Vec2> {
    let (mut model, mut intents) = (planner::<M>(), Intents::default());
    intents.resize(1);
    world.set_dt(0.05);
    let mut walked = 0.0;
    for _ in 0..2_000 {
        let here = Vec2::new(world.agents.x[0], world.agents.y[0]);
        if here.distance(goal) < 0.05 {
            return Ok(walked);
        }
        model.run(world.view(), &mut intents);
        let there = here + Vec2::new(intents.vx[0], intents.vy[0]) * world.dt() as f32;
        if route_clearance(&[here, there], walls) < keep {
            return Err(there);
        }
        walked += f64::from(here.distance(there));
        (world.agents.x[0], world.agents.y[0]) = there.into();
    }
    Err(Vec2::new(world.agents.x[0], world.agents.y[0]))
}

fn velocity<M: MacroscaleModel>(world: &World, id: usize) -> Vec2 {
    let mut intents = Intents::default();
    intents.resize(world.agents.len());
    planner::<M>().run(world.view(), &mut intents);
    Vec2::new(intents.vx[row(world, id)], intents.vy[row(world, id)])
}

macro_rules! finds_paths {
    ($name:ident, $model:ty) => {
        mod $name {
            use super::*;

            type Model = $model;

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(300))]

                #[test]
                fn a_points_path_is_as_short_as_brute_force_finds_it(map in map(), from in place(), to in place()) {
                    prop_assume!(free(&map, from, 1e-3) && free(&map, to, 1e-3));
                    let world = world(walls(&map), &[Walker { from, to, radius: 1e-5 }]);
                    let best = map.shortest_of_point(from.as_dvec2(), to.as_dvec2());
                    let found = routes::<Model>(&world)[0].as_deref().map_or(f64::INFINITY, length);
                    prop_assert!((found - best).abs() < 1e-3, "{found} m instead of {best}");
                }
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(40))]

                #[test]
                fn a_bodys_path_is_clear_and_nearly_the_shortest(
                    map in map(), from in place(), to in place(), radius in 0.1..0.6f32,
                ) {
                    let wide = f64::from(radius);
                    prop_assume!(free(&map, from, 1.05 * wide) && free(&map, to, 1.05 * wide));
                    let walls = walls(&map);
                    let route = routes::<Model>(&world(walls.clone(), &[Walker { from, to, radius }])).remove(0);
                    let best = |radius: f64| map.shortest_of_disc(radius, from.as_dvec2(), to.as_dvec2());
                    let found = route.as_deref().map_or(f64::INFINITY, length);
                    if let Some(route) = &route {
                        prop_assert!(route_clearance(route, &walls) >= 0.99 * wide);
                    }
                    // Gaps that are wider than the body by less than a twenty-fifth may count as closed.
                    prop_assert!(found <= 1.02 * best(wide) || found <= 1.02 * best(1.025 * wide), "{found} m, best {}", best(wide));
                    prop_assert!(found >= 0.999 * best(0.99 * wide), "{found} m, best {}", best(wide));
                }

                #[test]
                fn an_agent_that_follows_the_velocity_walks_the_path(
                    map in map(), from in place(), to in place(), radius in 0.1..0.6f32,
                ) {
                    let room = 1.05 * f64::from(radius);
                    prop_assume!(free(&map, from, room) && free(&map, to, room));
                    let walls = walls(&map);
                    let mut world = world(walls.clone(), &[Walker { from, to, radius }]);
                    let Some(route) = routes::<Model>(&world).remove(0) else { return Ok(()) };
                    let walked = walk::<Model>(&mut world, &walls, 0.9 * f64::from(radius), to);
                    let planned = length(&route);
                    prop_assert!(walked.is_ok_and(|walked| walked <= 1.02 * planned + 0.2), "{walked:?} of {planned} m");
                }
            }

            #[test]
            fn each_radius_takes_the_door_that_it_fits_through() {
                let (from, to) = (Vec2::new(-5.0, -9.0), Vec2::new(5.0, -9.0));
                let radii = [0.3, 0.499, 0.55, 1.2];
                let walkers = radii.map(|radius| Walker { from, to, radius });
                let world = world(two_doors(), &walkers);
                let found = routes::<Model>(&world);
                for (id, &radius) in radii.iter().enumerate() {
                    let route = found[id].as_ref().unwrap();
                    let top = route.iter().any(|place| place.y > 5.0);
                    assert_eq!(top, radius > 0.5, "radius {radius}: {route:?}");
                }
            }

            #[test]
            fn an_agent_that_fits_through_no_door_stands_still() {
                let (from, to) = (Vec2::new(-5.0, -7.0), Vec2::new(5.0, -7.0));
                let world = world(two_doors(), &[Walker { from, to, radius: 1.6 }]);
                assert_eq!((routes::<Model>(&world).remove(0), velocity::<Model>(&world, 0)), (None, Vec2::ZERO));
            }

            #[test]
            fn many_radii_share_meshes_and_none_gets_stuck() {
                let (from, to) = (Vec2::new(-5.0, -5.0), Vec2::new(5.0, -5.0));
                let walkers: Vec<Walker> = (0..40).map(|i| Walker { from, to, radius: 0.2 + 0.02 * i as f32 }).collect();
                let world = world(two_doors(), &walkers);
                assert!(world.radius_classes.len() < 30, "{:?}", world.radius_classes);
                for (walker, route) in walkers.iter().zip(routes::<Model>(&world)) {
                    assert!(route_clearance(&route.unwrap(), &two_doors()) >= 0.99 * f64::from(walker.radius));
                }
            }

            #[test]
            fn a_goal_in_a_closed_room_is_not_walked_to() {
                let mut walls = outline(&block([4.0, 4.0], [6.0, 6.0]));
                walls.extend(obstacle(&block([3.5, 3.5], [6.5, 6.5])));
                let world = world(walls, &[Walker { from: Vec2::ZERO, to: Vec2::splat(5.0), radius: 0.2 }]);
                assert_eq!((routes::<Model>(&world).remove(0), velocity::<Model>(&world, 0)), (None, Vec2::ZERO));
            }

            #[test]
            fn an_open_wall_with_a_bend_is_rounded_at_its_end() {
                let open = |a: [f32; 2], b: [f32; 2]| Wall { a: a.into(), b: b.into(), two_sided: true };
                let walls = vec![open([0.0, -5.0], [0.0, 2.0]), open([0.0, 2.0], [-3.0, 5.0])];
                let walker = Walker { from: Vec2::new(-4.0, 0.0), to: Vec2::new(4.0, 0.0), radius: 1e-5 };
                let found = length(&routes::<Model>(&world(walls, &[walker])).remove(0).unwrap());
                let below = 2.0 * 41f64.sqrt();
                assert!((found - below).abs() < 1e-3, "{found} instead of {below}");
            }

            #[test]
            fn a_path_between_places_is_as_long_as_the_route_of_one_who_walks_it() {
                let (from, to) = (Vec2::new(-5.0, -9.0), Vec2::new(5.0, -7.0));
                let radii = [0.3, 0.55];
                let world = world(two_doors(), &radii.map(|radius| Walker { from, to, radius }));
                let model = planner::<Model>();
                for (id, radius) in radii.into_iter().enumerate() {
                    let route = model.route(world.view(), row(&world, id)).unwrap();
                    let path = model.path(world.view(), from, to, radius).unwrap();
                    assert_eq!((path[0], path[path.len() - 1]), (from, to));
                    assert!((length(&path) - length(&route)).abs() < 1e-3, "{path:?} beside {route:?}");
                }
                // Wider than every body that is there, and wider than both doors.
                assert!(model.path(world.view(), from, to, 0.7).is_some());
                assert_eq!(model.path(world.view(), from, to, 1.6), None);
            }

            #[test]
            fn what_an_agent_wants_is_what_a_step_would_write() {
                let (from, to) = (Vec2::new(-5.0, -7.0), Vec2::new(5.0, -7.0));
                let world = world(two_doors(), &[0.3, 0.55, 1.6].map(|radius| Walker { from, to, radius }));
                let mut model = planner::<Model>();
                let asked: Vec<_> = (0..3).map(|row| model.intent(world.view(), row)).collect();
                let mut intents = Intents::default();
                intents.resize(3);
                model.run(world.view(), &mut intents);
                for (row, intent) in asked.iter().enumerate() {
                    let written = (Vec2::new(intents.vx[row], intents.vy[row]), intents.aim[row]);
                    assert_eq!((intent.velocity, intent.aim), written);
                    assert_eq!(model.intent(world.view(), row), *intent);
                }
                assert_eq!(model.unreachable(), [2]);
            }

            #[test]
            fn another_map_gives_another_path() {
                let (from, to) = (Vec2::new(-5.0, -9.0), Vec2::new(5.0, -9.0));
                let mut world = world(two_doors(), &[Walker { from, to, radius: 0.3 }]);
                let model = planner::<Model>();
                let before = length(&model.route(world.view(), 0).unwrap());
                let mut walls = two_doors();
                walls.extend(obstacle(&block([-1.0, -9.9], [1.0, -8.5])));
                world.set_walls(Walls::new(walls, 2.0));
                let after = length(&model.route(world.view(), 0).unwrap());
                assert!(before < 11.0 && after > 30.0, "{before} m, then {after} m");
                world.set_walls(Walls::new(two_doors(), 2.0));
                assert_eq!(length(&model.route(world.view(), 0).unwrap()), before);
            }

            /// It stands nearer to both walls than its radius, and the goal is around the corner of the block.
            #[test]
            fn an_agent_that_is_pressed_into_a_corner_gets_out() {
                let mut walls = outline(&block([-10.0, -10.0], [10.0, 10.0]));
                walls.extend(obstacle(&block([-10.0, -2.0], [5.0, 2.0])));
                for from in [[-9.9, 2.1], [-9.95, 2.2], [-9.8, 2.02], [4.99, 2.05], [5.05, 2.05], [-10.0, 2.0]] {
                    let walker = Walker { from: from.into(), to: Vec2::new(-9.0, -5.0), radius: 0.4 };
                    let mut world = world(walls.clone(), &[walker]);
                    let walked = walk::<Model>(&mut world, &walls, 0.0, walker.to);
                    assert!(walked.is_ok(), "from {from:?}: stuck at {walked:?}");
                }
            }

            /// Two pieces in one line: it is nearer to one than its radius, and the other one was as far as it should be.
            #[test]
            fn a_wall_in_two_pieces_holds_nobody_who_is_pressed_against_it() {
                let mut walls = outline(&block([-10.0, -10.0], [10.0, 10.0]));
                let hall = [[-10.0, 0.0], [0.0, 0.0], [5.0, 0.0], [5.0, -2.0], [-10.0, -2.0]];
                walls.extend(obstacle(&hall.map(Vec2::from)));
                let walker = Walker { from: Vec2::new(-3.0, 0.3), to: Vec2::new(-9.0, -5.0), radius: 0.4 };
                let mut world = world(walls.clone(), &[walker]);
                assert!(walk::<Model>(&mut world, &walls, 0.0, walker.to).is_ok());
            }

            /// The nearest point of the area lies behind the block.
            #[test]
            fn an_area_is_entered_where_it_can_be() {
                let mut walls = outline(&block([-10.0, -10.0], [10.0, 10.0]));
                walls.extend(obstacle(&block([0.0, -10.0], [1.0, 6.0])));
                let from = Vec2::new(-5.0, 0.0);
                let mut world = world(walls.clone(), &[Walker { from, to: from, radius: 0.3 }]);
                world.cohorts[0].area = Some(block([1.0, -4.0], [4.0, 4.0]));
                let route = routes::<Model>(&world).remove(0).unwrap();
                // Around the block as a point would, and as one that keeps its radius away from it and ends inside the area.
                let (least, most) = (5f64.hypot(6.0) + 1.0 + 2.0, 5f64.hypot(6.3) + 1.6 + 2.6);
                assert!((least..most).contains(&length(&route)), "{route:?} is {} m", length(&route));
                assert!(route_clearance(&route, &walls) >= 0.99 * 0.3, "{route:?}");
                // It stops as soon as it is inside, which the walk takes for being stuck.
                let end = walk::<Model>(&mut world, &walls, 0.25, Vec2::MAX).unwrap_err();
                assert!(end.x > 1.3 - 0.02 && (3.5..=4.0).contains(&end.y), "ended at {end}");
            }

            #[test]
            fn a_new_area_of_a_cohort_is_seen() {
                let from = Vec2::new(-5.0, 0.0);
                let mut world = world(two_doors(), &[Walker { from, to: from, radius: 0.3 }]);
                let model = planner::<Model>();
                world.cohorts[0].area = Some(block([4.0, -9.0], [6.0, -7.0]));
                assert!(model.route(world.view(), 0).unwrap().last().unwrap().y < 0.0);
                world.cohorts[0].area = Some(block([4.0, 7.0], [6.0, 9.0]));
                assert!(model.route(world.view(), 0).unwrap().last().unwrap().y > 0.0);
            }
        }
    };
}

finds_paths!(navmesh, Navmesh);
finds_paths!(visibility_graph, VisibilityGraph);

/// Rooms of 4 m with a door of 1 m to each neighbour: pieces of wall around all crossings.
fn rooms(side: usize) -> Vec<Wall> {
    let crossing = |i: usize| {
        let (x, y) = ((i % side) as f32 * 4.0 + 1.0, (i / side) as f32 * 4.0 + 1.0);
        let (near, far) = (0.1, 1.5);
        let cross = [
            [near, near],
            [near, far],
            [-near, far],
            [-near, near],
            [-far, near],
            [-far, -near],
            [-near, -near],
            [-near, -far],
            [near, -far],
            [near, -near],
            [far, -near],
            [far, near],
        ];
        obstacle(&cross.map(|[dx, dy]| Vec2::new(x + dx, y + dy)))
    };
    (0..side * side).flat_map(crossing).collect()
}

/// Figures, not a promise: `cargo test --release -p throng-macroscale -- --ignored --nocapture`.
#[test]
#[ignore = "prints how long a graph, a tree and a query take"]
fn how_long_it_takes() {
    time::<VisibilityGraph>("visibility graph");
    time::<Navmesh>("navmesh");
}

fn time<M: MacroscaleModel>(model_name: &str) {
    type Maker = fn(usize) -> Vec<Wall>;
    for (name, make, side) in [
        ("blocks", blocks as Maker, 5),
        ("blocks", blocks, 11),
        ("blocks", blocks, 22),
        ("rooms", rooms, 4),
        ("rooms", rooms, 8),
    ] {
        let walls = make(side);
        let end = side as f32 * 4.0;
        let corners = walls.len();
        let walker = |i: usize| {
            let from = Vec2::new((i % side) as f32 * 4.0 - 1.0, end * i as f32 / 2_000.0);
            Walker { from, to: Vec2::splat(end - 1.0), radius: 0.25 }
        };
        let world = world(walls, &(0..2_000).map(walker).collect::<Vec<_>>());
        let (mut model, mut intents) = (planner::<M>(), Intents::default());
        intents.resize(world.agents.len());
        let mut step = || {
            let began = Instant::now();
            model.run(world.view(), &mut intents);
            began.elapsed()
        };
        let first = step();
        // The shortest of many: others may be at work on the machine.
        let query = (0..30).map(|_| step()).min().unwrap() / 2_000;
        let route = Instant::now();
        let lone = planner::<M>().route(world.view(), 0).map(|route| route.len());
        let route = route.elapsed();
        println!(
            "{model_name}: {name}, {corners} corners: {first:?} for the first step of 2,000, then {query:?} for each; \
             {route:?} for one walker alone ({lone:?} stops)"
        );
    }
}
