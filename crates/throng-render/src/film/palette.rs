//! 255 colours for a whole film. Crowds on paper have few colours and many shades between two of them, so the most
//! frequent are kept exactly, and the rest are chosen so that no shade is far from one.

/// One index is left for "as before".
pub(super) const TRANSPARENT: u8 = 255;

/// Colours are told apart by their upper bits.
const BITS: u32 = 6;
const BINS: usize = 1 << (3 * BITS);

pub(super) struct Palette {
    /// Red, green, blue, each colour after the other.
    pub(super) colours: Vec<u8>,
    /// The nearest colour of each bin.
    nearest: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct Bin {
    count: u32,
    sum: [u32; 3],
}

impl Palette {
    /// From RGBA pictures that are typical of all.
    pub(super) fn of(pictures: &[Vec<u8>]) -> Palette {
        let mut bins = vec![Bin::default(); BINS];
        for pixel in pictures.iter().flat_map(|picture| picture.chunks_exact(4)) {
            let bin = &mut bins[bin_of(pixel)];
            // A frame is at most 2^28 pixels of 2^8; a bin that is full has seen enough.
            if bin.count < 1 << 23 {
                bin.count += 1;
                bin.sum.iter_mut().zip(pixel).for_each(|(sum, &channel)| *sum += u32::from(channel));
            }
        }
        let mut seen: Vec<(u32, [u8; 3])> =
            bins.iter().filter(|bin| bin.count > 0).map(|bin| (bin.count, bin.mean())).collect();
        seen.sort_unstable_by(|a, b| b.cmp(a));
        let colours = spread(&seen);
        let nearest = (0..BINS).map(|bin| nearest(&colours, middle(bin))).collect();
        Palette { colours: colours.concat(), nearest }
    }

    pub(super) fn index(&self, pixel: &[u8]) -> u8 {
        self.nearest[bin_of(pixel)]
    }
}

impl Bin {
    fn mean(&self) -> [u8; 3] {
        self.sum.map(|sum| ((sum + self.count / 2) / self.count) as u8)
    }
}

/// The most frequent colours first, each at some distance from those chosen before; the distance shrinks until all are in.
fn spread(seen: &[(u32, [u8; 3])]) -> Vec<[u8; 3]> {
    let mut chosen: Vec<[u8; 3]> = Vec::new();
    for least in [48, 32, 24, 16, 12, 8, 6, 4, 0] {
        for &(_, colour) in seen {
            if chosen.len() == usize::from(TRANSPARENT) {
                return chosen;
            }
            if chosen.iter().all(|&other| distance(other, colour) > least * least) {
                chosen.push(colour);
            }
        }
    }
    chosen
}

fn nearest(colours: &[[u8; 3]], colour: [u8; 3]) -> u8 {
    let all = colours.iter().enumerate();
    all.min_by_key(|(_, other)| distance(**other, colour)).map_or(0, |(index, _)| index as u8)
}

fn distance(a: [u8; 3], b: [u8; 3]) -> i32 {
    (0..3).map(|channel| (i32::from(a[channel]) - i32::from(b[channel])).pow(2)).sum()
}

fn bin_of(pixel: &[u8]) -> usize {
    pixel[..3].iter().fold(0, |bin, &channel| bin << BITS | usize::from(channel >> (8 - BITS)))
}

fn middle(bin: usize) -> [u8; 3] {
    [2, 1, 0]
        .map(|place| (((bin >> (place * BITS)) & ((1 << BITS) - 1)) << (8 - BITS)) as u8 + (1 << (7 - BITS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_as_they_are() {
        let colours = [[250, 250, 248], [255, 255, 255], [0, 114, 178], [213, 94, 0]];
        let picture: Vec<u8> = colours.iter().flat_map(|c| [c[0], c[1], c[2], 255].repeat(9)).collect();
        let palette = Palette::of(&[picture]);
        for colour in colours {
            let index = usize::from(palette.index(&colour));
            assert_eq!(palette.colours[3 * index..3 * index + 3], colour);
        }
    }

    #[test]
    fn many_colours_find_one_that_is_near() {
        let picture: Vec<u8> = (0..=255_u8)
            .flat_map(|shade| (0..16).flat_map(move |other| [shade, 255 - shade, other * 16, 255]))
            .collect();
        let palette = Palette::of(std::slice::from_ref(&picture));
        assert!(palette.colours.len() <= 3 * 255);
        for pixel in picture.chunks_exact(4) {
            let index = usize::from(palette.index(pixel));
            let colour = [0, 1, 2].map(|channel| palette.colours[3 * index + channel]);
            assert!(distance(colour, [pixel[0], pixel[1], pixel[2]]) < 30 * 30, "{pixel:?} {colour:?}");
        }
    }
}
