//! The pairs of a point that has its trials: one of ours and a run of a reference tool, in turn, so
//! that both see the same machine. Ours is taken by a worker made for it, as a tool is a process
//! made for its run: memory that was kept while others came and went is not what it was, least of
//! all in a virtual machine.

use proofmark_model::Ending;

use super::{State, once};
use crate::tool::ToolSession;

impl State<'_, '_, '_> {
    /// Takes the pairs of a point, if it has its trials and the run goes on.
    pub(super) fn compare(&mut self, place: usize) {
        let m = &self.measurements[place];
        let has_trials = matches!(m.ending, Ending::Complete | Ending::Budget);
        let order = self.pairs.order(place);
        if !has_trials || order.is_empty() || self.stopped().is_some() {
            return;
        }
        let begun = self.means.clock.now();
        // Caches, clocks and devices will be as the tools leave them.
        self.cooled += 1;
        self.means.launcher.release_idle_worker();
        let mut tools = self.pairs.runner().begin(m);
        for (turn, which) in order {
            if self.stopped().is_some() {
                break;
            }
            if let Some(event) = self.pairs.event(place, which, turn) {
                self.tell(event, place);
                self.pair(place, which, tools.as_mut());
            }
        }
        drop(tools);
        self.away_s += self.means.clock.now() - begun;
    }

    fn pair(&mut self, place: usize, which: usize, tools: &mut dyn ToolSession) {
        let begun = self.means.clock.now();
        let failed = self.take_pair(place, which, tools).err();
        // Whatever a run that was stopped says is no fault of the tool.
        let failed = failed.filter(|_| self.stopped().is_none());
        self.pairs.end_turn((place, which), failed, self.means.clock.now() - begun);
        self.pairs.describe(place, &mut self.measurements[place]);
    }

    fn take_pair(
        &mut self,
        place: usize,
        which: usize,
        tools: &mut dyn ToolSession,
    ) -> Result<(), String> {
        let m = &self.measurements[place];
        self.pairs.has_time(place, which)?;
        let launcher = self.means.launcher;
        let ours = once(launcher, &m.point(), self.policy().target_for(m.subsystem));
        // Its memory and its file must be gone when the tool runs.
        launcher.release_idle_worker();
        let ours = ours.map_err(|ending| why_none(&ending))?;
        self.pairs.run((place, which), m, &ours, tools)
    }
}

/// Why our own trial of a pair was not to be had.
fn why_none(ending: &Ending) -> String {
    let why = match ending {
        Ending::Refused { reason } | Ending::Unverified { reason } => reason.clone(),
        Ending::Crashed { detail, .. } => format!("the worker died: {detail}"),
        Ending::Interrupted { by } => format!("stopped by {by}"),
        Ending::Complete | Ending::Budget | Ending::Unfinished => "it ended".to_owned(),
    };
    format!("proofmark's own trial before it failed: {why}")
}
