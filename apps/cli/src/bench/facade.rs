//! This engine, as a program embeds it: the same crowd, built and changed through the façade.

use super::System;
use super::workload::{self, RandomCrossing};
use crate::statistics::lower_quartile;
use std::time::Instant;
use throng::prelude::*;

pub const NAME: &str = "throng, built in code";

pub struct Facade {
    crowd: Crowd,
    agents: Vec<AgentId>,
    goal: Vec<DVec2>,
}

/// Agents that leave, and as many that come, before a step.
const CHURN: usize = 100;
/// Steps of a round.
const ROUND: usize = 5;

impl Facade {
    pub fn new(crossing: &RandomCrossing, threads: usize) -> anyhow::Result<Facade> {
        let orca = Orca {
            time_horizon: workload::TIME_HORIZON as f32,
            neighbor_distance: workload::NEIGHBOR_DISTANCE as f32,
            max_neighbors: workload::MAX_NEIGHBORS,
            ..Orca::default()
        };
        let mut crowd = Crowd::builder().dt(workload::DT).threads(threads).microscale(orca).build()?;
        let mut agents = Vec::new();
        for (&position, &goal) in crossing.position.iter().zip(&crossing.goal) {
            agents.push(crowd.spawn(agent(position, goal))?);
        }
        Ok(Facade { crowd, agents, goal: crossing.goal.clone() })
    }

    /// What it costs that an agent comes or goes, ns, with all that it makes the next step do: steps with agents that come and
    /// go beside steps without. A lower quartile each, because a mean would measure what else the machine does.
    pub fn churn(&mut self, rounds: usize) -> anyhow::Result<f64> {
        let (mut quiet, mut busy) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            self.run(2)?;
            for _ in 0..ROUND {
                quiet.push(self.run(1)?);
            }
            self.busy_step(round * (ROUND + 1))?;
            for step in 1..=ROUND {
                busy.push(self.busy_step(round * (ROUND + 1) + step)?);
            }
        }
        let [quiet, busy] = [quiet, busy].map(lower_quartile);
        Ok((busy - quiet).max(0.0) * 1e9 / (2 * CHURN) as f64)
    }

    /// A step before which agents leave and as many come; the seconds that all of it took.
    fn busy_step(&mut self, number: usize) -> anyhow::Result<f64> {
        let begin = Instant::now();
        for i in 0..CHURN {
            let index = (number * CHURN + i) * 7919 % self.agents.len();
            let place = self.crowd.position(self.agents[index])?;
            self.crowd.despawn(self.agents[index])?;
            self.agents[index] = self.crowd.spawn(agent(place, self.goal[index]))?;
        }
        self.crowd.step();
        Ok(begin.elapsed().as_secs_f64())
    }
}

fn agent(position: DVec2, goal: DVec2) -> Agent {
    let agent = Agent::at(position).goal(goal).radius(workload::RADIUS);
    agent.speed(workload::PREFERRED_SPEED).max_speed(workload::MAX_SPEED)
}

impl System for Facade {
    fn name(&self) -> &'static str {
        NAME
    }

    fn threads(&self) -> usize {
        self.crowd.threads()
    }

    fn run(&mut self, steps: usize) -> anyhow::Result<f64> {
        let begin = Instant::now();
        self.crowd.on_threads(|crowd| (0..steps).for_each(|_| crowd.step()));
        Ok(begin.elapsed().as_secs_f64())
    }

    fn mean_distance(&mut self) -> anyhow::Result<f64> {
        let distances = self.crowd.agents().map(|agent| agent.position().distance(agent.goal()));
        Ok(distances.sum::<f64>() / self.crowd.len() as f64)
    }
}
