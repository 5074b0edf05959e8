//! `thermal`: the cores slowed down because they were hot.
//!
//! Where the system reports it (counts of thermal throttling, temperatures), that is the
//! evidence. Elsewhere it is the shape: the clock decays from its first samples on and stays
//! low, while no quota and no other guest took anything.

use proofmark_model::{Finding, Measurement, Pace, Unit, format_quantity};

use super::{Check, Class, percent, with_known};
use crate::Context;
use crate::series::shares;
use crate::statistics::typical;

/// A clock that falls by less is a step of turbo.
const LEAST_FALL: f64 = 0.05;
/// Samples at the start, and at the end, of which the clock is meant, as a share of all.
const START: f64 = 0.05;
const END: f64 = 0.33;
/// Fewer samples than this show no shape.
const LEAST_TRIALS: usize = 20;
const WARMER_C: f64 = 5.0;
/// Throttling and steal that explain a slower core better.
const EXPLAINED: f64 = 0.02;

/// Clock at the start and at the end of a series.
fn clocks(m: &Measurement) -> Option<(f64, f64)> {
    let n = m.trials.len();
    if m.series.is_none() || n < LEAST_TRIALS {
        return None;
    }
    let clock = |from: usize, to: usize| {
        typical(m.trials.get(from..to)?, |t| t.conditions.clock_hz.filter(|hz| *hz > 0.0))
    };
    let start = ((START * n as f64) as usize).max(3);
    Some((clock(0, start)?, clock(n - ((END * n as f64) as usize).max(3), n)?))
}

/// How much warmer the end of the trials was than their start, in degrees.
fn warmer(m: &Measurement) -> Option<(f64, f64)> {
    let mut temperatures = m.trials.iter().filter_map(|t| t.conditions.temperature_c);
    let first = temperatures.next()?;
    temperatures.reduce(f64::max).map(|most| (first, most))
}

pub(super) static CHECK: Check = Check {
    id: "thermal",
    class: Class::Disturbance,
    title: "Slowed down by heat",
    about: "Whether heat slowed down the cores. Suspect if the processor counted thermal throttling \
         of the trials' cores (sysfs, thermal_throttle). For series also if the core clock of the \
         last third is more than 5 % below that of the first samples: with rising temperatures \
         where sensors are readable, else if neither a quota nor the hypervisor took time, which \
         leaves heat or a power limit. Guests usually see neither counts nor sensors. Cool the \
         machine, raise its power limit, or quote the sustained rate.",
    examine,
    examine_reference: None,
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if ctx.work(m).pace == Pace::Device {
        return None;
    }
    let counts = m.trials.iter().filter_map(|t| t.conditions.thermal_throttles);
    let counted = counts.reduce(u64::saturating_add).unwrap_or(0);
    let fell = clocks(m).filter(|(start, end)| *end < start * (1.0 - LEAST_FALL));
    let warm = warmer(m);
    let mut parts: Vec<String> = Vec::new();
    if counted > 0 {
        parts.push(format!("the processor counted {counted} thermal throttlings of these cores"));
    }
    if let Some((start, end)) = fell {
        let all = shares(ctx.host, m, &m.trials);
        let took = [all.throttled, all.steal];
        let nobody = took.iter().all(|s| s.is_some_and(|s| s <= EXPLAINED));
        let heat = match warm {
            Some((first, most)) if most >= first + WARMER_C => {
                format!(" while they warmed up from {first:.0} to {most:.0} °C")
            }
            Some(_) if counted == 0 => return None,
            _ if nobody => {
                ", and neither a quota nor another guest explains it: heat or a power limit"
                    .to_owned()
            }
            None if counted == 0 => return None,
            _ => String::new(),
        };
        parts.push(format!(
            "the clock fell by {}, from {} to {}{heat}",
            percent(1.0 - end / start),
            format_quantity(start, Unit::Hertz),
            format_quantity(end, Unit::Hertz)
        ));
    }
    if parts.is_empty() {
        return None;
    }
    let advice = "cool the machine, raise its power limit, or quote the sustained rate";
    let finding = CHECK.suspect(parts.join("; "), advice).with("thermal_throttles", counted);
    let finding = with_known(finding, "from_hz", fell.map(|(start, _)| start));
    let finding = with_known(finding, "to_hz", fell.map(|(_, end)| end));
    Some(with_known(finding, "hottest_c", warm.map(|(_, most)| most)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::tests::over_time;
    use crate::testing::*;

    /// A clock that decays by a fifth within a third of the samples, and the rate with it.
    fn decaying() -> Measurement {
        let share = |i: usize| 0.8 + 0.2 * (-(i as f64) / 30.0).exp();
        let m = over_time(flops(1), 300, share);
        each_condition(m, move |i, c| c.clock_hz = Some(4e9 * share(i)))
    }

    #[test]
    fn throttling_that_was_counted_is_suspect_in_any_measurement() {
        let counted = |of: fn(usize) -> u64| {
            each_condition(flops(1), move |i, c| c.thermal_throttles = Some(of(i)))
        };
        let hot = counted(|i| u64::from(i == 3) * 2);
        CHECK.expect([
            ("twice", hot, suspect("2 thermal throttlings")),
            ("never", counted(|_| 0), SILENT),
        ]);
        for (steal, alone) in [(Some(0.0), true), (Some(0.1), false), (None, false)] {
            let hot = each_condition(decaying(), |_, c| {
                (c.thermal_throttles, c.steal_s) = (Some(1), steal);
            });
            let message = CHECK.found(hot).unwrap().message;
            assert!(message.contains("fell"), "{message}");
            assert_eq!(message.contains("nor another guest"), alone, "{message}");
        }
    }

    #[test]
    fn a_clock_that_decays_is_heat_unless_others_explain_it() {
        let hot = each_condition(decaying(), |i, c| {
            c.temperature_c = Some(98.0 - 40.0 * (-(i as f64) / 30.0).exp());
        });
        let cool = each_condition(decaying(), |_, c| c.temperature_c = Some(50.0));
        let stolen = each_condition(decaying(), |_, c| c.steal_s = Some(0.1));
        let throttled = each_condition(decaying(), |_, c| c.throttled_s = Some(0.1));
        let mut few = decaying();
        few.trials.truncate(10);
        CHECK.expect([
            ("with the temperature", hot, suspect("from 58 to 98 °C")),
            ("it is not warm", cool, SILENT),
            ("no sensors", decaying(), suspect("heat or a power limit")),
            ("stolen", stolen, SILENT),
            ("throttled", throttled, SILENT),
            ("steady", over_time(flops(1), 300, |_| 1.0), SILENT),
            ("few samples", few, SILENT),
        ]);
    }
}
