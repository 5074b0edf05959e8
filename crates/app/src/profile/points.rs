//! `[[points]]` of a profile: kernels, and for each knob what it is to be set to.

use std::collections::BTreeMap;
use std::time::Duration;

use proofmark_model::parse_size;
use serde::{Deserialize, Deserializer};

use super::{LONGEST_RUN, optional_duration};

/// `[[points]]` of one kernel: for each knob a value, a list of values, or "all".
#[derive(Debug, Clone, PartialEq)]
pub struct PointText {
    /// Kernel id.
    pub kernel: String,
    /// Least duration of a trial of this kernel, where it is not the policy's.
    pub trial: Option<Duration>,
    /// Trials of this kernel, where their number is not the policy's.
    pub trials: Option<u32>,
    /// Which tools run beside it, if nobody asks for more or less.
    pub reference: Reference,
    /// How it is sampled over time, instead of in trials.
    pub series: Option<SeriesText>,
    /// Knobs by name.
    pub knobs: BTreeMap<String, Values>,
}

/// `[[points]]` as it is written: a kernel, or several with the same knobs.
#[derive(Debug, Clone, Deserialize)]
struct RawPoints {
    kernel: OneOrMany,
    #[serde(default, deserialize_with = "optional_duration")]
    trial: Option<Duration>,
    trials: Option<u32>,
    #[serde(default)]
    reference: Reference,
    #[serde(rename = "for", default, deserialize_with = "optional_duration")]
    length: Option<Duration>,
    #[serde(default, deserialize_with = "optional_duration")]
    every: Option<Duration>,
    #[serde(flatten)]
    knobs: BTreeMap<String, Values>,
}

/// A name or several.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    /// All of them.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::One(name) => vec![name.clone()],
            Self::Many(names) => names.clone(),
        }
    }
}

/// `reference`: whether tools run beside a point, and which.
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

    /// Whether it can be had.
    ///
    /// # Errors
    /// Why not, in one line.
    pub fn check(&self) -> Result<(), String> {
        match self {
            s if s.length < Duration::from_secs(10) => Err("a series takes at least 10 s".into()),
            s if s.length > LONGEST_RUN => Err("a series takes at most 30 days".into()),
            s if s.every < Duration::from_millis(100) => {
                Err("there are at least 100 ms from one sample to the next".into())
            }
            s if s.length < 10 * s.every => {
                Err("a series takes at least 10 times the time from one sample to the next".into())
            }
            _ => Ok(()),
        }
    }
}

/// The points, one a kernel.
pub(super) fn points<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PointText>, D::Error> {
    let raw = Vec::<RawPoints>::deserialize(from)?;
    let mut all = Vec::new();
    for p in raw {
        let series = match (p.length, p.every) {
            (Some(length), every) => {
                Some(SeriesText { length, every: every.unwrap_or(SeriesText::EVERY) })
            }
            (None, None) => None,
            (None, Some(_)) => {
                let why = "every = ... says how often of a series, and for = ... how long; one is missing";
                return Err(serde::de::Error::custom(why));
            }
        };
        for knobs in by_file(&p.knobs) {
            let of = |kernel| PointText {
                kernel,
                trial: p.trial,
                trials: p.trials,
                reference: p.reference.clone(),
                series,
                knobs: knobs.clone(),
            };
            all.extend(p.kernel.names().into_iter().map(of));
        }
    }
    Ok(all)
}

/// The knobs for one file size after the other, since the file of one point serves the next. A list
/// of file sizes and one of block sizes are a matrix: of its blocks those that are no larger than
/// the file are meant. A file that would be left without any keeps them, and is refused by name.
fn by_file(knobs: &BTreeMap<String, Values>) -> Vec<BTreeMap<String, Values>> {
    let Some(Values::Many(files)) = knobs.get("file_size") else { return vec![knobs.clone()] };
    let of = |file: &Value| {
        let mut of = knobs.clone();
        of.insert("file_size".to_owned(), Values::One(file.clone()));
        if let (Some(Values::Many(blocks)), Some(file)) = (of.get_mut("block_size"), file.bytes())
            && blocks.iter().any(|b| b.bytes().is_some_and(|b| b <= file))
        {
            blocks.retain(|b| b.bytes().is_none_or(|b| b <= file));
        }
        of
    };
    files.iter().map(of).collect()
}

/// One value or several.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Values {
    /// One.
    One(Value),
    /// Several.
    Many(Vec<Value>),
}

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
    /// As it would be typed.
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
        match self {
            Self::One(v) => vec![v.text()],
            Self::Many(vs) => vs.iter().map(Value::text).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Profile;

    /// Kernel, file sizes and block sizes of each of the points that a table is.
    fn of(table: &str) -> Vec<String> {
        let head = "name = \"x\"\n[policy]\ntarget = 0.02\nmin_trials = 6\nmax_trials = 8\n\
                    trial = \"10ms\"\n[[points]]\n";
        let profile = Profile::parse(&format!("{head}{table}")).unwrap();
        let texts = |p: &super::PointText, knob| {
            p.knobs.get(knob).map(|v| v.texts().join(",")).unwrap_or_default()
        };
        let said = |p: &super::PointText| {
            format!("{} {} {}", p.kernel, texts(p, "file_size"), texts(p, "block_size"))
        };
        profile.points.iter().map(said).collect()
    }

    #[test]
    fn lists_of_files_and_blocks_are_a_matrix_file_by_file() {
        let both = "kernel = [\"disk.seq_write\", \"disk.seq_read\"]\n";
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
            "kernel = \"disk.seq_read\"\nfile_size = \"64KB\"\nblock_size = [\"4KB\", \"1MB\"]",
            "kernel = \"disk.seq_read\"\nfile_size = [\"64KB\"]\nblock_size = \"1MB\"",
            "kernel = \"disk.seq_read\"\nfile_size = [\"64KB\"]\nblock_size = [\"1MB\", \"2MB\"]",
        ] {
            assert!(of(table).concat().contains("1MB"), "{table}: {:?}", of(table));
        }
    }
}
