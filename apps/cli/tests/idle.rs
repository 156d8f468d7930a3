//! What `throng view` takes of a core while it shows nothing new.
#![cfg(target_os = "linux")]

use crate::common::Desk;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

/// Ends with the test, also where that fails.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// Starts it; also says where it listens.
    fn start(desk: &Desk, line: &str) -> (Server, String) {
        let mut child = desk.start(&format!("{line} --no-open --port 0"));
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let address = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
        (Server(child), address.into())
    }

    /// Processor time so far. Linux counts it in hundredths of a second.
    fn busy(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        // The name in parentheses may have spaces in it.
        let figures: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = figures[11..13].iter().map(|figure| figure.parse::<u64>().unwrap()).sum();
        Duration::from_millis(10 * ticks)
    }

    /// The share of a core that it takes over some seconds.
    fn load(&self) -> f64 {
        let (clock, before) = (Instant::now(), self.busy());
        std::thread::sleep(Duration::from_secs(3));
        (self.busy() - before).as_secs_f64() / clock.elapsed().as_secs_f64()
    }
}

/// A page's socket, without a page.
struct Socket(TcpStream);

impl Socket {
    fn open(address: &str) -> Socket {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "GET /socket HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        .unwrap();
        Socket(stream)
    }

    fn send(&mut self, order: &str) {
        // A text frame; what a client sends is masked, here with zeros.
        let mut frame = vec![0x81, 0x80 | order.len() as u8, 0, 0, 0, 0];
        frame.extend(order.bytes());
        self.0.write_all(&frame).unwrap();
    }

    /// Takes in what comes for so long; returns how many bytes.
    fn hear(&mut self, time: Duration) -> usize {
        let (clock, mut heard, mut buffer) = (Instant::now(), 0, vec![0; 1 << 16]);
        self.0.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        while clock.elapsed() < time {
            heard += self.0.read(&mut buffer).unwrap_or(0);
        }
        heard
    }
}

#[test]
fn a_server_takes_nothing_where_nobody_looks_and_where_time_is_held() {
    let desk = Desk::new();
    desk.works("run crossing --record a.sqlite --set expect={}");
    desk.works("run corridor --record b.csv --set expect={}");
    std::thread::scope(|scope| {
        scope.spawn(|| rests(&desk, "view crossing"));
        scope.spawn(|| rests(&desk, "view a.sqlite b.csv"));
    });
}

fn rests(desk: &Desk, line: &str) {
    let (server, address) = Server::start(desk, line);
    std::thread::sleep(Duration::from_millis(300));
    let unseen = server.load();
    assert!(unseen < 0.005, "{line}: {unseen} of a core before anybody came");

    let mut page = Socket::open(&address);
    assert!(page.hear(Duration::from_secs(1)) > 5_000, "{line}");
    page.send(r#"{"do":"pause"}"#);
    page.hear(Duration::from_secs(1));
    let held = server.load();
    assert!(held < 0.02, "{line}: {held} of a core while time is held");
    assert_eq!(page.hear(Duration::from_millis(200)), 0, "{line}: nothing is told twice");

    page.send(r#"{"do":"play"}"#);
    assert!(page.hear(Duration::from_secs(1)) > 5_000, "{line}: it goes on");
    drop(page);
    std::thread::sleep(Duration::from_secs(1));
    let left = server.load();
    assert!(left < 0.005, "{line}: {left} of a core after all have gone");
}
