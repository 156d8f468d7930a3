//! A planner that remembers something of every agent: one file and one line, and what it remembers is saved, hashed and
//! forgotten like that of all others.

use crate::common::{Walker, row, world};
use glam::Vec2;
use serde::{Deserialize, Serialize};
use throng_core::handover::Intents;
use throng_core::memory::{Memory, Remember, Remembered};
use throng_core::world::{View, World};
use throng_macroscale::{Intent, Macroscale, MacroscaleModel, Navmesh, Straight};

throng_core::params! {
    /// Over one place to the goal.
    pub struct Detour("detour") {
        /// Where, to the east of the world's origin.
        x: f32 = 5.0, "m", Limit::from(-1e6).up_to(1e6);
    }
}

/// Whether an agent has passed the place.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Passed(bool);

impl Remembered for Passed {
    fn state_hash(&self) -> Option<u64> {
        self.0.then_some(1)
    }
}

struct DetourPlanner {
    over: Vec2,
    passed: Memory<Passed>,
}

impl MacroscaleModel for Detour {
    fn planner(all: Detour, _: Vec<Detour>) -> Box<dyn Macroscale> {
        Box::new(DetourPlanner { over: Vec2::new(all.x, 0.0), passed: Memory::default() })
    }
}

impl Macroscale for DetourPlanner {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        for (row, &slot) in view.agents.slot.iter().enumerate() {
            if view.position(row).distance(self.over) < 0.5 {
                self.passed.get_mut(slot).0 = true;
            }
            let intent = self.intent(view, row);
            (out.vx[row], out.vy[row], out.aim[row]) = (intent.velocity.x, intent.velocity.y, intent.aim);
        }
    }

    fn intent(&self, view: View<'_>, row: usize) -> Intent {
        let aim = if self.passed.get(view.agents.slot[row]).0 { view.goal(row) } else { self.over };
        let velocity = (aim - view.position(row)).clamp_length_max(view.agents.preferred_speed[row]);
        Intent { velocity, aim, ..Intent::default() }
    }

    fn path(&self, _: View<'_>, from: Vec2, to: Vec2, _: f32) -> Option<Vec<Vec2>> {
        Some(vec![from, self.over, to])
    }

    fn route(&self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        self.path(view, view.position(row), view.goal(row), view.agents.radius[row])
    }

    fn unreachable(&self) -> &[u32] {
        &[]
    }

    fn memory(&self) -> Option<&dyn Remember> {
        Some(&self.passed)
    }

    fn memory_mut(&mut self) -> Option<&mut dyn Remember> {
        Some(&mut self.passed)
    }
}

/// A catalog: a line for each.
type Entry = (&'static str, fn() -> Box<dyn Macroscale>);

const CATALOG: [Entry; 3] = [
    ("straight", crate::common::planner::<Straight>),
    ("navmesh", crate::common::planner::<Navmesh>),
    ("detour", crate::common::planner::<Detour>),
];

fn named(name: &str) -> Box<dyn Macroscale> {
    CATALOG.iter().find(|entry| entry.0 == name).unwrap().1()
}

fn walk(world: &mut World, planner: &mut dyn Macroscale, steps: usize) {
    let mut intents = Intents::default();
    for _ in 0..steps {
        intents.resize(world.agents.len());
        planner.run(world.view(), &mut intents);
        for row in 0..world.agents.len() {
            world.agents.x[row] += intents.vx[row] * world.dt() as f32;
            world.agents.y[row] += intents.vy[row] * world.dt() as f32;
        }
        world.sort_rows();
    }
}

fn hash(planner: &dyn Macroscale) -> u64 {
    planner.memory().unwrap().state_hash()
}

#[test]
fn a_planner_with_memory_is_one_file_and_one_line() {
    let walkers = [[0.0, 1.0], [0.0, -9.0]].map(|from| Walker {
        from: from.into(),
        to: Vec2::new(0.0, 20.0),
        radius: 0.25,
    });
    let mut here = world(vec![], &walkers);
    let mut planner = named("detour");
    let untouched = hash(planner.as_ref());
    walk(&mut here, planner.as_mut(), 60);
    // One has passed the place and is on its way back, the other one has not.
    let aim = |world: &World, planner: &dyn Macroscale, id| planner.intent(world.view(), row(world, id)).aim;
    assert_eq!(aim(&here, planner.as_ref(), 0), Vec2::new(0.0, 20.0));
    assert_eq!(aim(&here, planner.as_ref(), 1), Vec2::new(5.0, 0.0));
    assert_ne!(hash(planner.as_ref()), untouched);

    // Another one goes on from what was saved, bit by bit.
    let (mut there, mut resumed) = (here.clone(), named("detour"));
    resumed.memory_mut().unwrap().load(&planner.memory().unwrap().save()).unwrap();
    walk(&mut here, planner.as_mut(), 100);
    walk(&mut there, resumed.as_mut(), 100);
    assert_eq!((hash(resumed.as_ref()), there.state_hash(0)), (hash(planner.as_ref()), here.state_hash(0)));

    // Who comes into a slot after another one has passed nothing.
    let slot = here.agents.slot[row(&here, 0)];
    planner.memory_mut().unwrap().forget(slot);
    assert_eq!(aim(&here, planner.as_ref(), 0), Vec2::new(5.0, 0.0));
    assert!(named("straight").memory().is_none() && named("navmesh").memory().is_none());
}
