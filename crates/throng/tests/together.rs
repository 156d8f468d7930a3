//! Agents choose together, sixteen at once; one that is explained chooses alone. Both must come to the same, bit by bit.

use throng::crowd::Builder;
use throng::geom::at_most;
use throng::microscale::Headway;
use throng::motion::Contact;
use throng::prelude::*;

const MAX_SPEED: f32 = 1.8;

/// Agents on a square, everyone on the way to somewhere else on it: of several sizes and shares, some on a lattice, where many are
/// equally near, some at their goals. Contact would move those who touch once they have chosen.
fn crowd(builder: Builder, density: f64, headway: bool) -> (Crowd, Vec<AgentId>) {
    let count = 230;
    let side = (f64::from(count) / density).sqrt();
    let contact = Contact { on: false, ..Contact::default() };
    let headway = Headway { on: headway, ..Headway::default() };
    let mut crowd = builder.dt(0.1).threads(1).params(headway).params(contact).build().unwrap();
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut agents = Vec::new();
    for i in 0..count as usize {
        let mut place = [random() * side, random() * side];
        if i % 3 == 0 {
            place = place.map(|part| (2.0 * part).round() / 2.0);
        }
        let goal = if i % 11 == 0 { place } else { [random() * side, random() * side] };
        let agent = Agent::at(place).goal(goal).speed(0.8 + 0.6 * random()).max_speed(f64::from(MAX_SPEED));
        let agent =
            agent.radius([0.15, 0.2, 0.25, 0.3][i % 4]).responsibility([0.5, 0.5, 0.5, 0.2, 1.0][i % 5]);
        agents.push(crowd.spawn(agent).unwrap());
    }
    (crowd, agents)
}

fn agree(name: &str, model: impl Fn(Builder) -> Builder) {
    for (density, headway) in [(0.3, true), (1.0, false), (1.0, true), (2.5, true)] {
        let (mut crowd, agents) = crowd(model(Crowd::builder()), density, headway);
        let mut slowed = 0;
        for step in 0..40 {
            crowd.step();
            let alone: Vec<_> = agents.iter().map(|&agent| crowd.explain(agent).unwrap()).collect();
            crowd.step();
            for (&agent, alone) in agents.iter().zip(&alone) {
                let velocity = crowd.velocity(agent).unwrap().as_vec2();
                let expected = at_most(alone.chosen, MAX_SPEED);
                assert_eq!(
                    velocity, expected,
                    "{name}, {density} agents/m², headway {headway}, step {step}: {agent:?}"
                );
                slowed += usize::from(velocity.length() < 0.5 * alone.preferred.length());
            }
        }
        assert!(
            density < 1.0 || slowed > 100,
            "{name}: only {slowed} times is anybody in the way of anybody"
        );
    }
}

#[test]
fn agents_choose_together_as_each_chooses_alone() {
    agree("vo", |builder| builder.microscale(Vo::default()));
    agree("rvo", |builder| builder.microscale(Rvo::default()));
    agree("hrvo", |builder| builder.microscale(Hrvo::default()));
    agree("orca", |builder| builder.microscale(Orca::default()));
    agree("orca, few", |builder| builder.microscale(Orca { max_neighbors: 4, ..Orca::default() }));
    agree("orca, many", |builder| builder.microscale(Orca { max_neighbors: 14, ..Orca::default() }));
}
