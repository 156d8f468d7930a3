//! Plans over platforms, by timetable: walk to the bank, wait, step on, be carried, step off, walk on. The way says which platform
//! is taken, and its path says when; a search in space and time would try every place to wait at for every moment until
//! it comes.

use super::deliberation::{Ego, Meter, Snapshot};
use super::direct::{Found, Others, Path};
use super::window::Ending;
use crate::domain::occupancy::Trajectory;
use glam::DVec2;

/// Where to stand on a platform, as shares of its radius beside the middle: the first that is free.
const SLOTS: [f64; 5] = [0.0, -0.4, 0.4, -0.8, 0.8];
/// Rides that are looked at: the next ones.
const DEPARTURES: usize = 3;
/// No agent waits longer for a platform, s.
const LONGEST_WAIT: f64 = 300.0;
/// Between looks at where it is, s.
const LOOK: f64 = 0.1;
/// This far from a platform's edge one stands, m.
const EDGE: f64 = 0.05;
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

fn choices() -> impl Iterator<Item = Choice> {
    (0..DEPARTURES).flat_map(|departure| {
        SLOTS.into_iter().flat_map(move |slot| {
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
    /// Along a way that takes platforms, by the first timetable by which no other agent is met.
    pub fn crossing(
        &self,
        ego: &Ego<'_>,
        way: &[DVec2],
        ending: &Ending,
        others: Others<'_>,
        meter: &mut Meter,
    ) -> Option<Found> {
        meter.part(others.part("crossing", way), |meter| self.first_crossing(ego, way, ending, others, meter))
    }

    fn first_crossing(
        &self,
        ego: &Ego<'_>,
        way: &[DVec2],
        ending: &Ending,
        others: Others<'_>,
        meter: &mut Meter,
    ) -> Option<Found> {
        let stops: Vec<DVec2> = std::iter::once(ego.at).chain(way.iter().copied()).collect();
        let by_ride = |index: usize| ego.map.landing(stops[index - 1], stops[index]).is_some();
        let is_carried = ego.map.carrier(ego.at, ego.begin).is_some();
        let last_ride = (1..stops.len()).rev().find(|&index| by_ride(index) || is_carried && index == 1)?;
        // A ride that cannot be taken cannot be taken later or slower.
        let (mut tried, mut missed) = meter.resume().unwrap_or((0, None));
        let found = choices().skip(tried).find_map(|choice| {
            if meter.is_over() {
                return None;
            }
            tried += 1;
            let departure = (choice.departure, choice.slot);
            if missed == Some(departure) {
                return None;
            }
            meter.spent += 1;
            let mut trip = Trip { path: vec![(ego.begin, ego.at)], leg: 0, choice };
            if self.take_platforms(ego, &mut trip, &stops[..=last_ride]).is_none() {
                missed = Some(departure);
                return None;
            }
            self.finish(ego, &mut trip, &stops[last_ride + 1..], ending)?;
            let is_free = self.meeting(ego, &trip.path, ending.leaves, others).is_none();
            is_free.then_some(Found {
                path: trip.path,
                steps: Vec::new(),
                reaches: true,
                inflation: 1.0,
                width: 0.0,
            })
        });
        if meter.is_cut() {
            meter.leave((tried, missed));
        }
        found
    }

    /// As far as the last ride goes.
    fn take_platforms(&self, ego: &Ego<'_>, trip: &mut Trip, stops: &[DVec2]) -> Option<()> {
        let map = ego.map;
        for index in 1..stops.len() {
            let carrier = map.carrier(ego.at, ego.begin).filter(|_| index == 1);
            if let Some(platform) = carrier {
                self.be_carried(ego, trip, &map.platforms[platform], stops[1])?;
            } else if let Some(landing) = map.landing(stops[index - 1], stops[index]) {
                let platform = &map.platforms[landing.platform];
                let beside = (landing.to - landing.from).normalize_or_zero().perp() * trip.choice.slot;
                let [from, to] = [landing.from, landing.to].map(|bank| bank + beside * platform.radius);
                self.board(ego, trip, platform, map.bank(from)?)?;
                self.be_carried(ego, trip, platform, map.bank(to)?)?;
            } else if stops.get(index + 1).is_none_or(|&next| map.landing(stops[index], next).is_none()) {
                self.walk_to(ego, trip, stops[index], ego.preferred * trip.choice.pace)?;
            }
        }
        Some(())
    }

    /// Walks to the bank, waits, and steps on.
    fn board(&self, ego: &Ego<'_>, trip: &mut Trip, platform: &Trajectory, bank: DVec2) -> Option<()> {
        self.walk_to(ego, trip, bank, ego.preferred * trip.choice.pace)?;
        let (arrival, _) = trip.last();
        let reach = |time: f64| {
            let spot = nearest(platform, time + STEP_ON, bank)?;
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

    /// Rides from where one stands on a platform, and steps off. Meanwhile one walks over to the other side.
    fn be_carried(&self, ego: &Ego<'_>, trip: &mut Trip, platform: &Trajectory, bank: DVec2) -> Option<()> {
        let (begin, at) = trip.last();
        let from = at - platform.place(begin)?;
        let times = self.sample_times().map(|later| begin + later);
        let (end, to) = times.into_iter().find_map(|time| {
            let spot = nearest(platform, time, bank)?;
            let to = spot - platform.place(time)?;
            let is_near = spot.distance(bank) <= ego.max_speed * STEP_ON * EASY;
            let is_there = from.distance(to) <= ego.preferred * (time - begin);
            (is_near && is_there).then_some((time, to))
        })?;
        let bends = platform.path.iter().map(|bend| bend.0).filter(|&time| time > begin && time < end);
        for time in bends.chain([end]) {
            let share = if end > begin { (time - begin) / (end - begin) } else { 1.0 };
            trip.go(time, platform.place(time)? + from.lerp(to, share));
        }
        trip.go(end + STEP_ON, bank);
        trip.leg = trip.path.len() - 1;
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

/// Where on a platform one is nearest to a place at a time.
fn nearest(platform: &Trajectory, time: f64, place: DVec2) -> Option<DVec2> {
    let middle = platform.place(time)?;
    Some(middle + (place - middle).clamp_length_max((platform.radius - EDGE).max(0.0)))
}
