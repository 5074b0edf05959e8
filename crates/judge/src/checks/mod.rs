//! Checks: each looks at one way in which a number can be wrong or disturbed. One
//! file a check; to add one, write the file and add a line to [`ALL`].
//!
//! Each file names its thresholds as constants and says why they are what they are.
//! What a trial suffered is summed up over the trials by `share`, so that one
//! disturbed trial of many does not condemn the median.

mod above_ceiling;
mod burst_credits;
mod bytes_lost;
mod cache_disagreement;
mod clock_disagreement;
mod clock_drop;
mod clusters;
mod compressible_data;
mod core_shared;
mod cpu_saturated;
mod crashed;
mod direct_refused;
mod disagrees;
mod dropped_packets;
mod falling_rate;
mod fragmented;
mod in_cache;
mod inconsistent;
mod interface_disagreement;
mod involuntary_switches;
mod level_change;
mod migration;
mod misplaced_memory;
mod no_device_witness;
mod no_interface_witness;
mod not_a_disk;
mod not_durable;
mod one_machine;
mod other_cpu;
mod oversubscribed;
mod page_cache;
mod page_faults;
mod random_faster;
mod refused;
mod residual;
mod retransmits;
mod scaling;
mod share;
mod shared_device;
mod short_transfer;
mod short_trial;
mod small_file;
mod small_pages;
mod steal;
mod swap;
mod thermal;
mod throttled;
mod trend;
mod udp_loss;
mod unfinished;
mod unverified;
mod unwatched;
mod unwritten_data;
mod wide_interval;
mod work_removed;

use proofmark_model::{Finding, Measurement, Severity};

use crate::Context;

/// One check.
pub struct Check {
    /// Id, as in findings and `proofmark explain ID`.
    pub id: &'static str,
    /// What kind of doubt it raises.
    pub class: Class,
    /// Title for lists.
    pub title: &'static str,
    /// What it looks at, when it weighs how much, and what to do about it.
    pub about: &'static str,
    /// What it finds in a measurement whose ceiling and efficiency are filled in, and whose
    /// `findings` are those of the checks before it in [`ALL`].
    pub examine: Examine,
    /// The same for a reference tool, whose trials stand in for those of a measurement: for checks
    /// that look at nothing but what a tool's output and this machine's counters report. The others
    /// would miss what only our workers report, or judge how trials were taken, which is not the
    /// tool's doing.
    pub examine_reference: Option<Examine>,
}

impl Check {
    fn finding(
        &self,
        severity: Severity,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Finding {
        Finding::new(self.id, severity, message, advice)
    }

    fn note(&self, message: impl Into<String>, advice: impl Into<String>) -> Finding {
        self.finding(Severity::Note, message, advice)
    }

    fn suspect(&self, message: impl Into<String>, advice: impl Into<String>) -> Finding {
        self.finding(Severity::Suspect, message, advice)
    }

    fn invalid(&self, message: impl Into<String>, advice: impl Into<String>) -> Finding {
        self.finding(Severity::Invalid, message, advice)
    }
}

/// Looks at a measurement.
pub type Examine = fn(&Context, &Measurement) -> Option<Finding>;

/// What kind of doubt a check raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Whether the number measures what its name says.
    Claim,
    /// Whether a named cause changed it.
    Disturbance,
    /// Whether its interval is as narrow as aimed for.
    Precision,
    /// What is worth knowing with it.
    Context,
}

impl Class {
    /// The word that is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Disturbance => "disturbance",
            Self::Precision => "precision",
            Self::Context => "context",
        }
    }
}

/// Every check, in the order in which they run: first whether there is a number at
/// all, then whether it can be, then what disturbed it. `core_shared`, `disagrees` and
/// `involuntary_switches` look at what those before them found.
pub static ALL: &[&Check] = &[
    &crashed::CHECK,
    &refused::CHECK,
    &unfinished::CHECK,
    &unverified::CHECK,
    &residual::CHECK,
    &inconsistent::CHECK,
    &above_ceiling::CHECK,
    &work_removed::CHECK,
    &scaling::CHECK,
    &in_cache::CHECK,
    &misplaced_memory::CHECK,
    &small_pages::CHECK,
    &not_a_disk::CHECK,
    &page_cache::CHECK,
    &direct_refused::CHECK,
    &unwritten_data::CHECK,
    &compressible_data::CHECK,
    &not_durable::CHECK,
    &small_file::CHECK,
    &no_device_witness::CHECK,
    &one_machine::CHECK,
    &bytes_lost::CHECK,
    &interface_disagreement::CHECK,
    &no_interface_witness::CHECK,
    &short_transfer::CHECK,
    &udp_loss::CHECK,
    &dropped_packets::CHECK,
    &retransmits::CHECK,
    &cpu_saturated::CHECK,
    &fragmented::CHECK,
    &short_trial::CHECK,
    &wide_interval::CHECK,
    &trend::CHECK,
    &falling_rate::CHECK,
    &level_change::CHECK,
    &burst_credits::CHECK,
    &clusters::CHECK,
    &steal::CHECK,
    &throttled::CHECK,
    &other_cpu::CHECK,
    &oversubscribed::CHECK,
    &involuntary_switches::CHECK,
    &migration::CHECK,
    &thermal::CHECK,
    &clock_drop::CHECK,
    &clock_disagreement::CHECK,
    &swap::CHECK,
    &shared_device::CHECK,
    &page_faults::CHECK,
    &random_faster::CHECK,
    &cache_disagreement::CHECK,
    &unwatched::CHECK,
    &disagrees::CHECK,
    &core_shared::CHECK,
];

/// The check after whose finding no other runs: values that contradict each other
/// support no statistics.
pub const STOP_AFTER: &str = "inconsistent";

/// The check of that id.
pub fn find(id: &str) -> Option<&'static Check> {
    ALL.iter().copied().find(|check| check.id == id)
}

/// Whether a check before this one found something of at least that weight.
fn found_before(m: &Measurement, id: &str, least: Severity) -> bool {
    m.findings.iter().any(|f| f.check == id && f.severity >= least)
}

/// The finding with one more figure, where that is known.
fn with_known(finding: Finding, name: &str, value: Option<f64>) -> Finding {
    match value.filter(|v| v.is_finite()) {
        Some(value) => finding.with(name, value),
        None => finding,
    }
}

/// A share as a person reads it: `2.5 %`; one beyond all reason as so many times.
fn percent(share: f64) -> String {
    if share.abs() < 1e6 { format!("{:.1} %", share * 100.0) } else { format!("{share:.0e} times") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ceilings;

    fn a_word(id: &str) -> bool {
        !id.is_empty()
            && id.starts_with(|c: char| c.is_ascii_lowercase())
            && id.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '.')
    }

    #[test]
    fn every_list_has_unique_ids_and_documentation() {
        let mut seen = BTreeSet::new();
        let checks = ALL.iter().map(|c| (c.id, c.title, c.about));
        let rules = ceilings::ALL.iter().map(|c| (c.id, c.title, c.about));
        for (id, title, about) in checks.chain(rules) {
            assert!(seen.insert(id), "{id} twice");
            assert!(a_word(id), "{id}");
            assert!(title.len() > 5 && !title.ends_with('.'), "{id}: {title}");
            assert!(about.len() > 80 && about.ends_with('.'), "{id}: {about}");
            assert!(!about.contains("  "), "{id}: two spaces in the text");
        }
    }

    #[test]
    fn checks_say_how_much_they_weigh() {
        for check in ALL {
            let about = check.about.to_lowercase();
            assert!(
                ["invalid", "suspect", "note"].iter().any(|word| about.contains(word)),
                "{} names no severity",
                check.id
            );
        }
    }

    #[test]
    fn ids_named_in_texts_exist() {
        let texts = ALL.iter().map(|c| c.about).chain(ceilings::ALL.iter().map(|c| c.about));
        let workload =
            |word: &str| proofmark_workloads::ALL.iter().any(|w| w.spec().id.starts_with(word));
        let files = ["cpu.stat", "cpu.max", "memory.max"];
        let mut named = 0;
        for text in texts {
            for word in text.split(|c: char| !(c.is_ascii_lowercase() || c == '.' || c == '_')) {
                let word = word.trim_matches('.');
                let ours = ["cpu.", "memory.", "disk.", "network."];
                if !ours.iter().any(|s| word.starts_with(s)) || files.contains(&word) {
                    continue;
                }
                named += 1;
                let limit = proofmark_model::Limit::find(word).is_some();
                assert!(limit || ceilings::find(word).is_some() || workload(word), "{word}");
            }
        }
        assert!(named > 5, "the texts were not read: {named}");
    }

    #[test]
    fn contradictory_values_get_no_statistics() {
        use crate::testing::*;
        assert!(find(STOP_AFTER).is_some());
        let m = each(flops(1), |i, t| t.seconds = if i == 0 { 0.0 } else { 1e-6 });
        let found = judged(&crate::testing::host(), m, &[]).findings;
        assert_eq!(found.last().map(|f| f.check.as_ref()), Some(STOP_AFTER));
    }

    #[test]
    fn the_checks_that_look_back_come_after_what_they_look_at() {
        let at = |id: &str| ALL.iter().position(|c| c.id == id).unwrap();
        assert!(at("involuntary_switches") > at("other_cpu"));
        assert!(at("involuntary_switches") > at("oversubscribed"));
        for id in
            ["page_cache", "not_durable", "in_cache", "steal", "throttled", "other_cpu", "swap"]
        {
            assert!(at("disagrees") > at(id), "{id}");
        }
        assert_eq!(at("core_shared"), ALL.len() - 1);
    }
}
