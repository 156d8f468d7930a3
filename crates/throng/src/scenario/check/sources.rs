//! Who comes in during the run.

use super::agents::{Chance, Drawer, Lasting, goals, trouble};
use super::cohorts::{Checked, Target};
use super::values::show;
use super::{Checker, LARGEST, LONGEST_TIME, MOST_AGENTS};
use crate::scenario::file::{SourceFile, Spacing};
use crate::scenario::path::KeyPath;
use crate::scenario::{AgentStart, Cohort, Source};
use glam::DVec2;
use throng_core::params::Limit;
use throng_core::rng::{self, Purpose};

/// A checked source whose people have no goals yet.
pub(super) struct Inflow<'a> {
    path: KeyPath,
    pub name: String,
    area: Option<Vec<DVec2>>,
    /// When they come, s, and where, as far as that is given.
    coming: Vec<(f64, Option<DVec2>)>,
    pub people: Checked<'a>,
    goal: Target,
    /// Draws of the people of a source are those of no agent that is there at the start.
    stream: u64,
}

impl<'a> Checker<'a> {
    pub(super) fn source_name(&self, index: usize) -> String {
        let path = KeyPath::top("sources").then(index);
        self.file.sources[index].name.clone().unwrap_or_else(|| path.to_string())
    }

    pub(super) fn sources(&mut self, lasting: &Lasting) -> Vec<Inflow<'a>> {
        let mut total: u64 = self.file.agents.iter().filter_map(|cohort| cohort.count).sum();
        let mut sources = Vec::new();
        for (index, file) in self.file.sources.iter().enumerate() {
            let path = KeyPath::top("sources").then(index);
            let source = self.source(index, file, &path, lasting, MOST_AGENTS.saturating_sub(total));
            total += source.as_ref().map_or(0, |source| source.coming.len() as u64);
            sources.extend(source);
        }
        sources
    }

    fn source(
        &mut self,
        index: usize,
        file: &'a SourceFile,
        path: &KeyPath,
        lasting: &Lasting,
        most: u64,
    ) -> Option<Inflow<'a>> {
        let stream = (1 << 32) | index as u64;
        let people = self.people(path, file.people());
        let goal = self.way(path, file.people());
        let coming = self.coming(path, file, lasting, stream, most)?;
        let area = match (&file.area, file.arrivals.is_some()) {
            (Some(area), false) => {
                Some(self.free_area(&path.then("area"), area, lasting, "where the source is")?)
            }
            (None, true) => None,
            (Some(_), true) => {
                self.report.say(&path.then("area"), "means nothing where `arrivals` says where people come");
                return None;
            }
            (None, false) => {
                self.report.say(&path.then("area"), "is missing: where do people come in?");
                return None;
            }
        };
        let (people, goal) = (people?, goal?);
        if matches!(goal, Target::Antipodal(_) | Target::Offset(_)) && area.is_some() {
            let complaint = "antipodal and offset need the places of `arrivals`; choose another goal";
            self.report.say(&path.then("goal"), complaint);
        }
        self.one_goal_each(&path.then("goal"), &goal, coming.len());
        self.one_figure_each(path, &people, coming.len());
        Some(Inflow { path: path.clone(), name: self.source_name(index), area, coming, people, goal, stream })
    }

    /// When people come, by rising time.
    fn coming(
        &mut self,
        path: &KeyPath,
        file: &SourceFile,
        lasting: &Lasting,
        stream: u64,
        most: u64,
    ) -> Option<Vec<(f64, Option<DVec2>)>> {
        let time = Limit::from(0.0).up_to(LONGEST_TIME);
        let mut coming: Vec<(f64, Option<DVec2>)> = match (file.rate, &file.times, &file.arrivals) {
            (Some(rate), None, None) => {
                self.number(&path.then("rate"), rate, Limit::above(0.0).up_to(LARGEST));
                let [from, until] = [file.from, file.until];
                for (key, at) in [("from", from), ("until", until)] {
                    at.into_iter().for_each(|at| self.number(&path.then(key), at, time));
                }
                if !self.report.is_empty() {
                    return None;
                }
                let span = [from.unwrap_or(0.0), until.unwrap_or(self.file.until)];
                let count =
                    usize::try_from(file.count.unwrap_or(u64::MAX).min(most + 1)).unwrap_or(usize::MAX);
                let times = times(rate, file.spacing.unwrap_or_default(), span, self.file.seed, stream);
                times.take(count).map(|at| (at, None)).collect()
            }
            (None, times, arrivals) if times.is_some() != arrivals.is_some() => {
                self.only_with_rate(path, file);
                let key = if times.is_some() { "times" } else { "arrivals" };
                let times = times.iter().flatten().map(|&at| (at, None));
                let arrivals = arrivals.iter().flatten();
                let listed = times.chain(arrivals.map(|&[at, x, y]| (at, Some(DVec2::new(x, y)))));
                let listed: Vec<_> = listed.collect();
                for (index, &(at, place)) in listed.iter().enumerate() {
                    let path = path.then(key).then(index);
                    if !time.holds(at) {
                        self.report.value(&path, format!("must come at a time {time}"));
                    }
                    let wrong =
                        place.and_then(|place| Some((place, trouble(place, &lasting.map, &lasting.region)?)));
                    if let Some((place, complaint)) = wrong {
                        self.report
                            .say(&path, format!("someone comes at {}, {complaint}; move it", show(place)));
                    }
                }
                listed
            }
            _ => {
                self.report.say(path, "a source needs exactly one of rate, times, arrivals");
                return None;
            }
        };
        if coming.len() as u64 > most {
            let complaint = format!("makes more than {MOST_AGENTS} agents in all, which is the most");
            self.report.say(path, complaint);
            return None;
        }
        coming.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(coming)
    }

    fn only_with_rate(&mut self, path: &KeyPath, file: &SourceFile) {
        let keys = [
            ("spacing", file.spacing.is_some()),
            ("from", file.from.is_some()),
            ("until", file.until.is_some()),
            ("count", file.count.is_some()),
        ];
        for (key, _) in keys.into_iter().filter(|(_, written)| *written) {
            self.report.value(&path.then(key), "belongs to `rate`; a list says it all");
        }
    }

    /// Gives the people of sources their goals and figures. Their cohorts come after those who are there at the start.
    pub(super) fn fill_sources(
        &mut self,
        inflows: &[Inflow<'_>],
        lasting: &Lasting,
        cohorts: &mut Vec<Cohort>,
        areas: &mut Vec<Vec<DVec2>>,
    ) -> Vec<Source> {
        let mut sources = Vec::new();
        for inflow in inflows {
            let starts: Vec<DVec2> =
                inflow.coming.iter().map(|(_, place)| place.unwrap_or_default()).collect();
            let (seed, region) = (self.file.seed, &lasting.region);
            let chance = Chance { seed, first_id: 0, goal: inflow.stream, region };
            let goals = goals(&inflow.goal, &starts, areas, chance);
            self.goals_are_free(&inflow.path.then("goal"), &inflow.name, &inflow.goal, &goals, lasting);
            let drawer = Drawer { seed, step: inflow.stream };
            let people = inflow.coming.iter().zip(starts).zip(goals).enumerate();
            let person = |(member, ((&(at, _), position), goal))| {
                let agent =
                    AgentStart { position, goal, ..inflow.people.agent(drawer, member, member as u32) };
                (at, agent)
            };
            let cohort = cohorts.len();
            let people: Vec<(f64, AgentStart)> = people.map(person).collect();
            let area = match inflow.goal {
                Target::Area(_) => Some(areas.len() as u32 - 1),
                _ => None,
            };
            let widest = people.iter().map(|(_, agent)| agent.radius).fold(0.0, f64::max);
            let widest = if widest > 0.0 { widest } else { inflow.people.radius.high() };
            cohorts.push(Cohort { area, ..inflow.people.cohort(&inflow.name, Vec::new(), widest) });
            sources.push(Source { cohort, area: inflow.area.clone(), people });
        }
        sources
    }
}

/// Times at which people come at a rate, from one time to another.
fn times(
    rate: f64,
    spacing: Spacing,
    [from, until]: [f64; 2],
    seed: u64,
    stream: u64,
) -> impl Iterator<Item = f64> {
    let mut draws = rng::stream(seed, 0, stream, Purpose::Coming);
    let mut next = from;
    let times = (0u64..).map(move |person| match spacing {
        Spacing::Regular => from + person as f64 / rate,
        Spacing::Random => {
            // 1 - u lies in (0, 1], where the logarithm is finite.
            next -= (1.0 - draws.f64()).ln() / rate;
            next
        }
    });
    times.take_while(move |&at| at < until)
}
