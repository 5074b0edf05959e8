//! Takes the pairs of a configuration once its group has its trials: one trial of proofmark and a
//! run of a reference tool. Their order is decided before the run, so that both see the same
//! machine. A new worker takes the trial, since the tool is a new process too. Memory that was kept
//! while other processes ran has changed, most of all in a virtual machine. Work that only reads a
//! file keeps its worker: a new one would write the whole file again for each pair.

use proofmark_engine::Request;
use proofmark_model::{Ending, First, Trial};

use super::State;
use super::warm_up::warm_up;
use crate::registry::reads_file;
use crate::tool::ToolSession;

impl State<'_, '_, '_> {
    /// Takes the pairs of a configuration if it has its trials and the run goes on.
    pub(super) fn take_pairs(&mut self, place: usize) {
        let m = &self.measurements[place];
        let has_trials = matches!(m.ending, Ending::Complete | Ending::Budget);
        let order = self.pairs.order(place);
        if !has_trials || order.is_empty() || self.stopped().is_some() {
            return;
        }
        let begun = self.means.clock.now();
        self.release_worker(place);
        let mut tools = self.pairs.runner().begin(m);
        for (turn, which) in order {
            if self.stopped().is_some() {
                break;
            }
            if !self.pairs.is_open(place, which, turn) {
                continue;
            }
            if !self.has_time_for_pair(place, which) {
                self.pairs.wait(place, which);
            } else if let Some(event) = self.pairs.event(place, which, turn) {
                self.notify(event, place);
                self.pair(place, (turn, which), tools.as_mut());
            }
        }
        drop(tools);
        self.away_s += self.means.clock.now() - begun;
        self.pairs.describe(place, &mut self.measurements[place]);
        let is_last = self.limit.is_none() || self.is_last_chance || self.stopped().is_some();
        self.announce_ended(place, is_last);
    }

    /// Announces the tools that run no more; those without time only if `all`.
    fn announce_ended(&mut self, place: usize, all: bool) {
        for event in self.pairs.ended(place, all) {
            self.notify(event, place);
        }
    }

    /// Takes the pairs for which there was no time, in the time that remains.
    pub(super) fn take_waiting_pairs(&mut self) {
        if self.limit.is_some() {
            for place in self.pairs.reopen() {
                self.take_pairs(place);
                self.announce_ended(place, true);
            }
        }
    }

    /// Takes the pairs for which the plan has no time, in the time that remains.
    pub(super) fn take_further_pairs(&mut self) {
        if self.limit.is_some() {
            for place in self.pairs.open_further(self.means.find_tool) {
                self.take_pairs(place);
                self.announce_ended(place, true);
            }
        }
    }

    fn pair(&mut self, place: usize, (turn, which): (usize, usize), tools: &mut dyn ToolSession) {
        self.limit_waiting(place);
        let begun = self.means.clock.now();
        let failed = self.take_pair(place, (turn, which), tools).err();
        // Errors of a stopped run are no fault of the tool.
        let failed = failed.filter(|_| self.stopped().is_none());
        let is_cut = failed.is_some() && self.means.stop.is_time_over();
        let failed = failed.filter(|_| !is_cut);
        self.pairs.end_turn((place, which), failed, self.means.clock.now() - begun);
        if is_cut {
            self.pairs.wait(place, which);
        }
        self.pairs.describe(place, &mut self.measurements[place]);
    }

    fn take_pair(
        &mut self,
        place: usize,
        (turn, which): (usize, usize),
        tools: &mut dyn ToolSession,
    ) -> Result<(), String> {
        let at = (place, which);
        let (ours, theirs) = match self.pairs.first(place, which, turn) {
            First::Proofmark => {
                let ours = self.paired_trial(place)?;
                let m = &self.measurements[place];
                let theirs = self.pairs.run(at, m, Some(&ours), tools)?;
                (ours, theirs)
            }
            First::Tool => {
                let m = &self.measurements[place];
                let theirs = self.pairs.run(at, m, None, tools)?;
                if self.stopped().is_some() {
                    return Err("the run was stopped".to_owned());
                }
                (self.paired_trial(place)?, theirs)
            }
        };
        self.pairs.keep(at, ours, theirs);
        Ok(())
    }

    /// Releases the worker with its memory and its file, unless its work only reads a file.
    fn release_worker(&self, place: usize) {
        if !reads_file(&self.plan.points[place]) {
            self.means.launcher.release_idle_worker();
        }
    }

    /// Takes proofmark's trial of a pair. Its memory is gone when the tool runs, and its file if the
    /// work writes.
    fn paired_trial(&self, place: usize) -> Result<Trial, String> {
        let ours = self.once(place);
        self.release_worker(place);
        ours.map_err(|ending| {
            format!("proofmark's own trial of the pair failed: {}", ending.words())
        })
    }

    /// Takes one trial in a session of its own, with the usual warm-up. An error is how the
    /// configuration ended.
    fn once(&self, place: usize) -> Result<Trial, Ending> {
        let target = self.policy().target_for(self.measurements[place].subsystem);
        let mut session = self.means.launcher.launch(&self.plan.points[place])?;
        if !self.has_slices(place) {
            warm_up(session.as_mut(), target, |_| Ok(()))?;
        }
        Ok(session.take(Request::Trial)?.trial)
    }
}
