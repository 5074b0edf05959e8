//! `refused`: the workload cannot run here as asked.

use proofmark_model::{Ending, Finding, Measurement};

use super::{Check, Class};
use crate::Context;

pub(super) static CHECK: Check = Check {
    id: "refused",
    class: Class::Claim,
    title: "Configuration not possible here",
    about: "A workload that lacks an instruction set, memory or a device refuses its configuration \
         instead of measuring something else. There is no result, so this is invalid, with the \
         workload's reason. Remove the configuration, or choose another value of the parameter \
         that it names.",
    examine,
    examine_reference: None,
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    let Ending::Refused { reason } = &m.ending else { return None };
    let message = format!("the workload refuses this configuration: {reason}");
    let advice = "remove the configuration, or choose another value of the parameter";
    Some(CHECK.invalid(message, advice).with("reason", reason.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_refusal_is_invalid_with_its_reason() {
        let ending = Ending::Refused { reason: "this CPU has no avx512".to_owned() };
        let m = Measurement { ending, trials: Vec::new(), summary: None, ..flops(1) };
        CHECK.expect([("refused", m, invalid("no avx512"))]);
    }
}
