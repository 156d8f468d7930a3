//! Figures of a page: one pair of axes, drawn as SVG.

use std::fmt::Write;
use throng_render::Axis;

/// A figure with axes.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// What is along x, with its unit.
    pub x: String,
    /// What is along y, with its unit.
    pub y: String,
    /// What is drawn, in this order.
    pub series: Vec<Series>,
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub struct Series {
    /// As the legend calls it.
    pub name: String,
    /// How it is drawn.
    pub mark: Mark,
    /// x and y. Of a band: its lower edge from left to right, then its upper edge back.
    pub points: Vec<[f64; 2]>,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Joined.
    Line,
    /// One by one.
    Points,
    /// A filled ring.
    Band,
}

/// px.
const SIZE: [f64; 2] = [560.0, 340.0];
/// Room for the axes: left, top, right, bottom, px.
const MARGIN: [f64; 4] = [58.0, 34.0, 14.0, 46.0];
/// A letter, about, px.
const WIDE: f64 = 6.4;
/// Told apart on paper and by those who see no red or green.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

impl Figure {
    /// Axes without anything.
    pub fn new(x: &str, y: &str) -> Figure {
        Figure { x: x.into(), y: y.into(), series: Vec::new() }
    }

    /// Draws points.
    pub fn with(mut self, name: &str, mark: Mark, points: impl IntoIterator<Item = [f64; 2]>) -> Figure {
        let finite = |point: &[f64; 2]| point.iter().all(|number| number.is_finite());
        let points = points.into_iter().filter(finite).collect();
        self.series.push(Series { name: name.into(), mark, points });
        self
    }

    /// As SVG.
    pub fn svg(&self) -> String {
        let axes = Axes::around(self.series.iter().flat_map(|series| &series.points));
        let mut svg = format!(
            "<svg viewBox=\"0 0 {} {}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" font-size=\"12\">\n{}",
            SIZE[0],
            SIZE[1],
            axes.svg(&self.x, &self.y)
        );
        for (index, series) in self.series.iter().enumerate() {
            svg += &series.svg(&axes, COLOURS[index % COLOURS.len()]);
        }
        svg + &self.legend() + "</svg>\n"
    }

    /// In a row above, where it hides nothing.
    fn legend(&self) -> String {
        let (mut svg, mut x) = (String::new(), MARGIN[0]);
        for (index, series) in self.series.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            // Writing to a string cannot fail.
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"10\" width=\"10\" height=\"10\" fill=\"{colour}\"/><text x=\"{}\" y=\"19\">{}</text>",
                x + 15.0,
                escaped(&series.name)
            );
            x += 32.0 + WIDE * series.name.chars().count() as f64;
        }
        svg
    }
}

impl Series {
    fn svg(&self, axes: &Axes, colour: &str) -> String {
        let places = self.points.iter().map(|&point| axes.place(point));
        let path = |end: &str| {
            let corners: Vec<String> = places.clone().map(|[x, y]| format!("{x:.1} {y:.1}")).collect();
            format!("M{}{end}", corners.join("L"))
        };
        match self.mark {
            _ if self.points.is_empty() => String::new(),
            Mark::Line => {
                format!("<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>\n", path(""))
            }
            Mark::Band => format!("<path d=\"{}\" fill=\"{colour}\" fill-opacity=\"0.18\"/>\n", path("Z")),
            Mark::Points => places
                .map(|[x, y]| format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" fill=\"{colour}\"/>\n"))
                .collect(),
        }
    }
}

/// Where numbers stand on the paper.
struct Axes {
    x: Axis,
    y: Axis,
}

impl Axes {
    fn around<'a>(points: impl Iterator<Item = &'a [f64; 2]> + Clone) -> Axes {
        Axes {
            x: Axis::over(points.clone().map(|point| point[0])),
            y: Axis::over(points.map(|point| point[1])),
        }
    }

    fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [left, top, right, bottom] = MARGIN;
        [
            left + self.x.part(x) * (SIZE[0] - left - right),
            SIZE[1] - bottom - self.y.part(y) * (SIZE[1] - top - bottom),
        ]
    }

    fn svg(&self, x: &str, y: &str) -> String {
        let [[left, bottom], [right, top]] =
            [[self.x.low(), self.y.low()], [self.x.high(), self.y.high()]].map(|corner| self.place(corner));
        let mut svg = String::new();
        for tick in self.x.ticks() {
            let [at, _] = self.place([tick, self.y.low()]);
            let label = self.x.label(tick);
            let _ = writeln!(
                svg,
                "<path d=\"M{at:.1} {bottom:.1}V{top:.1}\" stroke=\"#e4e4e4\"/><text x=\"{at:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">{label}</text>",
                bottom + 17.0
            );
        }
        for tick in self.y.ticks() {
            let [_, at] = self.place([self.x.low(), tick]);
            let label = self.y.label(tick);
            let _ = writeln!(
                svg,
                "<path d=\"M{left:.1} {at:.1}H{right:.1}\" stroke=\"#e4e4e4\"/><text x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{label}</text>",
                left - 7.0,
                at + 4.0
            );
        }
        let (middle_x, middle_y) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\" fill=\"none\" stroke=\"#333\"/>\
             <text x=\"{middle_x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate(14 {middle_y:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            SIZE[1] - 8.0,
            escaped(x),
            escaped(y)
        );
        svg
    }
}

/// A text as it may stand in a page.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_are_left_out_and_names_are_escaped() {
        let figure = Figure::new("a < b", "y").with("<name>", Mark::Points, [[1.0, f64::NAN], [1.0, 2.0]]);
        let svg = figure.svg();
        assert_eq!(svg.matches("<circle").count(), 1);
        assert!(svg.contains("a &lt; b") && svg.contains("&lt;name&gt;") && !svg.contains("NaN"));
        assert!(Figure::new("x", "y").svg().contains("</svg>"));
    }
}
