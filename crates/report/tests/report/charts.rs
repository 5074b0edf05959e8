//! Each chart of the page as a file of its own.

use std::collections::BTreeSet;

use proofmark_report::charts;
use proofmark_report::view::{Block, Content, Drawing};
use roxmltree::Document;

use super::fixture;
use super::reading::{blocks, render};

const HOSTILE: &str = "</style><script>\u{1b}[31m\u{fffe}&\"' ../../x";

#[test]
fn every_chart_stands_alone() {
    for run in fixture::every_and_hostile(HOSTILE) {
        let all = charts::all(&run);
        let names: BTreeSet<&String> = all.iter().map(|chart| &chart.name).collect();
        assert_eq!(names.len(), all.len());
        for chart in &all {
            let safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
            assert!(chart.name.chars().all(safe) && !chart.name.contains(".."), "{}", chart.name);
            let svg = Document::parse(&chart.svg).unwrap_or_else(|e| panic!("{e}: {}", chart.name));
            let root = svg.root_element();
            assert!(root.has_tag_name("svg") || root.tag_name().name() == "svg");
            let style = root.children().find(|n| n.tag_name().name() == "style").unwrap();
            // Not every program that draws SVG knows variables, mixtures or a page's colour.
            for odd in ["var(", "color-mix", "currentColor", "dominant-baseline", "<script"] {
                assert!(!chart.svg.contains(odd), "{odd} in {}", chart.name);
            }
            let known = style.text().unwrap();
            for class in root.descendants().filter_map(|n| n.attribute("class")) {
                for class in class.split(' ').filter(|c| !["sign", "key-sign", ""].contains(c)) {
                    assert!(known.contains(&format!(".{class}")), "no style for {class}");
                }
            }
            // A line that is filled covers the chart.
            for line in root.descendants().filter(|n| n.tag_name().name() == "polyline") {
                let ink = line.attribute("class").unwrap().split(' ').next().unwrap();
                assert!(known.contains(&format!("polyline.{ink} {{ fill: none;")), "{ink}");
            }
            // The title is a text of the picture, in as many lines as it takes.
            let texts = root.children().filter(|n| n.attribute("class") == Some("title"));
            let said: Vec<&str> = texts.filter_map(|n| n.text()).collect();
            let words = |text: &str| text.split_whitespace().collect::<String>();
            if !run.tool.version.contains("script") {
                assert_eq!(words(&said.concat()), words(&chart.title), "{}", chart.name);
            }
        }
    }
}

/// No chart of the page is missing: the page has the noise of the first screen twice.
#[test]
fn the_page_has_no_other_charts() {
    for run in fixture::every() {
        let brief = |block: &Block| match &block.content {
            Content::Drawings(d) => {
                d.all.iter().filter(|d| matches!(d, Drawing::NoiseInBrief(_))).count()
            }
            _ => 0,
        };
        let brief: usize = blocks(&run).iter().map(brief).sum();
        let on_page = render("html", &run).matches("<figure>").count();
        assert_eq!(charts::all(&run).len() + brief, on_page);
    }
    assert!(charts::all(&fixture::published()).len() > 20);
    assert_eq!(charts::all(&fixture::empty()), []);
}

/// The texts of a class in a chart, with the spaces of a line break.
fn said(svg: &str, is_note: bool) -> Vec<String> {
    let svg = Document::parse(svg).unwrap();
    let texts = svg.descendants().filter(|n| n.tag_name().name() == "text");
    let texts = texts.filter(|n| (n.attribute("class") == Some("note")) == is_note);
    texts.filter_map(|n| n.text()).map(|text| text.trim().to_owned()).collect()
}

#[test]
fn a_chart_has_its_own_notes_and_explains_its_signs() {
    let (mut times, mut rates, mut doubtful) = (0, 0, 0);
    let mut coarse = fixture::published();
    coarse.measurements.iter_mut().for_each(|m| m.verdict = proofmark_model::Verdict::Coarse);
    for run in fixture::every().into_iter().chain([fixture::published(), coarse]) {
        for chart in charts::all(&run) {
            let notes = said(&chart.svg, true).join(" ");
            if chart.title.contains("Memory: ") {
                let is_time = chart.title.contains(": time of ");
                assert_eq!(notes.contains("It is not a latency"), is_time, "{}", chart.title);
                *if is_time { &mut times } else { &mut rates } += 1;
            }
            if said(&chart.svg, false).iter().any(|t| t == "~" || t.ends_with(" ~")) {
                assert!(notes.contains("~ "), "{}: {notes}", chart.title);
                doubtful += 1;
            }
        }
    }
    assert!(times > 3 && rates > 1 && doubtful > 3, "{times} {rates} {doubtful}");
}
