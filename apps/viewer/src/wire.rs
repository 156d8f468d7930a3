//! What goes over the socket in binary: a frame of the crowd, and what about agents never changes.
//!
//! All numbers are little-endian, all columns are by rising id. A frame is
//!
//! | bytes | what |
//! | --- | --- |
//! | 0 | kind: 1 |
//! | 1 | flags: 1 playing, 2 over, 4 as fast as it goes |
//! | 2 | which of two runs side by side |
//! | 3 | scripted bodies |
//! | 4 | generation: which scene the ids belong to (u32) |
//! | 8, 12, 16 | ids there are, agents present, agents arrived (u32) |
//! | 20 | speed of play (f32) |
//! | 24, 32 | step (u64), time in s (f64) |
//! | 40, 48 | the corner that places are counted from, m (f64) |
//! | 56, 60 | m to a unit of `x` and of `y` (f32) |
//! | 64 | m/s to a unit of speed (f32) |
//! | 68 | s to a unit of delay (f32) |
//! | 72 | `x`, then `y` of those present (u16), then headings (u8, a turn has 256), speeds (u8), delays (u8) |
//! | then | a bit for each id, lowest first: whether it is present |
//! | then | `x`, `y`, radius of scripted bodies, m from the corner (f32) |
//!
//! That is 7 bytes for each agent present and a bit for each that there ever was.

use throng::Frame;

/// Size of the part before the columns.
pub const HEAD: usize = 72;

const FRAME: u8 = 1;
const STATICS: u8 = 2;

/// A delay of one unit, s.
const DELAY_UNIT: f32 = 0.5;

/// What a frame says of the whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head {
    /// Whether time goes on.
    pub playing: bool,
    /// Whether there is nothing more to come.
    pub over: bool,
    /// Which of two runs side by side.
    pub pane: u8,
    /// Which scene the ids belong to.
    pub generation: u32,
    /// Ids there are.
    pub ids: usize,
    /// Agents that have been at their goals.
    pub arrived: usize,
    /// Of play, in seconds a second; infinite for as fast as it goes.
    pub speed: f64,
    /// The fastest that any agent can be, m/s.
    pub fastest: f32,
}

/// What a page is shown of a crowd. Ids are below the head's `ids`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown<'a> {
    /// Those that are present, in any order.
    pub frame: Frame<'a>,
    /// How late each is, s; empty where it is not known.
    pub delay: &'a [f32],
    /// Scripted bodies: x, y, radius, m from the origin.
    pub movers: &'a [[f32; 3]],
}

/// Packs frames; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub struct Packer {
    /// The row of each id.
    row: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Packer {
    /// A frame.
    pub fn frame(&mut self, head: &Head, shown: &Shown<'_>) -> Vec<u8> {
        let crowd = &shown.frame;
        self.row.clear();
        self.row.resize(head.ids, ABSENT);
        for (row, &id) in crowd.id.iter().enumerate() {
            if let Some(slot) = self.row.get_mut(id as usize) {
                *slot = row as u32;
            }
        }
        let present = self.row.iter().filter(|&&row| row != ABSENT).count();
        let (low, unit) = grid(crowd);
        let movers = &shown.movers[..shown.movers.len().min(usize::from(u8::MAX))];
        let mut out = Vec::with_capacity(HEAD + 7 * present + head.ids.div_ceil(8) + 12 * movers.len());
        self.head(&mut out, head, crowd, (low, unit), present, movers.len());
        let rows = || self.row.iter().filter(|&&row| row != ABSENT).map(|&row| row as usize);
        let placed = |value: f32, low: f32, unit: f32| ((value - low) / unit).round() as u16;
        rows().for_each(|row| out.extend(placed(crowd.x[row], low[0], unit[0]).to_le_bytes()));
        rows().for_each(|row| out.extend(placed(crowd.y[row], low[1], unit[1]).to_le_bytes()));
        out.extend(rows().map(|row| {
            let turn = crowd.vy[row].atan2(crowd.vx[row]) / std::f32::consts::TAU;
            (turn * 256.0).round() as i32 as u8
        }));
        let per_speed = 1.0 / speed_unit(head);
        out.extend(rows().map(|row| (crowd.vx[row].hypot(crowd.vy[row]) * per_speed).round() as u8));
        let delay = |row: usize| (shown.delay.get(row).copied().unwrap_or(0.0) / DELAY_UNIT).round() as u8;
        out.extend(rows().map(delay));
        for ids in self.row.chunks(8) {
            let bits = ids.iter().enumerate().map(|(bit, &row)| u8::from(row != ABSENT) << bit);
            out.push(bits.sum());
        }
        for &[x, y, radius] in movers {
            [x - low[0], y - low[1], radius].iter().for_each(|value| out.extend(value.to_le_bytes()));
        }
        out
    }

    fn head(
        &self,
        out: &mut Vec<u8>,
        head: &Head,
        crowd: &Frame<'_>,
        (low, unit): ([f32; 2], [f32; 2]),
        present: usize,
        movers: usize,
    ) {
        let fast = head.speed.is_infinite();
        let flags = u8::from(head.playing) | u8::from(head.over) << 1 | u8::from(fast) << 2;
        out.extend([FRAME, flags, head.pane, movers as u8]);
        for number in [head.generation, head.ids as u32, present as u32, head.arrived as u32] {
            out.extend(number.to_le_bytes());
        }
        out.extend((if fast { 0.0 } else { head.speed as f32 }).to_le_bytes());
        out.extend(crowd.step.to_le_bytes());
        out.extend(crowd.time.to_le_bytes());
        out.extend((crowd.origin.x + f64::from(low[0])).to_le_bytes());
        out.extend((crowd.origin.y + f64::from(low[1])).to_le_bytes());
        for number in [unit[0], unit[1], speed_unit(head), DELAY_UNIT] {
            out.extend(number.to_le_bytes());
        }
    }
}

fn speed_unit(head: &Head) -> f32 {
    head.fastest.max(0.1) / 255.0
}

/// The lower corner of all places, and the units that they are counted in from there.
fn grid(crowd: &Frame<'_>) -> ([f32; 2], [f32; 2]) {
    let axis = |values: &[f32]| {
        let (low, high) = values
            .iter()
            .filter(|value| value.is_finite())
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &value| {
                (low.min(value), high.max(value))
            });
        if low <= high { (low, ((high - low) / f32::from(u16::MAX)).max(1e-6)) } else { (0.0, 1e-6) }
    };
    let ((x, unit_x), (y, unit_y)) = (axis(crowd.x), axis(crowd.y));
    ([x, y], [unit_x, unit_y])
}

/// What never changes: kind (u8), three bytes of nothing, generation (u32), ids (u32), pane (u32); then by id cohorts (u16)
/// and radii in mm (u16).
pub fn statics(generation: u32, pane: u8, cohort: &[u16], radius: &[f32]) -> Vec<u8> {
    let mut out = vec![STATICS, 0, 0, 0];
    for number in [generation, cohort.len() as u32, u32::from(pane)] {
        out.extend(number.to_le_bytes());
    }
    cohort.iter().for_each(|cohort| out.extend(cohort.to_le_bytes()));
    radius.iter().for_each(|radius| out.extend(((radius * 1000.0).round() as u16).to_le_bytes()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec2;
    use proptest::prelude::*;

    fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
        bytes[at..at + N].try_into().unwrap()
    }

    type Row = (f32, f32, f32, f32, f32);

    proptest! {
        /// Places come back to within half a unit, whichever agents are missing, and none costs more than eight bytes.
        #[test]
        fn frames_come_back(
            rows in proptest::collection::vec((-5e3f32..5e3, -5e3f32..5e3, -2f32..2.0, -2f32..2.0, 0f32..100.0), 1..300),
            gap in 1usize..4,
            origin in -1e7f64..1e7,
        ) {
            let id: Vec<u32> = (0..rows.len()).rev().map(|place| (place * gap) as u32).collect();
            let column = |value: fn(&Row) -> f32| rows.iter().map(value).collect::<Vec<f32>>();
            let (x, y) = (column(|row| row.0), column(|row| row.1));
            let (vx, vy, delay) = (column(|row| row.2), column(|row| row.3), column(|row| row.4));
            let frame = Frame {
                time: 12.5, origin: DVec2::splat(origin), id: &id, x: &x, y: &y, vx: &vx, vy: &vy, ..Frame::default()
            };
            let shown = Shown { frame, delay: &delay, movers: &[[1.0, 2.0, 3.0]] };
            let ids = rows.len() * gap;
            let head = Head { ids, fastest: 3.0, playing: true, ..Head::default() };
            let bytes = Packer::default().frame(&head, &shown);
            let present = rows.len();
            prop_assert_eq!(u32::from_le_bytes(number(&bytes, 12)) as usize, present);
            prop_assert_eq!(f64::from_le_bytes(number(&bytes, 32)), 12.5);
            let low = f64::from_le_bytes(number(&bytes, 40));
            let unit = f64::from(f32::from_le_bytes(number(&bytes, 56)));
            let speed = f32::from_le_bytes(number(&bytes, 64));
            for (place, row) in (0..present).rev().enumerate() {
                let got = low + unit * f64::from(u16::from_le_bytes(number(&bytes, HEAD + 2 * place)));
                prop_assert!((got - origin - f64::from(x[row])).abs() <= 0.51 * unit + 1e-3, "{} {}", got - origin, x[row]);
                let got = speed * f32::from(bytes[HEAD + 5 * present + place]);
                prop_assert!((got - vx[row].hypot(vy[row])).abs() < 0.51 * speed);
            }
            let bits = &bytes[HEAD + 7 * present..HEAD + 7 * present + ids.div_ceil(8)];
            let set: u32 = bits.iter().map(|byte| byte.count_ones()).sum();
            prop_assert_eq!(set as usize, present);
            prop_assert!((0..ids).all(|id| (bits[id / 8] >> (id % 8) & 1 == 1) == (id % gap == 0)));
            prop_assert!(bytes.len() <= HEAD + 8 * present + 12 + 1, "{} for {}", bytes.len(), present);
        }
    }

    #[test]
    fn an_empty_crowd_and_nonsense_are_packed_too() {
        assert_eq!(Packer::default().frame(&Head::default(), &Shown::default()).len(), HEAD);
        let mad = [f32::NAN, f32::INFINITY];
        let frame = Frame { id: &[0, 9], x: &mad, y: &mad, vx: &mad, vy: &mad, ..Frame::default() };
        let shown = Shown { frame, delay: &mad, movers: &[] };
        assert_eq!(Packer::default().frame(&Head { ids: 2, ..Head::default() }, &shown).len(), HEAD + 7 + 1);
    }
}
