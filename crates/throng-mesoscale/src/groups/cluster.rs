//! Who belongs together: the transitive closure of being close and moving alike, for everybody at once.
//!
//! The paper clusters anew for every agent, greedily, in O(nk). Links between two do not depend on who looks, so they are
//! found once a step with the neighbour index and joined with union-find: a few look-ups an agent, whatever n and k are.

use fearless_simd::{Level, Simd, dispatch};
use glam::Vec2;
use rayon::prelude::*;
use throng_core::CHUNK;
use throng_core::space::{Crowd, LANES, rows_within};
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
}

/// The group of somebody who belongs to nobody.
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
    /// The members' positions and radii, with room for a vector behind the last.
    pub x: Vec<f32>,
    pub y: Vec<f32>,
    pub radius: Vec<f32>,
    links: Vec<Vec<[u32; 2]>>,
    parent: Vec<u32>,
    sorted: Vec<u32>,
    sizes: Vec<u32>,
}

impl Clustering {
    pub fn new(relation: Relation) -> Clustering {
        Clustering {
            relation,
            group_of: Vec::new(),
            groups: Vec::new(),
            members: Vec::new(),
            x: Vec::new(),
            y: Vec::new(),
            radius: Vec::new(),
            links: Vec::new(),
            parent: Vec::new(),
            sorted: Vec::new(),
            sizes: Vec::new(),
        }
    }

    /// Finds all groups.
    pub fn run(&mut self, view: View<'_>) {
        self.find_links(view);
        self.join(view.agents.len());
        self.number(&view.agents.id);
        self.sort_members();
        self.gather(view);
    }

    /// The rows of a group's members.
    pub fn members_of(&self, group: &Group) -> &[u32] {
        &self.members[group.first as usize..][..group.count as usize]
    }

    fn find_links(&mut self, view: View<'_>) {
        let chunks = view.agents.len().div_ceil(CHUNK);
        self.links.resize_with(self.links.len().max(chunks), Vec::new);
        let (level, relation) = (Level::new(), self.relation);
        self.links[..chunks].par_iter_mut().enumerate().for_each(|(chunk, links)| {
            let rows = chunk * CHUNK..((chunk + 1) * CHUNK).min(view.agents.len());
            links.clear();
            dispatch!(level, simd => links_of(simd, view, relation, rows, links));
        });
        self.links[chunks..].iter_mut().for_each(Vec::clear);
    }

    /// Union-find: every link makes two trees one.
    fn join(&mut self, agents: usize) {
        self.parent.clear();
        self.parent.extend(0..agents as u32);
        for &[a, b] in self.links.iter().flatten() {
            let (a, b) = (root(&mut self.parent, a), root(&mut self.parent, b));
            self.parent[a.max(b) as usize] = a.min(b);
        }
    }

    /// Numbers groups by their least ids and lists who is in which.
    fn number(&mut self, id: &[u32]) {
        let Clustering { links, parent, group_of, sizes, members, .. } = self;
        group_of.clear();
        group_of.resize(parent.len(), NONE);
        members.clear();
        sizes.clear();
        for &row in links.iter().flatten().flatten() {
            if std::mem::replace(&mut group_of[row as usize], 0) == NONE {
                members.push(row);
            }
        }
        // By id, and so the first of a group that comes along has its least id.
        members.sort_unstable_by_key(|&row| id[row as usize]);
        for &row in members.iter() {
            let root = root(parent, row) as usize;
            if parent[root] & NUMBERED == 0 {
                parent[root] = sizes.len() as u32 | NUMBERED;
                sizes.push(0);
            }
            let number = parent[root] & !NUMBERED;
            group_of[row as usize] = number;
            sizes[number as usize] += 1;
        }
    }

    /// Sorts members by group; within a group they stay in the order of ids.
    fn sort_members(&mut self) {
        let Clustering { group_of, groups, members, sorted, sizes, .. } = self;
        let mut first = 0;
        groups.clear();
        for size in sizes.iter_mut() {
            groups.push(Group { first, count: *size, ..Group::default() });
            first += std::mem::replace(size, first);
        }
        sorted.resize(members.len(), 0);
        for &row in members.iter() {
            let slot = &mut sizes[group_of[row as usize] as usize];
            sorted[*slot as usize] = row;
            *slot += 1;
        }
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
        Group { center, velocity, spread, reach, first: 0, count: rows.len() as u32 }
    }
}

/// The mean over rows, added up in their order.
pub fn mean(rows: &[u32], of: impl Fn(usize) -> Vec2) -> Vec2 {
    rows.iter().map(|&row| of(row as usize)).sum::<Vec2>() / rows.len().max(1) as f32
}

/// Marks a parent that has been replaced by the number of its group; there are never so many rows.
const NUMBERED: u32 = 1 << 31;

/// The row that stands for all of a tree. Halves the way there for the next one who asks.
fn root(parent: &mut [u32], mut row: u32) -> u32 {
    loop {
        let above = parent[row as usize];
        if above == row || above & NUMBERED != 0 {
            return row;
        }
        let next = parent[above as usize];
        if next & NUMBERED == 0 {
            parent[row as usize] = next;
        }
        row = above;
    }
}

#[inline(always)]
fn links_of<S: Simd>(
    simd: S,
    view: View<'_>,
    relation: Relation,
    rows: std::ops::Range<usize>,
    links: &mut Vec<[u32; 2]>,
) {
    let mut crowd = Crowd::default();
    for row in rows {
        rows_within(
            simd,
            view.cells,
            row,
            [relation.distance; 2],
            &mut crowd,
            #[inline(always)]
            |other| {
                if other > row && relation.holds(view, row, other) {
                    links.push([row as u32, other as u32]);
                }
            },
        );
    }
}
