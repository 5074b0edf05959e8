//! `device_time`: a device reports more time than passed until its answer. Only in tests, like
//! `device.ops`.

use proofmark_model::{Finding, HelperTrial, Measurement, Trial, format_seconds};

use super::{Check, Class, Examine};
use crate::Context;

/// Largest difference in calibration between the two clocks.
const CLOCKS: f64 = 1e-3;

pub(super) static CHECK: Check = Check {
    id: "device_time",
    class: Class::CLAIM,
    title: "Device time exceeds wall time",
    about: "A helper process times the work of a device. Seconds that are more than 0.1 % above \
         those from request to answer by proofmark's clock are invalid: work cannot take longer \
         than the wait for it. Repair the device's clock or its helper.",
    examine: Examine::Ours(examine),
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    let both = m.trials.iter().filter_map(|t| Some((t, t.helper.as_ref()?)));
    let longer = |(t, helper): &(&Trial, &HelperTrial)| t.seconds > helper.wall_s * (1.0 + CLOCKS);
    let (t, helper) = both.filter(longer).max_by(|a, b| a.0.seconds.total_cmp(&b.0.seconds))?;
    let [reported, waited] = [t.seconds, helper.wall_s].map(format_seconds);
    let message =
        format!("the helper reported {reported} for a trial, but answered after only {waited}");
    let finding = CHECK.invalid(message, "repair the helper's clock; do not use this result");
    Some(finding.with("device_s", t.seconds).with("wall_s", helper.wall_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_device_cannot_work_longer_than_we_wait() {
        let device = |wall_s: f64| {
            let m = measurement("device.ops", proofmark_model::Params::default(), &around(1e6));
            each(m, |_, t| {
                t.helper = Some(HelperTrial { wall_s: wall_s * t.seconds, ..Default::default() });
            })
        };
        CHECK.expect([
            ("a little more by our clock", device(1.01), SILENT),
            ("as long, by another clock", device(0.9995), SILENT),
            ("longer than we waited", device(0.5), invalid("answered after")),
        ]);
    }
}
