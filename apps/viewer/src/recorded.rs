//! Recorded runs, one or two side by side, played on one clock.

use crate::samples::{self, Sample};
use crate::scene::Pane;
use crate::wire::{Head, Packer, Shown};
use throng::Frame;
use throng::record::{Run, Track};
use throng::world::Mover;

/// More than two panes are too small to see anything in.
pub const MOST_RUNS: usize = 2;

/// Samples in the charts of a whole run.
const SAMPLES: usize = 300;

/// An agent that was not seen for longer than this is taken to have been away, s.
const MISSED: f64 = 0.5;

/// The radius of agents that no file tells, m.
const USUAL_RADIUS: f32 = 0.2;

/// No agent is taken to be faster than this, m/s.
const FASTEST: f32 = 3.0;

/// Recorded runs and the time that they are at.
pub struct Recorded {
    runs: Vec<Tape>,
    time: f64,
    crowd: Columns,
    packer: Packer,
}

/// A run, and what would otherwise be looked for among all its rows again and again.
struct Tape {
    run: Run,
    /// Those that are in the way.
    movers: Vec<Mover>,
    first: u32,
    last: u32,
}

impl Tape {
    fn new(run: Run) -> Tape {
        let (first, last) = run.frames();
        let movers = run.info.movers_around(run.origin).into_iter().filter(|mover| !mover.carries);
        Tape { movers: movers.collect(), run, first, last }
    }

    fn duration(&self) -> f64 {
        f64::from(self.last - self.first) / self.run.fps
    }

    fn frame_at(&self, time: f64) -> f64 {
        (f64::from(self.first) + time * self.run.fps + 1e-6).min(f64::from(self.last))
    }

    fn has_left(&self, track: &Track<'_>, time: f64) -> bool {
        let last = track.frame.last().copied().unwrap_or(0);
        last < self.last && f64::from(last) < self.frame_at(time)
    }

    fn radius(&self, track: &Track<'_>) -> f32 {
        let cohort = self.run.info.cohorts.get(usize::from(track.cohort));
        let known = cohort.map_or(0.0, |cohort| cohort.radius) as f32;
        if known > 0.0 { known } else { USUAL_RADIUS }
    }
}

#[derive(Default)]
struct Columns {
    id: Vec<u32>,
    x: Vec<f32>,
    y: Vec<f32>,
    vx: Vec<f32>,
    vy: Vec<f32>,
    radius: Vec<f32>,
}

impl Recorded {
    /// From their beginning.
    pub fn new(runs: Vec<Run>) -> Recorded {
        let runs = runs.into_iter().map(Tape::new).collect();
        Recorded { runs, time: 0.0, crowd: Columns::default(), packer: Packer::default() }
    }

    /// Of the longest, s.
    pub fn duration(&self) -> f64 {
        self.runs.iter().map(Tape::duration).fold(0.0, f64::max)
    }

    /// s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Goes to a time, or to the end that is nearer.
    pub fn seek(&mut self, time: f64) {
        // `max` takes care of NaN.
        self.time = time.max(0.0).min(self.duration());
    }

    /// Whether there is nothing more to come.
    pub fn is_done(&self) -> bool {
        self.time >= self.duration()
    }

    /// From one recorded frame to the next, s.
    pub fn frame_time(&self) -> f64 {
        self.runs.iter().map(|tape| 1.0 / tape.run.fps).fold(f64::INFINITY, f64::min)
    }

    /// Changes when a map does.
    pub fn geometry(&self) -> Vec<usize> {
        let span = |tape: &Tape| {
            let frame = tape.frame_at(self.time) as u32;
            tape.run.geometry.iter().rposition(|span| span.from_frame <= frame).unwrap_or(0)
        };
        self.runs.iter().map(span).collect()
    }

    /// What a page has to know before frames make sense.
    pub fn panes(&self) -> Vec<Pane> {
        self.runs.iter().map(|tape| Pane::recorded(&tape.run, tape.frame_at(self.time) as u32)).collect()
    }

    /// Cohorts and radii by place among the agents, for each run.
    pub fn statics(&self) -> Vec<(Vec<u16>, Vec<f32>)> {
        let of = |tape: &Tape| tape.run.tracks().map(|track| (track.cohort, tape.radius(&track))).unzip();
        self.runs.iter().map(of).collect()
    }

    /// The crowds now, a frame for each run. Ids are places among a run's agents.
    pub fn frames(&mut self, head: Head) -> Vec<Vec<u8>> {
        let Recorded { runs, time, crowd, packer } = self;
        let pack = |(pane, tape): (usize, &Tape)| {
            let run = &tape.run;
            crowd.gather(tape, *time);
            let over = *time >= tape.duration();
            let left = run.tracks().filter(|track| tape.has_left(track, *time)).count();
            let head =
                Head { over, pane: pane as u8, ids: run.agents(), arrived: left, fastest: FASTEST, ..head };
            let Columns { id, x, y, vx, vy, .. } = crowd;
            let states = tape.movers.iter().map(|mover| mover.state(*time, 1.0));
            let movers: Vec<[f32; 3]> =
                states.map(|state| [state.position.x, state.position.y, state.radius]).collect();
            let (step, origin) = (tape.frame_at(*time) as u64, run.origin);
            let frame = Frame { step, time: *time, origin, id, x, y, vx, vy, ..Frame::default() };
            packer.frame(&head, &Shown { frame, delay: &[], movers: &movers })
        };
        runs.iter().enumerate().map(pack).collect()
    }

    /// Charts of a whole run.
    pub fn samples(&self, pane: usize) -> Vec<Sample> {
        let Some(tape) = self.runs.get(pane) else { return Vec::new() };
        let mut crowd = Columns::default();
        let sample = |place: usize| {
            let time = tape.duration() * place as f64 / (SAMPLES - 1) as f64;
            crowd.gather(tape, time);
            let speeds = crowd.vx.iter().zip(&crowd.vy).map(|(x, y)| f64::from(x.hypot(*y)));
            Sample {
                time,
                present: crowd.id.len(),
                arrived: tape.run.tracks().filter(|track| tape.has_left(track, time)).count(),
                mean_speed: speeds.sum::<f64>() / crowd.id.len().max(1) as f64,
                density: samples::density(&crowd.x, &crowd.y),
                collisions: samples::collisions(&crowd.x, &crowd.y, &crowd.radius),
                ..Sample::default()
            }
        };
        (0..SAMPLES).map(sample).collect()
    }
}

impl Columns {
    fn gather(&mut self, tape: &Tape, time: f64) {
        let columns = [&mut self.x, &mut self.y, &mut self.vx, &mut self.vy, &mut self.radius];
        columns.into_iter().for_each(Vec::clear);
        self.id.clear();
        let frame = tape.frame_at(time);
        for (place, track) in tape.run.tracks().enumerate() {
            let Some([x, y, vx, vy]) = moment(&tape.run, &track, frame) else { continue };
            self.id.push(place as u32);
            self.radius.push(tape.radius(&track));
            for (column, value) in
                [(&mut self.x, x), (&mut self.y, y), (&mut self.vx, vx), (&mut self.vy, vy)]
            {
                column.push(value);
            }
        }
    }
}

/// Place and velocity at a frame or between two.
fn moment(run: &Run, track: &Track<'_>, frame: f64) -> Option<[f32; 4]> {
    let row = track.frame.partition_point(|other| f64::from(*other) <= frame).checked_sub(1)?;
    let since = frame - f64::from(track.frame[row]);
    let (x, y) = (track.x[row], track.y[row]);
    let missed = (MISSED * run.fps).max(1.0);
    let gap =
        track.frame.get(row + 1).map(|next| f64::from(next - track.frame[row])).filter(|gap| *gap <= missed);
    let Some(gap) = gap else { return (since <= 1.0).then_some([x, y, 0.0, 0.0]) };
    let (way_x, way_y) = (track.x[row + 1] - x, track.y[row + 1] - y);
    let (share, per_s) = ((since / gap) as f32, (run.fps / gap) as f32);
    Some([x + way_x * share, y + way_y * share, way_x * per_s, way_y * per_s])
}
