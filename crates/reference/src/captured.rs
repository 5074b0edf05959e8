//! The captured outputs of all tools: their figures, the tool that recognises each, and the effects
//! of damage.

use std::fs;
use std::path::{Path, PathBuf};

use proofmark_model::{Params, Trial, is_quantity, key};
use proptest::prelude::*;

use crate::testing::{captured, task};
use crate::{ALL, Output, Tool, find};

/// Returns the folders named `captured`, with the name of the folder that contains each.
pub(crate) fn folders() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folders = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = folders
        .filter(|folder| folder.join("captured").is_dir())
        .map(|folder| (folder.file_name().unwrap().display().to_string(), folder.join("captured")))
        .collect();
    all.sort();
    assert!(!all.is_empty());
    all
}

/// Returns the outputs of a folder, with their names.
pub(crate) fn outputs(folder: &Path) -> Vec<(String, String)> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap();
        (file.file_name().unwrap().display().to_string(), text)
    };
    let mut all: Vec<_> = files.map(read).collect();
    all.sort();
    all
}

/// Returns the tool of an output, and its figures. `bw_mem` prints two numbers, which identify no
/// tool.
fn read(name: &str, text: &str) -> (&'static dyn Tool, Output) {
    if name.contains("bw_mem") {
        let tool = find("lmbench-bw").unwrap();
        return (tool, tool.parse(text).unwrap());
    }
    let (tool, _) = crate::read(text).unwrap_or_else(|| panic!("{name}"));
    (tool, captured(tool, text))
}

#[test]
fn what_was_captured_is_read() {
    for (_, path) in folders() {
        let whole = outputs(&path).into_iter().filter(|(name, _)| !name.contains("refused"));
        let all: Vec<_> = whole
            .map(|(name, text)| {
                let (tool, output) = read(&name, &text);
                format!("{name}, {}: {}", tool.id(), summarise(&output))
            })
            .collect();
        // Each tool's snapshot is in its own folder.
        insta::with_settings!({
            snapshot_path => path.parent().unwrap(),
            prepend_module_to_snapshot => false,
        }, { insta::assert_snapshot!("captured", all.join("\n")) });
    }
}

/// Writes an output as a line per figure, trial and piece of evidence.
fn summarise(output: &Output) -> String {
    let mut lines = vec![format!("version {:?} started {:?}", output.version, output.started)];
    for f in &output.figures {
        let other = if f.comparable { "" } else { " (other work)" };
        lines.push(format!("{}{other} {:?} {}", f.test, f.title, json(&f.params)));
        for t in &f.trials {
            lines.push(format!("  {} {} = {} / {} s", t.value, f.unit, t.work, t.seconds));
            lines.extend(t.network.as_ref().map(|n| format!("  network {}", json(n))));
            lines.extend(t.device.as_ref().map(|d| format!("  device {}", json(d))));
            lines.extend(t.file.as_ref().map(|file| format!("  file {}", json(file))));
            lines.extend(t.solution.as_ref().map(|s| format!("  solution {}", json(s))));
        }
        if let Some(mut latency) = f.latency.clone() {
            let buckets = std::mem::take(&mut latency.buckets).len();
            lines.push(format!("  {} and {buckets} buckets", json(&latency)));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap().replace(":null", ":-")
}

#[test]
fn damaged_outputs_are_read_or_refused() {
    for (_, text) in folders().into_iter().flat_map(|(_, path)| outputs(&path)) {
        let reads = |tool: &&dyn Tool| tool.recognises(&text) || tool.parse(&text).is_ok();
        let tools: Vec<_> = ALL.iter().copied().filter(reads).collect();
        proptest!(|(bytes in damaged(&text))| {
            let text = crate::decoded(&bytes);
            tools.iter().for_each(|t| survives(*t, &text));
        });
        // The search for prefixes starts only where no tool reads the text as it is.
        proptest!(ProptestConfig::with_cases(8), |(bytes in damaged(&behind(&text)))| {
            let read = crate::read(&crate::decoded(&bytes));
            if let Some(output) = read.and_then(|(_, output)| output.ok()) {
                output.figures.iter().flat_map(|f| &f.trials).for_each(is_finite);
            }
        });
    }
}

/// Words that break parsers.
const WORDS: [&str; 14] = [
    "0",
    "-1",
    "1e60",
    "1e-60",
    "1e308",
    "1e-308",
    "nan",
    "inf",
    "18446744073709551616",
    "\n",
    "{",
    "\"",
    "\0",
    "\u{202e}",
];

/// Returns a text with 1 to 3 changes anywhere: cut off, a piece removed, doubled or replaced.
fn damaged(text: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let bytes = text.as_bytes().to_vec();
    let new = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..8),
        prop::sample::select(&WORDS[..]).prop_map(|word| word.as_bytes().to_vec()),
    ];
    let place = any::<prop::sample::Index>();
    prop::collection::vec((place, 0..64_usize, new, 0..4_u8), 1..4).prop_map(move |changes| {
        let mut all = bytes.clone();
        for (at, long, new, how) in changes {
            let at = at.index(all.len() + 1);
            let end = (at + long).min(all.len());
            let piece = all[at..end].to_vec();
            match how {
                0 => all.truncate(at),
                1 => drop(all.drain(at..end)),
                2 => drop(all.splice(at..at, piece)),
                _ => drop(all.splice(at..end, new)),
            }
        }
        all
    })
}

/// Asserts that a damaged output is refused or read without a panic, with finite values. This
/// includes the figure for a task.
fn survives(tool: &dyn Tool, text: &str) {
    let _ = tool.recognises(text);
    let Ok(output) = tool.parse(text) else { return };
    let parameters = [
        key::THREADS.name(),
        key::STREAMS.name(),
        key::BLOCK_SIZE.name(),
        key::FILE_SIZE.name(),
        key::MATRIX_SIZE.name(),
        key::ARRAY_SIZE.name(),
    ];
    let params = parameters.into_iter().fold(Params::default(), |p, name| p.with_named(name, 1));
    let mut figures = output.figures.clone();
    for figure in output.figures.iter().take(3) {
        figures.extend(tool.figure(&task(&figure.test, &params), output.clone()));
    }
    figures.iter().flat_map(|f| &f.trials).for_each(is_finite);
}

fn is_finite(t: &Trial) {
    assert!(is_quantity(t.value) && is_quantity(t.seconds) && t.seconds > 0.0, "{t:?}");
}

/// Returns an output with the prefix of `mpirun --tag-output` before each line.
fn behind(text: &str) -> String {
    text.lines().map(|line| format!("[1,0]<stdout>:{line}\n")).collect()
}
