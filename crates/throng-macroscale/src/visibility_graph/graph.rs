//! The graph: nodes, and the straight ways between them that can be part of a shortest path.

use super::nodes::Nodes;
use crate::space::{Place, Space};
use glam::DVec2;
use throng_core::parallel;
use throng_core::space::Wall;
use throng_core::world::Jam;

/// A visibility graph for bodies of one radius.
#[derive(Debug)]
pub(super) struct Graph {
    pub space: Space,
    pub nodes: Nodes,
    /// Where the ways of a node begin in `ways`.
    first: Vec<u32>,
    ways: Vec<(u32, f64)>,
    jam: Jam,
}

impl Graph {
    /// The graph between walls for bodies of a radius.
    pub fn new(walls: &[Wall], radius: f32) -> Graph {
        let space = Space::new(walls, radius);
        let nodes = Nodes::new(&space);
        let pairs = visible_pairs(&space, &nodes);
        let (first, ways) = both_directions(&nodes, &pairs);
        Graph { space, nodes, first, ways, jam: Jam::default() }
    }

    /// Lets ways through a jam count as longer.
    pub fn weigh(&mut self, jam: &Jam) {
        self.jam.clone_from(jam);
        let Graph { nodes, first, ways, jam, .. } = self;
        // The search goes from the goal backwards: a way is walked towards the node that it is kept with.
        for node in 0..nodes.len() {
            for (other, cost) in &mut ways[first[node] as usize..first[node + 1] as usize] {
                let (from, to) = (nodes.at[*other as usize], nodes.at[node]);
                *cost = from.distance(to) + jam.delay(from, to);
            }
        }
    }

    /// Whether any way counts as longer than it is.
    pub fn is_jammed(&self) -> bool {
        !self.jam.is_empty()
    }

    /// As how much longer than it is a straight way counts, m.
    pub fn delay(&self, from: DVec2, to: DVec2) -> f64 {
        self.jam.delay(from, to)
    }

    /// The nodes that can be reached straight from a node, and how far they are.
    pub fn ways(&self, node: usize) -> &[(u32, f64)] {
        &self.ways[self.first[node] as usize..self.first[node + 1] as usize]
    }
}

/// What an agent at a place sees. It remembers the walls that were in the way: they are likely to be in the next one.
#[derive(Debug)]
pub(super) struct Eye<'a> {
    space: &'a Space,
    from: DVec2,
    keep: f64,
    blockers: [u32; BLOCKERS],
    blocker_count: usize,
}

/// Walls that an eye remembers.
const BLOCKERS: usize = 4;

impl<'a> Eye<'a> {
    pub fn new(space: &'a Space, place: &Place, keep: f64) -> Eye<'a> {
        Eye { space, from: place.at, keep, blockers: [0; BLOCKERS], blocker_count: 0 }
    }

    /// Whether a straight way is clear, see [`Space::is_clear`].
    pub fn sees(&mut self, to: DVec2) -> bool {
        let known = &mut self.blockers[..self.blocker_count];
        let blocks = |&wall: &u32| self.space.blocks(wall, self.from, to, self.keep);
        if let Some(place) = known.iter().position(blocks) {
            known[..=place].rotate_right(1);
            return false;
        }
        let blocker = self.space.blocker(self.from, to, self.keep);
        if let Some(wall) = blocker {
            self.blocker_count = (self.blocker_count + 1).min(BLOCKERS);
            self.blockers[..self.blocker_count].rotate_right(1);
            self.blockers[0] = wall;
        }
        blocker.is_none()
    }
}

/// For every node the later nodes that it sees.
fn visible_pairs(space: &Space, nodes: &Nodes) -> Vec<Vec<u32>> {
    let later = |node: usize| {
        let at = nodes.at[node];
        let mut eye = Eye::new(space, &space.place(at), space.keep());
        let sees = |&other: &usize| {
            nodes.is_taut(other, at) && nodes.is_taut(node, nodes.at[other]) && eye.sees(nodes.at[other])
        };
        (node + 1..nodes.len()).filter(sees).map(|other| other as u32).collect()
    };
    parallel::map(1, nodes.len(), &later)
}

fn both_directions(nodes: &Nodes, pairs: &[Vec<u32>]) -> (Vec<u32>, Vec<(u32, f64)>) {
    let mut first = vec![0u32; nodes.len() + 1];
    for (node, others) in pairs.iter().enumerate() {
        first[node + 1] += others.len() as u32;
        others.iter().for_each(|&other| first[other as usize + 1] += 1);
    }
    for node in 1..first.len() {
        first[node] += first[node - 1];
    }
    let mut next = first.clone();
    let mut ways = vec![(0, 0.0); first[nodes.len()] as usize];
    let mut add = |from: usize, to: usize| {
        ways[next[from] as usize] = (to as u32, nodes.at[from].distance(nodes.at[to]));
        next[from] += 1;
    };
    for (node, others) in pairs.iter().enumerate() {
        for &other in others {
            add(node, other as usize);
            add(other as usize, node);
        }
    }
    (first, ways)
}
