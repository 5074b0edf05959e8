//! Which files of a crate import which others, by their text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The text of each file of a crate without its tests, by the path of its module: `plan::fit`, the
/// root by the empty path.
pub fn read(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    gather(folder, "", &mut files);
    let tests: Vec<String> =
        files.iter().flat_map(|(module, text)| tests_of(module, text)).collect();
    let is_test =
        |module: &str| tests.iter().any(|t| module == t || module.starts_with(&format!("{t}::")));
    files.retain(|module, _| !is_test(module));
    files
}

fn gather(folder: &Path, above: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if path.is_dir() {
            gather(&path, &below(above, &name), files);
        } else if let Some(stem) = name.strip_suffix(".rs") {
            let module = match stem {
                "mod" | "main" | "lib" => above.to_owned(),
                stem => below(above, stem),
            };
            files.insert(module, fs::read_to_string(&path).unwrap());
        }
    }
}

fn below(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}::{name}") }
}

/// Modules that a file declares for tests alone.
fn tests_of(module: &str, text: &str) -> Vec<String> {
    let mut lines = text.lines().map(str::trim);
    let mut tests = Vec::new();
    while let Some(line) = lines.next() {
        let declared = lines.clone().next().and_then(|l| l.strip_prefix("mod ")?.strip_suffix(';'));
        tests.extend(declared.filter(|_| line == "#[cfg(test)]").map(|name| below(module, name)));
    }
    tests
}

/// Which files name which others, a parent and what lies below it aside.
pub type Imports = BTreeMap<String, BTreeSet<String>>;

pub fn imports(files: &BTreeMap<String, String>) -> Imports {
    let each = |(module, text): (&String, &String)| (module.clone(), named(files, module, text));
    files.iter().map(each).collect()
}

/// The same of whole folders: each module at the top with all that lies below it is one.
pub fn of_folders(imports: &Imports) -> Imports {
    let top = |module: &str| module.split("::").next().unwrap_or_default().to_owned();
    let mut folders = Imports::new();
    for (module, others) in imports {
        let own = top(module);
        let others = others.iter().map(|other| top(other)).filter(|other| *other != own);
        folders.entry(own.clone()).or_default().extend(others);
    }
    folders
}

/// The circles in which modules import each other, each as its modules in order.
pub fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reaches = |from: &str| {
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = imports[from].iter().map(String::as_str).collect();
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(imports[next].iter().map(String::as_str));
            }
        }
        reached
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|m| (m.as_str(), reaches(m))).collect();
    let together = |a: &str, b: &str| reached[a].contains(b) && reached[b].contains(a);
    let mut circles: Vec<Vec<String>> = Vec::new();
    for module in imports.keys().filter(|m| together(m, m)) {
        match circles.iter_mut().find(|circle| together(&circle[0], module)) {
            Some(circle) => circle.push(module.clone()),
            None => circles.push(vec![module.clone()]),
        }
    }
    circles
}

/// The other files that a file names.
fn named(files: &BTreeMap<String, String>, module: &str, text: &str) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let plain = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    let text: String = text.lines().map(plain).collect::<Vec<_>>().join(" ");
    let mut found = BTreeSet::new();
    for (at, word) in ["crate", "super"].iter().flat_map(|word| text.match_indices(word)) {
        let is_start = text[..at].chars().last().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let Some(rest) = text[at + word.len()..].strip_prefix("::").filter(|_| is_start) else {
            continue;
        };
        let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
        let base = if word == "crate" { "" } else { parent };
        let mut all = Vec::new();
        paths(base, rest, &mut all);
        found.extend(all.iter().filter_map(|path| file_of(files, path)));
    }
    let kin = |other: &str| {
        let within = |a: &str, b: &str| a == b || a.is_empty() || b.starts_with(&format!("{a}::"));
        within(other, module) || within(module, other)
    };
    found.into_iter().filter(|other| !kin(other)).map(str::to_owned).collect()
}

/// The paths that begin here, groups in braces taken apart; what follows them.
fn paths<'t>(base: &str, text: &'t str, all: &mut Vec<String>) -> &'t str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = paths(base, rest, all).trim_start();
            match rest.strip_prefix(',') {
                Some(next) => rest = next,
                None => return rest.strip_prefix('}').unwrap_or(rest),
            }
        }
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let path = match name {
        "" | "self" => base.to_owned(),
        "super" => base.rsplit_once("::").map_or(String::new(), |(parent, _)| parent.to_owned()),
        name => below(base, name),
    };
    match rest.strip_prefix("::") {
        Some(rest) => paths(&path, rest, all),
        None => {
            all.push(path);
            rest
        }
    }
}

/// The file that a path leads to: the longest beginning of it that is one.
fn file_of<'a>(files: &'a BTreeMap<String, String>, path: &str) -> Option<&'a str> {
    let mut path = path;
    loop {
        if let Some((module, _)) = files.get_key_value(path) {
            return Some(module);
        }
        path = path.rsplit_once("::")?.0;
    }
}
