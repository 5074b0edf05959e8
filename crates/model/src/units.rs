//! Sizes, durations and quantities: parsed as people type them, printed with labels.

use std::time::Duration;

use crate::{Params, Subsystem, Unit, is_quantity, key};

/// The reason why a size, a rate or a duration cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is {1}")]
pub struct ParseError(String, &'static str);

const NO_SIZE: &str = "not a size; write a number with B, KB or KiB, MB or MiB, GB or GiB, TB or TiB, \
    all by 1024, as in 8KB (8192 bytes)";
const NO_WHOLE: &str = "not a whole number of bytes; reports round sizes, and `proofmark run --dry-run` \
    prints them in full, as in 1920MiB";
const TOO_LARGE: &str = "too large";

/// Parses a size in bytes: `8B`, `8KB`, `8k`, `8KiB`, `1.5MB`. Every suffix is a power of 1024, as
/// fio and the published reports write them. Fails if it is no whole number of bytes or does not fit
/// 64 bits.
///
/// ```
/// assert_eq!(proofmark_model::parse_size("8KB"), Ok(8192));
/// assert_eq!(proofmark_model::parse_size("80MiB"), Ok(83_886_080));
/// ```
pub fn parse_size(text: &str) -> Result<u64, ParseError> {
    let fail = |what| ParseError(text.to_owned(), what);
    let trimmed = text.trim();
    let digit_or_point = |c: char| c.is_ascii_digit() || c == '.';
    let (number, suffix) =
        trimmed.split_at(trimmed.len() - trimmed.trim_start_matches(digit_or_point).len());
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || part.is_empty() || part.contains('.') {
        return Err(fail(NO_SIZE));
    }
    let shift = match suffix.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(fail(NO_SIZE)),
    };
    let bytes = whole.parse().ok().and_then(|n: u64| n.checked_mul(1 << shift));
    let bytes = bytes.ok_or_else(|| fail(TOO_LARGE))?;
    let part = fraction(part, shift).ok_or_else(|| fail(NO_WHOLE))?;
    bytes.checked_add(part).ok_or_else(|| fail(TOO_LARGE))
}

/// The bytes of a decimal fraction of a unit; `None` if they are no whole number.
fn fraction(digits: &str, shift: u32) -> Option<u64> {
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let ten = 10_u128.checked_pow(u32::try_from(digits.len()).ok()?)?;
    let bytes = digits.parse::<u128>().ok()?.checked_mul(1 << shift)?;
    (bytes % ten == 0).then(|| u64::try_from(bytes / ten).ok())?
}

/// Formats bytes in full, for [`parse_size`]: `1920MiB`, not `1.9 GiB`.
pub fn exact_size(bytes: u64) -> String {
    const NAMES: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let steps = if bytes == 0 { 0 } else { (bytes.trailing_zeros() / 10).min(4) };
    format!("{}{}", bytes >> (10 * steps), NAMES[steps as usize])
}

/// Parses a rate: `160MB/s`, `1.5GB/s` and `10Gbit/s` are decimal, `50MiB/s` is binary. Operations
/// per second are plain or with k or M: `3000`, `16k`. Zero is no rate.
///
/// ```
/// use proofmark_model::{Unit, parse_rate};
/// assert_eq!(parse_rate("160MB/s", Unit::BytePerSecond), Ok(160e6));
/// assert_eq!(parse_rate("10Gbit/s", Unit::BitPerSecond), Ok(1e10));
/// assert_eq!(parse_rate("16k", Unit::OpPerSecond), Ok(16_000.0));
/// ```
pub fn parse_rate(text: &str, unit: Unit) -> Result<f64, ParseError> {
    let form = match unit {
        Unit::BytePerSecond => "not a rate; write a number with MB/s, GB/s or MiB/s",
        Unit::BitPerSecond => "not a rate; write a number with Mbit/s or Gbit/s",
        _ => "not a number of operations a second; write 3000 or 16k",
    };
    let (number, word) = split_unit(text);
    let typed = Unit::TYPED.iter().find(|(known, of, _)| *known == word && *of == unit);
    let factor = match (unit, word) {
        (Unit::OpPerSecond, "") => Some(1.0),
        (Unit::OpPerSecond, "k" | "K") => Some(1e3),
        (Unit::OpPerSecond, "M") => Some(1e6),
        _ => typed.map(|(.., factor)| *factor),
    };
    let value = number.parse::<f64>().ok().zip(factor).map(|(n, f)| n * f);
    let value = value.filter(|v| *v > 0.0 && is_quantity(*v));
    value.ok_or_else(|| ParseError(text.to_owned(), form))
}

/// Splits a text into a decimal number and the word after it.
pub fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, word) = text.split_at(end);
    (number, word.trim())
}

impl Unit {
    /// Returns true if it counts work, which a run delivers in its time. A clock counts none: it
    /// also runs while other processes use the core.
    pub fn is_work(self) -> bool {
        self != Self::Hertz
    }

    /// Units as people type them, with the value of one of them in the base unit.
    pub const TYPED: &[(&str, Self, f64)] = &[
        ("s", Self::Second, 1.0),
        ("ms", Self::Second, 1e-3),
        ("us", Self::Second, 1e-6),
        ("\u{b5}s", Self::Second, 1e-6),
        ("ns", Self::Second, 1e-9),
        ("B/s", Self::BytePerSecond, 1.0),
        ("kB/s", Self::BytePerSecond, 1e3),
        ("KB/s", Self::BytePerSecond, 1e3),
        ("MB/s", Self::BytePerSecond, 1e6),
        ("GB/s", Self::BytePerSecond, 1e9),
        ("TB/s", Self::BytePerSecond, 1e12),
        ("KiB/s", Self::BytePerSecond, 1024.0),
        ("MiB/s", Self::BytePerSecond, 1_048_576.0),
        ("GiB/s", Self::BytePerSecond, 1_073_741_824.0),
        ("bit/s", Self::BitPerSecond, 1.0),
        ("kbit/s", Self::BitPerSecond, 1e3),
        ("Mbit/s", Self::BitPerSecond, 1e6),
        ("Gbit/s", Self::BitPerSecond, 1e9),
        ("Tbit/s", Self::BitPerSecond, 1e12),
        ("FLOP/s", Self::FlopPerSecond, 1.0),
        ("MFLOP/s", Self::FlopPerSecond, 1e6),
        ("GFLOP/s", Self::FlopPerSecond, 1e9),
        ("TFLOP/s", Self::FlopPerSecond, 1e12),
        ("op/s", Self::OpPerSecond, 1.0),
        ("kop/s", Self::OpPerSecond, 1e3),
        ("Mop/s", Self::OpPerSecond, 1e6),
        ("Gop/s", Self::OpPerSecond, 1e9),
        ("Top/s", Self::OpPerSecond, 1e12),
        ("IOPS", Self::OpPerSecond, 1.0),
        ("kIOPS", Self::OpPerSecond, 1e3),
        ("Hz", Self::Hertz, 1.0),
        ("MHz", Self::Hertz, 1e6),
        ("GHz", Self::Hertz, 1e9),
    ];
}

/// Parses a duration: `30s`, `5m`, `250ms`, `1h30m`; not zero.
pub fn parse_duration(text: &str) -> Result<Duration, ParseError> {
    let duration = humantime::parse_duration(text.trim()).ok().filter(|d| !d.is_zero());
    let form = "not a duration; write 250ms, 30s, 5m or 1h30m";
    duration.ok_or_else(|| ParseError(text.to_owned(), form))
}

/// Formats bytes for people: `64 B`, `32 KiB`, `1.5 GiB`.
pub fn format_size(bytes: u64) -> String {
    const NAMES: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let steps = (bytes.ilog2() / 10).min(4);
    let value = bytes as f64 / f64::from(1024).powi(steps as i32);
    let name = NAMES[steps as usize - 1];
    match value {
        _ if value.fract() == 0.0 => format!("{value:.0} {name}"),
        // Rounded to 64.0 KiB, the largest datagram would be as long as a block of 64 KiB.
        _ if bytes < EXACT && (10.0 * value).fract() != 0.0 => {
            format!("{} B", format_count(bytes))
        }
        _ => format!("{value:.1} {name}"),
    }
}

/// Sizes below this number of bytes, such as those of datagrams, are not rounded.
const EXACT: u64 = 1 << 16;

/// A scale and a label for numbers, such as `GFLOP/s` for `64.1`.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// Factor from a base value to the number.
    pub factor: f64,
    /// Label with its prefix.
    pub label: String,
}

impl Quantity {
    /// Returns the decimal prefix that suits a value of this size. Use one for a whole table or
    /// axis: choose it by the largest value.
    pub fn suited(value: f64, unit: Unit) -> Self {
        let magnitude = value.abs();
        let steps: &[(f64, &str)] = if unit == Unit::Second {
            &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")]
        } else {
            &[(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")]
        };
        let suited = steps.iter().find(|(s, _)| magnitude >= *s).or(steps.last());
        let (scale, prefix) = suited.copied().unwrap_or((1.0, ""));
        let label = match unit {
            Unit::Second => prefix.to_owned(),
            _ => format!("{prefix}{unit}"),
        };
        Self { factor: 1.0 / scale, label }
    }

    /// Returns the scale of a result's value, the same wherever it is shown: of a disk's random I/O
    /// the operations per second. Those, and commits, have no prefix on a disk.
    pub fn for_result(
        value: f64,
        unit: Unit,
        (subsystem, random): (Subsystem, bool),
        params: &Params,
    ) -> Self {
        let uses_disks = subsystem.info().uses_block_devices;
        let is_counted = random && uses_disks && unit == Unit::BytePerSecond;
        let iops = params.get(key::BLOCK_SIZE).filter(|_| is_counted).and_then(Self::iops);
        iops.unwrap_or_else(|| match uses_disks && unit == Unit::OpPerSecond {
            true => Self::suited(1.0, unit),
            false => Self::suited(value, unit),
        })
    }

    /// Returns the scale that shows bytes per second as I/Os per second of that block size; `None`
    /// if it is 0.
    pub fn iops(block: u64) -> Option<Self> {
        let factor = 1.0 / block as f64;
        factor.is_finite().then(|| Self { factor, label: "IOPS".to_owned() })
    }

    /// Formats a value with the label.
    pub fn with_label(&self, value: f64) -> String {
        format!("{} {}", self.number(value), self.label)
    }

    /// Formats the number alone, with four significant digits.
    pub fn number(&self, value: f64) -> String {
        significant(value * self.factor)
    }

    /// Formats the number of a value that somebody chose: all its digits, without those that the
    /// scale's rounding adds.
    pub fn chosen(&self, value: f64) -> String {
        let text = format!("{:.9}", value * self.factor);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// Formats four significant digits without an exponent.
fn significant(value: f64) -> String {
    let decimals = [1000.0, 100.0, 10.0].iter().filter(|least| value.abs() < **least).count();
    format!("{value:.decimals$}")
}

/// Formats a value with its label: `64.12 GFLOP/s`.
pub fn format_quantity(value: f64, unit: Unit) -> String {
    Quantity::suited(value, unit).with_label(value)
}

/// Formats seconds for people: `250 ms`, `12 s`, `3 min 20 s`.
pub fn format_seconds(seconds: f64) -> String {
    if seconds < 1.0 {
        return format_quantity(seconds, Unit::Second);
    }
    let whole = seconds.round() as u64;
    match (whole / 3600, whole % 3600 / 60, whole % 60) {
        (0, 0, s) if seconds < 10.0 && s < 10 => format!("{seconds:.1} s"),
        (0, 0, s) => format!("{s} s"),
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// Formats a count with thousands apart: `1 000 000`.
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join("\u{202f}")
}

/// Formats a share as a percentage: `2.5 %`; an extreme one as a multiple, `-` if it is no number.
///
/// ```
/// use proofmark_model::format_percent;
/// assert_eq!([0.0254, 1.0, -0.0001].map(format_percent), ["2.5 %", "100.0 %", "0.0 %"]);
/// assert_eq!([2e7, f64::NAN].map(format_percent), ["2e7 times", "-"]);
/// ```
pub fn format_percent(share: f64) -> String {
    match percent_digits(share) {
        Some(digits) => format!("{digits} %"),
        None if share.is_finite() => format!("{share:.0e} times"),
        None => "-".to_owned(),
    }
}

/// Formats a share in percent without the sign: `2.5`; `None` if it is not finite or from 1e6 on.
pub fn percent_digits(share: f64) -> Option<String> {
    let digits = format!("{:.1}", 100.0 * share);
    // A number rounded to zero has no sign.
    let digits = if digits == "-0.0" { "0.0".to_owned() } else { digits };
    (share.abs() < 1e6).then_some(digits)
}

/// Formats a factor with three digits: `0.476`, `2.06`, `193`; `-` if it is no number.
pub fn format_factor(factor: f64) -> String {
    match factor.abs() {
        r if !r.is_finite() => "-".to_owned(),
        r if !(0.000_995..9999.5).contains(&r) => format!("{factor:.2e}"),
        r if r >= 99.95 => format!("{factor:.0}"),
        r if r >= 9.995 => format!("{factor:.1}"),
        r if r >= 0.995 => format!("{factor:.2}"),
        r if r >= 0.0995 => format!("{factor:.3}"),
        _ => format!("{factor:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_chosen_value_keeps_its_digits_and_gets_no_others() {
        for (value, text) in [
            (30e9, "30 Gbit/s"),
            (3e9, "3 Gbit/s"),
            (7e8, "700 Mbit/s"),
            (1_048_576.0, "1.048576 Mbit/s"),
            (1_100.0, "1.1 kbit/s"),
            (0.0, "0 bit/s"),
            (200.0, "200 bit/s"),
        ] {
            let scale = Quantity::suited(value, Unit::BitPerSecond);
            assert_eq!(format!("{} {}", scale.chosen(value), scale.label), text);
        }
    }

    #[test]
    fn a_factor_has_three_digits() {
        let numbers = [12_345.0, 9_999.4, 128.4, 12.84, 9.997, 1.284, 0.1284, 0.01284, 0.0001284];
        let texts = ["1.23e4", "9999", "128", "12.8", "10.0", "1.28", "0.128", "0.0128", "1.28e-4"];
        assert_eq!(numbers.map(format_factor), texts);
        assert_eq!([format_factor(f64::NAN), format_factor(f64::INFINITY)], ["-", "-"]);
    }

    #[test]
    fn sizes_as_people_type_them() {
        for (text, bytes) in [
            ("1B", 1),
            ("8", 8),
            ("8B", 8),
            ("8KB", 8192),
            ("8k", 8192),
            ("8KiB", 8192),
            ("1 MB", 1 << 20),
            ("80MB", 80 << 20),
            ("1g", 1 << 30),
            ("2TiB", 2 << 40),
            ("1.5 GiB", 3 << 29),
            ("1.50KB", 1536),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "KB", "-1", "1.KB", ".5KB", "1.2.3KB", "8XB", "8KBs", "0x10", "٣"] {
            assert_eq!(parse_size(bad).unwrap_err().1, NO_SIZE, "{bad}");
        }
        for broken in ["1.9GiB", "0.5", "1.0000000000000000000000000000000000000000001KB"] {
            assert_eq!(parse_size(broken).unwrap_err().1, NO_WHOLE, "{broken}");
        }
        for big in ["18446744073709551616", "99999999999TB", "16777216TB"] {
            assert_eq!(parse_size(big).unwrap_err().1, TOO_LARGE, "{big}");
        }
    }

    #[test]
    fn rates_are_possible_ones() {
        let rate =
            |zeros: usize| parse_rate(&format!("1{}GB/s", "0".repeat(zeros)), Unit::BytePerSecond);
        assert!(rate(50).is_ok() && rate(52).is_err());
    }

    #[test]
    fn durations_as_people_type_them() {
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("5m"), Ok(Duration::from_secs(300)));
        for bad in ["", "0s", "5", "-3s", "1 fortnight"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn quantities_carry_their_label() {
        assert_eq!(format_quantity(64.123e9, Unit::FlopPerSecond), "64.12 GFLOP/s");
        assert_eq!(format_quantity(0.0, Unit::OpPerSecond), "0.000 op/s");
        assert_eq!(format_quantity(5.2e-9, Unit::Second), "5.200 ns");
        assert_eq!(format_size(32768), "32 KiB");
        assert_eq!(
            (format_size(1920 << 20), exact_size(1920 << 20)),
            ("1.9 GiB".into(), "1920MiB".into())
        );
        assert_eq!(format_size(1), "1 B");
        assert_eq!(format_size(1536), "1.5 KiB");
        assert_eq!(format_size(65_507), "65\u{202f}507 B", "not 64.0 KiB");
        assert_eq!(format_size(1472), "1\u{202f}472 B", "not 1.4 KiB");
        assert_eq!(format_size(187_500), "183.1 KiB");
        assert_eq!(format_size(25_232_932_864), "23.5 GiB");
        assert_eq!(format_size(503_316_480), "480 MiB");
        assert_eq!(format_seconds(0.25), "250.0 ms");
        assert_eq!(format_seconds(200.0), "3 min 20 s");
        assert_eq!(format_count(1_000_000), "1\u{202f}000\u{202f}000");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = parse_size(&text);
            let _ = parse_duration(&text);
        }

        #[test]
        fn sizes_come_back(n in 0_u64..1 << 40) {
            prop_assert_eq!(parse_size(&format!("{n}B")), Ok(n));
            prop_assert_eq!(parse_size(&exact_size(n)), Ok(n));
        }
    }
}
