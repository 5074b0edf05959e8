//! AMD cores, family 17h and later.
//!
//! Floating-point multiplication and FMA run on pipes 0 and 1, addition on pipes
//! 2 and 3, so that a stream of both fills four pipes.

use super::{ByWidth, NONE, Row, split_256, to_256, to_512};

const ZEN: Row = Row {
    id: "zen",
    // 128-bit pipes: a 256-bit instruction takes two slots.
    multiply_add: split_256(4.0, 2.0),
    float_add: split_256(2.0, 1.0),
    float_multiply: split_256(2.0, 1.0),
    fma: split_256(2.0, 1.0),
    // Four ALUs; vector addition on pipes 0, 1 and 3.
    int_add: ByWidth { scalar: Some(4.0), v128: Some(3.0), v256: Some(1.5), v512: None },
    int_multiply: Some(1.0),
    float_divide_cycles: split_256(4.0, 8.0),
    int_divide_cycles: Some(8.0),
    source: "AMD Software Optimization Guide, family 17h; Agner Fog, Instruction tables, Zen; \
             uops.info, Zen+",
    note: "",
    wide_varies: false,
};

const ZEN2: Row = Row {
    id: "zen2",
    multiply_add: to_256(4.0),
    float_add: to_256(2.0),
    float_multiply: to_256(2.0),
    fma: to_256(2.0),
    int_add: ByWidth { scalar: Some(4.0), v128: Some(3.0), v256: Some(3.0), v512: None },
    float_divide_cycles: split_256(4.0, 5.0),
    source: "AMD Software Optimization Guide, family 17h models 30h and later; uops.info, Zen 2",
    ..ZEN
};

const ZEN3: Row = Row {
    id: "zen3",
    // Vector addition on pipes 0 to 3.
    int_add: to_256(4.0),
    float_divide_cycles: to_256(4.5),
    int_divide_cycles: Some(5.0),
    source: "AMD Software Optimization Guide, family 19h; uops.info, Zen 3",
    ..ZEN2
};

const ZEN4: Row = Row {
    id: "zen4",
    // 512-bit instructions take each pipe for two cycles.
    fma: to_512(2.0, 1.0),
    int_add: to_512(4.0, 2.0),
    source: "AMD Software Optimization Guide, family 19h models 10h and later; uops.info, Zen 4",
    ..ZEN3
};

const ZEN5: Row = Row {
    id: "zen5",
    fma: to_512(2.0, 2.0),
    // Six ALUs, three of them with a multiplier; vector addition on pipes 0 to 3.
    int_add: ByWidth { scalar: Some(6.0), v128: Some(4.0), v256: Some(4.0), v512: Some(4.0) },
    int_multiply: Some(3.0),
    float_divide_cycles: NONE,
    int_divide_cycles: None,
    source: "AMD Software Optimization Guide, family 1Ah; uops.info, Zen 5",
    note: "mobile products have 256-bit pipes: then the 512-bit figures are half of these",
    wide_varies: true,
    ..ZEN4
};

pub(super) const ROWS: &[Row] = &[ZEN, ZEN2, ZEN3, ZEN4, ZEN5];
