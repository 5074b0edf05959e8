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
    Finding::new(
        CHECK.id,
        Severity::Invalid,
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
    use crate::testing::{
        around, at_rate, flops, found_on, host_with_caches, latency, linpack, severity, stream,
        sweep, with_values,
    };

    #[test]
    fn more_than_the_ports_can_start_is_invalid() {
        let m = with_values(flops(1), &around(1.02 * 64e9));
        assert_eq!(severity(&CHECK, m), Some(Severity::Invalid));
    }

    #[test]
    fn a_solve_above_the_ports_is_invalid() {
        let at = |share: f64| severity(&CHECK, at_rate(linpack(5000, 2), share * 128e9));
        assert_eq!(at(1.02), Some(Severity::Invalid));
        assert_eq!(at(0.98), None);
    }

    #[test]
    fn within_the_uncertainty_is_silent() {
        let m = with_values(flops(1), &around(1.003 * 64e9));
        assert_eq!(severity(&CHECK, m), None);
    }

    #[test]
    fn a_ceiling_that_is_not_the_tightest_is_held_against_it_too() {
        // 31 GB/s within a factor of two by the lines in flight; 717 GB/s by the bus.
        let h = host_with_caches();
        let others = [latency(1 << 30, 1e-7)];
        let says = |rate: f64, others: &[Measurement]| {
            let m = with_values(stream("read", 1), &around(rate));
            found_on(&h, &CHECK, m, others).map(|f| f.message)
        };
        assert_eq!(says(60e9, &others), None);
        assert!(says(70e9, &others).unwrap().contains("memory.core"));
        assert!(says(800e9, &[]).unwrap().contains("memory.dram"));
    }

    #[test]
    fn a_cache_that_gives_more_than_its_path_is_invalid() {
        let h = host_with_caches();
        let says = |rate: f64| {
            let m = with_values(sweep("read", 1, 32 << 10), &around(rate));
            found_on(&h, &CHECK, m, &[])
        };
        assert!(says(1.02 * 512e9).is_some());
        assert!(says(0.99 * 512e9).is_none());
    }

    #[test]
    fn a_time_below_the_floor_is_invalid() {
        let h = host_with_caches();
        let says = |set: u64, seconds: f64| found_on(&h, &CHECK, latency(set, seconds), &[]);
        // 4 cycles at 4 GHz where 5 are documented; 4.3 ns in memory are 17 cycles.
        let finding = says(32 << 10, 1e-9).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
        assert!(finding.message.contains("80.0 % of the shortest"), "{}", finding.message);
        assert!(says(32 << 10, 1.26e-9).is_none());
        assert!(says(1 << 30, 3e-9).is_some());
        assert!(says(1 << 30, 4.3e-9).is_none());
    }
}
