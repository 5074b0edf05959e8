//! Checks: each looks for one way in which a result can be wrong or disturbed. [`ALL`] lists them
//! in order. The first line of each file names its ids; each threshold states its reason.

mod busy_sibling;
mod by_others;
mod cache_disagreement;
mod class;
mod clock;
mod clusters;
mod contradiction;
mod core_shared;
pub(crate) mod cost;
mod counters;
mod cpu_saturated;
mod cpu_taken;
mod cpus_lost;
#[cfg(any(test, feature = "faults"))]
mod device_time;
mod disagrees;
mod disk_medium;
mod disturbed_tail;
mod drift;
mod ending;
mod impossible;
mod in_cache;
mod interface_disagreement;
mod io_during_load;
mod levels;
mod load_missing;
mod loss;
mod lost_time;
mod memory_placement;
pub(crate) mod network_path;
mod no_headline;
mod other_cpus_busy;
mod packet_loss;
mod page_cache;
mod page_faults;
mod programs;
mod quotas;
mod random_faster;
mod scaling;
mod scheduling;
mod shallow_queue;
mod share;
pub(crate) mod shared_device;
mod shared_interface;
mod short_trial;
mod similar_rounds;
mod stalls;
mod taken_in_figure;
mod test_file;
mod traced;
mod transfer;
mod vcpu_placement;
mod verification;
pub(crate) mod weight;
mod wide_interval;

use proofmark_model::format_percent as percent;
use proofmark_model::{Finding, Measurement, Severity, Unit, check_id, format_size};

use crate::Context;
pub(crate) use by_others::is_by_others;
pub use class::Class;
pub(crate) use shared_device::own_times;

/// One check.
pub struct Check {
    /// Id, as in findings and `proofmark explain ID`.
    pub id: &'static str,
    /// Kind of doubt that it raises.
    pub class: Class,
    /// Title for lists.
    pub title: &'static str,
    /// Explanation for users: what the check examines, when which severity follows, and the action.
    pub about: &'static str,
    /// Runs once ceiling, efficiency and the findings of earlier checks are filled in.
    pub examine: Examine,
}

impl Check {
    /// A finding of that severity, limited by the check's class.
    fn finding(
        &self,
        severity: Severity,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Finding {
        Finding::new(self.id, self.class.bound(severity), message, advice)
    }

    fn note(&self, message: impl Into<String>, advice: impl Into<String>) -> Finding {
        self.finding(Severity::Note, message, advice)
    }

    /// A finding that states why there is no figure.
    fn not_run(&self, message: impl Into<String>, advice: impl Into<String>) -> Finding {
        self.finding(Severity::NotRun, message, advice)
    }

    fn suspect(&self, message: impl Into<String>, advice: impl Into<String>) -> Finding {
        self.finding(Severity::Suspect, message, advice)
    }

    fn invalid(&self, message: impl Into<String>, advice: impl Into<String>) -> Finding {
        self.finding(Severity::Invalid, message, advice)
    }
}

/// Examines a result.
pub type ExamineFn = fn(&Context, &Measurement) -> Option<Finding>;

/// The functions of a check for proofmark's results and for those of reference tools.
#[derive(Clone, Copy)]
pub enum Examine {
    /// Not for tools: it needs facts that only our workers report, or judges how trials were taken,
    /// which a tool does not decide.
    Ours(ExamineFn),
    /// The same for both: it needs only a tool's output and this machine's counters.
    Both(ExamineFn),
    /// The first for our results, the second for a tool's.
    Each(ExamineFn, ExamineFn),
}

impl Examine {
    pub(crate) fn for_ours(self) -> ExamineFn {
        let (Self::Ours(examine) | Self::Both(examine) | Self::Each(examine, _)) = self;
        examine
    }

    pub(crate) fn for_tool(self) -> Option<ExamineFn> {
        match self {
            Self::Ours(_) => None,
            Self::Both(examine) | Self::Each(_, examine) => Some(examine),
        }
    }
}

/// Every check in order: is there a figure, is it possible, what disturbed it? `core_shared`,
/// `disagrees` and `involuntary_switches` use the findings of those before them.
pub static ALL: &[&Check] = &[
    &ending::CRASHED,
    &ending::REFUSED,
    &ending::LEFT_OUT,
    &ending::SYSTEM_LIMIT,
    &ending::UNFINISHED,
    &verification::UNVERIFIED,
    &verification::RESIDUAL,
    &verification::INCONSISTENT,
    &contradiction::CHECK,
    &impossible::ABOVE_CEILING,
    &impossible::ABOVE_LIMIT,
    &impossible::WORK_REMOVED,
    &scaling::CHECK,
    &in_cache::CHECK,
    &memory_placement::WRONG_NODE,
    &memory_placement::MISPLACED_MEMORY,
    &memory_placement::SMALL_PAGES,
    &disk_medium::NOT_A_DISK,
    &page_cache::CHECK,
    &test_file::DIRECT_REFUSED,
    &test_file::UNWRITTEN_DATA,
    &test_file::COMPRESSIBLE_DATA,
    &disk_medium::NOT_DURABLE,
    &test_file::SMALL_FILE,
    &counters::NO_DEVICE_WITNESS,
    &network_path::ONE_MACHINE,
    &transfer::BYTES_LOST,
    &interface_disagreement::CHECK,
    &counters::NO_INTERFACE_WITNESS,
    &transfer::SHORT_TRANSFER,
    &packet_loss::UDP_LOSS,
    &packet_loss::DROPPED_PACKETS,
    &packet_loss::RETRANSMITS,
    &cpu_saturated::CHECK,
    &network_path::FRAGMENTED,
    &short_trial::CHECK,
    &shallow_queue::CHECK,
    &no_headline::CHECK,
    &drift::TREND,
    &drift::DRIFT,
    &drift::FALLING_RATE,
    &levels::LEVEL_CHANGE,
    &levels::BURST_CREDITS,
    &clusters::CHECK,
    &similar_rounds::CHECK,
    &stalls::CHECK,
    &cpus_lost::CPUS_LOST,
    &traced::TRACED,
    &quotas::QUOTA_CHANGED,
    &quotas::DERIVED,
    &quotas::HIDDEN_QUOTA,
    &quotas::SERVER_HELD,
    &cpu_taken::STEAL,
    &cpu_taken::THROTTLED,
    &cpu_taken::OTHER_CPU,
    &taken_in_figure::CHECK,
    &load_missing::CHECK,
    &lost_time::STOPPED,
    &lost_time::UNACCOUNTED,
    &other_cpus_busy::CHECK,
    &io_during_load::CHECK,
    &busy_sibling::CHECK,
    &vcpu_placement::CHECK,
    &scheduling::OVERSUBSCRIBED,
    &scheduling::INVOLUNTARY_SWITCHES,
    &scheduling::MIGRATION,
    &clock::THERMAL,
    &clock::CLOCK_DROP,
    &clock::CLOCK_DISAGREEMENT,
    &page_faults::SWAP,
    &shared_device::CHECK,
    &shared_interface::CHECK,
    &page_faults::PAGE_FAULTS,
    &random_faster::CHECK,
    &cache_disagreement::CACHE_DISAGREEMENT,
    &counters::UNWATCHED,
    &disagrees::CHECK,
    &wide_interval::CHECK,
    &disturbed_tail::CHECK,
    &core_shared::CHECK,
];

/// No check runs after a finding of this one: contradictory values support no statistics.
pub const STOP_AFTER: &str = check_id::INCONSISTENT;

/// All checks in order: [`ALL`], in tests after that of `device.ops`.
pub(crate) fn known() -> impl Iterator<Item = &'static Check> {
    #[cfg(any(test, feature = "faults"))]
    const OF_TESTS: &[&Check] = &[&device_time::CHECK];
    #[cfg(not(any(test, feature = "faults")))]
    const OF_TESTS: &[&Check] = &[];
    OF_TESTS.iter().chain(ALL).copied()
}

/// The check with that id.
pub fn find(id: &str) -> Option<&'static Check> {
    known().find(|check| check.id == id)
}

/// Returns true if an earlier check has a finding of at least that severity.
fn found_before(m: &Measurement, id: &str, least: Severity) -> bool {
    m.findings.iter().any(|f| f.check == id && f.severity >= least)
}

/// The worst of some findings; of equal ones the first.
fn worst(found: impl IntoIterator<Item = Option<Finding>>) -> Option<Finding> {
    found.into_iter().flatten().reduce(|a, b| if b.severity > a.severity { b } else { a })
}

/// The finding with one more figure, if that is known.
fn with_known(finding: Finding, name: &str, value: Option<f64>) -> Finding {
    match value.filter(|v| v.is_finite()) {
        Some(value) => finding.with(name, value),
        None => finding,
    }
}

/// The word for a value of the result: `time` or `rate`.
fn value_word(m: &Measurement) -> &'static str {
    if m.unit == Unit::Second { "time" } else { "rate" }
}

/// Formats a sum of bytes: `1.5 MiB`.
fn size(bytes: f64) -> String {
    format_size(bytes as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ceilings;

    #[test]
    fn the_class_bounds_the_severity_of_a_check() {
        for check in ALL {
            let worst = match check.class {
                Class::Claim { .. } => Severity::Invalid,
                Class::Disturbance { .. } => Severity::Suspect,
                Class::Context => Severity::Note,
            };
            assert_eq!(check.invalid("", "").severity, worst, "{}", check.id);
            let refuted = check.class == Class::CLAIM;
            let suspect = if refuted { worst } else { worst.min(Severity::Suspect) };
            assert_eq!(check.suspect("", "").severity, suspect, "{}", check.id);
            assert_eq!(check.note("", "").severity, Severity::Note, "{}", check.id);
            if let Class::Claim { partial: Some(why) } = check.class {
                assert!(why.len() > 20 && !why.ends_with('.'), "{}: {why}", check.id);
            }
            let words = check.about.to_lowercase();
            let no_verdict = worst == Severity::Note;
            assert!(!no_verdict || !words.contains(" suspect"), "{} is never suspect", check.id);
        }
    }

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
            let words = about.to_lowercase();
            let weighs =
                ["invalid", "suspect", "not run", "note"].iter().any(|word| words.contains(word));
            assert!(weighs || find(id).is_none(), "{id} names no severity");
        }
        let last = ALL.last().map(|c| c.id);
        assert_eq!(last, Some("core_shared"), "it uses the findings of all others");
    }

    /// The first paragraph of a file finds its checks: a reader searches for ids.
    #[test]
    fn each_file_names_its_checks_first() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/checks");
        let mut named = BTreeSet::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let words = text.lines().map_while(|line| line.strip_prefix("//! "));
            let first: String = words.collect::<Vec<_>>().join(" ");
            for line in text.lines().filter_map(|line| line.strip_prefix("    id: ")) {
                let id = line.trim_start_matches("check_id::").trim_matches(['"', ',']);
                let id = id.to_lowercase();
                assert!(first.contains(&format!("`{id}`")), "{}: {id}", path.display());
                named.insert(id);
            }
        }
        assert!(known().all(|check| named.contains(check.id)), "{named:?}");
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
}
