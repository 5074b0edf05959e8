//! `load_missing`: the threads that should load the machine were off their CPUs, or too slow.

use proofmark_model::{Finding, LoadingThreads, Measurement, Trial, Unit, format_quantity};

use super::{Check, Class, Examine, percent, programs};
use crate::{Context, from_windows};

/// Share of the figure's time for which the load may be missing: as large as the tolerance of memory
/// results.
const MISSING: f64 = 0.1;

/// Smallest share of the target that the load must reach. The thread that is measured takes some
/// of the path to memory, and with many threads one of them is always late.
const REACHED: f64 = 0.8;

pub(super) static CHECK: Check = Check {
    id: "load_missing",
    class: Class::CHANGE,
    title: "The load was missing or too slow",
    about: "Applies to loads with threads that only load the machine while another one is \
         measured. These threads record the time for which they were off their CPUs, and windows \
         of that time do not count. The check compares it with their CPU time by the system's \
         account, for the thread with the least. If the load was missing for more than 10 % of \
         the time that counts in the figure, the result is suspect. So is one whose load moved \
         less than 80 % of its target outside that time: other programs used the memory, or the \
         target was measured at another speed. Stop other programs, or use fewer threads.",
    examine: Examine::Ours(examine),
};

fn examine(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let is_loaded = |t: &Trial| t.loading.is_some_and(|loading| loading.target != Some(0.0));
    if m.trials.is_empty() || !m.trials.iter().all(is_loaded) {
        return None;
    }
    missing(ctx, m).or_else(|| slow(ctx, m))
}

fn missing(ctx: &Context, m: &Measurement) -> Option<Finding> {
    let all = |t: &Trial, _: &LoadingThreads| t.seconds;
    let on_cpu = mean(m, all, |_, loading| loading.on_cpu)?;
    let counts = if from_windows(m) { 1.0 - mean(m, all, |_, l| Some(l.in_gaps))? } else { 1.0 };
    let share = Some(1.0 - on_cpu / counts).filter(|share| *share > MISSING)?;
    let message = format!(
        "the threads that load the memory were missing for {} of the time that counts in the figure \
         (on their CPUs for {} of all time)",
        percent(share),
        percent(on_cpu)
    );
    Some(CHECK.suspect(message, advice(ctx)).with("on_cpu", on_cpu).with("share", share))
}

fn slow(ctx: &Context, m: &Measurement) -> Option<Finding> {
    // The rate of a trial is that of the time outside its gaps.
    let outside_gaps = |t: &Trial, loading: &LoadingThreads| t.seconds * (1.0 - loading.in_gaps);
    let target = mean(m, outside_gaps, |_, loading| loading.target)?;
    let reached = mean(m, outside_gaps, |t, _| t.background)?;
    let reached = Some(reached).filter(|reached| *reached < REACHED * target)?;
    let [moved, wanted] = [reached, target].map(|rate| format_quantity(rate, Unit::BytePerSecond));
    let message = format!(
        "the threads that load the memory moved {moved} of the {wanted} that the load asks for"
    );
    let finding = CHECK.suspect(message, advice(ctx));
    Some(finding.with("reached_bytes_per_s", reached).with("target_bytes_per_s", target))
}

fn advice(ctx: &Context) -> String {
    format!("stop other programs ({}), or use fewer threads", programs::cpu_users(ctx))
}

/// The mean over the trials, weighted by this time of each; `None` if one does not know it.
fn mean(
    m: &Measurement,
    seconds: impl Fn(&Trial, &LoadingThreads) -> f64,
    of: impl Fn(&Trial, &LoadingThreads) -> Option<f64>,
) -> Option<f64> {
    let (mut sum, mut all_s) = (0.0, 0.0);
    for t in &m.trials {
        let loading = t.loading.as_ref()?;
        let seconds = seconds(t, loading);
        sum += seconds * of(t, loading)?;
        all_s += seconds;
    }
    Some(sum / all_s)
}

#[cfg(test)]
mod tests {
    use proofmark_model::FigureKind;

    use super::*;
    use crate::testing::*;

    /// A result whose load has that target and moved these bytes per second.
    fn loaded(loading: LoadingThreads, background: f64) -> Measurement {
        let mut m = headed(in_windows(latency(1 << 30, 1e-7)), FigureKind::Typical, 0.01);
        m.workload = "memory.loaded_latency".to_owned();
        each(m, |_, t| (t.loading, t.background) = (Some(loading), Some(background)))
    }

    fn away(on_cpu: f64, in_gaps: f64) -> Measurement {
        let on_cpu = Some(on_cpu);
        loaded(LoadingThreads { on_cpu, in_gaps, target: None }, 7e9)
    }

    fn with_target(target: f64, background: f64) -> Measurement {
        let on_cpu = Some(1.0);
        loaded(LoadingThreads { on_cpu, in_gaps: 0.0, target: Some(target) }, background)
    }

    #[test]
    fn a_load_that_was_missing_in_the_time_that_counts_is_suspect() {
        let delivered = |m| headed(m, FigureKind::Delivered, 0.01);
        let old = each(away(0.15, 0.0), |_, t| t.loading = None);
        let unknown = each(away(0.15, 0.0), |_, t| t.loading.as_mut().unwrap().on_cpu = None);
        let idle = each(away(0.15, 0.0), |_, t| t.loading.as_mut().unwrap().target = Some(0.0));
        CHECK.expect([
            ("there", away(0.995, 0.0), SILENT),
            ("away, and left out", away(0.15, 0.85), SILENT),
            ("gaps that steal made", away(1.0, 0.3), SILENT),
            ("away in parts too short for a gap", away(0.85, 0.0), suspect("15.0 %")),
            ("a twentieth", away(0.95, 0.0), SILENT),
            ("half of the rest", away(0.2, 0.6), suspect("50.0 % of the time ... 20.0 %")),
            ("never there", away(0.0, 0.5), SUSPECT),
            ("away, and the figure is that of all time", delivered(away(0.15, 0.85)), SUSPECT),
            ("an older version", old, SILENT),
            ("not reported", unknown, SILENT),
            ("no load was asked for", idle, SILENT),
        ]);
    }

    #[test]
    fn a_load_far_below_its_target_is_suspect() {
        CHECK.expect([
            ("reached", with_target(3.5e9, 3.5e9), SILENT),
            ("nearly", with_target(3.5e9, 2.9e9), SILENT),
            ("not reached", with_target(3.5e9, 0.25e9), suspect("250.0 MB/s of the 3.500 GB/s")),
            ("no load", with_target(0.0, 0.0), SILENT),
        ]);
        // A trial without time outside its gaps has no rate that counts.
        let away = each(with_target(3.5e9, 3.5e9), |i, t| {
            if i > 2 {
                t.background = Some(0.0);
                t.loading.as_mut().unwrap().in_gaps = 1.0;
            }
        });
        CHECK.expect([("half of the trials", away, SILENT)]);
    }
}
