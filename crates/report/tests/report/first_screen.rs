//! The first screen of unusual runs.

use proofmark_model::{
    Ceiling, FigureKind, Finding, Measurement, Precision, Probe, Provenance, Run, Severity,
    StorageKind, Subsystem, Summary, Verdict, key,
};
use proofmark_report::view::{Lost, ScreenRow, View};
use proofmark_report::{Options, find, terminal};

use super::dump::Dump;
use super::fixture;
use super::reading::{MORE, each, render, workloads};

fn brief(run: &Run, width: usize) -> String {
    terminal::brief(run, &Options { width, color: false }, &MORE)
}

/// The fixture with that verdict and half-width for its fastest `cpu.flops`.
fn with_best(verdict: Verdict, half_width: f64) -> Run {
    let mut run = fixture::run();
    let value = |m: &Measurement| m.summary.as_ref().map_or(0.0, Summary::value);
    let best = each(&mut run, "cpu.flops").max_by(|a, b| value(a).total_cmp(&value(b))).unwrap();
    best.verdict = verdict;
    best.precision = Some(Precision { half_width, target: 0.005, reached: half_width <= 0.005 });
    run
}

#[test]
fn rows() {
    let mut out = Dump::default();
    let mut says = |what: &str, run: &Run| {
        out.text += &format!("# {what}\n{}", brief(run, 80));
        out.says(what, run, &["* summary/first", "* precision"]);
    };
    let mut run = fixture::run();
    run.measurements.retain(|m| m.workload == "cpu.mix.int");
    says("few results are all shown", &run);
    let mut run = fixture::run();
    run.measurements.retain(|m| m.workload.starts_with("cpu.mix"));
    run.measurements = [&run.measurements[..]; 3].concat();
    says("a subsystem without a declared row has one a workload", &run);
    let mut run = fixture::published();
    run.measurements.retain(|m| m.workload == "disk.rand_read" || m.workload == "disk.seq_read");
    each(&mut run, "disk.rand_read").for_each(|m| m.verdict = Verdict::Invalid);
    let mut storage = fixture::disk().host.storage.get().unwrap().clone();
    (storage.kind, storage.devices) = (StorageKind::Memory, vec![]);
    run.host.storage = Probe::known(storage, "fixture");
    says("in memory; an invalid result keeps its row and loses its figure", &run);
    let mut run = fixture::beside();
    run.measurements.retain(|m| m.workload == "cpu.linpack");
    for r in each(&mut run, "cpu.linpack").flat_map(|m| &mut m.references) {
        r.verdict = Verdict::Invalid;
    }
    says("no tool is named whose result is invalid", &run);
    let mut run = fixture::published();
    run.measurements.retain(|m| m.workload.starts_with("cpu.") && m.series.is_none());
    for m in each(&mut run, "cpu.flops") {
        let Some(s) = &mut m.summary else { continue };
        (s.headline, s.attainable) = (FigureKind::Attainable, s.delivered.clone());
        s.delivered.value = s.delivered.value.map(|value| 0.25 * value);
        m.findings =
            vec![Finding::new("steal", Severity::Suspect, "taken", "ask for dedicated CPUs")];
        m.verdict = Verdict::Suspect;
    }
    says("a quarter of what is attainable was delivered", &run);
    says("the best is precise", &with_best(Verdict::Valid, 0.001));
    says("the best is suspect and not precise", &with_best(Verdict::Suspect, 0.2));
    says("the best is invalid", &with_best(Verdict::Invalid, 0.001));
    let mut run = fixture::disk();
    run.measurements.retain(|m| m.workload == "disk.fsync");
    for m in &mut run.measurements {
        m.params = m.params.clone().with(key::MODE, "overwrite").with(key::METHOD, "o_dsync");
    }
    says("a commit of another method, in a mode that is not the usual one", &run);
    insta::assert_snapshot!(out.text);
}

#[test]
fn the_end_of_a_run_and_its_summary_are_short() {
    let mut run = fixture::published();
    let text = render("summary", &run);
    let first = View::from_run(&run).summary.first;
    let rows: usize = first.parts.iter().map(|part| part.rows.len()).sum();
    let more = usize::from(first.more > 0);
    assert!(text.lines().count() <= 8 + first.causes.len() + more + rows, "{text}");
    // A ticket's reader sees one result a line.
    for row in first.parts.iter().flat_map(|part| &part.rows) {
        let begins = format!("- {}: ", row.name());
        let lines = text.lines().filter(|line| line.starts_with(&begins));
        assert_eq!(lines.count(), 1, "{begins}: {text}");
    }
    let longest = text.lines().filter(|line| line.starts_with("- ")).map(str::len).max();
    assert!(longest.unwrap() < 160, "{longest:?}: {text}");
    run.measurements.retain(|m| m.series.is_none());
    let brief = brief(&run, 80);
    assert!(brief.lines().count() <= 32, "{}\n{brief}", brief.lines().count());
    assert!(brief.lines().all(|line| line.chars().count() <= 80), "{brief}");
}

/// A card, the list below it and the text to copy show one value for one row.
#[test]
fn a_row_has_one_value_on_all_pages() {
    let mut rows_seen = 0;
    for run in [fixture::run(), fixture::disk(), fixture::network(), fixture::loopback()] {
        let rows = View::from_run(&run).summary.first.parts.into_iter().flat_map(|p| p.rows);
        let rows: Vec<_> = rows.collect();
        for section in workloads(&run) {
            let here: Vec<_> = rows.iter().filter(|r| r.anchor == section.anchor).collect();
            let figure = section.figure.unwrap();
            let same = |r: &&&ScreenRow| {
                (&r.value, &r.unit, &r.configuration)
                    == (&figure.value, &figure.unit, &figure.configuration)
            };
            if figure.value.is_some() && !here.is_empty() {
                assert_eq!(here.iter().filter(same).count(), 1, "{here:#?}\n{figure:#?}");
                rows_seen += 1;
            }
        }
        let json = serde_json::to_value(&View::from_run(&run).summary.first).unwrap();
        let copied = json["parts"].as_array().unwrap().iter();
        let copied =
            copied.flat_map(|p| p["rows"].as_array().unwrap()).map(|r| r["value"].as_str());
        assert!(copied.eq(rows.iter().map(|r| r.value.as_deref())));
    }
    assert!(rows_seen > 10, "{rows_seen}");
}

/// A bar that is nearly empty would read as a fault of the machine.
#[test]
fn only_known_ceilings_of_this_machine_have_a_bar() {
    let bar = |run: &Run, workload: &str| {
        let parts = View::from_run(run).summary.first.parts;
        let row = parts.into_iter().flat_map(|p| p.rows).find(|r| r.workload == workload).unwrap();
        let near = row.near.unwrap();
        (near.word, near.bar.is_some(), render("html", run).matches("class=\"meter\"").count())
    };
    let only = |mut run: Run, workload: &str| {
        run.measurements.retain(|m| m.workload == workload);
        run
    };
    let known = only(fixture::run(), "cpu.flops");
    let (word, has_bar, meters) = bar(&known, "cpu.flops");
    assert!((word, has_bar) == ("ceiling", true) && meters > 0);
    let change = |run: &Run, change: &dyn Fn(&mut Ceiling)| {
        let mut run = run.clone();
        run.measurements.iter_mut().filter_map(|m| m.ceiling.as_mut()).for_each(change);
        run
    };
    let guessed = change(&known, &|c| c.inputs[0].source = Provenance::Assumed);
    let loose = change(&known, &|c| c.uncertainty = 0.3);
    let shared = change(&known, &|c| c.id = "network.loopback".to_owned());
    for (run, word) in
        [(guessed, "assumed ceiling"), (loose, "rough ceiling"), (shared, "shared ceiling")]
    {
        assert_eq!(bar(&run, "cpu.flops"), (word, false, 0));
        assert!(render("html", &run).contains(&format!("% of {word}")), "{word}");
    }
}

/// What was not delivered is in the bar; where it is not known, no part of the bar is dark.
#[test]
fn a_bar_shows_what_was_delivered() {
    let mut run = fixture::run();
    run.measurements.retain(|m| m.workload == "cpu.flops" && m.efficiency.is_some());
    let set = |run: &mut Run, delivered: Option<f64>| {
        for m in each(run, "cpu.flops") {
            let s = m.summary.as_mut().unwrap();
            let value = s.value();
            (s.headline, s.attainable) = (FigureKind::Attainable, s.delivered.clone());
            s.attainable.value = Some(value);
            s.delivered.value = delivered.map(|share| share * value);
            s.delivered.missing = delivered.is_none().then(|| "no period was seen".to_owned());
        }
    };
    let row = |run: &Run| View::from_run(run).summary.first.parts[0].rows[0].clone();
    set(&mut run, Some(0.4));
    let meter = row(&run).near.unwrap().bar.unwrap();
    assert!((meter.delivered.unwrap() - 0.4 * meter.headline).abs() < 0.1, "{meter:?}");
    assert_eq!(row(&run).lost, Some(Lost::Share("40.0 %".to_owned())));
    assert!(render("html", &run).contains("(40.0 %)"));
    set(&mut run, None);
    assert_eq!(row(&run).near.unwrap().bar.unwrap().delivered, None);
    assert_eq!(row(&run).lost, Some(Lost::Unknown("no period was seen".to_owned())));
    assert!(render("html", &run).contains("delivered: not known"));
}

/// Each figure with an interval of its own: the headline's ends are 1 % away from it, those of
/// delivered 25 % below and 5 % above.
fn with_two_intervals(mut run: Run) -> Run {
    for m in &mut run.measurements {
        let on_cpus = [Subsystem::Cpu, Subsystem::Memory].contains(&m.subsystem);
        let has_headline = on_cpus && m.unit.is_work() && m.series.is_none();
        let Some(s) = &mut m.summary else { continue };
        let headline = s.value();
        if has_headline && s.headline == FigureKind::Delivered {
            (s.headline, s.attainable.value) = (FigureKind::Attainable, Some(headline));
        }
        for figure in [&mut s.attainable, &mut s.typical] {
            figure.ci95 = figure.value.map(|v| [0.99 * v, 1.01 * v]);
        }
        let delivered = if s.headline == FigureKind::Delivered { headline } else { 0.6 * headline };
        s.delivered.value = Some(delivered);
        s.delivered.ci95 = Some([0.75 * delivered, 1.05 * delivered]);
    }
    run
}

/// The tables of a Markdown text: titles, and the cells of each row.
fn tables(text: &str) -> Vec<(Vec<String>, Vec<Vec<String>>)> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()
    };
    let mut all = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with('|')
            && lines
                .peek()
                .is_some_and(|next| next.starts_with("| --:") || next.starts_with("| :--"))
        {
            lines.next();
            let mut rows = Vec::new();
            while let Some(row) = lines.next_if(|row| row.starts_with('|')) {
                rows.push(cells(row));
            }
            all.push((cells(line), rows));
        }
    }
    all
}

/// A reader takes an interval for that of the figure to its left, and chooses limits by it.
#[test]
fn an_interval_is_next_to_the_figure_that_it_is_of() {
    let number = |cell: &str| cell.split_whitespace().next()?.parse::<f64>().ok();
    let (mut intervals, mut halves) = (0, 0);
    for run in fixture::every().map(with_two_intervals) {
        let options = Options { width: 200, color: false };
        let short = find("markdown").unwrap().render_short(&run, &options, &MORE).unwrap();
        for (titles, rows) in tables(&(render("markdown", &run) + &short)) {
            for at in 1..titles.len() {
                for row in &rows {
                    let (Some(left), cell) = (number(&row[at - 1]), &row[at]) else { continue };
                    if titles[at].starts_with("95 % interval") && titles[at - 1] != "±" {
                        let Some((low, high)) = cell.split_once('–') else { continue };
                        let (Some(low), Some(high)) = (number(low), number(high)) else { continue };
                        let inside = low <= 1.001 * left && left <= 1.001 * high;
                        assert!(inside, "{}: {left} {cell}: {titles:?} {row:?}", titles[at - 1]);
                        intervals += 1;
                    }
                    let expected = match titles[at - 1].as_str() {
                        "delivered" => "15.0 %",
                        "attainable" | "typical" | "undisturbed" => "1.0 %",
                        _ => continue,
                    };
                    if titles[at] == "±" && cell.ends_with('%') {
                        assert_eq!(cell, expected, "{titles:?} {row:?}");
                        halves += 1;
                    }
                }
            }
        }
    }
    assert!(intervals > 100 && halves > 20, "{intervals} {halves}");
}

/// `check` tests delivered: its interval is on the screen also where the terminal is narrow.
#[test]
fn a_limit_can_be_chosen_from_a_narrow_screen() {
    let mut seen = 0;
    for run in [fixture::run(), fixture::beside(), fixture::memory()].map(with_two_intervals) {
        let rows = View::from_run(&run).summary.first.parts.into_iter().flat_map(|p| p.rows);
        let rows: Vec<_> = rows.filter(|r| r.delivered.is_some()).collect();
        let brief = brief(&run, 80);
        assert!(brief.lines().all(|line| line.chars().count() <= 80), "{brief}");
        for row in rows {
            let interval = row.delivered_interval.clone().unwrap();
            // The notes above the table may begin with the same name.
            let mut lines = brief.lines().skip_while(|line| !line.is_empty());
            let line = lines.find(|line| line.starts_with(&format!("{} ", row.name()))).unwrap();
            let next = format!("{} {interval}", row.delivered.clone().unwrap());
            let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(&next), "{next}: {brief}");
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen}");
}

/// Two runs of one machine may differ by their vCPU placement alone.
#[test]
fn the_vcpu_placement_of_memory_loads_is_on_the_first_screen() {
    let mut run = fixture::memory();
    let placed = |run: &Run| {
        let notes = View::from_run(run).summary.first.notes;
        notes.above.into_iter().chain(notes.below).find(|n| n.starts_with("vCPU placement of "))
    };
    assert_eq!(placed(&run), None, "placements that are not known are not named");
    let place = |name: &str, ns: Option<f64>, share: f64| proofmark_model::CpuPlacement {
        name: name.to_owned(),
        round_trip_s: ns.map(|ns| 1e-9 * ns),
        rounds: 5,
        share,
        figure: None,
    };
    for m in run.measurements.iter_mut().filter(|m| m.subsystem == Subsystem::Memory) {
        let known = place("far (390 ns)", Some(390.0), 0.625);
        m.cpu_placements = vec![known, place("unknown", None, 0.375)];
    }
    let first = View::from_run(&run).summary.first;
    let rows =
        first.parts.iter().flat_map(|p| &p.rows).filter(|r| r.workload.starts_with("memory"));
    let many: Vec<_> = rows.filter(|r| !r.name().contains("1 CPU")).collect();
    let words = placed(&run).unwrap();
    assert!(words.contains("far (390 ns)"), "{words}");
    assert!(many.iter().any(|row| words.contains(&row.title)), "{words}");
    for text in [brief(&run, 100), render("summary", &run), render("terminal", &run)] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&words), "{words}: {text}");
    }
    for m in &mut run.measurements {
        m.cpu_placements = vec![place("unknown", None, 1.0)];
    }
    assert_eq!(placed(&run), None);
}

/// An interval of delivered that is far wider than the undisturbed figure's looks like a mistake.
#[test]
fn a_slow_end_far_below_delivered_is_explained_once() {
    let with = |slow: f64, narrow: f64| {
        let mut run = with_two_intervals(fixture::run());
        for m in run.measurements.iter_mut().filter(|m| m.unit.is_work()) {
            let Some(s) = &mut m.summary else { continue };
            let of = |v: f64, [low, high]: [f64; 2]| Some([low * v, high * v]);
            s.delivered.ci95 = s.delivered.value.and_then(|v| of(v, [slow, 1.02]));
            for figure in [&mut s.attainable, &mut s.typical] {
                figure.ci95 = figure.value.and_then(|v| of(v, [1.0 - narrow, 1.0 + narrow]));
            }
        }
        let notes = View::from_run(&run).summary.first.notes;
        assert!(!notes.above.iter().any(|n| n.contains("slow end")));
        notes.below.into_iter().filter(|n| n.contains("slow end")).collect::<Vec<_>>()
    };
    let said = with(0.75, 0.01);
    assert!(said.len() == 1 && said[0].chars().count() <= 80, "{said:?}");
    assert!(with(0.95, 0.01).is_empty() && with(0.75, 0.3).is_empty());
}
