//! The stage around a local model: who looks where, in parallel, and what can be told of it afterwards.

use crate::around::{Around, Ego, Reach};
use crate::patience::Patience;
use fearless_simd::{Level, Simd};
use glam::Vec2;
use std::cell::RefCell;
use std::slice::from_mut;
use throng_core::CHUNK;
use throng_core::dispatch;
use throng_core::handover::{Commands, Intents, Mates, Near};
use throng_core::parallel::for_chunks;
use throng_core::params::Params;
use throng_core::world::View;

thread_local! {
    /// Scratch memory, a few kilobytes: to clear it for every task would take as long as some agents' choices.
    static AROUND: RefCell<Box<Around>> = RefCell::default();
}

/// A local model: how far it looks, and what it chooses. Everything else comes by itself.
pub trait LocalModel: Params {
    /// How far it looks.
    fn reach(&self) -> Reach;
    /// Whether it reads how the crowd flows.
    fn reads_flow(&self) -> bool {
        false
    }
    /// Chooses a velocity from what is around.
    fn choose<S: Simd>(&self, simd: S, scene: Scene<'_>, ego: &Ego, around: &mut Around) -> Vec2;
    /// Works out what is to be told of a choice and was not needed for it.
    fn show<S: Simd>(&self, _simd: S, _scene: Scene<'_>, _ego: &Ego, _around: &mut Around) {}
}

/// What all agents share in a step.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The world.
    pub view: View<'a>,
    /// What the stages before want, and their fields.
    pub intents: &'a Intents,
}

impl Scene<'_> {
    /// Those whom a row walks together with.
    #[inline(always)]
    pub fn mates(&self, row: usize) -> Option<Mates> {
        *self.intents.mates.get(self.view.agents.cohort[row] as usize)?
    }
}

/// Which rows a model is asked for.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// All.
    All,
    /// Those of the cohorts that are marked.
    Cohorts(&'a [bool]),
}

impl Rows<'_> {
    #[inline(always)]
    fn have(&self, cohort: u16) -> bool {
        match self {
            Rows::All => true,
            Rows::Cohorts(marked) => marked[cohort as usize],
        }
    }
}

/// What one agent saw and chose.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The agent.
    pub ego: Ego,
    /// What was around it.
    pub around: Around,
    /// What it chose, m/s.
    pub chosen: Vec2,
}

/// A local model as the engine holds it: one virtual call per step, none per agent.
pub trait Microscale: Send + Sync {
    /// Writes the velocity that every agent among `rows` chooses.
    fn run(&self, view: View<'_>, rows: Rows<'_>, input: &Intents, out: &mut Commands);
    /// Tells what one agent sees and chooses now.
    fn explain(&self, view: View<'_>, input: &Intents, row: usize) -> Box<Seen>;
    /// How far it looks.
    fn reach(&self) -> Reach;
    /// Whether it reads how the crowd flows.
    fn reads_flow(&self) -> bool;
}

/// A local model and how patient its agents are.
#[derive(Clone, Copy, Debug)]
pub struct Local<M> {
    /// What they choose by.
    pub model: M,
    /// What they do when they are held up.
    pub patience: Patience,
}

impl<M: LocalModel> Microscale for Local<M> {
    fn run(&self, view: View<'_>, rows: Rows<'_>, input: &Intents, out: &mut Commands) {
        let level = Level::new();
        let columns = (&mut out.vx[..], &mut out.vy[..], &mut out.frustration[..], &mut out.near[..]);
        for_chunks(CHUNK, columns, &|chunk, out| {
            AROUND.with_borrow_mut(|around| {
                around.forget_candidates();
                choose_chunk(level, self, view, rows, input, chunk * CHUNK, around, out);
            })
        });
    }

    fn explain(&self, view: View<'_>, input: &Intents, row: usize) -> Box<Seen> {
        let (level, mut around) = (Level::new(), Around::default());
        let (mut chosen, mut frustration, mut near) = (Vec2::ZERO, 0.0, Near::default());
        let Vec2 { x, y } = &mut chosen;
        let out = (from_mut(x), from_mut(y), from_mut(&mut frustration), from_mut(&mut near));
        let ego = choose_chunk(level, self, view, Rows::All, input, row, &mut around, out);
        let ego = ego.expect("an agent among all rows chooses");
        dispatch!(level, simd => self.model.show(simd, Scene { view, intents: input }, &ego, &mut around));
        Box::new(Seen { ego, around, chosen })
    }

    fn reach(&self) -> Reach {
        self.model.reach()
    }

    fn reads_flow(&self) -> bool {
        self.model.reads_flow()
    }
}

type Columns<'a> = (&'a mut [f32], &'a mut [f32], &'a mut [f32], &'a mut [Near]);

/// Lets the rows from `first` on choose. Returns the last one that did. Not inlined, so that steps and explanations share
/// what is made of it for each instruction set.
#[inline(never)]
#[allow(clippy::too_many_arguments, reason = "the head of the hot loop")]
fn choose_chunk<M: LocalModel>(
    level: Level,
    local: &Local<M>,
    view: View<'_>,
    rows: Rows<'_>,
    input: &Intents,
    first: usize,
    around: &mut Around,
    (vx, vy, frustration, near): Columns<'_>,
) -> Option<Ego> {
    let reach = local.model.reach();
    let mut last = None;
    dispatch!(level, simd => for i in 0..vx.len() {
        let row = first + i;
        if rows.have(view.agents.cohort[row]) {
            let ego;
            (ego, frustration[i]) = perceive(simd, &local.patience, view, input, row, &reach, around);
            let scene = Scene { view, intents: input };
            (vx[i], vy[i]) = local.model.choose(simd, scene, &ego, around).into();
            near[i] = around.near(view.contact_range(row));
            last = Some(ego);
        }
    });
    last
}

/// What comes before a choice: looking around, and what being held up makes of a wish. Returns what will be remembered of it.
///
/// A function of its own, by `vectorize`: it is long and the same for all models, so one serves them all.
#[inline(always)]
fn perceive<S: Simd>(
    simd: S,
    patience: &Patience,
    view: View<'_>,
    input: &Intents,
    row: usize,
    reach: &Reach,
    around: &mut Around,
) -> (Ego, f32) {
    simd.vectorize(
        #[inline(always)]
        || {
            let mut ego = around.sense(simd, view, input, row, reach, patience.arrived_rate());
            let frustration = patience.turn(simd, view, input, around, &mut ego, reach);
            (ego, frustration)
        },
    )
}
