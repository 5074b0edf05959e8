//! Checks `unverified`, `residual` and `inconsistent`: a wrong result or count of work, a wrong
//! solution, or values that contradict each other.
//!
//! Published reports multiplied a result by its threads that already included them, or divided by
//! CPU time. The run file has value, work and wall time, and `inconsistent` divides again.
//!
//! The residual is the test of HPL (Petitet, Whaley, Dongarra and Cleary, *HPL: A Portable
//! Implementation of the High-Performance Linpack Benchmark*): a multiple of the error that
//! rounding alone leaves, which must be below 16.

use proofmark_model::{
    Ending, Finding, Measurement, Round, Solution, Trial, Unit, check_id, median,
};

use super::{Check, Class, Examine, with_known};
use crate::Context;
use crate::execution::Execution;
use crate::words::counted;

/// Largest relative difference that rounding explains: both are sums of integers in f64, exact to
/// 2^53.
const SUMS: f64 = 1e-9;

fn count(value: f64) -> String {
    if value.is_finite() { format!("{value:e}") } else { "an invalid number of".to_owned() }
}

/// The name of the units in which a workload counts its work.
fn work_name(unit: Unit) -> &'static str {
    match unit {
        Unit::BytePerSecond => "bytes",
        Unit::BitPerSecond => "bits",
        Unit::Second => "dependent operations",
        Unit::FlopPerSecond | Unit::OpPerSecond | Unit::Hertz => "units of work",
    }
}

pub(super) static UNVERIFIED: Check = Check {
    id: "unverified",
    class: Class::CLAIM,
    title: "Result not verified",
    about: "After each trial the workload checks its own result, and an independent verification \
         counts the work. A wrong result, or a count that differs from the workload's by more than \
         rounding (1 in 10^9), is invalid: the work was not done, or was done wrongly. A fault \
         that occurs only sometimes and only on one machine suggests its hardware or overclocking. \
         For disks and networks page_cache and interface_disagreement examine the verification, \
         since device and interface counters also count sectors, headers and other programs.",
    examine: Examine::Ours(unverified),
};

fn unverified(ctx: &Context, m: &Measurement) -> Option<Finding> {
    if let Ending::Unverified { reason } = &m.ending {
        let message = format!("the workload's own check failed: {reason}");
        let advice = "repeat it; if it fails only on this machine, test the hardware";
        return Some(UNVERIFIED.invalid(message, advice).with("reason", reason.as_str()));
    }
    let w = m.verification.as_ref().filter(|_| Execution::derive(ctx, m).exact_verification)?;
    let larger = w.claimed.abs().max(w.counted.abs());
    if (w.claimed - w.counted).abs() <= SUMS * larger {
        return None;
    }
    let compared = match w.note.as_str() {
        "" => String::new(),
        note => format!(" ({note})"),
    };
    let message = format!(
        "{} counted {} {}, but the workload claims {}{compared}",
        w.kind,
        count(w.counted),
        work_name(m.unit),
        count(w.claimed)
    );
    let advice = "do not use this result; report it as a defect of the workload if it repeats";
    let finding = UNVERIFIED.invalid(message, advice).with("verification", w.kind.as_str());
    let finding = with_known(finding, "claimed", Some(w.claimed));
    Some(with_known(finding, "counted", Some(w.counted)))
}

pub(super) static RESIDUAL: Check = Check {
    id: check_id::RESIDUAL,
    class: Class::CLAIM,
    title: "Residual above the HPL threshold",
    about: "After each solve of a linear system proofmark generates the matrix and the right side \
         again. It computes the residual |A x - b| / (eps (|A| |x| + |b|) n), eps = 2^-53. \
         Rounding alone keeps it below 16, the threshold of HPL. A larger residual in any trial is \
         invalid: the computed x is not a solution. A solution that is not finite is reported by \
         unverified. A fault that occurs only sometimes and only on one machine suggests its \
         memory, its cores or overclocking.",
    examine: Examine::Both(residual),
};

fn residual(_: &Context, m: &Measurement) -> Option<Finding> {
    let failed: Vec<&Solution> =
        m.trials.iter().filter_map(|t| t.solution.as_ref()).filter(|s| !s.passes()).collect();
    let n = failed.first()?.n;
    let worst = failed.iter().map(|s| s.normalised_residual).fold(0.0, f64::max);
    let message = format!(
        "n = {n}: the largest normalised residual in {} is {worst:.3e}, but must be below {}; \
         {} failed",
        counted(m.trials.len(), "trial"),
        Solution::THRESHOLD,
        failed.len()
    );
    let advice = "do not use this result; repeat it, and if it fails only on this machine, \
                  test its memory, its cores and its overclocking";
    let finding =
        RESIDUAL.invalid(message, advice).with("n", n).with("trials_failed", failed.len());
    Some(finding.with("threshold", Solution::THRESHOLD).with("worst_normalised_residual", worst))
}

/// Largest relative difference between a value and what it is derived from that rounding explains.
const QUOTIENT: f64 = 1e-6;

/// Describes the fault of a trial, if it has one.
fn fault(t: &Trial, unit: Unit) -> Option<&'static str> {
    let positive = |v: f64| v.is_finite() && v > 0.0;
    if !positive(t.value) {
        return Some("a value that is not a positive number");
    }
    if !positive(t.seconds) {
        return Some("a duration that is not a positive number");
    }
    if !positive(t.work) {
        return Some("an amount of work that is not a positive number");
    }
    // Older versions wrote a clock's cycles / wall time.
    let derived = [t.derived_value(unit), unit.value(t.work, t.seconds)];
    let apart = |derived: &f64| (t.value - derived).abs() > QUOTIENT * t.value.max(*derived);
    derived.iter().all(apart).then_some(match unit {
        Unit::Second => "a value that differs from wall time / work",
        Unit::Hertz => "a value that differs from the clock's reading",
        _ => "a value that differs from work / wall time",
    })
}

pub(super) static INCONSISTENT: Check = Check {
    id: check_id::INCONSISTENT,
    class: Class::CLAIM,
    title: "Values contradict each other",
    about: "A rate is total work / wall time, over all threads together. A time is the wall time \
         of dependent operations / their number. Value, work and duration of a trial must be \
         positive numbers, and the value must be the quotient of the other two; a clock's is its \
         reading. The rounds of a \
         trial must have done its work, and their windows no more. The headline figure must be \
         within the range of the rounds' figures. Otherwise the result is invalid. It is also \
         invalid if it is marked complete without a trial. This finds rates multiplied by the \
         threads, CPU time used as a clock, and edited files. Later checks ignore such values.",
    examine: Examine::Both(inconsistent),
};

fn inconsistent(_: &Context, m: &Measurement) -> Option<Finding> {
    let done = matches!(m.ending, Ending::Complete | Ending::Budget);
    if m.trials.is_empty() {
        return done.then(|| {
            INCONSISTENT.invalid(
                "it is marked complete but has no trial",
                "repeat the measurement; raise the budget if it ended before the first trial",
            )
        });
    }
    let advice = "do not use this result; if proofmark wrote it, report it as a defect";
    let faults: Vec<_> = m.trials.iter().filter_map(|t| fault(t, m.unit)).collect();
    let Some(first) = faults.first() else {
        return Some(INCONSISTENT.invalid(fault_of_rounds(m)?, advice));
    };
    let message = format!("{} of {}: {first}", faults.len(), counted(m.trials.len(), "trial"));
    Some(INCONSISTENT.invalid(message, advice).with("trials", faults.len()))
}

/// Largest difference between the rounds and their trial, as a share: rounds leave out our own
/// readings of the clock, at most a twentieth.
const ROUNDS: f64 = 0.1;

/// Largest work that the windows of a round may show, as a multiple of its own. A step of their
/// histogram is wide, and the rates of windows are between those of cores.
const WINDOWS: f64 = 1.5;

/// Describes the fault of the trials' rounds, if they have one.
fn fault_of_rounds(m: &Measurement) -> Option<&'static str> {
    let rate = |value: f64| m.unit.rate(value);
    let of_trial = |t: &Trial| {
        let (seconds, work) = t.rounds.iter().fold((0.0, 0.0), |(seconds, work), round| {
            (seconds + round.seconds, work + round.seconds * rate(round.delivered))
        });
        Some(work / seconds * t.seconds / t.work).filter(|_| seconds > 0.0)
    };
    if m.trials.iter().filter_map(of_trial).any(|ratio| (ratio - 1.0).abs() > ROUNDS) {
        return Some("rounds that do not add up to the work and time of their trial");
    }
    let rounds = || m.trials.iter().flat_map(|t| &t.rounds);
    let shown = |round: &Round| {
        let (steps, windows) = (round.histogram.len() as f64, round.histogram.iter().sum::<u32>());
        // The lowest step has the windows without any work, most of them where others take the CPUs.
        let each = round.histogram.iter().enumerate().skip(1);
        let share = each.map(|(step, count)| (step as f64 + 0.5) / steps * f64::from(*count));
        let share = share.sum::<f64>() / f64::from(windows);
        Some(share * rate(round.attainable?) / rate(round.delivered)).filter(|_| windows > 0)
    };
    if median(&rounds().filter_map(shown).collect::<Vec<_>>()).is_some_and(|m| m > WINDOWS) {
        return Some("the windows of the rounds show more work than was done");
    }
    let summary = m.summary.as_ref()?;
    let of_rounds = || rounds().filter_map(|r| r.figure(summary.headline));
    let (least, most) = (of_rounds().reduce(f64::min)?, of_rounds().reduce(f64::max)?);
    let among = least * (1.0 - QUOTIENT)..=most * (1.0 + QUOTIENT);
    let found = summary.figure(summary.headline);
    let is_apart = found.derived.is_none() && found.value.is_some_and(|v| !among.contains(&v));
    is_apart.then_some("the headline figure is not among those of its rounds")
}

#[cfg(test)]
mod tests {
    use proofmark_model::{Figure, FigureKind};

    use super::*;
    use crate::testing::*;

    #[test]
    fn a_wrong_result_or_a_count_that_differs_is_invalid() {
        let wrong = |m, reason: &str| {
            let ending = Ending::Unverified { reason: reason.to_owned() };
            Measurement { ending, ..m }
        };
        let counted = |mut m: Measurement, factor: f64, note: &str| {
            let verification = m.verification.as_mut().unwrap();
            verification.counted *= factor;
            verification.note = note.to_owned();
            m
        };
        let with_counts = |factor| counted(flops(1), factor, "");
        let note = "claimed against proved";
        let bytes = invalid("bytes, but ... (claimed against proved)$");
        let operations = invalid("operations ... (claimed against proved)$");
        UNVERIFIED.expect([
            ("a wrong result", wrong(flops(1), "expected 2, got 3"), invalid("got 3")),
            ("fewer", with_counts(0.999), INVALID),
            ("more", with_counts(1.001), INVALID),
            ("none", with_counts(0.0), INVALID),
            ("no number", with_counts(f64::NAN), INVALID),
            ("bytes", counted(stream("copy", 1), 0.5, note), bytes),
            ("operations", counted(latency(1 << 20, 5e-9), 0.5, note), operations),
            ("the sectors of a disk", counted(rand_read(1), 1.1, ""), SILENT),
            ("its data", wrong(rand_read(1), "block 7 holds other data"), INVALID),
            ("rounding", with_counts(1.0 + 1e-12), SILENT),
            ("no verification", Measurement { verification: None, ..flops(1) }, SILENT),
        ]);
    }

    /// A result whose trials with these numbers have that residual.
    fn with(trials: &[usize], residual: f64) -> Measurement {
        each(linpack(1000, 2), |i, t| {
            let solution = t.solution.as_mut().unwrap();
            if trials.contains(&i) {
                solution.normalised_residual = residual;
            }
        })
    }

    #[test]
    fn a_residual_above_the_threshold_is_invalid() {
        let one = "^n = 1000: the largest normalised residual in 10 trials is 2.500e4, but must be \
                   below 16; 1 failed$";
        let mut worse = with(&[1, 4], 20.0);
        worse.trials[6].solution.as_mut().unwrap().normalised_residual = 300.0;
        RESIDUAL.expect([
            ("one trial of ten", with(&[7], 2.5e4), invalid(one)),
            ("the threshold itself", with(&[0], 16.0), INVALID),
            ("two", with(&[2, 3], 16.0), invalid("2 failed$")),
            ("the worst is reported", worse, invalid("in 10 trials is 3.000e2")),
            ("none", with(&[], 0.0), SILENT),
            ("below the threshold", with(&[3], 15.9), SILENT),
        ]);
        let findings = judged(&host(), with(&[7], 2.5e4), &[]).findings;
        assert_eq!(findings.len(), 1, "no other finding: {findings:?}");
    }

    #[test]
    fn values_that_contradict_each_other_are_found() {
        let lasting =
            |bad: f64| each(flops(1), |i, t| t.seconds = if i == 4 { bad } else { t.seconds });
        let empty = |ending| Measurement { ending, trials: Vec::new(), summary: None, ..flops(1) };
        INCONSISTENT.expect([
            ("threads counted twice", each(flops(2), |_, t| t.value *= 2.0), INVALID),
            ("no time", lasting(0.0), INVALID),
            ("less than none", lasting(-1.0), INVALID),
            ("no number", lasting(f64::NAN), INVALID),
            ("for ever", lasting(f64::INFINITY), INVALID),
            ("complete without a trial", empty(Ending::Complete), INVALID),
            ("refused", empty(Ending::Refused { reason: String::new() }), SILENT),
            ("rounding", each(flops(1), |_, t| t.work *= 1.0 + 1e-9), SILENT),
        ]);
        // A neighbour took half of the time: the clock was as high, its cycles were fewer.
        let shared = |value: f64| {
            let m = each(clock(4e9), |_, t| {
                (t.conditions.clock_hz, t.work, t.value) = (Some(4e9), 2e9 * t.seconds, value);
                let (seconds, attainable) = (t.seconds, Some(4e9));
                t.rounds = vec![Round { seconds, delivered: 2e9, attainable, ..Round::default() }];
            });
            with_attainable(m, 4e9)
        };
        INCONSISTENT.expect([
            ("its reading", shared(4e9), SILENT),
            ("its cycles, as older versions wrote it", shared(2e9), SILENT),
            ("no reading", shared(3e9), INVALID),
        ]);
    }

    /// A result that lost half of each trial: half of the windows are at the attainable rate.
    fn half_taken(spoil: fn(&mut Round)) -> Measurement {
        let m = each(flops(1), |_, t| {
            let typical = Some(2.0 * t.value);
            let histogram = [vec![200], vec![0; 18], vec![200]].concat();
            let (seconds, delivered, attainable) = (t.seconds, t.value, typical);
            let round =
                Round { seconds, delivered, typical, attainable, histogram, ..Round::default() };
            t.rounds = vec![round];
            t.rounds.iter_mut().for_each(spoil);
        });
        let figures: Vec<f64> =
            m.trials.iter().filter_map(|t| t.rounds.first()?.attainable).collect();
        with_attainable(m, median(&figures).unwrap())
    }

    /// A result of which this share of the time was left: the other windows did nothing.
    fn left_with(share: f64) -> Measurement {
        let full = (share * 1000.0).round() as u32;
        let m = each(flops(1), |_, t| {
            let attainable = Some(t.value / share);
            let histogram = [vec![1000 - full], vec![0; 18], vec![full]].concat();
            let (seconds, delivered) = (t.seconds, t.value);
            let round = Round { seconds, delivered, attainable, histogram, ..Round::default() };
            t.rounds = vec![round];
        });
        let figure = m.trials[0].value / share;
        with_attainable(m, figure)
    }

    #[test]
    fn a_machine_that_others_take_almost_wholly_is_not_inconsistent() {
        let shares = [0.5, 0.2, 0.05, 0.02, 0.005];
        INCONSISTENT.expect(shares.map(|share| ("taken", left_with(share), SILENT)));
        let claims_more =
            |m: Measurement| each(m, |_, t| t.rounds.iter_mut().for_each(|r| r.histogram[19] *= 3));
        INCONSISTENT.expect([("three times the windows", claims_more(left_with(0.05)), INVALID)]);
    }

    fn with_attainable(mut m: Measurement, value: f64) -> Measurement {
        let s = m.summary.as_mut().unwrap();
        s.headline = FigureKind::Attainable;
        s.attainable = Figure { value: Some(value), ..Figure::default() };
        m
    }

    #[test]
    fn rounds_that_contradict_their_trial_their_windows_or_the_figure_are_invalid() {
        let honest = half_taken(|_| ());
        let figure = honest.summary.as_ref().unwrap().value();
        INCONSISTENT.expect([
            ("a figure from elsewhere", with_attainable(honest.clone(), 2.0 * figure), INVALID),
            (
                "the rate of all windows",
                half_taken(|r| r.attainable = Some(4.0 * r.delivered)),
                INVALID,
            ),
            ("more work than the trial's", half_taken(|r| r.delivered *= 2.0), INVALID),
            ("as it was", honest, SILENT),
        ]);
    }
}
