//! The stage around a local model: who looks where, in parallel, and what can be told of it afterwards.

use crate::around::{Around, Ego, Found, Reach};
use crate::headway::{Ask, Headway, HeldUp, Want, Wish, find_wishes};
use crate::together::Together;
use fearless_simd::{Level, Simd};
use glam::Vec2;
use std::cell::RefCell;
use std::slice::from_mut;
use throng_core::CHUNK;
use throng_core::dispatch;
use throng_core::handover::{Commands, Intents, Mates, Near};
use throng_core::memory::Memory;
use throng_core::parallel::for_chunks;
use throng_core::params::Params;
use throng_core::space::{LANES, lanes_below};
use throng_core::world::View;

thread_local! {
    /// Scratch memory, a few kilobytes: to clear it for every task would take as long as some agents' choices.
    static SCRATCH: RefCell<Box<Scratch>> = RefCell::default();
}

#[derive(Default)]
struct Scratch {
    around: Around,
    together: Together,
}

/// A local model: how far it looks, and what it chooses. Everything else comes by itself.
pub trait LocalModel: Params {
    /// How far it looks.
    fn reach(&self) -> Reach;
    /// Whether it reads how the crowd flows.
    fn reads_flow(&self) -> bool {
        false
    }
    /// Whether its own speed follows the free distance ahead: then what agents do in dense crowds is left to it.
    fn keeps_distance(&self) -> bool {
        false
    }
    /// The part of its preferred velocity that an agent wants now: less where it waits for others. What agents do in dense crowds
    /// then takes it for a wish, and not for being held up.
    #[inline(always)]
    fn pace(&self, _scene: Scene<'_>, _ego: &Ego) -> f32 {
        1.0
    }
    /// Whether agents with nothing but others around choose together. Not those of a model with a `pace`.
    const CHOOSES_TOGETHER: bool = false;
    /// Chooses velocities for agents with nothing but others around.
    fn choose_together<S: Simd>(&self, _simd: S, _together: &mut Together) {}
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
    /// What every agent remembers of its last choice.
    pub memory: &'a Memory<HeldUp>,
    /// By row, what agents know of one another in dense crowds; of none where no model asks for it.
    pub wishes: &'a [Wish],
    /// Whether agents follow plans that keep clear of all others: to be slowed or turned would be to lose them.
    pub planned: bool,
}

impl Scene<'_> {
    /// Those whom a row walks together with.
    #[inline(always)]
    pub fn mates(&self, row: usize) -> Option<Mates> {
        let mates = (*self.intents.mates.get(self.view.agents.cohort[row] as usize)?)?;
        Some(Mates { middle: self.view.image(self.view.position(row), mates.middle), ..mates })
    }

    /// How a row has been held up.
    #[inline(always)]
    pub fn held_up(&self, row: usize) -> HeldUp {
        *self.memory.get(self.view.agents.slot[row])
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
    /// By bits, those of up to sixteen rows of these cohorts that are asked for.
    #[inline(always)]
    fn among(&self, cohorts: &[u16]) -> u64 {
        match self {
            Rows::All => lanes_below(cohorts.len()),
            Rows::Cohorts(marked) => {
                let bit = |(lane, &cohort): (usize, &u16)| u64::from(marked[cohort as usize]) << lane;
                cohorts.iter().enumerate().map(bit).sum()
            }
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
    /// How much it has been held up: 0 not at all, 1 for good.
    pub frustration: f32,
}

/// A local model as the engine holds it: one virtual call per step, none per agent.
pub trait Microscale: Send + Sync {
    /// Writes the velocity that every agent among `rows` chooses, and what it will remember in the place of what it does.
    fn run(&self, scene: Scene<'_>, rows: Rows<'_>, remembered: &mut [HeldUp], out: &mut Commands);
    /// Tells what one agent sees and chooses now.
    fn explain(&self, scene: Scene<'_>, row: usize) -> Box<Seen>;
    /// How far it looks.
    fn reach(&self) -> Reach;
    /// Whether it reads how the crowd flows.
    fn reads_flow(&self) -> bool;
    /// Whether its agents look at what others want, as they do in dense crowds.
    fn minds_crowds(&self) -> bool;
}

/// The cohorts that use a local model, a mark for each; all of them where there is no list.
pub type Users = Option<Vec<bool>>;

/// Stage 3 as a whole: local models, each with the cohorts that use it, and what agents remember from one choice to the
/// next. One memory for all models: agents see of others how those have fared, whatever they choose by, and keep it when they
/// get another model.
pub struct LocalModels {
    models: Vec<(Box<dyn Microscale>, Users)>,
    planned: bool,
    /// Kept for its memory only.
    wishes: Vec<Wish>,
    /// What agents remember, for the engine to save, to hash and to let forget.
    pub memory: Memory<HeldUp>,
}

impl LocalModels {
    /// Models, each with those who use it, and whether agents follow plans that keep clear of all others.
    pub fn new(models: Vec<(Box<dyn Microscale>, Users)>, planned: bool) -> LocalModels {
        LocalModels { models, planned, wishes: Vec::new(), memory: Memory::default() }
    }

    /// Writes the velocity that every agent chooses.
    pub fn run(&mut self, view: View<'_>, intents: &Intents, out: &mut Commands) {
        let mut remembered = self.memory.lend_rows(&view.agents.slot);
        let mut wishes = std::mem::take(&mut self.wishes);
        self.find_wishes(view, intents, &remembered, &mut wishes);
        let scene = self.scene(view, intents, &wishes);
        for (model, cohorts) in &self.models {
            model.run(scene, cohorts.as_deref().map_or(Rows::All, Rows::Cohorts), &mut remembered, out);
        }
        self.memory.take_rows(&view.agents.slot, remembered);
        self.wishes = wishes;
    }

    fn find_wishes(&self, view: View<'_>, intents: &Intents, remembered: &[HeldUp], wishes: &mut Vec<Wish>) {
        if self.models.iter().any(|(model, _)| model.minds_crowds()) {
            find_wishes(view, intents, remembered, wishes);
        }
    }

    fn scene<'a>(&'a self, view: View<'a>, intents: &'a Intents, wishes: &'a [Wish]) -> Scene<'a> {
        Scene { view, intents, memory: &self.memory, wishes, planned: self.planned }
    }

    /// Tells what one agent sees and chooses now; `None` where no model is its cohort's.
    pub fn explain(&self, view: View<'_>, intents: &Intents, row: usize) -> Option<Box<Seen>> {
        let cohort = view.agents.cohort[row] as usize;
        let is_own = |cohorts: &Users| cohorts.as_ref().is_none_or(|marked| marked[cohort]);
        let (model, _) = self.models.iter().find(|(_, cohorts)| is_own(cohorts))?;
        let remembered: Vec<HeldUp> = view.agents.slot.iter().map(|&slot| *self.memory.get(slot)).collect();
        let mut wishes = Vec::new();
        self.find_wishes(view, intents, &remembered, &mut wishes);
        Some(model.explain(self.scene(view, intents, &wishes), row))
    }

    /// How far they look.
    pub fn reach(&self) -> impl Iterator<Item = Reach> + Clone {
        self.models.iter().map(|(model, _)| model.reach())
    }

    /// Whether any of them reads how the crowd flows.
    pub fn read_flow(&self) -> bool {
        self.models.iter().any(|(model, _)| model.reads_flow())
    }
}

/// A local model, and what its agents do when they are held up.
#[derive(Clone, Copy, Debug)]
pub struct Local<M> {
    /// What they choose by.
    pub model: M,
    /// What they do in a dense crowd.
    pub headway: Headway,
}

impl<M: LocalModel> Microscale for Local<M> {
    fn run(&self, scene: Scene<'_>, rows: Rows<'_>, remembered: &mut [HeldUp], out: &mut Commands) {
        let level = Level::new();
        let columns = (&mut out.vx[..], &mut out.vy[..], remembered, &mut out.near[..]);
        for_chunks(CHUNK, columns, &|chunk, out| {
            SCRATCH.with_borrow_mut(|scratch| {
                scratch.around.forget_candidates();
                scratch.together.batch.forget();
                choose_chunk(level, self, scene, rows, chunk * CHUNK, scratch, out);
            })
        });
    }

    fn explain(&self, scene: Scene<'_>, row: usize) -> Box<Seen> {
        let (level, mut scratch) = (Level::new(), Box::<Scratch>::default());
        let (mut chosen, mut near) = (Vec2::ZERO, Near::default());
        let held_up = scene.held_up(row);
        let frustration = held_up.waited.max(held_up.opposed);
        let mut remembered = held_up;
        let Vec2 { x, y } = &mut chosen;
        let out = (from_mut(x), from_mut(y), from_mut(&mut remembered), from_mut(&mut near));
        let ego = choose_chunk(level, self, scene, Rows::All, row, &mut scratch, out);
        let ego = ego.expect("an agent among all rows chooses");
        let mut around = scratch.around;
        dispatch!(level, simd => self.model.show(simd, scene, &ego, &mut around));
        Box::new(Seen { ego, around, chosen, frustration })
    }

    fn reach(&self) -> Reach {
        self.model.reach()
    }

    fn reads_flow(&self) -> bool {
        self.model.reads_flow()
    }

    fn minds_crowds(&self) -> bool {
        self.headway.on && !self.model.keeps_distance()
    }
}

type Columns<'a> = (&'a mut [f32], &'a mut [f32], &'a mut [HeldUp], &'a mut [Near]);

/// Lets the rows from `first` on choose, together as far as they can; one alone that is explained, so that all it has seen is
/// there. Returns the last one that chose alone. Not inlined, so that steps and explanations share what is made of it for each
/// instruction set.
#[inline(never)]
fn choose_chunk<M: LocalModel>(
    level: Level,
    local: &Local<M>,
    scene: Scene<'_>,
    rows: Rows<'_>,
    first: usize,
    Scratch { around, together }: &mut Scratch,
    (vx, vy, remembered, near): Columns<'_>,
) -> Option<Ego> {
    let reach = local.model.reach();
    let can_look = vx.len() > 1 && Together::can_look(scene, &reach);
    let can_choose = can_look && M::CHOOSES_TOGETHER && Together::can_choose(scene, &reach, local.headway.on);
    let mut last = None;
    dispatch!(level, simd => for start in (0..vx.len()).step_by(LANES) {
        let end = vx.len().min(start + LANES);
        let mut out = (&mut vx[start..end], &mut vy[start..end], &mut remembered[start..end], &mut near[start..end]);
        let mut alone = rows.among(&scene.view.agents.cohort[first + start..first + end]);
        if can_look && alone != 0 {
            together.find(simd, scene, &reach, first + start, end - start);
            if can_choose {
                together.lanes = alone & together.among_others(scene, &reach);
                alone &= !together.lanes;
                choose_together(simd, local, scene, together, &mut out);
            }
        }
        while alone != 0 {
            let lane = alone.trailing_zeros() as usize;
            alone &= alone - 1;
            let (row, found) = (first + start + lane, can_look.then_some((&together.batch, lane)));
            last = Some(choose_alone(simd, local, scene, (row, found), &reach, around, (lane, &mut out)));
        }
    });
    last
}

/// Lets those of up to sixteen agents choose that do so together.
#[inline(always)]
fn choose_together<S: Simd, M: LocalModel>(
    simd: S,
    Local { model, headway }: &Local<M>,
    scene: Scene<'_>,
    together: &mut Together,
    (vx, vy, remembered, near): &mut Columns<'_>,
) {
    if together.lanes == 0 {
        return;
    }
    together.look(simd, scene);
    if headway.on {
        let wants = headway.want_together(simd, scene, together, remembered);
        let decided = together.chosen;
        model.choose_together(simd, together);
        together.keep(wants.decided(), &decided);
        headway.weigh_together(simd, scene, together, &wants, remembered);
    } else {
        model.choose_together(simd, together);
    }
    let contacts = together.near(simd, scene.view);
    for lane in (0..together.count).filter(|lane| together.lanes >> lane & 1 > 0) {
        (vx[lane], vy[lane]) = (together.chosen[0][lane], together.chosen[1][lane]);
        near[lane] = contacts[lane];
        // What nobody updates, others must not see.
        if !headway.on {
            remembered[lane] = HeldUp::default();
        }
    }
}

/// Lets one agent choose.
#[inline(always)]
fn choose_alone<S: Simd, M: LocalModel>(
    simd: S,
    local: &Local<M>,
    scene: Scene<'_>,
    (row, found): (usize, Option<Found<'_>>),
    reach: &Reach,
    around: &mut Around,
    (at, (vx, vy, remembered, near)): (usize, &mut Columns<'_>),
) -> Ego {
    let (ego, want) = perceive(simd, local, scene, (row, found), reach, around, &mut remembered[at]);
    let ask = match local.model.keeps_distance() {
        true => Ask::For(ego.preferred),
        false => local.headway.ask(scene, &ego, &*around, want),
    };
    let velocity = if let Ask::Nothing(velocity) = ask {
        velocity
    } else {
        let preferred = if let Ask::For(preferred) = ask { preferred } else { ego.preferred };
        let chosen = local.model.choose(simd, scene, &Ego { preferred, ..ego }, around);
        match ask {
            Ask::Opinion(want) => {
                local.headway.weigh(simd, scene, &ego, around, (want, remembered[at]), chosen)
            }
            _ => chosen,
        }
    };
    (vx[at], vy[at]) = velocity.into();
    near[at] = around.near(reach, local.headway.on, scene.view.contact_range(row));
    ego
}

/// What comes before a choice: looking around, and what being held up makes of a wish.
///
/// A function of its own, by `vectorize`: it is long and the same for all models, so one serves them all.
#[inline(always)]
fn perceive<S: Simd, M: LocalModel>(
    simd: S,
    Local { model, headway }: &Local<M>,
    scene: Scene<'_>,
    (row, found): (usize, Option<Found<'_>>),
    reach: &Reach,
    around: &mut Around,
    held_up: &mut HeldUp,
) -> (Ego, Option<Want>) {
    simd.vectorize(
        #[inline(always)]
        || {
            let mut ego = around.sense(simd, scene, row, reach, found);
            ego.preferred *= model.pace(scene, &ego);
            let counts = headway.on && !model.keeps_distance();
            // What nobody updates, others must not see.
            if !counts {
                *held_up = HeldUp::default();
            }
            let want = if counts { headway.want(scene, &*around, &mut ego, held_up) } else { None };
            (ego, want)
        },
    )
}
