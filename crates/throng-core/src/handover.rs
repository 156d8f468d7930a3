//! What one stage hands to the next: columns in the rows' order of this step, kept from step to step.

use crate::world::{Flow, Footstep, Gait, Jam};
use glam::Vec2;

/// From the macroscale, adapted by the mesoscale: the velocity an agent would like to have, m/s.
#[derive(Debug, Default)]
pub struct Intents {
    /// m/s.
    pub vx: Vec<f32>,
    /// m/s.
    pub vy: Vec<f32>,
    /// The next stop of its route, or its goal, m from the world's origin.
    pub aim: Vec<Vec2>,
    /// Whether it leaves the floor in this step, to jump or to be carried: then walls do not hold it, and no model turns it.
    pub airborne: Vec<bool>,
    /// Where walkers get on slowly, in steps in which the mesoscale has looked. The engine hands it to the next step.
    pub jam: Option<Jam>,
    /// How dense the crowd is and how it flows, where a local model reads it.
    pub flow: Option<Flow>,
    /// By cohort: those who walk together, where a local model reads it.
    pub mates: Vec<Option<Mates>>,
    /// The footstep that is planned to begin in this step. Only a macroscale that plans such makes room for it.
    pub footstep: Vec<Option<Footstep>>,
}

impl Intents {
    /// The velocity that a row would like to have, m/s.
    #[inline(always)]
    pub fn velocity(&self, row: usize) -> Vec2 {
        Vec2::new(self.vx[row], self.vy[row])
    }
}

/// From the microscale: the velocity an agent has chosen.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    /// m/s.
    pub vx: Vec<f32>,
    /// m/s.
    pub vy: Vec<f32>,
    /// Whether it leaves the floor in this step.
    pub airborne: Vec<bool>,
    /// The footstep that is planned to begin in this step, as [`Intents::footstep`].
    pub footstep: Vec<Option<Footstep>>,
    /// Whom the agent may come into contact with in this step, among those that it looks at.
    pub near: Vec<Near>,
}

impl Commands {
    /// What is planned goes past the local model: agents in the air or carried do it whatever that chose, and feet are for the
    /// motion stage.
    pub fn pass_plans(&mut self, intents: &Intents) {
        self.footstep.clone_from(&intents.footstep);
        self.airborne.copy_from_slice(&intents.airborne);
        for row in (0..self.airborne.len()).filter(|&row| intents.airborne[row]) {
            (self.vx[row], self.vy[row]) = (intents.vx[row], intents.vy[row]);
        }
    }
}

/// The rows of the few others that are near; most agents have none or one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Near {
    rows: [u32; Near::MOST],
    count: u32,
}

impl Near {
    /// More than this are not listed.
    pub const MOST: usize = 3;

    /// The first `count` of `rows`, which are many where it is more than [`Near::MOST`].
    #[inline(always)]
    pub fn new(rows: [u32; Near::MOST], count: usize) -> Near {
        Near { rows, count: count as u32 }
    }

    /// More than the list holds: the neighbour index has to be asked.
    #[inline(always)]
    pub fn many() -> Near {
        Near { rows: [0; Near::MOST], count: u32::MAX }
    }

    /// Their rows; `None` where they are many.
    #[inline(always)]
    pub fn rows(&self) -> Option<&[u32]> {
        self.rows.get(..self.count as usize)
    }

    /// Whether none is near.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Those of a cohort who walk together, and are on their way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mates {
    /// Their middle, m from the world's origin.
    pub middle: Vec2,
    /// How many they are, at least two.
    pub count: u32,
    /// Where the one is who is the furthest behind by where all want to go, m from the world's origin. Their middle where they
    /// do not agree on that.
    pub last: Vec2,
}

/// From the motion stage: where an agent will be.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    /// m from the world's origin.
    pub x: Vec<f32>,
    /// m from the world's origin.
    pub y: Vec<f32>,
    /// m/s.
    pub vx: Vec<f32>,
    /// m/s.
    pub vy: Vec<f32>,
    /// What feet do. Only a motion that has such makes room for it.
    pub feet: Vec<Option<Gait>>,
}

macro_rules! sized {
    ($name:ident: $($column:ident),+) => {
        impl $name {
            /// Makes room for as many agents as there are; allocates only when the crowd grows.
            pub fn resize(&mut self, agents: usize) {
                $( self.$column.resize_with(agents, Default::default); )+
            }
        }
    };
}
sized!(Intents: vx, vy, aim, airborne);
sized!(Commands: vx, vy, airborne, near);
sized!(Moves: x, y, vx, vy);
