//! Integer peak loops: adds of one register to another.
//!
//! Not adds of an immediate: cores since Golden Cove fold those while renaming, and
//! the operations would not be executed.

use std::arch::naked_asm;

use super::super::isa::{Element, Isa};
use super::super::law::Law;
use super::super::state::Line;
use super::super::work::Variant;
use super::{hot, load_all, load_general, load_zmm, store_15, store_general, store_zmm};

/// 208 adds: 16 a register of 13.
macro_rules! adds_general {
    ($registers:literal, $step:literal) => {
        concat!(".rept 16\n.irp r,", $registers, "\nadd \\r, ", $step, "\n.endr\n.endr\n")
    };
}

/// 120 vector adds: 8 a register of 15.
macro_rules! adds_vector {
    ($add:literal) => {
        concat!(".rept 8\n.irp k,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14\n", $add, "\n.endr\n.endr\n")
    };
}

/// 120 vector adds: 4 a register of 30.
macro_rules! adds_zmm {
    ($add:literal) => {
        concat!(
            ".rept 4\n.irp k,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,",
            "15,16,17,18,19,20,21,22,23,24,25,26,27,28,29\n",
            $add,
            " zmm\\k, zmm\\k, zmm30\n.endr\n.endr\n"
        )
    };
}

hot!(
    scalar_i64,
    load_general!(),
    adds_general!("rax,rbx,rcx,rdx,rbp,r8,r9,r10,r11,r12,r13,r14,rdi", "r15"),
    store_general!()
);
hot!(
    scalar_i32,
    load_general!(),
    adds_general!("eax,ebx,ecx,edx,ebp,r8d,r9d,r10d,r11d,r12d,r13d,r14d,edi", "r15d"),
    store_general!()
);
hot!(
    sse2_i64,
    load_all!("movups", "xmm"),
    adds_vector!("paddq xmm\\k, xmm15"),
    store_15!("movups", "xmm", "")
);
hot!(
    sse2_i32,
    load_all!("movups", "xmm"),
    adds_vector!("paddd xmm\\k, xmm15"),
    store_15!("movups", "xmm", "")
);
hot!(
    avx2_i64,
    load_all!("vmovups", "ymm"),
    adds_vector!("vpaddq ymm\\k, ymm\\k, ymm15"),
    store_15!("vmovups", "ymm", "vzeroupper")
);
hot!(
    avx2_i32,
    load_all!("vmovups", "ymm"),
    adds_vector!("vpaddd ymm\\k, ymm\\k, ymm15"),
    store_15!("vmovups", "ymm", "vzeroupper")
);
hot!(avx512_i64, load_zmm!(), adds_zmm!("vpaddq"), store_zmm!());
hot!(avx512_i32, load_zmm!(), adds_zmm!("vpaddd"), store_zmm!());

const GENERAL: Law = Law::Sum { accumulators: 13, adds: 208, each: 1 };
const VECTOR: Law = Law::Sum { accumulators: 15, adds: 120, each: 1 };
const ZMM: Law = Law::Sum { accumulators: 30, adds: 120, each: 1 };

/// Every integer peak loop.
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
