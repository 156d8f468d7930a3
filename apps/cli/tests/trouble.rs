//! Bad input and a hostile disk: one clear message, exit code 2, nothing lost.

use crate::common::Desk;

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
    desk.refuses("render run.sqlite -o a", "let it end in .png, .svg, .gif or .mp4");
    desk.refuses("render run.sqlite -o missing/a.png", "there is no folder `missing`");
    desk.refuses("render run.sqlite -o a.png --at 1e6", "which lasts from 0 to");
    desk.refuses("render run.sqlite -o a.png --width 0", "160..=16384");
    desk.refuses("render run.sqlite", "--output");
    assert!(!desk.path("a.png").exists());
}

#[test]
fn films_that_cannot_be_made() {
    let desk = Desk::new();
    desk.works("run crossing --record run.sqlite --fps 2");
    desk.refuses("render run.sqlite -o a.mp4 --from 1e6", "--from 1000000 is not in the run");
    desk.refuses("render run.sqlite -o a.mp4 --from 5 --to 2", "--to must be after --from");
    desk.refuses("render run.sqlite -o a.mp4 --at 3", "--at is for pictures");
    desk.refuses("render run.sqlite -o a.gif --kind density", "--kind is for pictures");
    desk.refuses("render run.sqlite -o a.png --fps 10", "--fps is for films");
    desk.refuses("render run.sqlite -o a.mp4 --speed 0", "it must be above 0");
    desk.refuses("render run.sqlite -o a.mp4 --speed 1e-9", "more than 1000000 pictures");
    desk.refuses("render run.sqlite -o a.mp4 --size 20x20", "such as 1280x720");
    desk.refuses("render run.sqlite -o a.mp4 --size 9000x9000 --to 1", "at most 3840 × 2160");
    assert!(!desk.path("a.mp4").exists() && !desk.path("a.gif").exists());
}

/// It was said that this is not a whole checkpoint, as if the disk had failed.
#[test]
fn a_checkpoint_of_another_version_is_called_that() {
    let desk = Desk::new();
    for version in ["throngC1", "throngCx"] {
        desk.write("old.ck", &format!("{version}xxxxxxxxxxxxxxxxxxxxxxxx"));
        desk.refuses("run --resume old.ck", "a checkpoint of another version of throng");
        desk.refuses("run --resume old.ck", "start the run again");
    }
    desk.write("noise.ck", "throng");
    desk.refuses("run --resume noise.ck", "it does not begin like one");
}

/// Cohort members that keep together do so by `groups`; without it the key did nothing, without a warning.
#[test]
fn keeping_together_without_groups_is_warned_of() {
    let desk = Desk::new();
    desk.write(
        "family.toml",
        "format = 1\nuntil = 1\n[pipeline]\nmesoscale = [\"groups\"]\n[[agents]]\nname = \"family\"\ntogether = true\n\
         place = { points = [[0, 0], [0, 1]] }\ngoal = { offset = [9, 0] }\n",
    );
    let warning = "warning: cohort `family` has together = true, which does nothing without `groups`";
    for line in ["check family.toml", "run family.toml"] {
        assert_eq!(desk.works(line).err, "", "{line}");
    }
    let answer = desk.works("run family.toml --mesoscale none --report -");
    assert!(answer.err.contains(warning), "{}", answer.err);
    assert_eq!(answer.json()["agents"], 2);
    desk.write("alone.toml", &String::from_utf8(desk.read("family.toml")).unwrap().replace("\"groups\"", ""));
    assert!(desk.works("check alone.toml").err.contains(warning));
}

/// An agent that has no path stood there, and the summary knew nothing of it.
#[test]
fn an_agent_without_a_path_is_named() {
    let desk = Desk::new();
    let room = "format = 1\nuntil = 3\n[pipeline]\nmacroscale = \"visibility-graph\"\n[map]\n\
                walkable = \"POLYGON ((100 0, 120 0, 120 10, 100 10, 100 0))\"\n\
                obstacles = [[[109, -1], [110, -1], [110, 11], [109, 11]]]\n\
                [[agents]]\nname = \"free\"\nplace = { points = [[101, 5]] }\ngoal = { point = [108, 5] }\n\
                [[agents]]\nname = \"robots\"\nplace = { points = [[104, 2], [104, 8]] }\ngoal = { point = [115, 5] }\n";
    desk.write("room.toml", room);
    let answer = desk.works("run room.toml");
    let line = "2 agents have no path to their goals (first: id 1 of cohort robots at (104.0, 2.0))";
    assert!(answer.out.contains(line), "{}", answer.out);
    assert_eq!(desk.report("run room.toml")["no_path"], 2);
    assert_eq!(desk.report("run room.toml --macroscale straight")["no_path"], 0);
    assert!(!desk.works("run room.toml --macroscale straight").out.contains("no path"));
    // A run that has ended already says the same when it is taken up again.
    desk.works("run room.toml --checkpoint room.ck");
    assert!(desk.works("run --resume room.ck").out.contains(line));
}
