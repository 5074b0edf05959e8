//! `reciprocal_latency`: time divided by operations, printed as the time of one.

use proofmark_model::{Finding, Severity};

use super::Rule;
use crate::{Metric, Sheet};

const ADVICE: &str = "Name it reciprocal throughput. Measure latency as the time of one operation \
                      that waits for the previous one, with a histogram.";

pub(super) const RULE: Rule = Rule {
    id: "reciprocal_latency",
    title: "latency computed from throughput",
    about: "Latency x throughput is constant, to the printed digits (1 %), for most points of a \
            tool that prints both, while rates and threads or blocks differ. Then one was computed \
            from the other, and the latency is invalid. It is only suspect if latency x throughput \
            / block is a whole number, or in a network: a constant number of operations or bytes \
            in flight has the same effect. A latency is also suspect if it falls with the number \
            of threads, closer to 1 / threads than to flat. Threads rarely speed up an operation, \
            unless their parts fit a nearer cache or they keep CPUs awake.",
    examine,
};

fn examine(sheet: &Sheet, index: usize) -> Option<Finding> {
    let figure = sheet.figure(index)?;
    figure.level().filter(|_| figure.metric == Metric::Latency)?;
    if let Some(product) = sheet.product(index) {
        let per = if product.per_block { " x block" } else { "" };
        let (severity, but) = match product.in_flight {
            true => (Severity::Suspect, "; a constant queue or window has the same effect"),
            false => (Severity::Invalid, ""),
        };
        return Some(
            Finding::new(
                RULE.id,
                severity,
                format!(
                    "latency x throughput is {:.4e}{per} in {} of {} points of this tool{but}",
                    product.constant, product.shared, product.of
                ),
                ADVICE,
            )
            .with("constant", product.constant)
            .with("points", product.shared),
        );
    }
    let threads = figure.threads? as f64;
    // Means, since one trial may be lucky.
    let series = sheet.series(index)?;
    let (fewest, alone) = series.levels().next().filter(|(t, _)| *t < threads)?;
    let (_, beside) = series.levels().find(|(t, _)| *t == threads)?;
    let (factor, fall) = (threads / fewest, beside / alone);
    (fall < factor.sqrt().recip()).then(|| {
        Finding::new(
            RULE.id,
            Severity::Suspect,
            format!("the latency with {threads:.0} threads is {fall:.3} of that with {fewest:.0}"),
            ADVICE,
        )
        .with("factor_of_threads", factor)
        .with("fall", fall)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, findings, flagged};

    /// Rows of (block, threads, bytes/s, seconds).
    fn rows(points: &[(u32, u32, f64, f64)]) -> String {
        let row = |(b, t, r, l): &(u32, u32, f64, f64)| {
            format!(
                "memory,x,read,throughput,{b},{t},1,{r},B/s,{r},bytes/s\n\
                 memory,x,read,latency,{b},{t},1,{l},s,{l},seconds\n"
            )
        };
        points.iter().map(row).collect()
    }

    fn count(points: &[(u32, u32, f64, f64)]) -> usize {
        flagged(&RULE, MACHINE, &rows(points)).iter().filter(|f| **f).count()
    }

    #[test]
    fn a_constant_product_is_a_division() {
        // The same product whatever the block.
        assert_eq!(count(&[(1, 1, 1e6, 1.0), (64, 1, 5e6, 0.2), (4096, 1, 2e7, 0.05)]), 3);
        // block / throughput, with several threads.
        assert_eq!(
            count(&[(64, 1, 1e6, 64e-6), (64, 2, 1.3e6, 49.2e-6), (64, 4, 1.2e6, 53.3e-6)]),
            3
        );
        // The same with other blocks, so that only product / block is constant.
        let blocks = [(64, 1, 1e6, 64e-6), (64, 2, 1.3e6, 49.2e-6), (512, 4, 4e6, 128e-6)];
        assert_eq!(count(&blocks), 3);
        // Three of seven points agree by chance.
        let chance = [
            (1, 1, 1e6, 1.0),
            (64, 1, 5e6, 0.2),
            (4096, 1, 2e7, 0.05),
            (2, 1, 1e6, 0.01),
            (3, 1, 2e6, 0.02),
            (5, 1, 3e6, 0.05),
            (7, 1, 4e6, 30.0),
        ];
        assert_eq!(count(&chance), 0);
        // What Little's law gives for true latencies: threads x block.
        assert_eq!(
            count(&[(64, 1, 1e6, 64e-6), (64, 2, 1.3e6, 98.5e-6), (64, 4, 1.2e6, 213e-6)]),
            0
        );
        // One operation in flight: block / throughput is its time.
        assert_eq!(
            count(&[(64, 1, 1e6, 64e-6), (512, 1, 2e6, 256e-6), (4096, 1, 3e6, 1365e-6)]),
            0
        );
        // Two points prove nothing, nor do unrelated ones, nor rates that are all the same.
        assert_eq!(count(&[(1, 1, 1e6, 1.0), (64, 1, 5e6, 0.2)]), 0);
        assert_eq!(count(&[(1, 1, 1e6, 1.0), (64, 1, 5e6, 0.3), (4096, 1, 2e7, 0.02)]), 0);
        assert_eq!(count(&[(1, 1, 1e6, 1.0), (64, 1, 1e6, 1.0), (4096, 1, 1e6, 1.0)]), 0);
    }

    #[test]
    fn a_constant_queue_or_window_is_suspect_only() {
        let severity = |subsystem: &str, unit: &str, points: &[(u32, u32, f64, f64)]| {
            let rows = rows(points).replace("memory", subsystem).replace("bytes/s", unit);
            let found: Vec<_> = findings(&RULE, MACHINE, &rows).into_iter().flatten().collect();
            assert_eq!(found.len(), points.len());
            let severities: Vec<_> = found.iter().map(|f| f.severity).collect();
            assert!(severities.windows(2).all(|w| w[0] == w[1]), "{severities:?}");
            severities[0]
        };
        let (suspect, invalid) = (Severity::Suspect, Severity::Invalid);
        // Always 32 blocks in flight, whoever sent them.
        let queue = [(64, 1, 1e6, 2048e-6), (512, 2, 2e6, 8192e-6), (4096, 4, 4e6, 32768e-6)];
        assert_eq!(severity("disk", "bytes/s", &queue), suspect);
        let bits = queue.map(|(b, t, r, l)| (b, t, r * 8.0, l));
        assert_eq!(severity("disk", "bits/s", &bits), suspect);
        // Seven and a half blocks in flight, and half a block.
        let more = queue.map(|(b, t, r, l)| (b, t, r, l * 7.5 / 32.0));
        assert_eq!(severity("disk", "bytes/s", &more), invalid);
        let half = queue.map(|(b, t, r, l)| (b, t, r, l / 64.0));
        assert_eq!(severity("disk", "bytes/s", &half), invalid);
        let half = bits.map(|(b, t, r, l)| (b, t, r, l / 64.0));
        assert_eq!(severity("disk", "bits/s", &half), invalid);
        // 30 000 bytes in flight, whatever the block: a window of a network.
        let window = [(64, 1, 1e6, 30e-3), (512, 1, 2e6, 15e-3), (4096, 1, 4e6, 7.5e-3)];
        assert_eq!(severity("disk", "bytes/s", &window), invalid);
        assert_eq!(severity("network", "bytes/s", &window), suspect);
    }

    #[test]
    fn operations_in_flight_are_no_division() {
        let row = |(b, r, l): (u32, f64, f64)| {
            format!(
                "disk,x,read,rate,{b},1,1,{r},op/s,{r},ops/s\n\
                 disk,x,read,latency,{b},1,1,{l},s,{l},seconds\n"
            )
        };
        // One at a time: each second holds as many as their times add up to.
        let rows: String =
            [(4096, 1e4, 1e-4), (65_536, 5e3, 2e-4), (1 << 20, 500.0, 2e-3)].map(row).concat();
        assert_eq!(flagged(&RULE, MACHINE, &rows), [false; 6]);
    }

    #[test]
    fn the_mean_of_reciprocals_is_one() {
        let trials = rows(&[(1, 1, 1e6, 1.0), (64, 1, 5e6, 0.2), (4096, 1, 2e7, 0.05)]);
        let mean = "memory,x,read,latency,64,1,mean,0.3,s,0.3,seconds\n";
        assert_eq!(flagged(&RULE, MACHINE, &format!("{trials}{mean}")).last(), Some(&true));
        let other = "memory,x,read,latency,128,1,mean,0.3,s,0.3,seconds\n";
        assert_eq!(flagged(&RULE, MACHINE, &format!("{trials}{other}")).last(), Some(&false));
    }

    #[test]
    fn a_latency_does_not_fall_with_threads() {
        let series = |latencies: &[(u32, f64)]| -> String {
            let row =
                |(t, l): &(u32, f64)| format!("disk,x,read,latency,8,{t},1,{l},s,{l},seconds\n");
            latencies.iter().map(row).collect()
        };
        let falls = series(&[(1, 8.0), (2, 4.1), (8, 1.1)]);
        assert_eq!(flagged(&RULE, MACHINE, &falls), [false, true, true]);
        // Each thread's part may fit a nearer cache.
        let worst = findings(&RULE, MACHINE, &falls).pop().flatten().unwrap();
        assert_eq!(worst.severity, Severity::Suspect);
        let lucky = series(&[(1, 8.0), (2, 4.1), (2, 9.0)]);
        assert_eq!(flagged(&RULE, MACHINE, &lucky), [false; 3]);
        let stays = series(&[(1, 8.0), (2, 7.0), (8, 30.0)]);
        assert_eq!(flagged(&RULE, MACHINE, &stays), [false; 3]);
    }
}
