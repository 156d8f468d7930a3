//! `throng measure`.

use crate::{output, summary};
use anyhow::{anyhow, bail};
use glam::DVec2;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use throng::map::{Map, signed_area};
use throng::measure::{AreaSeries, Figures, Measure, of_run};
use throng::record::{self, GeometrySpan, Run};

/// Measure a recorded run: flow over a line, or density and speed in an area
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// A recording: .sqlite (also JuPedSim's), .txt, .csv or .parquet
    run: PathBuf,
    /// A line, m: x0,y0,x1,y1; who crosses it is counted
    #[arg(long, value_name = "X0,Y0,X1,Y1", value_parser = points, allow_hyphen_values = true, required_unless_present = "area", conflicts_with = "area")]
    line: Option<Points>,
    /// An area, m: the corners of a polygon, x0,y0,x1,y1,x2,y2 and so on
    #[arg(long, value_name = "X0,Y0,..", value_parser = points, allow_hyphen_values = true)]
    area: Option<Points>,
    /// Since when, s
    #[arg(long, value_name = "T", default_value_t = 0.0, allow_negative_numbers = true)]
    from: f64,
    /// Until when, s [default: the end]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    until: Option<f64>,
    /// Time between two samples of an area, s [default: every frame]
    #[arg(long, value_name = "T", value_parser = super::positive, allow_negative_numbers = true, conflicts_with = "line")]
    every: Option<f64>,
    /// The density of Voronoi cells too
    #[arg(long, conflicts_with = "line")]
    voronoi: bool,
    /// How far a Voronoi cell reaches at most, m [default: as far as the walkable area]
    #[arg(long, value_name = "M", value_parser = super::positive, allow_negative_numbers = true, requires = "voronoi")]
    cut_off: Option<f64>,
    /// Where one can walk, as WKT, for recordings that do not say it
    #[arg(long, value_name = "WKT", requires = "voronoi")]
    walkable: Option<String>,
    /// Speeds along this vector only: x,y
    #[arg(long, value_name = "X,Y", value_parser = points, allow_hyphen_values = true, conflicts_with = "line")]
    direction: Option<Points>,
    /// All figures and the series as JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// The series as CSV: t,n of a line; t,count,density,voronoi,speed of an area
    #[arg(long)]
    csv: bool,
}

const AFTER_HELP: &str = "\
Examples:
  throng measure exit.sqlite --line 9.5,4,9.5,6
  throng measure corridor.sqlite --area 4,0,8,0,8,3,4,3 --voronoi --csv > density.csv";

/// Points on a command line.
#[derive(Clone, Debug)]
struct Points(Vec<DVec2>);

fn points(text: &str) -> Result<Points, String> {
    let numbers: Option<Vec<f64>> = text
        .split(',')
        .map(|word| word.trim().parse().ok().filter(|number: &f64| number.is_finite()))
        .collect();
    match numbers {
        Some(numbers) if numbers.len() % 2 == 0 => {
            Ok(Points(numbers.chunks(2).map(|pair| DVec2::new(pair[0], pair[1])).collect()))
        }
        _ => Err("it must be numbers, two for each point: x0,y0,x1,y1".into()),
    }
}

/// Measures, and tells what came out.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut run = record::open_run(&args.run)?;
    let measure = args.measure(&run)?;
    if args.voronoi {
        args.find_floor(&mut run)?;
    }
    let figures = of_run(&run, measure);
    output::show(&match &figures {
        figures if args.json => format!("{}\n", serde_json::to_string_pretty(figures)?),
        figures if args.csv => csv(figures),
        figures => format!("{}\n", summary::measured(figures)),
    })?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn measure(&self, run: &Run) -> anyhow::Result<Measure> {
        let measure = match (&self.line, &self.area) {
            (Some(Points(line)), _) => match line[..] {
                [from, to] if from != to => Measure::line("line", from, to),
                _ => bail!("--line: it must be two different points, x0,y0,x1,y1"),
            },
            (_, Some(Points(ring))) if ring.len() >= 3 && signed_area(ring) != 0.0 => {
                Measure::area("area", ring)
            }
            _ => bail!("--area: it must be three points or more that are not in a line, x0,y0,x1,y1,x2,y2"),
        };
        let until = self.until.unwrap_or(f64::MAX);
        if !self.from.is_finite() || until.is_nan() || until <= self.from {
            bail!("--until {until}: it must be after --from {}", self.from);
        }
        Ok(Measure {
            from: self.from,
            until,
            every: self.every.unwrap_or(1.0 / run.fps),
            voronoi: self.voronoi,
            cut_off: self.cut_off,
            direction: self.direction()?,
            ..measure
        })
    }

    fn direction(&self) -> anyhow::Result<Option<DVec2>> {
        match self.direction.as_ref().map(|Points(points)| &points[..]) {
            None => Ok(None),
            Some(&[direction]) if direction != DVec2::ZERO => Ok(Some(direction)),
            Some(_) => bail!("--direction: it must be one vector, x,y, and not zero"),
        }
    }

    fn find_floor(&self, run: &mut Run) -> anyhow::Result<()> {
        if let Some(wkt) = &self.walkable {
            Map::from_wkt(wkt).map_err(|error| anyhow!("--walkable: {error}"))?;
            run.geometry = vec![GeometrySpan { from_frame: 0, wkt: wkt.clone() }];
        }
        if run.geometry.is_empty() {
            bail!(
                "`{}` does not say where one can walk, which --voronoi needs; give it with --walkable \"POLYGON ((...))\"",
                self.run.display()
            );
        }
        Ok(())
    }
}

fn csv(figures: &Figures) -> String {
    // Writing to a string cannot fail.
    let mut text = String::new();
    match figures {
        Figures::Line(line) => {
            text += "t,n\n";
            for (t, n) in line.series.t.iter().zip(&line.series.n) {
                let _ = writeln!(text, "{t:.6},{n}");
            }
        }
        Figures::Area(area) => {
            text += "t,count,density,voronoi,speed\n";
            let AreaSeries { t, count, density, voronoi, speed } = &area.series;
            let cell = |number: Option<f64>| number.map(|number| format!("{number:.6}")).unwrap_or_default();
            for row in 0..t.len() {
                let (voronoi, speed) = (cell(voronoi.get(row).copied()), cell(speed[row]));
                let _ = writeln!(text, "{:.6},{},{:.6},{voronoi},{speed}", t[row], count[row], density[row]);
            }
        }
    }
    text
}
