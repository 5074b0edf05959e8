//! Charts of results: lines over an axis, and bars by instruction set.
//!
//! The parameters decide, not the workload's name. A workload names the parameter of the horizontal
//! axis, and has one line per combination of the other parameters. One measured with several
//! instruction sets has bars with their ceilings. A chart with more lines than a reader can follow
//! is split by one of the parameters.

mod across;
mod bars;
mod lines;
mod panels;
pub mod value;
pub mod workloads;

use proofmark_model::{Measurement, key};

pub use self::bars::bars;
pub use self::lines::lines;
pub use self::value::{both_on_axis, mark, mark_at, on_axis};
use super::disk::io_path;
use super::label::{Group, differing_only_in};
use super::num::Scale;
use super::text::enclosed;

/// The parameter that another one decides, so that results along the axis may differ in it too. The
/// queue depth decides the engine, where each depth has one engine.
pub fn follows<'a>(group: &Group<'a>, parameter: &str) -> Option<&'a str> {
    let engine = group.varying.iter().copied().find(|n| key::ENGINE == *n)?;
    let depth = |m: &Measurement| m.params.get(key::QUEUE_DEPTH);
    let one_each = group.all.iter().all(|a| {
        let same = |b: &&&Measurement| depth(a) == depth(b) && io_path(a) == io_path(b);
        group.all.iter().filter(same).all(|b| a.params.named(engine) == b.params.named(engine))
    });
    (key::QUEUE_DEPTH == parameter && one_each).then_some(engine)
}

/// The series of a result along the threads, the streams or the queue depth, sorted by it, and the
/// parameters in which its members differ.
pub fn along<'a>(
    group: &Group<'a>,
    m: &Measurement,
    parameter: &'static str,
) -> (Vec<(u64, &'a Measurement)>, Vec<&'a str>) {
    let mut but = vec![parameter];
    but.extend(follows(group, parameter));
    // The working set is per thread and gets smaller with more threads.
    let by_threads = key::THREADS == parameter;
    but.extend((by_threads && key::WORKING_SET == group.axis).then_some(group.axis));
    let count = |m: &Measurement| match by_threads {
        true => Some(m.params.threads()),
        false => m.params.number(parameter),
    };
    let all = differing_only_in(&group.all, m, &but).into_iter();
    let mut all: Vec<(u64, &Measurement)> = all.filter_map(|m| Some((count(m)?, m))).collect();
    all.sort_by_key(|(count, _)| *count);
    (all, but)
}

/// Measurements that have a place on the vertical axis.
pub fn drawable<'a>(group: &Group<'a>, scale: &Scale) -> Vec<&'a Measurement> {
    let fits =
        |m: &&Measurement| m.summary.as_ref().is_some_and(|s| on_axis(scale, s.value()).is_some());
    group.all.iter().copied().filter(fits).collect()
}

/// The title of a chart: the workload, the values, and the configurations.
pub fn title(group: &Group, what: &str, name: &str) -> String {
    format!("{}: {what}{}", group.heading(), enclosed(" (", name, ")"))
}

/// The parameters of a result that its chart does not name; `figure` without any.
fn line_name(group: &Group, m: &Measurement, named: &[&str]) -> String {
    let name = group.short_without(m, named);
    if name.is_empty() { "figure".to_owned() } else { name }
}
