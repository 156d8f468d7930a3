//! `throng render`.

use crate::files::Promised;
use crate::output;
use anyhow::{anyhow, bail};
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use throng::{builtin, record};
use throng_render::{ColourBy, Kind, Picture, PictureOptions, picture};

/// Draw a recorded run: trails, a moment, a density or speed map
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A recording: .sqlite (also JuPedSim's), .txt, .csv or .parquet
    run: PathBuf,
    /// The picture to write; the ending says the format: .png or .svg
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// What to show
    #[arg(long, value_enum, default_value_t = KindArg::Trails)]
    kind: KindArg,
    /// What a trail's colour tells [default: the cohort, or where the agent started if there is only one]
    #[arg(long, value_enum, value_name = "BY", visible_alias = "color")]
    colour: Option<ColourArg>,
    /// Width in pixels; the height follows
    #[arg(long, value_name = "PX", default_value_t = 1280, value_parser = clap::value_parser!(u32).range(160..=16_384))]
    width: u32,
    /// Show everybody at this time, s, instead of the whole run
    #[arg(long, value_name = "T")]
    at: Option<f64>,
    /// Light on dark
    #[arg(long)]
    dark: bool,
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

/// Draws a picture.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let draw = format_of(&args.output)?;
    check_is_recording(&args.run)?;
    let run = record::open_run(&args.run)?;
    if let Some(at) = args.at
        && !(0.0..=run.duration()).contains(&at)
    {
        bail!("--at {at} is not in the run, which lasts from 0 to {:.1} s", run.duration());
    }
    let file = Promised::new(&args.output)?;
    let picture = picture(&run, &args.options());
    file.write(&draw(&picture))?;
    let (width, height) = picture.size();
    let (agents, seconds) = (run.agents(), run.duration());
    output::show(&format!(
        "{}: {width} × {height} px, {agents} agents, {seconds:.1} s\n",
        args.output.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn options(&self) -> PictureOptions {
        let kind = match self.kind {
            KindArg::Trails => Kind::Trails,
            KindArg::Density => Kind::Density,
            KindArg::Speed => Kind::Speed,
        };
        let colour = self.colour.map(|colour| match colour {
            ColourArg::Cohort => ColourBy::Cohort,
            ColourArg::Bearing => ColourBy::Bearing,
            ColourArg::Speed => ColourBy::Speed,
            ColourArg::Time => ColourBy::Time,
        });
        PictureOptions { kind, colour, width: self.width, at: self.at, dark: self.dark }
    }
}

fn format_of(path: &Path) -> anyhow::Result<fn(&Picture) -> Vec<u8>> {
    match ending(path).as_str() {
        "png" => Ok(Picture::to_png),
        "svg" => Ok(|picture| picture.to_svg().into_bytes()),
        film @ ("gif" | "mp4") => Err(anyhow!(
            "this version cannot make films (.{film}) yet; draw moments with `--at T` to .png or .svg"
        )),
        _ => Err(anyhow!(
            "cannot tell the format of `{}` from its name: let it end in .png or .svg",
            path.display()
        )),
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
