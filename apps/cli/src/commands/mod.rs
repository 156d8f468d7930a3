//! The commands, one file each.

mod check;
mod completions;
mod demo;
mod list;
mod measure;
mod new;
mod plan;
mod render;
mod run;
mod schema;
mod show;
mod view;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Simulates crowds: many walkers, many models, one scenario file.
///
/// Without a command it runs a demo and draws a picture of it.
#[derive(Debug, Parser)]
#[command(name = "throng", version, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

const AFTER_HELP: &str = "\
Examples:
  throng                                          the demo: a crowd crosses a circle
  throng list scenarios                           what is ready to run
  throng new hall.toml                            a scenario to start from
  throng run crossing --record crossing.sqlite    run one and keep the trajectories
  throng render crossing.sqlite -o crossing.png   draw them
  throng render crossing.sqlite -o crossing.mp4   film them
  throng view crossing                            watch and steer one in the browser
  throng run crossing --microscale hrvo --set params.hrvo.max_neighbors=6
  throng plan doorway --from 2,2 --to 13,8        plan a path for one agent on a map

Exit code 0: done. 1: the run or a check fell short. 2: bad input, with the reason on stderr.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::Args>),
    Sweep(Box<crate::sweep::Args>),
    Calibrate(Box<crate::calibrate::Args>),
    Check(check::Args),
    New(new::Args),
    Show(show::Args),
    Plan(Box<plan::Args>),
    Render(render::Args),
    Measure(Box<measure::Args>),
    View(view::Args),
    List(list::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    /// Reproduces a paper's tables, theirs and ours side by side
    Papers(crate::papers::Args),
    Validate(Box<crate::validate::Args>),
    /// Throughput as agents grow, beside installed peers
    Bench(crate::bench::Args),
}

/// Reads a number above 0.
fn positive(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it must be a number")?;
    (number.is_finite() && number > 0.0).then_some(number).ok_or_else(|| "it must be above 0".into())
}

impl Cli {
    /// Does what was asked for.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            None => demo::run(),
            Some(Command::Run(args)) => run::run(*args),
            Some(Command::Sweep(args)) => crate::sweep::run(*args),
            Some(Command::Calibrate(args)) => crate::calibrate::run(*args),
            Some(Command::Check(args)) => check::run(args),
            Some(Command::New(args)) => new::run(args),
            Some(Command::Show(args)) => show::run(args),
            Some(Command::Plan(args)) => plan::run(*args),
            Some(Command::Render(args)) => render::run(args),
            Some(Command::Measure(args)) => measure::run(*args),
            Some(Command::View(args)) => view::run(args),
            Some(Command::List(args)) => list::run(args),
            Some(Command::Schema(args)) => schema::run(args),
            Some(Command::Completions(args)) => completions::run(args),
            Some(Command::Papers(args)) => crate::papers::run(args),
            Some(Command::Validate(args)) => crate::validate::run(*args),
            Some(Command::Bench(args)) => crate::bench::run(args),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_every_flag_has_a_help_text() {
        for command in Cli::command().get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
            }
        }
    }
}
