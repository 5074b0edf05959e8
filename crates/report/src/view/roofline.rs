//! The roofline: CPU peaks and the bandwidths of memory and caches in one picture. Left of a ridge
//! point the bandwidth is the limit, right of it the CPU.
//!
//! Source: Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model"
//! (CACM 2009). Only results of this run that no check doubts, all at one number of threads.

use proofmark_model::{Measurement, Property, Run, Summary, Unit, Work, format_size, key, word};
use serde::Serialize;

use super::chart::{AXIS, Axis, Chart, Kind, Mark, Series, Spot};
use super::columns::{Columns, Entry};
use super::declared::giving;
use super::levels::plateaus;
use super::num::{Scale, ends, percentage};
use super::table::Table;
use super::text::{and_list, clean, counted};

/// Bytes of an element whose floating-point operations are declared.
const ELEMENT: f64 = 8.0;

/// FLOP per byte that every picture shows; the range includes STREAM's workloads.
const ALWAYS: [f64; 2] = [0.05, 20.0];

/// The peak of an instruction set, or the bandwidth of a level at 1 FLOP/B, on the picture's scale.
struct Roof {
    name: String,
    value: f64,
    ceiling: Option<f64>,
    text: String,
    /// The measurement of the roof; empty for an instruction set.
    about: String,
}

/// CPU peaks and memory levels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Roofline {
    /// Levels as lines, instruction sets as roofs, workloads of this run as crosses.
    pub chart: Chart,
    /// Bandwidths and ridge points, a row per level.
    pub table: Table,
    /// The picture in a sentence.
    pub sentence: String,
}

/// Draws the roofline at all usable CPUs, or at one thread if only that has both kinds of roofs or
/// several levels.
pub fn draw(run: &Run) -> Option<Roofline> {
    let all = for_threads(run, run.host.limits.usable_cpus.len() as u64);
    let one = for_threads(run, 1);
    let levels = |r: &Option<Roofline>| r.as_ref().map_or(0, |r| r.table.rows.len());
    if levels(&all) < 2 && levels(&one) > levels(&all) { one } else { all }
}

/// A measurement and its median.
type Best<'a> = (&'a Measurement, &'a Summary);

fn for_threads(run: &Run, threads: u64) -> Option<Roofline> {
    let peaks = peaks(run, threads);
    let scale = Scale::for_largest([peaks.first()?.1.value()], Unit::FlopPerSecond);
    let memory = memory(run, threads);
    let (_, dram) = *memory.first()?;
    let mut levels: Vec<(String, Best, String)> = caches(run, threads);
    levels.push(("memory".to_owned(), dram, clean(&dram.0.workload)));
    let roof = |name: String, (m, s): Best, scale_of_text: &Scale, about: String| {
        let drawn = |v: f64| Some(scale.scaled(v)).filter(|v| *v > 1.0 / AXIS && *v < AXIS);
        let ceiling = m.ceiling.as_ref().and_then(|c| drawn(c.value));
        let text = scale_of_text.with_label(s.value())?;
        Some(Roof { name, value: drawn(s.value())?, ceiling, text, about })
    };
    // The nearest cache comes first: its slope is the steepest.
    let slopes = levels.into_iter().filter_map(|(name, best, about)| {
        roof(name, best, &Scale::for_largest([best.1.value()], Unit::BytePerSecond), about)
    });
    let peaks = peaks.into_iter().filter_map(|best| {
        let name = clean(best.0.params.get(key::ISA).unwrap_or("f64"));
        roof(name, best, &scale, String::new())
    });
    let [slopes, peaks]: [Vec<Roof>; 2] = [slopes.collect(), peaks.collect()];
    if peaks.is_empty() || slopes.is_empty() {
        return None;
    }
    let dots: Vec<Spot> =
        memory.iter().filter_map(|(work, best)| dot(work, *best, &scale)).collect();
    let with = counted(threads, "thread");
    Some(Roofline {
        table: table(&peaks, &slopes, &with),
        sentence: sentence(&peaks[0], &slopes[slopes.len() - 1], &dots),
        chart: chart(format!("Roofline, f64, {with}"), scale.label(), &peaks, &slopes, dots),
    })
}

/// Draws slanted roofs up to the highest flat one, and flat roofs from where the steepest slope
/// meets them.
fn chart(title: String, unit: &str, peaks: &[Roof], slopes: &[Roof], dots: Vec<Spot>) -> Chart {
    let [[lowest, top], [flattest, steepest]] =
        [peaks, slopes].map(|roofs| ends(roofs.iter().map(|r| r.value)));
    let ridges = [lowest / steepest * 0.5, top / flattest * 8.0];
    let across = ALWAYS.into_iter().chain(ridges).chain(dots.iter().map(|d| d.at));
    let x = Axis::log("FLOP per byte", across);
    let [left, right] = x.ends;
    let floor = flattest * left;
    let slanted = |rate: f64| {
        let low = (floor / rate).max(left);
        [low, (top / rate).clamp(low, right)].map(|x| [x, x * rate]).to_vec()
    };
    let slope = |s: &Roof| {
        let line = slanted(s.value);
        let about = format!("{}: {} ({})", s.name, s.text, s.about);
        let mark = Mark { value: line[1][1], about, ..Mark::default() };
        Series {
            name: format!("{}: {}", s.name, s.text),
            spots: vec![Spot { at: line[1][0], mark, ..Spot::default() }],
            ceiling: s.ceiling.filter(|c| *c > 0.0).map(slanted).unwrap_or_default(),
            line,
            ..Series::default()
        }
    };
    let flat = |p: &Roof| {
        let line = |value: f64| vec![[(p.value / steepest).max(left), value], [right, value]];
        let ceiling = p.ceiling.map(line).unwrap_or_default();
        let name = format!("{} {}", p.name, p.text);
        Series { name, kind: Kind::Roof, line: line(p.value), ceiling, ..Series::default() }
    };
    let description = describe(peaks, slopes, &dots);
    let crosses = Series { kind: Kind::Cross, spots: dots, ..Series::default() };
    let roofs = slopes.iter().map(slope).chain(peaks.iter().map(flat));
    let series = std::iter::once(crosses).chain(roofs).collect();
    Chart { description, ..Chart::new(title, x, [unit, "FLOP per byte"], true, series) }
}

/// The workloads that give a property, each with its undoubted measurements on that many threads.
fn valid(run: &Run, property: Property, threads: u64) -> Vec<(&Work, Vec<Best<'_>>)> {
    let of = |id: &str| {
        run.measurements
            .iter()
            .filter(|m| m.workload == id && m.params.threads() == threads)
            .filter(|m| m.verdict.is_undoubted())
            .filter_map(|m| Some((m, m.summary.as_ref()?)))
            .filter(|(_, s)| s.value().is_finite() && s.value() > 0.0)
            .collect()
    };
    giving(run, property).into_iter().map(|(id, spec)| (&spec.work, of(id))).collect()
}

fn largest<'a>(all: Vec<Best<'a>>) -> Option<Best<'a>> {
    all.into_iter().max_by(|a, b| a.1.value().total_cmp(&b.1.value()))
}

/// The best result of each instruction set, the highest first.
fn peaks(run: &Run, threads: u64) -> Vec<Best<'_>> {
    let all = valid(run, Property::PeakFlops, threads);
    let mut all: Vec<Best> = all.into_iter().flat_map(|(_, all)| all).collect();
    all.retain(|(m, _)| {
        m.unit == Unit::FlopPerSecond && m.params.get(key::NUMBER_TYPE) == Some(word::F64)
    });
    all.sort_by(|a, b| b.1.value().total_cmp(&a.1.value()));
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|(m, _)| seen.insert(m.params.get(key::ISA)));
    all
}

/// The memory bandwidth: the best result of each workload that gives it, the preferred one first.
fn memory(run: &Run, threads: u64) -> Vec<(&Work, Best<'_>)> {
    let all = valid(run, Property::MemoryBandwidth, threads).into_iter();
    all.filter_map(|(work, mut all)| {
        all.retain(|(m, _)| m.unit == Unit::BytePerSecond);
        Some((work, largest(all)?))
    })
    .collect()
}

/// The read bandwidth of each cache level, the nearest first.
fn caches(run: &Run, threads: u64) -> Vec<(String, Best<'_>, String)> {
    let loads = |(work, mut all): (&Work, Vec<_>)| {
        let reads = |m: &Measurement| work.traffic(&m.params).is_some_and(|t| t.written == 0.0);
        all.retain(|(m, _): &Best| reads(m) && m.unit == Unit::BytePerSecond);
        all
    };
    let all = valid(run, Property::LevelBandwidth, threads);
    let all: Vec<Best> = all.into_iter().flat_map(loads).collect();
    let members: Vec<&Measurement> = all.iter().map(|(m, _)| *m).collect();
    plateaus(run, &members)
        .into_iter()
        .filter_map(|p| {
            let same = |(m, _): &Best| m.params.get(key::WORKING_SET) == Some(p.set);
            let best = largest(all.iter().copied().filter(same).collect())?;
            let id = clean(&best.0.workload);
            let about = format!("{id}, read, {} per thread", format_size(p.set));
            Some((p.level?.to_owned(), best, about))
        })
        .collect()
}

/// A workload that computes on the data that it moves.
fn dot(work: &Work, (m, s): Best, scale: &Scale) -> Option<Spot> {
    let traffic = work.traffic(&m.params).filter(|t| t.flops > 0.0 && t.counted() > 0.0)?;
    let (flops, bytes) = (traffic.flops, ELEMENT * traffic.counted());
    let (label, x) = (clean(&m.workload), flops / bytes);
    let text = scale.with_label(s.value() * x)?;
    let about = format!("{label}: {text} at {x:.3} FLOP/B ({flops} FLOP for {bytes} B counted)");
    let mark = Mark { value: scale.scaled(s.value() * x), about, ..Mark::default() };
    Some(Spot { at: x, label, mark, ..Spot::default() })
}

/// FLOP per byte at which a roof meets a slope.
fn ridge(peak: &Roof, slope: &Roof) -> String {
    let x = peak.value / slope.value;
    if x >= 10.0 { format!("{x:.1}") } else { format!("{x:.2}") }
}

fn table(peaks: &[Roof], slopes: &[Roof], with: &str) -> Table {
    let table = Columns::new(format!("Bandwidths and ridge points with {with}"))
        .column("level", |s: &&Roof| s.name.clone())
        .keys()
        .number("bandwidth", |s| {
            Entry::from(s.text.clone()).noted(format!("measured by {}", s.about))
        });
    let with_ridges = peaks.iter().fold(table, |table, p| {
        let meaning = format!(
            "Ridge point: from this intensity on, the level does not limit the peak of {}.",
            p.text
        );
        table.measured(&p.name, "FLOP/B", move |s| ridge(p, s)).explained(&p.name, &meaning)
    });
    with_ridges.rows(slopes)
}

fn sentence(peak: &Roof, memory: &Roof, dots: &[Spot]) -> String {
    let mut text = format!(
        "With data from memory, a workload needs {} FLOP per byte to reach the {} peak of {}.",
        ridge(peak, memory),
        peak.name,
        peak.text
    );
    for d in dots {
        let share = percentage(d.mark.value / peak.value).unwrap_or_default();
        text.push_str(&format!(" {}, which is {share} of that.", d.mark.about));
    }
    text
}

fn describe(peaks: &[Roof], slopes: &[Roof], dots: &[Spot]) -> String {
    let named = |all: &[Roof]| all.iter().map(|r| format!("{} {}", r.name, r.text)).collect();
    let [roofs, levels]: [Vec<String>; 2] = [named(peaks), named(slopes)];
    let dots: Vec<String> = dots.iter().map(|d| format!(" {}.", d.mark.about)).collect();
    format!(
        "Computing rate over FLOP per byte, both logarithmic. Flat roofs: {}. Slanted roofs: {}.{}",
        and_list(&roofs),
        and_list(&levels),
        dots.concat()
    )
}
