//! Names of results, by the parameters that distinguish those of one workload.

use std::collections::{BTreeMap, BTreeSet};

use proofmark_model::key::{self, Choice, Key};
use proofmark_model::{
    Measurement, Param, ParameterKind, Params, Run, WorkloadSpec, clean_excerpt, format_count,
    format_size, word,
};

/// Parameters in every name, so that no cached result passes for a disk's, and no loopback for a
/// network.
const ALWAYS: [Key<Choice>; 4] = [key::DIRECT, key::CACHE, key::FLUSH, key::PATH];
/// Most parameters of a workload; ours have less than half as many.
const MOST: usize = 40;
/// Most characters of a name.
const LONGEST: usize = 160;

/// The parameters that distinguish the results of each workload, in the order of the report.
#[derive(Debug)]
pub(crate) struct Names<'a>(BTreeMap<&'a str, Vec<&'a str>>);

impl<'a> Names<'a> {
    pub(crate) fn collect(a: &'a Run, b: &'a Run) -> Self {
        let mut workloads: BTreeMap<&str, Vec<&Measurement>> = BTreeMap::new();
        for m in a.measurements.iter().chain(&b.measurements) {
            workloads.entry(&m.workload).or_default().push(m);
        }
        let varying = workloads.into_iter().map(|(workload, all)| {
            let names: BTreeSet<&str> =
                all.iter().flat_map(|m| m.params.0.keys()).map(String::as_str).collect();
            let names = names.into_iter().take(MOST);
            let first = all.first().copied();
            let varies = |name: &&str| {
                let value = |m: &Measurement| m.params.named(name).cloned();
                is_always(name)
                    || Params::counts_threads(name)
                    || all.iter().any(|m| Some(value(m)) != first.map(value))
            };
            (workload, names.filter(varies).collect())
        });
        Self(varying.collect())
    }

    /// The name: `avx2, 2 threads, block size 8 KiB`; empty if no parameter distinguishes the
    /// result.
    pub(crate) fn name(&self, spec: Option<&WorkloadSpec>, m: &Measurement) -> String {
        let mut names: Vec<&str> = self.0.get(m.workload.as_str()).cloned().unwrap_or_default();
        names.sort_by_key(|n| match m.params.named(n) {
            _ if is_always(n) => 0,
            Some(Param::Text(_)) => 1,
            _ if Params::counts_threads(n) => 2,
            _ => 3,
        });
        let parts = names.iter().filter_map(|n| Some(phrase(spec, n, m.params.named(n)?)));
        let over_time = m.series.is_some().then(|| "over time".to_owned());
        let parts = parts.filter(|p| !p.is_empty()).chain(over_time);
        let parts: Vec<String> = parts.collect();
        clean_excerpt(&parts.join(", "), LONGEST)
    }
}

fn is_always(name: &str) -> bool {
    ALWAYS.iter().any(|key| *key == name)
}

/// The path to a disk's file in words; empty if another parameter states it, `None` for other
/// parameters.
fn io_path(name: &str, word: &str) -> Option<String> {
    const DIRECT: &str = key::DIRECT.name();
    const CACHE: &str = key::CACHE.name();
    const FLUSH: &str = key::FLUSH.name();
    let words = match (name, word) {
        (DIRECT, word::ON) => "direct",
        (DIRECT, word::OFF) => "buffered",
        (CACHE, word::NONE) => "",
        (CACHE, _) => return Some(format!("{word} cache")),
        (FLUSH, word::END) => "flush included",
        (FLUSH, word::NONE | "never") => "no flush",
        _ => return None,
    };
    Some(words.to_owned())
}

/// A parameter in words; empty if another one states it.
fn phrase(spec: Option<&WorkloadSpec>, name: &str, value: &Param) -> String {
    if let Param::Text(word) = value
        && let Some(words) = io_path(name, word)
    {
        return words;
    }
    let words_of_name = name.replace('_', " ");
    let size = matches!(
        spec.and_then(|s| s.parameter(name)).map(|k| &k.kind),
        Some(ParameterKind::Size { .. })
    );
    match (value, name.strip_suffix('s')) {
        (Param::Int(v), _) if size => format!("{words_of_name} {}", format_size(*v)),
        (Param::Int(1), Some(noun)) if Params::counts_threads(name) => format!("1 {noun}"),
        (Param::Int(v), _) if Params::counts_threads(name) => {
            format!("{} {name}", format_count(*v))
        }
        (Param::Int(v), _) => format!("{words_of_name} {}", format_count(*v)),
        // An option of a tool: `fsync 16`.
        (Param::Text(word), _) if word.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{words_of_name} {word}")
        }
        (Param::Text(word), Some(_)) => format!("{word} {words_of_name}"),
        (Param::Text(word), None) => word.clone(),
        (Param::Flag(_), _) => format!("{words_of_name} {value}"),
    }
}
