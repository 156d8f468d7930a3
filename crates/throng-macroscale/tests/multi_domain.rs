//! Agents who plan against one another's plans, moved by nothing else: no local model helps them out.

use glam::{DVec2, Vec2};
use throng_core::handover::{Intents, Moves};
use throng_core::space::{Wall, Walls};
use throng_core::world::{Agent, Cohort, Mover, Status, World, radius_classes};
use throng_macroscale::{Macroscale, MacroscaleModel, MultiDomain};

const RADIUS: f32 = 0.25;
const DT: f64 = 0.1;

/// A world of agents with starts and goals between walls that lie to the left of rings.
struct Stage {
    world: World,
    planner: Box<dyn Macroscale>,
    intents: Intents,
    /// The deepest overlap of two agents, or of one and a mover, m.
    deepest: f32,
}

impl Stage {
    fn new(params: MultiDomain, rings: &[&[[f32; 2]]], walks: &[([f32; 2], [f32; 2])]) -> Stage {
        let mut world = World::new(DVec2::ZERO, DT);
        world.cohorts.push(Cohort { goal_radius: 0.4, leaves: true, ..Cohort::default() });
        for (id, &(from, to)) in walks.iter().enumerate() {
            world.agents.push(Agent {
                id: id as u32,
                slot: id as u32,
                x: from[0],
                y: from[1],
                vx: 0.0,
                vy: 0.0,
                goal_x: to[0],
                goal_y: to[1],
                radius: RADIUS,
                preferred_speed: 1.34,
                max_speed: 1.8,
                responsibility: 0.5,
                start: 0.0,
                arrival: -1.0,
                walked: 0.0,
                cohort: 0,
                destination: 0,
                status: Status::Walking,
            });
            world.extend_to(from.into());
            world.extend_to(to.into());
        }
        (world.fastest, world.widest) = (1.8, RADIUS);
        world.radius_classes = radius_classes(&world.agents.radius, 1.06);
        let mut stage = Stage {
            world,
            planner: MultiDomain::planner(params, vec![params]),
            intents: Intents::default(),
            deepest: f32::MIN,
        };
        stage.wall(rings);
        stage.world.sort_rows();
        stage
    }

    /// Puts walls around, in the place of those there were.
    fn wall(&mut self, rings: &[&[[f32; 2]]]) {
        let edges = |ring: &&[[f32; 2]]| {
            let ends = ring.iter().zip(ring.iter().cycle().skip(1));
            ends.map(|(&a, &b)| Wall { a: a.into(), b: b.into(), two_sided: false }).collect::<Vec<_>>()
        };
        self.world.set_walls(Walls::new(rings.iter().flat_map(edges).collect(), 2.0));
    }

    fn step(&mut self) {
        let agents = self.world.agents.len();
        self.intents.resize(agents);
        self.planner.run(self.world.view(), &mut self.intents);
        let view = self.world.view();
        let mut moves = Moves::default();
        moves.resize(agents);
        for row in 0..agents {
            let velocity = Vec2::new(self.intents.vx[row], self.intents.vy[row]);
            assert!(velocity.length() <= 1.8001, "{velocity}");
            let to = view.position(row) + velocity * DT as f32;
            (moves.x[row], moves.y[row]) = to.into();
            (moves.vx[row], moves.vy[row]) = velocity.into();
        }
        self.world.commit(&moves);
        let memory = self.planner.memory_mut().unwrap();
        self.world.departures().iter().for_each(|gone| memory.forget(gone.slot));
        self.deepest = self.deepest.max(self.overlap());
    }

    fn overlap(&self) -> f32 {
        let view = self.world.view();
        let mut deepest = f32::MIN;
        for row in 0..view.agents.len() {
            for other in 0..row {
                deepest = deepest.max(2.0 * RADIUS - view.position(row).distance(view.position(other)));
            }
            for mover in view.movers {
                deepest = deepest.max(RADIUS + mover.radius - view.position(row).distance(mover.position));
            }
        }
        deepest
    }

    /// Steps until every agent has arrived, or a time is over; how many have not.
    fn run(&mut self, until: f64) -> usize {
        while self.world.time() < until && !self.world.agents.is_empty() {
            self.step();
        }
        assert!(self.deepest <= 1e-3, "an overlap of {} m", self.deepest);
        self.world.agents.len()
    }
}

/// A passage for one with a bay, between two rooms.
const BAY: &[[f32; 2]] = &[
    [0.0, 0.0],
    [6.0, 0.0],
    [6.0, 1.6],
    [14.0, 1.6],
    [14.0, 0.4],
    [15.4, 0.4],
    [15.4, 1.6],
    [24.0, 1.6],
    [24.0, 0.0],
    [30.0, 0.0],
    [30.0, 4.0],
    [24.0, 4.0],
    [24.0, 2.4],
    [6.0, 2.4],
    [6.0, 4.0],
    [0.0, 4.0],
];

#[test]
fn two_who_come_towards_one_another_in_a_passage_both_get_through() {
    for offset in [0.0, 0.2, 0.4] {
        let walks = [([2.0, 2.0 + offset], [28.0, 2.0]), ([28.0, 2.0 - offset], [2.0, 2.0])];
        let mut stage = Stage::new(MultiDomain::default(), &[BAY], &walks);
        assert_eq!(stage.run(90.0), 0);
    }
}

#[test]
fn an_agent_that_stands_inside_a_passage_goes_back_into_the_bay() {
    let walks = [([13.0, 2.0], [28.0, 2.0]), ([17.0, 2.0], [2.0, 2.0])];
    let mut stage = Stage::new(MultiDomain::default(), &[BAY], &walks);
    assert_eq!(stage.run(90.0), 0);
}

/// A circle of agents who all go through the middle.
fn circle(agents: usize) -> Vec<([f32; 2], [f32; 2])> {
    let angle = |agent: usize| {
        std::f32::consts::TAU * agent as f32 / agents as f32 + 0.03 * (agent as f32 * 2.3).sin()
    };
    let place =
        |agent: usize| (Vec2::from_angle(angle(agent)) * (8.0 + 0.3 * (agent as f32).cos())).to_array();
    (0..agents).map(|agent| (place(agent), place(agent).map(|x| -x))).collect()
}

#[test]
fn a_circle_changes_places_without_a_touch() {
    let mut stage = Stage::new(MultiDomain::default(), &[], &circle(16));
    assert_eq!(stage.run(120.0), 0);
}

#[test]
fn a_road_is_crossed_between_cars() {
    let walks: Vec<_> = (0..10).map(|i| ([i as f32 - 5.0, -8.0], [i as f32 - 5.0, 8.0])).collect();
    let mut stage = Stage::new(MultiDomain::default(), &[], &walks);
    for car in 0..10 {
        let begin = f64::from(car) * 5.0;
        let path = vec![(begin, Vec2::new(-60.0, 0.0)), (begin + 10.0, Vec2::new(60.0, 0.0))];
        stage.world.add_mover(Mover { radius: 0.9, path, carries: false, driven: false });
    }
    stage.world.sort_rows();
    assert_eq!(stage.run(120.0), 0);
}

#[test]
fn a_new_wall_is_gone_around() {
    let hall: &[[f32; 2]] = &[[0.0, 0.0], [20.0, 0.0], [20.0, 10.0], [0.0, 10.0]];
    let walks = [([1.0, 5.0], [19.0, 5.0]), ([1.0, 6.0], [19.0, 6.0]), ([19.0, 4.0], [1.0, 4.0])];
    let mut stage = Stage::new(MultiDomain::default(), &[hall], &walks);
    (0..30).for_each(|_| stage.step());
    // Clockwise: solid inside.
    stage.wall(&[hall, &[[9.0, 2.0], [9.0, 8.0], [11.0, 8.0], [11.0, 2.0]]]);
    assert_eq!(stage.run(90.0), 0);
}

/// Two passages for one that cross, with no room to pass.
const CROSS: &[[f32; 2]] = &[
    [-12.0, -0.45],
    [-1.2, -0.45],
    [-1.2, -1.2],
    [-0.45, -1.2],
    [-0.45, -12.0],
    [0.45, -12.0],
    [0.45, -1.2],
    [1.2, -1.2],
    [1.2, -0.45],
    [12.0, -0.45],
    [12.0, 0.45],
    [1.2, 0.45],
    [1.2, 1.2],
    [0.45, 1.2],
    [0.45, 12.0],
    [-0.45, 12.0],
    [-0.45, 1.2],
    [-1.2, 1.2],
    [-1.2, 0.45],
    [-12.0, 0.45],
];

#[test]
fn four_meet_where_two_passages_for_one_cross() {
    for offset in [0.0, 0.13, 0.4] {
        let walks = [
            ([-10.0, 0.0], [9.0, 0.0]),
            ([10.0 - offset, 0.0], [-9.0, 0.0]),
            ([0.0, -10.0 + 2.0 * offset], [0.0, 9.0]),
            ([0.0, 10.0 - 3.0 * offset], [0.0, -9.0]),
        ];
        let mut stage = Stage::new(MultiDomain::default(), &[CROSS], &walks);
        assert_eq!(stage.run(120.0), 0, "{offset}");
    }
}

/// Four blocks of agents who cross.
fn four_way(side: usize) -> Vec<([f32; 2], [f32; 2])> {
    let mut walks = Vec::new();
    for quarter in 0..4 {
        let turn = |at: Vec2| (0..quarter).fold(at, |at, _| at.perp()).to_array();
        for agent in 0..side * side {
            let shift = 0.13 * ((agent * 7 + quarter * 3) as f32).sin();
            let (column, line) = ((agent % side) as f32, (agent / side) as f32);
            let from = Vec2::new(-19.0 + column + shift, -2.0 + line - shift);
            walks.push((turn(from), turn(from + Vec2::new(35.0, 0.0))));
        }
    }
    walks
}

#[test]
fn a_hundred_cross_from_four_sides() {
    let mut stage = Stage::new(MultiDomain::default(), &[], &four_way(5));
    assert_eq!(stage.run(180.0), 0);
}

#[test]
fn a_saved_world_goes_on_with_a_new_planner() {
    let run = |saved_at: u64| {
        let mut stage = Stage::new(
            MultiDomain::default(),
            &[BAY],
            &[([2.0, 2.0], [28.0, 2.0]), ([28.0, 2.1], [2.0, 2.0])],
        );
        while stage.world.step < 150 {
            if stage.world.step == saved_at {
                // What a planner keeps beside its memory is no part of a checkpoint.
                let saved = stage.planner.memory().unwrap().save();
                stage.planner = MultiDomain::planner(MultiDomain::default(), Vec::new());
                stage.planner.memory_mut().unwrap().load(&saved).unwrap();
            }
            stage.step();
        }
        stage.world.state_hash(stage.planner.memory().unwrap().state_hash())
    };
    assert_eq!([run(1), run(40), run(97)], [run(1_000); 3]);
}

/// A millisecond is less than most turns take where two crowds meet: nobody would get anywhere who began each time from the start.
#[test]
fn a_deadline_that_cuts_turns_freezes_nobody() {
    let corridor: &[[f32; 2]] = &[[0.0, 0.0], [40.0, 0.0], [40.0, 4.0], [0.0, 4.0]];
    let place = |agent: usize| {
        let shift = 0.1 * (agent as f32 * 2.3).sin();
        [1.0 + 0.9 * (agent / 4) as f32 + shift, 0.65 + 0.9 * (agent % 4) as f32 + shift]
    };
    let there = (0..16).map(|agent| (place(agent), [39.0, place(agent)[1]]));
    let back = (0..16).map(|agent| ([40.0 - place(agent)[0], place(agent)[1]], [1.0, place(agent)[1]]));
    let walks: Vec<_> = there.chain(back).collect();
    let params = MultiDomain { deadline: 1.0, ..MultiDomain::default() };
    let mut stage = Stage::new(params, &[corridor], &walks);
    assert_eq!(stage.run(400.0), 0);
}

#[test]
fn a_small_budget_makes_agents_stand_and_nobody_touch() {
    let params = MultiDomain { budget: 60, share: 60, ..MultiDomain::default() };
    let mut stage = Stage::new(params, &[], &circle(16));
    assert_eq!(stage.run(240.0), 0);
}
