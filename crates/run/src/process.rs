//! Runs another program: in a folder of its own, on its CPUs, for so long at the most.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use proofmark_engine::{Stop, signal_name};
use proofmark_model::{SystemState, shell_word};
use proofmark_reference::{Invocation, Ready, spawn};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::error::RunError;
use crate::system_limits::{explained, state};

/// Largest output that is kept, in bytes; what is more is read and left.
const LARGEST: u64 = 64 << 20;

/// Most of a program's last words that are shown.
const WORDS: usize = 200;

/// Longest time until a server listens.
const READY: Duration = Duration::from_secs(5);

/// How often a process is looked at: seldom enough to cost the program nothing.
const STEP: Duration = Duration::from_millis(10);

/// How long what runs a program may take to end it.
const GRACE: Duration = Duration::from_secs(3);

/// Where programs run.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// What runs the program when it is given CPUs, `--`, the program and its arguments, and ends
    /// it with all that it started on SIGTERM: see `proofmark tool`.
    pub wrapper: &'a [OsString],
    /// CPUs of the program.
    pub cpus: &'a [u32],
    /// CPUs of its other end.
    pub server: &'a [u32],
    /// Port on which that listens.
    pub port: u16,
    /// How the run is stopped.
    pub stop: &'a Stop,
    /// Longest that the program may take.
    pub limit: Duration,
}

/// Runs a program to its end: its output, or why there is none, with the program's last words.
pub fn run(program: &Path, invocation: &Invocation, place: &Place) -> Result<String, String> {
    let folder =
        tempfile::tempdir().map_err(|e| format!("cannot create a directory for it: {e}"))?;
    for (name, text) in &invocation.files {
        fs::write(folder.path().join(name), text).map_err(|e| format!("{name}: {e}"))?;
    }
    let start = |program: &Path, arguments: &[String], cpus: &[u32]| {
        let [wrapper, first @ ..] = place.wrapper else {
            return Err("it has no wrapper".to_owned());
        };
        let mut command = Command::new(wrapper);
        command
            .args(first)
            .args(cpus.iter().map(|cpu| format!("--cpu={cpu}")))
            .arg("--")
            .arg(program)
            .args(arguments)
            .env("LC_ALL", "C")
            .envs(invocation.environment.iter().map(|(k, v)| (k, v)))
            .current_dir(folder.path());
        Process::start(command)
    };
    let _server = match &invocation.server {
        None => None,
        Some((program, arguments)) => {
            let mut server = start(program, arguments, place.server)?;
            server.is_ready(invocation.ready, place)?;
            Some(server)
        }
    };
    let output = start(program, &invocation.arguments, place.cpus)?.wait(place)?;
    match invocation.output {
        None => Ok(output),
        Some(name) => {
            let file = File::open(folder.path().join(name));
            file.map(bounded).map_err(|e| format!("it wrote no {name}: {e}"))
        }
    }
}

fn read_bounded(from: impl Read + Send + 'static) -> io::Result<JoinHandle<String>> {
    thread::Builder::new().spawn(|| bounded(from))
}

fn bounded(from: impl Read) -> String {
    let mut bytes = Vec::new();
    let mut from = from;
    let _ = from.by_ref().take(LARGEST).read_to_end(&mut bytes);
    let _ = io::copy(&mut from, &mut io::sink());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A process that runs a program; neither outlives this value.
struct Process {
    /// The limits of the system when it began.
    before: SystemState,
    child: Child,
    output: Option<JoinHandle<String>>,
    words: Option<JoinHandle<String>>,
}

impl Process {
    fn start(mut command: Command) -> Result<Self, String> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Its own group: Ctrl-C reaches the run alone, which then stops what it started.
            .process_group(0);
        let before = state();
        let failed = |what: &str, e: &io::Error, before: &SystemState| {
            explained(format!("{what} cannot be started: {e}"), None, before)
        };
        let child = spawn(&mut command).map_err(|e| failed("it", &e, &before))?;
        // From here on it is ended when this goes.
        let mut process = Self { before, child, output: None, words: None };
        let (out, err) = (process.child.stdout.take(), process.child.stderr.take());
        let no_thread = |e: io::Error| failed("a thread that reads it", &e, &process.before);
        process.output = out.map(read_bounded).transpose().map_err(no_thread)?;
        let no_thread = |e: io::Error| failed("a thread that reads it", &e, &process.before);
        process.words = err.map(read_bounded).transpose().map_err(no_thread)?;
        Ok(process)
    }

    fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    fn is_over(&mut self) -> bool {
        self.status().is_some()
    }

    /// Waits until the port is taken.
    fn is_ready(&mut self, ready: Ready, place: &Place) -> Result<(), String> {
        let begun = Instant::now();
        while !ready.on(place.port) {
            if self.is_over() {
                return Err(format!("its server {}", self.describe_end()));
            }
            if begun.elapsed() > READY {
                return Err(format!("its server did not listen on port {} for 5 s", place.port));
            }
            stopped(place.stop)?;
            thread::sleep(STEP);
        }
        Ok(())
    }

    /// Waits for its end; its standard output, or its standard error where that is all.
    fn wait(mut self, place: &Place) -> Result<String, String> {
        let begun = Instant::now();
        while !self.is_over() {
            stopped(place.stop)?;
            if begun.elapsed() > place.limit {
                return Err(format!("it did not end within {} s", place.limit.as_secs()));
            }
            thread::sleep(STEP);
        }
        stopped(place.stop)?;
        if !self.status().is_some_and(|s| s.success()) {
            return Err(format!("it {}", self.describe_end()));
        }
        let output = text(self.output.take());
        Ok(if output.trim().is_empty() { text(self.words.take()) } else { output })
    }

    /// `ended with status 1: its last words`, of one that is over.
    fn describe_end(&mut self) -> String {
        let words = [text(self.words.take()), text(self.output.take())];
        let last = words.iter().map(|w| w.trim()).find(|w| !w.is_empty()).unwrap_or_default();
        let (how, signal) = match self.status().and_then(|s| s.code()) {
            Some(code @ 129..) => {
                let signal = signal_name(code - 128);
                (format!("was killed by {signal}"), Some(signal))
            }
            Some(code) => (format!("ended with status {code}"), None),
            None => ("was killed".to_owned(), None),
        };
        let how = match last.lines().rfind(|l| !l.trim().is_empty()) {
            Some(line) => format!("{how}: {}", line.trim().chars().take(WORDS).collect::<String>()),
            None => how,
        };
        explained(how, signal.as_deref(), &self.before)
    }

    /// Has it end with all that it started.
    fn end(&mut self) {
        let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) else { return };
        let _ = kill_process(pid, Signal::TERM);
        let asked = Instant::now();
        while !self.is_over() && asked.elapsed() < GRACE {
            thread::sleep(STEP);
        }
        if !self.is_over() {
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_over() {
            self.end();
        }
    }
}

fn stopped(stop: &Stop) -> Result<(), String> {
    stop.stopped_by().map_or(Ok(()), |by| Err(format!("stopped by {by}")))
}

fn text(reader: Option<JoinHandle<String>>) -> String {
    reader.and_then(|r| r.join().ok()).unwrap_or_default()
}

/// This program's own file, which its children run; without /proc, by the path that the kernel ran: the name by which it was called may
/// be that of another file in the current folder.
pub fn own_program() -> Result<PathBuf, RunError> {
    // A program that was removed still runs, and can be run again; not what others put in its place.
    let there = |path: PathBuf| match path.as_os_str().as_bytes().ends_with(b" (deleted)") {
        true => PathBuf::from("/proc/self/exe"),
        false => path,
    };
    std::env::current_exe().map(there).or_else(|e| {
        let run = OsStr::from_bytes(rustix::param::linux_execfn().to_bytes());
        let what = format!("cannot find this program's own file ({e}); call it by its path");
        Path::new(run).canonicalize().map_err(|why| RunError::failed(&what, &why))
    })
}

/// A port that nobody listens on now.
pub fn free_port() -> io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// What was run, as a person would type it, with a note in words around it.
pub fn shown(program: &Path, invocation: &Invocation, cpus: &[u32], file: &Path) -> String {
    let environment = invocation.environment.iter().map(|(name, value)| format!("{name}={value}"));
    let mut words: Vec<String> = environment.collect();
    if !cpus.is_empty() {
        let list: Vec<_> = cpus.iter().map(u32::to_string).collect();
        words.extend(["taskset".to_owned(), "-c".to_owned(), list.join(",")]);
    }
    words.extend(typed(program, &invocation.arguments, file));
    let mut text = words.join(" ");
    if let Some((program, arguments)) = &invocation.server {
        text += &format!("  (against {})", typed(program, arguments, file).join(" "));
    }
    if !invocation.files.is_empty() {
        let names: Vec<_> = invocation.files.iter().map(|(name, _)| *name).collect();
        text += &format!("  (in a folder with {})", names.join(", "));
    }
    text
}

/// The words of a command line; the file, which is gone, by the word FILE.
fn typed(program: &Path, arguments: &[String], file: &Path) -> Vec<String> {
    let program = program.file_name().unwrap_or(OsStr::new("")).to_string_lossy().into_owned();
    let file = file.to_string_lossy();
    let named = |word: &String| match file.len() {
        0 | 1 => word.clone(),
        _ => word.replace(&*file, "FILE"),
    };
    std::iter::once(&program).chain(arguments).map(named).map(|w| shell_word(&w)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start(command).unwrap()
    }

    fn within(stop: &Stop, limit: Duration) -> Place<'_> {
        let port = free_port().unwrap();
        Place { wrapper: &[], cpus: &[], server: &[], port, stop, limit }
    }

    fn waited(process: Process, limit: Duration) -> Result<String, String> {
        process.wait(&within(&Stop::default(), limit))
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn the_output_comes_back_and_each_failure_has_its_line() {
        assert_eq!(waited(sh("echo 5"), LONG).unwrap(), "5\n");
        assert_eq!(waited(sh("echo 6 >&2"), LONG).unwrap(), "6\n");
        let failed = |script: &str| waited(sh(script), LONG).unwrap_err();
        assert_eq!(failed("echo a; echo b >&2; echo c >&2; exit 3"), "it ended with status 3: c");
        assert_eq!(failed("exit 139"), "it was killed by SIGSEGV");
        assert_eq!(failed("kill -SEGV $$"), "it was killed");
        let short = waited(sh("exec sleep 60"), Duration::from_millis(50)).unwrap_err();
        assert!(short.starts_with("it did not end within"), "{short}");
    }

    #[test]
    fn what_does_not_end_when_told_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let ready = folder.path().join("ready");
        let script =
            format!("trap '' TERM; : > '{}'; while :; do sleep 0.1; done", ready.display());
        let mut process = sh(&script);
        proofmark_testing::wait_until("a shell that ignores SIGTERM", || ready.exists());
        let begun = Instant::now();
        process.end();
        assert!(begun.elapsed() >= GRACE && begun.elapsed() < LONG);
    }

    #[test]
    fn a_server_is_waited_for_until_it_listens_or_dies() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stop = Stop::default();
        let taken = Place { port: listener.local_addr().unwrap().port(), ..within(&stop, LONG) };
        assert_eq!(sh("exec sleep 63").is_ready(Ready::Tcp, &taken), Ok(()));
        let free = within(&stop, LONG);
        let why = sh("exec sleep 63").is_ready(Ready::Tcp, &free).unwrap_err();
        assert!(why.contains("did not listen"), "{why}");
        let why = sh("echo no >&2; exit 4").is_ready(Ready::Tcp, &free).unwrap_err();
        assert_eq!(why, "its server ended with status 4: no");
    }

    #[test]
    fn a_command_can_be_typed_again() {
        let arguments = ["--a=b", "two words", "it's", "", "--filename=/proc/5/fd/7"];
        let invocation = Invocation {
            arguments: arguments.map(str::to_owned).into(),
            environment: vec![("N", "2".to_owned())],
            files: vec![("in.txt", String::new())],
            server: Some(("/usr/bin/far".into(), vec!["-s".to_owned()])),
            ..Invocation::default()
        };
        assert_eq!(
            shown(Path::new("/usr/bin/fio"), &invocation, &[0, 2], Path::new("/proc/5/fd/7")),
            r"N=2 taskset -c 0,2 fio --a=b 'two words' 'it'\''s' '' --filename=FILE  (against far -s)  (in a folder with in.txt)"
        );
        assert_eq!(shown(Path::new("x"), &Invocation::default(), &[], Path::new("/")), "x");
    }
}
