//! # Bodies that walk on feet (Kapadia et al. 2013, section 7.4, after Singh et al. 2011)
//! A body is an inverted pendulum over the foot that it stands on ([`throng_core::geom::Pendulum`]). At the end of a step it
//! takes the next one of its plan, where the macroscale has planned steps; else the foot is put where it brings the
//! velocity nearest to the commanded one, of all places that legs reach and that have ground.
//!
//! - **A step takes whole steps of the simulation**, so that feet are exchanged where the world can be seen.
//! - **An agent that stands has both feet down.** It sets off by shifting its weight, which puts no foot down, and the left foot
//!   goes first; it stops on one foot and puts the other beside.
//! - **An agent that is pushed** goes on over the foot that it stands on from where it is, and the next foot makes up for it.
//! - **An agent that has no place for its foot stops dead.** A pendulum cannot; but no foot is ever put down where there is no
//!   ground, and no body falls.

use crate::Motion;
use glam::{DVec2, Vec2};
use std::f64::consts::FRAC_1_SQRT_2;
use throng_core::CHUNK;
use throng_core::geom::at_most;
use throng_core::handover::{Commands, Moves};
use throng_core::parallel::for_chunks;
use throng_core::world::{Footprint, Footstep, Gait, Legs, ON_TIME, PERIODS, Side, View};

throng_core::params! {
    /// Bodies walk on two feet as inverted pendulums: they sway, and step over gaps in the ground.
    pub struct Footsteps("footsteps") {
        /// Height of a body's middle over the ground, which is the length of the pendulum.
        leg_length: f32 = 0.9, "m", Limit::from(0.3).up_to(3.0);
        /// From the left foot to the right one across the way, walking straight on.
        step_width: f32 = 0.18, "m", Limit::from(0.02).up_to(1.0);
        /// From one foot to the other at most.
        longest_step: f32 = 0.9, "m", Limit::from(0.1).up_to(3.0);
        /// How long a step usually takes; it may be a fifth shorter or longer. Rounded to whole steps of the simulation.
        period: f32 = 0.5, "s", Limit::from(0.2).up_to(1.5);
        /// From heel to toe.
        foot_length: f32 = 0.26, "m", Limit::from(0.01).up_to(1.0);
        /// Across a foot.
        foot_width: f32 = 0.1, "m", Limit::from(0.01).up_to(1.0);
    }
}

/// An agent that is commanded to walk slower than this stands, m/s.
const STANDING: f64 = 0.05;
/// An agent that is further from where its step leads was pushed, m.
const PUSHED: f64 = 1e-4;
/// Feet follow a body that was pushed further than this while it stood, m.
const SHUFFLE: f64 = 0.05;
/// Shares of the commanded speed that are tried, the best first.
const SHARES: [f64; 6] = [1.0, 0.8, 0.6, 0.4, 0.2, 0.0];
/// Sine and cosine of turns from the commanded direction: none, 1/16, 1/8 and 1/4 to either side.
const TURNS: [(f64, f64); 7] = [
    (0.0, 1.0),
    (0.382_683_432_365_089_8, 0.923_879_532_511_286_7),
    (-0.382_683_432_365_089_8, 0.923_879_532_511_286_7),
    (FRAC_1_SQRT_2, FRAC_1_SQRT_2),
    (-FRAC_1_SQRT_2, FRAC_1_SQRT_2),
    (1.0, 0.0),
    (-1.0, 0.0),
];
/// What a step of another length than usual counts for beside a velocity that is off, (m/s)².
const UNUSUAL: f64 = 0.01;

impl Motion for Footsteps {
    fn run(&mut self, view: View<'_>, input: &Commands, out: &mut Moves) {
        let legs = self.legs();
        out.feet.resize(view.agents.len(), None);
        let Moves { x, y, vx, vy, feet, .. } = out;
        let columns = (&mut x[..], &mut y[..], &mut vx[..], &mut vy[..], &mut feet[..]);
        for_chunks(CHUNK, columns, &|chunk, (x, y, vx, vy, feet)| {
            for i in 0..x.len() {
                let row = chunk * CHUNK + i;
                let planned = input.footstep.get(row).copied().flatten();
                let walker = Walker::new(view, &legs, row, planned);
                let command = Vec2::new(input.vx[row], input.vy[row]);
                let (gait, to) = walker.walk(command.as_dvec2());
                let way = to.as_vec2() - view.position(row);
                (x[i], y[i]) = to.as_vec2().into();
                (vx[i], vy[i]) = at_most(way / view.dt, view.agents.max_speed[row]).into();
                feet[i] = Some(gait);
            }
        });
    }

    fn legs(&self) -> Option<Legs> {
        Some(Footsteps::legs(self))
    }
}

impl Footsteps {
    fn legs(&self) -> Legs {
        Legs {
            length: self.leg_length.into(),
            width: self.step_width.into(),
            longest: self.longest_step.into(),
            period: self.period.into(),
            foot_length: self.foot_length.into(),
            foot_width: self.foot_width.into(),
        }
    }
}

/// An agent that walks in this step of the simulation.
struct Walker<'a> {
    view: View<'a>,
    legs: &'a Legs,
    row: usize,
    here: DVec2,
    /// The step that the macroscale has planned to begin now.
    planned: Option<Footstep>,
}

/// A body at an exchange of feet.
#[derive(Clone, Copy)]
struct Exchange {
    at: DVec2,
    velocity: DVec2,
    /// The foot that comes next.
    side: Side,
}

impl<'a> Walker<'a> {
    fn new(view: View<'a>, legs: &'a Legs, row: usize, planned: Option<Footstep>) -> Walker<'a> {
        Walker { view, legs, row, here: view.position(row).as_dvec2(), planned }
    }

    /// What the feet do now, and where the body is after this step of the simulation.
    fn walk(&self, command: DVec2) -> (Gait, DVec2) {
        let now = self.view.now;
        let mut gait = self.gait();
        let ended = gait.finish(now);
        if gait.step.is_none() {
            let next = match ended {
                Some(step) => self.next(&gait, &step, command),
                None => self.set_off(&mut gait, command),
            };
            if let Some(step) = next {
                gait.take(step);
            }
        }
        let to = gait.step.map_or(self.here, |step| step.at(self.legs, now + self.view.tick).0);
        // Where numbers stop making sense the agent is not moved.
        (gait, if to.is_finite() { to } else { self.here })
    }

    /// The feet as they are, minding that the body may have been pushed.
    fn gait(&self) -> Gait {
        let now = self.view.now;
        let Some(mut gait) = self.view.feet.of(self.view.agents.slot[self.row]).copied() else {
            return Gait::standing(self.legs, self.here, self.ahead(), now);
        };
        if let Some(step) = gait.step.as_mut() {
            let (at, velocity) = step.at(self.legs, now);
            if at.distance(self.here) > PUSHED && step.end > now + ON_TIME {
                let pendulum = self.legs.pendulum();
                let rest = step.end - now;
                let leaves = pendulum.after(step.pivot, self.here, velocity, rest).1;
                (step.begin, step.from, step.velocity, step.leaves) = (now, self.here, velocity, leaves);
            }
        }
        gait
    }

    /// Towards the goal.
    fn ahead(&self) -> DVec2 {
        let goal = self.view.goal(self.row).as_dvec2();
        (goal - self.here).normalize_or(DVec2::X)
    }

    /// The step that is planned to begin now, if it begins where the body is.
    fn planned(&self) -> Option<Footstep> {
        self.planned.filter(|step| step.from.distance(self.here) < SHUFFLE)
    }

    /// The step after another one.
    fn next(&self, gait: &Gait, ended: &Footstep, command: DVec2) -> Option<Footstep> {
        let side = ended.support.other();
        if let Some(planned) = self.planned().filter(|planned| planned.support == side) {
            return Some(planned);
        }
        let exchange = Exchange { at: self.here, velocity: ended.leaves, side };
        self.chosen(gait, exchange, command)
    }

    /// The first step of an agent that stands: weight shifts over both feet, away from where one wants to go.
    fn set_off(&self, gait: &mut Gait, command: DVec2) -> Option<Footstep> {
        if let Some(planned) = self.planned().filter(|planned| planned.plant.is_none()) {
            return Some(planned);
        }
        self.follow_body(gait);
        let wanted = self.capped(command);
        if wanted.length() < STANDING {
            return None;
        }
        let (pendulum, now) = (self.legs.pendulum(), self.view.now);
        let time = self.legs.whole(self.legs.period, self.view.tick);
        let shift = |share: &f64| {
            let leaves = self.legs.exchange(wanted * *share, gait.along(), Side::Right);
            let pivot = pendulum.pivot(self.here, DVec2::ZERO, leaves, time);
            self.legs.hold(&gait.feet, pivot).then_some(Footstep {
                begin: now,
                end: now + time,
                from: self.here,
                velocity: DVec2::ZERO,
                leaves,
                pivot,
                plant: None,
                close: None,
                support: Side::Right,
            })
        };
        let shifted = SHARES.iter().filter(|share| **share > 0.0).find_map(shift);
        if shifted.is_none() {
            // Feet that one stopped dead on may hold it in no direction: they are put side by side first.
            self.stand_anew(gait);
        }
        shifted
    }

    /// Feet of an agent that was pushed while it stood, or that stands askew, come after.
    fn follow_body(&self, gait: &mut Gait) {
        let middle = (gait.feet[0].at + gait.feet[1].at) / 2.0;
        if self.legs.hold(&gait.feet, self.here) && middle.distance(self.here) < SHUFFLE + self.legs.width {
            return;
        }
        self.stand_anew(gait);
    }

    fn stand_anew(&self, gait: &mut Gait) {
        let anew = Gait::standing(self.legs, self.here, gait.along(), self.view.now);
        if anew.feet.iter().all(|foot| self.legs.has_ground(foot, self.view.gaps, 0.0)) {
            *gait = anew;
        }
    }

    /// A commanded velocity as fast as one can be on average: at exchanges of feet one is faster.
    fn capped(&self, command: DVec2) -> DVec2 {
        let most = f64::from(self.view.agents.max_speed[self.row]) / self.legs.exchange_ratio();
        command.clamp_length_max(most)
    }

    /// The step that brings the velocity nearest to the commanded one; none where no place for the foot has ground.
    fn chosen(&self, gait: &Gait, exchange: Exchange, command: DVec2) -> Option<Footstep> {
        let wanted = self.capped(command);
        let stops = wanted.length() < STANDING;
        let other = gait.foot(exchange.side.other());
        let ideal = if stops {
            DVec2::ZERO
        } else {
            let along = self.legs.pointed(wanted.normalize(), other.along);
            self.legs.exchange(wanted, along, exchange.side)
        };
        let mut best: Option<(f64, Footstep)> = None;
        for share in SHARES {
            for (sine, cosine) in TURNS {
                for (index, period) in PERIODS.into_iter().enumerate() {
                    let velocity =
                        DVec2::new(wanted.x * cosine - wanted.y * sine, wanted.x * sine + wanted.y * cosine)
                            * share;
                    let unusual = if index > 0 { UNUSUAL } else { 0.0 };
                    let Some(step) = self.stepping(gait, exchange, velocity, period) else { continue };
                    let off = (step.leaves - ideal).length_squared() + unusual;
                    if best.is_none_or(|(least, _)| off < least) {
                        best = Some((off, step));
                    }
                }
                if best.is_some_and(|(off, _)| off <= UNUSUAL) || share == 0.0 {
                    break;
                }
            }
            if best.is_some_and(|(off, _)| off <= UNUSUAL) {
                break;
            }
        }
        best.map(|(_, step)| step).or_else(|| self.recovered(gait, exchange, ideal))
    }

    /// A step that ends with a velocity, if legs and ground allow it.
    fn stepping(&self, gait: &Gait, exchange: Exchange, velocity: DVec2, period: f64) -> Option<Footstep> {
        let other = gait.foot(exchange.side.other());
        let speed = velocity.length();
        let along = if speed < STANDING { other.along } else { velocity / speed };
        let along = self.legs.pointed(along, other.along);
        let leaves =
            if speed < STANDING { DVec2::ZERO } else { self.legs.exchange(velocity, along, exchange.side) };
        let time = self.legs.whole(self.legs.period * period, self.view.tick);
        let pivot = self.legs.pendulum().pivot(exchange.at, exchange.velocity, leaves, time);
        let step = self.onto(exchange, pivot, along, leaves, time);
        let plant = step.plant?;
        let fits = self.legs.reach(&plant, other) && self.legs.has_ground(&plant, self.view.gaps, 0.0);
        if !fits {
            return None;
        }
        if speed >= STANDING {
            return Some(step);
        }
        let close = plant.beside(self.legs, step.end);
        let end = step.at(self.legs, step.end).0;
        let stands =
            self.legs.hold(&[plant, close], end) && self.legs.has_ground(&close, self.view.gaps, 0.0);
        stands.then_some(Footstep { close: Some(close), ..step })
    }

    fn onto(&self, exchange: Exchange, pivot: DVec2, along: DVec2, leaves: DVec2, time: f64) -> Footstep {
        let now = self.view.now;
        let plant = Footprint { at: pivot, along, side: exchange.side, since: now };
        Footstep {
            begin: now,
            end: now + time,
            from: exchange.at,
            velocity: exchange.velocity,
            leaves,
            pivot,
            plant: Some(plant),
            close: None,
            support: exchange.side,
        }
    }

    /// For one whose velocity no foot within reach can bring near to what it should be: the foot goes as far towards the
    /// right place as it can, and what velocity comes of it is taken, unless it is one that no agent has.
    fn recovered(&self, gait: &Gait, exchange: Exchange, ideal: DVec2) -> Option<Footstep> {
        let other = gait.foot(exchange.side.other());
        let pendulum = self.legs.pendulum();
        let most = f64::from(self.view.agents.max_speed[self.row]);
        let tries = PERIODS.into_iter().filter_map(|period| {
            let time = self.legs.whole(self.legs.period * period, self.view.tick);
            let wanted = pendulum.pivot(exchange.at, exchange.velocity, ideal, time);
            let pivot = self.within_reach(wanted, other, exchange.side);
            let leaves = pendulum.after(pivot, exchange.at, exchange.velocity, time).1;
            let step = self.onto(exchange, pivot, other.along, leaves, time);
            let plant = step.plant?;
            let fits = leaves.is_finite()
                && leaves.length() <= most
                && self.legs.reach(&plant, other)
                && self.legs.has_ground(&plant, self.view.gaps, 0.0);
            fits.then_some(step)
        });
        tries.min_by(|a, b| a.leaves.distance(ideal).total_cmp(&b.leaves.distance(ideal)))
    }

    /// The place nearest to a wanted one, more or less, where a foot can be put down beside the other.
    fn within_reach(&self, wanted: DVec2, other: &Footprint, side: Side) -> DVec2 {
        let outwards = other.along.perp() * side.sign();
        let apart = wanted - other.at;
        let (nearest, furthest) = self.legs.across();
        let across = outwards.dot(apart).clamp(nearest, furthest.min(self.legs.longest).max(nearest));
        let most = (self.legs.longest * self.legs.longest - across * across).max(0.0).sqrt();
        let ahead = other.along.dot(apart).clamp(-most, most);
        other.at + outwards * across + other.along * ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use throng_core::world::{Agent, Cohort, Gaps, Planted, Status, World};

    const DT: f64 = 0.1;

    /// One walker on a ground, and all that its feet have done.
    struct Track {
        world: World,
        motion: Footsteps,
        moves: Moves,
        prints: Vec<Planted>,
    }

    impl Track {
        fn new(dt: f64, gaps: &[&[[f64; 2]]]) -> Track {
            let mut world = World::new(DVec2::ZERO, dt);
            world.cohorts.push(Cohort { goal_radius: 0.1, ..Cohort::default() });
            world.agents.push(Agent {
                id: 0,
                slot: 0,
                x: 0.0,
                y: 0.0,
                vx: 0.0,
                vy: 0.0,
                goal_x: 100.0,
                goal_y: 0.0,
                radius: 0.25,
                preferred_speed: 1.34,
                max_speed: 1.8,
                responsibility: 0.5,
                start: 0.0,
                arrival: -1.0,
                walked: 0.0,
                cohort: 0,
                destination: 0,
                status: Status::Walking,
            });
            let motion = Footsteps::default();
            let ring = |ring: &&[[f64; 2]]| ring.iter().map(|&corner| corner.into()).collect();
            world.set_ground(Some(motion.legs()), Gaps::new(gaps.iter().map(ring).collect::<Vec<_>>()));
            world.sort_rows();
            Track { world, motion, moves: Moves::default(), prints: Vec::new() }
        }

        /// One step towards a velocity, after a push.
        fn step(&mut self, command: Vec2, push: Vec2) {
            let mut commands = Commands::default();
            commands.resize(1);
            (commands.vx[0], commands.vy[0]) = command.into();
            self.moves.resize(1);
            self.motion.run(self.world.view(), &commands, &mut self.moves);
            (self.moves.x[0], self.moves.y[0]) = (self.moves.x[0] + push.x, self.moves.y[0] + push.y);
            self.world.commit(&self.moves);
            self.prints.extend_from_slice(self.world.feet.planted());
        }

        fn at(&self) -> Vec2 {
            self.world.view().position(0)
        }

        fn stands(&self) -> bool {
            self.world.feet.of(0).is_some_and(|gait| gait.step.is_none())
        }

        /// Every step within the limits of legs, left and right in turn as long as one walks.
        fn check_prints(&self) {
            let legs = self.motion.legs();
            let gaps = self.world.view().gaps;
            let mut feet = [None::<Footprint>; 2];
            for Planted { foot, .. } in &self.prints {
                assert!(legs.has_ground(foot, gaps, 0.0), "{foot:?} has no ground");
                let other = feet[foot.side.other() as usize];
                // Both at once: an agent that stood was pushed.
                if let Some(other) = other.filter(|other| other.since < foot.since) {
                    let both = self.prints.iter().filter(|print| print.foot.since == foot.since).count() > 1;
                    assert!(both || legs.reach(foot, &other), "{other:?} to {foot:?}");
                }
                feet[foot.side as usize] = Some(*foot);
            }
        }
    }

    #[test]
    fn on_average_one_walks_as_commanded_and_the_left_foot_goes_first() {
        let mut track = Track::new(DT, &[]);
        let command = Vec2::new(1.2, 0.5);
        (0..40).for_each(|_| track.step(command, Vec2::ZERO));
        let before = track.at();
        (0..20).for_each(|_| track.step(command, Vec2::ZERO));
        let mean = (track.at() - before) / 2.0;
        assert!(mean.distance(command) < 1e-3, "{mean}");
        assert_eq!(track.prints[2].foot.side, Side::Left);
        assert!(track.prints.windows(2).skip(1).all(|pair| pair[0].foot.side != pair[1].foot.side));
        track.check_prints();
    }

    #[test]
    fn one_stops_and_then_stands_on_both_feet() {
        let mut track = Track::new(DT, &[]);
        (0..37).for_each(|_| track.step(Vec2::new(1.3, 0.0), Vec2::ZERO));
        let braked = track.at();
        (0..40).for_each(|_| track.step(Vec2::ZERO, Vec2::ZERO));
        assert!(track.stands(), "{:?}", track.world.feet.of(0));
        assert!(track.at().distance(braked) < 2.0, "{}", track.at() - braked);
        let (at, prints) = (track.at(), track.prints.len());
        (0..20).for_each(|_| track.step(Vec2::ZERO, Vec2::ZERO));
        assert_eq!((track.at(), track.prints.len()), (at, prints));
        track.check_prints();
    }

    #[test]
    fn nobody_steps_into_a_river_that_it_is_sent_into() {
        let river: &[[f64; 2]] = &[[4.0, -50.0], [9.0, -50.0], [9.0, 50.0], [4.0, 50.0]];
        for slant in [-0.6, -0.2, 0.0, 0.3, 0.9] {
            let mut track = Track::new(DT, &[river]);
            (0..200).for_each(|_| track.step(Vec2::new(1.3, slant), Vec2::ZERO));
            assert!((2.5..4.6).contains(&track.at().x), "{}", track.at());
            track.check_prints();
        }
    }

    #[test]
    fn a_ditch_is_stepped_over() {
        let ditch: &[[f64; 2]] = &[[4.0, -50.0], [4.3, -50.0], [4.3, 50.0], [4.0, 50.0]];
        let mut track = Track::new(DT, &[ditch]);
        (0..200).for_each(|_| track.step(Vec2::new(1.3, 0.0), Vec2::ZERO));
        assert!(track.at().x > 10.0, "{}", track.at());
        track.check_prints();
    }

    proptest! {
        #[test]
        fn whatever_is_commanded_feet_stay_within_their_limits_and_the_body_over_them(
            commands in prop::collection::vec((-1.8..1.8_f32, -1.8..1.8_f32, 1..30_usize), 1..12),
            pushes in prop::collection::vec((-0.05..0.05_f32, -0.05..0.05_f32), 300),
            pushed in any::<bool>(),
            dt in prop::sample::select(vec![0.02, 0.05, 0.1, 0.25, 1.0, 60.0]),
        ) {
            let pit: &[[f64; 2]] = &[[2.0, -1.0], [3.0, -1.0], [3.0, 1.0], [2.0, 1.0]];
            let mut track = Track::new(dt, &[pit]);
            let mut step = 0;
            for (x, y, count) in commands {
                for _ in 0..count {
                    let push = if pushed && step % 7 == 0 { Vec2::from(pushes[step % 300]) } else { Vec2::ZERO };
                    let before = track.at();
                    track.step(Vec2::new(x, y), push);
                    step += 1;
                    let moved = track.at().distance(before);
                    prop_assert!(moved <= 1.8 * 1.6 * dt as f32 + 0.12, "{moved} m in {dt} s");
                    let gait = track.world.feet.of(0).unwrap();
                    let nearest = gait.feet.iter().map(|foot| foot.at.distance(track.at().as_dvec2()));
                    prop_assert!(dt > 0.3 || nearest.fold(f64::MAX, f64::min) < 0.9);
                }
            }
            track.check_prints();
        }
    }
}
