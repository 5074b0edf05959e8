//! What a job does (`rw`), and which way.

use proofmark_model::Order;

use super::json::Asked;

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

pub(super) struct Pattern {
    pub(super) name: &'static str,
    /// Whether it goes in more than one direction.
    sides: bool,
}

static PATTERNS: [Pattern; 11] = [
    Pattern { name: "read", sides: false },
    Pattern { name: "write", sides: false },
    Pattern { name: "trim", sides: false },
    Pattern { name: "randread", sides: false },
    Pattern { name: "randwrite", sides: false },
    Pattern { name: "randtrim", sides: false },
    Pattern { name: "rw", sides: true },
    Pattern { name: "readwrite", sides: true },
    Pattern { name: "randrw", sides: true },
    Pattern { name: "trimwrite", sides: true },
    Pattern { name: "randtrimwrite", sides: true },
];

impl Pattern {
    /// Of these options: `rw=randread:8` is `randread`. The name, if there is no such.
    pub(super) fn asked(options: Asked<'_>) -> Result<&'static Self, &str> {
        let rw = options.get("rw").unwrap_or("read");
        let name = rw.split(':').next().unwrap_or(rw);
        Self::named(name).ok_or(rw)
    }

    pub(super) fn named(name: &str) -> Option<&'static Self> {
        PATTERNS.iter().find(|p| p.name == name)
    }

    /// How its blocks follow each other.
    pub(super) fn order(&self) -> Order {
        if self.name.starts_with("rand") { Order::Rand } else { Order::Seq }
    }

    /// `randread`; of one direction of a pattern of more, `randrw.read`.
    pub(super) fn test(&self, way: Way) -> String {
        match way {
            _ if !self.sides => self.name.to_owned(),
            Way::Mixed => self.name.to_owned(),
            _ => format!("{}.{}", self.name, way.word()),
        }
    }
}
