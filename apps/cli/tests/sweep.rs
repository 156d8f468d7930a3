//! `throng sweep`: grids of runs, broken off, resumed, refused.

use crate::common;
use common::{Answer, Desk};
use parquet::basic::Type;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::fs::File;
use throng::record::split_csv;

/// Every agent starts somewhere else with another seed, and arrives within seconds.
const FEW: &str = r#"
format = 1
seed = 7
dt = 0.1
until = 60
[[agents]]
name = "west"
count = 3
place = { polygon = [[0, 0], [4, 0], [4, 4], [0, 4]] }
goal = { offset = [8, 0] }
[[agents]]
name = "south"
count = 3
place = { polygon = [[4, -6], [8, -6], [8, -2], [4, -2]] }
goal = { offset = [0, 8] }
"#;

const GRID: &str =
    "sweep few.toml --over pipeline.microscale=orca,none --over params.orca.time_horizon=2,3.5";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("few.toml", FEW);
    desk
}

type Row = BTreeMap<String, String>;

fn table(desk: &Desk, name: &str) -> (Vec<String>, Vec<Row>) {
    let text = String::from_utf8(desk.read(name)).unwrap();
    assert!(text.ends_with('\n'));
    let mut lines = text.lines().map(|line| {
        let mut fields = Vec::new();
        split_csv(line, &mut fields);
        fields
    });
    let header = lines.next().unwrap();
    let rows = lines.map(|fields| {
        assert_eq!(fields.len(), header.len());
        header.iter().cloned().zip(fields).collect()
    });
    let rows = rows.collect();
    (header, rows)
}

/// Without what no two runs have in common.
fn untimed(mut rows: Vec<Row>) -> Vec<Row> {
    const TIMES: [&str; 6] =
        ["wall_s", "step_us_mean", "step_us_p99", "step_us_max", "agent_steps_per_s", "peak_rss_mb"];
    for row in &mut rows {
        row.retain(|name, _| !TIMES.contains(&name.as_str()) && !name.starts_with("stage_us."));
    }
    rows
}

fn cells<'a>(rows: &'a [Row], name: &str) -> Vec<&'a str> {
    rows.iter().map(|row| row[name].as_str()).collect()
}

#[test]
fn a_row_for_each_run_in_grid_order_with_the_figures_of_its_report() {
    let desk = desk();
    let answer = desk.works(&format!("{GRID} --seeds 1..3 -o out.csv"));
    let (header, rows) = table(&desk, "out.csv");
    let first =
        ["pipeline.microscale", "params.orca.time_horizon", "seed", "finished", "scenario", "threads"];
    assert_eq!(header[..6], first);
    assert_eq!(rows.len(), 12);
    assert_eq!(cells(&rows, "seed"), ["1", "2", "3"].repeat(4));
    assert_eq!(cells(&rows, "params.orca.time_horizon")[..7], ["2", "2", "2", "3.5", "3.5", "3.5", "2"]);
    assert_eq!(cells(&rows, "pipeline.microscale")[5..7], ["orca", "none"]);
    assert!(cells(&rows, "finished").iter().all(|cell| *cell == "true"));
    assert!(cells(&rows, "threads").iter().all(|cell| *cell == "1"));

    let report =
        desk.report("run few.toml --microscale orca --set params.orca.time_horizon=3.5 --seed 2 --threads 2");
    let row = &rows[4];
    for (key, value) in report.as_object().unwrap() {
        match value {
            serde_json::Value::Object(nested) => {
                nested
                    .keys()
                    .for_each(|inner| assert!(row.contains_key(&format!("{key}.{inner}")), "{inner}"));
            }
            _ => assert!(key == "ended" || row.contains_key(key), "{key}"),
        }
    }
    assert_eq!(row["state_hash"], report["state_hash"].as_str().unwrap());
    let number = |name: &str| row[name].parse::<f64>().unwrap();
    assert!(
        (number("path_length_by_cohort.west") - report["path_length_by_cohort"]["west"].as_f64().unwrap())
            .abs()
            < 1e-6
    );
    assert!((number("simulated_s") - report["simulated_s"].as_f64().unwrap()).abs() < 1e-6);

    let matrix = "pipeline.microscale ↓  params.orca.time_horizon →";
    assert!(answer.out.contains(matrix) && answer.out.contains("over 3 seeds"), "{}", answer.out);
    assert!(answer.out.ends_with("12 runs in out.csv\n") && answer.err.is_empty(), "{}", answer.out);
}

#[test]
fn the_number_of_threads_changes_no_row() {
    let desk = desk();
    let rows = |threads: usize| {
        desk.works(&format!("{GRID} --seeds 1,2,9 -o out{threads}.csv --threads {threads}"));
        untimed(table(&desk, &format!("out{threads}.csv")).1)
    };
    let alone = rows(1);
    assert_eq!(alone.len(), 12);
    assert!(alone == rows(3) && alone == rows(0));
}

#[test]
fn called_again_it_runs_nothing_again_and_may_grow() {
    let desk = desk();
    desk.works(&format!("{GRID} --seeds 1..2 -o out.csv"));
    let before = desk.read("out.csv");
    desk.works(&format!("{GRID} --seeds 1..2 -o out.csv"));
    // Times too are those of the first time.
    assert_eq!(before, desk.read("out.csv"));

    desk.works(&format!("{GRID} --seeds 0..2 -o out.csv"));
    desk.works(&format!("{GRID} --seeds 0..2 -o whole.csv"));
    let (old, new) = (String::from_utf8(before).unwrap(), String::from_utf8(desk.read("out.csv")).unwrap());
    assert!(old.lines().all(|line| new.contains(line)), "rows that were there are kept");
    assert!(untimed(table(&desk, "out.csv").1) == untimed(table(&desk, "whole.csv").1));

    let fewer = desk.works("sweep few.toml --over pipeline.microscale=orca --over params.orca.time_horizon=2 -o out.csv --seeds 1");
    assert!(fewer.out.ends_with("1 run in out.csv, and 11 of an earlier grid\n"), "{}", fewer.out);
    assert_eq!(table(&desk, "out.csv").1.len(), 12);
}

#[test]
fn a_torn_last_line_is_run_again() {
    let desk = desk();
    let line = format!("{GRID} --seeds 1..2 -o out.csv");
    desk.works(&line);
    let (_, whole) = table(&desk, "out.csv");
    let bytes = desk.read("out.csv");
    for cut in [3, 17, 120] {
        std::fs::write(desk.path("out.csv"), &bytes[..bytes.len() - cut]).unwrap();
        desk.works(&line);
        assert!(untimed(table(&desk, "out.csv").1) == untimed(whole.clone()), "{cut} bytes cut off");
    }
    std::fs::write(desk.path("out.csv"), &bytes[..20]).unwrap();
    desk.works(&line);
    assert!(untimed(table(&desk, "out.csv").1) == untimed(whole), "not even the header is whole");
}

#[test]
fn a_file_of_another_sweep_is_left_alone() {
    let desk = desk();
    desk.works(&format!("{GRID} -o out.csv"));
    let before = desk.read("out.csv");
    let way_out = "give another -o, or --restart";
    desk.refuses(&format!("{GRID} -o out.csv --until 30"), "its scenario had until = 60.0, and now 30.0");
    desk.refuses(&format!("{GRID} -o out.csv --set agents.0.count=4"), "agents.0.count = 3, and now 4");
    desk.refuses("sweep few.toml --over until=10,20 -o out.csv", way_out);
    desk.write("few.toml", &FEW.replace("dt = 0.1", "dt = 0.2"));
    desk.refuses(&format!("{GRID} -o out.csv"), "had dt = 0.1, and now 0.2");
    desk.write("mine.csv", "a,b\n1,2\n");
    desk.refuses(&format!("{GRID} -o mine.csv"), way_out);
    assert_eq!((desk.read("out.csv"), desk.read("mine.csv")), (before, b"a,b\n1,2\n".to_vec()));

    desk.works(&format!("{GRID} -o out.csv --restart"));
    assert_eq!(table(&desk, "out.csv").1.len(), 4);
    // A comment is no other scenario.
    desk.write("few.toml", &format!("# A note.\n{}", FEW.replace("dt = 0.1", "dt = 0.2")));
    desk.works(&format!("{GRID} -o out.csv"));
}

#[test]
fn runs_that_never_finish_are_a_result() {
    let desk = desk();
    let answer = desk.works(
        "sweep few.toml --over agents.west.preferred_speed=0.1,1.3 --seeds 1..2 --until 15 -o out.csv",
    );
    let (_, rows) = table(&desk, "out.csv");
    assert_eq!(cells(&rows, "finished"), ["false", "false", "true", "true"]);
    let figures = answer.out.lines().find(|line| line.contains("N/A")).unwrap();
    assert!(figures.contains('±') && !figures.contains("finished"), "{}", answer.out);
    // The last to arrive decide: between them some seeds finish and some do not.
    let mut times: Vec<f64> =
        cells(&rows, "simulated_s")[2..].iter().map(|cell| cell.parse().unwrap()).collect();
    times.sort_by(f64::total_cmp);
    assert!(times[0] < times[1], "the seeds are too much alike for this test");
    let between = times[0] + 0.05;
    let some = desk.works(&format!(
        "sweep few.toml --over agents.west.preferred_speed=0.1,1.3 --seeds 1..2 --until {between} -o some.csv"
    ));
    assert!(some.out.contains("N/A (1 of 2 finished)"), "{}", some.out);
}

#[test]
fn parquet_has_the_columns_and_values_of_csv() {
    let desk = desk();
    let line =
        "sweep few.toml --over pipeline.mesoscale=[],[\"groups\"] --over agents.0.count=2,3 --seeds 1..2";
    desk.works(&format!("{line} -o out.csv"));
    desk.works(&format!("{line} -o out.parquet"));
    let (header, rows) = table(&desk, "out.csv");
    let reader = SerializedFileReader::new(File::open(desk.path("out.parquet")).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
    assert_eq!(names, header);
    let kind =
        |name: &str| schema.columns()[names.iter().position(|other| *other == name).unwrap()].physical_type();
    assert_eq!(kind("agents.0.count"), Type::INT64);
    assert_eq!(kind("pipeline.mesoscale"), Type::BYTE_ARRAY);
    assert_eq!(kind("finished"), Type::BOOLEAN);
    assert_eq!(kind("simulated_s"), Type::DOUBLE);
    let read: Vec<Row> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().into_columns().into_iter())
        .map(|row| row.map(|(name, field)| (name, field.to_string().trim_matches('"').to_owned())).collect())
        .collect();
    assert_eq!(read.len(), 8);
    for name in ["seed", "finished", "state_hash", "agents.0.count", "steps"] {
        assert_eq!(cells(&read, name), cells(&rows, name), "{name}");
    }
    assert!(!desk.path("out.parquet.sweep.csv").exists(), "the journal has done its work");

    let before = desk.read("out.parquet");
    desk.works(&format!("{line} -o out.parquet"));
    assert!(before == desk.read("out.parquet"), "nothing is run again");
    desk.refuses(&format!("{line} -o out.parquet --until 9"), "is of another sweep");
}

#[test]
fn a_dry_run_lists_the_combinations_and_writes_nothing() {
    let desk = desk();
    let answer = desk.works(&format!("{GRID} --seeds 1..5 --dry-run"));
    assert!(answer.out.contains("none                 3.5                       5 runs\n"), "{}", answer.out);
    assert!(answer.out.ends_with("20 runs: 4 combinations with 5 seeds; 20 to do\n"), "{}", answer.out);
    desk.works(&format!("{GRID} --seeds 1..2 -o out.csv"));
    let before = desk.read("out.csv");
    let answer = desk.works(&format!("{GRID} --seeds 1..5 -o out.csv --dry-run"));
    assert!(answer.out.ends_with("4 combinations with 5 seeds; 12 to do\n"), "{}", answer.out);
    assert_eq!(before, desk.read("out.csv"));
    desk.works("sweep few.toml --seeds 1..2 --dry-run -o none.csv");
    assert_eq!(std::fs::read_dir(desk.path("")).unwrap().count(), 3);
}

#[test]
fn mistakes_are_found_before_the_first_run() {
    let desk = desk();
    let refuses =
        |line: &str, message: &str| desk.refuses(&format!("sweep few.toml {line} -o out.csv"), message);
    refuses("--over params.orca.time_horizons=1,2", "did you mean `time_horizon`");
    refuses("--over pipeline.microscale=orca,orka", "did you mean `orca`");
    refuses("--over params.orca.time_horizon=2,-1", "--over params.orca.time_horizon=-1");
    refuses("--over agents.7.count=1,2", "agents has no `7`");
    refuses("--over agents.0.count=3,500 --seeds 1..3", "agents.0.count=500, seed 1");
    refuses("--over agents=[],[]", "stands twice");
    refuses("--over agents=[],[{}]", "");
    refuses("--over until=1,2 --until 3", "`--until` would be without effect");
    refuses("--over until=1,2 --over until=3", "leave one of them out");
    refuses("--over seed=1,2", "--seeds 1..10");
    refuses("--over until", "KEY=V1,V2");
    refuses("--over until=[1,2", "a `]` is missing");
    refuses("--seeds 5..1", "write 1..5");
    refuses("--seeds -3", "is no seed");
    refuses("--seeds 1..2 --set seed=4", "contradict");
    refuses("--seeds 1..2 --threads -1", "not in 0..=1024");
    refuses("", "--over");
    desk.refuses("sweep nowhere.toml --seeds 1 -o out.csv", "there is no file `nowhere.toml`");
    desk.refuses("sweep few.toml --seeds 1", "--output");
    desk.refuses("sweep few.toml --seeds 1 -o out.xyz", "let it end in .csv or .parquet");
    desk.refuses("sweep few.toml --seeds 1 -o missing/out.csv", "there is no folder `missing`");
    std::fs::create_dir(desk.path("folder.csv")).unwrap();
    desk.refuses("sweep few.toml --seeds 1 -o folder.csv", "it is a folder");
    desk.write("few.csv", FEW);
    desk.refuses("sweep few.csv --seeds 1 -o ./few.csv", "the scenario and -o are both");
    assert_eq!(std::fs::read_dir(desk.path("")).unwrap().count(), 3, "nothing is written");
}

#[test]
fn a_swept_key_must_be_told_apart_from_the_report() {
    let desk = desk();
    let one = "{place={points=[[0,0]]},goal={point=[5,0]}}";
    desk.refuses(
        &format!("sweep few.toml --over agents=[{one}],[{one},{{place={{points=[[0,1]]}},goal={{point=[5,1]}}}}] -o out.csv"),
        "has a column `agents` of the report",
    );
    // Cohorts of other names are other columns, and each run has its own.
    desk.works("sweep few.toml --over agents.0.name=west,east --seeds 1 -o out.csv");
    let (_, rows) = table(&desk, "out.csv");
    assert_eq!(rows[0]["path_length_by_cohort.east"], "");
    assert_eq!(rows[0]["path_length_by_cohort.west"], rows[1]["path_length_by_cohort.east"]);
}

#[cfg(unix)]
mod broken_off {
    use super::*;
    use common::signal;
    use std::process::Child;
    use std::time::{Duration, Instant};

    /// Runs that last long enough to be broken off between.
    const LONG: &str = r#"
format = 1
dt = 0.02
until = 30
[[agents]]
count = 120
place = { circle = { center = [0, 0], radius = 20 }, jitter = 0.2 }
goal = { antipodal = [0, 0] }
"#;

    const LINE: &str = "sweep long.toml --over pipeline.microscale=orca,hrvo --seeds 1..6 --threads 2";

    fn lines(desk: &Desk, journal: &str) -> usize {
        std::fs::read(desk.path(journal))
            .map_or(0, |bytes| bytes.iter().filter(|&&byte| byte == b'\n').count())
    }

    /// Starts a sweep and waits until some of its rows are there.
    fn begun(desk: &Desk, out: &str, journal: &str) -> Child {
        desk.write("long.toml", LONG);
        let mut child = desk.start(&format!("{LINE} -o {out}"));
        let begin = Instant::now();
        while lines(desk, journal) < 3 {
            assert!(begin.elapsed() < Duration::from_secs(300), "no rows");
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(child.try_wait().unwrap(), None, "the sweep was over before it could be broken off");
        child
    }

    #[test]
    fn a_killed_sweep_goes_on_to_the_same_file() {
        let desk = Desk::new();
        let mut child = begun(&desk, "out.csv", "out.csv");
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = String::from_utf8(desk.read("out.csv")).unwrap();
        assert!(kept.ends_with('\n') && kept.lines().count() < 13);
        // As if it had been killed in the middle of a line.
        desk.write("out.csv", &format!("{kept}orca,3,tr"));
        desk.works(&format!("{LINE} -o out.csv"));
        desk.works(&format!("{LINE} -o whole.csv"));
        let (header, rows) = table(&desk, "out.csv");
        let (whole_header, whole) = table(&desk, "whole.csv");
        assert_eq!(header, whole_header);
        assert_eq!(rows.len(), 12);
        assert!(untimed(rows) == untimed(whole));
        let after = String::from_utf8(desk.read("out.csv")).unwrap();
        assert!(kept.lines().all(|line| after.contains(line)), "what had been run is not run again");
    }

    #[test]
    fn ctrl_c_keeps_what_has_been_run() {
        for (out, journal) in [("out.csv", "out.csv"), ("out.parquet", "out.parquet.sweep.csv")] {
            let desk = Desk::new();
            let child = begun(&desk, out, journal);
            signal(&child, "INT");
            let answer = Answer::of(child.wait_with_output().unwrap());
            assert_eq!(answer.code, Some(1), "{}{}", answer.out, answer.err);
            let message = format!("of 12 runs are in {journal}, and the same command goes on");
            assert!(answer.err.contains(&message), "{}", answer.err);
            let kept = String::from_utf8(desk.read(journal)).unwrap();
            let to_do = 12 + 1 - kept.lines().count();
            let dry = desk.works(&format!("{LINE} -o {out} --dry-run"));
            assert!(dry.out.ends_with(&format!("; {to_do} to do\n")), "{}", dry.out);
            desk.works(&format!("{LINE} -o {out}"));
            assert_eq!(desk.path(journal).exists(), out == journal);
            let dry = desk.works(&format!("{LINE} -o {out} --dry-run"));
            assert!(dry.out.ends_with("; 0 to do\n"), "{}", dry.out);
        }
    }
}
