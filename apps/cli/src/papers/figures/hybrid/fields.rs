//! Figures 1 to 3: what the map field, the world field and the local perception fields hold.

use super::{Job, rectangle, scenario};
use anyhow::Context;
use glam::{DVec2, IVec2, Vec2};
use throng::core::handover::Intents;
use throng::core::space::{Blob, FOUR};
use throng::explain::{Explanation, PerceptionField};
use throng::macroscale::MapField;
use throng::map::Map;
use throng::mesoscale::WorldField;
use throng::{Scenario, Simulation};
use throng_render::{Anchor, Colour, Panel, Picture, Sheet, Swatch};

const FIRST: u32 = 0;
const SECOND: u32 = 1;
/// Nearer than this the two perceive each other, m: within half a field.
const MET: f64 = 3.2;
/// The map of `fields.toml`, m.
const SIZE: DVec2 = DVec2::new(48.0, 32.0);
/// Densities from here on have the darkest colour, 1/m².
const DENSE: f64 = 2.5;
/// The same of discomfort, s/m².
const UNCOMFORTABLE: f64 = 2.0;
const ROUTE: Colour = Colour::hex(0x7cc47f);
const START: Colour = Colour::hex(0x0072b2);
const GOAL: Colour = Colour::hex(0xf0c419);
const OF_FIRST: Colour = Colour::hex(0x1f4e9c);
const OF_SECOND: Colour = Colour::hex(0x55585e);

/// Two agents that have met, and what is in the fields then.
struct Meeting {
    scenario: Scenario,
    /// The route of the first from its start on, m.
    route: Vec<DVec2>,
    goal: DVec2,
    /// The middles of cells and their densities, 1/m²; only where there is anybody.
    densities: Vec<(DVec2, f64)>,
    bodies: Vec<DVec2>,
    seen: [Explanation; 2],
    time: f64,
}

impl Meeting {
    fn new() -> anyhow::Result<Meeting> {
        let scenario = scenario(include_str!("fields.toml"), "fields.toml")?;
        let mut simulation = Simulation::with_threads(&scenario, 1)?;
        simulation.step();
        let route = route(&seen(&mut simulation, FIRST)?);
        let goal = *route.last().context("the first agent has no route")?;
        let apart =
            |simulation: &Simulation| place_of(simulation, FIRST).distance(place_of(simulation, SECOND));
        while apart(&simulation) > MET && !simulation.is_done() {
            simulation.step();
        }
        let frame = simulation.frame();
        let bodies = (0..frame.len()).map(|row| frame.position(row)).collect();
        let densities = densities(&simulation);
        let seen = [seen(&mut simulation, FIRST)?, seen(&mut simulation, SECOND)?];
        Ok(Meeting { scenario, route, goal, densities, bodies, seen, time: simulation.time() })
    }

    fn fields(&self) -> impl Iterator<Item = (&PerceptionField, Colour)> {
        let colours = [OF_FIRST, OF_SECOND];
        self.seen.iter().zip(colours).filter_map(|(seen, colour)| Some((seen.field.as_ref()?, colour)))
    }
}

fn place_of(simulation: &Simulation, id: u32) -> DVec2 {
    let frame = simulation.frame();
    let row = frame.id.iter().position(|&other| other == id);
    row.map_or(DVec2::NAN, |row| frame.position(row))
}

fn seen(simulation: &mut Simulation, id: u32) -> anyhow::Result<Explanation> {
    simulation.explain(id).with_context(|| format!("agent {id} is not there"))
}

fn route(seen: &Explanation) -> Vec<DVec2> {
    seen.route.iter().flatten().copied().map(DVec2::from_array).collect()
}

/// What the world field holds now.
fn densities(simulation: &Simulation) -> Vec<(DVec2, f64)> {
    let (world, mut intents) = (simulation.world(), Intents::default());
    intents.resize(world.agents.len());
    WorldField::default().run(world.view(), &mut intents);
    let Some(flow) = intents.flow else { return Vec::new() };
    let side = f64::from(flow.side());
    // Cells lie on multiples of their side from the world's origin.
    let first = (-world.origin / side).floor();
    let count = (SIZE / side).as_ivec2();
    let middle = |x: i32, y: i32| (first + DVec2::new(x.into(), y.into()) + 0.5) * side;
    let density = |middle: DVec2| f64::from(flow.read(world.view(), middle.as_vec2(), None).density);
    let cells = (0..count.y).flat_map(|y| (0..count.x).map(move |x| (x, y)));
    cells
        .map(|(x, y)| (world.origin + middle(x, y), density(middle(x, y))))
        .filter(|(_, density)| *density > 0.0)
        .collect()
}

fn map_cell() -> f64 {
    MapField::default().cell.into()
}

/// The cells of the map field that a route passes, by their lower left corners. They lie on multiples of their side from the
/// world's origin, which is one in the middle of this map.
fn cells_along(route: &[DVec2]) -> Vec<DVec2> {
    let side = map_cell();
    let mut cells: Vec<DVec2> = Vec::new();
    for leg in route.windows(2) {
        let parts = (leg[0].distance(leg[1]) / (0.02 * side)).ceil().max(1.0);
        for part in 0..=parts as u32 {
            let cell = (leg[0].lerp(leg[1], f64::from(part) / parts) / side).floor() * side;
            if cells.last() != Some(&cell) {
                cells.push(cell);
            }
        }
    }
    cells
}

fn square(low: DVec2, side: f64) -> [DVec2; 4] {
    rectangle([low, low + side])
}

/// (a): obstacles, start and goal, and the cells of the route.
fn draw_map_field(panel: &mut Panel<'_>, meeting: &Meeting) {
    panel.area(&rectangle([DVec2::ZERO, SIZE]), Colour::FLOOR);
    for cell in cells_along(&meeting.route) {
        panel.area(&square(cell, map_cell()), ROUTE);
    }
    obstacles(panel, &meeting.scenario.map);
    let count = (SIZE / map_cell()).as_ivec2();
    panel.grid(DVec2::ZERO, map_cell(), [count.x as usize, count.y as usize], Colour::FAINT.with_alpha(0.5));
    panel.line(&meeting.route, Colour::INK.with_alpha(0.7), 1.4);
    panel.triangle(meeting.route[0], 9.0, START);
    panel.triangle(meeting.goal, 9.0, GOAL);
}

fn obstacles(panel: &mut Panel<'_>, map: &Map) {
    for (_, ring) in &map.obstacles {
        panel.area(ring, Colour::WALL);
        panel.edge(ring, Colour::FAINT, 1.2);
    }
}

/// (b): densities, and the bodies that they are of.
fn draw_world_field(panel: &mut Panel<'_>, meeting: &Meeting, has_bodies: bool) {
    panel.area(&rectangle([DVec2::ZERO, SIZE]), Colour::FLOOR);
    obstacles(panel, &meeting.scenario.map);
    let side = f64::from(WorldField::default().cell);
    for &(middle, density) in &meeting.densities {
        let colour = Colour::of_density((density / DENSE) as f32);
        panel.area(&square(middle - 0.5 * side, side), colour);
    }
    if has_bodies {
        meeting.bodies.iter().for_each(|&body| panel.dot(body, 1.2, Colour::INK));
    }
    panel.edge(&rectangle([DVec2::ZERO, SIZE]), Colour::FAINT, 1.0);
}

/// (c): the discomfort that two agents perceive.
fn draw_perception(panel: &mut Panel<'_>, meeting: &Meeting, has_cells: bool) {
    for (field, colour) in meeting.fields() {
        let lines = field.discomfort.len();
        for (line, column) in cells(field) {
            let share = (f64::from(field.discomfort[line][column]) / UNCOMFORTABLE).min(1.0) as f32;
            let corners = cell_of(field, line, column);
            if share > 0.0 {
                panel.area(&corners, colour.with_alpha(0.15 + 0.7 * share));
            }
            if has_cells {
                panel.edge(&corners, colour.with_alpha(0.3), 0.6);
            }
        }
        panel.edge(&outline(field, lines), colour, 1.8);
    }
}

fn cells(field: &PerceptionField) -> impl Iterator<Item = (usize, usize)> {
    let columns = field.discomfort.len();
    (0..columns).flat_map(move |line| (0..columns).map(move |column| (line, column)))
}

/// A place of a field, in cells from the middle of its first.
fn place_in(field: &PerceptionField, column: f64, line: f64) -> DVec2 {
    DVec2::from_array(field.first) + field.across.as_dvec2() * column + field.along.as_dvec2() * line
}

fn cell_of(field: &PerceptionField, line: usize, column: usize) -> [DVec2; 4] {
    let (column, line) = (column as f64, line as f64);
    let corner = |right: f64, up: f64| place_in(field, column + right, line + up);
    [corner(-0.5, -0.5), corner(0.5, -0.5), corner(0.5, 0.5), corner(-0.5, 0.5)]
}

fn outline(field: &PerceptionField, side: usize) -> [DVec2; 4] {
    let high = side as f64 - 0.5;
    [(-0.5, -0.5), (high, -0.5), (high, high), (-0.5, high)]
        .map(|(column, line)| place_in(field, column, line))
}

fn draw_two(panel: &mut Panel<'_>, meeting: &Meeting) {
    for (index, (seen, colour)) in meeting.seen.iter().zip([OF_FIRST, OF_SECOND]).enumerate() {
        let at = DVec2::from_array(seen.position);
        panel.arrow([at, at + seen.chosen.as_dvec2()], colour, 2.0);
        panel.dot(at, 4.5, colour);
        let (offset, anchor) =
            if index == 0 { ([-8.0, 14.0], Anchor::End) } else { ([8.0, -7.0], Anchor::Start) };
        panel.text(at, offset, anchor, Colour::INK, ["A1", "A2"][index]);
    }
}

/// What is shown close up, m: both fields, within the map's shape.
fn around_both(meeting: &Meeting, shape: DVec2) -> [DVec2; 2] {
    let corners = meeting.fields().flat_map(|(field, _)| outline(field, field.discomfort.len()));
    let (low, high) =
        corners.fold((DVec2::MAX, DVec2::MIN), |(low, high), corner| (low.min(corner), high.max(corner)));
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0 + 0.3);
    let half = shape * (half / shape).max_element();
    [middle - half, middle + half]
}

pub fn three_fields(job: &Job) -> anyhow::Result<Picture> {
    job.say("two agents meet");
    let meeting = Meeting::new()?;
    let (cell, side) = (WorldField::default().cell, map_cell());
    let about = format!(
        "{} agents on {} m × {} m, {:.1} s after the start. Cells of {side} m in the map field, of {cell} m in the two others.",
        meeting.bodies.len(),
        SIZE.x,
        SIZE.y,
        meeting.time
    );
    let mut sheet = Sheet::new([1200, 1010], "The three fields", &about);
    let part = |sheet: &Sheet, place| sheet.room().part(place, [2, 2]);
    let frame = part(&sheet, [0, 0]);
    let whole = [DVec2::ZERO, SIZE];
    let caption = "(a) Map field\nobstacles, and the cells that the route of A1 passes";
    draw_map_field(&mut sheet.map(frame, caption, whole), &meeting);
    let frame = part(&sheet, [1, 0]);
    let caption = "(b) World field\nhow dense the crowd is; a dot for every agent";
    draw_world_field(&mut sheet.map(frame, caption, whole), &meeting, true);
    close_up(&mut sheet, &meeting);
    stack(&mut sheet, &meeting);
    sheet.legend(&[
        (Swatch::Triangle(START), "start of A1"),
        (Swatch::Triangle(GOAL), "its goal"),
        (Swatch::Area(ROUTE), "cells of its route"),
        (Swatch::Area(OF_FIRST), "discomfort for A1"),
        (Swatch::Area(OF_SECOND), "for A2"),
    ]);
    sheet.density_bar(DENSE, "density, 1/m²");
    Ok(sheet.finish())
}

fn close_up(sheet: &mut Sheet, meeting: &Meeting) {
    let frame = sheet.room().part([0, 1], [2, 2]);
    let caption = "(c) Local perception fields of A1 and A2\nwhere others are and will be within two seconds";
    let within = around_both(meeting, SIZE);
    let mut panel = sheet.map(frame, caption, within);
    panel.area(&rectangle(within), Colour::FLOOR);
    draw_perception(&mut panel, meeting, true);
    let is_shown = |body: &DVec2| body.cmpgt(within[0]).all() && body.cmplt(within[1]).all();
    for &body in meeting.bodies.iter().filter(|body| is_shown(body)) {
        panel.dot(body, 3.5, Colour::FAINT);
    }
    draw_two(&mut panel, meeting);
    panel.edge(&rectangle(within), Colour::FAINT, 1.0);
    panel.scale_bar(within[0] + 0.5, 2.0);
}

/// (d): one above the other, as the agents have them.
fn stack(sheet: &mut Sheet, meeting: &Meeting) {
    let frame = sheet.room().part([1, 1], [2, 2]);
    let ([left, top], [width, height]) =
        sheet.captioned(frame, "(d) The three as a stack\nfrom below: map, world, perception");
    let unit = Sheet::layer_size(SIZE, 1.0);
    // So far above one another that no layer hides one below.
    let rise = 1.08;
    let scale = (f64::from(width) / unit.x).min(f64::from(height) / (unit.y * (1.0 + 2.0 * rise)));
    let layer = |sheet: &mut Sheet, level: f64, draw: &dyn Fn(&mut Panel<'_>)| {
        let y = f64::from(top + height) - level * rise * unit.y * scale;
        draw(&mut sheet.layer([left, y as f32], scale, DVec2::ZERO));
    };
    layer(sheet, 0.0, &|panel| {
        draw_map_field(panel, meeting);
        panel.edge(&rectangle([DVec2::ZERO, SIZE]), Colour::FAINT, 1.2);
    });
    layer(sheet, 1.0, &|panel| draw_world_field(panel, meeting, false));
    layer(sheet, 2.0, &|panel| {
        panel.area(&rectangle([DVec2::ZERO, SIZE]), Colour::FLOOR.with_alpha(0.6));
        panel.edge(&rectangle([DVec2::ZERO, SIZE]), Colour::FAINT, 1.0);
        draw_perception(panel, meeting, false);
        draw_two(panel, meeting);
    });
}

/// In cells, as the paper's figure has them: A1 and A2 share a cell, and A2 and A3 another.
const THREE: [(&str, Vec2); 3] =
    [("A1", Vec2::new(1.7, 3.75)), ("A2", Vec2::new(2.6, 2.72)), ("A3", Vec2::new(1.65, 1.75))];
const CELLS: usize = 5;

pub fn densities_of_three(_: &Job) -> anyhow::Result<Picture> {
    let field = WorldField::default();
    let spread = Vec2::new(field.spread_x, field.spread_y);
    let blob = Blob::new(field.amplitude, spread, field.cell);
    let about = format!(
        "Every agent counts in the four cells whose middles are closest to it: {} exp(-d² / 2s²), s = {} m, cells of {} m. Densities in 1/m².",
        field.amplitude, field.spread_x, field.cell
    );
    let mut sheet = Sheet::new([1100, 640], "Densities of cells with respect to where agents are", &about);
    let within = [DVec2::new(-0.5, -0.5), DVec2::splat(CELLS as f64 + 0.1)];
    let frame = sheet.room().part([0, 0], [2, 1]);
    let mut panel = sheet.map(frame, "(a) What each of three agents adds", within);
    cells_and_agents(&mut panel, true);
    influences(&mut panel, &blob);
    let frame = sheet.room().part([1, 0], [2, 1]);
    let mut panel = sheet.map(frame, "(b) What the cells of the world field hold: the sums", within);
    sums(&mut panel, &blob);
    cells_and_agents(&mut panel, false);
    let names =
        THREE.iter().enumerate().map(|(index, (name, _))| (Swatch::Edge(Colour::of_cohort(index)), *name));
    let names: Vec<(Swatch, &str)> = names.collect();
    sheet.legend(&names);
    sheet.density_bar(DENSE, "density, 1/m²");
    Ok(sheet.finish())
}

/// Cells with i and j, as the paper counts them, and the agents.
fn cells_and_agents(panel: &mut Panel<'_>, has_names: bool) {
    panel.grid(DVec2::ZERO, 1.0, [CELLS, CELLS], Colour::FAINT.with_alpha(0.7));
    for cell in 0..CELLS {
        let name = |letter: &str| if cell == 0 { letter.to_owned() } else { format!("{letter}+{cell}") };
        let middle = cell as f64 + 0.5;
        panel.text(DVec2::new(middle, 0.0), [0.0, 17.0], Anchor::Middle, Colour::FAINT, &name("i"));
        panel.text(DVec2::new(0.0, middle), [-7.0, 4.0], Anchor::End, Colour::FAINT, &name("j"));
    }
    for (index, (name, place)) in THREE.iter().enumerate() {
        panel.dot(place.as_dvec2(), 6.5, Colour::FLOOR);
        panel.dot(place.as_dvec2(), 5.0, Colour::of_cohort(index));
        if has_names {
            panel.text(place.as_dvec2(), [8.0, -5.0], Anchor::Start, Colour::INK, name);
        }
    }
}

/// By agent the edge of its four cells, and in each of them what it adds.
fn influences(panel: &mut Panel<'_>, blob: &Blob) {
    for (index, (_, place)) in THREE.iter().enumerate() {
        let (splat, colour) = (blob.splat(*place), Colour::of_cohort(index));
        let low = splat.cell.as_dvec2();
        let inset = 0.03 * (index as f64 + 1.0);
        let ring = rectangle([low + inset, low + 2.0 - inset]);
        panel.area(&ring, colour.with_alpha(0.1));
        panel.edge(&ring, colour, 2.2);
        for (offset, weight) in FOUR.into_iter().zip(splat.weight) {
            // Where several add to a cell, one below the other.
            let corner = (splat.cell + offset).as_dvec2() + DVec2::new(0.15, 0.0);
            let line = [0.14, 0.44, 0.14][index];
            panel.text(
                corner + DVec2::new(0.0, line),
                [0.0, 0.0],
                Anchor::Start,
                colour,
                &format!("{weight:.2}"),
            );
        }
    }
}

fn sums(panel: &mut Panel<'_>, blob: &Blob) {
    let splats = THREE.map(|(_, place)| blob.splat(place));
    let added = || {
        splats.iter().flat_map(|splat| FOUR.map(|offset| splat.cell + offset).into_iter().zip(splat.weight))
    };
    for index in 0..CELLS * CELLS {
        let cell = IVec2::new((index % CELLS) as i32, (index / CELLS) as i32);
        let low = cell.as_dvec2();
        let density: f64 = added().filter(|(at, _)| *at == cell).map(|(_, weight)| f64::from(weight)).sum();
        if density > 0.0 {
            let share = (density / DENSE) as f32;
            panel.area(&square(low, 1.0), Colour::of_density(share));
            let ink = if share > 0.55 { Colour::FLOOR } else { Colour::INK };
            panel.text(
                low + DVec2::new(0.15, 0.14),
                [0.0, 0.0],
                Anchor::Start,
                ink,
                &format!("{density:.2}"),
            );
        }
    }
}

pub fn waypoint_and_local_goal(job: &Job) -> anyhow::Result<Picture> {
    job.say("two agents meet");
    let meeting = Meeting::new()?;
    let seen = &meeting.seen[0];
    let field = seen.field.as_ref().context("the first agent perceives no field")?;
    let rest = route(seen);
    let waypoint = *rest.get(1).context("the first agent has no waypoint")?;
    let about = "The waypoint is the next stop of the route. In the field of perception the local goal is the cell from which the least is left of the way.";
    let mut sheet = Sheet::new([1200, 640], "Waypoint and local goal", about);
    let frame = sheet.room().part([0, 0], [2, 1]);
    let mut panel =
        sheet.map(frame, "(a) Map field\nroute, waypoint, and what A1 perceives", [DVec2::ZERO, SIZE]);
    draw_map_field(&mut panel, &meeting);
    panel.area(&outline(field, field.cost.len()), OF_FIRST.with_alpha(0.2));
    panel.edge(&outline(field, field.cost.len()), OF_FIRST, 2.0);
    draw_first(&mut panel, seen);
    panel.dot(waypoint, 6.0, WAYPOINT);
    perceived_way(&mut sheet, seen, field, waypoint);
    sheet.legend(&[
        (Swatch::Triangle(START), "start"),
        (Swatch::Triangle(GOAL), "goal"),
        (Swatch::Area(ROUTE), "cells of the route"),
        (Swatch::Disc(WAYPOINT), "waypoint"),
        (Swatch::Edge(OF_FIRST), "local perception field"),
        (Swatch::Area(LOCAL_GOAL), "local goal"),
        (Swatch::Line(OF_FIRST), "chosen velocity, m in 1 s"),
    ]);
    Ok(sheet.finish())
}

const WAYPOINT: Colour = Colour::hex(0x009e73);
const LOCAL_GOAL: Colour = Colour::hex(0xe69f00);

fn draw_first(panel: &mut Panel<'_>, seen: &Explanation) {
    let at = DVec2::from_array(seen.position);
    panel.arrow([at, at + seen.chosen.as_dvec2()], OF_FIRST, 2.4);
    panel.dot(at, 5.0, OF_FIRST);
    panel.text(at, [-9.0, 14.0], Anchor::End, Colour::INK, "A1");
}

/// (b): what is left of the way from every cell, with the local goal.
fn perceived_way(sheet: &mut Sheet, seen: &Explanation, field: &PerceptionField, waypoint: DVec2) {
    let side = field.potential.len();
    let half = 0.5 * side as f64 * f64::from(field.cell);
    let at = DVec2::from_array(seen.position);
    // Turned as the field lies, it is wider.
    let within = [at - 1.45 * half, at + 1.45 * half];
    let frame = sheet.room().part([1, 0], [2, 1]);
    let caption = "(b) Local perception field\nthe darker, the more is left of the way to the waypoint; white: behind a wall";
    let mut panel = sheet.map(frame, caption, within);
    let known =
        || cells(field).filter_map(|(line, column)| Some(((line, column), field.potential[line][column]?)));
    let (low, high) =
        known().fold((f32::MAX, f32::MIN), |(low, high), (_, left)| (low.min(left), high.max(left)));
    for ((line, column), left) in known() {
        let corners = cell_of(field, line, column);
        panel.area(&corners, Colour::of_density(0.1 + 0.8 * (left - low) / (high - low).max(1e-6)));
        panel.edge(&corners, Colour::FLOOR.with_alpha(0.5), 0.6);
    }
    if let Some(((line, column), _)) = known().min_by(|a, b| a.1.total_cmp(&b.1)) {
        panel.area(&cell_of(field, line, column), LOCAL_GOAL);
    }
    panel.edge(&outline(field, side), OF_FIRST, 2.0);
    draw_first(&mut panel, seen);
    let reach = 1.35 * half;
    let towards = (waypoint - at).normalize_or_zero();
    if at.distance(waypoint) < reach {
        panel.dot(waypoint, 7.0, WAYPOINT);
    } else {
        panel.arrow([at + towards * (half * 1.08), at + towards * reach], WAYPOINT, 2.4);
        let name = format!("waypoint, {:.0} m away", at.distance(waypoint));
        panel.text(at + towards * reach, [10.0, 4.0], Anchor::Start, Colour::INK, &name);
    }
    panel.scale_bar(within[0] + 0.3, 2.0);
}
