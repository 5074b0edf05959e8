//! `below_one_cycle`: a latency below one clock cycle, or below one load.

use std::iter;

use proofmark_model::{Pace, Severity, Unit, format_quantity};

use super::{Examination, Outcome, Rule};
use crate::machine::MAX_CLOCK;
use crate::quantity::Base;
use crate::{Figure, Metric, Sheet};

/// Tolerance of a printed latency: two digits or more.
const PRINTED: f64 = 0.01;
/// Fewest cycles of a dependent load, of any core: Arm Cortex-A55 takes 2, others 3 to 5.
const LOAD_CYCLES: f64 = 2.0;
/// Shortest dependent load of any core: 3 cycles at 10 GHz. Cores that take 2 have slow clocks.
const LOAD_S: f64 = 3.0 / MAX_CLOCK;
/// Shortest random load beyond every L1 cache: 9 cycles at 10 GHz.
const BEYOND_L1_S: f64 = 9.0 / MAX_CLOCK;
/// No L1 cache is larger: the largest has 192 KiB.
const L1_BYTES: u64 = 256 << 10;
/// Shortest random load from memory: a row and a column of the fastest DRAM take longer.
const MEMORY_S: f64 = 10e-9;
/// No cache is larger: the largest has 1.125 GiB.
const CACHE_BYTES: u64 = 2 << 30;

pub(super) const RULE: Rule = Rule {
    id: "below_one_cycle",
    title: "latency below one clock cycle or one load",
    about: "A dependent operation takes at least one clock cycle, and a load at least two on every \
            core. A latency below one cycle of 10 GHz is invalid: no processor reaches 10 GHz. So \
            is one of memory, a disk or a network below 0.3 ns, the L1 cache of any core (3 cycles \
            at 10 GHz); stores may be shorter. Random loads take at least 0.9 ns from more than \
            256 KiB (beyond any L1 cache), and 10 ns from more than 2 GiB (beyond any cache). A \
            latency below one cycle of clock_hz_running, or a load below two, is invalid too: no \
            clock was higher. If only clock_hz_nominal is declared, below one of its cycles is \
            suspect: a turbo clock may have been higher.",
    advice: "Check the unit and the divisor. Time one operation that waits for the previous one, \
             and declare the clock.",
    needs: "a latency; clock_hz_nominal or clock_hz_running",
    examination: Examination::Compare(examine),
};

/// A time that the latency cannot be below.
struct Bound {
    seconds: f64,
    severity: Severity,
    /// What takes that long.
    what: String,
}

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Outcome> {
    // A time per byte is no latency, which `wrong_unit` reports.
    let is_latency = figure.metric == Metric::Latency
        && figure.written.as_ref().is_none_or(|unit| unit.base != Base::TimePerByte);
    let latency = figure.level().filter(|_| is_latency)?;
    let machine = sheet.machine();
    let by_clock =
        running(machine.clock_hz_running, figure).or_else(|| nominal(machine.clock_hz_nominal));
    let below = |bound: &Bound| latency < bound.seconds;
    let found = iter::once(physical(figure)).chain(by_clock).find(below);
    let found = found.map(|Bound { seconds, severity, what }| {
        let shown = format_quantity(seconds, Unit::Second);
        let message = format!("{latency:.3e} s is {:.4} of {what}, {shown}", latency / seconds);
        RULE.finding(severity, message).with("least_s", seconds).with("latency_s", latency)
    });
    if figure.subsystem.info().pace == Pace::Device {
        return found.map(Outcome::Found);
    }
    let what = "no clock_hz_nominal or clock_hz_running is declared";
    Some(Outcome::new(found, machine.clock().is_none().then_some(what)))
}

/// True if each operation includes a load. A store only needs a place in a buffer.
fn loads(figure: &Figure) -> bool {
    let names = |words: &[&str]| words.iter().any(|word| figure.operation.contains(word));
    match figure.subsystem.info().pace {
        Pace::Core => false,
        Pace::Memory => {
            let stores = names(&["write", "store", "fill", "memset", "zero", "clear"]);
            !stores || names(&["read", "load"])
        }
        Pace::Device => true,
    }
}

/// The time that no processor and no memory is below, whatever the machine is.
fn physical(figure: &Figure) -> Bound {
    let is_random = figure.subsystem.info().pace == Pace::Memory && figure.is_random();
    let size = figure.block.filter(|_| is_random).unwrap_or(0);
    let (seconds, what) = match loads(figure) {
        false => (1.0 / MAX_CLOCK, "one cycle at 10 GHz, which no processor reaches"),
        true if size > CACHE_BYTES => (MEMORY_S, "the shortest random load beyond any cache"),
        true if size > L1_BYTES => (BEYOND_L1_S, "the shortest random load beyond any L1 cache"),
        true => (LOAD_S, "the shortest load of any core, from its L1 cache"),
    };
    Bound { seconds, severity: Severity::Invalid, what: what.to_owned() }
}

/// The bound by the highest clock during the tests.
fn running(clock: Option<f64>, figure: &Figure) -> Option<Bound> {
    let (cycles, of) = match loads(figure) {
        true => (LOAD_CYCLES, "a load, two cycles"),
        false => (1.0, "one cycle"),
    };
    let what = format!("{of} at clock_hz_running");
    let seconds = (1.0 - PRINTED) * cycles / clock?;
    Some(Bound { seconds, severity: Severity::Invalid, what })
}

/// The bound by the nominal clock.
fn nominal(clock: Option<f64>) -> Option<Bound> {
    let what = "one cycle at clock_hz_nominal, valid only if a turbo clock was higher".to_owned();
    Some(Bound { seconds: (1.0 - PRINTED) / clock?, severity: Severity::Suspect, what })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{INVALID, MACHINE, SUSPECT, findings, judges};

    #[test]
    fn less_than_a_cycle_is_no_latency() {
        let expected = [
            ("memory read latency 4e-10", SUSPECT),
            ("memory read latency 6e-10", None),
            ("memory read latency 4e-10 trial=sd", None),
            ("memory read jitter 0", None),
            ("network tcp latency 5e-11", INVALID),
        ];
        judges(&RULE, MACHINE, &expected);
        judges(&RULE, "", &[("memory read latency 4e-10", None)]);
    }

    #[test]
    fn a_turbo_clock_may_be_above_the_nominal_one() {
        let (suspect, invalid) = ("cpu add latency 2.38e-10", ("cpu add latency 9.9e-11", INVALID));
        judges(&RULE, MACHINE, &[(suspect, SUSPECT), invalid]);
        let text = findings(&RULE, MACHINE, &[suspect]).swap_remove(0).unwrap().message;
        assert!(text.contains("only if a turbo clock was higher"), "{text}");
        // As printed: 1 / 4.2 GHz is 0.23810 ns. A nominal clock above it may be that of a sibling.
        let running = "clock_hz_running = 4.2e9\n";
        judges(&RULE, running, &[(suspect, None), invalid]);
        judges(&RULE, "", &[(suspect, None), invalid]);
    }

    /// The highest clock during the tests leaves no higher one.
    #[test]
    fn no_clock_was_above_the_running_one() {
        let running = "clock_hz_running = 3e9\nclock_hz_nominal = 2.5e9\n";
        let expected = [
            ("cpu add latency 3.2e-10", INVALID),
            ("cpu add latency 3.33e-10", None),
            ("memory read latency 6.5e-10", INVALID),
            ("memory read latency 6.7e-10", None),
        ];
        judges(&RULE, running, &expected);
        let text = findings(&RULE, running, &[expected[0].0]).swap_remove(0).unwrap().message;
        assert!(!text.contains("turbo"), "{text}");
    }

    #[test]
    fn no_load_is_shorter_than_that_of_any_core() {
        let expected = [
            ("memory rand_read latency 2e-10", INVALID),
            ("memory load latency 2.9e-10", INVALID),
            // The nearest: 3 cycles at 4.5 GHz.
            ("memory load latency 6.6e-10", None),
            ("disk read latency 2e-10", INVALID),
            ("network udp latency 2.9e-10", INVALID),
            // A store waits in a buffer, and an addition takes one cycle.
            ("memory seq_write latency 1.1e-10", None),
            ("memory read_write latency 1.1e-10", INVALID),
            ("cpu add latency 2e-10", None),
        ];
        judges(&RULE, "", &expected);
    }

    #[test]
    fn a_random_load_is_not_below_the_cache_of_its_size() {
        let expected = [
            ("memory rand_read latency 7e-10 block=65536", None),
            ("memory rand_read latency 7e-10 block=1048576", INVALID),
            ("memory rand_read latency 3e-9 block=1048576", None),
            ("memory rand_read latency 3e-9 block=4294967296", INVALID),
            ("memory rand_read latency 6e-8 block=4294967296", None),
            // Prefetchers hide the memory from a sequential reader.
            ("memory seq_read latency 3e-9 block=4294967296", None),
        ];
        judges(&RULE, "", &expected);
    }
}
