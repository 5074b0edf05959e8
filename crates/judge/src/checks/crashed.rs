//! `crashed`: the worker process died.

use proofmark_model::{Ending, Finding, Measurement, Severity};

use super::Check;
use crate::Context;

pub(super) struct Crashed;

impl Check for Crashed {
    fn id(&self) -> &'static str {
        "crashed"
    }

    fn title(&self) -> &'static str {
        "Worker crashed or was killed"
    }

    fn about(&self) -> &'static str {
        "Each point runs in a process of its own. If that process ends before its work is done, by a \
         signal or by itself, the measurement is invalid, and the signal is named: SIGKILL usually \
         means the out-of-memory killer or a person, SIGILL an instruction that the CPU does not \
         have, SIGSEGV a defect. The other points are not touched."
    }

    fn examine(&self, _: &Context, m: &Measurement) -> Option<Finding> {
        let Ending::Crashed { signal, detail } = &m.ending else { return None };
        let message = match signal {
            Some(signal) => format!("the worker was ended by {signal}"),
            None => "the worker ended before its work was done".to_owned(),
        };
        let advice = match signal.as_deref() {
            Some("SIGKILL") => {
                "look for the out-of-memory killer in the kernel log, or for who \
                                killed it; then run the point again"
            }
            Some("SIGILL") => {
                "the CPU or its hypervisor lacks an instruction that it announces; \
                               choose another isa"
            }
            _ => "run the point again; if it ends so again, report it as a defect of proofmark",
        };
        let mut finding = Finding::new(self.id(), Severity::Invalid, message, advice)
            .with("detail", detail.as_str())
            .with("trials_done", m.trials.len());
        if let Some(signal) = signal {
            finding = finding.with("signal", signal.as_str());
        }
        Some(finding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{flops, found, severity};

    #[test]
    fn a_killed_worker_is_invalid_with_its_signal() {
        let mut m = flops(1);
        m.ending = Ending::Crashed { signal: Some("SIGKILL".to_owned()), detail: String::new() };
        let (severity, message) = found(&Crashed, m).unwrap();
        assert_eq!(severity, Severity::Invalid);
        assert!(message.contains("SIGKILL"));
    }

    #[test]
    fn one_that_ended_by_itself_is_invalid_too() {
        let mut m = flops(1);
        m.trials.clear();
        m.summary = None;
        m.ending = Ending::Crashed { signal: None, detail: "exit status 101".to_owned() };
        assert_eq!(severity(&Crashed, m), Some(Severity::Invalid));
    }

    #[test]
    fn a_complete_one_is_not() {
        assert_eq!(found(&Crashed, flops(1)), None);
    }
}
