//! Runs another program in its own folder, on its CPUs, with a time limit.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use proofmark_engine::Stop;
use proofmark_model::{SystemState, shell_word};
use proofmark_process::{ChildProcess, Ended, Origin, StartOptions, Stream};
use proofmark_reference::{Invocation, Ready};

use crate::error::RunError;
use crate::system_limits::{explained, state};

/// Maximum bytes of output that are kept. The rest is read and dropped.
const LARGEST: usize = 64 << 20;

/// Time limit for a server to listen.
const READY: Duration = Duration::from_secs(5);

/// Interval between checks whether the run was stopped.
const STEP: Duration = Duration::from_millis(10);

/// Time limit for the wrapper to end its program.
const GRACE: Duration = Duration::from_secs(3);

/// Time for the last output of a program that has ended: another process may hold its pipe open.
const LAST_OUTPUT: Duration = Duration::from_secs(5);

/// Place in which programs run.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Command that runs a program. It gets CPUs, `--`, the program and its arguments. On SIGTERM
    /// it ends the program with all processes that this started: see `proofmark tool`.
    pub wrapper: &'a [OsString],
    /// CPUs of the program.
    pub cpus: &'a [u32],
    /// CPUs of its server.
    pub server: &'a [u32],
    /// Port on which the server listens.
    pub port: u16,
    /// Stops the run.
    pub stop: &'a Stop,
    /// Time limit for the program.
    pub limit: Duration,
}

/// Runs a program to its end and returns its output. An error has the program's last output.
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
            file.and_then(read_head).map_err(|e| format!("it wrote no {name}: {e}"))
        }
    }
}

/// Reads the beginning of a file.
fn read_head(file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(LARGEST as u64).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A process that runs a program. Dropping it ends both.
struct Process {
    /// The limits of the system when it started.
    before: SystemState,
    child: ChildProcess,
}

impl Process {
    fn start(mut command: Command) -> Result<Self, String> {
        let before = state();
        let options = StartOptions {
            origin: Origin::Other,
            output: Stream::Head(LARGEST),
            errors: Stream::Head(LARGEST),
            grace: GRACE,
            ..StartOptions::default()
        };
        let child = ChildProcess::start(&mut command, options)
            .map_err(|e| explained(format!("it cannot be started: {e}"), None, &before))?;
        Ok(Self { before, child })
    }

    /// Waits until the server listens on its port.
    fn is_ready(&mut self, ready: Ready, place: &Place) -> Result<(), String> {
        let begun = Instant::now();
        while !ready.on(place.port) {
            if let Some(ended) = self.child.wait(STEP) {
                return Err(format!("its server {}", self.describe_end(ended)));
            }
            if begun.elapsed() > READY {
                return Err(format!("its server did not listen on port {} for 5 s", place.port));
            }
            stopped(place.stop)?;
        }
        Ok(())
    }

    /// Waits for its end and returns its standard output, or if that is empty its standard error.
    fn wait(mut self, place: &Place) -> Result<String, String> {
        let begun = Instant::now();
        let ended = loop {
            if let Some(ended) = self.child.wait(STEP) {
                break ended;
            }
            stopped(place.stop)?;
            if begun.elapsed() > place.limit {
                return Err(format!("it did not end within {} s", place.limit.as_secs()));
            }
        };
        if !ended.exit.is_success() {
            return Err(format!("it {}", self.describe_end(ended)));
        }
        let output = self.child.output(LAST_OUTPUT);
        Ok(if output.trim().is_empty() { self.child.last_words(LAST_OUTPUT) } else { output })
    }

    /// Describes an end, as in `exited with status 1: its last output`. The wrapper reports a
    /// signal as a shell does.
    fn describe_end(&self, ended: Ended) -> String {
        let words = [self.child.last_words(LAST_OUTPUT), self.child.output(LAST_OUTPUT)];
        let last = words.iter().find(|w| !w.trim().is_empty()).map_or("", String::as_str);
        let exit = ended.exit.from_shell();
        explained(exit.with_last_line(last), exit.signal().as_deref(), &self.before)
    }
}

fn stopped(stop: &Stop) -> Result<(), String> {
    match stop.stopped_by() {
        Some(by) => Err(format!("stopped by {by}")),
        None if stop.is_time_over() => Err("the time limit of the run ended it".to_owned()),
        None => Ok(()),
    }
}

/// Returns this program's own file, which its children run. Without /proc it is the path that Linux
/// ran: the program's name may be that of another file in the current folder.
pub fn own_program() -> Result<PathBuf, RunError> {
    // A removed program still runs and can be run again, but its path may now name another file.
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

/// Returns a port on which no process listens now.
pub fn free_port() -> io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Returns the command as typed, with a note in words about its surroundings.
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

/// Returns the words of a command line. FILE stands for the temporary file, which no longer exists.
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
        assert_eq!(failed("echo a; echo b >&2; echo c >&2; exit 3"), "it exited with status 3: c");
        assert_eq!(failed("exit 139"), "it was killed by SIGSEGV");
        assert_eq!(failed("kill -SEGV $$"), "it was killed by SIGSEGV");
        let short = waited(sh("exec sleep 60"), Duration::from_millis(50)).unwrap_err();
        assert!(short.starts_with("it did not end within"), "{short}");
    }

    #[test]
    fn what_a_program_leaves_behind_with_its_output_open_is_not_waited_for() {
        let begun = Instant::now();
        assert_eq!(waited(sh("sleep 90 & echo 5"), LONG).unwrap(), "5\n");
        assert!(begun.elapsed() < Duration::from_secs(60), "it waited for the sleep");
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
        assert_eq!(why, "its server exited with status 4: no");
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
