//! A line of nuttcp's output, for people or with key=value pairs (-fparse).

use std::collections::BTreeMap;

use proofmark_model::Datagrams;

use crate::Malformed;
use crate::printed::{Rounded, agree};
use crate::text::{need, wrong_if};

/// The end that a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Transmitter,
    Receiver,
}

/// The content of a line.
pub(super) struct Line<'a> {
    pub(super) at: usize,
    /// The end, in a line of -v.
    pub(super) end: Option<End>,
    /// The identifier of the run (-I).
    pub(super) label: &'a str,
    /// The text after the end and the label.
    pub(super) text: &'a str,
    /// The measured values as words, by the keys of -fparse.
    values: BTreeMap<&'a str, &'a str>,
}

/// The keys of -fparse for the values before these units.
const UNITS: [(&str, &str); 9] = [
    ("MB", MEGABYTES),
    ("sec", SECONDS),
    // in 1.00 real seconds
    ("real", SECONDS),
    ("Mbps", RATE),
    ("%TX", "tx_cpu"),
    ("%RX", "rx_cpu"),
    ("%loss", "data_loss"),
    ("~%loss", "data_loss"),
    ("retrans", "retrans"),
];
const MEGABYTES: &str = "megabytes";
const SECONDS: &str = "real_seconds";
const RATE: &str = "rate_Mbps";

/// The maximum number of words read in a line.
const WORDS: usize = 60;

impl<'a> Line<'a> {
    /// Parses a line; `None` if it is not nuttcp's.
    pub(super) fn parse(line: &'a str, at: usize) -> Option<Self> {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("nuttcp-") {
            let (end, text) = rest.split_once(": ")?;
            let label = end.get(1..)?;
            let end = match end.get(..1)? {
                "t" => End::Transmitter,
                "r" => End::Receiver,
                _ => return None,
            };
            let label = label.strip_prefix('-').unwrap_or("");
            return Some(Self { at, end: Some(end), label, text, values: values(text) });
        }
        let amount = |text: &str| text.starts_with("megabytes=") || is_brief(text);
        let (label, text) = match line.split_once(": ") {
            Some((label, text)) if is_label(label) => (label, text.trim_start()),
            _ => ("", line),
        };
        let found = Self { at, end: None, label, text, values: values(text) };
        let whole = [MEGABYTES, SECONDS, RATE].iter().all(|key| found.get(key).is_some());
        (amount(text) && whole).then_some(found)
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        self.values.get(key).copied()
    }

    /// Returns the value of a key as a number that is not negative, if the line has it.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, Malformed> {
        self.get(key).map(|word| crate::text::number(word, self.at)).transpose()
    }

    pub(super) fn whole(&self, key: &str) -> Result<Option<u64>, Malformed> {
        self.get(key).map(|word| crate::text::whole(word, self.at)).transpose()
    }

    /// Returns the amount and the time, if the line has them.
    pub(super) fn amount(&self) -> Result<Option<Amount>, Malformed> {
        let all = [MEGABYTES, SECONDS, RATE].map(|key| self.get(key));
        let [Some(megabytes), Some(seconds), Some(rate)] = all else { return Ok(None) };
        let [megabytes, seconds, rate] =
            [megabytes, seconds, rate].map(|word| Rounded::parse(word, self.at));
        let bytes = megabytes?.times(MEGABYTE);
        Ok(Some(Amount { at: self.at, bytes, printed: seconds?, rate: rate?.times(1e6) }))
    }

    /// Returns the datagrams sent and received. The number of lost ones may be negative.
    pub(super) fn datagrams(&self) -> Result<Option<Datagrams>, Malformed> {
        let Some((lost, all)) = self.get("drop").zip(self.get("pkt")) else { return Ok(None) };
        let sent = crate::text::whole(all, self.at)?;
        let received = lost.parse::<i64>().ok().map(|lost| i128::from(sent) - i128::from(lost));
        let received = received.and_then(|count| u64::try_from(count).ok());
        let received = need(
            received,
            self.at,
            "more datagrams are lost than sent, or the numbers are invalid",
        )?;
        Ok(Some(Datagrams { sent, received, ..Datagrams::default() }))
    }

    /// Returns true if the line covers the whole run, not an interval.
    pub(super) fn is_total(&self) -> bool {
        self.get("tx_cpu").is_some() || self.get("rx_cpu").is_some()
    }
}

/// Returns true if a text is nuttcp's label (-I), not another program's prefix.
fn is_label(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@');
    text.chars().all(is_part) && !text.chars().all(|c| c.is_ascii_digit())
}

/// Returns true for `874.37 MB /   1.00 sec = ...`
fn is_brief(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.next().is_some_and(is_number) && words.next() == Some("MB") && words.next() == Some("/")
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

/// Returns the first value of each key. Values after `Tot:` cover the run so far.
fn values(text: &str) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    let (mut before, mut last, mut by_transmitter, mut named) = ("", "", false, "");
    // Lines of CPU seconds repeat the bytes.
    if text.contains("CPU seconds") || text.contains("cpu_seconds=") {
        return found;
    }
    for word in text.split_whitespace().take(WORDS).map(|word| word.trim_end_matches(',')) {
        if word == "Tot:" {
            break;
        }
        if let Some((key, value)) =
            word.split_once('=').filter(|(k, v)| !k.is_empty() && !v.is_empty())
        {
            found.entry(if key == "real_sec" { SECONDS } else { key }).or_insert(value);
        } else if let Some((_, key)) = UNITS.into_iter().find(|(unit, _)| *unit == word) {
            if is_number(last) {
                let key = if key == MEGABYTES && by_transmitter { "tx_megabytes" } else { key };
                found.entry(key).or_insert(last);
            }
        } else if matches!(word, "drop/pkt" | "~drop/pkt") {
            found.entry("drop").or_insert(before);
            found.entry("pkt").or_insert(last);
        } else if matches!(word, "tcp" | "udp") {
            found.entry("mode").or_insert(word);
        } else if let Some(number) = word.strip_suffix('%').filter(|word| is_number(word)) {
            let of = if text.contains("user ") { "cpu" } else { "data_loss" };
            found.entry(of).or_insert(number);
        } else if is_number(word) {
            if named == "retrans =" {
                found.entry("retrans").or_insert(word);
            }
            (before, last) = (last, word);
        }
        by_transmitter |= word == "Trans:";
        named = match (word, named) {
            ("retrans", _) => "retrans",
            ("=", "retrans") => "retrans =",
            _ => "",
        };
    }
    found
}

/// An amount with its time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Amount {
    pub(super) at: usize,
    pub(super) bytes: Rounded,
    /// The time in seconds.
    pub(super) printed: Rounded,
    rate: Rounded,
}

impl Amount {
    /// Returns the time, and whether amount, time and rate agree. If they do, the rate gives the
    /// time with more digits.
    pub(super) fn seconds(&self) -> Result<(f64, bool), Malformed> {
        let nothing = self.bytes.value == 0.0 || self.rate.value == 0.0;
        wrong_if(nothing, self.at, "no byte arrived")?;
        let seconds = self.bytes.times(8.0).over(self.rate);
        if agree(seconds, self.printed, 0.0) {
            return Ok((seconds.value, true));
        }
        wrong_if(self.printed.value == 0.0, self.at, "the time is zero")?;
        Ok((self.printed.value, false))
    }
}

/// Bytes of the MB that nuttcp prints.
pub(super) const MEGABYTE: f64 = 1_048_576.0;
