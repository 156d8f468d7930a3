//! The figures of papers: `throng papers NAME --pictures DIR`. What they show is measured when they are drawn.

pub mod hybrid;
pub mod multi_domain;
pub mod snape;

use crate::{files, output, watch};
use anyhow::bail;
use glam::DVec2;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use throng::{Scenario, Simulation};
use throng_render::Picture;

/// A figure of a paper, as we draw it.
pub struct Figure {
    /// What its file is called, without the ending.
    pub name: &'static str,
    /// What it shows.
    pub shows: &'static str,
    /// Measures and draws it.
    pub draw: fn(&Job) -> anyhow::Result<Picture>,
}

/// A figure that is being drawn.
pub struct Job {
    /// A short version.
    pub quick: bool,
    name: &'static str,
    line: watch::Line,
}

impl Job {
    /// Says what is being measured.
    pub fn say(&self, what: &str) {
        self.line.say(&format!("{}: {what}", self.name));
    }
}

/// Draws figures into a folder, and says where they are.
pub fn draw(figures: &[Figure], folder: &Path, quick: bool, json: bool) -> anyhow::Result<()> {
    check(folder)?;
    let mut drawn = Vec::new();
    for figure in figures {
        let job = Job { quick, name: figure.name, line: watch::Line::new() };
        job.say("begins");
        let picture = (figure.draw)(&job)?;
        drop(job);
        let path = folder.join(format!("{}.png", figure.name));
        files::replace(&path, &picture.to_png())?;
        if json {
            drawn.push(serde_json::json!({ "file": path, "shows": figure.shows }));
        } else {
            output::show(&format!("{}: {}\n", path.display(), figure.shows))?;
        }
    }
    if json {
        output::show(&format!("{}\n", serde_json::to_string_pretty(&drawn)?))?;
    }
    Ok(())
}

/// Makes a folder where there is none, and makes sure that it takes files.
fn check(folder: &Path) -> anyhow::Result<()> {
    let shown = folder.display();
    if folder.exists() && !folder.is_dir() {
        bail!("--pictures: `{shown}` is a file; give a folder");
    }
    let made = std::fs::create_dir_all(folder).and_then(|()| tempfile::NamedTempFile::new_in(folder));
    let reason = |error: io::Error| output::reason(&error);
    made.map(drop).map_err(reason).map_err(|reason| {
        anyhow::anyhow!("--pictures: cannot write into `{shown}`: {reason}; choose another folder")
    })
}

/// A scenario that a figure brings along.
fn scenario(text: &str, name: &str) -> anyhow::Result<Scenario> {
    Ok(Scenario::parse(text, name, None)?)
}

/// Where agents were, from their starts on.
struct Trail {
    cohort: usize,
    places: Vec<DVec2>,
}

impl Trail {
    /// Its length, m.
    fn length(&self) -> f64 {
        self.places.windows(2).map(|pair| pair[0].distance(pair[1])).sum()
    }
}

/// Steps until a time, s, or to the end, and notes by id where agents were.
fn trails(simulation: &mut Simulation, until: f64) -> BTreeMap<u32, Trail> {
    let mut trails = BTreeMap::new();
    note(simulation, &mut trails);
    while !simulation.is_done() && simulation.time() < until - 1e-9 {
        simulation.step();
        note(simulation, &mut trails);
    }
    trails
}

fn note(simulation: &Simulation, trails: &mut BTreeMap<u32, Trail>) {
    let frame = simulation.frame();
    for row in 0..frame.len() {
        let new = || Trail { cohort: frame.cohort[row].into(), places: Vec::new() };
        trails.entry(frame.id[row]).or_insert_with(new).places.push(frame.position(row));
    }
}

/// The corners of a rectangle.
fn rectangle([low, high]: [DVec2; 2]) -> [DVec2; 4] {
    [low, DVec2::new(high.x, low.y), high, DVec2::new(low.x, high.y)]
}
