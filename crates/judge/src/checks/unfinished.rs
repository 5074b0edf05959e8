//! `unfinished`: the trials were not all taken.

use proofmark_model::{Ending, Finding, Measurement, Severity};

use super::Check;
use crate::Context;
use crate::words::counted;

pub(super) struct Unfinished;

impl Check for Unfinished {
    fn id(&self) -> &'static str {
        "unfinished"
    }

    fn title(&self) -> &'static str {
        "Stopped before its trials were done"
    }

    fn about(&self) -> &'static str {
        "A run that is told to stop, or whose main process is killed, leaves what it had: the trials \
         taken so far stand, but they are fewer than the policy asks for. Suspect, with the signal \
         where one is known. Run the point again to its end."
    }

    fn examine(&self, _: &Context, m: &Measurement) -> Option<Finding> {
        let message = match &m.ending {
            Ending::Unfinished => "written while it was still being measured".to_owned(),
            Ending::Interrupted { by } => format!("interrupted by {by}"),
            _ => return None,
        };
        let n = m.trials.len();
        let mut finding = Finding::new(
            self.id(),
            Severity::Suspect,
            format!("{message}, after {}", counted(n, "trial")),
            "run the point again to its end",
        )
        .with("trials_done", n);
        if let Ending::Interrupted { by } = &m.ending {
            finding = finding.with("signal", by.as_str());
        }
        Some(finding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{flops, found};

    #[test]
    fn an_interrupted_one_is_suspect_with_the_signal() {
        let mut m = flops(1);
        m.ending = Ending::Interrupted { by: "SIGINT".to_owned() };
        let (severity, message) = found(&Unfinished, m).unwrap();
        assert_eq!(severity, Severity::Suspect);
        assert!(message.contains("SIGINT") && message.contains("10 trials"));
        let mut m = flops(1);
        m.ending = Ending::Unfinished;
        assert_eq!(found(&Unfinished, m).map(|f| f.0), Some(Severity::Suspect));
    }

    #[test]
    fn a_complete_one_is_not() {
        assert_eq!(found(&Unfinished, flops(1)), None);
    }
}
