//! nuttcp: the summary line of its client, and the lines of both ends (`-v`), each also as
//! key=value pairs (`-fparse`).

mod line;
mod run;
mod runner;

use proofmark_model::{Finding, Printed, Severity, excerpt};

use crate::findings::warned;
use crate::text::each_line;
use crate::{Description, Figure, Malformed, Output, Tool, same_work};
use line::Line;
use run::Run;

pub(crate) struct Nuttcp;

impl Tool for Nuttcp {
    fn description(&self) -> &Description {
        &Description {
            id: "nuttcp",
            printed: Printed::Mean,
            title: "nuttcp (Bill Fink and Rob Scott)",
            package: "Debian: nuttcp",
            reads: "its text",
            same_work: const {
                &[same_work(TCP, "network.tcp.stream"), same_work(UDP, "network.udp.stream")]
            },
            about: "Reads what the client prints: its one line, or the lines of both ends (-v), each \
                    also with -fparse, TCP and UDP, -r, -N, -I. Lines of intervals (-i) are no \
                    trials; they are compared with the total. Runs of a file that have the same \
                    parameters are trials of one figure. MB is 2^20 bytes, Mbps is decimal. The rate \
                    is the receiver's: the payload that it read over its time. UDP figures also have \
                    the datagrams sent and received. The CPU time of both ends follows from their \
                    share of one CPU; the transmitter's is left out where it may have been paced, \
                    since nuttcp polls meanwhile. The one line does not say which end the client \
                    was: it counts as the transmitter. Only -v has the size of a block, the streams, \
                    the direction and a pace (-R). Of TCP with a pace the figure is \
                    nuttcp.tcp.paced. What only a transmitter counted is nuttcp.tcp.sent or \
                    nuttcp.udp.sent.",
        }
    }

    fn recognises(&self, text: &str) -> bool {
        // nuttcp begins each line of an end with its own name; the older ttcp has another.
        text.lines().any(|line| Line::parse(line, 1).is_some())
    }

    fn read(&self, text: &str) -> Result<Output, Malformed> {
        let mut runs = Runs::default();
        let last = each_line(text, |at, line| {
            let Some(line) = Line::parse(line, at) else { return Ok(()) };
            if runs.open.ends_before(&line) {
                runs.finish(at)?;
            }
            runs.open.take(&line)
        })?;
        runs.output(last)
    }
}

/// The tests of nuttcp, counted by the receiver.
const TCP: &str = "TCP";
const UDP: &str = "UDP";

/// The runs of a text.
#[derive(Default)]
struct Runs {
    version: Option<String>,
    open: Run,
    figures: Vec<Figure>,
    /// The messages of runs without a figure.
    unassigned: Vec<Message>,
}

/// A message of nuttcp about a run.
#[derive(Debug, Clone, PartialEq)]
struct Message {
    at: usize,
    is_error: bool,
    /// True if the lines of the run's ends had begun.
    is_within: bool,
    words: String,
}

impl Message {
    /// Parses `nuttcp-t: Warning: ...`, `nuttcp-r: v6.1.2: Error: ...`, `nuttcp-t: Warning="..."`
    fn parse(line: &Line) -> Option<Self> {
        const MARKS: [&str; 4] = ["Error: ", "Warning: ", "Warning=", "Info: "];
        /// The maximum number of characters that are kept.
        const MOST: usize = 200;
        let text = line.end.map(|_| line.text)?;
        let text = match text.split_once(": ") {
            Some((version, rest)) if is_version(version) => rest,
            _ => text,
        };
        let (mark, words) =
            MARKS.into_iter().find_map(|mark| Some((mark, text.strip_prefix(mark)?)))?;
        let words = excerpt(words.trim_matches('"'), MOST);
        Some(Self { at: line.at, is_error: mark == MARKS[0], is_within: false, words })
    }

    /// Returns the message as a finding of a figure. An error outside the lines ended another run.
    fn finding(&self) -> Finding {
        let (severity, kind) = match (self.is_error, self.is_within) {
            (false, _) => (Severity::Note, "a warning"),
            (true, true) => (Severity::Suspect, "an error"),
            (true, false) => (Severity::Note, "an error, of a run without a result"),
        };
        warned(severity, format!("nuttcp printed {kind}: {}", self.words))
    }
}

fn is_version(word: &str) -> bool {
    word.strip_prefix('v').is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()))
}

impl Runs {
    /// Ends the open run.
    fn finish(&mut self, at: usize) -> Result<(), Malformed> {
        let run = std::mem::take(&mut self.open);
        self.version = self.version.take().or_else(|| run.version.clone());
        match run.figure(at)? {
            Ok(figure) => self.figures.push(figure),
            Err(message) => self.unassigned.extend(message),
        }
        Ok(())
    }

    fn output(mut self, last: usize) -> Result<Output, Malformed> {
        self.finish(last)?;
        let Some(figure) = self.figures.last_mut() else {
            let error = self.unassigned.iter().find(|message| message.is_error);
            let Some(message) = error else {
                return Err(Malformed::at(last, "there is no amount: the run did not end"));
            };
            let words = Malformed::excerpt(&message.words);
            return Err(Malformed::at(message.at, format!("nuttcp ended with an error: {words}")));
        };
        figure.findings.extend(self.unassigned.iter().map(Message::finding));
        Ok(Output { version: self.version, figures: self.figures, ..Output::default() })
    }
}

#[cfg(test)]
mod tests;
