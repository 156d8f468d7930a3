//! Random scenario files: valid ones, nearly valid ones, and such as no user would write.

use super::draws::Draws;
use std::fmt::Write;
use throng::catalog::{self, Stage};
use throng::params::{Kind, Value};

/// The most agents of one case.
const MOST_AGENTS: usize = 30;

/// What stands in the place of a number where a file is hostile.
const GARBAGE: &[&str] = &[
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "-0.0",
    "1e300",
    "-1e300",
    "1e-300",
    "5e-324",
    "1e9",
    "-1e9",
    "1e10",
    "1e-12",
    "18446744073709551615",
    "9223372036854775808",
    "true",
    "\"x\"",
    "[]",
    "{}",
    "[[0, 0]]",
    "{ uniform = [2, 1] }",
    "{ normal = [1, 1e300] }",
    "1979-05-27",
    "\"\"",
];

/// A scenario file in the making.
struct Writer<'d, 'a> {
    draws: &'d mut Draws<'a>,
    text: String,
    /// The chance that a number is replaced by garbage.
    garbage: f64,
    /// Size of the place, m.
    scale: f64,
    /// Its middle.
    middle: [f64; 2],
    /// Points that were written before: later ones fall on them, or between them.
    pool: Vec<[f64; 2]>,
    cohorts: usize,
    /// Obstacles that are there, by name.
    named: Vec<String>,
}

/// Writes a scenario file.
pub fn scenario(draws: &mut Draws<'_>) -> String {
    let garbage = draws.pick(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.004, 0.01, 0.05]);
    let scale = draws.pick(&[2.0, 5.0, 10.0, 10.0, 20.0, 50.0, 0.05, 1e3, 1e6, 9e8]);
    let far = draws.pick(&[0.0, 0.0, 0.0, 0.0, 1e4, 1e6, 5e7]);
    let middle = [draws.uniform(-far, far), draws.uniform(-far, far)];
    let mut writer = Writer {
        draws,
        text: String::new(),
        garbage,
        scale,
        middle,
        pool: Vec::new(),
        cohorts: 0,
        named: Vec::new(),
    };
    writer.head();
    writer.params(false);
    writer.map();
    writer.agents();
    writer.movers();
    writer.events();
    writer.text
}

impl Writer<'_, '_> {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        self.text.write_fmt(line).unwrap();
        self.text.push('\n');
    }

    fn or_garbage(&mut self, value: String) -> String {
        if self.garbage > 0.0 && self.draws.chance(self.garbage) {
            self.draws.pick(GARBAGE).into()
        } else {
            value
        }
    }

    /// A number between two positive ends, of any magnitude, with a liking for the ends.
    fn number(&mut self, low: f64, high: f64) -> String {
        let value = match self.draws.below(12) {
            0 => low,
            1 => high,
            2..=5 => self.draws.magnitude(low.max(1e-9), high.max(1e-9)),
            _ => self.draws.uniform(low, high),
        };
        self.or_garbage(format!("{value:?}"))
    }

    /// A number that people would write, and rarely one that they would not.
    fn usual(&mut self, usual: [f64; 2], widest: [f64; 2]) -> String {
        let [low, high] = if self.draws.chance(0.9) { usual } else { widest };
        if self.draws.chance(0.06) {
            let (a, b) = (self.draws.uniform(low, high), self.draws.uniform(low, high));
            return self.or_garbage(format!("{{ uniform = [{:?}, {:?}] }}", a.min(b), a.max(b)));
        }
        self.number(low, high)
    }

    fn head(&mut self) {
        self.text += "format = 1\n";
        let dt = match self.draws.below(8) {
            0 => self.number(1e-6, 60.0),
            1 => self.number(1.0, 60.0),
            _ => self.number(0.01, 0.5),
        };
        let until = self.number(0.0, 1e9);
        let seed = self.draws.below(1 << 20);
        self.line(format_args!("seed = {seed}\ndt = {dt}\nuntil = {until}"));
        let (microscale, motion) = (self.model(Stage::Microscale), self.model(Stage::Motion));
        let mut macroscale = self.model(Stage::Macroscale);
        // A map of random walls takes a hundred times as long as the rest of a case.
        if macroscale == "map-field" && !self.draws.chance(0.1) {
            macroscale = "straight";
        }
        self.line(format_args!(
            "[pipeline]\nmacroscale = \"{macroscale}\"\nmicroscale = \"{microscale}\"\nmotion = \"{motion}\""
        ));
        if self.draws.chance(0.4) {
            let mesoscale = self.model(Stage::Mesoscale);
            self.line(format_args!("mesoscale = [\"{mesoscale}\"]"));
        }
        if self.garbage > 0.0 && self.draws.chance(0.1) {
            self.text += self.draws.pick(&[
                "unknown = 3\n",
                "[expect]\narrived = 1\n",
                "motion = 3\n",
                "[[]]\n",
                "a.b = 1\n",
            ]);
        }
    }

    fn model(&mut self, stage: Stage) -> &'static str {
        if self.garbage > 0.0 && self.draws.chance(self.garbage) {
            return self.draws.pick(&["", "orka", "ORCA", "none "]);
        }
        self.draws.pick(&catalog::names(stage))
    }

    /// Values of parameters, near their defaults, anywhere within their limits and at the ends.
    fn params(&mut self, in_cohort: bool) {
        if !self.draws.chance(0.4) {
            return;
        }
        for block in catalog::blocks() {
            if !self.draws.chance(0.4) {
                continue;
            }
            let mut fields = Vec::new();
            for field in block.fields {
                if !self.draws.chance(0.4) {
                    continue;
                }
                let (low, high) = (field.limit.low.max(-1e6), field.limit.high.min(1e6));
                let value = match field.kind {
                    Kind::Choice(names) => format!("\"{}\"", names[self.draws.below(names.len())]),
                    Kind::Flag => self.draws.chance(0.5).to_string(),
                    Kind::Whole => {
                        format!("{:.0}", self.draws.uniform(low, high.min(80.0) + 1.0).floor().min(high))
                    }
                    Kind::Drawn if self.draws.chance(0.3) => {
                        let (a, b) = (self.draws.uniform(low, high), self.draws.uniform(low, high));
                        match self.draws.below(3) {
                            0 => format!("{{ uniform = [{}, {}] }}", a.min(b), a.max(b)),
                            1 => format!("{{ normal = [{a}, 1.0], min = {}, max = {} }}", a.min(b), a.max(b)),
                            _ => format!("{{ uniform = [{a}, {b}] }}"),
                        }
                    }
                    Kind::Real | Kind::Drawn if self.draws.chance(0.6) => {
                        let default = if let Value::Number(number) = field.default { number } else { 1.0 };
                        (default * self.draws.magnitude(0.1, 10.0)).clamp(low, high).to_string()
                    }
                    Kind::Real | Kind::Drawn => {
                        let smallest = if field.limit.low_included { low } else { low + 1e-6 };
                        self.number(smallest, high)
                    }
                };
                let value = self.or_garbage(value);
                fields.push(format!("{} = {value}", field.name));
            }
            if in_cohort {
                self.line(format_args!("params.{} = {{ {} }}", block.name, fields.join(", ")));
            } else {
                self.line(format_args!("[params.{}]\n{}", block.name, fields.join("\n")));
            }
        }
    }

    /// A place: anywhere, on a lattice, or on or between places that were written before.
    fn place(&mut self) -> [f64; 2] {
        let old = |writer: &mut Self| writer.draws.pick(&writer.pool.clone());
        let from_pool = if self.pool.is_empty() { 0 } else { self.draws.below(12) };
        let point = match from_pool {
            1 => old(self),
            2 => {
                let (a, b, part) = (old(self), old(self), self.draws.pick(&[0.5, 0.25, 0.999]));
                [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part]
            }
            3 => {
                let (near, off) = (old(self), self.draws.pick(&[1e-9, 1e-6, 1e-3, 0.1, 0.3]));
                [near[0] + self.draws.uniform(-off, off), near[1] + self.draws.uniform(-off, off)]
            }
            4..=6 => [0, 1]
                .map(|axis| self.middle[axis] + (self.draws.uniform(-4.0, 5.0).floor() / 4.0) * self.scale),
            _ => [0, 1].map(|axis| self.middle[axis] + self.draws.uniform(-1.0, 1.0) * self.scale),
        };
        self.pool.push(point);
        point
    }

    fn point(&mut self) -> String {
        let [x, y] = self.place();
        let (x, y) = (self.or_garbage(format!("{x:?}")), self.or_garbage(format!("{y:?}")));
        format!("[{x}, {y}]")
    }

    fn points(&mut self, count: usize) -> String {
        let points: Vec<String> = (0..count).map(|_| self.point()).collect();
        format!("[{}]", points.join(", "))
    }

    /// A small polygon, a large one, or something that only looks like one.
    fn polygon(&mut self) -> String {
        let corners = self.draws.pick(&[3, 4, 4, 5, 8, 12, 1, 2]);
        if corners < 3 || self.draws.chance(0.3) {
            return self.points(corners);
        }
        let [x, y] = self.place();
        let size = self.scale * self.draws.magnitude(1e-4, 0.5);
        let turn = self.draws.uniform(0.0, std::f64::consts::TAU);
        let winding = self.draws.pick(&[1.0, -1.0]);
        let ring: Vec<String> = (0..corners)
            .map(|corner| {
                let angle = turn + winding * std::f64::consts::TAU * corner as f64 / corners as f64;
                let reach = size * self.draws.pick(&[1.0, 1.0, 0.3]);
                let point = [x + reach * angle.cos(), y + reach * angle.sin()];
                self.pool.push(point);
                format!("[{:?}, {:?}]", point[0], point[1])
            })
            .collect();
        format!("[{}]", ring.join(", "))
    }

    /// A polygon that is nearly always one.
    fn area(&mut self) -> String {
        if self.draws.chance(0.05) {
            return self.polygon();
        }
        let [x, y] = self.place();
        let (w, h) = (self.scale * self.draws.uniform(0.05, 0.4), self.scale * self.draws.uniform(0.05, 0.4));
        format!("[[{x:?}, {y:?}], [{:?}, {y:?}], [{:?}, {:?}]]", x + w, x + w, y + h)
    }

    fn map(&mut self) {
        if self.draws.chance(0.35) {
            return;
        }
        self.text += "[map]\n";
        if self.draws.chance(0.5) {
            let [x, y] = self.middle;
            let (w, h) =
                (self.scale * self.draws.uniform(1.0, 1.1), self.scale * self.draws.uniform(0.9, 1.1));
            let (l, r, b, t) = (x - w, x + w, y - h, y + h);
            self.pool.extend([[l, b], [r, b], [r, t], [l, t]]);
            self.line(format_args!(
                "walkable = \"POLYGON (({l:?} {b:?}, {r:?} {b:?}, {r:?} {t:?}, {l:?} {t:?}, {l:?} {b:?}))\""
            ));
        }
        let obstacles: Vec<String> = (0..self.draws.below(4))
            .map(|index| {
                let polygon = self.polygon();
                if index > 0 {
                    return polygon;
                }
                self.named.push("o".into());
                format!("{{ name = \"o\", polygon = {polygon} }}")
            })
            .collect();
        self.line(format_args!("obstacles = [{}]", obstacles.join(", ")));
        let walls: Vec<String> = (0..self.draws.below(4))
            .map(|_| {
                let corners = self.draws.pick(&[2, 2, 3, 5]);
                self.points(corners)
            })
            .collect();
        self.line(format_args!("walls = [{}]", walls.join(", ")));
        let terrain: Vec<String> = (0..self.draws.pick(&[0, 0, 1, 3]))
            .map(|_| {
                let polygon = self.polygon();
                format!("{{ polygon = {polygon}, cost = {} }}", self.number(1.0, 1000.0))
            })
            .collect();
        self.line(format_args!("terrain = [{}]", terrain.join(", ")));
        let gaps: Vec<String> = (0..self.draws.pick(&[0, 0, 1, 3])).map(|_| self.polygon()).collect();
        self.line(format_args!("gaps = [{}]", gaps.join(", ")));
    }

    fn agents(&mut self) {
        let cohorts = self.draws.pick(&[1, 1, 2, 2, 3, 4, 0]);
        let mut left = MOST_AGENTS;
        for cohort in 0..cohorts {
            let count = (self.draws.below(15) + usize::from(self.draws.chance(0.95))).min(left);
            left -= count;
            self.cohorts += 1;
            self.cohort(cohort, count);
        }
    }

    fn cohort(&mut self, index: usize, count: usize) {
        self.line(format_args!("[[agents]]\nname = \"c{index}\""));
        let count_key = match self.draws.below(6) {
            0 => {
                let (from, columns) = (self.point(), self.draws.below(7) + 1);
                let spacing = self.number(1e-3, 1.0f64.max(0.1 * self.scale).min(1e6));
                self.line(format_args!(
                    "place = {{ grid = {{ from = {from}, columns = {columns}, spacing = {spacing} }}, jitter = {} }}",
                    if columns % 2 == 0 { "0.0" } else { "0.01" }
                ));
                true
            }
            1 => {
                let (center, radius) = (self.point(), self.number(0.0, self.scale));
                self.line(format_args!("place = {{ circle = {{ center = {center}, radius = {radius} }} }}"));
                true
            }
            // Rarely: to find out that an area is too full takes as long as a thousand other cases.
            2 if count <= 8 && self.draws.chance(0.05) => {
                let polygon = self.area();
                self.line(format_args!("place = {{ polygon = {polygon} }}"));
                true
            }
            _ => {
                let points = self.points(count);
                self.line(format_args!("place = {{ points = {points} }}"));
                false
            }
        };
        if count_key {
            self.line(format_args!("count = {count}"));
        }
        let goal = self.goal(count);
        self.line(format_args!("goal = {goal}"));
        self.body();
        self.params(true);
    }

    fn goal(&mut self, count: usize) -> String {
        match self.draws.below(6) {
            0 => format!("{{ points = {} }}", self.points(count)),
            1 => format!("{{ antipodal = {} }}", self.point()),
            2 => format!("{{ offset = {} }}", self.point()),
            3 => format!("{{ polygon = {} }}", self.area()),
            _ => format!("{{ point = {} }}", self.point()),
        }
    }

    fn body(&mut self) {
        if self.draws.chance(0.6) {
            let wide = (0.05 * self.scale).max(0.3);
            let radius = self.usual([0.05, wide.min(1e6)], [1e-6, 1e6]);
            self.line(format_args!("radius = {radius}"));
        }
        match self.draws.below(8) {
            0 => {
                let speed = self.usual([0.0, 3.0], [0.0, 1e6]);
                self.line(format_args!("preferred_speed = {speed}"));
            }
            1..=3 => {
                let (preferred, more) =
                    (self.draws.pick(&[0.0, 1e-6, 0.5, 1.3, 3.0, 9e5]), self.draws.pick(&[1.0, 1.0001, 1.1]));
                self.line(format_args!("preferred_speed = {preferred}\nmax_speed = {}", preferred * more));
            }
            4 => {
                let (preferred, max) =
                    (self.usual([0.0, 2.0], [0.0, 1e6]), self.usual([2.0, 6.0], [0.0, 1e6]));
                self.line(format_args!("preferred_speed = {preferred}\nmax_speed = {max}"));
            }
            _ => {}
        }
        if self.draws.chance(0.2) {
            let (start, goal_radius) = (self.usual([0.0, 2.0], [0.0, 1e9]), self.number(1e-6, 1e6));
            self.line(format_args!("start = {start}\ngoal_radius = {goal_radius}"));
        }
        if self.draws.chance(0.5) {
            let share = self.draws.pick(&["0", "0.25", "0.5", "0.75", "1", "1e-30"]);
            let leaves = self.draws.pick(&["stay", "leave"]);
            self.line(format_args!("responsibility = {share}\non_arrival = \"{leaves}\""));
        }
        if self.draws.chance(0.2) {
            self.line(format_args!("together = true"));
        }
        if self.draws.chance(0.4) {
            let model = self.model(Stage::Microscale);
            self.line(format_args!("microscale = \"{model}\""));
        }
    }

    fn movers(&mut self) {
        for _ in 0..self.draws.pick(&[0, 0, 1, 2, 3, 20]) {
            let largest = if self.draws.chance(0.1) { 1e6 } else { (0.1 * self.scale).max(1.0) };
            let radius = self.number(1e-6, largest.min(1e6));
            let mut time = 0.0;
            let path: Vec<String> = (0..self.draws.below(5) + 1)
                .map(|_| {
                    // Nearly at once, sometimes: a body that jumps.
                    time += self.draws.pick(&[1e-9, 1e-3, 0.1, 0.5, 3.0]);
                    let [x, y] = self.place();
                    format!("[{time:?}, {x:?}, {y:?}]")
                })
                .collect();
            self.line(format_args!("[[movers]]\nradius = {radius}\npath = [{}]", path.join(", ")));
        }
    }

    fn events(&mut self) {
        let mut time = 0.0;
        for index in 0..self.draws.pick(&[0, 0, 0, 1, 2, 4]) {
            time += self.draws.uniform(0.0, 1.0);
            let at = self.or_garbage(format!("{time:?}"));
            match self.draws.below(3) {
                1 if !self.named.is_empty() => {
                    let which = self.draws.below(self.named.len());
                    let name = self.named.swap_remove(which);
                    self.line(format_args!("[[events]]\nat = {at}\nremove_obstacle = \"{name}\""));
                }
                2 if self.cohorts > 0 => {
                    let cohort = self.draws.below(self.cohorts);
                    let goal = format!("{{ point = {} }}", self.point());
                    self.line(format_args!(
                        "[[events]]\nat = {at}\nretarget = {{ cohort = \"c{cohort}\", goal = {goal} }}"
                    ));
                }
                _ => {
                    let polygon = self.polygon();
                    self.named.push(format!("e{index}"));
                    self.line(format_args!(
                        "[[events]]\nat = {at}\nadd_obstacle = {{ name = \"e{index}\", polygon = {polygon} }}"
                    ));
                }
            }
        }
    }
}

/// Changes a text as a slip of the hand would, or a broken disk.
pub fn mutated(draws: &mut Draws<'_>, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..draws.pick(&[1, 1, 2, 3, 8]) {
        if bytes.is_empty() {
            break;
        }
        let (at, other) = (draws.below(bytes.len()), draws.below(bytes.len()));
        let length = draws.pick(&[1, 2, 5, 20, 100]).min(bytes.len() - at);
        match draws.below(7) {
            0 => bytes[at] ^= 1 << draws.below(8),
            1 => bytes[at] = draws.pick(b"[]{}\",.=\n#-eE0_'+x\\"),
            2 => drop(bytes.drain(at..at + length)),
            3 => {
                let piece = bytes[at..at + length].to_vec();
                drop(bytes.splice(other..other, piece));
            }
            4 => bytes.truncate(at),
            5 => {
                let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
                let (from, to) = (draws.below(lines.len()), draws.below(lines.len()));
                let mut lines = lines.clone();
                lines.insert(to, lines[from]);
                bytes = lines.join(&b'\n');
            }
            _ => {
                let word = draws.pick(GARBAGE).as_bytes().to_vec();
                drop(bytes.splice(at..at + length.min(3), word));
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a text may ask for a crowd that is larger than a case may be.
pub fn asks_for_many(text: &str) -> bool {
    text.match_indices("count").any(|(at, _)| {
        let value = text[at..].chars().skip("count".len()).take_while(|&c| c != '\n' && c != ',' && c != '}');
        value.take(40).filter(char::is_ascii_alphanumeric).count() > 3
    })
}
