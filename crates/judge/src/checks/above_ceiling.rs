//! `above_ceiling`: more than the machine can do.

use proofmark_model::{Better, Ceiling, Finding, Measurement, Severity};

use super::{Check, Class, percent};
use crate::ceilings::{CLOCK_INPUT, bounds, of_our_loops};
use crate::{Context, share_of};

/// The ceiling that is passed by the most, if one is, and the efficiency against it.
fn passed(m: &Measurement, ceilings: Vec<Ceiling>) -> Option<(Ceiling, f64)> {
    let beyond = |c: &Ceiling| share_of(c, m).map(|e| e / (1.0 + c.uncertainty));
    let (excess, ceiling) = ceilings
        .into_iter()
        .filter_map(|c| Some((beyond(&c)?, c)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let efficiency = excess * (1.0 + ceiling.uncertainty);
    (excess > 1.0).then_some((ceiling, efficiency))
}

/// What is said of a measurement above that ceiling.
fn finding(m: &Measurement, ceiling: &Ceiling, efficiency: f64) -> Finding {
    let what = match m.better {
        Better::Higher => format!("the result is {} of its ceiling", percent(efficiency)),
        Better::Lower => {
            format!("the result is {} of the shortest possible time", percent(1.0 / efficiency))
        }
    };
    CHECK
        .invalid(
            format!(
                "{what} ({}), whose uncertainty is only {}",
                ceiling.id,
                percent(ceiling.uncertainty)
            ),
            "compare the ceiling's inputs with the machine: core design, number of cores, clock, \
             memory; if they are right, the workload did less work than it counted",
        )
        .with("efficiency", efficiency)
        .with("uncertainty", ceiling.uncertainty)
        .with("ceiling", ceiling.value)
}

pub(super) static CHECK: Check = Check {
    id: "above_ceiling",
    class: Class::Claim,
    title: "Above its ceiling",
    about: "A result above its ceiling by more than the ceiling's own uncertainty is invalid: either \
         it does not measure what its name says, or an input of the ceiling is wrong. The report \
         lists the inputs with their sources. The efficiency is the median over the trials, each \
         against the ceiling at its own clock. The result is compared with every ceiling that \
         applies, not only the tightest. For times, being below the floor is impossible. For a \
         reference tool it is a note if the ceiling uses a clock or latency that proofmark's loops \
         measured: the tool's own may have been better.",
    examine,
    examine_reference: Some(examine_reference),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let (ceiling, efficiency) = passed(m, bounds(ctx, m))?;
    Some(finding(m, &ceiling, efficiency))
}

fn examine_reference(ctx: &Context, theirs: &Measurement) -> Option<Finding> {
    let (at_ours, firm) = bounds(ctx, theirs)
        .into_iter()
        .partition(|ceiling| of_our_loops(ceiling, theirs).is_some());
    if let Some((ceiling, efficiency)) = passed(theirs, firm) {
        return Some(finding(theirs, &ceiling, efficiency));
    }
    let (ceiling, efficiency) = passed(theirs, at_ours)?;
    let ours = of_our_loops(&ceiling, theirs)?;
    let better = if ours.name == CLOCK_INPUT { "higher" } else { "shorter" };
    let mut finding = finding(theirs, &ceiling, efficiency);
    finding.severity = Severity::Note;
    finding.message += &format!(
        "; that ceiling uses proofmark's {}, and the tool's may have been {better}",
        ours.name
    );
    finding.advice =
        "compare the tool's result with proofmark's rather than with the ceiling".to_owned();
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn more_than_the_machine_can_do_is_invalid() {
        let ports = |share: f64| with_values(flops(1), &around(share * 64e9));
        let solve = |share: f64| at_rate(linpack(5000, 2), share * 128e9);
        let cache = |share: f64| with_values(sweep("read", 1, 32 << 10), &around(share * 512e9));
        CHECK.expect([
            ("more than the ports can start", ports(1.02), INVALID),
            ("within the uncertainty", ports(1.003), SILENT),
            ("a solve above the ports", solve(1.02), INVALID),
            ("a solve below them", solve(0.98), SILENT),
            ("a cache that gives more than its path", cache(1.02), INVALID),
            ("a cache that does not", cache(0.99), SILENT),
            // 4 cycles at 4 GHz where 5 are documented; 4.3 ns in memory are 17 cycles.
            ("4 cycles", latency(32 << 10, 1e-9), invalid("80.0 % of the shortest")),
            ("5 cycles", latency(32 << 10, 1.26e-9), SILENT),
            ("12 cycles in memory", latency(1 << 30, 3e-9), INVALID),
            ("17 cycles in memory", latency(1 << 30, 4.3e-9), SILENT),
        ]);
        // A ceiling that is not the tightest counts too: 31 GB/s within a factor of two by the lines
        // in flight; 717 GB/s by the bus.
        let read = |rate: f64| with_values(stream("read", 1), &around(rate));
        CHECK.on(&host_with_caches(), &[latency(1 << 30, 1e-7)]).expect([
            ("twice the lines in flight", read(60e9), SILENT),
            ("more", read(70e9), invalid("memory.core")),
        ]);
        CHECK.expect([("beyond the bus", read(800e9), invalid("memory.dram"))]);
    }
}
