//! The placement of a tool's threads, and the pages of its memory. proofmark's workloads set both
//! by parameters; most tools leave them to the kernel.

use proofmark_model::key;
use std::process::Command;

use crate::text::numbers;
use crate::{Task, ask, on_path};

/// The kernel's setting for transparent huge pages: `always [madvise] never`.
const SETTING: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// The first version of the GNU C library that requests huge pages if its tunable is set.
const REQUESTS_PAGES: (u32, u32) = (2, 35);

/// The bytes that a thread of a tool touches for the first time per second, in a guest whose host
/// must also find the memory.
const FIRST_TOUCH: f64 = 1e9;

/// Returns the task's threads. Fails if they exceed its CPUs: then proofmark's threads share CPUs
/// in a way that a tool cannot be forced to.
pub(crate) fn threads(task: &Task) -> Result<u64, String> {
    let threads = task.params.threads();
    match usize::try_from(threads) {
        Ok(n) if n >= 1 && n <= task.cpus.len() => Ok(threads),
        _ => Err(format!("{threads} threads do not fit on {} CPUs", task.cpus.len())),
    }
}

/// Returns the seconds to allocate and fill that much memory.
pub(crate) fn filling(bytes: f64, threads: u64) -> f64 {
    bytes / FIRST_TOUCH / threads.max(1) as f64
}

/// Returns the pages of memory without any request, by the value of proofmark's parameter.
pub(crate) fn default_pages() -> &'static str {
    if chosen(&setting()) == "always" { "huge" } else { "small" }
}

/// Returns the environment that puts the C library's memory into the task's pages. Fails with the
/// reason if that is not possible.
pub(crate) fn pages(task: &Task) -> Result<Vec<(&'static str, String)>, String> {
    let Some(wanted) = task.params.get(key::PAGES) else { return Ok(Vec::new()) };
    environment_for(wanted, chosen(&setting()), c_library)
}

fn setting() -> String {
    std::fs::read_to_string(SETTING).unwrap_or_default()
}

fn environment_for(
    wanted: &str,
    setting: &str,
    library: impl FnOnce() -> Option<(u32, u32)>,
) -> Result<Vec<(&'static str, String)>, String> {
    match (wanted, setting) {
        ("huge", "madvise") if library() >= Some(REQUESTS_PAGES) => {
            Ok(vec![("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1".to_owned())])
        }
        ("huge", "madvise") => Err("it cannot request huge pages here: set pages=small".to_owned()),
        ("small", "always") => Err("its memory is in huge pages here: set pages=huge".to_owned()),
        // Without huge pages, proofmark also uses base pages, whatever the parameter is.
        _ => Ok(Vec::new()),
    }
}

/// Returns the active setting, which is in brackets; empty if the kernel has none.
fn chosen(setting: &str) -> &str {
    let word = setting.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
    word.unwrap_or_default()
}

/// Returns the version of this machine's C library, from `glibc 2.36`. Tools may use another one
/// than proofmark, which is linked statically. `None` for another library, or an unknown version.
fn c_library() -> Option<(u32, u32)> {
    glibc(&ask(Command::new(on_path(&["getconf"])?).arg("GNU_LIBC_VERSION"))?.output)
}

fn glibc(text: &str) -> Option<(u32, u32)> {
    numbers(text.trim().strip_prefix("glibc ")?)
}

#[cfg(test)]
mod tests {
    use proofmark_model::Params;

    use super::*;
    use crate::testing::task;

    #[test]
    fn memory_lies_in_the_tasks_pages_or_the_tool_is_refused() {
        let with = |wanted, setting, library| {
            environment_for(wanted, setting, || library).map(|e| e.len()).map_err(|e| e.len() > 20)
        };
        let (new, old) = (Some((2, 35)), Some((2, 34)));
        for (wanted, setting, library, made) in [
            ("huge", "always", None, Ok(0)),
            ("huge", "madvise", new, Ok(1)),
            ("huge", "madvise", Some((3, 0)), Ok(1)),
            ("huge", "madvise", old, Err(true)),
            ("huge", "madvise", None, Err(true)),
            ("huge", "", None, Ok(0)),
            ("small", "always", new, Err(true)),
            ("small", "madvise", new, Ok(0)),
        ] {
            let got = with(wanted, setting, library);
            assert_eq!(got, made, "{wanted} {setting} {library:?}");
        }
    }

    #[test]
    fn the_setting_and_the_library_are_read() {
        assert_eq!(chosen("always [madvise] never\n"), "madvise");
        assert_eq!(chosen("[always] madvise never"), "always");
        assert_eq!([chosen(""), chosen("always")], ["", ""]);
        assert_eq!(glibc("glibc 2.36\n"), Some((2, 36)));
        assert_eq!(glibc("glibc 2.3.6"), Some((2, 3)));
        let found = ["2.0.14a", "3.16-beta1", "3", "unknown version"].map(numbers);
        assert_eq!(found, [Some((2, 0)), Some((3, 16)), None, None], "of tools");
        for other in ["", "musl 1.2", "glibc", "glibc 2", "glibc x.y", "glibc 2.99999999999"] {
            assert_eq!(glibc(other), None, "{other}");
        }
    }

    #[test]
    fn every_thread_has_a_cpu() {
        let with = |n: u64| threads(&task("x", &Params::default().with(key::THREADS, n)));
        assert_eq!((with(1), with(2)), (Ok(1), Ok(2)));
        assert_eq!(with(3).unwrap_err(), "3 threads do not fit on 2 CPUs");
        assert!(with(0).is_err() && with(u64::MAX).is_err());
        assert_eq!(threads(&task("x", &Params::default())), Ok(1));
        assert!((filling(4e9, 2) - 2.0).abs() < 1e-9);
    }
}
