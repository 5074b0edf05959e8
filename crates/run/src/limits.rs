//! Longest times.

use std::time::Duration;

/// Longest run that can be asked for.
pub const LONGEST_RUN: Duration = Duration::from_secs(30 * 24 * 3600);

/// Longest trial that can be asked for.
pub(crate) const LONGEST_TRIAL: Duration = Duration::from_secs(3600);
