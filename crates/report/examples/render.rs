//! Formats a run file: `cargo run -p proofmark-report --example render -- RUN.json FORMAT [WIDTH]`.
//! `host` as the format prints the machine alone.

use std::io::Write;
use std::process::ExitCode;

use proofmark_model::read_run;
use proofmark_report::{Options, find, terminal};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match render(&args) {
        Ok(text) => match std::io::stdout().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn render(args: &[String]) -> Result<String, String> {
    let [path, format, rest @ ..] = args else {
        return Err("usage: render RUN.json FORMAT [WIDTH]".to_owned());
    };
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let run = read_run(&text).map_err(|e| format!("{path}: {e}"))?;
    let width = rest.first().and_then(|w| w.parse().ok()).unwrap_or(80);
    let options = Options { width, color: false };
    if format == "host" {
        return Ok(terminal::host(&run.host, &options));
    }
    let format = find(format).ok_or_else(|| format!("no format '{format}'"))?;
    format.render(&run, &options).map_err(|e| e.to_string())
}
