//! `throng plan`: what it prints and draws, and how it ends.

use crate::common::Desk;

const CHAINS: [&str; 5] = [
    "navmesh",
    "dynamic-navmesh",
    "grid",
    "navmesh>grid>space-time",
    "navmesh>dynamic-navmesh/grid>space-time",
];

#[test]
fn every_chain_leads_through_the_door() {
    let desk = Desk::new();
    for chain in CHAINS {
        let answer = desk.works(&format!("plan doorway --from 2,2 --to 13,8 --json --domain {chain}"));
        let plan = answer.json();
        assert_eq!(plan["found"], true, "{chain}");
        let path = plan["path"].as_array().unwrap();
        let place = |index: usize| (path[index]["x"].as_f64().unwrap(), path[index]["y"].as_f64().unwrap());
        assert_eq!(place(0), (2.0, 2.0), "{chain}");
        let (x, y) = place(path.len() - 1);
        assert!((x - 13.0).hypot(y - 8.0) <= 0.51, "{chain}: ends at {x}, {y}");
        let domains = plan["domains"].as_array().unwrap();
        let length = domains[domains.len() - 1]["length_m"].as_f64().unwrap();
        assert!((12.0..16.0).contains(&length), "{chain}: {length} m");
    }
}

#[test]
fn a_plan_is_drawn_and_told() {
    let desk = Desk::new();
    let answer = desk.works("plan doorway --from 2,2 --to 13,8 --domain navmesh>grid --picture plan.svg");
    for part in ["navmesh", "grid", "expansions", "drawn: plan.svg", "time, s"] {
        assert!(answer.out.contains(part), "no `{part}` in\n{}", answer.out);
    }
    assert!(String::from_utf8(desk.read("plan.svg")).unwrap().contains("looked at"));
    desk.works("plan doorway --from 2,2 --to 13,8 --domain space-time --picture plan.png");
    assert_eq!(&desk.read("plan.png")[1..4], b"PNG");
}

#[test]
fn a_window_is_met() {
    let desk = Desk::new();
    let chain = "navmesh>grid>space-time";
    let plan = desk
        .works(&format!("plan doorway --from 2,2 --to 13,8 --arrive 29,31 --json --domain {chain}"))
        .json();
    let path = plan["path"].as_array().unwrap();
    let end = path[path.len() - 1]["t"].as_f64().unwrap();
    assert!((29.0..=31.0).contains(&end), "{end}");
}

#[test]
fn where_there_is_no_path_it_says_so() {
    let desk = Desk::new();
    desk.write(
        "rooms.toml",
        "format = 1\n[map]\nwalkable = \"MULTIPOLYGON (((0 0, 4 0, 4 4, 0 4, 0 0)), ((6 0, 9 0, 9 4, 6 4, 6 0)))\"\n",
    );
    for chain in ["navmesh", "dynamic-navmesh", "grid", "navmesh>grid"] {
        let answer = desk.throng(&format!("plan rooms.toml --from 1,1 --to 8,1 --domain {chain}"));
        assert_eq!(answer.code, Some(1), "{chain}: {}{}", answer.out, answer.err);
        assert!(answer.out.contains("no plan"), "{chain}: {}", answer.out);
    }
}

#[test]
fn bad_input_is_refused() {
    let desk = Desk::new();
    desk.refuses("plan doorway --from 2,2 --to 13,8 --domain gird", "unknown domain `gird`; known: navmesh");
    desk.refuses("plan doorway --from 2,2 --to 13,8 --domain grid>navmesh", "cannot follow");
    desk.refuses("plan doorway --from 2,2 --to 13,8 --radius -1", "--radius -1");
    desk.refuses("plan doorway --from 2,2 --to 130,8", "--to 130,8: there is no room");
    desk.refuses("plan doorway --from two --to 13,8", "two numbers with a comma");
    desk.refuses("plan doorway --from 2,2 --to 13,8 --arrive 9,3 --domain space-time", "the earlier first");
    desk.refuses("plan doorway --from 2,2 --to 13,8 --arrive 3,9", "knows no time");
    desk.refuses("plan doorway --from 2,2 --to 13,8 --picture plan.bmp", "let it end in .png or .svg");
    desk.refuses("plan doorwai --from 2,2 --to 13,8", "did you mean `doorway`?");
}
