//! From what was measured to what is judged and back: a run file holds both, and whoever reads one
//! judges it again.

use proofmark_model::{
    Finding, Measurement, Ratio, RawMeasurement, RawReference, RawRun, RawSeries, Reference, Run,
    Series, Summary, Verdict, summarise,
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

/// A measurement with these statistics of which nothing else is judged yet.
pub(crate) fn from_raw(raw: &RawMeasurement, summary: Option<Summary>) -> Measurement {
    Measurement {
        workload: raw.workload.clone(),
        subsystem: raw.subsystem,
        params: raw.params.clone(),
        unit: raw.unit,
        better: raw.better,
        trials: raw.trials.clone(),
        warmup: raw.warmup.clone(),
        summary,
        precision: None,
        latency: raw.latency.clone(),
        verification: raw.verification(),
        ceiling: None,
        efficiency: None,
        bottleneck: None,
        cpu_placements: Vec::new(),
        series: raw.series.as_ref().map(unjudged_series),
        references: raw.references.iter().filter_map(unjudged_reference).collect(),
        findings: raw.findings.clone(),
        verdict: Verdict::of(&raw.findings),
        missing: raw.missing.clone(),
        ending: raw.ending.clone(),
    }
}

fn unjudged_series(raw: &RawSeries) -> Series {
    let RawSeries { for_s, every_s, started, samples, merged } = *raw;
    let (levels, changes) = (Vec::new(), Vec::new());
    Series { for_s, every_s, started, samples, merged, levels, changes, trend: None }
}

/// The tool's runs with their statistics; `None` without a pair.
fn unjudged_reference(raw: &RawReference) -> Option<Reference> {
    let (summary, ratio) = (summarise(&raw.trials)?, summarise(&raw.ratios())?);
    Some(Reference {
        tool: raw.tool.clone(),
        version: raw.version.clone(),
        command: raw.command.clone(),
        value: summary.median,
        trials: raw.trials.clone(),
        paired: raw.paired.clone(),
        first: raw.first.clone(),
        printed: raw.printed,
        ratio: Ratio { median: ratio.median, ci95: ratio.ci95 },
        summary: Some(summary),
        counts: raw.counts.clone(),
        params: raw.params.clone(),
        evidence: raw.evidence.clone(),
        efficiency: None,
        findings: raw.findings.clone(),
        paired_findings: Vec::new(),
        verdict: Verdict::of(&raw.findings),
    })
}
