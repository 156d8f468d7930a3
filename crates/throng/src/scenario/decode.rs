//! Reads a document into the file's types, and says in plain words where that fails.

use super::document::Document;
use super::error::{Report, ScenarioError, known};
use super::file::{MapFile, Point, ScenarioFile};
use super::path::KeyPath;
use crate::map::wkt;
use crate::map::{Drawing, drawing};
use std::path::Path;

/// Reads the tree into the file's types.
pub(super) fn decode(document: &Document) -> Result<ScenarioFile, ScenarioError> {
    // An old program should say that a file is too new before it stumbles over its new keys.
    let format = document.tree().get("format");
    if let Some(number) = format.and_then(serde_json::Value::as_u64).filter(|&number| number != 1) {
        let mut report = Report::new(document);
        report.say(
            &KeyPath::top("format"),
            format!("format {number} is not known; this version reads `format = 1`"),
        );
        return Err(report.into_error());
    }
    serde_path_to_error::deserialize(document.tree()).map_err(|error| {
        let path = KeyPath::from(error.path());
        let mut report = Report::new(document);
        explain(&mut report, &path, &error.into_inner().to_string());
        report.into_error()
    })
}

/// Turns a message of serde into one for people.
fn explain(report: &mut Report<'_>, path: &KeyPath, message: &str) {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if message.starts_with("unknown field") {
        let (key, names) = quoted.split_first().unwrap_or((&"", &[]));
        let table = KeyPath(path.0[..path.0.len().saturating_sub(1)].to_vec());
        let place = if table.0.is_empty() { String::new() } else { format!(" in `{table}`") };
        report.say(path, format!("unknown key `{key}`{place}; {}", known(key, names.iter().copied())));
    } else if message.starts_with("missing field") {
        let key = quoted.first().unwrap_or(&"");
        let hint = if *key == "format" { "; begin the file with `format = 1`" } else { "" };
        report.say(path, format!("key `{key}` is missing{hint}"));
    } else if message.starts_with("unknown variant") {
        report.value(path, format!("is unknown; {}", known(quoted[0], quoted[1..].iter().copied())));
    } else if let Some((_, expected)) = message.rsplit_once("expected ") {
        report.value(path, format!("must be {}", plain(expected)));
    } else {
        report.value(path, format!("is not valid: {message}"));
    }
}

fn plain(expected: &str) -> &str {
    match expected {
        "f64" => "a number",
        "u64" => "a whole number >= 0",
        "a sequence" => "a list",
        "a map" => "a table",
        "an array of length 2" => "two numbers, [x, y]",
        "an array of length 3" => "three numbers, [t, x, y]",
        _ if expected.starts_with("struct ") => "a table",
        _ => expected,
    }
}

/// Works the map file and the name into the file, so that it stands for itself.
pub(super) fn embed(
    document: &Document,
    file: &mut ScenarioFile,
    folder: Option<&Path>,
) -> Result<(), ScenarioError> {
    file.name.get_or_insert_with(|| stem(document.name()));
    let Some(name) = file.map.file.take() else { return Ok(()) };
    let path = KeyPath::top("map").then("file");
    let mut report = Report::new(document);
    if file.map.walkable.is_some() {
        report.value(&path, "and map.walkable cannot both be given; keep one");
        return Err(report.into_error());
    }
    let Some(folder) = folder else {
        report.value(&path, "cannot be found: this scenario has no folder; give the plan as map.walkable");
        return Err(report.into_error());
    };
    match drawing::load(&folder.join(&name)) {
        Ok(drawing) if drawing.polygons.is_empty() && drawing.lines.is_empty() => {
            report.value(&path, "holds neither a polygon nor a line");
        }
        Ok(drawing) => take_in(&mut file.map, drawing),
        Err(complaint) => report.value(&path, complaint),
    }
    report.finish(())
}

fn stem(name: &str) -> String {
    let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| "scenario".into())
}

fn take_in(map: &mut MapFile, drawing: Drawing) {
    map.walkable = (!drawing.polygons.is_empty()).then(|| wkt::write(&drawing.polygons));
    map.walls.extend(drawing.lines.into_iter().map(|line| line.into_iter().map(Point::from).collect()));
}
