//! # Anytime Dynamic A* (Likhachev, Ferguson, Gordon, Stentz & Thrun 2005)
//! The paper's figures 3 and 4: a search from the goal in rounds. A round with inflation ε ends with a way that costs at
//! most ε times the optimum; the next has a smaller ε and uses what is known. The queue holds states of two kinds. Some
//! have become *cheaper* (`g > rhs`, the paper's overconsistent): they are expanded once a round, and one that becomes
//! cheaper again after that is put off to the next round (the paper's INCONS). Others have become *dearer* (`g < rhs`,
//! underconsistent): they are first given an infinite cost, so that states that relied on them look for another path.
//!
//! Where the paper is silent, or we deviate:
//! - **Parents.** A node remembers the neighbour that its `rhs` comes from. Whether a neighbour that became cheaper matters
//!   is then one comparison, and only where the parent became dearer all successors are asked; the paper asks them for
//!   every predecessor of every expanded state. The way follows parents, so ties cannot lead it in circles.
//! - **The start moves.** Keys hold the heuristic to the start. D* Lite adds what the start has moved to all later keys, so
//!   that old ones stay lower bounds. With an inflated heuristic that offset grows by ε times the move, keys have to be
//!   mended as they come up, and after a long walk single precision loses costs beside the offset. Here a new round gives
//!   all open states new keys in one linear pass, as the paper does for a new ε. Along a way that is the best no pass is
//!   needed: the rest of it is the best too.
//! - **Rounding.** A dearer state must come up before every state that may rely on it, or a state is expanded on a cost
//!   that is no longer true. With exact numbers the paper's order sees to that: it does not inflate the heuristic of dearer
//!   states. Here their keys are also made smaller by a 16,384th, which is more than rounding makes of a thousand edges.
//!   Where that is not enough, or the heuristic is not consistent, a closed state that turns dearer is opened again, which
//!   the paper does not foresee.
//! - **A round ends** where no open key is less than the start's cost, by the first number alone. The paper compares the
//!   second too, for the sake of dearer states; here their smaller keys decide, and states on other ways of the same cost
//!   are left alone, which are many on a grid.
//! - **Ties** go to the state nearer the aim (the paper: the smaller cost), for the same reason.
//! - **After changes, a round at the same ε** and only then one at the next. An agent that moves at every step would otherwise
//!   either never see ε fall, or wait for a harder round than needed to have a way again.
//! - **From scratch** where much of what is known relies on what became dearer; see [`Settings::anew_share`]. Counting
//!   changed states would not do: one near the goal may take everything with it, a thousand beside the way nothing.
//! - **Paths are checked.** A path is handed out after each step of it was found in the domain, at the cost it counts
//!   with. Where it was not, a change was not told of, and all begins anew.

use super::arena::{Arena, INCONSISTENT, NO_NODE, Node};
use super::heap::{Heap, Key, OUTSIDE};
use super::plan::Solution;
use super::reliance::{Mark, uncertain_share};
use super::{Aim, Budget, Domain, Effort, Status};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::hash::Hash;
use throng_core::memory::mix;

/// How an [`AnytimeDynamicAstar`] goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The inflation of the first round: the first path costs at most this many times the optimum. Default 2.5. 1 looks for
    /// the best path at once, and less counts as 1.
    pub inflation: f32,
    /// By how much the inflation falls from round to round, down to 1. Default 0.5. Less than 0.001 counts as that.
    pub step: f32,
    /// Planning begins anew where more than this share of all expanded states rely on one that has become dearer. Default
    /// 0.5, because these are expanded twice to be mended. 1 or more: never.
    pub anew_share: f32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { inflation: 2.5, step: 0.5, anew_share: 0.5 }
    }
}

/// A way soon, a better one later, and mended when the world changes.
///
/// It grows from its roots towards its aim; see [the module](super) for which of them is the start. The domain is handed
/// to each call, so it can change in between, and [`AnytimeDynamicAstar::edges_changed`] has to be told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "S: Serialize", deserialize = "S: Deserialize<'de>"))]
pub struct AnytimeDynamicAstar<S> {
    settings: Settings,
    aim: Aim<S>,
    roots: Vec<S>,
    inflation: f32,
    /// A round with this inflation has ended.
    reached: bool,
    phase: Phase,
    /// The number of this round. A node is closed where it was expanded in it.
    round: u32,
    /// The least cost of all states that have become dearer by changes since the last round ended.
    dearer_from: f32,
    /// Scratch memory of [`uncertain_share`].
    #[serde(skip)]
    marks: Vec<Mark>,
    arena: Arena<S>,
    open: Heap,
    /// Closed nodes that have become cheaper. May name a node twice, or one that waits no more.
    inconsistent: Vec<u32>,
    /// The node that the way begins at: the aim's, or the cheapest end that was expanded.
    best: u32,
    /// Its [`Domain::penalty`].
    best_penalty: f32,
    /// Ends that were expanded, in the order of their numbers.
    ends: Vec<u32>,
    plan: Solution<S>,
    effort: Effort,
    #[serde(skip)]
    near: Vec<(S, f32)>,
    #[serde(skip)]
    far: Vec<(S, f32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Phase {
    /// A round has to begin, because it is the first or because something has changed.
    Due,
    /// A round is under way.
    Running,
    /// A round has ended with this, and nothing has changed since.
    Done(Status),
}

/// A smaller step of the inflation counts as this one.
const MIN_STEP: f32 = 1e-3;
/// What the keys of dearer states are multiplied by, so that rounding lets no state by that may rely on them.
const BEFORE_ROUNDING: f32 = 1.0 - 1.0 / 16_384.0;
/// A way that costs more than the search has worked out, by this factor, is not the way that was worked out.
const SAME_COST: f32 = 1.001;

impl<S: Copy + Eq + Hash + Debug> AnytimeDynamicAstar<S> {
    /// A search from roots towards an aim. Nothing is searched yet.
    pub fn new(settings: Settings, aim: Aim<S>, roots: &[S]) -> AnytimeDynamicAstar<S> {
        let mut search = AnytimeDynamicAstar {
            settings,
            aim,
            roots: roots.to_vec(),
            inflation: settings.inflation.max(1.0),
            reached: false,
            phase: Phase::Due,
            round: 0,
            dearer_from: f32::INFINITY,
            marks: Vec::new(),
            arena: Arena::new(),
            open: Heap::default(),
            inconsistent: Vec::new(),
            best: NO_NODE,
            best_penalty: 0.0,
            ends: Vec::new(),
            plan: Solution::none(),
            effort: Effort::default(),
            near: Vec::new(),
            far: Vec::new(),
        };
        search.open_roots();
        search
    }

    /// Finds a way, or a better one: ends the round for this inflation, and if that was reached before, for the next one.
    pub fn improve(&mut self, domain: &dyn Domain<State = S>, budget: Budget) -> Status {
        if self.phase == Phase::Due {
            self.begin_round(domain);
        }
        let wanted = if self.reached { self.next_inflation() } else { self.inflation };
        let mut left = budget.0;
        let mut may_restart = true;
        loop {
            if let Phase::Done(status) = self.phase {
                if status == Status::Unreachable || self.inflation <= wanted {
                    return status;
                }
                self.set_inflation(self.next_inflation());
                self.begin_round(domain);
            }
            if !self.run_round(domain, &mut left) {
                return self.interrupted(domain);
            }
            if !self.end_round(domain) {
                self.forget();
                self.begin_round(domain);
                // A domain that lies twice in one call will not stop.
                if !std::mem::replace(&mut may_restart, false) {
                    return Status::OutOfBudget { bound: None };
                }
            }
        }
    }

    /// Improves until the way cannot become better or the budget runs out.
    pub fn solve(&mut self, domain: &dyn Domain<State = S>, budget: Budget) -> Status {
        let end = self.effort.expansions.saturating_add(budget.0);
        loop {
            let status = self.improve(domain, Budget(end - self.effort.expansions));
            match status {
                Status::Bounded(_) if self.inflation > 1.0 => {}
                _ => return status,
            }
        }
    }

    /// The states of the way in the direction of travel, and its cost. `None` where there is no path, or where the one
    /// that was found cannot be gone any more; each step has been looked up in the domain since it last changed.
    pub fn path(&mut self, domain: &dyn Domain<State = S>, out: &mut Vec<S>) -> Option<f32> {
        self.plan.check(domain, &mut self.far);
        out.clear();
        out.extend(self.plan.states());
        if domain.is_reversed() {
            out.reverse();
        }
        self.plan.cost()
    }

    /// The cost of the way, as it was when [`AnytimeDynamicAstar::improve`] or [`AnytimeDynamicAstar::path`] last looked.
    pub fn cost(&self) -> Option<f32> {
        self.plan.cost()
    }

    /// Tells of states whose outgoing edges have another cost, are gone, or are new. For a state that was blocked or freed
    /// these are the state itself and all that could or can step onto it. The domain must have changed already.
    pub fn edges_changed(&mut self, domain: &dyn Domain<State = S>, states: &[S]) {
        for &state in states {
            if self.is_known(domain, state) {
                let id = self.arena.id(state);
                self.reevaluate(domain, id);
                self.plan.invalidate();
                self.phase = Phase::Due;
            }
        }
    }

    /// Moves the aim. In a search against the direction of travel that is the start, and what was worked out stays true.
    pub fn move_start(&mut self, start: S) {
        if self.aim == Aim::At(start) {
            return;
        }
        let on_way = self.plan.advance(start);
        self.aim = Aim::At(start);
        self.ends.clear();
        self.best = self.arena.id(start);
        if !(on_way && self.phase == Phase::Done(Status::Optimal)) {
            self.phase = Phase::Due;
        }
    }

    /// Adds a root: another goal, in a search against the direction of travel.
    pub fn add_root(&mut self, root: S) {
        if !self.roots.contains(&root) {
            self.roots.push(root);
            self.open_root(root);
            self.plan.invalidate();
            self.phase = Phase::Due;
        }
    }

    /// Takes a root away.
    pub fn remove_root(&mut self, domain: &dyn Domain<State = S>, root: S) {
        if let Some(index) = self.roots.iter().position(|&known| known == root) {
            self.roots.remove(index);
            let id = self.arena.id(root);
            self.arena.nodes[id as usize].parent = NO_NODE;
            self.reevaluate(domain, id);
            self.plan.clear();
            self.phase = Phase::Due;
        }
    }

    /// Tells that the domain's heuristic or [`Domain::penalty`] has changed, which moves the aim of the work and no cost.
    pub fn heuristic_changed(&mut self) {
        self.phase = Phase::Due;
    }

    /// Goes back to the first inflation and keeps what is known: a mended way sooner, at a weaker bound.
    pub fn inflate(&mut self) {
        self.set_inflation(self.settings.inflation.max(1.0));
        self.phase = Phase::Due;
    }

    /// Forgets all but the memory, and begins anew with another aim and other roots.
    pub fn restart(&mut self, aim: Aim<S>, roots: &[S]) {
        self.aim = aim;
        self.roots.clear();
        self.roots.extend_from_slice(roots);
        self.plan.clear();
        self.forget();
    }

    /// The inflation of this round, or of the one that ended last.
    pub fn inflation(&self) -> f32 {
        self.inflation
    }

    /// What it has done since it was made.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// How many states it knows.
    pub fn nodes(&self) -> usize {
        self.arena.nodes.len()
    }

    /// The states it knows in the order in which it met them, each with its cost to the root when it was last expanded:
    /// infinite where that has not happened, or has to happen again.
    pub fn visited(&self) -> impl Iterator<Item = (S, f32)> {
        self.arena.nodes.iter().map(|node| (node.state, node.g))
    }

    /// A number that differs where it knows something else, of states as numbers.
    pub fn fingerprint(&self, number: impl Fn(S) -> u64) -> u64 {
        let nodes = self.arena.nodes.iter().flat_map(|node| {
            let costs = u64::from(node.g.to_bits()) << 32 | u64::from(node.rhs.to_bits());
            [number(node.state), costs, u64::from(node.parent)]
        });
        let counts = [self.inflation.to_bits(), self.round].map(u64::from);
        nodes.chain(counts).fold(0, |hash, word| mix(hash ^ word))
    }

    /// The memory that what it knows takes at least, whatever it holds.
    pub fn size(&self) -> usize {
        self.arena.nodes.len() * (size_of::<Node<S>>() + 2 * size_of::<u32>()) + self.open.size()
    }

    /// The memory it holds.
    pub fn bytes(&self) -> usize {
        let lists =
            (self.inconsistent.capacity() + self.ends.capacity()) * size_of::<u32>() + self.marks.capacity();
        let edges = (self.near.capacity() + self.far.capacity()) * size_of::<(S, f32)>();
        self.arena.bytes() + self.open.bytes() + self.plan.bytes() + lists + edges
    }

    fn next_inflation(&self) -> f32 {
        (self.inflation - self.settings.step.max(MIN_STEP)).max(1.0)
    }

    fn set_inflation(&mut self, inflation: f32) {
        self.inflation = inflation;
        self.reached = false;
    }

    /// Forgets all nodes. The way stays, in case it can still be gone.
    fn forget(&mut self) {
        self.arena.clear();
        self.open.clear();
        self.inconsistent.clear();
        self.ends.clear();
        self.dearer_from = f32::INFINITY;
        self.effort.restarts += 1;
        self.plan.outlive_nodes();
        self.inflate();
        self.open_roots();
    }

    /// Makes the first nodes.
    fn open_roots(&mut self) {
        self.best = match self.aim {
            Aim::At(state) => self.arena.id(state),
            Aim::Ends => NO_NODE,
        };
        for root in 0..self.roots.len() {
            self.open_root(self.roots[root]);
        }
    }

    fn open_root(&mut self, root: S) {
        let id = self.arena.id(root);
        let node = &mut self.arena.nodes[id as usize];
        (node.rhs, node.parent) = (0.0, id);
        self.wait_for_round(id);
    }

    /// A round starts: nothing is closed, all that was put off is open, and every key is new.
    fn begin_round(&mut self, domain: &dyn Domain<State = S>) {
        if self.is_cheaper_anew() {
            self.forget();
        }
        self.round += 1;
        self.phase = Phase::Running;
        let (aim, inflation) = (self.aim, self.inflation);
        self.open.rekey(&mut self.arena.nodes, |nodes, id| key(domain, aim, inflation, &nodes[id as usize]));
        let mut inconsistent = std::mem::take(&mut self.inconsistent);
        for id in inconsistent.drain(..) {
            if self.arena.nodes[id as usize].place == INCONSISTENT {
                self.file(domain, id);
            }
        }
        self.inconsistent = inconsistent;
        self.set_best(domain, self.best);
    }

    /// Whether mending would expand more than planning anew.
    fn is_cheaper_anew(&mut self) -> bool {
        let whole = self.arena.nodes.get(self.best as usize).map_or(f32::INFINITY, |node| node.g);
        // What becomes dearer in the half near the aim has less than half of the states beyond it: no need to count.
        self.settings.anew_share < 1.0
            && self.dearer_from < whole / 2.0
            && uncertain_share(&self.arena.nodes, &mut self.marks) > self.settings.anew_share
    }

    /// Expands until the round is over, and says whether it is.
    fn run_round(&mut self, domain: &dyn Domain<State = S>, left: &mut u64) -> bool {
        while let Some(first) = self.open.first().filter(|first| self.is_due(first.key)) {
            if *left == 0 {
                return false;
            }
            *left -= 1;
            self.open.pop(&mut self.arena.nodes);
            let node = &self.arena.nodes[first.id as usize];
            if node.g > node.rhs {
                self.expand_cheaper(domain, first.id);
            } else {
                self.expand_dearer(domain, first.id);
            }
        }
        true
    }

    /// Whether a state with this key has to be expanded in this round.
    fn is_due(&self, key: Key) -> bool {
        let Some(best) = self.arena.nodes.get(self.best as usize) else { return key.first() < f32::INFINITY };
        let is_open = best.place < INCONSISTENT;
        key.first() < if is_open { f32::INFINITY } else { best.g + self.inflation * self.best_penalty }
    }

    /// A state has become cheaper: takes the cost over, and offers it to its predecessors.
    fn expand_cheaper(&mut self, domain: &dyn Domain<State = S>, id: u32) {
        let node = &mut self.arena.nodes[id as usize];
        node.g = node.rhs;
        node.closed = self.round;
        let (state, g) = (node.state, node.g);
        if self.aim == Aim::Ends && domain.is_end(state) {
            self.arrive(domain, id);
        }
        let edges = self.edges_into(domain, state);
        for &(other, cost) in &edges {
            let other = self.arena.id(other);
            let node = &mut self.arena.nodes[other as usize];
            if g + cost < node.rhs {
                (node.rhs, node.parent) = (g + cost, id);
                self.file(domain, other);
            }
        }
        self.near = edges;
    }

    /// A state has become dearer: those that relied on it have to look for another path, itself included.
    fn expand_dearer(&mut self, domain: &dyn Domain<State = S>, id: u32) {
        let node = &mut self.arena.nodes[id as usize];
        let state = node.state;
        node.g = f32::INFINITY;
        // With exact numbers and a consistent heuristic it is not closed.
        node.closed = 0;
        let edges = self.edges_into(domain, state);
        for &(other, _) in &edges {
            let other = self.arena.id(other);
            if self.arena.nodes[other as usize].parent == id && other != id {
                self.ask_successors(domain, other);
                self.file(domain, other);
            }
        }
        self.near = edges;
        self.file(domain, id);
        if id == self.best && self.aim == Aim::Ends {
            let g = |end: &u32| self.arena.nodes[*end as usize].g;
            let cheapest = self.ends.iter().copied().min_by(|a, b| g(a).total_cmp(&g(b)));
            self.set_best(domain, cheapest.unwrap_or(NO_NODE));
        }
    }

    /// An end was expanded.
    fn arrive(&mut self, domain: &dyn Domain<State = S>, id: u32) {
        if let Err(index) = self.ends.binary_search(&id) {
            self.ends.insert(index, id);
        }
        let g = |id: u32| self.arena.nodes.get(id as usize).map_or(f32::INFINITY, |node| node.g);
        if g(id) < g(self.best) {
            self.set_best(domain, id);
        }
    }

    fn set_best(&mut self, domain: &dyn Domain<State = S>, best: u32) {
        self.best = best;
        self.best_penalty =
            self.arena.nodes.get(best as usize).map_or(0.0, |node| domain.penalty(node.state));
    }

    /// The edges into a state, in the list that is kept for them; to be given back.
    fn edges_into(&mut self, domain: &dyn Domain<State = S>, state: S) -> Vec<(S, f32)> {
        let mut edges = std::mem::take(&mut self.near);
        edges.clear();
        domain.predecessors(state, &mut edges);
        self.effort.expansions += 1;
        self.effort.edges += edges.len() as u64;
        edges
    }

    /// A state's edges have changed, between rounds.
    fn reevaluate(&mut self, domain: &dyn Domain<State = S>, id: u32) {
        self.effort.reevaluations += 1;
        self.ask_successors(domain, id);
        self.wait_for_round(id);
        let node = &self.arena.nodes[id as usize];
        if node.g < node.rhs {
            self.dearer_from = self.dearer_from.min(node.g);
        }
    }

    /// Works out anew over whom a state's way leads best. A root needs none.
    fn ask_successors(&mut self, domain: &dyn Domain<State = S>, id: u32) {
        let node = &self.arena.nodes[id as usize];
        if node.parent != id {
            let (rhs, parent) = self.best_successor(domain, node.state);
            let node = &mut self.arena.nodes[id as usize];
            (node.rhs, node.parent) = (rhs, parent);
        }
    }

    /// The cost of a state over its best successor, and who that is. A step from a state to itself leads nowhere.
    fn best_successor(&mut self, domain: &dyn Domain<State = S>, state: S) -> (f32, u32) {
        self.far.clear();
        domain.successors(state, &mut self.far);
        let mut best = (f32::INFINITY, NO_NODE);
        for &(next, cost) in self.far.iter().filter(|edge| edge.0 != state) {
            if let Some(next) = self.arena.find(next) {
                let total = self.arena.nodes[next as usize].g + cost;
                if total < best.0 {
                    best = (total, next);
                }
            }
        }
        best
    }

    /// Whether a state has a node, or needs one because a successor has a way.
    fn is_known(&mut self, domain: &dyn Domain<State = S>, state: S) -> bool {
        self.arena.find(state).is_some() || self.best_successor(domain, state).1 != NO_NODE
    }

    /// Puts a node where it belongs in a round: nowhere, off to the next round, or into the queue.
    fn file(&mut self, domain: &dyn Domain<State = S>, id: u32) {
        let node = &mut self.arena.nodes[id as usize];
        if node.g == node.rhs {
            self.withdraw(id);
        } else if node.g > node.rhs && node.closed == self.round {
            self.inconsistent(id);
        } else {
            if node.place == INCONSISTENT {
                node.place = OUTSIDE;
            }
            let key = key(domain, self.aim, self.inflation, node);
            self.open.set(id, key, &mut self.arena.nodes);
        }
    }

    /// The same between rounds, when no key is needed yet: the next round will put it into the queue.
    fn wait_for_round(&mut self, id: u32) {
        let node = &self.arena.nodes[id as usize];
        if node.g == node.rhs {
            self.withdraw(id);
        } else if node.place == OUTSIDE {
            self.inconsistent(id);
        }
    }

    fn inconsistent(&mut self, id: u32) {
        if self.arena.nodes[id as usize].place != INCONSISTENT {
            self.withdraw(id);
            self.arena.nodes[id as usize].place = INCONSISTENT;
            self.inconsistent.push(id);
        }
    }

    fn withdraw(&mut self, id: u32) {
        let node = &mut self.arena.nodes[id as usize];
        if node.place == INCONSISTENT {
            node.place = OUTSIDE;
        } else {
            self.open.take(id, &mut self.arena.nodes);
        }
    }

    /// The round is over: takes its way, and says whether that is the way that was worked out.
    fn end_round(&mut self, domain: &dyn Domain<State = S>) -> bool {
        self.reached = true;
        self.dearer_from = f32::INFINITY;
        let g = self.arena.nodes.get(self.best as usize).map_or(f32::INFINITY, |node| node.g);
        if g == f32::INFINITY {
            self.plan.clear();
            self.phase = Phase::Done(Status::Unreachable);
            return true;
        }
        if !self.trace(domain) || self.plan.cost().is_some_and(|cost| cost > g * SAME_COST) {
            self.plan.clear();
            return false;
        }
        let bound = self.inflation * domain.looseness().max(1.0);
        self.plan.set_least(g / bound);
        self.phase = Phase::Done(if bound > 1.0 { Status::Bounded(bound) } else { Status::Optimal });
        true
    }

    /// The budget is spent: the way from before, if it can still be gone, or what the nodes lead to by now.
    fn interrupted(&mut self, domain: &dyn Domain<State = S>) -> Status {
        self.plan.check(domain, &mut self.far);
        if self.plan.cost().is_none() {
            self.trace(domain);
        }
        Status::OutOfBudget { bound: self.plan.bound() }
    }

    /// Follows parents from the best node to a root, and says whether that is a way.
    fn trace(&mut self, domain: &dyn Domain<State = S>) -> bool {
        let nodes = &self.arena.nodes;
        let parent = |id: &u32| nodes.get(*id as usize).map(|node| node.parent);
        // In the middle of mending, parents may lead in a circle.
        let way = std::iter::successors(Some(self.best), |id| parent(id).filter(|next| next != id))
            .take(nodes.len());
        let ends_at_root = way.clone().last().is_some_and(|last| parent(&last) == Some(last));
        ends_at_root && self.plan.replace(domain, way.map(|id| nodes[id as usize].state), &mut self.far)
    }
}

/// The paper's key: what a state's way costs, and an estimate of what is between it and the aim.
fn key<S: Copy + Eq + Hash + Debug>(
    domain: &dyn Domain<State = S>,
    aim: Aim<S>,
    inflation: f32,
    node: &Node<S>,
) -> Key {
    let estimate = match aim {
        Aim::At(state) => domain.heuristic(state, node.state),
        Aim::Ends => domain.to_end(node.state),
    };
    if node.g > node.rhs {
        Key::new(node.rhs + inflation * (estimate + domain.penalty(node.state)), estimate)
    } else {
        Key::new((node.g + estimate) * BEFORE_ROUNDING, estimate)
    }
}
