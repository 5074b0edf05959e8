//! The documents against the tree: paths, links, quoted code, contents and sizes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proofmark_testing::output;

use super::Folder;

/// The beginnings of paths, in the root of the tree.
const FOLDERS: [&str; 8] =
    ["crates", "docs", "scripts", "schema", "packaging", "integrations", "fuzz", ".ci"];

/// Maximum bytes of ARCHITECTURE.md, so that people read it.
const LONGEST_MAP: usize = 10_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lists the documents, with their paths below the root. `docs/questions` is left out: it names
/// files that do not exist.
fn documents() -> Vec<(String, String)> {
    let mut all: Vec<PathBuf> = [pages(&root()), pages(&root().join("docs"))].concat();
    for folder in fs::read_dir(root().join("docs")).unwrap().flatten() {
        if folder.path().is_dir() && folder.file_name() != "questions" {
            all.extend(pages(&folder.path()));
        }
    }
    all.sort();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        (name, fs::read_to_string(&path).unwrap())
    };
    all.into_iter().map(read).collect()
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    files.filter(|path| path.extension().is_some_and(|e| e == "md")).collect()
}

pub fn document(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// Returns the words of all code in a document: of fenced blocks, and between backquotes.
fn code(text: &str) -> Vec<&str> {
    let mut spans = Vec::new();
    for (at, part) in text.split("```").enumerate() {
        if at % 2 == 1 {
            spans.push(part);
        } else {
            spans.extend(part.split('`').skip(1).step_by(2));
        }
    }
    spans.into_iter().flat_map(str::split_whitespace).collect()
}

/// Returns the path that a word names, up to a placeholder such as `NAME.rs`.
fn path_of(word: &str) -> Option<PathBuf> {
    let word = word.trim_matches(|c| ",;:()'\"".contains(c)).trim_end_matches('.');
    let (first, _) = word.split_once('/')?;
    FOLDERS.contains(&first).then(|| {
        let stands_for_any = |part: &&str| {
            let stem = part.split('.').next().unwrap_or_default();
            stem.len() > 1 && stem.chars().all(|c| c.is_ascii_uppercase()) && *part != "README.md"
        };
        word.split('/').take_while(|part| !stands_for_any(part)).collect()
    })
}

/// Returns the targets of links to pages of the tree: path and anchor.
fn links(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let targets = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    let here = targets.filter(|target| !target.contains("://"));
    here.map(|target| target.split_once('#').unwrap_or((target, "")))
}

/// Returns the headings: level and text.
fn headings(text: &str) -> Vec<(usize, &str)> {
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    let lines = prose.into_iter().flat_map(str::lines);
    lines
        .filter_map(|line| {
            let title = line.trim_start_matches('#');
            let depth = line.len() - title.len();
            (depth > 0).then(|| Some((depth, title.strip_prefix(' ')?)))?
        })
        .collect()
}

/// Returns the anchor of a heading, as GitHub makes it.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Returns the list of contents that a document should have: a line per section.
fn contents(text: &str) -> Vec<String> {
    let sections =
        headings(text).into_iter().filter(|(depth, title)| *depth > 1 && *title != "Contents");
    let line = |(depth, title): (usize, &str)| {
        format!("{}- [{title}](#{})", "  ".repeat(depth - 2), anchor(title))
    };
    sections.map(line).collect()
}

/// Returns the quoted lines that are not in their file. The first line of a quote names the file;
/// `...` stands for lines that are left out.
fn misquoted(text: &str, read: impl Fn(&str) -> String) -> Vec<String> {
    let quotes = text.split("```rust\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0));
    let mut wrong = Vec::new();
    for quote in quotes {
        let (path, lines) = quote.split_once('\n').unwrap();
        let path = path.strip_prefix("// ").unwrap_or_else(|| panic!("{path} names no file"));
        let file = read(path);
        let there = |line: &str| file.lines().any(|l| l.trim() == line);
        let lines = lines.lines().map(str::trim).filter(|line| !["", "..."].contains(line));
        wrong.extend(lines.filter(|line| !there(line)).map(|line| format!("{path}: {line}")));
    }
    wrong
}

/// A user of a package has no repository: each link of each page leads to a file of the package.
#[test]
fn links_of_packaged_documents_lead_to_packaged_files() {
    let folder = Folder::new();
    let made = Command::new(root().join("packaging/documents")).arg(folder.path()).status();
    assert!(made.expect("python3 runs packaging/documents").success());
    let (mut left, mut pages, mut seen) = (vec![folder.path().to_owned()], Vec::new(), 0);
    while let Some(path) = left.pop() {
        match path.is_dir() {
            true => left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path())),
            false => pages.extend(path.extension().is_some_and(|e| e == "md").then_some(path)),
        }
    }
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        for (target, _) in links(&text).filter(|(target, _)| !target.is_empty()) {
            seen += 1;
            let file = page.parent().unwrap().join(target);
            let is_packaged = file.canonicalize().is_ok_and(|file| file.starts_with(folder.path()));
            assert!(is_packaged, "{}: {target} is not in the package", page.display());
        }
    }
    let has = |name: &str| pages.contains(&folder.path().join(name));
    assert!(has("README.md") && has("docs/formats.md") && seen > 30, "{seen} links of {pages:?}");
    // Every package is made of this tree: none adds or moves a page of its own.
    let dist = document("scripts/dist");
    assert!(dist.contains("packaging/documents \"$doc\"") && !dist.contains("README.md"));
}

#[test]
fn paths_and_links_exist() {
    let mut seen = 0;
    for (name, text) in documents() {
        let fences = text.matches("```").count();
        assert_eq!(fences % 2, 0, "{name}: a block of code has no end");
        assert_eq!((text.matches('`').count() - 3 * fences) % 2, 0, "{name}: a backquote is alone");
        for path in code(&text).into_iter().filter_map(path_of) {
            seen += 1;
            assert!(root().join(&path).exists(), "{name}: {} does not exist", path.display());
        }
        for (target, section) in links(&text) {
            let file = root().join(&name).parent().unwrap().join(target);
            let file = if target.is_empty() { root().join(&name) } else { file };
            assert!(file.exists(), "{name}: {target} does not exist");
            let linked = || fs::read_to_string(&file).unwrap();
            let is_there = |text: &str| headings(text).iter().any(|(_, t)| anchor(t) == section);
            assert!(
                section.is_empty() || is_there(&linked()),
                "{name}: no section {target}#{section}"
            );
        }
    }
    assert!(seen > 150, "the documents were not read: {seen} paths");
}

/// Returns the text of a page of `docs` about a format.
fn on_format(id: &str) -> String {
    let page = document("docs/formats.md");
    let section = page.split("\n## ").find(|text| text.starts_with(&format!("{id}\n")));
    section.unwrap_or_else(|| panic!("docs/formats.md has no section {id}")).to_owned()
}

/// Every column, field and schema that a program may read is named there.
#[test]
fn the_page_on_formats_names_what_programs_read() {
    let (dir, page) = (Folder::new(), document("docs/formats.md"));
    dir.file("run.json", include_bytes!("runs/0.2.0.json"));
    let head = |arguments: &[&str]| -> Vec<String> {
        let stdout = dir.run(arguments).with(0).stdout;
        stdout.lines().next().unwrap().split(',').map(str::to_owned).collect()
    };
    let run = proofmark_model::read_run(&dir.text("run.json")).unwrap();
    let parameters: Vec<&str> =
        run.measurements.iter().flat_map(|m| m.params.0.keys()).map(String::as_str).collect();
    let history = ["history", "--history", "h.db", "--format", "csv"];
    dir.run(&["history", "--history", "h.db", "--add", "run.json"]).with(0);
    let tables = [
        ("csv", head(&["report", "run.json", "--format", "csv"])),
        ("history", head(&history)),
        ("history", head(&[&history[..], &["disk.fsync"]].concat())),
    ];
    for (format, columns) in tables {
        let section = on_format(format);
        for column in columns.iter().filter(|column| !parameters.contains(&column.as_str())) {
            let name = column.strip_prefix("client_").or(column.strip_prefix("server_"));
            let figure =
                ["_ci95_low", "_ci95_high"].iter().find_map(|end| column.strip_suffix(end));
            let name = name.or(figure).unwrap_or(column);
            assert!(section.contains(&format!("`{name}`")), "{format}: {column} is not explained");
        }
    }
    let lines = dir.run(&["report", "run.json", "--format", "jsonl"]).with(0).stdout;
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let common = ["missing", "interrupted"];
        for field in line.as_object().unwrap().keys().filter(|f| !common.contains(&f.as_str())) {
            assert!(on_format("jsonl").contains(&format!("`{field}`")), "{field}");
        }
    }
    let schemas = [
        proofmark_model::SCHEMA,
        proofmark_model::COMPARISON_SCHEMA,
        proofmark_model::CHECK_SCHEMA,
        proofmark_model::FLEET_SCHEMA,
        proofmark_model::FLEET_REPORT_SCHEMA,
        proofmark_model::HISTORY_SCHEMA,
    ];
    for schema in schemas {
        assert!(page.contains(&format!("| `{schema}` |")), "{schema}");
    }
    let header = fs::read(dir.path().join("h.db")).unwrap();
    let version = i32::from_be_bytes(header[60..64].try_into().unwrap());
    assert!(on_format("history").contains(&format!("SQLite, in version {version}.")), "{version}");
    for format in ["json", "csv", "jsonl", "openmetrics", "junit", "bmf", "history"] {
        let text = dir.prints(&["explain", format]);
        assert!(text.lines().count() > 4 && !text.contains('`'), "{text}");
    }
}

#[test]
fn quoted_code_is_in_its_file() {
    let mut quotes = 0;
    for (name, text) in documents() {
        quotes += text.matches("```rust\n").count();
        let wrong = misquoted(&text, document);
        assert!(wrong.is_empty(), "{name} quotes what is not there: {wrong:#?}");
    }
    assert!(quotes > 10, "the documents were not read: {quotes} quotes");
}

#[test]
fn the_map_is_short_and_has_each_crate_with_its_invariant() {
    let map = document("ARCHITECTURE.md");
    assert!(map.len() <= LONGEST_MAP, "ARCHITECTURE.md has {} bytes", map.len());
    for folder in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let name = folder.file_name().into_string().unwrap();
        let paragraph = map.split("\n\n").find(|text| text.starts_with(&format!("**{name}** ")));
        let paragraph =
            paragraph.unwrap_or_else(|| panic!("ARCHITECTURE.md has no paragraph on {name}"));
        assert!(paragraph.contains("**Invariant:**"), "{name} has no invariant");
    }
}

#[test]
fn the_method_lists_its_sections() {
    let method = document("METHOD.md");
    let listed = method.split("## Contents\n\n").nth(1).and_then(|rest| rest.split_once("\n\n"));
    let listed: Vec<&str> = listed.unwrap().0.lines().collect();
    assert_eq!(listed, contents(&method));
}

/// Returns GLOSSARY.md's definition of a term.
fn meaning<'a>(glossary: &'a str, term: &str) -> &'a str {
    let row = glossary.lines().find_map(|line| line.strip_prefix(&format!("| **{term}** | ")));
    row.unwrap_or_else(|| panic!("GLOSSARY.md has no {term}")).trim_end_matches(" |")
}

/// The sentences of a definition, and the parts of them that a colon separates, in lower case.
fn sentences(meaning: &str) -> Vec<String> {
    let parts = meaning.split(". ").flat_map(|sentence| sentence.split(": "));
    parts.map(|part| part.trim_end_matches('.').to_lowercase()).collect()
}

#[test]
fn the_glossary_says_what_the_program_explains() {
    const MORE: [&str; 4] = ["headline", "undisturbed", "verdict", "bottleneck"];
    let (dir, glossary) = (Folder::new(), document("GLOSSARY.md"));
    let explained =
        |id: &str| dir.prints(&["explain", id]).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut compared = 0;
    for line in dir.prints(&["list", "terms"]).lines() {
        let (id, title) = line.split_once(' ').unwrap();
        let kind = title.trim().split_once(": ");
        let kind = kind.filter(|(kind, _)| ["Verdict", "Figure"].contains(kind));
        if kind.is_none() && !MORE.contains(&id) {
            continue;
        }
        let meaning = meaning(&glossary, &id.replace('_', " "));
        assert!(kind.is_none_or(|(_, words)| meaning.starts_with(words)), "{title}: {meaning}");
        let text = explained(id).to_lowercase();
        for part in sentences(meaning) {
            assert!(text.contains(&part), "{id}: GLOSSARY.md has '{part}', the program '{text}'");
        }
        compared += 1;
    }
    assert!(compared >= 13, "the terms were not read: {compared}");
    let tolerance = meaning(&glossary, "tolerance");
    let (_, limits) = tolerance.split_once(": ").unwrap();
    assert!(explained("valid").contains(limits), "{limits}");
}

#[test]
fn the_readme_has_the_exit_statuses_of_the_help() {
    let help = Folder::new().prints(&["--help"]);
    let statuses = help.lines().find_map(|line| line.strip_prefix("Exit status: ")).unwrap();
    assert!(statuses.contains("3 invalid"), "{statuses}");
    assert!(document("README.md").contains(statuses), "README.md lacks '{statuses}'");
}

#[test]
fn each_decision_is_listed_and_whole() {
    let index = document("docs/decisions/README.md");
    let mut pages = pages(&root().join("docs/decisions"));
    pages.retain(|page| page.file_name().is_some_and(|name| name != "README.md"));
    assert!(pages.len() >= 20);
    for page in pages {
        let name = page.file_name().unwrap().display().to_string();
        let text = fs::read_to_string(&page).unwrap();
        assert!(index.contains(&format!("({name})")), "the list of decisions lacks {name}");
        assert!(text.contains("\nDate: 20"), "{name} has no date");
        let parts: Vec<_> = headings(&text).iter().skip(1).map(|(_, title)| *title).collect();
        assert_eq!(parts, ["Context", "Decision", "Evidence"], "{name}");
        assert!(text.len() < 4_000, "{name} is longer than a page");
    }
}

#[test]
fn long_sentences_are_named() {
    let script = root().join("scripts/sentences");
    let whole = output(&mut Command::new(&script));
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stdout));
    let page = tempfile::NamedTempFile::new().unwrap();
    let long = ["word"; 26].join(" ");
    let text =
        format!("# {long}\n\nA few words first:\n\n    {long}\n\n- A list.\n  It has {long}.\n");
    fs::write(page.path(), text).unwrap();
    let found = output(Command::new(&script).arg(page.path()));
    let printed = String::from_utf8(found.stdout).unwrap();
    assert_eq!(found.status.code(), Some(1), "{printed}");
    let line = format!("{}:8: 28 words", page.path().display());
    assert!(printed.starts_with(&line) && printed.lines().count() == 2, "{printed}");
}

#[test]
fn what_is_wrong_in_a_document_is_found() {
    let words = |text| code(text).into_iter().filter_map(path_of).collect::<Vec<_>>();
    let text =
        "`crates/a.rs`, see `sudo scripts/b DIR`; `run.json` and `1/2`.\n```sh\nls docs/c\n```\n";
    assert_eq!(words(text), ["crates/a.rs", "scripts/b", "docs/c"].map(PathBuf::from));
    assert_eq!(
        words("`crates/x/NAME.rs` `docs/README.md`"),
        ["crates/x", "docs/README.md"].map(PathBuf::from)
    );
    let text = "[a](b.md#c) [d](https://e) [f](#g)";
    assert_eq!(links(text).collect::<Vec<_>>(), [("b.md", "c"), ("", "g")]);
    let text = "# T\n\n## Contents\n\n## A b\n```sh\n# no heading\n```\n### Tools' c\n";
    assert_eq!(contents(text), ["- [A b](#a-b)", "  - [Tools' c](#tools-c)"]);
    let file = |_: &str| "fn a() {\n    b();\n}\n".to_owned();
    assert!(misquoted("```rust\n// x.rs\nfn a() {\n...\n}\n```", file).is_empty());
    assert_eq!(misquoted("```rust\n// x.rs\n    c();\n```", file), ["x.rs: c();"]);
}
