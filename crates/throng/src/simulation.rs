//! A simulation: a [`Crowd`] and the timetable of a scenario.

use crate::crowd::{
    Agent, AgentId, BuildError, Cohort, CohortGoal, CohortId, Crowd, Edit, EditError, Mover, checksum,
};
use crate::explain::Explanation;
use crate::map::{bounds, winds_around};
use crate::measure::{Live, Measures, Observer};
use crate::pipeline::{CohortModels, Models};
use crate::record::RunInfo;
use crate::rides::Rides;
use crate::scenario::{self, Action, AgentStart, Event, Goal, Scenario};
use crate::ways::{Sources, Ways, WaysState};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use throng_core::geom::double::distance_to_segment;
use throng_core::world::{Cause, Departure, Status};

/// A crowd that does what a scenario says. Everything that a [`Crowd`] can do, it can do as well.
pub struct Simulation {
    crowd: Crowd,
    timetable: Timetable,
    departed: Vec<Departure>,
    /// How many of the crowd's departures are in the list.
    noted: usize,
    measures: Live,
    rides: Rides,
}

/// What the scenario says of the time to come, and for reports.
struct Timetable {
    name: String,
    source: String,
    until: f64,
    first_id: Vec<u32>,
    areas: Vec<Vec<DVec2>>,
    /// From where agents begin straight to where their goals do, m, by id; nothing for journeys.
    straight: Vec<Option<f64>>,
    info: RunInfo,
    events: Vec<Event>,
    next_event: usize,
    ways: Ways,
    sources: Sources,
}

/// How far a timetable is: part of a checkpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    next_event: usize,
    ways: WaysState,
    entered: Vec<u32>,
    rides: Rides,
}

/// An agent that has no path to its goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Unreachable {
    /// Who.
    pub id: u32,
    /// What its cohort is called.
    pub cohort: String,
    /// Where it is, m in the scenario's coordinates.
    pub position: [f64; 2],
}

impl Deref for Simulation {
    type Target = Crowd;

    fn deref(&self) -> &Crowd {
        &self.crowd
    }
}

impl DerefMut for Simulation {
    fn deref_mut(&mut self) -> &mut Crowd {
        &mut self.crowd
    }
}

impl Simulation {
    /// A simulation on all cores.
    pub fn new(scenario: &Scenario) -> Result<Simulation, BuildError> {
        Simulation::with_threads(scenario, 0)
    }

    /// A simulation on a number of threads; 0 means all cores. The result is the same on any number.
    pub fn with_threads(scenario: &Scenario, threads: usize) -> Result<Simulation, BuildError> {
        let builder = Crowd::builder()
            .dt(scenario.dt)
            .seed(scenario.seed)
            .threads(threads)
            .origin(origin(scenario))
            .map(scenario.map.clone())
            .models(scenario.models());
        let builder = scenario.links.iter().fold(builder, |builder, link| builder.link(*link));
        let cohorts = scenario.cohorts.iter().map(|cohort| described(cohort, scenario));
        let mut crowd = builder.build_with(cohorts.collect())?;
        let mut timetable = Timetable::of(scenario);
        timetable.ways.add_destinations(&mut crowd, scenario.widest())?;
        crowd.populate(scenario.cohorts.iter().enumerate().flat_map(|(index, cohort)| {
            let id = CohortId(index as u16);
            cohort.agents.iter().map(move |agent| agent.agent(id, cohort.responsibility))
        }))?;
        for mover in &scenario.movers {
            let body = Mover::along(mover.path.iter().copied()).radius(mover.radius);
            crowd.spawn_mover(if mover.carries { body.carries() } else { body })?;
        }
        for place in scenario.destinations() {
            crowd.draw_around(place);
        }
        crowd.on_threads(Crowd::prepare);
        crowd.prepare_paths();
        let goals = scenario.cohorts.iter().flat_map(|cohort| &cohort.agents).map(|agent| agent.goal);
        // Nobody has left yet: slots are ids.
        for (slot, goal) in (0..).zip(goals) {
            if let Goal::Journey(journey) = goal {
                timetable.ways.begin(&mut crowd, slot, journey);
            }
        }
        let mut measures = Live::new(&scenario.measures, scenario.map.periodic);
        measures.observe(&crowd.frame());
        Ok(Simulation { crowd, timetable, departed: Vec::new(), noted: 0, measures, rides: Rides::default() })
    }

    /// A simulation that goes on with a saved crowd.
    pub(crate) fn resumed(
        scenario: &Scenario,
        crowd: Crowd,
        progress: Progress,
        departed: Vec<Departure>,
        observers: Vec<Observer>,
    ) -> Simulation {
        let mut timetable = Timetable { next_event: progress.next_event, ..Timetable::of(scenario) };
        timetable.ways.resume(progress.ways);
        timetable.sources.resume(progress.entered);
        let (measures, rides) = (Live::resumed(observers), progress.rides);
        Simulation { crowd, timetable, departed, noted: 0, measures, rides }
    }

    /// One step: what the timetable says, then the crowd's.
    pub fn step(&mut self) {
        self.on_threads(|simulation| {
            simulation.raise_events();
            simulation.note_departures();
            let Simulation { crowd, timetable, .. } = simulation;
            timetable.sources.run(crowd, &mut timetable.ways);
            timetable.ways.run(crowd);
            simulation.note_departures();
            simulation.crowd.step();
            simulation.noted = 0;
            simulation.note_departures();
            simulation.measures.observe(&simulation.crowd.frame());
            simulation.rides.observe(simulation.crowd.world().view());
        });
    }

    /// Runs `work` on the simulation's own threads; see [`Crowd::on_threads`].
    pub fn on_threads<R: Send>(&mut self, work: impl FnOnce(&mut Simulation) -> R + Send) -> R {
        match self.crowd.pool() {
            Some(pool) => pool.install(|| work(self)),
            None => work(self),
        }
    }

    fn note_departures(&mut self) {
        let departures = self.crowd.departures();
        let new = &departures[self.noted.min(departures.len())..];
        new.iter().for_each(|departure| self.timetable.ways.note(departure));
        self.departed.extend_from_slice(new);
        self.noted = departures.len();
    }

    /// Does what is due. An event at time t is seen by the first step that begins at t or later.
    fn raise_events(&mut self) {
        let now = self.crowd.time() + 1e-9;
        while let Some(event) = self.timetable.events.get(self.timetable.next_event)
            && event.at <= now
        {
            let action = event.action.clone();
            self.timetable.next_event += 1;
            let Some(edit) = self.timetable.edit(&action) else {
                self.timetable.change_ways(&mut self.crowd, &action);
                continue;
            };
            // The scenario was checked against itself. What a caller has done since may be in the way of an event: an
            // obstacle that is gone already cannot be removed, and nothing else can come of it.
            let _ = self.crowd.apply(edit);
        }
    }

    /// Whether the time is over, or every agent has arrived and none will get another goal.
    pub fn is_done(&self) -> bool {
        let all_arrived = self.arrived() + self.put_aside() + self.despawned() == self.agents();
        let all_came = self.timetable.sources.to_come() == 0;
        self.crowd.time() >= self.timetable.until - 1e-9 || (all_arrived && all_came && !self.will_retarget())
    }

    /// Whether an agent that is present gets another goal before the end.
    fn will_retarget(&self) -> bool {
        let Timetable { events, next_event, until, .. } = &self.timetable;
        let mut ahead = events[*next_event..].iter().filter(|event| event.at < *until);
        ahead.any(|event| match event.action {
            Action::Retarget { cohort, .. } => self.crowd.world().agents.cohort.contains(&(cohort as u16)),
            _ => false,
        })
    }

    /// What the scenario is called.
    pub fn name(&self) -> &str {
        &self.timetable.name
    }

    /// Key of every random stream.
    pub fn seed(&self) -> u64 {
        self.crowd.world().seed
    }

    /// The whole scenario, as JSON.
    pub fn source(&self) -> &str {
        &self.timetable.source
    }

    /// What a recording should know of the run.
    pub fn info(&self) -> &RunInfo {
        &self.timetable.info
    }

    /// What has been measured so far, by the names of the measures.
    pub fn measures(&self) -> Measures {
        self.measures.figures()
    }

    /// Those who measure, for a checkpoint.
    pub(crate) fn observers(&self) -> &[Observer] {
        self.measures.observers()
    }

    /// How far its timetable is.
    pub(crate) fn progress(&self) -> Progress {
        let Timetable { next_event, ways, sources, .. } = &self.timetable;
        Progress {
            next_event: *next_event,
            ways: ways.state().clone(),
            entered: sources.entered().to_vec(),
            rides: self.rides.clone(),
        }
    }

    /// A number that differs whenever the state differs in a bit: that of the crowd, and how far people are on their ways.
    pub fn state_hash(&self) -> u64 {
        let Timetable { ways, sources, .. } = &self.timetable;
        if ways.is_empty() && sources.entered().is_empty() {
            return self.crowd.state_hash();
        }
        // Plain data into a Vec: this cannot fail.
        let bytes = postcard::to_stdvec(&(ways.state(), sources.entered())).unwrap_or_default();
        self.crowd.state_hash() ^ checksum(&bytes)
    }

    /// Lets an agent of a cohort come, as a scenario describes it, and begin its journey where it has one.
    pub fn admit(&mut self, agent: &AgentStart, cohort: CohortId, share: f64) -> Result<AgentId, EditError> {
        self.timetable.ways.admit(&mut self.crowd, agent.agent(cohort, share), agent.goal)
    }

    /// How many people of sources should have come in and wait outside because there is no room.
    pub fn waiting_outside(&self) -> usize {
        self.timetable.sources.waiting(self.crowd.time())
    }

    /// How many people of sources have still to come in.
    pub fn to_come(&self) -> usize {
        self.timetable.sources.to_come()
    }

    /// How many have left by each exit.
    pub fn exits(&self) -> BTreeMap<String, usize> {
        self.timetable.ways.left().map(|(name, left)| (name.to_owned(), left as usize)).collect()
    }

    /// Who has left, in the order of leaving.
    pub fn departed(&self) -> &[Departure] {
        &self.departed
    }

    /// What an agent sees and chooses now, by its number; `None` where it is not present.
    pub fn explain(&mut self, id: u32) -> Option<Explanation> {
        self.crowd.on_threads(|crowd| {
            crowd.prepare();
            let row = crowd.world().agents.id.iter().position(|&other| other == id)?;
            crowd.explain_row(row)
        })
    }

    /// How many agents there have been so far.
    pub fn agents(&self) -> usize {
        self.crowd.world().agents_ever()
    }

    /// How many have been at their goals.
    pub fn arrived(&self) -> usize {
        let here = self.crowd.world().agents.arrival.iter().filter(|&&arrival| arrival >= 0.0).count();
        here + self.departed.iter().filter(|gone| gone.arrival >= 0.0).count()
    }

    /// How many were put aside because their numbers stopped making sense.
    pub fn put_aside(&self) -> usize {
        self.departed.iter().filter(|gone| gone.cause == Cause::NotFinite && gone.arrival < 0.0).count()
    }

    fn despawned(&self) -> usize {
        self.departed.iter().filter(|gone| gone.cause == Cause::Despawned && gone.arrival < 0.0).count()
    }

    /// Agents that walk and had no path to their goals in the last step, by id. None where the macroscale plans no paths.
    pub fn unreachable(&self) -> Vec<Unreachable> {
        let (world, agents) = (self.crowd.world(), &self.crowd.world().agents);
        let ids = self.crowd.unreachable();
        let walks = |row: &usize| {
            agents.status[*row] == Status::Walking && ids.binary_search(&agents.id[*row]).is_ok()
        };
        let unreachable = |row: usize| Unreachable {
            id: agents.id[row],
            cohort: self.crowd.cohort_name(CohortId(agents.cohort[row])).unwrap_or_default().into(),
            position: (world.origin + world.view().position(row).as_dvec2()).to_array(),
        };
        let mut unreachable: Vec<Unreachable> = (0..agents.len()).filter(walks).map(unreachable).collect();
        unreachable.sort_unstable_by_key(|unreachable| unreachable.id);
        unreachable
    }

    /// How many have arrived within the window of their cohort, where it has one.
    pub fn in_window(&self) -> usize {
        let in_time = |fate: &Departure| {
            let window = self.crowd.world().cohorts[fate.cohort as usize].arrive;
            let arrival = f64::from(fate.arrival);
            // Times of arrival are kept in single precision.
            window.is_some_and(|[from, to]| arrival >= from - 1e-3 && arrival <= to + 1e-3)
        };
        self.fates().filter(in_time).count()
    }

    /// Mean time from start to arrival, s, over those that arrived.
    pub fn mean_travel(&self) -> Option<f64> {
        let travels = self.fates().filter(|fate| fate.arrival >= 0.0);
        let (sum, count) = travels.fold((0.0, 0u32), |(sum, count), fate| {
            (sum + f64::from(fate.arrival) - f64::from(fate.start), count + 1)
        });
        (count > 0).then(|| sum / f64::from(count))
    }

    /// The longest time from start to arrival, s, over those that arrived.
    pub fn max_travel(&self) -> Option<f64> {
        let travels = self.fates().filter(|fate| fate.arrival >= 0.0);
        travels.map(|fate| f64::from(fate.arrival) - f64::from(fate.start)).reduce(f64::max)
    }

    /// How far those have walked who arrived, over how far it would have been straight from their starts to the rims of their
    /// first goals. Those who have a journey are left out.
    pub fn path_over_straight(&self) -> Option<f64> {
        let straight = |id: u32| self.timetable.straight.get(id as usize).copied().flatten();
        let arrived = self.fates().filter(|fate| fate.arrival >= 0.0);
        let lengths = arrived.filter_map(|fate| Some((f64::from(fate.walked), straight(fate.id)?)));
        let (walked, straight) = lengths.fold((0.0, 0.0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
        (straight > 0.0).then(|| walked / straight)
    }

    /// How often an agent stood on another platform than the last one that it had stood on.
    pub fn platforms_changed(&self) -> usize {
        self.rides.changed()
    }

    /// How far all agents have walked, m: in all, and by cohort.
    pub fn path_lengths(&self) -> (f64, BTreeMap<String, f64>) {
        let names = self.crowd.cohort_names();
        let mut walked = vec![0.0; names.len()];
        for fate in self.fates() {
            walked[fate.cohort as usize] += f64::from(fate.walked);
        }
        // From zero: a sum over nothing would be -0.
        (walked.iter().fold(0.0, |sum, length| sum + length), names.iter().cloned().zip(walked).collect())
    }

    /// What became of all agents, present or gone, by id: sums over it are the same in any order of rows.
    fn fates(&self) -> impl Iterator<Item = Departure> {
        let agents = &self.crowd.world().agents;
        let mut fates = self.departed.clone();
        fates.extend((0..agents.len()).map(|row| Departure {
            id: agents.id[row],
            slot: agents.slot[row],
            generation: 0,
            cohort: agents.cohort[row],
            arrival: agents.arrival[row],
            start: agents.start[row],
            walked: agents.walked[row],
            cause: Cause::Arrived,
        }));
        fates.sort_unstable_by_key(|fate| fate.id);
        fates.into_iter()
    }
}

/// By id: from every start to where its goal begins, m.
fn straight_lengths(scenario: &Scenario) -> Vec<Option<f64>> {
    let length = |cohort: &scenario::Cohort, agent: &AgentStart| match agent.goal {
        Goal::Point(goal) => Some((agent.position.distance(goal) - cohort.goal_radius).max(0.0)),
        Goal::Area(area) => Some(distance_to_ring(&scenario.areas[area as usize], agent.position)),
        Goal::Journey(_) => None,
    };
    let cohorts = scenario.cohorts.iter();
    cohorts.flat_map(|cohort| cohort.agents.iter().map(move |agent| length(cohort, agent))).collect()
}

/// 0 within it.
fn distance_to_ring(ring: &[DVec2], place: DVec2) -> f64 {
    let next = ring.iter().skip(1).chain(ring.first());
    let sides = ring.iter().zip(next).map(|(&a, &b)| distance_to_segment(place, a, b));
    if winds_around(ring, place) { 0.0 } else { sides.fold(f64::INFINITY, f64::min) }
}

impl Timetable {
    fn of(scenario: &Scenario) -> Timetable {
        let first_id = scenario.cohorts.iter().scan(0, |next, cohort| {
            let first = *next;
            *next += cohort.agents.len() as u32;
            Some(first)
        });
        Timetable {
            name: scenario.name.clone(),
            source: scenario.source.clone(),
            until: scenario.until,
            first_id: first_id.collect(),
            areas: scenario.areas.clone(),
            straight: straight_lengths(scenario),
            info: RunInfo::of(scenario),
            events: scenario.events.clone(),
            next_event: 0,
            ways: Ways::of(scenario),
            sources: Sources::of(scenario),
        }
    }

    /// What an event does to the ways that people take.
    fn change_ways(&mut self, crowd: &mut Crowd, action: &Action) {
        match action {
            Action::SetExit { exit, open } => self.ways.set_exit(crowd, *exit, *open),
            Action::Release(stage) => self.ways.release(crowd, *stage),
            Action::Retarget { cohort, goals } => {
                let Some(Goal::Journey(journey)) = goals.first() else { return };
                let agents = &crowd.world().agents;
                let members = (0..agents.len()).filter(|&row| usize::from(agents.cohort[row]) == *cohort);
                let mut members: Vec<(u32, u32)> =
                    members.map(|row| (agents.id[row], agents.slot[row])).collect();
                members.sort_unstable();
                members.into_iter().for_each(|(_, slot)| self.ways.begin(crowd, slot, *journey));
            }
            Action::AddObstacle { .. } | Action::RemoveObstacle(_) => {}
        }
    }

    /// The edit that an event is; none where it changes the ways that people take.
    fn edit(&self, action: &Action) -> Option<Edit> {
        Some(match action {
            Action::AddObstacle { name, polygon } => {
                Edit::AddObstacle { name: name.clone(), ring: polygon.clone() }
            }
            Action::RemoveObstacle(name) => Edit::RemoveObstacle { name: name.clone() },
            Action::Retarget { goals, .. } if matches!(goals.first(), Some(Goal::Journey(_))) => return None,
            Action::Retarget { cohort, goals } => {
                Edit::Retarget { cohort: CohortId(*cohort as u16), goal: self.cohort_goal(*cohort, goals) }
            }
            Action::SetExit { .. } | Action::Release(_) => return None,
        })
    }

    fn cohort_goal(&self, cohort: usize, goals: &[Goal]) -> CohortGoal {
        match goals.first() {
            Some(Goal::Area(area)) => CohortGoal::Area(self.areas[*area as usize].clone()),
            _ => {
                let point = |goal: &Goal| if let Goal::Point(goal) = goal { *goal } else { DVec2::ZERO };
                CohortGoal::Points {
                    first_id: self.first_id[cohort],
                    points: goals.iter().map(point).collect(),
                }
            }
        }
    }
}

fn cohort_models(cohort: &scenario::Cohort) -> CohortModels {
    CohortModels { microscale: cohort.microscale.clone(), params: cohort.params.clone() }
}

impl Scenario {
    /// The widest body that ever comes, m.
    fn widest(&self) -> f64 {
        let coming = self.sources.iter().flat_map(|source| source.people.iter().map(|(_, agent)| agent));
        let present = self.cohorts.iter().flat_map(|cohort| &cohort.agents);
        present.chain(coming).map(|agent| agent.radius).fold(f64::MIN_POSITIVE, f64::max)
    }

    /// The models that it asks for.
    pub fn models(&self) -> Models {
        Models {
            pipeline: self.pipeline.clone(),
            params: self.params.clone(),
            cohorts: self.cohorts.iter().map(cohort_models).collect(),
        }
    }
}

fn described(cohort: &scenario::Cohort, scenario: &Scenario) -> Cohort {
    let area = cohort.area.and_then(|area| scenario.areas.get(area as usize).cloned());
    Cohort {
        name: cohort.name.clone(),
        leaves: cohort.leaves,
        goal_radius: cohort.goal_radius,
        together: cohort.together,
        area,
        arrive: cohort.arrive,
        models: cohort_models(cohort),
    }
}

impl scenario::AgentStart {
    /// The agent of a cohort that it describes.
    pub fn agent(&self, cohort: CohortId, responsibility: f64) -> Agent {
        let agent = Agent::at(self.position)
            .velocity(self.velocity)
            .radius(self.radius)
            .speed(self.preferred_speed)
            .max_speed(self.max_speed)
            .responsibility(responsibility)
            .delay(self.start)
            .cohort(cohort);
        match self.goal {
            Goal::Point(goal) => agent.goal(goal),
            Goal::Area(_) | Goal::Journey(_) => agent,
        }
    }
}

/// The middle of everything, so that positions are small numbers wherever the map lies.
fn origin(scenario: &Scenario) -> DVec2 {
    let (low, high) = bounds(scenario.starts().iter().chain(scenario.map.points()));
    let middle = if low.cmple(high).all() { (low + high) / 2.0 } else { DVec2::ZERO };
    scenario.map.repeat().middle_or(middle)
}
