//! Tables of the known core designs: instructions per cycle, loads, stores and lines in flight of
//! one core, and the memory bandwidth of a socket.
//!
//! A row has sustained throughputs of register-to-register instructions, in instructions per cycle
//! (divisions: cycles per instruction), and the figures of its own caches. The rows feed ceilings.
//! Where sources differ, the row has the figure that makes the ceiling looser, such as the faster
//! one. A ceiling that is too low calls an honest result impossible. A product range counts as its
//! largest member. `None` means that no figure is documented well enough, or that the design lacks
//! the instruction.
//!
//! Sources, cited again by row: Intel 64 and IA-32 Architectures Optimization Reference Manual; AMD
//! Software Optimization Guides for families 17h, 19h and 1Ah; Arm Software Optimization Guides;
//! Agner Fog, *Instruction tables* and *The microarchitecture of Intel, AMD and VIA CPUs*; Abel and
//! Reineke, uops.info (ASPLOS 2019); Chips and Cheese; vendors' presentations at Hot Chips and
//! product pages.

mod amd;
mod arm;
mod intel;

use proofmark_model::Isa;

/// Width of the registers that an instruction works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// One element.
    Scalar,
    /// 128-bit vector.
    V128,
    /// 256-bit vector.
    V256,
    /// 512-bit vector.
    V512,
}

impl Width {
    /// The width of an instruction set's registers.
    pub fn for_isa(isa: Isa) -> Self {
        match isa.vector_bits() {
            None => Self::Scalar,
            Some(..=128) => Self::V128,
            Some(..=256) => Self::V256,
            Some(_) => Self::V512,
        }
    }

    /// Elements of `element_bits` in one register.
    pub fn lanes(self, element_bits: u32) -> f64 {
        let bits = match self {
            Self::Scalar => return 1.0,
            Self::V128 => 128.0,
            Self::V256 => 256.0,
            Self::V512 => 512.0,
        };
        bits / f64::from(element_bits.max(1))
    }
}

/// A throughput by register width; `None` if unknown, or if there is no such instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByWidth {
    /// One element.
    pub scalar: Option<f64>,
    /// 128-bit vectors.
    pub v128: Option<f64>,
    /// 256-bit vectors.
    pub v256: Option<f64>,
    /// 512-bit vectors.
    pub v512: Option<f64>,
}

impl ByWidth {
    /// The figure for a width.
    pub fn at(&self, width: Width) -> Option<f64> {
        match width {
            Width::Scalar => self.scalar,
            Width::V128 => self.v128,
            Width::V256 => self.v256,
            Width::V512 => self.v512,
        }
    }
}

/// Most instructions of any kind that any core starts per cycle. The widest decoders take 10 (Arm
/// Cortex-X925, Apple M4), and none of these instructions is done without being decoded.
pub const MOST_INSTRUCTIONS: f64 = 10.0;

/// Fewest cycles from a load to the use of its value as an address, of any core: Arm Cortex-A55
/// takes 2, most take 3 to 5.
pub const LEAST_LOAD_CYCLES: f64 = 2.0;

const EVERY_WIDTH: ByWidth = to_512(MOST_INSTRUCTIONS, MOST_INSTRUCTIONS);

/// Bounds that no core of any kind exceeds: for designs of which a figure is unknown. That a known
/// core is slower proves nothing about an unknown one. Some dividers are pipelined, so a division
/// counts as any other instruction.
pub const ANY_CORE: Row = Row {
    id: "any",
    multiply_add: EVERY_WIDTH,
    float_add: EVERY_WIDTH,
    float_multiply: EVERY_WIDTH,
    fma: EVERY_WIDTH,
    int_add: EVERY_WIDTH,
    int_multiply: Some(MOST_INSTRUCTIONS),
    float_divide_cycles: to_512(1.0 / MOST_INSTRUCTIONS, 1.0 / MOST_INSTRUCTIONS),
    int_divide_cycles: Some(1.0 / MOST_INSTRUCTIONS),
    source: "Arm and Apple on the decoders of Cortex-X925 and M4",
    note: "",
    wide_varies: false,
    l1_cycles: Some(LEAST_LOAD_CYCLES),
    l2_cycles: None,
    loads: EVERY_WIDTH,
    stores: EVERY_WIDTH,
    l2_bytes: None,
    lines: None,
    dram: None,
    memory_source: "Arm Cortex-A55 Software Optimization Guide, load latency",
};

/// No known figure, or no such instruction.
const NONE: ByWidth = ByWidth { scalar: None, v128: None, v256: None, v512: None };

/// The same figure for scalars and vectors of 128 and 256 bits.
const fn to_256(rate: f64) -> ByWidth {
    ByWidth { scalar: Some(rate), v128: Some(rate), v256: Some(rate), v512: None }
}

/// One figure up to 256 bits and another for 512.
const fn to_512(rate: f64, wide: f64) -> ByWidth {
    ByWidth { scalar: Some(rate), v128: Some(rate), v256: Some(rate), v512: Some(wide) }
}

/// One figure for scalars and 128 bits only.
const fn to_128(rate: f64) -> ByWidth {
    ByWidth { scalar: Some(rate), v128: Some(rate), v256: None, v512: None }
}

/// Scalars and 128 bits at one figure, 256 bits at another.
const fn split_256(rate: f64, wide: f64) -> ByWidth {
    ByWidth { scalar: Some(rate), v128: Some(rate), v256: Some(wide), v512: None }
}

/// Memory of one socket.
#[derive(Debug, Clone, Copy)]
pub struct Dram {
    /// Channels of 64 bits.
    pub channels: f64,
    /// Transfers per second of each channel.
    pub transfers_per_s: f64,
    /// The product with this memory, the largest of its design.
    pub product: &'static str,
    /// True if boards commonly run modules faster than the product's specification.
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

/// One core of a design.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Id as in `host.cpu.microarchitecture`.
    pub id: &'static str,
    /// Multiplications and additions in equal numbers, not fused: instructions per cycle.
    pub multiply_add: ByWidth,
    /// Floating-point additions alone: instructions per cycle.
    pub float_add: ByWidth,
    /// Floating-point multiplications alone: instructions per cycle.
    pub float_multiply: ByWidth,
    /// Fused multiply-adds: instructions per cycle.
    pub fma: ByWidth,
    /// Integer additions: instructions per cycle.
    pub int_add: ByWidth,
    /// 64-bit integer multiplications, scalar: instructions per cycle.
    pub int_multiply: Option<f64>,
    /// f64 division: fewest cycles from one to the next.
    pub float_divide_cycles: ByWidth,
    /// 64-bit integer division, scalar: fewest cycles from one to the next.
    pub int_divide_cycles: Option<f64>,
    /// Source of the figures above.
    pub source: &'static str,
    /// Note on these figures; may be empty.
    pub note: &'static str,
    /// True if products differ in their 512-bit units, so half of the 512-bit figure is normal.
    pub wide_varies: bool,
    /// Cycles from a load to the use of its value as an address, L1 hit.
    pub l1_cycles: Option<f64>,
    /// The same for an L2 hit.
    pub l2_cycles: Option<f64>,
    /// Load instructions started per cycle, L1 hits.
    pub loads: ByWidth,
    /// Store instructions written to the L1 cache per cycle.
    pub stores: ByWidth,
    /// Bytes per cycle from the L2 cache to one core.
    pub l2_bytes: Option<f64>,
    /// Most lines in flight of one core: the greater of those that its L1 and its L2 cache track,
    /// since prefetchers fill L2.
    pub lines: Option<f64>,
    /// The most memory bandwidth of a socket.
    pub dram: Option<Dram>,
    /// Source of the figures of caches and memory.
    pub memory_source: &'static str,
}

impl Row {
    /// Bytes per cycle that loops can count from and to the L1 cache, with these numbers of streams
    /// read and written. The narrower of the load and store sides decides.
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
pub const ALL: &[&[Row]] = &[intel::ROWS, amd::ROWS, arm::ROWS];

/// All rows of all vendors.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    ALL.iter().flat_map(|vendor| vendor.iter())
}

/// The row of a design.
pub fn find(id: &str) -> Option<&'static Row> {
    rows().find(|row| row.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique_words_and_rows_cite_their_sources() {
        let mut seen = BTreeSet::new();
        for row in rows() {
            let id = row.id;
            assert!(seen.insert(id), "{id} twice");
            let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(id.chars().all(word), "{id}");
            assert!(row.source.len().min(row.memory_source.len()) > 20, "{id} cites no source");
            assert!(!row.wide_varies || !row.note.is_empty(), "{id} has no note on what varies");
            assert!(row.dram.is_none_or(|d| d.product.len() > 5), "{id} names no product");
        }
    }

    #[test]
    fn figures_are_possible() {
        for row in rows() {
            let id = row.id;
            let within = |value: Option<f64>, low: f64, high: f64| {
                assert!(value.is_none_or(|v| (low..=high).contains(&v)), "{id}: {value:?}");
            };
            for width in [Width::Scalar, Width::V128, Width::V256, Width::V512] {
                let ports =
                    [row.multiply_add, row.float_add, row.float_multiply, row.fma, row.int_add];
                let [both, add, multiply, ..] = ports.map(|rate| {
                    within(rate.at(width), 0.5, 8.0);
                    rate.at(width)
                });
                // A stream of both kinds uses at most the ports of both.
                let together = add.zip(multiply).map(|(a, m)| a + m);
                assert!(both.zip(together).is_none_or(|(both, all)| both <= all), "{id}");
                within(row.loads.at(width), 0.5, 4.0);
                within(row.stores.at(width), 0.5, 2.0);
                assert!(row.stores.at(width) <= row.loads.at(width), "{id}");
                assert!(ports.iter().all(|r| r.v256.is_none() || r.v256 <= r.v128), "{id}");
            }
            within(row.l1_cycles, 3.0, 6.0);
            within(row.l2_cycles, 9.0, 20.0);
            within(row.l2_bytes, 16.0, 128.0);
            within(row.lines, 10.0, 128.0);
            within(row.dram.map(|d| d.channels), 1.0, 12.0);
            within(row.dram.map(|d| d.transfers_per_s), 1600e6, 8800e6);
        }
    }

    #[test]
    fn the_bounds_of_any_core_are_above_every_row() {
        for row in rows() {
            for width in [Width::Scalar, Width::V128, Width::V256, Width::V512] {
                let figures = |row: &Row| {
                    let rates = [
                        row.multiply_add,
                        row.float_add,
                        row.float_multiply,
                        row.fma,
                        row.int_add,
                        row.loads,
                        row.stores,
                    ];
                    let times = [row.float_divide_cycles.at(width), row.int_divide_cycles];
                    let times = times.into_iter().chain([row.l1_cycles]).map(|c| Some(1.0 / c?));
                    let rates = rates.into_iter().map(|rate| rate.at(width));
                    rates.chain(times).chain([row.int_multiply]).collect::<Vec<_>>()
                };
                for (n, (own, most)) in figures(row).into_iter().zip(figures(&ANY_CORE)).enumerate()
                {
                    assert!(most.is_some() && own <= most, "{} {width:?}, figure {n}", row.id);
                }
            }
        }
    }

    #[test]
    fn measured_and_printed_figures_of_designs_are_kept() {
        type Figure = fn(&Row) -> Option<f64>;
        // Product pages: Xeon 6980P 844.8 GB/s, EPYC 9654 460.8, EPYC 7763 204.8,
        // Xeon E7-8890 v3 102.
        let bus: Figure = |d| d.dram.map(|d| (d.channels * d.transfers_per_s * 8.0 / 1e8).round());
        let figures: [(&str, Figure, Option<f64>); 15] = [
            ("golden_cove_server", |d| d.multiply_add.v256, Some(3.0)),
            ("golden_cove_server", |d| d.int_add.scalar, Some(5.0)),
            ("golden_cove_server", |d| d.fma.v512, Some(2.0)),
            ("golden_cove", |d| d.l1_cycles, Some(5.0)),
            ("zen3", |d| d.multiply_add.v256, Some(4.0)),
            ("zen3", |d| d.int_add.v256, Some(4.0)),
            ("zen3", |d| d.fma.v512, None),
            ("zen4", |d| d.fma.v512, Some(1.0)),
            ("rocket_lake", |d| d.fma.v512, Some(1.0)),
            ("sandy_bridge", |d| d.int_add.v256, None),
            ("skylake", |d| d.l2_cycles, Some(12.0)),
            ("redwood_cove_server", bus, Some(8448.0)),
            ("zen4", bus, Some(4608.0)),
            ("zen3", bus, Some(2048.0)),
            ("haswell", bus, Some(1024.0)),
        ];
        for (n, (id, figure, expected)) in figures.into_iter().enumerate() {
            assert_eq!(figure(find(id).unwrap()), expected, "row {n}: {id}");
        }
    }

    #[test]
    fn the_narrower_side_decides() {
        let row = find("redwood_cove_server").unwrap();
        for (read, written, width, bytes) in [
            (1.0, 0.0, Width::V512, 128.0),
            (1.0, 0.0, Width::V256, 96.0),
            // One 64-byte load and one 64-byte store a cycle; two loads and one store.
            (1.0, 1.0, Width::V512, 128.0),
            (2.0, 1.0, Width::V512, 192.0),
            (0.0, 1.0, Width::V256, 64.0),
        ] {
            assert_eq!(row.l1_bytes(read, written, width), Some(bytes), "{read} {written}");
        }
        assert_eq!(find("haswell").unwrap().l1_bytes(1.0, 0.0, Width::V512), None);
    }
}
