//! What the tests of all tools share.

use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;

use proofmark_model::{
    Data, Parameter, ParameterKind, Params, Unit, Work, WorkloadSpec, key, parse_size,
};

use crate::{Figure, Installed, Invocation, Output, ReferenceRunner, Task, Tool};

/// A captured output of a tool's folder.
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

/// The one figure of an output in which the first such piece is another.
pub(crate) fn with_piece(tool: &dyn Tool, text: &str, from: &str, to: &str) -> Figure {
    only(tool, &replaced(text, from, to))
}

/// A text in which the first such piece is another; the text must have one.
pub(crate) fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

/// In place of a piece: the text ends before it.
pub(crate) const CUT: &str = "\u{4}";

/// Holds that a tool refuses a text in which a piece is another. Each row has the two pieces, and
/// what the message holds, which begins with the line: one or more parts with ` .. ` between them.
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

/// Whether two values differ by rounding alone.
pub(crate) fn near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= 1e-12 * expected.abs()
}

/// Holds what every captured output must: it is recognised as this tool's and nobody else's,
/// it is read, and its figures have finite values. Returns what it holds.
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

/// A workload whose data has that size, of each array or of all that a thread has.
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

/// With arrays of `array_size`.
static ARRAYS: LazyLock<WorkloadSpec> =
    LazyLock::new(|| workload("memory.any", "array_size", false));

/// With a `working_set` of each thread, and an operation.
static SETS: LazyLock<WorkloadSpec> =
    LazyLock::new(|| workload("memory.sweep", "working_set", true));

/// A task of these parameters on two CPUs: 0.2 s at 20 GB/s.
pub(crate) fn task<'a>(test: &'a str, params: &'a Params) -> Task<'a> {
    let file = Path::new("/");
    let spec = if params.has(key::WORKING_SET) { &*SETS } else { &*ARRAYS };
    Task { spec, test, params, seconds: 0.2, work: 4e9, cpus: &[0, 1], file, port: 0 }
}

/// The parameters of a point of dense matrices.
pub(crate) fn matrices(n: u64, threads: u64, isa: &str) -> Params {
    Params::default()
        .with(key::MATRIX_SIZE, n)
        .with(key::THREADS, threads)
        .with(key::MATRIX_BLOCK, 256)
        .with(key::ISA, isa)
}

/// Parameters of a text such as `threads=2 block_size=4k`, in place of those of these that have
/// their names.
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

/// How a tool of that version, at `/usr/bin/tool`, does a task.
pub(crate) fn asked(
    tool: &dyn ReferenceRunner,
    version: &str,
    task: &Task,
) -> Result<Invocation, String> {
    let installed = Installed { program: "/usr/bin/tool".into(), version: version.to_owned() };
    tool.invocation(&installed, task)
}

/// What is added to the environment, the arguments and, after a bar, the server.
pub(crate) fn command_line(invocation: &Invocation) -> String {
    let set = invocation.environment.iter().map(|(name, value)| format!("{name}={value}"));
    let mut words: Vec<String> = set.chain(invocation.arguments.iter().cloned()).collect();
    if let Some((program, arguments)) = &invocation.server {
        words.extend(["|".to_owned(), program.display().to_string()]);
        words.extend(arguments.iter().cloned().chain([format!("({:?})", invocation.ready)]));
    }
    words.join(" ")
}

/// Holds the command line of each task, or why there is none, by [`agrees`]. A row has the test
/// and what is another parameter than the task's.
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

/// Holds that a text is the expected one. Of one with `..` in it the parts around it are enough.
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
