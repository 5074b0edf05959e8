//! AMD cores, family 17h and later.

use super::{ByWidth, Dram, MemoryRow, server};
use crate::microarchitecture::{split_256, to_256};

const ZEN: MemoryRow = MemoryRow {
    id: "zen",
    l1_cycles: Some(4.0),
    l2_cycles: Some(12.0),
    // Two 128-bit loads, one 128-bit store.
    loads: split_256(2.0, 1.0),
    stores: split_256(1.0, 0.5),
    l2_bytes: Some(32.0),
    // The second level's queue is not documented.
    lines: None,
    dram: server(8.0, 2666.0, "EPYC 7001, 8 channels of DDR4-2666"),
    source: "AMD Software Optimization Guide, family 17h, load-store unit and caches; AMD product \
             pages, EPYC 7001",
};

const ZEN2: MemoryRow = MemoryRow {
    id: "zen2",
    loads: to_256(2.0),
    stores: to_256(1.0),
    lines: Some(48.0),
    dram: server(8.0, 3200.0, "EPYC 7002, 8 channels of DDR4-3200"),
    source: "AMD Software Optimization Guide, family 17h models 30h and later; AMD at Hot Chips 33 \
             (2021), second to third level before Zen 3; AMD product pages, EPYC 7002",
    ..ZEN
};

const ZEN3: MemoryRow = MemoryRow {
    id: "zen3",
    // Three loads of which two may be vectors; two stores of which one may have 256 bits.
    loads: ByWidth { scalar: Some(3.0), v128: Some(2.0), v256: Some(2.0), v512: None },
    stores: ByWidth { scalar: Some(2.0), v128: Some(2.0), v256: Some(1.0), v512: None },
    lines: Some(64.0),
    dram: server(8.0, 3200.0, "EPYC 7003, 8 channels of DDR4-3200"),
    source: "AMD Software Optimization Guide, family 19h, load-store unit; AMD at Hot Chips 33 \
             (2021), 64 lines from second to third level; AMD product pages, EPYC 7003",
    ..ZEN2
};

const ZEN4: MemoryRow = MemoryRow {
    id: "zen4",
    l2_cycles: Some(14.0),
    // 512-bit accesses are done in two halves.
    loads: ByWidth { v512: Some(1.0), ..ZEN3.loads },
    stores: ByWidth { v512: Some(0.5), ..ZEN3.stores },
    lines: None,
    dram: Some(Dram {
        channels: 12.0,
        transfers_per_s: 4800e6,
        product: "EPYC 9004, 12 channels of DDR5-4800",
        tuned: false,
        // High-bandwidth memory on the package.
        apart: &["9V64H"],
    }),
    source: "AMD Software Optimization Guide, family 19h models 10h and later; Chips and Cheese, \
             AMD's Zen 4, part 2 (2022); AMD product pages, EPYC 9004",
    ..ZEN3
};

pub(super) const ROWS: &[MemoryRow] = &[
    ZEN,
    ZEN2,
    ZEN3,
    ZEN4,
    MemoryRow {
        id: "zen5",
        loads: ByWidth { scalar: Some(4.0), v128: Some(2.0), v256: Some(2.0), v512: Some(2.0) },
        stores: ByWidth { scalar: Some(2.0), v128: Some(2.0), v256: Some(2.0), v512: Some(1.0) },
        l2_bytes: Some(64.0),
        dram: server(12.0, 6400.0, "EPYC 9005, 12 channels of DDR5-6400"),
        source: "AMD Software Optimization Guide, family 1Ah; AMD at Hot Chips 2024, Zen 5; AMD \
                 product pages, EPYC 9005",
        ..ZEN4
    },
];
