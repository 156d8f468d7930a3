//! A simulation that a page watches and steers.

use crate::control::{MOST_CORNERS, MOST_DROPPED, Setting};
use crate::samples::{self, Sample};
use crate::scene::{self, Pane, Target};
use crate::wire::{Head, Packer, Shown};
use glam::DVec2;
use throng::Simulation;
use throng::crowd::{CohortId, EditError, StageTimes};
use throng::explain::Explanation;
use throng::scenario::{AgentStart, Goal, Overrides, Scenario};

/// A simulation, and what a page has changed in it.
pub struct Live {
    scenario: Scenario,
    /// As it was opened, before anything was changed.
    source: String,
    changes: Overrides,
    simulation: Simulation,
    goals: Vec<Target>,
    /// How many obstacles have been added, for their names.
    added: usize,
    scratch: Scratch,
    last_times: (StageTimes, u64),
}

#[derive(Default)]
struct Scratch {
    packer: Packer,
    delay: Vec<f32>,
    movers: Vec<[f32; 3]>,
}

impl Live {
    /// A simulation of a scenario.
    pub fn new(scenario: Scenario) -> Result<Live, String> {
        let simulation = Simulation::new(&scenario).map_err(|error| error.to_string())?;
        Ok(Live {
            source: scenario.source.clone(),
            changes: Overrides::default(),
            simulation,
            goals: scene::targets(&scenario),
            added: 0,
            scratch: Scratch::default(),
            last_times: Default::default(),
            scenario,
        })
    }

    /// Begins again, with the models and parameters that were chosen.
    pub fn restart(&mut self, seed: Option<u64>) -> Result<(), String> {
        let changes = Overrides { seed: seed.or(self.changes.seed), ..self.changes.clone() };
        let scenario = self.changed(&changes)?;
        let again = Live::new(scenario)?;
        *self = Live { source: std::mem::take(&mut self.source), changes, ..again };
        Ok(())
    }

    fn changed(&self, changes: &Overrides) -> Result<Scenario, String> {
        Scenario::parse_with(&self.source, "scenario.json", None, changes).map_err(|error| error.to_string())
    }

    /// Puts other models into stages, while it runs.
    pub fn change(&mut self, changes: Overrides) -> Result<(), String> {
        let scenario = self.changed(&changes)?;
        self.simulation.set_models(scenario.models()).map_err(|error| error.to_string())?;
        (self.scenario, self.changes) = (scenario, changes);
        Ok(())
    }

    /// What has been changed so far.
    pub fn changes(&self) -> Overrides {
        self.changes.clone()
    }

    /// The changes with one parameter more; a later value takes the place of an earlier one.
    pub fn with_parameter(&self, block: &str, key: &str, value: Setting) -> Result<Overrides, String> {
        let known = throng::catalog::blocks().into_iter().find(|known| known.name == block);
        if !known.is_some_and(|known| known.fields.iter().any(|field| field.name == key)) {
            return Err(format!("there is no parameter `{key}` of `{block}`"));
        }
        let mut changes = self.changes();
        let key = format!("params.{block}.{key}");
        changes.set.retain(|(other, _)| *other != key);
        changes.set.push((key, value.to_string()));
        Ok(changes)
    }

    /// One step.
    pub fn step(&mut self) {
        self.simulation.step();
    }

    /// Whether there is nothing more to come.
    pub fn is_done(&self) -> bool {
        self.simulation.is_done()
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.simulation.frame().time
    }

    /// Length of a step, s.
    pub fn dt(&self) -> f64 {
        self.scenario.dt
    }

    /// Puts an obstacle on the map.
    pub fn add_obstacle(&mut self, ring: &[[f64; 2]]) -> Result<(), String> {
        if ring.len() > MOST_CORNERS {
            return Err(format!("an obstacle may have at most {MOST_CORNERS} corners"));
        }
        let ring: Vec<DVec2> = ring.iter().map(|&corner| corner.into()).collect();
        loop {
            self.added += 1;
            let name = format!("added {}", self.added);
            match self.simulation.add_obstacle(&name, &ring) {
                Err(EditError::NameTaken(_)) => {}
                other => return other.map_err(|error| error.to_string()),
            }
        }
    }

    /// Takes an obstacle off the map.
    pub fn remove_obstacle(&mut self, name: &str) -> Result<(), String> {
        self.simulation.remove_obstacle(name).map_err(|error| error.to_string())
    }

    /// Puts people on the map, around a place, like members of a cohort that are there.
    pub fn add_agents(&mut self, cohort: usize, at: [f64; 2], count: u32) -> Result<(), String> {
        let members =
            self.scenario.cohorts.get(cohort).map(|cohort| cohort.agents.as_slice()).unwrap_or_default();
        let like = members.first().ok_or_else(|| format!("cohort {cohort} has no member to be like"))?;
        let goal = self.goals.iter().find(|goal| goal.cohort == cohort).map(|goal| goal.at.as_slice());
        let goal = match goal {
            Some(&[point]) => Goal::Point(point.into()),
            _ => like.goal,
        };
        let spacing = 2.5 * like.radius;
        let places = spiral(at.into(), spacing).take(10 * count.min(MOST_DROPPED) as usize);
        let free: Vec<AgentStart> = places
            .filter(|&place| self.simulation.is_walkable(place))
            .take(count.min(MOST_DROPPED) as usize)
            .zip(members.iter().cycle())
            .map(|(position, like)| AgentStart { position, goal, start: 0.0, ..like.clone() })
            .collect();
        if free.is_empty() {
            return Err("there is no room here".into());
        }
        let (id, share) = (cohort_id(cohort), self.scenario.cohorts[cohort].responsibility);
        for agent in &free {
            self.simulation.admit(agent, id, share).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Sends a cohort to a place.
    pub fn retarget(&mut self, cohort: usize, at: [f64; 2]) -> Result<(), String> {
        self.simulation.retarget(cohort_id(cohort), at).map_err(|error| error.to_string())?;
        self.goals.retain(|goal| goal.cohort != cohort);
        self.goals.push(Target { cohort, at: vec![at] });
        Ok(())
    }

    /// Moves the goals of a cohort.
    pub fn move_goals(&mut self, cohort: usize, by: [f64; 2]) -> Result<(), String> {
        self.simulation.move_goals(cohort_id(cohort), by).map_err(|error| error.to_string())?;
        for corner in self.goals.iter_mut().filter(|goal| goal.cohort == cohort).flat_map(|goal| &mut goal.at)
        {
            *corner = [corner[0] + by[0], corner[1] + by[1]];
        }
        Ok(())
    }

    /// What an agent sees and chooses.
    pub fn explain(&mut self, id: u32) -> Option<Explanation> {
        self.simulation.explain(id)
    }

    /// What a page has to know before frames make sense.
    pub fn pane(&self) -> Pane {
        let mut counts = vec![0; self.scenario.cohorts.len()];
        let world = self.simulation.world();
        world.agents.cohort.iter().for_each(|&cohort| counts[usize::from(cohort)] += 1);
        self.simulation.departed().iter().for_each(|gone| counts[usize::from(gone.cohort)] += 1);
        Pane::of(&self.scenario, self.simulation.map(), self.goals.clone(), &counts)
    }

    /// What can be changed.
    pub fn settings(&self) -> scene::Live {
        scene::Live {
            seed: self.scenario.seed,
            dt: self.scenario.dt,
            until: self.scenario.until,
            pipeline: self.scenario.pipeline.clone(),
            params: self.scenario.params.clone(),
            warnings: self.scenario.warnings(),
        }
    }

    /// Cohorts and radii by id. Of those who have left before they were looked at, the radius is forgotten and does not matter.
    pub fn statics(&self) -> (Vec<u16>, Vec<f32>) {
        let ids = self.simulation.agents();
        let (mut cohorts, mut radii) = (vec![0; ids], vec![0.25; ids]);
        let world = self.simulation.world();
        for (row, &id) in world.agents.id.iter().enumerate() {
            cohorts[id as usize] = world.agents.cohort[row];
            radii[id as usize] = world.agents.radius[row];
        }
        self.simulation.departed().iter().for_each(|gone| cohorts[gone.id as usize] = gone.cohort);
        (cohorts, radii)
    }

    /// The crowd now.
    pub fn frame(&mut self, head: Head) -> Vec<u8> {
        let (frame, world) = (self.simulation.frame(), self.simulation.world());
        let Scratch { packer, delay, movers } = &mut self.scratch;
        let agents = &world.agents;
        let now = frame.time as f32;
        delay.clear();
        delay.extend((0..frame.len()).map(|row| {
            let until = if agents.arrival[row] >= 0.0 { agents.arrival[row] } else { now };
            until - agents.start[row] - agents.walked[row] / agents.preferred_speed[row]
        }));
        movers.clear();
        movers.extend(
            world.view().movers.iter().map(|mover| [mover.position.x, mover.position.y, mover.radius]),
        );
        let head = Head {
            over: self.simulation.is_done(),
            ids: self.simulation.agents(),
            arrived: self.simulation.arrived(),
            fastest: world.fastest,
            ..head
        };
        packer.frame(&head, &Shown { frame, delay, movers })
    }

    /// Figures of now, and how long stages took since this was asked last.
    pub fn sample(&mut self) -> Sample {
        let frame = self.simulation.frame();
        let speeds = frame.vx.iter().zip(frame.vy).map(|(x, y)| f64::from(x.hypot(*y)));
        let timings = self.simulation.timings();
        let (before, steps_before) = std::mem::replace(&mut self.last_times, (timings.total, timings.steps));
        let steps = (timings.steps - steps_before).max(1) as f64;
        let stages = timings.total.named().into_iter().zip(before.named());
        Sample {
            time: frame.time,
            present: frame.len(),
            arrived: self.simulation.arrived(),
            mean_speed: speeds.sum::<f64>() / frame.len().max(1) as f64,
            density: samples::density(frame.x, frame.y),
            collisions: self.simulation.overlaps().collisions,
            stage_us: stages
                .map(|((name, now), (_, before))| {
                    (name, now.saturating_sub(before).as_secs_f64() * 1e6 / steps)
                })
                .collect(),
        }
    }
}

/// A cohort of a page's order; one that is not there is refused by the crowd.
fn cohort_id(cohort: usize) -> CohortId {
    CohortId(u16::try_from(cohort).unwrap_or(u16::MAX))
}

/// Places around a middle, from the inside out, about as far apart as asked for.
fn spiral(middle: DVec2, spacing: f64) -> impl Iterator<Item = DVec2> {
    // The golden angle: no two lie behind one another.
    const TURN: f64 = 2.399_963_229_728_653;
    (0..).map(move |place| {
        middle + DVec2::from_angle(f64::from(place) * TURN) * spacing * f64::from(place).sqrt() * 0.7
    })
}
