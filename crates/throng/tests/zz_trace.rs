//! trace
use throng::{Scenario, Simulation};
#[test]
fn trace() {
    let text = std::fs::read_to_string(std::env::var("SC").unwrap()).unwrap();
    let sc = Scenario::parse(&text, "t.toml", None).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Simulation::with_threads(&sc, 1).unwrap();
    let until: f64 = std::env::var("T").unwrap().parse().unwrap();
    let ids: Vec<u32> = std::env::var("IDS").unwrap_or("0,1".into()).split(',').map(|s| s.parse().unwrap()).collect();
    while sim.frame().time < until {
        for _ in 0..5 { sim.step(); }
        let mut line = format!("{:.1}", sim.frame().time);
        for &id in &ids { if let Some(e) = sim.explain(id) { line += &format!(" | {id}: ({:.2},{:.2}) v({:.2},{:.2}) want({:.2},{:.2}) got({:.2},{:.2}) f{:.2} w{} p{}", e.position[0], e.position[1], e.velocity.x, e.velocity.y, e.wanted.x, e.wanted.y, e.chosen.x, e.chosen.y, e.frustration, e.walls.len(), e.half_planes.len()); } }
        println!("{line}");
    }
}
