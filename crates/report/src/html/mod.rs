//! A self-contained page: it needs no network and no script, and suits light and dark schemes, wide
//! and narrow screens, and paper.
//!
//! The templates escape every text of the run. Only the style sheet, the script, and the charts,
//! which escape their own texts, are inserted as they are.

mod blocks;
pub(crate) mod chart;
mod results;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use proofmark_model::{Run, Severity, Verdict};

use self::blocks::{Layout, contents};
use crate::view::{Document, View, severity_mark, verdict_mark};
use crate::{Options, RenderError, markdown, summary};

/// Templates of every page, with one per kind of block.
const SHARED: [(&str, &str); 12] = [
    ("base.html", include_str!("page/base.html")),
    ("parts.html", include_str!("page/parts.html")),
    ("section.html", include_str!("block/section.html")),
    ("details.html", include_str!("block/details.html")),
    ("grid.html", include_str!("block/grid.html")),
    ("text.html", include_str!("block/text.html")),
    ("list.html", include_str!("block/list.html")),
    ("table.html", include_str!("block/table.html")),
    ("facts.html", include_str!("block/facts.html")),
    ("drawings.html", include_str!("block/drawings.html")),
    ("results.html", include_str!("block/results.html")),
    ("findings.html", include_str!("block/findings.html")),
];

const TEMPLATES: [(&str, &str); 2] = [
    ("page.html", include_str!("page/page.html")),
    ("contents.html", include_str!("page/contents.html")),
];

/// Style sheets for screen and paper.
const STYLE: [&str; 4] = [
    include_str!("page/map.css"),
    include_str!("page/style.css"),
    include_str!("page/chart.css"),
    include_str!("page/run.css"),
];

/// Scripts that add functions to the page; each works without the others.
const SCRIPTS: [&str; 5] = [
    include_str!("page/sort.js"),
    include_str!("page/tip.js"),
    include_str!("page/contents.js"),
    include_str!("page/filter.js"),
    include_str!("page/pass-on.js"),
];

pub(crate) fn render(run: &Run, _: &Options) -> Result<String, RenderError> {
    let View { summary, document } = View::from_run(run);
    let env = environment(&TEMPLATES)?;
    let layout = Layout::new(&env);
    let (first, rest) = document.blocks.split_at(document.blocks.len().min(1));
    let context = context! {
        title => document.title.as_str(),
        facts => Serde(&document.facts),
        contents => Serde(contents(&document.blocks)),
        first => Value::from_safe_string(layout.top(first)?),
        rest => Value::from_safe_string(layout.top(rest)?),
        pass_on => context! {
            summary => summary::write(&summary),
            markdown => markdown::first(&summary),
            json => serde_json::to_string_pretty(&summary.first)?,
        },
        style => Value::from_safe_string(STYLE[1..].concat()),
        script => Value::from_safe_string(SCRIPTS.concat()),
    };
    Ok(format!("{}\n", env.get_template("page.html")?.render(context)?.trim()))
}

/// A page of blocks alone.
///
/// # Errors
/// If a template fails.
pub(crate) fn document(document: &Document) -> Result<String, RenderError> {
    let env = environment(&[("simple.html", include_str!("page/simple.html"))])?;
    let context = context! {
        title => document.title.as_str(),
        facts => Serde(&document.facts),
        blocks => Value::from_safe_string(Layout::new(&env).top(&document.blocks)?),
        style => Value::from_safe_string(STYLE[..3].concat()),
        script => Value::from_safe_string(SCRIPTS[..2].concat()),
    };
    Ok(format!("{}\n", env.get_template("simple.html")?.render(context)?.trim()))
}

/// An environment with these templates and the shared ones.
fn environment(
    templates: &[(&'static str, &'static str)],
) -> Result<Environment<'static>, RenderError> {
    let mut env = Environment::new();
    env.set_auto_escape_callback(|_| AutoEscape::Html);
    env.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    env.add_filter("mark", mark);
    for (name, source) in SHARED.iter().chain(templates) {
        env.add_template(name, source)?;
    }
    Ok(env)
}

/// The sign and the word of a verdict or a severity.
fn mark(word: &str) -> &'static str {
    let verdict = Verdict::ALL.into_iter().find(|v| v.id() == word);
    match (verdict, word) {
        (Some(verdict), _) => verdict_mark(verdict),
        (None, "note") => severity_mark(Severity::Note),
        _ => "not measured",
    }
}
