//! Sentences on the figures of one workload.

use proofmark_model::{
    Figure, Measurement, Pace, Summary, Trial, format_factor, format_seconds, format_size, key,
};

use super::delivered_share::Lost;
use super::disk::{device_words, distance_from_device, fall_phrase};
use super::grouping::distinct;
use super::label::{
    Group, best_usable, differing_only_in, doubt_of, other_placements, series, spoken, title,
    usable,
};
use super::levels::{Plateau, disagreements, plateaus};
use super::network::{self, over_loopback};
use super::num::Scale;
use super::operation;
use super::saturation;
use super::series::along;
use super::text::{and_list, capital, counted, enclosed, joined};

/// Maximum number of series whose plateaus are listed; of more, only the headline's.
const SERIES: usize = 4;
/// Minimum share of the planned length that every trial must have, for that length to be printed.
const KEPT: f64 = 0.8;

/// Writes what the figures show and no table does.
pub fn write(group: &Group, scale: &Scale) -> Vec<String> {
    let mut out = Vec::new();
    if let Some((answer, _)) = group.answer() {
        out.extend(scaling(group, answer, key::THREADS.name()));
        out.extend(levels(group, answer, scale));
        out.extend(scaling(group, answer, key::QUEUE_DEPTH.name()));
        out.extend(scaling(group, answer, key::STREAMS.name()));
    }
    out.extend(saturation::sentences(group));
    out.extend(group.all.iter().filter_map(|m| {
        let fell = fall_phrase(m, scale)?;
        Some(format!("The rate fell{}: {fell}.", named(group, m)))
    }));
    out.extend(page_cache(group, scale));
    out.extend(loopback(group, scale));
    out.extend(disagreements(group.all.iter().copied()).into_iter().map(|d| {
        let [reported, measured] = [d.reported, d.measured].map(|b| format_size(b as u64));
        format!(
            "{}: the machine reports {reported}, the measured plateau ends at {measured}.",
            d.level
        )
    }));
    out
}

/// `proofmark planned 3 trials of at least 100.0 ms per configuration and measured 5 configurations
/// (threads 1, 2, 4 and 8).`
pub fn design(group: &Group) -> String {
    if group.all.is_empty() {
        return "No configuration was measured.".to_owned();
    }
    let parameters = group.varying.iter().map(|name| {
        let values = distinct(group.all.iter().filter_map(|m| group.text(m, name)));
        // Values that contain a comma would run together.
        let lists = values.iter().any(|v| v.contains(", "));
        let values = if lists { joined(values, " or ") } else { and_list(values) };
        format!("{} {values}", title(name))
    });
    let of = enclosed(" (", &joined(parameters, "; "), ")");
    let count = counted(group.all.len() as u64, "configuration");
    if group.over_time {
        return format!("Sampled over time, not in trials; {count} measured{of}.");
    }
    let policy = &group.run.plan.policy;
    let (least, most) = policy.trials_for(group.id);
    let trials = number_of_trials([least, most].map(u64::from));
    let trial_s = policy.trial_s_for(group.id);
    let all = || group.all.iter().flat_map(|m| &m.trials);
    let kept = shorter_than_planned(trial_s, all()).is_none();
    let length = (trial_s.is_finite() && trial_s > 0.0 && kept).then(|| format_seconds(trial_s));
    let length = enclosed(" of at least ", &length.unwrap_or_default(), "");
    let taken = taken(group.all.iter().copied());
    let is_as_planned =
        |[low, high]: &[u64; 2]| u64::from(least) <= *low && *high <= u64::from(most);
    let taken = taken.filter(|taken| !is_as_planned(taken)).map(number_of_trials);
    let taken = enclosed(", took ", &taken.unwrap_or_default(), ",");
    format!("proofmark planned {trials}{length} per configuration{taken} and measured {count}{of}.")
}

/// `3 trials`, or `8 to 20 trials`.
pub fn number_of_trials([least, most]: [u64; 2]) -> String {
    if least == most { counted(least, "trial") } else { format!("{least} to {most} trials") }
}

/// The smallest and the largest number of trials of these results, without those that have none and
/// those over time.
pub fn taken<'a>(all: impl IntoIterator<Item = &'a Measurement>) -> Option<[u64; 2]> {
    let measured = all.into_iter().filter(|m| m.series.is_none() && !m.trials.is_empty());
    let counts: Vec<u64> = measured.map(|m| m.trials.len() as u64).collect();
    Some([*counts.iter().min()?, *counts.iter().max()?])
}

/// The shortest of these trials, if it is clearly shorter than planned: a trial that is one piece of
/// work lasts as long as that work.
pub fn shorter_than_planned<'a>(
    trial_s: f64,
    trials: impl IntoIterator<Item = &'a Trial>,
) -> Option<f64> {
    let times = trials.into_iter().map(|t| t.seconds).filter(|s| *s > 0.0);
    let shortest = times.fold(f64::INFINITY, f64::min);
    (shortest < KEPT * trial_s).then_some(shortest)
}

/// The change of the value with the threads or the queue depth, in the headline result's series.
fn scaling(group: &Group, answer: &Measurement, parameter: &'static str) -> Option<String> {
    let (all, but) = along(group, answer, parameter);
    let all = all.into_iter().filter_map(|(count, m)| Some((count, usable(m)?)));
    let mut series: Vec<(u64, (&Measurement, &Summary))> = all.collect();
    series.dedup_by_key(|(value, _)| *value);
    let (first, (least, _)) = *series.first()?;
    let changes = |figure: fn(&Summary) -> &Figure| {
        let steps_of = series.iter().map(|(count, (m, s))| Step {
            count: *count,
            m,
            figure: figure(s),
            doubt: doubt_of([*m]),
        });
        let all: Vec<Step> = steps_of.collect();
        let (first, rest) = all.split_first()?;
        if rest.is_empty() || all.iter().any(|step| step.figure.value.is_none()) {
            return None;
        }
        (first.figure.value? > 0.0).then(|| match parameter {
            _ if key::THREADS == parameter => by_threads(group, answer, *first, rest),
            _ if key::STREAMS == parameter => steps(*first, rest, "with"),
            _ => steps(*first, rest, "at"),
        })
    };
    let headline = changes(|s| s.figure(s.headline))?;
    // Where much was lost, the headline alone does not describe the run.
    let parts = match series.iter().any(|(_, (m, _))| Lost::of_measurement(m).is_some()) {
        false => headline,
        true => {
            let kind = answer.summary.as_ref().map_or("", |s| s.headline.as_str());
            let delivered = changes(|s| &s.delivered).unwrap_or_else(|| "not known".to_owned());
            match delivered == headline {
                true => headline,
                false => format!("{kind}: {headline}; delivered: {delivered}"),
            }
        }
    };
    let against = match parameter {
        _ if key::THREADS == parameter => counted(first, "thread"),
        _ if key::STREAMS == parameter => counted(first, "stream"),
        _ => format!("{} {first}", spoken(parameter)),
    };
    let kind = [&*group.short_without(answer, &but), doubt_of([least])];
    let kind = enclosed(" (", &joined(kind, "; "), ")");
    Some(format!("Compared with {against}{kind}: {parts}."))
}

/// One of the results that a sentence compares.
#[derive(Clone, Copy)]
struct Step<'a> {
    /// Threads, streams or I/Os in flight.
    count: u64,
    m: &'a Measurement,
    figure: &'a Figure,
    /// Its verdict, unless it is valid.
    doubt: &'static str,
}

/// The factors for more threads; oversubscribed ones are listed separately.
fn by_threads(group: &Group, answer: &Measurement, first: Step, rest: &[Step]) -> String {
    let (over, within): (Vec<Step>, Vec<Step>) =
        rest.iter().copied().partition(|step| group.beyond_cpus(step.count));
    // Memory bandwidth is limited by what the usable CPUs reach together, so more threads are
    // compared with that.
    let full = within.last().copied().filter(|_| answer.subsystem.info().pace == Pace::Memory);
    let turns = match full {
        _ if over.is_empty() => None,
        Some(full) => Some(format!(
            "oversubscribed, compared with {}, {}",
            counted(full.count, "thread"),
            steps(full, &over, "with")
        )),
        None => Some(format!("oversubscribed, {}", steps(first, &over, "with"))),
    };
    let within = (!within.is_empty()).then(|| steps(first, &within, "with"));
    joined(within.into_iter().chain(turns), "; ")
}

/// `1.98 times with 2 (the intervals overlap), 2.01 times with 4 (suspect)`.
fn steps(from: Step, to: &[Step], with: &str) -> String {
    let step = |step: &Step| {
        let overlap = match (from.figure.ci95, step.figure.ci95) {
            (Some([a, b]), Some([c, d])) => a <= d && c <= b,
            _ => false,
        };
        let [value, base] = [step, &from].map(|s| s.figure.value.unwrap_or(f64::NAN));
        let same = if overlap { "the intervals overlap" } else { "" };
        let placed = other_placements(from.m, step.m);
        let doubt = enclosed(" (", &joined([same, placed, step.doubt], "; "), ")");
        format!("{} times {with} {}{doubt}", format_factor(value / base), step.count)
    };
    and_list(to.iter().map(step))
}

/// The fastest result that the page cache served.
fn page_cache(group: &Group, scale: &Scale) -> Option<String> {
    let cached: Vec<&Measurement> =
        group.all.iter().copied().filter(|m| distance_from_device(m).is_none()).collect();
    let (m, s) = best_usable(&cached)?;
    let (rate, name) = (scale.with_label(s.value())?, named(group, m));
    let device = match device_words(m) {
        Some(words) => format!("the device moved {words}"),
        None => "the device's share is not known".to_owned(),
    };
    Some(format!("From the page cache, not the disk: {rate}{name}; {device}."))
}

/// ` (4 KiB, depth 32; suspect)`: the configuration of the result that a sentence is about.
fn named(group: &Group, m: &Measurement) -> String {
    enclosed(" (", &joined([&*group.short(m), doubt_of([m])], "; "), ")")
}

/// The fastest result over loopback, where the headline is that of a network.
fn loopback(group: &Group, scale: &Scale) -> Option<String> {
    group.answer().filter(|(answer, _)| !over_loopback(answer))?;
    let within: Vec<_> = group.all.iter().copied().filter(|m| over_loopback(m)).collect();
    let (m, s) = usable(proofmark_model::answer(group.run, &within)?)?;
    let trips = operation::phrase(m).filter(|_| network::round_trips(m));
    let value = trips.or_else(|| scale.with_label(s.value()))?;
    Some(format!("Over loopback, without a network: {value}{}.", named(group, m)))
}

/// The figures of each cache level and of memory, one sentence per series of working sets.
fn levels(group: &Group, answer: &Measurement, scale: &Scale) -> Vec<String> {
    if key::WORKING_SET != group.axis {
        return Vec::new();
    }
    let but = [key::WORKING_SET];
    let mut series = series(&group.all, &but);
    if series.len() > SERIES {
        series = vec![differing_only_in(&group.all, answer, &but)];
    }
    series.iter().filter_map(|s| plateau_sentence(group, s, scale)).collect()
}

fn plateau_sentence(group: &Group, series: &[&Measurement], scale: &Scale) -> Option<String> {
    let usable = |m: &&&Measurement| m.verdict.is_usable();
    let series: Vec<&Measurement> = series.iter().filter(usable).copied().collect();
    let part = |p: Plateau| {
        let value = scale.with_label(p.m.summary.as_ref()?.value())?;
        let set = format_size(p.set);
        let doubt = doubt_of([p.m]);
        let of = if p.level.is_some() { "within" } else { "at" };
        let shared = if p.is_shared { "which other guests may fill" } else { "" };
        let level = joined([p.level.unwrap_or_default(), shared], ", ");
        let note = enclosed(" (", &joined([level.as_str(), doubt], "; "), ")");
        Some(format!("{value} {of} {set}{note}"))
    };
    let parts: Vec<String> = plateaus(group.run, &series).into_iter().filter_map(part).collect();
    let named = capital(&group.short_without(series.first()?, &[key::WORKING_SET]));
    let start = enclosed("", &named, ": ");
    (parts.len() > 1).then(|| format!("{start}{}.", joined(parts, ", ")))
}
