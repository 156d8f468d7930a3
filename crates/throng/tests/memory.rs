//! Models that remember: whatever stage one stands in, what it remembers is saved, hashed and forgotten by the engine.

use throng::core::handover::Intents;
use throng::core::memory::{Memory, Remember, Remembered};
use throng::core::world::View;
use throng::mesoscale::{Mesoscale, MesoscaleModel, Perceived};
use throng::prelude::*;

throng::params! {
    /// Agents get tired of walking.
    pub struct Weary("weary") {
        /// The part of its speed that an agent loses in each step.
        tires: f32 = 0.01, "", Limit::from(0.0).up_to(1.0);
    }
}

/// How many steps an agent has walked.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Steps(u32);

impl Remembered for Steps {
    fn state_hash(&self) -> Option<u64> {
        (self.0 > 0).then_some(self.0.into())
    }
}

struct WearyModel {
    cohorts: Vec<Weary>,
    memory: Memory<Steps>,
}

impl WearyModel {
    fn pace(&self, view: View<'_>, row: usize, Steps(steps): Steps) -> f32 {
        (1.0 - self.cohorts[view.agents.cohort[row] as usize].tires).powi(steps as i32)
    }
}

impl MesoscaleModel for Weary {
    fn model(cohorts: Vec<Weary>) -> Box<dyn Mesoscale> {
        Box::new(WearyModel { cohorts, memory: Memory::default() })
    }
}

impl Mesoscale for WearyModel {
    fn run(&mut self, view: View<'_>, intents: &mut Intents) {
        let mut steps = self.memory.lend_rows(&view.agents.slot);
        for (row, steps) in steps.iter_mut().enumerate() {
            let pace = self.pace(view, row, *steps);
            (intents.vx[row], intents.vy[row]) = (intents.vx[row] * pace, intents.vy[row] * pace);
            steps.0 += 1;
        }
        self.memory.take_rows(&view.agents.slot, steps);
    }

    fn explain(&mut self, view: View<'_>, intents: &Intents, row: usize) -> Perceived {
        let steps = *self.memory.get(view.agents.slot[row]);
        let adapted = Vec2::new(intents.vx[row], intents.vy[row]) * self.pace(view, row, steps);
        Perceived { adapted, ..Perceived::default() }
    }

    fn memory(&self) -> Option<&dyn Remember> {
        Some(&self.memory)
    }

    fn memory_mut(&mut self) -> Option<&mut dyn Remember> {
        Some(&mut self.memory)
    }
}

/// Adds the model to the catalog.
pub fn register() {
    register_mesoscale::<Weary>("").unwrap();
}

/// Agents side by side, far apart, on their way to the east.
fn weary() -> (Crowd, Vec<AgentId>) {
    register();
    let mut crowd =
        Crowd::builder().mesoscale(Weary::default()).mesoscale(Groups::default()).build().unwrap();
    let agent = |i: u32| Agent::at([0.0, 5.0 * f64::from(i)]).goal([500.0, 5.0 * f64::from(i)]);
    let agents = (0..5).map(|i| crowd.spawn(agent(i)).unwrap()).collect();
    (crowd, agents)
}

fn steps(crowd: &Crowd, agent: AgentId) -> u32 {
    crowd.agent(agent).unwrap().remembered::<Steps>("weary").unwrap().0
}

#[test]
fn what_a_mesoscale_remembers_is_resumed_and_hashed() {
    let (mut crowd, agents) = weary();
    (0..40).for_each(|_| crowd.step());
    assert_eq!(steps(&crowd, agents[3]), 40);
    let told = crowd.explain(agents[3]).unwrap();
    assert!((told.adapted.length() / told.preferred.length() - 0.99f32.powi(40)).abs() < 1e-4, "{told:?}");

    let mut resumed = Crowd::load(&crowd.save().unwrap()).unwrap();
    assert_eq!((steps(&resumed, agents[3]), resumed.state_hash()), (40, crowd.state_hash()));
    for _ in 0..40 {
        crowd.step();
        resumed.step();
        assert_eq!(resumed.state_hash(), crowd.state_hash());
    }
    // Bodies alone would be the same: no agent has another velocity because it is rested.
    let (mut one, mut other) = (weary().0, weary().0);
    let mut models = other.models().clone();
    models.pipeline.mesoscale.clear();
    other.set_models(models).unwrap();
    let still = one.models().clone();
    one.step();
    other.step();
    other.set_models(still).unwrap();
    assert_eq!(one.columns().vx, other.columns().vx);
    assert_ne!(one.state_hash(), other.state_hash());
}

#[test]
fn agents_that_leave_or_are_changed_are_forgotten() {
    let (mut crowd, agents) = weary();
    (0..10).for_each(|_| crowd.step());
    crowd.despawn(agents[0]).unwrap();
    crowd.set_position(agents[1], [0.0, 40.0]).unwrap();
    crowd.set_goal(agents[2], [0.0, -60.0]).unwrap();
    let newcomer = crowd.spawn(Agent::at([-10.0, 0.0]).goal([500.0, 0.0])).unwrap();
    let remembered = [newcomer, agents[1], agents[2], agents[3]].map(|agent| steps(&crowd, agent));
    assert_eq!(remembered, [0, 0, 0, 10]);

    // A model that stays keeps what it remembers, whatever else is replaced; one that goes takes it along.
    let stays = crowd.models().clone();
    let mut models = stays.clone();
    models.pipeline.mesoscale = vec!["density".into(), "weary".into()];
    models.pipeline.microscale = "hrvo".into();
    crowd.set_models(models.clone()).unwrap();
    assert_eq!(steps(&crowd, agents[3]), 10);
    models.pipeline.mesoscale.pop();
    crowd.set_models(models).unwrap();
    assert!(crowd.agent(agents[3]).unwrap().remembered::<Steps>("weary").is_none());
    crowd.set_models(stays).unwrap();
    assert_eq!(steps(&crowd, agents[3]), 0);
}
