//! Groups and adapted velocities against slow and plain answers.

use super::cluster::Relation;
use super::cluster::{Clustering, NONE};
use super::sight::{CLOSE, MANY};
use super::{Detour, Groups, Own, Perception, choice};
use crate::{Mesoscale, PerceivedGroup};
use glam::{DVec2, Vec2};
use proptest::prelude::*;
use std::collections::BTreeSet;
use throng_core::geom::{Cone, at_most};
use throng_core::handover::Intents;
use throng_core::params::Draw;
use throng_core::space::{Wall, Walls};
use throng_core::world::{Agent, Cohort, Status, World};

const RADIUS: f32 = 0.25;

fn agent(id: u32, position: Vec2, velocity: Vec2) -> Agent {
    Agent {
        id,
        slot: id,
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
        // Long on its way: an agent that has just set off goes with those around it.
        start: -60.0,
        arrival: -1.0,
        walked: 0.0,
        cohort: 0,
        destination: 0,
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
    world.sort_rows();
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

fn wall(a: (f32, f32), b: (f32, f32)) -> Wall {
    Wall { a: a.into(), b: b.into(), two_sided: true }
}

/// None, a few, or so many that the index is asked.
fn walls() -> impl Strategy<Value = Vec<Wall>> {
    let place = || (-15.0f32..15.0, -15.0f32..15.0);
    let one =
        (place(), (-4.0f32..4.0, -4.0f32..4.0)).prop_map(|(a, way)| wall(a, (a.0 + way.0, a.1 + way.1)));
    prop_oneof![Just(0usize), Just(5), Just(70)]
        .prop_flat_map(move |count| proptest::collection::vec(one.clone(), count))
}

type Partition = BTreeSet<BTreeSet<u32>>;

/// Everything the paper's definitions speak of. Ids are indices.
struct Oracle<'a> {
    all: &'a [(Vec2, Vec2)],
    walls: &'a [Wall],
    own: Own,
    /// What others of the cohort may have drawn.
    widest: Relation,
}

impl<'a> Oracle<'a> {
    fn sees(&self, a: Vec2, b: Vec2) -> bool {
        !self.walls.iter().any(|wall| wall.blocks(a, b))
    }

    fn of(all: &'a [(Vec2, Vec2)], walls: &'a [Wall], own: Own, params: Groups) -> Oracle<'a> {
        Oracle { all, walls, own, widest: params.widest() }
    }

    fn related(&self, a: u32, b: u32, relation: Relation) -> bool {
        let ((at, moves), (other, its)) = (self.all[a as usize], self.all[b as usize]);
        at.distance_squared(other) < relation.distance.powi(2)
            && moves.distance_squared(its) < relation.velocity.powi(2)
            && self.sees(at, other)
    }

    /// The transitive closure by its definition: join whatever two are related, until nothing changes.
    fn closure(&self, among: impl Iterator<Item = u32>, relation: Relation) -> Partition {
        let mut groups: Vec<BTreeSet<u32>> = Vec::new();
        for one in among {
            let touches =
                |group: &BTreeSet<u32>| group.iter().any(|&other| self.related(one, other, relation));
            let (touched, mut rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(touches);
            rest.push(touched.into_iter().flatten().chain([one]).collect());
            groups = rest;
        }
        groups.into_iter().filter(|group| group.len() > 1).collect()
    }

    fn all(&self) -> impl Iterator<Item = u32> + use<> {
        0..self.all.len() as u32
    }

    /// Others whom an agent sees within a distance.
    fn visible(&self, who: u32, distance: f32) -> impl Iterator<Item = u32> {
        let from = self.all[who as usize].0;
        self.all().filter(move |&other| {
            let at = self.all[other as usize].0;
            other != who && at.distance_squared(from) < distance * distance && self.sees(from, at)
        })
    }

    /// The one group that an agent walks with: it belongs to it, and wants to go as the others in it go.
    fn walks_with(&self, who: u32, preferred: Vec2) -> BTreeSet<u32> {
        let own = self.closure(self.all(), self.widest).into_iter().find(|group| group.contains(&who));
        own.filter(|group| {
            let others = group.iter().filter(|&&other| other != who).map(|&other| self.all[other as usize].1);
            let mean = others.sum::<Vec2>() / (group.len() as f32 - 1.0);
            mean.distance(preferred) < self.own.relation.velocity
        })
        .unwrap_or_default()
    }

    /// How much of a large group an agent looks at: nothing if it stands in the middle of it, and only as far as about
    /// [`MANY`] reach if they are as dense as close by.
    fn looks_as_far(&self, who: u32, group: &BTreeSet<u32>, spare: f32) -> f32 {
        let furthest = self.own.neighbor_distance;
        let close = (CLOSE * self.own.relation.distance + RADIUS).min(furthest);
        let near: BTreeSet<u32> = self.visible(who, close).filter(|other| group.contains(other)).collect();
        let among = |part: &BTreeSet<u32>| self.span(who, part, spare).is_none();
        if group.len() <= MANY as usize || near.is_empty() {
            furthest
        } else if self.closure(near.iter().copied(), self.own.relation).iter().any(among) {
            0.0
        } else {
            furthest.min(close * (MANY as f32 / near.len() as f32).sqrt())
        }
    }

    /// What an agent perceives: the closure among those that it sees.
    fn perceives(&self, who: u32, preferred: Vec2) -> Partition {
        self.perceives_with(who, preferred, 0.0)
    }

    /// The same, if half a turn is so much more.
    fn perceives_with(&self, who: u32, preferred: Vec2, spare: f32) -> Partition {
        let with = self.walks_with(who, preferred);
        let others = self.closure(self.all(), self.widest).into_iter().filter(|group| *group != with);
        let seen = others.flat_map(|group| {
            let visible: Vec<u32> = self.visible(who, self.looks_as_far(who, &group, spare)).collect();
            visible.into_iter().filter(move |other| group.contains(other))
        });
        self.closure(seen, self.own.relation)
    }

    /// The right and the left edge of what a group covers, as angles; none where it is more than half a turn and `spare`.
    fn span(&self, who: u32, group: &BTreeSet<u32>, spare: f32) -> Option<(f32, f32)> {
        use std::f32::consts::{PI, TAU};
        let from = self.all[who as usize].0;
        let arc = |&other: &u32| {
            let towards = self.all[other as usize].0 - from;
            let half = (2.0 * RADIUS / towards.length()).min(1.0).asin();
            (towards.to_angle() - half, 2.0 * half)
        };
        let arcs: Vec<(f32, f32)> = group.iter().map(arc).collect();
        // One of the right edges is the right edge of all.
        let spans = arcs.iter().map(|&(start, _)| {
            let ends = arcs.iter().map(|(right, width)| (right - start + 1e-5).rem_euclid(TAU) + width);
            (start, start + ends.fold(0.0, f32::max))
        });
        spans
            .filter(|(right, left)| left - right <= PI + spare)
            .min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)))
    }
}

fn fixed(number: f32) -> Draw {
    Draw::Fixed(number.into())
}

fn up_to(most: f32) -> Draw {
    Draw::Uniform { low: 0.4 * f64::from(most), high: most.into() }
}

/// What an agent has drawn.
fn own(world: &World, who: u32, params: Groups) -> Own {
    params.own(world.view(), row_of(world, who))
}

fn row_of(world: &World, who: u32) -> usize {
    world.agents.id.iter().position(|&id| id == who).unwrap()
}

/// What a member perceives when it wants to move so.
fn perceived_groups(world: &World, who: u32, preferred: Vec2, params: Groups) -> Vec<PerceivedGroup> {
    let row = row_of(world, who);
    let mut intents = Intents::default();
    intents.resize(world.agents.len());
    (intents.vx[row], intents.vy[row]) = preferred.into();
    Perception::new(vec![params]).explain(world.view(), &intents, row).groups
}

fn partition(perceived: &[PerceivedGroup]) -> Partition {
    perceived.iter().map(|group| group.members.iter().copied().collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn clusters_are_the_transitive_closure(
        all in crowd(120), walls in walls(), member_distance in 0.5f32..4.0, velocity_difference in 0.1f32..2.0,
    ) {
        let params = Groups {
            member_distance: fixed(member_distance),
            velocity_difference: fixed(velocity_difference),
            ..Groups::default()
        };
        let mut world = world(&all);
        world.set_walls(Walls::new(walls.clone(), 5.0));
        let mut clustering = Clustering::new(params.widest());
        clustering.run(world.view());
        let id = |row: &u32| world.agents.id[*row as usize];
        let found: Partition =
            clustering.groups.iter().map(|group| clustering.members_of(group).iter().map(id).collect()).collect();
        let oracle = Oracle::of(&all, &walls, own(&world, 0, params), params);
        prop_assert_eq!(found, oracle.closure(oracle.all(), oracle.widest));
        let grouped = clustering.group_of.iter().filter(|&&group| group != NONE).count();
        prop_assert_eq!(grouped, clustering.members.len());
    }

    /// What an agent perceives is the closure among those it sees, without itself and those it walks with; and how it
    /// perceives it is what they cover of its view.
    #[test]
    fn an_agent_perceives_the_closure_of_its_neighbourhood(
        all in crowd(80), walls in walls(), who in 0usize..80, neighbor_distance in 2.0f32..20.0,
        member_distance in 0.5f32..4.0, heading in 0.0f32..6.3, drawn in proptest::bool::ANY,
    ) {
        let who = (who % all.len()) as u32;
        // All alike, or each with its own.
        let number = |most: f32| if drawn { up_to(most) } else { fixed(most) };
        let params = Groups {
            neighbor_distance: number(neighbor_distance),
            member_distance: number(member_distance),
            velocity_difference: number(0.6),
            max_groups: 64,
            ..Groups::default()
        };
        let mut world = world(&all);
        world.set_walls(Walls::new(walls.clone(), 5.0));
        let preferred = Vec2::from_angle(heading);
        let perceived = perceived_groups(&world, who, preferred, params);
        let oracle = Oracle::of(&all, &walls, own(&world, who, params), params);
        prop_assert_eq!(partition(&perceived), oracle.perceives(who, preferred));
        for group in perceived {
            let members: BTreeSet<u32> = group.members.iter().copied().collect();
            let span = oracle.span(who, &members, 0.0);
            prop_assume!(oracle.span(who, &members, 2e-3).is_some() == span.is_some());
            prop_assume!(oracle.span(who, &members, -2e-3).is_some() == span.is_some());
            prop_assert_eq!(span.is_some(), group.cone.is_some(), "{:?}: {:?}", members, span);
            if let (Some((right, left)), Some(cone)) = (span, group.cone) {
                prop_assert!(cone.left.distance(Vec2::from_angle(left)) < 2e-3, "{:?} and {}", cone, left);
                prop_assert!(cone.right.distance(Vec2::from_angle(right)) < 2e-3, "{:?} and {}", cone, right);
            }
        }
    }

    /// The same in a crowd that is one large group or nearly so.
    #[test]
    fn a_large_group_is_left_out_by_those_who_stand_in_it(
        places in proptest::collection::vec((-9.0f32..9.0, -9.0f32..9.0), 60..220), walls in walls(), who in 0usize..60,
        neighbor_distance in 3.0f32..12.0, heading in 0.0f32..6.3,
    ) {
        let velocity = |i: usize| if i.is_multiple_of(3) { -AHEAD } else { AHEAD };
        let all: Vec<(Vec2, Vec2)> =
            places.into_iter().enumerate().map(|(i, place)| (place.into(), velocity(i))).collect();
        let params = Groups { neighbor_distance: fixed(neighbor_distance), max_groups: 64, ..Groups::default() };
        let mut world = world(&all);
        world.set_walls(Walls::new(walls.clone(), 5.0));
        let (who, preferred) = (who as u32, 1.3 * Vec2::from_angle(heading));
        let oracle = Oracle::of(&all, &walls, own(&world, who, params), params);
        let perceived = oracle.perceives_with(who, preferred, 2e-3);
        // An agent that touches another has exactly half a turn covered, and rounding decides.
        prop_assume!(perceived == oracle.perceives_with(who, preferred, -2e-3));
        prop_assume!(oracle.visible(who, 1e-3).next().is_none());
        prop_assert_eq!(partition(&perceived_groups(&world, who, preferred, params)), perceived);
    }

    /// The cone of a group is what its members' cones cover together, and what lies between them.
    #[test]
    fn a_cone_covers_its_members_and_no_more(all in proptest::collection::vec((1.0f32..4.0, -1.2f32..1.2), 2..40)) {
        let velocity = Vec2::new(0.3, -0.2);
        let mut places: Vec<(Vec2, Vec2)> =
            all.iter().map(|&(distance, angle)| (Vec2::from_angle(angle) * distance, velocity)).collect();
        places.push((Vec2::ZERO, Vec2::new(-1.3, 0.0)));
        let world = world(&places);
        let params = Groups { member_distance: fixed(50.0), ..Groups::default() };
        let perceived = perceived_groups(&world, all.len() as u32, AHEAD, params);
        prop_assert_eq!(perceived.len(), 1);
        prop_assert_eq!(perceived[0].members.len(), all.len());
        let edges = all.iter().map(|&(distance, angle)| {
            let half = (2.0 * RADIUS / distance).min(1.0).asin();
            (angle - half, angle + half)
        });
        let (right, left) = edges.fold((f32::MAX, f32::MIN), |(low, high), (right, left)| (low.min(right), high.max(left)));
        prop_assume!(left - right < 3.1);
        let cone = perceived[0].cone.unwrap();
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
    adapted_from(world, who, preferred, Detour::default())
}

/// The same of an agent that remembers a detour.
fn adapted_from(world: &World, who: u32, preferred: Vec2, detour: Detour) -> Vec2 {
    let mut intents = Intents::default();
    intents.resize(world.agents.len());
    let row = row_of(world, who);
    (intents.vx[row], intents.vy[row]) = preferred.into();
    let mut perception = Perception::new(vec![Groups::default()]);
    *perception.memory.get_mut(world.agents.slot[row]) = detour;
    perception.run(world.view(), &mut intents);
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
fn nobody_walks_around_its_own_group_when_all_set_off() {
    let mut world = world(&block(Vec2::ZERO, 7, 7, Vec2::ZERO));
    world.agents.start.fill(0.0);
    for id in 0..49 {
        assert_eq!(adapted(&world, id, AHEAD), AHEAD, "{id}");
    }
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
        let row = row_of(&world, who);
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
        let (world, who) = with_walker(block(Vec2::new(8.0, offset), 3, 3, -AHEAD));
        adapted_from(&world, who, AHEAD, Detour { side: remembered, ..Detour::default() }).y.signum()
    };
    assert_eq!(side_of(0.2, 0.0), -1.0, "the shorter one");
    assert_eq!(side_of(0.2, 1.0), 1.0, "the one it is on");
    assert_eq!(side_of(1.4, 1.0), -1.0, "far better");
    assert_eq!(side_of(0.0, 0.0), -1.0, "to the right where both are as good");
}

/// It becomes linked to those it meets as it slows down, and must not take itself for one of them.
#[test]
fn a_group_that_carries_an_agent_along_is_still_walked_around() {
    let mut others = block(Vec2::new(2.5, 0.0), 3, 5, -0.5 * AHEAD);
    others.push((Vec2::ZERO, -0.4 * AHEAD));
    let (world, who) = (world(&others), others.len() as u32 - 1);
    assert!(adapted(&world, who, AHEAD).y.abs() > 0.2);
    // Who wants to go as they go walks with them.
    assert_eq!(adapted(&world, who, -0.5 * AHEAD), -0.5 * AHEAD);
    assert_eq!(perceived_groups(&world, who, -0.5 * AHEAD, Groups::default()), []);
}

#[test]
fn between_two_who_belong_together_an_agent_stands_among_them() {
    let pair = [(Vec2::new(1.2, 0.0), Vec2::ZERO), (Vec2::new(-1.2, 0.01), Vec2::ZERO), (Vec2::ZERO, AHEAD)];
    let params = Groups { member_distance: fixed(3.0), ..Groups::default() };
    let perceived = perceived_groups(&world(&pair), 2, AHEAD, params);
    assert_eq!((perceived.len(), perceived[0].cone), (1, None));
}

#[test]
fn of_a_group_that_spans_a_wall_only_the_part_in_sight_counts() {
    // A line of people square to the way, and a wall that hides all of it from one metre to the right on.
    let (mut world, who) = with_walker(block(Vec2::new(6.0, 0.0), 1, 9, Vec2::ZERO));
    world.set_walls(Walls::new(vec![wall((3.0, -0.75), (3.0, -9.0))], 15.0));
    let perceived = perceived_groups(&world, who, AHEAD, Groups::default());
    assert_eq!(perceived.len(), 1);
    assert_eq!(perceived[0].members, [3, 4, 5, 6, 7, 8], "those at y = -1 and above");
    // What joins the two ends is hidden: they are two groups.
    let mut ends = block(Vec2::new(6.0, 0.0), 1, 9, Vec2::ZERO);
    ends.push((Vec2::ZERO, AHEAD));
    let mut world = self::world(&ends);
    world.set_walls(Walls::new(vec![wall((3.0, -0.8), (3.0, 0.8))], 15.0));
    let perceived = perceived_groups(&world, 9, AHEAD, Groups::default());
    assert_eq!(partition(&perceived), Partition::from([[0, 1, 2].into(), [6, 7, 8].into()]));
}

/// Links are not kept where they are too many; nothing else changes.
#[test]
fn a_crowd_in_which_all_are_linked_is_one_group() {
    let all: Vec<(Vec2, Vec2)> = block(Vec2::ZERO, 40, 40, AHEAD);
    let params = Groups { member_distance: fixed(30.0), ..Groups::default() };
    let world = world(&all);
    let mut clustering = Clustering::new(params.widest());
    clustering.run(world.view());
    assert_eq!((clustering.groups.len(), clustering.members.len()), (1, 1600));
    assert_eq!(clustering.linked(0), None);
    let corner = all.iter().position(|&(at, _)| at == Vec2::splat(-19.5)).unwrap() as u32;
    let perceived = perceived_groups(&world, corner, Vec2::Y, params);
    let oracle = Oracle::of(&all, &[], own(&world, corner, params), params);
    assert_eq!(partition(&perceived), oracle.perceives(corner, Vec2::Y));
}

/// The detour of the walker after a look, and what it makes of another wish some steps later.
fn looks_and_goes_on(world: &mut World, who: u32, preferred: Vec2, later: Vec2) -> [Vec2; 2] {
    let row = row_of(world, who);
    let mut intents = Intents::default();
    intents.resize(world.agents.len());
    let mut perception = Perception::new(vec![Groups::default()]);
    [preferred, later].map(|wish| {
        (intents.vx[row], intents.vy[row]) = wish.into();
        perception.run(world.view(), &mut intents);
        world.step += 3;
        Vec2::new(intents.vx[row], intents.vy[row])
    })
}

#[test]
fn a_turn_is_forgotten_behind_a_corner() {
    let group = || with_walker(block(Vec2::new(6.0, 0.3), 3, 3, -AHEAD));
    let (mut world, who) = group();
    let slightly = AHEAD.rotate(Vec2::from_angle(0.3));
    let [first, then] = looks_and_goes_on(&mut world, who, AHEAD, slightly);
    assert!(
        first != AHEAD && (then - first.rotate(Vec2::from_angle(0.3))).length() < 1e-5,
        "{first}, {then}"
    );
    let (mut world, who) = group();
    let [_, then] = looks_and_goes_on(&mut world, who, AHEAD, -AHEAD);
    assert_eq!(then, -AHEAD);
}

/// It wanted to be slow, and turned by a group's speed; with another goal it would have run.
#[test]
fn a_detour_of_somebody_slow_does_not_make_it_fast() {
    let (mut world, who) = with_walker(block(Vec2::new(4.0, 0.0), 3, 3, -AHEAD));
    let [first, then] = looks_and_goes_on(&mut world, who, 0.05 * AHEAD, AHEAD);
    assert!(first.length() <= 2.0 && then.length() <= 2.0 + 1e-5, "{first}, {then}");
}

#[test]
fn every_cohort_looks_as_often_as_it_says() {
    let (mut world, who) = with_walker(block(Vec2::new(6.0, 0.3), 3, 3, -AHEAD));
    let row = row_of(&world, who);
    world.cohorts.push(Cohort { goal_radius: 0.3, ..Cohort::default() });
    world.agents.cohort[row] = 1;
    for (attention, looks) in [(0.5, true), (1.0, false)] {
        let params =
            vec![Groups { attention: 0.1, ..Groups::default() }, Groups { attention, ..Groups::default() }];
        let mut intents = Intents::default();
        intents.resize(world.agents.len());
        (intents.vx[row], intents.vy[row]) = AHEAD.into();
        world.step = 5;
        Perception::new(params).run(world.view(), &mut intents);
        assert_eq!(Vec2::new(intents.vx[row], intents.vy[row]) != AHEAD, looks, "every {attention} s");
    }
}

/// Two mates who want to part: what they want together is next to nothing, and must not be divided by.
#[test]
fn mates_whose_wishes_cancel_are_not_flung_apart() {
    let mut others = block(Vec2::new(8.0, 0.0), 3, 3, -AHEAD);
    let first = others.len() as u32;
    others.extend([(Vec2::new(0.0, 0.5), Vec2::ZERO), (Vec2::new(0.0, -0.5), Vec2::ZERO)]);
    let mut world = world(&others);
    world.cohorts.push(Cohort { together: true, ..Cohort::default() });
    let mut intents = Intents::default();
    intents.resize(world.agents.len());
    let wish = |id: u32| if id == first { Vec2::new(0.02, 1.3) } else { Vec2::new(0.0, -1.3) };
    for row in 0..world.agents.len() {
        if world.agents.id[row] >= first {
            world.agents.cohort[row] = 1;
            (intents.vx[row], intents.vy[row]) = wish(world.agents.id[row]).into();
        }
    }
    Perception::new(vec![Groups::default(); 2]).run(world.view(), &mut intents);
    for row in 0..world.agents.len() {
        let velocity = Vec2::new(intents.vx[row], intents.vy[row]);
        assert!(velocity.length() < 1.31, "{velocity}");
    }
}
