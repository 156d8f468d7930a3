//! scratch
use glam::DVec2;
use throng::scenario::*;
use throng::*;
use throng_core::params::Value;
fn settings(block: &str, kv: &[(&str, f64)]) -> Settings {
    let mut s = Settings::new();
    s.insert(block.into(), kv.iter().map(|(k, v)| (k.to_string(), Value::Number(*v))).collect());
    s
}
fn base(model: &str, dt: f64, agents: Vec<AgentStart>, goal_radius: f64, params: Settings) -> Scenario {
    Scenario {
        name: "x".into(),
        seed: 0,
        dt,
        until: 1e9,
        pipeline: Pipeline {
            macroscale: "straight".into(),
            mesoscale: vec![],
            microscale: model.into(),
            motion: "holonomic".into(),
        },
        params,
        map: FloorPlan::default(),
        cohorts: vec![Cohort {
            name: "a".into(),
            agents,
            leaves: false,
            goal_radius,
            responsibility: 0.5,
            microscale: None,
            params: Settings::new(),
        }],
        areas: vec![],
        movers: vec![],
        events: vec![],
        expect: Default::default(),
        source: String::new(),
    }
}
fn scale(n: usize) -> Scenario {
    let side = (n as f64 / 0.25).sqrt();
    let mut s = 12345u64;
    let mut r = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 11) as f64 / (1u64 << 53) as f64
    };
    let agents = (0..n)
        .map(|_| AgentStart {
            position: DVec2::new(r() * side, r() * side),
            goal: Goal::Point(DVec2::new(r() * side, r() * side)),
            radius: 0.25,
            preferred_speed: 1.3,
            max_speed: 1.5,
            start: 0.0,
        })
        .collect();
    base("orca", 0.1, agents, 0.25, settings("orca", &[("time_horizon", 3.0)]))
}
fn circle(model: &str, n: usize, radius: f64) -> Scenario {
    let agents = (0..n)
        .map(|i| {
            let a = i as f64 / n as f64 * std::f64::consts::TAU;
            let p = DVec2::new(a.cos(), a.sin()) * radius;
            AgentStart {
                position: p,
                goal: Goal::Point(-p),
                radius: 1.5,
                preferred_speed: 1.0,
                max_speed: 2.0,
                start: 0.0,
            }
        })
        .collect();
    let mut p = settings(model, &[("neighbor_distance", 15.0), ("max_neighbors", 10.0)]);
    if model == "orca" {
        p.get_mut("orca").unwrap().insert("time_horizon".into(), Value::Number(10.0));
    }
    for a in std::env::args().skip(5) {
        let (k, v) = a.split_once('=').unwrap();
        let (b, k) = k.split_once('.').unwrap();
        p.entry(b.into()).or_default().insert(
            k.into(),
            match v {
                "true" => Value::Flag(true),
                "false" => Value::Flag(false),
                v => Value::Number(v.parse().unwrap()),
            },
        );
    }
    base(model, 0.25, agents, 1.5, p)
}
fn collisions(sim: &Simulation) -> (usize, f32) {
    let a = &sim.world().agents;
    let mut n = 0;
    let mut deep = 0f32;
    let mut idx: Vec<usize> = (0..a.len()).collect();
    idx.sort_by(|&i, &j| a.x[i].total_cmp(&a.x[j]));
    for (k, &i) in idx.iter().enumerate() {
        for &j in &idx[k + 1..] {
            let dx = a.x[j] - a.x[i];
            if dx > 3.0 {
                break;
            }
            let d = (dx * dx + (a.y[j] - a.y[i]).powi(2)).sqrt();
            let o = a.radius[i] + a.radius[j] - d;
            deep = deep.max(o);
            if o > 1e-3 {
                n += 1;
            }
        }
    }
    (n, deep)
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args[1].as_str() {
        "scale" => {
            for n in args[3..].iter().map(|n| n.parse::<usize>().unwrap()) {
                let mut sim = Simulation::with_threads(&scale(n), args[2].parse().unwrap()).unwrap();
                let steps = (3_000_000 / n).clamp(10, 2000);
                for _ in 0..5 {
                    sim.step();
                }
                let mut best = (f64::MAX, String::new());
                let block = (100_000 / n).max(1);
                for _ in 0..(steps / block).max(3) {
                    let t0 = sim.timings().total;
                    let t = std::time::Instant::now();
                    for _ in 0..block {
                        sim.step();
                    }
                    let e = t.elapsed().as_secs_f64() * 1e9 / (n * block) as f64;
                    let f = |d: std::time::Duration| d.as_secs_f64() * 1e9 / (n * block) as f64;
                    let tt = sim.timings().total;
                    if e < best.0 {
                        best = (
                            e,
                            format!(
                                "macro {:.1} micro {:.1} motion {:.1} commit {:.1}",
                                f(tt.macroscale - t0.macroscale),
                                f(tt.microscale - t0.microscale),
                                f(tt.motion - t0.motion),
                                f(tt.commit - t0.commit)
                            ),
                        );
                    }
                }
                println!("{n}: {:.0} ns {} hash {:x}", best.0, best.1, sim.state_hash());
            }
        }
        _ => {
            let n: usize = args[3].parse().unwrap();
            let r: f64 = args[4].parse().unwrap();
            let mut sim = Simulation::with_threads(&circle(&args[2], n, r), 1).unwrap();
            let t = std::time::Instant::now();
            let (mut c, mut deep, mut steps) = (0, 0f32, 0);
            while !sim.is_done() && sim.world().time() < 10.0 * r {
                sim.step();
                if let Ok(w) = std::env::var("WATCH") {
                    let w: Vec<u32> = w.split(',').map(|x| x.parse().unwrap()).collect();
                    if steps % 20 == 0
                        && sim.world().time() > std::env::var("FROM").unwrap().parse::<f64>().unwrap()
                    {
                        for w in w {
                            let e = sim.explain(w).unwrap();
                            println!(
                                "{:.0}s {w} at {:.1},{:.1} r {:.1} v {:.2},{:.2} pref {:.2},{:.2} want {:.2},{:.2} f {:.2} n {} near {:.2?}",
                                sim.world().time(),
                                e.position[0],
                                e.position[1],
                                e.position[0].hypot(e.position[1]),
                                e.velocity.x,
                                e.velocity.y,
                                e.preferred.x,
                                e.preferred.y,
                                e.wanted.x,
                                e.wanted.y,
                                e.frustration,
                                e.neighbors.len(),
                                e.neighbors
                                    .iter()
                                    .take(4)
                                    .map(|n| (
                                        (n.position[0] - e.position[0]).hypot(n.position[1] - e.position[1]),
                                        n.velocity.length()
                                    ))
                                    .collect::<Vec<_>>()
                            );
                        }
                    }
                }
                let (n, d) = collisions(&sim);
                c += n;
                if d > 0.1 && std::env::var("V").is_ok() {
                    println!("t {:.2} depth {d:.3} pairs {n}", sim.world().time());
                }
                deep = deep.max(d);
                steps += 1;
            }
            if !sim.is_done() {
                let a = &sim.world().agents;
                for i in 0..a.len() {
                    if a.arrival[i] < 0.0 {
                        println!(
                            "stuck id {} at {:.2} {:.2} v {:.2} {:.2} goal {:.2} {:.2} f {:.2}",
                            a.id[i],
                            a.x[i],
                            a.y[i],
                            a.vx[i],
                            a.vy[i],
                            a.goal_x[i],
                            a.goal_y[i],
                            a.frustration[i]
                        );
                    }
                }
            }
            {
                let a = &sim.world().agents;
                let i = (0..a.len()).max_by(|&i, &j| a.arrival[i].total_cmp(&a.arrival[j])).unwrap();
                print!("last {} ", a.id[i]);
            }
            let mut av: Vec<f32> = sim.world().agents.arrival.clone();
            av.sort_by(f32::total_cmp);
            print!(
                "p50 {:.0} p90 {:.0} p99 {:.0} ",
                av[av.len() / 2],
                av[av.len() * 9 / 10],
                av[av.len() * 99 / 100]
            );
            println!(
                "{} {n} r{r}: t {:.0} (free {}) arrived {} collisions {:.2} deepest {:.3} wall {:.1}s micro {:.0}us",
                args[2],
                sim.world().time(),
                2.0 * r,
                sim.arrived(),
                c as f64 / steps as f64,
                deep,
                t.elapsed().as_secs_f64(),
                sim.timings().total.microscale.as_secs_f64() * 1e6 / steps as f64
            );
        }
    }
}
