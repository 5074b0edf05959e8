//! `cpu.peak`: the rate that the execution ports can start.
//!
//! Roofline's horizontal roof (Williams et al., CACM 2009): cores x clock x operations per cycle.
//! The clock is measured under that very load; the operations per cycle are those of the
//! instruction set and number type.

use proofmark_model::{Ceiling, Measurement, Provenance, Unit, ceiling_id, key};

use super::CeilingRule;
use super::parts::{Formula, Purpose, assumed, bits, clock, cores, input, isa, ports, row};
use crate::microarchitecture::{Row, Width};
use crate::{Capacity, Context};

/// The inner loop of a workload that is bound by the ports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Peak {
    stream: Stream,
    width: Width,
    pub(crate) lanes: f64,
    /// Operations of one instruction per number.
    pub(crate) operations: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Stream {
    MultiplyAdd,
    Fma,
    IntAdd,
}

impl Stream {
    fn name(self) -> &'static str {
        match self {
            Self::MultiplyAdd => "multiplications and additions in equal numbers",
            Self::Fma => "fused multiply-adds",
            Self::IntAdd => "integer additions",
        }
    }
}

impl Peak {
    /// Derives the loop from the unit and parameters of a workload that declares this ceiling (f64
    /// without `type`). Fails if the ports do not bound this workload, or a parameter is absent or
    /// unknown.
    pub(crate) fn derive(ctx: &Context, m: &Measurement) -> Result<Self, String> {
        let float = m.unit == Unit::FlopPerSecond;
        let declared = ctx.spec(m).is_some_and(|spec| spec.ceilings.iter().any(|id| id == RULE.id));
        if !declared || !(float || m.unit == Unit::OpPerSecond) {
            return Err(format!("{} is not a workload of peak rates", m.workload));
        }
        let bits = if float && !m.params.has(key::NUMBER_TYPE) { 64 } else { bits(m)? };
        let isa = isa(m)?;
        let width = Width::for_isa(isa);
        let stream = match float {
            false => Stream::IntAdd,
            true if isa.fused() => Stream::Fma,
            true => Stream::MultiplyAdd,
        };
        let operations = if stream == Stream::Fma { 2.0 } else { 1.0 };
        Ok(Self { stream, width, lanes: width.lanes(bits), operations })
    }

    /// Instructions that a core of this design starts per cycle.
    pub(crate) fn instructions_per_cycle(&self, row: &Row) -> Option<f64> {
        match self.stream {
            Stream::MultiplyAdd => row.multiply_add.at(self.width),
            Stream::Fma => row.fma.at(self.width),
            Stream::IntAdd => row.int_add.at(self.width),
        }
    }
}

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::CPU_PEAK,
    title: "Execution ports of the cores",
    about: "The highest rate of the workload's own instructions that the cores' execution ports can \
         start: cores x clock x instructions per cycle x lanes x operations per lane. The \
         floating-point peak is that of fused multiply-adds, as data sheets give it. Some designs \
         (AMD Zen) have ports for additions beside them, which a mix of both also uses: such a mix \
         exceeds it. Cores are usable physical cores, at most the number of threads. A CPU quota \
         counts only where the figure contains the time that it takes: delivered figures, and \
         complete solves. Hardware threads of one core share \
         its ports and count once. proofmark measures the clock under the same load, between its \
         slices; for dense matrices between their tiles. Instructions per cycle come from a table \
         by core design, with a source per row; where sources differ, the faster figure counts. A \
         fused multiply-add counts as two operations. Dense matrices (cpu.dgemm, cpu.linpack) have \
         the same ceiling in f64. Their copies, exchanges and waits count as no operation and keep \
         them below it. Uncertainty: the median spread of the clock readings of a trial (of many \
         readings their standard deviation), at least 0.5 %. Where the clock could not be \
         measured under the load it is 35 %: under dense matrices clocks were 16 to 34 % below that \
         of an idle core. What exceeds such a ceiling by more than 5 % is impossible. A trial may begin with the rest of a quota period. So a CPU \
         quota adds one period (by default 100 ms) and its burst, divided by the trial's duration.",
    derive: |ctx, m| ceiling(ctx, m, Purpose::Share),
    bound: |ctx, m| ceiling(ctx, m, Purpose::Bound),
    bottleneck: Some(ports),
};

fn ceiling(ctx: &Context, m: &Measurement, purpose: Purpose) -> Result<Ceiling, String> {
    let peak = Peak::derive(ctx, m)?;
    let row = row(ctx.host)?;
    let rate = peak.instructions_per_cycle(row).ok_or_else(|| {
        format!("the table has no figure for {} at this width on {}", peak.stream.name(), row.id)
    })?;
    let capacity = Capacity::derive(ctx.host, m)?;
    let (clock, clock_uncertainty) = clock(ctx.host, m, purpose)?;
    let mut per_cycle = assumed("instructions_per_cycle", rate, row);
    per_cycle.note = format!("{}; {}", peak.stream.name(), per_cycle.note);
    let plain = |name, value, note| input(name, value, "", Provenance::Assumed, note);
    let two = "by definition of the instruction: two for a fused multiply-add, else one";
    let formula = Formula::from_input(cores(ctx.host, &capacity))
        .times(clock)
        .times(per_cycle)
        .times(plain("lanes", peak.lanes, "numbers in one register, by definition of the isa"))
        .times(plain("operations_per_lane", peak.operations, two));
    let uncertainty = clock_uncertainty + capacity.quota_slack(&m.trials);
    Ok(RULE.ceiling(m, formula, uncertainty))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Probe, WorkloadSpec};

    use super::*;
    use crate::testing::*;

    #[test]
    fn golden_cove_by_hand() {
        let h = host();
        let with = |m: fn(u64) -> Measurement, isa: &str| with_param(m(1), "isa", isa);
        let typed = |m, isa, kind: &str| with_param(with(m, isa), "type", kind);
        RULE.on(&h, &[]).expect([
            // 1 core x 4 GHz x 2 FMA x 4 lanes x 2 = 64 GFLOP/s.
            ("one thread", flops(1), Ok(64e9)),
            ("two", flops(2), Ok(128e9)),
            ("two cores are all there is", flops(8), Ok(128e9)),
            ("scalar f64", typed(flops, "scalar", "f64"), Ok(3.0 * 4e9)),
            ("sse2 f64", typed(flops, "sse2", "f64"), Ok(6.0 * 4e9)),
            ("avx2 f32", typed(flops, "avx2", "f32"), Ok(24.0 * 4e9)),
            ("avx2+fma f32", typed(flops, "avx2+fma", "f32"), Ok(32.0 * 4e9)),
            ("avx512 f64", typed(flops, "avx512", "f64"), Ok(32.0 * 4e9)),
            ("scalar i32", typed(iops, "scalar", "i32"), Ok(5.0 * 4e9)),
            ("sse2 i64", typed(iops, "sse2", "i64"), Ok(6.0 * 4e9)),
            ("avx2 i32", typed(iops, "avx2", "i32"), Ok(24.0 * 4e9)),
            ("avx512 i32", typed(iops, "avx512", "i32"), Ok(32.0 * 4e9)),
            // Dense matrices are compared with f64.
            ("sse2 product", with(|n| dgemm(2000, n), "sse2"), Ok(6.0 * 4e9)),
            ("avx2+fma product", with(|n| dgemm(2000, n), "avx2+fma"), Ok(16.0 * 4e9)),
            ("avx512 product", with(|n| dgemm(2000, n), "avx512"), Ok(32.0 * 4e9)),
            ("sse2 solve", with(|n| linpack(2000, n), "sse2"), Ok(6.0 * 4e9)),
            ("avx2+fma solve", with(|n| linpack(2000, n), "avx2+fma"), Ok(16.0 * 4e9)),
            ("avx512 solve", with(|n| linpack(2000, n), "avx512"), Ok(32.0 * 4e9)),
            ("two threads", linpack(5000, 2), Ok(128e9)),
        ]);
        let one = RULE.on(&h, &[]).derive(&flops(1)).unwrap();
        assert_eq!(one.uncertainty, 0.005, "the floor of a clock's uncertainty");
    }

    #[test]
    fn a_workload_has_this_ceiling_because_it_declares_it() {
        let peak = |m: &Measurement, spec: WorkloadSpec| {
            Peak::derive(&context(&host(), &spec, &policy(), &[]), m)
        };
        assert!(peak(&flops(1), spec("cpu.flops")).is_ok());
        let undeclared = WorkloadSpec { ceilings: Vec::new().into(), ..spec("cpu.flops") };
        // A mix has other instructions too, whatever its parameters are called.
        let mut nameless = mix(true, "add16", "scalar");
        nameless.params.0.remove(key::MIX.name());
        for (m, spec) in [
            (flops(1), undeclared),
            (mix(true, "add16", "scalar"), spec("cpu.mix.float")),
            (nameless, spec("cpu.mix.float")),
            (stream("triad", 1), spec("memory.triad")),
        ] {
            assert!(peak(&m, spec).unwrap_err().contains("not a workload of peak rates"));
        }
        let mut untyped = iops(1);
        untyped.params.0.remove(key::NUMBER_TYPE.name());
        let untyped = peak(&untyped, spec("cpu.iops"));
        assert!(untyped.is_err(), "only floating point defaults to f64");
    }

    #[test]
    fn a_quota_of_half_a_cpu_halves_it() {
        let h = with_quota(host(), 0.5);
        let c = RULE.on(&h, &[]).derive(&flops(1)).unwrap();
        assert_eq!(c.value, 32e9);
        assert!(c.inputs[0].note.contains("quota"));
        assert!(c.uncertainty > 0.5, "trials of one period can hold two allowances");
    }

    #[test]
    fn an_unknown_fact_is_the_reason() {
        let mut unknown = host();
        unknown.cpu.microarchitecture = Probe::missing("not reported");
        let wide = with_param(flops(1), "isa", "avx512");
        for (host, m, why) in [
            (with_design(host(), "unheard_of"), flops(1), "no table"),
            (unknown, flops(1), "not reported"),
            (with_design(host(), "zen3"), wide, "zen3"),
        ] {
            RULE.on(&host, &[]).expect([(why, m, Err(why))]);
        }
    }

    #[test]
    fn the_clock_falls_back_with_its_source() {
        let mut h = host();
        let m = each_condition(flops(1), |_, c| c.clock_hz = None);
        let idle = RULE.on(&h, &[]).derive(&m).unwrap();
        assert!(idle.inputs[1].note.contains("idle") && idle.uncertainty >= 0.35);
        let bound = (RULE.bound)(&context_on(&h), &m).unwrap();
        assert!(bound.uncertainty < 0.06, "it is hardly higher: {}", bound.uncertainty);
        h.cpu.clock.measured_hz = Probe::missing("no");
        let reported = RULE.on(&h, &[]).derive(&m).unwrap();
        assert_eq!(reported.inputs[1].source, Provenance::Reported);
        h.cpu.clock.boost_hz = Probe::missing("no");
        assert!(RULE.on(&h, &[]).derive(&m).is_err());
    }
}
