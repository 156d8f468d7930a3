//! Plans: who stands where at the start of a scenario, and where they want to be.

use glam::DVec2;
use std::fmt::Write;
use throng::builtin;
use throng::map::boundary;
use throng::scenario::{Goal, Overrides, Scenario};

/// Of the longer side, px.
const SIDE: f64 = 560.0;
/// Below all, for the scale, px.
const STRIP: f64 = 20.0;
/// Around all, as a part of the longer side.
const MARGIN: f64 = 0.02;
/// One colour for each cohort.
const COLOURS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];
/// What lies outside the walls.
const SOLID: &str = "#c9c9c9";

/// The plan of a built-in scenario as SVG; none where it cannot be read.
pub fn of(name: &str, changes: &Overrides) -> Option<String> {
    Some(svg(&builtin::find(name)?.open_with(&Overrides { seed: Some(1), ..changes.clone() }).ok()?))
}

/// From metres to pixels: y upwards.
struct Sheet {
    low: DVec2,
    high: DVec2,
    scale: f64,
}

impl Sheet {
    /// Wide enough for some points.
    fn around(points: impl Iterator<Item = DVec2>) -> Sheet {
        let (low, high) = points.fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), point| {
            (low.min(point), high.max(point))
        });
        let side = (high - low).max_element().max(1.0);
        let margin = DVec2::splat(MARGIN * side);
        Sheet { low: low - margin, high: high + margin, scale: SIDE / side }
    }

    fn size(&self) -> DVec2 {
        (self.high - self.low) * self.scale
    }

    fn place(&self, at: DVec2) -> DVec2 {
        DVec2::new(at.x - self.low.x, self.high.y - at.y) * self.scale
    }

    fn ring(&self, ring: &[DVec2]) -> String {
        let mut path = String::new();
        for (index, &corner) in ring.iter().enumerate() {
            let at = self.place(corner);
            let _ = write!(path, "{}{:.1} {:.1} ", if index == 0 { 'M' } else { 'L' }, at.x, at.y);
        }
        path + "Z "
    }
}

fn svg(scenario: &Scenario) -> String {
    let walls = boundary(&scenario.map_for_bodies());
    let agents = || scenario.cohorts.iter().flat_map(|cohort| &cohort.agents);
    let goals =
        || agents().filter_map(|agent| if let Goal::Point(goal) = agent.goal { Some(goal) } else { None });
    let areas = || scenario.areas.iter().chain(scenario.exits.iter().map(|exit| &exit.area));
    let corners = walls.rings.iter().flatten().copied().chain(walls.walls.iter().flatten().copied());
    let people = agents().map(|agent| agent.position).chain(goals());
    let sheet = Sheet::around(corners.chain(people).chain(areas().flatten().copied()));
    let size = sheet.size();
    let ground = if walls.bounded { SOLID } else { "#fff" };
    let mut svg = format!(
        "<svg class=\"plan\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0} {2:.0}\" width=\"{0:.0}\" height=\"{2:.0}\">\
         <rect width=\"{0:.0}\" height=\"{1:.0}\" fill=\"{ground}\"/>",
        size.x,
        size.y,
        size.y + STRIP
    );
    let rings: String = walls.rings.iter().map(|ring| sheet.ring(ring)).collect();
    let free = if walls.bounded { "#fff" } else { SOLID };
    let _ = write!(
        svg,
        "<path d=\"{rings}\" fill=\"{free}\" fill-rule=\"evenodd\" stroke=\"#444\" stroke-width=\"1\"/>"
    );
    for area in areas() {
        let _ = write!(svg, "<path d=\"{}\" fill=\"#e69f00\" fill-opacity=\"0.35\"/>", sheet.ring(area));
    }
    for [a, b] in walls.walls.iter().map(|wall| wall.map(|end| sheet.place(end))) {
        let _ = write!(
            svg,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#444\"/>",
            a.x, a.y, b.x, b.y
        );
    }
    for (cohort, colour) in scenario.cohorts.iter().zip(COLOURS.into_iter().cycle()) {
        for agent in &cohort.agents {
            let (at, radius) = (sheet.place(agent.position), (agent.radius * sheet.scale).max(1.0));
            let _ = write!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\" fill=\"{colour}\"/>",
                at.x, at.y
            );
        }
    }
    let metre = metres(size.x / sheet.scale);
    let _ = writeln!(
        svg,
        "<path d=\"M6 {0:.1} h{1:.1}\" stroke=\"#000\" stroke-width=\"2\"/><text x=\"{3:.1}\" y=\"{2:.1}\" font-size=\"11\">{metre} m</text></svg>",
        size.y + 8.0,
        metre * sheet.scale,
        size.y + 12.0,
        metre * sheet.scale + 12.0
    );
    svg
}

/// A round length for the scale: about a sixth of the width, m.
fn metres(width: f64) -> f64 {
    let rough = (width / 6.0).max(1e-3);
    let ten = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|digit| digit * ten).filter(|length| *length <= rough).fold(ten, f64::max)
}
