//! Instruction sets that workloads are written for, as data: what ceilings and checks need to know
//! of one, so that none matches its name.

use crate::{Params, key};

/// An instruction set that a workload is written for. Names as in the `isa` parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// One number an instruction.
    Scalar,
    /// 128-bit vectors in the legacy encoding.
    Sse2,
    /// 256-bit vectors, multiply and add apart.
    Avx2,
    /// 256-bit vectors, multiply and add fused.
    Avx2Fma,
    /// 512-bit vectors, multiply and add fused.
    Avx512,
}

struct Row {
    name: &'static str,
    /// `None`: one number.
    vector_bits: Option<u32>,
    fused: bool,
    licence: u8,
    flags: &'static [&'static str],
}

impl Isa {
    /// All of them, the narrowest first.
    pub const ALL: [Self; 5] = [Self::Scalar, Self::Sse2, Self::Avx2, Self::Avx2Fma, Self::Avx512];

    const fn row(self) -> Row {
        let (name, vector_bits, fused, licence, flags): (_, _, _, _, &[&str]) = match self {
            Self::Scalar => ("scalar", None, false, 0, &[]),
            Self::Sse2 => ("sse2", Some(128), false, 0, &[]),
            Self::Avx2 => ("avx2", Some(256), false, 1, &["avx2"]),
            Self::Avx2Fma => ("avx2+fma", Some(256), true, 1, &["avx2", "fma"]),
            Self::Avx512 => ("avx512", Some(512), true, 2, &["avx512f"]),
        };
        Row { name, vector_bits, fused, licence, flags }
    }

    /// The name, as in the `isa` parameter.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Bits of a vector; `None` where an instruction takes one number.
    pub const fn vector_bits(self) -> Option<u32> {
        self.row().vector_bits
    }

    /// Numbers of so many bytes in one register.
    pub const fn lanes(self, bytes: usize) -> usize {
        match self.vector_bits() {
            Some(bits) => bits as usize / 8 / bytes,
            None => 1,
        }
    }

    /// Whether one instruction multiplies and adds.
    pub const fn fused(self) -> bool {
        self.row().fused
    }

    /// Class of the clock that cores allow for it, as Intel's licences: 0 is the highest clock, 1
    /// that of 256-bit and 2 that of 512-bit vectors.
    pub const fn licence(self) -> u8 {
        self.row().licence
    }

    /// Flags that a CPU which has it reports.
    pub const fn flags(self) -> &'static [&'static str] {
        self.row().flags
    }

    /// The instruction set of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|isa| isa.name() == name)
    }

    /// The instruction set of a configuration; `None` without one or with an unknown one.
    pub fn of(params: &Params) -> Option<Self> {
        params.get(key::ISA).and_then(Self::named)
    }
}
