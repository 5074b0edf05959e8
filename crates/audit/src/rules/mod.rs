//! Rules, one file each, in which every limit is derived: from a physical quantity of the machine,
//! from arithmetic on the report's own figures, or from a protocol's or a tool's documentation.

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

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Id, as in findings.
    pub id: &'static str,
    /// Title for summaries.
    pub title: &'static str,
    /// What it looks at, and from what its limits are derived.
    pub about: &'static str,
    /// What to do about what it finds.
    pub advice: &'static str,
    /// What of the table and of the machine it needs.
    pub needs: &'static str,
    /// Whether a figure without a finding was held against something.
    pub covers: fn(&Sheet, &Figure) -> Covers,
    /// Its finding about a figure of the sheet, if any.
    pub examine: fn(&Sheet, &Figure) -> Option<Finding>,
}

/// What a rule could hold a figure against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// Nothing: it is about other figures, or looks for one fault that tells nothing of the rest.
    Nothing,
    /// Nothing, because this is missing.
    Missing(&'static str),
    /// A limit, or what the same report says elsewhere: without a finding it passed.
    Figure,
}

/// Of rules that look for one fault, whose absence makes no figure right.
fn nothing(_: &Sheet, _: &Figure) -> Covers {
    Covers::Nothing
}

impl Rule {
    fn finding(&self, severity: Severity, message: impl Into<String>) -> Finding {
        Finding::new(self.id, severity, message, self.advice)
    }
}

/// Every rule in the order of causes: how a number was computed, then what answered in place of the
/// device, then what can be seen of it.
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
