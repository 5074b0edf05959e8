//! `proofmark list`: what there is, from the same tables that the run uses.

use anyhow::Result;

use crate::cli::{ListArgs, Listing};
use crate::error::Outcome;
use crate::profile::{BUILT_IN, Profile};
use crate::text::{columns, print};

/// Runs the command.
pub fn run(args: &ListArgs) -> Result<Outcome> {
    let text = match args.what {
        Listing::Kernels => columns(
            proofmark_kernels::ALL
                .iter()
                .map(|k| (k.spec().id.as_ref(), k.spec().summary.as_ref())),
        ),
        Listing::Checks => {
            columns(proofmark_judge::checks::ALL.iter().map(|c| (c.id(), c.title())))
        }
        Listing::Ceilings => {
            columns(proofmark_judge::ceilings::ALL.iter().map(|c| (c.id(), c.title())))
        }
        Listing::References => {
            columns(proofmark_reference::ALL.iter().map(|t| (t.id(), t.title())))
        }
        Listing::Rules => columns(proofmark_audit::rules::ALL.iter().map(|r| (r.id(), r.title()))),
        Listing::Formats => columns(proofmark_report::ALL.iter().map(|f| (f.id(), f.about()))),
        Listing::Profiles => {
            let profiles: Vec<Profile> =
                BUILT_IN.iter().map(|(name, _)| Profile::load(name)).collect::<Result<_>>()?;
            columns(profiles.iter().map(|p| (p.name.as_str(), p.about.as_str())))
        }
    };
    print(&text)?;
    Ok(Outcome::Done)
}
