//! Peers from PyPI, run by Python in a process of their own: RVO2 as `pyrvo` ships it, and JuPedSim's models. They wait for orders,
//! so that they can take turns.

use super::System;
use super::workload::{self, RandomCrossing};
use anyhow::Context;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A system that Python runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peer {
    pub name: &'static str,
    /// What pip calls it, and Python imports.
    package: &'static str,
    script: &'static str,
    /// Which of its models, where it has several.
    model: &'static str,
}

pub const PYRVO: Peer = Peer { name: "pyrvo", package: "pyrvo", script: include_str!("pyrvo.py"), model: "" };

/// A model of JuPedSim's.
pub const fn jupedsim(name: &'static str, model: &'static str) -> Peer {
    Peer { name, package: "jupedsim", script: include_str!("jupedsim.py"), model }
}

pub struct Python {
    peer: Peer,
    process: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Python {
    /// Starts it; where it is not installed, the inner error says what to do.
    pub fn start(peer: Peer, crowd: &RandomCrossing) -> anyhow::Result<Result<Python, String>> {
        let python = interpreter();
        if !installed(&python, peer.package) {
            return Ok(Err(format!("skipped: pip install {}", peer.package)));
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
            crowd.side(),
        ];
        let mut process = Command::new(python)
            .args(["-c", peer.script])
            .args(figures.map(|figure| figure.to_string()))
            .arg(peer.model)
            .env("OMP_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start Python")?;
        let orders = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().context("Python has no output")?);
        let mut system = Python { peer, process, orders, answers };
        system.tell(&bytes(crowd))?;
        anyhow::ensure!(system.answer()?.trim() == "ready", "{} did not start", peer.name);
        Ok(Ok(system))
    }

    fn tell(&mut self, order: &[u8]) -> anyhow::Result<()> {
        let orders = self.orders.as_mut().with_context(|| format!("{} has ended", self.peer.name))?;
        orders.write_all(order)?;
        Ok(orders.flush()?)
    }

    fn answer(&mut self) -> anyhow::Result<String> {
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        anyhow::ensure!(!answer.is_empty(), "{} ended too soon; its reason stands above", self.peer.name);
        Ok(answer)
    }

    fn ask(&mut self, order: &str) -> anyhow::Result<f64> {
        self.tell(format!("{order}\n").as_bytes())?;
        let answer = self.answer()?;
        answer.trim().parse().with_context(|| format!("{} answered `{}`", self.peer.name, answer.trim()))
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

fn installed(python: &Path, package: &str) -> bool {
    let mut import = Command::new(python);
    import
        .args(["-c", &format!("import {package}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    import.status().is_ok_and(|status| status.success())
}

impl System for Python {
    fn name(&self) -> &'static str {
        self.peer.name
    }

    fn run(&mut self, steps: usize) -> anyhow::Result<f64> {
        self.ask(&steps.to_string())
    }

    fn mean_distance(&mut self) -> anyhow::Result<f64> {
        self.ask("distance")
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // The end of its orders is the end of its work; whether it ended well matters no more.
        drop(self.orders.take());
        let _ = self.process.wait();
    }
}
