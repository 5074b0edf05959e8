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
    /// How it looks at a figure.
    pub look: Look,
}

/// Finds something, or nothing, about a figure of the sheet.
type Examine<T> = fn(&Sheet, &Figure) -> Option<T>;

/// How a rule looks at figures.
#[derive(Debug, Clone, Copy)]
pub enum Look {
    /// For one fault, whose absence makes no figure right.
    ForFault(Examine<Finding>),
    /// At what the figure is held against: a limit, or what the report says elsewhere. `None`: the
    /// rule is about other figures.
    Against(Examine<Outcome>),
}

/// What a rule says of a figure that it is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It is doubted.
    Found(Finding),
    /// It could not be held against anything, because this is not there.
    Missing(&'static str),
    /// It was held against something, and agrees.
    Passed,
}

impl Outcome {
    /// What was found; else what is missing; else the figure passed.
    fn new(found: Option<Finding>, missing: Option<&'static str>) -> Self {
        let other = missing.map_or(Self::Passed, Self::Missing);
        found.map_or(other, Self::Found)
    }
}

impl Rule {
    /// What it says of a figure of the sheet; `None`: nothing.
    pub fn examine(&self, sheet: &Sheet, figure: &Figure) -> Option<Outcome> {
        match self.look {
            Look::ForFault(examine) => examine(sheet, figure).map(Outcome::Found),
            Look::Against(examine) => examine(sheet, figure),
        }
    }

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
