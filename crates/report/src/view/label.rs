//! Names of configurations and parameters, and the order of rows.

use std::collections::BTreeSet;

use proofmark_model::{
    AUTO, Figure, FigureKind, Measurement, Param, Params, ResultNames, Run, Subsystem, Summary,
    Verdict, WorkloadSpec, best, check_id, key,
};

use super::disk::{COVERED_BY_IO_PATH, IO_PATH, io_path};
use super::network::{self, PATH, is_network};
use super::text::{clean, counted, joined};

pub use self::parameter::{is_size, parameter_value, spoken, title};
use self::parameter::{parameter_phrase, rank};

mod parameter;

/// The measurements of one workload, with the parameters that they differ in.
#[derive(Debug)]
pub struct Group<'a> {
    /// The run that holds the measurements.
    pub run: &'a Run,
    /// Workload id as in the run.
    pub id: &'a str,
    /// The workload's declaration, if the run file holds it.
    pub spec: Option<&'a WorkloadSpec>,
    /// The measurements in the order of rows.
    pub all: Vec<&'a Measurement>,
    /// Parameters that differ between measurements, in the order of columns.
    pub varying: Vec<&'a str>,
    /// Varying parameters that a configuration's name does not need, such as the engine where the
    /// queue depth of a disk workload decides it.
    pub implied_parameters: Vec<&'a str>,
    /// Parameters that are the same in all.
    pub fixed: Vec<&'a str>,
    /// Parameter that a chart shows from left to right.
    pub axis: &'a str,
    /// CPUs that the run could use; 0 if the run file does not list them.
    pub cpus: u64,
    /// True if the group holds the configurations that were sampled over time, and no others.
    pub over_time: bool,
    /// The configurations in words.
    names: ResultNames<'a>,
}

impl<'a> Group<'a> {
    pub fn new(run: &'a Run, id: &'a str) -> Self {
        Self::build(run, id, false)
    }

    /// The id in the report.
    pub fn name(&self) -> String {
        let id = clean(self.id);
        if self.over_time { format!("{id} over time") } else { id }
    }

    /// The workload's title, with a suffix where it was sampled over time.
    pub fn heading(&self) -> String {
        let over_time = if self.over_time { " over time" } else { "" };
        let named = self.spec.filter(|s| !s.title.is_empty());
        named.map_or_else(|| self.name(), |s| format!("{}{over_time}", clean(&s.title)))
    }

    /// Sorts the measurements by their parameters.
    fn build(run: &'a Run, id: &'a str, over_time: bool) -> Self {
        let of = |m: &&Measurement| m.workload == id && m.series.is_some() == over_time;
        let mut all: Vec<&Measurement> = run.measurements.iter().filter(of).collect();
        let spec = run.workloads.get(id);
        let axis = spec.and_then(|s| s.axis.as_deref()).unwrap_or(key::THREADS.name());
        let present: BTreeSet<&str> =
            all.iter().flat_map(|m| m.params.0.keys()).map(String::as_str).collect();
        let declared = spec.map_or(&[][..], |s| &s.parameters);
        let mut order: Vec<&str> =
            declared.iter().filter_map(|k| present.get(&*k.name).copied()).collect();
        order.extend(present.iter().filter(|p| !order.contains(p)).copied().collect::<Vec<_>>());
        let is_shown = |name: &&&str| {
            !COVERED_BY_IO_PATH.contains(name) || !all.iter().any(|m| io_path(m).is_some())
        };
        let (varying, fixed) = order.iter().filter(is_shown).partition(|name| {
            let mut values = all.iter().map(|m| value(run, m, name));
            let first = values.next();
            // A table needs a column that names its rows.
            **name == axis || key::THREADS == **name || values.any(|v| Some(v) != first)
        });
        let place = |m: &&'a Measurement, name: &str| rank(spec, name, m.params.named(name));
        all.sort_by_key(|m| order.iter().map(|name| place(m, name)).collect::<Vec<_>>());
        let cpus = run.host.limits.usable_cpus.len() as u64;
        let implied_parameters = Vec::new();
        let names = ResultNames::of_run(run, id);
        let mut group = Self {
            run,
            id,
            spec,
            all,
            varying,
            implied_parameters,
            fixed,
            axis,
            cpus,
            over_time,
            names,
        };
        group.implied_parameters = find_implied_parameters(&group);
        group
    }

    /// The subsystem, from the measurements or the declaration.
    pub fn subsystem(&self) -> Option<Subsystem> {
        self.all.first().map(|m| m.subsystem).or(self.spec.map(|s| s.subsystem))
    }

    /// The workload's main result, if it is usable.
    pub fn answer(&self) -> Option<(&'a Measurement, &'a Summary)> {
        usable(proofmark_model::answer(self.run, &self.all)?)
    }

    /// Returns true if that many threads must share the usable CPUs.
    pub fn beyond_cpus(&self, threads: u64) -> bool {
        self.cpus > 0 && threads > self.cpus
    }

    /// Returns true if the threads of this measurement shared CPUs.
    pub fn oversubscribed(&self, m: &Measurement) -> bool {
        match is_network(m) {
            // Threads that wait for the other end need no CPU; the check knows which do.
            true => m.findings.iter().any(|f| f.check == check_id::OVERSUBSCRIBED),
            false => self.beyond_cpus(m.params.threads()),
        }
    }

    /// The note on threads that share CPUs.
    pub fn oversubscription_note(&self) -> String {
        format!("oversubscribed: more threads than the {}", counted(self.cpus, "usable CPU"))
    }

    /// `2 CPUs, avx512`: the configuration of a result, in the words of every table and list.
    pub fn short(&self, m: &Measurement) -> String {
        self.names.configuration(m)
    }

    /// `FP peak, 2 CPUs, avx512`: the name of a result.
    pub fn title_of(&self, m: &Measurement) -> String {
        joined([self.heading(), self.short(m)], ", ")
    }

    /// The parameters in which the configurations differ, without some of them. They always include
    /// I/O mode and network path, so that no cached result is taken for a disk's and no loopback
    /// for a network.
    pub fn short_without<N: AsRef<str>>(&self, m: &Measurement, without: &[N]) -> String {
        let always = self.fixed.iter().filter(|n| self.is_always_printed(n));
        let is_kept = |name: &&str| !without.iter().any(|left_out| left_out.as_ref() == *name);
        self.phrase(m, self.varying.iter().chain(always).copied().filter(is_kept))
    }

    /// Returns true if the parameter is printed with every result.
    fn is_always_printed(&self, name: &str) -> bool {
        // A rate in another direction must not be taken for a forward rate.
        let other_direction =
            |m: &&Measurement| m.params.word(name).is_some_and(|way| way != "forward");
        name == IO_PATH
            || (name == PATH && self.all.iter().any(|m| is_network(m)))
            || (key::DIRECTION == name
                && self.fixed.contains(&name)
                && self.all.iter().any(other_direction))
    }

    /// The value of a parameter for a cell; `None` where the configuration has no such parameter.
    pub fn text(&self, m: &Measurement, name: impl AsRef<str>) -> Option<String> {
        let name = name.as_ref();
        value(self.run, m, name).map(|v| parameter_value(self.spec, name, &v))
    }

    /// `f64, huge pages`: the parameters that do not vary; empty without any.
    pub fn fixed_phrase(&self) -> String {
        self.all.first().map_or_else(String::new, |m| self.phrase(m, self.fixed.iter().copied()))
    }

    /// Parameters in a sentence: first what runs, then the threads, then the amounts.
    pub fn phrase(&self, m: &Measurement, names: impl Iterator<Item = &'a str>) -> String {
        let mut names: Vec<&str> = names.collect();
        names.sort_by_key(|n| match m.params.named(n) {
            _ if self.is_always_printed(n) => 0,
            Some(Param::Text(_)) => 1,
            _ if Params::counts_threads(n) => 2,
            _ => 3,
        });
        let values = names.iter().filter_map(|name| Some((name, value(self.run, m, name)?)));
        let values = values.filter(|(_, v)| !matches!(v, Param::Text(word) if word == AUTO));
        joined(values.map(|(name, v)| parameter_phrase(self.spec, name, &v)), ", ")
    }
}

/// Measurements by workload, in the order of the plan. A workload of which no configuration was
/// measured has an empty group. Configurations over time have a group of their own.
pub fn groups(run: &Run) -> Vec<Group<'_>> {
    let mut seen = BTreeSet::new();
    let in_time: BTreeSet<usize> = run.plan.series.iter().map(|s| s.point).collect();
    let planned = run.plan.points.iter().enumerate();
    let planned = planned.map(|(at, p)| (p.workload.as_str(), in_time.contains(&at)));
    let measured = run.measurements.iter().map(|m| (m.workload.as_str(), m.series.is_some()));
    // In an untrusted file, a result may be of another kind than its plan.
    let all = planned.chain(measured).filter(|key| seen.insert(*key));
    all.map(|(id, over_time)| Group::build(run, id, over_time)).collect()
}

/// The anchor of a workload by its position in the report.
pub fn anchor(at: usize) -> String {
    format!("k{}", at + 1)
}

/// The subsystems that have workloads, in the order of a report.
pub fn by_subsystem<'a, 'g>(groups: &'g [Group<'a>]) -> Vec<(Subsystem, Vec<&'g Group<'a>>)> {
    let of = |part: Subsystem| {
        (part, groups.iter().filter(|g| g.subsystem() == Some(part)).collect::<Vec<_>>())
    };
    Subsystem::KNOWN.iter().copied().map(of).filter(|(_, all)| !all.is_empty()).collect()
}

/// The value of a parameter; I/O mode and network path are described in words.
fn value(run: &Run, m: &Measurement, name: &str) -> Option<Param> {
    let words = match name {
        IO_PATH => io_path(m),
        PATH => network::path(&run.host, m),
        _ => None,
    };
    words.map(Param::Text).or_else(|| m.params.named(name).cloned())
}

/// Finds [`Group::implied_parameters`].
fn find_implied_parameters<'a>(group: &Group<'a>) -> Vec<&'a str> {
    if !group.all.iter().any(|m| m.subsystem.info().uses_block_devices) {
        return Vec::new();
    }
    let names = |without: &[&str]| -> BTreeSet<String> {
        group.all.iter().map(|m| group.short_without(m, without)).collect()
    };
    let all = names(&[]).len();
    let mut implied = Vec::new();
    for parameter in
        [key::ENGINE.name(), key::QUEUE_DEPTH.name()].into_iter().filter(|n| *n != group.axis)
    {
        let found = group.varying.iter().copied().find(|n| *n == parameter);
        let more: Vec<&str> = implied.iter().copied().chain(found).collect();
        if names(&more).len() >= all {
            implied = more;
        }
    }
    implied
}

/// Members of `all` that differ from `from` only in these parameters.
pub fn differing_only_in<'a>(
    all: &[&'a Measurement],
    from: &Measurement,
    parameters: &[impl AsRef<str>],
) -> Vec<&'a Measurement> {
    all.iter().copied().filter(|m| m.params.differs_only_in(&from.params, parameters)).collect()
}

/// Splits `all` into series whose members differ only in these parameters.
pub fn series<'a>(
    all: &[&'a Measurement],
    parameters: &[impl AsRef<str>],
) -> Vec<Vec<&'a Measurement>> {
    let mut out: Vec<Vec<&Measurement>> = Vec::new();
    for m in all {
        if !out.iter().flatten().any(|known| std::ptr::eq(*known, *m)) {
            out.push(differing_only_in(all, m, parameters));
        }
    }
    out
}

/// A measurement with its statistics, if its figure is usable: not invalid, and finite.
pub fn usable(m: &Measurement) -> Option<(&Measurement, &Summary)> {
    let s = m.summary.as_ref()?;
    (m.verdict.is_usable() && s.value().is_finite()).then_some((m, s))
}

/// The best usable one of these measurements.
pub fn best_usable<'a>(all: &[&'a Measurement]) -> Option<(&'a Measurement, &'a Summary)> {
    let fit: Vec<_> = all.iter().copied().filter(|m| usable(m).is_some()).collect();
    usable(best(&fit)?)
}

/// The verdict of the worst of these results, for a sentence that concludes from them; empty if all
/// are valid.
pub fn doubt_of<'a>(all: impl IntoIterator<Item = &'a Measurement>) -> &'static str {
    let verdicts: Vec<Verdict> = all.into_iter().map(|m| m.verdict).collect();
    let worst = Verdict::ALL.into_iter().rev().find(|v| verdicts.contains(v));
    worst.filter(|v| *v != Verdict::Valid).map_or("", Verdict::as_str)
}

/// Share of the time that two results spent at other vCPU placements, above which their ratio may be
/// that of the placements.
const ELSEWHERE: f64 = 0.25;

/// `at other vCPU placements` for a sentence that divides two results; empty if their CPUs were alike
/// or are not known.
pub fn other_placements(a: &Measurement, b: &Measurement) -> &'static str {
    let share = |m: &Measurement, name: Option<&str>| -> f64 {
        let known = m.cpu_placements.iter().filter(|p| p.is_known());
        known.filter(|p| name.is_none_or(|name| p.name == name)).map(|p| p.share).sum()
    };
    let all = [a, b].map(|m| share(m, None));
    if all.iter().any(|share| *share <= 0.0) {
        return "";
    }
    let places = a.cpu_placements.iter().filter(|p| p.is_known());
    let in_both = places.map(|p| {
        let name = Some(p.name.as_str());
        (share(a, name) / all[0]).min(share(b, name) / all[1])
    });
    if 1.0 - in_both.sum::<f64>() > ELSEWHERE { "at other vCPU placements" } else { "" }
}

pub fn why_no_trials(m: &Measurement) -> String {
    why_missing(m, "summary", &clean(&m.ending.words()))
}

/// The recorded reason why a part is missing, or else `otherwise`.
pub fn why_missing(m: &Measurement, part: &str, otherwise: &str) -> String {
    m.missing.get(part).map_or_else(|| otherwise.to_owned(), |reason| clean(reason))
}

/// The word for figures of several kinds.
pub const MIXED: &str = "figure";

/// The word for headline figures: their kind, if it is the same for all.
pub fn figure_word(mut kinds: impl Iterator<Item = FigureKind>) -> &'static str {
    match kinds.next() {
        Some(first) if kinds.all(|kind| kind == first) => first.as_str(),
        _ => MIXED,
    }
}

/// The word for the headline figures of a workload.
pub fn figure_of(group: &Group) -> &'static str {
    figure_word(group.all.iter().filter_map(|m| Some(m.summary.as_ref()?.headline)))
}

/// Returns true if a value over time had more than one level.
fn several_levels(m: &Measurement) -> bool {
    m.series.as_ref().is_some_and(|s| s.levels.len() > 1 || !s.changes.is_empty())
}

/// The 95 % interval of a measurement's headline. Samples with several levels have none: the value
/// never stayed at their median.
pub fn interval(m: &Measurement) -> Option<[f64; 2]> {
    m.summary.as_ref()?.ci95().filter(|_| !several_levels(m))
}

/// The delivered figure, also where it is the headline; `None` for a clock, which has none. Samples
/// with several levels have no interval.
pub fn delivered(m: &Measurement) -> Option<Figure> {
    let s = m.summary.as_ref()?;
    let exists = m.unit.is_work() || s.headline == FigureKind::Delivered;
    let figure = exists.then(|| s.delivered.clone())?;
    Some(Figure { ci95: figure.ci95.filter(|_| !several_levels(m)), ..figure })
}

pub fn why_no_interval(m: &Measurement) -> String {
    match &m.summary {
        None => why_no_trials(m),
        Some(_) if several_levels(m) => {
            "several levels over time: the median is on one of them or between".to_owned()
        }
        Some(s) => {
            let reason = s.figure(s.headline).missing.as_deref();
            clean(reason.unwrap_or("no reason was recorded"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_is_a_number_keeps_its_name() {
        let phrase = |name: &str, value: &str| parameter_phrase(None, name, &value.into());
        assert_eq!(phrase("fdatasync", "1"), "fdatasync 1");
        assert_eq!(phrase("loops", "3x"), "loops 3x");
        assert_eq!(phrase("engine", "psync"), "psync");
    }
}
