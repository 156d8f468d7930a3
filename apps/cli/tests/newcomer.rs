//! Every command as a newcomer runs it.

use crate::common::{Answer, Desk};
use serde_json::Value;
use throng::builtin;
use throng::catalog::{self, Stage};

#[test]
fn the_demo_draws_a_picture_and_says_what_to_try_next() {
    let desk = Desk::new();
    let answer = desk.works("");
    assert!(desk.read("throng-demo.png").starts_with(b"\x89PNG"));
    assert!(
        answer.out.contains("everyone arrived") && answer.out.contains("throng-demo.png"),
        "{}",
        answer.out
    );
    assert_eq!(answer.err, "", "no progress bar in a pipe");
    // What it proposes works.
    for line in answer.out.lines().filter_map(|line| line.trim().strip_prefix("throng ")) {
        let (command, _) = line.split_once("   ").unwrap();
        desk.works(command);
    }
    assert!(desk.path("crossing.png").exists());
}

#[test]
fn a_run_prints_a_plain_summary() {
    let answer = Desk::new().works("run crossing --until 60");
    assert!(answer.out.starts_with("scenario  crossing: 160 agents in 2 cohorts"), "{}", answer.out);
    assert!(!answer.out.contains('\u{1b}') && answer.err.is_empty(), "{}{}", answer.out, answer.err);
}

#[test]
fn the_report_has_the_promised_keys() {
    const KEYS: [&str; 20] = [
        "scenario",
        "seed",
        "threads",
        "steps",
        "simulated_s",
        "agents",
        "arrived",
        "mean_travel_s",
        "path_length_m",
        "path_length_by_cohort",
        "collisions_per_step",
        "max_overlap_m",
        "wall_s",
        "step_us_mean",
        "step_us_p99",
        "step_us_max",
        "agent_steps_per_s",
        "stage_us",
        "peak_rss_mb",
        "state_hash",
    ];
    let desk = Desk::new();
    desk.works("run crossing --threads 2 --seed 9 --report report.json");
    let report: Value = serde_json::from_slice(&desk.read("report.json")).unwrap();
    for key in KEYS {
        assert!(!report[key].is_null(), "{key}");
    }
    assert_eq!((&report["threads"], &report["seed"]), (&2.into(), &9.into()));
    assert_eq!(report["path_length_by_cohort"].as_object().unwrap().len(), 2);
    assert_eq!(report["ended"], "arrived");
    assert!(report["stage_us"]["microscale"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_report_on_stdout_is_nothing_but_json() {
    let answer = Desk::new().throng("run crossing --until 3 --report -");
    assert_eq!(answer.json()["ended"], "until");
    assert_eq!(answer.code, Some(1));
    assert!(answer.err.starts_with("not as expected: arrived = 160, got 0\n"), "{}", answer.err);
}

#[test]
fn options_change_the_scenario() {
    let desk = Desk::new();
    desk.write("few.toml", &builtin::find("crossing").unwrap().text.replace("arrived = 160", ""));
    let few = desk.report(
        "run few.toml --set agents.0.count=3 --set agents.northward.count=4 --microscale hrvo \
         --macroscale straight --mesoscale none --motion acceleration-limited --set params.hrvo.max_neighbors=5",
    );
    assert_eq!(few["agents"], 7);
    let plain = desk.report("run few.toml --set agents.0.count=3 --set agents.northward.count=4");
    assert_ne!(few["state_hash"], plain["state_hash"]);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let desk = Desk::new();
    desk.write("few.toml", builtin::find("crossing").unwrap().text.split("[expect]").next().unwrap());
    for model in catalog::names(Stage::Microscale) {
        let hash = |threads| {
            desk.report(&format!("run few.toml --until 15 --microscale {model} --threads {threads}"))["state_hash"].clone()
        };
        let alone = hash(1);
        for threads in [2, 3, 8] {
            assert_eq!(alone, hash(threads), "{model} on {threads} threads");
        }
    }
}

#[test]
fn every_builtin_scenario_does_what_it_expects() {
    let desk = Desk::new();
    // Those of papers are run by `throng papers`, some for minutes.
    for builtin in builtin::all().iter().filter(|builtin| builtin.folder != "papers") {
        assert!(builtin.text.contains("[expect]"), "{} expects nothing", builtin.name);
        desk.works(&format!("run {}", builtin.name));
    }
}

#[test]
fn an_expectation_that_is_not_met_is_told_and_ends_with_1() {
    let answer = Desk::new().throng("run crossing --set expect.arrived=3 --set expect.min_path_length_m=1e9");
    assert_eq!(answer.code, Some(1));
    assert!(answer.err.contains("not as expected: arrived = 3, got 160\n"), "{}", answer.err);
    assert!(answer.err.contains("not as expected: path_length_m >= 1000000000, got "), "{}", answer.err);
}

#[test]
fn a_run_is_recorded_in_every_format_and_drawn_from_each() {
    let desk = Desk::new();
    for ending in ["sqlite", "txt", "csv", "parquet"] {
        let answer = desk.works(&format!("run mover --record run.{ending} --fps 5"));
        assert!(answer.out.contains(&format!("recorded  run.{ending}: ")), "{}", answer.out);
        desk.works(&format!("render run.{ending} -o {ending}.svg --width 400"));
        assert!(desk.read(&format!("{ending}.svg")).starts_with(b"<svg"));
    }
    for look in
        ["--kind density", "--kind speed", "--colour time", "--color speed --dark", "--at 8", "--width 300"]
    {
        desk.works(&format!("render run.sqlite -o look.png {look}"));
        assert!(desk.read("look.png").starts_with(b"\x89PNG"), "{look}");
    }
}

#[test]
fn a_recording_holds_the_start_and_the_frames_that_were_asked_for() {
    let desk = Desk::new();
    desk.works("run circle --until 10 --set expect={} --record run.csv --fps 2");
    let text = String::from_utf8(desk.read("run.csv")).unwrap();
    let times: Vec<&str> =
        text.lines().skip(1).step_by(150).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(times.len(), 21);
    assert_eq!(times[..3].iter().map(|t| t.parse::<f64>().unwrap()).collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
}

#[test]
fn check_says_what_a_scenario_holds() {
    let answer = Desk::new().works("check mover corridor");
    for part in ["mover is sound", "car, radius 1 m", "corridor is sound", "1 walkable area", "arrived = 80"]
    {
        assert!(answer.out.contains(part), "no `{part}` in\n{}", answer.out);
    }
}

#[test]
fn the_schema_is_json_and_names_every_model() {
    let schema = Desk::new().works("schema").json();
    let models = &schema["$defs"]["PipelineFile"]["properties"]["microscale"]["enum"];
    assert_eq!(models, &Value::from(catalog::names(Stage::Microscale)));
}

#[test]
fn lists_show_models_with_parameters_scenarios_and_papers() {
    let desk = Desk::new();
    let all = desk.works("list").out;
    for entry in catalog::entries() {
        assert!(all.contains(&format!("  {}: {}", entry.name, entry.about)), "{}", entry.name);
    }
    let models = desk.works("list models").out;
    for field in catalog::blocks().iter().flat_map(|block| block.fields) {
        let (name, default) = (format!("{} ", field.name), field.default.to_string());
        let shown = |line: &str| {
            line.trim_start().starts_with(&name) && line.contains(&default) && line.ends_with(field.doc)
        };
        assert!(models.lines().any(shown), "{}", field.name);
    }
    let scenarios = desk.works("list scenarios").out;
    assert_eq!(scenarios.lines().count(), builtin::all().len());
    assert!(desk.works("list papers").out.contains("2012"));

    let json = desk.works("list --json").json();
    assert_eq!(json["scenarios"].as_array().unwrap().len(), builtin::all().len());
    assert_eq!(json["models"].as_array().unwrap().len(), catalog::entries().len());
    assert_eq!(desk.works("list papers --json").json(), json["papers"]);
    let orca = json["models"].as_array().unwrap().iter().find(|model| model["name"] == "orca").unwrap();
    assert_eq!(orca["params"][0]["unit"], "s");
}

#[test]
fn help_is_there_for_everything() {
    let desk = Desk::new();
    let help = desk.works("help").out;
    for command in ["run", "check", "render", "list", "schema"] {
        assert!(help.contains(&format!("  {command}")), "{help}");
        assert!(desk.works(&format!("{command} --help")).out.contains("Usage:"));
    }
    assert!(desk.works("--version").out.starts_with("throng "));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_trouble() {
    let desk = Desk::new();
    for line in ["schema", "list", "run crossing", "check circle"] {
        let mut child = desk.start(line);
        drop(child.stdout.take());
        let answer = Answer::of(child.wait_with_output().unwrap());
        assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""), "{line}");
    }
}

#[test]
fn a_new_scenario_runs_and_is_never_written_over_another() {
    let desk = Desk::new();
    let answer = desk.works("new hall.toml");
    assert!(answer.out.contains("throng run hall.toml"), "{}", answer.out);
    desk.works("check hall.toml");
    assert_eq!(desk.report("run hall.toml")["arrived"], 60);
    desk.refuses("new hall.toml", "hall.toml is there already");
    desk.works("new copy.toml --from crossing");
    assert_eq!(desk.read("copy.toml"), builtin::find("crossing").unwrap().text.as_bytes());
    desk.refuses("new other.toml --from crosing", "did you mean `crossing`?");
    assert!(!desk.path("other.toml").exists());
}

#[test]
fn built_in_files_are_shown_and_shells_complete_the_command() {
    let desk = Desk::new();
    assert_eq!(desk.works("show single-file").out, builtin::find("single-file").unwrap().text);
    desk.refuses("show single-fil", "did you mean `single-file`?");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(desk.works(&format!("completions {shell}")).out.contains("validate"), "{shell}");
    }
}
