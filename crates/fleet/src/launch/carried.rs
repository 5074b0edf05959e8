//! Shell scripts for a node. A shell waits for the program, reports how it died, and removes its
//! file.

/// Line by which a node asks for the program. Start files that read their input or print find
/// nothing of the program before it.
pub(super) const READY: &str = "proofmark: send the program";

/// Returns the script for a program that is installed on the node. Without the waiting shell, ssh
/// would report a killed program as a lost connection.
pub(super) fn waiting(program: &str, arguments: &str) -> String {
    format!("{CLEAN}; {program} {arguments}; s=$?; {LIMITS}; exit $s")
}

/// Undoes what a start file exports, and what a shell takes from it where `sh` is bash: options
/// (`SHELLOPTS`), and functions with the names of commands. A PATH may lack the system's folders.
const CLEAN: &str = "set +euCfvx; unset -f cat chmod echo head mktemp rm ulimit wc; unset IFS; \
    PATH=${PATH:+$PATH:}/usr/bin:/bin";

/// Prints the limits of a killed program, which may be the cause.
const LIMITS: &str = "[ $s -le 128 ] || { \
    l() { [ \"$2\" = unlimited ] || m=\"$m$1 $2 $3, \"; }; m=; \
    l \"CPU time\" \"$(ulimit -t)\" s; l \"address space\" \"$(ulimit -v)\" KiB; \
    echo \"its limits: ${m}stack $(ulimit -s) KiB\" >&2; }";

/// Returns the script for a program that comes by standard input. It stores `size` bytes in the
/// first folder that has room for them and allows programs, and runs them. With `asks`, it prints
/// [`READY`] first.
///
/// The script is one line without single quotes and exclamation marks, so that the login shells of
/// all users pass it on to `sh` unchanged. Two shells wait: each removes the file if the other is
/// killed.
///
/// A script that does not ask reads all bytes, even those without space: srun waits forever for a
/// task that leaves its input unread.
pub(super) fn script(size: u64, arguments: &str, asks: bool) -> String {
    let mib = size.div_ceil(1 << 20);
    let traps = "trap c 0; trap \"exit 129\" 1; trap \"exit 130\" 2; trap \"exit 141\" 13; \
                 trap \"exit 143\" 15";
    let ready = if asks { format!("echo; echo {READY}; ") } else { String::new() };
    let rest = if asks { String::new() } else { format!("head -c {size} >/dev/null; ") };
    // Random bytes take their full room on file systems that compress.
    let find = format!(
        "{CLEAN}; f=; w=; c() {{ rm -f \"$f\"; f=; }}; {traps}; \
         for d in ${{TMPDIR:+\"$TMPDIR\"}} /tmp /var/tmp /dev/shm \"$HOME\"; \
         do f=$(mktemp \"$d/proofmark.XXXXXX\" 2>/dev/null) || {{ f=; w=\"$w; $d: not writable\"; continue; }}; \
         chmod 700 \"$f\"; (echo exit >\"$f\") 2>/dev/null; \
         \"$f\" 2>/dev/null || {{ w=\"$w; $d: noexec\"; c; continue; }}; \
         (head -c {size} /dev/urandom >\"$f\") 2>/dev/null; \
         [ \"$(wc -c <\"$f\")\" -eq {size} ] && break; \
         w=\"$w; $d: no room\"; c; \
         done; \
         [ -n \"$f\" ] || {{ l=$(ulimit -f); [ \"$l\" = unlimited ] || w=\"$w; ulimit -f is $l blocks\"; echo \"no folder takes the program ({mib} MiB)$w\" >&2; {rest}exit 1; }}; : >\"$f\"; "
    );
    let run = format!(
        "({traps}; head -c {size} | {{ cat >\"$f\" || cat >/dev/null; }}; \
         n=$(wc -c <\"$f\"); [ \"$n\" -eq {size} ] || \
         {{ echo the copy of proofmark in \"$d\" is incomplete: $n of {size} bytes >&2; exit 1; }}; \
         \"$f\" {arguments}; exit $?); s=$?; {LIMITS}; exit $s"
    );
    format!("{find}{ready}{run}")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;
    use std::process::{Command, Output, Stdio};

    use super::*;

    /// Runs a script with this input, and the folder for temporary files.
    fn run(script: &str, input: &[u8], folder: &Path) -> Output {
        run_by("sh", &[], (script, input), folder)
    }

    /// Runs a script by this shell with these variables.
    fn run_by(
        shell: &str,
        variables: &[(&str, &str)],
        (script, input): (&str, &[u8]),
        folder: &Path,
    ) -> Output {
        assert!(!script.contains(['\'', '\n', '!']), "{script}");
        let mut shell = Command::new(shell);
        shell.args(["-c", script]).env("TMPDIR", folder).envs(variables.iter().copied());
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        // A script that ends without its program reads no input.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    fn carried(program: &[u8], size: usize, folder: &Path) -> Output {
        run(&script(size as u64, "a b", false), program, folder)
    }

    fn is_empty(folder: &Path) -> bool {
        std::fs::read_dir(folder).unwrap().count() == 0
    }

    #[test]
    fn a_program_comes_first_and_what_follows_is_its_input() {
        let folder = tempfile::tempdir().unwrap();
        let program = b"#!/bin/sh\nrm \"$0\"; echo \"$@\"; cat\n";
        let input = [program.as_slice(), b"orders\n"].concat();
        let output = carried(&input, program.len(), folder.path());
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a b\norders\n");
        assert!(is_empty(folder.path()));
    }

    #[test]
    fn what_start_files_export_changes_no_command_of_the_script() {
        let folder = tempfile::tempdir().unwrap();
        let program = b"#!/bin/sh\nrm \"$0\"; echo \"$@\"; exit 3\n";
        let script = script(program.len() as u64, "a b", false);
        if Command::new("bash").arg("--version").output().is_err() {
            proofmark_testing::skip("bash is not installed");
            return;
        }
        // Where sh is bash, it takes options and functions from its environment.
        for variables in [
            ("SHELLOPTS", "errexit:noclobber:noglob:nounset"),
            ("BASH_FUNC_rm%%", "() { echo removed; }"),
            ("BASH_FUNC_cat%%", "() { echo meow; }"),
            ("PATH", "/opt/site/bin"),
        ] {
            let bash = "/bin/bash";
            let output = run_by(bash, &[variables], (&script, program), folder.path());
            assert_eq!(String::from_utf8_lossy(&output.stdout), "a b\n", "{variables:?}");
            assert_eq!(output.status.code(), Some(3), "{variables:?}");
            assert!(is_empty(folder.path()), "{variables:?}");
        }
    }

    #[test]
    fn a_program_that_is_cut_off_does_not_run_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let output = carried(b"#!/bin/sh\necho ran\n", 1000, folder.path());
        assert_eq!(output.status.code(), Some(1));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let folder_is = folder.path().display();
        assert_eq!(
            errors,
            format!("the copy of proofmark in {folder_is} is incomplete: 19 of 1000 bytes\n")
        );
        assert!(is_empty(folder.path()));
    }

    #[test]
    fn a_killed_program_is_told_from_a_lost_connection_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let program = b"#!/bin/sh\nkill -9 $$\n";
        let installed = folder.path().join("installed");
        std::fs::copy("/bin/sh", &installed).unwrap();
        let waiting = waiting(&installed.display().to_string(), "-c \"kill -9 \\$\\$\"");
        let carried = carried(program, program.len(), folder.path());
        for output in [carried, run(&waiting, b"", folder.path())] {
            assert_eq!(output.status.code(), Some(128 + 9));
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(errors.lines().last().unwrap().starts_with("its limits: "), "{errors}");
        }
        std::fs::remove_file(installed).unwrap();
        assert!(is_empty(folder.path()));
    }

    #[test]
    fn the_first_folder_with_room_takes_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let program = b"#!/bin/sh\necho \"$0\"\n";
        let input = [program.as_slice(), &[b'\n'; 100_000]].concat();
        let script = script(input.len() as u64, "", true);
        let output = run(&script, &input, &folder.path().join("missing"));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["", READY]);
        assert!(lines[2].starts_with("/tmp/proofmark."), "{text}");
        let limited = format!("ulimit -f 8; {script}");
        let output = run(&limited, &input, folder.path());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = errors.lines().last().unwrap();
        let expected = format!(
            "no folder takes the program (1 MiB); {}: no room; /tmp: no room",
            folder.path().display()
        );
        assert!(last.starts_with(&expected), "{errors}");
        assert!(is_empty(folder.path()));
    }
}
