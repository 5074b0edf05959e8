//! Loops that measure the core clock under wide vectors.
//!
//! A core lowers its clock while wide vectors run and raises it within microseconds after them.
//! Granite Rapids had 3.79 GHz under 512-bit FMA, and 4.0 and rising in the 40 microseconds after
//! it. So the clock under such a load can only be read within it. A step here has 16 vector
//! instructions, at most 16 cycles of any port. They are among a chain of 7 dependent
//! multiplications (21 cycles) or 20 register adds (20 cycles), which determines the time.

use super::super::isa::{Element, Isa};
use super::super::work::Clocked;

/// Returns loops as heavy as those of an instruction set, one per chain, or `None` where no core
/// lowers its clock for it.
pub(crate) fn clocked(isa: Isa, element: Element) -> Option<[Clocked; 2]> {
    let float = matches!(element, Element::F64 | Element::F32);
    match (isa, float) {
        (Isa::Scalar | Isa::Sse2, _) => None,
        (Isa::Avx2, true) => Some([ymm_float::multiplies, ymm_float::adds]),
        (Isa::Avx2Fma, _) => Some([ymm_fma::multiplies, ymm_fma::adds]),
        (Isa::Avx2, false) => Some([ymm_int::multiplies, ymm_int::adds]),
        (Isa::Avx512, true) => Some([zmm_fma::multiplies, zmm_fma::adds]),
        (Isa::Avx512, false) => Some([zmm_int::multiplies, zmm_int::adds]),
    }
}

// 1.0 in every lane of the constant, zero in the accumulators.
macro_rules! ones_ymm {
    () => {
        concat!(
            "mov rdx, 0x3ff0000000000000\nvmovq xmm15, rdx\nvbroadcastsd ymm15, xmm15\n",
            ".irp k,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14\nvxorps xmm\\k, xmm\\k, xmm\\k\n.endr\n"
        )
    };
}
macro_rules! ones_zmm {
    () => {
        concat!(ones_ymm!(), "vbroadcastsd zmm31, xmm15\nvpxorq zmm15, zmm15, zmm15\n")
    };
}

/// Defines loops with 16 times `$a` or `$b` per step, among 7 multiplications (`rax` counts their
/// cycles) or 20 adds of 1 to `rax`.
macro_rules! clocked {
    ($name:ident, $one:expr, $a:literal, $b:literal) => {
        mod $name {
            use std::arch::naked_asm;

            use proofmark_engine::chain::Chain;

            use crate::cpu::work::CLOCKED_CYCLES;

            #[unsafe(naked)]
            pub(super) unsafe extern "C" fn multiplies(steps: u64) -> u64 {
                naked_asm!(
                    "xor eax, eax",
                    "mov ecx, 3",
                    "mov r8d, 1",
                    $one,
                    ".p2align 6",
                    "2:",
                    ".irp k,0,4,8,12,2,6,10",
                    $a,
                    "imul r8d, ecx",
                    $b,
                    ".endr",
                    ".irp k,14",
                    $a,
                    $b,
                    ".endr",
                    "add rax, {cycles}",
                    "dec rdi",
                    "jnz 2b",
                    "vzeroupper",
                    "ret",
                    cycles = const CLOCKED_CYCLES[Chain::First as usize],
                )
            }

            #[unsafe(naked)]
            pub(super) unsafe extern "C" fn adds(steps: u64) -> u64 {
                naked_asm!(
                    "xor eax, eax",
                    "mov ecx, 1",
                    $one,
                    ".p2align 6",
                    "2:",
                    ".irp k,0,4,8,12",
                    $a,
                    "add rax, rcx",
                    $b,
                    "add rax, rcx",
                    "add rax, rcx",
                    ".endr",
                    ".irp k,2,6,10,14",
                    $a,
                    "add rax, rcx",
                    $b,
                    "add rax, rcx",
                    ".endr",
                    "dec rdi",
                    "jnz 2b",
                    "vzeroupper",
                    "ret"
                )
            }
        }
    };
}

clocked!(ymm_float, ones_ymm!(), "vmulpd ymm\\k, ymm15, ymm15", "vaddpd ymm\\k, ymm15, ymm15");
clocked!(
    ymm_fma,
    ones_ymm!(),
    "vfmadd231pd ymm\\k, ymm15, ymm15",
    "vfmadd231pd ymm\\k, ymm15, ymm15"
);
clocked!(ymm_int, ones_ymm!(), "vpaddq ymm\\k, ymm15, ymm15", "vpaddq ymm\\k, ymm15, ymm15");
clocked!(
    zmm_fma,
    ones_zmm!(),
    "vfmadd231pd zmm\\k, zmm31, zmm31",
    "vfmadd231pd zmm\\k, zmm31, zmm31"
);
clocked!(zmm_int, ones_zmm!(), "vpaddq zmm\\k, zmm31, zmm31", "vpaddq zmm\\k, zmm31, zmm31");
