//! Exits: which one people take, and how many it lets out.

use super::{At, Ways, pick};
use crate::crowd::{Crowd, Edit};
use crate::scenario::{Choice, Ending, Exit};
use glam::{DVec2, Vec2};
use serde::{Deserialize, Serialize};
use throng_core::world::Status;

/// How often people think over what others do, s.
const THINK_EVERY: f64 = 1.0;
/// What another exit must save before it is taken, s, and as a part of the time: less would have people turn back and forth.
const SAVES: f64 = 2.0;
const SAVES_PART: f64 = 0.1;
/// Whoever is further away than this counts as this far, m.
const FARTHEST: usize = 10_000;
/// A person is never reckoned slower than this, m/s.
const SLOWEST: f64 = 0.1;

/// What lasts of an exit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ExitState {
    pub open: bool,
    /// How many have left.
    pub left: u32,
    /// When the next one may leave, s, where its flow is limited.
    next: f64,
    /// Slots of those who are there and wait for their turn, first come first.
    pub gate: Vec<u32>,
}

impl ExitState {
    pub fn new(exit: &Exit) -> ExitState {
        ExitState { open: !exit.closed, ..ExitState::default() }
    }
}

/// How many people on their way to an exit are how far from it, as the crow flies: worked out anew for each step.
#[derive(Debug, Default)]
pub(super) struct Crowding {
    /// By exit and by whole metres.
    metres: Vec<Vec<u32>>,
    /// By exit: all of them.
    total: Vec<u32>,
}

impl Crowding {
    /// Not kept from step to step: a resumed run does not have it.
    pub fn forget(&mut self) {
        self.metres.clear();
        self.total.clear();
    }

    fn put(&mut self, exit: usize, distance: f64, more: bool) {
        let metres = &mut self.metres[exit];
        let bin = (distance as usize).min(FARTHEST);
        if metres.len() <= bin {
            metres.resize(bin + 1, 0);
        }
        let change = |count: &mut u32| *count = if more { *count + 1 } else { count.saturating_sub(1) };
        change(&mut metres[bin]);
        change(&mut self.total[exit]);
    }

    /// How many are nearer to an exit than someone at a distance.
    fn in_front(&self, exit: usize, distance: f64) -> u32 {
        self.metres[exit].iter().take((distance as usize).min(FARTHEST)).sum()
    }
}

/// Who chooses.
#[derive(Clone, Copy)]
struct Chooser {
    at: DVec2,
    radius: f64,
    speed: f64,
    /// Whether it has not set off.
    waits: bool,
    /// The exit that it is on its way to, and counted at.
    counts_at: Option<usize>,
}

impl Ways {
    fn chooser(&self, crowd: &Crowd, slot: u32) -> Option<Chooser> {
        let world = crowd.world();
        let row = world.row(slot)?;
        let agents = &world.agents;
        let at = world.origin + Vec2::new(agents.x[row], agents.y[row]).as_dvec2();
        let speed = f64::from(agents.preferred_speed[row]).max(SLOWEST);
        let waits = agents.status[row] == Status::Waiting;
        let counts_at = match self.traveller(slot).map(|traveller| traveller.at) {
            Some(At::Exit(exit) | At::Gate(exit)) if !waits => Some(exit as usize),
            _ => None,
        };
        Some(Chooser { at, radius: agents.radius[row].into(), speed, waits, counts_at })
    }

    /// The exit that someone takes. Where all of its exits are closed, it waits in front of one.
    pub(super) fn choose_exit(&mut self, crowd: &Crowd, slot: u32, now: Option<usize>) -> Option<usize> {
        let (traveller, chooser) = (self.traveller(slot)?, self.chooser(crowd, slot)?);
        let ending = &self.journeys[traveller.journey as usize].ending;
        let open: Vec<usize> =
            (0..ending.exits.len()).filter(|&one| self.is_open(ending.exits[one])).collect();
        let candidates = if open.is_empty() { (0..ending.exits.len()).collect() } else { open };
        if let [only] = candidates[..] {
            return Some(ending.exits[only]);
        }
        if let Choice::Share(shares) = &ending.choice {
            let picked = pick(self.draws(&traveller).f64(), candidates.iter().map(|&one| shares[one]));
            return Some(ending.exits[candidates[picked]]);
        }
        if ending.depends_on_others() && self.crowding.metres.is_empty() {
            self.count_crowds(crowd);
        }
        let ending = &self.journeys[traveller.journey as usize].ending;
        self.best(crowd, chooser, (ending, &candidates), now.filter(|_| ending.depends_on_others()))
    }

    fn is_open(&self, exit: usize) -> bool {
        self.state.exits[exit].open
    }

    /// How far it is to an exit on foot, m.
    fn walk(&self, crowd: &Crowd, chooser: Chooser, exit: usize) -> f64 {
        let way = crowd.path_for(chooser.at, self.exits[exit].middle, chooser.radius);
        way.ok().filter(|way| way.is_found()).map_or(f64::INFINITY, |way| way.length())
    }

    /// The exit that counts as the quickest; the one that someone goes to now unless another saves enough.
    fn best(
        &self,
        crowd: &Crowd,
        chooser: Chooser,
        (ending, candidates): (&Ending, &[usize]),
        now: Option<usize>,
    ) -> Option<usize> {
        let queue = |exit: usize| match ending.choice {
            Choice::Quickest => self.queue(chooser, exit),
            Choice::Nearest | Choice::Share(_) => 0.0,
        };
        let following = ending.follow > 0.0;
        let all: u32 =
            if following { ending.exits.iter().map(|&exit| self.others(chooser, exit)).sum() } else { 0 };
        let factor = |one: usize| {
            let others = if all > 0 { self.others(chooser, ending.exits[one]) } else { 0 };
            ending.weights[one] * (1.0 - ending.follow * f64::from(others) / f64::from(all.max(1)))
        };
        let time = |one: usize| {
            let exit = ending.exits[one];
            factor(one) * queue(exit).max(self.walk(crowd, chooser, exit) / chooser.speed)
        };
        let exit_of = |one: usize| ending.exits[one];
        let now = now.and_then(|now| candidates.iter().copied().find(|&one| ending.exits[one] == now));
        let Some(now) = now else {
            return shortest(candidates.iter().map(|&one| (one, time(one)))).map(exit_of);
        };
        let present = time(now);
        let enough = present - SAVES.max(SAVES_PART * present);
        // No way is shorter than the straight line: most exits need no look at the map.
        let straight = |exit: usize| self.exits[exit].middle.distance(chooser.at) / chooser.speed;
        let worth = |&one: &usize| {
            let exit = ending.exits[one];
            one != now && factor(one) * straight(exit).max(queue(exit)) < enough
        };
        let others = candidates.iter().copied().filter(worth).map(|one| (one, time(one)));
        let better: Vec<(usize, f64)> = others.filter(|(_, time)| *time < enough).collect();
        if better.is_empty() { Some(exit_of(now)) } else { shortest(better.into_iter()).map(exit_of) }
    }

    /// How many others are on their way out by an exit.
    fn others(&self, chooser: Chooser, exit: usize) -> u32 {
        self.crowding.total[exit].saturating_sub(u32::from(chooser.counts_at == Some(exit)))
    }

    /// How long those who are in front take to get out, s.
    fn queue(&self, chooser: Chooser, exit: usize) -> f64 {
        let distance = self.exits[exit].middle.distance(chooser.at);
        f64::from(self.crowding.in_front(exit, distance)) / self.exits[exit].capacity
    }

    /// Counts who is how far from the exit that it walks to.
    pub(super) fn count_crowds(&mut self, crowd: &Crowd) {
        self.crowding.forget();
        self.crowding.metres.resize(self.exits.len(), Vec::new());
        self.crowding.total.resize(self.exits.len(), 0);
        let world = crowd.world();
        for (slot, traveller) in (0u32..).zip(&self.state.travellers) {
            let Some(At::Exit(exit) | At::Gate(exit)) = traveller.map(|traveller| traveller.at) else {
                continue;
            };
            let Some(row) = world.row(slot) else { continue };
            if world.agents.status[row] != Status::Waiting {
                let at = world.origin + Vec2::new(world.agents.x[row], world.agents.y[row]).as_dvec2();
                self.crowding.put(exit as usize, self.exits[exit as usize].middle.distance(at), true);
            }
        }
    }

    pub(super) fn head_out(&mut self, crowd: &mut Crowd, slot: u32, exit: usize) {
        if !self.crowding.metres.is_empty()
            && let Some(chooser) = self.chooser(crowd, slot)
            && !chooser.waits
        {
            if let Some(before) = chooser.counts_at {
                self.crowding.put(before, self.exits[before].middle.distance(chooser.at), false);
            }
            self.crowding.put(exit, self.exits[exit].middle.distance(chooser.at), true);
        }
        self.state.exits.iter_mut().for_each(|exit| exit.gate.retain(|&other| other != slot));
        self.send(crowd, slot, At::Exit(exit as u32), Ways::exit_id(exit as u32), None);
    }

    /// Closes an exit or opens it; those who are on their way choose again.
    pub fn set_exit(&mut self, crowd: &mut Crowd, exit: usize, open: bool) {
        self.state.exits[exit].open = open;
        let ends = open && self.exits[exit].max_flow.is_none();
        let destination = Ways::exit_id(exit as u32);
        // The destination has been there since the crowd was built.
        let _ = crowd.apply(Edit::EndAt { destination, ends });
        self.rethink(crowd, |journey| journey.contains(&exit));
    }

    /// Lets those choose anew who are on their way out, to whom some exits are open.
    fn rethink(&mut self, crowd: &mut Crowd, concerns: impl Fn(&[usize]) -> bool) {
        let mut slots: Vec<(u32, u32, usize)> = Vec::new();
        for (slot, traveller) in (0u32..).zip(&self.state.travellers) {
            let Some(traveller) = traveller else { continue };
            if let At::Exit(exit) | At::Gate(exit) = traveller.at
                && concerns(&self.journeys[traveller.journey as usize].ending.exits)
            {
                slots.push((traveller.id, slot, exit as usize));
            }
        }
        slots.sort_unstable();
        for (_, slot, now) in slots {
            if let Some(exit) = self.choose_exit(crowd, slot, Some(now))
                && exit != now
            {
                self.head_out(crowd, slot, exit);
            }
        }
    }

    /// Lets people out who are there, as fast as their exits do.
    pub(super) fn let_out(&mut self, crowd: &mut Crowd) {
        let (now, dt) = (crowd.time(), crowd.world().dt());
        for exit in 0..self.exits.len() {
            let flow = self.exits[exit].max_flow;
            let state = &mut self.state.exits[exit];
            let mut out = 0;
            while state.open && out < state.gate.len() && (flow.is_none() || state.next <= now + 1e-9) {
                // Steps are no multiples of the interval: what one comes late the next comes early, but no more than that.
                state.next = state.next.max(now - dt) + flow.map_or(0.0, f64::recip);
                out += 1;
            }
            for slot in state.gate.drain(..out).collect::<Vec<_>>() {
                let handle = crowd.handle(slot);
                let _ = crowd.apply(Edit::LetGo(handle));
            }
        }
    }

    /// Thinks over who goes where: everyone where the map has changed, else those whose turn it is.
    pub(super) fn choose_again(&mut self, crowd: &mut Crowd) {
        if self.state.map_changes != crowd.map_changes() {
            self.state.map_changes = crowd.map_changes();
            crowd.prepare();
            self.rethink(crowd, |exits| exits.len() > 1);
        }
        if !self.journeys.iter().any(|journey| journey.ending.depends_on_others()) {
            return;
        }
        self.count_crowds(crowd);
        let turns = (THINK_EVERY / crowd.world().dt()).round().max(1.0) as u64;
        let step = crowd.steps();
        let mut slots: Vec<(u32, u32, usize)> = Vec::new();
        for (slot, traveller) in (0u32..).zip(&self.state.travellers) {
            let Some(traveller) = traveller else { continue };
            if let At::Exit(exit) = traveller.at
                && self.journeys[traveller.journey as usize].ending.depends_on_others()
                && (step + u64::from(traveller.id)).is_multiple_of(turns)
            {
                slots.push((traveller.id, slot, exit as usize));
            }
        }
        slots.sort_unstable();
        for (_, slot, now) in slots {
            if let Some(exit) = self.choose_exit(crowd, slot, Some(now))
                && exit != now
            {
                self.head_out(crowd, slot, exit);
            }
        }
    }
}

/// The first of the least.
fn shortest(costs: impl Iterator<Item = (usize, f64)>) -> Option<usize> {
    costs.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(exit, _)| exit)
}
