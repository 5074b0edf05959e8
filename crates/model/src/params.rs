//! Parameters of a configuration.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::AUTO;
use crate::key::{self, Count, Key, Kind};

/// The value of one parameter. Sizes are in bytes.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(untagged)]
pub enum Param {
    /// A switch: on or off.
    Flag(bool),
    /// A count or a size.
    Int(u64),
    /// A choice.
    Text(String),
}

impl Param {
    /// Returns the number, if it is a count or a size.
    pub fn int(&self) -> Option<u64> {
        match self {
            Self::Int(v) => Some(*v),
            _ => None,
        }
    }

    /// Returns the word, if it is a choice.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(v) => Some(v),
            _ => None,
        }
    }
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
    /// Adds a parameter.
    #[must_use]
    pub fn with<T: Kind>(self, key: Key<T>, value: T::Value<'_>) -> Self {
        self.with_named(key.name(), value)
    }

    /// Adds a parameter if its value is known.
    #[must_use]
    pub fn known<T: Kind>(self, key: Key<T>, value: Option<T::Value<'_>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Adds a parameter whose name comes from a file or a user, or that only one tool has.
    #[must_use]
    pub fn with_named(mut self, name: &str, value: impl Into<Param>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a parameter that only one tool has, if its value is known.
    #[must_use]
    pub fn known_named(self, name: &str, value: Option<impl Into<Param>>) -> Self {
        match value {
            Some(value) => self.with_named(name, value),
            None => self,
        }
    }

    /// Adds a parameter that proofmark chooses for the machine.
    #[must_use]
    pub fn with_auto<T>(self, key: Key<T>) -> Self {
        self.with_named(key.name(), AUTO)
    }

    /// Removes a parameter.
    #[must_use]
    pub fn without<T>(mut self, key: Key<T>) -> Self {
        self.0.remove(key.name());
        self
    }

    /// Returns the value of a parameter; `None` without it, and where it is `auto` instead of a
    /// number.
    pub fn get<T: Kind>(&self, key: Key<T>) -> Option<T::Value<'_>> {
        T::read(self.named(key.name())?)
    }

    /// Returns the value of the parameter of that name, which comes from a file or a user.
    pub fn named(&self, name: &str) -> Option<&Param> {
        self.0.get(name)
    }

    /// Returns the number of the parameter of that name, which comes from a file or a user.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.named(name)?.int()
    }

    /// Returns the word of the parameter of that name, which comes from a file or a user.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.named(name)?.text()
    }

    /// Returns true if the parameter is present, whatever its value.
    pub fn has<T>(&self, key: Key<T>) -> bool {
        self.0.contains_key(key.name())
    }

    /// Returns true if proofmark chooses the parameter for the machine.
    pub fn is_auto<T>(&self, key: Key<T>) -> bool {
        self.word(key.name()) == Some(AUTO)
    }

    /// Returns the bytes of one block, message or I/O; `None` without such a parameter, or where it
    /// is 0.
    pub fn block_bytes(&self) -> Option<f64> {
        self.get(key::BLOCK_SIZE).filter(|b| *b > 0).map(|b| b as f64)
    }

    /// Returns true if these differ from the others in none but the named parameters.
    pub fn differs_only_in(&self, others: &Self, parameters: &[impl AsRef<str>]) -> bool {
        let may = |name: &str| parameters.iter().any(|parameter| parameter.as_ref() == name);
        let same =
            |p: &Self, q: &Self| p.0.iter().all(|(name, v)| may(name) || q.named(name) == Some(v));
        same(self, others) && same(others, self)
    }

    /// Parameters that give the number of threads; a stream has one thread.
    pub const THREADS: [Key<Count>; 2] = [key::THREADS, key::STREAMS];

    /// Returns true if the parameter of that name is one of [`Self::THREADS`].
    pub fn counts_threads(name: &str) -> bool {
        Self::THREADS.iter().any(|parameter| *parameter == name)
    }

    /// Returns the value of the parameter of [`Self::THREADS`] that is present; a workload without
    /// one runs on 1 thread.
    pub fn threads(&self) -> u64 {
        Self::THREADS.iter().find_map(|parameter| self.get(*parameter)).unwrap_or(1)
    }
}

/// A configuration: a workload with every parameter set.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Point {
    /// Workload id.
    pub workload: String,
    /// All parameters of the workload.
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
        const NONE: &[&str] = &[];
        let point = Params::default().with(key::THREADS, 2).with(key::ENGINE, "psync");
        let other = point.clone().with(key::THREADS, 4);
        assert!(
            point.differs_only_in(&point, NONE) && point.differs_only_in(&other, &[key::THREADS])
        );
        assert!(
            !point.differs_only_in(&other, NONE) && !point.differs_only_in(&other, &[key::ENGINE])
        );
        let more = other.with(key::BLOCK_SIZE, 8);
        assert!(
            !point.differs_only_in(&more, &[key::THREADS]),
            "a parameter that only the other has"
        );
        assert!(!more.differs_only_in(&point, &[key::THREADS]), "nor the other way round");
        assert!(point.differs_only_in(&more, &[key::THREADS.name(), key::BLOCK_SIZE.name()]));
    }
}
