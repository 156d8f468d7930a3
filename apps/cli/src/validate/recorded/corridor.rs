//! The corridor of the hermes experiments: 8 m long, between two wider places. Coordinates are those of the recordings.

use crate::validate::data::Data;
use crate::validate::trajectories::Trajectories;
use glam::DVec2;
use throng::measure::{AreaFigures, LineFigures, Measure};

/// Frames a second of the recordings.
const FPS: f64 = 16.0;
/// Of every body, m.
pub const RADIUS: f64 = 0.2;
/// Half the corridor's length, m: it lies at -4 <= y <= 4.
pub const END: f64 = 4.0;
/// Share of the first and of the last who cross the line that is left out: before and after, the corridor fills and empties.
const LEFT_OUT: f64 = 0.1;

/// A recorded run.
pub fn recording(data: &Data, name: &str) -> anyhow::Result<Trajectories> {
    Ok(Trajectories::new(FPS, &data.hermes(name)?))
}

/// What is measured of a run, recorded or simulated.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Flow over the middle of the window, without the first and the last tenth, 1/s.
    pub flow: Option<f64>,
    /// Flow over the end of the corridor, likewise, 1/s.
    pub exit_flow: Option<f64>,
    /// In the window at -2 <= y <= 0, while those between the first and the last tenth cross its middle.
    pub window: AreaFigures,
    /// How many crossed the middle of the window.
    pub crossings: usize,
    /// When those between the first and the last tenth did, s.
    pub steady: [f64; 2],
}

/// Measures a run in a corridor of a width, m.
pub fn measure(run: &Trajectories, width: f64) -> Figures {
    let line = |y: f64| Measure::line("line", [0.0, y], [width, y]);
    let window = [[0.0, -2.0], [width, -2.0], [width, 0.0], [0.0, 0.0]];
    let window = Measure { every: 1.0 / run.fps, ..Measure::area("window", &window) };
    let [middle, exit, window] = run.measure([line(-1.0), line(-END), window]);
    let (middle, exit) = (middle.line().unwrap_or_default(), exit.line().unwrap_or_default());
    let steady = middle.steady(LEFT_OUT).unwrap_or([f64::MAX, f64::MIN]);
    let flow = |line: &LineFigures| line.steady_flow(LEFT_OUT);
    Figures {
        flow: flow(&middle),
        exit_flow: flow(&exit),
        window: window.area().unwrap_or_default().between(steady),
        crossings: middle.crossings,
        steady,
    }
}

/// Beyond an end of the corridor, where people leave: a ring from one y to another.
pub fn beyond(width: f64, from: f64, to: f64) -> Vec<DVec2> {
    let (low, high) = (from.min(to), from.max(to));
    [[-2.0, low], [width + 2.0, low], [width + 2.0, high], [-2.0, high]].map(DVec2::from).to_vec()
}

/// The corridor and the wider places at its ends, as WKT.
pub fn walkable(width: f64) -> String {
    let (left, right) = (-2.0, width + 2.0);
    format!(
        "POLYGON (({left} -9, {right} -9, {right} -4, {width} -4, {width} 4, {right} 4, {right} 9, {left} 9, \
         {left} 4, 0 4, 0 -4, {left} -4, {left} -9))"
    )
}
