//! Draws every kind of picture into `out/gallery`: to look at after a change. Arguments are runs of your own.

#[path = "../tests/crowds/mod.rs"]
mod crowds;

use std::path::Path;
use throng::record::{Run, open_run};
use throng_render::{ColourBy, Kind, PictureOptions, picture};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new("out/gallery");
    std::fs::create_dir_all(folder)?;
    let plain = PictureOptions::default();
    let circle = crowds::circle(100, 20.0);
    save(folder, "circle", &circle, &plain)?;
    save(folder, "circle-dark", &circle, &PictureOptions { dark: true, ..plain.clone() })?;
    save(folder, "circle-time", &circle, &PictureOptions { colour: Some(ColourBy::Time), ..plain.clone() })?;
    let streams = crowds::streams(120);
    save(folder, "streams", &streams, &plain)?;
    save(folder, "streams-at", &streams, &PictureOptions { at: Some(16.0), ..plain.clone() })?;
    save(
        folder,
        "streams-colours",
        &streams,
        &PictureOptions { colour: Some(ColourBy::Speed), ..plain.clone() },
    )?;
    save(folder, "streams-density", &streams, &PictureOptions { kind: Kind::Density, ..plain.clone() })?;
    save(folder, "streams-speed", &streams, &PictureOptions { kind: Kind::Speed, ..plain.clone() })?;
    save(folder, "many", &crowds::circle(10_000, 200.0), &plain)?;
    for path in std::env::args().skip(1) {
        let run = open_run(&path)?;
        let name = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        save(folder, &name, &run, &plain)?;
        save(folder, &format!("{name}-speed"), &run, &PictureOptions { kind: Kind::Speed, ..plain.clone() })?;
        save(
            folder,
            &format!("{name}-density"),
            &run,
            &PictureOptions { kind: Kind::Density, ..plain.clone() },
        )?;
    }
    Ok(())
}

fn save(folder: &Path, name: &str, run: &Run, options: &PictureOptions) -> std::io::Result<()> {
    let started = std::time::Instant::now();
    let picture = picture(run, options);
    let png = picture.to_png();
    let svg = picture.to_svg();
    println!("{name}: png {} kB, svg {} kB, {:.2?}", png.len() / 1000, svg.len() / 1000, started.elapsed());
    std::fs::write(folder.join(name).with_extension("png"), png)?;
    std::fs::write(folder.join(name).with_extension("svg"), svg)
}
