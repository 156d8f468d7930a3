//! Hello, crowd: a hundred agents walk through a gap.
use throng::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut crowd = Crowd::builder()
        .obstacle("north", &[[10.0, 1.0], [11.0, 1.0], [11.0, 30.0], [10.0, 30.0]])
        .obstacle("south", &[[10.0, -1.0], [11.0, -1.0], [11.0, -30.0], [10.0, -30.0]])
        .macroscale(Navmesh::default())
        .build()?;
    for i in 0..100 {
        crowd.spawn(
            Agent::at([f64::from(i % 10), f64::from(i / 10) - 5.0]).goal([25.0, 0.1 * f64::from(i - 50)]),
        )?;
    }
    while crowd.agents().any(|agent| agent.status() != Status::Arrived) && crowd.time() < 300.0 {
        crowd.step();
    }
    println!("{} agents on the other side after {:.0} s", crowd.len(), crowd.time());
    Ok(())
}
