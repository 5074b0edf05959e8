//! The page of a fleet, and long texts.

use proofmark_model::{FleetGroup, FleetReport, NodeSlowAt, NodeState};
use proofmark_report::fleet::{html, terminal};

use super::super::fixture::fleet::{healthy, many, strange};
use super::{all, wide};

#[test]
fn the_page_needs_nothing_else_and_is_well_formed() {
    for (name, report) in all().into_iter().chain([("strange", strange("<i>'\"&"))]) {
        let page = html(&report).unwrap();
        for outside in ["http:", "https:", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{name}: {outside}");
        }
        let text = page.split("<script>").next().unwrap();
        for wrong in ["NaN", "undefined", "inf "] {
            assert!(!text.contains(wrong), "{name}: {wrong}");
        }
        for tag in [
            "section", "article", "table", "tr", "td", "th", "ul", "li", "p", "svg", "details",
            "div", "span", "h3", "strong",
        ] {
            let open = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{name}: {tag}");
        }
        assert_eq!(page.matches("<table").count(), page.matches("<caption").count(), "{name}");
        for svg in page.split("<svg ").skip(1) {
            assert!(svg.contains("aria-label=\"rounds ") && svg.contains("<title>"), "{name}");
        }
    }
}

/// Long names, several groups, and every node slow at every figure for many reasons.
fn worst() -> FleetReport {
    let group = |nodes| healthy(nodes, 80).groups.remove(0);
    let mut report = healthy(1000, 80);
    let names = report.plan.nodes.chunks(100);
    let groups = names.map(|nodes| FleetGroup { nodes: nodes.to_vec(), ..group(nodes.len()) });
    report.groups = groups.collect();
    for f in report.groups.iter_mut().flat_map(|g| &mut g.figures) {
        f.title += ", and so much more that it fills a line of its own";
    }
    for (at, n) in report.nodes.iter_mut().enumerate() {
        n.group = Some(at / 100);
        n.state = NodeState::Slow;
        n.cause = Some(format!("node {at}: {}", "cause ".repeat(40)));
        n.reasons = (0..80).map(|f| format!("{f} of {at}: {}", "reason ".repeat(10))).collect();
        n.figures =
            (0..80).map(|figure| NodeSlowAt { figure, ratio: 0.9, confirmed: true }).collect();
    }
    report
}

/// CPU time of the calling thread in nanoseconds, as of its last scheduler tick.
fn cpu_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[test]
fn a_wide_terminal_shows_more_of_long_texts() {
    let report = worst();
    let [cut_at_80, cut_at_300] =
        [80, 300].map(|width| terminal(&report, &wide(width)).matches('\u{2026}').count());
    assert!(cut_at_80 > cut_at_300, "{cut_at_80} and {cut_at_300} cuts");
}

#[test]
fn the_page_of_a_large_fleet_is_small_and_soon_made() {
    let report = many(1000, 80);
    let before = cpu_ns();
    let page = html(&report).unwrap();
    // CPU time does not depend on other load. It is 0.2 s without optimization.
    let cpu_s = cpu_ns().zip(before).map(|(after, before)| (after - before) as f64 * 1e-9);
    assert!(cpu_s.is_none_or(|cpu_s| cpu_s < 5.0), "{cpu_s:?} s");
    assert_eq!(page.matches("<tr><th scope=\"row\">n").count(), 64, "of the map");
    assert_eq!(
        page.matches("<tr>\n<th scope=\"row\" class=\"t\">n").count(),
        26 + 64,
        "of causes, of rounds"
    );
    assert!(page.contains("936 other nodes are healthy"));
    for page in [page, html(&worst()).unwrap()] {
        assert!(page.len() < 1_000_000, "{} bytes", page.len());
    }
}
