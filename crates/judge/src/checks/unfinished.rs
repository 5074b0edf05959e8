//! `unfinished`: the trials were not all taken.

use proofmark_model::{Ending, Finding, Measurement};

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
    let message = format!("{message}, after {}", counted(n, "trial"));
    let advice = "repeat the measurement to its end";
    let mut finding = CHECK.suspect(message, advice).with("trials_done", n);
    if let Ending::Interrupted { by } = &m.ending {
        finding = finding.with("signal", by.as_str());
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn one_that_was_stopped_is_suspect_with_the_signal() {
        let ended = |ending| Measurement { ending, ..flops(1) };
        let by = Ending::Interrupted { by: "SIGINT".to_owned() };
        CHECK.expect([
            ("interrupted", ended(by), suspect("SIGINT ... 10 trials")),
            ("unfinished", ended(Ending::Unfinished), SUSPECT),
        ]);
    }
}
