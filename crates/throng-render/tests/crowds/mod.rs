//! Runs to draw, made up by formulas.

use glam::DVec2;
use std::f64::consts::{PI, TAU};
use throng::Frame;
use throng::record::{CohortInfo, RecordOptions, Recorder, Run, RunInfo, open_run};

const DT: f64 = 0.1;

/// A path by agent and time (s); `None` while it is not there.
type PositionAt = dyn Fn(u32, f64) -> Option<DVec2>;

/// Records paths and reads them back, as a file would come.
fn recorded(info: &RunInfo, agents: u32, seconds: f64, way: &PositionAt) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sqlite");
    let mut recorder = Recorder::create_with(&path, info, RecordOptions::default()).unwrap();
    let cohort_of = |id: u32| info.cohorts.iter().rposition(|cohort| cohort.first_id <= id).unwrap() as u16;
    for step in 0..=(seconds / DT) as u64 {
        let time = step as f64 * DT;
        let here: Vec<(u32, DVec2)> = (0..agents).filter_map(|id| Some((id, way(id, time)?))).collect();
        let velocity = |id: u32, at: DVec2| (way(id, time + DT).unwrap_or(at) - at) / DT;
        let column = |value: &dyn Fn(u32, DVec2) -> f64| -> Vec<f32> {
            here.iter().map(|(id, at)| value(*id, *at) as f32).collect()
        };
        recorder
            .frame(Frame {
                step,
                time,
                origin: DVec2::ZERO,
                id: &here.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
                x: &column(&|_, at| at.x),
                y: &column(&|_, at| at.y),
                vx: &column(&|id, at| velocity(id, at).x),
                vy: &column(&|id, at| velocity(id, at).y),
                cohort: &here.iter().map(|(id, _)| cohort_of(*id)).collect::<Vec<_>>(),
                planted: &[],
                map_changes: 0,
                map: None,
                within: None,
            })
            .unwrap();
    }
    recorder.finish().unwrap();
    open_run(&path).unwrap()
}

fn cohort(name: &str, first_id: u32, count: u32) -> CohortInfo {
    CohortInfo { name: name.into(), first_id, count, radius: 0.3 }
}

/// Slow at first and at last.
fn eased(share: f64) -> f64 {
    let share = share.clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}

/// Agents on a circle that change sides and give way to the left all together.
pub fn circle(agents: u32, radius: f64) -> Run {
    let start = move |id: u32| DVec2::from_angle(f64::from(id) / f64::from(agents) * TAU) * radius;
    let info = RunInfo {
        name: format!("{agents} agents change sides on a circle"),
        dt: DT,
        open_plane: true,
        cohorts: vec![cohort("circle", 0, agents)],
        goals: (0..agents).map(|id| (-start(id)).to_array()).collect(),
        ..RunInfo::default()
    };
    let seconds = 2.0 * radius / 1.3;
    recorded(&info, agents, seconds, &move |id, time| {
        let pause = f64::from(id * 7919 % 13) / 13.0 * 0.1;
        let share = eased((time / seconds - pause) / 0.9);
        let from = start(id);
        let aside = from.perp().normalize() * radius * (0.28 + f64::from(id % 5) * 0.03);
        Some(from * (1.0 - 2.0 * share) + aside * (PI * share).sin().powi(2))
    })
}

/// Two streams through a corridor with a pillar in its middle.
pub fn streams(each: u32) -> Run {
    let pillar =
        "POLYGON ((0 0, 50 0, 50 16, 0 16, 0 0), (23 5.5, 27 5.5, 28 8, 27 10.5, 23 10.5, 22 8, 23 5.5))";
    let info = RunInfo {
        name: "Two streams past a pillar".into(),
        dt: DT,
        geometry_wkt: pillar.into(),
        cohorts: vec![cohort("eastbound", 0, each), cohort("westbound", each, each)],
        goals: (0..2 * each).map(|id| if id < each { [49.0, 8.0] } else { [1.0, 8.0] }).collect(),
        ..RunInfo::default()
    };
    recorded(&info, 2 * each, 70.0, &move |id, time| {
        let east = id < each;
        let draw = |salt: u64| {
            let mixed = (u64::from(id) * 8 + salt + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed >> 40) as f64 / (1_u64 << 24) as f64
        };
        let way = 1.0 + (time - draw(1) * 25.0).max(0.0) * (1.1 + 0.4 * draw(2));
        let x = if east { way } else { 50.0 - way };
        let lane = 1.5 + 13.0 * draw(3);
        let bulge = (-((x - 25.0) / 6.0).powi(2)).exp();
        let clear = if lane > 8.0 { 11.2 + (lane - 8.0) * 0.6 } else { 4.8 - (8.0 - lane) * 0.6 };
        let y = lane + (clear - lane) * bulge + 0.15 * (x * 0.7 + draw(4) * TAU).sin();
        (way < 49.0).then(|| DVec2::new(x, y))
    })
}
