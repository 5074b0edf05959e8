//! A healthy tool for a healthy result.

use proofmark_model::{Conditions, First, Measurement, Params, Printed, Ratio, Reference, Trial};

use super::summary;

/// A tool whose trials have `factor` times our values, in trials as long as ours. It reports the
/// conditions that a runner can, and no parameters.
pub(crate) fn tool_of(m: &Measurement, factor: f64) -> Reference {
    let evidence: Vec<Trial> = m.trials.iter().map(|t| trial_of_tool(m, t, factor)).collect();
    let trials: Vec<f64> = evidence.iter().map(|t| t.value).collect();
    let summary = summary(&trials);
    let median = 1.0 / factor;
    let ci95 = (trials.len() >= 6).then_some([0.99 * median, 1.01 * median]);
    Reference {
        tool: "tool".to_owned(),
        version: "1.0".to_owned(),
        command: "tool --run".to_owned(),
        value: summary.as_ref().map_or(f64::NAN, |s| s.value()),
        trials,
        paired: m.trials.clone(),
        first: m.trials.iter().map(|_| First::Proofmark).collect(),
        printed: Printed::Mean,
        ratio: Ratio { median, ci95 },
        summary: summary.map(|s| s.trials),
        counts: "as ours".to_owned(),
        params: Params::default(),
        evidence,
        efficiency: None,
        findings: Vec::new(),
        paired_findings: Vec::new(),
        verdict: proofmark_model::Verdict::Valid,
    }
}

/// Changes every trial of a tool.
pub(crate) fn tool_trials(spoil: impl Fn(&mut Trial)) -> impl Fn(&mut Reference) {
    move |r| r.evidence.iter_mut().for_each(&spoil)
}

fn trial_of_tool(m: &Measurement, t: &Trial, factor: f64) -> Trial {
    let value = t.value * factor;
    let faster = m.unit.value(1.0, 2.0) < m.unit.value(1.0, 1.0);
    let work = if faster { t.work * factor } else { t.work / factor };
    let conditions = Conditions {
        steal_s: t.conditions.steal_s,
        throttled_s: t.conditions.throttled_s,
        swapped_pages: t.conditions.swapped_pages,
        ..Conditions::default()
    };
    Trial { value, work, conditions, moved: None, ..t.clone() }
}
