//! How a tool is run for one of our points: the same work, at the same place.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use proofmark_model::key::{Key, Kind};
use proofmark_model::{Params, WorkloadSpec};
use proofmark_process::{Answer, Origin, StartOptions, Stream};

use crate::program::on_path;
use crate::{Figure, Output};

/// One of our points, as a tool is to repeat it.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The point's workload.
    pub spec: &'a WorkloadSpec,
    /// The tool's test that does the same work, by the tool's own name of it.
    pub test: &'a str,
    /// Every parameter of the point.
    pub params: &'a Params,
    /// Seconds that one of our trials takes.
    pub seconds: f64,
    /// Units of work in one of our trials.
    pub work: f64,
    /// CPUs that our threads are pinned to, which the tool's whole process is.
    pub cpus: &'a [u32],
    /// A file of the point's `file_size` on the disk that is measured, written whole; it has no
    /// name of its own and must be neither removed nor made anew. `/` for points without.
    pub file: &'a Path,
    /// A port of this machine that nobody listens on.
    pub port: u16,
}

impl Task<'_> {
    /// A parameter that is a number above zero; fails if it is none: `n is not set`.
    pub(crate) fn number<T>(&self, key: Key<T>) -> Result<u64, String>
    where
        T: for<'v> Kind<Value<'v> = u64>,
    {
        let number = self.params.get(key).filter(|n| *n > 0);
        number.ok_or_else(|| format!("{key} is not set"))
    }
}

/// What is run, in a folder of its own, on the task's CPUs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Invocation {
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// What is added to its environment.
    pub environment: Vec<(&'static str, String)>,
    /// Files that it finds in its folder, by name.
    pub files: Vec<(&'static str, String)>,
    /// File in its folder that holds its output; `None`: standard output does.
    pub output: Option<&'static str>,
    /// The other end, started before it and killed after it: program and arguments. It is
    /// given the time until it is ready.
    pub server: Option<(PathBuf, Vec<String>)>,
    /// By what the server shows that it is.
    pub ready: Ready,
}

/// By what a tool's server shows that it is ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ready {
    /// It listens on the task's port.
    #[default]
    Tcp,
    /// Its socket of UDP has the task's port.
    Udp,
}

impl Ready {
    /// Whether a server of this machine is ready, as the system reports (`/proc/net`). A
    /// connection that only tries would be the client of a server that serves one.
    pub fn on(self, port: u16) -> bool {
        let tables = match self {
            Self::Tcp => ["/proc/net/tcp", "/proc/net/tcp6"],
            Self::Udp => ["/proc/net/udp", "/proc/net/udp6"],
        };
        let read = |table| std::fs::read_to_string(table).unwrap_or_default();
        tables.into_iter().any(|table| self.is_listed(&read(table), port))
    }

    /// Whether such a table has a socket that waits at that port.
    fn is_listed(self, table: &str, port: u16) -> bool {
        // Of UDP a socket that is not connected has the state of a closed one.
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

/// A tool that is on this machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Installed {
    /// The program.
    pub program: PathBuf,
    /// Its version, as it says itself; otherwise why it is not known.
    pub version: String,
}

impl Installed {
    /// The first of these programs that is here, which prints its version with this argument.
    pub(crate) fn on_path(programs: &[&str], argument: &str) -> Option<Self> {
        let program = on_path(programs)?;
        Some(Self { version: version(&program, argument), program })
    }

    /// A program that reports no version.
    pub(crate) fn without_version(program: PathBuf) -> Self {
        Self { program, version: NO_VERSION.to_owned() }
    }
}

/// The version of a program that does not report one.
const NO_VERSION: &str = "unknown version";

/// Refuses a task with these words if that is so.
pub(crate) fn refuse_if(is_so: bool, why: &str) -> Result<(), String> {
    if is_so { Err(why.to_owned()) } else { Ok(()) }
}

/// A tool that can run proofmark's configurations.
pub trait ReferenceRunner: Sync {
    /// Finds it on this machine; runs nothing that lasts.
    fn installed(&self) -> Option<Installed>;

    /// What its figure of that test counts, where that may differ from proofmark's; `None` for
    /// tests that it is not run for.
    fn counts(&self, test: &str) -> Option<&'static str>;

    /// How it does a task's work, of a test that it counts; or why it cannot do that very work, in
    /// a few words: `it has no queue depth`.
    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String>;

    /// Seconds of work from which on its figure is exact: proofmark's trials last as long.
    fn shortest(&self) -> f64 {
        0.0
    }

    /// Seconds that one run takes, with what it does before and after the work.
    fn takes(&self, task: &Task) -> f64 {
        task.seconds + 0.5
    }

    /// Bytes of memory that one run takes at most, over all its processes, but for the few MiB
    /// that any program does.
    fn memory(&self, _: &Task) -> u64 {
        0
    }

    /// Whether its output reports how long the timed work took. Where it does not, the seconds of
    /// a figure's trials only give the rate, and its caller knows how long the run was.
    fn reports_time(&self) -> bool {
        true
    }

    /// The figure of an output that is the task's; by default the first of its test.
    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        output.figures.into_iter().find(|f| f.test == task.test)
    }
}

/// What a program says of its version with this argument: the first word of its output with a
/// digit and a point in it, such as `3.33` of `fio-3.33`.
fn version(program: &Path, argument: &str) -> String {
    let output = ask(Command::new(program).arg(argument)).map(|a| [a.output, a.errors].concat());
    version_in(&output.unwrap_or_default()).unwrap_or_else(|| NO_VERSION.to_owned())
}

/// The first word with a digit and a point in it, without what is before the digit.
fn version_in(text: &str) -> Option<String> {
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')'));
    words.find_map(|word| {
        let from = word.find(|c: char| c.is_ascii_digit())?;
        let word = word[from..].trim_end_matches(['.', ':']);
        (word.contains('.') && word.len() < 40).then(|| word.to_owned())
    })
}

/// Longest that a program may take that is asked something.
const ANSWER: Duration = Duration::from_secs(5);

/// Most of each of its outputs that is read, in bytes.
const LONGEST: usize = 64 << 10;

/// Asks a program something; nothing of it is left after [`ANSWER`]. `None` if it does not start.
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
