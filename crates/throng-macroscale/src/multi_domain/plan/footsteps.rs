//! T(Σ5): places for feet along the path of T(Σ4), for those who walk on such. Σ1 to Σ4 do not know of gaps in the ground; here they
//! are stepped over, or one stands before them.
//!
//! What is published is the way of the body over its feet, and that it stands after its last step. The plan begins at the next
//! exchange of feet: what has been stepped cannot be taken back, and the motion takes steps over one step of the simulation after
//! they were planned.

use crate::domain::Placed;
use crate::domain::footstep::{Errand, Footstepping, Replayed, Start, Stride, Surroundings, Walker};
use crate::domain::space_time::Exceptions;
use crate::multi_domain::plan::Plan;
use crate::multi_domain::plan::deliberation::{Ego, Meter, Snapshot};
use crate::multi_domain::plan::direct::{Found, Others, Path};
use crate::multi_domain::plan::remaining::RemainingDistance;
use crate::multi_domain::plan::window::Ending;
use crate::multi_domain::schedule::tasks::Task;
use crate::search::{Aim, Budget, Reversed, Settings};
use crate::tunnel::{Guided, Line, Tunnel, Width};
use throng_core::world::{Footstep, Legs, ON_TIME};

/// Expansions without a plan after which a tunnel is too narrow.
const PATIENCE: u64 = 200;
/// A tunnel is doubled at most this many times because there was no way on.
const MOST_DOUBLINGS: u32 = 3;

/// What an agent is in the middle of when it plans: the steps that it will still take, and where these lead.
struct Footing {
    steps: Vec<Footstep>,
    start: Start,
}

/// What steps are for: what was planned before, and what is left of the way.
pub(crate) struct Aims<'a> {
    pub old: &'a Plan,
    pub remaining: &'a RemainingDistance,
    pub ending: &'a Ending,
}

impl Snapshot<'_> {
    /// T(Σ5): steps along a path, the path that they make, and whether it leads to the goal. For those without legs the path is all.
    pub fn stepped(&self, ego: &Ego<'_>, found: Found, aims: &Aims<'_>, meter: &mut Meter) -> Option<Found> {
        let Some(legs) = self.view.legs else { return Some(found) };
        let Aims { old, remaining, ending } = *aims;
        let footing = self.footing(ego, legs)?;
        let left = |at| (remaining.distance(&ego.map.space, at) - ending.goal_radius).max(0.0);
        let horizon = self.view.now + f64::from(self.params.footing);
        let errand = Errand {
            goal: ending.goal,
            radius: ending.goal_radius,
            leaves: ending.leaves,
            horizon,
            rest_until: ending.rest_until,
            left: &left,
        };
        let domain = self.stepping(ego, legs, footing.start, errand);
        let tunnel = self.tunnel(&found.path, old, ending);
        let (states, inflation, width) = self.search_steps(&domain, tunnel, meter)?;
        let Replayed { steps, path } = domain.replay(&states)?;
        let path: Path = self.before(ego, legs, &footing).chain(path).collect();
        let end = path.last()?.1;
        let reaches = end.distance(ending.goal) <= ending.goal_radius;
        let is_free = self.meeting(ego, &path, reaches && ending.leaves, Others::default()).is_none();
        let steps = footing.steps.iter().copied().chain(steps).collect();
        let inflation = inflation.max(found.inflation);
        is_free.then_some(Found { path, steps, reaches, inflation, width })
    }

    /// Where steps can be planned from; nowhere where the motion chooses the next one in this very step of the simulation.
    fn footing(&self, ego: &Ego<'_>, legs: &Legs) -> Option<Footing> {
        let (now, next) = (self.view.now, self.view.now + self.view.tick);
        let mut gait = self.view.feet.of(ego.slot).copied()?;
        let ended = gait.finish(now);
        // As the motion sees it, whatever has been decided since.
        let plan = self.plans.get(ego.slot);
        let planned = || plan.steps.iter().find(|step| (step.begin - now).abs() < ON_TIME).copied();
        let taken = gait.step.or_else(|| planned().filter(|_| plan.valid));
        let Some(step) = taken else {
            // An agent that walks without a plan is not told where its next foot goes.
            return ended
                .is_none()
                .then(|| Footing { steps: Vec::new(), start: Start::standing(next, ego.at, &gait) });
        };
        gait.take(step);
        let (at, velocity) = step.at(legs, step.end);
        gait.finish(step.end);
        let start = match step.close {
            Some(_) => Start::standing(step.end, at, &gait),
            None => Start { time: step.end, at, velocity, feet: gait.feet, support: Some(step.support) },
        };
        Some(Footing { steps: vec![step], start })
    }

    /// The way of the body until the plan begins.
    fn before(
        &self,
        ego: &Ego<'_>,
        legs: &Legs,
        footing: &Footing,
    ) -> impl Iterator<Item = (f64, glam::DVec2)> {
        let (now, tick, begin) = (self.view.now, self.view.tick, footing.start.time);
        let (legs, step, here) = (*legs, footing.steps.first().copied(), ego.at);
        let count = ((begin - now) / tick - ON_TIME).ceil().max(0.0) as u32;
        let times = (1..count).map(move |count| now + f64::from(count) * tick);
        let at = move |time: f64| step.map_or(here, |step| step.at(&legs, time).0);
        std::iter::once((now, here)).chain(times.map(move |time| (time, at(time))))
    }

    fn stepping<'b>(
        &'b self,
        ego: &'b Ego<'_>,
        legs: &'b Legs,
        start: Start,
        errand: Errand<'b>,
    ) -> Footstepping<'b> {
        let walk = self.walk(ego);
        let surroundings = Surroundings {
            legs,
            gaps: self.view.gaps,
            clearance: &ego.map.clearance,
            published: &self.reservations.published,
            own: Some(ego.body),
            exceptions: Exceptions { ignored: &[], touched: &ego.touched },
        };
        let walker = Walker {
            preferred: ego.preferred.max(0.05),
            max_speed: ego.max_speed,
            per_second: walk.per_second,
            per_change_squared: walk.per_change_squared,
            tick: self.view.tick,
        };
        Footstepping::new(surroundings, walker, start, errand)
    }

    /// τ(Σ5, Π(Σ4), t_w): around the path of Σ4, and wider where there was no way on.
    fn tunnel(&self, path: &Path, old: &Plan, ending: &Ending) -> Tunnel {
        let is_blocked = old.blocked < f64::INFINITY;
        let doublings = (old.failures + u32::from(is_blocked)).min(MOST_DOUBLINGS);
        let space = f64::from(self.params.width) * f64::from(1 << doublings);
        let time = f64::from(self.params.footing) + self.horizon();
        let line = Line::passed(path.iter().copied());
        Tunnel { line, width: Width { space, time }, goal_radius: ending.goal_radius }
    }

    /// A plan, its bound, and how wide the tunnel has become.
    fn search_steps(
        &self,
        domain: &Footstepping<'_>,
        tunnel: Tunnel,
        meter: &mut Meter,
    ) -> Option<(Vec<Stride>, f32, f32)> {
        let settings = Settings { inflation: self.params.inflation, step: 0.5, anew_share: 1.0 };
        let mut search = Guided::new(settings, Aim::Ends, &[domain.root()], tunnel).with_patience(PATIENCE);
        let forward = Reversed(domain);
        search.improve(&forward, Budget::expansions(meter.share.left(meter.spent)));
        meter.charge(Task::Footsteps, search.effort().expansions, 1);
        let visited = search.search().visited();
        meter.see(Task::Footsteps, visited.filter_map(|(stride, _)| domain.place_of(stride)));
        let mut states = Vec::new();
        search.path(&forward, &mut states)?;
        Some((states, search.search().inflation(), search.tunnel().width.space.min(1e6) as f32))
    }
}
