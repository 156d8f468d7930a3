//! Mean density and speed over the run, as a map.
//!
//! Each row counts as a small Gaussian body, so that a map does not depend on where cells happen to lie.

use crate::Kind;
use crate::colour::{self, Ramp};
use crate::furniture::{Bar, Key};
use crate::layout::{Stage, round_above};
use crate::page::Shape;
use crate::trails::{high_quantile, speed};

/// Standard deviation of a body in the map, m.
pub(crate) const BLUR: f32 = 0.4;

/// Cells along the longer side, at most.
const CELLS: f32 = 320.0;

/// A cell shows its speed fully where it saw at least this share of the mean of those that saw anyone.
const SEEN: f64 = 0.05;

/// Densities above one over this, in 1/m², are shown fully; below they fade into the floor instead of ending at an edge.
const VISIBLE: f64 = 20.0;

pub(crate) fn draw(stage: &mut Stage<'_>, kind: Kind) -> Key {
    let mut map = Map::over(stage);
    map.gather(stage, kind);
    map.blur();
    let (values, presence, ramp, label) = match kind {
        Kind::Speed => (map.speed(), map.presence(), stage.theme.speeds(), "mean speed, m/s"),
        _ => {
            let density = map.density(stage);
            let presence = density.iter().map(|value| value * VISIBLE).collect();
            (density, presence, stage.theme.areas(), "mean density, 1/m²")
        }
    };
    let mut seen: Vec<f64> = values.iter().copied().filter(|value| *value > 1e-3).collect();
    let top = round_above(high_quantile(&mut seen, 0.998));
    let floor = map.floor(stage);
    let rgba = coloured(ramp, &values, top, &presence, &floor);
    let size = (stage.view.high - stage.view.low) * stage.view.scale;
    stage.push(Shape::Image {
        at: stage.view.corner.to_array(),
        size: size.to_array(),
        columns: map.columns as u32,
        rows: map.rows as u32,
        rgba,
        smooth: true,
    });
    // Bodies are blurred over walls too; the walls go on top again.
    stage.walls();
    Key { bar: Some(Bar { ramp, top, label }), cohorts: false, marks: Vec::new() }
}

struct Map {
    columns: usize,
    rows: usize,
    /// m.
    cell: f32,
    /// How often a cell was stood in.
    weight: Vec<f64>,
    /// The same, each time multiplied with the speed.
    moved: Vec<f64>,
}

impl Map {
    fn over(stage: &Stage<'_>) -> Map {
        let size = stage.view.high - stage.view.low;
        let cell = (size.max_element() / CELLS).max(0.1);
        let cells = |length: f32| ((length / cell).round() as usize).clamp(1, 4 * CELLS as usize);
        let (columns, rows) = (cells(size.x), cells(size.y));
        let count = columns * rows;
        Map { columns, rows, cell, weight: vec![0.0; count], moved: vec![0.0; count] }
    }

    fn gather(&mut self, stage: &Stage<'_>, kind: Kind) {
        let (low, high) = (stage.view.low, stage.view.high);
        for track in stage.run.tracks() {
            for row in 0..track.frame.len() {
                let column = ((track.x[row] - low.x) / (high.x - low.x) * self.columns as f32) as usize;
                let down = ((high.y - track.y[row]) / (high.y - low.y) * self.rows as f32) as usize;
                let place = down.min(self.rows - 1) * self.columns + column.min(self.columns - 1);
                self.weight[place] += 1.0;
                if kind == Kind::Speed {
                    self.moved[place] += speed(&track, row, stage.run.fps);
                }
            }
        }
    }

    fn blur(&mut self) {
        let deviation = (BLUR / self.cell).max(1.2);
        let reach = (3.0 * deviation).ceil() as isize;
        let bell = |offset: isize| f64::from((-0.5 * (offset as f32 / deviation).powi(2)).exp());
        let total: f64 = (-reach..=reach).map(bell).sum();
        let kernel: Vec<f64> = (-reach..=reach).map(|offset| bell(offset) / total).collect();
        for field in [&mut self.weight, &mut self.moved] {
            *field = blurred(field, self.columns, self.rows, 1, self.columns, &kernel);
            *field = blurred(field, self.rows, self.columns, self.columns, 1, &kernel);
        }
    }

    fn density(&self, stage: &Stage<'_>) -> Vec<f64> {
        let frames = f64::from(stage.frames.1 - stage.frames.0) + 1.0;
        let per_count = 1.0 / (frames * f64::from(self.cell * self.cell));
        self.weight.iter().map(|weight| weight * per_count).collect()
    }

    /// 0 where no agent was.
    fn speed(&self) -> Vec<f64> {
        let mean = |(moved, weight): (&f64, &f64)| if *weight > 0.0 { moved / weight } else { 0.0 };
        self.moved.iter().zip(&self.weight).map(mean).collect()
    }

    /// How surely a cell's speed is known, 1 and more where it is.
    fn presence(&self) -> Vec<f64> {
        let seen = self.weight.iter().filter(|weight| **weight > 0.0).count().max(1);
        let enough = SEEN * self.weight.iter().sum::<f64>() / seen as f64;
        self.weight.iter().map(|weight| weight / enough).collect()
    }

    /// Which cells' middles can be walked on; all where the file does not say.
    fn floor(&self, stage: &Stage<'_>) -> Vec<bool> {
        if stage.run.info.open_plane || stage.geometry.polygons.is_empty() {
            return vec![true; self.columns * self.rows];
        }
        let mut floor = vec![false; self.columns * self.rows];
        for row in 0..self.rows {
            for [from, to] in self.spans(stage, row) {
                floor[row * self.columns + from..row * self.columns + to].fill(true);
            }
        }
        floor
    }

    /// The cells of a row that lie between pairs of crossings with rings (even-odd).
    fn spans(&self, stage: &Stage<'_>, row: usize) -> Vec<[usize; 2]> {
        let size = (stage.view.high - stage.view.low) * stage.view.scale;
        let y = stage.view.corner.y + (row as f32 + 0.5) / self.rows as f32 * size.y;
        let mut crossings = Vec::new();
        for ring in stage.geometry.polygons.iter().flatten() {
            let corners = ring.iter().map(|point| stage.view.page_of(*point));
            for (a, b) in corners.clone().zip(corners.cycle().skip(1)) {
                if (a[1] > y) != (b[1] > y) {
                    crossings.push(a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]));
                }
            }
        }
        crossings.sort_by(f32::total_cmp);
        let cell = |x: f32| {
            let place = (x - stage.view.corner.x) / size.x * self.columns as f32;
            (place + 0.5).clamp(0.0, self.columns as f32) as usize
        };
        crossings.chunks_exact(2).map(|pair| [cell(pair[0]), cell(pair[1])]).collect()
    }
}

fn coloured(ramp: Ramp, values: &[f64], top: f64, presence: &[f64], floor: &[bool]) -> Vec<u8> {
    let mut rgba = Vec::with_capacity(values.len() * 4);
    for ((value, presence), floor) in values.iter().zip(presence).zip(floor) {
        let [r, g, b] = colour::ramp(ramp, (value / top) as f32).rgb;
        let alpha = if *floor { presence.clamp(0.0, 1.0) } else { 0.0 };
        rgba.extend([r, g, b, (alpha * 255.0) as u8]);
    }
    rgba
}

/// Blurs along one axis: `lines` lines of `length` cells, `step` from cell to cell and `stride` from line to line.
fn blurred(
    field: &[f64],
    length: usize,
    lines: usize,
    step: usize,
    stride: usize,
    kernel: &[f64],
) -> Vec<f64> {
    let reach = kernel.len() / 2;
    let mut out = vec![0.0; field.len()];
    for line in 0..lines {
        for cell in 0..length {
            let value = field[line * stride + cell * step];
            if value == 0.0 {
                continue;
            }
            // Spread, not gathered: most cells of most runs are empty. What would leave the map stays at its edge.
            for (offset, share) in kernel.iter().enumerate() {
                let target = (cell + offset).saturating_sub(reach).min(length - 1);
                out[line * stride + target * step] += value * share;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blur_loses_nobody() {
        let mut field = vec![0.0; 12 * 7];
        (field[0], field[40], field[83]) = (3.0, 1.0, 2.0);
        let kernel = [0.1, 0.2, 0.4, 0.2, 0.1];
        let across = blurred(&field, 12, 7, 1, 12, &kernel);
        let both = blurred(&across, 7, 12, 12, 1, &kernel);
        assert!((both.iter().sum::<f64>() - 6.0).abs() < 1e-9);
        assert!(both[40] < 1.0 && both[41] > 0.0 && both[40 + 12] > 0.0);
    }
}
