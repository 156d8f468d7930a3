//! Letters drawn with a pen, so that a PNG needs no font file.
//!
//! A glyph is a line of strokes on a grid of ten units to the em: capitals are 7 high, small letters 4.9, and tails reach
//! down to -2.2. Pairs of numbers are points; `;` lifts the pen; `o cx cy rx ry` is an ellipse;
//! `a cx cy rx ry from to` is an arc in degrees, joined to the stroke before it.

use crate::page::Path;

/// Width and strokes by character.
type Glyph = (char, f32, &'static str);

/// Room between letters.
const GAP: f32 = 1.6;

/// Pen width, in the same units.
pub(crate) const REGULAR: f32 = 0.82;

/// Pen width of titles.
pub(crate) const BOLD: f32 = 1.15;

#[rustfmt::skip]
const GLYPHS: &[Glyph] = &[
    (' ', 1.3, ""),
    ('!', 0.2, "0 7 0 2.2 ; o 0 0.15 .15 .15"),
    ('"', 1.5, "0 7 0 5 ; 1.5 7 1.5 5"),
    ('#', 5.2, "1.2 0 2 7 ; 3.2 0 4 7 ; 0 2.2 4.9 2.2 ; 0.3 4.8 5.2 4.8"),
    ('$', 4.4, "a 2.2 5.25 1.9 1.75 35 270 a 2.2 1.75 2.15 1.75 90 -145 ; 2.2 8 2.2 -1"),
    ('%', 6.4, "o 1.3 5.6 1.3 1.4 ; o 5.1 1.4 1.3 1.4 ; 5.2 7 1.2 0"),
    ('&', 5.2, "5.2 0 1.3 4.6 a 2.4 5.6 1.35 1.4 215 -40 1 3.2 a 2.1 1.85 2.1 1.85 130 335 4.9 3.3"),
    ('\'', 0.1, "0 7 0 5"),
    ('(', 1.5, "a 3 2.7 3 6 120 240"),
    (')', 1.5, "a -1.5 2.7 3 6 60 -60"),
    ('*', 2.8, "1.4 7 1.4 4 ; 0.1 6.3 2.7 4.7 ; 0.1 4.7 2.7 6.3"),
    ('+', 4.2, "2.1 1.2 2.1 5.4 ; 0 3.3 4.2 3.3"),
    (',', 0.5, "0.4 0.3 -0.1 -1.3"),
    ('-', 2.6, "0 2.9 2.6 2.9"),
    ('.', 0.3, "o 0.15 0.12 .15 .15"),
    ('/', 3.0, "0 -0.8 3 7.8"),
    ('0', 4.4, "o 2.2 3.5 2.2 3.5"),
    ('1', 2.6, "0.2 5.6 2 7 2 0"),
    ('2', 4.4, "a 2.2 5 2 2 165 -35 0.1 0 4.4 0"),
    ('3', 4.4, "a 2.1 5.3 1.75 1.7 150 -90 a 2.1 1.8 2.1 1.8 90 -150"),
    ('4', 4.4, "3.4 0 3.4 7 0 1.8 4.5 1.8"),
    ('5', 4.4, "4 7 0.9 7 0.6 3.84 a 2.1 2.25 2.15 2.25 135 -145"),
    ('6', 4.4, "3.3 7 0.4 3.3 ; o 2.2 2.2 2.1 2.2"),
    ('7', 4.4, "0 7 4.4 7 1.5 0"),
    ('8', 4.4, "o 2.2 5.3 1.75 1.7 ; o 2.2 1.8 2.1 1.8"),
    ('9', 4.4, "o 2.2 4.8 2.1 2.2 ; 4 3.7 1.1 0"),
    (':', 0.3, "o 0.15 0.12 .15 .15 ; o 0.15 4.3 .15 .15"),
    (';', 0.5, "0.4 0.3 -0.1 -1.3 ; o 0.3 4.3 .15 .15"),
    ('<', 3.8, "3.8 5.8 0 3.3 3.8 0.8"),
    ('=', 4.2, "0 4.4 4.2 4.4 ; 0 2.2 4.2 2.2"),
    ('>', 3.8, "0 5.8 3.8 3.3 0 0.8"),
    ('?', 3.6, "a 1.8 5.3 1.8 1.7 165 -60 1.8 3.2 1.8 2.2 ; o 1.8 0.15 .15 .15"),
    ('@', 6.8, "o 3.5 3 1.5 1.7 ; 5 4.6 5 2.4 a 5.9 2.3 .9 .9 180 360 a 3.4 3 3.4 3.9 5 310"),
    ('A', 5.4, "0 0 2.7 7 5.4 0 ; 1 2.3 4.4 2.3"),
    ('B', 4.4, "0 0 0 7 2.5 7 a 2.5 5.3 1.7 1.7 90 -90 0 3.6 ; 2.5 3.6 a 2.5 1.8 1.9 1.8 90 -90 0 0"),
    ('C', 5.3, "a 3.2 3.5 3.2 3.5 50 310"),
    ('D', 5.2, "0 0 0 7 1.9 7 a 1.9 3.5 3.3 3.5 90 -90 0 0"),
    ('E', 3.9, "3.9 7 0 7 0 0 3.9 0 ; 0 3.7 3.4 3.7"),
    ('F', 3.7, "3.8 7 0 7 0 0 ; 0 3.6 3.3 3.6"),
    ('G', 6.0, "a 3.1 3.5 3.1 3.5 48 360 3.5 3.5"),
    ('H', 5.0, "0 0 0 7 ; 5 0 5 7 ; 0 3.6 5 3.6"),
    ('I', 0.0, "0 0 0 7"),
    ('J', 3.0, "3 7 3 1.7 a 1.5 1.7 1.5 1.7 0 -165"),
    ('K', 4.6, "0 0 0 7 ; 4.4 7 0 2.6 ; 1.6 4.2 4.6 0"),
    ('L', 3.6, "0 7 0 0 3.6 0"),
    ('M', 6.2, "0 0 0 7 3.1 1.8 6.2 7 6.2 0"),
    ('N', 5.2, "0 0 0 7 5.2 0 5.2 7"),
    ('O', 6.4, "o 3.2 3.5 3.2 3.5"),
    ('P', 4.2, "0 0 0 7 2.3 7 a 2.3 5.1 1.9 1.9 90 -90 0 3.2"),
    ('Q', 6.4, "o 3.2 3.5 3.2 3.5 ; 3.9 1.9 6.1 -0.5"),
    ('R', 4.5, "0 0 0 7 2.3 7 a 2.3 5.1 1.9 1.9 90 -90 0 3.2 ; 2.2 3.2 4.5 0"),
    ('S', 4.4, "a 2.2 5.25 1.9 1.75 35 270 a 2.2 1.75 2.15 1.75 90 -145"),
    ('T', 4.8, "0 7 4.8 7 ; 2.4 7 2.4 0"),
    ('U', 5.0, "0 7 0 2.5 a 2.5 2.5 2.5 2.5 180 360 5 7"),
    ('V', 5.2, "0 7 2.6 0 5.2 7"),
    ('W', 7.6, "0 7 1.9 0 3.8 6.4 5.7 0 7.6 7"),
    ('X', 4.8, "0 0 4.8 7 ; 0 7 4.8 0"),
    ('Y', 4.8, "0 7 2.4 3.4 4.8 7 ; 2.4 3.4 2.4 0"),
    ('Z', 4.6, "0 7 4.6 7 0 0 4.6 0"),
    ('[', 1.4, "1.4 8 0 8 0 -1.5 1.4 -1.5"),
    ('\\', 3.0, "0 7.8 3 -0.8"),
    (']', 1.4, "0 8 1.4 8 1.4 -1.5 0 -1.5"),
    ('^', 3.2, "0 4.6 1.6 7 3.2 4.6"),
    ('_', 4.6, "0 -1 4.6 -1"),
    ('`', 1.0, "0 7.2 1 5.8"),
    ('a', 4.0, "o 2 2.45 2 2.45 ; 4 4.9 4 0"),
    ('b', 4.0, "0 7.3 0 0 ; o 2 2.45 2 2.45"),
    ('c', 3.5, "a 2.1 2.45 2.1 2.45 50 310"),
    ('d', 4.0, "o 2 2.45 2 2.45 ; 4 7.3 4 0"),
    ('e', 4.1, "0 2.55 4.1 2.55 a 2.05 2.45 2.05 2.45 2 312"),
    ('f', 2.3, "a 2.2 5.9 1.3 1.4 65 180 0.9 0 ; 0 4.9 2.3 4.9"),
    ('g', 4.0, "o 2 2.45 2 2.45 ; 4 4.9 4 -0.3 a 2.05 -0.3 1.95 1.9 0 -150"),
    ('h', 3.7, "0 7.3 0 0 ; 0 2.9 a 1.85 2.9 1.85 2 180 0 3.7 0"),
    ('i', 0.1, "0 4.9 0 0 ; o 0 6.85 .15 .15"),
    ('j', 0.6, "0.5 4.9 0.5 -0.7 a -0.6 -0.7 1.1 1.5 0 -90 ; o 0.5 6.85 .15 .15"),
    ('k', 3.6, "0 7.3 0 0 ; 3.3 4.9 0 1.8 ; 1.2 2.9 3.6 0"),
    ('l', 0.0, "0 7.3 0 0"),
    ('m', 6.2, "0 4.9 0 0 ; 0 3.1 a 1.55 3.1 1.55 1.8 180 0 3.1 0 ; 3.1 3.1 a 4.65 3.1 1.55 1.8 180 0 6.2 0"),
    ('n', 3.7, "0 4.9 0 0 ; 0 2.9 a 1.85 2.9 1.85 2 180 0 3.7 0"),
    ('o', 4.3, "o 2.15 2.45 2.15 2.45"),
    ('p', 4.0, "0 4.9 0 -2.2 ; o 2 2.45 2 2.45"),
    ('q', 4.0, "4 4.9 4 -2.2 ; o 2 2.45 2 2.45"),
    ('r', 2.1, "0 4.9 0 0 ; 0 3 a 1.7 3 1.7 1.9 180 75"),
    ('s', 3.2, "a 1.6 3.65 1.4 1.25 35 270 a 1.6 1.2 1.55 1.2 90 -145"),
    ('t', 2.3, "0.9 6.5 0.9 1.3 a 2.1 1.3 1.2 1.3 180 285 ; 0 4.9 2.3 4.9"),
    ('u', 3.7, "0 4.9 0 2 a 1.85 2 1.85 2 180 360 ; 3.7 4.9 3.7 0"),
    ('v', 3.9, "0 4.9 1.95 0 3.9 4.9"),
    ('w', 5.8, "0 4.9 1.45 0 2.9 4.5 4.35 0 5.8 4.9"),
    ('x', 3.6, "0 0 3.6 4.9 ; 0 4.9 3.6 0"),
    ('y', 3.9, "0 4.9 1.95 0 ; 3.9 4.9 1.07 -2.2"),
    ('z', 3.5, "0 4.9 3.5 4.9 0 0 3.5 0"),
    ('{', 1.8, "a 1.8 7.1 .9 .9 90 180 0.9 4 0 3.2 0.9 2.4 0.9 -0.6 a 1.8 -0.6 .9 .9 180 270"),
    ('|', 0.0, "0 8 0 -1.5"),
    ('}', 1.8, "a 0 7.1 .9 .9 90 0 0.9 4 1.8 3.2 0.9 2.4 0.9 -0.6 a 0 -0.6 .9 .9 0 -90"),
    ('~', 4.4, "a 1.1 3 1.1 .9 180 0 a 3.3 3 1.1 .9 180 360"),
    ('Σ', 4.4, "4.2 7 0 7 2.6 3.6 0 0 4.4 0"),
    ('µ', 3.7, "0 4.9 0 -2.2 ; 0 2 a 1.85 2 1.85 2 180 360 ; 3.7 4.9 3.7 0"),
    ('×', 3.4, "0 1 3.4 4.4 ; 0 4.4 3.4 1"),
    ('²', 2.2, "a 1.1 6.4 1 .9 165 -35 0.05 4.2 2.2 4.2"),
    ('·', 0.3, "o 0.15 3 .15 .15"),
];

/// What stands for a character that has no glyph.
const UNKNOWN: Glyph = ('\u{fffd}', 3.4, "0 0 0 7 3.4 7 3.4 0 0 0");

/// Lines that stand for a full turn of a curve; at the sizes of a label they cannot be seen.
const CHORDS: f32 = 32.0;

fn glyph(letter: char) -> &'static Glyph {
    GLYPHS.iter().find(|glyph| glyph.0 == letter).unwrap_or(&UNKNOWN)
}

/// How wide a text is at a size (px to the em).
pub(crate) fn width(text: &str, size: f32) -> f32 {
    let units: f32 = text.chars().map(|letter| glyph(letter).1 + GAP).sum();
    (units - GAP).max(0.0) * size / 10.0
}

/// The strokes of a text that begins at `x` on the baseline `y`.
pub(crate) fn strokes(text: &str, x: f32, y: f32, size: f32) -> Path {
    let unit = size / 10.0;
    let mut path = Path::default();
    let mut left = x;
    for letter in text.chars() {
        let (_, width, program) = glyph(letter);
        draw(program, &mut Pen { path: &mut path, left, base: y, unit, down: false });
        left += (width + GAP) * unit;
    }
    path
}

struct Pen<'a> {
    path: &'a mut Path,
    left: f32,
    base: f32,
    unit: f32,
    down: bool,
}

impl Pen<'_> {
    fn to(&mut self, x: f32, y: f32) {
        let point = [self.left + x * self.unit, self.base - y * self.unit];
        if self.down {
            self.path.line(point)
        } else {
            self.path.start(point)
        }
        self.down = true;
    }

    fn arc(&mut self, [cx, cy, rx, ry]: [f32; 4], from: f32, to: f32) {
        let chords = ((to - from).abs() / 360.0 * CHORDS).ceil().max(1.0) as usize;
        for chord in 0..=chords {
            let angle = (from + (to - from) * chord as f32 / chords as f32).to_radians();
            self.to(cx + rx * angle.cos(), cy + ry * angle.sin());
        }
    }
}

fn draw(program: &str, pen: &mut Pen<'_>) {
    let mut words = program.split_ascii_whitespace();
    while let Some(word) = words.next() {
        let mut next = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
        match word {
            ";" => pen.down = false,
            "o" => {
                pen.down = false;
                pen.arc([next(), next(), next(), next()], 0.0, 360.0);
                pen.down = false;
            }
            "a" => {
                let ellipse = [next(), next(), next(), next()];
                pen.arc(ellipse, next(), next());
            }
            x => {
                let x = x.parse().unwrap_or(0.0);
                pen.to(x, next());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_character_has_a_glyph_that_is_well_formed() {
        for letter in (' '..='~').chain(['Σ', 'µ', '×', '²', '·']) {
            let (found, width, program) = glyph(letter);
            assert_eq!(*found, letter);
            let (mut numbers, mut expected) = (0, 0);
            for word in program.split_ascii_whitespace() {
                match word {
                    ";" => {}
                    "o" => expected += 4,
                    "a" => expected += 6,
                    number => {
                        assert!(number.parse::<f32>().is_ok(), "{letter}: {number}");
                        numbers += 1;
                    }
                }
            }
            assert!(numbers >= expected && (numbers - expected) % 2 == 0, "{letter}");
            for [x, y] in strokes(&letter.to_string(), 0.0, 0.0, 10.0).points() {
                assert!((-0.7..=width + 0.7).contains(&x) && (-8.8..=3.4).contains(&y), "{letter}: {x} {y}");
            }
        }
    }

    #[test]
    fn width_grows_with_text_and_size() {
        assert!(width("ab", 10.0) > width("a", 10.0));
        assert_eq!(width("ab", 20.0), 2.0 * width("ab", 10.0));
        assert_eq!(width("", 20.0), 0.0);
    }
}
