//! `vcpu_placement`: the rate depends on which of the host's cores run the virtual CPUs.

use proofmark_model::{Finding, Measurement, format_quantity};

use super::{Check, Class, Examine, percent};
use crate::Context;
use crate::placement::{Placed, are_apart, with_intervals};

pub(super) static CHECK: Check = Check {
    id: "vcpu_placement",
    class: Class::Context,
    title: "Result depends on vCPU placement",
    about: "Applies to loads in slices on two or more CPUs. Before and after each round two \
         threads pass a cache line back and forth, and test whether they take issue slots from \
         each other. A hypervisor may move virtual CPUs at any time: they are SMT siblings now, \
         and far apart a second later. Two placements are a note if their headline figures differ \
         by more than the target, and their 95 % intervals do not overlap (of at least 8 rounds \
         each). The finding has their share of the time. Compare runs by the figures of the same \
         placement. Ask the provider for pinned CPUs, or use a host with dedicated cores.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let seen = with_intervals(m);
    let (highest, lowest) = (seen.first()?, seen.last()?);
    let apart = highest.1 / lowest.1 - 1.0;
    let differ = are_apart(highest, lowest) && apart > ctx.policy.target_for(m.subsystem);
    if !differ || !apart.is_finite() {
        return None;
    }
    let describe = |(placement, value, _): &Placed| {
        let value = format_quantity(*value, m.unit);
        format!("{value} {}, {} of the time", placement.name, percent(placement.share))
    };
    let all: Vec<String> = seen.iter().map(describe).collect();
    let message = format!("the result depends on vCPU placement: {}", all.join("; "));
    let advice = "compare runs by figures of the same placement; ask the provider for pinned CPUs";
    let figures: Vec<f64> = seen.iter().map(|(_, value, _)| *value).collect();
    Some(CHECK.note(message, advice).with("figures", figures))
}

#[cfg(test)]
mod tests {
    use proofmark_model::{CpuPlacement, Figure};

    use super::*;
    use crate::testing::*;

    /// A result with these placements: name, share, figure and percent of its interval; 0: too few
    /// rounds.
    fn with(placements: &[(&str, f64, f64, f64)]) -> Measurement {
        let mut m = stream("triad", 2);
        m.cpu_placements = placements
            .iter()
            .map(|(name, share, value, half)| CpuPlacement {
                name: (*name).to_owned(),
                share: *share,
                figure: Some(Figure {
                    value: Some(*value),
                    ci95: (*half > 0.0).then(|| [value * (1.0 - half), value * (1.0 + half)]),
                    ..Figure::default()
                }),
                ..CpuPlacement::default()
            })
            .collect();
        m
    }

    #[test]
    fn rates_that_differ_by_placement_are_named_with_their_share_of_the_time() {
        let (near, far) = ("near (72 ns)", "far (310 ns)");
        let two = with(&[(near, 0.7, 42e9, 0.1), (far, 0.3, 70e9, 0.1)]);
        CHECK.expect([
            ("two", two.clone(), NOTE),
            ("alike", with(&[(near, 0.7, 42e9, 0.001), (far, 0.3, 42.5e9, 0.001)]), SILENT),
            ("that overlap", with(&[(near, 0.7, 42e9, 0.3), (far, 0.3, 70e9, 0.3)]), SILENT),
            ("few rounds", with(&[(near, 0.7, 42e9, 0.1), (far, 0.3, 70e9, 0.0)]), SILENT),
            ("one", with(&[(near, 1.0, 42e9, 0.1)]), SILENT),
            ("none", with(&[]), SILENT),
        ]);
        assert_eq!(
            CHECK.found(two).unwrap().message,
            "the result depends on vCPU placement: 70.00 GB/s far (310 ns), 30.0 % of the time; \
             42.00 GB/s near (72 ns), 70.0 % of the time"
        );
    }
}
