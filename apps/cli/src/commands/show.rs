//! `throng show`.

use crate::output;
use std::process::ExitCode;

/// Print the file of a scenario that comes with throng
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its name, as `throng list scenarios` prints it
    name: String,
}

/// Prints the file.
pub fn run(Args { name }: Args) -> anyhow::Result<ExitCode> {
    output::show(text(&name)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The text of a built-in scenario.
pub fn text(name: &str) -> anyhow::Result<&'static str> {
    let builtin = throng::builtin::find(name).ok_or_else(|| {
        let meant = throng::builtin::similar(name).map(|name| format!("did you mean `{name}`? "));
        anyhow::anyhow!(
            "no scenario `{name}` comes with throng; {}`throng list scenarios` lists those that do",
            meant.unwrap_or_default()
        )
    })?;
    Ok(builtin.text)
}
