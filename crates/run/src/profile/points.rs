//! `[[points]]` of a profile: workloads and the values of their parameters.

use std::collections::BTreeMap;
use std::time::Duration;

use proofmark_model::{PlannedSeries, key, parse_duration, parse_size};
use serde::{Deserialize, Deserializer};

use crate::request::LONGEST_RUN;

/// A duration as typed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Time(pub(super) Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        parse_duration(&String::deserialize(from)?).map(Self).map_err(serde::de::Error::custom)
    }
}

/// `[[points]]` of one workload: for each parameter a value, a list of values, or "all".
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PointText {
    /// Workload id.
    pub workload: String,
    /// Minimum duration of a trial of this workload; `None`: that of the policy.
    pub trial: Option<Duration>,
    /// Number of trials of this workload; `None`: that of the policy.
    pub trials: Option<u32>,
    /// Reference tools that repeat it, unless the command line chooses others.
    pub reference: Reference,
    /// Samples over time, instead of trials.
    pub series: Option<SeriesText>,
    /// Place of its `[[points]]` in the profile.
    pub table: usize,
    /// Parameters by name.
    pub parameters: BTreeMap<String, Values>,
}

/// `[[points]]` as written: a workload, or several with the same parameters.
#[derive(Debug, Clone, Deserialize)]
struct RawPoints {
    workload: OneOrMany,
    trial: Option<Time>,
    trials: Option<u32>,
    #[serde(default)]
    reference: Reference,
    #[serde(rename = "for")]
    length: Option<Time>,
    every: Option<Time>,
    #[serde(flatten)]
    parameters: BTreeMap<String, Values>,
}

/// One value or several.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T = String> {
    /// One value.
    One(T),
    /// Several values.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// Returns all values.
    pub fn all(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(all) => all,
        }
    }
}

/// `reference`: the reference tools that repeat a configuration, if any.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Reference {
    /// No tool, or the first one that is installed.
    First(bool),
    /// Each of these tools that is installed.
    Named(OneOrMany),
}

impl Default for Reference {
    fn default() -> Self {
        Self::First(false)
    }
}

/// `for` and `every`: the length of a series and the interval of its samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesText {
    /// Duration of the whole series.
    pub length: Duration,
    /// Time from the start of one sample to the start of the next.
    pub every: Duration,
}

impl SeriesText {
    /// Default time between samples.
    const EVERY: Duration = Duration::from_secs(1);

    /// Returns the series of a configuration for the plan.
    pub fn planned(&self, point: usize) -> PlannedSeries {
        let [for_s, every_s] = [self.length, self.every].map(|time| time.as_secs_f64());
        PlannedSeries { point, for_s, every_s }
    }

    /// Checks that the series is possible.
    pub fn check(&self) -> Result<(), String> {
        match self {
            s if s.length < Duration::from_secs(10) => Err("a series takes at least 10 s".into()),
            s if s.length > LONGEST_RUN => Err("a series takes at most 30 days".into()),
            s if s.every < Duration::from_millis(100) => {
                Err("samples begin at least 100 ms apart".into())
            }
            s if s.length < 10 * s.every => Err("a series has at least 10 samples".into()),
            _ => Ok(()),
        }
    }
}

/// Parses `[[points]]`, one entry per workload.
pub(super) fn points<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PointText>, D::Error> {
    let raw = Vec::<RawPoints>::deserialize(from)?;
    let mut all = Vec::new();
    for (table, p) in raw.into_iter().enumerate() {
        let series = match (p.length, p.every) {
            (Some(length), every) => {
                let every = every.map_or(SeriesText::EVERY, |time| time.0);
                Some(SeriesText { length: length.0, every })
            }
            (None, None) => None,
            (None, Some(_)) => {
                let why = "a series needs both every = ... and for = ...";
                return Err(serde::de::Error::custom(why));
            }
        };
        for parameters in by_file(&p.parameters) {
            let point = |workload: &String| PointText {
                workload: workload.clone(),
                trial: p.trial.map(|time| time.0),
                trials: p.trials,
                reference: p.reference.clone(),
                series,
                table,
                parameters: parameters.clone(),
            };
            all.extend(p.workload.all().iter().map(point));
        }
    }
    Ok(all)
}

/// Returns the parameters file size by file size, since the file of one configuration serves the
/// next. Lists of file sizes and block sizes are a matrix without the blocks that are larger than
/// the file. A file for which no block is left keeps them all, and is refused by name.
fn by_file(parameters: &BTreeMap<String, Values>) -> Vec<BTreeMap<String, Values>> {
    let Some(Values::Many(files)) = parameters.get(key::FILE_SIZE.name()) else {
        return vec![parameters.clone()];
    };
    let with = |file: &Value| {
        let mut own = parameters.clone();
        own.insert(key::FILE_SIZE.name().to_owned(), Values::One(file.clone()));
        if let (Some(Values::Many(blocks)), Some(file)) =
            (own.get_mut(key::BLOCK_SIZE.name()), file.bytes())
            && blocks.iter().any(|b| b.bytes().is_some_and(|b| b <= file))
        {
            blocks.retain(|b| b.bytes().is_none_or(|b| b <= file));
        }
        own
    };
    files.iter().map(with).collect()
}

/// Values of a parameter.
pub type Values = OneOrMany<Value>;

/// A value in TOML.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Int(u64),
    /// A word, or a size such as "8KB".
    Text(String),
}

impl Value {
    fn text(&self) -> String {
        match self {
            Self::Int(n) => n.to_string(),
            Self::Text(t) => t.clone(),
        }
    }

    /// Returns the size in bytes; `None` if the machine decides it.
    fn bytes(&self) -> Option<u64> {
        parse_size(&self.text()).ok()
    }
}

impl Values {
    /// Returns every value as typed.
    pub fn texts(&self) -> Vec<String> {
        self.all().iter().map(Value::text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Profile;

    /// Workload, file sizes and block sizes of each configuration of a table.
    fn expanded(table: &str) -> Vec<String> {
        let head = "name = \"x\"\n[policy]\ntarget = 0.02\nmin_trials = 6\nmax_trials = 8\n\
                    trial = \"10ms\"\n[[points]]\n";
        let profile = Profile::parse(&format!("{head}{table}")).unwrap();
        let texts = |p: &super::PointText, parameter| {
            p.parameters.get(parameter).map(|v| v.texts().join(",")).unwrap_or_default()
        };
        let row = |p: &super::PointText| {
            format!("{} {} {}", p.workload, texts(p, "file_size"), texts(p, "block_size"))
        };
        profile.points.iter().map(row).collect()
    }

    #[test]
    fn lists_of_files_and_blocks_are_a_matrix_file_by_file() {
        let both = "workload = [\"disk.seq_write\", \"disk.seq_read\"]\n";
        let matrix = "file_size = [\"64KB\", 131072, \"auto\"]\n\
                      block_size = [\"4KB\", \"64KB\", \"128KB\", \"1MB\"]";
        assert_eq!(
            expanded(&format!("{both}{matrix}")),
            [
                "disk.seq_write 64KB 4KB,64KB",
                "disk.seq_read 64KB 4KB,64KB",
                "disk.seq_write 131072 4KB,64KB,128KB",
                "disk.seq_read 131072 4KB,64KB,128KB",
                "disk.seq_write auto 4KB,64KB,128KB,1MB",
                "disk.seq_read auto 4KB,64KB,128KB,1MB",
            ]
        );
    }

    #[test]
    fn what_is_no_matrix_is_left_to_be_refused() {
        for table in [
            "workload = \"disk.seq_read\"\nfile_size = \"64KB\"\nblock_size = [\"4KB\", \"1MB\"]",
            "workload = \"disk.seq_read\"\nfile_size = [\"64KB\"]\nblock_size = \"1MB\"",
            "workload = \"disk.seq_read\"\nfile_size = [\"64KB\"]\nblock_size = [\"1MB\", \"2MB\"]",
        ] {
            assert!(expanded(table).concat().contains("1MB"), "{table}: {:?}", expanded(table));
        }
    }
}
