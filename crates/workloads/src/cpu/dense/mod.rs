//! Dense matrices: products and linear systems at the speed of the execution ports.
//!
//! `matrix` defines the memory layout. `tile` and `columns` are the inner loops for any `vector`;
//! `loops` instantiates them per instruction set. `product` uses these. `gemm` uses `product`, and
//! so does the `solver`, through `update`, `lu` and `back`. `residual` verifies its solutions.
//!
//! To add an instruction set: implement `Vector`, add its lines at the end of `loops` and in
//! `loops::find`, and its name in `Isa` and [`ISAS`].

mod back;
mod columns;
pub(super) mod gemm;
mod loops;
pub(super) mod lu;
mod matrix;
mod product;
pub(super) mod random;
mod residual;
pub(super) mod solver;
#[cfg(test)]
mod tests;
mod tile;
mod update;
mod vector;

use std::borrow::Cow;
use std::hint::black_box;
use std::sync::Arc;

use proofmark_engine::{AHEAD_S, Needs, Refusal, raw_seconds};
use proofmark_model::{
    AUTO, CacheKind, Host, Parameter, Params, Role, Subsystem, Unit, Work, WorkloadSpec,
    ceiling_id, key,
};

use self::loops::Loops;
use self::matrix::{GROUP, Matrix};
use self::product::Product;
use self::tile::{Tile, Update};
use super::isa::{Isa, OnThisCpu};
use super::task::concurrent_threads;
use crate::arena::{Arena, Pages};
use crate::declare::{Words, choice_parameter, count_parameter, rate, threads_parameter, words};
use crate::params::{required, resolved};
use crate::share;

/// Maximum rows and columns of a matrix.
const MAX_N: u64 = 1_000_000;

const THREADS: Parameter =
    threads_parameter("Threads, each pinned to a CPU, that share the matrices.", "1");

#[cfg(target_arch = "x86_64")]
const ISAS: &[Cow<'static, str>] =
    &words([Isa::Sse2.name(), Isa::Avx2Fma.name(), Isa::Avx512.name()]);
#[cfg(not(target_arch = "x86_64"))]
const ISAS: &[Cow<'static, str>] = &[Cow::Borrowed(Isa::Scalar.name())];

const ISA: Parameter = choice_parameter(
    key::ISA,
    "Instruction set of the inner loops; auto: the widest of this CPU.",
    ISAS,
    AUTO,
);

const BLOCK: Parameter = count_parameter(
    key::MATRIX_BLOCK,
    "Block depth, a multiple of 8, like HPL's NB. cpu.dgemm: depth of the block of B, which stays \
     in the L2 cache and is two thirds as wide. cpu.linpack: width of the widest panel; panels get \
     narrower towards the end. auto: a square block fills 5/8 of the L2 cache, at most 256 \
     (cpu.dgemm: 400).",
    16..=1024,
    AUTO,
);

/// Returns the parameters of a workload, from the description and default of its `n`.
pub(super) const fn parameters(n: &'static str, default: &'static str) -> [Parameter; 4] {
    let n = count_parameter(key::MATRIX_SIZE, n, 1..=MAX_N, default);
    [THREADS, n, ISA, BLOCK]
}

/// Returns the declaration of a workload with one complete solve per trial.
pub(super) const fn spec(
    words: Words,
    parameters: &'static [Parameter],
    role: Role,
) -> WorkloadSpec {
    let (what, ceilings) =
        ((Subsystem::Cpu, Unit::FlopPerSecond), &[Cow::Borrowed(ceiling_id::CPU_PEAK)]);
    let mut spec =
        rate(words, what, parameters, Some(key::MATRIX_SIZE.name()), ceilings, Work::CORE, role);
    spec.work.whole_problem = true;
    spec
}

/// Returns memory for the matrices of a configuration, which must be filled again.
pub(super) fn arena(workload: &str, bytes: u64, shape: &Shape) -> Result<Arc<Arena>, Refusal> {
    let arena = Arena::get(bytes, Pages::Huge, shape.threads as u64)?;
    arena.holds(&format!("{workload} {}", shape.n));
    Ok(arena)
}

#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) n: usize,
    pub(super) threads: usize,
    pub(super) loops: &'static Loops,
    /// Depth of a block, in groups of columns.
    pub(super) block: usize,
}

impl Shape {
    pub(super) fn from_params(workload: &str, params: &Params) -> Result<Self, Refusal> {
        let int = |key| required(params, key).map(|value| value as usize);
        let isa = Isa::for_this_cpu(params)?;
        let loops = loops::find(isa).ok_or_else(|| {
            Refusal(format!("{workload} has no {} loops for this architecture", isa.name()))
        })?;
        let (threads, nb) = (int(key::THREADS).unwrap_or(1).max(1), int(key::MATRIX_BLOCK)?);
        if !nb.is_multiple_of(GROUP) {
            return Err(Refusal(format!("nb {nb} is not a multiple of {GROUP}")));
        }
        Ok(Self { n: int(key::MATRIX_SIZE)?, threads, loops, block: nb / GROUP })
    }
}

/// Returns the instruction sets of this CPU that have loops, the widest last.
fn supported_isas() -> impl Iterator<Item = Isa> {
    Isa::ALL.into_iter().filter(|isa| isa.is_supported() && loops::find(*isa).is_some())
}

/// Share of the L2 cache that a square block fills.
const FILL: f64 = 0.625;

/// Resolves `auto`: the widest instruction set, and blocks that fit into the L2 cache, up to
/// `widest`.
pub(super) fn resolve_auto(params: Params, host: &Host, widest: u64) -> Vec<Params> {
    let params = resolved(params, key::ISA, |_| {
        supported_isas().last().map_or(Isa::Scalar.name(), Isa::name)
    });
    vec![resolved(params, key::MATRIX_BLOCK, |_| {
        let caches = host.cpu.caches.get().map(Vec::as_slice).unwrap_or_default();
        let second = caches.iter().find(|c| c.level == 2 && c.kind != CacheKind::Instruction);
        let fills = second.map_or(widest, |c| (c.size_bytes as f64 * FILL / 8.0).sqrt() as u64);
        (fills / 16 * 16).clamp(32, widest)
    })]
}

/// Returns the needs of `elements` matrix elements and `share` n^3 operations, at 50 Gop/s per CPU.
pub(super) fn needs(shape: &Shape, elements: usize, share: f64) -> Needs {
    let seconds =
        share * (shape.n as f64).powi(3) / 5e10 / concurrent_threads(shape.threads as u64);
    Needs { memory_bytes: 8 * elements as u64, fixed_s: Some(seconds), ..Needs::default() }
}

/// Multiplies small matrices of zeros so that the core reaches its clock under this load.
#[allow(unsafe_code)] // Calls the inner loops on its own matrices.
pub(super) fn warm(shape: &Shape) {
    const SIDE: usize = 48;
    const GROUPS: usize = SIDE / GROUP;
    let lines = matrix::lines_for(SIDE);
    let mut memory = vec![Line::default(); 3 * lines * GROUPS];
    let base = memory.as_mut_ptr().cast::<f64>();
    let at = |i: usize| {
        Matrix::at(base.wrapping_add(i * Matrix::elements(lines, GROUPS)), lines, GROUPS)
    };
    let [a, b, c] = [at(0), at(1), at(2)];
    let product = Product {
        first: Tile {
            a: a.line(0, 0),
            a_row: GROUP,
            a_group: a.stride(),
            b: b.line(0, 0),
            b_group: b.stride(),
            c: c.line(0, 0),
            c_row: GROUP,
            c_group: c.stride(),
            depth: GROUPS,
        },
        rows: SIDE,
        groups: GROUPS,
    };
    let start = raw_seconds();
    while raw_seconds() - start < AHEAD_S {
        // SAFETY: the three matrices belong to this function and have lines below the last row. The
        // CPU has the loops' instructions.
        unsafe { product.run(shape.loops, Update::Add, None) };
    }
    black_box(&memory);
}

/// A line in memory that Rust owns.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [f64; GROUP]);
