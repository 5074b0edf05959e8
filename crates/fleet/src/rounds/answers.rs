//! Whether an answer is what was asked for.

use std::net::SocketAddr;

use proofmark_model::{NodeFigure, NodeRound, Tool, clean_excerpt};

use super::When;
use crate::protocol::{Answer, Work};

/// What is kept of an answer.
pub(super) enum Kept {
    Round(Box<NodeRound>),
    At(Vec<SocketAddr>),
}

/// What was asked for; `None` for a hello. The error says whether the node is asked no more.
pub(super) fn answer_to(
    (node, own): (&str, &Tool),
    when: When,
    asked: Option<&Work>,
    answer: Answer,
) -> Result<Option<Kept>, (String, bool)> {
    let Some(asked) = asked else {
        return match answer {
            Answer::Hello { .. } => Ok(None),
            _ => Err(("it sent an unexpected answer".to_owned(), true)),
        };
    };
    let partner = match asked {
        Work::Pair { partner, .. } => Some(partner),
        _ => None,
    };
    match (answer, asked) {
        (Answer::Hello { .. }, _) => Ok(None),
        (Answer::Failed { pass, round, reason }, _) if (pass, round) == when => {
            Err((clean_excerpt(&reason, 300), false))
        }
        (Answer::Serves { at }, Work::Serve { .. }) => Ok(Some(Kept::At(at))),
        (Answer::Round(found), Work::Measure(_) | Work::Pair { .. })
            if (found.pass, found.round, found.partner.as_ref()) == (when.0, when.1, partner) =>
        {
            let network = |f: &NodeFigure| f.subsystem.has_server() == partner.is_some();
            if found.node != node {
                let name = clean_excerpt(&found.node, 60);
                return Err((format!("it calls itself '{name}'"), true));
            }
            match other_program(&found.tool, own) {
                Some(reason) => Err((reason, true)),
                None if found.figures.iter().all(network) => Ok(Some(Kept::Round(found))),
                None => Err(("it sent an unexpected answer".to_owned(), true)),
            }
        }
        _ => Err(("it sent an unexpected answer".to_owned(), true)),
    }
}

/// That a node has another program, if it has.
pub(super) fn other_program(there: &Tool, here: &Tool) -> Option<String> {
    let [there, here] = there.told_apart(here)?;
    Some(format!("it has proofmark {there}, the launcher {here}"))
}
