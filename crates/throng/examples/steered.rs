//! A caller that steers: flocking decides what agents want, the engine lets them avoid one another.
use throng::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut crowd = Crowd::builder().dt(0.05).build()?;
    let mut flock = Vec::new();
    for i in 0..200 {
        let angle = f64::from(i) * 2.4;
        let place = DVec2::from_angle(angle) * f64::from(i).sqrt();
        flock.push(crowd.spawn(Agent::at(place).velocity(DVec2::from_angle(3.0 * angle)))?);
    }
    for _ in 0..400 {
        for &agent in &flock {
            let wanted = flocking(&crowd, agent)?;
            crowd.set_preferred_velocity(agent, Some(wanted))?;
        }
        crowd.step();
    }
    let mean =
        flock.iter().map(|&agent| crowd.velocity(agent)).sum::<Result<DVec2, _>>()? / flock.len() as f64;
    println!("the flock moves at {:.2} m/s, all as one", mean.length());
    assert!(mean.length() > 0.8, "they have aligned");
    Ok(())
}

/// As the neighbours go, and a little towards their middle.
fn flocking(crowd: &Crowd, agent: AgentId) -> Result<DVec2, EditError> {
    let (here, near) = (crowd.position(agent)?, crowd.neighbors(crowd.position(agent)?, 3.0));
    let (mut velocity, mut middle) = (DVec2::ZERO, DVec2::ZERO);
    for &other in &near {
        velocity += crowd.velocity(other)?;
        middle += crowd.position(other)? - here;
    }
    let wanted = velocity.normalize_or_zero() + 0.3 * middle / near.len() as f64;
    Ok(wanted.normalize_or(DVec2::X) * 1.3)
}
