//! The end on a node: reads orders, measures, answers. It ends with its input, which ends with the
//! launcher.

use std::io::{self, BufReader, Read, Write};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use proofmark_model::{NodeRound, Tool};
use proofmark_process::BoundedLines;

use crate::protocol::{Answer, LONGEST_ANSWER, Order};

/// A node that hears nothing for so long is alone.
const SILENCE: Duration = Duration::from_secs(300);

/// What came of an order.
#[derive(Debug)]
pub enum Done {
    /// A round.
    Measured(Box<NodeRound>),
    /// Other nodes are answered at these addresses.
    Serves(Vec<SocketAddr>),
}

/// Answers the orders of `input` for a node until it ends, and calls `end` then, from a thread of its
/// own, while a round may still be measured.
pub fn answer_orders(
    (node, tool): (&str, Tool),
    input: impl Read + Send + 'static,
    mut output: impl Write,
    mut follow: impl FnMut(&Order) -> Result<Done, String>,
    end: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    say(&mut output, &Answer::hello(node, tool))?;
    let orders = orders(input, end);
    // A launcher that lost its network does not end the input.
    while let Ok(heard) = orders.recv_timeout(SILENCE) {
        let Some(order) = heard.filter(|order| order.nodes.iter().any(|name| name == node)) else {
            continue;
        };
        let answer = match follow(&order) {
            Ok(Done::Measured(round)) => Answer::Round(round),
            Ok(Done::Serves(addresses)) => Answer::Serves { addresses },
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
) -> Receiver<Option<Order>> {
    let (to, orders) = channel();
    thread::spawn(move || {
        let mut input = BoundedLines::new(BufReader::new(input), LONGEST_ANSWER);
        while let Ok(Some(line)) = input.next_line() {
            let order = match line.as_slice() {
                [] => None,
                line => match serde_json::from_slice::<Order>(line) {
                    Ok(order) => Some(order),
                    Err(_) => break,
                },
            };
            if to.send(order).is_err() {
                break;
            }
        }
        drop(to);
        end();
    });
    orders
}
