//! Values of options: limits that a user declares, `--limit disk.read=160MB/s`,
//! `network.send=10Gbit/s`, and shares, `--margin 3%`.

use proofmark_model::{Limit, parse_rate};
use proofmark_run::unknown;

/// `NAME=VALUE`, in base units.
///
/// # Errors
/// What was wrong, in one line.
pub fn parse(text: &str) -> Result<(String, f64), String> {
    const FORM: &str = "write NAME=VALUE, as in disk.read=160MB/s";
    let (name, value) = text.split_once('=').ok_or(FORM)?;
    let limit = Limit::find(name).ok_or_else(|| {
        let names = Limit::ALL.into_iter().map(Limit::name);
        let about = if name.starts_with("network") { "network.limit" } else { "disk.limit" };
        unknown("limit", name, names, &format!("proofmark explain {about}"))
    })?;
    let value = parse_rate(value, limit.unit()).map_err(|e| e.to_string())?;
    Ok((limit.name().to_owned(), value))
}

/// A margin as people type it: `0.03`, `3%` or `3 %`.
///
/// # Errors
/// If it is not a fraction from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, whole) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().ok().map(|n| n / whole).filter(|s| (0.0..=1.0).contains(s));
    share.ok_or_else(|| "write a fraction from 0 to 1, such as 0.03 or 3%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_decimal_and_counts_plain() {
        assert_eq!(parse("disk.read=160MB/s"), Ok(("disk.read".to_owned(), 160e6)));
        assert_eq!(parse("disk.write=1.5GB/s"), Ok(("disk.write".to_owned(), 1.5e9)));
        assert_eq!(parse("disk.read=50MiB/s"), Ok(("disk.read".to_owned(), 52_428_800.0)));
        assert_eq!(parse("disk.read_iops=3000"), Ok(("disk.read_iops".to_owned(), 3000.0)));
        assert_eq!(parse("disk.read_iops=16k"), Ok(("disk.read_iops".to_owned(), 16_000.0)));
        assert_eq!(parse("network.send=10Gbit/s"), Ok(("network.send".to_owned(), 1e10)));
        assert_eq!(parse("network.receive=100Mbit/s"), Ok(("network.receive".to_owned(), 1e8)));
    }

    #[test]
    fn what_cannot_be_read_is_told_in_one_line() {
        for bad in [
            "disk.read",
            "disk.reed=1MB/s",
            "disk.read=",
            "disk.read=-1MB/s",
            "disk.read=0B/s",
            "disk.read=1e999",
            "disk.read=5",
            "disk.read_iops=5MB/s",
            "disk.read=NaN",
            "disk.read=5Mbit/s",
            "network.send=5MB/s",
            "network.send=10G",
            "network.receive=0bit/s",
        ] {
            let e = parse(bad).unwrap_err();
            assert!(!e.is_empty() && !e.contains('\n'), "{bad}: {e}");
        }
        assert!(parse("disk.reed=1MB/s").unwrap_err().contains("did you mean 'disk.read'"));
        assert!(
            parse("network: bytes a second=1Mbit/s").unwrap_err().contains("explain network.limit")
        );
    }
}
