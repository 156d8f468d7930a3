//! Who belongs together: the transitive closure of being close and moving alike, for all agents at once.
//!
//! The paper clusters anew for every agent, greedily, in O(nk). Links between two do not depend on who looks, so they are
//! found once a step with the neighbour index and joined with union-find: a few look-ups an agent, whatever n and k are.
//! They are kept, too, so that an agent that sees only a part of a group can follow them within that part.

use fearless_simd::{Level, Simd};
use glam::Vec2;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use throng_core::CHUNK;
use throng_core::dispatch;
use throng_core::parallel::{PerChunk, for_chunks};
use throng_core::space::{Candidates, LANES, rows_within};
use throng_core::world::View;

/// When two belong together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relation {
    /// Closer than this, m.
    pub distance: f32,
    /// Velocities that differ by less than this, m/s.
    pub velocity: f32,
}

impl Relation {
    /// Whether two rows belong together by themselves. Those on two sides of a wall do not.
    #[inline(always)]
    pub fn holds(&self, view: View<'_>, a: usize, b: usize) -> bool {
        let (at, other) = (view.position(a), view.position(b));
        at.distance_squared(other) < self.distance * self.distance
            && view.velocity(a).distance_squared(view.velocity(b)) < self.velocity * self.velocity
            && (view.walls.all().is_empty() || !view.walls.block_far(at, other))
    }
}

/// A group of at least two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Group {
    /// Mean position, m.
    pub center: Vec2,
    /// Mean velocity, m/s.
    pub velocity: Vec2,
    /// How far the furthest member's centre is from the mean, m.
    pub spread: f32,
    /// The same to the members' outlines, m.
    pub reach: f32,
    /// Where its members stand in [`Clustering::members`].
    pub first: u32,
    /// How many they are.
    pub count: u32,
    /// The cohort that all of them belong to, if there is one.
    pub cohort: Option<u16>,
}

/// The group of an agent that belongs to none.
pub const NONE: u32 = u32::MAX;

/// Who belongs together by one relation; kept from step to step for its memory only.
pub struct Clustering {
    pub relation: Relation,
    /// By row; [`NONE`] for those who are alone.
    pub group_of: Vec<u32>,
    /// In the order of their least ids, so that nothing depends on the order of rows.
    pub groups: Vec<Group>,
    /// Rows, group by group, in the order of ids.
    pub members: Vec<u32>,
    /// The same in the order of rows, and so of places: a run of rows is a run of these.
    by_row: Vec<u32>,
    /// The members' positions and radii, with room for a vector behind the last.
    pub x: Vec<f32>,
    pub y: Vec<f32>,
    pub radius: Vec<f32>,
    links: Links,
    /// The trees of union-find. A join hangs the higher root below the lower one, so that in the end every root
    /// is the lowest of its rows, whichever thread came first.
    parent: Vec<AtomicU32>,
    sizes: Vec<u32>,
    numbers: Vec<u32>,
}

/// Links of one chunk of rows, at most. Beyond that (where members may be far apart in a dense crowd) they would take all
/// memory, and none are kept.
const MOST_LINKS: usize = 64 * CHUNK;

/// Who is linked with whom.
#[derive(Default)]
struct Links {
    /// By chunk of rows.
    found: Vec<Vec<[u32; 2]>>,
    /// By row: where its list begins; empty where links are not kept.
    first: Vec<u32>,
    listed: Vec<u32>,
}

impl Clustering {
    pub fn new(relation: Relation) -> Clustering {
        Clustering {
            relation,
            group_of: Vec::new(),
            groups: Vec::new(),
            members: Vec::new(),
            by_row: Vec::new(),
            x: Vec::new(),
            y: Vec::new(),
            radius: Vec::new(),
            links: Links::default(),
            parent: Vec::new(),
            sizes: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Finds all groups.
    pub fn run(&mut self, view: View<'_>) {
        self.join(view);
        self.links.list(view.agents.len());
        self.number(&view.agents.id);
        self.sort_members();
        self.gather(view);
    }

    /// The rows of a group's members.
    pub fn members_of(&self, group: &Group) -> &[u32] {
        &self.members[group.first as usize..][..group.count as usize]
    }

    /// The rows of a group's members within a run of rows.
    pub fn members_within(&self, group: &Group, run: std::ops::Range<usize>) -> &[u32] {
        let rows = &self.by_row[group.first as usize..][..group.count as usize];
        let rows = &rows[rows.partition_point(|&row| (row as usize) < run.start)..];
        &rows[..rows.partition_point(|&row| (row as usize) < run.end)]
    }

    /// The rows that are linked with a row; `None` where links are too many to be kept.
    pub fn linked(&self, row: u32) -> Option<&[u32]> {
        let Links { first, listed, .. } = &self.links;
        let (start, end) = (first.get(row as usize)?, first.get(row as usize + 1)?);
        Some(&listed[*start as usize..*end as usize])
    }

    /// Union-find: every link makes two trees one.
    fn join(&mut self, view: View<'_>) {
        let agents = view.agents.len();
        self.parent.clear();
        self.parent.extend((0..agents as u32).map(AtomicU32::new));
        let chunks = agents.div_ceil(CHUNK);
        let found = &mut self.links.found;
        found.resize_with(found.len().max(chunks), Vec::new);
        let (level, relation, parent) = (Level::new(), self.relation, &self.parent);
        for_chunks(CHUNK, (0..agents, PerChunk(found)), &|_, (rows, PerChunk(links))| {
            let links = &mut links[0];
            links.clear();
            dispatch!(level, simd => links_of(simd, view, relation, rows.clone(), parent, links));
        });
        found[chunks..].iter_mut().for_each(Vec::clear);
    }

    /// Numbers groups by their least ids and lists who is in one.
    fn number(&mut self, id: &[u32]) {
        let Clustering { parent, group_of, groups, sizes, numbers, members, .. } = self;
        group_of.clear();
        group_of.extend((0..parent.len() as u32).map(|row| root(parent, row)));
        sizes.clear();
        sizes.resize(parent.len(), 0);
        numbers.clear();
        numbers.resize(parent.len(), NONE);
        group_of.iter().for_each(|&root| sizes[root as usize] += 1);
        members.clear();
        members.extend((0..parent.len() as u32).filter(|&row| sizes[group_of[row as usize] as usize] > 1));
        // By id, and so the first of a group that comes along has its least id.
        members.sort_unstable_by_key(|&row| id[row as usize]);
        groups.clear();
        let mut first = 0;
        for &row in members.iter() {
            let root = group_of[row as usize] as usize;
            if numbers[root] == NONE {
                numbers[root] = groups.len() as u32;
                groups.push(Group { first, count: sizes[root], ..Group::default() });
                first += sizes[root];
            }
        }
        group_of.iter_mut().for_each(|group| *group = numbers[*group as usize]);
    }

    /// Sorts members by group; within a group they stay in the order of ids, and once more in that of rows.
    fn sort_members(&mut self) {
        let Clustering { group_of, groups, members, by_row, sizes, numbers, .. } = self;
        let (next, sorted) = (sizes, numbers);
        let mut sort = |rows: &mut dyn Iterator<Item = u32>, sorted: &mut Vec<u32>| {
            next.clear();
            next.extend(groups.iter().map(|group| group.first));
            sorted.resize(members.len(), 0);
            for row in rows {
                let slot = &mut next[group_of[row as usize] as usize];
                sorted[*slot as usize] = row;
                *slot += 1;
            }
        };
        let mut rows = (0..group_of.len() as u32).filter(|&row| group_of[row as usize] != NONE);
        sort(&mut rows, by_row);
        sort(&mut members.iter().copied(), sorted);
        std::mem::swap(members, sorted);
    }

    /// What can be said of every group, added up in the order of ids.
    fn gather(&mut self, view: View<'_>) {
        let Clustering { groups, members, x, y, radius, .. } = self;
        let agents = view.agents;
        for (column, from) in [(&mut *x, &agents.x), (&mut *y, &agents.y), (&mut *radius, &agents.radius)] {
            column.clear();
            column.extend(members.iter().map(|&row| from[row as usize]));
            column.resize(members.len() + LANES, 0.0);
        }
        for group in groups {
            let rows = &members[group.first as usize..][..group.count as usize];
            *group = Group { first: group.first, ..Group::of(view, rows) };
        }
    }
}

impl Group {
    /// What can be said of rows, which are in the order of ids.
    pub fn of(view: View<'_>, rows: &[u32]) -> Group {
        let center = mean(rows, |row| view.position(row));
        let (mut spread, mut reach) = (0.0f32, 0.0f32);
        for row in rows.iter().map(|&row| row as usize) {
            let distance = center.distance(view.position(row));
            (spread, reach) = (spread.max(distance), reach.max(distance + view.agents.radius[row]));
        }
        let velocity = mean(rows, |row| view.velocity(row));
        let cohorts = || rows.iter().map(|&row| view.agents.cohort[row as usize]);
        let cohort = cohorts().next().filter(|&first| cohorts().all(|cohort| cohort == first));
        Group { center, velocity, spread, reach, first: 0, count: rows.len() as u32, cohort }
    }
}

/// The mean over rows, added up in their order.
pub fn mean(rows: &[u32], of: impl Fn(usize) -> Vec2) -> Vec2 {
    rows.iter().map(|&row| of(row as usize)).sum::<Vec2>() / rows.len().max(1) as f32
}

impl Links {
    /// Lists, for every row, the rows that it is linked with.
    fn list(&mut self, agents: usize) {
        let Links { found, first, listed } = self;
        first.clear();
        if found.iter().any(|links| links.len() >= MOST_LINKS) {
            return;
        }
        first.resize(agents + 1, 0);
        found.iter().flatten().flatten().for_each(|&row| first[row as usize] += 1);
        let mut sum = 0;
        for first in first.iter_mut() {
            sum += *first;
            *first = sum;
        }
        listed.resize(sum as usize, 0);
        // From their ends, which leaves `first` pointing at their beginnings.
        for &[a, b] in found.iter().flatten() {
            for (row, other) in [(a, b), (b, a)] {
                let slot = &mut first[row as usize];
                *slot -= 1;
                listed[*slot as usize] = other;
            }
        }
    }
}

/// The row that stands for all of a tree. Halves the way there for the next one who asks.
#[inline(always)]
fn root(parent: &[AtomicU32], mut row: u32) -> u32 {
    loop {
        let above = parent[row as usize].load(Relaxed);
        if above == row {
            return row;
        }
        let next = parent[above as usize].load(Relaxed);
        if next != above {
            // Whatever others write meanwhile, this stays above in the same tree: only roots are ever hung elsewhere.
            parent[row as usize].store(next, Relaxed);
        }
        row = next;
    }
}

/// Makes two trees one.
#[inline(always)]
fn unite(parent: &[AtomicU32], a: u32, b: u32) {
    let (mut a, mut b) = (root(parent, a), root(parent, b));
    while a != b {
        let (low, high) = (a.min(b), a.max(b));
        // Where another thread was faster, its root has moved up.
        if parent[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
            return;
        }
        (a, b) = (root(parent, low), root(parent, high));
    }
}

#[inline(always)]
fn links_of<S: Simd>(
    simd: S,
    view: View<'_>,
    relation: Relation,
    rows: std::ops::Range<usize>,
    parent: &[AtomicU32],
    links: &mut Vec<[u32; 2]>,
) {
    let mut candidates = Candidates::default();
    for row in rows {
        rows_within(
            simd,
            view.cells,
            row,
            [relation.distance; 2],
            &mut candidates,
            #[inline(always)]
            |other| {
                if other <= row {
                    return;
                }
                let (a, b) = (row as u32, other as u32);
                let kept = links.len() < MOST_LINKS;
                // Where links are not kept, another one between those who are joined already tells nothing.
                if (kept || root(parent, a) != root(parent, b)) && relation.holds(view, row, other) {
                    unite(parent, a, b);
                    if kept {
                        links.push([a, b]);
                    }
                }
            },
        );
    }
}
