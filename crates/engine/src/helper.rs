//! An executor that lets another process do the timing, such as one that drives a device whose
//! libraries this program cannot load.
//!
//! The protocol is JSON, one value per line. First the helper names its device. Then it answers
//! each request: `{"run":1000}` with `{"operations":1000,"seconds":0.1}`, and `"count"` with
//! `{"total":5000}`, all operations since its start. The answer gives the claimed work of a trial,
//! and the rise of the total verifies it. The trial's time is the helper's. The time that the
//! request took here is in the run file as well, since an operation cannot take longer.

use std::cell::RefCell;
use std::process::Command;
use std::time::Duration;

use proofmark_model::{HelperTrial, Timestamp, Trial, clean_excerpt};
use proofmark_process::{ChildProcess, Input, Line, StartOptions, Stream};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clock::raw_seconds;
use crate::executor::{Executor, ExecutorTrial};
use crate::latency::Latencies;
use crate::protocol::{Reply, send};
use crate::workload::Refusal;

/// Maximum bytes of a line.
const LINE_LIMIT: usize = 4096;
/// Bytes of the helper's standard error that are kept.
const ERRORS: usize = 4096;
/// Maximum letters of a line in a message.
const SHOWN: usize = 120;
/// Time that a helper has to end by itself after its input was closed.
const GRACE: Duration = Duration::from_secs(1);

/// The helper's first line.
#[derive(Debug, Clone, Deserialize)]
struct Hello {
    /// Name of the device that it drives.
    device: String,
    /// Maximum operations per second of the device.
    peak_per_s: Option<f64>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Ask {
    Run(u64),
    Count,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Ran {
    operations: u64,
    seconds: f64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Total {
    total: u64,
}

/// A process that does the work and times it.
pub struct HelperProcess {
    child: RefCell<ChildProcess>,
    patience: Duration,
    hello: Hello,
}

impl HelperProcess {
    /// Starts the helper. Each of its answers must come within `patience`.
    pub fn start(mut command: Command, patience: Duration) -> Result<Self, Refusal> {
        let options = StartOptions {
            input: Input::Piped,
            output: Stream::Lines(LINE_LIMIT),
            errors: Stream::Tail(ERRORS),
            grace: GRACE,
            ..StartOptions::default()
        };
        let mut child = ChildProcess::start(&mut command, options)
            .map_err(|e| Refusal(format!("cannot start the helper: {e}")))?;
        let hello = answer(&mut child, patience)?;
        Ok(Self { child: RefCell::new(child), patience, hello })
    }

    fn ask<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, Refusal> {
        let mut child = self.child.borrow_mut();
        let sent = child.input().is_some_and(|input| send(input, &ask).is_ok());
        if sent { answer(&mut child, self.patience) } else { Err(ended(&mut child)) }
    }

    fn total(&self) -> Result<u64, Refusal> {
        self.ask(Ask::Count).map(|Total { total }| total)
    }
}

/// Waits for the helper's next line.
fn answer<T: DeserializeOwned>(child: &mut ChildProcess, patience: Duration) -> Result<T, Refusal> {
    match child.line(patience) {
        Line::Text(line) => serde_json::from_slice(&line).map_err(|_| {
            let line = clean_excerpt(&String::from_utf8_lossy(&line), SHOWN);
            Refusal(format!("the helper sent an invalid answer: {line}"))
        }),
        Line::End => Err(ended(child)),
        Line::Silence => {
            child.end(Duration::ZERO);
            let seconds = patience.as_secs_f64();
            Err(Refusal(format!("the helper gave no answer within {seconds} s")))
        }
    }
}

/// Reports how a helper ended before it answered.
fn ended(child: &mut ChildProcess) -> Refusal {
    let how = match child.end(GRACE) {
        Some(ended) => ended.exit.with_last_line(&child.last_words(GRACE)),
        None => "closed its output".to_owned(),
    };
    Refusal(format!("the helper {how} before it answered"))
}

impl Executor for HelperProcess {
    fn trial(&self, shares: &[u64], ahead: u64) -> Result<ExecutorTrial, Reply> {
        if ahead > 0 {
            self.ask::<Ran>(Ask::Run(ahead))?;
        }
        let before = self.total()?;
        let (started, from) = (Timestamp::now(), raw_seconds());
        let asked = shares.iter().copied().fold(0, u64::saturating_add);
        let Ran { operations, seconds } = self.ask(Ask::Run(asked))?;
        let wall_s = raw_seconds() - from;
        let counted = self.total()?.saturating_sub(before);
        if !(seconds.is_finite() && seconds > 0.0) {
            let what = format!(
                "the helper reported an invalid time: {seconds} s for {operations} operations"
            );
            return Err(Reply::Unverified(what));
        }
        let Hello { device, peak_per_s } = self.hello.clone();
        let helper = Some(HelperTrial { device, wall_s, peak_per_s });
        Ok(ExecutorTrial {
            known: Trial { started, seconds, helper, ..Trial::default() },
            from,
            claimed: operations,
            counted,
            within: operations as f64,
            each_s: None,
            latencies: Latencies::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn helper(script: &str) -> Result<HelperProcess, Refusal> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        HelperProcess::start(command, Duration::from_millis(500))
    }

    /// Sends its first line, then answers the requests of a trial with these lines.
    fn answering(lines: &str) -> Result<ExecutorTrial, Reply> {
        let hello = "'{\"device\":\"d\",\"peak_per_s\":1e3}'";
        let script =
            format!("echo {hello}; for l in {lines}; do read r; echo \"$l\"; done; read r; read r");
        helper(&script)?.trial(&[3, 4], 0)
    }

    fn why(tried: Result<ExecutorTrial, Reply>) -> String {
        match tried {
            Err(Reply::Refused(why) | Reply::Unverified(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_trial_is_what_the_helper_claims_and_its_total_proves() {
        let trial = |ran: &str, after: u64| {
            answering(&format!("'{{\"total\":5}}' '{ran}' '{{\"total\":{after}}}'"))
        };
        let good = trial("{\"operations\":7,\"seconds\":1e-6}", 12).unwrap();
        assert_eq!((good.claimed, good.counted, good.within), (7, 7, 7.0));
        let helper = good.known.helper.unwrap();
        assert_eq!((&*helper.device, helper.peak_per_s), ("d", Some(1e3)));
        assert!(helper.wall_s > good.known.seconds, "{helper:?}");
        let half = trial("{\"operations\":7,\"seconds\":1e-6}", 8).unwrap();
        assert_eq!((half.claimed, half.counted), (7, 3), "what it did not do is not proved");
        let never = why(trial("{\"operations\":7,\"seconds\":0}", 12));
        assert!(never.contains("an invalid time: 0 s"), "{never}");
    }

    #[test]
    fn a_helper_that_ends_hangs_or_sends_nonsense_is_named() {
        for (script, words) in [
            ("exit 3", "exited with status 3 before it answered"),
            ("read r", "gave no answer within 0.5 s"),
            ("echo hello; read r", "sent an invalid answer: hello"),
        ] {
            let Err(Refusal(why)) = helper(script).map(|_| ()) else { panic!("{script}") };
            assert!(why.contains(words), "{why}");
        }
        assert!(why(answering("'{\"total\":5}'")).contains("gave no answer"));
    }
}
