//! What planners take among 25 blocks: crowds with one planner each, step by step beside one another, so that a busy machine slows all
//! of them. `city [PLANNERS] [AGENTS] [shared|own] [STEPS]`, as in `city navmesh,dynamic-navmesh:budget=20000 2000 own 300`.
use std::collections::BTreeMap;
use std::time::Instant;
use throng::prelude::*;

const BLOCKS: usize = 5;
const BLOCK: f64 = 16.0;
const STREET: f64 = 8.0;
/// Where agents begin and end, around the blocks.
const APRON: f64 = 30.0;
const TOWN: f64 = BLOCKS as f64 * (BLOCK + STREET) + STREET;
const SIZE: f64 = TOWN + 2.0 * APRON;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut said = std::env::args().skip(1);
    let planners = said.next().unwrap_or("navmesh,dynamic-navmesh".into());
    let agents = said.next().map_or(Ok(2000), |agents| agents.parse())?;
    let own_goals = said.next().is_some_and(|goals| goals == "own");
    let steps = said.next().map_or(Ok(300), |steps| steps.parse())?;
    let runs = planners
        .split(',')
        .map(|planner| Ok((planner, city(planner, agents, own_goals)?, Vec::new(), Vec::new())));
    let mut runs = runs.collect::<Result<Vec<_>, Box<dyn std::error::Error>>>()?;
    for _ in 0..steps {
        for (_, crowd, took, arrivals) in &mut runs {
            let begin = Instant::now();
            crowd.step();
            took.push(begin.elapsed().as_secs_f64() * 1e3);
            arrivals.extend(crowd.departures().iter().map(|_| crowd.time()));
        }
    }
    let mut least: Option<f64> = None;
    for (planner, crowd, mut took, arrivals) in runs {
        took.sort_by(f64::total_cmp);
        let at = |share: f64| {
            took.get((took.len() as f64 * share) as usize).or(took.last()).copied().unwrap_or(0.0)
        };
        let median = at(0.5);
        let ratio = median / *least.get_or_insert(median);
        let planned = crowd.timings().total.macroscale.as_secs_f64() / steps as f64 * 1e3;
        println!(
            "{planner}: a step takes {median:.2} ms, {ratio:.1} times the first planner's, 99 of 100 under {:.1}, the longest {:.1}; {planned:.2} ms \
             of planning on average; {} of {agents} have arrived, after {:.1} s on average",
            at(0.99),
            at(1.0),
            arrivals.len(),
            arrivals.iter().sum::<f64>() / arrivals.len().max(1) as f64,
        );
    }
    Ok(())
}

/// A quarter of all agents on each side of the town, who want to the other side: to three places, or each to one of its own.
fn city(planner: &str, agents: usize, own_goals: bool) -> Result<Crowd, Box<dyn std::error::Error>> {
    let (planner, params) = planner.split_once(':').unwrap_or((planner, ""));
    let mut builder = Crowd::builder()
        .threads(1)
        .walkable(&square([0.0, 0.0], SIZE))
        .macroscale_named(planner, values(params))
        .cohort(Cohort::default().goal_radius(3.0).leaves_on_arrival());
    for i in 0..BLOCKS * BLOCKS {
        let low = [i % BLOCKS, i / BLOCKS].map(|i| APRON + STREET + i as f64 * (BLOCK + STREET));
        builder = builder.obstacle(format!("block {i}"), &square(low, BLOCK));
    }
    let mut crowd = builder.build()?;
    let columns = (agents as f64).sqrt().ceil() as usize;
    for i in 0..agents {
        let (side, i) = (i % 4, i / 4);
        let turned = |along: f64, deep: f64| match side {
            0 => [deep, along],
            1 => [along, deep],
            2 => [SIZE - deep, along],
            _ => [along, SIZE - deep],
        };
        let place = |i: usize| {
            let (column, line) = (i % columns, i / columns);
            (APRON + 0.5 + column as f64 / columns as f64 * (TOWN - 1.0), 2.0 + 1.2 * line as f64)
        };
        let (along, deep) = place(i);
        let (goal, goal_deep) = if own_goals {
            place(i * 7919 % (agents / 4).max(1))
        } else {
            (APRON + (i % 3) as f64 / 2.0 * TOWN, 5.0)
        };
        let speed = 1.1 + (i % 7) as f64 * 0.08;
        crowd.spawn(Agent::at(turned(along, deep)).goal(turned(goal, SIZE - goal_deep)).speed(speed))?;
    }
    Ok(crowd)
}

fn square([x, y]: [f64; 2], side: f64) -> [[f64; 2]; 4] {
    [[x, y], [x + side, y], [x + side, y + side], [x, y + side]]
}

/// Of `name=value;name=value`.
fn values(params: &str) -> BTreeMap<String, Value> {
    let pairs = params.split(';').filter_map(|pair| pair.split_once('='));
    let value = |text: &str| text.parse().map_or_else(|_| Value::Word(text.into()), Value::Number);
    pairs.map(|(name, text)| (name.to_string(), value(text))).collect()
}
