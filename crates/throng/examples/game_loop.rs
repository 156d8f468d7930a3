//! A game loop: agents come and go, a door closes and opens, and a player walks through the crowd.
use throng::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let room = [[0.0, 0.0], [40.0, 0.0], [40.0, 20.0], [0.0, 20.0]];
    let mut crowd = Crowd::builder()
        .dt(1.0 / 30.0)
        .walkable(&room)
        .obstacle("wall, south", &[[20.0, 0.0], [21.0, 0.0], [21.0, 8.0], [20.0, 8.0]])
        .obstacle("wall, north", &[[20.0, 12.0], [21.0, 12.0], [21.0, 20.0], [20.0, 20.0]])
        .macroscale(Navmesh::default())
        .cohort(Cohort::named("guests").leaves_on_arrival().goal_radius(0.5))
        .build()?;
    // A body that only the game moves: agents avoid it, and it avoids nobody.
    let player = crowd.spawn_mover(Mover::at([5.0, 10.0]).radius(0.4))?;
    let door = [[20.0, 8.0], [21.0, 8.0], [21.0, 12.0], [20.0, 12.0]];
    let (mut came, mut left) = (0, 0);

    for frame in 0..1800 {
        if frame % 15 == 0 {
            let y = 2.0 + f64::from(frame % 64) / 4.0;
            crowd.spawn(Agent::at([1.0, y]).goal([38.0, 20.0 - y]))?;
            came += 1;
        }
        match frame {
            600 => crowd.add_obstacle("door", &door)?,
            900 => crowd.remove_obstacle("door")?,
            _ => {}
        }
        let t = crowd.time();
        let position = [20.0 + 15.0 * (0.2 * t).sin(), 10.0];
        crowd.set_mover(player, position, [3.0 * (0.2 * t).cos(), 0.0])?;

        crowd.step();
        left += crowd.departures().len();
        // Here a game would draw `crowd.agents()`.
    }
    println!("{came} came, {left} reached their goals and left, {} are on their way", crowd.len());
    Ok(())
}
