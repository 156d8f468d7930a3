//! Groups and adapted velocities against slow and plain answers.

use super::cluster::{Clustering, NONE, Relation};
use super::{Groups, Perception, choice};
use crate::Mesoscale;
use glam::{DVec2, Vec2};
use proptest::prelude::*;
use std::collections::BTreeSet;
use throng_core::geom::{Cone, at_most};
use throng_core::handover::Intents;
use throng_core::space::{Wall, Walls};
use throng_core::world::{Agent, Cohort, Detour, Status, World};

const RADIUS: f32 = 0.25;

fn agent(id: u32, position: Vec2, velocity: Vec2) -> Agent {
    Agent {
        id,
        x: position.x,
        y: position.y,
        vx: velocity.x,
        vy: velocity.y,
        goal_x: 1000.0,
        goal_y: 0.0,
        radius: RADIUS,
        preferred_speed: 1.3,
        max_speed: 2.0,
        responsibility: 0.5,
        start: 0.0,
        arrival: -1.0,
        walked: 0.0,
        frustration: 0.0,
        detour: Detour::default(),
        cohort: 0,
        status: Status::Walking,
    }
}

fn world(all: &[(Vec2, Vec2)]) -> World {
    let mut world = World::new(DVec2::ZERO, 0.1);
    world.cohorts.push(Cohort { goal_radius: 0.3, ..Cohort::default() });
    for (id, &(position, velocity)) in all.iter().enumerate() {
        world.agents.push(agent(id as u32, position, velocity));
    }
    (world.fastest, world.widest, world.furthest_look) = (2.0, RADIUS, 5.0);
    world.settle();
    world
}

fn crowd(most: usize) -> impl Strategy<Value = Vec<(Vec2, Vec2)>> {
    // A few headings, so that there are groups at all.
    let heading =
        prop_oneof![3 => (0u8..3).prop_map(|h| Vec2::from_angle(f32::from(h) * 2.1)), 1 => Just(Vec2::ZERO)];
    let noise = (-0.4f32..0.4, -0.4f32..0.4).prop_map(|(x, y)| Vec2::new(x, y));
    let place = (-15.0f32..15.0, -15.0f32..15.0).prop_map(|(x, y)| Vec2::new(x, y));
    let one = (place, heading, noise).prop_map(|(place, heading, noise)| (place, heading + noise));
    proptest::collection::vec(one, 1..most)
}

type Partition = BTreeSet<BTreeSet<u32>>;

/// The transitive closure by its definition: join whatever two are related, until nothing changes. Ids are indices.
fn closure(all: &[(Vec2, Vec2)], among: &[u32], relation: Relation) -> Partition {
    let related = |a: u32, b: u32| {
        let ((at, moves), (other, its)) = (all[a as usize], all[b as usize]);
        at.distance_squared(other) < relation.distance * relation.distance
            && moves.distance_squared(its) < relation.velocity * relation.velocity
    };
    let mut groups: Vec<BTreeSet<u32>> = among.iter().map(|&one| BTreeSet::from([one])).collect();
    loop {
        let touch =
            |a: &BTreeSet<u32>, b: &BTreeSet<u32>| a.iter().any(|&a| b.iter().any(|&b| related(a, b)));
        let pair = (0..groups.len())
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .find(|&(a, b)| touch(&groups[a], &groups[b]));
        let Some((a, b)) = pair else { break };
        let joined = groups.remove(a);
        groups[b].extend(joined);
    }
    groups.into_iter().filter(|group| group.len() > 1).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn clusters_are_the_transitive_closure(all in crowd(120), distance in 0.5f32..4.0, velocity in 0.1f32..2.0) {
        let (world, relation) = (world(&all), Relation { distance, velocity });
        let mut clustering = Clustering::new(relation);
        clustering.run(world.view());
        let id = |row: &u32| world.agents.id[*row as usize];
        let found: Partition =
            clustering.groups.iter().map(|group| clustering.members_of(group).iter().map(id).collect()).collect();
        let everybody: Vec<u32> = (0..all.len() as u32).collect();
        prop_assert_eq!(found, closure(&all, &everybody, relation));
        let grouped = clustering.group_of.iter().filter(|&&group| group != NONE).count();
        prop_assert_eq!(grouped, clustering.members.len());
    }

    /// What an agent perceives is the closure among those in its distance, without those it walks with.
    #[test]
    fn an_agent_perceives_the_closure_of_its_neighbourhood(
        all in crowd(80), who in 0usize..80, neighbor_distance in 2.0f32..20.0, member_distance in 0.5f32..4.0,
    ) {
        let who = (who % all.len()) as u32;
        let params = Groups { neighbor_distance, member_distance, max_groups: 64, ..Groups::default() };
        let world = world(&all);
        let row = world.agents.id.iter().position(|&id| id == who).unwrap();
        let mut perception = Perception::new(vec![params]);
        let told = perception.explain(world.view(), &Intents::default(), row);
        let found: Partition = told.into_iter().map(|group| group.members.into_iter().collect()).collect();
        let everybody: Vec<u32> = (0..all.len() as u32).collect();
        let own = closure(&all, &everybody, params.relation()).into_iter().find(|group| group.contains(&who));
        let own = own.unwrap_or_default();
        let near = |&other: &u32| {
            let distance = all[other as usize].0.distance_squared(all[who as usize].0);
            other != who && !own.contains(&other) && distance < neighbor_distance * neighbor_distance
        };
        let near: Vec<u32> = everybody.into_iter().filter(near).collect();
        prop_assert_eq!(found, closure(&all, &near, params.relation()));
    }

    /// The cone of a group is what its members' cones cover together, and what lies between them.
    #[test]
    fn a_cone_covers_its_members_and_no_more(all in proptest::collection::vec((1.0f32..4.0, -1.2f32..1.2), 2..40)) {
        let velocity = Vec2::new(0.3, -0.2);
        let mut places: Vec<(Vec2, Vec2)> =
            all.iter().map(|&(distance, angle)| (Vec2::from_angle(angle) * distance, velocity)).collect();
        places.push((Vec2::ZERO, Vec2::new(-1.3, 0.0)));
        let world = world(&places);
        let row = world.agents.id.iter().position(|&id| id as usize == all.len()).unwrap();
        let params = Groups { member_distance: 50.0, ..Groups::default() };
        let told = Perception::new(vec![params]).explain(world.view(), &Intents::default(), row);
        prop_assert_eq!(told.len(), 1);
        prop_assert_eq!(told[0].members.len(), all.len());
        let edges = all.iter().map(|&(distance, angle)| {
            let half = (2.0 * RADIUS / distance).min(1.0).asin();
            (angle - half, angle + half)
        });
        let (right, left) = edges.fold((f32::MAX, f32::MIN), |(low, high), (right, left)| (low.min(right), high.max(left)));
        prop_assume!(left - right < 3.1);
        let cone = told[0].cone.unwrap();
        prop_assert!(cone.apex.distance(velocity) < 1e-5);
        prop_assert!(cone.left.distance(Vec2::from_angle(left)) < 1e-3, "{:?} and {left}", cone);
        prop_assert!(cone.right.distance(Vec2::from_angle(right)) < 1e-3, "{:?} and {right}", cone);
    }

    /// No sample of the velocity disc that is free is closer to the preferred velocity, and the answer is free.
    #[test]
    fn the_adapted_velocity_is_the_closest_free_one(
        cones in proptest::collection::vec((-1.5f32..1.5, -1.5f32..1.5, 0.0f32..6.3, 0.05f32..1.5), 1..6),
        x in -1.5f32..1.5, y in -1.5f32..1.5,
    ) {
        const MAX_SPEED: f32 = 2.0;
        let cones: Vec<Cone> = cones.into_iter().map(|(x, y, towards, half)| Cone {
            apex: Vec2::new(x, y),
            left: Vec2::from_angle(towards + half),
            right: Vec2::from_angle(towards - half),
        }).collect();
        let preferred = at_most(Vec2::new(x, y), MAX_SPEED);
        prop_assume!(preferred.length() > 0.1);
        let is_free = |velocity: Vec2, slack: f32| cones.iter().all(|cone| !cone.forbids(velocity, slack));
        let samples = (0..200 * 200).map(|i| {
            let at = Vec2::new((i % 200) as f32 + 0.5, (i / 200) as f32 + 0.5);
            (at / 100.0 - 1.0) * MAX_SPEED
        });
        let free = samples.filter(|sample| sample.length() <= MAX_SPEED && is_free(*sample, 0.0));
        let Some(least) = free.map(|sample| sample.distance(preferred)).min_by(f32::total_cmp) else {
            return Ok(());
        };
        let sides = choice::adapted(&cones, preferred, MAX_SPEED, false);
        let best = sides.into_iter().flatten().min_by(|a, b| a.distance(preferred).total_cmp(&b.distance(preferred)));
        let best = best.expect("there is something free");
        prop_assert!(is_free(best, 2e-3), "{best} is forbidden");
        prop_assert!(best.distance(preferred) <= least * 1.01 + 1e-4, "{} where {least} is possible", best.distance(preferred));
    }
}

/// What becomes of a preferred velocity when groups are perceived.
fn adapted(world: &World, who: u32, preferred: Vec2) -> Vec2 {
    let mut intents = Intents::default();
    intents.resize(world.agents.len());
    let row = world.agents.id.iter().position(|&id| id == who).unwrap();
    (intents.vx[row], intents.vy[row]) = preferred.into();
    Perception::new(vec![Groups::default()]).run(world.view(), &mut intents);
    Vec2::new(intents.vx[row], intents.vy[row])
}

/// A block of people, a metre apart.
fn block(center: Vec2, columns: i32, lines: i32, velocity: Vec2) -> Vec<(Vec2, Vec2)> {
    let place = |i: i32| {
        let at = Vec2::new((i % columns) as f32, (i / columns) as f32);
        center + at - 0.5 * Vec2::new((columns - 1) as f32, (lines - 1) as f32)
    };
    (0..columns * lines).map(|i| (place(i), velocity)).collect()
}

const AHEAD: Vec2 = Vec2::new(1.3, 0.0);

fn with_walker(mut others: Vec<(Vec2, Vec2)>) -> (World, u32) {
    others.push((Vec2::ZERO, AHEAD));
    (world(&others), others.len() as u32 - 1)
}

#[test]
fn a_group_in_the_way_is_passed_on_one_side() {
    let (world, who) = with_walker(block(Vec2::new(8.0, 0.0), 3, 3, -AHEAD));
    let velocity = adapted(&world, who, AHEAD);
    assert!(velocity.y.abs() > 0.2 && velocity.x > 0.5, "{velocity}");
}

#[test]
fn a_single_one_is_left_to_the_microscale() {
    let (world, who) = with_walker(vec![(Vec2::new(8.0, 0.0), -AHEAD)]);
    assert_eq!(adapted(&world, who, AHEAD), AHEAD);
}

#[test]
fn among_its_members_a_group_is_left_to_the_microscale() {
    // Around the walker, with a gap of its size in the middle.
    let others =
        block(Vec2::ZERO, 5, 5, Vec2::ZERO).into_iter().filter(|(at, _)| at.length() > 0.5).collect();
    let (world, who) = with_walker(others);
    assert_eq!(adapted(&world, who, AHEAD), AHEAD);
}

#[test]
fn a_group_that_moves_along_is_followed_and_a_slow_one_is_passed() {
    let (along, who) = with_walker(block(Vec2::new(5.0, 0.0), 3, 3, AHEAD));
    assert_eq!(adapted(&along, who, AHEAD), AHEAD);
    let (slow, who) = with_walker(block(Vec2::new(5.0, 0.0), 3, 3, 0.3 * AHEAD));
    assert!(adapted(&slow, who, AHEAD).y.abs() > 0.1);
}

#[test]
fn a_goal_before_or_within_a_group_is_walked_to() {
    for (goal, straight) in [(2.0, true), (7.0, true), (8.4, true), (20.0, false)] {
        let (mut world, who) = with_walker(block(Vec2::new(8.0, 0.0), 4, 4, Vec2::ZERO));
        let row = world.agents.id.iter().position(|&id| id == who).unwrap();
        (world.agents.goal_x[row], world.agents.goal_y[row]) = (goal, 0.0);
        assert_eq!(adapted(&world, who, AHEAD) == AHEAD, straight, "goal at {goal} m");
    }
}

#[test]
fn when_everything_is_covered_the_furthest_give_way() {
    let half = std::f32::consts::FRAC_PI_2;
    let towards = |angle: f32| Cone {
        apex: -Vec2::from_angle(angle),
        left: Vec2::from_angle(angle + half),
        right: Vec2::from_angle(angle - half),
    };
    // Three half-planes that leave nothing; the first two leave something within the disc.
    let cones = [towards(0.0), towards(2.1), towards(-2.1)];
    let [left, right] = choice::adapted(&cones, Vec2::X, 2.5, false);
    let best = left.or(right).unwrap();
    assert!(cones[..2].iter().all(|cone| !cone.forbids(best, 1e-3)), "{best}");
}

#[test]
fn those_behind_a_wall_are_no_group_and_no_wall_is_walked_into() {
    let (mut world, who) = with_walker(block(Vec2::new(4.0, 0.0), 3, 3, Vec2::ZERO));
    let wall = |a: (f32, f32), b: (f32, f32)| Wall { a: a.into(), b: b.into(), two_sided: true };
    world.set_walls(Walls::new(vec![wall((2.0, -9.0), (2.0, 9.0))], 15.0));
    assert_eq!(adapted(&world, who, AHEAD), AHEAD, "hidden");
    // A wall along the right side: the left one is taken.
    world.set_walls(Walls::new(vec![wall((-1.0, -0.6), (9.0, -0.6))], 15.0));
    let velocity = adapted(&world, who, AHEAD);
    assert!(velocity.y > 0.1, "{velocity}");
    world.set_walls(Walls::new(vec![wall((-1.0, -0.6), (9.0, -0.6)), wall((-1.0, 0.6), (9.0, 0.6))], 15.0));
    assert_eq!(adapted(&world, who, AHEAD), AHEAD, "neither side");
}

#[test]
fn a_side_is_kept_unless_the_other_is_far_better() {
    let side_of = |offset: f32, remembered: f32| {
        let (mut world, who) = with_walker(block(Vec2::new(8.0, offset), 3, 3, -AHEAD));
        let row = world.agents.id.iter().position(|&id| id == who).unwrap();
        world.agents.detour[row].side = remembered;
        adapted(&world, who, AHEAD).y.signum()
    };
    assert_eq!(side_of(0.2, 0.0), -1.0, "the shorter one");
    assert_eq!(side_of(0.2, 1.0), 1.0, "the one it is on");
    assert_eq!(side_of(1.4, 1.0), -1.0, "far better");
    assert_eq!(side_of(0.0, 0.0), -1.0, "to the right where both are as good");
}
