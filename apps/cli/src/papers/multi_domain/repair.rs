//! Section 5.1: plans that are kept and repaired, beside planning anew.
//!
//! Whenever an agent has mended a plan with the search that it keeps, another one begins anew for a plan with the same bound, and
//! nothing comes of it: so both see the same world. And whole runs are made both ways, in which the worlds differ.

use super::super::Row;
use super::scale::city;
use super::scenarios::{NAMES, open};
use crate::findings::{Finding, Side};
use crate::progress::Runs;
use crate::statistics::mean;
use throng::planning::TaskRecord;
use throng::scenario::Overrides;
use throng::{Scenario, Simulation};

const TABLE: &str = "Repair: states that are expanded, or looked at again";
const SEEDS: u64 = 3;
const QUICK_SEEDS: u64 = 1;
/// Agents in the city, and blocks: a cart for every four of them.
const CITY: (usize, u32) = (300, 200);
/// No run is longer, s.
const LONGEST: f64 = 240.0;

/// What searches have done in some runs.
#[derive(Default)]
struct Work {
    /// For plans that were mended: by the search that was kept, and by one that begins anew.
    compared: [u64; 2],
    /// In all turns, by task.
    by_task: [u64; 5],
    /// Cost of a plan of the one that was kept over one of the other, where both have one.
    ratios: Vec<f64>,
}

impl Work {
    fn add(&mut self, record: &TaskRecord) {
        self.by_task = std::array::from_fn(|task| self.by_task[task] + record.searched[task]);
        let Some(compared) = record.compared else { return };
        let [kept, anew] = compared.expansions;
        self.compared = [self.compared[0] + kept, self.compared[1] + anew];
        self.ratios.extend(compared.costs.map(|[kept, anew]| f64::from(kept / anew.max(1e-6))));
    }

    fn join(&mut self, other: Work) {
        self.compared = [self.compared[0] + other.compared[0], self.compared[1] + other.compared[1]];
        self.by_task = std::array::from_fn(|task| self.by_task[task] + other.by_task[task]);
        self.ratios.extend(other.ratios);
    }
}

/// Adds what repair takes to a reproduction.
pub fn compare(quick: bool, rows: &mut Vec<Row>, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    let seeds = if quick { QUICK_SEEDS } else { SEEDS };
    let progress = Runs::new("runs", (NAMES.len() + 1) * seeds as usize);
    let mut done = 0;
    let mut whole = Work::default();
    let mut measure = |name: &str, of: &dyn Fn(u64, bool) -> anyhow::Result<Scenario>| {
        let mut both = [Work::default(), Work::default()];
        for seed in 1..=seeds {
            progress.at(done);
            done += 1;
            for (work, repair) in both.iter_mut().zip([true, false]) {
                work.join(run(&of(seed, repair)?)?);
            }
        }
        rows.extend(rows_of(name, &both));
        anyhow::Ok(both)
    };
    for name in NAMES {
        let of = |seed, repair| open(name, &overrides(seed, repair));
        let [kept, _] = measure(name, &of)?;
        whole.join(kept);
    }
    let [kept, _] = measure("city, 50 that move", &|seed, repair| {
        let text = city(CITY.0, CITY.1, seed as usize);
        Ok(Scenario::parse_with(&text, "city.toml", None, &overrides(seed, repair))?)
    })?;
    progress.clear();
    findings.extend(findings_of("ten scenarios", &whole));
    findings.extend(findings_of("city", &kept));
    Ok(())
}

fn overrides(seed: u64, repair: bool) -> Overrides {
    let set = |key: &str| (format!("params.multi-domain.{key}"), repair.to_string());
    Overrides { seed: Some(seed), set: vec![set("repair"), set("compare")], ..Overrides::default() }
}

fn run(scenario: &Scenario) -> anyhow::Result<Work> {
    let mut simulation = Simulation::with_threads(scenario, 2)?;
    let mut work = Work::default();
    while !simulation.is_done() && simulation.frame().time < LONGEST {
        simulation.step();
        simulation.serviced().iter().for_each(|record| work.add(record));
    }
    Ok(work)
}

fn rows_of(name: &str, [kept, anew]: &[Work; 2]) -> Vec<Row> {
    let row = |metric: &str, ours: f64| Row {
        table: TABLE,
        row: name.into(),
        metric: metric.into(),
        unit: "1",
        paper: None,
        ours: Some(ours),
    };
    let mut rows =
        vec![row("kept", kept.compared[0] as f64), row("for the same plans anew", kept.compared[1] as f64)];
    for (how, work) in [("with repair", kept), ("without", anew)] {
        let tasks = work.by_task.iter().enumerate().filter(|(_, count)| **count > 0);
        rows.extend(
            tasks.map(|(task, &count)| row(&format!("all of T(Σ{}), {how}", task + 1), count as f64)),
        );
    }
    rows
}

fn findings_of(name: &str, work: &Work) -> [Finding; 2] {
    let ratio = work.compared[0] as f64 / work.compared[1].max(1) as f64;
    let cost = (!work.ratios.is_empty()).then(|| mean(&work.ratios));
    [
        Finding::new(format!("{name}: expansions of repair over planning anew"), ratio, Side::AtMost, 0.5),
        Finding::new(format!("{name}: cost of repaired plans over fresh ones"), cost, Side::AtMost, 1.02),
    ]
}
