//! The operation of a stream workload on each element, and its store type.

use std::borrow::Cow;

use proofmark_model::{Traffic, When};

/// An operation on arrays of f64, as in STREAM. Names as in the workloads' ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// Loads `a` and sums its bits.
    Read,
    /// `dst = stamp`
    Write,
    /// `dst = a`
    Copy,
    /// `dst = k * a`
    Scale,
    /// `dst = a + b`
    Add,
    /// `dst = a + k * b`, with the product rounded before the sum.
    Triad,
}

impl Op {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 6] =
        [Self::Read, Self::Write, Self::Copy, Self::Scale, Self::Add, Self::Triad];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
            Self::Scale => "scale",
            Self::Add => "add",
            Self::Triad => "triad",
        }
    }

    /// Returns the number of arrays that the operation loads: `a`, or `a` and `b`.
    pub(crate) const fn sources(self) -> usize {
        match self {
            Self::Write => 0,
            Self::Read | Self::Copy | Self::Scale => 1,
            Self::Add | Self::Triad => 2,
        }
    }

    /// Returns true if the operation stores to an array.
    pub(crate) const fn stores(self) -> bool {
        !matches!(self, Self::Read)
    }

    pub(crate) const fn arrays(self) -> usize {
        self.sources() + self.stores() as usize
    }

    /// Returns the traffic of one element, for the declaration.
    pub(crate) const fn traffic(self, when: Option<When>) -> Traffic {
        let flops = match self {
            Self::Scale | Self::Add => 1.0,
            Self::Triad => 2.0,
            Self::Read | Self::Write | Self::Copy => 0.0,
        };
        Traffic { when, read: self.sources() as f64, written: self.stores() as u8 as f64, flops }
    }

    /// Returns the traffic declaration of a workload with this operation only.
    pub(crate) const fn declared(self) -> Cow<'static, [Traffic]> {
        const ALL: [&[Traffic]; 6] = [
            &[Op::Read.traffic(None)],
            &[Op::Write.traffic(None)],
            &[Op::Copy.traffic(None)],
            &[Op::Scale.traffic(None)],
            &[Op::Add.traffic(None)],
            &[Op::Triad.traffic(None)],
        ];
        Cow::Borrowed(ALL[self as usize])
    }
}

/// The kind of stores. Names as in the `stores` parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stores {
    /// Ordinary stores: the line is first read into the cache (write-allocate).
    Temporal,
    /// Stores past the cache: the line goes to memory without being read.
    NonTemporal,
}

impl Stores {
    pub(crate) const ALL: [Self; 2] = [Self::Temporal, Self::NonTemporal];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Temporal => "temporal",
            Self::NonTemporal => "nontemporal",
        }
    }
}
