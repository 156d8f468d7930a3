//! `throng render`.

use crate::files::Promised;
use crate::progress::{Runs, duration};
use crate::{interrupt, output};
use anyhow::{anyhow, bail};
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use throng::record::Run;
use throng::{builtin, record};
use throng_render::{
    ColourBy, Film, FilmError, FilmOptions, Kind, Picture, PictureOptions, Watch, film, picture,
};

/// Draw a recorded run: trails, a moment, a density or speed map, or a film
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A recording: .sqlite (also JuPedSim's), .txt, .csv or .parquet
    run: PathBuf,
    /// The picture or film to write; the ending says the format: .png, .svg, .gif or .mp4
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// What to show
    #[arg(long, value_enum, default_value_t = KindArg::Trails)]
    kind: KindArg,
    /// What a trail's colour tells [default: the cohort, or where the agent started if there is only one]
    #[arg(long, value_enum, value_name = "BY", visible_alias = "color")]
    colour: Option<ColourArg>,
    /// Width in pixels; the height follows [default: 1280]
    #[arg(long, value_name = "PX", value_parser = clap::value_parser!(u32).range(160..=16_384), conflicts_with = "size")]
    width: Option<u32>,
    /// Width and height in pixels, such as 1920x1080 [default of films: 1280x720]
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,
    /// Show all agents at this time, s, instead of the whole run
    #[arg(long, value_name = "T")]
    at: Option<f64>,
    /// Light on dark
    #[arg(long)]
    dark: bool,
    /// Where in the run the film begins, s [default: 0]
    #[arg(long, value_name = "T", help_heading = FILMS)]
    from: Option<f64>,
    /// Where in the run the film ends, s [default: the run's end]
    #[arg(long, value_name = "T", help_heading = FILMS)]
    to: Option<f64>,
    /// Seconds of the run in a second of the film [default: 1]
    #[arg(long, value_name = "N", value_parser = super::positive, help_heading = FILMS)]
    speed: Option<f64>,
    /// Pictures a second, up to 120, or 50 in a GIF [default: 30, or 20 in a GIF]
    #[arg(long, value_name = "F", value_parser = super::positive, help_heading = FILMS)]
    fps: Option<f64>,
}

const FILMS: &str = "Films (.gif, .mp4)";

fn size(text: &str) -> Result<(u32, u32), String> {
    let sides =
        text.split_once(['x', '×']).and_then(|(w, h)| Some((w.trim().parse().ok()?, h.trim().parse().ok()?)));
    let fits = |side: u32| (160..=16_384).contains(&side);
    let fitting = sides.filter(|&(width, height)| fits(width) && fits(height));
    fitting.ok_or_else(|| "it must be a width and a height, such as 1280x720, each from 160 to 16384".into())
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KindArg {
    /// A line for each agent
    Trails,
    /// Mean density over the run, 1/m²
    Density,
    /// Mean speed over the run, m/s
    Speed,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ColourArg {
    /// Who belongs together
    Cohort,
    /// On which side the agent started
    Bearing,
    /// How fast it was
    Speed,
    /// When it was there
    Time,
}

/// Draws a picture or a film.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let format = Format::of(&args.output)?;
    args.check_fits(&format)?;
    check_is_recording(&args.run)?;
    let run = record::open_run(&args.run)?;
    for (name, time) in [("--at", args.at), ("--from", args.from), ("--to", args.to)] {
        if let Some(time) = time
            && !(0.0..=run.duration()).contains(&time)
        {
            bail!("{name} {time} is not in the run, which lasts from 0 to {:.1} s", run.duration());
        }
    }
    match format {
        Format::Picture(draw) => args.picture(&run, draw),
        Format::Film(pack) => args.film(&run, pack),
    }
}

enum Format {
    Picture(fn(&Picture) -> Vec<u8>),
    Film(fn(&Film<'_>, Watch<'_>) -> Result<Vec<u8>, FilmError>),
}

impl Format {
    fn of(path: &Path) -> anyhow::Result<Format> {
        match ending(path).as_str() {
            "png" => Ok(Format::Picture(Picture::to_png)),
            "svg" => Ok(Format::Picture(|picture| picture.to_svg().into_bytes())),
            "gif" => Ok(Format::Film(|film, watch| film.to_gif(watch))),
            "mp4" => Ok(Format::Film(|film, watch| film.to_mp4(watch))),
            _ => Err(anyhow!(
                "cannot tell the format of `{}` from its name: let it end in .png, .svg, .gif or .mp4",
                path.display()
            )),
        }
    }
}

impl Args {
    /// Options that the format would pass over in silence.
    fn check_fits(&self, format: &Format) -> anyhow::Result<()> {
        let of_films = [
            ("--from", self.from.is_some()),
            ("--to", self.to.is_some()),
            ("--speed", self.speed.is_some()),
            ("--fps", self.fps.is_some()),
        ];
        match format {
            Format::Picture(_) => {
                if let Some((name, _)) = of_films.iter().find(|(_, given)| *given) {
                    bail!("{name} is for films; let the output end in .gif or .mp4, or leave it out");
                }
            }
            Format::Film(_) => {
                if self.at.is_some() {
                    bail!("--at is for pictures; a film goes --from one time --to another");
                }
                if !matches!(self.kind, KindArg::Trails) {
                    bail!("--kind is for pictures; a film shows the crowd as it moves");
                }
                if self.from.zip(self.to).is_some_and(|(from, to)| to <= from) {
                    bail!("--to must be after --from");
                }
            }
        }
        Ok(())
    }

    fn picture(&self, run: &Run, draw: fn(&Picture) -> Vec<u8>) -> anyhow::Result<ExitCode> {
        let file = Promised::new(&self.output)?;
        let picture = picture(run, &self.picture_options());
        file.write(&draw(&picture))?;
        let (width, height) = picture.size();
        let (agents, seconds) = (run.agents(), run.duration());
        output::show(&format!(
            "{}: {width} × {height} px, {agents} agents, {seconds:.1} s\n",
            self.output.display()
        ))?;
        Ok(ExitCode::SUCCESS)
    }

    fn film(
        &self,
        run: &Run,
        pack: fn(&Film<'_>, Watch<'_>) -> Result<Vec<u8>, FilmError>,
    ) -> anyhow::Result<ExitCode> {
        let film = film(run, &self.film_options())?;
        let file = Promised::new(&self.output)?;
        interrupt::listen();
        let begin = Instant::now();
        let progress = Runs::new("pictures", film.frames());
        let packed = pack(&film, &|done| {
            progress.at(done);
            !interrupt::requested()
        });
        progress.clear();
        let bytes = packed?;
        file.write(&bytes)?;
        let (width, height) = film.size();
        output::show(&format!(
            "{}: {width} × {height} px, {:.1} s in {} pictures, {:.1} MB, drawn in {}\n",
            self.output.display(),
            film.duration(),
            film.frames(),
            bytes.len() as f64 / 1e6,
            duration(begin.elapsed().as_secs_f64()),
        ))?;
        Ok(ExitCode::SUCCESS)
    }

    fn film_options(&self) -> FilmOptions {
        let wide = |width: u32| (width, width * 9 / 16);
        let is_gif = ending(&self.output) == "gif";
        let (usual, most) = if is_gif { (20.0, 50.0) } else { (30.0, 120.0) };
        FilmOptions {
            colour: self.colour(),
            size: self.size.or(self.width.map(wide)).unwrap_or((1280, 720)),
            fps: self.fps.unwrap_or(usual).min(most),
            speed: self.speed.unwrap_or(1.0),
            from: self.from.unwrap_or(0.0),
            to: self.to,
            dark: self.dark,
        }
    }

    fn picture_options(&self) -> PictureOptions {
        let kind = match self.kind {
            KindArg::Trails => Kind::Trails,
            KindArg::Density => Kind::Density,
            KindArg::Speed => Kind::Speed,
        };
        let (width, height) = self.size.unzip();
        let width = width.or(self.width).unwrap_or(1280);
        PictureOptions { kind, colour: self.colour(), width, height, at: self.at, dark: self.dark }
    }

    fn colour(&self) -> Option<ColourBy> {
        self.colour.map(|colour| match colour {
            ColourArg::Cohort => ColourBy::Cohort,
            ColourArg::Bearing => ColourBy::Bearing,
            ColourArg::Speed => ColourBy::Speed,
            ColourArg::Time => ColourBy::Time,
        })
    }
}

fn check_is_recording(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    let is_scenario = matches!(ending(path).as_str(), "toml" | "json");
    if is_scenario || (!path.exists() && builtin::find(&path.to_string_lossy()).is_some()) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        bail!(
            "`{shown}` is a scenario, and pictures are drawn of recorded runs; record one first: \
             `throng run {shown} --record {stem}.sqlite`"
        );
    }
    if path.is_dir() {
        bail!("`{shown}` is a folder; give a recorded run");
    }
    Ok(())
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}
