//! Save and replay: a crowd as bytes, and the edits that make the same run again, bit by bit.
use throng::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut crowd = Crowd::builder().seed(7).build()?;
    let begin = crowd.save()?;
    crowd.log_edits(true);

    let mut agents = Vec::new();
    for step in 0..300u32 {
        if step % 3 == 0 {
            let angle = f64::from(step);
            let place = DVec2::from_angle(angle) * 20.0;
            agents.push(crowd.spawn(Agent::at(place).goal(-place))?);
        }
        if step % 50 == 49 {
            crowd.despawn(agents.remove(0))?;
        }
        crowd.step();
    }
    let log = crowd.take_log();
    println!("{} edits, {} bytes; state {:016x}", log.edits.len(), log.to_bytes().len(), crowd.state_hash());

    // In another process, or on another machine of a lockstep game.
    let mut again = Crowd::load(&begin)?;
    again.replay(&EditLog::from_bytes(&log.to_bytes())?, crowd.steps())?;
    assert_eq!(again.state_hash(), crowd.state_hash());

    // From the middle on.
    let mut same = Crowd::load(&crowd.save()?)?;
    (0..100).for_each(|_| (same.step(), crowd.step()).0);
    assert_eq!(same.state_hash(), crowd.state_hash());
    println!("replayed and resumed: the same bits");
    Ok(())
}
