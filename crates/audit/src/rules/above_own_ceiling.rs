//! `above_own_ceiling`: a rate above the theoretical value that the same report gives.

use proofmark_model::{Severity, Subsystem, Unit, format_percent, format_quantity};

use super::{Examination, Outcome, Rule};
use crate::machine::MAX_CLOCK;
use crate::{Figure, Machine, Metric, Sheet};

/// FLOP per cycle of a core's widest vector units: two 512-bit fused multiply-adds, 16
/// single-precision lanes, 2 operations each.
const VECTOR_FLOP_PER_CYCLE: f64 = 64.0;
/// FLOP per cycle of a core's widest matrix unit (AMX). It does 16 x 16 sums of 64 products of
/// 8-bit numbers in 16 cycles, with 2 operations each. 16-bit numbers reach half of it. No known
/// core does more at any precision.
const MATRIX_FLOP_PER_CYCLE: f64 = 2048.0;

pub(super) const RULE: Rule = Rule {
    id: "above_own_ceiling",
    title: "rate above the report's own ceiling",
    about: "A rate above the report's own theoretical value is suspect: one of the two is wrong. \
            If the report gives no value, the limit is CPUs x the highest declared clock x 64 FLOP \
            per cycle (two 512-bit fused multiply-adds, single precision). A floating-point rate \
            above it is suspect: 16-bit numbers, matrix units and a turbo clock can exceed it. A \
            rate above CPUs x 10 GHz x 2048 FLOP per cycle (the widest matrix unit) is invalid: no \
            processor reaches 10 GHz.",
    advice: "Derive the ceiling from cores, operations per cycle and the clock under that load \
             (for memory from transfers per second, which DDR already counts twice). Then measure \
             again, with data larger than all caches.",
    needs: "claimed_peak_gflops, or CPUs and a clock; claimed_memory_bytes_per_s",
    examination: Examination::Compare(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Outcome> {
    let rate = figure.level()?;
    let found = lower_ceiling(sheet.machine(), figure).map(|(ceiling, unit, severity, source)| {
        let [shown, most] = [rate, ceiling].map(|value| format_quantity(value, unit));
        let message = format!("{shown} is {} of {source}, {most}", format_percent(rate / ceiling));
        RULE.finding(severity, message).with("ceiling", ceiling).with("rate", rate)
    });
    let missing = match (figure.subsystem, figure.metric) {
        _ if ceilings(sheet.machine(), figure)[1].is_some() => None,
        (Subsystem::Cpu, Metric::Rate | Metric::Throughput) if is_floating_point(figure) => {
            Some("no claimed_peak_gflops, and no cpus with clock_hz_nominal, are declared")
        }
        (Subsystem::Memory, Metric::Throughput) => {
            Some("no claimed_memory_bytes_per_s is declared")
        }
        _ => return None,
    };
    Some(Outcome::new(found, missing))
}

type Ceiling = (f64, Unit, Severity, &'static str);

/// Returns the severity of the figure's exceeding a ceiling, if it does.
pub(super) fn exceeded(machine: &Machine, figure: &Figure) -> Option<Severity> {
    lower_ceiling(machine, figure).map(|(_, _, severity, _)| severity)
}

/// Returns the most severe ceiling that the figure exceeds.
fn lower_ceiling(machine: &Machine, figure: &Figure) -> Option<Ceiling> {
    let rate = figure.level()?;
    ceilings(machine, figure).into_iter().flatten().find(|(ceiling, ..)| rate > *ceiling)
}

/// Returns the physical ceiling and the claimed one; the first is more severe.
fn ceilings(machine: &Machine, figure: &Figure) -> [Option<Ceiling>; 2] {
    match (figure.subsystem, figure.metric) {
        (Subsystem::Cpu, Metric::Rate | Metric::Throughput) if is_floating_point(figure) => {
            let cpus = machine.logical_cpus().map(|l| l.most);
            let matrix = cpus.map(|cpus| {
                let source = "the physical limit (10 GHz, 2048 FLOP per cycle)";
                (cpus * MAX_CLOCK * MATRIX_FLOP_PER_CYCLE, Severity::Invalid, source)
            });
            let vector = cpus.zip(machine.clock()).map(|(cpus, clock)| {
                let source = "the limit of vector units (64 FLOP per cycle at the declared clock; \
                             16-bit numbers, matrix units and turbo can exceed it)";
                (cpus * clock * VECTOR_FLOP_PER_CYCLE, Severity::Suspect, source)
            });
            let claimed = machine
                .claimed_peak_gflops
                .map(|g| (g * 1e9, Severity::Suspect, "the peak that the report claims"));
            [matrix, claimed.or(vector)].map(|c| c.map(|(v, s, w)| (v, Unit::FlopPerSecond, s, w)))
        }
        (Subsystem::Memory, Metric::Throughput) => {
            let claimed = machine.claimed_memory_bytes_per_s.map(|v| {
                let source = "the bandwidth that the report claims";
                (v, Unit::BytePerSecond, Severity::Suspect, source)
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
    use crate::testing::{INVALID, SUSPECT, findings, judges};

    #[test]
    fn above_the_claim_is_suspect_and_above_any_core_invalid() {
        let claims = "vcpus = 2\nclock_hz_nominal = 2e9\nclaimed_peak_gflops = 30\n\
                      claimed_memory_bytes_per_s = 2e10\n";
        let expected = [
            ("cpu gflops rate 29e9 threads=2", None),
            ("cpu gflops rate 31e9 threads=2", SUSPECT),
            ("cpu gflops rate 41e12 threads=2", INVALID),
            ("cpu gflops rate 31e9 threads=2 trial=sd", None),
            ("cpu giops rate 31e9 threads=2", None),
            ("cpu peak rate 31e9 threads=2 unit=GFLOP/s", SUSPECT),
            ("memory read throughput 21e9 threads=2", SUSPECT),
            ("memory read throughput 19e9 threads=2", None),
        ];
        judges(&RULE, claims, &expected);
        for (row, _) in expected {
            judges(&RULE, "", &[(row, None)]);
        }
    }

    #[test]
    fn turbo_and_matrix_units_are_above_vectors_at_the_nominal_clock() {
        let rates = ["255e9", "257e9", "8e12", "41e12"];
        let nominal = "vcpus = 2\nclock_hz_nominal = 2e9\n";
        let declared = format!("{nominal}claimed_peak_gflops = 8192\n");
        for (facts, severities) in [
            (nominal, [None, SUSPECT, SUSPECT, INVALID]),
            (&*declared, [None, None, None, INVALID]),
            ("vcpus = 2", [None, None, None, INVALID]),
        ] {
            for (rate, severity) in rates.into_iter().zip(severities) {
                let row = format!("cpu gflops rate {rate} threads=2");
                judges(&RULE, facts, &[(&row, severity)]);
            }
        }
        let text = findings(&RULE, nominal, &["cpu gflops rate 257e9"]).swap_remove(0).unwrap();
        let but = "16-bit numbers, matrix units and turbo can exceed it";
        assert!(text.message.contains(but), "{}", text.message);
    }
}
