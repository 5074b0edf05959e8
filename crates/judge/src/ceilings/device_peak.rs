//! `device.peak`: the maximum rate that a device reports. Only in tests, like `device.ops`.

use proofmark_model::{Bottleneck, Ceiling, Measurement, Provenance};

use super::CeilingRule;
use super::parts::{Formula, input};
use crate::{Capacity, Context};

/// Uncertainty: the device may round the rate that it reports.
const UNCERTAINTY: f64 = 0.01;

pub(super) static RULE: CeilingRule = CeilingRule {
    id: "device.peak",
    title: "Peak rate of the device",
    about: "The operations per second that the device reports as its maximum when its helper \
         process starts. Uncertainty: 1 %, since the device rounds this figure.",
    derive,
    bound: derive,
    bottleneck: Some(bottleneck),
};

fn derive(_: &Context, m: &Measurement) -> Result<Ceiling, String> {
    let reported = |t: &proofmark_model::Trial| t.helper.as_ref()?.peak_per_s;
    let peak = m.trials.iter().find_map(reported).ok_or("the device reports no maximum")?;
    let peak = input("peak", peak, "op/s", Provenance::Reported, "as the device reports it");
    Ok(RULE.ceiling(m, Formula::from_input(peak), UNCERTAINTY))
}

fn bottleneck(_: &Ceiling, _: &Capacity, share: &str) -> Bottleneck {
    Bottleneck::new("device", format!("{share}, the maximum that the device reports"))
}

#[cfg(test)]
mod tests {
    use proofmark_model::HelperTrial;

    use crate::testing::*;

    #[test]
    fn the_reported_maximum_of_a_device_is_its_ceiling() {
        let device = |peak_per_s| {
            let helper = Some(HelperTrial { wall_s: 1.0, peak_per_s, ..HelperTrial::default() });
            let m = measurement("device.ops", proofmark_model::Params::default(), &around(1e6));
            each(m, |_, t| t.helper.clone_from(&helper))
        };
        let near = judged(&host(), device(Some(1.05e6)), &[]);
        assert_eq!(near.ceiling.as_ref().map(|c| (&*c.id, c.value)), Some(("device.peak", 1.05e6)));
        assert_eq!(near.bottleneck.map(|b| b.resource).as_deref(), Some("device"));
        let above = judged(&host(), device(Some(0.5e6)), &[]);
        assert!(above.findings.iter().any(|f| f.check == "above_ceiling"), "{:?}", above.findings);
        assert!(judged(&host(), device(None), &[]).missing["ceiling"].contains("no maximum"));
    }
}
