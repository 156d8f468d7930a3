//! # No agent passes through a wall
//! Local models keep away from walls as long as they can; this is what holds when they cannot.

use glam::Vec2;
use throng_core::CHUNK;
use throng_core::geom::{at_most, det, left, unit_or};
use throng_core::handover::{Commands, Moves};
use throng_core::parallel::for_chunks;
use throng_core::space::Wall;
use throng_core::world::View;

/// Stops every agent whose way leads through a wall, and keeps bodies out of walls where there is room.
pub(crate) fn hold(view: View<'_>, commands: &Commands, moves: &mut Moves) {
    if view.walls.all().is_empty() {
        return;
    }
    let columns = (&mut moves.x[..], &mut moves.y[..], &mut moves.vx[..], &mut moves.vy[..]);
    for_chunks(CHUNK, columns, &|chunk, (x, y, vx, vy)| {
        for i in 0..x.len() {
            let row = chunk * CHUNK + i;
            if commands.airborne[row] {
                continue;
            }
            let (from, to) = (view.position(row), Vec2::new(x[i], y[i]));
            let held = held(view, from, to, view.agents.radius[row]);
            if held != to {
                (x[i], y[i]) = held.into();
                // An agent that was too close to a wall is put beside it at once, which is no speed of its own.
                let taken = at_most((held - from) / view.dt, view.agents.max_speed[row]);
                (vx[i], vy[i]) = taken.into();
            }
        }
    });
}

/// Where a body ends that wants to go straight `from` here `to` there.
fn held(view: View<'_>, from: Vec2, to: Vec2, radius: f32) -> Vec2 {
    // Large bodies can push further than the index of walls knows, which no legs could: not so far at once.
    let known = |place: Vec2| {
        let most = 0.99 * view.walls.range();
        if from.distance_squared(place) > most * most { from + at_most(place - from, most) } else { place }
    };
    let to = known(to);
    let mut walls = view.walls.near(from).peekable();
    if walls.peek().is_none() {
        return to;
    }
    let reached = to_first_wall(walls.clone(), from, to);
    let beside = known(pushed_out(walls, from, reached, radius));
    // Where walls push towards one another there may be no room: then rather overlap than pass through.
    [beside, reached].into_iter().find(|&place| !view.walls.block(from, place)).unwrap_or(from)
}

/// `to`, or shortly before the first wall on the way.
fn to_first_wall<'a>(walls: impl Iterator<Item = &'a Wall>, from: Vec2, to: Vec2) -> Vec2 {
    let way = to - from;
    let hit = walls.filter(|wall| wall.blocks(from, to)).map(|wall| {
        let along = wall.b - wall.a;
        let cross = det(way, along);
        if cross == 0.0 { 0.0 } else { (det(wall.a - from, along) / cross).clamp(0.0, 1.0) }
    });
    hit.min_by(f32::total_cmp).map_or(to, |part| from + way * (part * 0.99))
}

/// `place`, moved away from the walls that a body there overlaps, to the side that it comes from.
pub(crate) fn pushed_out<'a>(
    walls: impl Iterator<Item = &'a Wall>,
    from: Vec2,
    mut place: Vec2,
    radius: f32,
) -> Vec2 {
    for wall in walls {
        let away = place - wall.closest(place);
        let depth = radius - away.length();
        if depth > 0.0 && wall.faces(from) {
            let side = left(wall.b - wall.a) * det(wall.b - wall.a, from - wall.a).signum();
            place += unit_or(away, unit_or(side, Vec2::ZERO)) * depth;
        }
    }
    place
}
