//! Bodies on feet: the river that only these cross, and what must hold of every run in which an agent walks on such.

use glam::DVec2;
use throng::checkpoint::Checkpoint;
use throng::metrics::Metrics;
use throng::record::{RecordOptions, open_run};
use throng::report::Report;
use throng::scenario::Overrides;
use throng::{Recorder, Scenario, Simulation, builtin, expect};
use throng_core::world::{Footprint, Gaps, Legs, Planted, Side};

fn stones(seed: u64, motion: &str) -> Scenario {
    let overrides = Overrides { seed: Some(seed), motion: Some(motion.into()), ..Overrides::default() };
    builtin::find("multi-domain-stepping-stones").unwrap().open_with(&overrides).unwrap()
}

/// A run, and all that its feet have done.
struct Walk {
    simulation: Simulation,
    metrics: Metrics,
    prints: Vec<Planted>,
}

impl Walk {
    fn new(scenario: &Scenario) -> Walk {
        let simulation = Simulation::new(scenario).unwrap();
        Walk { simulation, metrics: Metrics::default(), prints: Vec::new() }
    }

    fn step(&mut self) {
        self.simulation.step();
        self.metrics.observe(&self.simulation);
        self.prints.extend_from_slice(self.simulation.frame().planted);
    }

    fn until_the_end(mut self) -> Walk {
        while !self.simulation.is_done() {
            self.step();
        }
        self
    }

    /// Every foot on ground, on its side and within reach of the other one.
    fn check_prints(&self, scenario: &Scenario) {
        let origin = self.simulation.frame().origin;
        let local = |ring: &Vec<DVec2>| ring.iter().map(|&corner| corner - origin).collect::<Vec<_>>();
        let gaps = Gaps::new(scenario.map.gaps.iter().map(local));
        let world = self.simulation.world();
        let legs: &Legs = world.view().legs.unwrap();
        let mut feet = vec![[None::<Footprint>; 2]; self.simulation.agents()];
        for Planted { id, foot } in &self.prints {
            assert!(legs.has_ground(foot, &gaps, 0.0), "{id}: {foot:?}");
            let known = &mut feet[*id as usize];
            if let Some(other) = known[foot.side.other() as usize].filter(|other| other.since < foot.since) {
                assert!(legs.reach(foot, &other), "{id}: {other:?} {foot:?}");
            }
            known[foot.side as usize] = Some(*foot);
        }
        assert!(self.prints.len() > 10);
    }
}

#[test]
fn a_river_is_crossed_over_stones_and_no_foot_is_wet() {
    for seed in 1..=20 {
        let scenario = stones(seed, "footsteps");
        let walk = Walk::new(&scenario).until_the_end();
        walk.check_prints(&scenario);
        let report = Report::new(&walk.simulation, &walk.metrics, std::time::Duration::from_secs(1));
        for outcome in expect::compare(&scenario.expect, &report) {
            assert!(outcome.holds(), "seed {seed}: {outcome}");
        }
        assert_eq!(walk.metrics.collisions, 0, "seed {seed}");
    }
}

#[test]
fn without_feet_nobody_gets_across() {
    for motion in ["holonomic", "acceleration-limited"] {
        let walk = Walk::new(&stones(1, motion)).until_the_end();
        assert_eq!(walk.simulation.arrived(), 0, "{motion}");
        assert!(walk.prints.is_empty());
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let scenario = stones(2, "footsteps");
    let hash = |threads| {
        let mut simulation = Simulation::with_threads(&scenario, threads).unwrap();
        (0..150).for_each(|_| simulation.step());
        simulation.state_hash()
    };
    let alone = hash(1);
    assert_eq!([hash(2), hash(8)], [alone; 2]);
}

#[test]
fn a_run_goes_on_from_the_middle_of_a_step() {
    let scenario = stones(3, "footsteps");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.throng");
    for before in [3, 38, 61] {
        let mut simulation = Simulation::with_threads(&scenario, 1).unwrap();
        (0..before).for_each(|_| simulation.step());
        let gaits = (0..8).filter_map(|id| simulation.world().feet.of(id)?.step);
        let in_the_middle = gaits.filter(|step| step.end > simulation.frame().time + 0.05).count();
        assert!(before == 3 || in_the_middle > 0, "all agents stand at step {before}");
        Checkpoint::of(&simulation, Metrics::default(), None).unwrap().save(&path).unwrap();
        simulation.explain(0);
        let mut resumed = Checkpoint::load(&path).unwrap().resume(2).unwrap();
        assert_eq!(resumed.state_hash(), simulation.state_hash());
        (0..60).for_each(|_| (simulation.step(), resumed.step()).0);
        assert_eq!(resumed.state_hash(), simulation.state_hash(), "after step {before}");
    }
}

#[test]
fn tasks_are_explained_down_to_the_feet() {
    let mut simulation = Simulation::new(&stones(1, "footsteps")).unwrap();
    (0..30).for_each(|_| simulation.step());
    let explained = simulation.explain(0).unwrap();
    let domains: Vec<&str> = explained.tasks.iter().map(|task| task.domain).collect();
    assert_eq!(domains, ["navmesh", "dynamic-navmesh", "grid", "space-time", "footsteps"]);
    let feet = &explained.tasks[4];
    assert!(!feet.plan.is_empty() && feet.plan.len() == feet.times.len());
}

/// Two crowds that walk through one another, guided by a local model alone.
#[test]
fn a_local_model_leads_bodies_on_feet_to_their_goals() {
    let text = "format = 1\nuntil = 90\n[pipeline]\nmacroscale = \"straight\"\nmicroscale = \"orca\"\nmotion = \"footsteps\"\n\
                [[agents]]\nname = \"east\"\ncount = 10\nplace = { grid = { from = [0, 0], columns = 2, spacing = 1.5 }, jitter = 0.2 }\n\
                goal = { offset = [20, 0] }\ngoal_radius = 0.5\n\
                [[agents]]\nname = \"west\"\ncount = 10\nplace = { grid = { from = [18, 0], columns = 2, spacing = 1.5 }, jitter = 0.2 }\n\
                goal = { offset = [-20, 0] }\ngoal_radius = 0.5\n";
    for seed in 1..=5 {
        let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
        let scenario = Scenario::parse_with(text, "field.toml", None, &overrides).unwrap();
        let walk = Walk::new(&scenario).until_the_end();
        println!(
            "seed {seed}: {} of 20 arrived after {} s, deepest overlap {} m",
            walk.simulation.arrived(),
            walk.simulation.frame().time,
            walk.metrics.max_overlap
        );
        assert_eq!(walk.simulation.arrived(), 20, "seed {seed}");
        assert!(walk.metrics.max_overlap < 1e-3, "seed {seed}: {} m", walk.metrics.max_overlap);
    }
}

#[test]
fn bad_gaps_are_told_like_bad_obstacles() {
    let complains = |gaps: &str, part: &str| {
        let text = format!(
            "format = 1\n[map]\ngaps = {gaps}\n[[agents]]\nplace = {{ points = [[0, 0]] }}\ngoal = {{ point = [9, 0] }}\n"
        );
        let error = Scenario::parse(&text, "gaps.toml", None).unwrap_err().to_string();
        assert!(error.contains("map.gaps[0]") && error.contains(part), "{error}");
    };
    complains("[[]]", "must have three points or more");
    complains("[[[1, 1], [2, 2]]]", "must have an area");
    complains("[[[1, 1], [2, 2], [1e12, 3]]]", "must not lie beyond");
    complains("[[[-1, -1], [1, -1], [1, 1], [-1, 1]]]", "over `map.gaps[0]`");
}

#[test]
fn every_footprint_is_recorded_once_also_by_a_run_that_was_interrupted() {
    let scenario = stones(5, "footsteps");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sqlite");
    // Feet are put down between frames too.
    let options = RecordOptions { fps: Some(1.0) };
    let mut walk = Walk::new(&scenario);
    let mut recorder = Recorder::create_with(&path, walk.simulation.info(), options).unwrap();
    recorder.frame(walk.simulation.frame()).unwrap();
    let mut position = None;
    for step in 0..90 {
        walk.step();
        recorder.frame(walk.simulation.frame()).unwrap();
        if step == 46 {
            position = Some((recorder.position().unwrap(), walk.prints.len()));
        }
    }
    recorder.finish().unwrap();
    let read = || open_run(&path).unwrap().footprints;
    let prints = read();
    assert_eq!(prints.len(), walk.prints.len());
    let origin = walk.simulation.frame().origin;
    for (read, Planted { id, foot }) in prints.iter().zip(&walk.prints) {
        assert_eq!((read.id, read.time, read.left), (i64::from(*id), foot.since, foot.side == Side::Left));
        assert!(DVec2::from(read.at).distance(origin + foot.at) < 1e-12);
    }
    let (position, before) = position.unwrap();
    assert!(before < prints.len() && before > 16);
    let info = walk.simulation.info();
    Recorder::resume(&path, info, options, &position).unwrap().finish().unwrap();
    assert_eq!(read(), prints[..before]);
}
