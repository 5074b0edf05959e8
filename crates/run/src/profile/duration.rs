//! Durations as they are typed.

use std::time::Duration;

use proofmark_model::parse_duration;
use serde::{Deserialize, Deserializer};

pub(super) fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    parse_duration(&String::deserialize(from)?).map_err(serde::de::Error::custom)
}

pub(super) fn optional_duration<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Duration>, D::Error> {
    duration(from).map(Some)
}
