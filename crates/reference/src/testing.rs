//! Common code of the tests of all tools.

use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;

use proofmark_model::{
    Data, Parameter, ParameterKind, Params, Unit, Work, WorkloadSpec, key, parse_size,
};

use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, Tool};

/// Returns a captured output from a tool's folder.
pub(crate) fn read_captured(folder: &str, name: &str) -> &'static str {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = std::fs::read_to_string(src.join(folder).join("captured").join(name));
    read.unwrap_or_else(|e| panic!("{name}: {e}")).leak()
}

pub(crate) fn only(tool: &dyn Tool, text: &str) -> Figure {
    let mut figures = tool.parse(text).unwrap().figures;
    assert_eq!(figures.len(), 1);
    figures.remove(0)
}

/// Returns the only figure of an output after the first `from` is replaced.
pub(crate) fn with_piece(tool: &dyn Tool, text: &str, from: &str, to: &str) -> Figure {
    only(tool, &replaced(text, from, to))
}

/// Replaces the first `from`, which the text must contain.
pub(crate) fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

/// A replacement that ends the text.
pub(crate) const CUT: &str = "\u{4}";

/// Asserts that a tool refuses a text after each change. A row has the two pieces, and the message:
/// parts that it contains, separated by ` .. `, with its line first.
pub(crate) fn refuses(tool: &dyn Tool, text: &str, changes: &[(&str, &str, &str)]) {
    for (from, to, why) in changes {
        let mut changed = replaced(text, from, to);
        changed.truncate(changed.find(CUT).unwrap_or(changed.len()));
        match tool.parse(&changed) {
            Err(error) => {
                let text = error.to_string();
                assert!(why.split(" .. ").all(|w| text.contains(w)), "{from:?} {to:?}: {text}");
            }
            Ok(_) => panic!("{from:?} {to:?}: not refused"),
        }
    }
}

/// Returns true if two values differ by rounding alone.
pub(crate) fn near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= 1e-12 * expected.abs()
}

/// Asserts that only this tool recognises a captured output, and that its figures have finite
/// values. Returns the output.
pub(crate) fn captured(tool: &dyn Tool, text: &str) -> Output {
    for other in crate::ALL {
        assert_eq!(other.recognises(text), other.id() == tool.id(), "as {}", other.id());
    }
    let output = tool.parse(text).unwrap_or_else(|e| panic!("{e}"));
    assert!(!output.figures.is_empty());
    for f in &output.figures {
        assert!(!f.trials.is_empty(), "{}", f.title);
        for t in &f.trials {
            assert!(t.value.is_finite() && t.value > 0.0, "{}: {t:?}", f.title);
            assert!(t.seconds > 0.0 && t.seconds.is_finite(), "{}: {t:?}", f.title);
        }
    }
    output
}

/// Returns a workload whose data has this size parameter: for each array, or for all arrays of a
/// thread.
fn workload(id: &'static str, size: &'static str, own_sets: bool) -> WorkloadSpec {
    let named = |name: &'static str| Parameter {
        name: name.into(),
        about: Cow::Borrowed("For tests."),
        kind: ParameterKind::Size { min: 0, max: u64::MAX },
        default: Cow::Borrowed("auto"),
    };
    let others = if own_sets { "op" } else { "stores" };
    let data = Data {
        parameter: size.into(),
        per_thread: own_sets,
        all_arrays: own_sets,
        any_level: own_sets,
    };
    WorkloadSpec {
        parameters: vec![named(size), named(others)].into(),
        work: Work { data: Some(data), ..Work::CORE },
        ..proofmark_model::testing::spec(id, Unit::BytePerSecond)
    }
}

/// A workload with arrays of `array_size`.
static ARRAYS: LazyLock<WorkloadSpec> =
    LazyLock::new(|| workload("memory.any", "array_size", false));

/// A workload with a `working_set` per thread, and an operation.
static SETS: LazyLock<WorkloadSpec> =
    LazyLock::new(|| workload("memory.sweep", "working_set", true));

/// Returns a task with these parameters on two CPUs: 0.2 s at 20 GB/s.
pub(crate) fn task<'a>(test: &'a str, params: &'a Params) -> Task<'a> {
    let file = Path::new("/");
    let spec = if params.has(key::WORKING_SET) { &*SETS } else { &*ARRAYS };
    Task { spec, test, params, seconds: 0.2, work: 4e9, cpus: &[0, 1], file, port: 0 }
}

/// Returns the parameters of a configuration with dense matrices.
pub(crate) fn matrices(n: u64, threads: u64, isa: &str) -> Params {
    Params::default()
        .with(key::MATRIX_SIZE, n)
        .with(key::THREADS, threads)
        .with(key::MATRIX_BLOCK, 256)
        .with(key::ISA, isa)
}

/// Sets parameters from a text such as `threads=2 block_size=4k`.
pub(crate) fn with(params: &Params, changes: &str) -> Params {
    let set = |params: Params, change: &str| {
        let (name, value) = change.split_once('=').unwrap();
        match parse_size(value) {
            Ok(number) => params.with_named(name, number),
            Err(_) => params.with_named(name, value),
        }
    };
    changes.split_whitespace().fold(params.clone(), set)
}

/// Returns the invocation of a tool of this version, at `/usr/bin/tool`, for a task.
pub(crate) fn asked(
    tool: &dyn ReferenceRunner,
    version: &str,
    task: &Task,
) -> Result<Invocation, String> {
    let installed = Installed { program: "/usr/bin/tool".into(), version: version.to_owned() };
    tool.invocation(&installed, task)
}

/// Returns the added environment, the arguments and, after a bar, the server.
pub(crate) fn command_line(invocation: &Invocation) -> String {
    let set = invocation.environment.iter().map(|(name, value)| format!("{name}={value}"));
    let mut words: Vec<String> = set.chain(invocation.arguments.iter().cloned()).collect();
    if let Some((program, arguments)) = &invocation.server {
        words.extend(["|".to_owned(), program.display().to_string()]);
        words.extend(arguments.iter().cloned().chain([format!("({:?})", invocation.ready)]));
    }
    words.join(" ")
}

/// Asserts the command line of each task, or the reason for a refusal, by [`agrees`]. A row has the
/// test, and the parameters that differ from the task's.
pub(crate) fn does(
    tool: &dyn ReferenceRunner,
    version: &str,
    task: &Task,
    rows: &[(&str, &str, Result<&str, &str>)],
) {
    for (test, changes, expected) in rows {
        let params = with(task.params, changes);
        let task = Task { test, params: &params, ..*task };
        let found = asked(tool, version, &task).map(|invocation| command_line(&invocation));
        agrees(&format!("{test} {changes}"), found, *expected);
    }
}

/// Asserts that a text is the expected one. `..` in the expected text stands for any text.
pub(crate) fn agrees(name: &str, found: Result<String, String>, expected: Result<&str, &str>) {
    let (text, wanted) = match (&found, expected) {
        (Ok(text), Ok(wanted)) | (Err(text), Err(wanted)) => (text, wanted),
        _ => panic!("{name}: {found:?}"),
    };
    let mut parts = wanted.split("..");
    let (first, last) = (parts.next().unwrap(), wanted.rsplit("..").next().unwrap());
    let whole = if wanted.contains("..") { text.ends_with(last) } else { text == wanted };
    let is = whole && text.starts_with(first) && parts.all(|part| text.contains(part));
    assert!(is, "{name}: {text:?}, expected {wanted:?}");
}
