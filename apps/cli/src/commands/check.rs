//! `throng check`.

use crate::{opening, output, summary};
use std::path::PathBuf;
use std::process::ExitCode;
use throng::scenario::{Action, Goal, Overrides, Scenario, StageKind};

/// Look a scenario over: say what it holds, or everything that is wrong with it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Scenario files, or built-ins' names
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Checks every file, and stops at none.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    let mut gap = "";
    for file in &args.files {
        match opening::scenario(file, &Overrides::default()) {
            Ok(scenario) => {
                output::show(&format!("{gap}{}", describe(&scenario)))?;
                scenario.warnings().iter().for_each(|warning| output::warn(warning));
                gap = "\n";
            }
            Err(error) => {
                output::complain(&error);
                code = ExitCode::from(2);
            }
        }
    }
    Ok(code)
}

fn describe(scenario: &Scenario) -> String {
    let mut rows = vec![
        row("scenario", format!("{} is sound", scenario.name)),
        row(
            "time",
            format!("steps of {} s, {} s at most, seed {}", scenario.dt, scenario.until, scenario.seed),
        ),
        row("pipeline", summary::pipeline(scenario)),
        row("map", map(scenario)),
        row("agents", summary::agents(scenario)),
    ];
    // Those of sources are told below.
    rows.extend(scenario.cohorts.iter().take(scenario.cohorts.len() - scenario.sources.len()).map(
        |cohort| {
            let way_out = cohort.agents.first().is_some_and(|agent| matches!(agent.goal, Goal::Journey(_)));
            let at_goal = if way_out {
                "leave by exits"
            } else if cohort.leaves {
                "leave at their goals"
            } else {
                "stay at their goals"
            };
            let model = cohort.microscale.iter().map(|model| format!(", {model}")).collect::<String>();
            row("", format!("{}: {}, {at_goal}{model}", cohort.name, cohort.agents.len()))
        },
    ));
    rows.extend(scenario.sources.iter().map(|source| {
        row("source", format!("{}: {} to come", scenario.cohorts[source.cohort].name, source.people.len()))
    }));
    rows.extend(scenario.exits.iter().map(|exit| {
        let flow = exit.max_flow.map(|flow| format!(", {flow} a second at most")).unwrap_or_default();
        row("exit", format!("{}{flow}{}", exit.name, if exit.closed { ", closed" } else { "" }))
    }));
    rows.extend(scenario.stages.iter().map(|stage| {
        let kind = match &stage.kind {
            StageKind::Point { .. } | StageKind::Area(_) => "a waypoint".to_owned(),
            StageKind::Queue { places, .. } => {
                format!("a queue of {}", summary::count(places.len(), "place"))
            }
            StageKind::Waiting { places, .. } => format!("a waiting area for {}", places.len()),
        };
        row("stage", format!("{}: {kind}", stage.name))
    }));
    rows.extend(
        scenario
            .movers
            .iter()
            .map(|mover| row("mover", format!("{}, radius {} m", mover.name, mover.radius))),
    );
    rows.extend(
        scenario
            .events
            .iter()
            .map(|event| row("event", format!("at {} s: {}", event.at, action(scenario, &event.action)))),
    );
    rows.extend(scenario.expect.iter().map(|(key, value)| row("expects", format!("{key} = {value}"))));
    output::table(0, &rows)
}

fn row(label: &str, text: String) -> [String; 2] {
    [label.into(), text]
}

fn map(scenario: &Scenario) -> String {
    let map = &scenario.map;
    let floor = match map.walkable.len() {
        0 => "an endless plane".to_owned(),
        parts => summary::count(parts, "walkable area"),
    };
    let obstacles = summary::count(map.obstacles.len(), "obstacle");
    let repeats = match map.repeat().length.to_array() {
        [0.0, 0.0] => String::new(),
        [x, 0.0] => format!("; repeats every {x} m along x"),
        [0.0, y] => format!("; repeats every {y} m along y"),
        [x, y] => format!("; repeats every {x} m along x and every {y} m along y"),
    };
    format!("{floor}, {obstacles}, {}{repeats}", summary::count(map.walls.len(), "open wall"))
}

fn action(scenario: &Scenario, action: &Action) -> String {
    match action {
        Action::AddObstacle { name, .. } => format!("`{name}` is put up"),
        Action::RemoveObstacle(name) => format!("`{name}` is taken away"),
        Action::SetExit { exit, open } => {
            format!("exit `{}` is {}", scenario.exits[*exit].name, if *open { "opened" } else { "closed" })
        }
        Action::Release(stage) => format!("those who wait at `{}` go on", scenario.stages[*stage].name),
        Action::Retarget { cohort, .. } => format!("{} gets new goals", scenario.cohorts[*cohort].name),
    }
}
