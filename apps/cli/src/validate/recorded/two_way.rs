//! Two streams in a corridor: five runs, whether lanes form and how much flows.

use super::corridor::{self, END, RADIUS};
use super::free_speed::FreeSpeed;
use crate::findings::{Finding, Side};
use crate::statistics::mean;
use crate::validate::data::Data;
use crate::validate::figure::{Figure, Mark};
use crate::validate::outcome::{Outcome, Status, Table};
use crate::validate::trajectories::Trajectories;
use crate::validate::trial::{Comer, Inflow, Trials};
use std::collections::BTreeMap;
use throng::measure::Person;
use throng::rng::{self, Purpose};

const RUNS: [&str; 5] =
    ["bot-300-050-050", "bot-300-065-065", "bot-300-075-075", "bot-300-085-085", "bot-300-100-100"];
/// m.
const WIDTH: f64 = 3.0;
/// Who is this close to one's side is in one's lane, m.
const LANE: f64 = 0.3;
/// Moments that are looked at are this far apart, s.
const EVERY: f64 = 0.5;
/// How often directions are dealt anew among those present, for the order that chance alone makes.
const SHUFFLES: u64 = 20;

/// What is measured of a run.
#[derive(Clone, Copy, Debug)]
struct Figures {
    order: f64,
    density: f64,
    speed: f64,
    specific_flow: f64,
    /// Share of those who came that got to the other end.
    through: f64,
}

/// Runs it.
pub fn run(trials: &Trials, data: &Data) -> anyhow::Result<Outcome> {
    let runs = RUNS.iter().map(|name| corridor::recording(data, name)).collect::<anyhow::Result<Vec<_>>>()?;
    let free_speed = FreeSpeed::of(&runs);
    let recorded: Vec<Figures> = runs.iter().map(|run| figures(run, run.walks().len())).collect();
    let simulated = trials.by_variant("two ways", &runs, |run, seed| {
        Ok(figures(&again(trials, run, free_speed, seed)?, run.walks().len()))
    })?;
    Ok(outcome(free_speed, &recorded, &simulated))
}

fn again(
    trials: &Trials,
    run: &Trajectories,
    free_speed: FreeSpeed,
    seed: u64,
) -> anyhow::Result<Trajectories> {
    let walkable = format!("\"{}\"", corridor::walkable(WIDTH));
    let scenario = trials.scenario("recorded-corridor", seed, &[("map.walkable", walkable)])?;
    let entries = run.entries();
    let last = entries.last().map_or(0.0, |entry| entry.time);
    let comer = |(person, entry): (u32, crate::validate::trajectories::Entry)| {
        let cohort = u16::from(entry.place.y < 0.0);
        Comer { entry, free_speed: free_speed.draw(seed, person), cohort }
    };
    let comers: Vec<Comer> = (0..).zip(entries).map(comer).collect();
    let exits = [corridor::beyond(WIDTH, -6.0, -9.0), corridor::beyond(WIDTH, 6.0, 9.0)];
    Inflow { scenario: &scenario, exits: &exits, comers: &comers, radius: RADIUS, until: 3.0 * last + 60.0 }
        .walk()
}

fn figures(run: &Trajectories, people: usize) -> Figures {
    let measured = corridor::measure(run, WIDTH);
    let window = &measured.window;
    let or_none = |figure: Option<f64>| figure.unwrap_or(f64::NAN);
    Figures {
        order: order_excess(run, measured.steady),
        density: or_none(window.density_mean),
        speed: or_none(window.speed_mean),
        specific_flow: or_none(window.specific_flow),
        through: measured.crossings as f64 / people as f64,
    }
}

/// How much more order there is in lanes than chance alone would make, averaged over moments.
fn order_excess(run: &Trajectories, [from, until]: [f64; 2]) -> f64 {
    let walks = run.walks();
    let down: BTreeMap<i64, bool> = walks.iter().map(|(&id, walk)| (id, walk[0].1.y > 0.0)).collect();
    let stride = (EVERY * run.fps).round() as usize;
    let moments = run.timed().step_by(stride).filter(|(time, _)| *time >= from && *time <= until);
    let excess = moments.filter_map(|(time, people)| {
        let inside: Vec<&Person> = people.iter().filter(|person| person.position.y.abs() <= END).collect();
        let directions: Vec<bool> = inside.iter().map(|person| down[&person.id]).collect();
        let order = order(&inside, &directions)?;
        let shuffled = (0..SHUFFLES)
            .filter_map(|round| self::order(&inside, &dealt(&directions, (time * 1e3) as u64, round)));
        Some(order - mean(&shuffled.collect::<Vec<_>>()))
    });
    mean(&excess.collect::<Vec<_>>())
}

/// Mean over people of ((same - opposite) / (same + opposite))² among the others in their lane.
fn order(people: &[&Person], down: &[bool]) -> Option<f64> {
    let of = |index: usize| {
        let beside = |other: &usize| {
            *other != index && (people[*other].position.x - people[index].position.x).abs() < LANE
        };
        let others: Vec<usize> = (0..people.len()).filter(beside).collect();
        let same = others.iter().filter(|&&other| down[other] == down[index]).count() as f64;
        let all = others.len() as f64;
        (all > 0.0).then(|| ((2.0 * same - all) / all).powi(2))
    };
    let orders: Vec<f64> = (0..people.len()).filter_map(of).collect();
    (!orders.is_empty()).then(|| mean(&orders))
}

/// The same directions, dealt anew.
fn dealt(directions: &[bool], key: u64, round: u64) -> Vec<bool> {
    let mut draws = rng::stream(key, 0, round, Purpose::Tie);
    let mut directions = directions.to_vec();
    for last in (1..directions.len()).rev() {
        directions.swap(last, draws.below(last + 1));
    }
    directions
}

fn outcome(free_speed: FreeSpeed, recorded: &[Figures], simulated: &[Vec<Figures>]) -> Outcome {
    let mut table = Table::new([
        "run",
        "order",
        "ours",
        "flow, 1/m/s",
        "ours",
        "density, 1/m²",
        "ours",
        "speed, m/s",
        "ours",
        "through",
    ]);
    let (mut findings, mut figure) = (Vec::new(), Vec::new());
    for (index, &name) in RUNS.iter().enumerate() {
        let of = |figure: fn(&Figures) -> f64| {
            [figure(&recorded[index]), mean(&simulated[index].iter().map(figure).collect::<Vec<_>>())]
        };
        let (order, flow) = (of(|run| run.order), of(|run| run.specific_flow));
        let (density, speed) = (of(|run| run.density), of(|run| run.speed));
        let through = of(|run| run.through)[1];
        let cells = order.into_iter().chain(flow).chain(density).chain(speed).chain([through]);
        table.row(name, cells.map(|cell| Some(cell).filter(|cell| cell.is_finite())));
        findings.push(Finding::new(
            format!("two ways, {name}: lane order excess over the recorded one"),
            order[1] / order[0],
            Side::AtLeast,
            0.8,
        ));
        findings.push(Finding::new(
            format!("two ways, {name}: specific flow off the recorded one, share"),
            (flow[1] / flow[0] - 1.0).abs(),
            Side::AtMost,
            0.2,
        ));
        figure.push((density, flow));
    }
    let points = |whose: usize| figure.iter().map(move |(density, flow)| [density[whose], flow[whose]]);
    Outcome {
        name: "recorded-two-way".into(),
        title: "Two streams in a corridor: five recorded runs (hermes)".into(),
        status: Status::Passed,
        scenario: Some("recorded-corridor"),
        set_up: format!(
            "Corridor 3 m wide, -4 <= y <= 4 m; people of radius {RADIUS} m come as recorded, at both ends. Free speeds as recorded: \
             {:.2} ± {:.2} m/s, of {} people who had nobody before them. Lane order is the mean over people of ((same - \
             opposite) / (same + opposite))² among the others within {LANE} m to the side, less what it is when directions are dealt \
             at random among those present ({SHUFFLES} times), every {EVERY} s. Flow is density times speed in the window -2 <= y \
             <= 0, while those between the first and the last tenth cross its middle. Through: share of the people who got across.",
            free_speed.mean, free_speed.deviation, free_speed.people
        ),
        asked: "Lane order excess at least 0.8 of the recorded one, specific flow within 20 %.".into(),
        because: None,
        table,
        findings,
        figures: vec![
            Figure::new("density, 1/m²", "specific flow, 1/m/s")
                .with("recorded", Mark::Points, points(0))
                .with("ours", Mark::Points, points(1)),
        ],
    }
    .judged("opposing streams hold one another up more, or order themselves less, than the recorded ones")
}
