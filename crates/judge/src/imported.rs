//! Another tool's output: which checks have nothing to look at in it, what to do about what the
//! others find where nobody can set proofmark's parameters, and its ceiling on this machine.

use std::collections::BTreeSet;

use proofmark_model::{Ceiling, Finding, Host, Measurement, Params};

use crate::{Context, ceilings};

/// Checks of what no output of a tool holds: `imported` says so once, of all of them. How long a
/// trial lasted many tools do not report.
const NOT_ASKED: &[&str] = &[
    "direct_refused",
    "no_device_witness",
    "no_interface_witness",
    "not_a_disk",
    "shared_device",
    "short_trial",
    "unwatched",
    "unwritten_data",
];

/// What to do about the other findings, by check.
const ADVICE: &[(&str, &str)] = &[
    (
        "above_ceiling",
        "check the unit and how many threads ran, and whether the output is of this machine",
    ),
    ("compressible_data", "repeat it with random data (fio: --refill_buffers)"),
    ("contradiction", "use the original file, or repeat the test"),
    (
        "in_cache",
        "repeat it with arrays of 4 times the last-level cache at least (STREAM: compile it with \
         -DSTREAM_ARRAY_SIZE=ELEMENTS)",
    ),
    (
        "not_durable",
        "repeat it with direct I/O and a flush in the timed part that covers all writes (fio: \
         --direct=1 and --end_fsync=1; IOzone: -I -e; sysbench: --file-extra-flags=direct)",
    ),
    ("one_machine", "to measure a network, run the tool's server on another machine"),
    (
        "page_cache",
        "repeat it with direct I/O (fio: --direct=1; IOzone: -I; sysbench: \
         --file-extra-flags=direct), or with a file larger than the memory",
    ),
    ("random_faster", "repeat both in turn, with direct I/O or a file larger than the memory"),
    (
        "residual",
        "do not use this result; repeat it, and if it fails only on this machine, test its memory \
         and its cores",
    ),
    ("short_transfer", "repeat it for a longer time (iperf3: -t)"),
    (
        "small_file",
        "repeat it with a file larger than the memory, or with direct I/O (fio: --direct=1; \
         IOzone: -I; sysbench: --file-extra-flags=direct)",
    ),
    (
        "udp_loss",
        "repeat it at a rate that arrives (iperf3: -b), or with a larger socket buffer (-w)",
    ),
];

/// What is to be done about what has no row.
const REPEAT: &str = "repeat the test with the tool, or measure it with proofmark";

/// Whether a check has something to look at in another tool's output.
pub(crate) fn is_asked(check: &str) -> bool {
    !NOT_ASKED.contains(&check)
}

/// The finding with advice for somebody who has another tool.
pub(crate) fn advised(finding: Finding) -> Finding {
    let advice = ADVICE.iter().find(|(id, _)| finding.check == *id).map_or(REPEAT, |(_, to)| to);
    Finding { advice: advice.to_owned(), ..finding }
}

/// The ceiling of another tool's figure: where its output does not say how many threads ran, or
/// with which instructions, the greatest that this machine allows. Fails as [`ceilings::derive`].
pub(crate) fn ceiling(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    let all = as_it_may_be(ctx, m);
    let derived =
        all.iter().map(|m| ceilings::derive(ctx, m)).reduce(|best, other| match (&best, &other) {
            (Ok(a), Ok(b)) if ceilings::is_looser(m.better, b, a) => other,
            (Err(_), Ok(_)) => other,
            _ => best,
        });
    let mut ceiling = derived.unwrap_or_else(|| ceilings::derive(ctx, m))?;
    let unknown = all.iter().flat_map(|with| with.params.0.keys());
    let unknown: BTreeSet<_> = unknown.filter(|name| m.params.get(name).is_none()).collect();
    if let Some(first) = ceiling.inputs.first_mut() {
        for name in unknown {
            let note =
                format!("the output does not report its {name}: the most that this machine has");
            first.note = [&*first.note, &*note].join("; ").trim_start_matches("; ").to_owned();
        }
    }
    Ok(ceiling)
}

/// Another tool's figure with what its output does not report: all usable CPUs, and each instruction set
/// of this machine.
pub(crate) fn as_it_may_be(ctx: &Context, m: &Measurement) -> Vec<Measurement> {
    let has = |name: &str| ctx.spec(m).is_some_and(|spec| spec.parameter(name).is_some());
    let lacks = |name: &str| m.params.get(name).is_none() && has(name);
    let cpus = ctx.host.limits.usable_cpus.len() as u64;
    let threads = Params::THREADS.iter().find(|name| lacks(name));
    let params = match threads {
        Some(name) => m.params.clone().with(name, cpus),
        None => m.params.clone(),
    };
    let isas = if lacks("isa") { isas(ctx.host) } else { Vec::new() };
    let with = |params| Measurement { params, ..m.clone() };
    match isas.is_empty() {
        true => vec![with(params)],
        false => isas.iter().map(|isa| with(params.clone().with("isa", *isa))).collect(),
    }
}

/// The instruction sets that workloads name and this machine has.
fn isas(host: &Host) -> Vec<&'static str> {
    let has = |flag: &str| host.cpu.isa.get().is_some_and(|all| all.iter().any(|f| f == flag));
    let needs: [(&str, &[&str]); 5] = [
        ("avx512", &["avx512f"]),
        ("avx2+fma", &["avx2", "fma"]),
        ("avx2", &["avx2"]),
        ("sse2", &[]),
        ("scalar", &[]),
    ];
    let runs = |(_, flags): &(&str, &[&str])| flags.iter().all(|flag| has(flag));
    needs.into_iter().filter(runs).map(|(isa, _)| isa).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;
    use crate::testing::*;

    #[test]
    fn a_row_is_of_a_check() {
        for id in NOT_ASKED.iter().chain(ADVICE.iter().map(|(id, _)| id)) {
            assert!(checks::find(id).is_some(), "{id}");
        }
    }

    #[test]
    fn what_the_output_does_not_report_has_the_greatest_ceiling() {
        let host = host();
        let mut bare = linpack(2000, 1);
        bare.params.0.remove("isa");
        bare.params.0.remove("threads");
        let ctx = context_on(&host);
        assert!(ceilings::derive(&ctx, &bare).is_err(), "no isa");
        let found = ceiling(&ctx, &bare).unwrap();
        let all = host.limits.usable_cpus.len() as u64;
        let of = |isa: &str| {
            let m = with_param(linpack(2000, all), "isa", isa);
            ceilings::derive(&ctx, &m).unwrap().value
        };
        let best = isas(&host).into_iter().map(of).fold(0.0, f64::max);
        assert!((found.value - best).abs() < 1.0, "{} {best}", found.value);
        assert!(found.inputs[0].note.contains("does not report its threads"));
        let ctx = Context { imported: true, ..ctx };
        let above =
            |m: &Measurement| checks::find("above_ceiling").unwrap().examine.of_ours()(&ctx, m);
        let rated = |share: f64| {
            let value = share * best;
            each(bare.clone(), |_, t| (t.value, t.seconds) = (value, t.work / value))
        };
        assert!(above(&rated(0.9)).is_none() && above(&rated(2.0)).is_some());
        // What it reports counts.
        let known = ceiling(&ctx, &linpack(2000, 1)).unwrap();
        assert!(known.value < found.value);
    }
}
