//! Intel cores.
//!
//! The scheduler ports (p0, p1, ...) behind each figure are in the comments.

use super::{ByWidth, Dram, NONE, Row, client, server, split_256, to_256, to_512};

const SANDY_BRIDGE: Row = Row {
    id: "sandy_bridge",
    // Multiply on p0, add on p1.
    multiply_add: to_256(2.0),
    float_add: to_256(1.0),
    float_multiply: to_256(1.0),
    fma: NONE,
    // Scalar p0, p1, p5; 128-bit p1, p5; no 256-bit integers.
    int_add: ByWidth { scalar: Some(3.0), v128: Some(2.0), v256: None, v512: None },
    int_multiply: Some(1.0),
    float_divide_cycles: split_256(10.0, 20.0),
    int_divide_cycles: Some(20.0),
    source: "Agner Fog, Instruction tables, Sandy Bridge; uops.info, Sandy Bridge",
    note: "",
    wide_varies: false,
    l1_cycles: Some(4.0),
    l2_cycles: Some(12.0),
    // Two 128-bit load ports, one 128-bit store port.
    loads: split_256(2.0, 1.0),
    stores: split_256(1.0, 0.5),
    l2_bytes: Some(32.0),
    // 10 fill buffers; 16 entries in the queue of the L2 cache.
    lines: Some(16.0),
    dram: server(4.0, 1600.0, "Xeon E5-2600, 4 channels of DDR3-1600"),
    memory_source: "Intel Optimization Reference Manual, Sandy Bridge, cache hierarchy; Intel \
             product pages, Xeon E5",
};

const HASWELL: Row = Row {
    id: "haswell",
    // Multiply and FMA on p0 and p1, add on p1 only.
    float_multiply: to_256(2.0),
    fma: to_256(2.0),
    // Scalar p0, p1, p5, p6; vector p1, p5.
    int_add: ByWidth { scalar: Some(4.0), v128: Some(2.0), v256: Some(2.0), v512: None },
    float_divide_cycles: split_256(8.0, 16.0),
    source: "Intel Optimization Reference Manual, Haswell; Agner Fog, Instruction tables, Haswell",
    l2_cycles: Some(11.0),
    loads: to_256(2.0),
    stores: to_256(1.0),
    l2_bytes: Some(64.0),
    dram: server(4.0, 3200.0, "Xeon E7 v3, 4 memory links at 3200 MT/s"),
    memory_source: "Intel Optimization Reference Manual, Haswell, cache parameters; Intel product \
             pages, Xeon E7 v3 (102 GB/s)",
    ..SANDY_BRIDGE
};

const SKYLAKE: Row = Row {
    id: "skylake",
    // Add, multiply and FMA on p0 and p1.
    float_add: to_256(2.0),
    // Scalar p0, p1, p5, p6; vector p0, p1, p5.
    int_add: ByWidth { scalar: Some(4.0), v128: Some(3.0), v256: Some(3.0), v512: None },
    float_divide_cycles: split_256(4.0, 8.0),
    source: "Intel Optimization Reference Manual, Skylake client; uops.info, Skylake",
    l2_cycles: Some(12.0),
    dram: client(2.0, 2933.0, "Core i9-10900, 2 channels of DDR4-2933"),
    memory_source: "Intel Optimization Reference Manual, Skylake client, cache parameters; Intel \
             product pages, 10th generation Core",
    ..HASWELL
};

/// Server cores with a second 512-bit unit on p5.
const SKYLAKE_SERVER: Row = Row {
    id: "skylake_server",
    fma: to_512(2.0, 2.0),
    int_add: ByWidth { scalar: Some(4.0), v128: Some(3.0), v256: Some(3.0), v512: Some(2.0) },
    source: "Intel Optimization Reference Manual, Skylake server; uops.info, Skylake-X",
    note: "some Xeon models have one 512-bit FMA unit: then the 512-bit figure is half of this",
    wide_varies: true,
    l2_cycles: Some(14.0),
    loads: to_512(2.0, 2.0),
    stores: to_512(1.0, 1.0),
    // The queue of the larger L2 cache is not documented.
    lines: None,
    dram: Some(Dram {
        channels: 6.0,
        transfers_per_s: 3200e6,
        product: "Cooper Lake, 6 channels of DDR4-3200 (Cascade Lake 2933, Skylake 2666)",
        tuned: false,
        // Two dies in a package, 12 channels.
        apart: &["Platinum 92"],
    }),
    memory_source: "Intel Optimization Reference Manual, Skylake server, cache hierarchy; Intel \
             product pages, Xeon Scalable, first to third generation",
    ..SKYLAKE
};

const ICE_LAKE: Row = Row {
    id: "ice_lake",
    // 512-bit FMA on p0 only; 512-bit integer addition on p0 and p5.
    fma: to_512(2.0, 1.0),
    int_add: ByWidth { scalar: Some(4.0), v128: Some(3.0), v256: Some(3.0), v512: Some(2.0) },
    int_divide_cycles: Some(10.0),
    source: "Intel Optimization Reference Manual, Ice Lake client; uops.info, Ice Lake",
    l1_cycles: Some(5.0),
    l2_cycles: Some(13.0),
    loads: to_512(2.0, 2.0),
    // Two stores per cycle to one line; 64 bytes of data.
    stores: to_512(2.0, 1.0),
    lines: Some(32.0),
    dram: client(2.0, 4267.0, "Tiger Lake, 128 bits of LPDDR4X-4267"),
    memory_source: "Intel Optimization Reference Manual, Ice Lake client; Intel, Architecture Day \
             2021 (second level 32 to 48 lines with Golden Cove); Intel product pages",
    ..SKYLAKE
};

const GOLDEN_COVE: Row = Row {
    id: "golden_cove",
    // Multiply and FMA on p0 and p1, add on p1 and p5: three ports in all.
    multiply_add: to_256(3.0),
    // 512-bit FMA on p0 (p0 and p1 joined) and p5.
    fma: to_512(2.0, 2.0),
    // Scalar p0, p1, p5, p6, p10; vector p0, p1, p5; 512-bit p0, p5.
    int_add: ByWidth { scalar: Some(5.0), v128: Some(3.0), v256: Some(3.0), v512: Some(2.0) },
    source: "Intel Optimization Reference Manual, Golden Cove; uops.info, Alder Lake-P",
    note: "client products have one 512-bit FMA unit where 512 bits are switched on at all: then \
           the 512-bit figure is half of this",
    wide_varies: true,
    l2_cycles: Some(14.0),
    // Three 256-bit loads or two of 512 bits; two stores of up to 256 bits.
    loads: to_512(3.0, 2.0),
    // 16 fill buffers; 48 lines in the L2 cache.
    lines: Some(48.0),
    dram: client(2.0, 6400.0, "Raptor Lake-P, 128 bits of LPDDR5X-6400"),
    memory_source: "Intel Optimization Reference Manual, Golden Cove; Intel, Architecture Day \
             2021; Chips and Cheese, Popping the Hood on Golden Cove (2021); Intel product pages",
    ..ICE_LAKE
};

const GOLDEN_COVE_SERVER: Row = Row {
    id: "golden_cove_server",
    source: "Intel Optimization Reference Manual, Golden Cove; uops.info, Emerald Rapids",
    note: "",
    wide_varies: false,
    dram: Some(Dram {
        channels: 8.0,
        transfers_per_s: 5600e6,
        product: "Emerald Rapids, 8 channels of DDR5-5600 (Sapphire Rapids 4800)",
        tuned: false,
        // High-bandwidth memory on the package.
        apart: &["CPU Max"],
    }),
    memory_source: "Intel Optimization Reference Manual, Golden Cove; Intel product pages, Xeon \
             Scalable, fourth and fifth generation",
    ..GOLDEN_COVE
};

const LION_COVE: Row = Row {
    id: "lion_cove",
    // Four vector ports: two with FMA and multiply, two with add; six integer ALUs.
    multiply_add: to_256(4.0),
    int_add: ByWidth { scalar: Some(6.0), v128: Some(4.0), v256: Some(4.0), v512: None },
    int_multiply: Some(3.0),
    float_divide_cycles: NONE,
    int_divide_cycles: None,
    source: "Intel, Lunar Lake architecture presentation (2024), execution ports of Lion Cove",
    note: "from the vendor's block diagram, not from measured tables",
    // Three private levels: which of them a system reports as L2 differs.
    l2_cycles: None,
    loads: to_256(3.0),
    stores: to_256(2.0),
    l2_bytes: None,
    lines: None,
    dram: client(2.0, 8533.0, "Lunar Lake, 128 bits of LPDDR5X-8533"),
    memory_source: "Intel, Lunar Lake architecture presentation (2024); Intel product pages, Core \
             Ultra 200V",
    ..SKYLAKE
};

const GRACEMONT: Row = Row {
    id: "gracemont",
    // Two 128-bit floating-point pipes; 256-bit instructions are split in two.
    multiply_add: split_256(2.0, 1.0),
    float_add: split_256(2.0, 1.0),
    float_multiply: split_256(2.0, 1.0),
    fma: split_256(2.0, 1.0),
    int_add: ByWidth { scalar: Some(4.0), v128: Some(3.0), v256: Some(1.5), v512: None },
    int_multiply: Some(1.0),
    float_divide_cycles: NONE,
    int_divide_cycles: None,
    source: "Intel Optimization Reference Manual, Gracemont; uops.info, Alder Lake-E",
    note: "",
    wide_varies: false,
    l1_cycles: Some(3.0),
    l2_cycles: Some(17.0),
    // Two 128-bit loads and two 128-bit stores.
    loads: split_256(2.0, 1.0),
    stores: split_256(2.0, 1.0),
    // To the cluster of four cores; one core can have all of it.
    l2_bytes: Some(64.0),
    lines: Some(64.0),
    dram: client(1.0, 4800.0, "Alder Lake-N, one channel of DDR5-4800"),
    memory_source: "Intel, Architecture Day 2021, Gracemont (64 bytes a cycle, 64 lines in the \
             second level); uops.info, Alder Lake-E; Intel product pages",
};

pub(super) const ROWS: &[Row] = &[
    SANDY_BRIDGE,
    Row {
        id: "ivy_bridge",
        float_divide_cycles: split_256(8.0, 16.0),
        source: "Agner Fog, Instruction tables, Ivy Bridge; uops.info, Ivy Bridge",
        dram: server(4.0, 2667.0, "Xeon E7 v2, 4 memory links at 2667 MT/s"),
        memory_source: "Intel Optimization Reference Manual, Ivy Bridge (as Sandy Bridge); Intel \
                 product pages, Xeon E7 v2 (85 GB/s)",
        ..SANDY_BRIDGE
    },
    HASWELL,
    Row {
        id: "broadwell",
        float_divide_cycles: split_256(4.0, 8.0),
        source: "Agner Fog, Instruction tables, Broadwell; uops.info, Broadwell",
        dram: server(4.0, 3200.0, "Xeon E7 v4, 4 memory links at 3200 MT/s"),
        memory_source: "Intel Optimization Reference Manual, Broadwell (as Haswell); Intel product \
                 pages, Xeon E7 v4 (102 GB/s)",
        ..HASWELL
    },
    SKYLAKE,
    SKYLAKE_SERVER,
    ICE_LAKE,
    Row {
        id: "rocket_lake",
        source: "uops.info, Rocket Lake (as Ice Lake)",
        dram: client(2.0, 3200.0, "Rocket Lake, 2 channels of DDR4-3200"),
        memory_source: "Intel Optimization Reference Manual, Ice Lake client; Intel product pages, \
                 11th generation Core",
        ..ICE_LAKE
    },
    Row {
        id: "ice_lake_server",
        fma: to_512(2.0, 2.0),
        source: "Intel Optimization Reference Manual, Ice Lake; Intel product data, FMA units of \
                 Xeon",
        note: "some Xeon models have one 512-bit FMA unit: then the 512-bit figure is half of this",
        wide_varies: true,
        dram: server(8.0, 3200.0, "Ice Lake-SP, 8 channels of DDR4-3200"),
        memory_source: "Intel Optimization Reference Manual, Ice Lake; Intel product pages, Xeon \
                 Scalable, third generation",
        ..ICE_LAKE
    },
    GOLDEN_COVE,
    Row {
        id: "redwood_cove",
        source: "uops.info, Meteor Lake-P (as Golden Cove)",
        lines: Some(64.0),
        dram: client(2.0, 7467.0, "Meteor Lake, 128 bits of LPDDR5X-7467"),
        memory_source: "Intel Optimization Reference Manual, Redwood Cove (48 to 64 lines in the \
                 second level; else as Golden Cove); Intel product pages, Core Ultra",
        ..GOLDEN_COVE
    },
    GOLDEN_COVE_SERVER,
    Row {
        id: "redwood_cove_server",
        source: "Intel Optimization Reference Manual, Redwood Cove (ports as Golden Cove); \
                 uops.info, Emerald Rapids",
        lines: Some(64.0),
        dram: server(12.0, 8800.0, "Granite Rapids, 12 channels of MRDIMM-8800 (DDR5-6400)"),
        memory_source: "Intel Optimization Reference Manual, Redwood Cove (48 to 64 lines in the \
                 second level; else as Golden Cove); Intel product pages, Xeon 6900P",
        ..GOLDEN_COVE_SERVER
    },
    LION_COVE,
    GRACEMONT,
    Row {
        id: "crestmont",
        source: "uops.info, Meteor Lake-E (as Gracemont)",
        l2_cycles: None,
        dram: server(12.0, 6400.0, "Sierra Forest, 12 channels of DDR5-6400"),
        memory_source: "uops.info, Meteor Lake-E (loads and stores as Gracemont); Intel product \
                 pages, Xeon 6900E",
        ..GRACEMONT
    },
];
