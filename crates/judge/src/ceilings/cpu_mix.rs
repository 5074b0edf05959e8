//! `cpu.mix`: the rate that the ports and the divider allow for an instruction mix.

use proofmark_model::{Bottleneck, Ceiling, Input, Measurement, Provenance, ceiling_id, key, word};

use super::CeilingRule;
use super::parts::{
    Formula, Purpose, assumed, at_clock, bits, clock, cores, input, input_of, isa, ports, row,
};
use crate::microarchitecture::{Row, Width};
use crate::{Capacity, Context};

/// Name of the input if the divider sets the ceiling.
const DIVIDER_INPUT: &str = "divider_cycles";

/// Name of the input if the ports set the ceiling.
const PORTS_INPUT: &str = "port_cycles";

/// Uncertainty of the shortest division, which differs a little by source and operands.
const DIVIDER_UNCERTAINTY: f64 = 0.1;

/// Additions of the mix of 17 operations, whose two comparisons use any free port.
const ADDS: f64 = 9.0;
const MULTIPLIES: f64 = 4.0;
const DIVIDES: f64 = 2.0;

struct Mix {
    float: bool,
    arith17: bool,
    width: Width,
    lanes: f64,
}

impl Mix {
    fn read(m: &Measurement) -> Result<Self, String> {
        let float = m.params.get(key::NUMBER_TYPE).is_some_and(|name| name.starts_with('f'));
        let arith17 = match m.params.get(key::MIX) {
            Some(word::ARITH17) => true,
            Some(word::ADD16) => false,
            Some(other) => return Err(format!("mix {other} is unknown")),
            None => return Err("the configuration has no mix".to_owned()),
        };
        let width = Width::for_isa(isa(m)?);
        if arith17 && !float && width != Width::Scalar {
            return Err(
                "there is no vector division of integers, and its replacement is not modelled"
                    .to_owned(),
            );
        }
        Ok(Self { float, arith17, width, lanes: width.lanes(bits(m)?) })
    }

    fn operations(&self) -> f64 {
        if self.arith17 { 17.0 } else { 16.0 }
    }

    /// Fewest cycles of one iteration on the ports.
    fn port_cycles(&self, row: &Row) -> Option<f64> {
        let adds = if self.float { row.float_add } else { row.int_add }.at(self.width)?;
        if !self.arith17 {
            return Some(16.0 / adds);
        }
        if !self.float {
            // Comparisons need an ALU, like additions.
            let multiplies = row.int_multiply.map_or(0.0, |rate| MULTIPLIES / rate);
            return Some(((ADDS + 2.0) / adds).max(multiplies));
        }
        let multiplies = MULTIPLIES / row.float_multiply.at(self.width)?;
        // The two kinds share ports, and equal numbers use them best.
        let ports = row.float_add.at(self.width)? + row.float_multiply.at(self.width)?;
        Some((ADDS / adds).max(multiplies).max((ADDS + MULTIPLIES) / ports))
    }

    /// Fewest cycles of one iteration on the divider.
    fn divider_cycles(&self, row: &Row) -> Option<f64> {
        if self.float {
            row.float_divide_cycles.at(self.width).map(|c| c * DIVIDES)
        } else {
            row.int_divide_cycles.map(|c| c * DIVIDES)
        }
    }

    /// Fewest cycles of one iteration, with the name of the limit.
    fn cycles(&self, row: &Row) -> Result<Input, String> {
        let ports = self
            .port_cycles(row)
            .ok_or_else(|| format!("the table has no figure for these additions on {}", row.id))?;
        if !self.arith17 {
            return Ok(assumed(PORTS_INPUT, ports, row));
        }
        let divider = self
            .divider_cycles(row)
            .ok_or_else(|| format!("the division throughput of {} is not documented", row.id))?;
        if divider > ports {
            Ok(assumed(DIVIDER_INPUT, divider, row))
        } else {
            Ok(assumed(PORTS_INPUT, ports, row))
        }
    }
}

/// Most operations per cycle and core of a design for this mix.
pub(crate) fn operations_per_cycle(m: &Measurement, row: &Row) -> Option<f64> {
    let mix = Mix::read(m).ok()?;
    let cycles = mix.cycles(row).ok()?.value;
    Some(mix.operations() * mix.lanes / cycles)
}

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::CPU_MIX,
    title: "Ports and divider under an instruction mix",
    about: "The highest rate of the published instruction mixes: cores x clock x operations x \
         lanes / cycles, where cycles are the minimum for one iteration. add16: 16 / additions per \
         cycle. arith17: the longer of two times. The ports need one for nine additions and \
         subtractions and four multiplications. The divider needs one for two divisions, at its \
         documented reciprocal throughput. Loop overhead and dependencies are omitted, so the \
         ceiling is loose. Cores and clock as in cpu.peak. Without a documented division \
         throughput arith17 has no ceiling. Uncertainty: as in cpu.peak, plus 10 % where the \
         divider sets the ceiling.",
    derive: |ctx, m| ceiling(ctx, m, Purpose::Share),
    bound: |ctx, m| ceiling(ctx, m, Purpose::Bound),
    bottleneck: Some(bottleneck),
};

fn ceiling(ctx: &Context, m: &Measurement, purpose: Purpose) -> Result<Ceiling, String> {
    let mix = Mix::read(m)?;
    let cycles = mix.cycles(row(ctx.host)?)?;
    let capacity = Capacity::derive(ctx.host, m)?;
    let (clock, clock_uncertainty) = clock(ctx.host, m, purpose)?;
    let by_divider = cycles.name == DIVIDER_INPUT;
    let plain = |name, value, note| input(name, value, "", Provenance::Assumed, note);
    let formula = Formula::from_input(cores(ctx.host, &capacity))
        .times(clock)
        .times(plain("operations", mix.operations(), "of one iteration, by definition of the mix"))
        .times(plain("lanes", mix.lanes, "numbers in one register, by definition of the isa"))
        .over(cycles);
    let uncertainty = clock_uncertainty
        + capacity.quota_slack(&m.trials)
        + if by_divider { DIVIDER_UNCERTAINTY } else { 0.0 };
    Ok(RULE.ceiling(m, formula, uncertainty))
}

fn bottleneck(ceiling: &Ceiling, capacity: &Capacity, share: &str) -> Bottleneck {
    let Some(divider) = input_of(ceiling, DIVIDER_INPUT) else {
        return ports(ceiling, capacity, share);
    };
    let (clock, cycles) = (at_clock(ceiling), divider.value);
    Bottleneck::new(
        "divider unit",
        format!("{share}{clock}: {cycles} cycles of division per iteration"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const GOLDEN: &str = "golden_cove_server";

    #[test]
    fn mixes_by_hand() {
        for (design, float, name, isa, per_cycle) in [
            (GOLDEN, true, "add16", "scalar", Ok(2.0)),
            (GOLDEN, true, "add16", "avx2", Ok(8.0)),
            (GOLDEN, false, "add16", "scalar", Ok(5.0)),
            (GOLDEN, false, "add16", "avx2", Ok(12.0)),
            // One adder.
            ("haswell", true, "add16", "scalar", Ok(1.0)),
            // Two divisions of 4 cycles outweigh 4.5 cycles of additions.
            (GOLDEN, true, "arith17", "scalar", Ok(17.0 / 8.0)),
            (GOLDEN, true, "arith17", "avx2", Ok(17.0 * 4.0 / 16.0)),
            (GOLDEN, false, "arith17", "scalar", Ok(17.0 / 20.0)),
            // One adder: nine cycles, more than the divider's eight.
            ("broadwell", true, "arith17", "scalar", Ok(17.0 / 9.0)),
            ("neoverse_n1", true, "arith17", "scalar", Err("division")),
            ("neoverse_n1", true, "add16", "scalar", Ok(2.0)),
            ("golden_cove", false, "arith17", "avx2", Err("no vector division")),
        ] {
            let m = mix(float, name, isa);
            let label = format!("{design} {} {name} {isa}", m.workload);
            let value = per_cycle.map(|n: f64| n * 4e9);
            RULE.on(&with_design(host(), design), &[]).expect([(label, m, value)]);
        }
    }

    #[test]
    fn the_formula_names_the_limit() {
        let m = mix(true, "arith17", "scalar");
        let divider = RULE.on(&with_design(host(), GOLDEN), &[]).derive(&m).unwrap();
        assert!(divider.formula.ends_with(DIVIDER_INPUT));
        assert!(divider.uncertainty > DIVIDER_UNCERTAINTY);
        let ports = RULE.on(&with_design(host(), "broadwell"), &[]).derive(&m).unwrap();
        assert!(ports.formula.ends_with(PORTS_INPUT));
    }
}
