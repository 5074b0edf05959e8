//! `--json-stream`: a run as one event per line, merged into the form of `-J`.

use serde_json::{Map, Value};

use crate::Malformed;
use crate::documents::Document;

/// Merges the events of each run into one document. A run that is also printed whole after its
/// events (`--json-stream-full-output`) counts once.
pub(super) fn merge_events(all: Vec<Document<Value>>) -> Result<Vec<Document<Value>>, Malformed> {
    let mut runs: Vec<Document<Value>> = Vec::new();
    let mut open: Option<(Map<String, Value>, usize)> = None;
    let mut streamed = Value::Null;
    for mut document in all {
        let Some(event) = event(&mut document.value) else {
            if streamed.is_null() || cookie(&document.value) != Some(&streamed) {
                runs.push(document);
                streamed = Value::Null;
            }
            continue;
        };
        let (name, data) = event;
        let (run, _) = open.get_or_insert_with(|| (Map::new(), document.line));
        match &*name {
            "interval" => {
                let all = run.entry("intervals").or_insert_with(|| Value::Array(Vec::new()));
                all.as_array_mut().into_iter().for_each(|all| all.push(data.clone()));
            }
            "end" => {
                run.insert(name, data);
                document.value = Value::Object(open.take().map_or_else(Map::new, |(run, _)| run));
                streamed = cookie(&document.value).cloned().unwrap_or_default();
                runs.push(document);
            }
            _ => drop(run.insert(name, data)),
        }
    }
    match open {
        Some((_, line)) => Err(Malformed::at(line, "the events of this run have no end")),
        None => Ok(runs),
    }
}

/// Returns the name of an event and its data.
fn event(value: &mut Value) -> Option<(String, Value)> {
    let name = value.get("event")?.as_str()?.to_owned();
    Some((name, value.get_mut("data")?.take()))
}

/// Returns the id of a run.
fn cookie(run: &Value) -> Option<&Value> {
    run.get("start")?.get("cookie")
}
