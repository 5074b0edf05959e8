//! Whatever a run file says, no format panics.

use proofmark_model::{Param, Run, Unit, Verdict};
use proofmark_report::{ALL, Options, terminal};
use proptest::prelude::*;

use super::fixture;

/// Without most of what is like the rest.
fn short(mut run: Run) -> Run {
    let mut at = 0;
    run.measurements.retain(|m| {
        at += 1;
        m.series.is_some() || at % 4 == 0
    });
    run.measurements.iter_mut().for_each(|m| m.trials.truncate(20));
    run
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_format_panics(
        text in any::<String>(),
        values in prop::collection::vec(any::<f64>(), 1..8),
        threads in any::<u64>(),
        sets in prop::collection::vec(any::<u64>(), 1..5),
        width in 0_usize..200,
        color in any::<bool>(),
        format in 0..ALL.len(),
        unit in prop::sample::select(vec![Unit::Hertz, Unit::Second, Unit::BytePerSecond, Unit::BitPerSecond]),
    ) {
        let (memory, disk, network) = (sets.len() == 4, sets.len() == 3, sets.len() == 2);
        let linpack = sets.len() == 1 && threads % 2 == 0;
        let run = match sets.len() {
            4 => fixture::memory(),
            3 => fixture::disk(),
            2 => fixture::network(),
            _ if linpack => fixture::linpack(),
            _ if threads % 3 == 0 => fixture::run(),
            _ if threads % 3 == 1 => short(fixture::published()),
            _ => fixture::beside(),
        };
        let mut run = fixture::hostile_of(run, &text);
        if memory {
            // Each text as it was: hostile workloads have no axis and no roofline.
            run.workloads = fixture::memory().workloads;
        } else if disk {
            run.workloads = fixture::disk().workloads;
        } else if network {
            run.workloads = fixture::network().workloads;
        } else if linpack {
            run.workloads = fixture::linpack().workloads;
        }
        let mut set = sets.iter().copied().cycle();
        let mut next = values.iter().copied().cycle();
        for (i, m) in run.measurements.iter_mut().enumerate() {
            let mut value = || next.next().unwrap_or(0.0);
            if !memory && !disk && !network {
                m.unit = unit;
            }
            if !memory || i % 3 == 0 {
                let parameter = if network { "streams" } else { "threads" };
                m.params.0.insert(parameter.into(), Param::Int(threads.wrapping_add(i as u64)));
            }
            for parameter in ["working_set", "block_size", "load", "queue_depth", "rate", "n"] {
                if m.params.get(parameter).is_some() && i % 2 == 0 {
                    m.params.0.insert(parameter.into(), Param::Int(set.next().unwrap_or(0)));
                }
            }
            m.verdict = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid][i % 3];
            m.efficiency = Some(value());
            for t in &mut m.trials {
                (t.value, t.seconds, t.work) = (value(), value(), value());
                t.moved = t.moved.map(|_| value());
                if let Some(s) = &mut t.solution {
                    (s.residual, s.normalised_residual) = (value(), value());
                    (s.n, s.leading_dimension, s.alignment) = (threads, threads, threads);
                }
                t.background = t.background.map(|_| value());
                t.conditions.clock_hz = Some(value());
                if let Some(n) = &mut t.network {
                    (n.sent_bytes, n.client.own_cpu_s, n.client.out_bytes) =
                        (threads, Some(value()), Some(threads));
                    if let Some(d) = &mut n.datagrams {
                        (d.sent, d.received, d.jitter_s) = (threads, n.received_bytes, Some(value()));
                    }
                    for s in &mut n.streams {
                        (s.rtt_s, s.retransmits, s.window_bytes) = (value(), threads, threads);
                    }
                }
                if let Some((d, f)) = t.device.as_mut().zip(t.file.as_mut()) {
                    (d.in_flight_s, d.read_bytes, f.asked_read_bytes) = (value(), threads, threads);
                }
            }
            for r in &mut m.references {
                (r.value, r.efficiency, r.ratio.median) = (value(), Some(value()), value());
                r.ratio.ci95 = r.ratio.ci95.map(|_| [value(), value()]);
                r.trials.iter_mut().for_each(|v| *v = value());
                if let Some(s) = &mut r.summary {
                    s.ci95 = Some([value(), value()]);
                }
            }
            if let Some(l) = &mut m.latency {
                (l.min, l.p50, l.p99, l.p999) = (value(), value(), Some(value()), None);
                for b in &mut l.buckets {
                    (b.upto, b.count) = (value(), threads);
                }
            }
            for f in &mut m.findings {
                f.evidence.insert("burst".into(), value().into());
            }
            if let Some(s) = &mut m.summary {
                s.trials.sd = Some(value());
                proofmark_model::testing::restate(s, value(), Some([value(), value()]));
            }
            if let Some(s) = &mut m.series {
                (s.for_s, s.every_s, s.merged) = (value(), value(), threads);
                for l in &mut s.levels {
                    (l.from_s, l.until_s, l.median) = (value(), value(), value());
                    l.ci95 = Some([value(), value()]);
                }
                s.changes.iter_mut().for_each(|c| (c.at_s, c.ratio) = (value(), value()));
                s.trend.iter_mut().for_each(|t| (t.start, t.slope) = (value(), value()));
            }
            if let Some(c) = &mut m.ceiling {
                (c.value, c.uncertainty) = (value(), value());
            }
        }
        run.plan.policy.trial_s = values[0];
        run.plan.policy.target = values[0];
        let options = Options { width, color };
        let format = ALL[format];
        let out = format.render(&run, &options);
        // JSON refuses what it could not read back; the others always tell.
        prop_assert!(out.is_ok() || format.id() == "json", "{}: {:?}", format.id(), out);
        terminal::brief(&run, &options);
        terminal::host(&run.host, &options);
    }
}
