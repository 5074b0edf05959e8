//! Whether two measurements can be held against each other, and the ratio if so.

use proofmark_model::{Ending, Measurement, Run, Severity, Verdict};

use super::pairs::Pair;
use super::rank::{Known, Ranks};

/// The workload measures by the same method in both runs, so that its figures are comparable.
fn same_method(a: &Run, b: &Run, workload: &str) -> Result<(), String> {
    let method = |run: &Run| run.workloads.get(workload).map(|spec| spec.method);
    match (method(a), method(b)) {
        (Some(a), Some(b)) if a != b => Err(format!(
            "A was measured by method {a} of {workload}, B by method {b}: their figures are not \
             comparable; measure A again with the program that measured B"
        )),
        _ => Ok(()),
    }
}

/// Why only the run of one name has it, and the other lacks it.
fn only(has: &str, (lacks, other): (&str, &Run), m: &Measurement) -> String {
    let is_planned = other.plan.points.iter().enumerate().any(|(i, p)| {
        let over_time = other.plan.series_of(i).is_some();
        p.workload == m.workload && p.params == m.params && over_time == m.series.is_some()
    });
    match &other.interrupted {
        _ if !is_planned => format!("only in {has}"),
        Some(signal) => format!("only in {has}: {lacks} was stopped by {signal} before it"),
        None => format!("only in {has}: {lacks} planned it but has no measurement"),
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
    (a, b): (&Run, &Run),
    pair: &Pair<'a>,
    ranks: &mut Ranks,
) -> Result<Compared<'a>, String> {
    let (m, n) = match *pair {
        Pair::Both(m, n, _) => (m, n),
        Pair::OnlyA(m) => return Err(only("A", ("B", b), m)),
        Pair::OnlyB(n) => return Err(only("B", ("A", a), n)),
    };
    for (name, m) in [("A", m), ("B", n)] {
        number(name, m)?;
    }
    same_work(m, n)?;
    same_method(a, b, &m.workload)?;
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
            true => m.summary.iter().map(|s| s.value()).collect(),
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
