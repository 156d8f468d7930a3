//! A recorded run, read back: ours in all four formats, JuPedSim's databases, PedPy's texts.

use super::error::Fault;
use super::{CohortInfo, Format, RecordError, RunInfo, tidy};
use glam::{DVec2, Vec2};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use throng_core::space::Period;

/// A run in memory: 12 bytes for each agent and frame.
#[derive(Clone, Debug)]
pub struct Run {
    /// What the file tells about itself; of a foreign file only the name, which is then the file's.
    pub info: RunInfo,
    /// Frames a second.
    pub fps: f64,
    /// Where one can walk, and from which frame on; empty where the file does not say.
    pub geometry: Vec<GeometrySpan>,
    /// Where feet were put down, in the order of time; empty where bodies moved without, or the format has no place for them.
    pub footprints: Vec<FootprintRow>,
    /// What must be added to a track's `x` and `y` for the file's coordinates.
    pub origin: DVec2,
    agents: Vec<Agent>,
    frame: Vec<u32>,
    x: Vec<f32>,
    y: Vec<f32>,
}

/// A foot that was put down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootprintRow {
    /// Whose.
    pub id: i64,
    /// When, s.
    pub time: f64,
    /// Its middle, in the file's coordinates.
    pub at: [f64; 2],
    /// Unit vector from heel to toe.
    pub along: [f64; 2],
    /// Whether it is a left foot.
    pub left: bool,
}

/// A geometry and since when it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeometrySpan {
    /// The first frame that refers to it.
    pub from_frame: u32,
    /// As it stands in the file.
    pub wkt: String,
}

#[derive(Clone, Debug)]
struct Agent {
    id: i64,
    cohort: u16,
    /// Its rows are `start..end`.
    start: usize,
    end: usize,
}

/// The trajectory of one agent, by rising frame.
#[derive(Clone, Copy, Debug)]
pub struct Track<'a> {
    /// As in the file.
    pub id: i64,
    /// Index into the run's `info.cohorts`.
    pub cohort: u16,
    /// Where it wants to be, in the file's coordinates, where that is known.
    pub goal: Option<[f64; 2]>,
    /// Frame numbers; there may be gaps.
    pub frame: &'a [u32],
    /// m from the run's origin.
    pub x: &'a [f32],
    /// m from the run's origin.
    pub y: &'a [f32],
    /// How space repeats.
    period: Period,
}

impl Track<'_> {
    /// From where it is in one row to where it is in another, m: the shortest way there is where space repeats.
    pub fn movement(&self, from: usize, to: usize) -> Vec2 {
        self.period.nearest(self.step(from, to))
    }

    /// The rows between which it did not come round, in order; all of them where space does not repeat.
    pub fn rounds(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut begin = 0;
        let ends = (1..=self.frame.len()).filter(|&row| row == self.frame.len() || self.comes_round(row));
        ends.map(move |end| std::mem::replace(&mut begin, end)..end)
    }

    /// Whether it came in at the other side of space since the row before.
    pub fn comes_round(&self, row: usize) -> bool {
        self.movement(row - 1, row) != self.step(row - 1, row)
    }

    fn step(&self, from: usize, to: usize) -> Vec2 {
        Vec2::new(self.x[to] - self.x[from], self.y[to] - self.y[from])
    }
}

impl Run {
    /// The agents' trajectories, by rising id.
    pub fn tracks(&self) -> impl ExactSizeIterator<Item = Track<'_>> + Clone + '_ {
        let period = Period::new(Vec2::ZERO, DVec2::from(self.info.periodic).as_vec2());
        self.agents.iter().map(move |agent| {
            let rows = agent.start..agent.end;
            Track {
                id: agent.id,
                cohort: agent.cohort,
                goal: usize::try_from(agent.id).ok().and_then(|id| self.info.goals.get(id)).copied(),
                frame: &self.frame[rows.clone()],
                x: &self.x[rows.clone()],
                y: &self.y[rows],
                period,
            }
        })
    }

    /// How many agents were ever there.
    pub fn agents(&self) -> usize {
        self.agents.len()
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.frame.len()
    }

    /// The first and the last frame with anyone in it.
    pub fn frames(&self) -> (u32, u32) {
        let first = self.frame.iter().min().copied().unwrap_or(0);
        (first, self.frame.iter().max().copied().unwrap_or(0))
    }

    /// From the first frame to the last, s.
    pub fn duration(&self) -> f64 {
        let (first, last) = self.frames();
        f64::from(last - first) / self.fps
    }

    /// The geometry that a frame refers to.
    pub fn geometry_at(&self, frame: u32) -> Option<&str> {
        let earlier = self.geometry.iter().rev().find(|span| span.from_frame <= frame);
        earlier.or(self.geometry.first()).map(|span| span.wkt.as_str())
    }
}

/// Reads a run, in the format that the file's name says.
pub fn open_run(path: impl AsRef<Path>) -> Result<Run, RecordError> {
    let path = path.as_ref();
    let read = Format::of(path)?.read;
    let mut builder = Builder::default();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    read(path, &mut builder).and_then(|()| builder.build(&name)).map_err(|fault| fault.on_read(path))
}

/// Gathers rows in the order of a file, and then sorts them by agent.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) fps: Option<f64>,
    pub(super) geometry: Vec<GeometrySpan>,
    pub(super) footprints: Vec<FootprintRow>,
    info: Option<RunInfo>,
    /// Names as they turn up in the rows, where rows have them.
    cohorts: Vec<String>,
    origin: Option<DVec2>,
    /// Place among `agents` by id; looked up only, never walked through.
    place: HashMap<i64, u32>,
    agents: Vec<Seen>,
    rows: Vec<BuilderRow>,
    clock: Option<Clock>,
}

struct Seen {
    id: i64,
    cohort: u16,
    rows: usize,
}

#[derive(Clone, Copy)]
struct BuilderRow {
    agent: u32,
    frame: u32,
    x: f32,
    y: f32,
}

/// The earliest and the latest frame with their times.
#[derive(Clone, Copy)]
struct Clock {
    first: (i64, f64),
    last: (i64, f64),
}

impl Builder {
    /// Takes a [`RunInfo`]; one that another version wrote and we cannot read is not worth losing the run for.
    pub(super) fn info_json(&mut self, json: &str) {
        self.info = serde_json::from_str(json).ok();
    }

    /// A cohort's number by its name in a row.
    pub(super) fn cohort(&mut self, name: &str) -> u16 {
        if let Some(place) = self.cohorts.iter().position(|known| known == name) {
            return place as u16;
        }
        // Whatever has so many names is no cohort; the last one stands for the rest.
        if self.cohorts.len() < 1000 {
            self.cohorts.push(name.to_owned());
        }
        (self.cohorts.len() - 1) as u16
    }

    /// Tells when a frame was, for files that do not say their rate.
    pub(super) fn clock(&mut self, frame: i64, time: f64) {
        let clock = self.clock.get_or_insert(Clock { first: (frame, time), last: (frame, time) });
        if frame < clock.first.0 {
            clock.first = (frame, time);
        }
        if frame > clock.last.0 {
            clock.last = (frame, time);
        }
    }

    pub(super) fn push(&mut self, id: i64, frame: i64, x: f64, y: f64, cohort: u16) -> Result<(), Fault> {
        let frame_number = u32::try_from(frame).map_err(|_| {
            Fault::Content(format!("agent {id}: frame {frame} is not between 0 and {}", u32::MAX))
        })?;
        let position = DVec2::new(x, y);
        if !position.is_finite() {
            return Err(Fault::Content(format!(
                "agent {id}, frame {frame}: its position ({x}, {y}) is not finite"
            )));
        }
        let relative = (position - *self.origin.get_or_insert(position.round())).as_vec2();
        if !relative.is_finite() {
            return Err(Fault::Content(format!(
                "agent {id}, frame {frame}: ({x}, {y}) is too far from the others"
            )));
        }
        let agent = *self.place.entry(id).or_insert_with(|| {
            self.agents.push(Seen { id, cohort, rows: 0 });
            self.agents.len() as u32 - 1
        });
        self.agents[agent as usize].rows += 1;
        self.rows.push(BuilderRow { agent, frame: frame_number, x: relative.x, y: relative.y });
        Ok(())
    }

    fn build(mut self, file_name: &str) -> Result<Run, Fault> {
        if self.rows.is_empty() {
            return Err(Fault::content("it holds no positions"));
        }
        let fps = self.rate()?;
        let info = self.complete_info(file_name);
        if self.geometry.is_empty() && !info.geometry_wkt.is_empty() {
            self.geometry.push(GeometrySpan { from_frame: 0, wkt: info.geometry_wkt.clone() });
        }
        let agents = self.lay_out();
        self.rows.sort_by_key(|row| (self.agents[row.agent as usize].id, row.frame));
        Ok(Run {
            info,
            fps,
            geometry: self.geometry,
            footprints: self.footprints,
            origin: self.origin.unwrap_or_default(),
            agents,
            frame: self.rows.iter().map(|row| row.frame).collect(),
            x: self.rows.iter().map(|row| row.x).collect(),
            y: self.rows.iter().map(|row| row.y).collect(),
        })
    }

    fn rate(&self) -> Result<f64, Fault> {
        let measured = || {
            let Clock { first, last } = self.clock?;
            // One frame alone has no rate, and then none is needed.
            if first.0 == last.0 {
                Some(1.0)
            } else {
                Some(tidy((last.0 - first.0) as f64 / (last.1 - first.1)))
            }
        };
        match self.fps.or_else(measured) {
            Some(fps) if fps.is_finite() && fps > 0.0 => Ok(fps),
            Some(fps) => Err(Fault::Content(format!("its frames a second are {fps}, and must be above 0"))),
            None => Err(Fault::content("it does not say how many frames a second it has")),
        }
    }

    /// What the file said, filled up with what the rows show.
    fn complete_info(&mut self, file_name: &str) -> RunInfo {
        let mut info = self.info.take().unwrap_or_default();
        if info.name.is_empty() {
            file_name.clone_into(&mut info.name);
        }
        if !self.cohorts.is_empty() {
            self.match_names(&mut info);
        } else if !info.cohorts.is_empty() {
            for agent in &mut self.agents {
                agent.cohort = cohort_of(&info.cohorts, agent.id);
            }
        }
        if info.cohorts.is_empty() {
            info.cohorts.push(CohortInfo { count: self.agents.len() as u32, ..CohortInfo::default() });
        }
        info
    }

    /// Turns the rows' names into places among the info's cohorts, which gain those that they lack.
    fn match_names(&mut self, info: &mut RunInfo) {
        let announced = info.cohorts.len();
        let mut place = Vec::with_capacity(self.cohorts.len());
        for name in &self.cohorts {
            let known = info.cohorts.iter().position(|cohort| cohort.name == *name);
            place.push(known.unwrap_or_else(|| {
                info.cohorts.push(CohortInfo { name: name.clone(), ..CohortInfo::default() });
                info.cohorts.len() - 1
            }));
        }
        for agent in &mut self.agents {
            agent.cohort = place[usize::from(agent.cohort)] as u16;
            if usize::from(agent.cohort) >= announced {
                info.cohorts[usize::from(agent.cohort)].count += 1;
            }
        }
    }

    /// Gives each agent its range of rows, by rising id.
    fn lay_out(&self) -> Vec<Agent> {
        let mut order: Vec<&Seen> = self.agents.iter().collect();
        order.sort_unstable_by_key(|agent| agent.id);
        let mut start = 0;
        let mut agents = Vec::with_capacity(order.len());
        for seen in order {
            agents.push(Agent { id: seen.id, cohort: seen.cohort, start, end: start + seen.rows });
            start += seen.rows;
        }
        agents
    }
}

fn cohort_of(cohorts: &[CohortInfo], id: i64) -> u16 {
    let holds = |cohort: &CohortInfo| {
        let first = i64::from(cohort.first_id);
        (first..first + i64::from(cohort.count)).contains(&id)
    };
    cohorts.iter().position(holds).unwrap_or(0) as u16
}
