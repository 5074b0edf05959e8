//! One workload's part of a report.

use proofmark_model::{Better, FigureKind, Measurement, Subsystem, Unit, Verification};
use serde::Serialize;

use super::chart::{BarChart, Chart};
use super::columns::{Entry, not_finite};
use super::derivation::{self, Derivation};
use super::findings::{self, FindingGroup};
use super::heat_map::{self, HeatMap};
use super::keyed::{ceiling, efficiency, keyed, statistic, verdict};
use super::label::{
    Group, MIXED, figure_of, interval, why_missing, why_no_interval, why_no_trials,
};
use super::latency;
use super::num::{Scale, percent};
use super::references::{self, References};
use super::series;
use super::solves::{self, Solves};
use super::table::Table;
use super::text::clean;
use super::timeline::{self, Timeline};
use super::workload_figure::{self, WorkloadFigure};
use super::{disk, matrix, network, published, rounds, sentences, traffic, trials};

const MOVED: &str = "The rate of all bytes that the hardware transfers, including the lines that an \
    ordinary store reads before it overwrites them (write-allocate). The figure counts only the \
    bytes that the program requested, as STREAM does.";

const LOADED: &str = "The rate at which the other threads read at the same time: the median over the \
    trials.";

pub const DEVICE: &str = "What the underlying block devices transferred during the trials, by their own \
    counters, as a share of the bytes requested. At 0 % the page cache served all of it. Above \
    100 %, the rest is whole sectors, read-ahead, and the file system's own data.";

const STATISTIC: &str = "Which figure the row has. Attainable and typical leave out the time that others \
    took; delivered is all work divided by all time, where too little undisturbed time was seen.";

/// Why a clock has no delivered figure.
const NO_WORK: &str = "a clock is no work that is delivered: it runs on while others use the core";
const NO_REASON: &str = "no reason was recorded";

/// Sentences at the end of two declarations that are worth a reference.
const SHARED: usize = 2;

/// One workload's part of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadView {
    /// Id, such as `cpu.flops`.
    pub id: String,
    /// Title, such as `Floating-point peak`.
    pub title: String,
    /// Part of the machine; `None` where the run file does not say.
    pub subsystem: Option<Subsystem>,
    /// One sentence: what is measured.
    pub summary: String,
    /// A paragraph: what runs, what is counted, how it is verified.
    pub detail: String,
    /// `higher is better` or `lower is better`.
    pub better: &'static str,
    /// The number that answers the workload's question.
    pub figure: WorkloadFigure,
    /// Parameters, headline figure, interval, ceiling, efficiency, verdict.
    pub table: Table,
    /// The headline figures of a long table in few lines.
    pub matrix: Option<Table>,
    /// How many trials at which points.
    pub design: String,
    /// What the figures say that no table does.
    pub sentences: Vec<String>,
    /// What came of systems of equations; nothing where none was solved.
    pub solves: Solves,
    /// As published: `Exp 1, Exp 2, ..., Average, Std Dev`, one a combination of the parameters that
    /// name no row; of systems of equations the listing of all solves.
    pub published: Vec<Table>,
    /// The same as time a block, where blocks are so small that this says more.
    pub reciprocal: Vec<Table>,
    /// What became of the value over time, one per configuration that was sampled; empty without any.
    pub timelines: Vec<Timeline>,
    /// Values over the workload's axis, and over the threads.
    pub lines: Vec<Chart>,
    /// Bars by instruction set against their ceiling.
    pub bars: Vec<BarChart>,
    /// Own number against tools that people already trust; empty without one.
    pub references: References,
    /// The figures by vCPU placement; empty where no configuration saw several.
    pub placements: Table,
    /// How far the CPUs are from each other, where all pairs were looked at.
    pub maps: Vec<HeatMap>,
    /// The windows of the rounds, as lines of blocks; empty where nothing was cut.
    pub windows: Table,
    /// Percentiles of single operations; empty without any.
    pub latency: Table,
    /// Their distributions.
    pub distribution: Option<Chart>,
    /// Latency over throughput as the queue gets deeper; loss over the rate offered.
    pub curves: Vec<Chart>,
    /// Datagrams sent, received and lost; empty without any.
    pub datagrams: Table,
    /// What both ends of a network did, tables with rows only.
    pub ends: Vec<Table>,
    /// What the checks found.
    pub findings: Vec<FindingGroup>,
    /// How its ceilings were derived.
    pub derivations: Vec<Derivation>,
    /// Independent verification of the work; empty without any.
    pub verifications: Table,
    /// Every trial.
    pub trials: Table,
}

impl WorkloadView {
    /// The tables that may have columns whose titles do not say what they are.
    pub fn explained(&self) -> impl Iterator<Item = &Table> {
        let rows = [&self.table, &self.references.table, &self.placements, &self.windows];
        let more = [&self.latency, &self.datagrams].into_iter().chain(&self.ends);
        let published = [&self.solves.summary].into_iter().chain(&self.published);
        rows.into_iter().chain(more).chain(&self.reciprocal).chain(published)
    }
}

/// What a report says of one workload.
pub fn view(group: &Group) -> WorkloadView {
    let scale = scale(group);
    let spec = group.spec;
    let undeclared = || "The run file does not hold this workload's declaration.".to_owned();
    let id = group.name();
    // Where the interval decides how many rounds there are, they are among the raw trials alone.
    let in_rounds = group.all.iter().any(|m| m.has_rounds());
    let is_fixed = group.run.plan.policy.is_fixed(group.id);
    let as_published = !group.over_time && (is_fixed || !in_rounds);
    WorkloadView {
        title: group.heading(),
        subsystem: group.subsystem(),
        summary: spec.map_or_else(undeclared, |s| clean(&s.summary)),
        detail: spec.map_or_else(String::new, |s| clean(&s.detail)),
        better: better(group),
        figure: workload_figure::find(group),
        table: table(group, &scale),
        matrix: matrix::build(group, &scale),
        design: sentences::design(group),
        sentences: sentences::write(group, &scale),
        solves: solves::collect(group, &scale),
        published: if as_published { published::tables(group, &scale) } else { Vec::new() },
        reciprocal: published::reciprocal(group),
        timelines: timeline::draw(group, &scale),
        lines: series::lines(group, &scale),
        bars: series::bars(group, &scale),
        references: references::compare(group, &scale),
        placements: rounds::by_placement(group, &scale),
        maps: heat_map::draw(group),
        windows: rounds::table(group),
        latency: latency::table(group),
        distribution: latency::distribution(group),
        curves: [latency::curves(group, &scale), traffic::loss_charts(group)].concat(),
        datagrams: traffic::datagrams(group),
        ends: traffic::ends(group),
        findings: findings::for_workload(group),
        derivations: derivation::for_workload(group, &scale),
        verifications: verifications(group),
        trials: trials::table(group, &scale),
        id,
    }
}

/// The workload's scale: that of its headline figures.
fn scale(group: &Group) -> Scale {
    let values: Vec<f64> =
        group.all.iter().filter_map(|m| m.summary.as_ref()).map(|s| s.value()).collect();
    match group.all.first() {
        Some(m) => disk::scale(m, &values),
        None => Scale::for_values(&values, group.spec.map_or(Unit::OpPerSecond, |s| s.unit)),
    }
}

fn better(group: &Group) -> &'static str {
    match group.all.first().map(|m| m.better).or(group.spec.map(|s| s.better)) {
        Some(Better::Lower) => "lower is better",
        _ => "higher is better",
    }
}

fn table(group: &Group, scale: &Scale) -> Table {
    let loads = group.all.iter().filter_map(|m| trials::background(m));
    let loads = Scale::for_largest(loads, Unit::BytePerSecond);
    let bounded = group.all.iter().any(|m| m.ceiling.is_some());
    let figure = figure_of(group);
    let mixed = figure == MIXED;
    let against = if bounded { " against its ceiling" } else { "" };
    let mut table = keyed(group, &format!("{figure}{against}")).measured(
        figure,
        scale.label(),
        |m: &&Measurement| match &m.summary {
            None => Err(why_no_trials(m)),
            Some(s) => scale.number(s.value()).ok_or_else(|| {
                let why = s.figure(s.headline).missing.clone();
                why.unwrap_or_else(|| "the figure is not a finite number".to_owned())
            }),
        },
    );
    if mixed {
        table = table.column("statistic", |m| statistic(m)).explained("statistic", STATISTIC);
    }
    for kind in [FigureKind::Attainable, FigureKind::Delivered] {
        if group.all.iter().any(|m| is_beside(m, kind)) {
            table = table.measured(kind.as_str(), scale.label(), move |m| {
                other_figure(m, kind).and_then(|v| scale.number(v).ok_or_else(not_finite))
            });
        }
    }
    for column in extra_columns(scale, &loads) {
        let ExtraColumn { title, unit, about, why_none, value } = column;
        if group.all.iter().all(|m| value(m).is_none()) {
            continue;
        }
        table = table.measured(title, &unit, move |m| {
            value(m).ok_or_else(|| match m.summary {
                None => why_no_trials(m),
                Some(_) => why_none.to_owned(),
            })
        });
        table = if about.is_empty() { table } else { table.explained(title, about) };
    }
    // These tables have more columns than a terminal is wide.
    let wide = |m: &&Measurement| m.subsystem.info().uses_system_calls;
    let wide = u8::from(group.all.iter().any(wide));
    table
        .measured("95 % interval", scale.label(), |m| {
            interval(m).and_then(|i| scale.tight_interval(i)).ok_or_else(|| why_no_interval(m))
        })
        .spare(3 * wide)
        .when(bounded, |table| {
            table
                .measured("ceiling", scale.label(), |m| ceiling(m, |v| scale.number(v)))
                .spare(4)
                .measured("of ceiling", "%", |m| efficiency(m))
                .spare(wide)
        })
        .column("verdict", |m| verdict(group, m))
        .rows(group.all.iter().copied())
}

/// What a column shows of a measurement.
type Read<'a> = Box<dyn Fn(&Measurement) -> Option<String> + 'a>;

/// A further column after the figures: title, unit, what it means where the title does not say it,
/// why a measurement has no value, and its value.
struct ExtraColumn<'a> {
    title: &'static str,
    unit: String,
    about: &'static str,
    why_none: &'static str,
    value: Read<'a>,
}

fn extra_columns<'a>(scale: &'a Scale, loads: &'a Scale) -> [ExtraColumn<'a>; 5] {
    let percentage = || "%".to_owned();
    [
        ExtraColumn {
            title: "IOPS",
            unit: Unit::OpPerSecond.to_string(),
            about: "",
            why_none: "the configuration has no block size",
            value: Box::new(|m| disk::iops(m)?.number(m.summary.as_ref()?.value())),
        },
        ExtraColumn {
            title: "device",
            unit: percentage(),
            about: DEVICE,
            why_none: "the system counted no bytes of its devices",
            value: Box::new(|m| percent(disk::device_share(m)?)),
        },
        ExtraColumn {
            title: "lost",
            unit: percentage(),
            about: "",
            why_none: "no datagrams were sent",
            value: Box::new(|m| percent(network::loss(m)?)),
        },
        ExtraColumn {
            title: "moved",
            unit: scale.label().to_owned(),
            about: MOVED,
            why_none: "the bytes that this configuration moves are not known",
            value: Box::new(|m| scale.number(trials::moved(m)?)),
        },
        ExtraColumn {
            title: "load moved",
            unit: loads.label().to_owned(),
            about: LOADED,
            why_none: "no other threads loaded the memory",
            value: Box::new(|m| loads.number(trials::background(m)?)),
        },
    ]
}

/// Whether a result has that figure besides the one put first, or says why a reader will not find it.
fn is_beside(m: &Measurement, kind: FigureKind) -> bool {
    let other = m.summary.as_ref().filter(|s| s.headline != kind);
    other.is_some_and(|s| s.figure(kind).value.is_some())
}

/// A figure of a result, which may be the one put first, or why there is none.
fn other_figure(m: &Measurement, kind: FigureKind) -> Result<f64, String> {
    let summary = m.summary.as_ref().ok_or_else(|| why_no_trials(m))?;
    let figure = summary.figure(kind);
    if kind == FigureKind::Delivered && !m.unit.is_work() && summary.headline != kind {
        return Err(NO_WORK.to_owned());
    }
    figure.value.ok_or_else(|| {
        let why = figure.missing.as_deref().map_or_else(|| NO_REASON.to_owned(), clean);
        why_missing(m, &format!("summary.{}", kind.as_str()), &why)
    })
}

fn verifications(group: &Group) -> Table {
    let verified = || group.all.iter().filter_map(|m| Some((*m, m.verification.as_ref()?)));
    let scale = Scale::amount(verified().map(|(_, w)| w.claimed), trials::verified(group));
    let amount = |value| scale.number(value).ok_or_else(not_finite);
    keyed(group, "verification of the work")
        .column("verification", |(_, w): &(&Measurement, &Verification)| {
            Entry::from(clean(&w.kind)).noted(clean(&w.note))
        })
        .measured("claimed", scale.label(), |(_, w)| amount(w.claimed))
        .measured("counted", scale.label(), |(_, w)| amount(w.counted))
        .measured("counted / claimed", "%", |(_, w)| {
            percent(w.counted / w.claimed).ok_or("no work was claimed")
        })
        .rows(verified())
}

/// Puts a reference to an earlier workload in place of the sentences with which its
/// declaration ends as well.
pub fn refer_to_earlier(workloads: &mut [WorkloadView]) {
    let details: Vec<(String, String)> =
        workloads.iter().map(|k| (k.id.clone(), k.detail.clone())).collect();
    for (at, workload) in workloads.iter_mut().enumerate() {
        let earlier =
            details[..at].iter().find(|(_, other)| shared(other, &workload.detail) >= SHARED);
        if let Some((id, other)) = earlier {
            let all = sentences(&workload.detail);
            let own = all.len() - shared(other, &workload.detail);
            workload.detail = match own {
                0 => format!("As with {id}."),
                _ => format!("{} The rest is as with {id}.", all[..own].join(" ")),
            };
        }
    }
}

fn sentences(text: &str) -> Vec<&str> {
    text.split_inclusive(". ").map(str::trim).collect()
}

/// How many sentences both end with.
fn shared(a: &str, b: &str) -> usize {
    let (a, b) = (sentences(a), sentences(b));
    a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b && !a.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_at_the_end_are_counted() {
        assert_eq!(shared("A b. C d. E.", "X. C d. E."), 2);
        assert_eq!(shared("A b. C d. E.", "A b. C d. F."), 0);
        assert_eq!(shared("", ""), 0);
        assert_eq!(shared("A.", "A."), 1);
    }
}
