//! Beside other systems: RVO2 (PyPI's `pyrvo`), JuPedSim and PedPy, through Python. Where they are not installed a test says so
//! and counts as skipped, never as passed.

mod jupedsim;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use throng::measure::{Measure, Place, of_run};
use throng::prelude::*;
use throng::record::{GeometrySpan, RecordOptions, Recorder, open_run};
use throng::{Scenario, Simulation};

enum Outcome {
    Passed,
    Skipped(String),
}

type Test = fn() -> Result<Outcome, String>;

const TESTS: [(&str, Test); 12] = [
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
    ("pedpy_measures_a_run_alike", pedpy_measures_a_run),
    ("pedpy_measures_a_recorded_bottleneck_alike", pedpy_measures_a_bottleneck),
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
    let crowd = Crowd::builder().threads(1).origin(origin).cohort(cohort);
    let mut crowd = crowd.build()?;
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

const PEDPY_MEASURES: &str = r#"
import json, pathlib, sys, warnings
warnings.simplefilter("ignore")
import pedpy, shapely
asked = json.load(sys.stdin)
path = pathlib.Path(asked["path"])
load = pedpy.load_trajectory_from_jupedsim_sqlite if path.suffix == ".sqlite" else pedpy.load_trajectory_from_txt
run = load(trajectory_file=path)
floor = pedpy.WalkableArea(shapely.from_wkt(asked["walkable"]))
line = pedpy.MeasurementLine(asked["line"])
area = pedpy.MeasurementArea(asked["area"])
n_t, crossed = pedpy.compute_n_t(traj_data=run, measurement_line=line)
first, last = crossed.frame.min() / run.frame_rate, crossed.frame.max() / run.frame_rate
print("crossings", len(crossed))
print("flow", (len(crossed) - 1) / (last - first))
print("density", pedpy.compute_classic_density(traj_data=run, measurement_area=area).density.mean())
speed = pedpy.compute_individual_speed(traj_data=run, frame_step=round(0.4 * run.frame_rate),
    speed_calculation=pedpy.SpeedCalculation.BORDER_ADAPTIVE)
inside = run.data[shapely.within(run.data.point, area.polygon)].merge(speed, on=["id", "frame"])
print("speed", inside.groupby("frame").speed.mean().mean())
# Cells are slow there: once a second is enough.
whole = run.data[(run.data.frame - run.data.frame.min()) % round(run.frame_rate) == 0]
some = pedpy.TrajectoryData(whole[["id", "frame", "x", "y"]], run.frame_rate)
for name, cut_off in [("voronoi", None), ("voronoi within 0.8 m", pedpy.Cutoff(radius=0.8, quad_segments=3))]:
    cells = pedpy.compute_individual_voronoi_polygons(traj_data=some, walkable_area=floor, cut_off=cut_off)
    density, _ = pedpy.compute_voronoi_density(individual_voronoi_data=cells, measurement_area=area)
    print(name, density[density.frame.isin(some.data.frame)].density.mean())
"#;

/// A line, an area and a floor, and a file in which they are measured.
struct Measured<'a> {
    path: &'a Path,
    walkable: &'a str,
    line: [[f64; 2]; 2],
    area: &'a [[f64; 2]],
}

/// Every figure within 1 % of PedPy's.
fn measures_alike(Measured { path, walkable, line, area }: Measured<'_>) -> Result<Outcome, String> {
    let asked = serde_json::json!({ "path": path, "walkable": walkable, "line": line, "area": area });
    let printed = match run_python("pedpy", PEDPY_MEASURES, &asked.to_string())? {
        Ok(printed) => printed,
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    let mut run = open_run(path).map_err(|error| error.to_string())?;
    run.geometry = vec![GeometrySpan { from_frame: 0, wkt: walkable.into() }];
    let crossings = of_run(&run, Measure::line("line", line[0], line[1])).line().unwrap();
    let every_frame = Measure { every: 1.0 / run.fps, ..Measure::area("area", area) };
    let counted = of_run(&run, every_frame).area().unwrap();
    let cells = |cut_off| {
        let Place::Area(ring) = Measure::area("area", area).place else {
            unreachable!("an area was asked for")
        };
        let from = f64::from(run.frames().0) / run.fps;
        let measure = Measure { voronoi: true, cut_off, every: 1.0, from, ..Measure::area("area", &ring) };
        of_run(&run, measure).area().unwrap().voronoi_mean
    };
    let ours = [
        ("crossings", Some(crossings.crossings as f64)),
        ("flow", crossings.flow),
        ("density", counted.density_mean),
        ("speed", counted.speed_mean),
        ("voronoi", cells(None)),
        ("voronoi within 0.8 m", cells(Some(0.8))),
    ];
    for (line, (name, ours)) in printed.lines().zip(ours) {
        let theirs: f64 =
            line.strip_prefix(name).unwrap_or_default().trim().parse().map_err(|_| printed.clone())?;
        let ours = ours.ok_or(format!("no {name}"))?;
        println!("{name}: {ours:.4}, PedPy {theirs:.4}");
        if (ours / theirs - 1.0).abs() > 0.01 {
            return Err(format!("{name} is {ours}, and {theirs} in PedPy"));
        }
    }
    if printed.lines().count() == ours.len() { Ok(Outcome::Passed) } else { Err(printed) }
}

/// People who leave a room by a door beside a pillar, recorded by us.
fn pedpy_measures_a_run() -> Result<Outcome, String> {
    let walkable = "POLYGON ((0 0, 8 0, 8 2.4, 8.4 2.4, 8.4 0, 14 0, 14 6, 8.4 6, 8.4 3.6, 8 3.6, 8 6, 0 6, 0 0), \
                    (6.2 2.8, 6.6 2.8, 6.6 3.2, 6.2 3.2, 6.2 2.8))";
    let text = format!(
        "format = 1\nseed = 3\nuntil = 60\n[pipeline]\nmacroscale = \"navmesh\"\n[map]\nwalkable = \"{walkable}\"\n\
         [[agents]]\ncount = 50\nradius = 0.2\nplace = {{ polygon = [[0.5, 0.5], [5.5, 0.5], [5.5, 5.5], [0.5, 5.5]] }}\n\
         goal = {{ polygon = [[12, 0.5], [13.5, 0.5], [13.5, 5.5], [12, 5.5]] }}\non_arrival = \"leave\"\n"
    );
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("door.sqlite");
    let scenario = Scenario::parse(&text, "door.toml", None).map_err(|error| error.to_string())?;
    let mut simulation = Simulation::with_threads(&scenario, 1).map_err(|error| error.to_string())?;
    let mut recorder = Recorder::create(&path, &simulation).map_err(|error| error.to_string())?;
    recorder.frame(simulation.frame()).map_err(|error| error.to_string())?;
    while !simulation.is_done() {
        simulation.step();
        recorder.frame(simulation.frame()).map_err(|error| error.to_string())?;
    }
    recorder.finish().map_err(|error| error.to_string())?;
    let area = [[5.2, 1.8], [7.8, 1.8], [7.8, 4.2], [5.2, 4.2]];
    measures_alike(Measured { path: &path, walkable, line: [[8.2, 2.4], [8.2, 3.6]], area: &area })
}

/// A bottleneck of 0.5 m that others have recorded, where the file is at hand.
fn pedpy_measures_a_bottleneck() -> Result<Outcome, String> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/pedpy/bottleneck/040_c_56_h-.txt");
    if !path.exists() {
        return Ok(Outcome::Skipped("the recording is not at hand".into()));
    }
    let walkable = "POLYGON ((-3.5 -2, 3.5 -2, 3.5 8, -3.5 8, -3.5 -2), \
                    (-0.7 -1.1, -0.25 -1.1, -0.25 -0.15, -0.4 0, -2.8 0, -2.8 6.7, -3.05 6.7, -3.05 -0.3, -0.7 -0.3, -0.7 -1.1), \
                    (0.25 -1.1, 0.7 -1.1, 0.7 -0.3, 3.05 -0.3, 3.05 6.7, 2.8 6.7, 2.8 0, 0.4 0, 0.25 -0.15, 0.25 -1.1))";
    let area = [[-0.4, 0.5], [0.4, 0.5], [0.4, 1.3], [-0.4, 1.3]];
    measures_alike(Measured { path: &path, walkable, line: [[0.4, 0.0], [-0.4, 0.0]], area: &area })
}
