//! T(Σ4)'s domain: space and time up to a horizon. A plan ends at the goal, or at the horizon where one can stand; there it is
//! charged what is left of the way.

use crate::domain::Placed;
use crate::domain::occupancy::{Occupancy, Passage};
use crate::domain::space_time::{APART, Exceptions, Moment, SpaceTime};
use crate::hash::FastMap;
use crate::multi_domain::plan::remaining::RemainingDistance;
use crate::search::Domain;
use crate::space::Space;
use glam::DVec2;
use std::cell::RefCell;

/// Where and when plans may end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    /// m.
    pub goal: DVec2,
    /// As near to it one has arrived, m.
    pub goal_radius: f64,
    /// From when to when one should arrive, s.
    pub window: Option<(f64, f64)>,
    /// Whether one vanishes at the goal, so that no agent can be in the way there afterwards.
    pub leaves: bool,
    /// An agent must be able to stand at the end of its plan until then, s.
    pub rest_until: f64,
}

/// What is left free at each end of a time to arrive, s: paths bend at whole steps.
const IN_TIME: f64 = 0.25;

impl Ending {
    /// The time to arrive as it is aimed at.
    pub fn within_window(&self) -> Option<(f64, f64)> {
        let (from, to) = self.window?;
        let inner = IN_TIME.min((to - from) / 4.0);
        Some((from + inner, to - inner))
    }
}

/// Space and time up to a horizon.
pub(crate) struct Window<'a> {
    pub walk: SpaceTime<'a>,
    pub remaining: &'a RemainingDistance,
    pub space: &'a Space,
    pub published: &'a Occupancy,
    pub exceptions: Exceptions<'a>,
    pub own: u32,
    pub radius: f64,
    /// The horizon, in steps.
    pub last: u16,
    pub ending: Ending,
    /// What is left of the way, by place of the lattice: many states share one.
    pub known: RefCell<FastMap<(i16, i16), f64>>,
}

/// At least so long one must be able to stand at the end of a plan, s: time enough to make another.
pub(crate) const REST: f64 = 6.0;

impl Window<'_> {
    /// What is left of the way from a state, m.
    pub fn left(&self, moment: Moment) -> f64 {
        let key = (moment.x, moment.y);
        if let Some(&known) = self.known.borrow().get(&key) {
            return known;
        }
        let at = self.place_of(moment).unwrap_or_default();
        let left = (self.remaining.distance(self.space, at) - self.ending.goal_radius).max(0.0);
        self.known.borrow_mut().insert(key, left);
        left
    }

    /// The least that the rest of the way can cost.
    fn least(&self, moment: Moment) -> f64 {
        let time = self.time_of(moment).unwrap_or_default();
        let range = match self.ending.window {
            Some((from, to)) => (from - time).max(0.0)..=to - time + 1e-9,
            None => 0.0..=f64::INFINITY,
        };
        self.walk.energy(self.left(moment), range)
    }

    fn has_arrived(&self, moment: Moment) -> bool {
        let Some(at) = self.place_of(moment) else { return false };
        at.distance(self.ending.goal) <= self.ending.goal_radius && !self.is_early(moment)
    }

    /// Whether the time to arrive has not come.
    fn is_early(&self, moment: Moment) -> bool {
        let time = self.time_of(moment).unwrap_or_default();
        self.ending.window.is_some_and(|(from, _)| time < from - 1e-9)
    }

    /// Whether one is at the goal before it is time.
    fn is_too_soon(&self, moment: Moment) -> bool {
        self.ending.window.is_some()
            && self.is_early(moment)
            && self
                .place_of(moment)
                .is_some_and(|at| at.distance(self.ending.goal) <= self.ending.goal_radius * 1.5)
    }

    fn can_rest(&self, moment: Moment) -> bool {
        let (Some(at), Some(begin)) = (self.place_of(moment), self.time_of(moment)) else { return false };
        // A platform goes on.
        if !self.walk.is_floor(at) {
            return false;
        }
        let passage = Passage { from: at, to: at, begin, end: self.ending.rest_until.max(begin + REST) };
        !self.published.meets(&passage, self.radius + APART, |body, path| {
            body != self.own && self.exceptions.count(body, path, &passage)
        })
    }

    /// Adds what is left of the way to steps that end at the horizon.
    fn charge(&self, edges: &mut [(Moment, f32)], at_end: impl Fn(Moment) -> Moment) {
        for edge in edges {
            let end = at_end(edge.0);
            if end.time >= self.last && !self.has_arrived(end) {
                edge.1 += self.least(end) as f32;
            }
        }
    }
}

impl Domain for Window<'_> {
    type State = Moment;

    fn successors(&self, moment: Moment, out: &mut Vec<(Moment, f32)>) {
        if moment.time >= self.last {
            return;
        }
        let before = out.len();
        self.walk.successors(moment, out);
        if self.ending.window.is_some() {
            let mut index = before;
            while index < out.len() {
                if self.is_too_soon(out[index].0) {
                    out.swap_remove(index);
                } else {
                    index += 1
                }
            }
        }
        self.charge(&mut out[before..], |next| next);
    }

    fn predecessors(&self, moment: Moment, out: &mut Vec<(Moment, f32)>) {
        let before = out.len();
        self.walk.predecessors(moment, out);
        self.charge(&mut out[before..], |_| moment);
    }

    fn heuristic(&self, from: Moment, to: Moment) -> f32 {
        self.walk.heuristic(from, to)
    }

    fn is_end(&self, moment: Moment) -> bool {
        if self.has_arrived(moment) {
            return self.ending.leaves || self.can_rest(moment);
        }
        moment.time >= self.last && self.can_rest(moment)
    }

    fn to_end(&self, moment: Moment) -> f32 {
        if moment.time >= self.last { 0.0 } else { self.least(moment) as f32 }
    }
}

impl Placed for Window<'_> {
    fn place_of(&self, moment: Moment) -> Option<DVec2> {
        self.walk.place_of(moment)
    }

    fn time_of(&self, moment: Moment) -> Option<f64> {
        self.walk.time_of(moment)
    }

    fn cost_of_a_metre(&self) -> f32 {
        self.walk.cost_of_a_metre()
    }

    fn longest_step(&self) -> (f64, f64) {
        self.walk.longest_step()
    }
}
