//! A local model of one's own, in one file: registered by name, then used from code and from a scenario file.
use fearless_simd::Simd;
use throng::microscale::{Around, Ego, LocalModel, Reach, Scene};
use throng::prelude::*;
use throng::{Scenario, Simulation};

throng::params! {
    /// Polite: an agent close ahead is not overtaken but waited for.
    pub struct Polite("polite") {
        /// The gap that it keeps to those ahead.
        gap: f32 = 0.5, "m", Limit::from(0.0).up_to(10.0);
        /// Others further away than this do not count.
        neighbor_distance: f32 = 3.0, "m", Limit::above(0.0).up_to(100.0);
    }
}

impl LocalModel for Polite {
    fn reach(&self) -> Reach {
        Reach {
            neighbor_distance: self.neighbor_distance,
            max_neighbors: 10,
            time_horizon_obstacles: 1.0,
            walls_ahead: 0.0,
        }
    }

    #[inline(always)]
    fn choose<S: Simd>(&self, _: S, _: Scene<'_>, ego: &Ego, around: &mut Around) -> Vec2 {
        let (others, ahead) = (&around.others, ego.preferred.normalize_or_zero());
        let gap_to = |other: usize| {
            let towards = others.towards(other);
            let is_ahead = towards.dot(ahead) > 0.8 * towards.length();
            if is_ahead { towards.length() - others.reach[other] } else { f32::INFINITY }
        };
        let gap = (0..others.len).map(gap_to).fold(f32::INFINITY, f32::min);
        ego.preferred * ((gap - self.gap) / 1.0).clamp(0.0, 1.0)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    register_microscale::<Polite>("this example")?;

    let mut crowd = Crowd::builder().microscale(Polite { gap: 1.0, ..Polite::default() }).build()?;
    let slow = crowd.spawn(Agent::at([5.0, 0.0]).goal([60.0, 0.0]).speed(0.6))?;
    let fast = crowd.spawn(Agent::at([0.0, 0.0]).goal([60.0, 0.0]).speed(1.6))?;
    (0..200).for_each(|_| crowd.step());
    let apart = crowd.position(fast)?.distance(crowd.position(slow)?);
    println!("from code: the fast one waits {apart:.2} m behind the slow one");
    assert!(apart > 1.2 && apart < 2.5);

    let text = r#"
        format = 1
        until = 20
        [pipeline]
        microscale = "polite"
        [params.polite]
        gap = 2.0
        [[agents]]
        place = { points = [[5, 0], [0, 0]] }
        goal = { point = [60, 0] }
        preferred_speed = { uniform = [0.6, 1.6] }
    "#;
    let mut simulation = Simulation::new(&Scenario::parse(text, "polite.toml", None)?)?;
    while !simulation.is_done() {
        simulation.step();
    }
    println!("from a file: {} agents after {:.0} s", simulation.len(), simulation.time());
    Ok(())
}
