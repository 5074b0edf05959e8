//! `cpu.boost`: the boost clock that the machine reports.

use proofmark_model::{Bottleneck, Ceiling, Measurement, Provenance, ceiling_id};

use super::CeilingRule;
use super::parts::{Formula, input, on_bare_metal};
use crate::words::known;
use crate::{Capacity, Context};

/// Smallest reported clock, in multiples of the base clock, that is a boost: older AMD drivers
/// report the base clock itself.
const REAL_BOOST: f64 = 1.01;

/// Uncertainty: boards overclock, and boost algorithms exceed the printed figure by a step or two.
const UNCERTAINTY: f64 = 0.05;

pub(super) static RULE: CeilingRule = CeilingRule {
    id: ceiling_id::CPU_BOOST,
    title: "Reported boost clock",
    about: "The highest clock that the machine reports for its cores. It is used only on bare \
         metal and only above the base clock: in a virtual machine the hypervisor sets this \
         figure, and some drivers report the base clock as the highest. Uncertainty: 5 %, since \
         boards and boost algorithms exceed the printed figure by one or two steps.",
    derive,
    bound: derive,
    bottleneck: Some(bottleneck),
};

fn derive(ctx: &Context, m: &Measurement) -> Result<Ceiling, String> {
    let clocks = &ctx.host.cpu.clock;
    let boost = *known(&clocks.boost_hz, "the boost clock")?;
    let wrong = "the reported clocks come from the hypervisor, not from the core";
    on_bare_metal(ctx.host, wrong)?;
    let nominal = *clocks
        .nominal_hz
        .get()
        .ok_or("without a base clock, the reported clock cannot be identified as a boost clock")?;
    if boost < nominal * REAL_BOOST {
        return Err("the reported highest clock is no higher than the base clock".to_owned());
    }
    let origin = clocks.boost_hz.origin();
    let boost = input("boost", boost, "Hz", Provenance::Reported, origin);
    Ok(RULE.ceiling(m, Formula::from_input(boost), UNCERTAINTY))
}

fn bottleneck(_: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
    Bottleneck::new("clock", format!("{share}, the reported boost"))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Probe;

    use super::*;
    use crate::testing::*;

    #[test]
    fn a_real_boost_on_bare_metal_is_a_ceiling() {
        let expect_clock = |boost: Probe<f64>, virtualisation: &str, expected| {
            let mut h = host();
            h.os.virtualisation = Probe::known(virtualisation.to_owned(), "test");
            h.cpu.clock.nominal_hz = Probe::known(2.6e9, "test");
            h.cpu.clock.boost_hz = boost;
            RULE.on(&h, &[]).expect([(virtualisation, clock(4e9), expected)]);
        };
        expect_clock(Probe::known(4.1e9, "test"), "none", Ok(4.1e9));
        expect_clock(Probe::known(2.6e9, "test"), "none", Err("base clock"));
        expect_clock(Probe::missing("not reported"), "none", Err("not reported"));
        expect_clock(Probe::known(4.1e9, "test"), "kvm", Err("kvm"));
    }
}
