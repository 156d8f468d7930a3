//! Exits, stages and journeys: where people leave, where they stop, and in which order.

use super::agents::{Lasting, SMALLEST_GOAL, trouble};
use super::values::show;
use super::{Checker, LARGEST, LONGEST_TIME};
use crate::map::{self, Region, bounds};
use crate::scenario::error::known;
use crate::scenario::file::*;
use crate::scenario::path::KeyPath;
use crate::scenario::place::{lattice, outline};
use crate::scenario::{Choice, Ending, Exit, Journey, Leg, Stage, StageKind};
use glam::DVec2;
use std::collections::BTreeSet;
use throng_core::params::{Draw, Limit};

/// What people expect of a metre of an exit, persons/s: what handbooks call the highest specific flow.
const SPECIFIC_FLOW: f64 = 1.3;
/// How close one comes to a waypoint where nothing is said, m.
const WAYPOINT_DISTANCE: f64 = 1.0;
/// How far apart people wait, in their diameters: others can still squeeze past.
const WAIT_APART: f64 = 1.3;
/// As how many times as long the way by an exit that people do not know counts, where nothing is said.
const UNFAMILIAR: f64 = 2.0;
/// Places that are tried across an area in search of a free one.
const TRIED_ACROSS: usize = 16;

impl Checker<'_> {
    /// Names of exits and stages, each of which may stand for one thing only.
    pub(super) fn names_of_ways(&mut self) {
        let mut names = BTreeSet::new();
        let exits = self.file.exits.iter().map(|exit| &exit.name).enumerate();
        let stages = self.file.stages.iter().map(|stage| &stage.name).enumerate();
        let all = exits.map(|named| ("exits", named)).chain(stages.map(|named| ("stages", named)));
        for (key, (index, name)) in all {
            if !names.insert(name) {
                let complaint = format!("an exit or a stage is called `{name}` already; choose another name");
                self.report.say(&KeyPath::top(key).then(index).then("name"), complaint);
            }
        }
        let mut journeys = BTreeSet::new();
        for (index, journey) in self.file.journeys.iter().enumerate() {
            if !journeys.insert(&journey.name) {
                let complaint = format!("another journey is called `{}` already", journey.name);
                self.report.say(&KeyPath::top("journeys").then(index).then("name"), complaint);
            }
        }
    }

    pub(super) fn exits(&mut self, lasting: &Lasting) -> Vec<Exit> {
        let exits = self.file.exits.iter().enumerate();
        exits
            .filter_map(|(index, exit)| self.exit(&KeyPath::top("exits").then(index), exit, lasting))
            .collect()
    }

    fn exit(&mut self, path: &KeyPath, exit: &ExitFile, lasting: &Lasting) -> Option<Exit> {
        let flow = Limit::above(0.0).up_to(LARGEST);
        for (key, number) in [("max_flow", exit.max_flow), ("capacity", exit.capacity)] {
            number.into_iter().for_each(|number| self.number(&path.then(key), number, flow));
        }
        let area =
            self.free_area(&path.then("area"), &exit.area, lasting, &format!("exit `{}`", exit.name))?;
        let longest = map::edges(&area).map(|[a, b]| a.distance(b)).fold(0.0, f64::max);
        Some(Exit {
            name: exit.name.clone(),
            middle: middle(&area, &lasting.region),
            area,
            max_flow: exit.max_flow,
            capacity: exit.capacity.or(exit.max_flow).unwrap_or(SPECIFIC_FLOW * longest),
            closed: exit.closed,
        })
    }

    /// A ring of which something is free.
    pub(super) fn free_area(
        &mut self,
        path: &KeyPath,
        corners: &[Point],
        lasting: &Lasting,
        what: &str,
    ) -> Option<Vec<DVec2>> {
        let area = self.area(path, corners)?;
        if map::free_area(&lasting.map, &area) < SMALLEST_GOAL {
            self.report.say(path, format!("no part of {what} is free; move it"));
            return None;
        }
        Some(area)
    }

    fn free_points(&mut self, path: &KeyPath, points: &[Point], lasting: &Lasting, what: &str) -> Vec<DVec2> {
        let points = self.some_points(path, points);
        for (index, &point) in points.iter().enumerate() {
            self.free_point(&path.then(index), point, lasting, what);
        }
        points
    }

    fn free_point(&mut self, path: &KeyPath, point: DVec2, lasting: &Lasting, what: &str) {
        if let Some(complaint) = trouble(point, &lasting.map, &lasting.region) {
            self.report.say(path, format!("{what} is at {}, {complaint}; move it", show(point)));
        }
    }

    /// The stages. Who waits in an area is as wide as the widest of all.
    pub(super) fn stages(&mut self, lasting: &Lasting, widest: f64) -> Vec<Stage> {
        let mut stages = Vec::new();
        for (index, stage) in self.file.stages.iter().enumerate() {
            let path = KeyPath::top("stages").then(index);
            let kind = match (&stage.waypoint, &stage.queue, &stage.waiting) {
                (Some(waypoint), None, None) => self.waypoint(&path.then("waypoint"), waypoint, lasting),
                (None, Some(queue), None) => self.queue(&path.then("queue"), queue, lasting),
                (None, None, Some(waiting)) => self.waiting(&path.then("waiting"), waiting, lasting, widest),
                _ => {
                    self.report.say(&path, "a stage needs exactly one of waypoint, queue, waiting");
                    None
                }
            };
            stages.extend(kind.map(|kind| Stage { name: stage.name.clone(), kind }));
        }
        stages
    }

    fn waypoint(&mut self, path: &KeyPath, waypoint: &WaypointFile, lasting: &Lasting) -> Option<StageKind> {
        match (waypoint.point, &waypoint.area) {
            (Some(point), None) => {
                let distance = waypoint.distance.unwrap_or(WAYPOINT_DISTANCE);
                self.number(&path.then("distance"), distance, Limit::above(0.0).up_to(LARGEST));
                let at = self.point(&path.then("point"), point);
                self.free_point(&path.then("point"), at, lasting, "the waypoint");
                Some(StageKind::Point { at, distance })
            }
            (None, Some(area)) => {
                if waypoint.distance.is_some() {
                    self.report
                        .value(&path.then("distance"), "belongs to `point`; of an area one must be inside");
                }
                self.free_area(&path.then("area"), area, lasting, "the waypoint").map(StageKind::Area)
            }
            _ => {
                self.report.say(path, "needs exactly one of point, area");
                None
            }
        }
    }

    fn queue(&mut self, path: &KeyPath, queue: &QueueFile, lasting: &Lasting) -> Option<StageKind> {
        let service = self.draw(&path.then("service"), &queue.service, Limit::from(0.0).up_to(LONGEST_TIME));
        let places = self.free_points(&path.then("places"), &queue.places, lasting, "the place");
        Some(StageKind::Queue { places, service: service? })
    }

    fn waiting(
        &mut self,
        path: &KeyPath,
        waiting: &WaitingFile,
        lasting: &Lasting,
        widest: f64,
    ) -> Option<StageKind> {
        if let Some(until) = waiting.until {
            self.number(&path.then("until"), until, Limit::from(0.0).up_to(LONGEST_TIME));
        }
        let area = self.free_area(&path.then("area"), &waiting.area, lasting, "the waiting area")?;
        let mut places = standing_room(&area, widest, &lasting.region);
        let room = places.len();
        let capacity =
            waiting.capacity.map_or(room, |capacity| usize::try_from(capacity).unwrap_or(usize::MAX));
        if capacity > room || capacity == 0 {
            let complaint = format!("there is room for {room} people of radius {widest} m");
            match waiting.capacity {
                Some(_) => {
                    self.report.value(&path.then("capacity"), format!("but {complaint}; change one of them"))
                }
                None => self.report.say(&path.then("area"), format!("{complaint}; enlarge it")),
            }
        }
        places.truncate(capacity);
        Some(StageKind::Waiting { places, until: waiting.until })
    }

    /// The journeys with a name.
    pub(super) fn journeys(&mut self) {
        for (index, journey) in self.file.journeys.iter().enumerate() {
            let path = KeyPath::top("journeys").then(index).then("stages");
            let Some((last, before)) = journey.stages.split_last() else {
                self.report.value(&path, "must end in an exit");
                continue;
            };
            let legs = before.iter().enumerate().filter_map(|(leg, file)| self.leg(&path.then(leg), file));
            let legs = legs.collect();
            let ending = self.last_leg(&path.then(before.len()), last);
            let ending = ending.unwrap_or_else(|| Ending::plain(Vec::new(), Choice::Nearest));
            self.journeys.push(Journey { name: Some(journey.name.clone()), legs, ending });
        }
    }

    fn leg(&mut self, path: &KeyPath, leg: &LegFile) -> Option<Leg> {
        match leg {
            LegFile::Name(name) => self.stage_named(path, name).map(Leg::Stage),
            LegFile::Choice(choice @ LegChoiceFile { share, shortest_queue, exits, choose: None, .. })
                if choice.leanings().written().next().is_none() =>
            {
                match (share.is_empty(), shortest_queue.is_empty(), exits.is_empty()) {
                    (false, true, true) => {
                        let path = path.then("share");
                        self.shares(&path, share.values().copied());
                        let stages = share.iter().map(|(name, share)| {
                            Some((self.stage_named(&path.then(name.as_str()), name)?, *share))
                        });
                        stages.collect::<Option<_>>().map(Leg::Share)
                    }
                    (true, false, true) => {
                        let path = path.then("shortest_queue");
                        let queues = shortest_queue.iter().enumerate();
                        let queues = queues.map(|(index, name)| self.queue_named(&path.then(index), name));
                        queues.collect::<Option<_>>().map(Leg::ShortestQueue)
                    }
                    (true, true, false) => {
                        self.report.say(&path.then("exits"), "exits can only stand at the end of a journey");
                        None
                    }
                    _ => {
                        self.report.say(path, "needs exactly one of share, shortest_queue");
                        None
                    }
                }
            }
            LegFile::Choice(choice) => {
                let keys = choice.choose.map(|_| "choose").into_iter().chain(choice.leanings().written());
                for key in keys {
                    self.report.say(&path.then(key), "belongs to `exits`, at the end of a journey");
                }
                None
            }
        }
    }

    fn last_leg(&mut self, path: &KeyPath, leg: &LegFile) -> Option<Ending> {
        match leg {
            LegFile::Name(name) => {
                let exits = vec![self.exit_named(path, name)?];
                Some(Ending::plain(exits, Choice::Nearest))
            }
            LegFile::Choice(leg @ LegChoiceFile { share, shortest_queue, exits, choose, .. })
                if shortest_queue.is_empty() && share.is_empty() != exits.is_empty() =>
            {
                if exits.is_empty() {
                    let shares = path.then("share");
                    self.shares(&shares, share.values().copied());
                    let named = share.keys().map(|name| self.exit_named(&shares.then(name.as_str()), name));
                    let exits = named.collect::<Option<_>>()?;
                    self.no_leanings(path, leg.leanings());
                    return Some(Ending::plain(exits, Choice::Share(share.values().copied().collect())));
                }
                if *choose == Some(ChooseFile::Share) {
                    let complaint = "needs shares: write `{ share = { name = 0.3, ... } }` here";
                    self.report.value(&path.then("choose"), complaint);
                }
                self.ending(path, exits, choose.unwrap_or_default(), None, leg.leanings())
            }
            LegFile::Choice(_) => {
                self.report
                    .say(path, "a journey ends in an exit: a name, { exits = [...] } or { share = {...} }");
                None
            }
        }
    }

    /// A goal of exits is a journey without stages.
    pub(super) fn way_out(&mut self, path: &KeyPath, goal: &GoalFile) -> Option<u32> {
        let ending = match (&goal.exit, &goal.exits) {
            (Some(exit), None) => {
                for key in goal.keys_of_exits() {
                    self.report.value(&path.then(key), "belongs to `exits`; one exit leaves no choice");
                }
                let exits = vec![self.exit_named(&path.then("exit"), exit)?];
                Ending::plain(exits, Choice::Nearest)
            }
            (_, exits) => {
                let exits = exits.as_deref().unwrap_or_default();
                let choose = goal.choose.unwrap_or_default();
                self.ending(path, exits, choose, goal.share.as_deref(), goal.leanings())?
            }
        };
        self.journeys.push(Journey { name: None, legs: Vec::new(), ending });
        Some(self.journeys.len() as u32 - 1)
    }

    fn ending(
        &mut self,
        path: &KeyPath,
        names: &[String],
        choose: ChooseFile,
        share: Option<&[f64]>,
        leanings: LeaningsFile<'_>,
    ) -> Option<Ending> {
        let (whole, exits_path) = (path, path.then("exits"));
        if names.is_empty() {
            self.report.value(&exits_path, "must name one exit or more");
            return None;
        }
        let exits = names.iter().enumerate();
        let exits = exits.map(|(index, name)| self.exit_named(&exits_path.then(index), name));
        let exits: Vec<usize> = exits.collect::<Option<_>>()?;
        let path = path.then("share");
        let choice = match (choose, share) {
            (ChooseFile::Nearest, None) => Choice::Nearest,
            (ChooseFile::Quickest, None) => Choice::Quickest,
            (ChooseFile::Share, Some(share)) if share.len() == names.len() => {
                self.shares(&path, share.iter().copied());
                self.no_leanings(whole, leanings);
                return Some(Ending::plain(exits, Choice::Share(share.to_vec())));
            }
            (ChooseFile::Share, share) => {
                let (given, exits) = (share.map_or(0, <[f64]>::len), names.len());
                self.report.say(&path, format!("lists {given} shares for {exits} exits; give each exit one"));
                return None;
            }
            (_, Some(_)) => {
                self.report.value(&path, "belongs to `choose = \"share\"`");
                return None;
            }
        };
        self.leaning(whole, names, leanings, Ending::plain(exits, choice))
    }

    /// Chance minds neither what is known nor what others do.
    fn no_leanings(&mut self, path: &KeyPath, leanings: LeaningsFile<'_>) {
        for key in leanings.written() {
            let complaint = "does nothing where chance decides; write `choose = \"nearest\"` or \"quickest\"";
            self.report.say(&path.then(key), complaint);
        }
    }

    /// Exits that people know count as they are, others as longer ways.
    fn leaning(
        &mut self,
        path: &KeyPath,
        names: &[String],
        leanings: LeaningsFile<'_>,
        ending: Ending,
    ) -> Option<Ending> {
        let LeaningsFile { familiar, unfamiliar, follow } = leanings;
        let known_names: Vec<&str> = names.iter().map(String::as_str).collect();
        for (index, name) in familiar.iter().enumerate() {
            self.named(&path.then("familiar").then(index), "exit among `exits` called", name, &known_names)?;
        }
        if familiar.is_empty() && unfamiliar.is_some() {
            self.report.value(
                &path.then("unfamiliar"),
                "belongs to `familiar`, which names the exits that are known",
            );
        }
        let unfamiliar = unfamiliar.unwrap_or(UNFAMILIAR);
        self.number(&path.then("unfamiliar"), unfamiliar, Limit::from(1.0).up_to(LARGEST));
        let follow = follow.unwrap_or(0.0);
        self.number(&path.then("follow"), follow, Limit::from(0.0).up_to(1.0));
        let weight = |name| if familiar.is_empty() || familiar.contains(name) { 1.0 } else { unfamiliar };
        Some(Ending { weights: names.iter().map(weight).collect(), follow, ..ending })
    }

    fn shares(&mut self, path: &KeyPath, shares: impl Iterator<Item = f64> + Clone) {
        if !shares.clone().all(|share| Limit::from(0.0).up_to(LARGEST).holds(share))
            || shares.sum::<f64>() <= 0.0
        {
            self.report.value(path, "must be numbers >= 0, not all of them 0");
        }
    }

    pub(super) fn exit_named(&mut self, path: &KeyPath, name: &str) -> Option<usize> {
        let names: Vec<&str> = self.file.exits.iter().map(|exit| exit.name.as_str()).collect();
        self.named(path, "exit", name, &names)
    }

    fn stage_named(&mut self, path: &KeyPath, name: &str) -> Option<usize> {
        let names: Vec<&str> = self.file.stages.iter().map(|stage| stage.name.as_str()).collect();
        if self.file.exits.iter().any(|exit| exit.name == name) {
            self.report
                .say(path, format!("`{name}` is an exit, which can only stand at the end of a journey"));
            return None;
        }
        self.named(path, "stage", name, &names)
    }

    fn queue_named(&mut self, path: &KeyPath, name: &str) -> Option<usize> {
        let stage = self.stage_named(path, name)?;
        if self.file.stages[stage].queue.is_none() {
            self.report.say(path, format!("stage `{name}` is not a queue"));
        }
        Some(stage)
    }

    pub(super) fn waiting_named(&mut self, path: &KeyPath, name: &str) -> Option<usize> {
        let stage = self.stage_named(path, name)?;
        if self.file.stages[stage].waiting.is_none() {
            self.report.say(path, format!("nobody waits at stage `{name}`; name one with `waiting`"));
        }
        Some(stage)
    }

    pub(super) fn journey_named(&mut self, path: &KeyPath, name: &str) -> Option<u32> {
        let names: Vec<&str> = self.file.journeys.iter().map(|journey| journey.name.as_str()).collect();
        self.named(path, "journey", name, &names).map(|index| index as u32)
    }

    fn named(&mut self, path: &KeyPath, what: &str, name: &str, names: &[&str]) -> Option<usize> {
        let found = names.iter().position(|other| *other == name);
        if found.is_none() {
            let known = known(name, names.iter().copied());
            self.report.say(path, format!("there is no {what} `{name}`; {known}"));
        }
        found
    }

    fn draw(&mut self, path: &KeyPath, number: &crate::scenario::Number, limit: Limit) -> Option<Draw> {
        number.draw(limit).map_err(|wrong| self.wrong(path, wrong)).ok()
    }
}

/// A free place of an area, as near to its middle as there is one.
fn middle(area: &[DVec2], region: &Region) -> DVec2 {
    let (low, high) = bounds(area);
    let middle = area.iter().sum::<DVec2>() / area.len() as f64;
    let inside = Region::new(&outline(area));
    let part = |sample: usize| (sample as f64 + 0.5) / TRIED_ACROSS as f64;
    let samples = (0..TRIED_ACROSS * TRIED_ACROSS).map(|sample| {
        low + (high - low) * DVec2::new(part(sample % TRIED_ACROSS), part(sample / TRIED_ACROSS))
    });
    let free = std::iter::once(middle).chain(samples).filter(|&at| inside.is_free(at) && region.is_free(at));
    free.min_by(|a, b| a.distance(middle).total_cmp(&b.distance(middle))).unwrap_or(middle)
}

/// Places where people can stand and wait.
fn standing_room(area: &[DVec2], radius: f64, region: &Region) -> Vec<DVec2> {
    let inside = Region::new(&outline(area));
    let mut places = lattice(area, WAIT_APART * radius);
    places.retain(|&at| inside.is_free(at) && region.is_free(at) && region.has_room(at, radius));
    places
}
