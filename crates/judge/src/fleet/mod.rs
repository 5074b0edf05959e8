//! Judges a fleet.
mod quantile;
pub mod rule;
