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
fn tags_are_closed_and_ids_are_unique() {
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
    }
}

#[test]
fn the_contents_lead_to_each_subsystem_and_its_workloads() {
    let run = fixture::published();
    let page = page(&run);
    let side = between(&page, "<div class=\"side\">", "</div>")[0];
    let top = between(&page, "<details class=\"top\">", "</details>")[0];
    assert_eq!(between(side, "href=\"", "\""), between(top, "href=\"", "\""));
    let view = View::from_run(&run);
    let workloads: Vec<&str> = view.workloads.iter().map(|k| k.id.as_str()).collect();
    let parts = between(side, "href=\"#part-", "\"");
    for part in &parts {
        let from = side.split(&format!("#part-{part}\"")).nth(1).unwrap();
        let nested = from.split("</ul>").next().unwrap().matches("<li><a href=\"#k").count();
        let of_part = workloads.iter().filter(|k| k.starts_with(&format!("{part}."))).count();
        assert_eq!(nested, of_part, "{part}");
    }
    assert!(parts.len() >= 2 && parts.len() <= 4, "{parts:?}");
    let mut run = fixture::endured();
    run.workloads.clear();
    run.measurements.clear();
    assert!(self::page(&run).contains("href=\"#part-other\""), "nothing says what it is about");
    assert_eq!(page.matches("<details class=\"workload").count(), workloads.len());
}

#[test]
fn conclusions_and_overviews_stand_in_their_parts() {
    let run = fixture::published();
    let (page, view) = (page(&run), View::from_run(&run));
    let conclusions = between(&page, "<div class=\"conclusions\">", "</section>")[0];
    let claims: usize = view.conclusions.iter().map(|c| c.claims.len()).sum();
    assert_eq!(conclusions.matches("<li").count(), claims);
    assert!(claims > 0 && !view.overviews.is_empty());
    for overview in &view.overviews {
        let part = format!("id=\"part-{}\"", overview.subsystem);
        let part = page.split(&part).nth(1).unwrap();
        let part = part.split("<details class=\"workload").next().unwrap();
        let titles = between(part, "<figcaption>", "</figcaption>");
        assert_eq!(titles.len(), overview.lines.len(), "{}", overview.title);
        let tables = between(part, "<caption>", "</caption>");
        assert_eq!(tables.len(), overview.tables.len(), "{}", overview.title);
    }
}

#[test]
fn charts_and_tables_are_named() {
    let page = page(&fixture::run());
    assert_eq!(page.matches("<table").count(), page.matches("<caption>").count());
    let charts = between(&page, "<svg viewBox=", "</svg>");
    assert!(charts.len() >= 6, "{}", charts.len());
    for chart in charts {
        assert!(chart.contains("<title id=") && chart.contains("<desc id="));
        assert!(!chart.contains("\"#"), "a fixed colour");
    }
    for table in between(&page, "<table", "</table>") {
        assert!(table.contains("scope=\"col\""));
    }
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
fn every_trial_is_there_and_the_published_table() {
    let run = fixture::run();
    let page = page(&run);
    let part = page.split("id=\"trials\"").nth(1).unwrap();
    let trials: usize = run.measurements.iter().map(|m| m.trials.len().max(1)).sum();
    let tables = part.matches("<table").count();
    assert_eq!(part.matches("<tr").count(), trials + tables);
    for head in ["Exp 1", "Exp 6", "Average", "Std Dev"] {
        assert!(page.contains(&format!(">{head}</th>")), "{head}");
    }
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
    assert_eq!([rings("LINPACK: rate by n"), rings("Matrix product: rate by n")], [3, 0]);
    let mut run = fixture::network();
    assert!(page(&run).contains("Whiskers"));
    run.measurements.retain(|m| m.workload.ends_with(".rtt"));
    assert!(!page(&run).contains("Whiskers"), "percentiles have no interval");
}
