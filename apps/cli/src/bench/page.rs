//! `throng bench --write FILE.md`: the figures as a page, with a picture where one would rather look than read.

use super::models::stage_of;
use super::threads::{CORES, Shared, lines, note};
use super::workload::{DENSITY, Walls};
use super::{Outcome, Row, dodgy, ours, python};
use crate::{files, findings};
use glam::DVec2;
use std::fmt::Write;
use std::path::Path;
use throng::catalog::Stage;
use throng_render::{Anchor, Axis, Colour, Panel, Picture, Sheet, Swatch};

/// Writes the page, and its picture beside it under the same name.
pub fn write(path: &Path, outcome: &Outcome) -> anyhow::Result<()> {
    let picture = path.with_extension("png");
    files::replace(&picture, &draw(outcome).to_png())?;
    let name = picture.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files::replace(path, page(outcome, &name).as_bytes())
}

fn page(outcome: &Outcome, picture: &str) -> String {
    let mut text = format!(
        "# Speed\n\nWritten by `throng bench --write`, which measures it anew. {}\n\n![time of an agent-step]({picture})\n\n",
        machine()
    );
    text += &format!(
        "A random crossing of walkers at {DENSITY} agents/m² where nothing else is said; they look at 10 neighbours within 5 m, 3 s ahead,\n\
         in steps of 0.1 s. Systems take turns and the best round of each counts, so that other work on the machine does not.\n\n\
         ## Beside peers, ns per agent-step\n\n"
    );
    text += &peers(&outcome.rows);
    text += &models(&outcome.rows);
    outcome.skipped.iter().for_each(|reason| text += &format!("\nNot run: {reason}.\n"));
    text += &threads(&outcome.threads);
    text += "\n## What must hold\n\n";
    let verdict = |holds| match holds {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "not looked at",
    };
    let line = |finding: &findings::Finding| {
        let bar = format!("{} {}", finding.side.sign(), findings::number(Some(finding.bar)));
        vec![finding.name.clone(), findings::number(finding.value), bar, verdict(finding.holds).into()]
    };
    text + &markdown(
        &["", "measured", "bar", "holds"],
        &outcome.findings.iter().map(line).collect::<Vec<_>>(),
    )
}

/// What it ran on. No date: the page is the same where the figures are.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let name = named.map_or(std::env::consts::ARCH, |(_, name)| name.trim());
    let plural = if cores == 1 { "" } else { "s" };
    format!("Machine: {name}, {cores} core{plural}, {}; {}.", std::env::consts::OS, env!("THRONG_COMPILER"))
}

fn markdown(header: &[&str], lines: &[Vec<String>]) -> String {
    let mut text = format!("| {} |\n|{}\n", header.join(" | "), " --- |".repeat(header.len()));
    for line in lines {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} |", line.join(" | "));
    }
    text
}

fn cell(ns: Option<f64>) -> String {
    ns.map(|ns| format!("{ns:.0}")).unwrap_or_default()
}

/// What is there of some rows, each once, in their order.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut seen, value| {
        if !seen.contains(&value) {
            seen.push(value);
        }
        seen
    })
}

/// A line for each system, a column for each crowd.
fn peers(rows: &[Row]) -> String {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.model.is_none()).collect();
    let crowds = distinct(rows.iter().map(|row| (row.agents, row.density)));
    let title = |(agents, density): &(usize, f64)| match *density == DENSITY {
        true => agents.to_string(),
        false => format!("{agents} at {density}/m²"),
    };
    let titles: Vec<String> = crowds.iter().map(title).collect();
    let header: Vec<&str> = ["", "threads"].into_iter().chain(titles.iter().map(String::as_str)).collect();
    let line = |&(system, threads): &(&str, usize)| {
        let of = |crowd: &(usize, f64)| {
            let found = rows.iter().find(|row| {
                (row.system, row.threads, row.agents, row.density) == (system, threads, crowd.0, crowd.1)
            });
            cell(found.map(|row| row.ns_per_agent_step))
        };
        let mut line = vec![system.to_string(), threads.to_string()];
        line.extend(crowds.iter().map(of));
        line
    };
    let systems = distinct(rows.iter().map(|row| (row.system, row.threads)));
    markdown(&header, &systems.iter().map(line).collect::<Vec<_>>())
}

/// A line for each model, a column for each density and number of threads.
fn models(rows: &[Row]) -> String {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.model.is_some()).collect();
    let Some(largest) = rows.iter().map(|row| row.agents).min() else { return String::new() };
    let columns = distinct(rows.iter().map(|row| (row.density, row.threads)));
    let mut titles: Vec<String> =
        columns.iter().map(|(density, threads)| format!("{density}/m², {threads} thr.")).collect();
    titles.extend(["10 times as many".into(), "first step, ms".into(), "longest/usual".into()]);
    let header: Vec<&str> = ["", "stage"].into_iter().chain(titles.iter().map(String::as_str)).collect();
    let line = |&(model, walls): &(&str, Walls)| {
        let of = |agents: usize, density: f64, threads: usize| {
            rows.iter().copied().find(|row| {
                row.model == Some(model)
                    && (row.walls, row.agents, row.density, row.threads) == (walls, agents, density, threads)
            })
        };
        let stage = stage_of(model).map_or("", |entry| entry.stage.name());
        let mut line = vec![model.to_string(), stage.to_string()];
        line.extend(
            columns.iter().map(|&(density, threads)| {
                cell(of(largest, density, threads).map(|row| row.ns_per_agent_step))
            }),
        );
        line.push(cell(of(10 * largest, DENSITY, 1).map(|row| row.ns_per_agent_step)));
        let usual = of(largest, DENSITY, 1);
        line.push(findings::number(usual.and_then(|row| row.first_step_ms)));
        line.push(findings::number(usual.and_then(|row| row.longest_step)));
        line
    };
    let lines = distinct(rows.iter().filter_map(|row| Some((row.model?, row.walls))));
    format!(
        "\n## Every model\n\nEach in the place of the usual one of its stage (straight, orca, holonomic), with {largest} agents; planners \
         among blocks of 8 m with\nstreets of 8 m, every agent with a goal of its own. ns per agent-step of the lower quartile of steps; the other \
         columns at {DENSITY}/m² on one\nthread.\n\n{}",
        markdown(&header, &lines.iter().map(line).collect::<Vec<_>>())
    )
}

fn threads(all: &[Shared]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let table = |cells: Vec<Vec<(String, String)>>| {
        let (titles, lines) = lines(&cells);
        markdown(&titles, &lines)
    };
    format!(
        "\n## Threads\n\nOf a step of ORCA on one thread: what is in no pass that threads could share (serial), what is in passes of a single \
         chunk, the\nserial share that one and two threads would have by Amdahl's law, the chunks of the longest pass and the time of one, how \
         long it\ntakes until a second thread begins with its half of a pass (waking). Then times the speed of one thread: measured on two, and \
         as a\nmodel has it. In that a pass of c chunks takes ⌈c / n⌉ / c of its time on n cores, and half of the waking is lost log2 n times, \
         but no\npass takes longer than by one thread; memory that all cores share is not in it.\n\n{}\n{}\nIts stages, µs on one and on two threads:\n\n{}",
        table(all.iter().map(Shared::cells).collect()),
        note(all),
        table(all.iter().map(Shared::stage_cells).collect())
    )
}

/// Beside peers, by agents; models, by density; threads, by cores.
fn draw(outcome: &Outcome) -> Picture {
    let about = "Beside peers and by model: on one thread, ns per agent-step. (c): times the speed of one thread, as a model has it.";
    let mut sheet = Sheet::new([1500, 620], "What a step costs", about);
    let mut legend = of_peers(&mut sheet, &outcome.rows);
    legend.extend(of_models(&mut sheet, &outcome.rows));
    legend.extend(of_threads(&mut sheet, &outcome.threads));
    let named: Vec<(Swatch, &str)> = legend.iter().map(|(swatch, name)| (*swatch, name.as_str())).collect();
    sheet.legend(&named);
    sheet.finish()
}

type Legend = Vec<(Swatch, String)>;

fn series(chart: &mut Panel<'_>, points: &[DVec2], colour: Colour) {
    chart.line(points, colour, 2.0);
    points.iter().for_each(|&point| chart.dot(point, 3.5, colour));
}

/// An axis for logarithms, from one power of ten to another.
fn decades(powers: impl Iterator<Item = f64> + Clone) -> Axis {
    let low = powers.clone().fold(f64::INFINITY, f64::min).floor();
    Axis::decades([low as i32, powers.fold(low + 1.0, f64::max).ceil() as i32])
}

fn of_peers(sheet: &mut Sheet, rows: &[Row]) -> Legend {
    let systems = [ours::NAME, dodgy::NAME, python::PYRVO.name];
    let points = |system: &str| -> Vec<DVec2> {
        let is_asked = |row: &&Row| {
            row.model.is_none() && (row.system, row.threads, row.density) == (system, 1, DENSITY)
        };
        let place = |row: &Row| DVec2::new((row.agents as f64).log10(), row.ns_per_agent_step.log10());
        rows.iter().filter(is_asked).map(place).collect()
    };
    let all: Vec<DVec2> = systems.iter().flat_map(|system| points(system)).collect();
    if all.is_empty() {
        return Legend::new();
    }
    let axes = [("agents", decades(all.iter().map(|at| at.x))), ("ns", decades(all.iter().map(|at| at.y)))];
    let frame = sheet.room().part([0, 0], [3, 1]);
    let mut chart = sheet.chart(frame, "(a) ORCA beside peers", axes);
    let drawn = systems.iter().enumerate().map(|(place, system)| {
        series(&mut chart, &points(system), Colour::of_cohort(place));
        (Swatch::Disc(Colour::of_cohort(place)), format!("(a) {system}"))
    });
    drawn.collect()
}

fn of_models(sheet: &mut Sheet, rows: &[Row]) -> Legend {
    let is_local = |model: &str| stage_of(model).is_some_and(|entry| entry.stage == Stage::Microscale);
    let smallest = rows.iter().filter(|row| row.model.is_some()).map(|row| row.agents).min();
    let rows: Vec<&Row> = rows
        .iter()
        .filter(|row| row.model.is_some_and(is_local) && row.threads == 1 && Some(row.agents) == smallest)
        .collect();
    if rows.is_empty() {
        return Legend::new();
    }
    let powers = decades(rows.iter().map(|row| row.ns_per_agent_step.log10()));
    let apart = 0.045 * (powers.high() - powers.low());
    // With room for names behind the last points.
    let room = rows.iter().map(|row| 1.4 * row.density);
    let axes = [("agents per m²", Axis::over(room)), ("ns", powers)];
    let frame = sheet.room().part([1, 0], [3, 1]);
    let mut chart = sheet.chart(frame, "(b) Local models by density", axes);
    let models = distinct(rows.iter().filter_map(|row| row.model));
    let mut ends = Vec::new();
    for (place, &model) in models.iter().enumerate() {
        let of = rows.iter().filter(|row| row.model == Some(model));
        let points: Vec<DVec2> =
            of.map(|row| DVec2::new(row.density, row.ns_per_agent_step.log10())).collect();
        series(&mut chart, &points, Colour::of_cohort(place));
        ends.extend(points.last().map(|&last| (last, place, model)));
    }
    label(&mut chart, ends, apart);
    Legend::new()
}

/// Names beside the last points, none over another.
fn label(chart: &mut Panel<'_>, mut ends: Vec<(DVec2, usize, &str)>, apart: f64) {
    ends.sort_by(|a, b| a.0.y.total_cmp(&b.0.y));
    let mut free = f64::NEG_INFINITY;
    for (last, place, name) in ends {
        let at = DVec2::new(last.x, last.y.max(free));
        chart.text(at, [10.0, 4.0], Anchor::Start, Colour::of_cohort(place), name);
        free = at.y + apart;
    }
}

fn of_threads(sheet: &mut Sheet, all: &[Shared]) -> Legend {
    if all.is_empty() {
        return Legend::new();
    }
    let frame = sheet.room().part([2, 0], [3, 1]);
    let fastest = all.iter().flat_map(Shared::speed_up).fold(1.0, f64::max);
    let axes = [
        ("cores, 2 to the power of", Axis::over((0..=6).map(f64::from))),
        ("times one", Axis::over([0.0, fastest].into_iter())),
    ];
    let mut chart = sheet.chart(frame, "(c) Speed-up", axes);
    let drawn = all.iter().enumerate().map(|(place, shared)| {
        let colour = Colour::of_cohort(place + 3);
        let speed_up = CORES.iter().zip(shared.speed_up());
        let points: Vec<DVec2> = speed_up.map(|(&n, times)| DVec2::new((n as f64).log2(), times)).collect();
        series(&mut chart, &points, colour);
        (Swatch::Disc(colour), format!("(c) {} agents", shared.agents))
    });
    drawn.collect()
}
