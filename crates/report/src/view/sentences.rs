//! Sentences drawn from the figures of one kernel.

use proofmark_model::{
    Measurement, Param, Run, Subsystem, Summary, Verdict, format_seconds, format_size,
};

use super::disk::{device_share, distance, fall_phrase};
use super::headline::{best, in_question};
use super::label::{Group, knob_value};
use super::levels::{disagreements, plateaus};
use super::num::{Scale, percent};
use super::series::follows;
use super::text::{and_list, capital, clean, plural};

/// Series whose plateaus are told; of more, only that of the headline.
const SERIES: usize = 4;

/// What the figures say that no table does.
pub fn of(group: &Group, scale: &Scale) -> Vec<String> {
    let mut out = Vec::new();
    let asked = in_question(group);
    if let Some((hero, summary)) = best(group, &asked) {
        out.extend(scaling(group, &asked, hero, summary));
        out.extend(levels(group, hero, scale));
        out.extend(deeper(group, &asked, hero));
    }
    out.extend(group.all.iter().filter_map(|m| {
        let fell = fall_phrase(m, scale)?;
        Some(format!("The rate fell ({}): {fell}.", group.short(&m.params)))
    }));
    out.extend(page_cache(group, scale));
    out.extend(disagreements(group.all.iter().copied()).into_iter().map(|d| {
        let [reported, measured] = [d.reported, d.measured].map(|b| format_size(b as u64));
        format!("{}: the machine reports {reported}, its plateau ends at {measured}.", d.level)
    }));
    out.extend(verdicts(group));
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
            // Values that hold a comma would run together.
            let lists = values.iter().any(|v| v.contains(", "));
            let values = if lists { values.join(" or ") } else { and_list(&values) };
            format!("{} {values}", clean(name))
        })
        .collect();
    let policy = &run.plan.policy;
    let of = if knobs.is_empty() { String::new() } else { format!(" ({})", knobs.join("; ")) };
    let trial_s = policy.trial_s_for(group.id);
    let length = if trial_s.is_finite() && trial_s > 0.0 {
        format!(" of at least {}", format_seconds(trial_s))
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

/// Members of `all` that differ from `from` in these knobs only.
pub fn like<'a>(all: &[&'a Measurement], from: &Measurement, but: &[&str]) -> Vec<&'a Measurement> {
    let kept = |(name, _): &(&String, &Param)| !but.contains(&name.as_str());
    let like =
        |m: &&Measurement| m.params.0.iter().filter(kept).eq(from.params.0.iter().filter(kept));
    all.iter().copied().filter(like).collect()
}

/// How the value changes with the threads, in the series of the best number.
fn scaling(
    group: &Group,
    asked: &[&Measurement],
    hero: &Measurement,
    best: &Summary,
) -> Option<String> {
    // A working set is that of one thread and gets smaller as they get more.
    let divided = group.axis == "working_set";
    let but = if divided { &["threads", "working_set"][..] } else { &["threads"] };
    let mut series: Vec<(u64, &Summary)> = like(asked, hero, but)
        .into_iter()
        .filter(|m| m.verdict != Verdict::Invalid)
        .filter_map(|m| Some((m.params.threads(), m.summary.as_ref()?)))
        .filter(|(_, s)| s.median.is_finite())
        .collect();
    series.sort_by_key(|(threads, _)| *threads);
    series.dedup_by_key(|(threads, _)| *threads);
    let first = *series.first()?;
    if series.len() < 2 || first.1.median <= 0.0 || best.median <= 0.0 {
        return None;
    }
    let (over, within): (Vec<_>, Vec<_>) =
        series[1..].iter().partition(|(threads, _)| group.beyond_cpus(*threads));
    let steps = |from: (u64, &Summary), steps: &[&(u64, &Summary)]| -> String {
        and_list(&steps.iter().map(|s| step(from, **s, "with")).collect::<Vec<_>>())
    };
    // Memory is bound by what the usable CPUs reach together: that is what more
    // threads than those are held against.
    let full = within.last().copied().filter(|_| hero.subsystem == Subsystem::Memory);
    let kind = match group.short_without(&hero.params, but) {
        text if text.is_empty() => String::new(),
        text => format!(" ({text})"),
    };
    let against = plural(first.0, "thread");
    let mut parts = Vec::new();
    if !within.is_empty() {
        parts.push(steps(first, &within));
    }
    match full {
        Some(full) if !over.is_empty() => parts.push(format!(
            "oversubscribed, against {}, {}",
            plural(full.0, "thread"),
            steps(*full, &over)
        )),
        None if !over.is_empty() => parts.push(format!("oversubscribed, {}", steps(first, &over))),
        _ => {}
    }
    Some(format!("Against {against}{kind}, it is {}.", parts.join("; ")))
}

/// `1.98 times with 2 (the intervals overlap)`.
fn step((_, from): (u64, &Summary), (count, s): (u64, &Summary), with: &str) -> String {
    let overlap = match (from.ci95, s.ci95) {
        (Some([a, b]), Some([c, d])) => a <= d && c <= b,
        _ => false,
    };
    let factor = s.median / from.median;
    let same = if overlap { " (the intervals overlap)" } else { "" };
    format!("{factor:.2} times {with} {count}{same}")
}

/// How the value changes as the queue gets deeper, in the series of the best number.
fn deeper(group: &Group, asked: &[&Measurement], hero: &Measurement) -> Option<String> {
    const DEPTH: &str = "queue_depth";
    let mut but = vec![DEPTH];
    but.extend(follows(group, DEPTH));
    let mut series: Vec<(u64, &Summary)> = like(asked, hero, &but)
        .into_iter()
        .filter(|m| m.verdict != Verdict::Invalid)
        .filter_map(|m| Some((m.params.int(DEPTH)?, m.summary.as_ref()?)))
        .filter(|(_, s)| s.median.is_finite())
        .collect();
    series.sort_by_key(|(depth, _)| *depth);
    let (first, rest) = series.split_first()?;
    if rest.is_empty() || first.1.median <= 0.0 {
        return None;
    }
    let steps: Vec<String> = rest.iter().map(|s| step(*first, *s, "at")).collect();
    let kind = match group.short_without(&hero.params, &but) {
        text if text.is_empty() => String::new(),
        text => format!(" ({text})"),
    };
    Some(format!("Against queue depth {}{kind}, it is {}.", first.0, and_list(&steps)))
}

/// That the fastest number of the page cache is none of the disk.
fn page_cache(group: &Group, scale: &Scale) -> Option<String> {
    let cached: Vec<&Measurement> =
        group.all.iter().copied().filter(|m| distance(m).is_none()).collect();
    let (m, s) = best(group, &cached)?;
    let (rate, name) = (scale.with_label(s.median)?, group.short(&m.params));
    let device = device_share(m).and_then(percent);
    let device = device.map_or_else(
        || "what the device moved meanwhile is not known".to_owned(),
        |p| format!("the device moved {p} % of it"),
    );
    Some(format!("From the page cache, not the disk: {rate} ({name}); {device}."))
}

/// What each cache level and memory give, a sentence a series of working sets.
fn levels(group: &Group, hero: &Measurement, scale: &Scale) -> Vec<String> {
    if group.axis != "working_set" {
        return Vec::new();
    }
    let but = ["working_set"];
    let mut series: Vec<Vec<&Measurement>> = Vec::new();
    for m in &group.all {
        if series.len() > SERIES {
            break;
        }
        if !series.iter().any(|s| s.iter().any(|known| std::ptr::eq(*known, *m))) {
            series.push(like(&group.all, m, &but));
        }
    }
    if series.len() > SERIES {
        series = vec![like(&group.all, hero, &but)];
    }
    series.iter().filter_map(|s| plateau_sentence(group, s, scale)).collect()
}

fn plateau_sentence(group: &Group, series: &[&Measurement], scale: &Scale) -> Option<String> {
    let stands = |m: &&&Measurement| m.verdict != Verdict::Invalid;
    let series: Vec<&Measurement> = series.iter().filter(stands).copied().collect();
    let parts: Vec<String> = plateaus(group.run, &series)
        .into_iter()
        .filter_map(|p| {
            let value = scale.with_label(p.m.summary.as_ref()?.median)?;
            let set = format_size(p.set);
            Some(match p.level {
                Some(level) => format!("{value} within {set} ({level})"),
                None => format!("{value} at {set}"),
            })
        })
        .collect();
    let named = group.short_without(&series.first()?.params, &["working_set"]);
    let start = if named.is_empty() { String::new() } else { format!("{}: ", capital(&named)) };
    (parts.len() > 1).then(|| format!("{start}{}.", parts.join(", ")))
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
