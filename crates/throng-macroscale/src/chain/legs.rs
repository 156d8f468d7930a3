//! One problem from waypoint to waypoint: each leg is a small problem of its own, and begins where the last one ended.

use super::Outcome;
use super::order::Level;
use super::planner::{ChainPlanner, Stretch};
use crate::domain::space_time::Goal;
use crate::waypoints::Legs;
use glam::DVec2;

/// What a leg is to do.
struct Task<'a> {
    /// What the plan before says of it.
    way: &'a [DVec2],
    is_last: bool,
    /// How often it was joined with others since the last leg that had a plan.
    joins: u32,
}

impl Task<'_> {
    fn to(&self) -> DVec2 {
        self.way[self.way.len() - 1]
    }
}

/// How far a plan of legs has come.
#[derive(Clone, Copy, Debug)]
struct Progress {
    begin: f64,
    at: DVec2,
    velocity: DVec2,
}

/// After this many legs in a row without a plan there is none: the last had 64 times the budget of the first.
const MOST_JOINS: u32 = 6;

impl ChainPlanner<'_> {
    /// Plans from waypoint to waypoint in one domain, or in one around the plan of another.
    pub fn plan_legs(&mut self, levels: &[Level], way: &[DVec2]) -> Vec<Outcome> {
        let mut legs = Legs::along(way, self.tuning().leg);
        let mut outcomes: Vec<Outcome> = levels.iter().map(|&level| Outcome::none(level)).collect();
        // What the plan was at the beginning of each leg, to go back to.
        let mut before = Vec::new();
        let mut now = Progress { begin: self.problem.begin, at: way[0], velocity: self.problem.velocity };
        let mut leg = 0;
        let mut joins = 0;
        while let Some(way) = legs.get(leg) {
            before.truncate(leg);
            before.push((
                now,
                outcomes.iter().map(|outcome| (outcome.trajectory.len(), outcome.cost)).collect(),
            ));
            let task = Task { way, is_last: leg + 1 == legs.len(), joins };
            if let Some(next) = self.plan_leg(&mut outcomes, now, &task) {
                (now, leg, joins) = (next, leg + 1, 0);
                continue;
            }
            joins += 1;
            // Of the finest domain alone: the others begin anew with each leg, and each of their searches has its bound.
            let spent = outcomes.last().map_or(0, |outcome| outcome.effort.expansions);
            if spent >= self.tuning().budget || joins > MOST_JOINS {
                return give_up(outcomes);
            }
            // Where nothing is left to join, there is still budget.
            if legs.join(leg) {
                leg -= 1;
            } else {
                legs.join_next(leg);
            }
            let marks: &Vec<(usize, f64)>;
            (now, marks) = (before[leg].0, &before[leg].1);
            for (outcome, &(points, cost)) in outcomes.iter_mut().zip(marks) {
                outcome.trajectory.truncate(points);
                outcome.cost = cost;
            }
        }
        outcomes
    }

    fn plan_leg(&self, outcomes: &mut [Outcome], now: Progress, task: &Task<'_>) -> Option<Progress> {
        let to = task.to();
        let mut guide: Option<Vec<DVec2>> = None;
        let mut end = None;
        for outcome in outcomes {
            match outcome.level {
                Level::SpaceTime => {
                    let stretch = self.stretch(outcome, now, task);
                    let velocity = self.walk(&stretch, guide.as_deref(), outcome)?;
                    let &(begin, at) = outcome.trajectory.last()?;
                    end = Some(Progress { begin, at, velocity });
                }
                level => {
                    let part = match level {
                        Level::Navmesh => self.on_mesh([now.at, to]),
                        Level::DynamicNavmesh => self.on_dynamic_mesh([now.at, to], guide.as_deref()),
                        _ => self.on_grid([now.at, to], now.begin, guide.as_deref()),
                    };
                    outcome.status = part.status;
                    outcome.spend(part.effort);
                    outcome.seen.extend(&part.seen);
                    // An agent may stand on a waypoint just now: finer domains can still follow the plan before.
                    let found = part.is_found();
                    let places = if found {
                        part.places().collect()
                    } else {
                        guide.unwrap_or_else(|| task.way.to_vec())
                    };
                    outcome.cost += part.cost;
                    let again = usize::from(!outcome.trajectory.is_empty());
                    outcome.trajectory.extend(part.trajectory.iter().skip(again));
                    let arrival = part.trajectory.last().map_or(now.begin, |last| last.0);
                    end = found.then_some(Progress { begin: arrival, at: to, velocity: DVec2::ZERO });
                    guide = Some(places);
                }
            }
        }
        end
    }

    fn stretch(&self, outcome: &Outcome, now: Progress, task: &Task<'_>) -> Stretch {
        let tuning = self.tuning();
        let radius = if task.is_last { tuning.goal_radius } else { tuning.waypoint_radius };
        let window = self.problem.arrive.filter(|_| task.is_last).unwrap_or((now.begin, f64::INFINITY));
        let left = tuning.budget.saturating_sub(outcome.effort.expansions);
        Stretch {
            begin: now.begin,
            from: now.at,
            velocity: now.velocity,
            goal: Goal { at: task.to(), radius, window },
            budget: left.min(tuning.leg_budget.saturating_mul(1 << task.joins.min(32))),
        }
    }
}

/// A part of a way is no plan.
fn give_up(mut outcomes: Vec<Outcome>) -> Vec<Outcome> {
    if let Some(last) = outcomes.last_mut() {
        last.trajectory.clear();
    }
    outcomes
}
