//! One published figure.

use proofmark_model::Subsystem;
use serde::Serialize;

use crate::quantity::{Base, Metric, Statistic};
use crate::units::Unit;

/// Bytes of the smallest sector: a device moves whole sectors.
const SECTOR: f64 = 512.0;

/// Order in which blocks are accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    Random,
    Sequential,
    Unstated,
}

impl Order {
    /// Prefixes of an operation's words that name the order.
    const WORDS: [(&str, Self); 5] = [
        ("random", Self::Random),
        ("rand", Self::Random),
        ("rnd", Self::Random),
        ("sequential", Self::Sequential),
        ("seq", Self::Sequential),
    ];

    /// Splits a tool's operation into its order and the other words: `rand_read`, `randread` and
    /// `Random Read` give the same.
    pub fn read(tool: &str, operation: &str) -> (Self, String) {
        let (mut order, mut rest) = (Self::Unstated, Vec::new());
        for word in operation.split(|c: char| !c.is_alphanumeric()) {
            let named = Self::WORDS.iter().find_map(|(w, o)| Some((*o, word.strip_prefix(w)?)));
            let (named, word) = named.unwrap_or((order, word));
            order = named;
            rest.extend(Some(word).filter(|word| !word.is_empty()));
        }
        // The manual of fio defines: "read: Sequential reads".
        let fio = tool.eq_ignore_ascii_case("fio")
            && matches!(rest[..], ["read" | "write" | "rw" | "readwrite"]);
        let order = if fio && order == Self::Unstated { Self::Sequential } else { order };
        (order, rest.join("_"))
    }
}

/// One row of a published table, whose columns are its fields in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Index in the file's figures, from 0.
    #[serde(skip)]
    pub(crate) index: usize,
    /// Line of the file, from 1.
    pub line: u64,
    /// Part of the machine.
    pub subsystem: Subsystem,
    /// Program, as the report calls it.
    pub tool: String,
    /// Operation, such as `seq_read`; lower case.
    pub operation: String,
    /// Metric as written.
    #[serde(rename = "metric")]
    pub metric_name: String,
    /// Kind of quantity.
    #[serde(skip)]
    pub metric: Metric,
    /// Bytes of one operation; `None` if not stated.
    #[serde(rename = "block_size_bytes")]
    pub block: Option<u64>,
    /// Threads or streams; `None` if not stated.
    pub threads: Option<u64>,
    /// Content of the column `trial`.
    #[serde(rename = "trial")]
    pub statistic_name: String,
    /// Statistic that the column `trial` names.
    #[serde(skip)]
    pub statistic: Statistic,
    /// The number as printed, in `unit`.
    pub value: f64,
    /// The unit as printed.
    #[serde(rename = "unit_as_written")]
    pub unit: String,
    /// Meaning of `unit`; `None` if unknown.
    #[serde(skip)]
    pub(crate) written: Option<Unit>,
    /// The number in `si_unit`: as stated, else computed from `value` and `unit`. `None` if it
    /// cannot be converted.
    #[serde(rename = "value_si")]
    pub si: Option<f64>,
    /// `bytes/s`, `bits/s`, `ops/s` or `seconds`; empty if there is none.
    pub si_unit: String,
    /// Meaning of `si_unit`.
    #[serde(skip)]
    pub(crate) base: Option<Base>,
    /// True for a rate of packets.
    #[serde(skip)]
    pub(crate) packets: bool,
    /// True for a rate of requests.
    #[serde(skip)]
    pub(crate) requests: bool,
    /// Order that the operation names.
    #[serde(skip)]
    pub(crate) order: Order,
    #[serde(skip)]
    pub(crate) work: String,
}

impl Figure {
    /// Returns the figure in base units: bit/s for a network's throughput, B/s for any other.
    /// `None` for a deviation: it is no rate and no time of an operation, so their limits do not
    /// apply.
    pub(crate) fn level(&self) -> Option<f64> {
        self.size().filter(|_| self.statistic != Statistic::Deviation)
    }

    /// Returns the figure in base units as [`Figure::level`] does, and a deviation too.
    pub(crate) fn size(&self) -> Option<f64> {
        let factor = match (self.base?, self.subsystem.info().counts_bits) {
            (Base::Bytes, true) => 8.0,
            (Base::Bits, false) => 0.125,
            _ => 1.0,
        };
        Some(self.si? * factor)
    }

    /// Returns half a unit of the last printed digit, as a fraction of the number. `0.13` may be
    /// 0.125 to 0.135, so 4 %. Zeros at the end may not be digits.
    pub(crate) fn rounding(&self) -> f64 {
        let text = self.value.to_string();
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let half = 0.5 * 10_f64.powi(-(decimals.min(300) as i32));
        if self.value > 0.0 { half / self.value } else { 0.0 }
    }

    /// Returns the bytes that a device moves for one operation. Random operations move whole
    /// sectors, since neighbours in a sector are not requested together.
    pub(crate) fn moved(&self) -> Option<f64> {
        let block = self.block? as f64;
        Some(if self.is_random() { block.max(SECTOR) } else { block })
    }

    /// Returns the rate in B/s that the figure demands of a disk. A rate of operations counts their
    /// blocks; a latency counts one operation at a time.
    pub(crate) fn device_rate(&self) -> Option<f64> {
        if !self.subsystem.info().uses_block_devices {
            return None;
        }
        let level = self.level()?;
        match self.metric {
            Metric::Throughput => {
                let sectors = self.moved().zip(self.block).map(|(moved, b)| moved / b as f64);
                Some(level * sectors.unwrap_or(1.0))
            }
            Metric::Rate => Some(level * self.moved()?),
            Metric::Latency if level > 0.0 => Some(self.moved()? / level),
            _ => None,
        }
    }

    /// True if the operation says that both ends were on one machine: no link bounds such a figure.
    pub(crate) fn is_named_loopback(&self) -> bool {
        ["loopback", "localhost", "127.0.0.1", "::1"]
            .iter()
            .any(|word| self.operation.contains(word))
    }

    /// True if the operation names the random order.
    pub(crate) fn is_random(&self) -> bool {
        self.order == Order::Random
    }

    /// True for a figure of this subsystem and metric.
    pub(crate) fn is(&self, subsystem: Subsystem, metric: Metric) -> bool {
        self.subsystem == subsystem && self.metric == metric
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_says_its_order_in_many_ways() {
        for (tool, operation, order, work) in [
            ("x", "rand_read", Order::Random, "read"),
            ("fio", "randread", Order::Random, "read"),
            ("x", "random read", Order::Random, "read"),
            ("x", "read_random", Order::Random, "read"),
            ("x", "rnd4k q32", Order::Random, "4k_q32"),
            ("x", "seq-read-write", Order::Sequential, "read_write"),
            ("x", "sequential", Order::Sequential, ""),
            ("FIO", "read", Order::Sequential, "read"),
            ("x", "read", Order::Unstated, "read"),
            ("x", "operand", Order::Unstated, "operand"),
        ] {
            assert_eq!(Order::read(tool, operation), (order, work.to_owned()), "{operation}");
        }
    }
}
