//! The one thread that owns what is shown: it takes orders, lets time go on, and publishes frames.
//!
//! Frames and scenes are published to all pages: only the latest counts, so a page that is slow misses some and holds
//! nothing up. Where no page is open, time stands still, and the thread sleeps until one comes; where time is held, until
//! an order does.

use crate::Source;
use crate::control::Order;
use crate::live::Live;
use crate::recorded::Recorded;
use crate::samples::History;
use crate::scene::{Mode, Scene};
use crate::wire::{self, Head};
use serde::Serialize;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use throng::explain::Explanation;
use throng::scenario::Overrides;
use throng::{builtin, record};
use tokio::sync::{mpsc, watch};

/// Frames are published at most so often.
const FRAME: Duration = Duration::from_micros(33_333);

/// Charts get a sample at most so often.
const SAMPLE: Duration = Duration::from_millis(250);

/// Where the clock has run so far ahead of a simulation, it waits for it.
const LATE: f64 = 0.25;

/// What pages see: each value only in its latest state.
#[derive(Clone, Default)]
pub struct Channels {
    /// A frame for each pane.
    pub frames: watch::Sender<Arc<Vec<Vec<u8>>>>,
    /// The scene as JSON, and statics for each pane.
    pub scene: watch::Sender<Arc<(String, Vec<Vec<u8>>)>>,
    /// Charts for each pane.
    pub history: Arc<Mutex<Vec<History>>>,
}

impl Channels {
    /// Works on the charts.
    pub fn with_history<R>(&self, work: impl FnOnce(&mut Vec<History>) -> R) -> R {
        // A thread that panicked has left whole samples behind: there is nothing half done in them.
        work(&mut self.history.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the thread wakes up for.
pub enum Call {
    /// A page looks from now on.
    Page,
    /// A page wants something.
    Order(Request),
}

/// An order, and where its answer goes.
pub struct Request {
    /// What is asked for.
    pub order: Order,
    /// Answers as JSON. One who does not read them loses them.
    pub answers: mpsc::Sender<String>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Answer<'a> {
    Error { message: &'a str },
    Explanation { id: u32, explanation: Option<Box<Explanation>> },
}

enum Show {
    Nothing,
    Live(Box<Live>),
    Recorded(Recorded),
}

/// What is shown, and how time goes on.
pub struct Host {
    sources: Vec<Source>,
    channels: Channels,
    show: Show,
    opened: String,
    error: Option<String>,
    generation: u32,
    playing: bool,
    speed: f64,
    /// Time of the clock and of the show, from which the time that is due is counted.
    since: (Instant, f64),
    /// Whether something happened that a frame has to tell.
    stale: bool,
    next_frame: Instant,
    next_sample: Instant,
    geometry: Vec<usize>,
}

impl Host {
    /// Opens the first of the sources; it plays while a page is open.
    pub fn new(sources: Vec<Source>, channels: Channels) -> Host {
        let now = Instant::now();
        let first = sources.first().map(Source::name).unwrap_or_default();
        let mut host = Host {
            sources,
            channels,
            show: Show::Nothing,
            opened: String::new(),
            error: None,
            generation: 0,
            playing: true,
            speed: 1.0,
            since: (now, 0.0),
            stale: true,
            next_frame: now,
            next_sample: now,
            geometry: Vec::new(),
        };
        if let Err(error) = host.open(&first) {
            host.error = Some(error);
            host.publish_scene();
        }
        host
    }

    /// Why the first source could not be opened.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Goes on until no order can come any more.
    pub fn run(mut self, calls: &Receiver<Call>) {
        loop {
            match calls.recv_timeout(self.pause()) {
                Ok(call) => self.take(call),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Ok(call) = calls.try_recv() {
                self.take(call);
            }
            self.go_on();
            self.publish();
        }
    }

    fn watched(&self) -> bool {
        self.channels.frames.receiver_count() > 0
    }

    /// How long there is nothing to do, if nobody calls.
    fn pause(&self) -> Duration {
        if !self.watched() {
            return Duration::MAX;
        }
        let until_frame = self.next_frame.saturating_duration_since(Instant::now());
        let until_step = match &self.show {
            Show::Live(live) if self.playing => {
                let ahead = (live.time() + live.dt() - self.due()) / self.speed;
                Duration::try_from_secs_f64(ahead.max(0.0)).unwrap_or(Duration::MAX)
            }
            Show::Recorded(_) if self.playing => until_frame,
            _ => Duration::MAX,
        };
        if self.stale { until_step.min(until_frame) } else { until_step }
    }

    fn time(&self) -> f64 {
        match &self.show {
            Show::Nothing => 0.0,
            Show::Live(live) => live.time(),
            Show::Recorded(recorded) => recorded.time(),
        }
    }

    /// The time that the show should be at.
    fn due(&self) -> f64 {
        self.since.1 + self.since.0.elapsed().as_secs_f64() * self.speed
    }

    fn count_from_now(&mut self) {
        self.since = (Instant::now(), self.time());
        self.stale = true;
    }

    /// One step at most, so that orders never wait for more.
    fn go_on(&mut self) {
        // What nobody sees stands still.
        if !self.playing || !self.watched() {
            self.since = (Instant::now(), self.time());
            return;
        }
        let due = self.due();
        match &mut self.show {
            Show::Nothing => {}
            Show::Live(live) => {
                if live.is_done() {
                    self.playing = false;
                } else if live.time() + live.dt() <= due + 1e-9 {
                    live.step();
                    if self.speed.is_finite() && due - live.time() > LATE * self.speed {
                        self.since = (Instant::now(), live.time());
                    }
                } else {
                    return;
                }
            }
            Show::Recorded(recorded) => {
                recorded.seek(due);
                self.playing = !recorded.is_done();
            }
        }
        self.stale = true;
    }

    fn publish(&mut self) {
        let now = Instant::now();
        if !self.watched() || !self.stale || now < self.next_frame {
            return;
        }
        self.next_frame = now + FRAME;
        self.stale = false;
        self.publish_changed_maps();
        let head =
            Head { playing: self.playing, generation: self.generation, speed: self.speed, ..Head::default() };
        let frames = match &mut self.show {
            Show::Nothing => return,
            Show::Live(live) => {
                if now >= self.next_sample {
                    self.next_sample = now + SAMPLE;
                    let sample = live.sample();
                    self.channels.with_history(|history| {
                        let newer = history[0].since(0).last().is_none_or(|last| last.time < sample.time);
                        if newer {
                            history[0].push(sample);
                        }
                    });
                }
                vec![live.frame(head)]
            }
            Show::Recorded(recorded) => recorded.frames(head),
        };
        self.channels.frames.send_replace(Arc::new(frames));
    }

    /// Recorded maps change with time.
    fn publish_changed_maps(&mut self) {
        if let Show::Recorded(recorded) = &self.show {
            let geometry = recorded.geometry();
            if geometry != self.geometry {
                self.geometry = geometry;
                self.publish_scene();
            }
        }
    }

    fn publish_scene(&mut self) {
        let (mode, panes, statics) = match &self.show {
            Show::Nothing => (Mode::Nothing, Vec::new(), Vec::new()),
            Show::Live(live) => (Mode::Live, vec![live.pane()], vec![live.statics()]),
            Show::Recorded(recorded) => (Mode::Recorded, recorded.panes(), recorded.statics()),
        };
        let live = if let Show::Live(live) = &self.show { Some(live.settings()) } else { None };
        let duration =
            if let Show::Recorded(recorded) = &self.show { Some(recorded.duration()) } else { None };
        let (opened, error) = (self.opened.clone(), self.error.clone());
        let scene = Scene { generation: self.generation, mode, opened, error, panes, live, duration };
        let pack = |(pane, (cohort, radius)): (usize, &(Vec<u16>, Vec<f32>))| {
            wire::statics(self.generation, pane as u8, cohort, radius)
        };
        let statics = statics.iter().enumerate().map(pack).collect();
        // Numbers that JSON cannot hold become null; there is nothing else that could fail.
        let json = serde_json::to_string(&scene).unwrap_or_default();
        self.channels.scene.send_replace(Arc::new((json, statics)));
        self.stale = true;
    }

    /// Shows something else, or the same from its beginning: ids have a new meaning.
    fn begin(&mut self, show: Show) {
        self.generation += 1;
        self.show = show;
        self.error = None;
        let histories: Vec<_> = match &self.show {
            Show::Recorded(recorded) => {
                (0..recorded.panes().len()).map(|pane| recorded.samples(pane)).collect()
            }
            Show::Nothing | Show::Live(_) => vec![Vec::new()],
        };
        self.channels.with_history(|history| {
            history.resize_with(histories.len(), History::default);
            history.iter_mut().zip(histories).for_each(|(history, samples)| history.replace(samples));
        });
        self.geometry.clear();
        self.count_from_now();
        self.publish_scene();
    }

    fn open(&mut self, name: &str) -> Result<(), String> {
        let given = self.sources.iter().find(|source| source.name() == name).cloned();
        let source = match given {
            Some(source) => source,
            // Nothing but what was given or comes with the engine can be read.
            None => Source::Builtin(
                builtin::find(name).ok_or_else(|| format!("there is nothing called `{name}` here"))?.name,
            ),
        };
        let show = shown(&source)?;
        name.clone_into(&mut self.opened);
        self.playing = true;
        self.begin(show);
        Ok(())
    }

    fn take(&mut self, call: Call) {
        match call {
            // The time in which nobody looked does not count.
            Call::Page => self.since = (Instant::now(), self.time()),
            Call::Order(request) => self.answer(request),
        }
    }

    fn answer(&mut self, request: Request) {
        let answer = match request.order {
            Order::Explain { id } => {
                let explanation = match &mut self.show {
                    Show::Live(live) => live.explain(id),
                    Show::Nothing | Show::Recorded(_) => None,
                };
                Some(Answer::Explanation { id, explanation: explanation.map(Box::new) })
            }
            order => match self.obey(order) {
                Ok(()) => None,
                Err(message) => {
                    let json = serde_json::to_string(&Answer::Error { message: &message });
                    let _ = request.answers.try_send(json.unwrap_or_default());
                    None
                }
            },
        };
        if let Some(json) = answer.and_then(|answer| serde_json::to_string(&answer).ok()) {
            let _ = request.answers.try_send(json);
        }
    }

    fn obey(&mut self, order: Order) -> Result<(), String> {
        match order {
            Order::Play {} => self.play(),
            Order::Pause {} => {
                self.playing = false;
                Ok(())
            }
            Order::Step {} => self.step(),
            Order::Speed { times } => {
                self.speed = times
                    .map_or(f64::INFINITY, |times| if times > 0.0 { times.clamp(0.01, 1000.0) } else { 1.0 });
                if matches!(self.show, Show::Recorded(_)) {
                    self.speed = self.speed.min(1000.0);
                }
                Ok(())
            }
            Order::Restart { seed } => self.restart(seed),
            Order::Open { name } => self.open(&name),
            Order::Seek { time } => {
                if let Show::Recorded(recorded) = &mut self.show {
                    recorded.seek(time);
                }
                Ok(())
            }
            order => self.steer(order),
        }?;
        self.count_from_now();
        Ok(())
    }

    fn play(&mut self) -> Result<(), String> {
        let over = match &mut self.show {
            Show::Nothing => false,
            Show::Live(live) => live.is_done(),
            Show::Recorded(recorded) => recorded.is_done(),
        };
        if over {
            self.restart(None)?;
        }
        self.playing = true;
        Ok(())
    }

    fn step(&mut self) -> Result<(), String> {
        self.playing = false;
        match &mut self.show {
            Show::Nothing => {}
            Show::Live(live) => {
                if !live.is_done() {
                    live.step();
                }
            }
            Show::Recorded(recorded) => recorded.seek(recorded.time() + recorded.frame_time()),
        }
        Ok(())
    }

    fn restart(&mut self, seed: Option<u64>) -> Result<(), String> {
        match std::mem::replace(&mut self.show, Show::Nothing) {
            Show::Nothing => {
                let name = self.sources.first().map(Source::name).unwrap_or_default();
                self.open(&name)
            }
            Show::Live(mut live) => {
                let restarted = live.restart(seed);
                if restarted.is_ok() {
                    self.begin(Show::Live(live));
                } else {
                    self.show = Show::Live(live);
                }
                restarted
            }
            Show::Recorded(mut recorded) => {
                recorded.seek(0.0);
                self.show = Show::Recorded(recorded);
                Ok(())
            }
        }
    }

    /// Orders that only a simulation can follow.
    fn steer(&mut self, order: Order) -> Result<(), String> {
        let Show::Live(live) = &mut self.show else {
            return Err("only a simulation can be steered, and this is none".into());
        };
        match order {
            Order::Models { macroscale, mesoscale, microscale, motion } => {
                let before = live.changes();
                live.change(Overrides {
                    macroscale: macroscale.or(before.macroscale),
                    mesoscale: mesoscale.or(before.mesoscale),
                    microscale: microscale.or(before.microscale),
                    motion: motion.or(before.motion),
                    ..before
                })?;
            }
            Order::Set { block, key, value } => live.change(live.with_parameter(&block, &key, value)?)?,
            Order::AddObstacle { ring } => live.add_obstacle(&ring)?,
            Order::RemoveObstacle { name } => live.remove_obstacle(&name)?,
            Order::Drop { cohort, at, count } => live.add_agents(cohort, at, count)?,
            Order::Retarget { cohort, at } => live.retarget(cohort, at)?,
            Order::MoveGoals { cohort, by } => live.move_goals(cohort, by)?,
            Order::Play {}
            | Order::Pause {}
            | Order::Step {}
            | Order::Speed { .. }
            | Order::Restart { .. }
            | Order::Open { .. }
            | Order::Explain { .. }
            | Order::Seek { .. } => {}
        }
        self.publish_scene();
        Ok(())
    }
}

fn shown(source: &Source) -> Result<Show, String> {
    match source {
        Source::Builtin(name) => {
            let builtin = builtin::find(name).ok_or_else(|| format!("there is no scenario `{name}`"))?;
            let scenario = builtin.open_with(&Overrides::default()).map_err(|error| error.to_string())?;
            Ok(Show::Live(Box::new(Live::new(scenario)?)))
        }
        Source::Scenario(path) => {
            let scenario = throng::Scenario::open(path).map_err(|error| error.to_string())?;
            Ok(Show::Live(Box::new(Live::new(scenario)?)))
        }
        Source::Runs(paths) => {
            let runs: Result<Vec<_>, _> = paths.iter().map(record::open_run).collect();
            Ok(Show::Recorded(Recorded::new(runs.map_err(|error| error.to_string())?)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stands_still_where_no_page_looks() {
        let channels = Channels::default();
        let mut host = Host::new(vec![Source::Builtin("crossing")], channels.clone());
        host.speed = f64::INFINITY;
        let page = channels.frames.subscribe();
        host.go_on();
        let seen = host.time();
        assert!(seen > 0.0 && host.pause() == Duration::ZERO);
        drop(page);
        host.go_on();
        assert!(host.time() == seen && host.pause() == Duration::MAX);
    }

    #[test]
    fn time_that_is_held_is_waited_for_without_end() {
        let channels = Channels::default();
        let mut host = Host::new(vec![Source::Builtin("crossing")], channels.clone());
        let _page = channels.frames.subscribe();
        host.obey(Order::Pause {}).unwrap();
        host.publish();
        assert_eq!(host.pause(), Duration::MAX);
        host.obey(Order::Step {}).unwrap();
        assert!(host.pause() <= FRAME);
    }
}
