//! Trees of shortest paths that are kept by goal: what planners have in common that find them between walls for bodies of one radius.
//!
//! Free space is worked out for each class of radii when the map changes (`View::map_version`), the ways to a goal when
//! they are first needed. Each step asks anew from where an agent stands, so one that was pushed off its path has
//! another one at once, and what is kept are caches only: nothing has to be saved, and an answer depends on the view alone.

use crate::Intent;
use crate::goal_cache::{Answer, Areas, Key, LastUsed, answer, rows_with, unreachable};
use crate::heading::{Leg, Target, goals, target, waits};
use glam::{DVec2, Vec2};
use std::collections::HashMap;
use throng_core::handover::Intents;
use throng_core::parallel;
use throng_core::space::Wall;
use throng_core::world::View;

/// Free space between walls for bodies of one radius.
pub(crate) trait Roadmap: Send + Sync + Sized {
    /// The shortest paths to one goal.
    type Tree: Send + Sync;

    fn new(walls: &[Wall], radius: f32) -> Self;

    /// The map has changed. The answers that follow are those of a new roadmap, bit by bit.
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

    /// The whole path from a place.
    fn route(&self, tree: &Self::Tree, from: Vec2) -> Option<Vec<Vec2>>;

    /// The shortest path between two places, both included.
    fn path(&self, from: Vec2, to: Vec2) -> Option<Vec<Vec2>>;
}

/// Where a path leads first.
pub(crate) struct FirstStop {
    pub at: Vec2,
    /// Whether the way ends there.
    pub ends: bool,
}

/// Heads for the first stop of every agent's shortest path.
#[derive(Debug)]
pub(crate) struct ByGoal<R: Roadmap> {
    map_version: Option<u64>,
    areas: Areas,
    /// By radius; few.
    roadmaps: Vec<(f32, R)>,
    trees: HashMap<Key, Kept<R::Tree>>,
    /// Counts looks over the crowd, so that trees know when they were last asked.
    now: u64,
    /// What is known of each row in this step.
    answers: Vec<Answer>,
}

impl<R: Roadmap> Default for ByGoal<R> {
    fn default() -> Self {
        ByGoal {
            map_version: None,
            areas: Areas::default(),
            roadmaps: Vec::new(),
            trees: HashMap::new(),
            now: 0,
            answers: Vec::new(),
        }
    }
}

/// What all trees together may remember: up to 84 bytes each. Where goals are more than that holds, trees are made anew
/// in every step, which is slow and right.
const MOST_REMEMBERED: usize = 3_000_000;

#[derive(Debug)]
struct Kept<T> {
    tree: T,
    used: LastUsed,
}

impl<R: Roadmap> ByGoal<R> {
    /// Writes every agent's preferred velocity.
    pub fn run(&mut self, view: View<'_>, out: &mut Intents) {
        self.forget_what_changed(view);
        self.answers.clear();
        self.answers.resize(view.agents.len(), Answer::Open);
        while self.answer(view, out) {
            let open: Vec<usize> = rows_with(&self.answers, Answer::Open).collect();
            // Roadmaps first: with them some see their goals and need no tree.
            if !self.learn_roadmaps(view, &open) {
                self.learn_trees(view, &open);
            }
        }
    }

    /// The ids of those who had no path in the last run, ascending.
    pub fn unreachable(&self, view: View<'_>, ids: &mut Vec<u32>) {
        unreachable(view, &self.answers, ids);
    }

    /// What a row wants.
    pub fn intent(&mut self, view: View<'_>, row: usize) -> Intent {
        self.forget_what_changed(view);
        let mut next = self.next(view, row);
        if next.is_none() && self.learn_roadmaps(view, &[row]) {
            next = self.next(view, row);
        }
        if next.is_none() {
            self.learn_trees(view, &[row]);
            next = self.next(view, row);
        }
        Intent::new(next.unwrap_or(Leg::Wait).velocity(view, row))
    }

    /// The shortest path between two places for a body of a radius.
    pub fn path(&mut self, view: View<'_>, ends: [Vec2; 2], radius: f32) -> Option<Vec<Vec2>> {
        if view.walls.all().is_empty() {
            return Some(ends.to_vec());
        }
        self.forget_what_changed(view);
        self.learn_roadmap(view, view.class_of(radius));
        self.roadmap(view.class_of(radius).to_bits())?.path(ends[0], ends[1])
    }

    /// Answers the rows that are open, as far as is known. Says whether any remain.
    fn answer(&mut self, view: View<'_>, out: &mut Intents) -> bool {
        self.now += 1;
        let mut answers = std::mem::take(&mut self.answers);
        let left = answer(view, &mut answers, out, |row| self.next(view, row));
        self.answers = answers;
        left.open
    }

    /// A row's whole path.
    pub fn route(&mut self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        self.forget_what_changed(view);
        self.learn_roadmaps(view, &[row]);
        self.learn_trees(view, &[row]);
        let (roadmap, kept) =
            (self.roadmap(Key::of(view, row).radius)?, self.trees.get(&Key::of(view, row))?);
        let (from, target) = (view.position(row), target(view, row));
        if roadmap.sees(from, &target) {
            return Some(vec![from, target.aim]);
        }
        roadmap.route(&kept.tree, from)
    }

    fn forget_what_changed(&mut self, view: View<'_>) {
        if self.map_version != Some(view.map_version) {
            self.map_version = Some(view.map_version);
            self.roadmaps.retain(|(radius, _)| view.radius_classes.contains(radius));
            for (radius, roadmap) in &mut self.roadmaps {
                roadmap.set_walls(view.walls.all(), *radius);
            }
            self.trees.clear();
        }
        let trees = &mut self.trees;
        self.areas.update(view, |goal| trees.retain(|key, _| key.goal != goal));
    }

    /// What a row does next; `None` where what it needs has not been worked out.
    fn next(&self, view: View<'_>, row: usize) -> Option<Leg> {
        if waits(view, row) {
            return Some(Leg::Wait);
        }
        let target = target(view, row);
        if view.walls.all().is_empty() {
            return Some(Leg::End(target.aim));
        }
        let key = Key::of(view, row);
        let roadmap = self.roadmap(key.radius)?;
        if roadmap.sees(view.position(row), &target) {
            return Some(Leg::End(target.aim));
        }
        let kept = self.trees.get(&key)?;
        kept.used.touch(self.now);
        Some(match roadmap.first_stop(&kept.tree, view.position(row)) {
            Some(FirstStop { at, ends: true }) => Leg::End(at),
            Some(FirstStop { at, ends: false }) => Leg::Through(at),
            None => Leg::Unreachable,
        })
    }

    /// By the bits of its radius.
    fn roadmap(&self, radius: u32) -> Option<&R> {
        self.roadmaps.iter().find(|(other, _)| other.to_bits() == radius).map(|(_, roadmap)| roadmap)
    }

    /// Makes the roadmaps that rows need. Says whether any was missing.
    fn learn_roadmaps(&mut self, view: View<'_>, rows: &[usize]) -> bool {
        let before = self.roadmaps.len();
        rows.iter().for_each(|&row| self.learn_roadmap(view, view.planned_radius(row)));
        self.roadmaps.len() > before
    }

    fn learn_roadmap(&mut self, view: View<'_>, radius: f32) {
        if self.roadmap(radius.to_bits()).is_none() {
            self.roadmaps.push((radius, R::new(view.walls.all(), radius)));
        }
    }

    /// Makes the trees that rows need, or as many of them as may be remembered.
    fn learn_trees(&mut self, view: View<'_>, rows: &[usize]) {
        let keys = rows.iter().map(|&row| (Key::of(view, row), row));
        let mut missing: Vec<(Key, usize)> = keys.filter(|(key, _)| !self.trees.contains_key(key)).collect();
        missing.sort_unstable();
        missing.dedup_by_key(|(key, _)| *key);
        missing.truncate(self.evict(&missing));
        let tree = |i: usize| {
            let (key, row) = missing[i];
            let tree = self.roadmap(key.radius)?.tree(goals(view, row));
            Some((key, Kept { tree, used: LastUsed::default() }))
        };
        let trees = parallel::map(1, missing.len(), &tree);
        self.trees.extend(trees.into_iter().flatten());
    }

    /// Forgets trees where new ones would be too many. Returns for how many of them there is room, one at least.
    fn evict(&mut self, missing: &[(Key, usize)]) -> usize {
        let size = |key: Key| self.roadmap(key.radius).map_or(0, |roadmap| roadmap.size(None));
        let sizes: Vec<usize> = missing.iter().map(|&(key, _)| size(key)).collect();
        let wanted: usize = sizes.iter().sum();
        let now = self.now;
        // What was not asked in this look over the crowd can go; if that is not enough, all can, for those who asked
        // have their answers.
        if self.remembered() + wanted > MOST_REMEMBERED {
            self.trees.retain(|_, kept| kept.used.get() == now);
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
        let size = |(key, kept): (&Key, &Kept<R::Tree>)| {
            self.roadmap(key.radius).map_or(0, |roadmap| roadmap.size(Some(&kept.tree)))
        };
        self.trees.iter().map(size).sum()
    }
}
