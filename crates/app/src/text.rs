//! Writing to standard output and standard error. All text for people goes through here, where it
//! is cleaned: messages quote files, peers, tools and paths. Only the progress bar, which cleans
//! its own text, writes directly.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;

use proofmark_model::{bind_units, clean, clean_page};
use proofmark_report::Options;
use serde_json::{Value, json};

use crate::cli::ProgressMode;
use crate::signs;

static PROGRESS: OnceLock<ProgressMode> = OnceLock::new();

/// Sets the form of standard error for the rest of the program.
pub fn set_progress_mode(mode: ProgressMode) {
    let _ = PROGRESS.set(mode);
}

/// Returns the form of standard error.
pub fn progress_mode() -> ProgressMode {
    PROGRESS.get().copied().unwrap_or_default()
}

/// Returns true if text for people must be plain ASCII.
pub fn is_ascii_only() -> bool {
    static ONLY: OnceLock<bool> = OnceLock::new();
    *ONLY.get_or_init(|| signs::is_ascii_only(|name| std::env::var(name).ok()))
}

/// Returns text for people in signs that the terminal has.
pub fn ascii(text: &str) -> Cow<'_, str> {
    if is_ascii_only() { Cow::Owned(signs::ascii(text)) } else { Cow::Borrowed(text) }
}

/// Prints text for people. A closed pipe (`| head`) is no error.
pub fn print(text: &str) -> io::Result<()> {
    put(anstream::stdout().lock(), &ascii(&clean_page(text)))
}

/// Prints text for programs, which is cleaned only for a terminal.
pub fn print_data(text: &str) -> io::Result<()> {
    let stdout = io::stdout();
    if stdout.is_terminal() { print(text) } else { put(stdout.lock(), text) }
}

fn put(mut out: impl Write, text: &str) -> io::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints a line on standard error, as an event where that has JSON lines. Ignores a failure, which it
/// could report nowhere else.
pub fn say(line: &str) {
    say_as("message", line);
}

/// Prints work that is left out.
pub fn say_left_out(reason: &str) {
    match progress_mode() {
        ProgressMode::Jsonl => say_as("left_out", reason),
        _ => say(&format!("proofmark: left out: {reason}")),
    }
}

fn say_as(event: &str, line: &str) {
    let line = clean(line);
    if progress_mode() == ProgressMode::Jsonl {
        let text = line.strip_prefix("proofmark: ").unwrap_or(&line);
        return say_event(event, json!({ "text": text }));
    }
    let _ = writeln!(anstream::stderr().lock(), "{}", ascii(&line));
}

/// Prints an event with its fields as a JSON line on standard error.
pub fn say_event(event: &str, fields: Value) {
    let mut object = json!({ "event": event });
    if let (Value::Object(object), Value::Object(fields)) = (&mut object, fields) {
        object.extend(fields);
    }
    let _ = writeln!(io::stderr().lock(), "{object}");
}

/// Returns the command that reports the run in that directory or file, for a shell.
pub fn report_command(run: &Path) -> String {
    let path = run.to_string_lossy();
    // A path with a NUL byte cannot exist.
    let quoted = shlex::try_quote(&path).unwrap_or_else(|_| path.clone());
    format!("proofmark report {quoted}")
}

/// Returns the width of standard output, and whether it takes colours.
pub fn terminal_options() -> Options {
    let stdout = io::stdout();
    let color = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
    let width = if stdout.is_terminal() {
        terminal_size::terminal_size().map_or(80, |(w, _)| usize::from(w.0))
    } else {
        std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).unwrap_or(100)
    };
    Options { width, color }
}

/// Returns the options for text that may go to a file, which gets no colours.
pub fn options_for(out: Option<&Path>) -> Options {
    let options = terminal_options();
    Options { color: options.color && out.is_none(), ..options }
}

/// Breaks lines longer than `width` between words, but not before a unit; continuations start with `indent`.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let options = textwrap::Options::new(width)
        .subsequent_indent(indent)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let bound = bind_units(text);
    let lines = bound.lines().flat_map(|line| textwrap::wrap(line, &options));
    lines.map(|line| format!("{}\n", line.replace('\u{a0}', " "))).collect()
}

/// Aligns rows in two columns. On a terminal, or where COLUMNS is set, long rows are broken into lines
/// of that width. Elsewhere each row is one line, for programs.
pub fn listed<L: AsRef<str>, R: AsRef<str>>(rows: impl IntoIterator<Item = (L, R)>) -> String {
    let rows: Vec<_> = rows.into_iter().collect();
    let wide = rows.iter().map(|(left, _)| left.as_ref().len()).max().unwrap_or(0);
    let all = columns(rows);
    let is_known = io::stdout().is_terminal() || std::env::var_os("COLUMNS").is_some();
    let width = terminal_options().width.max(MIN_WIDTH);
    match is_known {
        true => wrap(&all, width, &" ".repeat((wide + 2).min(width / 2))),
        false => all,
    }
}

/// Columns below which lines are not broken.
const MIN_WIDTH: usize = 40;

pub fn columns<L: AsRef<str>, R: AsRef<str>>(rows: impl IntoIterator<Item = (L, R)>) -> String {
    let rows: Vec<_> = rows.into_iter().collect();
    let wide = rows.iter().map(|(left, _)| left.as_ref().len()).max().unwrap_or(0);
    let line = |(left, right): &(L, R)| format!("{:wide$}  {}\n", left.as_ref(), right.as_ref());
    rows.iter().map(line).collect()
}

/// Prints clap's help or version: it has its own colours.
pub fn print_help(error: &clap::Error) -> io::Result<()> {
    put(anstream::stdout().lock(), &ascii(&error.render().ansi().to_string()))
}
