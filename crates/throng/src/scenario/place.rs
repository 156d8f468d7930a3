//! Where agents stand at the start.

use crate::map::{self, Boundary, Map, Region, Repeat, bounds};
use glam::DVec2;
use std::collections::HashMap;
use throng_core::rng::{self, Purpose, Stream};

/// A checked way to place agents.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Arrangement {
    /// Rows upwards, each filled towards growing x.
    Grid { from: DVec2, columns: usize, spacing: f64 },
    /// As listed.
    Points(Vec<DVec2>),
    /// Evenly on a circle.
    Circle { center: DVec2, radius: f64, start_angle: f64 },
    /// At random inside.
    Area(Vec<DVec2>),
}

impl Arrangement {
    /// Where the agents stand, unless chance decides.
    pub fn fixed(&self, count: usize) -> Option<Vec<DVec2>> {
        let place: Box<dyn Fn(usize) -> DVec2> = match *self {
            Arrangement::Points(ref points) => return Some(points.clone()),
            Arrangement::Area(_) => return None,
            Arrangement::Grid { from, columns, spacing } => Box::new(move |index| {
                from + spacing * DVec2::new((index % columns) as f64, (index / columns) as f64)
            }),
            Arrangement::Circle { center, radius, start_angle } => Box::new(move |index| {
                let angle = start_angle + std::f64::consts::TAU * index as f64 / count as f64;
                center + radius * DVec2::from_angle(angle)
            }),
        };
        Some((0..count).map(place).collect())
    }
}

/// Tries to keep a jittered agent out of walls.
const JITTER_TRIES: usize = 16;

/// Moves an agent by a random vector of at most `reach`, to a free place.
pub(super) fn jittered(place: DVec2, reach: f64, region: &Region, mut draws: Stream) -> DVec2 {
    let near = |draws: &mut Stream| {
        let angle = draws.uniform(0.0, std::f64::consts::TAU);
        // The root spreads evenly over the disc.
        place + DVec2::from_angle(angle) * reach * draws.f64().sqrt()
    };
    (0..JITTER_TRIES).map(|_| near(&mut draws)).find(|&near| region.is_free(near)).unwrap_or(place)
}

/// Bodies that already stand, in square cells.
pub(super) struct Standing {
    cell: f64,
    bodies: Vec<(DVec2, f64)>,
    cells: HashMap<(i64, i64), Vec<u32>>,
    repeat: Repeat,
}

impl Standing {
    /// `widest` is the largest radius that will ever be added.
    pub fn new(widest: f64) -> Standing {
        Standing { cell: 2.0 * widest, bodies: Vec::new(), cells: HashMap::new(), repeat: Repeat::default() }
    }

    /// On a map that repeats: bodies keep clear of one another across its seams too.
    pub fn repeating(self, repeat: Repeat) -> Standing {
        Standing { repeat, ..self }
    }

    pub fn add(&mut self, place: DVec2, radius: f64) {
        let place = self.repeat.fold(place);
        let number = self.bodies.len() as u32;
        self.cells.entry(self.cell_of(place)).or_default().push(number);
        self.bodies.push((place, radius));
    }

    fn forget_down_to(&mut self, count: usize) {
        while self.bodies.len() > count {
            let Some((place, _)) = self.bodies.pop() else { return };
            // The newest body is the last one of its cell.
            if let Some(cell) = self.cells.get_mut(&self.cell_of(place)) {
                cell.pop();
            }
        }
    }

    fn has_room(&self, place: DVec2, radius: f64) -> bool {
        let (place, length) = (self.repeat.fold(place), self.repeat.length);
        let along = |length: f64| if length > 0.0 { -1..=1 } else { 0..=0 };
        along(length.x).all(|x| {
            let image = |y: i32| place + length * DVec2::new(f64::from(x), f64::from(y));
            along(length.y).all(|y| self.has_room_at(image(y), radius))
        })
    }

    fn has_room_at(&self, place: DVec2, radius: f64) -> bool {
        let (x, y) = self.cell_of(place);
        let near = (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| (x, y)));
        near.filter_map(|cell| self.cells.get(&cell)).flatten().all(|&number| {
            let (other, other_radius) = self.bodies[number as usize];
            place.distance(other) >= radius + other_radius
        })
    }

    fn cell_of(&self, place: DVec2) -> (i64, i64) {
        let cell = (place / self.cell).floor();
        (cell.x as i64, cell.y as i64)
    }
}

/// A cohort to be scattered in an area.
pub(super) struct Scatter<'a> {
    pub area: &'a [DVec2],
    /// One per agent.
    pub radii: &'a [f64],
    pub first_id: u32,
    pub seed: u64,
}

/// How many agents found a place, where not all did.
#[derive(Debug, PartialEq)]
pub(super) struct Full {
    pub fitted: usize,
}

impl Scatter<'_> {
    /// Finds a place for every agent: free, clear of walls and of all who stand.
    ///
    /// At random as long as that works. A crowd too dense for chance (beyond about half of the area) stands on a
    /// triangular lattice instead, in random order.
    pub fn place(&self, region: &Region, standing: &mut Standing) -> Result<Vec<DVec2>, Full> {
        let before = standing.bodies.len();
        let inside = Region::new(&outline(self.area));
        let fits =
            |place, radius| inside.is_free(place) && region.is_free(place) && region.has_room(place, radius);
        let scattered = self.at_random(&fits, standing);
        if scattered.len() == self.radii.len() {
            return Ok(scattered);
        }
        standing.forget_down_to(before);
        let packed = self.on_lattice(&fits, standing);
        if packed.len() < self.radii.len() {
            standing.forget_down_to(before);
            return Err(Full { fitted: packed.len().max(scattered.len()) });
        }
        Ok(packed)
    }

    fn at_random(&self, fits: &impl Fn(DVec2, f64) -> bool, standing: &mut Standing) -> Vec<DVec2> {
        let (low, high) = bounds(self.area);
        // Enough for half of an area to be covered, and still over in a moment.
        let mut tries = 100 * self.radii.len() + 1_000_000;
        let mut places = Vec::new();
        for (id, &radius) in (self.first_id..).zip(self.radii) {
            let mut draws = rng::stream(self.seed, id, 0, Purpose::Place);
            let place = loop {
                if tries == 0 {
                    return places;
                }
                tries -= 1;
                let place = DVec2::new(draws.uniform(low.x, high.x), draws.uniform(low.y, high.y));
                if fits(place, radius) && standing.has_room(place, radius) {
                    break place;
                }
            };
            standing.add(place, radius);
            places.push(place);
        }
        places
    }

    fn on_lattice(&self, fits: &impl Fn(DVec2, f64) -> bool, standing: &mut Standing) -> Vec<DVec2> {
        let widest = self.radii.iter().copied().fold(0.0, f64::max);
        let mut sites = lattice(self.area, widest);
        sites.retain(|&site| fits(site, widest) && standing.has_room(site, widest));
        let mut draws = rng::stream(self.seed, self.first_id, 1, Purpose::Place);
        for last in (1..sites.len()).rev() {
            sites.swap(last, draws.below(last + 1));
        }
        sites.truncate(self.radii.len());
        sites.iter().zip(self.radii).for_each(|(&site, &radius)| standing.add(site, radius));
        sites
    }
}

/// More sites than agents may exist at all: then there is room enough for chance.
const MOST_SITES: f64 = 2e7;

/// Points of a triangular lattice over the bounds of an area, two radii apart.
pub(super) fn lattice(area: &[DVec2], radius: f64) -> Vec<DVec2> {
    let (low, high) = bounds(area);
    // A hair wider than touching, so that rounding cannot make neighbours overlap.
    let pitch = 2.0 * radius * (1.0 + 1e-9);
    let rise = pitch * 0.75f64.sqrt();
    let (columns, rows) = (((high.x - low.x) / pitch).ceil(), ((high.y - low.y) / rise).ceil());
    if columns * rows > MOST_SITES {
        return Vec::new();
    }
    let site = |row: usize, column: usize| {
        let shift = if row % 2 == 1 { 0.5 } else { 0.0 };
        low + radius + DVec2::new((column as f64 + shift) * pitch, row as f64 * rise)
    };
    (0..rows as usize).flat_map(|row| (0..columns as usize).map(move |column| site(row, column))).collect()
}

pub(crate) fn outline(area: &[DVec2]) -> Boundary {
    map::boundary(&Map { walkable: vec![vec![area.to_vec()]], ..Map::default() })
}
