//! Whether a node's line may be believed: it may come from anyone who reached the file.

use proofmark_model::{NodeFact, NodeFigure, NodeRound, Param, Params, Tool, clean, is_quantity};

/// Results of a round at the most; the largest profile has about 300.
const MOST_FIGURES: usize = 1024;
/// Facts of a node at the most.
const MOST_FACTS: usize = 64;
/// Parameters of a result at the most.
const MOST_PARAMS: usize = 40;
/// Bytes of a workload's id, of a parameter and of a fact's name at the most.
const LONGEST: usize = 200;

/// Why a round does not count; `Err` in words that follow the node's name.
pub(super) fn round(line: &NodeRound, launcher: &Tool) -> Result<(), String> {
    program(&line.tool, launcher)?;
    if line.figures.len() > MOST_FIGURES {
        return Err(format!("sent more than {MOST_FIGURES} results in a round"));
    }
    let named = |fact: &NodeFact| fact.what.len() <= LONGEST;
    if line.facts.len() > MOST_FACTS || !line.facts.iter().all(named) {
        return Err(format!("sent more than {MOST_FACTS} facts, or one with a name too long"));
    }
    if line.figures.iter().any(|f| f.subsystem.has_server() != line.pass.of_pairs()) {
        return Err("sent results of another pass".to_owned());
    }
    line.figures.iter().try_for_each(figure)
}

/// The same program measures the same way.
fn program(own: &Tool, launcher: &Tool) -> Result<(), String> {
    match own.told_apart(launcher) {
        Some([own, launcher]) => Err(format!("runs proofmark {own}, the launcher {launcher}")),
        None => Ok(()),
    }
}

fn figure(figure: &NodeFigure) -> Result<(), String> {
    if !plain(&figure.workload) || !params(&figure.params) {
        return Err("sent a result with a name or parameters that no workload has".to_owned());
    }
    let believable = |value: Option<f64>| value.is_none_or(|v| is_quantity(v) && v >= 0.0);
    if ![figure.attainable, figure.delivered, figure.ceiling, figure.efficiency]
        .into_iter()
        .all(believable)
    {
        let what = super::short(&figure.workload, 40);
        return Err(format!("sent a number that no machine reaches, of {what}"));
    }
    Ok(())
}

/// Whether a name is short and without characters that steer a terminal.
fn plain(text: &str) -> bool {
    text.len() <= LONGEST && clean(text) == text
}

fn params(params: &Params) -> bool {
    let fits = |(name, value): (&String, &Param)| {
        let text = if let Param::Text(text) = value { text } else { "" };
        plain(name) && plain(text)
    };
    params.0.len() <= MOST_PARAMS && params.0.iter().all(fits)
}
