//! Arm cores.
//!
//! Only the portable path runs here so far, which needs the scalar figures; the 128-bit ones are
//! those of the same pipes. The vendor of a core decides the memory, so the rows name the largest
//! known server product of the design, or none.

use super::{ByWidth, NONE, Row, server, to_128};

const fn ints(scalar: f64, vector: f64) -> ByWidth {
    ByWidth { scalar: Some(scalar), v128: Some(vector), v256: None, v512: None }
}

const CORTEX_A72: Row = Row {
    id: "cortex_a72",
    // Two FP/ASIMD pipes, each with add, multiply and FMA.
    multiply_add: to_128(2.0),
    float_add: to_128(2.0),
    float_multiply: to_128(2.0),
    fma: to_128(2.0),
    int_add: ints(2.0, 2.0),
    int_multiply: Some(1.0),
    float_divide_cycles: NONE,
    int_divide_cycles: None,
    source: "Arm Cortex-A72 Software Optimization Guide, instruction characteristics",
    note: "",
    wide_varies: false,
    l1_cycles: Some(4.0),
    l2_cycles: None,
    loads: to_128(1.0),
    stores: to_128(1.0),
    l2_bytes: None,
    lines: None,
    dram: None,
    memory_source: "Arm Cortex-A72 Software Optimization Guide, load and store instructions",
};

const CORTEX_A76: Row = Row {
    id: "cortex_a76",
    // Three integer ALUs.
    int_add: ints(3.0, 2.0),
    source: "Arm Cortex-A76 Software Optimization Guide, instruction characteristics",
    l2_cycles: Some(9.0),
    loads: to_128(2.0),
    stores: to_128(2.0),
    l2_bytes: Some(32.0),
    memory_source: "Arm Cortex-A76 Software Optimization Guide, load and store instructions; Arm, \
             Cortex-A76 presentation (2018), 9 cycles to the second level",
    ..CORTEX_A72
};

const NEOVERSE_N1: Row = Row {
    id: "neoverse_n1",
    source: "Arm Neoverse N1 Software Optimization Guide, instruction characteristics",
    dram: server(8.0, 3200.0, "Altra and Graviton2, 8 channels of DDR4-3200"),
    memory_source: "Arm Neoverse N1 Software Optimization Guide; Chips and Cheese, Deep Diving \
             Neoverse N1 (2021); Ampere product pages, Altra",
    ..CORTEX_A76
};

const NEOVERSE_V1: Row = Row {
    id: "neoverse_v1",
    multiply_add: to_128(4.0),
    float_add: to_128(4.0),
    float_multiply: to_128(4.0),
    fma: to_128(4.0),
    int_add: ints(4.0, 4.0),
    int_multiply: Some(2.0),
    source: "Arm Neoverse V1 Software Optimization Guide, instruction characteristics",
    l2_cycles: Some(10.0),
    loads: to_128(3.0),
    stores: to_128(2.0),
    dram: server(8.0, 4800.0, "Graviton3, 8 channels of DDR5-4800"),
    memory_source: "Arm Neoverse V1 Software Optimization Guide, load and store instructions; AWS, \
             Graviton3 presentation (2021)",
    ..CORTEX_A72
};

const NEOVERSE_V2: Row = Row {
    id: "neoverse_v2",
    int_add: ints(6.0, 4.0),
    source: "Arm Neoverse V2 Software Optimization Guide, instruction characteristics",
    dram: server(8.0, 8533.0, "Grace, 512 bits of LPDDR5X-8533 (Graviton4: 12 of DDR5-5600)"),
    memory_source: "Arm Neoverse V2 Software Optimization Guide; Arm at Hot Chips 2023, Neoverse \
             V2; NVIDIA, Grace CPU; AWS, Graviton4",
    ..NEOVERSE_V1
};

pub(super) const ROWS: &[Row] = &[
    CORTEX_A72,
    CORTEX_A76,
    NEOVERSE_N1,
    Row {
        id: "neoverse_n2",
        int_add: ints(4.0, 2.0),
        int_multiply: Some(2.0),
        source: "Arm Neoverse N2 Software Optimization Guide, instruction characteristics",
        l2_cycles: None,
        loads: to_128(3.0),
        l2_bytes: None,
        dram: None,
        memory_source: "Arm Neoverse N2 Software Optimization Guide, load and store instructions",
        ..NEOVERSE_N1
    },
    NEOVERSE_V1,
    NEOVERSE_V2,
    Row {
        id: "neoverse_v3",
        int_add: ints(8.0, 4.0),
        source: "Arm Neoverse V3 Software Optimization Guide, instruction characteristics",
        l2_cycles: None,
        loads: NONE,
        stores: NONE,
        dram: None,
        memory_source: "Arm Neoverse V3 Software Optimization Guide, latency of a load",
        ..NEOVERSE_V2
    },
];
