//! Writing to standard output and standard error. All text for people goes through here, where it
//! is cleaned: messages quote files, peers, tools and paths. Only the progress bar, which cleans
//! its own text, and clap's help write directly.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use proofmark_model::{clean, clean_page};
use proofmark_report::Options;

/// Prints text for people. A closed pipe (`| head`) is no error.
pub fn print(text: &str) -> io::Result<()> {
    put(anstream::stdout().lock(), &clean_page(text))
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

/// Prints a line on standard error. Ignores a failure, which it could report nowhere else.
pub fn say(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", clean(line));
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

/// Breaks lines longer than `width` between words; continuations start with `indent`.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let options = textwrap::Options::new(width)
        .subsequent_indent(indent)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    text.lines().flat_map(|line| textwrap::wrap(line, &options)).map(|l| format!("{l}\n")).collect()
}

pub fn columns<L: AsRef<str>, R: AsRef<str>>(rows: impl IntoIterator<Item = (L, R)>) -> String {
    let rows: Vec<_> = rows.into_iter().collect();
    let wide = rows.iter().map(|(left, _)| left.as_ref().len()).max().unwrap_or(0);
    let line = |(left, right): &(L, R)| format!("{:wide$}  {}\n", left.as_ref(), right.as_ref());
    rows.iter().map(line).collect()
}
