//! Floor plans that break others, and what becomes of them.

use glam::DVec2;
use proptest::prelude::*;
use std::path::PathBuf;
use throng::Scenario;
use throng::map::{Boundary, Map, Region, boundary, edges, signed_area, to_wkt};

fn ring(points: &[[f64; 2]]) -> Vec<DVec2> {
    points.iter().map(|&point| point.into()).collect()
}

fn square(x: f64, y: f64, side: f64) -> Vec<DVec2> {
    ring(&[[x, y], [x + side, y], [x + side, y + side], [x, y + side]])
}

fn obstacles(rings: Vec<Vec<DVec2>>) -> Map {
    let named =
        rings.into_iter().enumerate().map(|(index, ring)| (format!("obstacles[{index}]"), ring)).collect();
    Map { obstacles: named, ..Map::default() }
}

fn room(polygon: Vec<Vec<DVec2>>) -> Map {
    Map { walkable: vec![polygon], ..Map::default() }
}

/// Positive for a bounded area, negative for what obstacles take away.
fn area(boundary: &Boundary) -> f64 {
    boundary.rings.iter().map(|ring| signed_area(ring)).sum()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * (1.0 + a.abs())
}

/// What must hold of every boundary.
#[track_caller]
fn is_tidy(boundary: &Boundary) {
    let region = Region::new(boundary);
    for ring in &boundary.rings {
        assert!(ring.len() >= 3);
        for (index, [a, b]) in edges(ring).enumerate() {
            assert_ne!(a, b, "no repeated corners");
            assert!(a.is_finite());
            let next = ring[(index + 2) % ring.len()];
            let off = (b - a).normalize().perp_dot(next - a).abs();
            let back = (b - a).dot(next - b) < 0.0;
            assert!(off > 1e-7 || back, "{a} {b} {next} are collinear");
        }
        // Free space lies on the left of each edge. Narrow places are left out: a step aside would cross them.
        for [a, b] in edges(ring).filter(|[a, b]| a.distance(*b) > 0.01) {
            let aside = (b - a).normalize().perp() * 1e-5;
            let middle = (a + b) / 2.0;
            let alone = boundary.edges().filter(|[c, d]| distance(middle, *c, *d) < 1e-4).count() == 1;
            if alone {
                assert!(region.is_free(middle + aside), "left of {a} {b}");
                assert!(!region.is_free(middle - aside), "right of {a} {b}");
            }
        }
    }
}

fn distance(point: DVec2, a: DVec2, b: DVec2) -> f64 {
    let share = ((point - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
    point.distance(a.lerp(b, share))
}

#[test]
fn winding_does_not_matter() {
    let reversed = |ring: &Vec<DVec2>| ring.iter().rev().copied().collect::<Vec<_>>();
    let one = vec![square(0.0, 0.0, 2.0), square(5.0, 5.0, 1.0)];
    let other: Vec<_> = one.iter().map(reversed).collect();
    assert_eq!(boundary(&obstacles(one.clone())), boundary(&obstacles(other.clone())));
    assert_eq!(
        boundary(&room(vec![square(-9.0, -9.0, 30.0), one[0].clone()])),
        boundary(&room(vec![reversed(&square(-9.0, -9.0, 30.0)), other[0].clone()]))
    );
    let bounds = boundary(&obstacles(one));
    assert_eq!(
        bounds.rings[0],
        ring(&[[0.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, 0.0]]),
        "clockwise: free outside"
    );
    is_tidy(&bounds);
}

#[test]
fn repeated_and_collinear_corners_vanish() {
    let messy = ring(&[
        [0.1, 0.1],
        [0.1, 0.1],
        [0.4, 0.1],
        [0.7, 0.1],
        [1.1, 0.1],
        [1.1, 0.6],
        [1.1, 1.1],
        [1.1, 1.1],
        [0.1, 1.1],
        [0.1, 0.3],
        [0.1, 0.1],
    ]);
    let clean = ring(&[[0.1, 0.1], [1.1, 0.1], [1.1, 1.1], [0.1, 1.1]]);
    assert_eq!(boundary(&obstacles(vec![messy])), boundary(&obstacles(vec![clean.clone()])));
    assert_eq!(boundary(&obstacles(vec![clean.clone()])).rings[0].len(), 4);
    // The least corner itself can be collinear.
    let wedge = ring(&[[0.0, 1.0], [0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]);
    assert_eq!(boundary(&obstacles(vec![wedge])).rings[0].len(), 4);
}

#[test]
fn corners_keep_the_digits_they_were_written_with() {
    let written = ring(&[[0.1, 0.2], [3.3, 0.7], [2.9, 4.1]]);
    let bounds = boundary(&room(vec![written.clone()]));
    assert_eq!(bounds.rings, vec![written]);
}

#[test]
fn overlapping_and_touching_obstacles_are_one() {
    let overlapping = boundary(&obstacles(vec![square(0.0, 0.0, 2.0), square(1.0, 1.0, 2.0)]));
    assert_eq!(overlapping.rings.len(), 1);
    assert!(close(area(&overlapping), -7.0));
    let touching = boundary(&obstacles(vec![square(0.0, 0.0, 2.0), square(2.0, 0.0, 2.0)]));
    assert_eq!(touching.rings, vec![ring(&[[0.0, 0.0], [0.0, 2.0], [4.0, 2.0], [4.0, 0.0]])]);
    let twice = boundary(&obstacles(vec![square(0.0, 0.0, 2.0), square(0.0, 0.0, 2.0)]));
    assert_eq!(twice.rings.len(), 1);
    let inside = boundary(&obstacles(vec![square(0.0, 0.0, 9.0), square(2.0, 2.0, 1.0)]));
    assert!(close(area(&inside), -81.0));
    [overlapping, touching, twice, inside].iter().for_each(is_tidy);
}

#[test]
fn a_ring_of_obstacles_keeps_its_court() {
    let walls = vec![
        ring(&[[0.0, 0.0], [10.0, 0.0], [10.0, 1.0], [0.0, 1.0]]),
        ring(&[[0.0, 9.0], [10.0, 9.0], [10.0, 10.0], [0.0, 10.0]]),
        ring(&[[0.0, 0.0], [1.0, 0.0], [1.0, 10.0], [0.0, 10.0]]),
        ring(&[[9.0, 0.0], [10.0, 0.0], [10.0, 10.0], [9.0, 10.0]]),
    ];
    let bounds = boundary(&obstacles(walls));
    assert_eq!(bounds.rings.len(), 2);
    assert!(close(area(&bounds), 64.0 - 100.0));
    is_tidy(&bounds);
}

#[test]
fn self_crossing_polygons_are_resolved() {
    let bow_tie = boundary(&obstacles(vec![ring(&[[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]])]));
    assert!(close(area(&bow_tie), -2.0), "{}", area(&bow_tie));
    is_tidy(&bow_tie);
}

#[test]
fn polygons_without_an_area_are_walls() {
    let line = boundary(&obstacles(vec![ring(&[[0.0, 0.0], [3.0, 0.0]])]));
    assert_eq!((line.rings.len(), line.walls.len()), (0, 1));
    let flat = boundary(&obstacles(vec![ring(&[[0.0, 0.0], [3.0, 0.0], [1.0, 0.0]])]));
    assert!(flat.rings.is_empty() && !flat.walls.is_empty());
    let point = boundary(&obstacles(vec![ring(&[[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])]));
    assert_eq!(point, Boundary::default());
    let spiked = boundary(&obstacles(vec![ring(&[
        [0.0, 0.0],
        [2.0, 0.0],
        [5.0, 0.0],
        [2.0, 0.0],
        [2.0, 2.0],
        [0.0, 2.0],
    ])]));
    assert!(close(area(&spiked), -4.0));
    let plan = Map {
        walls: vec![ring(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), ring(&[[1.0, 0.0], [0.0, 0.0]])],
        ..Map::default()
    };
    assert_eq!(boundary(&plan).walls.len(), 2, "the same piece is not there twice");
}

#[test]
fn obstacles_cut_the_walkable_area() {
    let mut plan = room(vec![square(0.0, 0.0, 10.0)]);
    plan.obstacles = vec![("across".into(), ring(&[[4.0, -1.0], [6.0, -1.0], [6.0, 11.0], [4.0, 11.0]]))];
    let bounds = boundary(&plan);
    assert_eq!(bounds.rings.len(), 2);
    assert!(close(area(&bounds), 80.0));
    is_tidy(&bounds);
    plan.obstacles = vec![("all".into(), square(-1.0, -1.0, 12.0))];
    assert!(boundary(&plan).is_blocked());
    assert!(!boundary(&Map::default()).is_blocked());
}

#[test]
fn holes_that_touch_are_kept() {
    let holes =
        vec![square(0.0, 0.0, 10.0), square(2.0, 2.0, 2.0), square(4.0, 4.0, 2.0), square(0.0, 7.0, 1.0)];
    let bounds = boundary(&room(holes));
    assert!(close(area(&bounds), 91.0), "{}", area(&bounds));
    is_tidy(&bounds);
}

#[test]
fn a_map_far_away_keeps_its_shape() {
    for offset in [1e6, 1e8] {
        let shift = DVec2::new(offset, -offset);
        let shapes = |shift: DVec2| {
            let moved = |ring: Vec<DVec2>| ring.into_iter().map(|point| point + shift).collect::<Vec<_>>();
            obstacles(vec![
                moved(square(0.1, 0.1, 2.0)),
                moved(square(1.3, 0.7, 2.0)),
                moved(square(7.0, 0.0, 0.5)),
            ])
        };
        let (near, far) = (boundary(&shapes(DVec2::ZERO)), boundary(&shapes(shift)));
        assert_eq!(near.rings.len(), far.rings.len());
        for (near, far) in near.rings.iter().flatten().zip(far.rings.iter().flatten()) {
            assert!((*near + shift).distance(*far) < 1e-6, "{near} {far}");
        }
    }
}

#[test]
fn boundary_takes_a_wall_of_many_collinear_points() {
    let mut long: Vec<DVec2> = (0..50_000).map(|x| DVec2::new(f64::from(x) * 0.01, 0.0)).collect();
    long.push(DVec2::new(0.0, -5.0));
    let bounds = boundary(&obstacles(vec![long]));
    assert!(close(area(&bounds), -0.5 * 499.99 * 5.0));
}

fn shared(folder: &str) -> Option<Vec<PathBuf>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(folder);
    let Ok(files) = std::fs::read_dir(&root) else {
        println!("skipped: {} does not exist", root.display());
        return None;
    };
    let mut paths: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    Some(paths)
}

/// The area by even-odd scan lines, a slow oracle.
fn scanned_area(polygon: &[Vec<DVec2>], lines: usize) -> f64 {
    let ys: Vec<f64> = polygon.iter().flatten().map(|point| point.y).collect();
    let (low, high) =
        (ys.iter().copied().fold(f64::MAX, f64::min), ys.iter().copied().fold(f64::MIN, f64::max));
    let step = (high - low) / lines as f64;
    let covered = |y: f64| {
        let crossings = |ring: &Vec<DVec2>, sign: f64| {
            let mut marks = Vec::new();
            for [a, b] in edges(ring) {
                if (a.y > y) != (b.y > y) {
                    let x = a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y);
                    marks.push((x, sign * if b.y > a.y { 1.0 } else { -1.0 }));
                }
            }
            marks
        };
        let marks: Vec<Vec<(f64, f64)>> = polygon.iter().map(|ring| crossings(ring, 1.0)).collect();
        let mut xs: Vec<f64> = marks.iter().flatten().map(|mark| mark.0).collect();
        xs.sort_by(f64::total_cmp);
        let winds = |ring: usize, x: f64| {
            marks[ring].iter().filter(|mark| mark.0 < x).map(|mark| mark.1).sum::<f64>() != 0.0
        };
        xs.windows(2)
            .filter(|pair| {
                let x = (pair[0] + pair[1]) / 2.0;
                winds(0, x) && !(1..polygon.len()).any(|hole| winds(hole, x))
            })
            .map(|pair| pair[1] - pair[0])
            .sum::<f64>()
    };
    (0..lines).map(|line| covered(low + (line as f64 + 0.5) * step) * step).sum()
}

#[test]
fn polygons_that_break_triangulators() {
    for path in shared("polygons").unwrap_or_default() {
        let text = std::fs::read_to_string(&path).unwrap();
        let polygon: Vec<Vec<[f64; 2]>> = serde_json::from_str(&text).unwrap();
        let polygon: Vec<Vec<DVec2>> = polygon.iter().map(|points| ring(points)).collect();
        let bounds = boundary(&room(polygon.clone()));
        is_tidy(&bounds);
        let expected = scanned_area(&polygon, 20_000);
        let difference = (area(&bounds) - expected).abs() / (1.0 + expected);
        println!(
            "{}: area {} against {expected}, {} rings",
            path.display(),
            area(&bounds),
            bounds.rings.len()
        );
        assert!(difference < 1e-3, "{}: {} against {expected}", path.display(), area(&bounds));
        is_tidy(&boundary(&obstacles(polygon)));
    }
}

#[test]
fn floor_plans_of_others() {
    let plans = shared("wkt").unwrap_or_default();
    for path in plans.iter().filter(|path| path.extension().is_some_and(|ending| ending == "wkt")) {
        let name = path.file_name().unwrap().to_string_lossy();
        let text = format!("format = 1\nmap.file = '{name}'");
        let scenario = Scenario::parse(&text, "plan.toml", path.parent()).unwrap();
        let bounds = boundary(&scenario.map);
        is_tidy(&bounds);
        println!("{name}: {} m2, {} rings", area(&bounds), bounds.rings.len());
        assert!(area(&bounds) > 1.0);
        assert!(scenario.walkable_wkt().starts_with("POLYGON (("));
        let again = Scenario::parse(&scenario.source, "plan.json", None).unwrap();
        assert_eq!(boundary(&again.map), bounds);
    }
}

#[test]
fn drawings_of_others() {
    let plans = shared("wkt").unwrap_or_default();
    for path in plans.iter().filter(|path| path.extension().is_some_and(|ending| ending == "dxf")) {
        let text = format!("format = 1\nmap.file = '{}'", path.file_name().unwrap().to_string_lossy());
        let scenario = Scenario::parse(&text, "plan.toml", path.parent()).unwrap();
        // An L of 12 m by 12 m, 2 m wide.
        assert!(close(area(&boundary(&scenario.map)), 44.0));
    }
}

#[test]
fn wkt_is_one_polygon_whatever_the_plan() {
    let open = to_wkt(&Map::default(), &[DVec2::ZERO], &[DVec2::new(10.0, 0.0)]);
    assert_eq!(open, "POLYGON ((-5 -5, 15 -5, 15 5, -5 5, -5 -5))");
    let holed = to_wkt(&obstacles(vec![square(0.0, 0.0, 2.0)]), &[], &[]);
    assert_eq!(holed, "POLYGON ((-5 -5, 7 -5, 7 7, -5 7, -5 -5), (0 0, 0 2, 2 2, 2 0, 0 0))");
    let mut cut = room(vec![square(0.0, 0.0, 10.0)]);
    cut.obstacles = vec![("across".into(), ring(&[[4.0, -1.0], [6.0, -1.0], [6.0, 11.0], [4.0, 11.0]]))];
    let left = to_wkt(&cut, &[DVec2::new(1.0, 1.0)], &[]);
    assert_eq!(left, "POLYGON ((0 0, 4 0, 4 10, 0 10, 0 0))");
    let both = to_wkt(&cut, &[DVec2::new(1.0, 1.0), DVec2::new(9.0, 1.0)], &[]);
    assert_eq!(both, "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))");
    assert_eq!(to_wkt(&Map::default(), &[], &[]), "POLYGON ((-5 -5, 5 -5, 5 5, -5 5, -5 -5))");
}

fn star() -> impl Strategy<Value = Vec<DVec2>> {
    let center = (-20.0..20.0, -20.0..20.0);
    let radii = prop::collection::vec(0.5..6.0f64, 3..12);
    (center, radii).prop_map(|((x, y), radii)| {
        let count = radii.len() as f64;
        let corner = |(index, radius): (usize, &f64)| {
            DVec2::new(x, y) + DVec2::from_angle(std::f64::consts::TAU * index as f64 / count) * *radius
        };
        radii.iter().enumerate().map(corner).collect()
    })
}

fn scribble() -> impl Strategy<Value = Vec<DVec2>> {
    // A coarse lattice, so that corners meet corners and edges.
    prop::collection::vec((-6i32..6, -6i32..6), 1..9).prop_map(|points| {
        points.into_iter().map(|(x, y)| DVec2::new(f64::from(x) * 0.7, f64::from(y) * 0.7)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_simple_polygon_keeps_its_area(ring in star()) {
        let bounds = boundary(&obstacles(vec![ring.clone()]));
        prop_assert!(close(area(&bounds), -signed_area(&ring).abs()));
        is_tidy(&bounds);
    }

    #[test]
    fn neither_winding_nor_order_matters(rings in prop::collection::vec(prop_oneof![star(), scribble()], 1..6)) {
        let bounds = boundary(&obstacles(rings.clone()));
        let reversed: Vec<_> = rings.iter().map(|ring| ring.iter().rev().copied().collect()).collect();
        prop_assert_eq!(&boundary(&obstacles(reversed)), &bounds);
        prop_assert_eq!(&boundary(&obstacles(rings.into_iter().rev().collect())), &bounds);
    }

    #[test]
    fn free_space_and_obstacles_share_the_room(rings in prop::collection::vec(scribble(), 0..6)) {
        let blocked = -area(&boundary(&obstacles(rings.clone())));
        let plan = Map { walkable: vec![vec![square(-10.0, -10.0, 20.0)]], ..obstacles(rings) };
        let bounds = boundary(&plan);
        prop_assert!(close(area(&bounds), 400.0 - blocked), "{} {}", area(&bounds), blocked);
        is_tidy(&bounds);
    }

    #[test]
    fn cleaning_again_changes_nothing(rings in prop::collection::vec(scribble(), 1..5)) {
        let plan = Map { walkable: rings.iter().map(|ring| vec![ring.clone()]).collect(), ..Map::default() };
        let text = format!("format = 1\nmap.walkable = '{}'", multipolygon(&rings));
        // Scribbles without an area are refused.
        if let Ok(scenario) = Scenario::parse(&text, "plan.toml", None) {
            let (first, again) = (boundary(&plan), boundary(&scenario.map));
            prop_assert!(close(area(&again), area(&first)));
            let cleaned = Scenario::parse(&scenario.source, "plan.json", None).unwrap();
            prop_assert_eq!(cleaned.map, scenario.map);
        }
    }
}

fn multipolygon(rings: &[Vec<DVec2>]) -> String {
    let point = |point: &DVec2| format!("{} {}", point.x, point.y);
    let ring = |ring: &Vec<DVec2>| format!("(({}))", ring.iter().map(point).collect::<Vec<_>>().join(", "));
    format!("MULTIPOLYGON ({})", rings.iter().map(ring).collect::<Vec<_>>().join(", "))
}
