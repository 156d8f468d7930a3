//! Dense crowds with the preset `pedestrian`: flows through doors as recorded, streams that pass one another, and a block that
//! walks straight.

use throng::prelude::*;

/// A builder with the preset.
fn dense(dt: f64) -> Builder {
    Crowd::builder().dt(dt).threads(1).macroscale(Navmesh::default())
}

/// Numbers from 0 to 1, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Free speeds of people, m/s: mean 1.34, standard deviation 0.26.
    fn speed(&mut self) -> f64 {
        let sum: f64 = (0..12).map(|_| self.next()).sum();
        (1.34 + 0.26 * (sum - 6.0)).clamp(0.6, 2.1)
    }

    /// Places in a box that are at least so far apart.
    fn places(&mut self, count: usize, low: DVec2, high: DVec2, apart: f64) -> Vec<DVec2> {
        let mut places: Vec<DVec2> = Vec::new();
        while places.len() < count {
            let place = low + (high - low) * DVec2::new(self.next(), self.next());
            if places.iter().all(|other| other.distance(place) > apart) {
                places.push(place);
            }
        }
        places
    }
}

fn rectangle(low: [f64; 2], high: [f64; 2]) -> Vec<[f64; 2]> {
    vec![low, [high[0], low[1]], high, [low[0], high[1]]]
}

fn to(name: &str, low: [f64; 2], high: [f64; 2]) -> Cohort {
    Cohort::named(name).leaves_on_arrival().goal_area(&rectangle(low, high)[..])
}

/// People of radius 0.2 leave a room by a door in a wall of 0.4 m; persons per second between the first and the last tenth.
fn door_flow(model: impl Fn(Builder) -> Builder, width: f64, seed: u64) -> f64 {
    let (half, people) = (width / 2.0, 80);
    let room = [
        [-5.0, 0.0],
        [-half, 0.0],
        [-half, -0.4],
        [-4.0, -0.4],
        [-4.0, -8.0],
        [4.0, -8.0],
        [4.0, -0.4],
        [half, -0.4],
        [half, 0.0],
        [5.0, 0.0],
        [5.0, 8.0],
        [-5.0, 8.0],
    ];
    let mut crowd =
        model(dense(0.1)).walkable(&room[..]).cohort(to("out", [-4.0, -8.0], [4.0, -6.0])).build().unwrap();
    let mut numbers = Numbers(seed);
    for place in numbers.places(people, DVec2::new(-3.0, 0.5), DVec2::new(3.0, 6.5), 0.42) {
        crowd.spawn(Agent::at(place).radius(0.2).speed(numbers.speed())).unwrap();
    }
    let mut passed = Vec::new();
    while passed.len() < people && crowd.time() < 300.0 {
        crowd.step();
        let out = people - crowd.agents().filter(|agent| agent.position().y > -0.2).count();
        passed.resize(out.max(passed.len()), crowd.time());
    }
    assert_eq!(passed.len(), people, "{width} m, seed {seed}");
    let (first, last) = (people / 10, people - 1 - people / 10);
    (last - first) as f64 / (passed[last] - passed[first])
}

/// Kretz et al. 2006 and Seyfried et al. 2009, persons per second; the mean where both have a width.
const RECORDED: [(f64, f64); 8] = [
    (0.5, 1.02),
    (0.6, 1.12),
    (0.7, 1.24),
    (0.8, 1.355),
    (0.9, 1.625),
    (1.0, 1.875),
    (1.1, 2.12),
    (1.2, 2.25),
];

#[test]
fn as_many_pass_a_door_as_recorded() {
    let mut before = 0.0;
    for (width, recorded) in RECORDED {
        let mut flows = [1, 2, 3].map(|seed| door_flow(|builder| builder, width, seed));
        flows.sort_by(f64::total_cmp);
        let [low, middle, high] = flows;
        println!("{width} m: {low:.2} to {high:.2}, recorded {recorded}");
        assert!(
            (0.8..=1.2).contains(&(middle / recorded)),
            "{width} m: {middle} persons/s, recorded {recorded}"
        );
        assert!(high < 1.4 * middle && low > middle / 1.4, "{width} m: {flows:?}");
        assert!(middle > before, "{width} m: {middle} persons/s, and {before} through a narrower door");
        before = middle;
    }
}

#[test]
fn every_local_model_gets_through_doors_alike() {
    for width in [0.7, 1.0] {
        let recorded = RECORDED.iter().find(|pair| pair.0 == width).unwrap().1;
        for (name, flow) in [
            ("vo", door_flow(|builder| builder.microscale(Vo::default()), width, 1)),
            ("rvo", door_flow(|builder| builder.microscale(Rvo::default()), width, 1)),
            ("hrvo", door_flow(|builder| builder.microscale(Hrvo::default()), width, 1)),
            ("hybrid", door_flow(|builder| builder.microscale(Hybrid::default()), width, 1)),
        ] {
            assert!((0.75..=1.25).contains(&(flow / recorded)), "{name}, {width} m: {flow} persons/s");
        }
    }
}

/// Steps until all have left; the deepest overlap on the way, as a part of the sum of two radii.
fn until_all_left(crowd: &mut Crowd, radius: f64, at_most: f64, what: &str) -> f64 {
    let mut deepest = 0.0f64;
    while !crowd.is_empty() && crowd.time() < at_most {
        crowd.step();
        deepest = deepest.max(f64::from(crowd.overlaps().deepest));
    }
    assert!(crowd.is_empty(), "{what}: {} are still there after {at_most} s", crowd.len());
    deepest / (2.0 * radius)
}

#[test]
fn sixty_pass_sixty_in_a_corridor() {
    for (width, seed) in [(3.0, 1), (3.0, 2), (4.0, 3), (6.0, 4)] {
        let mut crowd = dense(0.1)
            .walkable(&rectangle([-20.0, 0.0], [20.0, width])[..])
            .cohort(to("east", [18.0, 0.0], [20.0, width]))
            .cohort(to("west", [-20.0, 0.0], [-18.0, width]))
            .build()
            .unwrap();
        let (mut numbers, length) = (Numbers(seed), (60.0 / (width * 1.2)).min(16.5));
        for (cohort, from) in [(0, -3.0 - length), (1, 3.0)] {
            let (low, high) = (DVec2::new(from, 0.3), DVec2::new(from + length, width - 0.3));
            for place in numbers.places(60, low, high, 0.51) {
                let walker = Agent::at(place).speed(numbers.speed()).cohort(CohortId(cohort));
                crowd.spawn(walker).unwrap();
            }
        }
        let overlap = until_all_left(&mut crowd, 0.25, 240.0, &format!("{width} m, seed {seed}"));
        assert!(overlap < 0.05, "{width} m, seed {seed}: overlap {overlap}");
    }
}

#[test]
fn two_streams_pass_a_door() {
    for seed in 1..=4 {
        let room = [
            [-10.0, -4.0],
            [-0.1, -4.0],
            [-0.1, -0.6],
            [0.1, -0.6],
            [0.1, -4.0],
            [10.0, -4.0],
            [10.0, 4.0],
            [0.1, 4.0],
            [0.1, 0.6],
            [-0.1, 0.6],
            [-0.1, 4.0],
            [-10.0, 4.0],
        ];
        let mut crowd = dense(0.1)
            .walkable(&room[..])
            .cohort(to("east", [8.0, -4.0], [10.0, 4.0]))
            .cohort(to("west", [-10.0, -4.0], [-8.0, 4.0]))
            .build()
            .unwrap();
        let mut numbers = Numbers(seed);
        for (cohort, from) in [(0, -7.5), (1, 1.5)] {
            for place in numbers.places(25, DVec2::new(from, -3.5), DVec2::new(from + 6.0, 3.5), 0.6) {
                let walker = Agent::at(place).speed(numbers.speed()).cohort(CohortId(cohort));
                crowd.spawn(walker).unwrap();
            }
        }
        let overlap = until_all_left(&mut crowd, 0.25, 240.0, &format!("seed {seed}"));
        assert!(overlap < 0.05, "seed {seed}: overlap {overlap}");
    }
}

/// All want the same, and none is in another's way: however close they walk, and however long steps are.
#[test]
fn a_block_that_meets_none_walks_straight() {
    for spacing in [0.55, 0.7, 1.0, 3.0] {
        for dt in [0.05, 0.1, 0.5] {
            let mut crowd = dense(dt).macroscale(Straight::default()).build().unwrap();
            let places = (0..49).map(|i| DVec2::new(f64::from(i % 7), f64::from(i / 7)) * spacing);
            let walkers: Vec<(AgentId, DVec2)> = places
                .map(|at| (crowd.spawn(Agent::at(at).goal(at + DVec2::new(60.0, 0.0))).unwrap(), at))
                .collect();
            while crowd.time() < 30.0 {
                crowd.step();
            }
            let aside = |(walker, at): &(AgentId, DVec2)| (crowd.position(*walker).unwrap().y - at.y).abs();
            let drift = walkers.iter().map(aside).fold(0.0, f64::max);
            assert!(drift < 0.01, "{spacing} m apart, steps of {dt} s: {drift} m aside");
        }
    }
}

/// Circles of few stand for ever where each waits for the others.
#[test]
fn small_circles_resolve_with_every_local_model() {
    for model in ["vo", "rvo", "hrvo", "orca", "hybrid"] {
        for count in 2..=12 {
            let builder = dense(0.1).macroscale(Straight::default());
            let mut crowd = builder.microscale_named(model, settings([])).build().unwrap();
            for i in 0..count {
                let at = DVec2::from_angle(f64::from(i) / f64::from(count) * std::f64::consts::TAU) * 6.0;
                crowd.spawn(Agent::at(at).goal(-at).radius(0.3)).unwrap();
            }
            while crowd.agents().any(|agent| agent.status() != Status::Arrived) && crowd.time() < 60.0 {
                crowd.step();
            }
            assert!(crowd.time() < 3.0 * 12.0 / 1.34, "{count} with {model}: {:.1} s", crowd.time());
        }
    }
}

/// One walks through people who wait for their start: they keep their places.
#[test]
fn those_who_wait_keep_their_places() {
    let mut crowd = dense(0.1).macroscale(Straight::default()).build().unwrap();
    let waits = |x: f64, y: f64| Agent::at([x, y]).goal([x, y + 20.0]).delay(100.0);
    let places: Vec<DVec2> =
        (0..25).map(|i| DVec2::new(f64::from(i % 5), f64::from(i / 5) - 2.0) * 0.8).collect();
    let waiting: Vec<AgentId> = places.iter().map(|at| crowd.spawn(waits(at.x, at.y)).unwrap()).collect();
    crowd.spawn(Agent::at([-6.0, 0.1]).goal([10.0, 0.0])).unwrap();
    while crowd.time() < 60.0 {
        crowd.step();
    }
    for (&walker, at) in waiting.iter().zip(&places) {
        let moved = crowd.position(walker).unwrap().distance(*at);
        assert!(moved < 0.2, "moved by {moved} m");
    }
}

/// A thousand who meet in the middle, on some threads, saved and loaded on the way where asked for.
fn meeting(threads: usize, saved: bool) -> u64 {
    let walkable = rectangle([-20.0, -10.0], [20.0, 10.0]);
    let mut crowd = dense(0.1).threads(threads).walkable(&walkable[..]).build().unwrap();
    let mut numbers = Numbers(7);
    for place in numbers.places(1000, DVec2::new(-19.0, -9.5), DVec2::new(19.0, 9.5), 0.51) {
        crowd.spawn(Agent::at(place).goal(-place).speed(numbers.speed())).unwrap();
    }
    for step in 0..100 {
        crowd.step();
        if saved && step == 50 {
            crowd = Crowd::load(&crowd.save().unwrap()).unwrap();
        }
    }
    crowd.state_hash()
}

#[test]
fn a_dense_crowd_has_the_same_bits_on_any_number_of_threads_and_after_a_save() {
    let alone = meeting(1, false);
    assert_eq!([meeting(2, false), meeting(8, false), meeting(2, true)], [alone; 3]);
}
