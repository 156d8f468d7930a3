//! How much of what a search knows relies on states that have become dearer: so much has to be worked out twice to be
//! mended, once to be taken back and once to be found again.

use super::arena::{NO_NODE, Node};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mark {
    Unknown,
    /// On the way up from here; met again only where parents lead in a circle, as they may in the middle of mending.
    Passed,
    Sound,
    Outdated,
}

/// The share of expanded nodes whose parents lead to one that has become dearer. Looks at each node once or twice and never
/// at the domain, so it takes about a hundredth of the time of expanding them.
pub(super) fn uncertain_share<S>(nodes: &[Node<S>], marks: &mut Vec<Mark>) -> f32 {
    marks.clear();
    marks.resize(nodes.len(), Mark::Unknown);
    let (mut expanded, mut outdated) = (0, 0);
    for id in (0..nodes.len()).filter(|&id| nodes[id].g < f32::INFINITY) {
        let mark = mark_of(nodes, marks, id);
        expanded += 1;
        outdated += usize::from(mark == Mark::Outdated);
    }
    outdated as f32 / expanded.max(1) as f32
}

/// Finds a node's mark by going up until one is known, and leaves it at all nodes on the way.
fn mark_of<S>(nodes: &[Node<S>], marks: &mut [Mark], id: usize) -> Mark {
    let mut top = id;
    let mark = loop {
        let node = &nodes[top];
        match marks[top] {
            Mark::Unknown if node.g < node.rhs || node.parent == NO_NODE => break Mark::Outdated,
            Mark::Unknown if node.parent as usize == top => break Mark::Sound,
            Mark::Unknown => marks[top] = Mark::Passed,
            Mark::Passed => break Mark::Outdated,
            known => break known,
        }
        top = node.parent as usize;
    };
    marks[top] = mark;
    let mut below = id;
    while marks[below] == Mark::Passed {
        marks[below] = mark;
        below = nodes[below].parent as usize;
    }
    mark
}

#[cfg(test)]
mod tests {
    use super::super::heap::OUTSIDE;
    use super::*;

    fn nodes(known: &[(f32, f32, u32)]) -> Vec<Node<()>> {
        let node = |&(g, rhs, parent)| Node { state: (), g, rhs, parent, place: OUTSIDE, closed: 0 };
        known.iter().map(node).collect()
    }

    #[test]
    fn counts_what_hangs_on_dearer_nodes() {
        let unseen = f32::INFINITY;
        let tree =
            [(3.0, 3.0, 2), (0.0, 0.0, 1), (2.0, 9.0, 3), (1.0, 1.0, 1), (4.0, 4.0, 0), (unseen, 5.0, 0)];
        let mut marks = Vec::new();
        assert_eq!(uncertain_share(&nodes(&tree), &mut marks), 3.0 / 5.0);
        assert_eq!(uncertain_share(&nodes(&[]), &mut marks), 0.0);
    }

    #[test]
    fn a_circle_is_outdated_and_ends() {
        let circle = [(3.0, 3.0, 2), (0.0, 0.0, 1), (2.0, 2.0, 3), (1.0, 1.0, 0)];
        assert_eq!(uncertain_share(&nodes(&circle), &mut Vec::new()), 3.0 / 4.0);
    }
}
