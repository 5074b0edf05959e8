//! `random_faster`: a random order faster than the sequential one.

use proofmark_model::Severity;

use super::{Examination, Outcome, Rule};
use crate::figure::Order;
use crate::series::Key;
use crate::{Figure, Metric, Sheet};

/// Advantage that chance, or a device that spreads blocks over many chips, may give random order.
const MAX_ADVANTAGE: f64 = 1.25;

pub(super) const RULE: Rule = Rule {
    id: "random_faster",
    title: "random faster than sequential",
    about: "Prefetchers, DRAM rows, TLBs and read-ahead all favour sequential order. Noise, and \
            blocks spread over several chips, can make random order up to a quarter faster. Beyond \
            that the sequential pass included first-touch page faults, or left its data in a cache \
            for the random pass. A random write is compared with a rewrite if the tool has one, \
            and in IOzone always: its write creates the file.",
    advice: "Touch the memory first, drop caches between the passes, and alternate the two.",
    needs: "the same operation in random and in sequential order",
    examination: Examination::Compare(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Outcome> {
    let (random, sequential) = (figure.level()?, partner(sheet, figure)?.level()?);
    let ahead = match figure.metric {
        Metric::Rate | Metric::Throughput => random / sequential,
        Metric::Latency => sequential / random,
        Metric::Other => return None,
    };
    let found = (ahead > MAX_ADVANTAGE && random > 0.0 && sequential > 0.0).then(|| {
        let message = format!("random order is {ahead:.2} times as fast as sequential order");
        RULE.finding(Severity::Suspect, message).with("ahead", ahead)
    });
    Some(Outcome::new(found, None))
}

/// Returns the figure for the sequential order, or for one that is not stated.
fn partner<'a>(sheet: &'a Sheet, figure: &Figure) -> Option<&'a Figure> {
    if !figure.is_random() || !figure.subsystem.info().moves_bytes() {
        return None;
    }
    let keys = |work: &str| {
        let key = |order| Key { order, work: work.to_owned(), ..Key::from_figure(figure) };
        [Order::Sequential, Order::Unstated].map(key)
    };
    let rewrites = ["rewrite", "re_write", "overwrite"].map(keys).concat();
    // Creating a file also allocates its blocks, so compare with a rewrite.
    let creates = figure.work == "write"
        && (figure.tool.to_ascii_lowercase().contains("iozone")
            || rewrites.iter().any(|key| sheet.has(key)));
    let keys = if creates { rewrites } else { keys(&figure.work).to_vec() };
    keys.iter().find_map(|key| sheet.partner(figure, key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MACHINE, flagged};

    #[test]
    fn random_order_is_not_faster() {
        for (first, second, faster) in [
            ("memory seq_read throughput 10", "memory rand_read throughput 13", true),
            ("memory seq_read throughput 10", "memory rand_read throughput 12", false),
            ("memory write throughput 10", "memory rand_write throughput 13", true),
            ("disk read rate 10 tool=fio", "disk randread rate 13 tool=fio", true),
            ("disk SeqRead rate 10", "disk read-random rate 13", true),
            ("memory seq_write throughput 10", "memory rand_read throughput 13", false),
            ("network seq_read throughput 10", "network rand_read throughput 13", false),
            ("memory seq_read latency 13", "memory rand_read latency 10", true),
            ("memory seq_read latency 10", "memory rand_read latency 13", false),
        ] {
            assert_eq!(flagged(&RULE, MACHINE, &[first, second]), [false, faster], "{second}");
        }
    }

    #[test]
    fn a_statistic_that_is_not_stated_may_be_any_summary() {
        for (sequential, random, faster) in [
            ("", "mean", true),
            ("mean", "", true),
            ("max", "", true),
            ("", "", true),
            // A single trial may be an outlier, and a tail is no rate of the pass.
            ("1", "", false),
            ("", "7", false),
            ("sd", "", false),
        ] {
            let rows = [
                format!("memory seq_read throughput 10 trial={sequential}"),
                format!("memory rand_read throughput 13 trial={random}"),
            ];
            let found = flagged(&RULE, MACHINE, &rows);
            assert_eq!(found, [false, faster], "{sequential} {random}");
        }
    }

    #[test]
    fn what_creates_a_file_is_no_partner_of_what_writes_it_again() {
        let rows = |tool: &str, rewrite: &str| {
            [("seq_write", "56e6"), (rewrite, "89e6"), ("rand_write", "86e6")]
                .map(|(o, v)| format!("disk {o} throughput {v} block=8192 tool={tool}"))
        };
        for (tool, other, faster) in [
            ("x", "seq_rewrite", false),
            ("x", "rewrite", false),
            ("x", "reread", true),
            ("IOzone", "reread", false),
        ] {
            let flagged = flagged(&RULE, MACHINE, &rows(tool, other));
            assert_eq!(flagged, [false, false, faster], "{tool} {other}");
        }
        let slow = rows("x", "rewrite").map(|row| row.replace("89e6", "50e6"));
        assert!(flagged(&RULE, MACHINE, &slow)[2]);
    }
}
