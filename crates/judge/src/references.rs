//! Judges the tools that ran in pairs with a result, as far as their trials allow, and finds
//! disturbances of either side of the pairs.
//!
//! A tool's trials become a result of the same workload with the parameters that its output
//! reports. They are compared with proofmark's ceiling, and judged by the checks that need only a
//! tool's output and the machine's counters. The conclusions apply to the tool alone: proofmark's
//! result is judged by its own trials.

use proofmark_model::{
    Finding, Measurement, Params, Reference, Statistics, Summary, Verdict, key, word,
};

use crate::checks::Check;
use crate::{Context, checks, efficiency};

/// Judges a reference: efficiency, findings and verdict. The result has its ceiling. Findings of
/// other crates' checks are kept.
pub(crate) fn judged(ctx: &Context, m: &Measurement, raw: Reference) -> Reference {
    let mut r = raw;
    let mut theirs = as_measurement(m, &r);
    r.efficiency = efficiency(&theirs).ok();
    theirs.efficiency = r.efficiency;
    r.findings.retain(|f| checks::find(&f.check).is_none());
    // Without trials there is nothing to check.
    let has_trials = !theirs.trials.is_empty();
    for check in checks::ALL.iter().filter(|_| has_trials) {
        let Some(examine) = check.examine.for_tool() else { continue };
        if let Some(finding) = examine(ctx, &theirs) {
            theirs.findings.push(finding.clone());
            r.findings.push(finding);
            if check.id == checks::STOP_AFTER {
                break;
            }
        }
    }
    r.paired_findings = disturbances(ctx, &paired(m, &r));
    // Both sides ran in turn: what disturbed ours disturbed the tool, whose own time nobody accounts for.
    let of_both = r.findings.iter().chain(&r.paired_findings);
    r.verdict = Verdict::from_findings(&of_both.cloned().collect::<Vec<_>>());
    r
}

/// The checks that find disturbances of both sides of a pair.
fn two_sided_checks() -> impl Iterator<Item = &'static Check> {
    let of_both =
        |check: &&Check| check.class.is_disturbance() && check.examine.for_tool().is_some();
    checks::ALL.iter().copied().filter(of_both)
}

/// Returns true if a finding is a disturbance for which both sides of a pair are checked.
pub(crate) fn is_disturbance(finding: &Finding) -> bool {
    two_sided_checks().any(|check| check.id == finding.check)
}

/// Disturbances of proofmark's trials of the pairs.
fn disturbances(ctx: &Context, ours: &Measurement) -> Vec<Finding> {
    two_sided_checks().filter_map(|check| check.examine.for_ours()(ctx, ours)).collect()
}

/// proofmark's trials of the pairs as a result, with the findings about its work from the regular
/// trials, and those about its own disturbances.
pub(crate) fn paired(m: &Measurement, r: &Reference) -> Measurement {
    let mut findings: Vec<Finding> =
        m.findings.iter().filter(|f| !is_disturbance(f)).cloned().collect();
    findings.extend(r.paired_findings.iter().cloned());
    Measurement {
        params: m.params.clone(),
        trials: r.paired.clone(),
        summary: Summary::from_values(&r.paired_values()),
        efficiency: m.efficiency,
        findings,
        verdict: m.verdict,
        ..as_measurement(m, r)
    }
}

/// The tool's trials as a result of the same workload, with the tool's findings so far.
pub(crate) fn as_measurement(m: &Measurement, r: &Reference) -> Measurement {
    Measurement {
        workload: m.workload.clone(),
        subsystem: m.subsystem,
        params: with_reported(&m.params, &r.params),
        unit: m.unit,
        better: m.better,
        trials: r.evidence.clone(),
        warmup: Vec::new(),
        summary: Some(Summary::from_statistics(
            r.summary.clone().unwrap_or_else(|| single_value_statistics(r)),
        )),
        precision: None,
        latency: None,
        verification: None,
        ceiling: m.ceiling.clone(),
        efficiency: None,
        bottleneck: None,
        cpu_placements: Vec::new(),
        series: None,
        references: Vec::new(),
        findings: r.findings.clone(),
        verdict: r.verdict,
        missing: std::collections::BTreeMap::new(),
        ending: proofmark_model::Ending::Complete,
    }
}

/// proofmark's parameters, replaced by what the tool reports.
fn with_reported(ours: &Params, theirs: &Params) -> Params {
    let mut all = ours.clone();
    all.0.extend(theirs.0.clone());
    // The name of proofmark's result states that the cache was warm. A tool's output states no
    // cache and is read as a disk's. So it is judged as one, and keeps its finding `page_cache`
    // next to a warm one of proofmark; `disagrees` then names another cause.
    if all.get(key::CACHE) == Some(word::WARM) {
        all = all.with(key::CACHE, word::COLD);
    }
    all
}

/// Statistics of its value alone, if it has no others.
fn single_value_statistics(r: &Reference) -> Statistics {
    let (n, value) = (r.trials.len() as u64, r.value);
    Statistics { n, mean: value, sd: None, median: value, ci95: None, min: value, max: value }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Conditions, Finding, Flush, Host, Probe, Severity, Trial};

    use super::*;
    use crate::testing::{judged, *};

    fn findings(r: &Reference) -> Vec<(&str, Severity)> {
        r.findings.iter().map(|f| (f.check.as_ref(), f.severity)).collect()
    }

    /// A result with a changed tool of `factor` times proofmark's values.
    fn with_tool(mut m: Measurement, factor: f64, spoil: impl Fn(&mut Reference)) -> Measurement {
        m.references = vec![tool_of(&m, factor)];
        spoil(&mut m.references[0]);
        m
    }

    #[test]
    fn a_healthy_tool_is_valid_and_has_its_share_of_our_ceiling() {
        for (m, factor, share) in [
            (flops(1), 0.5, 0.5),
            (linpack(5000, 2), 0.8, 0.8),
            (flops(2), 1.0, 1.0),
            // Twice the time is half of the efficiency.
            (latency(16 << 10, 1.4e-9), 2.0, 0.5),
        ] {
            let m = judged(&host_with_caches(), with_tool(m, factor, |_| {}), &[]);
            let r = &m.references[0];
            assert_eq!((findings(r), r.verdict), (vec![], Verdict::Valid));
            let of_ours = r.efficiency.unwrap() / m.efficiency.unwrap();
            // Medians of the tool against work over time of ours.
            assert!((of_ours - share).abs() < 1e-5, "{of_ours}");
        }
    }

    #[test]
    fn a_value_alone_has_a_share_and_no_findings() {
        let m = with_tool(flops(1), 0.5, |r| (r.evidence, r.summary) = (Vec::new(), None));
        let m = judged(&host(), m, &[]);
        let r = &m.references[0];
        assert!((r.efficiency.unwrap() / m.efficiency.unwrap() - 0.5).abs() < 1e-3);
        assert_eq!(findings(r), []);
        // Without proofmark's ceiling it has none.
        let h = with_design(host(), "unheard_of");
        let m = judged(&h, with_tool(flops(1), 0.5, |r| r.efficiency = Some(0.7)), &[]);
        assert_eq!((m.efficiency, m.references[0].efficiency), (None, None));
    }

    #[test]
    fn faults_of_a_tool_are_its_findings_and_not_ours() {
        type Row = (&'static str, Measurement, fn(&mut Trial));
        let conditions = |check, spoil| -> Row { (check, flops(1), spoil) };
        let sequential = |name: &str, cache| disk(name, 1 << 20, cache);
        let rows: [Row; 13] = [
            ("page_cache", sequential("seq_read", "none"), |t| {
                let device = t.device.as_mut().unwrap();
                (device.read_bytes, device.own_read_bytes) = (0, Some(0));
            }),
            // The name of ours states a warm cache; the tool's output is read as a disk's.
            ("page_cache", sequential("seq_read", "warm"), |t| {
                let device = t.device.as_mut().unwrap();
                (device.read_bytes, device.own_read_bytes) = (0, Some(0));
                t.file.as_mut().unwrap().cached = None;
            }),
            ("not_durable", sequential("seq_write", "cold"), |t| {
                t.file.as_mut().unwrap().flush = Flush::Never;
            }),
            ("compressible_data", sequential("seq_write", "none"), |t| {
                t.file.as_mut().unwrap().entropy_bits = Some(0.1);
            }),
            ("small_file", sequential("seq_read", "cold"), |t| {
                (t.device, t.file.as_mut().unwrap().cached) = (None, None);
            }),
            ("residual", linpack(5000, 1), |t| {
                t.solution.as_mut().unwrap().normalised_residual = 17.0;
            }),
            conditions("steal", |t| t.conditions.steal_s = Some(0.1 * t.seconds)),
            conditions("throttled", |t| t.conditions.throttled_s = Some(0.1 * t.seconds)),
            conditions("other_cpu", |t| t.conditions.other_cpu_s = Some(0.1 * t.seconds)),
            conditions("swap", |t| t.conditions.swapped_pages = Some(1000)),
            ("udp_loss", udp(1, "loopback"), |t| {
                t.network.as_mut().unwrap().datagrams.as_mut().unwrap().sent *= 2;
            }),
            ("bytes_lost", udp(1, "loopback"), |t| {
                t.network.as_mut().unwrap().datagrams.as_mut().unwrap().received *= 2;
            }),
            // The tool sends so little that it only fills buffers.
            ("short_transfer", tcp(1, "loopback"), |t| {
                (t.seconds, t.work) = (t.seconds / 2e3, t.work / 2e3);
            }),
        ];
        let mut host = host_with_disk();
        host.memory.total_bytes = Probe::known(64 << 30, "test");
        host.network = host_with_network("loopback").network;
        for (check, ours, spoil) in rows {
            let m = with_tool(ours, 1.0, |r| {
                tool_trials(spoil)(r);
                if check == "short_transfer" {
                    r.params = Params::default().with(key::AMOUNT, 131_072);
                }
            });
            let m = judged(&host, m, &[]);
            assert_eq!(m.verdict, Verdict::Valid, "{check}: {:?}", m.findings);
            assert!(m.findings.iter().all(|f| f.check == "one_machine"), "{:?}", m.findings);
            let r = &m.references[0];
            let found: Vec<&str> = r.findings.iter().map(|f| &*f.check).collect();
            assert_eq!((found, r.verdict), (vec![check], Verdict::from_findings(&r.findings)));
        }
    }

    /// The findings for a tool with `factor` times proofmark's values that reports that clock.
    fn above(h: &Host, ours: Measurement, factor: f64, clock_hz: Option<f64>) -> Vec<Finding> {
        let m = with_tool(ours, factor, tool_trials(|t| t.conditions.clock_hz = clock_hz));
        let mut m = judged(h, m, &[latency(1 << 30, 1e-7)]);
        m.references.remove(0).findings
    }

    #[test]
    fn more_than_the_machine_can_do_is_invalid_and_at_our_clock_a_note() {
        let (h, net) = (host_with_caches(), host_with_network("loopback"));
        let mut reported = host();
        reported.cpu.clock.measured_hz = Probe::missing("not measured");
        for found in [
            // The bus carries 717 GB/s at most, whatever the clock and the latency.
            above(&h, stream("read", 1), 80.0, None),
            above(&host(), flops(1), 1.2, Some(4e9)),
            above(&net, tcp(1, "loopback"), 5.0, None),
            above(&reported, flops(1), 1.2, None),
        ] {
            let first = (found[0].check.as_ref(), found[0].severity);
            assert_eq!(first, ("above_ceiling", Severity::Invalid), "{found:?}");
            assert!(!found[0].message.contains("uses proofmark's"), "{found:?}");
        }
        let clock = "that ceiling uses proofmark's clock, and the tool's may have been higher";
        let shorter = "that ceiling uses proofmark's latency, and the tool's may have been shorter";
        for (found, words) in [
            (above(&host(), flops(1), 1.2, None), clock),
            (above(&h, latency(32 << 10, 1.4e-9), 0.5, None), clock),
            // 31 GB/s within a factor of two by the lines in flight.
            (above(&h, stream("read", 1), 7.0, Some(4e9)), shorter),
        ] {
            let [f] = found.as_slice() else { panic!("{found:?}") };
            assert_eq!((&*f.check, f.severity), ("above_ceiling", Severity::Note), "{f:?}");
            assert!(f.message.ends_with(words), "{f:?}");
        }
        assert!(above(&h, stream("read", 1), 6.0, None).is_empty());
        let mut ours = at_rate(flops(1), 1.2 * 64e9);
        ours.trials.iter_mut().for_each(|t| t.conditions.clock_hz = None);
        let found = judged(&host(), ours, &[]).findings;
        let ours = found.iter().find(|f| f.check == "above_ceiling").map(|f| f.severity);
        assert_eq!(ours, Some(Severity::Invalid), "for our own loop the clock is the same");
    }

    #[test]
    fn evidence_that_only_our_workers_have_is_not_missed() {
        let spoil = tool_trials(|t| {
            t.conditions = Conditions::default();
            (t.device, t.file) = (None, None);
        });
        let m = with_tool(disk("rand_read", 4096, "none"), 1.0, spoil);
        assert_eq!(findings(&judged(&host_with_disk(), m, &[]).references[0]), []);
    }

    #[test]
    fn values_that_contradict_each_other_end_it() {
        let spoil = tool_trials(|t| {
            t.value *= 2.0;
            t.conditions.steal_s = Some(t.seconds);
        });
        let m = judged(&host(), with_tool(linpack(5000, 1), 1.0, spoil), &[]);
        assert_eq!(findings(&m.references[0]), [(checks::STOP_AFTER, Severity::Invalid)]);
    }

    #[test]
    fn judging_twice_gives_the_same_and_keeps_findings_of_others() {
        let remark = Finding::new("runner.remark", Severity::Note, "kept", "");
        let stale = Finding::new("swap", Severity::Invalid, "stale", "");
        let mut m =
            with_tool(flops(1), 1.0, tool_trials(|t| t.conditions.steal_s = Some(0.1 * t.seconds)));
        m.references[0].findings.extend([remark.clone(), stale]);
        let once = judged(&host(), m, &[]);
        assert_eq!(judged(&host(), once.clone(), &[]), once);
        assert_eq!(once.references[0].findings[0], remark);
        assert_eq!(findings(&once.references[0])[1..], [("steal", Severity::Suspect)]);
    }
}
