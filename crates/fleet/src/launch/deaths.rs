//! Words for a program that died on a node.

use proofmark_process::Exit;

/// Describes the end of a program for which a shell waited there. A status above 128 is the
/// signal's number plus 128.
pub(super) fn describe(exit: Exit) -> String {
    match exit.from_shell() {
        Exit::Status(0) => "its process ended".to_owned(),
        exit @ Exit::Status(_) => format!("its process {exit}"),
        exit @ Exit::Signal(_) => {
            let causes = exit.signal().and_then(|name| likely_causes(&name)).unwrap_or_default();
            format!("its process {exit}{causes}")
        }
    }
}

/// Returns what sends a signal.
fn likely_causes(signal: &str) -> Option<&'static str> {
    Some(match signal {
        "SIGKILL" => {
            " (sent by the kernel when memory or the limit of CPU time is used up, or by a user)"
        }
        "SIGXCPU" => " (its limit of CPU time is used up: ulimit -t)",
        "SIGXFSZ" => " (its limit on the size of files is reached: ulimit -f)",
        "SIGSEGV" | "SIGBUS" => " (a crash; too small a stack causes it too: ulimit -s)",
        "SIGSYS" => " (a system call that a filter forbids)",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shells_status_names_the_signal() {
        for (status, expected) in [
            (0, "its process ended"),
            (2, "its process exited with status 2"),
            (137, "its process was killed by SIGKILL (sent by the kernel"),
            (139, "its process was killed by SIGSEGV (a crash"),
            (152, "its process was killed by SIGXCPU (its limit of CPU time"),
            (143, "its process was killed by SIGTERM"),
        ] {
            assert!(describe(Exit::Status(status)).starts_with(expected), "{status}");
        }
    }
}
