//! Units as reports write them: `MBps`, `kBytes/sec`, `Gbits/sec`, `MSec`, `GFLOPS`.

/// What a unit may mean in base units. Prefixes of bytes are read as powers of 1000, of 1024
/// and as mixtures of both, since reports mean any of them.
pub(crate) fn factors(unit: &str, si_unit: &str) -> Option<Vec<f64>> {
    let word = unit.split([' ', '(']).next()?;
    let si = |names: &[&str]| names.iter().any(|n| si_unit.eq_ignore_ascii_case(n));
    if si(&["seconds", "s"]) {
        return seconds(word).map(|f| vec![f]);
    }
    let base = word
        .strip_suffix("/sec")
        .or_else(|| word.strip_suffix("/s"))
        .or_else(|| word.strip_suffix("ps"))
        .unwrap_or(word);
    let (prefix, bits) = bytes_or_bits(base)?;
    let wanted_bits = si(&["bits/s", "bit/s"]);
    if !wanted_bits && !si(&["bytes/s", "byte/s", "b/s"]) {
        return None;
    }
    let scale = match (bits, wanted_bits) {
        (true, false) => 0.125,
        (false, true) => 8.0,
        _ => 1.0,
    };
    let (power, binary) = power(prefix)?;
    // 1000^power, with some or all of the thousands being 1024.
    let all = (0..=power).map(|kibi| 1024_f64.powi(kibi) * 1000_f64.powi(power - kibi));
    let all: Vec<f64> = all.map(|f| f * scale).collect();
    Some(if binary { all.last().copied().into_iter().collect() } else { all })
}

fn seconds(word: &str) -> Option<f64> {
    let word = word.to_ascii_lowercase();
    let base = word.strip_suffix("seconds").or_else(|| word.strip_suffix("sec"));
    match base.or_else(|| word.strip_suffix('s'))? {
        "" => Some(1.0),
        "m" | "milli" => Some(1e-3),
        "u" | "µ" | "micro" => Some(1e-6),
        "n" | "nano" => Some(1e-9),
        _ => None,
    }
}

/// The prefix, and whether bits are meant.
fn bytes_or_bits(base: &str) -> Option<(&str, bool)> {
    let suffixes = [
        ("Bytes", false),
        ("bytes", false),
        ("Byte", false),
        ("byte", false),
        ("bits", true),
        ("bit", true),
        ("B", false),
        ("b", true),
    ];
    suffixes.into_iter().find_map(|(s, bits)| Some((base.strip_suffix(s)?, bits)))
}

/// Power of 1000, and whether 1024 is meant for sure.
fn power(prefix: &str) -> Option<(i32, bool)> {
    let (letter, binary) = match prefix.strip_suffix('i') {
        Some(letter) => (letter, true),
        None => (prefix, false),
    };
    match letter {
        "" if !binary => Some((0, false)),
        "k" | "K" => Some((1, binary)),
        "m" | "M" => Some((2, binary)),
        "g" | "G" => Some((3, binary)),
        "t" | "T" => Some((4, binary)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_as_reports_write_them() {
        for (unit, si, first, count) in [
            ("MB/s", "bytes/s", 1e6, 3),
            ("MBps", "bytes/s", 1e6, 3),
            ("kBytes/sec", "bytes/s", 1e3, 2),
            ("GiB/s", "bytes/s", 1_073_741_824.0, 1),
            ("Mb/s", "bits/s", 1e6, 3),
            ("Gbits/sec", "bits/s", 1e9, 4),
            ("MB/s", "bits/s", 8e6, 3),
            ("Mbit/s", "bytes/s", 125e3, 3),
            ("MSec", "seconds", 1e-3, 1),
            ("us (as the text says)", "seconds", 1e-6, 1),
            ("s", "seconds", 1.0, 1),
            ("seconds", "seconds", 1.0, 1),
            ("ns", "s", 1e-9, 1),
            ("MByte/s", "bytes/s", 1e6, 3),
            ("kbyte/s", "bytes/s", 1e3, 2),
            ("TB/s", "bytes/s", 1e12, 5),
        ] {
            let found = factors(unit, si).unwrap();
            assert!((found[0] / first - 1.0).abs() < 1e-12, "{unit}: {found:?}");
            assert_eq!(found.len(), count, "{unit}");
        }
        for (unit, si) in
            [("GFLOPS", "ops/s"), ("%", ""), ("furlongs", "seconds"), ("iB", "bytes/s")]
        {
            assert_eq!(factors(unit, si), None, "{unit}");
        }
    }
}
