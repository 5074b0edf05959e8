//! `proofmark list`: the ids of a topic, from the tables that runs use.

use anyhow::Result;
use clap::ValueEnum as _;
use proofmark_model::Host;
use proofmark_reference::Tool;
use proofmark_run::{Profile, Usage};

use crate::cli::Listing;
use crate::command::explain;
use crate::command::ids::{self, Entry};
use crate::error::Outcome;
use crate::text::{listed, print};

pub fn run(topic: Option<Listing>) -> Result<Outcome> {
    let Some(topic) = topic else {
        print(&listed(topics()))?;
        return Ok(Outcome::Done);
    };
    let host = (topic == Listing::Profiles).then(explain::this_host);
    let line = |entry: Entry| Ok((entry.id(), line(topic, entry, host.as_ref())?));
    let lines = ids::entries(topic).into_iter().map(line);
    let lines: Vec<_> = lines.collect::<Result<_, Usage>>()?;
    print(&listed(lines))?;
    Ok(Outcome::Done)
}

fn line(topic: Listing, entry: Entry, host: Option<&Host>) -> Result<String, Usage> {
    Ok(match entry {
        Entry::Workload(spec) => spec.summary.to_string(),
        Entry::Check(check) => check.title.to_owned(),
        Entry::Profile(name, _) => {
            let about = Profile::load(name)?.about;
            // A profile that this machine cannot run has no time here.
            let plan = host.and_then(|host| explain::planned(name, host).ok());
            let here = plan.map(|plan| format!("; here {}", explain::times(&plan)));
            about + &here.unwrap_or_default()
        }
        Entry::Tool(tool) => reference(tool),
        // All entries of these topics have the same title.
        Entry::Words((_, _, about)) if matches!(topic, Listing::Formats | Listing::Bottlenecks) => {
            about.to_owned()
        }
        Entry::Words((_, title, _)) => title.to_owned(),
    })
}

/// Returns the topics, each with its help.
fn topics() -> impl Iterator<Item = (String, String)> {
    let topic = |listing: &Listing| {
        let value = listing.to_possible_value()?;
        let about = value.get_help().map(ToString::to_string).unwrap_or_default();
        Some((format!("proofmark list {}", value.get_name()), about))
    };
    Listing::ALL.iter().filter_map(topic)
}

/// Returns a tool's title, and whether it is installed here if proofmark runs it.
fn reference(tool: &dyn Tool) -> String {
    let here = match tool.installed() {
        _ if tool.is_only_read() => "only read".to_owned(),
        Some(installed) => format!("installed: {}", installed.version),
        None => format!("not installed ({})", tool.description().package),
    };
    let d = tool.description();
    format!("{}; reads {}; {here}", d.title, d.reads)
}

#[cfg(test)]
pub(super) mod tests {
    use proofmark_model::Printed;
    use proofmark_reference::{Description, Malformed, Output, ReferenceRunner};

    use super::*;

    /// A tool whose output proofmark only reads.
    pub struct OnlyRead;

    impl ReferenceRunner for OnlyRead {}

    impl Tool for OnlyRead {
        fn description(&self) -> &Description {
            const {
                &Description {
                    id: "meter",
                    printed: Printed::Mean,
                    title: "Meter",
                    package: "proofmark only reads its output",
                    reads: "its text",
                    same_work: &[],
                    about: "Rates of a meter.",
                }
            }
        }

        fn recognises(&self, _: &str) -> bool {
            false
        }

        fn read(&self, _: &str) -> Result<Output, Malformed> {
            Ok(Output::default())
        }
    }

    #[test]
    fn a_tool_that_is_only_read_cannot_be_installed() {
        assert_eq!(reference(&OnlyRead), "Meter; reads its text; only read");
        assert!(
            proofmark_reference::ALL.iter().all(|tool| !reference(*tool).contains("only read"))
        );
    }
}
