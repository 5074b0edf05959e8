//! One page that needs nothing else: no network, no script to be read, light and
//! dark as the reader has it, for wide and narrow screens and for paper.
//!
//! The templates escape every text of the run; only the style sheet, the script and
//! the charts, which escape their own texts, go in as they are.

mod chart;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use proofmark_model::{Run, Severity, Verdict};
use serde::Serialize;

use self::chart::Chart;
use crate::view::{KernelView, View, severity_mark, verdict_mark};
use crate::{Format, Options, RenderError};

const TEMPLATES: [(&str, &str); 5] = [
    ("page.html", include_str!("page/page.html")),
    ("parts.html", include_str!("page/parts.html")),
    ("kernel.html", include_str!("page/kernel.html")),
    ("roofline.html", include_str!("page/roofline.html")),
    ("end.html", include_str!("page/end.html")),
];

/// Findings that the first screen shows.
const WORST: usize = 4;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct Html;

impl Format for Html {
    fn id(&self) -> &'static str {
        "html"
    }

    fn file(&self) -> Option<&'static str> {
        Some("report.html")
    }

    fn about(&self) -> &'static str {
        "One page with charts, tables, derivations and every trial, for a browser."
    }

    fn render(&self, run: &Run, _: &Options) -> Result<String, RenderError> {
        let mut view = View::of(run);
        view.terms.extend(view.terms_of_pairs());
        let charts: Result<Vec<Charts>, RenderError> =
            view.kernels.iter().enumerate().map(|(i, k)| Charts::of(k, i)).collect();
        let roofline = view.roofline.as_ref().map(|r| chart::roofline(r, "chart-roofline"));
        let worst: Vec<_> = view.worst_findings().take(WORST).collect();
        let more = view.worst_findings().count().saturating_sub(WORST);
        let page = environment()?.get_template("page.html")?.render(context! {
            view => Serde(&view),
            worst => Serde(&worst),
            more => more,
            charts => Serde(charts?),
            roofline => Serde(roofline.transpose()?),
            style => Value::from_safe_string(include_str!("page/style.css").to_owned()),
            script => Value::from_safe_string(include_str!("page/sort.js").to_owned()),
        })?;
        Ok(format!("{}\n", page.trim_end()))
    }
}

/// The charts of one kernel.
#[derive(Debug, Serialize)]
struct Charts {
    /// Whether any value of the lines or bars has an interval.
    whiskers: bool,
    lines: Vec<Chart>,
    bars: Vec<Chart>,
    latency: Vec<Chart>,
    references: Vec<Chart>,
}

impl Charts {
    fn of(kernel: &KernelView, at: usize) -> Result<Self, RenderError> {
        let line = |(i, c)| chart::lines(c, &format!("chart-{at}-line-{i}"));
        let bar = |(i, c)| chart::bars(c, &format!("chart-{at}-bar-{i}"));
        let latency = |(i, c)| chart::latency(c, &format!("chart-{at}-latency-{i}"));
        let reference = |(i, c)| chart::references(c, &format!("chart-{at}-reference-{i}"));
        let timed = kernel.curves.iter().chain(&kernel.distribution);
        let spots = kernel.lines.iter().flat_map(|l| &l.series).flat_map(|s| &s.spots);
        let bars = kernel.bars.iter().flat_map(|b| &b.bars);
        let mut marks = spots.map(|s| &s.mark).chain(bars.map(|b| &b.mark));
        Ok(Self {
            whiskers: marks.any(|m| m.interval.is_some()),
            lines: kernel.lines.iter().enumerate().map(line).collect::<Result<_, _>>()?,
            bars: kernel.bars.iter().enumerate().map(bar).collect::<Result<_, _>>()?,
            latency: timed.enumerate().map(latency).collect::<Result<_, _>>()?,
            references: kernel
                .references
                .charts
                .iter()
                .enumerate()
                .map(reference)
                .collect::<Result<_, _>>()?,
        })
    }
}

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut env = Environment::new();
    env.set_auto_escape_callback(|_| AutoEscape::Html);
    env.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    env.add_filter("mark", mark);
    for (name, source) in TEMPLATES {
        env.add_template(name, source)?;
    }
    Ok(env)
}

/// Sign and word of a verdict or a severity.
fn mark(word: &str) -> &'static str {
    match word {
        "valid" => verdict_mark(Verdict::Valid),
        "suspect" => verdict_mark(Verdict::Suspect),
        "invalid" => verdict_mark(Verdict::Invalid),
        "note" => severity_mark(Severity::Note),
        _ => "not measured",
    }
}
