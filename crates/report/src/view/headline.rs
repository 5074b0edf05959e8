//! The number that answers a kernel's question, and sentences drawn from the figures.
//!
//! Only numbers that stand are put first: the best valid one, or, where none is
//! valid, the best suspect one under that name. An invalid number is never one.

use proofmark_model::{Better, Measurement, Run, Subsystem, Summary, Verdict, format_seconds};
use serde::Serialize;

use super::kernel::{why_no_ceiling, why_no_efficiency};
use super::label::{Group, knob_value, why_missing, why_no_interval, why_no_trials};
use super::num::{Scale, percent};
use super::text::{and_list, clean, plural};

/// How near the ceiling.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Near {
    /// Efficiency in percent, without the sign.
    pub percent: String,
    /// Efficiency from 0 to 100, cut at both ends, for a bar.
    pub bar: f64,
    /// `of its ceiling of 129.0 GFLOP/s`.
    pub of: String,
}

/// How fast, how near, how sure, what held it back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Headline {
    /// The number; `None` if no number of this kernel stands.
    pub value: Option<String>,
    /// Its label.
    pub unit: String,
    /// At which point; where there is no number, why.
    pub at: String,
    /// `± 1.9 %`: half the width of the interval, which the policy's target is held against.
    pub within: Option<String>,
    /// Interval and number of trials, or why there is none.
    pub sure: String,
    /// Against the ceiling.
    pub near: Option<Near>,
    /// Why `near` is missing.
    pub near_missing: String,
    /// What held it back, or why that is not named; `None` without a ceiling, when
    /// nothing could show it.
    pub held: Option<String>,
    /// Verdict of the number.
    pub verdict: Option<Verdict>,
    /// `12 of 14 numbers stand`.
    pub count: String,
    /// Whether every number of the kernel stands.
    pub all_stand: bool,
}

/// The best number that stands. Threads that take turns on a CPU cannot compute more
/// than those that do not, so that an oversubscribed point of the CPU can win by
/// chance only, and is left out where there is another.
pub fn best<'a>(group: &Group, all: &[&'a Measurement]) -> Option<(&'a Measurement, &'a Summary)> {
    let of = |verdict| {
        let numbers =
            || all.iter().copied().filter(|m| m.verdict == verdict && m.summary.is_some());
        let turns = |m: &&Measurement| m.subsystem == Subsystem::Cpu && group.oversubscribed(m);
        let rest = numbers().any(|m| !turns(&m));
        numbers()
            .filter(|m| !rest || !turns(m))
            .filter_map(|m| m.summary.as_ref().map(|s| (m, s)))
            .filter(|(_, s)| s.median.is_finite())
            .reduce(|a, b| {
                let wins = match a.0.better {
                    Better::Higher => b.1.median > a.1.median,
                    Better::Lower => b.1.median < a.1.median,
                };
                if wins { b } else { a }
            })
    };
    of(Verdict::Valid).or_else(|| of(Verdict::Suspect))
}

/// The kernel's headline.
pub fn of(group: &Group, scale: &Scale) -> Headline {
    let stand = group.all.iter().filter(|m| m.verdict == Verdict::Valid).count();
    let count = match group.all.len() {
        0 => "not measured".to_owned(),
        1 => format!("{stand} of 1 number stands"),
        n => format!("{stand} of {n} numbers stand"),
    };
    let Some((m, summary)) = best(group, &group.all) else {
        let why = group.all.first().map_or_else(
            || "none of its points was measured".to_owned(),
            |m| match m.summary {
                None => why_no_trials(m),
                Some(_) => "every number of it is invalid".to_owned(),
            },
        );
        return Headline {
            value: None,
            unit: scale.label().to_owned(),
            at: format!("No number stands: {why}."),
            within: None,
            sure: String::new(),
            near: None,
            near_missing: String::new(),
            held: None,
            verdict: group.all.iter().map(|m| m.verdict).max(),
            count,
            all_stand: false,
        };
    };
    Headline {
        value: scale.number(summary.median),
        unit: scale.label().to_owned(),
        at: group.short(&m.params),
        within: within(summary),
        sure: sure(m, summary, scale),
        near: near(m, scale),
        near_missing: if m.ceiling.is_none() { why_no_ceiling(m) } else { why_no_efficiency(m) },
        held: held(m),
        verdict: Some(m.verdict),
        count,
        all_stand: stand == group.all.len(),
    }
}

fn held(m: &Measurement) -> Option<String> {
    let unnamed = || format!("not named: {}", why_missing(m, "limiter", "no reason recorded"));
    match &m.limiter {
        Some(l) => Some(clean(&l.resource)),
        None => m.ceiling.is_some().then(unnamed),
    }
}

fn within(s: &Summary) -> Option<String> {
    s.half_width().and_then(percent).map(|half| format!("± {half} %"))
}

fn sure(m: &Measurement, s: &Summary, scale: &Scale) -> String {
    let trials = plural(s.n, "trial");
    match s.ci95.and_then(|i| scale.interval(i)) {
        Some(text) => format!("95 % interval {text}, {trials}"),
        None => format!("no interval ({}), {trials}", why_no_interval(m)),
    }
}

fn near(m: &Measurement, scale: &Scale) -> Option<Near> {
    let efficiency = m.efficiency?;
    let ceiling = m.ceiling.as_ref()?;
    Some(Near {
        percent: percent(efficiency)?,
        bar: (efficiency * 1000.0).round().clamp(0.0, 1000.0) / 10.0,
        of: format!("of its ceiling of {}", scale.with_label(ceiling.value)?),
    })
}

/// What the figures say that no table does.
pub fn sentences(group: &Group) -> Vec<String> {
    let mut out = Vec::new();
    if let Some((hero, summary)) = best(group, &group.all) {
        out.extend(scaling(group, hero, summary));
    }
    if let Some(sentence) = verdicts(group) {
        out.push(sentence);
    }
    out
}

/// `5 points: threads 1, 2, 4 and 8; trials of at least 100 ms.`
pub fn design(group: &Group, run: &Run) -> String {
    if group.all.is_empty() {
        return "None of its points was measured.".to_owned();
    }
    let knobs: Vec<String> = group
        .varying
        .iter()
        .map(|name| {
            let mut values: Vec<String> = Vec::new();
            for m in &group.all {
                if let Some(v) = m.params.get(name).map(|v| knob_value(group.spec, name, v))
                    && !values.contains(&v)
                {
                    values.push(v);
                }
            }
            format!("{} {}", clean(name), and_list(&values))
        })
        .collect();
    let policy = &run.plan.policy;
    let of = if knobs.is_empty() { String::new() } else { format!(" ({})", knobs.join("; ")) };
    let length = if policy.trial_s.is_finite() && policy.trial_s > 0.0 {
        format!(" of at least {}", format_seconds(policy.trial_s))
    } else {
        String::new()
    };
    let trials = if policy.min_trials == policy.max_trials {
        plural(u64::from(policy.min_trials), "trial")
    } else {
        format!("{} to {} trials", policy.min_trials, policy.max_trials)
    };
    format!(
        "Planned were {trials}{length} at each point; {} measured{of}.",
        plural(group.all.len() as u64, "point")
    )
}

/// How the rate changes with the threads, in the series of the best number.
fn scaling(group: &Group, hero: &Measurement, best: &Summary) -> Option<String> {
    let same = |m: &&&Measurement| {
        m.params.0.iter().filter(|(k, _)| *k != "threads").eq(hero
            .params
            .0
            .iter()
            .filter(|(k, _)| *k != "threads"))
    };
    let mut series: Vec<(u64, &Summary)> = group
        .all
        .iter()
        .filter(same)
        .filter(|m| m.verdict != Verdict::Invalid)
        .filter_map(|m| Some((m.params.threads(), m.summary.as_ref()?)))
        .filter(|(_, s)| s.median.is_finite())
        .collect();
    series.sort_by_key(|(threads, _)| *threads);
    let (least, first) = *series.first()?;
    if series.len() < 2 || first.median <= 0.0 || best.median <= 0.0 {
        return None;
    }
    let step = |(threads, s): &(u64, &Summary)| {
        let overlap = match (first.ci95, s.ci95) {
            (Some([a, b]), Some([c, d])) => a <= d && c <= b,
            _ => false,
        };
        let factor = s.median / first.median;
        let same = if overlap { " (the intervals overlap)" } else { "" };
        format!("{factor:.2} times with {threads}{same}")
    };
    let (over, within): (Vec<_>, Vec<_>) =
        series[1..].iter().partition(|(threads, _)| group.beyond_cpus(*threads));
    let mut parts = Vec::new();
    if !within.is_empty() {
        parts.push(and_list(&within.into_iter().map(step).collect::<Vec<_>>()));
    }
    if !over.is_empty() {
        let steps: Vec<String> = over.into_iter().map(step).collect();
        parts.push(format!("oversubscribed, {}", and_list(&steps)));
    }
    let kind = match group.short_without(&hero.params, &["threads"]) {
        text if text.is_empty() => String::new(),
        text => format!(" ({text})"),
    };
    Some(format!("Against {}{kind}, it is {}.", plural(least, "thread"), parts.join("; ")))
}

/// Verdicts other than valid.
fn verdicts(group: &Group) -> Option<String> {
    let at = |verdict| -> Vec<String> {
        group.all.iter().filter(|m| m.verdict == verdict).map(|m| group.short(&m.params)).collect()
    };
    let parts: Vec<String> = [(Verdict::Suspect, "Suspect"), (Verdict::Invalid, "Invalid")]
        .into_iter()
        .filter_map(|(verdict, word)| match at(verdict).as_slice() {
            [] => None,
            few @ ([_] | [_, _] | [_, _, _]) => Some(format!("{word}: {}.", few.join("; "))),
            many => Some(format!("{word}: {}.", plural(many.len() as u64, "point"))),
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}
