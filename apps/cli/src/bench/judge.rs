//! What we set ourselves, held against what was measured. Sizes that were not run are left out.

use super::peers::{DENSE, FACADE, SAME_MODELS, USUAL};
use super::workload::DENSITY;
use super::{Outcome, Row, dodgy, ours, python};
use crate::findings::{Finding, Side};

/// Times the throughput of dodgy_2d: where there is room, and where half-planes leave none.
const OVER_DODGY: [(f64, f64); 3] = [(DENSITY, 5.0), (DENSE[0], 4.0), (DENSE[1], 4.0)];
const OVER_PYRVO: [(usize, f64); 2] = [(10_000, 20.0), (100_000, 30.0)];
const OVER_ONE_THREAD: [(usize, f64); 3] = [(1_000, 1.5), (10_000, 1.9), (100_000, 1.9)];
/// Of the largest crowd.
const LARGEST: usize = 1_000_000;
const STEPS_A_SECOND: f64 = 10.0;
const PEAK_MB: f64 = 300.0;
/// What of a step one thread does alone, however many there are.
const SERIAL: f64 = 0.01;

/// All claims that can be looked at.
pub fn all(outcome: &Outcome) -> Vec<Finding> {
    let rows = Rows(&outcome.rows);
    let mut findings = over_dodgy(rows);
    findings.extend(over_pyrvo(rows, &outcome.skipped));
    findings.extend(over_jupedsim(rows));
    findings.extend(growing(rows));
    findings.extend(on_two_threads(rows));
    findings.extend(largest(rows));
    for shared in outcome.threads.iter().filter(|shared| shared.agents >= USUAL) {
        let name = format!("share of a step that is serial, {} agents", shared.agents);
        findings.push(Finding::new(name, shared.serial_share(), Side::AtMost, SERIAL));
    }
    findings
}

#[derive(Clone, Copy)]
struct Rows<'a>(&'a [Row]);

impl Rows<'_> {
    fn ns(self, agents: usize, density: f64, system: &str, threads: usize) -> Option<f64> {
        let is_asked = |row: &&Row| {
            let same = (row.agents, row.system, row.threads) == (agents, system, threads);
            same && row.density == density && row.model.is_none()
        };
        self.0.iter().find(is_asked).map(|row| row.ns_per_agent_step)
    }

    fn usual(self, agents: usize, system: &str, threads: usize) -> Option<f64> {
        self.ns(agents, DENSITY, system, threads)
    }

    fn ours(self, agents: usize) -> Option<f64> {
        self.usual(agents, ours::NAME, 1)
    }
}

fn over_dodgy(rows: Rows<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (density, bar) in OVER_DODGY {
        for agents in [1_000, 10_000, 100_000] {
            let ns = |system| rows.ns(agents, density, system, 1);
            let (Some(ours), Some(theirs)) = (ns(ours::NAME), ns(dodgy::NAME)) else { continue };
            let name = format!("times the throughput of dodgy_2d, {agents} agents at {density}/m²");
            findings.push(Finding::new(name, theirs / ours, Side::AtLeast, bar));
        }
    }
    findings
}

fn over_pyrvo(rows: Rows<'_>, skipped: &[String]) -> Vec<Finding> {
    let pyrvo = python::PYRVO.name;
    let reason = skipped.iter().find_map(|reason| reason.strip_prefix(pyrvo)).map(str::trim);
    let mut findings = Vec::new();
    for (agents, bar) in OVER_PYRVO {
        let name = format!("times the throughput of {pyrvo}, {agents} agents");
        match (rows.ours(agents), rows.usual(agents, pyrvo, 1), reason) {
            (Some(ours), Some(theirs), _) => {
                findings.push(Finding::new(name, theirs / ours, Side::AtLeast, bar));
            }
            (Some(_), None, Some(reason)) => {
                findings.push(Finding::skipped(name, Side::AtLeast, bar, reason))
            }
            _ => {}
        }
    }
    findings
}

fn over_jupedsim(rows: Rows<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (model, peer) in SAME_MODELS {
        let ns = |system| rows.usual(USUAL, system, 1);
        if let (Some(ours), Some(theirs)) = (ns(model), ns(peer.name)) {
            let name = format!("times the throughput of {}, {USUAL} agents", peer.name);
            findings.push(Finding::new(name, theirs / ours, Side::AtLeast, 1.0));
        }
    }
    findings
}

/// As crowds grow, and through the façade.
fn growing(rows: Rows<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let (Some(few), Some(many)) = (rows.ours(10_000), rows.ours(100_000)) {
        let name = "time per agent-step at 100000 agents over that at 10000";
        findings.push(Finding::new(name, many / few, Side::AtMost, 1.2));
    }
    for agents in [10_000, 100_000] {
        if let (Some(scenario), Some(code)) = (rows.ours(agents), rows.usual(agents, FACADE, 1)) {
            let name = format!("time through the façade over that of a scenario, {agents} agents");
            findings.push(Finding::new(name, code / scenario, Side::AtMost, 1.02));
        }
    }
    findings
}

fn on_two_threads(rows: Rows<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (agents, bar) in OVER_ONE_THREAD {
        if let (Some(one), Some(two)) = (rows.ours(agents), rows.usual(agents, ours::NAME, 2)) {
            let name = format!("times the throughput of one thread on two, {agents} agents");
            findings.push(Finding::new(name, one / two, Side::AtLeast, bar));
        }
    }
    findings
}

fn largest(rows: Rows<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(ns) = rows.usual(LARGEST, ours::NAME, 2) {
        let name = format!("steps a second of {LARGEST} agents on two threads");
        findings.push(Finding::new(name, 1e9 / ns / LARGEST as f64, Side::AtLeast, STEPS_A_SECOND));
    }
    let peaks = rows.0.iter().filter(|row| row.agents == LARGEST).filter_map(|row| row.peak_rss_mb);
    if let Some(peak) = peaks.reduce(f64::max) {
        let name = format!("peak memory of {LARGEST} agents, MB");
        findings.push(Finding::new(name, peak, Side::AtMost, PEAK_MB));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::workload::Workload;
    use super::*;

    #[test]
    fn a_peer_that_is_not_there_is_skipped_and_never_passed() {
        let row = |system, ns| Row::new(Workload::of(10_000), system, 1, ns);
        let rows = vec![row(ours::NAME, 200.0), row(dodgy::NAME, 1200.0)];
        let skipped = vec!["pyrvo skipped: pip install pyrvo".to_string()];
        let findings = all(&Outcome { rows, skipped, ..Outcome::default() });
        let verdicts: Vec<Option<bool>> = findings.iter().map(|finding| finding.holds).collect();
        assert_eq!(verdicts, [Some(true), None]);
        assert_eq!(findings[1].reason.as_deref(), Some("skipped: pip install pyrvo"));
    }

    #[test]
    fn a_model_of_the_table_is_no_figure_beside_peers() {
        let row = Row { model: Some("hrvo"), ..Row::new(Workload::of(10_000), ours::NAME, 1, 900.0) };
        let peer = Row::new(Workload::of(10_000), dodgy::NAME, 1, 900.0);
        assert!(all(&Outcome { rows: vec![row, peer], ..Outcome::default() }).is_empty());
    }
}
