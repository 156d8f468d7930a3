//! T(Σ3) of an agent on the way to a waypoint: cells around those who come to rest. It is kept beside T(Σ4), and mended as others
//! come to rest or go on. Where it finds no way there is none in space and time either, until one of them says something else.

use crate::domain::grid::Grid;
use crate::multi_domain::plan::blocked::Blocked;
use crate::multi_domain::plan::deliberation::{Ego, Meter, Snapshot};
use crate::multi_domain::plan::direct::Others;
use crate::multi_domain::schedule::tasks::Task;
use crate::search::{Aim, AnytimeDynamicAstar, Budget, Domain, Settings, Status};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use throng_core::geom::double::distance_to_segment;

/// Somebody who stands: where, and as near as one can come, m.
pub(crate) type Standing = (DVec2, f64);

/// As many cells count as one expansion of a search in space and time.
pub(crate) const CELLS_OF_AN_EXPANSION: u64 = 8;
/// Cells of a way around those who stand.
pub(crate) const MOST_STEPS: u64 = 4_000;
/// How many times the shortest a way may be that is only to tell that there is one.
const ANY: f32 = 1.5;

/// The search, and what it relies on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeptGrid {
    search: AnytimeDynamicAstar<u32>,
    end: u32,
    /// As far around it one may walk.
    line: Vec<DVec2>,
    standing: Vec<Standing>,
}

impl KeptGrid {
    /// A search along a line, from a cell at its end back to where an agent is.
    pub fn new(line: &[DVec2], end: u32) -> KeptGrid {
        let settings = Settings { inflation: ANY, ..Settings::default() };
        // Where it aims at is said before it searches.
        let search = AnytimeDynamicAstar::new(settings, Aim::At(end), &[end]);
        KeptGrid { search, end, line: line.to_vec(), standing: Vec::new() }
    }

    /// The memory that it needs, whatever it holds.
    pub fn size(&self) -> usize {
        self.search.size()
            + (self.line.len() * size_of::<DVec2>())
            + self.standing.len() * size_of::<Standing>()
    }

    /// The memory it holds.
    pub fn bytes(&self) -> usize {
        let lists =
            self.line.capacity() * size_of::<DVec2>() + self.standing.capacity() * size_of::<Standing>();
        self.search.bytes() + lists
    }

    pub fn fingerprint(&self) -> u64 {
        self.search.fingerprint(u64::from)
    }

    /// Tells it who stands now.
    fn note(&mut self, domain: &Around<'_>, now: Vec<Standing>) {
        let before = std::mem::take(&mut self.standing);
        let went = before.iter().filter(|one| !now.contains(one));
        let came = now.iter().filter(|one| !before.contains(one));
        let mut changed: Vec<u32> = went.chain(came).flat_map(|one| cells_around(domain.grid, one)).collect();
        changed.sort_unstable();
        changed.dedup();
        // Each is looked at again; a new search looks at about as many cells as this one knows.
        if changed.len() > self.search.nodes() {
            self.search.restart(Aim::At(self.end), &[self.end]);
        } else {
            self.search.edges_changed(domain, &changed);
        }
        self.standing = now;
    }
}

/// Cells that somebody who stands may close, and those beside them.
fn cells_around<'a>(grid: &'a Grid, &(at, reach): &Standing) -> impl Iterator<Item = u32> + use<'a> {
    let around = reach + grid.side();
    let corners = grid.cells_between(at - around, at + around).into_iter();
    corners.flat_map(move |[low, high]| {
        let row = move |line: u32| (low[0]..=high[0]).map(move |column| line * grid.columns() + column);
        (low[1]..=high[1]).flat_map(row)
    })
}

impl Snapshot<'_> {
    /// Whether those who come to rest within the horizon leave no way along a line: then there is none in space and time.
    pub fn is_cut_off(
        &self,
        ego: &Ego<'_>,
        kept: &mut KeptGrid,
        start: u32,
        others: Others<'_>,
        meter: &mut Meter,
    ) -> bool {
        let Some(grid) = ego.map.grid.as_ref() else { return false };
        let width = 2.0 * f64::from(self.params.width);
        let standing = self.coming_to_rest(ego, &kept.line, width, others);
        if standing.is_empty() && kept.search.effort().expansions == 0 {
            return false;
        }
        let line = std::mem::take(&mut kept.line);
        let domain = Around { grid, standing: &Blocked::new(grid, &standing), tunnel: Some((&line, width)) };
        let before = kept.search.effort();
        kept.note(&domain, standing);
        kept.search.move_start(start);
        let status = kept.search.improve(&domain, Budget::expansions(MOST_STEPS));
        let after = kept.search.effort();
        let looked_at = after.expansions - before.expansions + after.reevaluations - before.reevaluations;
        meter.charge(Task::Grid, looked_at, CELLS_OF_AN_EXPANSION);
        kept.line = line;
        status == Status::Unreachable
    }

    /// Others near a line who come to rest within the horizon; who touches already is gone around as one can.
    fn coming_to_rest(&self, ego: &Ego<'_>, line: &[DVec2], width: f64, others: Others<'_>) -> Vec<Standing> {
        let (low, high) = line.iter().fold((ego.at, ego.at), |(low, high), &at| (low.min(at), high.max(at)));
        let until = self.view.now + self.horizon();
        let published = &self.reservations.published;
        let near = published.within(low - width, high + width, [self.view.now, until]);
        let touches = |body: u32| ego.touched.iter().any(|touched| touched.0 == body);
        let counts = |body: &u32| *body != ego.body && !others.ignores(*body) && !touches(*body);
        let paths = near.into_iter().filter(counts).filter_map(|body| published.get(body));
        let at_rest = paths.filter(|path| path.stays).filter_map(|path| {
            let &(time, at) = path.path.last()?;
            let reach = path.radius + ego.radius;
            // Who comes later than one can be there lets one by.
            let soonest = self.view.now + (at.distance(ego.at) - reach).max(0.0) / ego.max_speed.max(0.05);
            (time <= soonest.min(until)).then_some((at, reach))
        });
        at_rest.collect()
    }
}

/// The grid, with some who stand on it.
pub(crate) struct Around<'a> {
    pub grid: &'a Grid,
    pub standing: &'a Blocked,
    /// A line, and as far as one may be from it, m.
    pub tunnel: Option<(&'a [DVec2], f64)>,
}

impl Around<'_> {
    fn is_free(&self, cell: u32) -> bool {
        let is_near = |&(line, width): &(&[DVec2], f64)| {
            let at = self.grid.place(cell);
            line.windows(2).any(|pair| distance_to_segment(at, pair[0], pair[1]) <= width)
        };
        !self.standing.is_blocked(self.grid, cell) && self.tunnel.iter().all(is_near)
    }
}

impl Domain for Around<'_> {
    type State = u32;

    fn successors(&self, cell: u32, out: &mut Vec<(u32, f32)>) {
        let before = out.len();
        self.grid.successors(cell, out);
        let mut kept = before;
        for index in before..out.len() {
            if self.is_free(out[index].0) {
                out[kept] = out[index];
                kept += 1;
            }
        }
        out.truncate(kept);
    }

    fn predecessors(&self, cell: u32, out: &mut Vec<(u32, f32)>) {
        if self.is_free(cell) {
            self.grid.predecessors(cell, out);
        }
    }

    fn heuristic(&self, from: u32, to: u32) -> f32 {
        self.grid.heuristic(from, to)
    }
}
