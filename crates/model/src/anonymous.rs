//! A run without the names of its machine, its processes and its paths.

mod environment;
mod kernel;
#[cfg(test)]
mod tests;
mod vocabulary;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{FactId, Host, Probe, Run};

/// Names with their placeholders.
type Names = BTreeMap<String, String>;

/// The shortest name that is replaced: a single letter is too likely to be a part of something
/// else.
const MIN_BYTES: usize = 2;

/// The placeholder of a machine, which also replaces the domain after its name.
const HOST: &str = "host";
const SERVER: &str = "server";

/// The superuser, whose name identifies nobody.
const ROOT: &str = "root";

/// Removes names from the value of a setting.
type WithoutNames = fn(&str) -> String;

/// Settings with names in their values.
const OF_NAMES: [(&str, WithoutNames); 2] = [
    (kernel::SETTING, kernel::without_names),
    (FactId::Environment.as_str(), environment::without_files),
];

impl Run {
    /// Returns the run without the names of hosts, processes and paths, and without these `others`.
    /// Each name has one placeholder in all free texts. Tools that the run itself started keep
    /// their names. So do words that the program itself uses: without them its sentences would be
    /// false.
    ///
    /// # Errors
    ///
    /// If the run does not fit into JSON.
    pub fn anonymous(&self, others: &[String]) -> Result<Self, serde_json::Error> {
        let mut run = self.clone();
        run.anonymous = true;
        let places = self.places(others);
        let named = run.other_programs().to_stop();
        let names = run.programs.iter_mut().filter(|program| !program.is_everywhere());
        for (i, program) in names.enumerate() {
            program.name = format!("program {}", i + 1);
        }
        let programs = named.zip(run.other_programs().to_stop());
        without_fields(&mut run.host, &places);
        let ours = vocabulary::words_of(self)?;
        let is_theirs = |name: &String| !ours.contains(&name.to_lowercase());
        let mut in_texts: Names = places.into_iter().filter(|(name, _)| is_theirs(name)).collect();
        in_texts.extend(programs);
        for (setting, without_names) in OF_NAMES {
            if let Some(Probe::Known { value: line, .. }) = run.host.settings.get_mut(setting) {
                *line = replaced(&without_names(line), &in_texts);
            }
        }
        let mut json = serde_json::to_value(&run)?;
        replace_in_free_texts(&mut json, &in_texts);
        serde_json::from_value(json)
    }

    /// Returns the names of hosts and paths with their placeholders.
    fn places(&self, others: &[String]) -> Names {
        let Host { os, storage, network, .. } = &self.host;
        let network = network.get();
        let machines = os.host_name.get().map(|name| (name, HOST)).into_iter();
        let machines = machines.chain(network.map(|n| (&n.server.name, SERVER)));
        let in_domains = machines.clone().filter_map(|(name, word)| {
            let (label, _) = name.split_once('.')?;
            Some((label.to_owned(), word))
        });
        let address = network.map(|n| (&n.address, "address"));
        let storage = storage.get();
        let path = storage.map(|s| (&s.path, "directory"));
        let mount = storage.map(|s| (&s.mount_point, "mount point"));
        let behind = storage.into_iter().flat_map(|s| &s.devices);
        let behind = behind.filter_map(|d| Some((d.backing.as_ref()?, "file")));
        let others = others.iter().filter(|name| *name != ROOT).map(|name| (name, "name"));
        // If two things have the same name, the first one's placeholder replaces it.
        let all = machines.chain(address).chain(path).chain(mount).chain(behind).chain(others);
        let all = all.map(|(name, word)| (name.clone(), word)).chain(in_domains);
        let mut names = Names::new();
        for (name, placeholder) in all {
            if name.len() >= MIN_BYTES && name != "localhost" {
                names.entry(name).or_insert_with(|| placeholder.to_owned());
            }
        }
        names
    }
}

/// Replaces the fields that hold nothing but a name.
fn without_fields(host: &mut Host, places: &Names) {
    let replace = |name: &mut String| {
        if let Some(placeholder) = places.get(name) {
            name.clone_from(placeholder);
        }
    };
    host.os.host_name = Probe::missing("left out (--anonymous)");
    host.limits.cpu_stat.clear();
    if let Probe::Known { value: storage, .. } = &mut host.storage {
        storage.mount_options.clear();
        replace(&mut storage.path);
        replace(&mut storage.mount_point);
        storage.devices.iter_mut().filter_map(|d| d.backing.as_mut()).for_each(replace);
    }
    if let Probe::Known { value: network, .. } = &mut host.network {
        (network.boot_id, network.server.boot_id) = (None, None);
        network.clocks_ns = None;
        replace(&mut network.address);
        replace(&mut network.server.name);
    }
}

/// Fields whose text is free, with all below them. No other field may change, or the run could not
/// be read again.
const FREE: [&str; 15] = [
    "advice", "bound", "cause", "command", "counts", "detail", "evidence", "formula", "imported",
    "label", "message", "missing", "note", "reason", "source",
];

/// Fields with declarations of the program, and with parameters.
const OURS: [&str; 3] = ["workloads", "plan", "params"];

/// The field with the factors of a ceiling: the source of each is one of a few words.
const INPUTS: &str = "inputs";

fn replace_in_free_texts(value: &mut Value, names: &Names) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|v| replace_in_free_texts(v, names)),
        Value::Object(all) => {
            for (key, value) in all {
                match key.as_str() {
                    key if FREE.contains(&key) => replace_all(value, names),
                    key if OURS.contains(&key) => {}
                    INPUTS => {
                        let notes = value.as_array_mut().into_iter().flatten();
                        let notes = notes.filter_map(|input| input.get_mut("note"));
                        notes.for_each(|note| replace_all(note, names));
                    }
                    _ => replace_in_free_texts(value, names),
                }
            }
        }
        _ => {}
    }
}

fn replace_all(value: &mut Value, names: &Names) {
    match value {
        Value::String(text) => *text = without_cgroups(&replaced(text, names)),
        Value::Array(all) => all.iter_mut().for_each(|v| replace_all(v, names)),
        Value::Object(all) => all.values_mut().for_each(|v| replace_all(v, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The folder of cgroups. Names below it identify users and containers.
const CGROUPS: &str = "/sys/fs/cgroup";

/// Removes what follows the folder of cgroups from each path.
fn without_cgroups(text: &str) -> String {
    let mut parts = text.split(CGROUPS);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find([' ', ',', ';', ')']).unwrap_or(part.len());
        out = out + CGROUPS + &part[end..];
    }
    out
}

/// Replaces each name that is a word of its own, the longest names first.
fn replaced(text: &str, names: &Names) -> String {
    let mut longest: Vec<(&String, &String)> = names.iter().collect();
    longest.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let mut text = text.to_owned();
    for (name, placeholder) in longest {
        let is_machine = [HOST, SERVER].contains(&placeholder.as_str());
        let mut from = 0;
        while let Some(at) = text[from..].find(name.as_str()).map(|at| from + at) {
            let end = at + name.len();
            let before = text[..at].chars().next_back().is_some_and(joins);
            let after = text[end..].chars().next().is_some_and(joins);
            from = if before || after {
                end
            } else {
                let end = if is_machine { end + domain(&text[end..]) } else { end };
                text.replace_range(at..end, placeholder);
                at + placeholder.len()
            };
        }
    }
    text
}

/// Returns true if the letter forms one word with its neighbour.
fn joins(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// Counts the bytes of the domain that a text begins with: `.corp.example`.
fn domain(text: &str) -> usize {
    let mut length = 0;
    while let Some(label) = text[length..].strip_prefix('.') {
        match label.find(|c| !joins(c)).unwrap_or(label.len()) {
            0 => break,
            bytes => length += 1 + bytes,
        }
    }
    length
}
