//! GIF: one palette for the whole film, and of each picture only what has changed.

use super::palette::{Palette, TRANSPARENT};
use super::{Film, FilmError, Watch};
use gif::{Encoder, Frame, Repeat};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Pictures from which the palette is made.
const SAMPLES: usize = 8;

pub(super) fn pack(film: &Film<'_>, watch: Watch<'_>) -> Result<Vec<u8>, FilmError> {
    let (width, height) = film.size();
    let samples = SAMPLES.min(film.frames);
    let samples: Vec<Vec<u8>> =
        (0..samples).into_par_iter().map(|sample| film.still(sample * film.frames / samples)).collect();
    let palette = Palette::of(&samples);
    let pieces = film.pieces(watch, |range, tick| piece(film, &palette, range, tick))?;
    let mut encoder =
        Encoder::new(Vec::new(), width as u16, height as u16, &palette.colours).map_err(refused)?;
    encoder.set_repeat(Repeat::Infinite).map_err(refused)?;
    for frame in pieces.iter().flatten() {
        encoder.write_lzw_pre_encoded_frame(frame).map_err(refused)?;
    }
    encoder.into_inner().map_err(refused)
}

fn piece(
    film: &Film<'_>,
    palette: &Palette,
    range: Range<usize>,
    tick: &dyn Fn() -> Result<(), FilmError>,
) -> Result<Vec<Frame<'static>>, FilmError> {
    let indexed = |frame: usize| -> Vec<u8> {
        film.drawn(frame).rgba().chunks_exact(4).map(|pixel| palette.index(pixel)).collect()
    };
    let mut before = range.start.checked_sub(1).map(indexed);
    let mut frames = Vec::with_capacity(range.len());
    for frame in range {
        let now = indexed(frame);
        let mut packed = changed(film.size(), before.as_deref(), &now);
        packed.delay = delay(frame, film.fps);
        packed.make_lzw_pre_encoded();
        frames.push(packed);
        before = Some(now);
        tick()?;
    }
    Ok(frames)
}

/// The smallest rectangle that holds every pixel that differs, transparent where one does not.
fn changed((width, height): (u32, u32), before: Option<&[u8]>, now: &[u8]) -> Frame<'static> {
    let (width, height) = (width as usize, height as usize);
    let Some(before) = before else {
        let (width, height) = (width as u16, height as u16);
        return Frame { width, height, buffer: Cow::Owned(now.to_vec()), ..Frame::default() };
    };
    let differs = |x: usize, y: usize| before[y * width + x] != now[y * width + x];
    let row_differs = |y: &usize| before[y * width..(y + 1) * width] != now[y * width..(y + 1) * width];
    let top = (0..height).find(row_differs).unwrap_or(0);
    let bottom = (top..height).rev().find(row_differs).unwrap_or(top);
    let column_differs = |x: &usize| (top..=bottom).any(|y| differs(*x, y));
    let left = (0..width).find(column_differs).unwrap_or(0);
    let right = (left..width).rev().find(column_differs).unwrap_or(left);
    let pixel = |x: usize, y: usize| if differs(x, y) { now[y * width + x] } else { TRANSPARENT };
    let buffer = (top..=bottom).flat_map(|y| (left..=right).map(move |x| pixel(x, y))).collect();
    Frame {
        left: left as u16,
        top: top as u16,
        width: (right - left + 1) as u16,
        height: (bottom - top + 1) as u16,
        transparent: Some(TRANSPARENT),
        buffer: Cow::Owned(buffer),
        ..Frame::default()
    }
}

/// How long a picture stands, 1/100 s: whole numbers that add up to the film's rate.
fn delay(frame: usize, fps: f64) -> u16 {
    let until = |frame: usize| (100.0 * frame as f64 / fps.min(50.0)).round() as u64;
    (until(frame + 1) - until(frame)) as u16
}

fn refused(error: impl std::fmt::Display) -> FilmError {
    FilmError::Encoder { format: "GIF", reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_kept() {
        let before = [1; 20];
        let mut now = before;
        (now[6], now[13]) = (2, 3);
        let frame = changed((5, 4), Some(&before), &now);
        assert_eq!((frame.left, frame.top, frame.width, frame.height), (1, 1, 3, 2));
        assert_eq!(*frame.buffer, [2, TRANSPARENT, TRANSPARENT, TRANSPARENT, TRANSPARENT, 3]);
        let same = changed((5, 4), Some(&before), &before);
        assert_eq!((same.width, same.height, &*same.buffer), (1, 1, &[TRANSPARENT][..]));
    }

    #[test]
    fn delays_add_up() {
        let total: u64 = (0..300).map(|frame| u64::from(delay(frame, 30.0))).sum();
        assert_eq!(total, 1000);
        assert!((0..300).all(|frame| (3..=4).contains(&delay(frame, 30.0))));
        assert_eq!(delay(7, 120.0), 2, "players take anything shorter for a mistake");
    }
}
