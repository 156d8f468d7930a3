//! This engine, as a user runs it: with everything that it adds.

use super::System;
use super::workload::RandomCrossing;
use std::time::Instant;
use throng::Simulation;
use throng::scenario::Pipeline;

pub const NAME: &str = "throng";

pub struct Ours {
    pub simulation: Simulation,
}

impl Ours {
    pub fn new(crowd: &RandomCrossing, pipeline: &Pipeline, threads: usize) -> anyhow::Result<Ours> {
        Ok(Ours { simulation: Simulation::with_threads(&crowd.scenario(pipeline), threads)? })
    }

    /// Takes one step; returns the seconds that it took.
    pub fn step(&mut self) -> f64 {
        let begin = Instant::now();
        self.simulation.on_threads(|simulation| simulation.step());
        begin.elapsed().as_secs_f64()
    }
}

impl System for Ours {
    fn name(&self) -> &'static str {
        NAME
    }

    fn threads(&self) -> usize {
        self.simulation.threads()
    }

    fn run(&mut self, steps: usize) -> anyhow::Result<f64> {
        let begin = Instant::now();
        self.simulation.on_threads(|simulation| (0..steps).for_each(|_| simulation.step()));
        Ok(begin.elapsed().as_secs_f64())
    }

    fn mean_distance(&mut self) -> anyhow::Result<f64> {
        anyhow::ensure!(self.simulation.put_aside() == 0, "agents were put aside");
        let agents = &self.simulation.world().agents;
        let distance = |row: usize| {
            let (dx, dy) = (agents.x[row] - agents.goal_x[row], agents.y[row] - agents.goal_y[row]);
            f64::from(dx.hypot(dy))
        };
        Ok((0..agents.len()).map(distance).sum::<f64>() / agents.len() as f64)
    }
}
