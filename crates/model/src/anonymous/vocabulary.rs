//! The words that the program itself uses. A name that is one of them stays in a text, which would
//! be false without it.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::Value;

use crate::{Run, Unit, schema};

/// Returns the words of declarations, ids, units and enumerations, in lower case.
pub(super) fn words_of(run: &Run) -> serde_json::Result<BTreeSet<String>> {
    let mut words = words_of_every_run().clone();
    collect_words(&serde_json::to_value(&run.workloads)?, &mut words);
    let findings = run.measurements.iter().flat_map(|m| &m.findings);
    let findings = findings.chain(&run.findings).chain(&run.host.findings);
    words.extend(findings.map(|f| f.check.to_lowercase()));
    Ok(words)
}

fn words_of_every_run() -> &'static BTreeSet<String> {
    static WORDS: OnceLock<BTreeSet<String>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let mut words = BTreeSet::new();
        collect_enumerations(schema().as_value(), &mut words);
        for (word, unit, _) in Unit::TYPED {
            for text in [word, unit.as_str()] {
                add(text, &mut words);
            }
        }
        add(env!("CARGO_PKG_NAME"), &mut words);
        words
    })
}

/// Collects the words that the schema allows in a field.
fn collect_enumerations(schema: &Value, words: &mut BTreeSet<String>) {
    match schema {
        Value::Array(all) => all.iter().for_each(|v| collect_enumerations(v, words)),
        Value::Object(all) => {
            for (key, value) in all {
                match key.as_str() {
                    "const" | "enum" => collect_words(value, words),
                    _ => collect_enumerations(value, words),
                }
            }
        }
        _ => {}
    }
}

/// Collects the words of all texts and all names of fields.
fn collect_words(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => add(text, words),
        Value::Array(all) => all.iter().for_each(|v| collect_words(v, words)),
        Value::Object(all) => {
            for (key, value) in all {
                add(key, words);
                collect_words(value, words);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Adds a text as a whole, such as an id, and its words.
fn add(text: &str, words: &mut BTreeSet<String>) {
    let text = text.to_lowercase();
    let split = text.split(|c| !super::joins(c)).filter(|word| !word.is_empty());
    words.extend(split.map(str::to_owned));
    words.insert(text);
}
