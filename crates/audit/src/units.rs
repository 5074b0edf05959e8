//! Units as reports write them: `MBps`, `kBytes/sec`, `Gbits/sec`, `MSec`, `GFLOPS`, `Mpps`.

use std::borrow::Cow;

use crate::quantity::{Base, Metric};
use crate::words::{self, UNITS, USUAL};

/// Known unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    pub base: Base,
    /// Possible factors to the base unit. Prefixes of bits and bytes are read as powers of 1000
    /// (first), as powers of 1024 and as mixtures: reports use all of them.
    factors: Vec<f64>,
}

/// Prefixes by power of 1000; an `i` after the letter makes them powers of 1024.
const LARGE: &[[&str; 2]] =
    &[["", ""], ["k", "kilo"], ["m", "mega"], ["g", "giga"], ["t", "tera"], ["p", "peta"]];
/// Prefixes of seconds by power of 1/1000.
const SMALL: &[[&str; 2]] =
    &[["", ""], ["m", "milli"], ["u", "micro"], ["n", "nano"], ["p", "pico"]];

impl Unit {
    /// Parses a unit as written if every part of it is known. Ignores a remark in brackets after
    /// it.
    pub fn read(text: &str) -> Option<Self> {
        let text = spelling(text);
        let Some((counted, by)) = text.split_once('/') else {
            // "iops" ends like "Bps", so try both.
            let per_second = || Self::counted(text.strip_suffix("ps")?, true);
            return Self::counted(&text, false).or_else(per_second);
        };
        let unit = Self::counted(counted, false)?;
        let base = words::all(UNITS).find(|(_, word)| is_word(by, word)).map(|(base, _)| base)?;
        match (unit.base.metric(), base) {
            (Metric::Throughput | Metric::Rate, Base::Seconds) => Some(unit),
            (Metric::Latency, Base::Bytes | Base::Bits) => {
                Some(Self { base: Base::TimePerByte, ..unit })
            }
            (Metric::Latency, Base::Operations | Base::Packets | Base::Requests) => Some(unit),
            _ => None,
        }
    }

    /// Parses a prefix and a counted unit. "mbps" is bits; "mb/s" and "MBPS" may be bits or bytes.
    fn counted(text: &str, ps: bool) -> Option<Self> {
        words::all(UNITS).find_map(|(base, word)| {
            let prefix = ["", "s", "es"].iter().find_map(|end| without(text, word, end))?;
            if word == "b" && !ps && text == text.to_ascii_lowercase() {
                return None;
            }
            let prefixes = if base == Base::Seconds { SMALL } else { LARGE };
            let (power, binary) = power(prefix, prefixes)?;
            let factors = match base.metric() {
                // 1000^power, with any number of the thousands replaced by 1024.
                Metric::Throughput => {
                    let factor = |kibi| 1024_f64.powi(kibi) * 1000_f64.powi(power - kibi);
                    (if binary { power } else { 0 }..=power).map(factor).collect()
                }
                _ if binary => return None,
                Metric::Latency => vec![1000_f64.powi(-power)],
                Metric::Rate | Metric::Other => vec![1000_f64.powi(power)],
            };
            Some(Self { base, factors })
        })
    }

    /// Parses a base unit without prefix: `bytes/s`, `s`.
    pub fn read_base(text: &str) -> Option<Base> {
        let unit = Self::read(text).filter(|unit| unit.factors == [1.0])?;
        unit.base.si_unit().map(|_| unit.base)
    }

    /// Returns the possible factors to a base unit; `None` if it cannot be converted to it.
    pub fn factors(&self, base: Base) -> Option<Cow<'_, [f64]>> {
        let scale = match (self.base, base) {
            (Base::Bits, Base::Bytes) => 0.125,
            (Base::Bytes, Base::Bits) => 8.0,
            (own, base) if own == base => return Some(Cow::Borrowed(&self.factors)),
            (own, base) if own.metric() == Metric::Rate && base.metric() == Metric::Rate => 1.0,
            _ => return None,
        };
        Some(self.factors.iter().map(|f| f * scale).collect())
    }
}

/// Normalises spelling: no remark in brackets, no spaces, `/` for `per`, `u` for the Greek letter.
fn spelling(unit: &str) -> String {
    let unit = match unit.split_once('(') {
        Some((before, _)) if unit.ends_with(')') => before,
        _ => unit,
    };
    let unit = unit.replace(" per ", "/").replace(['µ', 'μ'], "u");
    unit.split_whitespace().collect()
}

/// Returns the text before a word and its ending. Case matters for B and b; letters have no plural.
fn without<'a>(text: &'a str, word: &str, end: &str) -> Option<&'a str> {
    let (before, found) = text.split_at_checked(text.len().checked_sub(word.len() + end.len())?)?;
    let same = match word {
        _ if word.len() == 1 && !end.is_empty() => false,
        "B" | "b" => found == word,
        _ => {
            found.is_char_boundary(word.len()) && {
                let (found, ending) = found.split_at(word.len());
                found.eq_ignore_ascii_case(word) && ending.eq_ignore_ascii_case(end)
            }
        }
    };
    same.then_some(before)
}

/// True if a text is the word or its plural.
fn is_word(text: &str, word: &str) -> bool {
    ["", "s", "es"].iter().any(|end| without(text, word, end) == Some(""))
}

/// Returns the power of a prefix, and whether it certainly means 1024.
fn power(text: &str, prefixes: &[[&str; 2]]) -> Option<(i32, bool)> {
    let lower = text.to_ascii_lowercase();
    let (decimal, binary) = match lower.strip_suffix('i') {
        Some(letter) => (letter, true),
        None => (lower.as_str(), false),
    };
    let power = prefixes.iter().zip(0..).find(|(words, _)| words.contains(&decimal))?.1;
    (power > 0 || !binary).then_some((power, binary))
}

/// True if the spelling leaves open whether it is bits or bytes.
pub(crate) fn is_bits_or_bytes(unit: &str) -> bool {
    let unit = spelling(unit).to_ascii_lowercase();
    ["b/s", "b/sec", "bps"].iter().any(|end| unit.ends_with(end))
}

/// Returns the power of 1.024 that a ratio is, from -4 to 4 without 0. Mixing up 1024 and 1000 that
/// many times causes it.
pub(crate) fn power_of_1024(ratio: f64) -> Option<i32> {
    let near = |power: &i32| (ratio / 1.024_f64.powi(*power) - 1.0).abs() <= 0.003;
    [-1, 1, -2, 2, -3, 3, -4, 4].into_iter().find(near)
}

/// Returns the usual units of a metric, for suggestions.
pub(crate) fn usual(metric: Metric) -> Vec<String> {
    let prefixes = match metric {
        Metric::Latency => ["", "m", "u", "n", ""],
        _ => ["", "k", "M", "G", "T"],
    };
    let forms = words::words_for(USUAL, metric);
    let all = forms.flat_map(|form| prefixes.map(|prefix| format!("{prefix}{form}")));
    all.filter(|unit| Unit::read(unit).is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_as_reports_write_them() {
        use Base::{Bits, Bytes, Operations, Requests, Seconds};
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
            ("tps", Requests, 1.0, 1),
            ("GUPS", Operations, 1e9, 1),
            ("TPS", Operations, 1.0, 1),
            ("MIPS", Operations, 1e6, 1),
            ("MB/S", Bytes, 1e6, 3),
            ("mbps", Bits, 1e6, 3),
            ("KBytes/sec", Bytes, 1e3, 2),
            ("queries/s", Requests, 1.0, 1),
        ] {
            let written = Unit::read(unit).unwrap_or_else(|| panic!("{unit}"));
            let found = written.factors(base).unwrap_or_else(|| panic!("{unit}: {written:?}"));
            assert!((found[0] / first - 1.0).abs() < 1e-12, "{unit}: {found:?}");
            assert_eq!(found.len(), count, "{unit}");
        }
        for unit in
            ["furlongs", "iB", "x", "MB per hour", "parsecs", "KiIOPS", "ns/fortnight", "%", ""]
        {
            assert_eq!(Unit::read(unit), None, "{unit}");
        }
        for unit in ["MBPS", "mb/s", "kb/s", "b/s", "gb/sec"] {
            assert_eq!(Unit::read(unit), None, "{unit}");
            assert!(is_bits_or_bytes(unit), "{unit}");
        }
        let cycles = Unit::read("cycles per access").unwrap();
        assert_eq!((cycles.base, cycles.factors(Seconds)), (Base::Cycles, None));
    }

    #[test]
    fn only_bits_and_bytes_are_no_operations() {
        for unit in ["ms/bit", "ns / b", "us per byte"] {
            assert_eq!(Unit::read(unit).unwrap().base, Base::TimePerByte, "{unit}");
        }
        for unit in ["ms", "ms/block", "us/batch", "ms per block"] {
            assert_eq!(Unit::read(unit).unwrap().base, Base::Seconds, "{unit}");
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
            assert_eq!(Unit::read(unit).unwrap().base == Base::Packets, packets, "{unit}");
        }
    }

    #[test]
    fn suggestions_are_known() {
        for metric in [Metric::Rate, Metric::Throughput, Metric::Latency] {
            let all = usual(metric);
            assert!(all.len() > 5, "{all:?}");
            assert!(all.iter().all(|unit| Unit::read(unit).unwrap().base.metric() == metric));
        }
        for (text, base) in [
            ("bytes/s", Some(Base::Bytes)),
            ("B/s", Some(Base::Bytes)),
            ("bit/s", Some(Base::Bits)),
            ("flop/s", Some(Base::Operations)),
            ("packets/s", Some(Base::Packets)),
            ("sec", Some(Base::Seconds)),
            ("b/s", None),
            ("MB/s", None),
            ("cycles", None),
        ] {
            assert_eq!(Unit::read_base(text), base, "{text}");
        }
    }
}
