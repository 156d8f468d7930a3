//! Ways to goals: what planners have in common that find them between walls for bodies of one radius.
//!
//! Free space is worked out for each class of radii when the map changes (`View::map_version`). Those who share a goal share a
//! tree of paths and ask anew in each step from where they stand, so one that was pushed off its path has another one at
//! once, and trees are caches only. Whoever has a goal of its own, or one for whose tree there is no room, has a route of its
//! own, which it follows until it has left it (`own_route.rs`): a tree knows the ways from everywhere, which is far more than
//! one agent asks for.
//!
//! With a budget (`agenda.rs`) trees and routes are searched for a little in each step, by whoever's turn it is. Then also how
//! far that has come lasts, and what agents go by meanwhile: the last stop that they knew of, as long as it is in sight. Trees
//! themselves do not last: a resumed run makes them again, as far as they had come.

mod agenda;
mod own_route;

pub(crate) use agenda::{Agenda, Planned, Planning};

use crate::cached::Cached;
use crate::goal_cache::{Answer, Key, answer, rows_with, unreachable};
use crate::hash::FastMap;
use crate::heading::{GoalKey, Leg, Target, goals, target, waits};
use crate::{Intent, Meanwhile};
use agenda::Allowance;
use glam::{DVec2, Vec2};
use own_route::{Ground, OwnRoute, Progress};
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;
use throng_core::CHUNK;
use throng_core::handover::Intents;
use throng_core::memory::{Memory, Whole, mix};
use throng_core::parallel::{self, for_chunks};
use throng_core::space::Wall;
use throng_core::world::View;

/// Free space between walls for bodies of one radius.
pub(crate) trait Roadmap: Send + Sync + Sized {
    /// The shortest paths to one goal.
    type Tree: std::fmt::Debug + Send + Sync;
    /// A tree that is not complete.
    type Growing: std::fmt::Debug + Send + Sync;

    fn new(walls: &[Wall], radius: f32) -> Self;

    /// The map has changed. The answers that follow are those of a new roadmap, bit by bit.
    fn set_walls(&mut self, walls: &[Wall], radius: f32) {
        *self = Self::new(walls, radius);
    }

    /// The beginning of a tree of ways to a goal that can be entered at any of some places.
    fn plant(&self, goals: Vec<DVec2>) -> Self::Growing;

    /// Goes on with a tree for no more than some expansions. Says how many it took.
    fn grow(&self, growing: Self::Growing, most: u64) -> (Grown<Self>, u64);

    /// How much a tree remembers, roughly.
    fn size(&self) -> usize;

    /// Whether a straight way to the target is clear. May say no where a tree will say the same.
    fn sees(&self, from: Vec2, target: &Target) -> bool;

    /// Whether a straight way is clear.
    fn is_clear(&self, from: Vec2, to: Vec2) -> bool;

    /// An agent that is as near to a bend has rounded it, m.
    fn near(&self) -> f64;

    /// The first stop on the way from a place.
    fn first_stop(&self, tree: &Self::Tree, from: Vec2) -> Option<FirstStop>;

    /// The whole path from a place.
    fn route(&self, tree: &Self::Tree, from: Vec2) -> Option<Vec<Vec2>>;

    /// Where a body has room that wants to a place: there, or as near as it gets; and what it took, in expansions.
    fn entry(&self, goal: Vec2) -> (Option<DVec2>, u64);

    /// The shortest path from a place to a goal with its entry, both included, and how many expansions it took to find it or
    /// none.
    fn search(&self, from: Vec2, goal: (Vec2, DVec2)) -> (Option<Vec<Vec2>>, u64);

    /// The shortest path between two places, both included.
    fn path(&self, from: Vec2, to: Vec2) -> Option<Vec<Vec2>>;
}

/// A tree, as far as it has come.
#[derive(Debug)]
pub(crate) enum Grown<R: Roadmap> {
    Growing(R::Growing),
    Tree(R::Tree),
}

/// Where a path leads first.
pub(crate) struct FirstStop {
    pub at: Vec2,
    /// Whether the way ends there.
    pub ends: bool,
}

impl From<FirstStop> for Leg {
    fn from(FirstStop { at, ends }: FirstStop) -> Leg {
        if ends { Leg::End(at) } else { Leg::Through(at) }
    }
}

/// Heads for the first stop of every agent's shortest path.
#[derive(Debug)]
pub(crate) struct ByGoal<R: Roadmap> {
    planning: Planning,
    map_version: Option<u64>,
    /// By radius; few.
    roadmaps: Vec<(f32, R)>,
    goals: FastMap<Key, Goal<R>>,
    /// What is known of each row in this step.
    answers: Vec<Answer>,
}

/// What is known of a goal.
#[derive(Debug)]
struct Goal<R: Roadmap> {
    /// Agents that have it.
    agents: AtomicU32,
    /// Tells areas apart that a cohort has one after another.
    shape: u64,
    /// Whether its agents go by a tree.
    is_shared: bool,
    tree: Option<Grown<R>>,
    /// Of a point that is not shared, where it is entered. What is looked for in vain takes longest.
    entry: OnceLock<Option<DVec2>>,
}

/// What agents wait for.
#[derive(Clone, Copy)]
struct Job {
    key: Key,
    /// An agent that waits for it.
    row: usize,
    /// Whether it is a tree, and not a route.
    is_tree: bool,
}

/// What all trees together may remember: up to 84 bytes each.
const MOST_REMEMBERED: usize = 3_000_000;
/// Agents with one goal that are worth a tree.
const SEVERAL: u32 = 2;
/// Jobs at a time between two looks at what may still be done.
const BATCH: usize = 16;

impl<R: Roadmap> ByGoal<R> {
    pub fn new(planning: Planning) -> Self {
        ByGoal {
            planning,
            map_version: None,
            roadmaps: Vec::new(),
            goals: FastMap::default(),
            answers: Vec::new(),
        }
    }

    /// Writes every agent's preferred velocity.
    pub fn run(&mut self, view: View<'_>, planned: &mut Planned, out: &mut Intents) {
        // The clock decides nothing unless a deadline was asked for.
        let begin = Instant::now();
        let (routes, Whole(agenda)) = planned;
        self.forget_what_changed(view);
        if routes.note_map(view.map_version) {
            agenda.trees.clear();
            match self.planning.is_spread() {
                true => routes.iter_mut().for_each(|(_, route)| route.grow_stale()),
                false => routes.clear(),
            }
        }
        self.answers.clear();
        self.answers.resize(view.agents.len(), Answer::Open);
        if !view.walls.all().is_empty() {
            self.count(view);
            self.learn_roadmaps(view);
            self.choose_trees(view, agenda);
            self.restore(view, agenda);
            self.follow(view, routes);
        }
        if self.answer(view, routes, out, ByGoal::next) {
            self.plan(view, begin, (routes, agenda), out);
            if self.answer(view, routes, out, ByGoal::next) {
                self.answer(view, routes, out, |known, view, row, route| {
                    Some(known.meanwhile(view, row, route))
                });
            }
        }
        if self.planning.is_spread() {
            self.remember_stops(view, routes, out);
        }
    }

    /// The ids of those who had no path in the last run, ascending.
    pub fn unreachable(&self, view: View<'_>, ids: &mut Vec<u32>) {
        unreachable(view, &self.answers, ids);
    }

    /// Works out free space where it is missing.
    pub fn prepare(&mut self, view: View<'_>) {
        self.forget_what_changed(view);
        if !view.walls.all().is_empty() {
            self.count(view);
            self.learn_roadmaps(view);
        }
    }

    /// What a row wants that has a route of its own, or none.
    pub fn intent(&mut self, view: View<'_>, row: usize, route: &OwnRoute) -> Intent {
        let mut route = self.look_up(view, row, route);
        if !self.planning.is_spread() && self.next(view, row, &route).is_none() {
            route = self.learn(view, row);
        }
        let leg = self.next(view, row, &route);
        Intent::new(leg.unwrap_or_else(|| self.meanwhile(view, row, &route)).velocity(view, row))
    }

    /// The shortest path between two places for a body of a radius.
    pub fn path(&mut self, view: View<'_>, ends: [Vec2; 2], radius: f32) -> Option<Vec<Vec2>> {
        if view.walls.all().is_empty() {
            return Some(ends.to_vec());
        }
        self.forget_what_changed(view);
        self.learn_roadmap(view, view.class_of(radius)).path(ends[0], ends[1])
    }

    /// The whole path of a row that has a route of its own, or none.
    pub fn route(&mut self, view: View<'_>, row: usize, route: &OwnRoute) -> Option<Vec<Vec2>> {
        let mut route = self.look_up(view, row, route);
        let (from, target, key) = (view.position(row), target(view, row), Key::of(view, row));
        if view.walls.all().is_empty() || self.roadmap(key.radius)?.sees(from, &target) {
            return Some(vec![from, target.aim]);
        }
        if !self.planning.is_spread() && self.tree(&key).is_none() && route.ahead().is_empty() {
            route = self.learn(view, row);
        }
        match self.tree(&key) {
            Some(tree) => self.roadmap(key.radius)?.route(tree, from),
            None if route.ahead().is_empty() => None,
            None => Some(std::iter::once(from).chain(route.ahead().iter().copied()).collect()),
        }
    }

    /// What is known when a row is asked for: free space, and how far it has come on its route.
    fn look_up(&mut self, view: View<'_>, row: usize, route: &OwnRoute) -> OwnRoute {
        self.forget_what_changed(view);
        let key = Key::of(view, row);
        if let Some(goal) = self.goals.get_mut(&key) {
            goal.take_shape(shape(view, key.goal));
        }
        let mut route = route.clone();
        if !view.walls.all().is_empty() {
            self.learn_roadmap(view, view.planned_radius(row));
            match self.progress(view, row, &route) {
                Progress::Next(next) => route.go_on(next),
                Progress::Left => route = OwnRoute::default(),
            }
        }
        route
    }

    /// Makes what a single row needs: a tree, which is kept, or a route of its own.
    fn learn(&mut self, view: View<'_>, row: usize) -> OwnRoute {
        let key = Key::of(view, row);
        if !self.is_shared(&key) {
            return self.search(view, row).0.unwrap_or_default();
        }
        let grown = self.roadmap(key.radius).map(|map| map.grow(map.plant(goals(view, row)), u64::MAX).0);
        let goal = self.goals.entry(key).or_default();
        (goal.is_shared, goal.shape, goal.tree) = (true, shape(view, key.goal), grown);
        OwnRoute::default()
    }

    /// Answers the rows that are open, as far as `next` knows. Says whether any remain.
    fn answer(
        &mut self,
        view: View<'_>,
        routes: &Memory<OwnRoute>,
        out: &mut Intents,
        next: impl Fn(&Self, View<'_>, usize, &OwnRoute) -> Option<Leg> + Sync,
    ) -> bool {
        let mut answers = std::mem::take(&mut self.answers);
        let next = |row: usize| next(self, view, row, routes.get(view.agents.slot[row]));
        let left = answer(view, &mut answers, out, next);
        self.answers = answers;
        left.open
    }

    fn forget_what_changed(&mut self, view: View<'_>) {
        if self.map_version != Some(view.map_version) {
            self.map_version = Some(view.map_version);
            self.roadmaps.retain(|(radius, _)| view.radius_classes.contains(radius));
            for (radius, roadmap) in &mut self.roadmaps {
                roadmap.set_walls(view.walls.all(), *radius);
            }
            self.goals.clear();
        }
    }

    /// What a row does next; `None` where what it needs has not been worked out.
    fn next(&self, view: View<'_>, row: usize, route: &OwnRoute) -> Option<Leg> {
        if waits(view, row) {
            return Some(Leg::Wait);
        }
        let target = target(view, row);
        if view.walls.all().is_empty() {
            return Some(Leg::End(target.aim));
        }
        let (key, here) = (Key::of(view, row), view.position(row));
        let roadmap = self.roadmap(key.radius)?;
        if self.is_shared(&key) {
            if roadmap.sees(here, &target) {
                return Some(Leg::End(target.aim));
            }
            return Some(roadmap.first_stop(self.tree(&key)?, here).map_or(Leg::Unreachable, Leg::from));
        }
        if !route.is_nothing() && !route.is_stale() {
            return Some(Leg::along(route.ahead()));
        }
        roadmap.is_clear(here, target.aim).then_some(Leg::End(target.aim))
    }

    /// What a row does that waits for its path.
    fn meanwhile(&self, view: View<'_>, row: usize, route: &OwnRoute) -> Leg {
        match self.planning.meanwhile {
            _ if route.leads_nowhere() || !self.planning.is_spread() => Leg::Unreachable,
            _ if !route.is_nothing() => Leg::along(route.ahead()),
            Meanwhile::Coarse => Leg::End(target(view, row).aim),
            Meanwhile::Wait => Leg::Wait,
        }
    }

    /// By the bits of its radius.
    fn roadmap(&self, radius: u32) -> Option<&R> {
        self.roadmaps.iter().find(|(other, _)| other.to_bits() == radius).map(|(_, roadmap)| roadmap)
    }

    /// Makes the roadmaps that agents need.
    fn learn_roadmaps(&mut self, view: View<'_>) {
        let unknown =
            self.goals.keys().map(|key| key.radius).filter(|&radius| self.roadmap(radius).is_none());
        let mut radii: Vec<u32> = unknown.collect();
        radii.sort_unstable();
        radii.dedup();
        for radius in radii {
            self.learn_roadmap(view, f32::from_bits(radius));
        }
    }

    /// Whether those who have a goal go by a tree.
    fn is_shared(&self, key: &Key) -> bool {
        self.goals.get(key).map_or(!key.is_point(), |goal| goal.is_shared)
    }

    /// A tree that is complete.
    fn tree(&self, key: &Key) -> Option<&R::Tree> {
        match self.goals.get(key).filter(|goal| goal.is_shared)?.tree.as_ref()? {
            Grown::Tree(tree) => Some(tree),
            Grown::Growing(_) => None,
        }
    }

    fn learn_roadmap(&mut self, view: View<'_>, radius: f32) -> &R {
        let known = self.roadmaps.iter().position(|(other, _)| other.to_bits() == radius.to_bits());
        let index = known.unwrap_or_else(|| {
            self.roadmaps.push((radius, R::new(view.walls.all(), radius)));
            self.roadmaps.len() - 1
        });
        &self.roadmaps[index].1
    }

    /// Counts who has which goal, and forgets goals that nobody has.
    fn count(&mut self, view: View<'_>) {
        self.goals.values_mut().for_each(|goal| *goal.agents.get_mut() = 0);
        let (known, missing) = (&self.goals, Cached::new(Vec::new()));
        for_chunks(CHUNK, 0..view.agents.len(), &|_, rows| {
            let mut keys = rows.map(|row| Key::of(view, row)).peekable();
            while let Some(key) = keys.next() {
                // Many have the goal of those beside them, and all threads count at one place.
                let more = std::iter::from_fn(|| keys.next_if_eq(&key)).count() as u32;
                match known.get(&key) {
                    Some(goal) => drop(goal.agents.fetch_add(1 + more, Ordering::Relaxed)),
                    None => missing.lock().push((key, 1 + more)),
                }
            }
        });
        for (key, agents) in missing.into_inner() {
            *self.goals.entry(key).or_default().agents.get_mut() += agents;
        }
        self.goals.retain(|_, goal| *goal.agents.get_mut() > 0);
    }

    /// Chooses the goals that have trees: areas, and points that several share, those of most agents first, as long as there is
    /// room. Says nothing of what was there before, so that a resumed run chooses the same.
    fn choose_trees(&mut self, view: View<'_>, agenda: &mut Agenda) {
        let mut room = MOST_REMEMBERED;
        let mut shared = Vec::new();
        for (&key, goal) in &mut self.goals {
            goal.take_shape(shape(view, key.goal));
            let (agents, is_point) = (*goal.agents.get_mut(), key.is_point());
            goal.is_shared = !is_point || agents >= SEVERAL;
            if goal.is_shared {
                shared.push((is_point, Reverse(agents), key));
            }
        }
        shared.sort_unstable();
        for (is_point, _, key) in &shared {
            let size = self.roadmap(key.radius).map_or(0, R::size);
            let Some(goal) = self.goals.get_mut(key) else { continue };
            goal.is_shared = !is_point || size <= room;
            room = if goal.is_shared { room.saturating_sub(size) } else { room };
        }
        self.goals.values_mut().filter(|goal| !goal.is_shared).for_each(|goal| goal.tree = None);
        let is_as_it_was = |key: &Key, (shape, _): &mut (u64, u64)| {
            self.goals.get(key).is_some_and(|goal| goal.is_shared && goal.shape == *shape)
        };
        agenda.trees.retain(is_as_it_was);
    }

    /// Makes trees as far as they had come in a run that was resumed.
    fn restore(&mut self, view: View<'_>, agenda: &Agenda) {
        for (&key, &(_, spent)) in &agenda.trees {
            if self.goals.get(&key).is_none_or(|goal| goal.tree.is_some()) {
                continue;
            }
            let Some(row) = (0..view.agents.len()).find(|&row| Key::of(view, row) == key) else { continue };
            let grown = self.roadmap(key.radius).map(|map| map.grow(map.plant(goals(view, row)), spent).0);
            self.goals.entry(key).or_default().tree = grown;
        }
    }

    /// Lets agents go on along their own routes, and forget them where they have left them or share a tree by now.
    fn follow(&self, view: View<'_>, routes: &mut Memory<OwnRoute>) {
        let progress = |row: usize| {
            let slot = view.agents.slot[row];
            let route = routes.get(slot);
            if route.is_nothing() {
                return None;
            }
            let key = Key::of(view, row);
            let progress = match (self.is_shared(&key), self.planning.is_spread()) {
                (true, false) => Progress::Left,
                // It is told where it was heading in the end of the step.
                (true, true) if self.tree(&key).is_some() => return None,
                _ => self.progress(view, row, route),
            };
            (progress != Progress::Next(route.next())).then_some((slot, progress))
        };
        for (slot, progress) in parallel::filter_map(CHUNK, view.agents.len(), progress) {
            match progress {
                Progress::Next(next) => routes.get_mut(slot).go_on(next),
                Progress::Left => *routes.get_mut(slot) = OwnRoute::default(),
            }
        }
    }

    /// How far a row has come on its route.
    fn progress(&self, view: View<'_>, row: usize, route: &OwnRoute) -> Progress {
        let Some(roadmap) = self.roadmap(Key::of(view, row).radius) else { return Progress::Left };
        // Where no body fits, a goal is moved, and nobody is told.
        let is_another =
            !route.is_stale() && route.ahead().last().is_some_and(|&end| end != target(view, row).aim);
        let ground = Ground {
            is_clear: &|from, to| roadmap.is_clear(from, to),
            near: roadmap.near() as f32,
            spare: self.planning.spare,
        };
        if is_another { Progress::Left } else { route.progress(view.position(row), &ground) }
    }

    /// Searches for a row's own route. Says how many expansions it took.
    fn search(&self, view: View<'_>, row: usize) -> (Option<OwnRoute>, u64) {
        let (key, goal) = (Key::of(view, row), target(view, row).aim);
        let Some(roadmap) = self.roadmap(key.radius) else { return (None, 0) };
        let mut looked = 0;
        let mut find_entry = || {
            let entry;
            (entry, looked) = roadmap.entry(goal);
            entry
        };
        let entry = match self.goals.get(&key) {
            Some(known) => *known.entry.get_or_init(find_entry),
            None => find_entry(),
        };
        let Some(entry) = entry else { return (None, looked) };
        let (stops, spent) = roadmap.search(view.position(row), (goal, entry));
        let route = stops.map(|stops| {
            let mut route = OwnRoute::found(stops);
            if let Progress::Next(next) = self.progress(view, row, &route) {
                route.go_on(next);
            }
            route
        });
        (route, looked + spent)
    }

    /// Makes what rows wait for, as much of it as the step allows.
    fn plan(
        &mut self,
        view: View<'_>,
        begin: Instant,
        (routes, agenda): (&mut Memory<OwnRoute>, &mut Agenda),
        out: &mut Intents,
    ) {
        let is_spread = self.planning.is_spread();
        let mut allowance = Allowance::begin(&self.planning, agenda.debt, begin);
        let mut queue = self.jobs(view, agenda.turn);
        while !queue.is_empty() && !allowance.is_spent() {
            let batch: Vec<Job> = queue.drain(..BATCH.min(queue.len())).collect();
            let share = allowance.share(batch.len());
            let made = self.work(view, &batch, share);
            // The first one comes to stand at the front again.
            for (job, (made, spent)) in batch.iter().zip(made).rev() {
                allowance.spend(spent.max(1));
                let slot = view.agents.slot[job.row];
                match made {
                    Made::Tree(tree) => {
                        let Some(goal) = self.goals.get_mut(&job.key) else { continue };
                        if is_spread {
                            agenda.trees.entry(job.key).or_insert((goal.shape, 0)).1 += spent;
                        }
                        if matches!(tree, Grown::Growing(_)) {
                            queue.push_front(*job);
                        }
                        goal.tree = Some(tree);
                    }
                    Made::Route(Some(route)) => *routes.get_mut(slot) = route,
                    Made::Route(None) => {
                        Leg::Unreachable.head(view, job.row, out);
                        self.answers[job.row] = Answer::Unreachable;
                        if is_spread {
                            *routes.get_mut(slot) = OwnRoute::guess(view.position(job.row), None);
                        }
                    }
                }
            }
        }
        if let Some(job) = queue.front() {
            agenda.turn = view.agents.id[job.row];
        }
        agenda.debt = allowance.debt();
    }

    /// What rows wait for that are open, in the order of their turns: by id, from the one on whose turn it is.
    fn jobs(&self, view: View<'_>, turn: u32) -> VecDeque<Job> {
        let mut rows: Vec<usize> = rows_with(&self.answers, Answer::Open).collect();
        rows.sort_unstable_by_key(|&row| view.agents.id[row].wrapping_sub(turn));
        let mut listed: FastMap<Key, ()> = FastMap::default();
        let job = |row: usize| {
            let key = Key::of(view, row);
            let is_tree = self.is_shared(&key);
            let is_new = !is_tree || listed.insert(key, ()).is_none();
            is_new.then_some(Job { key, row, is_tree })
        };
        rows.into_iter().filter_map(job).collect()
    }

    /// Does a part of some jobs, at the same time. Says how many expansions each took.
    fn work(&mut self, view: View<'_>, batch: &[Job], share: u64) -> Vec<(Made<R>, u64)> {
        let begun = |job: &Job| Cached::new(self.goals.get_mut(&job.key).and_then(|goal| goal.tree.take()));
        let begun: Vec<Cached<Option<Grown<R>>>> = batch.iter().map(begun).collect();
        let work = |i: usize| {
            let Job { key, row, is_tree } = batch[i];
            let Some(roadmap) = self.roadmap(key.radius).filter(|_| is_tree) else {
                let (route, spent) = self.search(view, row);
                return (Made::Route(route), spent);
            };
            let growing = match begun[i].lock().take() {
                Some(Grown::Growing(growing)) => growing,
                _ => roadmap.plant(goals(view, row)),
            };
            let (tree, spent) = roadmap.grow(growing, share);
            (Made::Tree(tree), spent)
        };
        parallel::map(1, batch.len(), &work)
    }

    /// Notes where those are heading who go by trees, for when there is none.
    fn remember_stops(&self, view: View<'_>, routes: &mut Memory<OwnRoute>, out: &Intents) {
        let stop = |row: usize| {
            self.tree(&Key::of(view, row))?;
            let (slot, aim) = (view.agents.slot[row], out.aim[row]);
            let is_told = self.answers[row] == Answer::Known && !waits(view, row);
            let is_news = is_told && routes.get(slot).ahead() != [aim];
            is_news.then(|| (slot, OwnRoute::guess(view.position(row), Some(aim))))
        };
        for (slot, route) in parallel::filter_map(CHUNK, view.agents.len(), stop) {
            *routes.get_mut(slot) = route;
        }
    }
}

/// What comes of a job.
enum Made<R: Roadmap> {
    Tree(Grown<R>),
    Route(Option<OwnRoute>),
}

impl<R: Roadmap> Default for Goal<R> {
    fn default() -> Self {
        Goal { agents: AtomicU32::new(0), shape: 0, is_shared: false, tree: None, entry: OnceLock::new() }
    }
}

impl<R: Roadmap> Goal<R> {
    /// Forgets the tree of an area that is another one by now.
    fn take_shape(&mut self, shape: u64) {
        if self.shape != shape {
            (self.shape, self.tree) = (shape, None);
        }
    }
}

/// A number that differs where areas do that a cohort has one after another. Points and destinations never change.
fn shape(view: View<'_>, goal: GoalKey) -> u64 {
    let GoalKey::Area(cohort) = goal else { return 0 };
    let ring = view.cohorts[usize::from(cohort)].area.iter().flatten();
    ring.fold(1, |hash, corner| {
        mix(hash ^ (u64::from(corner.x.to_bits()) << 32 | u64::from(corner.y.to_bits())))
    })
}
