//! The roofline: what the CPU can compute and what memory and caches can bring, in
//! one picture. Left of a ridge point the bytes are the limit, right of it the CPU.
//!
//! Source: Williams, Waterman and Patterson, "Roofline: An Insightful Visual
//! Performance Model" (CACM 2009). Only valid measurements of this run, all at one
//! number of threads.

use proofmark_model::{Measurement, Property, Run, Summary, Unit, Verdict, Work, format_size};
use serde::Serialize;

use super::declared::giving;
use super::levels::plateaus;
use super::num::Scale;
use super::table::{Cell, Table};
use super::text::{and_list, clean, plural};

/// Bytes of an element whose floating-point operations are declared.
const ELEMENT: f64 = 8.0;
/// Values on an axis beyond which a picture shows nothing.
const AXIS: f64 = 1e7;

/// What an instruction set reaches: a flat roof.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Peak {
    /// Instruction set.
    pub name: String,
    /// Measured, on the picture's scale.
    pub value: f64,
    /// Its ceiling.
    pub ceiling: Option<f64>,
    /// The value with its label.
    pub text: String,
}

/// What a level brings: a slanted roof.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slope {
    /// `L1d`, `memory`.
    pub name: String,
    /// Height at 1 FLOP/B, on the picture's scale.
    pub rate: f64,
    /// The same for its ceiling.
    pub ceiling: Option<f64>,
    /// The bandwidth with its label.
    pub text: String,
    /// How it was measured.
    pub about: String,
}

/// A workload in the picture.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dot {
    /// Its id.
    pub name: String,
    /// FLOP per byte.
    pub x: f64,
    /// FLOP per second, on the picture's scale.
    pub y: f64,
    /// In words.
    pub about: String,
}

/// CPU peaks and memory levels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Roofline {
    /// Title with the number of threads.
    pub title: String,
    /// What a reader would see, in words.
    pub description: String,
    /// Label of the axis of rates.
    pub unit: String,
    /// The highest first.
    pub peaks: Vec<Peak>,
    /// The steepest first: the nearest cache.
    pub slopes: Vec<Slope>,
    /// Workloads of this run.
    pub dots: Vec<Dot>,
    /// Bandwidths and ridge points.
    pub table: Table,
    /// What the picture says.
    pub sentence: String,
}

/// The roofline of a run that has both parts of it at all its CPUs, or else at one
/// thread; at one thread too where only that was measured within the caches.
pub fn draw(run: &Run) -> Option<Roofline> {
    let all = at(run, run.host.limits.usable_cpus.len() as u64);
    let one = at(run, 1);
    let levels = |r: &Option<Roofline>| r.as_ref().map_or(0, |r| r.slopes.len());
    if levels(&all) < 2 && levels(&one) > levels(&all) { one } else { all }
}

/// A measurement and its median.
type Best<'a> = (&'a Measurement, &'a Summary);

fn at(run: &Run, threads: u64) -> Option<Roofline> {
    let peaks = peaks(run, threads);
    let top = peaks.first()?.1.value();
    let scale = Scale::for_largest([top], Unit::FlopPerSecond);
    let memory = memory(run, threads);
    let (_, dram) = *memory.first()?;
    let mut levels: Vec<(String, Best, String)> = caches(run, threads);
    levels.push(("memory".to_owned(), dram, clean(&dram.0.workload)));
    let drawn = |v: f64| Some(scale.scaled(v)).filter(|v| *v > 1.0 / AXIS && *v < AXIS);
    let bandwidth = |v: f64| Scale::for_largest([v], Unit::BytePerSecond).with_label(v);
    let slopes: Vec<Slope> = levels
        .iter()
        .filter_map(|(name, (m, s), about)| {
            Some(Slope {
                name: name.clone(),
                rate: drawn(s.value())?,
                ceiling: m.ceiling.as_ref().and_then(|c| drawn(c.value)),
                text: bandwidth(s.value())?,
                about: about.clone(),
            })
        })
        .collect();
    let roofs: Vec<Peak> = peaks
        .iter()
        .filter_map(|(m, s)| {
            Some(Peak {
                name: clean(m.params.text("isa").unwrap_or("f64")),
                value: drawn(s.value())?,
                ceiling: m.ceiling.as_ref().and_then(|c| drawn(c.value)),
                text: scale.with_label(s.value())?,
            })
        })
        .collect();
    if roofs.is_empty() || slopes.is_empty() {
        return None;
    }
    let dots: Vec<Dot> =
        memory.iter().filter_map(|(work, best)| dot(work, *best, &scale)).collect();
    let with = plural(threads, "thread");
    Some(Roofline {
        title: format!("Roofline, f64, {with}"),
        description: describe(&roofs, &slopes, &dots),
        unit: scale.label().to_owned(),
        table: table(&roofs, &slopes, &with),
        sentence: sentence(&roofs, &slopes, &dots),
        peaks: roofs,
        slopes,
        dots,
    })
}

/// The workloads that give a property, each with its valid measurements at so many threads and
/// their medians.
fn valid(run: &Run, property: Property, threads: u64) -> Vec<(&Work, Vec<Best<'_>>)> {
    let of = |id: &str| {
        run.measurements
            .iter()
            .filter(|m| m.workload == id && m.params.threads() == threads)
            .filter(|m| m.verdict == Verdict::Valid)
            .filter_map(|m| Some((m, m.summary.as_ref()?)))
            .filter(|(_, s)| s.value().is_finite() && s.value() > 0.0)
            .collect()
    };
    giving(run, property).into_iter().map(|(id, spec)| (&spec.work, of(id))).collect()
}

fn largest<'a>(all: Vec<Best<'a>>) -> Option<Best<'a>> {
    all.into_iter().max_by(|a, b| a.1.value().total_cmp(&b.1.value()))
}

/// The best of each instruction set, the highest first.
fn peaks(run: &Run, threads: u64) -> Vec<Best<'_>> {
    let all = valid(run, Property::PeakFlops, threads);
    let mut all: Vec<Best> = all.into_iter().flat_map(|(_, all)| all).collect();
    all.retain(|(m, _)| m.unit == Unit::FlopPerSecond && m.params.text("type") == Some("f64"));
    all.sort_by(|a, b| b.1.value().total_cmp(&a.1.value()));
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|(m, _)| seen.insert(m.params.text("isa")));
    all
}

/// What memory brings: the best of each workload that says so, the one to go by first.
fn memory(run: &Run, threads: u64) -> Vec<(&Work, Best<'_>)> {
    let all = valid(run, Property::MemoryBandwidth, threads).into_iter();
    all.filter_map(|(work, mut all)| {
        all.retain(|(m, _)| m.unit == Unit::BytePerSecond);
        Some((work, largest(all)?))
    })
    .collect()
}

/// What each cache level brings to loads, the nearest first.
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
            let same = |(m, _): &Best| m.params.int("working_set") == Some(p.set);
            let best = largest(all.iter().copied().filter(same).collect())?;
            let id = clean(&best.0.workload);
            let about = format!("{id}, read, {} per thread", format_size(p.set));
            Some((p.level?.to_owned(), best, about))
        })
        .collect()
}

/// A workload that computes on what it moves.
fn dot(work: &Work, (m, s): Best, scale: &Scale) -> Option<Dot> {
    let traffic = work.traffic(&m.params).filter(|t| t.flops > 0.0 && t.counted() > 0.0)?;
    let (flops, bytes) = (traffic.flops, ELEMENT * traffic.counted());
    let (name, x) = (clean(&m.workload), flops / bytes);
    let text = scale.with_label(s.value() * x)?;
    let about = format!("{name}: {text} at {x:.3} FLOP/B ({flops} FLOP for {bytes} B counted)");
    Some(Dot { x, y: scale.scaled(s.value() * x), about, name })
}

/// FLOP per byte at which a roof meets a slope.
fn ridge(peak: &Peak, slope: &Slope) -> String {
    let x = peak.value / slope.rate;
    if x >= 10.0 { format!("{x:.1}") } else { format!("{x:.2}") }
}

fn table(peaks: &[Peak], slopes: &[Slope], with: &str) -> Table {
    let mut table = Table::new(format!("Bandwidths and ridge points with {with}"))
        .column("level")
        .number("bandwidth");
    table.keys = 1;
    for p in peaks {
        let meaning = format!(
            "Ridge point: from this intensity on, the level no longer limits the peak of {}.",
            p.text
        );
        table = table.measured(p.name.clone(), "FLOP/B").explained(&p.name, &meaning);
    }
    for s in slopes {
        let note = Some(table.note(format!("measured by {}", s.about)));
        let mut cells = vec![Cell::text(&s.name), Cell { note, ..Cell::text(&s.text) }];
        cells.extend(peaks.iter().map(|p| Cell::text(ridge(p, s))));
        table.push(cells);
    }
    table
}

fn sentence(peaks: &[Peak], slopes: &[Slope], dots: &[Dot]) -> String {
    let (Some(peak), Some(memory)) = (peaks.first(), slopes.last()) else { return String::new() };
    let mut text = format!(
        "With data from memory, a workload needs {} FLOP per byte to reach the {} peak of {}.",
        ridge(peak, memory),
        peak.name,
        peak.text
    );
    for d in dots {
        let share = super::num::percent(d.y / peak.value).unwrap_or_default();
        text.push_str(&format!(" {}, which is {share} % of that.", d.about));
    }
    text
}

fn describe(peaks: &[Peak], slopes: &[Slope], dots: &[Dot]) -> String {
    let roofs: Vec<String> = peaks.iter().map(|p| format!("{} {}", p.name, p.text)).collect();
    let levels: Vec<String> = slopes.iter().map(|s| format!("{} {}", s.name, s.text)).collect();
    let dots: Vec<String> = dots.iter().map(|d| format!(" {}.", d.about)).collect();
    format!(
        "Computing rate over FLOP per byte, both logarithmic. Flat roofs: {}. Slanted roofs: {}.{}",
        and_list(&roofs),
        and_list(&levels),
        dots.concat()
    )
}
