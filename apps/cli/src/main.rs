//! The `throng` command.

mod bench;
mod calibrate;
mod changes;
mod commands;
mod files;
mod findings;
mod interrupt;
mod opening;
mod output;
mod papers;
mod progress;
mod session;
mod statistics;
mod summary;
mod sweep;
mod validate;
mod watch;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    commands::Cli::parse().run().unwrap_or_else(|error| {
        output::complain(&error);
        ExitCode::from(2)
    })
}
