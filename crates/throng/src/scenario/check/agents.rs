//! Gives every agent its place, its goal and its figures, and holds them against the map.

use super::cohorts::{Checked, Draft, Target};
use super::values::{show, within_reach};
use super::{Checker, FARTHEST};
use crate::crowd::default_max_speed;
use crate::map;
use crate::map::Map;
use crate::map::Region;
use crate::map::bounds;
use crate::scenario::file::OnArrival;
use crate::scenario::number::Figures;
use crate::scenario::path::KeyPath;
use crate::scenario::place::{Arrangement, Scatter, Standing, jittered, outline};
use crate::scenario::{AgentStart, Cohort, Goal, Link};
use glam::DVec2;
use std::collections::BTreeSet;
use throng_core::rng::{self, Purpose};

impl Checker<'_> {
    /// Gives every agent its place, its goal and its figures.
    pub(super) fn place_agents(
        &mut self,
        map: &Map,
        drafts: &[Draft<'_>],
        areas: &mut Vec<Vec<DVec2>>,
    ) -> Vec<Cohort> {
        let boundary = map::boundary(map);
        let region = Region::new(&boundary);
        let radii: Vec<Vec<f64>> = drafts.iter().map(|draft| self.radii(draft)).collect();
        let places = self.places(map, &region, drafts, &radii);
        let lasting = self.lasting(map);
        let mut cohorts = Vec::new();
        for ((draft, radii), places) in drafts.iter().zip(radii).zip(places) {
            let chance =
                Chance { seed: self.file.seed, first_id: draft.first_id, goal: 0, region: &lasting.region };
            let goals = goals(&draft.goal, &places, areas, chance);
            self.goals_are_free(&draft.path.then("goal"), &draft.name, &draft.goal, &goals, &lasting);
            let widest = radii.iter().copied().fold(0.0, f64::max);
            // An empty cohort has no largest radius.
            let widest = if widest > 0.0 { widest } else { draft.people.radius.high() };
            let agents = self.agents(draft, &places, &radii, &goals);
            let area = match draft.goal {
                Target::Area(_) => Some(areas.len() as u32 - 1),
                _ => None,
            };
            cohorts.push(Cohort { area, ..draft.people.cohort(&draft.name, agents, widest) });
        }
        cohorts
    }

    /// What no event takes away from a map.
    pub(super) fn lasting(&self, map: &Map) -> Lasting {
        let removed = self.file.events.iter().filter_map(|event| event.remove_obstacle.as_deref());
        Lasting::new(map, removed)
    }

    fn radii(&self, draft: &Draft<'_>) -> Vec<f64> {
        let drawer = Drawer { seed: self.file.seed, step: 0 };
        let members = (draft.first_id..).take(draft.count).enumerate();
        members.map(|(member, id)| drawer.figure(&draft.people.radius, member, id, Purpose::Radius)).collect()
    }

    fn agents(&self, draft: &Draft<'_>, places: &[DVec2], radii: &[f64], goals: &[Goal]) -> Vec<AgentStart> {
        let drawer = Drawer { seed: self.file.seed, step: 0 };
        let members = (draft.first_id..).zip(places).zip(radii).zip(goals).enumerate();
        let agent = |(member, (((id, &position), &radius), &goal))| AgentStart {
            position,
            goal,
            radius,
            ..draft.people.agent(drawer, member, id)
        };
        members.map(agent).collect()
    }

    /// Listed places first, so that those who are scattered can keep clear of everyone.
    fn places(
        &mut self,
        map: &Map,
        region: &Region,
        drafts: &[Draft<'_>],
        radii: &[Vec<f64>],
    ) -> Vec<Vec<DVec2>> {
        let mut places: Vec<Vec<DVec2>> = vec![Vec::new(); drafts.len()];
        for (index, draft) in drafts.iter().enumerate() {
            let Some(fixed) = draft.layout.fixed(draft.count) else { continue };
            places[index] = self.jitter(draft, fixed, region);
            self.starts_are_free(draft, &places[index], map, region);
        }
        if drafts.iter().all(|draft| !matches!(draft.layout, Arrangement::Area(_))) || !self.report.is_empty()
        {
            return places;
        }
        let widest = radii.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut standing = Standing::new(widest).repeating(map.repeat());
        for (place, radius) in places.iter().flatten().zip(radii_of_placed(drafts, radii)) {
            standing.add(*place, radius);
        }
        for (index, draft) in drafts.iter().enumerate() {
            let Arrangement::Area(area) = &draft.layout else { continue };
            let (first_id, seed) = (draft.first_id, self.file.seed);
            let scatter = Scatter { area, radii: &radii[index], first_id, seed };
            match scatter.place(region, &mut standing) {
                Ok(scattered) => places[index] = scattered,
                Err(full) => self.too_full(draft, full.fitted),
            }
        }
        places
    }

    fn too_full(&mut self, draft: &Draft<'_>, fitted: usize) {
        let (name, count) = (&draft.name, draft.count);
        let complaint = format!(
            "only {fitted} of the {count} agents of cohort `{name}` fitted in, clear of one another and of walls; \
             enlarge the polygon, or lower count or radius"
        );
        self.report.say(&draft.path.then("place").then("polygon"), complaint);
    }

    fn jitter(&self, draft: &Draft<'_>, mut places: Vec<DVec2>, region: &Region) -> Vec<DVec2> {
        let reach = draft.file.place.jitter;
        if reach > 0.0 {
            for (id, place) in (draft.first_id..).zip(&mut places) {
                *place = jittered(*place, reach, region, rng::stream(self.file.seed, id, 0, Purpose::Jitter));
            }
        }
        places
    }
}

// Agents on the map.
impl Checker<'_> {
    fn starts_are_free(&mut self, draft: &Draft<'_>, places: &[DVec2], map: &Map, region: &Region) {
        for (index, &place) in places.iter().enumerate() {
            let Some(complaint) = trouble(place, map, region) else { continue };
            let path = draft.path.then("place");
            let path = match draft.layout {
                Arrangement::Points(_) => path.then("points").then(index),
                _ => path,
            };
            let who = format!("agent {index} of cohort `{}` starts at {}", draft.name, show(place));
            self.report.say(&path, format!("{who}, {complaint}; move it"));
            if self.report.is_full() {
                return;
            }
        }
    }

    pub(super) fn links_are_free(&mut self, links: &[Link], map: &Map) {
        if links.is_empty() {
            return;
        }
        let lasting = self.lasting(map);
        for (index, link) in links.iter().enumerate() {
            let path = KeyPath::top("links").then(index);
            for (key, verb, place) in [("from", "begins", link.from), ("to", "ends", link.to)] {
                if let Some(complaint) = trouble(place, &lasting.map, &lasting.region) {
                    let complaint = format!("the link {verb} at {}, {complaint}; move it", show(place));
                    self.report.say(&path.then(key), complaint);
                }
            }
        }
    }

    pub(super) fn goals_are_free(
        &mut self,
        path: &KeyPath,
        cohort: &str,
        target: &Target,
        goals: &[Goal],
        lasting: &Lasting,
    ) {
        if let Target::Area(area) = target {
            if map::free_area(&lasting.map, area) < SMALLEST_GOAL {
                let complaint = format!("no part of the goal of cohort `{cohort}` is free; move it");
                self.report.say(&path.then("polygon"), complaint);
            }
            return;
        }
        // A goal that everyone shares is looked at once.
        let looked_at = if matches!(target, Target::Point(_)) { goals.len().min(1) } else { goals.len() };
        for (index, goal) in goals[..looked_at].iter().enumerate() {
            let Goal::Point(goal) = *goal else { continue };
            let Some(complaint) = trouble(goal, &lasting.map, &lasting.region) else { continue };
            let (path, who) = match target {
                Target::Point(_) => (path.then("point"), "the goal".into()),
                Target::Points(_) => (path.then("points").then(index), format!("goal {index}")),
                _ => (path.clone(), format!("the goal of agent {index}")),
            };
            let complaint = format!("{who} of cohort `{cohort}` is at {}, {complaint}; move it", show(goal));
            self.report.say(&path, complaint);
            if self.report.is_full() {
                return;
            }
        }
    }
}

/// What agents draw their figures with.
#[derive(Clone, Copy)]
pub(super) struct Drawer {
    pub seed: u64,
    /// Tells the agents of a source from those who are there at the start.
    pub step: u64,
}

impl Drawer {
    fn figure(self, figures: &Figures, member: usize, id: u32, purpose: Purpose) -> f64 {
        figures.of(member, || rng::stream(self.seed, id, self.step, purpose))
    }
}

impl Checked<'_> {
    /// One of them, with all but a place and a goal.
    pub(super) fn agent(&self, drawer: Drawer, member: usize, id: u32) -> AgentStart {
        let figure = |figures, purpose| drawer.figure(figures, member, id, purpose);
        let preferred_speed = figure(&self.preferred_speed, Purpose::PreferredSpeed);
        let max_speed = match &self.max_speed {
            Some(max) => figure(max, Purpose::MaxSpeed),
            None => default_max_speed(preferred_speed),
        };
        AgentStart {
            position: DVec2::ZERO,
            velocity: self.velocity.of(member),
            goal: Goal::Point(DVec2::ZERO),
            radius: figure(&self.radius, Purpose::Radius),
            preferred_speed: preferred_speed.min(max_speed),
            max_speed,
            start: figure(&self.start, Purpose::Start),
        }
    }

    /// The cohort of them.
    pub(super) fn cohort(&self, name: &str, agents: Vec<AgentStart>, widest: f64) -> Cohort {
        Cohort {
            name: name.to_owned(),
            agents,
            area: None,
            leaves: self.file.on_arrival == OnArrival::Leave,
            goal_radius: self.file.goal_radius.unwrap_or(widest),
            arrive: self.file.arrive,
            responsibility: self.file.responsibility,
            together: self.file.together,
            microscale: self.file.microscale.map(str::to_owned),
            params: self.params.clone(),
        }
    }
}

/// What stays on the map for good.
pub(super) struct Lasting {
    pub map: Map,
    pub region: Region,
}

impl Lasting {
    /// The map without the obstacles that an event will take away: a goal may wait behind a barrier.
    pub(super) fn new<'n>(map: &Map, removed: impl Iterator<Item = &'n str>) -> Lasting {
        let removed: BTreeSet<&str> = removed.collect();
        let mut map = map.clone();
        map.obstacles.retain(|(name, _)| !removed.contains(name.as_str()));
        let region = Region::new(&map::boundary(&map));
        Lasting { map, region }
    }
}

/// A goal with less free area than this cannot be reached, m².
pub(super) const SMALLEST_GOAL: f64 = 1e-6;

/// Why no agent can be at a point.
pub(super) fn trouble(place: DVec2, map: &Map, region: &Region) -> Option<String> {
    if !within_reach(place) {
        return Some(format!("beyond {FARTHEST:e} m"));
    }
    if region.is_free(place) {
        return None;
    }
    let folded = map.repeat().fold(place);
    let covers = |ring: &[DVec2]| [place, folded].iter().any(|&place| map::winds_around(ring, place));
    match map.obstacles.iter().find(|(_, ring)| covers(ring)) {
        Some((name, _)) if name.starts_with("gaps[") => Some(format!("over `map.{name}`")),
        Some((name, _)) => Some(format!("inside obstacle `{name}`")),
        None => Some("outside the walkable area".into()),
    }
}

fn radii_of_placed<'r>(drafts: &'r [Draft<'_>], radii: &'r [Vec<f64>]) -> impl Iterator<Item = f64> + 'r {
    let placed = drafts.iter().zip(radii).filter(|(draft, _)| !matches!(draft.layout, Arrangement::Area(_)));
    placed.flat_map(|(_, radii)| radii.iter().copied())
}

/// What goals are drawn with, where chance decides.
#[derive(Clone, Copy)]
pub(super) struct Chance<'a> {
    pub seed: u64,
    pub first_id: u32,
    /// The how manieth goal of the agents it is.
    pub goal: u64,
    pub region: &'a Region,
}

impl Chance<'_> {
    /// A free place in an area for each of a number of agents; a corner of it where none is found.
    fn places<'b>(&'b self, area: &'b [DVec2], count: usize) -> impl Iterator<Item = DVec2> + 'b {
        let ((low, high), inside) = (bounds(area), Region::new(&outline(area)));
        (self.first_id..).take(count).map(move |id| {
            let mut draws = rng::stream(self.seed, id, self.goal, Purpose::Goal);
            let place = || DVec2::new(draws.uniform(low.x, high.x), draws.uniform(low.y, high.y));
            let mut tries = std::iter::repeat_with(place).take(TRIES);
            tries.find(|&at| inside.is_free(at) && self.region.is_free(at)).unwrap_or(area[0])
        })
    }
}

/// How often a place is drawn before an error says that there is none.
const TRIES: usize = 1000;

pub(super) fn goals(
    target: &Target,
    starts: &[DVec2],
    areas: &mut Vec<Vec<DVec2>>,
    chance: Chance<'_>,
) -> Vec<Goal> {
    match target {
        Target::Point(point) => vec![Goal::Point(*point); starts.len()],
        Target::Points(points) => points.iter().copied().map(Goal::Point).collect(),
        Target::Antipodal(center) => starts.iter().map(|&start| Goal::Point(2.0 * *center - start)).collect(),
        Target::Offset(offset) => starts.iter().map(|&start| Goal::Point(start + *offset)).collect(),
        Target::Random(area) => chance.places(area, starts.len()).map(Goal::Point).collect(),
        Target::Area(area) => {
            areas.push(area.clone());
            vec![Goal::Area(areas.len() as u32 - 1); starts.len()]
        }
        Target::Journey(journey) => vec![Goal::Journey(*journey); starts.len()],
    }
}
