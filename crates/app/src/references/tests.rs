//! A tool that is a line of shell, beside a measurement that is made up.

use std::cell::RefCell;

use proofmark_engine::{Request, Session, Taken};
use proofmark_model::{Point, Unit, testing};
use proofmark_reference::{Description, Invocation, Malformed, Output, ReferenceRunner};

use super::*;

/// Prints a rate; its arguments are a script.
struct Shell(&'static str);

impl Tool for Shell {
    fn description(&self) -> &Description {
        // A tool of that name is what a workload declares a test of.
        &Description {
            id: "linpack",
            title: "a line of shell",
            package: "Debian: dash",
            about: "For tests.",
        }
    }

    fn recognises(&self, _: &str) -> bool {
        false
    }

    fn parse(&self, text: &str) -> Result<Output, Malformed> {
        let value = text.trim().parse().map_err(|_| Malformed::at(1, "no number"))?;
        let trial = trial(value);
        let spec = find("cpu.linpack").unwrap().spec();
        let figure = Figure {
            test: "LINPACK".into(),
            comparable: true,
            title: String::new(),
            subsystem: spec.subsystem,
            unit: spec.unit,
            better: spec.better,
            params: Params::default().with("told", 7),
            trials: vec![trial],
            latency: None,
        };
        Ok(Output { version: None, started: None, figures: vec![figure] })
    }
}

impl ReferenceRunner for Shell {
    fn installed(&self) -> Option<Installed> {
        Some(Installed { program: "/bin/sh".into(), version: "1.5".to_owned() })
    }

    fn counts(&self, _: &str) -> Option<&'static str> {
        Some("what it likes")
    }

    fn invocation(&self, _: &Installed, task: &Task) -> Result<Invocation, String> {
        if task.work < 1.0 {
            return Err("there is no work".to_owned());
        }
        let script = format!("{}; : {}", self.0, task.work);
        Ok(Invocation { arguments: vec!["-c".to_owned(), script], ..Invocation::default() })
    }

    fn takes(&self, _: &Task) -> f64 {
        0.01
    }

    fn tells_time(&self) -> bool {
        false
    }
}

fn trial(value: f64) -> Trial {
    testing::trial(value, 1.0)
}

fn machine() -> Machine {
    // Without what puts it on its CPUs: this is not the program, but its tests.
    let wrapper = ["sh", "-c", r#"[ "$1" = --cpu=0 ] && shift 2 && exec "$@""#, "sh"];
    let wrapper = wrapper.map(OsString::from).into();
    Machine { wrapper, cpus: vec![0], cpu_stat: vec![], disk_path: None, devices: vec![] }
}

fn missing() -> NoReference {
    NoReference {
        refused: vec![("hpl".to_owned(), "too long".to_owned())],
        why: "because".to_owned(),
    }
}

/// Its points are sampled at these rates, one a session, in order; then they are refused.
struct Rates {
    left: RefCell<Vec<f64>>,
    /// `launched` and `rested`, as they came.
    log: RefCell<Vec<&'static str>>,
}

struct OneRate(f64);

impl Rates {
    fn of(rates: &[f64]) -> Self {
        let left = RefCell::new(rates.iter().rev().copied().collect());
        Self { left, log: RefCell::default() }
    }
}

impl Launcher for Rates {
    fn launch(&self, _: &Point) -> Result<Box<dyn Session>, Ending> {
        self.log.borrow_mut().push("launched");
        match self.left.borrow_mut().pop() {
            Some(rate) => Ok(Box::new(OneRate(rate))),
            None => Err(Ending::Refused { reason: "enough".to_owned() }),
        }
    }

    fn release_idle_worker(&self) {
        self.log.borrow_mut().push("rested");
    }
}

impl Session for OneRate {
    fn take(&mut self, request: Request) -> Result<Taken, Ending> {
        // What warms up is no trial.
        let work = if request == Request::Trial { self.0 } else { 1.0 };
        Ok(Taken { trial: trial(work), latency: None })
    }
}

fn tools<'a>(
    (machine, launcher, stop): (&'a Machine, &'a Rates, &'a Stop),
    beside: Vec<Repetition>,
) -> Tools<'a> {
    Tools {
        machine,
        launcher,
        policy: Policy::default(),
        stop,
        own_time: OwnTime::default(),
        most_s: None,
        beside: BTreeMap::from([(3, beside)]),
        missing: BTreeMap::from([(3, missing())]),
        file: None,
    }
}

/// A point with what its tools measured.
fn filled(tools: &Tools, mut m: Measurement) -> Measurement {
    tools.fill(3, &mut m);
    m
}

/// A point that has its trials.
fn measured() -> Measurement {
    let spec = find("cpu.linpack").unwrap().spec();
    let mut m = Measurement::new(spec, Params::default().with("threads", 1));
    m.trials.push(trial(77.0));
    m.ending = Ending::Complete;
    m
}

fn repetition(tool: &'static Shell, most: usize) -> Repetition {
    Repetition::new(tool, tool.installed().unwrap(), most, 0.01)
}

/// Our trials at these rates in turn with those of the tool, at most so many, on a machine.
fn repeated(tool: &'static Shell, ours: &[f64], most: usize) -> (Measurement, f64) {
    let (machine, stop, rates) = (machine(), Stop::default(), Rates::of(ours));
    let mut tools = tools((&machine, &rates, &stop), vec![repetition(tool, most)]);
    let m = measured();
    assert_eq!(tools.repeat(2, &m, &|_| panic!("no tool runs beside point 2")), Left::Warm);
    assert_eq!(tools.repeat(3, &m, &|what| assert!(what.ends_with("linpack"))), Left::Cold);
    let away = tools.own_time().0.get();
    // Our worker is ended before the tool runs, and the point's own before our first.
    let log = rates.log.borrow();
    assert_eq!(log[..3], ["rested", "launched", "rested"]);
    (filled(&tools, m), away)
}

#[test]
fn each_trial_is_repeated_and_the_ratio_is_taken_pair_by_pair() {
    static TOOL: Shell = Shell("sleep 0.02; echo 50");
    let (m, away) = repeated(&TOOL, &[100.0, 50.0, 100.0, 100.0, 200.0, 100.0], 6);
    let [r] = &m.references[..] else { panic!("{:?}", m.findings) };
    assert_eq!(
        (r.tool.as_str(), r.version.as_str(), r.counts.as_str()),
        ("linpack", "1.5", "what it likes")
    );
    assert_eq!((r.trials.as_slice(), r.value), (&[50.0; 6][..], 50.0));
    assert_eq!((r.ratio.median, r.ratio.ci95), (2.0, Some([1.0, 4.0])));
    assert_eq!(r.ours, [100.0, 50.0, 100.0, 100.0, 200.0, 100.0]);
    assert_eq!(m.trials.len(), 1, "they are no trials of the measurement");
    assert_eq!((r.evidence.len(), r.params.int("told")), (6, Some(7)));
    assert!(
        r.evidence[0].conditions.steal_s.is_some() && r.evidence[0].started > Timestamp::default()
    );
    assert!(r.command.starts_with("taskset -c 0 sh -c 'sleep 0.02; echo 50; : "), "{}", r.command);
    assert!(away > 0.12, "the clock of the budget stood still for {away} s");
    assert!(m.findings.is_empty());
    assert_eq!(m.missing, BTreeMap::from([("references.hpl".to_owned(), "too long".to_owned())]));
}

#[test]
fn no_more_pairs_than_planned() {
    static TOOL: Shell = Shell("echo 50");
    let (m, _) = repeated(&TOOL, &[1.0; 5], 3);
    assert_eq!(m.references[0].trials.len(), 3);
    assert_eq!(m.references[0].ratio.ci95, None, "3 pairs carry none");
}

#[test]
fn a_tool_that_fails_is_told_and_costs_nothing_else() {
    static FAILS: Shell = Shell("echo broken >&2; exit 9");
    static BABBLES: Shell = Shell("echo hello");
    static NAUGHT: Shell = Shell("echo 0");
    static INFINITE: Shell = Shell("echo inf");
    for (tool, why) in [
        (&FAILS, "ended with status 9: broken"),
        (&BABBLES, "its output: "),
        (&NAUGHT, "its figure is 0"),
        (&INFINITE, "its figure is inf"),
    ] {
        let (m, _) = repeated(tool, &[1.0, 1.0], 8);
        assert!(m.references.is_empty());
        let [finding] = &m.findings[..] else { panic!("{why}: {:?}", m.findings) };
        assert!(finding.message.contains(why), "{}", finding.message);
        assert_eq!((finding.check.as_ref(), finding.severity), (FAILED, Severity::Note));
        assert!(m.missing["references"].starts_with("hpl: too long; linpack: "), "{:?}", m.missing);
        assert!(m.missing["references.linpack"].contains(why), "{:?}", m.missing);
    }
    static REFUSES: Shell = Shell("echo 1");
    let (m, _) = repeated(&REFUSES, &[0.5], 8);
    assert!(m.findings[0].message.contains("there is no work"), "{:?}", m.findings);
    let (m, _) = repeated(&REFUSES, &[1.0], 2);
    assert_eq!(m.references[0].trials, [1.0]);
    let message = &m.findings[0].message;
    assert!(message.ends_with("proofmark's own trial before it failed: enough"), "{message}");
}

#[test]
fn what_it_measured_before_it_failed_stays() {
    let file = std::env::temp_dir().join(format!("proofmark-beside-{}", std::process::id()));
    let script = format!("[ -e {0} ] && exit 3; : > {0}; echo 4", file.display());
    let tool: &'static Shell = Box::leak(Box::new(Shell(Box::leak(script.into_boxed_str()))));
    let (m, _) = repeated(tool, &[4.0, 4.0, 4.0], 3);
    let _ = std::fs::remove_file(&file);
    assert_eq!(m.references[0].trials, [4.0]);
    assert!(m.findings[0].message.contains("status 3"), "{:?}", m.findings);
}

#[test]
fn a_figure_in_another_unit_is_none_of_this_work() {
    static TOOL: Shell = Shell("echo 5");
    let output = TOOL.parse("5").unwrap();
    let spec = find("memory.latency").unwrap().spec();
    let m = Measurement::new(spec, Params::default());
    assert_eq!(m.unit, Unit::Second);
    let why = trial_of(&output.figures[0], &m).unwrap_err();
    assert_eq!(why, "its figure is in FLOP/s, not in s");
}

#[test]
fn a_timed_part_has_its_share_of_what_happened_in_the_whole_run() {
    let (steal_s, swapped_pages) = (Some(0.4), Some(3));
    let whole = Conditions { steal_s, swapped_pages, ..Conditions::default() };
    let of = |part| share_of(&whole, part);
    assert_eq!(
        (of(0.25).steal_s, of(0.25).throttled_s, of(0.25).swapped_pages),
        (Some(0.1), None, Some(3))
    );
    assert_eq!(of(1.5).steal_s, Some(0.4));
}

#[test]
fn the_wall_time_stands_where_the_tool_tells_none_and_a_stop_begins_no_run() {
    static TOOL: Shell = Shell("sleep 0.05; echo 50");
    let (m, _) = repeated(&TOOL, &[1.0], 1);
    let seconds = m.references[0].evidence[0].seconds;
    assert!((0.05..1.0).contains(&seconds), "{seconds}: the parser said 1");
    let t = &m.references[0].evidence[0];
    assert!((t.work / t.seconds / trial(50.0).work - 1.0).abs() < 1e-9, "{t:?}");
    let (machine, stop, rates) = (machine(), Stop::default(), Rates::of(&[1.0]));
    stop.stop("SIGTERM");
    let mut tools = tools((&machine, &rates, &stop), vec![repetition(&TOOL, 8)]);
    let m = measured();
    tools.repeat(3, &m, &|_| panic!("a run began"));
    let m = filled(&tools, m);
    assert!(m.missing["references"].ends_with("linpack: it did not run"));
    assert!(m.findings.is_empty() && rates.log.borrow().is_empty());
}

#[test]
fn a_point_that_ended_badly_is_not_repeated() {
    static TOOL: Shell = Shell("echo 50");
    let (machine, stop, rates) = (machine(), Stop::default(), Rates::of(&[1.0]));
    let mut tools = tools((&machine, &rates, &stop), vec![repetition(&TOOL, 8)]);
    let m = Measurement { ending: Ending::Refused { reason: String::new() }, ..measured() };
    tools.repeat(3, &m, &|_| panic!("a run began"));
    assert!(rates.log.borrow().is_empty());
}

#[test]
fn the_time_that_a_user_allows_is_kept_to() {
    static TOOL: Shell = Shell("sleep 0.05; echo 50");
    let (machine, stop, rates) = (machine(), Stop::default(), Rates::of(&[1.0; 5]));
    let tools = tools((&machine, &rates, &stop), vec![repetition(&TOOL, 5)]);
    let mut tools = tools.within(Some(0.0));
    let m = measured();
    tools.repeat(3, &m, &|_| ());
    let m = filled(&tools, m);
    assert!(m.references.is_empty() && m.findings[0].message.contains("(--budget)"));
}

#[test]
fn two_tools_take_turns() {
    static TOOL: Shell = Shell("echo 50");
    let (machine, stop, rates) = (machine(), Stop::default(), Rates::of(&[1.0, 2.0, 3.0, 4.0]));
    let both = vec![repetition(&TOOL, 2), repetition(&TOOL, 2)];
    let mut tools = tools((&machine, &rates, &stop), both);
    let m = measured();
    tools.repeat(3, &m, &|_| ());
    let m = filled(&tools, m);
    let ours: Vec<_> = m.references.iter().map(|r| r.ours.clone()).collect();
    assert_eq!(ours, [[1.0, 3.0], [2.0, 4.0]]);
}
