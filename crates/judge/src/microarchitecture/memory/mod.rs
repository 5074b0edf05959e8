//! What one core of each known design can load, store and have under way, and the
//! memory that its sockets can carry at most.
//!
//! The rows feed ceilings, so where sources differ the figure is taken that makes
//! the ceiling looser: the shorter latency, the wider path, the faster memory. A
//! product range counts as its largest member. `None`: not documented well enough.
//!
//! Sources, cited again by row: Intel 64 and IA-32 Architectures Optimization
//! Reference Manual; AMD Software Optimization Guides; Arm Software Optimization
//! Guides; Agner Fog, *The microarchitecture of Intel, AMD and VIA CPUs*;
//! uops.info; Chips and Cheese; vendors' presentations at Hot Chips and product pages.

mod amd;
mod arm;
mod intel;

use super::{ByWidth, Width};

/// The memory side of one core design.
#[derive(Debug, Clone, Copy)]
pub struct MemoryRow {
    /// Id as in `host.cpu.microarchitecture`.
    pub id: &'static str,
    /// Cycles from a load to the use of its value as an address, first-level hit.
    pub l1_cycles: Option<f64>,
    /// The same for a second-level hit.
    pub l2_cycles: Option<f64>,
    /// Load instructions started in a cycle, first-level hits.
    pub loads: ByWidth,
    /// Store instructions written to the first level in a cycle.
    pub stores: ByWidth,
    /// Bytes that the second level gives to one core in a cycle.
    pub l2_bytes: Option<f64>,
    /// Lines that one core can have under way at a time: the greater of what its
    /// first and its second level track, since prefetchers fill the second.
    pub lines: Option<f64>,
    /// The most memory that a socket carries.
    pub dram: Option<Dram>,
    /// Where the figures come from.
    pub source: &'static str,
}

/// Memory of one socket.
#[derive(Debug, Clone, Copy)]
pub struct Dram {
    /// Channels of 64 bits.
    pub channels: f64,
    /// Transfers a second of each.
    pub transfers_per_s: f64,
    /// The product that has this, the largest of its design.
    pub product: &'static str,
    /// True where boards run modules faster than the product's specification as a
    /// matter of course.
    pub tuned: bool,
    /// Parts of model names whose memory is of another kind, such as stacks on the package.
    pub apart: &'static [&'static str],
}

/// Memory of a server product: specified speed, no product apart.
const fn server(channels: f64, megatransfers: f64, product: &'static str) -> Option<Dram> {
    Some(Dram { channels, transfers_per_s: megatransfers * 1e6, product, tuned: false, apart: &[] })
}

/// Memory of a client product, whose modules are often faster than specified.
const fn client(channels: f64, megatransfers: f64, product: &'static str) -> Option<Dram> {
    Some(Dram { channels, transfers_per_s: megatransfers * 1e6, product, tuned: true, apart: &[] })
}

impl MemoryRow {
    /// Bytes a cycle that loops reading and writing so many streams can count from
    /// and to the first level: the narrower of the load side and the store side.
    pub fn l1_bytes(&self, read: f64, written: f64, width: Width) -> Option<f64> {
        let bytes = match width {
            Width::Scalar => 8.0,
            _ => width.lanes(8),
        };
        let side = |rate: &ByWidth, streams: f64| match streams {
            0.0 => Some(f64::INFINITY),
            _ => rate.at(width).map(|r| r / streams),
        };
        let steps = side(&self.loads, read)?.min(side(&self.stores, written)?);
        steps.is_finite().then_some(steps * (read + written) * bytes)
    }
}

/// Every row, by vendor.
pub const ALL: &[&[MemoryRow]] = &[intel::ROWS, amd::ROWS, arm::ROWS];

/// All rows in one line.
pub fn rows() -> impl Iterator<Item = &'static MemoryRow> {
    ALL.iter().flat_map(|vendor| vendor.iter())
}

/// The row of a design.
pub fn find(id: &str) -> Option<&'static MemoryRow> {
    rows().find(|row| row.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_designs_are_those_of_the_execution_ports() {
        let ids: Vec<_> = rows().map(|r| r.id).collect();
        let mut seen = BTreeSet::new();
        assert!(ids.iter().all(|id| seen.insert(*id)), "an id is listed twice");
        let ports: BTreeSet<_> = crate::microarchitecture::rows().map(|r| r.id).collect();
        assert_eq!(seen, ports);
        for row in rows() {
            assert!(row.source.len() > 20, "{} cites no source", row.id);
        }
    }

    #[test]
    fn figures_are_possible() {
        for row in rows() {
            let id = row.id;
            let within = |value: Option<f64>, low: f64, high: f64| {
                assert!(value.is_none_or(|v| (low..=high).contains(&v)), "{id}: {value:?}");
            };
            within(row.l1_cycles, 3.0, 6.0);
            within(row.l2_cycles, 9.0, 20.0);
            within(row.l2_bytes, 16.0, 128.0);
            within(row.lines, 10.0, 128.0);
            for width in [Width::Scalar, Width::V128, Width::V256, Width::V512] {
                within(row.loads.at(width), 0.5, 4.0);
                within(row.stores.at(width), 0.5, 2.0);
                assert!(row.stores.at(width) <= row.loads.at(width), "{id}");
            }
            if let Some(dram) = row.dram {
                within(Some(dram.channels), 1.0, 12.0);
                within(Some(dram.transfers_per_s), 1600e6, 8800e6);
                assert!(dram.product.len() > 5, "{id} names no product");
            }
        }
    }

    #[test]
    fn the_narrower_side_decides() {
        let row = find("redwood_cove_server").unwrap();
        assert_eq!(row.l1_bytes(1.0, 0.0, Width::V512), Some(128.0));
        assert_eq!(row.l1_bytes(1.0, 0.0, Width::V256), Some(96.0));
        // One 64-byte load and one 64-byte store a cycle.
        assert_eq!(row.l1_bytes(1.0, 1.0, Width::V512), Some(128.0));
        // Two loads and one store a cycle.
        assert_eq!(row.l1_bytes(2.0, 1.0, Width::V512), Some(192.0));
        assert_eq!(row.l1_bytes(0.0, 1.0, Width::V256), Some(64.0));
        assert_eq!(find("haswell").unwrap().l1_bytes(1.0, 0.0, Width::V512), None);
        assert!(find("unheard_of").is_none());
    }

    #[test]
    fn figures_that_vendors_print_stand() {
        let gigabytes = |id: &str| {
            let dram = find(id).unwrap().dram.unwrap();
            dram.channels * dram.transfers_per_s * 8.0 / 1e9
        };
        // Product pages: Xeon 6980P 844.8 GB/s, EPYC 9654 460.8, EPYC 7763 204.8,
        // Xeon E7-8890 v3 102.
        assert!((gigabytes("redwood_cove_server") - 844.8).abs() < 0.1);
        assert!((gigabytes("zen4") - 460.8).abs() < 0.1);
        assert!((gigabytes("zen3") - 204.8).abs() < 0.1);
        assert!((gigabytes("haswell") - 102.4).abs() < 0.1);
        assert_eq!(find("skylake").unwrap().l2_cycles, Some(12.0));
        assert_eq!(find("golden_cove").unwrap().l1_cycles, Some(5.0));
    }
}
