//! Checks which congestion control a connection may use.

use std::io;

use proofmark_engine::Refusal;

/// The names that the kernel has loaded (Linux `Documentation/networking/ip-sysctl.rst`).
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Checks that a connection of `machine`, on which this code runs, may use a congestion control.
/// Only names that the kernel lists are allowed. For any other name setsockopt(2) makes the kernel
/// look for a module, which it loads for root. A peer must not choose the modules that a server
/// loads.
pub(super) fn check(name: &str, machine: &str) -> Result<(), Refusal> {
    listed(name, machine, std::fs::read_to_string(AVAILABLE))
}

fn listed(name: &str, machine: &str, available: io::Result<String>) -> Result<(), Refusal> {
    let available = available.map_err(|e| {
        Refusal(format!("{machine} cannot list its congestion controls ({e}); set congestion=auto"))
    })?;
    let names: Vec<_> = available.split_whitespace().collect();
    match names.contains(&name) {
        true => Ok(()),
        false => Err(Refusal(format!(
            "{machine} has no congestion control '{name}' (available: {})",
            names.join(", ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_names_are_accepted() {
        let with = |name| listed(name, "this machine", Ok("reno bbr cubic\n".to_owned()));
        assert_eq!(with("cubic"), Ok(()));
        for name in ["vegas", "", "reno bbr", "cub", "CUBIC", "reno\n", "../x"] {
            let why = with(name).unwrap_err().to_string();
            assert!(why.contains("this machine has no congestion control"), "{why}");
            assert!(why.ends_with("(available: reno, bbr, cubic)"), "{why}");
        }
    }

    #[test]
    fn without_the_list_no_name_is_accepted() {
        let hidden = io::Error::from(io::ErrorKind::NotFound);
        let why = listed("cubic", "the server", Err(hidden)).unwrap_err().to_string();
        assert!(why.starts_with("the server cannot list") && why.contains("congestion=auto"));
    }
}
