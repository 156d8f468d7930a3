//! Ways: how people get from stage to stage of a scenario and out by one of its exits, and who comes in meanwhile.
//!
//! All of it happens between two steps and becomes edits of the crowd: an agent is sent to a destination, let go at an exit,
//! or comes in. Destinations of the crowd are the exits, then the stages, then one for whoever has to stand where it is.

mod exits;
mod sources;
mod stages;

pub(crate) use sources::Sources;

use crate::crowd::{Agent, AgentId, Crowd, Destination, DestinationId, Edit, EditError};
use crate::scenario::{Exit, Goal, Journey, Leg, Scenario, Stage, StageKind};
use exits::{Crowding, ExitState};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use stages::StageState;
use throng_core::rng::{self, Purpose, Stream};
use throng_core::world::{Departure, Status};

/// A body that stands at a place of its own is there, m.
const AT_PLACE: f64 = 0.2;

/// The exits, stages and journeys of a scenario, and who is where on them.
pub(crate) struct Ways {
    seed: u64,
    exits: Vec<Exit>,
    stages: Vec<Stage>,
    journeys: Vec<Journey>,
    state: WaysState,
    crowding: Crowding,
}

/// What lasts from step to step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WaysState {
    exits: Vec<ExitState>,
    stages: Vec<StageState>,
    /// By slot.
    travellers: Vec<Option<Traveller>>,
    /// How often the map had changed when exits were last chosen.
    map_changes: u64,
}

/// Someone on a journey.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Traveller {
    id: u32,
    journey: u32,
    /// Which part of it, counted from 0.
    leg: u32,
    at: At,
    /// Where it was sent to. Who walks to something else by now has been given another goal, and is left alone.
    destination: u16,
}

/// Where someone is on a journey. Numbers are those of the scenario's exits and stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum At {
    /// On the way to a stage; of a queue, to this place of it.
    Stage(u32, u32),
    /// In line, at a place.
    Line(u32, u32),
    /// In a waiting area, at a place.
    Waiting(u32, u32),
    /// Held up before a waiting area that is full.
    Held(u32),
    /// On the way out.
    Exit(u32),
    /// At an exit, until it is let out.
    Gate(u32),
}

impl Ways {
    pub fn of(scenario: &Scenario) -> Ways {
        Ways {
            seed: scenario.seed,
            state: WaysState {
                exits: scenario.exits.iter().map(ExitState::new).collect(),
                stages: scenario.stages.iter().map(StageState::new).collect(),
                ..WaysState::default()
            },
            exits: scenario.exits.clone(),
            stages: scenario.stages.clone(),
            journeys: scenario.journeys.clone(),
            crowding: Crowding::default(),
        }
    }

    /// Whether the scenario has any.
    pub fn is_empty(&self) -> bool {
        self.journeys.is_empty()
    }

    pub fn state(&self) -> &WaysState {
        &self.state
    }

    pub fn resume(&mut self, state: WaysState) {
        self.state = state;
    }

    /// Tells a crowd where its people can be sent, before any of them is.
    pub fn add_destinations(&self, crowd: &mut Crowd, widest: f64) -> Result<(), EditError> {
        if self.is_empty() {
            return Ok(());
        }
        for (exit, state) in self.exits.iter().zip(&self.state.exits) {
            let id = crowd.add_destination(Destination::area(&exit.area).for_radius(widest))?;
            crowd.end_at(id, state.open && exit.max_flow.is_none())?;
        }
        for stage in &self.stages {
            crowd.add_destination(match &stage.kind {
                StageKind::Point { distance, .. } => Destination::points().goal_radius(*distance),
                StageKind::Area(area) => Destination::area(area).for_radius(widest),
                StageKind::Queue { .. } | StageKind::Waiting { .. } => {
                    Destination::points().goal_radius(AT_PLACE)
                }
            })?;
        }
        crowd.add_destination(Destination::points()).map(drop)
    }

    fn exit_id(exit: u32) -> DestinationId {
        DestinationId(exit as u16 + 1)
    }

    fn stage_id(&self, stage: u32) -> DestinationId {
        DestinationId((self.exits.len() + stage as usize) as u16 + 1)
    }

    /// Where people are sent that have to stand.
    fn here_id(&self) -> DestinationId {
        self.stage_id(self.stages.len() as u32)
    }

    /// Lets an agent come, and begin its journey where it has one.
    pub fn admit(&mut self, crowd: &mut Crowd, agent: Agent, goal: Goal) -> Result<AgentId, EditError> {
        let handle = crowd.spawn(agent)?;
        if let Goal::Journey(journey) = goal {
            self.begin(crowd, handle.slot(), journey);
        }
        Ok(handle)
    }

    /// Begins a journey with someone who is there.
    pub fn begin(&mut self, crowd: &mut Crowd, slot: u32, journey: u32) {
        let Some(row) = crowd.world().row(slot) else { return };
        let id = crowd.world().agents.id[row];
        self.leave(slot);
        let travellers = &mut self.state.travellers;
        if travellers.len() <= slot as usize {
            travellers.resize(slot as usize + 1, None);
        }
        travellers[slot as usize] =
            Some(Traveller { id, journey, leg: 0, at: At::Held(u32::MAX), destination: 0 });
        self.enter_leg(crowd, slot);
    }

    fn traveller(&self, slot: u32) -> Option<Traveller> {
        self.state.travellers.get(slot as usize).copied().flatten()
    }

    fn traveller_mut(&mut self, slot: u32) -> Option<&mut Traveller> {
        self.state.travellers.get_mut(slot as usize)?.as_mut()
    }

    /// Takes someone off its journey, wherever it is.
    fn leave(&mut self, slot: u32) {
        if self.state.travellers.get_mut(slot as usize).and_then(Option::take).is_some() {
            self.state.stages.iter_mut().for_each(|stage| stage.forget(slot));
            self.state.exits.iter_mut().for_each(|exit| exit.gate.retain(|&other| other != slot));
        }
    }

    /// Someone has left the crowd.
    pub fn note(&mut self, departure: &Departure) {
        let Some(traveller) = self.traveller(departure.slot).filter(|one| one.id == departure.id) else {
            return;
        };
        if let At::Exit(exit) | At::Gate(exit) = traveller.at
            && departure.arrival >= 0.0
        {
            self.state.exits[exit as usize].left += 1;
        }
        self.leave(departure.slot);
    }

    /// What is due before a step.
    pub fn run(&mut self, crowd: &mut Crowd) {
        if self.is_empty() {
            return;
        }
        let standing = self.look(crowd);
        for slot in standing {
            self.reached(crowd, slot);
        }
        self.serve(crowd);
        self.let_out(crowd);
        self.choose_again(crowd);
        self.crowding.forget();
    }

    /// Those who stand where they were sent, by id. Whoever has been given another goal is no longer on a journey.
    fn look(&mut self, crowd: &mut Crowd) -> Vec<u32> {
        let world = crowd.world();
        let (mut standing, mut gone) = (Vec::new(), Vec::new());
        for (slot, traveller) in (0u32..).zip(&self.state.travellers) {
            let Some(traveller) = traveller else { continue };
            match world.row(slot).filter(|&row| world.agents.id[row] == traveller.id) {
                Some(row) if world.agents.destination[row] == traveller.destination => {
                    if world.agents.status[row] == Status::Arrived {
                        standing.push((traveller.id, slot));
                    }
                }
                _ => gone.push(slot),
            }
        }
        gone.into_iter().for_each(|slot| self.leave(slot));
        standing.sort_unstable();
        standing.into_iter().map(|(_, slot)| slot).collect()
    }

    /// Someone is where it was sent.
    fn reached(&mut self, crowd: &mut Crowd, slot: u32) {
        match self.traveller(slot).map(|traveller| traveller.at) {
            Some(At::Exit(exit)) => {
                self.traveller_mut(slot).into_iter().for_each(|traveller| traveller.at = At::Gate(exit));
                self.state.exits[exit as usize].gate.push(slot);
            }
            Some(At::Stage(stage, _)) => {
                let kind = &self.stages[stage as usize].kind;
                if matches!(kind, StageKind::Point { .. } | StageKind::Area(_)) {
                    self.go_on(crowd, slot);
                }
            }
            _ => {}
        }
    }

    /// Begins the next part of a journey.
    fn go_on(&mut self, crowd: &mut Crowd, slot: u32) {
        if let Some(traveller) = self.traveller_mut(slot) {
            traveller.leg += 1;
            self.enter_leg(crowd, slot);
        }
    }

    fn enter_leg(&mut self, crowd: &mut Crowd, slot: u32) {
        let Some(traveller) = self.traveller(slot) else { return };
        match self.next_stage(crowd, slot, traveller) {
            Some(stage) => self.enter_stage(crowd, slot, stage),
            None => {
                if let Some(exit) = self.choose_exit(crowd, slot, None) {
                    self.head_out(crowd, slot, exit);
                }
            }
        }
    }

    /// The stage that the present part of a journey leads to; none where it leads out.
    fn next_stage(&self, crowd: &Crowd, slot: u32, traveller: Traveller) -> Option<u32> {
        let leg = self.journeys[traveller.journey as usize].legs.get(traveller.leg as usize)?;
        Some(match leg {
            Leg::Stage(stage) => *stage as u32,
            Leg::Share(shares) => {
                let picked = pick(self.draws(&traveller).f64(), shares.iter().map(|(_, share)| *share));
                shares[picked].0 as u32
            }
            Leg::ShortestQueue(queues) => self.shortest_queue(crowd, slot, queues),
        })
    }

    /// Sends someone, and notes where to.
    fn send(&mut self, crowd: &mut Crowd, slot: u32, at: At, to: DestinationId, point: Option<DVec2>) {
        let handle = crowd.handle(slot);
        if crowd.apply(Edit::Send { agent: handle, destination: to, point }).is_ok()
            && let Some(traveller) = self.traveller_mut(slot)
        {
            (traveller.at, traveller.destination) = (at, to.0);
        }
    }

    /// What someone draws on the present part of its journey.
    fn draws(&self, traveller: &Traveller) -> Stream {
        rng::stream(self.seed, traveller.id, u64::from(traveller.leg), Purpose::Journey)
    }

    /// How many have left by each exit.
    pub fn left(&self) -> impl Iterator<Item = (&str, u32)> {
        self.exits.iter().map(|exit| exit.name.as_str()).zip(self.state.exits.iter().map(|exit| exit.left))
    }
}

/// Which of some shares a number from 0 to 1 falls into.
fn pick(number: f64, shares: impl Iterator<Item = f64> + Clone) -> usize {
    let mut left = number * shares.clone().sum::<f64>();
    let mut last = 0;
    for (index, share) in shares.enumerate() {
        if left < share {
            return index;
        }
        left -= share;
        last = if share > 0.0 { index } else { last };
    }
    last
}
