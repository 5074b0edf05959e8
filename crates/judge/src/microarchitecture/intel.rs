//! Intel cores.
//!
//! The scheduler ports (p0, p1, ...) behind each figure are in the comments.

use super::{ByWidth, NONE, Row, split_256, to_256, to_512};

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
};

const IVY_BRIDGE: Row = Row {
    id: "ivy_bridge",
    float_divide_cycles: split_256(8.0, 16.0),
    source: "Agner Fog, Instruction tables, Ivy Bridge; uops.info, Ivy Bridge",
    ..SANDY_BRIDGE
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
    ..SANDY_BRIDGE
};

const BROADWELL: Row = Row {
    id: "broadwell",
    float_divide_cycles: split_256(4.0, 8.0),
    source: "Agner Fog, Instruction tables, Broadwell; uops.info, Broadwell",
    ..HASWELL
};

const SKYLAKE: Row = Row {
    id: "skylake",
    // Add, multiply and FMA on p0 and p1.
    multiply_add: to_256(2.0),
    float_add: to_256(2.0),
    float_multiply: to_256(2.0),
    fma: to_256(2.0),
    // Scalar p0, p1, p5, p6; vector p0, p1, p5.
    int_add: ByWidth { scalar: Some(4.0), v128: Some(3.0), v256: Some(3.0), v512: None },
    int_multiply: Some(1.0),
    float_divide_cycles: split_256(4.0, 8.0),
    int_divide_cycles: Some(20.0),
    source: "Intel Optimization Reference Manual, Skylake client; uops.info, Skylake",
    note: "",
    wide_varies: false,
};

/// What a server core with a second 512-bit unit on p5 adds.
const SKYLAKE_SERVER: Row = Row {
    id: "skylake_server",
    fma: to_512(2.0, 2.0),
    int_add: ByWidth { scalar: Some(4.0), v128: Some(3.0), v256: Some(3.0), v512: Some(2.0) },
    source: "Intel Optimization Reference Manual, Skylake server; uops.info, Skylake-X",
    note: "some Xeon models have one 512-bit FMA unit: then the 512-bit figure is half of this",
    wide_varies: true,
    ..SKYLAKE
};

const ICE_LAKE: Row = Row {
    id: "ice_lake",
    // 512-bit FMA on p0 only; 512-bit integer addition on p0 and p5.
    fma: to_512(2.0, 1.0),
    int_add: ByWidth { scalar: Some(4.0), v128: Some(3.0), v256: Some(3.0), v512: Some(2.0) },
    int_divide_cycles: Some(10.0),
    source: "Intel Optimization Reference Manual, Ice Lake client; uops.info, Ice Lake",
    ..SKYLAKE
};

const ICE_LAKE_SERVER: Row = Row {
    id: "ice_lake_server",
    fma: to_512(2.0, 2.0),
    source: "Intel Optimization Reference Manual, Ice Lake; Intel product data, FMA units of Xeon",
    note: "some Xeon models have one 512-bit FMA unit: then the 512-bit figure is half of this",
    wide_varies: true,
    ..ICE_LAKE
};

const GOLDEN_COVE: Row = Row {
    id: "golden_cove",
    // Multiply and FMA on p0 and p1, add on p1 and p5: three ports in all.
    multiply_add: to_256(3.0),
    // 512-bit FMA on p0 (p0 and p1 joined) and p5.
    fma: to_512(2.0, 2.0),
    // Scalar p0, p1, p5, p6, p10; vector p0, p1, p5; 512-bit p0, p5.
    int_add: ByWidth { scalar: Some(5.0), v128: Some(3.0), v256: Some(3.0), v512: Some(2.0) },
    int_divide_cycles: Some(10.0),
    source: "Intel Optimization Reference Manual, Golden Cove; uops.info, Alder Lake-P",
    note: "client products have one 512-bit FMA unit where 512 bits are switched on at all: then \
           the 512-bit figure is half of this",
    wide_varies: true,
    ..SKYLAKE
};

const GOLDEN_COVE_SERVER: Row = Row {
    id: "golden_cove_server",
    source: "Intel Optimization Reference Manual, Golden Cove; uops.info, Emerald Rapids",
    note: "",
    wide_varies: false,
    ..GOLDEN_COVE
};

const LION_COVE: Row = Row {
    id: "lion_cove",
    // Four vector ports: two with FMA and multiply, two with add; six integer ALUs.
    multiply_add: to_256(4.0),
    int_add: ByWidth { scalar: Some(6.0), v128: Some(4.0), v256: Some(4.0), v512: None },
    fma: to_256(2.0),
    int_multiply: Some(3.0),
    float_divide_cycles: NONE,
    int_divide_cycles: None,
    source: "Intel, Lunar Lake architecture presentation (2024), execution ports of Lion Cove",
    note: "from the vendor's block diagram, not from measured tables",
    wide_varies: false,
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
};

pub(super) const ROWS: &[Row] = &[
    SANDY_BRIDGE,
    IVY_BRIDGE,
    HASWELL,
    BROADWELL,
    SKYLAKE,
    SKYLAKE_SERVER,
    ICE_LAKE,
    Row { id: "rocket_lake", source: "uops.info, Rocket Lake (as Ice Lake)", ..ICE_LAKE },
    ICE_LAKE_SERVER,
    GOLDEN_COVE,
    Row { id: "redwood_cove", source: "uops.info, Meteor Lake-P (as Golden Cove)", ..GOLDEN_COVE },
    GOLDEN_COVE_SERVER,
    Row {
        id: "redwood_cove_server",
        source: "Intel Optimization Reference Manual, Redwood Cove (ports as Golden Cove); \
                 uops.info, Emerald Rapids",
        ..GOLDEN_COVE_SERVER
    },
    LION_COVE,
    GRACEMONT,
    Row { id: "crestmont", source: "uops.info, Meteor Lake-E (as Gracemont)", ..GRACEMONT },
];
