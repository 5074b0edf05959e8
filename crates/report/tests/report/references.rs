//! Other tools beside our points.

use proofmark_model::{Finding, PlannedReference, Run, Severity, Trial, Verdict};
use proofmark_report::view::View;
use proofmark_report::{ALL, Options, find};

use super::fixture;
use super::reading::{column, each, workload};
use super::rows::csv_rows;

fn render(format: &str, run: &Run) -> String {
    let text = find(format).unwrap().render(run, &Options::default()).unwrap();
    text.replace("&#x2f;", "/")
}

fn lacking(run: &Run, id: &str) -> Vec<String> {
    workload(run, id).references.lacking
}

#[test]
fn without_them_no_format_speaks_of_them() {
    let run = fixture::alone();
    for format in ALL {
        let text = format.render(&run, &Options::default()).unwrap();
        let page = text.split("<script>").next().unwrap();
        for said in ["eside other tools", "eside the tools", "tool result", "tool_version"] {
            assert!(!page.contains(said), "{said} in {}", format.id());
        }
    }
    let [with, without] = [fixture::beside(), run].map(|run| csv_rows(&run));
    let ours = with.into_iter().filter(|r| r["tool"] == "proofmark").map(|mut r| {
        for column in ["tool", "tool_version", "command"] {
            r.remove(column);
        }
        r
    });
    assert_eq!(ours.collect::<Vec<_>>(), without, "our own rows are the same");
}

#[test]
fn a_row_has_both_numbers_and_the_ceiling_of_both() {
    let table = workload(&fixture::beside(), "cpu.linpack").references.table;
    assert_eq!(
        column(&table, "n"),
        ["10\u{202f}000", "15\u{202f}000", "18\u{202f}000", "20\u{202f}000"]
    );
    assert_eq!(column(&table, "tool"), ["hpl"; 4]);
    let [ours, theirs, ceiling] = ["proofmark", "tool result", "ceiling"]
        .map(|c| column(&table, c)[0].parse::<f64>().unwrap());
    assert!((theirs / ours - 0.94).abs() < 1e-3, "{theirs} of {ours}");
    let share = |c| column(&table, c)[0].parse::<f64>().unwrap() / 100.0;
    assert!((share("proofmark / ceiling") - ours / ceiling).abs() < 1e-3);
    assert!((share("tool / ceiling") - theirs / ceiling).abs() < 1e-3);
    assert_eq!(column(&table, "proofmark / tool")[0], "1.064");
    assert_eq!(column(&table, "95 % interval")[0], "1.053–1.077");
    assert_eq!(column(&table, "tool verdict")[0], "✓ valid");
}

#[test]
fn what_is_missing_has_its_reason() {
    let run = fixture::beside();
    let reads = workload(&run, "disk.seq_read").references.table;
    assert_eq!(column(&reads, "95 % interval")[0], "-");
    assert!(reads.notes.iter().any(|n| n.contains("at least 6 pairs")), "{:?}", reads.notes);
    let commits = workload(&run, "disk.fsync").references.table;
    assert!(commits.columns.iter().all(|c| !c.title.contains("ceiling")));

    let mut run = fixture::beside();
    for m in each(&mut run, "cpu.linpack") {
        m.verdict = Verdict::Suspect;
        m.references.iter_mut().for_each(|r| {
            (r.value, r.ratio.median, r.efficiency) = (f64::NAN, f64::INFINITY, None);
        });
    }
    let table = workload(&run, "cpu.linpack").references.table;
    for title in ["tool result", "tool / ceiling", "proofmark / tool"] {
        assert_eq!(column(&table, title)[0], "-", "{title}");
    }
    assert!(table.notes.iter().any(|n| n == "proofmark's result is suspect"), "{:?}", table.notes);
}

#[test]
fn our_median_is_that_of_the_pairs() {
    let mut run = fixture::beside();
    // The pairs hold trials of their own.
    each(&mut run, "cpu.linpack").for_each(|m| {
        let trial = |value| Trial { value, ..Trial::default() };
        m.references.iter_mut().for_each(|r| r.paired = [3e10, 5e10].map(trial).into());
    });
    let ours = |run: &Run| {
        let at = View::from_run(run).references;
        let table = workload(run, "cpu.linpack").references.table;
        [&table, &at].map(|t| column(t, "proofmark")[0].to_owned())
    };
    assert_eq!(ours(&run), ["40.00", "40.00 GFLOP/s"]);
    each(&mut run, "cpu.linpack").for_each(|m| {
        m.references.iter_mut().for_each(|r| r.paired.clear());
    });
    let table = workload(&run, "cpu.linpack").references.table;
    assert_eq!(ours(&run), ["-", "-"]);
    assert!(table.notes.contains(&"no pair was recorded".to_owned()), "{:?}", table.notes);
}

#[test]
fn what_disturbed_our_side_of_the_pairs_is_noted() {
    let mut run = fixture::beside();
    let message = "the hypervisor took 50 % (fixture)";
    each(&mut run, "cpu.linpack").flat_map(|m| &mut m.references).for_each(|r| {
        r.paired_findings.push(Finding::new("steal", Severity::Suspect, message, ""));
        r.paired.iter_mut().for_each(|t| t.conditions.steal_s = Some(0.5));
    });
    let references = workload(&run, "cpu.linpack").references;
    let note = format!("in the pairs {message}");
    assert!(references.table.notes.contains(&note), "{:?}", references.table.notes);
    assert_eq!(column(&references.pairs, "taken, proofmark")[0], "0.5000");
    assert_eq!(column(&references.pairs, "first")[..3], ["proofmark", "tool", "proofmark"]);
}

#[test]
fn a_point_without_a_tool_and_a_tool_without_a_figure_have_their_reasons() {
    let run = fixture::beside();
    assert_eq!(
        lacking(&run, "memory.triad"),
        ["stream has no result (nontemporal stores, 1 thread; nontemporal stores, 2 \
          threads): its stores are the compiler's choice."]
    );
    assert_eq!(
        lacking(&run, "disk.seq_read"),
        ["fio has no result (direct, 2 threads, block size 8 MiB): it ended with \
          status 1 (fixture)."]
    );
    for format in ["terminal", "markdown", "html"] {
        let text = render(format, &run).replace('\n', " ");
        assert!(text.contains("stream has no result (nontemporal stores"), "{format}");
    }
    let mut none = run;
    each(&mut none, "memory.triad").for_each(|m| m.references.clear());
    let why = "nothing that is known does it";
    each(&mut none, "memory.triad").for_each(|m| {
        m.missing = [("references".to_owned(), why.to_owned())].into();
    });
    assert_eq!(lacking(&none, "memory.triad"), [format!("No reference tool ran: {why}.")]);
    assert!(!render("terminal", &none).contains(why), "the terminal is short");
    assert!(render("markdown", &none).contains(why));
}

#[test]
fn each_tool_without_a_figure_has_its_own_reason() {
    let mut run = fixture::beside();
    each(&mut run, "network.tcp.stream").for_each(|m| {
        m.references.clear();
        m.missing.insert("references".into(), "both failed".into());
        m.missing.insert("references.iperf".into(), "not installed (iperf)".into());
        m.missing.insert("references.iperf3".into(), "it ended with status 1".into());
    });
    let found = [
        "iperf has no result: not installed (iperf).",
        "iperf3 has no result: it ended with status 1.",
    ];
    assert_eq!(lacking(&run, "network.tcp.stream"), found);
    each(&mut run, "network.tcp.stream").next().unwrap().missing.remove("references.iperf");
    let found = lacking(&run, "network.tcp.stream");
    assert!(found[0].starts_with("iperf has no result (loopback, 2 streams; "), "{found:?}");
}

#[test]
fn a_run_speaks_of_tools_only_if_it_was_to_have_any() {
    let mut run = fixture::alone();
    let of = |run: &Run| [lacking(run, "disk.fsync").len(), lacking(run, "cpu.linpack").len()];
    assert_eq!(of(&run), [0, 0]);
    let mut asked = run.clone();
    each(&mut asked, "disk.fsync").for_each(|m| {
        m.missing.insert("references.sysbench".into(), "not installed".into());
    });
    assert_eq!(of(&asked), [1, 0], "it was asked for");
    let named = |run: &Run| {
        View::from_run(run).lacking.iter().any(|s| s.starts_with("No reference tool ran for"))
    };
    assert!(!named(&run) && named(&asked), "the others are named together");
    let planned = PlannedReference { point: 0, runs: 8, run_s: 1.0 };
    run.plan.references = [("hpl".to_owned(), vec![planned])].into();
    assert!(of(&run) == [0, 0] && named(&run), "it was to run");
}

#[test]
fn what_a_tool_counts_and_how_it_ran_is_said_once() {
    let run = fixture::beside();
    let found = workload(&run, "disk.seq_read").references.tool_notes;
    assert_eq!(found.iter().map(|t| &*t.name).collect::<Vec<_>>(), ["fio 3.33", "iozone 3.489"]);
    let compared = "its mean over time, compared with what each proofmark trial delivered (all work \
                    over all time)";
    assert_eq!(found[0].counts.len(), 2);
    assert_eq!(found[0].counts[1], compared);
    assert_eq!(found[0].commands.len(), 7, "a command line a point");
    assert!(found[0].commands[0].at.contains("4 KiB"), "{:?}", found[0].commands[0]);
    let commits = workload(&run, "disk.fsync").references.tool_notes;
    assert_eq!(commits[0].commands.len(), 1, "two points, one line");
    for format in ["terminal", "markdown", "html"] {
        let text = render(format, &run).replace("\n  ", " ").replace('\n', " ");
        assert_eq!(text.matches("bytes that whole requests returned").count(), 1, "{format}");
    }
    assert!(render("html", &run).contains("<code>fio --rw=read --bs=4096"));
}

#[test]
fn a_tools_findings_bear_its_name_and_come_after_ours() {
    let view = View::from_run(&fixture::beside());
    let cached: Vec<_> = view.findings.iter().filter(|f| f.check == "page_cache").collect();
    assert_eq!(cached.len(), 2, "ours and IOzone's are two");
    assert_eq!(cached[0].tool, None);
    assert_eq!(cached[1].tool.as_deref(), Some("iozone"));
    assert!(cached[1].sentence.starts_with("iozone: the device moved 0 %"));
    assert_eq!(cached[1].places.len(), 2);
    assert!(view.worst_findings().all(|f| f.tool.is_none()), "they speak not against our numbers");
    let of_workload = workload(&fixture::beside(), "network.tcp.stream").findings;
    assert!(of_workload.iter().any(|f| f.sentence.starts_with("iperf3: the hypervisor took 4 %")));
}

#[test]
fn the_first_page_has_one_row_a_workload_and_tool() {
    let view = View::from_run(&fixture::beside());
    let workloads = ["cpu.linpack", "disk.fsync", "disk.seq_read", "disk.seq_read", "memory.triad"];
    assert_eq!(column(&view.references, "workload")[..5], workloads);
    let tools = ["hpl", "sysbench", "fio", "iozone", "stream", "iperf3"];
    assert_eq!(column(&view.references, "tool"), tools);
    let points = column(&view.references, "configuration");
    assert!(points[2].contains("2 threads") && points[2].contains("1 MiB"), "{points:?}");
    assert!(points[3].contains("1 thread") && points[3].contains("8 MiB"), "its own best");
    for width in [80, 40] {
        let options = Options { width, color: false };
        let text = find("terminal").unwrap().render(&fixture::beside(), &options).unwrap();
        let wide = text.lines().find(|l| l.chars().count() > width);
        assert_eq!(wide, None);
        let first = text.split("Comparison with reference").nth(1).unwrap();
        assert!(first.find("0.893") < first.find("cpu.linpack: LINPACK"));
    }
}

#[test]
fn a_tool_beside_lesser_points_only_is_on_the_first_page_with_the_best_of_them() {
    let reference =
        each(&mut fixture::beside(), "memory.triad").next().unwrap().references[0].clone();
    let mut run = fixture::memory();
    for (i, m) in each(&mut run, "memory.sweep").take(2).enumerate() {
        proofmark_model::testing::rescale(m.summary.as_mut().unwrap(), 1.0 + i as f64);
        m.references.push(reference.clone());
    }
    let points = View::from_run(&run).references;
    assert_eq!(column(&points, "configuration"), ["read, 1 thread, working set 8 KiB"]);
}

#[test]
fn a_terminal_shows_few_rows_and_says_how_many_more_there_are() {
    let run = fixture::beside();
    let references = workload(&run, "disk.seq_read").references;
    assert_eq!(references.table.rows.len(), 9);
    assert_eq!(column(&references.brief, "tool"), ["fio", "iozone"]);
    assert_eq!(references.left_out, "Other formats list 7 more comparisons.");
    assert!(render("terminal", &run).contains("7 more comparisons"));
    let few = workload(&run, "network.tcp.stream").references;
    assert_eq!((few.brief, few.left_out), (few.table, String::new()));
}

#[test]
fn bars_stand_side_by_side_in_one_order_of_colours() {
    let run = fixture::beside();
    let charts = workload(&run, "disk.seq_read").references.charts;
    assert_eq!(charts.iter().map(|c| c.points.len()).collect::<Vec<_>>(), [4, 3]);
    let with_both = &charts[0].points[2];
    assert_eq!(with_both.bars.iter().map(|b| b.who).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(with_both.bars[2].bar.mark.verdict, Verdict::Invalid);
    assert!(with_both.ceiling.is_some());
    assert!(charts[0].description.contains("iozone 5.940 (1057.7 % of the ceiling) (invalid)"));
    let page = render("html", &run);
    let titles = page.matches("<figcaption>Sequential read: compared with reference tools").count();
    assert_eq!(titles, 2);
    let (_, chart) =
        page.split_once("Sequential read: compared with reference tools (1 of 2)").unwrap();
    let chart = chart.split("</svg>").next().unwrap();
    for said in
        ["proofmark", "fio", "iozone", "ceiling", "✗ invalid", "var(--s1)", "var(--s2)", "0.6"]
    {
        assert!(chart.contains(said), "{said}");
    }
}

#[test]
fn bars_are_drawn_where_there_are_more_than_two() {
    let run = fixture::beside();
    let charts = |run: &Run, id: &str| workload(run, id).references.charts;
    assert!(charts(&run, "disk.fsync").is_empty(), "one tool and no ceiling");
    let mut run = run;
    for (i, m) in each(&mut run, "disk.fsync").enumerate() {
        let mut another = m.references[0].clone();
        another.tool = "another".into();
        match i {
            0 => m.references.push(another),
            _ => m.references[0].value = f64::NAN,
        }
    }
    let with_two = charts(&run, "disk.fsync");
    let bars: Vec<_> = with_two.iter().flat_map(|c| &c.points).map(|p| p.bars.len()).collect();
    assert_eq!(bars, [3], "two tools and no ceiling");
    assert_eq!(with_two[0].left_out, "1 more configuration: in the table.");
    // A ceiling alone is not beside a tool.
    each(&mut run, "cpu.linpack").flat_map(|m| &mut m.references).for_each(|r| r.value = f64::NAN);
    assert!(charts(&run, "cpu.linpack").is_empty());
}

#[test]
fn of_many_points_the_headlines_is_drawn() {
    let mut run = fixture::beside();
    let template = each(&mut run, "network.tcp.stream").last().unwrap().clone();
    for streams in 5..20 {
        let mut m = template.clone();
        m.params.0.insert("streams".into(), proofmark_model::Param::Int(streams));
        if streams == 19 {
            proofmark_model::testing::rescale(m.summary.as_mut().unwrap(), 2.0);
        }
        run.measurements.push(m);
    }
    let charts = workload(&run, "network.tcp.stream").references.charts;
    let names: Vec<&str> = charts.iter().flat_map(|c| &c.points).map(|p| p.name.as_str()).collect();
    assert_eq!(names.len(), 8);
    assert!(names[7].contains("19 streams"), "{names:?}");
    assert_eq!(charts[1].left_out, "10 more configurations: in the table.");
}

#[test]
fn the_csv_has_their_trials_under_their_names() {
    let run = fixture::beside();
    let all = csv_rows(&run);
    let fio: Vec<_> = all.iter().filter(|r| r["tool"] == "fio").collect();
    assert_eq!(fio.len(), 6 * 6 + 5);
    let bare = &fio[0];
    assert_eq!([&bare["trial"], &bare["seconds_s"], &bare["verdict"]], ["1", "", "valid"]);
    assert!(!bare["value"].is_empty() && !bare["iops"].is_empty());
    assert!(fio[5]["device_read_bytes"].parse::<u64>().unwrap() > 0, "{:?}", fio[5]);
    assert!(fio[5]["command"].starts_with("fio --rw=read") && fio[5]["tool_version"] == "3.33");
    let iozone = all.iter().find(|r| r["tool"] == "iozone").unwrap();
    assert_eq!([&iozone["verdict"], &iozone["block_size"]], ["invalid", "1048576"]);
    // Of which of its trials too little evidence speaks is not known.
    let mut fewer = fixture::beside();
    each(&mut fewer, "cpu.linpack").flat_map(|m| &mut m.references).for_each(|r| {
        r.evidence.truncate(3);
    });
    let rows = csv_rows(&fewer);
    assert!(rows.iter().filter(|r| r["tool"] == "hpl").all(|r| r["work"].is_empty()));
    let ours = all.iter().filter(|r| r["tool"] == "proofmark").count();
    let trials: usize = run.measurements.iter().map(|m| m.trials.len().max(1)).sum();
    assert_eq!(ours, trials);
}

#[test]
fn every_pair_of_trials_is_in_the_page() {
    let run = fixture::beside();
    let pairs = workload(&run, "cpu.linpack").references.pairs;
    assert_eq!(pairs.rows.len(), 4 * 6);
    assert_eq!(column(&pairs, "proofmark / tool")[..6], ["1.064"; 6]);
    assert!(render("html", &run).contains("every pair of trials"));
    assert!(render("html", &run).contains("<dt>tool time</dt>"));
    for (format, has) in [("html", true), ("markdown", false), ("terminal", false)] {
        let found =
            render(format, &run).replace("\n  ", " ").contains("wall time of its whole run");
        assert_eq!(found, has, "{format}: where the column is");
    }
}

#[test]
fn workloads_without_a_tool_and_without_a_reason_are_named_once() {
    let run = fixture::published();
    let view = View::from_run(&run);
    let silent = "No reference tool ran for 21 workloads; no reason was recorded.";
    assert!(view.lacking.iter().any(|s| s == silent), "{:?}", view.lacking);
    assert!(lacking(&run, "cpu.flops").is_empty());
    let mut some = run.clone();
    let with = each(&mut some, "cpu.linpack").find(|m| !m.references.is_empty());
    with.unwrap().references.clear();
    let found = lacking(&some, "cpu.linpack");
    assert!(found.iter().any(|s| s.ends_with(": no reason was recorded.")), "{found:?}");
    for format in ["terminal", "markdown", "html"] {
        let text = render(format, &run).replace('\n', " ");
        assert_eq!(text.matches("; no reason was recorded.").count(), 1, "{format}");
    }
    assert!(View::from_run(&fixture::alone()).lacking.iter().all(|s| !s.contains("tool")));
}
