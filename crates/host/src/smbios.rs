//! Memory modules from the firmware's SMBIOS tables.

use proofmark_model::{MemoryModule, Probe};

use crate::root::Root;

/// Finds out the memory modules.
pub(crate) fn look(_root: &Root) -> Probe<Vec<MemoryModule>> {
    Probe::missing("not looked for yet")
}
