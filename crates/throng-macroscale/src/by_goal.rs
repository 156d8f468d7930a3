//! Ways that are kept by goal: what models have in common that find them between walls for bodies of one radius.
//!
//! Free space is worked out for each class of radii when the map changes (`View::map_version`), the ways to a goal when
//! somebody first needs them. Each step asks anew from where an agent stands, so whoever was pushed off its way has
//! another one at once, and what is kept are caches only: nothing has to be saved, and an answer depends on the view alone.

use crate::heading::{GoalKey, Target, goal_key, goals, target, through, to_end, waits};
use glam::{DVec2, Vec2};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use throng_core::CHUNK;
use throng_core::handover::Intents;
use throng_core::space::Wall;
use throng_core::world::View;

/// Free space between walls for bodies of one radius.
pub(crate) trait Planner: Send + Sync + Sized {
    /// The shortest ways to one goal.
    type Tree: Send + Sync;

    fn new(walls: &[Wall], radius: f32) -> Self;

    /// The map has changed. The answers that follow are those of a new planner, bit by bit.
    fn set_walls(&mut self, walls: &[Wall], radius: f32) {
        *self = Self::new(walls, radius);
    }

    /// The ways to a goal that can be entered at any of some places.
    fn tree(&self, goals: Vec<DVec2>) -> Self::Tree;

    /// How much a tree remembers, or what it is going to.
    fn size(&self, tree: Option<&Self::Tree>) -> usize;

    /// Whether a straight way to the target is clear. May say no where a tree will say the same.
    fn sees(&self, from: Vec2, target: &Target) -> bool;

    /// The first stop on the way from a place.
    fn first_stop(&self, tree: &Self::Tree, from: Vec2) -> Option<FirstStop>;

    /// The whole way from a place.
    fn route(&self, tree: &Self::Tree, from: Vec2) -> Option<Vec<Vec2>>;
}

/// Where a way leads first.
pub(crate) struct FirstStop {
    pub at: Vec2,
    /// Whether the way ends there.
    pub ends: bool,
}

/// Heads for the first stop of every agent's shortest way.
#[derive(Debug)]
pub(crate) struct ByGoal<P: Planner> {
    map_version: Option<u64>,
    /// The areas that trees were made for, by cohort.
    areas: Vec<Option<Vec<Vec2>>>,
    /// By radius; few.
    planners: Vec<(f32, P)>,
    trees: HashMap<Key, Kept<P::Tree>>,
    /// Counts looks over the crowd, so that trees know when they were last asked.
    now: u64,
    /// What is known of each row in this step.
    answers: Vec<Answer>,
    /// The rows that have no way.
    stranded: Vec<u32>,
}

/// What is known of a row in this step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// Nothing yet.
    Open,
    /// Where it goes.
    Known,
    /// That there is no way.
    NoWay,
}

impl<P: Planner> Default for ByGoal<P> {
    fn default() -> Self {
        ByGoal {
            map_version: None,
            areas: Vec::new(),
            planners: Vec::new(),
            trees: HashMap::new(),
            now: 0,
            answers: Vec::new(),
            stranded: Vec::new(),
        }
    }
}

/// What all trees together may remember: up to 84 bytes each. Where goals are more than that holds, trees are made anew
/// in every step, which is slow and right.
const MOST_REMEMBERED: usize = 3_000_000;

#[derive(Debug)]
struct Kept<T> {
    tree: T,
    /// When it was last asked. It decides only what is forgotten first.
    used: AtomicU64,
}

impl<T> Kept<T> {
    fn touch(&self, now: u64) {
        // Most find it noted, and a store would take the line from all other threads.
        if self.last_used() != now {
            self.used.store(now, Ordering::Relaxed);
        }
    }

    fn last_used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

/// Whom a tree is for. Goals are told apart by their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    radius: u32,
    goal: GoalKey,
}

/// What a row does next.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// It waits until its time has come.
    Wait,
    /// The goal is in sight.
    End(Vec2),
    /// Past this place, and on.
    Through(Vec2),
    /// There is no way.
    Stay,
    /// The planner or the tree that it needs has not been worked out.
    Unknown,
}

impl<P: Planner> ByGoal<P> {
    /// Writes every agent's preferred velocity.
    pub fn run(&mut self, view: View<'_>, out: &mut Intents) {
        self.forget_what_changed(view);
        self.answers.clear();
        self.answers.resize(view.agents.len(), Answer::Open);
        while self.answer(view, out) {
            let open: Vec<usize> = self.rows_with(Answer::Open).collect();
            // Planners first: with them some see their goals and need no tree.
            if !self.learn_planners(view, &open) {
                self.learn_trees(view, &open);
            }
        }
        let stranded: Vec<u32> = self.rows_with(Answer::NoWay).map(|row| row as u32).collect();
        self.stranded = stranded;
    }

    /// The rows that had no way in the last run, ascending.
    pub fn stranded(&self) -> &[u32] {
        &self.stranded
    }

    fn rows_with(&self, wanted: Answer) -> impl Iterator<Item = usize> {
        self.answers.iter().enumerate().filter(move |(_, answer)| **answer == wanted).map(|(row, _)| row)
    }

    /// A row's whole way.
    pub fn route(&mut self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        self.forget_what_changed(view);
        self.learn_planners(view, &[row]);
        self.learn_trees(view, &[row]);
        let (planner, kept) = (self.planner(key(view, row))?, self.trees.get(&key(view, row))?);
        let (from, target) = (view.position(row), target(view, row));
        if planner.sees(from, &target) {
            return Some(vec![from, target.aim]);
        }
        planner.route(&kept.tree, from)
    }

    fn forget_what_changed(&mut self, view: View<'_>) {
        if self.map_version != Some(view.map_version) {
            self.map_version = Some(view.map_version);
            self.planners.retain(|(radius, _)| view.radius_classes.contains(radius));
            for (radius, planner) in &mut self.planners {
                planner.set_walls(view.walls.all(), *radius);
            }
            self.trees.clear();
        }
        self.areas.resize(view.cohorts.len(), None);
        for (cohort, (known, now)) in self.areas.iter_mut().zip(view.cohorts).enumerate() {
            if *known != now.area {
                known.clone_from(&now.area);
                self.trees.retain(|key, _| key.goal != GoalKey::Area(cohort as u16));
            }
        }
    }

    /// Answers the rows that are open, as far as is known. Says whether any remain.
    fn answer(&mut self, view: View<'_>, out: &mut Intents) -> bool {
        self.now += 1;
        let mut answers = std::mem::take(&mut self.answers);
        let columns = (
            out.vx.par_chunks_mut(CHUNK),
            out.vy.par_chunks_mut(CHUNK),
            out.aim.par_chunks_mut(CHUNK),
            answers.par_chunks_mut(CHUNK),
        );
        let remain = columns.into_par_iter().enumerate().map(|(chunk, (vx, vy, aim, answers))| {
            let mut remain = false;
            for (i, answer) in answers.iter_mut().enumerate().filter(|(_, answer)| **answer == Answer::Open) {
                let row = chunk * CHUNK + i;
                let next = self.next(view, row);
                *answer = next.answer();
                remain |= *answer == Answer::Open;
                let velocity;
                (velocity, aim[i]) = next.velocity(view, row);
                (vx[i], vy[i]) = velocity.into();
            }
            remain
        });
        let remain = remain.reduce(|| false, |a, b| a | b);
        self.answers = answers;
        remain
    }

    fn next(&self, view: View<'_>, row: usize) -> Next {
        if waits(view, row) {
            return Next::Wait;
        }
        let target = target(view, row);
        if view.walls.all().is_empty() {
            return Next::End(target.aim);
        }
        let key = key(view, row);
        let Some(planner) = self.planner(key) else { return Next::Unknown };
        if planner.sees(view.position(row), &target) {
            return Next::End(target.aim);
        }
        let Some(kept) = self.trees.get(&key) else { return Next::Unknown };
        kept.touch(self.now);
        match planner.first_stop(&kept.tree, view.position(row)) {
            Some(FirstStop { at, ends: true }) => Next::End(at),
            Some(FirstStop { at, ends: false }) => Next::Through(at),
            None => Next::Stay,
        }
    }

    fn planner(&self, key: Key) -> Option<&P> {
        self.planners.iter().find(|(radius, _)| radius.to_bits() == key.radius).map(|(_, planner)| planner)
    }

    /// Makes the planners that rows need. Says whether any was missing.
    fn learn_planners(&mut self, view: View<'_>, rows: &[usize]) -> bool {
        let before = self.planners.len();
        for &row in rows {
            if self.planner(key(view, row)).is_none() {
                let radius = view.planned_radius(row);
                self.planners.push((radius, P::new(view.walls.all(), radius)));
            }
        }
        self.planners.len() > before
    }

    /// Makes the trees that rows need, or as many of them as may be remembered.
    fn learn_trees(&mut self, view: View<'_>, rows: &[usize]) {
        let keys = rows.iter().map(|&row| (key(view, row), row));
        let mut missing: Vec<(Key, usize)> = keys.filter(|(key, _)| !self.trees.contains_key(key)).collect();
        missing.sort_unstable();
        missing.dedup_by_key(|(key, _)| *key);
        missing.truncate(self.make_room(&missing));
        let tree = |&(key, row): &(Key, usize)| {
            let tree = self.planner(key)?.tree(goals(view, row));
            Some((key, Kept { tree, used: AtomicU64::new(0) }))
        };
        let trees: Vec<(Key, Kept<P::Tree>)> = missing.par_iter().filter_map(tree).collect();
        self.trees.extend(trees);
    }

    /// Forgets trees where new ones would be too many. Returns for how many of them there is room, one at least.
    fn make_room(&mut self, missing: &[(Key, usize)]) -> usize {
        let size = |key: Key| self.planner(key).map_or(0, |planner| planner.size(None));
        let sizes: Vec<usize> = missing.iter().map(|&(key, _)| size(key)).collect();
        let wanted: usize = sizes.iter().sum();
        let now = self.now;
        // What was not asked in this look over the crowd can go; if that is not enough, all can, for those who asked
        // have their answers.
        if self.remembered() + wanted > MOST_REMEMBERED {
            self.trees.retain(|_, kept| kept.last_used() == now);
        }
        if self.remembered() + wanted > MOST_REMEMBERED {
            self.trees.clear();
        }
        let mut room = MOST_REMEMBERED - self.remembered().min(MOST_REMEMBERED);
        let fits = sizes.iter().take_while(|&&size| {
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        });
        fits.count().max(1)
    }

    fn remembered(&self) -> usize {
        let size = |(key, kept): (&Key, &Kept<P::Tree>)| {
            self.planner(*key).map_or(0, |planner| planner.size(Some(&kept.tree)))
        };
        self.trees.iter().map(size).sum()
    }
}

impl Next {
    fn answer(self) -> Answer {
        match self {
            Next::Unknown => Answer::Open,
            Next::Stay => Answer::NoWay,
            Next::Wait | Next::End(_) | Next::Through(_) => Answer::Known,
        }
    }

    /// The velocity, and the place that it leads to.
    fn velocity(self, view: View<'_>, row: usize) -> (Vec2, Vec2) {
        match self {
            Next::End(place) => (to_end(view, row, place), place),
            Next::Through(place) => (through(view, row, place), place),
            Next::Wait | Next::Stay | Next::Unknown => (Vec2::ZERO, view.position(row)),
        }
    }
}

fn key(view: View<'_>, row: usize) -> Key {
    Key { radius: view.planned_radius(row).to_bits(), goal: goal_key(view, row) }
}
