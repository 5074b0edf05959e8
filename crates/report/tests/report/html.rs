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
fn the_figures_come_first_and_with_their_worth() {
    let page = page(&fixture::run());
    let order = [
        "<h1>",
        "class=\"trust",
        "class=\"causes\"",
        "class=\"answers\"",
        "<nav",
        "id=\"part-cpu\"",
        "id=\"k1\"",
        "id=\"findings\"",
        "id=\"machine\"",
        "id=\"ceilings\"",
        "id=\"method\"",
        "id=\"trials\"",
    ];
    let places: Vec<usize> =
        order.iter().map(|o| page.find(o).unwrap_or_else(|| panic!("{o}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    let answers = between(&page, "<article>", "</article>");
    assert_eq!(answers.len(), 4, "{answers:?}");
    for said in ["FP peak", "1 CPU, avx2", "98.40", "GFLOP/s", "± 0.4 %", "96.2 %", "✓ valid"] {
        assert!(answers[0].contains(said), "{said} in {}", answers[0]);
    }
    let top = page.split("<nav").next().unwrap();
    assert!(top.contains("the worker was ended by SIGKILL"));
    assert!(top.contains("the quota held back 12 %"));
    for text in ["pass-summary", "pass-markdown", "pass-json"] {
        let found = between(top, &format!("<pre id=\"{text}\""), "</pre>");
        assert!(found[0].contains("FP peak"), "{text}: {}", found[0]);
    }
}

#[test]
fn a_page_is_short_while_its_parts_are_folded() {
    let page = page(&fixture::published());
    for workload in between(&page, "<details class=\"workload", ">") {
        assert!(!workload.contains(" open"), "{workload}");
    }
    let open = page.matches("<details class=\"paper\" open>").count();
    assert!((1..=2).contains(&open), "findings above a note: {open}");
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
fn a_series_is_drawn_with_its_levels_its_changes_and_the_system_below() {
    let run = fixture::endured();
    let (page, view) = (page(&run), View::from_run(&run));
    let timeline = &view.workloads[0].timelines[0];
    let figures = between(&page, "<figure>", "</figure>");
    let chart = figures.iter().find(|f| f.contains("-time-0-t")).unwrap();
    let found = between(chart, "<title>", "</title>");
    for change in &timeline.changes {
        assert!(found.contains(&change.about.as_str()), "{}", change.about);
        assert!(chart.contains(&format!("\n{}\n</text>", change.label)));
    }
    assert_eq!(found.iter().filter(|t| timeline.levels.iter().any(|l| l.about == **t)).count(), 3);
    assert!(timeline.system.len() >= 3);
    for curve in &timeline.system {
        assert!(chart.contains(&format!("\n{}, ", curve.name)), "{}", curve.name);
    }
    for key in ["samples", "95 % interval", "change of level", "trend"] {
        assert!(chart.contains(key), "{key}");
    }
    let chart = page.split("<desc id=\"chart-0-time-0-d\">").nth(1).unwrap();
    let below = chart.split("</figure>").nth(1).unwrap();
    let below = below.split("<table").next().unwrap().replace("&#x27;", "'");
    for sentence in &timeline.sentences {
        assert!(below.contains(sentence), "{sentence}");
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
fn every_mark_tells_its_figures() {
    let page = page(&fixture::run());
    let found = between(&page, "<title>", "</title>");
    let flops = "avx2, 4 threads: 393.6 GFLOP/s, 95 % interval 391.6 to 395.2, \
                 96.2 % of its ceiling of 409.3 GFLOP/s, ✓ valid";
    assert_eq!(found.iter().filter(|t| **t == flops).count(), 2, "in the lines and in the bars");
    assert!(found.iter().any(|t| t.starts_with("sse2, 2 threads") && t.ends_with("! suspect")));
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
fn a_mountain_stands_against_the_reported_caches() {
    let page = page(&fixture::memory());
    let chart = |title: &str| {
        let figures = between(&page, "<figure>", "</figure>");
        let found = figures.into_iter().find(|f| f.contains(title));
        found.unwrap_or_else(|| panic!("{title}")).to_owned()
    };
    for title in ["rate by working set</figcaption>", "latency by working set</figcaption>"] {
        let chart = chart(title);
        for label in ["L1d", "L2", "L3", "L3 measured", "4 KiB", "256 MiB"] {
            assert!(chart.contains(&format!("\n{label}\n</text>")), "{title}: {label}");
        }
        assert!(chart.contains(", log\n</text>"), "{title}");
    }
    assert!(page.contains("the machine reports (L1d 48 KiB, L2 2 MiB and L3 128 MiB)"));
    let loaded = chart("latency by load</figcaption>");
    assert!(loaded.contains("\nmoved by the other threads, GB/s\n</text>"));
    assert!(loaded.contains("197.6 at 11.20 GB/s"), "the description tells what loaded it");
    let rates = chart("Copy: rate by threads</figcaption>");
    assert!(!rates.contains(", log"), "10 and 24 GB/s do not differ by 20 times");
}

#[test]
fn solves_have_their_listing_and_the_curve_its_rings() {
    let page = page(&fixture::linpack());
    let figures = between(&page, "<figure>", "</figure>");
    let titled = |title: &str| *figures.iter().find(|f| f.contains(title)).unwrap();
    let curve = titled("LINPACK: rate by n</figcaption>");
    assert_eq!(curve.matches(", saturates here</title>").count(), 3);
    assert!(!titled("Matrix product: rate by n</figcaption>").contains("saturates here"));
    assert_eq!(page.matches("Ring: the smallest n").count(), 1);
    let details = between(&page, "<details", "</details>");
    let listing = details.iter().find(|d| d.contains("<summary>Every solve")).unwrap();
    assert_eq!(listing.matches("<span class=\"badge invalid\">FAIL</span>").count(), 2);
    assert!(!listing.contains("Exp 1"), "it is in the listing");
    assert_eq!(page.matches("<summary>Every solve").count(), 1, "not of the product");
}

#[test]
fn block_sizes_are_drawn_both_ways() {
    let page = page(&fixture::memory());
    let titles = between(&page, "<figcaption>", "</figcaption>");
    for title in ["rate by block size", "rate by threads"] {
        let full = format!("Copy of blocks in order: {title}");
        assert!(titles.contains(&full.as_str()), "{full} in {titles:?}");
    }
}

#[test]
fn the_roofline_has_a_place_of_its_own_where_there_is_one() {
    let with = page(&fixture::memory());
    let order = ["id=\"k8\"", "id=\"roofline\"", "id=\"findings\""];
    let places: Vec<usize> = order.iter().map(|o| with.find(o).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    for said in ["avx2 196.8 GFLOP/s\n</text>", "memory.triad\n</text>", "L2: 170.7 GB/s</li>"] {
        assert!(with.contains(said), "{said}");
    }
    assert!(!page(&fixture::run()).contains("Roofline"));
}

#[test]
fn loss_and_both_ends_of_a_network_are_shown() {
    let page = page(&fixture::network());
    for title in [
        "UDP throughput: loss by offered rate (loopback, 1 stream, block size 65\u{202f}507 B)",
        "TCP round trip: distribution of operation times",
    ] {
        assert!(page.contains(&format!("<figcaption>{title}</figcaption>")), "{title}");
    }
    for said in ["offered, Gbit/s\n</text>", "20.0 %\n</text>", "<summary>Client and server: CPU"] {
        assert!(page.contains(said), "{said}");
    }
    assert!(!self::page(&fixture::disk()).contains("Client and server: CPU"));
    let mut run = fixture::network();
    assert!(self::page(&run).contains("Whiskers"));
    run.measurements.retain(|m| m.workload.ends_with(".rtt"));
    assert!(!self::page(&run).contains("Whiskers"), "percentiles have no interval");
}

#[test]
fn latencies_of_a_disk_are_drawn_and_named() {
    let page = page(&fixture::disk());
    for title in [
        "Random read: latency by throughput (direct, 1 thread)",
        "Random read: distribution of operation times",
        "Random read: IOPS by queue depth (direct)",
    ] {
        assert!(page.contains(&format!("<figcaption>{title}</figcaption>")), "{title}");
        assert!(page.contains(&format!("\">{title}</title><desc id=\"")), "{title}");
    }
    for label in ["time, ms, log", "% of operations", "thousand IOPS"] {
        assert!(page.contains(&format!("\n{label}\n</text>")), "{label}");
    }
    assert!(page.contains("<p class=\"about\">sda, sata, ext4 at /srv/fixture</p>"));
    assert!(page.contains("p50 118.0 us, p99 295.0 us"));
    assert!(!page.split("<script>").next().unwrap().contains("NaN"));
}
