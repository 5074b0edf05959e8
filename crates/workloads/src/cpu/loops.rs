//! `cpu.flops`, `cpu.iops`, `cpu.mix.float` and `cpu.mix.int`: hot loops on registers.

use std::borrow::Cow;

use proofmark_engine::{Amount, Configuration, Refusal, Workload};
use proofmark_model::{
    Isa, Parameter, Params, Property, Role, Unit, WorkloadSpec, ceiling_id, key,
};

use super::native;
use super::task::{self, Task, spec};
use super::work::Variant;
use crate::declare::{ALL_CPUS, BEST_ISA, ONE_CPU, Words, alternative, main_row, place, words};
use crate::params::required;

/// A workload that runs one of several hot loops.
pub struct Loops {
    spec: &'static WorkloadSpec,
    loops: &'static [Variant],
}

pub static FLOPS: Loops = Loops { spec: &FLOPS_SPEC, loops: native::FLOPS };
pub static IOPS: Loops = Loops { spec: &IOPS_SPEC, loops: native::IOPS };
pub static MIX_FLOAT: Loops = Loops { spec: &MIX_FLOAT_SPEC, loops: native::MIX_FLOAT };
pub static MIX_INT: Loops = Loops { spec: &MIX_INT_SPEC, loops: native::MIX_INT };

const FLOPS_PARAMETERS: &[Parameter] = &[
    task::THREADS,
    task::isa_parameter(
        const {
            &words([
                Isa::Scalar.name(),
                Isa::Sse2.name(),
                Isa::Avx2.name(),
                Isa::Avx2Fma.name(),
                Isa::Avx512.name(),
            ])
        },
    ),
    task::type_parameter(const { &words(["f64", "f32"]) }, "f64"),
];

static FLOPS_SPEC: WorkloadSpec = spec(
    Words {
        id: "cpu.flops",
        title: "FP peak",
        summary: "Peak rate of additions and multiplications on registers, by instruction set.",
        detail: "The loop multiplies many independent registers by 1 and adds 1 to them. No \
                 instruction waits for another, and no memory is touched. scalar, sse2 and avx2 \
                 run equal numbers of multiplications and additions. avx2+fma and avx512 use \
                 fused multiply-adds. Each multiplication and each addition of each lane counts \
                 as one operation, so a fused instruction on 4 lanes counts 8. On x86-64 the loop \
                 is assembly. On other architectures it is Rust that the compiler cannot \
                 simplify. Verification: every lane starts from its own value and must end \
                 exactly 1 higher per addition. proofmark derives the number of iterations from \
                 these values, at least once per 8388608 additions, while f32 still counts \
                 exactly.",
        method: 2,
    },
    Unit::FlopPerSecond,
    FLOPS_PARAMETERS,
    &[Cow::Borrowed(ceiling_id::CPU_PEAK)],
    const {
        Role {
            main_rows: Cow::Borrowed(
                const {
                    &[
                        main_row(1, "FP peak", const { &[ONE_CPU, BEST_ISA] }),
                        main_row(2, "FP peak", const { &[ALL_CPUS, BEST_ISA] }),
                    ]
                },
            ),
            provides: Cow::Borrowed(&[Property::PeakFlops]),
            ..Role::NONE
        }
    },
);

const IOPS_PARAMETERS: &[Parameter] = &[
    task::THREADS,
    task::isa_parameter(
        const { &words([Isa::Scalar.name(), Isa::Sse2.name(), Isa::Avx2.name(), Isa::Avx512.name()]) },
    ),
    task::type_parameter(const { &words(["i64", "i32"]) }, "i64"),
];

static IOPS_SPEC: WorkloadSpec = spec(
    Words {
        id: "cpu.iops",
        title: "Integer peak",
        summary: "Peak rate of integer additions on registers, by instruction set.",
        detail: "The loop adds one register to many independent others. No instruction waits for \
                 another, and no memory is touched. Each addition of each lane counts as one \
                 operation. The addend is in a register: recent cores execute additions of a \
                 constant without using an execution port. On x86-64 the loop is assembly. On \
                 other architectures it is Rust that the compiler cannot simplify. Verification: \
                 every lane starts from its own value, and the addend is a large odd number. The \
                 final values, modulo 2^64 or 2^32, give the exact number of additions. All lanes \
                 must agree.",
        method: 2,
    },
    Unit::OpPerSecond,
    IOPS_PARAMETERS,
    &[Cow::Borrowed(ceiling_id::CPU_PEAK)],
    const {
        Role {
            main_rows: Cow::Borrowed(
                const { &[main_row(3, "Integer peak", const { &[ALL_CPUS, BEST_ISA] })] },
            ),
            ..Role::NONE
        }
    },
);

const MIX_ISAS: Parameter =
    task::isa_parameter(const { &words([Isa::Scalar.name(), Isa::Avx2.name()]) });

const fn mix_parameters(number: Parameter) -> [Parameter; 5] {
    [task::THREADS, task::MIX, MIX_ISAS, number, task::ITERATIONS]
}

const MIX_FLOAT_PARAMETERS: &[Parameter] =
    &mix_parameters(task::type_parameter(&[Cow::Borrowed("f64")], "f64"));

/// The text that the `detail` of both mixes shares, around their own sentences.
macro_rules! mix_detail {
    ($operations:literal, $counting:literal, $verification:literal) => {
        concat!(
            "One pass of the loop is one iteration. add16: 16 additions to independent registers. \
             arith17: 5 additions, 4 subtractions, 4 multiplications, 2 divisions and 2 \
             comparisons. In arith17 one counter is multiplied by 3 and divided by 3, another by 7 \
             and by 7. Each quotient is compared with its counter and added to a sum, from which \
             the counter is subtracted. ",
            $operations,
            " A comparison counts as one operation; ",
            $counting,
            " The threads divide a fixed total of iterations (strong scaling). Verification: the \
             final counters must give the same number of iterations. ",
            $verification
        )
    };
}

static MIX_FLOAT_SPEC: WorkloadSpec = spec(
    Words {
        id: "cpu.mix.float",
        title: "Floating-point instruction mix",
        summary: "The rate of a fixed mix of floating-point operations. The threads share a fixed \
                  number of iterations.",
        detail: mix_detail!(
            "x * 2 - 3 stays at its fixed point 3, and x / 2 + 7 (by multiplication with 1/2) at \
             14. The dividends change in each iteration, and every result is exact.",
            "loop counting and operand moves do not count. avx2 runs every operation on 4 lanes, \
             and each lane counts.",
            "The sums, the fixed points and, with avx2, the comparisons must match that number."
        ),
        method: 2,
    },
    Unit::OpPerSecond,
    MIX_FLOAT_PARAMETERS,
    &[Cow::Borrowed(ceiling_id::CPU_MIX)],
    const { Role { tables: Cow::Borrowed(&[place("instruction_mixes", 2, "GFLOPS")]), ..Role::NONE } },
);

const MIX_INT_PARAMETERS: &[Parameter] =
    &mix_parameters(task::type_parameter(&[Cow::Borrowed("i64")], "i64"));

static MIX_INT_SPEC: WorkloadSpec = spec(
    Words {
        id: "cpu.mix.int",
        title: "Integer instruction mix",
        summary: "The rate of a fixed mix of integer operations. The threads share a fixed number \
                  of iterations.",
        detail: mix_detail!(
            "Two recurrences multiply and then add or subtract, modulo 2^64. The divisors are in \
             registers, and the dividends change in each iteration.",
            "loop counting, operand moves and sign extensions do not count. avx2 runs every \
             operation on 4 lanes, and each lane counts. x86-64 has no vector division of \
             integers, so arith17 has no avx2.",
            "The sums and recurrences must match that number."
        ),
        method: 2,
    },
    Unit::OpPerSecond,
    MIX_INT_PARAMETERS,
    &[Cow::Borrowed(ceiling_id::CPU_MIX)],
    const {
        Role {
            tables: Cow::Borrowed(&[place("instruction_mixes", 1, "GIOPS")]),
            counterparts: Cow::Borrowed(&[alternative(
                "cpu.mix.float",
                const { &words([key::ISA.name(), key::NUMBER_TYPE.name()]) },
            )]),
            ..Role::NONE
        }
    },
);

impl Loops {
    /// Returns true if a trial is a fixed number of iterations of a mix. Otherwise the rate is
    /// calibrated.
    fn is_mix(&self) -> bool {
        self.spec.has(key::MIX)
    }
}

impl Workload for Loops {
    fn spec(&self) -> &'static WorkloadSpec {
        self.spec
    }

    fn configure(&self, params: &Params) -> Result<Box<dyn Configuration>, Refusal> {
        let variant = task::find(&self.spec.id, self.loops, params, self.is_mix())?;
        let amount = match self.is_mix() {
            true => Amount::Total(required(params, key::ITERATIONS)?),
            false => Amount::Calibrated,
        };
        Ok(Box::new(Task { variant, amount, threads: params.threads() }))
    }
}
