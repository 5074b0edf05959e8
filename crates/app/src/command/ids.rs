//! The entries with an id, by topic, for `list`, `explain` and the completions.

use proofmark_host::FINDINGS as HOST_FINDINGS;
use proofmark_judge::checks::{self, Check};
use proofmark_judge::reread::FINDINGS as READ_FINDINGS;
use proofmark_judge::{bottleneck, ceilings};
use proofmark_model::WorkloadSpec;
use proofmark_reference::Tool;
use proofmark_run::{
    BUDGET_FINDINGS, BUILT_IN, MACHINE_FINDINGS, PLAN_FINDINGS, REFERENCE_FINDINGS, TOOL_FINDINGS,
};

use super::import::FINDINGS as IMPORT_FINDINGS;
use super::terms::TERMS;
use crate::cli::Listing;

/// Id, title and meaning.
pub type Words = (&'static str, &'static str, &'static str);

/// An entry with an id.
#[derive(Clone, Copy)]
pub enum Entry {
    Workload(&'static WorkloadSpec),
    Check(&'static Check),
    /// A profile's name and its TOML.
    Profile(&'static str, &'static str),
    Tool(&'static dyn Tool),
    /// An id that is explained by a text alone.
    Words(Words),
}

impl Entry {
    pub fn id(self) -> &'static str {
        match self {
            Self::Workload(spec) => &spec.id,
            Self::Check(check) => check.id,
            Self::Profile(name, _) => name,
            Self::Tool(tool) => tool.id(),
            Self::Words((id, ..)) => id,
        }
    }
}

/// Returns the entries of a topic, in the order in which they are listed.
pub fn entries(topic: Listing) -> Vec<Entry> {
    let words = |all: &[Words]| all.iter().map(|words| Entry::Words(*words)).collect::<Vec<_>>();
    match topic {
        Listing::Workloads => {
            proofmark_workloads::ALL.iter().map(|w| Entry::Workload(w.spec())).collect()
        }
        Listing::Checks => checks::ALL.iter().map(|check| Entry::Check(check)).collect(),
        Listing::Ceilings => {
            ceilings::ALL.iter().map(|c| Entry::Words((c.id, c.title, c.about))).collect()
        }
        Listing::Bottlenecks => bottleneck::WORDS
            .iter()
            .map(|(id, about)| Entry::Words((id, "bottleneck: what limited a result", about)))
            .collect(),
        Listing::Findings => [
            HOST_FINDINGS,
            PLAN_FINDINGS,
            REFERENCE_FINDINGS,
            BUDGET_FINDINGS,
            MACHINE_FINDINGS,
            TOOL_FINDINGS,
            IMPORT_FINDINGS,
            READ_FINDINGS,
        ]
        .into_iter()
        .flat_map(words)
        .collect(),
        Listing::Profiles => BUILT_IN.iter().map(|(id, toml)| Entry::Profile(id, toml)).collect(),
        Listing::Formats => proofmark_report::ALL
            .iter()
            .map(|f| Entry::Words((f.id, "report format", f.about)))
            .collect(),
        Listing::References => proofmark_reference::ALL.iter().map(|t| Entry::Tool(*t)).collect(),
        Listing::Rules => proofmark_audit::rules::ALL
            .iter()
            .map(|r| Entry::Words((r.id, r.title, r.about)))
            .collect(),
        Listing::Terms => words(TERMS),
    }
}

/// Returns the entries of all topics.
pub fn all() -> impl Iterator<Item = Entry> {
    Listing::ALL.into_iter().flat_map(entries)
}
