//! Hot loops for x86-64, as whole functions in assembly, so that no compiler can
//! fold the work away and a debug build runs the same instructions as a release.
//!
//! Every loop is called as `f(state, iterations)` in the System V convention: the
//! state in `rdi`, one 64-byte line a register, the iterations in `rsi`. The
//! assembler's own `.irp` and `.rept` spell out the registers. A test decodes the
//! machine code and counts it against the declaration.

#![allow(unsafe_code)] // Naked functions are unsafe attributes; their callers are in `work`.

mod clocked;
mod flops;
mod iops;
mod mix;

pub(crate) use clocked::clocked;
pub(crate) use flops::FLOPS;
pub(crate) use iops::IOPS;
pub(crate) use mix::{MIX_FLOAT, MIX_INT};

/// A hot loop: load, then the body `rsi` times, then store. All vector registers
/// and `rsi` are the callee's to change in this convention.
macro_rules! hot {
    ($name:ident, $load:expr, $body:expr, $store:expr) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name(state: *mut Line, iterations: u64) {
            naked_asm!($load, ".p2align 6", "2:", $body, "dec rsi", "jnz 2b", $store, "ret")
        }
    };
}

/// Loads the 15 accumulators and the constant.
macro_rules! load_all {
    ($mov:literal, $file:literal) => {
        concat!(
            ".irp k,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n",
            $mov,
            " ",
            $file,
            "\\k, [rdi + 64*\\k]\n.endr\n"
        )
    };
}

/// Stores the 15 accumulators, then `$last`.
macro_rules! store_15 {
    ($mov:literal, $file:literal, $last:literal) => {
        concat!(
            ".irp k,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14\n",
            $mov,
            " [rdi + 64*\\k], ",
            $file,
            "\\k\n.endr\n",
            $last
        )
    };
}

/// Loads 30 accumulators and the constant.
macro_rules! load_zmm {
    () => {
        concat!(
            ".irp k,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,",
            "27,28,29,30\nvmovups zmm\\k, [rdi + 64*\\k]\n.endr\n"
        )
    };
}

/// Stores 30 accumulators.
macro_rules! store_zmm {
    () => {
        concat!(
            ".irp k,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,",
            "27,28,29\nvmovups [rdi + 64*\\k], zmm\\k\n.endr\nvzeroupper"
        )
    };
}

/// Loads 13 accumulators and the step in `r15`. The pointer to the state waits on
/// the stack, since its register is an accumulator too.
macro_rules! load_general {
    () => {
        concat!(
            ".irp r,rbx,rbp,r12,r13,r14,r15,rdi\npush \\r\n.endr\n",
            "mov rax, [rdi]\nmov rbx, [rdi + 64]\nmov rcx, [rdi + 128]\n",
            "mov rdx, [rdi + 192]\nmov rbp, [rdi + 256]\nmov r8, [rdi + 320]\n",
            "mov r9, [rdi + 384]\nmov r10, [rdi + 448]\nmov r11, [rdi + 512]\n",
            "mov r12, [rdi + 576]\nmov r13, [rdi + 640]\nmov r14, [rdi + 704]\n",
            "mov r15, [rdi + 832]\nmov rdi, [rdi + 768]\n"
        )
    };
}

/// Stores what [`load_general`] loaded and restores what the caller keeps.
macro_rules! store_general {
    () => {
        concat!(
            "pop rsi\n",
            "mov [rsi], rax\nmov [rsi + 64], rbx\nmov [rsi + 128], rcx\n",
            "mov [rsi + 192], rdx\nmov [rsi + 256], rbp\nmov [rsi + 320], r8\n",
            "mov [rsi + 384], r9\nmov [rsi + 448], r10\nmov [rsi + 512], r11\n",
            "mov [rsi + 576], r12\nmov [rsi + 640], r13\nmov [rsi + 704], r14\n",
            "mov [rsi + 768], rdi\n",
            ".irp r,r15,r14,r13,r12,rbp,rbx\npop \\r\n.endr\n"
        )
    };
}

use {hot, load_all, load_general, load_zmm, store_15, store_general, store_zmm};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::work::tests::prove_all;

    #[test]
    fn every_loop_proves_its_iterations() {
        prove_all(FLOPS.iter().chain(IOPS).chain(MIX_INT).chain(MIX_FLOAT));
    }
}
