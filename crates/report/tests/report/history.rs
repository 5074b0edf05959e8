//! Past runs in every form, on histories that no machine made.

use proofmark_model::{
    Better, Difference, FigureKind, LevelChange, Params, PastFigure, PastPoint, PastRun, Reliance,
    Timestamp, Unit, Verdict, VerdictCounts, key,
};
use proofmark_report::Options;
use proofmark_report::history::{FORMATS, OverTime, Writer};

const WIDE: Options = Options { width: 100, color: false };

fn day(n: i64) -> Timestamp {
    Timestamp::from_millis(1_760_000_000_000 + n * 86_400_000).unwrap()
}

fn past(id: i64) -> PastRun {
    PastRun {
        id,
        started: day(id),
        ended: Some(day(id)),
        host: Some("node1".into()),
        label: None,
        machine: "A CPU, 2 CPUs, 16 GiB".into(),
        kernel: Some("6.18.5".into()),
        profile: "quick".into(),
        version: "0.1.0".into(),
        path: format!("/runs/{id}"),
        verdicts: VerdictCounts { valid: 10, suspect: 2, ..VerdictCounts::default() },
        missing: Default::default(),
    }
}

fn point(run: i64, threads: u64, value: f64) -> PastPoint {
    PastPoint {
        run,
        started: day(run),
        host: Some("node1".into()),
        label: None,
        machine: "A CPU, 2 CPUs, 16 GiB".into(),
        workload: "cpu.flops".into(),
        method_version: 1,
        params: Params::default().with(key::ISA, "avx2").with(key::THREADS, threads),
        unit: Unit::FlopPerSecond,
        better: Better::Higher,
        over_time: false,
        trials: 8,
        headline: FigureKind::Delivered,
        value: Some(value),
        ci95: Some([value * 0.99, value * 1.01]),
        attainable: None,
        delivered: Some(PastFigure { value, ci95: Some([value * 0.99, value * 1.01]) }),
        levels: None,
        efficiency: Some(0.9),
        reliance: Reliance::Known,
        verdict: Verdict::Valid,
        missing: Default::default(),
    }
}

/// Sets the figure that the line follows.
fn delivered(p: &mut PastPoint, value: f64) {
    p.value = Some(value);
    p.delivered = Some(PastFigure { value, ci95: p.ci95 });
}

/// Two points in three runs; the second point lost a tenth in the last.
fn two() -> Vec<PastPoint> {
    let at = |threads, values: [f64; 3]| {
        let one = move |(i, v): (usize, &f64)| point(i as i64 + 1, threads, *v * 1e9);
        values.iter().enumerate().map(one).collect::<Vec<_>>()
    };
    [at(1, [50.0, 50.5, 50.0]), at(2, [100.0, 101.0, 90.0])].concat()
}

fn form(id: &str) -> Writer {
    FORMATS.iter().find(|form| form.id == id).unwrap().write
}

/// Points of `cpu.flops` in a form.
fn points(all: &[PastPoint], id: &str, options: &Options) -> String {
    over_time("cpu.flops", all, id, options)
}

pub fn over_time(workload: &str, points: &[PastPoint], id: &str, options: &Options) -> String {
    (form(id).over_time)(&OverTime { workload, spec: None, points, changes: &[] }, options).unwrap()
}

fn runs(all: &[PastRun], id: &str, options: &Options) -> String {
    (form(id).runs)(all, options).unwrap()
}

fn drawn(all: &[PastPoint], width: usize) -> String {
    points(all, "terminal", &Options { width, color: false })
}

/// The first point with another headline than delivered, the last of its runs sampled over time.
fn other_figures() -> Vec<PastPoint> {
    let mut all = two();
    for p in &mut all[..3] {
        let value = p.value.unwrap();
        let ci95 = Some([0.4 * value, 0.6 * value]);
        p.headline = FigureKind::Attainable;
        p.attainable = Some(PastFigure { value, ci95: p.ci95 });
        p.delivered = Some(PastFigure { value: 0.5 * value, ci95 });
    }
    (all[2].over_time, all[2].levels, all[2].ci95) = (true, Some(3), None);
    all
}

/// A point in twelve runs, on two numbers of threads, on a machine with this name.
pub fn twelve(host: &str) -> Vec<PastPoint> {
    let one = |threads: i64, run: i64| PastPoint {
        host: Some(host.into()),
        headline: FigureKind::Typical,
        verdict: [Verdict::Valid, Verdict::Suspect, Verdict::Invalid][(run % 3) as usize],
        ..point(run, threads.unsigned_abs(), 8e9 * (threads * 10 + run % 3) as f64)
    };
    let mut all: Vec<_> =
        (1..=2).flat_map(|threads| (1..=12).map(move |run| one(threads, run))).collect();
    (all[3].ci95, all[3].delivered) =
        (None, all[3].delivered.map(|f| PastFigure { ci95: None, ..f }));
    all
}

#[test]
fn forms() {
    let why = ("host".to_owned(), "the run file has none".to_owned());
    let unnamed = PastRun { host: None, missing: [why].into(), ..past(12) };
    let list = [past(1), PastRun { label: Some("tuned".into()), ..past(2) }, unnamed];
    for id in ["terminal", "csv"] {
        let of = |all: &[PastPoint]| points(all, id, &WIDE);
        let all = [runs(&list, id, &WIDE), of(&two()), of(&other_figures())];
        insta::assert_snapshot!(id, all.join("\n---\n\n"));
    }
    for width in [20, 40, 60, 80] {
        let list = runs(&list, "terminal", &Options { width, color: false });
        for line in [list, drawn(&two(), width), drawn(&other_figures(), width)].concat().lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn the_json_reads_back_unchanged() {
    let json = points(&other_figures(), "json", &WIDE);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let read: Vec<PastPoint> = serde_json::from_value(value["points"].clone()).unwrap();
    assert_eq!(read, other_figures());
    let json = runs(&[past(1)], "json", &WIDE);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let read: Vec<PastRun> = serde_json::from_value(value["runs"].clone()).unwrap();
    assert_eq!(read, [past(1)]);
}

/// Lines are of one machine, signs of several runs where there are many.
#[test]
fn edited() {
    let mut out = String::new();
    let mut says = |what: &str, all: &[PastPoint], width: usize| {
        let text = drawn(all, width);
        let first: Vec<&str> = text.lines().take(40).collect();
        out += &format!("# {what}\n{}\n\n", first.join("\n"));
    };
    let mut all = two();
    (all[1].host, all[2].host) = (Some("node2".into()), None);
    says("several machines, one without a name", &all, 80);
    let mut one = two()[..3].to_vec();
    one[2].machine = "A CPU, 64 CPUs, 256 GiB".into();
    says("a name passed on to another machine", &one, 80);
    one[2].host = None;
    says("that machine has no name", &one, 80);
    one[1].host = None;
    says("two machines without a name", &one[1..], 80);
    let mut all = two()[..3].to_vec();
    delivered(&mut all[1], 9e15);
    all[1].verdict = Verdict::Invalid;
    says("an invalid number is no measure of change nor of the scale", &all, 80);
    let mut series = |values: &[f64], width: usize| {
        let one = |(i, v): (usize, &f64)| point(i as i64, 1, *v);
        let all: Vec<_> = values.iter().enumerate().map(one).collect();
        says(&format!("{} runs on {width} columns", values.len()), &all, width);
    };
    series(&[100.0, 50.0, 100.0], 80);
    series(&[1e308, -1e308, 1.0], 80);
    series(&[-1.0, f64::INFINITY, 1.0, f64::NAN], 80);
    series(&[0.0, 0.0], 80);
    series(&(0..100).map(|i| f64::from(i / 50) + 1.0).collect::<Vec<_>>(), 20);
    insta::assert_snapshot!(out);
}

#[test]
fn untrusted_text_stays_text() {
    let bad = "=1+1\u{1b}[31m\u{202e}\nx</script><script>";
    let mut run = past(1);
    (run.path, run.machine, run.profile) = (bad.into(), bad.into(), bad.into());
    (run.host, run.version) = (Some(bad.into()), bad.into());
    let mut number = point(1, 1, f64::INFINITY);
    number.host = Some(bad.into());
    number.machine = bad.into();
    number.params = Params::default().with_named(bad, bad);
    number.ci95 = Some([f64::NAN, -1.0]);
    let other = PastPoint { host: None, ..point(2, 1, -5.0) };
    for form in ["terminal", "csv", "html"] {
        let lists = runs(&[run.clone()], form, &WIDE);
        let lines = over_time(bad, &[number.clone(), other.clone()], form, &WIDE);
        for text in [lists, lines] {
            assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
            assert!(form != "csv" || !text.contains(",="), "{text:?}");
            assert!(form != "html" || text.matches("<script>").count() == 1, "{text:?}");
        }
    }
}

#[test]
fn the_page_has_a_chart_a_line() {
    let mut all = two();
    all[4].verdict = Verdict::Suspect;
    delivered(&mut all[5], f64::INFINITY);
    let page = points(&all, "html", &WIDE);
    assert_eq!((page.matches("<svg viewBox").count(), page.matches("<tbody>").count()), (2, 2));
    assert!(page.contains("run 2, 2025-10-11 08:53: 50.50"), "a mark says what it is");
    assert!(page.contains("! suspect") && page.contains("role=\"img\""));
    let page = points(&other_figures(), "html", &WIDE);
    assert!(page.contains("25.00 GFLOP/s, over 3 levels, ✓ valid") && page.contains("25.25"));
    let empty = points(&[], "html", &WIDE);
    assert!(empty.contains("The history holds no such results"));
}

/// Attainable hides what a run lost; the curve and the change show it.
#[test]
fn the_line_follows_what_was_delivered() {
    let mut all: Vec<PastPoint> = (1..=4).map(|run| point(run, 2, 118.1e9)).collect();
    for (p, value) in all.iter_mut().zip([115e9, 114e9, 39e9, 40e9]) {
        p.headline = FigureKind::Attainable;
        p.attainable = Some(PastFigure { value: 118.1e9, ci95: p.ci95 });
        p.delivered = Some(PastFigure { value, ci95: Some([value * 0.9, value * 1.1]) });
    }
    let text = drawn(&all, 100);
    assert!(text.contains("delivered, higher is better"), "{text}");
    assert!(text.contains("-65.8") && text.contains("118.1"), "{text}");
    assert!(text.contains("██▁▁") || text.contains("▇▇▁▁"), "{text}");
    let page = points(&all, "html", &WIDE);
    assert!(page.contains("run 3, 2025-10-12 08:53: 39.00 GFLOP/s, 95 % interval"), "{page}");

    // A clock delivers nothing: its headline is followed.
    for p in &mut all {
        (p.unit, p.delivered) = (Unit::Hertz, None);
    }
    assert!(drawn(&all, 100).contains("attainable, higher is better"));
    // A run without the figure is no zero, and no measure of change.
    all.iter_mut().for_each(|p| delivered(p, 50e9));
    (all[1].delivered, all[1].headline) = (None, FigureKind::Attainable);
    all.iter_mut().for_each(|p| p.unit = Unit::FlopPerSecond);
    let text = drawn(&all, 100);
    assert!(text.contains("-[1]") && text.contains("has no delivered figure"), "{text}");
    assert!(!text.contains("-100"), "{text}");
    // A run without clean windows has no headline; what it delivered is drawn.
    (all[2].value, all[2].headline) = (None, FigureKind::Attainable);
    delivered(&mut all[3], 25e9);
    all[2].delivered = Some(PastFigure { value: 20e9, ci95: None });
    all[2].missing = [("value".to_owned(), "no clean windows".to_owned())].into();
    let text = drawn(&all, 100);
    assert!(text.contains("-60.0") && text.contains("+25.0"), "{text}");
    assert!(text.contains("] no clean windows"), "{text}");
}

#[test]
fn hosts_are_lines_and_labels_rows() {
    let mut all: Vec<PastPoint> = (1..=4).map(|run| point(run, 2, 50e9)).collect();
    all[1].label = Some("tuned".into());
    all[3].host = Some("node2".into());
    all[0].missing = [("label".to_owned(), "not kept".to_owned())].into();
    let text = drawn(&all, 100);
    assert!(text.contains("lines 2; "), "{text}");
    assert!(text.contains("\non node1\n") && text.contains("\non node2\n"), "{text}");
    let row = |word: &str| text.lines().find(|line| line.contains(word)).unwrap_or_default();
    assert!(row("label").contains("delivered") && row("tuned").contains("08:53"), "{text}");
    assert!(text.contains("[1] not kept"), "an older row has a reason: {text}");
}

/// A narrow terminal says which columns it leaves out.
#[test]
fn no_column_is_left_out_silently() {
    let mut list = [past(1)];
    list[0].label = Some("tuned".into());
    for width in [30, 60, 80, 100, 200] {
        let options = Options { width, color: false };
        for text in [runs(&list, "terminal", &options), drawn(&other_figures(), width)] {
            let words = text.replace('\n', " ");
            for column in ["host", "label", "machine", "profile", "results", "path"] {
                let there = !text.contains("past run") || words.contains(column);
                assert!(there, "{column} at {width}: {text}");
            }
            for column in ["attainable", "95 % interval", "of ceiling", "change", "verdict"] {
                let there = text.contains("past run") || words.contains(column);
                assert!(there, "{column} at {width}: {text}");
            }
            let says = text.contains("Not shown at this width: ");
            assert_eq!(says, text.contains("see --format csv."), "{text}");
            assert!(width < 200 || !says, "{text}");
        }
    }
    assert!(runs(&list, "terminal", &Options { width: 60, color: false }).contains("Not shown"));
}

/// Parameters have the names of columns, of declared ones and of a stranger's.
#[test]
fn each_column_of_the_csv_has_a_name_of_its_own() {
    let mut all = two();
    for (p, name) in all.iter_mut().zip(["run", "trials", "verdict", "method_version", "=host"]) {
        p.params = Params::default().with_named(name, 1).with_named("method", "x");
    }
    all[5].params = Params::default().with_named("param_run", 1).with_named("'=host", 1);
    let csv = points(&all, "csv", &WIDE);
    let mut names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert!(names.contains(&"method") && names.contains(&"method_version"), "{names:?}");
    assert!(names.contains(&"param_trials"), "{names:?}");
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "{csv}");
}

/// A share of an assumed ceiling is no efficiency of the machine.
#[test]
fn a_share_of_a_doubtful_ceiling_has_a_note() {
    let share = |reliance| {
        let all: Vec<PastPoint> = two().into_iter().map(|p| PastPoint { reliance, ..p }).collect();
        points(&all, "terminal", &WIDE)
    };
    assert!(!share(Reliance::Known).contains("[1]"));
    for (reliance, note) in [
        (Reliance::Assumed, "of an assumed ceiling"),
        (Reliance::Rough, "of a rough ceiling, whose uncertainty is 30 %"),
        (Reliance::Shared, "of a ceiling that both"),
    ] {
        let text = share(reliance);
        assert!(text.contains("90.0[1]") && text.contains(&format!("[1] {note}")), "{text}");
    }
}

/// A change that is older than the runs which are listed is named, too.
#[test]
fn changes_of_level_are_named_with_what_differs() {
    let change = |host: &str, differences, missing| LevelChange {
        host: Some(host.into()),
        machine: "A CPU, 2 CPUs, 16 GiB".into(),
        params: two()[0].params.clone(),
        over_time: false,
        figure: FigureKind::Delivered,
        between: [-8, -7],
        started: day(-7),
        medians: [100e9, 50e9],
        runs: [12, 9],
        differences,
        missing,
    };
    let kernel = Difference { what: "kernel".into(), a: "6.1".into(), b: "6.2".into() };
    let changes = [
        change("node1", vec![kernel], None),
        change("node1", Vec::new(), None),
        change("node1", Vec::new(), Some("run -8 is gone".into())),
        change("another", Vec::new(), None),
    ];
    let points = two();
    let all = OverTime { workload: "cpu.flops", spec: None, points: &points, changes: &changes };
    let text = (form("terminal").over_time)(&all, &WIDE).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let level =
        "median 100.0 GFLOP/s in 12 runs before, 50.00 GFLOP/s in 9 runs after (ratio 0.500)";
    assert_eq!(text.matches(level).count(), 3, "{text}");
    for says in [
        "Differences from run -8: kernel 6.1 before, 6.2 after.",
        "No known fact differs from run -8.",
        "Differences from run -8 are not known: run -8 is gone.",
    ] {
        assert_eq!(text.matches(says).count(), 1, "{says}: {text}");
    }
    let json = (form("json").over_time)(&all, &WIDE).unwrap();
    assert!(json.contains("\"changes\": [") && json.contains("\"6.2\""), "{json}");
}
