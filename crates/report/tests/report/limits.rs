//! Figures of a machine whose time or I/O was limited: what was delivered, and which limit was
//! reached.

use proofmark_model::{
    Bottleneck, CpuPlacement, CpuQuota, Figure, FigureKind, Measurement, Probe, Round, Run,
    Subsystem, Summary, TimeAccount, Verdict, key,
};
use proofmark_report::view::conclusions_of;
use proofmark_report::{Options, terminal};

use super::fixture;
use super::reading::{MORE, each, render};

fn brief(run: &Run, width: usize) -> String {
    terminal::brief(run, &Options { width, color: false }, &MORE)
}

/// A text as one line.
fn one_line(text: &str) -> String {
    text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts a result into rounds, with that headline, and sets what it delivered.
fn cut(m: &mut Measurement, headline: FigureKind, delivered: Option<f64>) {
    let s = m.summary.as_mut().unwrap();
    let value = s.value();
    let figure =
        |v: f64| Figure { value: Some(v), ci95: Some([0.99 * v, 1.01 * v]), ..Figure::default() };
    (s.attainable, s.typical) = (figure(value), figure(value));
    s.headline = headline;
    s.delivered = match delivered {
        Some(v) => figure(v),
        None => Figure::none("no round shows the CPU quota's share"),
    };
    for t in &mut m.trials {
        t.rounds = vec![Round { delivered: delivered.unwrap_or(value), ..Round::default() }];
    }
}

/// `cpu.flops` on 1 and 2 threads of which a quota left that much.
fn under_a_quota(delivered: [Option<f64>; 2]) -> Run {
    let mut run = fixture::run();
    run.measurements.retain(|m| {
        m.workload == "cpu.flops"
            && m.params.get(key::ISA) == Some("avx2")
            && m.params.threads() <= 2
    });
    for m in each(&mut run, "cpu.flops") {
        let at = usize::from(m.params.threads() == 2);
        cut(m, FigureKind::Attainable, delivered[at]);
        (m.verdict, m.findings) = (Verdict::Valid, vec![]);
    }
    run
}

#[test]
fn a_sentence_on_threads_under_a_quota_says_what_was_delivered() {
    let sentences = |run: &Run| -> Vec<String> {
        conclusions_of(run).into_iter().flat_map(|c| c.claims).map(|c| c.text).collect()
    };
    let run = under_a_quota([Some(50e9), Some(66e9)]);
    let said = sentences(&run);
    let about = said.iter().find(|s| s.contains(" is 2.00 times ")).unwrap();
    assert!(about.contains("attainable"), "{about}");
    assert!(about.ends_with(" Delivered: 1.32 times, 66.00 vs. 50.00 GFLOP/s."), "{about}");
    let text = one_line(&render("terminal", &run));
    let change = "attainable: 2.00 times with 2; delivered: 1.32 times with 2.";
    assert!(text.contains(change), "{text}");
    // One of them was not measured long enough.
    let run = under_a_quota([Some(50e9), None]);
    let said = sentences(&run);
    assert!(said.iter().any(|s| s.ends_with(" Delivered: not known.")), "{said:?}");
    assert!(one_line(&render("terminal", &run)).contains("delivered: not known."));
    // Nothing was taken: one figure is enough.
    let run = under_a_quota([Some(98.3e9), Some(196.7e9)]);
    assert!(sentences(&run).iter().all(|s| !s.contains("Delivered")), "{:?}", sentences(&run));
}

/// A complete solve includes the time that was taken from its threads.
#[test]
fn a_complete_solve_is_not_called_undisturbed() {
    let mut run = under_a_quota([Some(50e9), Some(66e9)]);
    let triad = fixture::memory().measurements.into_iter().find(|m| m.workload == "memory.triad");
    let mut triad = triad.unwrap();
    cut(&mut triad, FigureKind::Typical, Some(20e9));
    let mut solve = fixture::one_solve().measurements.remove(0);
    let s = solve.summary.as_mut().unwrap();
    (s.typical, s.headline) = (s.delivered.clone(), FigureKind::Delivered);
    s.delivered.value = Some(34.5e9);
    run.measurements.extend([triad, solve]);
    fixture::declare(&mut run);
    let text = brief(&run, 120);
    assert!(text.contains("undisturbed"), "{text}");
    let row = text.lines().find(|line| line.starts_with("LINPACK")).unwrap();
    let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect();
    assert_eq!(cells[1..4], ["-", "-", "34.50 GFLOP/s"], "{text}");
    // Next to a rate of cores alone, too.
    run.measurements.retain(|m| m.subsystem == Subsystem::Cpu);
    let text = brief(&run, 120);
    let row = text.lines().find(|line| line.starts_with("LINPACK")).unwrap();
    assert!(text.contains(" attainable ") && row.contains(" -  "), "{text}");
}

/// The other processes took more time than the quota, but without them it would allow no more.
#[test]
fn a_quota_that_is_used_up_is_the_cause_of_what_is_missing() {
    let mut run = under_a_quota([Some(50e9), Some(66e9)]);
    let m = each(&mut run, "cpu.flops").find(|m| m.params.threads() == 2).unwrap();
    let got = 2.0 * 66e9 / m.summary.as_ref().unwrap().value();
    for t in &mut m.trials {
        t.time_account = Some(TimeAccount {
            wall_s: 2.0,
            working_s: 0.7,
            waiting_s: 0.9,
            throttled_s: Some(0.4),
            ..TimeAccount::default()
        });
    }
    let mut said = |cpus: f64| {
        let quota = CpuQuota { cpus: Some(cpus), ..CpuQuota::default() };
        run.host.limits.cpu_quota = Probe::known(quota, "made up");
        one_line(&brief(&run, 100))
    };
    assert!(said(got).contains("of attainable: CPU quota of"), "{}", said(got));
    assert!(said(2.0 * got).contains("of attainable: other processes"), "{}", said(2.0 * got));
}

#[test]
fn the_first_screen_says_why_delivered_is_missing() {
    let text = one_line(&brief(&under_a_quota([Some(50e9), None]), 100));
    let quota = "FP peak, 2 CPUs: delivered not known (CPU quota of 6.5 CPUs).";
    assert!(text.contains(quota), "{text}");
    assert!(text.contains("no round shows the CPU quota's share"), "{text}");
}

#[test]
fn the_first_screen_names_a_limit_on_the_disk_that_a_result_reached() {
    let mut run = fixture::disk();
    assert!(!brief(&run, 80).contains("reached:"));
    for (resource, expected) in [
        ("cgroup I/O limit", "Cgroup I/O limit reached: "),
        ("declared limit disk.read", "Declared limit disk.read reached: "),
    ] {
        for m in each(&mut run, "disk.rand_read") {
            m.bottleneck = Some(Bottleneck::new(resource, "99.8 % of the ceiling"));
        }
        for text in [brief(&run, 80), render("summary", &run), render("terminal", &run)] {
            let text = one_line(&text);
            assert!(text.contains(&format!("{expected}Random read")), "{text}");
        }
    }
}

/// The results are what the reader wants; what disturbed them has two lines in front of them.
#[test]
fn at_most_two_lines_of_notes_are_above_the_results() {
    let mut run = fixture::run();
    run.measurements.extend(fixture::memory().measurements);
    run.measurements.extend(fixture::disk().measurements);
    fixture::declare(&mut run);
    for m in each(&mut run, "cpu.flops") {
        let Some(value) = m.summary.as_ref().map(Summary::value) else { continue };
        cut(m, FigureKind::Attainable, Some(0.3 * value));
    }
    for m in each(&mut run, "disk.seq_read") {
        m.bottleneck = Some(Bottleneck::new("cgroup I/O limit", "fixture"));
    }
    for m in run.measurements.iter_mut().filter(|m| m.subsystem == Subsystem::Memory) {
        let far = CpuPlacement {
            name: "far (390 ns)".into(),
            round_trip_s: Some(390e-9),
            rounds: 5,
            share: 1.0,
            figure: None,
        };
        m.cpu_placements = vec![far];
    }
    let text = brief(&run, 80);
    let lines: Vec<&str> = text.lines().collect();
    let notes = lines.iter().position(|l| l.contains("% of attainable")).expect(&text);
    let end = lines[notes..].iter().position(|l| l.is_empty()).unwrap() + notes;
    assert!(end - notes <= 2, "{text}");
    assert!(lines[notes].starts_with("FP peak"), "{text}");
    let (above, below) = lines.split_at(end);
    let [above, below] = [above, below].map(|lines| one_line(&lines.join(" ")));
    assert!(above.contains("Cgroup I/O limit reached: Sequential read"), "{text}");
    assert!(below.contains("Time of the threads: "), "{text}");
    assert!(below.contains("vCPU placement of "), "{text}");
}

/// Delivered alone has a unit that fits, and what follows from the headline lacks it for its reason.
#[test]
fn a_workload_with_delivered_alone_keeps_its_scale() {
    let mut run = fixture::memory();
    for m in each(&mut run, "memory.triad") {
        cut(m, FigureKind::Typical, Some(12e9));
        let s = m.summary.as_mut().unwrap();
        (s.attainable, s.typical) = [(); 2].map(|()| Figure::none("no undisturbed time")).into();
        m.verdict = Verdict::Suspect;
    }
    let text = render("terminal", &run);
    let section = &text[text.find("memory.triad: ").unwrap()..];
    let section = one_line(&section[..section.find("\nmemory.").unwrap_or(section.len())]);
    assert!(section.contains("GB/s") && section.contains("12.00"), "{section}");
    assert!(!section.contains("e10"), "{section}");
    assert!(!section.contains("that this configuration moves"), "{section}");
}

/// The sentence of a workload has the reason; a table of empty cells would repeat it.
#[test]
fn a_workload_without_figures_gives_its_reason_once() {
    let mut run = fixture::memory();
    for m in each(&mut run, "memory.triad") {
        *m = fixture::refused(m.clone(), "left out for the time limit; needs about 1.5 s");
    }
    let text = render("terminal", &run);
    let from = text.find("memory.triad: ").unwrap();
    let section = &text[from..];
    let section = &section[..section[1..].find("\nmemory.").map_or(section.len(), |n| n + 1)];
    let section = one_line(section);
    assert_eq!(section.matches("left out for the time limit").count(), 1, "{section}");
    assert!(!section.contains("none in any row"), "{section}");
}

/// A suspect result without its headline figure is not invalid.
#[test]
fn a_result_without_a_headline_is_not_called_invalid() {
    let mut run = under_a_quota([Some(50e9), Some(66e9)]);
    for m in each(&mut run, "cpu.flops") {
        let s = m.summary.as_mut().unwrap();
        s.attainable = Figure::none("undisturbed time was too short");
        m.verdict = Verdict::Suspect;
    }
    let text = one_line(&render("terminal", &run));
    let why = "No main result (2 CPUs): undisturbed time was too short.";
    assert!(text.contains(why), "{text}");
    assert!(!text.contains("is invalid"), "{text}");
}
