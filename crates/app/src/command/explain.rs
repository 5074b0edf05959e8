//! `proofmark explain`: the meaning of an id.

use anyhow::Result;
use proofmark_judge::checks::Class;
use proofmark_judge::fleet::compared_facts;
use proofmark_model::{FactId, Unit, WorkloadSpec};
use proofmark_reference::Tool;
use serde_json::Value;

use crate::cli::Listing;
use crate::command::ids::{self, Entry};
use crate::command::words::{self, words};
use crate::environment;
use crate::error::{self, Outcome, usage};
use crate::progress::events;
use crate::text::{columns, print, terminal_options, wrap};
use crate::word_hints::{self, Known};

use self::parameters::{default, explain_choice, explain_parameter, parameters, range};
use self::profile::explain_profile;
pub use self::profile::{planned, this_host, times};

mod parameters;
mod profile;

pub fn run(id: &str) -> Result<Outcome> {
    let texts = texts(id);
    if texts.is_empty() {
        return Err(usage(format!("no word '{id}'; {}", hint_for(id))));
    }
    print(&texts.join("\n"))?;
    Ok(Outcome::Done)
}

fn hint_for(id: &str) -> String {
    word_hints::hint(id, &Known { names: names().collect(), texts })
}

/// Returns what can be explained: ids, words of tables, parameters.
pub fn names() -> impl Iterator<Item = &'static str> {
    let words = words().map(|(id, ..)| *id);
    ids::all().map(Entry::id).chain(words).chain(parameters().map(|(name, _)| name))
}

/// Explains an id, or a word as a table prints it; empty for an unknown one. Several things may have
/// one name, such as a check and a rule of the audit that look for the same fault.
pub fn texts(word: &str) -> Vec<String> {
    let id = words::id_of(word);
    let is_it = |known: &str| known == word || known == id;
    let topics = Listing::ALL.into_iter();
    let entries = topics.flat_map(|topic| {
        let here = ids::entries(topic).into_iter().filter(|entry| is_it(entry.id()));
        here.map(|entry| text(topic, entry)).collect::<Vec<_>>()
    });
    let columns = words().filter(|words| is_it(words.0));
    let columns = columns.map(|words| explain(*words) + &example(words.0));
    let facts = FactId::ALL.iter().filter(|fact| words::normal(fact.as_str()) == id);
    let facts =
        facts.map(|fact| explain((fact.as_str(), "Fact of the machine or the run", fact.about())));
    let found = entries
        .chain(columns)
        .chain(explain_parameter(&id))
        .chain(explain_choice(&id))
        .chain(facts);
    let found: Vec<String> = found.chain(explain_unit(word)).collect();
    // Columns of CSV and fields of JSON are many, and most are named by what they hold.
    if found.is_empty() { explain_field(&id).into_iter().collect() } else { found }
}

/// Explains a field of the run file, or a column of CSV, from the schema of the run file.
fn explain_field(id: &str) -> Option<String> {
    let schema = serde_json::to_value(proofmark_model::schema()).ok()?;
    let mut found = Vec::new();
    fields(&schema, id, &mut found);
    // `device_read_bytes` is `read_bytes` of the device's traffic.
    let parts = id.match_indices('_').take(FIELD_PARTS).map(|(at, _)| (&id[..at], &id[at + 1..]));
    for (of, name) in parts {
        if !found.is_empty() {
            break;
        }
        let mut owners = Vec::new();
        objects(&schema, &schema, of, &mut owners);
        let name = words::id_of(name);
        owners.iter().for_each(|owner| own_field(owner, &name, &mut found));
    }
    let lines: String = found.iter().take(FIELDS).map(|about| paragraph(about)).collect();
    (!lines.is_empty()).then(|| format!("{id}: Field of run.json, or column of csv\n\n{lines}"))
}

/// Collects the objects that fields of that name hold, or lists of which they hold.
fn objects<'s>(root: &'s Value, schema: &'s Value, name: &str, found: &mut Vec<&'s Value>) {
    let inner: Vec<&Value> = match schema {
        Value::Object(all) => {
            let field = all.get("properties").and_then(|p| p.get(name));
            field.into_iter().for_each(|field| referred(root, field, found));
            all.values().collect()
        }
        Value::Array(all) => all.iter().collect(),
        _ => Vec::new(),
    };
    inner.into_iter().for_each(|inner| objects(root, inner, name, found));
}

/// Collects the definitions to which a part of a schema refers.
fn referred<'s>(root: &'s Value, schema: &'s Value, found: &mut Vec<&'s Value>) {
    match schema {
        Value::Object(all) => {
            let path = all.get("$ref").and_then(|path| path.as_str()?.strip_prefix('#'));
            found.extend(path.and_then(|path| root.pointer(path)));
            all.values().for_each(|inner| referred(root, inner, found));
        }
        Value::Array(all) => all.iter().for_each(|inner| referred(root, inner, found)),
        _ => {}
    }
}

/// Meanings of a field that are printed, and places at which a column's name may be cut into the name
/// of an object and that of its field.
const FIELDS: usize = 4;
const FIELD_PARTS: usize = 3;

/// Collects the meanings of the fields of that name, each once.
fn fields(schema: &Value, name: &str, found: &mut Vec<String>) {
    match schema {
        Value::Object(all) => {
            own_field(schema, name, found);
            all.values().for_each(|inner| fields(inner, name, found));
        }
        Value::Array(all) => all.iter().for_each(|inner| fields(inner, name, found)),
        _ => {}
    }
}

/// Collects the meaning of an object's own field of that name, once.
fn own_field(object: &Value, name: &str, found: &mut Vec<String>) {
    let field = object.get("properties").and_then(|p| p.get(name));
    let about = field.and_then(|field| field.get("description")?.as_str());
    let about = about.map(|about| about.replace('\n', " ") + "\n");
    found.extend(about.filter(|about| !found.contains(about)));
}

/// Prefixes of units, with their factors.
const PREFIXES: [(&str, &str); 10] = [
    ("", ""),
    ("k", "thousand "),
    ("M", "million "),
    ("G", "10^9 "),
    ("T", "10^12 "),
    ("P", "10^15 "),
    ("m", "10^-3 "),
    ("u", "10^-6 "),
    ("n", "10^-9 "),
    ("p", "10^-12 "),
];

/// Explains a unit as tables print it, such as `GFLOP/s`.
fn explain_unit(word: &str) -> Option<String> {
    Unit::ALL.into_iter().find_map(|unit| {
        let prefix = word.strip_suffix(unit.as_str())?;
        let (_, factor) = PREFIXES.iter().find(|(known, _)| *known == prefix)?;
        let what = match unit {
            Unit::FlopPerSecond => "floating-point operations per second",
            Unit::OpPerSecond => "operations per second; the workload says of which kind",
            Unit::Hertz => "cycles per second",
            Unit::BytePerSecond => {
                "bytes per second, by 1000: 1 MB/s is 1 000 000 bytes per second"
            }
            Unit::BitPerSecond => "bits per second, by 1000",
            Unit::Second => "seconds",
        };
        Some(format!("{word}: Unit: {factor}{what}\n"))
    })
}

/// Returns the kind of an entry for its heading: several things may have one name, such as a check
/// and a rule of the audit. Other titles say it themselves.
fn kind(topic: Listing) -> &'static str {
    match topic {
        Listing::Checks => "Check of a run: ",
        Listing::Rules => "Rule of proofmark audit, for published figures: ",
        Listing::Ceilings => "Ceiling: ",
        Listing::Findings => "Finding: ",
        _ => "",
    }
}

fn text(topic: Listing, entry: Entry) -> String {
    let named = |(id, title, about)| explain((id, &format!("{}{title}", kind(topic)), about));
    match entry {
        Entry::Workload(spec) => explain_workload(spec),
        Entry::Check(c) => named((c.id, c.title, c.about)) + "\n" + &class(c.class),
        Entry::Profile(name, toml) => explain_profile(name, toml),
        Entry::Tool(tool) => {
            let d = tool.description();
            explain((d.id, d.title, d.about)) + &compared_with(tool)
        }
        Entry::Words(words) => named(words) + &example(words.0),
    }
}

/// Returns the text after a term: the example of the audit, the list of exit statuses.
fn example(id: &str) -> String {
    match id {
        "audit" => explain_audit(),
        "environment" => {
            let each = |(name, about): (&str, &str)| {
                format!("{name}\n{}", wrap(&format!("  {about}"), width(), "  "))
            };
            let all: String = environment::rows().map(each).collect();
            format!("\n{all}\n{}", paragraph(environment::PRECEDENCE))
        }
        "progress" => {
            let rows = columns(events::FIELDS.iter().map(|(name, about)| (*name, *about)));
            format!(
                "\nThe objects of jsonl, by \"event\":\n\n{}",
                wrap(&rows, width(), &" ".repeat(10))
            )
        }
        "fleet" => {
            let list =
                |facts: &[FactId]| facts.iter().map(|f| f.as_str()).collect::<Vec<_>>().join(", ");
            let [kind, others] = compared_facts();
            let lines = [("Same in a group:", kind), ("Compared within it:", others)];
            let line = |(title, facts): (&str, Vec<FactId>)| {
                wrap(&format!("{title} {}\n", list(&facts)), width(), "  ")
            };
            format!("\n{}", lines.map(line).join("\n"))
        }
        "exit_status" => {
            let rows = columns(error::STATUSES.iter().map(|s| (s.number(), s.line())));
            format!("\n{}", wrap(&rows, width(), "         "))
        }
        _ => section(id),
    }
}

/// The page on formats for programs.
const FORMATS: &str = include_str!("../../../../docs/formats.md");

/// Returns the section of that page on a format, as text; empty without one.
fn section(format: &str) -> String {
    let section =
        FORMATS.split("\n## ").find_map(|text| text.strip_prefix(format)?.strip_prefix('\n'));
    let mut blocks = vec![String::new()];
    for line in section.unwrap_or_default().lines() {
        if line.is_empty() || line.starts_with("- ") {
            blocks.push(String::new());
        }
        if let Some(block) = blocks.last_mut() {
            *block += if block.is_empty() { "" } else { " " };
            *block += &line.trim().replace('`', "");
        }
    }
    blocks.retain(|block| !block.is_empty());
    let text = |block: String| match block.starts_with("- ") {
        true => wrap(&block, width(), "  "),
        false => format!("\n{}", paragraph(&block)),
    };
    blocks.into_iter().map(text).collect()
}

const WIDEST: usize = 90;

fn paragraph(text: &str) -> String {
    wrap(text, width(), "")
}

fn width() -> usize {
    terminal_options().width.clamp(40, WIDEST)
}

/// Returns an example of published figures with their machine, then the words that both may have.
fn explain_audit() -> String {
    let mut text = String::new();
    for (name, example) in proofmark_audit::EXAMPLE {
        text += &format!("\nExample: {name}\n\n{example}");
    }
    text += "\nproofmark audit figures.csv --machine machines.toml\n\n";
    for line in proofmark_audit::guide().lines() {
        text += &match line.starts_with(' ') {
            _ if line.is_empty() => "\n".to_owned(),
            true => wrap(line, width(), "      "),
            false => paragraph(line),
        };
    }
    text
}

fn explain((id, title, about): (&str, &str, &str)) -> String {
    format!("{id}: {title}\n\n{}", paragraph(about))
}

/// Lists the tests of a tool that do the same work as workloads; empty without any.
fn compared_with(tool: &dyn Tool) -> String {
    if tool.description().same_work.is_empty() {
        return String::new();
    }
    let mut text = "\nCompared with these workloads, by test:\n".to_owned();
    for same in tool.description().same_work {
        text += &format!("  {}: {}", same.test, same.workload);
        if let Some(when) = &same.when {
            text += &format!(" with {}={}", when.parameter, when.value);
        }
        text.push('\n');
    }
    text
}

fn class(class: Class) -> String {
    let asks = match class {
        Class::Claim { .. } => "does the result measure what its name says?",
        Class::Disturbance { .. } => {
            "did a named cause change the headline figure by more than the tolerance (`proofmark explain \
             valid`)? If so it is suspect, else a note. Time that windows leave out \
             is a note."
        }
        Class::Context => "what is worth knowing with the result?",
    };
    let mut text = wrap(&format!("Class: {}: {asks}\n", class.as_str()), width(), "  ");
    if let Class::Claim { partial: Some(why) } = class {
        text += &wrap(&format!("Suspect instead of invalid where {why}.\n"), width(), "  ");
    }
    text
}

fn explain_workload(spec: &WorkloadSpec) -> String {
    let (summary, detail) = (paragraph(&spec.summary), paragraph(&spec.detail));
    let mut text = format!("{}: {}\n\n{summary}\n{detail}", spec.id, spec.title);
    text += &format!("\nUnit: {}\n", spec.unit);
    let method = format!(
        "Method: {} (results of different methods are not comparable and are not compared)\n",
        spec.method
    );
    text += &wrap(&method, width(), "  ");
    if !spec.parameters.is_empty() {
        text += "\nParameters, set with --set WORKLOAD.PARAMETER=VALUE:\n";
    }
    for parameter in spec.parameters.iter() {
        let (range, default) = (range(parameter), default(parameter));
        let line =
            format!("  {}: {} ({range}; default {default})", parameter.name, parameter.about);
        text += &wrap(&line, width(), "      ");
    }
    text += &format!("\nCeilings: {}\n", spec.ceilings.join(", "));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::list::tests::OnlyRead;

    #[test]
    fn a_tool_without_the_work_of_a_workload_has_no_heading_of_workloads() {
        assert_eq!(compared_with(&OnlyRead), "");
        let fio = proofmark_reference::find("fio").unwrap();
        assert!(compared_with(fio).starts_with("\nCompared with these workloads, by test:\n  "));
    }

    #[test]
    fn a_column_is_explained_by_the_object_that_holds_its_field() {
        for column in ["device_read_bytes", "client_interface_in_bytes", "file_unwritten_share"] {
            assert!(texts(column)[0].contains("column of csv"), "{column}");
        }
        for word in ["banana_cpu", "xyz_cpu", "competing_cpu", "banana_p99", "foo_verdict"] {
            assert!(texts(word).is_empty(), "{word}: {:?}", texts(word));
        }
    }

    #[test]
    fn a_word_that_is_no_id_leads_to_what_it_names() {
        for (word, expected) in [
            (
                "compare",
                "it is a command (Compare two or more runs): see `proofmark compare --help`",
            ),
            ("fleet", "see `proofmark fleet --help`"),
            ("fleet run", "see `proofmark fleet run --help`"),
            ("price", "--price is an option of compare: see `proofmark compare --help`"),
            ("--budget", "--budget is an option of run"),
            ("iodepth", "did you mean 'queue_depth'?"),
            ("numjobs", "did you mean 'threads'?"),
            ("benchmark", "did you mean `proofmark run`?"),
            ("cgroup", "'throttled'"),
            ("copy", "did you mean 'memory.copy'?"),
            ("cpu.peek", "did you mean 'cpu.peak'?"),
            ("memory.bandwidth", "'memory.copy'"),
            ("qwertyuiop", "see 'proofmark list'"),
        ] {
            let hint = hint_for(word);
            assert!(hint.contains(expected), "{word}: {hint}");
        }
    }

    #[test]
    fn no_option_and_no_command_leads_nowhere() {
        for (name, command) in word_hints::all_commands() {
            let longs = command.get_arguments().filter(|a| !a.is_hide_set());
            let longs = longs.filter_map(clap::Arg::get_long).map(str::to_owned);
            for word in longs.chain([name]).filter(|word| texts(word).is_empty()) {
                assert!(hint_for(&word).contains("--help`"), "{word}: {}", hint_for(&word));
            }
        }
    }
}
