//! What running the programs of lmbench has in common.

use proofmark_model::{Trial, Unit, key, word};

use crate::place;
use crate::text::words;
use crate::{Installed, Invocation, Task, path};

/// Where Debian has them: below this, a folder for each architecture.
const FOLDERS: &str = "/usr/lib/lmbench/bin";

pub(super) const FAMILY: &str = "lmbench";

pub(super) const PACKAGE: &str = "Debian: lmbench (non-free)";

/// The shortest time for which lmbench takes its clock to be good: it is what lat_mem_rd asks for.
const SHORTEST_US: f64 = 1e5;

/// Times the timed part that a program takes to find out how much work fills it.
const SEARCHES: f64 = 3.0;

/// Passes over its memory that it makes for that where one fills it alone.
const PASSES: f64 = 8.0;

/// Bytes a second that it is reckoned with before anything is known.
const SLOW: f64 = 10e9;

/// Whether a text is the results file of the whole suite, which holds parts of every program.
pub(super) fn is_results(text: &str) -> bool {
    text.contains("[lmbench") && text.contains(" results for ")
}

/// A program of lmbench, if it is here. None reports its version; all of them are called 3.0.
pub(super) fn installed(name: &str, proof: &[u8]) -> Option<Installed> {
    let below = std::fs::read_dir(FOLDERS).into_iter().flatten().flatten().map(|f| f.path());
    let mut files = path().into_iter().chain(below).map(|folder| folder.join(name));
    files.find(|file| is_one(file, proof)).map(Installed::without_version)
}

/// Whether it is a program with those words in it: others have such names, too.
fn is_one(file: &std::path::Path, proof: &[u8]) -> bool {
    const LARGEST: u64 = 16 << 20;
    let small = std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.len() <= LARGEST);
    let read = || std::fs::read(file).is_ok_and(|b| b.windows(proof.len()).any(|w| w == proof));
    small && read()
}

/// Microseconds that the timed part lasts at least.
pub(super) fn lasts_us(task: &Task) -> f64 {
    let asked = task.seconds * 1e6;
    if asked > SHORTEST_US { asked.min(1e8).round() } else { SHORTEST_US }
}

/// A run of one repetition, each of which lasts as long as that.
pub(super) fn invocation(
    task: &Task,
    lasts_us: f64,
    arguments: &str,
) -> Result<Invocation, String> {
    let mut environment = place::pages(task)?;
    // Without these it spends up to a minute on finding out how good its clock is. What the clock
    // and an empty loop cost is nothing compared with a tenth of a second.
    for (name, value) in [("ENOUGH", lasts_us), ("TIMING_O", 0.0), ("LOOP_O", 0.0)] {
        environment.push((name, value.to_string()));
    }
    Ok(Invocation { arguments: words(arguments), environment, ..Invocation::default() })
}

/// Seconds that a run takes over that many bytes, of all its processes.
pub(super) fn takes(task: &Task, bytes: u64) -> f64 {
    let bytes = bytes as f64;
    let filling = place::filling(bytes, task.params.threads());
    1.0 + filling + SEARCHES * lasts_us(task) / 1e6 + PASSES * bytes / SLOW
}

/// A rate in MB of 10^6 bytes a second.
pub(super) fn megabytes(work: f64, rate: f64, at: usize) -> Result<Trial, crate::Malformed> {
    crate::printed::rated(Unit::BytePerSecond, work, rate * 1e6, at)
}

/// The same stores as proofmark's: what compilers make of plain loops.
pub(super) fn ordinary_stores(task: &Task) -> Result<(), String> {
    match task.params.get(key::STORES) {
        Some(word::NONTEMPORAL) => {
            Err("its stores are ordinary ones: set stores=temporal".to_owned())
        }
        _ => Ok(()),
    }
}
