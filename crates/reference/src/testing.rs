//! What the tests of all tools share.

use std::path::Path;

use proofmark_model::Params;
use proptest::prelude::*;

use crate::{Beside, Figure, Installed, Invocation, Malformed, Output, Task, Tool};

/// Captured outputs by name, of the folder `captured` beside the file that asks for them.
macro_rules! texts {
    (of $end:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!("captured/", $name, $end)))),*]
    };
    ($($name:literal)*) => { $crate::testing::texts!(of "": $($name)*) };
}
pub(crate) use texts;

/// Captured outputs by name.
pub(crate) type Texts = &'static [(&'static str, &'static str)];

/// Captured outputs, each a constant, and all of them.
macro_rules! outputs {
    ($($name:ident $file:literal)*) => {
        $(const $name: &str = include_str!(concat!("captured/", $file));)*
        const ALL: [&str; [$($file),*].len()] = [$($name),*];
    };
}
pub(crate) use outputs;

/// These of the helpers below, for one tool and its captured outputs.
macro_rules! helpers {
    ($tool:ident: $($helper:ident)*; $($texts:ident)*) => {
        $crate::testing::helpers!($tool: $($helper)*);
        fn text(name: &str) -> &'static str {
            $crate::testing::text(&[$($texts),*], name)
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

/// The output of that name.
pub(crate) fn text(all: &[Texts], name: &str) -> &'static str {
    let mut all = all.iter().copied().flatten();
    all.find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no output {name}")).1
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

/// What captured outputs hold, by their names.
pub(crate) fn all_told(tool: &dyn Tool, texts: Texts) -> String {
    let one = |(name, text): &(&str, &str)| format!("{name}: {}", told(&captured(tool, text)));
    texts.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Some change of a text: cut off, a piece taken out, doubled or replaced, at any place.
fn damaged(text: &str) -> impl Strategy<Value = String> + use<> {
    let bytes = text.as_bytes().to_vec();
    let len = bytes.len();
    (0..=len, 0..64_usize, prop::collection::vec(any::<u8>(), 0..8), 0..4_u8).prop_map(
        move |(at, long, new, how)| {
            let end = (at + long).min(len);
            let mut all = bytes[..at].to_vec();
            match how {
                0 => {}
                1 => all.extend(&bytes[end..]),
                2 => {
                    all.extend(&bytes[at..end]);
                    all.extend(&bytes[at..]);
                }
                _ => {
                    all.extend(&new);
                    all.extend(&bytes[end..]);
                }
            }
            String::from_utf8_lossy(&all).into_owned()
        },
    )
}

/// Holds that each of these outputs may be damaged in any way.
pub(crate) fn survives_damage(tool: &dyn Tool, texts: impl IntoIterator<Item = &'static str>) {
    for text in texts {
        proptest!(|(text in damaged(text))| survives(tool, &text));
    }
}

/// Holds that a damaged output is read or refused, never more than that, and that what is
/// read has finite values.
fn survives(tool: &dyn Tool, text: &str) {
    let _ = tool.recognises(text);
    if let Ok(output) = tool.parse(text) {
        for t in output.figures.iter().flat_map(|f| &f.trials) {
            assert!(t.value.is_finite() && t.seconds.is_finite() && t.seconds > 0.0, "{t:?}");
        }
    }
}

/// What an output holds, in a few lines, for the tests of what was captured.
fn told(output: &Output) -> String {
    let mut told = format!("version {:?} started {:?}\n", output.version, output.started);
    for f in &output.figures {
        told += &format!(
            "{} {:?} {}\n",
            f.workload,
            f.title,
            serde_json::to_string(&f.params).unwrap()
        );
        for t in &f.trials {
            told += &format!("  {} {} = {} / {} s\n", t.value, f.unit, t.work, t.seconds);
            if let Some(n) = &t.network {
                told +=
                    &format!("  {}\n", serde_json::to_string(n).unwrap().replace(r#":null"#, ":-"));
            }
        }
        if let Some(latency) = &f.latency {
            told += &format!("  {}\n", serde_json::to_string(latency).unwrap());
        }
    }
    told
}

/// A task of these parameters on two CPUs: 0.2 s at 20 GB/s.
pub(crate) fn task<'a>(workload: &'a str, params: &'a Params) -> Task<'a> {
    let file = Path::new("/");
    Task { workload, params, seconds: 0.2, work: 4e9, cpus: &[0, 1], file, port: 0 }
}

/// The parameters of a point of dense matrices.
pub(crate) fn matrices(n: u64, threads: u64, isa: &str) -> Params {
    Params::default().with("n", n).with("threads", threads).with("nb", 256).with("isa", isa)
}

/// How a tool of that version, at `/usr/bin/tool`, does a task.
pub(crate) fn asked(tool: &dyn Beside, version: &str, task: &Task) -> Result<Invocation, String> {
    let installed = Installed { program: "/usr/bin/tool".into(), version: version.to_owned() };
    tool.invocation(&installed, task)
}
