//! The `throng` command.

mod bench;
mod findings;
mod papers;
mod progress;

use clap::Parser;
use std::process::ExitCode;

#[derive(Parser)]
#[command(version, about)]
enum Command {
    /// Reproduces a paper's tables, theirs and ours side by side
    Papers(papers::Args),
    /// Throughput as agents grow, beside installed peers
    Bench(bench::Args),
}

fn main() -> anyhow::Result<ExitCode> {
    match Command::parse() {
        Command::Papers(args) => papers::run(args),
        Command::Bench(args) => bench::run(args),
    }
}
