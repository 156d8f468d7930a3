//! Runs that are broken off, and go on.
#![cfg(unix)]

use crate::common::{Answer, Desk, rows, signal};
use std::process::Child;
use std::time::{Duration, Instant};

/// Long enough to be broken off, short enough to be run to its end. The map changes on the way.
const LONG: &str = r#"
format = 1
name = "long"
dt = 0.01
until = 40
[[agents]]
count = 250
place = { circle = { center = [0, 0], radius = 40 }, jitter = 0.2 }
goal = { antipodal = [0, 0] }
[[agents]]
name = "early"
place = { grid = { from = [50, 0], columns = 3, spacing = 2 } }
count = 9
goal = { offset = [0, 8] }
on_arrival = "leave"
[[events]]
at = 2.0
add_obstacle = { name = "block", polygon = [[-1, 10], [1, 10], [1, 12], [-1, 12]] }
[[events]]
at = 30.0
remove_obstacle = "block"
"#;

const SAVED: &str = "run long.toml --checkpoint state.throng --every 1";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("long.toml", LONG);
    desk
}

/// Lets a run go on until it has saved its state, and a little longer.
fn wait_for_checkpoint(desk: &Desk, child: &mut Child) {
    let begin = Instant::now();
    while !desk.path("state.throng").exists() {
        assert!(begin.elapsed() < Duration::from_secs(120), "no checkpoint");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(child.try_wait().unwrap(), None, "the run was over before it could be broken off");
}

#[test]
fn a_killed_run_goes_on_to_the_same_end() {
    let desk = desk();
    let whole = desk.report("run long.toml --record whole.txt");
    let mut child = desk.start(&format!("{SAVED} --record broken.txt"));
    wait_for_checkpoint(&desk, &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_ne!(desk.read("whole.txt"), desk.read("broken.txt"));

    let resumed = desk.report("run --resume state.throng --record broken.txt --threads 1");
    for key in ["state_hash", "steps", "arrived", "collisions_per_step", "max_overlap_m", "path_length_m"] {
        assert_eq!(whole[key], resumed[key], "{key}");
    }
    assert!(desk.read("whole.txt") == desk.read("broken.txt"), "the recordings differ");
}

#[test]
fn a_killed_run_leaves_a_readable_database_that_goes_on() {
    let desk = desk();
    let whole = desk.report("run long.toml --record whole.sqlite --fps 20");
    let mut child = desk.start(&format!("{SAVED} --record broken.sqlite --fps 20"));
    wait_for_checkpoint(&desk, &mut child);
    child.kill().unwrap();
    child.wait().unwrap();

    let resumed = desk.report("run long.toml --resume state.throng --record broken.sqlite");
    assert_eq!(whole["state_hash"], resumed["state_hash"]);
    let (whole, broken) = (rows(&desk.path("whole.sqlite")), rows(&desk.path("broken.sqlite")));
    assert!(whole == broken, "the recordings differ");
    assert!(whole.iter().filter(|row| row.starts_with("geometry")).count() > 1, "the map has changed");
}

#[test]
fn ctrl_c_ends_a_run_cleanly() {
    let desk = desk();
    let mut child = desk.start(&format!("{SAVED} --record run.sqlite --report report.json"));
    wait_for_checkpoint(&desk, &mut child);
    signal(&child, "INT");
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(1), "{}{}", answer.out, answer.err);
    assert!(answer.out.contains("interrupted at t = "), "{}", answer.out);
    assert!(answer.out.contains("throng run --resume state.throng"), "{}", answer.out);

    let report: serde_json::Value = serde_json::from_slice(&desk.read("report.json")).unwrap();
    assert_eq!(report["ended"], "interrupted");
    desk.works("render run.sqlite -o run.png --width 300");
    let resumed = desk.report("run --resume state.throng --record run.sqlite");
    assert_eq!(resumed["state_hash"], desk.report("run long.toml")["state_hash"]);
}

#[test]
fn a_finished_run_can_be_given_more_time_and_nothing_else() {
    let desk = desk();
    desk.works(&format!("{SAVED} --until 5 --record run.txt"));
    let longer = desk.report("run long.toml --until 8 --record longer.txt");
    let resumed = desk.report("run --resume state.throng --until 8 --record run.txt");
    assert_eq!(longer["state_hash"], resumed["state_hash"]);
    assert!(desk.read("longer.txt") == desk.read("run.txt"));
    assert_eq!(
        desk.report("run long.toml --resume state.throng --until 8")["state_hash"],
        longer["state_hash"]
    );

    desk.refuses("run long.toml --resume state.throng --until 8 --seed 5", "another scenario");
    desk.refuses("run --resume state.throng --microscale hrvo", "another scenario");
    desk.refuses("run circle --resume state.throng", "another scenario");
}

#[test]
fn checkpoints_that_are_none() {
    let desk = desk();
    desk.works(&format!("{SAVED} --until 2"));
    desk.refuses(&format!("{SAVED} --record run.parquet"), ".parquet recording cannot go on");
    desk.refuses("run --resume nowhere", "cannot read the checkpoint `nowhere`: there is no such file");
    desk.refuses("run --resume long.toml", "not a whole checkpoint");
    let state = desk.read("state.throng");
    std::fs::write(desk.path("torn"), &state[..state.len() / 2]).unwrap();
    desk.refuses("run --resume torn", "its checksum is wrong");
}

#[test]
fn a_recording_that_does_not_fit_its_checkpoint_is_left_alone() {
    let desk = desk();
    desk.works(&format!("{SAVED} --until 5 --record run.txt"));
    let resume = "run --resume state.throng --until 8";
    desk.refuses(&format!("{resume} --record run.txt --fps 3"), "keep `dt` and `fps` as they were");
    desk.refuses(&format!("{resume} --record other.txt"), "cannot continue `other.txt`");
    desk.write("short.txt", "# x");
    desk.refuses(&format!("{resume} --record short.txt"), "cannot continue `short.txt`");
    assert_eq!(desk.read("short.txt"), b"# x");
}
