//! What must hold of a case, whatever it is.

use super::draws::Draws;
use glam::{DVec2, Vec2};
use std::collections::BTreeMap;
use throng::checkpoint::Checkpoint;
use throng::map::{Region, boundary};
use throng::metrics::Metrics;
use throng::{Crowd, Scenario, Simulation};
use throng_core::geom::det;
use throng_core::space::Wall;
use throng_microscale::HeldUp;

/// Why a case is a bug.
pub type Verdict = Result<(), String>;

/// Parses a text and, where it is accepted, runs it.
pub fn text(draws: &mut Draws<'_>, text: &str, name: &str) -> Verdict {
    match Scenario::parse(text, name, None) {
        Ok(scenario) if scenario.agent_count() <= 200 => run(draws, &scenario),
        Ok(_) => Ok(()),
        Err(error) if error.to_string().is_empty() => Err("an error without a message".into()),
        Err(_) => Ok(()),
    }
}

/// Runs some steps of a scenario and looks at everything that comes out.
pub fn run(draws: &mut Draws<'_>, scenario: &Scenario) -> Verdict {
    let mut simulation =
        Simulation::with_threads(scenario, 1).map_err(|error| format!("accepted, but: {error}"))?;
    let steps = draws.pick(&[3, 3, 4, 5, 8, 20]);
    let middle = draws.below(steps);
    let saves = draws.chance(0.01);
    let mut resumed = None;
    sane(&simulation, scenario)?;
    for step in 0..steps {
        if step == middle {
            explained(draws, &mut simulation)?;
        }
        if saves && step == middle {
            resumed = Some(saved(&simulation, scenario)?);
        }
        let (mut before, changes) = (places(&simulation), simulation.map_changes());
        simulation.step();
        if simulation.map_changes() != changes {
            forget_caught(&mut before, &simulation);
        }
        sane(&simulation, scenario).map_err(|fault| format!("in step {step}: {fault}"))?;
        not_through_walls(&before, &simulation).map_err(|fault| format!("in step {step}: {fault}"))?;
    }
    if let Some(mut resumed) = resumed {
        (middle..steps).for_each(|_| resumed.step());
        if resumed.state_hash() != simulation.state_hash() {
            return Err(format!("other bits after a checkpoint at step {middle}"));
        }
    }
    Ok(())
}

/// Everything is finite, no agent is too fast and none is lost.
fn sane(simulation: &Simulation, scenario: &Scenario) -> Verdict {
    let frame = simulation.frame();
    let agents = &simulation.world().agents;
    for (row, agent) in Crowd::agents(simulation).enumerate() {
        let id = frame.id[row];
        let velocity = Vec2::new(frame.vx[row], frame.vy[row]);
        if !frame.position(row).is_finite() || !velocity.is_finite() {
            return Err(format!("agent {id} is at {} with {velocity}", frame.position(row)));
        }
        let most = agents.max_speed[row];
        if velocity.length() > most * 1.0001 + 1e-6 {
            return Err(format!("agent {id} has {} m/s, and {most} is its highest", velocity.length()));
        }
        let Some(&HeldUp { waited, opposed }) = agent.remembered("headway") else {
            return Err(format!("agent {id} does not remember how much it is held up"));
        };
        let walked = agents.walked[row];
        if !(0.0..=1.0).contains(&waited) || !(-1.0..=1.0).contains(&opposed) || !walked.is_finite() {
            return Err(format!(
                "agent {id} has waited {waited}, is opposed {opposed} and has walked {walked} m"
            ));
        }
    }
    if simulation.put_aside() > 0 {
        return Err(format!("{} agents were put aside", simulation.put_aside()));
    }
    let gone = simulation.departed().len();
    if frame.len() + gone != scenario.agent_count() {
        return Err(format!(
            "{} agents are here and {gone} gone, of {}",
            frame.len(),
            scenario.agent_count()
        ));
    }
    let deepest = simulation.overlaps().deepest;
    if deepest.is_finite() { Ok(()) } else { Err(format!("the deepest overlap is {deepest}")) }
}

fn places(simulation: &Simulation) -> BTreeMap<u32, Vec2> {
    let agents = &simulation.world().agents;
    (0..agents.len()).map(|row| (agents.id[row], Vec2::new(agents.x[row], agents.y[row]))).collect()
}

/// An agent that an obstacle has come down on was put beside it.
fn forget_caught(before: &mut BTreeMap<u32, Vec2>, simulation: &Simulation) {
    let region = Region::new(&boundary(simulation.map()));
    let origin = simulation.frame().origin;
    before.retain(|_, place| {
        let place = origin + place.as_dvec2();
        region.is_free(place) && region.has_room(place, 1e-3)
    });
}

fn not_through_walls(before: &BTreeMap<u32, Vec2>, simulation: &Simulation) -> Verdict {
    let walls = simulation.world().view().walls;
    for (id, to) in places(simulation) {
        let Some(&from) = before.get(&id) else { continue };
        if let Some(wall) = walls.all().iter().find(|wall| crosses(from, to, wall)) {
            return Err(format!("agent {id} went from {from} to {to}, through {wall:?}"));
        }
    }
    Ok(())
}

/// Clearly through: further on both sides than rounding can explain, and not past an end.
fn crosses(from: Vec2, to: Vec2, wall: &Wall) -> bool {
    let [from, to, a, b] = [from, to, wall.a, wall.b].map(Vec2::as_dvec2);
    let largest = [from, to, a, b].iter().map(|point| point.abs().max_element()).fold(0.0, f64::max);
    let rounding = 1e-5 + 1e-6 * largest;
    let along = (b - a).normalize_or_zero();
    let (from_side, to_side) = (along.perp_dot(from - a), along.perp_dot(to - a));
    if from_side.abs() < rounding || to_side.abs() < rounding || from_side.signum() == to_side.signum() {
        return false;
    }
    let meeting = from.lerp(to, from_side / (from_side - to_side));
    let place = along.dot(meeting - a);
    place > rounding && place < a.distance(b) - rounding
}

fn explained(draws: &mut Draws<'_>, simulation: &mut Simulation) -> Verdict {
    let hash = simulation.state_hash();
    let ids = simulation.frame().id.to_vec();
    if !ids.is_empty() {
        let id = draws.pick(&ids);
        let explained = simulation.explain(id).ok_or(format!("agent {id} is not explained"))?;
        let finite =
            explained.chosen.is_finite() && explained.wanted.is_finite() && explained.preferred.is_finite();
        let planes =
            explained.half_planes.iter().all(|plane| plane.point.is_finite() && plane.direction.is_finite());
        let cones = explained
            .cones
            .iter()
            .all(|cone| cone.apex.is_finite() && det(cone.right, cone.left).is_finite());
        let others = explained.neighbors.iter().all(|other| DVec2::from(other.position).is_finite());
        if !(finite && planes && cones && others) {
            return Err(format!("agent {id} sees what is not finite: {explained:?}"));
        }
    }
    if simulation.explain(u32::MAX).is_some() {
        return Err("an agent that does not exist is explained".into());
    }
    if simulation.state_hash() == hash { Ok(()) } else { Err("to explain has changed the state".into()) }
}

/// The simulation through a file and back, on more threads.
fn saved(simulation: &Simulation, scenario: &Scenario) -> Result<Simulation, String> {
    let again = Scenario::parse(&scenario.source, "again.json", None)
        .map_err(|error| format!("its source: {error}"))?;
    if again != *scenario {
        return Err("its source makes another scenario".into());
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("case");
    let checkpoint = Checkpoint::of(simulation, Metrics::default(), None);
    checkpoint.and_then(|checkpoint| checkpoint.save(&path)).map_err(|error| error.to_string())?;
    let resumed = Checkpoint::load(&path).and_then(|checkpoint| checkpoint.resume(2));
    resumed.map_err(|error| error.to_string())
}
