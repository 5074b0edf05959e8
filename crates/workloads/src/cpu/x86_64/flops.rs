//! Floating-point peak loops.
//!
//! Without FMA, each accumulator is multiplied by 1 and has 1 added to it, equally often. Intel's
//! cores from Golden Cove on multiply on ports 0 and 1 and add on ports 1 and 5. So 3 such
//! instructions per cycle fit. But a core binds an instruction to a port while renaming, before it
//! knows which port will be free. The orders tried there were pairs, whole blocks, groups of 2 to
//! 6, and several distances. Groups of four multiplications and four additions on 15 accumulators
//! reached 3.00 per cycle, pairs 2.92. Zen 2 and later have two ports of each kind and run 4 per
//! cycle. The 15 accumulators also cover their latency of 6.
//!
//! With FMA, x = 1 * 1 + x on all registers but one.

use std::arch::naked_asm;

use super::super::isa::{Element, Isa};
use super::super::law::Law;
use super::super::state::Line;
use super::super::work::Variant;
use super::{fifteen, hot, hot_xmm, hot_ymm, hot_zmm, sixteen, thirty};

/// Four multiplications, then four additions to the four preceding registers.
macro_rules! octet {
    ($mul:literal, $add:literal, $m:literal, $a:literal) => {
        concat!(".irp k,", $m, "\n", $mul, "\n.endr\n", ".irp k,", $a, "\n", $add, "\n.endr\n")
    };
}

/// 60 multiplications and 60 additions: 4 of each per register of 15.
macro_rules! mul_add {
    ($m:literal, $a:literal) => {
        concat!(
            octet!($m, $a, "0,1,2,3", "11,12,13,14"),
            octet!($m, $a, "4,5,6,7", "0,1,2,3"),
            octet!($m, $a, "8,9,10,11", "4,5,6,7"),
            octet!($m, $a, "12,13,14,0", "8,9,10,11"),
            octet!($m, $a, "1,2,3,4", "12,13,14,0"),
            octet!($m, $a, "5,6,7,8", "1,2,3,4"),
            octet!($m, $a, "9,10,11,12", "5,6,7,8"),
            octet!($m, $a, "13,14,0,1", "9,10,11,12"),
            octet!($m, $a, "2,3,4,5", "13,14,0,1"),
            octet!($m, $a, "6,7,8,9", "2,3,4,5"),
            octet!($m, $a, "10,11,12,13", "6,7,8,9"),
            octet!($m, $a, "14,0,1,2", "10,11,12,13"),
            octet!($m, $a, "3,4,5,6", "14,0,1,2"),
            octet!($m, $a, "7,8,9,10", "3,4,5,6"),
            octet!($m, $a, "11,12,13,14", "7,8,9,10")
        )
    };
}

/// 120 fused multiply-adds: 8 per register of 15.
macro_rules! fma_ymm {
    ($fma:literal) => {
        concat!(".rept 8\n.irp k,", fifteen!(), "\n", $fma, " ymm\\k, ymm15, ymm15\n.endr\n.endr\n")
    };
}

/// 120 fused multiply-adds: 4 per register of 30.
macro_rules! fma_zmm {
    ($fma:literal) => {
        concat!(".rept 4\n.irp k,", thirty!(), "\n", $fma, " zmm\\k, zmm30, zmm30\n.endr\n.endr\n")
    };
}

hot_xmm!(scalar_f64, "movsd", mul_add!("mulsd xmm\\k, xmm15", "addsd xmm\\k, xmm15"));
hot_xmm!(scalar_f32, "movss", mul_add!("mulss xmm\\k, xmm15", "addss xmm\\k, xmm15"));
hot_xmm!(sse2_f64, "movups", mul_add!("mulpd xmm\\k, xmm15", "addpd xmm\\k, xmm15"));
hot_xmm!(sse2_f32, "movups", mul_add!("mulps xmm\\k, xmm15", "addps xmm\\k, xmm15"));
hot_ymm!(avx2_f64, mul_add!("vmulpd ymm\\k, ymm\\k, ymm15", "vaddpd ymm\\k, ymm\\k, ymm15"));
hot_ymm!(avx2_f32, mul_add!("vmulps ymm\\k, ymm\\k, ymm15", "vaddps ymm\\k, ymm\\k, ymm15"));
hot_ymm!(fma_f64, fma_ymm!("vfmadd231pd"));
hot_ymm!(fma_f32, fma_ymm!("vfmadd231ps"));
hot_zmm!(avx512_f64, fma_zmm!("vfmadd231pd"));
hot_zmm!(avx512_f32, fma_zmm!("vfmadd231ps"));

const MUL_ADD: Law = Law::Sum { accumulators: 15, adds: 60, each: 2 };
const FMA_YMM: Law = Law::Sum { accumulators: 15, adds: 120, each: 2 };
const FMA_ZMM: Law = Law::Sum { accumulators: 30, adds: 120, each: 2 };

#[rustfmt::skip]
pub(crate) const FLOPS: &[Variant] = &[
    Variant { isa: Isa::Scalar, element: Element::F64, law: MUL_ADD, hot: scalar_f64 },
    Variant { isa: Isa::Scalar, element: Element::F32, law: MUL_ADD, hot: scalar_f32 },
    Variant { isa: Isa::Sse2, element: Element::F64, law: MUL_ADD, hot: sse2_f64 },
    Variant { isa: Isa::Sse2, element: Element::F32, law: MUL_ADD, hot: sse2_f32 },
    Variant { isa: Isa::Avx2, element: Element::F64, law: MUL_ADD, hot: avx2_f64 },
    Variant { isa: Isa::Avx2, element: Element::F32, law: MUL_ADD, hot: avx2_f32 },
    Variant { isa: Isa::Avx2Fma, element: Element::F64, law: FMA_YMM, hot: fma_f64 },
    Variant { isa: Isa::Avx2Fma, element: Element::F32, law: FMA_YMM, hot: fma_f32 },
    Variant { isa: Isa::Avx512, element: Element::F64, law: FMA_ZMM, hot: avx512_f64 },
    Variant { isa: Isa::Avx512, element: Element::F32, law: FMA_ZMM, hot: avx512_f32 },
];
