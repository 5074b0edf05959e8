//! Messages between the launcher and the nodes: one JSON object per line. Nodes are not trusted:
//! each line is bounded, and every field is checked before use.

use std::iter;
use std::net::SocketAddr;

use proofmark_model::{FLEET_SCHEMA, FleetTask, NodeRound, Pass, Tool, clean_excerpt};
use serde::{Deserialize, Serialize};

use crate::subnet::Subnet;

/// Maximum length of an answer, in bytes.
pub const LONGEST_ANSWER: usize = 4 << 20;

/// Bytes of an answer per line: srun cuts lines above 1 KiB. A line starts with [`MORE`] if the
/// answer continues on the next one, else with [`LAST`].
const IN_A_LINE: usize = 800;
const MORE: u8 = b'+';
const LAST: u8 = b'.';

/// Maximum length of a line of an answer, in bytes.
pub(crate) const LONGEST_LINE: usize = 4096;

/// Maximum of characters of a node's texts.
const MAX_TEXT: usize = 600;

/// Maximum of addresses per node.
pub const MAX_ADDRESSES: usize = 16;

/// Order to nodes, sent as one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Nodes that follow the order; others ignore it.
    pub nodes: Vec<String>,
    /// Pass of the round.
    pub pass: Pass,
    /// Round of the pass, from 1.
    pub round: u32,
    /// Task of the order.
    pub work: NodeTask,
}

impl Order {
    /// Encodes the order as a line; `None` if JSON cannot hold it.
    pub(crate) fn line(&self) -> Option<Vec<u8>> {
        let mut line = serde_json::to_vec(self).ok()?;
        line.push(b'\n');
        Some(line)
    }
}

/// Task of an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
pub enum NodeTask {
    /// Measure this node.
    Measure(FleetTask),
    /// Serve other nodes' network tests until the end.
    Serve {
        /// Key that clients must hold.
        key: PairKey,
        /// Subnet to which addresses are limited.
        subnet: Option<Subnet>,
    },
    /// Measure the network to a node that serves.
    Pair {
        /// Name of that node.
        partner: String,
        /// Addresses at which it listens.
        addresses: Vec<SocketAddr>,
        /// Key of its server.
        key: PairKey,
        /// Task to measure.
        task: FleetTask,
    },
}

/// Key for the server of one node in one fleet. It is never written to a file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PairKey(pub String);

impl std::fmt::Debug for PairKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PairKey(..)")
    }
}

/// Answer of a node; the first is a hello.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// The node has started.
    Hello {
        /// Schema that it uses: [`FLEET_SCHEMA`].
        schema: String,
        /// Name of the node.
        node: String,
        /// Program of the node.
        tool: Tool,
        /// The kernel's random id of the node's boot, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        boot_id: Option<String>,
    },
    /// Results of a round.
    Round(Box<NodeRound>),
    /// The node serves other nodes.
    Serves {
        /// Addresses at which it listens.
        addresses: Vec<SocketAddr>,
    },
    /// The node did not complete an order.
    Failed {
        /// Pass of the order.
        pass: Pass,
        /// Round of the pass.
        round: u32,
        /// Reason in one sentence.
        reason: String,
    },
}

impl Answer {
    /// Encodes the answer as lines.
    pub(crate) fn lines(&self) -> serde_json::Result<Vec<u8>> {
        let text = serde_json::to_vec(self)?;
        let parts = text.chunks(IN_A_LINE);
        let last = parts.len().saturating_sub(1);
        let line = |(at, part): (usize, &[u8])| {
            [&[if at == last { LAST } else { MORE }], part, b"\n"].concat()
        };
        // First the end of a line that another program on the node has begun.
        Ok(iter::once(b'\n').chain(parts.enumerate().flat_map(line)).collect())
    }

    /// Creates the first answer of a node.
    pub fn hello(node: &str, tool: Tool, boot_id: Option<String>) -> Self {
        Self::Hello { schema: FLEET_SCHEMA.to_owned(), node: node.to_owned(), tool, boot_id }
    }
}

/// Begin of an answer's text, by which it differs from what start files print.
const BEGIN: &[u8] = b"{\"answer\":\"";

/// Maximum letters of printed text that are reported.
const EXCERPT: usize = 80;

/// Assembles the lines of a node's answers. It skips other lines: shells print when they start and
/// end, and programs that they start print at any time.
#[derive(Debug, Default)]
pub struct AnswerReader {
    so_far: Vec<u8>,
    /// Bytes of other lines since the last answer.
    skipped: usize,
    /// The first and the last of them that are not blank.
    printed: Option<[String; 2]>,
}

impl AnswerReader {
    /// Adds a line and returns the answer that it completes; `None` if the answer continues.
    ///
    /// # Errors
    ///
    /// Returns why the line cannot be used.
    pub fn read(&mut self, line: &[u8]) -> Result<Option<Answer>, String> {
        match line.split_first() {
            Some((mark @ (&MORE | &LAST), part))
                if !self.so_far.is_empty() || part.starts_with(BEGIN) =>
            {
                self.so_far.extend_from_slice(part);
                if *mark == MORE && self.so_far.len() <= LONGEST_ANSWER {
                    return Ok(None);
                }
                (self.skipped, self.printed) = (0, None);
                read_answer(&std::mem::take(&mut self.so_far)).map(Some)
            }
            _ => self.skip(line).map(|()| None),
        }
    }

    fn skip(&mut self, line: &[u8]) -> Result<(), String> {
        self.skipped += line.len() + 1;
        let text = clean_excerpt(&String::from_utf8_lossy(line), EXCERPT).trim().to_owned();
        match &mut self.printed {
            _ if text.is_empty() => {}
            Some([_, last]) => *last = text,
            None => self.printed = Some([text.clone(), text]),
        }
        if self.skipped <= LONGEST_ANSWER {
            return Ok(());
        }
        let printed = self.printed().unwrap_or_else(|| "empty lines".to_owned());
        let most = LONGEST_ANSWER >> 20;
        Err(format!("its answer is longer than {most} MiB and not proofmark's: {printed}"))
    }

    /// Returns the first and the last text that the node printed since its last answer, cleaned and
    /// cut: `Welcome ... Down for maintenance`.
    pub fn printed(&self) -> Option<String> {
        let [first, last] = self.printed.as_ref()?;
        Some(if first == last { first.clone() } else { format!("{first} ... {last}") })
    }
}

/// Parses an untrusted answer.
///
/// # Errors
///
/// Returns why it cannot be used.
pub fn read_answer(line: &[u8]) -> Result<Answer, String> {
    if line.len() > LONGEST_ANSWER {
        return Err(format!("its answer is longer than {} MiB", LONGEST_ANSWER >> 20));
    }
    let answer: Answer = serde_json::from_slice(line).map_err(|e| {
        let excerpt = String::from_utf8_lossy(&line[..line.len().min(MAX_TEXT)]);
        let why = clean_excerpt(&e.to_string(), 160);
        format!("its answer is not proofmark's: {why}: {}", clean_excerpt(&excerpt, 80))
    })?;
    match &answer {
        Answer::Hello { schema, .. } if schema != FLEET_SCHEMA => Err(format!(
            "it uses protocol {}, but the launcher uses {FLEET_SCHEMA}; run one proofmark on both",
            clean_excerpt(schema, 40)
        )),
        Answer::Serves { addresses } if addresses.len() > MAX_ADDRESSES => {
            Err(format!("it has more than {MAX_ADDRESSES} addresses"))
        }
        Answer::Hello { .. } | Answer::Serves { .. } | Answer::Failed { .. } => Ok(answer),
        Answer::Round(round) => round.check().map(|()| answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_not_ours_is_refused_in_words() {
        for (line, expected) in [
            ("", "its answer is not proofmark's"),
            ("{\"answer\":\"hello\"}", "missing field"),
            ("Last login: \u{1b}[31mTue", "not proofmark's"),
            ("{\"answer\":\"\\u001b[31m\"}", "unknown variant"),
            (
                "{\"answer\":\"hello\",\"schema\":\"proofmark.fleet/9\",\"node\":\"n1\",\"tool\":\
                 {\"version\":\"1\",\"commit\":null,\"build\":\"\"}}",
                "it uses protocol proofmark.fleet/9",
            ),
        ] {
            let why = read_answer(line.as_bytes()).unwrap_err();
            assert!(why.contains(expected), "{why}");
            assert!(!why.contains('\u{1b}'), "{why:?}");
        }
        let long = vec![b' '; LONGEST_ANSWER + 1];
        assert_eq!(read_answer(&long).unwrap_err(), "its answer is longer than 4 MiB");
    }

    #[test]
    fn a_key_is_not_shown() {
        let work = NodeTask::Serve { key: PairKey("secret".to_owned()), subnet: None };
        assert!(!format!("{work:?}").contains("secret"));
    }

    #[test]
    fn an_answer_of_many_lines_comes_back_and_one_without_end_is_refused() {
        let reason = "\u{e4} long reason".repeat(300);
        let answer = Answer::Failed { pass: Pass::First, round: 1, reason };
        let text = answer.lines().unwrap();
        let mut lines = AnswerReader::default();
        let all: Vec<_> = text.split_inclusive(|b| *b == b'\n').collect();
        assert!(all[0] == b"\n" && all.len() > 4 && all.iter().all(|line| line.len() < 1000));
        for _ in 0..2 {
            let read = all.iter().map(|line| lines.read(&line[..line.len() - 1]).unwrap());
            let read: Vec<_> = read.flatten().collect();
            assert_eq!(read, std::slice::from_ref(&answer));
        }
        for begin in ["+{\"answer\":\"", "+", "Last login"] {
            let mut lines = AnswerReader::default();
            let line = [begin.as_bytes(), &[b'x'; 4000]].concat();
            let read = (0..).map(|n| (n, lines.read(&line))).find(|(_, read)| read.is_err());
            let (lines_read, why) = read.unwrap();
            assert!(lines_read < 1100 && why.unwrap_err().contains("longer than 4 MiB"));
        }
    }

    #[test]
    fn what_a_shell_prints_is_skipped_and_its_first_and_last_words_are_known() {
        let answer = Answer::Failed { pass: Pass::First, round: 1, reason: "no disk".to_owned() };
        let text = answer.lines().unwrap();
        let mut reader = AnswerReader::default();
        let shell = b"\n  \n+ module load gcc\n. ok\n.\n\xff\x1b[31mbanner\r\nno end";
        let all = [&shell[..], &text, b"logout\n+ exit\n", &text, b"bye"].concat();
        let mut printed = Vec::new();
        let mut answers = Vec::new();
        for line in all.split(|b| *b == b'\n') {
            answers.extend(reader.read(line).unwrap());
            printed.extend(reader.printed());
        }
        assert_eq!(answers, [answer.clone(), answer]);
        printed.dedup();
        assert_eq!(
            printed,
            [
                "+ module load gcc",
                "+ module load gcc ... . ok",
                "+ module load gcc ... .",
                "+ module load gcc ... \u{fffd}[31mbanner",
                "+ module load gcc ... no end",
                "logout",
                "logout ... + exit",
                "bye"
            ]
        );
    }
}
