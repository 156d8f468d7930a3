//! One problem from waypoint to waypoint: each leg is a small problem of its own, and begins where the last one ended.

use super::Outcome;
use super::order::Level;
use super::planner::{ChainPlanner, Progress, Stretch};
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

/// After this many legs in a row without a plan there is none: the last had 64 times the budget of the first.
const MOST_JOINS: u32 = 6;

impl ChainPlanner<'_> {
    /// Plans from waypoint to waypoint in one domain, or in one around the plan of another.
    pub fn plan_legs(&self, levels: &[Level], way: &[DVec2]) -> Vec<Outcome> {
        let mut legs = Legs::along(way, self.tuning().leg);
        let mut outcomes: Vec<Outcome> = levels.iter().map(|&level| Outcome::none(level)).collect();
        // What the plan was at the beginning of each leg, to go back to.
        let mut before: Vec<(Progress, Vec<(usize, f64)>)> = Vec::new();
        let mut now = self.start();
        let (mut leg, mut joins) = (0, 0);
        while let Some(way) = legs.get(leg) {
            before.truncate(leg);
            before.push((now, outcomes.iter().map(Outcome::mark).collect()));
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
            now = before[leg].0;
            outcomes.iter_mut().zip(&before[leg].1).for_each(|(outcome, &mark)| outcome.go_back(mark));
        }
        outcomes
    }

    fn plan_leg(&self, outcomes: &mut [Outcome], now: Progress, task: &Task<'_>) -> Option<Progress> {
        let to = task.to();
        let mut guide: Option<Vec<DVec2>> = None;
        let mut end = None;
        for outcome in outcomes {
            let part = match outcome.level {
                Level::SpaceTime => return self.walk_leg(outcome, now, task, guide.as_deref()),
                Level::Navmesh => self.on_mesh([now.at, to]),
                Level::DynamicNavmesh => self.on_dynamic_mesh([now.at, to], guide.as_deref()),
                Level::Grid => self.on_grid([now.at, to], now.begin, guide.as_deref()),
            };
            let arrival = part.trajectory.last().map(|last| last.0);
            end = arrival.map(|begin| Progress { begin, at: to, velocity: DVec2::ZERO });
            // An agent may stand on a waypoint just now: finer domains can still follow the plan before.
            let found = part.is_found().then(|| part.places().collect());
            guide = found.or(guide).or_else(|| Some(task.way.to_vec()));
            outcome.append(part);
        }
        end
    }

    /// A leg in space-time. Where the plan before leads a long way round, because bodies close the straight one, it is cut
    /// too: the depth of no search depends on what stands in the way.
    fn walk_leg(
        &self,
        outcome: &mut Outcome,
        mut now: Progress,
        task: &Task<'_>,
        guide: Option<&[DVec2]>,
    ) -> Option<Progress> {
        let longest = self.tuning().leg * f64::from(1 + task.joins);
        let parts = Legs::along(guide.unwrap_or(task.way), longest);
        for part in 0..parts.len() {
            let way = parts.get(part)?;
            let is_last = task.is_last && part + 1 == parts.len();
            let stretch = self.stretch(outcome, now, &Task { way, is_last, joins: task.joins });
            let (plan, velocity) = self.walk(&stretch, guide.map(|_| way));
            let end = plan.trajectory.last().copied().zip(velocity);
            outcome.append(plan);
            let ((begin, at), velocity) = end?;
            now = Progress { begin, at, velocity };
        }
        Some(now)
    }

    fn stretch(&self, outcome: &Outcome, now: Progress, task: &Task<'_>) -> Stretch {
        let tuning = self.tuning();
        let radius = if task.is_last { tuning.goal_radius } else { tuning.waypoint_radius };
        let window = self.problem.arrive.filter(|_| task.is_last).unwrap_or((now.begin, f64::INFINITY));
        let left = tuning.budget.saturating_sub(outcome.effort.expansions);
        Stretch {
            now,
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
