//! `clock_drop`: the core clock fell.

use proofmark_model::{Finding, Measurement, Pace, Property, Severity, Unit, format_quantity};

use super::{Check, Class, percent};
use crate::Context;
use crate::statistics::median;

/// One step of turbo is 100 MHz, some 2.5 %; two steps are a change of state.
const THRESHOLD: f64 = 0.05;

fn clocks(m: &Measurement) -> Vec<f64> {
    m.trials
        .iter()
        .filter_map(|t| t.conditions.clock_hz)
        .filter(|hz| hz.is_finite() && *hz > 0.0)
        .collect()
}

/// Clock of the first and of the last third of the trials.
fn first_and_last(clocks: &[f64]) -> Option<(f64, f64)> {
    let third = (clocks.len() / 3).max(1);
    if clocks.len() < 3 {
        return None;
    }
    Some((median(&clocks[..third])?, median(&clocks[clocks.len() - third..])?))
}

/// The clock at the start of the run: the first `cpu.clock` on one thread, else what
/// was measured when the host was looked at.
fn at_start(ctx: &Context) -> Option<f64> {
    let first = ctx
        .giving(Property::CoreClock)
        .find(|o| o.params.threads() == 1)
        .and_then(|o| Some(o.summary.as_ref()?.median));
    first.or(ctx.host.cpu.clock.measured_hz.get().copied()).filter(|hz| hz.is_finite() && *hz > 0.0)
}

fn finding(severity: Severity, what: &str, from: f64, to: f64, advice: &str) -> Finding {
    let drop = 1.0 - to / from;
    CHECK
        .finding(
            severity,
            format!(
                "{what} the clock fell by {}, from {} to {}",
                percent(drop),
                format_quantity(from, Unit::Hertz),
                format_quantity(to, Unit::Hertz)
            ),
            advice,
        )
        .with("from_hz", from)
        .with("to_hz", to)
        .with("drop", drop)
}

pub(super) static CHECK: Check = Check {
    id: "clock_drop",
    class: Class::Disturbance,
    title: "Clock lower than at the start",
    about: "The clock under each trial's load. If the last third of the trials ran more than 5 % \
         slower than the first third, the result is suspect: heat, a power limit or a neighbour. \
         If the whole result ran more than 5 % below the clock at the start of the run, it is a \
         note where this is by design: many cores lower the clock for AVX2 and AVX-512, or with \
         several busy cores. For narrow code on one thread it is suspect. The efficiency is not \
         affected, since the ceiling follows the clock. Cool the machine, or fix its frequency.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if ctx.work(m).pace != Pace::Core {
        return None;
    }
    let clocks = clocks(m);
    if let Some((first, last)) = first_and_last(&clocks)
        && last < first * (1.0 - THRESHOLD)
    {
        let advice =
            "cool the machine, raise its power limit or fix its frequency, and repeat the run";
        let what = "over the trials of this result";
        return Some(finding(Severity::Suspect, what, first, last, advice));
    }
    let (start, now) = (at_start(ctx)?, median(&clocks)?);
    if now >= start * (1.0 - THRESHOLD) {
        return None;
    }
    let wide = matches!(m.params.text("isa"), Some("avx2" | "avx2+fma" | "avx512"));
    let by_design = wide || m.params.threads() > 1;
    let severity = if by_design { Severity::Note } else { Severity::Suspect };
    let advice = if by_design {
        "compare rates at their own clock: wide vectors and many busy cores lower the clock by \
         design"
    } else {
        "cool the machine, raise its power limit or fix its frequency, and repeat the run"
    };
    Some(finding(severity, "since the start of the run", start, now, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn a_clock_that_fell() {
        let at = |m, hz: f64| each_condition(m, |_, c| c.clock_hz = Some(hz));
        let falling = each_condition(flops(1), |i, c| c.clock_hz = Some(4e9 - 5e7 * i as f64));
        CHECK.expect([
            ("during the trials", falling, SUSPECT),
            ("a licence clock", at(flops(1), 3.65e9), NOTE),
            ("two threads", at(iops(2), 3.65e9), NOTE),
            ("narrow code", at(iops(1), 3.65e9), SUSPECT),
            ("a step of turbo", at(iops(1), 3.9e9), SILENT),
        ]);
        CHECK.on(&host(), &[clock(3.7e9)]).expect([(
            "the run's own clock measurement comes first",
            at(iops(1), 3.65e9),
            SILENT,
        )]);
    }
}
