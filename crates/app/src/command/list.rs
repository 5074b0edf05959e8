//! `proofmark list`: what there is, from the same tables that the run uses.

use anyhow::Result;
use proofmark_reference::Tool;
use proofmark_run::{BUILT_IN, Profile, Usage};

use crate::cli::{ListArgs, Listing};
use crate::error::Outcome;
use crate::text::{columns, print};

/// Runs the command.
pub fn run(args: &ListArgs) -> Result<Outcome> {
    let text = match args.what {
        Listing::Workloads => columns(
            proofmark_workloads::ALL
                .iter()
                .map(|k| (k.spec().id.as_ref(), k.spec().summary.as_ref())),
        ),
        Listing::Checks => columns(proofmark_judge::checks::ALL.iter().map(|c| (c.id, c.title))),
        Listing::Ceilings => {
            columns(proofmark_judge::ceilings::ALL.iter().map(|c| (c.id(), c.title())))
        }
        Listing::References => {
            let tools = proofmark_reference::ALL.iter().map(|t| (t.id(), reference(*t)));
            let tools: Vec<_> = tools.collect();
            columns(tools.iter().map(|(id, text)| (*id, text.as_str())))
        }
        Listing::Rules => columns(proofmark_audit::rules::ALL.iter().map(|r| (r.id, r.title))),
        Listing::Formats => columns(proofmark_report::ALL.iter().map(|f| (f.id(), f.about()))),
        Listing::Profiles => {
            let profiles: Vec<Profile> = BUILT_IN
                .iter()
                .map(|(name, _)| Profile::load(name))
                .collect::<Result<_, Usage>>()?;
            columns(profiles.iter().map(|p| (p.name.as_str(), p.about.as_str())))
        }
    };
    print(&text)?;
    Ok(Outcome::Done)
}

/// The tool's name, and whether it can be run here.
fn reference(tool: &dyn Tool) -> String {
    let here = match tool.installed() {
        Some(installed) => format!("installed: {}", installed.version),
        None => format!("not installed ({})", tool.description().package),
    };
    format!("{}; {here}", tool.description().title)
}
