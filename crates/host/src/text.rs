//! Small formats of /proc and /sys that several probes read: lists of CPUs, `key: value` lines,
//! sizes in K or M.

/// Maximum CPU number, above that of any Linux kernel. Expanding a damaged list could exhaust
/// memory.
const LARGEST_CPU: u32 = 65_535;

/// Parses a list of CPUs such as `0-3,8,10-11` into sorted, distinct numbers. An empty list has no
/// CPU. An error quotes the list.
pub(crate) fn cpu_list(text: &str) -> Result<Vec<u32>, String> {
    let error = || {
        let begin: String = text.trim().chars().take(60).collect();
        format!("'{begin}' is not a list of CPUs")
    };
    let mut cpus = Vec::new();
    for part in text.trim().split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().map_err(|_| error())?;
        let last: u32 = last.trim().parse().map_err(|_| error())?;
        if first > last || last > LARGEST_CPU {
            return Err(error());
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// Formats CPUs as a list such as `0-3,8`.
pub(crate) fn format_cpus(cpus: &[u32]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = cpus;
    while let [first, ..] = rest {
        let run = rest.iter().zip(*first..).take_while(|(a, b)| **a == *b).count();
        let last = rest[run - 1];
        parts.push(if run == 1 { first.to_string() } else { format!("{first}-{last}") });
        rest = &rest[run..];
    }
    parts.join(",")
}

/// Returns the trimmed value of the first line `key : value`.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// Parses a cache size of sysfs into bytes, such as `48K`, `2M` or `512`.
pub(crate) fn cache_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Parses `123 kB` of /proc/meminfo into bytes.
pub(crate) fn kilobytes(text: &str) -> Option<u64> {
    text.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the word in brackets of `always [madvise] never`.
pub(crate) fn bracketed(text: &str) -> Option<&str> {
    text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))
}

/// True for a text of digits only.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Parses a number such as `0x41` or `65`.
pub(crate) fn hexadecimal(text: &str) -> Option<u32> {
    match text.trim().strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.trim().parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(cpu_list("0-3,8,10-11\n"), Ok(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(cpu_list("5,1,1"), Ok(vec![1, 5]));
        assert_eq!(cpu_list(" \n"), Ok(vec![]));
        for bad in ["3-1", "a", "1-", "-1", "0-4294967295", "70000", "1..2"] {
            assert!(cpu_list(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_and_fields() {
        assert_eq!(cache_size("48K"), Some(49_152));
        assert_eq!(cache_size("2M\n"), Some(2 << 20));
        assert_eq!(cache_size("512"), Some(512));
        for bad in ["", "K", "4.5K", "99999999999999999999K", "18446744073709551615G"] {
            assert_eq!(cache_size(bad), None, "{bad}");
        }
        assert_eq!(kilobytes("24684084 kB"), Some(25_276_502_016));
        assert_eq!(kilobytes("24684084"), None);
        assert_eq!(field("a : 1\nb\t: x y \nb: z", "b"), Some("x y"));
        assert_eq!(field("a: 1", "b"), None);
        assert_eq!(hexadecimal("0x41"), Some(65));
        assert_eq!(hexadecimal("8"), Some(8));
        assert_eq!(hexadecimal("0xzz"), None);
    }

    proptest! {
        #[test]
        fn lists_come_back(cpus in proptest::collection::btree_set(0_u32..300, 0..60)) {
            let cpus: Vec<u32> = cpus.into_iter().collect();
            prop_assert_eq!(cpu_list(&format_cpus(&cpus)), Ok(cpus));
        }
    }
}
