//! Pairs of a run: which tools repeat which configurations, and their results.

use std::collections::BTreeMap;

use proofmark_model::{First, Plan, RawMeasurement, Trial};
use proofmark_reference::Tool;

use crate::event::Event;
use crate::planned::{FurtherPairs, NoReference, PlannedTools};
use crate::tool::{NO_KNOWN_TOOL, ToolRunner, ToolSession, ToolTask, tools_for};

mod repetition;

use repetition::{End, Repetition, Stage};

/// Id, title and meaning of the findings about a tool.
pub const FINDINGS: &[(&str, &str, &str)] = &[
    (
        FAILED,
        "A reference tool failed",
        "A reference tool did not start, ended with an error, took far too long, or printed no figure \
        for the work. Its earlier runs are kept; proofmark's own result is unchanged. Run the command \
        by hand to see more.",
    ),
    (
        NO_TIME,
        "Fewer pairs with a reference tool than planned",
        "The time limit left no time for all planned pairs. Tools that the request or the profile \
        names keep a quarter of the budget, and what remains in the end goes to them before \
        configurations that the plan left out. Raise --budget, or name fewer tools or workloads.",
    ),
];
const FAILED: &str = "reference.failed";
const NO_TIME: &str = "reference.time";

/// The pairs of a run.
pub struct Pairs<'a> {
    runner: &'a dyn ToolRunner,
    /// Total seconds of pairs after which none begins; `None`: no limit.
    most_s: Option<f64>,
    /// Seconds of the budget that named tools keep.
    kept_s: f64,
    spent_s: f64,
    /// Planned seconds of the pairs so far.
    due_s: f64,
    /// Tools by the configuration's index in the plan.
    tools: BTreeMap<usize, Vec<Repetition>>,
    /// Reasons why other tools do not run, by the configuration's index.
    missing: BTreeMap<usize, NoReference>,
    /// Pairs for which the plan has no time.
    further: Vec<FurtherPairs>,
}

impl<'a> Pairs<'a> {
    /// Creates the pairs of a plan. The program of each tool must have been found.
    pub fn new(
        plan: &Plan,
        planned: PlannedTools,
        find: &dyn Fn(&str) -> Option<&'static dyn Tool>,
        runner: &'a dyn ToolRunner,
    ) -> Self {
        let PlannedTools { installed, missing, most_s, kept_s, further, .. } = planned;
        let (spent_s, due_s, tools) = (0.0, 0.0, BTreeMap::new());
        let mut pairs = Self { runner, most_s, kept_s, spent_s, due_s, tools, missing, further };
        for (place, point) in plan.left_out.iter().enumerate() {
            let why = match tools_for(point).is_empty() {
                true => NO_KNOWN_TOOL,
                false => {
                    "the time limit left this configuration out at first, so that no tool was planned"
                }
            };
            let why = why.to_owned();
            let none = NoReference { refused: Vec::new(), why };
            pairs.missing.insert(plan.points.len() + place, none);
        }
        for (name, points) in &plan.references {
            for r in points {
                let Some((tool, installed)) = find(name).zip(installed.get(name)) else {
                    let why = (name.clone(), "its program was not found".to_owned());
                    pairs.missing.entry(r.point).or_default().refused.push(why);
                    continue;
                };
                pairs.tools.entry(r.point).or_default().push(Repetition::new(tool, installed, r));
            }
        }
        pairs
    }

    /// Opens the pairs for which the plan has no time, to be taken in the time that remains. Returns
    /// their places, the most important first.
    pub(crate) fn open_further(
        &mut self,
        find: &dyn Fn(&str) -> Option<&'static dyn Tool>,
    ) -> Vec<usize> {
        let mut places = Vec::new();
        for FurtherPairs { tool, installed, pairs, left_out } in std::mem::take(&mut self.further) {
            let Some(found) = find(&tool) else { continue };
            let here = self.tools.entry(pairs.point).or_default();
            let known = here.iter_mut().find(|r| r.tool.id() == tool);
            let further = Repetition::new(found, &installed, &pairs);
            match known {
                // What failed, or has no time for its own pairs, has none for more.
                Some(r) if r.end().is_some() => continue,
                Some(r) => {
                    let taken = r.first.len().min(further.first.len());
                    r.first.extend(&further.first[taken..]);
                    (r.stage, r.is_further) = (Stage::Open, true);
                }
                None => here.push(Repetition { is_further: true, left_out, ..further }),
            }
            if !places.contains(&pairs.point) {
                places.push(pairs.point);
            }
        }
        places
    }

    /// True if the request or the profile names the tools, which then keep a part of the budget.
    pub(crate) fn are_named(&self) -> bool {
        self.kept_s > 0.0
    }

    pub(crate) fn runner(&self) -> &'a dyn ToolRunner {
        self.runner
    }

    /// Returns the pairs of a configuration in order: each with its turn, from 1, and the index of
    /// its tool. Every second turn goes through the tools backwards.
    pub(crate) fn order(&self, place: usize) -> Vec<(usize, usize)> {
        let all = self.at(place);
        let most = all.iter().map(|r| r.first.len()).max().unwrap_or(0);
        let turns = (1..=most).flat_map(|turn| {
            let mut takes: Vec<_> =
                (0..all.len()).filter(|i| all[*i].first.len() >= turn).collect();
            if turn % 2 == 0 {
                takes.reverse();
            }
            takes.into_iter().map(move |which| (turn, which))
        });
        turns.collect()
    }

    /// Returns which of the two runs first in a pair.
    pub(crate) fn first(&self, place: usize, which: usize, turn: usize) -> First {
        let first = self.at(place).get(which).and_then(|r| r.first.get(turn - 1));
        first.copied().unwrap_or(First::Proofmark)
    }

    /// True if this pair is still to be taken.
    pub(crate) fn is_open(&self, place: usize, which: usize, turn: usize) -> bool {
        self.at(place).get(which).is_some_and(|r| r.is_open() && turn > r.theirs.len())
    }

    /// Returns the event of a pair that begins.
    pub(crate) fn event(&self, place: usize, which: usize, turn: usize) -> Option<Event<'static>> {
        let r = self.at(place).get(which)?;
        Some(Event::Pair { turn, of: r.first.len(), tool: r.tool.id() })
    }

    /// Returns the events of the tools that run no more, once each; tools without time only if `all`.
    pub(crate) fn ended(&mut self, place: usize, all: bool) -> Vec<Event<'static>> {
        let tools = self.tools.get_mut(&place).into_iter().flatten();
        let event = |r: &mut Repetition| {
            r.stage = match std::mem::replace(&mut r.stage, Stage::Open) {
                Stage::Open => Stage::Announced(None),
                Stage::Ended(end) if all || !end.waits() => Stage::Announced(Some(end)),
                still => {
                    r.stage = still;
                    return None;
                }
            };
            Some(Event::Paired { taken: r.theirs.len(), of: r.first.len(), tool: r.tool.id() })
        };
        tools.filter_map(event).collect()
    }

    /// Checks that the tools' own time suffices for another pair.
    pub(crate) fn has_time(&self, place: usize, which: usize) -> bool {
        self.most_s.is_none_or(|most| self.spent_s + self.run_s(place, which) <= most)
    }

    /// Seconds that named tools still keep for the pairs to come.
    pub(crate) fn reserved_s(&self) -> f64 {
        let all =
            self.tools.iter().flat_map(|(place, tools)| (0..tools.len()).map(|i| (*place, i)));
        let open_s = |(place, which): (usize, usize)| {
            let r = &self.at(place)[which];
            let open = if r.may_run() { r.first.len() - r.theirs.len() } else { 0 };
            open as f64 * self.run_s(place, which)
        };
        let kept_s = (self.kept_s - self.spent_s).max(0.0);
        if kept_s > 0.0 { all.map(open_s).sum::<f64>().min(kept_s) } else { 0.0 }
    }

    /// Notes that there is no time for another pair of a tool now.
    pub(crate) fn wait(&mut self, place: usize, which: usize) {
        let run_s = self.run_s(place, which);
        match self.get_mut(place, which) {
            // They were not planned, so none is missing.
            Some(r) if r.is_further => {
                r.first.truncate(r.theirs.len());
                r.stage = Stage::Announced(None);
            }
            Some(r) => r.stage = Stage::Ended(End::NoTime(run_s)),
            None => {}
        }
    }

    /// Notes that a configuration has no result to compare with.
    pub(crate) fn close(&mut self, place: usize) {
        for r in self.tools.get_mut(&place).into_iter().flatten() {
            r.stage = Stage::Ended(End::NoTrials);
        }
    }

    /// Lets the tools that had no time run in the time that remains, which nothing else limits. Returns
    /// their places.
    pub(crate) fn reopen(&mut self) -> Vec<usize> {
        self.most_s = None;
        let mut places = Vec::new();
        for (place, tools) in &mut self.tools {
            let waits = |r: &&mut Repetition| r.end().is_some_and(End::waits);
            let waiting: Vec<_> = tools.iter_mut().filter(waits).collect();
            if !waiting.is_empty() {
                places.push(*place);
            }
            waiting.into_iter().for_each(|r| r.stage = Stage::Open);
        }
        places
    }

    /// Returns the seconds of the tool's last pair; of the first as planned, at the pace of all pairs.
    pub(crate) fn run_s(&self, place: usize, which: usize) -> f64 {
        let pace = if self.due_s > 0.0 { (self.spent_s / self.due_s).max(1.0) } else { 1.0 };
        self.at(place).get(which).map_or(0.0, |r| r.last_s.unwrap_or(r.run_s * pace))
    }

    /// Returns the planned seconds of the pairs of these configurations and all later ones.
    pub(crate) fn planned_s(&self, from: usize) -> f64 {
        let later = self.tools.range(from..).flat_map(|(_, tools)| tools);
        later.map(|r| r.run_s * r.first.len() as f64).sum()
    }

    /// Runs the tool once. It repeats the work of `ours`, or if it runs first, that of proofmark's
    /// last trial.
    pub(crate) fn run(
        &mut self,
        (place, which): (usize, usize),
        m: &RawMeasurement,
        ours: Option<&Trial>,
        tools: &mut dyn ToolSession,
    ) -> Result<Trial, String> {
        let r = self.get_mut(place, which).ok_or("it is not planned")?;
        let ours = ours.or(r.ours.last()).or(m.trials.last()).ok_or("there is no trial")?;
        let task = ToolTask { tool: r.tool, installed: &r.installed, run_s: r.run_s, m, ours };
        let run = tools.run(&task);
        r.command = run.command.or(r.command.take());
        r.version = run.version.or(r.version.take());
        r.params = run.params.unwrap_or_else(|| std::mem::take(&mut r.params));
        run.trial
    }

    /// Records both sides of a pair.
    pub(crate) fn keep(&mut self, (place, which): (usize, usize), ours: Trial, theirs: Trial) {
        if let Some(r) = self.get_mut(place, which) {
            r.ours.push(ours);
            r.theirs.push(theirs);
        }
    }

    /// Ends a pair that took this many seconds.
    pub(crate) fn end_turn(
        &mut self,
        (place, which): (usize, usize),
        failed: Option<String>,
        seconds: f64,
    ) {
        self.spent_s += seconds;
        let Some(r) = self.get_mut(place, which) else { return };
        let due_s = if failed.is_none() { r.run_s } else { 0.0 };
        (r.stage, r.last_s) =
            (failed.map_or(Stage::Open, |why| Stage::Ended(End::Failed(why))), Some(seconds));
        self.due_s += due_s;
    }

    /// Counts for each tool the configurations whose pairs the plan left out and of which none ran in
    /// the end. A tool that failed there is not counted.
    pub(crate) fn left_out_to_the_end(&self) -> BTreeMap<String, u64> {
        let never_opened = self.further.iter().filter(|pairs| pairs.left_out).map(|p| &*p.tool);
        let is_without = |r: &&Repetition| r.left_out && r.theirs.is_empty() && !r.has_failed();
        let without = self.tools.values().flatten().filter(is_without).map(|r| r.tool.id());
        let mut left = BTreeMap::new();
        for tool in never_opened.chain(without) {
            *left.entry(tool.to_owned()).or_default() += 1;
        }
        left
    }

    /// Writes the results of its tools into a measurement, and why others have none.
    pub(crate) fn describe(&self, place: usize, m: &mut RawMeasurement) {
        let all = self.at(place);
        m.references = all.iter().filter_map(|r| r.reference(m)).collect();
        m.findings = all.iter().filter_map(Repetition::finding).collect();
        let none = self.missing.get(&place).cloned().unwrap_or_default();
        // The time limit left these out, as the plan says, unless they ran in the end.
        let is_without =
            |r: &&Repetition| r.theirs.is_empty() && (!r.is_further || r.end().is_some());
        let without = all.iter().filter(is_without);
        let without: Vec<_> = without.map(|r| (r.tool.id().to_owned(), r.failure())).collect();
        let is_known = |tool: &str| {
            let ran = |r: &Repetition| r.tool.id() == tool && !r.theirs.is_empty();
            all.iter().any(ran) || without.iter().any(|(other, _)| other == tool)
        };
        let refused = none.refused.into_iter().filter(|(tool, _)| !is_known(tool));
        let each: Vec<_> = refused.chain(without.clone()).collect();
        m.missing.clear();
        if m.references.is_empty() {
            let reasons: Vec<_> = each.iter().map(|(tool, why)| format!("{tool}: {why}")).collect();
            let why = if reasons.is_empty() { none.why } else { reasons.join("; ") };
            m.missing.insert("references".to_owned(), why);
        }
        m.missing.extend(each.into_iter().map(|(tool, why)| (format!("references.{tool}"), why)));
    }

    fn at(&self, place: usize) -> &[Repetition] {
        self.tools.get(&place).map_or(&[], Vec::as_slice)
    }

    fn get_mut(&mut self, place: usize, which: usize) -> Option<&mut Repetition> {
        self.tools.get_mut(&place)?.get_mut(which)
    }
}
