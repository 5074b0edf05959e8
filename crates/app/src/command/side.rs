//! The sides of a comparison: a run, the runs of `run --repeat`, or runs of the history by a query.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use proofmark_judge::compare::{Named, Options, Several, compare};
use proofmark_model::{Comparison, Price, Run, Timestamp, did_you_mean, parse_duration};
use proofmark_store::Filter;

use super::repeat;
use crate::error::usage;
use crate::history_file::{self, is_same_machine, named};
use crate::stored::read;
use crate::text::say;

/// The runs of a side, and what the user named them by.
pub(super) struct ReadSide {
    pub(super) name: String,
    several: Several,
}

impl ReadSide {
    /// Reads what one word names: a run, or several.
    pub(super) fn read(name: &str, history: Option<&Path>) -> Result<Self> {
        let runs = runs_of(name, history)?;
        match runs.as_slice() {
            [(path, _)] => Self::of(path.clone(), runs),
            _ => Self::of(name.to_owned(), runs),
        }
    }

    /// Reads what several words name, and takes all of it together.
    pub(super) fn read_all(names: &[String], history: Option<&Path>) -> Result<Self> {
        let [first, others @ ..] = names else { return Err(usage("name the runs of both sides")) };
        if others.is_empty() {
            return Self::read(first, history);
        }
        let each = names.iter().map(|name| runs_of(name, history));
        let runs: Vec<(String, Run)> = each.collect::<Result<Vec<_>>>()?.concat();
        Self::of(format!("{first} and {} more", others.len()), runs)
    }

    /// Takes runs together, which must be of one machine, and each there once.
    fn of(name: String, runs: Vec<(String, Run)>) -> Result<Self> {
        let mut seen = BTreeMap::new();
        for (path, run) in &runs {
            if let Some(other) = seen.insert(run.started, path) {
                return Err(usage(format!("{name}: {other} and {path} are one run")));
            }
        }
        let differ = |two: &&[(String, Run)]| !is_same_machine(&two[0].1, &two[1].1);
        if let Some([(a, _), (b, _)]) = runs.windows(2).find(differ) {
            let why = "are of two machines; several runs of a side must be of one";
            return Err(usage(format!(
                "{name}: {a} and {b} {why} (a query: host=NAME, label=NAME)"
            )));
        }
        let runs = runs.into_iter().map(|(_, run)| run).collect();
        let several = Several::new(runs).ok_or_else(|| usage(format!("{name}: no run")))?;
        Ok(Self { name, several })
    }

    /// The run; of several the one that stands for them.
    pub(super) fn run(&self) -> &Run {
        self.several.merged()
    }

    /// True if a run is of both sides.
    pub(super) fn shares_a_run(&self, other: &Self) -> bool {
        let starts: BTreeSet<_> = self.several.runs().iter().map(|run| run.started).collect();
        other.several.runs().iter().any(|run| starts.contains(&run.started))
    }

    /// Start of the first run.
    pub(super) fn first_started(&self) -> Timestamp {
        self.several.runs().first().map_or(self.run().started, |run| run.started)
    }

    fn named<'a>(&'a self, letter: char, price: Option<&'a Price>) -> Named<'a> {
        Named { price, ..Named::several(letter, &self.name, &self.several) }
    }
}

/// Compares two sides, A first; `letter` names the other.
pub(super) fn compare_read(
    [a, b]: [&ReadSide; 2],
    letter: char,
    [price_a, price_b]: [Option<&Price>; 2],
    margin: Option<f64>,
) -> Comparison {
    compare(a.named('A', price_a), b.named(letter, price_b), Options { margin })
}

/// The runs that one word names, with their paths.
fn runs_of(name: &str, history: Option<&Path>) -> Result<Vec<(String, Run)>> {
    let path = Path::new(name);
    if let Some(ended) = repeat::ended_runs(path) {
        let each = ended?.into_iter().map(|dir| Ok((dir.display().to_string(), read(&dir)?)));
        return each.collect();
    }
    match name.contains('=') && !path.exists() {
        true => found(name, &query(name)?, history),
        false => Ok(vec![named(name, history)?]),
    }
}

/// The filter with a condition; the error is what is wrong with its value.
type With = fn(Filter, &str) -> Result<Filter, String>;

/// The conditions of a query: their names, and what they set.
const CONDITIONS: [(&str, With); 5] = [
    ("label", |filter, value| Ok(Filter { label: Some(value.to_owned()), ..filter })),
    ("host", |filter, value| Ok(Filter { host: Some(value.to_owned()), ..filter })),
    ("profile", |filter, value| Ok(Filter { profile: Some(value.to_owned()), ..filter })),
    ("within", |filter, value| {
        let within = parse_duration(value).map_err(|why| why.to_string())?;
        Ok(Filter { since: Timestamp::now().before(within.as_secs_f64()), ..filter })
    }),
    ("last", |filter, value| {
        let last = value.parse().ok().filter(|n| *n > 0).ok_or("not a number of runs")?;
        Ok(Filter { last: Some(last), ..filter })
    }),
];

/// Reads conditions on runs of the history: `label=old,within=7d`.
fn query(text: &str) -> Result<Filter> {
    let mut query = Filter::default();
    let mut seen = BTreeSet::new();
    for condition in text.split(',') {
        let (name, value) = condition.split_once('=').unwrap_or((condition, ""));
        let wrong = |why: &str| usage(format!("'{text}': {condition}: {why}"));
        if value.is_empty() {
            return Err(wrong("write label=NAME,within=7d"));
        }
        if !seen.insert(name) {
            return Err(wrong("this condition is there twice"));
        }
        match CONDITIONS.iter().find(|(known, _)| *known == name) {
            Some((_, with)) => query = with(query, value).map_err(|why| wrong(&why))?,
            None => {
                let names = CONDITIONS.map(|(name, _)| name);
                let known = || format!("the conditions are {}", names.join(", "));
                return Err(wrong(&did_you_mean(name, names).unwrap_or_else(known)));
            }
        }
    }
    Ok(query)
}

/// Reads the runs of the history that a query finds. Those whose files cannot be read are counted.
fn found(text: &str, query: &Filter, history: Option<&Path>) -> Result<Vec<(String, Run)>> {
    let path = history_file::file(history)?;
    let store = history_file::open_existing(&path)?;
    let past = store.map_or_else(|| Ok(Vec::new()), |store| store.runs(query))?;
    let all = past.len();
    let runs: Vec<(String, Run)> =
        past.into_iter().filter_map(|past| history_file::read_past(past).ok()).collect();
    let place = path.display();
    if runs.is_empty() {
        return Err(usage(match all {
            0 => format!("'{text}' finds no run in the history {place}; see `proofmark history`"),
            _ => format!(
                "'{text}' finds {all} in the history {place}; none of their files can be read"
            ),
        }));
    }
    if runs.len() < all {
        let n = all - runs.len();
        say(&format!("proofmark: {text}: the files of {n} of {all} runs are gone or changed"));
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_conditions_of_the_history() {
        let found = query("label=old,within=7d,last=5").unwrap();
        assert_eq!((found.label.as_deref(), found.last), (Some("old"), Some(5)));
        let days = Timestamp::now().since(found.since.unwrap()) / 86_400.0;
        assert!((6.9..7.1).contains(&days), "{days}");
        for (text, why) in [
            ("lable=old", "label"),
            ("label=", "write label=NAME"),
            ("label=a,host", "write label=NAME"),
            ("label=a,label=b", "twice"),
            ("last=0", "not a number of runs"),
            ("within=soon", "within=soon"),
        ] {
            let error = query(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
