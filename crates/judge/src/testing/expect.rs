//! Tables of cases: a name, the result, and the expectation.
//!
//! Expected words are searched in `^message$ details`, so `^` and `$` mark the ends of the message;
//! ` ... ` separates words that follow each other.

use std::fmt::Display;

use proofmark_model::{Ceiling, Finding, Host, Measurement, Severity, key};

use super::{context, found_on, host_with_disk, host_with_network, judged, policy, spec};
use crate::ceilings::CeilingRule;
use crate::checks::Check;

/// `None` for no finding, or the severity of a finding with words in its message or advice.
pub(crate) type Expected<'a> = Option<(Severity, &'a str)>;

pub(crate) const SILENT: Expected<'static> = None;
pub(crate) const NOTE: Expected<'static> = note("");
pub(crate) const SUSPECT: Expected<'static> = suspect("");
pub(crate) const INVALID: Expected<'static> = invalid("");

pub(crate) const fn note(words: &str) -> Expected<'_> {
    Some((Severity::Note, words))
}

pub(crate) const fn suspect(words: &str) -> Expected<'_> {
    Some((Severity::Suspect, words))
}

pub(crate) const fn not_run(words: &str) -> Expected<'_> {
    Some((Severity::NotRun, words))
}

pub(crate) const fn invalid(words: &str) -> Expected<'_> {
    Some((Severity::Invalid, words))
}

/// A machine on which healthy results of this kind have no findings.
pub(crate) fn usual_host(m: &Measurement) -> Host {
    m.params.get(key::PATH).map_or_else(host_with_disk, host_with_network)
}

/// Asserts that the text has these words, one after the other.
#[track_caller]
pub(crate) fn expect_words(name: &dyn Display, message: &str, details: &str, words: &str) {
    let text = format!("^{message}$ {details}");
    let mut rest = text.as_str();
    for part in words.split(" ... ") {
        let Some((_, after)) = rest.split_once(part) else {
            panic!("{name}: no '{part}' in '{text}'")
        };
        rest = after;
    }
}

/// Asserts the bottleneck of a result: its resource as the message, its evidence as the details;
/// `none` and the reason if it has none.
#[track_caller]
pub(crate) fn expect_bottleneck(host: &Host, m: Measurement, others: &[Measurement], words: &str) {
    let m = judged(host, m, others);
    let (resource, details) = match &m.bottleneck {
        Some(bottleneck) => (bottleneck.resource.as_str(), &bottleneck.evidence),
        None => ("none", &m.missing["bottleneck"]),
    };
    expect_words(&m.workload, resource, details, words);
}

impl Check {
    /// The check's finding for a result on the usual machine.
    pub(crate) fn found(&self, m: Measurement) -> Option<Finding> {
        found_on(&usual_host(&m), self, m, &[])
    }

    /// Asserts the findings of each case on the usual machine.
    #[track_caller]
    pub(crate) fn expect<'e>(
        &self,
        cases: impl IntoIterator<Item = (impl Display, Measurement, Expected<'e>)>,
    ) {
        for (name, m, expected) in cases {
            self.on(&usual_host(&m), &[]).expect([(name, m, expected)]);
        }
    }

    /// The check on that machine, in a run with these other results.
    pub(crate) fn on<'a>(&'a self, host: &'a Host, others: &'a [Measurement]) -> On<'a, Self> {
        On { what: self, host, others }
    }
}

impl CeilingRule {
    /// The rule on that machine, in a run with these other results.
    pub(crate) fn on<'a>(&'a self, host: &'a Host, others: &'a [Measurement]) -> On<'a, Self> {
        On { what: self, host, others }
    }
}

/// A check or a rule with the machine and the other results of a test.
pub(crate) struct On<'a, T> {
    what: &'a T,
    host: &'a Host,
    others: &'a [Measurement],
}

impl On<'_, Check> {
    /// Asserts the findings of each case on that machine.
    #[track_caller]
    pub(crate) fn expect<'e>(
        &self,
        cases: impl IntoIterator<Item = (impl Display, Measurement, Expected<'e>)>,
    ) {
        for (name, m, expected) in cases {
            let found = found_on(self.host, self.what, m, self.others);
            assert_eq!(
                found.as_ref().map(|f| f.severity),
                expected.map(|e| e.0),
                "{name}: {found:?}"
            );
            if let Some((finding, (_, words))) = found.zip(expected) {
                expect_words(&name, &finding.message, &finding.advice, words);
            }
        }
    }
}

impl On<'_, CeilingRule> {
    pub(crate) fn derive(&self, m: &Measurement) -> Result<Ceiling, String> {
        let policy = policy();
        (self.what.derive)(&context(self.host, &spec(&m.workload), &policy, self.others), m)
    }

    /// Asserts the value of each case's ceiling, or words of the reason why there is none.
    #[track_caller]
    pub(crate) fn expect<'e>(
        &self,
        cases: impl IntoIterator<Item = (impl Display, Measurement, Result<f64, &'e str>)>,
    ) {
        for (name, m, expected) in cases {
            match (self.derive(&m), expected) {
                (Ok(c), Ok(value)) => {
                    assert!((c.value / value - 1.0).abs() < 1e-9, "{name}: {} of {value}", c.value);
                }
                (Err(why), Err(words)) => expect_words(&name, &why, "", words),
                (derived, expected) => panic!("{name}: {derived:?} instead of {expected:?}"),
            }
        }
    }
}
