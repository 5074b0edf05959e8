//! The imports between the files of a crate, from their text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Reads the files of a crate without comments and tests, by module: `plan::fit`; the root is
/// empty.
pub fn read(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    gather(folder, "", &mut files);
    let tests_of = |(module, text): (&String, &String)| {
        let declared = text.split("#[cfg(test)]\n").skip(1).filter_map(|t| t.split_once(';'));
        let names = declared.filter_map(|(item, _)| {
            item.trim_start_matches("pub ").trim_start_matches("pub(crate) ").strip_prefix("mod ")
        });
        names.map(|name| below(module, name)).collect::<Vec<_>>()
    };
    let tests: Vec<String> = files.iter().flat_map(tests_of).collect();
    files.retain(|module, _| !tests.iter().any(|test| is_within(module, test)));
    files.into_iter().map(|(module, text)| (module, without_tests(&text))).collect()
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

pub fn without_tests(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join(" ")
}

fn below(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}::{name}") }
}

fn is_within(module: &str, other: &str) -> bool {
    other.is_empty() || module == other || module.starts_with(&format!("{other}::"))
}

/// Returns which files name which others, except parents and their children.
pub type Imports = BTreeMap<String, BTreeSet<String>>;

pub fn imports(files: &BTreeMap<String, String>) -> Imports {
    let each = |(module, text): (&String, &String)| {
        let mut others: BTreeSet<String> = named(module, text)
            .iter()
            .filter_map(|path| {
                let ends = path.match_indices("::").map(|(at, _)| &path[..at]);
                let known = ends.chain([path.as_str()]).filter(|path| files.contains_key(*path));
                known.last().map(str::to_owned)
            })
            .collect();
        others.retain(|other| !is_within(other, module) && !is_within(module, other));
        (module.clone(), others)
    };
    files.iter().map(each).collect()
}

/// Returns the paths that a file names. A group in braces has no inner group.
fn named(module: &str, text: &str) -> Vec<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let mut paths = Vec::new();
    for (word, base) in [("crate::", ""), ("super::", parent)] {
        let starts = text.match_indices(word).filter(|(at, _)| !text[..*at].ends_with(is_name));
        for rest in starts.map(|(at, _)| &text[at + word.len()..]) {
            let (path, rest) =
                rest.split_at(rest.find(|c| !is_name(c) && c != ':').unwrap_or(rest.len()));
            match rest.strip_prefix('{').and_then(|group| group.split('}').next()) {
                Some(group) => {
                    let names = group.split(',').map(str::trim).filter(|name| !name.is_empty());
                    paths.extend(names.map(|name| below(base, &format!("{path}{name}"))));
                }
                None => paths.push(below(base, path)),
            }
        }
    }
    paths
}

/// Returns which directories name which others: each top module with all below it counts as one.
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

/// Returns the modules that import each other in a circle, and those between two circles. Removes,
/// again and again, the modules that import none of the rest, or that none of the rest imports.
pub fn in_circles(imports: &Imports) -> Vec<String> {
    let mut left = imports.clone();
    loop {
        let is_open = |(module, others): &(&String, &BTreeSet<String>)| {
            !others.iter().any(|other| left.contains_key(other))
                || !left.values().any(|others| others.contains(*module))
        };
        let gone: Vec<String> = left.iter().filter(is_open).map(|(m, _)| m.clone()).collect();
        if gone.is_empty() {
            return left.into_keys().collect();
        }
        left.retain(|module, _| !gone.contains(module));
    }
}
