//! The search for other programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub(crate) fn path() -> Vec<PathBuf> {
    folders(&std::env::var_os("PATH").unwrap_or_default())
}

/// Returns the absolute folders of a `PATH`. It skips relative ones, and the empty one, which is
/// the current folder. A run may start in any folder, whose files must not run as tools.
fn folders(path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect()
}

/// Returns the first of these programs on the `PATH`, or in the system's own folders.
pub(crate) fn on_path(programs: &[&str]) -> Option<PathBuf> {
    let sbin = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    first(programs, &[path(), sbin.to_vec()].concat())
}

/// Returns the first of these programs in one of these folders.
fn first(programs: &[&str], folders: &[PathBuf]) -> Option<PathBuf> {
    let candidates = programs.iter().flat_map(|p| folders.iter().map(move |f| f.join(p)));
    candidates.into_iter().find(|file| is_program(file))
}

/// Returns true if a file is executable.
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_a_file_that_may_be_run() {
        let of = |programs: &[&str], folder: &str| first(programs, &["/".into(), folder.into()]);
        let sh = of(&["no-such-program", "sh"], "/bin").unwrap();
        assert!(sh.ends_with("sh"));
        assert_eq!(of(&["no-such-program", "proc"], "/bin"), None, "a folder is none");
        assert_eq!(of(&["passwd"], "/etc"), None);
    }

    #[test]
    fn only_absolute_folders_are_searched() {
        let of = |path: &str| folders(OsStr::new(path));
        assert_eq!(of("/usr/bin:/bin"), [Path::new("/usr/bin"), Path::new("/bin")]);
        assert_eq!(of(":.:bin:./bin:../bin::/bin:"), [Path::new("/bin")]);
        assert!(of("").is_empty() && of(":").is_empty());
    }
}
