//! `throng bench`: models of the catalog, and instructions held against a file.

use crate::common::Desk;
use serde_json::Value;

#[test]
fn models_are_measured_by_density_walls_and_threads() {
    let desk = Desk::new();
    let line =
        "bench --models hrvo,navmesh --agents 100 --density 0.25,1 --walls none,blocks --threads 1,2 --json";
    let answer = desk.works(line).json();
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 16);
    for row in rows {
        assert!(row["ns_per_agent_step"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["first_step_ms"].as_f64().unwrap() > 0.0 && row["longest_step"].as_f64().unwrap() >= 1.0);
    }
    let of = |row: &&Value| row["model"] == "navmesh" && row["walls"] == "blocks" && row["threads"] == 2;
    assert_eq!(rows.iter().filter(of).count(), 2);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let desk = Desk::new();
    desk.refuses("bench --models orka", "there is no model `orka`; known: straight, visibility-graph");
    desk.refuses("bench --density 9", "from 0.001 to 5");
    desk.refuses("bench --instructions none.toml", "cannot read `none.toml`: there is no such file");
    desk.write("odd.toml", "compiler = 3\n");
    desk.refuses("bench --instructions odd.toml", "cannot read `odd.toml`");
    desk.refuses("bench --update", "--instructions");
}

#[test]
fn instructions_of_another_compiler_are_not_compared() {
    let desk = Desk::new();
    desk.write("counts.toml", "compiler = \"rustc 1.0.0\"\nprocessor = \"pdp11\"\n[instructions]\n");
    assert!(desk.works("bench --instructions counts.toml").out.starts_with("skipped: "));
}

#[test]
fn a_page_is_written_with_its_picture() {
    let desk = Desk::new();
    // Whether findings hold is not asked of a busy machine.
    let answer = desk.throng("bench --models orca,none --agents 100 --write speed.md");
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    let page = String::from_utf8(desk.read("speed.md")).unwrap();
    assert!(
        page.contains("![time of an agent-step](speed.png)") && page.contains("| orca | microscale |"),
        "{page}"
    );
    assert_eq!(&desk.read("speed.png")[1..4], b"PNG");
}
