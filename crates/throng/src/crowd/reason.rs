//! What one agent sees and chooses, worked out for it alone: no stage runs for all agents to answer this.

use super::agent::AgentId;
use super::edit::EditError;
use super::{Crowd, Handover};
use crate::explain::{Explanation, Wants};
use crate::pipeline::Stages;
use glam::Vec2;
use throng_core::handover::Intents;
use throng_core::world::View;
use throng_mesoscale::Perceived;

impl Crowd {
    /// What an agent sees, and what it would choose now.
    pub fn explain(&mut self, agent: AgentId) -> Result<Explanation, EditError> {
        self.row(agent)?;
        self.on_threads(Crowd::prepare);
        // Rows may have been sorted.
        let row = self.row(agent)?;
        self.on_threads(|crowd| crowd.explain_row(row)).ok_or(EditError::StaleHandle)
    }

    pub(crate) fn explain_row(&mut self, row: usize) -> Option<Explanation> {
        let Crowd { world, stages, handover, .. } = self;
        let Stages { macroscale, mesoscale, microscale, world_field, .. } = stages;
        let view = world.view();
        let cohort = view.agents.cohort[row] as usize;
        let local = microscale.iter().find(|local| local.has(cohort))?;
        let intent = macroscale.intent(view, row);
        let steered = world.steering().of(view.agents.slot[row]);
        let preferred = steered.unwrap_or(intent.velocity);
        let mut intents = handover.aligned(view);
        if let (None, Some(field)) = (&intents.flow, world_field) {
            field.run(view, &mut intents);
        }
        (intents.vx[row], intents.vy[row], intents.aim[row]) = (preferred.x, preferred.y, intent.aim);

        let mut perceived = Perceived::default();
        for model in mesoscale {
            let more = model.explain(view, &intents, row);
            perceived.groups.extend(more.groups);
            perceived.looks.extend(more.looks);
            if steered.is_none() {
                (intents.vx[row], intents.vy[row]) = more.adapted.into();
            }
        }
        let wants = Wants {
            preferred,
            route: macroscale.route(view, row),
            no_path: macroscale.unreachable().binary_search(&view.agents.id[row]).is_ok(),
            tasks: macroscale.tasks().map_or(Vec::new(), |tasks| tasks.explain(view, row)),
            guided: (intent.guide, intent.leader),
            perceived,
            adapted: Vec2::new(intents.vx[row], intents.vy[row]),
        };
        let seen = local.model.explain(view, &intents, row);
        handover.take_fields(intents);
        Some(Explanation::new(view, world.origin, wants, &seen))
    }
}

impl Handover {
    /// What agents intended in the last step, by the rows of now. Those that have come since intend nothing.
    fn aligned(&mut self, view: View<'_>) -> Intents {
        let mut intents = Intents {
            flow: self.intents.flow.take(),
            mates: std::mem::take(&mut self.intents.mates),
            ..Intents::default()
        };
        intents.resize(view.agents.len());
        intents.detour.copy_from_slice(&view.agents.detour);
        let most = view.agents.slot.iter().chain(&self.decided).max().map_or(0, |&slot| slot as usize + 1);
        let mut row_of = vec![usize::MAX; most];
        view.agents.slot.iter().enumerate().for_each(|(row, &slot)| row_of[slot as usize] = row);
        for (before, &slot) in self.decided.iter().enumerate() {
            let row = row_of[slot as usize];
            if row != usize::MAX {
                (intents.vx[row], intents.vy[row]) = (self.intents.vx[before], self.intents.vy[before]);
                intents.aim[row] = self.intents.aim[before];
            }
        }
        intents
    }

    /// Gives fields back that are not by row.
    fn take_fields(&mut self, intents: Intents) {
        (self.intents.flow, self.intents.mates) = (intents.flow, intents.mates);
    }
}
