//! The instruction sets and number types of workloads.

use proofmark_engine::Refusal;
pub(crate) use proofmark_model::Isa;
use proofmark_model::{Params, key};

use crate::params::choice;

/// The properties of an instruction set that depend on the running CPU.
pub(crate) trait OnThisCpu: Sized {
    /// Returns true if this CPU and its operating system support the instruction set.
    fn is_supported(&self) -> bool;

    /// Returns the instruction set, or a refusal if this CPU does not support it.
    fn supported(self) -> Result<Self, Refusal>;

    /// Returns the instruction set that the parameters name, if this CPU supports it.
    fn for_this_cpu(params: &Params) -> Result<Self, Refusal>;
}

impl OnThisCpu for Isa {
    #[cfg(target_arch = "x86_64")]
    fn is_supported(&self) -> bool {
        match self {
            Self::Scalar | Self::Sse2 => true, // Every x86-64 has SSE2.
            Self::Avx2 => std::is_x86_feature_detected!("avx2"),
            Self::Avx2Fma => {
                std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
            }
            Self::Avx512 => std::is_x86_feature_detected!("avx512f"),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_supported(&self) -> bool {
        *self == Self::Scalar
    }

    fn supported(self) -> Result<Self, Refusal> {
        match self.is_supported() {
            true => Ok(self),
            false => Err(Refusal(format!("this CPU does not support {}", self.name()))),
        }
    }

    fn for_this_cpu(params: &Params) -> Result<Self, Refusal> {
        choice(params, key::ISA, &Self::ALL.map(|isa| (isa.name(), isa)))?.supported()
    }
}

/// A number type. Names as in the `type` parameter.
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

    /// Formats a lane's bits as a number.
    pub(crate) fn show(self, bits: u64) -> String {
        match self {
            Self::F64 => f64::from_bits(bits).to_string(),
            Self::F32 => f32::from_bits(bits as u32).to_string(),
            Self::I64 => (bits as i64).to_string(),
            Self::I32 => (bits as u32 as i32).to_string(),
        }
    }
}
