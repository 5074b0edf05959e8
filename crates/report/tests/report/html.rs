//! The structure of the page.

use proofmark_model::Run;
use proofmark_report::view::View;
use proofmark_report::{Options, find};

use super::fixture;

fn page(run: &Run) -> String {
    // The template escapes a slash too, which no reader sees.
    find("html").unwrap().render(run, &Options::default()).unwrap().replace("&#x2f;", "/")
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
    let hostile = fixture::every().map(|run| fixture::hostile_of(run, "<i>'\"&"));
    for run in fixture::every().into_iter().chain(hostile) {
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
fn each_workload_and_each_overview_is_in_its_part() {
    let run = fixture::published();
    let (page, view) = (page(&run), View::from_run(&run));
    let contents = |from, to| between(between(&page, from, to)[0], "href=\"", "\"");
    let side = contents("<div class=\"side\">", "</div>");
    assert_eq!(side, contents("<details class=\"top\">", "</details>"));
    assert_eq!(page.matches("<details class=\"workload").count(), view.workloads.len());
    for overview in &view.overviews {
        let part =
            between(&page, &format!("id=\"part-{}\"", overview.subsystem), "class=\"workload")[0];
        assert_eq!(
            part.matches("<figcaption>").count(),
            overview.lines.len(),
            "{}",
            overview.title
        );
        assert_eq!(part.matches("<caption>").count(), overview.tables.len(), "{}", overview.title);
    }
    let mut run = fixture::endured();
    run.workloads.clear();
    run.measurements.clear();
    assert!(self::page(&run).contains("href=\"#part-other\""), "nothing says what it is about");
}

#[test]
fn the_usable_cpus_are_marked_where_threads_go_beyond_them() {
    let mark = ["2 CPUs\n</text>", ", oversubscribed</title>"];
    let page_of = |run: &Run| page(run);
    let (within, beyond) = (page_of(&fixture::run()), page_of(&fixture::oversubscribed()));
    for m in mark {
        assert!(!within.contains(m) && beyond.contains(m), "{m}");
    }
    let labels: Vec<_> = beyond.matches(mark[0]).collect();
    assert_eq!(labels.len(), between(&beyond, "rate by threads</figcaption>", "<svg").len());
}

#[test]
fn charts_of_cache_levels_and_of_solves_are_labelled() {
    let chart = |page: &str, title: &str| {
        let title = format!("{title}</figcaption>");
        let figures = between(page, "<figure>", "</figure>");
        (*figures.iter().find(|f| f.contains(&title)).unwrap()).to_owned()
    };
    let memory = page(&fixture::memory());
    for title in ["rate by working set", "latency by working set"] {
        let chart = chart(&memory, title);
        for label in ["L1d", "L2", "L3", "L3 measured", "4 KiB", "256 MiB"] {
            assert!(chart.contains(&format!("\n{label}\n</text>")), "{title}: {label}");
        }
        assert!(chart.contains(", log\n</text>"), "{title}");
    }
    assert!(!chart(&memory, "Copy: rate by threads").contains(", log"));
    let rings = |title: &str| {
        chart(&page(&fixture::linpack()), title).matches(", saturates here</title>").count()
    };
    assert_eq!(
        [rings("LINPACK: rate by n"), rings("Matrix product: rate by n (2 threads)")],
        [3, 0]
    );
    let mut run = fixture::network();
    assert!(page(&run).contains("Whiskers"));
    run.measurements.retain(|m| m.workload.ends_with(".rtt"));
    assert!(!page(&run).contains("Whiskers"), "percentiles have no interval");
}
