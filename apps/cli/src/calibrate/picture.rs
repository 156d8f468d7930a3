//! The misfit of all points that were tried, over each value.

use super::{Fit, Range};
use std::fmt::Write;

/// Sides of a panel and its margin, pixels.
const SIDE: f64 = 360.0;
const MARGIN: f64 = 60.0;

/// A panel for each value; the fitted place is marked, with its standard error as a bar.
pub fn svg(ranges: &[Range], fit: &Fit) -> String {
    let (width, height) = ((SIDE + MARGIN) * ranges.len() as f64 + MARGIN, SIDE + 2.0 * MARGIN);
    let most = fit.tried.iter().map(|(_, misfit)| *misfit).fold(f64::MIN_POSITIVE, f64::max);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"13\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
    );
    for (value, Range { key, low, high }) in ranges.iter().enumerate() {
        let left = MARGIN + (SIDE + MARGIN) * value as f64;
        let x = |part: f64| left + SIDE * part;
        let y = |misfit: f64| MARGIN + SIDE * (1.0 - misfit / most);
        let bottom = MARGIN + SIDE;
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<rect x=\"{left}\" y=\"{MARGIN}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"#999\"/>\
             <text x=\"{left}\" y=\"{0}\">{low}</text><text x=\"{1}\" y=\"{0}\" text-anchor=\"end\">{high}</text>\
             <text x=\"{2}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\
             <text x=\"{left}\" y=\"{5}\">misfit, up to {most:.3}</text>",
            bottom + 18.0,
            x(1.0),
            x(0.5),
            bottom + 38.0,
            key.replace('&', "&amp;").replace('<', "&lt;"),
            MARGIN - 10.0,
        );
        for (place, misfit) in &fit.tried {
            let _ = write!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"#4477aa\" fill-opacity=\"0.6\"/>",
                x(place[value]),
                y(*misfit)
            );
        }
        let error = fit.errors.as_ref().map_or(0.0, |errors| errors[value] / (high - low));
        let [from, to] = [-error, error].map(|error| x((fit.place[value] + error).clamp(0.0, 1.0)));
        let (at, up) = (x(fit.place[value]), y(fit.misfit));
        let _ = write!(
            svg,
            "<line x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{up:.1}\" y2=\"{up:.1}\" stroke=\"#ee6677\" stroke-width=\"2\"/>\
             <circle cx=\"{at:.1}\" cy=\"{up:.1}\" r=\"5\" fill=\"#ee6677\"/>"
        );
    }
    svg + "</svg>\n"
}
