//! The map in cells, and in finer ones where something cuts through them.
//!
//! A cell that keeps clear of walls is one node. A cell that does not, or that the edge of costly ground passes, is split
//! into eight times eight parts, each a node where a body keeps clear of walls in its middle. Parts that touch are linked
//! where the straight way between their middles is clear, also across cells. So doors may be much narrower than a cell, and
//! walls as thin as they like.
//!
//! What is found is what there is: every link is a way that the body fits through, and parts show every way on which it has
//! 0.71 parts to spare on all sides, because no place is further from a part's middle. Narrower ones are found from the walls
//! themselves ([`Passages`]).

use super::AT;
use super::passages::Passages;
use crate::corners::Segment;
use crate::space::{Place, Space};
use glam::{DVec2, IVec2, Vec2};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
use throng_core::CHUNK;
use throng_core::geom::double::distance_to_segment;
use throng_core::parallel;
use throng_core::world::{Terrain, View};

/// Parts a side of a split cell.
const SIDE: i32 = 8;
const PARTS: usize = (SIDE * SIDE) as usize;
/// More cells than this are not laid out: they grow instead. 724 a side, or 2.9 km of cells of 4 m.
const MOST_CELLS: f64 = (1 << 19) as f64;
/// More split cells than this are not laid out: all grow instead. Enough for some 16 km of walls in cells of 4 m.
const MOST_SPLIT: usize = 1 << 12;
/// Cells around everything, where ways lead past the outermost walls.
const MARGIN: f64 = 2.0;
/// Stands for a split cell's number where a cell is whole.
const WHOLE: u32 = u32::MAX;
/// As far as an agent looks for a part that it can get to, in parts.
const REACH: i32 = 2;
/// The middle of a passage is linked to as many parts: it ends where there is room for one.
const MOST_PARTS_BESIDE: usize = 4;

/// Counter-clockwise from east; the opposite of `d` is `d ^ 4`.
const DIRECTIONS: [IVec2; 8] = [
    IVec2::new(1, 0),
    IVec2::new(1, 1),
    IVec2::new(0, 1),
    IVec2::new(-1, 1),
    IVec2::new(-1, 0),
    IVec2::new(-1, -1),
    IVec2::new(0, -1),
    IVec2::new(1, -1),
];

/// A whole cell, by its number; behind these the parts of split cells, and behind these the middles of narrow passages.
pub(super) type Node = u32;

/// What a node is.
enum Kind {
    Cell,
    /// The split cell that it belongs to, and which of its parts.
    Part(usize, usize),
    /// Where it is, m from the world's origin.
    Passage(DVec2),
}

/// The map for bodies of one radius.
#[derive(Debug)]
pub(super) struct Grid {
    pub space: Space,
    /// The same for bodies that are a little wider.
    pub roomy: Space,
    low: DVec2,
    /// Of a part, m.
    part: f64,
    columns: i32,
    lines: i32,
    /// By cell: the number of the split cell, or [`WHOLE`].
    cells: Vec<u32>,
    split: Vec<Split>,
    passages: Passages,
    /// By node: as how many metres one counts. Empty where it is one everywhere.
    ground: Vec<f32>,
    /// By node: equal where a path leads from one to the other. 0 where no agent can be.
    region: Vec<u32>,
}

#[derive(Debug)]
struct Split {
    at: IVec2,
    /// A bit for each part.
    free: u64,
    /// By part: a bit for each direction.
    links: [u8; PARTS],
}

/// How far the parts of a cell are from walls, m, at least as long as that matters.
struct Draft {
    cell: u32,
    room: [f32; PARTS],
}

impl Grid {
    /// The map for bodies of a radius, in cells of a side, m, or larger ones where they would be too many.
    pub fn new(view: View<'_>, radius: f32, side: f32) -> Grid {
        let space = Space::new(view.walls.all(), radius);
        let (low, high) = bounds(view, &space, f64::from(side));
        let mut side = f64::from(side);
        loop {
            if let Some(mut grid) = Grid::laid_out(&space, [low, high], side)
                && let Some(drafts) = grid.drafts(&space, view.terrain)
            {
                grid.space = space;
                grid.roomy = Space::new(view.walls.all(), radius + AT);
                grid.split_cells(drafts);
                grid.find_passages(view);
                grid.weigh(view.terrain);
                grid.find_regions();
                return grid;
            }
            side *= 2.0;
        }
    }

    /// All cells whole; `None` where they are too many.
    fn laid_out(space: &Space, [low, high]: [DVec2; 2], side: f64) -> Option<Grid> {
        let margin = MARGIN + space.radius / side;
        let (first, last) = ((low / side - margin).floor(), (high / side + margin).floor());
        let cells = last - first + 1.0;
        (cells.x * cells.y <= MOST_CELLS).then(|| Grid {
            space: Space::new(&[], 0.0),
            roomy: Space::new(&[], 0.0),
            low: first * side,
            part: side / f64::from(SIDE),
            columns: cells.x as i32,
            lines: cells.y as i32,
            cells: vec![WHOLE; (cells.x * cells.y) as usize],
            split: Vec::new(),
            passages: Passages::default(),
            ground: Vec::new(),
            region: Vec::new(),
        })
    }

    /// Side of a cell, m.
    pub fn side(&self) -> f64 {
        self.part * f64::from(SIDE)
    }

    /// How many nodes there are, blocked ones too.
    pub fn len(&self) -> usize {
        self.first_passage() + self.passages.places.at.len()
    }

    fn first_passage(&self) -> usize {
        self.cells.len() + PARTS * self.split.len()
    }

    /// Whether ground costs differ.
    pub fn has_terrain(&self) -> bool {
        !self.ground.is_empty()
    }

    /// Calls `visit` with the cells that a segment comes as near to as `reach`, and with some that are a little further.
    fn each_touched(&self, a: DVec2, b: DVec2, reach: f64, mut visit: impl FnMut(u32)) {
        let side = self.side();
        let (a, b) = if a.y <= b.y { (a, b) } else { (b, a) };
        let cell = |metres: f64, cells: i32| (metres / side).floor().clamp(0.0, f64::from(cells - 1)) as i32;
        let furthest = reach + side * FRAC_1_SQRT_2;
        for line in cell(a.y - reach - self.low.y, self.lines)..=cell(b.y + reach - self.low.y, self.lines) {
            // The part of the segment that can be near to this line of cells.
            let bottom = self.low.y + f64::from(line) * side - furthest;
            let x_at = |y: f64| {
                let share = if b.y > a.y { ((y - a.y) / (b.y - a.y)).clamp(0.0, 1.0) } else { 0.0 };
                a.x + (b.x - a.x) * share
            };
            let (mut from, mut to) = (x_at(bottom), x_at(bottom + side + 2.0 * furthest));
            if a.y == b.y {
                to = b.x;
            }
            (from, to) = (from.min(to) - furthest - self.low.x, from.max(to) + furthest - self.low.x);
            for column in cell(from, self.columns)..=cell(to, self.columns) {
                let middle = self.low + (DVec2::new(f64::from(column), f64::from(line)) + 0.5) * side;
                if distance_to_segment(middle, a, b) <= furthest {
                    visit((line * self.columns + column) as u32);
                }
            }
        }
    }

    /// The cells that have to be split; `None` where they are too many.
    fn drafts(&self, space: &Space, terrain: &[Terrain]) -> Option<Vec<Draft>> {
        let reach = space.radius + 2.0 * self.part;
        let mut walls: Vec<(u32, u32)> = Vec::new();
        for (index, wall) in space.walls.iter().enumerate() {
            self.each_touched(wall.a, wall.b, reach, |cell| walls.push((cell, index as u32)));
            // However large cells are, a wall is near to a few of them.
            if walls.len() > 16 * (MOST_SPLIT + space.walls.len()) {
                return None;
            }
        }
        walls.sort_unstable();
        let edges = self.terrain_edges(terrain);
        let near = walls.chunk_by(|a, b| a.0 == b.0).collect::<Vec<_>>();
        let draft = |i: usize| {
            let walls = near[i];
            let cell = walls[0].0;
            let room = self.room(cell, walls.iter().map(|&(_, wall)| &space.walls[wall as usize]));
            let enough = (space.keep() + FRAC_1_SQRT_2 * self.part) as f32;
            let whole = room.iter().all(|&room| room > enough) && edges.binary_search(&cell).is_err();
            (!whole).then_some(Draft { cell, room })
        };
        let mut drafts: Vec<Draft> = parallel::map(1, near.len(), &draft).into_iter().flatten().collect();
        let known: Vec<u32> = drafts.iter().map(|draft| draft.cell).collect();
        let more = edges.iter().filter(|cell| known.binary_search(cell).is_err());
        drafts.extend(more.map(|&cell| Draft { cell, room: [f32::INFINITY; PARTS] }));
        drafts.sort_unstable_by_key(|draft| draft.cell);
        (drafts.len() <= MOST_SPLIT).then_some(drafts)
    }

    /// The cells that the edges of costly ground pass, in order.
    fn terrain_edges(&self, terrain: &[Terrain]) -> Vec<u32> {
        let mut cells = Vec::new();
        for ring in terrain.iter().map(|piece| &piece.ring) {
            for (index, a) in ring.iter().enumerate() {
                let b = ring[(index + 1) % ring.len()];
                self.each_touched(a.as_dvec2(), b.as_dvec2(), 0.0, |cell| cells.push(cell));
            }
        }
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    fn room<'a>(&self, cell: u32, walls: impl Iterator<Item = &'a Segment> + Clone) -> [f32; PARTS] {
        let first = self.cell_at(cell) * SIDE;
        std::array::from_fn(|part| {
            let middle = self.middle(first + part_at(part));
            walls.clone().map(|wall| wall.distance(middle)).fold(f64::INFINITY, f64::min) as f32
        })
    }

    fn split_cells(&mut self, drafts: Vec<Draft>) {
        let keep = self.space.keep();
        for (index, draft) in drafts.iter().enumerate() {
            self.cells[draft.cell as usize] = index as u32;
            let free = (0..PARTS)
                .fold(0, |free, part| free | u64::from(f64::from(draft.room[part]) >= keep) << part);
            self.split.push(Split { at: self.cell_at(draft.cell), free, links: [0; PARTS] });
        }
        let grid = &*self;
        let links = parallel::map(1, drafts.len(), &|index| {
            std::array::from_fn::<u8, PARTS, _>(|part| {
                (0..8).fold(0, |links, direction| {
                    links
                        | u8::from(grid.is_linked(&drafts, index, &drafts[index], part, direction))
                            << direction
                })
            })
        });
        for (split, links) in self.split.iter_mut().zip(links) {
            split.links = links;
        }
    }

    fn is_linked(
        &self,
        drafts: &[Draft],
        index: usize,
        draft: &Draft,
        part: usize,
        direction: usize,
    ) -> bool {
        if self.split[index].free >> part & 1 == 0 {
            return false;
        }
        let from = self.split[index].at * SIDE + part_at(part);
        let to = from + DIRECTIONS[direction];
        let keep = self.space.keep();
        let room = match self.part(to) {
            None => return false,
            Some((_, None)) => keep as f32,
            Some((_, Some((other, part)))) if self.split[other].free >> part & 1 == 1 => {
                drafts[other].room[part]
            }
            Some(_) => return false,
        };
        let length = if direction.is_multiple_of(2) { self.part } else { SQRT_2 * self.part };
        // Nowhere between the two is the room less than half of this.
        let plain = f64::from(draft.room[part]) + f64::from(room) - length >= 2.0 * keep * (1.0 + 1e-6);
        plain || self.space.is_clear(self.middle(from), self.middle(to), keep)
    }

    /// Adds the ways that are too narrow for parts.
    fn find_passages(&mut self, view: View<'_>) {
        let beside = |at: DVec2| self.nearest(&self.space.place(at), MOST_PARTS_BESIDE);
        let (spare, first) = (FRAC_1_SQRT_2 * self.part, self.first_passage() as Node);
        self.passages = Passages::new(&self.space, view.walls.all(), spare, first, beside);
    }

    /// Ground costs: of a node, that in its middle.
    fn weigh(&mut self, terrain: &[Terrain]) {
        if terrain.iter().all(|piece| piece.cost <= 1.0) {
            return;
        }
        let place = |node: usize| self.place(node as Node).as_vec2();
        self.ground = parallel::map(CHUNK, self.len(), &|node| Terrain::cost_at(terrain, place(node)));
    }

    fn find_regions(&mut self) {
        let mut region = vec![0; self.len()];
        let mut open = Vec::new();
        let mut regions = 0;
        for node in (0..self.len() as Node).filter(|&node| self.is_free(node)) {
            if region[node as usize] != 0 {
                continue;
            }
            regions += 1;
            region[node as usize] = regions;
            open.push(node);
            while let Some(node) = open.pop() {
                self.each_edge(node, |next, _| {
                    if region[next as usize] == 0 {
                        region[next as usize] = regions;
                        open.push(next);
                    }
                });
            }
        }
        self.region = region;
    }

    fn is_free(&self, node: Node) -> bool {
        match self.kind(node) {
            Kind::Part(split, part) => self.split[split].free >> part & 1 == 1,
            Kind::Cell => self.cells[node as usize] == WHOLE,
            Kind::Passage(_) => true,
        }
    }

    /// Equal for nodes between which there is a way.
    pub fn region(&self, node: Node) -> u32 {
        self.region[node as usize]
    }

    /// As how many metres one counts at a node.
    #[inline]
    pub fn ground(&self, node: Node) -> f32 {
        self.ground.get(node as usize).copied().unwrap_or(1.0)
    }

    /// The cost multiplier at a place.
    pub fn ground_at(&self, place: DVec2) -> f32 {
        if !self.has_terrain() {
            return 1.0;
        }
        match self.part(self.parts_of(place)) {
            Some((_, Some((split, part)))) => self.ground(self.node_of(split, part)),
            Some((cell, None)) => self.ground(cell),
            None => 1.0,
        }
    }

    fn cell_at(&self, cell: u32) -> IVec2 {
        IVec2::new(cell as i32 % self.columns, cell as i32 / self.columns)
    }

    fn node_of(&self, split: usize, part: usize) -> Node {
        (self.cells.len() + PARTS * split + part) as Node
    }

    #[inline]
    fn kind(&self, node: Node) -> Kind {
        let Some(beyond) = (node as usize).checked_sub(self.cells.len()) else { return Kind::Cell };
        match beyond.checked_sub(PARTS * self.split.len()) {
            Some(passage) => Kind::Passage(self.passages.places.at[passage]),
            None => Kind::Part(beyond / PARTS, beyond % PARTS),
        }
    }

    /// The part that a place lies in, counted through all cells; far beyond them it saturates.
    fn parts_of(&self, place: DVec2) -> IVec2 {
        ((place - self.low) / self.part).floor().as_ivec2()
    }

    /// The cell that a part lies in, and where that is split its number and the part's. `None` outside of all cells.
    #[inline]
    fn part(&self, at: IVec2) -> Option<(u32, Option<(usize, usize)>)> {
        let cell = at >> SIDE.ilog2();
        let inside = cell.cmpge(IVec2::ZERO).all() && cell.x < self.columns && cell.y < self.lines;
        if !inside {
            return None;
        }
        let number = (cell.y * self.columns + cell.x) as u32;
        let inner = at & (SIDE - 1);
        let split = self.cells[number as usize];
        Some((number, (split != WHOLE).then(|| (split as usize, (inner.y * SIDE + inner.x) as usize))))
    }

    /// The middle of a part, m from the world's origin.
    fn middle(&self, part: IVec2) -> DVec2 {
        self.low + (part.as_dvec2() + 0.5) * self.part
    }

    /// Where a whole cell is, in halves of parts: there the middles of parts and of cells are whole numbers.
    #[inline]
    fn spot_of_cell(&self, cell: u32) -> IVec2 {
        self.cell_at(cell) * (2 * SIDE) + SIDE
    }

    /// Where a node is, in halves of parts.
    #[inline]
    pub fn spot(&self, node: Node) -> DVec2 {
        match self.kind(node) {
            Kind::Part(split, part) => ((self.split[split].at * SIDE + part_at(part)) * 2 + 1).as_dvec2(),
            Kind::Cell => self.spot_of_cell(node).as_dvec2(),
            Kind::Passage(at) => (at - self.low) / (self.part / 2.0),
        }
    }

    /// Where a node is, m from the world's origin.
    pub fn place(&self, node: Node) -> DVec2 {
        match self.kind(node) {
            Kind::Passage(at) => at,
            _ => self.low + self.spot(node) * (self.part / 2.0),
        }
    }

    /// Calls `visit` with the nodes that a straight way leads to, and how long it is in [`octile`] measure.
    #[inline]
    pub fn each_edge(&self, node: Node, mut visit: impl FnMut(Node, u64)) {
        if !self.passages.places.at.is_empty() {
            let from = self.spot(node);
            self.passages.links(node).for_each(|next| visit(next, octile_between(from, self.spot(next))));
        }
        match self.kind(node) {
            Kind::Passage(_) => {}
            Kind::Part(split, part) => self.each_edge_of_part(split, part, visit),
            Kind::Cell => {
                let (at, spot) = (self.cell_at(node), self.spot_of_cell(node));
                for (direction, &towards) in DIRECTIONS.iter().enumerate() {
                    match self.part((at + towards) * SIDE) {
                        Some((next, None)) => visit(next, octile(towards * (2 * SIDE))),
                        Some((_, Some((split, _)))) => {
                            self.each_crossing(node, split, direction ^ 4, |part, hop, gate| {
                                visit(self.node_of(split, part), hop + octile(gate - spot));
                            });
                        }
                        None => {}
                    }
                }
            }
        }
    }

    fn each_edge_of_part(&self, split: usize, part: usize, mut visit: impl FnMut(Node, u64)) {
        let Split { at, links, .. } = &self.split[split];
        let from = *at * SIDE + part_at(part);
        let mut links = links[part];
        while links != 0 {
            let towards = DIRECTIONS[links.trailing_zeros() as usize];
            links &= links - 1;
            let hop = octile(towards * 2);
            match self.part(from + towards) {
                Some((_, Some((split, part)))) => visit(self.node_of(split, part), hop),
                Some((cell, None)) => {
                    visit(cell, hop + octile((from + towards) * 2 + 1 - self.spot_of_cell(cell)));
                }
                None => {}
            }
        }
    }

    /// Calls `visit` with the links from the parts of a split cell into a whole one that lies in a direction from it: the
    /// part, the length of the link, and the spot at which it ends.
    fn each_crossing(
        &self,
        cell: Node,
        split: usize,
        direction: usize,
        mut visit: impl FnMut(usize, u64, IVec2),
    ) {
        let side = DIRECTIONS[direction];
        let Split { at, links, .. } = &self.split[split];
        let along = |side: i32| match side {
            0 => 0..=SIDE - 1,
            1 => SIDE - 1..=SIDE - 1,
            _ => 0..=0,
        };
        for y in along(side.y) {
            for x in along(side.x) {
                let part = (y * SIDE + x) as usize;
                // Of eight directions only this one and its neighbours lead across.
                for direction in [direction, (direction + 1) % 8, (direction + 7) % 8] {
                    let to = *at * SIDE + IVec2::new(x, y) + DIRECTIONS[direction];
                    let linked = links[part] >> direction & 1 == 1;
                    if linked && self.part(to).is_some_and(|(other, _)| other == cell) {
                        visit(part, octile(DIRECTIONS[direction] * 2), to * 2 + 1);
                    }
                }
            }
        }
    }

    /// Where the way between two nodes enters the whole cell, when one of them is whole and the other is a part.
    pub fn gate(&self, from: Node, to: Node) -> Option<DVec2> {
        let (split, part, cell) = match (self.kind(from), self.kind(to)) {
            (Kind::Part(split, part), Kind::Cell) => (split, part, to),
            (Kind::Cell, Kind::Part(split, part)) => (split, part, from),
            _ => return None,
        };
        let towards = self.cell_at(cell) - self.split[split].at;
        let direction = DIRECTIONS.iter().position(|&direction| direction == towards)?;
        let middle = self.spot_of_cell(cell);
        let mut best: Option<(u64, IVec2)> = None;
        self.each_crossing(cell, split, direction, |other, hop, gate| {
            let length = hop + octile(gate - middle);
            if other == part && best.is_none_or(|(shortest, _)| length < shortest) {
                best = Some((length, gate));
            }
        });
        best.map(|(_, gate)| self.low + gate.as_dvec2() * (self.part / 2.0))
    }

    /// Nodes that an agent can get to straight from a place, the nearest first.
    pub fn around(&self, place: &Place) -> Vec<Node> {
        self.nearest(place, usize::MAX)
    }

    /// At most so many of them.
    fn nearest(&self, place: &Place, most: usize) -> Vec<Node> {
        let last = IVec2::new(self.columns, self.lines) * SIDE - 1;
        // Beyond the margin nothing is in the way to the outermost cells.
        let here = self.parts_of(place.at).clamp(IVec2::ZERO, last);
        if let Some((cell, None)) = self.part(here) {
            return vec![cell];
        }
        let mut near: Vec<(f64, Node)> = Vec::new();
        for y in -REACH..=REACH {
            for x in -REACH..=REACH {
                let node = match self.part(here + IVec2::new(x, y)) {
                    Some((cell, None)) => cell,
                    Some((_, Some((split, part)))) => self.node_of(split, part),
                    None => continue,
                };
                if self.is_free(node) && !near.iter().any(|&(_, other)| other == node) {
                    near.push((self.place(node).distance_squared(place.at), node));
                }
            }
        }
        for passage in self.passages.places.within(place.at, f64::from(REACH) * self.part) {
            let at = self.passages.places.at[passage as usize];
            near.push((at.distance_squared(place.at), self.first_passage() as Node + passage));
        }
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let keep = self.space.keep();
        let clear = |&(_, node): &(f64, Node)| self.space.is_clear(place.at, self.place(node), keep);
        near.into_iter().filter(clear).map(|(_, node)| node).take(most).collect()
    }

    /// Whether a body gets straight from one place to another.
    pub fn sees(&self, from: Vec2, to: Vec2) -> bool {
        if self.space.walls.is_empty() {
            return true;
        }
        let place = |place: Vec2| self.space.place(place.as_dvec2()).at;
        self.space.is_clear(place(from), place(to), self.space.keep())
    }
}

fn part_at(part: usize) -> IVec2 {
    IVec2::new(part as i32 % SIDE, part as i32 / SIDE)
}

/// What one half of a part counts along an axis; 724 of it are as many on the diagonal.
pub(super) const HALF: u64 = 512;

/// The length of the shortest path in eight directions, from one spot to another.
#[inline]
pub(super) fn octile(way: IVec2) -> u64 {
    let (x, y) = (u64::from(way.x.unsigned_abs()), u64::from(way.y.unsigned_abs()));
    (x.max(y) - x.min(y)) * HALF + x.min(y) * 724
}

/// The same between any places, in halves of parts.
#[inline]
pub(super) fn octile_between(from: DVec2, to: DVec2) -> u64 {
    let way = (to - from).abs();
    ((way.max_element() - way.min_element()) * HALF as f64 + way.min_element() * 724.0).round() as u64
}

/// What the grid has to cover: walls and costly ground, and all starts and goals where they are not too far apart for
/// cells of a side. An agent that is beyond it has nothing but other people in its way.
fn bounds(view: View<'_>, space: &Space, side: f64) -> (DVec2, DVec2) {
    let walls = space.walls.iter().flat_map(|wall| [wall.a, wall.b]);
    let ground = view.terrain.iter().flat_map(|piece| piece.ring.iter().map(|corner| corner.as_dvec2()));
    let both = |[low, high]: [DVec2; 2], place: DVec2| [low.min(place), high.max(place)];
    let nothing = [DVec2::MAX, DVec2::MIN];
    let map = walls.chain(ground).fold(nothing, both);
    let people = view.extent.iter().flatten().map(|corner| corner.as_dvec2());
    let all = people.fold(map, both);
    let cells = (all[1] - all[0]) / side + 2.0 * MARGIN + 2.0;
    let [low, high] = if cells.x * cells.y <= 0.75 * MOST_CELLS { all } else { map };
    if low.cmple(high).all() { (low, high) } else { (DVec2::ZERO, DVec2::ZERO) }
}
