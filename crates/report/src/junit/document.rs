//! JUnit XML: suites of cases with their counts and times. [`text`] makes any text valid in it.

use proofmark_model::Timestamp;
use quick_xml::SeError;
use quick_xml::se::Serializer;
use serde::Serialize;

use crate::view::clean;

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// A check failed.
    Failure(Cause),
    /// The case could not run.
    Error(Cause),
    /// The case was left out.
    Skipped(Cause),
}

#[derive(Debug, Default, Serialize)]
pub struct Cause {
    #[serde(rename = "@message")]
    pub message: String,
    /// The kind of the cause, in a word or two.
    #[serde(rename = "@type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(rename = "$text", skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
}

impl Cause {
    /// Makes a cause of a kind.
    pub fn new(kind: &str, message: String) -> Self {
        Self { kind: Some(kind.to_owned()), message, more: None }
    }
}

/// One test case, which passes without an ending.
#[derive(Debug, Default, Serialize)]
pub struct Case {
    #[serde(rename = "@name")]
    pub name: String,
    #[serde(rename = "@classname", skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Duration in seconds.
    #[serde(rename = "@time", skip_serializing_if = "Option::is_none", serialize_with = "seconds")]
    pub seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    #[serde(rename = "$value", skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    #[serde(rename = "system-out", skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Properties {
    property: Vec<Property>,
}

#[derive(Debug, Serialize)]
struct Property {
    #[serde(rename = "@name")]
    name: &'static str,
    #[serde(rename = "@value")]
    value: String,
}

impl Properties {
    pub fn new(all: Vec<(&'static str, String)>) -> Self {
        let property = |(name, value)| Property { name, value };
        Self { property: all.into_iter().map(property).collect() }
    }
}

/// Cases or suites under a name, with the number of cases by ending, and their time if any has one.
#[derive(Debug, Default, Serialize)]
pub struct Suite {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@tests")]
    tests: usize,
    #[serde(rename = "@skipped")]
    skipped: usize,
    #[serde(rename = "@failures")]
    failures: usize,
    #[serde(rename = "@errors")]
    errors: usize,
    #[serde(rename = "@time", skip_serializing_if = "Option::is_none", serialize_with = "seconds")]
    seconds: Option<f64>,
    /// Start time, such as `2026-11-21T02:03:04Z`.
    #[serde(rename = "@timestamp", skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    #[serde(rename = "testcase")]
    cases: Vec<Case>,
    #[serde(rename = "testsuite")]
    suites: Vec<Suite>,
}

impl Suite {
    pub fn new(name: &str, cases: Vec<Case>) -> Self {
        let counted = Self::counted(name, cases.iter());
        Self { cases, ..counted }
    }

    fn counted<'a>(name: &str, cases: impl Iterator<Item = &'a Case> + Clone) -> Self {
        let ended = |is: fn(&Ending) -> bool| {
            cases.clone().filter(|c| c.ending.as_ref().is_some_and(is)).count()
        };
        Self {
            name: name.to_owned(),
            tests: cases.clone().count(),
            skipped: ended(|e| matches!(e, Ending::Skipped(_))),
            failures: ended(|e| matches!(e, Ending::Failure(_))),
            errors: ended(|e| matches!(e, Ending::Error(_))),
            seconds: cases.filter_map(|c| c.seconds).reduce(|a, b| a + b),
            ..Self::default()
        }
    }
}

/// Writes the document, which ends in a line break.
///
/// # Errors
/// If a value has no form in XML.
pub fn write(name: &str, suites: Vec<Suite>) -> Result<String, SeError> {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let mut serializer = Serializer::with_root(&mut xml, Some("testsuites"))?;
    serializer.indent(' ', 4);
    let counted = Suite::counted(name, suites.iter().flat_map(|s| &s.cases));
    Suite { suites, ..counted }.serialize(serializer)?;
    Ok(xml + "\n")
}

/// Writes a time in the form of JUnit's schema.
pub fn timestamp(at: Timestamp) -> String {
    at.0.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Writes a duration with three decimals.
fn seconds<S: serde::Serializer>(seconds: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{:.3}", seconds.unwrap_or(0.0)))
}

/// Removes control characters and the two code points that are no characters: XML 1.0 forbids both.
pub fn text(from: &str) -> String {
    clean(from).replace(['\u{fffe}', '\u{ffff}'], "")
}
