//! A kernel with every knob set.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The value of one knob. Sizes are in bytes.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(untagged)]
pub enum Param {
    /// On or off.
    Flag(bool),
    /// A count or a size.
    Int(u64),
    /// A choice.
    Text(String),
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(v) => write!(f, "{v}"),
            Self::Int(v) => write!(f, "{v}"),
            Self::Text(v) => f.write_str(v),
        }
    }
}

impl From<u64> for Param {
    fn from(v: u64) -> Self {
        Self::Int(v)
    }
}

impl From<&str> for Param {
    fn from(v: &str) -> Self {
        Self::Text(v.to_owned())
    }
}

/// Knobs by name, sorted by name.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Params(pub BTreeMap<String, Param>);

impl Params {
    /// The same parameters with one more.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Param>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// The value of a knob.
    pub fn get(&self, name: &str) -> Option<&Param> {
        self.0.get(name)
    }

    /// The value of a numeric knob.
    pub fn int(&self, name: &str) -> Option<u64> {
        match self.0.get(name)? {
            Param::Int(v) => Some(*v),
            _ => None,
        }
    }

    /// The value of a knob that is a choice.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            Param::Text(v) => Some(v),
            _ => None,
        }
    }

    /// Bytes of one block, message or I/O; `None` without such a knob, or where it is 0.
    pub fn block_bytes(&self) -> Option<f64> {
        self.int("block_size").filter(|b| *b > 0).map(|b| b as f64)
    }

    /// Whether these differ from the others in none but the named knobs.
    pub fn same_but(&self, others: &Self, knobs: &[&str]) -> bool {
        let same = |p: &Self, q: &Self| {
            p.0.iter().all(|(name, v)| knobs.contains(&name.as_str()) || q.get(name) == Some(v))
        };
        same(self, others) && same(others, self)
    }

    /// Knobs that say how many threads there are; streams have one each.
    pub const THREADS: [&str; 2] = ["threads", "streams"];

    /// The knob that says how large a problem is that is solved whole: rows of a matrix.
    pub const SIZE: &str = "n";

    /// The knob of [`Self::THREADS`] that is there; a kernel without one runs on 1 thread.
    pub fn threads(&self) -> u64 {
        Self::THREADS.iter().find_map(|knob| self.int(knob)).unwrap_or(1)
    }
}

/// One cell of a table: a kernel with every knob set.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Point {
    /// Kernel id.
    pub kernel: String,
    /// Every knob of it.
    pub params: Params,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kernel)?;
        for (name, value) in &self.params.0 {
            write!(f, " {name}={value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_that_differ_are_all_named() {
        let point = Params::default().with("threads", 2).with("engine", "psync");
        let other = point.clone().with("threads", 4);
        assert!(point.same_but(&point, &[]) && point.same_but(&other, &["threads"]));
        assert!(!point.same_but(&other, &[]) && !point.same_but(&other, &["engine"]));
        let more = other.with("block_size", 8);
        assert!(!point.same_but(&more, &["threads"]), "a knob that only the other has");
        assert!(!more.same_but(&point, &["threads"]), "nor the other way round");
        assert!(point.same_but(&more, &["threads", "block_size"]));
    }
}
