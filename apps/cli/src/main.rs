//! The `throng` command.

mod commands;
mod files;
mod interrupt;
mod opening;
mod output;
mod progress;
mod session;
mod summary;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    commands::Cli::parse().run().unwrap_or_else(|error| {
        output::complain(&error);
        ExitCode::from(2)
    })
}
