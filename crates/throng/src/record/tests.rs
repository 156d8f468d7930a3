//! A recorder against its own reader, against a death in the middle, and against files that make no sense.

use super::*;
use glam::DVec2;
use proptest::prelude::*;
use rusqlite::Connection;
use std::path::Path;
use tempfile::TempDir;

const FORMATS: [&str; 4] = ["sqlite", "txt", "csv", "parquet"];
const CONTINUABLE: [&str; 3] = ["sqlite", "txt", "csv"];
const FAR_ORIGIN: DVec2 = DVec2::new(1e6, -2e6);

/// A crowd that walks, stands and leaves, in rows that change their order from step to step.
struct Walkers {
    id: Vec<u32>,
    x: Vec<f32>,
    y: Vec<f32>,
    vx: Vec<f32>,
    vy: Vec<f32>,
    cohort: Vec<u16>,
    step: u64,
}

impl Walkers {
    fn at(step: u64, agents: u32) -> Walkers {
        let mut crowd =
            Walkers { id: vec![], x: vec![], y: vec![], vx: vec![], vy: vec![], cohort: vec![], step };
        for place in 0..agents {
            let id = (place * 7 + step as u32) % agents;
            // The first agent leaves early.
            if id == 0 && step > 20 {
                continue;
            }
            let walks = (u64::from(id) + step / 10).is_multiple_of(2);
            let angle = id as f32 + step as f32 * 0.05;
            crowd.id.push(id);
            crowd.x.push(angle.cos() * 20.0);
            crowd.y.push(angle.sin() * 20.0 + id as f32 * 0.01);
            crowd.vx.push(if walks { -angle.sin() } else { 0.0 });
            crowd.vy.push(if walks { angle.cos() } else { 0.0 });
            crowd.cohort.push(u16::from(id >= agents / 2));
        }
        crowd
    }

    fn frame(&self) -> Frame<'_> {
        Frame {
            step: self.step,
            time: self.step as f64 * 0.1,
            origin: FAR_ORIGIN,
            id: &self.id,
            x: &self.x,
            y: &self.y,
            vx: &self.vx,
            vy: &self.vy,
            cohort: &self.cohort,
            planted: &[],
            map_changes: 0,
            map: None,
            within: None,
        }
    }
}

const AGENTS: u32 = 10;

fn info() -> RunInfo {
    let cohort =
        |name: &str, first_id| CohortInfo { name: name.into(), first_id, count: AGENTS / 2, radius: 0.25 };
    RunInfo {
        // PedPy looks for these words in a text's header.
        name: "framerate 99, in cm".into(),
        dt: 0.1,
        seed: u64::MAX,
        geometry_wkt: "POLYGON ((999970 -2000030, 1000030 -2000030, 1000030 -1999970, 999970 -1999970))"
            .into(),
        open_plane: true,
        gaps: vec![],
        walls: vec![vec![[0.0, 0.0], [1.0, 2.0]]],
        cohorts: vec![cohort("west, \"left\"", 0), cohort("east", AGENTS / 2)],
        goals: (0..AGENTS).map(|id| [f64::from(id), 0.5]).collect(),
        movers: vec![MoverInfo { radius: 1.5, carries: false, path: vec![[0.0, 1.0, 2.0], [9.0, 3.0, 4.0]] }],
        periodic: [0.0, 7.5],
    }
}

fn record(path: &Path, steps: std::ops::Range<u64>) -> Recorder {
    let mut recorder = Recorder::create_with(path, &info(), RecordOptions::default()).unwrap();
    feed(&mut recorder, steps);
    recorder
}

fn feed(recorder: &mut Recorder, steps: std::ops::Range<u64>) {
    for step in steps {
        recorder.frame(Walkers::at(step, AGENTS).frame()).unwrap();
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn assert_holds(run: &Run, frames: u64) {
    assert_eq!(run.fps, 10.0);
    assert_eq!(run.frames(), (0, frames as u32 - 1));
    let mut rows = 0;
    for track in run.tracks() {
        assert_eq!(track.cohort, u16::from(track.id >= i64::from(AGENTS) / 2));
        for place in 0..track.frame.len() {
            let crowd = Walkers::at(u64::from(track.frame[place]), AGENTS);
            let row = crowd.id.iter().position(|id| i64::from(*id) == track.id).unwrap();
            let here = run.origin + DVec2::new(track.x[place].into(), track.y[place].into());
            assert!(here.distance(crowd.frame().position(row)) < 1e-4, "{here}");
            rows += 1;
        }
    }
    assert_eq!(rows, (0..frames).map(|step| Walkers::at(step, AGENTS).id.len()).sum::<usize>());
}

#[test]
fn every_format_gives_back_what_it_got() {
    let folder = folder();
    for format in FORMATS {
        let path = folder.path().join("run").with_extension(format);
        let recording = record(&path, 0..50).finish().unwrap();
        assert_eq!((recording.frames, recording.rows), (50, 50 * 10 - 29), "{format}");
        assert_eq!(recording.bytes, fs::metadata(&path).unwrap().len());
        let run = open_run(&path).unwrap();
        assert_holds(&run, 50);
        // A csv file has no place for more than its columns.
        if format == "csv" {
            assert_eq!(run.info.cohorts[0].name, info().cohorts[0].name);
            assert_eq!(run.info.name, "run");
        } else {
            assert_eq!(run.info, info(), "{format}");
            assert_eq!(run.geometry_at(9), Some(info().geometry_wkt.as_str()));
        }
    }
}

#[test]
fn a_recording_says_what_it_is() {
    let recording = Recording { path: "out/a.sqlite".into(), frames: 12, rows: 345, bytes: 67_890 };
    assert_eq!(recording.to_string(), "out/a.sqlite: 12 frames, 345 rows, 67.9 kB");
}

#[test]
fn the_rate_is_a_whole_number_of_steps() {
    let rate = |dt, fps| {
        let stride = stride(Path::new("a.txt"), dt, RecordOptions { fps }).unwrap();
        (stride, true_fps(dt, stride))
    };
    assert_eq!(rate(0.1, None), (1, 10.0));
    assert_eq!(rate(0.25, None), (1, 4.0));
    assert_eq!(rate(0.01, None), (10, 10.0));
    assert_eq!(rate(0.04, None), (3, 1.0 / 0.12));
    assert_eq!(rate(0.1, Some(4.0)), (3, 1.0 / (0.1 * 3.0)));
    assert_eq!(rate(0.1, Some(60.0)), (1, 10.0));
    assert_eq!(rate(1.0 / 60.0, Some(30.0)), (2, 30.0));
}

#[test]
fn a_rate_that_makes_no_sense_is_refused() {
    for fps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = RecordOptions { fps: Some(fps) };
        let error = Recorder::create_with("a.txt", &info(), options).err().unwrap();
        assert!(error.to_string().contains("fps is"), "{error}");
    }
}

#[test]
fn fewer_frames_keep_their_times() {
    let folder = folder();
    let path = folder.path().join("run.csv");
    let options = RecordOptions { fps: Some(2.5) };
    let mut recorder = Recorder::create_with(&path, &info(), options).unwrap();
    assert_eq!(recorder.fps(), 2.5);
    feed(&mut recorder, 0..41);
    assert_eq!(recorder.finish().unwrap().frames, 11);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.lines().last().unwrap().starts_with("10,4,9,"), "{text}");
    assert_eq!(open_run(&path).unwrap().fps, 2.5);
}

#[test]
fn sqlite_has_the_tables_of_the_contract() {
    let folder = folder();
    let path = folder.path().join("run.sqlite");
    record(&path, 0..3).finish().unwrap();
    let db = Connection::open(&path).unwrap();
    let columns = |table: &str| {
        let mut query =
            db.prepare(&format!("SELECT name, type, \"notnull\" FROM pragma_table_info('{table}')")).unwrap();
        let rows = query.query_map([], |row| {
            let required = if row.get(2)? { " NOT NULL" } else { "" };
            Ok(format!("{} {}{required}", row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        });
        rows.unwrap().collect::<Result<Vec<_>, _>>().unwrap()
    };
    assert_eq!(
        columns("trajectory_data"),
        [
            "frame INTEGER NOT NULL",
            "id INTEGER NOT NULL",
            "pos_x REAL NOT NULL",
            "pos_y REAL NOT NULL",
            "ori_x REAL NOT NULL",
            "ori_y REAL NOT NULL"
        ]
    );
    assert_eq!(columns("metadata"), ["key TEXT NOT NULL", "value TEXT NOT NULL"]);
    assert_eq!(columns("geometry"), ["hash INTEGER NOT NULL", "wkt TEXT NOT NULL"]);
    assert_eq!(columns("frame_data"), ["frame INTEGER NOT NULL", "geometry_hash INTEGER NOT NULL"]);
    let index = |table: &str| -> (bool, String) {
        let query = "SELECT \"unique\", (SELECT group_concat(name) FROM pragma_index_info(list.name)) \
                     FROM pragma_index_list(?) AS list";
        db.query_row(query, [table], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    assert_eq!(index("trajectory_data"), (false, "frame,id".to_owned()));
    assert_eq!(index("geometry"), (true, "hash".to_owned()));
    let key: bool = db
        .query_row("SELECT pk FROM pragma_table_info('metadata') WHERE name = 'key'", [], |row| row.get(0))
        .unwrap();
    assert!(key);
    let metadata = |key: &str| -> String {
        db.query_row("SELECT value FROM metadata WHERE key = ?", [key], |row| row.get(0)).unwrap()
    };
    assert_eq!((metadata("version").as_str(), metadata("fps").as_str()), ("2", "10.0"));
    assert_eq!((metadata("xmin").as_str(), metadata("ymax").as_str()), ("999970.0", "-1999970.0"));
    let rows: Vec<(i64, i64)> = db
        .prepare("SELECT frame, id FROM trajectory_data ORDER BY rowid")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert!(rows.is_sorted(), "rows stand by frame and id");
}

#[test]
fn who_stands_keeps_looking_where_it_looked() {
    let folder = folder();
    let path = folder.path().join("run.sqlite");
    let mut recorder =
        Recorder::create_with(&path, &RunInfo { goals: vec![], ..info() }, RecordOptions::default()).unwrap();
    for (step, vx, vy) in [(0, 0.0, 0.0), (1, 0.0, -2.0), (2, 0.0, 0.0)] {
        recorder
            .frame(Frame {
                step,
                time: 0.0,
                origin: DVec2::ZERO,
                id: &[3],
                x: &[1.0],
                y: &[1.0],
                vx: &[vx],
                vy: &[vy],
                cohort: &[0],
                planted: &[],
                map_changes: 0,
                map: None,
                within: None,
            })
            .unwrap();
    }
    recorder.finish().unwrap();
    let db = Connection::open(&path).unwrap();
    let mut query = db.prepare("SELECT ori_x, ori_y FROM trajectory_data ORDER BY frame").unwrap();
    let looks: Vec<(f64, f64)> =
        query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(looks, [(1.0, 0.0), (0.0, -1.0), (0.0, -1.0)]);
}

#[test]
fn frames_refer_to_the_geometry_of_their_time() {
    let folder = folder();
    let path = folder.path().join("run.sqlite");
    let mut recorder = record(&path, 0..3);
    recorder.geometry("POLYGON ((0 0, 1 0, 0 1, 0 0))").unwrap();
    feed(&mut recorder, 3..5);
    recorder.geometry(&info().geometry_wkt).unwrap();
    feed(&mut recorder, 5..6);
    recorder.finish().unwrap();
    let run = open_run(&path).unwrap();
    let from: Vec<u32> = run.geometry.iter().map(|span| span.from_frame).collect();
    assert_eq!(from, [0, 3, 5]);
    assert!(run.geometry_at(4).unwrap().starts_with("POLYGON ((0 0,"));
    let count: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT COUNT(*) FROM geometry", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 2, "a geometry that returns is not written twice");
}

/// Everything in a database, in the order in which it stands there.
fn dump(path: &Path) -> Vec<String> {
    let db = Connection::open(path).unwrap();
    let mut lines = Vec::new();
    for table in ["trajectory_data", "metadata", "geometry", "frame_data"] {
        let order = if table == "metadata" { "key" } else { "rowid" };
        let mut query = db.prepare(&format!("SELECT * FROM {table} ORDER BY {order}")).unwrap();
        let width = query.column_count();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cells: Vec<String> =
                (0..width).map(|cell| format!("{:?}", row.get_ref(cell).unwrap())).collect();
            lines.push(format!("{table} {}", cells.join(" ")));
        }
    }
    lines
}

#[test]
fn a_resumed_recording_equals_an_uninterrupted_one() {
    let folder = folder();
    let elsewhere = "POLYGON ((0 0, 1 0, 0 1, 0 0))";
    for format in CONTINUABLE {
        let whole = folder.path().join("whole").with_extension(format);
        let parts = folder.path().join("parts").with_extension(format);
        let mut recorder = record(&whole, 0..25);
        recorder.geometry(elsewhere).unwrap();
        feed(&mut recorder, 25..60);
        recorder.finish().unwrap();

        let mut recorder = record(&parts, 0..25);
        recorder.geometry(elsewhere).unwrap();
        let position = recorder.position().unwrap();
        // What a run does between its last checkpoint and its death.
        recorder.geometry("POLYGON ((5 5, 6 5, 5 6, 5 5))").unwrap();
        feed(&mut recorder, 25..40);
        drop(recorder);
        let position = serde_json::from_str(&serde_json::to_string(&position).unwrap()).unwrap();
        let mut recorder = Recorder::resume(&parts, &info(), RecordOptions::default(), &position).unwrap();
        // The moment of the checkpoint is shown again, and must not be doubled.
        feed(&mut recorder, 24..60);
        recorder.finish().unwrap();

        if format == "sqlite" {
            assert_eq!(dump(&parts), dump(&whole));
        } else {
            assert_eq!(fs::read(&parts).unwrap(), fs::read(&whole).unwrap(), "{format}");
        }
    }
}

#[test]
fn a_file_that_is_not_the_checkpoints_is_not_touched() {
    let folder = folder();
    for format in CONTINUABLE {
        let path = folder.path().join("run").with_extension(format);
        let mut recorder = record(&path, 0..20);
        let position = recorder.position().unwrap();
        drop(recorder);
        record(&path, 0..5).finish().unwrap();
        let resume = |info: &RunInfo, fps| {
            Recorder::resume(&path, info, RecordOptions { fps }, &position).err().unwrap().to_string()
        };
        assert!(resume(&info(), None).contains("at the checkpoint"), "{}", resume(&info(), None));
        assert!(resume(&info(), Some(2.0)).contains("every 5. is asked for"));
        assert_holds(&open_run(&path).unwrap(), 5);
        if format != "csv" {
            record(&path, 0..30).finish().unwrap();
            let other = RunInfo { seed: 1, ..info() };
            assert!(resume(&other, None).contains("another run"), "{}", resume(&other, None));
        }
    }
}

#[test]
fn parquet_cannot_be_continued_and_says_so() {
    let folder = folder();
    let path = folder.path().join("run.parquet");
    let position = record(&path, 0..5).position().unwrap();
    let error = Recorder::resume(&path, &info(), RecordOptions::default(), &position).err().unwrap();
    assert!(
        error.to_string().contains("record long runs that may be interrupted as .sqlite or .csv"),
        "{error}"
    );
}

#[test]
fn a_dropped_recorder_leaves_a_whole_file() {
    let folder = folder();
    for format in FORMATS {
        let path = folder.path().join("run").with_extension(format);
        drop(record(&path, 0..30));
        assert_holds(&open_run(&path).unwrap(), 30);
    }
}

#[test]
fn a_killed_recorder_leaves_what_was_saved() {
    let folder = folder();
    for format in CONTINUABLE {
        let path = folder.path().join("run").with_extension(format);
        let mut recorder = record(&path, 0..30);
        recorder.position().unwrap();
        feed(&mut recorder, 30..33);
        // Nothing is flushed and nothing closed, as after `kill -9`.
        let copy = folder.path().join("copy").with_extension(format);
        fs::copy(&path, &copy).unwrap();
        assert_holds(&open_run(&copy).unwrap(), 30);
        std::mem::forget(recorder);
    }
}

#[test]
fn rows_reach_the_disk_while_the_run_goes_on() {
    let folder = folder();
    let agents = 2_000;
    for format in FORMATS {
        let path = folder.path().join("run").with_extension(format);
        let mut recorder = Recorder::create_with(&path, &info(), RecordOptions::default()).unwrap();
        for step in 0..80 {
            recorder.frame(Walkers::at(step, agents).frame()).unwrap();
        }
        let bytes = fs::metadata(&path).unwrap().len();
        // 160,000 rows went in; at most one portion of them may still be held back.
        assert!(bytes > 500_000, "{format} holds rows back: {bytes} bytes on disk");
        assert!(recorder.order.capacity() < 2 * agents as usize);
    }
}

#[test]
fn rows_that_are_not_finite_are_left_out() {
    let folder = folder();
    for format in FORMATS {
        let path = folder.path().join("run").with_extension(format);
        let mut recorder = Recorder::create_with(&path, &info(), RecordOptions::default()).unwrap();
        let mut crowd = Walkers::at(0, AGENTS);
        crowd.x[2] = f32::NAN;
        crowd.vy[4] = f32::INFINITY;
        recorder.frame(crowd.frame()).unwrap();
        assert_eq!(recorder.finish().unwrap().rows, 8, "{format}");
        assert_eq!(open_run(&path).unwrap().agents(), 8);
    }
}

#[test]
fn an_older_file_and_its_journal_are_overwritten() {
    let folder = folder();
    for format in FORMATS {
        let path = folder.path().join("run").with_extension(format);
        fs::write(&path, "something else".repeat(10_000)).unwrap();
        fs::write(folder.path().join("run.sqlite-journal"), "stale").unwrap();
        record(&path, 0..5).finish().unwrap();
        assert_holds(&open_run(&path).unwrap(), 5);
    }
}

#[test]
fn errors_name_the_file_and_the_way_out() {
    let folder = folder();
    let create = |path: &Path| {
        Recorder::create_with(path, &info(), RecordOptions::default()).err().unwrap().to_string()
    };
    let message = create(&folder.path().join("run.mp4"));
    assert!(
        message.contains("run.mp4") && message.contains(".sqlite, .db, .txt, .csv or .parquet"),
        "{message}"
    );
    for format in FORMATS {
        let message = create(&folder.path().join("missing").join("run").with_extension(format));
        assert!(message.contains("create the folder") && message.contains("missing"), "{format}: {message}");
        let directory = folder.path().join("folder").with_extension(format);
        fs::create_dir(&directory).unwrap();
        let message = create(&directory);
        assert!(message.contains("give the name of a file"), "{format}: {message}");
        let message = open_run(folder.path().join("absent").with_extension(format)).unwrap_err().to_string();
        assert!(message.contains("there is no such file"), "{format}: {message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_at_the_latest_at_the_end() {
    let folder = folder();
    for format in ["txt", "csv", "parquet"] {
        let path = folder.path().join("full").with_extension(format);
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let result =
            Recorder::create_with(&path, &info(), RecordOptions::default()).and_then(|mut recorder| {
                for step in 0..20 {
                    recorder.frame(Walkers::at(step, AGENTS).frame())?;
                }
                recorder.finish()
            });
        let message = result.unwrap_err().to_string();
        assert!(message.contains("the disk is full; free some space"), "{format}: {message}");
    }
}

#[test]
fn a_text_from_elsewhere_is_understood() {
    let folder = folder();
    let path = folder.path().join("cm.txt");
    fs::write(&path, "\u{feff}#old\n# framerate: 16 fps\n# id frame x/cm y/cm z/cm\n4\t7\t-150\t200.5 173\n4 8 0 0 173\n\n")
        .unwrap();
    let run = open_run(&path).unwrap();
    let track = run.tracks().next().unwrap();
    assert_eq!((run.fps, run.agents(), track.id, track.frame), (16.0, 1, 4, &[7, 8][..]));
    assert!((run.origin.x + f64::from(track.x[0]) + 1.5).abs() < 1e-6);
}

#[test]
fn jupedsims_first_version_is_understood() {
    let folder = folder();
    let path = folder.path().join("v1.sqlite");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(
        "CREATE TABLE trajectory_data (frame INTEGER, id INTEGER, pos_x REAL, pos_y REAL, ori_x REAL, ori_y REAL);
         CREATE TABLE metadata (key TEXT PRIMARY KEY, value TEXT);
         CREATE TABLE geometry (wkt TEXT);
         INSERT INTO metadata VALUES ('version', '1'), ('fps', 25);
         INSERT INTO geometry VALUES ('POLYGON ((0 0, 9 0, 9 9, 0 0))');
         INSERT INTO trajectory_data VALUES (0, 5, 1.0, 2.0, 1, 0), (1, 5, 1.5, 2.0, 1, 0);",
    )
    .unwrap();
    drop(db);
    let run = open_run(&path).unwrap();
    assert_eq!((run.fps, run.rows(), run.info.name.as_str()), (25.0, 2, "v1"));
    assert_eq!(run.geometry_at(0), Some("POLYGON ((0 0, 9 0, 9 9, 0 0))"));
}

#[test]
fn broken_files_say_what_is_wrong() {
    let folder = folder();
    let complaint = |name: &str, content: &str| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        let message = open_run(&path).unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
        message
    };
    let says = |message: String, part: &str| assert!(message.contains(part), "{message}");
    says(complaint("a.txt", "1 0 2 3\n"), "add `# framerate: 25`");
    says(complaint("b.txt", "# framerate: 10\n1 0 2\n1 1 2 3\n"), "line 2: `y` is missing");
    says(
        complaint("c.txt", "# framerate: 10\n1 0 x 3 0\n1 1 2 3 0\n"),
        "line 2: x is `x`, and must be a number",
    );
    says(complaint("d.txt", "# framerate: 0\n1 0 1 3 0\n"), "must be above 0");
    says(complaint("e.txt", "# framerate: 10\n"), "it holds no positions");
    says(complaint("f.txt", "# framerate: 10\n1 -1 0 0 0\n"), "frame -1 is not between 0");
    says(complaint("g.txt", "# framerate: 10\n1 1 nan 0 0\n"), "is not finite");
    says(complaint("a.csv", ""), "it is empty");
    says(complaint("b.csv", "frame,id,x\n"), "no column `y`");
    says(complaint("c.csv", "frame,t,id,x,y\n0,0,1,2,\n0,0,2,2,2\n"), "line 2: y is ``");
    says(
        complaint("a.sqlite", "no database, but long enough to look like one".repeat(99).as_str()),
        "not an SQLite",
    );
    says(complaint("b.sqlite", ""), "no table `trajectory_data`");
    complaint("a.parquet", "PAR1 and then nothing of the kind");
}

#[test]
fn a_line_that_was_cut_off_is_passed_over() {
    let folder = folder();
    let path = folder.path().join("cut.txt");
    fs::write(&path, "# framerate: 10\n1 0 2 3 0\n1 1 2").unwrap();
    assert_eq!(open_run(&path).unwrap().rows(), 1);
}

/// The bytes of a short run in each format.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let folder = folder();
    let bytes = |format: &&'static str| {
        let path = folder.path().join("run").with_extension(format);
        record(&path, 0..6).finish().unwrap();
        (*format, fs::read(&path).unwrap())
    };
    FORMATS.iter().map(bytes).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a disk or a mail program did to a file: an answer or an error, never a panic.
    #[test]
    fn damaged_files_never_panic(
        cut in 0.0..1.0_f64,
        edits in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 0..20),
        truncate in any::<bool>(),
    ) {
        static SAMPLES: std::sync::LazyLock<Vec<(&str, Vec<u8>)>> = std::sync::LazyLock::new(samples);
        let folder = folder();
        for (format, bytes) in SAMPLES.iter() {
            let mut bytes = bytes.clone();
            for (place, value) in &edits {
                let place = (place * bytes.len() as f64) as usize;
                bytes[place] = *value;
            }
            if truncate {
                bytes.truncate((cut * bytes.len() as f64) as usize);
            }
            let path = folder.path().join("run").with_extension(format);
            fs::write(&path, &bytes).unwrap();
            if let Ok(run) = open_run(&path) {
                prop_assert!(run.tracks().all(|track| track.frame.len() == track.x.len()));
            }
        }
    }
}
