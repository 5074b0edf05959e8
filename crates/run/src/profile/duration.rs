//! Durations as they are typed.

use std::time::Duration;

use proofmark_model::parse_duration;
use serde::{Deserialize, Deserializer};

/// A duration as it is typed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Time(pub(super) Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        parse_duration(&String::deserialize(from)?).map(Self).map_err(serde::de::Error::custom)
    }
}
