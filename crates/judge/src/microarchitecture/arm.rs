//! Arm cores.
//!
//! Only the portable path runs here so far, which needs the scalar figures; the
//! 128-bit ones are those of the same pipes.

use super::{ByWidth, NONE, Row, to_128};

const fn ints(scalar: f64, vector: f64) -> ByWidth {
    ByWidth { scalar: Some(scalar), v128: Some(vector), v256: None, v512: None }
}

const NEOVERSE_N1: Row = Row {
    id: "neoverse_n1",
    // Two FP/ASIMD pipes, each with add, multiply and FMA; three integer ALUs.
    multiply_add: to_128(2.0),
    float_add: to_128(2.0),
    float_multiply: to_128(2.0),
    fma: to_128(2.0),
    int_add: ints(3.0, 2.0),
    int_multiply: Some(1.0),
    float_divide_cycles: NONE,
    int_divide_cycles: None,
    source: "Arm Neoverse N1 Software Optimization Guide, instruction characteristics",
    note: "",
    wide_varies: false,
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
    ..NEOVERSE_N1
};

const NEOVERSE_V2: Row = Row {
    id: "neoverse_v2",
    int_add: ints(6.0, 4.0),
    source: "Arm Neoverse V2 Software Optimization Guide, instruction characteristics",
    ..NEOVERSE_V1
};

pub(super) const ROWS: &[Row] = &[
    Row {
        id: "cortex_a72",
        int_add: ints(2.0, 2.0),
        source: "Arm Cortex-A72 Software Optimization Guide, instruction characteristics",
        ..NEOVERSE_N1
    },
    Row {
        id: "cortex_a76",
        source: "Arm Cortex-A76 Software Optimization Guide, instruction characteristics",
        ..NEOVERSE_N1
    },
    NEOVERSE_N1,
    Row {
        id: "neoverse_n2",
        int_add: ints(4.0, 2.0),
        int_multiply: Some(2.0),
        source: "Arm Neoverse N2 Software Optimization Guide, instruction characteristics",
        ..NEOVERSE_N1
    },
    NEOVERSE_V1,
    NEOVERSE_V2,
    Row {
        id: "neoverse_v3",
        int_add: ints(8.0, 4.0),
        source: "Arm Neoverse V3 Software Optimization Guide, instruction characteristics",
        ..NEOVERSE_V2
    },
];
