//! The start of another program.

use std::ffi::OsStr;
use std::io;
use std::process::{Child, Command};
use std::sync::Mutex;

use proofmark_model::lock;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The prefix of proofmark's own environment variables. Some contain the key.
pub const OWN_VARIABLES: &str = "PROOFMARK_";

/// The limit of open files that this process was started with, after it raised its own. The lock is
/// held while a program starts.
static GIVEN: Mutex<Option<Rlimit>> = Mutex::new(None);

/// Raises the soft limit of open files to the hard one: a server needs two descriptors per
/// connection. Other programs get the user's limit back. Some call select(2), which fails above
/// 1024; others close every descriptor up to the limit one by one. If the system refuses, the limit
/// does not change.
pub fn raise_open_files() -> io::Result<()> {
    let mut given = lock(&GIVEN);
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
    given.get_or_insert(limit);
    Ok(())
}

/// Starts another program without proofmark's variables, with the user's limit of open files.
pub(crate) fn spawn_other(command: &mut Command) -> io::Result<Child> {
    let own = |name: &OsStr| name.as_encoded_bytes().starts_with(OWN_VARIABLES.as_bytes());
    for (name, _) in std::env::vars_os().filter(|(name, _)| own(name)) {
        command.env_remove(name);
    }
    let given = lock(&GIVEN);
    let Some(limit) = *given else { return command.spawn() };
    // A child inherits its parent's limit at the fork. Changing it between fork and exec takes
    // unsafe code. Open descriptors stay open.
    let _ = setrlimit(Resource::Nofile, limit);
    let child = command.spawn();
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    child
}
