//! `cpu_states`: the rate depends on which of the host's cores the CPUs are.

use proofmark_model::{CpuState, Finding, Measurement, format_quantity};

use super::{Check, Class, Examine, percent};
use crate::Context;

/// A state that fewer rounds saw is not compared.
const LEAST_ROUNDS: u64 = 3;

pub(super) static CHECK: Check = Check {
    id: "cpu_states",
    class: Class::Context,
    title: "Rate depends on where the CPUs are",
    about: "Loads in slices on two or more CPUs. Before and after each round, two threads pass a cache \
         line to and fro, and look whether they take instructions from each other. A virtual machine's \
         CPUs may be hardware threads of one core now, and far apart a second later: a hypervisor moves \
         them without a word. States with at least 3 rounds each whose headline figures differ by more \
         than the target are a note, with their share of the time. Compare runs by the figures of \
         the same state. Ask the provider for pinned CPUs, or use a host with dedicated cores.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let value = |s: &CpuState| s.figure.as_ref().and_then(|f| f.value);
    let seen = m.cpu_states.iter().filter(|s| s.rounds >= LEAST_ROUNDS);
    let states: Vec<(&CpuState, f64)> = seen.filter_map(|s| Some((s, value(s)?))).collect();
    let values = || states.iter().map(|(_, value)| *value);
    let (least, most) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    let apart = most / least - 1.0;
    if !apart.is_finite() || apart <= ctx.policy.target_for(m.subsystem) {
        return None;
    }
    let describe = |(state, value): &(&CpuState, f64)| {
        format!(
            "{} {} ({} of the time)",
            format_quantity(*value, m.unit),
            state.name,
            percent(state.share)
        )
    };
    let all: Vec<String> = states.iter().map(describe).collect();
    let message = format!("it depends on where the CPUs are: {}", all.join(", "));
    let advice = "compare runs by figures of the same state; ask the provider for pinned CPUs";
    let finding = CHECK.note(message, advice);
    Some(finding.with("figures", values().collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use proofmark_model::Figure;

    use super::*;
    use crate::testing::*;

    fn with(states: &[(&str, u64, f64)]) -> Measurement {
        let mut m = stream("triad", 2);
        m.cpu_states = states
            .iter()
            .map(|(name, rounds, value)| CpuState {
                name: (*name).to_owned(),
                rounds: *rounds,
                share: *rounds as f64 / 10.0,
                figure: Some(Figure::alone(*value, "few")),
                ..CpuState::default()
            })
            .collect();
        m
    }

    #[test]
    fn rates_that_differ_by_state_are_named_with_their_share_of_the_time() {
        let two = with(&[("72 ns apart", 7, 42e9), ("310 ns apart", 3, 70e9)]);
        CHECK.expect([
            ("two states", two.clone(), NOTE),
            ("alike", with(&[("72 ns apart", 7, 42e9), ("one core", 3, 42.5e9)]), SILENT),
            ("seen twice", with(&[("72 ns apart", 8, 42e9), ("one core", 2, 30e9)]), SILENT),
            ("one", with(&[("72 ns apart", 10, 42e9)]), SILENT),
            ("none", with(&[]), SILENT),
        ]);
        assert_eq!(
            CHECK.found(two).unwrap().message,
            "it depends on where the CPUs are: 42.00 GB/s 72 ns apart (70.0 % of the time), \
             70.00 GB/s 310 ns apart (30.0 % of the time)"
        );
    }
}
