//! A caller that steers: all follow a banner that moves, and the engine lets them avoid one another.
use throng::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut crowd = Crowd::builder().dt(0.05).build()?;
    let mut agents = Vec::new();
    for i in 0..200 {
        let place = DVec2::from_angle(f64::from(i) * 2.4) * f64::from(i).sqrt();
        agents.push(crowd.spawn(Agent::at(place))?);
    }
    let banner = |time: f64| DVec2::new(time, 5.0 * (0.2 * time).sin());
    for _ in 0..400 {
        let banner = banner(crowd.time());
        for &agent in &agents {
            let wanted = (banner - crowd.position(agent)?).clamp_length_max(1.3);
            crowd.set_preferred_velocity(agent, Some(wanted))?;
        }
        crowd.step();
    }
    let banner = banner(crowd.time());
    let distances = crowd.agents().map(|agent| agent.position().distance(banner));
    println!("{} agents, {:.1} m from the banner on average", crowd.len(), distances.sum::<f64>() / 200.0);
    Ok(())
}
