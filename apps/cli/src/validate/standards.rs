//! Verification cases of RiMEA 4, IMO MSC.1/Circ.1533, NIST TN 1822 and ISO 20414.
//!
//! A case that several of them have is run once, under the name that it has first; the others refer to it.

use super::figure::{Figure, Mark};
use super::outcome::{Outcome, Status, Table};
use super::ring;
use super::trial::{Trials, walk};
use crate::findings::{Finding, Side};
use crate::statistics::{mean, median};
use anyhow::Context;
use throng::map::{Region, boundary};
use throng::measure::{Figures, Measures};
use throng::{Simulation, builtin};

/// A case of a suite.
pub struct Case {
    /// As it is called on the command line.
    pub name: &'static str,
    /// In a line.
    pub title: &'static str,
    set_up: &'static str,
    asked: &'static str,
    check: Check,
}

enum Check {
    /// Runs it, and says why it may fail.
    Runs(fn(&Trials) -> anyhow::Result<Checked>, &'static str),
    /// Another case is the same.
    As(&'static str),
    /// What the engine lacks for it.
    Waits(&'static str),
}

/// What came out of a case.
#[derive(Default)]
struct Checked {
    table: Table,
    findings: Vec<Finding>,
    figures: Vec<Figure>,
}

const FLOORS: &str = "floors and stairs, which the engine does not have yet";

macro_rules! cases {
    ($($name:literal, $title:literal, $set_up:literal, $asked:literal, $check:expr;)*) => {
        &[$(Case { name: $name, title: $title, set_up: $set_up, asked: $asked, check: $check }),*]
    };
}

/// RiMEA 1 to 16.
pub const RIMEA: &[Case] = cases! {
    "rimea-1", "speed along a corridor", "Corridor 2 × 40 m, one person at 1.33 m/s.", "26 to 34 s.",
        Check::Runs(corridor, "");
    "rimea-2", "up a stair", "Stair 2 × 10 m.", "Length over the set speed.", Check::Waits(FLOORS);
    "rimea-3", "down a stair", "Stair 2 × 10 m.", "Length over the set speed.", Check::Waits(FLOORS);
    "rimea-4", "fundamental diagram", "A corridor 26 m long and 2 m wide that repeats, so that it has no ends; free speeds 1.2 to 1.4 m/s \
        (1.3 ± 0.06), densities 0.5 to 5 per m²; bodies of radius 0.2 m leave no room for 6. Speed along it, mean of 30 s after \
        the first 30 s.", "Speed and flow over density are told; the speed falls with the density.",
        Check::Runs(fundamental_diagram, "the speed does not fall with every step of the density");
    "rimea-5", "premovement", "Room 8 × 5 m with an exit of 1 m, ten people, premovement uniform from 10 to 100 s.",
        "Each begins to walk within 0.5 s of its time.", Check::Runs(premovement, "some move before their time, or later");
    "rimea-6", "round a corner", "Corridor 2 m wide with a corner, legs of 10 m, twenty people in the first 6 m.",
        "Nobody crosses a wall, all arrive.", Check::Runs(corner_walls, "");
    "rimea-7", "demographics", "50 adults of four bands of age and ability, each alone on 20 m.",
        "Everybody's speed is within its band.", Check::Runs(demographics, "");
    "rimea-8", "a parameter study over three storeys", "Three storeys with rooms of 2 × 3 m.", "The time over a parameter is told.",
        Check::Waits(FLOORS);
    "rimea-9", "a large room", "30 × 20 m, 1000 people 2 m and more from walls, four doors of 1 m, 4 m from the corners; each half goes \
        out by the nearer of the two doors on its side. Then the doors at the eastern end are closed.",
        "With two doors it takes 1.6 to 2.4 times as long; doors that mirror one another pass alike (within 20 %).",
        Check::Runs(large_room, "the time does not follow the number of doors, or people part unevenly between like doors");
    "rimea-10", "assigned exits", "Twelve rooms of 3 × 5 m along a corridor of 1 m, doors of 0.9 m, 23 people, two exits.",
        "Everybody takes the assigned exit.", Check::Runs(assigned_exits, "some did not get out, or left by the other exit");
    "rimea-11", "choice of an exit", "30 × 20 m, 1000 people in the western 14 m, exits of 1 m in the northern wall, 16 and 27 m \
        from the west. They choose the quickest exit and think it over as they go; the way by the far one counts half as long again, \
        for most do not see it. Means over seeds.",
        "The near exit is preferred, some use the far one (5 % and more).", Check::Runs(choice_of_exit, "people do not part as they should");
    "rimea-12", "two bottlenecks", "Two rooms of 10 × 10 m joined by a corridor of 1 × 5 m, 150 people, exit of 1 m. Mean densities \
        from the tenth second on, in 2 × 2 m before the corridor and before the exit.",
        "They queue before the corridor, not before the exit: density there at most half.",
        Check::Runs(two_bottlenecks, "a queue forms before the exit too");
    "rimea-13", "a jam before a stair", "Room 8 × 5 m, corridor, stair.", "A jam at the foot of the stair.", Check::Waits(FLOORS);
    "rimea-14", "choice of a way", "A short way by two stairs, a long one on the floor.", "The choice is told.", Check::Waits(FLOORS);
    "rimea-15", "a wide corner", "500 people from 20 × 6 m; straight 75.4 m, a corner 20 m wide (44 m along its inside, 75.4 m along \
        its outside), straight 44 m; time until the last has arrived.", "The corner takes no less than the short and no more than \
        the long way.", Check::Runs(wide_corner, "everybody aims at the inner corner, so that it jams there instead of being used over its width");
    "rimea-16", "single file", "A corridor that repeats, 26 m long.", "Speeds within the 10/90 % band.", Check::As("recorded-single-file");
};

/// IMO MSC.1/Circ.1533, 1 to 11.
pub const IMO: &[Case] = cases! {
    "imo-1", "speed along a corridor", "Corridor 2 × 40 m, one person at 1 m/s.", "40 s (± 1 s).", Check::Runs(imo_corridor, "");
    "imo-2", "up a stair", "Stair 2 × 10 m.", "10 s at 1 m/s.", Check::Waits(FLOORS);
    "imo-3", "down a stair", "Stair 2 × 10 m.", "10 s at 1 m/s.", Check::Waits(FLOORS);
    "imo-4", "exit flow", "Room 8 × 5 m, exit of 1 m, 100 people; flow between the first and the last, medians over seeds. The cap of 1.33 is a \
        rule of design and no observation: recorded flows through 1 m are 1.85 (Kretz) and 1.90 (Seyfried), which `recorded-doors` holds \
        the engine to. So the case sets the exit's `max_flow` to 1.33; the flow without it is told beside it.",
        "At most 1.33 persons a second, and all get out.", Check::Runs(exit_flow, "the exit lets out more than its cap, or not all get out");
    "imo-5", "response time", "As RiMEA 5.", "Each begins at its time.", Check::As("rimea-5");
    "imo-6", "round a corner", "As RiMEA 6.", "Nobody crosses a wall.", Check::As("rimea-6");
    "imo-7", "demographics", "As RiMEA 7.", "Speeds within their bands.", Check::As("rimea-7");
    "imo-8", "counterflow", "Two rooms of 10 × 10 m joined by a corridor of 10 × 2 m, 100 people against 0, 10, 50 and 100; time until \
        the last of the hundred is through.", "All arrive within 600 s, and it takes longer the more there are against them.",
        Check::Runs(counterflow, "opposing streams lock in the corridor");
    "imo-9", "a large room", "As RiMEA 9.", "Twice as long with two of four doors.", Check::As("rimea-9");
    "imo-10", "assigned exits", "As RiMEA 10.", "Everybody takes the assigned exit.", Check::As("rimea-10");
    "imo-11", "a jam before a stair", "As RiMEA 13.", "A jam at the foot of the stair.", Check::Waits(FLOORS);
};

/// NIST TN 1822.
pub const NIST: &[Case] = cases! {
    "nist-1-1", "distributions of premovement", "500 people, premovement uniform from 10 to 100 s; when each has begun to move.",
        "Kolmogorov and Smirnov's distance to the distribution below the 5 % bound, 1.36 / √n.", Check::Runs(premovement_drawn, "");
    "nist-2-1", "speed along a corridor", "As RiMEA 1.", "Length over speed.", Check::As("rimea-1");
    "nist-2-2", "speed on stairs", "A stair of 100 m.", "Length over speed.", Check::Waits(FLOORS);
    "nist-2-3", "round a corner", "As RiMEA 6.", "Nobody crosses a wall.", Check::As("rimea-6");
    "nist-2-4", "demographics", "As RiMEA 7.", "Speeds within their bands.", Check::As("rimea-7");
    "nist-2-5", "visibility in smoke", "A corridor in smoke.", "Speed by visibility.", Check::Waits("smoke, which the engine does not have");
    "nist-2-6", "incapacitation", "A room with toxic gas.", "Time to incapacitation.", Check::Waits("toxic gases, which the engine does not have");
    "nist-2-7", "elevators", "Two floors and an elevator.", "It is used.", Check::Waits("floors and elevators, which the engine does not have yet");
    "nist-2-8", "counterflow", "As IMO 8.", "Time rises with counterflow.", Check::As("imo-8");
    "nist-2-9", "groups", "A cohort that keeps together, four people at 1.25 m/s and one at 0.5 m/s, walks 39 m; once with `groups`, \
        once with `hybrid`, both of which have a rule for it.", "They arrive within 10 s of one another, and nobody walks faster than it likes to.",
        Check::Runs(groups, "the fast do not wait long enough, or the slow are hurried");
    "nist-2-10", "people with disabilities", "Two rooms and a ramp.", "Wheelchairs take the ramp.", Check::Waits(FLOORS);
    "nist-3-1", "assigned exits", "As RiMEA 10.", "Everybody takes the assigned exit.", Check::As("rimea-10");
    "nist-3-2", "social influence", "Room 16 × 10 m with two like exits. Eight people leave by the east one; eight others, a little nearer to the west \
        one, choose the nearest, and set off 2 s later: once without minding others, once with `follow = 0.5`.",
        "Alone they take the west exit; going by what others do, more take the east one.",
        Check::Runs(social_influence, "what others do has no influence");
    "nist-3-3", "affiliation", "Room 20 × 10 m with two exits, 20 people nearer to the one at the west: once all exits are alike to them, once they \
        know only the one at the east (`familiar`, other ways count three times as long).", "Without affiliation they take the near exit, with it more take the familiar one.",
        Check::Runs(affiliation, "the familiar exit is not preferred");
    "nist-4-1", "an exit closes", "A room with two exits of 1 m; the nearer one closes after 1 s.", "Nobody leaves by the closed exit, all by the other.",
        Check::Runs(exit_closes, "some did not take the other exit");
    "nist-5-1", "congestion", "As RiMEA 12.", "Denser before the corridor than before the exit.", Check::As("rimea-12");
    "nist-5-2", "maximum flow", "As IMO 4.", "At most 1.33 persons a second.", Check::As("imo-4");
};

/// ISO 20414's list, which has cases of the others under its own headings.
pub const ISO: &[Case] = cases! {
    "iso-1", "premovement", "As NIST 1.1.", "Drawn as asked for.", Check::As("nist-1-1");
    "iso-2", "speed along a corridor", "As RiMEA 1.", "Length over speed.", Check::As("rimea-1");
    "iso-3", "speed on stairs", "As RiMEA 2 and 3.", "Length over speed.", Check::Waits(FLOORS);
    "iso-4", "round a corner", "As RiMEA 6.", "Nobody crosses a wall.", Check::As("rimea-6");
    "iso-5", "demographics", "As RiMEA 7.", "Speeds within their bands.", Check::As("rimea-7");
    "iso-6", "counterflow", "As IMO 8.", "Time rises with counterflow.", Check::As("imo-8");
    "iso-7", "groups", "As NIST 2.9.", "They arrive together.", Check::As("nist-2-9");
    "iso-8", "assigned exits", "As RiMEA 10.", "Everybody takes the assigned exit.", Check::As("rimea-10");
    "iso-9", "an exit closes", "As NIST 4.1.", "The other one is taken.", Check::As("nist-4-1");
    "iso-10", "congestion", "As RiMEA 12.", "Denser before the corridor.", Check::As("rimea-12");
    "iso-11", "maximum flow", "As IMO 4.", "At most 1.33 persons a second.", Check::As("imo-4");
    "iso-12", "fundamental diagram", "As RiMEA 4.", "Speed falls with density.", Check::As("rimea-4");
};

/// All suites with their cases.
pub const SUITES: [(&str, &[Case]); 4] = [("rimea", RIMEA), ("imo", IMO), ("nist", NIST), ("iso", ISO)];

/// A case by its name.
pub fn find(name: &str) -> Option<&'static Case> {
    SUITES.iter().flat_map(|(_, cases)| cases.iter()).find(|case| case.name == name)
}

impl Case {
    /// The case that stands for it in another suite, where there is one.
    pub fn same_as(&self) -> Option<&'static str> {
        if let Check::As(other) = self.check { Some(other) } else { None }
    }

    /// The built-in scenario that it runs; those of its name, but for one that another suite has with another speed.
    fn scenario(&self) -> Option<&'static str> {
        let name = if self.name == "imo-1" { "rimea-1" } else { self.name };
        builtin::find(name).map(|builtin| builtin.name)
    }

    /// Runs it.
    pub fn run(&self, trials: &Trials) -> anyhow::Result<Outcome> {
        let outcome = |checked: Checked| Outcome {
            name: self.name.into(),
            title: self.title.into(),
            status: Status::Waiting,
            scenario: self.scenario(),
            set_up: self.set_up.into(),
            asked: self.asked.into(),
            because: None,
            table: checked.table,
            findings: checked.findings,
            figures: checked.figures,
        };
        match self.check {
            Check::Runs(run, because) => Ok(outcome(run(trials)?).judged(because)),
            Check::Waits(what) => Ok(Outcome { because: Some(what.into()), ..outcome(Checked::default()) }),
            Check::As(other) => {
                let same = find(other).with_context(|| format!("`{other}` is no case"))?.run(trials)?;
                let renamed = |finding: Finding| Finding {
                    name: finding.name.replacen(other, self.name, 1),
                    ..finding
                };
                let findings = same.findings.into_iter().map(renamed).collect();
                Ok(Outcome {
                    name: self.name.into(),
                    title: self.title.into(),
                    set_up: format!("{} {}", self.set_up, same.set_up),
                    findings,
                    ..same
                })
            }
        }
    }
}

/// A finding of a case.
fn finding(case: &str, what: &str, value: impl Into<Option<f64>>, side: Side, bar: f64) -> Finding {
    Finding::new(format!("{case}: {what}"), value, side, bar)
}

/// How long a run of a scenario takes until all have arrived, s; nothing where not all do.
fn time(trials: &Trials, name: &str, seed: u64, set: &[(&str, String)]) -> anyhow::Result<Option<f64>> {
    let (simulation, run) = walk(&trials.scenario(name, seed, set)?)?;
    let all = simulation.arrived() == simulation.agents();
    Ok(all.then(|| (run.moments.len() - 1) as f64 / run.fps))
}

/// Median over seeds; nothing where a seed has none.
fn middle(times: &[Option<f64>]) -> Option<f64> {
    times.iter().copied().collect::<Option<Vec<f64>>>().map(median)
}

fn line(measures: &Measures, name: &str) -> usize {
    match measures.get(name) {
        Some(Figures::Line(line)) => line.crossings,
        _ => 0,
    }
}

fn corridor(trials: &Trials) -> anyhow::Result<Checked> {
    let time = time(trials, "rimea-1", 1, &[])?;
    let findings = vec![
        finding("rimea-1", "time along 40 m, s", time, Side::AtLeast, 26.0),
        finding("rimea-1", "time along 40 m, s", time, Side::AtMost, 34.0),
    ];
    Ok(Checked { findings, ..Checked::default() })
}

fn imo_corridor(trials: &Trials) -> anyhow::Result<Checked> {
    let time = time(trials, "rimea-1", 1, &[("agents.0.preferred_speed", "1.0".into())])?;
    let off = time.map(|time| (time - 40.0).abs());
    Ok(Checked {
        findings: vec![finding("imo-1", "off 40 s, s", off, Side::AtMost, 1.0)],
        ..Checked::default()
    })
}

fn fundamental_diagram(trials: &Trials) -> anyhow::Result<Checked> {
    /// Of the scenario's map, m².
    const AREA: f64 = 26.0 * 2.0;
    let densities = [0.5, 1.0, 2.0, 3.0, 4.0, 5.0];
    let speeds = trials.by_variant("rimea-4", &densities, |&density, seed| {
        let people = (density * AREA).round() as usize;
        ring::speed(trials, "rimea-4", seed, &[("agents.0.count", people.to_string())])
    })?;
    let speeds: Vec<f64> = speeds.iter().map(|speeds| mean(speeds)).collect();
    let mut table = Table::new(["density, 1/m²", "Weidmann, m/s", "ours, m/s", "flow, 1/m/s"]);
    for (density, speed) in densities.into_iter().zip(&speeds) {
        table.row(format!("{density}"), [Some(weidmann(density)), Some(*speed), Some(density * speed)]);
    }
    let rise = speeds.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::MIN, f64::max);
    let curve = (1..=54).map(|tenth| f64::from(tenth) / 10.0).map(|density| [density, weidmann(density)]);
    let figure = Figure::new("density, 1/m²", "speed, m/s").with("Weidmann", Mark::Line, curve).with(
        "ours",
        Mark::Points,
        densities.into_iter().zip(speeds).map(|(density, speed)| [density, speed]),
    );
    let findings = vec![finding(
        "rimea-4",
        "rise of the speed from a density to the next, at most, m/s",
        rise,
        Side::AtMost,
        0.0,
    )];
    Ok(Checked { table, findings, figures: vec![figure] })
}

/// Weidmann 1993, m/s.
fn weidmann(density: f64) -> f64 {
    1.34 * (1.0 - (-1.913 * (1.0 / density - 1.0 / 5.4)).exp()).max(0.0)
}

/// When each was told to begin and when it did, s.
fn beginnings(trials: &Trials, name: &str, seed: u64) -> anyhow::Result<Vec<[f64; 2]>> {
    /// Who is this far from its place has begun, m.
    const BEGUN: f64 = 0.05;
    let scenario = trials.scenario(name, seed, &[])?;
    let (_, run) = walk(&scenario)?;
    let walks = run.walks();
    let starts = scenario.cohorts.iter().flat_map(|cohort| &cohort.agents).map(|agent| agent.start);
    let begun = |(id, start): (i64, f64)| {
        let walk = walks.get(&id)?;
        let begun = walk.iter().find(|(_, place)| place.distance(walk[0].1) > BEGUN)?;
        Some([start, begun.0])
    };
    Ok((0..).zip(starts).filter_map(begun).collect())
}

fn premovement(trials: &Trials) -> anyhow::Result<Checked> {
    let pairs = beginnings(trials, "rimea-5", 1)?;
    let off = pairs.iter().map(|[start, begun]| (begun - start).abs()).fold(0.0, f64::max);
    let figure =
        Figure::new("told to begin, s", "began, s").with("ours", Mark::Points, pairs.iter().copied());
    let findings = vec![
        finding("rimea-5", "people who began", pairs.len() as f64, Side::AtLeast, 10.0),
        finding("rimea-5", "off one's time, at most, s", off, Side::AtMost, 0.5),
    ];
    Ok(Checked { findings, figures: vec![figure], ..Checked::default() })
}

fn premovement_drawn(trials: &Trials) -> anyhow::Result<Checked> {
    let mut begun: Vec<f64> =
        beginnings(trials, "nist-1-1", 1)?.into_iter().map(|[_, begun]| begun).collect();
    begun.sort_by(f64::total_cmp);
    let count = begun.len() as f64;
    let uniform = |time: f64| ((time - 10.0) / 90.0).clamp(0.0, 1.0);
    let apart = |(index, &time): (usize, &f64)| {
        let below = index as f64 / count;
        (uniform(time) - below).abs().max((below + 1.0 / count - uniform(time)).abs())
    };
    let distance = begun.iter().enumerate().map(apart).fold(0.0, f64::max);
    let figure = Figure::new("began, s", "share of the people")
        .with("asked for", Mark::Line, [[10.0, 0.0], [100.0, 1.0]])
        .with(
            "ours",
            Mark::Line,
            begun.iter().enumerate().map(|(index, &time)| [time, (index + 1) as f64 / count]),
        );
    let findings = vec![finding(
        "nist-1-1",
        "distance of Kolmogorov and Smirnov",
        distance,
        Side::AtMost,
        1.36 / count.sqrt(),
    )];
    Ok(Checked { findings, figures: vec![figure], ..Checked::default() })
}

fn corner_walls(trials: &Trials) -> anyhow::Result<Checked> {
    let (mut outside, mut arrived) = (0usize, usize::MAX);
    for seed in 1..=trials.seeds {
        let scenario = trials.scenario("rimea-6", seed, &[])?;
        let region = Region::new(&boundary(&scenario.map));
        let (simulation, run) = walk(&scenario)?;
        outside += run.moments.iter().flatten().filter(|person| !region.is_free(person.position)).count();
        arrived = arrived.min(simulation.arrived());
    }
    let findings = vec![
        finding(
            "rimea-6",
            "places outside the walls, over all people and moments",
            outside as f64,
            Side::AtMost,
            0.0,
        ),
        finding(
            "rimea-6",
            "people who arrive, in the worst of the seeds",
            arrived as f64,
            Side::AtLeast,
            20.0,
        ),
    ];
    Ok(Checked { findings, ..Checked::default() })
}

fn demographics(trials: &Trials) -> anyhow::Result<Checked> {
    const BANDS: [[f64; 2]; 4] = [[0.58, 1.61], [1.41, 1.54], [0.68, 1.41], [0.46, 0.76]];
    let scenario = trials.scenario("rimea-7", 1, &[])?;
    let (_, run) = walk(&scenario)?;
    let speeds: Vec<f64> = run
        .walks()
        .values()
        .map(|walk| {
            // Without the last metre, where it arrives.
            let end = walk
                .iter()
                .find(|(_, place)| place.distance(walk[0].1) > 19.0)
                .unwrap_or(&walk[walk.len() - 1]);
            walk[0].1.distance(end.1) / end.0.max(f64::MIN_POSITIVE)
        })
        .collect();
    let mut table = Table::new(["band", "people", "from, m/s", "to, m/s", "least", "mean", "most"]);
    let (mut next, mut outside) = (0, 0);
    for (cohort, [low, high]) in scenario.cohorts.iter().zip(BANDS) {
        let own = &speeds[next..next + cohort.agents.len()];
        next += own.len();
        // To the hundredth, as the bands are given.
        outside += own.iter().filter(|speed| **speed < low - 0.01 || **speed > high + 0.01).count();
        let (least, most) =
            own.iter().fold((f64::MAX, 0.0f64), |(least, most), &speed| (least.min(speed), most.max(speed)));
        table.row(cohort.name.clone(), [own.len() as f64, low, high, least, mean(own), most].map(Some));
    }
    let findings = vec![finding(
        "rimea-7",
        "people whose speed is outside their band",
        outside as f64,
        Side::AtMost,
        0.0,
    )];
    Ok(Checked { table, findings, ..Checked::default() })
}

/// How long it took with all doors, s, and who passed the doors.
struct Doors {
    time: Option<f64>,
    passed: [usize; 4],
}

fn large_room(trials: &Trials) -> anyhow::Result<Checked> {
    const DOORS: [&str; 4] = ["south west", "south east", "north west", "north east"];
    let runs = trials.by_variant("rimea-9", &[false, true], |&closed, seed| {
        let walls = "[[[-3, -0.2], [4, -0.2], [4, 0], [-3, 0]], [[5, -0.2], [33, -0.2], [33, 0], [5, 0]], [[-3, 20], [4, 20], [4, 20.2], \
                     [-3, 20.2]], [[5, 20], [33, 20], [33, 20.2], [5, 20.2]], [[-3, 0], [0, 0], [0, 20], [-3, 20]], [[30, 0], [33, 0], \
                     [33, 20], [30, 20]]]";
        let set = if closed { vec![("map.obstacles", walls.to_string())] } else { Vec::new() };
        let (simulation, run) = walk(&trials.scenario("rimea-9", seed, &set)?)?;
        let all = simulation.arrived() == simulation.agents();
        let measures = simulation.measures();
        let time = all.then(|| (run.moments.len() - 1) as f64 / run.fps);
        Ok(Doors { time, passed: DOORS.map(|door| line(&measures, door)) })
    })?;
    let time = |runs: &[Doors]| middle(&runs.iter().map(|run| run.time).collect::<Vec<_>>());
    let [four, two] = [time(&runs[0]), time(&runs[1])];
    let ratio = four.zip(two).map(|(four, two)| two / four);
    let mut table = Table::new(["doors", "time, s", DOORS[0], DOORS[1], DOORS[2], DOORS[3]]);
    let passed = |runs: &[Doors], door: usize| {
        mean(&runs.iter().map(|run| run.passed[door] as f64).collect::<Vec<_>>())
    };
    for (name, runs, time) in [("four", &runs[0], four), ("two", &runs[1], two)] {
        table.row(name, std::iter::once(time).chain((0..4).map(|door| Some(passed(runs, door)))));
    }
    let uneven = [[0, 1], [2, 3]].map(|pair| pair.map(|door| passed(&runs[0], door)));
    let uneven = uneven.map(|[west, east]| west.max(east) / west.min(east)).into_iter().fold(0.0, f64::max);
    let findings = vec![
        finding("rimea-9", "time with two doors over that with four", ratio, Side::AtLeast, 1.6),
        finding("rimea-9", "time with two doors over that with four", ratio, Side::AtMost, 2.4),
        finding(
            "rimea-9",
            "people at one of two like doors over the other, at most",
            uneven,
            Side::AtMost,
            1.2,
        ),
    ];
    Ok(Checked { table, findings, ..Checked::default() })
}

fn assigned_exits(trials: &Trials) -> anyhow::Result<Checked> {
    let (simulation, _) = walk(&trials.scenario("rimea-10", 1, &[])?)?;
    let (measures, main) = (simulation.measures(), 16.0);
    let findings = vec![
        finding(
            "rimea-10",
            "people who arrive at the exit that they were assigned",
            simulation.arrived() as f64,
            Side::AtLeast,
            23.0,
        ),
        finding(
            "rimea-10",
            "off the 16 who should take the main exit",
            (line(&measures, "main") as f64 - main).abs(),
            Side::AtMost,
            0.0,
        ),
        finding(
            "rimea-10",
            "off the 7 who should take the secondary exit",
            (line(&measures, "secondary") as f64 - 7.0).abs(),
            Side::AtMost,
            0.0,
        ),
    ];
    Ok(Checked { findings, ..Checked::default() })
}

fn two_bottlenecks(trials: &Trials) -> anyhow::Result<Checked> {
    let runs = trials.by_variant("rimea-12", &[()], |(), seed| {
        let (simulation, _) = walk(&trials.scenario("rimea-12", seed, &[])?)?;
        let measures = simulation.measures();
        let area = |name: &str| measures.get(name).cloned().and_then(Figures::area).unwrap_or_default();
        Ok((area("before the corridor"), area("before the exit"), simulation.arrived()))
    })?;
    let of = |density: &dyn Fn(usize) -> Option<f64>| {
        mean(&(0..runs[0].len()).map(|run| density(run).unwrap_or(f64::NAN)).collect::<Vec<_>>())
    };
    let [before, after] = [of(&|run| runs[0][run].0.density_mean), of(&|run| runs[0][run].1.density_mean)];
    let arrived = runs[0].iter().map(|run| run.2).min().unwrap_or(0);
    let over_time = |area: &throng::measure::AreaFigures| {
        area.series
            .t
            .iter()
            .copied()
            .zip(area.series.density.iter().copied())
            .step_by(10)
            .map(|(t, density)| [t, density])
            .collect::<Vec<_>>()
    };
    let figure = Figure::new("time, s", "density, 1/m²")
        .with("before the corridor", Mark::Line, over_time(&runs[0][0].0))
        .with("before the exit", Mark::Line, over_time(&runs[0][0].1));
    let findings = vec![
        finding(
            "rimea-12",
            "density before the exit over that before the corridor",
            after / before,
            Side::AtMost,
            0.5,
        ),
        finding(
            "rimea-12",
            "people who arrive, in the worst of the seeds",
            arrived as f64,
            Side::AtLeast,
            150.0,
        ),
    ];
    let mut table = Table::new(["place", "density, 1/m²"]);
    table.row("before the corridor", [Some(before)]);
    table.row("before the exit", [Some(after)]);
    Ok(Checked { table, findings, figures: vec![figure] })
}

fn wide_corner(trials: &Trials) -> anyhow::Result<Checked> {
    let straight = |length: f64| {
        let (wall, goal) = (length + 3.0, length);
        let map = format!("\"POLYGON ((-8 0, {wall} 0, {wall} 20, -8 20, -8 0))\"");
        vec![
            ("map.walkable", map),
            (
                "agents.0.goal",
                format!("{{ polygon = [[{goal}, 0], [{wall}, 0], [{wall}, 20], [{goal}, 20]] }}"),
            ),
        ]
    };
    let ways = [straight(44.0), Vec::new(), straight(75.4)];
    let times = trials.by_variant("rimea-15", &ways, |set, seed| time(trials, "rimea-15", seed, set))?;
    let [short, corner, long] = [middle(&times[0]), middle(&times[1]), middle(&times[2])];
    let mut table = Table::new(["way", "time, s"]);
    for (name, time) in [("straight, 44 m", short), ("corner", corner), ("straight, 75.4 m", long)] {
        table.row(name, [time]);
    }
    let over = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a / b);
    let findings = vec![
        finding(
            "rimea-15",
            "time of the corner over that of the short way",
            over(corner, short),
            Side::AtLeast,
            1.0,
        ),
        finding(
            "rimea-15",
            "time of the corner over that of the long way",
            over(corner, long),
            Side::AtMost,
            1.0,
        ),
    ];
    Ok(Checked { table, findings, ..Checked::default() })
}

fn exit_flow(trials: &Trials) -> anyhow::Result<Checked> {
    // Without a cap the exit is beyond the door: who is in the doorway is still in the way of others.
    let beyond = "[[10, 0], [12, 0], [12, 5], [10, 5]]";
    let ways = [Vec::new(), vec![("exits.0.area", beyond.to_string()), ("exits.0.max_flow", "1000".into())]];
    let runs = trials.by_variant("imo-4", &ways, |set, seed| {
        let (simulation, _) = walk(&trials.scenario("imo-4", seed, set)?)?;
        let through = simulation.measures().remove("exit").and_then(Figures::line).and_then(|line| line.flow);
        Ok((let_out(&simulation), through, simulation.arrived()))
    })?;
    let capped = middle(&runs[0].iter().map(|run| run.0).collect::<Vec<_>>());
    let free = middle(&runs[1].iter().map(|run| run.1).collect::<Vec<_>>());
    let most = runs[0].iter().filter_map(|run| run.0).fold(0.0, f64::max);
    let arrived = runs[0].iter().map(|run| run.2).min().unwrap_or(0);
    let mut table = Table::new(["exit of 1 m", "flow, 1/s"]);
    table.row("ours, max_flow = 1.33", [capped]);
    table.row("ours, without it", [free]);
    table.row("recorded, Kretz et al. 2006", [Some(1.85)]);
    table.row("recorded, Seyfried et al. 2009", [Some(1.9)]);
    let findings = vec![
        finding(
            "imo-4",
            "flow out of an exit with max_flow = 1.33, highest of the seeds, 1/s",
            most,
            Side::AtMost,
            1.335,
        ),
        finding(
            "imo-4",
            "people who get out, in the worst of the seeds",
            arrived as f64,
            Side::AtLeast,
            100.0,
        ),
    ];
    Ok(Checked { table, findings, ..Checked::default() })
}

/// When people left for good, s, in order.
fn departures(simulation: &Simulation) -> Vec<f64> {
    let arrived =
        simulation.departed().iter().map(|gone| f64::from(gone.arrival)).filter(|arrival| *arrival >= 0.0);
    let mut times: Vec<f64> = arrived.collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Between the first and the last who leave, 1/s.
fn let_out(simulation: &Simulation) -> Option<f64> {
    let times = departures(simulation);
    let (first, last) = (times.first()?, times.last()?);
    (last > first).then(|| (times.len() - 1) as f64 / (last - first))
}

/// How many left by each of two exits, means over seeds; one pair for each variant of a scenario.
fn by_exit(
    trials: &Trials,
    name: &str,
    exits: [&str; 2],
    variants: &[Vec<(&str, String)>],
) -> anyhow::Result<Vec<[f64; 2]>> {
    let runs = trials.by_variant(name, variants, |set, seed| {
        let (simulation, _) = walk(&trials.scenario(name, seed, set)?)?;
        let left = simulation.exits();
        Ok(exits.map(|exit| left.get(exit).copied().unwrap_or(0) as f64))
    })?;
    let means =
        |runs: &Vec<[f64; 2]>| [0, 1].map(|exit| mean(&runs.iter().map(|run| run[exit]).collect::<Vec<_>>()));
    Ok(runs.iter().map(means).collect())
}

fn choice_of_exit(trials: &Trials) -> anyhow::Result<Checked> {
    let exits = ["near", "far"];
    let [near, far] = by_exit(trials, "rimea-11", exits, &[Vec::new()])?[0];
    let mut table = Table::new(["exit", "people"]);
    table.row("near", [Some(near)]);
    table.row("far", [Some(far)]);
    let findings = vec![
        finding(
            "rimea-11",
            "people at the near exit over those at the far one",
            near / far,
            Side::AtLeast,
            1.0,
        ),
        finding(
            "rimea-11",
            "part of the people who use the far exit",
            far / (near + far),
            Side::AtLeast,
            0.05,
        ),
        finding("rimea-11", "people who get out", near + far, Side::AtLeast, 1000.0),
    ];
    Ok(Checked { table, findings, ..Checked::default() })
}

fn groups(trials: &Trials) -> anyhow::Result<Checked> {
    let models = ["groups", "hybrid"];
    let ways = [
        Vec::new(),
        vec![("pipeline.mesoscale", "[]".to_string()), ("pipeline.microscale", "\"hybrid\"".into())],
    ];
    let apart = vec![("agents.0.together", "false".to_string())];
    let runs = trials.by_variant("nist-2-9", &[&ways[0], &ways[1], &apart], |set, seed| {
        let (simulation, run) = walk(&trials.scenario("nist-2-9", seed, set)?)?;
        let times = departures(&simulation);
        // The slow one is the last of the list.
        let slow = run.walks().remove(&4).unwrap_or_default();
        let length = slow.windows(2).map(|pair| pair[0].1.distance(pair[1].1)).sum::<f64>();
        let speed = slow.last().map_or(f64::NAN, |end| length / end.0.max(f64::MIN_POSITIVE));
        Ok(((times.len() == 5).then(|| times[4] - times[0]), speed))
    })?;
    let widest = |runs: &[(Option<f64>, f64)]| {
        runs.iter()
            .map(|run| run.0)
            .collect::<Option<Vec<f64>>>()
            .map(|all| all.into_iter().fold(0.0, f64::max))
    };
    let fastest = |runs: &[(Option<f64>, f64)]| runs.iter().map(|run| run.1).fold(0.0, f64::max);
    let mut table = Table::new(["together by", "first to last, s", "the slow one's speed, m/s"]);
    let mut findings = Vec::new();
    for (model, runs) in models.iter().zip(&runs) {
        table.row(*model, [widest(runs), Some(fastest(runs))]);
        let name = format!("from the first to the last with {model}, s");
        findings.push(finding("nist-2-9", &name, widest(runs), Side::AtMost, 10.0));
        let name = format!("speed of the slow one with {model}, which likes 0.5 m/s");
        findings.push(finding("nist-2-9", &name, fastest(runs), Side::AtMost, 0.51));
    }
    table.row("nothing (together = false)", [widest(&runs[2]), Some(fastest(&runs[2]))]);
    Ok(Checked { table, findings, ..Checked::default() })
}

fn social_influence(trials: &Trials) -> anyhow::Result<Checked> {
    let alone = vec![("agents.1.goal", "{ exits = [\"west\", \"east\"] }".to_string())];
    let left = by_exit(trials, "nist-3-2", ["west", "east"], &[alone, Vec::new()])?;
    // Eight were told to take the east exit.
    let [alone, following] = [left[0][1] - 8.0, left[1][1] - 8.0];
    let mut table = Table::new(["the eight who choose", "west", "east"]);
    table.row("do not mind others", [Some(left[0][0]), Some(alone)]);
    table.row("go by what others do", [Some(left[1][0]), Some(following)]);
    let findings = vec![
        finding("nist-3-2", "people who take the east exit and do not mind others", alone, Side::AtMost, 0.0),
        finding(
            "nist-3-2",
            "people who take the east exit and go by what others do",
            following,
            Side::AtLeast,
            1.0,
        ),
    ];
    Ok(Checked { table, findings, ..Checked::default() })
}

fn affiliation(trials: &Trials) -> anyhow::Result<Checked> {
    let strangers = vec![("agents.0.goal", "{ exits = [\"near\", \"familiar\"] }".to_string())];
    let left = by_exit(trials, "nist-3-3", ["near", "familiar"], &[strangers, Vec::new()])?;
    let mut table = Table::new(["affiliation", "near", "familiar"]);
    for (name, [near, familiar]) in ["without", "with"].into_iter().zip(&left) {
        table.row(name, [Some(*near), Some(*familiar)]);
    }
    let findings = vec![
        finding(
            "nist-3-3",
            "people who take the near exit without affiliation",
            left[0][0],
            Side::AtLeast,
            20.0,
        ),
        finding(
            "nist-3-3",
            "people who take the familiar exit with affiliation",
            left[1][1],
            Side::AtLeast,
            11.0,
        ),
    ];
    Ok(Checked { table, findings, ..Checked::default() })
}

fn counterflow(trials: &Trials) -> anyhow::Result<Checked> {
    let against = [0, 10, 50, 100];
    let times = trials.by_variant("imo-8", &against, |&against, seed| {
        let set = match against {
            // A cohort has somebody in it: one who stays where it is, in a corner.
            0 => vec![
                ("agents.1.count", "1".to_string()),
                ("agents.1.place", "{ points = [[29.5, 0.5]] }".into()),
                ("agents.1.goal", "{ point = [29.5, 0.5] }".into()),
            ],
            _ => vec![("agents.1.count", against.to_string())],
        };
        time(trials, "imo-8", seed, &set)
    })?;
    let mut table = Table::new(["against", "time, s", "seeds that end"]);
    for (against, times) in against.iter().zip(&times) {
        let ended: Vec<f64> = times.iter().flatten().copied().collect();
        let count = ended.len() as f64;
        table.row(against.to_string(), [Some(median(ended)).filter(|time| time.is_finite()), Some(count)]);
    }
    let all: usize = times.iter().flatten().filter(|time| time.is_none()).count();
    let medians: Vec<Option<f64>> = times.iter().map(|times| middle(times)).collect();
    let rise = medians.windows(2).map(|pair| Some(pair[1]? - pair[0]?)).collect::<Option<Vec<f64>>>();
    let rise = rise.map(|rises| rises.into_iter().fold(f64::MAX, f64::min));
    let findings = vec![
        finding("imo-8", "runs that do not end within 600 s", all as f64, Side::AtMost, 0.0),
        finding(
            "imo-8",
            "least rise of the time from a number against to the next, s",
            rise,
            Side::AtLeast,
            0.0,
        ),
    ];
    let points =
        against.iter().zip(&medians).filter_map(|(&against, time)| Some([f64::from(against), (*time)?]));
    let figure = Figure::new("people against", "time, s").with("ours, median", Mark::Points, points);
    Ok(Checked { table, findings, figures: vec![figure] })
}

fn exit_closes(trials: &Trials) -> anyhow::Result<Checked> {
    let (simulation, _) = walk(&trials.scenario("nist-4-1", 1, &[])?)?;
    let measures = simulation.measures();
    let findings = vec![
        finding(
            "nist-4-1",
            "people who leave by the closed exit",
            line(&measures, "closed") as f64,
            Side::AtMost,
            0.0,
        ),
        finding(
            "nist-4-1",
            "people who leave by the other",
            line(&measures, "open") as f64,
            Side::AtLeast,
            20.0,
        ),
    ];
    Ok(Checked { findings, ..Checked::default() })
}
