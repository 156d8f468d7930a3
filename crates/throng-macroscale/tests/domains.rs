//! Anytime Dynamic A* over the planning domains themselves: after random sequences of changes and moves of the start it
//! finds what A* finds, and what it says of its bound on the way there is true.

use glam::DVec2;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use throng_core::space::Wall;
use throng_macroscale::domain::directed_navmesh::{DirectedNavmesh, Entry, Layout};
use throng_macroscale::domain::dynamic_navmesh::{Density, DynamicNavmesh, Gate, Traveller};
use throng_macroscale::domain::forecast::Forecast;
use throng_macroscale::domain::grid::{Grid, GridSpec};
use throng_macroscale::domain::occupancy::{Occupancy, Trajectory};
use throng_macroscale::domain::space_time::{Clearance, Goal, Moment, SpaceTime, Surroundings, Walk};
use throng_macroscale::navmesh::{Geometry, Settings as MeshSettings, Terrain};
use throng_macroscale::search::{
    Aim, AnytimeDynamicAstar, Astar, Budget, Domain, Inflated, Settings, Status,
};

const ROUNDING: f32 = 1e-4;
/// What a search may expand until it counts as one that does not end.
const ENDLESS: u64 = 3_000_000;

fn settings(inflation: f32) -> Settings {
    Settings { inflation, step: 0.7, anew_share: 1.0 }
}

/// Improves to the end, and holds every bound and the end against A*.
fn agree<D: Domain>(
    domain: &D,
    start: D::State,
    goal: D::State,
    search: &mut AnytimeDynamicAstar<D::State>,
) -> Result<(), TestCaseError> {
    let mut astar = Astar::default();
    let expected = astar.find(domain, start, Aim::At(goal), Budget::expansions(ENDLESS));
    loop {
        let status = search.improve(domain, Budget::expansions(ENDLESS));
        let cost = search.path(domain, &mut Vec::new());
        prop_assert_eq!(cost.is_some(), expected == Status::Optimal, "{:?}, A* {:?}", status, expected);
        match (status, cost.zip(astar.cost())) {
            (Status::Bounded(bound), Some((cost, best))) => {
                prop_assert!(cost <= best * bound * (1.0 + ROUNDING), "{cost} over {bound} times {best}");
            }
            (Status::Optimal, Some((cost, best))) => {
                prop_assert!((cost - best).abs() <= best * ROUNDING, "{cost}, A* {best}");
                return Ok(());
            }
            (Status::Unreachable, None) => return Ok(()),
            odd => return Err(TestCaseError::fail(format!("{odd:?}"))),
        }
    }
}

fn wall(a: [f32; 2], b: [f32; 2]) -> Wall {
    Wall { a: a.into(), b: b.into(), two_sided: true }
}

type Change = (bool, f64, f64, u32);

fn changes(most: usize) -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((any::<bool>(), 0.0..12.0_f64, 0.0..12.0_f64, any::<u32>()), 1..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn on_the_grid(changes in changes(12), ends in (0..144_u32, 0..144_u32), inflation in 1.0..3.0_f32) {
        let walls = [wall([3.0, 2.0], [3.0, 9.0]), wall([3.0, 9.0], [8.0, 9.0]), wall([8.0, 4.0], [12.0, 6.0])];
        let spec = GridSpec { low: DVec2::ZERO, high: DVec2::splat(12.0), side: 1.0, radius: 0.3 };
        let mut grid = Grid::between(&walls, spec).unwrap();
        let (mut start, goal) = ends;
        let mut search = AnytimeDynamicAstar::new(settings(inflation), Aim::At(start), &[goal]);
        let mut bodies: Vec<(DVec2, f64)> = Vec::new();
        for (adds, x, y, number) in changes {
            let mut changed = Vec::new();
            if adds {
                bodies.push((DVec2::new(x, y), f64::from(number % 3) * 0.6));
                grid.add_body(bodies[bodies.len() - 1].0, bodies[bodies.len() - 1].1, &mut changed);
            } else if !bodies.is_empty() && number % 2 == 0 {
                let (at, radius) = bodies.swap_remove(number as usize % bodies.len());
                grid.remove_body(at, radius, &mut changed);
            } else {
                start = number % 144;
                search.move_start(start);
            }
            search.edges_changed(&grid, &changed);
            agree(&grid, start, goal, &mut search)?;
        }
        prop_assert_eq!(search.effort().restarts, 0);
    }

    #[test]
    fn on_the_mesh(changes in changes(12), to in (0.1..11.9_f64, 0.1..11.9_f64), inflation in 1.0..3.0_f32) {
        let square = |low: f64, high: f64| vec![DVec2::splat(low), DVec2::new(high, low), DVec2::splat(high), DVec2::new(low, high)];
        let block: Vec<DVec2> = square(0.0, 3.0).into_iter().map(|at| at + DVec2::new(4.2, 3.7)).collect();
        let geometry = Geometry { walkable: vec![vec![square(0.0, 12.0)]], obstacles: vec![block], walls: vec![] };
        let terrain = Terrain::new(&geometry, MeshSettings { widest: 2.0, ..MeshSettings::default() }).unwrap();
        let mesh = terrain.mesh();
        let to = DVec2::new(to.0, to.1);
        let mut from = DVec2::new(0.5, 0.5);
        let mut density = Density::empty(mesh);
        let mut search = AnytimeDynamicAstar::new(settings(inflation), Aim::At(Gate::START), &[Gate::GOAL]);
        if mesh.locate(to).is_none() {
            return Ok(());
        }
        for (crowds, x, y, number) in changes {
            let at = DVec2::new(x, y);
            let mut changed = Vec::new();
            let polygon = mesh.locate(at);
            match polygon {
                Some(polygon) if crowds => {
                    density.phi[polygon] = f32::from(number as u8 % 4) * 0.5;
                    let domain = DynamicNavmesh::new(mesh, &density, 3.0, [from, to]).unwrap();
                    changed.extend(domain.gates_into(polygon));
                }
                Some(_) => {
                    from = at;
                    changed.push(Gate::START);
                }
                None => {}
            }
            let domain = DynamicNavmesh::new(mesh, &density, 3.0, [from, to]).unwrap();
            search.edges_changed(&domain, &changed);
            search.heuristic_changed();
            agree(&domain, Gate::START, Gate::GOAL, &mut search)?;
        }
        prop_assert_eq!(search.effort().restarts, 0);
    }

    /// Sides with a direction lead where sides lead, at the same cost; an inflated search keeps its bound, and what was found can
    /// be weighed again.
    #[test]
    fn on_the_directed_mesh(
        bodies in prop::collection::vec((0.0..12.0_f64, 0.0..12.0_f64), 0..30), wall in 0.0..12.0_f64,
        from in (0.1..11.9_f64, 0.1..11.9_f64), to in (0.1..11.9_f64, 0.1..11.9_f64), inflation in 1.0..3.0_f32,
    ) {
        let corners = |[left, bottom, right, top]: [f64; 4]| {
            vec![DVec2::new(left, bottom), DVec2::new(right, bottom), DVec2::new(right, top), DVec2::new(left, top)]
        };
        let obstacles = vec![corners([4.2, 3.7, 7.2, 6.7]), corners([8.0, -1.0, 8.5, wall])];
        let geometry = Geometry { walkable: vec![vec![corners([0.0, 0.0, 12.0, 12.0])]], obstacles, walls: vec![] };
        let terrain = Terrain::new(&geometry, MeshSettings { widest: 2.0, ..MeshSettings::default() }).unwrap();
        let (mesh, layout) = (terrain.mesh(), Layout::new(terrain.mesh()));
        let mut forecast = Forecast::new(mesh, 0.0);
        let stands = |&(x, y): &(f64, f64)| Some(Trajectory::standing(0.3, DVec2::new(x, y)));
        forecast.expect(mesh, bodies.iter().map(stands).enumerate().collect());
        let ends = [DVec2::from(from), DVec2::from(to)];
        let traveller = Traveller { from: ends[0], begin: 0.0, speed: 1.0, own: Some(0) };
        let expected = forecast.for_traveller(traveller, &[7]);
        let phi = (0..mesh.polygons()).map(|polygon| expected.phi(polygon)).collect();
        let density = Density { phi, drift: Vec::new() };
        let Some(plain) = DynamicNavmesh::new(mesh, &density, 3.0, ends) else { return Ok(()) };
        let mut best = Astar::default();
        best.find(&plain, Gate::START, Aim::At(Gate::GOAL), Budget::expansions(ENDLESS));
        let Some(directed) = DirectedNavmesh::new((mesh, &layout), expected, 3.0, ends) else {
            prop_assert_eq!(best.cost(), None);
            return Ok(());
        };
        let mut search = AnytimeDynamicAstar::new(settings(inflation), Aim::At(Entry::START), &[Entry::GOAL]);
        agree(&directed, Entry::START, Entry::GOAL, &mut search)?;
        let (cost, best) = (search.cost().unwrap(), best.cost().unwrap());
        prop_assert!((cost - best).abs() <= best * ROUNDING, "{cost} of {best}");
        let mut weighted = Astar::default();
        let directed = directed.for_search();
        weighted.find(&Inflated(&directed, inflation), Entry::START, Aim::At(Entry::GOAL), Budget::expansions(ENDLESS));
        let mut way = Vec::new();
        let cost = weighted.path(&mut way).unwrap();
        prop_assert!(cost >= best * (1.0 - ROUNDING) && cost <= best * inflation * (1.0 + ROUNDING), "{cost} of {best}");
        let crossings = directed.crossings(&way[1..way.len() - 1]);
        let rest = directed.rest(&crossings).unwrap();
        prop_assert!((rest.cost - cost).abs() <= cost * ROUNDING && (rest.expected - cost).abs() <= cost * ROUNDING, "{rest:?} {cost}");
        // From anywhere: never less than straight to the end.
        let Some(elsewhere) = DirectedNavmesh::new((mesh, &layout), expected, 3.0, [DVec2::new(0.1, 11.9), ends[1]]) else { return Ok(()) };
        let rest = elsewhere.rest(&crossings).unwrap();
        prop_assert!(rest.passed <= crossings.len() && rest.cost >= DVec2::new(0.1, 11.9).distance(ends[1]) as f32 * (1.0 - ROUNDING));
        let route = directed.route(&way[1..way.len() - 1]);
        prop_assert!(route[0].distance(ends[0]) < 1e-9 && route[route.len() - 1].distance(ends[1]) < 1e-9);
    }
}

fn space_time<'a>(clearance: &'a Clearance, published: &'a Occupancy) -> SpaceTime<'a> {
    let walk = Walk { lattice: 0.5, speed_step: 0.75, max_speed: 1.5, ..Walk::default() };
    let goal = Goal { at: DVec2::new(4.0, 0.5), radius: 0.3, window: (4.0, 7.0) };
    let around = Surroundings { clearance, published, own: None };
    SpaceTime::new(walk, around, (0.0, DVec2::ZERO), goal).unwrap().with_fovea(None).backward()
}

/// One sequence in space and time: others publish other paths, and the start goes along the plan.
fn in_space_time(changes: &[Change], inflation: f32) -> Result<(), TestCaseError> {
    let clearance = Clearance::new(&[wall([2.0, -1.0], [2.0, 1.0])], 0.25);
    let mut published = Occupancy::default();
    let mut start = space_time(&clearance, &published).moment(0.0, DVec2::ZERO, DVec2::ZERO);
    let mut search = AnytimeDynamicAstar::new(settings(inflation), Aim::At(start), &[Moment::THERE]);
    for &(publishes, x, y, number) in changes {
        if publishes {
            let body = number % 3;
            let before = published.get(body).cloned();
            let path = vec![
                (0.0, DVec2::new(x / 3.0, y / 3.0 - 2.0)),
                (8.0, DVec2::new(4.0 - x / 3.0, 2.0 - y / 4.0)),
            ];
            published.publish(body, Trajectory { radius: 0.4, path, stays: true });
            let domain = space_time(&clearance, &published);
            let paths: Vec<&Trajectory> = before.iter().chain(published.get(body)).collect();
            let known: Vec<Moment> = search.visited().map(|(state, _)| state).collect();
            let mut changed = Vec::new();
            let mut edges = Vec::new();
            for state in
                known.into_iter().filter(|&state| paths.iter().any(|path| domain.is_near(state, path)))
            {
                changed.push(state);
                edges.clear();
                domain.predecessors(state, &mut edges);
                changed.extend(edges.iter().map(|edge| edge.0));
            }
            search.edges_changed(&domain, &changed);
        } else {
            let domain = space_time(&clearance, &published);
            let mut plan = Vec::new();
            if search.path(&domain, &mut plan).is_some() && plan.len() > 3 && plan[1].time < 3 {
                start = plan[1];
                search.move_start(start);
            }
        }
        agree(&space_time(&clearance, &published), start, Moment::THERE, &mut search)?;
    }
    prop_assert_eq!(search.effort().restarts, 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn in_space_and_time(changes in changes(5), inflation in 1.0..3.0_f32) {
        in_space_time(&changes, inflation)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    #[ignore = "a thousand sequences take minutes"]
    fn in_space_and_time_at_length(changes in changes(8), inflation in 1.0..3.0_f32) {
        in_space_time(&changes, inflation)?;
    }
}
