//! `throng view`.

use crate::output;
use anyhow::{anyhow, bail};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use throng::builtin;
use throng_viewer::{Options, Source, recorded};

/// Show a crowd in the browser: live and steerable, or a recorded run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A scenario file, a built-in's name, or a recording (.sqlite, .txt, .csv, .parquet); two recordings are shown
    /// side by side
    #[arg(value_name = "FILE|RUN", num_args = 0..=2)]
    what: Vec<PathBuf>,
    /// Port to serve the page on; 0 takes any that is free
    #[arg(long, value_name = "P", default_value_t = 8686)]
    port: u16,
    /// Address to serve the page on; any other than the default lets others steer too
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// Do not open the browser
    #[arg(long)]
    no_open: bool,
}

/// What is shown by default.
const USUAL: &str = "crossing";

/// Serves the page until Ctrl-C.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let options =
        Options { address: SocketAddr::new(args.bind, args.port), sources: vec![source(&args.what)?] };
    let open = !args.no_open;
    throng_viewer::serve(options, |address, trouble| {
        if let Some(trouble) = trouble {
            output::warn(trouble);
        }
        let page = page(address);
        // The parent process may have closed its output and still want the page.
        let _ = output::show(&format!("the page is at {page}; Ctrl-C ends it\n"));
        if open {
            browse(&page);
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Where a browser finds a server.
fn page(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(IpAddr::from([127, 0, 0, 1]));
    }
    format!("http://{address}/")
}

fn source(what: &[PathBuf]) -> anyhow::Result<Source> {
    let is_run = |path: &PathBuf| {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        matches!(ending.as_str(), "sqlite" | "db" | "txt" | "csv" | "parquet")
    };
    match what {
        [] => builtin_of(USUAL).ok_or_else(|| anyhow!("there is no scenario `{USUAL}`")),
        [one] if !one.exists() => match builtin_of(&one.to_string_lossy()) {
            Some(source) => Ok(source),
            None => Err(missing(one)),
        },
        [one] if one.is_dir() => bail!("`{}` is a folder; give a scenario or a recording", one.display()),
        [one] if !is_run(one) => Ok(Source::Scenario(one.clone())),
        runs if runs.len() <= recorded::MOST_RUNS && runs.iter().all(is_run) => {
            match runs.iter().find(|run| !run.is_file()) {
                Some(run) => Err(missing(run)),
                None => Ok(Source::Runs(runs.to_vec())),
            }
        }
        _ => bail!("only recordings can be shown side by side, two at most; give one scenario"),
    }
}

fn builtin_of(name: &str) -> Option<Source> {
    builtin::find(name).map(|builtin| Source::Builtin(builtin.name))
}

fn missing(path: &Path) -> anyhow::Error {
    let hint = match builtin::similar(&path.to_string_lossy()) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => "`throng list scenarios` prints what there is".into(),
    };
    anyhow!("there is no file `{}`, and no built-in scenario of that name; {hint}", path.display())
}

/// Opens a page in the user's browser. Where there is none, the address has been printed.
fn browse(page: &str) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        Command::new("explorer")
    } else {
        Command::new("xdg-open")
    };
    let _ = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}
