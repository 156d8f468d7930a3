//! RVO2 as PyPI ships it, run by Python in a process of its own. It waits for orders, so that it can take turns.

use super::System;
use super::workload::{self, RandomCrossing};
use anyhow::Context;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub const NAME: &str = "pyrvo";

const SCRIPT: &str = include_str!("pyrvo.py");

pub struct Pyrvo {
    process: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Pyrvo {
    /// Starts it; where it is not installed, the inner error says what to do.
    pub fn start(crowd: &RandomCrossing) -> anyhow::Result<Result<Pyrvo, String>> {
        let python = interpreter();
        if !installed(&python) {
            return Ok(Err("skipped: pip install pyrvo".into()));
        }
        let figures = [
            crowd.len() as f64,
            workload::PREFERRED_SPEED,
            workload::DT,
            workload::NEIGHBOR_DISTANCE,
            workload::MAX_NEIGHBORS as f64,
            workload::TIME_HORIZON,
            workload::RADIUS,
            workload::MAX_SPEED,
        ];
        let mut process = Command::new(python)
            .args(["-c", SCRIPT])
            .args(figures.map(|figure| figure.to_string()))
            .env("OMP_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start Python")?;
        let orders = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().context("Python has no output")?);
        let mut pyrvo = Pyrvo { process, orders, answers };
        pyrvo.tell(&bytes(crowd))?;
        anyhow::ensure!(pyrvo.answer()?.trim() == "ready", "pyrvo did not start");
        Ok(Ok(pyrvo))
    }

    fn tell(&mut self, order: &[u8]) -> anyhow::Result<()> {
        let orders = self.orders.as_mut().context("pyrvo has ended")?;
        orders.write_all(order)?;
        Ok(orders.flush()?)
    }

    fn answer(&mut self) -> anyhow::Result<String> {
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        anyhow::ensure!(!answer.is_empty(), "pyrvo ended too soon; its reason stands above");
        Ok(answer)
    }

    fn ask(&mut self, order: &str) -> anyhow::Result<f64> {
        self.tell(format!("{order}\n").as_bytes())?;
        let answer = self.answer()?;
        answer.trim().parse().with_context(|| format!("pyrvo answered `{}`", answer.trim()))
    }
}

/// Position and goal of each agent, as Python's `array` reads them.
fn bytes(crowd: &RandomCrossing) -> Vec<u8> {
    let places = crowd.position.iter().zip(&crowd.goal);
    places.flat_map(|(at, goal)| [at.x, at.y, goal.x, goal.y]).flat_map(f64::to_ne_bytes).collect()
}

fn interpreter() -> PathBuf {
    let own = Path::new("target/python/bin/python");
    match std::env::var_os("THRONG_PYTHON") {
        Some(python) => python.into(),
        None if own.exists() => own.into(),
        None => "python3".into(),
    }
}

fn installed(python: &Path) -> bool {
    let mut import = Command::new(python);
    import.args(["-c", "import pyrvo"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    import.status().is_ok_and(|status| status.success())
}

impl System for Pyrvo {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&mut self, steps: usize) -> anyhow::Result<f64> {
        self.ask(&steps.to_string())
    }

    fn mean_distance(&mut self) -> anyhow::Result<f64> {
        self.ask("distance")
    }
}

impl Drop for Pyrvo {
    fn drop(&mut self) {
        // The end of its orders is the end of its work; whether it ended well matters no more.
        drop(self.orders.take());
        let _ = self.process.wait();
    }
}
