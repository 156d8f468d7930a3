//! The server from outside: what a page gets, what none gets, and what happens when a page sends nonsense.

use futures_util::{SinkExt, StreamExt};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use throng_viewer::{Options, Source, serve};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Starts a server that lives as long as the test.
fn started(sources: Vec<Source>) -> SocketAddr {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        serve(Options { address, sources }, |address, _| sender.send(address).unwrap())
    });
    receiver.recv_timeout(Duration::from_secs(60)).unwrap()
}

struct Page(WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>);

/// The head of a frame.
#[derive(Clone, Copy, Debug)]
struct Head {
    playing: bool,
    ids: u32,
    present: u32,
    step: u64,
    time: f64,
    bytes: usize,
}

impl Page {
    async fn open(address: SocketAddr) -> Page {
        Page(connect_async(format!("ws://{address}/socket")).await.unwrap().0)
    }

    /// One that takes in little at a time.
    async fn narrow(address: SocketAddr) -> Page {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(64 * 1024).unwrap();
        let stream = MaybeTlsStream::Plain(socket.connect(address).await.unwrap());
        Page(tokio_tungstenite::client_async(format!("ws://{address}/socket"), stream).await.unwrap().0)
    }

    async fn send(&mut self, order: Value) {
        self.0.send(Message::text(order.to_string())).await.unwrap();
    }

    async fn next(&mut self) -> Message {
        let next = tokio::time::timeout(Duration::from_secs(60), self.0.next());
        next.await.expect("the server says something").expect("the server is there").unwrap()
    }

    /// The next message of a type; others are passed over.
    async fn text(&mut self, kind: &str) -> Value {
        loop {
            if let Message::Text(text) = self.next().await {
                let value: Value = serde_json::from_str(&text).unwrap();
                if value["type"] == kind {
                    return value;
                }
            }
        }
    }

    async fn frame(&mut self) -> Head {
        loop {
            if let Message::Binary(bytes) = self.next().await
                && bytes[0] == 1
            {
                let whole = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
                return Head {
                    playing: bytes[1] & 1 == 1,
                    ids: whole(8),
                    present: whole(12),
                    step: u64::from_le_bytes(bytes[24..32].try_into().unwrap()),
                    time: f64::from_le_bytes(bytes[32..40].try_into().unwrap()),
                    bytes: bytes.len(),
                };
            }
        }
    }

    async fn frame_where(&mut self, holds: impl Fn(&Head) -> bool) -> Head {
        let begin = Instant::now();
        loop {
            let head = self.frame().await;
            if holds(&head) {
                return head;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{head:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_plays_pauses_steps_and_begins_again() {
    let mut page = Page::open(started(vec![Source::Builtin("crossing")])).await;
    let hello = page.text("hello").await;
    assert!(
        hello["models"].as_array().unwrap().len() > 5 && hello["scenarios"].as_array().unwrap().len() > 10
    );
    let scene = page.text("scene").await;
    assert_eq!((&scene["mode"], &scene["opened"]), (&json!("live"), &json!("crossing")));
    let moving = page.frame_where(|head| head.playing && head.time > 0.3).await;
    assert_eq!((moving.ids, moving.present), (160, 160));
    assert!(moving.bytes <= 72 + 8 * 160);
    page.send(json!({ "do": "pause" })).await;
    let held = page.frame_where(|head| !head.playing).await;
    page.send(json!({ "do": "step" })).await;
    let stepped = page.frame_where(|head| head.step > held.step).await;
    assert_eq!((stepped.step, stepped.playing), (held.step + 1, false));
    page.send(json!({ "do": "restart", "seed": 5 })).await;
    assert_eq!(page.text("scene").await["live"]["seed"], 5);
    page.frame_where(|head| head.step == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_steers_and_asks() {
    let mut page = Page::open(started(vec![Source::Builtin("crossing")])).await;
    page.text("scene").await;
    page.send(json!({ "do": "pause" })).await;
    page.frame_where(|head| !head.playing).await;
    page.send(json!({ "do": "models", "microscale": "hrvo", "mesoscale": ["groups"] })).await;
    let scene = page.text("scene").await;
    assert_eq!(scene["live"]["pipeline"]["microscale"], "hrvo");
    assert_eq!(scene["live"]["pipeline"]["mesoscale"], json!(["groups"]));
    page.send(json!({ "do": "set", "block": "hrvo", "key": "max_neighbors", "value": 3 })).await;
    assert_eq!(page.text("scene").await["live"]["params"]["hrvo"]["max_neighbors"].as_f64(), Some(3.0));
    page.send(json!({ "do": "explain", "id": 7 })).await;
    let answer = page.text("explanation").await;
    assert!(!answer["explanation"]["cones"].as_array().unwrap().is_empty(), "{answer}");
    page.send(json!({ "do": "add_obstacle", "ring": [[-1, -1], [1, -1], [1, 1], [-1, 1]] })).await;
    let scene = page.text("scene").await;
    let obstacles = scene["panes"][0]["map"]["obstacles"].as_array().unwrap().clone();
    let name = obstacles.last().unwrap()["name"].clone();
    page.send(json!({ "do": "remove_obstacle", "name": name })).await;
    assert_eq!(
        page.text("scene").await["panes"][0]["map"]["obstacles"].as_array().unwrap().len(),
        obstacles.len() - 1
    );
    page.send(json!({ "do": "drop", "cohort": 1, "at": [0, 0], "count": 12 })).await;
    assert_eq!(page.frame_where(|head| head.ids > 160).await.present, 172);
    page.send(json!({ "do": "retarget", "cohort": 0, "at": [3, 4] })).await;
    let goals = page.text("scene").await["panes"][0]["goals"].clone();
    assert!(goals.as_array().unwrap().contains(&json!({ "cohort": 0, "at": [[3.0, 4.0]] })), "{goals}");
    for (wrong, part) in [
        (json!({ "do": "models", "microscale": "orka" }), "orka"),
        (json!({ "do": "set", "block": "hrvo", "key": "max_neighbors", "value": -3 }), "max_neighbors"),
        (json!({ "do": "set", "block": "pipeline", "key": "microscale", "value": true }), "no parameter"),
        (json!({ "do": "remove_obstacle", "name": "rock" }), "rock"),
        (json!({ "do": "open", "name": "../Cargo.toml" }), "nothing called"),
        (json!({ "do": "fly" }), "no order"),
        (json!({ "do": "step", "by": 1 }), "unknown field `by`"),
    ] {
        page.send(wrong.clone()).await;
        let error = page.text("error").await["message"].to_string();
        assert!(error.contains(part), "{wrong}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_scenario_is_told_and_another_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.toml");
    std::fs::write(&path, "format = 1\n[pipeline]\nmicroscale = \"orka\"\n").unwrap();
    let mut page = Page::open(started(vec![Source::Scenario(path.clone())])).await;
    let scene = page.text("scene").await;
    assert_eq!(scene["mode"], "nothing");
    assert!(scene["error"].as_str().unwrap().contains("did you mean `orca`"), "{scene}");
    page.send(json!({ "do": "open", "name": "mover" })).await;
    assert_eq!(page.text("scene").await["mode"], "live");
    page.frame().await;
    std::fs::write(
        &path,
        "format = 1\n[[agents]]\nplace = { points = [[0, 0]] }\ngoal = { point = [9, 0] }\n",
    )
    .unwrap();
    page.send(json!({ "do": "open", "name": "broken.toml" })).await;
    assert_eq!(page.text("scene").await["panes"][0]["cohorts"][0]["count"], 1);
}

fn recorded(folder: &std::path::Path, name: &str, seed: u64) -> PathBuf {
    let scenario = throng::builtin::find("mover").unwrap();
    let overrides = throng::scenario::Overrides { seed: Some(seed), until: Some(12.0), ..Default::default() };
    let mut simulation = throng::Simulation::new(&scenario.open_with(&overrides).unwrap()).unwrap();
    let path = folder.join(name);
    let mut recorder = throng::Recorder::create(&path, &simulation).unwrap();
    recorder.frame(simulation.frame()).unwrap();
    while !simulation.is_done() {
        simulation.step();
        recorder.frame(simulation.frame()).unwrap();
    }
    recorder.finish().unwrap();
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_runs_are_scrubbed_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let runs = vec![recorded(folder.path(), "a.sqlite", 1), recorded(folder.path(), "b.csv", 2)];
    let mut page = Page::open(started(vec![Source::Runs(runs)])).await;
    let scene = page.text("scene").await;
    assert_eq!((&scene["mode"], scene["panes"].as_array().unwrap().len()), (&json!("recorded"), 2));
    assert_eq!(scene["opened"], "a.sqlite | b.csv");
    assert!(scene["duration"].as_f64().unwrap() > 11.0);
    let samples = page.text("samples").await;
    assert_eq!(samples["samples"].as_array().unwrap().len(), 300);
    assert!(samples["samples"][150]["mean_speed"].as_f64().unwrap() > 0.2, "{}", samples["samples"][150]);
    page.send(json!({ "do": "pause" })).await;
    for time in [8.0, 2.5, 0.0] {
        page.send(json!({ "do": "seek", "time": time })).await;
        page.frame_where(|head| head.time == time && !head.playing).await;
    }
    page.send(json!({ "do": "seek", "time": 1e300 })).await;
    page.frame_where(|head| head.time > 11.0 && head.time < 12.5).await;
    page.send(json!({ "do": "models", "microscale": "orca" })).await;
    assert!(page.text("error").await["message"].as_str().unwrap().contains("only a simulation"));
}

/// A page that does not read holds no other up, and sees what is new when it reads again.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_page_misses_frames_and_others_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.toml");
    // Frames of 140 kB, quickly: a socket holds a few dozen of them.
    let many = "format = 1\nuntil = 1e4\n[pipeline]\nmicroscale = \"none\"\n[[agents]]\ncount = 20000\n\
                place = { grid = { from = [0, 0], columns = 200, spacing = 1 } }\ngoal = { offset = [9000, 0] }\n";
    std::fs::write(&path, many).unwrap();
    let address = started(vec![Source::Scenario(path)]);
    let mut slow = Page::narrow(address).await;
    let mut fast = Page::open(address).await;
    slow.text("scene").await;
    fast.send(json!({ "do": "speed", "times": 8 })).await;
    let begin = fast.frame_where(|head| head.time > 0.5).await;
    let (mut seen, mut last) = (0, begin);
    while seen < 150 {
        last = fast.frame().await;
        seen += 1;
    }
    assert!(last.time > begin.time + 5.0, "{last:?}");
    let mut stale = 0;
    while slow.frame().await.time < last.time {
        stale += 1;
    }
    assert!(stale < seen / 2, "{stale} old frames waited, of {seen}");
}

/// Steps a second of 20,000 agents with a page that reads all frames, over those without one: the median of rounds in turns.
/// Figures of a busy machine say little, so this is run by hand and in the long tests.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures; takes a minute"]
async fn streaming_slows_a_simulation_of_20_000_by_a_tenth_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.toml");
    let many = "format = 1\nuntil = 1e5\n[[agents]]\ncount = 20000\n\
                place = { grid = { from = [0, 0], columns = 200, spacing = 2 }, jitter = 0.3 }\ngoal = { offset = [9000, 0] }\n";
    std::fs::write(&path, many).unwrap();
    let address = started(vec![Source::Scenario(path)]);
    let mut page = Page::open(address).await;
    page.send(json!({ "do": "speed", "times": null })).await;
    let mut head = page.frame_where(|head| head.step > 20).await;
    let (mut with, mut without, mut bytes, mut frames) = (Vec::new(), Vec::new(), 0, 0);
    for _ in 0..5 {
        let (clock, from) = (Instant::now(), head.step);
        while clock.elapsed() < Duration::from_secs(5) {
            head = page.frame().await;
            bytes += head.bytes;
            frames += 1;
        }
        with.push((head.step - from) as f64 / clock.elapsed().as_secs_f64());
        drop(page);
        let (clock, from) = (Instant::now(), head.step);
        tokio::time::sleep(Duration::from_secs(5)).await;
        page = Page::open(address).await;
        // The first frame is the last that a page saw.
        head = page.frame_where(|now| now.step > from).await;
        without.push((head.step - from) as f64 / clock.elapsed().as_secs_f64());
    }
    let median = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let (with, without) = (median(&mut with), median(&mut without));
    println!(
        "{with:.1} steps/s with a page and {without:.1} without: {:.3}; {:.1} frames/s, {:.2} bytes an agent and frame",
        with / without,
        f64::from(frames) / 25.0,
        bytes as f64 / f64::from(frames) / 20_000.0,
    );
    assert!(with > 0.9 * without);
}

fn get(address: SocketAddr, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_the_page_can_be_read_and_by_nobody_else() {
    let address = started(vec![Source::Builtin("mover")]);
    let here = format!("Host: {address}\r\n");
    let index = get(address, "/", &here);
    assert!(index.starts_with("HTTP/1.1 200") && index.contains("<title>throng</title>"), "{index}");
    assert!(get(address, "/page.js", &here).contains("text/javascript"));
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fCargo.toml",
        "/%2e%2e/Cargo.toml",
        "//etc/passwd",
        "/etc/passwd",
        "/src/lib.rs",
        "/page.js/..",
        "/.",
    ] {
        let answer = get(address, path, &here);
        assert!(answer.starts_with("HTTP/1.1 404") || answer.starts_with("HTTP/1.1 400"), "{path}: {answer}");
    }
    for headers in [
        "Host: example.org\r\n".to_owned(),
        format!("{here}Origin: http://example.org\r\n"),
        format!("{here}Origin: null\r\n"),
    ] {
        assert!(get(address, "/", &headers).starts_with("HTTP/1.1 403"), "{headers}");
    }
    let mut request = format!("ws://{address}/socket").into_client_request().unwrap();
    request.headers_mut().insert("Origin", "http://example.org".parse().unwrap());
    let refused = connect_async(request).await;
    assert!(matches!(refused, Err(Error::Http(answer)) if answer.status() == 403));
}

/// Orders with the right keys and any values, orders with wrong keys, and texts that are no orders.
fn orders() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<f64>().prop_map(|n| json!(n)),
        (-20.0..20.0).prop_map(|n: f64| json!(n)),
        any::<u32>().prop_map(|n| json!(n % 200)),
        Just(json!(null)),
        Just(json!("x")),
        Just(json!(true)),
    ];
    let point = (number.clone(), number.clone()).prop_map(|(x, y)| json!([x, y]));
    let word = prop_oneof![
        "[a-z_]{0,8}",
        proptest::sample::select(vec![
            "orca",
            "hrvo",
            "vo",
            "rvo",
            "none",
            "straight",
            "visibility-graph",
            "groups",
            "density",
            "mover",
            "crossing",
            "time_horizon",
            "max_neighbors",
            "headway",
            "contact",
            "on",
            "holonomic",
            "added 1",
            "../x"
        ])
        .prop_map(String::from),
    ];
    let keys = [
        "do",
        "times",
        "seed",
        "name",
        "macroscale",
        "mesoscale",
        "microscale",
        "motion",
        "block",
        "key",
        "value",
        "ring",
        "cohort",
        "at",
        "count",
        "by",
        "id",
        "time",
    ];
    let verbs = [
        "play",
        "pause",
        "step",
        "speed",
        "restart",
        "models",
        "set",
        "add_obstacle",
        "remove_obstacle",
        "drop",
        "retarget",
        "move_goals",
        "explain",
        "seek",
        "open",
    ];
    let value = move |key: &'static str| -> BoxedStrategy<Value> {
        match key {
            "ring" => proptest::collection::vec(point.clone(), 0..6).prop_map(Value::from).boxed(),
            "at" | "by" => point.clone().boxed(),
            "mesoscale" => {
                proptest::collection::vec(word.clone(), 0..3).prop_map(|words| json!(words)).boxed()
            }
            "name" | "macroscale" | "microscale" | "motion" | "block" | "key" => {
                word.clone().prop_map(Value::from).boxed()
            }
            "cohort" => prop_oneof![Just(json!(0)), Just(json!(1)), number.clone()].boxed(),
            _ => number.clone().boxed(),
        }
    };
    let fitting = |verb: &'static str| -> &'static [&'static str] {
        match verb {
            "speed" => &["times"],
            "restart" => &["seed"],
            "open" | "remove_obstacle" => &["name"],
            "models" => &["macroscale", "mesoscale", "microscale", "motion"],
            "set" => &["block", "key", "value"],
            "add_obstacle" => &["ring"],
            "drop" => &["cohort", "at", "count"],
            "retarget" => &["cohort", "at"],
            "move_goals" => &["cohort", "by"],
            "explain" => &["id"],
            "seek" => &["time"],
            _ => &[],
        }
    };
    let order = proptest::sample::select(verbs.to_vec()).prop_flat_map(move |verb| {
        let pairs: Vec<_> = fitting(verb).iter().map(|&key| (Just(key), value(key))).collect();
        pairs.prop_map(move |pairs| {
            let mut order = json!({ "do": verb });
            pairs.into_iter().for_each(|(key, value)| order[key] = value);
            order.to_string()
        })
    });
    prop_oneof![
        12 => order,
        1 => proptest::collection::vec((proptest::sample::select(keys.to_vec()), any::<i32>()), 0..4)
            .prop_map(|pairs| Value::from_iter(pairs.into_iter().map(|(key, value)| (key.to_owned(), json!(value)))).to_string()),
        1 => ".{0,40}",
    ]
}

#[test]
fn nothing_that_a_page_sends_ends_the_server() {
    let address = started(vec![Source::Builtin("crossing")]);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let page = std::cell::RefCell::new(runtime.block_on(Page::open(address)));
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    runner
        .run(&proptest::collection::vec(orders(), 1..6), |orders| {
            let mut page = page.borrow_mut();
            runtime.block_on(async {
                for order in &orders {
                    page.0.send(Message::text(order.clone())).await.unwrap();
                }
                // Whatever happened, it still answers.
                page.send(json!({ "do": "explain", "id": 4_000_000_000u32 })).await;
                loop {
                    let answer = page.text("explanation").await;
                    if answer["id"] == 4_000_000_000u32 {
                        return Ok(());
                    }
                }
            })
        })
        .unwrap();
}
