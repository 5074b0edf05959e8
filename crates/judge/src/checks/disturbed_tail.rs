//! `disturbed_tail`: the p99 of single operations may be that of a disturbance.
//!
//! One operation in a hundred decides p99, so a disturbance that hardly changes the rate may multiply
//! it: a compiler on the same CPUs tripled the p99 of reads and cost 2 % of their rate.

use proofmark_model::{Finding, Measurement, Severity, check_id, format_seconds};

use super::{Check, Class, Examine, found_before, percent};
use crate::Context;

/// Largest half-width of the interval of p99, as a share, that needs no mark.
const WIDE: f64 = 0.25;

/// Findings about what delays single operations, in words.
const DELAYS: [(&str, &str); 8] = [
    (check_id::STALLS, "trials stalled"),
    (check_id::SHARED_DEVICE, "other programs used the device"),
    (check_id::OTHER_CPU, "other processes used the CPUs"),
    (check_id::STEAL, "the hypervisor took CPU time"),
    (check_id::THROTTLED, "a CPU quota throttled the process"),
    (check_id::STOPPED, "the process could not run"),
    (check_id::SWAP, "the system swapped"),
    (check_id::SHARED_INTERFACE, "others used the network interface"),
];

pub(super) static CHECK: Check = Check {
    id: check_id::DISTURBED_TAIL,
    class: Class::Context,
    title: "p99 may be that of a disturbance",
    about: "Applies to results whose operations are timed one by one. It is a note if the 95 % \
         interval of p99 is wider than 25 % to each side, or has no upper end, since the trials then \
         differ; or if another check found what delays operations: stalls, other programs on the CPUs, the device \
         or the interface, steal, a quota, stops, swapping. Such a cause may multiply p99 and hardly \
         change the rate, so the rate can be valid. Repeat on a quiet machine before you compare \
         p99.",
    examine: Examine::Ours(examine),
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    let latency = m.latency.as_ref()?;
    let p99 = format_seconds(latency.p99?);
    let wide = latency.p99_half_width().filter(|half| *half > WIDE);
    let is_found = |id: &str| found_before(m, id, Severity::Note);
    let delays: Vec<&str> =
        DELAYS.iter().filter(|(id, _)| is_found(id)).map(|(_, words)| *words).collect();
    let mut reasons = Vec::new();
    if let Some((half, [low, high])) = wide.zip(latency.ci95.p99) {
        let [low, high] = [low, high].map(format_seconds);
        reasons.push(format!("its 95 % interval is {low} to {high} (\u{b1} {})", percent(half)));
    }
    if latency.p99_is_unbounded() {
        reasons.push("the trials differ too much for a 95 % interval with an upper end".to_owned());
    }
    if !delays.is_empty() {
        reasons.push(delays.join(", "));
    }
    if reasons.is_empty() {
        return None;
    }
    let message = format!("p99 of {p99} may be that of a disturbance: {}", reasons.join("; "));
    let finding = CHECK.note(message, "repeat on a quiet machine before you compare p99");
    Some(super::with_known(finding, "p99_half_width", latency.p99_half_width()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    fn with_ci95(m: Measurement, factors: [f64; 2]) -> Measurement {
        let mut m = m;
        let latency = m.latency.as_mut().unwrap();
        latency.ci95.p99 = latency.p99.map(|p99| factors.map(|factor| factor * p99));
        m
    }

    fn noted(m: Measurement, check: &'static str) -> Measurement {
        let mut m = m;
        m.findings.push(Finding::new(check, Severity::Note, "", ""));
        m
    }

    /// A result without an interval of p99, and with one of the median only if there are `enough`
    /// trials.
    fn endless(enough: bool) -> Measurement {
        let mut m = with_ci95(rand_read(32), [0.8, 1.25]);
        let latency = m.latency.as_mut().unwrap();
        latency.ci95.p99 = None;
        latency.ci95.p50 = enough.then_some([latency.p50, latency.p50]);
        m
    }

    /// A result of that many trials, which differ so much that no percentile has an interval.
    fn all_endless(trials: u64) -> Measurement {
        let mut m = endless(false);
        m.latency.as_mut().unwrap().ci95.trials = trials;
        m
    }

    #[test]
    fn a_wide_interval_and_each_cause_of_delays_mark_p99() {
        let mut few = with_ci95(fsync(1), [0.3, 4.0]);
        few.latency.as_mut().unwrap().p99 = None;
        CHECK.expect([
            ("wide", with_ci95(rand_read(32), [0.4, 2.0]), note("is ... to ... (\u{b1} 80.0 %)")),
            ("narrow", with_ci95(rand_read(32), [0.8, 1.25]), SILENT),
            ("without an end", endless(true), note("the trials differ too much ... upper end$")),
            ("of too few trials", endless(false), SILENT),
            ("not even of the median", all_endless(12), note("the trials differ too much")),
            ("nor of too few", all_endless(5), SILENT),
            ("too few operations", few, SILENT),
            ("no times", flops(2), SILENT),
        ]);
        for (check, words) in DELAYS {
            let m = noted(with_ci95(rand_read(1), [0.9, 1.1]), check);
            let found = examine(&context_on(&host()), &m).unwrap();
            assert!(found.message.ends_with(words), "{}", found.message);
            assert!(crate::checks::find(check).is_some(), "{check}");
        }
        let other = noted(rand_read(1), check_id::SMALL_FILE);
        assert!(examine(&context_on(&host()), &other).is_none());
    }
}
