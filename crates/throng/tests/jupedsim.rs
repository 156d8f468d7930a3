//! Beside JuPedSim (PyPI's `jupedsim`): the models that both have, with the same starts, goals, values and steps.

use super::{Outcome, Places, furthest, run_python, sparse_crowd};
use serde_json::json;
use throng::prelude::*;

const JUPEDSIM: &str = r#"
import json, math, sys
import jupedsim as jps
run = json.load(sys.stdin)
model, parameters = {
    "collision-free-speed": (jps.CollisionFreeSpeedModel(), jps.CollisionFreeSpeedModelAgentParameters),
    "anticipation-velocity": (jps.AnticipationVelocityModel(rng_seed=1), jps.AnticipationVelocityModelAgentParameters),
    "social-force": (jps.SocialForceModel(), jps.SocialForceModelAgentParameters),
}[run["model"]]
sim = jps.Simulation(model=model, geometry=[tuple(corner) for corner in run["area"]], dt=run["dt"])
agents = []
for start, goal, speed in zip(run["starts"], run["goals"], run["speeds"]):
    stage = sim.add_waypoint_stage(tuple(goal), 0.001)
    journey = sim.add_journey(jps.JourneyDescription([stage]))
    agents.append(sim.add_agent(parameters(
        position=tuple(start), journey_id=journey, stage_id=stage, desired_speed=speed, radius=run["radius"])))
steps, left = [], set()
for _ in range(run["steps"]):
    sim.iterate()
    places = []
    for agent, goal in zip(agents, run["goals"]):
        at = [math.nan, math.nan]
        if agent not in left:
            at = list(sim.agent(agent).position)
            if math.dist(at, goal) < run["leave"]:
                sim.mark_agent_for_removal(agent)
                left.add(agent)
        places.append([None if math.isnan(x) else x for x in at])
    steps.append(places)
json.dump(steps, sys.stdout)
"#;

/// A crowd that both run.
struct Run {
    model: &'static str,
    dt: f64,
    steps: usize,
    radius: f64,
    area: Vec<[f64; 2]>,
    starts: Vec<[f64; 2]>,
    goals: Vec<[f64; 2]>,
    speeds: Vec<f64>,
    /// An agent that is this close to its goal is gone, m.
    leave: f64,
}

/// Where an agent that has gone is.
const GONE: [f64; 2] = [f64::NAN; 2];

impl Run {
    fn theirs(&self) -> Result<Result<Places, String>, String> {
        let run = json!({
            "model": self.model, "dt": self.dt, "steps": self.steps, "radius": self.radius, "area": self.area,
            "starts": self.starts, "goals": self.goals, "speeds": self.speeds, "leave": self.leave,
        });
        let printed = match run_python("jupedsim", JUPEDSIM, &run.to_string())? {
            Ok(printed) => printed,
            Err(reason) => return Ok(Err(reason)),
        };
        let steps: Vec<Vec<[Option<f64>; 2]>> =
            serde_json::from_str(&printed).map_err(|error| error.to_string())?;
        let place = |[x, y]: [Option<f64>; 2]| x.zip(y).map_or(GONE, |(x, y)| [x, y]);
        Ok(Ok(steps.into_iter().map(|places| places.into_iter().map(place).collect()).collect()))
    }

    fn ours(&self) -> Result<Places, Box<dyn std::error::Error>> {
        let mut crowd = Crowd::builder()
            .dt(self.dt)
            .threads(1)
            .walkable(&self.area)
            .preset(Preset::Paper)
            .microscale_named(self.model, settings([]))
            .cohort(Cohort::default().goal_radius(self.leave).leaves_on_arrival())
            .build()?;
        let mut agents = Vec::new();
        for ((&start, &goal), &speed) in self.starts.iter().zip(&self.goals).zip(&self.speeds) {
            let agent = Agent::at(start).goal(goal).speed(speed).max_speed(10.0).radius(self.radius);
            agents.push(crowd.spawn(agent)?);
        }
        let mut places = Vec::new();
        for _ in 0..self.steps {
            crowd.step();
            let place = |&agent: &AgentId| crowd.position(agent).map_or(GONE, |place| place.to_array());
            places.push(agents.iter().map(place).collect());
        }
        Ok(places)
    }
}

pub fn collision_free_speed_agrees() -> Result<Outcome, String> {
    agree("collision-free-speed", 0.1)
}

pub fn anticipation_velocity_agrees() -> Result<Outcome, String> {
    agree("anticipation-velocity", 0.1)
}

pub fn social_force_agrees() -> Result<Outcome, String> {
    agree("social-force", 0.05)
}

pub fn collision_free_flow_agrees() -> Result<Outcome, String> {
    flow_agrees("collision-free-speed", 0.1)
}

pub fn anticipation_flow_agrees() -> Result<Outcome, String> {
    flow_agrees("anticipation-velocity", 0.1)
}

/// In steps that JuPedSim can take.
pub fn social_force_flow_agrees() -> Result<Outcome, String> {
    flow_agrees("social-force", 0.02)
}

/// 40 agents who cross a square in the open, 20 s, six crowds. All but a tenth of them stay within 5 mm. The rest meets
/// head-on, or where a side is chosen by a sign: there the last bit decides, and double precision has others.
fn agree(model: &'static str, dt: f64) -> Result<Outcome, String> {
    let mut apart = Vec::new();
    for seed in 0..6 {
        let run = crossing(model, dt, seed);
        let theirs = match run.theirs()? {
            Ok(theirs) => theirs,
            Err(reason) => return Ok(Outcome::Skipped(reason)),
        };
        let ours = run.ours().map_err(|error| error.to_string())?;
        let of_agent = |places: &Places, i: usize| places.iter().map(|places| vec![places[i]]).collect();
        apart.extend((0..run.starts.len()).map(|i| furthest(&of_agent(&ours, i), &of_agent(&theirs, i))));
    }
    apart.sort_by(f64::total_cmp);
    let part = |part: f64| apart[(part * (apart.len() - 1) as f64) as usize] * 1e3;
    let (median, most) = (part(0.5), part(0.9));
    println!(
        "{model}: {median:.4} mm from JuPedSim, 9 of 10 within {most:.4} mm, all within {:.0} mm",
        part(1.0)
    );
    if most <= 5.0 { Ok(Outcome::Passed) } else { Err(format!("9 of 10 only within {most} mm")) }
}

/// Agents of all speeds, with goals far beyond the square: what an agent does that has arrived is not the model's.
fn crossing(model: &'static str, dt: f64, seed: u64) -> Run {
    let (starts, aims) = sparse_crowd(seed);
    let beyond = |(start, aim): (&[f64; 2], &[f64; 2])| {
        let (start, aim) = (DVec2::from(*start), DVec2::from(*aim));
        (start + (aim - start).normalize() * 70.0).to_array()
    };
    Run {
        model,
        dt,
        steps: (20.0 / dt).round() as usize,
        radius: 0.2,
        area: vec![[-100.0, -100.0], [100.0, -100.0], [100.0, 100.0], [-100.0, 100.0]],
        goals: starts.iter().zip(&aims).map(beyond).collect(),
        speeds: (0..starts.len()).map(|i| 1.0 + 0.01 * i as f64).collect(),
        starts,
        leave: 0.1,
    }
}

/// 60 agents who leave a room that narrows towards its exit: how many pass in a second, over six crowds, is within 5 %.
fn flow_agrees(model: &'static str, dt: f64) -> Result<Outcome, String> {
    let (mut ours, mut theirs) = (0.0, 0.0);
    for seed in 0..6 {
        let run = funnel(model, dt, seed);
        theirs += match run.theirs()? {
            Ok(theirs) => time_until_most_have_gone(&theirs, dt)?,
            Err(reason) => return Ok(Outcome::Skipped(reason)),
        };
        ours += time_until_most_have_gone(&run.ours().map_err(|error| error.to_string())?, dt)?;
    }
    println!("{model}: {:.1} s to leave a funnel, in JuPedSim {:.1} s", ours / 6.0, theirs / 6.0);
    let ratio = ours / theirs;
    if (0.95..1.05).contains(&ratio) { Ok(Outcome::Passed) } else { Err(format!("ratio {ratio}")) }
}

/// The exit is where the walls meet, so that the straight way there is free from everywhere and no planner plays a part.
fn funnel(model: &'static str, dt: f64, seed: u64) -> Run {
    let mut random = throng_core::rng::stream(seed, 0, 0, throng_core::rng::Purpose::Place);
    let (across, along) = (6, 10);
    let lattice = (0..across * along).map(|i| ((i % across) as f64, (i / across) as f64));
    let starts = lattice.map(|(column, line)| {
        [-4.0 - 0.8 * line + random.uniform(-0.1, 0.1), 0.7 * (column - 2.5) + random.uniform(-0.1, 0.1)]
    });
    Run {
        model,
        dt,
        steps: (120.0 / dt).round() as usize,
        radius: 0.2,
        area: vec![[-14.0, -4.0], [-6.0, -4.0], [1.0, -0.6], [1.0, 0.6], [-6.0, 4.0], [-14.0, 4.0]],
        starts: starts.collect(),
        goals: vec![[0.5, 0.0]; across * along],
        speeds: (0..across * along).map(|i| 1.0 + 0.01 * i as f64).collect(),
        leave: 0.5,
    }
}

/// When nine of ten have gone, s: the last ones may stand in a corner.
fn time_until_most_have_gone(places: &Places, dt: f64) -> Result<f64, String> {
    let left = |places: &Vec<[f64; 2]>| places.iter().filter(|place| place[0].is_nan()).count();
    let step = places.iter().position(|places| 10 * left(places) >= 9 * places.len());
    step.map(|step| step as f64 * dt).ok_or_else(|| format!("{} have left", places.last().map_or(0, left)))
}
