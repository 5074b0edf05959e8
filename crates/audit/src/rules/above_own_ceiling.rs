//! `above_own_ceiling`: a rate above the theoretical value that the same report gives.

use proofmark_model::{Finding, Severity, Subsystem, Unit, format_quantity};

use super::Rule;
use crate::machine::NO_CLOCK;
use crate::{Figure, Machine, Metric, Sheet};

/// The widest vector units of a core: two 512-bit fused multiply-adds a cycle of 16
/// single-precision lanes and 2 operations each.
const VECTOR_FLOP_A_CYCLE: f64 = 64.0;
/// The widest matrix unit of a core: 16 x 16 sums of 64 products of 8-bit numbers in 16 cycles
/// (AMX), 2 operations each; 16-bit numbers get half of it. No core known does more of any
/// precision.
const MATRIX_FLOP_A_CYCLE: f64 = 2048.0;

pub(super) const RULE: Rule = Rule {
    id: "above_own_ceiling",
    title: "rate above the report's own ceiling",
    about: "A rate above the report's own theoretical value is suspect: one of the two is wrong. \
            If the report gives no value, the limit is CPUs x the highest declared clock x 64 FLOP \
            per cycle (two 512-bit fused multiply-adds, single precision). A floating-point rate \
            above it is suspect: 16-bit numbers, matrix units and a turbo clock can exceed it. A \
            rate above CPUs x 10 GHz x 2048 FLOP per cycle (the widest matrix unit) is invalid: no \
            processor reaches 10 GHz.",
    examine,
};

fn examine(sheet: &Sheet, index: usize) -> Option<Finding> {
    let figure = sheet.figure(index)?;
    let rate = figure.level()?;
    let (ceiling, unit, severity, whose) = lower_ceiling(sheet.machine(), figure)?;
    Some(
        Finding::new(
            RULE.id,
            severity,
            format!(
                "{} is {:.0} % of {whose}, {}",
                format_quantity(rate, unit),
                100.0 * rate / ceiling,
                format_quantity(ceiling, unit)
            ),
            "Derive the ceiling from cores, operations per cycle and the clock under that load \
             (for memory from transfers per second, which DDR already counts twice). Then \
             measure again.",
        )
        .with("ceiling", ceiling)
        .with("rate", rate),
    )
}

type Ceiling = (f64, Unit, Severity, &'static str);

/// What it weighs that the figure is above a ceiling, if it is.
pub(super) fn exceeded(machine: &Machine, figure: &Figure) -> Option<Severity> {
    lower_ceiling(machine, figure).map(|(_, _, severity, _)| severity)
}

/// The weightiest ceiling that the figure is above.
fn lower_ceiling(machine: &Machine, figure: &Figure) -> Option<Ceiling> {
    let rate = figure.level()?;
    ceilings(machine, figure).into_iter().flatten().find(|(ceiling, ..)| rate > *ceiling)
}

/// The physical ceiling first: it weighs more.
fn ceilings(machine: &Machine, figure: &Figure) -> [Option<Ceiling>; 2] {
    match (figure.subsystem, figure.metric) {
        (Subsystem::Cpu, Metric::Rate | Metric::Throughput) if is_floating_point(figure) => {
            let cpus = machine.logical_cpus().map(|l| l.most);
            let matrix = cpus.map(|cpus| {
                let whose = "the physical limit (10 GHz, 2048 FLOP per cycle)";
                (cpus * NO_CLOCK * MATRIX_FLOP_A_CYCLE, Severity::Invalid, whose)
            });
            let vector = cpus.zip(machine.clock()).map(|(cpus, clock)| {
                let whose = "the limit of vector units (64 FLOP per cycle at the declared clock; \
                             16-bit numbers, matrix units and turbo can exceed it)";
                (cpus * clock * VECTOR_FLOP_A_CYCLE, Severity::Suspect, whose)
            });
            let claimed = machine
                .claimed_peak_gflops
                .map(|g| (g * 1e9, Severity::Suspect, "the peak that the report claims"));
            [matrix, claimed.or(vector)].map(|c| c.map(|(v, s, w)| (v, Unit::FlopPerSecond, s, w)))
        }
        (Subsystem::Memory, Metric::Throughput) => {
            let claimed = machine.claimed_memory_bytes_per_s.map(|v| {
                let whose = "the bandwidth that the report claims";
                (v, Unit::BytePerSecond, Severity::Suspect, whose)
            });
            [None, claimed]
        }
        _ => [None, None],
    }
}

fn is_floating_point(figure: &Figure) -> bool {
    let flop = |text: &str| text.to_ascii_lowercase().contains("flop");
    flop(&figure.operation) || flop(&figure.unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::findings;

    #[test]
    fn above_the_claim_is_suspect_and_above_any_core_invalid() {
        let machine = "[m]\nvcpus = 2\nclock_hz_nominal = 2e9\nclaimed_peak_gflops = 30\n\
                       claimed_memory_bytes_per_s = 2e10\n";
        let rows = "cpu,x,gflops,rate,,2,1,29,GFLOPS,29e9,ops/s\n\
                    cpu,x,gflops,rate,,2,1,31,GFLOPS,31e9,ops/s\n\
                    cpu,x,gflops,rate,,2,1,41000,GFLOPS,41000e9,ops/s\n\
                    cpu,x,gflops,rate,,2,sd,31,GFLOPS,31e9,ops/s\n\
                    cpu,x,giops,rate,,2,1,31,GIOPS,31e9,ops/s\n\
                    cpu,x,peak,rate,,2,1,31,GFLOP/s,31e9,ops/s\n\
                    memory,x,read,throughput,,2,1,21,GB/s,21e9,bytes/s\n\
                    memory,x,read,throughput,,2,1,19,GB/s,19e9,bytes/s\n";
        let found = findings(&RULE, machine, rows);
        let severities: Vec<_> = found.iter().map(|f| f.as_ref().map(|f| f.severity)).collect();
        let (suspect, invalid) = (Some(Severity::Suspect), Some(Severity::Invalid));
        assert_eq!(severities, [None, suspect, invalid, None, None, suspect, suspect, None]);
        assert!(findings(&RULE, "[m]\n", rows).iter().all(Option::is_none));
    }

    #[test]
    fn turbo_and_matrix_units_are_above_vectors_at_the_nominal_clock() {
        let row =
            |gflops: u32| format!("cpu,x,gflops,rate,,2,1,{gflops},GFLOPS,{gflops}e9,ops/s\n");
        let rows = [255, 257, 8000, 41_000].map(row).concat();
        let of = |machine: &str| findings(&RULE, machine, &rows);
        let severities = |machine: &str| -> Vec<_> {
            of(machine).into_iter().map(|f| f.map(|f| f.severity)).collect()
        };
        let (suspect, invalid) = (Some(Severity::Suspect), Some(Severity::Invalid));
        let nominal = "[m]\nvcpus = 2\nclock_hz_nominal = 2e9\n";
        assert_eq!(severities(nominal), [None, suspect, suspect, invalid]);
        let said = of(nominal).swap_remove(1).unwrap().message;
        assert!(said.contains("16-bit numbers, matrix units and turbo can exceed it"), "{said}");
        let declared = format!("{nominal}claimed_peak_gflops = 8192\n");
        assert_eq!(severities(&declared), [None, None, None, invalid]);
        assert_eq!(severities("[m]\nvcpus = 2\n"), [None, None, None, invalid]);
    }
}
