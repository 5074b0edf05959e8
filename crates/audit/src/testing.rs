//! Small made-up reports for the tests of rules.

use proofmark_model::Finding;

use crate::{Figure, Machine, Rule, Sheet, choose, read_figures, read_machines};

/// Two CPUs at 2 GHz with a disk behind SATA.
pub(crate) const MACHINE: &str = "[m]\nvcpus = 2\nclock_hz_nominal = 2_000_000_000\n\
    disk_link_bytes_per_s = 600_000_000\n";

pub(crate) fn figures(rows: &str) -> Vec<Figure> {
    let header = "subsystem,tool,operation,metric,block_size_bytes,threads,trial,value,\
                  unit_as_written,value_si,si_unit\n";
    read_figures(format!("{header}{rows}").as_bytes()).unwrap()
}

pub(crate) fn machine(text: &str) -> Machine {
    choose(&read_machines(text).unwrap(), None, None).unwrap()
}

/// What a rule says of each row.
pub(crate) fn findings(rule: &Rule, machine_text: &str, rows: &str) -> Vec<Option<Finding>> {
    let sheet = Sheet::new(machine(machine_text), figures(rows));
    (0..sheet.figures().len()).map(|i| (rule.examine)(&sheet, i)).collect()
}

/// Which rows a rule flags or notes.
pub(crate) fn flagged(rule: &Rule, machine_text: &str, rows: &str) -> Vec<bool> {
    findings(rule, machine_text, rows).iter().map(Option::is_some).collect()
}
