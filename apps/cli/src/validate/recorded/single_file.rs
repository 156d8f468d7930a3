//! Single file: speed over density, against the band of RiMEA 16.

use crate::findings::{Finding, Side};
use crate::statistics::mean;
use crate::validate::data::Data;
use crate::validate::figure::{Figure, Mark};
use crate::validate::outcome::{Outcome, Status, Table};
use crate::validate::ring::{RADIUS, Ring};
use crate::validate::trial::Trials;

/// As in the experiments: 26 m round, and too narrow to overtake.
const RING: Ring = Ring { length: 26.0, width: 0.8, free_speed: [1.24, 0.2] };
/// The least dense bins: up to 1.9 per metre, where people of this radius still stand in a row.
const BINS: usize = 10;

/// Runs it.
pub fn run(trials: &Trials, data: &Data) -> anyhow::Result<Outcome> {
    let bands: Vec<[f64; 4]> = data.rimea_bands()?.into_iter().take(BINS).collect();
    let people = |density: f64| ((density * RING.length).round() as usize).max(1);
    let speeds =
        trials.by_variant("single file", &bands, |band, seed| RING.speed(trials, people(band[0]), seed))?;
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
            "A ring {} m round and {} m wide; people of radius {RADIUS} m with free speeds of {} ± {} m/s (the band's middle where it \
             is emptiest, with room for the slowest to hold up others), evenly spaced at the start. Speed along the ring, \
             averaged over people and 30 s after the first 30 s, and over seeds. Density is people over the length.",
            RING.length, RING.width, RING.free_speed[0], RING.free_speed[1]
        ),
        asked: "Within the recorded 10/90 % band in 9 of the 10 bins up to 1.9 per metre.".into(),
        because: None,
        table,
        findings: vec![Finding::new("single file: bins within the recorded band", inside as f64, Side::AtLeast, 9.0)],
        figures: vec![figure],
    }
    .judged("speeds in single file do not follow the density as recorded: the table shows in which bins"))
}
