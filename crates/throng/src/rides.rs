//! Who rides on which platform: how often agents change from one to another.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use throng_core::world::View;

/// What has been seen of it so far. Part of a checkpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rides {
    /// The platform that an agent stood on last, by id.
    last: BTreeMap<u32, u32>,
    changed: usize,
}

impl Rides {
    /// Looks at a moment.
    pub(crate) fn observe(&mut self, view: View<'_>) {
        if !view.scripts.iter().any(|script| script.carries) {
            return;
        }
        for row in 0..view.agents.len() {
            let Some(platform) = platform_under(view, row) else { continue };
            let last = self.last.insert(view.agents.id[row], platform);
            self.changed += usize::from(last.is_some_and(|last| last != platform));
        }
    }

    /// How often an agent stood on another platform than the last one that it had stood on.
    pub(crate) fn changed(&self) -> usize {
        self.changed
    }
}

fn platform_under(view: View<'_>, row: usize) -> Option<u32> {
    let here = view.position(row);
    let mut platforms = view.scripts.iter().zip(0..).filter(|(script, _)| script.carries);
    let under = platforms.find(|(script, _)| {
        let state = script.state(view.now, view.tick);
        view.towards(here, state.position).length() <= state.radius
    });
    under.map(|(_, number)| number)
}
