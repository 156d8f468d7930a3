//! Cells and times: a graph without end, and goals that are a place and a window of time. Forward to ends that only a test
//! knows, and backward from a set of goals, must agree with each other and with A*.

use super::worlds::Grid;
use proptest::prelude::*;
use throng_macroscale::search::{
    Aim, AnytimeDynamicAstar, Astar, Budget, Domain, Reversed, Settings, Status,
};

/// A cell and a number of steps since the beginning.
type Spot = (u32, u32);

/// An agent that goes to and fro through the cells of a row.
#[derive(Clone, Debug)]
struct Mover {
    row: u32,
    phase: u32,
}

#[derive(Clone, Debug)]
struct SpaceTime {
    grid: Grid,
    movers: Vec<Mover>,
    goal: u32,
    window: (u32, u32),
}

/// Standing has its price too.
const STANDING: f32 = 0.3;

impl SpaceTime {
    fn spot(&self, mover: &Mover, time: u32) -> Spot {
        let turn = 2 * (self.grid.width - 1);
        let along = (time + mover.phase) % turn;
        (self.grid.cell(along.min(turn - along), mover.row % self.grid.height), time)
    }

    fn is_free(&self, spot: Spot) -> bool {
        self.movers.iter().all(|mover| self.spot(mover, spot.1) != spot)
    }

    /// Steps that a way needs at least.
    fn steps(&self, from: u32, to: u32) -> u32 {
        let width = self.grid.width;
        (from % width).abs_diff(to % width).max((from / width).abs_diff(to / width))
    }
}

impl Domain for SpaceTime {
    type State = Spot;

    fn successors(&self, (cell, time): Spot, out: &mut Vec<(Spot, f32)>) {
        let mut cells = vec![(cell, STANDING)];
        self.grid.successors(cell, &mut cells);
        let spots = cells.into_iter().map(|(cell, cost)| ((cell, time + 1), cost));
        out.extend(spots.filter(|edge| self.is_free(edge.0)));
    }

    fn predecessors(&self, (cell, time): Spot, out: &mut Vec<(Spot, f32)>) {
        if time > 0 && self.is_free((cell, time)) {
            let mut cells = vec![(cell, STANDING)];
            self.grid.predecessors(cell, &mut cells);
            out.extend(cells.into_iter().map(|(cell, cost)| ((cell, time - 1), cost)));
        }
    }

    fn heuristic(&self, from: Spot, to: Spot) -> f32 {
        let in_time = from.1 + self.steps(from.0, to.0) <= to.1;
        if in_time { self.grid.heuristic(from.0, to.0) } else { f32::INFINITY }
    }

    fn is_end(&self, (cell, time): Spot) -> bool {
        cell == self.goal && (self.window.0..=self.window.1).contains(&time)
    }

    fn to_end(&self, (cell, time): Spot) -> f32 {
        let in_time = time + self.steps(cell, self.goal) <= self.window.1;
        if in_time { self.grid.heuristic(cell, self.goal) } else { f32::INFINITY }
    }
}

fn space_time() -> impl Strategy<Value = SpaceTime> {
    let size = (3..8_u32, 3..8_u32);
    let movers =
        prop::collection::vec((any::<u32>(), 0..20_u32).prop_map(|(row, phase)| Mover { row, phase }), 0..5);
    (size, movers, any::<u32>(), 0..14_u32, 0..5_u32).prop_flat_map(|(size, movers, goal, from, length)| {
        let cells = (size.0 * size.1) as usize;
        let extra = prop::collection::vec(prop_oneof![5 => Just(0.0_f32), 1 => Just(f32::INFINITY)], cells);
        extra.prop_map(move |extra| SpaceTime {
            grid: Grid { extra, ..Grid::new(size.0, size.1) },
            movers: movers.clone(),
            goal: goal % cells as u32,
            window: (from, from + length),
        })
    })
}

/// Solves both ways and compares them with A*.
fn agree(
    domain: &SpaceTime,
    start: Spot,
    forward: &mut AnytimeDynamicAstar<Spot>,
    backward: &mut AnytimeDynamicAstar<Spot>,
) -> Result<(), TestCaseError> {
    let mut astar = Astar::default();
    let expected = astar.find(domain, start, Aim::Ends, Budget::unlimited());
    prop_assert_eq!(forward.solve(&Reversed(domain), Budget::unlimited()), expected);
    prop_assert_eq!(backward.solve(domain, Budget::unlimited()), expected);
    if expected == Status::Optimal {
        let (mut there, mut back) = (Vec::new(), Vec::new());
        let best = astar.cost().unwrap_or(f32::NAN);
        for cost in [forward.path(&Reversed(domain), &mut there), backward.path(domain, &mut back)] {
            prop_assert!(cost.is_some_and(|cost| (cost - best).abs() <= 1e-4 * best), "{cost:?}, A* {best}");
        }
        for path in [there, back] {
            prop_assert_eq!(path[0], start);
            prop_assert!(domain.is_end(path[path.len() - 1]));
            prop_assert!(path[1..].iter().all(|&spot| domain.is_free(spot)));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn forward_and_backward_equal_astar(
        mut domain in space_time(),
        start: u32,
        inflation in 1.0..3.0_f32,
        phases in prop::collection::vec((0..5_usize, 0..20_u32), 0..6),
    ) {
        let start = (start % domain.grid.extra.len() as u32, 0);
        let settings = Settings { inflation, anew_share: 1.0, ..Settings::default() };
        let goals: Vec<Spot> = (domain.window.0..=domain.window.1).map(|time| (domain.goal, time)).collect();
        let mut forward = AnytimeDynamicAstar::new(settings, Aim::Ends, &[start]);
        let mut backward = AnytimeDynamicAstar::new(settings, Aim::At(start), &goals);
        agree(&domain, start, &mut forward, &mut backward)?;
        for (mover, phase) in phases {
            if mover >= domain.movers.len() {
                continue;
            }
            let times = 0..=domain.window.1 + 1;
            let mut spots: Vec<Spot> = times.clone().map(|time| domain.spot(&domain.movers[mover], time)).collect();
            domain.movers[mover].phase = phase;
            spots.extend(times.map(|time| domain.spot(&domain.movers[mover], time)));
            forward.edges_changed(&Reversed(&domain), &spots);
            // Backward it is told of those who could step there.
            let mut tails = Vec::new();
            for &(cell, time) in spots.iter().filter(|spot| spot.1 > 0) {
                tails.extend(domain.grid.around(cell).into_iter().map(|cell| (cell, time - 1)));
            }
            backward.edges_changed(&domain, &tails);
            forward.improve(&Reversed(&domain), Budget::expansions(5));
            agree(&domain, start, &mut forward, &mut backward)?;
        }
        prop_assert_eq!(forward.effort().restarts + backward.effort().restarts, 0);
    }
}
