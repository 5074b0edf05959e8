//! A view as text for snapshots: every field that says something, tables as rows.

use std::collections::BTreeSet;

use proofmark_model::Run;
use proofmark_report::view::View;
use serde::Serialize;
use serde_json::{Map, Value};

const WIDTH: usize = 200;
/// Of a longer list, as many items evenly spaced are shown, the first and the last among them.
const ITEMS: usize = 24;

/// Text that is built up from views.
#[derive(Default)]
pub struct Dump {
    pub text: String,
    /// Meanings of columns that are there already.
    known: BTreeSet<String>,
}

/// All of it.
pub fn dump(view: &impl Serialize) -> String {
    let mut out = Dump::default();
    out.block(&serde_json::to_value(view).unwrap(), 0);
    out.text
}

impl Dump {
    /// What a run's view says in these parts, each a workload's id or `*` for the whole and the path
    /// of a field: `disk.fsync latency/notes`.
    pub fn says(&mut self, what: &str, run: &Run, parts: &[&str]) {
        let view = serde_json::to_value(View::from_run(run)).unwrap();
        self.line(0, &format!("# {what}"));
        for part in parts {
            let (id, path) = part.rsplit_once(' ').unwrap();
            let mut workloads = view["workloads"].as_array().unwrap().iter();
            let of = if id == "*" { Some(&view) } else { workloads.find(|w| w["id"] == id) };
            match of.and_then(|of| of.pointer(&format!("/{path}"))) {
                Some(value) if inline(value).is_some() => self.entry(&format!("{part}:"), value, 0),
                _ => self.line(0, &format!("{part}: nothing")),
            }
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.text += &format!("{}{text}\n", "  ".repeat(depth));
    }

    fn block(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Object(fields) if fields.contains_key("rows") && fields.contains_key("keys") => {
                self.table(fields, depth);
            }
            Value::Object(fields) => {
                fields.iter().for_each(|(name, v)| self.entry(&format!("{name}:"), v, depth));
            }
            Value::Array(items) => some(items).for_each(|item| self.entry("-", item, depth)),
            scalar => self.line(depth, &inline(scalar).unwrap_or_default()),
        }
    }

    /// A value on the line of its name, or below it where it is long.
    fn entry(&mut self, name: &str, value: &Value, depth: usize) {
        let Some(text) = inline(value) else { return };
        let long = text.chars().count() + 2 * depth > WIDTH || value.get("rows").is_some();
        match value {
            Value::Array(items) if long => self.line(depth, &format!("{name} {}", items.len())),
            Value::Object(_) if long => self.line(depth, name),
            _ => return self.line(depth, &format!("{name} {text}")),
        }
        self.block(value, depth + 1);
    }

    fn table(&mut self, fields: &Map<String, Value>, depth: usize) {
        let list = |name: &str| fields[name].as_array().unwrap();
        self.line(depth, fields["caption"].as_str().unwrap());
        let heads: Vec<String> = list("columns").iter().map(head).collect();
        self.line(depth, &format!("{} keys: {}", fields["keys"], heads.join(" | ")));
        for row in some(list("rows")) {
            let cells: Vec<String> = row["cells"].as_array().unwrap().iter().map(cell).collect();
            self.line(depth, &cells.join(" | "));
        }
        self.line(depth, &format!("{} rows", list("rows").len()));
        for (at, note) in list("notes").iter().enumerate() {
            self.line(depth, &format!("[{}] {}", at + 1, note.as_str().unwrap()));
        }
        for about in list("columns").iter().filter_map(|c| inline(&c["about"])) {
            if self.known.insert(about.clone()) {
                self.line(depth, &about);
            }
        }
    }
}

/// `title, unit`; `>` is aligned right, `^2` how easily a narrow page does without it.
fn head(column: &Value) -> String {
    let unit = column["unit"].as_str().map_or_else(String::new, |u| format!(", {u}"));
    let side = if column["numeric"] == true { ">" } else { "" };
    let spare = column["spare"].as_u64().filter(|s| *s > 0);
    let spare = spare.map_or_else(String::new, |s| format!("^{s}"));
    format!("{}{unit}{side}{spare}", column["title"].as_str().unwrap())
}

fn cell(cell: &Value) -> String {
    let note = cell["note"].as_u64().map_or_else(String::new, |n| format!("[{n}]"));
    format!("{}{note}", cell["text"].as_str().unwrap())
}

fn some(items: &[Value]) -> impl Iterator<Item = &Value> {
    let step = items.len().div_ceil(ITEMS).max(1);
    let shown = move |(at, item)| (at % step == 0 || at + 1 == items.len()).then_some(item);
    items.iter().enumerate().filter_map(shown)
}

/// Nothing for what is empty, absent or false.
fn inline(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Number(n) if n.is_f64() => {
            Some(format!("{:.5e}", n.as_f64()?).parse::<f64>().ok()?.to_string())
        }
        Value::Number(n) => Some(n.to_string()),
        Value::String(s) => (!s.is_empty()).then(|| s.clone()),
        Value::Array(items) => {
            let all: Vec<String> = items.iter().filter_map(inline).collect();
            (!all.is_empty()).then(|| format!("[{}]", all.join("; ")))
        }
        Value::Object(fields) => {
            let no_rows = fields.get("rows").and_then(Value::as_array).is_some_and(Vec::is_empty);
            let field = |(k, v): (&String, &Value)| Some(format!("{k} {}", inline(v)?));
            let all: Vec<String> = fields.iter().filter_map(field).collect();
            (!all.is_empty() && !no_rows).then(|| format!("{{{}}}", all.join("; ")))
        }
    }
}
