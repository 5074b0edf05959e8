//! Whether an answer is what was asked for.

use std::net::SocketAddr;

use proofmark_model::{NodeRound, Tool, clean_excerpt};

use super::When;
use crate::protocol::{Answer, Work};

/// Of a node whose answer belongs to no order.
pub(super) const NOT_ASKED: &str = "it sent an answer that no order asked for";

/// What is kept of an answer.
pub(super) enum Kept {
    Round(Box<NodeRound>),
    Addresses(Vec<SocketAddr>),
}

/// What is kept of an answer. The error says whether the node is asked no more.
pub(super) fn check_answer(
    (node, own): (&str, &Tool),
    when: When,
    asked: Option<&Work>,
    answer: Answer,
) -> Result<Kept, (String, bool)> {
    let other = || Err((NOT_ASKED.to_owned(), true));
    let Some(asked) = asked else { return other() };
    let partner = match asked {
        Work::Pair { partner, .. } => Some(partner),
        _ => None,
    };
    match (answer, asked) {
        (Answer::Failed { pass, round, reason }, _) if (pass, round) == when => {
            Err((clean_excerpt(&reason, 300), false))
        }
        (Answer::Serves { addresses }, Work::Serve { .. }) => Ok(Kept::Addresses(addresses)),
        (Answer::Round(found), Work::Measure(_) | Work::Pair { .. })
            if (found.pass, found.round, found.partner.as_ref()) == (when.0, when.1, partner) =>
        {
            if found.node != node {
                let name = clean_excerpt(&found.node, 60);
                return Err((format!("it calls itself '{name}'"), true));
            }
            match found.tool.mismatch(own) {
                Some(reason) => Err((reason, true)),
                None => Ok(Kept::Round(found)),
            }
        }
        _ => other(),
    }
}
