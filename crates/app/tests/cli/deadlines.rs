//! `scripts/test-binary` ends a binary that hangs: this one, by an ignored test, with short limits.

use std::io::Write as _;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;

use proofmark_testing::wait_until;

use super::Ended;

/// The script, with a limit in seconds.
fn script(limit: u32) -> Command {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/test-binary");
    let mut command = Command::new(path);
    command.env("TEST_LIMIT", limit.to_string());
    command
}

#[test]
#[ignore = "hangs on purpose, for the test below"]
fn waits_for_a_datagram_that_nobody_sends() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
    // Not through `println!`, which the test harness captures.
    writeln!(std::io::stderr(), "child {}", child.id()).unwrap();
    let _ = socket.recv(&mut [0]);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_test_that_hangs_is_killed_with_its_children_and_named() {
    let mut command = script(2);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--ignored", "--test-threads=1", "waits_for_a_datagram"]);
    let Ended { stdout: text, stderr, .. } = Ended::run(&mut command).with(124);
    let name = "\n  test deadlines::waits_for_a_datagram_that_nobody_sends\n";
    assert!(text.contains("did not end within 2 s") && text.ends_with(name), "{text}");
    let child = stderr.lines().find_map(|line| line.strip_prefix("child ")).unwrap();
    let child: u32 = child.trim().parse().unwrap();
    let gone = || !Path::new(&format!("/proc/{child}")).exists();
    wait_until("the child of the test to be killed", gone);
}

#[test]
fn of_tests_that_libtest_reports_as_slow_only_those_without_a_result_are_named() {
    // The output of libtest with several threads: the second has ended in time.
    let lines = "echo 'test a::b - should panic has been running for over 60 seconds'; \
                 echo 'test a::c has been running for over 60 seconds'; \
                 echo 'test a::c ... ok'; sleep 1000";
    let text = Ended::run(script(1).args(["sh", "-c", lines])).with(124).stdout;
    assert!(text.ends_with("had not ended:\n  test a::b - should panic\n"), "{text}");
}

#[test]
fn a_binary_that_hangs_fails() {
    let hangs = ["sh", "-c", "echo begun; sleep 1000"];
    let text = Ended::run(script(1).args(hangs)).with(124).stdout;
    assert!(text.starts_with("begun\n") && text.contains("sh did not end within 1 s"), "{text}");
}

#[test]
fn what_ends_in_time_keeps_its_output_and_status() {
    let lines = "echo 'test a ... ok'; echo no newline at the end | tr -d '\\n'; exit 7";
    let text = Ended::run(script(1000).args(["sh", "-c", lines])).with(7).stdout;
    assert_eq!(text, "test a ... ok\nno newline at the end");
    let left_behind = "sleep 1000 2>&- & echo $!";
    let text = Ended::run(script(1000).args(["sh", "-c", left_behind])).with(0).stdout;
    // The shell's own kill, since procps may not be installed.
    Command::new("sh").args(["-c", "kill $0", text.trim()]).status().unwrap();
}
