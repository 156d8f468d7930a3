//! Flow through doors of eight widths, against Kretz et al. 2006 and Seyfried et al. 2009.

use crate::findings::{Finding, Side};
use crate::statistics::median;
use crate::validate::data::Data;
use crate::validate::figure::{Figure, Mark};
use crate::validate::outcome::{Outcome, Status, Table};
use crate::validate::trajectories::Trajectories;
use crate::validate::trial::{Trials, walk};
use throng::measure::Measure;

/// Width, m, and persons per second: Kretz, Seyfried.
type Recorded = (f64, Option<f64>, Option<f64>);

const RECORDED: [Recorded; 8] = [
    (0.5, Some(1.02), None),
    (0.6, Some(1.12), None),
    (0.7, Some(1.24), None),
    (0.8, Some(1.42), Some(1.29)),
    (0.9, Some(1.58), Some(1.67)),
    (1.0, Some(1.85), Some(1.90)),
    (1.1, None, Some(2.12)),
    (1.2, Some(2.14), Some(2.36)),
];

/// Runs it.
pub fn run(trials: &Trials, data: &Data) -> anyhow::Result<Outcome> {
    let flows = trials.by_variant("doors", &RECORDED, |&(width, ..), seed| flow(trials, width, seed))?;
    let mut table = Table::new([
        "width, m",
        "Kretz, 1/s",
        "Seyfried, 1/s",
        "ours, 1/s",
        "least",
        "most",
        "ours/recorded",
    ]);
    let (mut findings, mut medians) = (Vec::new(), Vec::new());
    let (mut widest_spread, mut least_rise, mut before) = (1.0f64, f64::MAX, None);
    for ((width, kretz, seyfried), flows) in RECORDED.into_iter().zip(flows) {
        let both: Vec<f64> = kretz.into_iter().chain(seyfried).collect();
        let recorded = both.iter().sum::<f64>() / both.len() as f64;
        let ours = median(flows.clone());
        let (least, most) =
            flows.iter().fold((f64::MAX, f64::MIN), |(low, high), &flow| (low.min(flow), high.max(flow)));
        table.row(
            format!("{width}"),
            [kretz, seyfried, Some(ours), Some(least), Some(most), Some(ours / recorded)],
        );
        findings.push(Finding::new(
            format!("doors, {width} m: flow off the recorded one, share"),
            (ours / recorded - 1.0).abs(),
            Side::AtMost,
            0.2,
        ));
        medians.push([width, ours]);
        widest_spread = widest_spread.max(most / ours).max(ours / least);
        if let Some(before) = before.replace(ours) {
            least_rise = least_rise.min(ours - before);
        }
    }
    findings.push(Finding::new(
        "doors: least rise of the flow from a width to the next, 1/s",
        least_rise,
        Side::AtLeast,
        0.0,
    ));
    findings.push(Finding::new(
        "doors: a seed's flow over the median, or the other way round, at most",
        widest_spread,
        Side::AtMost,
        1.4,
    ));
    Ok(Outcome {
        name: "recorded-doors".into(),
        title: "Flow through doors of eight widths (Kretz et al. 2006, Seyfried et al. 2009)".into(),
        status: Status::Passed,
        scenario: Some("recorded-door"),
        set_up: "80 people of radius 0.2 m, free speed 1.34 ± 0.26 m/s, scattered over 6 × 6 m before a door in a wall 0.4 m thick. \
                 Flow over the line through the middle of the door, without the first and the last tenth; medians over seeds. Where \
                 both have a width, their mean is the recorded flow. A run in which not all get out within 300 s has the flow of \
                 those who did."
            .into(),
        asked: "Flows within 20 % of the recorded ones, rising with the width; no seed more than 1.4 times off the median.".into(),
        because: None,
        table,
        findings,
        figures: vec![figure(medians, bottleneck(data))],
    }
    .judged("the flow does not follow the width as recorded"))
}

/// Flow through a recorded bottleneck of 0.5 m (PedPy's example), 1/s, where it is at hand.
fn bottleneck(data: &Data) -> Option<f64> {
    let run = Trajectories::new(25.0, &data.pedpy_text("bottleneck/040_c_56_h-.txt").ok()?);
    let [door] = run.measure([Measure::line("door", [0.4, 0.0], [-0.4, 0.0])]);
    door.line()?.steady_flow(0.1)
}

fn figure(ours: Vec<[f64; 2]>, bottleneck: Option<f64>) -> Figure {
    let of = |whose: fn(&Recorded) -> Option<f64>| {
        RECORDED.iter().filter_map(move |row| Some([row.0, whose(row)?]))
    };
    Figure::new("width, m", "flow, 1/s")
        .with("Kretz et al.", Mark::Points, of(|row| row.1))
        .with("Seyfried et al.", Mark::Points, of(|row| row.2))
        .with("PedPy's bottleneck", Mark::Points, bottleneck.map(|flow| [0.5, flow]))
        .with("ours, median", Mark::Line, ours)
}

/// Persons per second; 0 where hardly any gets through.
fn flow(trials: &Trials, width: f64, seed: u64) -> anyhow::Result<f64> {
    let half = width / 2.0;
    let room = format!(
        "\"POLYGON ((-5 0, {} 0, {} -0.4, -4 -0.4, -4 -8, 4 -8, 4 -0.4, {half} -0.4, {half} 0, 5 0, 5 8, -5 8, -5 0))\"",
        -half, -half
    );
    let scenario = trials.scenario("recorded-door", seed, &[("map.walkable", room)])?;
    let (_, run) = walk(&scenario)?;
    let [door] = run.measure([Measure::line("door", [-half, -0.2], [half, -0.2])]);
    Ok(door.line().and_then(|line| line.steady_flow(0.1)).unwrap_or(0.0))
}
