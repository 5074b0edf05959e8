//! `below_one_cycle`: a latency below one clock cycle.

use proofmark_model::{Pace, Severity, Unit, format_quantity};

use super::{Examination, Outcome, Rule};
use crate::machine::MAX_CLOCK;
use crate::{Figure, Metric, Sheet};

/// Tolerance of a printed latency: two digits or more.
const PRINTED: f64 = 0.01;

pub(super) const RULE: Rule = Rule {
    id: "below_one_cycle",
    title: "latency below one clock cycle",
    about: "A dependent operation takes at least one clock cycle. A latency below one cycle of 10 \
            GHz is invalid: no processor reaches 10 GHz. A latency below one cycle of the highest \
            declared clock (nominal or running) is suspect: a turbo clock may have been higher.",
    advice: "Check the unit and the divisor. Time one operation that waits for the previous one, \
             and declare the clock.",
    needs: "a latency; clock_hz_nominal or clock_hz_running",
    examination: Examination::Compare(examine),
};

fn examine(sheet: &Sheet, figure: &Figure) -> Option<Outcome> {
    let latency = figure.level().filter(|_| figure.metric == Metric::Latency)?;
    let declared = sheet.machine().clock();
    let below = if latency < 1.0 / MAX_CLOCK {
        Some((declared.unwrap_or(MAX_CLOCK), Severity::Invalid, ""))
    } else {
        let but = "; valid only if a turbo clock exceeded the declared one";
        let clock = declared.filter(|clock| latency < (1.0 - PRINTED) / clock);
        clock.map(|clock| (clock, Severity::Suspect, but))
    };
    let found = below.map(|(clock, severity, but)| {
        let cycle = 1.0 / clock;
        let (part, shown) = (latency / cycle, format_quantity(cycle, Unit::Second));
        let message = format!("{latency:.3e} s is {part:.4} of a cycle of {shown}{but}");
        RULE.finding(severity, message).with("cycle_s", cycle).with("latency_s", latency)
    });
    if figure.subsystem.info().pace == Pace::Device {
        return found.map(Outcome::Found);
    }
    let what = "no clock_hz_nominal or clock_hz_running is declared";
    Some(Outcome::new(found, declared.is_none().then_some(what)))
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
    fn a_turbo_clock_may_be_above_the_declared_one() {
        let (suspect, invalid) = ("cpu add latency 2.38e-10", ("cpu add latency 9.9e-11", INVALID));
        judges(&RULE, MACHINE, &[(suspect, SUSPECT), invalid]);
        let text = findings(&RULE, MACHINE, &[suspect]).swap_remove(0).unwrap().message;
        assert!(text.ends_with("only if a turbo clock exceeded the declared one"), "{text}");
        // As printed: 1 / 4.2 GHz is 0.23810 ns.
        let running = format!("{MACHINE}clock_hz_running = 4.2e9\n");
        judges(&RULE, &running, &[(suspect, None), invalid]);
        judges(&RULE, "", &[(suspect, None), invalid]);
    }
}
