//! The progress bar. It shows itself only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};
use throng::Simulation;

/// How often the bar changes.
const PAUSE: Duration = Duration::from_millis(100);

const TEMPLATE: &str = "{bar:16.cyan/blue} {msg}";

/// How far a run is: simulated time, rate and time left.
pub struct Progress {
    bar: ProgressBar,
    until: f64,
    begin: Instant,
    /// Simulated time when the bar began, s: more than 0 in a resumed run.
    from: f64,
    last: Instant,
}

impl Progress {
    /// Begins now.
    pub fn new(simulation: &Simulation, until: f64) -> Progress {
        let now = Instant::now();
        let bar = bar((until * 1000.0) as u64);
        Progress { bar, until, begin: now, from: simulation.frame().time, last: now }
    }

    /// Shows where the simulation is.
    pub fn at(&mut self, simulation: &Simulation) {
        if self.last.elapsed() < PAUSE || self.bar.is_hidden() {
            return;
        }
        self.last = Instant::now();
        let time = simulation.frame().time;
        self.bar.set_position((time * 1000.0) as u64);
        self.bar.set_message(self.message(simulation, time));
    }

    fn message(&self, simulation: &Simulation, time: f64) -> String {
        let rate = (time - self.from) / self.begin.elapsed().as_secs_f64().max(1e-9);
        let (arrived, agents) = (simulation.arrived(), simulation.agents());
        let left = (self.until - time) / rate.max(1e-9);
        // A run ends early when everyone has arrived.
        format!(
            "{time:.1} of {} s, {rate:.1}× real time, {arrived}/{agents} there, ≤ {} left",
            self.until,
            duration(left)
        )
    }

    /// Takes the bar away.
    pub fn clear(self) {
        self.bar.finish_and_clear();
    }
}

/// How far many runs are: how many are done, and time left.
pub struct Runs {
    bar: ProgressBar,
    what: &'static str,
    begin: Instant,
}

impl Runs {
    /// Begins now; `what` is done `total` times.
    pub fn new(what: &'static str, total: usize) -> Runs {
        Runs { bar: bar(total as u64), what, begin: Instant::now() }
    }

    /// Shows how many are done.
    pub fn at(&self, done: usize) {
        let total = self.bar.length().unwrap_or_default();
        let left =
            self.begin.elapsed().as_secs_f64() / done as f64 * total.saturating_sub(done as u64) as f64;
        // Before the first there is nothing to guess by.
        let left = if done == 0 { String::new() } else { format!(", {} left", duration(left)) };
        self.bar.set_position(done as u64);
        self.bar.set_message(format!("{done} of {total} {}{left}", self.what));
    }

    /// Takes the bar away.
    pub fn clear(self) {
        self.bar.finish_and_clear();
    }
}

fn bar(length: u64) -> ProgressBar {
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style.progress_chars("━━─"));
    }
    bar
}

/// A time on the clock, as a person says it.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
