//! The main result of a workload, on its own scale.

use proofmark_model::{
    Ceiling, FigureKind, Measurement, Reliance, Summary, Verdict, VerdictCounts, format_count,
    format_percent, key,
};
use serde::Serialize;

use super::columns::not_finite;
use super::delivered_share::delivered_share;
use super::label::{Group, interval, why_missing, why_no_interval, why_no_trials};
use super::levels;
use super::num::{Scale, percent, percentage};
use super::text::{capital, clean, counted, enclosed, joined, stop};
use super::{disk, network};

/// The comparison of a result with its ceiling.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Near {
    /// Efficiency in percent, without the sign.
    pub percent: String,
    /// The lengths for a bar; `None` where the ceiling is assumed or shared, so that a bar would
    /// look like a fault of the machine.
    pub bar: Option<Meter>,
    /// `ceiling`, `assumed ceiling` or `shared ceiling`.
    pub word: &'static str,
    /// The note on the share; empty for a known ceiling.
    pub note: &'static str,
    /// `of its ceiling of 129.0 GFLOP/s`.
    pub of: String,
    /// The ceiling on the result's scale, without its unit.
    pub ceiling: String,
}

/// The lengths of a bar in percent of the ceiling, limited to 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Meter {
    /// Efficiency of the headline figure.
    pub headline: f64,
    /// Efficiency of the delivered figure; `None` where that is not known.
    pub delivered: Option<f64>,
}

/// A result with its precision, share of the ceiling and bottleneck.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadFigure {
    /// The headline figure; `None` if the workload has no usable result.
    pub value: Option<String>,
    /// The unit, with its prefix.
    pub unit: String,
    /// The parameters that name the configuration, as on the first screen; empty where there is
    /// only one.
    pub configuration: String,
    /// The configuration; without a usable result, the reason.
    pub at: String,
    /// Details of the result, such as a disk's percentiles of latency and the device's share.
    pub extra: Option<String>,
    /// `± 1.9 %`: half the width of the interval, which the policy's target limits.
    pub within: Option<String>,
    /// The interval and the number of trials, or why there is no interval.
    pub interval: String,
    /// The comparison with the ceiling.
    pub near: Option<Near>,
    /// The part that is missing where `near` is: `no ceiling`, or `no efficiency`.
    pub near_lacks: &'static str,
    /// The bottleneck, or why it is not identified; `None` without a ceiling, which alone could
    /// show it.
    pub bottleneck: Option<String>,
    /// The verdict of the result.
    pub verdict: Option<Verdict>,
    /// `14 results: 12 valid, 2 coarse`; `None` where there is only one.
    pub count: Option<String>,
    /// True if every result of the workload is valid.
    pub all_valid: bool,
}

impl WorkloadFigure {
    /// The configuration with all facts about its result: share of the ceiling, interval,
    /// bottleneck.
    pub fn sentence(&self) -> String {
        let optional = |text: &Option<String>| text.clone().unwrap_or_default();
        if self.value.is_none() {
            let count = self.count.as_ref().map(|count| stop(&capital(count)));
            return joined([&self.at, &optional(&count)], " ");
        }
        let near = self.near.as_ref().map(|n| format!("{} % {}", n.percent, n.of));
        let near = near.unwrap_or_else(|| self.near_lacks.to_owned());
        let bottleneck = self.bottleneck.as_ref().map(|b| format!("bottleneck: {b}"));
        let (extra, count) = (optional(&self.extra), optional(&self.count));
        let all = [&self.at, &near, &extra, &self.interval, &optional(&bottleneck), &count];
        joined(all, "; ")
    }

    /// `127.9 GFLOP/s ± 0.6 %`; empty where there is no usable result.
    pub fn value_with_unit(&self) -> String {
        let value = self.value.as_deref().unwrap_or_default();
        joined([value, &self.unit, self.within.as_deref().unwrap_or_default()], " ")
    }
}

/// Returns `No main result (2 CPUs): left out for the time limit.`: other configurations of the
/// workload may have one.
fn no_main_result(group: &Group) -> String {
    let main = proofmark_model::answer(group.run, &group.all);
    let why = match main {
        None => "no configuration was measured".to_owned(),
        Some(m) => match &m.summary {
            None => why_no_trials(m),
            Some(_) if !m.verdict.is_usable() => "it is invalid".to_owned(),
            Some(s) => no_headline(s).unwrap_or_else(not_finite),
        },
    };
    let configuration = main.map(|m| enclosed(" (", &group.short(m), ")")).unwrap_or_default();
    format!("No main result{configuration}: {}.", clean(&why))
}

/// The reason why there is no headline figure.
pub fn no_headline(summary: &Summary) -> Option<String> {
    summary.figure(summary.headline).missing.clone().filter(|_| !summary.value().is_finite())
}

/// Finds the workload's main result.
pub fn find(group: &Group) -> WorkloadFigure {
    let counts: VerdictCounts = group.all.iter().map(|m| m.verdict).collect();
    let count = match group.all.len() {
        0 => Some("not measured".to_owned()),
        1 => None,
        n => Some(format!("{n} results: {}", verdict_counts(&counts))),
    };
    let Some((m, summary)) = group.answer() else {
        return WorkloadFigure {
            value: None,
            unit: String::new(),
            configuration: String::new(),
            at: no_main_result(group),
            extra: None,
            within: None,
            interval: String::new(),
            near: None,
            near_lacks: "",
            bottleneck: None,
            verdict: group.all.iter().map(|m| m.verdict).max(),
            count,
            all_valid: false,
        };
    };
    let scale = &result_scale(group, m, &[summary.value()]);
    WorkloadFigure {
        value: scale.number(summary.value()),
        unit: scale.label().to_owned(),
        configuration: group.short(m),
        at: at(group, m),
        extra: levels_of(m, scale).or_else(|| disk::extra(m, scale)).or_else(|| network::extra(m)),
        within: half_width(summary)
            .filter(|_| interval(m).is_some())
            .map(|half| format!("± {half}")),
        interval: interval_words(m, summary, scale),
        near: near(m, scale),
        near_lacks: if m.ceiling.is_none() { "no ceiling" } else { "no efficiency" },
        bottleneck: bottleneck(m),
        verdict: Some(m.verdict),
        count,
        all_valid: counts.valid == group.all.len() as u64,
    }
}

/// `12 valid, 2 coarse`: the verdicts that occur.
fn verdict_counts(counts: &VerdictCounts) -> String {
    let word = |verdict: Verdict| match counts.get(verdict) {
        0 => None,
        n => Some(format!("{} {verdict}", format_count(n))),
    };
    joined(Verdict::ALL.into_iter().filter_map(word), ", ")
}

/// The scale of a single result, the same wherever it is shown. Random I/O is counted in operations
/// per second, as in its chart.
pub fn result_scale(group: &Group, m: &Measurement, values: &[f64]) -> Scale {
    let random = group.spec.is_some_and(|s| s.work.is_random());
    disk::iops(m).filter(|_| random).unwrap_or_else(|| disk::scale(m, values))
}

/// The configuration, with the cache that holds its working set.
fn at(group: &Group, m: &Measurement) -> String {
    let point = group.short(m);
    let set = m.params.get(key::WORKING_SET).filter(|_| key::WORKING_SET == group.axis);
    match set.and_then(|set| levels::within(&group.run.host, set, m.params.threads())) {
        Some(within) => format!("{point}, {within}"),
        None => point,
    }
}

/// `3 levels over time, 15.60 to 31.20`: the levels of a value over time that had several.
fn levels_of(m: &Measurement, scale: &Scale) -> Option<String> {
    let levels = &m.series.as_ref().filter(|s| s.levels.len() > 1)?.levels;
    let medians = || levels.iter().map(|l| l.median).filter(|v| v.is_finite());
    let low = medians().fold(f64::INFINITY, f64::min);
    let high = medians().fold(f64::NEG_INFINITY, f64::max);
    let range = scale.interval([low, high])?;
    Some(format!("{} over time, {range}", counted(levels.len() as u64, "level")))
}

/// The end of the reason where no bottleneck was identified.
const NOT_FOUND: &str = "no check found the bottleneck";

fn bottleneck(m: &Measurement) -> Option<String> {
    let unnamed = || {
        let why = why_missing(m, "bottleneck", "no reason was recorded");
        // The share of the ceiling is printed already.
        match why.ends_with(NOT_FOUND) {
            true => "not identified".to_owned(),
            false => format!("not identified: {why}"),
        }
    };
    match &m.bottleneck {
        Some(l) => Some(clean(&l.resource)),
        None => m.ceiling.is_some().then(unnamed),
    }
}

/// `1.9 %`: half the width of the interval as a share of the figure.
pub fn half_width(s: &Summary) -> Option<String> {
    s.half_width().and_then(percentage)
}

fn interval_words(m: &Measurement, s: &Summary, scale: &Scale) -> String {
    // An interval of three trials is one of their many rounds.
    let rounds = m.all_rounds().count();
    let trials = match rounds > m.trials.len() {
        true => format!("{} of {}", counted(rounds as u64, "round"), counted(s.trials.n, "trial")),
        false => counted(s.trials.n, "trial"),
    };
    match interval(m).and_then(|i| scale.interval(i)) {
        Some(text) => format!("95 % interval {text}, {trials}"),
        None => format!("no interval ({}), {trials}", why_no_interval(m)),
    }
}

/// The word for a ceiling.
pub fn ceiling_word(reliance: Reliance) -> &'static str {
    match reliance {
        Reliance::Known => "ceiling",
        Reliance::Assumed => "assumed ceiling",
        Reliance::Rough => "rough ceiling",
        Reliance::Shared => "shared ceiling",
    }
}

/// The note on a share of a ceiling; empty for a known one.
pub fn ceiling_note(reliance: Reliance) -> &'static str {
    match reliance {
        Reliance::Known => "",
        Reliance::Assumed => "of an assumed ceiling",
        Reliance::Rough => "of a rough ceiling, whose uncertainty is 30 % or more",
        Reliance::Shared => "of a ceiling that both ends share",
    }
}

/// Returns true if no note is needed on a share of the result's ceiling. A bar has no room for one.
pub fn has_known_ceiling(m: &Measurement) -> bool {
    m.ceiling.as_ref().is_none_or(|c| c.reliance().is_known())
}

/// `of the ceiling`, `of an assumed ceiling`.
pub fn of_the_ceiling(m: &Measurement) -> &'static str {
    match m.ceiling.as_ref().map(Ceiling::reliance).unwrap_or_default() {
        Reliance::Known => "of the ceiling",
        Reliance::Rough => "of a rough ceiling",
        doubted => ceiling_note(doubted),
    }
}

/// The comparison of a result with its ceiling.
pub fn near(m: &Measurement, scale: &Scale) -> Option<Near> {
    let efficiency = m.efficiency?;
    let ceiling = m.ceiling.as_ref()?;
    let length = |share: f64| (share * 1000.0).round().clamp(0.0, 1000.0) / 10.0;
    let delivered = match m.summary.as_ref().map(|s| s.headline) {
        Some(FigureKind::Delivered) => Some(1.0),
        // An amount of time or a clock has no delivered figure that differs from it.
        _ if !m.unit.is_work() => Some(1.0),
        _ => delivered_share(m),
    };
    let reliance = ceiling.reliance();
    let meter = Meter {
        headline: length(efficiency),
        delivered: delivered.map(|share| length(share * efficiency)),
    };
    let value = scale.with_label(ceiling.value)?;
    Some(Near {
        percent: percent(efficiency)?,
        bar: (reliance == Reliance::Known).then_some(meter),
        word: ceiling_word(reliance),
        note: ceiling_note(reliance),
        of: match reliance {
            Reliance::Known => format!("of its ceiling of {value}"),
            Reliance::Assumed => format!("of an assumed ceiling of {value}"),
            Reliance::Rough => format!(
                "of a rough ceiling of {value} (uncertainty {})",
                format_percent(ceiling.uncertainty)
            ),
            Reliance::Shared => format!("of the ceiling of {value} that both ends share"),
        },
        ceiling: scale.number(ceiling.value)?,
    })
}
