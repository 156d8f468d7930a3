//! The mesh itself: held against brute force, the visibility graph, and a mesh that is built anew.

use crate::common::area::area_by_slabs;
use crate::common::maps::{free, map, place, walls};
use crate::common::oracle::{ring_edges, route_clearance};
use crate::common::{Walker, block, length, obstacle, outline, routes, world};
use glam::{DVec2, Vec2};
use proptest::prelude::*;
use std::time::Instant;
use throng_core::space::Wall;
use throng_macroscale::navmesh::{Geometry, Link, Mesh, MeshError, PathTree, Search, Settings, Terrain};
use throng_macroscale::{Navmesh, VisibilityGraph};

fn wide(ring: &[Vec2]) -> Vec<DVec2> {
    ring.iter().map(|place| place.as_dvec2()).collect()
}

fn rectangle(low: [f64; 2], high: [f64; 2]) -> Vec<DVec2> {
    vec![low.into(), DVec2::new(high[0], low[1]), high.into(), DVec2::new(low[0], high[1])]
}

/// The length that both searches find; they must agree.
fn shortest(mesh: &Mesh, from: DVec2, to: DVec2) -> f64 {
    let mut search = Search::default();
    let found = search.find(mesh, from, to).map_or(f64::INFINITY, |way| {
        let walked: f64 = way.stops.windows(2).map(|pair| pair[0].at.distance(pair[1].at)).sum();
        assert!((walked - way.length).abs() < 1e-6, "{walked} m of stops for {} m", way.length);
        way.length
    });
    let ways = PathTree::new(mesh, &[to]);
    let other = ways.heading(mesh, from, 0.0).map_or(f64::INFINITY, |heading| heading.length);
    assert!(
        found == other || (found - other).abs() < 1e-6,
        "search {found} m, ways {other} m, {from} to {to}"
    );
    let route = ways.route(mesh, from);
    let walked =
        route.map_or(f64::INFINITY, |route| route.windows(2).map(|pair| pair[0].distance(pair[1])).sum());
    assert!(walked == other || (walked - other).abs() < 1e-6, "{walked} m of route for {other} m");
    found
}

fn area(mesh: &Mesh) -> f64 {
    (0..mesh.polygons()).map(|polygon| mesh.area(polygon)).sum()
}

/// Rings on a coarse grid: most cross themselves and one another, touch, or lie on top of each other.
fn tangle() -> impl Strategy<Value = Vec<Vec<DVec2>>> {
    let corner = (0..9i32, 0..9i32).prop_map(|(x, y)| DVec2::new(f64::from(x), f64::from(y) * 0.7));
    prop::collection::vec(prop::collection::vec(corner, 1..9), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_tangle_has_its_area_or_none(rings in tangle(), tiles in any::<bool>()) {
        let best = area_by_slabs(std::slice::from_ref(&rings));
        let geometry = Geometry { walkable: vec![rings], ..Geometry::default() };
        let found = match Terrain::new(&geometry, Settings { tiles, ..Settings::default() }) {
            Ok(terrain) => area(terrain.mesh()),
            Err(error) => {
                prop_assert_eq!(error, MeshError::NoGround);
                0.0
            }
        };
        prop_assert!((found - best).abs() <= 1e-6 * best.max(1e-3), "{} m² instead of {}", found, best);
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn bodies_in_a_tangle_keep_clear_of_it(rings in tangle(), radius in 0.01..0.5f64) {
        let hall = rectangle([-2.0, -2.0], [10.0, 9.0]);
        let geometry = Geometry { walkable: vec![vec![hall.clone()]], obstacles: rings.clone(), walls: Vec::new() };
        let Ok(terrain) = Terrain::new(&geometry, Settings { radius, ..Settings::default() }) else { return Ok(()) };
        let mut search = Search::default();
        let corners = [DVec2::new(-1.4, -1.4), DVec2::new(9.4, -1.4), DVec2::new(9.4, 8.4), DVec2::new(-1.4, 8.4)];
        for (from, to) in [(corners[0], corners[2]), (corners[1], corners[3])] {
            let way = search.find(terrain.mesh(), from, to);
            prop_assert!(way.is_some(), "no way around");
            for pair in way.iter().flat_map(|way| way.stops.windows(2)) {
                for share in 0..40 {
                    let middle = pair[0].at.lerp(pair[1].at, f64::from(share) / 39.0);
                    for turn in 0..32 {
                        let place = middle + DVec2::from_angle(f64::from(turn) * 0.19635) * (radius - 1e-3);
                        let covered = rings.iter().any(|ring| winds_around(ring, place));
                        prop_assert!(winds_around(&hall, place) && !covered, "at {middle} with a radius of {radius}");
                    }
                }
            }
        }
    }
}

/// Whether a ring winds around a place, however often.
fn winds_around(ring: &[DVec2], place: DVec2) -> bool {
    let turns = |&[a, b]: &[DVec2; 2]| {
        let left = (b - a).perp_dot(place - a) > 0.0;
        i32::from(a.y <= place.y && b.y > place.y && left)
            - i32::from(b.y <= place.y && a.y > place.y && !left)
    };
    ring_edges(ring).iter().map(turns).sum::<i32>() != 0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_points_way_is_as_short_as_brute_force_finds_it(map in map(), from in place(), to in place()) {
        prop_assume!(free(&map, from, 1e-3) && free(&map, to, 1e-3));
        let (from, to) = (from.as_dvec2(), to.as_dvec2());
        let best = map.shortest_of_point(from, to);
        let geometry = Geometry { walkable: vec![vec![map.outline.clone()]], obstacles: map.solid.clone(), walls: map.open.clone() };
        for tiles in [false, true] {
            let terrain = Terrain::new(&geometry, Settings { tiles, ..Settings::default() }).unwrap();
            let found = shortest(terrain.mesh(), from, to);
            prop_assert!((found - best).abs() < 1e-5, "{found} m instead of {best}, tiles {tiles}");
        }
        let terrain = Terrain::between(&walls(&map), 1e-5).unwrap();
        let found = shortest(terrain.mesh(), from, to);
        prop_assert!((found - best).abs() < 1e-3, "{found} m instead of {best} between walls");
    }

    #[test]
    fn ways_are_those_of_the_visibility_graph(
        map in map(), from in place(), to in place(), radius in 0.05..0.6f32,
    ) {
        let roomy = 1.02 * f64::from(radius);
        prop_assume!(free(&map, from, roomy) && free(&map, to, roomy));
        let walls = walls(&map);
        let walker = |radius: f32| world(walls.clone(), &[Walker { from, to, radius }]);
        let found = routes::<Navmesh>(&walker(radius)).remove(0);
        if let Some(route) = &found {
            prop_assert!(route_clearance(route, &walls) >= f64::from(radius) - 1e-3);
        }
        let found = found.as_deref().map_or(f64::INFINITY, length);
        let graph = |radius: f32| routes::<VisibilityGraph>(&walker(radius)).remove(0).as_deref().map_or(f64::INFINITY, length);
        let same = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-3 * a;
        // The graph lets bodies through gaps that lack half a percent of their width, so where they differ a little
        // less or more of a body must explain it.
        let exact = graph(radius);
        let explained = graph(0.99 * radius) <= 1.001 * found && found <= 1.001 * graph(1.025 * radius);
        prop_assert!(same(found, exact) || explained, "{found} m instead of {exact}");
    }
}

/// A hall of 100 m with blocks, none like the next.
fn blocks(side: usize) -> Geometry {
    let step = 100.0 / side as f64;
    let block = |i: usize| {
        let (x, y) = ((i % side) as f64 * step + 0.2 * step, (i / side) as f64 * step + 0.2 * step);
        let skew = ((i * 7919) % 13) as f64 / 30.0 * step;
        let ring = [
            [x, y + skew / 2.0],
            [x + 0.5 * step - skew / 2.0, y],
            [x + 0.5 * step, y + 0.5 * step],
            [x, y + 0.6 * step],
        ];
        ring.map(DVec2::from).to_vec()
    };
    Geometry {
        walkable: vec![vec![rectangle([0.0, 0.0], [100.0, 100.0])]],
        obstacles: (0..side * side).map(block).collect(),
        walls: Vec::new(),
    }
}

fn lengths(mesh: &Mesh) -> Vec<u64> {
    let places: Vec<DVec2> =
        (0..12).map(|i| DVec2::new((i * 37 % 100) as f64 + 0.31, (i * 61 % 97) as f64 + 0.57)).collect();
    let mut search = Search::default();
    let mut lengths = Vec::new();
    for &from in &places {
        for &to in &places {
            lengths.push(search.find(mesh, from, to).map_or(f64::INFINITY, |way| way.length).to_bits());
        }
    }
    lengths
}

#[test]
fn after_edits_the_mesh_is_the_one_that_is_built_anew() {
    let geometry = blocks(20);
    let settings = Settings { radius: 0.25, ..Settings::default() };
    let mut terrain = Terrain::new(&geometry, settings).unwrap();
    let added = terrain.add(&rectangle([41.0, 13.0], [47.5, 29.0])).unwrap();
    let moved = terrain.obstacle(137).unwrap();
    terrain.replace(moved, &rectangle([60.0, 60.0], [63.0, 69.0])).unwrap();
    terrain.remove(terrain.obstacle(55).unwrap()).unwrap();
    let second = terrain.add(&rectangle([10.0, 80.0], [30.0, 80.5])).unwrap();
    terrain.remove(added).unwrap();
    terrain.replace(second, &rectangle([10.0, 82.0], [30.0, 82.5])).unwrap();

    let mut other = geometry;
    other.obstacles[137] = rectangle([60.0, 60.0], [63.0, 69.0]);
    other.obstacles.remove(55);
    other.obstacles.push(rectangle([10.0, 82.0], [30.0, 82.5]));
    let anew = Terrain::new(&other, settings).unwrap();
    assert_eq!(lengths(terrain.mesh()), lengths(anew.mesh()));
    assert_eq!(area(terrain.mesh()).to_bits(), area(anew.mesh()).to_bits());
    let whole = Terrain::new(&other, Settings { tiles: false, ..settings }).unwrap();
    for (edited, whole) in lengths(terrain.mesh()).into_iter().zip(lengths(whole.mesh())) {
        let (edited, whole) = (f64::from_bits(edited), f64::from_bits(whole));
        assert!(edited == whole || (edited - whole).abs() < 1e-6, "{edited} m in tiles, {whole} m without");
    }
    assert_eq!(terrain.remove(added), Err(MeshError::UnknownObstacle { number: 400 }));
}

/// What events do to a world: the same walls and some more.
#[test]
fn other_walls_give_the_mesh_that_is_built_of_them() {
    let field = |side: usize| -> Vec<Wall> {
        let mut walls = outline(&block([0.0, 0.0], [100.0, 100.0]));
        for ring in blocks(side).obstacles {
            walls.extend(obstacle(&ring.iter().map(|place| place.as_vec2()).collect::<Vec<_>>()));
        }
        walls
    };
    let mut more = field(12);
    more.extend(obstacle(&block([41.0, 13.0], [47.5, 29.0])));
    let mut terrain = Terrain::between(&field(12), 0.3).unwrap();
    let before = lengths(terrain.mesh());
    terrain.set_walls(&more).unwrap();
    assert_eq!(lengths(terrain.mesh()), lengths(Terrain::between(&more, 0.3).unwrap().mesh()));
    assert_ne!(lengths(terrain.mesh()), before);
    terrain.set_walls(&field(12)).unwrap();
    assert_eq!(lengths(terrain.mesh()), before);
}

/// The shortest of many: others may be at work on the machine.
fn least(times: impl Iterator<Item = f64>) -> f64 {
    times.fold(f64::INFINITY, f64::min)
}

#[test]
fn an_edit_of_a_large_map_takes_a_tenth_of_building_it() {
    let geometry = blocks(32);
    let settings = Settings { radius: 0.25, ..Settings::default() };
    let mut terrain = Terrain::new(&geometry, settings).unwrap();
    let time = |work: &mut dyn FnMut()| {
        let began = Instant::now();
        work();
        began.elapsed().as_secs_f64()
    };
    // On one thread: whether a second one is free depends on what other tests do meanwhile.
    let alone = rayon_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let [build, edit] = alone.install(|| {
        let build = least((0..5).map(|_| time(&mut || drop(Terrain::new(&geometry, settings)))));
        let edits = (0..40).map(|i| {
            let at = DVec2::new((i * 37 % 90) as f64, (i * 53 % 90) as f64);
            let id = terrain.obstacle(i * 17).unwrap();
            let to = rectangle([at.x, at.y], [at.x + 1.5, at.y + 2.0]);
            time(&mut || terrain.replace(id, &to).unwrap())
        });
        [build, least(edits)]
    });
    println!(
        "{} polygons: built in {build:.4} s, an edit in {edit:.6} s, {:.1} times less",
        terrain.mesh().polygons(),
        build / edit
    );
    assert!(build >= 10.0 * edit, "built in {build} s, an edit in {edit} s");
}

#[test]
fn doors_narrower_than_a_body_are_not_passed() {
    let geometry = Geometry {
        walkable: vec![vec![rectangle([0.0, 0.0], [20.0, 10.0])]],
        obstacles: vec![rectangle([9.0, 0.0], [11.0, 4.5]), rectangle([9.0, 5.5], [11.0, 10.0])],
        walls: Vec::new(),
    };
    let (from, to) = (DVec2::new(2.0, 5.0), DVec2::new(18.0, 5.0));
    for (radius, passes) in [(0.1, true), (0.49, true), (0.4999, true), (0.5001, false), (0.8, false)] {
        let terrain = Terrain::new(&geometry, Settings { radius, ..Settings::default() }).unwrap();
        let found = shortest(terrain.mesh(), from, to);
        assert_eq!(found.is_finite(), passes, "radius {radius}: {found} m");
    }
}

#[test]
fn overlapping_obstacles_are_one() {
    let square = |x: f64, y: f64| rectangle([x, y], [x + 2.0, y + 2.0]);
    let geometry = Geometry {
        walkable: vec![vec![rectangle([0.0, 0.0], [10.0, 10.0])]],
        obstacles: vec![square(4.0, 4.0), square(5.0, 5.0), square(4.0, 4.0), square(9.0, 9.0)],
        walls: vec![],
    };
    let terrain = Terrain::new(&geometry, Settings::default()).unwrap();
    assert!((area(terrain.mesh()) - (100.0 - 7.0 - 1.0)).abs() < 1e-9);
}

#[test]
fn an_open_map_is_free_as_far_as_anybody_goes() {
    let geometry = Geometry { obstacles: vec![rectangle([-1.0, -1.0], [1.0, 1.0])], ..Geometry::default() };
    let terrain = Terrain::new(&geometry, Settings::default()).unwrap();
    let far = 1e5;
    let found = shortest(terrain.mesh(), DVec2::new(-far, 0.0), DVec2::new(far, 0.0));
    let best = 2.0 * (far - 1.0).hypot(1.0) + 2.0;
    assert!((found - best).abs() < 1e-6, "{found} m instead of {best}");
}

#[test]
fn bad_input_gets_an_error() {
    let with = |ring: Vec<DVec2>| Geometry { walkable: vec![vec![ring]], ..Geometry::default() };
    let error = |geometry: &Geometry| Terrain::new(geometry, Settings::default()).map(|_| ()).unwrap_err();
    let nan = with(vec![DVec2::ZERO, DVec2::new(f64::NAN, 1.0), DVec2::X]);
    assert!(matches!(error(&nan), MeshError::NotFinite { .. }));
    let far = with(vec![DVec2::ZERO, DVec2::new(1e300, 1.0), DVec2::X]);
    assert!(matches!(error(&far), MeshError::TooFar { .. }));
    for ring in [vec![], vec![DVec2::ONE], vec![DVec2::ZERO, DVec2::ONE], vec![DVec2::ONE; 7]] {
        assert_eq!(error(&with(ring)), MeshError::NoGround);
    }
    let covered = Geometry {
        obstacles: vec![rectangle([-1.0, -1.0], [2.0, 2.0])],
        ..with(rectangle([0.0, 0.0], [1.0, 1.0]))
    };
    assert_eq!(error(&covered), MeshError::NoGround);
    let room = with(rectangle([0.0, 0.0], [1.0, 1.0]));
    for radius in [f64::NAN, -1.0, f64::INFINITY] {
        let settings = Settings { radius, ..Settings::default() };
        assert!(matches!(Terrain::new(&room, settings), Err(MeshError::Radius { .. })));
    }
    let settings = Settings { radius: 0.6, ..Settings::default() };
    assert_eq!(Terrain::new(&room, settings).map(|_| ()), Err(MeshError::NoGround));
    let corners = wide(&block([0.0, 0.0], [1.0, 1.0]));
    assert_eq!(
        Mesh::from_polygons(&corners, &[vec![0, 2, 1]]).map(|_| ()),
        Err(MeshError::Polygon { index: 0 })
    );
    assert_eq!(
        Mesh::from_polygons(&corners, &[vec![0, 1, 9]]).map(|_| ()),
        Err(MeshError::Polygon { index: 0 })
    );
}

#[test]
fn links_are_taken_where_they_are_worth_it() {
    let geometry = Geometry {
        walkable: vec![vec![rectangle([0.0, 0.0], [20.0, 10.0])]],
        obstacles: vec![rectangle([9.0, 0.0], [11.0, 9.0])],
        walls: Vec::new(),
    };
    let terrain = Terrain::new(&geometry, Settings::default()).unwrap();
    let mut mesh = terrain.mesh().clone();
    let (from, to) = (DVec2::new(8.0, 1.0), DVec2::new(12.0, 1.0));
    let around = 2.0 * 1f64.hypot(8.0) + 2.0;
    let link = Link { from: DVec2::new(8.5, 2.0), to: DVec2::new(11.5, 2.0), cost: 5.0, both_ways: false };
    let jump = 2.0 * 0.5f64.hypot(1.0) + 5.0;
    let mut search = Search::default();
    let mut length = |mesh: &Mesh, from: DVec2, to: DVec2| {
        let way = search.find(mesh, from, to).unwrap();
        (way.length, way.stops.iter().filter(|stop| stop.by_link).count())
    };
    let near = |a: (f64, usize), b: (f64, usize)| (a.0 - b.0).abs() < 1e-9 && a.1 == b.1;
    assert!(near(length(&mesh, from, to), (around, 0)));
    mesh.set_links(&[link]).unwrap();
    assert!(near(length(&mesh, from, to), (jump, 1)), "{:?}", length(&mesh, from, to));
    assert!(near(length(&mesh, to, from), (around, 0)));
    mesh.set_links(&[Link { both_ways: true, ..link }]).unwrap();
    assert!(near(length(&mesh, to, from), (jump, 1)));
    mesh.set_links(&[Link { cost: 50.0, ..link }]).unwrap();
    assert!(near(length(&mesh, from, to), (around, 0)));
    // Cheaper than walking: even the straight way of a polygon is not the shortest.
    mesh.set_links(&[Link {
        from: DVec2::new(1.0, 5.0),
        to: DVec2::new(8.0, 5.0),
        cost: 0.0,
        both_ways: false,
    }])
    .unwrap();
    assert!(near(length(&mesh, DVec2::new(0.5, 5.0), DVec2::new(8.5, 5.0)), (1.0, 1)));
    // One after another in one polygon, and every one is told.
    let hop =
        |x: f64| Link { from: DVec2::new(x, 5.0), to: DVec2::new(x + 2.0, 5.0), cost: 0.0, both_ways: true };
    mesh.set_links(&[hop(1.0), hop(4.0)]).unwrap();
    assert!(near(length(&mesh, DVec2::new(0.5, 5.0), DVec2::new(6.5, 5.0)), (2.0, 2)));
    assert!(near(length(&mesh, DVec2::new(6.5, 5.0), DVec2::new(0.5, 5.0)), (2.0, 2)));
    let outside = Link { from: DVec2::new(10.0, 1.0), ..link };
    assert!(matches!(mesh.set_links(&[outside]), Err(MeshError::Link { index: 0, .. })));
    assert!(matches!(mesh.set_links(&[Link { cost: f64::NAN, ..link }]), Err(MeshError::LinkCost { .. })));
}

/// It looked around the vertex for ever.
#[test]
fn a_way_begins_on_a_vertex_where_only_free_polygons_meet() {
    let square = vec![DVec2::ZERO, DVec2::new(10.0, 0.0), DVec2::splat(10.0), DVec2::new(0.0, 10.0)];
    let geometry = Geometry { walkable: vec![vec![square]], ..Geometry::default() };
    let terrain = Terrain::new(&geometry, Settings { widest: 2.0, ..Settings::default() }).unwrap();
    let mesh = terrain.mesh();
    let mut search = Search::default();
    for number in 0..mesh.vertices() {
        let (from, to) = (mesh.vertex(number), DVec2::new(5.1, 4.7));
        for (from, to) in [(from, to), (to, from)] {
            let length = search.find(mesh, from, to).unwrap().length;
            assert!((length - from.distance(to)).abs() < 1e-9);
        }
    }
}
