//! Disturbances by others: what other programs, other guests or a person did to a machine while it was
//! measured. A result that they made slower does not show a slower machine. A limit such as a quota, a
//! setting such as small pages, and a lossy path are the machine's own.

use proofmark_model::check_id;

const BY_OTHERS: [&str; 11] = [
    check_id::STEAL,
    check_id::OTHER_CPU,
    check_id::INVOLUNTARY_SWITCHES,
    check_id::TAKEN_IN_FIGURE,
    check_id::STOPPED,
    check_id::IO_DURING_LOAD,
    check_id::SHARED_DEVICE,
    check_id::SHARED_INTERFACE,
    check_id::BUSY_SIBLING,
    check_id::OTHER_CPUS_BUSY,
    check_id::TRACED,
];

/// Returns true if findings of the check are about what others did.
pub(crate) fn is_by_others(check: &str) -> bool {
    BY_OTHERS.contains(&check)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;

    #[test]
    fn what_others_do_only_slows() {
        for id in BY_OTHERS {
            let check = checks::find(id).unwrap_or_else(|| panic!("no check {id}"));
            assert!(check.class.only_slows(), "{id}");
        }
    }
}
