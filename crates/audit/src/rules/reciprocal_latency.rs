//! `reciprocal_latency`: total time divided by operations, printed as the latency of one.

use proofmark_model::{Finding, Severity};

use super::{Examination, Rule};
use crate::{Figure, Metric, Sheet};

pub(super) const RULE: Rule = Rule {
    id: "reciprocal_latency",
    title: "latency computed from throughput",
    about: "Latency x throughput is constant, to the printed digits (1 %), for most points of a \
            tool that prints both, while rates and threads or blocks differ. Then one was computed \
            from the other, and the latency is invalid. It is only suspect if latency x throughput \
            / block is a whole number, or in a network: a constant number of operations or bytes \
            in flight has the same effect. Among nine or more tied latencies of a tool, the few \
            that are not (one in ten) are suspect as misprints. A latency is also suspect if it \
            falls with the number of threads, closer to 1 / threads than to flat. Threads rarely \
            speed up an operation, unless their parts fit a nearer cache or they keep CPUs awake.",
    advice: "Name it reciprocal throughput. Measure latency as the time of one operation that \
             waits for the previous one, with a histogram.",
    needs: "latency and throughput of three points; or latencies by threads",
    examination: Examination::FindFault(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Finding> {
    figure.level().filter(|_| figure.metric == Metric::Latency)?;
    if let Some(product) = sheet.product(figure) {
        let per = if product.per_block { " x block" } else { "" };
        let (severity, but) = match product.in_flight {
            _ if product.odd => (Severity::Suspect, ", but not in this one: a misprint"),
            true => (Severity::Suspect, "; a constant queue or window has the same effect"),
            false => (Severity::Invalid, ""),
        };
        let message = format!(
            "latency x throughput is {:.4e}{per} in {} of {} points of this tool{but}",
            product.constant, product.shared, product.of
        );
        let finding = RULE.finding(severity, message);
        return Some(finding.with("constant", product.constant).with("points", product.shared));
    }
    let threads = figure.threads? as f64;
    // Use means: a single trial may be an outlier.
    let levels = sheet.series(figure).levels();
    let (fewest, alone) = levels.first().filter(|(t, _)| *t < threads)?;
    let (_, with_others) = levels.iter().find(|(t, _)| *t == threads)?;
    let (factor, fall) = (threads / fewest, with_others / alone);
    (fall < factor.sqrt().recip()).then(|| {
        let message = format!(
            "the latency with {threads:.0} threads is {fall:.3} times that with {fewest:.0}"
        );
        let finding = RULE.finding(Severity::Suspect, message);
        finding.with("factor_of_threads", factor).with("fall", fall)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{INVALID, MACHINE, SUSPECT, flagged, severities};

    /// Block, threads, bytes a second and seconds.
    type Point = (u32, u32, f64, f64);

    /// Returns a latency row and a throughput row for each point.
    fn rows(subsystem: &str, points: &[Point]) -> Vec<String> {
        let row = |(b, t, r, l): &Point| {
            let at = format!("block={b} threads={t} base_unit");
            [
                format!("{subsystem} read throughput {r} {at}=bytes/s"),
                format!("{subsystem} read latency {l} {at}=seconds"),
            ]
        };
        points.iter().flat_map(row).collect()
    }

    #[test]
    fn a_constant_product_is_a_division() {
        let chance = [
            (1, 1, 1e6, 1.0),
            (64, 1, 5e6, 0.2),
            (4096, 1, 2e7, 0.05),
            (2, 1, 1e6, 0.01),
            (3, 1, 2e6, 0.02),
            (5, 1, 3e6, 0.05),
            (7, 1, 4e6, 30.0),
        ];
        for (count, points) in [
            // A constant product for any block.
            (3, &[(1, 1, 1e6, 1.0), (64, 1, 5e6, 0.2), (4096, 1, 2e7, 0.05)][..]),
            // block / throughput, with several threads.
            (3, &[(64, 1, 1e6, 64e-6), (64, 2, 1.3e6, 49.2e-6), (64, 4, 1.2e6, 53.3e-6)]),
            // As before with other blocks, so that only product / block is constant.
            (3, &[(64, 1, 1e6, 64e-6), (64, 2, 1.3e6, 49.2e-6), (512, 4, 4e6, 128e-6)]),
            // Three of seven points agree by chance.
            (0, &chance),
            // Little's law for true latencies: threads x block.
            (0, &[(64, 1, 1e6, 64e-6), (64, 2, 1.3e6, 98.5e-6), (64, 4, 1.2e6, 213e-6)]),
            // One operation in flight: block / throughput is its time.
            (0, &[(64, 1, 1e6, 64e-6), (512, 1, 2e6, 256e-6), (4096, 1, 3e6, 1365e-6)]),
            // Neither two points, nor unrelated ones, nor equal rates prove a tie.
            (0, &[(1, 1, 1e6, 1.0), (64, 1, 5e6, 0.2)]),
            (0, &[(1, 1, 1e6, 1.0), (64, 1, 5e6, 0.3), (4096, 1, 2e7, 0.02)]),
            (0, &[(1, 1, 1e6, 1.0), (64, 1, 1e6, 1.0), (4096, 1, 1e6, 1.0)]),
        ] {
            let flagged = flagged(&RULE, MACHINE, &rows("memory", points));
            assert_eq!(flagged.iter().filter(|f| **f).count(), count, "{points:?}");
        }
    }

    #[test]
    fn a_constant_queue_or_window_is_suspect_only() {
        // Always 32 blocks in flight, for any number of threads.
        let queue = [(64, 1, 1e6, 2048e-6), (512, 2, 2e6, 8192e-6), (4096, 4, 4e6, 32768e-6)];
        let blocks = |n: f64| queue.map(|(b, t, r, l)| (b, t, r, l * n / 32.0));
        // Always 30 000 bytes in flight, for any block: a network's window.
        let window = [(64, 1, 1e6, 30e-3), (512, 1, 2e6, 15e-3), (4096, 1, 4e6, 7.5e-3)];
        for (subsystem, bits, points, severity) in [
            ("disk", false, queue, SUSPECT),
            ("disk", true, queue, SUSPECT),
            // 7.5 blocks in flight, and half a block.
            ("disk", false, blocks(7.5), INVALID),
            ("disk", false, blocks(0.5), INVALID),
            ("disk", true, blocks(0.5), INVALID),
            ("disk", false, window, INVALID),
            ("network", false, window, SUSPECT),
        ] {
            let points = if bits { points.map(|(b, t, r, l)| (b, t, r * 8.0, l)) } else { points };
            let mut rows = rows(subsystem, &points);
            if bits {
                rows.iter_mut().for_each(|row| *row = row.replace("bytes/s", "bits/s"));
            }
            let found = severities(&RULE, MACHINE, &rows);
            assert_eq!(found, [None, severity].repeat(3), "{subsystem} {points:?}");
        }
    }

    #[test]
    fn operations_in_flight_are_no_division() {
        // One operation at a time: the times of a second's operations add up to a second.
        let points = [(4096, "1e4", "1e-4"), (65_536, "5e3", "2e-4"), (1 << 20, "500", "2e-3")];
        let rows = points.map(|(b, r, l)| {
            [format!("disk read rate {r} block={b}"), format!("disk read latency {l} block={b}")]
        });
        assert_eq!(flagged(&RULE, MACHINE, &rows.concat()), [false; 6]);
    }

    #[test]
    fn the_mean_of_reciprocals_is_one() {
        let points = [(1, 1, 1e6, 1.0), (64, 1, 5e6, 0.2), (4096, 1, 2e7, 0.05)];
        for (block, is_one) in [(64, true), (128, false)] {
            let mut rows = rows("memory", &points);
            rows.push(format!("memory read latency 0.3 block={block} trial=mean"));
            assert_eq!(flagged(&RULE, MACHINE, &rows).pop(), Some(is_one), "{block}");
        }
    }

    #[test]
    fn a_latency_does_not_fall_with_threads() {
        for (latencies, expected) in [
            // Each thread's part may fit a faster cache.
            ([(1, 8.0), (2, 4.1), (8, 1.1)], [None, SUSPECT, SUSPECT]),
            // One outlier.
            ([(1, 8.0), (2, 4.1), (2, 9.0)], [None; 3]),
            ([(1, 8.0), (2, 7.0), (8, 30.0)], [None; 3]),
        ] {
            let rows = latencies.map(|(t, l)| format!("disk read latency {l} block=8 threads={t}"));
            assert_eq!(severities(&RULE, MACHINE, &rows), expected, "{latencies:?}");
        }
    }
}
