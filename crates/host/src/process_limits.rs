//! Limits that this process was started with (`ulimit`).
//!
//! Sources: getrlimit(2), proc_pid_limits(5).

use proofmark_model::{FactId, Probe};

use crate::root::{Reason, Root, fault, probe};

const LIMITS: &str = "/proc/self/limits";

/// Column of a limit, after its name.
#[derive(Clone, Copy)]
enum Column {
    Soft,
    Hard,
}

/// The limits that may change a result or prevent it. proofmark raises its soft limit of open files to
/// the hard one.
const ROWS: [(FactId, &str, Column); 4] = [
    (FactId::OpenFiles, "Max open files", Column::Hard),
    (FactId::Processes, "Max processes", Column::Soft),
    (FactId::AddressSpace, "Max address space", Column::Soft),
    (FactId::LockedMemory, "Max locked memory", Column::Soft),
];

/// Returns the limits by name: `1048576`, `8388608 bytes`, `unlimited`.
pub(crate) fn detect(root: &Root) -> [(&'static str, Probe<String>); 4] {
    let text = root.read(LIMITS);
    ROWS.map(|(id, row, column)| {
        let found = text.clone().and_then(|text| value(&text, row, column));
        (id.as_str(), probe(found, LIMITS))
    })
}

fn value(text: &str, row: &str, column: Column) -> Result<String, Reason> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(row));
    let fields: Vec<&str> = lines.next().into_iter().flat_map(str::split_whitespace).collect();
    let [soft, hard, unit @ ..] = &fields[..] else {
        return Err(fault(LIMITS, format!("no {row}")));
    };
    let value = match column {
        Column::Soft => *soft,
        Column::Hard => *hard,
    };
    // Only a size needs its unit.
    Ok(match unit {
        ["bytes"] if value != "unlimited" => format!("{value} bytes"),
        _ => value.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    #[test]
    fn limits_are_read_with_their_units() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max processes             95999                96000                processes \n\
                    Max open files            1024                 1048576              files     \n\
                    Max locked memory         8388608              unlimited            bytes     \n\
                    Max address space         unlimited            unlimited            bytes     \n";
        let found = |text: &str| {
            let all = detect(&Machine::new(&[(LIMITS, text)]).root());
            all.map(|(_, value)| value.get().cloned().unwrap_or_default())
        };
        assert_eq!(found(text), ["1048576", "95999", "unlimited", "8388608 bytes"]);
        assert_eq!(found("Max open files 7\n"), ["", "", "", ""]);
    }
}
