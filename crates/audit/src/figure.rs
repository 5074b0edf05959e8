//! One published figure.

use proofmark_model::Subsystem;
use serde::Serialize;

use crate::quantity::{Base, Metric, Statistic};
use crate::units::Unit;

/// A device moves whole sectors, of 512 bytes at the least.
const SECTOR: f64 = 512.0;

/// In which order blocks are accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    Random,
    Sequential,
    Unsaid,
}

impl Order {
    /// How words of an operation begin that say it.
    const WORDS: [(&str, Self); 5] = [
        ("random", Self::Random),
        ("rand", Self::Random),
        ("rnd", Self::Random),
        ("sequential", Self::Sequential),
        ("seq", Self::Sequential),
    ];

    /// The order that a tool's operation says, and the rest of its words: `rand_read`, `randread`
    /// and `Random Read` are one.
    pub fn read(tool: &str, operation: &str) -> (Self, String) {
        let (mut order, mut rest) = (Self::Unsaid, Vec::new());
        for word in operation.split(|c: char| !c.is_alphanumeric()) {
            let said = Self::WORDS.iter().find_map(|(w, o)| Some((*o, word.strip_prefix(w)?)));
            let (said, word) = said.unwrap_or((order, word));
            order = said;
            rest.extend(Some(word).filter(|word| !word.is_empty()));
        }
        // The manual of fio: "read: Sequential reads".
        let fio = tool.eq_ignore_ascii_case("fio")
            && matches!(rest[..], ["read" | "write" | "rw" | "readwrite"]);
        let order = if fio && order == Self::Unsaid { Self::Sequential } else { order };
        (order, rest.join("_"))
    }
}

/// One row of a published table, whose columns are its fields in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Place among the figures of the file, from 0.
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
    /// Bytes of one operation; `None`: not said.
    #[serde(rename = "block_size_bytes")]
    pub block: Option<u64>,
    /// Threads or streams; `None`: not said.
    pub threads: Option<u64>,
    /// Which of the numbers it is, as the column `trial` says it.
    #[serde(rename = "trial")]
    pub statistic_name: String,
    /// Which of the point's numbers it is.
    #[serde(skip)]
    pub statistic: Statistic,
    /// The number as printed, in `unit`.
    pub value: f64,
    /// The unit as printed.
    #[serde(rename = "unit_as_written")]
    pub unit: String,
    /// What that means; `None`: nothing that is known.
    #[serde(skip)]
    pub(crate) written: Option<Unit>,
    /// The number in `si_unit`, as stated, else of `value` and `unit`; `None`: not convertible.
    #[serde(rename = "value_si")]
    pub si: Option<f64>,
    /// `bytes/s`, `bits/s`, `ops/s` or `seconds`; empty: none.
    pub si_unit: String,
    /// What that means.
    #[serde(skip)]
    pub(crate) base: Option<Base>,
    /// Whether a rate counts packets.
    #[serde(skip)]
    pub(crate) packets: bool,
    /// Whether a rate counts requests.
    #[serde(skip)]
    pub(crate) requests: bool,
    /// The order that the operation says, and its other words.
    #[serde(skip)]
    pub(crate) order: Order,
    #[serde(skip)]
    pub(crate) work: String,
}

impl Figure {
    /// The figure in base units, of a network's throughput in bit/s and of any other in B/s,
    /// unless it is a deviation: that is no rate and no time of an operation, so limits of these
    /// do not hold for it.
    pub(crate) fn level(&self) -> Option<f64> {
        self.size().filter(|_| self.statistic != Statistic::Deviation)
    }

    /// The same, of a deviation too.
    pub(crate) fn size(&self) -> Option<f64> {
        let factor = match (self.base?, self.subsystem.info().counts_bits) {
            (Base::Bytes, true) => 8.0,
            (Base::Bits, false) => 0.125,
            _ => 1.0,
        };
        Some(self.si? * factor)
    }

    /// Half a unit of the last digit that is printed, as a share of the number: `0.13` is of
    /// 0.125 to 0.135, and so off by 4 % at most. Zeros at the end are not known to be digits.
    pub(crate) fn rounding(&self) -> f64 {
        let text = self.value.to_string();
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let half = 0.5 * 10_f64.powi(-(decimals.min(300) as i32));
        if self.value > 0.0 { half / self.value } else { 0.0 }
    }

    /// Bytes that a device moves for an operation of the block: whole sectors where the order is
    /// random, since neighbours in a sector are not asked for together.
    pub(crate) fn moved(&self) -> Option<f64> {
        let block = self.block? as f64;
        Some(if self.is_random() { block.max(SECTOR) } else { block })
    }

    /// What a disk would have to carry for it, in B/s: of a rate of operations their blocks; a
    /// latency is the rate of one operation at a time.
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

    /// Whether the operation says that its order is random.
    pub(crate) fn is_random(&self) -> bool {
        self.order == Order::Random
    }

    /// Whether it is of that subsystem and kind.
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
            ("x", "read", Order::Unsaid, "read"),
            ("x", "operand", Order::Unsaid, "operand"),
        ] {
            assert_eq!(Order::read(tool, operation), (order, work.to_owned()), "{operation}");
        }
    }
}
