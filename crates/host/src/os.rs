//! Kernel and distribution.
//!
//! Sources: proc(5); os-release(5).

use proofmark_model::Probe;

use crate::root::{Root, fault, probe};

const OSTYPE: &str = "/proc/sys/kernel/ostype";
const OSRELEASE: &str = "/proc/sys/kernel/osrelease";

pub(crate) fn kernel(root: &Root) -> Probe<String> {
    let name = |kind| Ok(format!("{kind} {}", root.line(OSRELEASE)?));
    probe(root.line(OSTYPE).and_then(name), OSRELEASE)
}

/// Name of the distribution; in a container, the container's.
pub(crate) fn distribution(root: &Root) -> Probe<String> {
    let mut last = "not examined".to_owned();
    for path in ["/etc/os-release", "/usr/lib/os-release"] {
        match root.read(path).map(|text| pretty_name(&text)) {
            Ok(Some(name)) => return Probe::known(name, path),
            Ok(None) => last = fault(path, "no PRETTY_NAME"),
            Err(reason) => last = reason,
        }
    }
    Probe::missing(last)
}

fn pretty_name(text: &str) -> Option<String> {
    let value = text.lines().find_map(|l| l.trim().strip_prefix("PRETTY_NAME="))?;
    let value = value.trim().trim_matches(['"', '\'']).trim();
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pretty_name_is_without_quotes() {
        let text = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(pretty_name(text).unwrap(), "Debian GNU/Linux 12 (bookworm)");
        assert_eq!(pretty_name("PRETTY_NAME=Plain\n").unwrap(), "Plain");
        assert_eq!(pretty_name("PRETTY_NAME=\"\"\nNAME=x\n"), None);
    }
}
