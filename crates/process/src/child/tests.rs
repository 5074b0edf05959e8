//! Misbehaving children. Each test has a deadline far below the time that the child would take.

use std::path::Path;

use proofmark_testing::{skip, wait_until};
use rustix::process::test_kill_process;

use super::*;
use crate::ask;

/// A time for events: a busy machine may take seconds to start a shell.
const LONG: Duration = Duration::from_secs(60);
/// The sleep of children that no test waits for.
const SLEEP_S: u64 = 600;
/// The longest that a test may take.
const DEADLINE: Duration = Duration::from_secs(120);

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn start(script: &str, options: StartOptions) -> ChildProcess {
    ChildProcess::start(&mut shell(script), options).unwrap()
}

fn lines() -> StartOptions {
    let (output, errors) = (Stream::Lines(100), Stream::Tail(100));
    StartOptions { input: Input::Piped, output, errors, ..StartOptions::default() }
}

fn kept() -> StartOptions {
    let (output, errors) = (Stream::Head(1000), Stream::Tail(100));
    StartOptions { output, errors, ..StartOptions::default() }
}

fn lives(pid: u32) -> bool {
    // A zombie of another parent still has its pid, but no command line.
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
}

fn text(line: Line) -> String {
    match line {
        Line::Text(line) => String::from_utf8(line).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_child_answers_line_by_line_and_ends_with_its_input() {
    let mut child = start("while read -r x; do echo \"<$x>\"; done; echo bye >&2; exit 3", lines());
    for word in ["a", "b"] {
        io::Write::write_all(child.input().unwrap(), format!("{word}\n").as_bytes()).unwrap();
        assert_eq!(text(child.line(LONG)), format!("<{word}>"));
    }
    let ended = child.end(LONG).unwrap();
    assert_eq!(ended.exit, Exit::Status(3));
    assert!(ended.cpu_s.is_some_and(|s| (0.0..60.0).contains(&s)), "{ended:?}");
    assert_eq!((child.line(LONG), child.last_words(LONG).as_str()), (Line::End, "bye\n"));
}

#[test]
fn a_child_that_hangs_is_silent_and_killed() {
    let begun = Instant::now();
    let mut child = start(&format!("exec sleep {SLEEP_S}"), lines());
    assert_eq!(child.line(Duration::from_millis(100)), Line::Silence);
    assert_eq!(child.wait(Duration::from_millis(100)), None);
    let pid = child.id();
    assert_eq!(child.end(Duration::from_millis(100)), None, "it did not end by itself");
    assert!(!lives(pid) && begun.elapsed() < DEADLINE);
}

#[test]
fn a_line_without_an_end_is_cut() {
    let begun = Instant::now();
    let child = start("exec cat /dev/zero", lines());
    assert_eq!(text(child.line(LONG)).len(), 101);
    assert_eq!(child.line(Duration::from_millis(200)), Line::Silence);
    drop(child);
    assert!(begun.elapsed() < DEADLINE);
}

#[test]
fn a_child_that_writes_faster_than_it_is_read_waits() {
    let script = "head -c 2000000 /dev/zero | tr '\\0' x | fold -w 90; echo done >&2";
    let child = start(script, lines());
    thread::sleep(Duration::from_secs(1));
    assert_eq!(child.last_words(Duration::ZERO), "", "2 MB were read ahead");
    while matches!(child.line(LONG), Line::Text(_)) {}
    assert_eq!(child.last_words(LONG), "done\n");
}

#[test]
fn errors_without_end_are_read_and_their_tail_kept() {
    let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo error $i >&2; done; echo ok";
    let child = start(script, lines());
    assert_eq!(text(child.line(LONG)), "ok");
    let words = child.last_words(LONG);
    assert!(words.len() == 100 && words.ends_with("error 20000\n"), "{words}");
}

#[test]
fn a_child_that_ignores_sigterm_is_killed_after_its_grace() {
    let begun = Instant::now();
    let options = StartOptions { output: Stream::Lines(100), ..StartOptions::default() };
    let mut child = start("trap '' TERM; echo ready; while :; do sleep 0.1; done", options);
    assert_eq!(text(child.line(LONG)), "ready");
    let (pid, grace) = (child.id(), Duration::from_millis(300));
    assert_eq!(child.end(grace), None);
    assert!(begun.elapsed() >= grace && begun.elapsed() < DEADLINE && !lives(pid));
}

#[test]
fn a_child_without_an_input_is_asked_by_sigterm() {
    let options = StartOptions { output: Stream::Lines(100), ..StartOptions::default() };
    let mut child = start("trap 'exit 5' TERM; echo ready; while :; do sleep 0.1; done", options);
    assert_eq!(text(child.line(LONG)), "ready");
    assert_eq!(child.end(LONG).unwrap().exit, Exit::Status(5));
}

#[test]
fn what_a_child_leaves_in_its_group_is_killed() {
    let begun = Instant::now();
    let mut child = start(&format!("sleep {SLEEP_S} & echo $!; exit 4"), kept());
    assert_eq!(child.wait(LONG).unwrap().exit, Exit::Status(4));
    let left = child.output(LONG).trim().parse().unwrap();
    wait_until("the process that was left to die", || !lives(left));
    assert!(begun.elapsed() < DEADLINE);
}

#[test]
fn grandchildren_outside_the_group_hold_the_pipe_and_nobody_up() {
    if !Path::new("/usr/bin/setsid").exists() {
        return skip("setsid is not installed");
    }
    let begun = Instant::now();
    let mut child = start(&format!("setsid sleep {SLEEP_S} & echo $!"), kept());
    assert!(child.wait(LONG).unwrap().exit.is_success());
    let output = child.output(Duration::from_millis(300));
    assert!(begun.elapsed() < DEADLINE, "the sleep holds the pipe");
    let left = Pid::from_raw(output.trim().parse().unwrap()).unwrap();
    assert!(test_kill_process(left).is_ok());
    kill_process(left, Signal::KILL).unwrap();
}

#[test]
fn a_signal_that_killed_a_child_is_named() {
    let mut child = start("kill -SEGV $$", kept());
    let exit = child.wait(LONG).unwrap().exit;
    assert_eq!((exit, exit.to_string().as_str()), (Exit::Signal(11), "was killed by SIGSEGV"));
}

#[test]
fn a_program_that_is_not_there_is_refused() {
    let refused = ChildProcess::start(&mut Command::new("/no/such/program"), kept());
    assert!(matches!(refused.unwrap_err(), StartError::Program(e) if e.raw_os_error() == Some(2)));
}

#[test]
fn a_child_whose_end_somebody_else_noted_is_over() {
    let mut child = start("exit 0", kept());
    child.child.wait().unwrap();
    // end_descendants also waits for all children.
    let _ = rustix::process::waitpid(Some(child.pid()), rustix::process::WaitOptions::NOHANG);
    child.state = State::Running;
    assert!(child.is_over());
    let begun = Instant::now();
    assert!(child.wait(STEP).is_none() && begun.elapsed() >= STEP, "asked again, it would spin");
}

/// Runs a shell, whose output is kept up to 1000 bytes.
fn asked(milliseconds: u64, options: StartOptions, script: &str) -> crate::Answer {
    ask(&mut shell(script), options, b"one\n", Duration::from_millis(milliseconds)).unwrap()
}

#[test]
fn an_answer_is_its_output_its_errors_and_its_exit() {
    let options = StartOptions { input: Input::Piped, ..kept() };
    let answer = asked(20_000, options, "cat; echo two >&2; exit 3");
    assert_eq!((&*answer.output, &*answer.errors), ("one\n", "two\n"));
    assert_eq!((answer.exit, answer.is_success()), (Some(Exit::Status(3)), false));
    assert!(asked(20_000, kept(), "exit 0").is_success());
}

#[test]
fn a_program_that_answers_too_late_or_too_much_is_killed() {
    let begun = Instant::now();
    for (time, script) in [
        (300, format!("sleep {SLEEP_S} & wait")),
        (300, format!("exec >&- 2>&-; sleep {SLEEP_S}")),
        (600_000, "while :; do echo 0123456789 || exit 1; done".to_owned()),
    ] {
        let answer = asked(time, kept(), &script);
        assert!(answer.exit.is_none() && answer.output.len() <= 1000, "{script}");
    }
    assert!(begun.elapsed() < DEADLINE);
}

#[test]
fn a_program_that_does_not_read_its_input_is_not_waited_for() {
    let (begun, input) = (Instant::now(), vec![b'x'; 1 << 20]);
    let options = StartOptions { input: Input::Piped, ..kept() };
    let answer = ask(&mut shell("exit 6"), options, &input, LONG).unwrap();
    assert!(answer.exit == Some(Exit::Status(6)) && begun.elapsed() < DEADLINE);
}

#[test]
fn many_errors_of_which_the_end_is_kept_end_no_program() {
    let answer =
        asked(20_000, kept(), "for i in $(seq 100); do echo error $i >&2; done; echo done");
    assert_eq!((answer.exit, &*answer.output), (Some(Exit::Status(0)), "done\n"));
    assert!(answer.errors.ends_with("error 100\n") && answer.errors.len() <= 100);
}
