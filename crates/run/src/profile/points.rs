//! `[[points]]` of a profile: workloads, and for each parameter what it is to be set to.

use std::collections::BTreeMap;
use std::time::Duration;

use proofmark_model::{PlannedSeries, key, parse_duration, parse_size};
use serde::{Deserialize, Deserializer};

use crate::request::LONGEST_RUN;

/// A duration as it is typed.
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
    /// Least duration of a trial of this workload, where it is not the policy's.
    pub trial: Option<Duration>,
    /// Trials of this workload, where their number is not the policy's.
    pub trials: Option<u32>,
    /// Which reference tools repeat it, if nobody asks for more or less.
    pub reference: Reference,
    /// How it is sampled over time, instead of in trials.
    pub series: Option<SeriesText>,
    /// Parameters by name.
    pub parameters: BTreeMap<String, Values>,
}

/// `[[points]]` as it is written: a workload, or several with the same parameters.
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

/// One or several.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T = String> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// All of them.
    pub fn all(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(all) => all,
        }
    }
}

/// `reference`: whether reference tools repeat a point, and which.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Reference {
    /// None, or the first one that is installed.
    First(bool),
    /// Each of these that is installed.
    Named(OneOrMany),
}

impl Default for Reference {
    fn default() -> Self {
        Self::First(false)
    }
}

/// `for` and `every`: a sample of a point every so often, for so long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesText {
    /// How long in all.
    pub length: Duration,
    /// From the start of one sample to that of the next.
    pub every: Duration,
}

impl SeriesText {
    /// Time between samples where none is named.
    const EVERY: Duration = Duration::from_secs(1);

    /// A point's series as the plan holds it.
    pub fn planned(&self, point: usize) -> PlannedSeries {
        let [for_s, every_s] = [self.length, self.every].map(|time| time.as_secs_f64());
        PlannedSeries { point, for_s, every_s }
    }

    /// Whether it can be had.
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

/// The points, one a workload.
pub(super) fn points<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PointText>, D::Error> {
    let raw = Vec::<RawPoints>::deserialize(from)?;
    let mut all = Vec::new();
    for p in raw {
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
                parameters: parameters.clone(),
            };
            all.extend(p.workload.all().iter().map(point));
        }
    }
    Ok(all)
}

/// The parameters for one file size after the other, since the file of one point serves the next. A list
/// of file sizes and one of block sizes are a matrix: of its blocks those that are no larger than
/// the file are meant. A file that would be left without any keeps them, and is refused by name.
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

/// The values of a parameter.
pub type Values = OneOrMany<Value>;

/// A value as TOML has it.
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

    /// The bytes that it is as a size; `None` where it is left to the machine.
    fn bytes(&self) -> Option<u64> {
        parse_size(&self.text()).ok()
    }
}

impl Values {
    /// Every value as it would be typed.
    pub fn texts(&self) -> Vec<String> {
        self.all().iter().map(Value::text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Profile;

    /// Workload, file sizes and block sizes of each of the points that a table is.
    fn of(table: &str) -> Vec<String> {
        let head = "name = \"x\"\n[policy]\ntarget = 0.02\nmin_trials = 6\nmax_trials = 8\n\
                    trial = \"10ms\"\n[[points]]\n";
        let profile = Profile::parse(&format!("{head}{table}")).unwrap();
        let texts = |p: &super::PointText, parameter| {
            p.parameters.get(parameter).map(|v| v.texts().join(",")).unwrap_or_default()
        };
        let said = |p: &super::PointText| {
            format!("{} {} {}", p.workload, texts(p, "file_size"), texts(p, "block_size"))
        };
        profile.points.iter().map(said).collect()
    }

    #[test]
    fn lists_of_files_and_blocks_are_a_matrix_file_by_file() {
        let both = "workload = [\"disk.seq_write\", \"disk.seq_read\"]\n";
        let matrix = "file_size = [\"64KB\", 131072, \"auto\"]\n\
                      block_size = [\"4KB\", \"64KB\", \"128KB\", \"1MB\"]";
        assert_eq!(
            of(&format!("{both}{matrix}")),
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
            assert!(of(table).concat().contains("1MB"), "{table}: {:?}", of(table));
        }
    }
}
