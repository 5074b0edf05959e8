//! Views as text for snapshots: every field that is not empty, tables as rows.

use std::collections::BTreeSet;

use proofmark_model::Run;
use proofmark_report::view::View;
use serde::Serialize;
use serde_json::{Map, Value};

const WIDTH: usize = 200;
/// Maximum number of items of a list; of a longer one, evenly spaced items are shown, the first and
/// the last among them.
const ITEMS: usize = 24;

/// A text to which views are added.
#[derive(Default)]
pub struct Dump {
    pub text: String,
    /// Meanings of columns that the text already contains.
    known: BTreeSet<String>,
}

/// The whole view as text.
pub fn dump(view: &impl Serialize) -> String {
    let mut out = Dump::default();
    out.block(&serde_json::to_value(view).unwrap(), 0);
    out.text
}

impl Dump {
    /// Adds parts of a run's view. A part is a place with a block's topic and a path in its
    /// content: `disk.fsync latency/notes`. The place is a workload, the anchor of a section, or
    /// the rest of the report (`*`). `figure` is a workload's result, `summary` that of the run.
    pub fn says(&mut self, what: &str, run: &Run, parts: &[&str]) {
        let view = serde_json::to_value(View::from_run(run)).unwrap();
        self.line(0, &format!("# {what}"));
        for part in parts {
            let (id, path) = part.rsplit_once(' ').unwrap();
            match look_up(&view, id, path) {
                Some(value) if inline(&value).is_some() => {
                    self.entry(&format!("{part}:"), &value, 0)
                }
                _ => self.line(0, &format!("{part}: nothing")),
            }
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.text += &format!("{}{}\n", "  ".repeat(depth), text.trim_end());
    }

    fn block(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Object(fields) if fields.contains_key("topic") => self.content(value, depth),
            Value::Object(fields) if fields.contains_key("rows") && fields.contains_key("keys") => {
                self.table(fields, depth);
            }
            Value::Object(fields) => {
                fields.iter().for_each(|(name, v)| self.entry(&format!("{name}:"), v, depth));
            }
            Value::Array(items) => some(items).for_each(|item| match item.get("topic") {
                Some(_) => self.content(item, depth),
                None => self.entry("-", item, depth),
            }),
            scalar => self.line(depth, &inline(scalar).unwrap_or_default()),
        }
    }

    /// Adds a block of a report: topic, audience, content.
    fn content(&mut self, block: &Value, depth: usize) {
        let (kind, shown) = kind(block);
        let audience = block["audience"].as_str().filter(|a| *a != "Everyone");
        let audience = audience.map_or_else(String::new, |a| format!(" for {a}"));
        let name = format!("{}{audience}", block["topic"].as_str().unwrap());
        if shown.get("blocks").is_none() {
            return match (kind, shown.as_array()) {
                ("Grid", Some(blocks)) => {
                    self.line(depth, &format!("[{name}] Grid"));
                    blocks.iter().for_each(|one| self.content(one, depth + 1));
                }
                ("Text", _) => {
                    let style = inline(&shown["style"]).filter(|style| style != "Plain");
                    self.line(depth, &format!("[{name}] Text {}", style.unwrap_or_default()));
                    let paragraphs = shown["paragraphs"].as_array().unwrap();
                    some(paragraphs).for_each(|one| self.block(one, depth + 1));
                }
                ("List", Some(items)) => {
                    self.line(depth, &format!("[{name}] List"));
                    some(items).for_each(|item| {
                        let term =
                            inline(&item["term"]).map_or(String::new(), |t| format!("{t}: "));
                        let says = inline(&item["texts"]).unwrap_or_default();
                        self.line(depth + 1, &format!("- {term}{says}"));
                    });
                }
                _ => {
                    self.line(depth, &format!("[{name}] {kind}"));
                    self.block(shown, depth + 1);
                }
            };
        }
        let mut heading = shown.as_object().unwrap().clone();
        heading.remove("blocks");
        let heading = inline(&Value::Object(heading)).unwrap_or_default();
        self.line(depth, &format!("[{name}] {kind} {heading}"));
        shown["blocks"].as_array().unwrap().iter().for_each(|one| self.content(one, depth + 1));
    }

    /// Adds a value on the line of its name, or below it if it is long.
    fn entry(&mut self, name: &str, value: &Value, depth: usize) {
        let Some(text) = inline(value) else { return };
        // A mark of a chart is on one line.
        let is_mark = ["about", "mark"].iter().any(|f| value.get(f).is_some());
        let is_mark = is_mark && value.get("points").is_none();
        let long =
            !is_mark && text.chars().count() + 2 * depth > WIDTH || value.get("rows").is_some();
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

/// The content of a block, and its kind.
fn kind(block: &Value) -> (&str, &Value) {
    let (kind, shown) = block["content"].as_object().unwrap().iter().next().unwrap();
    (kind, shown)
}

fn children(block: &Value) -> &[Value] {
    let shown = kind(block).1;
    let blocks = shown.get("blocks").unwrap_or(shown).as_array();
    blocks.filter(|all| all.iter().all(|one| one.get("topic").is_some())).map_or(&[], |all| all)
}

/// The content of the blocks of that topic, without wrappers: one value, or a list of several.
fn look_up(view: &Value, id: &str, path: &str) -> Option<Value> {
    let (topic, rest) = path.split_once('/').unwrap_or((path, ""));
    let rest = if rest.is_empty() { String::new() } else { format!("/{rest}") };
    let top = view["document"]["blocks"].as_array().unwrap();
    let mut found = Vec::new();
    if topic == "summary" {
        return view["summary"].pointer(&rest).cloned();
    }
    for block in top {
        collect(block, id, topic, id == "*", &mut found);
    }
    let mut found = found.into_iter();
    let first = found.next()?;
    let all = match (first, found.next()) {
        (one, None) => one,
        (one, Some(other)) => {
            let all = [one, other].into_iter().chain(found);
            let flat = all.flat_map(|v| v.as_array().cloned().unwrap_or_else(|| vec![v]));
            Value::Array(flat.collect())
        }
    };
    all.pointer(&rest).cloned()
}

fn collect(block: &Value, id: &str, topic: &str, inside: bool, found: &mut Vec<Value>) {
    let (kind, shown) = kind(block);
    let is_workload = shown["figure"].is_object();
    if id == "*" && is_workload {
        return;
    }
    let inside = inside || shown["code"] == id || shown["anchor"] == id;
    if inside && topic == "figure" && is_workload {
        found.push(shown["figure"].clone());
    }
    let children = children(block);
    if inside && block["topic"] == topic && children.is_empty() {
        let bare = |one: &Value| one.as_object().unwrap().values().next().unwrap().clone();
        found.push(match kind {
            "Text" => shown["paragraphs"].clone(),
            "Drawings" => shown["all"].as_array().unwrap().iter().map(bare).collect(),
            "Findings" => shown["groups"].clone(),
            _ => shown.clone(),
        });
    }
    children.iter().for_each(|one| collect(one, id, topic, inside, found));
}

/// `title, unit`; `>` is aligned right, `^2` is the order in which a narrow page drops the column.
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

/// The value as text; `None` for empty, absent and false values.
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
