//! Pictures and films of a recorded run: trails, snapshots, density and speed maps, as PNG and SVG; the crowd in motion,
//! as GIF and MP4.
//!
//! ```no_run
//! let run = throng::record::open_run("crossing.sqlite")?;
//! let picture = throng_render::picture(&run, &throng_render::PictureOptions::default());
//! std::fs::write("crossing.png", picture.to_png())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A run becomes one list of shapes, which two back ends draw, so that both formats look alike.

mod axis;
mod bodies;
mod colour;
mod feet;
mod film;
mod font;
mod furniture;
mod heat;
mod layout;
mod page;
mod plan;
mod raster;
mod sheet;
mod svg;
mod trails;

pub use axis::Axis;
pub use colour::Colour;
pub use film::{Film, FilmError, FilmOptions, Watch, film};
pub use page::Anchor;
pub use plan::{Planned, plan_picture};
pub use sheet::{Frame, Panel, Sheet, Swatch};

use colour::Theme;
use layout::Stage;
use page::Page;
use throng::record::Run;

/// What a picture shows and how.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureOptions {
    /// What it shows. Default: trails.
    pub kind: Kind,
    /// What a trail's colour tells. Default: the cohort where there are several, else where the agent started.
    pub colour: Option<ColourBy>,
    /// Width, px. Default 1280. Taken into 160 to 16,384.
    pub width: u32,
    /// Height, px. Default: follows from the run's extent. Taken into 160 to 16,384.
    pub height: Option<u32>,
    /// Bodies at this time, s from the run's start, with the last seconds' trails. Default: the whole run.
    pub at: Option<f64>,
    /// Light on dark. Default: dark on light.
    pub dark: bool,
}

impl Default for PictureOptions {
    fn default() -> PictureOptions {
        PictureOptions { kind: Kind::Trails, colour: None, width: 1280, height: None, at: None, dark: false }
    }
}

/// What a picture shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A line for each agent.
    #[default]
    Trails,
    /// Mean density over the run, 1/m².
    Density,
    /// Mean speed over the run, m/s.
    Speed,
}

/// What a trail's colour tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourBy {
    /// Who belongs together.
    Cohort,
    /// In which direction from the middle of all starts the agent began.
    Bearing,
    /// How fast it was at each place, m/s.
    Speed,
    /// When it was at each place, s.
    Time,
}

/// A finished picture.
#[derive(Clone, Debug)]
pub struct Picture {
    page: Page,
}

impl Picture {
    /// As a PNG file.
    pub fn to_png(&self) -> Vec<u8> {
        raster::draw(&self.page)
    }

    /// As an SVG file.
    pub fn to_svg(&self) -> String {
        svg::draw(&self.page)
    }

    /// Width and height, px.
    pub fn size(&self) -> (u32, u32) {
        (self.page.width, self.page.height)
    }
}

/// Draws a run.
pub fn picture(run: &Run, options: &PictureOptions) -> Picture {
    let theme = if options.dark { Theme::DARK } else { Theme::LIGHT };
    let mut stage = Stage::new(run, options, theme);
    let key = match (options.kind, options.at) {
        (Kind::Density | Kind::Speed, _) => heat::draw(&mut stage, options.kind),
        (Kind::Trails, None) => trails::draw(&mut stage),
        (Kind::Trails, Some(time)) => bodies::draw(&mut stage, time),
    };
    furniture::draw(&mut stage, &key);
    Picture { page: stage.page }
}
