//! Shell script for a node that runs a program from its standard input.

/// Returns the script. It stores `size` bytes of standard input as a program, in a folder that
/// allows programs, and becomes that program, which removes its file. The script is one line
/// without single quotes, so that the login shells of all users pass it on to `sh` unchanged.
pub(super) fn script(size: u64, arguments: &str) -> String {
    let lines = [
        "f=",
        "for d in \"${TMPDIR:-/tmp}\" /var/tmp /dev/shm \"$HOME\"",
        "do f=$(mktemp \"$d/proofmark.XXXXXX\" 2>/dev/null) || continue",
        "trap \"rm -f \\\"$f\\\"\" 0 1 2 13 15",
        "chmod 700 \"$f\"",
        "echo exit >\"$f\"",
        "\"$f\" 2>/dev/null && break",
        "rm -f \"$f\"",
        "f=",
        "done",
        "[ -n \"$f\" ] || { echo no writable folder allows programs: noexec >&2",
        "exit 1",
        "}",
    ];
    // It reads all bytes, even those without space: srun waits forever for a task that leaves its
    // input unread.
    let take = format!(
        "head -c {size} | {{ cat >\"$f\" || cat >/dev/null; }}; [ \"$(wc -c <\"$f\")\" -eq {size} ] || \
         {{ echo the copy of proofmark in \"$d\" is incomplete: is there too little space? >&2; exit 1; }}; \
         exec \"$f\" {arguments}"
    );
    let script = lines.join("; ").replace("do; ", "do ");
    format!("{script}; {take}")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Output, Stdio};

    use super::*;

    fn carried(program: &[u8], size: usize, folder: &std::path::Path) -> Output {
        let script = script(size as u64, "a b");
        assert!(!script.contains(['\'', '\n']), "{script}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env("TMPDIR", folder);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        child.stdin.take().unwrap().write_all(program).unwrap();
        child.wait_with_output().unwrap()
    }

    #[test]
    fn a_program_comes_first_and_what_follows_is_its_input() {
        let folder = tempfile::tempdir().unwrap();
        let program = b"#!/bin/sh\nrm \"$0\"; echo \"$@\"; cat\n";
        let input = [program.as_slice(), b"orders\n"].concat();
        let output = carried(&input, program.len(), folder.path());
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a b\norders\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_program_that_is_cut_off_does_not_run_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let output = carried(b"#!/bin/sh\necho ran\n", 1000, folder.path());
        assert_eq!(output.status.code(), Some(1));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let folder_is = folder.path().display();
        let expected = format!(
            "the copy of proofmark in {folder_is} is incomplete: is there too little space?\n"
        );
        assert_eq!(errors, expected);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
