//! `proofmark audit`: judges published figures by rules.

use std::path::Path;

use anyhow::Result;
use proofmark_audit::{Figure, Machine, Sheet, audit, choose, read_figures, read_machines, render};
use proofmark_model::Verdict;

use crate::cli::AuditArgs;
use crate::error::{Outcome, usage};
use crate::output::{is_stdout, read_untrusted, write_file};
use crate::text::{print, print_data};

/// Maximum bytes of a table.
const LARGEST_TABLE: u64 = 256 << 20;
/// Maximum bytes of a file of machines.
const LARGEST_MACHINES: u64 = 1 << 20;

pub fn run(args: &AuditArgs) -> Result<Outcome> {
    let to_stdout = [&args.json, &args.csv].into_iter().flatten().filter(|p| is_stdout(p)).count();
    if to_stdout > 1 {
        return Err(usage("only one of --json and --csv can be written to standard output"));
    }
    let sheet = Sheet::new(machine(args)?, figures(&args.file)?);
    let judged = audit(&sheet);
    if let Some(path) = &args.json {
        write(path, &render::json::render(&sheet, &judged)?)?;
    }
    if let Some(path) = &args.csv {
        write(path, &String::from_utf8(render::csv::render(&sheet, &judged)?)?)?;
    }
    // A program that reads the output must find nothing else in it.
    if to_stdout == 0 {
        print(&render::terminal::render(&sheet, &judged, args.all))?;
    }
    Ok(match proofmark_audit::worst(&judged) {
        Verdict::Suspect if args.strict => Outcome::Invalid,
        Verdict::Invalid => Outcome::Invalid,
        _ => Outcome::Done,
    })
}

fn machine(args: &AuditArgs) -> Result<Machine> {
    let path = &args.machine;
    let text = read_untrusted(path, LARGEST_MACHINES)?;
    let usage = |e| usage(format!("{}: {e}", path.display()));
    let machines = read_machines(&text).map_err(usage)?;
    let stem = args.file.file_stem().and_then(|s| s.to_str());
    choose(&machines, args.name.as_deref(), stem).map_err(usage)
}

fn figures(path: &Path) -> Result<Vec<Figure>> {
    let text = read_untrusted(path, LARGEST_TABLE)?;
    read_figures(&text).map_err(|e| usage(format!("{}: {e}", path.display())))
}

fn write(path: &Path, text: &str) -> Result<()> {
    if is_stdout(path) { Ok(print_data(text)?) } else { write_file(path, text.as_bytes()) }
}
