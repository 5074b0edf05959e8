//! Words that cells of a table may hold. The reader, its errors and `proofmark explain audit` use
//! only these tables. An unknown word is an error that suggests the nearest: rules would skip its
//! figure.

use proofmark_model::did_you_mean;

use crate::quantity::{Base, Metric, Statistic};

/// Meanings, each with its words separated by spaces, the usual word first.
pub(crate) type Words<T> = [(T, &'static str)];

/// Words of the column `metric`; case is ignored.
pub(crate) const METRICS: &Words<Metric> = &[
    (Metric::Rate, "rate iops pps"),
    (Metric::Throughput, "throughput bandwidth"),
    (Metric::Latency, "latency"),
    (Metric::Other, "time jitter loss other"),
];

/// Words of the column `trial` other than numbers; case is ignored.
pub(crate) const STATISTICS: &Words<Statistic> = &[
    (Statistic::Mean, "mean average avg median"),
    (Statistic::Deviation, "sd std stddev stdev deviation"),
    (Statistic::Least, "min worst"),
    (Statistic::Most, "max best"),
    (Statistic::Other, "total"),
];

/// Units and their plurals are accepted. Case matters only for `B` and `b`.
pub(crate) const UNITS: &Words<Base> = &[
    (Base::Seconds, "s sec second"),
    (Base::Cycles, "cycle clock"),
    (
        Base::Operations,
        "op iop flop operation io ips event ups access lookup iteration block batch",
    ),
    (Base::Packets, "packet pps frame datagram"),
    (Base::Requests, "request req rps tps qps transaction queries message connection call"),
    (Base::Bytes, "B byte"),
    (Base::Bits, "bit b"),
];

/// Usual spellings of a metric's units without prefix, for suggestions.
pub(crate) const USUAL: &Words<Metric> = &[
    (Metric::Throughput, "B/s Bps Bytes/sec bit/s bits/sec bps iB/s"),
    (Metric::Rate, "IOPS ops/s OPS FLOPS FLOP/s pps tps"),
    (Metric::Latency, "s sec"),
];

/// Iterates over every word with its meaning.
pub(crate) fn all<T: Copy>(table: &Words<T>) -> impl Iterator<Item = (T, &'static str)> {
    table.iter().flat_map(|(meaning, words)| words.split(' ').map(|word| (*meaning, word)))
}

/// Iterates over the words for one meaning, the usual first.
pub(crate) fn words_for<T: Copy + PartialEq>(
    table: &Words<T>,
    wanted: T,
) -> impl Iterator<Item = &'static str> {
    all(table).filter(move |(meaning, _)| *meaning == wanted).map(|(_, word)| word)
}

/// Returns the meaning of a word; case and spaces are ignored.
pub(crate) fn meaning<T: Copy>(table: &Words<T>, word: &str) -> Option<T> {
    let word = word.replace(' ', "");
    all(table).find(|(_, known)| known.eq_ignore_ascii_case(&word)).map(|(meaning, _)| meaning)
}

/// Parses a cell of the column `trial`: a word, a number, nothing, or a percentile such as `p99.9`.
pub(crate) fn statistic(text: &str) -> Option<Statistic> {
    if text.is_empty() {
        return Some(Statistic::Unstated);
    }
    let percentile = || text.strip_prefix(['p', 'P'])?.parse::<f64>().ok();
    let other = || percentile().is_some_and(|p| (0.0..=100.0).contains(&p));
    meaning(STATISTICS, text)
        .or_else(|| text.parse().ok().map(Statistic::Trial))
        .or_else(|| other().then_some(Statistic::Other))
}

/// Returns the hint about an unknown word: the nearest known one, else the command that lists all.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(word, known)
        .unwrap_or_else(|| "'proofmark explain audit' lists the known ones".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_reports_are_understood() {
        for (words, is) in [
            (&["throughput", "Bandwidth"][..], Some(Metric::Throughput)),
            (&["rate", "IOPS"], Some(Metric::Rate)),
            (&["latency"], Some(Metric::Latency)),
            (&["jitter", "Time"], Some(Metric::Other)),
            (&["speed", ""], None),
        ] {
            assert!(words.iter().all(|w| meaning(METRICS, w) == is), "{words:?}");
        }
        for (words, is) in [
            (&["mean", "Average", "avg", "median"][..], Some(Statistic::Mean)),
            (&["sd", "std", "stddev", "stdev", "Std Dev", "deviation"], Some(Statistic::Deviation)),
            (&["7", "007"], Some(Statistic::Trial(7))),
            (&["max", "best"], Some(Statistic::Most)),
            (&["min", "Worst"], Some(Statistic::Least)),
            (&[""], Some(Statistic::Unstated)),
            (&["total", "p99", "P99.9"], Some(Statistic::Other)),
            (&["-1", "p101", "pp", "first"], None),
        ] {
            assert!(words.iter().all(|w| statistic(w) == is), "{words:?}");
        }
    }
}
