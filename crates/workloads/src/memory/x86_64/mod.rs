//! Stream loops for x86-64, as whole functions in assembly.
//!
//! Every turn of every loop takes 256 bytes, four lines, of each array. There are two
//! kinds. *Far* loops, for data that comes from memory, in two forms, see [`Form`].
//! *Near* loops, for the further passes over a segment that the first has brought into
//! the cache: one stream and no prefetches, which would take the place of loads. How
//! each operation's streams and distances were chosen is written next to it.
//!
//! Registers: `rdi`, `rdx`, `rcx` walk `dst`, `a`, `b`; `rsi` counts passes, `r10`
//! bytes; `r8` is the length of a stream, `r9` three of it; `r11` the segment. Vector
//! register 15 holds `k`, 14 the stamp, 13 the number one.

#![allow(unsafe_code)] // Naked functions are unsafe attributes; their contract is `Loop`.

mod nontemporal;
mod read;
mod temporal;

use super::segment::Loop;
use super::stream::op::{Op, Stores};
use crate::cpu::isa::Isa;

/// How a far loop gets its data from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// In 1, 2 or 4 streams side by side, so that the prefetchers of the core have several pages to
    /// follow, and with prefetches of its own where they help.
    Guided,
    /// In one stream, all left to the core.
    Plain,
}

impl Form {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 2] = [Self::Guided, Self::Plain];

    /// The one for this machine.
    pub(crate) fn here() -> Self {
        let leaf = std::arch::x86_64::__cpuid(0);
        Self::choose_for([leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes).as_flattened())
    }

    /// Guided on Intel's cores, plain on others, as measured on Granite Rapids and Zen 4: the
    /// other form costs between nothing and two fifths there, by operation.
    pub(crate) fn choose_for(vendor: &[u8]) -> Self {
        if vendor == b"GenuineIntel" { Self::Guided } else { Self::Plain }
    }
}

/// The loop of that form for that operation; `None` for sets without one.
/// [`Isa::Avx2Fma`] has none: the operations round product and sum apart.
pub(crate) fn find(form: Form, op: Op, stores: Stores, isa: Isa) -> Option<Loop> {
    let rows = match (op, stores, form) {
        (Op::Read, _, Form::Guided) => read::GUIDED,
        (Op::Read, _, Form::Plain) => read::PLAIN,
        (_, Stores::Temporal, Form::Guided) => temporal::GUIDED,
        (_, Stores::Temporal, Form::Plain) => temporal::PLAIN,
        (_, Stores::NonTemporal, Form::Guided) => nontemporal::GUIDED,
        (_, Stores::NonTemporal, Form::Plain) => nontemporal::PLAIN,
    };
    rows.iter().find(|row| row.0 == op && row.1 == isa).map(|row| row.2)
}

/// An operation, an instruction set and the loop.
type Row = (Op, Isa, Loop);

/// The rows of all loops that store: `$function!` defines one, from its name, its
/// operation, its registers and the instruction that stores them.
macro_rules! rows {
    ($function:ident, $sse2:literal, $avx:literal) => {
        rows!($function, $sse2, $avx, Write write, Copy copy, Scale scale, Add add, Triad triad)
    };
    ($function:ident, $sse2:literal, $avx:literal, $($variant:ident $op:ident),*) => {
        &[$(
            (Op::$variant, Isa::Sse2, { $function!(f, $op, xmm, $sse2); f }),
            (Op::$variant, Isa::Avx2, { $function!(f, $op, ymm, $avx); f }),
            (Op::$variant, Isa::Avx512, { $function!(f, $op, zmm, $avx); f }),
        )*]
    };
}

/// The body of a turn: `$line` once for each of the four lines, `$vector` for each
/// vector of a line. They name the place as `\l` and `\l+\v`.
macro_rules! turn {
    ($streams:tt, $width:tt, $line:expr, $vector:expr) => {
        concat!(
            ".irp l,",
            lines!($streams),
            "\n",
            $line,
            "\n.irp v,",
            vectors!($width),
            "\n",
            $vector,
            "\n.endr\n.endr\n"
        )
    };
}

/// One vector of an operation, stored by `$store` in that register file.
macro_rules! vector {
    (write, $width:tt, $store:literal) => {
        concat!($store, " [rdi+\\l+\\v], ", stringify!($width), "14")
    };
    ($op:tt, xmm, $store:literal) => {
        concat!(vector!($op sse2), "\n", $store, " [rdi+\\l+\\v], xmm2")
    };
    ($op:tt, $width:tt, $store:literal) => {
        concat!(
            vector!($op vex stringify!($width)),
            "\n",
            $store,
            " [rdi+\\l+\\v], ",
            stringify!($width),
            "2"
        )
    };
    (copy sse2) => {
        "movapd xmm2, [rdx+\\l+\\v]"
    };
    (scale sse2) => {
        "movapd xmm2, [rdx+\\l+\\v]\nmulpd xmm2, xmm15"
    };
    (add sse2) => {
        "movapd xmm2, [rdx+\\l+\\v]\naddpd xmm2, [rcx+\\l+\\v]"
    };
    (triad sse2) => {
        "movapd xmm2, [rcx+\\l+\\v]\nmulpd xmm2, xmm15\naddpd xmm2, [rdx+\\l+\\v]"
    };
    (copy vex $w:expr) => {
        concat!("vmovapd ", $w, "2, [rdx+\\l+\\v]")
    };
    (scale vex $w:expr) => {
        concat!("vmulpd ", $w, "2, ", $w, "15, [rdx+\\l+\\v]")
    };
    (add vex $w:expr) => {
        concat!(
            "vmovapd ", $w, "2, [rdx+\\l+\\v]\nvaddpd ", $w, "2, ", $w, "2, [rcx+\\l+\\v]"
        )
    };
    (triad vex $w:expr) => {
        concat!(
            "vmulpd ", $w, "2, ", $w, "15, [rcx+\\l+\\v]\nvaddpd ", $w, "2, ", $w,
            "2, [rdx+\\l+\\v]"
        )
    };
}

/// The four lines of a turn.
macro_rules! lines {
    (1) => {
        "0,64,128,192"
    };
    (2) => {
        "0,64,r8,r8+64"
    };
    (4) => {
        "0,r8,2*r8,r9"
    };
}

/// The vectors of a line.
macro_rules! vectors {
    (xmm) => {
        "0,16,32,48"
    };
    (ymm) => {
        "0,32"
    };
    (zmm) => {
        "0"
    };
}

/// From one turn to the next, then back to `2`.
macro_rules! advance {
    (1) => {
        advance!("256")
    };
    (2) => {
        advance!("128")
    };
    (4) => {
        advance!("64")
    };
    ($step:literal) => {
        concat!(".irp r,rdi,rdx,rcx\nadd \\r, ", $step, "\n.endr\nsub r10, 256\njnz 2b\n")
    };
}

/// Sets `r11` to the segment, `r8` and `r9` for that many streams, register 13 to
/// one and 15 to `k`; leaves for `9` if there is nothing to do.
macro_rules! enter {
    ($streams:tt, $width:tt) => {
        concat!(
            "mov r11, rdi\nxor eax, eax\ntest rsi, rsi\njz 9f\nmov r8, [r11 + 24]\n",
            enter!($streams),
            "lea r9, [r8 + 2*r8]\nmov r10, 0x3ff0000000000000\n",
            enter!($width)
        )
    };
    (1) => {
        ""
    };
    (2) => {
        "shr r8, 1\n"
    };
    (4) => {
        "shr r8, 2\n"
    };
    (xmm) => {
        "movq xmm13, r10\nunpcklpd xmm1, xmm1\nmovapd xmm15, xmm1\n"
    };
    (ymm) => {
        "vmovq xmm13, r10\nvbroadcastsd ymm15, xmm1\n"
    };
    (zmm) => {
        "vmovq xmm13, r10\nvbroadcastsd zmm15, xmm1\n"
    };
}

/// Before a pass: the cursors to the start, the stamp into register 14, and the next
/// pass's stamp into `xmm0`.
macro_rules! begin {
    ($width:tt) => {
        concat!(
            "mov rdi, [r11]\nmov rdx, [r11 + 8]\nmov rcx, [r11 + 16]\nmov r10, [r11 + 24]\n",
            begin!(stamp $width)
        )
    };
    (stamp xmm) => {
        "movapd xmm14, xmm0\nunpcklpd xmm14, xmm14\naddsd xmm0, xmm13\n"
    };
    (stamp ymm) => {
        "vbroadcastsd ymm14, xmm0\nvaddsd xmm0, xmm0, xmm13\n"
    };
    (stamp zmm) => {
        "vbroadcastsd zmm14, xmm0\nvaddsd xmm0, xmm0, xmm13\n"
    };
}

/// Before a pass: the stamp into the last line of `a`, of operations that store what they load.
macro_rules! stamp {
    (read $width:tt) => {
        ""
    };
    (write $width:tt) => {
        ""
    };
    ($op:tt xmm) => {
        stamp!("movapd", "xmm14", "0,16,32,48")
    };
    ($op:tt ymm) => {
        stamp!("vmovapd", "ymm14", "0,32")
    };
    ($op:tt zmm) => {
        stamp!("vmovapd", "zmm14", "0")
    };
    ($mov:literal, $register:literal, $vectors:literal) => {
        concat!(
            ".irp v,",
            $vectors,
            "\n",
            $mov,
            " [rdx + r10 - 64 + \\v], ",
            $register,
            "\n.endr\n"
        )
    };
}

/// Ends the function; wide registers leave clean.
macro_rules! leave {
    (xmm) => {
        "ret"
    };
    ($width:tt) => {
        "vzeroupper\nret"
    };
}

/// A function of one loop, every pass of it.
macro_rules! one_loop {
    ($name:ident, $op:tt, $width:tt, $streams:tt, $turn:expr) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name(_: &Segment, _: u64, _: f64, _: f64) -> u64 {
            naked_asm!(
                enter!($streams, $width),
                "3:",
                begin!($width),
                stamp!($op $width),
                ".p2align 6",
                "2:",
                $turn,
                advance!($streams),
                "dec rsi",
                "jnz 3b",
                "9:",
                leave!($width),
            )
        }
    };
}

/// A function whose first pass is a far loop and whose further passes are near.
/// `$clear` comes before both and `$result` after them, where `rax` is set.
macro_rules! two_loops {
    ($name:ident, $op:tt, $width:tt, $streams:tt, $far:expr, $near:expr, $clear:expr, $result:expr) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name(_: &Segment, _: u64, _: f64, _: f64) -> u64 {
            naked_asm!(
                enter!($streams, $width),
                $clear,
                begin!($width),
                stamp!($op $width),
                ".p2align 6",
                "2:",
                $far,
                advance!($streams),
                "dec rsi",
                "jz 4f",
                "3:",
                begin!($width),
                stamp!($op $width),
                ".p2align 6",
                "2:",
                $near,
                advance!(1),
                "dec rsi",
                "jnz 3b",
                "4:",
                $result,
                "9:",
                leave!($width),
            )
        }
    };
}

/// A function of a plain loop: the same for data from memory and from the cache.
macro_rules! plain {
    ($name:ident, $op:tt, $width:tt, $store:literal) => {
        one_loop!($name, $op, $width, 1, turn!(1, $width, "", vector!($op, $width, $store)));
    };
}

use {
    advance, begin, enter, leave, lines, one_loop, plain, rows, stamp, turn, two_loops, vector,
    vectors,
};
