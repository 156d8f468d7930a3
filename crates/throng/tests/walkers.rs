//! What the papers of walkers' models state: collision-free speed, anticipation velocity, social force.

use throng::prelude::*;

const MODELS: [&str; 3] = ["collision-free-speed", "anticipation-velocity", "social-force"];

fn crowd(model: &str, dt: f64) -> Crowd {
    let builder = Crowd::builder().dt(dt).threads(1).preset(Preset::Paper);
    builder.microscale_named(model, settings([])).build().unwrap()
}

/// Tordeux et al., equation 2: behind one that stands, beyond the reach of pushes, the speed is the gap by the time gap.
#[test]
fn the_speed_is_the_gap_ahead_by_the_time_gap() {
    for gap in [0.5, 0.8, 1.1, 2.0] {
        let values = settings([("strength_neighbor_repulsion", 0.0), ("time_gap", 1.0)]);
        for model in ["collision-free-speed", "anticipation-velocity"] {
            let builder = Crowd::builder().dt(0.1).threads(1).preset(Preset::Paper);
            let mut crowd = builder.microscale_named(model, values.clone()).build().unwrap();
            let behind = crowd.spawn(Agent::at([0.0, 0.0]).goal([50.0, 0.0]).radius(0.2).speed(1.2)).unwrap();
            crowd.spawn(Agent::at([gap + 0.4, 0.0]).goal([50.0, 0.0]).radius(0.2).delay(100.0)).unwrap();
            crowd.step();
            let speed = crowd.velocity(behind).unwrap().x;
            assert!((speed - gap.min(1.2)).abs() < 1e-4, "{model}: {speed} m/s across {gap} m");
        }
    }
}

/// Helbing et al., equation 1: alone, an agent gets up to speed within the time of reaction.
#[test]
fn social_force_drives_within_the_reaction_time() {
    let mut crowd = crowd("social-force", 0.01);
    let agent = crowd.spawn(Agent::at([0.0, 0.0]).goal([90.0, 0.0]).speed(1.0)).unwrap();
    (0..50).for_each(|_| crowd.step());
    let speed = crowd.velocity(agent).unwrap().x;
    assert!((speed - 0.632).abs() < 0.01, "{speed} m/s after 0.5 s");
}

/// Everybody wants to one place: after a while bodies press and stand, whatever the step, and press as hard as in small steps.
#[test]
fn social_forces_are_stable_in_contact_in_steps_of_a_tenth_of_a_second() {
    let nearest = |dt: f64| {
        let mut crowd = crowd("social-force", dt);
        let place = |i: usize| [(i % 6) as f64 * 0.8 + 0.01 * i as f64, (i / 6) as f64 * 0.8];
        let spawn = |i| Agent::at(place(i)).goal([2.1, 2.0]).radius(0.25).speed(5.0).max_speed(5.0);
        let agents: Vec<AgentId> = (0..36).map(|i| crowd.spawn(spawn(i)).unwrap()).collect();
        (0..(20.0 / dt) as usize).for_each(|_| crowd.step());
        let places: Vec<DVec2> = agents.iter().map(|&agent| crowd.position(agent).unwrap()).collect();
        let gap = |&a: &DVec2| {
            let apart = places.iter().filter(|&&b| b != a).map(|b| b.distance(a));
            apart.fold(f64::INFINITY, f64::min)
        };
        places.iter().map(gap).sum::<f64>() / places.len() as f64
    };
    let (fine, coarse) = (nearest(0.01), nearest(0.1));
    assert!((coarse / fine - 1.0).abs() < 0.05, "{coarse} m apart instead of {fine} m");
}

/// Two who meet, not quite head-on, get past one another, and bodies hardly overlap.
#[test]
fn a_pair_passes_without_overlap() {
    for model in MODELS {
        let mut crowd = crowd(model, 0.1);
        let one = crowd.spawn(Agent::at([-5.0, 0.1]).goal([30.0, 0.1]).radius(0.2)).unwrap();
        let other = crowd.spawn(Agent::at([5.0, -0.1]).goal([-30.0, -0.1]).radius(0.2)).unwrap();
        for _ in 0..200 {
            crowd.step();
            let apart = crowd.position(one).unwrap().distance(crowd.position(other).unwrap());
            assert!(apart > 0.38, "{model}: {apart} m apart");
        }
        let (one, other) = (crowd.position(one).unwrap(), crowd.position(other).unwrap());
        assert!(one.x > 5.0 && other.x < -5.0, "{model}: {one} {other}");
    }
}
