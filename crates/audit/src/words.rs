//! The words that cells of a table may hold, and what they mean; another word is refused with the
//! nearest of them, since a rule that does not know a word would pass over its figure.

use proofmark_model::{Subsystem, did_you_mean};

use crate::figure::{Metric, Statistic};
use crate::units::Base;

/// Words of the column `subsystem`.
pub(crate) fn subsystems() -> Vec<(&'static str, Subsystem)> {
    Subsystem::ALL.into_iter().map(|subsystem| (subsystem.as_str(), subsystem)).collect()
}

/// Words of the column `metric`.
pub(crate) const METRICS: &[(&str, Metric)] = &[
    ("rate", Metric::Rate),
    ("iops", Metric::Rate),
    ("pps", Metric::Rate),
    ("throughput", Metric::Throughput),
    ("bandwidth", Metric::Throughput),
    ("latency", Metric::Latency),
    ("time", Metric::Other),
    ("jitter", Metric::Other),
    ("loss", Metric::Other),
    ("other", Metric::Other),
];

/// Words of the column `trial` that are no number.
pub(crate) const STATISTICS: &[(&str, Statistic)] = &[
    ("mean", Statistic::Mean),
    ("average", Statistic::Mean),
    ("avg", Statistic::Mean),
    ("median", Statistic::Mean),
    ("sd", Statistic::Deviation),
    ("std", Statistic::Deviation),
    ("stddev", Statistic::Deviation),
    ("stdev", Statistic::Deviation),
    ("std dev", Statistic::Deviation),
    ("standard deviation", Statistic::Deviation),
    ("deviation", Statistic::Deviation),
    ("min", Statistic::Other),
    ("minimum", Statistic::Other),
    ("max", Statistic::Other),
    ("maximum", Statistic::Other),
    ("best", Statistic::Other),
    ("worst", Statistic::Other),
    ("total", Statistic::Other),
    ("", Statistic::Other),
];

/// Words of the column `si_unit`; case counts in none but `B/s`, which is not `b/s`.
pub(crate) const BASES: &[(&str, Base)] = &[
    ("bytes/s", Base::Bytes),
    ("byte/s", Base::Bytes),
    ("B/s", Base::Bytes),
    ("bits/s", Base::Bits),
    ("bit/s", Base::Bits),
    ("ops/s", Base::Operations),
    ("op/s", Base::Operations),
    ("packets/s", Base::Operations),
    ("flop/s", Base::Operations),
    ("seconds", Base::Seconds),
    ("second", Base::Seconds),
    ("sec", Base::Seconds),
    ("s", Base::Seconds),
];

/// What a word of a list means, whatever its case.
pub(crate) fn meaning<T: Copy>(list: &[(&str, T)], word: &str) -> Option<T> {
    list.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, meaning)| *meaning)
}

/// The meaning of a `si_unit`.
pub(crate) fn base(word: &str) -> Option<Base> {
    meaning(BASES, word).filter(|_| word != "b/s")
}

/// The statistic of a cell of the column `trial`: a word, a number, or a percentile such as `p99.9`.
pub(crate) fn statistic(text: &str) -> Option<Statistic> {
    let percentile = || {
        let number = text.strip_prefix(['p', 'P'])?.parse::<f64>().ok()?;
        (0.0..=100.0).contains(&number).then_some(Statistic::Other)
    };
    meaning(STATISTICS, text)
        .or_else(|| text.parse().ok().map(Statistic::Trial))
        .or_else(percentile)
}

/// The end of a message about an unknown word: the nearest known one, else where all are.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(word, known.into_iter().filter(|known| !known.is_empty()))
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
            (&["max", "", "p99", "P99.9"], Some(Statistic::Other)),
            (&["-1", "p101", "pp", "first"], None),
        ] {
            assert!(words.iter().all(|w| statistic(w) == is), "{words:?}");
        }
    }
}
