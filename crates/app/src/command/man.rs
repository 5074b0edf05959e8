//! `proofmark man`: the manual pages, from the command line's definitions and the texts below.

use std::io;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::cli::Cli;
use crate::environment::{PRECEDENCE, VARIABLES, Variable};
use crate::error::{Outcome, STATUSES, Status};
use crate::output::write_file;
use crate::text::print_data;

pub fn run(out: Option<&Path>) -> Result<Outcome> {
    let mut main = Cli::command().disable_help_subcommand(true);
    main.build();
    let Some(dir) = out else {
        print_data(&page(&main, None)?)?;
        return Ok(Outcome::Done);
    };
    std::fs::create_dir_all(dir)
        .with_context(|| format!("cannot create directory {}", dir.display()))?;
    write_file(&dir.join("proofmark.1"), page(&main, None)?.as_bytes())?;
    for command in shown(&main) {
        let name = command.get_name();
        for (shown, file) in [(command, name.to_owned())]
            .into_iter()
            .chain(shown(command).map(|c| (c, format!("{name}-{}", c.get_name()))))
        {
            let file = dir.join(format!("proofmark-{file}.1"));
            write_file(&file, page(shown, Some(name))?.as_bytes())?;
        }
    }
    Ok(Outcome::Done)
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|c| !c.is_hide_set())
}

/// Renders one page. `name` is the command's or, of a subcommand, its parent's; `None` for the main
/// page.
fn page(command: &Command, name: Option<&str>) -> io::Result<String> {
    let man = Man::new(command.clone())
        // Not empty, which would be left out and shift the other fields. A date would differ per
        // build.
        .date(" ")
        .source(concat!("proofmark ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    let mut more = Roff::new();
    match name {
        None => {
            man.render_subcommands_section(&mut out)?;
            list(&mut more, "EXIT STATUS", STATUSES.iter().map(|s| (s.number(), s.line())));
        }
        Some(name) => {
            if command.has_subcommands() {
                man.render_subcommands_section(&mut out)?;
            }
            let here = STATUSES.iter().filter(|s| applies_to(s, name));
            list(&mut more, "EXIT STATUS", here.map(|s| (s.number(), s.about.to_owned())));
        }
    }
    items(&mut more, "FILES", FILES, name);
    let on_page =
        |v: &&Variable| v.commands.is_empty() || name.is_none_or(|name| v.commands.contains(&name));
    let here = VARIABLES.iter().filter(on_page).map(|v| (v.name, v.about));
    list(&mut more, "ENVIRONMENT", here.chain([("Precedence", PRECEDENCE)]));
    examples(&mut more, name);
    see_also(&mut more, command, name);
    more.to_writer(&mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// A file or variable, its meaning, and the commands whose pages list it; empty: all.
type Item = (&'static str, &'static str, &'static [&'static str]);

fn applies_to(status: &Status, command: &str) -> bool {
    status.commands.is_empty() || status.commands.contains(&command)
}

fn is_on_page(item: &Item, command: &str) -> bool {
    item.2.is_empty() || item.2.contains(&command)
}

const MEASURE: &[&str] = &["run", "noise", "endure", "import"];
const READ: &[&str] = &["report", "compare", "check", "history"];

const FILES: &[Item] = &[
    (
        "proofmark-TIME/",
        "The run's directory; TIME is the start in UTC. --out names another.",
        MEASURE,
    ),
    (
        "proofmark-TIME/run.json",
        "The run with every trial; proofmark schema prints its JSON schema. During a run it holds \
        the results so far.",
        MEASURE,
    ),
    ("fleet-TIME/fleet.jsonl", "What each node answered, a JSON object per line.", &["fleet"]),
    ("fleet-TIME/report.html", "The fleet's report.", &["fleet"]),
    (
        "proofmark-TIME/samples.jsonl",
        "Every sample of a measurement over time, written when taken.",
        &["run", "endure"],
    ),
    (
        "proofmark-TIME/report.html, report.md, report.csv",
        "The report as HTML and Markdown, and every trial as CSV.",
        MEASURE,
    ),
    ("DIR/run.json", "The file that a command reads when its argument is a directory DIR.", READ),
    (
        "~/.local/share/proofmark/history.db",
        "The history of past runs, an SQLite database; --history or PROOFMARK_HISTORY names another.",
        &["run", "endure", "compare", "check", "history"],
    ),
    (
        "~/.config/proofmark/key",
        "The key that client and server share; --key-file names another.",
        &["run", "serve"],
    ),
];

fn items(roff: &mut Roff, title: &str, all: &[Item], name: Option<&str>) {
    let here = all.iter().filter(|i| name.is_none_or(|n| is_on_page(i, n)));
    list(roff, title, here.map(|(what, text, _)| (*what, *text)));
}

/// Adds a section with a paragraph per item; nothing without items.
fn list<S: Into<String>>(roff: &mut Roff, title: &str, items: impl Iterator<Item = (S, S)>) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        roff.control("SH", [title]);
    }
    for (what, text) in items {
        roff.control("TP", []);
        roff.text([bold(what)]);
        roff.text([roman(text)]);
    }
}

/// Command lines with their effects. The first word after `proofmark` is the command of the page.
const EXAMPLES: &[(&str, &str)] = &[
    ("proofmark run", "Measure the whole machine, three minutes."),
    ("proofmark run --quick", "A short run, at most 45 s."),
    (
        "proofmark run cpu.flops --threads 1,2 --set cpu.flops.isa=avx2+fma",
        "One workload at two thread counts, with one parameter set.",
    ),
    (
        "proofmark run disk --disk-path /data --limit disk.read=160MB/s",
        "A directory's disk, compared with the provider's declared limit.",
    ),
    ("proofmark noise --for 30s", "What takes CPU time, and how vCPUs are placed on cores."),
    ("proofmark endure cpu.flops --for 10m --every 1s", "One sample per second for ten minutes."),
    ("proofmark info --json", "The machine as JSON."),
    ("proofmark list workloads", "All workloads."),
    ("proofmark explain cpu.flops", "One workload and its parameters."),
    ("proofmark report", "The newest run: main results, problems, conclusions."),
    ("proofmark report DIR --all", "A run with every result and finding."),
    ("proofmark report DIR --format markdown", "A run's report as Markdown, for an issue."),
    (
        "proofmark report DIR --format openmetrics --out proofmark.prom",
        "Results as gauges for node_exporter's textfile collector.",
    ),
    ("proofmark compare BEFORE AFTER", "Compare two runs."),
    (
        "proofmark check DIR --against BASELINE --format junit --out proofmark.xml",
        "Exit status 4 if a result is slower.",
    ),
    ("proofmark history memory.copy --set threads=2", "One workload over all past runs."),
    ("proofmark import fio.json", "Check fio's results."),
    ("proofmark audit figures.csv --machine machines.toml", "Check published figures."),
    ("proofmark serve --bind 0.0.0.0", "Run the server for other machines' network tests."),
    ("proofmark fleet run --ssh n[1-32]", "Measure many machines by ssh, and find the slow ones."),
    (
        "proofmark fleet report DIR --format junit",
        "The fleet's report as JUnit XML, a test case per node.",
    ),
    ("proofmark schema", "The JSON schema of run.json."),
    ("proofmark completions bash > proofmark.bash", "A bash completion script, to be sourced."),
    ("proofmark man | man -l -", "Show the main page."),
];

fn examples(roff: &mut Roff, name: Option<&str>) {
    let main = ["run", "endure", "report", "compare", "history"];
    let of_page = |line: &str| {
        let command = line.split(' ').nth(1).unwrap_or_default();
        name.map_or(main.contains(&command), |n| n == command)
    };
    list(roff, "EXAMPLES", EXAMPLES.iter().copied().filter(|(line, _)| of_page(line)));
}

/// Adds the other pages: on the main page those of all commands, else the main page.
fn see_also(roff: &mut Roff, command: &Command, name: Option<&str>) {
    let mut pages = match name {
        None => shown(command).map(|c| format!("proofmark-{}", c.get_name())).collect(),
        Some(_) => vec!["proofmark".to_owned()],
    };
    pages.sort_unstable();
    roff.control("SH", ["SEE ALSO"]);
    let last = pages.len().saturating_sub(1);
    for (at, page) in pages.iter().enumerate() {
        roff.text([bold(page.as_str()), roman(if at == last { "(1)" } else { "(1)," })]);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn texts_name_commands_and_arguments_that_exist() {
        let main = Cli::command();
        for (line, _) in EXAMPLES {
            let line = line.split(['>', '|']).next().unwrap();
            let words = line.split_whitespace();
            Cli::try_parse_from(words).unwrap_or_else(|e| panic!("{line}: {e}"));
        }
        for name in FILES.iter().flat_map(|i| i.2).chain(VARIABLES.iter().flat_map(|v| v.commands))
        {
            assert!(main.find_subcommand(name).is_some(), "{name}");
        }
        for name in STATUSES.iter().flat_map(|s| s.commands) {
            assert!(main.find_subcommand(name).is_some(), "{name}");
        }
        for command in shown(&main) {
            let own = format!("proofmark {}", command.get_name());
            assert!(EXAMPLES.iter().any(|(line, _)| line.starts_with(&own)), "{own}");
            let has = |status: &str| {
                STATUSES.iter().any(|s| s.number() == status && applies_to(s, command.get_name()))
            };
            assert!(["0", "1", "2"].into_iter().all(has), "{own}: exit statuses");
        }
    }
}
