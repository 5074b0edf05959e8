//! `proofmark fleet run --slurm`: a new allocation, or the one that this process is in.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Result, anyhow};
use proofmark_fleet::launch::{SlurmOptions, allocation, typed};
use proofmark_fleet::named_hosts;
use proofmark_run::own_program;

use crate::cli::FleetRunArgs;
use crate::error::{Outcome, usage};
use crate::text::print;

/// The variable of a command that salloc runs in an allocation made for it.
const OWN: &str = "PROOFMARK_OWN_ALLOCATION";

/// Replaces this process by salloc, which runs the command again in an allocation. `longest_s`
/// gives the seconds that a number of nodes take.
pub(super) fn rerun_in_new_allocation(
    args: &FleetRunArgs,
    longest_s: impl Fn(u32) -> f64,
) -> Result<Outcome> {
    let listed = listed(args)?.map(|list| list.len() as u32);
    let Some(nodes) = args.nodes.or(listed) else {
        return Err(usage("--slurm outside of an allocation needs -N or --nodelist"));
    };
    let own = own_program()?.display().to_string();
    let arguments = std::env::args().skip(1);
    let command: Vec<String> = [own].into_iter().chain(arguments).collect();
    let options = SlurmOptions {
        nodes: args.nodes,
        list: args.nodelist.clone(),
        partition: args.partition.clone(),
        minutes: (longest_s(nodes) / 60.0).ceil() as u32,
        more: args.slurm_option.clone(),
    };
    let words = allocation(&options, &command);
    if args.dry_run {
        print(&format!("{}\n", typed(&words)))?;
        return Ok(Outcome::Done);
    }
    let error = Command::new(&words[0]).args(&words[1..]).env(OWN, "1").exec();
    Err(anyhow!("cannot run salloc: {error}"))
}

/// Refuses options that ask for another allocation than the one that this process is in.
pub(super) fn check_current_allocation(args: &FleetRunArgs, nodes: &[String]) -> Result<()> {
    if std::env::var_os(OWN).is_some() {
        return Ok(());
    }
    let list = listed(args)?;
    let partition = std::env::var("SLURM_JOB_PARTITION").unwrap_or_default();
    match differs(nodes, &partition, args.nodes, list.as_deref(), args.partition.as_deref()) {
        Some(option) => Err(usage(format!(
            "{option}: this shell is in an allocation of {} nodes (SLURM_JOB_ID is set); leave it out to \
             measure those, or unset SLURM_JOB_ID",
            nodes.len()
        ))),
        None => Ok(()),
    }
}

/// Parses the nodes of `--nodelist`.
fn listed(args: &FleetRunArgs) -> Result<Option<Vec<String>>> {
    let list = args.nodelist.as_deref().map(|list| named_hosts(list, false));
    list.transpose().map_err(|e| usage(format!("--nodelist: {e}")))
}

/// Returns the option that asks for another allocation than this one.
fn differs(
    nodes: &[String],
    partition: &str,
    count: Option<u32>,
    list: Option<&[String]>,
    partitions: Option<&str>,
) -> Option<&'static str> {
    let all: BTreeSet<&String> = nodes.iter().collect();
    let named: Option<BTreeSet<&String>> = list.map(|list| list.iter().collect());
    let other = [
        ("-N", count.is_some_and(|n| n as usize != nodes.len())),
        // Slurm adds nodes to a shorter list.
        ("--nodelist", named.is_some_and(|n| !n.is_subset(&all) || count.is_none() && n != all)),
        ("--partition", partitions.is_some_and(|all| all.split(',').all(|one| one != partition))),
    ];
    other.into_iter().find_map(|(option, differs)| differs.then_some(option))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_allocation_is_not_measured_instead() {
        let names = |list: &[&str]| list.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        let here = names(&["n1", "n2", "n3"]);
        let option = |count, list: Option<&[&str]>, partitions| {
            differs(&here, "all", count, list.map(names).as_deref(), partitions)
        };
        assert_eq!(option(None, None, None), None);
        assert_eq!(option(Some(3), Some(&["n2"]), Some("few,all")), None);
        assert_eq!(option(None, Some(&["n3", "n2", "n1"]), None), None);
        assert_eq!(option(Some(2), None, None), Some("-N"));
        assert_eq!(option(None, Some(&["n1"]), None), Some("--nodelist"));
        assert_eq!(option(Some(3), Some(&["n4"]), None), Some("--nodelist"));
        assert_eq!(option(None, None, Some("few")), Some("--partition"));
    }
}
