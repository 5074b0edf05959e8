//! `thread_multiplied`: a rate that grows with threads beyond the CPUs.

use proofmark_model::{Pace, Severity};

use super::{Examination, Outcome, Rule, above_own_ceiling};
use crate::machine::Limit;
use crate::{Figure, Metric, Sheet, severity};

/// Tolerance above linear growth: trials of a quiet machine differ by some percent, not by 10 %.
const ABOVE_LINEAR: f64 = 1.1;
/// Minimum factor of threads beyond the CPUs: from 8 to 9 threads the bound would be 6 %, which is
/// noise.
const MIN_THREAD_FACTOR: f64 = 2.0;

pub(super) const RULE: Rule = Rule {
    id: "thread_multiplied",
    title: "rate multiplied by the number of threads",
    about: "More threads than CPUs cannot do more work than one thread per CPU. The rule compares \
            the rate at the number of CPUs with that at twice as many threads or more. If it grows \
            by more than the square root of the factor of threads, it was multiplied by the \
            threads or divided by CPU time. Without a rate at the number of CPUs, the base is the \
            last one below, whose rate may grow linearly up to the CPUs. This applies to every multi-thread figure of that \
            series. CPUs are logical CPUs. If only cores are declared, the rule assumes two per \
            core, and the verdict is suspect. A rate more than 10 % above linear is also suspect; \
            it is invalid only if a ceiling of the machine confirms it, since smaller parts can \
            fit each CPU's own cache. Disks count only above their link's rate, since a queue can \
            speed up a real disk. Networks do not count, nor do rates of requests, transactions, \
            queries, messages and calls, whose threads may wait.",
    advice: "Divide all the work by the wall time from the first thread's start to the last \
             thread's end. Do not add rates or use CPU time.",
    needs: "rates at two numbers of threads or more, of one statistic or of none stated; cpus, \
            vcpus or cores",
    examination: Examination::Compare(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Outcome> {
    figure.level()?;
    let levels = sheet.series(figure).levels();
    let is_checked = is_work(figure) && figure.subsystem.info().pace != Pace::Device;
    let Some(threads) = figure.threads else {
        let what = "threads is empty, so rates at several numbers of threads are not compared";
        let has_others = !levels.is_empty() || sheet.same_number(figure).nth(1).is_some();
        return (is_checked && has_others).then_some(Outcome::Missing(what));
    };
    let threads = threads as f64;
    let cpus = sheet.machine().logical_cpus();
    let heaviest = bound_by_cpus(sheet, figure).filter(|_| threads > 1.0);
    let found = heaviest.and_then(|heaviest| {
        let growth = cpus
            .and_then(|cpus| beyond(&levels, cpus))
            .or_else(|| above_linear(&levels, threads, above_linear_weighs(sheet, figure)))?;
        let finding = RULE.finding(growth.severity.min(heaviest), growth.message.as_str());
        Some(finding.with("growth", growth.growth).with("possible", growth.possible))
    });
    // A queue may speed up a device.
    if !is_checked || levels.len() < 2 {
        return found.map(Outcome::Found);
    }
    let what = "no cpus, vcpus or cores are declared";
    Some(Outcome::new(found, cpus.is_none().then_some(what)))
}

/// True for rates other than of requests, whose threads may wait and so outnumber the CPUs.
fn is_work(figure: &Figure) -> bool {
    matches!(figure.metric, Metric::Rate | Metric::Throughput) && !figure.requests
}

struct Growth {
    severity: Severity,
    message: String,
    /// Rate over another one of the table.
    growth: f64,
    /// Growth that the machine allows between the two.
    possible: f64,
}

impl Growth {
    fn excess(&self) -> f64 {
        self.growth / self.possible
    }
}

/// Returns the maximum severity; `None` if more than CPUs and memory can explain the figure.
fn bound_by_cpus(sheet: &Sheet, figure: &Figure) -> Option<Severity> {
    if !is_work(figure) {
        return None;
    }
    if figure.subsystem.info().uses_block_devices {
        let limit = sheet.machine().disk_limit(figure);
        return (figure.device_rate()? > limit.most).then_some(limit.severity);
    }
    (figure.subsystem.info().pace != Pace::Device).then_some(Severity::Invalid)
}

/// Returns the maximum severity of growth above linear. Parts of the data may each fit a private
/// cache, which speeds up CPUs and memory several times. No cache exceeds the limits of the
/// machine's units or of a disk's link.
fn above_linear_weighs(sheet: &Sheet, figure: &Figure) -> Severity {
    if figure.subsystem.info().pace == Pace::Device {
        return Severity::Invalid;
    }
    above_own_ceiling::exceeded(sheet.machine(), figure).unwrap_or(Severity::Suspect)
}

/// Returns the strongest growth beyond the CPUs, of two rates in the table. The base is the first
/// point that fills the CPUs. Without one it is the last below: up to the CPUs its rate can grow as
/// the threads do.
fn beyond(levels: &[(f64, f64)], limit: Limit) -> Option<Growth> {
    let cpus = limit.most;
    let full = levels.iter().find(|(t, _)| *t >= cpus);
    let below = levels.iter().rev().find(|(t, _)| *t < cpus);
    let growth = |(t, rate): &(f64, f64)| {
        let (from, level) = full.filter(|(f, _)| f < t).or(below)?;
        let possible = (cpus / from).max(1.0);
        let (factor, growth) = (t / from / possible, rate / level);
        (factor >= MIN_THREAD_FACTOR && growth / possible > factor.sqrt()).then(|| {
            let allowed = match possible > 1.0 {
                true => format!(", so {possible:.2} times is the most"),
                false => String::new(),
            };
            Growth {
                severity: severity(factor).min(limit.severity),
                message: format!(
                    "from {from:.0} to {t:.0} threads the rate grows {growth:.2} times, but only \
                     {cpus:.0} {}{allowed}",
                    limit.source
                ),
                growth,
                possible,
            }
        })
    };
    levels
        .iter()
        .filter(|(t, _)| *t > cpus)
        .filter_map(growth)
        .max_by(|a, b| a.severity.cmp(&b.severity).then(a.excess().total_cmp(&b.excess())))
}

/// Returns growth above linear from the fewest threads. Uses means: a single trial may be an
/// outlier.
fn above_linear(levels: &[(f64, f64)], threads: f64, most: Severity) -> Option<Growth> {
    let (fewest, level) = levels.first().filter(|(t, _)| *t < threads)?;
    let (_, rate) = levels.iter().find(|(t, _)| *t == threads)?;
    let (factor, growth) = (threads / fewest, rate / level);
    (growth > factor * ABOVE_LINEAR).then(|| Growth {
        severity: severity(growth / factor).min(most),
        message: format!(
            "{threads:.0} threads are {growth:.2} times as fast as {fewest:.0}; linear is \
             {factor:.2} times"
        ),
        growth,
        possible: factor,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        INVALID, MACHINE, SUSPECT, figures, findings, flagged, machine, row, severities,
    };

    /// Returns rows of threads and 10^6 bytes per second.
    fn rows(subsystem: &str, rates: &[(u32, f64)]) -> Vec<String> {
        let row = |(t, r): &(u32, f64)| format!("{subsystem} copy throughput {r}e6 threads={t}");
        rates.iter().map(row).collect()
    }

    #[test]
    fn a_series_is_condemned_where_it_grows_beyond_the_cpus() {
        let (cores, both) = ("cores = 8", "cpus = 16\ncores = 8");
        let grows = [(1, 3200.0), (2, 6400.0), (4, 12000.0), (8, 24000.0)];
        let logical = [(4, 4000.0), (8, 8000.0), (16, 15000.0)];
        for (facts, rates, expected) in [
            (MACHINE, &grows[..], &[false, true, true, true][..]),
            ("cpus = 8", &grows, &[false; 4]),
            ("", &grows, &[false; 4]),
            (MACHINE, &[(1, 3200.0), (2, 6400.0), (4, 6500.0), (8, 7000.0)], &[false; 4]),
            // Threads beyond the cores may run on logical CPUs.
            (cores, &logical, &[false; 3]),
            (both, &logical, &[false; 3]),
            ("cpus = 8\ncores = 8", &logical, &[true; 3]),
            // Without a point that fills the CPUs, the one below is scaled.
            (MACHINE, &[(1, 1000.0), (8, 8000.0)], &[false, true]),
            (MACHINE, &[(1, 1000.0), (8, 2500.0)], &[false, false]),
            // Nothing is faster than linear, except for an outlier.
            ("cpus = 48", &[(1, 1000.0), (2, 2300.0), (4, 3900.0)], &[false, true, false]),
            ("cpus = 48", &[(1, 1000.0), (2, 2300.0), (2, 1900.0)], &[false; 3]),
            // One more thread than CPUs grows by noise.
            ("cpus = 8", &[(8, 1000.0), (9, 1070.0), (15, 1500.0)], &[false; 3]),
            ("cpus = 8", &[(8, 1000.0), (9, 1070.0), (16, 1500.0)], &[true; 3]),
        ] {
            let found = flagged(&RULE, facts, &rows("memory", rates));
            assert_eq!(found, expected, "{facts}: {rates:?}");
        }
        assert_eq!(severities(&RULE, MACHINE, &rows("memory", &grows))[1], INVALID);
    }

    /// The column `trial` is optional, and tools print their best.
    #[test]
    fn any_statistic_shows_the_growth() {
        let grows = [(1, 24e3), (2, 48e3), (8, 193e3)];
        for (trials, expected) in [
            (["mean"; 3], [true; 3]),
            ([""; 3], [true; 3]),
            (["max"; 3], [true; 3]),
            (["min"; 3], [true; 3]),
            (["1", "mean", ""], [true; 3]),
            (["mean", "", ""], [true; 3]),
            // A tail and a deviation are no levels, and the best is no mean.
            (["p99"; 3], [false; 3]),
            (["sd"; 3], [false; 3]),
            (["min", "mean", "max"], [false; 3]),
        ] {
            let rows = rows("memory", &grows).into_iter().zip(trials);
            let rows: Vec<_> = rows.map(|(row, trial)| format!("{row} trial={trial}")).collect();
            let mut expected = expected;
            expected[0] = false;
            assert_eq!(flagged(&RULE, "cpus = 2", &rows), expected, "{trials:?}");
        }
    }

    /// Rates and threads that a message names are in the table.
    #[test]
    fn a_message_names_only_rates_of_the_table() {
        let message = |facts, rates: &[(u32, f64)]| {
            findings(&RULE, facts, &rows("memory", rates)).pop().flatten().unwrap().message
        };
        let two = [(1, 24e3), (8, 193e3)];
        for (facts, rates, expected) in [
            (
                "cpus = 2",
                &two[..],
                "from 1 to 8 threads the rate grows 8.04 times, but only 2 threads can run at \
                 once, so 2.00 times is the most",
            ),
            (
                "cores = 2",
                &two,
                "from 1 to 8 threads the rate grows 8.04 times, but only 4 threads can run at \
                 once, at 2 per core (no logical CPUs are declared), so 4.00 times is the most",
            ),
            (
                "cpus = 2",
                &[(1, 24e3), (3, 70e3), (12, 280e3)],
                "from 3 to 12 threads the rate grows 4.00 times, but only 2 threads can run at once",
            ),
        ] {
            assert_eq!(message(facts, rates), expected);
        }
    }

    #[test]
    fn rates_without_threads_are_named_as_such() {
        let what = |rows: &[&str]| {
            let rows: String = rows.iter().map(|text| row(text)).collect();
            let sheet = Sheet::new(machine("cpus = 2"), figures(&rows));
            match RULE.examine(&sheet, sheet.figures().last().unwrap()) {
                Some(Outcome::Missing(what)) => what,
                _ => "",
            }
        };
        let empty = "memory copy throughput 193e9 threads=";
        assert!(what(&["memory copy throughput 24e9", empty]).starts_with("threads is empty"));
        assert!(what(&["memory copy throughput 24e9 threads=", empty]).starts_with("threads"));
        assert_eq!(what(&[empty]), "", "nothing to compare with");
        let trial = "memory copy throughput 24e9 threads= trial=2";
        assert_eq!(what(&[trial, empty]), "", "another trial of it");
        assert_eq!(what(&["disk r throughput 24e6", "disk r throughput 9e7 threads="]), "");
    }

    #[test]
    fn threads_that_wait_may_be_more_than_the_cpus() {
        let rates = ["cpu http rate 1e4 threads=8", "cpu http rate 4e4 threads=64"];
        for (unit, multiplied) in [("ops/s", true), ("req/s", false), ("kTPS", false)] {
            let rows = rates.map(|row| format!("{row} unit={unit} printed=1"));
            assert_eq!(flagged(&RULE, "cpus = 8", &rows), [multiplied; 2], "{unit}");
        }
    }

    #[test]
    fn two_threads_a_core_are_assumed_and_suspect_only() {
        let grows = rows("memory", &[(8, 8000.0), (16, 15000.0), (128, 120_000.0)]);
        let last = |facts| findings(&RULE, facts, &grows).pop().flatten().unwrap();
        let assumed = last("cores = 8");
        assert_eq!(assumed.severity, Severity::Suspect);
        let why =
            "but only 16 threads can run at once, at 2 per core (no logical CPUs are declared)";
        assert!(assumed.message.ends_with(why), "{}", assumed.message);
        assert_eq!(last("cpus = 16").severity, Severity::Invalid);
    }

    #[test]
    fn parts_that_fit_private_caches_are_above_linear_and_suspect_at_most() {
        let many = "cpus = 48\nclaimed_memory_bytes_per_s = 2e10";
        let (below, above) = ([(1, 1e3), (4, 18e3)], [(1, 1e3), (4, 22e3)]);
        for (facts, subsystem, rates, severity) in [
            (many, "memory", &below, SUSPECT),
            // Above the memory's rate, as caches are.
            (many, "memory", &above, SUSPECT),
            (many, "cpu", &below, SUSPECT),
            // One drive reaches 15.754 GB/s, and no link is declared.
            (many, "disk", &below, SUSPECT),
            ("disk_link_bytes_per_s = 6e8", "disk", &below, INVALID),
        ] {
            let found = severities(&RULE, facts, &rows(subsystem, rates));
            assert_eq!(found[1], severity, "{subsystem} {rates:?}");
        }
        // Above the rate of any core.
        let flops = ["cpu gflops rate 1e12", "cpu gflops rate 1e18 threads=4"];
        assert_eq!(severities(&RULE, many, &flops)[1], INVALID);
    }

    #[test]
    fn a_queue_may_help_a_disk_and_a_network() {
        let rates = [(1, 50.0), (2, 100.0), (4, 200.0), (8, 400.0)];
        let severities_of = |facts, subsystem: &str, times: f64| {
            severities(&RULE, facts, &rows(subsystem, &rates.map(|(t, r)| (t, r * times))))
        };
        assert_eq!(severities_of(MACHINE, "disk", 1.0), [None; 4]);
        assert_eq!(severities_of(MACHINE, "network", 1.0), [None; 4]);
        assert_eq!(severities_of(MACHINE, "disk", 100.0), [None, INVALID, INVALID, INVALID]);
        // There may be several drives in parallel.
        assert_eq!(severities_of("vcpus = 2", "disk", 1e3), [None, SUSPECT, SUSPECT, SUSPECT]);
        assert_eq!(severities_of(MACHINE, "disk", 1e3), [None, INVALID, INVALID, INVALID]);
    }
}
