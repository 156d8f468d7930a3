//! Anytime Dynamic A* against a plain search: after random sequences of changes, moves and interruptions, what it says of
//! its way is true.

use super::worlds::{Grid, Network, Tunnel, World, costs_from};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use throng_macroscale::search::{Aim, AnytimeDynamicAstar, Astar, Budget, Reversed, Settings, Status};

/// Sequences of each kind that every run of the tests goes through.
const SEQUENCES: u32 = 1_000;
/// The same for the long campaign.
const MANY_SEQUENCES: u32 = 50_000;
/// What rounding may make of a cost.
const ROUNDING: f64 = 1e-4;

#[derive(Clone, Debug)]
enum Op {
    Change(u32, u32, u8),
    Move(u32),
    /// Along the path by this many steps.
    Walk(usize),
    Improve(u64),
    Finish,
    Inflate,
    AddRoot(u32),
    RemoveRoot(u32),
    ChangeHeuristic(u32),
}

fn op() -> impl Strategy<Value = Op> {
    let state = any::<u32>;
    prop_oneof![
        8 => (state(), state(), any::<u8>()).prop_map(|(a, b, how)| Op::Change(a, b, how)),
        3 => state().prop_map(Op::Move),
        4 => (1..5_usize).prop_map(Op::Walk),
        6 => (0..40_u64).prop_map(Op::Improve),
        3 => Just(Op::Finish),
        1 => Just(Op::Inflate),
        1 => state().prop_map(Op::AddRoot),
        1 => state().prop_map(Op::RemoveRoot),
        1 => state().prop_map(Op::ChangeHeuristic),
    ]
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(), 1..60)
}

fn settings() -> impl Strategy<Value = Settings> {
    let inflation = prop_oneof![Just(1.0_f32), 1.0..4.0_f32];
    // Mostly never from scratch: mending is what is tested.
    let anew_share = prop_oneof![3 => Just(f32::INFINITY), 1 => Just(0.3_f32)];
    let step = 0.2..2.0_f32;
    (inflation, step, anew_share).prop_map(|(inflation, step, anew_share)| Settings {
        inflation,
        step,
        anew_share,
    })
}

fn network() -> impl Strategy<Value = Network> {
    let places = prop::collection::vec((0.0..10.0_f32, 0.0..10.0_f32), 2..40);
    places.prop_flat_map(|places| {
        let edges = prop::collection::vec((any::<u32>(), any::<u32>(), 1.0..3.0_f32), 0..places.len() * 4);
        edges.prop_map(move |edges| Network::new(places.clone(), &edges))
    })
}

fn grid() -> impl Strategy<Value = Grid> {
    (2..14_u32, 2..14_u32).prop_flat_map(|(width, height)| {
        let cells = (width * height) as usize;
        let extra = prop_oneof![6 => Just(0.0_f32), 2 => Just(f32::INFINITY), 1 => 0.0..3.0_f32];
        let extra = prop::collection::vec(extra, cells);
        extra.prop_map(move |extra| Grid { extra, ..Grid::new(width, height) })
    })
}

/// What is tested together: the search, its world, and what both should agree on.
struct Case<W> {
    world: W,
    search: AnytimeDynamicAstar<u32>,
    start: u32,
    roots: Vec<u32>,
    never_anew: bool,
}

impl<W: World> Case<W> {
    fn new(world: W, settings: Settings, start: u32, root: u32) -> Case<W> {
        let (start, root) = (start % world.len(), root % world.len());
        let search = AnytimeDynamicAstar::new(settings, Aim::At(start), &[root]);
        Case { world, search, start, roots: vec![root], never_anew: settings.anew_share == f32::INFINITY }
    }

    fn run(mut self, ops: &[Op]) -> TestCaseResult {
        for op in ops {
            self.apply(op)?;
        }
        self.finish()?;
        // Nothing was told too late, and nothing led in circles.
        prop_assert!(!self.never_anew || self.search.effort().restarts == 0);
        Ok(())
    }

    fn apply(&mut self, op: &Op) -> TestCaseResult {
        let states = self.world.len();
        match *op {
            Op::Change(a, b, how) => {
                let changed = self.world.change(a % states, b % states, how);
                self.search.edges_changed(&self.world, &changed);
            }
            Op::Move(start) => {
                self.start = start % states;
                self.search.move_start(self.start);
            }
            Op::Walk(steps) => {
                let mut path = Vec::new();
                if self.search.path(&self.world, &mut path).is_some() {
                    self.start = path[steps.min(path.len() - 1)];
                    self.search.move_start(self.start);
                }
            }
            Op::Improve(budget) => {
                let before = self.search.effort().expansions;
                let status = self.search.improve(&self.world, Budget::expansions(budget));
                prop_assert!(self.search.effort().expansions - before <= budget);
                self.check(status)?;
            }
            Op::Finish => self.finish()?,
            Op::Inflate => self.search.inflate(),
            Op::AddRoot(root) => {
                self.search.add_root(root % states);
                self.roots.push(root % states);
            }
            Op::RemoveRoot(root) => {
                let root = self.roots[root as usize % self.roots.len()];
                if self.roots.iter().any(|&other| other != root) {
                    self.roots.retain(|&other| other != root);
                    self.search.remove_root(&self.world, root);
                }
            }
            Op::ChangeHeuristic(turn) => {
                self.world.change_heuristic(turn);
                self.search.heuristic_changed();
            }
        }
        Ok(())
    }

    /// Every bound on the way to the optimum holds, and the end of it is what A* finds.
    fn finish(&mut self) -> TestCaseResult {
        loop {
            let status = self.search.improve(&self.world, Budget::unlimited());
            self.check(status)?;
            prop_assert!(!is_out_of_budget(status), "out of an unlimited budget");
            if let Status::Bounded(bound) = status {
                prop_assert_eq!(bound, self.search.inflation() * self.world.looseness());
            }
            if self.search.inflation() == 1.0 || status == Status::Unreachable {
                break;
            }
        }
        let mut astar = Astar::default();
        let find = |&root: &u32| {
            astar.find(&self.world, self.start, Aim::At(root), Budget::unlimited());
            astar.cost()
        };
        let cheapest = self.roots.iter().filter_map(find).min_by(f32::total_cmp);
        prop_assert_eq!(cheapest.is_some(), self.search.cost().is_some());
        if let (Some(a), Some(b)) = (cheapest, self.search.cost()) {
            prop_assert!(
                self.world.looseness() > 1.0 || (a - b).abs() <= ROUNDING as f32 * a,
                "A* {a}, AD* {b}"
            );
        }
        Ok(())
    }

    /// What a status says is true, and the way is one.
    fn check(&mut self, status: Status) -> TestCaseResult {
        let costs = costs_from(&self.world, self.start);
        let best = self.roots.iter().map(|&root| costs[root as usize]).fold(f64::INFINITY, f64::min);
        let mut path = Vec::new();
        let cost = self.search.path(&self.world, &mut path);
        prop_assert_eq!(cost, self.search.cost());
        check_status(status, cost, best)?;
        if let Some(cost) = cost {
            check_path(&self.world, &path, cost)?;
            prop_assert_eq!(path[0], self.start);
            prop_assert!(self.roots.contains(path.last().expect("a way has states")));
        }
        Ok(())
    }
}

fn is_out_of_budget(status: Status) -> bool {
    matches!(status, Status::OutOfBudget { .. })
}

fn check_status(status: Status, cost: Option<f32>, best: f64) -> TestCaseResult {
    let bound = match status {
        Status::Optimal => Some(1.0),
        Status::Bounded(bound) => Some(bound),
        Status::OutOfBudget { bound } => bound,
        Status::Unreachable => {
            prop_assert!(best == f64::INFINITY, "there is a way at {best}");
            None
        }
    };
    prop_assert_eq!(bound.is_some(), cost.is_some());
    if let (Some(bound), Some(cost)) = (bound, cost) {
        let (bound, cost) = (f64::from(bound), f64::from(cost));
        prop_assert!(bound >= 1.0 && best < f64::INFINITY);
        if bound == f64::INFINITY {
            return Ok(());
        }
        prop_assert!(cost >= best * (1.0 - ROUNDING), "{cost} is less than the optimum {best}");
        prop_assert!(best == 0.0 || cost <= bound * best * (1.0 + ROUNDING), "{cost} > {bound} × {best}");
    }
    Ok(())
}

/// Every step of a way exists, and their costs add up to what is claimed.
fn check_path(world: &impl World, path: &[u32], claimed: f32) -> TestCaseResult {
    let mut sum = 0.0;
    let mut edges = Vec::new();
    for step in path.windows(2) {
        edges.clear();
        world.successors(step[0], &mut edges);
        let costs = edges.iter().filter(|edge| edge.0 == step[1]).map(|edge| edge.1);
        let cost = costs.min_by(f32::total_cmp);
        prop_assert!(cost.is_some(), "no edge from {} to {}", step[0], step[1]);
        sum += f64::from(cost.unwrap_or(0.0));
    }
    prop_assert!((sum - f64::from(claimed)).abs() <= 1e-5 * sum, "steps cost {sum}, claimed {claimed}");
    Ok(())
}

/// A search in the direction of travel, from one state to the cheapest of several ends, in a changing world.
fn run_forward<W: World>(
    mut world: W,
    settings: Settings,
    start: u32,
    ends: &[u32],
    ops: &[Op],
) -> TestCaseResult {
    let states = world.len();
    let start = start % states;
    let mut search = AnytimeDynamicAstar::new(settings, Aim::Ends, &[start]);
    for op in ops.iter().chain([&Op::Finish]) {
        let status = match *op {
            Op::Change(a, b, how) => {
                let changed = world.change_into(a % states, b % states, how);
                search.edges_changed(&Reversed(&world), &changed);
                continue;
            }
            Op::Improve(budget) => search.improve(&Reversed(&world), Budget::expansions(budget)),
            Op::Finish => search.solve(&Reversed(&world), Budget::unlimited()),
            Op::Inflate => {
                search.inflate();
                continue;
            }
            _ => continue,
        };
        let costs = costs_from(&world, start);
        let best = ends.iter().map(|&end| costs[end as usize]).fold(f64::INFINITY, f64::min);
        let mut path = Vec::new();
        let cost = search.path(&Reversed(&world), &mut path);
        check_status(status, cost, best)?;
        if matches!(op, Op::Finish) {
            prop_assert!(matches!(status, Status::Optimal | Status::Unreachable), "ended with {status:?}");
        }
        if let Some(cost) = cost {
            check_path(&world, &path, cost)?;
            prop_assert_eq!(path[0], start);
            prop_assert!(ends.contains(path.last().expect("a way has states")));
        }
    }
    let mut astar = Astar::default();
    astar.find(&world, start, Aim::Ends, Budget::unlimited());
    prop_assert_eq!(astar.cost().is_some(), search.cost().is_some());
    Ok(())
}

fn some_ends(world: &impl World, ends: &[u32]) -> Vec<u32> {
    ends.iter().map(|end| end % world.len()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(SEQUENCES))]

    #[test]
    fn equals_astar_on_networks(
        world in network(), settings in settings(), start: u32, root: u32, ops in ops(),
    ) {
        Case::new(world, settings, start, root).run(&ops)?;
    }

    #[test]
    fn equals_astar_on_grids(world in grid(), settings in settings(), start: u32, root: u32, ops in ops()) {
        Case::new(world, settings, start, root).run(&ops)?;
    }

    #[test]
    fn bounds_hold_in_tunnels(
        grid in grid(), settings in settings(), start: u32, root: u32, ops in ops(), turn: u32, wild: bool,
    ) {
        Case::new(Tunnel::new(grid, turn, wild), settings, start, root).run(&ops)?;
    }

    #[test]
    fn forward_to_ends_equals_astar_on_networks(
        mut world in network(), settings in settings(), start: u32, ops in ops(),
        ends in prop::collection::vec(any::<u32>(), 1..4),
    ) {
        world.ends = some_ends(&world, &ends);
        let ends = world.ends.clone();
        run_forward(world, settings, start, &ends, &ops)?;
    }

    #[test]
    fn forward_to_ends_equals_astar_on_grids(
        mut world in grid(), settings in settings(), start: u32, ops in ops(),
        ends in prop::collection::vec(any::<u32>(), 1..4),
    ) {
        world.ends = some_ends(&world, &ends);
        let ends = world.ends.clone();
        run_forward(world, settings, start, &ends, &ops)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(MANY_SEQUENCES))]

    #[test]
    #[ignore = "long"]
    fn equals_astar_on_many_networks(
        world in network(), settings in settings(), start: u32, root: u32, ops in ops(),
    ) {
        Case::new(world, settings, start, root).run(&ops)?;
    }

    #[test]
    #[ignore = "long"]
    fn equals_astar_on_many_grids(world in grid(), settings in settings(), start: u32, root: u32, ops in ops()) {
        Case::new(world, settings, start, root).run(&ops)?;
    }

    #[test]
    #[ignore = "long"]
    fn bounds_hold_in_many_tunnels(
        grid in grid(), settings in settings(), start: u32, root: u32, ops in ops(), turn: u32, wild: bool,
    ) {
        Case::new(Tunnel::new(grid, turn, wild), settings, start, root).run(&ops)?;
    }

    #[test]
    #[ignore = "long"]
    fn forward_to_ends_equals_astar_on_many_grids(
        mut world in grid(), settings in settings(), start: u32, ops in ops(),
        ends in prop::collection::vec(any::<u32>(), 1..4),
    ) {
        world.ends = some_ends(&world, &ends);
        let ends = world.ends.clone();
        run_forward(world, settings, start, &ends, &ops)?;
    }
}
