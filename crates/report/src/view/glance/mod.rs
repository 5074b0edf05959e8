//! A subsystem in few results: only usable ones, each with its verdict.

mod disk;
mod network;
mod references;

use proofmark_model::Run;

pub use self::references::table as references;
use super::label::Group;
use super::table::Table;

/// The tables of all subsystems that have any; none without rows.
pub fn tables(run: &Run, groups: &[Group]) -> Vec<Table> {
    let all = std::iter::once(disk::table(run, groups)).chain(network::tables(run, groups));
    all.filter(|t| !t.rows.is_empty()).collect()
}
