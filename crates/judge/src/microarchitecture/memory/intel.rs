//! Intel cores.

use super::{Dram, MemoryRow, client, server};
use crate::microarchitecture::{split_256, to_256, to_512};

const SANDY_BRIDGE: MemoryRow = MemoryRow {
    id: "sandy_bridge",
    l1_cycles: Some(4.0),
    l2_cycles: Some(12.0),
    // Two 128-bit load ports, one 128-bit store port.
    loads: split_256(2.0, 1.0),
    stores: split_256(1.0, 0.5),
    l2_bytes: Some(32.0),
    // 10 fill buffers; 16 entries in the second level's queue.
    lines: Some(16.0),
    dram: server(4.0, 1600.0, "Xeon E5-2600, 4 channels of DDR3-1600"),
    source: "Intel Optimization Reference Manual, Sandy Bridge, cache hierarchy; Intel product \
             pages, Xeon E5",
};

const HASWELL: MemoryRow = MemoryRow {
    id: "haswell",
    l2_cycles: Some(11.0),
    loads: to_256(2.0),
    stores: to_256(1.0),
    l2_bytes: Some(64.0),
    dram: server(4.0, 3200.0, "Xeon E7 v3, 4 memory links at 3200 MT/s"),
    source: "Intel Optimization Reference Manual, Haswell, cache parameters; Intel product pages, \
             Xeon E7 v3 (102 GB/s)",
    ..SANDY_BRIDGE
};

const SKYLAKE: MemoryRow = MemoryRow {
    id: "skylake",
    l2_cycles: Some(12.0),
    dram: client(2.0, 2933.0, "Core i9-10900, 2 channels of DDR4-2933"),
    source: "Intel Optimization Reference Manual, Skylake client, cache parameters; Intel product \
             pages, 10th generation Core",
    ..HASWELL
};

const SKYLAKE_SERVER: MemoryRow = MemoryRow {
    id: "skylake_server",
    l2_cycles: Some(14.0),
    loads: to_512(2.0, 2.0),
    stores: to_512(1.0, 1.0),
    // The larger second level's queue is not documented.
    lines: None,
    dram: Some(Dram {
        channels: 6.0,
        transfers_per_s: 3200e6,
        product: "Cooper Lake, 6 channels of DDR4-3200 (Cascade Lake 2933, Skylake 2666)",
        tuned: false,
        // Two dies in a package, 12 channels.
        apart: &["Platinum 92"],
    }),
    source: "Intel Optimization Reference Manual, Skylake server, cache hierarchy; Intel product \
             pages, Xeon Scalable, first to third generation",
    ..SKYLAKE
};

const ICE_LAKE: MemoryRow = MemoryRow {
    id: "ice_lake",
    l1_cycles: Some(5.0),
    l2_cycles: Some(13.0),
    loads: to_512(2.0, 2.0),
    // Two stores a cycle to one line; 64 bytes of data.
    stores: to_512(2.0, 1.0),
    lines: Some(32.0),
    dram: client(2.0, 4267.0, "Tiger Lake, 128 bits of LPDDR4X-4267"),
    source: "Intel Optimization Reference Manual, Ice Lake client; Intel, Architecture Day 2021 \
             (second level 32 to 48 lines with Golden Cove); Intel product pages",
    ..SKYLAKE
};

const GOLDEN_COVE: MemoryRow = MemoryRow {
    id: "golden_cove",
    l2_cycles: Some(14.0),
    // Three 256-bit loads or two of 512 bits; two stores of up to 256 bits.
    loads: to_512(3.0, 2.0),
    stores: to_512(2.0, 1.0),
    // 16 fill buffers; 48 lines in the second level.
    lines: Some(48.0),
    dram: client(2.0, 6400.0, "Raptor Lake-P, 128 bits of LPDDR5X-6400"),
    source: "Intel Optimization Reference Manual, Golden Cove; Intel, Architecture Day 2021; Chips \
             and Cheese, Popping the Hood on Golden Cove (2021); Intel product pages",
    ..ICE_LAKE
};

const REDWOOD_COVE: MemoryRow = MemoryRow {
    id: "redwood_cove",
    lines: Some(64.0),
    dram: client(2.0, 7467.0, "Meteor Lake, 128 bits of LPDDR5X-7467"),
    source: "Intel Optimization Reference Manual, Redwood Cove (48 to 64 lines in the second level; \
             else as Golden Cove); Intel product pages, Core Ultra",
    ..GOLDEN_COVE
};

const GRACEMONT: MemoryRow = MemoryRow {
    id: "gracemont",
    l1_cycles: Some(3.0),
    l2_cycles: Some(17.0),
    // Two 128-bit loads and two 128-bit stores.
    loads: split_256(2.0, 1.0),
    stores: split_256(2.0, 1.0),
    // To the cluster of four cores; one core can have all of it.
    l2_bytes: Some(64.0),
    lines: Some(64.0),
    dram: client(1.0, 4800.0, "Alder Lake-N, one channel of DDR5-4800"),
    source: "Intel, Architecture Day 2021, Gracemont (64 bytes a cycle, 64 lines in the second \
             level); uops.info, Alder Lake-E; Intel product pages",
};

pub(super) const ROWS: &[MemoryRow] = &[
    SANDY_BRIDGE,
    MemoryRow {
        id: "ivy_bridge",
        dram: server(4.0, 2667.0, "Xeon E7 v2, 4 memory links at 2667 MT/s"),
        source: "Intel Optimization Reference Manual, Ivy Bridge (as Sandy Bridge); Intel product \
                 pages, Xeon E7 v2 (85 GB/s)",
        ..SANDY_BRIDGE
    },
    HASWELL,
    MemoryRow {
        id: "broadwell",
        dram: server(4.0, 3200.0, "Xeon E7 v4, 4 memory links at 3200 MT/s"),
        source: "Intel Optimization Reference Manual, Broadwell (as Haswell); Intel product pages, \
                 Xeon E7 v4 (102 GB/s)",
        ..HASWELL
    },
    SKYLAKE,
    SKYLAKE_SERVER,
    ICE_LAKE,
    MemoryRow {
        id: "rocket_lake",
        dram: client(2.0, 3200.0, "Rocket Lake, 2 channels of DDR4-3200"),
        source: "Intel Optimization Reference Manual, Ice Lake client; Intel product pages, 11th \
                 generation Core",
        ..ICE_LAKE
    },
    MemoryRow {
        id: "ice_lake_server",
        dram: server(8.0, 3200.0, "Ice Lake-SP, 8 channels of DDR4-3200"),
        source: "Intel Optimization Reference Manual, Ice Lake; Intel product pages, Xeon Scalable, \
                 third generation",
        ..ICE_LAKE
    },
    GOLDEN_COVE,
    MemoryRow {
        id: "golden_cove_server",
        dram: Some(Dram {
            channels: 8.0,
            transfers_per_s: 5600e6,
            product: "Emerald Rapids, 8 channels of DDR5-5600 (Sapphire Rapids 4800)",
            tuned: false,
            // High-bandwidth memory on the package.
            apart: &["CPU Max"],
        }),
        source: "Intel Optimization Reference Manual, Golden Cove; Intel product pages, Xeon \
                 Scalable, fourth and fifth generation",
        ..GOLDEN_COVE
    },
    REDWOOD_COVE,
    MemoryRow {
        id: "redwood_cove_server",
        dram: server(12.0, 8800.0, "Granite Rapids, 12 channels of MRDIMM-8800 (DDR5-6400)"),
        source: "Intel Optimization Reference Manual, Redwood Cove (48 to 64 lines in the second \
                 level; else as Golden Cove); Intel product pages, Xeon 6900P",
        ..REDWOOD_COVE
    },
    MemoryRow {
        id: "lion_cove",
        l1_cycles: Some(4.0),
        // Three levels of its own: what a system calls the second differs.
        l2_cycles: None,
        loads: to_256(3.0),
        stores: to_256(2.0),
        l2_bytes: None,
        lines: None,
        dram: client(2.0, 8533.0, "Lunar Lake, 128 bits of LPDDR5X-8533"),
        source: "Intel, Lunar Lake architecture presentation (2024); Intel product pages, Core Ultra \
                 200V",
    },
    GRACEMONT,
    MemoryRow {
        id: "crestmont",
        l2_cycles: None,
        dram: server(12.0, 6400.0, "Sierra Forest, 12 channels of DDR5-6400"),
        source: "uops.info, Meteor Lake-E (loads and stores as Gracemont); Intel product pages, Xeon \
                 6900E",
        ..GRACEMONT
    },
];
