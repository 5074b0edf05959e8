//! What a job does (`rw`), and which way.

use proofmark_model::Order;

use super::json::{Asked, Job, Side};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Read,
    Write,
    Trim,
    /// All together.
    Mixed,
}

impl Way {
    pub(super) const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Mixed];

    pub(super) const ONE: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// What a job's entry says of it.
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

/// Its patterns of one direction, and those of several.
const ONE: [&str; 6] = ["read", "write", "trim", "randread", "randwrite", "randtrim"];
const SEVERAL: [&str; 5] = ["rw", "readwrite", "randrw", "trimwrite", "randtrimwrite"];

impl Pattern {
    /// Of these options: `rw=randread:8` is `randread`. The name, if there is no such.
    pub(super) fn asked(options: Asked<'_>) -> Result<Self, &str> {
        let rw = options.get("rw").unwrap_or("read");
        let name = rw.split(':').next().unwrap_or(rw);
        Self::named(name).ok_or(rw)
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        let name = ONE.into_iter().chain(SEVERAL).find(|known| *known == name)?;
        Some(Self { name })
    }

    /// The one direction of it; `None` of those of several.
    pub(super) fn only(self) -> Option<Way> {
        let name = self.name.trim_start_matches("rand");
        Way::ONE.into_iter().find(|way| way.word() == name)
    }

    /// Whether it reads and writes.
    pub(super) fn mixes_reads(self) -> bool {
        matches!(self.name, "rw" | "readwrite" | "randrw")
    }

    /// How its blocks follow each other.
    pub(super) fn order(self) -> Order {
        if self.name.starts_with("rand") { Order::Rand } else { Order::Seq }
    }

    /// `randread`; of one direction of a pattern of more, `randrw.read`; of the reads by which a
    /// pattern that writes verifies what it wrote, `randwrite.verify.read`.
    pub(super) fn test(self, way: Way) -> String {
        match way {
            Way::Mixed => self.name.to_owned(),
            _ if self.only() == Some(way) => self.name.to_owned(),
            _ if self.only().is_some() => format!("{}.verify.{}", self.name, way.word()),
            _ => format!("{}.{}", self.name, way.word()),
        }
    }
}
