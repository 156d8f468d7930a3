//! Instructions in the place of time: `throng bench --instructions FILE`.
//!
//! How long a step takes depends on what else a machine does; how many instructions it takes does not. Small crowds are stepped
//! under callgrind, which counts what [`counted_steps`] and all that it calls execute on one thread, and nothing of what leads
//! there. The counts are held against those in a file: a change that costs more than the tolerance fails, until it has said so by
//! `--update`. valgrind shows programs a processor without AVX-512, so what is counted is the AVX2 code.
//!
//! Counts are those of a compiler and of a kind of processor; with others nothing is held against the file.

use super::case::{Case, chosen, usual_walls};
use super::ours::Ours;
use super::workload::{DENSITY, RandomCrossing, Workload};
use crate::{files, findings, output, watch};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use throng::Simulation;
use throng::catalog::Stage;

/// What a change may cost without saying so.
const TOLERANCE: f64 = 0.03;
/// Agents of a crowd that is counted: few, because callgrind takes fifty times as long as the processor.
const AGENTS: usize = 300;
/// Steps before what is counted: the crowd walks, and planners have planned.
const WARM_UP: usize = 3;
const STEPS: usize = 5;
/// Where bodies press one another; per m².
const DENSE: f64 = 2.0;

const HEADER: &str = "\
# Instructions per agent and step, as callgrind counts them: `throng bench --instructions FILE` fails where one rises by more than
# 3 %. A change that is worth more says so by writing this file anew: `throng bench --instructions FILE --update`.
";

/// The file.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    /// What the engine was compiled with.
    compiler: String,
    /// What it was compiled for, and what the processor can do of what the engine asks for.
    processor: String,
    /// By case.
    instructions: BTreeMap<String, u64>,
}

/// Steps of a case.
struct Counted {
    case: Case,
    /// The very first, in which planners look at the map, in the place of later ones.
    first: bool,
}

/// What was counted, and what stands in the file.
struct Compared {
    name: String,
    before: Option<u64>,
    now: u64,
}

/// Every model where there is room, and those that look at one another also where there is none; of planners also the first step.
fn all() -> Vec<Counted> {
    let entries = chosen(&[]).unwrap_or_default();
    let mut all = Vec::new();
    for entry in &entries {
        let walls = usual_walls(entry.stage);
        let mut add = |density, first| {
            let case = Case::new(entry, Workload { agents: AGENTS, density, walls });
            all.push(Counted { case, first });
        };
        add(DENSITY, false);
        match entry.stage {
            Stage::Macroscale => add(DENSITY, true),
            Stage::Microscale => add(DENSE, false),
            Stage::Mesoscale | Stage::Motion => {}
        }
    }
    all
}

impl Counted {
    fn name(&self) -> String {
        let name = self.case.name();
        if self.first { format!("{name}, first step") } else { name }
    }

    /// Steps before those that are counted, and those.
    fn steps(&self) -> [usize; 2] {
        if self.first { [0, 1] } else { [WARM_UP, STEPS] }
    }
}

/// Counts all cases, and compares them with a file, or writes it.
pub fn run(path: &Path, update: bool) -> anyhow::Result<ExitCode> {
    let known = read(path, update)?;
    if let Some(reason) = cannot_count() {
        output::show(&format!("skipped: {reason}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let (compiler, processor) = (env!("THRONG_COMPILER").to_string(), processor());
    if !update && (&known.compiler, &known.processor) != (&compiler, &processor) {
        let reason = format!(
            "skipped: `{}` has the counts of {} on {}, and this is {compiler} on {processor}\n",
            path.display(),
            known.compiler,
            known.processor
        );
        output::show(&reason)?;
        return Ok(ExitCode::SUCCESS);
    }
    let instructions = count_all()?;
    let compared: Vec<Compared> = instructions
        .iter()
        .map(|(name, &now)| Compared {
            name: name.clone(),
            before: known.instructions.get(name).copied(),
            now,
        })
        .collect();
    output::show(&text(&compared, update))?;
    if update {
        let counts = toml::to_string(&Counts { compiler, processor, instructions })?;
        files::replace(path, format!("{HEADER}{counts}").as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let fell_short = compared.iter().any(Compared::costs_more);
    Ok(if fell_short { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn read(path: &Path, update: bool) -> anyhow::Result<Counts> {
    match std::fs::read_to_string(path) {
        Ok(text) => toml::from_str(&text).with_context(|| format!("cannot read `{}`", path.display())),
        Err(_) if update => Ok(Counts::default()),
        Err(error) => bail!("cannot read `{}`: {}", path.display(), output::reason(&error)),
    }
}

/// Why nothing can be counted here.
fn cannot_count() -> Option<&'static str> {
    let valgrind =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    (!valgrind.is_ok_and(|status| status.success()))
        .then_some("there is no valgrind, which counts instructions")
}

fn processor() -> String {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return "x86_64 with AVX2".into();
    }
    std::env::consts::ARCH.into()
}

/// Instructions per agent and step. Two at a time, each in a process of its own.
fn count_all() -> anyhow::Result<BTreeMap<String, u64>> {
    let (line, mut counts) = (watch::Line::new(), BTreeMap::new());
    for pair in all().chunks(2) {
        line.say(&pair[0].name());
        let counted: Vec<_> = thread::scope(|scope| {
            let counting: Vec<_> = pair.iter().map(|one| scope.spawn(|| count(&one.name()))).collect();
            counting.into_iter().map(|counting| counting.join()).collect()
        });
        for (one, counted) in pair.iter().zip(counted) {
            let counted = counted.map_err(|_| anyhow::anyhow!("counting ended too soon"))??;
            counts.insert(one.name(), counted / (AGENTS * one.steps()[1]) as u64);
        }
    }
    Ok(counts)
}

/// All instructions of the counted steps of a case.
fn count(name: &str) -> anyhow::Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg("--toggle-collect=*counted_steps*")
        .arg(std::env::current_exe()?)
        .args(["bench", "--counted", name])
        .output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let counted = told.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    match counted {
        Some(counted) if output.status.success() && counted > 0 => Ok(counted),
        _ => bail!("callgrind could not count `{name}`:\n{told}"),
    }
}

/// What is run under callgrind.
pub fn step_case(name: &str) -> anyhow::Result<ExitCode> {
    let asked = all().into_iter().find(|one| one.name() == name);
    let asked = asked.with_context(|| format!("there is nothing to count called `{name}`"))?;
    let [before, steps] = asked.steps();
    let crowd = RandomCrossing::new(asked.case.workload);
    let mut ours = Ours::new(&crowd, &asked.case.pipeline, 1)?;
    ours.simulation.on_threads(|simulation| {
        (0..before).for_each(|_| simulation.step());
        counted_steps(simulation, steps);
    });
    Ok(ExitCode::SUCCESS)
}

/// Found by its name, so it must be a function of its own.
#[inline(never)]
fn counted_steps(simulation: &mut Simulation, steps: usize) {
    (0..steps).for_each(|_| simulation.step());
}

impl Compared {
    /// How many times what it was before.
    fn ratio(&self) -> Option<f64> {
        self.before.map(|before| self.now as f64 / before as f64)
    }

    fn costs_more(&self) -> bool {
        self.ratio().is_none_or(|ratio| ratio > 1.0 + TOLERANCE)
    }

    fn verdict(&self) -> &'static str {
        match self.ratio() {
            None => "NEW",
            Some(_) if self.costs_more() => "COSTS MORE",
            Some(ratio) if ratio < 1.0 - TOLERANCE => "costs less",
            Some(_) => "",
        }
    }
}

fn text(compared: &[Compared], update: bool) -> String {
    let line = |one: &Compared| {
        let change = one.ratio().map(|ratio| format!("{:+.1} %", 100.0 * (ratio - 1.0)));
        vec![
            one.name.clone(),
            one.before.map(|before| before.to_string()).unwrap_or_default(),
            one.now.to_string(),
            change.unwrap_or_default(),
            one.verdict().into(),
        ]
    };
    let header = ["instructions per agent and step", "before", "now", "change", ""];
    let lines: Vec<Vec<String>> = compared.iter().map(line).collect();
    let mut text = findings::table(1, &header, &lines);
    let more = compared.iter().filter(|one| one.costs_more()).count();
    let less = compared.iter().filter(|one| one.verdict() == "costs less").count();
    text += &match (update, more, less) {
        (true, ..) => "Written down.\n".into(),
        (false, 0, 0) => "None costs more than 3 % more than before.\n".to_string(),
        (false, 0, less) => {
            format!("None costs more, and {less} cost less: hold them to it with --update.\n")
        }
        (false, more, _) => {
            format!(
                "{more} cost more than 3 % more than before, or are new: say so with --update, or mend them.\n"
            )
        }
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_more_than_the_tolerance_fails_and_what_costs_less_does_not() {
        let of = |before, now| Compared { name: String::new(), before, now };
        assert!(!of(Some(1000), 1029).costs_more() && of(Some(1000), 1031).costs_more());
        assert!(of(None, 5).costs_more());
        assert_eq!(of(Some(1000), 900).verdict(), "costs less");
    }

    #[test]
    fn every_case_is_found_by_its_name() {
        let mut names: Vec<String> = all().iter().map(Counted::name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
