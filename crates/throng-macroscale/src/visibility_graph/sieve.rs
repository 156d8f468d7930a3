//! A coarse look over all nodes of a tree, many at a time: which of them may a way from here arrive at?
//!
//! A query has to consider every node, and nearly all are out of the question because no tangent leads to them. That can
//! be told in single precision with room for its rounding, in loops without branches that compilers turn into SIMD.

use super::nodes::Arrival;
use glam::DVec2;

/// Nodes of a block.
const LANES: usize = 16;
/// What single precision may lose, for each metre that a coordinate is from zero.
const ROUNDING: f64 = 1e-6;

/// Two half-planes for each node, in which a place must lie so that a way may arrive from there.
#[derive(Debug, Default)]
pub(super) struct Sieve {
    /// By the number of the first arrival in it.
    blocks: Vec<(usize, Block)>,
    /// The furthest that a node is from zero, m.
    extent: f64,
}

/// `outside . place >= least` and `inside . place <= most`.
#[derive(Debug)]
struct Block {
    outside: [[f32; LANES]; 2],
    least: [f32; LANES],
    inside: [[f32; LANES]; 2],
    most: [f32; LANES],
}

impl Sieve {
    /// A sieve that lets through from wherever an arrival is no further off than a tolerance.
    pub fn new(arrivals: &[Arrival], tolerance: f64) -> Sieve {
        let extent = arrivals.iter().map(|arrival| arrival.at.abs().max_element()).fold(0.0, f64::max);
        let block = |(index, arrivals): (usize, &[Arrival])| {
            let mut block = Block::closed();
            for (lane, arrival) in arrivals.iter().enumerate() {
                block.open(lane, arrival, tolerance);
            }
            (index * LANES, block)
        };
        Sieve { blocks: arrivals.chunks(LANES).enumerate().map(block).collect(), extent }
    }

    /// The memory that it takes, bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.blocks[..])
    }

    /// The arrivals, by their numbers, that a way from a place may lead to, and some more, in order.
    pub fn each(&self, place: DVec2, mut pass: impl FnMut(usize)) {
        let rounding = (ROUNDING * (self.extent + place.abs().max_element())) as f32;
        let (x, y) = (place.x as f32, place.y as f32);
        for (first, block) in &self.blocks {
            let passes = block.passes(x, y, rounding);
            if passes.contains(&true) {
                (0..LANES).filter(|&lane| passes[lane]).for_each(|lane| pass(first + lane));
            }
        }
    }
}

impl Block {
    /// Nothing passes.
    fn closed() -> Block {
        let zero = [0.0; LANES];
        Block { outside: [zero; 2], least: [f32::INFINITY; LANES], inside: [zero; 2], most: zero }
    }

    fn open(&mut self, lane: usize, arrival: &Arrival, tolerance: f64) {
        let Arrival { at, outside, inside } = arrival;
        for axis in 0..2 {
            self.outside[axis][lane] = outside[axis] as f32;
            self.inside[axis][lane] = inside[axis] as f32;
        }
        self.least[lane] = (outside.dot(*at) - tolerance) as f32;
        self.most[lane] = (inside.dot(*at) + tolerance) as f32;
    }

    #[inline]
    fn passes(&self, x: f32, y: f32, rounding: f32) -> [bool; LANES] {
        std::array::from_fn(|lane| {
            let outside = self.outside[0][lane] * x + self.outside[1][lane] * y;
            let inside = self.inside[0][lane] * x + self.inside[1][lane] * y;
            (outside >= self.least[lane] - rounding) & (inside <= self.most[lane] + rounding)
        })
    }
}
