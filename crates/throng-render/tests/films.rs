//! Films, read back: whole, in time, of the right size, and moving.

use crate::crowds;
use openh264::decoder::Decoder;
use openh264::formats::YUVSource;
use std::sync::atomic::{AtomicUsize, Ordering};
use throng_render::{ColourBy, FilmError, FilmOptions, film};

const SMALL: FilmOptions = FilmOptions {
    colour: None,
    size: (320, 240),
    fps: 10.0,
    speed: 2.0,
    from: 1.0,
    to: Some(9.0),
    dark: false,
};

/// Every picture of a GIF as RGBA, and how long it stands, 1/100 s.
fn unpacked(gif: &[u8]) -> Vec<(Vec<u8>, u16)> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(gif).unwrap();
    let (width, height) = (usize::from(decoder.width()), usize::from(decoder.height()));
    let mut canvas = vec![0; width * height * 4];
    let mut pictures = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        for (place, pixel) in frame.buffer.chunks_exact(4).enumerate().filter(|(_, pixel)| pixel[3] > 0) {
            let x = usize::from(frame.left) + place % usize::from(frame.width);
            let y = usize::from(frame.top) + place / usize::from(frame.width);
            canvas[(y * width + x) * 4..][..4].copy_from_slice(pixel);
        }
        pictures.push((canvas.clone(), frame.delay));
    }
    pictures
}

fn mean_difference(a: &[u8], b: &[u8]) -> f64 {
    let sum: u64 = a.iter().zip(b).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    sum as f64 / a.len() as f64
}

#[test]
fn a_gif_shows_every_picture_in_time() {
    let run = crowds::streams(20);
    let film = film(&run, &SMALL).unwrap();
    // 8 s at twice the speed are 4 s.
    assert_eq!((film.frames(), film.size()), (41, (320, 240)));
    let done = AtomicUsize::new(0);
    let gif = film.to_gif(&|count| done.fetch_max(count, Ordering::Relaxed) < usize::MAX).unwrap();
    assert_eq!(done.into_inner(), 41);
    let pictures = unpacked(&gif);
    assert_eq!(pictures.len(), 41);
    assert!(pictures.iter().all(|(_, delay)| *delay == 10));
    // Also across the seams between pieces, of which there is one at 20.
    for (place, (picture, _)) in pictures.iter().enumerate() {
        let still = film.still(place);
        let off = mean_difference(picture, &still);
        assert!(off < 0.5, "picture {place} is off by {off}");
    }
    assert!(mean_difference(&pictures[0].0, &pictures[40].0) > 0.2, "people move");
}

/// The four letters and the content of each box.
fn boxes(mut bytes: &[u8]) -> Vec<(String, &[u8])> {
    let mut found = Vec::new();
    while bytes.len() >= 8 {
        let length = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
        found.push((String::from_utf8_lossy(&bytes[4..8]).into_owned(), &bytes[8..length]));
        bytes = &bytes[length..];
    }
    found
}

fn inner<'b>(bytes: &'b [u8], path: &[&str]) -> &'b [u8] {
    path.iter().fold(bytes, |bytes, name| {
        boxes(bytes).into_iter().find(|(other, _)| other == name).unwrap_or_else(|| panic!("no {name}")).1
    })
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

#[test]
fn an_mp4_decodes_to_the_pictures_that_were_drawn() {
    let run = crowds::streams(20);
    let film = film(&run, &SMALL).unwrap();
    let mp4 = film.to_mp4(&|_| true).unwrap();
    let names: Vec<String> = boxes(&mp4).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["ftyp", "moov", "mdat"], "a player finds the index first");
    let table = inner(&mp4, &["moov", "trak", "mdia", "minf", "stbl"]);
    let sizes = inner(table, &["stsz"]);
    assert_eq!(number(sizes, 8), 41, "pictures");
    let whole = inner(table, &["stss"]);
    assert_eq!(
        (number(whole, 4), number(whole, 8), number(whole, 12)),
        (3, 1, 21),
        "where a player can jump to"
    );
    let header = inner(&mp4, &["moov", "mvhd"]);
    let seconds = f64::from(number(header, 16)) / f64::from(number(header, 12));
    assert!((seconds - film.duration()).abs() < 0.11, "{seconds}");

    // A sample is NAL units, each after its length; a decoder wants them after start codes, the parameter sets first.
    let mut decoder = Decoder::new().unwrap();
    let config = inner(&inner(table, &["stsd"])[8..], &["avc1"]);
    let sets = inner(&config[78..], &["avcC"]);
    let length = |at: usize| usize::from(u16::from_be_bytes([sets[at], sets[at + 1]]));
    let sps = &sets[8..8 + length(6)];
    let pps = &sets[11 + sps.len()..][..length(9 + sps.len())];
    let mut stream = [&[0, 0, 0, 1][..], sps, &[0, 0, 0, 1], pps].concat();
    let mut data = inner(&mp4, &["mdat"]);
    for place in 0..41 {
        let (mut sample, rest) = data.split_at(number(sizes, 12 + 4 * place) as usize);
        data = rest;
        while !sample.is_empty() {
            let (unit, rest) = sample[4..].split_at(number(sample, 0) as usize);
            stream.extend([0, 0, 0, 1]);
            stream.extend(unit);
            sample = rest;
        }
        let picture = decoder.decode(&stream).unwrap().expect("each sample is a picture");
        stream.clear();
        assert_eq!(picture.dimensions(), (320, 240));
        let stride = picture.strides().0;
        let still = film.still(place);
        let brightness = |x: usize, y: usize| {
            let pixel = &still[(y * 320 + x) * 4..];
            16.0 + 0.1826 * f64::from(pixel[0]) + 0.6142 * f64::from(pixel[1]) + 0.062 * f64::from(pixel[2])
        };
        let off: f64 = (0..240 * 320)
            .map(|at| {
                (f64::from(picture.y()[at / 320 * stride + at % 320]) - brightness(at % 320, at / 320)).abs()
            })
            .sum();
        assert!(off / (240.0 * 320.0) < 2.5, "picture {place} is off by {}", off / (240.0 * 320.0));
    }
}

#[test]
fn between_two_recorded_frames_people_are_between_two_places() {
    let run = crowds::circle(1, 10.0);
    let options = FilmOptions { fps: 40.0, speed: 1.0, from: 5.0, to: Some(5.1), ..SMALL };
    let film = film(&run, &options).unwrap();
    // Recorded ten times a second: these are 0, 25, 50, 75 and 100 % of the way.
    let stills: Vec<Vec<u8>> = (0..5).map(|frame| film.still(frame)).collect();
    for pair in stills.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}

#[test]
fn colours_themes_and_ends_are_taken() {
    let run = crowds::streams(20);
    let still = |options: &FilmOptions| film(&run, options).unwrap().still(0);
    let plain = still(&SMALL);
    assert_ne!(still(&FilmOptions { dark: true, ..SMALL }), plain);
    assert_ne!(still(&FilmOptions { colour: Some(ColourBy::Speed), ..SMALL }), plain);
    let whole = film(&run, &FilmOptions { to: Some(1e9), ..SMALL }).unwrap();
    assert_eq!(whole.frames(), ((run.duration() - 1.0) / 2.0 * 10.0 + 1e-6) as usize + 1);
    assert_eq!(film(&run, &FilmOptions { from: 1e9, to: None, ..SMALL }).unwrap().frames(), 1);
    for wrong in [
        FilmOptions { speed: 0.0, ..SMALL },
        FilmOptions { fps: f64::NAN, ..SMALL },
        FilmOptions { from: -1.0, ..SMALL },
        FilmOptions { to: Some(0.5), ..SMALL },
    ] {
        assert!(matches!(film(&run, &wrong), Err(FilmError::BadNumber { .. })), "{wrong:?}");
    }
    assert!(matches!(film(&run, &FilmOptions { speed: 1e-7, ..SMALL }), Err(FilmError::TooLong)));
    let stopped = film(&run, &SMALL).unwrap().to_mp4(&|done| done < 5);
    assert!(matches!(stopped, Err(FilmError::Stopped)));
}
