//! Sources: people who come in during the run, as soon as there is room.

use super::Ways;
use crate::crowd::{CohortId, Crowd};
use crate::map::{Region, bounds};
use crate::scenario::{Scenario, Source, outline};
use glam::DVec2;
use throng_core::rng::{self, Purpose};

/// Places that are tried for someone in each step.
const TRIES: usize = 40;

/// The sources of a scenario, and how many have come in by each.
pub(crate) struct Sources {
    seed: u64,
    sources: Vec<Source>,
    /// By source: the share of an avoidance that its people take on.
    responsibility: Vec<f64>,
    inside: Vec<Option<Region>>,
    entered: Vec<u32>,
}

impl Sources {
    pub fn of(scenario: &Scenario) -> Sources {
        let sources = &scenario.sources;
        Sources {
            seed: scenario.seed,
            responsibility: sources.iter().map(|one| scenario.cohorts[one.cohort].responsibility).collect(),
            inside: sources
                .iter()
                .map(|one| one.area.as_ref().map(|area| Region::new(&outline(area))))
                .collect(),
            entered: vec![0; sources.len()],
            sources: sources.clone(),
        }
    }

    pub fn entered(&self) -> &[u32] {
        &self.entered
    }

    pub fn resume(&mut self, entered: Vec<u32>) {
        self.entered = entered;
    }

    /// How many should have come by a time, and wait because there is no room.
    pub fn waiting(&self, now: f64) -> usize {
        let due = |source: &Source| source.people.partition_point(|(at, _)| *at <= now + 1e-9);
        self.sources.iter().zip(&self.entered).map(|(source, &entered)| due(source) - entered as usize).sum()
    }

    /// How many have still to come in.
    pub fn to_come(&self) -> usize {
        self.sources
            .iter()
            .zip(&self.entered)
            .map(|(source, &entered)| source.people.len() - entered as usize)
            .sum()
    }

    /// Lets those in whose time has come, in order, while there is room for the next.
    pub fn run(&mut self, crowd: &mut Crowd, ways: &mut Ways) {
        let now = crowd.time() + 1e-9;
        for source in 0..self.sources.len() {
            while let Some((at, person)) = self.sources[source].people.get(self.entered[source] as usize)
                && *at <= now
                && let Some(place) = self.room(crowd, source, person.position, person.radius)
            {
                let cohort = CohortId(self.sources[source].cohort as u16);
                let agent = person.agent(cohort, self.responsibility[source]).placed(place);
                // Refused by the crowd, such as one too many: nobody else will fare better.
                if ways.admit(crowd, agent, person.goal).is_err() {
                    break;
                }
                self.entered[source] += 1;
            }
        }
    }

    /// A place for someone, where there is one now.
    fn room(&self, crowd: &Crowd, source: usize, listed: DVec2, radius: f64) -> Option<DVec2> {
        let (Some(area), Some(inside)) = (&self.sources[source].area, &self.inside[source]) else {
            return (crowd.is_walkable(listed) && crowd.is_clear(listed, radius)).then_some(listed);
        };
        let (low, high) = bounds(area);
        let person = self.entered[source] ^ (source as u32) << 24;
        let mut draws = rng::stream(self.seed, person, crowd.steps(), Purpose::Coming);
        let mut tries =
            (0..TRIES).map(|_| DVec2::new(draws.uniform(low.x, high.x), draws.uniform(low.y, high.y)));
        tries.find(|&at| {
            inside.is_free(at) && crowd.is_clear_of_walls(at, radius) && crowd.is_clear(at, radius)
        })
    }
}
