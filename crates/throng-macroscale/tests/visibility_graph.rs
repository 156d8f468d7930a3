//! Shortest ways, against brute force and in places where ways go wrong.

mod common;

use common::oracle::{Map, route_clearance};
use common::{Walker, block, length, obstacle, outline, routes, row, world};
use glam::{DVec2, IVec2, Vec2};
use proptest::prelude::*;
use std::time::Instant;
use throng_core::handover::Intents;
use throng_core::space::{Wall, Walls};
use throng_core::world::{Jam, World};
use throng_macroscale::{Macroscale, VisibilityGraph};

/// What stands in one of the squares of a random map.
#[derive(Clone, Debug)]
enum Piece {
    Nothing,
    /// A star of this many points: convex or not, as its radii come.
    Star(Vec<f64>, f64),
    OpenWall(f64, f64),
}

/// Squares of 4 m, and nothing nearer than 0.3 m to a square's edge.
const SQUARE: f64 = 4.0;
const SIDE: usize = 3;

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        1 => Just(Piece::Nothing),
        4 => (prop::collection::vec(0.3..1.7f64, 3..7), 0.0..6.0f64).prop_map(|(r, turn)| Piece::Star(r, turn)),
        1 => (0.3..1.7f64, 0.0..6.0f64).prop_map(|(half, turn)| Piece::OpenWall(half, turn)),
    ]
}

fn map() -> impl Strategy<Value = Map> {
    (prop::collection::vec(piece(), SIDE * SIDE), 0.5..3.0f64).prop_map(|(pieces, notch)| {
        let mut map = Map { outline: hall(notch), ..Map::default() };
        for (index, piece) in pieces.iter().enumerate() {
            let middle = DVec2::new((index % SIDE) as f64 + 0.5, (index / SIDE) as f64 + 0.5) * SQUARE;
            match piece {
                Piece::Nothing => {}
                Piece::Star(radii, turn) => map.solid.push(star(middle, radii, *turn)),
                Piece::OpenWall(half, turn) => {
                    let offset = DVec2::from_angle(*turn) * *half;
                    map.open.push([rounded(middle - offset), rounded(middle + offset)]);
                }
            }
        }
        map
    })
}

/// A hall around all squares, with a bay at the top where the outline has corners that stick out.
fn hall(notch: f64) -> Vec<DVec2> {
    let (low, high) = (-1.0, SQUARE * SIDE as f64 + 1.0);
    let ring = [(low, low), (high, low), (high, high), (9.0, high + notch), (8.0, high), (low, high)];
    ring.map(|(x, y)| rounded(DVec2::new(x, y))).to_vec()
}

fn star(middle: DVec2, radii: &[f64], turn: f64) -> Vec<DVec2> {
    let step = std::f64::consts::TAU / radii.len() as f64;
    let corner = |(i, &radius): (usize, &f64)| middle + DVec2::from_angle(turn + step * i as f64) * radius;
    radii.iter().enumerate().map(corner).map(rounded).collect()
}

/// As the model's walls hold it.
fn rounded(place: DVec2) -> DVec2 {
    place.as_vec2().as_dvec2()
}

fn walls(map: &Map) -> Vec<Wall> {
    let narrow = |ring: &[DVec2]| ring.iter().map(|place| place.as_vec2()).collect::<Vec<Vec2>>();
    let mut walls = outline(&narrow(&map.outline));
    walls.extend(map.solid.iter().flat_map(|ring| obstacle(&narrow(ring))));
    walls.extend(map.open.iter().map(|[a, b]| Wall { a: a.as_vec2(), b: b.as_vec2(), two_sided: true }));
    walls
}

fn place() -> impl Strategy<Value = Vec2> {
    let range = -0.9f32..SQUARE as f32 * SIDE as f32 + 0.9;
    (range.clone(), range).prop_map(|(x, y)| Vec2::new(x, y))
}

fn free(map: &Map, place: Vec2, room: f64) -> bool {
    map.is_free(place.as_dvec2()) && map.clearance(place.as_dvec2()) > room
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_points_way_is_as_short_as_brute_force_finds_it(map in map(), from in place(), to in place()) {
        prop_assume!(free(&map, from, 1e-3) && free(&map, to, 1e-3));
        let world = world(walls(&map), &[Walker { from, to, radius: 1e-5 }]);
        let best = map.shortest_of_point(from.as_dvec2(), to.as_dvec2());
        let found = routes::<VisibilityGraph>(&world)[0].as_deref().map_or(f64::INFINITY, length);
        prop_assert!((found - best).abs() < 1e-3, "{found} m instead of {best}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_bodys_way_is_clear_and_nearly_the_shortest(
        map in map(), from in place(), to in place(), radius in 0.1..0.6f32,
    ) {
        let wide = f64::from(radius);
        prop_assume!(free(&map, from, 1.05 * wide) && free(&map, to, 1.05 * wide));
        let walls = walls(&map);
        let route = routes::<VisibilityGraph>(&world(walls.clone(), &[Walker { from, to, radius }])).remove(0);
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
    fn whoever_follows_the_velocity_walks_the_way(
        map in map(), from in place(), to in place(), radius in 0.1..0.6f32,
    ) {
        let room = 1.05 * f64::from(radius);
        prop_assume!(free(&map, from, room) && free(&map, to, room));
        let walls = walls(&map);
        let mut world = world(walls.clone(), &[Walker { from, to, radius }]);
        let Some(route) = routes::<VisibilityGraph>(&world).remove(0) else { return Ok(()) };
        let walked = walk(&mut world, &walls, 0.9 * f64::from(radius), to);
        let planned = length(&route);
        prop_assert!(walked.is_ok_and(|walked| walked <= 1.02 * planned + 0.2), "{walked:?} of {planned} m");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Alone somebody gets a narrow tree, in company a whole one; what is remembered of the way so far is another one.
    #[test]
    fn an_answer_does_not_depend_on_the_tree_that_gives_it(
        map in map(), from in place(), to in place(), radius in 0.05..0.5f32, push in place(),
    ) {
        let walker = Walker { from, to, radius };
        let mut alone = world(walls(&map), &[walker]);
        let mut company = world(walls(&map), &[walker; 6]);
        let (mut narrow, mut whole) = (VisibilityGraph::default(), VisibilityGraph::default());
        for step in 0..60 {
            let row = row(&company, 0);
            let here = Vec2::new(alone.agents.x[0], alone.agents.y[0]);
            (company.agents.x[row], company.agents.y[row]) = here.into();
            let answer = look(&mut narrow, &alone)[0];
            prop_assert_eq!(answer, look(&mut whole, &company)[row], "at {}", here);
            prop_assert_eq!(answer, look(&mut VisibilityGraph::remembering(0), &alone)[0], "at {}", here);
            let aside = if step % 7 == 0 { (push - from) * 0.03 } else { Vec2::ZERO };
            (alone.agents.x[0], alone.agents.y[0]) = (here + answer * 0.3 + aside).into();
        }
    }
}

/// What a model says to all rows.
fn look(model: &mut VisibilityGraph, world: &World) -> Vec<Vec2> {
    let mut intents = Intents::default();
    intents.resize(world.agents.len());
    model.run(world.view(), &mut intents);
    intents.vx.iter().zip(&intents.vy).map(|(&vx, &vy)| Vec2::new(vx, vy)).collect()
}

/// Walks where the model says until the goal. The length of the way, or where it ended.
fn walk(world: &mut World, walls: &[Wall], keep: f64, goal: Vec2) -> Result<f64, Vec2> {
    let (mut model, mut intents) = (VisibilityGraph::default(), Intents::default());
    intents.resize(1);
    world.dt = 0.05;
    let mut walked = 0.0;
    for _ in 0..2_000 {
        let here = Vec2::new(world.agents.x[0], world.agents.y[0]);
        if here.distance(goal) < 0.05 {
            return Ok(walked);
        }
        model.run(world.view(), &mut intents);
        let there = here + Vec2::new(intents.vx[0], intents.vy[0]) * world.dt as f32;
        if route_clearance(&[here, there], walls) < keep {
            return Err(there);
        }
        walked += f64::from(here.distance(there));
        (world.agents.x[0], world.agents.y[0]) = there.into();
    }
    Err(Vec2::new(world.agents.x[0], world.agents.y[0]))
}

fn velocity(world: &World, id: usize) -> Vec2 {
    let mut intents = Intents::default();
    intents.resize(world.agents.len());
    VisibilityGraph::default().run(world.view(), &mut intents);
    Vec2::new(intents.vx[row(world, id)], intents.vy[row(world, id)])
}

/// A wall from bottom to top of a hall with a door of 1 m at the bottom and one of 3 m at the top.
fn two_doors() -> Vec<Wall> {
    let mut walls = outline(&block([-10.0, -10.0], [10.0, 10.0]));
    walls.extend(obstacle(&block([-0.2, -9.0], [0.2, 7.0])));
    walls
}

#[test]
fn each_radius_takes_the_door_that_it_fits_through() {
    let (from, to) = (Vec2::new(-5.0, -9.0), Vec2::new(5.0, -9.0));
    let radii = [0.3, 0.499, 0.55, 1.2];
    let walkers = radii.map(|radius| Walker { from, to, radius });
    let world = world(two_doors(), &walkers);
    let found = routes::<VisibilityGraph>(&world);
    for (id, &radius) in radii.iter().enumerate() {
        let route = found[id].as_ref().unwrap();
        let top = route.iter().any(|place| place.y > 5.0);
        assert_eq!(top, radius > 0.5, "radius {radius}: {route:?}");
    }
}

#[test]
fn whoever_fits_through_no_door_stands_still() {
    let (from, to) = (Vec2::new(-5.0, -7.0), Vec2::new(5.0, -7.0));
    let world = world(two_doors(), &[Walker { from, to, radius: 1.6 }]);
    assert_eq!((routes::<VisibilityGraph>(&world).remove(0), velocity(&world, 0)), (None, Vec2::ZERO));
}

#[test]
fn many_radii_share_graphs_and_none_gets_stuck() {
    let (from, to) = (Vec2::new(-5.0, -5.0), Vec2::new(5.0, -5.0));
    let walkers: Vec<Walker> = (0..40).map(|i| Walker { from, to, radius: 0.2 + 0.02 * i as f32 }).collect();
    let world = world(two_doors(), &walkers);
    assert!(world.radius_classes.len() < 30, "{:?}", world.radius_classes);
    for (walker, route) in walkers.iter().zip(routes::<VisibilityGraph>(&world)) {
        assert!(route_clearance(&route.unwrap(), &two_doors()) >= 0.99 * f64::from(walker.radius));
    }
}

#[test]
fn a_goal_in_a_closed_room_is_not_walked_to() {
    let mut walls = outline(&block([4.0, 4.0], [6.0, 6.0]));
    walls.extend(obstacle(&block([3.5, 3.5], [6.5, 6.5])));
    let world = world(walls, &[Walker { from: Vec2::ZERO, to: Vec2::splat(5.0), radius: 0.2 }]);
    assert_eq!((routes::<VisibilityGraph>(&world).remove(0), velocity(&world, 0)), (None, Vec2::ZERO));
}

#[test]
fn an_open_wall_with_a_bend_is_rounded_at_its_end() {
    let open = |a: [f32; 2], b: [f32; 2]| Wall { a: a.into(), b: b.into(), two_sided: true };
    let walls = vec![open([0.0, -5.0], [0.0, 2.0]), open([0.0, 2.0], [-3.0, 5.0])];
    let walker = Walker { from: Vec2::new(-4.0, 0.0), to: Vec2::new(4.0, 0.0), radius: 1e-5 };
    let found = length(&routes::<VisibilityGraph>(&world(walls, &[walker])).remove(0).unwrap());
    let below = 2.0 * 41f64.sqrt();
    assert!((found - below).abs() < 1e-3, "{found} instead of {below}");
}

#[test]
fn another_map_gives_another_way() {
    let (from, to) = (Vec2::new(-5.0, -9.0), Vec2::new(5.0, -9.0));
    let mut world = world(two_doors(), &[Walker { from, to, radius: 0.3 }]);
    let mut model = VisibilityGraph::default();
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
fn whoever_is_pressed_into_a_corner_gets_out() {
    let mut walls = outline(&block([-10.0, -10.0], [10.0, 10.0]));
    walls.extend(obstacle(&block([-10.0, -2.0], [5.0, 2.0])));
    for from in [[-9.9, 2.1], [-9.95, 2.2], [-9.8, 2.02], [4.99, 2.05], [5.05, 2.05], [-10.0, 2.0]] {
        let walker = Walker { from: from.into(), to: Vec2::new(-9.0, -5.0), radius: 0.4 };
        let mut world = world(walls.clone(), &[walker]);
        let walked = walk(&mut world, &walls, 0.0, walker.to);
        assert!(walked.is_ok(), "from {from:?}: stuck at {walked:?}");
    }
}

/// Between what ways keep away from walls and what counts as a tangent nobody had a way.
#[test]
fn whoever_is_a_hair_too_near_to_a_wall_has_a_way() {
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

/// Two pieces in one line: it is nearer to one than its radius, and the other one was as far as it should be.
#[test]
fn a_wall_in_two_pieces_holds_nobody_who_is_pressed_against_it() {
    let mut walls = outline(&block([-10.0, -10.0], [10.0, 10.0]));
    let hall = [[-10.0, 0.0], [0.0, 0.0], [5.0, 0.0], [5.0, -2.0], [-10.0, -2.0]];
    walls.extend(obstacle(&hall.map(Vec2::from)));
    let walker = Walker { from: Vec2::new(-3.0, 0.3), to: Vec2::new(-9.0, -5.0), radius: 0.4 };
    let mut world = world(walls.clone(), &[walker]);
    assert!(walk(&mut world, &walls, 0.0, walker.to).is_ok());
}

/// The nearest point of the area lies behind the block.
#[test]
fn an_area_is_entered_where_it_can_be() {
    let mut walls = outline(&block([-10.0, -10.0], [10.0, 10.0]));
    walls.extend(obstacle(&block([0.0, -10.0], [1.0, 6.0])));
    let from = Vec2::new(-5.0, 0.0);
    let mut world = world(walls.clone(), &[Walker { from, to: from, radius: 0.3 }]);
    world.cohorts[0].area = Some(block([1.0, -4.0], [4.0, 4.0]));
    let route = routes::<VisibilityGraph>(&world).remove(0).unwrap();
    // Around the block as a point would, and as one that keeps its radius away from it and ends inside the area.
    let (least, most) = (5f64.hypot(6.0) + 1.0 + 2.0, 5f64.hypot(6.3) + 1.6 + 2.6);
    assert!((least..most).contains(&length(&route)), "{route:?} is {} m", length(&route));
    assert!(route_clearance(&route, &walls) >= 0.99 * 0.3, "{route:?}");
    // It stops as soon as it is inside, which the walk takes for being stuck.
    let end = walk(&mut world, &walls, 0.25, Vec2::MAX).unwrap_err();
    assert!(end.x > 1.3 - 0.02 && (3.5..=4.0).contains(&end.y), "ended at {end}");
}

#[test]
fn a_new_area_of_a_cohort_is_seen() {
    let from = Vec2::new(-5.0, 0.0);
    let mut world = world(two_doors(), &[Walker { from, to: from, radius: 0.3 }]);
    let mut model = VisibilityGraph::default();
    world.cohorts[0].area = Some(block([4.0, -9.0], [6.0, -7.0]));
    assert!(model.route(world.view(), 0).unwrap().last().unwrap().y < 0.0);
    world.cohorts[0].area = Some(block([4.0, 7.0], [6.0, 9.0]));
    assert!(model.route(world.view(), 0).unwrap().last().unwrap().y > 0.0);
}

/// A field of blocks, none like the next, in which one sees far.
fn blocks(side: usize) -> Vec<Wall> {
    let block = |i: usize| {
        let (x, y) = ((i % side) as f32 * 4.0, (i / side) as f32 * 4.0);
        let skew = ((i * 7919) % 13) as f32 / 10.0;
        obstacle(&[[x, y + skew], [x + 2.0 - skew, y], [x + 2.0, y + 2.0], [x, y + 2.2]].map(Vec2::from))
    };
    (0..side * side).flat_map(block).collect()
}

/// A crowd in front of a field of blocks, everybody with a goal of its own behind it.
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
    let mut models = [0, 50_000, usize::MAX].map(VisibilityGraph::remembering);
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
    let mut model = VisibilityGraph::default();
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
fn whoever_has_no_way_is_named() {
    let mut walls = two_doors();
    walls.extend(obstacle(&block([3.0, 3.0], [6.0, 6.0])));
    walls.extend(outline(&block([4.0, 4.0], [5.0, 5.0])));
    let (from, inside, outside) = (Vec2::new(-5.0, 0.0), Vec2::splat(4.5), Vec2::new(8.0, 0.0));
    let goals = [outside, inside, outside, inside, from];
    let mut world = world(walls, &goals.map(|to| Walker { from, to, radius: 0.2 }));
    let mut model = VisibilityGraph::default();
    let mut stranded = |world: &World| {
        look(&mut model, world);
        let mut ids: Vec<u32> = model.stranded().iter().map(|&row| world.agents.id[row as usize]).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(stranded(&world), [1, 3]);
    // From what is remembered too.
    assert_eq!(stranded(&world), [1, 3]);
    world.set_walls(Walls::new(two_doors(), 2.0));
    assert!(stranded(&world).is_empty());
}

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
        let (mut model, mut intents) = (VisibilityGraph::default(), Intents::default());
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
        let lone = VisibilityGraph::default().route(world.view(), 0).map(|route| route.len());
        let route = route.elapsed();
        println!(
            "{name}, {corners} corners: {first:?} for the first step of 2,000, then {query:?} for each; \
             {route:?} for one walker alone ({lone:?} stops)"
        );
    }
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
