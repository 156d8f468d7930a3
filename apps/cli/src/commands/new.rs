//! `throng new`.

use super::show;
use crate::{files, output};
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a scenario to start from
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to; a file that is there already is left alone
    file: PathBuf,
    /// A built-in scenario to copy, in the place of a small one with comments
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
}

const START: &str = include_str!("start.toml");

/// Writes the file.
pub fn run(Args { file, from }: Args) -> anyhow::Result<ExitCode> {
    let text = from.as_deref().map_or(Ok(START), show::text)?;
    if file.exists() {
        anyhow::bail!("{} is there already; name another file", file.display());
    }
    files::replace(&file, text.as_bytes())?;
    let name = file.display();
    output::show(&format!(
        "wrote {name}\n\n  throng check {name}\n  throng run {name}\n  throng view {name}\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}
