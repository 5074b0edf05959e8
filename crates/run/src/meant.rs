//! Workloads and parameters that users of other tools name by other words.

use std::collections::BTreeMap;

use proofmark_model::{Subsystem, WorkloadSpec, did_you_mean, key, or_list};

use crate::registry::all;

/// Maximum number of workloads that a hint names.
const NAMED: usize = 4;

/// The start of a subsystem's name, as short as users type it.
const SHORTEST: usize = 3;

/// Words of other tools, and the words of workloads' ids for the same work, the usual first.
const WORK: &[(&[&str], &[&str])] = &[
    (
        &["bandwidth", "throughput", "bw", "speed", "rate", "transfer"],
        &["copy", "triad", "seq_read", "seq_write", "stream"],
    ),
    (&["latency", "lat", "delay", "access"], &["latency", "rtt", "rand_read", "pingpong"]),
    (&["iops", "io", "random", "rand"], &["rand_read", "rand_write", "mixed"]),
    (&["sequential", "seq"], &["seq_read", "seq_write", "read_write"]),
    (&["stream"], &["copy", "scale", "add", "triad"]),
    (&["peak", "gflops", "fma", "fp", "float", "floating"], &["flops"]),
    (&["integer", "int", "gips", "mips"], &["iops"]),
    (&["hpl", "lu", "solve"], &["linpack"]),
    (&["gemm", "matmul", "matrix", "blas"], &["dgemm"]),
    (&["frequency", "freq", "ghz", "boost", "turbo"], &["clock"]),
    (&["cache", "caches", "l1", "l2", "l3", "llc"], &["sweep", "latency"]),
    (&["chase", "tinymembench"], &["latency"]),
    (&["read", "reads"], &["read", "seq_read", "rand_read"]),
    (&["write", "writes", "fill", "memset"], &["write", "seq_write", "rand_write"]),
    (&["memcpy", "memmove"], &["copy", "read_write"]),
    (&["fsync", "sync", "flush", "commit", "commits", "wal"], &["fsync"]),
    (&["ping", "pps", "requests", "rr"], &["rtt"]),
    (&["connections", "connection", "conn", "crr"], &["connect"]),
    (&["c2c", "core_to_core", "lock"], &["pingpong"]),
    (&["numa"], &["numa_read", "numa_latency"]),
];

/// Parameters of other tools, and proofmark's for the same.
const PARAMETERS: &[(&[&str], &str)] = &[
    (&["iodepth", "io_depth", "depth", "qd", "queuedepth", "outstanding"], key::QUEUE_DEPTH.name()),
    (&["bs", "blocksize", "block", "record_size", "reclen"], key::BLOCK_SIZE.name()),
    (
        &["numjobs", "jobs", "thread", "nthreads", "num_threads", "cpus", "cores", "workers"],
        key::THREADS.name(),
    ),
    (&["size", "filesize"], key::FILE_SIZE.name()),
    (&["ioengine", "io_engine"], "engine"),
    (&["rwmixread", "mix_read"], key::READS.name()),
    (&["parallel", "connections", "sessions"], "streams"),
    (&["bitrate", "bandwidth", "target_bitrate"], key::RATE.name()),
    (&["wss", "buffer_size"], key::WORKING_SET.name()),
    (&["simd", "vector", "instruction_set"], key::ISA.name()),
    (&["dtype", "datatype"], "type"),
    (&["buffered", "odirect", "o_direct"], "direct"),
];

/// Returns proofmark's name of a parameter that another tool names so.
pub fn meant_parameter(typed: &str) -> Option<&'static str> {
    let typed = typed.to_lowercase().replace('-', "_");
    PARAMETERS.iter().find(|(words, _)| words.contains(&&*typed)).map(|(_, name)| *name)
}

/// Returns an error such as `no workload 'memory.bandwidth'; did you mean 'memory.copy' or
/// 'memory.triad'?`
pub fn unknown_workload(what: &str, typed: &str, or: &[&str]) -> String {
    let hint = meant_workload(typed, or).unwrap_or_else(|| "see 'proofmark list workloads'".into());
    format!("no {what} '{typed}'; {hint}")
}

/// Names the workloads that a word may stand for: by spelling, by meaning, or all of its
/// subsystem. `or` are other names that may be meant. `None` if nothing is near.
pub fn meant_workload(typed: &str, or: &[&str]) -> Option<String> {
    let lower = typed.to_lowercase();
    let (subsystem, rest) = match lower.split_once('.') {
        Some((first, rest)) => (subsystem_of(first), rest),
        None => (None, &*lower),
    };
    let specs =
        || all().map(|w| w.spec()).filter(|s| subsystem.is_none_or(|own| s.subsystem == own));
    let ids = || specs().map(|spec| &*spec.id);
    let exact: Vec<&str> = ids().filter(|id| tail(id) == rest).collect();
    let by_spelling = || match subsystem {
        // The subsystem is known: only the rest of the name counts.
        Some(_) => {
            let tails: BTreeMap<&str, &str> = ids().map(|id| (tail(id), id)).collect();
            did_you_mean(rest, tails.keys().copied()).map(|hint| {
                let found = tails.iter().find(|(tail, _)| hint.contains(&format!("'{tail}'")));
                found.map_or(hint.clone(), |(tail, id)| hint.replace(tail, id))
            })
        }
        None => did_you_mean(&lower, ids().chain(or.iter().copied())),
    };
    let by_meaning = || {
        let of_all = || all().map(|w| w.spec());
        let found = by_meaning(rest, specs().collect());
        // Another subsystem may do what is typed, as in `cpu.triad`.
        let found = if found.is_empty() { by_meaning(rest, of_all().collect()) } else { found };
        (!found.is_empty()).then(|| asked(&found))
    };
    let of_subsystem = || {
        let tails: Vec<&str> = ids().map(tail).collect();
        subsystem.map(|s| format!("{} has {}", s.as_str(), tails.join(", ")))
    };
    match exact.is_empty() {
        false => Some(asked(&exact)),
        true => by_spelling().or_else(by_meaning).or_else(of_subsystem),
    }
}

/// `did you mean 'memory.copy' or 'memory.triad'?`
fn asked(ids: &[&str]) -> String {
    let quoted = ids.iter().take(NAMED).map(|id| format!("'{id}'"));
    format!("did you mean {}?", or_list(quoted.collect::<Vec<_>>()))
}

/// The id without its subsystem.
fn tail(id: &str) -> &str {
    id.split_once('.').map_or(id, |(_, tail)| tail)
}

/// The subsystem of a name or of its start, such as `net`.
fn subsystem_of(word: &str) -> Option<Subsystem> {
    let begins = |s: &&Subsystem| word.len() >= SHORTEST && s.as_str().starts_with(word);
    Subsystem::KNOWN.iter().find(begins).copied()
}

/// The workloads that do what a word of another tool means, or that have the word in their names.
fn by_meaning<'a>(typed: &str, specs: Vec<&'a WorkloadSpec>) -> Vec<&'a str> {
    let parts: Vec<&str> = typed.split(['.', '_', '-', ' ']).collect();
    let is_typed = |word: &&str| *word == typed || parts.contains(word);
    let meanings = WORK.iter().filter(|(words, _)| words.iter().any(is_typed));
    let meanings = meanings.flat_map(|(_, ids)| ids.iter().copied());
    let mut found: Vec<&str> = Vec::new();
    for wanted in meanings.chain(parts.iter().copied().filter(|part| part.len() >= SHORTEST)) {
        for spec in &specs {
            let id = tail(&spec.id);
            let has = id == wanted || id.split(['.', '_']).any(|part| part == wanted);
            if has && !found.contains(&&*spec.id) {
                found.push(&spec.id);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_another_tool_names_the_workloads_of_its_subsystem() {
        let hint = |typed: &str| meant_workload(typed, &["cpu", "memory"]).unwrap_or_default();
        for (typed, expected) in [
            ("memory.bandwidth", "did you mean 'memory.copy', 'memory.triad', "),
            ("mem.bw", "did you mean 'memory.copy', 'memory.triad', "),
            ("memory.stream", "did you mean 'memory.copy', 'memory.scale', 'memory.add' or "),
            ("memory.copyy", "did you mean 'memory.copy'?"),
            ("cpu.triad", "did you mean 'memory.triad'?"),
            ("triad", "did you mean 'memory.triad'?"),
            ("disk.bandwidth", "did you mean 'disk.seq_read' or 'disk.seq_write'?"),
            ("disk.iops", "did you mean 'disk.rand_read', 'disk.rand_write' or 'disk.mixed'?"),
            ("disk.latency", "did you mean 'disk.rand_read'?"),
            ("disk.commit", "did you mean 'disk.fsync'?"),
            ("net.tcp", "did you mean 'network.tcp.stream', 'network.tcp.rtt' or "),
            ("network.latency", "did you mean 'network.tcp.rtt' or 'network.udp.rtt'?"),
            ("cpu.peak", "did you mean 'cpu.flops'?"),
            ("gemm", "did you mean 'cpu.dgemm'?"),
            ("cpi", "did you mean 'cpu'?"),
            ("cpu.zebra", "cpu has clock, flops, "),
            ("zebra", ""),
            ("", ""),
            (".", ""),
        ] {
            let hint = hint(typed);
            assert!(hint.starts_with(expected), "{typed}: {hint}");
            assert!(!expected.is_empty() || hint.is_empty(), "{typed}: {hint}");
        }
    }

    #[test]
    fn meanings_are_of_what_exists() {
        let specs: Vec<_> = all().map(|w| w.spec()).collect();
        for (words, tails) in WORK {
            for wanted in *tails {
                let has = |id: &str| tail(id).split('.').any(|part| part == *wanted);
                assert!(specs.iter().any(|s| has(&s.id)), "{words:?}: {wanted}");
            }
        }
        for (words, name) in PARAMETERS {
            let known = |n: &str| specs.iter().any(|s| s.parameter(n).is_some());
            assert!(known(name) && !words.iter().any(|w| known(w)), "{words:?}: {name}");
        }
    }
}
