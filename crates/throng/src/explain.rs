//! What one agent saw and chose: for the viewer to draw, for tests to read. No debug prints.

use glam::{DVec2, Vec2};
use serde::Serialize;
use throng_core::geom;
use throng_core::world::{Footprint, Side, View};
use throng_macroscale::Guide;
use throng_macroscale::multi_domain::{Event, TaskExplanation};
use throng_mesoscale::{Perceived, PerceivedGroup, Probe};
use throng_microscale::{Perception, Seen};

/// What one agent sees and chooses now. Velocities are m/s, places m in the scenario's coordinates.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Who.
    pub id: u32,
    /// Where.
    pub position: [f64; 2],
    /// How it moves.
    pub velocity: Vec2,
    /// Its path to the goal, from where it is; none where there is no path, or the macroscale plans none.
    pub route: Option<Vec<[f64; 2]>>,
    /// Whether there is no path to the goal.
    pub no_path: bool,
    /// Its tasks from coarse to fine, where the macroscale plans in several domains.
    pub tasks: Vec<TaskPlan>,
    /// What it goes by on its way, where the macroscale remembers that.
    pub guide: Guide,
    /// The id of the agent that it follows, where it follows one.
    pub leader: Option<u32>,
    /// What the macroscale asks of it.
    pub preferred: Vec2,
    /// What it asks of its local model: the adapted velocity, turned where it has been held up.
    pub wanted: Vec2,
    /// What it chooses.
    pub chosen: Vec2,
    /// How much it has been held up: 0 not at all, 1 for good.
    pub frustration: f32,
    /// Whom it looks at, nearest first; scripted bodies last.
    pub neighbors: Vec<Neighbor>,
    /// Groups that it perceives, nearest first.
    pub groups: Vec<Group>,
    /// Looks at the crowd ahead: straight on, to the side that it prefers, to the other one.
    pub looks: Vec<Reading>,
    /// What the mesoscale makes of the preferred velocity.
    pub adapted: Vec2,
    /// Velocities that lead to a collision (VO, RVO, HRVO).
    pub cones: Vec<Cone>,
    /// Velocities that are permitted lie to the left (ORCA, and walls in all models).
    pub half_planes: Vec<HalfPlane>,
    /// Walls that it looks at, nearest first.
    pub walls: Vec<[[f64; 2]; 2]>,
    /// The field of costs that it perceives, where its local model makes one and did not do without.
    pub field: Option<PerceptionField>,
}

/// A task of an agent: what it has planned in a domain.
#[derive(Clone, Debug, Serialize)]
pub struct TaskPlan {
    /// `navmesh`, `dynamic-navmesh`, `grid`, `space-time` or `footsteps`.
    pub domain: &'static str,
    /// `holds`, or what asks for another plan: `invalid`, `agent`, `ending`, `improve`.
    pub status: &'static str,
    /// The smaller, the sooner it is its turn; none where nothing can become better.
    pub priority: Option<f32>,
    /// The plan costs at most this many times the optimum.
    pub inflation: f32,
    /// Its places.
    pub plan: Vec<[f64; 2]>,
    /// When they are passed, s; empty where the domain knows no time.
    pub times: Vec<f64>,
    /// Half the width of the tunnel that it was found in, m; none where there was no search.
    pub tunnel: Option<f32>,
    /// Where a search looks that plans now; nowhere where none is needed.
    pub seen: Vec<[f64; 2]>,
    /// The feet that the plan puts down, in order.
    pub prints: Vec<Print>,
}

/// A foot on the ground.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Print {
    /// Its middle.
    pub at: [f64; 2],
    /// From heel to toe, rad from east, counter-clockwise.
    pub heading: f64,
    /// Whether it is the left one.
    pub left: bool,
}

/// A field around an agent, in lines across the way that it wants to go: the first line lies furthest behind it, the first
/// cell of a line furthest to its left.
#[derive(Clone, Debug, Serialize)]
pub struct PerceptionField {
    /// Side of a cell, m.
    pub cell: f32,
    /// The middle of the first cell of the first line.
    pub first: [f64; 2],
    /// From a cell to the next one of its line.
    pub across: Vec2,
    /// From a line to the next one.
    pub along: Vec2,
    /// Others, now and ahead, s/m².
    pub discomfort: Vec<Vec<f32>>,
    /// Of crossing a cell.
    pub cost: Vec<Vec<f32>>,
    /// What is left of the path from each cell, more or less than from where the agent stands; none where it cannot be
    /// reached.
    pub potential: Vec<Vec<Option<f32>>>,
}

/// A neighbour that is looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Neighbor {
    /// An agent's id, or none for a scripted body.
    pub id: Option<u32>,
    /// A scripted body's place in the scenario.
    pub mover: Option<u32>,
    /// Where.
    pub position: [f64; 2],
    /// How it moves.
    pub velocity: Vec2,
    /// Sum of both radii, m.
    pub reach: f32,
    /// The part of the avoidance that the one who looks takes on.
    pub share: f32,
}

/// A group that is perceived.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// Its members' ids.
    pub members: Vec<u32>,
    /// Their mean velocity.
    pub velocity: Vec2,
    /// Velocities that lead into it; none where the agent stands among its members.
    pub cone: Option<Cone>,
}

/// A look at the crowd ahead.
#[derive(Clone, Debug, Serialize)]
pub struct Reading {
    /// Where.
    pub place: [f64; 2],
    /// How many will be there: those in the same cell as one, those in the cells around as a half.
    pub density: f32,
    /// From how many on it is crowded.
    pub threshold: f32,
    /// Whether a wall keeps the agent from going there.
    pub barred: bool,
}

/// Forbidden velocities between two sides.
#[derive(Clone, Debug, Serialize)]
pub struct Cone {
    /// Where the sides meet.
    pub apex: Vec2,
    /// Unit vector along the left side.
    pub left: Vec2,
    /// Unit vector along the right side.
    pub right: Vec2,
}

/// Permitted velocities to the left of a line.
#[derive(Clone, Debug, Serialize)]
pub struct HalfPlane {
    /// A point on the line.
    pub point: Vec2,
    /// Its unit direction.
    pub direction: Vec2,
    /// Whether a wall is behind it, which never gives way.
    pub wall: bool,
}

/// What the stages before the local model make of an agent's goal.
pub(crate) struct Wants {
    pub preferred: Vec2,
    /// m from the world's origin.
    pub route: Option<Vec<Vec2>>,
    pub no_path: bool,
    pub tasks: Vec<TaskExplanation>,
    pub guided: (Guide, Option<u32>),
    pub perceived: Perceived,
    pub adapted: Vec2,
}

impl From<geom::Cone> for Cone {
    fn from(cone: geom::Cone) -> Cone {
        Cone { apex: cone.apex, left: cone.left, right: cone.right }
    }
}

impl From<PerceivedGroup> for Group {
    fn from(group: PerceivedGroup) -> Group {
        Group { members: group.members, velocity: group.velocity, cone: group.cone.map(Cone::from) }
    }
}

impl Explanation {
    pub(crate) fn new(view: View<'_>, origin: DVec2, wants: Wants, seen: &Seen) -> Explanation {
        let place = |offset: Vec2| (origin + (seen.ego.position + offset).as_dvec2()).to_array();
        let stop = |stop: Vec2| (origin + stop.as_dvec2()).to_array();
        let row = seen.ego.row;
        let reading = |look: Probe| Reading {
            place: stop(look.place),
            density: look.reading,
            threshold: look.threshold,
            barred: look.barred,
        };
        Explanation {
            id: view.agents.id[row],
            position: place(Vec2::ZERO),
            velocity: seen.ego.velocity,
            preferred: wants.preferred,
            groups: wants.perceived.groups.into_iter().map(Group::from).collect(),
            looks: wants.perceived.looks.into_iter().map(reading).collect(),
            adapted: wants.adapted,
            route: wants.route.map(|route| route.into_iter().map(stop).collect()),
            no_path: wants.no_path,
            tasks: wants.tasks.into_iter().map(|task| task_plan(task, origin)).collect(),
            guide: wants.guided.0,
            leader: wants.guided.1,
            wanted: seen.ego.preferred,
            chosen: seen.chosen,
            frustration: seen.frustration,
            neighbors: neighbors(view, seen, place),
            cones: seen.around.cones.iter().copied().map(Cone::from).collect(),
            half_planes: (0..seen.around.planes.len)
                .map(|i| HalfPlane {
                    point: seen.around.planes.point(i),
                    direction: seen.around.planes.direction(i),
                    wall: i < seen.around.planes.walls,
                })
                .collect(),
            walls: (seen.around.walls.iter())
                .map(|wall| [wall.a, wall.b].map(|end| place(end - seen.ego.position)))
                .collect(),
            field: seen.around.perception.used.then(|| field(&seen.around.perception, place)),
        }
    }
}

fn task_plan(task: TaskExplanation, origin: DVec2) -> TaskPlan {
    let status = match task.event {
        None => "holds",
        Some(Event::Invalid) => "invalid",
        Some(Event::Agent) => "agent",
        Some(Event::Ending) => "ending",
        Some(Event::InTheWay) => "in-the-way",
        Some(Event::Crowded) => "crowded",
        Some(Event::Improve) => "improve",
    };
    TaskPlan {
        domain: task.task.name(),
        status,
        priority: task.priority,
        inflation: task.inflation,
        plan: task.plan.iter().map(|(_, at)| (origin + *at).to_array()).collect(),
        times: task.plan.iter().filter_map(|(time, _)| *time).collect(),
        tunnel: task.tunnel,
        seen: task.seen.iter().map(|at| (origin + *at).to_array()).collect(),
        prints: task.prints.iter().map(|foot| print(foot, origin)).collect(),
    }
}

fn print(foot: &Footprint, origin: DVec2) -> Print {
    Print { at: (origin + foot.at).to_array(), heading: foot.along.to_angle(), left: foot.side == Side::Left }
}

fn field(perception: &Perception, place: impl Fn(Vec2) -> [f64; 2]) -> PerceptionField {
    let (across, along) =
        (-geom::left(perception.ahead) * perception.cell, perception.ahead * perception.cell);
    let rows = |cells: &[[f32; Perception::SIDE]]| cells.iter().map(|line| line.to_vec()).collect();
    let reached = |&value: &f32| (value < Perception::UNREACHED).then_some(value);
    PerceptionField {
        cell: perception.cell,
        first: place((across + along) * (0.5 - Perception::SIDE as f32 / 2.0)),
        across,
        along,
        discomfort: rows(&perception.discomfort),
        cost: rows(&perception.cost),
        potential: perception.potential.iter().map(|line| line.iter().map(reached).collect()).collect(),
    }
}

fn neighbors(view: View<'_>, seen: &Seen, place: impl Fn(Vec2) -> [f64; 2]) -> Vec<Neighbor> {
    let others = &seen.around.others;
    let neighbor = |i: usize| {
        let agent = view.agents.id.get(others.row[i] as usize).copied();
        Neighbor {
            id: agent,
            mover: agent.is_none().then(|| u32::MAX - others.row[i]),
            position: place(others.towards(i)),
            velocity: others.velocity(i),
            reach: others.reach[i],
            share: others.share[i],
        }
    };
    (0..others.len).map(neighbor).collect()
}
