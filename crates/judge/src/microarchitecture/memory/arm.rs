//! Arm cores. Who builds them decides the memory, so the rows name the largest
//! server product that is known for the design, or none.

use super::{MemoryRow, server};
use crate::microarchitecture::{NONE, to_128};

const CORTEX_A72: MemoryRow = MemoryRow {
    id: "cortex_a72",
    l1_cycles: Some(4.0),
    l2_cycles: None,
    loads: to_128(1.0),
    stores: to_128(1.0),
    l2_bytes: None,
    lines: None,
    dram: None,
    source: "Arm Cortex-A72 Software Optimization Guide, load and store instructions",
};

const CORTEX_A76: MemoryRow = MemoryRow {
    id: "cortex_a76",
    l2_cycles: Some(9.0),
    loads: to_128(2.0),
    stores: to_128(2.0),
    l2_bytes: Some(32.0),
    source: "Arm Cortex-A76 Software Optimization Guide, load and store instructions; Arm, \
             Cortex-A76 presentation (2018), 9 cycles to the second level",
    ..CORTEX_A72
};

const NEOVERSE_V1: MemoryRow = MemoryRow {
    id: "neoverse_v1",
    l2_cycles: Some(10.0),
    loads: to_128(3.0),
    stores: to_128(2.0),
    l2_bytes: None,
    dram: server(8.0, 4800.0, "Graviton3, 8 channels of DDR5-4800"),
    source: "Arm Neoverse V1 Software Optimization Guide, load and store instructions; AWS, \
             Graviton3 presentation (2021)",
    ..CORTEX_A72
};

pub(super) const ROWS: &[MemoryRow] = &[
    CORTEX_A72,
    CORTEX_A76,
    MemoryRow {
        id: "neoverse_n1",
        dram: server(8.0, 3200.0, "Altra and Graviton2, 8 channels of DDR4-3200"),
        source: "Arm Neoverse N1 Software Optimization Guide; Chips and Cheese, Deep Diving \
                 Neoverse N1 (2021); Ampere product pages, Altra",
        ..CORTEX_A76
    },
    MemoryRow {
        id: "neoverse_n2",
        l2_cycles: None,
        dram: None,
        source: "Arm Neoverse N2 Software Optimization Guide, load and store instructions",
        ..NEOVERSE_V1
    },
    NEOVERSE_V1,
    MemoryRow {
        id: "neoverse_v2",
        dram: server(8.0, 8533.0, "Grace, 512 bits of LPDDR5X-8533 (Graviton4: 12 of DDR5-5600)"),
        source: "Arm Neoverse V2 Software Optimization Guide; Arm at Hot Chips 2023, Neoverse V2; \
                 NVIDIA, Grace CPU; AWS, Graviton4",
        ..NEOVERSE_V1
    },
    MemoryRow {
        id: "neoverse_v3",
        l2_cycles: None,
        loads: NONE,
        stores: NONE,
        dram: None,
        source: "Arm Neoverse V3 Software Optimization Guide, latency of a load",
        ..NEOVERSE_V1
    },
];
