//! Each number of a table is of the statistic that its row and column name.

use proofmark_model::{Figure, FigureKind, Measurement, Run, Unit, Verdict, key};
use proofmark_report::view::View;

use super::fixture;
use super::reading::{block, each, render, workload, workloads};

/// The rows of a workload's table as maps from column titles to cells.
fn rows(run: &Run, id: &str) -> Vec<std::collections::BTreeMap<String, (String, String)>> {
    let table = block(&workload(run, id), "table");
    let table = table.table().unwrap();
    let note = |at: &Option<usize>| at.map_or_else(String::new, |n| table.notes[n - 1].clone());
    let mut out = Vec::new();
    for row in &table.rows {
        let titles = table.columns.iter().map(|c| c.title.clone());
        out.push(titles.zip(row.cells.iter().map(|c| (c.text.clone(), note(&c.note)))).collect());
    }
    out
}

/// Makes attainable the headline with 40 % of it delivered; every second result has too little
/// clean time.
fn half_unseen(run: &mut Run, id: &str) {
    for (i, m) in each(run, id).enumerate() {
        let s = m.summary.as_mut().unwrap();
        let value = s.value();
        s.delivered = Figure::alone(0.4 * value, "one round");
        s.typical = Figure::alone(0.9 * value, "one round");
        s.headline = if i % 2 == 0 { FigureKind::Typical } else { FigureKind::Delivered };
        if i % 2 == 1 {
            s.attainable = Figure::none("only 0.0 ms of windows in which nothing was taken");
            s.typical = s.attainable.clone();
        } else {
            s.attainable = Figure::alone(value, "3 of 4 rounds");
        }
    }
}

#[test]
fn a_row_names_its_statistic_and_says_why_another_is_missing() {
    let mut run = fixture::memory();
    half_unseen(&mut run, "memory.triad");
    let all = rows(&run, "memory.triad");
    assert!(all.len() > 2);
    for row in &all {
        let (statistic, figure) = (&row["statistic"].0, &row["figure"].0);
        match statistic.as_str() {
            "typical" => {
                assert!(row["delivered"].0.parse::<f64>().is_ok(), "{row:?}");
                assert_ne!(&row["delivered"].0, figure);
            }
            "delivered" => {
                // The column has the value that is put first, and no other column a wrong reason.
                assert_eq!(&row["delivered"].0, figure, "{row:?}");
                assert!(row["attainable"].0.starts_with('-'), "{row:?}");
                assert!(row["attainable"].1.contains("only 0.0 ms of windows"), "{row:?}");
            }
            other => panic!("{other}"),
        }
    }
    // More bytes move than are counted, of the same statistic.
    for (row, m) in all.iter().zip(each(&mut run, "memory.triad")) {
        let [figure, moved] = ["figure", "moved"].map(|t| row[t].0.parse::<f64>().unwrap());
        let trial = &m.trials[0];
        let expected = figure * trial.moved.unwrap() / trial.work;
        assert!(moved >= figure && (moved / expected - 1.0).abs() < 1e-3, "{row:?}");
    }
    for format in ["html", "markdown", "terminal"] {
        assert!(!render(format, &run).contains("not recorded in its trials"), "{format}");
    }
}

#[test]
fn without_a_headline_the_first_screen_says_what_was_delivered_and_in_which_unit() {
    let mut run = fixture::memory();
    for m in each(&mut run, "memory.triad") {
        let s = m.summary.as_mut().unwrap();
        s.delivered = Figure::alone(1.5e9, "one round");
        s.headline = FigureKind::Typical;
        s.attainable = Figure::none("only 0.0 ms of windows in which nothing was taken");
        s.typical = s.attainable.clone();
        m.verdict = Verdict::Suspect;
    }
    for (format, expected) in [
        ("html", "nothing was taken; delivered&nbsp;1.500 GB&#x2f;s"),
        ("summary", "nothing was taken; delivered 1.500 GB/s"),
        ("terminal", " 1.500 GB/s "),
    ] {
        assert!(render(format, &run).contains(expected), "{format}: {}", render(format, &run));
    }
}

#[test]
fn a_clock_is_not_delivered() {
    let mut run = fixture::memory();
    for m in each(&mut run, "memory.triad") {
        m.unit = Unit::Hertz;
        let s = m.summary.as_mut().unwrap();
        s.attainable = Figure::alone(3.692e9, "");
        s.delivered = Figure::alone(1.812e9, "");
        s.headline = FigureKind::Attainable;
    }
    run.measurements.retain(|m| m.workload == "memory.triad");
    run.workloads.get_mut("memory.triad").unwrap().unit = Unit::Hertz;
    for row in rows(&run, "memory.triad") {
        assert!(row["delivered"].0.starts_with('-'), "{row:?}");
        assert!(row["delivered"].1.contains("a clock has no delivered figure"), "{row:?}");
    }
    for format in ["html", "markdown", "terminal", "jsonl"] {
        let text = render(format, &run);
        let figures = text.split("<script").next().unwrap();
        assert!(!figures.contains("1.812") && !figures.contains("1812000000"), "{format}");
    }
}

/// A workload with rows of several sizes, in the run's order: the largest first.
#[test]
fn the_list_has_the_row_of_the_card_with_its_configuration() {
    for mut run in [fixture::network(), fixture::run(), fixture::memory(), fixture::disk()] {
        for reversed in [false, true] {
            if reversed {
                run.measurements.reverse();
            }
            let first = View::from_run(&run).summary.first;
            let cards = || first.parts.iter().flat_map(|p| &p.rows);
            for workload in workloads(&run) {
                let of_it: Vec<_> = cards().filter(|r| r.anchor == workload.anchor).collect();
                let figure = workload.figure.unwrap();
                let Some(value) = figure.value.as_ref().filter(|_| !of_it.is_empty()) else {
                    continue;
                };
                let list = (value, &figure.unit, &figure.configuration);
                let same = |r: &&&proofmark_report::view::ScreenRow| {
                    (r.value.as_ref(), &r.unit, &r.configuration) == (Some(list.0), list.1, list.2)
                };
                assert!(of_it.iter().any(|r| same(&r)), "{}: {list:?} {of_it:?}", workload.code);
                let page = render("html", &run);
                let summary = format!("id=\"{}\"", workload.anchor);
                let line = page.split(&summary).nth(1).unwrap().split("</summary>").next().unwrap();
                assert!(line.contains(list.1.split('/').next().unwrap()), "{line}");
            }
        }
    }
}

/// The UDP results of the default profile: the largest datagrams, then those of one packet.
#[test]
fn of_datagrams_of_two_sizes_card_and_list_have_the_one_that_was_planned_first() {
    let mut run = fixture::network();
    let udp: Vec<usize> = (0..run.measurements.len())
        .filter(|i| run.measurements[*i].workload == "network.udp.stream")
        .collect();
    let template: Measurement = run.measurements[udp[0]].clone();
    run.measurements.retain(|m| m.workload != "network.udp.stream");
    for (block, value) in [(65_507, 8.19e9), (1472, 1.864e9)] {
        let mut m = template.clone();
        m.params = m.params.clone().with(key::BLOCK_SIZE, block).with(key::STREAMS, 1);
        m.params = m.params.with_auto(key::RATE);
        proofmark_model::testing::restate(m.summary.as_mut().unwrap(), value, None);
        run.measurements.push(m);
    }
    let udp = workload(&run, "network.udp.stream");
    let first = View::from_run(&run).summary.first;
    let cards = first.parts.iter().flat_map(|p| &p.rows).filter(|r| r.anchor == udp.anchor);
    let cards: Vec<_> = cards.filter_map(|r| r.value.clone()).collect();
    assert_eq!(udp.figure.unwrap().value.as_deref(), Some("8.190"), "{cards:?}");
    assert_eq!(cards[0], "8.190");
}
