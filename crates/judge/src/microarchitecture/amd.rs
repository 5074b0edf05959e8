//! AMD cores, family 17h and later.
//!
//! Floating-point multiplication and FMA run on pipes 0 and 1, addition on pipes 2 and 3, so a
//! stream of both uses four pipes.

use super::{ByWidth, Dram, Row, server, split_256, to_256, to_512};

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
    l1_cycles: Some(4.0),
    l2_cycles: Some(12.0),
    // Two 128-bit loads, one 128-bit store.
    loads: split_256(2.0, 1.0),
    stores: split_256(1.0, 0.5),
    l2_bytes: Some(32.0),
    // The queue of the L2 cache is not documented.
    lines: None,
    dram: server(8.0, 2666.0, "EPYC 7001, 8 channels of DDR4-2666"),
    memory_source: "AMD Software Optimization Guide, family 17h, load-store unit and caches; AMD \
             product pages, EPYC 7001",
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
    loads: to_256(2.0),
    stores: to_256(1.0),
    lines: Some(48.0),
    dram: server(8.0, 3200.0, "EPYC 7002, 8 channels of DDR4-3200"),
    memory_source: "AMD Software Optimization Guide, family 17h models 30h and later; AMD at Hot \
             Chips 33 (2021), second to third level before Zen 3; AMD product pages, EPYC 7002",
    ..ZEN
};

const ZEN3: Row = Row {
    id: "zen3",
    // Vector addition on pipes 0 to 3.
    int_add: to_256(4.0),
    float_divide_cycles: to_256(4.5),
    int_divide_cycles: Some(5.0),
    source: "AMD Software Optimization Guide, family 19h; uops.info, Zen 3",
    // Three loads of which two may be vectors; two stores of which one may have 256 bits.
    loads: ByWidth { scalar: Some(3.0), v128: Some(2.0), v256: Some(2.0), v512: None },
    stores: ByWidth { scalar: Some(2.0), v128: Some(2.0), v256: Some(1.0), v512: None },
    lines: Some(64.0),
    dram: server(8.0, 3200.0, "EPYC 7003, 8 channels of DDR4-3200"),
    memory_source: "AMD Software Optimization Guide, family 19h, load-store unit; AMD at Hot Chips \
             33 (2021), 64 lines from second to third level; AMD product pages, EPYC 7003",
    ..ZEN2
};

const ZEN4: Row = Row {
    id: "zen4",
    // 512-bit instructions take each pipe for two cycles.
    fma: to_512(2.0, 1.0),
    int_add: to_512(4.0, 2.0),
    source: "AMD Software Optimization Guide, family 19h models 10h and later; uops.info, Zen 4",
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
    memory_source: "AMD Software Optimization Guide, family 19h models 10h and later; Chips and \
             Cheese, AMD's Zen 4, part 2 (2022); AMD product pages, EPYC 9004",
    ..ZEN3
};

const ZEN5: Row = Row {
    id: "zen5",
    fma: to_512(2.0, 2.0),
    // Six ALUs, three of them with a multiplier; vector addition on pipes 0 to 3.
    int_add: ByWidth { scalar: Some(6.0), v128: Some(4.0), v256: Some(4.0), v512: Some(4.0) },
    int_multiply: Some(3.0),
    // Measured on EPYC 9005: 4 cycles at every width; 6.4 to 9.5 for 64-bit integers.
    float_divide_cycles: to_512(4.0, 4.0),
    int_divide_cycles: Some(6.0),
    source: "AMD Software Optimization Guide, family 1Ah; uops.info, Zen 5; divisions: measured on \
             EPYC 9005",
    note: "mobile products have 256-bit pipes: then the 512-bit figures are half of these",
    wide_varies: true,
    loads: ByWidth { scalar: Some(4.0), v128: Some(2.0), v256: Some(2.0), v512: Some(2.0) },
    stores: ByWidth { scalar: Some(2.0), v128: Some(2.0), v256: Some(2.0), v512: Some(1.0) },
    l2_bytes: Some(64.0),
    dram: server(12.0, 6400.0, "EPYC 9005, 12 channels of DDR5-6400"),
    memory_source: "AMD Software Optimization Guide, family 1Ah; AMD at Hot Chips 2024, Zen 5; AMD \
             product pages, EPYC 9005",
    ..ZEN4
};

pub(super) const ROWS: &[Row] = &[ZEN, ZEN2, ZEN3, ZEN4, ZEN5];
