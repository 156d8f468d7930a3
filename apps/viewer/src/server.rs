//! The web server: embedded files, and a socket for each page.

use crate::control::Order;
use crate::host::{Call, Channels, Host, Request};
use crate::samples::Sample;
use crate::{Options, Source};
use axum::Router;
use axum::body::Body;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Request as HttpRequest, State};
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::routing::get;
use rust_embed::RustEmbed;
use serde::Serialize;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, mpsc as threads};
use throng::{builtin, catalog};
use tokio::sync::mpsc;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// Another process listens there.
    #[error("port {0} is in use; choose another with --port, or 0 for any that is free")]
    PortInUse(u16),
    /// The system refused.
    #[error("cannot listen on {address}: {reason}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        reason: std::io::Error,
    },
}

/// The page as it was built. `npm run build` in `apps/viewer/page` makes it.
#[derive(RustEmbed)]
#[folder = "dist"]
struct Files;

/// A message of a page is short; one that is not comes from something else.
const LONGEST_MESSAGE: usize = 64 * 1024;

/// Answers that a page has not read yet; more are dropped.
const ANSWERS: usize = 32;

struct Shared {
    channels: Channels,
    calls: threads::Sender<Call>,
    hello: String,
    /// Where we listen, for who may connect.
    address: SocketAddr,
}

/// Serves until the process ends. `ready` hears where, and why the first source could not be opened if it could not.
pub fn serve(options: Options, ready: impl FnOnce(SocketAddr, Option<&str>)) -> Result<(), ViewError> {
    let failed = |reason: std::io::Error| match reason.kind() {
        std::io::ErrorKind::AddrInUse => ViewError::PortInUse(options.address.port()),
        _ => ViewError::Listen { address: options.address, reason },
    };
    let listener = std::net::TcpListener::bind(options.address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;

    let channels = Channels::default();
    let hello = hello(&options.sources);
    let host = Host::new(options.sources, channels.clone());
    ready(address, host.error());
    let (calls, called) = threads::channel();
    std::thread::spawn(move || host.run(&called));

    let shared = Arc::new(Shared { channels, calls, hello, address });
    let router = Router::new()
        .route("/socket", get(socket))
        .fallback(file)
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared);
    // The simulation has the cores; two threads are plenty for talking.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(failed)?;
    runtime
        .block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, router).await
        })
        .map_err(failed)
}

/// What a page has to know before anything else.
fn hello(sources: &[Source]) -> String {
    #[derive(Serialize)]
    struct Scenario {
        name: &'static str,
        about: &'static str,
        folder: &'static str,
    }
    #[derive(Serialize)]
    #[serde(tag = "type", rename = "hello")]
    struct Hello {
        models: Vec<catalog::Entry>,
        blocks: Vec<catalog::Block>,
        given: Vec<String>,
        scenarios: Vec<Scenario>,
    }
    let given = sources.iter().filter(|source| !matches!(source, Source::Builtin(_)));
    let scenarios = builtin::all().iter();
    let hello = Hello {
        models: catalog::entries(),
        blocks: catalog::blocks(),
        given: given.map(Source::name).collect(),
        scenarios: scenarios.map(|b| Scenario { name: b.name, about: b.about, folder: b.folder }).collect(),
    };
    serde_json::to_string(&hello).unwrap_or_default()
}

/// Lets in only who asks for this very place: a page of another site could otherwise reach a server on loopback, by its
/// own name (an `Origin` that differs) or by a name that leads here (a `Host` that is not ours).
async fn guard(State(shared): State<Arc<Shared>>, request: HttpRequest, next: Next) -> Response<Body> {
    if admits(shared.address.ip(), request.headers()) {
        next.run(request).await
    } else {
        plain(StatusCode::FORBIDDEN, "only pages of this server may connect")
    }
}

fn admits(listening: IpAddr, headers: &HeaderMap) -> bool {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let Some(host) = text(header::HOST) else { return false };
    let same_origin = text(header::ORIGIN).is_none_or(|origin| origin.strip_prefix("http://") == Some(host));
    same_origin && (!listening.is_loopback() || is_loopback(host))
}

/// Whether a `Host` names this machine, with or without a port.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response
}

async fn file(uri: Uri) -> Response<Body> {
    let path = match uri.path() {
        "/" => "index.html",
        path => path.trim_start_matches('/'),
    };
    let Some(file) = Files::get(path) else {
        return plain(StatusCode::NOT_FOUND, "there is no such page");
    };
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    const POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";
    let mut response = Response::new(Body::from(file.data.into_owned()));
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ] {
        headers.insert(name, header::HeaderValue::from_static(value));
    }
    response
}

async fn socket(State(shared): State<Arc<Shared>>, upgrade: WebSocketUpgrade) -> Response<Body> {
    let upgrade = upgrade.max_message_size(LONGEST_MESSAGE).max_frame_size(LONGEST_MESSAGE);
    upgrade.on_upgrade(move |socket| async move {
        // A page that has gone is no trouble.
        let _ = talk(socket, &shared).await;
    })
}

/// Sends a page what is new, until it goes. Sending waits for the page; what happens meanwhile is only seen in its latest
/// state.
async fn talk(mut socket: WebSocket, shared: &Shared) -> Result<(), axum::Error> {
    let (mut frames, mut scene) = (shared.channels.frames.subscribe(), shared.channels.scene.subscribe());
    // The host may be asleep. Fails only where it has ended.
    let _ = shared.calls.send(Call::Page);
    let (answers, mut answered) = mpsc::channel(ANSWERS);
    let mut charts = Charts::default();
    socket.send(Message::text(shared.hello.clone())).await?;
    scene.mark_changed();
    frames.mark_changed();
    loop {
        tokio::select! {
            biased;
            message = socket.recv() => match message {
                None => return Ok(()),
                Some(message) => order(shared, message?, &answers),
            },
            Some(answer) = answered.recv() => socket.send(Message::text(answer)).await?,
            Ok(()) = scene.changed() => {
                let latest = scene.borrow_and_update().clone();
                socket.send(Message::text(latest.0.clone())).await?;
                for statics in &latest.1 {
                    socket.send(Message::binary(statics.clone())).await?;
                }
            }
            Ok(()) = frames.changed() => {
                let latest = frames.borrow_and_update().clone();
                for frame in latest.iter() {
                    socket.send(Message::binary(frame.clone())).await?;
                }
                for news in charts.news(&shared.channels) {
                    socket.send(Message::text(news)).await?;
                }
            }
        }
    }
}

fn order(shared: &Shared, message: Message, answers: &mpsc::Sender<String>) {
    let Message::Text(text) = message else { return };
    match Order::parse(&text) {
        Ok(order) => {
            // Fails only where the host has ended, and then there is none to answer.
            let _ = shared.calls.send(Call::Order(Request { order, answers: answers.clone() }));
        }
        Err(message) => {
            let answer = serde_json::json!({ "type": "error", "message": message });
            let _ = answers.try_send(answer.to_string());
        }
    }
}

/// How much of the charts a page has.
#[derive(Default)]
struct Charts {
    /// Edition and number of samples, for each pane.
    sent: Vec<(u32, usize)>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "samples")]
struct News<'a> {
    pane: usize,
    /// Whether what the page has is no longer true.
    anew: bool,
    samples: &'a [Sample],
}

impl Charts {
    fn news(&mut self, channels: &Channels) -> Vec<String> {
        channels.with_history(|histories| {
            self.sent.resize(histories.len(), (0, 0));
            let of = |(pane, (history, sent)): (usize, (&crate::samples::History, &mut (u32, usize)))| {
                let anew = sent.0 != history.edition;
                let samples = history.since(if anew { 0 } else { sent.1 });
                if !anew && samples.is_empty() {
                    return None;
                }
                *sent = (history.edition, history.since(0).len());
                serde_json::to_string(&News { pane, anew, samples }).ok()
            };
            histories.iter().zip(&mut self.sent).enumerate().filter_map(of).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_asks_for_this_machine() {
        for host in ["localhost", "localhost:8686", "127.0.0.1:80", "[::1]:8686", "127.9.9.9"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "example.org",
            "example.org:8686",
            "localhost.example.org",
            "192.168.0.1:8686",
            "",
            "127.0.0.1.nip.io",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn other_origins_are_refused() {
        let asks = |listening: &str, host: Option<&str>, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            for (name, value) in [(header::HOST, host), (header::ORIGIN, origin)] {
                if let Some(value) = value {
                    headers.insert(name, value.parse().unwrap());
                }
            }
            admits(listening.parse().unwrap(), &headers)
        };
        let here = Some("127.0.0.1:8686");
        assert!(asks("127.0.0.1", here, None));
        assert!(asks("127.0.0.1", here, Some("http://127.0.0.1:8686")));
        assert!(!asks("127.0.0.1", here, Some("http://127.0.0.1:9999")));
        assert!(!asks("127.0.0.1", here, Some("https://example.org")));
        assert!(!asks("127.0.0.1", here, Some("null")));
        assert!(
            !asks("127.0.0.1", Some("example.org:8686"), Some("http://example.org:8686")),
            "rebound names"
        );
        assert!(!asks("127.0.0.1", None, None));
        assert!(asks("0.0.0.0", Some("10.0.0.3:8686"), Some("http://10.0.0.3:8686")), "asked for by --bind");
        assert!(!asks("0.0.0.0", Some("10.0.0.3:8686"), Some("http://example.org")));
    }
}
