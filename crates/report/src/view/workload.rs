//! One workload's part of a report.

use proofmark_model::{Better, FigureKind, Measurement, Subsystem, Summary, Unit};
use serde::Serialize;

use super::chart::{BarChart, Chart};
use super::derivation::{self, Derivation};
use super::findings::{self, FindingGroup};
use super::headline::{self, Headline};
use super::heat_map::{self, HeatMap};
use super::keyed::{caption, keyed, keys, verdict, why_no_ceiling, why_no_efficiency};
use super::label::{Group, figure_word, interval, why_no_interval, why_no_trials};
use super::latency;
use super::num::{Scale, percent};
use super::references::{self, References};
use super::series;
use super::solves::{self, Solves};
use super::table::{Cell, Table};
use super::text::clean;
use super::timeline::{self, Timeline};
use super::{
    disk, loss, matrix, network, part, placement, published, sentences, traffic, trials, windows,
};

/// Unit of what loads the machine.
const LOAD: Unit = Unit::BytePerSecond;

/// What the column `moved` means.
const MOVED: &str = "The rate of all bytes that the hardware transfers, including the lines that an \
    ordinary store reads before it overwrites them (write-allocate). The figure counts only the \
    bytes that the program requested, as STREAM does.";

/// What the column `load moved` means.
const LOADED: &str = "The rate at which the other threads read at the same time: the median over the \
    trials.";

/// What the column `device` means.
pub const DEVICE: &str = "What the underlying block devices transferred during the trials, by their own \
    counters, as a share of the bytes requested. At 0 % the page cache served all of it. Above \
    100 %, the rest is whole sectors, read-ahead, and the file system's own data.";

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
    pub headline: Headline,
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
        let all = [
            &self.table,
            &self.references.table,
            &self.placements,
            &self.windows,
            &self.latency,
            &self.datagrams,
        ]
        .into_iter();
        all.chain(&self.ends)
            .chain(&self.reciprocal)
            .chain([&self.solves.summary])
            .chain(&self.published)
    }
}

/// Every workload of a run.
pub fn all(groups: &[Group]) -> Vec<WorkloadView> {
    groups.iter().map(view).collect()
}

fn view(group: &Group) -> WorkloadView {
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
        subsystem: part::subsystem(group),
        summary: spec.map_or_else(undeclared, |s| clean(&s.summary)),
        detail: spec.map_or_else(String::new, |s| clean(&s.detail)),
        better: better(group),
        headline: headline::find(group),
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
        placements: placement::table(group, &scale),
        maps: heat_map::draw(group),
        windows: windows::table(group),
        latency: latency::table(group),
        distribution: latency::distribution(group),
        curves: [latency::curves(group, &scale), loss::charts(group)].concat(),
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
    let unit = group
        .all
        .first()
        .map(|m| m.unit)
        .or(group.spec.map(|s| s.unit))
        .unwrap_or(Unit::OpPerSecond);
    let values: Vec<f64> =
        group.all.iter().filter_map(|m| m.summary.as_ref()).map(|s| s.value()).collect();
    match group.all.first() {
        Some(m) => disk::scale(m, &values),
        None => Scale::for_values(&values, unit),
    }
}

/// Which direction is good, in words.
fn better(group: &Group) -> &'static str {
    match group.all.first().map(|m| m.better).or(group.spec.map(|s| s.better)) {
        Some(Better::Lower) => "lower is better",
        _ => "higher is better",
    }
}

fn table(group: &Group, scale: &Scale) -> Table {
    let loads = Scale::for_largest(group.all.iter().filter_map(|m| trials::background(m)), LOAD);
    let extra = extra_columns(group, scale, &loads);
    let bounded = group.all.iter().any(|m| m.ceiling.is_some());
    let against = if bounded { " against its ceiling" } else { "" };
    let kinds = group.all.iter().filter_map(|m| Some(m.summary.as_ref()?.headline));
    let figure = figure_word(kinds);
    let what = format!("{figure}{against}");
    let mut table = keyed(group, caption(group, &what), &[]).measured(figure, scale.label());
    for b in &extra {
        table = table.measured(b.title, b.unit.clone());
        if !b.about.is_empty() {
            table = table.explained(b.title, b.about);
        }
    }
    // These tables have more columns than a terminal is wide.
    let wide = |m: &&Measurement| matches!(m.subsystem, Subsystem::Disk | Subsystem::Network);
    let wide = u8::from(group.all.iter().any(wide));
    table = table.measured("95 % interval", scale.label()).spare(3 * wide);
    if bounded {
        table = table.measured("ceiling", scale.label()).spare(4);
        table = table.measured("of ceiling", "%").spare(wide);
    }
    table = table.column("verdict");
    for m in &group.all {
        let mut cells = keys(group, m, &mut table, &[]);
        let summary = m.summary.as_ref();
        cells.push(table.maybe(value(summary, scale), || match summary {
            None => why_no_trials(m),
            Some(_) => "the figure is not a finite number".to_owned(),
        }));
        for b in &extra {
            cells.push(table.maybe((b.value)(m), || match summary {
                None => why_no_trials(m),
                Some(_) => "not recorded in its trials".to_owned(),
            }));
        }
        let tight = interval(m).and_then(|i| scale.tight_interval(i));
        cells.push(table.maybe(tight, || why_no_interval(m)));
        if bounded {
            let ceiling = m.ceiling.as_ref().and_then(|c| scale.number(c.value));
            cells.push(table.maybe(ceiling, || why_no_ceiling(m)));
            let efficiency = m.efficiency.and_then(percent);
            cells.push(table.maybe(efficiency, || why_no_efficiency(m)));
        }
        cells.push(verdict(group, m, &mut table));
        table.push(cells);
    }
    table
}

/// The text of one measurement's cell.
type Text<'a> = Box<dyn Fn(&Measurement) -> Option<String> + 'a>;

/// A further column after the headline figure.
struct ExtraColumn<'a> {
    title: &'static str,
    unit: String,
    /// What it means; empty where the title says it.
    about: &'static str,
    value: Text<'a>,
}

/// The further columns that any measurement of the workload has a value for.
fn extra_columns<'a>(group: &Group, scale: &'a Scale, loads: &'a Scale) -> Vec<ExtraColumn<'a>> {
    let label = |scale: &Scale| scale.label().to_owned();
    let all = vec![
        ExtraColumn {
            title: "attainable",
            unit: label(scale),
            about: "",
            value: Box::new(|m| beside(m, FigureKind::Attainable).and_then(|v| scale.number(v))),
        },
        ExtraColumn {
            title: "delivered",
            unit: label(scale),
            about: "",
            value: Box::new(|m| beside(m, FigureKind::Delivered).and_then(|v| scale.number(v))),
        },
        ExtraColumn {
            title: "IOPS",
            unit: Unit::OpPerSecond.to_string(),
            about: "",
            value: Box::new(|m| disk::iops(m)?.number(m.summary.as_ref()?.value())),
        },
        ExtraColumn {
            title: "device",
            unit: "%".to_owned(),
            about: DEVICE,
            value: Box::new(|m| disk::device_share(m).and_then(percent)),
        },
        ExtraColumn {
            title: "lost",
            unit: "%".to_owned(),
            about: "",
            value: Box::new(|m| network::loss(m).and_then(percent)),
        },
        ExtraColumn {
            title: "moved",
            unit: label(scale),
            about: MOVED,
            value: Box::new(|m| scale.number(trials::moved(m)?)),
        },
        ExtraColumn {
            title: "load moved",
            unit: label(loads),
            about: LOADED,
            value: Box::new(|m| loads.number(trials::background(m)?)),
        },
    ];
    all.into_iter().filter(|b| group.all.iter().any(|m| (b.value)(m).is_some())).collect()
}

/// A figure that is not the one put first.
fn beside(m: &Measurement, kind: FigureKind) -> Option<f64> {
    let s = m.summary.as_ref()?;
    s.figure(kind).value.filter(|_| s.headline != kind)
}

/// The headline figure as a cell shows it.
pub fn value(summary: Option<&Summary>, scale: &Scale) -> Option<String> {
    summary.and_then(|s| scale.number(s.value()))
}

fn verifications(group: &Group) -> Table {
    let verified = || group.all.iter().filter_map(|m| m.verification.as_ref().map(|w| (m, w)));
    let scale = Scale::amount(verified().map(|(_, w)| w.claimed), trials::verified(group));
    let mut table = keyed(group, caption(group, "verification of the work"), &[])
        .column("verification")
        .measured("claimed", scale.label())
        .measured("counted", scale.label())
        .measured("counted / claimed", "%");
    for (m, w) in verified() {
        let mut cells = keys(group, m, &mut table, &[]);
        let what = table.note(clean(&w.note));
        cells.push(Cell { note: Some(what), ..Cell::text(clean(&w.kind)) });
        for value in [w.claimed, w.counted] {
            cells.push(table.maybe(scale.number(value), || "not a finite number".to_owned()));
        }
        cells
            .push(table.maybe(percent(w.counted / w.claimed), || "no work was claimed".to_owned()));
        table.push(cells);
    }
    table
}
