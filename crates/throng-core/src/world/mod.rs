//! The world: all state that lasts from step to step. Stages see it through a frozen [`View`]; the one write is
//! [`World::commit`].

mod agents;
mod feet;
mod flow;
mod gaps;
mod jam;
mod movers;
mod slots;
mod steering;
mod terrain;

pub use agents::{Agent, Agents, Status};
pub use feet::{Feet, Footprint, Footstep, Gait, Legs, ON_TIME, PERIODS, Planted, Side};
pub use flow::{Flow, Stream};
pub use gaps::Gaps;
pub use jam::Jam;
pub use movers::{Link, Mover, MoverState};
pub use slots::Slots;
pub use steering::Steering;
pub use terrain::Terrain;

use crate::handover::Moves;
use crate::memory::mix;
use crate::space::{Cells, Walls};
use agents::Spare;
use glam::{DVec2, Vec2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// What the members of a cohort have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cohort {
    /// Whether members vanish when they arrive.
    pub leaves: bool,
    /// How close to its goal an agent has arrived, m.
    pub goal_radius: f32,
    /// Whether members walk together.
    pub together: bool,
    /// Where the goal is an area: its ring, m from the world's origin.
    pub area: Option<Vec<Vec2>>,
    /// From when to when members should arrive, s.
    pub arrive: Option<[f64; 2]>,
}

/// An agent that is no longer in the columns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Departure {
    /// Who.
    pub id: u32,
    /// The slot that it had, and how many had it before.
    pub slot: u32,
    /// See [`Slots::generation`].
    pub generation: u32,
    /// Which cohort.
    pub cohort: u16,
    /// When it arrived, s; negative where it never did.
    pub arrival: f32,
    /// When it began to walk, s.
    pub start: f32,
    /// How far it walked, m.
    pub walked: f32,
    /// Why it is gone.
    pub cause: Cause,
}

/// Why an agent is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It arrived, and its cohort leaves on arrival.
    Arrived,
    /// The caller removed it.
    Despawned,
    /// Its numbers stopped making sense.
    NotFinite,
}

/// All state that lasts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct World {
    /// What must be added to positions for the scenario's coordinates.
    pub origin: DVec2,
    /// Key of everything that agents draw.
    pub seed: u64,
    /// Step, s.
    dt: f64,
    /// Steps taken.
    pub step: u64,
    /// The step and the time, s, from which on steps have been as long as they are now.
    epoch: (u64, f64),
    /// Who is present.
    pub agents: Agents,
    /// Whose slots are whose.
    slots: Slots,
    /// The id of the next agent that comes.
    next_id: u32,
    /// Sum over all departures, so that the state hash knows of them.
    departed_hash: u64,
    /// Preferred velocities that come from outside.
    steering: Steering,
    /// What cohorts have in common.
    pub cohorts: Vec<Cohort>,
    /// Scripted bodies.
    movers: Vec<Mover>,
    /// Differs from what it was before whenever somebody other than time has changed them.
    mover_version: u64,
    /// Jumps, for planners that take them.
    pub links: Vec<Link>,
    /// As far as anybody looks, m.
    pub furthest_look: f32,
    /// Side of the neighbour index's cells, m.
    cell_size: f32,
    /// The highest speed that anybody can have, m/s.
    pub fastest: f32,
    /// The largest radius, m.
    pub widest: f32,
    /// The radii that ways are planned for, ascending, see [`radius_classes`]. Saved, because whoever has left counts too.
    pub radius_classes: Vec<f32>,
    /// Where walkers get on slowly.
    pub jam: Jam,
    /// Where feet are, as far as bodies move on such.
    pub feet: Feet,
    /// What all starts and goals so far lie within, m from the world's origin; `None` where nobody has said. Saved, because
    /// whoever has left counts too.
    pub extent: Option<[Vec2; 2]>,
    /// Counts the changes of the map. Saved, because what stages remember was worked out for one of its versions.
    map_version: u64,
    /// Walls and their index: rebuilt from the map, never saved.
    #[serde(skip)]
    walls: Walls,
    /// Costly ground: rebuilt from the map, never saved.
    #[serde(skip)]
    terrain: Vec<Terrain>,
    /// Where there is no ground, and what walks over it: rebuilt from the map and the motion, never saved.
    #[serde(skip)]
    gaps: Gaps,
    #[serde(skip)]
    legs: Option<Legs>,
    #[serde(skip)]
    cells: Cells,
    #[serde(skip)]
    mover_states: Vec<MoverState>,
    /// Who has left since the last step began, by id within a step.
    #[serde(skip)]
    departures: Vec<Departure>,
    /// Rows by slot, where somebody has asked since rows were last sorted.
    #[serde(skip)]
    rows: OnceLock<Vec<u32>>,
    /// Whether rows are in the order of the neighbour index.
    #[serde(skip)]
    sorted: bool,
    /// Whether agents have come, gone or been moved from outside since the last commit.
    #[serde(skip)]
    edited: bool,
    /// An index of rows that are not sorted, where somebody has asked what is near since they were last changed.
    #[serde(skip)]
    unsorted_index: OnceLock<(Cells, Vec<u32>)>,
    #[serde(skip)]
    scratch: Scratch,
}

/// What follows from a map, for [`World::restore_map`].
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// What is in the way.
    pub walls: Walls,
    /// Ground that is harder to walk on than the rest.
    pub terrain: Vec<Terrain>,
    /// Legs, where bodies move on such.
    pub legs: Option<Legs>,
    /// Where there is no ground for feet.
    pub gaps: Gaps,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    order: Vec<u32>,
    spare: Spare,
    keep: Vec<bool>,
}

/// The world as a stage sees it: frozen, shared, read-only.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Key of everything that agents draw.
    pub seed: u64,
    /// Step, s.
    pub dt: f32,
    /// Simulated time, s.
    pub time: f32,
    /// Simulated time as precisely as it is known, s: for whoever plans ahead.
    pub now: f64,
    /// Step as precisely as it is known, s.
    pub tick: f64,
    /// Steps taken.
    pub step: u64,
    /// The highest speed that anybody can have, m/s.
    pub fastest: f32,
    /// The largest radius, m.
    pub widest: f32,
    /// Who is present, sorted in space.
    pub agents: &'a Agents,
    /// Who is near.
    pub cells: &'a Cells,
    /// What is in the way.
    pub walls: &'a Walls,
    /// Differs from what it was before whenever the map has changed, so that a stage knows what it must work out anew. The same
    /// after a resume.
    pub map_version: u64,
    /// The radii that ways are planned for, ascending.
    pub radius_classes: &'a [f32],
    /// Where walkers got on slowly of late, as far as somebody has looked.
    pub jam: &'a Jam,
    /// Where feet are, as far as bodies move on such.
    pub feet: &'a Feet,
    /// Legs, where bodies move on such.
    pub legs: Option<&'a Legs>,
    /// Where there is no ground for feet. None where bodies move without them: then gaps have walls around.
    pub gaps: &'a Gaps,
    /// Ground that is harder to walk on than the rest.
    pub terrain: &'a [Terrain],
    /// What all starts and goals so far lie within.
    pub extent: Option<[Vec2; 2]>,
    /// Scripted bodies that are in the way, where they are now.
    pub movers: &'a [MoverState],
    /// Scripted bodies, where they will ever be.
    pub scripts: &'a [Mover],
    /// Differs from what it was before whenever scripted bodies have come, gone or been moved from outside.
    pub mover_version: u64,
    /// Jumps.
    pub links: &'a [Link],
    /// What cohorts have in common.
    pub cohorts: &'a [Cohort],
}

impl World {
    /// An empty world.
    pub fn new(origin: DVec2, dt: f64) -> World {
        World {
            origin,
            seed: 0,
            dt,
            step: 0,
            epoch: (0, 0.0),
            agents: Agents::default(),
            slots: Slots::default(),
            next_id: 0,
            departed_hash: 0,
            steering: Steering::default(),
            cohorts: Vec::new(),
            movers: Vec::new(),
            mover_version: 0,
            links: Vec::new(),
            furthest_look: 1.0,
            cell_size: 0.0,
            fastest: 0.0,
            widest: 0.0,
            radius_classes: Vec::new(),
            jam: Jam::default(),
            feet: Feet::default(),
            extent: None,
            walls: Walls::default(),
            terrain: Vec::new(),
            gaps: Gaps::default(),
            legs: None,
            map_version: 0,
            cells: Cells::default(),
            mover_states: Vec::new(),
            departures: Vec::new(),
            rows: OnceLock::new(),
            sorted: false,
            edited: false,
            unsorted_index: OnceLock::new(),
            scratch: Scratch::default(),
        }
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        let (step, time) = self.epoch;
        time + (self.step - step) as f64 * self.dt
    }

    /// Length of a step, s.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Lets steps from now on be of another length, s.
    pub fn set_dt(&mut self, dt: f64) {
        if dt != self.dt {
            self.epoch = (self.step, self.time());
            self.dt = dt;
            self.place_movers();
        }
    }

    /// The world as stages see it. [`World::sort_rows`] must have followed the last change.
    pub fn view(&self) -> View<'_> {
        View {
            seed: self.seed,
            dt: self.dt as f32,
            time: self.time() as f32,
            now: self.time(),
            tick: self.dt,
            step: self.step,
            fastest: self.fastest,
            widest: self.widest,
            agents: &self.agents,
            cells: &self.cells,
            walls: &self.walls,
            map_version: self.map_version,
            radius_classes: &self.radius_classes,
            jam: &self.jam,
            feet: &self.feet,
            legs: self.legs.as_ref(),
            gaps: &self.gaps,
            terrain: &self.terrain,
            extent: self.extent,
            movers: &self.mover_states,
            scripts: &self.movers,
            mover_version: self.mover_version,
            links: &self.links,
            cohorts: &self.cohorts,
        }
    }

    /// Puts other walls in the place of those that are there: the map has changed.
    pub fn set_walls(&mut self, walls: Walls) {
        self.walls = walls;
        self.map_version += 1;
    }

    /// Lets walls be seen from another distance, m. The map stays what it is.
    pub fn reindex_walls(&mut self, range: f32) {
        if range != self.walls.range() {
            let walls = std::mem::take(&mut self.walls).into_walls();
            self.walls = Walls::new(walls, range);
        }
    }

    /// Scripted bodies, and those that a caller moves.
    pub fn movers(&self) -> &[Mover] {
        &self.movers
    }

    /// Lets a scripted body come.
    pub fn add_mover(&mut self, mover: Mover) {
        self.movers.push(mover);
        self.movers_changed();
    }

    /// Removes one.
    pub fn remove_mover(&mut self, index: usize) {
        self.movers.remove(index);
        self.movers_changed();
    }

    /// Gives one another path.
    pub fn set_mover_path(&mut self, index: usize, path: Vec<(f64, Vec2)>) {
        self.movers[index].path = path;
        self.movers_changed();
    }

    fn movers_changed(&mut self) {
        self.mover_version += 1;
        self.place_movers();
    }

    /// Lets paths be planned for bodies of a radius: as a class of its own where there are few, else with some to spare.
    pub fn plan_for_radius(&mut self, radius: f32) {
        let classes = &mut self.radius_classes;
        let next = classes.partition_point(|&class| class < radius);
        let few = classes.len() < FEW_RADII;
        let fits = |&class: &f32| if few { class == radius } else { class <= radius * WIDEST_CLASS };
        if !classes.get(next).is_some_and(fits) {
            // With some to spare, so that radii which grow by and by do not each get a class.
            classes.insert(next, if few { radius } else { radius * WIDEST_CLASS });
        }
    }

    /// Works out the radii that paths are planned for from those of all agents that are present.
    pub fn classify_radii(&mut self) {
        self.radius_classes = radius_classes(&self.agents.radius, WIDEST_CLASS);
    }

    /// Puts other costly ground in the place of what is there: the map has changed.
    pub fn set_terrain(&mut self, terrain: Vec<Terrain>) {
        self.terrain = terrain;
        self.map_version += 1;
    }

    /// Says on what legs bodies walk, and where there is no ground for them: the map has changed.
    pub fn set_ground(&mut self, legs: Option<Legs>, gaps: Gaps) {
        (self.legs, self.gaps) = (legs, gaps);
        self.map_version += 1;
    }

    /// Puts in place what follows from a map that is still the same: of a world that was read from a checkpoint, or where walls
    /// must be found further away than before. What stages remember of the map stays valid.
    pub fn restore_map(&mut self, map: Map) {
        Map { walls: self.walls, terrain: self.terrain, legs: self.legs, gaps: self.gaps } = map;
    }

    /// Lets [`World::extent`] hold a place.
    pub fn extend_to(&mut self, place: Vec2) {
        let [low, high] = self.extent.unwrap_or([place; 2]);
        self.extent = Some([low.min(place), high.max(place)]);
    }

    /// The one write of a step: everybody moves at once, arrivals are noted, time goes on, rows are sorted again.
    /// Where agents have come or gone before the step they are left as they are: more will come and go before the next one,
    /// which sorts them first, and once is enough.
    pub fn commit(&mut self, moves: &Moves) {
        self.step += 1;
        self.departures.clear();
        if !moves.feet.is_empty() {
            self.feet.take(&self.agents.slot, &self.agents.id, &moves.feet);
        }
        let any_gone = self.take_moves(moves);
        if any_gone {
            self.remove_gone();
            self.rows.take();
        }
        if std::mem::take(&mut self.edited) {
            self.place_movers();
            self.lose_order();
        } else {
            self.sort_rows();
        }
    }

    fn lose_order(&mut self) {
        self.sorted = false;
        self.unsorted_index.take();
    }

    /// Sorts rows in space and brings what is derived from the state up to date.
    pub fn sort_rows(&mut self) {
        self.rows.take();
        self.unsorted_index.take();
        self.sorted = true;
        self.choose_cell_size();
        let Scratch { order, spare, .. } = &mut self.scratch;
        let agents = &mut self.agents;
        self.cells.sort(&agents.x, &agents.y, &agents.id, self.cell_size, order);
        agents.reorder(order, spare);
        self.cells.take(agents);
        self.place_movers();
    }

    fn place_movers(&mut self) {
        let (time, dt) = (self.time(), self.dt);
        self.mover_states.clear();
        let in_the_way = self.movers.iter().filter(|mover| !mover.carries);
        self.mover_states.extend(in_the_way.map(|mover| mover.state(time, dt)));
    }

    /// Cells as wide as anybody looks where the crowd is thin, so that many share one look around; narrower ones where
    /// it is dense, so that a look around is not too long. A little more than the look, whatever the rounding.
    fn choose_cell_size(&mut self) {
        let widest = self.furthest_look * 1.0002;
        let narrowest = widest / 8.0;
        let company = self.cells.company();
        if !(narrowest..=widest).contains(&self.cell_size) {
            self.cell_size = widest;
        } else if company > 16.0 && self.cell_size > narrowest * 1.5 {
            self.cell_size /= 2.0;
        } else if company < 2.0 && self.cell_size < widest / 1.5 {
            self.cell_size *= 2.0;
        }
    }

    /// Writes moves into the columns. Returns whether anybody has to be removed.
    fn take_moves(&mut self, moves: &Moves) -> bool {
        let (cohorts, steering, time) = (&self.cohorts, &self.steering, self.time() as f32);
        let agents = &mut self.agents;
        self.scratch.keep.resize(agents.id.len(), true);
        const C: usize = crate::CHUNK * 4;
        let new =
            (moves.x.par_chunks(C), moves.y.par_chunks(C), moves.vx.par_chunks(C), moves.vy.par_chunks(C));
        let old = (
            agents.x.par_chunks_mut(C),
            agents.y.par_chunks_mut(C),
            agents.vx.par_chunks_mut(C),
            agents.vy.par_chunks_mut(C),
            agents.walked.par_chunks_mut(C),
        );
        let fate = (
            agents.goal_x.par_chunks(C),
            agents.goal_y.par_chunks(C),
            agents.cohort.par_chunks(C),
            agents.slot.par_chunks(C),
            agents.start.par_chunks(C),
            agents.arrival.par_chunks_mut(C),
            agents.status.par_chunks_mut(C),
            self.scratch.keep.par_chunks_mut(C),
        );
        (new, old, fate)
            .into_par_iter()
            .map(|(new, old, fate)| {
                let (x, y, vx, vy, walked) = old;
                let (goal_x, goal_y, cohort, slot, start, arrival, status, keep) = fate;
                let mut all_stay = true;
                for row in 0..x.len() {
                    let to = Vec2::new(new.0[row], new.1[row]);
                    let sane = to.is_finite() && new.2[row].is_finite() && new.3[row].is_finite();
                    keep[row] = sane;
                    all_stay &= sane;
                    if !sane {
                        continue;
                    }
                    walked[row] += to.distance(Vec2::new(x[row], y[row]));
                    (x[row], y[row], vx[row], vy[row]) = (to.x, to.y, new.2[row], new.3[row]);
                    let cohort = &cohorts[cohort[row] as usize];
                    if status[row] == Status::Waiting && time >= start[row] {
                        status[row] = Status::Walking;
                    }
                    if status[row] == Status::Walking
                        && (steering.is_empty() || steering.of(slot[row]).is_none())
                        && cohort.reached(to, Vec2::new(goal_x[row], goal_y[row]))
                    {
                        status[row] = Status::Arrived;
                        arrival[row] = time;
                        keep[row] = !cohort.leaves;
                        all_stay &= keep[row];
                    }
                }
                !all_stay
            })
            .reduce(|| false, |a, b| a | b)
    }

    fn remove_gone(&mut self) {
        let keep = std::mem::take(&mut self.scratch.keep);
        let mut gone: Vec<usize> = (0..keep.len()).filter(|&row| !keep[row]).collect();
        gone.sort_unstable_by_key(|&row| self.agents.id[row]);
        for row in gone {
            let agents = &self.agents;
            let leaves = self.cohorts[agents.cohort[row] as usize].leaves;
            let arrived = agents.status[row] == Status::Arrived && leaves;
            self.note_departure(row, if arrived { Cause::Arrived } else { Cause::NotFinite });
        }
        self.agents.retain(&keep);
        self.scratch.keep = keep;
    }

    fn note_departure(&mut self, row: usize, cause: Cause) {
        let agents = &self.agents;
        let slot = agents.slot[row];
        let departure = Departure {
            id: agents.id[row],
            slot,
            generation: self.slots.generation(slot).unwrap_or_default(),
            cohort: agents.cohort[row],
            arrival: agents.arrival[row],
            start: agents.start[row],
            walked: agents.walked[row],
            cause,
        };
        self.feet.forget(slot);
        self.steering.set(slot, None);
        self.slots.release(slot);
        self.departed_hash = self.departed_hash.wrapping_add(departure.hash());
        self.departures.push(departure);
    }

    /// Who has left since the last step began.
    pub fn departures(&self) -> &[Departure] {
        &self.departures
    }

    /// Lets an agent come; its id and its slot are given here. Rows are no longer sorted. `None` where ids are used up.
    pub fn spawn(&mut self, agent: Agent) -> Option<u32> {
        let next = self.next_id.checked_add(1)?;
        let (id, slot) = (self.next_id, self.slots.take());
        self.next_id = next;
        let row = self.agents.len() as u32;
        if let Some(rows) = self.rows.get_mut() {
            if slot as usize >= rows.len() {
                rows.resize(slot as usize + 1, u32::MAX);
            }
            rows[slot as usize] = row;
        }
        self.fastest = self.fastest.max(agent.max_speed);
        self.widest = self.widest.max(agent.radius);
        self.agents.push(Agent { id, slot, ..agent });
        self.unsort();
        Some(slot)
    }

    /// Removes an agent. Rows are no longer sorted.
    pub fn despawn(&mut self, row: usize) {
        self.note_departure(row, Cause::Despawned);
        let slot = self.agents.slot[row];
        self.agents.swap_remove(row);
        let moved = self.agents.slot.get(row).copied();
        if let Some(rows) = self.rows.get_mut() {
            rows[slot as usize] = u32::MAX;
            if let Some(moved) = moved {
                rows[moved as usize] = row as u32;
            }
        }
        self.unsort();
    }

    /// The row of the agent that has a slot. The first question after a step costs a pass over all agents.
    pub fn row(&self, slot: u32) -> Option<usize> {
        let rows = self.rows.get_or_init(|| {
            let mut rows = vec![u32::MAX; self.slots.len()];
            for (row, &slot) in (0u32..).zip(&self.agents.slot) {
                rows[slot as usize] = row;
            }
            rows
        });
        rows.get(slot as usize).filter(|&&row| row != u32::MAX).map(|&row| row as usize)
    }

    /// Whose slots are whose.
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// How many agents have ever come: ids are below this.
    pub fn agents_ever(&self) -> usize {
        self.next_id as usize
    }

    /// Whether rows are in the order of the neighbour index: not between a change from outside and the next step.
    pub fn is_sorted(&self) -> bool {
        self.sorted
    }

    /// Calls `visit` with all rows within a radius of a place, m, and others.
    pub fn rows_near(&self, place: Vec2, radius: f32, mut visit: impl FnMut(usize)) {
        if self.sorted {
            self.cells.runs(place.x, place.y, radius, |from, to| {
                (from..to).for_each(&mut visit);
                radius
            });
            return;
        }
        let (cells, order) = self.unsorted_index.get_or_init(|| {
            let (mut cells, mut order) = (Cells::default(), Vec::new());
            let size = if self.cell_size > 0.0 { self.cell_size } else { self.furthest_look };
            cells.sort(&self.agents.x, &self.agents.y, &self.agents.id, size, &mut order);
            (cells, order)
        });
        cells.runs(place.x, place.y, radius, |from, to| {
            order[from..to].iter().for_each(|&row| visit(row as usize));
            radius
        });
    }

    /// Says that agents were moved from outside, so that rows are no longer sorted.
    pub fn unsort(&mut self) {
        self.edited = true;
        self.lose_order();
    }

    /// Brings what others see of a row up to date, after a change from outside that left it where it is.
    pub fn refresh(&mut self, row: usize) {
        if self.sorted {
            self.cells.refresh(&self.agents, row);
        }
    }

    /// Sets the velocity that a caller prefers for a row, or gives the agent back to its planner.
    pub fn steer(&mut self, row: usize, velocity: Option<Vec2>) {
        self.steering.set(self.agents.slot[row], velocity);
    }

    /// Preferred velocities that come from outside.
    pub fn steering(&self) -> &Steering {
        &self.steering
    }

    /// A number that differs whenever the state differs in a bit, whatever the order of rows. What stages remember is part of
    /// it: the hash of that is given, 0 where they remember nothing.
    pub fn state_hash(&self, remembered: u64) -> u64 {
        let a = &self.agents;
        let row_hash = |row: usize| {
            let mut hash = mix(u64::from(a.id[row]) ^ 0x7468_726f_6e67);
            for value in [
                a.x[row],
                a.y[row],
                a.vx[row],
                a.vy[row],
                a.goal_x[row],
                a.goal_y[row],
                a.arrival[row],
                a.walked[row],
            ] {
                hash = mix(hash ^ u64::from(value.to_bits()));
            }
            mix(hash ^ a.status[row] as u64)
        };
        // A sum of integers: the same in any order, so on any number of threads.
        let present = (0..a.len()).into_par_iter().map(row_hash).reduce(|| 0, u64::wrapping_add);
        let jam = self.jam.cells().iter().fold(0u64, |hash, (cell, hold)| {
            let [cell, hold] = [cell.to_array().map(|x| x as u32), hold.to_array().map(f32::to_bits)]
                .map(|[x, y]| u64::from(x) << 32 | u64::from(y));
            mix(hash ^ mix(cell ^ mix(hold)))
        });
        let outside = self.steering.state_hash();
        mix(present
            ^ mix(self.departed_hash ^ mix(self.step))
            ^ jam
            ^ remembered
            ^ self.feet.hash()
            ^ outside)
    }
}

impl Departure {
    fn hash(&self) -> u64 {
        let walked = (u64::from(self.arrival.to_bits()) << 32) | u64::from(self.walked.to_bits());
        mix(mix(u64::from(self.id)) ^ walked)
    }
}

impl Cohort {
    fn reached(&self, place: Vec2, goal: Vec2) -> bool {
        match &self.area {
            Some(ring) => crate::geom::inside_ring(place, ring).0,
            None => place.distance_squared(goal) <= self.goal_radius * self.goal_radius,
        }
    }
}

/// So few radii are all planned for, however near to one another they are.
const FEW_RADII: usize = 8;
/// How much wider than its narrowest member a class may be, as a factor. Whoever would pass a door with less than that to
/// spare may find it closed; people from 0.2 to 0.3 m fall into seven classes, and each costs a graph.
pub const WIDEST_CLASS: f32 = 1.06;

/// The radii that ways are planned for: every radius there is where they are few. Else classes, each as wide as its widest
/// member and not wider than its narrowest by more than a factor. How many there are follows from how often the range of radii doubles and
/// not from how many agents have which, so nobody is planned for as if it were much wider than it is.
pub fn radius_classes(radius: &[f32], widest: f32) -> Vec<f32> {
    let mut radii = radius.to_vec();
    radii.sort_unstable_by(f32::total_cmp);
    radii.dedup();
    if radii.len() <= FEW_RADII {
        return radii;
    }
    let mut classes = Vec::new();
    let mut rest = &radii[..];
    while let Some(&narrowest) = rest.first() {
        // One member at least, also where a radius is no number.
        let members = rest.partition_point(|&radius| radius <= narrowest * widest).max(1);
        classes.push(rest[members - 1]);
        rest = &rest[members..];
    }
    classes
}

impl View<'_> {
    /// Nobody who is further away than this from a row (centre to centre, m) can touch it within a step.
    #[inline(always)]
    pub fn contact_range(&self, row: usize) -> f32 {
        self.agents.radius[row] + self.widest + 2.0 * self.fastest * self.dt
    }

    /// The radius that a row's way is planned for: its own, or that of its class, which is hardly wider.
    #[inline]
    pub fn planned_radius(&self, row: usize) -> f32 {
        self.class_of(self.agents.radius[row])
    }

    /// The least radius that ways are planned for and that a radius fits into; itself where it is wider than all of them.
    #[inline]
    pub fn class_of(&self, radius: f32) -> f32 {
        let class = self.radius_classes.partition_point(|&class| class < radius);
        self.radius_classes.get(class).copied().unwrap_or(radius)
    }

    /// A row's position.
    #[inline(always)]
    pub fn position(&self, row: usize) -> Vec2 {
        Vec2::new(self.agents.x[row], self.agents.y[row])
    }

    /// Where a row wants to be; of an area, the point of its edge that is closest to it.
    #[inline(always)]
    pub fn goal(&self, row: usize) -> Vec2 {
        match &self.cohorts[self.agents.cohort[row] as usize].area {
            Some(ring) => crate::geom::inside_ring(self.position(row), ring).1,
            None => Vec2::new(self.agents.goal_x[row], self.agents.goal_y[row]),
        }
    }

    /// A row's velocity.
    #[inline(always)]
    pub fn velocity(&self, row: usize) -> Vec2 {
        Vec2::new(self.agents.vx[row], self.agents.vy[row])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The class that a radius is planned for.
    fn planned(classes: &[f32], radius: f32) -> f32 {
        classes[classes.partition_point(|&class| class < radius)]
    }

    #[test]
    fn few_radii_are_all_kept() {
        assert_eq!(radius_classes(&[0.3, 0.2, 0.3], WIDEST_CLASS), [0.2, 0.3]);
        assert_eq!(radius_classes(&[0.300, 0.301, 0.302], WIDEST_CLASS).len(), 3);
        assert!(radius_classes(&[], WIDEST_CLASS).is_empty());
    }

    #[test]
    fn nobody_among_many_is_planned_for_as_if_much_wider() {
        let people = (0..=100).map(|i| 0.2 + 0.001 * i as f32);
        let everybody: Vec<f32> = people.clone().chain([1.0]).collect();
        let classes = radius_classes(&everybody, WIDEST_CLASS);
        assert!(classes.is_sorted() && classes.len() <= 8, "{classes:?}");
        for radius in everybody {
            let planned = planned(&classes, radius);
            assert!((radius..=1.06 * radius).contains(&planned), "{radius} planned as {planned}");
        }
        assert_eq!(radius_classes(&people.collect::<Vec<f32>>(), WIDEST_CLASS), classes[..classes.len() - 1]);
    }

    #[test]
    fn classes_follow_the_range_of_radii_and_not_their_number() {
        let count = |agents: u32| {
            let radius = |i: u32| 0.1 * 100f32.powf(i as f32 / agents as f32);
            radius_classes(&(0..=agents).map(radius).collect::<Vec<f32>>(), WIDEST_CLASS).len()
        };
        // The range is a hundredfold: 2 / log10(1.06) classes.
        assert!(count(1_000) <= 80 && count(30_000) <= 80);
    }
}
