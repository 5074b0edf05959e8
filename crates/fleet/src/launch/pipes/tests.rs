//! Tests of the processes of nodes, with shells in place of ssh.

use std::sync::mpsc::sync_channel;

use super::super::starts::STARTS;
use super::*;

/// A shell in place of a node's ssh.
struct Shell {
    command: Vec<String>,
    program: Option<PathBuf>,
    /// Fails with status 255 until this file exists.
    refused: bool,
}

impl Shell {
    fn new(script: &str) -> Self {
        Self {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            program: None,
            refused: false,
        }
    }
}

impl Way for Shell {
    fn command(&mut self) -> Vec<String> {
        self.command.clone()
    }

    fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    fn describe(&self, end: &ProcessEnd) -> String {
        format!("ended with {:?} after {} tries", end.exit, end.tries)
    }

    fn is_refused(&self, _: &ProcessEnd) -> bool {
        self.refused
    }
}

/// Waits until this many have started, and a moment more.
fn begun(dir: &Path, wanted: usize) -> usize {
    let count = || std::fs::read_dir(dir).unwrap().count();
    let since = Instant::now();
    while count() < wanted && since.elapsed() < Duration::from_secs(20) {
        thread::sleep(STEP);
    }
    thread::sleep(10 * STEP);
    count()
}

/// Starts more than may start at once. Each leaves a file, prints a line once there is another file,
/// and stays.
fn started(dir: &Path, longest: Duration, events: &SyncSender<Event>) -> Pipes {
    let mut pipes = Pipes { links: BTreeMap::new(), starts: Arc::new(Starts::new(longest)) };
    for number in 0..STARTS + 5 {
        let script = format!(
            "touch {0}/{number}; until [ -e {0}.go/{number} ]; do sleep 0.02; done; echo hello; exec cat",
            dir.display()
        );
        pipes.start(&number.to_string(), Shell::new(&script), events).unwrap();
    }
    pipes
}

#[test]
fn few_start_at_a_time_and_what_never_began_ends() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().with_extension("go");
    std::fs::create_dir(&go).unwrap();
    let (to, events) = sync_channel(100);
    let mut pipes = started(dir.path(), Duration::from_secs(3600), &to);
    assert_eq!(begun(dir.path(), STARTS), STARTS);
    let files = std::fs::read_dir(dir.path()).unwrap();
    let names: Vec<String> = files.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    for name in &names[..2] {
        std::fs::write(go.join(name), "").unwrap();
    }
    pipes.end(&names[2]);
    assert_eq!(begun(dir.path(), STARTS + 3), STARTS + 3);
    drop(pipes);
    drop(to);
    std::fs::remove_dir_all(&go).unwrap();
    // Those that waited send no events.
    let ended = events.iter().filter(|e| matches!(e, Event::Ended { .. })).count();
    assert_eq!(ended, STARTS + 3);
}

#[test]
fn a_program_that_is_not_there_is_no_fault_of_a_node() {
    let (to, events) = sync_channel(9);
    let mut pipes = Pipes::default();
    let way = Shell { command: vec!["/no/such/program".to_owned()], ..Shell::new("") };
    pipes.start("n1", way, &to).unwrap();
    let event = proofmark_testing::recv("an event", &events);
    assert!(matches!(&event, Event::Failed(why) if why.contains("/no/such")), "{event:?}");
}

/// Starts the process of a node and waits for its first event.
fn first_event(way: Shell) -> (Pipes, Event) {
    let (to, events) = sync_channel(9);
    let mut pipes = Pipes::default();
    pipes.start("n1", way, &to).unwrap();
    let event = proofmark_testing::recv("an event", &events);
    (pipes, event)
}

#[test]
fn errors_before_the_first_answer_do_not_hold_it_up() {
    let script = "head -c 1000000 /dev/zero >&2; echo hello; exec cat";
    let (_pipes, event) = first_event(Shell::new(script));
    assert!(matches!(&event, Event::Line { line, .. } if line == b"hello"), "{event:?}");
}

#[test]
fn a_process_that_left_its_output_open_has_ended() {
    let (_pipes, event) = first_event(Shell::new("sleep 90 & echo no disk >&2; exit 3"));
    let Event::Ended { reason, .. } = &event else { panic!("{event:?}") };
    assert_eq!(reason, "ended with Some(Status(3)) after 1 tries: no disk");
}

#[test]
fn those_that_say_nothing_do_not_hold_others_up_for_long() {
    let dir = tempfile::tempdir().unwrap();
    let (to, _events) = sync_channel(100);
    let _pipes = started(dir.path(), Duration::from_millis(1), &to);
    assert_eq!(begun(dir.path(), STARTS + 5), STARTS + 5);
}

#[test]
fn a_refused_process_starts_again_and_its_program_comes_when_it_asks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("program");
    std::fs::write(&path, "a program").unwrap();
    let script = format!(
        "echo x >>{0}/tries; [ $(wc -l <{0}/tries) -gt 2 ] || {{ echo refused >&2; exit 255; }}; \
         printf \"%s\" \"banner without end\"; echo; echo {READY}; \
         head -c 9; echo; cat",
        dir.path().display()
    );
    let way = Shell { program: Some(path), refused: true, ..Shell::new(&script) };
    let (mut pipes, event) = first_event(way);
    assert!(
        matches!(&event, Event::Line { line, .. } if line == b"banner without end"),
        "{event:?}"
    );
    pipes.end("n1");
    let tries = std::fs::read_to_string(dir.path().join("tries")).unwrap();
    assert_eq!(tries.lines().count(), 3);
}

#[test]
fn the_program_comes_once_the_node_asks_and_orders_follow() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("program");
    std::fs::write(&path, "a program").unwrap();
    let script = format!("echo {READY}; head -c 9; echo; exec cat");
    let (to, events) = sync_channel(9);
    let mut pipes = Pipes::default();
    let way = Shell { program: Some(path), ..Shell::new(&script) };
    pipes.start("n1", way, &to).unwrap();
    pipes.keep_alive();
    let mut lines = Vec::new();
    let mut copied = Vec::new();
    while lines.len() < 2 {
        match proofmark_testing::recv("an event", &events) {
            Event::Line { line, .. } => lines.push(String::from_utf8(line).unwrap()),
            Event::Copying { copied: bytes, .. } => copied.push(bytes.bytes),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(lines, ["a program", ""]);
    assert_eq!(copied, [0, 9]);
}
