//! The run of a tool for one of proofmark's configurations: the same work, on the same CPUs and
//! disk.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use proofmark_model::key::{Key, Kind};
use proofmark_model::{Params, WorkloadSpec};
use proofmark_process::{Answer, Origin, StartOptions, Stream};

use crate::program::on_path;
use crate::{Figure, Output};

/// A configuration of proofmark that a tool repeats.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The workload of the configuration.
    pub spec: &'a WorkloadSpec,
    /// The tool's test that does the same work, by the tool's own name.
    pub test: &'a str,
    /// All parameters of the configuration.
    pub params: &'a Params,
    /// The seconds of one of proofmark's trials.
    pub seconds: f64,
    /// The units of work in one of proofmark's trials.
    pub work: f64,
    /// The CPUs of proofmark's threads. The tool's whole process is pinned to them.
    pub cpus: &'a [u32],
    /// A fully written file of the configuration's `file_size` on the measured disk. It has no
    /// name: a tool must neither remove nor recreate it. `/` for other workloads.
    pub file: &'a Path,
    /// A port of this machine on which no process listens.
    pub port: u16,
}

impl Task<'_> {
    /// Returns a parameter that is a number above zero. Fails if there is none: `n is not set`.
    pub(crate) fn number<T>(&self, key: Key<T>) -> Result<u64, String>
    where
        T: for<'v> Kind<Value<'v> = u64>,
    {
        let number = self.params.get(key).filter(|n| *n > 0);
        number.ok_or_else(|| format!("{key} is not set"))
    }
}

/// The arguments and files of a run, in its own folder, on the task's CPUs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Invocation {
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// The variables added to its environment.
    pub environment: Vec<(&'static str, String)>,
    /// The files in its folder, by name.
    pub files: Vec<(&'static str, String)>,
    /// The file in its folder with its output; `None`: standard output.
    pub output: Option<&'static str>,
    /// The server's program and arguments. It starts before the tool, which waits until the server
    /// is ready, and is killed after it.
    pub server: Option<(PathBuf, Vec<String>)>,
    /// The sign that the server is ready.
    pub ready: Ready,
}

/// The sign that a tool's server is ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ready {
    /// It listens on the task's TCP port.
    #[default]
    Tcp,
    /// A UDP socket of it has the task's port.
    Udp,
}

impl Ready {
    /// Returns true if a server of this machine is ready, by `/proc/net`. A trial connection would
    /// use up a server that serves only one client.
    pub fn on(self, port: u16) -> bool {
        let tables = match self {
            Self::Tcp => ["/proc/net/tcp", "/proc/net/tcp6"],
            Self::Udp => ["/proc/net/udp", "/proc/net/udp6"],
        };
        let read = |table| std::fs::read_to_string(table).unwrap_or_default();
        tables.into_iter().any(|table| self.is_listed(&read(table), port))
    }

    /// Returns true if the table has a waiting socket with that port.
    fn is_listed(self, table: &str, port: u16) -> bool {
        // An unconnected UDP socket has the state of a closed one.
        let state = match self {
            Self::Tcp => "0A",
            Self::Udp => "07",
        };
        table.lines().skip(1).any(|line| {
            let mut words = line.split_whitespace();
            let local = words.nth(1).and_then(|address| address.rsplit_once(':'));
            let local_port = local.and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
            local_port == Some(port) && words.nth(1) == Some(state)
        })
    }
}

/// A tool on this machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Installed {
    /// The program.
    pub program: PathBuf,
    /// The version that it reports; otherwise the reason why it is unknown.
    pub version: String,
}

impl Installed {
    /// Finds the first of these programs, which prints its version with this argument.
    pub(crate) fn on_path(programs: &[&str], argument: &str) -> Option<Self> {
        let program = on_path(programs)?;
        Some(Self { version: version(&program, argument), program })
    }

    /// Creates an entry for a program that reports no version.
    pub(crate) fn without_version(program: PathBuf) -> Self {
        Self { program, version: NO_VERSION.to_owned() }
    }
}

/// The version of a program that does not report one.
const NO_VERSION: &str = "unknown version";

/// Refuses a task with this reason if the condition is true.
pub(crate) fn refuse_if(is_so: bool, why: &str) -> Result<(), String> {
    if is_so { Err(why.to_owned()) } else { Ok(()) }
}

/// A tool that can run proofmark's configurations. The defaults are those of a tool whose output
/// proofmark only reads: it is never run.
pub trait ReferenceRunner: Sync {
    /// Finds the tool on this machine. It runs no benchmark.
    fn installed(&self) -> Option<Installed> {
        None
    }

    /// Returns what the figure of a test counts, with the differences to proofmark's. `None` for
    /// tests that the tool is not run for.
    fn counts(&self, _test: &str) -> Option<&'static str> {
        None
    }

    /// Returns the invocation for a task of a test in `counts`. Fails with the reason why the tool
    /// cannot do the same work, in a few words: `it has no queue depth`.
    fn invocation(&self, _installed: &Installed, _task: &Task) -> Result<Invocation, String> {
        Err("proofmark only reads its output".to_owned())
    }

    /// Returns the shortest seconds of work with an exact figure. proofmark's trials last as long.
    fn shortest(&self) -> f64 {
        0.0
    }

    /// Returns the seconds of a run, with the time before and after the work.
    fn takes(&self, task: &Task) -> f64 {
        task.seconds + 0.5
    }

    /// Returns the maximum memory of a run in bytes, over all its processes, without the few MiB of
    /// any program.
    fn memory(&self, _: &Task) -> u64 {
        0
    }

    /// Returns true if the output reports the time of the timed work. If not, a trial's seconds
    /// only give the rate, and the caller uses the duration of the run.
    fn reports_time(&self) -> bool {
        true
    }

    /// Returns the figure of an output that belongs to the task; by default the first of its test.
    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        output.figures.into_iter().find(|f| f.test == task.test)
    }
}

/// Returns the version that a program prints with this argument, such as `3.33` in `fio-3.33`.
fn version(program: &Path, argument: &str) -> String {
    let output = ask(Command::new(program).arg(argument)).map(|a| [a.output, a.errors].concat());
    version_in(&output.unwrap_or_default()).unwrap_or_else(|| NO_VERSION.to_owned())
}

/// Returns the first word with a digit and a point, without the text before the digit.
fn version_in(text: &str) -> Option<String> {
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')'));
    words.find_map(|word| {
        let from = word.find(|c: char| c.is_ascii_digit())?;
        let word = word[from..].trim_end_matches(['.', ':']);
        (word.contains('.') && word.len() < 40).then(|| word.to_owned())
    })
}

/// The time limit of a program that is asked for its version or the like.
const ANSWER: Duration = Duration::from_secs(5);

/// The maximum bytes that are read of each of its outputs.
const LONGEST: usize = 64 << 10;

/// Runs a program and returns its output. After [`ANSWER`] it is killed. `None` if it does not
/// start.
pub(crate) fn ask(command: &mut Command) -> Option<Answer> {
    let (origin, kept) = (Origin::Other, Stream::Head(LONGEST));
    let options = StartOptions { origin, output: kept, errors: kept, ..StartOptions::default() };
    proofmark_process::ask(command, options, &[], ANSWER).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_word_with_a_digit_and_a_point() {
        for (text, version) in [
            ("fio-3.33\n", Some("3.33")),
            ("iperf 3.12 (cJSON 1.7.15)\nLinux", Some("3.12")),
            ("iperf version 2.1.8 (12 August 2022) pthreads", Some("2.1.8")),
            ("Netperf version 2.7.0", Some("2.7.0")),
            ("\tVersion $Revision: 3.489 $", Some("3.489")),
            ("no version here 5", None),
            ("", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version, "{text}");
        }
    }

    #[test]
    fn a_server_is_ready_when_its_port_is_taken() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue
   0: 0100007F:15B3 00000000:0000 0A 00000000:00000000
   1: 0100007F:15B4 0100007F:15B3 01 00000000:00000000
   2: 00000000000000000000000001000000:15B5 00000000000000000000000000000000:0000 07 0:0
   3: short";
        assert!(Ready::Tcp.is_listed(table, 0x15b3) && Ready::Udp.is_listed(table, 0x15b5));
        assert!(!Ready::Tcp.is_listed(table, 0x15b4), "connected");
        assert!(!Ready::Udp.is_listed(table, 0x15b3) && !Ready::Tcp.is_listed(table, 1));
        let (tcp, udp) =
            (std::net::TcpListener::bind("127.0.0.1:0"), std::net::UdpSocket::bind("127.0.0.1:0"));
        let (tcp, udp) = (tcp.unwrap(), udp.unwrap());
        let of = |address: std::io::Result<std::net::SocketAddr>| address.unwrap().port();
        assert!(Ready::Tcp.on(of(tcp.local_addr())) && Ready::Udp.on(of(udp.local_addr())));
    }
}
