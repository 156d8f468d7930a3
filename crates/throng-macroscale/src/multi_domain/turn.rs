//! A turn that the clock has cut: what it has come to, so that it goes on there in the next step.
//!
//! A turn is one function that asks for one thing after another: a line, the gaits along it, a search, a place to let others by. Each
//! of these is a part. A turn that goes on runs the function again, and parts that were done tell what they came to; the part
//! that was cut goes on from what it has left behind. For that the turn plans from a place and a time that do not change
//! meanwhile: where the agent will be, as its path has it, when the new plan begins.
//!
//! What others have published since is not looked at until the end: a plan is held against it before it is taken over anyway.
//! Only runs with a deadline cut turns, and no such run can be repeated, so a turn is no part of a checkpoint.

use super::plan::Plan;
use glam::DVec2;
use std::any::Any;
use throng_core::memory::mix;

/// What a turn has come to.
#[derive(Default)]
pub(super) struct Turn {
    /// Where the plan begins; `None` for a turn that has to end in the step in which it begins.
    pub root: Option<Root>,
    /// What it has used of its share.
    pub spent: u64,
    /// What parts that are done came to, in order, and what each was asked for.
    done: Vec<(Part, Box<dyn Any + Send + Sync>)>,
    /// How many of them have been asked for again.
    asked: usize,
    /// What the part that was cut has left behind.
    half: Option<(Part, Box<dyn Any + Send + Sync>)>,
}

/// What a part is asked for: a number that differs where the question does. A turn that goes on may take another course, because
/// others have done something else meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part(u64);

impl Part {
    /// A question of some kind about places, and about a number of things.
    pub fn of(kind: &str, places: &[DVec2], count: usize) -> Part {
        let hash = kind.bytes().fold(count as u64, |hash, byte| mix(hash ^ u64::from(byte)));
        let places = places.iter().flat_map(|place| [place.x, place.y]);
        Part(places.fold(hash, |hash, value| mix(hash ^ value.to_bits())))
    }
}

/// Where a plan begins, and what it was begun for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Root {
    /// s.
    pub time: f64,
    /// m.
    pub at: DVec2,
    /// m/s.
    pub velocity: DVec2,
    /// When the turn began, s.
    pub begun: f64,
    /// Where the agent wanted to.
    pub goal: DVec2,
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Turn").field("root", &self.root).field("done", &self.done.len()).finish()
    }
}

impl Root {
    /// Where an agent with a plan is at a time, as far as nothing else happens.
    pub fn ahead(plan: &Plan, (begun, here): (f64, DVec2), time: f64, goal: DVec2) -> Root {
        let place = |time: f64| plan.place(time).filter(|_| plan.valid).unwrap_or(here);
        // Paths bend at steps of the simulation, and none is shorter than this.
        let moment = 1e-3;
        let velocity = (place(time) - place(time - moment)) / moment;
        Root { time, at: place(time), velocity, begun, goal }
    }

    /// How far ahead it was when the turn began, s.
    pub fn lead(&self) -> f64 {
        self.time - self.begun
    }

    /// Whether a turn that began here can go on: the agent gets there still, and wants to the same place.
    pub fn is_as(&self, other: &Root) -> bool {
        (self.time, self.at, self.velocity, self.goal) == (other.time, other.at, other.velocity, other.goal)
    }
}

impl Turn {
    /// Whether so much of the time until the plan begins is over that the rest is needed for what comes after a search: to ask
    /// others to make room.
    pub fn is_late(&self, now: f64) -> bool {
        self.root.is_some_and(|root| now > root.time - root.lead() / 2.0)
    }

    /// A turn that has not begun.
    pub fn from(root: Option<Root>) -> Turn {
        Turn { root, ..Turn::default() }
    }

    /// Goes through its parts from the first one on.
    pub fn replay(mut self) -> Turn {
        self.asked = 0;
        self
    }

    /// What the next part came to, where it is done. Where another one is asked for now, all from there on has to be done
    /// again.
    pub fn told<R: Clone + 'static>(&mut self, part: Part) -> Option<R> {
        let Some((known, result)) = self.done.get(self.asked) else {
            self.half = self.half.take().filter(|half| half.0 == part);
            return None;
        };
        let told = result.downcast_ref::<R>().filter(|_| *known == part).cloned();
        if told.is_none() {
            self.done.truncate(self.asked);
            self.half = None;
        }
        self.asked += usize::from(told.is_some());
        told
    }

    /// A part is done.
    pub fn note<R: Send + Sync + 'static>(&mut self, part: Part, result: R) {
        self.half = None;
        self.done.push((part, Box::new(result)));
        self.asked = self.done.len();
    }

    /// What the part that was cut has left behind.
    pub fn resume<P: 'static>(&mut self) -> Option<P> {
        let (_, half) = self.half.take()?;
        half.downcast::<P>().ok().map(|half| *half)
    }

    /// A part is cut here.
    pub fn cut<P: Send + Sync + 'static>(&mut self, part: Part, half: P) {
        self.half = Some((part, Box::new(half)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts to ten in two parts, as far as it may.
    fn count(turn: &mut Turn, steps: &mut u32) -> Option<u32> {
        let mut part = |to: u32| {
            let part = Part::of("count", &[], to as usize);
            if let Some(sum) = turn.told::<u32>(part) {
                return Some(sum);
            }
            let mut at = turn.resume().unwrap_or(0);
            while at < to && *steps > 0 {
                (at, *steps) = (at + 1, *steps - 1);
            }
            if at < to {
                turn.cut(part, at);
                return None;
            }
            turn.note(part, at);
            Some(at)
        };
        Some(part(4)? + part(6)?)
    }

    #[test]
    fn a_turn_that_is_cut_does_nothing_twice() {
        let mut turn = Turn::default();
        let all: Vec<Option<u32>> = (0..4)
            .map(|_| {
                turn = std::mem::take(&mut turn).replay();
                count(&mut turn, &mut 3)
            })
            .collect();
        assert_eq!(all, [None, None, None, Some(10)]);
    }

    #[test]
    fn a_turn_that_takes_another_course_forgets_what_it_was_told() {
        let mut turn = Turn::default();
        let [first, second, other] = ["first", "second", "other"].map(|kind| Part::of(kind, &[], 0));
        turn.note(first, 1_u32);
        turn.note(second, 2_u32);
        turn = turn.replay();
        assert_eq!((turn.told::<u32>(first), turn.told::<u32>(other)), (Some(1), None));
        turn = turn.replay();
        assert_eq!((turn.told::<u32>(first), turn.told::<u32>(second)), (Some(1), None));
        // Nor does another part go on where one was cut.
        turn.cut(second, 7_u32);
        turn = turn.replay();
        assert_eq!(
            (turn.told::<u32>(first), turn.told::<u32>(other), turn.resume::<u32>()),
            (Some(1), None, None)
        );
    }
}
