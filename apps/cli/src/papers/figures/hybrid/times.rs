//! Figure 6: the time of a frame by agents and size of the environment, measured as Table 1.

use super::super::super::hybrid::{GRIDS, Times, on_grid};
use super::Job;
use glam::DVec2;
use throng_render::{Axis, Colour, Panel, Picture, Sheet, Swatch};

/// All sizes are timed so often, one after another, and the least counts: what else a machine does only adds.
const ROUNDS: usize = 3;

/// Where a crowd was timed on a grid.
struct Timed {
    agents: usize,
    grid: u32,
    times: Times,
}

/// A part of a frame's time.
type Part = fn(&Times) -> f64;

pub fn of_a_frame(job: &Job) -> anyhow::Result<Picture> {
    let crowds: &[usize] = if job.quick { &[1_000, 2_000] } else { &[1_000, 5_000, 10_000, 15_000, 20_000] };
    let mut timed: Vec<Timed> = Vec::new();
    for round in 1..=ROUNDS {
        for (place, (agents, grid)) in sizes(crowds).enumerate() {
            job.say(&format!("round {round} of {ROUNDS}: {agents} agents on {grid} x {grid} cells"));
            let times = on_grid(agents, grid).on_one_thread().time()?;
            match timed.get_mut(place) {
                Some(known) => known.times = least(known.times, times),
                None => timed.push(Timed { agents, grid, times }),
            }
        }
    }
    Ok(draw(&timed, crowds))
}

fn sizes(crowds: &[usize]) -> impl Iterator<Item = (usize, u32)> {
    crowds.iter().flat_map(|&agents| GRIDS.map(|grid| (agents, grid)))
}

fn least(a: Times, b: Times) -> Times {
    Times { frame: a.frame.min(b.frame), fields: a.fields.min(b.fields), rest: a.rest.min(b.rest) }
}

fn draw(timed: &[Timed], crowds: &[usize]) -> Picture {
    let about = "Everybody's field solved as in the paper, on one thread. Median of 30 frames, the least of three runs. Cells of half a metre.";
    let mut sheet = Sheet::new([1300, 560], "Time of a frame by agents and size of the environment", about);
    by_agents(&mut sheet, timed);
    let parts: [(&str, Part); 2] = [
        ("(b) Fields of perception and of the world", |times| times.fields),
        ("(c) All else", |times| times.rest),
    ];
    for (column, (caption, of)) in parts.into_iter().enumerate() {
        by_grid(&mut sheet, column + 1, caption, (timed, crowds, of));
    }
    let names: Vec<String> = GRIDS.iter().map(|grid| format!("(a) {grid} × {grid} cells")).collect();
    let grids = names.iter().enumerate().map(|(place, name)| (Swatch::Disc(of_grid(place)), name.as_str()));
    let name = |(place, agents): (usize, &usize)| match place {
        0 => format!("(b, c) {agents} agents"),
        _ => agents.to_string(),
    };
    let counts: Vec<String> = crowds.iter().enumerate().map(name).collect();
    let counts =
        counts.iter().enumerate().map(|(place, name)| (Swatch::Line(of_crowd(place)), name.as_str()));
    let legend: Vec<(Swatch, &str)> = grids.chain(counts).collect();
    sheet.legend(&legend);
    sheet.finish()
}

fn by_agents(sheet: &mut Sheet, timed: &[Timed]) {
    let agents = Axis::with_ticks(timed.iter().map(|timed| timed.agents as f64), 4.0);
    let frame = sheet.room().part([0, 0], [3, 1]);
    let axes = [("agents", agents), ("ms", axis(timed, |times| times.frame))];
    let mut chart = sheet.chart(frame, "(a) The whole frame", axes);
    for (place, grid) in GRIDS.into_iter().enumerate() {
        let of = timed.iter().filter(|timed| timed.grid == grid);
        let points = of.map(|timed| DVec2::new(timed.agents as f64, timed.times.frame));
        series(&mut chart, points.collect(), of_grid(place));
    }
}

fn by_grid(sheet: &mut Sheet, column: usize, caption: &str, (timed, crowds, of): (&[Timed], &[usize], Part)) {
    let sides = Axis::with_ticks(GRIDS.iter().map(|&grid| grid.into()), 5.0);
    let frame = sheet.room().part([column, 0], [3, 1]);
    let axes = [("cells a side of the environment", sides), ("ms", axis(timed, of))];
    let mut chart = sheet.chart(frame, caption, axes);
    for (place, &agents) in crowds.iter().enumerate() {
        let here = timed.iter().filter(|timed| timed.agents == agents);
        let points = here.map(|timed| DVec2::new(timed.grid.into(), of(&timed.times)));
        series(&mut chart, points.collect(), of_crowd(place));
    }
}

fn axis(timed: &[Timed], of: Part) -> Axis {
    Axis::over(timed.iter().map(|timed| of(&timed.times)))
}

fn series(chart: &mut Panel<'_>, points: Vec<DVec2>, colour: Colour) {
    chart.line(&points, colour, 2.0);
    points.iter().for_each(|&point| chart.dot(point, 3.5, colour));
}

fn of_grid(place: usize) -> Colour {
    Colour::of_cohort(place)
}

/// Other colours than those of grids.
fn of_crowd(place: usize) -> Colour {
    Colour::of_cohort(place + GRIDS.len())
}
