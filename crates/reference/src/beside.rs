//! How a tool is run beside one of our points: the same work, at the same place.

use std::path::{Path, PathBuf};

use proofmark_model::Params;

use crate::{Figure, Output};

/// One of our points, as a tool is to repeat it.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// Kernel id.
    pub kernel: &'a str,
    /// Every knob of the point.
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
    /// Whether a server of this machine is ready, as the system tells (`/proc/net`). A
    /// connection that only tries would be the client of a server that serves one.
    pub fn on(self, port: u16) -> bool {
        let tables = match self {
            Self::Tcp => ["/proc/net/tcp", "/proc/net/tcp6"],
            Self::Udp => ["/proc/net/udp", "/proc/net/udp6"],
        };
        let told = |table| std::fs::read_to_string(table).unwrap_or_default();
        tables.into_iter().any(|table| self.told(&told(table), port))
    }

    /// Whether such a table has a socket that waits at that port.
    fn told(self, table: &str, port: u16) -> bool {
        // Of UDP a socket that is not connected has the state of a closed one.
        let state = match self {
            Self::Tcp => "0A",
            Self::Udp => "07",
        };
        table.lines().skip(1).any(|line| {
            let mut words = line.split_whitespace();
            let near = words.nth(1).and_then(|ends| ends.rsplit_once(':'));
            let near = near.and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
            near == Some(port) && words.nth(1) == Some(state)
        })
    }
}

/// A tool that is on this machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Installed {
    /// The program.
    pub program: PathBuf,
    /// Its version, as it says itself; a word of why not otherwise.
    pub version: String,
}

/// A tool that can be run beside our points.
pub trait Beside: Sync {
    /// Finds it on this machine; runs nothing that lasts.
    fn installed(&self) -> Option<Installed>;

    /// What brings it: `Debian: fio`.
    fn package(&self) -> &'static str;

    /// Its figure in the words of this kernel: what is counted, where that may differ from ours;
    /// `None` where it cannot do this kernel's work at all.
    fn counts(&self, kernel: &str) -> Option<&'static str>;

    /// How it does a task's work, of a kernel that it counts.
    ///
    /// # Errors
    /// Why it cannot do that very work, in a few words: `it has no queue depth`.
    fn invocation(&self, installed: &Installed, task: &Task) -> Result<Invocation, String>;

    /// Seconds of work from which on its figure is exact: our own trials last as long.
    fn shortest(&self) -> f64 {
        0.0
    }

    /// Seconds that one run takes, with what it does before and after the work.
    fn takes(&self, task: &Task) -> f64 {
        task.seconds + 0.5
    }

    /// The figure of an output that is the task's; by default the first of its kernel.
    fn figure(&self, task: &Task, output: Output) -> Option<Figure> {
        output.figures.into_iter().find(|f| f.kernel == task.kernel)
    }
}

/// The first of these programs that is on the `PATH` or in one of these folders.
pub(crate) fn on_path(programs: &[&str], folders: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let sbin = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let folders: Vec<PathBuf> =
        std::env::split_paths(&path).chain(folders.iter().map(PathBuf::from)).chain(sbin).collect();
    let candidates = programs.iter().flat_map(|p| folders.iter().map(move |f| f.join(p)));
    candidates.into_iter().find(|file| is_program(file))
}

/// Whether it is a file that may be run.
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// What a program says of its version with this argument: the first word of its output with a
/// digit and a point in it, such as `3.33` of `fio-3.33`.
pub(crate) fn version(program: &Path, argument: &str) -> String {
    let told = std::process::Command::new(program)
        .arg(argument)
        .stdin(std::process::Stdio::null())
        .output()
        .map(|o| [o.stdout, o.stderr].concat())
        .unwrap_or_default();
    version_in(&String::from_utf8_lossy(&told)).unwrap_or_else(|| "version not told".to_owned())
}

/// The first word with a digit and a point in it, less what stands before the digit.
fn version_in(text: &str) -> Option<String> {
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')'));
    words.find_map(|word| {
        let from = word.find(|c: char| c.is_ascii_digit())?;
        let word = word[from..].trim_end_matches(['.', ':']);
        (word.contains('.') && word.len() < 40).then(|| word.to_owned())
    })
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
        assert!(Ready::Tcp.told(table, 0x15b3) && Ready::Udp.told(table, 0x15b5));
        assert!(!Ready::Tcp.told(table, 0x15b4), "connected");
        assert!(!Ready::Udp.told(table, 0x15b3) && !Ready::Tcp.told(table, 1));
        let (tcp, udp) =
            (std::net::TcpListener::bind("127.0.0.1:0"), std::net::UdpSocket::bind("127.0.0.1:0"));
        let (tcp, udp) = (tcp.unwrap(), udp.unwrap());
        let of = |address: std::io::Result<std::net::SocketAddr>| address.unwrap().port();
        assert!(Ready::Tcp.on(of(tcp.local_addr())) && Ready::Udp.on(of(udp.local_addr())));
    }

    #[test]
    fn a_program_is_a_file_that_may_be_run() {
        let sh = on_path(&["no-such-program", "sh"], &["/bin"]).unwrap();
        assert!(sh.ends_with("sh"));
        assert_eq!(on_path(&["no-such-program", "proc"], &["/", "/bin"]), None, "a folder is none");
        assert_eq!(on_path(&["passwd"], &["/etc"]).filter(|p| p.starts_with("/etc")), None);
        assert!(version(&sh, "--no-such-option-at-all").len() > 3);
    }
}
