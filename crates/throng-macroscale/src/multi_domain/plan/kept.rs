//! T(Σ4) of an agent, alive from turn to turn: a search from a waypoint on its line back to where it is. It is told what others
//! have said since, where the agent has got to, how late it is and where the tunnel leads now, and is mended. A turn that is cut
//! goes on where it was.
//!
//! It grows from the waypoint, so most of what it knows outlasts what changes most: the agent's own place, and whom it meets
//! next. Another waypoint, another map or another speed is another search, as section 5.1 has it for goals; how much of it has to
//! rely on what has become dearer before it begins anew is measured (`search/reliance.rs`).

use crate::domain::occupancy::{Passage, Trajectory};
use crate::domain::space_time::{APART, Exceptions};
use crate::domain::timed_grid::{Stop, Tempo, Timed, TimedGrid, units_between};
use crate::domain::{Placed, grid::Grid};
use crate::multi_domain::Relation;
use crate::multi_domain::plan::deliberation::{BETTER, Ego, Meter, PER_SECOND, Snapshot};
use crate::multi_domain::plan::direct::{Found, Others, Path};
use crate::multi_domain::plan::grid::KeptGrid;
use crate::multi_domain::plan::window::{Ending, REST};
use crate::multi_domain::schedule::budget::Comparison;
use crate::multi_domain::schedule::tasks::Task;
use crate::search::{Aim, Budget, Domain, Effort, Settings, Status};
use crate::tunnel::{Guided, Line, Tunnel, Width};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use throng_core::geom::double::{after_distance, cut, distance_to_segment, length};
use throng_core::memory::{Remembered, mix};

/// What an agent's slot holds: its search, where it has one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LiveSearch(Option<Box<Live>>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Live {
    search: Guided<Timed>,
    /// T(Σ3) to the same waypoint.
    grid: KeptGrid,
    tempo: Tempo,
    site: Site,
    stop: Stop,
    /// The waypoint, m, and whether it is the goal, and whether one vanishes there.
    place: DVec2,
    is_goal: bool,
    leaves: bool,
    /// When it began, in units.
    base: u32,
    /// States that it has looked at since it last found a plan, or began.
    since_plan: u64,
    /// States that its first plan took.
    took: Option<u64>,
    /// Whom steps were held against, with what they had said.
    relied: Vec<Relied>,
    /// Bodies that were nearer than they may be when it was last told.
    touched: Vec<(u32, f64)>,
}

/// How far ahead waypoints are, as parts of a horizon's way: the first at which one can stand.
const WAYPOINTS: [f64; 4] = [0.6, 0.45, 0.3, 0.75];
/// A waypoint nearer than this is passed: the next one counts, s.
const PASSED: f64 = 5.0;
/// A line that leads past a waypoint at this distance still leads to it, m.
const ON_LINE: f64 = 0.5;
/// Times at which a plan may end.
const MOST_ENDS: u32 = 400;
/// As late one may be at a waypoint, in horizons.
const LATEST: f64 = 1.25;
/// A search that knows more states is given up: it takes more memory than an agent has. One that leads all the way to the goal may
/// take as many as the paper's.
const MOST_STATES: usize = 1_000;
const MOST_STATES_TO_GOAL: usize = 10_000;
/// Expansions without a plan after which a tunnel of the first width is too narrow.
const PATIENCE: u64 = 200;
/// What becomes dearer is expanded twice to be mended: once to take its cost back, once to find another.
const TWICE: u64 = 2;
/// No plan takes fewer expansions, but for those that need no search.
const LEAST_PLAN: u64 = 16;
/// Steps that are looked at because others said something else: as many take as long as an expansion.
const LOOKS_OF_AN_EXPANSION: u64 = 32;

/// What cells and bodies are numbered by, and how wide the agent is. The grid is laid out anew when agents come from further away
/// than any before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Site {
    first: DVec2,
    columns: u32,
    cells: u32,
    own: u32,
    radius: f64,
}

impl Site {
    fn of(ego: &Ego<'_>, grid: &Grid) -> Site {
        let (columns, cells) = (grid.columns(), grid.len());
        Site { first: grid.place(0), columns, cells, own: ego.body, radius: ego.radius }
    }
}

impl LiveSearch {
    /// The memory that it needs, whatever it holds: the same after a resume.
    pub fn size(&self) -> usize {
        let known = |live: &Live| {
            live.relied.len() * size_of::<Relied>() + live.search.search().size() + live.grid.size()
        };
        self.0.as_ref().map_or(0, |live| size_of::<Live>() + known(live))
    }
}

/// A body, and what it had said.
type Relied = (u32, Arc<Trajectory>);

impl Remembered for LiveSearch {
    fn state_hash(&self) -> Option<u64> {
        let live = self.0.as_ref()?;
        let number = |state: Timed| u64::from(state.cell) << 32 | u64::from(state.unit);
        let searches = [live.search.search().fingerprint(number), live.grid.fingerprint()];
        let units = [live.stop.from, live.stop.until, live.base].map(u64::from);
        let relied = live.relied.iter().map(|(body, _)| u64::from(*body));
        let counts = [live.since_plan, live.took.map_or(0, |took| took + 1), live.place.x.to_bits()];
        let words = searches.into_iter().chain(units).chain(counts).chain(relied);
        Some(words.fold(0, |hash, word| mix(hash ^ word)))
    }

    fn heap_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |live| size_of::<Live>() + live.bytes())
    }
}

impl Live {
    fn bytes(&self) -> usize {
        self.search.bytes()
            + self.grid.bytes()
            + self.relied.capacity() * size_of::<Relied>()
            + self.touched.capacity() * size_of::<(u32, f64)>()
    }

    /// Whether it still leads where an agent wants to, over the same cells and among bodies of the same numbers.
    fn serves(&self, ego: &Ego<'_>, setup: &Setup<'_>) -> bool {
        let is_on = distance_to_line(self.place, setup.line) < ON_LINE;
        let is_ahead = self.is_goal || self.place.distance(ego.at) > PASSED * ego.preferred;
        let ending = setup.ending;
        let same_end = !self.is_goal || self.place == ending.goal && self.leaves == ending.leaves;
        is_on && is_ahead && same_end && self.tempo == setup.tempo && self.site == Site::of(ego, setup.grid)
    }

    /// The box of all that is known.
    fn extent(&self, domain: &TimedGrid<'_>) -> [DVec2; 2] {
        let places = self.search.search().visited().filter_map(|(state, _)| domain.place_of(state));
        let around = [domain.grid.place(self.stop.cell); 2];
        places.fold(around, |[low, high], place| [low.min(place), high.max(place)])
    }

    /// Bodies that steps may have been held against.
    fn near(&self, domain: &TimedGrid<'_>, now: f64) -> Vec<u32> {
        let [low, high] = self.extent(domain);
        let reach = domain.radius + APART + domain.longest_step().0;
        let mut near =
            domain.published.within(low - reach, high + reach, [now, domain.tempo.time(self.stop.until)]);
        near.retain(|&body| body != domain.own);
        near
    }

    /// Tells the search what others have said since, and where one can stop now, unless to begin anew is less work: each changed
    /// state is looked at again, and how many a plan takes it has measured. How many steps it had to look at.
    fn catch_up(&mut self, domain: &TimedGrid<'_>, touched: &[(u32, f64)], now: f64) -> u64 {
        let news = self.news(domain, touched, now);
        let mut changed = self.moved_stop(domain.stop);
        let before =
            TimedGrid { exceptions: Exceptions { touched: &self.touched, ..domain.exceptions }, ..*domain };
        let looked_at = steps_changed(&self.search, [&before, domain], &news, now, &mut changed);
        self.stop = domain.stop;
        self.touched = touched.to_vec();
        changed.sort_unstable();
        changed.dedup();
        if TWICE * changed.len() as u64 > self.took.unwrap_or(self.since_plan).max(LEAST_PLAN) {
            self.search.begin_again();
        } else if !changed.is_empty() {
            self.search.edges_changed(domain, &changed);
        }
        looked_at
    }

    /// What bodies say now, and what they had said.
    fn news(&self, domain: &TimedGrid<'_>, touched: &[(u32, f64)], now: f64) -> Vec<News> {
        let mut news: Vec<News> = Vec::new();
        let distance = |touched: &[(u32, f64)], body: u32| {
            touched.iter().find(|known| known.0 == body).map(|known| known.1)
        };
        for (body, before) in &self.relied {
            let after = domain.published.shared(*body);
            let is_same = after.is_some_and(|after| Arc::ptr_eq(before, after) || before == after);
            if !is_same || distance(touched, *body) != distance(&self.touched, *body) {
                news.push(News::new(*body, [Some(before.clone()), after.cloned()], is_same));
            }
        }
        for body in self.near(domain, now) {
            if self.relied.binary_search_by_key(&body, |known| known.0).is_err() {
                news.push(News::new(body, [None, domain.published.shared(body).cloned()], false));
            }
        }
        news
    }

    /// Another line leads to the waypoint: the tunnel changes under the search.
    fn follow(&mut self, domain: &TimedGrid<'_>, line: &[DVec2]) {
        let middle = self.search.tunnel().line.points();
        let is_off =
            |at: &DVec2| middle.windows(2).all(|pair| distance_to_segment(*at, pair[0], pair[1]) > ON_LINE);
        if middle.len() > 1 && line.iter().any(is_off) {
            self.search.set_line(domain, Line::through(line.iter().copied()));
            self.grid = KeptGrid::new(line, self.stop.cell);
        }
    }

    /// States at which a plan could end and cannot any more, or the other way round.
    fn moved_stop(&self, to: Stop) -> Vec<Timed> {
        let [was, is] = [self.stop, to].map(|stop| stop.from..=stop.until);
        let gone = was.clone().filter(|unit| !is.contains(unit));
        let new = is.clone().filter(|unit| !was.contains(unit));
        gone.chain(new).map(|unit| Timed { cell: to.cell, unit }).collect()
    }

    /// Notes what the search relies on from now on.
    fn rely(&mut self, domain: &TimedGrid<'_>, now: f64) {
        let near = self.near(domain, now);
        self.relied = near
            .into_iter()
            .filter_map(|body| Some((body, domain.published.shared(body)?.clone())))
            .collect();
    }
}

/// How far a place is from a line, m.
fn distance_to_line(place: DVec2, line: &[DVec2]) -> f64 {
    let pieces = line.windows(2).map(|pair| distance_to_segment(place, pair[0], pair[1]));
    pieces.fold(f64::INFINITY, f64::min)
}

/// A line as far as a place beside it, and a little further.
fn up_to(line: &[DVec2], place: DVec2) -> Vec<DVec2> {
    let (mut gone, mut best) = (0.0, (f64::INFINITY, 0.0));
    for pair in line.windows(2) {
        let along = pair[1] - pair[0];
        let beside = distance_to_segment(place, pair[0], pair[1]);
        if beside < best.0 {
            let part = (place - pair[0]).dot(along.normalize_or_zero()).clamp(0.0, along.length());
            best = (beside, gone + part);
        }
        gone += along.length();
    }
    cut(line, best.1 + ON_LINE)
}

/// What a body had said, and what it says now.
struct News {
    body: u32,
    paths: [Option<Arc<Trajectory>>; 2],
    /// Until then both say the same, s.
    since: f64,
    /// The corners of all that they say from then on, bodies included, m.
    low: DVec2,
    high: DVec2,
}

impl News {
    /// Where the paths are the same, what they mean is not.
    fn new(body: u32, paths: [Option<Arc<Trajectory>>; 2], is_same: bool) -> News {
        let since = match &paths {
            [Some(before), Some(after)] if !is_same && before.radius == after.radius => {
                let shared = before.path.iter().zip(&after.path).take_while(|(a, b)| a == b);
                shared.last().map_or(f64::NEG_INFINITY, |(bend, _)| bend.0)
            }
            _ => f64::NEG_INFINITY,
        };
        let (low, high) = paths.iter().flatten().fold((DVec2::MAX, DVec2::MIN), |(low, high), path| {
            let first = path.path.partition_point(|bend| bend.0 <= since).saturating_sub(1);
            let places = path.path[first..].iter().map(|bend| bend.1);
            places
                .fold((low, high), |(low, high), at| (low.min(at - path.radius), high.max(at + path.radius)))
        });
        News { body, paths, since, low, high }
    }

    /// Whether it says anything new of places as near to one as given, at a time.
    fn is_about(&self, at: DVec2, reach: f64, time: f64) -> bool {
        let is_inside = (at + reach).cmpge(self.low).all() && (at - reach).cmple(self.high).all();
        self.since < time && is_inside
    }
}

/// Adds states with a step into a known one that has become possible, or impossible, and tells how many steps were looked at.
fn steps_changed(
    search: &Guided<Timed>,
    [before, after]: [&TimedGrid<'_>; 2],
    news: &[News],
    now: f64,
    changed: &mut Vec<Timed>,
) -> u64 {
    if news.is_empty() {
        return 0;
    }
    let (step, takes) = after.longest_step();
    let (mut scratch, mut looked_at) = (Vec::new(), 0);
    for (state, _) in search.search().visited() {
        let (Some(at), Some(time)) = (after.place_of(state), after.time_of(state)) else { continue };
        if time < now {
            continue;
        }
        let around = Passage { from: at, to: at, begin: time - takes, end: time };
        let is_near =
            |path: &Arc<Trajectory>| path.nearest(&around) < after.radius + APART + path.radius + step;
        let reach = after.radius + APART + step;
        let near = |news: &&News| news.is_about(at, reach, time) && news.paths.iter().flatten().any(is_near);
        for news in news.iter().filter(near) {
            after.steps_into(state, &mut scratch, |from, _| {
                looked_at += 1;
                let passage = after.passage(from, state);
                let met = |domain: &TimedGrid<'_>, path: &Option<Arc<Trajectory>>| {
                    path.as_ref().is_some_and(|path| domain.is_met(news.body, path, &passage))
                };
                if met(before, &news.paths[0]) != met(after, &news.paths[1]) {
                    changed.push(from);
                }
            });
        }
    }
    looked_at
}

/// What a turn of T(Σ4) begins with.
struct Setup<'a> {
    /// From where the agent is to its goal, m.
    line: &'a [DVec2],
    ending: &'a Ending,
    grid: &'a Grid,
    tempo: Tempo,
    start: Timed,
    others: Others<'a>,
}

impl Snapshot<'_> {
    /// Whether T(Σ4) of an agent is one that goes on: what depends on when it began does not.
    pub fn keeps_searches(&self, ego: &Ego<'_>, ending: &Ending) -> bool {
        let is_asked_for = self.params.relation != Relation::Horizon && ending.window.is_none();
        is_asked_for && ego.map.grid.is_some() && !ego.map.leaves_the_floor()
    }

    fn most_states(&self) -> usize {
        if self.params.relation == Relation::Tunnels { MOST_STATES_TO_GOAL } else { MOST_STATES }
    }

    /// T(Σ4) to a waypoint of a line: by the search that the agent has, mended, or by a new one. What is planned as if some were not
    /// there is planned once.
    pub fn reach_waypoint(
        &self,
        ego: &Ego<'_>,
        line: &[DVec2],
        ending: &Ending,
        others: Others<'_>,
        improve: bool,
        meter: &mut Meter,
    ) -> Option<Found> {
        let grid = ego.map.grid.as_ref().filter(|_| self.keeps_searches(ego, ending))?;
        // What is planned a second time in a turn, for another ending, is not kept either.
        let lives = others.ignored.is_empty() && !std::mem::replace(&mut meter.has_searched, true);
        let tempo = Tempo::new(grid, ego.preferred.max(0.05), PER_SECOND);
        let start = self.first_state(ego, grid, tempo, others)?;
        let setup = Setup { line, ending, grid, tempo, start, others };
        let known = if lives { std::mem::take(&mut meter.search).0 } else { None };
        let known = known.filter(|live| self.params.repair && live.serves(ego, &setup));
        let known = known.filter(|live| self.stop_of(ego, &setup, live).is_possible());
        let is_mended = known.is_some();
        let mut live = known.or_else(|| self.begin(ego, &setup).map(Box::new))?;
        let domain = TimedGrid {
            grid,
            published: &self.reservations.published,
            own: ego.body,
            radius: ego.radius,
            exceptions: Exceptions { ignored: others.ignored, touched: &ego.touched },
            tempo,
            stop: self.stop_of(ego, &setup, &live),
            since: tempo.at(self.view.now),
        };
        let before = live.search.effort();
        if is_mended {
            meter.spent += live.catch_up(&domain, &ego.touched, self.view.now) / LOOKS_OF_AN_EXPANSION;
            live.follow(&domain, &up_to(line, live.place));
        }
        live.rely(&domain, self.view.now);
        let mut found = None;
        let mut keeps = true;
        if !self.is_cut_off(ego, &mut live.grid, start.cell, others, meter) {
            live.search.move_start(start);
            if !improve {
                live.search.inflate();
            }
            let status = self.improve_live(&mut live, &domain, meter);
            found = self.walked(ego, &mut live, &domain, ending, others);
            keeps = self.note(&mut live, status, found.is_none() && lives, meter);
        }
        self.settle(&mut live, &domain, before, meter);
        if lives && keeps {
            meter.search = LiveSearch(Some(live));
        }
        found
    }

    /// Notes what a search has come to, and says whether it is worth keeping: what has found nothing and is at its end, or knows as
    /// much as it may, would find nothing again.
    fn note(&self, live: &mut Live, status: Status, is_wanted: bool, meter: &mut Meter) -> bool {
        let has_room = live.search.search().nodes() < self.most_states() && self.params.repair;
        meter.may_improve = match status {
            Status::Bounded(bound) | Status::OutOfBudget { bound: Some(bound) } => bound > 1.0 && has_room,
            _ => false,
        };
        meter.is_pending |= is_wanted && has_room && matches!(status, Status::OutOfBudget { bound: None });
        has_room && status != Status::Unreachable
    }

    /// Charges what was looked at again, and counts what a plan took.
    fn settle(&self, live: &mut Live, domain: &TimedGrid<'_>, before: Effort, meter: &mut Meter) {
        let after = live.search.effort();
        let again = after.reevaluations - before.reevaluations;
        meter.charge(Task::SpaceTime, again, 1);
        live.since_plan += after.expansions - before.expansions + again;
        if live.took.is_some() && self.params.compare {
            meter.compared = self.compare(live, domain);
        }
        if live.search.search().cost().is_some() {
            live.took = live.took.or(Some(live.since_plan));
            live.since_plan = 0;
        }
        let looked_at = live.search.search().visited().filter_map(|(state, _)| domain.place_of(state));
        meter.see(Task::SpaceTime, looked_at);
    }

    /// What it took to mend a plan, and what a search takes that begins anew for one with the same bound.
    fn compare(&self, live: &mut Live, domain: &TimedGrid<'_>) -> Option<Comparison> {
        let Aim::At(start) = live.search.aim() else { return None };
        let tunnel = Tunnel {
            width: Width { space: self.params.width.into(), time: f64::INFINITY },
            ..live.search.tunnel().clone()
        };
        let (mut anew, mut states) = (self.guided(start, tunnel), Vec::new());
        let kept = live.search.path(domain, &mut states)?;
        let bound = live.search.search().inflation();
        loop {
            let left = (self.most_states() as u64).saturating_sub(anew.effort().expansions);
            let status = anew.improve(domain, Budget::expansions(left));
            if !matches!(status, Status::Bounded(_)) || anew.search().inflation() <= bound {
                break;
            }
        }
        let expansions = [live.since_plan, anew.effort().expansions];
        let costs = anew.path(domain, &mut states).map(|anew| [kept, anew]);
        Some(Comparison { expansions, costs })
    }

    /// A search through a tunnel, back to a start.
    fn guided(&self, start: Timed, tunnel: Tunnel) -> Guided<Timed> {
        let settings = Settings { inflation: self.params.inflation, step: BETTER, anew_share: 0.5 };
        Guided::new(settings, Aim::At(start), &[Timed::END], tunnel).with_patience(PATIENCE)
    }

    /// Goes on as long as there is something left of the share, or until there is a plan.
    fn improve_live(&self, live: &mut Live, domain: &TimedGrid<'_>, meter: &mut Meter) -> Status {
        let last = live.search.effort().expansions + 2 * self.most_states() as u64;
        loop {
            let room = self.most_states().saturating_sub(live.search.search().nodes()) as u64;
            // Also where it forgets what it knows, again and again.
            let room = room.min(last.saturating_sub(live.search.effort().expansions));
            let slice = meter.share.left(meter.spent).min(room);
            let before = live.search.effort().expansions;
            let status = live.search.improve(domain, Budget::expansions(slice));
            let spent = live.search.effort().expansions - before;
            meter.charge(Task::SpaceTime, spent, 1);
            // A search that does nothing with its share would not with more of it.
            if slice == 0 || spent == 0 || !matches!(status, Status::OutOfBudget { bound: None }) {
                return status;
            }
        }
    }

    /// The first cell and time from which an agent can follow a plan: the nearest to which it can go straight.
    fn first_state(&self, ego: &Ego<'_>, grid: &Grid, tempo: Tempo, others: Others<'_>) -> Option<Timed> {
        let nearest = grid.nearest(ego.at, 3.0 * grid.side())?;
        let mut cells = vec![(nearest, 0.0)];
        grid.successors(nearest, &mut cells);
        let now = self.view.now;
        cells.into_iter().find_map(|(cell, _)| {
            let to = grid.place(cell);
            let soonest = now + (to.distance(ego.at) / ego.preferred.max(0.05)).max(1e-3);
            let unit = tempo.at(soonest) + 1;
            let passage = Passage { from: ego.at, to, begin: now, end: tempo.time(unit) };
            let is_open = ego.map.sees(ego.at, to) && !self.meets(ego, &passage, others);
            is_open.then_some(Timed { cell, unit })
        })
    }

    /// A search to the first waypoint of a line at which one can stand.
    fn begin(&self, ego: &Ego<'_>, setup: &Setup<'_>) -> Option<Live> {
        let Setup { line, ending, grid, .. } = *setup;
        let all = length(line);
        let ahead = WAYPOINTS.map(|part| part * self.horizon() * ego.preferred);
        let is_tunnel = self.params.relation == Relation::Tunnels;
        if all <= ahead[0] || is_tunnel {
            let cell = grid.nearest(ending.goal, ending.goal_radius.max(grid.side()))?;
            let is_beside = ego.map.sees(grid.place(cell), ending.goal);
            return is_beside.then(|| self.begin_at(ego, setup, (ending.goal, cell), all))?;
        }
        ahead.into_iter().filter(|&way| way < all).find_map(|way| {
            let place = after_distance(line[0], &line[1..], way);
            let cell = grid.nearest(place, 2.0 * grid.side())?;
            self.begin_at(ego, setup, (place, cell), way)
        })
    }

    /// A search to a place, as far along the line.
    fn begin_at(
        &self,
        ego: &Ego<'_>,
        setup: &Setup<'_>,
        (place, cell): (DVec2, u32),
        way: f64,
    ) -> Option<Live> {
        let near = cut(setup.line, way);
        let is_goal = place == setup.ending.goal;
        let tunnel = Tunnel {
            line: Line::through(near.iter().copied()),
            width: Width { space: self.params.width.into(), time: f64::INFINITY },
            goal_radius: 0.0,
        };
        let leaves = setup.ending.leaves;
        // No sooner than one can walk there.
        let base = setup.start.unit.saturating_add(units_between(setup.grid, setup.start.cell, cell));
        let stop = self.stop(ego, setup, (cell, base, 0), is_goal && leaves);
        let live = Live {
            search: self.guided(setup.start, tunnel),
            grid: KeptGrid::new(&near, cell),
            tempo: setup.tempo,
            site: Site::of(ego, setup.grid),
            stop,
            place,
            is_goal,
            leaves,
            base,
            since_plan: 0,
            took: None,
            relied: Vec::new(),
            touched: ego.touched.clone(),
        };
        stop.is_possible().then_some(live)
    }

    fn stop_of(&self, ego: &Ego<'_>, setup: &Setup<'_>, live: &Live) -> Stop {
        let place = (live.stop.cell, live.base, live.stop.until);
        self.stop(ego, setup, place, live.is_goal && live.leaves)
    }

    /// When one can come to a waypoint and stand there for as long as it takes to make another plan. How late one may be is said anew
    /// when half of it has gone by: each change has to be told.
    fn stop(
        &self,
        ego: &Ego<'_>,
        setup: &Setup<'_>,
        (cell, base, until): (u32, u32, u32),
        vanishes: bool,
    ) -> Stop {
        let Setup { grid, tempo, others, .. } = *setup;
        let (at, now) = (grid.place(cell), self.view.now);
        let time = LATEST * self.horizon().max(at.distance(ego.at) / ego.preferred.max(0.05));
        let is_early = tempo.time(until) < now + time / 2.0;
        let until = if is_early { tempo.at(now + time) } else { until };
        // A search begins with all of them.
        let most = |from: u32| until.min(from.saturating_add(MOST_ENDS));
        if vanishes {
            return Stop { cell, from: base, until: most(base) };
        }
        let (published, reach) = (&self.reservations.published, ego.radius + APART);
        let near = published.within(at - reach, at + reach, [now, tempo.time(until) + REST]);
        let counts = |body: &u32| *body != ego.body && !others.ignores(*body);
        let paths = near.into_iter().filter(counts).filter_map(|body| published.get(body));
        let free = paths.map(|path| path.leaves(at, reach + path.radius)).fold(0.0, f64::max);
        let from = base.max(tempo.at(free).saturating_add(1));
        Stop { cell, from, until: most(from) }
    }

    /// The path of a plan, as straight as it can be.
    fn walked(
        &self,
        ego: &Ego<'_>,
        live: &mut Live,
        domain: &TimedGrid<'_>,
        ending: &Ending,
        others: Others<'_>,
    ) -> Option<Found> {
        let mut states = Vec::new();
        live.search.path(domain, &mut states)?;
        let mut path: Path = vec![(self.view.now, ego.at)];
        let places =
            states.iter().filter_map(|&state| Some((domain.time_of(state)?, domain.place_of(state)?)));
        path.extend(places);
        let (time, end) = *path.last()?;
        if live.is_goal && end.distance(ending.goal) > ending.goal_radius {
            // A cell may be beside a wall that the goal is behind.
            if !ego.map.sees(end, ending.goal) {
                return None;
            }
            path.push((time + end.distance(ending.goal) / ego.preferred.max(0.05), ending.goal));
        }
        let path = self.taut(ego, &path, others);
        let vanishes = live.is_goal && ending.leaves;
        let is_free = self.meeting(ego, &path, vanishes, others).is_none();
        let inflation = live.search.search().inflation();
        let width = live.search.tunnel().width.space.min(1e6) as f32;
        is_free.then_some(Found { path, steps: Vec::new(), reaches: live.is_goal, inflation, width })
    }
}
