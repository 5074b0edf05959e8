//! The structure of the page.

use proofmark_model::{Measurement, Run, key};

use super::fixture;
use super::reading::render;

fn page(run: &Run) -> String {
    // The template escapes a slash too, which no reader sees.
    render("html", run).replace("&#x2f;", "/")
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    text.split(from).skip(1).filter_map(|part| part.split(to).next()).collect()
}

#[test]
fn it_needs_nothing_from_elsewhere() {
    let page = page(&fixture::run());
    for reference in ["src=", "url(", "@import", "<link", "<iframe", "fetch(", "https:", "//cdn"] {
        assert!(!page.contains(reference), "{reference}");
    }
    let http = page.matches("http:").count();
    assert_eq!(http, page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count());
    assert!(page.contains("prefers-color-scheme: dark"));
    assert!(page.contains("@media print"));
    assert!(page.contains("name=\"viewport\""));
}

#[test]
fn tags_are_closed_ids_unique_and_charts_and_tables_named() {
    for run in fixture::every_and_hostile("<i>'\"&") {
        let page = page(&run);
        for tag in [
            "section", "article", "table", "tr", "td", "th", "ul", "ol", "li", "p", "figure",
            "svg", "details", "div", "span", "dl", "dt", "dd", "code",
        ] {
            let open = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        let mut ids = between(&page, " id=\"", "\"");
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
        for target in between(&page, "href=\"#", "\"") {
            assert!(ids.contains(&target), "{target}");
        }
        assert_eq!(page.matches("<table").count(), page.matches("<caption>").count());
        for table in between(&page, "<table", "</table>") {
            assert!(table.contains("scope=\"col\""), "{table}");
        }
        for chart in between(&page, "<svg viewBox=", "</svg>") {
            assert!(chart.contains("<title id=") && chart.contains("<desc id="), "{chart}");
            assert!(!chart.contains("\"#"), "a fixed colour");
        }
    }
}

#[test]
fn parts_and_keys_are_of_what_is_there() {
    let mut run = fixture::endured();
    run.workloads.clear();
    run.measurements.clear();
    assert!(page(&run).contains("href=\"#part-other\""), "nothing says what it is about");
    let mut run = fixture::network();
    assert!(page(&run).contains("Whiskers"));
    // With one block size there is no chart of their rates.
    let one = |m: &Measurement| m.params.get(key::BLOCK_SIZE) == Some(1);
    run.measurements.retain(|m| m.workload.ends_with(".rtt") && one(m));
    assert!(!page(&run).contains("Whiskers"), "percentiles have no interval");
}
