//! What a job does (`rw`), which way, and our workloads that do so.

use proofmark_model::Order;

use super::options::Asked;

/// A direction of a job.
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

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Mixed => "both",
        }
    }
}

/// The pattern of a job (`rw`), and our workload of that pattern.
pub(super) struct Pattern {
    pub(super) name: &'static str,
    ours: Option<&'static str>,
    /// Whether it goes in more than one direction.
    sides: bool,
}

static PATTERNS: [Pattern; 11] = [
    Pattern { name: "read", ours: Some("disk.seq_read"), sides: false },
    Pattern { name: "write", ours: Some("disk.seq_write"), sides: false },
    Pattern { name: "trim", ours: None, sides: false },
    Pattern { name: "randread", ours: Some("disk.rand_read"), sides: false },
    Pattern { name: "randwrite", ours: Some("disk.rand_write"), sides: false },
    Pattern { name: "randtrim", ours: None, sides: false },
    // One place in the file for both, where disk.read_write has one for each.
    Pattern { name: "rw", ours: None, sides: true },
    Pattern { name: "readwrite", ours: None, sides: true },
    Pattern { name: "randrw", ours: Some("disk.mixed"), sides: true },
    Pattern { name: "trimwrite", ours: None, sides: true },
    Pattern { name: "randtrimwrite", ours: None, sides: true },
];

impl Pattern {
    /// Of these options: `rw=randread:8` is `randread`. The name, if there is no such.
    pub(super) fn of(options: Asked<'_>) -> Result<&'static Self, &str> {
        let rw = options.get("rw").unwrap_or("read");
        let name = rw.split(':').next().unwrap_or(rw);
        Self::named(name).ok_or(rw)
    }

    /// Of that name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        PATTERNS.iter().find(|p| p.name == name)
    }

    /// How its blocks follow each other.
    pub(super) fn order(&self) -> Order {
        if self.name.starts_with("rand") { Order::Rand } else { Order::Seq }
    }

    /// Id of the workload for a direction; of fio's own unless the work is `plain`.
    pub(super) fn workload(&self, way: Way, plain: bool) -> String {
        match self.ours {
            Some(id) if plain && (!self.sides || way == Way::Mixed) => id.to_owned(),
            _ => format!("fio.{}", self.words(way).replace(' ', ".")),
        }
    }

    /// `randread`; of a pattern of more than one direction, `randrw read`.
    pub(super) fn words(&self, way: Way) -> String {
        match way {
            _ if !self.sides => self.name.to_owned(),
            Way::Mixed => self.name.to_owned(),
            _ => format!("{} {}", self.name, way.word()),
        }
    }
}
