//! What planners share that keep trees of shortest paths by goal: whom a tree is for, when it was last asked, and what it answers.

use crate::heading::{GoalKey, Leg, goal_key};
use glam::Vec2;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use throng_core::CHUNK;
use throng_core::handover::Intents;
use throng_core::parallel::for_chunks;
use throng_core::world::View;

/// Whom a tree is for. Radii and goals are told apart by their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Key {
    pub radius: u32,
    pub goal: GoalKey,
}

impl Key {
    pub fn of(view: View<'_>, row: usize) -> Key {
        Key { radius: view.planned_radius(row).to_bits(), goal: goal_key(view, row) }
    }

    /// Whether the goal is a point, which agents may have each for itself.
    pub fn is_point(&self) -> bool {
        matches!(self.goal, GoalKey::Point(..))
    }
}

/// The areas that trees were made for, by cohort. Those of destinations never change.
#[derive(Debug, Default)]
pub(crate) struct Areas(Vec<Option<Vec<Vec2>>>);

impl Areas {
    /// Calls `forget` for every goal that is not what it was.
    pub fn update(&mut self, view: View<'_>, mut forget: impl FnMut(GoalKey)) {
        self.0.resize(view.cohorts.len(), None);
        for (cohort, (known, now)) in self.0.iter_mut().zip(view.cohorts).enumerate() {
            if *known != now.area {
                known.clone_from(&now.area);
                forget(GoalKey::Area(cohort as u16));
            }
        }
    }
}

/// When a tree was last asked. It decides only what is dropped first.
#[derive(Debug, Default)]
pub(crate) struct LastUsed(AtomicU64);

impl LastUsed {
    pub fn touch(&self, now: u64) {
        // Most find it noted, and a store would take the line from all other threads.
        if self.get() != now {
            self.0.store(now, Ordering::Relaxed);
        }
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is known of a row in this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing yet.
    Open,
    /// Its velocity.
    Known,
    /// That its goal cannot be reached.
    Unreachable,
}

impl From<Leg> for Answer {
    #[inline]
    fn from(leg: Leg) -> Answer {
        if matches!(leg, Leg::Unreachable) { Answer::Unreachable } else { Answer::Known }
    }
}

/// What is left after all rows were asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Left {
    pub open: bool,
    pub unreachable: bool,
}

/// Answers the rows that are open, as far as `next` knows.
pub(crate) fn answer(
    view: View<'_>,
    answers: &mut [Answer],
    out: &mut Intents,
    next: impl Fn(usize) -> Option<Leg> + Sync,
) -> Left {
    let columns = (&mut out.vx[..], &mut out.vy[..], &mut out.aim[..], answers);
    let (open, unreachable) = (AtomicBool::new(false), AtomicBool::new(false));
    for_chunks(CHUNK, columns, &|chunk, (vx, vy, aim, answers)| {
        let mut left = Left::default();
        for (i, answer) in answers.iter_mut().enumerate().filter(|(_, answer)| **answer == Answer::Open) {
            let row = chunk * CHUNK + i;
            match next(row) {
                Some(next) => {
                    next.write(view, row, (&mut vx[i], &mut vy[i], &mut aim[i]));
                    *answer = Answer::from(next);
                }
                None => left.open = true,
            }
            left.unreachable |= *answer == Answer::Unreachable;
        }
        open.fetch_or(left.open, Ordering::Relaxed);
        unreachable.fetch_or(left.unreachable, Ordering::Relaxed);
    });
    Left { open: open.into_inner(), unreachable: unreachable.into_inner() }
}

/// The rows of an answer.
pub(crate) fn rows_with(answers: &[Answer], wanted: Answer) -> impl Iterator<Item = usize> {
    answers.iter().enumerate().filter(move |(_, answer)| **answer == wanted).map(|(row, _)| row)
}

/// The ids of those whose goals cannot be reached, ascending.
pub(crate) fn unreachable(view: View<'_>, answers: &[Answer], ids: &mut Vec<u32>) {
    ids.clear();
    ids.extend(rows_with(answers, Answer::Unreachable).map(|row| view.agents.id[row]));
    ids.sort_unstable();
}
