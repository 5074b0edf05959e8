//! A workload with every parameter set.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The value of one parameter. Sizes are in bytes.
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

/// Parameters by name, sorted by name.
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

    /// The same, where the value of that one is known.
    #[must_use]
    pub fn known(self, name: &str, value: Option<impl Into<Param>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Param> {
        self.0.get(name)
    }

    /// The value of a numeric parameter.
    pub fn int(&self, name: &str) -> Option<u64> {
        match self.0.get(name)? {
            Param::Int(v) => Some(*v),
            _ => None,
        }
    }

    /// The value of a parameter that is a choice.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            Param::Text(v) => Some(v),
            _ => None,
        }
    }

    /// Bytes of one block, message or I/O; `None` without such a parameter, or where it is 0.
    pub fn block_bytes(&self) -> Option<f64> {
        self.int("block_size").filter(|b| *b > 0).map(|b| b as f64)
    }

    /// Whether these differ from the others in none but the named parameters.
    pub fn differs_only_in(&self, others: &Self, parameters: &[&str]) -> bool {
        let same = |p: &Self, q: &Self| {
            p.0.iter()
                .all(|(name, v)| parameters.contains(&name.as_str()) || q.get(name) == Some(v))
        };
        same(self, others) && same(others, self)
    }

    /// Parameters that say how many threads there are; streams have one each.
    pub const THREADS: [&str; 2] = ["threads", "streams"];

    /// The parameter that says how large a problem is that is solved whole: rows of a matrix.
    pub const SIZE: &str = "n";

    /// The parameter of [`Self::THREADS`] that is there; a workload without one runs on 1 thread.
    pub fn threads(&self) -> u64 {
        Self::THREADS.iter().find_map(|parameter| self.int(parameter)).unwrap_or(1)
    }
}

/// One cell of a table: a workload with every parameter set.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Point {
    /// Workload id.
    pub workload: String,
    /// Every parameter of it.
    pub params: Params,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.workload)?;
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
    fn parameters_that_differ_are_all_named() {
        let point = Params::default().with("threads", 2).with("engine", "psync");
        let other = point.clone().with("threads", 4);
        assert!(point.differs_only_in(&point, &[]) && point.differs_only_in(&other, &["threads"]));
        assert!(!point.differs_only_in(&other, &[]) && !point.differs_only_in(&other, &["engine"]));
        let more = other.with("block_size", 8);
        assert!(!point.differs_only_in(&more, &["threads"]), "a parameter that only the other has");
        assert!(!more.differs_only_in(&point, &["threads"]), "nor the other way round");
        assert!(point.differs_only_in(&more, &["threads", "block_size"]));
    }
}
