//! Simulated runs of a case: one for each seed, spread over the cores.

use super::trajectories::{Entry, Trajectories};
use crate::sweep::workers;
use crate::watch;
use anyhow::Context;
use glam::DVec2;
use throng::crowd::{Agent, Cohort, CohortId, Crowd};
use throng::measure::{self, Person};
use throng::scenario::{Overrides, Scenario};
use throng::{Frame, Simulation, builtin};

/// How runs are made.
pub struct Trials {
    /// What the command line changes in every scenario.
    pub changes: Overrides,
    /// Runs of each setting.
    pub seeds: u64,
    /// Runs at a time.
    pub threads: usize,
    /// What is being done.
    pub line: watch::Line,
}

impl Trials {
    /// Does jobs on all threads; what comes of them is in their order.
    pub fn spread<J: Sync, T: Send>(
        &self,
        what: &str,
        jobs: &[J],
        work: impl Fn(&J) -> anyhow::Result<T> + Sync,
    ) -> anyhow::Result<Vec<T>> {
        let mut done: Vec<Option<T>> = jobs.iter().map(|_| None).collect();
        let (mut failed, mut count) = (None, 0);
        let indices: Vec<usize> = (0..jobs.len()).collect();
        self.line.say(&format!("{what}: 0 of {} runs", jobs.len()));
        let take = |job: usize, result: anyhow::Result<T>| {
            count += 1;
            self.line.say(&format!("{what}: {count} of {} runs", jobs.len()));
            match result {
                Ok(result) => done[job] = Some(result),
                Err(error) => failed = Some(error),
            }
            failed.is_none()
        };
        workers::spread(&indices, self.threads, |job, _| work(&jobs[job]), take, || {})?;
        match failed {
            Some(error) => Err(error),
            None => Ok(done.into_iter().flatten().collect()),
        }
    }

    /// One job for each of some variants and each seed; results by variant.
    pub fn by_variant<V: Sync, T: Send>(
        &self,
        what: &str,
        variants: &[V],
        work: impl Fn(&V, u64) -> anyhow::Result<T> + Sync,
    ) -> anyhow::Result<Vec<Vec<T>>> {
        let jobs: Vec<(usize, u64)> = (0..variants.len())
            .flat_map(|variant| (1..=self.seeds).map(move |seed| (variant, seed)))
            .collect();
        let mut results =
            self.spread(what, &jobs, |&(variant, seed)| work(&variants[variant], seed))?.into_iter();
        Ok(variants.iter().map(|_| results.by_ref().take(self.seeds as usize).collect()).collect())
    }

    /// A built-in scenario with a seed, changes of the case and those of the command line, which count more.
    pub fn scenario(&self, name: &str, seed: u64, set: &[(&str, String)]) -> anyhow::Result<Scenario> {
        let builtin = builtin::find(name).with_context(|| format!("there is no scenario `{name}`"))?;
        let own = set.iter().map(|(key, value)| (key.to_string(), value.clone()));
        let set = own.chain(self.changes.set.iter().cloned()).collect();
        Ok(builtin.open_with(&Overrides { seed: Some(seed), set, ..self.changes.clone() })?)
    }
}

/// Who is where in a frame, by id.
fn people(frame: &Frame<'_>) -> Vec<Person> {
    let mut people: Vec<Person> = measure::people(frame).collect();
    people.sort_unstable_by_key(|person| person.id);
    people
}

/// Runs a scenario to its end, and keeps who was where after each step.
pub fn walk(scenario: &Scenario) -> anyhow::Result<(Simulation, Trajectories)> {
    let mut simulation = Simulation::with_threads(scenario, 1)?;
    let mut moments = vec![people(&simulation.frame())];
    while !simulation.is_done() {
        simulation.step();
        moments.push(people(&simulation.frame()));
    }
    let trajectories = Trajectories { fps: 1.0 / scenario.dt, moments };
    Ok((simulation, trajectories))
}

/// Someone who will come to a crowd.
#[derive(Clone, Copy, Debug)]
pub struct Comer {
    /// How.
    pub entry: Entry,
    /// m/s.
    pub free_speed: f64,
    /// Which of the cohorts.
    pub cohort: u16,
}

/// People who come one after the other into a scenario's rooms.
pub struct Inflow<'a> {
    /// Whose map, models and steps.
    pub scenario: &'a Scenario,
    /// Where people of each cohort go, as rings; they leave there.
    pub exits: &'a [Vec<DVec2>],
    /// Who comes, by time.
    pub comers: &'a [Comer],
    /// Of every body, m.
    pub radius: f64,
    /// A run that has not ended by then is broken off, s.
    pub until: f64,
}

impl Inflow<'_> {
    /// Runs it. Who finds no room comes as soon as there is some.
    pub fn walk(&self) -> anyhow::Result<Trajectories> {
        let Scenario { dt, seed, map, .. } = self.scenario;
        let builder =
            Crowd::builder().dt(*dt).seed(*seed).threads(1).map(map.clone()).models(self.scenario.models());
        let cohort = |(index, exit): (usize, &Vec<DVec2>)| {
            Cohort::named(format!("way {index}")).leaves_on_arrival().goal_area(exit)
        };
        let cohorts = self.exits.iter().enumerate().map(cohort);
        let mut crowd = cohorts.fold(builder, |builder, cohort| builder.cohort(cohort)).build()?;
        let mut waiting = self.comers.to_vec();
        let mut moments = Vec::new();
        while crowd.time() < self.until && !(waiting.is_empty() && crowd.is_empty()) {
            self.let_in(&mut crowd, &mut waiting)?;
            moments.push(people(&crowd.frame()));
            crowd.step();
        }
        Ok(Trajectories { fps: 1.0 / dt, moments })
    }

    fn let_in(&self, crowd: &mut Crowd, waiting: &mut Vec<Comer>) -> anyhow::Result<()> {
        let mut later = Vec::new();
        for comer in waiting.drain(..) {
            let Entry { time, place, velocity } = comer.entry;
            let is_due = time <= crowd.time() + 1e-9;
            if !is_due || !crowd.neighbors(place, 2.0 * self.radius).is_empty() {
                later.push(comer);
                continue;
            }
            let agent = Agent::at(place).radius(self.radius).speed(comer.free_speed).velocity(velocity);
            crowd.spawn(agent.cohort(CohortId(comer.cohort)))?;
        }
        *waiting = later;
        Ok(())
    }
}
