//! Checks `clock_drop`, `thermal` and `clock_disagreement`: the core clock fell, heat slowed the
//! cores down, or two ways to measure the clock disagree.

use proofmark_model::{
    Finding, Isa, MOST_CLOCKS_APART, Measurement, Pace, Property, Severity, Unit, check_id,
    format_quantity,
};

use super::weight::Weight;
use super::{Check, Class, Examine, percent, with_known};
use crate::Context;
use crate::ceilings::clocks;
use crate::series::shares;
use crate::statistics::{median, median_over, middle_readings};

/// A fall of two turbo steps is a change of state; one step is 100 MHz, some 2.5 %.
const TWO_STEPS: f64 = 0.05;

/// Clock of the first and of the last third of the trials, if it fell: the reading at or below the
/// middle of the first, and that at or above the middle of the last. Between two states of a core
/// lies a clock at which no trial ran.
fn fallen(clocks: &[f64]) -> Option<(f64, f64)> {
    let third = (clocks.len() / 3).max(1);
    if clocks.len() < 3 {
        return None;
    }
    let [first, _] = middle_readings(&clocks[..third])?;
    let [_, last] = middle_readings(&clocks[clocks.len() - third..])?;
    (last < first * (1.0 - TWO_STEPS)).then_some((first, last))
}

/// The clock at the start of the run: the first `cpu.clock` on one thread, else the host's.
fn at_start(ctx: &Context) -> Option<f64> {
    let first = ctx
        .giving(Property::CoreClock)
        .find(|o| o.params.threads() == 1)
        .and_then(|o| Some(o.summary.as_ref()?.value()));
    first.or(ctx.host.cpu.clock.measured_hz.get().copied()).filter(|hz| hz.is_finite() && *hz > 0.0)
}

fn how_far(from: f64, to: f64) -> String {
    let [was, is] = [from, to].map(|hz| format_quantity(hz, Unit::Hertz));
    format!("the clock fell by {}, from {was} to {is}", percent(1.0 - to / from))
}

fn finding(severity: Severity, what: &str, from: f64, to: f64, advice: &str) -> Finding {
    CLOCK_DROP
        .finding(severity, format!("{what} {}", how_far(from, to)), advice)
        .with("from_hz", from)
        .with("to_hz", to)
        .with("drop", 1.0 - to / from)
}

pub(super) static CLOCK_DROP: Check = Check {
    id: check_id::CLOCK_DROP,
    class: Class::CHANGE,
    title: "Clock lower than at the start",
    about: "Examines the clock under each trial's load. If the last third of the trials ran more \
         than 5 % slower than the first third, the difference is weighed: heat, a power limit or a \
         neighbour. If the whole result ran more than 5 % below the clock at the start of the run, \
         it is a note where this is by design. Many cores lower the clock for AVX2 and AVX-512, or \
         with several busy cores. For narrow code on one thread the same rule applies. The \
         efficiency is not affected, since the ceiling follows the clock. Cool the machine, or fix \
         its frequency; of a virtual machine only the host can.",
    examine: Examine::Ours(clock_drop),
};

fn clock_drop(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if ctx.work(m).pace != Pace::Core {
        return None;
    }
    let clocks = clocks(m);
    if let Some((first, last)) = fallen(&clocks) {
        let advice = advice(ctx);
        let what = "over the trials of this result";
        let severity = Weight::derive(m).change(1.0 - last / first);
        return Some(finding(severity, what, first, last, advice));
    }
    let (start, [_, now]) = (at_start(ctx)?, middle_readings(&clocks)?);
    if now >= start * (1.0 - TWO_STEPS) {
        return None;
    }
    let wide = Isa::from_params(&m.params).is_some_and(|isa| isa.licence() > 0);
    let by_design = wide || m.params.threads() > 1;
    let changed = Weight::derive(m).change(1.0 - now / start);
    let severity = if by_design { Severity::Note } else { changed };
    let advice = if by_design {
        "compare rates at their own clock: wide vectors and many busy cores lower the clock by \
         design"
    } else {
        advice(ctx)
    };
    Some(finding(severity, "since the start of the run", start, now, advice))
}

/// The action against a lower clock. The user of a virtual machine can neither cool its cores nor
/// set their clock.
fn advice(ctx: &Context) -> &'static str {
    match ctx.host.is_virtual() == Some(true) {
        true => {
            "the host sets the clock of a virtual machine, by its heat, its power limit and other guests: \
             repeat the run when the host is quiet, or compare rates at their own clock"
        }
        false => "cool the machine, raise its power limit or fix its frequency, and repeat the run",
    }
}

/// Smallest fall that is reported; a smaller one is a step of turbo.
const LEAST_FALL: f64 = 0.05;
/// Share of the samples that gives the clock at the start of a series.
const START: f64 = 0.05;
/// The same at its end.
const END: f64 = 0.33;
/// Fewest samples that show a trend.
const LEAST_TRIALS: usize = 20;
const WARMER_C: f64 = 5.0;
/// Share of throttling or steal that explains a slower core better than heat.
const EXPLAINED: f64 = 0.02;

/// Clock at the start and at the end of a series: readings, as in [`fallen`].
fn start_and_end(m: &Measurement) -> Option<(f64, f64)> {
    let n = m.trials.len();
    if m.series.is_none() || n < LEAST_TRIALS {
        return None;
    }
    let clock = |from: usize, to: usize| {
        let read = m.trials.get(from..to)?.iter().filter_map(|t| t.conditions.clock_hz);
        middle_readings(&read.filter(|hz| *hz > 0.0).collect::<Vec<_>>())
    };
    let start = ((START * n as f64) as usize).max(3);
    let ([start, _], [_, end]) =
        (clock(0, start)?, clock(n - ((END * n as f64) as usize).max(3), n)?);
    Some((start, end))
}

/// The first and the highest temperature of the trials, in degrees Celsius.
fn warmer(m: &Measurement) -> Option<(f64, f64)> {
    let mut temperatures = m.trials.iter().filter_map(|t| t.conditions.temperature_c);
    let first = temperatures.next()?;
    temperatures.reduce(f64::max).map(|most| (first, most))
}

/// Share by which the median clock of the trials is below the highest that the run measured.
fn clock_lost(ctx: &Context, m: &Measurement) -> Option<f64> {
    let clocks = clocks(m);
    let highest = clocks.iter().copied().chain(at_start(ctx)).reduce(f64::max)?;
    Some(1.0 - median(&clocks)? / highest)
}

pub(super) static THERMAL: Check = Check {
    id: "thermal",
    class: Class::CHANGE,
    title: "Slowed down by heat",
    about: "Detects cores that heat slowed down. If the processor counted thermal throttling of \
         the trials' cores (sysfs, thermal_throttle), what their clock lay below its highest \
         reading is weighed; an unknown clock makes it suspect. For series also if the core clock \
         of the last third is more than 5 % below that of the first samples: with rising \
         temperatures where sensors are readable, else if neither a quota nor the hypervisor took \
         time, which leaves heat or a power limit. Guests usually see neither counts nor sensors. \
         Cool the machine, raise its power limit, or quote the sustained rate.",
    examine: Examine::Ours(thermal),
};

fn thermal(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if ctx.work(m).pace == Pace::Device {
        return None;
    }
    let counts = m.trials.iter().filter_map(|t| t.conditions.thermal_throttles);
    let counted = counts.reduce(u64::saturating_add).unwrap_or(0);
    let fell = start_and_end(m).filter(|(start, end)| *end < start * (1.0 - LEAST_FALL));
    let warm = warmer(m);
    let mut parts: Vec<String> = Vec::new();
    if counted > 0 {
        parts.push(format!("the processor counted {counted} thermal throttlings of these cores"));
    }
    if let Some((start, end)) = fell {
        let all = shares(ctx.host, m, &m.trials);
        let took = [all.throttled, all.steal];
        let none_took = took.iter().all(|s| s.is_some_and(|s| s <= EXPLAINED));
        let heat = match warm {
            Some((first, most)) if most >= first + WARMER_C => {
                format!(" while they warmed up from {first:.0} to {most:.0} °C")
            }
            Some(_) if counted == 0 => return None,
            _ if none_took => {
                ", and neither a quota nor another guest explains it: heat or a power limit"
                    .to_owned()
            }
            None if counted == 0 => return None,
            _ => String::new(),
        };
        parts.push(how_far(start, end) + &heat);
    }
    if parts.is_empty() {
        return None;
    }
    let advice = match ctx.host.is_virtual() == Some(true) {
        true => "quote the sustained rate, or use a host whose clock does not fall",
        false => "cool the machine, raise its power limit, or quote the sustained rate",
    };
    let severity = match (fell, clock_lost(ctx, m)) {
        (None, Some(lost)) => Weight::derive(m).change(lost),
        _ => Severity::Suspect,
    };
    let finding =
        THERMAL.finding(severity, parts.join("; "), advice).with("thermal_throttles", counted);
    let finding = with_known(finding, "from_hz", fell.map(|(start, _)| start));
    let finding = with_known(finding, "to_hz", fell.map(|(_, end)| end));
    Some(with_known(finding, "hottest_c", warm.map(|(_, most)| most)))
}

pub(super) static CLOCK_DISAGREEMENT: Check = Check {
    id: "clock_disagreement",
    class: Class::claim("which of the two chains shows the core's clock is unknown"),
    title: "Clock measurements disagree",
    about: "proofmark measures the clock with two chains of different dependent instructions and \
         uses the faster: a busy SMT sibling can slow one by some percent. The check reports a \
         difference above 20 % (median over the trials). Then one of them does not take its known \
         cycles on this core, or another hardware thread slows it. The ceiling depends on them, so \
         the result is suspect. Check whether the core is shared, and compare with the reported \
         frequency.",
    examine: Examine::Ours(clock_disagreement),
};

fn clock_disagreement(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if ctx.work(m).pace != Pace::Core {
        return None;
    }
    let gap = median_over(&m.trials, |t| t.conditions.clock_disagreement)?;
    if gap <= MOST_CLOCKS_APART {
        return None;
    }
    let message = format!("two instruction chains measure clocks that differ by {}", percent(gap));
    let advice = "check whether another busy process or hardware thread shares the core, and \
                  compare with the reported frequency";
    Some(CLOCK_DISAGREEMENT.suspect(message, advice).with("disagreement", gap))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::tests::over_time;
    use crate::testing::*;

    #[test]
    fn a_clock_that_fell() {
        let at = |m, hz: f64| each_condition(m, |_, c| c.clock_hz = Some(hz));
        let falling = each_condition(flops(1), |i, c| c.clock_hz = Some(4e9 - 5e7 * i as f64));
        CLOCK_DROP.expect([
            ("during the trials", falling, SUSPECT),
            ("a licence clock", at(flops(1), 3.65e9), NOTE),
            ("two threads", at(iops(2), 3.65e9), NOTE),
            ("narrow code", at(iops(1), 3.65e9), SUSPECT),
            ("by twice as much", at(iops(1), 3.55e9), SUSPECT),
            ("a step of turbo", at(iops(1), 3.9e9), SILENT),
        ]);
        // Recorded: the last third had two states, and fell to the upper one.
        let states = |last: [f64; 2]| {
            let m = with_values(flops(1), &[63e9; 12]);
            each_condition(m, move |i, c| {
                c.clock_hz = Some(if i < 8 { 4.2e9 } else { last[i % 2] });
            })
        };
        CLOCK_DROP.expect([
            ("two states", states([3.7e9, 4.1e9]), SILENT),
            ("both lower", states([3.7e9, 3.9e9]), suspect("from 4.200 GHz to 3.900 GHz")),
        ]);
        CLOCK_DROP.on(&host(), &[clock(3.7e9)]).expect([(
            "the run's own clock measurement comes first",
            at(iops(1), 3.65e9),
            SILENT,
        )]);
    }

    #[test]
    fn the_advice_does_not_cool_a_virtual_machine() {
        let falling = || each_condition(flops(1), |i, c| c.clock_hz = Some(4e9 - 5e7 * i as f64));
        let slow = || each_condition(iops(1), |_, c| c.clock_hz = Some(3.55e9));
        let hot = || each_condition(flops(1), |_, c| c.thermal_throttles = Some(2));
        for (check, m) in [(&CLOCK_DROP, falling()), (&CLOCK_DROP, slow()), (&THERMAL, hot())] {
            let advice = |host| found_on(&host, check, m.clone(), &[]).unwrap().advice;
            let (guest, own) = (advice(host()), advice(bare(host())));
            assert!(
                !guest.contains("cool the") && own.contains("cool the machine"),
                "{guest} {own}"
            );
        }
    }

    /// A series whose clock and rate decay by a fifth within a third of the samples.
    fn decaying() -> Measurement {
        let share = |i: usize| 0.8 + 0.2 * (-(i as f64) / 30.0).exp();
        let m = over_time(flops(1), 300, share);
        each_condition(m, move |i, c| c.clock_hz = Some(4e9 * share(i)))
    }

    #[test]
    fn throttling_that_was_counted_is_suspect_in_any_measurement() {
        let counted = |value: fn(usize) -> u64| {
            each_condition(flops(1), move |i, c| c.thermal_throttles = Some(value(i)))
        };
        let hot = counted(|i| u64::from(i == 3) * 2);
        let at = |m, hz: Option<f64>| each_condition(m, |_, c| c.clock_hz = hz);
        THERMAL.expect([
            ("slower", at(hot.clone(), Some(3.7e9)), suspect("2 thermal throttlings")),
            ("no clock is known", at(hot.clone(), None), SUSPECT),
            ("the clock stayed", hot, note("2 thermal throttlings")),
            ("never", counted(|_| 0), SILENT),
        ]);
        for (steal, alone) in [(Some(0.0), true), (Some(0.1), false), (None, false)] {
            let hot = each_condition(decaying(), |_, c| {
                (c.thermal_throttles, c.steal_s) = (Some(1), steal);
            });
            let message = THERMAL.found(hot).unwrap().message;
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
        THERMAL.expect([
            ("with the temperature", hot, suspect("from 58 to 98 °C")),
            ("it is not warm", cool, SILENT),
            ("no sensors", decaying(), suspect("heat or a power limit")),
            ("stolen", stolen, SILENT),
            ("throttled", throttled, SILENT),
            ("steady", over_time(flops(1), 300, |_| 1.0), SILENT),
            ("few samples", few, SILENT),
        ]);
    }

    #[test]
    fn chains_that_disagree_are_suspect_and_one_trial_is_not() {
        let apart = |value: fn(usize) -> f64| {
            each_condition(flops(1), |i, c| c.clock_disagreement = Some(value(i)))
        };
        CLOCK_DISAGREEMENT.expect([
            ("all trials", apart(|_| 0.25), SUSPECT),
            ("a busy sibling", apart(|_| 0.04), SILENT),
            ("one trial", apart(|i| if i == 0 { 0.5 } else { 0.001 }), SILENT),
        ]);
    }
}
