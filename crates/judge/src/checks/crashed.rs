//! `crashed`: the worker process died.

use proofmark_model::{Ending, Finding, Measurement};

use super::{Check, Class};
use crate::Context;

pub(super) static CHECK: Check = Check {
    id: "crashed",
    class: Class::Claim,
    title: "Worker crashed or was killed",
    about: "Each configuration runs in its own process. If that process ends before its work is done, \
         the result is invalid, and the finding names the signal. SIGKILL usually means the \
         out-of-memory killer or a person, SIGILL an instruction that the CPU lacks, SIGSEGV a \
         defect. Other results are not affected.",
    examine,
    examine_reference: None,
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    let Ending::Crashed { signal, detail } = &m.ending else { return None };
    let message = match signal {
        Some(signal) => format!("the worker was ended by {signal}, before its work was done"),
        None => "the worker ended before its work was done".to_owned(),
    };
    let advice = match signal.as_deref() {
        Some("SIGKILL") => {
            "check the kernel log for the out-of-memory killer, or who killed it; then repeat \
             the measurement"
        }
        Some("SIGILL") => {
            "choose another isa: the CPU or its hypervisor announces an instruction that it lacks"
        }
        _ => "repeat the measurement; if it ends the same way, report it as a defect of proofmark",
    };
    let mut finding = CHECK
        .invalid(message, advice)
        .with("detail", detail.as_str())
        .with("trials_done", m.trials.len());
    if let Some(signal) = signal {
        finding = finding.with("signal", signal.as_str());
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_worker_that_died_is_invalid_with_its_signal() {
        let ended = |signal: Option<&str>, detail: &str| {
            let (signal, detail) = (signal.map(str::to_owned), detail.to_owned());
            Measurement { ending: Ending::Crashed { signal, detail }, ..flops(1) }
        };
        let mut by_itself = ended(None, "exit status 101");
        (by_itself.trials, by_itself.summary) = (Vec::new(), None);
        CHECK.expect([
            ("killed", ended(Some("SIGKILL"), ""), invalid("SIGKILL")),
            ("by itself", by_itself, INVALID),
        ]);
    }
}
