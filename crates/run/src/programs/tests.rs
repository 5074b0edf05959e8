//! A tool that is a line of shell, with a made-up measurement.

use proofmark_engine::{Idle, SharedWorker, Stop};
use proofmark_model::{Params, Policy, Unit, key, testing};
use proofmark_reference::Tool as _;

use super::*;
use crate::testing::{FakeTool, installed};

/// A tool with a name for which a workload declares a test.
fn shell(script: impl Into<String>) -> &'static FakeTool {
    Box::leak(Box::new(FakeTool { script: script.into(), ..FakeTool::new("linpack") }))
}

fn trial(value: f64) -> Trial {
    testing::trial(value, 1.0)
}

/// Place of the tests: one CPU, no disk.
fn workers() -> Workers {
    Workers {
        program: PathBuf::new(),
        arguments: Vec::new(),
        environment: Vec::new(),
        cpus: vec![0],
        cpu_stat: Vec::new(),
        disk_path: None,
        devices: Vec::new(),
        policy: Policy::default(),
        patience: Duration::MAX,
        system_state: proofmark_model::SystemState::default,
        stop: Stop::default(),
        idle: Idle::default(),
        shared: SharedWorker::default(),
    }
}

fn programs(workers: &Workers) -> Programs<'_> {
    // Without the wrapper that sets its CPUs: this process is the tests, not the program.
    let wrapper = ["sh", "-c", r#"[ "$1" = --cpu=0 ] && shift 2 && exec "$@""#, "sh"];
    Programs { wrapper: wrapper.map(OsString::from).into(), workers }
}

fn measured() -> RawMeasurement {
    let spec = find("cpu.linpack").unwrap().spec();
    let m = RawMeasurement::new(spec, Params::default().with(key::THREADS, 1));
    RawMeasurement { trials: vec![trial(77.0)], ..m }
}

/// Runs of a tool, one after each trial of proofmark at these rates.
fn runs(tool: &'static FakeTool, ours: &[f64]) -> Vec<ToolRun> {
    let (workers, m, installed) = (workers(), measured(), installed());
    let programs = programs(&workers);
    let mut session = programs.begin(&m);
    let mut run = |rate: &f64| {
        let ours = trial(*rate);
        session.run(&ToolTask { tool, installed: &installed, run_s: 0.01, m: &m, ours: &ours })
    };
    ours.iter().map(&mut run).collect()
}

fn failed(tool: &'static FakeTool, ours: f64) -> String {
    runs(tool, &[ours]).remove(0).trial.unwrap_err()
}

#[test]
fn a_run_is_read_with_what_this_machine_saw_meanwhile() {
    let before = Timestamp::now();
    let [run] = &runs(shell("sleep 0.05; echo 50"), &[100.0])[..] else { panic!() };
    let t = run.trial.as_ref().unwrap();
    assert_eq!((t.value, run.params.as_ref().unwrap().number("depth")), (50.0, Some(7)));
    assert!(t.conditions.steal_s.is_some() && t.started >= before, "{t:?}");
    let command = run.command.as_ref().unwrap();
    assert!(command.starts_with("taskset -c 0 sh -c 'sleep 0.05; echo 50; : 100"), "{command}");
    // The output has no time, so the time and the work of the whole run count.
    assert!((0.05..10.0).contains(&t.seconds), "{}: the parser reported 1", t.seconds);
    assert!((t.work / t.seconds / 50.0 - 1.0).abs() < 1e-9, "{t:?}");
}

#[test]
fn each_failure_has_its_words() {
    for (script, why) in [
        ("echo broken >&2; exit 9", "exited with status 9: broken"),
        ("echo hello", "its output: "),
        ("echo 0", "its figure is 0"),
        ("echo inf", "its figure is inf"),
    ] {
        let tool = shell(script);
        let failed = failed(tool, 1.0);
        assert!(failed.contains(why), "{failed}");
        assert!(runs(tool, &[1.0])[0].command.is_some(), "it can be run by hand");
    }
    assert_eq!(failed(shell("echo 0"), 0.5), "there is no work");
}

#[test]
fn one_run_does_not_know_of_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ran");
    let script = format!("[ -e {0} ] && exit 3; : > {0}; echo 4", file.display());
    let [first, second] = &runs(shell(script), &[4.0, 4.0])[..] else { panic!() };
    assert_eq!(first.trial.as_ref().unwrap().value, 4.0);
    assert!(second.trial.as_ref().unwrap_err().contains("status 3"), "{second:?}");
}

#[test]
fn a_run_that_is_stopped_says_so() {
    let (workers, m, installed) = (workers(), measured(), installed());
    let tool = shell("exec sleep 60");
    workers.stop.stop("SIGTERM");
    let (programs, ours) = (programs(&workers), trial(1.0));
    let task = ToolTask { tool, installed: &installed, run_s: 0.01, m: &m, ours: &ours };
    assert_eq!(programs.begin(&m).run(&task).trial.unwrap_err(), "stopped by SIGTERM");
}

#[test]
fn a_figure_in_another_unit_is_none_of_this_work() {
    let output = shell("").parse("5").unwrap();
    let spec = find("memory.latency").unwrap().spec();
    let m = RawMeasurement::new(spec, Params::default());
    assert_eq!(m.unit, Unit::Second);
    let why = first_trial(&output.figures[0], &m).unwrap_err();
    assert_eq!(why, "its figure is in FLOP/s, not in s");
}

#[test]
fn a_timed_part_has_its_share_of_what_happened_in_the_whole_run() {
    let (steal_s, swapped_pages) = (Some(0.4), Some(3));
    let whole = proofmark_model::Conditions { steal_s, swapped_pages, ..Default::default() };
    let of = |part| whole.clone().part(part);
    assert_eq!(
        (of(0.25).steal_s, of(0.25).throttled_s, of(0.25).swapped_pages),
        (Some(0.1), None, Some(3))
    );
    assert_eq!(of(1.5).steal_s, Some(0.4));
}
