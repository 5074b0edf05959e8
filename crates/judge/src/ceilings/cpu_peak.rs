//! `cpu.peak`: what the execution ports can start.
//!
//! Roofline's horizontal roof (Williams et al., CACM 2009): cores x clock x
//! operations per cycle, with the clock measured under that very load and the
//! operations per cycle of that instruction set and type.

use proofmark_model::{Bottleneck, Ceiling, Measurement, Provenance, Unit};

use super::CeilingRule;
use super::parts::{Derived, assumed, bits, clock, cores, input, ports, quota, row};
use crate::microarchitecture::{Row, Width};
use crate::{Capacity, Context};

/// The rule.
pub(super) struct CpuPeak;

/// What the inner loop of a workload that is bound by the ports is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Peak {
    stream: Stream,
    width: Width,
    /// Numbers in a register.
    pub(crate) lanes: f64,
    /// Operations that one instruction does to one number.
    pub(crate) operations: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Stream {
    MultiplyAdd,
    Fma,
    IntAdd,
}

impl Stream {
    fn words(self) -> &'static str {
        match self {
            Self::MultiplyAdd => "multiplications and additions in equal numbers",
            Self::Fma => "fused multiply-adds",
            Self::IntAdd => "integer additions",
        }
    }
}

impl Peak {
    /// From the unit and the parameters of a workload that declares this ceiling. Floating-point operations of a workload without the
    /// parameter `type` are those of f64.
    ///
    /// # Errors
    /// If the ports do not bound this workload in this way, or a parameter is absent or unknown.
    pub(crate) fn of(ctx: &Context, m: &Measurement) -> Result<Self, String> {
        let float = m.unit == Unit::FlopPerSecond;
        let declared =
            ctx.spec(m).is_some_and(|spec| spec.ceilings.iter().any(|id| id == CpuPeak.id()));
        if !declared || !(float || m.unit == Unit::OpPerSecond) {
            return Err(format!("{} is not a workload of peak rates", m.workload));
        }
        let bits = if float && m.params.get("type").is_none() { 64 } else { bits(m)? };
        let isa = m.params.text("isa").ok_or("the point has no isa")?;
        let width = match isa {
            "scalar" => Width::Scalar,
            "sse2" => Width::V128,
            "avx2" | "avx2+fma" => Width::V256,
            "avx512" => Width::V512,
            other => return Err(format!("isa {other} is unknown")),
        };
        let stream = match isa {
            _ if !float => Stream::IntAdd,
            "avx2+fma" | "avx512" => Stream::Fma,
            _ => Stream::MultiplyAdd,
        };
        let operations = if stream == Stream::Fma { 2.0 } else { 1.0 };
        Ok(Self { stream, width, lanes: width.lanes(bits), operations })
    }

    /// Instructions that a core of this design starts in a cycle.
    pub(crate) fn instructions_per_cycle(&self, row: &Row) -> Option<f64> {
        match self.stream {
            Stream::MultiplyAdd => row.multiply_add.at(self.width),
            Stream::Fma => row.fma.at(self.width),
            Stream::IntAdd => row.int_add.at(self.width),
        }
    }
}

impl CeilingRule for CpuPeak {
    fn id(&self) -> &'static str {
        "cpu.peak"
    }

    fn title(&self) -> &'static str {
        "Execution ports of the cores"
    }

    fn about(&self) -> &'static str {
        "The highest rate that the cores' execution ports can start: cores x clock x instructions \
         per cycle x lanes x operations per lane. Cores are usable physical cores, at most the \
         number of threads and at most the CPU quota. Hardware threads of one core share its ports \
         and count once. proofmark measures the clock under the same load, right before and after \
         each trial; for dense matrices between their tiles. Instructions per cycle come from a \
         table by core design, with a source per row; where sources differ, the faster figure \
         counts. A fused multiply-add counts as two operations. Dense matrices (cpu.dgemm, \
         cpu.linpack) have the same ceiling in f64. Their copies, exchanges and waits count as no \
         operation and keep them below it. Uncertainty: the median spread of the clock readings of \
         a trial (of many readings their standard deviation), at least 0.5 %. It is 5 % where the \
         clock could not be measured under the load. A CPU quota adds one quota period (100 ms) \
         over the length of a trial, since a trial may begin with the rest of a period."
    }

    fn derive(&self, ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
        let peak = Peak::of(ctx, m)?;
        let row = row(ctx.host)?;
        let rate = peak.instructions_per_cycle(row).ok_or_else(|| {
            format!(
                "the table has no figure for {} at this width on {}",
                peak.stream.words(),
                row.id
            )
        })?;
        let capacity = Capacity::of(ctx.host, m)?;
        let (clock, clock_uncertainty) = clock(ctx.host, m)?;
        let value = capacity.cores * clock.value * rate * peak.lanes * peak.operations;
        let mut per_cycle = assumed("instructions_per_cycle", rate, row);
        per_cycle.note = format!("{}; {}", peak.stream.words(), per_cycle.note);
        let plain = |name, value, note| input(name, value, "", Provenance::Assumed, note);
        Ok(Derived {
            value,
            formula: "cores x clock x instructions_per_cycle x lanes x operations_per_lane"
                .to_owned(),
            inputs: vec![
                cores(ctx.host, &capacity),
                clock,
                per_cycle,
                plain("lanes", peak.lanes, "numbers in one register, by definition of the isa"),
                plain(
                    "operations_per_lane",
                    peak.operations,
                    "by definition of the instruction: two for a fused multiply-add, else one",
                ),
            ],
            uncertainty: clock_uncertainty + capacity.quota_slack(&m.trials),
        }
        .by(self, m))
    }

    fn bottleneck(&self, ceiling: &Ceiling, capacity: &Capacity, share: &str) -> Bottleneck {
        quota(ceiling, capacity, share).unwrap_or_else(|| ports(ceiling, capacity, share))
    }
}

#[cfg(test)]
mod tests {
    use proofmark_model::{CpuQuota, Probe};

    use super::*;
    use crate::testing::{
        context, dgemm, flops, host, iops, linpack, mix, policy, set_microarchitecture, spec,
        stream,
    };

    fn value(h: &proofmark_model::Host, m: &Measurement) -> Result<Ceiling, String> {
        let (spec, policy) = (spec(&m.workload), policy());
        CpuPeak.derive(&context(h, &spec, &policy, &[]), m)
    }

    #[test]
    fn golden_cove_by_hand() {
        let h = host();
        // 1 core x 4 GHz x 2 FMA x 4 lanes x 2 = 64 GFLOP/s.
        let one = value(&h, &flops(1)).unwrap();
        assert_eq!(one.value, 64e9);
        assert_eq!(value(&h, &flops(2)).unwrap().value, 128e9);
        assert_eq!(value(&h, &flops(8)).unwrap().value, 128e9, "two cores are all there is");
        assert_eq!(one.uncertainty, CLOCK_FLOOR_OF_TEST);
        let product: f64 = one.inputs.iter().map(|i| i.value).product();
        assert_eq!(product, one.value, "the inputs are all of the formula");
    }

    const CLOCK_FLOOR_OF_TEST: f64 = 0.005;

    #[test]
    fn every_isa_and_type_by_hand() {
        let h = host();
        let cases = [
            ("cpu.flops", "scalar", "f64", 3.0),
            ("cpu.flops", "sse2", "f64", 6.0),
            ("cpu.flops", "avx2", "f32", 24.0),
            ("cpu.flops", "avx2+fma", "f32", 32.0),
            ("cpu.flops", "avx512", "f64", 32.0),
            ("cpu.iops", "scalar", "i32", 5.0),
            ("cpu.iops", "sse2", "i64", 6.0),
            ("cpu.iops", "avx2", "i32", 24.0),
            ("cpu.iops", "avx512", "i32", 32.0),
        ];
        for (workload, isa, kind, per_cycle) in cases {
            let mut m = if workload == "cpu.flops" { flops(1) } else { iops(1) };
            m.params = m.params.with("isa", isa).with("type", kind);
            assert_eq!(value(&h, &m).unwrap().value, per_cycle * 4e9, "{workload} {isa} {kind}");
        }
    }

    #[test]
    fn dense_matrices_are_held_against_f64() {
        let h = host();
        let per_cycle = [("sse2", 6.0), ("avx2+fma", 16.0), ("avx512", 32.0)];
        for (isa, per_cycle) in per_cycle {
            for mut m in [dgemm(2000, 1), linpack(2000, 1)] {
                m.params = m.params.with("isa", isa);
                let ceiling = value(&h, &m).unwrap().value;
                assert_eq!(ceiling, per_cycle * 4e9, "{} {isa}", m.workload);
            }
        }
        assert_eq!(value(&h, &linpack(5000, 2)).unwrap().value, 128e9);
    }

    fn peak(m: &Measurement) -> Result<Peak, String> {
        let (host, spec, policy) = (host(), spec(&m.workload), policy());
        Peak::of(&context(&host, &spec, &policy, &[]), m)
    }

    #[test]
    fn other_rates_have_no_such_ceiling() {
        for m in [mix(true, "add16", "scalar"), stream("triad", 1)] {
            assert!(peak(&m).unwrap_err().contains("not a workload of peak rates"));
        }
        let mut untyped = iops(1);
        untyped.params.0.remove("type");
        assert!(peak(&untyped).is_err(), "only floating point is f64 unless it says more");
    }

    #[test]
    fn a_workload_has_this_ceiling_because_it_declares_it() {
        assert!(peak(&flops(1)).is_ok());
        let (host, policy) = (host(), policy());
        let undeclared =
            proofmark_model::WorkloadSpec { ceilings: Vec::new().into(), ..spec("cpu.flops") };
        let none = Peak::of(&context(&host, &undeclared, &policy, &[]), &flops(1));
        assert!(none.unwrap_err().contains("not a workload of peak rates"));
        // Other instructions are in a mix too, whatever its parameters are called.
        let mut nameless = mix(true, "add16", "scalar");
        nameless.params.0.remove("mix");
        assert!(peak(&nameless).is_err());
    }

    #[test]
    fn a_quota_of_half_a_cpu_halves_it() {
        let mut h = host();
        h.limits.cpu_quota = Probe::known(CpuQuota { cpus: Some(0.5) }, "cpu.max");
        let c = value(&h, &flops(1)).unwrap();
        assert_eq!(c.value, 32e9);
        assert!(c.inputs[0].note.contains("quota"));
        assert!(c.uncertainty > 0.5, "trials of one period can hold two allowances");
    }

    #[test]
    fn what_is_not_known_is_said() {
        let mut h = host();
        set_microarchitecture(&mut h, "unheard_of");
        assert!(value(&h, &flops(1)).unwrap_err().contains("no table"));
        h.cpu.microarchitecture = Probe::missing("not told");
        assert!(value(&h, &flops(1)).unwrap_err().contains("not told"));
        let mut wide = flops(1);
        wide.params = wide.params.with("isa", "avx512");
        set_microarchitecture(&mut h, "zen3");
        assert!(value(&h, &wide).unwrap_err().contains("zen3"));
    }

    #[test]
    fn the_clock_falls_back_and_says_so() {
        let mut h = host();
        let mut m = flops(1);
        for t in &mut m.trials {
            t.conditions.clock_hz = None;
        }
        let idle = value(&h, &m).unwrap();
        assert!(idle.inputs[1].note.contains("idle"));
        assert!(idle.uncertainty >= 0.05);
        h.cpu.clock.measured_hz = Probe::missing("no");
        assert_eq!(value(&h, &m).unwrap().inputs[1].source, Provenance::Reported);
        h.cpu.clock.boost_hz = Probe::missing("no");
        assert!(value(&h, &m).is_err());
    }
}
