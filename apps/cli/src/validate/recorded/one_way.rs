//! The corridor diagram: six runs of one direction with entrances of six widths, and so six densities.

use super::corridor::{self, Figures, RADIUS};
use super::free_speed::FreeSpeed;
use crate::findings::{Finding, Side};
use crate::statistics::mean;
use crate::validate::data::Data;
use crate::validate::figure::{Figure, Mark};
use crate::validate::outcome::{Outcome, Status, Table};
use crate::validate::trajectories::Trajectories;
use crate::validate::trial::{Comer, Inflow, Trials};

const RUNS: [&str; 6] = [
    "uo-050-180-180",
    "uo-060-180-180",
    "uo-070-180-180",
    "uo-100-180-180",
    "uo-145-180-180",
    "uo-180-180-180",
];
/// m.
const WIDTH: f64 = 1.8;

/// Runs it.
pub fn run(trials: &Trials, data: &Data) -> anyhow::Result<Outcome> {
    let runs = RUNS.iter().map(|name| corridor::recording(data, name)).collect::<anyhow::Result<Vec<_>>>()?;
    let free_speed = FreeSpeed::of(&runs);
    let recorded: Vec<Figures> = runs.iter().map(|run| corridor::measure(run, WIDTH)).collect();
    let simulated = trials.by_variant("one way", &runs, |run, seed| {
        Ok(corridor::measure(&again(trials, run, free_speed, seed)?, WIDTH))
    })?;
    Ok(outcome(&runs, free_speed, &recorded, &simulated))
}

/// People come as in a recording.
fn again(
    trials: &Trials,
    run: &Trajectories,
    free_speed: FreeSpeed,
    seed: u64,
) -> anyhow::Result<Trajectories> {
    let scenario = trials.scenario("recorded-corridor", seed, &[])?;
    let entries = run.entries();
    let last = entries.last().map_or(0.0, |entry| entry.time);
    let comers: Vec<Comer> = (0..)
        .zip(entries)
        .map(|(person, entry)| Comer { entry, free_speed: free_speed.draw(seed, person), cohort: 0 })
        .collect();
    let exits = [corridor::beyond(WIDTH, -6.0, -9.0)];
    Inflow { scenario: &scenario, exits: &exits, comers: &comers, radius: RADIUS, until: 3.0 * last + 60.0 }
        .walk()
}

fn outcome(
    runs: &[Trajectories],
    free_speed: FreeSpeed,
    recorded: &[Figures],
    simulated: &[Vec<Figures>],
) -> Outcome {
    let mut table = Table::new([
        "run",
        "people",
        "J, 1/s",
        "ours",
        "exit, 1/s",
        "ours",
        "density, 1/m²",
        "ours",
        "speed, m/s",
        "ours",
    ]);
    let (mut findings, mut pairs) = (Vec::new(), Vec::new());
    for (index, &name) in RUNS.iter().enumerate() {
        let (theirs, ours) = (&recorded[index], &simulated[index]);
        let of = |figure: &dyn Fn(&Figures) -> Option<f64>| {
            let ours = mean(&ours.iter().map(|run| figure(run).unwrap_or(f64::NAN)).collect::<Vec<_>>());
            [figure(theirs), Some(ours).filter(|ours| ours.is_finite())]
        };
        let (flow, exit) = (of(&|run| run.flow), of(&|run| run.exit_flow));
        let (density, speed) = (of(&|run| run.window.density_mean), of(&|run| run.window.speed_mean));
        let people = runs[index].entries().len() as f64;
        table.row(name, [Some(people)].into_iter().chain(flow).chain(exit).chain(density).chain(speed));
        pairs.push(
            [0, 1].map(|whose| [density[whose], speed[whose]].map(|figure| figure.unwrap_or(f64::NAN))),
        );
        let bar = (0.15 * speed[0].unwrap_or(0.0)).max(0.15);
        let apart = |[theirs, ours]: [Option<f64>; 2]| Some((ours? - theirs?).abs());
        findings.push(Finding::new(
            format!("one way, {name}: speed off the recorded one, m/s"),
            apart(speed),
            Side::AtMost,
            bar,
        ));
        let off = apart(exit).zip(exit[0]).map(|(apart, theirs)| apart / theirs);
        findings.push(Finding::new(
            format!("one way, {name}: flow at the exit off the recorded one, share"),
            off,
            Side::AtMost,
            0.2,
        ));
    }
    Outcome {
        name: "recorded-one-way".into(),
        title: "Corridor diagram: six recorded runs of one direction (hermes)".into(),
        status: Status::Passed,
        scenario: Some("recorded-corridor"),
        set_up: format!(
            "Corridor 1.8 m wide, -4 <= y <= 4 m; people of radius {RADIUS} m come at the times and places of their first recorded \
             frames, with the velocities that they had, as soon as there is room, and walk to y = -6 m. Free speeds are drawn from \
             those of the recordings: {:.2} ± {:.2} m/s, of {} people who for half a second or more had nobody within 3 m ahead and \
             0.8 m aside. J is the flow over y = -1 m without the first and the last tenth; density (heads) and speed (movement \
             over 0.8 s) are means over the window -2 <= y <= 0 in that time; exit is the flow over y = -4 m, likewise. Recorded \
             and simulated runs are measured by the same code; ours are means over seeds.",
            free_speed.mean, free_speed.deviation, free_speed.people
        ),
        asked: "Speeds within 0.15 m/s or 15 %, flows at the exit within 20 % of the recorded ones.".into(),
        because: None,
        table,
        findings,
        figures: vec![
            Figure::new("density, 1/m²", "speed, m/s")
                .with("recorded", Mark::Points, pairs.iter().map(|pair| pair[0]))
                .with("ours", Mark::Points, pairs.iter().map(|pair| pair[1])),
        ],
    }
    .judged("people do not slow down with density as the recorded ones do")
}
