//! Moments in UTC.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A moment in UTC; RFC 3339 in JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub jiff::Timestamp);

/// Duration by each of the system's clocks, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clocks {
    /// Duration by CLOCK_MONOTONIC_RAW, which times all rates.
    pub raw_s: f64,
    /// Duration by CLOCK_MONOTONIC, which runs as fast as the system's time is adjusted.
    pub monotonic_s: f64,
    /// Duration by CLOCK_BOOTTIME: CLOCK_MONOTONIC with the time in suspension.
    pub boottime_s: f64,
    /// Duration by CLOCK_REALTIME: CLOCK_MONOTONIC with the steps in which it was set.
    pub realtime_s: f64,
}

impl Timestamp {
    /// Returns the wall clock now. It is for labels only: durations come from CLOCK_MONOTONIC_RAW.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now())
    }

    /// Makes a moment from whole milliseconds since 1970, for tests and fixtures.
    pub fn from_millis(ms: i64) -> Option<Self> {
        jiff::Timestamp::from_millisecond(ms).ok().map(Self)
    }

    /// Returns the moment so many seconds later; `None` where that is no moment.
    pub fn after(self, seconds: f64) -> Option<Self> {
        let span = std::time::Duration::try_from_secs_f64(seconds).ok()?;
        self.0.checked_add(span).ok().map(Self)
    }

    /// Returns the moment so many seconds earlier; `None` where that is no moment.
    pub fn before(self, seconds: f64) -> Option<Self> {
        let span = std::time::Duration::try_from_secs_f64(seconds).ok()?;
        self.0.checked_sub(span).ok().map(Self)
    }

    /// Returns the seconds since an earlier moment; negative since a later one.
    pub fn since(self, earlier: Self) -> f64 {
        self.0.duration_since(earlier.0).as_secs_f64()
    }

    /// Formats as `20261121T020304Z`, for the name of a folder.
    pub fn compact(self) -> String {
        self.0.strftime("%Y%m%dT%H%M%SZ").to_string()
    }

    /// Reads a time at the beginning of a text as [`compact`](Self::compact) writes it; `None` for
    /// another text.
    pub fn from_compact(text: &str) -> Option<Self> {
        const FORMAT: &str = "%Y%m%dT%H%M%SZ";
        let time = text.get(..16)?;
        let civil = jiff::civil::DateTime::strptime(FORMAT, time).ok()?;
        civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| Self(zoned.timestamp()))
    }

    /// Formats as `2026-11-21 02:03:04 UTC`, for people.
    pub fn display(self) -> String {
        self.0.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compact_time_is_read_back() {
        let time = Timestamp::from_millis(1_767_225_600_000).unwrap();
        for end in ["", "-2", "-mine"] {
            assert_eq!(Timestamp::from_compact(&(time.compact() + end)), Some(time));
        }
        for none in ["", "mine", "20261301T000000Z", "2026-01-01 00:00:00"] {
            assert_eq!(Timestamp::from_compact(none), None, "{none}");
        }
    }
}
