//! The runs of a calibration: each point with every seed, made side by side, remembered, and kept in a journal.

use super::Plan;
use super::search::Stop;
use super::trajectory::Diagram;
use crate::interrupt;
use crate::progress;
use crate::session::Ended;
use crate::sweep::grid::{Point, Value};
use crate::sweep::row::{self, Row};
use crate::sweep::store::Journal;
use crate::sweep::{to_its_end, workers};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

/// What was run, and what comes of it.
pub struct Runs<'a> {
    plan: &'a Plan,
    journal: Option<Journal>,
    /// By values and seed.
    rows: HashMap<Vec<String>, Row>,
    /// In the order in which they were asked for.
    tried: Vec<Vec<Value>>,
    progress: progress::Runs,
    made: usize,
    most_points: usize,
}

impl<'a> Runs<'a> {
    /// Goes on from rows that are there.
    pub fn new(plan: &'a Plan, journal: Option<Journal>, there: Vec<Row>) -> Runs<'a> {
        let rows = there.into_iter().map(|row| (row::id(&row, &plan.grid.axes), row)).collect();
        let progress = progress::Runs::new("runs at most", plan.most_points * plan.grid.seeds.len());
        Runs { plan, journal, rows, tried: Vec::new(), progress, made: 0, most_points: plan.most_points }
    }

    /// The rows of points, each by seed.
    pub fn of(&mut self, points: &[Vec<Value>]) -> anyhow::Result<Vec<Vec<Row>>> {
        for point in points {
            if !self.tried.contains(point) {
                if self.tried.len() >= self.most_points {
                    return Err(Stop::Enough.into());
                }
                self.tried.push(point.clone());
            }
        }
        self.make(points)?;
        let rows_of = |point: &Vec<Value>| {
            let ids = self.places(point).map(|place| row::id_of(&place));
            ids.filter_map(|id| self.rows.get(&id).cloned()).collect()
        };
        Ok(points.iter().map(rows_of).collect())
    }

    /// Allows more points.
    pub fn allow(&mut self, more: usize) {
        self.most_points = self.most_points.max(self.tried.len() + more);
    }

    /// Points that were tried.
    pub fn tried(&self) -> &[Vec<Value>] {
        &self.tried
    }

    /// How many runs there are of them.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    fn places<'p>(&self, point: &'p [Value]) -> impl Iterator<Item = Point<'p>> + use<'p, '_> {
        self.plan.grid.seeds.iter().map(|&seed| Point { values: point.iter().collect(), seed })
    }

    /// Makes the runs that are missing.
    fn make(&mut self, points: &[Vec<Value>]) -> anyhow::Result<()> {
        let mut missing: Vec<Point<'_>> = Vec::new();
        for place in points.iter().flat_map(|point| self.places(point)) {
            if !self.rows.contains_key(&row::id_of(&place)) && !missing.contains(&place) {
                missing.push(place);
            }
        }
        let Runs { plan, journal, rows, progress, made, .. } = self;
        let done = Cell::new(*made);
        let mut trouble = None;
        let take = |job: usize, result: anyhow::Result<Option<Row>>| {
            let kept = result.and_then(|row| {
                if let (Some(row), Some(journal)) = (&row, journal.as_mut()) {
                    journal.add(row)?;
                }
                Ok(row)
            });
            match kept {
                Ok(row) => rows.extend(row.map(|row| (row::id_of(&missing[job]), row))),
                Err(error) => trouble = trouble.take().or(Some(error)),
            }
            done.set(done.get() + 1);
            progress.at(done.get());
            trouble.is_none() && !interrupt::requested()
        };
        let jobs: Vec<usize> = (0..missing.len()).collect();
        let work = |job: usize, stop: &AtomicBool| plan.make_run(&missing[job], stop);
        workers::spread(&jobs, plan.threads, work, take, || progress.at(done.get()))?;
        *made = done.get();
        match trouble {
            Some(error) => Err(error),
            None if missing.iter().all(|place| rows.contains_key(&row::id_of(place))) => Ok(()),
            None => Err(Stop::Interrupted.into()),
        }
    }

    /// Puts the journal in order, those of earlier calls last, and takes the bar away.
    pub fn finish(mut self) -> anyhow::Result<()> {
        self.progress.clear();
        let Some(journal) = self.journal.take() else { return Ok(()) };
        let (plan, tried) = (self.plan, std::mem::take(&mut self.tried));
        let places = tried.iter().flat_map(|point| {
            plan.grid.seeds.iter().map(|&seed| Point { values: point.iter().collect(), seed })
        });
        let mut ordered: Vec<Row> =
            places.filter_map(|place| self.rows.remove(&row::id_of(&place))).collect();
        let mut others: Vec<(Vec<String>, Row)> = self.rows.into_iter().collect();
        others.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        ordered.extend(others.into_iter().map(|(_, row)| row));
        journal.finish(&ordered)
    }

    /// Where the rows are, if they are kept.
    pub fn journal(&self) -> Option<String> {
        self.journal.as_ref().map(|journal| journal.path().display().to_string())
    }
}

impl Plan {
    /// A run from its beginning to its end; nothing if it was broken off.
    fn make_run(&self, place: &Point<'_>, stop: &AtomicBool) -> anyhow::Result<Option<Row>> {
        let scenario = self.grid.scenario(&self.text, place, &self.set)?;
        let mut diagram = Diagram::default();
        let watched = self.targets.of_trajectories;
        let watch = |simulation: &throng::Simulation| {
            if watched {
                diagram.watch(simulation);
            }
        };
        let Some((ended, report)) = to_its_end(&scenario, stop, watch)? else { return Ok(None) };
        let mut row = row::row(&self.grid.axes, place, ended == Ended::Arrived, &report)?;
        if watched {
            let cell = |figure: Option<f64>| figure.map(|figure| figure.to_string()).unwrap_or_default();
            row.extend(diagram.figures().into_iter().map(|(name, figure)| (name, cell(figure))));
        }
        Ok(Some(row))
    }
}
