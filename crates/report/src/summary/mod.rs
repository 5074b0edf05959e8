//! A short summary for a ticket or a chat.

use proofmark_model::{FigureKind, Run, Verdict};

use crate::view::{
    ScreenPart, ScreenRow, Summary, View, counted, joined, severity_mark, verdict_mark,
};
use crate::{Options, RenderError};

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    Ok(write(&View::from_run(run).summary))
}

/// Writes the machine, the verdicts, the results of each subsystem, one a line, and the causes.
pub fn write(summary: &Summary) -> String {
    let mut lines = vec![summary.title.clone(), summary.trust.sentence.clone()];
    let notes = |all: &[String]| (!all.is_empty()).then(|| all.join(" "));
    lines.extend(notes(&summary.first.notes.above));
    lines.extend(summary.trust.stopped.clone());
    lines.extend(summary.first.parts.iter().flat_map(part));
    lines.extend(notes(&summary.first.notes.below));
    lines.extend(summary.first.causes.iter().map(|c| {
        let mark = severity_mark(c.severity);
        format!("{mark} {} at {}: {}", c.check, c.place, c.sentence)
    }));
    if summary.first.more > 0 {
        let more = counted(summary.first.more as u64, "more finding");
        lines.push(format!("{more}: proofmark report RUN --all"));
    }
    lines.push(format!("{} {}", summary.measured, summary.identity));
    lines.join("\n") + "\n"
}

/// `Disk (vda, ext4):`, then its results.
fn part(part: &ScreenPart) -> Vec<String> {
    let about = match part.about.as_str() {
        "" => String::new(),
        about => format!(" ({about})"),
    };
    let title = format!("{}{about}:", part.title);
    [title].into_iter().chain(part.rows.iter().map(row)).collect()
}

/// `- Random read, 4 KiB, depth 32: 73629 IOPS ± 4.0 % (70100–76000); p50 180 us, p99 310 us`
fn row(r: &ScreenRow) -> String {
    let name = r.name();
    let doubt = match r.verdict {
        Verdict::Valid => "",
        verdict => verdict_mark(verdict),
    };
    let Some(value) = &r.value else {
        let why = if r.why_none.is_empty() { "not measured" } else { &r.why_none };
        let got = r.delivered_with_unit().map_or_else(String::new, |d| format!("; delivered {d}"));
        return format!("- {name}: no figure ({why}{got})");
    };
    let kind = if r.kind == FigureKind::Delivered { "" } else { r.kind.as_str() };
    let within = r.within.as_ref().map_or_else(String::new, |w| format!("± {w}"));
    let interval = r.delivered_interval.as_ref().map(|ends| format!("({ends})"));
    let interval = interval.unwrap_or_default();
    let figure = joined([kind, value, &r.unit, &within], " ");
    // The interval is that of delivered.
    let (figure, delivered) = match &r.delivered {
        Some(d) => (figure, Some(joined(["delivered", d, &interval], " "))),
        None if r.kind == FigureKind::Delivered => (joined([&figure, &interval], " "), None),
        None => (figure, None),
    };
    let near = r.near.as_ref().map(|n| format!("{} % of {}", n.percent, n.word));
    let loss = r.loss.as_ref().map(|share| format!("lost {share}"));
    let times = r.percentiles.as_ref().filter(|[_, p99]| p99 != "-");
    let tail = if r.has_disturbed_tail { " (may be disturbed)" } else { "" };
    let times = times.map(|[p50, p99]| format!("p50 {p50}, p99 {p99}{tail}"));
    let doubt = (!doubt.is_empty()).then(|| doubt.to_owned());
    let all = [Some(figure), delivered, loss, near, times, doubt].into_iter().flatten();
    format!("- {name}: {}", joined(all, "; "))
}
