//! The end on a node: reads orders, measures, answers. It ends with its input, which ends with the
//! launcher.

use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use proofmark_model::{NodeRound, Tool};

use crate::lines::next_line;
use crate::protocol::{Answer, LONGEST_ANSWER, Order};

/// Answers the orders of `input` for a node until it ends, and calls `end` then, from a thread of its
/// own, while a round may still be measured.
pub fn answer_orders(
    (node, tool): (&str, Tool),
    input: impl Read + Send + 'static,
    mut output: impl Write,
    mut measure: impl FnMut(&Order) -> Result<NodeRound, String>,
    end: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    say(&mut output, &Answer::hello(node, tool))?;
    for order in orders(input, end) {
        if !order.nodes.iter().any(|name| name == node) {
            continue;
        }
        let answer = match measure(&order) {
            Ok(round) => Answer::Round(Box::new(round)),
            Err(reason) => Answer::Failed { pass: order.pass, round: order.round, reason },
        };
        say(&mut output, &answer)?;
    }
    Ok(())
}

fn say(output: &mut impl Write, answer: &Answer) -> io::Result<()> {
    output.write_all(&answer.lines()?)?;
    output.flush()
}

/// The orders as they come; what is no order ends them, as the end of the input does.
fn orders(
    input: impl Read + Send + 'static,
    end: impl FnOnce() + Send + 'static,
) -> Receiver<Order> {
    let (to, orders) = channel();
    thread::spawn(move || {
        let mut input = BufReader::new(input);
        while let Ok(Some(line)) = next_line(&mut input, LONGEST_ANSWER) {
            let order = serde_json::from_slice(&line).ok();
            if order.is_none_or(|order: Order| to.send(order).is_err()) {
                break;
            }
        }
        end();
    });
    orders
}
