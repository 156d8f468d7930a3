//! Title, scale bar and key.

use crate::colour::{self, Colour, Ramp};
use crate::layout::{MARGIN, Stage, round_below};
use crate::page::{Anchor, Path, Shape};
use crate::trails::{Mark, cross};
use crate::{Kind, bodies, feet, font};

/// What has to be explained.
pub(crate) struct Key {
    pub(crate) bar: Option<Bar>,
    pub(crate) cohorts: bool,
    pub(crate) marks: Vec<Mark>,
}

/// A ramp from 0 to a value.
pub(crate) struct Bar {
    pub(crate) ramp: Ramp,
    pub(crate) top: f64,
    pub(crate) label: &'static str,
}

/// Sizes in design pixels.
pub(crate) const TITLE: f32 = 26.0;
const LABEL: f32 = 15.0;

pub(crate) fn draw(stage: &mut Stage<'_>, key: &Key) {
    titles(stage);
    let taken = scale_bar(stage);
    let mut legend = Legend::new(stage, taken);
    if let Some(bar) = &key.bar {
        legend.bar(bar);
    }
    if key.cohorts {
        legend.cohorts();
    }
    legend.marks(&key.marks);
}

fn titles(stage: &mut Stage<'_>) {
    let unit = stage.unit;
    let room = stage.page.width as f32 - 2.0 * MARGIN * unit;
    let title = fitted(&stage.run.info.name, TITLE * unit, room);
    let line = subtitle(stage);
    let (ink, faint) = (stage.theme.ink, stage.theme.faint_ink);
    stage.push(text([MARGIN * unit, 50.0 * unit], TITLE * unit, true, Anchor::Start, ink, title));
    stage.push(text([MARGIN * unit, 76.0 * unit], LABEL * unit, false, Anchor::Start, faint, line));
}

fn subtitle(stage: &Stage<'_>) -> String {
    let run = stage.run;
    let agents = run.agents();
    let people = if agents == 1 { "1 agent".to_owned() } else { format!("{} agents", grouped(agents)) };
    let mut line = format!("{people} · {} s · {} frames/s", short(run.duration()), short(run.fps));
    match (stage.options.kind, stage.options.at) {
        (Kind::Trails, Some(_)) if let Some(pace) = stage.pace => {
            if pace != 1.0 {
                line.push_str(&format!(" · {} times as fast", short(pace)));
            }
        }
        (Kind::Trails, Some(time)) => {
            let shown = f64::from(bodies::moment(stage, time) - stage.frames.0) / run.fps;
            line.push_str(&format!(" · at {} s", short(shown)));
        }
        (Kind::Trails, None) => {}
        (Kind::Density, _) => line.push_str(" · density, mean over the run"),
        (Kind::Speed, _) => line.push_str(" · speed, mean over the run"),
    }
    line
}

/// Draws the bar and says where it ends.
fn scale_bar(stage: &mut Stage<'_>) -> f32 {
    let unit = stage.unit;
    let longest = 0.16 * stage.page.width as f32 / stage.view.scale;
    let metres = round_below(f64::from(longest));
    let length = metres as f32 * stage.view.scale;
    let (left, y) = (MARGIN * unit, baseline(stage) - 5.0 * unit);
    let tick = 5.0 * unit;
    let mut path = Path::default();
    path.start([left, y - tick]);
    path.line([left, y]);
    path.line([left + length, y]);
    path.line([left + length, y - tick]);
    let ink = stage.theme.ink;
    stage.push(Shape::Line { path, colour: ink, width: 1.6 * unit, round: true });
    let label = if metres >= 1000.0 { format!("{} km", metres / 1000.0) } else { format!("{metres} m") };
    let end = left + length + 10.0 * unit + font::width(&label, LABEL * unit);
    stage.push(text(
        [left + length + 10.0 * unit, baseline(stage)],
        LABEL * unit,
        false,
        Anchor::Start,
        ink,
        label,
    ));
    end
}

fn baseline(stage: &Stage<'_>) -> f32 {
    stage.page.height as f32 - 34.0 * stage.unit
}

/// Entries in a row at the foot of the page, laid from the right to the left until the scale bar is met.
struct Legend<'s, 'a> {
    stage: &'s mut Stage<'a>,
    right: f32,
    left_end: f32,
    unit: f32,
}

impl<'s, 'a> Legend<'s, 'a> {
    fn new(stage: &'s mut Stage<'a>, taken: f32) -> Self {
        let unit = stage.unit;
        let right = stage.page.width as f32 - MARGIN * unit;
        Legend { stage, right, left_end: taken + 24.0 * unit, unit }
    }

    fn bar(&mut self, bar: &Bar) {
        const STEPS: u32 = 128;
        let (unit, size) = (self.unit, [260.0 * self.unit, 12.0 * self.unit]);
        let base = baseline(self.stage);
        let rgba = (0..STEPS)
            .flat_map(|step| {
                let [r, g, b] = colour::ramp(bar.ramp, step as f32 / (STEPS - 1) as f32).rgb;
                [r, g, b, 255]
            })
            .collect();
        let at = [self.right - size[0], base - 15.0 * unit];
        self.stage.push(Shape::Image { at, size, columns: STEPS, rows: 1, rgba, smooth: false });
        let (ink, faint) = (self.stage.theme.ink, self.stage.theme.faint_ink);
        let path = Path::rectangle(at, size);
        self.stage.push(Shape::Line { path, colour: faint, width: 0.8 * unit, round: false });
        for (share, anchor) in [(0.0, Anchor::Start), (0.5, Anchor::Middle), (1.0, Anchor::End)] {
            let place = [at[0] + share as f32 * size[0], base + 14.0 * unit];
            self.stage.push(text(place, 13.0 * unit, false, anchor, faint, short(bar.top * share)));
        }
        let place = [at[0] - 12.0 * unit, base - 4.0 * unit];
        self.stage.push(text(place, LABEL * unit, false, Anchor::End, ink, bar.label.to_owned()));
        self.right = place[0] - font::width(bar.label, LABEL * unit) - 28.0 * unit;
    }

    /// Cohorts in their order; those that find no room are only counted.
    fn cohorts(&mut self) {
        let names: Vec<String> =
            self.stage.run.info.cohorts.iter().map(|cohort| cohort.name.clone()).collect();
        let swatch = 22.0 * self.unit;
        let gap = 24.0 * self.unit;
        let width = |name: &str, size: f32| swatch + font::width(name, size) + gap;
        let size = LABEL * self.unit;
        let room = self.right - self.left_end;
        let mut shown = names.len();
        let total = |shown: usize| names[..shown].iter().map(|name| width(name, size)).sum::<f32>();
        while shown > 0
            && total(shown) + if shown < names.len() { width("+ 99 more", size) } else { 0.0 } > room
        {
            shown -= 1;
        }
        if shown < names.len() {
            let more = format!("+ {} more", names.len() - shown);
            self.entry(&more, gap);
        }
        for place in (0..shown).rev() {
            let left = self.entry(&names[place], gap) - swatch;
            let colour = colour::cohort(place, self.stage.theme.dark);
            let centre = [left + 9.0 * self.unit, baseline(self.stage) - 5.0 * self.unit];
            self.stage.push(Shape::Disc { centre, radius: 6.0 * self.unit, fill: Some(colour), rim: None });
            self.right -= swatch;
        }
    }

    fn marks(&mut self, marks: &[Mark]) {
        let (unit, gap, sign) = (self.unit, 18.0 * self.unit, 18.0 * self.unit);
        for mark in marks.iter().rev() {
            let name = match mark {
                Mark::Start => "start",
                Mark::End => "end",
                Mark::Goal => "goal",
                Mark::Feet => "left and right foot",
            };
            if self.right - font::width(name, LABEL * unit) - sign < self.left_end {
                return;
            }
            let left = self.entry(name, gap) - sign;
            let centre = [left + 7.0 * unit, baseline(self.stage) - 5.0 * unit];
            self.sign(*mark, centre);
            self.right -= sign;
        }
    }

    fn sign(&mut self, mark: Mark, centre: [f32; 2]) {
        let (unit, ink) = (self.unit, self.stage.theme.faint_ink);
        let ring = |fill, rim| Shape::Disc { centre, radius: 4.5 * unit, fill, rim };
        match mark {
            Mark::Start => self.stage.push(ring(None, Some((ink, 1.4 * unit)))),
            Mark::End => self.stage.push(ring(Some(ink), None)),
            Mark::Goal => cross(self.stage, centre, 3.6 * unit, ink),
            Mark::Feet => {
                let [x, y] = centre;
                let foot = |x: f32, left| feet::sole([x, y].into(), [0.0, -1.0].into(), 12.0 * unit, left);
                self.stage.push(Shape::Area { path: foot(x - 4.0 * unit, true), fill: ink });
                let path = foot(x + 4.0 * unit, false);
                self.stage.push(Shape::Line { path, colour: ink, width: unit, round: true });
            }
        }
    }

    /// Writes a label at the right end of what is free, and says where it begins.
    fn entry(&mut self, label: &str, gap: f32) -> f32 {
        let size = LABEL * self.unit;
        let left = self.right - font::width(label, size);
        let place = [left, baseline(self.stage)];
        let ink = self.stage.theme.ink;
        self.stage.push(text(place, size, false, Anchor::Start, ink, label.to_owned()));
        self.right = left - gap;
        left
    }
}

fn text(at: [f32; 2], size: f32, bold: bool, anchor: Anchor, colour: Colour, text: String) -> Shape {
    Shape::Text { at, size, bold, anchor, colour, text }
}

/// A number with at most two decimals, and none that say nothing.
fn short(number: f64) -> String {
    let decimals = if number.abs() >= 100.0 {
        0
    } else if number.abs() >= 10.0 {
        1
    } else {
        2
    };
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// 12345 as `12,345`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A text cut to a width, with dots where something was cut.
fn fitted(text: &str, size: f32, room: f32) -> String {
    if font::width(text, size) <= room {
        return text.to_owned();
    }
    let mut cut = text.to_owned();
    while !cut.is_empty() && font::width(&format!("{cut}..."), size) > room {
        cut.pop();
    }
    cut + "..."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 0.5, 1.25, 12.0, 12.04, 99.96, 1234.5].map(short);
        assert_eq!(texts, ["0", "0.5", "1.25", "12", "12", "100", "1234"]);
        assert_eq!([7, 1234, 1_000_000].map(grouped), ["7", "1,234", "1,000,000"]);
    }

    #[test]
    fn long_titles_are_cut() {
        let cut = fitted(&"long ".repeat(100), 20.0, 300.0);
        assert!(cut.ends_with("...") && font::width(&cut, 20.0) <= 300.0);
    }
}
