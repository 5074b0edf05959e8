//! Units as reports write them: `MBps`, `kBytes/sec`, `Gbits/sec`, `MSec`, `GFLOPS`, `Mpps`.

use std::borrow::Cow;

use crate::figure::Metric;

/// The unit of a number in base units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    /// Bytes per second.
    Bytes,
    /// Bits per second.
    Bits,
    /// Operations, packets or floating-point operations per second.
    Operations,
    /// Seconds.
    Seconds,
}

impl Base {
    /// The metric that it is a unit of.
    pub(crate) fn metric(self) -> Metric {
        match self {
            Self::Bytes | Self::Bits => Metric::Throughput,
            Self::Operations => Metric::Rate,
            Self::Seconds => Metric::Latency,
        }
    }
}

/// A unit that is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Written {
    /// A multiple of a base unit: what it may mean in it. Prefixes of bytes are read as powers of
    /// 1000, of 1024 and as mixtures of both, since reports mean any of them.
    Of(Base, Vec<f64>),
    /// The time of a bit or a byte, which is no time of an operation.
    TimePerByte,
    /// Clock cycles, or no unit: it cannot be converted.
    Unconverted,
    /// A share of something.
    Share,
}

/// What a throughput counts; each with a prefix, and by the second: `/s`, `/sec`, `ps`.
pub(crate) const DATA: [(&str, Base); 10] = [
    ("Bytes", Base::Bytes),
    ("bytes", Base::Bytes),
    ("Byte", Base::Bytes),
    ("byte", Base::Bytes),
    ("bits", Base::Bits),
    ("Bits", Base::Bits),
    ("bit", Base::Bits),
    ("Bit", Base::Bits),
    ("B", Base::Bytes),
    ("b", Base::Bits),
];
/// What a rate counts, in any case; each with a prefix, and by the second.
pub(crate) const EVENTS: &str = "op ops operation operations iop iops io ios flop flops instruction instructions i packet \
    packets pkt pkts frame frames datagram datagrams p transaction transactions txn t tx \
    request requests req r query queries q event events message messages msg call calls \
    access accesses lookup lookups update updates ups lups edges teps iteration iterations \
    it record records row rows file files commit commits sync syncs fsyncs connection \
    connections conn c key keys block blocks hash hashes h";
/// Those of [`EVENTS`] that are packets of a network.
const PACKETS: &str = "packet packets pkt pkts frame frames datagram datagrams p";
/// What a time may be the time of, besides [`EVENTS`] and [`DATA`].
const ITEMS: &str = "batch iter hop line";
/// Prefixes by power of 1000; with an `i` after the letter they are powers of 1024.
const PREFIXES: [[&str; 2]; 6] =
    [["", ""], ["k", "kilo"], ["m", "mega"], ["g", "giga"], ["t", "tera"], ["p", "peta"]];
/// Words of a second, in small letters; each with a prefix.
pub(crate) const TIMES: [&str; 5] = ["s", "sec", "secs", "second", "seconds"];
pub(crate) const PARTS: [(&str, f64); 9] = [
    ("", 1.0),
    ("m", 1e-3),
    ("milli", 1e-3),
    ("u", 1e-6),
    ("micro", 1e-6),
    ("n", 1e-9),
    ("nano", 1e-9),
    ("p", 1e-12),
    ("pico", 1e-12),
];
/// A latency that a clock would convert, in small letters.
pub(crate) const CYCLES: [&str; 6] = ["cycle", "cycles", "clock", "clocks", "clk", "tsc"];
/// Units of a loss.
pub(crate) const SHARES: [&str; 4] = ["%", "percent", "ratio", "ppm"];
const SECOND: [&str; 4] = ["s", "sec", "second", "secs"];

/// A unit as written, if every part of it is known. A remark in brackets after it is none of it.
pub(crate) fn written(unit: &str) -> Option<Written> {
    let unit = spelling(unit);
    if unit.is_empty() {
        return Some(Written::Unconverted);
    }
    let lower = unit.to_ascii_lowercase();
    if SHARES.contains(&lower.as_str()) {
        return Some(Written::Share);
    }
    time(&lower).or_else(|| per_second(&unit))
}

/// Whether a rate's unit counts packets.
pub(crate) fn is_packets(unit: &str) -> bool {
    let unit = spelling(unit).to_ascii_lowercase();
    let mut prefixes = PACKETS.split(' ').filter_map(|word| count(&unit).strip_suffix(word));
    prefixes.any(|rest| prefix(rest).is_some())
}

/// Without a remark in brackets, without spaces, with `/` for `per` and `u` for the Greek letter.
fn spelling(unit: &str) -> String {
    let unit = match unit.split_once('(') {
        Some((before, _)) if unit.ends_with(')') => before,
        _ => unit,
    };
    let unit = unit.replace(" per ", "/").replace(['µ', 'μ'], "u");
    unit.split_whitespace().collect()
}

/// What is counted of `thing per second`: the thing.
fn count(unit: &str) -> &str {
    match unit.rsplit_once('/') {
        Some((thing, by)) if SECOND.iter().any(|second| second.eq_ignore_ascii_case(by)) => thing,
        _ => unit.strip_suffix("ps").unwrap_or(unit),
    }
}

fn time(lower: &str) -> Option<Written> {
    let (head, of) = lower.split_once('/').map_or((lower, None), |(head, of)| (head, Some(of)));
    let mut prefixes = TIMES.iter().filter_map(|word| head.strip_suffix(word));
    let factor = prefixes.find_map(|prefix| PARTS.iter().find(|(part, _)| *part == prefix));
    let factor = factor.map(|(_, factor)| *factor);
    let cycles = CYCLES.contains(&head);
    match of {
        _ if factor.is_none() && !cycles => None,
        Some(of) if DATA.iter().any(|(word, _)| word.eq_ignore_ascii_case(of)) => {
            Some(Written::TimePerByte)
        }
        Some(of) if !EVENTS.split(' ').chain(ITEMS.split(' ')).any(|word| word == of) => None,
        _ => Some(factor.map_or(Written::Unconverted, |f| Written::Of(Base::Seconds, vec![f]))),
    }
}

fn per_second(unit: &str) -> Option<Written> {
    // "iops" ends as "Bps" does, so both are tried. "MBPS" may be bits or bytes.
    let both = [unit, count(unit)].into_iter().find_map(|noun| data(noun).or_else(|| events(noun)));
    both.or_else(|| events(unit.strip_suffix("PS")?))
}

fn data(noun: &str) -> Option<Written> {
    let (rest, base) =
        DATA.iter().find_map(|(word, base)| Some((noun.strip_suffix(word)?, *base)))?;
    let (power, binary) = prefix(rest)?;
    // 1000^power, with some or all of the thousands being 1024.
    let all = (0..=power).map(|kibi| 1024_f64.powi(kibi) * 1000_f64.powi(power - kibi));
    let all: Vec<f64> = all.collect();
    let factors = if binary { all.last().copied().into_iter().collect() } else { all };
    Some(Written::Of(base, factors))
}

fn events(noun: &str) -> Option<Written> {
    let lower = noun.to_ascii_lowercase();
    let power = EVENTS.split(' ').find_map(|word| {
        let rest = noun.get(..lower.strip_suffix(word)?.len())?;
        prefix(rest).filter(|(_, binary)| !binary).map(|(power, _)| power)
    })?;
    Some(Written::Of(Base::Operations, vec![1000_f64.powi(power)]))
}

/// The power of 1000 of a prefix, and whether 1024 is meant for sure.
fn prefix(text: &str) -> Option<(i32, bool)> {
    let lower = text.to_ascii_lowercase();
    let (decimal, binary) = match lower.strip_suffix('i') {
        Some(letter) => (letter, true),
        None => (lower.as_str(), false),
    };
    let power = PREFIXES.iter().zip(0..).find(|(words, _)| words.contains(&decimal))?.1;
    (power > 0 || !binary).then_some((power, binary))
}

impl Written {
    /// Whether a metric may be written in it: a loss is a share, and what no rule reads is free.
    pub(crate) fn fits(&self, metric: Metric) -> bool {
        match (self, metric) {
            (_, Metric::Other) | (Self::Unconverted, _) => true,
            (Self::Of(base, _), metric) => base.metric() == metric,
            (Self::TimePerByte, metric) => metric == Metric::Latency,
            (Self::Share, _) => false,
        }
    }

    /// What it may mean in that base unit; `None`: no number of it is one of that unit.
    pub(crate) fn factors(&self, base: Base) -> Option<Cow<'_, [f64]>> {
        let Self::Of(own, factors) = self else { return None };
        let scale = match (own, base) {
            (Base::Bits, Base::Bytes) => 0.125,
            (Base::Bytes, Base::Bits) => 8.0,
            _ if *own == base => return Some(Cow::Borrowed(factors)),
            _ => return None,
        };
        Some(factors.iter().map(|f| f * scale).collect())
    }
}

/// The power of 1.024 that a ratio is, if it is one from -4 to 4 but 0: what is left where 1024 and
/// 1000 were taken for each other so many times.
pub(crate) fn power_of_1024(ratio: f64) -> Option<i32> {
    let near = |power: &i32| (ratio / 1.024_f64.powi(*power) - 1.0).abs() <= 0.003;
    [-1, 1, -2, 2, -3, 3, -4, 4].into_iter().find(near)
}

/// Units that a metric is written in, as suggestions.
pub(crate) fn usual(metric: Metric) -> Vec<String> {
    let with = |prefixes: &[&str], words: &[&str]| -> Vec<String> {
        prefixes.iter().flat_map(|p| words.iter().map(move |w| format!("{p}{w}"))).collect()
    };
    let plain = ["", "k", "M", "G", "T"];
    match metric {
        Metric::Throughput => {
            let binary = with(&["Ki", "Mi", "Gi", "Ti"], &["B/s"]);
            let words = ["B/s", "Bps", "Bytes/sec", "bit/s", "bits/sec", "b/s", "bps"];
            [with(&plain, &words), binary].concat()
        }
        Metric::Rate => with(&plain, &["ops/s", "OPS", "IOPS", "FLOPS", "FLOP/s", "pps", "tps"]),
        Metric::Latency | Metric::Other => {
            let cycles = CYCLES.map(str::to_owned).to_vec();
            [with(&["", "m", "u", "n"], &TIMES), cycles].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_as_reports_write_them() {
        use Base::{Bits, Bytes, Operations, Seconds};
        for (unit, base, first, count) in [
            ("MB/s", Bytes, 1e6, 3),
            ("MBps", Bytes, 1e6, 3),
            ("kBytes/sec", Bytes, 1e3, 2),
            ("GiB/s", Bytes, 1_073_741_824.0, 1),
            ("Mb/s", Bits, 1e6, 3),
            ("Gbits/sec", Bits, 1e9, 4),
            ("MB/s", Bits, 8e6, 3),
            ("Mbit/s", Bytes, 125e3, 3),
            ("MSec", Seconds, 1e-3, 1),
            ("us (as the text says)", Seconds, 1e-6, 1),
            ("µs", Seconds, 1e-6, 1),
            ("s", Seconds, 1.0, 1),
            ("seconds", Seconds, 1.0, 1),
            ("ns", Seconds, 1e-9, 1),
            ("ns per access", Seconds, 1e-9, 1),
            ("ms/batch", Seconds, 1e-3, 1),
            ("MByte/s", Bytes, 1e6, 3),
            ("kbyte/s", Bytes, 1e3, 2),
            ("megabytes per second", Bytes, 1e6, 3),
            ("TB/s", Bytes, 1e12, 5),
            ("B/s", Bytes, 1.0, 1),
            ("GFLOPS", Operations, 1e9, 1),
            ("GFLOP", Operations, 1e9, 1),
            ("TFlop/s", Operations, 1e12, 1),
            ("Gop/s", Operations, 1e9, 1),
            ("kIOPS", Operations, 1e3, 1),
            ("k IOPS", Operations, 1e3, 1),
            ("Mpps", Operations, 1e6, 1),
            ("events/sec", Operations, 1.0, 1),
            ("tps", Operations, 1.0, 1),
            ("GUPS", Operations, 1e9, 1),
            ("TPS", Operations, 1.0, 1),
            ("MIPS", Operations, 1e6, 1),
            ("MB/S", Bytes, 1e6, 3),
        ] {
            let written = written(unit).unwrap_or_else(|| panic!("{unit}"));
            let found = written.factors(base).unwrap_or_else(|| panic!("{unit}: {written:?}"));
            assert!((found[0] / first - 1.0).abs() < 1e-12, "{unit}: {found:?}");
            assert_eq!(found.len(), count, "{unit}");
        }
        for unit in
            ["furlongs", "iB", "x", "MB per hour", "parsecs", "KiIOPS", "ns/fortnight", "MBPS"]
        {
            assert_eq!(written(unit), None, "{unit}");
        }
        for (unit, is) in [("%", Written::Share), ("", Written::Unconverted)] {
            assert_eq!(written(unit), Some(is), "{unit}");
        }
        assert_eq!(written("cycles per access"), Some(Written::Unconverted));
    }

    #[test]
    fn only_bits_and_bytes_are_no_operations() {
        for unit in ["ms/bit", "ns / b", "us per byte"] {
            assert_eq!(written(unit), Some(Written::TimePerByte), "{unit}");
        }
        for unit in ["ms", "ms/block", "us/batch", "ms per block"] {
            assert!(matches!(written(unit), Some(Written::Of(..))), "{unit}");
        }
    }

    #[test]
    fn packets_are_told_from_operations() {
        for (unit, packets) in [
            ("Mpps", true),
            ("pps", true),
            ("KPPS", true),
            ("packets/s", true),
            ("kframes/sec", true),
            ("ops/s", false),
            ("IOPS", false),
            ("Gop/s", false),
            ("tps", false),
        ] {
            assert_eq!(is_packets(unit), packets, "{unit}");
        }
    }

    #[test]
    fn a_unit_fits_its_metric_and_suggestions_are_known() {
        for (unit, metric, fits) in [
            ("MB/s", Metric::Throughput, true),
            ("MB/s", Metric::Rate, false),
            ("us", Metric::Throughput, false),
            ("%", Metric::Latency, false),
            ("%", Metric::Other, true),
            ("", Metric::Rate, true),
        ] {
            assert_eq!(written(unit).unwrap().fits(metric), fits, "{unit} {metric:?}");
        }
        for metric in [Metric::Rate, Metric::Throughput, Metric::Latency] {
            for unit in usual(metric) {
                assert!(written(&unit).is_some_and(|w| w.fits(metric)), "{unit}");
            }
        }
    }
}
