//! Stream loops for x86-64, as whole functions in assembly.
//!
//! Every turn of every loop takes 256 bytes (four lines) of each array. There are two kinds. *Far*
//! loops are for data from memory and have two forms, see [`Form`]. *Near* loops are for further
//! passes over a segment that the first pass brought into the cache. They have one stream and no
//! prefetches, which would take the place of loads. Each operation's file gives the reason for its
//! streams and distances.
//!
//! Registers: `rdi`, `rdx`, `rcx` walk `dst`, `a`, `b`. `rsi` counts passes, `r10` bytes. `r8` is
//! the length of a stream, `r9` three times that. `r11` is the segment. Vector register 15 holds
//! `k`, 14 the stamp, 13 the number one.

#![allow(unsafe_code)] // Naked functions are unsafe attributes; their contract is `Loop`.

mod nontemporal;
mod read;
mod temporal;

use super::segment::Loop;
use super::stream::op::{Op, Stores};
use crate::cpu::isa::Isa;

/// Method by which a far loop gets its data from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Uses 1, 2 or 4 parallel streams, so that the core's prefetchers have several pages to
    /// follow, and software prefetches where they help.
    Guided,
    /// Uses one stream with hardware prefetching only.
    Plain,
}

impl Form {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 2] = [Self::Guided, Self::Plain];

    /// Returns the form for this machine.
    pub(crate) fn here() -> Self {
        let leaf = std::arch::x86_64::__cpuid(0);
        Self::choose_for([leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes).as_flattened())
    }

    /// Returns the guided form for Intel CPUs and the plain form for others, as measured on Granite
    /// Rapids and Zen 4. The other form costs between nothing and two fifths there, depending on
    /// the operation.
    pub(crate) fn choose_for(vendor: &[u8]) -> Self {
        if vendor == b"GenuineIntel" { Self::Guided } else { Self::Plain }
    }
}

/// Returns the loop of this form for an operation, or `None` for instruction sets without one.
/// [`Isa::Avx2Fma`] has none: the operations round product and sum separately.
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

/// Builds the rows of all storing loops. `$function!` defines one loop from its name, its
/// operation, its registers and its store instruction.
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

/// The body of a turn: `$line` once for each of the four lines, `$vector` for each vector of a
/// line. They refer to the place as `\l` and `\l+\v`.
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

/// One vector of an operation, stored by `$store` from that register file.
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

/// Advances to the next turn, then jumps back to `2`.
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

/// Sets `r11` to the segment, `r8` and `r9` for this many streams, register 13 to one and 15 to
/// `k`. Jumps to `9` if there are no passes.
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

/// Begins a pass: moves the cursors to the start, copies the stamp to register 14, and advances
/// `xmm0` to the next pass's stamp.
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

/// Writes the stamp before a pass to the last line of `a`, for operations that store what they
/// load.
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

/// Ends the function, with the upper halves of wide registers cleared.
macro_rules! leave {
    (xmm) => {
        "ret"
    };
    ($width:tt) => {
        "vzeroupper\nret"
    };
}

/// A function with one loop for all passes.
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

/// A function whose first pass is a far loop and whose further passes are near loops. `$clear`
/// comes before both, and `$result`, which sets `rax`, after them.
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

/// A function with a plain loop: the same for data from memory and from the cache.
macro_rules! plain {
    ($name:ident, $op:tt, $width:tt, $store:literal) => {
        one_loop!($name, $op, $width, 1, turn!(1, $width, "", vector!($op, $width, $store)));
    };
}

use {
    advance, begin, enter, leave, lines, one_loop, plain, rows, stamp, turn, two_loops, vector,
    vectors,
};
