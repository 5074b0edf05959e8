//! Whether two measurements can be held against each other, and the ratio if so.

use std::collections::BTreeSet;

use proofmark_model::{Ending, Measurement, Params, Run, Severity, Verdict};

use super::pairs::Pair;
use super::rank::{Known, Ranks};

pub(super) struct Runs<'a> {
    a: &'a Run,
    b: &'a Run,
    plan_of_a: Planned<'a>,
    plan_of_b: Planned<'a>,
}

type Planned<'a> = BTreeSet<(&'a str, &'a Params, bool)>;

impl<'a> Runs<'a> {
    /// The workload measures by the same method in both runs, so that its figures are comparable.
    fn same_method(&self, m: &Measurement) -> Result<(), String> {
        let method = |run: &Run| run.workloads.get(&m.workload).map(|spec| spec.method);
        match (method(self.a), method(self.b)) {
            (Some(a), Some(b)) if a != b => Err(format!(
                "A was measured by method {a} of {}, B by method {b}: their figures are not \
                 comparable; measure A again with the program that measured B",
                m.workload
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn new(a: &'a Run, b: &'a Run) -> Self {
        let plan = |run: &'a Run| {
            let over_time = |i: usize| run.plan.series_of(i).is_some();
            let all = run.plan.points.iter().enumerate();
            all.map(|(i, p)| (p.workload.as_str(), &p.params, over_time(i))).collect()
        };
        Self { a, b, plan_of_a: plan(a), plan_of_b: plan(b) }
    }

    /// Why only one has it.
    fn only(&self, in_a: bool, m: &Measurement) -> String {
        let (has, lacks, other, plan) = match in_a {
            true => ("A", "B", self.b, &self.plan_of_b),
            false => ("B", "A", self.a, &self.plan_of_a),
        };
        let planned = plan.contains(&(m.workload.as_str(), &m.params, m.series.is_some()));
        match (planned, &other.interrupted) {
            (true, Some(signal)) => {
                format!("only in {has}: {lacks} was stopped by {signal} before it")
            }
            (true, None) => {
                format!("only in {has}: {lacks} planned it but has no measurement")
            }
            (false, _) => format!("only in {has}"),
        }
    }
}

/// Two measurements that can be compared, and B / A.
pub(super) struct Compared<'a> {
    pub(super) a: &'a Measurement,
    pub(super) b: &'a Measurement,
    pub(super) known: Known,
}

/// B / A of a pair; else the reason why there is none.
pub(super) fn compared<'a>(
    runs: &Runs,
    pair: &Pair<'a>,
    ranks: &mut Ranks,
) -> Result<Compared<'a>, String> {
    let (m, n) = match *pair {
        Pair::Both(m, n, _) => (m, n),
        Pair::OnlyA(m) => return Err(runs.only(true, m)),
        Pair::OnlyB(n) => return Err(runs.only(false, n)),
    };
    for (name, m) in [("A", m), ("B", n)] {
        number(name, m)?;
    }
    same_work(m, n)?;
    runs.same_method(m)?;
    for (name, m) in [("A", m), ("B", n)] {
        if m.verdict == Verdict::Invalid {
            return Err(format!("{name} is invalid: {}", worst(m)));
        }
    }
    for (name, m) in [("A", m), ("B", n)] {
        if let Some(levels) = m.series.as_ref().map(|s| s.levels.len()).filter(|n| *n > 1) {
            return Err(format!(
                "{name} has several levels over time ({levels}), so no single value describes it"
            ));
        }
    }
    let values = |m: &Measurement| -> Vec<f64> {
        match m.trials.is_empty() {
            false => m.trials.iter().map(|t| t.value).collect(),
            // An import may have no more than a median.
            true => m.summary.iter().map(|s| s.median).collect(),
        }
    };
    let known = ranks.known(&values(m), &values(n))?;
    Ok(Compared { a: m, b: n, known })
}

fn number(name: &str, m: &Measurement) -> Result<(), String> {
    if m.summary.is_some() {
        return Ok(());
    }
    let why = match (m.missing.get("summary"), &m.ending) {
        (Some(reason), _) => reason.clone(),
        (None, Ending::Crashed { signal: Some(signal), detail }) => {
            format!("the worker was ended by {signal}: {detail}")
        }
        (None, Ending::Crashed { signal: None, detail }) => format!("the worker died: {detail}"),
        (None, Ending::Refused { reason }) => {
            format!("the configuration is not possible there: {reason}")
        }
        (None, Ending::Unverified { reason }) => {
            format!("the result failed verification: {reason}")
        }
        (None, Ending::Interrupted { by }) => format!("the run was stopped by {by}"),
        (None, Ending::Unfinished) => "the measurement had not ended".to_owned(),
        (None, Ending::Complete | Ending::Budget) => "no reason was recorded".to_owned(),
    };
    Err(format!("{name} has no result: {why}"))
}

/// Both count the same work: the unit and its direction. How a workload's text words it is no work.
fn same_work(m: &Measurement, n: &Measurement) -> Result<(), String> {
    if m.unit != n.unit {
        return Err(format!("A is in {}, B in {}", m.unit, n.unit));
    }
    if m.better != n.better || m.subsystem != n.subsystem {
        return Err("the two runs disagree on whether more or less is better".to_owned());
    }
    Ok(())
}

/// The message of what weighs most.
fn worst(m: &Measurement) -> String {
    let invalid = m.findings.iter().find(|f| f.severity == Severity::Invalid);
    invalid.map_or_else(|| "no reason was recorded".to_owned(), |f| f.message.clone())
}
