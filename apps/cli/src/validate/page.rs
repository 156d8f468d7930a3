//! One HTML file with everything, to print or to hand on.

use super::Validation;
use super::figure::escaped;
use super::outcome::{Outcome, Status, Table};
use super::plan;
use crate::findings::{Finding, number};
use throng::scenario::Overrides;

const STYLE: &str = "
body { font: 15px/1.5 Georgia, serif; color: #222; max-width: 62em; margin: 2em auto; padding: 0 1em; }
h1, h2, th, .status, svg { font-family: Helvetica, Arial, sans-serif; }
h1 { font-size: 1.7em; } h2 { font-size: 1.2em; margin: 2.2em 0 0.3em; border-top: 1px solid #bbb; padding-top: 1em; }
table { border-collapse: collapse; margin: 0.8em 0; font-size: 0.9em; }
th, td { padding: 0.15em 0.7em; text-align: right; border-bottom: 1px solid #ddd; } th:first-child, td:first-child { text-align: left; }
dt { font-weight: bold; float: left; clear: left; width: 8em; } dd { margin: 0 0 0.3em 8.5em; }
.status { font-size: 0.75em; padding: 0.15em 0.6em; border-radius: 0.8em; color: #fff; }
.passed { background: #2a7d46; } .failed { background: #b3261e; } .waiting { background: #777; }
td.no { color: #b3261e; font-weight: bold; } svg { width: 34em; max-width: 100%; }
svg.plan { display: block; width: auto; height: auto; max-width: 34em; max-height: 18em; margin: 0.8em 0; }
code { font-size: 0.9em; background: #f3f3f3; padding: 0 0.25em; }
section { break-inside: avoid; } @media print { body { font-size: 11px; margin: 0; } }
";

/// The page. Plans are of the scenarios as the command line changes them.
pub fn page(validation: &Validation, changes: &Overrides) -> String {
    let title = format!("throng validate {}", escaped(&validation.name));
    let count = |status| validation.cases.iter().filter(|case| case.status == status).count();
    let waiting = match count(Status::Waiting) {
        0 => String::new(),
        waiting => format!(" {waiting} wait for what the engine cannot do yet, and count as neither."),
    };
    let held = validation.findings.iter().filter(|finding| finding.holds == Some(true)).count();
    let cases: String = validation.cases.iter().map(|case| section(case, changes)).collect();
    let seeds =
        if validation.seeds == 3 { "--quick".into() } else { format!("--seeds {}", validation.seeds) };
    let command = ["throng validate", &validation.name, &seeds].map(str::to_owned).into_iter();
    let command = command.chain(validation.changes.iter().cloned()).collect::<Vec<_>>().join(" ");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <h1>{title}</h1>\n<p>throng {}, {} seeds for each setting. {} cases passed, {} failed.{waiting} {held} of {} findings \
         hold. A failure that is told and explained is part of the result.</p>\n<p>Made by <code>{}</code>. Scenarios have the \
         engine's defaults, but for what their files say and what this command changes; <code>throng show NAME</code> prints a file, \
         <code>throng run NAME</code> runs it. In plans free space is white, people at the start are dots, and where they want to be is \
         shaded.</p>\n{}{cases}</html>\n",
        env!("CARGO_PKG_VERSION"),
        validation.seeds,
        count(Status::Passed),
        count(Status::Failed),
        validation.findings.len(),
        escaped(&command),
        contents(&validation.cases),
    )
}

fn contents(cases: &[Outcome]) -> String {
    let row = |case: &Outcome| {
        let name = escaped(&case.name);
        format!(
            "<tr><td><a href=\"#{name}\">{name}</a></td><td style=\"text-align:left\">{}</td><td>{}</td></tr>\n",
            escaped(&case.title),
            badge(case.status)
        )
    };
    format!("<table>\n{}</table>\n", cases.iter().map(row).collect::<String>())
}

fn badge(status: Status) -> String {
    let name = status.name();
    format!("<span class=\"status {name}\">{name}</span>")
}

fn section(case: &Outcome, changes: &Overrides) -> String {
    let because = case.because.as_ref().map(|because| {
        let title = if case.status == Status::Waiting { "Waits for" } else { "Fails, because" };
        format!("<dt>{title}</dt><dd>{}</dd>\n", escaped(because))
    });
    let file =
        case.scenario.map(|name| format!("<dt>Scenario</dt><dd><code>{}</code></dd>\n", escaped(name)));
    let plan = case.scenario.and_then(|name| plan::of(name, changes)).unwrap_or_default();
    let figures: String = case.figures.iter().map(|figure| figure.svg()).collect();
    format!(
        "<section id=\"{}\">\n<h2>{}: {} {}</h2>\n<dl>\n<dt>Set-up</dt><dd>{}</dd>\n<dt>Asked</dt><dd>{}</dd>\n{}{}</dl>\n{plan}{figures}{}{}</section>\n",
        escaped(&case.name),
        escaped(&case.name),
        escaped(&case.title),
        badge(case.status),
        escaped(&case.set_up),
        escaped(&case.asked),
        file.unwrap_or_default(),
        because.unwrap_or_default(),
        table(&case.table),
        findings(&case.findings),
    )
}

fn table(table: &Table) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let line = |cells: &[String], tag: &str| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = table.rows.iter().map(|row| line(row, "td")).collect();
    format!("<table>\n{}{rows}</table>\n", line(&table.header, "th"))
}

fn findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let row = |finding: &Finding| {
        let (class, verdict) = match finding.holds {
            Some(true) => ("", "holds"),
            Some(false) => ("no", "does not hold"),
            None => ("", "skipped"),
        };
        let (name, value, bar) = (escaped(&finding.name), number(finding.value), number(Some(finding.bar)));
        format!(
            "<tr><td>{name}</td><td>{value}</td><td>{} {bar}</td><td class=\"{class}\">{verdict}</td></tr>\n",
            escaped(finding.side.sign())
        )
    };
    let rows: String = findings.iter().map(row).collect();
    format!("<table>\n<tr><th>finding</th><th>value</th><th>bar</th><th></th></tr>\n{rows}</table>\n")
}
