//! Plans over platforms, by timetable: walk to the bank, wait, step on, be carried, step over to the next platform or off, walk
//! on. The way says which platforms are taken, and their paths say when; a search in space and time would try every place to wait at for every moment until
//! it comes.

use crate::domain::occupancy::Trajectory;
use crate::multi_domain::plan::deliberation::{Ego, Meter, Snapshot};
use crate::multi_domain::plan::direct::{Found, Others, Path};
use crate::multi_domain::plan::window::Ending;
use glam::DVec2;

/// Where to stand on a platform, as shares of its radius beside the middle.
const SLOTS: [f64; 5] = [0.0, -0.36, 0.36, -0.72, 0.72];
/// Rides that are looked at: the next ones.
const DEPARTURES: usize = 3;
/// No agent waits longer for a platform, s.
const LONGEST_WAIT: f64 = 300.0;
/// Ways over other platforms that are tried.
const OTHER_WAYS: usize = 4;
/// Between looks at where it is, s.
const LOOK: f64 = 0.1;
/// This far from a platform's edge one stands, m.
const EDGE: f64 = 0.05;
/// From so far before the bank one walks straight at one's place on the platform, beside those who stand there, m.
const LINE_UP: f64 = 1.5;
/// To step on or off takes so long, s.
const STEP_ON: f64 = 1.0;
/// A share of the speeds that would just do, for what rounding takes.
const EASY: f64 = 0.98;

/// Shares of the time that one has to wait, spent before one sets out and not at the bank.
const WAITS: [f64; 4] = [0.0, 0.33, 0.67, 1.0];
/// Shares of the preferred speed.
const PACES: [f64; 3] = [1.0, 0.85, 0.7];

/// One of the ways to take platforms.
#[derive(Clone, Copy)]
struct Choice {
    /// How many rides to let pass.
    departure: usize,
    /// Of a platform's radius.
    slot: f64,
    wait: f64,
    pace: f64,
}

/// The places on a platform that are nearest come first, so that the ways to them and on from them do not cross those of others.
fn choices(beside: f64) -> impl Iterator<Item = Choice> {
    let mut slots = SLOTS;
    slots.sort_by(|a, b| (a - beside).abs().total_cmp(&(b - beside).abs()));
    (0..DEPARTURES).flat_map(move |departure| {
        slots.into_iter().flat_map(move |slot| {
            WAITS.into_iter().flat_map(move |wait| PACES.map(|pace| Choice { departure, slot, wait, pace }))
        })
    })
}

/// A plan as it grows.
struct Trip {
    path: Path,
    /// Where among its points the walk to the next platform begins.
    leg: usize,
    choice: Choice,
}

impl Trip {
    fn last(&self) -> (f64, DVec2) {
        self.path[self.path.len() - 1]
    }

    fn go(&mut self, time: f64, at: DVec2) {
        if time > self.last().0 {
            self.path.push((time, at));
        }
    }

    /// Stands until it is time: a part of it where this leg began.
    fn wait(&mut self, until: f64, tick: f64) {
        let (time, at) = self.last();
        let first = ((until - time) * self.choice.wait / tick).round() * tick;
        if first > 0.0 {
            let (began, from) = self.path[self.leg];
            self.path[self.leg + 1..].iter_mut().for_each(|point| point.0 += first);
            self.path.insert(self.leg + 1, (began + first, from));
        }
        self.go(until, at);
    }
}

impl Snapshot<'_> {
    /// Along a way that takes platforms. Where it cannot be taken in time, along another one: what Σ1 chose by its length has to
    /// be chosen again by what space and time allow.
    pub fn crossing(
        &self,
        ego: &Ego<'_>,
        way: &[DVec2],
        ending: &Ending,
        others: Others<'_>,
        meter: &mut Meter,
    ) -> Option<Found> {
        let places = std::iter::once(&ego.at).chain(way);
        let rides = places.zip(way).any(|(from, to)| ego.map.landing(*from, *to).is_some());
        let in_time = self.by_timetable(ego, way, ending, others, meter);
        if in_time.is_some() || ending.window.is_none() {
            return in_time;
        }
        let other_ways = || ego.map.ways_over_landings(ego.at, ending.goal).into_iter().take(OTHER_WAYS);
        let mut other_ways = rides.then(other_ways).into_iter().flatten();
        let in_time = other_ways.find_map(|way| self.by_timetable(ego, &way, ending, others, meter));
        // An agent that others keep from being in time comes as soon as it can.
        let late = Ending { window: None, ..*ending };
        in_time.or_else(|| self.by_timetable(ego, way, &late, others, meter))
    }

    /// Along a way that takes platforms, by the first timetable by which no other agent is met.
    fn by_timetable(
        &self,
        ego: &Ego<'_>,
        way: &[DVec2],
        ending: &Ending,
        others: Others<'_>,
        meter: &mut Meter,
    ) -> Option<Found> {
        let stops: Vec<DVec2> = std::iter::once(ego.at).chain(way.iter().copied()).collect();
        let by_ride = |index: usize| ego.map.landing(stops[index - 1], stops[index]).is_some();
        let is_carried = ego.map.carrier(ego.at, self.view.now).is_some();
        let last_ride = (1..stops.len()).rev().find(|&index| by_ride(index) || is_carried && index == 1)?;
        // A ride that cannot be taken cannot be taken later or slower.
        let mut missed = None;
        choices(self.beside(ego, &stops)).find_map(|choice| {
            let departure = (choice.departure, choice.slot);
            if missed == Some(departure) {
                return None;
            }
            meter.spent += 1;
            let mut trip = Trip { path: vec![(self.view.now, ego.at)], leg: 0, choice };
            if self.take_platforms(ego, &mut trip, &stops[..=last_ride]).is_none() {
                missed = Some(departure);
                return None;
            }
            self.finish(ego, &mut trip, &stops[last_ride + 1..], ending)?;
            let is_late = ending.window.is_some_and(|(_, to)| trip.last().0 > to);
            if is_late {
                return None;
            }
            let is_free = self.meeting(ego, &trip.path, ending.leaves, others).is_none();
            is_free.then_some(Found {
                path: trip.path,
                steps: Vec::new(),
                reaches: true,
                inflation: 1.0,
                width: 0.0,
            })
        })
    }

    /// How far an agent is beside the first platform that it takes, in the platform's radii.
    fn beside(&self, ego: &Ego<'_>, stops: &[DVec2]) -> f64 {
        let landing = stops.windows(2).find_map(|pair| ego.map.landing(pair[0], pair[1]));
        landing.map_or(0.0, |landing| {
            let across = (landing.to - landing.from).normalize_or_zero();
            (ego.at - landing.from).dot(across.perp()) / ego.map.platforms[landing.platforms[0]].radius
        })
    }

    /// As far as the last ride goes.
    fn take_platforms(&self, ego: &Ego<'_>, trip: &mut Trip, stops: &[DVec2]) -> Option<()> {
        let map = ego.map;
        for index in 1..stops.len() {
            let carrier = map.carrier(ego.at, self.view.now).filter(|_| index == 1);
            if let Some(carrier) = carrier {
                let across = (stops[1] - ego.at).normalize_or_zero();
                self.ride(ego, trip, map.onward(carrier, stops[1])?, (stops[1], across))?;
            } else if let Some(landing) = map.landing(stops[index - 1], stops[index]) {
                let platform = &map.platforms[landing.platforms[0]];
                let across = (landing.to - landing.from).normalize_or_zero();
                let beside = across.perp() * trip.choice.slot;
                let [from, to] = [landing.from, landing.to].map(|bank| bank + beside * platform.radius);
                self.board(ego, trip, platform, (map.bank(from)?, across))?;
                self.ride(ego, trip, &landing.platforms, (map.bank(to)?, across))?;
            } else if stops.get(index + 1).is_none_or(|&next| map.landing(stops[index], next).is_none()) {
                self.walk_to(ego, trip, stops[index], ego.preferred * trip.choice.pace)?;
            }
        }
        Some(())
    }

    /// Walks to the bank, waits, and steps on.
    fn board(
        &self,
        ego: &Ego<'_>,
        trip: &mut Trip,
        platform: &Trajectory,
        (bank, across): (DVec2, DVec2),
    ) -> Option<()> {
        let speed = ego.preferred * trip.choice.pace;
        let lined_up = bank - across * LINE_UP;
        if trip.last().1.distance(bank) > 2.0 * LINE_UP && ego.map.is_floor(lined_up, bank) {
            self.walk_to(ego, trip, lined_up, speed);
        }
        self.walk_to(ego, trip, bank, speed)?;
        let (arrival, _) = trip.last();
        let reach = |time: f64| {
            let spot = nearest(platform, time + STEP_ON, bank, across)?;
            (spot.distance(bank) <= ego.max_speed * STEP_ON * EASY).then_some(spot)
        };
        let mut passed = 0;
        let mut was_near = false;
        let times = self.sample_times().map(|later| arrival + later);
        let (time, spot) = times.into_iter().find_map(|time| {
            let spot = reach(time);
            passed += usize::from(was_near && spot.is_none());
            was_near = spot.is_some();
            spot.filter(|_| passed >= trip.choice.departure).map(|spot| (time, spot))
        })?;
        // Only the first ride is let pass: a choice for each would be too many.
        trip.choice.departure = 0;
        trip.wait(time, self.view.tick);
        trip.go(time + STEP_ON, spot);
        Some(())
    }

    /// When one looks for a platform, s from now on: in whole steps of the simulation, and not for ever.
    fn sample_times(&self) -> impl Iterator<Item = f64> {
        let between = (LOOK / self.view.tick).ceil().max(1.0) * self.view.tick;
        (0..(LONGEST_WAIT / between) as u32).map(move |look| f64::from(look) * between)
    }

    /// Rides from where one stands on the first of some platforms, changes from each to the next, and steps off the last.
    fn ride(
        &self,
        ego: &Ego<'_>,
        trip: &mut Trip,
        platforms: &[usize],
        (bank, across): (DVec2, DVec2),
    ) -> Option<()> {
        let platforms: Vec<&Trajectory> =
            platforms.iter().map(|&platform| &ego.map.platforms[platform]).collect();
        platforms.windows(2).try_for_each(|pair| self.change(ego, trip, pair[0], pair[1]))?;
        let last = *platforms.last()?;
        self.be_carried(ego, trip, last, |time| Some((nearest(last, time, bank, across)?, bank)))?;
        trip.leg = trip.path.len() - 1;
        Some(())
    }

    /// Is carried to where another platform comes near, and steps over. Side by side with those who do so too.
    fn change(&self, ego: &Ego<'_>, trip: &mut Trip, from: &Trajectory, to: &Trajectory) -> Option<()> {
        let slot = trip.choice.slot * from.radius.min(to.radius);
        self.be_carried(ego, trip, from, |time| {
            let (here, there) = (from.place(time)?, to.place(time + STEP_ON)?);
            let across = (there - here).normalize_or_zero();
            let between = here.midpoint(there) + across.perp() * slot;
            Some((nearest(from, time, between, across)?, nearest(to, time + STEP_ON, between, across)?))
        })
    }

    /// Rides from where one stands on a platform until one can step from it to where it takes one step: `step` says from where to
    /// where that is at a time. Meanwhile one walks over to that side.
    fn be_carried(
        &self,
        ego: &Ego<'_>,
        trip: &mut Trip,
        platform: &Trajectory,
        step: impl Fn(f64) -> Option<(DVec2, DVec2)>,
    ) -> Option<()> {
        let (begin, at) = trip.last();
        let from = at - platform.place(begin)?;
        let times = self.sample_times().map(|later| begin + later);
        let (end, to, off) = times.into_iter().find_map(|time| {
            let (spot, off) = step(time)?;
            let to = spot - platform.place(time)?;
            let is_near = spot.distance(off) <= ego.max_speed * STEP_ON * EASY;
            let is_there = from.distance(to) <= ego.preferred * (time - begin);
            (is_near && is_there).then_some((time, to, off))
        })?;
        let bends = platform.path.iter().map(|bend| bend.0).filter(|&time| time > begin && time < end);
        for time in bends.chain([end]) {
            let share = if end > begin { (time - begin) / (end - begin) } else { 1.0 };
            trip.go(time, platform.place(time)? + from.lerp(to, share));
        }
        trip.go(end + STEP_ON, off);
        Some(())
    }

    /// Walks the rest of the way, so that it arrives when it should.
    fn finish(&self, ego: &Ego<'_>, trip: &mut Trip, rest: &[DVec2], ending: &Ending) -> Option<()> {
        let (time, at) = trip.last();
        let places = std::iter::once(&at).chain(rest);
        let length: f64 = places.zip(rest).map(|(from, to)| from.distance(*to)).sum();
        let best = self.best_speed(ego, (time, length), ending);
        let slower = best * trip.choice.pace;
        let is_late = ending.within_window().is_some_and(|(_, to)| time + length / slower > to);
        let speed = if is_late { best } else { slower };
        rest.iter().try_for_each(|&bend| self.walk_to(ego, trip, bend, speed))
    }

    /// Straight over the floor.
    fn walk_to(&self, ego: &Ego<'_>, trip: &mut Trip, to: DVec2, speed: f64) -> Option<()> {
        let (time, at) = trip.last();
        let ticks = (at.distance(to) / speed / self.view.tick - 1e-6).ceil().max(0.0);
        (ticks.is_finite() && ego.map.is_floor(at, to)).then(|| trip.go(time + ticks * self.view.tick, to))
    }
}

/// Where on a platform one is nearest to a place at a time, when one goes there in a direction: those who go side by side stay so.
fn nearest(platform: &Trajectory, time: f64, place: DVec2, across: DVec2) -> Option<DVec2> {
    let middle = platform.place(time)?;
    let (away, radius) = (place - middle, (platform.radius - EDGE).max(0.0));
    let beside = away.dot(across.perp()).clamp(-radius, radius);
    let furthest = (radius * radius - beside * beside).max(0.0).sqrt();
    Some(middle + across * away.dot(across).clamp(-furthest, furthest) + across.perp() * beside)
}
