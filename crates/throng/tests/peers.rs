//! Beside other systems: RVO2 (PyPI's `pyrvo`), JuPedSim and PedPy, through Python. Where they are not installed a test says so
//! and counts as skipped, never as passed.

mod jupedsim;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use throng::prelude::*;
use throng::record::{RecordOptions, Recorder};
use throng::{Scenario, Simulation};

enum Outcome {
    Passed,
    Skipped(String),
}

type Test = fn() -> Result<Outcome, String>;

const TESTS: [(&str, Test); 10] = [
    ("orca_agrees_with_rvo2_where_the_crowd_is_sparse", orca_agrees_with_rvo2),
    ("orca_agrees_with_rvo2_in_steps_of_any_length", orca_agrees_in_steps_of_any_length),
    ("collision_free_speed_agrees_with_jupedsim", jupedsim::collision_free_speed_agrees),
    ("anticipation_velocity_agrees_with_jupedsim", jupedsim::anticipation_velocity_agrees),
    ("social_force_agrees_with_jupedsim", jupedsim::social_force_agrees),
    ("the_flow_of_collision_free_speed_agrees_with_jupedsim", jupedsim::collision_free_flow_agrees),
    ("the_flow_of_anticipation_velocity_agrees_with_jupedsim", jupedsim::anticipation_flow_agrees),
    ("the_flow_of_social_force_agrees_with_jupedsim", jupedsim::social_force_flow_agrees),
    ("pedpy_loads_the_sqlite_of_a_run", pedpy_loads_sqlite),
    ("pedpy_loads_the_txt_of_a_run", pedpy_loads_txt),
];

fn main() -> ExitCode {
    let filters: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (name, test) in TESTS {
        if !filters.is_empty() && !filters.iter().any(|filter| name.contains(filter)) {
            continue;
        }
        match test() {
            Ok(Outcome::Passed) => {
                passed += 1;
                println!("test {name} ... ok");
            }
            Ok(Outcome::Skipped(reason)) => {
                skipped += 1;
                println!("test {name} ... skipped: {reason}");
            }
            Err(reason) => {
                failed += 1;
                println!("test {name} ... FAILED\n{reason}");
            }
        }
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The interpreter that the test command has set up, or the system's.
fn python() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/python");
    let named = std::env::var_os("THRONG_PYTHON").map(PathBuf::from);
    named.or_else(|| own.exists().then_some(own)).unwrap_or_else(|| "python3".into())
}

/// What a script prints, or why a module that it needs is not there.
fn run_python(module: &str, script: &str, input: &str) -> Result<Result<String, String>, String> {
    let import = Command::new(python()).args(["-c", &format!("import {module}")]).output();
    if !import.is_ok_and(|output| output.status.success()) {
        return Ok(Err(format!("no Python module `{module}`; the test command installs it")));
    }
    let mut child = Command::new(python())
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    child.stdin.take().unwrap().write_all(input.as_bytes()).map_err(|error| error.to_string())?;
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(Ok(String::from_utf8_lossy(&output.stdout).into_owned()))
}

const RVO2: &str = r#"
import json, math, sys
import pyrvo
run = json.load(sys.stdin)
sim = pyrvo.RVOSimulator(0.1, 5.0, 10, 3.0, 1.0, run["radius"], run["max_speed"])
for start in run["starts"]:
    sim.add_agent(tuple(start))
steps = []
for dt in run["steps"]:
    sim.set_time_step(dt)
    for i, goal in enumerate(run["goals"]):
        at = sim.get_agent_position(i)
        dx, dy = goal[0] - at.x, goal[1] - at.y
        distance = math.hypot(dx, dy)
        speed = min(run["speed"], distance / dt)
        scale = speed / distance if distance > 0 else 0.0
        sim.set_agent_pref_velocity(i, (dx * scale, dy * scale))
    sim.do_step()
    steps.append([[sim.get_agent_position(i).x, sim.get_agent_position(i).y] for i in range(len(run["starts"]))])
json.dump(steps, sys.stdout)
"#;

/// 40 agents with goals in open space, 200 steps: within 1 mm of RVO2 all the way, for several crowds.
fn orca_agrees_with_rvo2() -> Result<Outcome, String> {
    agree_with_rvo2(12, &[0.1; 200])
}

/// The same where every step has another length, as in a game.
fn orca_agrees_in_steps_of_any_length() -> Result<Outcome, String> {
    let steps: Vec<f64> = (0..200).map(|step| [1.0 / 60.0, 0.1, 1.0 / 30.0, 0.05, 0.12][step % 5]).collect();
    agree_with_rvo2(4, &steps)
}

/// Two agents who meet head-on pass on a side that the last bit may decide. A crowd that disagrees, and in which rounding alone
/// moves an agent by more than a tenth of the bar, says nothing of the model. At least three in four must agree.
fn agree_with_rvo2(crowds: u64, steps: &[f64]) -> Result<Outcome, String> {
    let mut compared = 0;
    for seed in 0..crowds {
        let (starts, goals) = sparse_crowd(seed);
        let run = serde_json::json!({
            "radius": 0.25, "speed": 1.3, "max_speed": 1.8, "steps": steps, "starts": starts, "goals": goals,
        });
        let printed = match run_python("pyrvo", RVO2, &run.to_string())? {
            Ok(printed) => printed,
            Err(reason) => return Ok(Outcome::Skipped(reason)),
        };
        let theirs: Places = serde_json::from_str(&printed).map_err(|error| error.to_string())?;
        let ours = |origin: [f64; 2]| walk(&starts, &goals, steps, origin).map_err(|error| error.to_string());
        let (at_zero, aside) = (ours([0.0, 0.0])?, ours([3.0, -5.0])?);
        let (apart, rounding) = (furthest(&at_zero, &theirs), furthest(&at_zero, &aside));
        if apart > 1e-3 && rounding > 1e-4 {
            println!("crowd {seed}: rounding alone moves an agent by {:.2} mm, passed over", rounding * 1e3);
            continue;
        }
        if apart > 1e-3 {
            return Err(format!("crowd {seed}: {apart} m from RVO2, and {rounding} m by rounding alone"));
        }
        let bent = at_zero.iter().flat_map(|places| places.iter().enumerate());
        let bent = bent.map(|(i, &at)| from_line(starts[i], goals[i], at.into())).fold(0.0, f64::max);
        if bent < 0.1 {
            return Err(format!("crowd {seed} shows nothing: no agent is more than {bent} m from its line"));
        }
        compared += 1;
        println!(
            "crowd {seed}: at most {:.4} mm from RVO2, up to {bent:.2} m from the straight line",
            apart * 1e3
        );
    }
    if 4 * compared >= 3 * crowds {
        Ok(Outcome::Passed)
    } else {
        Err(format!("only {compared} of {crowds} compared"))
    }
}

/// By step and agent.
type Places = Vec<Vec<[f64; 2]>>;

fn walk(
    starts: &[[f64; 2]],
    goals: &[[f64; 2]],
    steps: &[f64],
    origin: [f64; 2],
) -> Result<Places, Box<dyn std::error::Error>> {
    let cohort = Cohort::default().goal_radius(0.01);
    let mut crowd = Crowd::builder().threads(1).origin(origin).cohort(cohort).build()?;
    let mut agents = Vec::new();
    for (&start, &goal) in starts.iter().zip(goals) {
        agents.push(crowd.spawn(Agent::at(start).goal(goal).speed(1.3).max_speed(1.8))?);
    }
    let mut places = Vec::new();
    for &dt in steps {
        crowd.step_by(dt)?;
        let place = |&agent: &AgentId| crowd.position(agent).map(|place| place.to_array());
        places.push(agents.iter().map(place).collect::<Result<Vec<_>, _>>()?);
    }
    Ok(places)
}

/// How far two runs come apart, m.
fn furthest(a: &Places, b: &Places) -> f64 {
    let places = a.iter().flatten().zip(b.iter().flatten());
    places.map(|(a, b)| f64::hypot(a[0] - b[0], a[1] - b[1])).fold(0.0, f64::max)
}

/// Starts and goals in a square of 40 m, no two starts and no two goals closer than 2 m.
fn sparse_crowd(seed: u64) -> (Vec<[f64; 2]>, Vec<[f64; 2]>) {
    let mut random = throng_core::rng::stream(seed, 0, 0, throng_core::rng::Purpose::Place);
    let mut scatter = || {
        let mut places: Vec<[f64; 2]> = Vec::new();
        while places.len() < 40 {
            let place = [random.uniform(-20.0, 20.0), random.uniform(-20.0, 20.0)];
            if places.iter().all(|other| f64::hypot(other[0] - place[0], other[1] - place[1]) > 2.0) {
                places.push(place);
            }
        }
        places
    };
    (scatter(), scatter())
}

fn from_line(a: [f64; 2], b: [f64; 2], p: glam::DVec2) -> f64 {
    let (a, b) = (glam::DVec2::from(a), glam::DVec2::from(b));
    ((b - a).perp_dot(p - a) / a.distance(b)).abs()
}

const PEDPY: &str = r#"
import pathlib, sys
import pedpy
path = pathlib.Path(sys.stdin.read())
if path.suffix == ".sqlite":
    trajectory = pedpy.load_trajectory_from_jupedsim_sqlite(trajectory_file=path)
    area = pedpy.load_walkable_area_from_jupedsim_sqlite(trajectory_file=path)
    print("area", area.polygon.area)
else:
    trajectory = pedpy.load_trajectory_from_txt(trajectory_file=path)
    print("area", 0)
data = trajectory.data
first = data[(data.id == 0) & (data.frame == 0)].iloc[0]
print("rate", trajectory.frame_rate)
print("agents", data.id.nunique())
print("rows", len(data))
print("first", first.x, first.y)
"#;

fn pedpy_loads_sqlite() -> Result<Outcome, String> {
    pedpy_loads("sqlite", 12.0 * 6.0 - 1.0)
}

fn pedpy_loads_txt() -> Result<Outcome, String> {
    pedpy_loads("txt", 0.0)
}

fn pedpy_loads(extension: &str, area: f64) -> Result<Outcome, String> {
    let text = "format = 1\nname = \"pedpy\"\n[map]\nwalkable = \"POLYGON ((0 0, 12 0, 12 6, 0 6, 0 0))\"\n\
                obstacles = [[[6, 3], [7, 3], [7, 4], [6, 4]]]\n\
                [[agents]]\nplace = { grid = { from = [1, 1], columns = 2, spacing = 1 } }\ncount = 6\ngoal = { offset = [9, 0.5] }\n";
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join(format!("run.{extension}"));
    let scenario = Scenario::parse(text, "pedpy.toml", None).map_err(|error| error.to_string())?;
    let mut simulation = Simulation::with_threads(&scenario, 1).map_err(|error| error.to_string())?;
    let mut recorder = Recorder::create_with(&path, simulation.info(), RecordOptions::default())
        .map_err(|error| error.to_string())?;
    recorder.frame(simulation.frame()).map_err(|error| error.to_string())?;
    for _ in 0..50 {
        simulation.step();
        recorder.frame(simulation.frame()).map_err(|error| error.to_string())?;
    }
    recorder.finish().map_err(|error| error.to_string())?;
    let printed = match run_python("pedpy", PEDPY, &path.to_string_lossy())? {
        Ok(printed) => printed,
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    let expected = format!("area {area:?}\nrate 10.0\nagents 6\nrows {}\nfirst 1.0 1.0\n", 6 * 51);
    let same = printed.replace("area 0\n", "area 0.0\n") == expected;
    if same { Ok(Outcome::Passed) } else { Err(format!("PedPy says\n{printed}\ninstead of\n{expected}")) }
}
