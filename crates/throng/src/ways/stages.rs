//! Stages: lines in which people are served, and areas in which they wait.

use super::{At, Traveller, Ways};
use crate::crowd::Crowd;
use crate::scenario::{Leg, Stage, StageKind};
use glam::{DVec2, Vec2};
use serde::{Deserialize, Serialize};
use throng_core::world::Status;

/// Who comes this near to the first free place of a line is in it, m.
const JOINS: f64 = 1.0;

/// What lasts of a stage. Slots of people, in the order of their coming.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct StageState {
    /// On their way to a queue.
    coming: Vec<u32>,
    /// In line.
    line: Vec<u32>,
    /// When the first one is served, s, where it is being served.
    served: Option<f64>,
    /// By place of a waiting area: who has it.
    places: Vec<Option<u32>>,
    /// Who found a waiting area full.
    held: Vec<u32>,
    /// Whether people in a waiting area may go on.
    released: bool,
}

impl StageState {
    pub fn new(stage: &Stage) -> StageState {
        let places = if let StageKind::Waiting { places, .. } = &stage.kind { places.len() } else { 0 };
        StageState { places: vec![None; places], ..StageState::default() }
    }

    pub fn forget(&mut self, slot: u32) {
        if self.line.first() == Some(&slot) {
            self.served = None;
        }
        for list in [&mut self.coming, &mut self.line, &mut self.held] {
            list.retain(|&other| other != slot);
        }
        self.places.iter_mut().filter(|place| **place == Some(slot)).for_each(|place| *place = None);
    }

    fn is_full(&self) -> bool {
        !self.released && self.places.iter().all(Option::is_some)
    }
}

impl Ways {
    /// Sends someone to a stage.
    pub(super) fn enter_stage(&mut self, crowd: &mut Crowd, slot: u32, stage: u32) {
        let to = self.stage_id(stage);
        let state = &mut self.state.stages[stage as usize];
        match &self.stages[stage as usize].kind {
            StageKind::Point { at, .. } => {
                let at = *at;
                self.send(crowd, slot, At::Stage(stage, 0), to, Some(at));
            }
            StageKind::Area(_) => self.send(crowd, slot, At::Stage(stage, 0), to, None),
            StageKind::Queue { places, .. } => {
                state.coming.push(slot);
                let place = state.line.len().min(places.len() - 1);
                let at = places[place];
                self.send(crowd, slot, At::Stage(stage, place as u32), to, Some(at));
            }
            StageKind::Waiting { .. } if state.released => self.go_on(crowd, slot),
            StageKind::Waiting { places, .. } => {
                let here = place_of(crowd, slot);
                let free = (0..places.len()).filter(|&place| state.places[place].is_none());
                // From the back: who comes later need not push past those who wait.
                let place = free.max_by(|&a, &b| {
                    here.distance_squared(places[a])
                        .total_cmp(&here.distance_squared(places[b]))
                        .then(b.cmp(&a))
                });
                match place {
                    Some(place) => {
                        state.places[place] = Some(slot);
                        let at = places[place];
                        self.send(crowd, slot, At::Waiting(stage, place as u32), to, Some(at));
                    }
                    None => {
                        state.held.push(slot);
                        self.send(crowd, slot, At::Held(stage), self.here_id(), Some(here));
                    }
                }
            }
        }
    }

    /// The queue with the fewest people; of several the nearest, then the first.
    pub(super) fn shortest_queue(&self, crowd: &Crowd, slot: u32, queues: &[usize]) -> u32 {
        let here = place_of(crowd, slot);
        let length = |&queue: &usize| {
            let state = &self.state.stages[queue];
            let StageKind::Queue { places, .. } = &self.stages[queue].kind else {
                return (usize::MAX, f64::MAX);
            };
            let tail = places[state.line.len().min(places.len() - 1)];
            let way = crowd.path(here, tail).ok().filter(|way| way.is_found());
            (state.line.len() + state.coming.len(), way.map_or(f64::INFINITY, |way| way.length()))
        };
        let lengths = queues.iter().map(|queue| (queue, length(queue)));
        let least = lengths.min_by(|(_, a), (_, b)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        least.map_or(0, |(&queue, _)| queue as u32)
    }

    /// Whether someone cannot go on because a waiting area is full.
    fn is_held_up(&self, traveller: Traveller) -> bool {
        let next = Traveller { leg: traveller.leg + 1, ..traveller };
        let leg = self.journeys[next.journey as usize].legs.get(next.leg as usize);
        let stage = match leg {
            Some(Leg::Stage(stage)) => *stage,
            Some(Leg::Share(shares)) => {
                shares[super::pick(self.draws(&next).f64(), shares.iter().map(|(_, share)| *share))].0
            }
            Some(Leg::ShortestQueue(_)) | None => return false,
        };
        matches!(self.stages[stage].kind, StageKind::Waiting { .. }) && self.state.stages[stage].is_full()
    }

    /// Lines move up, the first are served, and waiting areas let people go on.
    pub(super) fn serve(&mut self, crowd: &mut Crowd) {
        for stage in 0..self.stages.len() {
            match &self.stages[stage].kind {
                StageKind::Queue { .. } => self.serve_line(crowd, stage),
                StageKind::Waiting { until, .. } => {
                    if until.is_some_and(|until| until <= crowd.time() + 1e-9) {
                        self.release(crowd, stage);
                    }
                }
                StageKind::Point { .. } | StageKind::Area(_) => {}
            }
        }
    }

    /// Lets everyone go on who waits, and who comes later.
    pub fn release(&mut self, crowd: &mut Crowd, stage: usize) {
        let state = &mut self.state.stages[stage];
        if std::mem::replace(&mut state.released, true) {
            return;
        }
        let waiting: Vec<u32> = state.places.iter_mut().filter_map(Option::take).collect();
        let held = std::mem::take(&mut state.held);
        for slot in waiting {
            self.go_on(crowd, slot);
        }
        for slot in held {
            self.enter_leg(crowd, slot);
        }
    }

    fn serve_line(&mut self, crowd: &mut Crowd, stage: usize) {
        self.serve_first(crowd, stage);
        self.join_line(crowd, stage);
        let StageKind::Queue { places, .. } = &self.stages[stage].kind else { return };
        let (to, number) = (self.stage_id(stage as u32), stage as u32);
        let last = places.len() - 1;
        let state = &self.state.stages[stage];
        let in_line = state.line.iter().zip(0..).map(|(&slot, place)| (slot, At::Line(number, place)));
        let first_free = state.line.len().min(last) as u32;
        let coming = state.coming.iter().map(|&slot| (slot, At::Stage(number, first_free)));
        let moved =
            |&(slot, at): &(u32, At)| self.traveller(slot).is_some_and(|traveller| traveller.at != at);
        let moves: Vec<(u32, At)> = in_line.chain(coming).filter(moved).collect();
        for (slot, at) in moves {
            let (At::Line(_, place) | At::Stage(_, place)) = at else { continue };
            let StageKind::Queue { places, .. } = &self.stages[stage].kind else { return };
            let point = places[place as usize];
            self.send(crowd, slot, at, to, Some(point));
        }
    }

    /// The first in line is served while it stands at the first place, and then goes on.
    fn serve_first(&mut self, crowd: &mut Crowd, stage: usize) {
        let StageKind::Queue { service, .. } = &self.stages[stage].kind else { return };
        let state = &self.state.stages[stage];
        let Some(&first) = state.line.first() else { return };
        let Some(traveller) = self.traveller(first) else { return };
        let now = crowd.time();
        match state.served {
            None if traveller.at == At::Line(stage as u32, 0) && stands(crowd, first) => {
                let takes = service.draw(|| self.draws(&traveller));
                self.state.stages[stage].served = Some(now + takes);
            }
            Some(served) if served <= now + 1e-9 && !self.is_held_up(traveller) => {
                let state = &mut self.state.stages[stage];
                state.line.remove(0);
                state.served = None;
                self.go_on(crowd, first);
            }
            _ => {}
        }
    }

    /// The nearest of those who come is in line once it is near the first free place.
    fn join_line(&mut self, crowd: &Crowd, stage: usize) {
        let StageKind::Queue { places, .. } = &self.stages[stage].kind else { return };
        let state = &mut self.state.stages[stage];
        let Some(&free) = places.get(state.line.len()) else { return };
        let world = crowd.world();
        let near = state.coming.iter().filter_map(|&slot| {
            let row = world.row(slot).filter(|&row| world.agents.status[row] != Status::Waiting)?;
            Some((place_of(crowd, slot).distance(free), world.agents.id[row], slot))
        });
        let nearest = near.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        if let Some((distance, _, slot)) = nearest
            && distance <= JOINS
        {
            state.coming.retain(|&other| other != slot);
            state.line.push(slot);
        }
    }
}

fn stands(crowd: &Crowd, slot: u32) -> bool {
    let world = crowd.world();
    world.row(slot).is_some_and(|row| world.agents.status[row] == Status::Arrived)
}

fn place_of(crowd: &Crowd, slot: u32) -> DVec2 {
    let world = crowd.world();
    let at = world.row(slot).map(|row| Vec2::new(world.agents.x[row], world.agents.y[row]));
    world.origin + at.unwrap_or_default().as_dvec2()
}
