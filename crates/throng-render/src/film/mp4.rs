//! MP4: H.264 by openh264, in the container of muxide.
//!
//! Each piece has an encoder of its own and begins with a whole picture (an IDR), so pieces can be packed side by side and
//! laid end to end. Quality is fixed and the rate follows: crowds on paper are small anyway.

use super::{Film, FilmError, Watch};
use muxide::api::{MuxerBuilder, VideoCodec};
use openh264::OpenH264API;
use openh264::encoder::{
    Complexity, Encoder, EncoderConfig, FrameRate, FrameType, RateControlMode, UsageType, VuiConfig,
};
use openh264::formats::YUVSlices;
use std::ops::Range;

struct Packet {
    bytes: Vec<u8>,
    whole: bool,
}

pub(super) fn pack(film: &Film<'_>, watch: Watch<'_>) -> Result<Vec<u8>, FilmError> {
    let (width, height) = film.size();
    if width.max(height) > 3840 || width.min(height) > 2160 {
        return Err(FilmError::TooLarge(width, height));
    }
    let pieces = film.pieces(watch, |range, tick| piece(film, range, tick))?;
    let mut muxer = MuxerBuilder::new(Vec::new())
        .video(VideoCodec::H264, width, height, film.fps)
        .with_fast_start(true)
        .build()
        .map_err(refused)?;
    for (frame, packet) in pieces.into_iter().flatten().enumerate() {
        muxer.write_video(frame as f64 / film.fps, &packet.bytes, packet.whole).map_err(refused)?;
    }
    muxer.finish_in_place().map_err(refused)?;
    Ok(muxer.into_writer())
}

fn piece(
    film: &Film<'_>,
    range: Range<usize>,
    tick: &dyn Fn() -> Result<(), FilmError>,
) -> Result<Vec<Packet>, FilmError> {
    let config = EncoderConfig::new()
        .rate_control_mode(RateControlMode::Off)
        .max_frame_rate(FrameRate::from_hz(film.fps as f32))
        .usage_type(UsageType::CameraVideoRealTime)
        .complexity(Complexity::Low)
        .skip_frames(false)
        .scene_change_detect(false)
        .adaptive_quantization(false)
        .num_threads(1)
        .vui(VuiConfig::bt709());
    let mut encoder = Encoder::with_api_config(OpenH264API::from_source(), config).map_err(refused)?;
    let (width, height) = film.size();
    let mut planes = Planes::new(width as usize, height as usize);
    let mut packets = Vec::with_capacity(range.len());
    for frame in range {
        planes.take(film.drawn(frame).rgba());
        let stream = encoder.encode(&planes.slices()).map_err(refused)?;
        let whole = matches!(stream.frame_type(), FrameType::IDR | FrameType::I);
        packets.push(Packet { bytes: stream.to_vec(), whole });
        tick()?;
    }
    Ok(packets)
}

fn refused(error: impl std::fmt::Display) -> FilmError {
    FilmError::Encoder { format: "MP4", reason: error.to_string() }
}

/// A picture as H.264 has it: brightness in full, two colour differences at half the resolution (BT.709, limited range).
struct Planes {
    width: usize,
    height: usize,
    y: Vec<u8>,
    u: Vec<u8>,
    v: Vec<u8>,
}

impl Planes {
    /// Of even width and height.
    fn new(width: usize, height: usize) -> Planes {
        let (whole, quarter) = (vec![0; width * height], vec![0; width * height / 4]);
        Planes { width, height, y: whole, u: quarter.clone(), v: quarter }
    }

    fn slices(&self) -> YUVSlices<'_> {
        let strides = (self.width, self.width / 2, self.width / 2);
        YUVSlices::new((&self.y, &self.u, &self.v), (self.width, self.height), strides)
    }

    fn take(&mut self, rgba: &[u8]) {
        let pixels = rgba.chunks_exact(4).map(|pixel| [pixel[0], pixel[1], pixel[2]].map(i32::from));
        for (y, [r, g, b]) in self.y.iter_mut().zip(pixels) {
            *y = (16 + ((47 * r + 157 * g + 16 * b + 128) >> 8)) as u8;
        }
        let half = self.width / 2;
        let colours = self.u.chunks_exact_mut(half).zip(self.v.chunks_exact_mut(half));
        for ((u, v), rows) in colours.zip(rgba.chunks_exact(self.width * 8)) {
            let (upper, lower) = rows.split_at(self.width * 4);
            let blocks = upper.chunks_exact(8).zip(lower.chunks_exact(8));
            for ((u, v), (upper, lower)) in u.iter_mut().zip(v).zip(blocks) {
                let sum = |channel: usize| {
                    let four = [upper[channel], upper[channel + 4], lower[channel], lower[channel + 4]];
                    four.map(i32::from).iter().sum::<i32>()
                };
                let [r, g, b] = [sum(0), sum(1), sum(2)];
                *u = (128 + ((-26 * r - 86 * g + 112 * b + 512) >> 10)) as u8;
                *v = (128 + ((112 * r - 102 * g - 10 * b + 512) >> 10)) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_white_and_red_are_as_the_standard_has_them() {
        let planes = |rgb: [u8; 3]| {
            let mut planes = Planes::new(4, 2);
            planes.take(&[rgb[0], rgb[1], rgb[2], 255].repeat(8));
            (planes.y[7], planes.u[1], planes.v[0])
        };
        assert_eq!(planes([0; 3]), (16, 128, 128));
        let (y, u, v) = planes([255; 3]);
        assert!(y.abs_diff(235) <= 1 && u == 128 && v == 128, "{y} {u} {v}");
        let (y, u, v) = planes([255, 0, 0]);
        assert!(y.abs_diff(63) <= 1 && u.abs_diff(102) <= 1 && v.abs_diff(240) <= 1, "{y} {u} {v}");
    }
}
