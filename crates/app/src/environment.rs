//! The variables that proofmark reads, for the help, `explain environment` and the manual pages.

/// A variable.
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Its effect, with what has precedence over it.
    pub about: &'static str,
    /// The commands whose pages list it; empty: all.
    pub commands: &'static [&'static str],
}

const fn variable(
    name: &'static str,
    commands: &'static [&'static str],
    about: &'static str,
) -> Variable {
    Variable { name, about, commands }
}

/// What decides, first to last.
pub const PRECEDENCE: &str = "An option has precedence over a variable, a variable over a profile or a file, and that over the default.";

/// Every variable that users may set, in the order in which it is explained.
pub const VARIABLES: &[Variable] = &[
    variable(
        "PROOFMARK_HISTORY",
        &["run", "endure", "report", "compare", "check", "history"],
        "File of the history; empty or off: none. --history and --no-history have precedence. Default: \
         proofmark/history.db in XDG_DATA_HOME or ~/.local/share.",
    ),
    variable(
        "PROOFMARK_KEY",
        &["run", "serve", "fleet"],
        "Key that client and server share, as 64 hexadecimal digits. --key-file has precedence. Default: \
         proofmark/key in XDG_CONFIG_HOME or ~/.config. Other programs that proofmark starts do not get it.",
    ),
    variable(
        "XDG_DATA_HOME, XDG_CONFIG_HOME, HOME",
        &["run", "endure", "serve", "report", "compare", "check", "history", "fleet"],
        "Directories of the history and the key, unless the variables above or an option name them.",
    ),
    variable(
        "COLUMNS",
        &["run", "noise", "endure", "report", "compare", "check", "history", "fleet", "info"],
        "Width of text that does not go to a terminal; default 100. For `| less` in a terminal of 80 columns: \
         COLUMNS=80. A terminal's own width has precedence.",
    ),
    variable(
        "NO_COLOR",
        &["run", "noise", "endure", "report", "compare", "check", "fleet"],
        "If set and not empty: no colours. CLICOLOR=0 does the same; CLICOLOR_FORCE=1 colours text that does not go \
         to a terminal. NO_COLOR has precedence over both. Files have no colours.",
    ),
    variable(
        "LC_ALL, LC_CTYPE, LANG",
        &[],
        "The first one that is set names the locale. If that has no UTF-8, such as C, text for people is plain \
         ASCII: +- instead of \u{b1}. Unset: UTF-8. Files are always UTF-8.",
    ),
    variable("TERM", &[], "dumb: no colours and plain ASCII in a terminal."),
    variable(
        "PATH",
        &["run", "fleet"],
        "Absolute directories in which reference tools, ssh, Slurm and kubectl are found.",
    ),
    variable(
        "SLURM_JOB_ID, SLURM_JOB_NODELIST",
        &["fleet"],
        "The current allocation, which `fleet run --slurm` uses; else it asks for a new one.",
    ),
];

/// Returns the text of `explain environment`: a name and an effect per variable.
pub fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    VARIABLES.iter().map(|v| (v.name, v.about))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Variables that proofmark sets for its own processes and tests; users need none of them.
    const INTERNAL: &[&str] = &[
        "PROOFMARK_PEER",
        "PROOFMARK_OWN_ALLOCATION",
        "PROOFMARK_TESTBED",
        "PROOFMARK_DEVICE",
        "PROOFMARK_COMMIT",
    ];

    /// Collects the quoted names `"PROOFMARK_..."` of the sources below a folder.
    fn names(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                names(&path, found);
                continue;
            }
            if path.extension().is_none_or(|e| e != "rs") || path.ends_with("tests.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            let is_name = |c: char| c.is_ascii_uppercase() || c == '_';
            let quoted = text.split("\"PROOFMARK_").skip(1).filter_map(|t| t.split_once('"'));
            let quoted = quoted.map(|(name, _)| name).filter(|n| !n.is_empty());
            found.extend(
                quoted.filter(|n| n.chars().all(is_name)).map(|n| format!("PROOFMARK_{n}")),
            );
        }
    }

    #[test]
    fn every_variable_in_the_sources_is_listed() {
        let mut found = BTreeSet::new();
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap() {
            let sources = entry.unwrap().path().join("src");
            if sources.is_dir() {
                names(&sources, &mut found);
            }
        }
        assert!(found.len() >= 5, "the names were not found: {found:?}");
        let listed: BTreeSet<&str> = VARIABLES.iter().flat_map(|v| v.name.split(", ")).collect();
        for name in &found {
            let known = listed.contains(name.as_str()) || INTERNAL.contains(&name.as_str());
            assert!(known, "{name} is read and not listed");
        }
        for name in listed.iter().chain(INTERNAL).filter(|n| n.starts_with("PROOFMARK_")) {
            assert!(found.contains(*name), "{name} is listed and not read");
        }
    }
}
