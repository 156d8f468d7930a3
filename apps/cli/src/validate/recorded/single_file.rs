//! Single file: speed over density, against the band of RiMEA 16.

use crate::findings::{Finding, Side};
use crate::statistics::mean;
use crate::validate::data::Data;
use crate::validate::figure::{Figure, Mark};
use crate::validate::outcome::{Outcome, Status, Table};
use crate::validate::ring;
use crate::validate::trial::Trials;

/// As in the experiments, m: the period of the scenario's map.
const LENGTH: f64 = 26.0;
/// The least dense bins: up to 1.9 per metre, where people of this radius still stand in a row.
const BINS: usize = 10;

/// Mean speed of some people, m/s.
fn speed(trials: &Trials, people: usize, seed: u64) -> anyhow::Result<f64> {
    let apart = LENGTH / people as f64;
    let set = [
        ("agents.0.count", people.to_string()),
        ("agents.0.place.grid.columns", people.to_string()),
        ("agents.0.place.grid.spacing", format!("{apart:?}")),
    ];
    ring::speed(trials, "single-file", seed, &set)
}

/// Runs it.
pub fn run(trials: &Trials, data: &Data) -> anyhow::Result<Outcome> {
    let bands: Vec<[f64; 4]> = data.rimea_bands()?.into_iter().take(BINS).collect();
    let people = |density: f64| ((density * LENGTH).round() as usize).max(1);
    let speeds =
        trials.by_variant("single file", &bands, |band, seed| speed(trials, people(band[0]), seed))?;
    let ours: Vec<f64> = speeds.iter().map(|speeds| mean(speeds)).collect();
    let mut table =
        Table::new(["density, 1/m", "people", "10 %, m/s", "50 %, m/s", "90 %, m/s", "ours, m/s"]);
    for ([density, low, middle, high], &ours) in bands.iter().copied().zip(&ours) {
        let figures = [people(density) as f64, low, middle, high, ours];
        table.row(format!("{density:.2}"), figures.map(Some));
    }
    let inside =
        bands.iter().zip(&ours).filter(|([_, low, _, high], ours)| (low..=high).contains(ours)).count();
    let edge = |column: usize| bands.iter().map(move |band| [band[0], band[column]]);
    let figure = Figure::new("density, 1/m", "speed, m/s")
        .with("recorded, 10 to 90 %", Mark::Band, edge(1).chain(edge(3).rev()))
        .with("recorded, 50 %", Mark::Line, edge(2))
        .with("ours", Mark::Points, bands.iter().zip(&ours).map(|(band, &ours)| [band[0], ours]));
    Ok(Outcome {
        name: "recorded-single-file".into(),
        title: "Single file: speed over density (RiMEA 16's reference)".into(),
        status: Status::Passed,
        scenario: None,
        set_up: format!(
            "A corridor {LENGTH} m long and 0.8 m wide that repeats (scenario `single-file`); people of radius 0.2 m with free speeds \
             of 1.24 ± 0.2 m/s (the band's middle where it is emptiest, with room for the slowest to hold up others), evenly spaced \
             at the start. Speed along it, averaged over people and 30 s after the first 30 s, and over seeds. Density is people \
             over the length."
        ),
        asked: "Within the recorded 10/90 % band in 9 of the 10 bins up to 1.9 per metre.".into(),
        because: None,
        table,
        findings: vec![Finding::new("single file: bins within the recorded band", inside as f64, Side::AtLeast, 9.0)],
        figures: vec![figure],
    }
    .judged("speeds in single file do not follow the density as recorded: the table shows in which bins"))
}
