//! A short summary for a ticket or a chat.

use proofmark_model::{FigureKind, Run, Verdict};

use crate::view::{
    ScreenPart, ScreenRow, Summary, View, joined, severity_mark, stop, verdict_mark,
};
use crate::{Options, RenderError};

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    Ok(write(&View::from_run(run).summary))
}

/// Writes the machine, the verdicts, a line per subsystem, and the causes.
pub fn write(summary: &Summary) -> String {
    let mut lines = vec![summary.title.clone(), summary.trust.sentence.clone()];
    lines.extend(summary.first.got.clone());
    lines.extend(summary.trust.stopped.clone());
    lines.extend(summary.first.parts.iter().map(part));
    lines.extend(summary.trust.time.clone());
    lines.extend(summary.first.causes.iter().map(|c| {
        let mark = severity_mark(c.severity);
        format!("{mark} {} at {}: {}", c.check, c.place, c.sentence)
    }));
    lines.push(format!("{} {}", summary.measured, summary.identity));
    lines.join("\n") + "\n"
}

/// `Disk (vda, ext4): Random read 4 KiB, depth 32: 73629 IOPS, p99 310 us; ...`
fn part(part: &ScreenPart) -> String {
    let about = match part.about.as_str() {
        "" => String::new(),
        about => format!(" ({about})"),
    };
    let rows: Vec<String> = part.rows.iter().map(row).collect();
    stop(&format!("{}{about}: {}", part.title, rows.join("; ")))
}

fn row(r: &ScreenRow) -> String {
    let name = r.name();
    let doubt = match r.verdict {
        Verdict::Valid => "",
        verdict => verdict_mark(verdict),
    };
    let Some(value) = &r.value else {
        let why = if r.why_none.is_empty() { "not measured" } else { &r.why_none };
        let got = r.delivered_with_unit().map_or_else(String::new, |d| format!("; delivered {d}"));
        return format!("{name}: no figure ({why}{got})");
    };
    let kind = if r.kind == FigureKind::Delivered { "" } else { r.kind.as_str() };
    let within = r.within.as_ref().map_or_else(String::new, |w| format!("± {w}"));
    let figure = joined([kind, value, &r.unit, &within], " ");
    let near = r.near.as_ref().map(|n| format!("{} % of {}", n.percent, n.word));
    let times = r.percentiles.as_ref().filter(|[_, p99]| p99 != "-");
    let tail = if r.disturbed_tail.is_some() { " (may be disturbed)" } else { "" };
    let times = times.map(|[p50, p99]| format!("p50 {p50}, p99 {p99}{tail}"));
    let got = r.delivered.as_ref().filter(|d| *d != value).map(|d| format!("delivered {d}"));
    let doubt = (!doubt.is_empty()).then(|| doubt.to_owned());
    let more: Vec<String> = [near, times, got, doubt].into_iter().flatten().collect();
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
    format!("{name}: {figure}{more}")
}
