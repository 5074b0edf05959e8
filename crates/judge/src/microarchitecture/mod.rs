//! What one core of each known design can start in a cycle.
//!
//! A row holds sustained throughputs of register-to-register instructions, in
//! instructions per cycle, or for divisions in cycles per instruction. The rows
//! feed ceilings, so where sources differ the faster figure is taken: a ceiling
//! that is too high is loose, one that is too low calls an honest number
//! impossible. `None` means that no figure is documented well enough, or that the
//! design lacks the instruction.
//!
//! Sources, cited again by row: Intel 64 and IA-32 Architectures Optimization
//! Reference Manual; AMD Software Optimization Guides for families 17h, 19h and
//! 1Ah; Arm Software Optimization Guides; Agner Fog, *Instruction tables* and
//! *The microarchitecture of Intel, AMD and VIA CPUs*; Abel and Reineke,
//! uops.info (ASPLOS 2019).

mod amd;
mod arm;
mod intel;
pub mod memory;

/// Width of the registers that an instruction works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// One element.
    Scalar,
    /// 128-bit vector.
    V128,
    /// 256-bit vector.
    V256,
    /// 512-bit vector.
    V512,
}

impl Width {
    /// Elements of `element_bits` in one register.
    pub fn lanes(self, element_bits: u32) -> f64 {
        let bits = match self {
            Self::Scalar => return 1.0,
            Self::V128 => 128.0,
            Self::V256 => 256.0,
            Self::V512 => 512.0,
        };
        bits / f64::from(element_bits.max(1))
    }
}

/// A throughput by register width; `None`: not known, or no such instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByWidth {
    /// One element.
    pub scalar: Option<f64>,
    /// 128-bit vectors.
    pub v128: Option<f64>,
    /// 256-bit vectors.
    pub v256: Option<f64>,
    /// 512-bit vectors.
    pub v512: Option<f64>,
}

impl ByWidth {
    /// The figure for a width.
    pub fn at(&self, width: Width) -> Option<f64> {
        match width {
            Width::Scalar => self.scalar,
            Width::V128 => self.v128,
            Width::V256 => self.v256,
            Width::V512 => self.v512,
        }
    }
}

/// Nothing is known, or the design has no such instruction.
const NONE: ByWidth = ByWidth { scalar: None, v128: None, v256: None, v512: None };

/// The same figure for scalars and vectors of 128 and 256 bits.
const fn to_256(rate: f64) -> ByWidth {
    ByWidth { scalar: Some(rate), v128: Some(rate), v256: Some(rate), v512: None }
}

/// One figure up to 256 bits and another for 512.
const fn to_512(rate: f64, wide: f64) -> ByWidth {
    ByWidth { scalar: Some(rate), v128: Some(rate), v256: Some(rate), v512: Some(wide) }
}

/// One figure for scalars and 128 bits only.
const fn to_128(rate: f64) -> ByWidth {
    ByWidth { scalar: Some(rate), v128: Some(rate), v256: None, v512: None }
}

/// Scalars and 128 bits at one figure, 256 bits at another.
const fn split_256(rate: f64, wide: f64) -> ByWidth {
    ByWidth { scalar: Some(rate), v128: Some(rate), v256: Some(wide), v512: None }
}

/// What one core of a design can start in a cycle.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Id as in `host.cpu.microarchitecture`.
    pub id: &'static str,
    /// Multiplications and additions in equal numbers, not fused: instructions per cycle.
    pub multiply_add: ByWidth,
    /// Floating-point additions alone: instructions per cycle.
    pub float_add: ByWidth,
    /// Floating-point multiplications alone: instructions per cycle.
    pub float_multiply: ByWidth,
    /// Fused multiply-adds: instructions per cycle.
    pub fma: ByWidth,
    /// Integer additions: instructions per cycle.
    pub int_add: ByWidth,
    /// 64-bit integer multiplications, scalar: instructions per cycle.
    pub int_multiply: Option<f64>,
    /// f64 division: least cycles from one to the next.
    pub float_divide_cycles: ByWidth,
    /// 64-bit integer division, scalar: least cycles from one to the next.
    pub int_divide_cycles: Option<f64>,
    /// Where the figures come from.
    pub source: &'static str,
    /// What a reader must know of this row; empty if nothing.
    pub note: &'static str,
    /// True where products of this design differ in their 512-bit units, so that
    /// half of the 512-bit figure is ordinary.
    pub wide_varies: bool,
}

/// Every row, by vendor.
pub const ALL: &[&[Row]] = &[intel::ROWS, amd::ROWS, arm::ROWS];

/// All rows in one line.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    ALL.iter().flat_map(|vendor| vendor.iter())
}

/// The row of a design.
pub fn find(id: &str) -> Option<&'static Row> {
    rows().find(|row| row.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique_words_and_rows_cite_a_source() {
        let mut seen = BTreeSet::new();
        for row in rows() {
            assert!(seen.insert(row.id), "{} twice", row.id);
            assert!(
                row.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
                "{}",
                row.id
            );
            assert!(row.source.len() > 20, "{} cites no source", row.id);
            assert!(!row.wide_varies || !row.note.is_empty(), "{} says not what varies", row.id);
        }
    }

    #[test]
    fn figures_are_possible() {
        for row in rows() {
            let rates = [row.multiply_add, row.float_add, row.float_multiply, row.fma, row.int_add];
            for rate in rates {
                for width in [Width::Scalar, Width::V128, Width::V256, Width::V512] {
                    if let Some(r) = rate.at(width) {
                        assert!((0.5..=8.0).contains(&r), "{}: {r} per cycle", row.id);
                    }
                }
                if let (Some(narrow), Some(wide)) = (rate.v128, rate.v256) {
                    assert!(wide <= narrow, "{}: wider is not faster", row.id);
                }
            }
            // A stream of both kinds uses no more than the ports of the two together.
            for width in [Width::Scalar, Width::V256] {
                if let (Some(both), Some(add), Some(multiply)) = (
                    row.multiply_add.at(width),
                    row.float_add.at(width),
                    row.float_multiply.at(width),
                ) {
                    assert!(both <= add + multiply, "{}", row.id);
                }
            }
        }
    }

    #[test]
    fn measured_figures_of_designs_are_kept() {
        type Figure = fn(&Row) -> Option<f64>;
        let figures: [(&str, Figure, Option<f64>); 9] = [
            ("golden_cove_server", |d| d.multiply_add.v256, Some(3.0)),
            ("golden_cove_server", |d| d.int_add.scalar, Some(5.0)),
            ("golden_cove_server", |d| d.fma.v512, Some(2.0)),
            ("zen3", |d| d.multiply_add.v256, Some(4.0)),
            ("zen3", |d| d.int_add.v256, Some(4.0)),
            ("zen3", |d| d.fma.v512, None),
            ("zen4", |d| d.fma.v512, Some(1.0)),
            ("rocket_lake", |d| d.fma.v512, Some(1.0)),
            ("sandy_bridge", |d| d.int_add.v256, None),
        ];
        for (n, (id, figure, expected)) in figures.into_iter().enumerate() {
            assert_eq!(figure(find(id).unwrap()), expected, "row {n}: {id}");
        }
    }
}
