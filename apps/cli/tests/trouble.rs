//! Bad input and a hostile disk: one clear message, exit code 2, nothing lost.

mod common;

use common::Desk;

#[test]
fn scenarios_that_cannot_be_read() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("folder")).unwrap();
    desk.write("torn.toml", "format = 1\n[[agents");
    std::fs::write(desk.path("noise.toml"), [0xff, 0xfe, 0x00, 0x80]).unwrap();
    for command in ["run", "check"] {
        desk.refuses(&format!("{command} nowhere.toml"), "there is no file `nowhere.toml`");
        desk.refuses(&format!("{command} crosing"), "did you mean `crossing`?");
        desk.refuses(&format!("{command} folder"), "`folder` is a folder");
        desk.refuses(&format!("{command} torn.toml"), "torn.toml:2:");
        desk.refuses(&format!("{command} noise.toml"), "noise.toml: cannot be read");
    }
}

#[test]
fn every_problem_of_a_scenario_is_named_with_its_line() {
    let desk = Desk::new();
    desk.write(
        "bad.toml",
        "format = 1\n[pipeline]\nmicroscale = \"orka\"\n[[agents]]\nradius = -1\nplace = { points = [[0, 0]] }\n\
         goal = { point = [1, 1] }\n[expect]\narived = 1\n",
    );
    let answer = desk.throng("check bad.toml");
    assert_eq!(answer.code, Some(2));
    for part in ["bad.toml:3:", "did you mean `orca`", "bad.toml:5:", "bad.toml:9:", "did you mean `arrived`"]
    {
        assert!(answer.err.contains(part), "no `{part}` in\n{}", answer.err);
    }
    assert_eq!(answer.err.lines().count(), 3);
}

#[test]
fn one_bad_scenario_among_good_ones_is_found() {
    let answer = Desk::new().throng("check circle nowhere corridor");
    assert_eq!(answer.code, Some(2));
    assert!(
        answer.out.contains("circle is sound") && answer.out.contains("corridor is sound"),
        "{}",
        answer.out
    );
}

#[test]
fn options_that_make_no_sense() {
    let desk = Desk::new();
    desk.refuses("run circle --microscale orka", "did you mean `orca`");
    desk.refuses("run circle --mesoscale tea", "unknown mesoscale model `tea`");
    desk.refuses("run circle --set nonsense", "KEY=VALUE");
    desk.refuses("run circle --set agents.7.count=3", "agents has no `7`");
    desk.refuses("run circle --set params.orca.time_horizon=-1", "must be > 0");
    desk.refuses("run circle --set expect.arived=1", "did you mean `arrived`");
    desk.refuses("run circle --threads 1000000000", "not in 0..=1024");
    desk.refuses("run circle --threads -1", "not in 0..=1024");
    desk.refuses("run circle --until nan", "--until NaN must be a finite number");
    desk.refuses("run circle --until -1", "must be >= 0");
    desk.refuses("run circle --record run.txt --fps 0", "fps is 0");
    desk.refuses("run circle --checkpoint c --every -2", "above 0");
    desk.refuses("run circle --every 5", "--checkpoint");
    desk.refuses("run", "FILE");
    desk.refuses("run circle --record run.xyz", "let it end in .sqlite");
    desk.refuses("frobnicate", "frobnicate");
}

#[test]
fn outputs_that_cannot_be_written_are_found_before_the_run() {
    let desk = Desk::new();
    for name in ["folder", "folder.sqlite", "folder.txt", "folder.parquet"] {
        std::fs::create_dir(desk.path(name)).unwrap();
    }
    // So long that the test would never end if the outputs were tried afterwards.
    let run = "run circle --until 1e9 --set agents.0.goal={point=[1e8,0]} --set agents.0.on_arrival=stay";
    for output in ["missing/run.sqlite", "missing/run.txt", "missing/run.csv", "missing/run.parquet"] {
        desk.refuses(&format!("{run} --record {output}"), "create the folder `missing` first");
    }
    for output in ["folder.sqlite", "folder.txt", "folder.parquet"] {
        desk.refuses(&format!("{run} --record {output}"), &format!("cannot write `{output}`"));
    }
    desk.refuses(&format!("{run} --report missing/r.json"), "there is no folder `missing`; create it first");
    desk.refuses(&format!("{run} --report folder"), "it is a folder");
    desk.refuses(&format!("{run} --checkpoint missing/c"), "there is no folder `missing`");
    desk.refuses(&format!("{run} --checkpoint folder"), "it is a folder");
    desk.refuses(
        &format!("{run} --report r --record r.txt --checkpoint ./r"),
        "--report and --checkpoint are both",
    );
    assert!(!desk.path("r").exists());
}

#[test]
fn a_scenario_is_never_overwritten_by_its_own_report() {
    let desk = Desk::new();
    desk.write("crowd.toml", "format = 1");
    desk.refuses("run crowd.toml --report crowd.toml", "the scenario and --report are both");
    assert_eq!(desk.read("crowd.toml"), b"format = 1");
}

#[test]
fn a_refused_run_leaves_an_old_report_alone() {
    let desk = Desk::new();
    desk.write("report.json", "old");
    desk.refuses("run circle --report report.json --record missing/run.txt", "create the folder");
    desk.refuses("run circle --report fresh.json --record missing/run.txt", "create the folder");
    assert_eq!(desk.read("report.json"), b"old");
    assert!(!desk.path("fresh.json").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let desk = Desk::new();
    for name in ["full.txt", "full.csv"] {
        std::os::unix::fs::symlink("/dev/full", desk.path(name)).unwrap();
        desk.refuses(&format!("run crossing --record {name}"), "the disk is full");
    }
    desk.refuses("run crossing --report /dev/full", "the disk is full");
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_where_nobody_may_write_is_named() {
    let desk = Desk::new();
    // Not even root can make files there.
    for option in
        ["--report /proc/r.json", "--record /proc/r.txt", "--record /proc/r.sqlite", "--checkpoint /proc/c"]
    {
        desk.refuses(&format!("run crossing {option}"), "cannot write `/proc/");
    }
    desk.refuses("run crossing --report /proc/r.json", "its folder takes no files");
}

#[cfg(target_os = "linux")]
#[test]
fn the_demo_says_where_it_cannot_draw() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("throng-demo.png")).unwrap();
    desk.refuses("", "cannot write `throng-demo.png`: it is a folder");
}

#[test]
fn pictures_that_cannot_be_drawn() {
    let desk = Desk::new();
    desk.works("run crossing --record run.sqlite --fps 2");
    desk.write("crowd.toml", "format = 1");
    desk.write("noise.sqlite", "this is not a database, and long enough to be looked at as one");
    std::fs::create_dir(desk.path("folder")).unwrap();
    desk.refuses(
        "render crossing -o a.png",
        "record one first: `throng run crossing --record crossing.sqlite`",
    );
    desk.refuses("render crowd.toml -o a.png", "`throng run crowd.toml --record crowd.sqlite`");
    desk.refuses("render nowhere.sqlite -o a.png", "there is no such file");
    desk.refuses("render noise.sqlite -o a.png", "cannot read `noise.sqlite`");
    desk.refuses("render folder -o a.png", "is a folder");
    desk.refuses("render run.sqlite -o a.gif", "cannot make films");
    desk.refuses("render run.sqlite -o a.mp4", "cannot make films");
    desk.refuses("render run.sqlite -o a", "let it end in .png or .svg");
    desk.refuses("render run.sqlite -o missing/a.png", "there is no folder `missing`");
    desk.refuses("render run.sqlite -o a.png --at 1e6", "which lasts from 0 to");
    desk.refuses("render run.sqlite -o a.png --width 0", "160..=16384");
    desk.refuses("render run.sqlite", "--output");
    assert!(!desk.path("a.png").exists());
}
