//! Figures 4 and 5: who goes round a crowd, who keeps together, and a large crowd.

use super::super::super::hybrid::{ALL_SHORTEST, APART, How, on_grid, open};
use super::{Job, Trail, rectangle, trails};
use glam::DVec2;
use throng::Simulation;
use throng_render::{Colour, Picture, Sheet, Swatch};

/// Of `hybrid-congestion`, m.
const HALL: DVec2 = DVec2::new(60.0, 40.0);
/// Of a body in these scenarios, m.
const RADIUS: f64 = 0.25;
const SHORTEST: Colour = Colour::hex(0x0072b2);
const WARY: Colour = Colour::hex(0xd55e00);

pub fn congestion(job: &Job) -> anyhow::Result<Picture> {
    let about = "A crowd of 198 stands in the short way around a block, and 48 walk from the left to the right. A line for each who walks.";
    let mut sheet = Sheet::new([1200, 560], "Congestion avoidance", about);
    let ways = [
        ("(a) All prefer the shortest way", &ALL_SHORTEST[..]),
        ("(b) Half of them mind crowds as well", &[]),
    ];
    for (column, (name, set)) in ways.into_iter().enumerate() {
        job.say(name);
        let mut simulation = open("hybrid-congestion", How::AsThePaper, 1, set)?;
        draw_ways(&mut sheet, [column, 0], name, &mut simulation, job.quick);
    }
    sheet.legend(&[
        (Swatch::Line(SHORTEST), "prefers the shortest way"),
        (Swatch::Line(WARY), "minds crowds in (b)"),
        (Swatch::Disc(Colour::FAINT), "stands in the way"),
    ]);
    Ok(sheet.finish())
}

fn draw_ways(sheet: &mut Sheet, place: [usize; 2], name: &str, simulation: &mut Simulation, quick: bool) {
    let map = simulation.frame().map.cloned().unwrap_or_default();
    let trails = trails(simulation, if quick { 60.0 } else { f64::INFINITY });
    let walkers = || trails.values().filter(|trail| trail.cohort > 0);
    let round = walkers().filter(|trail| goes_round(trail)).count();
    let caption = format!("{name}\n{round} of {} go round the block", walkers().count());
    let mut panel = sheet.map(sheet.room().part(place, [2, 1]), &caption, [DVec2::ZERO, HALL]);
    panel.area(&rectangle([DVec2::ZERO, HALL]), Colour::WALL);
    panel.floor(&map);
    for trail in trails.values().filter(|trail| trail.cohort == 0) {
        panel.body(trail.places[0], RADIUS, Colour::FAINT);
    }
    for trail in walkers() {
        let colour = if trail.cohort == 1 { SHORTEST } else { WARY };
        panel.trail(&trail.places, colour.with_alpha(0.75), 1.3);
    }
    panel.scale_bar(DVec2::new(9.5, 9.5), 10.0);
}

/// Above the block, where the long way is.
fn goes_round(trail: &Trail) -> bool {
    trail.places.iter().any(|place| place.y > 28.0 && (20.0..40.0).contains(&place.x))
}

/// When groups are past one another, and how much of their ways is shown, s.
const PASSED: f64 = 22.0;
const TAIL: f64 = 3.0;

pub fn groups_and_crowd(job: &Job) -> anyhow::Result<Picture> {
    let about = format!(
        "(a, b) Eight groups of four cross a field, a colour for each, at {PASSED} s with the last {TAIL} s of their ways.\n\
         (c, d) A colour for each of {DIRECTIONS} directions in which people walk."
    );
    let mut sheet = Sheet::new([880, 1030], "Cohesive groups, and a large crowd", &about);
    let kinds = [("(a) With cohesion", &[][..]), ("(b) Without cohesion", &APART[..])];
    for (column, (name, set)) in kinds.into_iter().enumerate() {
        job.say(name);
        let mut simulation = open("hybrid-cohesive", How::AsThePaper, 1, set)?;
        draw_groups(&mut sheet, [column, 0], name, &mut simulation);
    }
    let (agents, grid) = if job.quick { (1_000, 512) } else { (10_000, 2048) };
    job.say(&format!("{agents} agents"));
    let side = f64::from(grid) * 0.5;
    let mut simulation = on_grid(agents, grid).simulation()?;
    let until = if job.quick { 10.0 } else { 60.0 };
    while simulation.time() < until {
        simulation.step();
    }
    draw_crowd(&mut sheet, &simulation, (side, grid));
    draw_middle(&mut sheet, &simulation, side);
    Ok(sheet.finish())
}

fn draw_groups(sheet: &mut Sheet, place: [usize; 2], name: &str, simulation: &mut Simulation) {
    const HALF: f64 = 19.0;
    let trails = trails(simulation, PASSED);
    let within = [DVec2::splat(-HALF), DVec2::splat(HALF)];
    let caption = format!("{name}\nmean distance within groups: {:.1} m", apart(trails.values()));
    let mut panel = sheet.map(sheet.room().part(place, [2, 2]), &caption, within);
    panel.area(&rectangle(within), Colour::FLOOR);
    for trail in trails.values() {
        let tail = trail.places.len().saturating_sub((TAIL / 0.1) as usize);
        let colour = Colour::of_cohort(trail.cohort);
        panel.trail(&trail.places[tail..], colour.with_alpha(0.4), 3.0);
        panel.body(trail.places[trail.places.len() - 1], RADIUS, colour);
    }
    panel.edge(&rectangle(within), Colour::FAINT, 0.8);
    panel.scale_bar(within[0] + 1.0, 5.0);
}

/// Mean distance between those of a group where they are last, m.
fn apart<'a>(trails: impl Iterator<Item = &'a Trail> + Clone) -> f64 {
    let end = |trail: &Trail| trail.places[trail.places.len() - 1];
    let (mut sum, mut pairs) = (0.0, 0);
    for (index, a) in trails.clone().enumerate() {
        for b in trails.clone().skip(index + 1).filter(|b| b.cohort == a.cohort) {
            sum += end(a).distance(end(b));
            pairs += 1;
        }
    }
    sum / f64::from(pairs.max(1))
}

fn draw_crowd(sheet: &mut Sheet, simulation: &Simulation, (side, grid): (f64, u32)) {
    let frame = simulation.frame();
    let caption = format!(
        "(c) {} people on {grid} × {grid} cells after {:.0} s\nrandom starts and goals; a dot for each; {} pairs overlap",
        frame.len(),
        frame.time,
        simulation.overlaps().collisions
    );
    let within = [DVec2::ZERO, DVec2::splat(side)];
    let mut panel = sheet.map(sheet.room().part([0, 1], [2, 2]), &caption, within);
    panel.area(&rectangle(within), Colour::FLOOR);
    for row in 0..frame.len() {
        panel.dot(frame.position(row), 0.9, heading(simulation, row));
    }
    panel.edge(&rectangle(middle(side)), Colour::INK, 1.6);
    panel.edge(&rectangle(within), Colour::FAINT, 0.8);
}

/// The square of the crowd that is shown close up, m.
fn middle(side: f64) -> [DVec2; 2] {
    const HALF: f64 = 30.0;
    [DVec2::splat(0.5 * side - HALF), DVec2::splat(0.5 * side + HALF)]
}

fn draw_middle(sheet: &mut Sheet, simulation: &Simulation, side: f64) {
    let frame = simulation.frame();
    let within = middle(side);
    let caption =
        "(d) The square in its middle, close up\ntrue size of bodies, and where they will be in one second";
    let mut panel = sheet.map(sheet.room().part([1, 1], [2, 2]), caption, within);
    panel.area(&rectangle(within), Colour::FLOOR);
    for row in 0..frame.len() {
        let at = frame.position(row);
        if at.cmpgt(within[0] + 1.5).all() && at.cmplt(within[1] - 1.5).all() {
            let velocity = DVec2::new(frame.vx[row].into(), frame.vy[row].into());
            panel.line(&[at, at + velocity], heading(simulation, row), 1.6);
            panel.body(at, RADIUS, heading(simulation, row));
        }
    }
    panel.edge(&rectangle(within), Colour::INK, 1.6);
    panel.scale_bar(within[0] + 1.5, 10.0);
}

/// So many have a colour of their own.
const DIRECTIONS: f32 = 8.0;

fn heading(simulation: &Simulation, row: usize) -> Colour {
    let frame = simulation.frame();
    let turn = frame.vy[row].atan2(frame.vx[row]) / std::f32::consts::TAU;
    Colour::of_turn((turn * DIRECTIONS).round() / DIRECTIONS)
}
