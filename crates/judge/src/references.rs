//! Judges the tools that ran beside a measurement, as far as their trials tell.
//!
//! A tool's trials are put into a measurement of the same workload, run as the tool's output says
//! that it ran, and held against our ceiling and against those checks that need no more than a
//! tool's output and the machine's counters. What comes out is told of the tool alone: a
//! measurement stands or falls by its own trials.

use proofmark_model::{Measurement, Params, Reference, Summary, Verdict};

use crate::{Context, checks, efficiency};

/// The reference with its efficiency, findings and verdict. The measurement has its ceiling.
/// Findings of checks that are not this crate's are kept.
pub(crate) fn judged(ctx: &Context, m: &Measurement, raw: Reference) -> Reference {
    let mut r = raw;
    let mut theirs = as_measurement(m, &r);
    r.efficiency = efficiency(&theirs).ok();
    theirs.efficiency = r.efficiency;
    r.findings.retain(|f| checks::find(&f.check).is_none());
    // Without evidence there is nothing that a check could look at.
    let told = !theirs.trials.is_empty();
    for check in checks::ALL.iter().filter(|_| told) {
        let Some(examine) = check.examine_reference else { continue };
        if let Some(finding) = examine(ctx, &theirs) {
            theirs.findings.push(finding.clone());
            r.findings.push(finding);
            if check.id == checks::STOP_AFTER {
                break;
            }
        }
    }
    r.verdict = Verdict::of(&r.findings);
    r
}

/// The tool's trials as a measurement of the same workload, with the tool's findings so far.
pub(crate) fn as_measurement(m: &Measurement, r: &Reference) -> Measurement {
    Measurement {
        workload: m.workload.clone(),
        subsystem: m.subsystem,
        params: with_reported(&m.params, &r.params),
        unit: m.unit,
        better: m.better,
        trials: r.evidence.clone(),
        warmup: Vec::new(),
        summary: r.summary.clone().or_else(|| Some(of_value(r))),
        latency: None,
        verification: None,
        ceiling: m.ceiling.clone(),
        efficiency: None,
        bottleneck: None,
        series: None,
        references: Vec::new(),
        findings: r.findings.clone(),
        verdict: r.verdict,
        missing: std::collections::BTreeMap::new(),
        ending: proofmark_model::Ending::Complete,
    }
}

/// Our parameters, with what the tool reports in their place.
fn with_reported(ours: &Params, theirs: &Params) -> Params {
    let mut all = ours.clone();
    all.0.extend(theirs.0.clone());
    // Our number says by its name that the cache was warm. What a tool prints carries no name of a
    // cache and is read as a disk's, so that it is judged as one, and keeps its finding `page_cache`
    // beside a warm point of ours too; why the two differ is then something else (`disagrees`).
    if all.text("cache") == Some("warm") {
        all = all.with("cache", "cold");
    }
    all
}

/// Its value alone, where nobody made statistics.
fn of_value(r: &Reference) -> Summary {
    let (n, value) = (r.trials.len() as u64, r.value);
    Summary { n, mean: value, sd: None, median: value, ci95: None, min: value, max: value }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Conditions, Finding, Flush, Host, Probe, Severity, Trial};

    use super::*;
    use crate::testing::{
        beside, disk, flops, host, host_with_caches, host_with_disk, host_with_network, judged,
        latency, linpack, stream, tcp, udp,
    };

    fn findings(r: &Reference) -> Vec<(&str, Severity)> {
        r.findings.iter().map(|f| (f.check.as_ref(), f.severity)).collect()
    }

    /// The tool's trials are those of the measurement, spoilt.
    fn with_tool(m: Measurement, spoil: impl Fn(&mut Trial)) -> Measurement {
        let mut m = m;
        let mut r = beside(&m, 1.0);
        r.evidence.iter_mut().for_each(spoil);
        m.references = vec![r];
        m
    }

    #[test]
    fn a_healthy_tool_is_valid_and_has_its_share_of_our_ceiling() {
        for (m, factor) in [(flops(1), 0.5), (linpack(5000, 2), 0.8), (flops(2), 1.0)] {
            let mut m = m;
            m.references = vec![beside(&m, factor)];
            let m = judged(&host(), m, &[]);
            let r = &m.references[0];
            assert_eq!((findings(r), r.verdict), (vec![], Verdict::Valid));
            let share = r.efficiency.unwrap() / m.efficiency.unwrap();
            assert!((share - factor).abs() < 1e-9, "{share}");
        }
        let mut m = latency(16 << 10, 1.4e-9);
        m.references = vec![beside(&m, 2.0)];
        let m = judged(&host_with_caches(), m, &[]);
        let share = m.references[0].efficiency.unwrap() / m.efficiency.unwrap();
        assert!((share - 0.5).abs() < 1e-9, "twice the time is half of the efficiency");
    }

    #[test]
    fn a_value_alone_has_a_share_and_no_findings() {
        let mut m = flops(1);
        let mut r = beside(&m, 0.5);
        (r.evidence, r.summary) = (Vec::new(), None);
        m.references = vec![r];
        let m = judged(&host(), m, &[]);
        let r = &m.references[0];
        assert!((r.efficiency.unwrap() / m.efficiency.unwrap() - 0.5).abs() < 1e-3);
        assert_eq!(findings(r), []);
    }

    #[test]
    fn without_our_ceiling_it_has_no_share() {
        let mut h = host();
        crate::testing::set_microarchitecture(&mut h, "unheard_of");
        let mut m = flops(1);
        m.references = vec![beside(&m, 0.5)];
        m.references[0].efficiency = Some(0.7);
        let m = judged(&h, m, &[]);
        assert_eq!((m.efficiency, m.references[0].efficiency), (None, None));
    }

    #[test]
    fn what_is_wrong_with_a_tool_is_told_of_it_and_not_of_ours() {
        let of = |h: &Host, ours: Measurement, spoil: fn(&mut Trial)| {
            let m = judged(h, with_tool(ours, spoil), &[]);
            assert_eq!(m.verdict, Verdict::Valid, "{:?}", m.findings);
            assert!(m.findings.iter().all(|f| f.check == "one_machine"), "{:?}", m.findings);
            let r = &m.references[0];
            assert_eq!(r.verdict, Verdict::of(&r.findings));
            let all: Vec<String> = r.findings.iter().map(|f| f.check.to_string()).collect();
            all.join(" ")
        };
        let (cpu, mut disks) = (host(), host_with_disk());
        disks.memory.total_bytes = Probe::known(64 << 30, "test");
        let net = host_with_network("loopback");
        let found = of(&disks, disk("seq_read", 1 << 20, "none"), |t| {
            let device = t.device.as_mut().unwrap();
            (device.read_bytes, device.own_read_bytes) = (0, Some(0));
        });
        assert_eq!(found, "page_cache");
        // Ours says by its name that it is the cache's; a tool says that it is a disk's.
        let found = of(&disks, disk("seq_read", 1 << 20, "warm"), |t| {
            let device = t.device.as_mut().unwrap();
            (device.read_bytes, device.own_read_bytes) = (0, Some(0));
            t.file.as_mut().unwrap().cached = None;
        });
        assert_eq!(found, "page_cache");
        let found = of(&disks, disk("seq_write", 1 << 20, "cold"), |t| {
            t.file.as_mut().unwrap().flush = Flush::Never;
        });
        assert_eq!(found, "not_durable");
        let found = of(&disks, disk("seq_write", 1 << 20, "none"), |t| {
            t.file.as_mut().unwrap().entropy_bits = Some(0.1);
        });
        assert_eq!(found, "compressible_data");
        let found = of(&disks, disk("seq_read", 1 << 20, "cold"), |t| {
            (t.device, t.file.as_mut().unwrap().cached) = (None, None);
        });
        assert_eq!(found, "small_file");
        let found = of(&cpu, linpack(5000, 1), |t| {
            t.solution.as_mut().unwrap().normalised_residual = 17.0;
        });
        assert_eq!(found, "residual");
        let conditions = |spoil: fn(&mut Trial)| of(&cpu, flops(1), spoil);
        assert_eq!(conditions(|t| t.conditions.steal_s = Some(0.1 * t.seconds)), "steal");
        assert_eq!(conditions(|t| t.conditions.throttled_s = Some(0.1 * t.seconds)), "throttled");
        assert_eq!(conditions(|t| t.conditions.other_cpu_s = Some(0.1 * t.seconds)), "other_cpu");
        assert_eq!(conditions(|t| t.conditions.swapped_pages = Some(1000)), "swap");
        let found = of(&net, udp(1, "loopback"), |t| {
            t.network.as_mut().unwrap().datagrams.as_mut().unwrap().sent *= 2;
        });
        assert_eq!(found, "udp_loss");
        let found = of(&net, udp(1, "loopback"), |t| {
            t.network.as_mut().unwrap().datagrams.as_mut().unwrap().received *= 2;
        });
        assert_eq!(found, "bytes_lost");
    }

    #[test]
    fn an_amount_that_only_fills_buffers_is_told_of_the_tool() {
        let of = |spoil: fn(&mut Trial)| {
            let mut m = with_tool(tcp(1, "loopback"), spoil);
            m.references[0].params = Params::default().with("amount", 131_072);
            let m = judged(&host_with_network("loopback"), m, &[]);
            assert_eq!(m.verdict, Verdict::Valid);
            m.references[0].verdict
        };
        let brief = |t: &mut Trial| (t.seconds, t.work) = (t.seconds / 2e3, t.work / 2e3);
        assert_eq!([of(|_| {}), of(brief)], [Verdict::Valid, Verdict::Suspect]);
    }

    /// What is found of a tool that shows so many times our values, of which it tells those clocks.
    fn above(h: &Host, ours: Measurement, factor: f64, clock_hz: Option<f64>) -> Vec<Finding> {
        let mut m = ours;
        let mut r = beside(&m, factor);
        r.evidence.iter_mut().for_each(|t| t.conditions.clock_hz = clock_hz);
        m.references = vec![r];
        let chase = [latency(1 << 30, 1e-7)];
        let mut m = judged(h, m, &chase);
        m.references.remove(0).findings
    }

    #[test]
    fn more_than_the_machine_can_do_is_invalid() {
        let h = host_with_caches();
        let invalid = |found: Vec<Finding>| {
            let first = (found[0].check.as_ref(), found[0].severity);
            assert_eq!(first, ("above_ceiling", Severity::Invalid), "{found:?}");
            assert!(!found[0].message.contains("uses proofmark's"), "{found:?}");
        };
        // The bus gives 717 GB/s at most, whatever the clock and the latency.
        invalid(above(&h, stream("read", 1), 80.0, None));
        invalid(above(&host(), flops(1), 1.2, Some(4e9)));
        let net = host_with_network("loopback");
        invalid(above(&net, tcp(1, "loopback"), 5.0, None));
        let mut reported = host();
        reported.cpu.clock.measured_hz = Probe::missing("not measured");
        invalid(above(&reported, flops(1), 1.2, None));
    }

    #[test]
    fn more_than_can_be_done_at_our_clock_is_a_note() {
        let noted = |found: Vec<Finding>, words: &str| {
            let ids: Vec<_> = found.iter().map(|f| (f.check.as_ref(), f.severity)).collect();
            assert_eq!(ids, [("above_ceiling", Severity::Note)], "{found:?}");
            assert!(found[0].message.ends_with(words), "{found:?}");
        };
        let clock = "that ceiling uses proofmark's clock, and the tool's may have been higher";
        noted(above(&host(), flops(1), 1.2, None), clock);
        noted(above(&host_with_caches(), latency(32 << 10, 1.4e-9), 0.5, None), clock);
        // 31 GB/s within a factor of two by the lines in flight.
        let latency = "that ceiling uses proofmark's latency, and the tool's may have been shorter";
        noted(above(&host_with_caches(), stream("read", 1), 7.0, Some(4e9)), latency);
        assert!(above(&host_with_caches(), stream("read", 1), 6.0, None).is_empty());
        let mut ours = crate::testing::at_rate(flops(1), 1.2 * 64e9);
        ours.trials.iter_mut().for_each(|t| t.conditions.clock_hz = None);
        let found = judged(&host(), ours, &[]).findings;
        let ours = found.iter().find(|f| f.check == "above_ceiling").map(|f| f.severity);
        assert_eq!(ours, Some(Severity::Invalid), "of our own loop it is the clock");
    }

    #[test]
    fn it_is_judged_by_how_it_says_that_it_ran() {
        let with = |name: &str, bytes: u64| {
            let mut m = stream("triad", 1);
            let mut r = beside(&m, 1.0);
            r.params = Params::default().with(name, bytes);
            m.references = vec![r];
            let m = judged(&host_with_caches(), m, &[]);
            findings(&m.references[0]).first().map(|f| f.1)
        };
        assert_eq!(with("array_size", 16 << 20), Some(Severity::Invalid));
        assert_eq!(with("array_size", 64 << 20), Some(Severity::Suspect));
        assert_eq!(with("array_size", 1 << 30), None);
        assert_eq!(with("NTIMES", 10), None, "ours, where it tells nothing");
    }

    #[test]
    fn evidence_that_only_our_workers_have_is_not_missed() {
        let m = with_tool(disk("rand_read", 4096, "none"), |t| {
            t.conditions = Conditions::default();
            (t.device, t.file) = (None, None);
        });
        let m = judged(&host_with_disk(), m, &[]);
        assert_eq!(findings(&m.references[0]), []);
    }

    #[test]
    fn values_that_contradict_each_other_end_it() {
        let m = with_tool(linpack(5000, 1), |t| {
            t.value *= 2.0;
            t.conditions.steal_s = Some(t.seconds);
        });
        let m = judged(&host(), m, &[]);
        assert_eq!(findings(&m.references[0]), [(checks::STOP_AFTER, Severity::Invalid)]);
    }

    #[test]
    fn judging_twice_gives_the_same_and_keeps_what_others_found() {
        let mut m = with_tool(flops(1), |t| t.conditions.steal_s = Some(0.1 * t.seconds));
        let remark = Finding::new("runner.remark", Severity::Note, "kept", "");
        m.references[0].findings.push(remark.clone());
        m.references[0].findings.push(Finding::new("swap", Severity::Invalid, "stale", ""));
        let once = judged(&host(), m, &[]);
        assert_eq!(judged(&host(), once.clone(), &[]), once);
        assert_eq!(once.references[0].findings[0], remark);
        let ids = findings(&once.references[0]);
        assert_eq!(ids[1..], [("steal", Severity::Suspect)]);
    }

    #[test]
    fn a_reason_for_no_reference_stays_and_a_stale_one_goes() {
        let mut m = flops(1);
        m.missing.insert("references".to_owned(), "no tool does this".to_owned());
        let once = judged(&host(), m.clone(), &[]);
        assert_eq!(once.missing["references"], "no tool does this");
        m.references = vec![beside(&m, 1.0)];
        assert!(!judged(&host(), m, &[]).missing.contains_key("references"));
    }
}
