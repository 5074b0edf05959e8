//! An executor that hands the timing to another process, such as one that drives a device whose
//! libraries this program cannot load.
//!
//! It speaks JSON, one value a line. First the helper says what it drives. Then it answers each
//! request: `{"run":1000}` with `{"operations":1000,"seconds":0.1}`, and `"count"` with
//! `{"total":5000}`, all operations that it has ever done. The work of a trial is what the answer
//! claims, and its verification by how much the total rose. Its time is the helper's; ours, around
//! the request, goes with it into the run file, since an operation cannot take longer than that.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use proofmark_model::{HelperTrial, Timestamp, Trial, clean_excerpt};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clock::raw_seconds;
use crate::executor::{Executor, ExecutorTrial};
use crate::latency::Latencies;
use crate::protocol::{Reply, send};
use crate::workload::Refusal;

/// Bytes of a line at most.
const LINE_LIMIT: u64 = 4096;
/// Letters of a line in a message.
const SHOWN: usize = 120;
/// A helper whose input was closed gets so long to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// The helper's first line.
#[derive(Debug, Clone, Deserialize)]
struct Hello {
    /// What it drives.
    device: String,
    /// Operations a second that it can do at most.
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
    pipes: RefCell<Pipes>,
    hello: Hello,
}

struct Pipes {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    patience: Duration,
}

impl HelperProcess {
    /// Starts it. Each of its answers is waited for so long.
    pub fn start(mut command: Command, patience: Duration) -> Result<Self, Refusal> {
        let refused = |what: &str| Refusal(format!("cannot start the helper: {what}"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|e| refused(&e.to_string()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (to, lines) = channel();
        let mut pipes = Pipes { child, input, lines, patience };
        let mut output = BufReader::new(output.ok_or_else(|| refused("it has no output"))?);
        let read = move || {
            let mut line = Vec::new();
            while matches!(output.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut line), Ok(1..))
                && to.send(String::from_utf8_lossy(&line).into_owned()).is_ok()
            {
                line.clear();
            }
        };
        let reader = thread::Builder::new().name("helper".to_owned()).spawn(read);
        reader.map_err(|e| refused(&e.to_string()))?;
        let hello = pipes.answer()?;
        Ok(Self { pipes: RefCell::new(pipes), hello })
    }

    fn ask<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, Refusal> {
        let mut pipes = self.pipes.borrow_mut();
        let sent = pipes.input.as_mut().is_some_and(|input| send(input, &ask).is_ok());
        if sent { pipes.answer() } else { Err(pipes.ended("closed its input")) }
    }

    fn total(&self) -> Result<u64, Refusal> {
        self.ask(Ask::Count).map(|Total { total }| total)
    }
}

impl Pipes {
    fn answer<T: DeserializeOwned>(&mut self) -> Result<T, Refusal> {
        match self.lines.recv_timeout(self.patience) {
            Ok(line) => serde_json::from_str(&line).map_err(|_| {
                let line = clean_excerpt(&line, SHOWN);
                Refusal(format!("the helper sent an invalid answer: {line}"))
            }),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended("ended without an answer")),
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                let seconds = self.patience.as_secs_f64();
                Err(Refusal(format!("the helper gave no answer within {seconds} s")))
            }
        }
    }

    fn ended(&mut self, what: &str) -> Refusal {
        let status = self.end().map_or_else(String::new, |status| format!(" ({status})"));
        Refusal(format!("the helper {what}{status}"))
    }

    /// Closes its input, and kills it after a grace; how it ended, where that was its own doing.
    fn end(&mut self) -> Option<std::process::ExitStatus> {
        self.input = None;
        let begin = Instant::now();
        while begin.elapsed() < GRACE {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(2));
        }
        self.kill();
        let _ = self.child.wait();
        None
    }

    /// Kills it and what it started.
    fn kill(&self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        self.end();
    }
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
            let what = format!("the helper says that {operations} operations took {seconds} s");
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

    /// Says hello, then answers the requests of a trial with these lines.
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
        assert!(never.contains("took 0 s"), "{never}");
    }

    #[test]
    fn a_helper_that_ends_hangs_or_babbles_is_told_apart() {
        for (script, words) in [
            ("exit 3", "ended without an answer (exit status: 3)"),
            ("read r", "gave no answer within 0.5 s"),
            ("echo hello; read r", "sent an invalid answer: hello"),
        ] {
            let Err(Refusal(why)) = helper(script).map(|_| ()) else { panic!("{script}") };
            assert!(why.contains(words), "{why}");
        }
        assert!(why(answering("'{\"total\":5}'")).contains("gave no answer"));
    }
}
