//! This program's own file, which its children run.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::error::RunError;

/// Where it is; without /proc, by the path that the kernel ran: the name by which it was called may
/// be that of another file in the current folder.
pub fn own_program() -> Result<PathBuf, RunError> {
    std::env::current_exe().or_else(|e| {
        let run = OsStr::from_bytes(rustix::param::linux_execfn().to_bytes());
        let what = format!("cannot find this program's own file ({e}); call it by its path");
        Path::new(run).canonicalize().map_err(|why| RunError::failed(&what, &why))
    })
}
