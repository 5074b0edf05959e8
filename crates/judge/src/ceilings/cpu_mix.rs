//! `cpu.mix`: what the ports and the divider leave of an instruction mix.

use proofmark_model::{Bottleneck, Ceiling, Input, Measurement, Provenance};

use super::CeilingRule;
use super::parts::{Derived, assumed, at_clock, bits, clock, cores, input, ports, quota, row};
use crate::microarchitecture::{Row, Width};
use crate::{Capacity, Context};

/// Name of the input that stands in a ceiling which the divider sets.
const DIVIDER_INPUT: &str = "divider_cycles";

/// Name of the input that stands in a ceiling which the ports set.
const PORTS_INPUT: &str = "port_cycles";

/// Least cycles of a division differ a little by source and operands.
const DIVIDER_UNCERTAINTY: f64 = 0.1;

/// Operations of the mix of 17: additions and subtractions, multiplications,
/// divisions; its two comparisons use whatever port is free.
const ADDS: f64 = 9.0;
const MULTIPLIES: f64 = 4.0;
const DIVIDES: f64 = 2.0;

/// The rule.
pub(super) struct CpuMix;

struct Mix {
    float: bool,
    arith17: bool,
    width: Width,
    lanes: f64,
}

impl Mix {
    fn of(m: &Measurement) -> Result<Self, String> {
        let float = m.params.text("type").is_some_and(|name| name.starts_with('f'));
        let arith17 = match m.params.text("mix") {
            Some("arith17") => true,
            Some("add16") => false,
            Some(other) => return Err(format!("mix {other} is unknown")),
            None => return Err("the point has no mix".to_owned()),
        };
        let width = match m.params.text("isa") {
            Some("avx2") => Width::V256,
            Some("sse2") => Width::V128,
            Some("scalar") => Width::Scalar,
            Some(other) => return Err(format!("isa {other} is unknown")),
            None => return Err("the point has no isa".to_owned()),
        };
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

    /// Least cycles of one iteration on the ports.
    fn port_cycles(&self, row: &Row) -> Option<f64> {
        let adds = if self.float { row.float_add } else { row.int_add }.at(self.width)?;
        if !self.arith17 {
            return Some(16.0 / adds);
        }
        if !self.float {
            // Comparisons need an ALU as additions do.
            let multiplies = row.int_multiply.map_or(0.0, |rate| MULTIPLIES / rate);
            return Some(((ADDS + 2.0) / adds).max(multiplies));
        }
        let multiplies = MULTIPLIES / row.float_multiply.at(self.width)?;
        // The two kinds share ports, at best as well as in equal numbers.
        let ports = row.float_add.at(self.width)? + row.float_multiply.at(self.width)?;
        Some((ADDS / adds).max(multiplies).max((ADDS + MULTIPLIES) / ports))
    }

    /// Least cycles of one iteration on the divider.
    fn divider_cycles(&self, row: &Row) -> Option<f64> {
        if self.float {
            row.float_divide_cycles.at(self.width).map(|c| c * DIVIDES)
        } else {
            row.int_divide_cycles.map(|c| c * DIVIDES)
        }
    }

    /// Least cycles of one iteration, named by what sets them.
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

/// Operations per iteration and the least cycles for them on a design, with the
/// number of lanes, for a measurement of an instruction mix.
pub(crate) fn cycles_at_least(m: &Measurement, row: &Row) -> Option<f64> {
    let mix = Mix::of(m).ok()?;
    let cycles = mix.cycles(row).ok()?.value;
    Some(mix.operations() * mix.lanes / cycles)
}

impl CeilingRule for CpuMix {
    fn id(&self) -> &'static str {
        "cpu.mix"
    }

    fn title(&self) -> &'static str {
        "Ports and divider under an instruction mix"
    }

    fn about(&self) -> &'static str {
        "The highest rate of the published instruction mixes: cores x clock x operations x lanes / \
         cycles, where cycles are the minimum for one iteration. add16: 16 / additions per cycle. \
         arith17: the longer of two times. The ports need one for nine additions and subtractions \
         and four multiplications. The divider needs one for two divisions, at its documented \
         reciprocal throughput. Loop overhead and dependencies are omitted, so the ceiling is \
         loose. Cores and clock as in cpu.peak. Without a documented division throughput arith17 \
         has no ceiling. Uncertainty: as in cpu.peak, plus 10 % where the divider sets the \
         ceiling."
    }

    fn derive(&self, ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
        let mix = Mix::of(m)?;
        let cycles = mix.cycles(row(ctx.host)?)?;
        let capacity = Capacity::of(ctx.host, m)?;
        let (clock, clock_uncertainty) = clock(ctx.host, m)?;
        let value = capacity.cores * clock.value * mix.operations() * mix.lanes / cycles.value;
        let by_divider = cycles.name == DIVIDER_INPUT;
        let plain = |name, value, note| input(name, value, "", Provenance::Assumed, note);
        Ok(Derived {
            value,
            formula: format!("cores x clock x operations x lanes / {}", cycles.name),
            inputs: vec![
                cores(ctx.host, &capacity),
                clock,
                plain("operations", mix.operations(), "of one iteration, by definition of the mix"),
                plain("lanes", mix.lanes, "numbers in one register, by definition of the isa"),
                cycles,
            ],
            uncertainty: clock_uncertainty
                + capacity.quota_slack(&m.trials)
                + if by_divider { DIVIDER_UNCERTAINTY } else { 0.0 },
        }
        .by(self, m))
    }

    fn bottleneck(&self, ceiling: &Ceiling, capacity: &Capacity, share: &str) -> Bottleneck {
        if let Some(bottleneck) = quota(ceiling, capacity, share) {
            return bottleneck;
        }
        let Some(divider) = ceiling.inputs.iter().find(|i| i.name == DIVIDER_INPUT) else {
            return ports(ceiling, capacity, share);
        };
        let (clock, cycles) = (at_clock(ceiling), divider.value);
        Bottleneck {
            resource: "divider unit".to_owned(),
            evidence: format!("{share}{clock}: {cycles} cycles of division per iteration"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, host, mix, policy, set_microarchitecture, spec};

    fn value(design: &str, m: &Measurement) -> Result<Ceiling, String> {
        let mut h = host();
        set_microarchitecture(&mut h, design);
        let (spec, policy) = (spec(&m.workload), policy());
        CpuMix.derive(&context(&h, &spec, &policy, &[]), m)
    }

    #[test]
    fn additions_by_hand() {
        let golden = "golden_cove_server";
        let cases = [
            (mix(true, "add16", "scalar"), 2.0),
            (mix(true, "add16", "avx2"), 8.0),
            (mix(false, "add16", "scalar"), 5.0),
            (mix(false, "add16", "avx2"), 12.0),
        ];
        for (m, per_cycle) in cases {
            let c = value(golden, &m).unwrap();
            assert!(
                (c.value / (per_cycle * 4e9) - 1.0).abs() < 1e-12,
                "{} {}",
                m.workload,
                c.value
            );
        }
        let haswell = value("haswell", &mix(true, "add16", "scalar")).unwrap();
        assert_eq!(haswell.value, 4e9, "one adder");
    }

    #[test]
    fn divisions_by_hand() {
        // Golden Cove: two divisions of 4 cycles outweigh 4.5 cycles of additions.
        let scalar = value("golden_cove_server", &mix(true, "arith17", "scalar")).unwrap();
        assert_eq!(scalar.value, 17.0 / 8.0 * 4e9);
        assert!(scalar.formula.ends_with(DIVIDER_INPUT));
        assert!(scalar.uncertainty > DIVIDER_UNCERTAINTY);
        let wide = value("golden_cove_server", &mix(true, "arith17", "avx2")).unwrap();
        assert_eq!(wide.value, 17.0 * 4.0 / 16.0 * 4e9);
        let int = value("golden_cove_server", &mix(false, "arith17", "scalar")).unwrap();
        assert_eq!(int.value, 17.0 / 20.0 * 4e9);
        // Broadwell has one adder: nine cycles, more than its divider's eight.
        let ports = value("broadwell", &mix(true, "arith17", "scalar")).unwrap();
        assert!(ports.formula.ends_with(PORTS_INPUT));
    }

    #[test]
    fn without_a_documented_divider_there_is_none() {
        let m = mix(true, "arith17", "scalar");
        assert!(value("neoverse_n1", &m).unwrap_err().contains("division"));
        assert!(value("neoverse_n1", &mix(true, "add16", "scalar")).is_ok());
        assert!(value("golden_cove", &mix(false, "arith17", "avx2")).is_err());
    }
}
