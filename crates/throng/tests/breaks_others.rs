//! Inputs that break other engines: the table of the verification standards, every row a test, for every model.

use throng::{Scenario, Simulation};

const MODELS: [&str; 5] = ["vo", "rvo", "hrvo", "orca", "hybrid"];

fn simulate(text: &str) -> Simulation {
    let scenario = Scenario::parse(text, "test.toml", None).unwrap_or_else(|error| panic!("{error}"));
    Simulation::with_threads(&scenario, 1).unwrap()
}

fn scenario(model: &str, body: &str) -> String {
    format!("format = 1\nname = \"test\"\n{body}\n[pipeline]\nmicroscale = \"{model}\"\n")
}

/// Runs until all have arrived or the time is over. Returns the time it took and the deepest overlap.
fn run(simulation: &mut Simulation, until: f64) -> (f64, f32) {
    let mut deepest = 0.0f32;
    while !simulation.is_done() && simulation.frame().time < until {
        simulation.step();
        deepest = deepest.max(simulation.overlaps().deepest);
    }
    assert_eq!(simulation.put_aside(), 0);
    (simulation.frame().time, deepest)
}

#[test]
fn two_agents_at_one_point_with_one_velocity_part_within_five_seconds() {
    for model in MODELS {
        let text = scenario(
            model,
            "[[agents]]\nplace = { points = [[0, 0], [0, 0]] }\ngoal = { point = [50, 0] }\nradius = 0.25",
        );
        let mut first = simulate(&text);
        run(&mut first, 5.0);
        let frame = first.frame();
        let apart = frame.position(0).distance(frame.position(1));
        assert!(apart >= 0.499, "{model}: only {apart} m apart after 5 s");
        let mut second = simulate(&text);
        run(&mut second, 5.0);
        assert_eq!(first.state_hash(), second.state_hash(), "{model}");
    }
}

#[test]
fn an_exact_head_on_pair_passes() {
    for model in MODELS {
        let text = scenario(
            model,
            "[[agents]]\nplace = { points = [[-10, 0], [10, 0]] }\ngoal = { points = [[10, 0], [-10, 0]] }\npreferred_speed = 1.0",
        );
        let mut simulation = simulate(&text);
        let (time, deepest) = run(&mut simulation, 100.0);
        assert_eq!(simulation.arrived(), 2, "{model} after {time} s");
        assert!(time <= 3.0 * 20.0, "{model}: {time} s");
        assert!(deepest <= 1e-3, "{model}: {deepest} m deep");
    }
}

#[test]
fn eight_agents_on_a_circle_cross() {
    for model in MODELS {
        for (radius, circle) in [(0.25, 5.0), (0.5, 10.0), (1.5, 20.0)] {
            let text = scenario(
                model,
                &format!(
                    "[[agents]]\ncount = 8\nradius = {radius}\npreferred_speed = 1.0\n\
                     place = {{ circle = {{ center = [0, 0], radius = {circle} }} }}\ngoal = {{ antipodal = [0, 0] }}"
                ),
            );
            let mut simulation = simulate(&text);
            let (time, deepest) = run(&mut simulation, 20.0 * circle);
            assert_eq!(simulation.arrived(), 8, "{model}, radius {radius}: after {time} s");
            assert!(time <= 3.0 * 2.0 * circle, "{model}, radius {radius}: {time} s");
            assert!(
                deepest <= 0.2 * radius as f32,
                "{model}, radius {radius}: {deepest} m deep, over 10 % of the radii"
            );
        }
    }
}

/// Two closed rooms with a door of 0.7 m between them, and as many agents in each as are asked for, who all want to
/// the other room.
fn door(model: &str, each: usize, thickness: f64) -> String {
    let half = thickness / 2.0;
    let far = 6.0 + each as f64;
    let row = |sign: f64| {
        let places: Vec<String> = (0..each).map(|i| format!("[{}, 0]", sign * (4.0 + i as f64))).collect();
        places.join(", ")
    };
    scenario(
        model,
        &format!(
            "[map]\nwalkable = \"POLYGON ((-{far} -4, -{half} -4, -{half} -0.35, {half} -0.35, {half} -4, {far} -4, \
             {far} 4, {half} 4, {half} 0.35, -{half} 0.35, -{half} 4, -{far} 4, -{far} -4))\"\n\
             [[agents]]\nname = \"west\"\nradius = 0.25\npreferred_speed = 1.0\nplace = {{ points = [{}] }}\ngoal = {{ points = [{}] }}\n\
             [[agents]]\nname = \"east\"\nradius = 0.25\npreferred_speed = 1.0\nplace = {{ points = [{}] }}\ngoal = {{ points = [{}] }}\n",
            row(-1.0),
            row(1.0),
            row(1.0),
            row(-1.0)
        ),
    )
}

#[test]
fn two_ways_through_a_door_resolve() {
    for model in MODELS {
        for thickness in [0.2, 1.0] {
            let mut simulation = simulate(&door(model, 1, thickness));
            let (time, deepest) = run(&mut simulation, 100.0);
            assert_eq!(simulation.arrived(), 2, "{model}, wall of {thickness} m: after {time} s");
            assert!(time <= 3.0 * 8.0, "{model}, wall of {thickness} m: {time} s");
            assert!(deepest <= 1e-3, "{model}: {deepest} m deep");
        }
        // Queues on both sides take turns; how fast is not promised, that all get through is. An agent that is pushed off its
        // line must know where the door is: no agent leaves a queue by chance.
        // With VO no agent expects the others to give way, and a queue may stand for longer than this test waits.
        for (each, thickness) in [(1, 4.0), (3, 0.2), (5, 0.5)].into_iter().filter(|_| model != "vo") {
            let text = door(model, each, thickness) + "macroscale = \"visibility-graph\"\n";
            let mut simulation = simulate(&text);
            let (time, _) = run(&mut simulation, 200.0);
            assert_eq!(simulation.arrived(), 2 * each, "{model}, {each} on each side: after {time} s");
        }
    }
}

/// The same door between two blocks in one room, as wide as asked for, and with a route through it that knows of walls. Each
/// stood in the other's way here and thought that it was the wall's doing.
#[test]
fn a_pair_in_a_door_of_any_width_resolves() {
    for model in MODELS {
        for width in [0.55, 0.7, 0.8, 1.0] {
            let (low, high) = (3.0 - width / 2.0, 3.0 + width / 2.0);
            let text = format!(
                "format = 1\n[pipeline]\nmacroscale = \"visibility-graph\"\nmicroscale = \"{model}\"\n\
                 [map]\nwalkable = \"POLYGON ((0 0, 10 0, 10 6, 0 6, 0 0))\"\n\
                 obstacles = [[[4.9, 0], [5.1, 0], [5.1, {low}], [4.9, {low}]], [[4.9, {high}], [5.1, {high}], [5.1, 6], [4.9, 6]]]\n\
                 [[agents]]\nplace = {{ points = [[1, 3], [9, 3]] }}\ngoal = {{ points = [[9, 3], [1, 3]] }}\n"
            );
            let mut simulation = simulate(&text);
            let (time, _) = run(&mut simulation, 60.0);
            assert_eq!(simulation.arrived(), 2, "{model}, {width} m: after {time} s");
            assert!(time <= 3.0 * 6.0, "{model}, {width} m: {time} s");
        }
    }
}

/// People who queue at a door stand around it, on both sides, and get through it about as fast as people do: 1.3 to 1.9 a
/// second and metre, here with some room on both ends.
#[test]
fn a_crowd_before_a_door_stands_around_it() {
    for model in ["orca", "hrvo", "hybrid"] {
        let text = format!(
            "format = 1\nuntil = 400\n[pipeline]\nmacroscale = \"navmesh\"\nmicroscale = \"{model}\"\n\
             [map]\nwalkable = \"POLYGON ((0 0, 20 0, 20 10, 0 10, 0 0))\"\n\
             obstacles = [[[10, 0], [10.2, 0], [10.2, 4.5], [10, 4.5]], [[10, 5.5], [10.2, 5.5], [10.2, 10], [10, 10]]]\n\
             [[agents]]\ncount = 80\nradius = 0.22\npreferred_speed = {{ normal = [1.3, 0.15], min = 0.9, max = 1.7 }}\n\
             place = {{ polygon = [[1, 1], [8, 1], [8, 9], [1, 9]] }}\ngoal = {{ point = [18, 5] }}\ngoal_radius = 1\n\
             on_arrival = \"leave\"\n"
        );
        let mut simulation = simulate(&text);
        run(&mut simulation, 15.0);
        let frame = simulation.frame();
        let waiting: Vec<f64> =
            (0..frame.len()).map(|row| frame.position(row)).filter(|at| at.x < 10.0).map(|at| at.y).collect();
        let above = waiting.iter().filter(|&&y| y > 5.0).count() as f64 / waiting.len() as f64;
        assert!(
            (0.2..0.8).contains(&above),
            "{model}: {above} of those who wait stand on the left of the door"
        );
        let (time, _) = run(&mut simulation, 400.0);
        assert_eq!(simulation.arrived(), 80, "{model}");
        let flow = 80.0 / (time - 10.0);
        assert!((1.2..4.0).contains(&flow), "{model}: {flow} a second");
    }
}

/// One agent walks past a square block, which is written as asked for. Returns its path.
fn past_a_block(model: &str, obstacles: &str, offset: f64) -> Vec<glam::DVec2> {
    let text = scenario(
        model,
        &format!(
            "[map]\nobstacles = [{obstacles}]\n[[agents]]\nradius = 0.3\npreferred_speed = 1.3\n\
             place = {{ points = [[{}, {}]] }}\ngoal = {{ point = [{}, {}] }}",
            offset - 8.0,
            offset + 1.8,
            offset + 8.0,
            offset + 0.5
        ),
    );
    let mut simulation = simulate(&text);
    let mut path = Vec::new();
    while simulation.frame().time < 60.0 {
        simulation.step();
        path.push(simulation.frame().position(0) - offset);
    }
    path
}

fn deviation(a: &[glam::DVec2], b: &[glam::DVec2]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

const BLOCK: &str = "[[-1, -1], [1, -1], [1, 1], [-1, 1]]";

#[test]
fn winding_repeated_and_collinear_vertices_do_not_matter() {
    for model in MODELS {
        let path = past_a_block(model, BLOCK, 0.0);
        assert!(
            path.last().unwrap().distance(glam::DVec2::new(8.0, 0.5)) < 0.31,
            "{model}: {:?}",
            path.last()
        );
        let closest =
            path.iter().map(|p| (p.abs() - 1.0).max(glam::DVec2::ZERO).length()).fold(9.0, f64::min);
        assert!(closest > 0.299, "{model}: {closest} m from the block");
        for other in [
            "[[-1, 1], [1, 1], [1, -1], [-1, -1]]",
            "[[-1, -1], [-1, -1], [1, -1], [1, 1], [1, 1], [1, 1], [-1, 1], [-1, -1]]",
            "[[-1, -1], [0, -1], [0.5, -1], [1, -1], [1, 0.25], [1, 1], [0.1, 1], [-1, 1], [-1, 0]]",
            "[[-1, -1], [1, -1], [1, 1], [-1, 1]], [[-1, -1], [0.5, -1], [0.5, 1], [-1, 1]]",
            "[[-1, -1], [0, -1], [0, 1], [-1, 1]], [[0, -1], [1, -1], [1, 1], [0, 1]]",
        ] {
            let off = deviation(&path, &past_a_block(model, other, 0.0));
            assert!(off < 1e-6, "{model}: {off} m off with {other}");
        }
    }
}

#[test]
fn a_map_far_from_zero_moves_like_one_at_zero() {
    for model in MODELS {
        let path = past_a_block(model, BLOCK, 0.0);
        for offset in [1e6, 1e8] {
            let shifted =
                format!("[[{0}, {0}], [{1}, {0}], [{1}, {1}], [{0}, {1}]]", offset - 1.0, offset + 1.0);
            let off = deviation(&path, &past_a_block(model, &shifted, offset));
            assert!(off < 0.01, "{model} at {offset:e} m: {off} m off");
        }
    }
}

#[test]
fn a_crowd_far_from_zero_moves_like_one_at_zero() {
    let crowd = |offset: f64| {
        let text = scenario(
            "orca",
            &format!(
                "[[agents]]\ncount = 12\nplace = {{ circle = {{ center = [{offset}, {offset}], radius = 6 }} }}\n\
                 goal = {{ antipodal = [{offset}, {offset}] }}"
            ),
        );
        let mut simulation = simulate(&text);
        (0..60).for_each(|_| simulation.step());
        let mut places: Vec<(u32, glam::DVec2)> = (0..12)
            .map(|row| (simulation.frame().id[row], simulation.frame().position(row) - offset))
            .collect();
        places.sort_by_key(|&(id, _)| id);
        places.into_iter().map(|(_, place)| place).collect::<Vec<_>>()
    };
    let here = crowd(0.0);
    for offset in [1e6, 1e8] {
        let off = deviation(&here, &crowd(offset));
        assert!(off < 0.01, "at {offset:e} m: {off} m off");
    }
}

fn error(body: &str) -> String {
    match Scenario::parse(&scenario("orca", body), "test.toml", None) {
        Ok(_) => panic!("accepted: {body}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_start_inside_an_obstacle_names_the_agent_and_the_obstacle() {
    let message = error(
        "[map]\nobstacles = [{ name = \"pillar\", polygon = [[0, 0], [2, 0], [2, 2], [0, 2]] }]\n\
         [[agents]]\nname = \"west\"\nplace = { points = [[-3, 0], [1, 1]] }\ngoal = { point = [9, 9] }",
    );
    assert!(message.contains("west") && message.contains('1') && message.contains("pillar"), "{message}");
}

#[test]
fn numbers_that_are_none_name_their_key() {
    let agents = |line: &str| {
        format!("[[agents]]\nplace = {{ points = [[0, 0]] }}\ngoal = {{ point = [9, 0] }}\n{line}")
    };
    for (body, key) in [
        (agents("radius = nan"), "radius"),
        (agents("radius = 0"), "radius"),
        (agents("radius = -1"), "radius"),
        (agents("preferred_speed = inf"), "preferred_speed"),
        (agents("max_speed = nan"), "max_speed"),
        (agents("start = -inf"), "start"),
        (format!("dt = 0\n{}", agents("")), "dt"),
        (format!("dt = nan\n{}", agents("")), "dt"),
        (format!("until = inf\n{}", agents("")), "until"),
        ("[[agents]]\nplace = { points = [[nan, 0]] }\ngoal = { point = [9, 0] }".into(), "place"),
        ("[[agents]]\nplace = { points = [[0, 0]] }\ngoal = { point = [inf, 0] }".into(), "goal"),
        (format!("{}\n[params.orca]\ntime_horizon = nan", agents("")), "time_horizon"),
    ] {
        let message = error(&body);
        assert!(message.contains(key), "{message}");
    }
}

#[test]
fn strange_polygons_are_cleaned_or_named() {
    // Overlapping, touching, self-crossing, without area, and a hole that touches the outline.
    let blocks = [
        "[[-1, -1], [1, -1], [1, 1], [-1, 1]], [[0, -0.5], [2, -0.5], [2, 0.5], [0, 0.5]]",
        "[[-1, -1], [0, -1], [0, 1], [-1, 1]], [[0, -1], [1, -1], [1, 1], [0, 1]]",
        "[[-1, -1], [1, 1], [1, -1], [-1, 1]]",
        "[[-1, 0.2], [0, 0.2], [1, 0.2]]",
        "[[0, 0], [0, 0], [0, 0]]",
    ];
    for model in MODELS {
        for obstacles in blocks {
            let path = past_a_block(model, obstacles, 0.0);
            assert!(path.iter().all(|place| place.is_finite()), "{model}: {obstacles}");
        }
    }
    let covered = error(
        "[map]\nwalkable = \"POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))\"\nobstacles = [[[-1, -1], [5, -1], [5, 5], [-1, 5]]]\n\
         [[agents]]\nplace = { points = [[1, 1]] }\ngoal = { point = [3, 3] }",
    );
    assert!(covered.contains("obstacles"), "{covered}");
}

/// Agents press against every kind of wall; no centre ever gets to the other side.
#[test]
fn nobody_crosses_a_wall() {
    for model in ["vo", "rvo", "hrvo", "orca", "hybrid", "none"] {
        for motion in ["holonomic", "acceleration-limited"] {
            let text = format!(
                "format = 1\ndt = 0.25\n[pipeline]\nmicroscale = \"{model}\"\nmotion = \"{motion}\"\n\
                 [map]\nwalls = [[[5, -5], [5, 5]], [[4, 6], [7, 3], [7, -8]]]\n\
                 obstacles = [[[5.5, -1], [6.5, -1], [6, 1]]]\n\
                 walkable = \"POLYGON ((-6 -9, 12 -9, 12 9, -6 9, -6 -9))\"\n\
                 [[agents]]\ncount = 40\npreferred_speed = 2.0\nmax_speed = 3.0\n\
                 place = {{ grid = {{ from = [-4, -4], columns = 8, spacing = 0.9 }} }}\ngoal = {{ offset = [14, 0.5] }}\n"
            );
            // Goals may lie beyond the outline's wall: aim at a point instead where the offset would leave the room.
            let text = text.replace("goal = { offset = [14, 0.5] }", "goal = { point = [11, 0] }");
            let mut simulation = simulate(&text);
            let wall = [(glam::DVec2::new(5.0, -5.0), glam::DVec2::new(5.0, 5.0))];
            let mut before = by_id(&simulation);
            for _ in 0..400 {
                simulation.step();
                let after = by_id(&simulation);
                for (id, (from, to)) in before.iter().zip(&after).enumerate() {
                    for (a, b) in wall {
                        let side = |p: glam::DVec2| (b - a).perp_dot(p - a).signum();
                        let along = |p: glam::DVec2| (p - a).dot(b - a) / (b - a).length_squared();
                        let crossed = side(*from) != side(*to)
                            && (0.0..1.0).contains(&along(*from))
                            && (0.0..1.0).contains(&along(*to));
                        assert!(!crossed, "{model}, {motion}: agent {id} from {from} to {to}");
                    }
                    assert!(
                        to.x.abs() < 12.0 && to.y.abs() < 9.0,
                        "{model}, {motion}: agent {id} left the room at {to}"
                    );
                }
                before = after;
            }
            assert_eq!(simulation.put_aside(), 0);
        }
    }
}

fn by_id(simulation: &Simulation) -> Vec<glam::DVec2> {
    let frame = simulation.frame();
    let mut places = vec![glam::DVec2::ZERO; frame.len()];
    (0..frame.len()).for_each(|row| places[frame.id[row] as usize] = frame.position(row));
    places
}
