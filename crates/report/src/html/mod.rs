//! One page that needs nothing else: no network, no script to be read, light and
//! dark as the reader has it, for wide and narrow screens and for paper.
//!
//! The templates escape every text of the run; only the style sheet, the script and
//! the charts, which escape their own texts, go in as they are.

pub(crate) mod chart;
mod first;
mod part;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use proofmark_model::{Run, Severity, Verdict};

use self::chart::{Figure, Layout};
use crate::view::{Chart, Timeline, View, WorkloadView, severity_mark, verdict_mark};
use crate::{Options, RenderError, markdown, summary};

/// What every page is made of.
const SHARED: [(&str, &str); 2] = [
    ("base.html", include_str!("page/base.html")),
    ("parts.html", include_str!("page/parts.html")),
];

const TEMPLATES: [(&str, &str); 8] = [
    ("page.html", include_str!("page/page.html")),
    ("first.html", include_str!("page/first.html")),
    ("contents.html", include_str!("page/contents.html")),
    ("part.html", include_str!("page/part.html")),
    ("workload.html", include_str!("page/workload.html")),
    ("roofline.html", include_str!("page/roofline.html")),
    ("noise.html", include_str!("page/noise.html")),
    ("end.html", include_str!("page/end.html")),
];

/// What it looks like, on screen and on paper.
const STYLE: [&str; 3] =
    [include_str!("page/style.css"), include_str!("page/chart.css"), include_str!("page/run.css")];

/// What it can do beyond being read; a script each, which the others do not need.
const SCRIPTS: [&str; 5] = [
    include_str!("page/sort.js"),
    include_str!("page/tip.js"),
    include_str!("page/contents.js"),
    include_str!("page/filter.js"),
    include_str!("page/pass-on.js"),
];

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let mut view = View::from_run(run);
    view.terms.extend(view.terms_of_pairs());
    let charts: Vec<Value> = view.workloads.iter().enumerate().map(charts_of).collect();
    let noise = |id, layout| view.noise.as_ref().map(|p| chart::noise(p, id, layout));
    let portrait = noise("chart-portrait", Layout::BRIEF);
    let noise = noise("chart-noise", Layout::FULL);
    let roofline = view.roofline.as_ref().map(|r| chart::figure(&r.chart, "chart-roofline"));
    let against = chart::all("chart-against", &view.against, chart::bars);
    let context = context! {
        title => view.title.clone(),
        view => Serde(&view),
        strips => Serde(first::strips(&view.first)),
        pictures => Serde(first::pictures(&view)),
        pass_on => context! {
            summary => summary::write(&view),
            markdown => markdown::first(&view),
            json => serde_json::to_string_pretty(&view.first)?,
        },
        parts => Serde(part::all(&view)),
        charts => charts,
        against => Serde(against),
        roofline => Serde(roofline),
        noise => Serde(noise),
        portrait => Serde(portrait),
        style => Value::from_safe_string(STYLE.concat()),
        script => Value::from_safe_string(SCRIPTS.concat()),
    };
    page(&TEMPLATES, context)
}

/// The charts of one workload; and whether any value of its lines or bars has an interval.
fn charts_of((at, workload): (usize, &WorkloadView)) -> Value {
    let id = |name: &str| format!("chart-{at}-{name}");
    // The page says once what the signs of all lines are.
    let line = |c: &Chart, id: &str| Figure { key: String::new(), ..chart::figure(c, id) };
    let timeline = |t: &Timeline, id: &str| chart::figure(&t.chart, id);
    let timed = workload.curves.iter().chain(&workload.distribution);
    let references = &workload.references.charts;
    let mut bars = workload.bars.iter().flat_map(|b| &b.groups).flat_map(|g| &g.bars);
    let has_whiskers = chart::has_whiskers(&workload.lines);
    context! {
        whiskers => has_whiskers || bars.any(|b| b.mark.interval.is_some()),
        timelines => Serde(chart::all(&id("time"), &workload.timelines, timeline)),
        lines => Serde(chart::all(&id("line"), &workload.lines, line)),
        bars => Serde(chart::all(&id("bar"), &workload.bars, chart::bars)),
        latency => Serde(chart::all(&id("latency"), timed, chart::figure)),
        maps => Serde(chart::all(&id("map"), &workload.maps, chart::heat_map)),
        references => Serde(chart::all(&id("reference"), references, chart::bars)),
    }
}

/// A page of the first of these templates and the shared ones; every text is escaped.
pub(crate) fn page(
    templates: &[(&'static str, &'static str)],
    context: Value,
) -> Result<String, RenderError> {
    let mut env = Environment::new();
    env.set_auto_escape_callback(|_| AutoEscape::Html);
    env.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    env.add_filter("mark", mark);
    for (name, source) in SHARED.iter().chain(templates) {
        env.add_template(name, source)?;
    }
    Ok(format!("{}\n", env.get_template(templates[0].0)?.render(context)?.trim()))
}

/// Sign and word of a verdict or a severity.
fn mark(word: &str) -> &'static str {
    let verdict = Verdict::ALL.into_iter().find(|v| v.id() == word);
    match (verdict, word) {
        (Some(verdict), _) => verdict_mark(verdict),
        (None, "note") => severity_mark(Severity::Note),
        _ => "not measured",
    }
}
