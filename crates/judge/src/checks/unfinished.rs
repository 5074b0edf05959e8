//! `unfinished`: the trials were not all taken.

use proofmark_model::{Ending, Finding, Measurement, Severity};

use super::{Check, Class};
use crate::Context;
use crate::words::counted;

pub(super) static CHECK: Check = Check {
    id: "unfinished",
    class: Class::Claim,
    title: "Stopped before its trials were done",
    about: "A run that is stopped, or whose main process is killed, keeps the trials taken so far. \
         They are valid, but fewer than the policy requires. Suspect, with the signal where known. \
         Repeat the measurement to its end.",
    examine,
    examine_reference: None,
};

fn examine(_: &Context, m: &Measurement) -> Option<Finding> {
    let message = match &m.ending {
        Ending::Unfinished => "the file was written before the measurement ended".to_owned(),
        Ending::Interrupted { by } => format!("interrupted by {by}"),
        _ => return None,
    };
    let n = m.trials.len();
    let mut finding = Finding::new(
        CHECK.id,
        Severity::Suspect,
        format!("{message}, after {}", counted(n, "trial")),
        "repeat the measurement to its end",
    )
    .with("trials_done", n);
    if let Ending::Interrupted { by } = &m.ending {
        finding = finding.with("signal", by.as_str());
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{flops, found};

    #[test]
    fn an_interrupted_one_is_suspect_with_the_signal() {
        let mut m = flops(1);
        m.ending = Ending::Interrupted { by: "SIGINT".to_owned() };
        let (severity, message) = found(&CHECK, m).unwrap();
        assert_eq!(severity, Severity::Suspect);
        assert!(message.contains("SIGINT") && message.contains("10 trials"));
        let mut m = flops(1);
        m.ending = Ending::Unfinished;
        assert_eq!(found(&CHECK, m).map(|f| f.0), Some(Severity::Suspect));
    }

    #[test]
    fn a_complete_one_is_not() {
        assert_eq!(found(&CHECK, flops(1)), None);
    }
}
