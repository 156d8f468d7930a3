//! `throng completions`.

use super::Cli;
use crate::output;
use clap::CommandFactory;
use clap_complete::Shell;
use std::process::ExitCode;

/// Print what a shell needs to complete the command, for its start-up file
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub fn run(Args { shell }: Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "throng", &mut script);
    output::show(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}
