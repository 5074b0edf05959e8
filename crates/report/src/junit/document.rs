//! JUnit XML as continuous integration reads it: suites of cases, written with their counts and
//! times. Control characters are the caller's to remove ([`super::text`]).

use std::fmt::Write as _;

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// A check failed.
    Failure,
    /// It could not be carried out.
    Error,
    /// It was left out.
    Skipped,
}

impl Ending {
    fn tag(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// Why a case did not pass.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it ended instead.
    pub ending: Ending,
    /// What was found, as a word or two.
    pub kind: Option<String>,
    /// The cause.
    pub message: Option<String>,
    /// More about it.
    pub text: String,
}

impl Outcome {
    /// An ending with its kind and cause.
    pub fn new(ending: Ending, kind: &str, message: String) -> Self {
        Self { ending, kind: Some(kind.to_owned()), message: Some(message), text: String::new() }
    }
}

/// One test case; passed where there is no outcome.
#[derive(Debug, Clone, Default)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// What it belongs to.
    pub class: Option<String>,
    /// What it took, in seconds.
    pub seconds: Option<f64>,
    /// Names and values.
    pub properties: Vec<(&'static str, String)>,
    /// Why it did not pass.
    pub outcome: Option<Outcome>,
    /// What it printed.
    pub output: Option<String>,
}

/// A suite of cases.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// When it began, as `2026-11-21T02:03:04Z`.
    pub started: Option<String>,
    /// Names and values.
    pub properties: Vec<(&'static str, String)>,
    /// Its cases.
    pub cases: Vec<Case>,
}

/// The document, with a line at the end.
pub fn write(name: &str, suites: &[Suite]) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all: Vec<&Case> = suites.iter().flat_map(|s| &s.cases).collect();
    open(&mut xml, 0, "testsuites", &with_counts(name, &all), false);
    for suite in suites {
        write_suite(&mut xml, suite);
    }
    xml.push_str("</testsuites>\n");
    xml
}

type Attributes = Vec<(&'static str, String)>;

/// The name, how many cases there are and ended how, and their time if any has one.
fn with_counts(name: &str, cases: &[&Case]) -> Attributes {
    let ended = |ending| {
        let same = |c: &&&Case| c.outcome.as_ref().is_some_and(|o| o.ending == ending);
        cases.iter().filter(same).count().to_string()
    };
    let mut attributes = vec![
        ("name", name.to_owned()),
        ("tests", cases.len().to_string()),
        ("skipped", ended(Ending::Skipped)),
        ("failures", ended(Ending::Failure)),
        ("errors", ended(Ending::Error)),
    ];
    if cases.iter().any(|c| c.seconds.is_some()) {
        let seconds: f64 = cases.iter().filter_map(|c| c.seconds).sum();
        attributes.push(("time", format!("{seconds:.3}")));
    }
    attributes
}

fn write_suite(xml: &mut String, suite: &Suite) {
    let mut attributes = with_counts(&suite.name, &suite.cases.iter().collect::<Vec<_>>());
    attributes.extend(suite.started.clone().map(|at| ("timestamp", at)));
    open(xml, 1, "testsuite", &attributes, false);
    write_properties(xml, 2, &suite.properties);
    for case in &suite.cases {
        write_case(xml, case);
    }
    xml.push_str("    </testsuite>\n");
}

fn write_case(xml: &mut String, case: &Case) {
    let mut attributes = vec![("name", case.name.clone())];
    attributes.extend(case.class.clone().map(|class| ("classname", class)));
    attributes.extend(case.seconds.map(|s| ("time", format!("{s:.3}"))));
    let empty = case.properties.is_empty() && case.outcome.is_none() && case.output.is_none();
    open(xml, 2, "testcase", &attributes, empty);
    if empty {
        return;
    }
    write_properties(xml, 3, &case.properties);
    if let Some(outcome) = &case.outcome {
        let message = outcome.message.clone().map(|m| ("message", m));
        let kind = outcome.kind.clone().map(|k| ("type", k));
        let attributes: Attributes = message.into_iter().chain(kind).collect();
        write_text(xml, outcome.ending.tag(), &attributes, &outcome.text);
    }
    if let Some(output) = &case.output {
        write_text(xml, "system-out", &Vec::new(), output);
    }
    xml.push_str("        </testcase>\n");
}

fn write_properties(xml: &mut String, depth: usize, properties: &Attributes) {
    if properties.is_empty() {
        return;
    }
    open(xml, depth, "properties", &Vec::new(), false);
    for (name, value) in properties {
        let attributes = vec![("name", (*name).to_owned()), ("value", value.clone())];
        open(xml, depth + 1, "property", &attributes, true);
    }
    let _ = writeln!(xml, "{}</properties>", indent(depth));
}

/// An element of a case, with text in it.
fn write_text(xml: &mut String, tag: &str, attributes: &Attributes, text: &str) {
    open(xml, 3, tag, attributes, text.is_empty());
    if !text.is_empty() {
        xml.pop(); // The text begins on the same line.
        let _ = writeln!(xml, "{}</{tag}>", escape(text));
    }
}

/// A line with an element's start, or the whole element if it is empty.
fn open(xml: &mut String, depth: usize, tag: &str, attributes: &Attributes, empty: bool) {
    let _ = write!(xml, "{}<{tag}", indent(depth));
    for (name, value) in attributes {
        let _ = write!(xml, " {name}=\"{}\"", escape(value));
    }
    xml.push_str(if empty { "/>\n" } else { ">\n" });
}

fn indent(depth: usize) -> String {
    " ".repeat(4 * depth)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&apos;")
}
