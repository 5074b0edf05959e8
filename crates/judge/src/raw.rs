//! Extracts the measured part of a judged run: a run file has both, and each reader judges it
//! again.

use proofmark_model::{
    Finding, Measurement, RawMeasurement, RawReference, RawRun, RawSeries, Reference, Run, Series,
};

use crate::checks;

/// Returns what a run measured, without conclusions: figures, verdicts and findings of checks are
/// left out.
pub fn raw_of(run: &Run) -> RawRun {
    run.with_measurements(run.measurements.iter().map(raw_measurement).collect())
}

/// Prefix of the reasons that only the measurement knows: why tools did not run.
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
        findings: measured_findings(&m.findings),
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
        findings: measured_findings(&r.findings),
    }
}

/// Returns the findings that no check makes again: those without a check, and those of the reader of
/// a tool's output, which may have the id of a check. All other evidence is in the run file.
fn measured_findings(findings: &[Finding]) -> Vec<Finding> {
    let is_measured = |f: &&Finding| checks::find(&f.check).is_none() || f.is_found_in_output();
    findings.iter().filter(is_measured).cloned().collect()
}
