//! What the tests of all tools share.

use proptest::prelude::*;

use crate::{Figure, Output, Tool};

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
pub(crate) fn refused(tool: &dyn Tool, text: &str) -> String {
    tool.parse(text).unwrap_err().to_string()
}

/// Whether two values differ by rounding alone.
pub(crate) fn near(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 1e-9
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

/// Some change of a text: cut off, a piece taken out, doubled or replaced, at any place.
pub(crate) fn damaged(text: &str) -> impl Strategy<Value = String> + use<> {
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

/// Holds that a damaged output is read or refused, never more than that, and that what is
/// read has finite values.
pub(crate) fn survives(tool: &dyn Tool, text: &str) {
    let _ = tool.recognises(text);
    if let Ok(output) = tool.parse(text) {
        for t in output.figures.iter().flat_map(|f| &f.trials) {
            assert!(t.value.is_finite() && t.seconds.is_finite() && t.seconds > 0.0, "{t:?}");
        }
    }
}

/// What an output holds, in a few lines, for the tests of what was captured.
pub(crate) fn told(output: &Output) -> String {
    let mut told = format!("version {:?} started {:?}\n", output.version, output.started);
    for f in &output.figures {
        told +=
            &format!("{} {:?} {}\n", f.kernel, f.title, serde_json::to_string(&f.params).unwrap());
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
