//! Pictures of made-up and of recorded runs: whole, of the right kind, and quick.

use crate::crowds;
use std::path::Path;
use std::time::{Duration, Instant};
use throng::record::open_run;
use throng_render::{ColourBy, Kind, Picture, PictureOptions, picture};

/// Width, height and RGB pixels of a PNG file.
fn decoded(png: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

/// The share of pixels that are not the colour of the corner.
fn inked(picture: &Picture) -> f64 {
    let (_, _, pixels) = decoded(&picture.to_png());
    let paper = &pixels[..3];
    let inked = pixels.chunks_exact(3).filter(|pixel| *pixel != paper).count();
    inked as f64 / (pixels.len() / 3) as f64
}

#[test]
fn both_formats_show_the_whole_run() {
    let run = crowds::circle(20, 8.0);
    let drawn = picture(&run, &PictureOptions { width: 640, ..PictureOptions::default() });
    let (width, height, _) = decoded(&drawn.to_png());
    assert_eq!((width, height), drawn.size());
    assert_eq!(width, 640);
    let svg = drawn.to_svg();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert!(svg.contains(">20 agents change sides on a circle</text>"));
    assert!(svg.contains(">20 agents · 12.3 s · 10 frames/s</text>"), "{}", &svg[svg.len() - 2000..]);
    // A ring and a disc for each agent, and the two in the key.
    assert_eq!(svg.matches("<circle").count(), 2 * 20 + 2);
    let share = inked(&drawn);
    assert!((0.02..0.5).contains(&share), "{share}");
}

#[test]
fn every_kind_draws_something_of_its_own() {
    let run = crowds::streams(10);
    let plain = PictureOptions { width: 400, ..PictureOptions::default() };
    let choices = [
        plain.clone(),
        PictureOptions { colour: Some(ColourBy::Bearing), ..plain.clone() },
        PictureOptions { colour: Some(ColourBy::Speed), ..plain.clone() },
        PictureOptions { colour: Some(ColourBy::Time), ..plain.clone() },
        PictureOptions { at: Some(15.0), ..plain.clone() },
        PictureOptions { kind: Kind::Density, ..plain.clone() },
        PictureOptions { kind: Kind::Speed, ..plain.clone() },
        PictureOptions { dark: true, ..plain },
    ];
    let pictures: Vec<Vec<u8>> = choices.iter().map(|options| picture(&run, options).to_png()).collect();
    for (place, png) in pictures.iter().enumerate() {
        assert!(!pictures[..place].contains(png), "{:?}", choices[place]);
    }
    let again = picture(&run, &choices[0]).to_png();
    assert_eq!(again, pictures[0], "the same run gives the same picture");
}

#[test]
fn cohorts_walls_and_units_are_told() {
    let run = crowds::streams(5);
    let trails = picture(&run, &PictureOptions::default()).to_svg();
    for label in [">eastbound<", ">westbound<", ">start<", ">end<", ">5 m<"] {
        assert!(trails.contains(label), "{label}");
    }
    let density =
        picture(&run, &PictureOptions { kind: Kind::Density, ..PictureOptions::default() }).to_svg();
    assert!(density.contains(">mean density, 1/m²<") && density.contains("data:image/png;base64,"));
    let speed = picture(&run, &PictureOptions { kind: Kind::Speed, ..PictureOptions::default() }).to_svg();
    assert!(speed.contains(">mean speed, m/s<") && speed.contains(">2<"), "they walk at 1.1 to 1.6 m/s");
}

#[test]
fn a_moment_outside_the_run_is_its_nearest() {
    let run = crowds::circle(5, 5.0);
    let at = |time| {
        picture(&run, &PictureOptions { at: Some(time), width: 300, ..PictureOptions::default() }).to_svg()
    };
    assert_eq!(at(-5.0), at(0.0));
    assert_eq!(at(1e300), at(run.duration()));
    assert_eq!(at(f64::NAN), at(0.0));
    assert_ne!(at(0.0), at(3.0));
}

#[test]
fn odd_runs_are_drawn_too() {
    let folder = tempfile::tempdir().unwrap();
    let draw = |rows: &str| {
        let path = folder.path().join("odd.txt");
        std::fs::write(&path, format!("# framerate: 10\n# x/m\n{rows}")).unwrap();
        let run = open_run(&path).unwrap();
        for kind in [Kind::Trails, Kind::Density, Kind::Speed] {
            for colour in [None, Some(ColourBy::Speed), Some(ColourBy::Time)] {
                let drawn =
                    picture(&run, &PictureOptions { kind, colour, width: 200, ..PictureOptions::default() });
                assert!(inked(&drawn) > 0.0);
                assert!(!drawn.to_svg().contains("NaN") && !drawn.to_svg().contains("inf"));
            }
        }
    };
    draw("1 0 5 5 0\n");
    draw("1 7 5 5 0\n1 8 5 5 0\n1 9 5 5 0\n");
    draw("1 0 0 0 0\n1 1 1e7 0 0\n");
    draw("1 0 0 0 0\n1 0 1 0 0\n1 900000 0 1 0\n-3 2 5 5 0\n");
}

#[test]
fn ten_thousand_agents_take_seconds() {
    let run = crowds::circle(10_000, 20.0);
    let started = Instant::now();
    let drawn = picture(&run, &PictureOptions::default());
    let (png, svg) = (drawn.to_png(), drawn.to_svg());
    // Some 2 s here; the rest is for slower machines.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert!(!png.is_empty() && svg.len() < 30_000_000, "{} bytes", svg.len());
}

#[test]
fn a_recorded_experiment_is_drawn() {
    let data =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/pedpy/bottleneck/040_c_56_h-.txt");
    if !data.exists() {
        println!("skipped: no data beside the project");
        return;
    }
    let run = open_run(data).unwrap();
    assert_eq!((run.agents(), run.fps), (75, 25.0));
    assert!(inked(&picture(&run, &PictureOptions::default())) > 0.05);
}
