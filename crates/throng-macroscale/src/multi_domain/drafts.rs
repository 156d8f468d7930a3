//! Plans as they are after what has changed in a step.

use crate::multi_domain::plan::Plan;

/// What has changed in a step, by slot. Kept from step to step, so that it is made once.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    /// By slot: where its plan is in the list, or [`NONE`].
    place: Vec<u32>,
    plans: Vec<(u32, Plan)>,
}

const NONE: u32 = u32::MAX;

impl Drafts {
    /// An agent's plan, if it has changed.
    #[inline]
    pub fn get(&self, slot: u32) -> Option<&Plan> {
        let place = *self.place.get(slot as usize)?;
        self.plans.get(place as usize).map(|(_, plan)| plan)
    }

    pub fn insert(&mut self, slot: u32, plan: Plan) {
        if self.place.len() <= slot as usize {
            self.place.resize(slot as usize + 1, NONE);
        }
        let place = &mut self.place[slot as usize];
        if *place == NONE {
            *place = self.plans.len() as u32;
            self.plans.push((slot, plan));
        } else {
            self.plans[*place as usize].1 = plan;
        }
    }

    /// Hands all of them over, in the order in which they first changed.
    pub fn drain(&mut self) -> impl Iterator<Item = (u32, Plan)> {
        for (slot, _) in &self.plans {
            self.place[*slot as usize] = NONE;
        }
        self.plans.drain(..)
    }
}
