//! Runs another program: in a folder of its own, on its CPUs, for so long at the most.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use proofmark_engine::Stop;
use proofmark_reference::{Invocation, Ready};
use rustix::process::{Pid, Signal, kill_process_group};

/// Largest output that is kept, in bytes; what is more is read and left.
const LARGEST: u64 = 64 << 20;

/// Most of a program's last words that are shown.
const WORDS: usize = 200;

/// Longest time until a server listens.
const READY: Duration = Duration::from_secs(5);

/// How often a process is looked at.
const STEP: Duration = Duration::from_millis(2);

/// Where programs run.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// What becomes the program when it is given CPUs, `--`, the program and its arguments.
    pub wrapper: &'a [OsString],
    /// CPUs of the program.
    pub near: &'a [u32],
    /// CPUs of its other end.
    pub far: &'a [u32],
    /// Port on which that listens.
    pub port: u16,
    /// How the run is stopped.
    pub stop: &'a Stop,
    /// Longest that the program may take.
    pub limit: Duration,
}

/// Runs a program to its end; what it put out.
///
/// # Errors
/// Why there is no output, with the program's last words.
pub fn run(program: &Path, invocation: &Invocation, place: &Place) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|e| format!("no folder for it can be made: {e}"))?;
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
        Process::start(command, place.stop)
    };
    let _server = match &invocation.server {
        None => None,
        Some((program, arguments)) => {
            let mut server = start(program, arguments, place.far)?;
            server.is_ready(invocation.ready, place.port)?;
            Some(server)
        }
    };
    let ended = start(program, &invocation.arguments, place.near)?.wait(place.limit)?;
    match invocation.output {
        None => Ok(ended),
        Some(name) => {
            let file = File::open(folder.path().join(name));
            file.map(bounded).map_err(|e| format!("it left no {name}: {e}"))
        }
    }
}

fn bounded(from: impl Read) -> String {
    let mut bytes = Vec::new();
    let mut from = from;
    let _ = from.by_ref().take(LARGEST).read_to_end(&mut bytes);
    let _ = io::copy(&mut from, &mut io::sink());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A process with its group, which does not outlive this value.
struct Process {
    child: Child,
    output: Option<JoinHandle<String>>,
    words: Option<JoinHandle<String>>,
    stop: Stop,
}

impl Process {
    fn start(mut command: Command, stop: &Stop) -> Result<Self, String> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Its own group: Ctrl-C reaches the run alone, which then stops what it started.
            .process_group(0)
            .spawn();
        let mut child = child.map_err(|e| format!("it cannot be started: {e}"))?;
        stop.add(child.id());
        let output = child.stdout.take().map(|out| thread::spawn(|| bounded(out)));
        let words = child.stderr.take().map(|err| thread::spawn(|| bounded(err)));
        Ok(Self { child, output, words, stop: stop.clone() })
    }

    /// Waits until the port is taken.
    fn is_ready(&mut self, ready: Ready, port: u16) -> Result<(), String> {
        let begun = Instant::now();
        while !ready.on(port) {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("its server {}", self.told(status)));
            }
            if begun.elapsed() > READY {
                return Err(format!("its server did not listen on port {port} for 5 s"));
            }
            thread::sleep(STEP);
        }
        Ok(())
    }

    /// Waits for its end; its standard output, and its standard error where that is all.
    fn wait(mut self, limit: Duration) -> Result<String, String> {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if begun.elapsed() > limit => {
                    return Err(format!("it did not end within {} s", limit.as_secs()));
                }
                Ok(None) => thread::sleep(STEP),
                Err(e) => return Err(format!("it cannot be waited for: {e}")),
            }
        };
        if let Some(by) = self.stop.stopped_by() {
            return Err(format!("stopped by {by}"));
        }
        if !status.success() {
            return Err(format!("it {}", self.told(status)));
        }
        // What it left running would hold its output open.
        self.kill();
        let output = text(self.output.take());
        Ok(if output.trim().is_empty() { text(self.words.take()) } else { output })
    }

    /// `ended with status 1: its last words`.
    fn told(&mut self, status: ExitStatus) -> String {
        self.kill();
        let words = [text(self.words.take()), text(self.output.take())];
        let last = words.iter().map(|w| w.trim()).find(|w| !w.is_empty()).unwrap_or_default();
        let how = match (status.code(), status.signal()) {
            (Some(code), _) => format!("ended with status {code}"),
            (None, signal) => format!("was killed by signal {}", signal.unwrap_or_default()),
        };
        match last.lines().rfind(|l| !l.trim().is_empty()) {
            Some(line) => format!("{how}: {}", line.trim().chars().take(WORDS).collect::<String>()),
            None => how,
        }
    }

    fn kill(&self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // There may be nobody left in it.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop.remove(self.child.id());
        self.kill();
        let _ = self.child.wait();
    }
}

fn text(reader: Option<JoinHandle<String>>) -> String {
    reader.and_then(|r| r.join().ok()).unwrap_or_default()
}

/// A port that nobody listens on now.
///
/// # Errors
/// If there is none.
pub fn free_port() -> io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// The command line as a person would type it.
pub fn shown(program: &Path, arguments: &[String]) -> String {
    const PLAIN: &str = "-_./=:,@%+";
    let quoted = |word: &str| match word.chars().all(|c| c.is_alphanumeric() || PLAIN.contains(c)) {
        true if !word.is_empty() => word.to_owned(),
        _ => format!("'{}'", word.replace('\'', r"'\''")),
    };
    let program = program.file_name().unwrap_or(OsStr::new("")).to_string_lossy();
    let words = std::iter::once(program.as_ref()).chain(arguments.iter().map(String::as_str));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start(command, &Stop::default()).unwrap()
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn the_output_comes_back_and_each_failure_has_its_line() {
        assert_eq!(sh("echo 5").wait(LONG).unwrap(), "5\n");
        assert_eq!(sh("echo 6 >&2").wait(LONG).unwrap(), "6\n");
        let failed = |script: &str| sh(script).wait(LONG).unwrap_err();
        assert_eq!(failed("echo a; echo b >&2; echo c >&2; exit 3"), "it ended with status 3: c");
        assert_eq!(failed("kill -SEGV $$"), "it was killed by signal 11");
        let short = sh("sleep 60").wait(Duration::from_millis(50)).unwrap_err();
        assert!(short.starts_with("it did not end within"), "{short}");
    }

    #[test]
    fn nothing_that_it_started_stays() {
        let begun = Instant::now();
        let output = sh("sleep 61 & echo $!").wait(LONG).unwrap();
        let left = rustix::process::test_kill_process(
            Pid::from_raw(output.trim().parse().unwrap()).unwrap(),
        );
        thread::sleep(Duration::from_millis(50));
        assert!(left.is_err() || !Path::new(&format!("/proc/{}/fd/1", output.trim())).exists());
        assert!(begun.elapsed() < LONG, "a child that held the output open was waited for");
    }

    #[test]
    fn a_stop_ends_it() {
        let stop = Stop::default();
        let mut command = Command::new("sleep");
        command.arg("62");
        let process = Process::start(command, &stop).unwrap();
        stop.stop("SIGINT");
        assert_eq!(process.wait(LONG).unwrap_err(), "stopped by SIGINT");
    }

    #[test]
    fn a_server_is_waited_for_until_it_listens_or_dies() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = listener.local_addr().unwrap().port();
        assert_eq!(sh("sleep 63").is_ready(Ready::Tcp, taken), Ok(()));
        let why = sh("sleep 63").is_ready(Ready::Tcp, free_port().unwrap()).unwrap_err();
        assert!(why.contains("did not listen"), "{why}");
        let free = free_port().unwrap();
        let why = sh("echo no >&2; exit 4").is_ready(Ready::Tcp, free).unwrap_err();
        assert_eq!(why, "its server ended with status 4: no");
    }

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["--a=b", "two words", "it's", ""].map(str::to_owned);
        assert_eq!(shown(Path::new("/usr/bin/fio"), &words), r"fio --a=b 'two words' 'it'\''s' ''");
    }
}
