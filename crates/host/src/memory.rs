//! Main memory and swap, from /proc/meminfo, and transparent huge pages.
//!
//! Sources: proc(5); Linux `Documentation/admin-guide/mm/transhuge.rst`.

use proofmark_model::Memory;

use crate::root::{Reason, Root, fault, probe};
use crate::text::{bracketed, field, kilobytes};

pub(crate) const MEMINFO: &str = "/proc/meminfo";
const HUGE: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

pub(crate) fn detect(root: &Root, hypervisor: Option<&str>) -> Memory {
    let text = root.read(MEMINFO);
    let none = |line: &str| fault(HUGE, format!("'{line}' has no selected choice"));
    let chosen = |line: String| Ok(bracketed(&line).ok_or_else(|| none(&line))?.to_owned());
    let bytes = |key: &str| probe(meminfo(&text, key), MEMINFO);
    Memory {
        total_bytes: bytes("MemTotal"),
        available_bytes: bytes("MemAvailable"),
        swap_total_bytes: bytes("SwapTotal"),
        transparent_huge_pages: probe(root.line(HUGE).and_then(chosen), HUGE),
        modules: crate::smbios::detect(root, hypervisor),
    }
}

pub(crate) fn meminfo(text: &Result<String, Reason>, key: &str) -> Result<u64, Reason> {
    let text = text.as_ref().map_err(Clone::clone)?;
    let value = field(text, key).ok_or_else(|| fault(MEMINFO, format!("no {key}")))?;
    kilobytes(value).ok_or_else(|| fault(MEMINFO, format!("'{value}' is not a size in kB")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    #[test]
    fn each_line_fails_alone() {
        let text = Ok("MemTotal:  8 kB\nSwapTotal: x kB\n".to_owned());
        assert_eq!(meminfo(&text, "MemTotal"), Ok(8192));
        assert!(meminfo(&text, "SwapTotal").unwrap_err().contains("'x kB'"));
        assert!(meminfo(&text, "MemAvailable").unwrap_err().contains("no MemAvailable"));
    }

    #[test]
    fn the_choice_is_the_word_in_brackets() {
        let found =
            |line| detect(&Machine::new(&[(HUGE, line)]).root(), None).transparent_huge_pages;
        assert_eq!(found("always [madvise] never").get().unwrap(), "madvise");
        assert!(found("always madvise never").origin().ends_with("has no selected choice"));
    }
}
