//! Words for a program that died on a node.

use proofmark_process::Exit;

/// Signals that end a program: SIGHUP to SIGFPE, SIGKILL, SIGSEGV, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ
/// and SIGSYS. A status that stands for another one is a script's own.
const ENDS: [i32; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 24, 25, 31];

/// Describes the end of a program for which a shell waited there. A status above 128 is the
/// signal's number plus 128.
pub(super) fn describe(exit: Exit) -> String {
    match exit.from_shell() {
        Exit::Status(0) => "its process ended".to_owned(),
        exit @ Exit::Status(126) => {
            format!(
                "its process {exit} (it cannot be executed there; the node may have another CPU architecture)"
            )
        }
        exit @ Exit::Status(127) => {
            format!("its process {exit} (a command was not found; check PATH on the node)")
        }
        exit @ Exit::Status(_) => format!("its process {exit}"),
        Exit::Signal(signal) if !ENDS.contains(&signal) => {
            format!("its process {}", Exit::Status(Exit::Signal(signal).shell_status()))
        }
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
            (126, "its process exited with status 126 (it cannot be executed"),
            (127, "its process exited with status 127 (a command was not found"),
            (142, "its process exited with status 142"),
            (200, "its process exited with status 200"),
            (139, "its process was killed by SIGSEGV (a crash"),
            (152, "its process was killed by SIGXCPU (its limit of CPU time"),
            (143, "its process was killed by SIGTERM"),
        ] {
            assert!(describe(Exit::Status(status)).starts_with(expected), "{status}");
        }
    }
}
