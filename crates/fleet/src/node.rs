//! A node's side: reads orders, measures and answers. It ends with its input, which closes when the
//! launcher ends.

use std::io::{self, BufReader, Read, Write};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use proofmark_model::NodeRound;
use proofmark_process::BoundedLines;

use crate::protocol::{Answer, LONGEST_ANSWER, Order};

/// Time without an order or keep-alive after which a node assumes that the launcher is gone.
const MAX_SILENCE: Duration = Duration::from_secs(300);

/// Outcome of an order.
#[derive(Debug)]
pub enum OrderOutcome {
    /// The node measured a round.
    Measured(Box<NodeRound>),
    /// The node serves other nodes at these addresses.
    Serves(Vec<SocketAddr>),
}

/// Sends a hello and answers the orders of `input` for a node until the input ends. Then calls `end` from another
/// thread, since a round may still be running.
pub fn answer_orders(
    (node, hello): (&str, &Answer),
    input: impl Read + Send + 'static,
    mut output: impl Write,
    mut follow: impl FnMut(&Order) -> Result<OrderOutcome, String>,
    end: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    send(&mut output, hello)?;
    let orders = orders(input, end);
    // A launcher that lost its network does not close the input.
    while let Ok(heard) = orders.recv_timeout(MAX_SILENCE) {
        let Some(order) = heard.filter(|order| order.nodes.iter().any(|name| name == node)) else {
            continue;
        };
        let answer = match follow(&order) {
            Ok(OrderOutcome::Measured(round)) => Answer::Round(round),
            Ok(OrderOutcome::Serves(addresses)) => Answer::Serves { addresses },
            Err(reason) => Answer::Failed { pass: order.pass, round: order.round, reason },
        };
        send(&mut output, &answer)?;
    }
    Ok(())
}

fn send(output: &mut impl Write, answer: &Answer) -> io::Result<()> {
    output.write_all(&answer.lines()?)?;
    output.flush()
}

/// Reads orders in a thread. An invalid order ends them, as the end of the input does.
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
