//! Instruction sets that workloads are written for, as data: the facts that ceilings and checks
//! need, so that none matches a name.

use crate::{Params, key};

/// An instruction set that a workload is written for. The `isa` parameter has the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// One number per instruction.
    Scalar,
    /// 128-bit vectors in the legacy encoding.
    Sse2,
    /// 256-bit vectors, multiply and add separate.
    Avx2,
    /// 256-bit vectors, multiply and add fused.
    Avx2Fma,
    /// 512-bit vectors, multiply and add fused.
    Avx512,
}

struct Row {
    name: &'static str,
    /// Width of a vector; `None`: one number.
    vector_bits: Option<u32>,
    fused: bool,
    licence: u8,
    flags: &'static [&'static str],
}

impl Isa {
    /// All instruction sets, the narrowest first.
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

    /// Returns the name in the `isa` parameter.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the bits of a vector; `None` where an instruction takes one number.
    pub const fn vector_bits(self) -> Option<u32> {
        self.row().vector_bits
    }

    /// Returns how many numbers of so many bytes fit in one register.
    pub const fn lanes(self, bytes: usize) -> usize {
        match self.vector_bits() {
            Some(bits) => bits as usize / 8 / bytes,
            None => 1,
        }
    }

    /// Returns true if one instruction multiplies and adds.
    pub const fn fused(self) -> bool {
        self.row().fused
    }

    /// Returns the class of the clock that cores allow for it, as Intel's licences. 0 is the
    /// highest clock; 1 is that of 256-bit vectors, 2 that of 512-bit vectors.
    pub const fn licence(self) -> u8 {
        self.row().licence
    }

    /// Returns the flags that a CPU with this instruction set reports.
    pub const fn flags(self) -> &'static [&'static str] {
        self.row().flags
    }

    /// Returns the instruction set of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|isa| isa.name() == name)
    }

    /// Returns the instruction set of a configuration; `None` without one or with an unknown one.
    pub fn from_params(params: &Params) -> Option<Self> {
        params.get(key::ISA).and_then(Self::named)
    }
}
