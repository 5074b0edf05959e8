//! Common code of the runners of lmbench's programs.

use proofmark_model::{Trial, Unit, key, word};

use crate::place;
use crate::text::words;
use crate::{Installed, Invocation, Task, path};

/// The folder of Debian's programs, with a folder for each architecture.
const FOLDERS: &str = "/usr/lib/lmbench/bin";

pub(super) const FAMILY: &str = "lmbench";

pub(super) const PACKAGE: &str = "Debian: lmbench (non-free)";

/// The shortest timed part, in us, for which lmbench trusts its clock, as lat_mem_rd requests it.
const SHORTEST_US: f64 = 1e5;

/// The time to find out how much work fills the timed part, as a multiple of that part.
const SEARCHES: f64 = 3.0;

/// The passes over its memory in that search, where one pass alone fills the timed part.
const PASSES: f64 = 8.0;

/// The assumed rate in bytes per second.
const SLOW: f64 = 10e9;

/// Returns true if a text is the results file of the whole suite, which has parts of every program.
pub(super) fn is_results(text: &str) -> bool {
    text.contains("[lmbench") && text.contains(" results for ")
}

/// Finds a program of lmbench. None reports its version; all of them are named 3.0.
pub(super) fn installed(name: &str, proof: &[u8]) -> Option<Installed> {
    let below = std::fs::read_dir(FOLDERS).into_iter().flatten().flatten().map(|f| f.path());
    let mut files = path().into_iter().chain(below).map(|folder| folder.join(name));
    files.find(|file| is_one(file, proof)).map(Installed::without_version)
}

/// Returns true if a file is a program that contains these words: other programs have the same
/// names.
fn is_one(file: &std::path::Path, proof: &[u8]) -> bool {
    const LARGEST: u64 = 16 << 20;
    let small = std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.len() <= LARGEST);
    let read = || std::fs::read(file).is_ok_and(|b| b.windows(proof.len()).any(|w| w == proof));
    small && read()
}

/// Returns the minimum duration of the timed part, in us.
pub(super) fn lasts_us(task: &Task) -> f64 {
    let asked = task.seconds * 1e6;
    if asked > SHORTEST_US { asked.min(1e8).round() } else { SHORTEST_US }
}

/// Returns the invocation of one repetition with a timed part of that duration.
pub(super) fn invocation(
    task: &Task,
    lasts_us: f64,
    arguments: &str,
) -> Result<Invocation, String> {
    let mut environment = place::pages(task)?;
    // Without these, lmbench measures its clock for up to a minute. The cost of the clock and of an
    // empty loop is negligible in 0.1 s.
    for (name, value) in [("ENOUGH", lasts_us), ("TIMING_O", 0.0), ("LOOP_O", 0.0)] {
        environment.push((name, value.to_string()));
    }
    Ok(Invocation { arguments: words(arguments), environment, ..Invocation::default() })
}

/// Returns the seconds of a run over this many bytes of all its processes.
pub(super) fn takes(task: &Task, bytes: u64) -> f64 {
    let bytes = bytes as f64;
    let filling = place::filling(bytes, task.params.threads());
    1.0 + filling + SEARCHES * lasts_us(task) / 1e6 + PASSES * bytes / SLOW
}

/// Converts a rate in MB of 10^6 bytes per second.
pub(super) fn megabytes(work: f64, rate: f64, at: usize) -> Result<Trial, crate::Malformed> {
    crate::printed::rated(Unit::BytePerSecond, work, rate * 1e6, at)
}

/// Refuses non-temporal stores: lmbench's plain loops have the stores that compilers emit.
pub(super) fn ordinary_stores(task: &Task) -> Result<(), String> {
    match task.params.get(key::STORES) {
        Some(word::NONTEMPORAL) => {
            Err("its stores are ordinary ones: set stores=temporal".to_owned())
        }
        _ => Ok(()),
    }
}
