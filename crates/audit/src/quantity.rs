//! Quantity of a figure: its metric, its statistic, and what its unit counts.

/// Kind of quantity of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Operations per second.
    Rate,
    /// Bytes or bits per second.
    Throughput,
    /// Time of one operation.
    Latency,
    /// Anything else, such as the time of a whole trial, jitter or loss.
    Other,
}

impl Metric {
    /// Returns the word for the metric in the table.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Throughput => "throughput",
            Self::Latency => "latency",
            Self::Other => "other",
        }
    }
}

/// Statistic that a figure gives of its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Statistic {
    /// The trial with this number.
    Trial(u64),
    /// Mean (or median) over the trials.
    Mean,
    /// Standard deviation over the trials.
    Deviation,
    /// Largest of the trials, or the best.
    Most,
    /// Smallest of the trials, or the worst.
    Least,
    /// The cell is empty, or the table has no column `trial`.
    Unstated,
    /// Any other, such as a total or a percentile.
    Other,
}

/// Quantity that a unit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    /// Bytes per second.
    Bytes,
    /// Bits per second.
    Bits,
    /// Operations or floating-point operations per second.
    Operations,
    /// Packets per second.
    Packets,
    /// Requests per second; their threads may wait for others.
    Requests,
    /// Seconds.
    Seconds,
    /// Clock cycles; the clock is unknown.
    Cycles,
    /// Time per bit or byte: no time of an operation.
    TimePerByte,
}

impl Base {
    /// Returns the metric that the unit measures.
    pub(crate) fn metric(self) -> Metric {
        match self {
            Self::Bytes | Self::Bits => Metric::Throughput,
            Self::Operations | Self::Packets | Self::Requests => Metric::Rate,
            Self::Seconds | Self::Cycles | Self::TimePerByte => Metric::Latency,
        }
    }

    /// Returns its name in the column `si_unit`; `None` if it has none.
    pub(crate) fn si_unit(self) -> Option<&'static str> {
        match self {
            Self::Bytes => Some("bytes/s"),
            Self::Bits => Some("bits/s"),
            Self::Operations => Some("ops/s"),
            Self::Packets => Some("packets/s"),
            Self::Requests => Some("requests/s"),
            Self::Seconds => Some("seconds"),
            Self::Cycles | Self::TimePerByte => None,
        }
    }
}
