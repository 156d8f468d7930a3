//! Colours: a palette that the colour-blind can tell apart, and ramps that are even to the eye (Ottosson's OKLab, 2020).

/// Red, green, blue, and how opaque.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour {
    pub(crate) rgb: [u8; 3],
    pub(crate) alpha: f32,
}

impl Colour {
    /// Of texts and marks.
    pub const INK: Colour = Theme::LIGHT.ink;
    /// Of what should not catch the eye.
    pub const FAINT: Colour = Theme::LIGHT.faint_ink;
    /// Where one can walk.
    pub const FLOOR: Colour = Theme::LIGHT.floor;
    /// Of obstacles.
    pub const WALL: Colour = Theme::LIGHT.wall;

    /// From `0xrrggbb`.
    pub const fn hex(code: u32) -> Colour {
        Colour { rgb: [(code >> 16) as u8, (code >> 8) as u8, code as u8], alpha: 1.0 }
    }

    /// The colour of a cohort; after seven they return darker.
    pub fn of_cohort(place: usize) -> Colour {
        cohort(place, false)
    }

    /// A colour of the wheel; all are equally light.
    pub fn of_turn(turn: f32) -> Colour {
        wheel(turn, false)
    }

    /// Of a density, from 0 to 1 as the highest that is shown.
    pub fn of_density(share: f32) -> Colour {
        ramp(AREAS, share)
    }

    /// The same, so opaque: 0 to 1.
    pub fn with_alpha(self, alpha: f32) -> Colour {
        Colour { alpha, ..self }
    }

    /// A mixture: `share` of `other`.
    pub fn mixed(self, other: Colour, share: f32) -> Colour {
        let mix = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * share).round() as u8;
        let rgb = std::array::from_fn(|channel| mix(self.rgb[channel], other.rgb[channel]));
        Colour { rgb, alpha: self.alpha }
    }
}

/// Okabe and Ito's colours without the yellow, which is lost on white paper.
const COHORTS: [Colour; 7] = [
    Colour::hex(0x0072b2),
    Colour::hex(0xd55e00),
    Colour::hex(0x009e73),
    Colour::hex(0xcc79a7),
    Colour::hex(0xe69f00),
    Colour::hex(0x56b4e9),
    Colour::hex(0x7a5c3e),
];

/// A cohort's colour; after seven they return darker.
pub(crate) fn cohort(place: usize, dark: bool) -> Colour {
    let shade = (place / COHORTS.len()) as f32 * 0.3;
    let colour = COHORTS[place % COHORTS.len()].mixed(Colour::hex(0x000000), shade.min(0.6));
    if dark { colour.mixed(Colour::hex(0xffffff), 0.2) } else { colour }
}

/// A colour of the wheel; all are equally light.
pub(crate) fn wheel(turn: f32, dark: bool) -> Colour {
    let lightness = if dark { 0.74 } else { 0.63 };
    let angle = turn * std::f32::consts::TAU;
    from_oklab([lightness, 0.15 * angle.cos(), 0.15 * angle.sin()])
}

/// Ends and middle stations of a ramp, in OKLab.
pub(crate) type Ramp = &'static [[f32; 3]];

/// For lines on light paper: dark blue, violet, red, orange; never lighter than paper allows.
pub(crate) const LINES: Ramp =
    &[[0.36, -0.01, -0.16], [0.48, 0.12, -0.11], [0.60, 0.19, 0.04], [0.72, 0.09, 0.13], [0.82, 0.01, 0.15]];

/// For areas on light paper: almost white to deep blue by way of green.
pub(crate) const AREAS: Ramp = &[
    [0.97, -0.01, 0.02],
    [0.90, -0.06, 0.06],
    [0.77, -0.10, 0.02],
    [0.60, -0.07, -0.07],
    [0.42, -0.01, -0.13],
    [0.27, 0.02, -0.10],
];

/// For areas on dark paper: the other way round, from night to yellow.
pub(crate) const AREAS_DARK: Ramp = &[
    [0.24, 0.01, -0.05],
    [0.36, 0.03, -0.13],
    [0.50, 0.10, -0.08],
    [0.64, 0.15, 0.03],
    [0.79, 0.05, 0.13],
    [0.94, -0.03, 0.13],
];

/// A ramp's colour at 0 to 1.
pub(crate) fn ramp(ramp: Ramp, at: f32) -> Colour {
    let along = at.clamp(0.0, 1.0) * (ramp.len() - 1) as f32;
    let station = (along as usize).min(ramp.len() - 2);
    let share = along - station as f32;
    from_oklab(std::array::from_fn(|axis| {
        ramp[station][axis] + (ramp[station + 1][axis] - ramp[station][axis]) * share
    }))
}

fn from_oklab([l, a, b]: [f32; 3]) -> Colour {
    let cube = |v: f32| v * v * v;
    let long = cube(l + 0.396_337_78 * a + 0.215_803_76 * b);
    let medium = cube(l - 0.105_561_346 * a - 0.063_854_17 * b);
    let short = cube(l - 0.089_484_18 * a - 1.291_485_5 * b);
    let linear = [
        4.076_741_7 * long - 3.307_711_6 * medium + 0.230_969_94 * short,
        -1.268_438 * long + 2.609_757_4 * medium - 0.341_319_38 * short,
        -0.004_196_086_3 * long - 0.703_418_6 * medium + 1.707_614_7 * short,
    ];
    Colour { rgb: linear.map(gamma), alpha: 1.0 }
}

fn gamma(linear: f32) -> u8 {
    let linear = linear.clamp(0.0, 1.0);
    let value = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    (value * 255.0).round() as u8
}

/// Everything but the data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    pub(crate) dark: bool,
    pub(crate) paper: Colour,
    pub(crate) floor: Colour,
    pub(crate) wall: Colour,
    pub(crate) wall_edge: Colour,
    /// Where there is no ground.
    pub(crate) gap: Colour,
    pub(crate) gap_edge: Colour,
    pub(crate) ink: Colour,
    pub(crate) faint_ink: Colour,
}

impl Theme {
    pub(crate) const LIGHT: Theme = Theme {
        dark: false,
        paper: Colour::hex(0xfafaf8),
        floor: Colour::hex(0xffffff),
        wall: Colour::hex(0xd3d5d8),
        wall_edge: Colour::hex(0x84888f),
        gap: Colour::hex(0xd9e8f2),
        gap_edge: Colour::hex(0xa9c4d6),
        ink: Colour::hex(0x22252a),
        faint_ink: Colour::hex(0x6b7078),
    };

    pub(crate) const DARK: Theme = Theme {
        dark: true,
        paper: Colour::hex(0x14171c),
        floor: Colour::hex(0x1a1e24),
        wall: Colour::hex(0x3a4049),
        wall_edge: Colour::hex(0x6d7580),
        gap: Colour::hex(0x17293a),
        gap_edge: Colour::hex(0x35526b),
        ink: Colour::hex(0xe8eaed),
        faint_ink: Colour::hex(0x9aa1ab),
    };

    pub(crate) fn areas(&self) -> Ramp {
        if self.dark { AREAS_DARK } else { AREAS }
    }

    /// For areas whose lowest value is not emptiness: it must differ from the floor.
    pub(crate) fn speeds(&self) -> Ramp {
        if self.dark { &AREAS_DARK[1..] } else { LINES }
    }

    pub(crate) fn lines(&self) -> Ramp {
        if self.dark { &AREAS_DARK[1..] } else { LINES }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oklab_white_and_grey_are_neutral() {
        assert_eq!(from_oklab([1.0, 0.0, 0.0]).rgb, [255; 3]);
        let [r, g, b] = from_oklab([0.6, 0.0, 0.0]).rgb;
        assert!(r.abs_diff(g) <= 1 && g.abs_diff(b) <= 1);
    }

    #[test]
    fn cohorts_stay_apart() {
        for a in 0..14 {
            for b in 0..a {
                assert_ne!(cohort(a, false), cohort(b, false));
            }
        }
    }
}
