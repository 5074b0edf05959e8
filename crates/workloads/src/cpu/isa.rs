//! Which instructions a workload uses, and on what type of number.

use proofmark_engine::Refusal;
use proofmark_model::{Params, key};

use crate::params::choice;

/// An instruction set that a workload is written for. Names as in the `isa` parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isa {
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

impl Isa {
    pub(crate) const ALL: [Self; 5] =
        [Self::Scalar, Self::Sse2, Self::Avx2, Self::Avx2Fma, Self::Avx512];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Sse2 => "sse2",
            Self::Avx2 => "avx2",
            Self::Avx2Fma => "avx2+fma",
            Self::Avx512 => "avx512",
        }
    }

    /// The instruction set that the parameters name, if this CPU has it.
    pub(crate) fn from_params(params: &Params) -> Result<Self, Refusal> {
        choice(params, key::ISA, &Self::ALL.map(|isa| (isa.name(), isa)))?.supported()
    }

    /// This one, if this CPU has it.
    pub(crate) fn supported(self) -> Result<Self, Refusal> {
        match self.is_supported() {
            true => Ok(self),
            false => Err(Refusal(format!("this CPU does not support {}", self.name()))),
        }
    }

    /// Numbers of that type in one register.
    pub(crate) const fn lanes(self, element: Element) -> usize {
        match self {
            Self::Scalar => 1,
            Self::Sse2 => 16 / element.bytes(),
            Self::Avx2 | Self::Avx2Fma => 32 / element.bytes(),
            Self::Avx512 => 64 / element.bytes(),
        }
    }

    /// Whether this CPU and its operating system run it.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn is_supported(self) -> bool {
        match self {
            Self::Scalar | Self::Sse2 => true, // every x86-64
            Self::Avx2 => std::is_x86_feature_detected!("avx2"),
            Self::Avx2Fma => {
                std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
            }
            Self::Avx512 => std::is_x86_feature_detected!("avx512f"),
        }
    }

    /// Whether this CPU and its operating system run it.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn is_supported(self) -> bool {
        self == Self::Scalar
    }
}

/// A type of number. Names as in the `type` parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F64,
    F32,
    I64,
    I32,
}

impl Element {
    pub(crate) const ALL: [Self; 4] = [Self::F64, Self::F32, Self::I64, Self::I32];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::I64 => "i64",
            Self::I32 => "i32",
        }
    }

    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::F64 | Self::I64 => 8,
            Self::F32 | Self::I32 => 4,
        }
    }

    /// A lane's bits as a person reads them.
    pub(crate) fn show(self, bits: u64) -> String {
        match self {
            Self::F64 => f64::from_bits(bits).to_string(),
            Self::F32 => f32::from_bits(bits as u32).to_string(),
            Self::I64 => (bits as i64).to_string(),
            Self::I32 => (bits as u32 as i32).to_string(),
        }
    }
}
