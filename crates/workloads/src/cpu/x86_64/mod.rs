//! Hot loops for x86-64, as whole functions in assembly. So no compiler can fold the work away, and
//! a debug build runs the same instructions as a release build.
//!
//! Every loop is called as `f(state, iterations)` in the System V convention. `rdi` points to the
//! state, with one 64-byte line per register; `rsi` has the iterations. The assembler's `.irp` and
//! `.rept` repeat code per register. A test decodes the machine code and compares it with the
//! declaration.

#![allow(unsafe_code)] // Naked functions are unsafe attributes; their callers are in `work`.

mod clocked;
mod flops;
mod iops;
mod mix;

pub(crate) use clocked::clocked;
pub(crate) use flops::FLOPS;
pub(crate) use iops::IOPS;
pub(crate) use mix::{MIX_FLOAT, MIX_INT};

/// A hot loop: load, then the body `rsi` times, then store. In this convention the callee may
/// change all vector registers and `rsi`.
macro_rules! hot {
    ($name:ident, $load:expr, $body:expr, $store:expr) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name(state: *mut Line, iterations: u64) {
            naked_asm!($load, ".p2align 6", "2:", $body, "dec rsi", "jnz 2b", $store, "ret")
        }
    };
}

/// A hot loop on 15 accumulators and a constant in 128-bit registers, moved by `$mov`.
macro_rules! hot_xmm {
    ($name:ident, $mov:literal, $body:expr) => {
        hot!(
            $name,
            concat!(".irp k,", sixteen!(), "\n", $mov, " xmm\\k, [rdi + 64*\\k]\n.endr\n"),
            $body,
            concat!(".irp k,", fifteen!(), "\n", $mov, " [rdi + 64*\\k], xmm\\k\n.endr\n")
        );
    };
}

/// A hot loop like [`hot_xmm`] in 256-bit registers.
macro_rules! hot_ymm {
    ($name:ident, $body:expr) => {
        hot!(
            $name,
            concat!(".irp k,", sixteen!(), "\nvmovups ymm\\k, [rdi + 64*\\k]\n.endr\n"),
            $body,
            concat!(".irp k,", fifteen!(), "\nvmovups [rdi + 64*\\k], ymm\\k\n.endr\nvzeroupper")
        );
    };
}

/// A hot loop on 30 accumulators and a constant in 512-bit registers.
macro_rules! hot_zmm {
    ($name:ident, $body:expr) => {
        hot!(
            $name,
            concat!(".irp k,", thirty!(), ",30\nvmovups zmm\\k, [rdi + 64*\\k]\n.endr\n"),
            $body,
            concat!(".irp k,", thirty!(), "\nvmovups [rdi + 64*\\k], zmm\\k\n.endr\nvzeroupper")
        );
    };
}

/// A hot loop on 13 accumulators and a step in general registers.
macro_rules! hot_general {
    ($name:ident, $body:expr) => {
        hot!($name, load_general!(), $body, store_general!());
    };
}

/// Numbers of the accumulators.
macro_rules! fifteen {
    () => {
        "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14"
    };
}
macro_rules! sixteen {
    () => {
        concat!(fifteen!(), ",15")
    };
}
macro_rules! thirty {
    () => {
        concat!(sixteen!(), ",16,17,18,19,20,21,22,23,24,25,26,27,28,29")
    };
}

/// Loads 13 accumulators and the step in `r15`. The pointer to the state is on the stack, since its
/// register is an accumulator too.
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

/// Stores the registers that [`load_general`] loaded, and restores those that the callee must
/// preserve.
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

use {
    fifteen, hot, hot_general, hot_xmm, hot_ymm, hot_zmm, load_general, sixteen, store_general,
    thirty,
};
