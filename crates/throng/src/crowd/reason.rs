//! What one agent sees and chooses, worked out for it alone: no stage runs for all agents to answer this.

use super::agent::AgentId;
use super::edit::EditError;
use super::{Crowd, Handover, State};
use crate::explain::{Explanation, Wants};
use crate::pipeline::Stages;
use glam::Vec2;
use throng_core::handover::Intents;
use throng_core::parallel::for_chunks;
use throng_core::world::{Steering, View};
use throng_macroscale::Macroscale;
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
        let Crowd { state: State { world, unreachable, .. }, stages, handover, .. } = self;
        let Stages { macroscale, mesoscale, microscale, world_field, .. } = stages;
        let view = world.view();
        let (intent, steered) = (macroscale.intent(view, row), world.steering().of(view.agents.slot[row]));
        let mut intents = Intents::default();
        wanted(macroscale.as_ref(), view, world.steering(), &mut intents);
        // A count of where agents are, which the last step had of where they were then.
        if let Some(field) = world_field {
            field.run(view, &mut intents);
        }
        let preferred = Vec2::new(intents.vx[row], intents.vy[row]);

        let mut perceived = Perceived::default();
        for model in mesoscale.iter_mut() {
            let more = model.explain(view, &intents, row);
            perceived.groups.extend(more.groups);
            perceived.looks.extend(more.looks);
            if steered.is_none() {
                (intents.vx[row], intents.vy[row]) = more.adapted.into();
            }
        }
        if !mesoscale.is_empty() {
            handover.write_adapted(view, row, &mut intents);
        }
        let wants = Wants {
            preferred,
            route: macroscale.route(view, row),
            no_path: unreachable.binary_search(&view.agents.id[row]).is_ok(),
            tasks: macroscale.tasks().map_or(Vec::new(), |tasks| tasks.explain(view, row)),
            guided: (intent.guide, intent.leader),
            perceived,
            adapted: Vec2::new(intents.vx[row], intents.vy[row]),
        };
        let seen = microscale.explain(view, &intents, row)?;
        Some(Explanation::new(view, world.origin, wants, &seen))
    }
}

/// What all agents want now, by what is planned for them.
fn wanted(macroscale: &dyn Macroscale, view: View<'_>, steering: &Steering, intents: &mut Intents) {
    intents.resize(view.agents.len());
    let columns = (&mut intents.vx[..], &mut intents.vy[..], &mut intents.aim[..]);
    // One by one: a planner may search for long.
    for_chunks(1, columns, &|row, (vx, vy, aim)| {
        let intent = macroscale.intent(view, row);
        (vx[0], vy[0], aim[0]) = (intent.velocity.x, intent.velocity.y, intent.aim);
    });
    steering.write(view, intents);
}

impl Handover {
    /// What others made of what they wanted in the last step, by the rows of now.
    fn write_adapted(&self, view: View<'_>, ego: usize, intents: &mut Intents) {
        let most = self.decided.iter().max().map_or(0, |&slot| slot as usize + 1);
        let mut before = vec![usize::MAX; most];
        self.decided.iter().enumerate().for_each(|(row, &slot)| before[slot as usize] = row);
        for (row, &slot) in view.agents.slot.iter().enumerate().filter(|(row, _)| *row != ego) {
            if let Some(&before) = before.get(slot as usize).filter(|&&before| before != usize::MAX) {
                (intents.vx[row], intents.vy[row]) = (self.intents.vx[before], self.intents.vy[before]);
            }
        }
    }
}
