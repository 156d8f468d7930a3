//! Whose turn it is, and what becomes of it: agents are served in the order of their priorities, a batch at a time, until the
//! frame's budget is spent. Each brings the search that it keeps.

pub(crate) mod budget;
pub(crate) mod tasks;

use crate::cached::Cached;
use crate::multi_domain::Session;
use crate::multi_domain::plan::Plan;
use crate::multi_domain::plan::deliberation::{Proposal, Snapshot};
use crate::multi_domain::plan::kept::LiveSearch;
use crate::multi_domain::schedule::budget::{Frame, TaskRecord};
use std::mem::take;
use std::time::Instant;
use throng_core::memory::Memory;
use throng_core::parallel;
use throng_core::world::View;

impl Session<'_> {
    /// Serves agents until the budget of a step, that began at a time, is spent.
    pub(crate) fn deliberate(
        &mut self,
        view: View<'_>,
        begin: Instant,
        searches: &mut Memory<LiveSearch>,
        serviced: &mut Vec<TaskRecord>,
    ) {
        serviced.clear();
        let mut waiting = self.requests(view);
        waiting.reverse();
        let mut frame = Frame::begin(self.params, begin);
        while !waiting.is_empty() && !frame.is_spent() {
            let mut batch = waiting.split_off(waiting.len() - tasks::batch(view, &waiting));
            batch.reverse();
            let shares = frame.share_out(&batch, batch.len() + waiting.len(), self.params);
            // Who would get nothing waits.
            waiting.extend(batch.drain(shares.len()..).rev());
            let snapshot = Snapshot::new(view, self);
            let kept: Vec<Cached<LiveSearch>> =
                batch.iter().map(|request| Cached::new(take(searches.get_mut(request.slot)))).collect();
            let proposals = parallel::map(1, batch.len(), &|turn| {
                let search = take(&mut *kept[turn].lock());
                snapshot.serve(&batch[turn], shares[turn], search)
            });
            for mut proposal in proposals {
                *searches.get_mut(proposal.request.slot) = take(&mut proposal.search);
                frame.spend(proposal.spent);
                // Nothing is proposed by those who came when time was up.
                if !proposal.plans.is_empty() {
                    serviced.push(proposal.served);
                }
                if !self.accept(view, &proposal) && frame.may_try_again() {
                    // Another agent of the same batch was first: next round.
                    waiting.push(proposal.request);
                }
            }
        }
        if !serviced.is_empty() {
            self.save_memory(view, searches);
        }
    }

    /// Publishes what was proposed, unless it meets what was published since.
    fn accept(&mut self, view: View<'_>, proposal: &Proposal) -> bool {
        // Another agent of the same batch has found a place for one that found nothing itself.
        let is_late = |(slot, plan): &(u32, Plan)| !plan.valid && self.plan(*slot).valid;
        if proposal.plans.iter().any(is_late) {
            return true;
        }
        let snapshot = Snapshot::new(view, self);
        let is_free = proposal.plans.iter().all(|(slot, plan)| {
            let others: Vec<u32> =
                proposal.plans.iter().map(|(other, _)| *other).filter(|other| other != slot).collect();
            let is_known = plan.path == self.plan(*slot).path;
            !plan.valid || is_known || snapshot.still_holds(*slot, plan, &others)
        });
        let is_free = is_free && !snapshot.is_met_by_more(proposal);
        if is_free {
            for (slot, plan) in &proposal.plans {
                self.publish(view, *slot, plan.clone());
            }
        }
        is_free
    }

    /// Forgets searches until those that are left take no more than they may: first of agents whose plans cannot become better,
    /// then of those who have plans, and among these of whoever was served longest ago or has furthest to go.
    fn save_memory(&mut self, view: View<'_>, searches: &mut Memory<LiveSearch>) {
        let most = (f64::from(self.params.memory) * 1e3 * view.agents.len() as f64) as usize;
        let mut all: usize = searches.iter().map(|(_, search)| search.size()).sum();
        if all <= most {
            return;
        }
        let kept = searches.iter().filter(|(_, search)| search.size() > 0).map(|(slot, _)| slot);
        let mut needs: Vec<([bool; 2], [f64; 2], u32)> = kept.map(|slot| self.need(view, slot)).collect();
        let times = |need: &([bool; 2], [f64; 2], u32)| need.1;
        needs.sort_by(|a, b| {
            let order = a.0.cmp(&b.0).then(times(a)[0].total_cmp(&times(b)[0]));
            order.then(times(a)[1].total_cmp(&times(b)[1])).then(a.2.cmp(&b.2))
        });
        for (.., slot) in needs {
            if all <= most {
                break;
            }
            all -= take(searches.get_mut(slot)).size();
            let plan = self.plan(slot);
            if plan.searching {
                // It would begin anew in every step: it has found nothing, as far as it could look.
                let (failures, blocked) = (plan.failures + 1, plan.blocked.min(view.now));
                let plan = Plan { searching: false, failures, blocked, ..plan.clone() };
                self.publish(view, slot, plan);
            }
        }
    }

    /// How much an agent needs its search, the least first; of those alike, who has furthest to go.
    fn need(&self, view: View<'_>, slot: u32) -> ([bool; 2], [f64; 2], u32) {
        let plan = self.plan(slot);
        let row = self.known.rows.get(slot as usize).map(|&row| row as usize);
        let left = row.filter(|&row| row < view.agents.len()).map_or(0.0, |row| tasks::left(view, row, plan));
        ([!plan.valid || plan.searching, plan.improvable], [plan.served, -left], slot)
    }
}
