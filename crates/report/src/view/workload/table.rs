//! The table of a workload's results, a row per configuration.

use proofmark_model::{FigureKind, Measurement, Unit};

use crate::view::columns::not_finite;
use crate::view::label::{
    Group, MIXED, figure_of, interval, why_missing, why_no_interval, why_no_trials,
};
use crate::view::num::{Scale, percent};
use crate::view::shared_parts::{ceiling, efficiency, keyed, share_of_ceiling, statistic, verdict};
use crate::view::table::Table;
use crate::view::text::clean;
use crate::view::workload_figure::no_headline;
use crate::view::{disk, network, trials};

const MOVED: &str = "The rate of all bytes that the hardware transfers for the figure to its left, \
    including the lines that an ordinary store reads before it overwrites them (write-allocate). The \
    figure counts only the bytes that the program requested, as STREAM does.";

const MOVED_UNKNOWN: &str = "the bytes that this configuration moves are not known";

const LOADED: &str = "The rate at which the other threads read, without the time in which they \
    were off their CPUs: the median over the trials.";

const DEVICE: &str = "What the underlying block devices transferred during the trials, by \
    their own counters, as a share of the bytes requested. At 0 % the page cache served all of it. \
    Above 100 %, the rest is whole sectors, read-ahead, and the file system's own data.";

/// The column of the mean I/Os in flight, which a narrow page leaves out first.
const IN_FLIGHT_TITLE: &str = "in flight";

const IN_FLIGHT: &str = "The mean number of I/Os that each thread had in flight, from right before \
    the submission until the thread saw the completion: rate x mean latency (Little's law).";

const STATISTIC: &str = "The kind of the row's figure. Attainable and typical leave out the time \
    that was taken from the threads. Delivered, all work divided by all time, is shown where too \
    little undisturbed time was seen.";

/// Reason why a clock has no delivered figure.
const NO_WORK: &str =
    "a clock has no delivered figure: it keeps running while other programs use the core";
const NO_REASON: &str = "no reason was recorded";

/// The results against their ceilings.
pub fn build(group: &Group, scale: &Scale) -> Table {
    let loads = group.all.iter().filter_map(|m| trials::background(m));
    let loads = Scale::for_largest(loads, Unit::BytePerSecond);
    let bounded = group.all.iter().any(|m| m.ceiling.is_some());
    let figure = figure_of(group);
    let mixed = figure == MIXED;
    let against = if bounded { " against its ceiling" } else { "" };
    // These tables have more columns than a terminal is wide.
    let wide = |m: &&Measurement| m.subsystem.info().uses_system_calls;
    let wide = u8::from(group.all.iter().any(wide));
    let mut table = keyed(group, &format!("{figure}{against}"))
        .measured(figure, scale.label(), |m: &&Measurement| match &m.summary {
            None => Err(why_no_trials(m)),
            Some(s) => {
                scale.number(s.value()).ok_or_else(|| no_headline(s).unwrap_or_else(not_finite))
            }
        })
        // Next to its figure: delivered has another.
        .measured("95 % interval", scale.label(), |m| {
            interval(m).and_then(|i| scale.tight_interval(i)).ok_or_else(|| why_no_interval(m))
        })
        .spare(3 * wide);
    if mixed {
        table = table.column("statistic", |m| statistic(m)).explained("statistic", STATISTIC);
    }
    if group.all.iter().any(|m| trials::moved(m).is_some()) {
        // Next to the figure whose bytes it counts, since delivered may be greater.
        table = table
            .measured("moved", scale.label(), |m| {
                trials::moved(m).and_then(|v| scale.number(v)).ok_or_else(|| match &m.summary {
                    None => why_no_trials(m),
                    Some(s) => no_headline(s).unwrap_or_else(|| MOVED_UNKNOWN.to_owned()),
                })
            })
            .explained("moved", MOVED);
    }
    for kind in [FigureKind::Attainable, FigureKind::Delivered] {
        if group.all.iter().any(|m| has_other_figure(m, kind)) {
            table = table.measured(kind.as_str(), scale.label(), move |m| {
                other_figure(m, kind).and_then(|v| scale.number(v).ok_or_else(not_finite))
            });
        }
    }
    // Over time the figure itself is in that unit.
    let is_new = |column: &ExtraColumn| column.title != scale.label();
    for column in extra_columns(&loads).into_iter().filter(is_new) {
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
        table = if title == IN_FLIGHT_TITLE { table.spare(2) } else { table };
        table = if about.is_empty() { table } else { table.explained(title, about) };
    }
    table
        .when(bounded, |table| {
            table
                .measured("ceiling", scale.label(), |m| ceiling(m, |v| scale.number(v)))
                .spare(4)
                .measured("of ceiling", "%", |m| share_of_ceiling(m, efficiency(m)))
                .spare(wide)
        })
        .column("verdict", |m| verdict(group, m))
        .rows(group.all.iter().copied())
}

/// Reads the cell of a column from a measurement.
type Read<'a> = Box<dyn Fn(&Measurement) -> Option<String> + 'a>;

/// A further column after the figures. `about` is its meaning where the title does not give it,
/// `why_none` the reason for missing values.
struct ExtraColumn<'a> {
    title: &'static str,
    unit: String,
    about: &'static str,
    why_none: &'static str,
    value: Read<'a>,
}

fn extra_columns(loads: &Scale) -> [ExtraColumn<'_>; 5] {
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
            why_none: "the system did not count the devices' bytes",
            value: Box::new(|m| percent(disk::device_share(m)?)),
        },
        ExtraColumn {
            title: IN_FLIGHT_TITLE,
            unit: "I/Os".to_owned(),
            about: IN_FLIGHT,
            why_none: "the configuration has no queue, or not each I/O was timed",
            value: Box::new(|m| m.in_flight().map(|mean| format!("{mean:.2}"))),
        },
        ExtraColumn {
            title: "lost",
            unit: percentage(),
            about: "",
            why_none: "no datagrams were sent",
            value: Box::new(|m| percent(network::loss(m)?)),
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

/// Returns true if a result has that figure in addition to its headline.
fn has_other_figure(m: &Measurement, kind: FigureKind) -> bool {
    let other = m.summary.as_ref().filter(|s| s.headline != kind);
    other.is_some_and(|s| s.figure(kind).value.is_some())
}

/// A figure of a result, whether headline or not, or the reason why there is none.
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
