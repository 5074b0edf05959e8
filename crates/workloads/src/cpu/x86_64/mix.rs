//! The published instruction mixes: one pass of the loop is one iteration of 16 additions or 17
//! operations. The loop's counter and branch do not count, nor do the moves and sign extensions of
//! the operands.

use std::arch::naked_asm;

use super::super::isa::{Element, Isa};
use super::super::law::{Law, MULTIPLIER_X, MULTIPLIER_Y};
use super::super::state::Line;
use super::super::work::Variant;
use super::{fifteen, hot, hot_general, hot_xmm, hot_ymm, load_general, sixteen, store_general};

/// 16 vector additions on 15 registers.
macro_rules! add16 {
    ($add:literal) => {
        concat!(".irp k,", fifteen!(), ",0\n", $add, "\n.endr\n")
    };
}

hot_general!(
    add16_i64,
    concat!(
        ".irp r,rax,rbx,rcx,rdx,rbp,r8,r9,r10,r11,r12,r13,r14,rdi,rax,rbx,rcx\n",
        "add \\r, r15\n.endr\n"
    )
);
hot_ymm!(add16_i64_avx2, add16!("vpaddq ymm\\k, ymm\\k, ymm15"));
hot_xmm!(add16_f64, "movsd", add16!("addsd xmm\\k, xmm15"));
hot_ymm!(add16_f64_avx2, add16!("vaddpd ymm\\k, ymm\\k, ymm15"));

// The 17 operations. The state has the slots of `law::slot`. a and b are quotients:…
//
//   v += 1   a = v * 3   a /= 3   s += a   s -= v   compare a with v
//   x *= A   x -= 1 (floats: x = x * 2 - 3)
//   b = w * 7   b /= 7   t += b   t -= w   compare b with w   w -= 1
//   y *= B   y += 1 (floats: y = y / 2 + 7, the half by multiplication)
//   u += 1
//
// v, w and u count the iterations. s and t drift if one quotient is wrong. The integer x and y wrap
// around, and the float ones stay at their fixed points.

#[unsafe(naked)]
unsafe extern "C" fn arith17_i64(state: *mut Line, iterations: u64) {
    naked_asm!(
        ".irp r,rbx,rbp,r12,r13,r14\npush \\r\n.endr",
        "mov rbx, [rdi]       # v",
        "mov rbp, [rdi + 64]  # s",
        "mov rcx, [rdi + 128] # w",
        "mov r8,  [rdi + 192] # t",
        "mov r9,  [rdi + 256] # x",
        "mov r10, [rdi + 320] # y",
        "mov r11, [rdi + 384] # u",
        "mov r12, [rdi + 576] # 1",
        "mov r13, [rdi + 640] # 3",
        "mov r14, [rdi + 704] # 7",
        ".p2align 6",
        "2:",
        "add rbx, r12",
        "imul rax, rbx, 3",
        "cqo",
        "idiv r13",
        "add rbp, rax",
        "sub rbp, rbx",
        "cmp rax, rbx",
        "imul r9, r9, {x}",
        "sub r9, r12",
        "imul rax, rcx, 7",
        "cqo",
        "idiv r14",
        "add r8, rax",
        "sub r8, rcx",
        "cmp rax, rcx",
        "sub rcx, r12",
        "imul r10, r10, {y}",
        "add r10, r12",
        "add r11, r12",
        "dec rsi",
        "jnz 2b",
        "mov [rdi], rbx",
        "mov [rdi + 64], rbp",
        "mov [rdi + 128], rcx",
        "mov [rdi + 192], r8",
        "mov [rdi + 256], r9",
        "mov [rdi + 320], r10",
        "mov [rdi + 384], r11",
        ".irp r,r14,r13,r12,rbp,rbx\npop \\r\n.endr",
        "ret",
        x = const MULTIPLIER_X,
        y = const MULTIPLIER_Y,
    )
}

// xmm0 to 6: v s w t x y u; 7 to 11: 1 3 7 2 1/2; 12 and 13: a b.
#[unsafe(naked)]
unsafe extern "C" fn arith17_f64(state: *mut Line, iterations: u64) {
    naked_asm!(
        ".irp k,0,1,2,3,4,5,6\nmovsd xmm\\k, [rdi + 64*\\k]\n.endr",
        ".irp k,7,8,9,10,11\nmovsd xmm\\k, [rdi + 64*\\k + 128]\n.endr",
        ".p2align 6",
        "2:",
        "addsd xmm0, xmm7",
        "movapd xmm12, xmm0",
        "mulsd xmm12, xmm8",
        "divsd xmm12, xmm8",
        "movapd xmm13, xmm2",
        "mulsd xmm13, xmm9",
        "divsd xmm13, xmm9",
        "mulsd xmm4, xmm10",
        "subsd xmm4, xmm8",
        "mulsd xmm5, xmm11",
        "addsd xmm5, xmm9",
        "addsd xmm6, xmm7",
        "addsd xmm1, xmm12",
        "subsd xmm1, xmm0",
        "ucomisd xmm12, xmm0",
        "addsd xmm3, xmm13",
        "subsd xmm3, xmm2",
        "ucomisd xmm13, xmm2",
        "subsd xmm2, xmm7",
        "dec rsi",
        "jnz 2b",
        ".irp k,0,1,2,3,4,5,6\nmovsd [rdi + 64*\\k], xmm\\k\n.endr",
        "ret",
    )
}

// The same on 4 lanes. ymm14 and ymm15 hold the results of the comparisons.
#[unsafe(naked)]
unsafe extern "C" fn arith17_f64_avx2(state: *mut Line, iterations: u64) {
    naked_asm!(
        ".irp k,0,1,2,3,4,5,6\nvmovupd ymm\\k, [rdi + 64*\\k]\n.endr",
        ".irp k,7,8,9,10,11\nvmovupd ymm\\k, [rdi + 64*\\k + 128]\n.endr",
        ".p2align 6",
        "2:",
        "vaddpd ymm0, ymm0, ymm7",
        "vmulpd ymm12, ymm0, ymm8",
        "vdivpd ymm12, ymm12, ymm8",
        "vmulpd ymm13, ymm2, ymm9",
        "vdivpd ymm13, ymm13, ymm9",
        "vmulpd ymm4, ymm4, ymm10",
        "vsubpd ymm4, ymm4, ymm8",
        "vmulpd ymm5, ymm5, ymm11",
        "vaddpd ymm5, ymm5, ymm9",
        "vaddpd ymm6, ymm6, ymm7",
        "vaddpd ymm1, ymm1, ymm12",
        "vsubpd ymm1, ymm1, ymm0",
        "vcmpeqpd ymm14, ymm12, ymm0",
        "vaddpd ymm3, ymm3, ymm13",
        "vsubpd ymm3, ymm3, ymm2",
        "vcmpeqpd ymm15, ymm13, ymm2",
        "vsubpd ymm2, ymm2, ymm7",
        "dec rsi",
        "jnz 2b",
        ".irp k,0,1,2,3,4,5,6\nvmovupd [rdi + 64*\\k], ymm\\k\n.endr",
        "vmovupd [rdi + 64*7], ymm14",
        "vmovupd [rdi + 64*8], ymm15",
        "vzeroupper",
        "ret",
    )
}

const ADD16_GENERAL: Law = Law::Sum { accumulators: 13, adds: 16, each: 1 };
const ADD16_VECTOR: Law = Law::Sum { accumulators: 15, adds: 16, each: 1 };
const SCALAR: Law = Law::Arithmetic { masks: false };
const VECTOR: Law = Law::Arithmetic { masks: true };

/// The integer mixes. There is no vector division of integers.
#[rustfmt::skip]
pub(crate) const MIX_INT: &[Variant] = &[
    Variant { isa: Isa::Scalar, element: Element::I64, law: ADD16_GENERAL, hot: add16_i64 },
    Variant { isa: Isa::Avx2, element: Element::I64, law: ADD16_VECTOR, hot: add16_i64_avx2 },
    Variant { isa: Isa::Scalar, element: Element::I64, law: SCALAR, hot: arith17_i64 },
];

#[rustfmt::skip]
pub(crate) const MIX_FLOAT: &[Variant] = &[
    Variant { isa: Isa::Scalar, element: Element::F64, law: ADD16_VECTOR, hot: add16_f64 },
    Variant { isa: Isa::Avx2, element: Element::F64, law: ADD16_VECTOR, hot: add16_f64_avx2 },
    Variant { isa: Isa::Scalar, element: Element::F64, law: SCALAR, hot: arith17_f64 },
    Variant { isa: Isa::Avx2, element: Element::F64, law: VECTOR, hot: arith17_f64_avx2 },
];
