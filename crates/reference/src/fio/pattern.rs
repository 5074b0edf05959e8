//! The access pattern of a job (`rw`), and its directions.

use proofmark_model::Order;

use super::json::{Job, JobOptions, Side};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
    Trim,
    /// All directions together.
    Mixed,
}

impl Direction {
    pub(super) const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Mixed];

    pub(super) const SINGLE: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// Returns the statistics of this direction in a job's entry.
    pub(super) fn side(self, job: &Job) -> Option<&Side> {
        match self {
            Self::Read => job.read.as_ref(),
            Self::Write => job.write.as_ref(),
            Self::Trim => job.trim.as_ref(),
            Self::Mixed => job.mixed.as_ref(),
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Mixed => "both",
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Pattern {
    pub(super) name: &'static str,
}

/// The patterns of one direction, and those of several.
const ONE: [&str; 6] = ["read", "write", "trim", "randread", "randwrite", "randtrim"];
const SEVERAL: [&str; 5] = ["rw", "readwrite", "randrw", "trimwrite", "randtrimwrite"];

impl Pattern {
    /// Returns the pattern of these options: `randread` for `rw=randread:8`. Returns an unknown
    /// name as the error.
    pub(super) fn asked(options: JobOptions<'_>) -> Result<Self, &str> {
        let rw = options.get("rw").unwrap_or("read");
        let name = rw.split(':').next().unwrap_or(rw);
        Self::named(name).ok_or(rw)
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        let name = ONE.into_iter().chain(SEVERAL).find(|known| *known == name)?;
        Some(Self { name })
    }

    /// Returns the only direction of the pattern; `None` if it has several.
    pub(super) fn only(self) -> Option<Direction> {
        let name = self.name.trim_start_matches("rand");
        Direction::SINGLE.into_iter().find(|direction| direction.word() == name)
    }

    /// Returns true if the pattern reads and writes.
    pub(super) fn mixes_reads(self) -> bool {
        matches!(self.name, "rw" | "readwrite" | "randrw")
    }

    /// Returns the order of the blocks.
    pub(super) fn order(self) -> Order {
        if self.name.starts_with("rand") { Order::Rand } else { Order::Seq }
    }

    /// Returns the test's name: `randread`, or `randrw.read` for one direction of several. A
    /// writing pattern verifies by reads: `randwrite.verify.read`.
    pub(super) fn test(self, direction: Direction) -> String {
        match direction {
            Direction::Mixed => self.name.to_owned(),
            _ if self.only() == Some(direction) => self.name.to_owned(),
            _ if self.only().is_some() => format!("{}.verify.{}", self.name, direction.word()),
            _ => format!("{}.{}", self.name, direction.word()),
        }
    }
}
