//! From what was judged back to what was measured: a run file holds both, and whoever reads one
//! judges it again.

use proofmark_model::{
    Finding, Measurement, RawMeasurement, RawReference, RawRun, RawSeries, Reference, Run, Series,
};

use crate::checks;

/// What a run measured, without what was concluded from it: its figures, verdicts and findings of
/// checks are left out.
pub fn raw_of(run: &Run) -> RawRun {
    run.with_measurements(run.measurements.iter().map(raw_measurement).collect())
}

/// The reasons that only who measured knows: why which tools did not run.
const REASONS: &str = "references";

pub(crate) fn raw_measurement(m: &Measurement) -> RawMeasurement {
    let known = m.missing.iter().filter(|(part, _)| part.starts_with(REASONS));
    RawMeasurement {
        workload: m.workload.clone(),
        subsystem: m.subsystem,
        params: m.params.clone(),
        unit: m.unit,
        better: m.better,
        trials: m.trials.clone(),
        warmup: m.warmup.clone(),
        latency: m.latency.clone(),
        counted_by: m.verification.as_ref().map(|v| v.kind.clone()),
        series: m.series.as_ref().map(raw_series),
        references: m.references.iter().map(raw_reference).collect(),
        findings: of_no_check(&m.findings),
        missing: known.map(|(part, why)| (part.clone(), why.clone())).collect(),
        ending: m.ending.clone(),
    }
}

fn raw_series(s: &Series) -> RawSeries {
    let Series { for_s, every_s, started, samples, merged, .. } = *s;
    RawSeries { for_s, every_s, started, samples, merged }
}

fn raw_reference(r: &Reference) -> RawReference {
    RawReference {
        tool: r.tool.clone(),
        version: r.version.clone(),
        command: r.command.clone(),
        trials: r.trials.clone(),
        paired: r.paired.clone(),
        first: r.first.clone(),
        printed: r.printed,
        counts: r.counts.clone(),
        params: r.params.clone(),
        evidence: r.evidence.clone(),
        findings: of_no_check(&r.findings),
    }
}

fn of_no_check(findings: &[Finding]) -> Vec<Finding> {
    findings.iter().filter(|f| checks::find(&f.check).is_none()).cloned().collect()
}
