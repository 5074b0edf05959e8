//! What the tests of all tools share.

use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;

use proofmark_model::{
    Data, Parameter, ParameterKind, Params, Role, Subsystem, ToolTest, Unit, When, Work,
    WorkloadSpec,
};

use crate::{Figure, Installed, Invocation, Malformed, Output, ReferenceRunner, Task, Tool, trial};

/// Captured outputs, each a constant.
macro_rules! outputs {
    ($($name:ident $file:literal)*) => {
        $(const $name: &str = include_str!(concat!("captured/", $file));)*
    };
}
pub(crate) use outputs;

/// These of the helpers below, for one tool; and its captured outputs by name, of a folder and with
/// an end of its names.
macro_rules! helpers {
    ($tool:ident: $($helper:ident)*; $folder:literal $end:literal) => {
        $crate::testing::helpers!($tool: $($helper)*);
        fn text(name: &str) -> &'static str {
            $crate::testing::read_captured($folder, &[name, $end].concat())
        }
    };
    ($tool:ident: $($helper:ident)*) => { $($crate::testing::helpers!($tool $helper);)* };
    ($tool:ident only) => {
        fn only(text: &str) -> $crate::Figure {
            $crate::testing::only(&$tool, text)
        }
    };
    ($tool:ident refused) => {
        fn refused(text: &str) -> $crate::Malformed {
            $crate::testing::refused(&$tool, text)
        }
    };
}
pub(crate) use helpers;

/// A captured output of a tool's folder.
pub(crate) fn read_captured(folder: &str, name: &str) -> &'static str {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = std::fs::read_to_string(src.join(folder).join("captured").join(name));
    read.unwrap_or_else(|e| panic!("{name}: {e}")).leak()
}

/// The one figure of an output.
pub(crate) fn only(tool: &dyn Tool, text: &str) -> Figure {
    let mut figures = tool.parse(text).unwrap().figures;
    assert_eq!(figures.len(), 1);
    figures.remove(0)
}

/// Why an output is not read.
pub(crate) fn refused(tool: &dyn Tool, text: &str) -> Malformed {
    tool.parse(text).unwrap_err()
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

/// A workload whose data has that size, of each array or of all that a thread has, and that does
/// one operation where the test is one of these.
fn workload(
    size: &'static str,
    own_sets: bool,
    operations: &[(&'static str, &str)],
) -> WorkloadSpec {
    let named = |name: &'static str| Parameter {
        name: name.into(),
        about: Cow::Borrowed("For tests."),
        kind: ParameterKind::Size { min: 0, max: u64::MAX },
        default: Cow::Borrowed("auto"),
    };
    let chosen = |(test, op): &(&'static str, &str)| ToolTest {
        tool: Cow::Borrowed("any"),
        test: Cow::Borrowed(test),
        when: Some(When { parameter: Cow::Borrowed("op"), value: (*op).to_owned().into() }),
    };
    let others = if own_sets { "op" } else { "stores" };
    let what = (Subsystem::Memory, Unit::BytePerSecond);
    let repetition = trial(Unit::BytePerSecond, 1.0, 1.0);
    let any = Figure::rate("any", "Any", what, Params::default(), repetition);
    let data = Data {
        parameter: size.into(),
        per_thread: own_sets,
        all_arrays: own_sets,
        any_level: own_sets,
    };
    WorkloadSpec {
        parameters: vec![named(size), named(others)].into(),
        work: Work { data: Some(data), ..Work::CORE },
        role: Role { compare_with: operations.iter().map(chosen).collect(), ..Role::NONE },
        ..any.own_declaration(&crate::stream::Stream)
    }
}

/// With arrays of `array_size`.
static ARRAYS: LazyLock<WorkloadSpec> = LazyLock::new(|| workload("array_size", false, &[]));

/// With a `working_set` of each thread, and an operation.
static SETS: LazyLock<WorkloadSpec> = LazyLock::new(|| {
    let tests = [("load", "read"), ("copy", "copy"), ("frd", "read"), ("memory_write", "write")];
    workload("working_set", true, &tests)
});

/// A task of these parameters on two CPUs: 0.2 s at 20 GB/s.
pub(crate) fn task<'a>(test: &'a str, params: &'a Params) -> Task<'a> {
    let file = Path::new("/");
    let spec = if params.get("working_set").is_some() { &*SETS } else { &*ARRAYS };
    Task { spec, test, params, seconds: 0.2, work: 4e9, cpus: &[0, 1], file, port: 0 }
}

/// The parameters of a point of dense matrices.
pub(crate) fn matrices(n: u64, threads: u64, isa: &str) -> Params {
    Params::default().with("n", n).with("threads", threads).with("nb", 256).with("isa", isa)
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
