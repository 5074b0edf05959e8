//! Check of an answer against its order.

use std::net::SocketAddr;

use proofmark_model::{NodeRound, Tool, clean_excerpt};

use super::RoundId;
use crate::protocol::{Answer, NodeTask};

/// Failure of a node that answers without an order.
pub(super) const NOT_ASKED: &str = "it sent an answer that no order asked for";

/// Content of an accepted answer.
pub(super) enum Accepted {
    Round(Box<NodeRound>),
    Addresses(Vec<SocketAddr>),
}

/// Checks an answer against its order. An error holds its reason, and true if the node gets no more
/// orders.
pub(super) fn check_answer(
    (node, own): (&str, &Tool),
    round_id: RoundId,
    asked: Option<&NodeTask>,
    answer: Answer,
) -> Result<Accepted, (String, bool)> {
    let other = || Err((NOT_ASKED.to_owned(), true));
    let Some(asked) = asked else { return other() };
    let partner = match asked {
        NodeTask::Pair { partner, .. } => Some(partner),
        _ => None,
    };
    match (answer, asked) {
        (Answer::Failed { pass, round, reason }, _) if (pass, round) == round_id => {
            Err((clean_excerpt(&reason, 300), false))
        }
        (Answer::Serves { addresses }, NodeTask::Serve { .. }) => {
            Ok(Accepted::Addresses(addresses))
        }
        (Answer::Round(found), NodeTask::Measure(_) | NodeTask::Pair { .. })
            if (found.pass, found.round, found.partner.as_ref())
                == (round_id.0, round_id.1, partner) =>
        {
            if found.node != node {
                let name = clean_excerpt(&found.node, 60);
                return Err((format!("it reported another name, '{name}'"), true));
            }
            match found.tool.mismatch(own) {
                Some(reason) => Err((reason, true)),
                None => Ok(Accepted::Round(found)),
            }
        }
        _ => other(),
    }
}
