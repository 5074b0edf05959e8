//! Values of options: limits (`--limit disk.read=160MB/s`), shares, addresses, numbers of trials.

use std::net::{IpAddr, SocketAddr};

use proofmark_model::{Limit, clean_excerpt, parse_rate};
use proofmark_peer::DEFAULT_PORT;
use proofmark_run::unknown;

/// Most runs of one command: each has a directory and a row of the history.
pub const MOST_RUNS: u32 = 10_000;

/// Maximum characters of a label.
const LONGEST_LABEL: usize = 60;

/// Parses `NAME=VALUE` to the name and the value in base units.
pub fn parse(text: &str) -> Result<(String, f64), String> {
    const FORM: &str = "write NAME=VALUE, as in disk.read=160MB/s";
    let (name, value) = text.split_once('=').ok_or(FORM)?;
    let limit = Limit::find(name).ok_or_else(|| {
        let names = || Limit::ALL.into_iter().map(Limit::name);
        let mut parts = names().filter_map(|known| known.split('.').next());
        let part = parts.find(|part| name.starts_with(part)).unwrap_or("disk");
        let begins = format!("{part}.");
        let mut of_part = names().filter(|known| known.starts_with(&begins));
        match (of_part.next(), of_part.next()) {
            (Some(only), None) if name.starts_with(&begins) => {
                format!("no limit '{name}'; did you mean '{only}'?")
            }
            _ => unknown("limit", name, names(), &format!("proofmark explain {part}.limit")),
        }
    })?;
    let value = parse_rate(value, limit.unit()).map_err(|e| e.to_string())?;
    Ok((limit.name().to_owned(), value))
}

/// Parses a fraction: `0.03`, `3%` or `3 %`.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, whole) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().ok().map(|n| n / whole).filter(|s| (0.0..=1.0).contains(s));
    share.ok_or_else(|| "write a fraction from 0 to 1, such as 0.03 or 3%".to_owned())
}

/// Parses a name of a few words into one line.
pub fn label(text: &str) -> Result<String, String> {
    let clean = clean_excerpt(text.trim(), LONGEST_LABEL);
    match clean.is_empty() {
        true => Err("write a name, such as web-3".to_owned()),
        false => Ok(clean),
    }
}

/// Parses a margin, a fraction below 1.
pub fn margin(text: &str) -> Result<f64, String> {
    let below_all = share(text)?;
    (below_all < 1.0).then_some(below_all).ok_or_else(|| "a margin is below 100%".to_owned())
}

/// Parses an IP address with or without a port.
pub fn bind(text: &str) -> Result<SocketAddr, String> {
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    let with_default = |ip: IpAddr| SocketAddr::new(ip, DEFAULT_PORT);
    text.parse().or_else(|_| bare.parse().map(with_default)).map_err(|_| {
        "write an IP address of this machine, such as 10.0.0.5, 10.0.0.5:6000 or 0.0.0.0".to_owned()
    })
}

/// Parses a number from 1 on.
pub fn count(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| *n > 0);
    number.ok_or_else(|| "write a whole number from 1 on".to_owned())
}

/// Parses a number of runs, of which there are several.
pub fn runs(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (2..=MOST_RUNS).contains(n));
    number.ok_or_else(|| format!("write a whole number from 2 to {MOST_RUNS}"))
}

/// A number of trials; `None`: as many as the interval needs.
pub type Trials = Option<u32>;

/// Parses a number of trials, or `auto`.
pub fn trials(text: &str) -> Result<Trials, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(None),
        (_, Ok(n @ 1..=1000)) => Ok(Some(n)),
        _ => Err("write a number from 1 to 1000, or auto".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_decimal_and_counts_plain() {
        for (name, value, number) in [
            ("disk.read", "160MB/s", 160e6),
            ("disk.write", "1.5GB/s", 1.5e9),
            ("disk.read", "50MiB/s", 52_428_800.0),
            ("disk.read_iops", "3000", 3000.0),
            ("disk.read_iops", "16k", 16_000.0),
            ("memory.dram", "76.8GB/s", 76.8e9),
            ("network.send", "10Gbit/s", 1e10),
            ("network.receive", "100Mbit/s", 1e8),
        ] {
            assert_eq!(parse(&format!("{name}={value}")), Ok((name.to_owned(), number)));
        }
    }

    #[test]
    fn an_invalid_limit_is_reported_in_one_line() {
        let bad = "disk.read disk.reed=1MB/s disk.read= disk.read=-1MB/s disk.read=0B/s \
                   disk.read=1e999 disk.read=5 disk.read_iops=5MB/s disk.read=NaN \
                   disk.read=5Mbit/s network.send=5MB/s network.send=10G network.receive=0bit/s";
        for bad in bad.split_whitespace() {
            let e = parse(bad).unwrap_err();
            assert!(!e.is_empty() && !e.contains('\n'), "{bad}: {e}");
        }
        for (bad, word) in [
            ("disk.reed=1MB/s", "did you mean 'disk.read'"),
            ("network: bytes a second=1Mbit/s", "explain network.limit"),
            ("memory: bytes a second=1GB/s", "explain memory.limit"),
            ("memory.bandwidth=1GB/s", "did you mean 'memory.dram'"),
            ("memory.dran=1GB/s", "did you mean 'memory.dram'"),
        ] {
            assert!(parse(bad).unwrap_err().contains(word), "{bad}");
        }
    }
}
