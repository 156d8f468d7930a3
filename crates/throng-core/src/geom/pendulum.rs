//! # The linearised inverted pendulum (Kajita et al. 2001)
//! A body of even height over a point that it stands on: x'' = ω²(x − f), ω = √(g/l). Between two steps of a walker the
//! point f is its foot, and all that follows is known in closed form:
//! x(t) = f + (x₀ − f) cosh ωt + v₀/ω sinh ωt.
//!
//! Only sums, products, quotients and roots: so that all machines agree on every bit.

use glam::DVec2;

/// m/s².
const GRAVITY: f64 = 9.81;

/// A pendulum of one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pendulum {
    /// √(g/l), 1/s.
    pub omega: f64,
}

impl Pendulum {
    /// Of a length, m.
    pub fn new(length: f64) -> Pendulum {
        Pendulum { omega: (GRAVITY / length).sqrt() }
    }

    /// Place and velocity after a time over a pivot.
    pub fn after(&self, pivot: DVec2, at: DVec2, velocity: DVec2, time: f64) -> (DVec2, DVec2) {
        let (grown, shrunk) = (exp(self.omega * time), exp(-self.omega * time));
        let (cosh, sinh) = ((grown + shrunk) / 2.0, (grown - shrunk) / 2.0);
        let from = at - pivot;
        (pivot + from * cosh + velocity * (sinh / self.omega), from * (self.omega * sinh) + velocity * cosh)
    }

    /// Where the pivot must be for one velocity to become another within a time above zero.
    pub fn pivot(&self, at: DVec2, velocity: DVec2, end: DVec2, time: f64) -> DVec2 {
        at + self.swing(time).pivot(velocity, end)
    }

    /// How far one gets while one velocity becomes another.
    pub fn way(&self, velocity: DVec2, end: DVec2, time: f64) -> DVec2 {
        (velocity + end) * (self.tanh(time / 2.0) / self.omega)
    }

    /// tanh ωt.
    pub fn tanh(&self, time: f64) -> f64 {
        let shrunk = exp(-2.0 * self.omega * time);
        (1.0 - shrunk) / (1.0 + shrunk)
    }

    /// What all swings of one time have in common.
    pub fn swing(&self, time: f64) -> Swing {
        let shrunk = exp(-self.omega * time);
        let scale = self.omega * (1.0 - shrunk * shrunk);
        let half = self.omega * time / 2.0;
        let (grown_half, shrunk_half) = (exp(half), exp(-half));
        let sinh = (grown_half - shrunk_half) / 2.0;
        let quarter = (exp(half / 2.0) - exp(-half / 2.0)) / 2.0;
        Swing {
            time,
            // cosh / (ω sinh) and 1 / (ω sinh), without numbers that grow with time.
            before: (1.0 + shrunk * shrunk) / scale,
            after: 2.0 * shrunk / scale,
            way: self.tanh(time / 2.0) / self.omega,
            cosh: (grown_half + shrunk_half) / 2.0,
            odd: 0.5 - quarter / sinh,
        }
    }
}

/// Swings of one time over a pivot, with what costs most worked out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swing {
    /// s.
    pub time: f64,
    before: f64,
    after: f64,
    way: f64,
    /// cosh ωt/2.
    cosh: f64,
    odd: f64,
}

impl Swing {
    /// Where the pivot must be for one velocity to become another, from where one begins.
    pub fn pivot(&self, velocity: DVec2, end: DVec2) -> DVec2 {
        velocity * self.before - end * self.after
    }

    /// How far one gets while one velocity becomes another.
    pub fn way(&self, velocity: DVec2, end: DVec2) -> DVec2 {
        (velocity + end) * self.way
    }

    /// Where one is in the middle of the time. Pivot and way are from where one begins.
    pub fn middle(&self, pivot: DVec2, way: DVec2) -> DVec2 {
        pivot + (way / 2.0 - pivot) / self.cosh
    }

    /// No further than this is one from where one would be on the straight way at an even speed, m. Pivot and way are from where
    /// one begins.
    pub fn bulge(&self, pivot: DVec2, way: DVec2) -> f64 {
        // Around the middle of the time the way is an even part, which is furthest off there, and an odd one.
        let even = (way / 2.0 - pivot).length() * (1.0 - 1.0 / self.cosh);
        even + 1.2 * (way / 2.0).length() * self.odd
    }
}

/// eˣ from products and sums alone.
fn exp(x: f64) -> f64 {
    let (mut small, mut halvings) = (x, 0);
    while small.abs() > 1.0 / 64.0 && halvings < 64 {
        (small, halvings) = (small / 2.0, halvings + 1);
    }
    let mut sum = 1.0;
    for term in (1..=10).rev() {
        sum = 1.0 + sum * small / f64::from(term);
    }
    (0..halvings).fold(sum, |sum, _| sum * sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exp_is_exp() {
        for x in -400..400 {
            let x = f64::from(x) / 40.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-12, "{x}");
        }
        assert_eq!((exp(-1e4), exp(0.0)), (0.0, 1.0));
    }

    /// Runge and Kutta's method in small steps.
    fn integrated(
        pendulum: &Pendulum,
        pivot: DVec2,
        at: DVec2,
        velocity: DVec2,
        time: f64,
    ) -> (DVec2, DVec2) {
        let pull = |x: DVec2| (x - pivot) * pendulum.omega * pendulum.omega;
        let steps = 2000;
        let h = time / f64::from(steps);
        let (mut x, mut v) = (at, velocity);
        for _ in 0..steps {
            let (k1, a1) = (v, pull(x));
            let (k2, a2) = (v + a1 * (h / 2.0), pull(x + k1 * (h / 2.0)));
            let (k3, a3) = (v + a2 * (h / 2.0), pull(x + k2 * (h / 2.0)));
            let (k4, a4) = (v + a3 * h, pull(x + k3 * h));
            x += (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6.0);
            v += (a1 + a2 * 2.0 + a3 * 2.0 + a4) * (h / 6.0);
        }
        (x, v)
    }

    fn vector(most: f64) -> impl Strategy<Value = DVec2> {
        (-most..most, -most..most).prop_map(|(x, y)| DVec2::new(x, y))
    }

    proptest! {
        #[test]
        fn the_closed_form_is_what_an_integration_finds(
            pivot in vector(1.0), at in vector(1.0), velocity in vector(2.0), time in 0.05..0.9_f64, length in 0.5..1.5_f64,
        ) {
            let pendulum = Pendulum::new(length);
            let (x, v) = pendulum.after(pivot, at, velocity, time);
            let (x2, v2) = integrated(&pendulum, pivot, at, velocity, time);
            prop_assert!(x.distance(x2) < 1e-8 && v.distance(v2) < 1e-8);
        }

        #[test]
        fn the_pivot_is_the_one_that_leads_to_the_velocity(
            at in vector(1.0), velocity in vector(2.0), end in vector(2.0), time in 0.1..0.9_f64,
        ) {
            let pendulum = Pendulum::new(0.9);
            let pivot = pendulum.pivot(at, velocity, end, time);
            let (x, v) = pendulum.after(pivot, at, velocity, time);
            prop_assert!(v.distance(end) < 1e-9);
            prop_assert!(x.distance(at + pendulum.way(velocity, end, time)) < 1e-9);
        }

        #[test]
        fn nobody_is_further_off_the_straight_way_than_the_bulge(
            velocity in vector(2.0), end in vector(2.0), time in 0.2..0.9_f64,
        ) {
            let pendulum = Pendulum::new(0.9);
            let pivot = pendulum.pivot(DVec2::ZERO, velocity, end, time);
            let to = pendulum.way(velocity, end, time);
            let swing = pendulum.swing(time);
            let most = swing.bulge(pivot, to);
            let middle = pendulum.after(pivot, DVec2::ZERO, velocity, time / 2.0).0;
            prop_assert!(swing.middle(pivot, to).distance(middle) < 1e-9);
            for piece in 0..=40 {
                let share = f64::from(piece) / 40.0;
                let (x, _) = pendulum.after(pivot, DVec2::ZERO, velocity, time * share);
                prop_assert!(x.distance(to * share) <= most + 1e-9);
            }
        }
    }

    #[test]
    fn a_step_of_a_minute_leads_somewhere() {
        let pendulum = Pendulum::new(0.9);
        let (v0, v1) = (DVec2::new(1.0, 0.2), DVec2::new(1.0, -0.2));
        assert!(
            pendulum.pivot(DVec2::ZERO, v0, v1, 60.0).is_finite() && pendulum.way(v0, v1, 60.0).is_finite()
        );
    }
}
