//! A comparison as GitHub-flavoured Markdown, for a pull request or a ticket.

use proofmark_model::Comparison;

use super::view::{Line, View};
use crate::markdown::{escape, line, table};

/// The verdict, the causes, the first screen and what differs.
pub fn markdown(comparison: &Comparison) -> String {
    let view = View::from_comparison(comparison);
    let mut out = String::new();
    line(&mut out, &format!("# {}", escape(&view.title)));
    line(&mut out, &format!("**{}**", escape(&view.verdict)));
    for cause in &view.causes {
        out.push_str(&format!("- {}\n", escape(cause)));
    }
    out.push('\n');
    for side in &view.sides {
        let facts = side.iter().map(|f| escape(&format!("{} {}", f.name, f.value)));
        line(&mut out, &facts.collect::<Vec<_>>().join("; "));
    }
    for (title, lines) in [
        ("Main results", &view.first),
        ("Results that differ", &view.differing),
        ("Undecided results", &view.undecided),
    ] {
        if !lines.is_empty() {
            line(&mut out, &format!("## {title}"));
            table(&mut out, &Line::table(lines));
        }
    }
    table(&mut out, &view.subsystems);
    table(&mut out, &view.differences);
    format!("{}\n", out.trim_end())
}
