//! A run in a few lines, for a person.

use crate::output;
use crate::progress::duration;
use crate::session::{Ended, Outcome};
use throng::measure::Figures;
use throng::report::Report;
use throng::scenario::Scenario;
use throng::simulation::Unreachable;

/// A run in a few lines.
pub fn of(scenario: &Scenario, outcome: &Outcome) -> String {
    let report = &outcome.report;
    let rows = [
        ("scenario", format!("{}: {}, {}", report.scenario, agents(scenario), pipeline(scenario))),
        ("ended", ended(outcome)),
        ("walked", walked(report)),
        ("overlaps", overlaps(report)),
        ("took", took(report)),
        ("state", format!("{} (seed {})", report.state_hash, report.seed)),
    ];
    let unreachable = outcome.first_unreachable.as_ref().map(|first| ("no path", no_path(report, first)));
    let measured =
        report.measures.iter().map(|(name, figures)| ("measured", format!("{name}: {}", measured(figures))));
    let exits = (!report.exits.is_empty()).then(|| ("exits", exits(report)));
    let recorded = outcome.recording.as_ref().map(|recording| ("recorded", recording.to_string()));
    let rows = rows.into_iter().chain(exits).chain(measured).chain(unreachable).chain(recorded);
    output::table(0, &rows.map(|(label, text)| [label.into(), text]).collect::<Vec<_>>())
}

/// `150 agents`, or by cohort where there are several.
pub fn agents(scenario: &Scenario) -> String {
    let mut total = count(scenario.agent_count(), "agent");
    let coming: usize = scenario.sources.iter().map(|source| source.people.len()).sum();
    if coming > 0 {
        total += &format!(" and {coming} to come");
    }
    match scenario.cohorts.len() {
        0 | 1 => total,
        cohorts => format!("{total} in {cohorts} cohorts"),
    }
}

/// The models, from where to how.
pub fn pipeline(scenario: &Scenario) -> String {
    let stages = &scenario.pipeline;
    let mut names = vec![stages.macroscale.as_str()];
    names.extend(stages.mesoscale.iter().map(String::as_str));
    names.extend([stages.microscale.as_str(), stages.motion.as_str()]);
    names.join(" > ")
}

/// `1 agent`, `2 agents`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn ended(Outcome { ended, report, .. }: &Outcome) -> String {
    let time = format!("t = {:.1} s", report.simulated_s);
    let arrived = format!("{} of {} arrived", report.arrived, report.agents);
    let steps = count(report.steps as usize, "step");
    let mut text = match ended {
        Ended::Arrived => format!("everyone arrived by {time}, after {steps}"),
        Ended::Until => format!("time was over at {time}, after {steps}; {arrived}"),
        Ended::Interrupted => format!("interrupted at {time}, after {steps}; {arrived}"),
    };
    if report.waiting_outside > 0 {
        text += &format!("; {} waiting outside for room", report.waiting_outside);
    }
    if report.put_aside > 0 {
        text += &format!("; {} put aside because their numbers stopped making sense", report.put_aside);
    }
    text
}

/// `12 agents have no path to their goals (first: id 34 of cohort robots at (3.5, 2.0))`.
fn no_path(report: &Report, first: &Unreachable) -> String {
    let who = match report.no_path {
        1 => "1 agent has no path to its goal".to_owned(),
        many => format!("{many} agents have no path to their goals"),
    };
    let Unreachable { id, cohort, position: [x, y] } = first;
    format!("{who} (first: id {id} of cohort {cohort} at ({x:.1}, {y:.1}))")
}

/// `north 40, south 12`
fn exits(report: &Report) -> String {
    report.exits.iter().map(|(name, left)| format!("{name} {left}")).collect::<Vec<_>>().join(", ")
}

fn walked(report: &Report) -> String {
    let travel = report.mean_travel_s.map(|travel| format!(", {travel:.1} s on the way on average"));
    let length = match report.path_length_m {
        metres if metres >= 10_000.0 => format!("{:.1} km", metres / 1000.0),
        metres => format!("{metres:.0} m"),
    };
    format!("{length} in all{}", travel.unwrap_or_default())
}

/// A measure in a line: `52 crossed the line from 3.1 to 40.2 s: 1.37 /s, 1.52 /m/s`.
pub fn measured(figures: &Figures) -> String {
    let or_none =
        |number: Option<f64>, unit: &str| number.map_or("-".into(), |number| format!("{number:.2} {unit}"));
    match figures {
        Figures::Line(line) => {
            let when =
                line.first_s.zip(line.last_s).map(|(first, last)| format!(" from {first:.1} to {last:.1} s"));
            let (flow, specific) = (or_none(line.flow, "/s"), or_none(line.specific_flow, "/m/s"));
            format!("{} crossed{}, flow {flow}, {specific}", line.crossings, when.unwrap_or_default())
        }
        Figures::Area(area) => {
            let (mean, most) = (or_none(area.density_mean, "/m²"), or_none(area.density_max, "/m²"));
            let voronoi = area.voronoi_mean.map(|density| format!(", Voronoi {density:.2} /m²"));
            let speed = or_none(area.speed_mean, "m/s");
            format!("density {mean}, at most {most}{}, speed {speed}", voronoi.unwrap_or_default())
        }
    }
}

fn overlaps(report: &Report) -> String {
    if report.collisions_per_step == 0.0 {
        return "none".into();
    }
    let (collisions, depth) = (report.collisions_per_step, report.max_overlap_m * 1000.0);
    let collisions = if collisions < 0.01 { "< 0.01".into() } else { format!("{collisions:.2}") };
    format!("{collisions} pairs at a time on average, by {depth:.0} mm at most")
}

fn took(report: &Report) -> String {
    let threads = count(report.threads, "thread");
    let [step, p99, longest] =
        [report.step_us_mean, report.step_us_p99, report.step_us_max].map(|us| duration(us / 1e6));
    let rate = report.agent_steps_per_s / 1e6;
    let wall = duration(report.wall_s);
    format!(
        "{wall} on {threads}: {step} a step (99 in 100 under {p99}, the longest {longest}), {rate:.1} million agent steps a second"
    )
}
