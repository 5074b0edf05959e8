//! Plausibility of a node's round, which is untrusted input.

use crate::{
    NodeFact, NodeFigure, NodeRound, Param, Params, Program, clean, clean_excerpt, is_quantity,
};

/// Maximum number of results of a round and of findings of a result; the largest profile has about
/// 300 results.
const MAX_FIGURES: usize = 1000;
/// Maximum number of facts of a node.
const MAX_FACTS: usize = 64;
/// Maximum number of programs of a round.
const MAX_PROGRAMS: usize = 64;
/// Maximum number of parameters of a result.
const MAX_PARAMS: usize = 40;
/// Maximum bytes of a workload's id, of a parameter and of a fact's name.
const MAX_BYTES: usize = 200;

impl NodeRound {
    /// Refuses a round that no node of ours would send, in words that follow the node's name.
    pub fn check(&self) -> Result<(), String> {
        if self.figures.len() > MAX_FIGURES {
            return Err(format!("it sent more than {MAX_FIGURES} results in a round"));
        }
        if self.boot_id.as_ref().is_some_and(|id| !plain(id)) {
            return Err("it sent a boot id that no kernel has".to_owned());
        }
        let named = |fact: &NodeFact| fact.what.len() <= MAX_BYTES;
        if self.facts.len() > MAX_FACTS || !self.facts.iter().all(named) {
            return Err(format!(
                "it sent more than {MAX_FACTS} facts, or one with too long a name"
            ));
        }
        if self.figures.iter().any(|f| f.subsystem.info().has_server != self.pass.of_pairs()) {
            return Err(
                "it sent network results outside a round of pairs, or other results in one".into(),
            );
        }
        if self.programs.len() > MAX_PROGRAMS || !self.programs.iter().all(program) {
            return Err(format!("it sent more than {MAX_PROGRAMS} programs, or an impossible one"));
        }
        let limits = &self.limits;
        let amounts = [
            limits.cpus,
            limits.read_bytes_per_s,
            limits.write_bytes_per_s,
            limits.reads_per_s,
            limits.writes_per_s,
            self.programs_of_one_cpu,
        ];
        if amounts.into_iter().flatten().any(|v| !is_quantity(v) || v < 0.0) {
            return Err("it sent an impossible limit or CPU time".to_owned());
        }
        self.figures.iter().try_for_each(figure)
    }
}

fn program(program: &Program) -> bool {
    let Program { name, cpu_s, of_one_cpu, io_bytes_per_s } = program;
    let is_possible = |v: &f64| is_quantity(*v) && *v >= 0.0;
    name.len() <= MAX_BYTES && [cpu_s, of_one_cpu, io_bytes_per_s].into_iter().all(is_possible)
}

fn figure(figure: &NodeFigure) -> Result<(), String> {
    if !plain(&figure.workload) || !params(&figure.params) {
        return Err("it sent a result with a name or parameters that no workload has".to_owned());
    }
    let what = || clean_excerpt(&figure.workload, 40);
    if figure.findings.len() > MAX_FIGURES {
        return Err(format!("it sent more than {MAX_FIGURES} findings of {}", what()));
    }
    let rates = [figure.attainable, figure.delivered];
    let shares = [figure.ceiling, figure.ceiling_margin, figure.efficiency];
    let impossible = |value: &f64| !is_quantity(*value);
    let wrong = rates.into_iter().flatten().find(|v| impossible(v) || *v <= 0.0);
    let wrong = wrong.or_else(|| shares.into_iter().flatten().find(|v| impossible(v) || *v < 0.0));
    match wrong {
        Some(value) => Err(format!("it sent an impossible value of {}: {value:e}", what())),
        None => Ok(()),
    }
}

/// Returns true if a name is short and without characters that steer a terminal.
fn plain(text: &str) -> bool {
    text.len() <= MAX_BYTES && clean(text) == text
}

fn params(params: &Params) -> bool {
    let fits = |(name, value): (&String, &Param)| {
        let text = if let Param::Text(text) = value { text } else { "" };
        plain(name) && plain(text)
    };
    params.0.len() <= MAX_PARAMS && params.0.iter().all(fits)
}
