//! Rules, one per file. Each derives its limits from physics, from arithmetic on the report's own
//! figures, or from the documentation of a protocol or tool.

mod above_own_ceiling;
mod added_up;
mod below_one_cycle;
mod copied_column;
mod disk_operations;
mod impossible_deviation;
mod loopback;
mod mean_outside_trials;
mod mixed_prefixes;
mod packet_rate;
mod page_cache;
mod population_deviation;
mod random_faster;
mod rate_and_block;
mod reciprocal_latency;
mod socket_buffer;
mod thread_multiplied;
mod udp_default_rate;
mod udp_payload;
mod wrong_unit;

use proofmark_model::{Finding, Severity};

use crate::{Figure, Sheet};

/// Rule of the audit.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Id, as in findings.
    pub id: &'static str,
    /// Title for summaries.
    pub title: &'static str,
    /// Description: the fault, and the source of the limits.
    pub about: &'static str,
    /// Action for its findings.
    pub advice: &'static str,
    /// Columns and facts that it needs.
    pub needs: &'static str,
    /// Examination of a figure.
    pub examination: Examination,
}

/// Function that examines one figure of the sheet.
type Examine<T> = fn(&Sheet, &Figure) -> Option<T>;

/// Kind of examination: for one fault, or by a limit.
#[derive(Debug, Clone, Copy)]
pub enum Examination {
    /// Detects one fault; its absence does not make a figure checked.
    FindFault(Examine<Finding>),
    /// Compares the figure with a limit or with other figures of the report. `None` if the rule
    /// does not apply to the figure.
    Compare(Examine<Outcome>),
}

/// Outcome of a rule that applies to a figure.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The rule found a fault.
    Found(Finding),
    /// The rule lacks this fact, so it could not compare the figure.
    Missing(&'static str),
    /// The figure was compared and agrees.
    Passed,
}

impl Outcome {
    /// Returns the finding, else the missing fact, else a pass.
    fn new(found: Option<Finding>, missing: Option<&'static str>) -> Self {
        let other = missing.map_or(Self::Passed, Self::Missing);
        found.map_or(other, Self::Found)
    }
}

impl Rule {
    /// Examines a figure of the sheet; `None` if the rule has no result for it.
    pub fn examine(&self, sheet: &Sheet, figure: &Figure) -> Option<Outcome> {
        match self.examination {
            Examination::FindFault(examine) => examine(sheet, figure).map(Outcome::Found),
            Examination::Compare(examine) => examine(sheet, figure),
        }
    }

    fn finding(&self, severity: Severity, message: impl Into<String>) -> Finding {
        Finding::new(self.id, severity, message, self.advice)
    }
}

/// Every rule, in the order of causes: the number's computation, then the substitute that answered
/// for the device, then its visible effects.
pub const ALL: &[Rule] = &[
    wrong_unit::RULE,
    mixed_prefixes::RULE,
    rate_and_block::RULE,
    below_one_cycle::RULE,
    reciprocal_latency::RULE,
    page_cache::RULE,
    disk_operations::RULE,
    thread_multiplied::RULE,
    above_own_ceiling::RULE,
    socket_buffer::RULE,
    loopback::RULE,
    packet_rate::RULE,
    udp_payload::RULE,
    udp_default_rate::RULE,
    random_faster::RULE,
    added_up::RULE,
    copied_column::RULE,
    mean_outside_trials::RULE,
    impossible_deviation::RULE,
    population_deviation::RULE,
];
