//! Films: the crowd from moment to moment, in the look of the pictures, as GIF and MP4.
//!
//! A film is cut into pieces of a second or two, and each piece is drawn and packed by one thread from end to end, so that
//! many cores draw one film. What does not move is drawn once.

mod canvas;
mod gif;
mod mp4;
mod palette;

use crate::colour::{Colour, Theme};
use crate::layout::{MARGIN, Stage};
use crate::page::{Anchor, Shape};
use crate::trails::Paint;
use crate::{ColourBy, PictureOptions, bodies, feet, font, furniture, raster};
use canvas::Canvas;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use throng::record::{Run, Track};

/// What a film shows and how.
#[derive(Clone, Debug, PartialEq)]
pub struct FilmOptions {
    /// What a body's colour tells. Default: the cohort where there are several, else where the agent started.
    pub colour: Option<ColourBy>,
    /// Width and height, px. Default 1280 × 720. Taken into 160 to 16,384, and down to even numbers.
    pub size: (u32, u32),
    /// Pictures a second. Default 30. Taken into 1 to 120, of a GIF to 50.
    pub fps: f64,
    /// Seconds of the run in a second of the film. Default 1. Must be > 0.
    pub speed: f64,
    /// Where in the run it begins, s. Default 0.
    pub from: f64,
    /// Where in the run it ends, s. Default: where the run does.
    pub to: Option<f64>,
    /// Light on dark. Default: dark on light.
    pub dark: bool,
}

impl Default for FilmOptions {
    fn default() -> FilmOptions {
        FilmOptions {
            colour: None,
            size: (1280, 720),
            fps: 30.0,
            speed: 1.0,
            from: 0.0,
            to: None,
            dark: false,
        }
    }
}

/// Why there is no film.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// Too many pictures.
    #[error("the film would have more than {MOST_FRAMES} pictures; show less of the run, or show it faster")]
    TooLong,
    /// A number that cannot be worked with.
    #[error("{name} = {value} must be {limit}")]
    BadNumber {
        /// Which.
        name: &'static str,
        /// As given.
        value: f64,
        /// What it must be.
        limit: &'static str,
    },
    /// H.264 ends there.
    #[error("an MP4 can be at most 3840 × 2160 px, or 2160 × 3840, and not {0} × {1}")]
    TooLarge(u32, u32),
    /// The watcher asked for an end.
    #[error("the film was stopped")]
    Stopped,
    /// The encoder refused.
    #[error("the {format} encoder failed: {reason}")]
    Encoder {
        /// Which.
        format: &'static str,
        /// Its words.
        reason: String,
    },
}

/// More are not watched.
const MOST_FRAMES: usize = 1_000_000;

/// Told how many pictures are done; stops the film where it says no.
pub type Watch<'w> = &'w (dyn Fn(usize) -> bool + Sync);

/// A film that can be drawn.
pub struct Film<'a> {
    stage: Stage<'a>,
    paint: Paint,
    tracks: Vec<Track<'a>>,
    /// What does not move, for each geometry of the run.
    backgrounds: Vec<OnceLock<Canvas>>,
    fps: f64,
    speed: f64,
    from: f64,
    frames: usize,
}

/// Prepares a film of a run.
pub fn film<'a>(run: &'a Run, options: &FilmOptions) -> Result<Film<'a>, FilmError> {
    let fps = checked("fps", options.fps, options.fps > 0.0)?.clamp(1.0, 120.0);
    let speed = checked("speed", options.speed, options.speed > 0.0)?;
    let from = checked("from", options.from, options.from >= 0.0)?.min(run.duration());
    let to = options.to.unwrap_or(run.duration()).min(run.duration());
    let to = checked("to", to, to >= from)?;
    let frames = (((to - from) / speed * fps) + 1e-6).floor() + 1.0;
    if frames > MOST_FRAMES as f64 {
        return Err(FilmError::TooLong);
    }
    let even = |length: u32| length.clamp(160, 16_384) & !1;
    let picture = PictureOptions {
        colour: options.colour,
        width: even(options.size.0),
        height: Some(even(options.size.1)),
        at: Some(from),
        dark: options.dark,
        ..PictureOptions::default()
    };
    let stage = Stage::new(run, &picture, if options.dark { Theme::DARK } else { Theme::LIGHT });
    let paint = Paint::new(&stage);
    let backgrounds = (0..run.geometry.len().max(1)).map(|_| OnceLock::new()).collect();
    let tracks = run.tracks().collect();
    Ok(Film { stage, paint, tracks, backgrounds, fps, speed, from, frames: frames as usize })
}

fn checked(name: &'static str, value: f64, holds: bool) -> Result<f64, FilmError> {
    let limit = match name {
        "to" => "a number that is not before `from`",
        "from" => ">= 0",
        _ => "> 0",
    };
    if value.is_finite() && holds { Ok(value) } else { Err(FilmError::BadNumber { name, value, limit }) }
}

impl Film<'_> {
    /// How many pictures it has.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// How long it plays, s.
    pub fn duration(&self) -> f64 {
        self.frames as f64 / self.fps
    }

    /// Width and height, px.
    pub fn size(&self) -> (u32, u32) {
        (self.stage.page.width, self.stage.page.height)
    }

    /// One picture as RGBA rows, as a still.
    pub fn still(&self, frame: usize) -> Vec<u8> {
        self.drawn(frame).rgba().to_vec()
    }

    /// As a GIF file that repeats for ever.
    pub fn to_gif(&self, watch: Watch<'_>) -> Result<Vec<u8>, FilmError> {
        gif::pack(self, watch)
    }

    /// As an MP4 file (H.264).
    pub fn to_mp4(&self, watch: Watch<'_>) -> Result<Vec<u8>, FilmError> {
        mp4::pack(self, watch)
    }

    /// Does pieces of the film side by side; `piece` calls its second argument after each picture.
    fn pieces<T: Send>(
        &self,
        watch: Watch<'_>,
        piece: impl Fn(Range<usize>, &dyn Fn() -> Result<(), FilmError>) -> Result<T, FilmError> + Sync,
    ) -> Result<Vec<T>, FilmError> {
        let length = ((PIECE * self.fps) as usize).max(2);
        let done = AtomicUsize::new(0);
        let tick = || {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if watch(done) { Ok(()) } else { Err(FilmError::Stopped) }
        };
        let pieces = self.frames.div_ceil(length);
        let range = |place: usize| place * length..((place + 1) * length).min(self.frames);
        (0..pieces).into_par_iter().map(|place| piece(range(place), &tick)).collect()
    }

    fn drawn(&self, frame: usize) -> Canvas {
        let time = self.from + frame as f64 / self.fps * self.speed;
        let at = f64::from(self.stage.frames.0)
            + (time * self.stage.run.fps).min(f64::from(self.stage.frames.1 - self.stage.frames.0));
        let mut canvas = self.background(at as u32).clone();
        self.crowd(&mut canvas, at);
        self.clock(&mut canvas, time);
        canvas
    }

    /// What does not move while a frame's geometry holds.
    fn background(&self, frame: u32) -> &Canvas {
        let run = self.stage.run;
        let span = run.geometry.iter().rposition(|span| span.from_frame <= frame).unwrap_or(0);
        self.backgrounds[span].get_or_init(|| {
            let since = run.geometry.get(span).map_or(0, |span| span.from_frame);
            let at = f64::from(since.saturating_sub(self.stage.frames.0)) / run.fps;
            let options = PictureOptions { at: Some(at), ..self.stage.options.clone() };
            let mut stage = Stage::new(run, &options, self.stage.theme);
            stage.pace = Some(self.speed);
            let key = bodies::key(&self.paint, &stage);
            furniture::draw(&mut stage, &key);
            Canvas::from(raster::canvas(&stage.page))
        })
    }

    fn crowd(&self, canvas: &mut Canvas, frame: f64) {
        let stage = &self.stage;
        let bodies: Vec<(Track<'_>, bodies::Body)> = self
            .tracks
            .iter()
            .filter_map(|track| Some((*track, bodies::body_at(stage, track, frame)?)))
            .collect();
        let colours: Vec<Colour> =
            bodies.iter().map(|(track, body)| self.paint.body(stage, track, body.row)).collect();
        let time = (frame - f64::from(stage.frames.0)) / stage.run.fps;
        stage.movers_at(time).iter().for_each(|shape| canvas.shape(shape));
        for ((track, body), colour) in bodies.iter().zip(&colours) {
            let width = bodies::tail_width(stage, track);
            bodies::tail(stage, track, body, |step, points| {
                let colour = colour.mixed(stage.theme.floor, bodies::fade(step));
                points.windows(2).for_each(|ends| canvas.line([ends[0], ends[1]], width, colour));
            });
        }
        feet::recent(stage, &self.paint, time).iter().for_each(|shape| canvas.shape(shape));
        let rim = bodies::RIM * stage.unit / 2.0;
        for ((track, body), colour) in bodies.iter().zip(&colours) {
            let radius = bodies::radius(stage, track);
            canvas.disc(body.at, radius + rim, stage.theme.floor);
            canvas.disc(body.at, radius - rim, *colour);
        }
    }

    /// The run's time, in the upper right corner.
    fn clock(&self, canvas: &mut Canvas, time: f64) {
        let unit = self.stage.unit;
        let size = furniture::TITLE * unit;
        let label = |time: f64| format!("{time:.1} s");
        let end = self.from + self.frames as f64 / self.fps * self.speed;
        // From a fixed left end, or the digits would dance.
        let widest = font::width(&label(end), size).max(font::width(&label(time), size));
        let at = [self.stage.page.width as f32 - MARGIN * unit - widest, 50.0 * unit];
        let (bold, anchor, colour) = (true, Anchor::Start, self.stage.theme.ink);
        canvas.shape(&Shape::Text { at, size, bold, anchor, colour, text: label(time) });
    }
}

/// Length of a piece, s of film: each begins with a whole picture, which is also where a player can jump to.
const PIECE: f64 = 2.0;
