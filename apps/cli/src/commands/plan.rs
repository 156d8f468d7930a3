//! `throng plan`.

use crate::files::Promised;
use crate::{opening, output};
use anyhow::{anyhow, bail};
use glam::DVec2;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use throng::planning::chain::{Atlas, Chain, Outcome, Problem, Tuning, plan};
use throng::planning::domain::occupancy::Occupancy;
use throng::planning::search::Status;
use throng::planning::{Place, bodies, bodies_and_agents};
use throng::scenario::{Overrides, Scenario};
use throng_render::{Picture, Planned, plan_picture};

/// Plan a path for one agent, in a domain or a chain of domains
///
/// Domains, from coarse to fine: navmesh (walls only), dynamic-navmesh (and how dense it will be), grid (and bodies where
/// they are now), space-time (and bodies where they will be). In `navmesh>grid` the grid is searched in a tunnel
/// around the path on the mesh, in `navmesh/grid` from waypoint to waypoint of it. The scenario's links are jumps in all
/// of them but the grid, which knows only the floor.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The map: a scenario file, or a built-in's name
    map: PathBuf,
    /// Where the path begins, m: x,y
    #[arg(long, value_name = "X,Y", value_parser = place, allow_hyphen_values = true)]
    from: DVec2,
    /// Where it ends, m: x,y
    #[arg(long, value_name = "X,Y", value_parser = place, allow_hyphen_values = true)]
    to: DVec2,
    /// Radius of the agent that walks, m
    #[arg(long, value_name = "R", default_value_t = 0.25, allow_negative_numbers = true)]
    radius: f64,
    /// A domain, or several from coarse to fine, joined by > (tunnel) or / (waypoints)
    #[arg(long, value_name = "CHAIN", default_value = "navmesh")]
    domain: String,
    /// When to arrive, s: from,to. Needs space-time
    #[arg(long, value_name = "A,B", value_parser = window)]
    arrive: Option<(f64, f64)>,
    /// How many states each search may expand
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    budget: u64,
    /// Improve the plan as long as there is budget, instead of taking the first
    #[arg(long)]
    best: bool,
    /// The scenario's agents are in the way, standing where they begin
    #[arg(long)]
    agents: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw the plan and what was looked at; the ending says the format: .png or .svg
    #[arg(long, value_name = "OUT")]
    picture: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  throng plan doorway --from 2,2 --to 13,8
  throng plan office.toml --from 2,3 --to 40,17 --domain \"navmesh>grid>space-time\" --picture plan.png
  throng plan road.toml --from 0,-8 --to 0,8 --domain \"navmesh/grid>space-time\" --arrive 39,41

Exit code 0: there is a plan. 1: there is none. 2: bad input.";

/// Plans, and tells what came out.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let chain: Chain = args.domain.parse().map_err(|error| anyhow!("--domain {}: {error}", args.domain))?;
    args.check(&chain)?;
    let draw = args.picture.as_deref().map(format_of).transpose()?;
    let scenario = opening::scenario(&args.map, &Overrides::default())?;
    let task = Task::new(&args, &scenario, chain)?;
    let file = args.picture.as_deref().map(Promised::new).transpose()?;
    let planned = task.plan();
    if let (Some(draw), Some(file)) = (draw, file) {
        file.write(&draw(&task.picture(&planned)))?;
    }
    let text =
        if args.json { format!("{:#}\n", task.as_json(&planned)) } else { task.as_text(&planned, &args) };
    output::show(&text)?;
    Ok(if task.found(&planned).is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Args {
    fn check(&self, chain: &Chain) -> anyhow::Result<()> {
        if !(self.radius.is_finite() && self.radius > 0.0 && self.radius <= 100.0) {
            bail!("--radius {}: it must be above 0 and at most 100 m", self.radius);
        }
        let knows_time = chain.last().name() == "space-time";
        if self.arrive.is_some() && !knows_time {
            bail!("--arrive needs a chain that ends with space-time: `{chain}` knows no time");
        }
        Ok(())
    }
}

/// What is to be planned, and where.
struct Task<'a> {
    scenario: &'a Scenario,
    place: Place,
    chain: Chain,
    atlas: Atlas,
    published: Occupancy,
    problem: Problem,
    made: Duration,
}

struct Answer {
    outcomes: Vec<Outcome>,
    took: Duration,
}

impl<'a> Task<'a> {
    fn new(args: &Args, scenario: &'a Scenario, chain: Chain) -> anyhow::Result<Task<'a>> {
        let place = Place::of(scenario, &[args.from, args.to]);
        let tuning = Tuning { budget: args.budget, improve: args.best, ..Tuning::default() };
        let began = Instant::now();
        let atlas = Atlas::new(place.site(args.radius), &chain, tuning)?;
        let made = began.elapsed();
        let published =
            if args.agents { bodies_and_agents(scenario, &place) } else { bodies(scenario, &place) };
        let ends = [args.from, args.to].map(|end| place.local(end));
        for (name, end, at) in [("from", ends[0], args.from), ("to", ends[1], args.to)] {
            if !atlas.has_room(end) {
                let DVec2 { x, y } = at;
                bail!("--{name} {x},{y}: there is no room for a radius of {} m", args.radius);
            }
        }
        let problem = Problem { arrive: args.arrive, ..Problem::between(ends[0], ends[1]) };
        Ok(Task { scenario, place, chain, atlas, published, problem, made })
    }

    fn plan(&self) -> Answer {
        let began = Instant::now();
        let outcomes = plan(&self.atlas, &self.published, &self.chain, &self.problem);
        Answer { outcomes, took: began.elapsed() }
    }

    /// The plan of the finest domain.
    fn found<'b>(&self, answer: &'b Answer) -> Option<&'b Outcome> {
        let last = answer.outcomes.last()?;
        (last.level == self.chain.last() && last.is_found()).then_some(last)
    }

    fn there(&self, at: DVec2) -> DVec2 {
        at + self.place.origin
    }

    fn as_text(&self, answer: &Answer, args: &Args) -> String {
        let mut text = String::new();
        let rows: Vec<[String; 7]> = std::iter::once(
            ["domain", "status", "cost", "length, m", "expansions", "branching", "searches"]
                .map(String::from),
        )
        .chain(answer.outcomes.iter().map(|outcome| {
            let found = |value: f64| if outcome.is_found() { format!("{value:.2}") } else { "-".into() };
            [
                outcome.level.name().into(),
                status(outcome),
                found(outcome.cost),
                found(outcome.length()),
                outcome.effort.expansions.to_string(),
                format!("{:.1}", outcome.effort.branching()),
                outcome.searches.to_string(),
            ]
        }))
        .collect();
        text += &output::table(0, &rows);
        let time = crate::progress::duration;
        text += &format!(
            "planned in {}, after {} for what is worked out once for a map\n",
            time(answer.took.as_secs_f64()),
            time(self.made.as_secs_f64())
        );
        match self.found(answer) {
            Some(plan) => {
                text += "\ntime, s  x, m      y, m\n";
                for &(time, at) in &plan.trajectory {
                    let at = self.there(at);
                    text += &format!("{time:<7.2}  {:<8.3}  {:.3}\n", at.x, at.y);
                }
            }
            None => {
                let why = answer.outcomes.last().map(status).unwrap_or_default();
                text += &format!("no plan in `{}`: {why}\n", args.domain);
            }
        }
        text + &args.picture.as_ref().map(|path| format!("drawn: {}\n", path.display())).unwrap_or_default()
    }

    fn as_json(&self, answer: &Answer) -> Value {
        let domain = |outcome: &Outcome| {
            json!({
                "domain": outcome.level.name(), "status": status(outcome), "cost": outcome.cost,
                "length_m": outcome.length(), "expansions": outcome.effort.expansions,
                "branching": outcome.effort.branching(), "searches": outcome.searches,
            })
        };
        let path = self.found(answer).map(|plan| {
            let point = |&(time, at): &(f64, DVec2)| {
                let at = self.there(at);
                json!({ "t": time, "x": at.x, "y": at.y })
            };
            plan.trajectory.iter().map(point).collect::<Vec<_>>()
        });
        json!({
            "chain": self.chain.to_string(), "found": path.is_some(), "path": path,
            "domains": answer.outcomes.iter().map(domain).collect::<Vec<_>>(),
            "time_s": answer.took.as_secs_f64(), "map_time_s": self.made.as_secs_f64(),
        })
    }

    fn picture(&self, answer: &Answer) -> Picture {
        let outcomes = answer.outcomes.iter();
        let plans: Vec<(String, Vec<DVec2>)> = outcomes
            .filter(|outcome| outcome.is_found())
            .map(|outcome| {
                let places = outcome.places().map(|at| self.there(at)).collect();
                (outcome.level.name().to_owned(), places)
            })
            .collect();
        let last = answer.outcomes.last();
        let seen: Vec<DVec2> =
            last.into_iter().flat_map(|last| &last.seen).map(|&at| self.there(at)).collect();
        let bodies: Vec<(Vec<DVec2>, f64)> = self
            .published
            .iter()
            .map(|(_, path)| (path.path.iter().map(|point| self.there(point.1)).collect(), path.radius))
            .collect();
        let links: Vec<[DVec2; 2]> = self.scenario.links.iter().map(|link| [link.from, link.to]).collect();
        let expansions = last.map_or(0, |last| last.effort.expansions);
        let line = match self.found(answer) {
            Some(plan) => format!("{:.1} m · {expansions} states expanded", plan.length()),
            None => format!("no plan · {expansions} states expanded"),
        };
        plan_picture(&Planned {
            map: &self.scenario.map,
            title: format!("{}: {}", self.scenario.name, self.chain),
            line,
            seen: &seen,
            plans: &plans,
            links: &links,
            bodies: &bodies,
            ends: [self.problem.from, self.problem.to].map(|end| self.there(end)),
            width: 1280,
        })
    }
}

fn status(outcome: &Outcome) -> String {
    match outcome.status {
        Status::Optimal => "best".into(),
        Status::Bounded(bound) => format!("at most {bound:.2} times the best"),
        Status::OutOfBudget { .. } if outcome.is_found() => "the best so far".into(),
        Status::OutOfBudget { .. } => "out of budget".into(),
        Status::Unreachable => "there is no path".into(),
    }
}

fn place(text: &str) -> Result<DVec2, String> {
    pair(text).map(|(x, y)| DVec2::new(x, y))
}

fn window(text: &str) -> Result<(f64, f64), String> {
    let (from, to) = pair(text)?;
    if from < 0.0 || to < from {
        Err("must be two times from 0 on, the earlier first".into())
    } else {
        Ok((from, to))
    }
}

fn pair(text: &str) -> Result<(f64, f64), String> {
    let expected = || "must be two numbers with a comma between them, such as 3.5,-2".to_owned();
    let (x, y) = text.split_once(',').ok_or_else(expected)?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.abs() <= 1e9);
    number(x).zip(number(y)).ok_or_else(expected)
}

fn format_of(path: &Path) -> anyhow::Result<fn(&Picture) -> Vec<u8>> {
    match path.extension().unwrap_or_default().to_string_lossy().to_lowercase().as_str() {
        "png" => Ok(Picture::to_png),
        "svg" => Ok(|picture| picture.to_svg().into_bytes()),
        _ => Err(anyhow!(
            "cannot tell the format of `{}` from its name: let it end in .png or .svg",
            path.display()
        )),
    }
}
