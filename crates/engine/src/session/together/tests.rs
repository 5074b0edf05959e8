//! Workers that are a few lines of shell, with several configurations in each.

use std::path::Path;
use std::thread;

use proofmark_testing::{join, wait_until};
use rustix::process::{Pid, Signal, kill_process};

use super::super::tests::{lives, point, trial, workers};
use super::super::{Launcher, Stop, Workers};
use super::*;
use crate::protocol::Reply;

/// A worker that records its number and its orders. A trial's work is that number. It refuses
/// `test.bad`, dies in a trial of `test.fatal` and is silent in one of `test.slow`. It takes no
/// trial of a configuration that is not set up.
fn shell(diary: &Path) -> String {
    let json = serde_json::to_string(&Reply::Taken(Box::new(trial()))).unwrap();
    let (before, after) = json.split_once("\"work\":123.0").unwrap();
    let diary = diary.display();
    format!(
        "slots=,; fatal=none; slow=none; while read -r order; do \
           slot=${{order#*[}}; slot=${{slot%%,*}}; \
           case $order in \
             *begin*) echo $$ begin $slot >>{diary}; \
               case $order in \
                 *test.bad*) echo '{{\"refused\":\"bad\"}}'; continue;; \
                 *test.fatal*) fatal=$slot;; \
                 *test.slow*) slow=$slot;; \
               esac; \
               slots=$slots$slot,; echo '\"ready\"';; \
             *trial*) echo $$ take $slot >>{diary}; \
               [ $slot = $fatal ] && kill -KILL $$; \
               [ $slot = $slow ] && exec sleep 100; \
               case $slots in \
                 *,$slot,*) echo '{before}\"work\":'$$'{after}';; \
                 *) echo '{{\"refused\":\"nothing is set up\"}}';; \
               esac;; \
             *end*) slot=${{order#*:}}; echo $$ end ${{slot%\\}}}} >>{diary}; echo '\"ready\"';; \
           esac; done"
    )
}

/// The workers, and the orders of each.
struct Run {
    workers: Workers,
    diary: tempfile::NamedTempFile,
}

impl Run {
    fn new() -> Self {
        let diary = tempfile::NamedTempFile::new().unwrap();
        let patience = std::time::Duration::from_secs(60);
        let workers = workers(&shell(diary.path()), patience, &Stop::default());
        Self { workers, diary }
    }

    fn together(&self, name: &str) -> Result<Box<dyn Session>, Ending> {
        self.workers.launch_together(&point(name))
    }

    fn all<const N: usize>(&self, names: [&str; N]) -> [Box<dyn Session>; N] {
        names.map(|name| self.together(name).unwrap())
    }

    /// The orders of that worker, with the slots.
    fn asked(&self, worker: i32) -> Vec<String> {
        let text = std::fs::read_to_string(self.diary.path()).unwrap();
        let own = text.lines().filter_map(|l| l.strip_prefix(&format!("{worker} ")));
        own.map(str::to_owned).collect()
    }
}

/// The worker that takes a trial.
fn take(session: &mut Box<dyn Session>) -> i32 {
    session.take(Request::Trial).unwrap().trial.work as i32
}

fn kill(worker: i32) {
    kill_process(Pid::from_raw(worker).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn points_that_are_measured_together_take_turns_in_one_worker() {
    let run = Run::new();
    let [mut a, mut b, mut c] = run.all(["test.a", "test.b", "test.c"]);
    let worker = take(&mut a);
    for session in [&mut c, &mut b, &mut a] {
        assert_eq!(take(session), worker);
    }
    assert_eq!(take(&mut c), worker);
    drop(b);
    assert_eq!(take(&mut a), worker, "the others stay");
    let [mut late] = run.all(["test.late"]);
    assert_eq!(take(&mut late), worker);
    let asked = [
        "begin 1", "begin 2", "begin 3", "take 1", "take 3", "take 2", "take 1", "take 3", "end 2",
        "take 1", "begin 4", "take 4",
    ];
    assert_eq!(run.asked(worker)[..], asked[..]);
    assert!(lives(worker));
}

#[test]
fn the_last_one_leaves_its_worker_to_the_next_point() {
    let run = Run::new();
    let [mut a, b] = run.all(["test.a", "test.b"]);
    let worker = take(&mut a);
    drop(a);
    drop(b);
    let mut alone = run.workers.launch(&point("test.c")).unwrap();
    assert_eq!(take(&mut alone), worker);
    drop(alone);
    // The reverse: nothing of the last configuration is left when the next ones begin.
    let [mut again] = run.all(["test.a"]);
    assert_eq!(take(&mut again), worker);
    let asked = run.asked(worker);
    let end = asked.iter().rposition(|order| order == "end 0");
    assert!(end.is_some() && end < asked.iter().position(|o| o == "begin 3"), "{asked:?}");
    drop(again);
    run.workers.release_idle_worker();
    assert!(!lives(worker));
}

#[test]
fn a_worker_of_another_subsystem_serves_none_of_them() {
    let run = Run::new();
    let other = take(&mut run.workers.launch(&point("cpu.flops")).unwrap());
    let [mut a] = run.all(["memory.copy"]);
    assert_ne!(take(&mut a), other);
    assert!(!lives(other));
}

#[test]
fn a_worker_that_dies_costs_the_point_that_it_worked_on() {
    let run = Run::new();
    let [mut a, mut fatal, mut b] = run.all(["test.a", "test.fatal", "test.b"]);
    let first = take(&mut a);
    let ended = fatal.take(Request::Trial).unwrap_err();
    assert!(
        matches!(&ended, Ending::Crashed { signal: Some(s), .. } if s == "SIGKILL"),
        "{ended:?}"
    );
    let second = take(&mut b);
    assert_ne!(second, first);
    assert_eq!((take(&mut a), take(&mut b)), (second, second), "both are in the new one");
    assert_eq!(run.asked(second), ["begin 3", "take 3", "begin 1", "take 1", "take 3"]);
    drop(fatal);
    assert_eq!(take(&mut a), second, "one that was not there any more takes nothing down");
}

#[test]
fn the_worker_waits_for_the_next_point_though_the_last_one_was_not_in_it() {
    let run = Run::new();
    let [mut a, mut fatal] = run.all(["test.a", "test.fatal"]);
    assert!(fatal.take(Request::Trial).is_err());
    let worker = take(&mut a);
    drop(a);
    drop(fatal);
    assert!(lives(worker));
    assert_eq!(take(&mut run.workers.launch(&point("test.b")).unwrap()), worker);
    run.workers.release_idle_worker();
    assert!(!lives(worker), "it keeps its memory from nobody");
}

#[test]
fn one_that_died_between_two_trials_costs_no_other_point() {
    let run = Run::new();
    let [mut a, mut b, c] = run.all(["test.a", "test.b", "test.c"]);
    let first = take(&mut a);
    kill(first);
    assert!(matches!(a.take(Request::Trial), Err(Ending::Crashed { .. })));
    let second = take(&mut b);
    assert_ne!(second, first);
    // Nor does one that dies before a configuration ends.
    let [d] = run.all(["test.d"]);
    kill(second);
    wait_until("the worker to die", || {
        !std::path::Path::new(&format!("/proc/{second}/exe")).exists()
    });
    drop((d, c));
    let third = take(&mut b);
    assert!(third != second && lives(third));
    drop((a, b));
    assert!(lives(third), "it waits");
}

#[test]
fn a_point_that_is_refused_costs_no_other() {
    let run = Run::new();
    let [mut a] = run.all(["test.a"]);
    take(&mut a);
    let refused = run.together("test.bad").map(|_| ()).unwrap_err();
    assert_eq!(refused, Ending::Refused { reason: "bad".to_owned() });
    let worker = take(&mut a);
    drop(a);
    assert!(lives(worker), "the last one that is left leaves it to the next point");
    let refused = run.together("test.bad").map(|_| ());
    assert!(matches!(refused, Err(Ending::Refused { .. })), "one of its own is refused too");
    let [mut b] = run.all(["test.b"]);
    take(&mut b);
}

#[test]
fn a_worker_that_cannot_be_started_ends_the_point() {
    let run = Run::new();
    let none = Workers { program: "/no/such/program".into(), ..run.workers.clone() };
    let ended = none.launch_together(&point("test.a")).map(|_| ());
    assert!(matches!(ended, Err(Ending::Crashed { signal: None, .. })), "{ended:?}");
    let [mut a] = run.all(["test.a"]);
    take(&mut a);
}

#[test]
fn a_stop_ends_them_all() {
    let run = Run::new();
    let [mut a, mut slow] = run.all(["test.a", "test.slow"]);
    let worker = take(&mut a);
    let (stop, asked) = (run.workers.stop.clone(), run.diary.path().to_owned());
    let stops = thread::spawn(move || {
        wait_until("the silent trial", || {
            std::fs::read_to_string(&asked).is_ok_and(|text| text.contains("take 2"))
        });
        stop.stop("SIGTERM");
    });
    let interrupted = Ending::Interrupted { by: "SIGTERM".to_owned() };
    assert_eq!(slow.take(Request::Trial).unwrap_err(), interrupted);
    join("the thread that stops the run", stops);
    assert_eq!(a.take(Request::Trial).unwrap_err(), interrupted);
    assert_eq!(run.together("test.b").map(|_| ()).unwrap_err(), interrupted);
    assert!(!lives(worker));
}
