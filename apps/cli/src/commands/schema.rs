//! `throng schema`.

use crate::output;
use std::process::ExitCode;

/// Print the JSON Schema of scenario files, for editors and checkers
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Prints the schema.
pub fn run(Args {}: Args) -> anyhow::Result<ExitCode> {
    output::show(&format!("{:#}\n", throng::scenario::schema()))?;
    Ok(ExitCode::SUCCESS)
}
