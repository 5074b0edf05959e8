//! The child's side: a process that ends with its parent.

use rustix::io;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

/// Makes the kernel send this process a signal when its parent dies. Returns true if the parent
/// still lived afterwards: no signal follows an earlier death.
pub fn end_with_parent(signal: Signal) -> io::Result<bool> {
    let parent = getppid();
    set_parent_process_death_signal(Some(signal))?;
    Ok(getppid() == parent)
}
