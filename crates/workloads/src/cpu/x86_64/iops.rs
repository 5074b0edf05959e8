//! Integer peak loops: adds of one register to another.
//!
//! They do not add immediates: cores since Golden Cove fold those while renaming, so the operations
//! would not be executed.

use std::arch::naked_asm;

use super::super::isa::{Element, Isa};
use super::super::law::Law;
use super::super::state::Line;
use super::super::work::Variant;
use super::{
    fifteen, hot, hot_general, hot_xmm, hot_ymm, hot_zmm, load_general, sixteen, store_general,
    thirty,
};

/// 208 adds: 16 per register of 13.
macro_rules! adds_general {
    ($registers:literal, $step:literal) => {
        concat!(".rept 16\n.irp r,", $registers, "\nadd \\r, ", $step, "\n.endr\n.endr\n")
    };
}

/// 120 vector adds: 8 per register of 15.
macro_rules! adds_vector {
    ($add:literal) => {
        concat!(".rept 8\n.irp k,", fifteen!(), "\n", $add, "\n.endr\n.endr\n")
    };
}

/// 120 vector adds: 4 per register of 30.
macro_rules! adds_zmm {
    ($add:literal) => {
        concat!(".rept 4\n.irp k,", thirty!(), "\n", $add, " zmm\\k, zmm\\k, zmm30\n.endr\n.endr\n")
    };
}

hot_general!(scalar_i64, adds_general!("rax,rbx,rcx,rdx,rbp,r8,r9,r10,r11,r12,r13,r14,rdi", "r15"));
hot_general!(
    scalar_i32,
    adds_general!("eax,ebx,ecx,edx,ebp,r8d,r9d,r10d,r11d,r12d,r13d,r14d,edi", "r15d")
);
hot_xmm!(sse2_i64, "movups", adds_vector!("paddq xmm\\k, xmm15"));
hot_xmm!(sse2_i32, "movups", adds_vector!("paddd xmm\\k, xmm15"));
hot_ymm!(avx2_i64, adds_vector!("vpaddq ymm\\k, ymm\\k, ymm15"));
hot_ymm!(avx2_i32, adds_vector!("vpaddd ymm\\k, ymm\\k, ymm15"));
hot_zmm!(avx512_i64, adds_zmm!("vpaddq"));
hot_zmm!(avx512_i32, adds_zmm!("vpaddd"));

const GENERAL: Law = Law::Sum { accumulators: 13, adds: 208, each: 1 };
const VECTOR: Law = Law::Sum { accumulators: 15, adds: 120, each: 1 };
const ZMM: Law = Law::Sum { accumulators: 30, adds: 120, each: 1 };

#[rustfmt::skip]
pub(crate) const IOPS: &[Variant] = &[
    Variant { isa: Isa::Scalar, element: Element::I64, law: GENERAL, hot: scalar_i64 },
    Variant { isa: Isa::Scalar, element: Element::I32, law: GENERAL, hot: scalar_i32 },
    Variant { isa: Isa::Sse2, element: Element::I64, law: VECTOR, hot: sse2_i64 },
    Variant { isa: Isa::Sse2, element: Element::I32, law: VECTOR, hot: sse2_i32 },
    Variant { isa: Isa::Avx2, element: Element::I64, law: VECTOR, hot: avx2_i64 },
    Variant { isa: Isa::Avx2, element: Element::I32, law: VECTOR, hot: avx2_i32 },
    Variant { isa: Isa::Avx512, element: Element::I64, law: ZMM, hot: avx512_i64 },
    Variant { isa: Isa::Avx512, element: Element::I32, law: ZMM, hot: avx512_i32 },
];
