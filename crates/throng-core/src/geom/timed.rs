//! Paths in time: places and when they are passed.

/// The two places of a path that a time lies between, and the share of the way from the first to the second. Before the path
/// and after it both are the place at that end; `None` where there is no path. Times rise.
pub fn between<P: Copy>(path: &[(f64, P)], time: f64) -> Option<(P, P, f64)> {
    let after = path.partition_point(|&(t, _)| t <= time);
    match (after.checked_sub(1).map(|before| path[before]), path.get(after)) {
        (Some((t0, from)), Some(&(t1, to))) => Some((from, to, (time - t0) / (t1 - t0))),
        (Some((_, end)), None) | (None, Some(&(_, end))) => Some((end, end, 0.0)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_and_after_a_path_its_ends_are_stood_at() {
        let path = [(1.0, 'a'), (3.0, 'b')];
        assert_eq!(between(&path, 0.0), Some(('a', 'a', 0.0)));
        assert_eq!(between(&path, 2.0), Some(('a', 'b', 0.5)));
        assert_eq!(between(&path, 3.0), Some(('b', 'b', 0.0)));
        assert_eq!(between(&path[..0], 3.0), None);
    }
}
