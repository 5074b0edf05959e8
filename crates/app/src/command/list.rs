//! `proofmark list`: what there is, from the same tables that the run uses.

use anyhow::Result;
use clap::ValueEnum as _;
use proofmark_reference::Tool;
use proofmark_run::{BUILT_IN, Profile, Usage};

use crate::cli::Listing;
use crate::command::terms::TERMS;
use crate::error::Outcome;
use crate::text::{columns, print};

pub fn run(what: Option<Listing>) -> Result<Outcome> {
    let Some(what) = what else {
        print(&columns(topics()))?;
        return Ok(Outcome::Done);
    };
    let text = match what {
        Listing::Workloads => {
            let specs = proofmark_workloads::ALL.iter().map(|k| k.spec());
            columns(specs.map(|spec| (&spec.id, &spec.summary)))
        }
        Listing::Checks => columns(proofmark_judge::checks::ALL.iter().map(|c| (c.id, c.title))),
        Listing::Ceilings => {
            columns(proofmark_judge::ceilings::ALL.iter().map(|c| (c.id, c.title)))
        }
        Listing::References => {
            columns(proofmark_reference::ALL.iter().map(|t| (t.id(), reference(*t))))
        }
        Listing::Rules => columns(proofmark_audit::rules::ALL.iter().map(|r| (r.id, r.title))),
        Listing::Formats => columns(proofmark_report::ALL.iter().map(|f| (f.id, f.about))),
        Listing::Terms => columns(TERMS.iter().map(|(id, title, _)| (id, title))),
        Listing::Profiles => {
            let profiles = BUILT_IN.iter().map(|(name, _)| Profile::load(name));
            let profiles: Vec<_> = profiles.collect::<Result<_, Usage>>()?;
            columns(profiles.into_iter().map(|p| (p.name, p.about)))
        }
    };
    print(&text)?;
    Ok(Outcome::Done)
}

/// What can be listed, with the help of each.
fn topics() -> impl Iterator<Item = (String, String)> {
    let topic = |listing: &Listing| {
        let value = listing.to_possible_value()?;
        let about = value.get_help().map(ToString::to_string).unwrap_or_default();
        Some((format!("proofmark list {}", value.get_name()), about))
    };
    Listing::value_variants().iter().filter_map(topic)
}

/// The tool's name, and whether it can be run here.
fn reference(tool: &dyn Tool) -> String {
    let here = match tool.installed() {
        Some(installed) => format!("installed: {}", installed.version),
        None => format!("not installed ({})", tool.description().package),
    };
    format!("{}; {here}", tool.description().title)
}
